/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inverse dynamics of models with constraints and passive joints.
 *
 * With f = M a + h - J_ext' f_ext, the columns a_i of A, and weights w_i:
 *
 *     a_i' lambda = f_i              at each passive coordinate i
 *     sum w_i (f_i - a_i' lambda)^2  least over the others, whose forces are tau_i = f_i - a_i' lambda
 *
 * lambda = lambda_0 + z, where lambda_0 is in the span of the passive columns and solves the first equations, and z is
 * orthogonal to that span. The remainders of the other columns have the basis Z; z = Z y with y from the least squares.
 */
#include <dynamics/constrained_inverse_dynamics.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/constrained_dynamics.h>
#include <dynamics/inverse_dynamics.h>

#include "../dynamics/carve.h"
#include "../dynamics/workspace.h"
#include "../model/constraint.h"
#include "../model/error.h"
#include "../model/sized.h"
#include "closures.h"
#include "given_rows.h"
#include "orthogonal.h"

/* Largest remainder of an equation of a passive coordinate, as a share of the sizes of its terms. */
static const double force_tolerance = 1e-8;

/* Scratch memory for one sample. */
typedef struct distribution {
    int m, nv;              /* rows, those given by the caller included, and coordinates */
    double *A, *bias;       /* m x nv and m */
    double *columns;        /* nv x m: remainders of the columns of A, first those of one kind of coordinates */
    double *span, *rest;    /* m x m: bases of the passive columns, and of the remainders of the others */
    double *coefficients;   /* m x nv */
    double *forces;         /* m x nv: vectors of the least squares */
    double *force_basis;    /* m x nv */
    double *triangle;       /* m x m */
    double *norms, *target; /* nv */
    double *lambda, *y;     /* m */
    int *coordinates;       /* nv: coordinate of each column */
    int *pivots;            /* nv */
    unsigned char *done;    /* nv + m */
    unsigned char *is_passive;
} distribution;

/* Inputs of a call, and the sample under way. */
typedef struct inverse_call {
    const dyn_model *model;
    const double *weights; /* NULL: 1 */
    size_t sample;
} inverse_call;

static size_t lay_out(int rows, int nv, uintptr_t base, distribution *d) {
    uintptr_t cursor = base;
    size_t m = (size_t)rows, n = (size_t)nv;
    d->m = rows, d->nv = nv;
    d->A = dyn_carve(&cursor, m * n * sizeof(double));
    d->bias = dyn_carve(&cursor, m * sizeof(double));
    d->columns = dyn_carve(&cursor, n * m * sizeof(double));
    d->span = dyn_carve(&cursor, m * m * sizeof(double));
    d->rest = dyn_carve(&cursor, m * m * sizeof(double));
    d->coefficients = dyn_carve(&cursor, m * n * sizeof(double));
    d->forces = dyn_carve(&cursor, m * n * sizeof(double));
    d->force_basis = dyn_carve(&cursor, m * n * sizeof(double));
    d->triangle = dyn_carve(&cursor, m * m * sizeof(double));
    d->norms = dyn_carve(&cursor, (n + m) * sizeof(double));
    d->target = dyn_carve(&cursor, n * sizeof(double));
    d->lambda = dyn_carve(&cursor, m * sizeof(double));
    d->y = dyn_carve(&cursor, m * sizeof(double));
    d->coordinates = dyn_carve(&cursor, n * sizeof(int));
    d->pivots = dyn_carve(&cursor, (n + m) * sizeof(int));
    d->done = dyn_carve(&cursor, n + m);
    d->is_passive = dyn_carve(&cursor, n);
    return cursor - base;
}

/* Marks the coordinates of joints without a motor. */
static void mark_passive(const dyn_model *model, distribution *d) {
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        bool is_passive = dyn_model_joint_is_passive(model, j);
        for (int k = 0; k < joint->nv; k++) {
            d->is_passive[joint->v_index + k] = is_passive;
        }
    }
}

