/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contacts with planes of links that move, whose forces act on both links, and stops of joints beside contacts: closed
 * forms of a box on a lift and on a sledge, of two carts that touch each other's planes, and of rebounds.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/contact.h>
#include <dynamics/dynamics.h>
#include <dynamics/rollout.h>

#include "robots.h"
#include "support/assertions.h"

enum { MOST_NV = 8, MOST_SURFACES = 4 };

static const double g = 9.81, carrier_mass = 3, box_mass = 2;

static const dyn_pose upright = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

static void add_surface(dyn_builder *builder, const dyn_contact_surface *surface) {
    dyn_error error;
    require(dyn_builder_add_contact_surface(builder, surface, &error), &error);
}

static void add_body(dyn_builder *builder, const char *name, double mass) {
    add_link_with(builder, name, &(dyn_inertia){.mass = mass, .rotational = {0.02, 0, 0, 0.02, 0, 0.02}});
}

/* Adds a body that slides along an axis of the world: 0, 1 or 2. */
static void add_slider(dyn_builder *builder, const char *name, double mass, int axis) {
    add_body(builder, name, mass);
    dyn_joint_description joint = joint_between(name, DYN_JOINT_TYPE_PRISMATIC, "base", name);
    joint.axis[2] = 0;
    joint.axis[axis] = 1;
    add_joint(builder, &joint);
}

/* State and results of a rollout with constant forces, in steps of dt. Its last row remains. */
typedef struct motion {
    double dt, q[MOST_NV + 1], v[MOST_NV], tau[MOST_NV], forces[3 * MOST_SURFACES];
    dyn_rollout_result result;
} motion;

static void move(const dyn_model *model, const dyn_simulation_options *chosen, size_t steps, motion *m) {
    dyn_simulation_options options = *chosen;
    dyn_simulator *simulator;
    dyn_error error;
    options.step_length = m->dt;
    require(dyn_simulator_create(model, &options, &simulator, &error), &error);
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = steps, .q = m->q, .v = m->v, .tau = {m->tau, 0, 0});
    const dyn_rollout_output out =
        DYN_ROLLOUT_OUTPUT_INIT(.q = m->q, .v = m->v, .contact_forces = m->forces, .results = &m->result);
    require(dyn_rollout_run(simulator, 1, &rollout, &out, &error), &error);
    dyn_simulator_free(simulator);
}

static void move_by_defaults(const dyn_model *model, size_t steps, motion *m) {
    const dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    move(model, &options, steps, m);
}

/* ---- A box on a body that moves ---------------------------------------------------------------------------------- */

/* Builds a carrier that slides along an axis, with a plane, and a free box with edges of 0.2 m. */
static dyn_model *box_on_carrier(int axis, double mu) {
    const dyn_contact_surface deck = {
        .name = "deck", .link = "carrier", .pose = upright, .shape = DYN_CONTACT_SHAPE_PLANE, .friction = mu};
    const dyn_contact_surface box = {.name = "box",
                                     .link = "box",
                                     .pose = upright,
                                     .shape = DYN_CONTACT_SHAPE_BOX,
                                     .size = {0.2, 0.2, 0.2},
                                     .friction = mu};
    dyn_builder *builder = new_builder();
    add_link(builder, "base");
    add_slider(builder, "carrier", carrier_mass, axis);
    add_body(builder, "box", box_mass);
    connect_links(builder, "free", DYN_JOINT_TYPE_FLOATING, "base", "box");
    add_surface(builder, &deck);
    add_surface(builder, &box);
    return build_model(builder, NULL, NULL);
}

/* Returns the state of a box at rest on its carrier, which a force pushes. */
static motion box_at_rest(double force) {
    return (motion){.dt = 1e-3, .q = {0, 0, 0, 0.1, 0, 0, 0, 1}, .tau = {force}};
}

/* Returns the way of a constant acceleration in half a second of semi-implicit steps. */
static double way(double acceleration, double dt) {
    return acceleration * (0.25 + 0.5 * dt) / 2;
}

/* Checks that the forces on the box are these, and those on the carrier the opposite ones. */
static void check_forces(const motion *m, double along, double up) {
    const double expected[] = {-along, 0, -up, along, 0, up};
    for (int k = 0; k < 6; k++) {
        ck_assert_double_eq_tol(m->forces[k], expected[k], 1e-6);
    }
}

