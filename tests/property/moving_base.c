/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Simulates robots on a base that moves, and compares them with the same robots on a floating joint whose link is so
 * heavy that it moves as if it carried no robot.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

enum { TREES = 10, SAMPLES = 3, ROWS = 3, FLOATING_NQ = 7, FLOATING_NV = 6 };

static const double HEAVY = 1e10, DURATION = 0.3;

/* Robot, its state, and the motion of its base. */
typedef struct robot {
    dyn_model *model, *floating;
    size_t nq, nv;
    double *q, *v;                /* SAMPLES rows */
    double base[2 * 6 * SAMPLES]; /* rows of 12 */
} robot;

static robot open_robot(random_source *random, int joints) {
    dyn_error error;
    const random_tree_options options = {.joints = joints, .with_custom = joints % 2 == 0, .with_fixed = true};
    robot r = {.model = random_tree(random, &options)};
    dyn_builder *builder;
    require(dyn_model_describe(r.model, &builder, &error), &error);
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    require(dyn_builder_build(builder, &floating, NULL, &r.floating, &error), &error);
    dyn_builder_free(builder);
    r.nq = (size_t)dyn_model_nq(r.model), r.nv = (size_t)dyn_model_nv(r.model);
    r.q = numbers(SAMPLES * r.nq), r.v = numbers(SAMPLES * r.nv);
    for (size_t s = 0; s < SAMPLES; s++) {
        random_configuration(random, r.model, 1, r.q + s * r.nq);
    }
    random_vector(random, (int)(SAMPLES * r.nv), 1, r.v);
    random_vector(random, 2 * 6 * SAMPLES, 1, r.base);
    return r;
}

static void close_robot(robot *r) {
    free(r->q), free(r->v);
    dyn_model_free(r->model), dyn_model_free(r->floating);
}

/* Creates a simulator of ideal bodies without gravity. */
static dyn_simulator *open_simulator(const dyn_model *model, dyn_integrator integrator, double step_length,
                                     const double gravity[3]) {
    dyn_simulator *simulator;
    dyn_error error;
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    options.integrator = integrator, options.step_length = step_length, options.stop = DYN_JOINT_STOP_NONE;
    options.ignore_damping = options.ignore_friction = options.ignore_effort_limits = true;
    options.has_gravity = options.base_may_move = true;
    memcpy(options.gravity, gravity, sizeof options.gravity);
    require(dyn_simulator_create(model, &options, &simulator, &error), &error);
    return simulator;
}

static const double weightless[3] = {0, 0, 0};

/* Integrates the robot of sample 0 on its floating joint, whose link has the twist and the acceleration of the base at
 * the start: a force and a torque in its axes keep its acceleration. Stores the end of the motion. */
static void move_heavily(const robot *r, double *q_end, double *v_end) {
    const double *V = r->base, *A = r->base + 6;
    const double time[2] = {0, DURATION};
    double *q = numbers(2 * (r->nq + FLOATING_NQ)), *v = numbers(2 * (r->nv + FLOATING_NV));
    double *tau = numbers(2 * (r->nv + FLOATING_NV));
    dyn_adaptive_result result;
    dyn_error error;
    dyn_simulator *simulator = open_simulator(r->floating, DYN_INTEGRATOR_RUNGE_KUTTA_4, 1e-3, weightless);
    const dyn_payload payload = {.link = dyn_model_joint(r->floating, 0)->child_link,
                                 .replaces = true,
                                 .inertia = {.mass = HEAVY, .rotational = {HEAVY, 0, 0, HEAVY, 0, HEAVY}}};
    require(dyn_simulator_load(simulator, 1, &payload, &error), &error);
    q[6] = 1;
    memcpy(v, V + 3, 3 * sizeof *v), memcpy(v + 3, V, 3 * sizeof *v);
    for (size_t i = 0; i < 3; i++) {
        tau[i] = HEAVY * A[3 + i], tau[3 + i] = HEAVY * A[i];
    }
    memcpy(q + FLOATING_NQ, r->q, r->nq * sizeof *q), memcpy(v + FLOATING_NV, r->v, r->nv * sizeof *v);
    const dyn_adaptive_motion motion =
        DYN_ADAPTIVE_MOTION_INIT(.n = 2, .time = time, .q = q, .v = v, .tau = tau, .relative = 1e-12);
    double *q_rows = numbers(2 * (r->nq + FLOATING_NQ)), *v_rows = numbers(2 * (r->nv + FLOATING_NV));
    require(dyn_adaptive_run(simulator, &motion, q_rows, v_rows, NULL, 0, &result, &error), &error);
    ck_assert_int_eq(result.end, DYN_ADAPTIVE_END_DONE);
    memcpy(q_end, q_rows + (r->nq + FLOATING_NQ) + FLOATING_NQ, r->nq * sizeof *q);
    memcpy(v_end, v_rows + (r->nv + FLOATING_NV) + FLOATING_NV, r->nv * sizeof *v);
    dyn_simulator_free(simulator);
    free(q), free(v), free(tau), free(q_rows), free(v_rows);
}

