/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forward dynamics with rows that a caller states, one sample at a time:
 *
 *     [M A'; A 0] [a; -lambda] = [tau - h + J' f_ext; c]
 *
 * A are the rows of the model's constraints, and then those of the caller.
 *
 * Source: Featherstone and Orin 2000, equations 20 and 22.
 */
#include "given_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/inverse_dynamics.h>
#include <dynamics/mass_matrix.h>

#include "../dynamics/carve.h"
#include "../model/constraint.h"
#include "../model/error.h"
#include "agreement.h"
#include "closures.h"
#include "dense.h"

int given_rows_count(const dyn_given_rows *given) {
    return given ? given->count : 0;
}

/* Returns the index of the first number that is not finite, or `count`. */
static size_t find_bad(const double *x, size_t count) {
    size_t i = 0;
    while (x && i < count && isfinite(x[i])) {
        i++;
    }
    return x ? i : count;
}

dyn_status given_rows_check(const dyn_given_rows *given, const dyn_model *model, size_t n, dyn_error *error) {
    if (!given) {
        return DYN_OK;
    }
    if (given->count < 0 || given->count > DYN_MAX_CONSTRAINT_ROWS - model->constraint_rows || !given->A) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "options.given",
                             "%d rows are given beside %d of the model; pass a matrix of 0 to %d rows", given->count,
                             model->constraint_rows, DYN_MAX_CONSTRAINT_ROWS - model->constraint_rows);
    }
    size_t rows = (size_t)given->count * (given->is_per_sample ? n : 1), numbers = rows * (size_t)model->nv;
    size_t at = find_bad(given->A, numbers);
    if (at < numbers) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "options.given.A", "number %zu is %g; pass a finite number",
                             at, given->A[at]);
    }
    at = find_bad(given->acceleration, rows);
    return at == rows ? DYN_OK
                      : dyn_error_set(error, DYN_INVALID_ARGUMENT, "options.given.acceleration",
                                      "number %zu is %g; pass a finite number", at, given->acceleration[at]);
}

void given_rows_copy(const dyn_given_rows *given, size_t sample, int nv, double *A, double *acceleration,
                     double factor) {
    size_t count = (size_t)given_rows_count(given), width = (size_t)nv;
    if (count == 0) {
        return;
    }
    size_t first = given->is_per_sample ? sample * count : 0;
    memcpy(A, given->A + first * width, count * width * sizeof *A);
    for (size_t r = 0; r < count; r++) {
        acceleration[r] = given->acceleration ? factor * given->acceleration[first + r] : 0;
    }
}

/* Scratch memory of one sample. */
typedef struct given_scratch {
    int m, nv;
    double *A, *c;    /* m x nv and m */
    double *R, *b;    /* m x m and m: for the multipliers of least norm; b holds closure errors before */
    double *a;        /* nv */
    double *inverse;  /* M^-1, nv x nv */
    double *response; /* nv: a column of M^-1 A' */
    double opening;   /* largest closure error of the model's constraints */
    dense_scratch dense;
    least_norm norm;
} given_scratch;

static size_t lay_out(int m, int nv, uintptr_t base, given_scratch *s) {
    uintptr_t cursor = base;
    size_t rows = (size_t)m, width = (size_t)nv;
    s->m = m, s->nv = nv;
    s->A = dyn_carve(&cursor, rows * width * sizeof(double));
    s->c = dyn_carve(&cursor, rows * sizeof(double));
    s->R = dyn_carve(&cursor, rows * rows * sizeof(double));
    s->b = dyn_carve(&cursor, rows * sizeof(double));
    s->a = dyn_carve(&cursor, width * sizeof(double));
    s->inverse = dyn_carve(&cursor, width * width * sizeof(double));
    s->response = dyn_carve(&cursor, width * sizeof(double));
    cursor += dense_lay_out(nv, m, cursor, &s->dense);
    cursor += least_norm_lay_out(m, cursor, &s->norm);
    return (size_t)(cursor - base) + CARVE_ALIGNMENT;
}

/* Returns the condition of A M^-1 A', from M^-1 in s->inverse. */
static double find_condition(given_scratch *s) {
    int m = s->m, n = s->nv;
    for (int k = 0; k < m; k++) {
        for (int i = 0; i < n; i++) {
            s->response[i] = 0;
            for (int j = 0; j < n; j++) {
                s->response[i] += s->inverse[i * n + j] * s->A[k * n + j];
            }
        }
        for (int r = 0; r < m; r++) {
            s->R[r * m + k] = 0;
            for (int i = 0; i < n; i++) {
                s->R[r * m + k] += s->A[r * n + i] * s->response[i];
            }
        }
    }
    int rank = least_norm_factorize(m, s->R, &s->norm);
    return least_norm_condition(m, rank, &s->norm);
}

/* Arguments of a call, and h - J' f_ext of all samples. */
typedef struct given_problem {
    const dyn_model *model;
    dyn_workspace *workspace;
    const given_rows_call *call;
    const double *forces; /* n x nv */
} given_problem;

/* Adds the forces of the joints of closed loops to f. */
static void add_loop_forces(const given_problem *p, const double *q, const double *v, double *f) {
    closures loops;
    if (constraint_force_rows(p->model) > 0) {
        closures_lay_out(p->model, 1, (uintptr_t)p->workspace->constraint_memory, &loops);
        closures_choose(p->model, p->workspace, &loops);
        closures_add_forces(&loops, dyn_block_of_one(p->workspace, 0), p->call->options->passive, 1, q, v, f);
    }
}

