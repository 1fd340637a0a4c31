/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assembly by damped Gauss-Newton. In each iteration
 *
 *     (A A' + mu 1) lambda = -e,    dq = A' lambda,    q <- q (+) s dq
 *
 * The columns of A whose coordinates are held are zero. The damping mu is proportional to min(1, |e|^2), so that it
 * bounds dq where A loses rank and vanishes fast enough for quadratic convergence. s is halved from 1 until |e|
 * decreases.
 *
 * Source: Levenberg 1944; Marquardt 1963; Yamashita and Fukushima 2001 (the damping).
 */
#include <dynamics/assembly.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/configuration_space.h>
#include <dynamics/constrained_dynamics.h>

#include "../dynamics/carve.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "../model/sized.h"
#include "least_norm.h"

/* Largest increment of a coordinate in an iteration, rad or m; least share of |e|^2 by which a whole step must decrease
 * it; damping as a multiple of min(1, |e|^2) and of the mean of the diagonal of A A'. */
static const double longest_step = 0.5, least_decrease = 1e-4, damping_share = 0.1;

/* Largest number of halvings of a step; default and largest iteration_limit. */
enum { MOST_HALVINGS = 20, DEFAULT_ITERATIONS = 100, MOST_ITERATIONS = 10000 };
static const double default_tolerance = 1e-10;

/* Inputs and scratch memory of one call; q and e are those of the current sample. */
typedef struct assembly {
    const dyn_model *model;
    dyn_workspace *workspace;
    dyn_assembly_options options;
    size_t nq, nv, m;
    double *A, *e, *response, *lambda; /* m x nv, m, m x m, m */
    double *dq, *q, *trial_q, *trial_e;
    least_norm norm;
} assembly;

static size_t lay_out(uintptr_t base, assembly *a) {
    uintptr_t cursor = base;
    struct {
        double **to;
        size_t count;
    } parts[] = {{&a->A, a->m * a->nv}, {&a->response, a->m * a->m}, {&a->lambda, a->m}, {&a->dq, a->nv},
                 {&a->q, a->nq},        {&a->trial_q, a->nq},        {&a->e, a->m},      {&a->trial_e, a->m}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].to = dyn_carve(&cursor, parts[i].count * sizeof(double));
    }
    cursor += least_norm_lay_out((int)a->m, cursor, &a->norm);
    return cursor - base;
}

/* ---- Iterations -------------------------------------------------------------------------------------------------- */

static double square(const double *e, size_t m) {
    double sum = 0;
    for (size_t r = 0; r < m; r++) {
        sum += e[r] * e[r];
    }
    return sum;
}

/* Computes A and e at a->q, and sets the columns of A whose coordinates are held to zero. */
static dyn_status find_rows(assembly *a, dyn_error *error) {
    dyn_status status = dyn_constraint_rows(a->model, a->workspace, 1, a->q, NULL, a->A, NULL, a->e, error);
    for (size_t k = 0; a->options.held && k < a->nv; k++) {
        for (size_t r = 0; a->options.held[k] && r < a->m; r++) {
            a->A[r * a->nv + k] = 0;
        }
    }
    return status;
}

/* Computes the increment dq, scaled down to longest_step where a coordinate would move further. */
static void find_step(assembly *a) {
    size_t m = a->m, nv = a->nv;
    double trace = 0, most = 0;
    for (size_t r = 0; r < m; r++) {
        for (size_t k = 0; k < m; k++) {
            double sum = 0;
            for (size_t i = 0; i < nv; i++) {
                sum += a->A[r * nv + i] * a->A[k * nv + i];
            }
            a->response[r * m + k] = sum;
        }
        trace += a->response[r * m + r];
        a->lambda[r] = -a->e[r];
    }
    double damping = damping_share * fmin(1, square(a->e, m)) * trace / (double)m;
    for (size_t r = 0; r < m; r++) {
        a->response[r * m + r] += damping;
    }
    least_norm_solve((int)m, a->response, a->lambda, &a->norm, a->lambda);
    for (size_t i = 0; i < nv; i++) {
        a->dq[i] = 0;
        for (size_t r = 0; r < m; r++) {
            a->dq[i] += a->A[r * nv + i] * a->lambda[r];
        }
        most = fmax(most, fabs(a->dq[i]));
    }
    for (size_t i = 0; most > longest_step && i < nv; i++) {
        a->dq[i] *= longest_step / most;
    }
}

/* Moves a->q by s dq for the first s of 1, 1/2, 1/4 and so on that decreases the errors. *has_moved is false, and a->q
 * is unchanged, where none does. */
