/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures InverseDynamics for one state of the UR5 over fast channels, by clients that spin and by clients that sleep,
 * beside a bare exchange of as many bytes between two processes by futex, and the same function in this process.
 */
#include "fast_channel.h"

#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dynamics/dynamics.h>

#include "clock.h"
#include "dynamics_client.h"
#include "model_compiler.h"
#include "statistics.h"
#include "support/random.h"

/* Number of states that the calls cycle through, calls of one kind in a row, and calls before measuring. */
enum { STATES = 64, JOINTS = 6, BLOCK = 100, WARM_UP = 500, LOADS = 16 };

/* Time between two calls of the periodic client, and the longest spin of the bare exchange, ns. */
static const double PERIOD = 1e6, LONGEST_SPIN = 50e3;

enum { BARE_SPINS, BARE_SLEEPS, FAST_SPINS, FAST_SLEEPS, IN_PROCESS, WAYS };

static const char *const way_names[WAYS] = {"bare futex, spinning", "bare futex, sleeping", "fast channel, spinning",
                                            "fast channel, sleeping", "function in process"};

typedef struct states {
    double q[STATES][JOINTS], v[STATES][JOINTS], a[STATES][JOINTS];
} states;

/* ---- bare exchange ----------------------------------------------------------------------------------------------- */

/* Memory of two processes. Each word is the number of the newest message of its side. */
typedef struct bare_memory {
    _Alignas(64) _Atomic uint32_t request;
    _Atomic uint32_t asker_sleeps;
    _Alignas(64) _Atomic uint32_t reply;
    _Atomic uint32_t answerer_sleeps;
    _Alignas(64) double in[3 * JOINTS];
    _Alignas(64) double out[JOINTS];
} bare_memory;

typedef struct bare_exchange {
    bare_memory *memory;
    pid_t process;
    bool spins;
} bare_exchange;