START_TEST(a_box_on_a_lift_presses_with_its_weight_in_the_lift) {
    dyn_model *model = box_on_carrier(2, 0.5);
    /* The lift rises, stands, and sinks more slowly than a body falls. */
    const double forces[] = {80, (carrier_mass + box_mass) * g, 20};
    for (int i = 0; i < 3; i++) {
        motion m = box_at_rest(forces[i]);
        double a = forces[i] / (carrier_mass + box_mass) - g;
        move_by_defaults(model, 500, &m);
        ck_assert_double_eq_tol(m.q[0], way(a, m.dt), 1e-7);
        ck_assert_double_eq_tol(m.q[3] - 0.1, way(a, m.dt), 1e-7);
        check_forces(&m, 0, box_mass * (a + g));
    }
    /* A lift that is pulled down leaves the box behind, which falls. */
    motion m = box_at_rest(-30);
    move_by_defaults(model, 500, &m);
    ck_assert_double_eq_tol(m.q[0], way(-30 / carrier_mass - g, m.dt), 1e-9);
    ck_assert_double_eq_tol(m.q[3] - 0.1, way(-g, m.dt), 1e-9);
    check_forces(&m, 0, 0);
    dyn_model_free(model);
}
END_TEST

START_TEST(a_box_rides_on_a_sledge_up_to_the_force_of_friction) {
    const double mu = 0.4;
    dyn_model *model = box_on_carrier(0, mu);
    motion slow = box_at_rest(0.9 * mu * g * (carrier_mass + box_mass)), fast = box_at_rest(60);
    move_by_defaults(model, 500, &slow);
    ck_assert_double_eq_tol(slow.q[0], way(0.9 * mu * g, slow.dt), 1e-7);
    ck_assert_double_eq_tol(slow.q[1], way(0.9 * mu * g, slow.dt), 1e-7);
    check_forces(&slow, 0.9 * mu * g * box_mass, box_mass * g);
    move_by_defaults(model, 500, &fast);
    ck_assert_double_eq_tol(fast.q[0], way((60 - mu * g * box_mass) / carrier_mass, fast.dt), 1e-6);
    ck_assert_double_eq_tol(fast.q[1], way(mu * g, fast.dt), 1e-6);
    check_forces(&fast, mu * g * box_mass, box_mass * g);
    dyn_model_free(model);
}
END_TEST

/* ---- Each other's planes ----------------------------------------------------------------------------------------- */

/* Adds a cart with a plane at 0.1 m ahead of its origin, and a ball that juts out 0.05 m, at its other side. */
static void add_cart(dyn_builder *builder, const char *name, double mass, double ahead, double restitution) {
    dyn_contact_surface plane = {
        .name = ahead > 0 ? "plane of a" : "plane of b",
        .link = name,
        .pose = {.position = {0.1 * ahead, 0, 0}, .rotation = {0, 0, ahead, 0, 1, 0, -ahead, 0, 0}},
        .shape = DYN_CONTACT_SHAPE_PLANE,
        .restitution = restitution};
    dyn_contact_surface ball = {.name = ahead > 0 ? "ball of a" : "ball of b",
                                .link = name,
                                .pose = upright,
                                .shape = DYN_CONTACT_SHAPE_SPHERE,
                                .radius = 0.05};
    ball.pose.position[0] = 0.1 * ahead, ball.pose.position[1] = 0.3 * ahead;
    add_slider(builder, name, mass, 0);
    add_surface(builder, &plane);
    add_surface(builder, &ball);
}

START_TEST(carts_that_touch_each_others_planes_exchange_momentum) {
    const double masses[] = {1, 3}, e = 0.6, before[] = {2, -0.5};
    dyn_builder *builder = new_builder();
    add_link(builder, "base");
    add_cart(builder, "a", masses[0], 1, e);
    add_cart(builder, "b", masses[1], -1, e);
    dyn_model *model = build_model(builder, NULL, NULL);
    /* The gap of both pairs is q_b - q_a - 0.25. */
    motion m = {.dt = 1e-3, .q = {0, 0.2512}, .v = {before[0], before[1]}};
    move_by_defaults(model, 1, &m);
    double reduced = masses[0] * masses[1] / (masses[0] + masses[1]), p = (1 + e) * reduced * (before[0] - before[1]);
    ck_assert_double_eq_tol(m.v[0], before[0] - p / masses[0], 1e-9);
    ck_assert_double_eq_tol(m.v[1], before[1] + p / masses[1], 1e-9);
    for (int k = 0; k < 3; k++) {
        /* The ball of a touches the plane of b, and the other way round: both pairs have opposite forces. */
        ck_assert_double_eq_tol(m.forces[3 + k] + m.forces[6 + k], 0, 1e-9 * p / m.dt);
        ck_assert_double_eq_tol(m.forces[k] + m.forces[9 + k], 0, 1e-9 * p / m.dt);
    }
    ck_assert_double_eq_tol(m.forces[0] + m.forces[3], -p / m.dt, 1e-6);
    move_by_defaults(model, 500, &m);
    ck_assert_double_eq_tol(masses[0] * m.v[0] + masses[1] * m.v[1], masses[0] * before[0] + masses[1] * before[1],
                            1e-9);
    dyn_model_free(model);
}
END_TEST

