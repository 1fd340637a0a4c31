/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests a transport: it starts while clients connect, stops while a request is under way, identifies its peers, and
 * charges waiting messages to the memory budget.
 */
#include "transport/transport.h"

#include <malloc.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/sp_wire.h"
#include "unit/server/support.h"

enum { ENDPOINTS = 100, ENDS = 20, REPLY_BYTES = 1 << 20, FEW_BYTES = 4 << 20 };

static atomic_bool has_arrived;
static memory_budget budget;

/* Identity of the peer that sent the last request; valid once has_arrived is set. */
static transport_identity asker;

/* Handler that replies 20 ms after it sets has_arrived, when call_and_stop is stopping the transport. */
static void answer_late(void *context, transport_call *call) {
    (void)context;
    asker = call->identity;
    atomic_store(&has_arrived, true);
    sp_pause(0.02);
    uint8_t *reply = transport_reply_buffer(call, REPLY_BYTES);
    ck_assert_ptr_nonnull(reply);
    memset(reply, 0, REPLY_BYTES);
    transport_send(call);
}

static transport *open_transport(const transport_endpoint *endpoints, size_t count) {
    static logger log;
    static counters counted;
    char error[TRANSPORT_ERROR_SIZE];
    transport *t;
    const transport_options options = {
        .endpoints = endpoints,
        .endpoint_count = count,
        .ipc_mode = 0600,
        .message_bytes = 1 << 16,
        .contexts = 4,
        .limits = {.connections = 4, .peer_connections = 4, .idle_time = 60, .reply_time = 1, .message_time = 60},
        .budget = &budget,
        .handler = answer_late,
        .log = &log,
        .counters = &counted};
    memory_budget_set(&budget, 64 << 20, 1 << 16);
    log_configure(&log, LOG_LEVEL_ERROR, LOG_FORMAT_PLAIN);
    ck_assert_msg(transport_open(&options, error, &t), "%s", error);
    return t;
}

/* Opens a transport, sends a request, and stops the transport before the answer. */
static void call_and_stop(const char *address) {
    transport_endpoint endpoint = {.kind = TRANSPORT_REQUEST};
    snprintf(endpoint.address, sizeof endpoint.address, "%s", address);
    atomic_store(&has_arrived, false);
    transport *t = open_transport(&endpoint, 1);
    char error[TRANSPORT_ERROR_SIZE];
    ck_assert_msg(transport_receive(t, error), "%s", error);
    sp_peer peer = sp_open(transport_address(t, 0), SP_REQ);
    ck_assert(sp_send_request(&peer, 1U << 31, "question", 8));
    while (!atomic_load(&has_arrived)) {
        sp_pause(0.001);
    }
    transport_stop(t);
    sp_close(&peer);
}

static size_t allocated_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

START_TEST(replies_that_come_too_late_are_freed) {
    char directory[] = "/tmp/dynamics-transport-XXXXXX", address[64];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(address, sizeof address, "ipc://%s/socket", directory);
    call_and_stop(address);
    size_t before = allocated_bytes();
    for (int i = 0; i < ENDS; i++) {
        call_and_stop(address);
    }
    ck_assert_uint_le(allocated_bytes(), before + FEW_BYTES);
    rmdir(directory);
}
END_TEST

START_TEST(peer_keeps_its_identity_over_connections) {
    char directory[] = "/tmp/dynamics-transport-XXXXXX", address[64];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(address, sizeof address, "ipc://%s/socket", directory);
    for (int i = 0; i < 2; i++) {
        call_and_stop(address);
        ck_assert_uint_eq(asker.origin, TRANSPORT_ORIGIN_USER);
        ck_assert_uint_eq(asker.value, getuid());
        call_and_stop("tcp://127.0.0.1:0");
        ck_assert_uint_eq(asker.origin, TRANSPORT_ORIGIN_IPV4);
        ck_assert_uint_eq(asker.value, INADDR_LOOPBACK);
    }
    rmdir(directory);
}
END_TEST

/* Client that connects again and again from before the first endpoint exists until all of them do. */
typedef struct early_client {
    const char *address;
    atomic_bool may_end;
    unsigned connections;
} early_client;

static void *connect_early(void *argument) {
    early_client *c = argument;
    while (c->connections == 0 || !atomic_load(&c->may_end)) {
        sp_peer peer;
        if (sp_try_open(c->address, SP_REQ, 5, &peer)) {
            c->connections++;
            sp_close(&peer);
        }
    }
    return NULL;
}

START_TEST(clients_connect_while_further_endpoints_are_opened) {
    char directory[] = "/tmp/dynamics-transport-XXXXXX";
    transport_endpoint endpoints[ENDPOINTS];
    early_client client = {.address = endpoints[0].address};
    pthread_t thread;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    for (int i = 0; i < ENDPOINTS; i++) {
        endpoints[i].kind = i > 0 ? TRANSPORT_EVENTS : TRANSPORT_REQUEST;
        snprintf(endpoints[i].address, sizeof endpoints[i].address, "ipc://%s/socket%d", directory, i);
    }
    ck_assert_int_eq(pthread_create(&thread, NULL, connect_early, &client), 0);
    transport *t = open_transport(endpoints, ENDPOINTS);
    atomic_store(&client.may_end, true);
    pthread_join(thread, NULL);
    ck_assert_uint_gt(client.connections, 0);
    transport_stop(t);
    ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

START_TEST(messages_that_wait_for_slow_subscribers_are_charged_and_few) {
    enum { SMALL = 200, LARGE = 200 << 10 };
    static const uint8_t body[LARGE];
    char directory[] = "/tmp/dynamics-transport-XXXXXX", error[TRANSPORT_ERROR_SIZE];
    transport_endpoint endpoint = {.kind = TRANSPORT_EVENTS};
    transport_topic *topic;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(endpoint.address, sizeof endpoint.address, "ipc://%s/socket", directory);
    transport *t = open_transport(&endpoint, 1);
    ck_assert_msg(transport_topic_open(t, error, &topic), "%s", error);
    transport_topic_publish(topic, "state", body, SMALL);
    ck_assert_uint_eq(atomic_load(&budget.held), 128 * SMALL);
    transport_topic_publish(topic, "state", body, LARGE);
    ck_assert_uint_eq(atomic_load(&budget.held), 5 * LARGE);
    /* For a subscriber that reads nothing, the socket and the queue hold some messages, and the rest is lost. */
    sp_peer deaf = sp_open(transport_topic_address(topic, 0), SP_SUB);
    size_t before = allocated_bytes();
    for (int i = 0; i < 200; i++) {
        transport_topic_publish(topic, "state", body, LARGE);
    }
    ck_assert_uint_le(allocated_bytes(), before + 7 * LARGE);
    sp_close(&deaf);
    transport_topic_close(topic);
    ck_assert_uint_eq(atomic_load(&budget.held), 0);
    transport_stop(t);
    rmdir(directory);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("transport");
    tcase_add_test(tests, clients_connect_while_further_endpoints_are_opened);
    tcase_add_test(tests, messages_that_wait_for_slow_subscribers_are_charged_and_few);
    tcase_add_test(tests, replies_that_come_too_late_are_freed);
    tcase_add_test(tests, peer_keeps_its_identity_over_connections);
    return run_tests(tests);
}
