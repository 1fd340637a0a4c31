/* SPDX-License-Identifier: BSD-2-Clause */
#include "rate_errors.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/trajectory.h>

#include "../model/error.h"
#include "known_torques.h"
#include "smoothing.h"
#include "triangle.h"

/* Samples whose rows are computed at once, and draws of random errors of positions. */
enum { BLOCK = 64, DRAWS = 16 };

/* Share of the variance of positions above which their differences are no noise of a motion. Window of the scores, in
 * periods of a cut-off frequency. */
static const double RESOLVED = 0.01, WINDOW = 8;

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

/* Stores the standard deviations of independent errors of given v (nv) and then a (nv). Returns false, with zeros,
 * where nothing tells them. */
static bool find_deviations(const record *r, double *deviations) {
    double noise = 0, range = 0, greatest = 0;
    for (size_t k = 0; k < r->nq; k++) {
        noise += error_variance(r->n, r->q + k, r->nq);
        range += variance(r->n, r->q + k, r->nq);
    }
    bool is_motion = noise <= RESOLVED * range;
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
    size_t size, width;           /* numbers of a row of the factors, and of a row of the regression */
    double *dq, *dv, *da;         /* n x nv: errors of the motion */
    double *own;                  /* 4 BLOCK x nv: the motion and known torques of a block */
    double *known[2];             /* n x nv each: known torques for the motion plus and minus the errors; NULL: none */
    double *upper, *lower, *rows; /* rows of a block, twice; rows to append */
    double *scratch;
} pass;

static bool pass_create(regression *g, pass *p) {
    size_t n = g->record->n * g->nv, block = BLOCK * g->nv;
    p->g = g, p->size = g->count + 1, p->width = g->count + 2;
    p->dq = calloc(3 * n + 1, sizeof *p->dq), p->own = calloc(4 * block + 1, sizeof *p->own);
    size_t most = p->size + g->nv;
    p->upper = calloc(2 * block * p->width + (BLOCK + 1) * most, sizeof *p->upper);
    if (!p->dq || !p->own || !p->upper) {
        return false;
    }
    p->dv = p->dq + n, p->da = p->dv + n;
    p->lower = p->upper + block * p->width, p->rows = p->lower + block * p->width;
    p->scratch = p->rows + BLOCK * (p->size + g->nv);
    return true;
}

static void pass_free(pass *p) {
    free(p->dq), free(p->own), free(p->upper);
}

static dyn_status proceed(const regression *g, dyn_error *error) {
    const dyn_identification_options *o = g->options;
    return o->proceed && !o->proceed(o->context, 0.5)
               ? dyn_error_set(error, DYN_CANCELLED, "", "the identification was cancelled")
               : DYN_OK;
}

/* Sets the motion of a block to its own plus `factor` times the errors. Errors of q are those of coordinates that are
 * positions. */
static void shift(const pass *p, size_t first, size_t count, double factor) {
    const record *r = p->g->record;
    const double *known = factor == 0 ? p->own + 3 * BLOCK * r->nv : p->known[factor < 0] + first * r->nv;
    if (r->known) {
        memcpy(r->known + first * r->nv, known, count * r->nv * sizeof *known);
    }
    double *const motion[] = {r->q, r->v, r->a}, *const errors[] = {p->dq, p->dv, p->da};
    for (size_t m = r->has_rates ? 1 : 0; m < 3; m++) {
        const double *own = p->own + m * BLOCK * r->nv;
        for (size_t i = 0; i < count * r->nv; i++) {
            motion[m][first * r->nv + i] = own[i] + factor * errors[m][first * r->nv + i];
        }
    }
}

/* Copies the motion of a block. */
static void keep(const pass *p, size_t first, size_t count) {
    const record *r = p->g->record;
    if (r->known) {
        memcpy(p->own + 3 * BLOCK * r->nv, r->known + first * r->nv, count * r->nv * sizeof *p->own);
    }
    double *const motion[] = {r->q, r->v, r->a};
    for (size_t m = r->has_rates ? 1 : 0; m < 3; m++) {
        memcpy(p->own + m * BLOCK * r->nv, motion[m] + first * r->nv, count * r->nv * sizeof *p->own);
    }
}

