/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks articulated inertias through the daemon: I_A A + p_A is the wrench that the joint of the link transmits.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/assertions.h"
#include "system/client_fixture.h"
#include "system/quantity_question.h"
#include "system/runner.h"
#include "system/wire_tree.h"

enum { JOINTS = 6, LINK = 2 };

static dyn_client_error error;

static const dyn_client_query UR5 = {
    .struct_size = sizeof(dyn_client_query), .model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = 1};

START_TEST(joints_transmit_the_wrenches_of_articulated_bodies) {
    static const dyn_client_quantity quantities[] = {
        DYN_CLIENT_QUANTITY_FRAME_ARTICULATED_INERTIA, DYN_CLIENT_QUANTITY_FRAME_ARTICULATED_BIAS,
        DYN_CLIENT_QUANTITY_FRAME_ACCELERATION, DYN_CLIENT_QUANTITY_JOINT_WRENCHES};
    const double q[JOINTS] = {0.3, -1.2, 1.4, -0.8, -1.5, 0.4}, v[JOINTS] = {0.5, 0.4, -0.6, 0.2, 0.3, 1},
                 tau[JOINTS] = {10, -40, -15, 2, 1, 0.5};
    const char *const frame = "forearm_link";
    double a[JOINTS];
    dyn_client_evaluation *answer;
    wire_require(dyn_client_forward_dynamics(client, &UR5, q, v, tau, a, &error), &error);
    const quantity_question request = {.q = q,
                                       .v = v,
                                       .a = a,
                                       .tau = tau,
                                       .quantity_count = 4,
                                       .quantities = quantities,
                                       .frame_count = 1,
                                       .frames = &frame,
                                       .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL};
    wire_require(evaluate_quantities(client, &UR5, &request, &error, &answer), &error);
    const double *inertia = answer->results[0].blocks[0].values;
    double f[6];
    for (int half = 0; half < 2; half++) {
        const double *bias = answer->results[1].blocks[half].values;
        for (int i = 0; i < 3; i++) {
            const double *row = inertia + 6 * (3 * half + i);
            f[3 * half + i] = bias[i];
            for (int k = 0; k < 6; k++) {
                f[3 * half + i] += row[k] * answer->results[2].blocks[k / 3].values[k % 3];
            }
        }
        assert_norm_close("wrench", half, f + 3 * half, answer->results[3].blocks[half].values + 3 * LINK, 3, 1e-9);
    }
    dyn_client_evaluation_free(answer);
}
END_TEST

/* The last link carries no joint, so that its articulated inertia is its own. */
START_TEST(the_last_link_has_its_own_inertia) {
    static const dyn_client_quantity quantities[] = {DYN_CLIENT_QUANTITY_FRAME_ARTICULATED_INERTIA,
                                                     DYN_CLIENT_QUANTITY_FRAME_BODY_INERTIA};
    const double q[JOINTS] = {0.3, -1.2, 1.4, -0.8, -1.5, 0.4};
    const char *const frame = "tool0";
    const quantity_question request = {.q = q,
                                       .quantity_count = 2,
                                       .quantities = quantities,
                                       .frame_count = 1,
                                       .frames = &frame,
                                       .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED};
    dyn_client_evaluation *answer;
    wire_require(evaluate_quantities(client, &UR5, &request, &error, &answer), &error);
    assert_norm_close("I_A", 0, answer->results[0].blocks[0].values, answer->results[1].blocks[0].values, 36, 1e-12);
    dyn_client_evaluation_free(answer);
}
END_TEST

/* Compares the daemon with the library, whose numbers property.articulated_inertia checks. On the wire, linear rows and
 * columns come first. */
START_TEST(links_of_coupled_joints_have_articulated_inertias) {
    static const dyn_client_quantity quantities[] = {DYN_CLIENT_QUANTITY_FRAME_ARTICULATED_INERTIA,
                                                     DYN_CLIENT_QUANTITY_FRAME_ARTICULATED_BIAS};
    random_source random = random_seed("articulated inertias on the wire", 2824);
    const random_tree_options options = {.joints = 8, .with_mimic = true, .mimic = DYN_MIMIC_POLICY_COUPLED};
    wire_tree tree;
    wire_tree_open(client, &random, &options, "coupled", &tree);
    ck_assert(dyn_model_has_coupling(tree.model));
    for (int j = 0; j < dyn_model_joint_count(tree.model); j++) {
        int link = dyn_model_joint(tree.model, j)->child_link;
        const char *const frame = dyn_model_link(tree.model, link)->name;
        const quantity_question request = {.q = tree.q,
                                           .v = tree.v,
                                           .tau = tree.tau,
                                           .quantity_count = 2,
                                           .quantities = quantities,
                                           .frame_count = 1,
                                           .frames = &frame,
                                           .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL};
        double inertia[36], bias[6], expected[36];
        dyn_client_evaluation *answer;
        dyn_error wrong;
        wire_require(evaluate_quantities(client, &tree.query, &request, &error, &answer), &error);
        require(dyn_articulated_inertia(tree.model, tree.workspace, 1, NULL, tree.q, tree.v, tree.tau, NULL, link,
                                        DYN_REFERENCE_FRAME_LOCAL, inertia, bias, &wrong),
                &wrong);
        for (int i = 0; i < 36; i++) {
            expected[i] = inertia[(i / 6 + 3) % 6 * 6 + (i + 3) % 6];
        }
        assert_norm_close("I_A", j, answer->results[0].blocks[0].values, expected, 36, 1e-12);
        assert_norm_close("force", j, answer->results[1].blocks[0].values, bias + 3, 3, 1e-12);
        assert_norm_close("moment", j, answer->results[1].blocks[1].values, bias, 3, 1e-12);
        dyn_client_evaluation_free(answer);
    }
    wire_tree_close(&tree);
}
END_TEST

START_TEST(the_world_has_no_articulated_inertia) {
    const double q[JOINTS] = {0};
    const char *const world = "world";
    const dyn_client_quantity_request quantity = {.quantity = DYN_CLIENT_QUANTITY_FRAME_ARTICULATED_INERTIA,
                                                  .frame_count = 1,
                                                  .frames = &world,
                                                  .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL};
    const dyn_client_evaluate_request request =
        DYN_CLIENT_EVALUATE_REQUEST_INIT(.q = q, .quantity_count = 1, .quantities = &quantity);
    dyn_client_evaluation *answer;
    ck_assert_int_eq(dyn_client_evaluate(client, &UR5, &request, &answer, &error), DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "fixed to the world"));
}
END_TEST

int main(void) {
    TCase *all = tcase_create("articulated_inertia");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_test(all, joints_transmit_the_wrenches_of_articulated_bodies);
    tcase_add_test(all, the_last_link_has_its_own_inertia);
    tcase_add_test(all, links_of_coupled_joints_have_articulated_inertias);
    tcase_add_test(all, the_world_has_no_articulated_inertia);
    return run_unforked("articulated_inertia", all);
}
