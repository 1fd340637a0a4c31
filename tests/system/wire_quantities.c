/* SPDX-License-Identifier: BSD-2-Clause */
#include "system/wire_quantities.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "system/quantity_question.h"

enum { MAX_QUANTITIES = 128 };

/* Returns whether a quantity is of the constraints of a model. */
static bool is_of_constraints(dyn_client_quantity quantity) {
    bool is_impact = quantity == DYN_CLIENT_QUANTITY_IMPACT_VELOCITY || quantity == DYN_CLIENT_QUANTITY_IMPACT_IMPULSES;
    return is_impact || quantity == DYN_CLIENT_QUANTITY_CONSTRAINT_WRENCHES_OF_MOTION ||
           (quantity >= DYN_CLIENT_QUANTITY_CONSTRAINT_JACOBIAN && quantity <= DYN_CLIENT_QUANTITY_CONSTRAINT_WRENCHES);
}

/* Returns whether a quantity is of the contacts of a model. */
static bool is_of_contacts(dyn_client_quantity quantity) {
    return quantity >= DYN_CLIENT_QUANTITY_CONTACT_FORCES && quantity <= DYN_CLIENT_QUANTITY_STOP_IMPACT_IMPULSES;
}

/* Returns whether every random tree has the quantity, and only one value of it. Tasks may be singular, the axes of
 * ellipsoids have two directions, and links that are fixed to the world have no articulated inertias. */
static bool is_comparable(dyn_client_quantity quantity) {
    switch (quantity) {
    case DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_INERTIA:
    case DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_BIAS:
    case DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_GRAVITY:
    case DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_CONSISTENT_INVERSE:
    case DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_NULL_SPACE_PROJECTOR:
    case DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_ETA:
    case DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_TORQUES:
    case DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_ACCELERATION:
    case DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_INDEPENDENCE:
    case DYN_CLIENT_QUANTITY_FRAME_ARTICULATED_INERTIA:
    case DYN_CLIENT_QUANTITY_FRAME_ARTICULATED_BIAS:
    case DYN_CLIENT_QUANTITY_FRAME_ELLIPSOIDS:
    case DYN_CLIENT_QUANTITY_FRAME_ACCELERATION_ELLIPSOIDS:
    case DYN_CLIENT_QUANTITY_FRAME_PRINCIPAL_AXES:
    case DYN_CLIENT_QUANTITY_TORQUE_ELLIPSOID:
        return false;
    default:
        return dyn_client_quantity_name(quantity) && !is_of_constraints(quantity) && !is_of_contacts(quantity);
    }
}

static bool is_second_derivative(dyn_client_quantity quantity) {
    static const char *const names[] = {"_by_q_q", "_by_v_v", "_by_q_v", "mass_matrix_by_q"};
    const char *name = dyn_client_quantity_name(quantity);
    bool found = false;
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++) {
        found = found || strstr(name, names[i]) != NULL;
    }
    return found;
}

static size_t comparable_quantities(bool has_second, dyn_client_quantity list[MAX_QUANTITIES]) {
    size_t count = 0;
    for (int i = 1; i < MAX_QUANTITIES; i++) {
        if (is_comparable((dyn_client_quantity)i) && (has_second || !is_second_derivative((dyn_client_quantity)i))) {
            list[count++] = (dyn_client_quantity)i;
        }
    }
    return count;
}

static dyn_client_evaluation *evaluate(const wire_tree *tree, const char *model, bool has_second, size_t payload_count,
                                       const dyn_client_payload *payloads) {
    static dyn_client_quantity quantities[MAX_QUANTITIES];
    const char *const frames[] = {dyn_model_link(tree->model, dyn_model_link_count(tree->model) - 1)->name};
    const double force[3] = {3, -2, 10}, torque[3] = {0.5, 0, 1};
    const dyn_client_external_force pull = {.link = frames[0],
                                            .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL,
                                            .force = force,
                                            .torque = torque,
                                            .rows = 1};
    dyn_client_query query = tree->query;
    query.model = model;
    query.external_force_count = 1;
    query.external_forces = &pull;
    query.payload_count = payload_count;
    query.payloads = payloads;
    const quantity_question request = {.q = tree->q,
                                       .v = tree->v,
                                       .a = tree->a,
                                       .tau = tree->tau,
                                       .dq = tree->a,
                                       .dv = tree->v,
                                       .da = tree->tau,
                                       .dtau = tree->a,
                                       .quantity_count = comparable_quantities(has_second, quantities),
                                       .quantities = quantities,
                                       .frame_count = 1,
                                       .frames = frames};
    dyn_client_error error;
    dyn_client_evaluation *answer;
    wire_require(evaluate_quantities(tree->client, &query, &request, &error, &answer), &error);
    return answer;
}

dyn_client_evaluation *wire_evaluate(const wire_tree *tree, const char *model, size_t payload_count,
                                     const dyn_client_payload *payloads) {
    return evaluate(tree, model, true, payload_count, payloads);
}

dyn_client_evaluation *wire_evaluate_first_order(const wire_tree *tree, const char *model) {
    return evaluate(tree, model, false, 0, NULL);
}

/* Returns |x - y| of the numbers of one block; `norm` receives |y|. */
static double deviation(const dyn_client_block *x, const dyn_client_block *y, double *norm) {
    double off = 0, size = 0;
    for (size_t i = 0; i < x->width; i++) {
        off += (x->values[i] - y->values[i]) * (x->values[i] - y->values[i]);
        size += y->values[i] * y->values[i];
    }
    *norm = sqrt(size);
    return sqrt(off);
}

static bool runs_over_bodies(const dyn_client_block *block) {
    for (size_t i = 0; i < block->rank; i++) {
        if (block->axes[i]->kind == DYN_CLIENT_AXIS_KIND_BODIES) {
            return true;
        }
    }
    return false;
}

size_t wire_compare(int k, const dyn_client_evaluation *found, const dyn_client_evaluation *expected,
                    const dyn_client_evaluation *other) {
    size_t changed = 0;
    const dyn_client_axis *bodies = dyn_client_find_axis(found, DYN_CLIENT_AXIS_KIND_BODIES);
    const dyn_client_axis *others = dyn_client_find_axis(expected, DYN_CLIENT_AXIS_KIND_BODIES);
    ck_assert_uint_eq(found->result_count, expected->result_count);
    for (size_t r = 0; r < found->result_count; r++) {
        const dyn_client_quantity_result *result = &found->results[r];
        bool differs = false;
        for (size_t b = 0; b < result->block_count; b++) {
            if (runs_over_bodies(&result->blocks[b]) && bodies->size != others->size) {
                continue;
            }
            const dyn_client_block *block = &expected->results[r].blocks[b];
            double norm, unused;
            ck_assert_uint_eq(result->blocks[b].width, block->width);
            double off = deviation(&result->blocks[b], block, &norm);
            ck_assert_msg(off <= 1e-8 * (1 + norm), "tree %d: %s is off by %g of %g", k,
                          dyn_client_quantity_name(result->quantity), off, norm);
            differs |= deviation(&result->blocks[b], &other->results[r].blocks[b], &unused) > 1e-6 * (1 + norm);
        }
        changed += differs;
    }
    return changed;
}
