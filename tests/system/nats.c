/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients and several daemons at one NATS server: replicas that die, stop, drain and come back, and a NATS server that
 * restarts. Each reply is compared with a closed form.
 */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dynamics_client.h>

#include "system/daemon_fixture.h"
#include "system/load.h"
#include "system/sp_request.h"
#include "system/runner.h"

enum { REPLICAS = 3 };

static const double TOLERANCE = 1e-9;

static nats_server server;
static daemon_fixture replicas[REPLICAS];

static void start(void) {
    nats_server_start(&server);
    for (int i = 0; i < REPLICAS; i++) {
        daemon_start(&(daemon_options){.nats = server.url}, &replicas[i]);
    }
}

/* Stops the replicas that run. */
static void stop(void) {
    for (int i = 0; i < REPLICAS; i++) {
        if (replicas[i].process > 0) {
            daemon_stop(&replicas[i]);
        }
    }
    nats_server_stop(&server);
}

START_TEST(a_killed_replica_costs_no_answer) {
    load l;
    load_start(server.url, &l);
    ck_assert_int_eq(daemon_end(&replicas[0], SIGKILL), 128 + SIGKILL);
    load_end(&l, "kill -9 of one of three");
    daemon_begin(&replicas[0]);
}
END_TEST

START_TEST(a_drained_replica_finishes_its_requests) {
    load l;
    load_start(server.url, &l);
    daemon_restart(&replicas[1]);
    daemon_restart(&replicas[2]);
    load_end(&l, "two restarts of three");
}
END_TEST

START_TEST(a_stopped_replica_is_passed_by_within_the_timeout) {
    load l;
    load_start(server.url, &l);
    daemon_signal(&replicas[0], SIGSTOP);
    load_pause(1);
    daemon_signal(&replicas[0], SIGCONT);
    load_end(&l, "SIGSTOP of one of three for 1 s");
}
END_TEST

START_TEST(a_restart_of_the_nats_server_costs_no_wrong_answer) {
    load l;
    load_start(server.url, &l);
    nats_server_restart(&server);
    load_end(&l, "restart of the NATS server");
}
END_TEST

START_TEST(a_simulation_is_lost_with_its_replica_and_the_error_says_so) {
    dyn_client *client = load_connect(server.url);
    dyn_client_error error;
    dyn_client_server_info *info;
    ck_assert_int_eq(dyn_client_get_server_info(client, 0, &info, &error), DYN_CLIENT_OK);
    dyn_client_server_info_free(info);
    for (int i = 0; i < REPLICAS; i++) {
        ck_assert_int_eq(daemon_end(&replicas[i], SIGKILL), 128 + SIGKILL);
        daemon_begin(&replicas[i]);
    }
    ck_assert_int_eq(dyn_client_get_server_info(client, 0, &info, &error), DYN_CLIENT_UNREACHABLE);
    ck_assert_msg(strstr(error.message, "is gone, with its simulations") != NULL, "%s", error.message);
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = 1);
    double q[2] = {0.1, 0.2}, g[2];
    ck_assert_msg(dyn_client_gravity(client, &query, q, g, &error) == DYN_CLIENT_OK, "%s", error.message);
    dyn_client_close(client);
}
END_TEST

START_TEST(no_daemon_and_no_server_are_told_apart) {
    dyn_client *client;
    dyn_client_error error;
    nats_server alone;
    const dyn_client_options brief = DYN_CLIENT_OPTIONS_INIT(.connect_timeout = 0.5);
    nats_server_start(&alone);
    ck_assert_int_eq(dyn_client_connect(alone.url, &brief, &client, &error), DYN_CLIENT_UNREACHABLE);
    ck_assert_msg(strstr(error.message, "no dynamicsd answers") != NULL, "%s", error.message);
    nats_server_stop(&alone);
    ck_assert_int_eq(dyn_client_connect(alone.url, &brief, &client, &error), DYN_CLIENT_UNREACHABLE);
    ck_assert_msg(strstr(error.message, "no NATS server") != NULL, "%s", error.message);
}
END_TEST

