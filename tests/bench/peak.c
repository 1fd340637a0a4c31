/*
 * The share of a core's peak that the kernels reach in batches: the operations of an algorithm as written, counted by
 * running it over numbers that count, divided by its time, beside the fastest that this core multiplies and adds.
 */
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "clock.h"
#include "peak_loop.h"
#include "sections.h"

#ifdef HAVE_OPERATION_COUNTS
#include "kernels/kernels.h"
#include "support/counted/counts.h"
#endif

/* ---- the peak ---------------------------------------------------------------------------------------------------- */

/* The last one stands for every other instruction set. */
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

/* Operations per nanosecond in the fastest of some runs. */
static double measure_peak(void) {
    enum { RUNS = 20 };
    volatile double kept = 0;
    double best = 0;
    int i = 0;
    while (peak_loops[i].instruction_set && strcmp(peak_loops[i].instruction_set, dyn_instruction_set()) != 0) {
        i++;
    }
    for (int run = 0; run < RUNS; run++) {
        double operations, start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        kept = kept + peak_loops[i].run(&operations);
        double rate = operations / (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start);
        best = rate > best ? rate : best;
    }
    return best;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

static const algorithm_id counted[] = {ALGORITHM_RNEA,           ALGORITHM_CRBA,     ALGORITHM_ABA,
                                       ALGORITHM_GRAVITY,        ALGORITHM_JACOBIAN, ALGORITHM_RNEA_DERIVATIVES,
                                       ALGORITHM_ABA_DERIVATIVES};

#ifdef HAVE_OPERATION_COUNTS

extern const kernel_table dyn_kernel_table_counted;

/* Zeros that may hold whatever a kernel keeps in them. */
static void *aligned_zeros(size_t size) {
    enum { ALIGNMENT = 64 };
    size_t rounded = (size / ALIGNMENT + 1) * ALIGNMENT;
    void *memory = aligned_alloc(ALIGNMENT, rounded);
    if (!memory) {
        die("out of memory");
    }
    return memset(memory, 0, rounded);
}

/* Runs the kernel over numbers that count, which are as large as doubles. */
static void run_counted(const workload *w, void *memory, algorithm_id id, double *out) {
    const kernel_table *kernels = &dyn_kernel_table_counted;
    double gravity[3], *second = out + w->nv * w->nv, *third = second + w->nv * w->nv;
    double *pivots = third + w->nv * w->nv;
    dyn_model_gravity(w->model, gravity);
    switch (id) {
    case ALGORITHM_RNEA:
        kernels->rnea(w->model, memory, gravity, w->q, w->v, w->a, NULL, out);
        break;
    case ALGORITHM_CRBA:
        kernels->crba(w->model, memory, w->q, out);
        break;
    case ALGORITHM_ABA:
        kernels->aba(w->model, memory, gravity, w->q, w->v, w->tau, NULL, pivots, out);
        break;
    case ALGORITHM_GRAVITY:
        kernels->gravity(w->model, memory, gravity, w->q, out);
        break;
    case ALGORITHM_JACOBIAN:
        kernels->frame_jacobian(w->model, memory, w->q, w->link, DYN_LOCAL_WORLD_ALIGNED, out);
        break;
    case ALGORITHM_RNEA_DERIVATIVES:
        kernels->rnea_derivatives(w->model, memory, gravity, w->q, w->v, w->a, NULL, out, second, third);
        break;
    case ALGORITHM_ABA_DERIVATIVES:
        kernels->aba_derivatives(w->model, memory, gravity, w->q, w->v, w->tau, NULL, pivots, out, second, third);
        break;
    default:
        die("%s is not counted", algorithm_get(id)->name);
    }
}

/* Multiplications, additions, divisions and roots for one state; sines and cosines are not among them. */
static double count_operations(const workload *w, algorithm_id id) {
    void *memory = aligned_zeros(dyn_kernel_table_counted.memory_size(w->model));
    double *out = aligned_zeros((4 * w->nv * w->nv + 6 * w->nv) * sizeof *out);
    memset(&counts, 0, sizeof counts);
    run_counted(w, memory, id, out);
    free(memory), free(out);
    return (double)(counts.multiplications + counts.additions + counts.divisions + counts.roots);
}

#else

static double count_operations(const workload *w, algorithm_id id) {
    (void)w, (void)id;
    die("--peak: this program was built without a C++ compiler, which counts operations");
}

#endif

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const table_column columns[] = {
    {"robot", "robot", TABLE_TEXT},  {"algorithm", "algorithm", TABLE_TEXT},
    {"operations", "operations", 0}, {"ns of 64", "ns_batch_64", 0},
    {"GFLOP/s", "gflops", 1},        {"share of peak", "share_of_peak", 2},
};

typedef struct task {
    contest *all;
    algorithm_id id;
} task;

static void run_batch(void *context, size_t call) {
    const task *t = context;
    contest_call(t->all, OURS_64, t->id, call);
}

static void add_row(contest *all, algorithm_id id, double peak, const measure_effort *effort, table *t) {
    task batch = {all, id};
    subject s = {.run = run_batch, .context = &batch, .states = contestant_get(OURS_64)->batch};
    measure(&s, 1, effort, CLOCK_THREAD_CPUTIME_ID);
    double operations = count_operations(&all->load, id), ns = measured_time(&s, effort->rounds);
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
        if (!is_robot_asked(options, robot)) {
            continue;
        }
        contest_open(&all, robot, false);
        for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
            if (is_algorithm_asked(options, robot, counted[i])) {
                add_row(&all, counted[i], peak, &options->effort, t);
            }
        }
        contest_close(&all);
    }
    report_add(r, t);
}
