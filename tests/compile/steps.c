/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks steps forward in time with compiled forward dynamics, on random trees of every joint type: they equal those of
 * the library's kernels to rounding, and a sample has the same bits alone and in a batch.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "compile/workshop.h"
#include "support/assertions.h"
#include "support/random_tree.h"

enum { SAMPLES = 21, STEPS = 20, TREES = 3, VARIANTS = 12 };

static const random_tree_options trees[TREES] = {
    {.joints = 7, .with_mimic = true, .with_fixed = true},
    {.joints = 6, .revolute_only = true},
    {.joints = 5, .with_fixed = true, .base = DYN_BASE_FLOATING},
};

/* Robot with its compiled algorithms, states, forces and gains. */
typedef struct moving_robot {
    dyn_model *model;
    dyn_compiled *compiled;
    size_t nq, nv;
    double *q, *v, *tau, *q_ref, *gains;
} moving_robot;

/* Returns the tree with damping and friction in its joints, and with limits on revolute and prismatic ones. Frees
 * `model`. */
static dyn_model *resisting(dyn_model *model) {
    dyn_builder *builder = NULL, *copy = NULL;
    dyn_model *result = NULL;
    dyn_error error;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    require(dyn_model_build_options(model, &options, &error), &error);
    require(dyn_model_describe(model, &builder, &error), &error);
    require(dyn_builder_create("resisting", &copy, &error), &error);
    for (int i = 0; i < dyn_builder_link_count(builder); i++) {
        require(dyn_builder_add_link(copy, dyn_builder_link(builder, i), &error), &error);
    }
    for (int j = 0; j < dyn_builder_joint_count(builder); j++) {
        dyn_joint_description joint = *dyn_builder_joint(builder, j);
        joint.damping = 0.3 + 0.1 * j, joint.friction = 0.2;
        joint.has_limits = joint.type == DYN_JOINT_TYPE_REVOLUTE || joint.type == DYN_JOINT_TYPE_PRISMATIC;
        joint.limits = (dyn_joint_limits){-0.2, 0.2, 0, 50};
        require(dyn_builder_add_joint(copy, &joint, &error), &error);
    }
    require(dyn_builder_build(copy, &options, NULL, &result, &error), &error);
    dyn_builder_free(builder), dyn_builder_free(copy);
    dyn_model_free(model);
    return result;
}

static moving_robot create(int tree) {
    random_source random = random_seed("compiled steps", 20261121 + (uint64_t)tree);
    moving_robot r = {.model = resisting(random_tree(&random, &trees[tree]))};
    char name[16];
    snprintf(name, sizeof name, "tree_%d", tree);
    r.compiled = load_compiled(r.model, name);
    r.nq = (size_t)dyn_model_nq(r.model), r.nv = (size_t)dyn_model_nv(r.model);
    r.q = numbers(SAMPLES * r.nq), r.v = numbers(SAMPLES * r.nv), r.tau = numbers(SAMPLES * r.nv);
    r.q_ref = numbers(SAMPLES * r.nq), r.gains = numbers(r.nv);
    for (size_t s = 0; s < SAMPLES; s++) {
        random_configuration(&random, r.model, 0.4, r.q + s * r.nq);
        random_configuration(&random, r.model, 0.4, r.q_ref + s * r.nq);
    }
    random_vector(&random, (int)(SAMPLES * r.nv), 1, r.v);
    random_vector(&random, (int)(SAMPLES * r.nv), 1, r.tau);
    for (size_t i = 0; i < r.nv; i++) {
        r.gains[i] = 0.5;
    }
    return r;
}

static void destroy(moving_robot *r) {
    free(r->q), free(r->v), free(r->tau), free(r->q_ref), free(r->gains);
    dyn_compiled_free(r->compiled);
    dyn_model_free(r->model);
}

/* Returns the simulation options of case k. The cases cover every integrator with every controller, each kind of stop,
 * and motions with and without friction. */
static dyn_simulation_options variant(const moving_robot *r, int k) {
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    o.integrator = (dyn_integrator)(k % 3);
    o.control = (dyn_control)(k / 3);
    o.stop = (dyn_joint_stop)((k + k / 3) % 3);
    o.ignore_friction = o.ignore_damping = k % 4 == 3;
    o.friction_velocity = 1;
    o.stop_stiffness = 100, o.stop_damping = 1;
    o.substeps = 1 + k % 2;
    o.control_stiffness = o.control_damping = r->gains;
    return o;
}

static dyn_simulator *simulator(const moving_robot *r, const dyn_simulation_options *options, bool is_compiled) {
    dyn_simulator *s = NULL;
    dyn_error error;
    require(dyn_simulator_create(r->model, options, &s, &error), &error);
    require(dyn_simulator_use_compiled(s, is_compiled ? r->compiled : NULL, &error), &error);
    return s;
}

