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
 * Weights u_r of multipliers add the equations lambda_r = 0 to these squares, with unit columns.
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
#include "closure_error.h"
#include "closures.h"
#include "given_rows.h"
#include "orthogonal.h"

/* Largest remainder of an equation of a passive coordinate, as a share of the sizes of its terms. */
static const double force_tolerance = 1e-8;

/* Share of the terms of all constraints that rounding errors account for. A robot at rest may move by this share of 1
 * rad or m, per s or s^2. */
static const double rounding_share = 1e-9;

/* Scratch memory for one sample. */
typedef struct distribution {
    int m, nv;              /* rows, those given by the caller included, and coordinates */
    double *A, *bias;       /* m x nv and m */
    double *columns;        /* (nv + m) x m: remainders of the columns of the least squares */
    double *span, *rest;    /* m x m: bases of the passive columns, and of the remainders of the others */
    double *coefficients;   /* m x (nv + m) */
    double *forces;         /* m x (nv + m): vectors of the least squares */
    double *force_basis;    /* m x (nv + m) */
    double *triangle;       /* m x m */
    double *norms, *target; /* nv + m */
    double *lambda, *y;     /* m */
    int *coordinates;       /* nv: coordinate of each column */
    int *pivots;            /* nv + m */
    unsigned char *done;    /* nv + m */
    unsigned char *is_passive;
} distribution;

/* Inputs of a call, and the sample under way. */
typedef struct inverse_call {
    const dyn_model *model;
    const dyn_workspace *workspace;
    const dyn_constrained_inverse_options *options;
    size_t sample;
    const double *v, *a; /* of the sample; NULL: zeros */
} inverse_call;