START_TEST(a_request_beyond_the_payload_is_refused_with_both_sizes) {
    const size_t size = (size_t)40 << 20;
    dyn_client *client = load_connect(server.url);
    dyn_client_error error;
    void *reply;
    size_t reply_size;
    uint8_t *bytes = calloc(1, size);
    ck_assert_int_eq(dyn_client_call(client, bytes, size, 0, &reply, &reply_size, &error),
                     DYN_CLIENT_RESOURCE_EXHAUSTED);
    ck_assert_msg(strstr(error.message, "max_payload") != NULL, "%s", error.message);
    ck_assert(load_ask(client, LOAD_SAMPLES, 1, NULL, &error) == DYN_CLIENT_OK);
    dyn_client_close(client);
    free(bytes);
}
END_TEST

/* ---- batches in pieces ------------------------------------------------------------------------------------------- */

/* Samples of a batch that is cut, and of one during which a replica dies. A sanitizer makes requests slower. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { BATCH = 3000, LONG_BATCH = 60000 };
#else
enum { BATCH = 12000, LONG_BATCH = 1000000 };
#endif

/* States of the UR5, or of the two-link arm, and their results. */
typedef struct states {
    size_t n;
    double *q, *v, *a, *result;
} states;

/* Creates states whose numbers follow from their index; `width` numbers of a row, `numbers` of a result. */
static states create_states(size_t n, size_t width, size_t numbers) {
    states s = {n, calloc(n * width, sizeof(double)), calloc(n * width, sizeof(double)),
                calloc(n * width, sizeof(double)), calloc(n * numbers, sizeof(double))};
    for (size_t k = 0; k < n * width; k++) {
        double t = 0.11 * (double)k;
        s.q[k] = sin(t);
        s.v[k] = cos(1.3 * t);
        s.a[k] = sin(0.7 * t);
    }
    return s;
}

static void free_states(states *s) {
    free(s->q);
    free(s->v);
    free(s->a);
    free(s->result);
}

/* Computes inverse dynamics or mass matrices of the states, over NATS or by one daemon. Returns the number of
 * requests. */
static size_t compute(dyn_client *client, bool is_inverse, const states *s) {
    dyn_client_error error;
    dyn_client_spread found = DYN_CLIENT_SPREAD_INIT(.pieces = 0);
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = s->n, .timeout = 60, .spread = &found);
    ck_assert_msg((is_inverse ? dyn_client_inverse_dynamics(client, &query, s->q, s->v, s->a, s->result, &error)
                              : dyn_client_mass_matrix(client, &query, s->q, s->result, &error)) == DYN_CLIENT_OK,
                  "%s", error.message);
    ck_assert_msg(strstr(found.codes[0], "dynamicsd ") == found.codes[0], "%s", found.codes[0]);
    ck_assert_str_eq(found.codes[1], "");
    return found.pieces;
}

START_TEST(the_pieces_of_a_batch_have_the_bits_of_one_daemon) {
    dyn_client *fleet = load_connect(server.url), *alone = load_connect(replicas[0].request_ipc);
    for (int k = 0; k < 2; k++) {
        states many = create_states(BATCH, 6, 36), one = create_states(BATCH, 6, 36);
        ck_assert_uint_gt(compute(fleet, k == 0, &many), 4);
        ck_assert_uint_eq(compute(alone, k == 0, &one), 1);
        ck_assert_mem_eq(many.result, one.result, (k == 0 ? 6u : 36u) * BATCH * sizeof(double));
        free_states(&many);
        free_states(&one);
    }
    dyn_client_close(fleet);
    dyn_client_close(alone);
}
END_TEST

/* Restarts a replica with a variable of the environment: of another version of the program, or where a sanitizer does
 * not permit a preloaded library, with another instruction set. */
