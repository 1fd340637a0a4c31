/* SPDX-License-Identifier: BSD-2-Clause */
#include "gains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../model/error.h"
#include "linear_fit.h"
#include "triangle.h"

enum { MOST_ROUNDS = 60 };

/* Changes of the logarithms of gains at the end, and the longest step. Torque of a drive, relative to known ones, below
 * which its gain is zero. Least deviation, relative to the joint's torque. */
static const double SETTLED = 1e-11, LONGEST = 1, NEGLIGIBLE = 1e-7, LEAST_DEVIATION = 1e-9;

/* State of the method. Rows of the factors are (columns, z, i): z are known torques, i is tau of the record. */
typedef struct search {
    regression *g;
    const record *r;
    size_t *places;       /* nv: number of the gain among those sought */
    size_t count, sought; /* columns, gains */
    size_t *rows;         /* nv: rows that are not saturated */
    double *factors;      /* nv x (count + 2)^2 */
    double *triangle;     /* (count + sought + 1)^2 */
    double *block;        /* rows to append */
    double *scratch;      /* of appending and of linear_fit */
    double *prior;        /* count + sought; 0 for gains */
    double *x, *spread;   /* count + sought: columns, then gains or changes of their logarithms */
    bool *is_determined;
    double *gains, *deviations; /* nv each: gains, and deviations of the residuals */
    linear_solution fit;
} search;

static const double *factor_of(const search *s, size_t k) {
    return s->factors + k * (s->count + 2) * (s->count + 2);
}

/* Returns entry z or i of a row. */
static double known_of(const search *s, const double *row) {
    return row[s->count];
}

static double tau_of(const search *s, const double *row) {
    return row[s->count + 1];
}

/* Returns the torque of the model at x. */
static double model_of(const search *s, const double *row) {
    double torque = known_of(s, row);
    for (size_t c = 0; c < s->count; c++) {
        torque += row[c] * s->x[c];
    }
    return torque;
}

/* Root mean squares of one coordinate: of known torques, of the drive, and of the residuals. */
typedef struct sizes {
    double known, drive, residual;
} sizes;

static sizes sizes_of(const search *s, size_t k) {
    sizes result = {0};
    const double *row = factor_of(s, k);
    double rows = (double)(s->rows[k] > 0 ? s->rows[k] : 1);
    for (size_t i = 0; i < s->count + 2; i++, row += s->count + 2) {
        double drive = s->gains[k] * tau_of(s, row), residual = model_of(s, row) - drive;
        result.known += known_of(s, row) * known_of(s, row);
        result.drive += drive * drive;
        result.residual += residual * residual;
    }
    return (sizes){sqrt(result.known / rows), sqrt(result.drive / rows), sqrt(result.residual / rows)};
}

/* Solves for the columns together with the gains, or, with `refine`, with changes of their logarithms. The column of a
 * gain is tau of the record, or the torque of the model. */
static void solve(search *s, bool refine) {
    size_t width = s->count + s->sought + 1, size = s->count + 2, equations = 0;
    memset(s->triangle, 0, width * width * sizeof *s->triangle);
    for (size_t k = 0; k < s->g->nv; k++) {
        const double *from = factor_of(s, k);
        bool is_sought = s->r->is_sought[k];
        memset(s->block, 0, size * width * sizeof *s->block);
        for (size_t i = 0; i < size; i++, from += size) {
            double *to = s->block + i * width, weight = refine ? 1 / s->deviations[k] : 1;
            for (size_t c = 0; c < s->count; c++) {
                to[c] = weight * from[c];
            }
            if (is_sought) {
                to[s->count + s->places[k]] = -weight * (refine ? model_of(s, from) : tau_of(s, from));
            }
            double drive = is_sought && !refine ? 0 : s->gains[k] * tau_of(s, from);
            to[width - 1] = weight * (drive - known_of(s, from));
        }
        triangle_append(width, s->triangle, size, s->block, s->scratch);
        equations += s->rows[k];
    }
    const linear_problem problem = {
        .count = width - 1, .equations = equations, .triangle = s->triangle, .prior = s->prior};
    linear_fit(&problem, s->scratch, &s->fit);
}

static dyn_status refuse(const search *s, size_t k, dyn_error *error) {
    const dyn_error_site site = {.argument = "gains", .has_index = true, .index = k};
    int joint = 0;
    while (joint + 1 < dyn_model_joint_count(s->g->model) &&
           (size_t)(dyn_model_joint(s->g->model, joint)->v_index + dyn_model_joint(s->g->model, joint)->nv) <= k) {
        joint++;
    }
    return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                        "nothing fixes the scale of the gain of joint %s; pass a payload that some rows carry and "
                        "others do not, or the gains of some joints",
                        dyn_model_joint(s->g->model, joint)->name);
}

