/* SPDX-License-Identifier: BSD-2-Clause */
/* Compare: computes one state by the daemon's own algorithms and by all formulations, with their times and
 * operations. */
#include <dynamics/dynamics.h>
#include <math.h>
#include <stdio.h>

#include "methods/batch.h"
#include "methods/methods.h"
#include "methods/passive_forces.h"
#include "methods/quantities.h"
#include "observe/clock.h"

/* Results of a formulation: inverse dynamics, forward dynamics and mass matrix. */
enum { INVERSE, FORWARD, MASS, RESULTS };

/* A result that takes less than BRIEF, ns, is computed RUNS times, and the shortest time counts. */
enum { RUNS = 5, BRIEF = 1000000 };

/* Cost of the method, ns. It always runs on a worker. */
static const double COMPARISON_COST = 1e6;

/* Largest nv of a comparison: most formulations take a time of nv^3 for a matrix, and the deadline is checked between
 * two results only. */
enum { MOST_COORDINATES = 200 };

/* Results of one formulation, or of the daemon's own algorithms (the kernels). */
typedef struct compared {
    const dyn_formulation_traits *traits; /* NULL: the kernels */
    char *refusal;                        /* DYN_MESSAGE_SIZE characters: why it does not apply */
    char *result_refusal[RESULTS];        /* likewise: why a result cannot be computed */
    double *result[RESULTS];              /* in the model's order */
    double difference[RESULTS], time[RESULTS];
    dyn_operation_counts counts[RESULTS];
} compared;

/* State to compute, and its results. Row 0 has the results of the daemon's own algorithms, each other row those of one
 * formulation. */
typedef struct comparison {
    const double *v, *a;
    const dyn_external_forces *forces; /* NULL: none */
    const dyn_base_motion *base;       /* NULL: it rests */
    double *base_forces;               /* of the kernels: f_base */
    double *rest, *loaded;             /* of the kernels: tau without f_base and passive forces r, and tau + r */
    double *gear_losses;               /* memory for losses of gears; NULL: they do not count */
    size_t count;
    compared *rows;
} comparison;

static bool is_constrained(const batch *b) {
    return dyn_model_constraint_count(b->model) > 0;
}

/* Subtracts the passive forces and the losses of gears in the motion from tau, where they count. */
static dyn_status resist(const batch *b, const batch_worker *w, const comparison *x, double *tau, dyn_error *error) {
    const states one = {.model = w->model,
                        .workspace = w->workspace,
                        .count = 1,
                        .q = b->q,
                        .v = x->v,
                        .a = x->a,
                        .gravity = b->values.gravity,
                        .forces = x->forces,
                        .passive = &b->values.passive,
                        .base = x->base,
                        .gear_losses = x->gear_losses};
    dyn_status status = passive_forces_add(w->model, 1, one.passive, -1, b->q, x->v, tau, error);
    return status == DYN_OK ? quantities_add_gear_losses(&one, NULL, -1, tau, error) : status;
}

/* Computes the forces of the motion by the kernels, to which those that the motion of the base causes add. */
static dyn_status invert(const batch *b, const batch_worker *w, const comparison *x, double *tau, dyn_error *error) {
    dyn_status status = dyn_rnea(w->model, w->workspace, 1, b->values.gravity, b->q, x->v, x->a, x->forces, tau, error);
    if (status == DYN_OK && x->base) {
        status = dyn_base_forces(w->model, w->workspace, 1, b->q, x->v, x->base, x->base_forces, NULL, error);
    }
    for (size_t i = 0; status == DYN_OK && i < b->nv; i++) {
        x->rest[i] = tau[i];
        tau[i] += x->base ? x->base_forces[i] : 0;
        x->loaded[i] = tau[i];
    }
    return status == DYN_OK ? resist(b, w, x, tau, error) : status;
}

/* Computes the accelerations of a row under the tau of the kernels and the passive forces, with the constraints of the
 * model. Those of a formulation are the accelerations of the tree and its mass matrix, of which the library solves the
 * constrained system. */