static dyn_status search(assembly *a, dyn_error *error, bool *has_moved) {
    double before = square(a->e, a->m), s = 1;
    *has_moved = false;
    for (int i = 0; i <= MOST_HALVINGS && !*has_moved; i++, s /= 2) {
        dyn_status status = dyn_integrate(a->model, 1, a->q, a->dq, s, a->trial_q, error);
        if (status == DYN_OK) {
            status = dyn_constraint_rows(a->model, a->workspace, 1, a->trial_q, NULL, NULL, NULL, a->trial_e, error);
        }
        if (status != DYN_OK) {
            return status;
        }
        *has_moved = square(a->trial_e, a->m) < (1 - least_decrease * s) * before;
    }
    if (*has_moved) {
        memcpy(a->q, a->trial_q, a->nq * sizeof *a->q);
    }
    return DYN_OK;
}

/* Sets `constraint` and `error` of the result to those of the largest closure error, and is_closed. */
static void find_worst(const assembly *a, dyn_assembly_result *result) {
    result->error = -1;
    for (int i = 0; i < a->model->constraint_count; i++) {
        const dyn_constraint *c = &a->model->constraints[i];
        for (int r = c->first_row; r < c->first_row + c->row_count; r++) {
            if (fabs(a->e[r]) > result->error) {
                result->error = fabs(a->e[r]);
                result->constraint = i;
            }
        }
    }
    result->is_closed = result->error <= a->options.tolerance;
}

/* Assembles one sample, whose guess is in a->q. */
static dyn_status assemble_one(assembly *a, dyn_error *error, dyn_assembly_result *result) {
    bool has_moved = true;
    *result = (dyn_assembly_result){0};
    dyn_status status = find_rows(a, error);
    while (status == DYN_OK) {
        find_worst(a, result);
        if (result->is_closed || !has_moved || result->iterations >= a->options.iteration_limit) {
            break;
        }
        find_step(a);
        status = search(a, error, &has_moved);
        if (status == DYN_OK && has_moved) {
            status = find_rows(a, error);
        }
        result->iterations++;
    }
    return status;
}

/* ---- Entry point ------------------------------------------------------------------------------------------------- */

static dyn_status read_options(const dyn_assembly_options *options, dyn_assembly_options *chosen, dyn_error *error) {
    dyn_status status = dyn_sized_read("options", options, sizeof *chosen, chosen, error);
    if (status != DYN_OK) {
        return status;
    }
    if (!(chosen->tolerance >= 0) || !isfinite(chosen->tolerance)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "options.tolerance",
                             "the tolerance is %g; state a finite number that is not negative", chosen->tolerance);
    }
    if (chosen->iteration_limit < 0 || chosen->iteration_limit > MOST_ITERATIONS) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "options.iteration_limit",
                             "the limit is %d iterations; state a number from 0 to %d", chosen->iteration_limit,
                             MOST_ITERATIONS);
    }
    chosen->tolerance = chosen->tolerance > 0 ? chosen->tolerance : default_tolerance;
    chosen->iteration_limit = chosen->iteration_limit > 0 ? chosen->iteration_limit : DEFAULT_ITERATIONS;
    return DYN_OK;
}

dyn_status dyn_assemble(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                        const dyn_assembly_options *options, double *closed, dyn_assembly_result *results,
                        dyn_error *error) {
    assembly a = {.model = model,
                  .workspace = workspace,
                  .nq = (size_t)model->nq,
                  .nv = (size_t)model->nv,
                  .m = (size_t)model->constraint_rows};
    dyn_status status = read_options(options, &a.options, error);
    if (status == DYN_OK) {
        /* Checks the whole of q, so that errors count the samples of the caller. */
        status = dyn_constraint_rows(model, workspace, n, q, NULL, NULL, NULL, NULL, error);
    }
    void *memory = status == DYN_OK ? aligned_alloc(CARVE_ALIGNMENT, lay_out(0, &a)) : NULL;
    if (status != DYN_OK || !memory) {
        return status != DYN_OK ? status : dyn_error_memory(error);
    }
    lay_out((uintptr_t)memory, &a);
    for (size_t s = 0; s < n && status == DYN_OK; s++) {
        dyn_assembly_result result;
        memcpy(a.q, q + s * a.nq, a.nq * sizeof *q);
        status = assemble_one(&a, error, &result);
        if (status != DYN_OK && error && error->site.has_sample) {
            error->site.sample = s;
        }
        if (status == DYN_OK) {
            memcpy(closed + s * a.nq, a.q, a.nq * sizeof *closed);
        }
        if (status == DYN_OK && results) {
            results[s] = result;
        }
    }
    free(memory);
    return status;
}
