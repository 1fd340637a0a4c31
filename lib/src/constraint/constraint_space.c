/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quantities of the space of constraints, one sample at a time, by the factors of least_norm.h: with R = A M^-1 A' =
 * L L' up to the order of the rows,
 *
 *     Lambda = R^+ = L (L'L)^-1 (L'L)^-1 L'
 *
 * and the eigenvalues of R that are not zero are those of L'L.
 */
#include <dynamics/constraint_space.h>

#include <stdlib.h>
#include <string.h>

#include <dynamics/constrained_dynamics.h>
#include <dynamics/inverse_dynamics.h>
#include <dynamics/mass_matrix.h>

#include "../dynamics/arguments.h"
#include "../dynamics/carve.h"
#include "../dynamics/principal_axes.h"
#include "../dynamics/workspace.h"
#include "../model/constraint.h"
#include "../model/error.h"
#include "constraint_space.h"
#include "given_rows.h"
#include "least_norm.h"

/* Scratch memory for one sample. */
typedef struct sample_space {
    const dyn_given_rows *given;
    void *own; /* memory for given rows; NULL: that of the workspace is enough */
    int m, nv, rank;
    double *A;           /* m x nv */
    double *inverse;     /* M^-1, nv x nv */
    double *response;    /* M^-1 A', nv x m */
    double *R, *inertia; /* A M^-1 A' and Lambda, m x m */
    double *product;     /* L'L, m x m; in the memory of Lambda */
    double *row;         /* m */
    least_norm norm;
} sample_space;

static size_t lay_out(const dyn_model *model, uintptr_t base, sample_space *s) {
    uintptr_t cursor = base;
    size_t m = (size_t)(model->constraint_rows + given_rows_count(s->given)), n = (size_t)model->nv;
    s->m = (int)m, s->nv = (int)n;
    s->A = dyn_carve(&cursor, m * n * sizeof(double));
    s->inverse = dyn_carve(&cursor, n * n * sizeof(double));
    s->response = dyn_carve(&cursor, n * m * sizeof(double));
    s->R = dyn_carve(&cursor, m * m * sizeof(double));
    s->inertia = dyn_carve(&cursor, m * m * sizeof(double));
    s->product = s->inertia;
    s->row = dyn_carve(&cursor, m * sizeof(double));
    cursor += least_norm_lay_out((int)m, cursor, &s->norm);
    return cursor - base;
}

/* Computes C = B D' of B, rows x inner, and D, columns x inner. */
static void multiply_transposed(int rows, int inner, int columns, const double *B, const double *D, double *C) {
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            double sum = 0;
            for (int k = 0; k < inner; k++) {
                sum += B[i * inner + k] * D[j * inner + k];
            }
            C[i * columns + j] = sum;
        }
    }
}

/* Returns the quotient of the extreme eigenvalues of L'L. */
static double find_condition(sample_space *s) {
    int k = s->rank;
    for (int i = 0; i < k; i++) {
        for (int j = 0; j < k; j++) {
            double sum = 0;
            for (int r = 0; r < s->m; r++) {
                sum += s->norm.L[r * s->m + i] * s->norm.L[r * s->m + j];
            }
            s->product[i * k + j] = sum;
        }
    }
    dyn_principal_axes((size_t)k, s->product, s->row);
    return k > 0 ? s->row[0] / s->row[k - 1] : 1;
}

/* Computes Lambda, whose columns are the multipliers of least norm of the columns of the unit matrix. */
static void find_inertia(sample_space *s) {
    for (int c = 0; c < s->m; c++) {
        memset(s->row, 0, (size_t)s->m * sizeof *s->row);
        s->row[c] = 1;
        least_norm_apply(s->m, s->rank, s->row, &s->norm, s->row);
        for (int r = 0; r < s->m; r++) {
            s->inertia[r * s->m + c] = s->row[r];
        }
    }
}