static dyn_status accelerate(const batch *b, const batch_worker *w, const comparison *x, dyn_formulation *by,
                             const compared *row, dyn_error *error) {
    const double *gravity = b->values.gravity;
    double *a = row->result[FORWARD], *M = row->result[MASS];
    if (!by) {
        return dyn_constrained_forward_dynamics(w->model, w->workspace, 1, gravity, b->q, x->v, x->rest, x->forces,
                                                NULL, a, NULL, NULL, error);
    }
    dyn_status status = dyn_formulation_forward_dynamics(by, 1, gravity, b->q, x->v, x->loaded, a, error);
    if (status != DYN_OK || !is_constrained(b)) {
        return status;
    }
    status = dyn_formulation_mass_matrix(by, 1, b->q, M, error);
    return status == DYN_OK ? dyn_constrain_accelerations(w->model, w->workspace, b->q, x->v, M, a, a, error) : status;
}

/* Computes one result. `by` is NULL for the kernels. */
static dyn_status compute_result(const batch *b, const batch_worker *w, const comparison *x, dyn_formulation *by,
                                 int result, const compared *row, dyn_error *error) {
    double *out = row->result[result];
    dyn_status status;
    switch (result) {
    case INVERSE:
        if (!by) {
            return invert(b, w, x, out, error);
        }
        status = dyn_formulation_inverse_dynamics(by, 1, b->values.gravity, b->q, x->v, x->a, out, error);
        return status == DYN_OK ? resist(b, w, x, out, error) : status;
    case FORWARD:
        return accelerate(b, w, x, by, row, error);
    default:
        return by ? dyn_formulation_mass_matrix(by, 1, b->q, out, error)
                  : dyn_crba(w->model, w->workspace, 1, b->q, out, error);
    }
}

/* Returns the largest difference between two results, divided by the larger of 1 and the largest magnitude in y. */
static double largest_difference(const double *x, const double *y, size_t count) {
    double difference = 0, size = 1;
    for (size_t i = 0; i < count; i++) {
        difference = fmax(difference, fabs(x[i] - y[i]));
        size = fmax(size, fabs(y[i]));
    }
    return difference / size;
}

/* Computes result k of a row, and measures its time and its difference from row 0. */
static dyn_status measure_result(const batch *b, const batch_worker *w, const comparison *x, dyn_formulation *by, int k,
                                 compared *row, dyn_error *error) {
    size_t count = k == MASS ? b->nv * b->nv : b->nv;
    uint64_t shortest = UINT64_MAX;
    dyn_status status = DYN_OK;
    for (int run = 0; status == DYN_OK && run < RUNS && (run == 0 || shortest < BRIEF); run++) {
        uint64_t start = clock_now();
        status = compute_result(b, w, x, by, k, row, error);
        uint64_t taken = clock_now() - start;
        shortest = taken < shortest ? taken : shortest;
    }
    if (status == DYN_OK) {
        row->time[k] = 1e-9 * (double)shortest;
        bool is_comparable = x->rows[0].result_refusal[k][0] == '\0';
        row->difference[k] = is_comparable ? largest_difference(row->result[k], x->rows[0].result[k], count) : 0;
    }
    return status;
}

/* Computes all results of a row. Writes to the row why results cannot be computed in this state. Checks the deadline
 * after each result. Other errors of the kernels are those of the request. */
static dyn_status compute_row(const batch *b, const batch_worker *w, const comparison *x, dyn_formulation *by,
                              compared *row, dyn_error *error) {
    for (int k = 0; k < RESULTS; k++) {
        dyn_status status = measure_result(b, w, x, by, k, row, error);
        if (status == DYN_FAILED_PRECONDITION || (by && status != DYN_OK)) {
            snprintf(row->result_refusal[k], DYN_MESSAGE_SIZE, "%s", error->message);
        } else if (status != DYN_OK) {
            return status;
        }
        if (!batch_proceed(b, 0)) {
            return DYN_CANCELLED;
        }
    }
    return DYN_OK;
}

/* Counts the operations of each result. The counts are zero where the library cannot count. Checks the deadline after
 * each result. */