/* Integrates the robot of sample 0 on its moving base, with error control. */
static void move_accurately(const robot *r, double *q_end, double *v_end) {
    const double time[2] = {0, DURATION};
    double *q = numbers(2 * r->nq), *v = numbers(2 * r->nv);
    dyn_adaptive_result result;
    dyn_error error;
    const dyn_base_motion base = {r->base, r->base + 6, 0};
    dyn_simulator *simulator = open_simulator(r->model, DYN_INTEGRATOR_EXPLICIT_EULER, 1e-3, weightless);
    const dyn_adaptive_motion motion =
        DYN_ADAPTIVE_MOTION_INIT(.n = 2, .time = time, .q = r->q, .v = r->v, .relative = 1e-12, .base = &base);
    require(dyn_adaptive_run(simulator, &motion, q, v, NULL, 0, &result, &error), &error);
    memcpy(q_end, q + r->nq, r->nq * sizeof *q), memcpy(v_end, v + r->nv, r->nv * sizeof *v);
    dyn_simulator_free(simulator);
    free(q), free(v);
}

/* Integrates n samples in fixed steps to the end. `base` are rows of 12. */
static void roll(const robot *r, dyn_integrator integrator, size_t n, size_t steps, dyn_signal base, double *q_end,
                 double *v_end) {
    dyn_error error;
    dyn_simulator *simulator = open_simulator(r->model, integrator, DURATION / (double)steps, weightless);
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = steps, .q = r->q, .v = r->v, .base = base);
    const dyn_rollout_output output = DYN_ROLLOUT_OUTPUT_INIT(.q = q_end, .v = v_end);
    require(dyn_rollout_run(simulator, n, &rollout, &output, &error), &error);
    dyn_simulator_free(simulator);
}

START_TEST(motion_on_a_moving_base_is_that_on_a_heavy_floating_link) {
    random_source base = random_seed("robots on a base that turns steadily", 2841);
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        robot r = open_robot(&random, 1 + k % 6);
        double *q[2] = {numbers(r.nq), numbers(r.nq)}, *v[2] = {numbers(r.nv), numbers(r.nv)};
        memset(r.base + 6, 0, 3 * sizeof *r.base);
        move_heavily(&r, q[0], v[0]), move_accurately(&r, q[1], v[1]);
        assert_norm_close("positions", k, q[1], q[0], r.nq, 1e-7);
        assert_norm_close("velocities", k, v[1], v[0], r.nv, 1e-7);
        free(q[0]), free(q[1]), free(v[0]), free(v[1]);
        close_robot(&r);
    }
}
END_TEST

