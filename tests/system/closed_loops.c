/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks forward dynamics of models with constraints by the daemon: the numbers of a two-link arm whose tip keeps its
 * height, and accelerations of real robots with closed loops. The latter are skipped where the reference values are
 * missing.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/assertions.h"
#include "support/closed_loop_reference.h"
#include "system/client_fixture.h"
#include "system/runner.h"
#include "system/wire_tree.h"

static dyn_client_error error;

static const char reference_directory[] = DYNAMICS_REFERENCE_DIR "/closed_loops";

/* Loads a model into the daemon, and replaces the model of that name where there is one. */
static void send_model(const dyn_model *model, const char *name) {
    dyn_client_loaded_model *loaded;
    dyn_client_model_description *form = wire_description(model);
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.description = form, .name = name, .replace = true);
    wire_require(dyn_client_load_model(client, &request, &loaded, &error), &error);
    ck_assert_uint_eq(loaded->model.constraint_rows, (size_t)dyn_model_constraint_rows(model));
    dyn_client_loaded_model_free(loaded);
    wire_description_free(form);
}

/* ---- two links --------------------------------------------------------------------------------------------------- */

/* Returns the sample robot two_link with a constraint that holds its tip at the height 1 m; the caller frees it. */
static dyn_model *tip_at_height(void) {
    static const dyn_pose identity = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    char text[8192];
    dyn_error failed;
    dyn_builder *builder;
    dyn_model *model;
    FILE *file = fopen(DYNAMICS_ROBOTS_DIR "/two_link.urdf", "r");
    ck_assert(file);
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    require(dyn_urdf_read(text, length, NULL, &builder, &failed), &failed);
    dyn_constraint_description height = {.name = "height",
                                         .kind = DYN_CONSTRAINT_KIND_POINT_ON_PLANE,
                                         .axis = {0, 0, 1},
                                         .predecessor = {NULL, identity},
                                         .successor = {"tip", identity}};
    height.predecessor.pose.position[2] = 1;
    require(dyn_builder_add_constraint(builder, &height, &failed), &failed);
    require(dyn_builder_build(builder, NULL, NULL, &model, &failed), &failed);
    dyn_builder_free(builder);
    return model;
}

/* Checks the arm of Modern Robotics, section 8.1, at q = (0, 90 deg). Its multiplier is the negative of the book's. */
START_TEST(the_tip_of_two_links_keeps_its_height) {
    const double q[3][2] = {{0, M_PI / 2}, {0, M_PI / 2}, {0, M_PI / 2}}, v[3][2] = {{0, 0}, {0, 0}, {0, 1}};
    const double tau[3][2] = {{0, 0}, {0, 1}, {0, 0}}, a[6] = {0, 0, 0, 1, 1, -1}, lambda[3] = {19.62, 20.62, 20.62};
    dyn_model *model = tip_at_height();
    send_model(model, "arm");
    dyn_model_free(model);
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "arm", .nq = 2, .nv = 2, .samples = 3);
    for (int method = 0; method <= DYN_CLIENT_CONSTRAINT_METHOD_EMBEDDING; method++) {
        dyn_client_constrained_motion *motion;
        const dyn_client_constraint_options options =
            DYN_CLIENT_CONSTRAINT_OPTIONS_INIT(.method = (dyn_client_constraint_method)method);
        wire_require(
            dyn_client_constrained_forward_dynamics(client, &query, q[0], v[0], tau[0], &options, &motion, &error),
            &error);
        ck_assert_int_eq(motion->method, method ? method : DYN_CLIENT_CONSTRAINT_METHOD_MULTIPLIERS);
        ck_assert_uint_eq(motion->rows, 1);
        assert_norm_close("accelerations", method, motion->a, a, 6, 1e-12);
        assert_norm_close("multipliers", method, motion->multipliers, lambda, 3, 1e-12);
        for (int s = 0; s < 3; s++) {
            ck_assert_uint_eq(motion->ranks[s], 1);
            ck_assert_double_le(motion->residuals[s], 1e-12);
            ck_assert_double_eq_tol(motion->conditions[s], 1, 1e-5);
        }
        dyn_client_constrained_motion_free(motion);
    }
}
END_TEST

/* Checks stabilization, z'' = -2 k z' - k^2 e, for the arm in another order of its joints and with its tip 1 mm and 1
 * mm/s off. */
