/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares rollouts, accurate motions, trajectories and derived rates with each other.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/oracle/oracle.h"
#include "support/assertions.h"
#include "support/random_tree.h"
#include "support/ur5_screws.h"

static dyn_model *load_robot(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.urdf", ROBOTS_DIRECTORY, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s is missing", path);
    static char text[1 << 16];
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    dyn_model *model = NULL;
    dyn_error error;
    require(dyn_urdf_load(text, length, NULL, NULL, &model, &error), &error);
    return model;
}

/* Returns simulation options without damping, friction, stops and effort limits, which the textbook's equation of
 * motion lacks. */
static dyn_simulation_options ideal(dyn_integrator integrator, double dt) {
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    o.integrator = integrator;
    o.step_length = dt;
    o.ignore_damping = o.ignore_friction = o.ignore_effort_limits = true;
    o.stop = DYN_JOINT_STOP_NONE;
    return o;
}

static dyn_simulator *simulator_of(const dyn_model *model, const dyn_simulation_options *options) {
    dyn_simulator *s = NULL;
    dyn_error error;
    require(dyn_simulator_create(model, options, &s, &error), &error);
    return s;
}

/* Computes an accurate motion from q_0 and v_0 at n times, dt apart. */
static dyn_adaptive_result accurate(dyn_simulator *s, size_t n, double dt, const double *q_0, const double *v_0,
                                    const double *tau, double *q, double *v) {
    double *t = numbers(n);
    for (size_t i = 0; i < n; i++) {
        t[i] = (double)i * dt;
    }
    const dyn_adaptive_motion motion = DYN_ADAPTIVE_MOTION_INIT(.n = n, .time = t, .q = q_0, .v = v_0, .tau = tau,
                                                                .relative = 1e-13, .absolute = 1e-13);
    dyn_adaptive_result result;
    dyn_error error;
    require(dyn_adaptive_run(s, &motion, q, v, NULL, 0, &result, &error), &error);
    free(t);
    return result;
}

/* Fall of a UR5 from the zero configuration for three seconds (Modern Robotics, exercise 8.15). */
enum { FALL_ROWS = 31, UR5_NV = 6 };

typedef struct fall {
    double q[FALL_ROWS][UR5_NV], v[FALL_ROWS][UR5_NV], kinetic[FALL_ROWS], potential[FALL_ROWS];
    dyn_rollout_result result;
} fall;

static void let_fall(const dyn_model *model, size_t steps, fall *f) {
    static const double start[UR5_NV] = {0};
    dyn_simulation_options o = ideal(DYN_INTEGRATOR_RUNGE_KUTTA_4, 3.0 / (double)steps);
    dyn_simulator *s = simulator_of(model, &o);
    dyn_error error;
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = steps, .stride = steps / (FALL_ROWS - 1), .q = start);
    const dyn_rollout_output output = DYN_ROLLOUT_OUTPUT_INIT(.q = f->q[0], .v = f->v[0], .kinetic = f->kinetic,
                                                              .potential = f->potential, .results = &f->result);
    require(dyn_rollout_run(s, 1, &rollout, &output, &error), &error);
    ck_assert_int_eq(f->result.status, DYN_SAMPLE_STATUS_RUNNING);
    ck_assert_uint_eq(f->result.steps, steps);
    dyn_simulator_free(s);
}

/* Returns the largest difference of the positions from those of the accurate integrator; `steps` receives the number of
 * steps of this integrator. */
static double error_of_fall(const dyn_model *model, const fall *f, size_t *steps) {
    static const double start[UR5_NV] = {0};
    static fall exact;
    dyn_simulation_options o = ideal(DYN_INTEGRATOR_RUNGE_KUTTA_4, 1);
    dyn_simulator *s = simulator_of(model, &o);
    dyn_adaptive_result result = accurate(s, FALL_ROWS, 0.1, start, NULL, NULL, exact.q[0], exact.v[0]);
    ck_assert_int_eq(result.end, DYN_ADAPTIVE_END_DONE);
    double worst = 0;
    for (int i = 0; i < FALL_ROWS * UR5_NV; i++) {
        worst = larger(worst, fabs((&f->q[0][0])[i] - (&exact.q[0][0])[i]));
    }
    *steps = result.steps;
    dyn_simulator_free(s);
    return worst;
}

