/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks constraints that do not close a loop of joints: balls and wheels that roll without slipping, polynomial
 * couplings and prescribed motions, against closed forms, differences and inverse dynamics.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

enum { TREES = 30, MOST_ROWS = 8, BODY_NQ = 7, BODY_NV = 6 };

static const double unturned[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* ---- Random constraints ------------------------------------------------------------------------------------------ */

/* Robot with a ball, a wheel, a polynomial coupling and a prescribed motion, in a random state. */
typedef struct kinds_case {
    dyn_model *model;
    dyn_workspace *workspace;
    size_t nq, nv, m;
    double *q, *v, *tau;
    int driven, follower; /* joints of the prescribed motion and of the polynomial */
} kinds_case;

static void add(dyn_builder *builder, const dyn_constraint_description *constraint) {
    dyn_error error;
    require(dyn_builder_add_constraint(builder, constraint, &error), &error);
}

/* Returns a body that rolls on a plane of the world. */
static dyn_constraint_description rolling(random_source *random, const char *name, const char *link, bool is_wheel) {
    dyn_constraint_description d = {.name = name, .kind = DYN_CONSTRAINT_KIND_ROLLING, .distance = 0.3};
    random_unit(random, 3, d.axis);
    if (is_wheel) {
        random_unit(random, 3, d.second_axis);
    }
    memcpy(d.predecessor.pose.rotation, unturned, sizeof unturned);
    memcpy(d.successor.pose.rotation, unturned, sizeof unturned);
    d.successor.link = link;
    d.successor.pose.position[1] = 0.2;
    return d;
}

/* Returns the next joint from j on with one coordinate. */
static int single_joint(const dyn_model *model, int j) {
    int count = dyn_model_joint_count(model);
    for (int k = 0; k < count; k++) {
        const dyn_joint *joint = dyn_model_joint(model, (j + k) % count);
        if (joint->nq == 1 && joint->nv == 1) {
            return (j + k) % count;
        }
    }
    return -1;
}

static kinds_case random_kinds(random_source *random) {
    dyn_error error;
    dyn_builder *builder;
    const random_tree_options options = {.joints = 12, .base = DYN_BASE_FLOATING, .revolute_only = true};
    dyn_model *tree = random_tree(random, &options);
    kinds_case c = {.nq = (size_t)dyn_model_nq(tree), .nv = (size_t)dyn_model_nv(tree)};
    c.q = numbers(c.nq), c.v = numbers(c.nv), c.tau = numbers(c.nv);
    random_configuration(random, tree, 1, c.q);
    random_vector(random, (int)c.nv, 1, c.v);
    random_vector(random, (int)c.nv, 10, c.tau);
    require(dyn_model_describe(tree, &builder, &error), &error);
    c.driven = single_joint(tree, random_index(random, 12));
    c.follower = single_joint(tree, c.driven + 1);
    const char *driven = dyn_model_joint(tree, c.driven)->name, *follower = dyn_model_joint(tree, c.follower)->name;
    const char *other = dyn_model_joint(tree, single_joint(tree, c.follower + 1))->name;
    int links = dyn_model_link_count(tree);
    dyn_constraint_description ball = rolling(random, "ball", dyn_model_link(tree, links - 1)->name, false);
    dyn_constraint_description wheel = rolling(random, "wheel", dyn_model_link(tree, links / 2)->name, true);
    add(builder, &ball);
    add(builder, &wheel);
    add(builder, &(dyn_constraint_description){.name = "cam",
                                               .kind = DYN_CONSTRAINT_KIND_POLYNOMIAL,
                                               .coupled = {{follower, 0}, {other, 0}},
                                               .term_count = 5,
                                               .polynomial = {0.1, -0.7, 0.4, 0.2, -0.3}});
    add(builder, &(dyn_constraint_description){.name = "drive",
                                               .kind = DYN_CONSTRAINT_KIND_PRESCRIBED,
                                               .coupled = {{driven, 0}},
                                               .term_count = 3,
                                               .polynomial = {0.3, -0.2, 0.6},
                                               .law = {0.5, 2, 0.1}});
    const dyn_build_options build = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    require(dyn_builder_build(builder, &build, NULL, &c.model, &error), &error);
    require(dyn_workspace_create(c.model, &c.workspace, &error), &error);
    c.m = (size_t)dyn_model_constraint_rows(c.model);
    ck_assert_uint_eq(c.m, MOST_ROWS);
    dyn_builder_free(builder);
    dyn_model_free(tree);
    return c;
}

static void close_case(kinds_case *c) {
    dyn_workspace_free(c->workspace);
    dyn_model_free(c->model);
    free(c->q), free(c->v), free(c->tau);
}

/* Computes A v, and the errors, at the configuration after the time dt at constant v. The prescribed motion stands
 * still. */
static void rates_at(const kinds_case *c, double dt, double *Av, double *errors) {
    double *q = numbers(c->nq), *A = numbers(c->m * c->nv);
    dyn_error error;
    integrate_configuration(c->model, c->q, c->v, dt, q);
    require(dyn_constraint_rows(c->model, c->workspace, 1, q, c->v, A, NULL, errors, &error), &error);
    for (size_t r = 0; r < c->m; r++) {
        Av[r] = 0;
        for (size_t i = 0; i < c->nv; i++) {
            Av[r] += A[r * c->nv + i] * c->v[i];
        }
    }
    free(q), free(A);
}

START_TEST(rows_and_biases_are_derivatives) {
    const double h = 1e-4, t = 0.7;
    random_source base = random_seed("constraint_kinds rows", 171);
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        kinds_case c = random_kinds(&random);
        double before[MOST_ROWS], after[MOST_ROWS], Av[MOST_ROWS], e[2][MOST_ROWS], bias[MOST_ROWS], slope[MOST_ROWS];
        dyn_error error;
        require(dyn_workspace_set_time(c.workspace, t, &error), &error);
        rates_at(&c, -h, before, e[0]);
        rates_at(&c, h, after, e[1]);
        rates_at(&c, 0, Av, slope);
        require(dyn_constraint_rows(c.model, c.workspace, 1, c.q, c.v, NULL, bias, NULL, &error), &error);
        for (size_t r = 0; r < c.m; r++) {
            bool has_error = r != 0 && r != 1 && r != 3 && r != 4;
            slope[r] = has_error ? (e[1][r] - e[0][r]) / (2 * h) : Av[r];
            after[r] = (after[r] - before[r]) / (2 * h);
        }
        /* The second derivative of the prescribed motion, 2 c_2 - 0.5 2^2 sin(2 t + 0.1). */
        after[7] -= 1.2 - 2 * sin(2 * t + 0.1);
        assert_norm_close("dA/dt v - db/dt", tree, after, bias, c.m, 1e-5);
        assert_norm_close("rate of the errors", tree, slope, Av, c.m, 1e-5);
        close_case(&c);
    }
}
END_TEST

