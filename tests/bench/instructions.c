/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts instructions per state, a measure without noise. The program runs itself under callgrind, which writes one
 * file for each count.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "sections.h"

#ifdef HAVE_CALLGRIND
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_STOP_INSTRUMENTATION
#define CALLGRIND_DUMP_STATS_AT(label)
#endif

/* Limits of the counts: contestants with batches up to COUNTED_STATES, and chains up to LONGEST_CHAIN bodies. */
enum { COUNTED_STATES = 64, LONGEST_CHAIN = 100, ROBOTS = 16, LABEL_SIZE = 64 };

static bool is_counted(const bench_options *options, const bench_robot *robot) {
    return is_robot_selected(options, robot) && (robot->bodies == 0 || robot->bodies == LONGEST_CHAIN);
}

/* Writes the label of a count in callgrind's files, from which read_count reads robot, algorithm and contestant. */
static void write_label(char label[LABEL_SIZE], int robot, int id, int who) {
    snprintf(label, LABEL_SIZE, "count-%d-%d-%d", robot, id, who);
}

/* ---- the process that counts ------------------------------------------------------------------------------------- */

static void compute(contest_entry *entry) {
    for (size_t call = 0; call < COUNTED_STATES / entry->batch; call++) {
        contest_call(entry, call);
    }
}

static void count_algorithm(contest *all, int robot, algorithm_id id) {
    for (int who = 0; who < CONTESTANTS; who++) {
        char label[LABEL_SIZE];
        write_label(label, robot, (int)id, who);
        if (contestant_get(who)->batch <= COUNTED_STATES && contest_has(all, who, id)) {
            contest_entry entry = contest_enter(all, who, id);
            compute(&entry);
            CALLGRIND_START_INSTRUMENTATION;
            CALLGRIND_ZERO_STATS;
            compute(&entry);
            CALLGRIND_DUMP_STATS_AT(label);
            CALLGRIND_STOP_INSTRUMENTATION;
        }
    }
}

void count_instructions(const bench_options *options) {
    for (int robot = 0; bench_robots[robot].title; robot++) {
        if (!is_counted(options, &bench_robots[robot])) {
            continue;
        }
        contest all;
        contest_open(&all, &bench_robots[robot], true);
        for (algorithm_id id = 0; id < ALGORITHM_COUNT; id++) {
            if (is_algorithm_selected(options, &bench_robots[robot], id)) {
                count_algorithm(&all, robot, id);
            }
        }
        contest_close(&all);
    }
}

/* ---- the process that reports ------------------------------------------------------------------------------------ */

typedef struct counts {
    double per_state[ROBOTS][ALGORITHM_COUNT][CONTESTANTS]; /* NaN: not counted */
} counts;

/* Reads the label and the number of instructions from one of callgrind's files, and stores the instructions per state.
 * Returns false where the file cannot be read. */
static bool read_count(const char *path, counts *all) {
    FILE *file = fopen(path, "r");
    char line[1024];
    int robot = -1, id = -1, who = -1;
    double total = NAN;
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "desc: Trigger: Client Request: ", 31) == 0) {
            sscanf(line + 31, "count-%d-%d-%d", &robot, &id, &who);
        } else {
            sscanf(line, "summary: %lf", &total);
            sscanf(line, "totals: %lf", &total);
        }
    }
    if (robot >= 0 && robot < ROBOTS && id >= 0 && id < ALGORITHM_COUNT && who >= 0 && who < CONTESTANTS) {
        all->per_state[robot][id][who] = total / COUNTED_STATES;
    }
    return file && fclose(file) == 0;
}

/* Runs this program under callgrind and reads the files, which end in .1, .2, ... in the order of the counts. Ends the
 * program where valgrind is missing or fails. */
static void run_callgrind(const bench_options *options, const char *directory, counts *all) {
    char self[PATH_MAX], out[128], log[128], path[128];
    own_path(self, sizeof self);
    snprintf(out, sizeof out, "--callgrind-out-file=%s/out", directory);
    snprintf(log, sizeof log, "%s/log", directory);
    const char *const arguments[] = {"valgrind",
                                     "--tool=callgrind",
                                     "--instr-atstart=no",
                                     out,
                                     self,
                                     "--count-instructions",
                                     options->robot ? options->robot : "",
                                     options->algorithm ? options->algorithm : "",
                                     NULL};
    child valgrind = child_start(arguments, log);
    int status = child_wait(&valgrind);
    if (status == 127) {
        die("--instructions needs valgrind");
    }
    if (status != 0) {
        show_file(log);
        die("valgrind failed with status %d", status);
    }
    int number = 1;
    do {
        snprintf(path, sizeof path, "%s/out.%d", directory, number++);
    } while (read_count(path, all));
}

static const table_column columns[] = {
    {"robot", "robot", TABLE_TEXT},
    {"algorithm", "algorithm", TABLE_TEXT},
    {"one", "instructions_batch_1", 0},
    {"of 8", "instructions_batch_8", 0},
    {"of 64", "instructions_batch_64", 0},
    {"single: one", "instructions_single_batch_1", 0},
    {"of 8", "instructions_single_batch_8", 0},
    {"of 64", "instructions_single_batch_64", 0},
    {"KDL", "instructions_kdl", 0},
    {"MuJoCo", "instructions_mujoco", 0},
    {"DART", "instructions_dart", 0},
    {"Simbody", "instructions_simbody", 0},
    {"one / KDL", "batch_1_over_kdl", 3},
    {"one / MuJoCo", "batch_1_over_mujoco", 3},
};

static void add_row(table *t, const bench_robot *robot, algorithm_id id, const double count[CONTESTANTS]) {
    const table_cell cells[] = {{.text = robot->title},
                                {.text = algorithm_get(id)->name},
                                {.number = count[OURS_1]},
                                {.number = count[OURS_8]},
                                {.number = count[OURS_64]},
                                {.number = count[SINGLE_1]},
                                {.number = count[SINGLE_8]},
                                {.number = count[SINGLE_64]},
                                {.number = count[KDL]},
                                {.number = count[MUJOCO]},
                                {.number = count[DART]},
                                {.number = count[SIMBODY]},
                                {.number = count[OURS_1] / count[KDL]},
                                {.number = count[OURS_1] / count[MUJOCO]}};
    table_add(t, cells);
}

void bench_instructions(const bench_options *options, report *r) {
#ifndef HAVE_CALLGRIND
    die("--instructions: this program was built without the headers of valgrind");
#endif
    table *t = table_create("Instructions per state, counted by callgrind", "instructions",
                            "Valgrind has no AVX-512; where the processor has it, the counts are those of AVX2.\n",
                            columns, sizeof columns / sizeof columns[0]);
    char directory[64];
    static counts all;
    for (size_t i = 0; i < sizeof all.per_state / sizeof(double); i++) {
        (&all.per_state[0][0][0])[i] = NAN;
    }
    make_directory(directory);
    run_callgrind(options, directory, &all);
    remove_directory(directory);
    for (int robot = 0; bench_robots[robot].title; robot++) {
        for (algorithm_id id = 0; id < ALGORITHM_COUNT; id++) {
            if (!isnan(all.per_state[robot][id][OURS_1])) {
                add_row(t, &bench_robots[robot], id, all.per_state[robot][id]);
            }
        }
    }
    report_add(r, t);
}
