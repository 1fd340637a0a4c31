/*
 * Inverse dynamics of the UR5 in states per second: through the daemon over ipc and tcp by states per request, beside
 * loops in one process on one thread: ours with as many states a call, Orocos KDL and MuJoCo.
 */
#include <math.h>
#include <stdlib.h>

#include "daemon.h"
#include "dynamics_client.h"
#include "robots.h"
#include "sections.h"
#include "support/random_tree.h"
#include "workload.h"

enum { LARGEST = 10000, PEER_STATES = 256 };
enum { IPC, TCP, OURS, KDL, MUJOCO, SUBJECTS };

/* States, and who computes them. */
typedef struct throughput {
    workload load; /* the robot, and states for the loops */
    double *q, *v, *a, *tau;
    dyn_client *client[TCP + 1];
    const peer_library *library[SUBJECTS];
    peer *peer[SUBJECTS];
} throughput;

/* One subject at one batch size. */
typedef struct task {
    throughput *all;
    int who;
    size_t batch;
} task;

static void run_daemon(void *context, size_t call) {
    const task *t = context;
    throughput *all = t->all;
    (void)call;
    dyn_client_query query = {.model = "ur5", .nq = all->load.nq, .nv = all->load.nv, .samples = t->batch};
    dyn_client_error error;
    if (dyn_client_inverse_dynamics(all->client[t->who], &query, all->q, all->v, all->a, &error, all->tau) !=
        DYN_CLIENT_OK) {
        die("inverse dynamics: %s %s", error.field, error.message);
    }
}

static void run_ours(void *context, size_t call) {
    const task *t = context;
    throughput *all = t->all;
    dyn_error error;
    (void)call;
    if (dyn_rnea(all->load.model, all->load.workspace, t->batch, NULL, all->q, all->v, all->a, NULL, &error,
                 all->tau) != DYN_OK) {
        die("inverse dynamics: %s", error.message);
    }
}

static void run_peer(void *context, size_t call) {
    const task *t = context;
    compute_peer(&t->all->load, t->all->library[t->who], t->all->peer[t->who], ALGORITHM_RNEA, call % PEER_STATES);
}

static dyn_client *connect_to(const char *address) {
    dyn_client *client;
    dyn_client_error error;
    if (dyn_client_connect(address, NULL, &error, &client) != DYN_CLIENT_OK) {
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
    *all = (throughput){.library = {[KDL] = peer_find("kdl"), [MUJOCO] = peer_find("mujoco")}};
    workload_open(&all->load, "ur5", robot_load("ur5", DYN_BASE_FIXED));
    size_t nq = all->load.nq, nv = all->load.nv;
    random_source random = {.state = 20262303};
    all->q = numbers(LARGEST * nq), all->v = numbers(LARGEST * nv), all->a = numbers(LARGEST * nv);
    all->tau = numbers(LARGEST * nv);
    random_vector(&random, (int)(LARGEST * nq), 3, all->q);
    random_vector(&random, (int)(LARGEST * nv), 1, all->v);
    random_vector(&random, (int)(LARGEST * nv), 1, all->a);
    all->client[IPC] = connect_to(daemon->ipc);
    all->client[TCP] = connect_to(daemon->tcp);
    for (int i = KDL; i < SUBJECTS; i++) {
        char reason[PEER_REASON_SIZE];
        all->peer[i] = all->library[i] ? all->library[i]->create(all->load.model, true, reason) : NULL;
    }
}

static void throughput_close(throughput *all) {
    dyn_client_close(all->client[IPC]);
    dyn_client_close(all->client[TCP]);
    for (int i = KDL; i < SUBJECTS; i++) {
        if (all->peer[i]) {
            all->library[i]->destroy(all->peer[i]);
        }
    }
    free(all->q), free(all->v), free(all->a), free(all->tau);
    workload_close(&all->load);
}

static const table_column columns[] = {
    {"states a request", "states", 0}, {"ipc", "ipc_per_second", 0},
    {"tcp", "tcp_per_second", 0},      {"ours, in process", "ours_per_second", 0},
    {"KDL", "kdl_per_second", 0},      {"MuJoCo", "mujoco_per_second", 0},
    {"ipc / KDL", "ipc_over_kdl", 2},  {"ipc / MuJoCo", "ipc_over_mujoco", 2},
};

static void measure_batch(throughput *all, size_t batch, const measure_effort *effort, table *t) {
    subject subjects[SUBJECTS] = {0};
    task tasks[SUBJECTS];
    table_cell cells[sizeof columns / sizeof columns[0]] = {{.number = (double)batch}};
    for (int i = 0; i < SUBJECTS; i++) {
        bool is_peer = i >= KDL;
        tasks[i] = (task){.all = all, .who = i, .batch = batch};
        subjects[i].run = is_peer ? run_peer : i == OURS ? run_ours : run_daemon;
        subjects[i].context = is_peer && !all->peer[i] ? NULL : &tasks[i];
        subjects[i].states = is_peer ? 1 : batch;
    }
    measure(subjects, SUBJECTS, effort, CLOCK_MONOTONIC);
    for (int i = 0; i < SUBJECTS; i++) {
        cells[1 + i].number = 1e9 / measured_time(&subjects[i], effort->rounds);
    }
    cells[6].number = measured_ratio(&subjects[KDL], &subjects[IPC], effort->rounds);
    cells[7].number = measured_ratio(&subjects[MUJOCO], &subjects[IPC], effort->rounds);
    table_add(t, cells);
}

void bench_throughput(const bench_options *options, report *r) {
    static const size_t batches[] = {1, 10, 100, 1000, LARGEST};
    table *t = table_create("States per second, InverseDynamics, UR5, one client", "throughput",
                            "The loops in one process use one thread; the daemon spreads large requests over all "
                            "cores.\n",
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
