/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares contacts with those of MuJoCo: a box that rests and slides on a slope, and a quadruped that stands; and
 * stops and dry friction of joints with its constraints of limits and of friction loss. The contacts of MuJoCo are
 * soft, so that its bodies sink in and creep: the bounds are those of that softness. Soft contacts obey the same law:
 * the forces of a ball are the same. A box creeps a few millimetres more, because MuJoCo takes the mass of its body for
 * that which its corners present.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/contact.h>
#include <dynamics/dynamics.h>

#include "mujoco_motion.h"
#include "robots.h"
#include "support/assertions.h"
#include "support/random.h"

enum { NQ = 19, NV = 18 };

static const double g = 9.81, dt = 1e-3;

static dyn_simulator *create_simulator(const dyn_model *model, const double *gains) {
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *s = NULL;
    dyn_error error;
    o.step_length = dt, o.stop = DYN_JOINT_STOP_NONE;
    o.ignore_damping = o.ignore_friction = o.ignore_effort_limits = true;
    o.control = gains ? DYN_CONTROL_PD : DYN_CONTROL_NONE;
    o.control_stiffness = gains, o.control_damping = gains ? gains + NV : NULL;
    require(dyn_simulator_create(model, &o, &s, &error), &error);
    return s;
}

/* ---- A box on a slope -------------------------------------------------------------------------------------------- */

/* Builds a free body of 2 kg, a box with edges of 0.2 m or a ball of radius 0.1 m, and a plane that is turned by
 * `slope` about y. `soft` makes the body soft; NULL: rigid. */