START_TEST(stabilization_and_the_order_of_joints_reach_the_accelerations) {
    const char *const names[] = {"joint2", "joint1"};
    const double q[2] = {M_PI / 2, 0.001}, v[2] = {0, 0.001}, k = 10;
    dyn_client_constrained_motion *motion;
    dyn_model *model = tip_at_height();
    send_model(model, "arm");
    dyn_model_free(model);
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "arm", .nq = 2, .nv = 2, .samples = 1, .joint_names = names, .joint_count = 2);
    const dyn_client_constraint_options options = DYN_CLIENT_CONSTRAINT_OPTIONS_INIT(.stabilization = k);
    wire_require(dyn_client_constrained_forward_dynamics(client, &query, q, v, NULL, &options, &motion, &error),
                 &error);
    /* Height of the tip: z = sin q1 + sin(q1 + q2). */
    double c1 = cos(q[1]), s1 = sin(q[1]), c12 = cos(q[0] + q[1]), s12 = sin(q[0] + q[1]);
    double rate = (c1 + c12) * v[1] + c12 * v[0], e = s1 + s12 - 1;
    double z = (c1 + c12) * motion->a[1] + c12 * motion->a[0] - s1 * v[1] * v[1] - s12 * (v[0] + v[1]) * (v[0] + v[1]);
    ck_assert_double_eq_tol(z, -2 * k * rate - k * k * e, 1e-12);
    dyn_client_constrained_motion_free(motion);
}
END_TEST

/* Checks the torques of the arm for the motions above. The constraint provides all of the force that joint 1 needs, and
 * none of that of joint 2. */
START_TEST(torques_of_the_arm_are_those_that_its_constraint_does_not_provide) {
    const double q[3][2] = {{0, M_PI / 2}, {0, M_PI / 2}, {0, M_PI / 2}}, v[3][2] = {{0, 0}, {0, 0}, {0, 1}};
    const double a[3][2] = {{0, 0}, {0, 1}, {1, -1}}, expected[6] = {0, 0, 0, 1, 0, 0};
    double tau[6];
    dyn_model *model = tip_at_height();
    send_model(model, "arm");
    dyn_model_free(model);
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "arm", .nq = 2, .nv = 2, .samples = 3);
    wire_require(dyn_client_inverse_dynamics(client, &query, q[0], v[0], a[0], tau, &error), &error);
    for (int i = 0; i < 6; i++) {
        ck_assert_double_eq_tol(tau[i], expected[i], 1e-12);
    }
}
END_TEST

/* Compares all formulations for a model with constraints: those that apply have the accelerations of the daemon's own
 * algorithm, and the others say why they do not apply. Returns the number of those that apply. */
static int check_comparison(const dyn_client_query *query, const double *q, const double *v, const double *a) {
    dyn_client_comparison *found;
    dyn_client_constrained_motion *motion;
    int count = 0;
    wire_require(dyn_client_compare(client, query, q, v, a, &found, &error), &error);
    wire_require(
        dyn_client_constrained_forward_dynamics(client, query, q, v, found->formulations[0].tau, NULL, &motion, &error),
        &error);
    for (size_t i = 0; i < found->formulation_count; i++) {
        const dyn_client_compared_formulation *row = &found->formulations[i];
        if (row->refusal) {
            ck_assert_msg(strstr(row->refusal, row->name) && strstr(row->refusal, "choose another"), "%s",
                          row->refusal);
            continue;
        }
        assert_norm_close(row->name, (int)i, row->a, motion->a, query->nv, 1e-7);
        ck_assert(i == 0 || !row->forward_dynamics.is_stated);
        count++;
    }
    dyn_client_constrained_motion_free(motion);
    dyn_client_comparison_free(found);
    return count;
}

START_TEST(formulations_of_the_arm_with_its_constraint_are_compared) {
    const double q[2] = {0, M_PI / 2}, v[2] = {0, 1}, a[2] = {1, -1};
    dyn_model *model = tip_at_height();
    send_model(model, "arm");
    dyn_model_free(model);
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "arm", .nq = 2, .nv = 2, .samples = 1);
    ck_assert_int_gt(check_comparison(&query, q, v, a), 12);
}
END_TEST

/* ---- options ----------------------------------------------------------------------------------------------------- */

static void expect_refusal(const char *model, int method, double stabilization, const char *field, const char *said) {
    const double q[2] = {0, 0};
    dyn_client_constrained_motion *motion;
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = model, .nq = 2, .nv = 2, .samples = 1);
    const dyn_client_constraint_options options =
        DYN_CLIENT_CONSTRAINT_OPTIONS_INIT(.method = (dyn_client_constraint_method)method,
                                           .stabilization = stabilization);
    ck_assert_int_eq(dyn_client_constrained_forward_dynamics(client, &query, q, NULL, NULL, &options, &motion, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, said) != NULL, "%s", error.message);
}

