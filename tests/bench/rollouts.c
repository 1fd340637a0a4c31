/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures rollouts: steps of one sample per second and core, by this library for 1, 64 and 1024 samples at once with
 * the kernels and with compiled algorithms, and by MuJoCo for the same robot without contacts.
 */
#include <dynamics/rollout.h>
#include <stdbool.h>
#include <string.h>

#include "child.h"
#include "model_compiler.h"
#include "sections.h"
#ifdef PEER_MUJOCO
#include "mujoco_motion.h"
#endif

enum { STEPS = 25, BATCHES = 3 };

/* Subjects of the table: the kernels with each batch size, compiled algorithms with each batch size, and MuJoCo. */
enum { COMPILED_SUBJECTS = BATCHES, MUJOCO_SUBJECT = 2 * BATCHES, SUBJECTS };

static const size_t batch_sizes[BATCHES] = {1, 64, 1024};
static const double step_length = 1e-3;

/* Simulator and state of one contestant. */
typedef struct task {
    const workload *load;
    dyn_simulator *simulator; /* NULL: MuJoCo */
    void *mujoco;
    size_t samples;
} task;

static void move_ours(void *context, size_t call) {
    const task *t = context;
    (void)call;
    dyn_error error;
    const dyn_rollout rollout =
        DYN_ROLLOUT_INIT(.steps = STEPS, .q = t->load->q, .v = t->load->v, .tau = {t->load->tau, t->load->nv, 0});
    if (dyn_rollout_run(t->simulator, t->samples, &rollout,
                        &(dyn_rollout_output)DYN_ROLLOUT_OUTPUT_INIT(.q = t->load->out), &error) != DYN_OK) {
        die("rollout: %s", error.message);
    }
}

#ifdef PEER_MUJOCO
static void move_mujoco(void *context, size_t call) {
    const task *t = context;
    size_t s = call % SINGLE_STATES;
    mujoco_motion_set(t->mujoco, t->load->q + s * t->load->nq, t->load->v + s * t->load->nv);
    mujoco_motion_step(t->mujoco, STEPS);
}
#endif

static const table_column columns[] = {
    {"robot", "robot", TABLE_TEXT},
    {"integrator", "integrator", TABLE_TEXT},
    {"one", "steps_per_s_1", 0},
    {"of 64", "steps_per_s_64", 0},
    {"of 1024", "steps_per_s_1024", 0},
    {"compiled, one", "compiled_steps_per_s_1", 0},
    {"of 64", "compiled_steps_per_s_64", 0},
    {"of 1024", "compiled_steps_per_s_1024", 0},
    {"MuJoCo", "steps_per_s_mujoco", 0},
    {"64 / MuJoCo", "over_mujoco_64", 1},
    {"1024 / MuJoCo", "over_mujoco_1024", 1},
    {"compiled 1024 / MuJoCo", "compiled_over_mujoco_1024", 1},
};

static dyn_simulator *create_simulator(const dyn_model *model, dyn_integrator integrator,
                                       const dyn_compiled *compiled) {
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    dyn_error error;
    dyn_simulator *simulator = NULL;
    o.integrator = integrator, o.step_length = step_length;
    o.ignore_damping = o.ignore_friction = o.ignore_effort_limits = true;
    o.stop = DYN_JOINT_STOP_NONE;
    if (dyn_simulator_create(model, &o, &simulator, &error) != DYN_OK ||
        dyn_simulator_use_compiled(simulator, compiled, &error) != DYN_OK) {
        die("simulator: %s", error.message);
    }
    return simulator;
}

