/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the motions of falling robots with those of MuJoCo, by the same integrator and step.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "mujoco_motion.h"
#include "robots.h"
#include "support/assertions.h"
#include "support/ur5_screws.h"

/* Returns the largest difference between our joint positions and MuJoCo's after `steps` steps from the zero
 * configuration. A robot on a fixed base starts at rest, one on a floating base with velocities. */
static double compare_model(const char *name, const dyn_model *model, dyn_integrator integrator, double dt,
                            size_t steps) {
    size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
    double *start = numbers(nq), *v_start = numbers(nv), *q = numbers(nq), *v = numbers(nv), worst = 0;
    double *q_mujoco = numbers(nq), *v_mujoco = numbers(nv);
    dyn_zero_configuration(model, start);
    for (size_t j = dyn_model_joint(model, 0)->type == DYN_JOINT_TYPE_FLOATING ? 0 : nv; j < nv; j++) {
        v_start[j] = 0.3 * cos((double)j); /* without it only the whole robot would fall */
    }
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    o.integrator = integrator, o.step_length = dt, o.stop = DYN_JOINT_STOP_NONE;
    o.ignore_damping = o.ignore_friction = true;
    dyn_simulator *s = NULL;
    dyn_error error;
    require(dyn_simulator_create(model, &o, &s, &error), &error);
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = steps, .q = start, .v = v_start);
    require(dyn_rollout_run(s, 1, &rollout, &(dyn_rollout_output)DYN_ROLLOUT_OUTPUT_INIT(.q = q, .v = v), &error),
            &error);
    mujoco_motion *other = mujoco_motion_create(model, integrator == DYN_INTEGRATOR_RUNGE_KUTTA_4, dt);
    ck_assert_msg(other != NULL, "MuJoCo cannot hold %s", name);
    memcpy(q_mujoco, q, nq * sizeof *q);
    mujoco_motion_set(other, start, v_start);
    mujoco_motion_step(other, steps);
    mujoco_motion_get(other, q_mujoco, v_mujoco);
    for (size_t i = 0; i < nq; i++) {
        worst = larger(worst, fabs(q[i] - q_mujoco[i]));
    }
    printf("%s, %zu steps of %g s: %.1e from MuJoCo\n", name, steps, dt, worst);
    mujoco_motion_free(other);
    dyn_simulator_free(s);
    free(start), free(v_start), free(q), free(v), free(q_mujoco), free(v_mujoco);
    return worst;
}

/* Returns the largest difference of joint positions for a sample robot. */
static double compare(const char *name, dyn_base base, dyn_integrator integrator, double dt, size_t steps) {
    dyn_model *model = robot_load(name, base);
    double worst = compare_model(name, model, integrator, dt, steps);
    dyn_model_free(model);
    return worst;
}

/* Compares a UR5 as in Modern Robotics (Lynch and Park 2017), exercise 8.15, and the sample robot, whose wrists have
 * smaller moments of inertia. */
START_TEST(ur5_falls_for_three_seconds) {
    dyn_model *model = ur5_of_screws();
    ck_assert(compare_model("UR5 of screws", model, DYN_INTEGRATOR_RUNGE_KUTTA_4, 1e-3, 3000) < 1e-6);
    dyn_model_free(model);
    ck_assert(compare("ur5", DYN_BASE_FIXED, DYN_INTEGRATOR_RUNGE_KUTTA_4, 1e-3, 3000) < 1e-6);
}
END_TEST

START_TEST(semi_implicit_steps_are_the_same) {
    ck_assert(compare("ur5", DYN_BASE_FIXED, DYN_INTEGRATOR_SEMI_IMPLICIT_EULER, 1e-3, 1000) < 1e-6);
    ck_assert(compare("panda", DYN_BASE_FIXED, DYN_INTEGRATOR_SEMI_IMPLICIT_EULER, 1e-3, 500) < 1e-6);
}
END_TEST

/* Returns a sample robot with a rotor at every joint, whose reflected inertia MuJoCo calls armature. */
static dyn_model *geared(const char *name, dyn_base base) {
    dyn_model *plain = robot_load(name, base), *model = NULL;
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = base);
    dyn_builder *builder = NULL;
    dyn_error error;
    require(dyn_model_describe(plain, &builder, &error), &error);
    for (int j = 0; j < dyn_model_joint_count(plain); j++) {
        const dyn_joint *joint = dyn_model_joint(plain, j);
        const dyn_machine_element_description rotor = {
            .name = joint->name,
            .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR,
            .joint = joint->name,
            .rotor = {.ratio = 50 + j, .axial_inertia = 1e-4, .coupling = DYN_ROTOR_COUPLING_REFLECTED}};
        if (joint->nv == 1) {
            require(dyn_builder_add_machine_element(builder, &rotor, &error), &error);
        }
    }
    require(dyn_builder_build(builder, &options, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    dyn_model_free(plain);
    return model;
}

START_TEST(rotors_move_as_armatures) {
    dyn_model *arm = geared("ur5", DYN_BASE_FIXED), *quadruped = geared("quadruped", DYN_BASE_FLOATING);
    ck_assert(compare_model("geared ur5", arm, DYN_INTEGRATOR_RUNGE_KUTTA_4, 1e-3, 3000) < 1e-6);
    ck_assert(compare_model("geared quadruped", quadruped, DYN_INTEGRATOR_RUNGE_KUTTA_4, 2.5e-4, 1000) < 1e-6);
    dyn_model_free(arm);
    dyn_model_free(quadruped);
}
END_TEST

/* Compares a robot on a floating base. Its steps differ from MuJoCo's, which holds the base's velocity in other axes,
 * but both converge to one motion. */
START_TEST(quadruped_flies) {
    ck_assert(compare("quadruped", DYN_BASE_FLOATING, DYN_INTEGRATOR_RUNGE_KUTTA_4, 2.5e-4, 1000) < 1e-6);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("motion");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, ur5_falls_for_three_seconds);
    tcase_add_test(tests, semi_implicit_steps_are_the_same);
    tcase_add_test(tests, quadruped_flies);
    tcase_add_test(tests, rotors_move_as_armatures);
    return run_properties("motion", tests);
}
