/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks rollouts and trajectories through the daemon: equal numbers alone and together, refusals, deadlines, progress
 * and cancellation.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <check.h>
#include <dynamics_client.h>

#include "system/daemon_fixture.h"
#include "system/runner.h"

enum { NV = 6 };

static daemon_fixture served;
static dyn_client *client;
static dyn_client_error error;

static const dyn_client_query UR5 = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = 1);

/* Options for rigid bodies alone, as in the textbook's equation of motion. */
static const dyn_client_stepping IDEAL =
    DYN_CLIENT_STEPPING_INIT(.integrator = DYN_CLIENT_INTEGRATOR_RK4, .ignore_damping = true, .ignore_friction = true,
                             .ignore_effort_limits = true, .stop = DYN_CLIENT_JOINT_STOP_NONE);

static void start_daemon(void) {
    daemon_start(&(daemon_options){0}, &served);
    ck_assert_int_eq(dyn_client_connect(served.request_ipc, NULL, &client, &error), DYN_CLIENT_OK);
}

static void stop_daemon(void) {
    dyn_client_close(client);
    daemon_stop(&served);
}

static dyn_client_rollout *roll_out(const dyn_client_query *query, const dyn_client_rollout_request *request) {
    dyn_client_rollout *result;
    dyn_client_status status = dyn_client_rollout_run(client, query, request, &result, &error);
    ck_assert_msg(status == DYN_CLIENT_OK, "%s: %s", error.field, error.message);
    return result;
}

/* Compares a motion in fixed steps with the accurate one for the fall of Modern Robotics (Lynch and Park 2017),
 * exercise 8.15. */
START_TEST(ur5_falls_as_the_accurate_motion_does) {
    const double q[NV] = {0};
    dyn_client_stepping fine = IDEAL;
    fine.substeps = 10;
    const dyn_client_rollout_request fixed =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q, .stepping = &fine, .steps = 3000, .stride = 500, .with_energy = true);
    dyn_client_rollout_request accurate = fixed;
    accurate.is_accurate = true;
    accurate.relative = accurate.absolute = 1e-13;
    dyn_client_rollout *a = roll_out(&UR5, &fixed), *b = roll_out(&UR5, &accurate);
    ck_assert_uint_eq(a->rows, 7);
    ck_assert_uint_eq(b->rows, 7);
    ck_assert_double_eq_tol(a->time[6], 3, 1e-12);
    for (size_t i = 0; i < 7 * NV; i++) {
        ck_assert_msg(fabs(a->q[i] - b->q[i]) < 1e-6, "q[%zu]: %.12g, accurately %.12g", i, a->q[i], b->q[i]);
    }
    ck_assert_double_lt(a->outcomes[0].energy_drift, 1e-7);
    ck_assert_double_lt(b->outcomes[0].energy_drift, 1e-7);
    ck_assert_double_gt(a->kinetic[3], 1);
    dyn_client_rollout_free(a);
    dyn_client_rollout_free(b);
}
END_TEST

/* Fills x with random numbers in [-1, 1]. */
static void fill(double *x, size_t count, unsigned seed) {
    for (size_t i = 0; i < count; i++) {
        x[i] = 2.0 * rand_r(&seed) / RAND_MAX - 1;
    }
}

START_TEST(samples_are_the_same_alone_and_together) {
    enum { SAMPLES = 300, STEPS = 50 };
    static double q[SAMPLES][NV], v[SAMPLES][NV], tau[SAMPLES][STEPS][NV];
    fill(q[0], SAMPLES * NV, 1), fill(v[0], SAMPLES * NV, 2), fill(tau[0][0], SAMPLES * STEPS * NV, 3);
    dyn_client_query query = UR5;
    query.samples = SAMPLES;
    const dyn_client_rollout_request all =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q[0], .v = v[0], .tau = tau[0][0], .steps = STEPS, .stride = 10,
                                        .with_tau = true, .with_energy = true);
    dyn_client_rollout *together = roll_out(&query, &all);
    ck_assert_uint_eq(together->rows, 6);
    for (size_t s = 0; s < SAMPLES; s += 37) {
        dyn_client_rollout_request one = all;
        one.q = q[s], one.v = v[s], one.tau = tau[s][0];
        dyn_client_rollout *alone = roll_out(&UR5, &one);
        size_t first = s * 6 * NV, bytes = 6 * NV * sizeof(double);
        ck_assert(memcmp(alone->q, together->q + first, bytes) == 0);
        ck_assert(memcmp(alone->v, together->v + first, bytes) == 0);
        ck_assert(memcmp(alone->tau, together->tau + first, bytes) == 0);
        ck_assert(memcmp(alone->tau, tau[s][0], NV * sizeof(double)) == 0);
        ck_assert(memcmp(alone->kinetic, together->kinetic + s * 6, 6 * sizeof(double)) == 0);
        dyn_client_rollout_free(alone);
    }
    dyn_client_rollout_free(together);
}
END_TEST

