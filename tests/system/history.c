/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks histories: random clients change models, simulations and recordings while the daemon is killed, stopped,
 * continued and ended, and while its disk is full. After each restart everything that was acknowledged is there, and
 * nothing else.
 *
 *   system_history [SECONDS]     20 by default; DYNAMICS_TEST_SEED repeats the choices of a run
 */
#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "system/daemon_fixture.h"
#include "system/history_client.h"
#include "system/runner.h"
#include "system/state_disk.h"

enum { CLIENTS = 3, LEAST_ROUNDS = 12 };

/* Fault that ends a round. */
typedef enum fault {
    KILLED,
    STOPPED_AND_KILLED,
    CONTINUED_AND_KILLED, /* stopped for a while, continued and killed */
    ENDED,                /* SIGTERM */
    FULL_AND_KILLED,      /* the disk is full, also during the restart */
    FREED_AND_KILLED,     /* the disk was full for a while */
    FULL_AND_ENDED,
    FAULTS,
    FAULTS_WITHOUT_DISK = FULL_AND_KILLED,
} fault;

static const char *const fault_names[FAULTS] = {
    "kill -9",           "stop, kill -9",      "stop, continue, kill -9",
    "SIGTERM",           "full disk, kill -9", "full disk, free disk, kill -9",
    "full disk, SIGTERM"};

/* Frequent snapshots, and recordings that leave little of the small disk free. */
static const char configuration[] = "[simulations]\nsave_interval = 0.3\n[limits]\ndisk_reserve_bytes = 65536\n";

