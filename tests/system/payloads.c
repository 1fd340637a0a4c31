/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks payloads of single requests: every quantity counts them as part of the model, and the model itself does not
 * change.
 */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/client_fixture.h"
#include "system/wire_quantities.h"
#include "system/runner.h"
#include "system/quantity_question.h"

enum { TREES = 12 };

static dyn_client_error error;

/* ---- every quantity ---------------------------------------------------------------------------------------------- */

static void derive(const char *model, const char *name, const dyn_client_operation *operation) {
    dyn_client_loaded_model *loaded;
    const dyn_client_derive_request request =
        DYN_CLIENT_DERIVE_REQUEST_INIT(.model = model, .name = name, .operation_count = 1, .operations = operation,
                                       .replace = true);
    wire_require(dyn_client_derive_model(client, &request, &loaded, &error), &error);
    dyn_client_loaded_model_free(loaded);
}

/* Returns a box with an offset and a rotation relative to its link. If `replaces`, it replaces the link's own
 * inertia. */
static dyn_client_payload a_box(const char *link, bool replaces) {
    return (dyn_client_payload){.link = link,
                                .inertia = {.mass = 1.5,
                                            .center_of_mass = {0.1, -0.2, 0.05},
                                            .rotational = {0.02, 0.001, 0, 0.03, -0.002, 0.025}},
                                .pose = {.position = {0.3, 0.1, -0.2}, .orientation = {0, 0, 1, 1}},
                                .replaces = replaces};
}

/* Returns the name of a random link of the tree that moves. */
static const char *moving_link(const dyn_model *model, random_source *random) {
    int link;
    do {
        link = random_index(random, dyn_model_link_count(model));
    } while (dyn_model_link(model, link)->moving_joint < 0);
    return dyn_model_link(model, link)->name;
}

START_TEST(every_quantity_counts_payloads) {
    random_source base = random_seed("payloads in every quantity", 20261123);
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        const random_tree_options options = {.joints = 1 + random_index(&random, 6),
                                             .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                             .with_mimic = true,
                                             .with_fixed = true};
        wire_tree tree;
        wire_tree_open(client, &random, &options, "tree", &tree);
        if (tree.query.nv > 0) {
            dyn_client_payload box = a_box(moving_link(tree.model, &random), false);
            const dyn_client_operation attach = {.kind = DYN_CLIENT_OPERATION_KIND_ATTACH_LINK,
                                                 .link = box.link,
                                                 .name = "the box",
                                                 .inertia = box.inertia,
                                                 .pose = box.pose};
            derive("tree", "loaded tree", &attach);
            dyn_client_evaluation *bare = wire_evaluate(&tree, "tree", 0, NULL);
            dyn_client_evaluation *found = wire_evaluate(&tree, "tree", 1, &box);
            dyn_client_evaluation *expected = wire_evaluate(&tree, "loaded tree", 0, NULL);
            ck_assert_uint_ge(wire_compare(k, found, expected, bare), 5);
            dyn_client_evaluation *after = wire_evaluate(&tree, "tree", 0, NULL);
            ck_assert_uint_eq(wire_compare(k, after, bare, bare), 0);
            dyn_client_evaluation_free(after);
            dyn_client_evaluation_free(expected);
            dyn_client_evaluation_free(found);
            dyn_client_evaluation_free(bare);
        }
        wire_tree_close(&tree);
    }
}
END_TEST

/* Checks quantities that random trees may not have: tasks that are not singular, the torque ellipsoid, whose axes have
 * two directions, and articulated inertias, which links that are fixed to the world do not have. */
