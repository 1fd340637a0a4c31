/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constraint rows of one block of samples: the rows A a + dA/dt v, their response A M^-1 A', and the motion that their
 * multipliers cause.
 *
 *     M a + h = tau + A' lambda
 *
 * All samples of the block share the rows. A caller that needs only some of the rows in one sample sets both bounds of
 * the others to zero in that lane. A velocity responds to impulses as an acceleration does to forces.
 *
 *     constraint_rows_clear, constraint_rows_add ...    choose the rows
 *     constraint_rows_respond                           computes A M^-1 A' and M^-1 A' in all lanes
 *     ... rows->motion, rows->lower, rows->upper ...    state the problem of one lane
 *     constraint_rows_solve                             computes its multipliers
 *     constraint_rows_apply                             adds M^-1 A' lambda
 */
#ifndef DYNAMICS_CONSTRAINT_ROWS_H
#define DYNAMICS_CONSTRAINT_ROWS_H

#include <stdbool.h>

#include "../dynamics/workspace.h"
#include "solve.h"

/* Rows, their response in all lanes, and the problem of one lane. */
typedef struct constraint_rows {
    int capacity;
    row_set set;
    row_group *groups; /* groups of the set; `capacity` of them */

    /* Packed numbers of a block. */
    const double *diagonal; /* nv numbers that are added to the diagonal of M; NULL: zeros */
    double *A;              /* m x nv, where mimic joints are coupled or the bias was requested */
    double *bias;           /* dA/dt v, m, where it was requested */
    double *response;       /* A M^-1 A', m x m */
    double *accelerations;  /* M^-1 A', nv x m */

    /* Numbers of the lane whose problem is stated. */
    double *motion, *lower, *upper;
    double *lane_response;
    constraint_solution solution;
} constraint_rows;

/* Lays out the memory of up to `capacity` rows in up to `lanes` lanes from `base` on; returns its size (carve.h).
 * Without `has_bias` there is no memory for the bias, and A exists only where mimic joints are coupled:
 * constraint_rows_respond then requires v to be NULL. */
size_t constraint_rows_lay_out(const dyn_model *model, int capacity, size_t lanes, bool has_bias, uintptr_t base,
                               constraint_rows *rows);

/* Removes all rows, and the diagonal. */
void constraint_rows_clear(constraint_rows *rows);

/* Adds a group of rows. Returns the index of its first row, or -1 where the rows have no room. */
int constraint_rows_add(constraint_rows *rows, const row_group *group);

/* Computes the response of the rows at the packed q in all lanes. With a packed v, computes A and the bias too; with v
 * NULL computes A only where mimic joints are coupled, and no bias. */
void constraint_rows_respond(constraint_rows *rows, const dyn_model *model, const dyn_workspace *workspace,
                             sample_block block, const double *q, const double *v);

/* Solves the problem of one lane that `motion`, `lower` and `upper` state. Returns the solution, which lives in `rows`
 * until the next call. */
const constraint_solution *constraint_rows_solve(constraint_rows *rows, sample_block block, size_t lane);

/* Adds M^-1 A' lambda to one lane of the packed nv numbers x. lambda are the multipliers in rows->solution. */
void constraint_rows_apply(const constraint_rows *rows, sample_block block, size_t lane, int nv, double *x);

#endif
