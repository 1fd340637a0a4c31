/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the latency of a caller that asks for one state a thousand times a second: alone, beside clients that send
 * batches without pause, and beside live simulations.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"
#include "daemon.h"
#include "dynamics_client.h"
#include "sections.h"
#include "statistics.h"

/* JOINTS of the UR5; states of a batch; clients that send batches; simulations; calls a second; rounds, in each of
 * which all rows are measured. */
enum { JOINTS = 6, BATCH = 100000, FLOODS = 2, SIMULATIONS = 1000, RATE = 1000, ROUNDS = 3 };

/* Step of the simulations, s: a thousand of them leave the processors time. */
static const double STEP = 0.01;

static const table_column columns[] = {{"1 kHz caller", "beside", TABLE_TEXT},
                                       {"calls", "calls", 0},
                                       {"p50 us", "p50_us", 1},
                                       {"p99", "p99_us", 1},
                                       {"p99.9", "p999_us", 1},
                                       {"p99 / alone", "p99_ratio", 2},
                                       {"beside it", "work_per_second", 0}};

static const char note[] =
    "Beside it: states a second of the batches, or steps a second of the simulations, which step at 100 Hz each.";

static void check(dyn_client_status status, const dyn_client_error *error) {
    if (status != DYN_CLIENT_OK) {
        die("%s %s", error->field, error->message);
    }
}

static dyn_client *connect_to(const bench_daemon *d) {
    dyn_client *client;
    dyn_client_error error;
    check(dyn_client_connect(d->ipc, NULL, &client, &error), &error);
    return client;
}

/* ---- load -------------------------------------------------------------------------------------------------------- */

/* Client that sends one batch after the other. */
typedef struct flood {
    pthread_t thread;
    dyn_client *client;
    double *q, *tau;
    atomic_bool must_end;
    size_t batches;
} flood;

static void *send_batches(void *argument) {
    flood *f = argument;
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = BATCH, .timeout = 30);
    dyn_client_error error;
    while (!atomic_load(&f->must_end)) {
        check(dyn_client_inverse_dynamics(f->client, &query, f->q, f->q, f->q, f->tau, &error), &error);
        f->batches++;
    }
    return NULL;
}

static void start_floods(const bench_daemon *d, flood *floods) {
    for (int i = 0; i < FLOODS; i++) {
        floods[i].client = connect_to(d);
        floods[i].q = calloc((size_t)BATCH * JOINTS, sizeof(double));
        floods[i].tau = calloc((size_t)BATCH * JOINTS, sizeof(double));
        floods[i].batches = 0;
        atomic_store(&floods[i].must_end, false);
        if (!floods[i].q || !floods[i].tau || pthread_create(&floods[i].thread, NULL, send_batches, &floods[i]) != 0) {
            die("out of memory or threads");
        }
    }
}

/* Ends the batches. Returns the number of states that were computed. */
static double stop_floods(flood *floods) {
    double states = 0;
    for (int i = 0; i < FLOODS; i++) {
        atomic_store(&floods[i].must_end, true);
        pthread_join(floods[i].thread, NULL);
        states += (double)floods[i].batches * BATCH;
        dyn_client_close(floods[i].client);
        free(floods[i].q);
        free(floods[i].tau);
    }
    return states;
}

/* Names and tokens of the simulations. */
typedef struct simulations {
    char names[SIMULATIONS][32];
    uint64_t tokens[SIMULATIONS];
} simulations;

static void start_simulations(dyn_client *client, simulations *s) {
    const dyn_client_stepping stepping = DYN_CLIENT_STEPPING_INIT(.step_length = STEP);
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                           .stepping = &stepping, .pace = DYN_CLIENT_PACE_CLOCK, .lease = 600);
    dyn_client_simulation *created;
    dyn_client_error error;
    for (int i = 0; i < SIMULATIONS; i++) {
        check(dyn_client_create_simulation(client, &options, &s->tokens[i], &created, &error), &error);
        snprintf(s->names[i], sizeof s->names[i], "%s", created->name);
        dyn_client_simulation_free(created);
    }
}