START_TEST(options_that_do_not_fit_are_refused_by_field) {
    dyn_model *model = tip_at_height();
    send_model(model, "arm");
    dyn_model_free(model);
    expect_refusal("arm", 7, 0, "forward_dynamics.constraint_method", "constraint_method is 7");
    expect_refusal("arm", 0, -1, "forward_dynamics.constraint_stabilization", "-1");
    expect_refusal("arm", 0, NAN, "forward_dynamics.constraint_stabilization", "nan");
    expect_refusal("two_link", 2, 0, "forward_dynamics.constraint_method", "has no constraints");
    expect_refusal("two_link", 0, 1, "forward_dynamics.constraint_stabilization", "has no constraints");
}
END_TEST

/* Checks that a model without constraints has the accelerations of the forward dynamics of trees, and no
 * multipliers. */
START_TEST(a_model_without_constraints_has_no_multipliers) {
    const double q[2] = {0.3, -0.7}, v[2] = {1, 2}, tau[2] = {3, 4};
    double a[2];
    dyn_client_constrained_motion *motion;
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = 1);
    wire_require(dyn_client_forward_dynamics(client, &query, q, v, tau, a, &error), &error);
    wire_require(dyn_client_constrained_forward_dynamics(client, &query, q, v, tau, NULL, &motion, &error), &error);
    ck_assert_uint_eq(motion->rows, 0);
    ck_assert(memcmp(a, motion->a, sizeof a) == 0);
    dyn_client_constrained_motion_free(motion);
}
END_TEST

/* ---- real robots ------------------------------------------------------------------------------------------------- */

/* Opens a reference and sends the files of its robot to the daemon. */
static void open_reference(const char *robot, closed_loop_reference *reference) {
    dyn_client_loaded_model *loaded;
    closed_loop_reference_open(reference_directory, robot, reference);
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = reference->urdf, .loops = reference->loops, .name = robot,
                                     .mimic = DYN_CLIENT_MIMIC_POLICY_INDEPENDENT, .replace = true);
    wire_require(dyn_client_load_model(client, &request, &loaded, &error), &error);
    ck_assert_uint_eq(loaded->model.constraint_rows, reference->m);
    dyn_client_loaded_model_free(loaded);
}

/* Compares accelerations, multipliers and ranks of all states of a robot, computed as one batch, with the reference. */
static void check_robot(const char *robot) {
    closed_loop_reference reference;
    open_reference(robot, &reference);
    size_t n = reference.state_count, nq = reference.nq, nv = reference.nv, m = reference.m;
    double *q = numbers(n * nq), *v = numbers(n * nv), *tau = numbers(n * nv), *a = numbers(n * nv),
           *lambda = numbers(n * m);
    int *ranks = calloc(n, sizeof *ranks);
    for (size_t s = 0; s < n; s++) {
        closed_loop_state state = {q + s * nq, v + s * nv, tau + s * nv, a + s * nv, lambda + s * m, 0};
        closed_loop_reference_state(&reference, s, &state);
        ranks[s] = state.rank;
    }
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = robot, .nq = nq, .nv = nv, .samples = n);
    for (int method = 1; method <= 4; method++) {
        dyn_client_constrained_motion *motion;
        const dyn_client_constraint_options options =
            DYN_CLIENT_CONSTRAINT_OPTIONS_INIT(.method = (dyn_client_constraint_method)method);
        wire_require(dyn_client_constrained_forward_dynamics(client, &query, q, v, tau, &options, &motion, &error),
                     &error);
        for (size_t s = 0; s < n; s++) {
            assert_norm_close(robot, (int)s, motion->a + s * nv, a + s * nv, nv, 1e-7);
            assert_norm_close(robot, (int)s, motion->multipliers + s * m, lambda + s * m, m, 1e-6);
            ck_assert_uint_eq(motion->ranks[s], (size_t)ranks[s]);
        }
        dyn_client_constrained_motion_free(motion);
    }
    free(q), free(v), free(tau), free(a), free(lambda), free(ranks);
    closed_loop_reference_close(&reference);
}

/* Computes accelerations of a batch by the daemon. */
static void accelerate(const dyn_client_query *query, const double *q, const double *v, const double *tau, double *a) {
    wire_require(dyn_client_forward_dynamics(client, query, q, v, tau, a, &error), &error);
}