START_TEST(tasks_and_ellipsoids_count_payloads) {
    static const dyn_client_quantity quantities[] = {DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_INERTIA,
                                                     DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_BIAS,
                                                     DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_GRAVITY,
                                                     DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_CONSISTENT_INVERSE,
                                                     DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_NULL_SPACE_PROJECTOR,
                                                     DYN_CLIENT_QUANTITY_TORQUE_ELLIPSOID,
                                                     DYN_CLIENT_QUANTITY_FRAME_ARTICULATED_INERTIA,
                                                     DYN_CLIENT_QUANTITY_FRAME_ARTICULATED_BIAS};
    static const char *const models[] = {"ur5", "ur5 with box"}, *const frame = "tool0";
    const double q[6] = {0.3, -1.2, 1.4, -0.8, -1.5, 0.4}, v[6] = {0.5, 0.4, -0.6, 0.2, 0.3, 1};
    const double tau[6] = {3, -20, 10, 2, 1, 0.5};
    const dyn_client_payload box = a_box("tool0", false);
    const dyn_client_operation attach = {.kind = DYN_CLIENT_OPERATION_KIND_ATTACH_LINK,
                                         .link = "tool0",
                                         .name = "box",
                                         .inertia = box.inertia,
                                         .pose = box.pose};
    const quantity_question request = {
        .q = q, .v = v, .tau = tau, .quantity_count = 8, .quantities = quantities, .frame_count = 1, .frames = &frame};
    dyn_client_evaluation *answers[2];
    derive("ur5", models[1], &attach);
    for (int k = 0; k < 2; k++) {
        const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = models[k], .nq = 6, .nv = 6, .samples = 1,
                                                             .payload_count = k == 0, .payloads = &box);
        wire_require(evaluate_quantities(client, &query, &request, &error, &answers[k]), &error);
        /* Axes may have either direction. */
        for (size_t b = 0; b < answers[k]->results[5].block_count; b++) {
            for (size_t i = 0; i < answers[k]->results[5].blocks[b].width; i++) {
                ((double *)answers[k]->results[5].blocks[b].values)[i] =
                    fabs(answers[k]->results[5].blocks[b].values[i]);
            }
        }
    }
    wire_compare(0, answers[0], answers[1], answers[1]);
    dyn_client_evaluation_free(answers[0]);
    dyn_client_evaluation_free(answers[1]);
}
END_TEST

/* Checks a payload that replaces a link's own inertia. */
START_TEST(payloads_replace_inertias) {
    random_source random = random_seed("payloads instead", 20261124);
    const random_tree_options options = {.joints = 5, .with_fixed = true};
    wire_tree tree;
    wire_tree_open(client, &random, &options, "tree", &tree);
    dyn_client_payload box = a_box(moving_link(tree.model, &random), true);
    box.pose = (dyn_client_pose){0};
    const dyn_client_operation change = {
        .kind = DYN_CLIENT_OPERATION_KIND_CHANGE_INERTIA, .link = box.link, .inertia = box.inertia};
    derive("tree", "changed tree", &change);
    dyn_client_evaluation *bare = wire_evaluate(&tree, "tree", 0, NULL);
    dyn_client_evaluation *found = wire_evaluate(&tree, "tree", 1, &box);
    dyn_client_evaluation *expected = wire_evaluate(&tree, "changed tree", 0, NULL);
    ck_assert_uint_ge(wire_compare(0, found, expected, bare), 5);
    dyn_client_evaluation_free(expected);
    dyn_client_evaluation_free(found);
    dyn_client_evaluation_free(bare);
    wire_tree_close(&tree);
}
END_TEST

/* ---- every method ------------------------------------------------------------------------------------------------ */

static const dyn_client_query TWO_LINK = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = 1);

/* Checks a point mass at the tip of the planar arm, whose links have length 1: its part of M, g, h and tau in closed
 * form. */
