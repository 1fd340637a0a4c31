/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parameters of possible bodies that explain torques, close to a prior (identification.h).
 *
 * The method is Newton's, and not one of a library. The distance has gradient and Hessian in closed form, and is
 * self-concordant, so that 5 to 30 steps lead from the prior to the minimum, inside the cone at any point, with one
 * Cholesky factor each. DSDP and CSDP minimize linear functions over cones: sums of squares and log det need more cones
 * and unknowns than the problem has. NLopt uses first derivatives alone; Ceres is in C++, and minimizes sums of
 * squares, which the distance is not. tests/peers/consistent_agreement.c minimizes the same function with NLopt's
 * SLSQP, in other unknowns, and finds the same minimum: for a UR5 and a Panda after 854 to 2505 evaluations, beside 19
 * to 31 steps here, for random trees after 134 to 1670, beside 5 to 27.
 */
#ifndef DYNAMICS_IDENTIFICATION_CONSISTENT_H
#define DYNAMICS_IDENTIFICATION_CONSISTENT_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/status.h>

/* Problem: minimize |R y - r|^2 / 2 + weight * distance from the prior, over y = (B p, f), for parameters p of links
 * and terms f of drives. */
typedef struct consistent_problem {
    size_t links, base_count, term_count; /* links may be 0; base_count = 0 then */
    const double *B;                      /* base_count x 10 links, row-major */
    const double *triangle;               /* (R r) above one more row that is not read; row-major */
    const double *prior;                  /* 10 links: parameters whose pseudo-inertias are positive definite */
    const double *scales;                 /* term_count, > 0: prior of a positive term, size of another one */
    const bool *is_positive;              /* term_count */
    double weight;                        /* > 0 */
} consistent_problem;

/* Minimum of a problem. */
typedef struct consistent_result {
    double *parameters; /* 10 links, memory of the caller */
    double *terms;      /* term_count, memory of the caller */
    size_t iterations;
    bool is_converged;
} consistent_result;

/* Convert ten parameters to the pseudo-inertia, 4 x 4, and back (Wensing, Kim and Slotine 2018, equations 8 and 9). */
void parameters_to_pseudo(const double p[10], double P[16]);
void pseudo_to_parameters(const double P[16], double p[10]);

/* Replaces parameters that no body has by those of a small ball: same centre of mass where the mass is positive, the
 * mass at least `least_mass`, a radius of gyration of 3 cm. Returns false if it replaces them. */
bool consistent_prior(double least_mass, double p[10]);

/* Solves the problem by Newton's method, from the prior on. Cost O(N^3) for each of at most 1000 iterations, with N the
 * number of p and f together.
 * Where the prior vanishes in the rounding of the data, the result is a possible body, but not the minimum.
 * Errors: DYN_INVALID_ARGUMENT with the place "prior" for a prior of no body; DYN_RESOURCE_EXHAUSTED. */
dyn_status consistent_solve(const consistent_problem *problem, consistent_result *result, dyn_error *error);

#endif
