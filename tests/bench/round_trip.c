/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the round trip of InverseDynamics for one state of the UR5, over ipc and tcp: through the client library,
 * through a bare nng client, and through the same bare client to an echo server whose replies have as many bytes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/v1/envelope.pb-c.h>

#include "clock.h"
#include "daemon.h"
#include "dynamics_client.h"
#include "echo_server.h"
#include "fast_channel.h"
#include "raw_client.h"
#include "sections.h"
#include "statistics.h"
#include "support/random.h"

/* Number of states that the calls cycle through, calls of one kind in a row, and calls before measuring. */
enum { STATES = 64, JOINTS = 6, BLOCK = 100, WARM_UP = 500 };

/* Paths of a request (ways), and the transports (carriers) that each of them uses. */
enum { ECHO, DAEMON, LIBRARY, WAYS };
enum { IPC, TCP, CARRIERS };

static const char *const way_names[WAYS] = {"bare echo", "daemon, bare client", "daemon, client library"};
static const char *const carrier_names[CARRIERS] = {"ipc", "tcp"};

/* Random states, and the packed requests for their torques, all of one size. */
typedef struct questions {
    double q[STATES][JOINTS], v[STATES][JOINTS], a[STATES][JOINTS];
    uint8_t *request[STATES];
    size_t size;
} questions;

static void pack_request(questions *all, int i) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__InverseDynamicsRequest method = DYNAMICS__V1__INVERSE_DYNAMICS_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    query.model = (char *)"ur5";
    method.query = &query;
    method.n_q = method.n_v = method.n_a = JOINTS;
    method.q = all->q[i], method.v = all->v[i], method.a = all->a[i];
    request.id = (uint64_t)i + 1; /* one byte on the wire, so that all replies have one size too */
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_INVERSE_DYNAMICS;
    request.inverse_dynamics = &method;
    all->size = dynamics__v1__request__get_packed_size(&request);
    all->request[i] = malloc(all->size);
    if (!all->request[i]) {
        die("out of memory");
    }
    dynamics__v1__request__pack(&request, all->request[i]);
}

static void questions_open(questions *all) {
    random_source random = {.state = 20262302};
    for (int i = 0; i < STATES; i++) {
        for (int j = 0; j < JOINTS; j++) {
            all->q[i][j] = random_uniform(&random, -3, 3);
            all->v[i][j] = random_uniform(&random, -1, 1);
            all->a[i][j] = random_uniform(&random, -1, 1);
        }
        pack_request(all, i);
    }
}

static void questions_close(questions *all) {
    for (int i = 0; i < STATES; i++) {
        free(all->request[i]);
    }
}

/* Sends the first request and checks that the reply contains torques. Returns the size of the reply. */
static size_t reply_size(raw_client *client, const questions *all) {
    uint8_t bytes[4096];
    size_t size = raw_client_call(client, all->request[0], all->size, bytes, sizeof bytes);
    Dynamics__V1__Reply *reply = size <= sizeof bytes ? dynamics__v1__reply__unpack(NULL, size, bytes) : NULL;
    if (!reply || reply->result_case != DYNAMICS__V1__REPLY__RESULT_INVERSE_DYNAMICS) {
        die("the daemon does not answer inverse dynamics: %s",
            reply && reply->status ? reply->status->message : "its reply cannot be read");
    }
    dynamics__v1__reply__free_unpacked(reply, NULL);
    return size;
}

/* Path of requests over one carrier, with the times of its calls. */
typedef struct way {
    raw_client *raw;
    dyn_client *client; /* instead of raw */
    size_t reply_size;
    double *ns;
    size_t count;
} way;

static void make_call(const way *w, const questions *all, int i) {
    if (w->raw) {
        size_t size = raw_client_call(w->raw, all->request[i], all->size, NULL, 0);
        if (size != w->reply_size) {
            die("a reply has %zu bytes instead of %zu", size, w->reply_size);
        }
        return;
    }
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = 1);
    dyn_client_error error;
    double tau[JOINTS];
    if (dyn_client_inverse_dynamics(w->client, &query, all->q[i], all->v[i], all->a[i], tau, &error) != DYN_CLIENT_OK) {
        die("inverse dynamics: %s %s", error.field, error.message);
    }
}

static void time_block(way *w, const questions *all, size_t calls, bool is_recorded) {
    for (size_t i = 0; i < calls; i++) {
        double start = clock_ns(CLOCK_MONOTONIC);
        make_call(w, all, (int)(i % STATES));
        if (is_recorded) {
            w->ns[w->count++] = clock_ns(CLOCK_MONOTONIC) - start;
        }
    }
}

/* Measures every way in turn, a block of calls at a time, until each has `trips` measured calls. Each begins with calls
 * that are not measured. */
