/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dynamics in the space of the constraints of a model (constraint.h), and its parts along the constraints and free of
 * them:
 *
 *     M a + h = tau + J_ext' f + A' lambda        A a + dA/dt v = 0
 *
 *     Lambda = (A M^-1 A')^+               inertia of the constraints; ^+ is the pseudoinverse, so that rows may depend
 *                                          on each other
 *     P      = 1 - A' Lambda A M^-1        projector of joint forces: P A' = 0, P P = P
 *     P_qdd  = 1 - M^-1 A' Lambda A        projector of accelerations: A P_qdd = 0, P_qdd = M^-1 P M
 *
 * P tau = P (M a + h - J_ext' f) are the equations of motion without multipliers, of which nv - k are independent for a
 * rank k. The accelerations are a = P_qdd M^-1 (tau + J_ext' f - h) - M^-1 A' Lambda dA/dt v. Equation 8.100 of Modern
 * Robotics states the first term alone, which is P_qdd a.
 *
 * Signs: lambda and Lambda are those of Featherstone and Orin (2000, equation 18). Modern Robotics writes tau = M a + h
 * + A' lambda, so that its lambda is -lambda here; its P and P_qdd are the same.
 *
 * Source: Lynch and Park 2017, "Modern Robotics", section 8.7, equations 8.97 (multipliers), 8.99 (P), 8.101 (P_qdd);
 * Khatib 1987 (the same inertia for a task).
 */
#ifndef DYNAMICS_CONSTRAINT_SPACE_H
#define DYNAMICS_CONSTRAINT_SPACE_H

#include <stddef.h>

#include <dynamics/constrained_dynamics.h>
#include <dynamics/export.h>
#include <dynamics/external_force.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Quantities of n samples with m rows: those of the model's constraints, and then those of `given`. Any pointer may be
 * NULL. */
typedef struct dyn_constraint_space {
    const dyn_given_rows *given;    /* input: rows beside those of the model, whose accelerations do not count */
    double *inverse_inertia;        /* A M^-1 A', n x m x m */
    double *inertia;                /* Lambda, n x m x m */
    double *force_projector;        /* P, n x nv x nv */
    double *acceleration_projector; /* P_qdd, n x nv x nv */
    double *acceleration_by_force;  /* P_qdd M^-1, n x nv x nv: symmetric */
    double *multipliers_by_force;   /* -Lambda A M^-1, n x m x nv */
    double *rank;                   /* number of independent rows, n */
    double
        *condition; /* largest eigenvalue of A M^-1 A' over the smallest of those that are not zero, n; 1 for rank 0 */
} dyn_constraint_space;

/* Computes the quantities of n configurations q, n x nq. The rank is that of dyn_constrained_forward_dynamics with the
 * method of multipliers. The outputs must not overlap q or each other. Cost O(nv^2 m + nv m^2 + m^3) per sample.
 * Allocates nothing, except with given rows. Thread-safe as long as each thread has its own workspace.
 * Errors: those of dyn_minverse; DYN_FAILED_PRECONDITION for a model without constraints, unless rows are given, and
 * for a workspace in single precision; DYN_INVALID_ARGUMENT with the place "options.given" for given rows that are
 * wrong. */
DYN_API dyn_status dyn_constraint_space_quantities(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                                   const double *q, const dyn_constraint_space *quantities,
                                                   dyn_error *error);

/* Projects n joint forces f, n x nv, to P f, and n accelerations a to P_qdd a: the parts that the constraints neither
 * provide nor prevent. `given` (NULL: none) are rows beside those of the model. f, a and both outputs may be NULL; an
 * output may be the same array as its input. Costs and errors as above. */
DYN_API dyn_status dyn_constraint_project(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                          const dyn_given_rows *given, const double *f, const double *a,
                                          double *projected_f, double *projected_a, dyn_error *error);

/* Computes the joint forces of hybrid motion-force control (Lynch and Park 2017, section 11.6): those of the motion a
 * in the directions that the constraints leave free, and f in those that they hold,
 *
 *     tau = P M a + (1 - P) f + h - J_ext' f_ext - A' Lambda dA/dt v
 *
 * with the last term for what the constraints require at the velocity v; the drive db/dt of a prescribed motion adds to
 * -dA/dt v. Under tau, the robot has the acceleration P_qdd a - M^-1 A' Lambda dA/dt v, n x nv, and presses on the
 * constraints with f alone: A' lambda = -(1 - P) f, where lambda, n x m, has the least norm. `given` (NULL: none) are
 * rows beside those of the model, whose accelerations take the place of -dA/dt v. v, a and f, n x nv each, may be NULL:
 * zero. lambda may be NULL. tau and `acceleration`, n x nv each, must not overlap each other or an input. A joint
 * without a motor needs its component of tau, too. Costs and errors as above, and those of dyn_rnea;
 * DYN_FAILED_PRECONDITION for a model whose loop joints exert forces. */
DYN_API dyn_status dyn_hybrid_forces(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                                     const double *q, const double *v, const dyn_given_rows *given, const double *a,
                                     const double *f, const dyn_external_forces *forces, double *tau,
                                     double *acceleration, double *lambda, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