/* Finds the gains that solve the linear equations. */
static dyn_status begin(search *s, dyn_error *error) {
    double known = 0;
    for (size_t k = 0; k < s->g->nv; k++) {
        s->gains[k] = 1;
    }
    solve(s, false);
    for (size_t k = 0; k < s->g->nv; k++) {
        s->gains[k] = s->r->is_sought[k] ? s->x[s->count + s->places[k]] : 1;
        sizes size = sizes_of(s, k);
        known = fmax(known, fmax(size.known, s->r->is_sought[k] ? 0 : size.drive));
    }
    for (size_t k = 0; k < s->g->nv; k++) {
        if (s->r->is_sought[k] && !(sizes_of(s, k).drive > NEGLIGIBLE * known)) {
            return refuse(s, k, error);
        }
    }
    return DYN_OK;
}

/* Improves columns and gains until they settle. */
static dyn_status improve(search *s, dyn_error *error) {
    double change = INFINITY;
    for (int round = 0; round < MOST_ROUNDS && change > SETTLED; round++) {
        change = 0;
        for (size_t k = 0; k < s->g->nv; k++) {
            sizes size = sizes_of(s, k);
            s->deviations[k] = fmax(fmax(size.residual, LEAST_DEVIATION * size.drive), 1e-12);
        }
        solve(s, true);
        for (size_t k = 0; k < s->g->nv; k++) {
            size_t at = s->count + s->places[k];
            if (s->r->is_sought[k] && !s->is_determined[at]) {
                return refuse(s, k, error);
            }
            double step = s->r->is_sought[k] ? fmin(fmax(s->x[at], -LONGEST), LONGEST) : 0;
            s->gains[k] *= exp(step);
            change = fmax(change, fabs(step));
        }
    }
    return DYN_OK;
}

/* Stores the result, and applies the gains to the record. */
static void store(const search *s, record *r, gain_estimates *result) {
    for (size_t k = 0; k < s->g->nv; k++) {
        result->gains[k] = s->gains[k];
        result->gain_deviations[k] = r->is_sought[k] ? fabs(s->gains[k]) * s->spread[s->count + s->places[k]] : 0;
    }
    memcpy(result->deviations, s->spread, s->count * sizeof *s->spread);
    for (size_t i = 0; i < r->n * r->nv; i++) {
        r->tau[i] *= s->gains[i % r->nv];
    }
}

/* Allocates the arrays, and numbers the gains. */
static bool allocate(search *s) {
    size_t nv = s->g->nv, size = s->count + 2;
    s->places = calloc(nv + 1, sizeof *s->places), s->rows = calloc(nv + 1, sizeof *s->rows);
    for (size_t k = 0; k < nv && s->places; k++) {
        s->places[k] = s->sought;
        s->sought += s->r->is_sought[k];
    }
    size_t width = s->count + s->sought + 1;
    s->factors = calloc(nv * size * size + 1, sizeof(double)), s->triangle = calloc(width * width, sizeof(double));
    s->block = calloc(size * width, sizeof(double)), s->scratch = calloc(linear_fit_scratch(width), sizeof(double));
    s->prior = calloc(width + 1, sizeof(double)), s->x = calloc(width + 1, sizeof(double));
    s->spread = calloc(width + 1, sizeof(double)), s->is_determined = calloc(width + 1, sizeof(bool));
    s->gains = calloc(nv + 1, sizeof(double)), s->deviations = calloc(nv + 1, sizeof(double));
    s->fit = (linear_solution){.x = s->x, .deviations = s->spread, .is_determined = s->is_determined};
    return s->places && s->rows && s->factors && s->triangle && s->block && s->scratch && s->prior && s->x &&
           s->spread && s->is_determined && s->gains && s->deviations;
}

dyn_status gains_estimate(regression *g, record *r, gain_estimates *result, dyn_error *error) {
    search s = {.g = g, .r = r, .count = g->count};
    dyn_status status = allocate(&s) ? regression_split(g, s.factors, s.rows, error) : dyn_error_memory(error);
    if (status == DYN_OK) {
        memcpy(s.prior, g->prior, g->count * sizeof *s.prior);
        status = begin(&s, error);
    }
    if (status == DYN_OK) {
        status = improve(&s, error);
    }
    if (status == DYN_OK) {
        store(&s, r, result);
    }
    free(s.places), free(s.rows), free(s.factors), free(s.triangle), free(s.block), free(s.scratch);
    free(s.prior), free(s.x), free(s.spread), free(s.is_determined), free(s.gains), free(s.deviations);
    return status;
}
