/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks robots that move forward in time: invariants, convergence orders, independence of samples.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "lib/src/simulation/simulator.h"
#include "support/assertions.h"
#include "support/random_tree.h"

/* Robot with its states. */
typedef struct moving_robot {
    dyn_model *model;
    size_t nq, nv;
    double *q, *v;
} moving_robot;

static moving_robot random_robot(random_source *random, int joints, dyn_base base, bool with_mimic, size_t samples) {
    random_tree_options options = {.joints = joints, .base = base, .with_mimic = with_mimic, .with_fixed = true};
    moving_robot r = {.model = random_tree(random, &options)};
    r.nq = (size_t)dyn_model_nq(r.model), r.nv = (size_t)dyn_model_nv(r.model);
    r.q = numbers(samples * r.nq), r.v = numbers(samples * r.nv);
    for (size_t s = 0; s < samples; s++) {
        random_configuration(random, r.model, 1, r.q + s * r.nq);
    }
    random_vector(random, (int)(samples * r.nv), 0.5, r.v);
    return r;
}

static void free_robot(moving_robot *r) {
    free(r->q);
    free(r->v);
    dyn_model_free(r->model);
}

/* Creates a simulator without damping, friction and stops, and without gravity unless `with_gravity`. */
static dyn_simulator *free_motion(const dyn_model *model, dyn_integrator integrator, double dt, bool with_gravity) {
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *simulator = NULL;
    dyn_error error;
    options.integrator = integrator;
    options.step_length = dt;
    options.ignore_damping = options.ignore_friction = true;
    options.stop = DYN_JOINT_STOP_NONE;
    options.has_gravity = !with_gravity;
    require(dyn_simulator_create(model, &options, &simulator, &error), &error);
    return simulator;
}

/* Advances n samples by `steps` steps under constant forces. */
static void run(dyn_simulator *s, size_t n, size_t steps, const double *tau, double *q, double *v) {
    dyn_error error;
    const dyn_step_input input = DYN_STEP_INPUT_INIT(.tau = tau);
    for (size_t i = 0; i < steps; i++) {
        require(dyn_simulator_step(s, n, &input, q, v, NULL, NULL, &error), &error);
    }
}

static double energy(dyn_simulator *s, const moving_robot *r, const double *q, const double *v) {
    double kinetic, potential;
    dyn_error error;
    require(dyn_energy(r->model, dyn_simulator_workspace(s), 1, dyn_simulator_gravity(s), q, v, &kinetic, &potential,
                       &error),
            &error);
    return kinetic + potential;
}

START_TEST(free_motion_keeps_energy) {
    random_source base = random_seed("free motion keeps its energy", 5101);
    for (int k = 0; k < 12; k++) {
        random_source random = random_case(base, (uint64_t)k);
        moving_robot r = random_robot(&random, 1 + k, k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED, k % 3 == 2, 1);
        dyn_simulator *s = free_motion(r.model, DYN_INTEGRATOR_RUNGE_KUTTA_4, 1e-3, true);
        double start = energy(s, &r, r.q, r.v), kinetic = 0;
        for (int i = 0; i < 5; i++) {
            run(s, 1, 40, NULL, r.q, r.v);
            kinetic = larger(kinetic, fabs(energy(s, &r, r.q, r.v) - start));
        }
        ck_assert_msg(kinetic <= 1e-6 * fmax(1, fabs(start)), "case %d: energy %g drifts by %g", k, start, kinetic);
        dyn_simulator_free(s);
        free_robot(&r);
    }
}
END_TEST

START_TEST(floating_robots_keep_momentum) {
    random_source base = random_seed("free-floating robots keep their momentum", 5102);
    for (int k = 0; k < 4; k++) {
        random_source random = random_case(base, (uint64_t)k);
        moving_robot r = random_robot(&random, 2 * k, DYN_BASE_FLOATING, false, 1);
        dyn_simulator *s = free_motion(r.model, DYN_INTEGRATOR_RUNGE_KUTTA_4, 2.5e-4, false);
        dyn_workspace *w = dyn_simulator_workspace(s);
        double before[6], after[6];
        dyn_error error;
        require(dyn_centroidal_momentum(r.model, w, 1, r.q, r.v, before, &error), &error);
        run(s, 1, 40000, NULL, r.q, r.v);
        require(dyn_centroidal_momentum(r.model, w, 1, r.q, r.v, after, &error), &error);
        assert_close("momentum", k, after, before, 6, 1e-10);
        dyn_simulator_free(s);
        free_robot(&r);
    }
}
END_TEST