static dyn_model *body_on_slope(dyn_contact_shape shape, double slope, double mu, const dyn_soft_contact *soft) {
    const double c = cos(slope), s = sin(slope);
    const dyn_contact_surface plane = {.name = "ground",
                                       .pose = {.rotation = {c, 0, s, 0, 1, 0, -s, 0, c}},
                                       .shape = DYN_CONTACT_SHAPE_PLANE,
                                       .friction = mu};
    const dyn_contact_surface box = {.name = "box",
                                     .link = "body",
                                     .pose = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}},
                                     .shape = shape,
                                     .radius = 0.1,
                                     .size = {0.2, 0.2, 0.2},
                                     .friction = mu,
                                     .soft = soft ? *soft : (dyn_soft_contact){0}};
    const dyn_link_description body = {.name = "body",
                                       .inertia = {.mass = 2, .rotational = {0.02, 0, 0, 0.02, 0, 0.02}}};
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_builder *builder = NULL;
    dyn_model *model = NULL;
    dyn_error error;
    require(dyn_builder_create("box", &builder, &error), &error);
    require(dyn_builder_add_link(builder, &body, &error), &error);
    require(dyn_builder_add_contact_surface(builder, &plane, &error), &error);
    require(dyn_builder_add_contact_surface(builder, &box, &error), &error);
    require(dyn_builder_build(builder, &options, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Course of the box after a second: distance down the slope, and the force of the slope on it. */
typedef struct slide {
    double distance, force[3];
} slide;

static slide slide_ours(const dyn_model *model, double slope, const double *q, const double *v) {
    slide end;
    double q_end[7], forces[6];
    dyn_simulator *s = create_simulator(model, NULL);
    dyn_error error;
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 1000, .q = q, .v = v);
    const dyn_rollout_output out = DYN_ROLLOUT_OUTPUT_INIT(.q = q_end, .contact_forces = forces);
    require(dyn_rollout_run(s, 1, &rollout, &out, &error), &error);
    end.distance = (q_end[0] - q[0]) * cos(slope) - (q_end[2] - q[2]) * sin(slope);
    memcpy(end.force, forces + 3, sizeof end.force);
    dyn_simulator_free(s);
    return end;
}

static slide slide_mujoco(const dyn_model *model, double slope, const double *q, const double *v) {
    slide end;
    double place[3];
    mujoco_motion *other = mujoco_motion_create(model, false, dt);
    ck_assert_ptr_nonnull(other);
    mujoco_motion_set(other, q, v);
    mujoco_motion_step(other, 1000);
    mujoco_motion_contact(other, end.force);
    mujoco_motion_base(other, place);
    end.distance = (place[0] - q[0]) * cos(slope) - (place[2] - q[2]) * sin(slope);
    mujoco_motion_free(other);
    return end;
}

/* Compares a box that starts down the slope at a speed. Bounds: of the distances in m, and of the forces in N. A box
 * that slides with friction in MuJoCo hops, so that its force at one time tells nothing. */
static void compare_slides(double slope, double mu, double speed, double distance_bound, double force_bound) {
    dyn_model *model = body_on_slope(DYN_CONTACT_SHAPE_BOX, slope, mu, NULL);
    const double n[3] = {sin(slope), 0, cos(slope)};
    const double q[7] = {0.1 * n[0], 0, 0.1 * n[2], 0, sin(slope / 2), 0, cos(slope / 2)}, v[6] = {speed};
    slide ours = slide_ours(model, slope, q, v), theirs = slide_mujoco(model, slope, q, v);
    printf("slope %g, mu %g, from %g m/s: %g m and (%g, %g, %g) N, MuJoCo %g m and (%g, %g, %g) N\n", slope, mu, speed,
           ours.distance, ours.force[0], ours.force[1], ours.force[2], theirs.distance, theirs.force[0],
           theirs.force[1], theirs.force[2]);
    ck_assert_double_eq_tol(ours.distance, theirs.distance, distance_bound);
    for (int k = 0; k < 3; k++) {
        ck_assert_double_eq_tol(ours.force[k], theirs.force[k], force_bound);
    }
    dyn_model_free(model);
}

START_TEST(a_resting_box_is_carried_by_the_same_force) {
    compare_slides(0, 0.5, 0, 1e-6, 0.01 * 2 * g);
    compare_slides(0.3, 0.5, 0, 5e-3, 0.01 * 2 * g);
}
END_TEST

START_TEST(a_box_slides_as_far_with_and_without_friction) {
    compare_slides(0.3, 0, 0, 1e-3, 0.01 * 2 * g);
    compare_slides(0.5, 0.3, 0.5, 1e-3, INFINITY);
    compare_slides(0.2, 0.4, 3, 1e-3, INFINITY);
}
END_TEST

/* ---- Soft contacts ----------------------------------------------------------------------------------------------- */

/* Runs both simulations from a state without rotation. Stores the positions of the body, ours and theirs, and the
 * forces of the ground on it. */
typedef struct soft_course {
    double place[2][7], force[2][3];
} soft_course;

static soft_course run_soft(const dyn_model *model, size_t steps, const double *q, const double *v) {
    soft_course c;
    double forces[6];
    dyn_simulator *s = create_simulator(model, NULL);
    dyn_error error;
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = steps, .q = q, .v = v);
    const dyn_rollout_output out = DYN_ROLLOUT_OUTPUT_INIT(.q = c.place[0], .contact_forces = forces);
    require(dyn_rollout_run(s, 1, &rollout, &out, &error), &error);
    memcpy(c.force[0], forces + 3, sizeof c.force[0]);
    mujoco_motion *other = mujoco_motion_create(model, false, dt);
    ck_assert_ptr_nonnull(other);
    mujoco_motion_set(other, q, v);
    mujoco_motion_step(other, steps);
    mujoco_motion_contact(other, c.force[1]);
    mujoco_motion_base(other, c.place[1]);
    mujoco_motion_free(other);
    dyn_simulator_free(s);
    return c;
}