static double seconds = 20;
static daemon_fixture fixture;
static history_client clients[CLIENTS];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void pause_for(double time) {
    nanosleep(&(struct timespec){.tv_sec = (time_t)time, .tv_nsec = (long)(fmod(time, 1) * 1e9)}, NULL);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* Causes a fault, up to the signal that ends the daemon; returns that signal. */
static int cause(fault f, random_source *random) {
    switch (f) {
    case STOPPED_AND_KILLED:
        daemon_signal(&fixture, SIGSTOP);
        pause_for(random_uniform(random, 0, 0.1));
        return SIGKILL;
    case CONTINUED_AND_KILLED:
        daemon_signal(&fixture, SIGSTOP);
        pause_for(random_uniform(random, 0, 0.5));
        daemon_signal(&fixture, SIGCONT);
        pause_for(random_uniform(random, 0, 0.1));
        return SIGKILL;
    case FULL_AND_KILLED:
    case FULL_AND_ENDED:
        state_disk_fill(&fixture);
        pause_for(random_uniform(random, 0, 0.2));
        return f == FULL_AND_ENDED ? SIGTERM : SIGKILL;
    case FREED_AND_KILLED:
        state_disk_fill(&fixture);
        pause_for(random_uniform(random, 0, 0.15));
        state_disk_free(&fixture);
        pause_for(random_uniform(random, 0, 0.15));
        return SIGKILL;
    default:
        return f == ENDED ? SIGTERM : SIGKILL;
    }
}

static bool is_owned(const char *name) {
    for (int k = 0; k < CLIENTS; k++) {
        if (history_client_owns(&clients[k], name)) {
            return true;
        }
    }
    return false;
}

/* Checks that the daemon has no models, simulations and recordings besides those of the clients and the samples. */
static void check_nothing_else(dyn_client *observer) {
    dyn_client_error error;
    dyn_client_model_list *models;
    dyn_client_simulation_list *simulations;
    dyn_client_recording_list *recordings;
    ck_assert_int_eq(dyn_client_list_models(observer, 0, &models, &error), DYN_CLIENT_OK);
    for (size_t i = 0; i < models->count; i++) {
        ck_assert_msg(!models->models[i].kept || is_owned(models->models[i].name), "there is a model %s",
                      models->models[i].name);
    }
    dyn_client_model_list_free(models);
    ck_assert_int_eq(dyn_client_list_simulations(observer, 0, &simulations, &error), DYN_CLIENT_OK);
    for (size_t i = 0; i < simulations->count; i++) {
        ck_assert_msg(is_owned(simulations->simulations[i].name), "there is a simulation %s",
                      simulations->simulations[i].name);
    }
    dyn_client_simulation_list_free(simulations);
    ck_assert_int_eq(dyn_client_list_recordings(observer, 0, &recordings, &error), DYN_CLIENT_OK);
    for (size_t i = 0; i < recordings->count; i++) {
        ck_assert_msg(is_owned(recordings->recordings[i].name), "there is a recording %s",
                      recordings->recordings[i].name);
    }
    dyn_client_recording_list_free(recordings);
}

static void check_clients(bool is_orderly) {
    dyn_client *observer;
    dyn_client_error error;
    ck_assert_msg(dyn_client_connect(fixture.request_ipc, NULL, &observer, &error) == DYN_CLIENT_OK, "%s",
                  error.message);
    for (int k = 0; k < CLIENTS; k++) {
        history_client_check(&clients[k], observer, is_orderly);
    }
    check_nothing_else(observer);
    dyn_client_close(observer);
}

/* Runs the clients until a fault, restarts the daemon, and checks what it holds. */
static void live_round(unsigned round, fault f, random_source *random) {
    bool is_full = f >= FULL_AND_KILLED;
    printf("round %u: %s\n", round, fault_names[f]);
    for (int k = 0; k < CLIENTS; k++) {
        history_client_start(&clients[k], is_full ? HISTORY_TIGHT : HISTORY_ROOMY);
    }
    pause_for(random_uniform(random, 0.01, 0.3));
    int signal = cause(f, random);
    ck_assert_int_eq(daemon_end(&fixture, signal), signal == SIGKILL ? 128 + SIGKILL : 0);
    for (int k = 0; k < CLIENTS; k++) {
        history_client_join(&clients[k], true);
    }
    daemon_begin(&fixture);
    if (is_full) {
        state_disk_free(&fixture);
    }
    check_clients(f == ENDED);
}

static void report(unsigned rounds, bool has_disk) {
    unsigned changes = 0, refusals = 0;
    for (size_t i = 0; i < history_kind_count; i++) {
        unsigned count = 0;
        for (int k = 0; k < CLIENTS; k++) {
            count += clients[k].kinds[i];
        }
        printf("%6u %s\n", count, history_kind_name(i));
        ck_assert_msg(count > 0, "no client did that: %s", history_kind_name(i));
    }
    for (int k = 0; k < CLIENTS; k++) {
        changes += clients[k].changes;
        refusals += clients[k].refusals;
    }
    printf("%u acknowledged changes, %u refusals, %u restarts%s\n", changes, refusals, rounds,
           has_disk ? "" : "; not root: no disk was filled");
}

START_TEST(acknowledged_changes_and_nothing_else_outlive_faults) {
    random_source base = random_seed("histories", (uint64_t)time(NULL));
    random_source random = random_case(base, CLIENTS);
    daemon_start(&(daemon_options){.configuration = configuration}, &fixture);
    ck_assert_int_eq(daemon_end(&fixture, SIGTERM), 0);
    bool has_disk = state_disk_mount(&fixture, "size=8m");
    daemon_begin(&fixture);
    for (unsigned k = 0; k < CLIENTS; k++) {
        history_client_init(&clients[k], k, random_case(base, k), fixture.request_ipc);
    }
    unsigned round = 0;
    for (double end = now() + seconds; now() < end || round < LEAST_ROUNDS; round++) {
        live_round(round, (fault)random_index(&random, has_disk ? FAULTS : FAULTS_WITHOUT_DISK), &random);
    }
    report(round, has_disk);
    daemon_stop(&fixture);
}
END_TEST

int main(int argc, char **argv) {
    if (argc > 1) {
        seconds = atof(argv[1]);
    }
    Suite *suite = suite_create("history");
    TCase *tests = tcase_create("daemon");
    tcase_set_timeout(tests, seconds + 120);
    tcase_add_test(tests, acknowledged_changes_and_nothing_else_outlive_faults);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
