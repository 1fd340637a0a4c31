/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the share of a core's peak that the kernels reach in batches: the operations of an algorithm as written,
 * counted by running it over numbers that count, divided by its time, beside the highest rate of this core.
 */
#include <string.h>

#include "clock.h"
#include "count.h"
#include "peak_loop.h"
#include "sections.h"

/* ---- the peak ---------------------------------------------------------------------------------------------------- */

/* Instruction sets with their loops; the last one matches every other instruction set. */
static const struct {
    const char *instruction_set;
    peak_loop *run;
} peak_loops[] = {
#ifdef __x86_64__
    {"avx512", peak_loop_avx512},
    {"avx2", peak_loop_avx2},
    {"sse2", peak_loop_sse2},
#endif
    {NULL, peak_loop_scalar},
};

/* Returns the operations per nanosecond of the fastest of several runs of the loop for the library's instruction
 * set. */
static double measure_peak(void) {
    enum { RUNS = 20 };
    volatile double sum = 0;
    double best = 0;
    int i = 0;
    while (peak_loops[i].instruction_set && strcmp(peak_loops[i].instruction_set, dyn_instruction_set()) != 0) {
        i++;
    }
    for (int run = 0; run < RUNS; run++) {
        double operations, start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        sum = sum + peak_loops[i].run(&operations);
        double rate = operations / (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start);
        best = rate > best ? rate : best;
    }
    return best;
}

static const algorithm_id counted[] = {ALGORITHM_RNEA,           ALGORITHM_CRBA,     ALGORITHM_ABA,
                                       ALGORITHM_GRAVITY,        ALGORITHM_JACOBIAN, ALGORITHM_RNEA_DERIVATIVES,
                                       ALGORITHM_ABA_DERIVATIVES};

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const table_column columns[] = {
    {"robot", "robot", TABLE_TEXT},  {"algorithm", "algorithm", TABLE_TEXT},
    {"operations", "operations", 0}, {"ns of 64", "ns_batch_64", 0},
    {"GFLOP/s", "gflops", 1},        {"share of peak", "share_of_peak", 2},
};

static void run_batch(void *context, size_t call) {
    contest_call(context, call);
}

static void add_row(contest *all, algorithm_id id, double peak, const measure_effort *effort, table *t) {
    contest_entry batch = contest_enter(all, OURS_64, id);
    subject s = {.run = run_batch, .context = &batch, .states = contestant_get(OURS_64)->batch};
    measure(&s, 1, effort, CLOCK_THREAD_CPUTIME_ID);
    dyn_operation_counts n = count_operations(&all->load, id);
    double operations = (double)(n.multiplications + n.additions + n.divisions + n.roots);
    double ns = measured_time(&s, effort->rounds);
    const table_cell cells[] = {{.text = all->load.name},    {.text = algorithm_get(id)->name},
                                {.number = operations},      {.number = ns},
                                {.number = operations / ns}, {.number = operations / ns / peak}};
    table_add(t, cells);
}

void bench_peak(const bench_options *options, report *r) {
    static char note[512];
    double peak = measure_peak();
    snprintf(note, sizeof note,
             "Peak: %.1f GFLOP/s in double, the fastest of loops that only multiply and add, on %s, one core.\n"
             "Operations: multiplications, additions, divisions and roots of the algorithm as written, counted by "
             "running it over\nnumbers that count; sines and cosines are not counted, but take their time.\n",
             peak, dyn_instruction_set());
    table *t = table_create("Share of the core's peak", "peak", note, columns, sizeof columns / sizeof columns[0]);
    for (const bench_robot *robot = bench_robots; robot->title && robot->bodies == 0; robot++) {
        contest all;
        if (!is_robot_selected(options, robot)) {
            continue;
        }
        contest_open(&all, robot, false);
        for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
            if (is_algorithm_selected(options, robot, counted[i])) {
                add_row(&all, counted[i], peak, &options->effort, t);
            }
        }
        contest_close(&all);
    }
    report_add(r, t);
}
