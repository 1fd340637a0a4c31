/* SPDX-License-Identifier: BSD-2-Clause */
#include "gains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../model/error.h"
#include "linear_fit.h"
#include "rate_errors.h"
#include "triangle.h"

enum { MOST_ROUNDS = 60 };

/* Changes of the logarithms of gains at the end, and the longest step. Torque of a drive, relative to known ones, below
 * which its gain is zero. Least deviation, relative to the joint's torque. */
static const double SETTLED = 1e-11, LONGEST = 1, NEGLIGIBLE = 1e-7, LEAST_DEVIATION = 1e-9;

/* State of the method. Rows of the factors are (columns, z, i): z are known torques, i is tau of the record. */
struct gain_search {
    regression *g;
    const record *r;
    size_t *places;       /* nv: number of the gain among those sought */
    size_t count, sought; /* columns, gains */
    size_t *rows;         /* nv: rows that are not saturated */
    double *parts;        /* parts x nv x (count + 2)^2 */
    double *weighted;     /* as `parts`, of rows with weights; the same array without weights */
    double *factors;      /* nv x (count + 2)^2: of the parts that take part */
    double *triangle;     /* (count + sought + 1)^2 */
    double *block;        /* rows to append */
    double *scratch;      /* of appending and of linear_fit */
    double *prior;        /* count + sought; 0 for gains */
    double *x, *spread;   /* count + sought: columns, then gains or changes of their logarithms */
    bool *is_determined;
    double *gains, *deviations; /* nv each: gains, and deviations of the residuals */
    double *errors, *scores;    /* (count + sought + 1)^2 each: of the rows that are solved, and of their samples */
    bool has_errors, has_scores;
    linear_solution fit;
};

typedef struct gain_search search;

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

/* Computes a row of the equations for coordinate k from one of (columns, z, i). The unknown of a gain is the gain, or,
 * with `refine`, a change of its logarithm: its column is tau of the record, or the torque of the model. */
static void fill_row(const search *s, size_t k, bool refine, const double *from, double *to) {
    bool is_sought = s->r->is_sought[k];
    size_t last = s->count + s->sought;
    double weight = refine ? 1 / s->deviations[k] : 1;
    double drive = is_sought && !refine ? 0 : s->gains[k] * tau_of(s, from);
    memset(to, 0, (last + 1) * sizeof *to);
    for (size_t c = 0; c < s->count; c++) {
        to[c] = weight * from[c];
    }
    if (is_sought) {
        to[s->count + s->places[k]] = -weight * (refine ? model_of(s, from) : tau_of(s, from));
    }
    to[last] = weight * (drive - known_of(s, from));
}

/* Computes the factor of the errors of the equations for changes of logarithms, from those of (columns, -z). */
static void combine_errors(search *s, const double *errors, size_t without) {
    size_t width = s->count + s->sought + 1, size = s->count + 1;
    double *row = s->block + size * width;
    memset(s->errors, 0, width * width * sizeof *s->errors);
    for (size_t k = 0; k < s->g->nv; k++) {
        const double *from = errors + k * size * size;
        double share = rate_errors_share(s->g, k, without);
        for (size_t i = 0; i < size; i++, from += size) {
            for (size_t c = 0; c < s->count; c++) {
                row[c] = share * from[c];
            }
            row[s->count] = -share * from[s->count], row[s->count + 1] = 0;
            fill_row(s, k, true, row, s->block + i * width);
        }
        triangle_append(width, s->errors, size, s->block, s->scratch);
    }
}

/* Solves the equations. */
static void solve(search *s, bool refine) {
    size_t width = s->count + s->sought + 1, size = s->count + 2, equations = 0;
    memset(s->triangle, 0, width * width * sizeof *s->triangle);
    for (size_t k = 0; k < s->g->nv; k++) {
        for (size_t i = 0; i < size; i++) {
            fill_row(s, k, refine, factor_of(s, k) + i * size, s->block + i * width);
        }
        triangle_append(width, s->triangle, size, s->block, s->scratch);
        equations += s->rows[k];
    }
    const linear_problem problem = {.count = width - 1,
                                    .equations = equations,
                                    .triangle = s->triangle,
                                    .prior = s->prior,
                                    .errors = refine && s->has_errors ? s->errors : NULL,
                                    .scores = s->has_scores ? s->scores : NULL};
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
static dyn_status solve_linear(search *s, dyn_error *error) {
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
        bool is_found = sizes_of(s, k).drive > NEGLIGIBLE * known && s->is_determined[s->count + s->places[k]];
        if (s->r->is_sought[k] && !is_found) {
            return refuse(s, k, error);
        }
    }
    return DYN_OK;
}