START_TEST(order_of_joints_does_not_matter) {
    const char *const names[NV] = {"wrist_3_joint", "wrist_2_joint",       "wrist_1_joint",
                                   "elbow_joint",   "shoulder_lift_joint", "shoulder_pan_joint"};
    double forward[4][NV], backward[4][NV];
    fill(forward[0], 4 * NV, 4);
    for (int i = 0; i < 4 * NV; i++) {
        backward[i / NV][i % NV] = forward[i / NV][NV - 1 - i % NV];
    }
    dyn_client_query query = UR5;
    query.joint_count = NV, query.joint_names = names;
    const double gain = 50;
    const dyn_client_stepping pd =
        DYN_CLIENT_STEPPING_INIT(.law = DYN_CLIENT_CONTROL_LAW_PD_GRAVITY, .gain_count = 1, .kp = &gain, .kd = &gain);
    dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.stepping = &pd, .steps = 100, .only_last = true,
                                        .tau_layout = DYN_CLIENT_LAYOUT_CONSTANT,
                                        .reference_layout = DYN_CLIENT_LAYOUT_CONSTANT, .with_tau = true);
    request.q = forward[0], request.v = forward[1], request.tau = forward[2], request.q_ref = forward[3];
    dyn_client_rollout *a = roll_out(&UR5, &request);
    request.q = backward[0], request.v = backward[1], request.tau = backward[2], request.q_ref = backward[3];
    dyn_client_rollout *b = roll_out(&query, &request);
    for (size_t i = 0; i < NV; i++) {
        ck_assert(a->q[i] == b->q[NV - 1 - i] && a->v[i] == b->v[NV - 1 - i] && a->tau[i] == b->tau[NV - 1 - i]);
        ck_assert(a->q[i] != forward[0][i]);
    }
    dyn_client_rollout_free(a);
    dyn_client_rollout_free(b);
}
END_TEST

START_TEST(one_sample_diverges_alone) {
    double q[3][NV] = {{0}}, tau[3][NV] = {{0}};
    tau[1][2] = 1e300;
    dyn_client_query query = UR5;
    query.samples = 3;
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q[0], .tau = tau[0], .tau_layout = DYN_CLIENT_LAYOUT_CONSTANT,
                                        .stepping = &IDEAL, .steps = 20, .only_last = true);
    dyn_client_rollout *result = roll_out(&query, &request);
    ck_assert_int_eq(result->outcomes[0].status, DYN_CLIENT_SAMPLE_STATUS_RAN);
    ck_assert_int_ne(result->outcomes[1].status, DYN_CLIENT_SAMPLE_STATUS_RAN);
    ck_assert_int_eq(result->outcomes[2].status, DYN_CLIENT_SAMPLE_STATUS_RAN);
    ck_assert_uint_eq(result->outcomes[1].steps, 0);
    ck_assert_str_ne(result->outcomes[1].joint, "");
    ck_assert(memcmp(result->q, result->q + 2 * NV, NV * sizeof(double)) == 0);
    dyn_client_rollout_free(result);
}
END_TEST

