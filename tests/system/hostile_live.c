/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that simulations and streams survive bad peers: bytes that are no chunks, connections that come and go,
 * requests sent twice.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics_client.h"
#include "support/random.h"
#include "system/daemon_fixture.h"
#include "system/runner.h"
#include "system/sp_request.h"

enum { SP_PUSH = 0x50, NV = 6 };

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

static uint64_t stray_chunks(void) {
    dyn_client_server_info *info;
    ok(dyn_client_get_server_info(client, 0, &info, &error));
    uint64_t count = dyn_client_server_counter(info, "stray_chunks");
    dyn_client_server_info_free(info);
    return count;
}

static void wait_for_strays(uint64_t count) {
    for (int i = 0; i < 2000 && stray_chunks() < count; i++) {
        sp_pause(0.002);
    }
    ck_assert_uint_eq(stray_chunks(), count);
}

/* Sends a message of the PUSH protocol. Returns false where the connection is closed. */
static bool push_bytes(const sp_peer *peer, const void *bytes, size_t size) {
    uint8_t head[SP_MAX_HEAD];
    return sp_send_bytes(peer, head, sp_head(peer, size, head)) && sp_send_bytes(peer, bytes, size);
}

/* Checks that a stream accepts a point and publishes its torques. */
static void expect_working_stream(void) {
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                       .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"));
    double t = 0, q[NV] = {0}, tau[NV];
    uint64_t number;
    size_t count = 0;
    dyn_client_stream *stream;
    ok(dyn_client_open_stream(client, &options, &stream, &error));
    ok(dyn_client_push_points(stream, 1, &t, q, NULL, NULL, NULL, 0, &error));
    for (int i = 0; i < 2000 && count == 0; i++) {
        ok(dyn_client_get_stream_points(client, dyn_client_stream_name(stream), 1, 1, NV, 0, &number, tau, &count,
                                        &error));
        sp_pause(0.001);
    }
    ck_assert_uint_eq(count, 1);
    ck_assert_double_lt(tau[1], -50);
    ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
}

START_TEST(bytes_that_are_no_chunks_are_counted_and_left_out) {
    const char *addresses[] = {fixture.ingest_ipc, fixture.ingest_tcp};
    random_source random = random_seed("bytes that are no chunks", 41);
    uint8_t bytes[600];
    uint64_t sent = 0;
    for (int a = 0; a < 2; a++) {
        sp_peer peer = sp_open(addresses[a], SP_PUSH);
        for (int i = 0; i < 300; i++) {
            size_t size = (size_t)random_index(&random, sizeof bytes);
            for (size_t k = 0; k < size; k++) {
                bytes[k] = (uint8_t)random_bits(&random);
            }
            ck_assert(push_bytes(&peer, bytes, size));
            sent++;
        }
        /* A chunk with a key that no stream has. */
        const uint8_t chunk[] = {0x08, 0x7b, 0x10, 0x01};
        ck_assert(push_bytes(&peer, chunk, sizeof chunk));
        sent++;
        sp_close(&peer);
    }
    wait_for_strays(sent);
    expect_working_stream();
}
END_TEST

START_TEST(bytes_of_another_protocol_and_long_messages_close_the_connection) {
    sp_peer peer = sp_connect(fixture.ingest_tcp);
    ck_assert(sp_send_bytes(&peer, "GET / HTTP/1.1\r\n\r\n", 18));
    ck_assert(sp_is_closed_within(&peer, 5));
    sp_close(&peer);
    peer = sp_open(fixture.ingest_tcp, SP_PUSH);
    uint8_t head[SP_MAX_HEAD];
    size_t length = sp_head(&peer, UINT64_C(1) << 40, head);
    ck_assert(sp_send_bytes(&peer, head, length));
    ck_assert(sp_is_closed_within(&peer, 5));
    sp_close(&peer);
    expect_working_stream();
}
END_TEST

START_TEST(half_messages_do_not_delay_others) {
    sp_peer peers[20];
    for (int i = 0; i < 20; i++) {
        peers[i] = sp_open(i % 2 ? fixture.ingest_tcp : fixture.ingest_ipc, SP_PUSH);
        uint8_t head[SP_MAX_HEAD];
        size_t length = sp_head(&peers[i], 1000, head);
        ck_assert(sp_send_bytes(&peers[i], head, length - (i % 3 == 0 ? 2 : 0)));
    }
    expect_working_stream();
    for (int i = 0; i < 20; i++) {
        sp_close(&peers[i]);
    }
    expect_working_stream();
}
END_TEST

START_TEST(connections_that_come_and_go_leave_topics_and_ingest_alive) {
    dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "arm",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                           .pace = DYN_CLIENT_PACE_CLOCK);
    dyn_client_simulation *created;
    dyn_client_watch *watch;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    uint64_t token;
    char topic[128];
    ok(dyn_client_create_simulation(client, &options, &token, &created, &error));
    ok(dyn_client_watch_simulation(client, "arm", 0, &watch, &error));
    snprintf(topic, sizeof topic, "%s-1", fixture.events_ipc);
    for (int i = 0; i < 50; i++) {
        sp_peer peer = sp_try_connect(i % 2 ? topic : fixture.ingest_ipc);
        sp_close(&peer);
    }
    expect_working_stream();
    dyn_client_watch_close(watch);
    ok(dyn_client_watch_simulation(client, "arm", 0, &watch, &error));
    ok(dyn_client_watch_next(watch, 5, &update, &error));
    dyn_client_watch_close(watch);
    dyn_client_simulation_free(created);
}
END_TEST