/* Loads M, f, A and c of one sample. */
static dyn_status load(const given_problem *p, size_t sample, given_scratch *s, dyn_error *error) {
    const given_rows_call *call = p->call;
    const size_t nv = (size_t)s->nv, own = (size_t)p->model->constraint_rows;
    const double *q = call->q + sample * (size_t)p->model->nq, *v = call->v ? call->v + sample * nv : NULL;
    dyn_status status = dyn_crba(p->model, p->workspace, 1, q, s->dense.M, error);
    if (status == DYN_OK) {
        status = dyn_minverse(p->model, p->workspace, 1, q, s->inverse, error);
    }
    if (status == DYN_OK && own > 0) {
        status = dyn_constraint_rows(p->model, p->workspace, 1, q, v, s->A, s->c, s->b, error);
    }
    s->opening = 0;
    for (size_t r = 0; r < own && status == DYN_OK; r++) {
        s->c[r] = -s->c[r];
        s->opening = fmax(s->opening, fabs(s->b[r]));
    }
    given_rows_copy(call->options->given, sample, s->nv, s->A + own * nv, s->c + own, 1);
    for (size_t i = 0; i < nv; i++) {
        s->dense.f[i] = (call->tau ? call->tau[sample * nv + i] : 0) - p->forces[sample * nv + i];
    }
    if (status == DYN_OK) {
        add_loop_forces(p, q, v, s->dense.f);
    }
    return status;
}

/* Returns the largest sum of the sizes of the terms of A (a - a_0) of the loaded sample, whose a is known. */
static double freed_acceleration(const given_scratch *s) {
    double largest = 0;
    for (int r = 0; r < s->m; r++) {
        double size = 0;
        for (int i = 0; i < s->nv; i++) {
            double change = s->a[i];
            for (int j = 0; j < s->nv; j++) {
                change -= s->inverse[i * s->nv + j] * s->dense.f[j];
            }
            size += fabs(s->A[r * s->nv + i] * change);
        }
        largest = fmax(largest, size);
    }
    return largest;
}

/* Solves the loaded sample, and stores its results; `lambda` and `result` may be NULL. */
static dyn_status solve(const given_problem *p, given_scratch *s, double *a, double *lambda,
                        dyn_constraint_result *result, dyn_error *error) {
    const dense_problem problem = {s->nv, s->m, s->dense.M, s->A, s->dense.f, s->c};
    bool eliminates = p->call->options->method == DYN_CONSTRAINT_METHOD_ELIMINATION;
    int rank = eliminates ? dense_solve_by_elimination(&problem, &s->dense, s->a)
                          : dense_solve_full_system(&problem, &s->dense, s->a);
    dyn_constraint_result found = {rank, 0, 1};
    for (int r = 0; r < s->m; r++) {
        double rest = -s->c[r];
        for (int i = 0; i < s->nv; i++) {
            rest += s->A[r * s->nv + i] * s->a[i];
        }
        found.residual = fmax(found.residual, fabs(rest));
    }
    for (int i = 0; i < s->nv; i++) {
        if (!isfinite(s->a[i])) {
            return dyn_error_set(error, DYN_INVALID_ARGUMENT, "a", "acceleration %d is %g: the inputs are too large", i,
                                 s->a[i]);
        }
    }
    const solved_rows rows = {s->m, s->nv, 1, 0, s->A, s->a, s->c, freed_acceleration(s), s->opening};
    dyn_status status = agreement_check(&rows, p->call->options->tolerance, p->model, 0, error);
    if (status != DYN_OK) {
        return status;
    }
    dense_find_forces(&problem, s->a, s->dense.y);
    least_norm_of_forces(s->m, s->nv, s->A, s->dense.y, s->R, &s->norm, s->b);
    if (lambda) {
        memcpy(lambda, s->b, (size_t)s->m * sizeof *lambda);
    }
    if (result) {
        found.condition = find_condition(s);
        *result = found;
    }
    memcpy(a, s->a, (size_t)s->nv * sizeof *a);
    return DYN_OK;
}

dyn_status given_rows_accelerate(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                 const given_rows_call *call, double *a, double *lambda, dyn_constraint_result *results,
                                 dyn_error *error) {
    given_scratch s;
    int m = model->constraint_rows + given_rows_count(call->options->given);
    size_t nv = (size_t)model->nv, size = lay_out(m, model->nv, 0, &s);
    void *memory = aligned_alloc(CARVE_ALIGNMENT, size / CARVE_ALIGNMENT * CARVE_ALIGNMENT);
    double *forces = calloc(n * nv + 1, sizeof *forces);
    dyn_status status = memory && forces ? DYN_OK : dyn_error_memory(error);
    if (status == DYN_OK) {
        lay_out(m, model->nv, (uintptr_t)memory, &s);
        status = dyn_rnea(model, workspace, n, call->gravity, call->q, call->v, NULL, call->forces, forces, error);
    }
    const given_problem p = {model, workspace, call, forces};
    for (size_t i = 0; status == DYN_OK && i < n; i++) {
        status = load(&p, i, &s, error);
        if (status == DYN_OK) {
            status =
                solve(&p, &s, a + i * nv, lambda ? lambda + i * (size_t)m : NULL, results ? results + i : NULL, error);
        }
        if (status != DYN_OK) {
            error->site.has_sample = true;
            error->site.sample = i;
        }
    }
    free(memory);
    free(forces);
    return status;
}