static void restart_with_other_code(daemon_fixture *replica) {
#ifdef OTHER_VERSION_LIBRARY
    const char *name = "LD_PRELOAD", *value = OTHER_VERSION_LIBRARY;
#else
    const char *name = "DYNAMICS_INSTRUCTION_SET", *value = "scalar";
#endif
    ck_assert_int_eq(daemon_end(replica, SIGTERM), 0);
    setenv(name, value, 1);
    daemon_begin(replica);
    unsetenv(name);
}

START_TEST(replicas_of_two_versions_are_told_apart) {
    enum { TRIES = 50 };
    states s = create_states(BATCH, 6, 6);
    dyn_client *fleet = load_connect(server.url);
    dyn_client_error error;
    dyn_client_spread found = DYN_CLIENT_SPREAD_INIT(.pieces = 0);
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = s.n, .timeout = 60, .spread = &found);
    restart_with_other_code(&replicas[0]);
    /* The NATS server distributes the pieces at random, so that a batch may miss the replica. */
    for (int i = 0; i < TRIES && found.codes[1][0] == '\0'; i++) {
        ck_assert_msg(dyn_client_inverse_dynamics(fleet, &query, s.q, s.v, s.a, s.result, &error) == DYN_CLIENT_OK,
                      "%s", error.message);
    }
    ck_assert_str_ne(found.codes[0], found.codes[1]);
#ifdef OTHER_VERSION_LIBRARY
    static const char other[] = "dynamicsd 99.0.0, ";
    bool is_first = strncmp(found.codes[0], other, strlen(other)) == 0;
    ck_assert_msg(is_first || strncmp(found.codes[1], other, strlen(other)) == 0, "%s and %s", found.codes[0],
                  found.codes[1]);
#endif
    free_states(&s);
    dyn_client_close(fleet);
}
END_TEST

/* Evaluates quantities of the states, one of them with an acceleration for each sample. */
static dyn_client_evaluation *evaluate(dyn_client *client, const states *s) {
    static const char *const frames[] = {"tool0", "forearm_link"};
    const dyn_client_task_frame task = {.frame = "tool0", .acceleration_count = 6 * s->n, .acceleration = s->a};
    const dyn_client_quantity_request quantities[] = {
        {.quantity = DYN_CLIENT_QUANTITY_CORIOLIS_MATRIX},
        {.quantity = DYN_CLIENT_QUANTITY_FRAME_POSE,
         .frame_count = 2,
         .frames = frames,
         .reference_frame = DYN_CLIENT_REFERENCE_FRAME_WORLD},
        {.quantity = DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_TORQUES,
         .task_frame_count = 1,
         .task_frames = &task,
         .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED}};
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = s->n, .timeout = 60);
    const dyn_client_evaluate_request request =
        DYN_CLIENT_EVALUATE_REQUEST_INIT(.q = s->q, .v = s->v, .quantity_count = 3, .quantities = quantities);
    dyn_client_evaluation *found;
    dyn_client_error error;
    ck_assert_msg(dyn_client_evaluate(client, &query, &request, &found, &error) == DYN_CLIENT_OK, "%s", error.message);
    return found;
}