/* Returns the scalar product of a column of A and lambda. */
static double column_product(const distribution *d, int column) {
    double sum = 0;
    for (int r = 0; r < d->m; r++) {
        sum += d->A[r * d->nv + column] * d->lambda[r];
    }
    return sum;
}

/* Collects the columns of A of the coordinates that are passive or not, times the roots of their weights. Returns their
 * number. */
static int collect_columns(const inverse_call *call, bool is_passive, distribution *d) {
    int m = d->m, nv = call->model->nv, count = 0;
    for (int i = 0; i < nv; i++) {
        if (d->is_passive[i] != is_passive) {
            continue;
        }
        double *to = d->columns + count * m, factor = call->weights && !is_passive ? sqrt(call->weights[i]) : 1;
        for (int r = 0; r < m; r++) {
            to[r] = factor * d->A[r * nv + i];
        }
        d->norms[count] = sqrt(orthogonal_product(m, to, to));
        d->coordinates[count++] = i;
    }
    return count;
}

/* Sets the error for the passive coordinate that needs a force. */
static dyn_status refuse_force(const inverse_call *call, int coordinate, double force, dyn_error *error) {
    const dyn_model *model = call->model;
    int j = 0;
    while (coordinate < model->joints[j].v_index || coordinate >= model->joints[j].v_index + model->joints[j].nv) {
        j++;
    }
    const dyn_joint *joint = &model->joints[j];
    const dyn_error_site site = {
        .argument = "a", .has_sample = true, .sample = call->sample, .has_joint = true, .joint = j};
    const char *unit =
        dyn_joint_type_traits(joint->type)->v_kinds[coordinate - joint->v_index] == DYN_COORDINATE_KIND_LENGTH ? "N"
                                                                                                               : "N m";
    return dyn_error_at(error, DYN_FAILED_PRECONDITION, &site,
                        "joint %s: it is passive, and the motion needs a force of %g %s at its coordinate %d that no "
                        "constraint provides; choose another motion, or give the joint a motor",
                        joint->name, force, unit, coordinate - joint->v_index);
}

/* Computes lambda_0 from the passive coordinates, and the basis d->span of their columns. Returns the rank of that
 * basis, or -1 with an error where the motion cannot be produced. */
static int solve_passive(const inverse_call *call, const double *f, distribution *d, dyn_error *error) {
    int m = d->m, count = collect_columns(call, true, d), worst = -1;
    orthogonal o = {m, count, d->columns, d->norms, d->span, d->coefficients, d->pivots, d->done};
    int rank = orthogonal_find(&o);
    memset(d->lambda, 0, (size_t)m * sizeof *d->lambda);
    for (int k = 0; k < rank; k++) {
        double y = f[d->coordinates[d->pivots[k]]];
        for (int j = 0; j < k; j++) {
            y -= d->coefficients[j * count + d->pivots[k]] * d->y[j];
        }
        d->y[k] = y / d->coefficients[k * count + d->pivots[k]];
        for (int r = 0; r < m; r++) {
            d->lambda[r] += d->y[k] * d->span[k * m + r];
        }
    }
    double most = 0, size = 0;
    for (int i = 0; i < call->model->nv; i++) {
        size = fmax(size, fabs(f[i]));
    }
    for (int i = 0; i < count; i++) {
        int at = d->coordinates[i];
        double own = column_product(d, at), left = fabs(f[at] - own);
        if (left > force_tolerance * (size + fabs(own)) && left > most) {
            most = left, worst = at;
        }
    }
    if (worst >= 0) {
        refuse_force(call, worst, f[worst] - column_product(d, worst), error);
        return -1;
    }
    return rank;
}

/* Adds z to lambda, so that the weighted forces of the other coordinates are least. `passive_rank` is the rank of
 * d->span. Returns the number of directions of z. */
