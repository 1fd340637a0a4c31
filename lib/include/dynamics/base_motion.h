/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Robots on a base that moves: a vehicle, a ship, a turntable, another robot. The motion of the base is given, so that
 * the robot does not act on it. Its forces add to the equation of motion:
 *
 *     M(q) a + h(q, v) + f_base(q, v; base) = tau + sum J' f_ext
 *
 * and its motion adds to those of frames and points. The world of the model, in which its root rests, moves with the
 * base. All vectors here have the axes of the world of the model at the instant of the sample, and so does gravity:
 * where the base is inclined, the caller turns gravity.
 *
 * Common to all functions here
 *   model, workspace  the workspace belongs to the model; computations are in double precision in every workspace.
 *   n           number of samples.
 *   aliasing    outputs must not overlap inputs.
 *   threads     safe as long as each thread has its own workspace.
 *   allocation  none.
 *   errors      as in inverse_dynamics.h; also DYN_INVALID_ARGUMENT with the place "base_motion" for numbers of the
 *               base that are not finite.
 */
#ifndef DYNAMICS_BASE_MOTION_H
#define DYNAMICS_BASE_MOTION_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/model.h>
#include <dynamics/status.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Motion of the base. Sample s reads the numbers from s * stride on; a stride of 0 means one motion for all samples. */
typedef struct dyn_base_motion {
    const double *twist;        /* 6: angular velocity, rad/s; velocity of the world's origin, m/s */
    const double *acceleration; /* 6: rates of both in an inertial frame, rad/s^2 and m/s^2: dw/dt, and the classical
                                   acceleration of the origin */
    size_t stride;              /* 6, or another distance of rows, or 0 */
} dyn_base_motion;

/* Computes f_base, n x nv, and unless `wrenches` is NULL, adds the wrenches that the motion of the base causes
 * to those of dyn_joint_wrenches, n x 6 joints. q is n x nq, v n x nv; v may be NULL: zero.
 * Cost: linear in the bodies, about as a dyn_rnea of one sample each.
 * Source: lib/src/classical/base_motion.c. */
DYN_API dyn_status dyn_base_forces(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                   const double *v, const dyn_base_motion *base, double *forces, double *wrenches,
                                   dyn_error *error);

/* Computes the derivatives of f_base along increments of q and along v, n x nv x nv each, row-major, with the
 * conventions of derivatives.h: row i holds those of force i. q is n x nq, v n x nv; v may be NULL: zero. No output may
 * be NULL. They do not depend on a, tau and gravity. With a moving base, they add to the derivatives of the inverse
 * dynamics.
 *
 * Cost O(nv bodies) per sample. Allocates nothing. Thread-safe as long as each thread has its own workspace.
 * Errors as dyn_base_forces, with the places "dq" and "dv" where a result is beyond the range of double precision.
 * Source: lib/src/classical/base_motion.c. */
DYN_API dyn_status dyn_base_force_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                              const double *q, const double *v, const dyn_base_motion *base, double *dq,
                                              double *dv, dyn_error *error);

/* Adds the effect of a moving base to the derivatives of the forward dynamics, a = da/dtau (tau - f_base - ...):
 *
 *     da/dq -= da/dtau df_base/dq        da/dv -= da/dtau df_base/dv
 *
 * for n samples of nv x nv matrices, row-major. da_dq, da_dv and da_dtau are those of dyn_aba_derivatives, or of
 * dyn_constrained_forward_dynamics_derivatives, for the forces tau - f_base; df_dq and df_dv are those of
 * dyn_base_force_derivatives. Outputs must not overlap inputs. Cost O(nv^3) per sample. Allocates nothing. Thread-safe.
 * Cannot fail. */
DYN_API void dyn_base_acceleration_derivatives(const dyn_model *model, size_t n, const double *da_dtau,
                                               const double *df_dq, const double *df_dv, double *da_dq, double *da_dv);

/* Computes the derivative of f_base along the directions dq and dv, n x nv each (NULL: zero):
 *
 *     df = df_base/dq dq + df_base/dv dv
 *
 * df_dq and df_dv are those of dyn_base_force_derivatives, n x nv x nv each. df is n x nv, and must not overlap inputs.
 * Cost O(nv^2) per sample. Allocates nothing. Thread-safe. Cannot fail. */
DYN_API void dyn_base_forces_along(const dyn_model *model, size_t n, const double *df_dq, const double *df_dv,
                                   const double *dq, const double *dv, double *df);

/* Computes the twist of a frame and its rate in the reference frame, as dyn_frame_motion does, n x 6 each, on a moving
 * base: relative to an inertial frame. Neither may be NULL. */
DYN_API dyn_status dyn_frame_motion_on_base(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                            const double *v, const double *a, int frame,
                                            dyn_reference_frame reference_frame, const dyn_base_motion *base,
                                            double *twist, double *rate, dyn_error *error);

/* Adds the motion of the base to that of a point: `position` in the world of the model, and its velocity and
 * acceleration there, n x 3 each, become relative to an inertial frame. `velocity` is that of the point relative to the
 * base, when the call begins. Either may be NULL where only the other is wanted, but the acceleration needs the
 * velocity unless the base does not turn. Cannot fail. */
DYN_API void dyn_carry_point(size_t n, const dyn_base_motion *base, const double *position, double *velocity,
                             double *acceleration);

#ifdef __cplusplus
}
#endif

#endif