START_TEST(the_pieces_of_an_evaluation_are_joined_in_order) {
    dyn_client *fleet = load_connect(server.url), *alone = load_connect(replicas[0].request_ipc);
    states s = create_states(BATCH / 4, 6, 1);
    dyn_client_evaluation *many = evaluate(fleet, &s), *one = evaluate(alone, &s);
    ck_assert_uint_eq(many->samples, s.n);
    ck_assert_uint_eq(many->result_count, one->result_count);
    for (size_t i = 0; i < one->result_count; i++) {
        ck_assert_uint_eq(many->results[i].block_count, one->results[i].block_count);
        for (size_t k = 0; k < one->results[i].block_count; k++) {
            const dyn_client_block *left = &many->results[i].blocks[k], *right = &one->results[i].blocks[k];
            ck_assert_str_eq(left->name, right->name);
            ck_assert_mem_eq(left->values, right->values, s.n * right->width * sizeof(double));
        }
    }
    double *position = calloc(12 * s.n, sizeof(double)), *quaternion = calloc(16 * s.n, sizeof(double));
    static const char *const frames[] = {"tool0", "forearm_link"};
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = s.n);
    dyn_client_error error;
    ck_assert_int_eq(dyn_client_poses(fleet, &query, s.q, 2, frames, position, quaternion, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_poses(alone, &query, s.q, 2, frames, position + 6 * s.n, quaternion + 8 * s.n, &error),
                     DYN_CLIENT_OK);
    ck_assert_mem_eq(position, position + 6 * s.n, 6 * s.n * sizeof(double));
    ck_assert_mem_eq(quaternion, quaternion + 8 * s.n, 8 * s.n * sizeof(double));
    free(position);
    free(quaternion);
    dyn_client_evaluation_free(many);
    dyn_client_evaluation_free(one);
    free_states(&s);
    dyn_client_close(fleet);
    dyn_client_close(alone);
}
END_TEST

/* Simulates the two-link arm for 20 steps from each state, under constant torques. */
static dyn_client_rollout *roll_out(dyn_client *client, const states *s) {
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = s->n, .timeout = 60);
    const dyn_client_stepping stepping = DYN_CLIENT_STEPPING_INIT(.step_length = 1e-3);
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = s->q, .v = s->v, .tau = s->a, .tau_layout = DYN_CLIENT_LAYOUT_CONSTANT,
                                        .steps = 20, .stride = 5, .with_energy = true, .stepping = &stepping);
    dyn_client_rollout *found;
    dyn_client_error error;
    ck_assert_msg(dyn_client_rollout_run(client, &query, &request, &found, &error) == DYN_CLIENT_OK, "%s",
                  error.message);
    return found;
}

START_TEST(the_pieces_of_rollouts_are_joined_in_order) {
    dyn_client *fleet = load_connect(server.url), *alone = load_connect(replicas[0].request_ipc);
    states s = create_states(BATCH / 4, 2, 1);
    dyn_client_rollout *many = roll_out(fleet, &s), *one = roll_out(alone, &s);
    ck_assert_uint_eq(many->samples, s.n);
    ck_assert_uint_eq(many->rows, one->rows);
    ck_assert_mem_eq(many->time, one->time, one->rows * sizeof(double));
    ck_assert_mem_eq(many->q, one->q, 2 * s.n * one->rows * sizeof(double));
    ck_assert_mem_eq(many->v, one->v, 2 * s.n * one->rows * sizeof(double));
    ck_assert_mem_eq(many->kinetic, one->kinetic, s.n * one->rows * sizeof(double));
    for (size_t i = 0; i < s.n; i++) {
        ck_assert_int_eq(many->outcomes[i].status, DYN_CLIENT_SAMPLE_STATUS_RAN);
        ck_assert_uint_eq(many->outcomes[i].steps, 20);
    }
    dyn_client_rollout_free(many);
    dyn_client_rollout_free(one);
    free_states(&s);
    dyn_client_close(fleet);
    dyn_client_close(alone);
}
END_TEST

/* Progress callback that ends no call. */
static bool go_on(void *context, double fraction) {
    (void)context;
    return fraction >= 0;
}