/* Improves columns and gains until they settle. With `errors`, the equations are corrected for them: those of all
 * parts but one. Corrected equations have a solution only near that of the others. */
static dyn_status improve(search *s, const double *errors, size_t without, dyn_error *error) {
    double change = INFINITY;
    for (int round = 0; round < MOST_ROUNDS && change > SETTLED; round++) {
        change = 0;
        for (size_t k = 0; k < s->g->nv; k++) {
            sizes size = sizes_of(s, k);
            s->deviations[k] = fmax(fmax(size.residual, LEAST_DEVIATION * size.drive), 1e-12);
        }
        if (errors) {
            combine_errors(s, errors, without);
        }
        s->has_errors = errors != NULL;
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

/* Computes the deviations by the scores of the samples. */
static dyn_status find_spread(search *s, dyn_error *error) {
    double *weights = calloc(s->g->nv + 1, sizeof *weights);
    const rate_scores solution = {.size = s->count + s->sought + 1,
                                  .E = s->errors,
                                  .correction = s->fit.correction,
                                  .x = s->x,
                                  .weights = weights,
                                  .gains = s->gains,
                                  .places = s->places};
    for (size_t k = 0; k < s->g->nv && weights; k++) {
        weights[k] = 1 / s->deviations[k];
    }
    dyn_status status = weights ? rate_errors_scores(s->g, &solution, s->scores, error) : dyn_error_memory(error);
    if (status == DYN_OK) {
        s->has_scores = true;
        solve(s, true);
        s->has_scores = false;
    }
    free(weights);
    return status;
}

/* Stores the result. Deviations of gains are of their logarithms. */
static void store(const search *s, gain_estimates *result) {
    for (size_t k = 0; k < s->g->nv; k++) {
        double spread = s->r->is_sought[k] ? s->spread[s->count + s->places[k]] : 0;
        result->gains[k] = s->gains[k];
        result->gain_deviations[k] = fabs(s->gains[k]) * spread;
    }
    memcpy(result->x, s->x, s->count * sizeof *s->x);
    memcpy(result->deviations, s->spread, s->count * sizeof *s->spread);
}

/* Allocates the arrays, and numbers the gains. */
static bool allocate(search *s) {
    size_t nv = s->g->nv, size = s->count + 2;
    s->places = calloc(nv + 1, sizeof *s->places), s->rows = calloc(nv + 1, sizeof *s->rows);
    for (size_t k = 0; k < nv && s->places; k++) {
        s->places[k] = s->r->is_sought[k] ? s->sought : 0;
        s->sought += s->r->is_sought[k];
    }
    size_t width = s->count + s->sought + 1;
    s->parts = calloc(s->g->parts * nv * size * size + 1, sizeof(double)), s->weighted = s->parts;
    s->factors = calloc(nv * size * size + 1, sizeof(double)), s->triangle = calloc(width * width, sizeof(double));
    s->block = calloc(size * (width + 1), sizeof(double));
    s->errors = calloc(width * width, sizeof(double)), s->scores = calloc(width * width, sizeof(double));
    s->scratch = calloc(linear_fit_scratch(width), sizeof(double));
    s->prior = calloc(width + 1, sizeof(double)), s->x = calloc(width + 1, sizeof(double));
    s->spread = calloc(width + 1, sizeof(double)), s->is_determined = calloc(width + 1, sizeof(bool));
    s->gains = calloc(nv + 1, sizeof(double)), s->deviations = calloc(nv + 1, sizeof(double));
    s->fit = (linear_solution){.x = s->x, .deviations = s->spread, .is_determined = s->is_determined};
    return s->places && s->rows && s->parts && s->factors && s->triangle && s->block && s->scratch && s->prior &&
           s->x && s->spread && s->is_determined && s->gains && s->deviations && s->errors && s->scores;
}

dyn_status gains_create(regression *g, const record *r, gain_search **result, dyn_error *error) {
    search *s = *result = calloc(1, sizeof *s);
    if (!s) {
        return dyn_error_memory(error);
    }
    s->g = g, s->r = r, s->count = g->count;
    if (!allocate(s)) {
        return dyn_error_memory(error);
    }
    memcpy(s->prior, g->prior, g->count * sizeof *s->prior);
    return DYN_OK;
}

dyn_status gains_read(gain_search *s, bool is_weighted, dyn_error *error) {
    size_t size = s->count + 2, total = s->g->parts * s->g->nv * size * size;
    if (is_weighted && s->weighted == s->parts) {
        s->weighted = calloc(total + 1, sizeof *s->weighted);
    }
    if (!s->weighted) {
        s->weighted = s->parts;
        return dyn_error_memory(error);
    }
    double *factors = is_weighted ? s->weighted : s->parts;
    memset(factors, 0, total * sizeof *factors);
    dyn_status status = regression_split(s->g, factors, error);
    bool is_total = s->g->options->estimator == DYN_ESTIMATOR_TOTAL;
    return status == DYN_OK && is_total ? rate_errors_read(s->g, error) : status;
}

/* Combines the factors of all parts but one. */
static void select_parts(search *s, size_t without) {
    size_t size = s->count + 2, nv = s->g->nv;
    memset(s->factors, 0, nv * size * size * sizeof *s->factors);
    memset(s->rows, 0, nv * sizeof *s->rows);
    for (size_t part = 0; part < s->g->parts; part++) {
        for (size_t k = 0; k < nv && part != without; k++) {
            memcpy(s->block, s->weighted + (part * nv + k) * size * size, size * size * sizeof *s->block);
            triangle_append(size, s->factors + k * size * size, size, s->block, s->scratch);
            s->rows[k] += s->g->rows[part * nv + k];
        }
    }
}

dyn_status gains_estimate(gain_search *s, size_t without, gain_estimates *result, dyn_error *error) {
    select_parts(s, without);
    dyn_status status = solve_linear(s, error);
    if (status == DYN_OK) {
        status = improve(s, NULL, without, error);
    }
    if (status == DYN_OK && s->g->errors) {
        status = improve(s, s->g->errors, without, error);
    }
    if (status == DYN_OK && s->g->errors && without == DYN_NO_PART) {
        status = find_spread(s, error);
    }
    if (status == DYN_OK) {
        store(s, result);
    }
    return status;
}

/* Computes factors of rows (columns, torque) from those with tau apart. */
static void convert(search *s, const double *gains, const double *from, double *to) {
    size_t size = s->count + 2, width = s->count + 1;
    memset(to, 0, s->g->parts * s->g->nv * width * width * sizeof *to);
    for (size_t i = 0; i < s->g->parts * s->g->nv; i++, to += width * width) {
        for (size_t r = 0; r < size; r++, from += size) {
            memcpy(s->block + r * width, from, s->count * sizeof *from);
            s->block[r * width + s->count] = gains[i % s->g->nv] * tau_of(s, from) - known_of(s, from);
        }
        triangle_append(width, to, size, s->block, s->scratch);
    }
}

dyn_status gains_apply(gain_search *s, const double *gains, dyn_error *error) {
    regression *g = s->g;
    size_t width = s->count + 1;
    if (s->weighted != s->parts && g->weighted == g->triangles) {
        double *weighted = calloc(g->parts * g->nv * width * width + 1, sizeof *weighted);
        if (!weighted) {
            return dyn_error_memory(error);
        }
        g->weighted = weighted;
    }
    convert(s, gains, s->parts, g->triangles);
    if (g->weighted != g->triangles) {
        convert(s, gains, s->weighted, g->weighted);
    }
    return DYN_OK;
}

void gains_free(gain_search *s) {
    if (!s) {
        return;
    }
    if (s->weighted != s->parts) {
        free(s->weighted);
    }
    free(s->places), free(s->rows), free(s->parts), free(s->factors), free(s->triangle), free(s->block);
    free(s->scratch), free(s->prior), free(s->x), free(s->spread), free(s->is_determined), free(s->gains);
    free(s->deviations), free(s->errors), free(s->scores), free(s);
}
