/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of a textbook, for students: those of Modern Robotics (Lynch and Park 2017), section 8.11, with the same
 * meaning. Their arguments g, Ftip, Mlist, Glist and Slist are one structure here. They need no model.
 *
 *     theta, dtheta, ddtheta, tau   n numbers: joint positions, velocities, accelerations and forces
 *     g                             acceleration of gravity in frame {0}, m/s^2
 *     Ftip                          wrench (m; f) that the end effector applies to the environment, in frame {n + 1}
 *     Mlist, Glist, Slist           as in screws.h. The screws need not be normalized: the velocity of joint i is
 *                                   dtheta_i times its screw. Glist may be any symmetric 6 x 6 matrices.
 *
 * All arrays are row-major; twists and wrenches are angular first. Outputs must not overlap inputs. Thread-safe.
 * Errors: DYN_INVALID_ARGUMENT for n < 1, an array that is NULL and numbers that are not finite, with the array's name;
 * DYN_RESOURCE_EXHAUSTED.
 */
#ifndef DYNAMICS_TEXTBOOK_H
#define DYNAMICS_TEXTBOOK_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Serial chain of n joints in its surroundings. */
typedef struct dyn_textbook_chain {
    int n;
    const double *g;     /* 3 */
    const double *Ftip;  /* 6; in trajectories N x 6; NULL: zero */
    const double *Mlist; /* (n + 1) x 4 x 4 */
    const double *Glist; /* n x 6 x 6 */
    const double *Slist; /* 6 x n */
} dyn_textbook_chain;

/* Computes [ad_V], 6 x 6, the matrix of the Lie bracket with the twist V (ad). */
DYN_API void dyn_textbook_ad(const double V[6], double adV[36]);

/* Computes tau by the forward-backward Newton-Euler algorithm, 8.50 to 8.54 (InverseDynamics). */
DYN_API dyn_status dyn_textbook_inverse_dynamics(const dyn_textbook_chain *chain, const double *theta,
                                                 const double *dtheta, const double *ddtheta, double *tau,
                                                 dyn_error *error);

/* Computes M(theta), n x n (MassMatrix). */
DYN_API dyn_status dyn_textbook_mass_matrix(const dyn_textbook_chain *chain, const double *theta, double *M,
                                            dyn_error *error);

/* Computes the Coriolis and centripetal forces c(theta, dtheta), n numbers (VelQuadraticForces). */
DYN_API dyn_status dyn_textbook_velocity_forces(const dyn_textbook_chain *chain, const double *theta,
                                                const double *dtheta, double *c, dyn_error *error);

/* Computes the gravity forces g(theta), n numbers (GravityForces). */
DYN_API dyn_status dyn_textbook_gravity_forces(const dyn_textbook_chain *chain, const double *theta, double *grav,
                                               dyn_error *error);

/* Computes J' Ftip, the joint forces that create the wrench Ftip at the end effector, n numbers (EndEffectorForces). */
DYN_API dyn_status dyn_textbook_tip_forces(const dyn_textbook_chain *chain, const double *theta, double *JTFtip,
                                           dyn_error *error);

/* Computes ddtheta (ForwardDynamics). Errors: also DYN_FAILED_PRECONDITION where M is singular. */
DYN_API dyn_status dyn_textbook_forward_dynamics(const dyn_textbook_chain *chain, const double *theta,
                                                 const double *dtheta, const double *tau, double *ddtheta,
                                                 dyn_error *error);

/* Advances theta and dtheta by dt: theta + dt dtheta, dtheta + dt ddtheta (EulerStep). */
DYN_API void dyn_textbook_euler_step(int n, const double *ddtheta, double dt, double *theta, double *dtheta);

/* Computes tau of N rows of a trajectory (InverseDynamicsTrajectory). */
DYN_API dyn_status dyn_textbook_inverse_trajectory(const dyn_textbook_chain *chain, size_t N, const double *thetamat,
                                                   const double *dthetamat, const double *ddthetamat, double *taumat,
                                                   dyn_error *error);

/* Integrates the motion from thetamat's and dthetamat's first rows, which the caller sets: row i + 1 follows from row i
 * by intRes Euler steps of dt / intRes with the forces of row i of taumat, N x n (ForwardDynamicsTrajectory).
 * Errors: also DYN_INVALID_ARGUMENT for intRes < 1. */
DYN_API dyn_status dyn_textbook_forward_trajectory(const dyn_textbook_chain *chain, size_t N, const double *taumat,
                                                   double dt, int intRes, double *thetamat, double *dthetamat,
                                                   dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
