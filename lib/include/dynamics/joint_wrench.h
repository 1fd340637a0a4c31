/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wrenches that the joints transmit, and the joint forces that balance a wrench at a frame.
 */
#ifndef DYNAMICS_JOINT_WRENCH_H
#define DYNAMICS_JOINT_WRENCH_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/external_force.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the wrench (n; f) that each joint transmits in the motion (q, v, a). The parent link exerts it on the child
 * link: torque N m, then force N, in the axes and about the origin of the child link. wrenches is n x joints x 6, in
 * the order of the joints. Its component along a joint's axis is the joint's force tau, or with rotors
 * (machine_element.h) tau less the force that accelerates them; bearings and structure carry the others. v, a,
 * `gravity`, `forces`, aliasing, threads and errors as in dyn_rnea. Cost O(bodies) per sample.
 * Source: Featherstone 2008, table 5.1. */
DYN_API dyn_status dyn_joint_wrenches(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                                      const double *q, const double *v, const double *a,
                                      const dyn_external_forces *forces, double *wrenches, dyn_error *error);

/* Computes tau = J' F, the joint forces that balance the wrench F which the robot exerts at a frame. F is n x 6
 * (torque, then force), in the reference frame; q is n x nq, tau is n x nv. Cost O(bodies) per sample. Errors and
 * threads as in dyn_rnea. */
DYN_API dyn_status dyn_frame_force(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                   int frame, dyn_reference_frame reference_frame, const double *F, double *tau,
                                   dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