START_TEST(rows_of_steps_follow_a_base_whose_rotation_accelerates) {
    enum { STEPS = 300 };
    random_source base = random_seed("robots on a base that turns ever faster", 2842);
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        robot r = open_robot(&random, 1 + k % 6);
        double *q[2] = {numbers(r.nq), numbers(r.nq)}, *v[2] = {numbers(r.nv), numbers(r.nv)};
        double *rows = numbers(12 * STEPS);
        /* The axis of rotation stays the same, so that rates in the axes of the base are those of its acceleration. */
        for (size_t i = 0; i < 3; i++) {
            r.base[i] = 0.4 * r.base[6 + i];
        }
        for (size_t s = 0; s < STEPS; s++) {
            double t = ((double)s + 0.5) * DURATION / STEPS;
            memcpy(rows + 12 * s, r.base, 12 * sizeof *rows);
            for (size_t i = 0; i < 3; i++) {
                rows[12 * s + i] += t * r.base[6 + i];
            }
        }
        move_heavily(&r, q[0], v[0]);
        roll(&r, DYN_INTEGRATOR_RUNGE_KUTTA_4, 1, STEPS, (dyn_signal){rows, 12 * STEPS, 12}, q[1], v[1]);
        assert_norm_close("positions", k, q[1], q[0], r.nq, 2e-6);
        assert_norm_close("velocities", k, v[1], v[0], r.nv, 2e-6);
        free(q[0]), free(q[1]), free(v[0]), free(v[1]), free(rows);
        close_robot(&r);
    }
}
END_TEST

static double distance(const double *x, const double *y, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    }
    return sqrt(sum);
}

START_TEST(methods_keep_their_order_on_a_moving_base) {
    static const struct {
        dyn_integrator integrator;
        size_t steps;
        double least, most; /* ratio of the errors with n and with 2 n steps */
    } cases[] = {{DYN_INTEGRATOR_SEMI_IMPLICIT_EULER, 400, 1.8, 2.2},
                 {DYN_INTEGRATOR_EXPLICIT_EULER, 400, 1.8, 2.2},
                 {DYN_INTEGRATOR_RUNGE_KUTTA_4, 20, 13, 19}};
    random_source random = random_seed("order on a moving base", 2843);
    robot r = open_robot(&random, 4);
    double *q[3] = {numbers(r.nq), numbers(r.nq), numbers(r.nq)}, *v = numbers(r.nv);
    move_accurately(&r, q[2], v);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; k < 2; k++) {
            roll(&r, cases[i].integrator, 1, cases[i].steps << k, (dyn_signal){r.base, 0, 0}, q[k], v);
        }
        double ratio = distance(q[0], q[2], r.nq) / distance(q[1], q[2], r.nq);
        ck_assert_double_ge(ratio, cases[i].least);
        ck_assert_double_le(ratio, cases[i].most);
    }
    free(q[0]), free(q[1]), free(q[2]), free(v);
    close_robot(&r);
}
END_TEST

START_TEST(each_sample_has_its_own_base_and_the_bits_that_it_has_alone) {
    enum { STEPS = 20 };
    random_source random = random_seed("samples with their own bases", 2844);
    robot r = open_robot(&random, 5);
    for (int integrator = 0; integrator <= DYN_INTEGRATOR_RUNGE_KUTTA_4; integrator++) {
        double *q[2] = {numbers(SAMPLES * r.nq), numbers(r.nq)}, *v[2] = {numbers(SAMPLES * r.nv), numbers(r.nv)};
        roll(&r, (dyn_integrator)integrator, SAMPLES, STEPS, (dyn_signal){r.base, 12, 0}, q[0], v[0]);
        for (size_t s = 0; s < SAMPLES; s++) {
            robot one = r;
            one.q = r.q + s * r.nq, one.v = r.v + s * r.nv;
            roll(&one, (dyn_integrator)integrator, 1, STEPS, (dyn_signal){r.base + 12 * s, 0, 0}, q[1], v[1]);
            ck_assert_mem_eq(q[1], q[0] + s * r.nq, r.nq * sizeof(double));
            ck_assert_mem_eq(v[1], v[0] + s * r.nv, r.nv * sizeof(double));
        }
        free(q[0]), free(q[1]), free(v[0]), free(v[1]);
    }
    close_robot(&r);
}
END_TEST

