/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks streams of points from planners that are right, early, wrong, hostile or dead.
 */
#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dynamics_client.h"
#include "system/daemon_fixture.h"
#include "system/runner.h"

enum { NV = 6, POINTS = 100 };

static daemon_fixture fixture;
static dyn_client *client;
static dyn_client_error error;

static void start(void) {
    daemon_start(NULL, &fixture);
    ck_assert_msg(dyn_client_connect(fixture.request_ipc, NULL, &client, &error) == DYN_CLIENT_OK, "%s", error.message);
}

static void stop(void) {
    dyn_client_close(client);
    daemon_stop(&fixture);
}

static void ok(dyn_client_status status) {
    ck_assert_msg(status == DYN_CLIENT_OK, "%s %s: %s", dyn_client_status_name(status), error.field, error.message);
}

static void refused(dyn_client_status status, dyn_client_status wanted, const char *field, const char *word) {
    ck_assert_msg(status == wanted, "%s, not %s: %s: %s", dyn_client_status_name(status),
                  dyn_client_status_name(wanted), error.field, error.message);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, word) != NULL, "\"%s\" does not contain \"%s\"", error.message, word);
}

static double seconds(int64_t nanoseconds) {
    return 1e-9 * (double)nanoseconds;
}

static void pause_for(double duration) {
    struct timespec time = {.tv_sec = (time_t)duration, .tv_nsec = (long)(fmod(duration, 1) * 1e9)};
    nanosleep(&time, NULL);
}

static dyn_client_stream *open_stream(const dyn_client_stream_options *options) {
    dyn_client_stream *stream;
    ok(dyn_client_open_stream(client, options, &stream, &error));
    return stream;
}

/* Computes n points of a motion, from number `first` on, 1 ms apart. */
static void plan(size_t first, size_t n, double *t, double *q, double *v, double *a) {
    for (size_t i = 0; i < n; i++) {
        t[i] = (double)(first + i) * 1e-3;
        for (size_t j = 0; j < NV; j++) {
            double w = 1 + (double)j;
            q[i * NV + j] = 0.5 * sin(w * t[i]);
            v[i * NV + j] = 0.5 * w * cos(w * t[i]);
            a[i * NV + j] = -0.5 * w * w * sin(w * t[i]);
        }
    }
}

static void push(dyn_client_stream *stream, size_t first, size_t n) {
    static double t[10000], q[10000 * NV], v[10000 * NV], a[10000 * NV];
    ck_assert_uint_le(n, 10000);
    plan(first, n, t, q, v, a);
    dyn_client_stream_seek(stream, first);
    ok(dyn_client_push_points(stream, n, t, q, v, a, NULL, 0, &error));
}

/* Waits until the daemon has counted `chunks` chunks of a stream. Returns the stream's counters, which the caller
 * frees. */
static dyn_client_stream_list *wait_for(const char *name, uint64_t chunks) {
    dyn_client_stream_list *list = NULL;
    for (int i = 0; i < 2000; i++) {
        dyn_client_stream_list_free(list);
        ok(dyn_client_get_stream(client, name, 0, &list, &error));
        if (list->streams[0].chunks >= chunks) {
            return list;
        }
        pause_for(0.002);
    }
    ck_abort_msg("the chunks did not arrive");
    return list;
}

static const dyn_client_stream_options feedforward =
    DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "plan", .kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                   .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"));

/* ---- feedforward ------------------------------------------------------------------------------------------------- */

START_TEST(torques_count_gravity_payloads_forces_and_precision_of_the_query) {
    static const double moon[3] = {0, 0, -1.62}, push_of_tip[3] = {3, -2, 5};
    const dyn_client_payload ball = {.link = "tool0", .inertia = {.mass = 1.5, .center_of_mass = {0.1, 0, 0.2}}};
    const dyn_client_external_force force = {
        .link = "tool0", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_WORLD, .force = push_of_tip, .rows = 1};
    double t[POINTS], q[POINTS * NV], v[POINTS * NV], a[POINTS * NV], tau[POINTS * NV], got[POINTS * NV];
    uint64_t number[POINTS];
    plan(1, POINTS, t, q, v, a);
    /* The first round uses all parts of the query; each later one leaves out one part. */
    for (int left_out = 0; left_out <= 4; left_out++) {
        size_t count;
        dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = POINTS);
        query.gravity = left_out == 1 ? NULL : moon;
        query.payload_count = left_out != 2, query.payloads = &ball;
        query.external_force_count = left_out != 3, query.external_forces = &force;
        query.precision = left_out == 4 ? DYN_CLIENT_PRECISION_DOUBLE : DYN_CLIENT_PRECISION_SINGLE;
        dyn_client_stream_options options = feedforward;
        options.query = &query;
        dyn_client_stream *stream = open_stream(&options);
        push(stream, 1, POINTS);
        ok(dyn_client_inverse_dynamics(client, &query, q, v, a, tau, &error));
        for (int i = 0; i < 100; i++) {
            ok(dyn_client_get_stream_points(client, "plan", 1, POINTS, NV, 0, number, got, &count, &error));
            if (count == POINTS) {
                break;
            }
            pause_for(0.02);
        }
        ck_assert_uint_eq(count, POINTS);
        ck_assert_mem_eq(got, tau, sizeof tau);
        ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
    }
}
END_TEST