static void stop_simulations(dyn_client *client, simulations *s) {
    dyn_client_error error;
    for (int i = 0; i < SIMULATIONS; i++) {
        check(dyn_client_delete_simulation(client, s->names[i], s->tokens[i], 0, NULL, &error), &error);
    }
}

/* ---- the caller -------------------------------------------------------------------------------------------------- */

/* Latencies of the calls of one row, us, and the work that was done beside them. */
typedef struct latencies {
    const char *beside;
    double *us;
    size_t count, most;
    double work, seconds;
} latencies;

/* Calls once a millisecond for `seconds`. A call that takes longer delays the next one. */
static void call_periodically(dyn_client *client, double seconds, latencies *to) {
    double q[JOINTS] = {0.1, -0.7, 1.2, 0.3, -0.2, 0.5}, tau[JOINTS];
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = 1);
    dyn_client_error error;
    double begin = clock_ns(CLOCK_MONOTONIC), due = begin;
    while (due < begin + seconds * 1e9 && to->count < to->most) {
        due += 1e9 / RATE;
        const struct timespec wake = {.tv_sec = (time_t)(due / 1e9),
                                      .tv_nsec = (long)(due - 1e9 * (double)(time_t)(due / 1e9))};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
        double sent = clock_ns(CLOCK_MONOTONIC);
        check(dyn_client_inverse_dynamics(client, &query, q, q, q, tau, &error), &error);
        double now = clock_ns(CLOCK_MONOTONIC);
        to->us[to->count++] = (now - sent) / 1e3;
        due = now > due + 1e9 / RATE ? now : due;
    }
    to->seconds += (clock_ns(CLOCK_MONOTONIC) - begin) / 1e9;
}

static void add_row(table *t, latencies *l, double alone) {
    sort_numbers(l->us, l->count);
    const double p99 = percentile(l->us, l->count, 0.99);
    const table_cell cells[] = {{.text = l->beside},
                                {.number = (double)l->count},
                                {.number = percentile(l->us, l->count, 0.5)},
                                {.number = p99},
                                {.number = percentile(l->us, l->count, 0.999)},
                                {.number = p99 / (alone > 0 ? alone : p99)},
                                {.number = l->work / l->seconds}};
    table_add(t, cells);
    free(l->us);
}

static void measure_rounds(const bench_daemon *d, double seconds, latencies rows[3]) {
    static simulations live;
    flood floods[FLOODS] = {0};
    dyn_client *caller = connect_to(d), *other = connect_to(d);
    for (int i = 0; i < ROUNDS; i++) {
        call_periodically(caller, seconds, &rows[0]);
        start_floods(d, floods);
        call_periodically(caller, seconds, &rows[1]);
        rows[1].work += stop_floods(floods);
        start_simulations(other, &live);
        call_periodically(caller, seconds, &rows[2]);
        stop_simulations(other, &live);
    }
    rows[2].work = SIMULATIONS / STEP * rows[2].seconds;
    dyn_client_close(caller);
    dyn_client_close(other);
}

void bench_fairness(const bench_options *options, report *r) {
    enum { ROWS = 3 };
    latencies rows[ROWS] = {
        {.beside = "alone"}, {.beside = "beside batches of 100,000"}, {.beside = "beside 1,000 simulations"}};
    table *t = table_create("One call at 1 kHz beside other work", "fairness", note, columns,
                            sizeof columns / sizeof columns[0]);
    bench_daemon d;
    daemon_start(options->daemon, &d);
    for (int i = 0; i < ROWS; i++) {
        rows[i].most = (size_t)(ROUNDS * (options->live_seconds + 1) * RATE);
        rows[i].us = calloc(rows[i].most, sizeof(double));
        if (!rows[i].us) {
            die("out of memory");
        }
    }
    measure_rounds(&d, options->live_seconds, rows);
    sort_numbers(rows[0].us, rows[0].count);
    const double alone = percentile(rows[0].us, rows[0].count, 0.99);
    for (int i = 0; i < ROWS; i++) {
        add_row(t, &rows[i], alone);
    }
    report_add(r, t);
    daemon_stop(&d);
}
