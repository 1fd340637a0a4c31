/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures inverse dynamics of an arm with seven joints in states per second: through the daemon over ipc and tcp by
 * states per request, in double and in single precision, beside a bare echo of as many bytes, and beside loops in one
 * process on one thread: this library's with as many states a call, and the peers'.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon.h"
#include "dynamics_client.h"
#include "echo_server.h"
#include "raw_client.h"
#include "sections.h"
#include "support/random_tree.h"

enum { LARGEST = 100000 };
enum { IPC, TCP, CARRIERS };

/* Subjects of the table: the daemon, an echo that computes nothing, or a loop in this process. */
enum {
    DAEMON_IPC,
    DAEMON_TCP,
    SINGLE_IPC,
    SINGLE_TCP,
    ECHO_IPC,
    ECHO_TCP,
    OURS,
    SINGLE_OURS,
    LOOP_KDL,
    LOOP_MUJOCO,
    LOOP_DART,
    LOOP_SIMBODY,
    SUBJECTS
};
static const int contestant_of[SUBJECTS] = {
    [LOOP_KDL] = KDL, [LOOP_MUJOCO] = MUJOCO, [LOOP_DART] = DART, [LOOP_SIMBODY] = SIMBODY};

static const char robot_name[] = "panda";

/* States, connections and memory that all subjects share. */
typedef struct throughput {
    contest loops;
    double *q, *v, *a, *tau;
    dyn_client *client[CARRIERS];
    raw_client *echo[CARRIERS];
    uint8_t *bytes; /* a request of the echo */
} throughput;

/* Arguments of the calls of one subject at one batch size. */
typedef struct task {
    throughput *all;
    int who;
    size_t batch;
    contest_entry entry; /* of a peer */
} task;

static void run_daemon(void *context, size_t call) {
    const task *t = context;
    throughput *all = t->all;
    (void)call;
    bool is_single = t->who >= SINGLE_IPC;
    dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = robot_name, .nq = all->loops.load.nq, .nv = all->loops.load.nv,
                              .samples = t->batch,
                              .precision = is_single ? DYN_CLIENT_PRECISION_SINGLE : DYN_CLIENT_PRECISION_DOUBLE);
    dyn_client_error error;
    if (dyn_client_inverse_dynamics(all->client[t->who - (is_single ? SINGLE_IPC : DAEMON_IPC)], &query, all->q, all->v,
                                    all->a, all->tau, &error) != DYN_CLIENT_OK) {
        die("inverse dynamics: %s %s", error.field, error.message);
    }
}

/* Returns the bytes of the numbers in a request of `batch` states. */
static size_t request_size(const throughput *all, size_t batch) {
    return batch * (all->loops.load.nq + 2 * all->loops.load.nv) * sizeof(double);
}

/* Returns the bytes of the numbers in the reply to a request of `batch` states. */
static size_t reply_size(const throughput *all, size_t batch) {
    return batch * all->loops.load.nv * sizeof(double);
}

static void run_echo(void *context, size_t call) {
    const task *t = context;
    (void)call;
    raw_client_call(t->all->echo[t->who - ECHO_IPC], t->all->bytes, request_size(t->all, t->batch), t->all->tau,
                    reply_size(t->all, t->batch));
}

static void run_ours(void *context, size_t call) {
    const task *t = context;
    const workload *load = &t->all->loops.load;
    dyn_error error;
    (void)call;
    dyn_workspace *workspace = t->who == SINGLE_OURS ? load->single : load->workspace;
    if (dyn_rnea(load->model, workspace, t->batch, NULL, t->all->q, t->all->v, t->all->a, NULL, t->all->tau, &error) !=
        DYN_OK) {
        die("inverse dynamics: %s", error.message);
    }
}

static void run_peer(void *context, size_t call) {
    task *t = context;
    contest_call(&t->entry, call);
}

static dyn_client *connect_to(const char *address) {
    dyn_client *client;
    dyn_client_error error;
    if (dyn_client_connect(address, NULL, &client, &error) != DYN_CLIENT_OK) {
        die("%s", error.message);
    }
    return client;
}

static double *numbers(size_t count) {
    double *x = calloc(count, sizeof *x);
    if (!x) {
        die("out of memory");
    }
    return x;
}

static void throughput_open(throughput *all, const bench_daemon *daemon) {
    *all = (throughput){0};
    contest_open(&all->loops, bench_robot_find("arm 7"), true);
    size_t nq = all->loops.load.nq, nv = all->loops.load.nv;
    random_source random = {.state = 20262303};
    all->q = numbers(LARGEST * nq), all->v = numbers(LARGEST * nv), all->a = numbers(LARGEST * nv);
    all->tau = numbers(LARGEST * nv);
    random_vector(&random, (int)(LARGEST * nq), 3, all->q);
    random_vector(&random, (int)(LARGEST * nv), 1, all->v);
    random_vector(&random, (int)(LARGEST * nv), 1, all->a);
    all->bytes = (uint8_t *)numbers(request_size(all, LARGEST) / sizeof(double));
    all->client[IPC] = connect_to(daemon->ipc);
    all->client[TCP] = connect_to(daemon->tcp);
}

