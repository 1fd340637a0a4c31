/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forward dynamics of models with constraints (constraint.h):
 *
 *     M(q) a + h(q, v) = tau + J_ext' f + A(q)' lambda        A a + dA/dt v = 0
 */
#ifndef DYNAMICS_CONSTRAINED_DYNAMICS_H
#define DYNAMICS_CONSTRAINED_DYNAMICS_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/constraint.h>
#include <dynamics/export.h>
#include <dynamics/external_force.h>
#include <dynamics/passive_force.h>
#include <dynamics/sized.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the rows of all constraints, m = dyn_model_constraint_rows of them: A, n x m x nv; dA/dt v, n x m; and the
 * closure errors e, n x m, whose rate is A v where the loops are closed. Any output may be NULL. Only dA/dt v depends
 * on v (NULL: zero). Units of e are m and rad. Cost O(m depth). Allocates nothing. Thread-safe as long as each thread
 * has its own workspace.
 * Errors as in inverse_dynamics.h; DYN_FAILED_PRECONDITION for a model without constraints or a workspace in single
 * precision. */
DYN_API dyn_status dyn_constraint_rows(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                       const double *v, double *A, double *bias, double *errors, dyn_error *error);

/* Methods of forward dynamics with constraints; equations are those of Featherstone and Orin 2000, section 3.4. On
 * chains of 4 to 72 joints with 1 to 24 rows (dynamics-bench --constraints), multipliers are the fastest method in a
 * batch, before articulated bodies by a factor from 1.3 to 4.2. For a sample alone they are so by a factor from 1.1 to
 * 4, except for 24 rows of at most 7 joints. With 36 gears between neighbours, articulated bodies take 0.7 times as
 * long as multipliers in a batch, and embedding is the fastest method for a sample alone. */
typedef enum dyn_constraint_method {
    DYN_CONSTRAINT_METHOD_AUTO = 0,        /* ARTICULATED_BODIES for more than 24 rows, otherwise MULTIPLIERS */
    DYN_CONSTRAINT_METHOD_FULL_SYSTEM = 1, /* [M A'; A 0] [a; -lambda] = [tau - h; -dA/dt v], equation 20 */
    DYN_CONSTRAINT_METHOD_MULTIPLIERS = 2, /* A M^-1 A' lambda = -(A a_0 + dA/dt v) by tree algorithms, equation 21 */
    DYN_CONSTRAINT_METHOD_ELIMINATION = 3, /* independent coordinates, a = a_p + Z z, equation 22 */
    /* Constrained articulated bodies by the proximal iteration (Sathya and Carpentier 2026), O(bodies + m) where loops
     * are local. Samples whose rows contradict each other are computed by MULTIPLIERS. So are models with bodies that
     * share a coordinate (mimic joints, rotors), with polynomial couplings, linear ones of more than two coordinates,
     * prescribed motions, or forces of loop joints, and with more than 8 couplings a body. */
    DYN_CONSTRAINT_METHOD_ARTICULATED_BODIES = 4,
    /* Constraint embedding (Jain 2012): the bodies of each loop form a cluster, whose loops yield the accelerations of
     * its coordinates from independent ones; articulated bodies run over the clusters. O(bodies) where loops are local,
     * and O(n^3) in a loop of n coordinates. Models with bodies that share a coordinate, and samples where no inertia
     * resists an independent coordinate, are computed by MULTIPLIERS. */
    DYN_CONSTRAINT_METHOD_EMBEDDING = 5,
} dyn_constraint_method;

/* Returns the method by which dyn_constrained_forward_dynamics computes: for DYN_CONSTRAINT_METHOD_AUTO the one that
 * the library chooses for this model, for any other the method itself, or MULTIPLIERS where it does not apply. Cost
 * O(bodies couplings). */
DYN_API dyn_constraint_method dyn_constraint_method_for(const dyn_model *model, dyn_constraint_method method);

/* Result of forward dynamics with constraints for one sample. */
typedef struct dyn_constraint_result {
    int rank;        /* number of independent rows */
    double residual; /* largest of |A a + dA/dt v + stabilization|; not small where rows contradict each other */
    /* Largest eigenvalue of A M^-1 A' over the smallest of those that are not zero, to 1e-6; 1 for rank 0. */
    double condition;
} dyn_constraint_result;