START_TEST(payloads_count) {
    const double q[NV] = {0.1, -1, 0.8, 0.3, 0.2, 0.1}, tau[2][NV] = {{1, 2, 3, 4, 5, 6}};
    const dyn_client_payload payload = {.link = "tool0", .inertia = {.mass = 2, .center_of_mass = {0, 0, 0.1}}};
    dyn_client_query query = UR5;
    query.payload_count = 1, query.payloads = &payload;
    double a[NV];
    ck_assert_int_eq(dyn_client_forward_dynamics(client, &query, q, NULL, tau[0], a, &error), DYN_CLIENT_OK);
    dyn_client_stepping euler = IDEAL;
    euler.integrator = DYN_CLIENT_INTEGRATOR_EXPLICIT_EULER;
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q, .tau = tau[0], .tau_layout = DYN_CLIENT_LAYOUT_CONSTANT,
                                        .stepping = &euler, .steps = 1, .only_last = true, .with_energy = true);
    dyn_client_rollout *rolled = roll_out(&query, &request), *unloaded = roll_out(&UR5, &request);
    dyn_client_trajectory *moved;
    ck_assert_int_eq(
        dyn_client_forward_dynamics_trajectory(client, &query, q, NULL, 2, tau[0], NULL, NULL, &moved, &error),
        DYN_CLIENT_OK);
    for (int j = 0; j < NV; j++) {
        ck_assert_double_eq_tol(rolled->v[j] / 1e-3, a[j], 1e-9);
        ck_assert_double_eq_tol(moved->v[NV + j] / 1e-3, a[j], 1e-9);
        ck_assert(fabs(unloaded->v[j] - rolled->v[j]) > 1e-6);
    }
    ck_assert(fabs(unloaded->potential[0] - rolled->potential[0]) > 0.1);
    dyn_client_rollout_free(rolled);
    dyn_client_rollout_free(unloaded);
    dyn_client_trajectory_free(moved);
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void expect_refusal(const dyn_client_rollout_request *request, const char *field) {
    dyn_client_rollout *result;
    dyn_client_status status = dyn_client_rollout_run(client, &UR5, request, &result, &error);
    ck_assert_msg(status == DYN_CLIENT_INVALID_ARGUMENT || status == DYN_CLIENT_RESOURCE_EXHAUSTED, "%s: %s", field,
                  dyn_client_status_name(status));
    ck_assert_str_eq(error.field, field);
    ck_assert(strlen(error.message) > 10);
}

START_TEST(wrong_requests_are_refused_with_their_field) {
    double q[NV] = {0}, bad[2 * NV] = {0, 0, 0, NAN};
    const double negative = -1;
    const dyn_client_rollout_request good = DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q, .steps = 2, .only_last = true);
    dyn_client_rollout_request r = good;
    r.steps = 0, expect_refusal(&r, "rollout.steps");
    r = good, r.q = bad, expect_refusal(&r, "rollout.q[3]");
    r = good, r.v = bad, expect_refusal(&r, "rollout.v[3]");
    r = good, r.tau = bad, r.tau_layout = DYN_CLIENT_LAYOUT_CONSTANT, expect_refusal(&r, "rollout.tau[3]");
    r = good, r.tau = bad, r.tau_layout = (dyn_client_layout)3, expect_refusal(&r, "rollout.tau_layout");
    r = good, r.q_ref = q, r.reference_layout = DYN_CLIENT_LAYOUT_CONSTANT, expect_refusal(&r, "rollout.q_ref");
    r = good, r.steps = 1000000000, r.only_last = false, expect_refusal(&r, "rollout.q");
    r = good, r.stride = 1, expect_refusal(&r, "rollout.stride");
    r = good, r.is_accurate = true, r.relative = 2, expect_refusal(&r, "rollout.relative");
    r = good, r.is_accurate = true, r.with_tau = true, expect_refusal(&r, "rollout.accuracy");
    r = good, r.is_accurate = true, r.steps = 1000000000, expect_refusal(&r, "rollout.steps");
    const struct {
        const char *field;
        dyn_client_stepping stepping;
    } steppings[] = {
        {"rollout.stepping.step_length", DYN_CLIENT_STEPPING_INIT(.step_length = -1)},
        {"rollout.stepping.substeps", DYN_CLIENT_STEPPING_INIT(.substeps = 20000)},
        {"stepping.substeps", DYN_CLIENT_STEPPING_INIT(.substeps = (size_t)UINT32_MAX + 2)},
        {"rollout.stepping.integrator", DYN_CLIENT_STEPPING_INIT(.integrator = (dyn_client_integrator)9)},
        {"rollout.stepping.stop", DYN_CLIENT_STEPPING_INIT(.stop = (dyn_client_joint_stop)9)},
        {"rollout.stepping.spring_stop", DYN_CLIENT_STEPPING_INIT(.spring_stop = &(dyn_client_spring_stop){1, 1})},
        {"rollout.stepping.restitution", DYN_CLIENT_STEPPING_INIT(.restitution = 1.5)},
        {"rollout.stepping.friction_velocity", DYN_CLIENT_STEPPING_INIT(.friction_velocity = -1)},
        {"rollout.stepping.velocity_bound", DYN_CLIENT_STEPPING_INIT(.velocity_bound = NAN)},
        {"rollout.stepping.controller.law", DYN_CLIENT_STEPPING_INIT(.law = (dyn_client_control_law)9)},
        {"rollout.stepping.controller.kp[0]",
         DYN_CLIENT_STEPPING_INIT(.law = DYN_CLIENT_CONTROL_LAW_PD, .gain_count = 1, .kp = &negative)},
        {"rollout.stepping.controller.kd",
         DYN_CLIENT_STEPPING_INIT(.law = DYN_CLIENT_CONTROL_LAW_PD, .gain_count = 4, .kd = q)},
        {"rollout.q_ref", DYN_CLIENT_STEPPING_INIT(.law = DYN_CLIENT_CONTROL_LAW_PD)}};
    for (size_t i = 0; i < sizeof steppings / sizeof *steppings; i++) {
        r = good;
        r.stepping = &steppings[i].stepping;
        expect_refusal(&r, steppings[i].field);
    }
    dyn_client_rollout_free(roll_out(&UR5, &good));
}
END_TEST