/* Returns the error of a motion of 0.1 s in `steps` steps, compared with 2048 steps of Runge-Kutta 4. */
static double motion_error(const moving_robot *r, dyn_integrator integrator, size_t steps, const double *tau) {
    double *q = numbers(2 * r->nq), *v = numbers(2 * r->nv), *change = numbers(r->nv);
    const size_t counts[2] = {2048, steps};
    const dyn_integrator integrators[2] = {DYN_INTEGRATOR_RUNGE_KUTTA_4, integrator};
    dyn_error error;
    for (int i = 0; i < 2; i++) {
        dyn_simulator *s = free_motion(r->model, integrators[i], 0.1 / (double)counts[i], true);
        memcpy(q + (size_t)i * r->nq, r->q, r->nq * sizeof *q);
        memcpy(v + (size_t)i * r->nv, r->v, r->nv * sizeof *v);
        run(s, 1, counts[i], tau, q + (size_t)i * r->nq, v + (size_t)i * r->nv);
        dyn_simulator_free(s);
    }
    require(dyn_difference(r->model, 1, q, q + r->nq, change, &error), &error);
    double square = 0;
    for (size_t j = 0; j < r->nv; j++) {
        double dv = v[r->nv + j] - v[j];
        square += change[j] * change[j] + dv * dv;
    }
    free(q);
    free(v);
    free(change);
    return sqrt(square);
}

START_TEST(integrators_have_their_order) {
    static const struct {
        const char *name;
        dyn_integrator integrator;
        size_t steps;
        double order;
    } cases[] = {
        {"semi-implicit Euler", DYN_INTEGRATOR_SEMI_IMPLICIT_EULER, 64, 1},
        {"explicit Euler", DYN_INTEGRATOR_EXPLICIT_EULER, 64, 1},
        {"Runge-Kutta 4", DYN_INTEGRATOR_RUNGE_KUTTA_4, 8, 4},
    };
    random_source base = random_seed("each integrator converges with its order", 5103);
    for (int k = 0; k < 6; k++) {
        random_source random = random_case(base, (uint64_t)k);
        moving_robot r = random_robot(&random, 2 + k, k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED, k % 3 == 2, 1);
        double *tau = numbers(r.nv);
        random_vector(&random, (int)r.nv, 1, tau);
        for (int i = 0; i < 3; i++) {
            double coarse = motion_error(&r, cases[i].integrator, cases[i].steps, tau);
            double fine = motion_error(&r, cases[i].integrator, 2 * cases[i].steps, tau), order = log2(coarse / fine);
            ck_assert_msg(fabs(order - cases[i].order) < 0.25, "case %d: %s has order %.2f (errors %g, %g)", k,
                          cases[i].name, order, coarse, fine);
        }
        free(tau);
        free_robot(&r);
    }
}
END_TEST

START_TEST(samples_do_not_depend_on_each_other) {
    enum { SAMPLES = 21 };
    random_source base = random_seed("a sample moves alone as in any batch", 5104);
    for (int k = 0; k < 8; k++) {
        random_source random = random_case(base, (uint64_t)k);
        moving_robot r = random_robot(&random, 2 + k, k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED, k % 3 == 2, SAMPLES);
        double *q = numbers(SAMPLES * r.nq), *v = numbers(SAMPLES * r.nv), *tau = numbers(SAMPLES * r.nv);
        memcpy(q, r.q, SAMPLES * r.nq * sizeof *q);
        memcpy(v, r.v, SAMPLES * r.nv * sizeof *v);
        random_vector(&random, (int)(SAMPLES * r.nv), 1, tau);
        for (int i = 0; i < 3; i++) {
            dyn_simulator *s = free_motion(r.model, (dyn_integrator)i, 1e-3, true);
            run(s, SAMPLES, 5, tau, r.q, r.v);
            for (size_t j = 0; j < SAMPLES; j++) {
                run(s, 1, 5, tau + j * r.nv, q + j * r.nq, v + j * r.nv);
            }
            ck_assert_msg(memcmp(q, r.q, SAMPLES * r.nq * sizeof *q) == 0, "case %d, integrator %d: q differs", k, i);
            ck_assert_msg(memcmp(v, r.v, SAMPLES * r.nv * sizeof *v) == 0, "case %d, integrator %d: v differs", k, i);
            dyn_simulator_free(s);
        }
        free(q);
        free(v);
        free(tau);
        free_robot(&r);
    }
}
END_TEST

/* ---- one joint, whose motion is known ---------------------------------------------------------------------------- */

