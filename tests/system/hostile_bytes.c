/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends bytes that are no requests: over each listener, in place of the greeting, of a message, of a serialized
 * Request. The daemon must answer where it can, close the other connections, bound its memory, and keep answering other
 * clients.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"
#include "system/daemon_fixture.h"
#include "system/hostile_witness.h"
#include "system/sp_request.h"
#include "system/sp_wire.h"
#include "system/runner.h"

#define CODE(name) DYNAMICS__V1__CODE__CODE_##name

enum { LISTENERS = 4, MESSAGE_BYTES = 4 << 20, MEBIBYTE = 1 << 20 };

static const char limits[] = "[limits]\nmessage_bytes = 4194304\n";

static daemon_fixture served;

static void start(void) {
    daemon_start(&(daemon_options){.configuration = limits}, &served);
}

static void stop(void) {
    daemon_stop(&served);
}

/* Checks after each test that the daemon works. */
static void check_daemon(void) {
    const char *const addresses[] = {served.request_ipc, served.request_tcp};
    for (int i = 0; i < 2; i++) {
        sp_peer peer = sp_open(addresses[i], SP_REQ);
        sp_expect_right_answer(&peer);
        sp_close(&peer);
    }
}

static const char *listener(int i, uint16_t *protocol) {
    const char *const addresses[LISTENERS] = {served.request_ipc, served.request_tcp, served.events_ipc,
                                              served.events_tcp};
    *protocol = i < 2 ? SP_REQ : SP_SUB;
    return addresses[i];
}