/* Measures one robot with one integrator, and adds a row to the table. */
static void measure_rollouts(const bench_options *options, const bench_robot *robot, dyn_integrator integrator,
                             table *t) {
    contest all;
    double seconds;
    contest_open(&all, robot, false);
    dyn_compiled *compiled = compiled_algorithms(all.load.model, &seconds);
    dyn_simulator *plain = create_simulator(all.load.model, integrator, NULL);
    dyn_simulator *fast = create_simulator(all.load.model, integrator, compiled);
    task tasks[SUBJECTS];
    subject subjects[SUBJECTS];
    memset(subjects, 0, sizeof subjects);
    for (int i = 0; i < MUJOCO_SUBJECT; i++) {
        bool is_fast = i >= COMPILED_SUBJECTS, is_there = !is_fast || dyn_simulator_is_compiled(fast);
        size_t samples = batch_sizes[i % BATCHES];
        tasks[i] = (task){.load = &all.load, .simulator = is_fast ? fast : plain, .samples = samples};
        subjects[i] = (subject){.run = move_ours, .context = is_there ? &tasks[i] : NULL, .states = samples * STEPS};
    }
#ifdef PEER_MUJOCO
    mujoco_motion *motion =
        mujoco_motion_create(all.load.model, integrator == DYN_INTEGRATOR_RUNGE_KUTTA_4, step_length);
    tasks[MUJOCO_SUBJECT] = (task){.load = &all.load, .mujoco = motion};
    subjects[MUJOCO_SUBJECT] =
        (subject){.run = move_mujoco, .context = motion ? &tasks[MUJOCO_SUBJECT] : NULL, .states = STEPS};
#endif
    int rounds = options->effort.rounds;
    measure(subjects, SUBJECTS, &options->effort, CLOCK_THREAD_CPUTIME_ID);
    const table_cell cells[] = {
        {.text = robot->title},
        {.text = integrator == DYN_INTEGRATOR_RUNGE_KUTTA_4 ? "Runge-Kutta 4" : "semi-implicit Euler"},
        {.number = 1e9 / measured_time(&subjects[0], rounds)},
        {.number = 1e9 / measured_time(&subjects[1], rounds)},
        {.number = 1e9 / measured_time(&subjects[2], rounds)},
        {.number = 1e9 / measured_time(&subjects[COMPILED_SUBJECTS], rounds)},
        {.number = 1e9 / measured_time(&subjects[COMPILED_SUBJECTS + 1], rounds)},
        {.number = 1e9 / measured_time(&subjects[COMPILED_SUBJECTS + 2], rounds)},
        {.number = 1e9 / measured_time(&subjects[MUJOCO_SUBJECT], rounds)},
        {.number = measured_ratio(&subjects[MUJOCO_SUBJECT], &subjects[1], rounds)},
        {.number = measured_ratio(&subjects[MUJOCO_SUBJECT], &subjects[2], rounds)},
        {.number = measured_ratio(&subjects[MUJOCO_SUBJECT], &subjects[COMPILED_SUBJECTS + 2], rounds)},
    };
    table_add(t, cells);
#ifdef PEER_MUJOCO
    mujoco_motion_free(motion);
#endif
    dyn_simulator_free(plain);
    dyn_simulator_free(fast);
    dyn_compiled_free(compiled);
    contest_close(&all);
}

void bench_rollouts(const bench_options *options, report *r) {
    static const char note[] =
        "Steps of one sample per second of processor time, 25 steps of 1 ms from random states; no contacts, limits, "
        "damping\nor friction. One core. Nothing in the columns of compiled steps: forward dynamics have more "
        "than 12000 operations.\n";
    table *t =
        table_create("Rollouts: steps per second", "rollouts", note, columns, sizeof columns / sizeof columns[0]);
    for (const bench_robot *robot = bench_robots; robot->title; robot++) {
        if (robot->bodies == 0 && is_robot_selected(options, robot)) {
            measure_rollouts(options, robot, DYN_INTEGRATOR_SEMI_IMPLICIT_EULER, t);
            measure_rollouts(options, robot, DYN_INTEGRATOR_RUNGE_KUTTA_4, t);
        }
    }
    report_add(r, t);
}
