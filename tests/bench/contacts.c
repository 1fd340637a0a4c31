/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures rollouts with contacts: steps of a standing quadruped per second and core, by this library for 1, 64 and
 * 1024 samples at once, and by MuJoCo for the same robot on the same plane.
 */
#include <dynamics/rollout.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "robots.h"
#include "sections.h"
#include "support/random.h"
#ifdef PEER_MUJOCO
#include "mujoco_motion.h"
#endif

enum { STEPS = 25, BATCHES = 3, MUJOCO_SUBJECT = BATCHES, SUBJECTS, NQ = 19, NV = 18, STATES = 1024 };

static const size_t batch_sizes[BATCHES] = {1, 64, STATES};
static const double step_length = 1e-3, friction = 0.8;

/* Quadruped that stands, with small random velocities in each state, on constant forces of its joints. */
typedef struct standing {
    dyn_model *model;
    double q[STATES * NQ], v[STATES * NV], tau[NV], out[STATES * NQ];
} standing;

/* Simulator of one contestant. */
typedef struct task {
    standing *load;
    dyn_simulator *simulator; /* NULL: MuJoCo */
    void *mujoco;
    size_t samples;
} task;

static dyn_simulator *create_simulator(const dyn_model *model, const double *gains) {
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *simulator = NULL;
    dyn_error error;
    o.step_length = step_length;
    o.ignore_damping = o.ignore_friction = o.ignore_effort_limits = true;
    o.stop = DYN_JOINT_STOP_NONE;
    o.control = gains ? DYN_CONTROL_PD : DYN_CONTROL_NONE;
    o.control_stiffness = gains, o.control_damping = gains ? gains + NV : NULL;
    if (dyn_simulator_create(model, &o, &simulator, &error) != DYN_OK) {
        die("simulator: %s", error.message);
    }
    return simulator;
}

static void roll(dyn_simulator *simulator, size_t samples, const dyn_rollout *rollout, const dyn_rollout_output *out) {
    dyn_error error;
    if (dyn_rollout_run(simulator, samples, rollout, out, &error) != DYN_OK) {
        die("rollout: %s", error.message);
    }
}

/* Lets the quadruped settle on a controller for two seconds, and keeps its state and forces. */
static void settle(standing *s) {
    double gains[2 * NV], pose[NQ], q[NQ], v[NV];
    for (int i = 0; i < NV; i++) {
        gains[i] = i < 6 ? 0 : 20, gains[NV + i] = i < 6 ? 0 : 0.5;
    }
    robot_walker_stands(pose);
    dyn_simulator *simulator = create_simulator(s->model, gains);
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 2000, .q = pose, .q_ref = {pose, NQ, 0});
    roll(simulator, 1, &rollout, &(dyn_rollout_output)DYN_ROLLOUT_OUTPUT_INIT(.q = q, .v = v, .tau = s->tau));
    dyn_simulator_free(simulator);
    random_source random = random_seed("contacts", 16);
    for (int i = 0; i < STATES; i++) {
        memcpy(s->q + i * NQ, q, sizeof q);
        for (int k = 0; k < NV; k++) {
            s->v[i * NV + k] = v[k] + random_uniform(&random, -0.02, 0.02);
        }
    }
}

static void move_ours(void *context, size_t call) {
    const task *t = context;
    size_t s = t->samples < STATES ? call * t->samples % STATES : 0;
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = STEPS, .q = t->load->q + s * NQ, .v = t->load->v + s * NV,
                                                 .tau = {t->load->tau, 0, 0});
    roll(t->simulator, t->samples, &rollout, &(dyn_rollout_output)DYN_ROLLOUT_OUTPUT_INIT(.q = t->load->out));
}

#ifdef PEER_MUJOCO
static void move_mujoco(void *context, size_t call) {
    const task *t = context;
    size_t s = call % STATES;
    mujoco_motion_set(t->mujoco, t->load->q + s * NQ, t->load->v + s * NV);
    mujoco_motion_push(t->mujoco, t->load->tau);
    mujoco_motion_step(t->mujoco, STEPS);
}
#endif

static const table_column columns[] = {
    {"robot", "robot", TABLE_TEXT},       {"one", "steps_per_s_1", 0},
    {"of 64", "steps_per_s_64", 0},       {"of 1024", "steps_per_s_1024", 0},
    {"MuJoCo", "steps_per_s_mujoco", 0},  {"one / MuJoCo", "over_mujoco_1", 1},
    {"64 / MuJoCo", "over_mujoco_64", 1}, {"1024 / MuJoCo", "over_mujoco_1024", 1},
};

static void measure_standing(const bench_options *options, standing *load, table *t) {
    task tasks[SUBJECTS];
    subject subjects[SUBJECTS];
    memset(subjects, 0, sizeof subjects);
    dyn_simulator *simulator = create_simulator(load->model, NULL);
    for (int i = 0; i < BATCHES; i++) {
        tasks[i] = (task){.load = load, .simulator = simulator, .samples = batch_sizes[i]};
        subjects[i] = (subject){.run = move_ours, .context = &tasks[i], .states = batch_sizes[i] * STEPS};
    }
#ifdef PEER_MUJOCO
    mujoco_motion *motion = mujoco_motion_create(load->model, false, step_length);
    tasks[MUJOCO_SUBJECT] = (task){.load = load, .mujoco = motion};
    subjects[MUJOCO_SUBJECT] =
        (subject){.run = move_mujoco, .context = motion ? &tasks[MUJOCO_SUBJECT] : NULL, .states = STEPS};
#endif
    int rounds = options->effort.rounds;
    measure(subjects, SUBJECTS, &options->effort, CLOCK_THREAD_CPUTIME_ID);
    const table_cell cells[] = {
        {.text = "quadruped 18, four feet"},
        {.number = 1e9 / measured_time(&subjects[0], rounds)},
        {.number = 1e9 / measured_time(&subjects[1], rounds)},
        {.number = 1e9 / measured_time(&subjects[2], rounds)},
        {.number = 1e9 / measured_time(&subjects[MUJOCO_SUBJECT], rounds)},
        {.number = measured_ratio(&subjects[MUJOCO_SUBJECT], &subjects[0], rounds)},
        {.number = measured_ratio(&subjects[MUJOCO_SUBJECT], &subjects[1], rounds)},
        {.number = measured_ratio(&subjects[MUJOCO_SUBJECT], &subjects[2], rounds)},
    };
    table_add(t, cells);
#ifdef PEER_MUJOCO
    mujoco_motion_free(motion);
#endif
    dyn_simulator_free(simulator);
}

void bench_contacts(const bench_options *options, report *r) {
    static const char note[] =
        "Steps of one sample per second of processor time, 25 steps of 1 ms of a quadruped that stands with friction "
        "on four\nspherical feet and moves at up to 0.02 m/s. MuJoCo: pyramidal cones, its solver of Newton. One "
        "core.\n";
    standing *load = calloc(1, sizeof *load);
    if (!load) {
        die("no memory for %zu bytes", sizeof *load);
    }
    load->model = robot_walker(friction);
    settle(load);
    table *t = table_create("Contacts: steps per second", "contacts", note, columns, sizeof columns / sizeof *columns);
    measure_standing(options, load, t);
    report_add(r, t);
    dyn_model_free(load->model);
    free(load);
}
