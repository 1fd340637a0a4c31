/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows A a = c that a caller states beside the constraints of a model.
 */
#ifndef DYNAMICS_CONSTRAINT_GIVEN_ROWS_H
#define DYNAMICS_CONSTRAINT_GIVEN_ROWS_H

#include <dynamics/constrained_dynamics.h>

#include "../model/normal_form.h"

/* Returns the number of given rows; 0 for NULL. */
int given_rows_count(const dyn_given_rows *given);

/* Checks that the rows of n samples are finite, and not more than a model may have. */
dyn_status given_rows_check(const dyn_given_rows *given, const dyn_model *model, size_t n, dyn_error *error);

/* Copies the rows of one sample, and `factor` times their accelerations. Does nothing for NULL. */
void given_rows_copy(const dyn_given_rows *given, size_t sample, int nv, double *A, double *acceleration,
                     double factor);

/* Arguments of forward dynamics with given rows. */
typedef struct given_rows_call {
    const double *gravity, *q, *v, *tau;
    const dyn_external_forces *forces;
    const dyn_constraint_options *options;
} given_rows_call;

/* Computes forward dynamics of n samples with the constraints of the model and the given rows, by the full system or by
 * elimination. Outputs as in dyn_constrained_forward_dynamics. Allocates. */
dyn_status given_rows_accelerate(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                 const given_rows_call *call, double *a, double *lambda, dyn_constraint_result *results,
                                 dyn_error *error);

#endif