/* Appends the differences of a block to the factor of each coordinate. */
static void append_differences(pass *p, size_t count, double factor) {
    size_t nv = p->g->nv;
    for (size_t k = 0; k < nv; k++) {
        for (size_t s = 0; s < count; s++) {
            const double *upper = p->upper + (s * nv + k) * p->width, *lower = p->lower + (s * nv + k) * p->width;
            double *row = p->rows + s * p->size;
            for (size_t c = 0; c < p->g->count; c++) {
                row[c] = 0.5 * factor * (upper[c] - lower[c]);
            }
            row[p->g->count] = -0.5 * factor * (upper[p->g->count] - lower[p->g->count]);
        }
        triangle_append(p->size, p->g->errors + k * p->size * p->size, count, p->rows, p->scratch);
    }
}

/* Computes the torques of known loads for the motion plus and minus the errors. */
static dyn_status find_known(pass *p, dyn_error *error) {
    const record *r = p->g->record;
    size_t total = r->n * r->nv;
    double *moved = calloc(3 * total + 1, sizeof *moved);
    dyn_status status = moved ? DYN_OK : dyn_error_memory(error);
    for (int side = 0; side < 2 && status == DYN_OK; side++) {
        record other = *r;
        other.known = NULL, other.q = r->has_rates ? r->q : moved, other.v = moved + total, other.a = other.v + total;
        for (size_t i = 0; i < total; i++) {
            double sign = side ? -1 : 1;
            moved[i] = r->has_rates ? 0 : r->q[i] + sign * p->dq[i];
            other.v[i] = r->v[i] + sign * p->dv[i], other.a[i] = r->a[i] + sign * p->da[i];
        }
        status = known_torques(p->g->model, r->motion, p->g->options->gravity, &other, error);
        p->known[side] = other.known;
    }
    free(moved);
    return status;
}

/* Adds what the errors of the motion make in all rows, times `factor`. */
static dyn_status add_errors(pass *p, double factor, dyn_error *error) {
    size_t n = p->g->record->n;
    dyn_status status = p->g->record->known ? find_known(p, error) : DYN_OK;
    for (size_t first = 0; first < n && status == DYN_OK; first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;
        keep(p, first, count);
        shift(p, first, count, 1);
        status = regression_rows(p->g, first, count, p->upper, error);
        shift(p, first, count, -1);
        if (status == DYN_OK) {
            status = regression_rows(p->g, first, count, p->lower, error);
        }
        shift(p, first, count, 0);
        append_differences(p, count, factor);
        status = status == DYN_OK ? proceed(p->g, error) : status;
    }
    free(p->known[0]), free(p->known[1]);
    p->known[0] = p->known[1] = NULL;
    return status;
}

/* Adds the errors of given rates, one coordinate of one rate after the other. */
static dyn_status add_given(pass *p, const double *deviations, dyn_error *error) {
    size_t n = p->g->record->n, nv = p->g->nv;
    dyn_status status = DYN_OK;
    for (size_t k = 0; k < 2 * nv && status == DYN_OK; k++) {
        double *errors = (k < nv ? p->dv : p->da) + k % nv;
        for (size_t s = 0; s < n; s++) {
            errors[s * nv] = deviations[k];
        }
        status = deviations[k] > 0 ? add_errors(p, 1, error) : DYN_OK;
        for (size_t s = 0; s < n; s++) {
            errors[s * nv] = 0;
        }
    }
    return status;
}

/* ---- Errors of filtered positions -------------------------------------------------------------------------------- */

/* Returns -1 or 1 at random (Marsaglia 2003, xorshift). The sequence is the same for every identification. */
static double random_sign(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state >> 63 ? 1 : -1;
}

/* Returns the variance of independent errors of the positions of one coordinate before the filter, by divided
 * differences of sixth order. The coefficients of each have the length one. */
static double position_variance(const record *r, size_t k) {
    enum { ORDER = 6 };
    double sum = 0;
    for (size_t s = 0; s + ORDER < r->n; s++) {
        const double *t = r->motion->time + s;
        double difference = 0, square = 0;
        for (size_t i = 0; i <= ORDER; i++) {
            double coefficient = 1, interval = (t[ORDER] - t[0]) / ORDER;
            for (size_t j = 0; j <= ORDER; j++) {
                coefficient *= i == j ? 1 : interval / (t[i] - t[j]);
            }
            difference += coefficient * r->motion->q[(s + i) * r->nq + k];
            square += coefficient * coefficient;
        }
        sum += difference * difference / square;
    }
    return sum / (double)(r->n - ORDER);
}

