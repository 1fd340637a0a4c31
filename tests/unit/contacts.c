/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contacts: closed forms of a block on a slope, of a ball that bounces and of an elastic impact; stops and dry friction
 * of joints and constraints beside them; refusals.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/constraint.h>
#include <dynamics/contact.h>
#include <dynamics/rollout.h>

#include "robots.h"
#include "support/assertions.h"
#include "support/random.h"

enum { NQ = 7, NV = 6 };

static const double g = 9.81;

/* Surface of the world: a plane whose normal is turned by `slope` about y. */
static dyn_contact_surface ground(double slope) {
    double c = cos(slope), s = sin(slope);
    return (dyn_contact_surface){
        .name = "ground", .pose = {.rotation = {c, 0, s, 0, 1, 0, -s, 0, c}}, .shape = DYN_CONTACT_SHAPE_PLANE};
}

static dyn_contact_surface surface_of_body(dyn_contact_shape shape) {
    return (dyn_contact_surface){.name = "surface",
                                 .link = "body",
                                 .pose = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}},
                                 .shape = shape,
                                 .radius = 0.1,
                                 .length = 0.2,
                                 .size = {0.2, 0.2, 0.2}};
}

/* Builds a free body of 2 kg with a contact surface, and a plane. */
static dyn_model *body_on_plane(const dyn_contact_surface *body, const dyn_contact_surface *plane) {
    const dyn_inertia inertia = {.mass = 2, .rotational = {0.02, 0, 0, 0.02, 0, 0.02}};
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_builder *builder = new_builder();
    dyn_error error;
    add_link_with(builder, "body", &inertia);
    ck_assert_msg(dyn_builder_add_contact_surface(builder, body, &error) == DYN_OK, "%s", error.message);
    ck_assert_msg(dyn_builder_add_contact_surface(builder, plane, &error) == DYN_OK, "%s", error.message);
    return build_model(builder, &options, NULL);
}

/* Rollout of n samples from (q, v), with the rows of all steps. The caller frees q, v and forces. */
typedef struct course {
    size_t n, steps;
    double dt, gravity[3];
    double *q, *v, *forces;
    dyn_rollout_result result;
} course;

static void run(const dyn_model *model, const double *q, const double *v, course *c) {
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    options.step_length = c->dt, options.has_gravity = true;
    memcpy(options.gravity, c->gravity, sizeof options.gravity);
    dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = c->steps, .stride = 1, .q = q, .v = v);
    size_t rows = c->n * (c->steps + 1);
    dyn_rollout_result *results = calloc(c->n, sizeof *results);
    c->q = calloc(rows * NQ, sizeof(double));
    c->v = calloc(rows * NV, sizeof(double));
    c->forces = calloc(rows * 6, sizeof(double));
    const dyn_rollout_output out =
        DYN_ROLLOUT_OUTPUT_INIT(.q = c->q, .v = c->v, .contact_forces = c->forces, .results = results);
    dyn_simulator *simulator;
    dyn_error error;
    ck_assert_msg(dyn_simulator_create(model, &options, &simulator, &error) == DYN_OK, "%s", error.message);
    dyn_status status = dyn_rollout_run(simulator, c->n, &rollout, &out, &error);
    ck_assert_msg(status == DYN_OK, "%s: %s", error.place, error.message);
    c->result = results[0];
    free(results);
    dyn_simulator_free(simulator);
}

static void free_course(course *c) {
    free(c->q), free(c->v), free(c->forces);
}

static const double *row_q(const course *c, size_t step) {
    return c->q + step * NQ;
}

/* ---- Coulomb friction -------------------------------------------------------------------------------------------- */

