/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures InverseDynamics for one state of the UR5 through the gateway to rosbridge clients, beside the C client: one
 * call after the other, and many clients at once, with and without a client that does not read.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "daemon.h"
#include "dynamics_client.h"
#include "sections.h"
#include "statistics.h"
#include "web_client.h"

enum { JOINTS = 6, CLIENTS = 100, STALLED_CALLS = 2000, PORT_ATTEMPTS = 500, ATTEMPT_PAUSE = 20000 /* us */ };

static const char json_call[] = "{\"op\":\"call_service\",\"id\":\"1\",\"service\":\"/dynamics/inverse_dynamics\","
                                "\"args\":{\"query\":{\"model\":\"ur5\"},\"q\":[0.3,-1.2,1.4,-0.8,-1.5,0.4],"
                                "\"v\":[0.5,0.4,-0.6,0.2,0.3,1],\"a\":[1,0.5,-1,0.4,0.2,2]}}";
static const char cbor_call[] = "{\"op\":\"call_service\",\"id\":\"1\",\"service\":\"/dynamics/inverse_dynamics\","
                                "\"compression\":\"cbor\",\"args\":{\"query\":{\"model\":\"ur5\"},"
                                "\"q\":[0.3,-1.2,1.4,-0.8,-1.5,0.4],\"v\":[0.5,0.4,-0.6,0.2,0.3,1],"
                                "\"a\":[1,0.5,-1,0.4,0.2,2]}}";

/* Path of requests to the daemon, with the times of its calls. */
typedef struct way {
    const char *name;
    dyn_client *library;
    web_client *web;
    const char *call;
    double *ns, calls_per_second;
    size_t count;
} way;

static void make_call(const way *w) {
    static const double q[JOINTS] = {0.3, -1.2, 1.4, -0.8, -1.5, 0.4}, v[JOINTS] = {0.5, 0.4, -0.6, 0.2, 0.3, 1},
                        a[JOINTS] = {1, 0.5, -1, 0.4, 0.2, 2};
    if (w->library) {
        dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = 1);
        dyn_client_error error;
        double tau[JOINTS];
        if (dyn_client_inverse_dynamics(w->library, &query, q, v, a, tau, &error) != DYN_CLIENT_OK) {
            die("inverse dynamics: %s", error.message);
        }
        return;
    }
    size_t size;
    web_client_send(w->web, w->call, strlen(w->call));
    const char *answer = web_client_receive(w->web, &size);
    if (!memmem(answer, size, "tau", 3)) {
        die("the gateway answers: %.*s", (int)size, answer);
    }
}

static void measure_way(way *w, size_t trips) {
    double start = clock_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < trips; i++) {
        double began = clock_ns(CLOCK_MONOTONIC);
        make_call(w);
        w->ns[w->count++] = clock_ns(CLOCK_MONOTONIC) - began;
    }
    w->calls_per_second = (double)trips * 1e9 / (clock_ns(CLOCK_MONOTONIC) - start);
}

/* Measures the calls of `w` over a new connection, because the gateway closes a connection that is idle for long. */
static void measure_web(way *w, unsigned port, size_t trips) {
    w->web = web_client_connect(port);
    measure_way(w, trips);
    web_client_close(w->web);
}

/* Client that runs in a thread of its own and makes a part of the calls of `way`. */
typedef struct one_of_many {
    pthread_t thread;
    way way;
    size_t trips;
} one_of_many;

static void *run(void *user) {
    one_of_many *self = user;
    measure_way(&self->way, self->trips);
    return NULL;
}

static void measure_many(way *w, unsigned port, size_t trips) {
    static one_of_many clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (one_of_many){.way = *w, .trips = trips / CLIENTS + 1};
        clients[i].way.web = w->library ? NULL : web_client_connect(port);
        clients[i].way.ns = calloc(clients[i].trips, sizeof *w->ns);
    }
    double start = clock_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < CLIENTS; i++) {
        if (pthread_create(&clients[i].thread, NULL, run, &clients[i]) != 0) {
            die("no thread can be started");
        }
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        for (size_t k = 0; k < clients[i].way.count && w->count < trips; k++) {
            w->ns[w->count++] = clients[i].way.ns[k];
        }
        if (clients[i].way.web) {
            web_client_close(clients[i].way.web);
        }
        free(clients[i].way.ns);
    }
    w->calls_per_second = (double)CLIENTS * (double)clients[0].trips * 1e9 / (clock_ns(CLOCK_MONOTONIC) - start);
}

