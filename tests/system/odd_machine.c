/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moves the wall clock of the daemon by an hour, forward and back, and slows its disk: deadlines, the pace and the
 * lease of a simulation, and recordings go on, and calls that need no disk keep their time.
 */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dynamics_client.h>

#include "support/odd_machine.h"
#include "system/daemon_fixture.h"
#include "system/load.h"
#include "system/runner.h"

/* Jump of the clock and time of a write, in s and ms; calls that are measured, and changes of the other client. */
enum { HOUR = 3600, SLOW_DISK = 200, CALLS = 200, LEAST_CHANGES = 3 };

/* Steps of a rollout that takes minutes. */
enum { ENDLESS_STEPS = 2000000000, NV = 6 };

/* Time in which the daemon must find JetStream, s. */
static const double PATIENCE = 20;

static daemon_fixture served;
static odd_machine *machine;
static char machine_path[] = "/tmp/dynamicsd-machine-XXXXXX";
static dyn_client *client;
static dyn_client_error error;

static void require(dyn_client_status status) {
    ck_assert_msg(status == DYN_CLIENT_OK, "%s: %s (%d)", error.field, error.message, (int)status);
}

static void map_machine(void) {
    int file = mkstemp(machine_path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(ftruncate(file, sizeof *machine), 0);
    machine = mmap(NULL, sizeof *machine, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ck_assert_ptr_ne(machine, MAP_FAILED);
    close(file);
}

static void start_with(const daemon_options *options) {
    setenv("ODD_MACHINE", machine_path, 1);
    setenv("LD_PRELOAD", ODD_LIBRARY, 1);
    daemon_start(options, &served);
    unsetenv("LD_PRELOAD");
    require(dyn_client_connect(served.request_ipc, NULL, &client, &error));
}

static void stop(void) {
    dyn_client_close(client);
    daemon_stop(&served);
    munmap(machine, sizeof *machine);
    unlink(machine_path);
}

/* ---- clock ------------------------------------------------------------------------------------------------------- */

static uint64_t create(const char *name, double lease) {
    uint64_t token;
    dyn_client_simulation *state;
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link");
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = name, .query = &query, .pace = DYN_CLIENT_PACE_CLOCK, .rate = 1,
                                           .lease = lease, .keep = true);
    require(dyn_client_create_simulation(client, &options, &token, &state, &error));
    dyn_client_simulation_free(state);
    return token;
}

/* Returns the simulated time; `stamp` receives the wall time of the state, s, and `lease` what remains of it, s. */
static double look(const char *name, uint64_t token, double *stamp, double *lease) {
    dyn_client_simulation *state;
    require(dyn_client_get_simulation(client, name, token, 0, &state, &error));
    double time = state->time;
    *stamp = (double)state->stamp_ns / 1e9;
    *lease = state->lease_remaining;
    dyn_client_simulation_free(state);
    return time;
}

/* Checks that half a second of the monotonic clock is half a second of the simulation, whatever the wall clock does. */
static void check_pace(uint64_t token, long jump) {
    double stamp, moved, lease, begin = load_now();
    double before = look("paced", token, &stamp, &lease);
    atomic_fetch_add(&machine->shift, jump);
    load_pause(0.5);
    double after = look("paced", token, &moved, &lease), elapsed = load_now() - begin;
    ck_assert_double_gt(after, before);
    ck_assert_msg(after - before < elapsed + 0.2, "%g s were simulated in %g s", after - before, elapsed);
    ck_assert_msg(lease > 30 && lease <= 60, "%g s of the lease remain", lease);
    ck_assert_msg(fabs(moved - stamp - (double)jump) < 60, "the time stamps differ by %g s", moved - stamp);
}

/* Checks that a request ends at its deadline, although the clock jumps meanwhile. */
static void check_deadline(void) {
    double q[NV] = {0}, begin = load_now();
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = 1, .timeout = 0.5);
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q, .steps = ENDLESS_STEPS, .only_last = true);
    dyn_client_rollout *result = NULL;
    dyn_client_status status = dyn_client_rollout_run(client, &query, &request, &result, &error);
    ck_assert_msg(status == DYN_CLIENT_DEADLINE_EXCEEDED, "%d: %s", (int)status, error.message);
    ck_assert_double_gt(load_now() - begin, 0.3);
    ck_assert_double_lt(load_now() - begin, 10);
    ck_assert_int_eq(load_ask(client, LOAD_SAMPLES, 1, NULL, &error), DYN_CLIENT_OK);
}