START_TEST(methods_agree_and_the_drive_exerts_the_force_of_inverse_dynamics) {
    static const dyn_constraint_method methods[] = {
        DYN_CONSTRAINT_METHOD_MULTIPLIERS, DYN_CONSTRAINT_METHOD_FULL_SYSTEM, DYN_CONSTRAINT_METHOD_ELIMINATION};
    random_source base = random_seed("constraint_kinds methods", 172);
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        kinds_case c = random_kinds(&random);
        double *a[3], *lambda[3], *tau = numbers(c.nv), *A = numbers(c.m * c.nv);
        dyn_error error;
        for (int k = 0; k < 3; k++) {
            const dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.method = methods[k]);
            dyn_constraint_result result;
            a[k] = numbers(c.nv), lambda[k] = numbers(c.m);
            require(dyn_constrained_forward_dynamics(c.model, c.workspace, 1, NULL, c.q, c.v, c.tau, NULL, &options,
                                                     a[k], lambda[k], &result, &error),
                    &error);
            ck_assert_int_eq(result.rank, (int)c.m);
            ck_assert_double_le(result.residual, 1e-8 * (1 + norm(a[k], c.nv)));
            assert_norm_close("a", tree, a[k], a[0], c.nv, 1e-8);
            assert_norm_close("lambda", tree, lambda[k], lambda[0], c.m, 1e-7);
        }
        const dyn_joint *driven = dyn_model_joint(c.model, c.driven);
        ck_assert_double_eq_tol(a[0][driven->v_index], 1.2 - 2 * sin(0.1), 1e-8 * (1 + norm(a[0], c.nv)));
        require(dyn_rnea(c.model, c.workspace, 1, NULL, c.q, c.v, a[0], NULL, tau, &error), &error);
        require(dyn_constraint_rows(c.model, c.workspace, 1, c.q, c.v, A, NULL, NULL, &error), &error);
        for (size_t i = 0; i < c.nv; i++) {
            for (size_t r = 0; r + 1 < c.m; r++) {
                tau[i] -= A[r * c.nv + i] * lambda[0][r];
            }
            tau[i] -= c.tau[i];
        }
        double drive = lambda[0][c.m - 1];
        for (size_t i = 0; i < c.nv; i++) {
            double expected = (int)i == driven->v_index ? drive : 0;
            ck_assert_double_eq_tol(tau[i], expected, 1e-7 * (1 + fabs(drive) + norm(lambda[0], c.m)));
        }
        for (int k = 0; k < 3; k++) {
            free(a[k]), free(lambda[k]);
        }
        free(tau), free(A);
        close_case(&c);
    }
}
END_TEST

/* Computes tau = P M a + (1 - P) f + h + A' Lambda c from the matrices of the equation, with c = db/dt - dA/dt v. */
static void hybrid_forces_by_matrices(const kinds_case *c, const double *a, const double *f, double *tau) {
    const size_t nv = c->nv, m = c->m;
    double *M = numbers(nv * nv), *P = numbers(nv * nv), *A = numbers(m * nv), *bias = numbers(m);
    double *inertia = numbers(m * m);
    const dyn_constraint_space space = {.force_projector = P, .inertia = inertia};
    dyn_error error;
    require(dyn_crba(c->model, c->workspace, 1, c->q, M, &error), &error);
    require(dyn_rnea(c->model, c->workspace, 1, NULL, c->q, c->v, NULL, NULL, tau, &error), &error);
    require(dyn_constraint_rows(c->model, c->workspace, 1, c->q, c->v, A, bias, NULL, &error), &error);
    require(dyn_constraint_space_quantities(c->model, c->workspace, 1, c->q, &space, &error), &error);
    for (size_t i = 0; i < nv; i++) {
        tau[i] += f[i];
        for (size_t k = 0; k < nv; k++) {
            double moved = -f[k];
            for (size_t j = 0; j < nv; j++) {
                moved += M[k * nv + j] * a[j];
            }
            tau[i] += P[i * nv + k] * moved;
        }
        for (size_t r = 0; r < m; r++) {
            for (size_t s = 0; s < m; s++) {
                tau[i] -= A[r * nv + i] * inertia[r * m + s] * bias[s];
            }
        }
    }
    free(M), free(P), free(A), free(bias), free(inertia);
}

START_TEST(hybrid_forces_count_the_drive_of_a_prescribed_motion_once) {
    random_source base = random_seed("constraint_kinds hybrid", 174);
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        kinds_case c = random_kinds(&random);
        double *wanted = numbers(c.nv), *tau = numbers(c.nv), *expected = numbers(c.nv), *a = numbers(c.nv);
        double *found = numbers(c.nv), pressed[MOST_ROWS], lambda[MOST_ROWS];
        dyn_error error;
        require(dyn_workspace_set_time(c.workspace, 0.7, &error), &error);
        random_vector(&random, (int)c.nv, 1, wanted);
        require(dyn_hybrid_forces(c.model, c.workspace, 1, NULL, c.q, c.v, NULL, wanted, c.tau, NULL, tau, a, pressed,
                                  &error),
                &error);
        hybrid_forces_by_matrices(&c, wanted, c.tau, expected);
        assert_norm_close("tau", tree, tau, expected, c.nv, 1e-8);
        ck_assert_double_eq_tol(a[dyn_model_joint(c.model, c.driven)->v_index], 1.2 - 2 * sin(2 * 0.7 + 0.1),
                                1e-8 * (1 + norm(a, c.nv)));
        require(dyn_constrained_forward_dynamics(c.model, c.workspace, 1, NULL, c.q, c.v, tau, NULL, NULL, found,
                                                 lambda, NULL, &error),
                &error);
        assert_norm_close("a", tree, found, a, c.nv, 1e-8);
        assert_norm_close("lambda", tree, lambda, pressed, c.m, 1e-7);
        free(wanted), free(tau), free(expected), free(a), free(found);
        close_case(&c);
    }
}
END_TEST

START_TEST(descriptions_as_text_carry_them) {
    random_source random = random_seed("constraint_kinds text", 173);
    kinds_case c = random_kinds(&random);
    dyn_builder *read;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    dyn_model *again;
    dyn_error error;
    char *text, *own, *other;
    size_t length;
    require(dyn_description_write(c.model, &text, &length, &error), &error);
    require(dyn_description_read(text, length, &read, &options, &error), &error);
    require(dyn_builder_build(read, &options, NULL, &again, &error), &error);
    require(dyn_model_canonical(c.model, &own, &length, &error), &error);
    require(dyn_model_canonical(again, &other, &length, &error), &error);
    ck_assert_str_eq(own, other);
    free(text), free(own), free(other);
    dyn_builder_free(read);
    dyn_model_free(again);
    close_case(&c);
}
END_TEST

/* ---- Rolling ----------------------------------------------------------------------------------------------------- */

enum { SPHERE, DISC };

static const double mass = 2, radius = 0.4, g = 9.81, slope = 0.3;

