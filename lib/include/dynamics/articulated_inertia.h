/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Articulated-body inertia: the inertia that a link has together with the subtree that it carries, whose joints are
 * free to move.
 *
 *     f = I_A A + p_A
 *
 * f is the wrench that the link needs, by the joint that carries it, for the spatial acceleration A, while the joints
 * of its subtree move under the forces tau. The bias p_A includes velocities, gravity, tau and external forces. I_A is
 * symmetric, and less than the inertia of the subtree with its joints held.
 *
 * Coupled mimic joints and shafts share coordinates, so that a joint of the subtree may move together with a joint
 * outside. The joint that carries the link is then cut, also from joints that it shares its coordinate with: f is the
 * wrench that the link needs in its place, while all other joints move freely, and I_A includes bodies outside that
 * move with the subtree. Where no joint of the subtree, and not the joint of the link, moves together with one outside,
 * f is the wrench that the joint transmits.
 *
 * Source: Featherstone 2008, section 7.2, and table 7.1; geared motors: Jain and Rodriguez 1990; shared coordinates:
 * Jain 2012, as lib/src/classical/articulated_cluster.h states.
 */
#ifndef DYNAMICS_ARTICULATED_INERTIA_H
#define DYNAMICS_ARTICULATED_INERTIA_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/external_force.h>
#include <dynamics/model.h>
#include <dynamics/status.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes I_A, n x 36, row-major and angular rows first, and p_A, n x 6, a moment and a force, of the body that
 * carries `frame`: about the origin and along the axes of the reference frame. A is the rate of the frame's twist that
 * dyn_frame_motion computes there; in DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED the classical acceleration.
 *
 * q is n x nq; v and tau (NULL: zero) are n x nv; gravity and forces as in dyn_aba, also NULL. Computes in double
 * precision in every workspace. Outputs must not overlap inputs. Cost O(bodies) for each sample, and with coupled mimic
 * joints or shafts O(bodies depth + nv^3). Allocates nothing. Thread-safe as long as each thread has its own workspace.
 * Errors as dyn_aba; DYN_FAILED_PRECONDITION for a frame that is fixed to the world (place "frame"), and where a joint
 * of the subtree has no inertia (place "model"). */
DYN_API dyn_status dyn_articulated_inertia(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                           const double *gravity, const double *q, const double *v, const double *tau,
                                           const dyn_external_forces *forces, int frame,
                                           dyn_reference_frame reference_frame, double *inertia, double *bias,
                                           dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