/* Draws errors of the positions of one coordinate, and filters them. */
static void draw(const record *r, size_t k, double deviation, uint64_t *state, double *dq, double *scratch) {
    for (size_t s = 0; s < r->n; s++) {
        dq[s * r->nv + k] = deviation * random_sign(state);
    }
    smooth(r->n, r->motion->time, r->cutoff, r->nv, dq + k, scratch);
}

/* Computes the errors of the rates from those of the positions. */
static dyn_status derive_errors(pass *p, dyn_error *error) {
    const record *r = p->g->record;
    size_t total = r->n * r->nv;
    for (size_t i = 0; i < total; i++) {
        r->q[i] += p->dq[i];
    }
    dyn_status status =
        dyn_derive_rates(p->g->model, r->n, r->motion->time, r->q, DYN_RATES_QUINTIC, p->dv, p->da, error);
    for (size_t i = 0; i < total; i++) {
        r->q[i] -= p->dq[i];
        p->dv[i] -= r->v[i], p->da[i] -= r->a[i];
    }
    return status;
}

/* Adds the errors of filtered positions. */
static dyn_status add_filtered(pass *p, const double *deviations, dyn_error *error) {
    const record *r = p->g->record;
    double *scratch = calloc(r->n, SMOOTHING_SCRATCH * sizeof *scratch);
    double *q = calloc(r->n * r->nq + 1, sizeof *q);
    dyn_status status = scratch && q ? DYN_OK : dyn_error_memory(error);
    uint64_t state = 0x9e3779b97f4a7c15;
    for (int i = 0; i < DRAWS && status == DYN_OK; i++) {
        for (size_t k = 0; k < r->nv; k++) {
            draw(r, k, deviations[k], &state, p->dq, scratch);
        }
        memcpy(q, r->q, r->n * r->nq * sizeof *q);
        status = derive_errors(p, error);
        memcpy(r->q, q, r->n * r->nq * sizeof *q);
        status = status == DYN_OK ? add_errors(p, 1 / sqrt(DRAWS), error) : status;
    }
    free(scratch), free(q);
    return status;
}

/* Returns the samples within which errors of filtered positions and torques depend on one another. */
static size_t find_window(const record *r) {
    double duration = r->motion->time ? r->motion->time[r->n - 1] - r->motion->time[0] : 0,
           interval = duration / (double)(r->n - 1);
    double window = 1;
    const double cutoffs[] = {r->cutoff, r->torque_cutoff};
    for (size_t i = 0; i < 2; i++) {
        window = cutoffs[i] > 0 ? fmax(window, ceil(WINDOW / (cutoffs[i] * interval))) : window;
    }
    return (size_t)fmin(window, (double)r->n);
}

dyn_status rate_errors_read(regression *g, dyn_error *error) {
    const record *r = g->record;
    pass p = {0};
    size_t size = g->count + 1;
    double *deviations = calloc(2 * g->nv + 1, sizeof *deviations);
    dyn_status status = deviations && pass_create(g, &p) ? DYN_OK : dyn_error_memory(error);
    bool is_told = status == DYN_OK && (r->has_rates ? find_deviations(r, deviations) : r->cutoff > 0);
    for (size_t k = 0; k < g->nv && is_told && !r->has_rates; k++) {
        deviations[k] = sqrt(position_variance(r, k));
    }
    free(g->errors), g->errors = NULL;
    if (is_told) {
        g->errors = calloc(g->nv * size * size + 1, sizeof *g->errors);
        g->window = find_window(r);
        status = !g->errors     ? dyn_error_memory(error)
                 : r->has_rates ? add_given(&p, deviations, error)
                                : add_filtered(&p, deviations, error);
    }
    pass_free(&p);
    free(deviations);
    return status;
}

double rate_errors_share(const regression *g, size_t coordinate, size_t without) {
    size_t all = regression_row_count(g, coordinate, (size_t)-1);
    return all > 0 ? sqrt((double)regression_row_count(g, coordinate, without) / (double)all) : 0;
}

void rate_errors_combine(regression *g, size_t without, const double *weights, double *combined, double *rows) {
    size_t size = g->count + 1;
    for (size_t k = 0; k < g->nv; k++) {
        double factor = rate_errors_share(g, k, without) * (weights ? weights[k] : 1);
        for (size_t i = 0; i < size * size; i++) {
            rows[i] = factor * g->errors[k * size * size + i];
        }
        triangle_append(size, combined, size, rows, g->scratch);
    }
}