/* Returns the distance that a block slides down a slope in a second, from rest. */
static double slide(dyn_contact_shape shape, double slope, double mu, double dt) {
    dyn_contact_surface plane = ground(slope), box = surface_of_body(shape);
    plane.friction = box.friction = mu;
    dyn_model *model = body_on_plane(&box, &plane);
    const double n[3] = {sin(slope), 0, cos(slope)};
    double q[NQ] = {0.1 * n[0], 0, 0.1 * n[2], 0, sin(slope / 2), 0, cos(slope / 2)}, v[NV] = {0};
    course c = {.n = 1, .steps = (size_t)lround(1 / dt), .dt = dt, .gravity = {0, 0, -g}};
    run(model, q, v, &c);
    const double *end = row_q(&c, c.steps), *f = c.forces + c.steps * 6;
    double distance = (end[0] - q[0]) * cos(slope) - (end[2] - q[2]) * sin(slope);
    double lift = (end[0] - q[0]) * n[0] + (end[2] - q[2]) * n[2];
    /* A step moves a rolling ball along the chord of a screw, which leaves the plane by dt^2 |w| |v| / 2. */
    ck_assert_double_eq_tol(lift, 0, shape == DYN_CONTACT_SHAPE_BOX ? 1e-6 : 2e-4);
    /* The normal force is that of the weight, in either case, and the plane takes its opposite. */
    ck_assert_double_eq_tol(f[0] * n[0] + f[2] * n[2], 2 * g * cos(slope), shape == DYN_CONTACT_SHAPE_BOX ? 1e-4 : 0.1);
    ck_assert_double_eq_tol(f[0] + f[3], 0, 1e-9);
    ck_assert_double_le(c.result.contact_residual, 1e-9);
    free_course(&c);
    dyn_model_free(model);
    return distance;
}

START_TEST(a_block_sticks_below_the_angle_of_friction_and_slides_above) {
    const double mu = 0.5, angle = atan(mu), degree = acos(-1) / 180;
    ck_assert_double_eq_tol(slide(DYN_CONTACT_SHAPE_BOX, angle - 0.1 * degree, mu, 1e-3), 0, 2e-5);
    for (int i = 1; i <= 10; i += 3) {
        double slope = angle + i * degree, a = g * (sin(slope) - mu * cos(slope)), dt = 1e-3;
        /* Semi-implicit steps of a constant acceleration end at a (t^2 + t dt) / 2. */
        ck_assert_double_eq_tol(slide(DYN_CONTACT_SHAPE_BOX, slope, mu, dt), a * (1 + dt) / 2, 1e-7);
    }
}
END_TEST

START_TEST(a_ball_rolls_down_a_slope_without_slipping) {
    /* a = g sin / (1 + I / (m r^2)), as long as mu is at least a third or so of the slope. */
    double slope = 0.3, a = g * sin(slope) / (1 + 0.02 / (2 * 0.01)), dt = 1e-4;
    double found = slide(DYN_CONTACT_SHAPE_SPHERE, slope, 0.5, dt);
    ck_assert_double_eq_tol(found, a / 2, 2e-3 * a / 2);
}
END_TEST

/* ---- Impacts ----------------------------------------------------------------------------------------------------- */

/* Returns the height of the second apex of a ball that falls by 1 m, above the first position of contact. */
static double rebound(double e, double dt) {
    dyn_contact_surface plane = ground(0), ball = surface_of_body(DYN_CONTACT_SHAPE_SPHERE);
    ball.restitution = e;
    dyn_model *model = body_on_plane(&ball, &plane);
    double q[NQ] = {0, 0, 1.1, 0, 0, 0, 1}, v[NV] = {0}, top = 0;
    course c = {.n = 1, .steps = (size_t)lround(0.9 / dt), .dt = dt, .gravity = {0, 0, -g}};
    run(model, q, v, &c);
    for (size_t k = (size_t)lround(0.5 / dt); k <= c.steps; k++) {
        top = fmax(top, row_q(&c, k)[2] - 0.1);
    }
    free_course(&c);
    dyn_model_free(model);
    return top;
}

START_TEST(a_ball_rebounds_to_the_height_of_its_closed_form) {
    for (int i = 0; i < 3; i++) {
        double e = 0.5 + 0.25 * i, coarse = fabs(rebound(e, 1e-3) - e * e), fine = fabs(rebound(e, 1e-4) - e * e);
        ck_assert_double_le(coarse, 1e-2);
        ck_assert_double_le(fine, 1e-3);
    }
}
END_TEST