static inline void rest(void) {
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

/* Waits until a word differs from `last`. */
static void await(_Atomic uint32_t *word, _Atomic uint32_t *sleeps, uint32_t last, bool spins) {
    double end = spins ? clock_ns(CLOCK_MONOTONIC) + LONGEST_SPIN : 0;
    while (spins && clock_ns(CLOCK_MONOTONIC) < end) {
        for (int i = 0; i < LOADS; i++) {
            if (atomic_load(word) != last) {
                return;
            }
            rest();
        }
    }
    atomic_store(sleeps, 1);
    while (atomic_load(word) == last) {
        syscall(SYS_futex, word, FUTEX_WAIT, last, NULL, NULL, 0);
    }
    atomic_store(sleeps, 0);
}

static void tell(_Atomic uint32_t *word, const _Atomic uint32_t *sleeps, uint32_t number) {
    atomic_store(word, number);
    if (atomic_load(sleeps)) {
        syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

/* Answers each message with the first of its numbers, until this program ends. */
static _Noreturn void answer_bare(bare_memory *m, bool spins) {
    double copy[3 * JOINTS];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (uint32_t last = 0;; last++) {
        await(&m->request, &m->answerer_sleeps, last, spins);
        memcpy(copy, m->in, sizeof copy);
        memcpy(m->out, copy, sizeof m->out);
        tell(&m->reply, &m->asker_sleeps, last + 1);
    }
}

static bare_exchange bare_open(bool spins) {
    bare_memory *memory = mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        die("out of memory");
    }
    pid_t process = fork();
    if (process < 0) {
        die("no process for the bare exchange");
    }
    if (process == 0) {
        answer_bare(memory, spins);
    }
    return (bare_exchange){memory, process, spins};
}

static void bare_call(const bare_exchange *e, const states *all, int i, double *out) {
    bare_memory *m = e->memory;
    uint32_t number = atomic_load(&m->request) + 1;
    memcpy(m->in, all->q[i], sizeof all->q[i]);
    memcpy(m->in + JOINTS, all->v[i], sizeof all->v[i]);
    memcpy(m->in + 2 * JOINTS, all->a[i], sizeof all->a[i]);
    tell(&m->request, &m->answerer_sleeps, number);
    await(&m->reply, &m->asker_sleeps, number - 1, e->spins);
    memcpy(out, m->out, sizeof m->out);
}

static void bare_close(bare_exchange *e) {
    kill(e->process, SIGKILL);
    waitpid(e->process, NULL, 0);
    munmap(e->memory, sizeof *e->memory);
}

/* ---- ways -------------------------------------------------------------------------------------------------------- */

/* Path of a call, with the times of its calls. */
typedef struct way {
    bare_exchange bare;
    dyn_client *client;
    const dyn_model *model; /* in this process */
    dyn_workspace *workspace;
    double *ns;
    size_t count;
} way;

static void call_client(const way *w, const states *all, int i, double *out) {
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = 1);
    dyn_client_error error;
    if (dyn_client_inverse_dynamics(w->client, &query, all->q[i], all->v[i], all->a[i], out, &error) != DYN_CLIENT_OK) {
        die("inverse dynamics: %s %s", error.field, error.message);
    }
}

static void make_call(const way *w, const states *all, int i) {
    double out[JOINTS];
    dyn_error error;
    if (w->bare.memory) {
        bare_call(&w->bare, all, i, out);
    } else if (w->client) {
        call_client(w, all, i, out);
    } else if (dyn_rnea(w->model, w->workspace, 1, NULL, all->q[i], all->v[i], all->a[i], NULL, out, &error) !=
               DYN_OK) {
        die("inverse dynamics: %s", error.message);
    }
}

static void time_block(way *w, const states *all, size_t calls, bool is_recorded) {
    for (size_t i = 0; i < calls; i++) {
        double start = clock_ns(CLOCK_MONOTONIC);
        make_call(w, all, (int)(i % STATES));
        if (is_recorded) {
            w->ns[w->count++] = clock_ns(CLOCK_MONOTONIC) - start;
        }
    }
}

static void time_all(way *ways, const states *all, size_t trips) {
    for (int i = 0; i < WAYS; i++) {
        time_block(&ways[i], all, WARM_UP < trips ? WARM_UP : trips, false);
    }
    for (size_t done = 0; done < trips; done += BLOCK) {
        for (int i = 0; i < WAYS; i++) {
            time_block(&ways[i], all, 1, false); /* the other side may sleep since its last block */
            time_block(&ways[i], all, trips - done < BLOCK ? trips - done : BLOCK, true);
        }
    }
}

/* Connects a client with a fast channel. */
static dyn_client *open_client(const bench_daemon *daemon, bool spins) {
    const dyn_client_options options = DYN_CLIENT_OPTIONS_INIT(.fast_spin = spins ? 0 : -1);
    dyn_client *client;
    dyn_client_error error;
    if (dyn_client_connect(daemon->ipc, &options, &client, &error) != DYN_CLIENT_OK ||
        dyn_client_open_fast_channel(client, "ur5", 0, NULL, 0, &error) != DYN_CLIENT_OK) {
        die("%s", error.message);
    }
    return client;
}

static double *allocate_times(size_t count) {
    double *ns = calloc(count, sizeof *ns);
    if (!ns) {
        die("out of memory");
    }
    return ns;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static const table_column columns[] = {
    {"way", "way", TABLE_TEXT}, {"min", "min_us", 2},    {"p50", "p50_us", 2}, {"p90", "p90_us", 2},
    {"p99", "p99_us", 2},       {"p99.9", "p999_us", 2}, {"max", "max_us", 1}, {"p50 / bare", "p50_over_bare", 2}};

static const table_column periodic_columns[] = {{"client", "client", TABLE_TEXT},
                                                {"p50", "p50_us", 1},
                                                {"p90", "p90_us", 1},
                                                {"p99", "p99_us", 1},
                                                {"p99.9", "p999_us", 1},
                                                {"daemon, % of a core", "cpu", 2}};

enum {
    COLUMNS = sizeof columns / sizeof *columns,
    PERIODIC_COLUMNS = sizeof periodic_columns / sizeof *periodic_columns,
    QUANTILES = 6
};

static const double shares[QUANTILES] = {0, 0.5, 0.9, 0.99, 0.999, 1};

static table *to_table(way *ways, const char *note) {
    table *t = table_create("Microseconds of one InverseDynamics by shared memory, UR5, one state", "fast_channel",
                            note, columns, COLUMNS);
    double median[WAYS];
    for (int i = 0; i < WAYS; i++) {
        table_cell cells[COLUMNS] = {{.text = way_names[i]}};
        sort_numbers(ways[i].ns, ways[i].count);
        for (int k = 0; k < QUANTILES; k++) {
            cells[1 + k].number = percentile(ways[i].ns, ways[i].count, shares[k]) / 1000;
        }
        median[i] = cells[2].number;
        cells[COLUMNS - 1].number = median[i] / median[i == BARE_SLEEPS || i == FAST_SLEEPS ? BARE_SLEEPS : BARE_SPINS];
        table_add(t, cells);
    }
    return t;
}

static void sleep_until(double ns) {
    const struct timespec end = {.tv_sec = (time_t)(ns / 1e9),
                                 .tv_nsec = (long)(ns - 1e9 * (double)(time_t)(ns / 1e9))};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}

/* Runs a client at 1 kHz, or none, and adds its row. Returns the daemon's share of a core. */
static double run_periodic(const bench_daemon *daemon, way *w, const states *all, size_t ticks) {
    double start = clock_ns(CLOCK_MONOTONIC), before = child_time(&daemon->process);
    for (size_t i = 1; i <= ticks; i++) {
        sleep_until(start + (double)i * PERIOD);
        if (w) {
            time_block(w, all, 1, true);
        }
    }
    return (child_time(&daemon->process) - before) / (clock_ns(CLOCK_MONOTONIC) - start);
}

static void add_periodic(table *t, const char *name, way *w, double share) {
    table_cell cells[PERIODIC_COLUMNS] = {{.text = name}};
    sort_numbers(w->ns, w->count);
    for (int k = 1; k < QUANTILES - 1; k++) {
        cells[k].number = percentile(w->ns, w->count, shares[k]) / 1000;
    }
    cells[PERIODIC_COLUMNS - 1].number = 100 * share;
    table_add(t, cells);
}

/* Measures clients at 1 kHz. The share of the daemon without a client is subtracted. */
static void measure_periodic(const bench_daemon *daemon, const states *all, size_t ticks, report *r) {
    table *t = table_create("Microseconds of one InverseDynamics over a fast channel at 1 kHz", "fast_channel_periodic",
                            "Processor time of the daemon less that without a client. Aim: below 5 %.\n",
                            periodic_columns, PERIODIC_COLUMNS);
    double idle = run_periodic(daemon, NULL, all, ticks);
    for (int spins = 1; spins >= 0; spins--) {
        way w = {.client = open_client(daemon, spins), .ns = allocate_times(2 * ticks)};
        run_periodic(daemon, &w, all, ticks / 4); /* the daemon learns the period */
        w.count = 0;
        double share = run_periodic(daemon, &w, all, ticks);
        add_periodic(t, spins ? "spinning" : "sleeping", &w, share - idle);
        dyn_client_close(w.client);
        free(w.ns);
    }
    report_add(r, t);
}

/* Loads the UR5 into this process, with compiled algorithms where dynamics-compile stands beside this program. Returns
 * its workspace. */
static dyn_workspace *load_arm(dyn_model **model, dyn_compiled **compiled) {
    char program[4096];
    dyn_workspace *workspace;
    dyn_error error;
    double seconds;
    if (dyn_model_load_file(ROBOTS_DIRECTORY "/ur5.urdf", NULL, NULL, model, &error) != DYN_OK ||
        dyn_workspace_create(*model, &workspace, &error) != DYN_OK) {
        die("%s: %s", error.place, error.message);
    }
    path_beside("dynamics-compile", program, sizeof program);
    *compiled = access(program, X_OK) == 0 ? compiled_algorithms(*model, &seconds) : NULL;
    if (*compiled && dyn_workspace_use_compiled(workspace, *compiled, &error) != DYN_OK) {
        die("%s: %s", error.place, error.message);
    }
    return workspace;
}

static void fill_states(states *all) {
    random_source random = {.state = 20261129};
    for (int i = 0; i < STATES; i++) {
        for (int k = 0; k < JOINTS; k++) {
            all->q[i][k] = random_uniform(&random, -3, 3);
            all->v[i][k] = random_uniform(&random, -1, 1);
            all->a[i][k] = random_uniform(&random, -1, 1);
        }
    }
}

void bench_fast_channel(const bench_options *options, const bench_daemon *daemon, report *r) {
    way ways[WAYS] = {0};
    states all;
    dyn_model *model;
    dyn_compiled *compiled;
    char note[256];
    fill_states(&all);
    ways[BARE_SPINS].bare = bare_open(true);
    ways[BARE_SLEEPS].bare = bare_open(false);
    ways[FAST_SPINS].client = open_client(daemon, true);
    ways[FAST_SLEEPS].client = open_client(daemon, false);
    ways[IN_PROCESS].workspace = load_arm(&model, &compiled);
    ways[IN_PROCESS].model = model;
    for (int i = 0; i < WAYS; i++) {
        ways[i].ns = allocate_times(options->round_trips);
    }
    time_all(ways, &all, options->round_trips);
    snprintf(note, sizeof note,
             "%zu calls of each kind, in turn by blocks of %d. The function in process is %s.\n"
             "Aims, with a core for each side: p50 of spinning below 10, p50 / bare at most 1.3.\n",
             options->round_trips, BLOCK, compiled ? "compiled for the robot" : "the generic one");
    report_add(r, to_table(ways, note));
    measure_periodic(daemon, &all, options->round_trips / 4, r);
    for (int i = 0; i < WAYS; i++) {
        dyn_client_close(ways[i].client);
        free(ways[i].ns);
    }
    bare_close(&ways[BARE_SPINS].bare);
    bare_close(&ways[BARE_SLEEPS].bare);
    dyn_workspace_free(ways[IN_PROCESS].workspace);
    dyn_compiled_free(compiled);
    dyn_model_free(model);
}