START_TEST(points_come_back_as_torques_of_inverse_dynamics) {
    double t[POINTS], q[POINTS * NV], v[POINTS * NV], a[POINTS * NV], tau[POINTS * NV], got[POINTS * NV];
    uint64_t number[POINTS];
    size_t count = 0;
    dyn_client_watch *watch;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    dyn_client_stream *stream = open_stream(&feedforward);
    ok(dyn_client_watch_stream(client, "plan", 0, &watch, &error));
    plan(1, POINTS, t, q, v, a);
    push(stream, 1, POINTS);
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = POINTS);
    ok(dyn_client_inverse_dynamics(client, &query, q, v, a, tau, &error));
    ok(dyn_client_watch_next(watch, 5, &update, &error));
    ck_assert_int_eq(update.kind, DYN_CLIENT_UPDATE_KIND_TORQUES);
    ck_assert_uint_eq(update.count, POINTS);
    ck_assert_mem_eq(update.tau, tau, sizeof tau);
    ck_assert_mem_eq(update.time, t, sizeof t);
    ck_assert_int_ge(update.arrival_stamp_ns, update.sent_stamp_ns);
    ck_assert_uint_eq(update.credit, POINTS + 10000);
    ok(dyn_client_get_stream_points(client, "plan", 11, 20, NV, 0, number, got, &count, &error));
    ck_assert_uint_eq(count, 20);
    ck_assert_uint_eq(number[0], 11);
    ck_assert_mem_eq(got, tau + 10 * NV, 20 * NV * sizeof(double));
    dyn_client_watch_close(watch);
    dyn_client_stream_list *last;
    ok(dyn_client_close_stream(client, stream, 0, &last, &error));
    ck_assert_uint_eq(last->streams[0].accepted, POINTS);
    dyn_client_stream_list_free(last);
}
END_TEST

/* Checks that the request that ends a stream, which takes another path than its points, does not overtake them. */
START_TEST(points_under_way_come_before_the_end) {
    for (int round = 0; round < 20; round++) {
        dyn_client_stream_list *last;
        dyn_client_stream *stream = open_stream(&feedforward);
        for (size_t first = 1; first <= 1000; first += 100) {
            push(stream, first, 100);
        }
        ok(dyn_client_close_stream(client, stream, 0, &last, &error));
        ck_assert_uint_eq(last->streams[0].accepted, 1000);
        dyn_client_stream_list_free(last);
    }
}
END_TEST

START_TEST(points_end_at_the_largest_number) {
    double t = 0, q[NV] = {0}, tau[2 * NV];
    uint64_t number[2];
    size_t count;
    dyn_client_stream *stream = open_stream(&feedforward);
    dyn_client_stream_seek(stream, UINT64_MAX);
    ok(dyn_client_push_points(stream, 1, &t, q, NULL, NULL, NULL, 0, &error));
    dyn_client_stream_list_free(wait_for("plan", 1));
    ok(dyn_client_get_stream_points(client, "plan", UINT64_MAX - 1, 2, NV, 5, number, tau, &count, &error));
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(number[0], UINT64_MAX);
    ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
}
END_TEST

START_TEST(order_of_joints_is_the_callers) {
    static const char *const reversed[] = {"wrist_3_joint", "wrist_2_joint",       "wrist_1_joint",
                                           "elbow_joint",   "shoulder_lift_joint", "shoulder_pan_joint"};
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "plan", .kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                       .query =
                                           &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5", .joint_count = NV,
                                                                                    .joint_names = reversed));
    double t = 0, q[NV] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, tau[NV], got[NV];
    uint64_t number;
    size_t count;
    dyn_client_stream *stream = open_stream(&options);
    ok(dyn_client_push_points(stream, 1, &t, q, NULL, NULL, NULL, 0, &error));
    dyn_client_stream_list_free(wait_for("plan", 1));
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = 1, .joint_count = NV,
                                                   .joint_names = reversed);
    ok(dyn_client_inverse_dynamics(client, &query, q, NULL, NULL, tau, &error));
    ok(dyn_client_get_stream_points(client, "plan", 1, 1, NV, 0, &number, got, &count, &error));
    ck_assert_uint_eq(count, 1);
    ck_assert_mem_eq(got, tau, sizeof tau);
    ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
}
END_TEST

