/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks requests with a base that moves, through the daemon: results are those of the same robot on a floating joint
 * that moves so, which the library computes in this process.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/assertions.h"
#include "system/client_fixture.h"
#include "system/quantity_question.h"
#include "system/unforked.h"
#include "system/wire_tree.h"

enum { TREES = 8, ROWS = 3 };

static dyn_client_error error;

/* Motion of a base, in the client's form: for one state and for ROWS of them. */
static const double linear[3 * ROWS] = {0.7, -1.2, 0.4, 0.1, 0.5, -0.3, 1, 0, 0.2},
                               angular[3 * ROWS] = {-0.6, 0.9, 1.3, 0.2, -0.8, 0.4, 0, 0.3, -1},
                               linear_rate[3 * ROWS] = {2, -1, 0.5, 1, 1, -2, 0.3, 0.2, 0.1},
                               angular_rate[3 * ROWS] = {0.4, 1.1, -0.7, -1, 0.2, 0.6, 0.5, -0.5, 2};

static dyn_client_base_motion motion_of_rows(size_t rows) {
    return (dyn_client_base_motion){linear, angular, linear_rate, angular_rate, rows};
}

/* Returns the robot of a fixed base on a floating joint. */
static dyn_model *float_model(const dyn_model *model) {
    dyn_builder *builder;
    dyn_model *floating;
    dyn_error failure;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    require(dyn_model_describe(model, &builder, &failure), &failure);
    require(dyn_model_build_options(model, &options, &failure), &failure);
    options.base = DYN_BASE_FLOATING;
    require(dyn_builder_build(builder, &options, NULL, &floating, &failure), &failure);
    dyn_builder_free(builder);
    return floating;
}

/* Computes tau of a state on the moving base from the floating robot. The linear acceleration of the floating joint is
 * less by w x v than that of the base. */
static void find_expected(const dyn_model *floating, const wire_tree *tree, const double *a, double *tau) {
    size_t nq = tree->query.nq, nv = tree->query.nv;
    double *q = numbers(nq + 7), *v = numbers(nv + 6), *rates = numbers(nv + 6), *all = numbers(nv + 6);
    const double *w = angular;
    dyn_workspace *workspace;
    dyn_error failure;
    require(dyn_workspace_create(floating, &workspace, &failure), &failure);
    q[6] = 1;
    memcpy(v, linear, 3 * sizeof *v), memcpy(v + 3, angular, 3 * sizeof *v);
    memcpy(rates + 3, angular_rate, 3 * sizeof *v);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        rates[i] = linear_rate[i] - (w[j] * linear[k] - w[k] * linear[j]);
    }
    memcpy(q + 7, tree->q, nq * sizeof *q), memcpy(v + 6, tree->v, nv * sizeof *v);
    if (a) {
        memcpy(rates + 6, a, nv * sizeof *v);
    }
    require(dyn_rnea(floating, workspace, 1, NULL, q, v, rates, NULL, all, &failure), &failure);
    memcpy(tau, all + 6, nv * sizeof *tau);
    dyn_workspace_free(workspace);
    free(q), free(v), free(rates), free(all);
}

START_TEST(dynamics_are_those_of_a_floating_joint_that_follows_the_base) {
    static const dyn_client_quantity quantities[] = {
        DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS, DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS, DYN_CLIENT_QUANTITY_MASS_MATRIX};
    const dyn_client_base_motion motion = motion_of_rows(1);
    random_source base = random_seed("requests with a moving base", 2810);
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        const random_tree_options options = {.joints = 2 + k, .with_mimic = k % 2, .with_fixed = true};
        wire_tree tree;
        wire_tree_open(client, &random, &options, "mounted", &tree);
        dyn_model *floating = float_model(tree.model);
        size_t nv = tree.query.nv;
        double *tau = numbers(nv), *h = numbers(nv), *x = numbers(nv);
        find_expected(floating, &tree, tree.a, tau), find_expected(floating, &tree, NULL, h);
        tree.query.base_motion = &motion;
        wire_require(dyn_client_inverse_dynamics(client, &tree.query, tree.q, tree.v, tree.a, x, &error), &error);
        assert_norm_close("inverse dynamics", k, x, tau, nv, 1e-11);
        wire_require(dyn_client_bias_forces(client, &tree.query, tree.q, tree.v, x, &error), &error);
        assert_norm_close("bias forces", k, x, h, nv, 1e-11);
        wire_require(dyn_client_forward_dynamics(client, &tree.query, tree.q, tree.v, tau, x, &error), &error);
        assert_norm_close("forward dynamics", k, x, tree.a, nv, 1e-9);
        const quantity_question request = {
            .q = tree.q, .v = tree.v, .a = tree.a, .tau = tau, .quantity_count = 3, .quantities = quantities};
        dyn_client_evaluation *answer;
        wire_require(evaluate_quantities(client, &tree.query, &request, &error, &answer), &error);
        assert_norm_close("evaluated inverse dynamics", k, answer->results[0].blocks[0].values, tau, nv, 1e-11);
        assert_norm_close("evaluated forward dynamics", k, answer->results[1].blocks[0].values, tree.a, nv, 1e-9);
        dyn_client_evaluation_free(answer);
        free(tau), free(h), free(x);
        dyn_model_free(floating);
        wire_tree_close(&tree);
    }
}
END_TEST