static void throughput_close(throughput *all) {
    dyn_client_close(all->client[IPC]);
    dyn_client_close(all->client[TCP]);
    free(all->q), free(all->v), free(all->a), free(all->tau), free(all->bytes);
    contest_close(&all->loops);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Columns of the table. Those after the first are the subjects in their order, then three ratios. */
static const table_column columns[] = {
    {"states a request", "states", 0},
    {"ipc", "ipc_per_second", 0},
    {"tcp", "tcp_per_second", 0},
    {"ipc, single", "single_ipc_per_second", 0},
    {"tcp, single", "single_tcp_per_second", 0},
    {"ipc echo", "ipc_echo_per_second", 0},
    {"tcp echo", "tcp_echo_per_second", 0},
    {"ours, in process", "ours_per_second", 0},
    {"single", "single_ours_per_second", 0},
    {"KDL", "kdl_per_second", 0},
    {"MuJoCo", "mujoco_per_second", 0},
    {"DART", "dart_per_second", 0},
    {"Simbody", "simbody_per_second", 0},
    {"ipc / echo", "ipc_over_echo", 2},
    {"ipc / KDL", "ipc_over_kdl", 2},
    {"ipc / MuJoCo", "ipc_over_mujoco", 2},
};

static void set_subject(throughput *all, int who, size_t batch, task *t, subject *s) {
    bool is_peer = who > SINGLE_OURS, is_echo = who == ECHO_IPC || who == ECHO_TCP;
    *t = (task){.all = all, .who = who, .batch = batch};
    s->run = is_peer ? run_peer : is_echo ? run_echo : who == OURS || who == SINGLE_OURS ? run_ours : run_daemon;
    s->context = is_peer && !contest_has(&all->loops, contestant_of[who], ALGORITHM_RNEA) ? NULL : t;
    s->states = is_peer ? 1 : batch;
    if (is_peer && s->context) {
        t->entry = contest_enter(&all->loops, contestant_of[who], ALGORITHM_RNEA);
    }
}

/* Measures one batch size with an echo server of its own, which answers as many bytes as the daemon. */
static void measure_batch(throughput *all, size_t batch, const measure_effort *effort, table *t) {
    static const int over[] = {ECHO_IPC, LOOP_KDL, LOOP_MUJOCO};
    subject subjects[SUBJECTS] = {0};
    task tasks[SUBJECTS];
    echo_server echo;
    table_cell cells[sizeof columns / sizeof columns[0]] = {{.number = (double)batch}};
    echo_server_start(reply_size(all, batch), &echo);
    all->echo[IPC] = raw_client_connect(echo.ipc), all->echo[TCP] = raw_client_connect(echo.tcp);
    for (int who = 0; who < SUBJECTS; who++) {
        set_subject(all, who, batch, &tasks[who], &subjects[who]);
    }
    measure(subjects, SUBJECTS, effort, CLOCK_MONOTONIC);
    for (int who = 0; who < SUBJECTS; who++) {
        cells[1 + who].number = 1e9 / measured_time(&subjects[who], effort->rounds);
    }
    for (int i = 0; i < 3; i++) {
        cells[1 + SUBJECTS + i].number = measured_ratio(&subjects[over[i]], &subjects[DAEMON_IPC], effort->rounds);
    }
    raw_client_close(all->echo[IPC]), raw_client_close(all->echo[TCP]);
    echo_server_stop(&echo);
    table_add(t, cells);
}

void bench_throughput(const bench_options *options, report *r) {
    static const size_t batches[] = {1, 10, 100, 1000, 10000, LARGEST};
    table *t = table_create("States per second, InverseDynamics, arm 7, one client", "throughput",
                            "The columns \"single\" are of single precision. The loops in one process use one thread; "
                            "the daemon spreads large requests over all "
                            "cores. Aim: ipc faster\nthan the loops over KDL and MuJoCo from 1000 states a request "
                            "on. The echo carries as many bytes and computes nothing.\n",
                            columns, sizeof columns / sizeof columns[0]);
    bench_daemon daemon;
    throughput all;
    daemon_start(options->daemon, &daemon);
    throughput_open(&all, &daemon);
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        measure_batch(&all, batches[i], &options->effort, t);
    }
    throughput_close(&all);
    daemon_stop(&daemon);
    report_add(r, t);
}