START_TEST(an_error_in_a_piece_names_its_place_in_the_batch) {
    dyn_client *client = load_connect(server.url);
    states s = create_states(BATCH, 6, 6);
    dyn_client_error error;
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = s.n, .timeout = 60);
    char field[96];
    s.v[6 * 2000 + 3] = s.v[6 * 2900 + 1] = NAN;
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, &query, s.q, s.v, s.a, s.result, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    snprintf(field, sizeof field, "inverse_dynamics.v[%d]", 6 * 2000 + 3);
    ck_assert_str_eq(error.field, field);
    ck_assert(error.has_sample);
    ck_assert_uint_eq(error.sample, 2000);
    query.progress = go_on;
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, &query, s.q, s.v, s.a, s.result, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, field);
    query.progress = NULL;
    query.on_error = DYN_CLIENT_ON_ERROR_MARK;
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, &query, s.q, s.v, s.a, s.result, &error), DYN_CLIENT_OK);
    ck_assert_uint_eq(error.marked, 2);
    ck_assert_uint_eq(error.sample, 2000);
    ck_assert(isnan(s.result[6 * 2000]) && isnan(s.result[6 * 2900]) && isfinite(s.result[6 * 2001]));
    query.on_error = DYN_CLIENT_ON_ERROR_FAIL;
    const dyn_client_base_motion base = {.linear_velocity = s.v, .rows = s.n};
    query.base_motion = &base;
    s.v[6 * 2000 + 3] = s.v[6 * 2900 + 1] = 0;
    s.v[3 * 2500 + 2] = NAN;
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, &query, s.q, NULL, s.a, s.result, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    snprintf(field, sizeof field, "inverse_dynamics.query.base_motion.linear_velocity[%d]", 3 * 2500 + 2);
    ck_assert_str_eq(error.field, field);
    free_states(&s);
    dyn_client_close(client);
}
END_TEST

/* A batch of the two-link arm in a thread of its own. */
typedef struct long_batch {
    states s;
    dyn_client_spread spread;
    dyn_client_status status;
    dyn_client_error error;
    atomic_bool is_over;
} long_batch;

static void *compute_long_batch(void *argument) {
    long_batch *b = argument;
    dyn_client *client = load_connect(server.url);
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = LONG_BATCH,
                                                         .timeout = 100, .spread = &b->spread);
    b->status = dyn_client_inverse_dynamics(client, &query, b->s.q, b->s.v, b->s.a, b->s.result, &b->error);
    atomic_store(&b->is_over, true);
    dyn_client_close(client);
    return NULL;
}

START_TEST(a_replica_killed_during_a_batch_costs_no_sample) {
    long_batch b = {.s = create_states(LONG_BATCH, 2, 2), .spread = {.struct_size = sizeof b.spread}};
    pthread_t thread;
    double start = load_now();
    ck_assert_int_eq(pthread_create(&thread, NULL, compute_long_batch, &b), 0);
    load_pause(0.05);
    ck_assert_int_eq(daemon_end(&replicas[0], SIGKILL), 128 + SIGKILL);
    bool was_under_way = !atomic_load(&b.is_over);
    pthread_join(thread, NULL);
    daemon_begin(&replicas[0]);
    printf("%d samples in %zu pieces, one of three replicas killed %s: %.2f s\n", LONG_BATCH, b.spread.pieces,
           was_under_way ? "on the way" : "after the end", load_now() - start);
    ck_assert_msg(b.status == DYN_CLIENT_OK, "%s", b.error.message);
    ck_assert(was_under_way);
    for (size_t k = 0; k < 2 * b.s.n; k += 2) {
        double right[2];
        sp_two_link_torques(&b.s.q[k], &b.s.v[k], &b.s.a[k], right);
        ck_assert(fabs(b.s.result[k] - right[0]) <= TOLERANCE && fabs(b.s.result[k + 1] - right[1]) <= TOLERANCE);
    }
    free_states(&b.s);
}
END_TEST

/* Returns the number of connections to a daemon for messages without a reply. */
static size_t count_one_way_connections(const daemon_fixture *daemon) {
    dyn_client *client = load_connect(daemon->request_ipc);
    dyn_client_connections *list;
    dyn_client_error error;
    size_t count = 0;
    ck_assert_msg(dyn_client_list_connections(client, 0, &list, &error) == DYN_CLIENT_OK, "%s", error.message);
    for (size_t i = 0; i < list->count; i++) {
        count += strcmp(list->connections[i].kind, "request") != 0;
    }
    dyn_client_connections_free(list);
    dyn_client_close(client);
    return count;
}