/* Checks that a repeated request, such as REQ sends when its connection breaks, is executed once. */
START_TEST(repeated_requests_are_executed_once) {
    dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "arm",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"));
    dyn_client_simulation *simulation;
    uint64_t token;
    char name[] = "arm", fresh[] = "fresh", model[] = "ur5";
    ok(dyn_client_create_simulation(client, &options, &token, &simulation, &error));
    dyn_client_simulation_free(simulation);
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__StepSimulationRequest step = DYNAMICS__V1__STEP_SIMULATION_REQUEST__INIT;
    request.id = 5;
    request.client = 7;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_STEP_SIMULATION;
    request.step_simulation = &step;
    step.simulation = name;
    step.token = token;
    step.steps = 10;
    sp_peer peer = sp_open(fixture.request_tcp, SP_REQ);
    for (uint64_t i = 0; i < 4; i++) {
        request.id = 5 + i / 2;
        Dynamics__V1__Reply *reply = sp_call(&peer, &request);
        sp_expect_ok(reply);
        ck_assert_uint_eq(reply->step_simulation->state->step, 10 + i / 2 * 10);
        sp_free_reply(reply);
    }
    /* A repeated creation of a simulation returns the first token. */
    Dynamics__V1__CreateSimulationRequest create = DYNAMICS__V1__CREATE_SIMULATION_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    query.model = model;
    create.name = fresh;
    create.query = &query;
    request.id = 9;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_CREATE_SIMULATION;
    request.create_simulation = &create;
    uint64_t tokens[2];
    for (int i = 0; i < 2; i++) {
        Dynamics__V1__Reply *reply = sp_call(&peer, &request);
        sp_expect_ok(reply);
        tokens[i] = reply->create_simulation->token;
        sp_free_reply(reply);
    }
    ck_assert_uint_eq(tokens[0], tokens[1]);
    sp_close(&peer);
}
END_TEST

/* Checks that a client must choose the kind of a stream. */
START_TEST(stream_without_a_target_is_refused) {
    static char model[] = "ur5";
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__OpenStreamRequest open = DYNAMICS__V1__OPEN_STREAM_REQUEST__INIT;
    Dynamics__V1__FeedforwardTarget feedforward = DYNAMICS__V1__FEEDFORWARD_TARGET__INIT;
    request.id = 1;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_OPEN_STREAM;
    request.open_stream = &open;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    query.model = model;
    open.query = &query;
    sp_peer peer = sp_open(fixture.request_tcp, SP_REQ);
    sp_expect_error(sp_call(&peer, &request), DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT, "open_stream.target",
                    "feedforward");
    open.target_case = DYNAMICS__V1__OPEN_STREAM_REQUEST__TARGET_FEEDFORWARD;
    open.feedforward = &feedforward;
    request.id = 2;
    Dynamics__V1__Reply *reply = sp_call(&peer, &request);
    sp_expect_ok(reply);
    sp_free_reply(reply);
    sp_close(&peer);
}
END_TEST

START_TEST(chunk_that_decodes_to_much_is_refused) {
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "plan", .kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                       .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                       .capacity = 100);
    dyn_client_stream *stream;
    dyn_client_stream_list *list = NULL;
    enum { MANY = 1 << 20 };
    double *t = calloc(MANY, sizeof *t);
    ok(dyn_client_open_stream(client, &options, &stream, &error));
    ok(dyn_client_push_points(stream, MANY, t, NULL, NULL, NULL, NULL, 0, &error));
    free(t);
    for (int i = 0; i < 2000 && (!list || list->streams[0].chunks == 0); i++) {
        dyn_client_stream_list_free(list);
        ok(dyn_client_get_stream(client, "plan", 0, &list, &error));
        sp_pause(0.002);
    }
    ck_assert_uint_eq(list->streams[0].refused, 1);
    ck_assert_uint_eq(list->streams[0].accepted, 0);
    dyn_client_stream_list_free(list);
    ok(dyn_client_close_stream(client, stream, 0, NULL, &error));
    expect_working_stream();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("hostile_live");
    TCase *tests = tcase_create("hostile_live");
    tcase_add_checked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, bytes_that_are_no_chunks_are_counted_and_left_out);
    tcase_add_test(tests, bytes_of_another_protocol_and_long_messages_close_the_connection);
    tcase_add_test(tests, half_messages_do_not_delay_others);
    tcase_add_test(tests, connections_that_come_and_go_leave_topics_and_ingest_alive);
    tcase_add_test(tests, repeated_requests_are_executed_once);
    tcase_add_test(tests, stream_without_a_target_is_refused);
    tcase_add_test(tests, chunk_that_decodes_to_much_is_refused);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