static dyn_status count_row(const batch *b, dyn_formulation *by, compared *row) {
    static const dyn_formulation_result results[RESULTS] = {
        [INVERSE] = DYN_FORMULATION_RESULT_INVERSE_DYNAMICS,
        [FORWARD] = DYN_FORMULATION_RESULT_FORWARD_DYNAMICS,
        [MASS] = DYN_FORMULATION_RESULT_MASS_MATRIX,
    };
    for (int k = 0; k < RESULTS; k++) {
        if (dyn_formulation_operations(by, results[k], &row->counts[k], NULL) != DYN_OK) {
            row->counts[k] = (dyn_operation_counts){0};
        }
        if (!batch_proceed(b, 0)) {
            return DYN_CANCELLED;
        }
    }
    return DYN_OK;
}

/* Computes the row of one formulation, or writes to the row why the formulation does not apply. */
static void compare_formulation(const batch *b, const batch_worker *w, const comparison *x, compared *row) {
    dyn_formulation *by = NULL;
    dyn_error error = {0};
    dyn_status status = dyn_formulation_create(w->model, row->traits->name, &by, &error);
    if (status == DYN_OK) {
        dyn_formulation_move_base(by, x->base);
        status = dyn_formulation_apply_forces(by, x->forces, &error);
    }
    if (status == DYN_OK) {
        status = compute_row(b, w, x, by, row, &error);
    }
    if (status == DYN_OK) {
        status = count_row(b, by, row);
    }
    if (status != DYN_OK) {
        snprintf(row->refusal, DYN_MESSAGE_SIZE, "%s", error.message);
    }
    dyn_formulation_free(by);
}

static dyn_status compare_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                               dyn_error *error) {
    const comparison *x = context;
    (void)first, (void)count;
    dyn_status status = compute_row(b, w, x, NULL, &x->rows[0], error);
    for (size_t i = 1; status == DYN_OK && i < x->count; i++) {
        compare_formulation(b, w, x, &x->rows[i]);
        status = batch_proceed(b, 1) ? DYN_OK : DYN_CANCELLED;
    }
    return status;
}

