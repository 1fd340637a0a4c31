/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inputs of the equation of motion in addition to q and the query: velocities, accelerations and forces.
 */
#ifndef SERVER_METHODS_MOTION_H
#define SERVER_METHODS_MOTION_H

#include "methods/batch.h"

/* Inputs of a batch, in the model's order. */
typedef struct motion {
    const double *v, *a, *tau; /* NULL: zero */
} motion;

/* Returns the rows from `first` on, or NULL for an array that is NULL. */
const double *motion_rows(const double *values, size_t width, size_t first);

#endif
