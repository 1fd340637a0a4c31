/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forward dynamics of a model with constraints.
 *
 *     M a + h = tau + A' lambda        A a = c,  c = db/dt - dA/dt v - 2 k (A v - b) - k^2 e
 *
 * The method of multipliers computes lambda first, by the algorithms of the tree:
 *
 *     a_0 = M^-1 (tau - h)        (A M^-1 A') lambda = c - A a_0        a = a_0 + M^-1 A' lambda
 *
 * Source: Featherstone and Orin 2000, section 3.4, equations 18 to 22; Baumgarte 1972 (stabilization).
 */
#include <dynamics/constrained_dynamics.h>

#include <math.h>
#include <string.h>

#include <dynamics/forward_dynamics.h>

#include "../dynamics/arguments.h"
#include "../dynamics/body_couplings.h"
#include "../dynamics/carve.h"
#include "../dynamics/results.h"
#include "../model/error.h"
#include "../model/sized.h"
#include "agreement.h"
#include "articulated.h"
#include "closures.h"
#include "dense.h"
#include "embedding.h"
#include "given_rows.h"

/* Least tolerance at which rows that agree up to rounding errors need no check. */
static const double least_tolerance = 1e-6;

/* Parts of the workspace's memory for constraints. */
typedef struct constraint_scratch {
    closures loops;
    dense_scratch dense;
    articulated bodies;
    embedding embedded;
    double *acceleration; /* nv, packed */
} constraint_scratch;

/* Inputs and outputs of a call. */
typedef struct constrained_call {
    const dyn_model *model;
    const dyn_workspace *workspace;
    size_t n;
    dynamics_inputs in;
    dyn_constraint_options options;
    double *a, *lambda;
    dyn_constraint_result *results;
} constrained_call;

static size_t lay_out(const dyn_model *model, size_t lanes, uintptr_t base, constraint_scratch *s) {
    uintptr_t cursor = base;
    cursor += closures_lay_out(model, lanes, cursor, &s->loops);
    cursor += dense_lay_out(model->nv, model->constraint_rows, cursor, &s->dense);
    cursor += articulated_lay_out(model, lanes, cursor, &s->bodies);
    cursor += embedding_lay_out(model, cursor, &s->embedded);
    s->acceleration = dyn_carve(&cursor, (size_t)model->nv * lanes * sizeof(double));
    return cursor - base;
}

/* ---- Methods ----------------------------------------------------------------------------------------------------- */

/* Stores the multipliers of one sample. Kernels do not define the sign of a zero. Adding 0 makes it positive, since the
 * bits of a sample must not depend on the number of samples. */
static void store_multipliers(const closures *loops, double *to, size_t count) {
    for (size_t r = 0; r < count; r++) {
        to[r] = loops->lambda[r] + 0.0;
    }
}

/* Returns the largest sum of the sizes of the terms of A M^-1 A' lambda in one lane. */
static double freed_acceleration(const closures *s, sample_block block, size_t l) {
    const int m = s->rows.set.m;
    double largest = 0;
    for (int r = 0; r < m; r++) {
        double size = 0;
        for (int k = 0; k < m; k++) {
            const int entry = k < r ? r * m + k : k * m + r;
            size += fabs(s->rows.response[(size_t)entry * block.lanes + l] * s->lambda[k]);
        }
        largest = fmax(largest, size);
    }
    return largest;
}

/* Returns the largest closure error of one lane at the packed q. */
static double find_opening(closures *s, sample_block block, const void *q, size_t l) {
    double most = 0;
    closures_find_errors(s, block, q);
    for (int r = 0; r < s->rows.set.m; r++) {
        most = fmax(most, fabs(s->e[(size_t)r * block.lanes + l]));
    }
    return most;
}

/* Checks that the rows of a sample with known acceleration agree with each other (agreement.h). Closure errors are
 * found only where the rows do not agree without them. */
static dyn_status check_agreement(const constrained_call *call, sample_block block, const void *q, size_t l,
                                  constraint_scratch *s, dyn_error *error) {
    const double tolerance = call->options.tolerance;
    const constraint_rows *rows = &s->loops.rows;
    solved_rows solved = {rows->set.m, call->model->nv, block.lanes, l, rows->A, s->acceleration, s->loops.c, 0, 0};
    if (!(tolerance > 0)) {
        return DYN_OK;
    }
    solved.freed = freed_acceleration(&s->loops, block, l);
    dyn_status status = agreement_check(&solved, tolerance, call->model, block.first + l, error);
    if (status != DYN_OK) {
        solved.opening = find_opening(&s->loops, block, q, l);
        status = agreement_check(&solved, tolerance, call->model, block.first + l, error);
    }
    return status;
}

/* Stores the multipliers of a sample, and the condition and the largest residual of A a = c where its acceleration is
 * known. A negative rank stands for that of A M^-1 A'. Errors: those of agreement_check. */
static dyn_status report(const constrained_call *call, sample_block block, const void *q, size_t l, int rank,
                         constraint_scratch *s, dyn_error *error) {
    size_t sample = block.first + l, m = (size_t)call->model->constraint_rows;
    if (call->lambda) {
        store_multipliers(&s->loops, call->lambda + sample * m, m);
    }
    if (call->results) {
        dyn_constraint_result *to = &call->results[sample];
        to->residual = closures_residual(&s->loops, block, l, s->acceleration);
        to->rank = closures_examine(&s->loops, block, l, &to->condition);
        to->rank = rank < 0 ? to->rank : rank;
    }
    return check_agreement(call, block, q, l, s, error);
}

/* Computes the multipliers of least norm from A' lambda = s->dense.y into s->loops.lambda. */
static void find_least_norm(constraint_scratch *s, int nv) {
    const constraint_rows *rows = &s->loops.rows;
    least_norm_of_forces(rows->set.m, nv, rows->A, s->dense.y, rows->lane_response, &s->loops.norm, s->loops.lambda);
}

/* Computes f = tau - (M a + h) of a block of one sample, loop joints' forces included. */
static void find_forces(const constrained_call *call, sample_block block, const packed_inputs *packed, const double *a,
                        double *f, constraint_scratch *s) {
    const double *tau = packed->third;
    packed_inputs accelerated = *packed;
    accelerated.third = a;
    block.kernels->rnea(call->model, call->workspace->memory, &accelerated, f);
    for (int i = 0; i < call->model->nv; i++) {
        f[i] = tau[i] - f[i];
    }
    closures_add_forces(&s->loops, block, call->options.passive, 1, packed->q, packed->v, f);
}

/* Computes a of a block of one sample by the full system or by elimination. */
static dyn_status solve_dense(const constrained_call *call, sample_block block, const packed_inputs *packed,
                              constraint_scratch *s, dyn_error *error) {
    const dyn_model *model = call->model;
    const dyn_workspace *w = call->workspace;
    double *M = s->dense.M, *f = s->dense.f, *a = s->acceleration;
    block.kernels->crba(model, w->memory, packed->q, M);
    find_forces(call, block, packed, w->zero, f, s);
    const dense_problem p = {model->nv, model->constraint_rows, M, s->loops.rows.A, f, s->loops.c};
    int rank = call->options.method == DYN_CONSTRAINT_METHOD_ELIMINATION ? dense_solve_by_elimination(&p, &s->dense, a)
                                                                         : dense_solve_full_system(&p, &s->dense, a);
    dense_find_forces(&p, a, s->dense.y);
    find_least_norm(s, p.n);
    return report(call, block, packed->q, 0, rank, s, error);
}

/* Copies acceleration and multipliers of a lane that constrained articulated bodies computed. */
static void take_articulated(const constrained_call *call, sample_block block, size_t l, constraint_scratch *s) {
    for (int i = 0; i < call->model->nv; i++) {
        size_t at = (size_t)i * block.lanes + l;
        s->acceleration[at] = s->bodies.a[at];
    }
    for (int r = 0; r < call->model->constraint_rows; r++) {
        s->loops.lambda[r] = s->bodies.lambda[(size_t)r * block.lanes + l];
    }
}

/* Computes a block by constrained articulated bodies. Samples that do not converge, and the results of all, need the
 * rows and their response. */
static dyn_status compute_articulated(const constrained_call *call, sample_block block, const packed_inputs *packed,
                                      constraint_scratch *s, dyn_error *error) {
    const dyn_workspace *w = call->workspace;
    const double k = call->options.stabilization;
    bool are_all_valid = true;
    if (k != 0) {
        closures_find_errors(&s->loops, block, packed->q);
    }
    const articulated_terms terms = {k, k != 0 ? s->loops.e : NULL, NULL};
    articulated_solve(&s->bodies, call->model, w, block, packed, &terms, w->pivots);
    dyn_status status = dyn_check_pivots(call->model, w, block, error);
    for (size_t l = 0; l < block.count; l++) {
        are_all_valid = are_all_valid && s->bodies.has_converged[l];
    }
    const bool needs_rows = call->results || call->options.tolerance > 0 || !are_all_valid;
    if (status == DYN_OK && !are_all_valid) {
        block.kernels->forward_dynamics(call->model, w->memory, packed, w->pivots, s->acceleration);
        status = dyn_check_pivots(call->model, w, block, error);
    }
    if (status == DYN_OK && needs_rows) {
        closures_respond(&s->loops, block, packed->q, packed->v, NULL);
        closures_require_acceleration(&s->loops, block, k, packed->v);
    }
    if (status == DYN_OK && !are_all_valid) {
        closures_solve(&s->loops, block, NULL, s->acceleration);
    }
    for (size_t l = 0; status == DYN_OK && l < block.count; l++) {
        if (s->bodies.has_converged[l]) {
            take_articulated(call, block, l, s);
        } else {
            closures_load_multipliers(&s->loops, block, l);
        }
        status = report(call, block, packed->q, l, -1, s, error);
    }
    return status;
}

/* Returns whether a method has matrices of all coordinates, and so computes one sample at a time. */
static bool is_dense(dyn_constraint_method method) {
    return method == DYN_CONSTRAINT_METHOD_FULL_SYSTEM || method == DYN_CONSTRAINT_METHOD_ELIMINATION;
}

/* Returns whether a block needs A after the sweep: where rows of a lane may contradict each other. */
static bool needs_rows(const constrained_call *call, sample_block block, const constraint_scratch *s) {
    bool needs = call->options.tolerance > 0 && call->options.tolerance < least_tolerance;
    for (size_t l = 0; l < block.count && call->options.tolerance > 0; l++) {
        needs = needs || !closures_agree(&s->loops, block, l);
    }
    return needs;
}

/* Computes a block by the method of multipliers in one sweep over the tree. */
static dyn_status compute_in_sweep(const constrained_call *call, sample_block block, const packed_inputs *packed,
                                   constraint_scratch *s, dyn_error *error) {
    const double k = call->options.stabilization;
    const size_t m = (size_t)call->model->constraint_rows;
    closures_sweep(&s->loops, block, packed, k, NULL, call->results || call->options.tolerance > 0,
                   call->workspace->pivots, s->acceleration);
    dyn_status status = dyn_check_pivots(call->model, call->workspace, block, error);
    if (status != DYN_OK) {
        return status;
    }
    closures_move(&s->loops, block, packed->gravity, s->acceleration);
    if (needs_rows(call, block, s)) {
        closures_find_rows(&s->loops, block, packed->q, packed->v);
        closures_require_acceleration(&s->loops, block, k, packed->v);
        for (size_t l = 0; status == DYN_OK && l < block.count; l++) {
            closures_load_multipliers(&s->loops, block, l);
            status = report(call, block, packed->q, l, -1, s, error);
        }
        return status;
    }
    for (size_t l = 0; l < block.count; l++) {
        if (call->lambda) {
            closures_load_multipliers(&s->loops, block, l);
            store_multipliers(&s->loops, call->lambda + (block.first + l) * m, m);
        }
        if (call->results) {
            dyn_constraint_result *to = &call->results[block.first + l];
            to->residual = dyn_packed_number(s->loops.residual, 0, block, l);
            to->rank = closures_examine(&s->loops, block, l, &to->condition);
        }
    }
    return status;
}

/* Computes a block by the method of multipliers, or by a dense one. */
static dyn_status compute_multipliers(const constrained_call *call, sample_block block, const packed_inputs *packed,
                                      constraint_scratch *s, dyn_error *error) {
    const dyn_model *model = call->model;
    const dyn_workspace *w = call->workspace;
    block.kernels->forward_dynamics(model, w->memory, packed, w->pivots, s->acceleration);
    dyn_status status = dyn_check_pivots(model, w, block, error);
    if (status != DYN_OK) {
        return status;
    }
    closures_exert(&s->loops, block, call->options.passive, packed->q, packed->v, NULL, s->acceleration);
    closures_respond(&s->loops, block, packed->q, packed->v, NULL);
    if (call->options.stabilization != 0) {
        closures_find_errors(&s->loops, block, packed->q);
    }
    closures_require_acceleration(&s->loops, block, call->options.stabilization, packed->v);
    if (is_dense(call->options.method)) {
        return solve_dense(call, block, packed, s, error);
    }
    closures_solve(&s->loops, block, NULL, s->acceleration);
    for (size_t l = 0; status == DYN_OK && l < block.count; l++) {
        closures_load_multipliers(&s->loops, block, l);
        status = report(call, block, packed->q, l, -1, s, error);
    }
    return status;
}

/* Computes a block of one sample by constraint embedding. */
static dyn_status compute_embedded(const constrained_call *call, sample_block block, const packed_inputs *packed,
                                   constraint_scratch *s, dyn_error *error) {
    const dyn_model *model = call->model;
    const dyn_workspace *w = call->workspace;
    const double k = call->options.stabilization;
    const constraint_rows *rows = &s->loops.rows;
    if (call->results || call->options.tolerance > 0) {
        closures_respond(&s->loops, block, packed->q, packed->v, NULL);
    } else {
        closures_find_rows(&s->loops, block, packed->q, packed->v);
    }
    if (k != 0) {
        closures_find_errors(&s->loops, block, packed->q);
    }
    closures_require_acceleration(&s->loops, block, k, packed->v);
    find_forces(call, block, packed, w->zero, s->dense.f, s);
    const dense_problem p = {model->nv, model->constraint_rows, NULL, rows->A, s->dense.f, s->loops.c};
    if (!embedding_solve(&s->embedded, w, packed->q, &p, &s->dense, s->acceleration)) {
        return compute_multipliers(call, block, packed, s, error);
    }
    if (call->lambda || call->options.tolerance > 0) {
        find_forces(call, block, packed, s->acceleration, s->dense.y, s);
        for (int i = 0; i < model->nv; i++) {
            s->dense.y[i] = -s->dense.y[i];
        }
        find_least_norm(s, p.n);
    }
    return report(call, block, packed->q, 0, -1, s, error);
}

/* Computes the accelerations of one block into s->acceleration, and stores its multipliers and results. */
static dyn_status compute_block(const constrained_call *call, sample_block block, const packed_inputs *packed,
                                constraint_scratch *s, dyn_error *error) {
    switch (call->options.method) {
    case DYN_CONSTRAINT_METHOD_ARTICULATED_BODIES:
        return compute_articulated(call, block, packed, s, error);
    case DYN_CONSTRAINT_METHOD_EMBEDDING:
        return compute_embedded(call, block, packed, s, error);
    case DYN_CONSTRAINT_METHOD_MULTIPLIERS:
        return closures_have_sweep(call->model) ? compute_in_sweep(call, block, packed, s, error)
                                                : compute_multipliers(call, block, packed, s, error);
    default:
        return compute_multipliers(call, block, packed, s, error);
    }
}

/* ---- Entry points ------------------------------------------------------------------------------------------------ */

/* Lays the scratch memory out in the workspace, and adds the rows of all constraints. Errors: DYN_FAILED_PRECONDITION
 * for a workspace in single precision. */
static dyn_status open_scratch(const dyn_model *model, const dyn_workspace *w, constraint_scratch *s,
                               dyn_error *error) {
    if (w->precision != DYN_PRECISION_DOUBLE) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "workspace",
                             "constraints are computed in double precision; use a workspace of that precision");
    }
    size_t lanes = (size_t)w->kernels->wide->lanes, size = lay_out(model, lanes, (uintptr_t)w->constraint_memory, s);
    if (size > w->constraint_size) {
        return dyn_error_memory(error);
    }
    closures_choose(model, w, &s->loops);
    return DYN_OK;
}

