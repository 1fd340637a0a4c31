/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures daemons behind a NATS server: one InverseDynamics over NATS, beside a bare NATS request of as many bytes and
 * beside nng; and batches that the client spreads over 1, 2 and 4 daemons.
 *
 * Each daemon has one worker and one processor. The worker computes in one thread at a time, but the threads of libnats
 * receive and decode beside it, which the processor bounds too. The daemons of a fleet have the processors in turn; the
 * NATS server and the client use all of them.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "daemon.h"
#include "dynamics_client.h"
#include "nats_echo.h"
#include "sections.h"
#include "statistics.h"
#include "support/random.h"

enum { JOINTS = 6, STATES = 64, BLOCK = 50, FLEETS = 4, LARGEST_FLEET = 4 };

/* Bytes of a request for one state of the UR5 and of its reply, about. */
enum { REQUEST_BYTES = 180, REPLY_BYTES = 80 };

/* Daemons of each fleet, and the processor of the first one. Processors differ: one of them may serve the interrupts of
 * the machine. So a daemon that is alone is measured on each of the two on which two daemons are. */
static const struct { int size, processor; } shapes[FLEETS] = {{1, 0}, {1, 1}, {2, 0}, {LARGEST_FLEET, 0}};

enum { FIRST_ALONE, SECOND_ALONE, PAIR, FOUR };

/* A NATS server with its daemons, and a client. */
typedef struct fleet {
    bench_nats server;
    bench_daemon daemons[LARGEST_FLEET];
    int size;
    dyn_client *client;
} fleet;

/* States of the UR5. */
typedef struct states {
    size_t n;
    double *q, *v, *a, *tau;
} states;

static void require(dyn_client_status status, const dyn_client_error *error) {
    if (status != DYN_CLIENT_OK) {
        die("%s %s", error->field, error->message);
    }
}

static dyn_client *connect_to(const char *address) {
    dyn_client *client;
    dyn_client_error error;
    require(dyn_client_connect(address, NULL, &client, &error), &error);
    return client;
}

/* Returns a set of one processor, number `index` modulo their number of those that this program may use. */
static cpu_set_t choose_processor(int index) {
    cpu_set_t allowed, chosen;
    sched_getaffinity(0, sizeof allowed, &allowed);
    int skip = index % CPU_COUNT(&allowed);
    size_t processor = 0;
    for (; !CPU_ISSET(processor, &allowed) || skip > 0; processor++) {
        skip -= CPU_ISSET(processor, &allowed) ? 1 : 0;
    }
    CPU_ZERO(&chosen);
    CPU_SET(processor, &chosen);
    return chosen;
}

static bool fleet_start(const char *program, int shape, fleet *f) {
    if (!nats_start(&f->server)) {
        return false;
    }
    f->size = shapes[shape].size;
    for (int i = 0; i < f->size; i++) {
        const cpu_set_t processor = choose_processor(shapes[shape].processor + i);
        daemon_start_at(program, &(daemon_place){.nats = f->server.url, .workers = 1, .processors = &processor},
                        &f->daemons[i]);
    }
    f->client = connect_to(f->server.url);
    return true;
}

static void fleet_stop(fleet *f) {
    dyn_client_close(f->client);
    for (int i = 0; i < f->size; i++) {
        daemon_stop(&f->daemons[i]);
    }
    nats_stop(&f->server);
}

static states states_create(size_t n) {
    random_source random = {.state = 20262321};
    states s = {n, calloc(n * JOINTS, sizeof(double)), calloc(n * JOINTS, sizeof(double)),
                calloc(n * JOINTS, sizeof(double)), calloc(n * JOINTS, sizeof(double))};
    if (!s.q || !s.v || !s.a || !s.tau) {
        die("out of memory");
    }
    for (size_t i = 0; i < n * JOINTS; i++) {
        s.q[i] = random_uniform(&random, -3, 3);
        s.v[i] = random_uniform(&random, -1, 1);
        s.a[i] = random_uniform(&random, -1, 1);
    }
    return s;
}

static void states_free(states *s) {
    free(s->q), free(s->v), free(s->a), free(s->tau);
}

/* ---- one state --------------------------------------------------------------------------------------------------- */

enum { NNG, BARE_NATS, OVER_NATS, WAYS };

static const char *const way_names[WAYS] = {"nng ipc, client library", "bare NATS", "NATS, client library"};

/* Ways of one call, with their times. */
typedef struct ways {
    dyn_client *client[WAYS];
    nats_caller *bare;
    double *ns[WAYS];
} ways;

