/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures simulations that follow the clock at 1 kHz each, the lateness of one beside a bare timer and a spinning
 * loop, and streams: points per second, and the latency from pushed points to their torques.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "daemon.h"
#include "dynamics_client.h"
#include "sections.h"
#include "statistics.h"

enum { JOINTS = 6, PACE = 1000, MOST_SIMULATIONS = 1000, MOST_CHUNK = 1000 };

static void check(dyn_client_status status, const dyn_client_error *error) {
    if (status != DYN_CLIENT_OK) {
        die("%s %s", error->field, error->message);
    }
}

/* ---- simulations ------------------------------------------------------------------------------------------------- */

static const table_column pace_columns[] = {{"simulations", "simulations", 0}, {"steps/s", "steps_per_second", 0},
                                            {"us/step", "step_us", 2},         {"ticks", "ticks", 0},
                                            {"overruns", "overruns", 0},       {"slipped ms", "slipped_ms", 1},
                                            {"late p50 us", "late_p50_us", 1}, {"p99", "late_p99_us", 1},
                                            {"p99.9", "late_p999_us", 1},      {"lost", "lost_messages", 0}};

/* Collects the lateness (us) of the ticks of one simulation that the daemon publishes in `seconds`, at most `most` of
 * them, in ascending order. Returns their number. Adds the number of lost messages to `lost`. */
static size_t collect_lateness(dyn_client *client, const char *name, double seconds, double *lateness, size_t most,
                               double *lost) {
    dyn_client_error error;
    dyn_client_watch *watch;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    size_t count = 0;
    check(dyn_client_watch_simulation(client, name, 0, &watch, &error), &error);
    for (double end = clock_ns(CLOCK_MONOTONIC) + seconds * 1e9; clock_ns(CLOCK_MONOTONIC) < end && count < most;) {
        if (dyn_client_watch_next(watch, 1, &update, &error) != DYN_CLIENT_OK) {
            die("%s", error.message);
        }
        if (update.kind == DYN_CLIENT_UPDATE_KIND_STATES) {
            lateness[count++] = update.lateness * 1e6;
            *lost += (double)update.lost;
        }
    }
    dyn_client_watch_close(watch);
    sort_numbers(lateness, count);
    return count;
}

/* Sums over all simulations, and their mean time of a step, s. */
typedef struct pace_sums {
    double ticks, overruns, slipped, cost;
} pace_sums;

static pace_sums sum_paces(dyn_client *client) {
    dyn_client_error error;
    dyn_client_simulation_list *list;
    pace_sums sums = {0};
    check(dyn_client_list_simulations(client, 0, &list, &error), &error);
    for (size_t i = 0; i < list->count; i++) {
        sums.ticks += (double)list->simulations[i].ticks;
        sums.overruns += (double)list->simulations[i].overruns;
        sums.slipped += list->simulations[i].slipped;
        sums.cost += list->simulations[i].step_cost / (double)list->count;
    }
    dyn_client_simulation_list_free(list);
    return sums;
}

/* Runs `simulations` simulations of a UR5 at 1 kHz each for `seconds`, watches the first one, and adds a row to the
 * table. */
static void measure_pace(dyn_client *client, size_t simulations, double seconds, table *t) {
    static uint64_t tokens[MOST_SIMULATIONS];
    static char names[MOST_SIMULATIONS][32];
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                           .pace = DYN_CLIENT_PACE_CLOCK, .publish_rate = PACE, .lease = 600);
    size_t most = (size_t)(2 * seconds * PACE) + 1;
    double *lateness = calloc(most, sizeof *lateness), lost = 0;
    dyn_client_error error;
    dyn_client_simulation *created;
    if (!lateness) {
        die("out of memory");
    }
    for (size_t i = 0; i < simulations; i++) {
        check(dyn_client_create_simulation(client, &options, &tokens[i], &created, &error), &error);
        snprintf(names[i], sizeof names[i], "%s", created->name);
        dyn_client_simulation_free(created);
    }
    const pace_sums before = sum_paces(client);
    size_t count = collect_lateness(client, names[0], seconds, lateness, most, &lost);
    const pace_sums after = sum_paces(client);
    const table_cell cells[] = {{.number = (double)simulations},
                                {.number = (double)simulations * PACE},
                                {.number = after.cost * 1e6},
                                {.number = after.ticks - before.ticks},
                                {.number = after.overruns - before.overruns},
                                {.number = (after.slipped - before.slipped) * 1e3},
                                {.number = percentile(lateness, count, 0.5)},
                                {.number = percentile(lateness, count, 0.99)},
                                {.number = percentile(lateness, count, 0.999)},
                                {.number = lost}};
    table_add(t, cells);
    for (size_t i = 0; i < simulations; i++) {
        check(dyn_client_delete_simulation(client, names[i], tokens[i], 0, NULL, &error), &error);
    }
    free(lateness);
}

/* ---- lateness ---------------------------------------------------------------------------------------------------- */

