/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads a daemon with everything at once, for a given time: single calls at 1 kHz, batches, rollouts, refused requests,
 * connections that come and go, and random changes of models, simulations and recordings. Every request must get its
 * reply, single calls always the same bits; memory and descriptors of the daemon must stay flat, and after a restart
 * everything acknowledged must be there.
 *
 *   system_soak [SECONDS]     15 by default; tests/soak HOURS runs it for long
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

#include "system/daemon_fixture.h"
#include "system/history_client.h"
#include "system/runner.h"

enum { HISTORIES = 2, JOINTS = 6, BATCH = 5000, ROLLOUTS = 50, STEPS = 200, REPORTS = 40 };

/* Bounds of the growth after the first quarter of the time: memory of the daemon, and its descriptors. */
enum { GROWTH_MEGABYTES = 32, GROWTH_DESCRIPTORS = 24 };

/* Longest time in s that a request may take on a machine with other work. */
static const double PATIENCE = 20;

static double seconds = 15;
static daemon_fixture fixture;
static history_client histories[HISTORIES];
static atomic_bool must_stop;

/* Kind of load: one thread with a connection of its own. */
typedef struct load_kind {
    const char *name;
    void (*ask)(dyn_client *client, uint64_t number);
    double interval; /* s between two requests */
    atomic_ulong answered;
} load_kind;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void pause_for(double time) {
    nanosleep(&(struct timespec){.tv_sec = (time_t)time, .tv_nsec = (long)(fmod(time, 1) * 1e9)}, NULL);
}

static dyn_client *connect_to_daemon(void) {
    dyn_client *client;
    dyn_client_error error;
    ck_assert_msg(dyn_client_connect(fixture.request_ipc, NULL, &client, &error) == DYN_CLIENT_OK, "%s", error.message);
    return client;
}

/* Asserts that a request is answered with a status. */
static void expect(dyn_client_status found, dyn_client_status wanted, const dyn_client_error *error) {
    ck_assert_msg(found == wanted, "%s instead of %s: %s %s", dyn_client_status_name(found),
                  dyn_client_status_name(wanted), error->field, error->message);
}

static const double MOTION[3][JOINTS] = {
    {0.3, -1.2, 1.4, -0.8, -1.5, 0.4}, {0.5, 0.4, -0.6, 0.2, 0.3, 1}, {1, 0.5, -1, 0.4, 0.2, 2}};

static void ask_single(dyn_client *client, uint64_t number) {
    static double first[JOINTS];
    double tau[JOINTS];
    dyn_client_error error;
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = 1, .timeout = PATIENCE);
    expect(dyn_client_inverse_dynamics(client, &query, MOTION[0], MOTION[1], MOTION[2], tau, &error), DYN_CLIENT_OK,
           &error);
    if (number == 0) {
        memcpy(first, tau, sizeof first);
    }
    ck_assert_msg(memcmp(first, tau, sizeof first) == 0, "call %lu has other bits", (unsigned long)number);
}

static void ask_batch(dyn_client *client, uint64_t number) {
    static double q[BATCH][JOINTS], tau[BATCH][JOINTS];
    dyn_client_error error;
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = BATCH, .timeout = PATIENCE);
    (void)number;
    expect(dyn_client_gravity(client, &query, q[0], tau[0], &error), DYN_CLIENT_OK, &error);
}

static void ask_rollout(dyn_client *client, uint64_t number) {
    static double q[ROLLOUTS][2];
    dyn_client_error error;
    dyn_client_rollout *result;
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = ROLLOUTS, .timeout = PATIENCE);
    const dyn_client_rollout_request request = DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q[0], .steps = STEPS);
    (void)number;
    expect(dyn_client_rollout_run(client, &query, &request, &result, &error), DYN_CLIENT_OK, &error);
    dyn_client_rollout_free(result);
}

static void ask_wrongly(dyn_client *client, uint64_t number) {
    const double q[JOINTS] = {NAN};
    double tau[JOINTS];
    dyn_client_error error;
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = number % 2 ? "ur5" : "no such robot", .nq = JOINTS,
                                                         .nv = JOINTS, .samples = 1, .timeout = PATIENCE);
    expect(dyn_client_gravity(client, &query, q, tau, &error),
           number % 2 ? DYN_CLIENT_INVALID_ARGUMENT : DYN_CLIENT_NOT_FOUND, &error);
}

