/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures rotors beside links: an arm without rotors, the same arm with a rotor on each joint, and the arm with a
 * second arm on its last link. The differences are the costs of a rotor and of a link.
 */
#include <dynamics/description.h>
#include <dynamics/machine_element.h>
#include <dynamics/operations.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "robots.h"
#include "sections.h"
#include "statistics.h"

enum { PLAIN, WITH_ROTORS, WITH_LINKS, VARIANTS, BATCHES = 2, NAME_SIZE = 80 };

static const size_t batch_sizes[BATCHES] = {1, 64};

/* Algorithm on the states of one variant of the arm. */
typedef struct rotor_task {
    workload *load;
    algorithm_id id;
    size_t states;
} rotor_task;

static void require(dyn_status status, const dyn_error *error) {
    if (status != DYN_OK) {
        die("%s: %s", error->place, error->message);
    }
}

/* Returns the arm with a rotor of exact coupling on each joint. */
static dyn_model *with_rotors(const dyn_model *arm) {
    dyn_builder *builder = NULL;
    dyn_model *model = NULL;
    dyn_error error;
    require(dyn_model_describe(arm, &builder, &error), &error);
    for (int j = 0; j < dyn_model_joint_count(arm); j++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "rotor %d", j);
        const dyn_machine_element_description rotor = {.name = name,
                                                       .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR,
                                                       .joint = dyn_model_joint(arm, j)->name,
                                                       .rotor = {.ratio = 100, .axial_inertia = 1e-5}};
        require(dyn_builder_add_machine_element(builder, &rotor, &error), &error);
    }
    require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Returns the arm with a second one on the link of its last joint. */
static dyn_model *with_links(const dyn_model *arm) {
    const char *last = dyn_model_link(arm, dyn_model_joint(arm, dyn_model_joint_count(arm) - 1)->child_link)->name;
    dyn_model *model = NULL;
    dyn_error error;
    require(dyn_model_merge(arm, last, NULL, arm, "second ", &model, &error), &error);
    return model;
}

static void compute(void *context, size_t call) {
    const rotor_task *t = context;
    compute_ours(t->load, t->id, call * t->states % LARGEST_BATCH, t->states);
}

/* Returns the median over the rounds of (with - plain) / count. */
static double cost_of_one(const subject *with, const subject *plain, int count, int rounds) {
    double costs[MEASURE_ROUNDS];
    for (int i = 0; i < rounds; i++) {
        costs[i] = (with->per_state[i] - plain->per_state[i]) / count;
    }
    return median(costs, (size_t)rounds);
}

static void add_row(table *t, const rotor_task *task, const subject subjects[VARIANTS], int joints, int rounds) {
    double rotor = cost_of_one(&subjects[WITH_ROTORS], &subjects[PLAIN], joints, rounds);
    double link = cost_of_one(&subjects[WITH_LINKS], &subjects[PLAIN], joints, rounds);
    const table_cell cells[] = {
        {.text = algorithm_get(task->id)->name},
        {.number = (double)task->states},
        {.number = measured_time(&subjects[PLAIN], rounds)},
        {.number = measured_time(&subjects[WITH_ROTORS], rounds)},
        {.number = measured_time(&subjects[WITH_LINKS], rounds)},
        {.number = rotor},
        {.number = link},
        {.number = rotor / link},
    };
    table_add(t, cells);
}

static void measure_rotors(const bench_options *options, workload loads[VARIANTS], int joints, table *t) {
    static const algorithm_id measured[] = {ALGORITHM_RNEA,
                                            ALGORITHM_CRBA,
                                            ALGORITHM_ABA,
                                            ALGORITHM_GRAVITY,
                                            ALGORITHM_CORIOLIS_MATRIX,
                                            ALGORITHM_KINETIC_ENERGY,
                                            ALGORITHM_CENTROIDAL_MOMENTUM,
                                            ALGORITHM_TWIST,
                                            ALGORITHM_RNEA_DIRECTIONAL,
                                            ALGORITHM_RNEA_DERIVATIVES,
                                            ALGORITHM_ABA_DERIVATIVES};
    for (size_t k = 0; k < (sizeof measured / sizeof *measured) * BATCHES; k++) {
        rotor_task tasks[VARIANTS];
        subject subjects[VARIANTS];
        memset(subjects, 0, sizeof subjects);
        for (int i = 0; i < VARIANTS; i++) {
            tasks[i] = (rotor_task){&loads[i], measured[k / BATCHES], batch_sizes[k % BATCHES]};
            subjects[i] = (subject){.run = compute, .context = &tasks[i], .states = tasks[i].states};
        }
        measure(subjects, VARIANTS, &options->effort, CLOCK_THREAD_CPUTIME_ID);
        add_row(t, &tasks[PLAIN], subjects, joints, options->effort.rounds);
    }
}

void bench_rotors(const bench_options *options, report *r) {
    static const table_column columns[] = {
        {"algorithm", "algorithm", TABLE_TEXT},
        {"states a call", "states", 0},
        {"arm 7", "ns_plain", 1},
        {"with 7 rotors", "ns_rotors", 1},
        {"with 7 links", "ns_links", 1},
        {"a rotor", "ns_of_rotor", 2},
        {"a link", "ns_of_link", 2},
        {"rotor / link", "rotor_over_link", 2},
    };
    static const char note[] =
        "The arm alone, with a rotor of exact coupling on each joint, and with a second arm on its last link. A rotor "
        "and\na link cost the difference to the arm alone over 7, the median of interleaved rounds.\n";
    dyn_model *arm = robot_load("panda", DYN_BASE_FIXED);
    int joints = dyn_model_joint_count(arm);
    dyn_model *geared = with_rotors(arm), *longer = with_links(arm);
    workload loads[VARIANTS];
    workload_open(&loads[PLAIN], "arm", arm);
    workload_open(&loads[WITH_ROTORS], "arm with rotors", geared);
    workload_open(&loads[WITH_LINKS], "arm with links", longer);
    table *t = table_create("Rotors: nanoseconds per state", "rotors", note, columns, sizeof columns / sizeof *columns);
    measure_rotors(options, loads, joints, t);
    report_add(r, t);
    for (int i = 0; i < VARIANTS; i++) {
        workload_close(&loads[i]);
    }
}