static const table_column lateness_columns[] = {{"tick of a", "tick", TABLE_TEXT},
                                                {"late p50 us", "late_p50_us", 1},
                                                {"p99", "late_p99_us", 1},
                                                {"p99.9", "late_p999_us", 1},
                                                {"most", "late_most_us", 1}};

static void add_lateness(table *t, const char *what, double *lateness, size_t count) {
    sort_numbers(lateness, count);
    const table_cell cells[] = {{.text = what},
                                {.number = percentile(lateness, count, 0.5)},
                                {.number = percentile(lateness, count, 0.99)},
                                {.number = percentile(lateness, count, 0.999)},
                                {.number = count > 0 ? lateness[count - 1] : 0}};
    table_add(t, cells);
}

/* Stores how late (us) a thread is that sleeps until each of `count` ticks of a timer at 1 kHz. */
static void sleep_until_ticks(double *lateness, size_t count) {
    const double period = 1e9 / PACE, start = clock_ns(CLOCK_MONOTONIC);
    struct itimerspec times = {.it_interval.tv_nsec = (long)period};
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    times.it_value =
        (struct timespec){.tv_sec = (time_t)((start + period) / 1e9), .tv_nsec = (long)fmod(start + period, 1e9)};
    if (timer < 0 || timerfd_settime(timer, TFD_TIMER_ABSTIME, &times, NULL) != 0) {
        die("there is no timer: %s", strerror(errno));
    }
    uint64_t ticks = 0, expired;
    for (size_t i = 0; i < count; i++) {
        if (read(timer, &expired, sizeof expired) != (ssize_t)sizeof expired) {
            die("the timer fails: %s", strerror(errno));
        }
        ticks += expired;
        lateness[i] = (clock_ns(CLOCK_MONOTONIC) - start - (double)ticks * period) / 1e3;
    }
    close(timer);
}

/* Stores how late (us) a thread is that spins until each of `count` ticks at 1 kHz. */
static void spin_until_ticks(double *lateness, size_t count) {
    const double period = 1e9 / PACE, start = clock_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < count; i++) {
        double due = start + (double)(i + 1) * period;
        while (clock_ns(CLOCK_MONOTONIC) < due) {
        }
        lateness[i] = (clock_ns(CLOCK_MONOTONIC) - due) / 1e3;
    }
}

/* Adds a row: one simulation of a UR5 at 1 kHz in a daemon whose threads spin for `spin` s before a tick. */
static void add_simulation(const bench_options *options, const char *what, double spin, double *lateness, size_t most,
                           table *t) {
    const dyn_client_simulation_options created =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "arm",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                           .pace = DYN_CLIENT_PACE_CLOCK, .publish_rate = PACE, .lease = 600);
    bench_daemon daemon;
    dyn_client *client;
    dyn_client_error error;
    dyn_client_simulation *simulation;
    uint64_t token;
    double lost = 0;
    daemon_start_at(options->daemon, &(daemon_place){.spin = spin}, &daemon);
    check(dyn_client_connect(daemon.ipc, NULL, &client, &error), &error);
    check(dyn_client_create_simulation(client, &created, &token, &simulation, &error), &error);
    dyn_client_simulation_free(simulation);
    size_t count = collect_lateness(client, "arm", options->live_seconds, lateness, most, &lost);
    add_lateness(t, what, lateness, count);
    dyn_client_close(client);
    daemon_stop(&daemon);
}

static void measure_lateness(const bench_options *options, report *r) {
    size_t count = (size_t)(options->live_seconds * PACE) + 1;
    double *lateness = calloc(2 * count, sizeof *lateness);
    table *t = table_create("How long after its time a tick at 1 kHz begins", "lateness",
                            "Simulation: of one UR5, watched. A thread that spins does so before each tick.\n",
                            lateness_columns, sizeof lateness_columns / sizeof lateness_columns[0]);
    if (!lateness) {
        die("out of memory");
    }
    sleep_until_ticks(lateness, count);
    add_lateness(t, "timerfd", lateness, count);
    add_simulation(options, "simulation", 0, lateness, 2 * count, t);
    spin_until_ticks(lateness, count);
    add_lateness(t, "spinning loop", lateness, count);
    add_simulation(options, "simulation, spin 1e-4", 1e-4, lateness, 2 * count, t);
    report_add(r, t);
    free(lateness);
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

static const table_column stream_columns[] = {{"points/message", "chunk", 0},
                                              {"points/s", "points_per_second", 0},
                                              {"at 1 kHz: p50 us", "p50_us", 1},
                                              {"p99", "p99_us", 1},
                                              {"p99.9", "p999_us", 1}};

/* Stream of a UR5, and the watch that receives its torques. */
typedef struct bench_stream {
    dyn_client_stream *stream;
    dyn_client_watch *watch;
    double *t, *q; /* a message */
} bench_stream;

static void open_stream(dyn_client *client, bench_stream *s) {
    const dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD,
                                       .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                       .capacity = 100000);
    dyn_client_error error;
    check(dyn_client_open_stream(client, &options, &s->stream, &error), &error);
    check(dyn_client_watch_stream(client, dyn_client_stream_name(s->stream), 0, &s->watch, &error), &error);
    s->t = calloc(MOST_CHUNK, sizeof *s->t);
    s->q = calloc(MOST_CHUNK * JOINTS, sizeof *s->q);
    if (!s->t || !s->q) {
        die("out of memory");
    }
}