START_TEST(methods_count_a_point_mass) {
    const double m = 2, g = 9.81, q[2] = {0.3, 1.1}, v[2] = {0.7, -0.4}, a[2] = {1.5, 2.5};
    const dyn_client_payload point = {.link = "tip", .inertia = {.mass = m}};
    double bare[4], mass[4], weight[2], of_weight[2], h[2], of_h[2], tau[2], of_tau[2], back[2];
    double c1 = cos(q[0]), c12 = cos(q[0] + q[1]), c2 = cos(q[1]), s2 = sin(q[1]);
    const double M[4] = {m * (2 + 2 * c2), m * (1 + c2), m * (1 + c2), m};
    const double G[2] = {m * g * (c1 + c12), m * g * c12};
    const double C[2] = {-m * s2 * (2 * v[0] * v[1] + v[1] * v[1]), m * s2 * v[0] * v[0]};
    dyn_client_query loaded = TWO_LINK;
    loaded.payload_count = 1;
    loaded.payloads = &point;
    wire_require(dyn_client_mass_matrix(client, &TWO_LINK, q, bare, &error), &error);
    wire_require(dyn_client_mass_matrix(client, &loaded, q, mass, &error), &error);
    wire_require(dyn_client_gravity(client, &TWO_LINK, q, weight, &error), &error);
    wire_require(dyn_client_gravity(client, &loaded, q, of_weight, &error), &error);
    wire_require(dyn_client_bias_forces(client, &TWO_LINK, q, v, h, &error), &error);
    wire_require(dyn_client_bias_forces(client, &loaded, q, v, of_h, &error), &error);
    wire_require(dyn_client_inverse_dynamics(client, &TWO_LINK, q, v, a, tau, &error), &error);
    wire_require(dyn_client_inverse_dynamics(client, &loaded, q, v, a, of_tau, &error), &error);
    wire_require(dyn_client_forward_dynamics(client, &loaded, q, v, of_tau, back, &error), &error);
    for (int i = 0; i < 2; i++) {
        ck_assert_double_eq_tol(mass[2 * i] - bare[2 * i], M[2 * i], 1e-13);
        ck_assert_double_eq_tol(mass[2 * i + 1] - bare[2 * i + 1], M[2 * i + 1], 1e-13);
        ck_assert_double_eq_tol(of_weight[i] - weight[i], G[i], 1e-12);
        ck_assert_double_eq_tol(of_h[i] - h[i], G[i] + C[i], 1e-12);
        ck_assert_double_eq_tol(of_tau[i] - tau[i], M[2 * i] * a[0] + M[2 * i + 1] * a[1] + C[i] + G[i], 1e-12);
        ck_assert_double_eq_tol(back[i], a[i], 1e-12);
    }
}
END_TEST

/* Checks a batch of many states in the caller's order of joints, which all workers compute. */
START_TEST(batches_count_payloads_in_every_sample) {
    enum { SAMPLES = 3000 };
    static const char *const backwards[] = {"joint2", "joint1"};
    static double q[SAMPLES][2], tau[SAMPLES][2];
    const dyn_client_payload boxes[2] = {a_box("tip", false), a_box("link1", true)};
    dyn_client_query query = TWO_LINK;
    double one[2];
    query.joint_count = 2;
    query.joint_names = backwards;
    query.payload_count = 2;
    query.payloads = boxes;
    for (int s = 0; s < SAMPLES; s++) {
        q[s][0] = sin(s);
        q[s][1] = cos(3 * s);
    }
    query.samples = SAMPLES;
    wire_require(dyn_client_inverse_dynamics(client, &query, q[0], NULL, NULL, tau[0], &error), &error);
    query.samples = 1;
    for (int s = 0; s < SAMPLES; s += 271) {
        wire_require(dyn_client_inverse_dynamics(client, &query, q[s], NULL, NULL, one, &error), &error);
        ck_assert_double_eq(tau[s][0], one[0]);
        ck_assert_double_eq(tau[s][1], one[1]);
    }
}
END_TEST

/* Checks that a motion in rows has the torques of its states in a batch. */
START_TEST(trajectories_count_payloads) {
    enum { ROWS = 5 };
    const dyn_client_payload box = a_box("tip", false);
    double q[ROWS][2], v[ROWS][2], a[ROWS][2], tau[ROWS][2];
    dyn_client_trajectory *trajectory;
    dyn_client_query query = TWO_LINK;
    query.samples = ROWS;
    query.payload_count = 1;
    query.payloads = &box;
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < 2; i++) {
            q[r][i] = 0.1 * r + i, v[r][i] = 1 - i, a[r][i] = r - 2;
        }
    }
    wire_require(dyn_client_inverse_dynamics(client, &query, q[0], v[0], a[0], tau[0], &error), &error);
    wire_require(dyn_client_inverse_dynamics_trajectory(client, &query, NULL, q[0], v[0], a[0], DYN_CLIENT_RATES_GIVEN,
                                                        NULL, &trajectory, &error),
                 &error);
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < 2; i++) {
            ck_assert_double_eq_tol(trajectory->tau[2 * r + i], tau[r][i], 1e-12);
        }
    }
    dyn_client_trajectory_free(trajectory);
}
END_TEST