static void call_one(const ways *w, int way, const states *s, size_t i) {
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = 1);
    size_t at = i % STATES * JOINTS;
    dyn_client_error error;
    if (way == BARE_NATS) {
        nats_caller_call(w->bare, REQUEST_BYTES);
        return;
    }
    require(dyn_client_inverse_dynamics(w->client[way], &query, s->q + at, s->v + at, s->a + at, s->tau + at, &error),
            &error);
}

static void measure_calls(const bench_options *options, const fleet *f, report *r) {
    static const double shares[] = {0, 0.5, 0.9, 0.99};
    static const table_column columns[] = {{"way", "way", TABLE_TEXT}, {"min", "min_us", 1},
                                           {"p50", "p50_us", 1},       {"p90", "p90_us", 1},
                                           {"p99", "p99_us", 1},       {"p50 / bare", "p50_over_bare", 3}};
    size_t count = options->round_trips;
    states s = states_create(STATES);
    child echo = nats_echo_start(f->server.url, REPLY_BYTES);
    ways w = {.client = {[NNG] = connect_to(f->daemons[0].ipc), [OVER_NATS] = f->client},
              .bare = nats_caller_connect(f->server.url)};
    for (int way = 0; way < WAYS; way++) {
        w.ns[way] = calloc(count, sizeof(double));
    }
    for (size_t i = 0; i < count; i++) {
        for (int way = 0; way < WAYS; way++) {
            size_t block = i / BLOCK * BLOCK;
            double start = clock_ns(CLOCK_MONOTONIC);
            call_one(&w, way, &s, i - block);
            w.ns[way][i] = clock_ns(CLOCK_MONOTONIC) - start;
        }
    }
    table *t = table_create("Microseconds of one InverseDynamics over NATS, UR5, one state", "nats_round_trip",
                            "Calls of the three ways in turn. Bare NATS: a request and a reply of as many bytes.\n",
                            columns, sizeof columns / sizeof *columns);
    for (int way = 0; way < WAYS; way++) {
        sort_numbers(w.ns[way], count);
    }
    for (int way = 0; way < WAYS; way++) {
        table_cell cells[6] = {{.text = way_names[way]}};
        for (int k = 0; k < 4; k++) {
            cells[1 + k].number = percentile(w.ns[way], count, shares[k]) / 1000;
        }
        cells[5].number = percentile(w.ns[way], count, 0.5) / percentile(w.ns[BARE_NATS], count, 0.5);
        table_add(t, cells);
    }
    report_add(r, t);
    for (int way = 0; way < WAYS; way++) {
        free(w.ns[way]);
    }
    nats_caller_close(w.bare);
    child_stop(&echo);
    dyn_client_close(w.client[NNG]);
    states_free(&s);
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

/* Processor time, ns. */
typedef struct processor_time {
    double daemons, server, client;
} processor_time;

/* A batch for one fleet, with the time of all calls. */
typedef struct batch {
    const fleet *fleet;
    const states *s;
    uint64_t steps; /* of each rollout; 0: inverse dynamics */
    processor_time spent;
    double elapsed;  /* ns */
    size_t computed; /* states */
} batch;

static void run_inverse_dynamics(const fleet *f, const states *s) {
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = s->n, .timeout = 60);
    dyn_client_error error;
    require(dyn_client_inverse_dynamics(f->client, &query, s->q, s->v, s->a, s->tau, &error), &error);
}

static void run_rollouts(const fleet *f, const states *s, uint64_t steps) {
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = s->n, .timeout = 60);
    const dyn_client_stepping stepping = DYN_CLIENT_STEPPING_INIT(.step_length = 1e-3);
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = s->q, .v = s->v, .stepping = &stepping, .steps = steps, .only_last = true);
    dyn_client_rollout *rollout;
    dyn_client_error error;
    require(dyn_client_rollout_run(f->client, &query, &request, &rollout, &error), &error);
    dyn_client_rollout_free(rollout);
}

static processor_time read_time(const fleet *f) {
    processor_time now = {.server = child_time(&f->server.process), .client = clock_ns(CLOCK_PROCESS_CPUTIME_ID)};
    for (int i = 0; i < f->size; i++) {
        now.daemons += child_time(&f->daemons[i].process);
    }
    return now;
}

static void run_batch(void *context, size_t call) {
    batch *b = context;
    double start = clock_ns(CLOCK_MONOTONIC);
    processor_time before = read_time(b->fleet);
    (void)call;
    if (b->steps > 0) {
        run_rollouts(b->fleet, b->s, b->steps);
    } else {
        run_inverse_dynamics(b->fleet, b->s);
    }
    processor_time after = read_time(b->fleet);
    b->elapsed += clock_ns(CLOCK_MONOTONIC) - start;
    b->spent.daemons += after.daemons - before.daemons;
    b->spent.server += after.server - before.server;
    b->spent.client += after.client - before.client;
    b->computed += b->s->n;
}