static void close_stream(dyn_client *client, bench_stream *s) {
    dyn_client_error error;
    check(dyn_client_close_stream(client, s->stream, 0, NULL, &error), &error);
    dyn_client_watch_close(s->watch);
    free(s->t);
    free(s->q);
}

static void push(const bench_stream *s, size_t chunk) {
    dyn_client_error error;
    check(dyn_client_push_points(s->stream, chunk, s->t, s->q, s->q, s->q, NULL, 0, &error), &error);
}

/* Receives `messages` messages of torques; lost messages count as received. */
static void receive_torques(const bench_stream *s, size_t messages) {
    dyn_client_error error;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    for (size_t came = 0; came < messages;) {
        check(dyn_client_watch_next(s->watch, 5, &update, &error), &error);
        came += update.kind == DYN_CLIENT_UPDATE_KIND_TORQUES ? 1 + update.lost : 0;
    }
}

/* Returns the points per second that the daemon turns into torques, with at most UNDER_WAY messages that are not
 * answered yet. */
static double measure_rate(dyn_client *client, size_t chunk, double seconds) {
    enum { UNDER_WAY = 32 };
    bench_stream s;
    size_t pushed = 0;
    open_stream(client, &s);
    double start = clock_ns(CLOCK_MONOTONIC);
    while (clock_ns(CLOCK_MONOTONIC) < start + seconds * 1e9) {
        for (int i = 0; i < UNDER_WAY; i++) {
            push(&s, chunk);
        }
        receive_torques(&s, UNDER_WAY);
        pushed += UNDER_WAY;
    }
    double elapsed = (clock_ns(CLOCK_MONOTONIC) - start) / 1e9;
    close_stream(client, &s);
    return (double)(pushed * chunk) / elapsed;
}

/* Measures the latency from push to torques of messages at 1 kHz. Stores the latencies (us) in ascending order and
 * returns their number. */
static size_t measure_latency(dyn_client *client, size_t chunk, double seconds, double *latency) {
    bench_stream s;
    size_t count = (size_t)(seconds * PACE);
    struct timespec due;
    open_stream(client, &s);
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (size_t i = 0; i < count; i++) {
        double start = clock_ns(CLOCK_MONOTONIC);
        push(&s, chunk);
        receive_torques(&s, 1);
        latency[i] = (clock_ns(CLOCK_MONOTONIC) - start) / 1e3;
        due.tv_nsec += 1000000000 / PACE;
        due.tv_sec += due.tv_nsec / 1000000000;
        due.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
    }
    close_stream(client, &s);
    sort_numbers(latency, count);
    return count;
}

void bench_live(const bench_options *options, report *r) {
    static const size_t simulations[] = {1, 10, 100, 200, 400, 800, MOST_SIMULATIONS},
                        chunks[] = {1, 16, 128, MOST_CHUNK};
    double seconds = options->live_seconds;
    bench_daemon daemon;
    dyn_client *client;
    dyn_client_error error;
    table *pace =
        table_create("UR5 simulations that follow the clock at 1 kHz each, of which one is watched", "pace",
                     "Late: how long after its time a tick began, of the watched one. An overrun: a tick that "
                     "was not done when the next one was due. Counted from the time at which all simulations run.\n",
                     pace_columns, sizeof pace_columns / sizeof pace_columns[0]);
    table *streams = table_create("Points of a UR5 pushed to the daemon, and their torques back", "streams",
                                  "From the push to the torques at the subscriber.\n", stream_columns,
                                  sizeof stream_columns / sizeof stream_columns[0]);
    double *latency = calloc((size_t)(seconds * PACE) + 1, sizeof *latency);
    if (!latency) {
        die("out of memory");
    }
    daemon_start(options->daemon, &daemon);
    check(dyn_client_connect(daemon.ipc, NULL, &client, &error), &error);
    for (size_t i = 0; i < sizeof simulations / sizeof simulations[0]; i++) {
        measure_pace(client, simulations[i], seconds, pace);
    }
    report_add(r, pace);
    measure_lateness(options, r);
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        double rate = measure_rate(client, chunks[i], seconds / 2);
        size_t count = measure_latency(client, chunks[i], seconds, latency);
        const table_cell cells[] = {{.number = (double)chunks[i]},
                                    {.number = rate},
                                    {.number = percentile(latency, count, 0.5)},
                                    {.number = percentile(latency, count, 0.99)},
                                    {.number = percentile(latency, count, 0.999)}};
        table_add(streams, cells);
    }
    dyn_client_close(client);
    daemon_stop(&daemon);
    report_add(r, streams);
    free(latency);
}