/* Returns the largest kinetic energy in the rows of a fall. */
static double most_energy(const fall *f) {
    double most = 0;
    for (int i = 0; i < FALL_ROWS; i++) {
        most = fmax(most, f->kinetic[i]);
    }
    return most;
}

START_TEST(fall_of_a_ur5_agrees_with_the_accurate_motion) {
    static fall f;
    dyn_model *model = ur5_of_screws();
    size_t steps;
    let_fall(model, 3000, &f);
    double worst = error_of_fall(model, &f, &steps), most = most_energy(&f);
    printf("UR5 in 3 s: RK4 at 1 ms is off by %.1e rad, its energy drifts by %.1e of %.1f J; %zu accurate steps\n",
           worst, f.result.energy_drift, most, steps);
    ck_assert_msg(worst < 1e-6, "positions differ by %g", worst);
    ck_assert_msg(f.result.energy_drift < 1e-7 * most, "%g of %g J", f.result.energy_drift, most);
    dyn_model_free(model);
}
END_TEST

/* Checks the fall of the sample robot, whose wrists have smaller moments of inertia: one of them turns at 80 rad/s, and
 * needs shorter steps. */
START_TEST(fall_of_a_sample_agrees_with_the_accurate_motion) {
    static fall short_steps, half_steps, usual_steps;
    dyn_model *model = load_robot("ur5");
    size_t steps;
    let_fall(model, 3000, &usual_steps);
    let_fall(model, 6000, &half_steps);
    let_fall(model, 30000, &short_steps);
    double worst = error_of_fall(model, &short_steps, &steps), most = most_energy(&usual_steps);
    printf("sample of a UR5 in 3 s: RK4 at 0.1 ms is off by %.1e rad; at 1 ms its energy drifts by %.1e of %.1f J; %zu "
           "accurate steps\n",
           worst, usual_steps.result.energy_drift, most, steps);
    ck_assert_msg(worst < 1e-6, "positions differ by %g", worst);
    ck_assert_msg(usual_steps.result.energy_drift < 5e-7 * most, "%g of %g J", usual_steps.result.energy_drift, most);
    ck_assert_msg(half_steps.result.energy_drift < 5e-8 * most, "%g of %g J", half_steps.result.energy_drift, most);
    dyn_model_free(model);
}
END_TEST

/* Compares the motion of a double pendulum with one in extended precision at a tenth of the step. */
START_TEST(double_pendulum_moves_as_in_extended_precision) {
    enum { NV = 2, STEPS = 20000 };
    dyn_model *model = load_robot("two_link");
    const kernel_table *k = &dyn_kernel_table_long_double;
    double start[NV] = {0.3, 0.5}, gravity[3];
    dyn_model_gravity(model, gravity);
    const step_parameters parameters = {.scheme = STEP_RUNGE_KUTTA_4, .dt = 1e-4, .gravity = gravity};
    long double q[2][NV] = {{0.3L, 0.5L}}, v[2][NV] = {{0}}, tau[NV] = {0}, pivots[NV];
    for (int i = 0; i < NV; i++) {
        q[0][i] = start[i];
    }
    void *memory = calloc(1, k->memory_size(model));
    for (int i = 0; i < STEPS; i++) {
        const step_input in = {.q = q[i % 2], .v = v[i % 2], .tau_begin = tau};
        k->step(model, memory, &parameters, &in, pivots, q[(i + 1) % 2], v[(i + 1) % 2]);
    }
    dyn_simulation_options o = ideal(DYN_INTEGRATOR_RUNGE_KUTTA_4, 1e-3);
    dyn_simulator *s = simulator_of(model, &o);
    double q_fixed[NV], q_exact[2 * NV], v_exact[2 * NV];
    dyn_error error;
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = STEPS / 10, .q = start);
    require(dyn_rollout_run(s, 1, &rollout, &(dyn_rollout_output)DYN_ROLLOUT_OUTPUT_INIT(.q = q_fixed), &error),
            &error);
    accurate(s, 2, STEPS * 1e-4, start, NULL, NULL, q_exact, v_exact);
    for (int i = 0; i < NV; i++) {
        double expected = (double)q[STEPS % 2][i];
        ck_assert_msg(fabs(q_exact[NV + i] - expected) < 1e-8, "accurate: %.12g, not %.12g", q_exact[NV + i], expected);
        ck_assert_msg(fabs(q_fixed[i] - expected) < 1e-7, "RK4: %.12g, not %.12g", q_fixed[i], expected);
    }
    free(memory);
    dyn_simulator_free(s);
    dyn_model_free(model);
}
END_TEST

