/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Agreement of rows with each other: whether an acceleration exists that satisfies all of them.
 */
#ifndef DYNAMICS_CONSTRAINT_AGREEMENT_H
#define DYNAMICS_CONSTRAINT_AGREEMENT_H

#include "../model/normal_form.h"

/* Rows A a = c of one lane, with the acceleration that satisfies them best. */
typedef struct solved_rows {
    int m, nv;
    size_t lanes, lane;
    const double *A, *a; /* packed m x nv and nv */
    const double *c;     /* packed m */
    double freed;        /* largest sum of the sizes of the terms of A (a - a_0), where a_0 needs no constraint */
    double opening;      /* largest closure error of the model's constraints, m or rad; 0: closed, or not known */
} solved_rows;

/* Checks that |A_r a - c_r| of no row is larger than the tolerance times |c_r|, plus the least of the tolerance and
 * 1e-6 + 10 |opening| times the largest of `freed` and all |c_s| + sum |A_si a_i|. The first part is what the row
 * requires of itself, so that 1 against 2 is a contradiction beside rows of any size; the second one is what errors of
 * q make of the other rows. For rows after those of the model, which are those of the caller, it is 1e-6 of their own
 * terms, and 1e-10 of the largest ones. A tolerance of 0 or 1 accepts all rows. The error, DYN_FAILED_PRECONDITION at
 * `q`, names the constraint whose row is violated most beyond that. */
dyn_status agreement_check(const solved_rows *rows, double tolerance, const dyn_model *model, size_t sample,
                           dyn_error *error);

#endif