static bool create_rows(batch *b, comparison *x) {
    size_t entries = b->nv * b->nv;
    x->count = 1 + (size_t)dyn_formulation_count();
    x->rows = call_allocate(b->call, x->count, sizeof *x->rows);
    x->base_forces = batch_output(b, b->nv), x->rest = batch_output(b, b->nv), x->loaded = batch_output(b, b->nv);
    for (size_t i = 0; !call_has_ended(b->call) && i < x->count; i++) {
        compared *row = &x->rows[i];
        row->traits = i > 0 ? dyn_formulation_traits_at((int)i - 1) : NULL;
        row->refusal = call_allocate(b->call, 1, DYN_MESSAGE_SIZE);
        row->result[INVERSE] = batch_output(b, b->nv);
        row->result[FORWARD] = batch_output(b, b->nv);
        row->result[MASS] = batch_output(b, entries);
        for (int k = 0; k < RESULTS; k++) {
            row->result_refusal[k] = call_allocate(b->call, 1, DYN_MESSAGE_SIZE);
        }
    }
    return !call_has_ended(b->call);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static Dynamics__V1__FormulationCost *cost_of(call *c, const compared *row, int result, bool is_stated) {
    const dyn_operation_counts *counts = &row->counts[result];
    Dynamics__V1__FormulationCost *cost = call_allocate(c, 1, sizeof *cost);
    if (cost) {
        dynamics__v1__formulation_cost__init(cost);
        cost->is_stated = is_stated;
        cost->difference = row->difference[result];
        cost->time = row->time[result];
        cost->multiplications = counts->multiplications;
        cost->additions = counts->additions;
        cost->divisions = counts->divisions;
        cost->roots = counts->roots;
        cost->sines = counts->sines;
        cost->refusal = row->result_refusal[result];
    }
    return cost;
}

static void add_results(batch *b, const compared *row, Dynamics__V1__ComparedFormulation *to) {
    const dyn_formulation_traits *traits = row->traits;
    bool has[RESULTS];
    for (int k = 0; k < RESULTS; k++) {
        has[k] = row->result_refusal[k][0] == '\0';
    }
    to->n_tau = has[INVERSE] ? b->nv : 0;
    to->tau = batch_vectors(b, row->result[INVERSE]);
    to->n_a = has[FORWARD] ? b->nv : 0;
    to->a = batch_vectors(b, row->result[FORWARD]);
    to->n_mass_matrix_values = has[MASS] ? b->nv * b->nv : 0;
    to->mass_matrix_values = batch_matrices(b, row->result[MASS]);
    to->inverse_dynamics = cost_of(b->call, row, INVERSE, !traits || traits->inverse_dynamics);
    to->forward_dynamics = cost_of(b->call, row, FORWARD, !traits || (traits->forward_dynamics && !is_constrained(b)));
    to->mass_matrix = cost_of(b->call, row, MASS, !traits || traits->mass_matrix);
}

static Dynamics__V1__ComparedFormulation *row_of(batch *b, const compared *row) {
    Dynamics__V1__ComparedFormulation *to = call_allocate(b->call, 1, sizeof *to);
    if (to) {
        dynamics__v1__compared_formulation__init(to);
        to->name = (char *)(uintptr_t)(row->traits ? row->traits->name : "kernels");
        to->source = (char *)(uintptr_t)(row->traits ? row->traits->source : "RNEA, ABA and CRBA of this daemon");
        to->refusal = row->refusal;
        if (row->refusal[0] == '\0') {
            add_results(b, row, to);
        }
    }
    return to;
}

static void answer(batch *b, const comparison *x) {
    Dynamics__V1__CompareReply *reply = create_compare_reply(b->call);
    if (!reply) {
        return;
    }
    reply->nv = (uint32_t)b->nv;
    reply->formulations = call_allocate(b->call, x->count, sizeof *reply->formulations);
    for (size_t i = 0; !call_has_ended(b->call) && i < x->count; i++) {
        reply->formulations[reply->n_formulations++] = row_of(b, &x->rows[i]);
    }
}

static bool check_size(const batch *b) {
    if (b->nv > MOST_COORDINATES) {
        call_blame(b->call, "query.model");
        call_fail(b->call, REASON_MODEL_UNSUITABLE,
                  "model \"%s\" has nv = %zu; compare takes %d at most: compute with query.formulation instead",
                  b->entry->name, b->nv, MOST_COORDINATES);
    }
    return b->nv <= MOST_COORDINATES;
}

void method_compare(call *c) {
    const Dynamics__V1__CompareRequest *r = c->request->compare;
    const query_parts supported = QUERY_JOINT_NAMES | QUERY_GRAVITY | QUERY_PAYLOADS | QUERY_FORCES |
                                  QUERY_CONSTRAINTS | QUERY_ADDED_CONSTRAINTS | QUERY_BASE_MOTION |
                                  QUERY_PASSIVE_FORCES;
    dyn_external_forces forces;
    dyn_base_motion base;
    void *scratch;
    batch b;
    comparison x = {0};
    if (batch_open(c, &b, r->query, supported, r->n_q, r->q) && check_size(&b) && batch_check_one_state(&b) &&
        batch_check(&b, "v", r->n_v) && batch_check(&b, "a", r->n_a)) {
        b.parts = (size_t)dyn_formulation_count();
        batch_expect(&b, b.nv * (2 + b.nv) * (1 + b.parts));
        if (batch_begin(&b, COMPARISON_COST) && create_rows(&b, &x)) {
            x.v = batch_input(&b, r->n_v, r->v);
            x.a = batch_input(&b, r->n_a, r->a);
            x.base = batch_base(&b, 0, &base);
            size_t gears = passive_forces_gear_numbers(b.model, &b.values.passive, 1);
            x.gear_losses = gears > 0 ? batch_output(&b, gears) : NULL;
            scratch = b.force_count > 0 ? call_allocate(c, 1, batch_forces_size(&b)) : NULL;
            x.forces = call_has_ended(c) ? NULL : batch_forces(&b, 0, scratch, &forces);
            if (!call_has_ended(c) && batch_run(&b, compare_step, &x, 0)) {
                answer(&b, &x);
            }
        }
    }
    batch_close(&b);
}