/* ---- Rebounds from stops ----------------------------------------------------------------------------------------- */

/* Builds a body that falls along a vertical slide to a stop at 0, or without a stop to a plane there. */
static dyn_model *falling_body(bool has_stop, double restitution) {
    const dyn_contact_surface floor = {
        .name = "floor", .pose = upright, .shape = DYN_CONTACT_SHAPE_PLANE, .restitution = restitution};
    const dyn_contact_surface tip = {
        .name = "tip", .link = "body", .pose = upright, .shape = DYN_CONTACT_SHAPE_POINT, .restitution = restitution};
    dyn_builder *builder = new_builder();
    add_link(builder, "base");
    add_body(builder, "body", box_mass);
    dyn_joint_description joint = joint_between("slide", DYN_JOINT_TYPE_PRISMATIC, "base", "body");
    joint.has_limits = has_stop, joint.limits = (dyn_joint_limits){0, 10, 1e3, 1e3};
    add_joint(builder, &joint);
    if (!has_stop) {
        add_surface(builder, &floor);
        add_surface(builder, &tip);
    }
    return build_model(builder, NULL, NULL);
}

/* Returns the height of a body in free fall from 1 m with rebounds, after a time. */
static double height_of_rebounds(double e, double time) {
    double speed = sqrt(2 * g), start = speed / g;
    if (time < start) {
        return 1 - g * time * time / 2;
    }
    for (speed *= e; time - start > 2 * speed / g; speed *= e) {
        start += 2 * speed / g;
    }
    return (speed - g * (time - start) / 2) * (time - start);
}

/* Loops over stops that act after the contacts, stops in the solver of the contacts, and a plane. */
START_TEST(a_body_rebounds_from_a_stop_as_in_its_closed_form) {
    const double e = 0.7;
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    options.restitution = e, options.solve_joints = _i == 1;
    dyn_model *model = falling_body(_i < 2, e);
    motion m = {.dt = 1e-5, .q = {1}};
    for (int i = 1; i <= 16; i++) {
        move(model, &options, 10000, &m);
        /* A rebound begins up to a step late, and each one adds its share: 2 sqrt(2 g) dt for some impacts. */
        ck_assert_double_eq_tol(m.q[0], height_of_rebounds(e, 0.1 * i), 1e-3);
    }
    dyn_model_free(model);
}
END_TEST

/* ---- Impacts without time ---------------------------------------------------------------------------------------- */

/* Computes an impact of one sample with the stops of its joints. */
static dyn_status strike(const dyn_model *model, double restitution, const double *q, const double *v,
                         const dyn_contact_impact *impact, dyn_error *error) {
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *simulator;
    options.solve_joints = true;
    require(dyn_simulator_create(model, &options, &simulator, error), error);
    dyn_status status = dyn_simulator_impact(simulator, 1, q, v, restitution, impact, error);
    dyn_simulator_free(simulator);
    return status;
}

START_TEST(a_body_that_strikes_a_floor_obeys_newton_and_coulomb) {
    const double e = 0.5, mu = 0.2;
    const dyn_contact_surface floor = {
        .name = "floor", .pose = upright, .shape = DYN_CONTACT_SHAPE_PLANE, .restitution = e, .friction = mu};
    const dyn_contact_surface tip = {
        .name = "tip", .link = "box", .pose = upright, .shape = DYN_CONTACT_SHAPE_POINT, .friction = mu};
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_builder *builder = new_builder();
    add_body(builder, "box", box_mass);
    add_surface(builder, &floor);
    add_surface(builder, &tip);
    dyn_model *model = build_model(builder, &options, NULL);
    /* Slow slip sticks; fast slip takes the friction of the normal impulse; a body that leaves has no impulse. */
    const double before[3][3] = {{0.3, 0, -2}, {2, 0, -2}, {1, 0, 0.5}};
    for (int i = 0; i < 3; i++) {
        double normal = i < 2 ? (1 + e) * box_mass * 2 : 0, limit = mu * normal;
        double along = fmin(limit, box_mass * before[i][0]);
        double q[7] = {0, 0, 0, 0, 0, 0, 1}, v[6] = {before[i][0], 0, before[i][2]}, impulses[6], residual;
        dyn_error error;
        require(strike(model, 0, q, v, &(dyn_contact_impact){v, impulses, NULL, &residual}, &error), &error);
        ck_assert_double_eq_tol(v[0], before[i][0] - along / box_mass, 1e-9);
        ck_assert_double_eq_tol(v[2], before[i][2] + normal / box_mass, 1e-9);
        ck_assert_double_eq_tol(impulses[3], -along, 1e-9);
        ck_assert_double_eq_tol(impulses[5], normal, 1e-9);
        ck_assert_double_eq_tol(impulses[2], -normal, 1e-9);
        ck_assert_double_le(residual, 1e-9);
    }
    dyn_model_free(model);
}
END_TEST

