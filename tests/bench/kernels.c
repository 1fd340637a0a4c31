/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the nanoseconds per state of each algorithm: this library's for one state and for batches, the peers' for
 * one state.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sections.h"

static void run(void *context, size_t call) {
    contest_call(context, call);
}

/* Measures one algorithm with all contestants that have it. */
static void measure_algorithm(contest *all, algorithm_id id, const measure_effort *effort,
                              subject subjects[CONTESTANTS]) {
    contest_entry entries[CONTESTANTS];
    memset(subjects, 0, CONTESTANTS * sizeof *subjects);
    for (int who = 0; who < CONTESTANTS; who++) {
        subjects[who].run = run;
        subjects[who].states = contestant_get(who)->batch;
        if (contest_has(all, who, id)) {
            entries[who] = contest_enter(all, who, id);
            subjects[who].context = &entries[who];
        }
    }
    measure(subjects, CONTESTANTS, effort, CLOCK_THREAD_CPUTIME_ID);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const table_column columns[] = {
    {"robot", "robot", TABLE_TEXT},
    {"algorithm", "algorithm", TABLE_TEXT},
    {"one", "ns_batch_1", 0},
    {"of 8", "ns_batch_8", 0},
    {"of 64", "ns_batch_64", 0},
    {"of 4096", "ns_batch_4096", 0},
    {"single: one", "ns_single_batch_1", 0},
    {"of 8", "ns_single_batch_8", 0},
    {"of 64", "ns_single_batch_64", 0},
    {"of 4096", "ns_single_batch_4096", 0},
    {"KDL", "ns_kdl", 0},
    {"MuJoCo", "ns_mujoco", 0},
    {"DART", "ns_dart", 0},
    {"Simbody", "ns_simbody", 0},
    {"one / KDL", "batch_1_over_kdl", 3},
    {"one / MuJoCo", "batch_1_over_mujoco", 3},
    {"KDL / 4096", "kdl_over_batch_4096", 1},
    {"MuJoCo / 4096", "mujoco_over_batch_4096", 1},
    {"double / single", "batch_4096_over_single_batch_4096", 2},
};

enum { COLUMNS = sizeof columns / sizeof columns[0], RATIOS = 2 + CONTESTANTS };

static void add_row(table *t, const char *robot, algorithm_id id, const subject subjects[CONTESTANTS], int rounds) {
    static const int over[][2] = {
        {OURS_1, KDL}, {OURS_1, MUJOCO}, {KDL, OURS_4096}, {MUJOCO, OURS_4096}, {OURS_4096, SINGLE_4096}};
    table_cell cells[COLUMNS] = {{.text = robot}, {.text = algorithm_get(id)->name}};
    for (int who = 0; who < CONTESTANTS; who++) {
        cells[2 + who].number = measured_time(&subjects[who], rounds);
    }
    for (int i = 0; i < COLUMNS - RATIOS; i++) {
        cells[RATIOS + i].number = measured_ratio(&subjects[over[i][0]], &subjects[over[i][1]], rounds);
    }
    table_add(t, cells);
}

/* ---- cost of a body ---------------------------------------------------------------------------------------------- */

static const table_column linearity_columns[] = {
    {"algorithm", "algorithm", TABLE_TEXT}, {"states a call", "states", 0},   {"of 25 bodies", "ns_per_body_25", 2},
    {"of 100", "ns_per_body_100", 2},       {"of 200", "ns_per_body_200", 2}, {"of 500", "ns_per_body_500", 2},
    {"of 1000", "ns_per_body_1000", 2},     {"1000 / 100", "ratio", 3},
};

enum { LENGTHS = 5, SHORT = 1, LONG = LENGTHS - 1 };
static const int linearity_length[LENGTHS] = {25, 100, 200, 500, 1000};

/* Nanoseconds per state in chains of linearity_length bodies, for each algorithm and each contestant of this library in
 * double precision; NaN where not measured. */
typedef struct linearity {
    double ns[LENGTHS][ALGORITHM_COUNT][OURS_4096 + 1];
} linearity;

static void note_times(linearity *l, int bodies, algorithm_id id, const subject *subjects, int rounds) {
    for (int length = 0; length < LENGTHS; length++) {
        for (int who = OURS_1; who <= OURS_4096 && bodies == linearity_length[length]; who++) {
            l->ns[length][id][who] = measured_time(&subjects[who], rounds);
        }
    }
}

static table *linearity_table(const linearity *l) {
    table *t =
        table_create("Nanoseconds per body in long chains", "linearity",
                     "The ratio is of chains of 1,000 and of 100 bodies: 1 where the time is linear in the bodies.\n",
                     linearity_columns, sizeof linearity_columns / sizeof linearity_columns[0]);
    static const algorithm_id linear[] = {ALGORITHM_RNEA, ALGORITHM_ABA};
    for (int k = 0; k < 2; k++) {
        for (int who = OURS_1; who <= OURS_4096; who++) {
            table_cell cells[2 + LENGTHS + 1] = {{.text = algorithm_get(linear[k])->name},
                                                 {.number = (double)contestant_get(who)->batch}};
            table_cell *per_body = &cells[2];
            for (int length = 0; length < LENGTHS; length++) {
                per_body[length].number = l->ns[length][linear[k]][who] / linearity_length[length];
            }
            per_body[LENGTHS].number = per_body[LONG].number / per_body[SHORT].number;
            table_add(t, cells);
        }
    }
    return t;
}

/* ---- robots ------------------------------------------------------------------------------------------------------ */

static void measure_robot(const bench_options *options, const bench_robot *robot, table *t, linearity *l) {
    contest all;
    subject subjects[CONTESTANTS];
    contest_open(&all, robot, robot->bodies <= options->longest_peer_chain);
    for (algorithm_id id = 0; id < ALGORITHM_COUNT; id++) {
        if (is_algorithm_selected(options, robot, id)) {
            measure_algorithm(&all, id, &options->effort, subjects);
            add_row(t, robot->title, id, subjects, options->effort.rounds);
            note_times(l, robot->bodies, id, subjects, options->effort.rounds);
        }
    }
    contest_close(&all);
}

void bench_kernels(const bench_options *options, report *r) {
    static const char note[] =
        "Processor time, medians of interleaved rounds; a ratio is the median of the rounds' ratios. A peer's result "
        "stays\nwhere its library leaves it. ABA stands beside KDL's forward dynamics (mass matrix and its factors) "
        "and MuJoCo's\n(CRBA, factorization, bias, solve). KDL has no floating base, and no mass matrix or forward "
        "dynamics of a tree. The columns behind \"single\" are of single precision; double / single is of 4096 "
        "states.\n";
    table *t = table_create("Nanoseconds per state", "kernels", note, columns, COLUMNS);
    linearity l;
    for (size_t i = 0; i < sizeof l.ns / sizeof(double); i++) {
        (&l.ns[0][0][0])[i] = NAN;
    }
    for (const bench_robot *robot = bench_robots; robot->title; robot++) {
        if (is_robot_selected(options, robot)) {
            measure_robot(options, robot, t, &l);
        }
    }
    report_add(r, t);
    if (!isnan(l.ns[SHORT][ALGORITHM_RNEA][OURS_1]) && !isnan(l.ns[LONG][ALGORITHM_RNEA][OURS_1])) {
        report_add(r, linearity_table(&l));
    }
}