/* Returns a serialized InverseDynamics request of `size` bytes; the caller frees it. */
static uint8_t *build_request(size_t *size) {
    static char model[] = "two_link";
    static double values[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__InverseDynamicsRequest method = DYNAMICS__V1__INVERSE_DYNAMICS_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    query.model = model;
    method.query = &query;
    method.n_q = method.n_v = method.n_a = 2;
    method.q = values;
    method.v = values + 2;
    method.a = values + 4;
    request.id = 300;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_INVERSE_DYNAMICS;
    request.inverse_dynamics = &method;
    return sp_pack(&request, size);
}

/* ---- bytes instead of a serialized Request ----------------------------------------------------------------------- */

/* Checks the reply to bytes that may be a serialized Request: one with its id where they can be decoded, otherwise an
 * error. */
static void expect_fitting_answer(const sp_peer *peer, const uint8_t *bytes, size_t size) {
    Dynamics__V1__Request *request = dynamics__v1__request__unpack(NULL, size, bytes);
    Dynamics__V1__Reply *reply = sp_call_bytes(peer, bytes, size);
    if (request) {
        ck_assert_uint_eq(reply->id, request->id);
        ck_assert_int_ne(reply->status->code, CODE(INTERNAL));
        dynamics__v1__request__free_unpacked(request, NULL);
        sp_free_reply(reply);
    } else {
        sp_expect_error(reply, CODE(INVALID_ARGUMENT), "", "are no serialized dynamics.v1.Request");
    }
}

START_TEST(every_truncation_is_answered) {
    size_t size;
    uint8_t *bytes = build_request(&size);
    sp_peer peer = sp_open(served.request_tcp, SP_REQ);
    for (size_t cut = 0; cut < size; cut++) {
        expect_fitting_answer(&peer, bytes, cut);
    }
    sp_close(&peer);
    free(bytes);
}
END_TEST

START_TEST(every_changed_byte_is_answered) {
    size_t size;
    uint8_t *bytes = build_request(&size);
    sp_peer peer = sp_open(served.request_ipc, SP_REQ);
    for (size_t at = 0; at < size; at++) {
        static const uint8_t changes[] = {0x01, 0x80, 0xff, 0x7f};
        for (size_t k = 0; k < sizeof changes; k++) {
            bytes[at] ^= changes[k];
            expect_fitting_answer(&peer, bytes, size);
            bytes[at] ^= changes[k];
        }
    }
    sp_close(&peer);
    free(bytes);
}
END_TEST

START_TEST(random_bytes_are_answered) {
    enum { COUNT = 2000, LONGEST = 300 };
    random_source random = random_seed("random bytes are answered", 7);
    sp_peer peer = sp_open(served.request_ipc, SP_REQ);
    for (int i = 0; i < COUNT; i++) {
        uint8_t bytes[LONGEST];
        size_t size = (size_t)random_index(&random, LONGEST);
        for (size_t k = 0; k < size; k++) {
            bytes[k] = (uint8_t)random_bits(&random);
        }
        expect_fitting_answer(&peer, bytes, size);
    }
    sp_close(&peer);
}
END_TEST

START_TEST(unknown_method_is_answered) {
    static const uint8_t bytes[] = {0x08, 0x2a, 0xc2, 0x3e, 0x02, 0x08, 0x01}; /* id 42; field 1000, a message */
    sp_peer peer = sp_open(served.request_ipc, SP_REQ);
    Dynamics__V1__Reply *reply = sp_call_bytes(&peer, bytes, sizeof bytes);
    ck_assert_uint_eq(reply->id, 42);
    sp_expect_error(reply, CODE(UNIMPLEMENTED), "", "method 1000: this daemon does not know it");
    sp_close(&peer);
}
END_TEST

/* Requests with field numbers that no revision has yet, at each depth of a request. */
static const struct {
    const char *name, *bytes;
    size_t size;
    const char *field, *words;
} unknown_fields[] = {
#define BYTES(text) text, sizeof text - 1
    {"of the envelope", BYTES("\x08\x2a\x48\x01\x82\x01\x00"), "", "field 9: this daemon does not know it"},
    {"of a method", BYTES("\x08\x2a\x82\x01\x03\xa0\x06\x01"), "get_health", "health field 100: this daemon"},
    {"of a message in a list", BYTES("\x08\x2a\xa2\x02\x0a\x12\x00\x12\x00\x12\x04\xa2\x06\x01x"),
     "derive_model.operations[2]", "field 100: this daemon does not know it; it speaks revision"},
#undef BYTES
};

START_TEST(unknown_field_is_refused_with_its_place) {
    sp_peer peer = sp_open(served.request_ipc, SP_REQ);
    Dynamics__V1__Reply *reply = sp_call_bytes(&peer, unknown_fields[_i].bytes, unknown_fields[_i].size);
    ck_assert_uint_eq(reply->id, 42);
    sp_expect_error(reply, CODE(UNIMPLEMENTED), unknown_fields[_i].field, unknown_fields[_i].words);
    sp_close(&peer);
}
END_TEST

/* Checks a request whose model is named "two_link", a zero byte and more. A C string would end after "two_link". */
START_TEST(zero_byte_in_a_name_is_refused) {
    static const uint8_t bytes[] = "\x08\x2a\x82\x03\x20\x0a\x0c\x0a\x0a"
                                   "two_link\0x\x12\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    sp_peer peer = sp_open(served.request_ipc, SP_REQ);
    Dynamics__V1__Reply *reply = sp_call_bytes(&peer, bytes, sizeof bytes - 1);
    ck_assert_uint_eq(reply->id, 42);
    sp_expect_error(reply, CODE(INVALID_ARGUMENT), "inverse_dynamics.query.model", "zero byte");
    sp_close(&peer);
}
END_TEST

/* Checks that a message slightly above the limit is read and refused with an answer. */
START_TEST(message_just_above_the_limit_is_answered) {
    uint8_t *bytes = calloc(1, MESSAGE_BYTES + MEBIBYTE);
    sp_peer peer = sp_open(served.request_tcp, SP_REQ);
    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, "\x08\x2a", 2);
    for (size_t more = 1; more <= MEBIBYTE; more += MEBIBYTE - 1) {
        Dynamics__V1__Reply *reply = sp_call_bytes(&peer, bytes, MESSAGE_BYTES + more);
        ck_assert_uint_eq(reply->id, 42);
        ck_assert_str_eq(reply->status->reason, "MESSAGE_TOO_LARGE");
        ck_assert_uint_eq(reply->status->limit, MESSAGE_BYTES);
        ck_assert_uint_eq(reply->status->requested, MESSAGE_BYTES + more);
        ck_assert_double_eq(reply->status->retry_after, 0);
        sp_expect_error(reply, CODE(RESOURCE_EXHAUSTED), "", "the limit is 4194304 (limits.message_bytes)");
    }
    sp_close(&peer);
    free(bytes);
}
END_TEST

