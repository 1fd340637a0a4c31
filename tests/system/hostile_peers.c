/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the daemon against peers that misbehave: during the attack and afterwards, other clients get their answers,
 * over ipc and tcp, whether they were connected before or connect anew. HOSTILE_STALL bounds the longest wait.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dynamics_client.h>

#include "system/daemon_fixture.h"
#include "system/hostile_witness.h"
#include "system/sp_request.h"
#include "system/sp_wire.h"
#include "system/runner.h"

/* PATIENCE: seconds until a deaf client counts as not cut off, on a machine under load and with sanitizers. */
enum { LISTENERS = 4, MANY = 9500, PATIENCE = 60 };

/* Returns the address of listener i; `protocol` receives its clients' protocol. */
static const char *listener(const daemon_fixture *d, int i, uint16_t *protocol) {
    const char *const addresses[LISTENERS] = {d->request_ipc, d->request_tcp, d->events_ipc, d->events_tcp};
    *protocol = i < 2 ? SP_REQ : SP_SUB;
    return addresses[i];
}

/* Connects a client and returns the server's information. The caller frees both. */
static dyn_client_server_info *server_info(const daemon_fixture *d, dyn_client **client) {
    dyn_client_server_info *info;
    dyn_client_error error;
    ck_assert_msg(dyn_client_connect(d->request_tcp, NULL, client, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_msg(dyn_client_get_server_info(*client, 0, &info, &error) == DYN_CLIENT_OK, "%s", error.message);
    return info;
}

static uint64_t count_deaf_clients(const daemon_fixture *d) {
    dyn_client *client;
    dyn_client_server_info *info = server_info(d, &client);
    uint64_t count = dyn_client_server_counter(info, "deaf_clients");
    dyn_client_server_info_free(info);
    dyn_client_close(client);
    return count;
}

/* Loads and unloads a model, so that an event is published. */
static void cause_event(dyn_client *client) {
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = "<robot name='event'><link name='a'/></robot>");
    dyn_client_loaded_model *loaded;
    dyn_client_error error;
    ck_assert_msg(dyn_client_load_model(client, &request, &loaded, &error) == DYN_CLIENT_OK, "%s", error.message);
    dyn_client_loaded_model_free(loaded);
    ck_assert_msg(dyn_client_unload_model(client, "event", 0, &error) == DYN_CLIENT_OK, "%s", error.message);
}

/* Checks that a subscriber receives events within 5 s, after a few connections at the latest. */
static void expect_events(const daemon_fixture *d, const char *url) {
    dyn_client *client;
    dyn_client_error error;
    double end = sp_now() + 5;
    bool has_event = false;
    ck_assert_msg(dyn_client_connect(d->request_tcp, NULL, &client, &error) == DYN_CLIENT_OK, "%s", error.message);
    while (!has_event) {
        sp_peer peer;
        ck_assert_msg(sp_now() < end, "%s publishes no events", url);
        if (!sp_try_open(url, SP_SUB, 1, &peer)) {
            continue;
        }
        struct pollfd readable = {.fd = peer.descriptor, .events = POLLIN};
        uint8_t bytes[64];
        for (int i = 0; i < 5 && !has_event; i++) {
            cause_event(client);
            has_event = poll(&readable, 1, 50) == 1 && recv(peer.descriptor, bytes, sizeof bytes, 0) > 0;
        }
        sp_close(&peer);
    }
    dyn_client_close(client);
}

/* Checks that the two listeners for requests and the two for events work. */
static void expect_all_listeners(const daemon_fixture *d) {
    double end = sp_now() + 5;
    const char *const addresses[] = {d->request_ipc, d->request_tcp};
    for (int i = 0; i < 2; i++) {
        sp_peer peer;
        while (!sp_try_open(addresses[i], SP_REQ, 1, &peer)) {
            ck_assert_msg(sp_now() < end, "%s does not greet", addresses[i]);
        }
        sp_expect_right_answer(&peer);
        sp_close(&peer);
    }
    expect_events(d, d->events_ipc);
    expect_events(d, d->events_tcp);
}

/* Measures the waits of clients without an attack, which is the cost of the measurement itself. */
START_TEST(undisturbed_clients_are_answered) {
    daemon_fixture d;
    daemon_start(NULL, &d);
    witnesses all = witnesses_start(d.request_ipc, d.request_tcp);
    sp_pause(1);
    witnesses_expect_no_stall(&all, "nothing");
    daemon_stop(&d);
}
END_TEST

static void connect_and_close(const daemon_fixture *d, int i, double pause) {
    uint16_t protocol;
    for (int k = 0; k < 100; k++) {
        sp_peer peer = sp_try_connect(listener(d, i, &protocol));
        sp_close(&peer);
        sp_pause(pause);
    }
}

START_TEST(connecting_and_closing_at_once_a_hundred_times) {
    daemon_fixture d;
    daemon_start(NULL, &d);
    witnesses all = witnesses_start(d.request_ipc, d.request_tcp);
    for (int i = 0; i < LISTENERS; i++) {
        connect_and_close(&d, i, 0);
    }
    sp_pause(1);
    witnesses_expect_no_stall(&all, "connect, close at once");
    expect_all_listeners(&d);
    daemon_stop(&d);
}
END_TEST

START_TEST(connecting_and_closing_steadily) {
    daemon_fixture d;
    daemon_start(NULL, &d);
    witnesses all = witnesses_start(d.request_ipc, d.request_tcp);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < LISTENERS; i++) {
            connect_and_close(&d, i, 0.005);
        }
    }
    sp_pause(0.5);
    witnesses_expect_no_stall(&all, "connect, close every 5 ms");
    expect_all_listeners(&d);
    daemon_stop(&d);
}
END_TEST