START_TEST(owner_of_the_key_joins_a_stream_and_continues_its_numbers) {
    static const char *const names[NV] = {"wrist_3_joint", "wrist_2_joint",       "wrist_1_joint",
                                          "elbow_joint",   "shoulder_lift_joint", "shoulder_pan_joint"};
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "plan", .kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                       .query =
                                           &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5", .joint_count = NV,
                                                                                    .joint_names = names));
    double t = 0, q[NV] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    dyn_client_stream *own = open_stream(&options), *joined;
    ok(dyn_client_push_points(own, 1, &t, q, NULL, NULL, NULL, 0, &error));
    dyn_client_stream_list_free(wait_for("plan", 1));
    ok(dyn_client_join_stream(client, "plan", dyn_client_stream_key(own), 0, &joined, &error));
    ok(dyn_client_push_points(joined, 1, &t, q, NULL, NULL, NULL, 0, &error));
    dyn_client_leave_stream(joined);
    dyn_client_stream_list *list = wait_for("plan", 2);
    ck_assert_uint_eq(list->streams[0].last_point_number, 2);
    ck_assert_uint_eq(list->streams[0].nq, NV);
    ck_assert_uint_eq(list->streams[0].nv, NV);
    dyn_client_stream_list_free(list);
    ok(dyn_client_close_stream(client, own, 0, NULL, &error));
    refused(dyn_client_join_stream(client, "plan", 1, 0, &joined, &error), DYN_CLIENT_NOT_FOUND, "get_stream.stream",
            "no stream");
    ck_assert_ptr_null(joined);
}
END_TEST

START_TEST(lost_repeated_and_reordered_points_are_counted) {
    dyn_client_stream *stream = open_stream(&feedforward);
    push(stream, 1, 10);
    push(stream, 5, 10); /* 5 to 10 again, 11 to 14 new */
    push(stream, 30, 1); /* 15 to 29 are lost so far */
    push(stream, 20, 5); /* of which 20 to 24 come late */
    push(stream, 20, 1); /* and one of them twice */
    dyn_client_stream_list *list = wait_for("plan", 5);
    const dyn_client_stream_info *s = &list->streams[0];
    ck_assert_uint_eq(s->accepted, 20);
    ck_assert_uint_eq(s->duplicates, 7);
    ck_assert_uint_eq(s->reordered, 5);
    ck_assert_uint_eq(s->lost, 10);
    ck_assert_uint_eq(s->last_point_number, 30);
    dyn_client_stream_list_free(list);
    ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
}
END_TEST

START_TEST(points_behind_the_pace_of_the_first_are_late) {
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "plan", .kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                       .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                       .late_after = 0.1);
    dyn_client_stream *stream = open_stream(&options);
    const double ahead = 60, q[NV] = {0};
    push(stream, 1, 1);
    dyn_client_stream_list_free(wait_for("plan", 1));
    pause_for(0.3);
    push(stream, 2, 1); /* for 1 ms after the first: late */
    ok(dyn_client_push_points(stream, 1, &ahead, q, NULL, NULL, NULL, 0, &error));
    dyn_client_stream_list *list = wait_for("plan", 3);
    ck_assert_uint_eq(list->streams[0].late, 1);
    ck_assert_uint_eq(list->streams[0].accepted, 2);
    ck_assert_double_ge(list->streams[0].greatest_lag, 0.29);
    /* The last point arrived before it was due: its lag is negative. */
    ck_assert_double_lt(list->streams[0].lag, 0);
    ck_assert_double_gt(list->streams[0].lag, 0.29 - ahead);
    dyn_client_stream_list_free(list);
    ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
}
END_TEST

START_TEST(points_that_are_not_finite_are_refused_one_by_one) {
    double t[3] = {0, 1, 2}, q[3 * NV] = {0}, got[3 * NV];
    uint64_t number[3];
    size_t count;
    dyn_client_watch *watch;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    dyn_client_stream *stream = open_stream(&feedforward);
    ok(dyn_client_watch_stream(client, "plan", 0, &watch, &error));
    q[NV + 2] = NAN;
    ok(dyn_client_push_points(stream, 3, t, q, NULL, NULL, NULL, 0, &error));
    bool is_reported = false;
    while (!is_reported) {
        ok(dyn_client_watch_next(watch, 5, &update, &error));
        is_reported = update.kind == DYN_CLIENT_UPDATE_KIND_STREAM_EVENT;
    }
    ck_assert_str_eq(update.text, "refused");
    ck_assert_ptr_nonnull(strstr(update.message, "number 2: q[2] is nan"));
    ok(dyn_client_get_stream_points(client, "plan", 1, 3, NV, 0, number, got, &count, &error));
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(number[1], 3);
    /* A row of the wrong size makes the daemon refuse the whole chunk. */
    t[0] = 5;
    dyn_client_stream_seek(stream, 4);
    ok(dyn_client_push_points(stream, 1, t, NULL, NULL, NULL, NULL, 0, &error));
    dyn_client_stream_list *list = wait_for("plan", 2);
    ck_assert_uint_eq(list->streams[0].refused, 2);
    ck_assert_uint_eq(list->streams[0].accepted, 2);
    dyn_client_stream_list_free(list);
    dyn_client_watch_close(watch);
    ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
}
END_TEST

