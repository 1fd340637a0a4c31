/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inputs of the equation of motion in addition to q and the query: velocities, accelerations and forces of a batch.
 */
#ifndef SERVER_METHODS_MOTION_H
#define SERVER_METHODS_MOTION_H

#include "methods/batch.h"

/* Inputs of a batch, in the model's order. */
typedef struct motion {
    const double *v, *a, *tau; /* NULL: zero */
} motion;

/* Returns the rows of `width` values from row `first` on, or NULL if `values` is NULL. */
const double *motion_rows(const double *values, size_t width, size_t first);

#endif