/* Returns a request of 64 KiB: 2,047 samples of the two-link arm. The caller frees it. */
static uint8_t *build_big_request(size_t *size) {
    enum { VALUES = 4094 };
    static double values[VALUES];
    static char model[] = "two_link";
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__InverseDynamicsRequest method = DYNAMICS__V1__INVERSE_DYNAMICS_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    query.model = model;
    method.query = &query;
    method.n_q = method.n_v = VALUES;
    method.q = method.v = values;
    request.id = 5;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_INVERSE_DYNAMICS;
    request.inverse_dynamics = &method;
    return sp_pack(&request, size);
}

/* Sends up to `count` requests and reads nothing, until the daemon closes the connection or the time is over. Returns
 * whether the daemon closed the connection. */
static bool be_deaf(const char *url, int count, double seconds) {
    size_t size;
    uint8_t *request = build_big_request(&size);
    sp_peer peer = sp_open(url, SP_REQ);
    uint8_t head[SP_MAX_HEAD + 4];
    size_t head_size = sp_head(&peer, size + 4, head);
    memcpy(head + head_size, "\x80\0\0\1", 4);
    head_size += 4;
    double end = sp_now() + seconds;
    bool is_closed = false;
    for (size_t sent = 0, total = (size_t)count * (head_size + size); !is_closed && sp_now() < end;) {
        size_t at = sent % (head_size + size);
        const uint8_t *from = at < head_size ? head + at : request + (at - head_size);
        size_t left = at < head_size ? head_size - at : head_size + size - at;
        struct pollfd state = {.fd = peer.descriptor, .events = sent < total ? POLLOUT : 0};
        poll(&state, 1, 20);
        if (state.revents & (POLLHUP | POLLERR)) {
            is_closed = true;
        } else if (state.revents & POLLOUT) {
            ssize_t written = send(peer.descriptor, from, left, MSG_NOSIGNAL | MSG_DONTWAIT);
            is_closed = written < 0 && errno != EAGAIN;
            sent += written > 0 ? (size_t)written : 0;
        }
    }
    sp_close(&peer);
    free(request);
    return is_closed;
}

START_TEST(client_that_pipelines_and_never_reads) {
    daemon_fixture d;
    daemon_start(NULL, &d);
    const char *const addresses[] = {d.request_ipc, d.request_tcp};
    const char *url = addresses[_i];
    char name[64];
    witnesses all = witnesses_start(d.request_ipc, d.request_tcp);
    bool is_closed = be_deaf(url, 1000, PATIENCE);
    sp_pause(0.5);
    snprintf(name, sizeof name, "deaf client, %.3s", url);
    witnesses_expect_no_stall(&all, name);
    ck_assert_msg(is_closed, "the deaf client was not cut off");
    ck_assert_uint_ge(count_deaf_clients(&d), 1);
    daemon_stop(&d);
}
END_TEST

/* Checks eight clients at once that send requests and read nothing, each a process of its own. */
START_TEST(eight_deaf_clients_at_once) {
    enum { CLIENTS = 8 };
    daemon_fixture d;
    pid_t processes[CLIENTS];
    daemon_start(NULL, &d);
    witnesses all = witnesses_start(d.request_ipc, d.request_tcp);
    for (int i = 0; i < CLIENTS; i++) {
        processes[i] = fork();
        if (processes[i] == 0) {
            be_deaf(i % 2 ? d.request_tcp : d.request_ipc, 1000, PATIENCE);
            _exit(0);
        }
    }
    for (int i = 0; i < CLIENTS; i++) {
        waitpid(processes[i], NULL, 0);
    }
    sp_pause(0.5);
    witnesses_expect_no_stall(&all, "eight deaf clients");
    ck_assert_uint_ge(count_deaf_clients(&d), CLIENTS);
    daemon_stop(&d);
}
END_TEST

