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
#include "system/runner.h"
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

/* Checks a motion whose accelerations are not stated, for all rows at once and for a row each. */
START_TEST(parts_that_a_motion_does_not_state_are_zero) {
    static const double zeros[3 * ROWS] = {0};
    double tau[6 * ROWS], expected[6 * ROWS];
    dyn_client_query query = UR5;
    for (size_t rows = 1; rows <= ROWS; rows += ROWS - 1) {
        const dyn_client_base_motion partial = {.angular_velocity = angular, .rows = rows},
                                     whole = {zeros, angular, zeros, zeros, rows};
        query.base_motion = &partial;
        wire_require(dyn_client_inverse_dynamics(client, &query, q_rows, v_rows, a_rows, tau, &error), &error);
        query.base_motion = &whole;
        wire_require(dyn_client_inverse_dynamics(client, &query, q_rows, v_rows, a_rows, expected, &error), &error);
        ck_assert_mem_eq(tau, expected, sizeof tau);
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

static const dyn_client_constraint table = {.name = "table",
                                            .kind = DYN_CLIENT_CONSTRAINT_KIND_POINT_ON_PLANE,
                                            .successor = {.link = "tool0"},
                                            .axis = {0, 0.6, 0.8}};

/* A base that accelerates without turning is like gravity that is less by its acceleration, also for a robot whose
 * flange stays in a plane. */
START_TEST(constrained_robots_feel_acceleration_as_gravity) {
    const double lift[3] = {0.5, -0.2, 1.3}, felt[3] = {-0.5, 0.2, -9.81 - 1.3}, tau[6] = {4, -60, -20, 3, 1, 0.5};
    const dyn_client_base_motion motion = {.linear_velocity = linear, .linear_acceleration = lift, .rows = 1};
    const dyn_client_motion_options nearest = {.nearest = true};
    double a[2][6], forces[2][6];
    for (int i = 0; i < 2; i++) {
        dyn_client_query query = UR5;
        query.samples = 1;
        query.constraint_count = 1;
        query.constraints = &table;
        query.base_motion = i ? NULL : &motion;
        query.gravity = i ? felt : NULL;
        wire_require(dyn_client_forward_dynamics(client, &query, q_rows, v_rows, tau, a[i], &error), &error);
        query.motion_options = &nearest;
        wire_require(dyn_client_inverse_dynamics(client, &query, q_rows, v_rows, a_rows, forces[i], &error), &error);
    }
    assert_norm_close("forward dynamics", 0, a[0], a[1], 6, 1e-10);
    assert_norm_close("inverse dynamics", 0, forces[0], forces[1], 6, 1e-10);
}
END_TEST

START_TEST(formulations_of_a_comparison_have_the_moving_base) {
    const dyn_client_base_motion motion = motion_of_rows(1);
    dyn_client_query query = UR5;
    double tau[6];
    query.samples = 1;
    query.base_motion = &motion;
    wire_require(dyn_client_inverse_dynamics(client, &query, q_rows, v_rows, a_rows, tau, &error), &error);
    for (int k = 0; k < 2; k++) {
        dyn_client_comparison *found;
        int compared = 0;
        wire_require(dyn_client_compare(client, &query, q_rows, v_rows, a_rows, &found, &error), &error);
        for (size_t i = 0; i < found->formulation_count; i++) {
            const dyn_client_compared_formulation *one = &found->formulations[i];
            if (!one->refusal) {
                assert_norm_close(one->name, k, one->tau, tau, 6, 1e-9);
                ck_assert_double_le(one->forward_dynamics.difference, 1e-9);
                compared++;
            }
        }
        ck_assert_int_gt(compared, 10);
        dyn_client_comparison_free(found);
        query.constraint_count = 1, query.constraints = &table;
    }
}
END_TEST

/* Asks for inverse and forward dynamics and their derivatives on the moving base. */
static dyn_client_evaluation *ask_derivatives(const dyn_client_query *query, const double *q, const double *v,
                                              const double *tau, size_t count, const dyn_client_quantity *quantities) {
    dyn_client_evaluation *answer;
    const quantity_question request = {
        .q = q, .v = v, .a = a_rows, .tau = tau, .quantity_count = count, .quantities = quantities};
    wire_require(evaluate_quantities(client, query, &request, &error, &answer), &error);
    return answer;
}

/* Compares derivatives of the daemon with central differences of its inverse and forward dynamics. */
static void compare_with_differences(const dyn_client_query *query, const double tau[6], double tolerance,
                                     size_t first) {
    static const dyn_client_quantity dynamics[] = {DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS,
                                                   DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS},
                                     derivatives[] = {DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_Q,
                                                      DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_V,
                                                      DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_Q,
                                                      DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_V};
    const double h = 1e-5;
    size_t count = first ? 1 : 2;
    dyn_client_evaluation *exact = ask_derivatives(query, q_rows, v_rows, tau, 2 * count, derivatives);
    for (int of_v = 0; of_v < 2; of_v++) {
        for (int j = 0; j < 6; j++) {
            double state[2][2][6];
            dyn_client_evaluation *at[2];
            for (int side = 0; side < 2; side++) {
                memcpy(state[side][0], q_rows, sizeof state[side][0]), memcpy(state[side][1], v_rows, 6 * sizeof h);
                state[side][of_v][j] += side ? -h : h;
                at[side] = ask_derivatives(query, state[side][0], state[side][1], tau, count, dynamics);
            }
            for (size_t r = 0; r < count; r++) {
                for (int i = 0; i < 6; i++) {
                    double difference = (at[0]->results[r].blocks[0].values[i] - at[1]->results[r].blocks[0].values[i]);
                    double found = exact->results[2 * r + (size_t)of_v].blocks[0].values[6 * i + j];
                    ck_assert_double_eq_tol(found, difference / (2 * h), tolerance * (1 + fabs(found)));
                }
            }
            dyn_client_evaluation_free(at[0]), dyn_client_evaluation_free(at[1]);
        }
    }
    dyn_client_evaluation_free(exact);
}

START_TEST(derivatives_are_the_limits_of_differences) {
    static const dyn_client_quantity along[] = {
        DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_ALONG, DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_ALONG,
        DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_Q,  DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_V,
        DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_Q,  DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_V};
    const double tau[6] = {4, -60, -20, 3, 1, 0.5};
    const dyn_client_base_motion motion = motion_of_rows(1);
    dyn_client_query query = UR5;
    query.samples = 1, query.base_motion = &motion;
    compare_with_differences(&query, tau, 1e-6, 0);
    const quantity_question request = {.q = q_rows,
                                       .v = v_rows,
                                       .a = a_rows,
                                       .tau = tau,
                                       .dq = a_rows + 6,
                                       .dv = v_rows + 6,
                                       .quantity_count = 6,
                                       .quantities = along};
    dyn_client_evaluation *answer;
    wire_require(evaluate_quantities(client, &query, &request, &error, &answer), &error);
    for (size_t r = 0; r < 2; r++) {
        for (int i = 0; i < 6; i++) {
            double sum = 0;
            for (int j = 0; j < 6; j++) {
                sum += answer->results[2 + 2 * r].blocks[0].values[6 * i + j] * a_rows[6 + j] +
                       answer->results[3 + 2 * r].blocks[0].values[6 * i + j] * v_rows[6 + j];
            }
            ck_assert_double_eq_tol(answer->results[r].blocks[0].values[i], sum, 1e-9 * (1 + fabs(sum)));
        }
    }
    dyn_client_evaluation_free(answer);
    query.constraint_count = 1, query.constraints = &table;
    compare_with_differences(&query, tau, 1e-5, 1);
}
END_TEST

/* Steps of a motion without stops, damping, friction and effort limits. */
static const dyn_client_stepping ideal = {.struct_size = sizeof(dyn_client_stepping),
                                          .step_length = 1e-3,
                                          .stop = DYN_CLIENT_JOINT_STOP_NONE,
                                          .ignore_damping = true,
                                          .ignore_friction = true,
                                          .ignore_effort_limits = true};

/* Rolls out n states. Returns a result that the caller frees. */
static dyn_client_rollout *roll_out(const dyn_client_query *query, const double *q, const double *v, size_t steps,
                                    bool is_accurate) {
    dyn_client_rollout *rollout;
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q, .v = v, .stepping = &ideal, .steps = steps, .only_last = true,
                                        .is_accurate = is_accurate);
    wire_require(dyn_client_rollout_run(client, query, &request, &rollout, &error), &error);
    return rollout;
}

START_TEST(rollouts_have_a_motion_for_each_sample_and_for_each_step) {
    enum { STEPS = 2 };
    const dyn_client_base_motion rows = motion_of_rows(ROWS);
    double ends[6 * ROWS];
    dyn_client_query query = UR5;
    query.base_motion = &rows;
    dyn_client_rollout *all = roll_out(&query, q_rows, v_rows, STEPS, false);
    query.samples = 1;
    for (size_t r = 0; r < ROWS; r++) {
        const dyn_client_base_motion one = {linear + 3 * r, angular + 3 * r, linear_rate + 3 * r, angular_rate + 3 * r,
                                            1};
        query.base_motion = &one;
        dyn_client_rollout *alone = roll_out(&query, q_rows + 6 * r, v_rows + 6 * r, STEPS, false);
        ck_assert_mem_eq(alone->q, all->q + 6 * r, 6 * sizeof(double));
        ck_assert_mem_eq(alone->v, all->v + 6 * r, 6 * sizeof(double));
        memcpy(ends + 6 * r, alone->v, 6 * sizeof(double));
        dyn_client_rollout_free(alone);
    }
    query.base_motion = NULL;
    dyn_client_rollout *still = roll_out(&query, q_rows, v_rows, STEPS, false);
    ck_assert_mem_ne(still->v, all->v, 6 * sizeof(double));
    dyn_client_rollout_free(still), dyn_client_rollout_free(all);
    /* Two steps with a motion of their own are two rollouts of one step. */
    const dyn_client_base_motion first = motion_of_rows(1), steps = motion_of_rows(STEPS);
    const dyn_client_base_motion second = {linear + 3, angular + 3, linear_rate + 3, angular_rate + 3, 1};
    query.base_motion = &steps;
    dyn_client_rollout *both = roll_out(&query, q_rows, v_rows, STEPS, false);
    query.base_motion = &first;
    dyn_client_rollout *begin = roll_out(&query, q_rows, v_rows, 1, false);
    query.base_motion = &second;
    dyn_client_rollout *end = roll_out(&query, begin->q, begin->v, 1, false);
    ck_assert_mem_eq(end->q, both->q, 6 * sizeof(double));
    ck_assert_mem_eq(end->v, both->v, 6 * sizeof(double));
    dyn_client_rollout_free(both), dyn_client_rollout_free(begin), dyn_client_rollout_free(end);
}
END_TEST

START_TEST(accurate_rollouts_are_the_limit_of_short_steps) {
    const dyn_client_base_motion motion = motion_of_rows(1);
    double difference[2];
    dyn_client_query query = UR5;
    query.samples = 1, query.base_motion = &motion;
    dyn_client_rollout *accurate = roll_out(&query, q_rows, v_rows, 100, true);
    for (int k = 0; k < 2; k++) {
        dyn_client_stepping stepping = ideal;
        dyn_client_rollout *rollout;
        stepping.integrator = DYN_CLIENT_INTEGRATOR_RK4, stepping.step_length = k ? 5e-3 : 1e-2;
        const dyn_client_rollout_request request =
            DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q_rows, .v = v_rows, .stepping = &stepping, .steps = k ? 20 : 10,
                                            .only_last = true);
        wire_require(dyn_client_rollout_run(client, &query, &request, &rollout, &error), &error);
        difference[k] = 0;
        for (int i = 0; i < 6; i++) {
            difference[k] += fabs(rollout->q[i] - accurate->q[i]);
        }
        dyn_client_rollout_free(rollout);
    }
    ck_assert_double_lt(difference[0], 1e-4);
    ck_assert_double_lt(difference[1], difference[0] / 10);
    dyn_client_rollout_free(accurate);
}
END_TEST