/* Computes the motion of all states of a robot under the reference forces of its motors, then the least forces for that
 * motion, then their motion. */
static void check_motors(const char *robot) {
    closed_loop_reference reference;
    open_reference(robot, &reference);
    size_t n = reference.state_count, nq = reference.nq, nv = reference.nv;
    double *q = numbers(n * nq), *v = numbers(n * nv), *tau = numbers(n * nv), *a = numbers(n * nv),
           *lambda = numbers(reference.m), *least = numbers(n * nv), *again = numbers(n * nv);
    for (size_t s = 0; s < n; s++) {
        closed_loop_state state = {q + s * nq, v + s * nv, tau + s * nv, a + s * nv, lambda, 0};
        closed_loop_reference_state(&reference, s, &state);
        for (int j = 0; j < dyn_model_joint_count(reference.model); j++) {
            const int at = dyn_model_joint(reference.model, j)->v_index;
            tau[s * nv + (size_t)at] *= dyn_model_joint_is_passive(reference.model, j) ? 0 : 1;
        }
    }
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = robot, .nq = nq, .nv = nv, .samples = n);
    accelerate(&query, q, v, tau, a);
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, least, &error), &error);
    accelerate(&query, q, v, least, again);
    for (size_t s = 0; s < n; s++) {
        assert_norm_close(robot, (int)s, again + s * nv, a + s * nv, nv, 1e-7);
        ck_assert_double_le(norm(least + s * nv, nv), norm(tau + s * nv, nv) * (1 + 1e-6));
    }
    free(q), free(v), free(tau), free(a), free(lambda), free(least), free(again);
    closed_loop_reference_close(&reference);
}

START_TEST(torques_of_motors_of_real_robots_produce_the_motion) {
    for (size_t i = 0; closed_loop_robots[i]; i++) {
        check_motors(closed_loop_robots[i]);
    }
}
END_TEST

/* Returns a deterministic number from -1 to 1. */
static double disturbance(size_t i) {
    return sin(12.9898 * (double)(i + 1));
}

/* Checks that inverse dynamics refuses a motion at an argument, with the name of a constraint. */
static void must_forbid(const dyn_client_query *query, const double *q, const double *v, const double *a,
                        const char *field) {
    double *tau = numbers(query->nv);
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, query, q, v, a, tau, &error), DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, "constraint closed_loop_") && strstr(error.message, "forbids this motion") &&
                      strstr(error.message, "is off by"),
                  "%s", error.message);
    free(tau);
}

/* Checks the nearest acceleration x to a: forces of inverse dynamics that ask for it cause x, for which inverse
 * dynamics yields the same forces without asking, and M (a - x) is orthogonal to the accelerations that the constraints
 * allow, such as the difference of two of them, x - other. Returns false where a passive joint that no constraint
 * holds, such as the spin of a rod, would need a force for a. */
static bool check_nearest(const dyn_client_query *query, const double *q, const double *v, const double *a,
                          const double *other) {
    const size_t nv = query->nv;
    double *tau = numbers(nv), *x = numbers(nv), *again = numbers(nv), *M = numbers(nv * nv), residual = 0;
    const dyn_client_motion_options nearest = {.nearest = true, .residuals = &residual};
    dyn_client_query asking = *query;
    asking.motion_options = &nearest;
    if (dyn_client_inverse_dynamics(client, &asking, q, v, a, tau, &error) != DYN_CLIENT_OK) {
        ck_assert_msg(strstr(error.message, "it is passive"), "%s", error.message);
        free(tau), free(x), free(again), free(M);
        return false;
    }
    ck_assert_double_gt(residual, 1e-3);
    accelerate(query, q, v, tau, x);
    wire_require(dyn_client_inverse_dynamics(client, query, q, v, x, again, &error), &error);
    assert_norm_close("forces", 0, again, tau, nv, 1e-6);
    wire_require(dyn_client_mass_matrix(client, query, q, M, &error), &error);
    double product = 0, size = 0;
    for (size_t i = 0; i < nv; i++) {
        for (size_t j = 0; j < nv; j++) {
            product += (x[i] - other[i]) * M[i * nv + j] * (a[j] - x[j]);
            size += fabs((x[i] - other[i]) * M[i * nv + j] * (a[j] - x[j]));
        }
    }
    ck_assert_double_le(fabs(product), 1e-7 * size);
    free(tau), free(x), free(again), free(M);
    return true;
}