START_TEST(points_and_torques_of_a_stream_need_no_endpoint_of_the_daemon) {
    dyn_client *client = load_connect(server.url);
    dyn_client_stream *stream;
    dyn_client_watch *watch;
    dyn_client_error error;
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link");
    const dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "plan", .kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD, .query = &query);
    ck_assert_msg(dyn_client_open_stream(client, &options, &stream, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_msg(dyn_client_watch_stream(client, "plan", 0, &watch, &error) == DYN_CLIENT_OK, "%s", error.message);
    for (int i = 1; i <= 50; i++) {
        const double t = 0.01 * i, q[2] = {0.1 * i, -0.2}, v[2] = {0.3, 0.02 * i}, a[2] = {-0.5, 0.4};
        double right[2];
        dyn_client_update update = {.struct_size = sizeof update};
        sp_two_link_torques(q, v, a, right);
        ck_assert_msg(dyn_client_push_points(stream, 1, &t, q, v, a, NULL, 0, &error) == DYN_CLIENT_OK, "%s",
                      error.message);
        ck_assert_msg(dyn_client_watch_next(watch, 5, &update, &error) == DYN_CLIENT_OK, "%s", error.message);
        ck_assert_int_eq(update.kind, DYN_CLIENT_UPDATE_KIND_TORQUES);
        ck_assert_uint_eq(update.step[0], (unsigned)i);
        ck_assert_uint_eq(update.lost, 0);
        ck_assert(fabs(update.tau[0] - right[0]) <= TOLERANCE && fabs(update.tau[1] - right[1]) <= TOLERANCE);
    }
    for (int i = 0; i < REPLICAS; i++) {
        ck_assert_uint_eq(count_one_way_connections(&replicas[i]), 0);
    }
    dyn_client_stream_list *list;
    ck_assert_int_eq(dyn_client_get_stream(client, "plan", 0, &list, &error), DYN_CLIENT_OK);
    ck_assert_uint_eq(list->streams[0].accepted, 50);
    ck_assert_uint_eq(list->streams[0].watchers, 1);
    dyn_client_stream_list_free(list);
    ck_assert_int_eq(dyn_client_close_stream(client, stream, 0, NULL, &error), DYN_CLIENT_OK);
    dyn_client_close(client);
    dyn_client_watch_close(watch);
}
END_TEST

START_TEST(points_to_a_replica_that_is_gone_are_refused) {
    dyn_client *client = load_connect(server.url);
    dyn_client_stream *stream;
    dyn_client_error error;
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link");
    const dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD, .query = &query);
    const double t = 0, q[2] = {0.1, 0.2};
    ck_assert_msg(dyn_client_open_stream(client, &options, &stream, &error) == DYN_CLIENT_OK, "%s", error.message);
    for (int i = 0; i < REPLICAS; i++) {
        ck_assert_int_eq(daemon_end(&replicas[i], SIGKILL), 128 + SIGKILL);
        daemon_begin(&replicas[i]);
    }
    dyn_client_status status = DYN_CLIENT_OK;
    for (int i = 0; i < 500 && status == DYN_CLIENT_OK; i++) {
        status = dyn_client_push_points(stream, 1, &t, q, NULL, NULL, NULL, 0, &error);
        load_pause(0.01);
    }
    ck_assert_int_eq(status, DYN_CLIENT_UNREACHABLE);
    ck_assert_msg(strstr(error.message, "is gone, with its simulations, streams and jobs") != NULL, "%s",
                  error.message);
    dyn_client_leave_stream(stream);
    dyn_client_close(client);
}
END_TEST