/* ---- Scores ------------------------------------------------------------------------------------------------------ */

/* Computes the expectation of a score: correction E' E (-x, 1) / n. Logarithms of gains have no step. */
static void expect_score(const regression *g, const rate_scores *solution, double *expectation) {
    size_t size = solution->size;
    memset(expectation, 0, size * sizeof *expectation);
    for (size_t r = 0; r < size; r++) {
        double error = solution->E[r * size + size - 1];
        for (size_t c = r; c < g->count; c++) {
            error -= solution->E[r * size + c] * solution->x[c];
        }
        for (size_t c = r; c + 1 < size; c++) {
            expectation[c] += solution->correction * solution->E[r * size + c] * error / (double)g->record->n;
        }
    }
}

/* Adds the products of column and residual of the rows of one sample to its score. */
static void add_products(const regression *g, const rate_scores *solution, const double *rows, double *score) {
    for (size_t k = 0; k < g->nv; k++) {
        const double *row = rows + k * (g->count + 2);
        double gain = solution->gains ? solution->gains[k] : 1, model = row[g->count];
        double weight = solution->weights ? solution->weights[k] * solution->weights[k] : 1;
        for (size_t c = 0; c < g->count; c++) {
            model += row[c] * solution->x[c];
        }
        double residual = weight * (gain * row[g->count + 1] - model);
        for (size_t c = 0; c < g->count; c++) {
            score[c] += row[c] * residual;
        }
        if (solution->places && g->record->is_sought[k]) {
            score[g->count + solution->places[k]] -= model * residual;
        }
    }
}

/* Sums of scores over a window that moves along the samples. */
typedef struct window {
    size_t size, length;
    double *last, *sum, *expectation; /* scores of the window, their sum */
} window;

/* Moves the window by the sample number `at`, whose score is `score` (NULL: none). Stores the sum, for a factor of
 * squares, in `row`. */
static void window_move(window *w, size_t at, const double *score, double *row) {
    double *last = w->last + at % w->length * w->size;
    for (size_t c = 0; c < w->size; c++) {
        double next = score ? score[c] : 0;
        w->sum[c] += next - last[c];
        last[c] = next;
        row[c] = w->sum[c] / sqrt((double)w->length);
    }
}

/* Appends the scores of a block of samples; `rows` NULL: of a window that leaves the record. */
static void append_scores(pass *p, const rate_scores *solution, window *w, size_t first, size_t count,
                          const double *rows, double *scores) {
    double *score = w->sum + w->size;
    for (size_t s = 0; s < count; s++) {
        for (size_t c = 0; c < w->size && rows; c++) {
            score[c] = -w->expectation[c];
        }
        if (rows) {
            add_products(p->g, solution, rows + s * p->g->nv * p->width, score);
        }
        window_move(w, first + s, rows ? score : NULL, p->rows + s * w->size);
    }
    triangle_append(w->size, scores, count, p->rows, p->scratch);
}

dyn_status rate_errors_scores(regression *g, const rate_scores *solution, double *scores, dyn_error *error) {
    size_t n = g->record->n, size = solution->size;
    pass p = {0};
    window w = {.size = size, .length = g->window, .last = calloc((g->window + 3) * size, sizeof(double))};
    dyn_status status = pass_create(g, &p) && w.last ? DYN_OK : dyn_error_memory(error);
    if (status == DYN_OK) {
        w.expectation = w.last + w.length * size, w.sum = w.expectation + size;
        expect_score(g, solution, w.expectation);
    }
    memset(scores, 0, size * size * sizeof *scores);
    for (size_t first = 0; first < n + w.length - 1 && status == DYN_OK;) {
        bool is_within = first < n;
        size_t end = is_within ? n : n + w.length - 1, count = end - first < BLOCK ? end - first : BLOCK;
        if (is_within) {
            status = regression_rows(g, first, count, p.upper, error);
        }
        if (status == DYN_OK) {
            append_scores(&p, solution, &w, first, count, is_within ? p.upper : NULL, scores);
            status = proceed(g, error);
        }
        first += count;
    }
    pass_free(&p);
    free(w.last);
    return status;
}