/* Disturbs the velocities and the accelerations of a robot's first state under the forces of its motors. Returns
 * whether forces were found for the nearest acceleration. */
static bool check_forbidden(const char *robot) {
    closed_loop_reference reference;
    open_reference(robot, &reference);
    const size_t nq = reference.nq, nv = reference.nv;
    double *q = numbers(nq), *v = numbers(nv), *tau = numbers(nv), *a = numbers(nv), *lambda = numbers(reference.m),
           *other = numbers(nv), *wrong = numbers(nv);
    closed_loop_state state = {q, v, tau, a, lambda, 0};
    closed_loop_reference_state(&reference, 0, &state);
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = robot, .nq = nq, .nv = nv, .samples = 1);
    for (int j = 0; j < dyn_model_joint_count(reference.model); j++) {
        const dyn_joint *joint = dyn_model_joint(reference.model, j);
        for (int k = joint->v_index; k < joint->v_index + joint->nv; k++) {
            tau[k] = dyn_model_joint_is_passive(reference.model, j) ? 0 : disturbance((size_t)k);
        }
    }
    accelerate(&query, q, v, tau, a);
    for (size_t i = 0; i < nv; i++) {
        tau[i] *= 2;
        wrong[i] = v[i] + 0.3 * disturbance(i);
    }
    must_forbid(&query, q, wrong, a, "inverse_dynamics.v");
    accelerate(&query, q, v, tau, other);
    for (size_t i = 0; i < nv; i++) {
        wrong[i] = a[i] + (0.1 + 0.1 * fabs(a[i])) * disturbance(i);
    }
    must_forbid(&query, q, v, wrong, "inverse_dynamics.a");
    const bool is_answered = check_nearest(&query, q, v, wrong, other);
    free(q), free(v), free(tau), free(a), free(lambda), free(other), free(wrong);
    closed_loop_reference_close(&reference);
    return is_answered;
}

START_TEST(motions_that_real_robots_cannot_make_are_refused_or_answered_by_the_nearest) {
    int answered = 0;
    for (size_t i = 0; closed_loop_robots[i]; i++) {
        answered += check_forbidden(closed_loop_robots[i]);
    }
    ck_assert_int_ge(answered, 1);
}
END_TEST

START_TEST(formulations_of_real_robots_with_loops_are_compared) {
    for (size_t i = 0; closed_loop_robots[i]; i++) {
        closed_loop_reference reference;
        open_reference(closed_loop_robots[i], &reference);
        size_t nq = reference.nq, nv = reference.nv;
        double *q = numbers(nq), *v = numbers(nv), *tau = numbers(nv), *a = numbers(nv), *lambda = numbers(reference.m);
        closed_loop_state state = {q, v, tau, a, lambda, 0};
        closed_loop_reference_state(&reference, 0, &state);
        const dyn_client_query query =
            DYN_CLIENT_QUERY_INIT(.model = closed_loop_robots[i], .nq = nq, .nv = nv, .samples = 1);
        ck_assert_int_gt(check_comparison(&query, q, v, a), 5);
        free(q), free(v), free(tau), free(a), free(lambda);
        closed_loop_reference_close(&reference);
    }
}
END_TEST

START_TEST(accelerations_of_real_robots_match_the_reference) {
    for (size_t i = 0; closed_loop_robots[i]; i++) {
        check_robot(closed_loop_robots[i]);
    }
}
END_TEST

int main(void) {
    TCase *all = tcase_create("closed_loops");
    tcase_set_timeout(all, 120);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_test(all, the_tip_of_two_links_keeps_its_height);
    tcase_add_test(all, torques_of_the_arm_are_those_that_its_constraint_does_not_provide);
    tcase_add_test(all, formulations_of_the_arm_with_its_constraint_are_compared);
    tcase_add_test(all, stabilization_and_the_order_of_joints_reach_the_accelerations);
    tcase_add_test(all, options_that_do_not_fit_are_refused_by_field);
    tcase_add_test(all, a_model_without_constraints_has_no_multipliers);
    if (closed_loop_reference_exists(reference_directory)) {
        tcase_add_test(all, accelerations_of_real_robots_match_the_reference);
        tcase_add_test(all, formulations_of_real_robots_with_loops_are_compared);
        tcase_add_test(all, torques_of_motors_of_real_robots_produce_the_motion);
        tcase_add_test(all, motions_that_real_robots_cannot_make_are_refused_or_answered_by_the_nearest);
    } else {
        printf("skipped: there are no reference accelerations\n");
    }
    return run_unforked("closed_loops", all);
}
