/*
 * The end of a transport while a request is under way.
 */
#include "transport/transport.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/sp_wire.h"
#include "unit/server/support.h"

enum { ENDS = 20, REPLY_BYTES = 1 << 20, FEW_BYTES = 4 << 20 };

static atomic_bool has_arrived;

/* Answers when the transport is being stopped. */
static void answer_late(void *context, transport_call *call) {
    (void)context;
    atomic_store(&has_arrived, true);
    sp_pause(0.02);
    uint8_t *reply = transport_reply_buffer(call, REPLY_BYTES);
    ck_assert_ptr_nonnull(reply);
    memset(reply, 0, REPLY_BYTES);
    transport_send(call);
}

/* Opens a transport, asks, and stops it before the answer. */
static void ask_and_stop(const char *address) {
    static logger log;
    static counters counted;
    char error[TRANSPORT_ERROR_SIZE];
    transport *t;
    transport_endpoint endpoint = {.kind = TRANSPORT_REQUEST};
    const transport_options options = {.endpoints = &endpoint,
                                       .endpoint_count = 1,
                                       .ipc_mode = 0600,
                                       .message_bytes = 1 << 16,
                                       .contexts = 4,
                                       .connections = 4,
                                       .idle_time = 60,
                                       .reply_time = 1,
                                       .handler = answer_late,
                                       .log = &log,
                                       .counters = &counted};
    snprintf(endpoint.address, sizeof endpoint.address, "%s", address);
    log_configure(&log, LOG_LEVEL_ERROR, LOG_FORMAT_PLAIN);
    atomic_store(&has_arrived, false);
    ck_assert_msg(transport_open(&options, error, &t), "%s", error);
    transport_receive(t);
    sp_peer peer = sp_open(address, SP_REQ);
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
    ask_and_stop(address);
    size_t before = allocated_bytes();
    for (int i = 0; i < ENDS; i++) {
        ask_and_stop(address);
    }
    ck_assert_uint_le(allocated_bytes(), before + FEW_BYTES);
    rmdir(directory);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("transport");
    tcase_add_test(tests, replies_that_come_too_late_are_freed);
    return run_tests(tests);
}