/* Moves samples first .. first + n - 1 by STEPS steps; q and v receive the final states. */
static void roll_out(const moving_robot *r, dyn_simulator *s, size_t first, size_t n, double *q, double *v) {
    bool has_controller = dyn_simulator_options(s)->control != DYN_CONTROL_NONE;
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = STEPS, .q = r->q + first * r->nq, .v = r->v + first * r->nv,
                                                 .tau = {r->tau + first * r->nv, r->nv, 0},
                                                 .q_ref = {has_controller ? r->q_ref + first * r->nq : NULL, r->nq, 0});
    dyn_error error;
    require(dyn_rollout_run(s, n, &rollout, &(dyn_rollout_output)DYN_ROLLOUT_OUTPUT_INIT(.q = q, .v = v), &error),
            &error);
}

START_TEST(compiled_steps_are_those_of_the_kernels) {
    moving_robot r = create(_i);
    double *q = numbers(SAMPLES * r.nq), *v = numbers(SAMPLES * r.nv);
    double *expected_q = numbers(SAMPLES * r.nq), *expected_v = numbers(SAMPLES * r.nv);
    for (int k = 0; k < VARIANTS; k++) {
        const dyn_simulation_options options = variant(&r, k);
        dyn_simulator *fast = simulator(&r, &options, true), *plain = simulator(&r, &options, false);
        ck_assert(dyn_simulator_is_compiled(fast) && !dyn_simulator_is_compiled(plain));
        roll_out(&r, fast, 0, SAMPLES, q, v);
        roll_out(&r, plain, 0, SAMPLES, expected_q, expected_v);
        assert_close("q", k, q, expected_q, SAMPLES * r.nq, 1e-11);
        assert_close("v", k, v, expected_v, SAMPLES * r.nv, 1e-9);
        ck_assert_msg(memcmp(v, expected_v, SAMPLES * r.nv * sizeof *v) != 0, "%d: no other code computed it", k);
        dyn_simulator_free(fast), dyn_simulator_free(plain);
    }
    free(q), free(v), free(expected_q), free(expected_v);
    destroy(&r);
}
END_TEST

START_TEST(samples_do_not_depend_on_each_other) {
    moving_robot r = create(_i);
    double *q = numbers(SAMPLES * r.nq), *v = numbers(SAMPLES * r.nv);
    double *few_q = numbers(SAMPLES * r.nq), *few_v = numbers(SAMPLES * r.nv);
    for (int k = 0; k < VARIANTS; k++) {
        const dyn_simulation_options options = variant(&r, k);
        dyn_simulator *s = simulator(&r, &options, true);
        roll_out(&r, s, 0, SAMPLES, q, v);
        for (size_t n = 1; n < 10; n += 2) {
            for (size_t first = 0; first + n <= SAMPLES; first += n) {
                roll_out(&r, s, first, n, few_q, few_v);
                ck_assert_msg(memcmp(few_q, q + first * r.nq, n * r.nq * sizeof *q) == 0, "%d: q of %zu", k, n);
                ck_assert_msg(memcmp(few_v, v + first * r.nv, n * r.nv * sizeof *v) == 0, "%d: v of %zu", k, n);
            }
        }
        /* Single steps yield the bits of a rollout. */
        const dyn_step_input input =
            DYN_STEP_INPUT_INIT(.tau = r.tau, .q_ref = options.control != DYN_CONTROL_NONE ? r.q_ref : NULL);
        memcpy(few_q, r.q, r.nq * sizeof *q);
        memcpy(few_v, r.v, r.nv * sizeof *v);
        for (int i = 0; i < STEPS; i++) {
            dyn_error error;
            require(dyn_simulator_step(s, 1, &input, few_q, few_v, NULL, NULL, &error), &error);
        }
        ck_assert_mem_eq(few_q, q, r.nq * sizeof *q);
        ck_assert_mem_eq(few_v, v, r.nv * sizeof *v);
        dyn_simulator_free(s);
    }
    free(q), free(v), free(few_q), free(few_v);
    destroy(&r);
}
END_TEST

/* Checks that both simulators compute one step with the same bits, under external forces unless `forces` is NULL. */
static void assert_same_steps(const moving_robot *r, dyn_simulator *fast, dyn_simulator *plain,
                              const dyn_external_forces *forces) {
    double *q = numbers(2 * r->nq), *v = numbers(2 * r->nv);
    dyn_simulator *const both[] = {fast, plain};
    const dyn_step_input input = DYN_STEP_INPUT_INIT(.tau = r->tau, .forces = forces);
    for (size_t i = 0; i < 2; i++) {
        dyn_error error;
        memcpy(q + i * r->nq, r->q, r->nq * sizeof *q);
        memcpy(v + i * r->nv, r->v, r->nv * sizeof *v);
        require(dyn_simulator_step(both[i], 1, &input, q + i * r->nq, v + i * r->nv, NULL, NULL, &error), &error);
    }
    ck_assert_mem_eq(q, q + r->nq, r->nq * sizeof *q);
    ck_assert_mem_eq(v, v + r->nv, r->nv * sizeof *v);
    free(q), free(v);
}

/* Checks that steps with external forces, payloads or another gravity, which are not part of the compiled code, use the
 * kernels. */