START_TEST(a_watch_outlasts_a_restart_of_the_nats_server) {
    dyn_client *client = load_connect(server.url);
    dyn_client_watch *watch;
    dyn_client_error error;
    dyn_client_simulation *state;
    uint64_t token;
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link");
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "arm", .query = &query, .pace = DYN_CLIENT_PACE_CLOCK);
    ck_assert_msg(dyn_client_create_simulation(client, &options, &token, &state, &error) == DYN_CLIENT_OK, "%s",
                  error.message);
    dyn_client_simulation_free(state);
    ck_assert_msg(dyn_client_watch_simulation(client, "arm", 0, &watch, &error) == DYN_CLIENT_OK, "%s", error.message);
    for (int round = 0; round < 2; round++) {
        for (int rows = 0; rows < 5;) {
            dyn_client_update update = {.struct_size = sizeof update};
            ck_assert_msg(dyn_client_watch_next(watch, 10, &update, &error) == DYN_CLIENT_OK, "%s", error.message);
            rows += update.kind == DYN_CLIENT_UPDATE_KIND_STATES;
        }
        if (round == 0) {
            nats_server_restart(&server);
        }
    }
    ck_assert_msg(dyn_client_get_simulation(client, "arm", 0, 0, &state, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_uint_eq(state->watchers, 1);
    dyn_client_simulation_free(state);
    dyn_client_watch_close(watch);
    dyn_client_close(client);
}
END_TEST

START_TEST(a_cancelled_request_ends_at_the_replica_that_computes_it) {
    enum { SINGLE = 4, PIECES = 2 };
    dyn_client *client = load_connect(server.url);
    for (uint64_t i = 1; i <= SINGLE; i++) {
        load_cancel_rollout(client, 1, 1000000000000, 0);
        ck_assert_uint_eq(load_cancelled_rollouts(REPLICAS, replicas), i);
    }
    load_cancel_rollout(client, 250000, 2000, 1e-5);
    for (double end = load_now() + 5; load_cancelled_rollouts(REPLICAS, replicas) < SINGLE + PIECES;) {
        ck_assert_msg(load_now() < end, "%d of %d requests were cancelled",
                      (int)load_cancelled_rollouts(REPLICAS, replicas), SINGLE + PIECES);
    }
    dyn_client_close(client);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("nats");
    TCase *all = tcase_create("nats");
    suite_add_tcase(suite, all);
    tcase_set_timeout(all, 120);
    tcase_add_checked_fixture(all, start, stop);
    tcase_add_test(all, a_killed_replica_costs_no_answer);
    tcase_add_test(all, a_drained_replica_finishes_its_requests);
    tcase_add_test(all, a_stopped_replica_is_passed_by_within_the_timeout);
    tcase_add_test(all, a_restart_of_the_nats_server_costs_no_wrong_answer);
    tcase_add_test(all, a_simulation_is_lost_with_its_replica_and_the_error_says_so);
    tcase_add_test(all, points_and_torques_of_a_stream_need_no_endpoint_of_the_daemon);
    tcase_add_test(all, points_to_a_replica_that_is_gone_are_refused);
    tcase_add_test(all, a_watch_outlasts_a_restart_of_the_nats_server);
    tcase_add_test(all, a_cancelled_request_ends_at_the_replica_that_computes_it);
    tcase_add_test(all, no_daemon_and_no_server_are_told_apart);
    tcase_add_test(all, a_request_beyond_the_payload_is_refused_with_both_sizes);
    tcase_add_test(all, the_pieces_of_a_batch_have_the_bits_of_one_daemon);
    tcase_add_test(all, replicas_of_two_versions_are_told_apart);
    tcase_add_test(all, the_pieces_of_an_evaluation_are_joined_in_order);
    tcase_add_test(all, the_pieces_of_rollouts_are_joined_in_order);
    tcase_add_test(all, an_error_in_a_piece_names_its_place_in_the_batch);
    tcase_add_test(all, a_replica_killed_during_a_batch_costs_no_sample);
    return run_suite(suite);
}