START_TEST(motion_of_random_trees_agrees_with_the_accurate_motion) {
    random_source base = random_seed("Runge-Kutta 4 moves random trees as the accurate integrator does", 5201);
    for (int k = 0; k < 8; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_tree_options tree = {.joints = 1 + k,
                                    .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                    .with_mimic = k % 3 == 2,
                                    .with_fixed = true};
        dyn_model *model = random_tree(&random, &tree);
        size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
        double *q_0 = numbers(nq), *v_0 = numbers(nv), *tau = numbers(2 * nv), *change = numbers(nv);
        double *q = numbers(2 * nq), *v = numbers(2 * nv), *q_fixed = numbers(nq), *v_fixed = numbers(nv);
        random_configuration(&random, model, 1, q_0);
        random_vector(&random, (int)nv, 0.5, v_0);
        random_vector(&random, (int)nv, 1, tau);
        dyn_simulation_options o = ideal(DYN_INTEGRATOR_RUNGE_KUTTA_4, 1e-3);
        dyn_simulator *s = simulator_of(model, &o);
        dyn_error error;
        accurate(s, 2, 0.2, q_0, v_0, tau, q, v);
        const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 200, .q = q_0, .v = v_0, .tau = {tau, 0, 0});
        require(dyn_rollout_run(s, 1, &rollout,
                                &(dyn_rollout_output)DYN_ROLLOUT_OUTPUT_INIT(.q = q_fixed, .v = v_fixed), &error),
                &error);
        require(dyn_difference(model, 1, q + nq, q_fixed, change, &error), &error);
        ck_assert_msg(norm(change, nv) < 1e-7 * fmax(1, norm(v_fixed, nv)), "case %d: off by %g", k, norm(change, nv));
        assert_close("velocity", k, v_fixed, v + nv, nv, 1e-6);
        dyn_simulator_free(s);
        dyn_model_free(model);
        free(q_0), free(v_0), free(tau), free(change), free(q), free(v), free(q_fixed), free(v_fixed);
    }
}
END_TEST