/* Computes A, M^-1 A' and R of one sample, and factorizes R. */
static dyn_status open_sample(const dyn_model *model, dyn_workspace *w, size_t sample, const double *all_q,
                              sample_space *s, dyn_error *error) {
    const double *q = all_q + sample * (size_t)model->nq;
    const int own = model->constraint_rows;
    dyn_status status = own > 0 ? dyn_constraint_rows(model, w, 1, q, NULL, s->A, NULL, NULL, error) : DYN_OK;
    given_rows_copy(s->given, sample, s->nv, s->A + own * s->nv, s->row, 0);
    if (status == DYN_OK) {
        status = dyn_minverse(model, w, 1, q, s->inverse, error);
    }
    if (status == DYN_OK) {
        multiply_transposed(s->nv, s->nv, s->m, s->inverse, s->A, s->response);
        for (int r = 0; r < s->m; r++) {
            for (int c = 0; c <= r; c++) {
                double sum = 0;
                for (int k = 0; k < s->nv; k++) {
                    sum += s->A[r * s->nv + k] * s->response[k * s->m + c];
                }
                s->R[r * s->m + c] = s->R[c * s->m + r] = sum;
            }
        }
        s->rank = least_norm_factorize(s->m, s->R, &s->norm);
    } else {
        error->site.sample = sample;
    }
    return status;
}

/* Matrix in memory: the distances from one row and from one column to the next. */
typedef struct matrix_view {
    const double *first;
    int row, column;
} matrix_view;

/* Views of A, of A' and of M^-1 A', and of the transpose of the last. */
static matrix_view rows_of(const sample_space *s) {
    return (matrix_view){s->A, s->nv, 1};
}

static matrix_view columns_of(const sample_space *s) {
    return (matrix_view){s->A, 1, s->nv};
}

static matrix_view responses_of(const sample_space *s) {
    return (matrix_view){s->response, s->m, 1};
}

static matrix_view response_rows_of(const sample_space *s) {
    return (matrix_view){s->response, 1, s->m};
}

/* Stores B - left Lambda right, where left is nv x m, right is m x nv and B is nv x nv; B NULL: 1. */
static void store_projector(sample_space *s, const double *B, matrix_view left, matrix_view right, double *P) {
    for (int i = 0; i < s->nv; i++) {
        for (int c = 0; c < s->m; c++) {
            double sum = 0;
            for (int r = 0; r < s->m; r++) {
                sum += left.first[i * left.row + r * left.column] * s->inertia[r * s->m + c];
            }
            s->row[c] = sum;
        }
        for (int j = 0; j < s->nv; j++) {
            double sum = B ? B[i * s->nv + j] : i == j;
            for (int c = 0; c < s->m; c++) {
                sum -= s->row[c] * right.first[c * right.row + j * right.column];
            }
            P[i * s->nv + j] = sum;
        }
    }
}

/* Stores -Lambda A M^-1. */
static void store_multipliers(sample_space *s, double *multipliers) {
    for (int i = 0; i < s->nv; i++) {
        least_norm_apply(s->m, s->rank, s->response + i * s->m, &s->norm, s->row);
        for (int r = 0; r < s->m; r++) {
            multipliers[r * s->nv + i] = 0 - s->row[r];
        }
    }
}

/* Stores the quantities that contain Lambda. */
static void store_inertia(sample_space *s, size_t sample, const dyn_constraint_space *to) {
    size_t m = (size_t)s->m, nv = (size_t)s->nv;
    find_inertia(s);
    if (to->inertia) {
        memcpy(to->inertia + sample * m * m, s->inertia, m * m * sizeof *s->inertia);
    }
    if (to->force_projector) {
        store_projector(s, NULL, columns_of(s), response_rows_of(s), to->force_projector + sample * nv * nv);
    }
    if (to->acceleration_projector) {
        store_projector(s, NULL, responses_of(s), rows_of(s), to->acceleration_projector + sample * nv * nv);
    }
    if (to->acceleration_by_force) {
        store_projector(s, s->inverse, responses_of(s), response_rows_of(s),
                        to->acceleration_by_force + sample * nv * nv);
    }
}