/* Checks a hundred clients in sequence that send requests and read nothing; one of them stopped an early prototype. */
START_TEST(hundred_deaf_clients_in_sequence) {
    enum { CLIENTS = 100 };
    daemon_fixture d;
    daemon_start(&(daemon_options){.configuration = "[limits]\nreply_time = 0.1\n"}, &d);
    size_t before = daemon_open_descriptors(&d);
    for (int i = 0; i < CLIENTS; i++) {
        ck_assert_msg(be_deaf(i % 2 ? d.request_tcp : d.request_ipc, 1000, PATIENCE), "deaf client %d was not cut off",
                      i);
    }
    sp_peer peer = sp_open(d.request_ipc, SP_REQ);
    sp_expect_right_answer(&peer);
    sp_close(&peer);
    ck_assert_uint_ge(count_deaf_clients(&d), CLIENTS);
    daemon_expect_descriptors(&d, before + 4, 5);
    daemon_stop(&d);
}
END_TEST

/* Checks clients that disconnect amid a long reply or amid their request. The daemon frees their memory. */
START_TEST(clients_that_vanish_in_the_middle_of_a_message) {
    enum { CLIENTS = 600, READ = 100000 };
    daemon_fixture d;
    size_t size;
    static uint8_t bytes[READ];
    uint8_t *request = build_big_request(&size);
    daemon_start(NULL, &d);
    size_t before = daemon_open_descriptors(&d);
    witnesses all = witnesses_start(d.request_ipc, d.request_tcp);
    for (int i = 0; i < CLIENTS; i++) {
        sp_peer peer = sp_open(i % 2 ? d.request_tcp : d.request_ipc, SP_REQ);
        for (uint32_t k = 0; k < 4; k++) {
            sp_send_request(&peer, k, request, size);
        }
        for (size_t left = (size_t)(i * 7919 % READ); left > 0;) {
            ssize_t count = recv(peer.descriptor, bytes, left, 0);
            left -= count > 0 ? (size_t)count : left;
        }
        sp_send_request(&peer, 5, request, size / 2);
        sp_close(&peer);
    }
    sp_pause(0.5);
    witnesses_expect_no_stall(&all, "clients that vanish");
    daemon_expect_descriptors(&d, before + 4, 5);
    expect_all_listeners(&d);
    daemon_stop(&d);
    free(request);
}
END_TEST

/* Checks peers that stop in the middle: of their greeting, of a message's head, of its body. */
START_TEST(peers_that_send_half_a_message_and_wait) {
    enum { PEERS = 20, KINDS = 3, ALL = LISTENERS * KINDS * PEERS };
    daemon_fixture d;
    static sp_peer peers[ALL];
    int count = 0;
    daemon_start(&(daemon_options){.configuration = "[limits]\nidle_time = 1\n"}, &d);
    witnesses all = witnesses_start(d.request_ipc, d.request_tcp);
    for (int i = 0; i < LISTENERS; i++) {
        for (int k = 0; k < KINDS * PEERS; k++) {
            uint16_t protocol;
            uint8_t head[SP_MAX_HEAD], greeting[SP_GREETING_SIZE];
            const char *url = listener(&d, i, &protocol);
            if (k % KINDS == 0) {
                peers[count] = sp_connect(url);
                sp_greeting(protocol, greeting);
                sp_send_bytes(&peers[count], greeting, 5);
            } else {
                peers[count] = sp_open(url, protocol);
                size_t size = sp_head(&peers[count], 1000, head);
                sp_send_bytes(&peers[count], head, k % KINDS == 1 ? size / 2 : size);
                sp_send_bytes(&peers[count], "\x80\0\0\1half a body", k % KINDS == 1 ? 0 : 15);
            }
            count++;
        }
    }
    sp_pause(1);
    witnesses_expect_no_stall(&all, "half messages");
    /* The daemon closes peers that have greeted after the idle time; nng closes the others when it stops waiting for
     * their greeting. */
    for (int i = 0; i < count; i++) {
        bool is_subscriber = i >= count / 2;
        if (!is_subscriber) {
            ck_assert_msg(sp_is_closed_within(&peers[i], 15), "half a message of kind %d may stay", i % KINDS);
        }
        sp_close(&peers[i]);
    }
    daemon_stop(&d);
}
END_TEST

/* Opens connections that send nothing, not even a greeting. Returns the number of those that could be opened. */
static int connect_silently(const daemon_fixture *d, int count, sp_peer *peers) {
    int open_count = 0;
    const char *const addresses[] = {d->request_tcp, d->request_ipc};
    for (int i = 0; i < count; i++) {
        peers[open_count] = sp_try_connect(addresses[i % 2]);
        open_count += peers[open_count].descriptor >= 0;
    }
    return open_count;
}

