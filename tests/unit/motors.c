/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motors and gears: identities of power, closed forms of heat and run-up, limits, descriptions and refusals.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/energy.h>
#include <dynamics/geared_dynamics.h>
#include <dynamics/motor.h>
#include <dynamics/simulation.h>

#include "robots.h"
#include "support/algorithms.h"
#include "support/assertions.h"
#include "support/random.h"

enum { JOINTS = 4 };

static const dyn_joint_type types[JOINTS] = {DYN_JOINT_TYPE_REVOLUTE, DYN_JOINT_TYPE_PRISMATIC, DYN_JOINT_TYPE_HELICAL,
                                             DYN_JOINT_TYPE_CONTINUOUS};
static const char *const links[] = {"base", "l0", "l1", "l2", "l3", "follower"};
static const char *const joints[] = {"j0", "j1", "j2", "j3"};
static const dyn_motor plain_motor = {.resistance = 0.5, .inductance = 1e-4, .torque_constant = 0.05};

static void add_element(dyn_builder *builder, const dyn_machine_element_description *element) {
    dyn_error error;
    require(dyn_builder_add_machine_element(builder, element, &error), &error);
}

static void add_motor(dyn_builder *builder, const char *name, const char *joint, const dyn_motor *motor) {
    add_element(builder, &(dyn_machine_element_description){
                             .name = name, .kind = DYN_MACHINE_ELEMENT_KIND_MOTOR, .joint = joint, .motor = *motor});
}

static void add_gear(dyn_builder *builder, const char *name, const char *joint, const dyn_gear *gear) {
    add_element(builder, &(dyn_machine_element_description){
                             .name = name, .kind = DYN_MACHINE_ELEMENT_KIND_GEAR, .joint = joint, .gear = *gear});
}

static void add_rotor(dyn_builder *builder, const char *name, const char *joint, const dyn_rotor *rotor) {
    add_element(builder, &(dyn_machine_element_description){
                             .name = name, .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR, .joint = joint, .rotor = *rotor});
}

/* Builds a branched tree of joints in random places, and a joint that follows j0. */
static dyn_builder *tree(void) {
    static const int parents[JOINTS] = {0, 1, 2, 1};
    random_source random = {17};
    dyn_builder *builder = new_builder();
    for (int i = 0; i <= JOINTS + 1; i++) {
        add_link_with(builder, links[i],
                      &(dyn_inertia){.mass = 1 + 0.2 * i,
                                     .center_of_mass = {0.1, -0.1, 0.05 * i},
                                     .rotational = {0.1, 0.01, 0, 0.12, -0.02, 0.09}});
    }
    for (int j = 0; j <= JOINTS; j++) {
        bool follows = j == JOINTS;
        dyn_joint_description joint =
            joint_between(follows ? "j4" : joints[j], follows ? DYN_JOINT_TYPE_REVOLUTE : types[j],
                          links[follows ? 2 : parents[j]], links[j + 1]);
        random_unit(&random, 3, joint.position);
        random_unit(&random, 3, joint.axis);
        joint.pitch = 0.3;
        joint.mimic_joint = follows ? "j0" : NULL;
        joint.mimic_multiplier = follows ? -0.5 : 0;
        add_joint(builder, &joint);
    }
    return builder;
}

/* Adds rotors with all couplings, motors, gears, friction on both sides of them, and a spring. */
static dyn_model *driven_tree(double efficiency, double back_driving) {
    static const dyn_rotor rotors[JOINTS] = {
        {.ratio = 50, .axial_inertia = 1e-3, .transverse_inertia = 2e-3, .mass = 0.5, .position = {0.1, 0, 0.2}},
        {.ratio = -300, .axial_inertia = 1e-4},
        {.ratio = 20, .axial_inertia = 2e-3, .coupling = DYN_ROTOR_COUPLING_DIAGONAL},
        {.ratio = 1, .axial_inertia = 1e-3, .coupling = DYN_ROTOR_COUPLING_REFLECTED}};
    const dyn_gear gear = {.efficiency = efficiency, .back_driving_efficiency = back_driving};
    static const char *const rotor_names[] = {"r0", "r1", "r2", "r3"}, *const motor_names[] = {"m0", "m1", "m2", "m3"},
                             *const gear_names[] = {"g0", "g1", "g2", "g3"};
    dyn_builder *builder = tree();
    for (int j = 0; j < JOINTS; j++) {
        add_rotor(builder, rotor_names[j], joints[j], &rotors[j]);
        add_motor(builder, motor_names[j], joints[j], &plain_motor);
        add_gear(builder, gear_names[j], joints[j], &gear);
    }
    add_element(builder,
                &(dyn_machine_element_description){
                    .name = "bearing",
                    .kind = DYN_MACHINE_ELEMENT_KIND_FRICTION,
                    .joint = "j0",
                    .friction = {.side = DYN_GEAR_SIDE_ROTOR, .viscous = {1e-3, 1e-3}, .coulomb = {0.01, 0.02}}});
    add_element(builder,
                &(dyn_machine_element_description){.name = "seal",
                                                   .kind = DYN_MACHINE_ELEMENT_KIND_FRICTION,
                                                   .joint = "j2",
                                                   .friction = {.viscous = {0.4, 0.4}, .coulomb = {0.3, 0.3}}});
    add_element(builder, &(dyn_machine_element_description){.name = "coil",
                                                            .kind = DYN_MACHINE_ELEMENT_KIND_SPRING,
                                                            .joint = "j1",
                                                            .spring = {.stiffness = 40, .rest = 0.1}});
    return build_model(builder, NULL, NULL);
}

/* ---- Power ------------------------------------------------------------------------------------------------------- */

static const dyn_passive_parts all_parts = {
    .damping = true, .friction = true, .springs = true, .friction_velocity = 0.05};

/* Load and torque of each motor in one state. */
typedef struct drive_sample {
    double loads[JOINTS], torques[JOINTS];
} drive_sample;