/* Builds `count` links on revolute joints about vertical axes, with moments of inertia of 1 kg m^2. */
static dyn_model *turntables(int count, double damping, double friction, double limit) {
    dyn_builder *builder = NULL;
    dyn_model *model = NULL;
    dyn_error error;
    require(dyn_builder_create("turntables", &builder, &error), &error);
    require(dyn_builder_add_link(builder, &(dyn_link_description){.name = "base"}, &error), &error);
    for (int i = 0; i < count; i++) {
        char link[32], name[32];
        snprintf(link, sizeof link, "table%d", i);
        snprintf(name, sizeof name, "turn%d", i);
        const dyn_link_description table = {.name = link, .inertia = {.mass = 1, .rotational = {1, 0, 0, 1, 0, 1}}};
        const dyn_joint_description joint = {.name = name,
                                             .type = DYN_JOINT_TYPE_REVOLUTE,
                                             .parent_link = "base",
                                             .child_link = link,
                                             .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                             .axis = {0, 0, 1},
                                             .has_limits = limit > 0,
                                             .limits = {-limit, limit, 0, 3},
                                             .damping = damping,
                                             .friction = friction};
        require(dyn_builder_add_link(builder, &table, &error), &error);
        require(dyn_builder_add_joint(builder, &joint, &error), &error);
    }
    require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

static dyn_model *turntable(double damping, double friction, double limit) {
    return turntables(1, damping, friction, limit);
}

/* Advances the state q, v of the turntable by `steps` steps under the torque tau. */
static void turn_table(const dyn_model *model, const dyn_simulation_options *options, size_t steps, double tau,
                       double *q, double *v) {
    dyn_simulator *s = NULL;
    dyn_error error;
    require(dyn_simulator_create(model, options, &s, &error), &error);
    run(s, 1, steps, &tau, q, v);
    dyn_simulator_free(s);
}

START_TEST(damping_slows_exponentially) {
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    dyn_model *model = turntable(2, 0, 100);
    double q = 0, v = 3;
    o.integrator = DYN_INTEGRATOR_RUNGE_KUTTA_4;
    turn_table(model, &o, 500, 0, &q, &v);
    ck_assert_double_eq_tol(v, 3 * exp(-1), 1e-10);
    ck_assert_double_eq_tol(q, 1.5 * (1 - exp(-1)), 1e-10);
    o.ignore_damping = true;
    q = 0, v = 3;
    turn_table(model, &o, 500, 0, &q, &v);
    ck_assert_double_eq_tol(v, 3, 1e-12);
    dyn_model_free(model);
    /* Damping with a time constant of a thousandth of the step. */
    model = turntable(1e6, 0, 100);
    o = (dyn_simulation_options)DYN_SIMULATION_OPTIONS_INIT();
    q = 0, v = 3;
    turn_table(model, &o, 3, 0, &q, &v);
    ck_assert_msg(v >= 0 && v < 1e-8, "the stiff damper leaves %g rad/s", v);
    dyn_model_free(model);
}
END_TEST

START_TEST(friction_slows_evenly_and_holds) {
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    dyn_model *model = turntable(0, 2, 100);
    for (int i = DYN_INTEGRATOR_SEMI_IMPLICIT_EULER; i <= DYN_INTEGRATOR_RUNGE_KUTTA_4; i++) {
        double q = 0, v = 3;
        o.integrator = (dyn_integrator)i;
        turn_table(model, &o, 1000, 0, &q, &v);
        ck_assert_msg(fabs(v - 1) < 0.003, "integrator %d: %g rad/s instead of 1", i, v);
        /* Largest step with which explicit methods are stable here: v_f I / f. */
        turn_table(model, &o, 2000, 0, &q, &v);
        ck_assert_msg(fabs(v) < 1e-6, "integrator %d: still %g rad/s", i, v);
        double held = q;
        turn_table(model, &o, 1000, 1.9, &q, &v);
        ck_assert_msg(v > 0 && q - held < 3.1 * o.friction_velocity, "integrator %d: crept %g rad", i, q - held);
    }
    dyn_model_free(model);
}
END_TEST

START_TEST(rigid_stops_reverse_by_the_restitution) {
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    o.restitution = 0.8;
    dyn_model *model = turntable(0, 0, 0.5);
    double q = 0, v = 1;
    turn_table(model, &o, 600, 0, &q, &v);
    ck_assert_double_eq_tol(v, -0.8, 1e-12);
    ck_assert_double_eq_tol(q, 0.5 - 0.8 * 0.1, 2e-3);
    turn_table(model, &o, 1200, 0, &q, &v);
    ck_assert_double_eq_tol(v, 0.64, 1e-12);
    /* A constant push brings the table to rest at the stop. */
    turn_table(model, &o, 20000, 1, &q, &v);
    ck_assert_double_eq_tol(q, 0.5, 1e-9);
    ck_assert_double_eq_tol(v, 0, 1e-9);
    o.stop = DYN_JOINT_STOP_SPRING;
    q = 0, v = 1;
    turn_table(model, &o, 600, 0, &q, &v);
    ck_assert_msg(q < 0.52 && v < 0, "the spring does not push back: %g rad, %g rad/s", q, v);
    o.stop = DYN_JOINT_STOP_NONE;
    q = 0, v = 1;
    turn_table(model, &o, 600, 0, &q, &v);
    ck_assert_double_eq_tol(q, 0.6, 1e-12);
    dyn_model_free(model);
}
END_TEST

enum { STOPPED_ROBOTS = 60, STOPPED_SAMPLES = 3 };

/* Robot with many joints at their stops. `r` has its states after a step with stops. */
typedef struct stopped_robot {
    moving_robot r;
    double *free_q, *free_v; /* after a step without stops */
    double *M, *impulse;     /* of one sample */
    double tolerance;
} stopped_robot;

static dyn_joint_limits joint_limits(const dyn_model *model, int j) {
    const dyn_joint *joint = dyn_model_joint(model, j);
    return joint->has_limits ? joint->limits : (dyn_joint_limits){.lower = -INFINITY, .upper = INFINITY};
}

/* Draws states in which joints are within their limits, at them and beyond them, and advances them by one step with and
 * one without stops, `together` samples at a time. */
static stopped_robot strike_stops(random_source *random, int k, int joints, double restitution, size_t together) {
    random_tree_options tree = {.joints = joints, .with_fixed = true, .limit = 0.2, .revolute_only = joints > 20};
    tree.base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED;
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    stopped_robot x = {.r = {.model = random_tree(random, &tree)}, .tolerance = 1e-10};
    size_t nq = x.r.nq = (size_t)dyn_model_nq(x.r.model), nv = x.r.nv = (size_t)dyn_model_nv(x.r.model);
    size_t n = STOPPED_SAMPLES;
    x.r.q = numbers(n * nq), x.r.v = numbers(n * nv), x.M = numbers(nv * nv), x.impulse = numbers(nv);
    x.free_q = numbers(n * nq), x.free_v = numbers(n * nv);
    for (size_t s = 0; s < n; s++) {
        random_configuration(random, x.r.model, 0.25, x.r.q + s * nq);
    }
    random_vector(random, (int)(n * nv), 1, x.r.v);
    memcpy(x.free_q, x.r.q, n * nq * sizeof *x.r.q);
    memcpy(x.free_v, x.r.v, n * nv * sizeof *x.r.v);
    o.step_length = 1e-3, o.restitution = restitution, o.rest_velocity = 0;
    for (int stops = 0; stops < 2; stops++) {
        dyn_simulator *s = NULL;
        dyn_error error;
        o.stop = stops ? DYN_JOINT_STOP_RIGID : DYN_JOINT_STOP_NONE;
        require(dyn_simulator_create(x.r.model, &o, &s, &error), &error);
        for (size_t i = 0; i < n; i += together) {
            run(s, together, 1, NULL, (stops ? x.r.q : x.free_q) + i * nq, (stops ? x.r.v : x.free_v) + i * nv);
        }
        dyn_simulator_free(s);
    }
    return x;
}

static void free_stopped(stopped_robot *x) {
    free(x->free_q), free(x->free_v), free(x->M), free(x->impulse);
    free_robot(&x->r);
}

/* Computes M and the impulses M (v' - v) of sample s, where v' and v are the velocities with and without stops. Returns
 * the kinetic energy that the impulses add. */
static double find_impulses(stopped_robot *x, size_t s) {
    dyn_workspace *w = NULL;
    dyn_error error;
    size_t nv = x->r.nv;
    double added = 0;
    require(dyn_workspace_create(x->r.model, &w, &error), &error);
    require(dyn_crba(x->r.model, w, 1, x->r.q + s * x->r.nq, x->M, &error), &error);
    for (size_t i = 0; i < nv; i++) {
        x->impulse[i] = 0;
        for (size_t j = 0; j < nv; j++) {
            x->impulse[i] += x->M[i * nv + j] * (x->r.v[s * nv + j] - x->free_v[s * nv + j]);
        }
        added += x->impulse[i] * (x->r.v[s * nv + i] + x->free_v[s * nv + i]) / 2;
    }
    dyn_workspace_free(w);
    return added;
}

/* Checks that only joints at limits have impulses, that these point away from the limits, and that no joint at a limit
 * moves outward. Unless `rebounds`, a joint with an impulse is at rest. */
static void check_stops(const stopped_robot *x, int k, size_t s, bool rebounds) {
    double tolerance = x->tolerance, scale = tolerance * (1 + norm(x->impulse, x->r.nv));
    for (int j = 0; j < dyn_model_joint_count(x->r.model); j++) {
        const dyn_joint *joint = dyn_model_joint(x->r.model, j);
        dyn_joint_limits limits = joint_limits(x->r.model, j);
        for (int c = 0; c < joint->nv; c++) {
            double free_q = x->free_q[s * x->r.nq + (size_t)(joint->q_index + c)];
            double v = x->r.v[s * x->r.nv + (size_t)(joint->v_index + c)], p = x->impulse[joint->v_index + c];
            int side = joint->nq > 1 ? 0 : free_q >= limits.upper ? 1 : free_q <= limits.lower ? -1 : 0;
            ck_assert_msg(side != 0 || fabs(p) <= scale, "%d: joint %d has an impulse of %g", k, j, p);
            ck_assert_msg(side * p <= scale, "%d: the stop of joint %d pulls with %g", k, j, p);
            ck_assert_msg(side * v <= tolerance, "%d: joint %d moves into its stop at %g", k, j, v);
            ck_assert_msg(rebounds || fabs(p * v) <= scale, "%d: joint %d has %g and moves at %g", k, j, p, v);
        }
    }
}

START_TEST(impulse_and_velocity_at_stops_are_complementary) {
    random_source base = random_seed("many joints at their stops", 5108);
    for (int k = 0; k < STOPPED_ROBOTS; k++) {
        random_source random = random_case(base, (uint64_t)k);
        stopped_robot x = strike_stops(&random, k, 1 + k % 20, 0, STOPPED_SAMPLES);
        for (size_t s = 0; s < STOPPED_SAMPLES; s++) {
            find_impulses(&x, s);
            check_stops(&x, k, s, false);
        }
        free_stopped(&x);
    }
}
END_TEST

START_TEST(impacts_add_no_energy) {
    random_source base = random_seed("energy of impacts", 5109);
    for (int k = 0; k < 3 * STOPPED_ROBOTS; k++) {
        random_source random = random_case(base, (uint64_t)k);
        stopped_robot x = strike_stops(&random, k, 1 + k % 20, k % 3 * 0.5, STOPPED_SAMPLES);
        for (size_t s = 0; s < STOPPED_SAMPLES; s++) {
            double added = find_impulses(&x, s), scale = norm(x.impulse, x.r.nv) + norm(x.free_v + s * x.r.nv, x.r.nv);
            ck_assert_msg(added <= 1e-12 * scale * scale, "%d: the stops add %g J", k, added);
            check_stops(&x, k, s, true);
        }
        free_stopped(&x);
    }
}
END_TEST

START_TEST(stops_of_a_sample_do_not_depend_on_other_samples) {
    random_source base = random_seed("stops of one sample alone and among others", 5111);
    for (int k = 0; k < STOPPED_ROBOTS; k++) {
        random_source random = random_case(base, (uint64_t)k), again = random;
        int joints = k % 20 == 19 ? 200 : 1 + k % 20;
        stopped_robot x = strike_stops(&random, k, joints, k % 2 * 0.5, STOPPED_SAMPLES);
        stopped_robot y = strike_stops(&again, k, joints, k % 2 * 0.5, 1);
        ck_assert_msg(memcmp(x.r.v, y.r.v, STOPPED_SAMPLES * x.r.nv * sizeof *x.r.v) == 0, "robot %d", k);
        ck_assert_msg(memcmp(x.r.q, y.r.q, STOPPED_SAMPLES * x.r.nq * sizeof *x.r.q) == 0, "robot %d", k);
        free_stopped(&x), free_stopped(&y);
    }
}
END_TEST

START_TEST(more_joints_stop_than_one_solution_holds) {
    random_source base = random_seed("more joints at their stops than one solution holds", 5110);
    for (int k = 0; k < 6; k++) {
        random_source random = random_case(base, (uint64_t)k);
        stopped_robot x = strike_stops(&random, k, 400, k % 3 * 0.5, STOPPED_SAMPLES);
        x.tolerance = 1e-6;
        for (size_t s = 0; s < STOPPED_SAMPLES; s++) {
            ck_assert_double_le(find_impulses(&x, s), 1e-9);
            check_stops(&x, k, s, true);
        }
        free_stopped(&x);
    }
}
END_TEST

START_TEST(joints_at_limits_act_together_among_many_with_limits) {
    random_source base = random_seed("few of many joints with limits at their stops", 5112);
    for (int k = 0; k < 6; k++) {
        random_source random = random_case(base, (uint64_t)k);
        stopped_robot x = strike_stops(&random, k, 200, 0, STOPPED_SAMPLES);
        for (size_t s = 0; s < STOPPED_SAMPLES; s++) {
            find_impulses(&x, s);
            check_stops(&x, k, s, false);
        }
        free_stopped(&x);
    }
}
END_TEST

START_TEST(fastest_of_several_hits_is_reported) {
    dyn_model *model = turntables(3, 0, 0, 0.5);
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *s = NULL;
    dyn_error error;
    const double q_0[3] = {-0.5, -0.5, 0.5}, v_0[3] = {-0.2, -2, 1e-3};
    double q[3], v[3];
    dyn_sample_result result = {0};
    dyn_rollout_result total = {0};
    require(dyn_simulator_create(model, &o, &s, &error), &error);
    memcpy(q, q_0, sizeof q), memcpy(v, v_0, sizeof v);
    require(dyn_simulator_step(s, 1, NULL, q, v, NULL, &result, &error), &error);
    ck_assert_int_eq(result.hit_joint, 2);
    ck_assert_double_eq(result.hit_velocity, -2);
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 3, .q = q_0, .v = v_0);
    const dyn_rollout_output output = DYN_ROLLOUT_OUTPUT_INIT(.q = q, .v = v, .results = &total);
    require(dyn_rollout_run(s, 1, &rollout, &output, &error), &error);
    ck_assert_uint_eq(total.hits, 1);
    dyn_simulator_free(s);
    dyn_model_free(model);
}
END_TEST