/* Returns the method that computes for a model. `couples` states whether constrained articulated bodies apply. */
static dyn_constraint_method choose_method(dyn_constraint_method method, const dyn_model *model, bool couples) {
    const int m = model->constraint_rows;
    if (method == DYN_CONSTRAINT_METHOD_AUTO) {
        method =
            m > MOST_ROWS_OF_MULTIPLIERS ? DYN_CONSTRAINT_METHOD_ARTICULATED_BODIES : DYN_CONSTRAINT_METHOD_MULTIPLIERS;
    }
    bool applies = method == DYN_CONSTRAINT_METHOD_ARTICULATED_BODIES ? couples
                   : method == DYN_CONSTRAINT_METHOD_EMBEDDING        ? embedding_applies(model)
                                                                      : true;
    return applies ? method : DYN_CONSTRAINT_METHOD_MULTIPLIERS;
}

dyn_constraint_method dyn_constraint_method_for(const dyn_model *model, dyn_constraint_method method) {
    return choose_method(method, model, dyn_count_couplings(model) >= 0);
}

static dyn_status read_options(const dyn_workspace *w, const dyn_constraint_options *options,
                               dyn_constraint_options *chosen, dyn_error *error) {
    dyn_status status = dyn_sized_read("options", options, sizeof *chosen, chosen, error);
    if (status != DYN_OK) {
        return status;
    }
    if ((int)chosen->method < 0 || chosen->method > DYN_CONSTRAINT_METHOD_EMBEDDING) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "options.method", "%d is no method", (int)chosen->method);
    }
    if (!(chosen->stabilization >= 0) || !isfinite(chosen->stabilization)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "options.stabilization",
                             "the stabilization is %g 1/s; state a finite number that is not negative",
                             chosen->stabilization);
    }
    if (!(chosen->tolerance >= 0 && chosen->tolerance <= 1)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "options.tolerance",
                             "the tolerance is %g; state a number from 0 to 1", chosen->tolerance);
    }
    chosen->method = choose_method(chosen->method, w->model, articulated_applies(w));
    return DYN_OK;
}