/* Returns the velocity of the first joint after it was released beyond its limit, with this kind of stop. */
static double pushed_back(dyn_client_joint_stop stop, const dyn_client_spring_stop *spring) {
    const double q[] = {6.4, -1, 1, 0, 0, 0}; /* the limit is 2 pi */
    const dyn_client_stepping stepping =
        DYN_CLIENT_STEPPING_INIT(.stop = stop, .spring_stop = spring, .ignore_friction = true);
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q, .stepping = &stepping, .steps = 20, .only_last = true);
    dyn_client_rollout *result = roll_out(&UR5, &request);
    double v = result->v[0];
    dyn_client_rollout_free(result);
    return v;
}

START_TEST(steps_whose_rows_cannot_be_counted_are_refused) {
    static const double q[NV] = {0};
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q, .tau = q, .tau_layout = DYN_CLIENT_LAYOUT_SHARED,
                                        .tau_hold = DYN_CLIENT_HOLD_LINEAR, .stepping = &IDEAL, .steps = SIZE_MAX);
    dyn_client_query query = UR5;
    dyn_client_rollout *result;
    ck_assert_int_eq(dyn_client_rollout_run(client, &query, &request, &result, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "steps");
}
END_TEST

START_TEST(zeros_of_a_spring_stop_are_zeros) {
    const dyn_client_spring_stop standard = {1e4, 100}, undamped = {1e4, 0}, none = {0, 0};
    double v = pushed_back(DYN_CLIENT_JOINT_STOP_SPRING, NULL);
    ck_assert_double_lt(v, 0);
    ck_assert_double_eq(pushed_back(DYN_CLIENT_JOINT_STOP_SPRING, &standard), v);
    ck_assert_double_lt(pushed_back(DYN_CLIENT_JOINT_STOP_SPRING, &undamped), v);
    ck_assert_double_eq_tol(pushed_back(DYN_CLIENT_JOINT_STOP_SPRING, &none),
                            pushed_back(DYN_CLIENT_JOINT_STOP_NONE, NULL), 1e-12);
}
END_TEST