START_TEST(a_compliant_impact_follows_hunt_and_crossley) {
    /* Without dissipation: m v^2 / 2 = 2/5 k x^(5/2) at the largest penetration x, and the speed returns. */
    const double k = 1e5, speed = 0.5, m = 2, dt = 1e-5, x = pow(1.25 * m * speed * speed / k, 0.4);
    for (int i = 0; i < 2; i++) {
        const double d = 0.2 * i, gravity[3] = {0};
        dyn_contact_surface plane = ground(0), ball = surface_of_body(DYN_CONTACT_SHAPE_SPHERE);
        ball.stiffness = k, ball.dissipation = d;
        dyn_model *model = body_on_plane(&ball, &plane);
        double q[NQ] = {0, 0, 0.1 + 1e-4, 0, 0, 0, 1}, v[NV] = {0, 0, -speed}, least = 1;
        course c = {.n = 1, .steps = 8000, .dt = dt};
        memcpy(c.gravity, gravity, sizeof gravity);
        run(model, q, v, &c);
        for (size_t step = 0; step <= c.steps; step++) {
            least = fmin(least, row_q(&c, step)[2]);
        }
        double after = c.v[c.steps * NV + 2];
        if (i == 0) {
            ck_assert_double_eq_tol(0.1 - least, x, 1e-3 * x);
            ck_assert_double_eq_tol(after, speed, 2e-3 * speed);
        } else {
            /* The coefficient of restitution is 1 - d v to first order (Hunt and Crossley 1975, equation 5). */
            ck_assert_double_eq_tol(after / speed, 1 - d * speed, 0.02);
        }
        free_course(&c);
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(shapes_rest_on_a_plane_at_their_size) {
    const dyn_contact_shape shapes[] = {DYN_CONTACT_SHAPE_SPHERE, DYN_CONTACT_SHAPE_BOX, DYN_CONTACT_SHAPE_CYLINDER,
                                        DYN_CONTACT_SHAPE_CAPSULE, DYN_CONTACT_SHAPE_POINT};
    const double heights[] = {0.1, 0.1, 0.1, 0.2, 0};
    for (int i = 0; i < 5; i++) {
        dyn_contact_surface plane = ground(0), body = surface_of_body(shapes[i]);
        plane.friction = body.friction = 0.7;
        dyn_model *model = body_on_plane(&body, &plane);
        double q[NQ] = {0, 0, heights[i] + 0.02, 0, 0, 0, 1}, v[NV] = {0};
        course c = {.n = 1, .steps = 500, .dt = 1e-3, .gravity = {0, 0, -g}};
        run(model, q, v, &c);
        ck_assert_double_eq_tol(row_q(&c, c.steps)[2], heights[i], 1e-6);
        ck_assert_double_eq_tol(c.forces[c.steps * 6 + 2], 2 * g, 1e-6);
        free_course(&c);
        dyn_model_free(model);
    }
}
END_TEST

/* ---- Height fields ----------------------------------------------------------------------------------------------- */

START_TEST(bodies_move_on_an_inclined_height_field_as_on_a_plane) {
    /* Five rows of four heights over 8 m x 10 m that lie in the plane z = 0.2 x - 0.1 y. */
    enum { ROWS = 5, COLUMNS = 4, STEPS = 400 };
    double heights[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        heights[i] = 0.2 * (8.0 * (i % COLUMNS) / (COLUMNS - 1) - 4) - 0.1 * (10.0 * (i / COLUMNS) / (ROWS - 1) - 5);
    }
    const dyn_contact_shape shapes[] = {DYN_CONTACT_SHAPE_POINT, DYN_CONTACT_SHAPE_SPHERE, DYN_CONTACT_SHAPE_CAPSULE,
                                        DYN_CONTACT_SHAPE_BOX};
    const double length = sqrt(1.05), n[3] = {-0.2 / length, 0.1 / length, 1 / length};
    const double across = sqrt(n[0] * n[0] + n[2] * n[2]);
    for (int i = 0; i < 4; i++) {
        dyn_contact_surface field = ground(0), plane = ground(0), body = surface_of_body(shapes[i]);
        field.shape = DYN_CONTACT_SHAPE_HEIGHT_FIELD, field.size[0] = 8, field.size[1] = 10;
        field.rows = ROWS, field.columns = COLUMNS, field.heights = heights;
        /* Columns of the rotation: x axis in the plane y = 0, then n x x, then n. */
        const double x[3] = {n[2] / across, 0, -n[0] / across};
        const double y[3] = {n[1] * x[2] - n[2] * x[1], n[2] * x[0] - n[0] * x[2], n[0] * x[1] - n[1] * x[0]};
        for (int k = 0; k < 3; k++) {
            plane.pose.rotation[3 * k] = x[k], plane.pose.rotation[3 * k + 1] = y[k];
            plane.pose.rotation[3 * k + 2] = n[k];
        }
        field.friction = plane.friction = body.friction = 0.3;
        const double q[NQ] = {0.3, 0.4, 0.35, 0, 0, 0, 1}, v[NV] = {0.5, -0.2, 0, 0.3, 0.1, 0.2};
        course c[2] = {{.n = 1, .steps = STEPS, .dt = 1e-3, .gravity = {0, 0, -g}},
                       {.n = 1, .steps = STEPS, .dt = 1e-3, .gravity = {0, 0, -g}}};
        for (int k = 0; k < 2; k++) {
            dyn_model *model = body_on_plane(&body, k == 0 ? &field : &plane);
            run(model, q, v, &c[k]);
            dyn_model_free(model);
        }
        for (int k = 0; k < NQ; k++) {
            ck_assert_double_eq_tol(row_q(&c[0], STEPS)[k], row_q(&c[1], STEPS)[k], 1e-6);
        }
        free_course(&c[0]), free_course(&c[1]);
    }
}
END_TEST

START_TEST(a_ball_settles_in_a_valley_and_falls_beyond_the_grid) {
    /* A valley along y: heights 0.5 |x| over 2 m x 2 m. */
    static const double heights[] = {0.5, 0, 0.5, 0.5, 0, 0.5};
    dyn_contact_surface field = ground(0), ball = surface_of_body(DYN_CONTACT_SHAPE_SPHERE);
    field.shape = DYN_CONTACT_SHAPE_HEIGHT_FIELD, field.size[0] = field.size[1] = 2;
    field.rows = 2, field.columns = 3, field.heights = heights;
    dyn_model *model = body_on_plane(&ball, &field);
    const double starts[2][NQ] = {{0.4, 0.1, 0.4, 0, 0, 0, 1}, {1.5, 0, 0.4, 0, 0, 0, 1}}, v[NV] = {0};
    for (int i = 0; i < 2; i++) {
        course c = {.n = 1, .steps = 4000, .dt = 1e-3, .gravity = {0, 0, -g}};
        run(model, starts[i], v, &c);
        double x = row_q(&c, c.steps)[0], z = row_q(&c, c.steps)[2];
        if (i == 0) {
            ck_assert_double_le(fabs(x), 0.4);
            ck_assert_double_eq_tol(z, 0.5 * fabs(x) + 0.1 * sqrt(1.25), 0.02);
        } else {
            ck_assert_double_le(z, -70);
        }
        free_course(&c);
    }
    dyn_model_free(model);
}
END_TEST

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

START_TEST(results_of_a_sample_do_not_depend_on_the_others) {
    enum { SAMPLES = 11, STEPS = 300 };
    dyn_contact_surface plane = ground(0.1), box = surface_of_body(DYN_CONTACT_SHAPE_BOX);
    plane.friction = box.friction = 0.4, box.restitution = 0.3;
    dyn_model *model = body_on_plane(&box, &plane);
    double q[SAMPLES * NQ], v[SAMPLES * NV];
    random_source random = random_seed("results_of_a_sample_do_not_depend_on_the_others", 16);
    for (int i = 0; i < SAMPLES; i++) {
        const double at[NQ] = {0, 0, 0.25 + 0.03 * i, 0, 0, 0, 1};
        memcpy(q + i * NQ, at, sizeof at);
        for (int k = 0; k < NV; k++) {
            v[i * NV + k] = random_uniform(&random, -2, 2);
        }
    }
    course all = {.n = SAMPLES, .steps = STEPS, .dt = 1e-3, .gravity = {0, 0, -g}};
    run(model, q, v, &all);
    for (int i = 0; i < SAMPLES; i++) {
        course one = {.n = 1, .steps = STEPS, .dt = 1e-3, .gravity = {0, 0, -g}};
        run(model, q + i * NQ, v + i * NV, &one);
        ck_assert_mem_eq(one.q, all.q + (size_t)i * (STEPS + 1) * NQ, (STEPS + 1) * NQ * sizeof(double));
        ck_assert_mem_eq(one.forces, all.forces + (size_t)i * (STEPS + 1) * 6, (STEPS + 1) * 6 * sizeof(double));
        free_course(&one);
    }
    free_course(&all);
    dyn_model_free(model);
}
END_TEST

START_TEST(a_simulator_tells_the_state_of_its_surfaces) {
    dyn_contact_surface plane = ground(0), ball = surface_of_body(DYN_CONTACT_SHAPE_SPHERE);
    dyn_model *model = body_on_plane(&ball, &plane);
    double q[NQ] = {0, 0, 0.1, 0, 0, 0, 1}, v[NV] = {0.5};
    dyn_simulator *simulator;
    dyn_contact_state state;
    dyn_error error;
    ck_assert_int_eq(dyn_simulator_create(model, NULL, &simulator, &error), DYN_OK);
    ck_assert_int_eq(dyn_simulator_step(simulator, 1, NULL, q, v, NULL, NULL, &error), DYN_OK);
    ck_assert(dyn_simulator_contact(simulator, 0, &state));
    ck_assert_double_eq_tol(state.force[2], 2 * g, 1e-9);
    ck_assert_double_eq_tol(state.gap, 0, 1e-15);
    ck_assert_double_eq_tol(state.slip, 0.5, 1e-12);
    ck_assert(dyn_simulator_contact(simulator, 1, &state));
    ck_assert_double_eq_tol(state.force[2], -2 * g, 1e-9);
    ck_assert(!dyn_simulator_contact(simulator, 2, &state));
    ck_assert(!dyn_simulator_contact(simulator, -1, &state));
    dyn_simulator_free(simulator);
    dyn_model_free(model);
}
END_TEST

/* ---- Joints and constraints in the same problem ------------------------------------------------------------------ */

/* Moves a model with one coordinate for some steps of 1 ms, with its stops and its friction beside the contacts. */
static dyn_sample_result move_joint(const dyn_model *model, double restitution, int steps, double *q, double *v) {
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    dyn_sample_result result = {0}, all = {0};
    dyn_simulator *simulator;
    dyn_error error;
    options.restitution = restitution, options.solve_joints = true;
    ck_assert_msg(dyn_simulator_create(model, &options, &simulator, &error) == DYN_OK, "%s", error.message);
    for (int i = 0; i < steps; i++) {
        ck_assert_int_eq(dyn_simulator_step(simulator, 1, NULL, q, v, NULL, &result, &error), DYN_OK);
        all.contact_residual = fmax(all.contact_residual, result.contact_residual);
        all.hit_joint = result.hit_joint ? result.hit_joint : all.hit_joint;
    }
    dyn_simulator_free(simulator);
    return all;
}

/* Builds a body of 2 kg, 0.5 m below a joint: a vertical slide with friction, or a pendulum about y with limits. */
static dyn_model *joint_model(dyn_joint_type type, double friction, double lower, double upper) {
    const dyn_inertia inertia = {.mass = 2, .center_of_mass = {0.5, 0, 0}, .rotational = {0.02, 0, 0, 0.02, 0, 0.02}};
    const dyn_joint_limits limits = {lower, upper, 1e3, 1e3};
    dyn_builder *builder = new_builder();
    add_link(builder, "base");
    add_link_with(builder, "body", &inertia);
    dyn_joint_description joint = joint_between("joint", type, "base", "body");
    joint.axis[2] = type == DYN_JOINT_TYPE_PRISMATIC, joint.axis[1] = type == DYN_JOINT_TYPE_REVOLUTE;
    joint.friction = friction, joint.has_limits = true, joint.limits = limits;
    add_joint(builder, &joint);
    return build_model(builder, NULL, NULL);
}

START_TEST(dry_friction_holds_a_block_and_brakes_one_that_slides) {
    for (int i = 0; i < 2; i++) {
        double f = i == 0 ? 1.01 * 2 * g : 0.4 * 2 * g, a = i == 0 ? 0 : -0.6 * g, q = 0, v = 0, dt = 1e-3;
        dyn_model *model = joint_model(DYN_JOINT_TYPE_PRISMATIC, f, -1e3, 1e3);
        dyn_sample_result result = move_joint(model, 0, 1000, &q, &v);
        ck_assert_double_eq_tol(v, a, 1e-9);
        ck_assert_double_eq_tol(q, a * (1 + dt) / 2, 1e-9);
        ck_assert_double_le(result.contact_residual, 1e-9);
        /* A block that is thrown up comes to rest, where friction exceeds its weight, at v^2 / (2 (g + f / m)). */
        if (i == 0) {
            q = 0, v = 3;
            move_joint(model, 0, 1000, &q, &v);
            ck_assert_double_eq_tol(q, 4.5 / (2.01 * g), 2e-3);
            ck_assert_double_eq_tol(v, 0, 1e-12);
        }
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(a_pendulum_rests_on_its_stop_and_rebounds_from_it) {
    dyn_model *model = joint_model(DYN_JOINT_TYPE_REVOLUTE, 0, -1, 0.5);
    double q = 0, v = 0, top = 0.5;
    dyn_sample_result result = move_joint(model, 0, 2000, &q, &v);
    ck_assert_double_eq_tol(q, 0.5, 1e-12);
    ck_assert_double_eq_tol(v, 0, 1e-12);
    ck_assert_int_eq(result.hit_joint, 1);
    /* With e = 0.8 the height after an impact is that of its energy: sin q_1 = sin 0.5 (1 - e^2). */
    q = 0, v = 0;
    bool has_hit = false;
    for (int i = 0; i < 800; i++) {
        double before = v;
        has_hit |= move_joint(model, 0.8, 1, &q, &v).hit_joint != 0 || (before > 0 && v < 0);
        top = has_hit ? fmin(top, q) : top;
        if (has_hit && v > 0) {
            break;
        }
    }
    ck_assert(has_hit);
    ck_assert_double_eq_tol(sin(top), sin(0.5) * (1 - 0.64), 5e-3);
    dyn_model_free(model);
}
END_TEST

/* Builds a box of 2 kg on a slope: one body, or two halves that a weld closes. */
static dyn_model *welded_box(bool is_welded, double slope, double mu) {
    dyn_contact_surface plane = ground(slope), box = surface_of_body(DYN_CONTACT_SHAPE_BOX);
    plane.friction = box.friction = mu;
    const dyn_inertia half = {.mass = 1, .rotational = {0.01, 0, 0, 0.01, 0, 0.01}};
    const dyn_inertia whole = {.mass = 2, .rotational = {0.02, 0, 0, 0.02, 0, 0.02}};
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    const dyn_pose here = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const dyn_constraint_description weld = {.name = "weld",
                                             .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
                                             .type = DYN_JOINT_TYPE_FIXED,
                                             .predecessor = {"body", here},
                                             .successor = {"other", here},
                                             .axis = {0, 0, 1}};
    dyn_builder *builder = new_builder();
    dyn_error error;
    add_link_with(builder, "body", is_welded ? &half : &whole);
    if (is_welded) {
        add_link_with(builder, "other", &half);
        connect_links(builder, "hinge", DYN_JOINT_TYPE_REVOLUTE, "body", "other");
        ck_assert_msg(dyn_builder_add_constraint(builder, &weld, &error) == DYN_OK, "%s", error.message);
    }
    ck_assert_msg(dyn_builder_add_contact_surface(builder, &box, &error) == DYN_OK, "%s", error.message);
    ck_assert_msg(dyn_builder_add_contact_surface(builder, &plane, &error) == DYN_OK, "%s", error.message);
    return build_model(builder, &options, NULL);
}

START_TEST(a_box_of_two_welded_halves_moves_as_one_body) {
    /* The weld has six rows, five of which depend on the others: the hinge of the halves allows one direction. */
    for (int i = 0; i < 3; i++) {
        const double slope = 0.2 * i, v[] = {0.3, 0, 0, 0, 0.5 * i, 1, 0};
        const double q[] = {0.1 * sin(slope), 0, 0.1 * cos(slope) + 1e-3, 0, sin(slope / 2), 0, cos(slope / 2), 0};
        double ends[2][NQ + 1], forces[2][6];
        for (int k = 0; k < 2; k++) {
            dyn_model *model = welded_box(k == 1, slope, 0.3);
            dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
            const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 500, .q = q, .v = v);
            dyn_rollout_result result;
            const dyn_rollout_output out =
                DYN_ROLLOUT_OUTPUT_INIT(.q = ends[k], .contact_forces = forces[k], .results = &result);
            dyn_simulator *simulator;
            dyn_error error;
            ck_assert_int_eq(dyn_simulator_create(model, &options, &simulator, &error), DYN_OK);
            ck_assert_int_eq(dyn_rollout_run(simulator, 1, &rollout, &out, &error), DYN_OK);
            ck_assert_double_le(result.closure_error, 1e-9);
            ck_assert_double_le(result.contact_residual, 1e-8);
            dyn_simulator_free(simulator);
            dyn_model_free(model);
        }
        for (int k = 0; k < NQ; k++) {
            ck_assert_double_eq_tol(ends[0][k], ends[1][k], 1e-7);
        }
        for (int k = 0; k < 6; k++) {
            ck_assert_double_eq_tol(forces[0][k], forces[1][k], 1e-4);
        }
    }
}
END_TEST

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

/* Asserts that a surface is refused, with that place. */
static void refuse_surface(dyn_contact_surface surface, const char *place) {
    dyn_builder *builder = new_builder();
    dyn_error error;
    ck_assert_int_eq(dyn_builder_add_contact_surface(builder, &surface, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, place);
    dyn_builder_free(builder);
}

START_TEST(wrong_surfaces_are_refused_with_their_place) {
    dyn_contact_surface good = surface_of_body(DYN_CONTACT_SHAPE_CYLINDER), bad = good;
    bad.friction = -0.1, refuse_surface(bad, "contact_surfaces[0].friction"), bad = good;
    bad.friction = NAN, refuse_surface(bad, "contact_surfaces[0].friction"), bad = good;
    bad.restitution = 1.5, refuse_surface(bad, "contact_surfaces[0].restitution"), bad = good;
    bad.stiffness = -1, refuse_surface(bad, "contact_surfaces[0].stiffness"), bad = good;
    bad.dissipation = 1, refuse_surface(bad, "contact_surfaces[0].dissipation"), bad = good;
    bad.radius = 0, refuse_surface(bad, "contact_surfaces[0].radius"), bad = good;
    bad.length = INFINITY, refuse_surface(bad, "contact_surfaces[0].length"), bad = good;
    bad.pose.rotation[0] = 2, refuse_surface(bad, "contact_surfaces[0].pose"), bad = good;
    bad.pose.position[1] = NAN, refuse_surface(bad, "contact_surfaces[0].pose"), bad = good;
    bad.shape = (dyn_contact_shape)8, refuse_surface(bad, "contact_surfaces[0].shape"), bad = good;
    bad.name = "", refuse_surface(bad, "contact_surfaces[0].name");
    bad = surface_of_body(DYN_CONTACT_SHAPE_BOX), bad.size[1] = -1, refuse_surface(bad, "contact_surfaces[0].size");
}
END_TEST

START_TEST(wrong_height_fields_are_refused_with_their_place) {
    static const double flat[4] = {0}, broken[4] = {0, 0, NAN, 0};
    dyn_contact_surface good = surface_of_body(DYN_CONTACT_SHAPE_HEIGHT_FIELD);
    good.rows = good.columns = 2, good.heights = flat;
    dyn_contact_surface bad = good;
    bad.columns = 1, refuse_surface(bad, "contact_surfaces[0].columns"), bad = good;
    bad.rows = 1, refuse_surface(bad, "contact_surfaces[0].heights"), bad = good;
    bad.rows = 10000, refuse_surface(bad, "contact_surfaces[0].heights"), bad = good;
    bad.heights = broken, refuse_surface(bad, "contact_surfaces[0].heights"), bad = good;
    bad.size[1] = 0, refuse_surface(bad, "contact_surfaces[0].size");
}
END_TEST

START_TEST(surfaces_of_unknown_links_are_refused) {
    dyn_builder *builder = new_builder();
    dyn_contact_surface body = surface_of_body(DYN_CONTACT_SHAPE_SPHERE);
    dyn_model *model;
    dyn_error error;
    add_link_with(builder, "base", &(dyn_inertia){.mass = 1});
    ck_assert_int_eq(dyn_builder_add_contact_surface(builder, &body, &error), DYN_OK);
    ck_assert_int_eq(dyn_builder_build(builder, NULL, NULL, &model, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "contact_surfaces[0].link");
    ck_assert_ptr_nonnull(strstr(error.message, "\"body\""));
    dyn_builder_free(builder);
}
END_TEST

START_TEST(other_integrators_refuse_contacts_by_name) {
    dyn_contact_surface plane = ground(0), ball = surface_of_body(DYN_CONTACT_SHAPE_SPHERE);
    dyn_model *model = body_on_plane(&ball, &plane);
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    options.integrator = DYN_INTEGRATOR_RUNGE_KUTTA_4;
    dyn_simulator *simulator;
    dyn_error error;
    ck_assert_int_eq(dyn_simulator_create(model, &options, &simulator, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "integrator");
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("contacts");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_block_sticks_below_the_angle_of_friction_and_slides_above);
    tcase_add_test(tests, a_ball_rolls_down_a_slope_without_slipping);
    tcase_add_test(tests, a_ball_rebounds_to_the_height_of_its_closed_form);
    tcase_add_test(tests, a_compliant_impact_follows_hunt_and_crossley);
    tcase_add_test(tests, shapes_rest_on_a_plane_at_their_size);
    tcase_add_test(tests, results_of_a_sample_do_not_depend_on_the_others);
    tcase_add_test(tests, a_simulator_tells_the_state_of_its_surfaces);
    tcase_add_test(tests, dry_friction_holds_a_block_and_brakes_one_that_slides);
    tcase_add_test(tests, a_pendulum_rests_on_its_stop_and_rebounds_from_it);
    tcase_add_test(tests, a_box_of_two_welded_halves_moves_as_one_body);
    tcase_add_test(tests, wrong_surfaces_are_refused_with_their_place);
    tcase_add_test(tests, wrong_height_fields_are_refused_with_their_place);
    tcase_add_test(tests, bodies_move_on_an_inclined_height_field_as_on_a_plane);
    tcase_add_test(tests, a_ball_settles_in_a_valley_and_falls_beyond_the_grid);
    tcase_add_test(tests, surfaces_of_unknown_links_are_refused);
    tcase_add_test(tests, other_integrators_refuse_contacts_by_name);
    return run_tests(tests);
}