START_TEST(jumps_of_the_wall_clock_move_time_stamps_and_nothing_else) {
    static const long jumps[] = {HOUR, -2 * HOUR, HOUR};
    dyn_client_replay *replay;
    map_machine();
    start_with(NULL);
    uint64_t token = create("paced", 60);
    require(dyn_client_record_simulation(client, "paced", token, "jumps", 0, &error));
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        check_pace(token, jumps[i]);
        check_deadline();
    }
    require(dyn_client_stop_recording(client, "paced", token, 0, NULL, NULL, &error));
    require(dyn_client_replay_simulation(client, "jumps", NULL, NULL, &replay, &error));
    ck_assert_uint_gt(replay->steps, 0);
    ck_assert_uint_eq(replay->equal_steps, replay->steps);
    dyn_client_replay_free(replay);
    stop();
}
END_TEST

/* Loads a robot at the NATS server, which fails until the daemon has found JetStream. */
static dyn_client_status load_shared(const char *url) {
    static const char text[] = "<robot name='r'><link name='base'/><link name='arm'><inertial><mass value='1'/>"
                               "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link><joint "
                               "name='j' type='continuous'><parent link='base'/><child link='arm'/></joint></robot>";
    dyn_client *shared = NULL;
    dyn_client_loaded_model *loaded = NULL;
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.name = "shared", .urdf = text, .replace = true);
    dyn_client_status status = dyn_client_connect(url, NULL, &shared, &error);
    if (status == DYN_CLIENT_OK) {
        status = dyn_client_load_model(shared, &request, &loaded, &error);
    }
    dyn_client_loaded_model_free(loaded);
    dyn_client_close(shared);
    return status;
}

/* Checks a daemon whose NATS server gets JetStream later, for which it looks every half second. */
START_TEST(waits_for_shared_models_end_by_the_monotonic_clock) {
    nats_server server;
    nats_server_start_with(&server, "");
    map_machine();
    atomic_store(&machine->shift, HOUR);
    start_with(&(daemon_options){.nats = server.url});
    load_pause(1); /* the daemon has looked and waits */
    snprintf(server.configuration, sizeof server.configuration, "jetstream { store_dir: \"%s/js\" }", server.directory);
    nats_server_restart(&server);
    dyn_client_status status = load_shared(server.url);
    for (double end = load_now() + PATIENCE; status != DYN_CLIENT_OK && load_now() < end;) {
        load_pause(0.1);
        status = load_shared(server.url);
    }
    require(status);
    stop();
    nats_server_stop(&server);
}
END_TEST

/* ---- disk -------------------------------------------------------------------------------------------------------- */

typedef struct writer {
    pthread_t thread;
    atomic_bool must_end;
    unsigned changes;
    dyn_client_status status;
    dyn_client_error error;
} writer;

/* Saves the state over a connection of its own, whose replies wait for the disk. */
static void *write_often(void *argument) {
    writer *w = argument;
    dyn_client *own = NULL;
    size_t count;
    w->status = dyn_client_connect(served.request_ipc, NULL, &own, &w->error);
    while (w->status == DYN_CLIENT_OK && !atomic_load(&w->must_end)) {
        w->status = dyn_client_save_simulations(own, 60, &count, &w->error);
        w->changes++;
    }
    dyn_client_close(own);
    return NULL;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

START_TEST(calls_of_others_do_not_wait_for_a_slow_disk) {
    static double times[CALLS];
    writer w = {0};
    map_machine();
    start_with(NULL);
    uint64_t token = create("paced", 60);
    require(dyn_client_record_simulation(client, "paced", token, "slow", 0, &error));
    atomic_store(&machine->delay, SLOW_DISK);
    ck_assert_int_eq(pthread_create(&w.thread, NULL, write_often, &w), 0);
    for (int i = 0; i < CALLS; i++) {
        double begin = load_now();
        ck_assert_int_eq(load_ask(client, 1, i, NULL, &error), DYN_CLIENT_OK);
        times[i] = load_now() - begin;
        load_pause(0.02);
    }
    atomic_store(&w.must_end, true);
    pthread_join(w.thread, NULL);
    ck_assert_msg(w.status == DYN_CLIENT_OK, "%s", w.error.message);
    qsort(times, CALLS, sizeof *times, compare);
    printf("%ld delayed writes, %u saved states; calls: median %.2f ms, 95 %% %.2f ms, longest %.2f ms\n",
           atomic_load(&machine->delayed), w.changes, 1e3 * times[CALLS / 2], 1e3 * times[CALLS * 95 / 100],
           1e3 * times[CALLS - 1]);
    ck_assert_int_gt(atomic_load(&machine->delayed), 10);
    ck_assert_uint_ge(w.changes, LEAST_CHANGES);
    ck_assert_double_lt(times[CALLS * 95 / 100], 1e-3 * SLOW_DISK / 2);
    atomic_store(&machine->delay, 0);
    stop();
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("odd_machine");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, jumps_of_the_wall_clock_move_time_stamps_and_nothing_else);
    tcase_add_test(tests, waits_for_shared_models_end_by_the_monotonic_clock);
    tcase_add_test(tests, calls_of_others_do_not_wait_for_a_slow_disk);
    Suite *suite = suite_create("odd_machine");
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