static void ask_from_new_connection(dyn_client *client, uint64_t number) {
    dyn_client_error error;
    (void)client;
    (void)number;
    dyn_client *fresh = connect_to_daemon();
    expect(dyn_client_ping(fresh, PATIENCE, &error), DYN_CLIENT_OK, &error);
    dyn_client_close(fresh);
}

static load_kind loads[] = {
    {.name = "single calls", .ask = ask_single, .interval = 0.001},
    {.name = "batches", .ask = ask_batch, .interval = 0.02},
    {.name = "rollouts", .ask = ask_rollout, .interval = 0.05},
    {.name = "refused requests", .ask = ask_wrongly, .interval = 0.005},
    {.name = "new connections", .ask = ask_from_new_connection, .interval = 0.05},
};

enum { LOADS = sizeof loads / sizeof *loads };

static void *load_daemon(void *argument) {
    load_kind *kind = argument;
    dyn_client *client = connect_to_daemon();
    for (uint64_t number = 0; !atomic_load(&must_stop); number++) {
        kind->ask(client, number);
        atomic_fetch_add(&kind->answered, 1);
        pause_for(kind->interval);
    }
    dyn_client_close(client);
    return NULL;
}

/* Reports the daemon's memory and descriptors regularly, and checks that they do not grow after the first quarter. */
static void watch_daemon(void) {
    size_t memory = 0, descriptors = 0;
    double begin = now();
    for (int i = 1; i <= REPORTS; i++) {
        while (now() < begin + seconds * i / REPORTS) {
            pause_for(0.05);
        }
        size_t bytes = daemon_resident_bytes(&fixture), open = daemon_open_descriptors(&fixture);
        printf("%7.0f s  %6.1f MiB  %3zu descriptors  %lu single calls\n", now() - begin, (double)bytes / 1048576, open,
               atomic_load(&loads[0].answered));
        if (i <= REPORTS / 4) {
            memory = bytes > memory ? bytes : memory;
            descriptors = open > descriptors ? open : descriptors;
        }
        ck_assert_msg(bytes <= memory + DAEMON_MEMORY_SLACK(GROWTH_MEGABYTES), "memory grows: %zu bytes after %zu",
                      bytes, memory);
        ck_assert_uint_le(open, descriptors + GROWTH_DESCRIPTORS);
    }
}

/* Restarts the daemon after a signal, and checks what it holds. */
static void check_histories(int signal) {
    daemon_end(&fixture, signal);
    daemon_begin(&fixture);
    dyn_client *observer = connect_to_daemon();
    for (int k = 0; k < HISTORIES; k++) {
        history_client_check(&histories[k], observer, signal == SIGTERM);
    }
    dyn_client_close(observer);
}

START_TEST(every_request_is_answered_and_memory_stays_flat) {
    random_source base = random_seed("soak", (uint64_t)time(NULL));
    pthread_t threads[LOADS];
    daemon_start(NULL, &fixture);
    for (unsigned k = 0; k < HISTORIES; k++) {
        history_client_init(&histories[k], k, random_case(base, k), fixture.request_ipc);
        histories[k].patience = PATIENCE;
        history_client_start(&histories[k], HISTORY_ROOMY);
    }
    for (int k = 0; k < LOADS; k++) {
        ck_assert_int_eq(pthread_create(&threads[k], NULL, load_daemon, &loads[k]), 0);
    }
    watch_daemon();
    atomic_store(&must_stop, true);
    unsigned changes = 0;
    for (int k = 0; k < LOADS; k++) {
        pthread_join(threads[k], NULL);
        printf("%10lu %s\n", atomic_load(&loads[k].answered), loads[k].name);
        ck_assert_uint_gt(atomic_load(&loads[k].answered), 0);
    }
    for (int k = 0; k < HISTORIES; k++) {
        history_client_join(&histories[k], false);
        ck_assert_msg(histories[k].unanswered == 0, "a change has no reply");
        changes += histories[k].changes;
    }
    printf("%10u acknowledged changes\n", changes);
    ck_assert_uint_gt(changes, 0);
    check_histories(SIGTERM);
    check_histories(SIGKILL);
    daemon_stop(&fixture);
}
END_TEST

int main(int argc, char **argv) {
    if (argc > 1) {
        seconds = atof(argv[1]);
    }
    Suite *suite = suite_create("soak");
    TCase *tests = tcase_create("daemon");
    tcase_set_timeout(tests, seconds + 180);
    tcase_add_test(tests, every_request_is_answered_and_memory_stays_flat);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