static drive_sample drive_state(const dyn_model *model, dyn_workspace *w, const dyn_drive *drives, const double *q,
                                const double *v, const double *a, double width) {
    dyn_passive_parts parts = all_parts;
    double forces[JOINTS], wrenches[(JOINTS + 1) * 6];
    drive_sample sample;
    dyn_error error;
    require(dyn_rnea(model, w, 1, NULL, q, v, a, NULL, forces, &error), &error);
    require(dyn_joint_wrenches(model, w, 1, NULL, q, v, a, NULL, wrenches, &error), &error);
    parts.friction_velocity = width;
    const dyn_drive_motion motion = {
        .n = 1, .q = q, .v = v, .a = a, .forces = forces, .wrenches = wrenches, .parts = parts};
    require(dyn_drive_torques(model, JOINTS, drives, &motion, sample.loads, sample.torques, &error), &error);
    return sample;
}

/* Returns kinetic, potential and spring energy at time t of the motion q + v t + a t^2 / 2. */
static double energy_at(const dyn_model *model, dyn_workspace *w, double t, const double *q, const double *v,
                        const double *a) {
    double p[JOINTS], u[JOINTS], kinetic, potential, spring;
    dyn_error error;
    for (int k = 0; k < JOINTS; k++) {
        p[k] = q[k] + v[k] * t + a[k] * t * t / 2;
        u[k] = v[k] + a[k] * t;
    }
    require(dyn_energy(model, w, 1, NULL, p, u, &kinetic, &potential, &error), &error);
    dyn_spring_energy(model, 1, p, &spring);
    return kinetic + potential + spring;
}

/* Returns the power that friction takes. */
static double friction_loss(const dyn_model *model, const double *q, const double *v) {
    dyn_passive_parts parts = all_parts;
    double r[JOINTS] = {0}, power = 0;
    dyn_error error;
    parts.springs = false;
    require(dyn_add_passive_forces(model, 1, &parts, 1, q, v, r, &error), &error);
    for (int k = 0; k < JOINTS; k++) {
        power -= r[k] * v[k];
    }
    return power;
}

