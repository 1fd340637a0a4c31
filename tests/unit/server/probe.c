/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the probe of the daemon's own listeners against a listener of the test. It greets as nng does and reports
 * accepted connections when the test allows it.
 */
#include "observe/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "observe/clock.h"
#include "unit/server/support.h"

/* Period and numbers of ticks of the loop. SLOW_TICKS ticks take longer than the probe's timeout of 0.15 s and less
 * than the two seconds after which the probe counts a listener as dead. */
enum { TICK_MILLISECONDS = 50, SLOW_TICKS = 10, CONNECTIONS = 64 };

/* Listener of the test, the probe that checks it, and the loop of both. */
typedef struct bench {
    uv_loop_t loop;
    uv_timer_t timer;
    uv_pipe_t listener, connections[CONNECTIONS];
    uv_write_t greetings[CONNECTIONS];
    int connection_count;
    char directory[32], address[64];
    health health;
    logger log;
    probe *probe;
    int ticks, stop_at;
    long pause; /* ns that each tick blocks the loop */
    uint64_t admitted;
    unsigned restarts;
} bench;

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    static char bytes[256];
    (void)handle;
    (void)suggested;
    *buffer = uv_buf_init(bytes, sizeof bytes);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    (void)buffer;
    if (count < 0 && !uv_is_closing((uv_handle_t *)stream)) {
        uv_close((uv_handle_t *)stream, NULL);
    }
}

/* Sends nng's greeting to a new connection, which nng does even when it no longer accepts connections. */
static void on_connection(uv_stream_t *listener, int status) {
    static char greeting[] = {0, 'S', 'P', 0, 0, 0x20, 0, 0};
    bench *b = listener->data;
    ck_assert_int_eq(status, 0);
    ck_assert_int_lt(b->connection_count, CONNECTIONS);
    int i = b->connection_count++;
    uv_stream_t *connection = (uv_stream_t *)&b->connections[i];
    uv_buf_t buffer = uv_buf_init(greeting, sizeof greeting);
    ck_assert_int_eq(uv_pipe_init(&b->loop, &b->connections[i], 0), 0);
    ck_assert_int_eq(uv_accept(listener, connection), 0);
    ck_assert_int_eq(uv_read_start(connection, on_allocate, on_read), 0);
    ck_assert_int_eq(uv_write(&b->greetings[i], connection, &buffer, 1, NULL), 0);
}

static uint64_t admitted(void *context, size_t i) {
    (void)i;
    return ((bench *)context)->admitted;
}

static void expect(void *context, size_t i, uint16_t port) {
    (void)context;
    (void)i;
    (void)port;
}

static bool restart(void *context, size_t i) {
    (void)i;
    ((bench *)context)->restarts++;
    return true;
}

static void on_tick(uv_timer_t *timer) {
    bench *b = timer->data;
    nanosleep(&(struct timespec){.tv_nsec = b->pause}, NULL);
    b->ticks++;
    probe_tick(b->probe);
    if (b->ticks == b->stop_at || b->restarts > 0) {
        uv_stop(&b->loop);
    }
}

/* Runs the loop for `ticks` ticks, or until the probe has the listener created again. */
static void run(bench *b, int ticks) {
    b->stop_at = b->ticks + ticks;
    uv_run(&b->loop, UV_RUN_DEFAULT);
}

static void open_bench(bench *b) {
    *b = (bench){.directory = "/tmp/dynamicsd-probe-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(b->directory));
    snprintf(b->address, sizeof b->address, "ipc://%s/events", b->directory);
    log_configure(&b->log, LOG_LEVEL_ERROR, LOG_FORMAT_PLAIN);
    health_init(&b->health);
    ck_assert_int_eq(uv_loop_init(&b->loop), 0);
    ck_assert_int_eq(uv_pipe_init(&b->loop, &b->listener, 0), 0);
    b->listener.data = b;
    ck_assert_int_eq(uv_pipe_bind(&b->listener, b->address + strlen("ipc://")), 0);
    ck_assert_int_eq(uv_listen((uv_stream_t *)&b->listener, CONNECTIONS, on_connection), 0);
    static probe_target target;
    target = (probe_target){.address = b->address};
    const probe_options options = {.loop = &b->loop,
                                   .targets = &target,
                                   .target_count = 1,
                                   .interval = 0.1,
                                   .timeout = 0.15,
                                   .request = (const uint8_t *)"",
                                   .hooks = {admitted, expect, restart, b},
                                   .health = &b->health,
                                   .log = &b->log};
    b->probe = probe_create(&options);
    ck_assert_ptr_nonnull(b->probe);
    uv_timer_init(&b->loop, &b->timer);
    b->timer.data = b;
    uv_timer_start(&b->timer, on_tick, TICK_MILLISECONDS, TICK_MILLISECONDS);
}

static void close_handle(uv_handle_t *handle, void *context) {
    (void)context;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

static void close_bench(bench *b) {
    probe_stop(b->probe);
    uv_walk(&b->loop, close_handle, NULL);
    uv_run(&b->loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(uv_loop_close(&b->loop), 0);
    probe_free(b->probe);
    health_free(&b->health);
    rmdir(b->directory);
}

/* Returns the state of the listener's health component, which is the last one. */
static health_state listener_state(bench *b) {
    static health_component component;
    health_read(&b->health, b->health.count - 1, &component);
    return component.state;
}

START_TEST(listener_that_accepts_nothing_is_created_again) {
    static bench b;
    open_bench(&b);
    run(&b, 100000);
    ck_assert_uint_eq(b.restarts, 1);
    ck_assert_int_eq(listener_state(&b), HEALTH_NOT_SERVING);
    close_bench(&b);
}
END_TEST

/* Checks a listener that accepts late, as nng's threads do on a busy machine, while the loop runs in time. */
START_TEST(listener_that_is_slow_to_accept_is_reported_and_left) {
    static bench b;
    open_bench(&b);
    run(&b, SLOW_TICKS);
    ck_assert_uint_eq(b.restarts, 0);
    ck_assert_int_eq(listener_state(&b), HEALTH_DEGRADED);
    for (int i = 0; i < 1000 && listener_state(&b) != HEALTH_SERVING; i++) {
        b.admitted++;
        run(&b, 1);
    }
    ck_assert_int_eq(listener_state(&b), HEALTH_SERVING);
    ck_assert_uint_eq(b.restarts, 0);
    close_bench(&b);
}
END_TEST

START_TEST(time_in_which_the_loop_stands_is_not_counted) {
    static bench b;
    open_bench(&b);
    b.pause = NANOSECONDS / 4;
    run(&b, SLOW_TICKS);
    ck_assert_uint_eq(b.restarts, 0);
    close_bench(&b);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("probe");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, listener_that_accepts_nothing_is_created_again);
    tcase_add_test(tests, listener_that_is_slow_to_accept_is_reported_and_left);
    tcase_add_test(tests, time_in_which_the_loop_stands_is_not_counted);
    return run_tests(tests);
}
