/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gears with losses on shafts: against gears of joints, against closed forms of a differential, and refusals.
 */
#include <math.h>
#include <string.h>

#include <dynamics/dynamics.h>
#include <dynamics/geared_dynamics.h>
#include <dynamics/motor.h>
#include <dynamics/simulation.h>

#include "branched_tree.h"
#include "robots.h"
#include "support/assertions.h"
#include "support/random.h"

enum { WRIST = 2, MOST_NUMBERS = 4096 };

static const double RATIO = -6, WIDTH = 0.05;
static const dyn_motor a_motor = {.resistance = 0.5, .torque_constant = 0.05};
static const dyn_gear a_gear = {.efficiency = 0.8, .back_driving_efficiency = 0.6};

static void add_element(dyn_builder *builder, const dyn_machine_element_description *element) {
    dyn_error error;
    require(dyn_builder_add_machine_element(builder, element, &error), &error);
}

/* Returns a gear at a joint or on a shaft. */
static dyn_machine_element_description gear_at(const char *joint, const char *name) {
    return (dyn_machine_element_description){
        .name = name, .kind = DYN_MACHINE_ELEMENT_KIND_GEAR, .joint = joint, .gear = a_gear};
}

/* ---- One joint --------------------------------------------------------------------------------------------------- */

/* Builds a tree with a geared motor and its friction at joint j3, or on a shaft that this joint alone turns. */
static dyn_model *one_drive(bool is_shaft) {
    dyn_builder *builder = branched_tree();
    dyn_machine_element_description e = {
        .name = "rotor",
        .kind = is_shaft ? DYN_MACHINE_ELEMENT_KIND_SHAFT : DYN_MACHINE_ELEMENT_KIND_ROTOR,
        .joint = is_shaft ? "" : "j3",
        .link = "base",
        .shaft = {1, {"j3"}, {RATIO}, true},
        .motor = a_motor,
        .rotor = {.ratio = is_shaft ? 0 : RATIO, .axial_inertia = 0.02, .coupling = DYN_ROTOR_COUPLING_REFLECTED}};
    const char *joint = is_shaft ? "rotor" : "j3";
    add_element(builder, &e);
    e = (dyn_machine_element_description){
        .name = "motor", .kind = DYN_MACHINE_ELEMENT_KIND_MOTOR, .joint = "j3", .motor = a_motor};
    if (!is_shaft) {
        add_element(builder, &e);
    }
    e = (dyn_machine_element_description){.name = "seal",
                                          .kind = DYN_MACHINE_ELEMENT_KIND_FRICTION,
                                          .joint = joint,
                                          .friction = {.viscous = {0.02, 0.05}, .transition_velocity = 0.05}};
    e.friction.coulomb[0] = e.friction.coulomb[1] = 0.3;
    e.friction.side = is_shaft ? DYN_GEAR_SIDE_JOINT : DYN_GEAR_SIDE_ROTOR;
    add_element(builder, &e);
    e = gear_at(joint, "gear");
    add_element(builder, &e);
    return build_model(builder, NULL, NULL);
}

/* The smooth sign of a loss is that of the rate of the gear, which is faster on the shaft. */
static double width_of(bool is_shaft) {
    return is_shaft ? fabs(RATIO) * WIDTH : WIDTH;
}

/* Computes the losses under tau, those of the motion a, and load and torque of the motor in it. */
static void find_losses(bool is_shaft, const double *tau, const double *a, double losses[2][JOINTS], double load[2]) {
    dyn_model *model = one_drive(is_shaft);
    dyn_workspace *w = workspace_of(model);
    const double q[JOINTS] = {0.1, 0.2, -0.1, 0.3, 0.2, 0.1}, v[JOINTS] = {1, -1, 0.5, 0.8, 0.2, -0.4};
    double memory[MOST_NUMBERS], forces[JOINTS], wrenches[JOINTS * 6];
    dyn_geared_states at = {.n = 1, .q = q, .v = v, .memory = memory};
    dyn_drive drive;
    dyn_error error;
    at.parts = (dyn_passive_parts){.damping = true, .friction = true, .friction_velocity = width_of(is_shaft)};
    ck_assert_uint_le(dyn_geared_memory(model, 1), MOST_NUMBERS);
    require(dyn_gear_losses_under_forces(model, w, &at, tau, losses[0], &error), &error);
    require(dyn_gear_losses_of_motion(model, w, &at, a, losses[1], &error), &error);
    require(dyn_model_drives(model, &drive, &error), &error);
    require(dyn_rnea(model, w, 1, NULL, q, v, a, NULL, forces, &error), &error);
    require(dyn_joint_wrenches(model, w, 1, NULL, q, v, a, NULL, wrenches, &error), &error);
    dyn_drive_motion motion = {.n = 1, .q = q, .v = v, .a = a, .forces = forces, .wrenches = wrenches};
    motion.parts = at.parts;
    require(dyn_drive_torques(model, 1, &drive, &motion, &load[0], &load[1], &error), &error);
    dyn_workspace_free(w);
    dyn_model_free(model);
}