/* The electrical power is the rate of all energies, the heat, and the losses of gears and friction. */
START_TEST(power_in_is_the_rate_of_energy_and_the_losses) {
    dyn_model *model = driven_tree(0.8, 0.6);
    random_source random = random_seed("power in is the rate of energy and the losses", 21);
    dyn_workspace *w;
    dyn_drive drives[JOINTS];
    dyn_error error;
    require(dyn_workspace_create(model, &w, &error), &error);
    ck_assert_int_eq(dyn_model_drive_count(model), JOINTS);
    require(dyn_model_drives(model, drives, &error), &error);
    for (int i = 0; i < 200; i++) {
        double q[JOINTS], v[JOINTS], a[JOINTS], electrical = 0, heat = 0, gears = 0;
        for (int k = 0; k < JOINTS; k++) {
            q[k] = random_uniform(&random, -1, 1);
            v[k] = random_uniform(&random, -2, 2);
            a[k] = random_uniform(&random, -9, 9);
        }
        drive_sample sample = drive_state(model, w, drives, q, v, a, all_parts.friction_velocity);
        for (int k = 0; k < JOINTS; k++) {
            const dyn_motor_input in = {.load = sample.loads[k],
                                        .speed = drives[k].ratio * v[drives[k].v_index],
                                        .torque = sample.torques[k],
                                        .temperature = 25};
            dyn_motor_state state = dyn_motor_evaluate(&drives[k], &in);
            ck_assert(state.gear_loss >= 0);
            ck_assert_double_eq_tol(state.electrical_power, state.mechanical_power + state.heat,
                                    1e-12 * (fabs(state.mechanical_power) + state.heat));
            electrical += state.electrical_power, heat += state.heat, gears += state.gear_loss;
        }
        const double h = 1e-4;
        double rate = (energy_at(model, w, h, q, v, a) - energy_at(model, w, -h, q, v, a)) / (2 * h);
        double out = rate + heat + gears + friction_loss(model, q, v);
        ck_assert_double_eq_tol(electrical, out, 1e-6 * (fabs(rate) + heat + gears + 1));
    }
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

START_TEST(without_losses_the_torque_is_that_of_inverse_dynamics_over_the_ratio) {
    dyn_model *model = driven_tree(1, 1);
    random_source random = random_seed("without losses the torque is that of inverse dynamics", 22);
    dyn_workspace *w;
    dyn_drive drives[JOINTS];
    dyn_error error;
    require(dyn_workspace_create(model, &w, &error), &error);
    require(dyn_model_drives(model, drives, &error), &error);
    for (int i = 0; i < 50; i++) {
        double q[JOINTS], v[JOINTS], a[JOINTS], tau[JOINTS];
        for (int k = 0; k < JOINTS; k++) {
            q[k] = random_uniform(&random, -1, 1);
            v[k] = random_uniform(&random, -2, 2);
            a[k] = random_uniform(&random, -9, 9);
        }
        drive_sample sample = drive_state(model, w, drives, q, v, a, all_parts.friction_velocity);
        require(dyn_rnea(model, w, 1, NULL, q, v, a, NULL, tau, &error), &error);
        require(dyn_add_passive_forces(model, 1, &all_parts, -1, q, v, tau, &error), &error);
        for (int k = 0; k < JOINTS; k++) {
            double wanted = tau[drives[k].v_index] / drives[k].ratio;
            ck_assert_double_eq_tol(sample.torques[k], wanted, 1e-12 * (1 + fabs(wanted)));
        }
    }
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* The rotors are reflected, so that they do not act on the links that carry them. */
START_TEST(torques_of_other_motors_are_those_of_models_that_have_them) {
    enum { RATIOS = 3 };
    static const double ratios[RATIOS] = {40, -70, 120};
    random_source random = random_seed("torques of other motors are those of models that have them", 23);
    dyn_model *models[RATIOS];
    dyn_drive drives[RATIOS];
    dyn_workspace *w[RATIOS];
    dyn_error error;
    for (int i = 0; i < RATIOS; i++) {
        dyn_builder *builder = tree();
        add_rotor(builder, "r", "j2",
                  &(dyn_rotor){
                      .ratio = ratios[i], .axial_inertia = 1e-3 * (i + 1), .coupling = DYN_ROTOR_COUPLING_REFLECTED});
        add_motor(builder, "m", "j2", &plain_motor);
        add_gear(builder, "g", "j2",
                 &(dyn_gear){.efficiency = 0.7 + 0.1 * i, .back_driving_efficiency = 0.5 - 0.2 * i});
        add_element(builder, &(dyn_machine_element_description){.name = "bearing",
                                                                .kind = DYN_MACHINE_ELEMENT_KIND_FRICTION,
                                                                .joint = "j2",
                                                                .friction = {.side = DYN_GEAR_SIDE_ROTOR,
                                                                             .viscous = {1e-3, 2e-3},
                                                                             .coulomb = {0.01, 0.02},
                                                                             .breakaway = {0.03, 0.03},
                                                                             .stribeck_velocity = 4,
                                                                             .transition_velocity = 0.5}});
        models[i] = build_model(builder, NULL, NULL);
        require(dyn_workspace_create(models[i], &w[i], &error), &error);
        require(dyn_model_drives(models[i], &drives[i], &error), &error);
    }
    for (int k = 0; k < 50; k++) {
        double q[JOINTS], v[JOINTS], a[JOINTS], found[RATIOS];
        for (int j = 0; j < JOINTS; j++) {
            q[j] = random_uniform(&random, -1, 1);
            v[j] = random_uniform(&random, -2, 2);
            a[j] = random_uniform(&random, -9, 9);
        }
        for (int i = 0; i < RATIOS; i++) {
            double forces[JOINTS], wrenches[(JOINTS + 1) * 6], load, torque;
            require(dyn_rnea(models[i], w[i], 1, NULL, q, v, a, NULL, forces, &error), &error);
            require(dyn_joint_wrenches(models[i], w[i], 1, NULL, q, v, a, NULL, wrenches, &error), &error);
            const dyn_drive_motion motion = {
                .n = 1, .q = q, .v = v, .a = a, .forces = forces, .wrenches = wrenches, .parts = all_parts};
            require(dyn_drive_torques(models[i], 1, &drives[i], &motion, &load, &torque, &error), &error);
            if (i == 0) {
                require(dyn_drive_torques_of_others(models[0], drives, RATIOS, drives, &motion, found, &error), &error);
            }
            ck_assert_double_eq_tol(found[i], torque, 1e-10 * (1 + fabs(torque)));
        }
    }
    for (int i = 0; i < RATIOS; i++) {
        dyn_workspace_free(w[i]);
        dyn_model_free(models[i]);
    }
}
END_TEST

/* ---- Simulations ------------------------------------------------------------------------------------------------- */

/* Returns a simulator of explicit steps, in which friction is as in `parts`, and brakes are engaged. */
static dyn_simulator *open_simulator(const dyn_model *model, dyn_integrator integrator, double step, double width,
                                     const char *brake) {
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *simulator;
    dyn_error error;
    options.integrator = integrator;
    options.step_length = step;
    options.friction_velocity = width;
    options.stop = DYN_JOINT_STOP_NONE;
    options.brakes = &brake;
    options.brake_count = brake != NULL;
    require(dyn_simulator_create(model, &options, &simulator, &error), &error);
    return simulator;
}

/* Computes the acceleration of a state by one short step. */
static void accelerate(dyn_simulator *simulator, const double *q, const double *v, const double *tau, double *a) {
    double p[JOINTS], u[JOINTS], dt = dyn_simulator_options(simulator)->step_length;
    const dyn_step_input input = DYN_STEP_INPUT_INIT(.tau = tau);
    dyn_error error;
    memcpy(p, q, sizeof p);
    memcpy(u, v, sizeof u);
    require(dyn_simulator_step(simulator, 1, &input, p, u, NULL, NULL, &error), &error);
    for (int k = 0; k < JOINTS; k++) {
        a[k] = (u[k] - v[k]) / dt;
    }
}

/* The motors of a simulated motion, evaluated with gears that lose power, take the forces that drive the simulation. */
START_TEST(motors_of_a_simulated_motion_take_the_forces_that_drive_it) {
    static const double efficiencies[][2] = {{0.8, 0.6}, {0.9, 0.2}, {0.3, 0.5}, {1, 0.7}};
    random_source random = random_seed("motors of a simulated motion take the forces that drive it", 24);
    for (size_t e = 0; e < sizeof efficiencies / sizeof *efficiencies; e++) {
        dyn_model *model = driven_tree(efficiencies[e][0], efficiencies[e][1]);
        dyn_simulator *simulator = open_simulator(model, DYN_INTEGRATOR_EXPLICIT_EULER, 0x1p-20, 1e-4, NULL);
        dyn_workspace *w;
        dyn_drive drives[JOINTS];
        dyn_error error;
        require(dyn_workspace_create(model, &w, &error), &error);
        require(dyn_model_drives(model, drives, &error), &error);
        for (int i = 0; i < 50; i++) {
            double q[JOINTS], v[JOINTS], tau[JOINTS], a[JOINTS];
            for (int k = 0; k < JOINTS; k++) {
                q[k] = random_uniform(&random, -1, 1);
                v[k] = random_uniform(&random, 0.5, 2) * (random_uniform(&random, -1, 1) < 0 ? -1 : 1);
                tau[k] = random_uniform(&random, -40, 40);
            }
            accelerate(simulator, q, v, tau, a);
            drive_sample sample = drive_state(model, w, drives, q, v, a, 1e-4);
            for (int k = 0; k < JOINTS; k++) {
                ck_assert_double_eq_tol(sample.torques[k] * drives[k].ratio, tau[drives[k].v_index], 2e-4);
            }
        }
        dyn_simulator_free(simulator);
        dyn_workspace_free(w);
        dyn_model_free(model);
    }
}
END_TEST

enum { STATES = 20 };

/* Samples of a model, with the memory of its gears. */
typedef struct gear_samples {
    dyn_geared_states states;
    double q[STATES * JOINTS], v[STATES * JOINTS], tau[STATES * JOINTS];
    double a[STATES * JOINTS], losses[STATES * JOINTS];
} gear_samples;

/* Draws samples whose rates are far above the friction velocity, and computes losses and accelerations under tau. */
static void fill_samples(const dyn_model *model, dyn_workspace *w, random_source *random, double width,
                         gear_samples *s) {
    dyn_error error;
    s->states = (dyn_geared_states){.n = STATES, .q = s->q, .v = s->v, .parts = all_parts};
    s->states.parts.friction_velocity = width;
    s->states.memory = calloc(dyn_geared_memory(model, STATES), sizeof(double));
    ck_assert_ptr_nonnull(s->states.memory);
    for (int k = 0; k < STATES * JOINTS; k++) {
        s->q[k] = random_uniform(random, -1, 1);
        s->v[k] = random_uniform(random, 0.5, 2) * (random_uniform(random, -1, 1) < 0 ? -1 : 1);
        s->tau[k] = random_uniform(random, -40, 40);
    }
    require(dyn_gear_losses_under_forces(model, w, &s->states, s->tau, s->losses, &error), &error);
    memcpy(s->a, s->tau, sizeof s->a);
    require(dyn_add_passive_forces(model, STATES, &s->states.parts, 1, s->q, s->v, s->a, &error), &error);
    for (int k = 0; k < STATES * JOINTS; k++) {
        s->a[k] += s->losses[k];
    }
    require(dyn_aba(model, w, STATES, NULL, s->q, s->v, s->a, NULL, s->a, &error), &error);
}

/* Asserts that inverse dynamics of the samples' accelerations yields tau, with losses that never drive. */
static void expect_round_trip(const dyn_model *model, dyn_workspace *w, const gear_samples *s) {
    double forces[STATES * JOINTS], losses[STATES * JOINTS];
    dyn_error error;
    require(dyn_rnea(model, w, STATES, NULL, s->q, s->v, s->a, NULL, forces, &error), &error);
    require(dyn_add_passive_forces(model, STATES, &s->states.parts, -1, s->q, s->v, forces, &error), &error);
    require(dyn_gear_losses_of_motion(model, w, &s->states, s->a, losses, &error), &error);
    for (int k = 0; k < STATES * JOINTS; k++) {
        double size = fabs(s->tau[k]) + fabs(losses[k]);
        ck_assert_double_eq_tol(forces[k] - losses[k], s->tau[k], 1e-9 * (1 + size));
        ck_assert_double_le(losses[k] * s->v[k], 0);
    }
}

START_TEST(gear_losses_of_forward_dynamics_are_those_of_inverse_dynamics) {
    static const double efficiencies[][2] = {{0.8, 0.6}, {0.9, 0.2}, {0.3, 0.5}, {1, 0.7}, {0.6, 1}, {0.5, 0}};
    random_source random = random_seed("gear losses of forward dynamics are those of inverse dynamics", 26);
    for (size_t e = 0; e < sizeof efficiencies / sizeof *efficiencies; e++) {
        dyn_model *model = driven_tree(efficiencies[e][0], efficiencies[e][1]);
        gear_samples s;
        dyn_workspace *w;
        dyn_error error;
        require(dyn_workspace_create(model, &w, &error), &error);
        fill_samples(model, w, &random, 0.5, &s);
        expect_round_trip(model, w, &s);
        free(s.states.memory);
        dyn_workspace_free(w);
        dyn_model_free(model);
    }
}
END_TEST

/* Simulations find the losses by another method, and motors the torques from sharp efficiencies. */
START_TEST(gear_losses_are_those_of_simulations_and_of_motors) {
    static const double efficiencies[][2] = {{0.8, 0.6}, {0.9, 0.2}, {0.3, 0.5}, {1, 0.7}, {0.6, 1}};
    random_source random = random_seed("gear losses are those of simulations and of motors", 27);
    for (size_t e = 0; e < sizeof efficiencies / sizeof *efficiencies; e++) {
        dyn_model *model = driven_tree(efficiencies[e][0], efficiencies[e][1]);
        dyn_simulator *simulator = open_simulator(model, DYN_INTEGRATOR_EXPLICIT_EULER, 0x1p-20, 1e-7, NULL);
        gear_samples s;
        dyn_drive drives[JOINTS];
        dyn_workspace *w;
        dyn_error error;
        require(dyn_workspace_create(model, &w, &error), &error);
        require(dyn_model_drives(model, drives, &error), &error);
        fill_samples(model, w, &random, 1e-7, &s);
        for (int i = 0; i < STATES; i++) {
            const double *q = s.q + i * JOINTS, *v = s.v + i * JOINTS, *tau = s.tau + i * JOINTS;
            double a[JOINTS];
            accelerate(simulator, q, v, tau, a);
            drive_sample sample = drive_state(model, w, drives, q, v, s.a + i * JOINTS, 1e-7);
            for (int k = 0; k < JOINTS; k++) {
                ck_assert_double_eq_tol(a[k], s.a[i * JOINTS + k], 1e-6 * (1 + fabs(a[k])));
                ck_assert_double_eq_tol(sample.torques[k] * drives[k].ratio, tau[drives[k].v_index], 1e-9);
            }
        }
        free(s.states.memory);
        dyn_simulator_free(simulator);
        dyn_workspace_free(w);
        dyn_model_free(model);
    }
}
END_TEST

/* Returns the power of tau, friction and gears in a state, and asserts that each gear loses power. */
static double power_of(const dyn_model *model, dyn_workspace *w, dyn_simulator *explicit_steps, const double *q,
                       const double *v, const double *tau) {
    double a[JOINTS], forces[JOINTS], r[JOINTS] = {0}, power = -friction_loss(model, q, v);
    dyn_error error;
    accelerate(explicit_steps, q, v, tau, a);
    require(dyn_rnea(model, w, 1, NULL, q, v, a, NULL, forces, &error), &error);
    require(dyn_add_passive_forces(model, 1, &all_parts, 1, q, v, r, &error), &error);
    for (int k = 0; k < JOINTS; k++) {
        double loss = forces[k] - tau[k] - r[k];
        ck_assert_double_le(loss * v[k], 1e-7);
        power += (tau[k] + loss) * v[k];
    }
    return power;
}

/* Along a rollout the rate of all energies is the power of the motors less the losses of friction and gears. */
START_TEST(gears_balance_power_along_motions) {
    dyn_model *model = driven_tree(0.7, 0.5);
    dyn_simulator *steps = open_simulator(model, DYN_INTEGRATOR_RUNGE_KUTTA_4, 2e-4, 0.05, NULL);
    dyn_simulator *short_steps = open_simulator(model, DYN_INTEGRATOR_EXPLICIT_EULER, 0x1p-20, 0.05, NULL);
    double q[JOINTS] = {0.2, 0.1, -0.3, 0.4}, v[JOINTS] = {0}, tau[JOINTS] = {9, 40, -6, 3}, work = 0, exchanged = 0;
    static const double zeros[JOINTS] = {0};
    const dyn_step_input input = DYN_STEP_INPUT_INIT(.tau = tau);
    dyn_workspace *w;
    dyn_error error;
    require(dyn_workspace_create(model, &w, &error), &error);
    double start = energy_at(model, w, 0, q, v, zeros), power = power_of(model, w, short_steps, q, v, tau);
    for (int i = 0; i < 4000; i++) {
        require(dyn_simulator_step(steps, 1, &input, q, v, NULL, NULL, &error), &error);
        double next = power_of(model, w, short_steps, q, v, tau);
        work += (power + next) / 2 * 2e-4;
        exchanged += fabs(power) * 2e-4;
        power = next;
    }
    ck_assert_double_gt(exchanged, 1);
    ck_assert_double_eq_tol(energy_at(model, w, 0, q, v, zeros) - start, work, 1e-5 * exchanged);
    dyn_simulator_free(steps);
    dyn_simulator_free(short_steps);
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* Builds a hoist: a load of 2 kg on a vertical rail, behind a gear of 10 rad/m with a rotor of 0.01 kg m^2. */
static dyn_model *hoist(double efficiency, double back_driving) {
    dyn_builder *builder = new_builder();
    add_link_with(builder, "base", &(dyn_inertia){.mass = 1});
    add_link_with(builder, "load", &(dyn_inertia){.mass = 2});
    dyn_joint_description rail = joint_between("rail", DYN_JOINT_TYPE_PRISMATIC, "base", "load");
    rail.axis[2] = 1;
    add_joint(builder, &rail);
    add_rotor(builder, "rotor", "rail", &(dyn_rotor){.ratio = 10, .axial_inertia = 0.01});
    add_motor(builder, "motor", "rail", &plain_motor);
    add_gear(builder, "gear", "rail", &(dyn_gear){.efficiency = efficiency, .back_driving_efficiency = back_driving});
    add_element(builder,
                &(dyn_machine_element_description){
                    .name = "brake", .kind = DYN_MACHINE_ELEMENT_KIND_BRAKE, .joint = "rail", .brake = {.torque = 3}});
    return build_model(builder, NULL, NULL);
}

/* Simulates a hoist for a while. */
static void move_hoist(const dyn_model *model, const char *brake, dyn_integrator integrator, int steps, double tau,
                       double *v) {
    dyn_simulator *simulator = open_simulator(model, integrator, 1e-3, 1e-6, brake);
    const dyn_step_input input = DYN_STEP_INPUT_INIT(.tau = &tau);
    double q = 0;
    dyn_error error;
    for (int i = 0; i < steps; i++) {
        require(dyn_simulator_step(simulator, 1, &input, &q, v, NULL, NULL, &error), &error);
    }
    dyn_simulator_free(simulator);
}

/* Lifting, eta (tau - J a) = m (a + g); lowering, tau - J a = eta_b m (a + g), with J = 1 kg. */
START_TEST(a_hoist_moves_as_its_efficiencies_let_it) {
    dyn_model *model = hoist(0.8, 0.5);
    double v = 1, g = 9.81;
    move_hoist(model, NULL, DYN_INTEGRATOR_RUNGE_KUTTA_4, 100, 40, &v);
    ck_assert_double_eq_tol(v, 1 + 0.1 * (0.8 * 40 - 2 * g) / (2 + 0.8), 1e-6);
    v = -1;
    move_hoist(model, NULL, DYN_INTEGRATOR_RUNGE_KUTTA_4, 100, 4, &v);
    ck_assert_double_eq_tol(v, -1 + 0.1 * (4 - 0.5 * 2 * g) / (1 + 0.5 * 2), 1e-6);
    dyn_model_free(model);
}
END_TEST

START_TEST(a_self_locking_gear_holds_its_load) {
    dyn_model *model = hoist(0.4, 0);
    double v = 0;
    move_hoist(model, NULL, DYN_INTEGRATOR_SEMI_IMPLICIT_EULER, 500, 0, &v);
    ck_assert_double_lt(fabs(v), 2e-6);
    v = -1;
    move_hoist(model, NULL, DYN_INTEGRATOR_SEMI_IMPLICIT_EULER, 200, 0, &v);
    ck_assert_double_lt(fabs(v), 2e-6);
    move_hoist(model, NULL, DYN_INTEGRATOR_SEMI_IMPLICIT_EULER, 100, -20, &v);
    ck_assert_double_lt(v, -0.1);
    dyn_model_free(model);
}
END_TEST

/* The brake takes 30 N at the load, beyond the weight of 19.62 N. */
START_TEST(an_engaged_brake_stops_a_hoist_and_holds_it) {
    dyn_model *model = hoist(1, 1);
    double v = -2, lowered = -2;
    move_hoist(model, "brake", DYN_INTEGRATOR_RUNGE_KUTTA_4, 100, 0, &v);
    ck_assert_double_eq_tol(v, -2 + 0.1 * (30 - 2 * 9.81) / 3, 1e-6);
    move_hoist(model, "brake", DYN_INTEGRATOR_SEMI_IMPLICIT_EULER, 1000, 0, &v);
    ck_assert_double_lt(fabs(v), 1e-6);
    move_hoist(model, NULL, DYN_INTEGRATOR_RUNGE_KUTTA_4, 100, 0, &lowered);
    ck_assert_double_eq_tol(lowered, -2 - 0.1 * 2 * 9.81 / 3, 1e-9);
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    const char *const names[] = {"brake", "break"};
    dyn_simulator *simulator;
    dyn_error error;
    options.brakes = names, options.brake_count = 2;
    dyn_status status = dyn_simulator_create(model, &options, &simulator, &error);
    expect_error(status, &error, DYN_INVALID_ARGUMENT, "brakes[1]", "no brake \"break\"");
    dyn_model_free(model);
}
END_TEST

/* ---- One motor --------------------------------------------------------------------------------------------------- */

/* A rotor under the voltage V runs up as w = w_0 (1 - e^(-t/T)), T = I R / k_t^2: the voltage of that motion is V. */
START_TEST(run_up_takes_a_constant_voltage) {
    dyn_drive drive = {.ratio = 1,
                       .multiplier = 1,
                       .motor = plain_motor,
                       .gear = {.ratio = 1, .efficiency = 1, .back_driving_efficiency = 1}};
    drive.motor.inductance = 0;
    const double V = 24, I = 2e-4, T = I * 0.5 / (0.05 * 0.05), w_0 = V / 0.05;
    for (int i = 0; i <= 60; i++) {
        double t = 0.005 * i, speed = w_0 * (1 - exp(-t / T)), torque = I * w_0 / T * exp(-t / T);
        const dyn_motor_input in = {.speed = speed, .torque = torque, .temperature = 25};
        dyn_motor_state state = dyn_motor_evaluate(&drive, &in);
        ck_assert_double_eq_tol(state.voltage, V, 1e-12 * V);
        ck_assert_double_eq_tol(state.heat, 0.5 * state.current * state.current, 1e-12 * (1 + state.heat));
        ck_assert_int_eq(state.quadrant, 1);
    }
}
END_TEST

/* With L the current of a standing rotor rises as V / R (1 - e^(-R t / L)). */
START_TEST(a_rising_current_takes_a_constant_voltage) {
    const dyn_drive drive = {.ratio = 1,
                             .multiplier = 1,
                             .motor = plain_motor,
                             .gear = {.ratio = 1, .efficiency = 1, .back_driving_efficiency = 1}};
    const double R = 0.5, L = 1e-4, V = 12;
    for (int i = 0; i < 50; i++) {
        double t = 1e-5 * i, current = V / R * (1 - exp(-R * t / L)), rate = V / L * exp(-R * t / L);
        const dyn_motor_input in = {.torque = 0.05 * current, .current_rate = rate, .temperature = 25};
        ck_assert_double_eq_tol(dyn_motor_evaluate(&drive, &in).voltage, V, 1e-12 * V);
    }
}
END_TEST

START_TEST(margins_are_zero_on_the_edges_of_the_operating_region) {
    dyn_drive drive = {.ratio = 1,
                       .multiplier = 1,
                       .motor = plain_motor,
                       .gear = {.ratio = 1, .efficiency = 1, .back_driving_efficiency = 1}};
    drive.motor.maximum_voltage = 24, drive.motor.maximum_current = 30, drive.motor.maximum_speed = 450;
    double w_0 = dyn_motor_no_load_speed(&drive.motor), stall = dyn_motor_stall_torque(&drive.motor);
    ck_assert_double_eq(w_0, 24 / 0.05);
    ck_assert_double_eq(stall, 0.05 * 24 / 0.5);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (double w = 240; w < 450; w += 15) { /* the speed-torque curve, below the limit of the current */
            const dyn_motor_input in = {.speed = sign * w, .torque = sign * stall * (1 - w / w_0), .temperature = 25};
            dyn_motor_state state = dyn_motor_evaluate(&drive, &in);
            ck_assert_double_eq_tol(state.torque_margin, 0, 1e-12);
            ck_assert_double_eq_tol(state.speed_margin, fmin(0, 450 - w), 1e-9);
            ck_assert_double_eq_tol(fabs(state.voltage), 24, 1e-12);
            ck_assert_int_eq(state.quadrant, sign > 0 ? 1 : 3);
        }
        const dyn_motor_input peak = {.speed = -100 * sign, .torque = 1.6 * sign, .temperature = 25};
        dyn_motor_state state = dyn_motor_evaluate(&drive, &peak);
        ck_assert_double_eq_tol(state.torque_margin, -0.1, 1e-12); /* k_t 30 A = 1.5 N m */
        ck_assert_int_eq(state.quadrant, sign > 0 ? 2 : 4);
        ck_assert_double_lt(state.mechanical_power, 0);
    }
}
END_TEST

START_TEST(a_load_drives_a_gear_back_with_its_own_efficiency) {
    dyn_builder *builder = new_builder();
    add_link_with(builder, "base", &(dyn_inertia){.mass = 1});
    add_link_with(builder, "cart", &(dyn_inertia){.mass = 2});
    connect_links(builder, "rail", DYN_JOINT_TYPE_PRISMATIC, "base", "cart"); /* along z: gravity pulls with 19.62 N */
    add_motor(builder, "m", "rail", &plain_motor);
    add_gear(builder, "g", "rail", &(dyn_gear){.ratio = 100, .efficiency = 0.5, .back_driving_efficiency = 0.25});
    dyn_model *model = build_model(builder, NULL, NULL);
    dyn_drive drive;
    dyn_error error;
    require(dyn_model_drives(model, &drive, &error), &error);
    ck_assert_double_eq(drive.ratio, 100);
    const double q[4] = {0}, v[] = {1, -1, 0, 0}, a[] = {0, 0, 0, 1}, forces[] = {19.62, 19.62, 19.62, 19.62};
    double loads[4], torques[4];
    const dyn_drive_motion motion = {.n = 4, .q = q, .v = v, .a = a, .forces = forces, .parts = all_parts};
    require(dyn_drive_torques(model, 1, &drive, &motion, loads, torques, &error), &error);
    const double wanted[] = {19.62 / 50, 19.62 / 400, 0.1962, 19.62 / 50};
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(torques[i], wanted[i], 1e-15);
        ck_assert_double_eq(loads[i], 19.62);
    }
    dyn_model_free(model);
}
END_TEST

START_TEST(brakes_hold_at_rest_and_slip_in_motion) {
    dyn_drive drive = {.ratio = 1,
                       .multiplier = 1,
                       .brake = 2,
                       .motor = plain_motor,
                       .gear = {.ratio = 1, .efficiency = 1, .back_driving_efficiency = 1}};
    const double needed[] = {1.5, -1.5, 3, 1.5, 1.5}, speeds[] = {0, 0, 0, 7, -7}, wanted[] = {0, 0, 1, 3.5, -0.5};
    double brakes[5], torques[5], loads[5] = {0}, temperatures[5];
    dyn_motor_state states[5];
    dyn_drive_summary summary;
    for (int i = 0; i < 5; i++) {
        brakes[i] = dyn_drive_brake_torque(&drive, speeds[i], needed[i]);
        torques[i] = needed[i] - brakes[i];
        ck_assert_double_eq(torques[i], wanted[i]);
        ck_assert(brakes[i] * speeds[i] <= 0); /* it takes power */
    }
    const dyn_drive_series series = {
        .n = 5, .loads = loads, .speeds = speeds, .torques = torques, .brakes = brakes, .ambient = 25, .start = 25};
    dyn_drive_evaluate(&drive, &series, states, temperatures, &summary);
    ck_assert_int_eq(summary.excess_count, 1);
    ck_assert_int_eq(summary.excesses[0].limit, DYN_DRIVE_LIMIT_BRAKE);
    ck_assert_double_eq(summary.excesses[0].worst, 3);
    ck_assert_uint_eq(summary.excesses[0].first, 2);
    ck_assert_uint_eq(summary.excesses[0].samples, 1);
}
END_TEST

/* ---- Heat -------------------------------------------------------------------------------------------------------- */

START_TEST(one_body_warms_as_an_exponential) {
    dyn_motor motor = plain_motor;
    motor.winding_resistance = 4, motor.winding_time_constant = 30;
    dyn_motor_temperature at = {20, 20};
    for (int i = 1; i <= 40; i++) {
        at = dyn_motor_heat(&motor, 3, 2.5, 20, at); /* 4.5 W */
        ck_assert_double_eq_tol(at.winding, 20 + 18 * (1 - exp(-2.5 * i / 30)), 1e-12);
        ck_assert_double_eq(at.housing, 20);
    }
}
END_TEST

/* Two bodies, against small steps of the differential equations by the midpoint rule, and against the steady state. */
START_TEST(two_bodies_warm_as_their_differential_equations) {
    dyn_motor motor = plain_motor;
    motor.winding_resistance = 1.9, motor.winding_time_constant = 41.5;
    motor.housing_resistance = 4.7, motor.housing_time_constant = 1120;
    motor.temperature_coefficient = 0.00393;
    const double square = 16, ambient = 22, h = 1e-3;
    dyn_motor_temperature found = {22, 30};
    double T = 22, H = 30;
    for (int i = 0; i < 10; i++) {
        found = dyn_motor_heat(&motor, 4, 20, ambient, found);
        for (int k = 0; k < 20000; k++) {
            double t = T, g = H, dT = 0, dH = 0;
            for (int stage = 0; stage < 2; stage++) {
                double heat = 0.5 * (1 + 0.00393 * (t - 25)) * square;
                dT = (1.9 * heat - (t - g)) / 41.5;
                dH = (4.7 / 1.9 * (t - g) - (g - ambient)) / 1120;
                t = T + h / 2 * dT, g = H + h / 2 * dH;
            }
            T += h * dT, H += h * dH;
        }
        ck_assert_double_eq_tol(found.winding, T, 1e-7);
        ck_assert_double_eq_tol(found.housing, H, 1e-7);
    }
    found = dyn_motor_heat(&motor, 4, 1e7, ambient, found);
    double heat = 0.5 * square * (1 + 0.00393 * (found.winding - 25));
    ck_assert_double_eq_tol(found.housing, ambient + 4.7 * heat, 1e-9);
    ck_assert_double_eq_tol(found.winding, ambient + 6.6 * heat, 1e-9);
}
END_TEST

/* ---- Descriptions ------------------------------------------------------------------------------------------------ */

START_TEST(nominal_values_state_resistance_and_torque_constant) {
    dyn_builder *builder = tree();
    dyn_motor motor = {.nominal = {.voltage = 24, .no_load_speed = 800, .no_load_current = 0.2, .stall_current = 80}};
    add_motor(builder, "m", "j0", &motor);
    const dyn_motor *made = &dyn_builder_machine_element(builder, 0)->motor;
    ck_assert_double_eq(made->resistance, 0.3);
    ck_assert_double_eq(made->torque_constant, (24 - 0.3 * 0.2) / 800);
    ck_assert_double_eq(made->nominal.voltage, 0);
    /* At the speed without load the current is I_0, and at stall it is I_s. */
    const dyn_drive drive = {.ratio = 1,
                             .multiplier = 1,
                             .motor = *made,
                             .gear = {.ratio = 1, .efficiency = 1, .back_driving_efficiency = 1}};
    const dyn_motor_input idle = {.speed = 800, .torque = 0.2 * made->torque_constant, .temperature = 25};
    ck_assert_double_eq_tol(dyn_motor_evaluate(&drive, &idle).voltage, 24, 1e-12);
    const dyn_motor_input stalled = {.torque = 80 * made->torque_constant, .temperature = 25};
    ck_assert_double_eq_tol(dyn_motor_evaluate(&drive, &stalled).voltage, 24, 1e-12);
    dyn_builder_free(builder);
}
END_TEST

START_TEST(descriptions_are_read_as_they_were_written) {
    dyn_model *model = driven_tree(0.7, 0), *again;
    dyn_builder *builder;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    dyn_error error;
    char *text, *twice;
    size_t length;
    require(dyn_description_write(model, &text, &length, &error), &error);
    require(dyn_description_read(text, length, &builder, &options, &error), &error);
    again = build_model(builder, &options, NULL);
    require(dyn_description_write(again, &twice, &length, &error), &error);
    ck_assert_str_eq(text, twice);
    ck_assert_ptr_nonnull(strstr(text, "gear \"g1\" joint \"j1\" ratio 0 efficiency 0.69999999999999996 back 0"));
    dyn_text_free(text), dyn_text_free(twice);
    dyn_model_free(model), dyn_model_free(again);
}
END_TEST

static void refuse_element(const dyn_machine_element_description *element, const char *part, const char *fragment) {
    dyn_builder *builder = tree();
    dyn_error error;
    dyn_status status = dyn_builder_add_machine_element(builder, element, &error);
    expect_error(status, &error, DYN_INVALID_ARGUMENT, "machine element x", fragment);
    ck_assert_str_eq(error.site.part, part);
    dyn_builder_free(builder);
}

START_TEST(wrong_values_are_refused_by_name) {
    dyn_machine_element_description e = {.name = "x", .kind = DYN_MACHINE_ELEMENT_KIND_MOTOR, .joint = "j0"};
    refuse_element(&e, "motor.resistance", "resistance is 0; state a positive number");
    e.motor = plain_motor, e.motor.inductance = -1;
    refuse_element(&e, "motor.inductance", "-1");
    e.motor = plain_motor, e.motor.winding_resistance = 2;
    refuse_element(&e, "motor.winding_time_constant", "time constant of the winding is 0");
    e.motor = plain_motor, e.motor.nominal.voltage = 24;
    refuse_element(&e, "motor.nominal.no_load_speed", "speed without load is 0");
    e.motor = plain_motor, e.motor.nominal = (dyn_nominal_values){24, 800, 0.2, 80};
    refuse_element(&e, "motor.nominal", "state the ones or the others");
    e.motor = (dyn_motor){.nominal = {24, 800, 90, 80}};
    refuse_element(&e, "motor.nominal.no_load_current", "90 A, and the stall current 80 A");
    e.kind = DYN_MACHINE_ELEMENT_KIND_GEAR;
    e.gear = (dyn_gear){.efficiency = 1.2, .back_driving_efficiency = 0.5};
    refuse_element(&e, "gear.efficiency", "1.2; state a positive number that is at most one");
    e.gear = (dyn_gear){.efficiency = 0.9, .back_driving_efficiency = -0.5};
    refuse_element(&e, "gear.back_driving_efficiency", "-0.5; state a number from zero to one");
    e.gear = (dyn_gear){.ratio = NAN, .efficiency = 0.9};
    refuse_element(&e, "gear.ratio", "nan");
}
END_TEST

/* Adds an element to a joint that has a rotor, a motor and a gear, and expects that the model is refused. */
static void refuse_model(const dyn_machine_element_description *element, const char *place, const char *fragment) {
    dyn_builder *builder = tree();
    dyn_model *model;
    dyn_error error;
    add_rotor(builder, "r", "j0", &(dyn_rotor){.ratio = 5, .axial_inertia = 1});
    add_motor(builder, "m", "j0", &plain_motor);
    add_element(builder, element);
    expect_error(dyn_builder_build(builder, NULL, NULL, &model, &error), &error, DYN_INVALID_ARGUMENT, place, fragment);
    dyn_builder_free(builder);
}

START_TEST(elements_that_contradict_each_other_are_refused) {
    dyn_machine_element_description e = {
        .name = "x", .kind = DYN_MACHINE_ELEMENT_KIND_MOTOR, .joint = "j0", .motor = plain_motor};
    refuse_model(&e, "machine element m", "joint \"j0\" has 2 motors");
    e.joint = "nowhere";
    refuse_model(&e, "machine element x", "there is no joint \"nowhere\"");
    e.joint = "j0", e.kind = DYN_MACHINE_ELEMENT_KIND_GEAR, e.gear = (dyn_gear){.ratio = 5, .efficiency = 1};
    refuse_model(&e, "machine element x", "the gear ratio is 5, and joint \"j0\" has a rotor");
    e.kind = DYN_MACHINE_ELEMENT_KIND_BRAKE, e.joint = "j1", e.brake = (dyn_brake){1};
    refuse_model(&e, "machine element x", "joint \"j1\" has no motor");
    e.joint = "j0";
    e.kind = DYN_MACHINE_ELEMENT_KIND_ROTOR, e.rotor = (dyn_rotor){.ratio = 2, .axial_inertia = 1};
    refuse_model(&e, "machine element m", "joint \"j0\" has 2 rotors");
}
END_TEST

START_TEST(two_motors_of_one_coordinate_are_refused_by_name) {
    dyn_builder *builder = tree();
    dyn_drive drives[2];
    dyn_error error;
    add_motor(builder, "first", "j0", &plain_motor);
    add_motor(builder, "second", "j4", &plain_motor); /* follows j0 */
    dyn_model *model = build_model(builder, NULL, NULL);
    expect_error(dyn_model_drives(model, drives, &error), &error, DYN_FAILED_PRECONDITION, "machine element second",
                 "motors \"first\" and \"second\" move the same coordinate, that of joint \"j0\"");
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("motors");
    tcase_add_test(all, power_in_is_the_rate_of_energy_and_the_losses);
    tcase_add_test(all, without_losses_the_torque_is_that_of_inverse_dynamics_over_the_ratio);
    tcase_add_test(all, torques_of_other_motors_are_those_of_models_that_have_them);
    tcase_add_test(all, motors_of_a_simulated_motion_take_the_forces_that_drive_it);
    tcase_add_test(all, gear_losses_of_forward_dynamics_are_those_of_inverse_dynamics);
    tcase_add_test(all, gear_losses_are_those_of_simulations_and_of_motors);
    tcase_add_test(all, gears_balance_power_along_motions);
    tcase_add_test(all, a_hoist_moves_as_its_efficiencies_let_it);
    tcase_add_test(all, a_self_locking_gear_holds_its_load);
    tcase_add_test(all, an_engaged_brake_stops_a_hoist_and_holds_it);
    tcase_add_test(all, run_up_takes_a_constant_voltage);
    tcase_add_test(all, a_rising_current_takes_a_constant_voltage);
    tcase_add_test(all, margins_are_zero_on_the_edges_of_the_operating_region);
    tcase_add_test(all, a_load_drives_a_gear_back_with_its_own_efficiency);
    tcase_add_test(all, brakes_hold_at_rest_and_slip_in_motion);
    tcase_add_test(all, one_body_warms_as_an_exponential);
    tcase_add_test(all, two_bodies_warm_as_their_differential_equations);
    tcase_add_test(all, nominal_values_state_resistance_and_torque_constant);
    tcase_add_test(all, descriptions_are_read_as_they_were_written);
    tcase_add_test(all, wrong_values_are_refused_by_name);
    tcase_add_test(all, elements_that_contradict_each_other_are_refused);
    tcase_add_test(all, two_motors_of_one_coordinate_are_refused_by_name);
    return run_tests(all);
}