/* A state of each row, of the sample robot. */
static const double q_rows[6 * ROWS] = {0.3, -1.2, 1.4, -0.8, -1.5, 0.4, 0,   -1,  1,
                                        0.5, 0.5,  0.5, 1,    -0.5, 0.2, 0.1, 0.3, 0.6},
                               v_rows[6 * ROWS] = {0.5, 0.4, -0.6, 0.2, 0.3, 1,   1,   -1,  1,
                                                   -1,  1,   -1,   0.1, 0.2, 0.3, 0.4, 0.5, 0.6},
                               a_rows[6 * ROWS] = {1, 2, 3, -1, -2, -3, 0.5, 0.5, 0.5,
                                                   0, 0, 0, 2,  -2, 1,  -1,  0.5, -0.5};

static const dyn_client_query UR5 = {
    .struct_size = sizeof(dyn_client_query), .model = "ur5", .nq = 6, .nv = 6, .samples = ROWS};

START_TEST(every_row_has_its_own_motion) {
    const dyn_client_base_motion rows = motion_of_rows(ROWS);
    double together[6 * ROWS], alone[6 * ROWS], formulated[6 * ROWS];
    dyn_client_trajectory *trajectory;
    dyn_client_query query = UR5;
    query.base_motion = &rows;
    wire_require(dyn_client_inverse_dynamics(client, &query, q_rows, v_rows, a_rows, together, &error), &error);
    for (size_t r = 0; r < ROWS; r++) {
        const dyn_client_base_motion one = {linear + 3 * r, angular + 3 * r, linear_rate + 3 * r, angular_rate + 3 * r,
                                            1};
        query.samples = 1;
        query.base_motion = &one;
        wire_require(dyn_client_inverse_dynamics(client, &query, q_rows + 6 * r, v_rows + 6 * r, a_rows + 6 * r,
                                                 alone + 6 * r, &error),
                     &error);
    }
    ck_assert_mem_eq(together, alone, sizeof alone);
    query = UR5;
    query.base_motion = &rows;
    wire_require(dyn_client_inverse_dynamics_trajectory(client, &query, NULL, q_rows, v_rows, a_rows,
                                                        DYN_CLIENT_RATES_GIVEN, NULL, &trajectory, &error),
                 &error);
    ck_assert_mem_eq(trajectory->tau, alone, sizeof alone);
    dyn_client_trajectory_free(trajectory);
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"newton_euler", "lagrange_euler", "spatial_operator_algebra"};
        query.formulation = names[i];
        wire_require(dyn_client_inverse_dynamics(client, &query, q_rows, v_rows, a_rows, formulated, &error), &error);
        assert_norm_close(names[i], 0, formulated, alone, 6 * ROWS, 1e-9);
    }
}
END_TEST

/* The flange of a robot that does not move moves with its base: v + w x p, and a + dw x p + w x (w x p). */
START_TEST(frames_move_with_the_base) {
    static const dyn_client_quantity quantities[] = {DYN_CLIENT_QUANTITY_FRAME_POSE, DYN_CLIENT_QUANTITY_FRAME_TWIST,
                                                     DYN_CLIENT_QUANTITY_FRAME_ACCELERATION};
    const dyn_client_base_motion motion = motion_of_rows(1);
    const char *const frame = "tool0";
    const quantity_question request = {.q = q_rows,
                                       .quantity_count = 3,
                                       .quantities = quantities,
                                       .frame_count = 1,
                                       .frames = &frame,
                                       .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED};
    dyn_client_evaluation *answer;
    dyn_client_query query = UR5;
    query.samples = 1;
    query.base_motion = &motion;
    wire_require(evaluate_quantities(client, &query, &request, &error, &answer), &error);
    const double *p = answer->results[0].blocks[0].values, *v = answer->results[1].blocks[0].values,
                 *a = answer->results[2].blocks[0].values;
    double turning[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        turning[i] = angular[j] * p[k] - angular[k] * p[j];
        ck_assert_double_eq_tol(v[i], linear[i] + turning[i], 1e-12);
        ck_assert_double_eq_tol(answer->results[1].blocks[1].values[i], angular[i], 1e-12);
        ck_assert_double_eq_tol(answer->results[2].blocks[1].values[i], angular_rate[i], 1e-12);
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double expected = linear_rate[i] + angular_rate[j] * p[k] - angular_rate[k] * p[j] + angular[j] * turning[k] -
                          angular[k] * turning[j];
        ck_assert_double_eq_tol(a[i], expected, 1e-12);
    }
    dyn_client_evaluation_free(answer);
}
END_TEST