static size_t lay_out(int rows, int nv, uintptr_t base, distribution *d) {
    uintptr_t cursor = base;
    size_t m = (size_t)rows, n = (size_t)nv, all = n + m;
    d->m = rows, d->nv = nv;
    d->A = dyn_carve(&cursor, m * n * sizeof(double));
    d->bias = dyn_carve(&cursor, m * sizeof(double));
    d->columns = dyn_carve(&cursor, all * m * sizeof(double));
    d->span = dyn_carve(&cursor, m * m * sizeof(double));
    d->rest = dyn_carve(&cursor, m * m * sizeof(double));
    d->coefficients = dyn_carve(&cursor, m * all * sizeof(double));
    d->forces = dyn_carve(&cursor, m * all * sizeof(double));
    d->force_basis = dyn_carve(&cursor, m * all * sizeof(double));
    d->triangle = dyn_carve(&cursor, m * m * sizeof(double));
    d->norms = dyn_carve(&cursor, all * sizeof(double));
    d->target = dyn_carve(&cursor, all * sizeof(double));
    d->lambda = dyn_carve(&cursor, m * sizeof(double));
    d->y = dyn_carve(&cursor, m * sizeof(double));
    d->coordinates = dyn_carve(&cursor, n * sizeof(int));
    d->pivots = dyn_carve(&cursor, all * sizeof(int));
    d->done = dyn_carve(&cursor, all);
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

/* Returns the root of a weight; 1 without weights. */
static double weight_root(const double *weights, int i) {
    return weights ? sqrt(weights[i]) : 1;
}

/* Collects the columns of A of the coordinates that are passive or not, times the roots of their weights. Returns their
 * number. */
static int collect_columns(const inverse_call *call, bool is_passive, distribution *d) {
    int m = d->m, nv = call->model->nv, count = 0;
    for (int i = 0; i < nv; i++) {
        if (d->is_passive[i] != is_passive) {
            continue;
        }
        double *to = d->columns + count * m, factor = is_passive ? 1 : weight_root(call->options->weights, i);
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

/* Adds the unit columns of the multipliers that have a weight to `count` columns, and their targets. Returns the number
 * of all columns. */
static int collect_multipliers(const double *weights, int count, distribution *d) {
    for (int r = 0; weights && r < d->m; r++) {
        if (weights[r] > 0) {
            double *to = d->columns + count * d->m;
            memset(to, 0, (size_t)d->m * sizeof *to);
            to[r] = d->norms[count] = sqrt(weights[r]);
            d->target[count++] = -to[r] * d->lambda[r];
        }
    }
    return count;
}

/* Adds z to lambda, so that the weighted forces of the other coordinates are least, and those of the multipliers with
 * `weights` (NULL: none). `passive_rank` is the rank of d->span. Returns the number of directions of z. */
static int minimize_forces(const inverse_call *call, const double *weights, const double *f, int passive_rank,
                           distribution *d) {
    int m = d->m, count = collect_columns(call, false, d);
    for (int i = 0; i < count; i++) {
        int at = d->coordinates[i];
        d->target[i] = weight_root(call->options->weights, at) * (f[at] - column_product(d, at));
    }
    count = collect_multipliers(weights, count, d);
    for (int i = 0; i < count; i++) {
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

/* ---- Motion ------------------------------------------------------------------------------------------------------ */

/* Violation of a row by a motion: A v - b or A a + dA/dt v - db/dt, the sum of the sizes of its terms, and sum |A_i|.
 * */
typedef struct violation {
    double rest, size, unit;
} violation;

/* Returns the violation of row r by the accelerations. The sizes of the terms of dA/dt v are those of |A| |v|^2. */
static violation of_accelerations(const inverse_call *call, const distribution *d, int r) {
    violation of = {d->bias[r], fabs(d->bias[r]), 0};
    double fastest = 0;
    for (int i = 0; i < d->nv; i++) {
        const double v = call->v ? fabs(call->v[i]) : 0, A = d->A[r * d->nv + i];
        of.unit += fabs(A);
        fastest = fmax(fastest, v);
        of.rest += call->a ? A * call->a[i] : 0;
        of.size += call->a ? fabs(A * call->a[i]) : 0;
    }
    for (int i = 0; i < d->nv && call->v; i++) {
        of.size += fabs(d->A[r * d->nv + i] * call->v[i]) * fastest;
    }
    return of;
}

/* Returns the violation of row r of a constraint of the model by the velocities. */
static violation of_velocities(const inverse_call *call, const distribution *d, int constraint, int r) {
    const double b = closure_motion(&call->model->closures[constraint], call->workspace->time).rate;
    violation of = {-b, fabs(b), 0};
    for (int i = 0; i < d->nv; i++) {
        const double A = d->A[r * d->nv + i], term = call->v ? A * call->v[i] : 0;
        of.unit += fabs(A);
        of.rest += term;
        of.size += fabs(term);
    }
    return of;
}

/* Sets the error for row r, which the accelerations or else the velocities violate. */
static dyn_status refuse_motion(const inverse_call *call, int constraint, int r, bool is_a, double rest, double most,
                                dyn_error *error) {
    const dyn_error_site site = {.argument = is_a ? "a" : "v", .has_sample = true, .sample = call->sample};
    const char *what = is_a ? "acceleration" : "velocity", *per = is_a ? "s^2" : "s";
    if (constraint < 0) {
        return dyn_error_at(error, DYN_FAILED_PRECONDITION, &site,
                            "row %d of the request forbids this motion: its acceleration is off by %.3g, and up to "
                            "%.3g is accepted; change a, or accept a compromise by a larger tolerance",
                            r - call->model->constraint_rows, rest, most);
    }
    const dyn_constraint *c = &call->model->constraints[constraint];
    const dyn_constraint_row row = dyn_model_constraint_row(call->model, constraint, r - c->first_row);
    return dyn_error_at(
        error, DYN_FAILED_PRECONDITION, &site,
        "constraint %s forbids this motion: its %s along \"%s\" is off by %.3g %s/%s, and up to %.3g is "
        "accepted; change %s, such as by the constraint Jacobian, or accept a compromise by a larger "
        "tolerance",
        c->name, what, row.direction, rest, row.is_angular ? "rad" : "m", per, most, is_a ? "a" : "v");
}

/* Checks rows first .. first + count - 1, which belong to a constraint of the model, or to the caller (-1). `largest`
 * is the size of the largest row of all. */
static dyn_status check_group(const inverse_call *call, const distribution *d, int constraint, int first, int count,
                              bool is_a, double largest, dyn_error *error) {
    double size = 0, rest = 0;
    int worst = first;
    for (int r = first; r < first + count; r++) {
        const violation of = is_a ? of_accelerations(call, d, r) : of_velocities(call, d, constraint, r);
        size = fmax(size, of.size);
        if (!(fabs(of.rest) <= fabs(rest))) {
            worst = r, rest = of.rest;
        }
    }
    const double most = call->options->tolerance * size + rounding_share * largest;
    return fabs(rest) <= most ? DYN_OK : refuse_motion(call, constraint, worst, is_a, rest, most, error);
}

/* Checks that the constraints allow a motion: its velocities, and its accelerations also in rows of the caller. */
static dyn_status check_motion(const inverse_call *call, const distribution *d, dyn_error *error) {
    const dyn_model *model = call->model;
    double largest[2] = {0, 0};
    dyn_status status = DYN_OK;
    for (int i = 0; i < model->constraint_count; i++) {
        const dyn_constraint *c = &model->constraints[i];
        for (int r = c->first_row; r < c->first_row + c->row_count; r++) {
            const violation of = of_velocities(call, d, i, r);
            largest[0] = fmax(largest[0], of.size + of.unit);
        }
    }
    for (int r = 0; r < d->m; r++) {
        const violation of = of_accelerations(call, d, r);
        largest[1] = fmax(largest[1], of.size + of.unit);
    }
    for (int is_a = 0; is_a < 2; is_a++) {
        for (int i = 0; i < model->constraint_count && status == DYN_OK; i++) {
            const dyn_constraint *c = &model->constraints[i];
            status = check_group(call, d, i, c->first_row, c->row_count, is_a, largest[is_a], error);
        }
    }
    for (int r = model->constraint_rows; r < d->m && status == DYN_OK; r++) {
        status = check_group(call, d, -1, r, 1, true, largest[1], error);
    }
    return status;
}

/* Replaces the forces of one sample, which the motion needs without constraints, by those of the motors. */
static dyn_status distribute(const inverse_call *call, double *tau, distribution *d,
                             dyn_constrained_inverse_result *result, dyn_error *error) {
    int m = d->m, nv = call->model->nv;
    dyn_status status = call->options->tolerance > 0 ? check_motion(call, d, error) : DYN_OK;
    int passive = status == DYN_OK ? solve_passive(call, tau, d, error) : -1;
    if (passive < 0) {
        return DYN_FAILED_PRECONDITION;
    }
    int freedom = minimize_forces(call, NULL, tau, passive, d);
    if (call->options->multiplier_weights) {
        minimize_forces(call, call->options->multiplier_weights, tau, passive, d);
    }
    for (int i = 0; i < nv; i++) {
        tau[i] = d->is_passive[i] ? 0 : tau[i] - column_product(d, i);
    }
    *result = (dyn_constrained_inverse_result){.rank = passive + freedom, .freedom = freedom};
    for (int r = 0; r < m; r++) {
        result->residual = fmax(result->residual, fabs(of_accelerations(call, d, r).rest));
    }
    return DYN_OK;
}

/* Checks weights: positive numbers, or numbers that are not negative. */
static dyn_status check_weights(const char *place, const double *weights, int count, bool may_vanish,
                                dyn_error *error) {
    for (int i = 0; weights && i < count; i++) {
        if (!(weights[i] > 0 || (may_vanish && weights[i] == 0)) || !isfinite(weights[i])) {
            return dyn_error_set(error, DYN_INVALID_ARGUMENT, place,
                                 "weight %d is %g; state a finite number that is %s", i, weights[i],
                                 may_vanish ? "not negative" : "positive");
        }
    }
    return DYN_OK;
}

static dyn_status read_options(const dyn_model *model, const dyn_constrained_inverse_options *options,
                               dyn_constrained_inverse_options *chosen, dyn_error *error) {
    dyn_status status = dyn_sized_read("options", options, sizeof *chosen, chosen, error);
    if (status == DYN_OK) {
        status = check_weights("options.weights", chosen->weights, model->nv, false, error);
    }
    if (status == DYN_OK) {
        const int rows = model->constraint_rows + given_rows_count(chosen->given);
        status = check_weights("options.multiplier_weights", chosen->multiplier_weights, rows, true, error);
    }
    if (status == DYN_OK && !(chosen->tolerance >= 0 && chosen->tolerance <= 1)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "options.tolerance",
                             "the tolerance is %g; state a number from 0 to 1", chosen->tolerance);
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
        const inverse_call call = {model, workspace, &chosen, s, v ? v + s * nv : NULL, a ? a + s * nv : NULL};
        dyn_constrained_inverse_result result;
        status = load_rows(model, workspace, q + s * nq, call.v, &d, error);
        if (status == DYN_OK) {
            given_rows_copy(chosen.given, s, model->nv, d.A + (size_t)model->constraint_rows * nv,
                            d.bias + model->constraint_rows, -1);
            subtract_loop_forces(model, workspace, chosen.passive, q + s * nq, call.v, tau + s * nv);
            mark_passive(model, &d);
            status = distribute(&call, tau + s * nv, &d, &result, error);
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