/* Rows that a caller states beside the constraints of a model, A(q) v = b, by their matrix and by the acceleration
 * db/dt - dA/dt v that A a has to have. Their multipliers follow those of the model. */
typedef struct dyn_given_rows {
    int count;                  /* k */
    bool is_per_sample;         /* A and acceleration have a block for each sample; false: one for all */
    const double *A;            /* k x nv */
    const double *acceleration; /* k; NULL: zeros */
} dyn_given_rows;

/* Options of forward dynamics with constraints; zero selects the defaults. */
typedef struct dyn_constraint_options {
    size_t struct_size; /* set by DYN_CONSTRAINT_OPTIONS_INIT (sized.h) */
    dyn_constraint_method method;
    double stabilization; /* 1/s; k in A a + dA/dt v = -2 k A v - k^2 e (Baumgarte 1972); 0: none */
    /* Damping and friction of the joints of closed loops that count; NULL: none. Their efforts always act. Passive
     * forces of the tree's joints are part of tau. */
    const dyn_passive_parts *passive;
    const dyn_given_rows *given; /* rows beside those of the model; NULL: none */
    /* Largest residual of a row A a = c that does not contradict others, as a share of its own |c|; beside it, errors
     * of q may account for 1e-6 + 10 times the largest closure error, up to this share, of the largest |c| + sum |A_i
     * a_i| of all rows, or of the terms of A (a - a_0), where a_0 is the acceleration without constraints. A larger
     * residual is an error. 0 and 1: there is no bound, and results are compromises. */
    double tolerance;
} dyn_constraint_options;

#define DYN_CONSTRAINT_OPTIONS_INIT(...) DYN_SIZED(dyn_constraint_options, __VA_ARGS__)

/* Computes the accelerations a, n x nv, and the multipliers lambda, n x m, of a model with m constraint rows. The
 * accelerations are exact also where rows depend on each other; the multipliers are those of least norm, in SI units.
 * Where rows contradict each other, the result is a compromise between them that depends on the method, and `residual`
 * states by how much the rows are violated. `options` NULL: defaults. `a` may be the same array as tau or v. `lambda`
 * and `outcomes` (n of them) may be NULL. For a model without constraints the function computes dyn_aba.
 * Cost of ARTICULATED_BODIES: O(bodies + m); of MULTIPLIERS: O(bodies + m depth + m^2 depth + m^3), and as much for
 * `outcomes`; of EMBEDDING: O(bodies) and the cubes of the coordinates of each group of loops that share a body; of the
 * other methods: O((nv + m)^3). Allocates nothing. Thread-safe as long as each thread has its own
 * workspace.
 * Errors: those of dyn_aba; DYN_FAILED_PRECONDITION for a model with constraints and a workspace in single precision;
 * DYN_INVALID_ARGUMENT for options out of range; with a tolerance, DYN_FAILED_PRECONDITION with the name of a
 * constraint and the sample where rows contradict each other. */
DYN_API dyn_status dyn_constrained_forward_dynamics(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                                    const double *gravity, const double *q, const double *v,
                                                    const double *tau, const dyn_external_forces *forces,
                                                    const dyn_constraint_options *options, double *a, double *lambda,
                                                    dyn_constraint_result *outcomes, dyn_error *error);

/* Computes the accelerations a of one sample from the mass matrix M, nv x nv, and the accelerations a_0 that another
 * algorithm has computed for the tree without constraints, such as a formulation (formulation.h):
 *
 *     [M A'; A 0] [a; -lambda] = [M a_0; -dA/dt v]        (Featherstone and Orin 2000, equation 20)
 *
 * Rows of A may depend on each other. `a` may be the same array as a_0. Cost O((nv + m)^3). Allocates nothing.
 * Thread-safe as long as each thread has its own workspace.
 * Errors: those of dyn_constraint_rows; DYN_INVALID_ARGUMENT for numbers in M or a_0 that are not finite, and for a
 * result that overflows. */
DYN_API dyn_status dyn_constrain_accelerations(const dyn_model *model, dyn_workspace *workspace, const double *q,
                                               const double *v, const double *M, const double *free_a, double *a,
                                               dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
