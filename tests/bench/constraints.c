/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures forward dynamics with constraints.
 *
 * The first table has the methods on chains of n revolute joints with m rows: points on planes have one row, welds to
 * the world six, and gears between neighbours, which are local loops, one for each pair of joints. The second one has
 * robots with 6-D contacts of their feet or hands, beside their inverse dynamics and the peers that have constraints.
 */
#include <dynamics/constrained_dynamics.h>
#include <dynamics/description.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "child.h"
#include "robots.h"
#include "sections.h"

enum { METHODS = 5, BATCHES = 2, MOST_CONTACTS = 2, NAME_SIZE = 32 };

static const size_t batch_sizes[BATCHES] = {1, 64};

static const char *const method_names[METHODS] = {"full system", "multipliers", "elimination", "articulated bodies",
                                                  "embedding"};

static const dyn_pose identity = {{0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};

/* Accelerations of the states of a workload by one method. */
typedef struct constrained_task {
    workload *load;
    dyn_constraint_method method;
    size_t states;
} constrained_task;

static void accelerate(void *context, size_t call) {
    const constrained_task *t = context;
    const workload *w = t->load;
    const dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.method = t->method);
    size_t first = call * t->states % (SINGLE_STATES - t->states + 1);
    dyn_error error;
    if (dyn_constrained_forward_dynamics(w->model, w->workspace, t->states, NULL, w->q + first * w->nq,
                                         w->v + first * w->nv, w->tau + first * w->nv, NULL, &options, w->out, NULL,
                                         NULL, &error) != DYN_OK) {
        die("%s: %s", w->name, error.message);
    }
}

/* ---- Chains ------------------------------------------------------------------------------------------------------ */

/* Builds a chain of n joints, each second of which a gear couples to the next one. */
static dyn_model *build_geared_chain(int n) {
    dyn_builder *builder = chain_create(n);
    dyn_model *model;
    dyn_error error;
    for (int k = 0; k + 1 < n; k += 2) {
        char name[NAME_SIZE], first[NAME_SIZE], second[NAME_SIZE];
        snprintf(name, sizeof name, "g%d", k);
        snprintf(first, sizeof first, "l%d", k + 1);
        snprintf(second, sizeof second, "l%d", k + 2);
        const dyn_constraint_description gear = {
            .name = name, .kind = DYN_CONSTRAINT_KIND_COUPLING, .coupled = {{first, 2}, {second, -3}}};
        chain_require(dyn_builder_add_constraint(builder, &gear, &error), &error);
    }
    chain_require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Builds a chain of n joints with `welds` welds between links and the world; without any, a point stays on a plane. */
static dyn_model *build_chain(int n, int welds) {
    dyn_builder *builder = chain_create(n);
    dyn_model *model;
    dyn_error error;
    for (int k = 0; k < (welds ? welds : 1); k++) {
        char name[NAME_SIZE], link[NAME_SIZE];
        snprintf(name, sizeof name, "c%d", k);
        snprintf(link, sizeof link, "l%d", n - k * n / (welds ? welds : 1));
        const dyn_constraint_description constraint = {.name = name,
                                                       .kind = welds ? DYN_CONSTRAINT_KIND_LOOP_JOINT
                                                                     : DYN_CONSTRAINT_KIND_POINT_ON_PLANE,
                                                       .type = DYN_JOINT_TYPE_FIXED,
                                                       .axis = {0, 0, 1},
                                                       .predecessor = {NULL, identity},
                                                       .successor = {link, identity}};
        chain_require(dyn_builder_add_constraint(builder, &constraint, &error), &error);
    }
    chain_require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Adds a row for each batch size to the table. The chain is at rest, so that welds agree with each other. Takes
 * ownership of the model. */
static void measure_chain(const bench_options *options, const char *name, dyn_model *model, table *t) {
    workload load;
    constrained_task tasks[METHODS * BATCHES];
    subject subjects[METHODS * BATCHES];
    workload_open(&load, name, model);
    memset(load.v, 0, load.states * load.nv * sizeof *load.v);
    memset(subjects, 0, sizeof subjects);
    for (int i = 0; i < METHODS * BATCHES; i++) {
        tasks[i] = (constrained_task){&load, (dyn_constraint_method)(i % METHODS + 1), batch_sizes[i / METHODS]};
        subjects[i] = (subject){.run = accelerate, .context = &tasks[i], .states = tasks[i].states};
    }
    measure(subjects, METHODS * BATCHES, &options->effort, CLOCK_THREAD_CPUTIME_ID);
    for (int b = 0; b < BATCHES; b++) {
        table_cell cells[METHODS + 5] = {{.text = name},
                                         {.number = (double)load.nv},
                                         {.number = dyn_model_constraint_rows(load.model)},
                                         {.number = (double)batch_sizes[b]}};
        double least = INFINITY;
        for (int k = 0; k < METHODS; k++) {
            double time = measured_time(&subjects[b * METHODS + k], options->effort.rounds) / 1e3;
            cells[4 + k].number = time;
            cells[4 + METHODS].text = time < least ? method_names[k] : cells[4 + METHODS].text;
            least = fmin(time, least);
        }
        table_add(t, cells);
    }
    workload_close(&load);
}

static void measure_chains(const bench_options *options, report *r) {
    static const table_column columns[METHODS + 5] = {
        {"chain", "chain", TABLE_TEXT},
        {"n", "n", 0},
        {"m", "m", 0},
        {"batch", "batch", 0},
        {"full system", "full_system", 2},
        {"multipliers", "multipliers", 2},
        {"elimination", "elimination", 2},
        {"articulated", "articulated_bodies", 2},
        {"embedding", "embedding", 2},
        {"fastest", "fastest", TABLE_TEXT},
    };
    static const int joints[] = {4, 7, 18, 36, 72}, welds[] = {0, 1, 2, 4};
    table *t = table_create("Methods of constraints: microseconds per sample", "constraint_methods",
                            "Forward dynamics without residual, rank and condition, of one sample and in batches of "
                            "64.\n",
                            columns, METHODS + 5);
    const size_t count = options->robot ? 1 : sizeof joints / sizeof *joints;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof welds / sizeof *welds; k++) {
            measure_chain(options, welds[k] ? "welds" : "plane", build_chain(joints[i], welds[k]), t);
        }
        measure_chain(options, "gears", build_geared_chain(joints[i]), t);
    }
    report_add(r, t);
}

