/*
 * Instructions per state: a measure that does not know noise. The program runs itself under callgrind, which writes
 * one file for each count that is asked for.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "robots.h"
#include "sections.h"
#include "workload.h"

#ifdef HAVE_CALLGRIND
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_STOP_INSTRUMENTATION
#define CALLGRIND_DUMP_STATS_AT(label)
#endif

enum { OURS_1, OURS_64, KDL, MUJOCO, SUBJECTS };
enum { ROBOTS = 4, ALGORITHMS = ALGORITHM_ABA + 1, COUNTED_STATES = 64, LABEL_SIZE = 64 };

static const char *const robot_names[ROBOTS] = {"ur5", "panda", "quadruped, floating", "chain of 100"};

static dyn_model *create_robot(int robot) {
    return robot == 3 ? robot_chain(100)
                      : robot_load(robot == 2 ? "quadruped" : robot_names[robot],
                                   robot == 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED);
}

/* Name of a count in callgrind's files. */
static void write_label(char label[LABEL_SIZE], int robot, int a, int who) {
    snprintf(label, LABEL_SIZE, "count-%d-%d-%d", robot, a, who);
}

/* ---- the process that counts ------------------------------------------------------------------------------------- */

static bool compute(workload *w, const peer_library *library, peer *robot, algorithm a, int who) {
    if (who >= KDL) {
        for (size_t i = 0; i < COUNTED_STATES; i++) {
            if (!robot || !compute_peer(w, library, robot, a, i)) {
                return false;
            }
        }
        return true;
    }
    size_t batch = who == OURS_64 ? COUNTED_STATES : 1;
    for (size_t i = 0; i < COUNTED_STATES; i += batch) {
        compute_ours(w, a, i, batch);
    }
    return true;
}

static void count_algorithms(workload *w, const peer_library *library, peer *robot, int number, int who) {
    for (int a = 0; a < ALGORITHMS; a++) {
        char label[LABEL_SIZE];
        write_label(label, number, a, who);
        if (compute(w, library, robot, (algorithm)a, who)) {
            CALLGRIND_START_INSTRUMENTATION;
            CALLGRIND_ZERO_STATS;
            compute(w, library, robot, (algorithm)a, who);
            CALLGRIND_DUMP_STATS_AT(label);
            CALLGRIND_STOP_INSTRUMENTATION;
        }
    }
}

void count_instructions(void) {
    for (int i = 0; i < ROBOTS; i++) {
        workload w;
        workload_open(&w, robot_names[i], create_robot(i));
        for (int who = 0; who < SUBJECTS; who++) {
            const peer_library *library = who == KDL ? peer_find("kdl") : who == MUJOCO ? peer_find("mujoco") : NULL;
            char reason[PEER_REASON_SIZE];
            peer *robot = library ? library->create(w.model, true, reason) : NULL;
            count_algorithms(&w, library, robot, i, who);
            if (robot) {
                library->destroy(robot);
            }
        }
        workload_close(&w);
    }
}

/* ---- the process that reports ------------------------------------------------------------------------------------ */

typedef struct counts {
    double per_state[ROBOTS][ALGORITHMS][SUBJECTS]; /* NaN: not counted */
} counts;

/* Reads one of callgrind's files: which count it is, and how many instructions. */
static void read_count(const char *path, counts *all) {
    FILE *file = fopen(path, "r");
    char line[1024];
    int robot = -1, a = -1, who = -1;
    double total = NAN;
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "desc: Trigger: Client Request: ", 31) == 0) {
            sscanf(line + 31, "count-%d-%d-%d", &robot, &a, &who);
        } else {
            sscanf(line, "summary: %lf", &total);
            sscanf(line, "totals: %lf", &total);
        }
    }
    if (file) {
        fclose(file);
    }
    if (robot >= 0 && robot < ROBOTS && a >= 0 && a < ALGORITHMS && who >= 0 && who < SUBJECTS) {
        all->per_state[robot][a][who] = total / COUNTED_STATES;
    }
}

/* Runs this program under callgrind; its files end in .1, .2, ... in the order of the counts. */
static void run_callgrind(const char *directory, counts *all) {
    char self[PATH_MAX], out[128], log[128];
    own_path(self, sizeof self);
    snprintf(out, sizeof out, "--callgrind-out-file=%s/out", directory);
    snprintf(log, sizeof log, "%s/log", directory);
    const char *const arguments[] = {
        "valgrind", "--tool=callgrind", "--instr-atstart=no", out, self, "--count-instructions", NULL};
    child valgrind = child_start(arguments, log);
    int status = child_wait(&valgrind);
    if (status == 127) {
        die("--instructions needs valgrind");
    }
    if (status != 0) {
        show_file(log);
        die("valgrind failed with status %d", status);
    }
    for (int i = 1; i <= ROBOTS * ALGORITHMS * SUBJECTS; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/out.%d", directory, i);
        read_count(path, all);
    }
}

static const table_column columns[] = {
    {"robot", "robot", TABLE_TEXT},
    {"algorithm", "algorithm", TABLE_TEXT},
    {"one a call", "instructions_batch_1", 0},
    {"64 a call", "instructions_batch_64", 0},
    {"KDL", "instructions_kdl", 0},
    {"MuJoCo", "instructions_mujoco", 0},
    {"one / KDL", "batch_1_over_kdl", 3},
    {"one / MuJoCo", "batch_1_over_mujoco", 3},
};

void bench_instructions(const bench_options *options, report *r) {
    (void)options;
#ifndef HAVE_CALLGRIND
    die("--instructions: this program was built without the headers of valgrind");
#endif
    table *t = table_create("Instructions per state, counted by callgrind", "instructions",
                            "Valgrind has no AVX-512; where the processor has it, the counts are those of AVX2.\n",
                            columns, sizeof columns / sizeof columns[0]);
    char directory[64];
    counts all;
    for (int i = 0; i < ROBOTS * ALGORITHMS * SUBJECTS; i++) {
        (&all.per_state[0][0][0])[i] = NAN;
    }
    make_directory(directory);
    run_callgrind(directory, &all);
    remove_directory(directory);
    for (int i = 0; i < ROBOTS * ALGORITHMS; i++) {
        const double *count = all.per_state[i / ALGORITHMS][i % ALGORITHMS];
        table_cell cells[] = {{.text = robot_names[i / ALGORITHMS]},
                              {.text = algorithm_name((algorithm)(i % ALGORITHMS))},
                              {.number = count[OURS_1]},
                              {.number = count[OURS_64]},
                              {.number = count[KDL]},
                              {.number = count[MUJOCO]},
                              {.number = count[OURS_1] / count[KDL]},
                              {.number = count[OURS_1] / count[MUJOCO]}};
        table_add(t, cells);
    }
    report_add(r, t);
}