/* Computes Lambda right x of nv numbers x into s->row. */
static void weight(sample_space *s, matrix_view right, const double *x) {
    for (int r = 0; r < s->m; r++) {
        double sum = 0;
        for (int i = 0; i < s->nv; i++) {
            sum += right.first[r * right.row + i * right.column] * x[i];
        }
        s->row[r] = sum;
    }
    least_norm_apply(s->m, s->rank, s->row, &s->norm, s->row);
}

/* Adds factor left s->row to nv numbers. */
static void add_combination(const sample_space *s, double factor, matrix_view left, double *to) {
    for (int i = 0; i < s->nv; i++) {
        for (int r = 0; r < s->m; r++) {
            to[i] += factor * left.first[i * left.row + r * left.column] * s->row[r];
        }
    }
}

/* Stores x - factor left Lambda right x of nv numbers x, which may be the same array. Leaves Lambda right x in
 * s->row. */
static void reduce(sample_space *s, double factor, matrix_view left, matrix_view right, const double *x, double *to) {
    weight(s, right, x);
    memmove(to, x, (size_t)s->nv * sizeof *to);
    add_combination(s, -factor, left, to);
}

static void store_sample(sample_space *s, size_t sample, const dyn_constraint_space *to) {
    size_t m = (size_t)s->m, nv = (size_t)s->nv;
    if (to->inverse_inertia) {
        memcpy(to->inverse_inertia + sample * m * m, s->R, m * m * sizeof *s->R);
    }
    if (to->rank) {
        to->rank[sample] = s->rank;
    }
    if (to->condition) {
        to->condition[sample] = find_condition(s);
    }
    if (to->multipliers_by_force) {
        store_multipliers(s, to->multipliers_by_force + sample * m * nv);
    }
    if (to->inertia || to->force_projector || to->acceleration_projector || to->acceleration_by_force) {
        store_inertia(s, sample, to);
    }
}

/* Lays the scratch memory out in the workspace, or with given rows in memory of its own. */
static dyn_status open_memory(const dyn_model *model, const dyn_workspace *w, sample_space *s, dyn_error *error) {
    if (given_rows_count(s->given) == 0) {
        return lay_out(model, (uintptr_t)w->distribution_memory, s) > w->distribution_size ? dyn_error_memory(error)
                                                                                           : DYN_OK;
    }
    const size_t size = lay_out(model, 0, s);
    s->own = aligned_alloc(CARVE_ALIGNMENT, dyn_carve_size(size));
    lay_out(model, (uintptr_t)s->own, s);
    return s->own ? DYN_OK : dyn_error_memory(error);
}

/* Checks the configurations and the given rows, and lays the scratch memory out. The caller frees s->own. */
static dyn_status open_space(const dyn_model *model, const dyn_workspace *w, size_t n, const double *q, sample_space *s,
                             dyn_error *error) {
    dyn_status status = dyn_check_state(model, w, n, NULL, q, NULL, error);
    if (status == DYN_OK) {
        status = given_rows_check(s->given, model, n, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    if (model->constraint_rows + given_rows_count(s->given) == 0) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "model", "the model has no constraint");
    }
    if (w->precision != DYN_PRECISION_DOUBLE) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "workspace",
                             "constraints are computed in double precision; use a workspace of that precision");
    }
    return open_memory(model, w, s, error);
}

dyn_status dyn_constraint_space_quantities(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                           const dyn_constraint_space *quantities, dyn_error *error) {
    sample_space s = {.given = quantities->given};
    dyn_status status = open_space(model, workspace, n, q, &s, error);
    for (size_t i = 0; i < n && status == DYN_OK; i++) {
        status = open_sample(model, workspace, i, q, &s, error);
        if (status == DYN_OK) {
            store_sample(&s, i, quantities);
        }
    }
    free(s.own);
    return status;
}

