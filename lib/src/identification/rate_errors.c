/* SPDX-License-Identifier: BSD-2-Clause */
#include "rate_errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../model/error.h"
#include "triangle.h"

/* Samples whose rows are computed at once. */
enum { BLOCK = 64 };

/* Share of the variance of positions above which their differences are no noise of a motion. */
static const double RESOLVED = 0.01;

/* ---- Size of the errors ------------------------------------------------------------------------------------------ */

/* Returns the variance of independent errors in n numbers, `stride` apart. */
static double error_variance(size_t n, const double *x, size_t stride) {
    double sum = 0;
    for (size_t i = 0; i + 4 < n; i++) {
        const double *at = x + i * stride;
        double difference = at[0] - 4 * at[stride] + 6 * at[2 * stride] - 4 * at[3 * stride] + at[4 * stride];
        sum += difference * difference;
    }
    return sum / (70 * (double)(n - 4));
}

/* Returns the variance of n numbers, `stride` apart. */
static double variance(size_t n, const double *x, size_t stride) {
    double sum = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i * stride];
    }
    for (size_t i = 0; i < n; i++) {
        square += (x[i * stride] - sum / (double)n) * (x[i * stride] - sum / (double)n);
    }
    return square / (double)n;
}

bool rate_errors_find(const record *r, double *deviations) {
    double noise = 0, range = 0, greatest = 0;
    for (size_t k = 0; k < r->nq; k++) {
        noise += error_variance(r->n, r->q + k, r->nq);
        range += variance(r->n, r->q + k, r->nq);
    }
    bool is_motion = r->has_rates && noise <= RESOLVED * range;
    for (size_t k = 0; k < r->nv; k++) {
        deviations[k] = is_motion ? sqrt(error_variance(r->n, r->v + k, r->nv)) : 0;
        deviations[r->nv + k] = is_motion ? sqrt(error_variance(r->n, r->a + k, r->nv)) : 0;
        greatest = fmax(greatest, fmax(deviations[k], deviations[r->nv + k]));
    }
    return greatest > 0;
}

/* ---- Factors over all samples ------------------------------------------------------------------------------------ */

/* Computation over the blocks of samples. */
typedef struct pass {
    regression *g;
    size_t size, block;                 /* numbers of a row and of a block of rows */
    double *upper, *lower, *sum, *rows; /* rows of a block, twice; one row; rows to append */
    double *scratch;
} pass;

static bool pass_create(regression *g, pass *p) {
    p->g = g, p->size = g->count + 1, p->block = BLOCK * g->nv * p->size;
    p->upper = calloc(2 * p->block + BLOCK * p->size + 2 * p->size, sizeof *p->upper);
    if (p->upper) {
        p->lower = p->upper + p->block, p->rows = p->lower + p->block, p->sum = p->rows + BLOCK * p->size;
        p->scratch = p->sum + p->size;
    }
    return p->upper != NULL;
}

static dyn_status proceed(const regression *g, dyn_error *error) {
    const dyn_identification_options *o = g->options;
    return o->proceed && !o->proceed(o->context, 0.5)
               ? dyn_error_set(error, DYN_CANCELLED, "", "the identification was cancelled")
               : DYN_OK;
}

/* Adds the errors that one coordinate of a rate makes in all rows. `rate` is the array of the record. */
static dyn_status add_errors(pass *p, double *rate, size_t coordinate, double deviation, double *E, dyn_error *error) {
    size_t n = p->g->record->n, nv = p->g->nv;
    dyn_status status = DYN_OK;
    for (size_t first = 0; first < n && status == DYN_OK; first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;
        double own[BLOCK];
        for (size_t s = 0; s < count; s++) {
            double *at = &rate[(first + s) * nv + coordinate];
            own[s] = *at, *at = own[s] + deviation;
        }
        status = regression_rows(p->g, first, count, p->upper, error);
        for (size_t s = 0; s < count; s++) {
            rate[(first + s) * nv + coordinate] = own[s] - deviation;
        }
        if (status == DYN_OK) {
            status = regression_rows(p->g, first, count, p->lower, error);
        }
        for (size_t s = 0; s < count; s++) {
            rate[(first + s) * nv + coordinate] = own[s];
        }
        for (size_t i = 0; i < count * nv * p->size; i++) {
            p->upper[i] = 0.5 * (p->upper[i] - p->lower[i]);
        }
        triangle_append(p->size, E, count * nv, p->upper, p->scratch);
        status = status == DYN_OK ? proceed(p->g, error) : status;
    }
    return status;
}

dyn_status rate_errors_factor(regression *g, const double *deviations, double *E, dyn_error *error) {
    pass p = {0};
    dyn_status status = pass_create(g, &p) ? DYN_OK : dyn_error_memory(error);
    memset(E, 0, p.size * p.size * sizeof *E);
    for (size_t k = 0; k < 2 * g->nv && status == DYN_OK; k++) {
        double *rate = k < g->nv ? g->record->v : g->record->a;
        if (deviations[k] > 0) {
            status = add_errors(&p, rate, k % g->nv, deviations[k], E, error);
        }
    }
    free(p.upper);
    return status;
}

/* Computes the expectation of a score: correction E' E (-x, 1) / n. */
static void expect_score(const pass *p, const double *E, double correction, const double *x, double *expectation) {
    size_t count = p->g->count;
    memset(expectation, 0, p->size * sizeof *expectation);
    for (size_t r = 0; r < p->size; r++) {
        double error = E[r * p->size + count];
        for (size_t c = r; c < count; c++) {
            error -= E[r * p->size + c] * x[c];
        }
        for (size_t c = r; c < count; c++) {
            expectation[c] += correction * E[r * p->size + c] * error / (double)p->g->record->n;
        }
    }
}

dyn_status rate_errors_scores(regression *g, const double *E, double correction, const double *x, double *scores,
                              dyn_error *error) {
    pass p = {0};
    size_t n = g->record->n;
    dyn_status status = pass_create(g, &p) ? DYN_OK : dyn_error_memory(error);
    if (status == DYN_OK) {
        expect_score(&p, E, correction, x, p.sum);
    }
    memset(scores, 0, p.size * p.size * sizeof *scores);
    for (size_t first = 0; first < n && status == DYN_OK; first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;
        status = regression_rows(g, first, count, p.upper, error);
        for (size_t s = 0; s < count && status == DYN_OK; s++) {
            double *score = p.rows + s * p.size;
            for (size_t c = 0; c < p.size; c++) {
                score[c] = -p.sum[c];
            }
            for (size_t k = 0; k < g->nv; k++) {
                const double *row = p.upper + (s * g->nv + k) * p.size;
                double residual = row[g->count];
                for (size_t c = 0; c < g->count; c++) {
                    residual -= row[c] * x[c];
                }
                for (size_t c = 0; c < g->count; c++) {
                    score[c] += row[c] * residual;
                }
            }
        }
        triangle_append(p.size, scores, count, p.rows, p.scratch);
        status = status == DYN_OK ? proceed(g, error) : status;
    }
    free(p.upper);
    return status;
}
