/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the n-th allocation, and then the n-th system call about files, of each method fail, for every n until the
 * method needs no more. Each request has its reply, which may be an error; the daemon goes on, answers right, ends in
 * order, and starts again with the state it has left. The requests are the recorded ones; methods of the contract of
 * which no recorded one succeeds have one that is made from their descriptor. Each method succeeds without failures.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/failing_calls.h"
#include "system/daemon_fixture.h"
#include "system/method_request.h"
#include "system/runner.h"
#include "system/sp_request.h"

enum { REQUEST_SIZE = 1 << 16 };

/* Number of calls of a request that fail one after the other, before the steps between them grow; and the most. */
enum { EACH = 60, MOST = 2000 };

/* Bound of the numbers of methods in the contract. */
enum { METHOD_NUMBERS = 256 };

static daemon_fixture served;
static failing_control *control;
static char control_path[] = "/tmp/dynamicsd-failing-XXXXXX";
static glob_t requests;

static void map_control(void) {
    int file = mkstemp(control_path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(ftruncate(file, sizeof *control), 0);
    control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ck_assert_ptr_ne(control, MAP_FAILED);
    close(file);
}

/* The models that the requests name, and that of sp_expect_right_answer. */
static const daemon_options options = {
    .models = DYNAMICS_TEST_DATA "/arms\n " DYNAMICS_ROBOTS_DIR,
    .configuration = "[model walker]\nbase = floating\n",
};

static void start(void) {
    map_control();
    setenv("FAILING_CALLS", control_path, 1);
    setenv("LD_PRELOAD", FAILING_LIBRARY, 1);
    daemon_start(&options, &served);
    unsetenv("LD_PRELOAD");
    ck_assert_int_eq(glob(DYNAMICS_TEST_DATA "/requests/*.request", 0, NULL, &requests), 0);
}

static void stop(void) {
    globfree(&requests);
    daemon_stop(&served);
    munmap(control, sizeof *control);
    unlink(control_path);
}

/* Request whose calls fail: a recorded one, or that of a method. */
typedef struct attack {
    const char *name;
    const ProtobufCFieldDescriptor *method; /* NULL: `name` is the path of a recorded one */
} attack;

/* Number of failed calls so far, and of those that cost the connection; and which methods have succeeded without
 * failures, by their number. */
typedef struct tally {
    unsigned long failed, closed;
    bool has_succeeded[METHOD_NUMBERS];
} tally;

static Dynamics__V1__Request *read_request(const char *path) {
    uint8_t bytes[REQUEST_SIZE];
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    Dynamics__V1__Request *request = dynamics__v1__request__unpack(NULL, size, bytes);
    ck_assert_ptr_nonnull(request);
    return request;
}

/* Checks the reply of a request, and stores whether it is a success. */
static void check_reply(const attack *a, long n, unsigned method, const uint8_t *body, size_t size, tally *t) {
    Dynamics__V1__Reply *reply = dynamics__v1__reply__unpack(NULL, size, body);
    ck_assert_msg(reply && reply->status, "%s, call %ld: the answer is no Reply with a status", a->name, n);
    ck_assert_msg(reply->status->code != DYNAMICS__V1__CODE__CODE_INTERNAL, "%s, call %ld: %s", a->name, n,
                  reply->status->message);
    if (atomic_load(&control->failed) == 0 && reply->status->code == DYNAMICS__V1__CODE__CODE_OK) {
        t->has_succeeded[method] = true;
    }
    sp_free_reply(reply);
}

/* Sends a request, whose n-th call fails, over a connection, which is opened again if the daemon closes it for want of
 * memory for the connection itself. The request has a number of its own: a copy of an earlier one would get the stored
 * reply. */
static void ask(sp_peer *peer, const attack *a, Dynamics__V1__Request *request, long n, tally *t) {
    static uint32_t number;
    uint8_t *body = NULL;
    uint32_t answered;
    size_t size, body_size;
    request->id = ++number;
    uint8_t *bytes = sp_pack(request, &size);
    atomic_store(&control->failed, 0);
    atomic_store(&control->countdown, n);
    bool is_sent = sp_send_request(peer, number, bytes, size);
    sp_result result = is_sent ? sp_receive_reply(peer, SP_PATIENCE, &answered, &body, &body_size) : SP_CLOSED;
    atomic_store(&control->countdown, 0);
    free(bytes);
    ck_assert_msg(result != SP_TIMEOUT, "%s, call %ld: no reply", a->name, n);
    if (result == SP_CLOSED) {
        sp_close(peer);
        *peer = sp_open(served.request_ipc, SP_REQ);
        t->closed++;
        return;
    }
    check_reply(a, n, request->method_case, body, body_size, t);
    free(body);
}

/* Returns the largest number of a connection. */
static uint32_t last_connection(const sp_peer *peer) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__ListConnectionsRequest list = DYNAMICS__V1__LIST_CONNECTIONS_REQUEST__INIT;
    uint32_t last = 0;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_LIST_CONNECTIONS;
    request.list_connections = &list;
    Dynamics__V1__Reply *reply = sp_call(peer, &request);
    for (size_t i = 0; reply->list_connections && i < reply->list_connections->n_connections; i++) {
        uint32_t number = reply->list_connections->connections[i]->connection;
        last = number > last ? number : last;
    }
    sp_free_reply(reply);
    return last;
}