START_TEST(rows_of_stops_exist_where_they_can_act) {
    static const struct {
        double limit;
        dyn_joint_stop stop;
        int rows;
    } cases[] = {{0.5, DYN_JOINT_STOP_RIGID, 3},
                 {0.5, DYN_JOINT_STOP_SPRING, 0},
                 {0.5, DYN_JOINT_STOP_NONE, 0},
                 {0, DYN_JOINT_STOP_RIGID, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dyn_model *model = turntables(3, 0, 0, cases[i].limit);
        dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
        o.stop = cases[i].stop;
        dyn_simulator *s = NULL;
        dyn_error error;
        require(dyn_simulator_create(model, &o, &s, &error), &error);
        ck_assert_int_eq(s->stops.rows.capacity, cases[i].rows);
        dyn_simulator_free(s);
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(accurate_motion_finds_the_stops) {
    dyn_model *model = turntable(0, 0, 0.5);
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    o.restitution = 0.8;
    dyn_simulator *s = NULL;
    dyn_error error;
    require(dyn_simulator_create(model, &o, &s, &error), &error);
    const double t[3] = {0, 1, 2}, q_0 = 0, v_0 = 1;
    double q[3], v[3];
    dyn_adaptive_event events[4];
    dyn_adaptive_result result;
    const dyn_adaptive_motion motion = DYN_ADAPTIVE_MOTION_INIT(.n = 3, .time = t, .q = &q_0, .v = &v_0);
    require(dyn_adaptive_run(s, &motion, q, v, events, 4, &result, &error), &error);
    ck_assert_int_eq(result.end, DYN_ADAPTIVE_END_DONE);
    ck_assert_uint_eq(result.events, 2);
    ck_assert_double_eq_tol(events[0].time, 0.5, 1e-12);
    ck_assert_double_eq_tol(events[1].time, 1.75, 1e-12);
    ck_assert_double_eq_tol(events[0].velocity, 1, 1e-12);
    ck_assert_double_eq_tol(q[1], 0.5 - 0.8 * 0.5, 1e-12);
    ck_assert_double_eq_tol(q[2], -0.5 + 0.64 * 0.25, 1e-12);
    dyn_simulator_free(s);
    o.restitution = 0;
    require(dyn_simulator_create(model, &o, &s, &error), &error);
    require(dyn_adaptive_run(s, &motion, q, v, events, 4, &result, &error), &error);
    ck_assert_int_eq(result.end, DYN_ADAPTIVE_END_RESTS);
    ck_assert_double_eq_tol(result.time, 0.5, 1e-12);
    ck_assert_double_eq_tol(q[2], 0.5, 1e-12);
    dyn_simulator_free(s);
    dyn_model_free(model);
}
END_TEST

START_TEST(effort_is_cut) {
    dyn_model *model = turntable(0, 0, 100);
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    double q = 0, v = 0;
    turn_table(model, &o, 1000, 50, &q, &v);
    ck_assert_double_eq_tol(v, 3, 1e-12);
    o.ignore_effort_limits = true;
    v = 0;
    turn_table(model, &o, 1000, 50, &q, &v);
    ck_assert_double_eq_tol(v, 50, 1e-10);
    dyn_model_free(model);
}
END_TEST

/* ---- controllers ------------------------------------------------------------------------------------------------- */

/* Returns whether every joint can have a motor, which a floating joint cannot. */
static bool has_motors(const dyn_model *model) {
    bool all = true;
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        all = all && dyn_model_joint(model, j)->type != DYN_JOINT_TYPE_FLOATING;
    }
    return all;
}

START_TEST(controllers_reach_their_reference) {
    random_source base = random_seed("controllers bring random trees to their reference", 5105);
    for (int k = 0; k < 9; k++) {
        random_source random = random_case(base, (uint64_t)k);
        moving_robot r = random_robot(&random, 2 + k / 2, DYN_BASE_FIXED, k % 3 == 2, 1);
        while (!has_motors(r.model)) {
            free_robot(&r);
            r = random_robot(&random, 2 + k / 2, DYN_BASE_FIXED, k % 3 == 2, 1);
        }
        double *q_ref = numbers(r.nq), *gains = numbers(2 * r.nv), *e = numbers(r.nv);
        bool computed = k % 2;
        random_configuration(&random, r.model, 0.3, q_ref);
        require(dyn_interpolate(r.model, 1, r.q, q_ref, 0.9, r.q, NULL), NULL);
        for (size_t j = 0; j < r.nv; j++) {
            gains[j] = computed ? 100 : 400, gains[r.nv + j] = computed ? 20 : 60;
        }
        dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
        o.control = computed ? DYN_CONTROL_COMPUTED_TORQUE : DYN_CONTROL_PD_GRAVITY;
        o.control_stiffness = gains, o.control_damping = gains + r.nv;
        o.stop = DYN_JOINT_STOP_NONE;
        o.ignore_effort_limits = o.ignore_friction = true;
        dyn_simulator *s = NULL;
        dyn_error error;
        require(dyn_simulator_create(r.model, &o, &s, &error), &error);
        const dyn_rollout rollout =
            DYN_ROLLOUT_INIT(.steps = computed ? 3000 : 20000, .q = r.q, .q_ref = {q_ref, 0, 0});
        double *q = numbers(r.nq);
        require(dyn_rollout_run(s, 1, &rollout, &(dyn_rollout_output)DYN_ROLLOUT_OUTPUT_INIT(.q = q), &error), &error);
        require(dyn_difference(r.model, 1, q, q_ref, e, &error), &error);
        ck_assert_msg(norm(e, r.nv) < (computed ? 1e-6 : 1e-2), "case %d: %g from the reference", k, norm(e, r.nv));
        dyn_simulator_free(s);
        free(q_ref), free(gains), free(e), free(q);
        free_robot(&r);
    }
}
END_TEST

/* ---- samples that diverge ---------------------------------------------------------------------------------------- */

START_TEST(an_overflow_of_an_early_sample_is_reported) {
    enum { SAMPLES = 300 };
    random_source base = random_seed("joint wrenches of many samples, of which the first overflow", 5107);
    moving_robot r = random_robot(&base, 3, DYN_BASE_FIXED, false, SAMPLES);
    double *wrenches = numbers(6 * SAMPLES * (size_t)dyn_model_joint_count(r.model));
    dyn_workspace *workspace;
    dyn_error error;
    require(dyn_workspace_create(r.model, &workspace, &error), &error);
    for (size_t i = 0; i < r.nv; i++) {
        r.v[i] = 1e200;
    }
    dyn_status status = dyn_joint_wrenches(r.model, workspace, SAMPLES, NULL, r.q, r.v, NULL, NULL, wrenches, &error);
    ck_assert_int_eq(status, DYN_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.message, "wrenches is beyond the range"), "%s", error.message);
    dyn_workspace_free(workspace);
    free(wrenches);
    free_robot(&r);
}
END_TEST

START_TEST(divergence_stops_one_sample_alone) {
    enum { SAMPLES = 19, STEPS = 50 };
    random_source base = random_seed("a sample that diverges stops, and the others do not notice", 5106);
    for (int k = 0; k < 6; k++) {
        random_source random = random_case(base, (uint64_t)k);
        moving_robot r = random_robot(&random, 2 + k, k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED, false, SAMPLES);
        size_t width_q = SAMPLES * r.nq, width_v = SAMPLES * r.nv;
        double *tau = numbers(width_v), *q[2] = {numbers(width_q), numbers(width_q)};
        double *v[2] = {numbers(width_v), numbers(width_v)};
        dyn_rollout_result results[2][SAMPLES];
        dyn_simulator *s = free_motion(r.model, (dyn_integrator)(k % 3), 1e-3, true);
        size_t victim = (size_t)random_index(&random, SAMPLES);
        for (int i = 0; i < 2; i++) {
            tau[victim * r.nv] = i ? 1e200 : 0;
            dyn_error error;
            const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = STEPS, .q = r.q, .v = r.v, .tau = {tau, r.nv, 0});
            const dyn_rollout_output output = DYN_ROLLOUT_OUTPUT_INIT(.q = q[i], .v = v[i], .results = results[i]);
            require(dyn_rollout_run(s, SAMPLES, &rollout, &output, &error), &error);
        }
        for (size_t j = 0; j < SAMPLES; j++) {
            bool same = memcmp(q[0] + j * r.nq, q[1] + j * r.nq, r.nq * sizeof(double)) == 0 &&
                        memcmp(v[0] + j * r.nv, v[1] + j * r.nv, r.nv * sizeof(double)) == 0;
            ck_assert_int_eq(results[0][j].status, DYN_SAMPLE_STATUS_RUNNING);
            ck_assert_msg(same == (j != victim), "case %d: sample %zu, victim %zu", k, j, victim);
            ck_assert((results[1][j].status == DYN_SAMPLE_STATUS_RUNNING) == (j != victim));
            ck_assert_uint_eq(results[1][j].steps, j == victim ? 0 : STEPS);
        }
        /* The sample keeps its last good state, which is the first one. */
        double *e = numbers(r.nv);
        require(dyn_difference(r.model, 1, r.q + victim * r.nq, q[1] + victim * r.nq, e, NULL), NULL);
        ck_assert(norm(e, r.nv) < 1e-12);
        dyn_simulator_free(s);
        free(tau), free(q[0]), free(q[1]), free(v[0]), free(v[1]), free(e);
        free_robot(&r);
    }
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

START_TEST(wrong_inputs_are_refused_by_name) {
    dyn_model *model = turntable(0, 0, 1);
    dyn_simulation_options good = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *s = NULL;
    dyn_error error;
    const double nan = NAN, minus = -1;
    struct {
        const char *place;
        dyn_simulation_options options;
    } options[9] = {{"step_length", good}, {"substeps", good},       {"friction_velocity", good},
                    {"restitution", good}, {"velocity_bound", good}, {"gravity", good},
                    {"integrator", good},  {"control", good},        {"control_stiffness[0]", good}};
    options[0].options.step_length = 0;
    options[1].options.substeps = 0;
    options[2].options.friction_velocity = 0;
    options[3].options.restitution = 1.5;
    options[4].options.velocity_bound = NAN;
    options[5].options.has_gravity = true, options[5].options.gravity[2] = INFINITY;
    options[6].options.integrator = (dyn_integrator)7;
    options[7].options.control = (dyn_control)9;
    options[8].options.control_stiffness = &minus;
    for (int i = 0; i < 9; i++) {
        ck_assert_int_eq(dyn_simulator_create(model, &options[i].options, &s, &error), DYN_INVALID_ARGUMENT);
        ck_assert_str_eq(error.place, options[i].place);
        ck_assert_ptr_nonnull(error.site.argument);
        ck_assert_uint_eq(strlen(error.site.argument), strcspn(options[i].place, "["));
        ck_assert_int_eq(error.site.has_index, i == 8);
    }
    require(dyn_simulator_create(model, &good, &s, &error), &error);
    double q = 0, v = 0, out;
    const dyn_step_input inputs[] = {DYN_STEP_INPUT_INIT(.tau = &nan), DYN_STEP_INPUT_INIT(.tau = &v, .tau_end = &nan),
                                     DYN_STEP_INPUT_INIT(.q_ref = &q)};
    const char *const places[] = {"tau[0]", "tau_end[0]", "q_ref"};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(dyn_simulator_step(s, 1, &inputs[i], &q, &v, NULL, NULL, &error), DYN_INVALID_ARGUMENT);
        ck_assert_str_eq(error.place, places[i]);
    }
    const double row[] = {0, 0, NAN};
    const dyn_rollout rollouts[] = {
        DYN_ROLLOUT_INIT(.steps = 0, .q = &q),
        DYN_ROLLOUT_INIT(.steps = 3, .q = &nan),
        DYN_ROLLOUT_INIT(.steps = 3, .q = &q, .v = &nan),
        DYN_ROLLOUT_INIT(.steps = 3, .q = &q, .tau = {row, 0, 1}),
        DYN_ROLLOUT_INIT(.steps = 2, .q = &q, .hold = DYN_HOLD_LINEAR, .tau = {row, 0, 1}),
        DYN_ROLLOUT_INIT(.steps = 3, .q = &q, .q_ref = {row, 0, 0}),
        DYN_ROLLOUT_INIT(.steps = 3, .q = &q, .hold = (dyn_hold)2),
    };
    const char *const rollout_places[] = {"steps", "q[0]", "v[0]", "tau[2]", "tau[2]", "q_ref", "hold"};
    for (int i = 0; i < 7; i++) {
        const dyn_rollout_output output = DYN_ROLLOUT_OUTPUT_INIT(.q = &out);
        ck_assert_int_eq(dyn_rollout_run(s, 1, &rollouts[i], &output, &error), DYN_INVALID_ARGUMENT);
        ck_assert_str_eq(error.place, rollout_places[i]);
    }
    const double times[] = {0, 2, 2}, outside = 2;
    double rows[3] = {0};
    dyn_adaptive_result result;
    const dyn_adaptive_motion motions[] = {
        DYN_ADAPTIVE_MOTION_INIT(.n = 0, .time = times, .q = &q),
        DYN_ADAPTIVE_MOTION_INIT(.n = 3, .time = times, .q = &q),
        DYN_ADAPTIVE_MOTION_INIT(.n = 2, .time = times, .q = &q, .relative = 2),
        DYN_ADAPTIVE_MOTION_INIT(.n = 2, .time = times, .q = &q, .tau = row + 1),
        DYN_ADAPTIVE_MOTION_INIT(.n = 2, .time = times, .q = &outside),
        DYN_ADAPTIVE_MOTION_INIT(.n = 2, .time = times, .q = &q, .hold = (dyn_hold)2),
    };
    const char *const motion_places[] = {"time", "time[2]", "relative", "tau[1]", "q[0]", "hold"};
    for (int i = 0; i < 6; i++) {
        ck_assert_int_eq(dyn_adaptive_run(s, &motions[i], rows, rows, NULL, 0, &result, &error), DYN_INVALID_ARGUMENT);
        ck_assert_str_eq(error.place, motion_places[i]);
    }
    ck_assert_int_eq(dyn_derive_rates(model, 3, times, rows, DYN_RATES_SPLINE, rows, rows, &error),
                     DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "time[2]");
    dyn_simulator_free(s);
    dyn_model_free(model);
}
END_TEST

