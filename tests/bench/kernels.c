/*
 * Nanoseconds per state of each algorithm: ours for one state a call and in batches, Orocos KDL and MuJoCo for one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "robots.h"
#include "sections.h"
#include "workload.h"

enum { OURS_1, OURS_64, OURS_4096, KDL, MUJOCO, SUBJECTS };

static const size_t batch_of[SUBJECTS] = {1, 64, LARGEST_BATCH, 1, 1};

/* What one subject computes. */
typedef struct task {
    workload *load;
    algorithm algorithm;
    size_t batch, places; /* a call takes the batch at one of so many places */
    const peer_library *library;
    peer *robot;
} task;

static void run_ours(void *context, size_t call) {
    const task *t = context;
    compute_ours(t->load, t->algorithm, call % t->places * t->batch, t->batch);
}

static void run_peer(void *context, size_t call) {
    const task *t = context;
    compute_peer(t->load, t->library, t->robot, t->algorithm, call % SINGLE_STATES);
}

/* A robot with its peers, which may be NULL. */
typedef struct bench_robot {
    workload load;
    const peer_library *library[SUBJECTS];
    peer *peer[SUBJECTS];
} bench_robot;

static void open_robot(bench_robot *robot, const char *name, dyn_model *model, bool with_peers) {
    *robot = (bench_robot){0};
    if (with_peers) {
        robot->library[KDL] = peer_find("kdl");
        robot->library[MUJOCO] = peer_find("mujoco");
    }
    workload_open(&robot->load, name, model);
    for (int i = KDL; i < SUBJECTS; i++) {
        char reason[PEER_REASON_SIZE];
        robot->peer[i] = robot->library[i] ? robot->library[i]->create(model, true, reason) : NULL;
    }
}

static void close_robot(bench_robot *robot) {
    for (int i = KDL; i < SUBJECTS; i++) {
        if (robot->peer[i]) {
            robot->library[i]->destroy(robot->peer[i]);
        }
    }
    workload_close(&robot->load);
}

/* Measures one algorithm with all subjects that have it. */
static void measure_algorithm(bench_robot *robot, algorithm a, const measure_effort *effort,
                              subject subjects[SUBJECTS]) {
    task tasks[SUBJECTS];
    memset(subjects, 0, SUBJECTS * sizeof *subjects);
    for (int i = 0; i < SUBJECTS; i++) {
        bool is_ours = i < KDL;
        size_t states = batch_of[i] < SINGLE_STATES ? SINGLE_STATES : batch_of[i];
        tasks[i] = (task){.load = &robot->load,
                          .algorithm = a,
                          .batch = batch_of[i],
                          .places = states / batch_of[i],
                          .library = robot->library[i],
                          .robot = robot->peer[i]};
        subjects[i].run = is_ours ? run_ours : run_peer;
        subjects[i].states = batch_of[i];
        if (is_ours ? workload_has(&robot->load, a, batch_of[i])
                    : robot->peer[i] && compute_peer(&robot->load, robot->library[i], robot->peer[i], a, 0)) {
            subjects[i].context = &tasks[i];
        }
        if (!is_ours && subjects[i].context) {
            assert_agreement(&robot->load, robot->library[i], robot->peer[i], a);
        }
    }
    measure(subjects, SUBJECTS, effort, CLOCK_THREAD_CPUTIME_ID);
}

static const table_column columns[] = {
    {"robot", "robot", TABLE_TEXT},
    {"algorithm", "algorithm", TABLE_TEXT},
    {"one a call", "ns_batch_1", 0},
    {"64 a call", "ns_batch_64", 0},
    {"4096 a call", "ns_batch_4096", 0},
    {"KDL", "ns_kdl", 0},
    {"MuJoCo", "ns_mujoco", 0},
    {"one / KDL", "batch_1_over_kdl", 4},
    {"64 / KDL", "batch_64_over_kdl", 4},
    {"one / MuJoCo", "batch_1_over_mujoco", 4},
    {"64 / MuJoCo", "batch_64_over_mujoco", 4},
};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void add_row(table *t, const char *robot, algorithm a, const subject subjects[SUBJECTS], int rounds) {
    table_cell cells[COLUMNS] = {{.text = robot}, {.text = algorithm_name(a)}};
    for (int i = 0; i < SUBJECTS; i++) {
        cells[2 + i].number = measured_time(&subjects[i], rounds);
    }
    cells[7].number = measured_ratio(&subjects[OURS_1], &subjects[KDL], rounds);
    cells[8].number = measured_ratio(&subjects[OURS_64], &subjects[KDL], rounds);
    cells[9].number = measured_ratio(&subjects[OURS_1], &subjects[MUJOCO], rounds);
    cells[10].number = measured_ratio(&subjects[OURS_64], &subjects[MUJOCO], rounds);
    table_add(t, cells);
}