START_TEST(inputs_without_compiled_code_use_the_kernels) {
    moving_robot r = create(_i);
    dyn_simulation_options options = variant(&r, 0);
    dyn_simulator *fast = simulator(&r, &options, true), *plain = simulator(&r, &options, false);
    const double wrench[6] = {1, 2, 3, 4, 5, 6};
    const int tip = dyn_model_link_count(r.model) - 1;
    dyn_external_force force = {.frame = tip, .wrench = wrench};
    dyn_error error;
    assert_same_steps(&r, fast, plain, &(dyn_external_forces){1, &force});
    const dyn_payload payload = {.link = tip, .inertia = {.mass = 3}};
    require(dyn_simulator_load(fast, 1, &payload, &error), &error);
    require(dyn_simulator_load(plain, 1, &payload, &error), &error);
    ck_assert(!dyn_simulator_is_compiled(fast));
    assert_same_steps(&r, fast, plain, NULL);
    dyn_simulator_free(fast), dyn_simulator_free(plain);
    options.has_gravity = true, options.gravity[2] = -1.62;
    fast = simulator(&r, &options, true), plain = simulator(&r, &options, false);
    ck_assert(!dyn_simulator_is_compiled(fast));
    assert_same_steps(&r, fast, plain, NULL);
    dyn_simulator_free(fast), dyn_simulator_free(plain);
    destroy(&r);
}
END_TEST

START_TEST(a_sample_that_diverges_leaves_its_neighbours_alone) {
    moving_robot r = create(_i);
    double *q = numbers(2 * SAMPLES * r.nq), *v = numbers(2 * SAMPLES * r.nv);
    dyn_simulation_options options = variant(&r, 0);
    options.ignore_effort_limits = true;
    dyn_simulator *s = simulator(&r, &options, true);
    enum { VICTIM = 9 };
    for (size_t i = 0; i < 2; i++) {
        r.tau[VICTIM * r.nv] = i ? 1e200 : 0;
        roll_out(&r, s, 0, SAMPLES, q + i * SAMPLES * r.nq, v + i * SAMPLES * r.nv);
    }
    for (size_t j = 0; j < SAMPLES; j++) {
        const double *a = v + j * r.nv, *b = a + SAMPLES * r.nv;
        ck_assert_msg((memcmp(a, b, r.nv * sizeof *a) == 0) == (j != VICTIM), "sample %zu", j);
    }
    ck_assert_mem_eq(v + (SAMPLES + VICTIM) * r.nv, r.v + VICTIM * r.nv, r.nv * sizeof *v);
    free(q), free(v);
    dyn_simulator_free(s);
    destroy(&r);
}
END_TEST

START_TEST(accurate_motions_are_those_of_the_kernels) {
    moving_robot r = create(_i);
    dyn_simulation_options options = variant(&r, 0);
    options.stop = DYN_JOINT_STOP_NONE;
    const double t[] = {0, 0.05, 0.1};
    double *q = numbers(2 * 3 * r.nq), *v = numbers(2 * 3 * r.nv);
    for (size_t i = 0; i < 2; i++) {
        dyn_simulator *s = simulator(&r, &options, i == 0);
        const dyn_adaptive_motion motion = DYN_ADAPTIVE_MOTION_INIT(.n = 3, .time = t, .q = r.q, .v = r.v);
        dyn_adaptive_result result;
        dyn_error error;
        require(dyn_adaptive_run(s, &motion, q + i * 3 * r.nq, v + i * 3 * r.nv, NULL, 0, &result, &error), &error);
        ck_assert_int_eq(result.end, DYN_ADAPTIVE_END_DONE);
        dyn_simulator_free(s);
    }
    assert_close("q", _i, q, q + 3 * r.nq, 3 * r.nq, 1e-8);
    assert_close("v", _i, v, v + 3 * r.nv, 3 * r.nv, 1e-7);
    ck_assert(memcmp(v, v + 3 * r.nv, 3 * r.nv * sizeof *v) != 0);
    free(q), free(v);
    destroy(&r);
}
END_TEST

START_TEST(object_compiled_for_another_model_is_refused) {
    moving_robot r = create(0), other = create(1);
    const dyn_simulation_options options = variant(&r, 0);
    dyn_simulator *s = simulator(&r, &options, false);
    dyn_error error;
    ck_assert_int_eq(dyn_simulator_use_compiled(s, other.compiled, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "compiled");
    dyn_simulator_free(s);
    destroy(&r), destroy(&other);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("steps");
    tcase_add_unchecked_fixture(tests, create_directory, remove_directory);
    tcase_add_loop_test(tests, compiled_steps_are_those_of_the_kernels, 0, TREES);
    tcase_add_loop_test(tests, samples_do_not_depend_on_each_other, 0, TREES);
    tcase_add_loop_test(tests, inputs_without_compiled_code_use_the_kernels, 0, TREES);
    tcase_add_loop_test(tests, a_sample_that_diverges_leaves_its_neighbours_alone, 0, TREES);
    tcase_add_loop_test(tests, accurate_motions_are_those_of_the_kernels, 0, TREES);
    tcase_add_test(tests, object_compiled_for_another_model_is_refused);
    tcase_set_timeout(tests, 300);
    return run_properties("steps", tests);
}