/* ---- Robots ------------------------------------------------------------------------------------------------------ */

/* Robot of the benchmark with links that stay where they are. */
typedef struct held_robot {
    const char *title;
    const char *links[MOST_CONTACTS]; /* `count` of them; NULL: the last one */
    int count;
    dyn_base base;
} held_robot;

static const held_robot held_robots[] = {
    {"arm 7", {NULL}, 1, DYN_BASE_FIXED},
    {"quadruped 18", {"FL_FOOT"}, 1, DYN_BASE_FLOATING},
    {"quadruped 18", {"FL_FOOT", "HR_FOOT"}, 2, DYN_BASE_FLOATING},
    {"humanoid 38", {"link10"}, 1, DYN_BASE_FLOATING},
    {"humanoid 38", {"link10", "link24"}, 2, DYN_BASE_FLOATING},
};

/* Builds the robot with a weld of each link to the world. */
static dyn_model *hold(const dyn_model *tree, const char *last, const held_robot *robot) {
    dyn_builder *builder;
    dyn_model *model;
    dyn_error error;
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = robot->base);
    chain_require(dyn_model_describe(tree, &builder, &error), &error);
    for (int i = 0; i < robot->count; i++) {
        const char *link = robot->links[i] ? robot->links[i] : last;
        const dyn_constraint_description contact = {.name = link,
                                                    .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
                                                    .type = DYN_JOINT_TYPE_FIXED,
                                                    .predecessor = {NULL, identity},
                                                    .successor = {link, identity}};
        chain_require(dyn_builder_add_constraint(builder, &contact, &error), &error);
    }
    chain_require(dyn_builder_build(builder, &options, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Inverse dynamics of the tree, or forward dynamics of the constrained robot by a peer. */
typedef struct held_task {
    workload *load;
    const peer_library *library; /* NULL: inverse dynamics by this library */
    peer *robot;
    size_t states;
} held_task;

static void compute(void *context, size_t call) {
    const held_task *t = context;
    if (t->library) {
        compute_peer(t->load, t->library, t->robot, ALGORITHM_ABA, call % SINGLE_STATES);
    } else {
        compute_ours(t->load, ALGORITHM_RNEA, call * t->states % (SINGLE_STATES - t->states + 1), t->states);
    }
}

enum { RNEA_SUBJECT = BATCHES, MUJOCO_SUBJECT = 2 * BATCHES, SIMBODY_SUBJECT, SUBJECTS };

/* Adds a row to the table: the method that AUTO chooses. */
static void measure_robot(const bench_options *options, workload *load, const held_robot *robot, table *t) {
    static const char *const keys[] = {"mujoco", "simbody"};
    constrained_task own[BATCHES];
    held_task others[SUBJECTS];
    subject subjects[SUBJECTS];
    char reason[PEER_REASON_SIZE];
    const int rounds = options->effort.rounds;
    memset(subjects, 0, sizeof subjects);
    for (int b = 0; b < BATCHES; b++) {
        own[b] = (constrained_task){load, DYN_CONSTRAINT_METHOD_AUTO, batch_sizes[b]};
        others[RNEA_SUBJECT + b] = (held_task){.load = load, .states = batch_sizes[b]};
        subjects[b] = (subject){.run = accelerate, .context = &own[b], .states = batch_sizes[b]};
        subjects[RNEA_SUBJECT + b] =
            (subject){.run = compute, .context = &others[RNEA_SUBJECT + b], .states = batch_sizes[b]};
    }
    for (int i = MUJOCO_SUBJECT; i < SUBJECTS; i++) {
        const peer_library *library = peer_find(keys[i - MUJOCO_SUBJECT]);
        peer *created = library ? library->create(load->model, false, reason) : NULL;
        others[i] = (held_task){load, library, created, 1};
        subjects[i] = (subject){.run = compute, .context = created ? &others[i] : NULL, .states = 1};
    }
    measure(subjects, SUBJECTS, &options->effort, CLOCK_THREAD_CPUTIME_ID);
    const table_cell cells[] = {
        {.text = robot->title},
        {.number = dyn_model_constraint_rows(load->model)},
        {.number = measured_time(&subjects[0], rounds) / 1e3},
        {.number = measured_time(&subjects[1], rounds) / 1e3},
        {.number = measured_ratio(&subjects[0], &subjects[RNEA_SUBJECT], rounds)},
        {.number = measured_ratio(&subjects[1], &subjects[RNEA_SUBJECT + 1], rounds)},
        {.number = measured_time(&subjects[MUJOCO_SUBJECT], rounds) / 1e3},
        {.number = measured_ratio(&subjects[MUJOCO_SUBJECT], &subjects[0], rounds)},
        {.number = measured_time(&subjects[SIMBODY_SUBJECT], rounds) / 1e3},
        {.number = measured_ratio(&subjects[SIMBODY_SUBJECT], &subjects[0], rounds)},
    };
    table_add(t, cells);
    for (int i = MUJOCO_SUBJECT; i < SUBJECTS; i++) {
        if (others[i].robot) {
            others[i].library->destroy(others[i].robot);
        }
    }
}

void bench_constraints(const bench_options *options, report *r) {
    static const table_column columns[] = {
        {"robot", "robot", TABLE_TEXT},
        {"rows", "rows", 0},
        {"one", "us_1", 2},
        {"of 64", "us_64", 2},
        {"one / RNEA", "over_rnea_1", 1},
        {"64 / RNEA", "over_rnea_64", 1},
        {"MuJoCo", "us_mujoco", 2},
        {"MuJoCo / one", "mujoco_over_1", 1},
        {"Simbody", "us_simbody", 2},
        {"Simbody / one", "simbody_over_1", 1},
    };
    table *t = table_create("6-D contacts: microseconds per sample", "constrained_robots",
                            "Forward dynamics with links that stay where they are, by the method that AUTO chooses; "
                            "RNEA is the inverse dynamics\nof the tree, by calls of the same number of samples.\n",
                            columns, sizeof columns / sizeof *columns);
    measure_chains(options, r);
    for (size_t i = 0; i < sizeof held_robots / sizeof *held_robots; i++) {
        const bench_robot *robot = bench_robot_find(held_robots[i].title);
        if (!is_robot_selected(options, robot)) {
            continue;
        }
        contest tree;
        workload held;
        contest_open(&tree, robot, false);
        const char *last = dyn_model_link(tree.load.model, tree.load.link)->name;
        workload_open(&held, robot->title, hold(tree.load.model, last, &held_robots[i]));
        measure_robot(options, &held, &held_robots[i], t);
        workload_close(&held);
        contest_close(&tree);
    }
    report_add(r, t);
}