static void time_all(way ways[CARRIERS][WAYS], const questions *all, size_t trips) {
    for (int i = 0; i < CARRIERS * WAYS; i++) {
        time_block(&ways[i / WAYS][i % WAYS], all, WARM_UP < trips ? WARM_UP : trips, false);
    }
    for (size_t done = 0; done < trips; done += BLOCK) {
        for (int i = 0; i < CARRIERS * WAYS; i++) {
            time_block(&ways[i / WAYS][i % WAYS], all, trips - done < BLOCK ? trips - done : BLOCK, true);
        }
    }
}

static void ways_open(way ways[CARRIERS][WAYS], const bench_daemon *daemon, const questions *all, echo_server *echo,
                      size_t trips) {
    const char *const daemon_address[CARRIERS] = {daemon->ipc, daemon->tcp};
    const char *const echo_address[CARRIERS] = {echo->ipc, echo->tcp};
    for (int carrier = 0; carrier < CARRIERS; carrier++) {
        way *w = ways[carrier];
        dyn_client_error error;
        w[DAEMON].raw = raw_client_connect(daemon_address[carrier]);
        size_t size = reply_size(w[DAEMON].raw, all);
        if (carrier == 0) {
            echo_server_start(size, echo);
        }
        w[ECHO].raw = raw_client_connect(echo_address[carrier]);
        w[ECHO].reply_size = w[DAEMON].reply_size = size;
        if (dyn_client_connect(daemon_address[carrier], NULL, &w[LIBRARY].client, &error) != DYN_CLIENT_OK) {
            die("%s", error.message);
        }
        for (int i = 0; i < WAYS; i++) {
            w[i].ns = calloc(trips, sizeof *w[i].ns);
            if (!w[i].ns) {
                die("out of memory");
            }
        }
    }
}

static void ways_close(way ways[CARRIERS][WAYS]) {
    for (int i = 0; i < CARRIERS * WAYS; i++) {
        way *w = &ways[i / WAYS][i % WAYS];
        if (w->raw) {
            raw_client_close(w->raw);
        }
        dyn_client_close(w->client);
        free(w->ns);
    }
}

static const table_column columns[] = {{"carrier", "carrier", TABLE_TEXT},
                                       {"way", "way", TABLE_TEXT},
                                       {"min", "min_us", 1},
                                       {"p50", "p50_us", 1},
                                       {"p90", "p90_us", 1},
                                       {"p99", "p99_us", 1},
                                       {"p99.9", "p999_us", 1},
                                       {"max", "max_us", 1},
                                       {"min / echo", "min_over_echo", 3},
                                       {"p50 / echo", "p50_over_echo", 3}};

enum { COLUMNS = sizeof columns / sizeof columns[0], QUANTILES = 6 };

/* Returns a table with the percentiles of every way, and its minimum and median relative to those of the echo. */
static table *to_table(way ways[CARRIERS][WAYS], const char *note) {
    static const double shares[QUANTILES] = {0, 0.5, 0.9, 0.99, 0.999, 1};
    table *t =
        table_create("Microseconds of one InverseDynamics, UR5, one state", "round_trip", note, columns, COLUMNS);
    for (int carrier = 0; carrier < CARRIERS; carrier++) {
        double echo_min = 0, echo_median = 0;
        for (int i = 0; i < WAYS; i++) {
            way *w = &ways[carrier][i];
            table_cell cells[COLUMNS] = {{.text = carrier_names[carrier]}, {.text = way_names[i]}};
            sort_numbers(w->ns, w->count);
            for (int k = 0; k < QUANTILES; k++) {
                cells[2 + k].number = percentile(w->ns, w->count, shares[k]) / 1000;
            }
            echo_min = i == ECHO ? cells[2].number : echo_min;
            echo_median = i == ECHO ? cells[3].number : echo_median;
            cells[8].number = cells[2].number / echo_min;
            cells[9].number = cells[3].number / echo_median;
            table_add(t, cells);
        }
    }
    return t;
}

void bench_round_trip(const bench_options *options, report *r) {
    way ways[CARRIERS][WAYS] = {0};
    questions all;
    bench_daemon daemon;
    echo_server echo;
    char note[256];
    questions_open(&all);
    daemon_start(options->daemon, &daemon);
    ways_open(ways, &daemon, &all, &echo, options->round_trips);
    time_all(ways, &all, options->round_trips);
    snprintf(note, sizeof note,
             "%zu calls of each kind, in turn by blocks of %d; requests of %zu bytes, replies of %zu.\n"
             "The echo server is nng's REP with as many contexts as the daemon. Aim: p50 / echo at most 1.25.\n",
             options->round_trips, BLOCK, all.size, ways[IPC][ECHO].reply_size);
    report_add(r, to_table(ways, note));
    ways_close(ways);
    echo_server_stop(&echo);
    bench_fast_channel(options, &daemon, r);
    daemon_stop(&daemon);
    questions_close(&all);
}