dyn_status dyn_constraint_project(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                  const dyn_given_rows *given, const double *f, const double *a, double *projected_f,
                                  double *projected_a, dyn_error *error) {
    sample_space s = {.given = given};
    dyn_status status = open_space(model, workspace, n, q, &s, error);
    size_t nv = (size_t)s.nv;
    for (size_t i = 0; i < n && status == DYN_OK; i++) {
        status = open_sample(model, workspace, i, q, &s, error);
        if (status == DYN_OK && f && projected_f) {
            reduce(&s, 1, columns_of(&s), response_rows_of(&s), f + i * nv, projected_f + i * nv);
        }
        if (status == DYN_OK && a && projected_a) {
            reduce(&s, 1, responses_of(&s), rows_of(&s), a + i * nv, projected_a + i * nv);
        }
    }
    free(s.own);
    return status;
}

dyn_status constraint_space_strike(const given_impact *impact, double *v, double *impulses, dyn_error *error) {
    sample_space s = {.given = impact->given};
    const double factor = 1 + impact->restitution;
    dyn_status status = open_space(impact->model, impact->workspace, impact->n, impact->q, &s, error);
    for (size_t i = 0; i < impact->n && status == DYN_OK; i++) {
        double *own = v + i * (size_t)s.nv;
        status = open_sample(impact->model, impact->workspace, i, impact->q, &s, error);
        if (status == DYN_OK) {
            reduce(&s, factor, responses_of(&s), rows_of(&s), own, own);
        }
        for (int r = 0; r < s.m && status == DYN_OK && impulses; r++) {
            impulses[i * (size_t)s.m + (size_t)r] = 0 - factor * s.row[r];
        }
    }
    free(s.own);
    return status;
}

/* ---- Hybrid motion-force control --------------------------------------------------------------------------------- */

/* Adds (1 - P) f of one sample to tau, and stores the multipliers of least norm whose forces are -(1 - P) f. */
static void press(sample_space *s, const double *f, double *tau, double *lambda) {
    weight(s, response_rows_of(s), f);
    add_combination(s, 1, columns_of(s), tau);
    for (int r = 0; r < s->m && lambda; r++) {
        lambda[r] = 0 - s->row[r];
    }
}

dyn_status dyn_hybrid_forces(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                             const double *q, const double *v, const dyn_given_rows *given, const double *a,
                             const double *f, const dyn_external_forces *forces, double *tau, double *acceleration,
                             double *lambda, dyn_error *error) {
    const dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.given = given);
    const size_t nv = (size_t)model->nv, m = (size_t)(model->constraint_rows + given_rows_count(given));
    sample_space s = {.given = given};
    if (m == 0) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "model", "the model has no constraint");
    }
    if (constraint_force_rows(model) > 0) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "model",
                             "hybrid forces do not consider the forces of loop joints");
    }
    /* The free tree needs tau for a. With these forces the constraints lead to the acceleration nearest to a. */
    dyn_status status = dyn_rnea(model, workspace, n, gravity, q, v, a, forces, acceleration, error);
    if (status == DYN_OK) {
        status = dyn_constrained_forward_dynamics(model, workspace, n, gravity, q, v, acceleration, forces, &options,
                                                  acceleration, NULL, NULL, error);
    }
    if (status == DYN_OK) {
        status = dyn_rnea(model, workspace, n, gravity, q, v, acceleration, forces, tau, error);
    }
    if (status == DYN_OK && lambda) {
        memset(lambda, 0, n * m * sizeof *lambda);
    }
    if (status == DYN_OK && f) {
        status = open_space(model, workspace, n, q, &s, error);
    }
    for (size_t i = 0; i < n && f && status == DYN_OK; i++) {
        status = open_sample(model, workspace, i, q, &s, error);
        if (status == DYN_OK) {
            press(&s, f + i * nv, tau + i * nv, lambda ? lambda + i * m : NULL);
        }
    }
    free(s.own);
    return status;
}