START_TEST(a_gear_on_a_shaft_loses_what_the_gear_of_the_joint_does_that_turns_it) {
    for (int k = 0; k < 4; k++) {
        double tau[JOINTS] = {3, -2, 1, k % 2 ? 40 : -40, 2, 1}, a[JOINTS] = {1, 2, -1, k < 2 ? 30 : -30, 0.5, 1};
        double losses[2][2][JOINTS], load[2][2];
        find_losses(false, tau, a, losses[0], load[0]);
        find_losses(true, tau, a, losses[1], load[1]);
        for (int way = 0; way < 2; way++) {
            ck_assert_double_gt(norm(losses[0][way], JOINTS), 0.1);
            assert_norm_close("losses", k, losses[1][way], losses[0][way], JOINTS, 1e-9);
        }
        ck_assert_double_eq_tol(load[1][0], load[0][0] / RATIO, 1e-9 * fabs(load[0][0]));
        ck_assert_double_eq_tol(load[1][1], load[0][1], 1e-9 * fabs(load[0][1]));
    }
}
END_TEST

/* Moves the tree for 0.3 s by steps of 1 / rate. */
static void move(bool is_shaft, dyn_integrator integrator, int rate, double q[JOINTS]) {
    const double start_q[JOINTS] = {0.1, 0.2, -0.1, 0.3, 0.2, 0.1}, tau[JOINTS] = {0, 0, 0, 30};
    double v[JOINTS] = {1, -1, 0.5, 0.8, 0.2, -0.4};
    const dyn_step_input input = DYN_STEP_INPUT_INIT(.tau = tau);
    dyn_model *model = one_drive(is_shaft);
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *steps;
    dyn_error error;
    options.integrator = integrator;
    options.step_length = 1.0 / rate;
    options.friction_velocity = width_of(is_shaft);
    memcpy(q, start_q, sizeof start_q);
    require(dyn_simulator_create(model, &options, &steps, &error), &error);
    for (int i = 0; i < 3 * rate / 10; i++) {
        require(dyn_simulator_step(steps, 1, &input, q, v, NULL, NULL, &error), &error);
    }
    dyn_simulator_free(steps);
    dyn_model_free(model);
}

/* The semi-implicit method evaluates friction of a joint together with the loss, and that of a shaft before it. */
START_TEST(steps_lose_the_same_power_on_a_shaft_and_at_the_joint_that_turns_it) {
    static const int rates[] = {1000, 4000};
    double gap[2];
    for (int integrator = 0; integrator <= DYN_INTEGRATOR_RUNGE_KUTTA_4; integrator++) {
        bool is_implicit = integrator == DYN_INTEGRATOR_SEMI_IMPLICIT_EULER;
        for (int k = 0; k < (is_implicit ? 2 : 1); k++) {
            double q[2][JOINTS];
            move(false, (dyn_integrator)integrator, rates[k], q[0]);
            move(true, (dyn_integrator)integrator, rates[k], q[1]);
            gap[k] = 0;
            for (int i = 0; i < JOINTS; i++) {
                gap[k] = fmax(gap[k], fabs(q[1][i] - q[0][i]));
            }
        }
        ck_assert_double_lt(gap[0], is_implicit ? 1e-3 : 1e-9);
        ck_assert(!is_implicit || gap[1] < 0.3 * gap[0]);
    }
}
END_TEST

/* ---- Differential ------------------------------------------------------------------------------------------------ */

/* Builds a wrist of roll and pitch, whose motors on the world turn at 30 (roll + pitch) and -20 (roll - pitch), with a
 * gear on the left shaft, and this element. */
static dyn_builder *wrist_with(const dyn_machine_element_description *element) {
    dyn_builder *builder = new_builder();
    dyn_machine_element_description shaft = {.name = "left",
                                             .kind = DYN_MACHINE_ELEMENT_KIND_SHAFT,
                                             .shaft = {2, {"roll", "pitch"}, {30, 30}, true},
                                             .rotor = {.axial_inertia = 2e-3},
                                             .motor = a_motor};
    dyn_joint_description pitch = joint_between("pitch", DYN_JOINT_TYPE_CONTINUOUS, "forearm", "hand");
    add_link_with(builder, "base", &(dyn_inertia){.mass = 1});
    add_link(builder, "forearm");
    add_link(builder, "hand");
    connect_links(builder, "roll", DYN_JOINT_TYPE_CONTINUOUS, "base", "forearm");
    pitch.axis[0] = 1, pitch.axis[2] = 0;
    add_joint(builder, &pitch);
    add_element(builder, &shaft);
    shaft.name = "right";
    shaft.shaft.ratios[0] = -20, shaft.shaft.ratios[1] = 20;
    add_element(builder, &shaft);
    const dyn_machine_element_description gear = gear_at("left", "worm");
    add_element(builder, &gear);
    if (element) {
        add_element(builder, element);
    }
    return builder;
}