/* ---- limits ------------------------------------------------------------------------------------------------------ */

START_TEST(flooding_planner_neither_uses_memory_nor_delays_others) {
    dyn_client_simulation_options paced =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "arm",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                           .pace = DYN_CLIENT_PACE_CLOCK);
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "flood", .kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                       .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                       .capacity = 10000);
    dyn_client_simulation *simulation, *later;
    uint64_t token;
    ok(dyn_client_create_simulation(client, &paced, &token, &simulation, &error));
    dyn_client_stream *stream = open_stream(&options);
    push(stream, 1, 10000);
    dyn_client_stream_list_free(wait_for("flood", 1));
    size_t before = daemon_resident_bytes(&fixture);
    for (size_t i = 1; i < 100; i++) {
        push(stream, 1 + i * 10000, 10000);
    }
    dyn_client_stream_list *list = wait_for("flood", 100);
    ck_assert_uint_eq(list->streams[0].accepted, 1000000);
    ck_assert_uint_eq(list->streams[0].lost, 0);
    ck_assert_uint_le(daemon_resident_bytes(&fixture), before + DAEMON_MEMORY_SLACK(16));
    ok(dyn_client_get_simulation(client, "arm", 0, 0, &later, &error));
    ck_assert_double_eq_tol(later->time - simulation->time, seconds(later->stamp_ns - simulation->stamp_ns),
                            0.05 + later->slipped);
    dyn_client_stream_list_free(list);
    dyn_client_simulation_free(simulation);
    dyn_client_simulation_free(later);
    ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
}
END_TEST

/* Checks that floods of new streams release their memory. The first floods are not counted: memory comes from the
 * arenas of several threads, and malloc_trim keeps the ends of arenas. */
START_TEST(floods_leave_no_memory_allocated) {
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "flood", .kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                       .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                       .capacity = 10000);
    size_t before = 0, after = SIZE_MAX;
    for (int k = 0; k < 20; k++) {
        dyn_client_stream *stream = open_stream(&options);
        for (size_t i = 0; i < 20; i++) {
            push(stream, 1 + i * 10000, 10000);
        }
        dyn_client_stream_list_free(wait_for("flood", 20));
        ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
        before = k == 3 ? daemon_resident_bytes(&fixture) : before;
    }
    for (int i = 0; i < 100 && after > before + DAEMON_MEMORY_SLACK(8); i++) {
        pause_for(0.1);
        after = daemon_resident_bytes(&fixture);
    }
    ck_assert_uint_le(after, before + DAEMON_MEMORY_SLACK(8));
}
END_TEST

/* Creates a simulation "arm" in lockstep, whose computed-torque controller can follow a stream; returns its token. */
static uint64_t create_follower(void) {
    static const double kp = 400, kd = 40;
    dyn_client_simulation_options options = DYN_CLIENT_SIMULATION_OPTIONS_INIT(
            .name = "arm", .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
            .stepping = &(dyn_client_stepping)DYN_CLIENT_STEPPING_INIT(.law = DYN_CLIENT_CONTROL_LAW_COMPUTED_TORQUE,
                                                                       .gain_count = 1, .kp = &kp, .kd = &kd,
                                                                       .ignore_effort_limits = true));
    dyn_client_simulation *created;
    uint64_t token;
    ok(dyn_client_create_simulation(client, &options, &token, &created, &error));
    dyn_client_simulation_free(created);
    return token;
}