/* Builds a free sphere or disc that rolls on the plane z = 0, which `angle` inclines towards x. */
static dyn_model *roller(int shape, double angle) {
    dyn_error error;
    dyn_builder *builder;
    dyn_model *model;
    double own = mass * radius * radius, along = shape == SPHERE ? 0.4 : 0.5, across = shape == SPHERE ? 0.4 : 0.25;
    const dyn_link_description link = {
        .name = "body", .inertia = {.mass = mass, .rotational = {own * across, 0, 0, own * along, 0, own * across}}};
    const double gravity[3] = {g * sin(angle), 0, -g * cos(angle)};
    dyn_constraint_description ground = {
        .name = "ground", .kind = DYN_CONSTRAINT_KIND_ROLLING, .distance = radius, .axis = {0, 0, 3}};
    memcpy(ground.predecessor.pose.rotation, unturned, sizeof unturned);
    memcpy(ground.successor.pose.rotation, unturned, sizeof unturned);
    ground.successor.link = "body";
    ground.second_axis[1] = shape == DISC;
    require(dyn_builder_create("roller", &builder, &error), &error);
    require(dyn_builder_add_link(builder, &link, &error), &error);
    require(dyn_builder_set_gravity(builder, gravity, &error), &error);
    add(builder, &ground);
    const dyn_build_options build = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    require(dyn_builder_build(builder, &build, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Checks a body that starts at rest on a slope: a = g sin / (1 + k), with k m r^2 its inertia, and the forces on it. */
static void check_slope(int shape, double k) {
    dyn_model *model = roller(shape, slope);
    dyn_workspace *w;
    dyn_error error;
    const double q[BODY_NQ] = {0, 0, radius, 0, 0, 0, 1}, v[BODY_NV] = {0}, expected = g * sin(slope) / (1 + k);
    double a[BODY_NV], lambda[3];
    require(dyn_workspace_create(model, &w, &error), &error);
    require(dyn_constrained_forward_dynamics(model, w, 1, NULL, q, v, v, NULL, NULL, a, lambda, NULL, &error), &error);
    ck_assert_double_eq_tol(a[0], expected, 1e-12);
    ck_assert_double_eq_tol(a[4], expected / radius, 1e-12);
    ck_assert_double_eq_tol(lambda[0], mass * (expected - g * sin(slope)), 1e-11);
    ck_assert_double_eq_tol(lambda[1], 0, 1e-12);
    ck_assert_double_eq_tol(lambda[2], mass * g * cos(slope), 1e-11);
    dyn_workspace_free(w);
    dyn_model_free(model);
}

START_TEST(a_ball_and_a_wheel_roll_down_a_slope_as_the_closed_form) {
    check_slope(SPHERE, 0.4); /* 5/7 g sin */
    check_slope(DISC, 0.5);   /* 2/3 g sin */
}
END_TEST

/* Moves a body for 2 s. */
static dyn_rollout_result roll(const dyn_model *model, double *q, double *v) {
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    options.integrator = DYN_INTEGRATOR_RUNGE_KUTTA_4;
    dyn_simulator *s;
    dyn_error error;
    dyn_rollout_result result;
    double end_q[21 * BODY_NQ], end_v[21 * BODY_NV], kinetic[21], potential[21];
    require(dyn_simulator_create(model, &options, &s, &error), &error);
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 2000, .stride = 100, .q = q, .v = v);
    const dyn_rollout_output output =
        DYN_ROLLOUT_OUTPUT_INIT(.q = end_q, .v = end_v, .kinetic = kinetic, .potential = potential, .results = &result);
    require(dyn_rollout_run(s, 1, &rollout, &output, &error), &error);
    memcpy(q, end_q + 20 * BODY_NQ, BODY_NQ * sizeof *q);
    memcpy(v, end_v + 20 * BODY_NV, BODY_NV * sizeof *v);
    dyn_simulator_free(s);
    return result;
}

START_TEST(a_ball_rolls_two_seconds_as_the_closed_form) {
    dyn_model *model = roller(SPHERE, slope);
    double q[BODY_NQ] = {0, 0, radius, 0, 0, 0, 1}, v[BODY_NV] = {0}, a = g * sin(slope) * 5 / 7;
    dyn_rollout_result result = roll(model, q, v);
    ck_assert_int_eq(result.status, DYN_SAMPLE_STATUS_RUNNING);
    ck_assert_double_eq_tol(q[0], a * 2, 1e-8);
    ck_assert_double_eq_tol(q[1], 0, 1e-12);
    ck_assert_double_eq_tol(q[2], radius, 1e-12);
    ck_assert_double_eq_tol(v[4], 2 * a / radius, 1e-7);
    ck_assert_double_le(result.energy_drift, 1e-6);
    dyn_model_free(model);
}
END_TEST

/* A tilted disc on a level plane, which wobbles while it rolls. */
START_TEST(a_rolling_disc_keeps_its_energy_and_stays_on_the_plane) {
    const double tilt = 0.4, spin = 8;
    dyn_model *model = roller(DISC, 0);
    dyn_workspace *w;
    dyn_error error;
    double q[BODY_NQ] = {0, 0, radius * cos(tilt), sin(tilt / 2), 0, 0, cos(tilt / 2)}, A[3 * BODY_NV];
    double v[BODY_NV] = {spin * radius, 0, 0, 0, spin, 0};
    require(dyn_workspace_create(model, &w, &error), &error);
    dyn_rollout_result result = roll(model, q, v);
    ck_assert_int_eq(result.status, DYN_SAMPLE_STATUS_RUNNING);
    ck_assert_double_le(result.energy_drift, 1e-6);
    ck_assert_double_le(result.closure_error, 1e-11);
    ck_assert_double_ge(fabs(q[1]), 0.1);
    require(dyn_constraint_rows(model, w, 1, q, v, A, NULL, NULL, &error), &error);
    for (int r = 0; r < 3; r++) {
        double slip = 0;
        for (int i = 0; i < BODY_NV; i++) {
            slip += A[r * BODY_NV + i] * v[i];
        }
        ck_assert_double_eq_tol(slip, 0, 1e-10);
    }
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

START_TEST(a_wheel_that_lies_in_the_plane_never_gives_nan) {
    dyn_model *model = roller(DISC, 0);
    dyn_workspace *w;
    dyn_error error;
    const double q[BODY_NQ] = {0, 0, 0, sqrt(0.5), 0, 0, sqrt(0.5)}, v[BODY_NV] = {1, 2, 3, 4, 5, 6};
    double a[BODY_NV], lambda[3];
    require(dyn_workspace_create(model, &w, &error), &error);
    dyn_status status =
        dyn_constrained_forward_dynamics(model, w, 1, NULL, q, v, v, NULL, NULL, a, lambda, NULL, &error);
    for (int i = 0; status == DYN_OK && i < BODY_NV; i++) {
        ck_assert(isfinite(a[i]));
    }
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* ---- Arms with two joints ---------------------------------------------------------------------------------------- */

/* Builds an arm with two hinges about y, and a constraint. */
static dyn_model *arm(const dyn_constraint_description *constraint) {
    static const char *const links[] = {"ground", "upper", "lower"}, *const joints[] = {"first", "second"};
    dyn_error error;
    dyn_builder *builder;
    dyn_model *model;
    require(dyn_builder_create("arm", &builder, &error), &error);
    for (int i = 0; i < 3; i++) {
        const dyn_link_description link = {
            .name = links[i],
            .inertia = {.mass = i, .center_of_mass = {0.3, 0, 0}, .rotational = {0.1, 0, 0, 0.1, 0, 0.1}}};
        require(dyn_builder_add_link(builder, &link, &error), &error);
    }
    for (int i = 0; i < 2; i++) {
        dyn_joint_description joint = {.name = joints[i],
                                       .type = DYN_JOINT_TYPE_CONTINUOUS,
                                       .parent_link = links[i],
                                       .child_link = links[i + 1],
                                       .position = {0.5 * i, 0, 0},
                                       .axis = {0, 1, 0}};
        memcpy(joint.rotation, unturned, sizeof unturned);
        require(dyn_builder_add_joint(builder, &joint, &error), &error);
    }
    add(builder, constraint);
    require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

static const dyn_constraint_description sinusoid = {.name = "drive",
                                                    .kind = DYN_CONSTRAINT_KIND_PRESCRIBED,
                                                    .coupled = {{"first", 0}},
                                                    .term_count = 2,
                                                    .polynomial = {0.2, 0.1},
                                                    .law = {0.5, 3, 0.4}};

/* Returns the prescribed position and velocity. */
static void prescribed(double t, double *r, double *rate) {
    *r = 0.2 + 0.1 * t + 0.5 * sin(3 * t + 0.4);
    *rate = 0.1 + 1.5 * cos(3 * t + 0.4);
}

START_TEST(rollouts_follow_a_prescribed_motion) {
    static const dyn_integrator integrators[] = {DYN_INTEGRATOR_SEMI_IMPLICIT_EULER, DYN_INTEGRATOR_EXPLICIT_EULER,
                                                 DYN_INTEGRATOR_RUNGE_KUTTA_4};
    dyn_model *model = arm(&sinusoid);
    double r, rate, last[2] = {0}, free_q[3];
    for (int k = 0; k < 3; k++) {
        dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
        options.integrator = integrators[k], options.substeps = 2;
        dyn_simulator *s;
        dyn_error error;
        dyn_rollout_result result;
        double q[2] = {0, 0.5}, v[2] = {0, 0}, end_q[2], end_v[2], stepped_q[2], stepped_v[2];
        prescribed(0, &q[0], &v[0]);
        require(dyn_simulator_create(model, &options, &s, &error), &error);
        const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 1000, .q = q, .v = v);
        const dyn_rollout_output output = DYN_ROLLOUT_OUTPUT_INIT(.q = end_q, .v = end_v, .results = &result);
        require(dyn_rollout_run(s, 1, &rollout, &output, &error), &error);
        prescribed(1, &r, &rate);
        ck_assert_double_eq_tol(end_q[0], r, 1e-12);
        ck_assert_double_eq_tol(end_v[0], rate, 1e-12);
        ck_assert_double_le(result.closure_error, 1e-12);
        memcpy(stepped_q, q, sizeof q), memcpy(stepped_v, v, sizeof v);
        for (int i = 0; i < 1000; i++) {
            const dyn_step_input input = DYN_STEP_INPUT_INIT(.time = i * 1e-3);
            require(dyn_simulator_step(s, 1, &input, stepped_q, stepped_v, NULL, NULL, &error), &error);
        }
        ck_assert_double_eq_tol(stepped_q[1], end_q[1], 1e-9);
        free_q[k] = end_q[1];
        memcpy(last, end_v, sizeof last);
        dyn_simulator_free(s);
    }
    ck_assert_double_eq_tol(free_q[0], free_q[2], 2e-2);
    ck_assert_double_eq_tol(free_q[1], free_q[2], 2e-2);
    dyn_model_free(model);
}
END_TEST

/* Checks the motion of the free joint against the method with error control, whose times differ from those of steps. */
START_TEST(adaptive_motions_follow_a_prescribed_motion) {
    dyn_model *model = arm(&sinusoid);
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    options.integrator = DYN_INTEGRATOR_RUNGE_KUTTA_4;
    dyn_simulator *s;
    dyn_error error;
    dyn_adaptive_result result;
    double q[2] = {0, 0.5}, v[2] = {0, 0}, rows_q[4], rows_v[4], end_q[2], end_v[2], r, rate;
    const double time[2] = {0, 1};
    prescribed(0, &q[0], &v[0]);
    require(dyn_simulator_create(model, &options, &s, &error), &error);
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 1000, .q = q, .v = v);
    const dyn_rollout_output output = DYN_ROLLOUT_OUTPUT_INIT(.q = end_q, .v = end_v);
    require(dyn_rollout_run(s, 1, &rollout, &output, &error), &error);
    const dyn_adaptive_motion motion = DYN_ADAPTIVE_MOTION_INIT(.n = 2, .time = time, .q = q, .v = v);
    require(dyn_adaptive_run(s, &motion, rows_q, rows_v, NULL, 0, &result, &error), &error);
    prescribed(1, &r, &rate);
    ck_assert_double_eq_tol(rows_q[2], r, 1e-11);
    ck_assert_double_eq_tol(rows_v[2], rate, 1e-11);
    ck_assert_double_eq_tol(rows_q[3], end_q[1], 1e-6);
    ck_assert_double_eq_tol(rows_v[3], end_v[1], 1e-6);
    dyn_simulator_free(s);
    dyn_model_free(model);
}
END_TEST

START_TEST(a_polynomial_of_degree_one_is_a_linear_coupling) {
    const dyn_constraint_description line = {.name = "gear",
                                             .kind = DYN_CONSTRAINT_KIND_POLYNOMIAL,
                                             .coupled = {{"second", 0}, {"first", 0}},
                                             .term_count = 2,
                                             .polynomial = {0.1, -2}},
                                     gear = {.name = "gear",
                                             .kind = DYN_CONSTRAINT_KIND_COUPLING,
                                             .coupled = {{"second", 1}, {"first", 2}},
                                             .offset = 0.1};
    const double q[2] = {0.3, -0.5}, v[2] = {1, -2}, tau[2] = {3, 1};
    double a[2][2], lambda[2];
    for (int k = 0; k < 2; k++) {
        dyn_model *model = arm(k == 0 ? &line : &gear);
        dyn_workspace *w;
        dyn_error error;
        require(dyn_workspace_create(model, &w, &error), &error);
        require(
            dyn_constrained_forward_dynamics(model, w, 1, NULL, q, v, tau, NULL, NULL, a[k], &lambda[k], NULL, &error),
            &error);
        dyn_workspace_free(w);
        dyn_model_free(model);
    }
    ck_assert_double_eq_tol(a[0][0], a[1][0], 1e-13);
    ck_assert_double_eq_tol(a[0][1], a[1][1], 1e-13);
    ck_assert_double_eq_tol(lambda[0], lambda[1], 1e-12);
}
END_TEST

enum { RUNS = 20, MOST_JOINTS = 16, METHODS = 6 };

/* Solves H x = y, n x n and symmetric, by elimination of its rows. */
static void solve_small(size_t n, double H[MOST_JOINTS][MOST_JOINTS], double *y) {
    for (size_t k = 0; k < n; k++) {
        for (size_t i = k + 1; i < n; i++) {
            const double factor = H[i][k] / H[k][k];
            for (size_t j = k; j < n; j++) {
                H[i][j] -= factor * H[k][j];
            }
            y[i] -= factor * y[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++) {
            y[k] -= H[k][j] * y[j];
        }
        y[k] /= H[k][k];
    }
}

/* Computes the accelerations under a coupling c' a = 0 from M and tau - h of the tree by substitution: with the last
 * coupled coordinate p, a_p = -sum c_i a_i / c_p, the others have (M - m s' - s m' + M_pp s s') a = f - s f_p, where m
 * is column p of M and s = c / c_p. */
static void substitute(size_t nv, const double *M, const double *f, const double *c, double *a) {
    double H[MOST_JOINTS][MOST_JOINTS], y[MOST_JOINTS];
    size_t p = 0, at[MOST_JOINTS], n = 0;
    for (size_t i = 0; i < nv; i++) {
        p = c[i] != 0 ? i : p;
    }
    for (size_t i = 0; i < nv; i++) {
        at[n] = i;
        n += i != p;
    }
    for (size_t i = 0; i < n; i++) {
        const double s_i = c[at[i]] / c[p];
        y[i] = f[at[i]] - s_i * f[p];
        for (size_t j = 0; j < n; j++) {
            const double s_j = c[at[j]] / c[p];
            H[i][j] = M[at[i] * nv + at[j]] - M[at[i] * nv + p] * s_j - s_i * M[p * nv + at[j]];
            H[i][j] += M[p * nv + p] * s_i * s_j;
        }
    }
    solve_small(n, H, y);
    a[p] = 0;
    for (size_t i = 0; i < n; i++) {
        a[at[i]] = y[i];
        a[p] -= c[at[i]] / c[p] * y[i];
    }
}

/* Adds a coupling of `count` joints of a tree. c receives its coefficients by coordinate. Returns the model. */
static dyn_model *with_tendon(random_source *random, const dyn_model *tree, int count, double *c) {
    dyn_constraint_description tendon = {.name = "tendon", .kind = DYN_CONSTRAINT_KIND_COUPLING};
    dyn_builder *builder;
    dyn_model *model;
    dyn_error error;
    const int first = random_index(random, dyn_model_joint_count(tree));
    for (int k = 0; k < count; k++) {
        const dyn_joint *joint = dyn_model_joint(tree, (first + k) % dyn_model_joint_count(tree));
        const double coefficient = random_uniform(random, 0.5, 2) * (random_index(random, 2) ? 1 : -1);
        tendon.coupled[k] = (dyn_coupled_coordinate){joint->name, coefficient};
        c[joint->v_index] = coefficient;
    }
    require(dyn_model_describe(tree, &builder, &error), &error);
    add(builder, &tendon);
    require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

START_TEST(couplings_of_up_to_eight_coordinates_accelerate_as_by_substitution) {
    random_source base = random_seed("constraint kinds tendons", 176);
    for (int run = 0; run < RUNS * DYN_MAX_COUPLED_COORDINATES; run++) {
        random_source random = random_case(base, (uint64_t)run);
        const int count = 1 + run % DYN_MAX_COUPLED_COORDINATES;
        const random_tree_options options = {.joints = 8 + random_index(&random, 6), .revolute_only = true};
        dyn_model *tree = random_tree(&random, &options);
        const size_t nv = (size_t)dyn_model_nv(tree);
        double c[MOST_JOINTS] = {0}, q[MOST_JOINTS], v[MOST_JOINTS], tau[MOST_JOINTS], h[MOST_JOINTS], f[MOST_JOINTS];
        double M[MOST_JOINTS * MOST_JOINTS], expected[MOST_JOINTS], a[MOST_JOINTS], lambda;
        ck_assert_uint_le(nv, MOST_JOINTS);
        dyn_model *model = with_tendon(&random, tree, count, c);
        dyn_workspace *w;
        dyn_error error;
        random_configuration(&random, tree, 1, q);
        random_vector(&random, (int)nv, 1, v);
        random_vector(&random, (int)nv, 10, tau);
        require(dyn_workspace_create(model, &w, &error), &error);
        require(dyn_crba(model, w, 1, q, M, &error), &error);
        require(dyn_rnea(model, w, 1, NULL, q, v, NULL, NULL, h, &error), &error);
        for (size_t i = 0; i < nv; i++) {
            f[i] = tau[i] - h[i];
        }
        substitute(nv, M, f, c, expected);
        for (int method = 0; method < METHODS; method++) {
            const dyn_constraint_options chosen = DYN_CONSTRAINT_OPTIONS_INIT(.method = (dyn_constraint_method)method);
            require(
                dyn_constrained_forward_dynamics(model, w, 1, NULL, q, v, tau, NULL, &chosen, a, &lambda, NULL, &error),
                &error);
            assert_norm_close("accelerations", run, a, expected, nv, 1e-8);
        }
        dyn_workspace_free(w);
        dyn_model_free(model);
        dyn_model_free(tree);
    }
}
END_TEST

/* Builds the arm with its second joint as a loop joint between the upper and the lower link, which a floating joint
 * carries; or with that joint in the tree (`loop` NULL). */
static dyn_model *hinged(const dyn_constraint_description *loop, double damping, double friction) {
    dyn_error error;
    dyn_builder *builder;
    dyn_model *model;
    require(dyn_builder_create("arm", &builder, &error), &error);
    for (int i = 0; i < 3; i++) {
        static const char *const links[] = {"ground", "upper", "lower"};
        const dyn_link_description link = {
            .name = links[i],
            .inertia = {.mass = i, .center_of_mass = {0.3, 0, 0}, .rotational = {0.1, 0, 0, 0.1, 0, 0.1}}};
        require(dyn_builder_add_link(builder, &link, &error), &error);
    }
    dyn_joint_description first = {.name = "first",
                                   .type = DYN_JOINT_TYPE_CONTINUOUS,
                                   .parent_link = "ground",
                                   .child_link = "upper",
                                   .axis = {0, 1, 0}},
                          second = first;
    second.name = "second", second.child_link = "lower";
    second.parent_link = loop ? "ground" : "upper";
    second.type = loop ? DYN_JOINT_TYPE_FLOATING : DYN_JOINT_TYPE_CONTINUOUS;
    second.position[0] = loop ? 0 : 0.5;
    second.damping = loop ? 0 : damping, second.friction = loop ? 0 : friction;
    memcpy(first.rotation, unturned, sizeof unturned), memcpy(second.rotation, unturned, sizeof unturned);
    require(dyn_builder_add_joint(builder, &first, &error), &error);
    require(dyn_builder_add_joint(builder, &second, &error), &error);
    if (loop) {
        dyn_constraint_description d = *loop;
        d.damping = damping, d.friction = friction;
        memcpy(d.predecessor.pose.rotation, unturned, sizeof unturned);
        memcpy(d.successor.pose.rotation, unturned, sizeof unturned);
        add(builder, &d);
    }
    require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

static const dyn_constraint_description hinge = {.name = "hinge",
                                                 .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
                                                 .type = DYN_JOINT_TYPE_REVOLUTE,
                                                 .axis = {0, 1, 0},
                                                 .effort = 3,
                                                 .predecessor = {"upper", {.position = {0.5}}},
                                                 .successor = {"lower", {.position = {0}}}};

START_TEST(forces_in_a_loop_joint_are_those_of_the_same_joint_in_a_tree) {
    const dyn_passive_parts parts = {.damping = true, .friction = true, .friction_velocity = 0.01};
    const double w[2] = {1.5, -2.5}, tree_q[2] = {0, 0}, q[8] = {0, 0.5, 0, 0, 0, 0, 0, 1};
    const double v[7] = {w[0], 0, 0, -0.5 * w[0], 0, w[0] + w[1], 0}, no_tau[7] = {0.7};
    double tau[2] = {0.7, hinge.effort}, expected[2], a[7], forces[7];
    dyn_model *tree = hinged(NULL, 0.8, 0.4), *loop = hinged(&hinge, 0.8, 0.4);
    dyn_workspace *of_tree, *of_loop;
    dyn_error error;
    require(dyn_workspace_create(tree, &of_tree, &error), &error);
    require(dyn_workspace_create(loop, &of_loop, &error), &error);
    require(dyn_add_passive_forces(tree, 1, &parts, 1, tree_q, w, tau, &error), &error);
    require(dyn_aba(tree, of_tree, 1, NULL, tree_q, w, tau, NULL, expected, &error), &error);
    for (int k = 0; k < 3; k++) {
        const dyn_constraint_options options =
            DYN_CONSTRAINT_OPTIONS_INIT(.method = (dyn_constraint_method)(1 + k), .passive = &parts);
        require(dyn_constrained_forward_dynamics(loop, of_loop, 1, NULL, q, v, no_tau, NULL, &options, a, NULL, NULL,
                                                 &error),
                &error);
        ck_assert_double_eq_tol(a[0], expected[0], 1e-10);
        ck_assert_double_eq_tol(a[5], expected[0] + expected[1], 1e-10);
    }
    const dyn_constrained_inverse_options inverse = DYN_CONSTRAINED_INVERSE_OPTIONS_INIT(.passive = &parts);
    require(
        dyn_constrained_inverse_dynamics(loop, of_loop, 1, NULL, q, v, a, NULL, &inverse, forces, NULL, NULL, &error),
        &error);
    ck_assert_double_eq_tol(forces[0], 0.7, 1e-9);
    dyn_workspace_free(of_tree), dyn_workspace_free(of_loop);
    dyn_model_free(tree), dyn_model_free(loop);
}
END_TEST

/* ---- One body that is held --------------------------------------------------------------------------------------- */

/* Floating robot with joints of all types, one link of which the constraints tie to the world. */
static dyn_model *held_robot(random_source *random, int tree) {
    static const dyn_constraint_description kinds[] = {
        {.kind = DYN_CONSTRAINT_KIND_LOOP_JOINT, .type = DYN_JOINT_TYPE_FIXED},
        {.kind = DYN_CONSTRAINT_KIND_LOOP_JOINT, .type = DYN_JOINT_TYPE_SPHERICAL},
        {.kind = DYN_CONSTRAINT_KIND_LOOP_JOINT, .type = DYN_JOINT_TYPE_REVOLUTE, .axis = {0, 0, 1}},
        {.kind = DYN_CONSTRAINT_KIND_POINT_ON_PLANE, .axis = {0, 0, 1}},
        {.kind = DYN_CONSTRAINT_KIND_ROLLING, .axis = {0, 0, 1}, .distance = 0.3}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    const random_tree_options options = {.joints = 10, .base = DYN_BASE_FLOATING};
    const dyn_build_options build = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_model *free_tree = random_tree(random, &options), *model;
    dyn_builder *builder;
    dyn_error error;
    require(dyn_model_describe(free_tree, &builder, &error), &error);
    const char *link = dyn_model_link(free_tree, random_index(random, dyn_model_link_count(free_tree)))->name;
    for (int i = 0; i < 1 + tree % 2; i++) {
        dyn_constraint_description d = kinds[(tree / 2 + i) % KINDS];
        dyn_constraint_frame *held =
            tree % 3 == 0 && d.kind == DYN_CONSTRAINT_KIND_LOOP_JOINT ? &d.predecessor : &d.successor;
        d.name = i == 0 ? "first" : "second";
        memcpy(d.predecessor.pose.rotation, unturned, sizeof unturned);
        memcpy(d.successor.pose.rotation, unturned, sizeof unturned);
        held->link = link;
        random_vector(random, 3, 0.2, held->pose.position);
        add(builder, &d);
    }
    require(dyn_builder_build(builder, &build, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    dyn_model_free(free_tree);
    return model;
}

/* Compares the methods at five states, computed together and alone. */
static void check_held_robot(const dyn_model *model, int tree, random_source *random) {
    enum { STATES = 5 };
    const size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
    const size_t m = (size_t)dyn_model_constraint_rows(model);
    double *q = numbers(STATES * nq), *v = numbers(STATES * nv), *tau = numbers(STATES * nv);
    double *a = numbers(STATES * nv), *lambda = numbers(STATES * m), *other = numbers(nv), *same = numbers(m);
    dyn_constraint_result results[STATES], one;
    dyn_workspace *w;
    dyn_error error;
    require(dyn_workspace_create(model, &w, &error), &error);
    for (size_t i = 0; i < STATES; i++) {
        random_configuration(random, model, 1, q + i * nq);
    }
    random_vector(random, (int)(STATES * nv), 1, v);
    random_vector(random, (int)(STATES * nv), 10, tau);
    const dyn_constraint_method methods[] = {DYN_CONSTRAINT_METHOD_MULTIPLIERS, DYN_CONSTRAINT_METHOD_FULL_SYSTEM,
                                             DYN_CONSTRAINT_METHOD_ELIMINATION};
    dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.stabilization = tree % 2 ? 2 : 0);
    require(
        dyn_constrained_forward_dynamics(model, w, STATES, NULL, q, v, tau, NULL, &options, a, lambda, results, &error),
        &error);
    for (size_t i = 0; i < STATES; i++) {
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
            options.method = methods[k];
            require(dyn_constrained_forward_dynamics(model, w, 1, NULL, q + i * nq, v + i * nv, tau + i * nv, NULL,
                                                     &options, other, same, &one, &error),
                    &error);
            /* Where rows contradict each other, compromises differ. */
            if (k > 0 && results[i].residual < 1e-9 * (1 + norm(a + i * nv, nv))) {
                ck_assert_int_eq(one.rank, results[i].rank);
                assert_norm_close("a", tree, a + i * nv, other, nv, 1e-9);
                assert_norm_close("lambda", tree, lambda + i * m, same, m, 1e-8);
            } else if (k == 0) {
                ck_assert_mem_eq(a + i * nv, other, nv * sizeof *a);
                ck_assert_mem_eq(lambda + i * m, same, m * sizeof *lambda);
            }
        }
    }
    dyn_workspace_free(w);
    free(q), free(v), free(tau), free(a), free(lambda), free(other), free(same);
}

START_TEST(a_floating_robot_held_at_one_body_accelerates_alike_by_all_methods) {
    random_source base = random_seed("constraint_kinds held", 176);
    for (int tree = 0; tree < 2 * TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        dyn_model *model = held_robot(&random, tree);
        check_held_robot(model, tree, &random);
        dyn_model_free(model);
    }
}
END_TEST

enum { HINGED_NQ = 8, HINGED_NV = 7, HINGED_VALUES = HINGED_NV + 5 };

/* State and forces of the hinged arm, whose joints and floating lower link are not where the loop would be closed. */
typedef struct hinged_state {
    double q[HINGED_NQ], v[HINGED_NV], tau[HINGED_NV];
} hinged_state;

/* Computes the accelerations and multipliers, one after the other, at an increment t along coordinate k of one
 * argument, which is q, v or tau. */
static void move_hinged(const dyn_model *model, dyn_workspace *w, const dyn_constraint_options *options,
                        const hinged_state *x, int argument, size_t k, double t, double *values) {
    hinged_state moved = *x;
    double along[HINGED_NV] = {0};
    dyn_error error;
    along[k] = 1;
    integrate_configuration(model, x->q, along, argument == 0 ? t : 0, moved.q);
    moved.v[k] += argument == 1 ? t : 0;
    moved.tau[k] += argument == 2 ? t : 0;
    require(dyn_constrained_forward_dynamics(model, w, 1, NULL, moved.q, moved.v, moved.tau, NULL, options, values,
                                             values + HINGED_NV, NULL, &error),
            &error);
}

/* Compares the derivatives of the hinged arm with differences of order four. */
static void check_hinged(const dyn_model *model, dyn_workspace *w, const dyn_constraint_options *options,
                         const hinged_state *x) {
    const double t = 3e-4;
    const size_t m = (size_t)dyn_model_constraint_rows(model), count = HINGED_NV + m;
    double da[3][HINGED_NV * HINGED_NV], dlambda[3][5 * HINGED_NV];
    const dyn_constrained_derivatives to = {da[0], da[1], da[2], dlambda[0], dlambda[1], dlambda[2]};
    dyn_error error;
    ck_assert_uint_le(count, HINGED_VALUES);
    require(
        dyn_constrained_forward_dynamics_derivatives(model, w, 1, NULL, x->q, x->v, x->tau, NULL, options, &to, &error),
        &error);
    for (int argument = 0; argument < 3; argument++) {
        for (size_t k = 0; k < HINGED_NV; k++) {
            double at[4][HINGED_VALUES], rate[HINGED_VALUES], column[HINGED_VALUES];
            for (int i = 0; i < 4; i++) {
                move_hinged(model, w, options, x, argument, k, t * (i < 2 ? i - 2 : i - 1), at[i]);
            }
            for (size_t i = 0; i < count; i++) {
                rate[i] = (at[0][i] - 8 * at[1][i] + 8 * at[2][i] - at[3][i]) / (12 * t);
                column[i] = i < HINGED_NV ? da[argument][i * HINGED_NV + k]
                                          : dlambda[argument][(i - HINGED_NV) * HINGED_NV + k];
            }
            assert_norm_close("derivatives", argument * HINGED_NV + (int)k, column, rate, count, 1e-8);
        }
    }
}

START_TEST(derivatives_count_the_forces_of_loop_joints) {
    static const dyn_joint_type types[] = {DYN_JOINT_TYPE_REVOLUTE, DYN_JOINT_TYPE_PRISMATIC,
                                           DYN_JOINT_TYPE_CYLINDRICAL, DYN_JOINT_TYPE_SPHERICAL};
    const dyn_passive_parts parts = {.damping = true, .friction = true, .friction_velocity = 0.5};
    const dyn_constraint_options with = DYN_CONSTRAINT_OPTIONS_INIT(.passive = &parts),
                                 without = DYN_CONSTRAINT_OPTIONS_INIT();
    random_source base = random_seed("constraint_kinds derivatives", 175);
    for (int i = 0; i < TREES; i++) {
        random_source random = random_case(base, (uint64_t)i);
        dyn_constraint_description joint = hinge;
        hinged_state x;
        dyn_workspace *w;
        dyn_error error;
        joint.type = types[(size_t)i % (sizeof types / sizeof *types)];
        joint.effort = 3;
        dyn_model *model = hinged(&joint, 0.8, 0.4);
        require(dyn_workspace_create(model, &w, &error), &error);
        random_configuration(&random, model, 1, x.q);
        random_vector(&random, HINGED_NV, 1, x.v);
        random_vector(&random, HINGED_NV, 3, x.tau);
        check_hinged(model, w, &with, &x);
        check_hinged(model, w, &without, &x);
        dyn_workspace_free(w);
        dyn_model_free(model);
    }
}
END_TEST

/* Compares rollouts of both arms, whose friction and damping act in the steps. */
START_TEST(rollouts_apply_friction_and_efforts_of_loop_joints) {
    dyn_model *models[2] = {hinged(NULL, 0.3, 0.2), hinged(&hinge, 0.3, 0.2)};
    const double q[8] = {0, 0.5, 0, 0, 0, 0, 0, 1}, tree_q[2] = {0, 0}, tree_tau[2] = {0, hinge.effort};
    double end[2][8];
    for (int k = 0; k < 2; k++) {
        dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
        options.integrator = DYN_INTEGRATOR_RUNGE_KUTTA_4;
        dyn_simulator *s;
        dyn_error error;
        require(dyn_simulator_create(models[k], &options, &s, &error), &error);
        dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 500, .q = k == 0 ? tree_q : q);
        rollout.tau.rows = k == 0 ? tree_tau : NULL;
        const dyn_rollout_output output = DYN_ROLLOUT_OUTPUT_INIT(.q = end[k]);
        require(dyn_rollout_run(s, 1, &rollout, &output, &error), &error);
        dyn_simulator_free(s);
        dyn_model_free(models[k]);
    }
    ck_assert_double_ge(fabs(end[0][1]), 0.1);
    ck_assert_double_eq_tol(end[1][0], end[0][0], 1e-6);
}
END_TEST

/* ---- Impacts ----------------------------------------------------------------------------------------------------- */

static double kinetic_energy(const dyn_model *model, dyn_workspace *w, const double *q, const double *v) {
    double kinetic, potential;
    dyn_error error;
    require(dyn_energy(model, w, 1, NULL, q, v, &kinetic, &potential, &error), &error);
    return kinetic;
}

/* A spinning ball hits the ground: with the slip s = v_x - r w_y, v_x changes by -(1 + e) 2/7 s, and v_z to -e v_z. */
START_TEST(a_spinning_ball_hits_the_ground_as_the_closed_form) {
    dyn_model *model = roller(SPHERE, 0);
    dyn_workspace *w;
    dyn_error error;
    const double q[BODY_NQ] = {0, 0, radius, 0, 0, 0, 1}, v[BODY_NV] = {3, 0, -2, 0, -4, 0}, slip = 3 + 4 * radius;
    double after[BODY_NV], impulse[3];
    require(dyn_workspace_create(model, &w, &error), &error);
    for (int k = 0; k <= 4; k++) {
        double e = 0.25 * k;
        require(dyn_impact(model, w, 1, q, v, NULL, e, after, impulse, &error), &error);
        ck_assert_double_eq_tol(after[0], 3 - (1 + e) * slip * 2 / 7, 1e-12);
        ck_assert_double_eq_tol(after[2], 2 * e, 1e-12);
        ck_assert_double_eq_tol(impulse[0], -mass * (1 + e) * slip * 2 / 7, 1e-12);
        ck_assert_double_eq_tol(impulse[2], mass * (1 + e) * 2, 1e-12);
        ck_assert_double_eq_tol(after[4] - v[4], -impulse[0] * radius / (0.4 * mass * radius * radius), 1e-11);
    }
    ck_assert_int_eq(dyn_impact(model, w, 1, q, v, NULL, 1.5, after, impulse, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "restitution");
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* Random robots with balls, wheels, cams and a drive that stands still, at random velocities. */
START_TEST(impacts_reverse_the_rates_and_never_add_energy) {
    random_source base = random_seed("constraint_kinds impacts", 174);
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        kinds_case c = random_kinds(&random);
        double *after = numbers(c.nv), *impulses = numbers(c.m), *own = c.v, before[MOST_ROWS], rates[MOST_ROWS];
        dyn_error error;
        /* The rate of the drive, -0.2 + 0.6 * 2 t + cos(2 t + 0.1), is zero at this time. */
        double low = -0.5, high = 0;
        for (int k = 0; k < 60; k++) {
            double t = (low + high) / 2;
            *(-0.2 + 1.2 * t + cos(2 * t + 0.1) > 0 ? &high : &low) = t;
        }
        require(dyn_workspace_set_time(c.workspace, low, &error), &error);
        rates_at(&c, 0, before, NULL);
        for (int k = 0; k <= 2; k++) {
            double e = 0.5 * k;
            require(dyn_impact(c.model, c.workspace, 1, c.q, own, NULL, e, after, impulses, &error), &error);
            c.v = after;
            rates_at(&c, 0, rates, NULL);
            c.v = own;
            for (size_t r = 0; r < c.m; r++) {
                ck_assert_double_eq_tol(rates[r], -e * before[r], 1e-8 * (1 + norm(before, c.m)));
            }
            double T = kinetic_energy(c.model, c.workspace, c.q, own);
            double left = kinetic_energy(c.model, c.workspace, c.q, after);
            ck_assert_double_le(left, T * (1 + 1e-10));
            ck_assert(k < 2 || fabs(left - T) <= 1e-8 * T);
        }
        free(after), free(impulses);
        close_case(&c);
    }
}
END_TEST

/* States the rows of the model's own constraints once more: doubled rows change no acceleration. */
START_TEST(given_rows_that_repeat_constraints_change_nothing) {
    random_source base = random_seed("constraint_kinds given rows", 175);
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        kinds_case c = random_kinds(&random);
        double *A = numbers(c.m * c.nv), *a = numbers(c.nv), *own = numbers(c.nv), *lambda = numbers(2 * c.m);
        double accelerations[MOST_ROWS];
        dyn_error error;
        require(dyn_constraint_rows(c.model, c.workspace, 1, c.q, c.v, A, accelerations, NULL, &error), &error);
        for (size_t r = 0; r < c.m; r++) {
            accelerations[r] = -accelerations[r];
        }
        dyn_given_rows given = {.count = (int)c.m, .A = A, .acceleration = accelerations};
        require(dyn_constrained_forward_dynamics(c.model, c.workspace, 1, NULL, c.q, c.v, c.tau, NULL, NULL, own, NULL,
                                                 NULL, &error),
                &error);
        for (int k = 0; k < 2; k++) {
            const dyn_constraint_options options =
                DYN_CONSTRAINT_OPTIONS_INIT(.method = k ? DYN_CONSTRAINT_METHOD_ELIMINATION
                                                        : DYN_CONSTRAINT_METHOD_FULL_SYSTEM,
                                            .given = &given);
            dyn_constraint_result result;
            require(dyn_constrained_forward_dynamics(c.model, c.workspace, 1, NULL, c.q, c.v, c.tau, NULL, &options, a,
                                                     lambda, &result, &error),
                    &error);
            ck_assert_int_eq(result.rank, (int)c.m);
            assert_norm_close("a", tree, a, own, c.nv, 1e-7);
        }
        A[1] = NAN;
        const dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.given = &given);
        ck_assert_int_eq(dyn_constrained_forward_dynamics(c.model, c.workspace, 1, NULL, c.q, c.v, c.tau, NULL,
                                                          &options, a, lambda, NULL, &error),
                         DYN_INVALID_ARGUMENT);
        ck_assert_str_eq(error.message, "number 1 is nan; pass a finite number");
        free(A), free(a), free(own), free(lambda);
        close_case(&c);
    }
}
END_TEST

/* Builds a random robot on a fixed base at q whose first joint two drives accelerate, from q on, by `one` and `two`. */
static dyn_model *driven_twice(random_source *random, double one, double two, double *q) {
    const random_tree_options options = {.joints = 6, .base = DYN_BASE_FIXED, .revolute_only = true};
    dyn_model *tree = random_tree(random, &options), *model;
    dyn_builder *builder;
    dyn_error error;
    const dyn_joint *joint = dyn_model_joint(tree, single_joint(tree, 0));
    random_configuration(random, tree, 1, q);
    dyn_constraint_description drive = {.name = "one",
                                        .kind = DYN_CONSTRAINT_KIND_PRESCRIBED,
                                        .coupled = {{joint->name, 0}},
                                        .term_count = 3,
                                        .polynomial = {q[joint->q_index], 0, one / 2}};
    require(dyn_model_describe(tree, &builder, &error), &error);
    add(builder, &drive);
    drive.name = "two", drive.polynomial[2] = two / 2;
    add(builder, &drive);
    const dyn_build_options build = DYN_BUILD_OPTIONS_INIT();
    require(dyn_builder_build(builder, &build, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    dyn_model_free(tree);
    return model;
}

/* Computes the accelerations under two drives by each method, with the tolerance of the daemon. The status of all must
 * be `expected`. */
static void expect_agreement(random_source *random, double one, double two, const double *gravity,
                             dyn_status expected) {
    double q[16], tau[16] = {0}, a[16];
    dyn_model *model = driven_twice(random, one, two, q);
    dyn_workspace *workspace;
    dyn_error error;
    require(dyn_workspace_create(model, &workspace, &error), &error);
    for (int method = 1; method <= DYN_CONSTRAINT_METHOD_EMBEDDING; method++) {
        const dyn_constraint_options options =
            DYN_CONSTRAINT_OPTIONS_INIT(.method = (dyn_constraint_method)method, .tolerance = 0.01);
        dyn_status status = dyn_constrained_forward_dynamics(model, workspace, 1, gravity, q, NULL, tau, NULL, &options,
                                                             a, NULL, NULL, &error);
        ck_assert_msg(status == expected, "%g against %g by method %d: %s", one, two, method,
                      status == DYN_OK ? "accepted" : error.message);
        ck_assert(status == DYN_OK || strstr(error.message, "contradicts other constraints") != NULL);
    }
    dyn_workspace_free(workspace);
    dyn_model_free(model);
}

/* Checks that accelerations of 1 against 2 contradict each other beside those of gravity, which are much larger, and at
 * any scale without gravity. */
START_TEST(one_against_two_is_a_contradiction_at_any_scale) {
    random_source base = random_seed("constraint_kinds contradictions", 176);
    const double none[3] = {0, 0, 0};
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        const double scale = pow(10, random_uniform(&random, -9, 9)), near = pow(10, random_uniform(&random, -1, 4));
        expect_agreement(&random, near, 2 * near, NULL, DYN_FAILED_PRECONDITION);
        expect_agreement(&random, scale, 2 * scale, none, DYN_FAILED_PRECONDITION);
        expect_agreement(&random, 0, near, NULL, DYN_FAILED_PRECONDITION);
        expect_agreement(&random, near, near, NULL, DYN_OK);
        expect_agreement(&random, scale, scale * (1 + 1e-12), none, DYN_OK);
    }
}
END_TEST

/* Checks the same for rows of the caller whose units are small or large beside those of other rows. */
START_TEST(given_rows_of_one_against_two_contradict_each_other_at_any_scale) {
    random_source base = random_seed("constraint_kinds contradictions of given rows", 177);
    for (int tree = 0; tree < TREES; tree++) {
        random_source random = random_case(base, (uint64_t)tree);
        const random_tree_options options = {.joints = 6, .base = DYN_BASE_FIXED, .revolute_only = true};
        dyn_model *model = random_tree(&random, &options);
        dyn_workspace *workspace;
        dyn_error error;
        const double scale = pow(10, random_uniform(&random, -5, 5));
        double q[16], a[16], A[3 * 16] = {0}, c[3] = {scale, 2 * scale, 50};
        const size_t nv = (size_t)dyn_model_nv(model);
        random_configuration(&random, model, 1, q);
        require(dyn_workspace_create(model, &workspace, &error), &error);
        A[0] = A[nv] = scale, A[2 * nv + 1] = 1;
        const dyn_given_rows given = {.count = 3, .A = A, .acceleration = c};
        for (int k = 0; k < 3; k++) {
            const dyn_constraint_options chosen =
                DYN_CONSTRAINT_OPTIONS_INIT(.given = &given, .tolerance = k == 2 ? 1 : 0.01,
                                            .method = k ? DYN_CONSTRAINT_METHOD_ELIMINATION
                                                        : DYN_CONSTRAINT_METHOD_FULL_SYSTEM);
            const dyn_status status = dyn_constrained_forward_dynamics(model, workspace, 1, NULL, q, NULL, NULL, NULL,
                                                                       &chosen, a, NULL, NULL, &error);
            ck_assert_msg(status == (k == 2 ? DYN_OK : DYN_FAILED_PRECONDITION), "scale %g, case %d", scale, k);
        }
        c[1] = scale;
        const dyn_constraint_options agreed = DYN_CONSTRAINT_OPTIONS_INIT(.given = &given, .tolerance = 0.01);
        require(dyn_constrained_forward_dynamics(model, workspace, 1, NULL, q, NULL, NULL, NULL, &agreed, a, NULL, NULL,
                                                 &error),
                &error);
        dyn_workspace_free(workspace);
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(wrong_constraints_name_their_member) {
    static const struct {
        dyn_constraint_description constraint;
        const char *part;
    } cases[] = {
        {{.kind = DYN_CONSTRAINT_KIND_PRESCRIBED}, "coupled[0].joint"},
        {{.kind = DYN_CONSTRAINT_KIND_PRESCRIBED, .coupled = {{"first", 0}}, .law = {.frequency = NAN}}, "law"},
        {{.kind = DYN_CONSTRAINT_KIND_PRESCRIBED, .coupled = {{"first", 0}}, .term_count = 9}, "polynomial"},
        {{.kind = DYN_CONSTRAINT_KIND_PRESCRIBED, .coupled = {{"first", 0}}, .term_count = 1, .polynomial = {NAN}},
         "polynomial"},
        {{.kind = DYN_CONSTRAINT_KIND_POLYNOMIAL, .coupled = {{"first", 0}}}, "coupled[1].joint"},
        {{.kind = DYN_CONSTRAINT_KIND_ROLLING, .axis = {0, 0, 1}}, "radius"},
        {{.kind = DYN_CONSTRAINT_KIND_ROLLING, .distance = -1, .axis = {0, 0, 1}}, "radius"},
        {{.kind = DYN_CONSTRAINT_KIND_ROLLING, .distance = 1}, "axis"},
        {{.kind = DYN_CONSTRAINT_KIND_ROLLING, .distance = 1, .axis = {0, 0, 1}, .second_axis = {NAN}}, "second_axis"},
        {{.kind = DYN_CONSTRAINT_KIND_LOOP_JOINT, .type = DYN_JOINT_TYPE_REVOLUTE, .friction = -1}, "friction"},
        {{.kind = DYN_CONSTRAINT_KIND_LOOP_JOINT, .type = DYN_JOINT_TYPE_REVOLUTE, .damping = NAN}, "damping"},
        {{.kind = DYN_CONSTRAINT_KIND_LOOP_JOINT, .type = DYN_JOINT_TYPE_FIXED, .effort = 1}, "effort"},
    };
    dyn_builder *builder;
    dyn_error error;
    require(dyn_builder_create("arm", &builder, &error), &error);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dyn_constraint_description d = cases[i].constraint;
        d.name = "wrong";
        memcpy(d.predecessor.pose.rotation, unturned, sizeof unturned);
        memcpy(d.successor.pose.rotation, unturned, sizeof unturned);
        ck_assert_int_eq(dyn_builder_add_constraint(builder, &d, &error), DYN_INVALID_ARGUMENT);
        ck_assert_str_eq(error.site.part, cases[i].part);
    }
    dyn_builder_free(builder);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, rows_and_biases_are_derivatives);
    tcase_add_test(tests, methods_agree_and_the_drive_exerts_the_force_of_inverse_dynamics);
    tcase_add_test(tests, hybrid_forces_count_the_drive_of_a_prescribed_motion_once);
    tcase_add_test(tests, descriptions_as_text_carry_them);
    tcase_add_test(tests, a_ball_and_a_wheel_roll_down_a_slope_as_the_closed_form);
    tcase_add_test(tests, a_ball_rolls_two_seconds_as_the_closed_form);
    tcase_add_test(tests, a_rolling_disc_keeps_its_energy_and_stays_on_the_plane);
    tcase_add_test(tests, a_wheel_that_lies_in_the_plane_never_gives_nan);
    tcase_add_test(tests, rollouts_follow_a_prescribed_motion);
    tcase_add_test(tests, adaptive_motions_follow_a_prescribed_motion);
    tcase_add_test(tests, a_polynomial_of_degree_one_is_a_linear_coupling);
    tcase_add_test(tests, couplings_of_up_to_eight_coordinates_accelerate_as_by_substitution);
    tcase_add_test(tests, forces_in_a_loop_joint_are_those_of_the_same_joint_in_a_tree);
    tcase_add_test(tests, a_floating_robot_held_at_one_body_accelerates_alike_by_all_methods);
    tcase_add_test(tests, derivatives_count_the_forces_of_loop_joints);
    tcase_add_test(tests, rollouts_apply_friction_and_efforts_of_loop_joints);
    tcase_add_test(tests, a_spinning_ball_hits_the_ground_as_the_closed_form);
    tcase_add_test(tests, impacts_reverse_the_rates_and_never_add_energy);
    tcase_add_test(tests, given_rows_that_repeat_constraints_change_nothing);
    tcase_add_test(tests, one_against_two_is_a_contradiction_at_any_scale);
    tcase_add_test(tests, given_rows_of_one_against_two_contradict_each_other_at_any_scale);
    tcase_add_test(tests, wrong_constraints_name_their_member);
    return run_properties("constraint kinds", tests);
}