/* ---- what a body costs ------------------------------------------------------------------------------------------- */

static const table_column linearity_columns[] = {
    {"algorithm", "algorithm", TABLE_TEXT},    {"states a call", "states", 0}, {"of 100 bodies", "ns_per_body_100", 2},
    {"of 1000 bodies", "ns_per_body_1000", 2}, {"ratio", "ratio", 3},
};

enum { SHORT, LONG, LENGTHS };
static const double linearity_length[LENGTHS] = {100, 1000};

/* Times per state in chains of both lengths. */
typedef struct linearity {
    double ns[LENGTHS][ALGORITHM_COUNT][OURS_64 + 1];
} linearity;

static void note_times(linearity *l, int bodies, algorithm a, const subject *subjects, int rounds) {
    for (int length = 0; length < LENGTHS; length++) {
        for (int i = OURS_1; i <= OURS_64 && bodies == (int)linearity_length[length]; i++) {
            l->ns[length][a][i] = measured_time(&subjects[i], rounds);
        }
    }
}

static table *linearity_table(const linearity *l) {
    table *t = table_create("Nanoseconds per body in long chains", "linearity",
                            "The ratio is 1 where the time is linear in the bodies.\n", linearity_columns,
                            sizeof linearity_columns / sizeof linearity_columns[0]);
    static const algorithm linear[] = {ALGORITHM_RNEA, ALGORITHM_ABA};
    for (int k = 0; k < 2; k++) {
        for (int i = OURS_1; i <= OURS_64; i++) {
            double small = l->ns[SHORT][linear[k]][i] / linearity_length[SHORT];
            double large = l->ns[LONG][linear[k]][i] / linearity_length[LONG];
            const table_cell cells[] = {{.text = algorithm_name(linear[k])},
                                        {.number = (double)batch_of[i]},
                                        {.number = small},
                                        {.number = large},
                                        {.number = large / small}};
            table_add(t, cells);
        }
    }
    return t;
}

/* ---- robots ------------------------------------------------------------------------------------------------------ */

/* The sample robots with all algorithms. */
static void measure_samples(const bench_options *options, table *t) {
    static const struct {
        const char *title, *name;
        dyn_base base;
    } samples[] = {
        {"ur5", "ur5", DYN_BASE_FIXED},
        {"panda", "panda", DYN_BASE_FIXED},
        {"quadruped, floating", "quadruped", DYN_BASE_FLOATING},
        {"quadruped, fixed", "quadruped", DYN_BASE_FIXED},
    };
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        bench_robot robot;
        subject subjects[SUBJECTS];
        open_robot(&robot, samples[i].title, robot_load(samples[i].name, samples[i].base), true);
        for (algorithm a = 0; a < ALGORITHM_COUNT; a++) {
            measure_algorithm(&robot, a, &options->effort, subjects);
            add_row(t, samples[i].title, a, subjects, options->effort.rounds);
        }
        close_robot(&robot);
    }
}

/* Chains with the three algorithms of dynamics. */
static void measure_chains(const bench_options *options, table *t, linearity *l) {
    static const int bodies[] = {6, 12, 25, 50, 100, 200, 500, 1000};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        bench_robot robot;
        subject subjects[SUBJECTS];
        char name[32];
        snprintf(name, sizeof name, "chain of %d", bodies[i]);
        open_robot(&robot, name, robot_chain(bodies[i]), bodies[i] <= options->longest_peer_chain);
        for (algorithm a = ALGORITHM_RNEA; a <= ALGORITHM_ABA; a++) {
            measure_algorithm(&robot, a, &options->effort, subjects);
            add_row(t, name, a, subjects, options->effort.rounds);
            note_times(l, bodies[i], a, subjects, options->effort.rounds);
        }
        close_robot(&robot);
    }
}

void bench_kernels(const bench_options *options, report *r) {
    static const char note[] = "Processor time, medians of interleaved rounds; a ratio is the median of the rounds' "
                               "ratios. ABA stands beside\n"
                               "KDL's forward dynamics (mass matrix and its factors) and MuJoCo's (CRBA, "
                               "factorization, bias, solve). KDL has\n"
                               "no floating base, and no mass matrix or forward dynamics of a tree. MuJoCo's mass "
                               "matrix is left in its sparse\n"
                               "form.\n";
    table *t = table_create("Nanoseconds per state", "kernels", note, columns, COLUMNS);
    linearity l = {0};
    measure_samples(options, t);
    measure_chains(options, t, &l);
    report_add(r, t);
    report_add(r, linearity_table(&l));
}