START_TEST(derived_rates_give_the_forces_of_the_motion) {
    enum { ROWS = 401, NV = 6 };
    dyn_model *model = load_robot("ur5");
    dyn_workspace *w;
    dyn_error error;
    require(dyn_workspace_create(model, &w, &error), &error);
    static double t[ROWS], q[ROWS][NV], v[ROWS][NV], a[ROWS][NV], tau[ROWS][NV], wrench[ROWS][6];
    static double v_found[ROWS][NV], a_found[ROWS][NV], tau_found[ROWS][NV];
    for (int i = 0; i < ROWS; i++) {
        t[i] = 0.005 * i;
        for (int j = 0; j < NV; j++) {
            double w_j = 1 + 0.3 * j, x = w_j * t[i];
            q[i][j] = sin(x), v[i][j] = w_j * cos(x), a[i][j] = -w_j * w_j * sin(x);
            wrench[i][j] = 3 * sin(2 * t[i] + j);
        }
    }
    int frame;
    require(dyn_model_find_frame(model, "tool0", &frame, &error), &error);
    const dyn_tip tip = {frame, DYN_REFERENCE_FRAME_LOCAL, wrench[0]};
    require(dyn_inverse_dynamics_trajectory(model, w, ROWS, NULL, q[0], v[0], a[0], &tip, tau[0], &error), &error);
    for (int method = 0; method <= DYN_RATES_QUINTIC; method++) {
        if (method == DYN_RATES_SPLINE_AT_REST) {
            continue;
        }
        require(dyn_derive_rates(model, ROWS, t, q[0], (dyn_rates)method, v_found[0], a_found[0], &error), &error);
        require(dyn_inverse_dynamics_trajectory(model, w, ROWS, NULL, q[0], v_found[0], a_found[0], &tip, tau_found[0],
                                                &error),
                &error);
        double worst = 0;
        for (int i = 5; i < ROWS - 5; i++) {
            for (int j = 0; j < NV; j++) {
                worst = larger(worst, fabs(tau_found[i][j] - tau[i][j]));
            }
        }
        double allowed = method >= DYN_RATES_FIVE_POINT ? 1e-6 : 0.01;
        ck_assert_msg(worst < allowed, "rates %d: tau is off by %g", method, worst);
    }
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* Moves an arm fast between its stops, and checks that it stays within them and that a stop never adds energy. */
START_TEST(rigid_stops_of_an_arm_dissipate_energy) {
    enum { SAMPLES = 16, ROWS = 41, NV = 7 };
    static double q[SAMPLES][NV], v[SAMPLES][NV], q_out[SAMPLES][ROWS][NV];
    static double kinetic[SAMPLES][ROWS], potential[SAMPLES][ROWS];
    dyn_rollout_result results[SAMPLES];
    dyn_model *model = load_robot("panda");
    random_source random = random_seed("rigid stops take energy", 5204);
    for (int s = 0; s < SAMPLES; s++) {
        dyn_random_configuration(model, &random.state, q[s]);
    }
    random_vector(&random, SAMPLES * NV, 3, v[0]);
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    o.integrator = DYN_INTEGRATOR_RUNGE_KUTTA_4, o.step_length = 1e-4, o.restitution = 0.6;
    dyn_simulator *s = simulator_of(model, &o);
    dyn_error error;
    size_t hits = 0;
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 4000, .stride = 100, .q = q[0], .v = v[0]);
    const dyn_rollout_output output =
        DYN_ROLLOUT_OUTPUT_INIT(.q = q_out[0][0], .kinetic = kinetic[0], .potential = potential[0], .results = results);
    require(dyn_rollout_run(s, SAMPLES, &rollout, &output, &error), &error);
    for (int i = 0; i < SAMPLES; i++) {
        hits += results[i].hits;
        ck_assert_int_eq(results[i].status, DYN_SAMPLE_STATUS_RUNNING);
        for (int k = 0; k < ROWS; k++) {
            double gained = kinetic[i][k] + potential[i][k] - kinetic[i][0] - potential[i][0];
            ck_assert_msg(gained < 0.01 * (kinetic[i][0] + 10), "sample %d gained %g J", i, gained);
            for (int j = 0; j < NV; j++) {
                const dyn_joint_limits *l = &dyn_model_joint(model, j)->limits;
                ck_assert(q_out[i][k][j] >= l->lower && q_out[i][k][j] <= l->upper);
            }
        }
    }
    ck_assert_uint_gt(hits, SAMPLES);
    dyn_simulator_free(s);
    dyn_model_free(model);
}
END_TEST

/* Checks Modern Robotics' integration of forward dynamics: explicit Euler under constant forces converges to the exact
 * motion with order 1. */
START_TEST(forward_trajectory_converges_with_its_substeps) {
    enum { ROWS = 21, NV = 6 };
    dyn_model *model = load_robot("ur5");
    double tau[ROWS][NV], q_exact[ROWS][NV], v_exact[ROWS][NV], q[ROWS][NV] = {{0}}, v[ROWS][NV] = {{0}}, off[2] = {0};
    double wrench[ROWS][6] = {{0}};
    random_source random = random_seed("explicit Euler converges under held forces", 5203);
    random_vector(&random, ROWS * NV, 1, tau[0]);
    dyn_simulation_options o = ideal(DYN_INTEGRATOR_EXPLICIT_EULER, 0.01);
    dyn_simulator *exact = simulator_of(model, &o);
    accurate(exact, ROWS, 0.01, q[0], v[0], tau[0], q_exact[0], v_exact[0]);
    const dyn_tip tip = {dyn_model_link_count(model) - 1, DYN_REFERENCE_FRAME_LOCAL, wrench[0]};
    for (int i = 0; i < 2; i++) {
        dyn_error error;
        o.substeps = i ? 400 : 200;
        dyn_simulator *s = simulator_of(model, &o);
        require(dyn_forward_dynamics_trajectory(s, ROWS, tau[0], i ? &tip : NULL, q[0], v[0], NULL, &error), &error);
        for (int j = 0; j < NV; j++) {
            off[i] = larger(off[i], fabs(q[ROWS - 1][j] - q_exact[ROWS - 1][j]));
        }
        dyn_simulator_free(s);
    }
    ck_assert_msg(fabs(log2(off[0] / off[1]) - 1) < 0.2, "errors %g, %g", off[0], off[1]);
    dyn_simulator_free(exact);
    dyn_model_free(model);
}
END_TEST

