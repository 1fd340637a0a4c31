/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the dynamics of a task in operational space, whose outputs one call computes together, and the search for
 * base parameters. Both have tables of their own, because their inputs are more than a state. No packaged library
 * computes them.
 */
#include <dynamics/base_parameters.h>
#include <dynamics/operational_space.h>
#include <dynamics/regressor.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "sections.h"

enum { ROWS = 3, BATCHES = 2, REQUESTED = 4 };

static const size_t batch_sizes[BATCHES] = {1, 64};

/* Names of the sets of outputs that are requested. Each set includes the sets before it. */
static const char *const requested_names[REQUESTED] = {"J M^-1 J'", "Lambda", "mu, p", "Jbar, N"};

/* Task that is the position of a robot's last link, with memory for the outputs. */
typedef struct task_load {
    const workload *load;
    dyn_task task;
    double *inverse_inertia, *inertia, *bias, *gravity_force, *inverse, *projector;
} task_load;

/* Arguments of compute_task: the task, the index of the requested outputs in requested_names, and the number of
 * states. */
typedef struct task_call {
    const task_load *on;
    int requested;
    size_t states;
} task_call;

static double *numbers(size_t count) {
    double *made = calloc(count ? count : 1, sizeof *made);
    if (!made) {
        die("out of memory");
    }
    return made;
}

static void compute_task(void *context, size_t call) {
    const task_call *c = context;
    const task_load *t = c->on;
    const workload *w = t->load;
    size_t first = call * c->states % (SINGLE_STATES - c->states + 1);
    dyn_error error;
    dyn_status status =
        dyn_operational_space(w->model, w->workspace, c->states, NULL, w->q + first * w->nq, w->v + first * w->nv,
                              &t->task, t->inverse_inertia, c->requested > 0 ? t->inertia : NULL,
                              c->requested > 1 ? t->bias : NULL, c->requested > 1 ? t->gravity_force : NULL,
                              c->requested > 2 ? t->inverse : NULL, c->requested > 2 ? t->projector : NULL, &error);
    if (status != DYN_OK) {
        die("operational space of %s: %s", w->name, error.message);
    }
}

static void find_base_parameters(void *context, size_t call) {
    (void)call;
    dyn_base_parameters *grouping;
    dyn_error error;
    if (dyn_base_parameters_create(context, NULL, &grouping, &error) != DYN_OK) {
        die("base parameters: %s", error.message);
    }
    dyn_base_parameters_free(grouping);
}

static void measure_task(const bench_options *options, const bench_robot *robot, const workload *w, table *t) {
    size_t most = batch_sizes[BATCHES - 1], nv = w->nv;
    const dyn_task_frame frame = {w->link, DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, DYN_TASK_LINEAR};
    task_load on = {.load = w,
                    .task = {1, &frame},
                    .inverse_inertia = numbers(most * ROWS * ROWS),
                    .inertia = numbers(most * ROWS * ROWS),
                    .bias = numbers(most * ROWS),
                    .gravity_force = numbers(most * ROWS),
                    .inverse = numbers(most * nv * ROWS),
                    .projector = numbers(most * nv * nv)};
    task_call calls[REQUESTED][BATCHES];
    subject subjects[REQUESTED * BATCHES];
    memset(subjects, 0, sizeof subjects);
    for (int i = 0; i < REQUESTED * BATCHES; i++) {
        task_call *c = &calls[i / BATCHES][i % BATCHES];
        *c = (task_call){&on, i / BATCHES, batch_sizes[i % BATCHES]};
        subjects[i] = (subject){.run = compute_task, .context = c, .states = c->states};
    }
    measure(subjects, REQUESTED * BATCHES, &options->effort, CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < REQUESTED; i++) {
        const table_cell cells[] = {
            {.text = robot->title},
            {.text = requested_names[i]},
            {.number = measured_time(&subjects[i * BATCHES], options->effort.rounds)},
            {.number = measured_time(&subjects[i * BATCHES + 1], options->effort.rounds)},
        };
        table_add(t, cells);
    }
    free(on.inverse_inertia), free(on.inertia), free(on.bias), free(on.gravity_force), free(on.inverse);
    free(on.projector);
}

static void measure_base_parameters(const bench_options *options, const bench_robot *robot, dyn_model *model,
                                    table *t) {
    dyn_base_parameters *grouping;
    dyn_error error;
    if (dyn_base_parameters_create(model, NULL, &grouping, &error) != DYN_OK) {
        die("base parameters: %s", error.message);
    }
    int count = dyn_base_parameters_count(grouping);
    dyn_base_parameters_free(grouping);
    subject search = {.run = find_base_parameters, .context = model, .states = 1};
    measure(&search, 1, &options->effort, CLOCK_THREAD_CPUTIME_ID);
    const table_cell cells[] = {
        {.text = robot->title},
        {.number = dyn_model_parameter_count(model)},
        {.number = count},
        {.number = measured_time(&search, options->effort.rounds) / 1e6},
    };
    table_add(t, cells);
}

void bench_tasks(const bench_options *options, report *r) {
    static const table_column task_columns[] = {{"robot", "robot", TABLE_TEXT},
                                                {"and so far", "outputs", TABLE_TEXT},
                                                {"one", "ns_batch_1", 0},
                                                {"of 64", "ns_batch_64", 0}};
    static const table_column base_columns[] = {{"robot", "robot", TABLE_TEXT},
                                                {"parameters", "parameters", 0},
                                                {"base", "base_parameters", 0},
                                                {"ms", "ms", 3}};
    table *tasks =
        table_create("Operational space: nanoseconds per state", "tasks",
                     "The position of the last link as a task of 3 rows; each row of the table computes what "
                     "stands above it, too.\n",
                     task_columns, 4);
    table *bases = table_create("Base parameters: milliseconds to find them", "base_parameters", NULL, base_columns, 4);
    for (const bench_robot *robot = bench_robots; robot->title; robot++) {
        if (robot->bodies == 0 && is_robot_selected(options, robot)) {
            contest all;
            contest_open(&all, robot, false);
            measure_task(options, robot, &all.load, tasks);
            measure_base_parameters(options, robot, all.load.model, bases);
            contest_close(&all);
        }
    }
    report_add(r, tasks);
    report_add(r, bases);
}