START_TEST(points_drive_a_simulation_at_their_time) {
    uint64_t token = create_follower();
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "plan", .kind = DYN_CLIENT_STREAM_KIND_SIMULATION_INPUT,
                                       .simulation = "arm", .token = token, .empty = DYN_CLIENT_EMPTY_POLICY_PAUSE);
    double t[POINTS], q[POINTS * NV], v[POINTS * NV], a[POINTS * NV];
    dyn_client_simulation *state;
    dyn_client_stream *stream = open_stream(&options);
    plan(0, POINTS, t, q, v, a);
    ok(dyn_client_set_simulation_state(client, "arm", token, NV, NV, q, v, 0, NULL, &error));
    ok(dyn_client_push_points(stream, POINTS, t, q, v, a, NULL, 0, &error));
    dyn_client_stream_list *early = wait_for("plan", 1);
    ck_assert_double_eq_tol(early->streams[0].lag, t[0] - t[POINTS - 1], 1e-12);
    ck_assert_double_eq_tol(early->streams[0].greatest_lag, 0, 1e-12);
    dyn_client_stream_list_free(early);
    ok(dyn_client_record_simulation(client, "arm", token, "fed", 0, &error));
    ok(dyn_client_step_simulation(client, "arm", token, POINTS - 1, NULL, 0, &state, &error));
    ok(dyn_client_stop_recording(client, "arm", token, 0, NULL, NULL, &error));
    for (int j = 0; j < NV; j++) {
        ck_assert_double_eq_tol(state->q[j], q[(POINTS - 1) * NV + j], 2e-3);
    }
    dyn_client_simulation_free(state);
    /* The recording contains the inputs that came from the stream. */
    dyn_client_replay *replay;
    ok(dyn_client_replay_simulation(client, "fed", NULL, NULL, &replay, &error));
    ck_assert_uint_eq(replay->steps, POINTS - 1);
    ck_assert_uint_eq(replay->equal_steps, POINTS - 1);
    dyn_client_replay_free(replay);
    /* The simulation pauses where there are no points. */
    ok(dyn_client_step_simulation(client, "arm", token, 10, NULL, 0, &state, &error));
    ck_assert_int_eq(state->ended_by, DYN_CLIENT_STEPS_END_INPUT_EMPTY);
    ck_assert_uint_lt(state->steps_done, 10);
    ck_assert_uint_eq(state->step, POINTS - 1 + state->steps_done);
    dyn_client_simulation_free(state);
    /* Points for a past time are late. */
    dyn_client_stream_seek(stream, POINTS + 1);
    ok(dyn_client_push_points(stream, 10, t, q, v, a, NULL, 0, &error));
    dyn_client_stream_list *list = wait_for("plan", 2);
    ck_assert_uint_eq(list->streams[0].late, 10);
    ck_assert_uint_eq(list->streams[0].accepted, POINTS);
    ck_assert_double_gt(list->streams[0].greatest_lag, 0.08);
    ok(dyn_client_get_simulation(client, "arm", 0, 0, &state, &error));
    ck_assert_double_eq_tol(list->streams[0].lag, state->time - t[9], 1e-9);
    dyn_client_simulation_free(state);
    dyn_client_stream_list_free(list);
    ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
}
END_TEST

START_TEST(external_forces_act_beside_a_stream) {
    const double weight[3] = {0, 0, -40};
    const dyn_client_external_force load = {
        .link = "tool0", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, .force = weight, .rows = 1};
    const dyn_client_simulation_input loaded =
        DYN_CLIENT_SIMULATION_INPUT_INIT(.external_force_count = 1, .external_forces = &load);
    uint64_t token = create_follower();
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "plan", .kind = DYN_CLIENT_STREAM_KIND_SIMULATION_INPUT,
                                       .simulation = "arm", .token = token);
    double t[POINTS], q[POINTS * NV], v[POINTS * NV], a[POINTS * NV];
    dyn_client_simulation *state;
    dyn_client_replay *replay;
    dyn_client_stream *stream = open_stream(&options);
    plan(0, POINTS, t, q, v, a);
    ok(dyn_client_set_simulation_state(client, "arm", token, NV, NV, q, v, 0, NULL, &error));
    ok(dyn_client_push_points(stream, POINTS, t, q, v, a, NULL, 0, &error));
    dyn_client_stream_list_free(wait_for("plan", 1));
    ok(dyn_client_record_simulation(client, "arm", token, "loaded", 0, &error));
    ok(dyn_client_step_simulation(client, "arm", token, 20, NULL, 0, NULL, &error));
    ok(dyn_client_step_simulation(client, "arm", token, POINTS - 21, &loaded, 0, NULL, &error));
    ok(dyn_client_stop_recording(client, "arm", token, 0, NULL, NULL, &error));
    /* Points do not end the load: it pulls the arm off its motion, and acts again in the replay. */
    ok(dyn_client_get_simulation(client, "arm", 0, 0, &state, &error));
    ck_assert_uint_eq(state->external_force_count, 1);
    ck_assert_mem_eq(state->external_forces[0].force, weight, sizeof weight);
    ck_assert_double_gt(fabs(state->q[1] - q[(POINTS - 1) * NV + 1]), 2e-3);
    dyn_client_simulation_free(state);
    ok(dyn_client_replay_simulation(client, "loaded", NULL, NULL, &replay, &error));
    ck_assert_uint_eq(replay->steps, POINTS - 1);
    ck_assert_uint_eq(replay->equal_steps, POINTS - 1);
    dyn_client_replay_free(replay);
    ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
}
END_TEST

/* Opens a stream without points into the simulation "arm", runs a step, and waits for the event that names the
 * stream. */