START_TEST(forces_of_a_soft_ball_are_those_of_mujoco) {
    dyn_soft_contact soft = DYN_SOFT_CONTACT_INIT();
    random_source random = random_seed("forces_of_a_soft_ball_are_those_of_mujoco", 22);
    double worst = 0;
    int touching = 0, slipping = 0;
    for (int i = 0; i < 200; i++) {
        double mu = random_uniform(&random, 0.1, 1), speed = random_uniform(&random, 0, 0.5);
        soft.time_constant = random_uniform(&random, 0.005, 0.05), soft.damping_ratio = random_uniform(&random, 0.5, 2);
        soft.impedance[0] = random_uniform(&random, 0.1, 0.9), soft.width = random_uniform(&random, 1e-3, 4e-3);
        soft.midpoint = random_uniform(&random, 0.2, 0.8), soft.power = random_uniform(&random, 1, 4);
        dyn_model *model = body_on_slope(DYN_CONTACT_SHAPE_SPHERE, 0, mu, &soft);
        const double q[7] = {0, 0, 0.1 - random_uniform(&random, 1e-5, 4e-3), 0, 0, 0, 1};
        const double v[6] = {speed, -0.3 * speed, random_uniform(&random, -0.2, 0.2)};
        soft_course c = run_soft(model, 1, q, v);
        double size = 2 * g + fabs(c.force[1][2]);
        for (int k = 0; k < 3; k++) {
            worst = fmax(worst, fabs(c.force[0][k] - c.force[1][k]) / size);
        }
        touching += c.force[1][2] > 0;
        slipping += hypot(c.force[1][0], c.force[1][1]) > 0.999 * mu * c.force[1][2] && c.force[1][2] > 0;
        dyn_model_free(model);
    }
    printf("soft ball: forces differ by %.2g, %d of 200 touch, %d slip\n", worst, touching, slipping);
    ck_assert_double_le(worst, 1e-6);
    ck_assert_int_ge(slipping, 20);
    ck_assert_int_ge(touching - slipping, 20);
}
END_TEST

START_TEST(a_soft_ball_sinks_in_as_deep_as_in_mujoco) {
    const dyn_soft_contact soft = DYN_SOFT_CONTACT_INIT();
    dyn_model *model = body_on_slope(DYN_CONTACT_SHAPE_SPHERE, 0, 0.5, &soft);
    const double q[7] = {0, 0, 0.12, 0, 0, 0, 1}, v[6] = {0};
    for (size_t steps = 100; steps <= 1000; steps += 100) {
        soft_course c = run_soft(model, steps, q, v);
        printf("soft ball after %zu ms: depth %.9g m, MuJoCo %.9g m\n", steps, 0.1 - c.place[0][2],
               0.1 - c.place[1][2]);
        ck_assert_double_eq_tol(c.place[0][2], c.place[1][2], 1e-9);
        ck_assert_double_eq_tol(c.force[0][2], c.force[1][2], 1e-5);
    }
    dyn_model_free(model);
}
END_TEST

START_TEST(a_soft_box_slides_as_far_as_in_mujoco) {
    const dyn_soft_contact soft = DYN_SOFT_CONTACT_INIT();
    const double slopes[] = {0, 0.3, 0.2, 0.5}, mus[] = {0.5, 0.5, 0.4, 0.3}, speeds[] = {0, 0, 1, 0.5};
    for (int i = 0; i < 4; i++) {
        double slope = slopes[i], n[3] = {sin(slope), 0, cos(slope)};
        dyn_model *model = body_on_slope(DYN_CONTACT_SHAPE_BOX, slope, mus[i], &soft);
        const double q[7] = {0.1 * n[0], 0, 0.1 * n[2], 0, sin(slope / 2), 0, cos(slope / 2)}, v[6] = {speeds[i]};
        soft_course c = run_soft(model, 1000, q, v);
        double along[2], depth[2];
        for (int k = 0; k < 2; k++) {
            along[k] = (c.place[k][0] - q[0]) * n[2] - (c.place[k][2] - q[2]) * n[0];
            depth[k] = 0.1 - c.place[k][0] * n[0] - c.place[k][2] * n[2];
        }
        printf("soft box, slope %g: %g m along and %g m in, MuJoCo %g m and %g m\n", slope, along[0], depth[0],
               along[1], depth[1]);
        ck_assert_double_eq_tol(along[0], along[1], 2e-3);
        dyn_model_free(model);
    }
}
END_TEST