/* Computes all blocks. The dense methods and embedding compute one sample at a time. */
static dyn_status compute(const constrained_call *call, constraint_scratch *s, dyn_error *error) {
    const dyn_workspace *w = call->workspace;
    size_t n = call->n, nv = (size_t)call->model->nv;
    bool is_alone = is_dense(call->options.method) || call->options.method == DYN_CONSTRAINT_METHOD_EMBEDDING;
    dyn_status status = DYN_OK;
    for (size_t first = 0; status == DYN_OK && first < n;) {
        sample_block block = is_alone ? dyn_block_of_one(w, first) : dyn_block_at(w, n, first, 0);
        const wrench_set wrenches = dyn_block_wrenches(w, call->in.forces, block);
        packed_inputs packed = {.forces = &wrenches};
        status = dyn_load_inputs(call->model, w, n, &call->in, block, &packed, error);
        if (status == DYN_OK) {
            status = compute_block(call, block, &packed, s, error);
        }
        if (status == DYN_OK && !dyn_block_unpack(s->acceleration, nv, block, call->a)) {
            status = dyn_check_result(w, "a", block.first + block.count, nv, call->a, error);
        }
        first += block.count;
    }
    return status;
}

dyn_status dyn_constrained_forward_dynamics(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                            const double *gravity, const double *q, const double *v, const double *tau,
                                            const dyn_external_forces *forces, const dyn_constraint_options *options,
                                            double *a, double *lambda, dyn_constraint_result *outcomes,
                                            dyn_error *error) {
    constrained_call call = {model, workspace, n, {gravity, q, v, "tau", tau, forces}, {0}, a, lambda, outcomes};
    constraint_scratch scratch;
    dyn_status status = read_options(workspace, options, &call.options, error);
    if (status == DYN_OK) {
        status = dyn_check_inputs(model, workspace, n, &call.in, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    status = given_rows_check(call.options.given, model, n, error);
    if (status == DYN_OK && given_rows_count(call.options.given) > 0) {
        const given_rows_call given = {gravity, q, v, tau, forces, &call.options};
        return workspace->precision == DYN_PRECISION_DOUBLE
                   ? given_rows_accelerate(model, workspace, n, &given, a, lambda, outcomes, error)
                   : open_scratch(model, workspace, &scratch, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    if (model->constraint_rows == 0) {
        for (size_t s = 0; outcomes && s < n; s++) {
            outcomes[s] = (dyn_constraint_result){0, 0, 1};
        }
        return dyn_aba(model, workspace, n, gravity, q, v, tau, forces, a, error);
    }
    status = open_scratch(model, workspace, &scratch, error);
    if (status == DYN_OK && call.options.method == DYN_CONSTRAINT_METHOD_EMBEDDING) {
        embedding_find(model, &scratch.embedded);
    }
    return status == DYN_OK ? compute(&call, &scratch, error) : status;
}

dyn_status dyn_constraint_rows(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                               const double *v, double *A, double *bias, double *errors, dyn_error *error) {
    constraint_scratch s;
    dyn_status status = dyn_check_state(model, workspace, n, NULL, q, v, error);
    if (status == DYN_OK && model->constraint_rows == 0) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "model", "the model has no constraint");
    }
    if (status == DYN_OK) {
        status = open_scratch(model, workspace, &s, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    size_t m = (size_t)model->constraint_rows, nv = (size_t)model->nv;
    const results rows = {3, {{"A", A, m * nv}, {"bias", bias, m}, {"errors", errors, m}}};
    void *const packed_rows[MAX_RESULTS] = {s.loops.rows.A, s.loops.rows.bias, s.loops.e};
    for (size_t first = 0; status == DYN_OK && first < n;) {
        sample_block block = dyn_block_at(workspace, n, first, 0);
        const void *packed_q = dyn_block_pack(workspace, 0, q, (size_t)model->nq, block);
        const void *packed_v = dyn_block_pack(workspace, 1, v, nv, block);
        closures_find_rows(&s.loops, block, packed_q, packed_v);
        closures_find_errors(&s.loops, block, packed_q);
        status = dyn_results_store(workspace, packed_rows, block, &rows, error);
        first += block.count;
    }
    return status;
}

/* Checks the input of dyn_constrain_accelerations. */
static dyn_status check_free_motion(const dyn_model *model, const double *M, const double *free_a, dyn_error *error) {
    size_t nv = (size_t)model->nv;
    const struct {
        const char *name;
        const double *numbers;
        size_t count;
    } inputs[] = {{"M", M, nv * nv}, {"free_a", free_a, nv}};
    for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++) {
        for (size_t i = 0; i < inputs[k].count; i++) {
            if (!isfinite(inputs[k].numbers[i])) {
                return dyn_error_set(error, DYN_INVALID_ARGUMENT, inputs[k].name, "%s[%zu] is %g; pass finite numbers",
                                     inputs[k].name, i, inputs[k].numbers[i]);
            }
        }
    }
    return DYN_OK;
}

dyn_status dyn_constrain_accelerations(const dyn_model *model, dyn_workspace *workspace, const double *q,
                                       const double *v, const double *M, const double *free_a, double *a,
                                       dyn_error *error) {
    constraint_scratch s;
    size_t nv = (size_t)model->nv;
    dyn_status status = dyn_constraint_rows(model, workspace, 1, q, v, NULL, NULL, NULL, error);
    if (status == DYN_OK) {
        status = check_free_motion(model, M, free_a, error);
    }
    if (status == DYN_OK) {
        status = open_scratch(model, workspace, &s, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    const sample_block block = dyn_block_of_one(workspace, 0);
    const void *packed_q = dyn_block_pack(workspace, 0, q, (size_t)model->nq, block);
    const void *packed_v = dyn_block_pack(workspace, 1, v, nv, block);
    const constraint_rows *rows = &s.loops.rows;
    block.kernels->row_jacobian(model, workspace->memory, packed_q, packed_v, &rows->set, rows->A, rows->bias);
    closures_require_acceleration(&s.loops, block, 0, packed_v);
    for (size_t i = 0; i < nv; i++) {
        s.dense.f[i] = 0;
        for (size_t j = 0; j < nv; j++) {
            s.dense.f[i] += M[i * nv + j] * free_a[j];
        }
    }
    const dense_problem p = {model->nv, model->constraint_rows, M, rows->A, s.dense.f, s.loops.c};
    dense_solve_full_system(&p, &s.dense, s.acceleration);
    memcpy(a, s.acceleration, nv * sizeof *a);
    return dyn_check_result(workspace, "a", 1, nv, a, error);
}