static void starve(const char *name, uint64_t token, dyn_client_watch *watch) {
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_SIMULATION_INPUT, .simulation = "arm");
    options.name = name;
    options.token = token;
    dyn_client_stream *stream = open_stream(&options);
    ok(dyn_client_step_simulation(client, "arm", token, 1, NULL, 0, NULL, &error));
    do {
        ok(dyn_client_watch_next(watch, 5, &update, &error));
    } while (update.kind != DYN_CLIENT_UPDATE_KIND_SIMULATION_EVENT);
    ck_assert_str_eq(update.text, "stream_empty");
    ck_assert_msg(strstr(update.message, name) != NULL, "%s", update.message);
    ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
}

START_TEST(each_stream_without_points_is_reported) {
    dyn_client_watch *watch;
    uint64_t token = create_follower();
    ok(dyn_client_watch_simulation(client, "arm", 0, &watch, &error));
    starve("first", token, watch);
    starve("second", token, watch);
    dyn_client_watch_close(watch);
}
END_TEST

START_TEST(credit_bounds_points_that_wait) {
    uint64_t token = create_follower();
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "plan", .kind = DYN_CLIENT_STREAM_KIND_SIMULATION_INPUT,
                                       .simulation = "arm", .token = token, .capacity = 50);
    dyn_client_stream *stream = open_stream(&options);
    for (size_t i = 0; i < 4; i++) {
        push(stream, 1 + 25 * i, 25);
    }
    dyn_client_stream_list *list = wait_for("plan", 4);
    ck_assert_uint_eq(list->streams[0].accepted, 50);
    ck_assert_uint_eq(list->streams[0].beyond_credit, 50);
    ck_assert_uint_eq(list->streams[0].waiting, 50);
    ck_assert_uint_eq(list->streams[0].credit, 50);
    dyn_client_stream_list_free(list);
    ok(dyn_client_step_simulation(client, "arm", token, 21, NULL, 0, NULL, &error));
    list = wait_for("plan", 4);
    ck_assert_uint_eq(list->streams[0].consumed, 20);
    ck_assert_uint_eq(list->streams[0].credit, 70);
    dyn_client_stream_list_free(list);
    ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
}
END_TEST

START_TEST(points_beyond_the_credit_can_be_pushed_again) {
    uint64_t token = create_follower();
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "plan", .kind = DYN_CLIENT_STREAM_KIND_SIMULATION_INPUT,
                                       .simulation = "arm", .token = token, .capacity = 50);
    dyn_client_stream *stream = open_stream(&options);
    push(stream, 1, 40);
    push(stream, 41, 20);
    dyn_client_stream_list *list = wait_for("plan", 2);
    ck_assert_uint_eq(list->streams[0].beyond_credit, 10);
    dyn_client_stream_list_free(list);
    ok(dyn_client_step_simulation(client, "arm", token, 21, NULL, 0, NULL, &error));
    push(stream, 51, 10);
    list = wait_for("plan", 3);
    ck_assert_uint_eq(list->streams[0].accepted, 60);
    ck_assert_uint_eq(list->streams[0].duplicates, 0);
    ck_assert_uint_eq(list->streams[0].reordered, 0);
    ck_assert_uint_eq(list->streams[0].lost, 0);
    ck_assert_uint_eq(list->streams[0].waiting, 40);
    dyn_client_stream_list_free(list);
    ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
}
END_TEST

START_TEST(planner_that_dies_leaves_no_stream_behind) {
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "plan", .kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                       .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                       .idle_time = 0.3);
    dyn_client_stream *stream = open_stream(&options);
    dyn_client_watch *watch;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    dyn_client_stream_list *list;
    ok(dyn_client_watch_stream(client, "plan", 0, &watch, &error));
    /* A second planner is killed while its stream runs. */
    pid_t child = fork();
    if (child == 0) {
        execl(PLANNER_PROGRAM, "planner", fixture.request_tcp, "ur5", "30", (char *)NULL);
        _exit(127);
    }
    pause_for(0.4);
    push(stream, 1, 10);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    do {
        ok(dyn_client_watch_next(watch, 5, &update, &error));
    } while (strcmp(update.text, "expired") != 0);
    refused(dyn_client_get_stream(client, "plan", 0, &list, &error), DYN_CLIENT_NOT_FOUND, "get_stream.stream",
            "may have ended");
    refused(dyn_client_close_stream(client, stream, 0, NULL, &error), DYN_CLIENT_NOT_FOUND, "close_stream.stream",
            "may have ended");
    dyn_client_watch_close(watch);
}
END_TEST