/* ---- A quadruped ------------------------------------------------------------------------------------------------- */

/* Computes the forces of a controller of the joints of the quadruped. */
static void hold(const double *gains, const double *pose, const double *q, const double *v, double *tau) {
    for (int i = 0; i < NV; i++) {
        tau[i] = i < 6 ? 0 : gains[i] * (pose[i + 1] - q[i + 1]) - gains[NV + i] * v[i];
    }
}

START_TEST(a_quadruped_stands_in_the_same_pose_on_its_weight) {
    double gains[2 * NV], pose[NQ], q[NQ], v[NV], forces[15], tau[NV], q_other[NQ], v_other[NV] = {0}, sum[3];
    dyn_model *model = robot_walker(0.8);
    double weight = g * dyn_model_mass(model);
    for (int i = 0; i < NV; i++) {
        gains[i] = i < 6 ? 0 : 20, gains[NV + i] = i < 6 ? 0 : 0.5;
    }
    robot_walker_stands(pose);
    memcpy(q_other, pose, sizeof pose);
    dyn_simulator *s = create_simulator(model, gains);
    dyn_error error;
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 3000, .q = pose, .q_ref = {pose, NQ, 0});
    const dyn_rollout_output out = DYN_ROLLOUT_OUTPUT_INIT(.q = q, .v = v, .contact_forces = forces);
    require(dyn_rollout_run(s, 1, &rollout, &out, &error), &error);
    mujoco_motion *other = mujoco_motion_create(model, false, dt);
    ck_assert_ptr_nonnull(other);
    mujoco_motion_set(other, pose, v_other);
    for (int i = 0; i < 3000; i++) {
        mujoco_motion_get(other, q_other, v_other);
        hold(gains, pose, q_other, v_other, tau);
        mujoco_motion_push(other, tau);
        mujoco_motion_step(other, 1);
    }
    ck_assert_int_eq(mujoco_motion_contact(other, sum), 4);
    for (int i = 7; i < NQ; i++) {
        ck_assert_double_eq_tol(q[i], q_other[i], 0.02);
    }
    for (int k = 0; k < 3; k++) {
        double ours = forces[3 + k] + forces[6 + k] + forces[9 + k] + forces[12 + k];
        printf("force %d: %g N, MuJoCo %g N, weight %g N\n", k, ours, sum[k], weight);
        ck_assert_double_eq_tol(ours, sum[k], 0.01 * weight);
        ck_assert_double_eq_tol(sum[k], k == 2 ? weight : 0, 0.01 * weight);
    }
    mujoco_motion_free(other);
    dyn_simulator_free(s);
    dyn_model_free(model);
}
END_TEST

/* ---- Stops and dry friction of joints ---------------------------------------------------------------------------- */