START_TEST(a_joint_strikes_its_stop_where_it_reaches_it) {
    dyn_model *model = falling_body(true, 0);
    /* At the stop; 1 mm above it, which the velocity closes in a step of 1 ms; and 0.1 m above it. */
    const double heights[] = {0, 0.001, 0.1}, e = 0.4;
    for (int i = 0; i < 3; i++) {
        double v = -3, impulse, p = i < 2 ? (1 + e) * box_mass * 3 : 0;
        dyn_error error;
        require(strike(model, e, &heights[i], &v, &(dyn_contact_impact){.v = &v, .stops = &impulse}, &error), &error);
        ck_assert_double_eq_tol(v, -3 + p / box_mass, 1e-12);
        ck_assert_double_eq_tol(impulse, p, 1e-12);
        dyn_status status = strike(model, 1.5, &heights[i], &v, &(dyn_contact_impact){0}, &error);
        expect_error(status, &error, DYN_INVALID_ARGUMENT, "restitution", "1.5");
    }
    dyn_model_free(model);
}
END_TEST

START_TEST(an_arm_that_strikes_two_stops_answers_by_its_mass_matrix) {
    dyn_builder *builder = new_builder();
    add_link(builder, "base");
    const char *const names[] = {"base", "first", "second", "third"};
    for (int i = 1; i < 4; i++) {
        add_body(builder, names[i], 1 + i);
        dyn_joint_description joint = joint_between(names[i], DYN_JOINT_TYPE_REVOLUTE, names[i - 1], names[i]);
        joint.position[0] = 0.4 * (i > 1);
        joint.has_limits = true, joint.limits = (dyn_joint_limits){-1, 1, 1e3, 1e3};
        add_joint(builder, &joint);
    }
    dyn_model *model = build_model(builder, NULL, NULL);
    /* The first and the last joint strike the stops at the two ends of their ranges; the second one moves freely. */
    const double q[3] = {1, 0.3, -1}, v[3] = {2, 0.5, -3}, e = 0.6;
    double after[3], stops[3], M[9], energy[2] = {0};
    dyn_workspace *workspace;
    dyn_error error;
    require(strike(model, e, q, v, &(dyn_contact_impact){.v = after, .stops = stops}, &error), &error);
    require(dyn_workspace_create(model, &workspace, &error), &error);
    require(dyn_crba(model, workspace, 1, q, M, &error), &error);
    for (int i = 0; i < 3; i++) {
        double change = 0;
        for (int k = 0; k < 3; k++) {
            change += M[3 * i + k] * (after[k] - v[k]);
            energy[0] += v[i] * M[3 * i + k] * v[k] / 2, energy[1] += after[i] * M[3 * i + k] * after[k] / 2;
        }
        ck_assert_double_eq_tol(change, stops[i], 1e-9);
    }
    ck_assert_double_eq_tol(after[0], -e * v[0], 1e-9);
    ck_assert_double_eq_tol(after[2], -e * v[2], 1e-9);
    ck_assert(stops[0] < 0 && stops[1] == 0 && stops[2] > 0);
    ck_assert_double_lt(energy[1], energy[0]);
    dyn_workspace_free(workspace);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("moving_contacts");
    tcase_add_test(tests, a_box_on_a_lift_presses_with_its_weight_in_the_lift);
    tcase_add_test(tests, a_box_rides_on_a_sledge_up_to_the_force_of_friction);
    tcase_add_test(tests, carts_that_touch_each_others_planes_exchange_momentum);
    tcase_add_test(tests, a_body_that_strikes_a_floor_obeys_newton_and_coulomb);
    tcase_add_test(tests, a_joint_strikes_its_stop_where_it_reaches_it);
    tcase_add_test(tests, an_arm_that_strikes_two_stops_answers_by_its_mass_matrix);
    tcase_add_loop_test(tests, a_body_rebounds_from_a_stop_as_in_its_closed_form, 0, 3);
    return run_tests(tests);
}