START_TEST(rates_converge_on_random_trees) {
    static const double least_order[] = {1.8, 0, 1.8, 2.8, 3.8};
    random_source base = random_seed("rates of positions converge", 5202);
    for (int k = 0; k < 8; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_tree_options tree = {.joints = 2 + k, .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED};
        dyn_model *model = random_tree(&random, &tree);
        size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
        enum { MOST = 33 };
        double *q_0 = numbers(nq), *v_0 = numbers(nv), *t = numbers(MOST), *q = numbers(MOST * nq),
               *v = numbers(MOST * nv);
        double *v_found = numbers(MOST * nv), *a_found = numbers(MOST * nv);
        random_configuration(&random, model, 1, q_0);
        random_vector(&random, (int)nv, 1, v_0);
        for (int method = 0; method <= DYN_RATES_QUINTIC; method++) {
            double off[2] = {0};
            for (int refined = 0; method != DYN_RATES_SPLINE_AT_REST && refined < 2; refined++) {
                size_t n = refined ? MOST : (MOST + 1) / 2;
                dyn_simulation_options o = ideal(DYN_INTEGRATOR_RUNGE_KUTTA_4, 1);
                dyn_simulator *s = simulator_of(model, &o);
                for (size_t i = 0; i < n; i++) {
                    t[i] = 0.2 * (double)i / (double)(n - 1);
                }
                dyn_error error;
                dyn_adaptive_result result;
                const dyn_adaptive_motion motion = DYN_ADAPTIVE_MOTION_INIT(.n = n, .time = t, .q = q_0, .v = v_0);
                require(dyn_adaptive_run(s, &motion, q, v, NULL, 0, &result, &error), &error);
                require(dyn_derive_rates(model, n, t, q, (dyn_rates)method, v_found, a_found, &error), &error);
                for (size_t i = n / 4 * nv; i < (n - n / 4) * nv; i++) {
                    off[refined] = larger(off[refined], fabs(v_found[i] - v[i]));
                }
                dyn_simulator_free(s);
            }
            ck_assert_msg(log2(off[0] / off[1]) >= least_order[method] || off[1] < 1e-9 || method == 1,
                          "case %d, rates %d: errors %g, %g", k, method, off[0], off[1]);
        }
        dyn_model_free(model);
        free(q_0), free(v_0), free(t), free(q), free(v), free(v_found), free(a_found);
    }
}
END_TEST

/* Checks that the spline through the rows of a quintic is the quintic at any times. The spline that begins and ends at
 * rest is the quintic of a minimum-jerk motion. */