START_TEST(nine_thousand_five_hundred_silent_connections) {
    daemon_fixture d;
    static sp_peer peers[MANY];
    daemon_start(NULL, &d);
    size_t before = daemon_open_descriptors(&d);
    witnesses all = witnesses_start(d.request_ipc, d.request_tcp);
    double start = sp_now();
    int count = connect_silently(&d, MANY, peers);
    double connected = sp_now() - start;
    size_t most = daemon_open_descriptors(&d), memory = daemon_resident_bytes(&d);
    sp_pause(2);
    most = daemon_open_descriptors(&d) > most ? daemon_open_descriptors(&d) : most;
    witnesses_expect_no_stall(&all, "9,500 silent connections");
    printf("%d connected in %.1f s; the daemon held %zu descriptors and %.0f MB\n", count, connected, most,
           (double)memory / 1e6);
    /* The daemon closes the silent connections without an action of the peers. */
    daemon_expect_descriptors(&d, before + 4, 60);
    printf("all were closed after %.1f s\n", sp_now() - start);
    for (int i = 0; i < count; i++) {
        sp_close(&peers[i]);
    }
    expect_all_listeners(&d);
    daemon_stop(&d);
}
END_TEST

START_TEST(connections_beyond_the_limit_are_closed_at_once) {
    enum { LIMIT = 50, EXTRA = 100 };
    daemon_fixture d;
    sp_peer peers[LIMIT + EXTRA];
    int open_count = 0;
    daemon_start(&(daemon_options){.configuration = "[limits]\nconnections = 50\npeer_connections = 50\n"}, &d);
    witness *steady = witness_start(d.request_ipc, WITNESS_STEADY);
    for (int i = 0; i < LIMIT + EXTRA; i++) {
        peers[i] = sp_open(i % 2 ? d.request_tcp : d.request_ipc, SP_REQ);
    }
    for (int i = 0; i < LIMIT + EXTRA; i++) {
        open_count += !sp_is_closed_within(&peers[i], i < LIMIT - 1 ? 0.001 : 0.1);
    }
    witness_report report = witness_stop(steady);
    ck_assert_double_le(report.longest, HOSTILE_STALL);
    ck_assert_int_eq(open_count, LIMIT - 1);
    for (int i = 0; i < LIMIT + EXTRA; i++) {
        sp_close(&peers[i]);
    }
    sp_pause(0.2);
    expect_all_listeners(&d);
    daemon_stop(&d);
}
END_TEST

START_TEST(exhausted_descriptors) {
    enum { DESCRIPTORS = 128, PEERS = 300 };
    daemon_fixture d;
    static sp_peer peers[PEERS];
    daemon_start(&(daemon_options){.descriptors = DESCRIPTORS}, &d);
    size_t before = daemon_open_descriptors(&d);
    witnesses all = witnesses_start(d.request_ipc, d.request_tcp);
    int count = connect_silently(&d, PEERS, peers);
    sp_pause(2);
    witnesses_expect_no_stall(&all, "descriptors exhausted");
    for (int i = 0; i < count; i++) {
        sp_close(&peers[i]);
    }
    daemon_expect_descriptors(&d, before + 8, 20);
    expect_all_listeners(&d);
    daemon_stop(&d);
}
END_TEST

/* Raises this program's limit of descriptors to its maximum; returns false when that is too low. */
static bool raise_descriptor_limit(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_max >= MANY + 200;
}

/* Adds a group of tests, which CK_RUN_CASE names. */
static TCase *add_case(Suite *suite, const char *name) {
    TCase *tests = tcase_create(name);
    tcase_set_timeout(tests, 120);
    suite_add_tcase(suite, tests);
    return tests;
}

int main(void) {
    Suite *suite = suite_create("hostile peers");
    TCase *closing = add_case(suite, "closing"), *deaf = add_case(suite, "deaf"), *half = add_case(suite, "half");
    TCase *many = add_case(suite, "many");
    tcase_add_test(closing, undisturbed_clients_are_answered);
    tcase_add_test(closing, connecting_and_closing_at_once_a_hundred_times);
    tcase_add_test(closing, connecting_and_closing_steadily);
    tcase_add_loop_test(deaf, client_that_pipelines_and_never_reads, 0, 2);
    tcase_add_test(deaf, eight_deaf_clients_at_once);
    tcase_add_test(deaf, hundred_deaf_clients_in_sequence);
    tcase_add_test(half, clients_that_vanish_in_the_middle_of_a_message);
    tcase_add_test(half, peers_that_send_half_a_message_and_wait);
    tcase_add_test(many, connections_beyond_the_limit_are_closed_at_once);
    tcase_add_test(many, exhausted_descriptors);
    if (raise_descriptor_limit()) {
        tcase_add_test(many, nine_thousand_five_hundred_silent_connections);
    } else {
        printf("skipped: 9,500 connections need a hard limit of %d descriptors (ulimit -Hn)\n", MANY + 200);
    }
    return run_suite(suite);
}
