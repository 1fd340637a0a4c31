/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Distribution of mass: the centre of mass of a robot or of the subtree of one of its joints, and the inertia of
 * one body.
 */
#ifndef DYNAMICS_CENTER_OF_MASS_H
#define DYNAMICS_CENTER_OF_MASS_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes position (m), velocity, acceleration (without gravity) and Jacobian of the centre of mass, in world axes: n
 * x 3 each, the Jacobian n x 3 x nv with velocity = J v. Any of them may be NULL.
 *
 * `joint` selects the subtree: -1 for all moving links, else the links that this moving joint carries. q is n x nq; v
 * and a (NULL: zero) are n x nv. Cost O(bodies * depth) per sample. Allocates nothing. Thread-safe as long as each
 * thread has its own workspace.
 * Errors as in inverse_dynamics.h; DYN_NOT_FOUND for a joint that does not exist; DYN_FAILED_PRECONDITION where the
 * links have no mass.
 * Source: Featherstone 2008, section 9.6; Orin, Goswami and Lee 2013. */
DYN_API dyn_status dyn_center_of_mass(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                      const double *v, const double *a, int joint, double *position, double *velocity,
                                      double *acceleration, double *jacobian, dyn_error *error);

/* Computes the spatial inertia of the body that carries `frame`, about the origin and along the axes of the reference
 * frame: n x 36, row-major, angular rows and columns first, so that (angular; linear momentum) = inertia (w; v). A body
 * comprises the links that a moving joint carries up to the next moving joints. q is n x nq. Cost O(depth of the frame)
 * per sample. Allocates nothing. Thread-safe as long as each thread has its own workspace.
 * Errors as in kinematics.h; DYN_FAILED_PRECONDITION for a frame that is fixed to the world.
 * Source: Featherstone 2008, section 2.13. */
DYN_API dyn_status dyn_body_inertia(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                    int frame, dyn_reference_frame reference_frame, double *inertia, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