/* Tables of batches. */
typedef struct batch_tables {
    table *rates, *times;
} batch_tables;

static void add_times(const char *title, const batch *b, table *t) {
    const processor_time *spent = &b->spent;
    double count = (double)b->computed;
    table_add(t, (table_cell[]){{.text = title},
                                {.number = b->fleet->size},
                                {.number = spent->daemons / count},
                                {.number = spent->server / count},
                                {.number = spent->client / count},
                                {.number = (spent->daemons + spent->server + spent->client) / b->elapsed}});
}

/* Adds the rows of one kind of batch: thousands of states per second of each fleet, and how much two daemons compute
 * more than one; and the processor time of a state with each fleet. */
static void measure_batches(const bench_options *options, const char *title, const batch *kind,
                            const fleet fleets[FLEETS], const batch_tables *t) {
    batch batches[FLEETS];
    subject subjects[FLEETS] = {0};
    for (int i = 0; i < FLEETS; i++) {
        batches[i] = *kind;
        batches[i].fleet = &fleets[i];
        subjects[i] = (subject){.run = run_batch, .context = &batches[i], .states = kind->s->n};
    }
    measure(subjects, FLEETS, &options->effort, CLOCK_MONOTONIC);
    int rounds = options->effort.rounds;
    for (int i = 0; i < FLEETS; i++) {
        add_times(title, &batches[i], t->times);
    }
    double alone = (measured_time(&subjects[FIRST_ALONE], rounds) + measured_time(&subjects[SECOND_ALONE], rounds)) / 2;
    double gain = (measured_ratio(&subjects[FIRST_ALONE], &subjects[PAIR], rounds) +
                   measured_ratio(&subjects[SECOND_ALONE], &subjects[PAIR], rounds)) /
                  2;
    table_add(t->rates, (table_cell[]){{.text = title},
                                       {.number = (double)kind->s->n},
                                       {.number = 1e6 / alone},
                                       {.number = 1e6 / measured_time(&subjects[PAIR], rounds)},
                                       {.number = 1e6 / measured_time(&subjects[FOUR], rounds)},
                                       {.number = gain}});
}

/* Measures batches and adds their rows. The longer a rollout, the less of its time is that of its messages. */
static void measure_all_batches(const bench_options *options, const fleet fleets[FLEETS], const batch_tables *t) {
    states many = states_create(100000), some = {16384, many.q, many.v, many.a, many.tau};
    const batch inverse = {.s = &many}, brief = {.s = &some, .steps = 100}, lengthy = {.s = &some, .steps = 500};
    measure_batches(options, "InverseDynamics", &inverse, fleets, t);
    measure_batches(options, "Rollout, 100 steps", &brief, fleets, t);
    measure_batches(options, "Rollout, 500 steps", &lengthy, fleets, t);
    states_free(&many);
}

void bench_fleet(const bench_options *options, report *r) {
    static const table_column rates[] = {{"batch", "batch", TABLE_TEXT}, {"states", "states", 0},
                                         {"1 daemon", "daemons_1", 0},   {"2 daemons", "daemons_2", 0},
                                         {"4 daemons", "daemons_4", 0},  {"2 / 1", "gain_of_two", 2}};
    static const table_column times[] = {{"batch", "batch", TABLE_TEXT},    {"daemons", "daemons", 0},
                                         {"in daemons", "daemons_ns", 0},   {"in the NATS server", "server_ns", 0},
                                         {"in the client", "client_ns", 0}, {"busy processors", "busy_processors", 2}};
    fleet fleets[FLEETS] = {0};
    bool has_server = true;
    for (int i = 0; i < FLEETS && has_server; i++) {
        has_server = fleet_start(options->daemon, i, &fleets[i]);
    }
    const char *missing = "Not measured: install nats-server.\n";
    const batch_tables t = {
        table_create("Thousands of states per second over NATS, UR5", "nats_batches",
                     has_server ? "Daemons of one worker and one processor each, in turn of those that this program "
                                  "may use;\none daemon: the mean of it on the first and on the second processor. "
                                  "The client cuts the batch into pieces.\n"
                                : missing,
                     rates, sizeof rates / sizeof *rates),
        table_create("Processor time of a state over NATS, ns, UR5", "nats_processor_time",
                     has_server
                         ? "Where the processors are busy and most of the time is the daemons', further machines "
                           "help;\nwhere it is not, larger messages or fewer bytes of a state do.\n"
                         : missing,
                     times, sizeof times / sizeof *times)};
    if (has_server) {
        measure_calls(options, &fleets[0], r);
        measure_all_batches(options, fleets, &t);
        for (int i = 0; i < FLEETS; i++) {
            fleet_stop(&fleets[i]);
        }
    }
    report_add(r, t.rates);
    report_add(r, t.times);
}
