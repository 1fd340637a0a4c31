/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the nanoseconds per state of algorithms that dynamics-compile generated for one robot, beside the generic
 * algorithms and the peers.
 */
#include <dynamics/compiled.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "model_compiler.h"
#include "sections.h"

static const algorithm_id algorithms[] = {
    ALGORITHM_RNEA,           ALGORITHM_BIAS, ALGORITHM_GRAVITY,  ALGORITHM_CRBA,          ALGORITHM_ABA,
    ALGORITHM_MINVERSE,       ALGORITHM_POSE, ALGORITHM_JACOBIAN, ALGORITHM_JACOBIAN_RATE, ALGORITHM_RNEA_DERIVATIVES,
    ALGORITHM_ABA_DERIVATIVES};

enum { ALGORITHMS = sizeof algorithms / sizeof algorithms[0] };

/* Subjects of the table: compiled and generic algorithms with one state a call and with many, and peers. */
enum { COMPILED_1, COMPILED_4096, GENERIC_1, GENERIC_4096, OF_KDL, OF_MUJOCO, SUBJECTS };

static const int contestants[SUBJECTS] = {OURS_1, OURS_4096, OURS_1, OURS_4096, KDL, MUJOCO};

static void run(void *context, size_t call) {
    contest_call(context, call);
}

/* Creates a workspace that uses the compiled algorithms of a model; the caller frees it. */
static dyn_workspace *create_workspace(const dyn_model *model, const dyn_compiled *compiled) {
    dyn_workspace *workspace;
    dyn_error error;
    if (dyn_workspace_create(model, &workspace, &error) != DYN_OK ||
        dyn_workspace_use_compiled(workspace, compiled, &error) != DYN_OK) {
        die("%s: %s", error.place, error.message);
    }
    return workspace;
}

static const table_column columns[] = {
    {"robot", "robot", TABLE_TEXT},
    {"algorithm", "algorithm", TABLE_TEXT},
    {"compiled, one", "ns_compiled_1", 0},
    {"of 4096", "ns_compiled_4096", 1},
    {"generic, one", "ns_generic_1", 0},
    {"of 4096", "ns_generic_4096", 1},
    {"KDL", "ns_kdl", 0},
    {"MuJoCo", "ns_mujoco", 0},
    {"one / KDL", "compiled_1_over_kdl", 3},
    {"one / MuJoCo", "compiled_1_over_mujoco", 3},
    {"KDL / 4096", "kdl_over_compiled_4096", 1},
    {"MuJoCo / 4096", "mujoco_over_compiled_4096", 1},
    {"compiling, s", "seconds", 1},
};

enum { COLUMNS = sizeof columns / sizeof columns[0], RATIOS = 2 + SUBJECTS, SECONDS = COLUMNS - 1 };

static void add_row(table *t, const char *robot, algorithm_id id, const subject subjects[SUBJECTS], int rounds,
                    double seconds) {
    static const int over[][2] = {
        {COMPILED_1, OF_KDL}, {COMPILED_1, OF_MUJOCO}, {OF_KDL, COMPILED_4096}, {OF_MUJOCO, COMPILED_4096}};
    table_cell cells[COLUMNS] = {{.text = robot}, {.text = algorithm_get(id)->name}};
    for (int i = 0; i < SUBJECTS; i++) {
        cells[2 + i].number = measured_time(&subjects[i], rounds);
    }
    for (int i = 0; i < SECONDS - RATIOS; i++) {
        cells[RATIOS + i].number = measured_ratio(&subjects[over[i][0]], &subjects[over[i][1]], rounds);
    }
    cells[SECONDS].number = seconds;
    table_add(t, cells);
}

/* Measures an algorithm for all subjects that have it. `compiled` is a workspace with the compiled algorithms. */
static void measure_algorithm(contest *all, dyn_workspace *compiled, algorithm_id id, const measure_effort *effort,
                              subject subjects[SUBJECTS]) {
    contest_entry entries[SUBJECTS];
    memset(subjects, 0, SUBJECTS * sizeof *subjects);
    for (int i = 0; i < SUBJECTS; i++) {
        int who = contestants[i];
        subjects[i].run = run;
        subjects[i].states = contestant_get(who)->batch;
        if (contest_has(all, who, id)) {
            entries[i] = contest_enter(all, who, id);
            entries[i].in.workspace = i <= COMPILED_4096 ? compiled : entries[i].in.workspace;
            subjects[i].context = &entries[i];
        }
    }
    measure(subjects, SUBJECTS, effort, CLOCK_THREAD_CPUTIME_ID);
}

static void measure_robot(const bench_options *options, const bench_robot *robot, table *t) {
    contest all;
    subject subjects[SUBJECTS];
    double seconds;
    contest_open(&all, robot, true);
    dyn_compiled *compiled = compiled_algorithms(all.load.model, &seconds);
    dyn_workspace *workspace = create_workspace(all.load.model, compiled);
    for (int i = 0; i < ALGORITHMS; i++) {
        if (is_algorithm_selected(options, robot, algorithms[i])) {
            measure_algorithm(&all, workspace, algorithms[i], &options->effort, subjects);
            add_row(t, robot->title, algorithms[i], subjects, options->effort.rounds, seconds);
        }
    }
    dyn_workspace_free(workspace);
    dyn_compiled_free(compiled);
    contest_close(&all);
}

void bench_compiled(const bench_options *options, report *r) {
    static const char note[] = "As the table of kernels. Where a compiled algorithm takes as long as the generic one, "
                               "it is the generic one:\nfunctions of more than 12000 operations are not compiled.\n";
    table *t = table_create("Nanoseconds per state, compiled for one robot", "compiled", note, columns, COLUMNS);
    for (const bench_robot *robot = bench_robots; robot->title; robot++) {
        if (robot->bodies == 0 && is_robot_selected(options, robot)) {
            measure_robot(options, robot, t);
        }
    }
    report_add(r, t);
}