/* ---- callers at once --------------------------------------------------------------------------------------------- */

enum { CALLERS = 4, CALLS = 300 };

/* Client that runs in a thread with a payload of its own. All clients share one model. */
typedef struct caller {
    pthread_t thread;
    double mass;
    int wrong; /* answers for another client */
    dyn_client_status status;
} caller;

static void *call_repeatedly(void *own) {
    caller *c = own;
    const dyn_client_payload point = {.link = "tip", .inertia = {.mass = c->mass}};
    const double q[2] = {0};
    dyn_client_query query = TWO_LINK;
    dyn_client_error failure;
    double g[2];
    query.payload_count = c->mass > 0;
    query.payloads = &point;
    for (int i = 0; i < CALLS && c->status == DYN_CLIENT_OK; i++) {
        c->status = dyn_client_gravity(client, &query, q, g, &failure);
        c->wrong += fabs(g[0] - 9.81 * (3 + 2 * c->mass)) > 1e-12;
    }
    return NULL;
}

START_TEST(callers_do_not_see_each_others_payloads) {
    caller callers[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (caller){.mass = i};
        ck_assert_int_eq(pthread_create(&callers[i].thread, NULL, call_repeatedly, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
        ck_assert_int_eq(callers[i].status, DYN_CLIENT_OK);
        ck_assert_int_eq(callers[i].wrong, 0);
    }
}
END_TEST

/* ---- explain ----------------------------------------------------------------------------------------------------- */

START_TEST(explain_has_a_term_for_payloads) {
    const double q[6] = {0.1, -1.2, 1.3, 0.4, -0.5, 0.6}, v[6] = {1, -2, 3, -4, 5, -6}, a[6] = {6, 5, 4, 3, 2, 1};
    const dyn_client_payload boxes[3] = {a_box("tool0", false), a_box("forearm_link", true), a_box("base_link", false)};
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 1);
    double bare[6], tau[6];
    dyn_client_explanation *answer;
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, bare, &error), &error);
    query.payload_count = 3;
    query.payloads = boxes;
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, tau, &error), &error);
    wire_require(dyn_client_explain(client, &query, q, v, a, &answer, &error), &error);
    ck_assert_uint_eq(answer->term_count, 5);
    ck_assert_str_eq(answer->terms[4].name, "payload");
    ck_assert_uint_eq(answer->payload_count, 3);
    ck_assert_str_eq(answer->payloads[1].link, "forearm_link");
    ck_assert_str_eq(answer->payloads[1].moving_joint, "elbow_joint");
    ck_assert_str_eq(answer->payloads[2].moving_joint, "");
    for (int i = 0; i < 6; i++) {
        double sum = 0, of_payloads = 0;
        for (size_t t = 0; t < 4; t++) {
            sum += answer->terms[t].tau[i];
        }
        for (size_t k = 0; k < 3; k++) {
            of_payloads +=
                answer->payloads[k].inertial[i] + answer->payloads[k].coriolis[i] + answer->payloads[k].gravity[i];
        }
        ck_assert_double_eq_tol(sum, bare[i], 1e-11);
        ck_assert_double_eq_tol(answer->tau[i], tau[i], 1e-12);
        ck_assert_double_eq_tol(answer->terms[4].tau[i], tau[i] - bare[i], 1e-11);
        ck_assert_double_eq_tol(of_payloads, tau[i] - bare[i], 1e-11);
        ck_assert_double_eq(answer->payloads[2].gravity[i], 0);
    }
    ck_assert_double_le(answer->residual, 1e-11);
    dyn_client_explanation_free(answer);
}
END_TEST

/* ---- mistakes ---------------------------------------------------------------------------------------------------- */