/* Opens a connection, which a request is to close. Stores its number. */
static sp_peer open_victim(const sp_peer *peer, uint32_t *number) {
    uint32_t before = last_connection(peer);
    sp_peer victim = sp_open(served.request_ipc, SP_REQ);
    for (double end = sp_now() + SP_PATIENCE; (*number = last_connection(peer)) == before && sp_now() < end;) {
    }
    ck_assert_uint_gt(*number, before);
    return victim;
}

/* Sends a request whose n-th call fails. Returns whether the request needed that many calls. */
static bool fail_call(sp_peer *peer, const attack *a, long n, tally *t) {
    Dynamics__V1__Request *request = a->method ? method_request_prepare(peer, a->method) : read_request(a->name);
    sp_peer victim = {.descriptor = -1};
    if (request->method_case == DYNAMICS__V1__REQUEST__METHOD_CLOSE_CONNECTION) {
        victim = open_victim(peer, &request->close_connection->connection);
    }
    ask(peer, a, request, n, t);
    dynamics__v1__request__free_unpacked(request, NULL);
    if (victim.descriptor >= 0) {
        sp_close(&victim);
    }
    bool has_failed = atomic_load(&control->failed) > 0;
    t->failed += has_failed;
    return has_failed;
}

/* Makes the calls of a request fail, one after the other. */
static void fail_each(const attack *a, tally *t) {
    sp_peer peer = sp_open(served.request_ipc, SP_REQ);
    for (long n = 1; n < MOST && fail_call(&peer, a, n, t);) {
        n += n < EACH ? 1 : n / 8;
    }
    sp_expect_right_answer(&peer);
    sp_close(&peer);
}

/* Makes the calls of a request of each method fail. */
static tally fail_calls(failing_kind kind, int error) {
    const ProtobufCMessageDescriptor *contract = &dynamics__v1__request__descriptor;
    unsigned methods = 0, succeeded = 0;
    tally t = {0};
    atomic_store(&control->kind, (int)kind);
    atomic_store(&control->error, error);
    for (size_t i = 0; i < requests.gl_pathc; i++) {
        fail_each(&(attack){requests.gl_pathv[i], NULL}, &t);
    }
    for (unsigned i = 0; i < contract->n_fields; i++) {
        const ProtobufCFieldDescriptor *method = &contract->fields[i];
        unsigned number = method_number(method);
        ck_assert_uint_lt(number, METHOD_NUMBERS);
        if (number > 0 && !t.has_succeeded[number]) {
            fail_each(&(attack){method->name, method}, &t);
            if (!t.has_succeeded[number]) {
                printf("no request of %s succeeds\n", method->name);
            }
        }
        methods += number > 0;
        succeeded += number > 0 && t.has_succeeded[number];
    }
    printf("%u methods, %u with a success, %s: %lu failures, %lu closed connections\n", methods, succeeded,
           error ? strerror(error) : "allocations", t.failed, t.closed);
    ck_assert_uint_eq(succeeded, methods);
    return t;
}

/* Restarts the daemon in its directory, without failures. */
static void restart(void) {
    setenv("LD_PRELOAD", FAILING_LIBRARY, 1);
    daemon_restart(&served);
    unsetenv("LD_PRELOAD");
    sp_peer peer = sp_open(served.request_ipc, SP_REQ);
    sp_expect_right_answer(&peer);
    sp_close(&peer);
}

START_TEST(each_method_survives_the_failure_of_any_allocation) {
    tally t = fail_calls(FAILING_ALLOCATIONS, 0);
    ck_assert_uint_gt(t.failed, 4 * requests.gl_pathc);
    ck_assert_uint_le(t.closed, 2 * requests.gl_pathc);
    restart();
}
END_TEST

static const int errors[] = {EIO, ENOSPC, EMFILE};

START_TEST(each_method_survives_the_failure_of_any_system_call) {
    tally t = fail_calls(FAILING_CALLS, errors[_i]);
    ck_assert_uint_gt(t.failed, 0);
    ck_assert_uint_eq(t.closed, 0);
    restart();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("failures");
    TCase *tests = tcase_create("daemon");
    tcase_add_checked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, each_method_survives_the_failure_of_any_allocation);
    tcase_add_loop_test(tests, each_method_survives_the_failure_of_any_system_call, 0,
                        (int)(sizeof errors / sizeof *errors));
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
