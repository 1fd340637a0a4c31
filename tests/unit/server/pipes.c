/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the table of a transport's connections: when it closes idle ones and those that do not read their replies.
 */
#include "transport/pipes.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/server/support.h"

static const pipe_bounds bounds = {.idle_time = 1000, .reply_time = 100, .share = 4};

/* Creates a table with one connection, of the id 5, opened at time 0 with that descriptor. */
static void open_with(pipe_table *table, transport_kind kind, int descriptor) {
    pipe_record record = {.id = 5, .listener = 2, .kind = kind, .descriptor = descriptor, .peer = "somebody"};
    pipe_table_init(table, NULL);
    ck_assert(pipe_table_add(table, &record));
}

static void open_one(pipe_table *table, transport_kind kind) {
    open_with(table, kind, -1);
}

static void request(pipe_table *table, uint64_t now, unsigned share, bool is_crowded) {
    transport_call call = {.arrival = now};
    pipe_table_request(table, 5, share, &call);
    ck_assert_str_eq(call.peer, "somebody");
    ck_assert_int_eq(call.is_crowded, is_crowded);
}

static pipe_action action_at(pipe_table *table, uint64_t now) {
    pipe_disconnection disconnection;
    return pipe_table_check(table, &bounds, now, &disconnection, 1) ? disconnection.action : PIPE_KEEP;
}

START_TEST(idle_connection_is_closed_once) {
    pipe_table table;
    open_one(&table, TRANSPORT_REQUEST);
    ck_assert_int_eq(action_at(&table, 1000), PIPE_KEEP);
    ck_assert_int_eq(action_at(&table, 1001), PIPE_IDLE);
    ck_assert_int_eq(action_at(&table, 1002), PIPE_KEEP);
    pipe_table_free(&table);
}
END_TEST

START_TEST(request_under_way_keeps_the_connection) {
    pipe_table table;
    open_one(&table, TRANSPORT_REQUEST);
    request(&table, 500, 4, false);
    ck_assert_int_eq(action_at(&table, 100000), PIPE_KEEP);
    pipe_table_reply(&table, 5, 100000);
    pipe_table_done(&table, 5, 100001);
    ck_assert_int_eq(action_at(&table, 100001), PIPE_IDLE);
    pipe_table_free(&table);
}
END_TEST

START_TEST(unread_reply_marks_its_client_as_deaf) {
    pipe_table table;
    open_one(&table, TRANSPORT_REQUEST);
    request(&table, 10, 4, false);
    request(&table, 10, 4, false);
    pipe_table_reply(&table, 5, 20);
    pipe_table_reply(&table, 5, 90);
    ck_assert_int_eq(action_at(&table, 120), PIPE_KEEP);
    pipe_table_done(&table, 5, 120);
    ck_assert_int_eq(action_at(&table, 220), PIPE_KEEP);
    ck_assert_int_eq(action_at(&table, 221), PIPE_DEAF);
    char peer[TRANSPORT_PEER_SIZE];
    ck_assert(!pipe_table_condemn(&table, 5, peer));
    pipe_table_free(&table);
}
END_TEST

START_TEST(client_is_deaf_only_while_the_system_accepts_no_bytes_for_it) {
    pipe_table table;
    char bytes[4096] = {0};
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    open_with(&table, TRANSPORT_REQUEST, ends[0]);
    request(&table, 10, 4, false);
    pipe_table_reply(&table, 5, 20);
    ck_assert_int_eq(action_at(&table, 1000), PIPE_KEEP);
    while (send(ends[0], bytes, sizeof bytes, 0) > 0) {
    }
    ck_assert_int_eq(action_at(&table, 1000), PIPE_DEAF);
    close(ends[0]);
    close(ends[1]);
    pipe_table_free(&table);
}
END_TEST

START_TEST(patience_is_short_with_a_client_that_holds_its_share) {
    pipe_table table;
    open_one(&table, TRANSPORT_REQUEST);
    for (unsigned i = 0; i < bounds.share; i++) {
        request(&table, 10, bounds.share, false);
        pipe_table_reply(&table, 5, 10);
    }
    request(&table, 10, bounds.share, true);
    ck_assert_int_eq(action_at(&table, 30), PIPE_KEEP);
    ck_assert_int_eq(action_at(&table, 31), PIPE_DEAF);
    pipe_table_free(&table);
}
END_TEST

START_TEST(subscribers_may_be_silent) {
    pipe_table table;
    open_one(&table, TRANSPORT_EVENTS);
    ck_assert_int_eq(action_at(&table, 1000000), PIPE_KEEP);
    pipe_table_free(&table);
}
END_TEST

START_TEST(connections_are_counted_by_listener_and_forgotten) {
    pipe_table table;
    pipe_table_init(&table, NULL);
    for (uint32_t id = 1; id <= 3000; id++) {
        pipe_record record = {.id = id * 7919, .listener = (int)(id % 3), .descriptor = (int)id};
        ck_assert(pipe_table_add(&table, &record));
    }
    ck_assert_uint_eq(pipe_table_count(&table, 1), 1000);
    for (uint32_t id = 1; id <= 3000; id++) {
        pipe_record removed;
        ck_assert(pipe_table_remove(&table, id * 7919, &removed));
        ck_assert_int_eq(removed.descriptor, (int)id);
        ck_assert(!pipe_table_remove(&table, id * 7919, &removed));
    }
    ck_assert_uint_eq(pipe_table_count(&table, 1), 0);
    pipe_table_free(&table);
}
END_TEST

START_TEST(unknown_connections_are_no_trouble) {
    pipe_table table;
    transport_call call = {.arrival = 1, .is_own = true, .is_crowded = true};
    pipe_table_init(&table, NULL);
    pipe_table_request(&table, 1, 4, &call);
    ck_assert(!call.is_own && !call.is_crowded);
    ck_assert_str_eq(call.peer, "");
    pipe_table_reply(&table, 1, 1);
    pipe_table_done(&table, 1, 1);
    char peer[TRANSPORT_PEER_SIZE];
    ck_assert(!pipe_table_condemn(&table, 1, peer));
    pipe_table_free(&table);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("pipes");
    tcase_add_test(tests, idle_connection_is_closed_once);
    tcase_add_test(tests, request_under_way_keeps_the_connection);
    tcase_add_test(tests, unread_reply_marks_its_client_as_deaf);
    tcase_add_test(tests, client_is_deaf_only_while_the_system_accepts_no_bytes_for_it);
    tcase_add_test(tests, patience_is_short_with_a_client_that_holds_its_share);
    tcase_add_test(tests, subscribers_may_be_silent);
    tcase_add_test(tests, connections_are_counted_by_listener_and_forgotten);
    tcase_add_test(tests, unknown_connections_are_no_trouble);
    return run_tests(tests);
}