static void must_refuse(const dyn_client_payload *payload, dyn_client_status status, const char *field) {
    const dyn_client_payload two[2] = {{.link = "tip"}, *payload};
    const double q[2] = {0};
    double tau[2];
    char path[128];
    dyn_client_query query = TWO_LINK;
    query.payload_count = 2;
    query.payloads = two;
    ck_assert_int_eq(dyn_client_gravity(client, &query, q, tau, &error), status);
    snprintf(path, sizeof path, "gravity.%s", field);
    ck_assert_str_eq(error.field, path);
    ck_assert_str_ne(error.message, "");
}

START_TEST(bad_payloads_are_named) {
    dyn_client_payload bad = {.link = "no_such_link", .inertia = {.mass = 1}};
    must_refuse(&bad, DYN_CLIENT_NOT_FOUND, "query.payloads[1].link");
    bad.link = "world";
    must_refuse(&bad, DYN_CLIENT_INVALID_ARGUMENT, "query.payloads[1].link");
    bad.link = NULL;
    must_refuse(&bad, DYN_CLIENT_NOT_FOUND, "query.payloads[1].link");
    bad.link = "tip";
    bad.inertia.mass = -1;
    must_refuse(&bad, DYN_CLIENT_INVALID_ARGUMENT, "query.payloads[1].inertia");
    bad.inertia.mass = NAN;
    must_refuse(&bad, DYN_CLIENT_INVALID_ARGUMENT, "query.payloads[1].inertia.mass");
    bad.inertia.mass = 1;
    bad.inertia.center_of_mass[2] = INFINITY;
    must_refuse(&bad, DYN_CLIENT_INVALID_ARGUMENT, "query.payloads[1].inertia.center_of_mass");
    bad.inertia.center_of_mass[2] = 0;
    bad.inertia.rotational[4] = NAN;
    must_refuse(&bad, DYN_CLIENT_INVALID_ARGUMENT, "query.payloads[1].inertia.rotational[4]");
    bad.inertia.rotational[4] = 0;
    bad.inertia.rotational[0] = 5;
    must_refuse(&bad, DYN_CLIENT_INVALID_ARGUMENT, "query.payloads[1].inertia");
    bad.inertia.rotational[0] = 0;
    bad.pose.rotation = (const double[9]){2};
    must_refuse(&bad, DYN_CLIENT_INVALID_ARGUMENT, "query.payloads[1].pose.rotation.values");
    bad.pose.rotation = NULL;
    bad.pose.position[1] = NAN;
    must_refuse(&bad, DYN_CLIENT_INVALID_ARGUMENT, "query.payloads[1].pose.position");
}
END_TEST

START_TEST(payloads_are_bounded) {
    static dyn_client_payload many[1001];
    const double q[2] = {0};
    double g[2];
    dyn_client_query query = TWO_LINK;
    for (int i = 0; i < 1001; i++) {
        many[i] = (dyn_client_payload){.link = "tip", .inertia = {.mass = 0.001}};
    }
    query.payload_count = 1001;
    query.payloads = many;
    ck_assert_int_eq(dyn_client_gravity(client, &query, q, g, &error), DYN_CLIENT_RESOURCE_EXHAUSTED);
    ck_assert_str_eq(error.field, "gravity.query.payloads");
    query.payload_count = 1000;
    wire_require(dyn_client_gravity(client, &query, q, g, &error), &error);
    ck_assert_double_eq_tol(g[0], 3 * 9.81 + 2 * 9.81, 1e-9);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("payloads");
    tcase_set_timeout(all, 120);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_test(all, every_quantity_counts_payloads);
    tcase_add_test(all, tasks_and_ellipsoids_count_payloads);
    tcase_add_test(all, payloads_replace_inertias);
    tcase_add_test(all, methods_count_a_point_mass);
    tcase_add_test(all, batches_count_payloads_in_every_sample);
    tcase_add_test(all, trajectories_count_payloads);
    tcase_add_test(all, callers_do_not_see_each_others_payloads);
    tcase_add_test(all, explain_has_a_term_for_payloads);
    tcase_add_test(all, bad_payloads_are_named);
    tcase_add_test(all, payloads_are_bounded);
    return run_unforked("payloads", all);
}