START_TEST(message_far_above_the_limit_closes_its_connection) {
    static const uint64_t sizes[] = {MESSAGE_BYTES + 2 * MEBIBYTE, 100u << 20, 1ull << 33, 1ull << 63, UINT64_MAX};
    witnesses all = witnesses_start(served.request_ipc, served.request_tcp);
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
        uint8_t head[SP_MAX_HEAD];
        sp_peer peer = sp_open(i % 2 ? served.request_tcp : served.request_ipc, SP_REQ);
        sp_send_bytes(&peer, head, sp_head(&peer, sizes[i / 2], head));
        ck_assert_msg(sp_is_closed_within(&peer, 5), "a message of %llu bytes may begin",
                      (unsigned long long)sizes[i / 2]);
        sp_close(&peer);
    }
    witnesses_expect_no_stall(&all, "announced sizes");
}
END_TEST

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Returns the peak of the daemon's resident memory, in bytes. */
static size_t peak_memory(void) {
    char path[64], line[256];
    unsigned long kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)served.process);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "VmHWM: %lu kB", &kilobytes);
    }
    fclose(file);
    return kilobytes << 10;
}

/* Fields of two bytes, which a test repeats in a nested message or in the request itself. */
static const struct {
    const char *name;
    uint16_t method; /* number of the field; 0: the request */
    uint8_t pair[2];
} amplifications[] = {
    {"empty external forces", 48, {0x32, 0x00}},
    {"empty joint names", 48, {0x12, 0x00}},
    {"empty frames", 64, {0x22, 0x00}},
    {"unknown numbers", 0, {0x28, 0x01}},
    {"unknown numbers in a method", 48, {0x78, 0x01}},
    {"the same method again", 0, {0x82, 0x03}},
};

START_TEST(small_fields_do_not_use_much_memory) {
    size_t size = MEBIBYTE, at = 0;
    uint8_t *bytes = malloc(size + 16);
    ck_assert_ptr_nonnull(bytes);
    if (amplifications[_i].method) {
        uint32_t key = (uint32_t)amplifications[_i].method << 3 | 2;
        bytes[at++] = (uint8_t)(key | 0x80);
        bytes[at++] = (uint8_t)(key >> 7);
        bytes[at++] = (uint8_t)(size | 0x80);
        bytes[at++] = (uint8_t)(size >> 7 | 0x80);
        bytes[at++] = (uint8_t)(size >> 14);
    }
    for (size_t i = 0; i < size / 2; i++) {
        memcpy(bytes + at + 2 * i, amplifications[_i].pair, 2);
    }
    size_t before = peak_memory();
    sp_peer peer = sp_open(served.request_ipc, SP_REQ);
    Dynamics__V1__Reply *reply = sp_call_bytes(&peer, bytes, at + size);
    ck_assert_int_ne(reply->status->code, CODE(OK));
    ck_assert_str_ne(reply->status->message, "");
    printf("%-28s %s; %.1f MB\n", amplifications[_i].name, reply->status->message,
           (double)(peak_memory() - before) / 1e6);
    /* Sanitizers delay the reuse of freed memory. */
    ck_assert_uint_le(peak_memory() - before, HOSTILE_STALL > 1 ? 128 << 20 : 16 << 20);
    sp_free_reply(reply);
    sp_close(&peer);
    free(bytes);
}
END_TEST

/* ---- bytes instead of a greeting or a message -------------------------------------------------------------------- */

/* Greetings of protocols that another program may use. */
static const struct {
    const char *bytes;
    size_t size;
} greetings[] = {
    {"GET / HTTP/1.1\r\nHost: robot\r\n\r\n", 32},
    {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11},
    {"\0SP\0\0\x10\0\0", 8}, /* pair */
    {"\0SP\0\0\x31\0\0", 8}, /* rep */
    {"\0SP\1\0\x30\0\0", 8}, /* another version */
    {"\0SP\0\0\x30\0\1", 8}, /* reserved bytes in use */
    {"\0\0\0\0\0\0\0\0", 8},
    {"\n\n\n\n\n\n\n\n\n", 9},
};

