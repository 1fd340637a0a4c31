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
} solved_rows;

/* Checks that no |A_r a - c_r| is larger than the tolerance times the largest |c_r| + sum |A_ri a_i| or `freed`. A
 * tolerance of 0 accepts all rows. The error, DYN_FAILED_PRECONDITION at `q`, names the constraint whose row is
 * violated most. Rows after those of the model are those of the caller. */
dyn_status agreement_check(const solved_rows *rows, double tolerance, const dyn_model *model, size_t sample,
                           dyn_error *error);

#endif