/* A base that accelerates without turning is like gravity that is less by its acceleration, also for a robot whose
 * flange stays in a plane. */
START_TEST(constrained_robots_feel_acceleration_as_gravity) {
    const double lift[3] = {0.5, -0.2, 1.3}, felt[3] = {-0.5, 0.2, -9.81 - 1.3}, tau[6] = {4, -60, -20, 3, 1, 0.5};
    const dyn_client_base_motion motion = {.linear_velocity = linear, .linear_acceleration = lift, .rows = 1};
    const dyn_client_constraint table = {.name = "table",
                                         .kind = DYN_CLIENT_CONSTRAINT_KIND_POINT_ON_PLANE,
                                         .successor = {.link = "tool0"},
                                         .axis = {0, 0.6, 0.8}};
    double a[2][6], forces[2][6];
    for (int i = 0; i < 2; i++) {
        dyn_client_query query = UR5;
        query.samples = 1;
        query.constraint_count = 1;
        query.constraints = &table;
        query.base_motion = i ? NULL : &motion;
        query.gravity = i ? felt : NULL;
        wire_require(dyn_client_forward_dynamics(client, &query, q_rows, v_rows, tau, a[i], &error), &error);
        wire_require(dyn_client_inverse_dynamics(client, &query, q_rows, v_rows, a_rows, forces[i], &error), &error);
    }
    assert_norm_close("forward dynamics", 0, a[0], a[1], 6, 1e-10);
    assert_norm_close("inverse dynamics", 0, forces[0], forces[1], 6, 1e-10);
}
END_TEST

static void expect_refusal(dyn_client_status status, const char *field) {
    ck_assert_int_eq(status, DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, field);
}

START_TEST(wrong_motions_and_methods_without_them_are_named) {
    const double bad[3] = {0, NAN, 0};
    double x[36];
    dyn_client_base_motion motion = {.angular_velocity = bad, .rows = 1};
    dyn_client_query query = UR5;
    query.samples = 1;
    query.base_motion = &motion;
    expect_refusal(dyn_client_inverse_dynamics(client, &query, q_rows, NULL, NULL, x, &error),
                   "inverse_dynamics.query.base_motion.angular_velocity[1]");
    motion = motion_of_rows(2);
    expect_refusal(dyn_client_inverse_dynamics(client, &query, q_rows, NULL, NULL, x, &error), "query.base_motion");
    motion = motion_of_rows(1);
    expect_refusal(dyn_client_mass_matrix(client, &query, q_rows, x, &error), "mass_matrix.query.base_motion");
    const dyn_client_quantity_request both[] = {{.quantity = DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS},
                                                {.quantity = DYN_CLIENT_QUANTITY_KINETIC_ENERGY}};
    const dyn_client_evaluate_request request =
        DYN_CLIENT_EVALUATE_REQUEST_INIT(.q = q_rows, .quantity_count = 2, .quantities = both);
    dyn_client_evaluation *answer;
    expect_refusal(dyn_client_evaluate(client, &query, &request, &answer, &error), "evaluate.query.base_motion");
    ck_assert_ptr_nonnull(strstr(error.message, "KINETIC_ENERGY"));
}
END_TEST

int main(void) {
    TCase *all = tcase_create("base_motion");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_test(all, dynamics_are_those_of_a_floating_joint_that_follows_the_base);
    tcase_add_test(all, every_row_has_its_own_motion);
    tcase_add_test(all, frames_move_with_the_base);
    tcase_add_test(all, constrained_robots_feel_acceleration_as_gravity);
    tcase_add_test(all, wrong_motions_and_methods_without_them_are_named);
    return run_unforked("base_motion", all);
}