static bool stop_at_once(void *context, size_t sample_steps) {
    *(size_t *)context += sample_steps;
    return false;
}

START_TEST(rollout_ends_when_its_caller_cancels) {
    dyn_model *model = turntable(0, 0, 1);
    dyn_simulator *s = free_motion(model, DYN_INTEGRATOR_SEMI_IMPLICIT_EULER, 1e-3, true);
    double q = 0, out;
    size_t done = 0;
    dyn_error error;
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 1000000, .q = &q, .proceed = stop_at_once, .context = &done);
    ck_assert_int_eq(dyn_rollout_run(s, 1, &rollout, &(dyn_rollout_output)DYN_ROLLOUT_OUTPUT_INIT(.q = &out), &error),
                     DYN_CANCELLED);
    ck_assert_uint_le(done, 1000);
    dyn_simulator_free(s);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("simulation");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, free_motion_keeps_energy);
    tcase_add_test(tests, floating_robots_keep_momentum);
    tcase_add_test(tests, integrators_have_their_order);
    tcase_add_test(tests, samples_do_not_depend_on_each_other);
    tcase_add_test(tests, damping_slows_exponentially);
    tcase_add_test(tests, friction_slows_evenly_and_holds);
    tcase_add_test(tests, rigid_stops_reverse_by_the_restitution);
    tcase_add_test(tests, impulse_and_velocity_at_stops_are_complementary);
    tcase_add_test(tests, impacts_add_no_energy);
    tcase_add_test(tests, stops_of_a_sample_do_not_depend_on_other_samples);
    tcase_add_test(tests, more_joints_stop_than_one_solution_holds);
    tcase_add_test(tests, joints_at_limits_act_together_among_many_with_limits);
    tcase_add_test(tests, fastest_of_several_hits_is_reported);
    tcase_add_test(tests, rows_of_stops_exist_where_they_can_act);
    tcase_add_test(tests, accurate_motion_finds_the_stops);
    tcase_add_test(tests, effort_is_cut);
    tcase_add_test(tests, controllers_reach_their_reference);
    tcase_add_test(tests, an_overflow_of_an_early_sample_is_reported);
    tcase_add_test(tests, divergence_stops_one_sample_alone);
    tcase_add_test(tests, wrong_inputs_are_refused_by_name);
    tcase_add_test(tests, rollout_ends_when_its_caller_cancels);
    return run_properties("simulation", tests);
}