static int minimize_forces(const inverse_call *call, const double *f, int passive_rank, distribution *d) {
    int m = d->m, count = collect_columns(call, false, d);
    for (int i = 0; i < count; i++) {
        int at = d->coordinates[i];
        d->target[i] = f[at] - column_product(d, at);
        d->target[i] *= call->weights ? sqrt(call->weights[at]) : 1;
        orthogonal_remove(m, passive_rank, d->span, d->columns + i * m);
        orthogonal_remove(m, passive_rank, d->span, d->columns + i * m);
    }
    orthogonal rows = {m, count, d->columns, d->norms, d->rest, d->coefficients, d->pivots, d->done};
    int rank = orthogonal_find(&rows);
    memcpy(d->forces, d->coefficients, (size_t)rank * (size_t)count * sizeof *d->forces);
    for (int k = 0; k < rank; k++) {
        const double *v = d->forces + k * count;
        d->norms[k] = sqrt(orthogonal_product(count, v, v));
    }
    orthogonal squares = {count, rank, d->forces, d->norms, d->force_basis, d->triangle, d->pivots, d->done};
    int solved = orthogonal_find(&squares);
    for (int j = solved - 1; j >= 0; j--) {
        int own = d->pivots[j];
        double y = orthogonal_product(count, d->force_basis + j * count, d->target);
        for (int k = j + 1; k < solved; k++) {
            y -= d->triangle[j * rank + d->pivots[k]] * d->y[k];
        }
        d->y[j] = y / d->triangle[j * rank + own];
        for (int r = 0; r < m; r++) {
            d->lambda[r] += d->y[j] * d->rest[own * m + r];
        }
    }
    return rank;
}

/* Replaces the forces of one sample, which the motion needs without constraints, by those of the motors. */
static dyn_status distribute(const inverse_call *call, const double *a, double *tau, distribution *d,
                             dyn_constrained_inverse_result *result, dyn_error *error) {
    int m = d->m, nv = call->model->nv, passive = solve_passive(call, tau, d, error);
    if (passive < 0) {
        return DYN_FAILED_PRECONDITION;
    }
    int freedom = minimize_forces(call, tau, passive, d);
    for (int i = 0; i < nv; i++) {
        tau[i] = d->is_passive[i] ? 0 : tau[i] - column_product(d, i);
    }
    *result = (dyn_constrained_inverse_result){.rank = passive + freedom, .freedom = freedom};
    for (int r = 0; r < m; r++) {
        double rest = d->bias[r] + (a ? orthogonal_product(nv, d->A + r * nv, a) : 0);
        result->residual = fmax(result->residual, fabs(rest));
    }
    return DYN_OK;
}

static dyn_status read_options(const dyn_model *model, const dyn_constrained_inverse_options *options,
                               dyn_constrained_inverse_options *chosen, dyn_error *error) {
    dyn_status status = dyn_sized_read("options", options, sizeof *chosen, chosen, error);
    for (int i = 0; status == DYN_OK && chosen->weights && i < model->nv; i++) {
        if (!(chosen->weights[i] > 0) || !isfinite(chosen->weights[i])) {
            status = dyn_error_set(error, DYN_INVALID_ARGUMENT, "options.weights",
                                   "weight %d is %g; state a finite number that is positive", i, chosen->weights[i]);
        }
    }
    return status;
}

/* Subtracts the forces of the joints of closed loops from those of one sample. */
static void subtract_loop_forces(const dyn_model *model, const dyn_workspace *w, const dyn_passive_parts *parts,
                                 const double *q, const double *v, double *tau) {
    closures loops;
    if (constraint_force_rows(model) > 0) {
        closures_lay_out(model, 1, (uintptr_t)w->constraint_memory, &loops);
        closures_choose(model, w, &loops);
        closures_add_forces(&loops, dyn_block_of_one(w, 0), parts, -1, q, v, tau);
    }
}