/* Builds an arm of two joints about y, with stops and dry friction, whose links are 0.5 m long. */
static dyn_model *bounded_arm(double friction, double upper) {
    dyn_builder *builder = NULL;
    dyn_model *model = NULL;
    dyn_error error;
    require(dyn_builder_create("arm", &builder, &error), &error);
    const dyn_link_description links[] = {
        {.name = "base"},
        {.name = "first",
         .inertia = {.mass = 2, .center_of_mass = {0.25, 0, 0}, .rotational = {0.01, 0, 0, 0.05, 0, 0.05}}},
        {.name = "second",
         .inertia = {.mass = 1, .center_of_mass = {0.25, 0, 0}, .rotational = {0.01, 0, 0, 0.03, 0, 0.03}}}};
    for (int i = 0; i < 3; i++) {
        require(dyn_builder_add_link(builder, &links[i], &error), &error);
    }
    for (int i = 0; i < 2; i++) {
        const dyn_joint_description joint = {.name = i == 0 ? "shoulder" : "elbow",
                                             .type = DYN_JOINT_TYPE_REVOLUTE,
                                             .parent_link = links[i].name,
                                             .child_link = links[i + 1].name,
                                             .position = {0.5 * i, 0, 0},
                                             .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                             .axis = {0, 1, 0},
                                             .has_limits = true,
                                             .limits = {-2, i == 0 ? upper : 0.5 * upper, 1e3, 1e3},
                                             .friction = friction / (1 + i)};
        require(dyn_builder_add_joint(builder, &joint, &error), &error);
    }
    require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Moves the arm from (q, v) for a second in both, and returns the largest difference of the positions at 20 times.
 * Stores the end in q and v. */
static double compare_arms(const dyn_model *model, double *q, double *v) {
    const double short_dt = 1e-4;
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    o.step_length = short_dt, o.solve_joints = true;
    dyn_simulator *s = NULL;
    dyn_error error;
    require(dyn_simulator_create(model, &o, &s, &error), &error);
    mujoco_motion *other = mujoco_motion_create(model, false, short_dt);
    ck_assert_ptr_nonnull(other);
    mujoco_motion_bound_joints(other, 2 * short_dt);
    mujoco_motion_set(other, q, v);
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 500, .q = q, .v = v);
    const dyn_rollout_output out = DYN_ROLLOUT_OUTPUT_INIT(.q = q, .v = v);
    double worst = 0, q_other[2], v_other[2];
    for (int i = 0; i < 20; i++) {
        require(dyn_rollout_run(s, 1, &rollout, &out, &error), &error);
        mujoco_motion_step(other, 500);
        mujoco_motion_get(other, q_other, v_other);
        for (int k = 0; k < 2; k++) {
            worst = fmax(worst, fabs(q[k] - q_other[k]));
        }
    }
    printf("arm: q = %g, %g, MuJoCo %g, %g; differs by at most %.3g rad\n", q[0], q[1], q_other[0], q_other[1], worst);
    mujoco_motion_free(other);
    dyn_simulator_free(s);
    return worst;
}

START_TEST(an_arm_brakes_by_dry_friction_as_in_mujoco) {
    dyn_model *model = bounded_arm(3, 10);
    double q[2] = {0.2, -0.1}, v[2] = {1, -3};
    ck_assert_double_le(compare_arms(model, q, v), 1e-5);
    dyn_model_free(model);
    /* Friction that exceeds the moment of the weight, at most 14.8 N m, lets the arm come to rest. */
    model = bounded_arm(20, 10);
    q[0] = 0.2, q[1] = -0.1, v[0] = 1, v[1] = -3;
    ck_assert_double_le(compare_arms(model, q, v), 1e-5);
    ck_assert_double_eq_tol(v[0], 0, 1e-9);
    ck_assert_double_eq_tol(v[1], 0, 1e-9);
    dyn_model_free(model);
}
END_TEST

START_TEST(an_arm_falls_on_its_stops_as_in_mujoco) {
    for (int i = 0; i < 2; i++) {
        dyn_model *model = bounded_arm(i == 0 ? 0 : 1, 0.8);
        double q[2] = {0, 0}, v[2] = {0, 0};
        ck_assert_double_le(compare_arms(model, q, v), 2e-3);
        ck_assert_double_eq_tol(q[0], 0.8, 1e-9);
        ck_assert_double_eq_tol(q[1], 0.4, 1e-9);
        dyn_model_free(model);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("contacts");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_resting_box_is_carried_by_the_same_force);
    tcase_add_test(tests, a_box_slides_as_far_with_and_without_friction);
    tcase_add_test(tests, forces_of_a_soft_ball_are_those_of_mujoco);
    tcase_add_test(tests, a_soft_ball_sinks_in_as_deep_as_in_mujoco);
    tcase_add_test(tests, a_soft_box_slides_as_far_as_in_mujoco);
    tcase_add_test(tests, a_quadruped_stands_in_the_same_pose_on_its_weight);
    tcase_add_test(tests, an_arm_brakes_by_dry_friction_as_in_mujoco);
    tcase_add_test(tests, an_arm_falls_on_its_stops_as_in_mujoco);
    return run_properties("contacts", tests);
}