START_TEST(quintic_splines_are_exact_for_quintics) {
    enum { MOST = 200, NV = 6 };
    dyn_model *model = load_robot("ur5");
    random_source base = random_seed("quintic splines are exact for quintics", 5205);
    static const size_t counts[] = {2, 3, 6, 7, 40, MOST};
    static double t[MOST], q[MOST][NV], v[MOST][NV], a[MOST][NV], v_found[MOST][NV], a_found[MOST][NV];
    for (size_t k = 0; k < 2 * sizeof counts / sizeof *counts; k++) {
        random_source random = random_case(base, (uint64_t)k);
        bool is_at_rest = k % 2;
        size_t n = counts[k / 2];
        double c[NV][6] = {{0}};
        /* A spline through few rows, not at rest, has a lower degree. */
        size_t degree = n < 6 ? n - 1 : 5;
        for (int j = 0; j < NV; j++) {
            random_vector(&random, (int)degree + 1, 1, c[j]);
            if (is_at_rest) {
                memcpy(c[j], (double[6]){0, 0, 0, 10, -15, 6}, sizeof c[j]);
            }
        }
        double gaps[MOST], whole = 0;
        random_vector(&random, MOST, 1, gaps);
        for (size_t i = 1; i < n; i++) {
            whole += 0.2 + fabs(gaps[i]);
            t[i] = whole;
        }
        for (size_t i = 0; i < n; i++) {
            t[i] = i ? t[i] / whole : 0;
            for (int j = 0; j < NV; j++) {
                double x = t[i], *p = c[j];
                q[i][j] = p[0] + x * (p[1] + x * (p[2] + x * (p[3] + x * (p[4] + x * p[5]))));
                v[i][j] = p[1] + x * (2 * p[2] + x * (3 * p[3] + x * (4 * p[4] + x * 5 * p[5])));
                a[i][j] = 2 * p[2] + x * (6 * p[3] + x * (12 * p[4] + x * 20 * p[5]));
            }
        }
        dyn_error error;
        require(dyn_derive_rates(model, n, t, q[0], is_at_rest ? DYN_RATES_QUINTIC_AT_REST : DYN_RATES_QUINTIC,
                                 v_found[0], a_found[0], &error),
                &error);
        assert_close("v", (int)k, v_found[0], v[0], n * NV, 1e-9);
        assert_close("a", (int)k, a_found[0], a[0], n * NV, 1e-6);
    }
    dyn_model_free(model);
}
END_TEST

START_TEST(rates_beyond_a_double_are_refused) {
    static const char text[] = "<robot name='arm'><link name='base'/><link name='rod'><inertial><mass value='1'/>"
                               "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
                               "<joint name='hinge' type='continuous'><parent link='base'/><child link='rod'/></joint>"
                               "</robot>";
    enum { N = 8 };
    dyn_model *model;
    dyn_error error;
    require(dyn_urdf_load(text, sizeof text - 1, NULL, NULL, &model, &error), &error);
    for (int method = 0; method <= DYN_RATES_QUINTIC_AT_REST; method++) {
        /* At intervals of 1e-160 s accelerations are about 1e320, at 1e-10 s about 1e20. */
        for (int k = 0; k < 2; k++) {
            double t[N], q[N], v[N], a[N];
            for (int i = 0; i < N; i++) {
                t[i] = (k ? 1e-10 : 1e-160) * (i + (i > 4)), q[i] = i % 2;
            }
            t[3] = 0.5 * (t[2] + t[3]);
            dyn_status status = dyn_derive_rates(model, N, t, q, (dyn_rates)method, v, a, &error);
            ck_assert_msg(status == (k ? DYN_OK : DYN_INVALID_ARGUMENT), "rates %d gave %d", method, status);
            if (!k) {
                ck_assert_str_eq(error.place, "time[3]");
                ck_assert_int_eq(error.site.cause, DYN_CAUSE_OVERFLOW);
                ck_assert(error.site.has_sample);
                ck_assert_ptr_nonnull(strstr(error.message, "longer intervals than the 5e-161 s before this time"));
            }
        }
    }
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("trajectory");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, fall_of_a_ur5_agrees_with_the_accurate_motion);
    tcase_add_test(tests, fall_of_a_sample_agrees_with_the_accurate_motion);
    tcase_add_test(tests, double_pendulum_moves_as_in_extended_precision);
    tcase_add_test(tests, motion_of_random_trees_agrees_with_the_accurate_motion);
    tcase_add_test(tests, derived_rates_give_the_forces_of_the_motion);
    tcase_add_test(tests, forward_trajectory_converges_with_its_substeps);
    tcase_add_test(tests, rigid_stops_of_an_arm_dissipate_energy);
    tcase_add_test(tests, rates_converge_on_random_trees);
    tcase_add_test(tests, quintic_splines_are_exact_for_quintics);
    tcase_add_test(tests, rates_beyond_a_double_are_refused);
    return run_properties("trajectory", tests);
}