START_TEST(recorded_points_are_in_the_file) {
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "log", .kind = DYN_CLIENT_STREAM_KIND_RECORD,
                                       .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                       .recording = "points");
    char path[160];
    dyn_client_stream *stream = open_stream(&options);
    dyn_client_stream_list *list;
    push(stream, 1, POINTS);
    dyn_client_stream_list_free(wait_for("log", 1));
    ok(dyn_client_close_stream(client, stream, 0, &list, &error));
    ck_assert_uint_eq(list->streams[0].consumed, POINTS);
    dyn_client_stream_list_free(list);
    snprintf(path, sizeof path, "%s/state/recordings/points.recording", fixture.directory);
    double t[POINTS], q[POINTS * NV], v[POINTS * NV], a[POINTS * NV];
    static char bytes[1 << 16];
    plan(1, POINTS, t, q, v, a);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    ck_assert_ptr_nonnull(memmem(bytes, size, q, sizeof q));
    ck_assert_ptr_nonnull(memmem(bytes, size, a, sizeof a));
    /* The file is no recording of a simulation, and a second recording of its name is refused. */
    dyn_client_replay *replay;
    refused(dyn_client_replay_simulation(client, "points", NULL, NULL, &replay, &error), DYN_CLIENT_DATA_LOSS,
            "replay_simulation.recording", "no recording of a simulation");
    refused(dyn_client_open_stream(client, &options, &stream, &error), DYN_CLIENT_ALREADY_EXISTS,
            "open_stream.record.recording", "already");
}
END_TEST

static void expect_recordings(size_t count) {
    dyn_client_recording_list *list;
    ok(dyn_client_list_recordings(client, 0, &list, &error));
    ck_assert_uint_eq(list->count, count);
    dyn_client_recording_list_free(list);
}

START_TEST(refused_stream_leaves_no_recording) {
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "log", .kind = DYN_CLIENT_STREAM_KIND_RECORD,
                                       .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                       .recording = "points");
    dyn_client_stream *stream = open_stream(&options), *second;
    options.recording = "more";
    refused(dyn_client_open_stream(client, &options, &second, &error), DYN_CLIENT_ALREADY_EXISTS, "open_stream.name",
            "already");
    expect_recordings(1);
    ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
    expect_recordings(1);
}
END_TEST

/* Checks that a refused chunk uses up no numbers: its points can be pushed again in parts. */
START_TEST(chunk_that_no_recording_can_hold_is_refused) {
    enum { MANY = 60000, FEW = 20000 };
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "log", .kind = DYN_CLIENT_STREAM_KIND_RECORD,
                                       .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                       .recording = "points", .capacity = MANY);
    double *t = calloc(MANY, sizeof *t), *rows = calloc(MANY, 3 * NV * sizeof *rows);
    const double *q = rows, *v = rows + MANY * NV, *a = rows + 2 * MANY * NV;
    dyn_client_watch *watch;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    dyn_client_stream *stream = open_stream(&options);
    ok(dyn_client_watch_stream(client, "log", 0, &watch, &error));
    ok(dyn_client_push_points(stream, MANY, t, q, v, a, NULL, 0, &error));
    ok(dyn_client_watch_next(watch, 5, &update, &error));
    ck_assert_str_eq(update.text, "refused");
    ck_assert_msg(strstr(update.message, "push at most 8388608 bytes at once") != NULL, "%s", update.message);
    dyn_client_watch_close(watch);
    dyn_client_stream_seek(stream, 1);
    ok(dyn_client_push_points(stream, FEW, t, q, v, a, NULL, 0, &error));
    dyn_client_stream_list *list = wait_for("log", 2);
    ck_assert_uint_eq(list->streams[0].refused, 1);
    ck_assert_uint_eq(list->streams[0].duplicates, 0);
    ck_assert_uint_eq(list->streams[0].beyond_credit, 0);
    ck_assert_uint_eq(list->streams[0].accepted, FEW);
    dyn_client_stream_list_free(list);
    ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
    free(t);
    free(rows);
}
END_TEST