START_TEST(wrong_greetings_are_closed) {
    enum { GREETINGS = sizeof greetings / sizeof greetings[0] };
    witnesses all = witnesses_start(served.request_ipc, served.request_tcp);
    for (int i = 0; i < LISTENERS * GREETINGS; i++) {
        uint16_t protocol;
        sp_peer peer = sp_connect(listener(i % LISTENERS, &protocol));
        sp_send_bytes(&peer, greetings[i / LISTENERS].bytes, greetings[i / LISTENERS].size);
        ck_assert_msg(sp_is_closed_within(&peer, 5), "greeting %d stays at listener %d", i / LISTENERS, i % LISTENERS);
        sp_close(&peer);
    }
    witnesses_expect_no_stall(&all, "wrong greetings");
}
END_TEST

START_TEST(random_bytes_on_each_listener) {
    enum { COUNT = 400, LONGEST = 4096 };
    random_source random = random_seed("random bytes on each listener disturb nobody", 11);
    witnesses all = witnesses_start(served.request_ipc, served.request_tcp);
    for (int i = 0; i < COUNT; i++) {
        uint16_t protocol;
        const char *url = listener(i % LISTENERS, &protocol);
        uint8_t bytes[LONGEST];
        size_t size = 1 + (size_t)random_index(&random, LONGEST);
        for (size_t k = 0; k < size; k++) {
            bytes[k] = (uint8_t)random_bits(&random);
        }
        sp_peer peer = i / LISTENERS % 2 ? sp_open(url, protocol) : sp_connect(url);
        sp_send_bytes(&peer, bytes, size);
        sp_close(&peer);
    }
    sp_pause(0.3);
    witnesses_expect_no_stall(&all, "random bytes");
}
END_TEST

/* Sends messages without a request number, or with endless hops. check_daemon then checks that the daemon works. */
START_TEST(messages_without_a_number) {
    uint8_t head[SP_MAX_HEAD], hops[400] = {0};
    static const size_t sizes[] = {0, 1, 3, 4, sizeof hops};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
        sp_peer peer = sp_open(i % 2 ? served.request_tcp : served.request_ipc, SP_REQ);
        sp_send_bytes(&peer, head, sp_head(&peer, sizes[i / 2], head));
        sp_send_bytes(&peer, hops, sizes[i / 2]);
        sp_pause(0.01);
        sp_close(&peer);
    }
}
END_TEST

START_TEST(messages_to_the_events_endpoint_are_closed) {
    uint8_t head[SP_MAX_HEAD];
    for (int i = 2; i < LISTENERS; i++) {
        uint16_t protocol;
        sp_peer peer = sp_open(listener(i, &protocol), SP_SUB);
        sp_send_bytes(&peer, head, sp_head(&peer, 5, head));
        sp_send_bytes(&peer, "hello", 5);
        ck_assert_msg(sp_is_closed_within(&peer, 5), "a subscriber may talk");
        sp_close(&peer);
    }
}
END_TEST

int main(void) {
    enum { AMPLIFICATIONS = sizeof amplifications / sizeof amplifications[0] };
    TCase *watched = tcase_create("watched");
    tcase_add_checked_fixture(watched, start, stop);
    tcase_add_test(watched, message_far_above_the_limit_closes_its_connection);
    tcase_add_test(watched, wrong_greetings_are_closed);
    tcase_add_test(watched, random_bytes_on_each_listener);
    TCase *tests = tcase_create("bytes");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_add_checked_fixture(tests, NULL, check_daemon);
    tcase_add_test(tests, every_truncation_is_answered);
    tcase_add_test(tests, every_changed_byte_is_answered);
    tcase_add_test(tests, random_bytes_are_answered);
    tcase_add_test(tests, unknown_method_is_answered);
    tcase_add_loop_test(tests, unknown_field_is_refused_with_its_place, 0,
                        (int)(sizeof unknown_fields / sizeof unknown_fields[0]));
    tcase_add_test(tests, zero_byte_in_a_name_is_refused);
    tcase_add_test(tests, message_just_above_the_limit_is_answered);
    tcase_add_loop_test(tests, small_fields_do_not_use_much_memory, 0, AMPLIFICATIONS);
    tcase_add_test(tests, messages_without_a_number);
    tcase_add_test(tests, messages_to_the_events_endpoint_are_closed);
    setvbuf(stdout, NULL, _IOLBF, 0);
    int failed = run_unforked("hostile bytes, watched", watched);
    return run_unforked("hostile bytes", tests) | failed;
}
