/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures calls about the UR5 through the Python client, beside the C client: one state, and batches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon.h"
#include "sections.h"
#include "statistics.h"

#ifdef PYTHON_PROGRAM

enum { MOST_BATCHES = 40 };

/* Call of python_calls.py, with its title and the number of states. */
static const struct timed_call {
    const char *name, *title;
    size_t samples;
} timed_calls[] = {
    {"inverse_dynamics", "InverseDynamics", 1},      {"options", "InverseDynamics, gravity, joint_names", 1},
    {"forward_dynamics", "ForwardDynamics", 1},      {"mass_matrix", "MassMatrix", 1},
    {"evaluate", "Evaluate: mass matrix", 1},        {"inverse_dynamics", "InverseDynamics", 1000},
    {"inverse_dynamics", "InverseDynamics", 100000}, {"evaluate", "Evaluate: mass matrix", 100000}};

static const table_column columns[] = {{"call", "call", TABLE_TEXT},
                                       {"states", "states", 0},
                                       {"C [us]", "c_us", 1},
                                       {"Python [us]", "python_us", 1},
                                       {"difference [us]", "difference_us", 1},
                                       {"Python / C", "python_over_c", 3}};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* Runs python_calls.py and reads its times, ns. */
static void measure_calls(const char *url, const struct timed_call *timed, size_t calls, double *c, double *python) {
    char samples_text[32], calls_text[32];
    snprintf(samples_text, sizeof samples_text, "%zu", timed->samples);
    snprintf(calls_text, sizeof calls_text, "%zu", calls);
    const char *const arguments[] = {"/usr/bin/env",
                                     "PYTHONPATH=" PYTHON_PACKAGES,
                                     "PYTHONDONTWRITEBYTECODE=1",
                                     PYTHON_PROGRAM,
                                     PYTHON_CALLS,
                                     url,
                                     timed->name,
                                     samples_text,
                                     calls_text,
                                     NULL};
    child program = child_start(arguments, NULL);
    FILE *output = fdopen(dup(program.output), "r");
    for (size_t i = 0; i < calls; i++) {
        if (!output || fscanf(output, "%lf %lf", &c[i], &python[i]) != 2) {
            die("the Python client gives no times; run it by hand: %s %s URL %s %zu %zu", PYTHON_PROGRAM, PYTHON_CALLS,
                timed->name, timed->samples, calls);
        }
    }
    fclose(output);
    child_wait(&program);
}

static void add_row(table *t, const char *url, const struct timed_call *timed, size_t trips) {
    size_t calls = timed->samples == 1 || trips < MOST_BATCHES ? trips : MOST_BATCHES;
    double *c = calloc(calls, sizeof *c), *python = calloc(calls, sizeof *python);
    if (!c || !python) {
        die("out of memory");
    }
    measure_calls(url, timed, calls, c, python);
    double c_us = median(c, calls) / 1000, python_us = median(python, calls) / 1000;
    const table_cell cells[COLUMNS] = {
        {.text = timed->title}, {.number = (double)timed->samples}, {.number = c_us},
        {.number = python_us},  {.number = python_us - c_us},       {.number = python_us / c_us}};
    table_add(t, cells);
    free(c);
    free(python);
}

void bench_python(const bench_options *options, report *r) {
    bench_daemon daemon;
    daemon_start(options->daemon, &daemon);
    table *t = table_create("Microseconds of one call through the Python client, UR5, median", "python",
                            "C: the function of the C client with prepared arguments. Calls of both in turn, over ipc; "
                            "InverseDynamics into an array of the caller.",
                            columns, COLUMNS);
    for (size_t i = 0; i < sizeof timed_calls / sizeof timed_calls[0]; i++) {
        add_row(t, daemon.ipc, &timed_calls[i], options->round_trips);
    }
    report_add(r, t);
    daemon_stop(&daemon);
}

#else

void bench_python(const bench_options *options, report *r) {
    (void)options, (void)r;
    printf("The Python client was not built: its calls are not measured.\n");
}

#endif
