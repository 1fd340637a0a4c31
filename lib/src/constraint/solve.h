/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The solver of constraint rows: multipliers of one sample within their bounds.
 *
 * R = A M^-1 A' is the response of m rows, r their motion without multipliers less the required motion, such as A a +
 * dA/dt v - b. The solver finds multipliers lambda, and the motion w = R lambda + r that remains, with, for each row,
 *     lower < lambda < upper        w = 0
 *     lambda = lower                w >= 0
 *     lambda = upper                w <= 0
 * An equality has infinite bounds. A one-sided row, which pushes and never pulls, has the bounds 0 and infinity. A row
 * with equal bounds has that multiplier.
 */
#ifndef DYNAMICS_CONSTRAINT_SOLVE_H
#define DYNAMICS_CONSTRAINT_SOLVE_H

#include <stddef.h>
#include <stdint.h>

/* Problem of one sample: the response and the motion of its rows, and the bounds of their multipliers. */
typedef struct constraint_problem {
    int m;
    const double *response;      /* R, m x m */
    const double *motion;        /* r */
    const double *lower, *upper; /* lower <= upper, either of them finite or infinite; not NaN */
} constraint_problem;

/* Solution of a problem, with the scratch memory of the solver. */
typedef struct constraint_solution {
    double *multipliers; /* m */
    double *motion;      /* w, m */
    int rank;            /* rows that hold their motion at zero and are independent of each other */
    double residual;     /* largest violation of the conditions on w; not small where rows contradict each other */

    double *factors;         /* unit lower L of L D L', m x m, D on the diagonal */
    double *direction;       /* m */
    int *free_rows;          /* `rank` rows, in the order of the factors */
    unsigned char *is_free;  /* m */
    unsigned char *is_stuck; /* m: rows that depend on the free ones and are not driven again */
} constraint_solution;

/* Lays out the memory for problems of up to m rows from `base` on; returns its size (carve.h). */
size_t constraint_solution_lay_out(int m, uintptr_t base, constraint_solution *solution);

/* Solves a problem. Allocates nothing. Cost O(m^2) for each row that is driven and has a finite bound, O(m^3) for each
 * equality and for each free row that reaches a bound; at most 16 (m + 1) rows are driven or removed. Rows that depend
 * on each other have many solutions; the multipliers are one of them, within their bounds. */
void constraint_solve(const constraint_problem *problem, constraint_solution *solution);

#endif