/* Lays the scratch memory out in the workspace, or with given rows in memory of its own, which *own then is. */
static dyn_status open_distribution(const dyn_model *model, const dyn_workspace *w, const dyn_given_rows *given,
                                    distribution *d, void **own, dyn_error *error) {
    int rows = model->constraint_rows + given_rows_count(given);
    size_t size = lay_out(rows, model->nv, (uintptr_t)w->distribution_memory, d);
    if (w->precision != DYN_PRECISION_DOUBLE) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "workspace",
                             "constraints are computed in double precision; use a workspace of that precision");
    }
    if (given_rows_count(given) > 0) {
        size = lay_out(rows, model->nv, 0, d);
        *own = aligned_alloc(CARVE_ALIGNMENT, (size + CARVE_ALIGNMENT - 1) / CARVE_ALIGNMENT * CARVE_ALIGNMENT);
        lay_out(rows, model->nv, (uintptr_t)*own, d);
        return *own ? DYN_OK : dyn_error_memory(error);
    }
    return size > w->distribution_size ? dyn_error_memory(error) : DYN_OK;
}

/* Loads the rows of the model's constraints at one sample. */
static dyn_status load_rows(const dyn_model *model, dyn_workspace *w, const double *q, const double *v, distribution *d,
                            dyn_error *error) {
    return model->constraint_rows > 0 ? dyn_constraint_rows(model, w, 1, q, v, d->A, d->bias, NULL, error) : DYN_OK;
}

dyn_status dyn_constrained_inverse_dynamics(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                            const double *gravity, const double *q, const double *v, const double *a,
                                            const dyn_external_forces *forces,
                                            const dyn_constrained_inverse_options *options, double *tau, double *lambda,
                                            dyn_constrained_inverse_result *results, dyn_error *error) {
    dyn_constrained_inverse_options chosen = {0};
    dyn_status status = read_options(model, options, &chosen, error);
    if (status == DYN_OK) {
        status = dyn_rnea(model, workspace, n, gravity, q, v, a, forces, tau, error);
    }
    for (size_t i = 0; status == DYN_OK && chosen.added && i < n * (size_t)model->nv; i++) {
        tau[i] += chosen.added[i];
    }
    if (status == DYN_OK && chosen.passive) {
        status = dyn_add_passive_forces(model, n, chosen.passive, -1, q, v, tau, error);
    }
    if (status == DYN_OK) {
        status = given_rows_check(chosen.given, model, n, error);
    }
    if (status != DYN_OK || model->constraint_rows + given_rows_count(chosen.given) == 0) {
        for (size_t s = 0; status == DYN_OK && results && s < n; s++) {
            results[s] = (dyn_constrained_inverse_result){0};
        }
        return status;
    }
    distribution d;
    void *own = NULL;
    status = open_distribution(model, workspace, chosen.given, &d, &own, error);
    size_t m = status == DYN_OK ? (size_t)d.m : 0, nq = (size_t)model->nq, nv = (size_t)model->nv;
    for (size_t s = 0; s < n && status == DYN_OK; s++) {
        const inverse_call call = {model, chosen.weights, s};
        dyn_constrained_inverse_result result;
        status = load_rows(model, workspace, q + s * nq, v ? v + s * nv : NULL, &d, error);
        if (status == DYN_OK) {
            given_rows_copy(chosen.given, s, model->nv, d.A + (size_t)model->constraint_rows * nv,
                            d.bias + model->constraint_rows, -1);
            subtract_loop_forces(model, workspace, chosen.passive, q + s * nq, v ? v + s * nv : NULL, tau + s * nv);
            mark_passive(model, &d);
            status = distribute(&call, a ? a + s * nv : NULL, tau + s * nv, &d, &result, error);
        }
        if (status == DYN_OK && lambda) {
            memcpy(lambda + s * m, d.lambda, m * sizeof *lambda);
        }
        if (status == DYN_OK && results) {
            results[s] = result;
        }
    }
    free(own);
    return status;
}