/* The links are balls at the axes, so that roll and pitch need 0.2 a_roll and 0.1 a_pitch beside the rotors. The motor
 * of the left shaft drives the load F = (0.2 a_roll + 0.1 a_pitch) / 60 or is driven by it, and accelerates its rotor
 * by itself: T = F / 0.8 + I dw/dt, or 0.6 F + I dw/dt. */
START_TEST(a_differential_loses_a_part_of_the_load_of_each_shaft) {
    dyn_model *model = build_model(wrist_with(NULL), NULL, NULL);
    dyn_workspace *w = workspace_of(model);
    dyn_drive drives[2];
    dyn_error error;
    require(dyn_model_drives(model, drives, &error), &error);
    ck_assert_double_eq(drives[0].gear.efficiency, 0.8);
    ck_assert_double_eq(drives[1].gear.efficiency, 1);
    for (int k = 0; k < 2; k++) {
        const double q[WRIST] = {0.3, -0.8}, v[WRIST] = {k ? -1 : 1, 0.1}, a[WRIST] = {3, 4};
        double forces[WRIST], wrenches[WRIST * 6], loads[2], T[2];
        require(dyn_rnea(model, w, 1, NULL, q, v, a, NULL, forces, &error), &error);
        require(dyn_joint_wrenches(model, w, 1, NULL, q, v, a, NULL, wrenches, &error), &error);
        dyn_drive_motion motion = {.n = 1, .q = q, .v = v, .a = a, .forces = forces, .wrenches = wrenches};
        motion.parts.friction_velocity = 0.01;
        require(dyn_drive_torques(model, 2, drives, &motion, loads, T, &error), &error);
        const double F[2] = {(0.2 * 3 + 0.1 * 4) / 60, (0.2 * 3 - 0.1 * 4) / -40};
        const double rotors[2] = {2e-3 * 30 * 7, 2e-3 * -20 * -1};
        assert_norm_close("loads", k, loads, F, 2, 1e-12);
        ck_assert_double_eq_tol(T[0], rotors[0] + (k ? 0.6 : 1 / 0.8) * F[0], 1e-12);
        ck_assert_double_eq_tol(T[1], rotors[1] + F[1], 1e-12);
        /* The forces of the joints are those of the motors, tau = G' T. */
        double memory[MOST_NUMBERS], losses[WRIST];
        dyn_geared_states at = {.n = 1, .q = q, .v = v, .memory = memory, .parts = {.friction_velocity = 1e-9}};
        require(dyn_gear_losses_of_motion(model, w, &at, a, losses, &error), &error);
        ck_assert_double_eq_tol(forces[0] - losses[0], 30 * T[0] - 20 * T[1], 1e-12);
        ck_assert_double_eq_tol(forces[1] - losses[1], 30 * T[0] + 20 * T[1], 1e-12);
    }
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* A self-locking gear on the right shaft holds roll and pitch together, and lets them turn together. */
START_TEST(a_self_locking_gear_holds_its_shaft_and_not_the_joints_that_turn_it) {
    dyn_machine_element_description e = gear_at("right", "screw");
    e.gear.back_driving_efficiency = 0;
    dyn_model *model = build_model(wrist_with(&e), NULL, NULL);
    const double wrench[6] = {0, 0, 3};
    dyn_external_force pull = {.reference_frame = DYN_REFERENCE_FRAME_WORLD, .wrench = wrench};
    const dyn_external_forces forces = {1, &pull};
    const dyn_step_input input = DYN_STEP_INPUT_INIT(.forces = &forces);
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    dyn_error error;
    require(dyn_model_find_frame(model, "forearm", &pull.frame, &error), &error);
    for (int locks = 0; locks < 2; locks++) {
        dyn_simulator *steps;
        double q[WRIST] = {0, 0}, v[WRIST] = {0, 0};
        options.step_length = 1e-3;
        options.ignore_gear_losses = !locks;
        require(dyn_simulator_create(model, &options, &steps, &error), &error);
        for (int i = 0; i < 500; i++) {
            require(dyn_simulator_step(steps, 1, &input, q, v, NULL, NULL, &error), &error);
        }
        ck_assert_double_gt(fabs(q[0] + q[1]), 0.05);
        ck_assert_msg(locks ? fabs(q[0] - q[1]) < 1e-3 : fabs(q[0] - q[1]) > 0.05, "%g, %g", q[0], q[1]);
        dyn_simulator_free(steps);
    }
    dyn_model_free(model);
}
END_TEST

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

/* Asserts that the wrist with an element, whose name is "bad", is refused at the member with the fragment. */
static void refuse(const dyn_machine_element_description *bad, const char *member, const char *fragment) {
    dyn_builder *builder = wrist_with(bad);
    dyn_model *model = NULL;
    dyn_error error;
    expect_error(dyn_builder_build(builder, NULL, NULL, &model, &error), &error, DYN_INVALID_ARGUMENT,
                 "machine element bad", fragment);
    ck_assert_str_eq(error.site.part, member);
    dyn_builder_free(builder);
}

START_TEST(gears_that_do_not_fit_their_shaft_are_refused) {
    dyn_machine_element_description bad = gear_at("left", "bad");
    refuse(&bad, "joint", "shaft \"left\" has gear \"worm\" too; state one");
    bad.joint = "right", bad.gear.ratio = 5;
    refuse(&bad, "gear.ratio", "the ratios of shaft \"right\" state it");
    bad = gear_at("roll", "bad");
    refuse(&bad, "joint", "turns shaft \"right\"");
    dyn_builder *builder = wrist_with(NULL);
    dyn_model *model;
    dyn_error error;
    const dyn_machine_element_description idle = {.name = "idle",
                                                  .kind = DYN_MACHINE_ELEMENT_KIND_SHAFT,
                                                  .shaft = {1, {"roll"}, {2}, false}},
                                          gear = gear_at("idle", "loose"),
                                          rotor = {.name = "wheel",
                                                   .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR,
                                                   .joint = "roll",
                                                   .rotor = {.ratio = 3, .axial_inertia = 1e-3}};
    add_element(builder, &idle), add_element(builder, &gear);
    expect_error(dyn_builder_build(builder, NULL, NULL, &model, &error), &error, DYN_INVALID_ARGUMENT,
                 "machine element loose", "shaft \"idle\" has no motor whose torque the gear transmits");
    dyn_builder_free(builder);
    builder = wrist_with(&rotor);
    expect_error(dyn_builder_build(builder, NULL, NULL, &model, &error), &error, DYN_INVALID_ARGUMENT,
                 "machine element worm", "joint \"roll\", which turns shaft \"left\", has a rotor of its own");
    dyn_builder_free(builder);
}
END_TEST

/* Three motors drive two joints, so that the loads of their gears do not follow. */
START_TEST(losses_are_refused_where_the_loads_of_shafts_do_not_follow) {
    const dyn_machine_element_description third = {
        .name = "third", .kind = DYN_MACHINE_ELEMENT_KIND_SHAFT, .shaft = {1, {"roll"}, {2}, true}, .motor = a_motor};
    dyn_model *model = build_model(wrist_with(&third), NULL, NULL);
    dyn_workspace *w = workspace_of(model);
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *steps;
    dyn_error error;
    const double q[WRIST] = {0}, v[WRIST] = {1, 1};
    double memory[MOST_NUMBERS], losses[WRIST];
    dyn_geared_states at = {.n = 1, .q = q, .v = v, .memory = memory, .parts = {.friction_velocity = 0.01}};
    const char *const reason = "the load of gear \"worm\" on shaft \"left\" is not known: 3 motors drive the 2";
    expect_error(dyn_gear_losses_of_motion(model, w, &at, NULL, losses, &error), &error, DYN_FAILED_PRECONDITION,
                 "gear_losses", reason);
    expect_error(dyn_simulator_create(model, &options, &steps, &error), &error, DYN_FAILED_PRECONDITION,
                 "ignore_gear_losses", reason);
    options.ignore_gear_losses = true;
    require(dyn_simulator_create(model, &options, &steps, &error), &error);
    dyn_simulator_free(steps);
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("shaft_gears");
    tcase_add_test(all, a_gear_on_a_shaft_loses_what_the_gear_of_the_joint_does_that_turns_it);
    tcase_add_test(all, steps_lose_the_same_power_on_a_shaft_and_at_the_joint_that_turns_it);
    tcase_add_test(all, a_differential_loses_a_part_of_the_load_of_each_shaft);
    tcase_add_test(all, a_self_locking_gear_holds_its_shaft_and_not_the_joints_that_turn_it);
    tcase_add_test(all, gears_that_do_not_fit_their_shaft_are_refused);
    tcase_add_test(all, losses_are_refused_where_the_loads_of_shafts_do_not_follow);
    return run_tests(all);
}