/* Starts the gateway beside this program on a port that the system chooses. */
static child gateway_start(const bench_daemon *daemon, unsigned *port) {
    char program[PATH_MAX], events[128], file[128], setting[192], log[96];
    path_beside("dynamics-rosbridge", program, sizeof program);
    snprintf(events, sizeof events, "ipc://%s/events", daemon->directory);
    snprintf(file, sizeof file, "%s/port", daemon->directory);
    snprintf(setting, sizeof setting, "server.port_file=%s", file);
    snprintf(log, sizeof log, "%s/gateway", daemon->directory);
    const char *const arguments[] = {program,  "--endpoint", daemon->ipc, "--events", events,
                                     "--port", "0",          "--set",     setting,    NULL};
    child gateway = child_start(arguments, log);
    *port = 0;
    for (int i = 0; i < PORT_ATTEMPTS && *port == 0; i++) {
        FILE *written = fopen(file, "r");
        if (!written || fscanf(written, "%u", port) != 1) {
            usleep(ATTEMPT_PAUSE);
        }
        if (written) {
            fclose(written);
        }
    }
    if (*port == 0) {
        show_file(log);
        die("the gateway does not start");
    }
    return gateway;
}

static const table_column columns[] = {{"way", "way", TABLE_TEXT},
                                       {"p50", "p50_us", 1},
                                       {"p99", "p99_us", 1},
                                       {"p99.9", "p999_us", 1},
                                       {"calls/s", "calls_per_second", 0},
                                       {"p50 / direct", "p50_over_direct", 2}};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void add_row(table *t, way *w, double direct) {
    sort_numbers(w->ns, w->count);
    double p50 = percentile(w->ns, w->count, 0.5) / 1000;
    const table_cell cells[COLUMNS] = {{.text = w->name},
                                       {.number = p50},
                                       {.number = percentile(w->ns, w->count, 0.99) / 1000},
                                       {.number = percentile(w->ns, w->count, 0.999) / 1000},
                                       {.number = w->calls_per_second},
                                       {.number = p50 / direct}};
    table_add(t, cells);
}

void bench_rosbridge(const bench_options *options, report *r) {
    bench_daemon daemon;
    unsigned port;
    dyn_client_error error;
    daemon_start(options->daemon, &daemon);
    child gateway = gateway_start(&daemon, &port);
    enum { DIRECT, JSON, CBOR, DIRECT_MANY, MANY, STALLED, WAYS };
    way ways[WAYS] = {{.name = "C client, ipc"},
                      {.name = "gateway, JSON", .call = json_call},
                      {.name = "gateway, CBOR answers", .call = cbor_call},
                      {.name = "C client, 100 threads"},
                      {.name = "gateway, 100 clients", .call = json_call},
                      {.name = "gateway, JSON, beside a stalled client", .call = json_call}};
    size_t trips = options->round_trips;
    for (int i = 0; i < WAYS; i++) {
        ways[i].ns = calloc(trips, sizeof *ways[i].ns);
    }
    if (dyn_client_connect(daemon.ipc, NULL, &ways[DIRECT].library, &error) != DYN_CLIENT_OK) {
        die("%s", error.message);
    }
    measure_way(&ways[DIRECT], trips);
    measure_web(&ways[JSON], port, trips);
    measure_web(&ways[CBOR], port, trips);
    ways[DIRECT_MANY].library = ways[DIRECT].library;
    measure_many(&ways[DIRECT_MANY], port, trips);
    measure_many(&ways[MANY], port, trips);
    web_client *stalled = web_client_connect(port);
    for (int i = 0; i < STALLED_CALLS; i++) {
        web_client_send(stalled, json_call, sizeof json_call - 1);
    }
    measure_web(&ways[STALLED], port, trips);
    table *t =
        table_create("Microseconds of one InverseDynamics through the gateway, UR5, one state", "rosbridge",
                     "100 clients, or threads of one, ask one after the other each; the stalled client reads none "
                     "of 2000 answers.",
                     columns, COLUMNS);
    sort_numbers(ways[DIRECT].ns, ways[DIRECT].count);
    double direct = percentile(ways[DIRECT].ns, ways[DIRECT].count, 0.5) / 1000;
    for (int i = 0; i < WAYS; i++) {
        add_row(t, &ways[i], direct);
        free(ways[i].ns);
    }
    report_add(r, t);
    web_client_close(stalled);
    dyn_client_close(ways[DIRECT].library);
    child_stop(&gateway);
    daemon_stop(&daemon);
}