START_TEST(accurate_motions_end_where_they_must) {
    double q[NV] = {0};
    dyn_client_stepping slow = IDEAL;
    slow.velocity_bound = 2, slow.step_length = 0.01;
    dyn_client_rollout_request request = DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q, .stepping = &slow, .steps = 100,
                                                                         .only_last = true, .is_accurate = true);
    dyn_client_rollout *result = roll_out(&UR5, &request);
    ck_assert_int_eq(result->outcomes[0].status, DYN_CLIENT_SAMPLE_STATUS_TOO_FAST);
    ck_assert_str_eq(result->outcomes[0].joint, "");
    ck_assert_uint_lt(result->outcomes[0].steps, 100);
    dyn_client_rollout_free(result);
    const dyn_client_stepping stops = DYN_CLIENT_STEPPING_INIT(.step_length = 0.01, .ignore_friction = true);
    q[2] = 3;
    request.stepping = &stops;
    const double push[NV] = {0, 0, 100};
    request.tau = push, request.tau_layout = DYN_CLIENT_LAYOUT_CONSTANT;
    result = roll_out(&UR5, &request);
    ck_assert_int_eq(result->outcomes[0].status, DYN_CLIENT_SAMPLE_STATUS_RESTS);
    ck_assert_str_eq(result->outcomes[0].joint, "elbow_joint");
    ck_assert_double_eq_tol(result->q[2], 3.141592653589793, 1e-9);
    dyn_client_rollout_free(result);
}
END_TEST

/* ---- long requests ----------------------------------------------------------------------------------------------- */

/* Record of the progress callback. */
typedef struct observed_progress {
    int count;
    double last;
    double enough; /* cancel from here on */
    bool is_monotone;
} observed_progress;

static bool note(void *context, double fraction) {
    observed_progress *t = context;
    t->is_monotone = t->is_monotone && fraction >= t->last && fraction <= 1;
    t->last = fraction;
    t->count++;
    return fraction < t->enough;
}

/* Runs a rollout of `steps` steps with a timeout; returns its duration in seconds. `t` receives the progress, unless it
 * is NULL. */
static double time_rollout(double timeout, size_t steps, observed_progress *t, dyn_client_status *status) {
    static const double q[NV] = {0};
    struct timespec begin, end;
    dyn_client_query query = UR5;
    query.timeout = timeout;
    query.progress = t ? note : NULL;
    query.progress_context = t;
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q, .stepping = &IDEAL, .steps = steps, .only_last = true);
    dyn_client_rollout *result;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    *status = dyn_client_rollout_run(client, &query, &request, &result, &error);
    clock_gettime(CLOCK_MONOTONIC, &end);
    dyn_client_rollout_free(result);
    return (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
}

START_TEST(deadline_ends_a_long_rollout) {
    dyn_client_status status;
    double timeout = 3, took = time_rollout(timeout, 1000000000000, NULL, &status);
    ck_assert_msg(status == DYN_CLIENT_DEADLINE_EXCEEDED, "%s: %s", dyn_client_status_name(status), error.message);
    ck_assert_ptr_nonnull(strstr(error.message, "set a longer timeout"));
    ck_assert_msg(took < timeout, "%g s", took);
    ck_assert_int_eq(dyn_client_ping(client, 5, &error), DYN_CLIENT_OK);
}
END_TEST

START_TEST(progress_is_reported_and_a_request_is_cancelled) {
    observed_progress t = {.enough = 0, .is_monotone = true};
    dyn_client_status status;
    double took = time_rollout(20, 1000000000000, &t, &status);
    ck_assert_msg(status == DYN_CLIENT_CANCELLED, "%s: %s", dyn_client_status_name(status), error.message);
    ck_assert_int_ge(t.count, 1);
    ck_assert(t.is_monotone);
    ck_assert_msg(took < 10, "%g s", took);
    ck_assert_int_eq(dyn_client_ping(client, 5, &error), DYN_CLIENT_OK);
}
END_TEST

/* ---- trajectories ------------------------------------------------------------------------------------------------ */

/* Computes a minimum-jerk motion of 1 s from 0 to 1 (Flash and Hogan 1985). */
static void minimum_jerk(double t, double *q, double *v, double *a) {
    *q = t * t * t * (10 + t * (-15 + 6 * t));
    *v = t * t * (30 + t * (-60 + 30 * t));
    *a = t * (60 + t * (-180 + 120 * t));
}

