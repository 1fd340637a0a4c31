/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the daemon against peers that make it hold memory: partial messages, replies that nobody reads, and more
 * connections than their share. The daemon must stay within its bound, and other clients get their answers.
 */
#include <arpa/inet.h>
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dynamics_client.h>

#include "system/daemon_fixture.h"
#include "system/hostile_witness.h"
#include "system/sp_request.h"
#include "system/sp_wire.h"
#include "system/runner.h"

enum { SP_PUSH = 0x50, MEBI = 1 << 20, KIBI = 1 << 10, UR5_JOINTS = 6 };

/* Limits for exactly one request of 1 MiB and its reply of 6.5 MiB. */
static const char tight[] =
    "[limits]\nmessage_bytes = 1 MiB\nreply_bytes = 6656 KiB\nmemory_bytes = 22 MiB\nreply_time = 0.5\n";
static const size_t tight_bytes = (size_t)22 * MEBI;

static dyn_client_server_info *server_info(const daemon_fixture *d) {
    dyn_client *client;
    dyn_client_server_info *info;
    dyn_client_error error;
    ck_assert_msg(dyn_client_connect(d->request_ipc, NULL, &client, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_msg(dyn_client_get_server_info(client, 0, &info, &error) == DYN_CLIENT_OK, "%s", error.message);
    dyn_client_close(client);
    return info;
}

static uint64_t held_bytes(const daemon_fixture *d) {
    dyn_client_server_info *info = server_info(d);
    uint64_t held = dyn_client_server_counter(info, "memory_held");
    dyn_client_server_info_free(info);
    return held;
}

/* Waits until the memory that the daemon holds is between two bounds. */
static void expect_held(const daemon_fixture *d, uint64_t least, uint64_t most) {
    double end = sp_now() + 10;
    uint64_t held = held_bytes(d);
    while (held < least || held > most) {
        ck_assert_msg(sp_now() < end, "%llu bytes are held instead of %llu to %llu", (unsigned long long)held,
                      (unsigned long long)least, (unsigned long long)most);
        sp_pause(0.02);
        held = held_bytes(d);
    }
}

static uint64_t half_messages(const daemon_fixture *d) {
    dyn_client_server_info *info = server_info(d);
    uint64_t count = dyn_client_server_counter(info, "half_messages");
    dyn_client_server_info_free(info);
    return count;
}

/* Opens a connection that announces a message of `size` bytes and sends all but `missing` of them. */
static sp_peer send_half(const char *url, uint16_t protocol, size_t size, size_t missing) {
    uint8_t head[SP_MAX_HEAD];
    uint8_t *body = calloc(1, size);
    sp_peer peer = sp_open(url, protocol);
    sp_send_bytes(&peer, head, sp_head(&peer, size, head));
    sp_send_bytes(&peer, body, size - missing);
    free(body);
    return peer;
}

/* Returns a request for the mass matrices of the UR5 at `samples` states; the caller frees it. */
static uint8_t *build_request(size_t samples, size_t *size) {
    static char model[] = "ur5";
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__MassMatrixRequest method = DYNAMICS__V1__MASS_MATRIX_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    query.model = model;
    method.query = &query;
    method.n_q = samples * UR5_JOINTS;
    method.q = calloc(method.n_q, sizeof *method.q);
    request.id = 7;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_MASS_MATRIX;
    request.mass_matrix = &method;
    uint8_t *bytes = sp_pack(&request, size);
    free(method.q);
    return bytes;
}

static void close_all(sp_peer *peers, int count) {
    for (int i = 0; i < count; i++) {
        sp_close(&peers[i]);
    }
}

START_TEST(partial_messages_count_until_the_connection_ends) {
    daemon_fixture d;
    daemon_start(&(daemon_options){.configuration = tight}, &d);
    const char *const addresses[] = {d.request_tcp, d.request_ipc, d.ingest_tcp, d.ingest_ipc};
    for (int i = 0; i < 4; i++) {
        sp_peer announced = send_half(addresses[i], i < 2 ? SP_REQ : SP_PUSH, MEBI, MEBI);
        expect_held(&d, 0, 0);
        sp_peer sent = send_half(addresses[i], i < 2 ? SP_REQ : SP_PUSH, MEBI, KIBI);
        expect_held(&d, MEBI - KIBI, MEBI - KIBI);
        sp_close(&sent);
        expect_held(&d, 0, 0);
        sp_close(&announced);
    }
    daemon_stop(&d);
}
END_TEST

START_TEST(half_messages_beyond_the_bound_end_the_greediest_connections) {
    enum { PEERS = 60 };
    daemon_fixture d;
    sp_peer peers[PEERS];
    daemon_start(&(daemon_options){.configuration = tight}, &d);
    size_t before = daemon_resident_bytes(&d), most = 0;
    witnesses all = witnesses_start(d.request_ipc, d.request_tcp);
    for (int i = 0; i < PEERS; i++) {
        peers[i] = send_half(d.request_tcp, SP_REQ, MEBI, KIBI);
        most = daemon_resident_bytes(&d) > most ? daemon_resident_bytes(&d) : most;
    }
    sp_pause(1);
    witnesses_expect_no_stall(&all, "60 half messages of 1 MiB");
    expect_held(&d, 0, tight_bytes);
    dyn_client_server_info *info = server_info(&d);
    printf("%u half messages: %.1f MB held at most, %.1f MB more resident, %llu connections closed\n", PEERS,
           (double)dyn_client_server_counter(info, "memory_peak") / 1e6, (double)(most - before) / 1e6,
           (unsigned long long)dyn_client_server_counter(info, "greedy_connections"));
    ck_assert_uint_ge(dyn_client_server_counter(info, "greedy_connections"), PEERS - tight_bytes / MEBI - 1);
    ck_assert_uint_le(dyn_client_server_counter(info, "memory_peak"), tight_bytes + 3 * (size_t)MEBI);
    ck_assert_uint_le(most, before + tight_bytes + DAEMON_MEMORY_SLACK(16));
    dyn_client_server_info_free(info);
    close_all(peers, PEERS);
    expect_held(&d, 0, 0);
    daemon_stop(&d);
}
END_TEST

START_TEST(half_messages_are_dropped_after_the_message_time) {
    daemon_fixture d;
    daemon_start(&(daemon_options){.configuration = "[limits]\nmessage_time = 0.5\n"}, &d);
    sp_peer well = sp_open(d.request_tcp, SP_REQ);
    const char *const addresses[] = {d.request_tcp, d.request_ipc, d.ingest_tcp, d.ingest_ipc};
    static const size_t sizes[] = {100, MEBI};
    for (int i = 0; i < 8; i++) {
        sp_peer half = send_half(addresses[i / 2], i < 4 ? SP_REQ : SP_PUSH, sizes[i % 2], 10);
        ck_assert_msg(!sp_is_closed_within(&half, 0.2), "a half message of kind %d may not take its time", i);
        ck_assert_msg(sp_is_closed_within(&half, 3), "a half message of kind %d may stay", i);
        sp_close(&half);
    }
    sp_expect_right_answer(&well);
    sp_close(&well);
    /* The daemon counts a partial message after its peer has seen the close, so the test waits. */
    double end = sp_now() + 10;
    while (half_messages(&d) < 8 && sp_now() < end) {
        sp_pause(0.02);
    }
    ck_assert_uint_eq(half_messages(&d), 8);
    daemon_stop(&d);
}
END_TEST

START_TEST(the_largest_request_and_its_reply_fit_into_an_idle_daemon) {
    enum { SAMPLES = 21800, REPLY_BYTES = SAMPLES * UR5_JOINTS * UR5_JOINTS * 8 };
    daemon_fixture d;
    size_t size;
    uint8_t *request = build_request(SAMPLES, &size);
    daemon_start(&(daemon_options){.configuration = tight}, &d);
    const char *const addresses[] = {d.request_tcp, d.request_ipc};
    for (int i = 0; i < 10; i++) {
        sp_peer peer = sp_open(addresses[i % 2], SP_REQ);
        Dynamics__V1__Reply *reply = sp_call_bytes(&peer, request, size);
        sp_expect_ok(reply);
        ck_assert_uint_eq(reply->mass_matrix->n_mass_matrix, REPLY_BYTES / 8);
        sp_free_reply(reply);
        /* The client has read the reply, so that its bytes are released although the connection is open. */
        expect_held(&d, 0, 0);
        sp_close(&peer);
    }
    dyn_client_server_info *info = server_info(&d);
    ck_assert_uint_ge(dyn_client_server_counter(info, "memory_peak"), 2 * (size_t)REPLY_BYTES);
    ck_assert_uint_le(dyn_client_server_counter(info, "memory_peak"), tight_bytes);
    ck_assert_uint_eq(dyn_client_server_counter(info, "memory_shortages"), 0);
    dyn_client_server_info_free(info);
    free(request);
    daemon_stop(&d);
}
END_TEST

/* Checks clients that send requests and do not read, then one that reads. The daemon refuses the latter while memory is
 * short and allows it to retry, and closes the others to free memory. */
START_TEST(unread_replies_are_bounded_and_make_room) {
    enum { PEERS = 30, SAMPLES = 20000 };
    daemon_fixture d;
    sp_peer peers[PEERS];
    size_t size;
    uint8_t *request = build_request(SAMPLES, &size);
    daemon_start(&(daemon_options){.configuration = tight}, &d);
    size_t before = daemon_resident_bytes(&d);
    witnesses all = witnesses_start(d.request_ipc, d.request_tcp);
    for (int i = 0; i < PEERS; i++) {
        int few = 4096;
        peers[i] = sp_open(d.request_ipc, SP_REQ);
        setsockopt(peers[i].descriptor, SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
        sp_send_request(&peers[i], 1U << 31, request, size);
    }
    double start = sp_now();
    unsigned refusals = 0;
    bool is_served = false;
    while (!is_served && sp_now() < start + 10) {
        sp_peer peer = sp_open(d.request_tcp, SP_REQ);
        Dynamics__V1__Reply *reply = sp_call_bytes(&peer, request, size);
        is_served = reply->status->code == DYNAMICS__V1__CODE__CODE_OK;
        if (is_served) {
            sp_free_reply(reply);
        } else {
            refusals++;
            sp_expect_error(reply, DYNAMICS__V1__CODE__CODE_RESOURCE_EXHAUSTED, "", "try again");
        }
        sp_close(&peer);
        sp_pause(0.05);
    }
    size_t after = daemon_resident_bytes(&d);
    witnesses_expect_no_stall(&all, "unread replies");
    printf("%d clients that do not read: %u refusals, served after %.2f s; %.1f MB more resident\n", PEERS, refusals,
           sp_now() - start, (double)(after - before) / 1e6);
    ck_assert(is_served);
    ck_assert_uint_le(after, before + 2 * tight_bytes + DAEMON_MEMORY_SLACK(16));
    close_all(peers, PEERS);
    expect_held(&d, 0, 0);
    free(request);
    daemon_stop(&d);
}
END_TEST

static int count_open(sp_peer *peers, int count) {
    int open_count = 0;
    for (int i = 0; i < count; i++) {
        open_count += !sp_is_closed_within(&peers[i], 0.001);
    }
    return open_count;
}

/* Opens `count` connections from a loopback address. Returns the number of open ones once none has closed for a
 * second. */
static int flood(const char *url, const char *from, sp_peer *peers, int count) {
    for (int i = 0; i < count; i++) {
        uint8_t greeting[SP_GREETING_SIZE];
        peers[i] = sp_connect_from(url, from);
        sp_greeting(SP_REQ, greeting);
        sp_send_bytes(&peers[i], greeting, sizeof greeting);
    }
    int before = count, open_count = count_open(peers, count);
    while (open_count != before) {
        before = open_count;
        sp_pause(1);
        open_count = count_open(peers, count);
    }
    return open_count;
}

START_TEST(one_peer_does_not_lock_out_others) {
    enum { LIMIT = 64, PEERS = 100, LOCAL = LIMIT / 8 };
    daemon_fixture d;
    static sp_peer first[PEERS], second[PEERS];
    daemon_start(&(daemon_options){.configuration = "[limits]\nconnections = 64\n"}, &d);
    ck_assert_int_eq(flood(d.request_tcp, "127.0.0.1", first, PEERS), LIMIT / 2);
    sp_peer other = sp_connect_from(d.request_tcp, "127.0.0.2");
    ck_assert(sp_greet(&other, SP_REQ, 5));
    sp_expect_right_answer(&other);
    sp_close(&other);
    sp_pause(0.1);
    /* The limit of all tcp connections together reserves places for ipc. */
    ck_assert_int_eq(flood(d.request_tcp, "127.0.0.3", second, PEERS), LIMIT / 2 - LOCAL);
    sp_peer local = sp_open(d.request_ipc, SP_REQ);
    sp_expect_right_answer(&local);
    sp_close(&local);
    dyn_client_server_info *info = server_info(&d);
    ck_assert_uint_eq(info->limits.peer_connections, LIMIT / 2);
    ck_assert_uint_ge(dyn_client_server_counter(info, "rejected_connections"), 2 * PEERS - LIMIT + LOCAL);
    dyn_client_server_info_free(info);
    close_all(first, PEERS);
    close_all(second, PEERS);
    sp_pause(0.3);
    sp_peer back = sp_open(d.request_tcp, SP_REQ);
    sp_expect_right_answer(&back);
    sp_close(&back);
    daemon_stop(&d);
}
END_TEST

/* Sends a request that occupies a worker until its deadline. */
static void occupy_worker(const sp_peer *peer, double seconds) {
    static char model[] = "ur5";
    static double q[UR5_JOINTS];
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__RolloutRequest method = DYNAMICS__V1__ROLLOUT_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    size_t size;
    query.model = model;
    method.query = &query;
    method.q = q;
    method.n_q = UR5_JOINTS;
    method.steps = 1000000000;
    method.only_last = true;
    request.timeout = seconds;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_ROLLOUT;
    request.rollout = &method;
    uint8_t *bytes = sp_pack(&request, &size);
    sp_send_request(peer, 1U << 31, bytes, size);
    free(bytes);
}

/* Returns the health of the workers; `message` receives the daemon's message about it. */
static dyn_client_health_state workers_health(dyn_client *client, char *message, size_t size) {
    dyn_client_health *health;
    dyn_client_error error;
    ck_assert_msg(dyn_client_get_health(client, "workers", 0, &health, &error) == DYN_CLIENT_OK, "%s", error.message);
    dyn_client_health_state state = health->state;
    snprintf(message, size, "%s", health->component_count ? health->components[0].message : "");
    dyn_client_health_free(health);
    return state;
}

START_TEST(workers_that_are_blocked_show_in_the_health) {
    enum { REQUESTS = 2 };
    daemon_fixture d;
    dyn_client *client;
    dyn_client_error error;
    char message[256] = "";
    sp_peer peers[REQUESTS];
    daemon_start(&(daemon_options){.configuration = "[server]\nworkers = 1\n[health]\nworker_time = 0.5\n"}, &d);
    ck_assert_msg(dyn_client_connect(d.request_ipc, NULL, &client, &error) == DYN_CLIENT_OK, "%s", error.message);
    for (int i = 0; i < REQUESTS; i++) {
        peers[i] = sp_open(d.request_ipc, SP_REQ);
        occupy_worker(&peers[i], 4);
    }
    double end = sp_now() + 4;
    while (workers_health(client, message, sizeof message) != DYN_CLIENT_HEALTH_STATE_DEGRADED) {
        ck_assert_msg(sp_now() < end, "the health does not speak of the blocked workers");
        sp_pause(0.05);
    }
    ck_assert_msg(strstr(message, "no worker was free for"), "%s", message);
    end = sp_now() + 20;
    while (workers_health(client, message, sizeof message) != DYN_CLIENT_HEALTH_STATE_SERVING) {
        ck_assert_msg(sp_now() < end, "%s, though they are free", message);
        sp_pause(0.05);
    }
    close_all(peers, REQUESTS);
    dyn_client_close(client);
    daemon_stop(&d);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("hostile memory");
    TCase *tests = tcase_create("memory");
    tcase_set_timeout(tests, 120);
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, partial_messages_count_until_the_connection_ends);
    tcase_add_test(tests, half_messages_beyond_the_bound_end_the_greediest_connections);
    tcase_add_test(tests, half_messages_are_dropped_after_the_message_time);
    tcase_add_test(tests, the_largest_request_and_its_reply_fit_into_an_idle_daemon);
    tcase_add_test(tests, unread_replies_are_bounded_and_make_room);
    tcase_add_test(tests, one_peer_does_not_lock_out_others);
    tcase_add_test(tests, workers_that_are_blocked_show_in_the_health);
    return run_suite(suite);
}
