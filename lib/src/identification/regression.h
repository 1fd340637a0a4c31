/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linear regression of a record: rows (column 1 ... column `count`, tau) for each sample and velocity coordinate,
 * reduced to a triangular factor for each part of the record and coordinate. Columns are those of the base parameters,
 * then the terms of drives. Any selection of parts and weights of coordinates follows from the factors.
 */
#ifndef DYNAMICS_IDENTIFICATION_REGRESSION_H
#define DYNAMICS_IDENTIFICATION_REGRESSION_H

#include <dynamics/identification.h>
#include <dynamics/workspace.h>

#include "record.h"
#include "sought.h"

/* Term of a drive as a column. */
typedef struct drive_column {
    int coordinate;
    dyn_drive_term term;
} drive_column;

/* Regression of one record, which it does not own. */
typedef struct regression {
    const dyn_model *model;
    const dyn_identification_options *options;
    const record *record;
    sought sought;
    dyn_workspace *workspace;
    size_t nv, width;         /* velocity coordinates, parameters */
    size_t base_count;        /* columns of base parameters; 0 if no inertias are sought */
    size_t term_count, count; /* columns of drives, all columns */
    size_t parts;
    drive_column *drives;
    double *prior;      /* count: the model's own values */
    double *triangles;  /* parts x nv x (count + 1)^2 */
    double *weighted;   /* as `triangles`, of rows with weights; the same array without weights */
    size_t *rows;       /* parts x nv: rows that are not saturated */
    bool *is_cut;       /* count: a saturated row depends on the column */
    double *weights;    /* n x nv factors of the rows, or NULL */
    double *errors;     /* nv factors of the errors of rows (rate_errors.h); NULL: none are known */
    size_t window;      /* samples over which the errors of rows depend on one another */
    double *Y, *rotors; /* of the samples of a block: regressors, and the known forces of rotors */
    double *block, *scratch;
} regression;

/* Creates the regression without its factors. The caller frees it with regression_free, after an error too. */
dyn_status regression_create(const dyn_model *model, const dyn_identification_options *options, const record *r,
                             regression *g, dyn_error *error);

/* Computes the factors of the record as it is now. */
dyn_status regression_reduce(regression *g, dyn_error *error);

/* Computes the factors of rows (columns, known torque, tau), with the weights of g, for each part and coordinate: parts
 * x nv x (count + 2)^2 numbers, which must be zero. */
dyn_status regression_split(regression *g, double *factors, dyn_error *error);

/* Adds the factors of all coordinates, the rows of each multiplied by its factor, to one (count + 1) x (count + 1)
 * factor, which must be zero. `rows` has as many numbers. */
void regression_combine(regression *g, const double *factors, double *triangle, double *rows);

void regression_free(regression *g);

/* Computes `weighted` from the weights. */
dyn_status regression_weigh(regression *g, dyn_error *error);

/* Computes the residuals of all rows for the unknowns x, and nv gains of tau (NULL: 1): n x nv, 0 for saturated ones.
 */
dyn_status regression_residuals(regression *g, const double *x, const double *gains, double *residuals,
                                dyn_error *error);

/* Computes the rows (columns, known torque, tau) of all coordinates of `count` samples, at most 64, from `first` on,
 * for the motion that the record has now: count x nv x (count of columns + 2), zero for saturated rows. */
dyn_status regression_rows(regression *g, size_t first, size_t count, double *rows, dyn_error *error);

/* Returns the rows of one coordinate that are not saturated, in all parts but one. */
size_t regression_row_count(const regression *g, size_t coordinate, size_t without);

/* Returns the factor of one part and coordinate. `triangles` is one of the arrays of the regression. */
static inline double *regression_triangle(const regression *g, double *triangles, size_t part, size_t coordinate) {
    return triangles + (part * g->nv + coordinate) * (g->count + 1) * (g->count + 1);
}

#endif