START_TEST(rates_beyond_a_double_are_refused) {
    const double t[4] = {0, 1, 1 + 1e-15, 2}, q[4][NV] = {{0}, {0}, {1e300}, {0}};
    dyn_client_query query = UR5;
    query.samples = 4;
    dyn_client_trajectory *found;
    ck_assert_int_eq(dyn_client_inverse_dynamics_trajectory(client, &query, t, q[0], NULL, NULL,
                                                            DYN_CLIENT_RATES_CENTRAL, NULL, &found, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "inverse_dynamics_trajectory.time[2]");
    ck_assert_msg(strstr(error.message, "the rates are") &&
                      strstr(error.message, "s before this time, or smaller changes of q") && error.has_sample,
                  "%s", error.message);
}
END_TEST

START_TEST(rates_are_derived_and_limits_are_reported) {
    enum { ROWS = 201 };
    static double t[ROWS], q[ROWS][NV], v[ROWS][NV], a[ROWS][NV];
    for (int i = 0; i < ROWS; i++) {
        t[i] = i / (ROWS - 1.0);
        for (int j = 0; j < NV; j++) {
            double scale = j == 1 ? 4 : 0.5;
            minimum_jerk(t[i], &q[i][j], &v[i][j], &a[i][j]);
            q[i][j] *= scale, v[i][j] *= scale, a[i][j] *= scale;
        }
    }
    dyn_client_query query = UR5;
    query.samples = ROWS;
    const double force[3] = {5, 0, -2};
    const dyn_client_tip tip = DYN_CLIENT_TIP_INIT(.link = "tool0", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL,
                                                   .rows = 1, .force = force);
    dyn_client_trajectory *given, *derived;
    ck_assert_int_eq(dyn_client_inverse_dynamics_trajectory(client, &query, t, q[0], v[0], a[0], DYN_CLIENT_RATES_GIVEN,
                                                            &tip, &given, &error),
                     DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_inverse_dynamics_trajectory(client, &query, t, q[0], NULL, NULL,
                                                            DYN_CLIENT_RATES_SPLINE_AT_REST, &tip, &derived, &error),
                     DYN_CLIENT_OK);
    for (size_t i = 0; i < ROWS * NV; i++) {
        ck_assert_msg(fabs(given->tau[i] - derived->tau[i]) < 0.05, "tau[%zu]: %g, %g", i, given->tau[i],
                      derived->tau[i]);
    }
    dyn_client_trajectory *quintic;
    ck_assert_int_eq(dyn_client_inverse_dynamics_trajectory(client, &query, t, q[0], NULL, NULL,
                                                            DYN_CLIENT_RATES_QUINTIC_SPLINE_AT_REST, &tip, &quintic,
                                                            &error),
                     DYN_CLIENT_OK);
    for (size_t i = 0; i < ROWS * NV; i++) {
        ck_assert_msg(fabs(given->tau[i] - quintic->tau[i]) < 1e-6, "tau[%zu]: %g, %g", i, given->tau[i],
                      quintic->tau[i]);
    }
    dyn_client_trajectory *rates;
    ck_assert_int_eq(
        dyn_client_derive_rates(client, &query, t, q[0], DYN_CLIENT_RATES_QUINTIC_SPLINE_AT_REST, &rates, &error),
        DYN_CLIENT_OK);
    ck_assert_uint_eq(rates->rows, ROWS);
    ck_assert_mem_eq(rates->v, quintic->v, sizeof v);
    ck_assert_mem_eq(rates->a, quintic->a, sizeof a);
    ck_assert_uint_gt(rates->excess_count, 0);
    dyn_client_trajectory_free(rates);
    ck_assert_int_eq(dyn_client_derive_rates(client, &query, t, q[0], DYN_CLIENT_RATES_GIVEN, &rates, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "derive_rates.rates");
    ck_assert_ptr_null(rates);
    dyn_client_trajectory_free(quintic);
    /* A motion of 4 rad in a second reaches 7.5 rad/s in the middle, and the limit is pi. */
    bool is_found = false;
    for (size_t i = 0; i < derived->excess_count; i++) {
        const dyn_client_excess *e = &derived->excesses[i];
        if (e->kind == DYN_CLIENT_LIMIT_KIND_VELOCITY) {
            ck_assert_str_eq(e->joint, "shoulder_lift_joint");
            ck_assert_double_eq_tol(e->value, 7.5, 1e-3);
            ck_assert_double_eq_tol(e->worst_time, 0.5, 1e-9);
            ck_assert_double_lt(e->first_time, 0.5);
            is_found = true;
        }
    }
    ck_assert(is_found);
    dyn_client_trajectory_free(given);
    dyn_client_trajectory_free(derived);
    dyn_client_trajectory *none;
    t[7] = t[6];
    ck_assert_int_eq(dyn_client_inverse_dynamics_trajectory(client, &query, t, q[0], NULL, NULL,
                                                            DYN_CLIENT_RATES_SPLINE, NULL, &none, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "inverse_dynamics_trajectory.time[7]");
    ck_assert_int_eq(dyn_client_inverse_dynamics_trajectory(client, &query, NULL, q[0], v[0], NULL,
                                                            DYN_CLIENT_RATES_CENTRAL, NULL, &none, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "inverse_dynamics_trajectory.v");
    const dyn_client_tip nowhere =
        DYN_CLIENT_TIP_INIT(.link = "nose", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL, .rows = 1,
                            .force = force);
    ck_assert_int_eq(dyn_client_inverse_dynamics_trajectory(client, &query, NULL, q[0], v[0], NULL,
                                                            DYN_CLIENT_RATES_GIVEN, &nowhere, &none, &error),
                     DYN_CLIENT_NOT_FOUND);
    ck_assert_str_eq(error.field, "inverse_dynamics_trajectory.tip.link");
}
END_TEST

START_TEST(forces_move_as_a_rollout_does) {
    enum { ROWS = 101 };
    static double tau[ROWS][NV], q[NV];
    fill(tau[0], ROWS * NV, 9);
    dyn_client_stepping book = IDEAL;
    book.integrator = DYN_CLIENT_INTEGRATOR_EXPLICIT_EULER;
    book.step_length = 0.01, book.substeps = 10;
    dyn_client_trajectory *moved;
    ck_assert_int_eq(
        dyn_client_forward_dynamics_trajectory(client, &UR5, q, NULL, ROWS, tau[0], NULL, &book, &moved, &error),
        DYN_CLIENT_OK);
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q, .tau = tau[0], .tau_layout = DYN_CLIENT_LAYOUT_SHARED,
                                        .stepping = &book, .steps = ROWS - 1);
    /* Stride 0 is 1: a row for each step. */
    dyn_client_rollout *rolled = roll_out(&UR5, &request);
    ck_assert_uint_eq(moved->rows, ROWS);
    ck_assert_uint_eq(rolled->rows, ROWS);
    ck_assert(memcmp(moved->q, rolled->q, sizeof tau) == 0);
    ck_assert(memcmp(moved->v, rolled->v, sizeof tau) == 0);
    ck_assert_uint_eq(moved->diverged_row, 0);
    dyn_client_rollout_free(rolled);
    dyn_client_trajectory_free(moved);
    tau[50][3] = INFINITY;
    ck_assert_int_eq(
        dyn_client_forward_dynamics_trajectory(client, &UR5, q, NULL, ROWS, tau[0], NULL, &book, &moved, &error),
        DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "forward_dynamics_trajectory.tau[303]");
    tau[50][3] = 1e300;
    ck_assert_int_eq(
        dyn_client_forward_dynamics_trajectory(client, &UR5, q, NULL, ROWS, tau[0], NULL, &book, &moved, &error),
        DYN_CLIENT_OK);
    ck_assert_uint_eq(moved->diverged_row, 51);
    ck_assert(memcmp(moved->q + 50 * NV, moved->q + 100 * NV, NV * sizeof(double)) == 0);
    dyn_client_trajectory_free(moved);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("rollouts");
    tcase_set_timeout(all, 120);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_test(all, ur5_falls_as_the_accurate_motion_does);
    tcase_add_test(all, samples_are_the_same_alone_and_together);
    tcase_add_test(all, order_of_joints_does_not_matter);
    tcase_add_test(all, one_sample_diverges_alone);
    tcase_add_test(all, payloads_count);
    tcase_add_test(all, zeros_of_a_spring_stop_are_zeros);
    tcase_add_test(all, wrong_requests_are_refused_with_their_field);
    tcase_add_test(all, accurate_motions_end_where_they_must);
    tcase_add_test(all, steps_whose_rows_cannot_be_counted_are_refused);
    tcase_add_test(all, deadline_ends_a_long_rollout);
    tcase_add_test(all, progress_is_reported_and_a_request_is_cancelled);
    tcase_add_test(all, rates_are_derived_and_limits_are_reported);
    tcase_add_test(all, rates_beyond_a_double_are_refused);
    tcase_add_test(all, forces_move_as_a_rollout_does);
    return run_unforked("rollouts", all);
}