/* Creates a simulation in lockstep, and steps it. */
static dyn_client_simulation *step(const char *name, uint64_t token, const dyn_client_base_motion *base) {
    dyn_client_simulation *after;
    const dyn_client_simulation_input input = DYN_CLIENT_SIMULATION_INPUT_INIT(.nq = 6, .nv = 6, .base_motion = base);
    wire_require(dyn_client_step_simulation(client, name, token, 2, &input, 0, &after, &error), &error);
    return after;
}

START_TEST(simulations_move_with_the_base_that_their_input_states) {
    const dyn_client_base_motion first = motion_of_rows(1), rest = {.linear_velocity = linear, .rows = 1};
    const dyn_client_base_motion second = {linear + 3, angular + 3, linear_rate + 3, angular_rate + 3, 1};
    uint64_t token;
    dyn_client_simulation *simulation;
    dyn_client_query query = UR5;
    query.samples = 1, query.base_motion = &first;
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "ship", .query = &query, .nq = 6, .nv = 6, .q = q_rows, .v = v_rows,
                                           .stepping = &ideal, .pace = DYN_CLIENT_PACE_LOCKSTEP);
    wire_require(dyn_client_create_simulation(client, &options, &token, &simulation, &error), &error);
    dyn_client_simulation_free(simulation);
    wire_require(dyn_client_record_simulation(client, "ship", token, "voyage", 0, &error), &error);
    dyn_client_rollout *expected[3] = {roll_out(&query, q_rows, v_rows, 2, false)};
    query.base_motion = &second;
    expected[1] = roll_out(&query, expected[0]->q, expected[0]->v, 2, false);
    query.base_motion = NULL;
    expected[2] = roll_out(&query, expected[1]->q, expected[1]->v, 2, false);
    const dyn_client_base_motion *const inputs[] = {NULL, &second, &rest};
    for (int k = 0; k < 3; k++) {
        simulation = step("ship", token, inputs[k]);
        assert_norm_close("positions", k, simulation->q, expected[k]->q, 6, 1e-12);
        assert_norm_close("velocities", k, simulation->v, expected[k]->v, 6, 1e-12);
        dyn_client_simulation_free(simulation);
        dyn_client_rollout_free(expected[k]);
    }
    wire_require(dyn_client_get_simulation(client, "ship", token, 0, &simulation, &error), &error);
    ck_assert_ptr_nonnull(simulation->base_motion);
    ck_assert_double_eq(simulation->base_motion->linear_velocity[1], linear[1]);
    ck_assert_double_eq(simulation->base_motion->angular_acceleration[2], 0);
    dyn_client_simulation_free(simulation);
    wire_require(dyn_client_stop_recording(client, "ship", token, 0, NULL, NULL, &error), &error);
    dyn_client_replay *replay;
    wire_require(dyn_client_replay_simulation(client, "voyage", NULL, NULL, &replay, &error), &error);
    ck_assert_uint_eq(replay->steps, 6);
    ck_assert_uint_eq(replay->equal_steps, 6);
    dyn_client_replay_free(replay);
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
    tcase_add_test(all, parts_that_a_motion_does_not_state_are_zero);
    tcase_add_test(all, frames_move_with_the_base);
    tcase_add_test(all, constrained_robots_feel_acceleration_as_gravity);
    tcase_add_test(all, formulations_of_a_comparison_have_the_moving_base);
    tcase_add_test(all, derivatives_are_the_limits_of_differences);
    tcase_add_test(all, rollouts_have_a_motion_for_each_sample_and_for_each_step);
    tcase_add_test(all, accurate_rollouts_are_the_limit_of_short_steps);
    tcase_add_test(all, simulations_move_with_the_base_that_their_input_states);
    tcase_add_test(all, wrong_motions_and_methods_without_them_are_named);
    return run_unforked("base_motion", all);
}