START_TEST(bad_input_is_refused_by_the_path_of_its_field) {
    dyn_client_stream *stream;
    const double gravity[3] = {0, 0, -9};
    uint64_t token = create_follower();
    const struct {
        dyn_client_stream_options options;
        dyn_client_status status;
        const char *field, *word;
    } cases[] = {
        {DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                        .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                        .name = "plan.1"),
         DYN_CLIENT_INVALID_ARGUMENT, "open_stream.name", "is no name"},
        {DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                        .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur6")),
         DYN_CLIENT_NOT_FOUND, "open_stream.query.model", "ur5"},
        {DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                        .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"), .name = "/"),
         DYN_CLIENT_INVALID_ARGUMENT, "open_stream.name", "letters"},
        {DYN_CLIENT_STREAM_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"), .kind = 7),
         DYN_CLIENT_INVALID_ARGUMENT, "open_stream.target", "7"},
        {DYN_CLIENT_STREAM_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5")),
         DYN_CLIENT_INVALID_ARGUMENT, "open_stream.target", "kind is 0"},
        {DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_SIMULATION_INPUT, .simulation = "arm",
                                        .token = token, .empty = 7),
         DYN_CLIENT_INVALID_ARGUMENT, "open_stream.simulation_input.empty", "7"},
        {DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_SIMULATION_INPUT, .simulation = "arm",
                                        .token = token,
                                        .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5")),
         DYN_CLIENT_INVALID_ARGUMENT, "open_stream.query.model", "leave it out"},
        {DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_RECORD,
                                        .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5",
                                                                                          .gravity = gravity)),
         DYN_CLIENT_INVALID_ARGUMENT, "open_stream.query.gravity", "leave it out"},
        {DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                        .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                        .late_after = NAN),
         DYN_CLIENT_INVALID_ARGUMENT, "open_stream.late_after", "nan"},
        {DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                        .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                        .idle_time = -1),
         DYN_CLIENT_INVALID_ARGUMENT, "open_stream.idle_time", "-1"},
        {DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                        .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                        .capacity = 1ULL << 40),
         DYN_CLIENT_RESOURCE_EXHAUSTED, "open_stream.capacity", "limits"},
        {DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_SIMULATION_INPUT, .simulation = "none"),
         DYN_CLIENT_NOT_FOUND, "open_stream.simulation_input.simulation", "none"},
        {DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_SIMULATION_INPUT, .simulation = "arm",
                                        .token = token + 1),
         DYN_CLIENT_PERMISSION_DENIED, "open_stream.simulation_input.token", "commanded by"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        refused(dyn_client_open_stream(client, &cases[i].options, &stream, &error), cases[i].status, cases[i].field,
                cases[i].word);
    }
    dyn_client_stream_options feeder = DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_SIMULATION_INPUT,
                                                                      .simulation = "arm", .token = token);
    dyn_client_stream *first = open_stream(&feeder);
    refused(dyn_client_open_stream(client, &feeder, &stream, &error), DYN_CLIENT_FAILED_PRECONDITION,
            "open_stream.simulation_input.simulation", "already");
    ok(dyn_client_close_stream(client, first, 0, NULL, &error));
    double tau[NV];
    uint64_t number;
    size_t count;
    refused(dyn_client_get_stream_points(client, "none", 1, 1, NV, 0, &number, tau, &count, &error),
            DYN_CLIENT_NOT_FOUND, "get_stream_points.stream", "none");
}
END_TEST

START_TEST(planner_example_gets_its_torques_back) {
    int output[2], status;
    char text[1024] = "";
    ck_assert_int_eq(pipe(output), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(output[1], STDOUT_FILENO);
        execl(PLANNER_PROGRAM, "planner", fixture.request_tcp, "ur5", "0.5", (char *)NULL);
        _exit(127);
    }
    close(output[1]);
    ssize_t got, size = 0;
    while (size + 1 < (ssize_t)sizeof text &&
           (got = read(output[0], text + size, sizeof text - 1 - (size_t)size)) > 0) {
        size += got;
    }
    close(output[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "500 points accepted, 0 lost, 0 late, 0 refused; 500 torques came back"));
    ck_assert_ptr_nonnull(strstr(text, "latency from push to torque: p50"));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("streams");
    TCase *tests = tcase_create("streams");
    tcase_add_checked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, points_come_back_as_torques_of_inverse_dynamics);
    tcase_add_test(tests, torques_count_gravity_payloads_forces_and_precision_of_the_query);
    tcase_add_test(tests, points_under_way_come_before_the_end);
    tcase_add_test(tests, points_end_at_the_largest_number);
    tcase_add_test(tests, order_of_joints_is_the_callers);
    tcase_add_test(tests, owner_of_the_key_joins_a_stream_and_continues_its_numbers);
    tcase_add_test(tests, lost_repeated_and_reordered_points_are_counted);
    tcase_add_test(tests, points_behind_the_pace_of_the_first_are_late);
    tcase_add_test(tests, points_that_are_not_finite_are_refused_one_by_one);
    tcase_add_test(tests, flooding_planner_neither_uses_memory_nor_delays_others);
    tcase_add_test(tests, floods_leave_no_memory_allocated);
    tcase_add_test(tests, points_drive_a_simulation_at_their_time);
    tcase_add_test(tests, external_forces_act_beside_a_stream);
    tcase_add_test(tests, each_stream_without_points_is_reported);
    tcase_add_test(tests, credit_bounds_points_that_wait);
    tcase_add_test(tests, points_beyond_the_credit_can_be_pushed_again);
    tcase_add_test(tests, planner_that_dies_leaves_no_stream_behind);
    tcase_add_test(tests, recorded_points_are_in_the_file);
    tcase_add_test(tests, refused_stream_leaves_no_recording);
    tcase_add_test(tests, chunk_that_no_recording_can_hold_is_refused);
    tcase_add_test(tests, bad_input_is_refused_by_the_path_of_its_field);
    tcase_add_test(tests, planner_example_gets_its_torques_back);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