START_TEST(an_accelerated_base_is_gravity_and_steps_start_from_the_last) {
    enum { STEPS = 8 };
    random_source random = random_seed("accelerated bases", 2845);
    robot r = open_robot(&random, 5);
    double felt[3], *tau = numbers(r.nv);
    dyn_error error;
    memset(r.base, 0, 9 * sizeof *r.base);
    for (size_t i = 0; i < 3; i++) {
        felt[i] = -r.base[9 + i];
    }
    for (int integrator = 0; integrator <= DYN_INTEGRATOR_RUNGE_KUTTA_4; integrator++) {
        double *q[2] = {numbers(r.nq), numbers(r.nq)}, *v[2] = {numbers(r.nv), numbers(r.nv)};
        const dyn_base_motion base = {r.base, r.base + 6, 0};
        for (int k = 0; k < 2; k++) {
            dyn_simulator *simulator = open_simulator(r.model, (dyn_integrator)integrator, 1e-3, k ? felt : weightless);
            const dyn_step_input input = DYN_STEP_INPUT_INIT(.tau = tau, .tau_end = tau, .base = k ? NULL : &base);
            memcpy(q[k], r.q, r.nq * sizeof(double)), memcpy(v[k], r.v, r.nv * sizeof(double));
            for (int s = 0; s < STEPS; s++) {
                require(dyn_simulator_step(simulator, 1, &input, q[k], v[k], NULL, NULL, &error), &error);
            }
            dyn_simulator_free(simulator);
        }
        assert_norm_close("positions", integrator, q[0], q[1], r.nq, 1e-12);
        assert_norm_close("velocities", integrator, v[0], v[1], r.nv, 1e-12);
        free(q[0]), free(q[1]), free(v[0]), free(v[1]);
    }
    free(tau);
    close_robot(&r);
}
END_TEST

START_TEST(a_base_that_the_simulator_does_not_expect_or_that_is_not_finite_is_refused) {
    random_source random = random_seed("refusals of bases in simulations", 2846);
    robot r = open_robot(&random, 3);
    dyn_error error;
    dyn_simulator *simulator = open_simulator(r.model, DYN_INTEGRATOR_EXPLICIT_EULER, 1e-3, weightless), *plain;
    dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 2, .q = r.q, .v = r.v, .base = {r.base, 24, 12});
    ck_assert_int_eq(dyn_rollout_check(simulator, 1, &rollout, &error), DYN_OK);
    r.base[17] = (double)NAN;
    ck_assert_int_eq(dyn_rollout_check(simulator, 1, &rollout, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.site.argument, "base_motion");
    r.base[17] = 0;
    require(dyn_simulator_create(r.model, NULL, &plain, &error), &error);
    ck_assert_int_eq(dyn_rollout_check(plain, 1, &rollout, &error), DYN_INVALID_ARGUMENT);
    const dyn_base_motion base = {r.base, r.base + 6, 0};
    const dyn_step_input input = DYN_STEP_INPUT_INIT(.base = &base);
    ck_assert_int_eq(dyn_simulator_step(plain, 1, &input, r.q, r.v, NULL, NULL, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "base_motion");
    dyn_simulator_free(simulator), dyn_simulator_free(plain);
    close_robot(&r);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("moving_base");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, motion_on_a_moving_base_is_that_on_a_heavy_floating_link);
    tcase_add_test(tests, rows_of_steps_follow_a_base_whose_rotation_accelerates);
    tcase_add_test(tests, methods_keep_their_order_on_a_moving_base);
    tcase_add_test(tests, each_sample_has_its_own_base_and_the_bits_that_it_has_alone);
    tcase_add_test(tests, an_accelerated_base_is_gravity_and_steps_start_from_the_last);
    tcase_add_test(tests, a_base_that_the_simulator_does_not_expect_or_that_is_not_finite_is_refused);
    return run_properties("moving_base", tests);
}
