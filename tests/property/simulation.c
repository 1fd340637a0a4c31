/*
 * Robots that move forward in time: invariants, convergence orders, independence of samples.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

/* A robot with a state, and what moves it. */
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

/* A simulator without what takes energy. */
static dyn_simulator *free_motion(const dyn_model *model, dyn_integrator integrator, double dt, bool with_gravity) {
    dyn_simulation_options options;
    dyn_simulator *simulator = NULL;
    dyn_error error;
    dyn_simulation_defaults(&options);
    options.integrator = integrator;
    options.dt = dt;
    options.ignore_damping = options.ignore_friction = true;
    options.stop = DYN_STOP_NONE;
    options.has_gravity = !with_gravity;
    require(dyn_simulator_create(model, &options, &error, &simulator), &error);
    return simulator;
}

/* Takes n samples `steps` steps on under constant forces. */
static void run(dyn_simulator *s, size_t n, size_t steps, const double *tau, double *q, double *v) {
    dyn_error error;
    const dyn_step_input input = {.tau = tau};
    for (size_t i = 0; i < steps; i++) {
        require(dyn_simulator_step(s, n, &input, q, v, NULL, NULL, &error), &error);
    }
}

static double energy(dyn_simulator *s, const moving_robot *r, const double *q, const double *v) {
    double kinetic, potential;
    dyn_error error;
    require(dyn_energy(r->model, dyn_simulator_workspace(s), 1, dyn_simulator_gravity(s), q, v, &error, &kinetic,
                       &potential),
            &error);
    return kinetic + potential;
}

START_TEST(free_motion_keeps_energy) {
    random_source base = random_seed("free motion keeps its energy", 5101);
    for (int k = 0; k < 12; k++) {
        random_source random = random_case(base, (uint64_t)k);
        moving_robot r = random_robot(&random, 1 + k, k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED, k % 3 == 2, 1);
        dyn_simulator *s = free_motion(r.model, DYN_RUNGE_KUTTA_4, 1e-3, true);
        double start = energy(s, &r, r.q, r.v), kinetic = 0;
        for (int i = 0; i < 5; i++) {
            run(s, 1, 40, NULL, r.q, r.v);
            kinetic = fmax(kinetic, fabs(energy(s, &r, r.q, r.v) - start));
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
        dyn_simulator *s = free_motion(r.model, DYN_RUNGE_KUTTA_4, 2.5e-4, false);
        dyn_workspace *w = dyn_simulator_workspace(s);
        double before[6], after[6];
        dyn_error error;
        require(dyn_centroidal_momentum(r.model, w, 1, r.q, r.v, &error, before), &error);
        run(s, 1, 40000, NULL, r.q, r.v);
        require(dyn_centroidal_momentum(r.model, w, 1, r.q, r.v, &error, after), &error);
        assert_close("momentum", k, after, before, 6, 1e-10);
        dyn_simulator_free(s);
        free_robot(&r);
    }
}
END_TEST

/* The error of a motion of 0.1 s in so many steps against one in 2048 steps of Runge-Kutta 4. */
static double motion_error(const moving_robot *r, dyn_integrator integrator, size_t steps, const double *tau) {
    double *q = numbers(2 * r->nq), *v = numbers(2 * r->nv), *change = numbers(r->nv);
    const size_t counts[2] = {2048, steps};
    const dyn_integrator integrators[2] = {DYN_RUNGE_KUTTA_4, integrator};
    dyn_error error;
    for (int i = 0; i < 2; i++) {
        dyn_simulator *s = free_motion(r->model, integrators[i], 0.1 / (double)counts[i], true);
        memcpy(q + (size_t)i * r->nq, r->q, r->nq * sizeof *q);
        memcpy(v + (size_t)i * r->nv, r->v, r->nv * sizeof *v);
        run(s, 1, counts[i], tau, q + (size_t)i * r->nq, v + (size_t)i * r->nv);
        dyn_simulator_free(s);
    }
    require(dyn_difference(r->model, 1, q, q + r->nq, &error, change), &error);
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
        {"semi-implicit Euler", DYN_SEMI_IMPLICIT_EULER, 64, 1},
        {"explicit Euler", DYN_EXPLICIT_EULER, 64, 1},
        {"Runge-Kutta 4", DYN_RUNGE_KUTTA_4, 8, 4},
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

int main(void) {
    TCase *tests = tcase_create("simulation");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, free_motion_keeps_energy);
    tcase_add_test(tests, floating_robots_keep_momentum);
    tcase_add_test(tests, integrators_have_their_order);
    tcase_add_test(tests, samples_do_not_depend_on_each_other);
    return run_properties("simulation", tests);
}
