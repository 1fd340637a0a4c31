/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks exciting motions of random chains: limits, derivatives, and what an identification states about them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

static dyn_excitation_options quick(void) {
    dyn_excitation_options options = DYN_EXCITATION_OPTIONS_INIT();
    options.harmonics = 3, options.period = 5, options.rate = 50, options.trials = 150;
    return options;
}

static dyn_model *random_robot(random_source *random, int joints) {
    random_tree_options options = {.joints = joints, .with_fixed = true, .revolute_only = true, .limit = 1.5};
    return random_tree(random, &options);
}

static dyn_excitation *excite(const dyn_model *model, const dyn_excitation_options *options) {
    dyn_excitation *found = NULL;
    dyn_error error;
    require(dyn_excite(model, options, &found, &error), &error);
    return found;
}

START_TEST(motions_keep_the_limits_and_begin_at_rest) {
    random_source base = random_seed("limits of exciting motions", 20261401);
    for (int k = 0; k < 8; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = random_robot(&random, 1 + k % 5);
        dyn_excitation_options options = quick();
        options.seed = (uint64_t)k, options.margin = k % 2 ? 0.2 : 0;
        options.criterion = k % 3 ? DYN_EXCITATION_CRITERION_CONDITION : DYN_EXCITATION_CRITERION_DETERMINANT;
        dyn_excitation *found = excite(model, &options);
        ck_assert_uint_eq(found->n, 250);
        for (int j = 0; j < dyn_model_joint_count(model); j++) {
            const dyn_joint *joint = dyn_model_joint(model, j);
            const dyn_excitation_use *use = &found->uses[joint->v_index];
            double share = 1 - options.margin, middle = (joint->limits.lower + joint->limits.upper) / 2;
            double half = (joint->limits.upper - joint->limits.lower) / 2, most = 0;
            for (size_t s = 0; s < found->n; s++) {
                most = fmax(most, fabs(found->q[s * found->nq + (size_t)joint->q_index] - middle));
            }
            ck_assert_double_le(most, half * share * (1 + 1e-12));
            ck_assert_double_eq_tol(use->position, most / half, 1e-12);
            ck_assert_double_le(use->velocity, share * (1 + 1e-12));
        }
        for (size_t i = 0; i < found->nv; i++) {
            ck_assert_double_eq_tol(found->v[i], 0, 1e-12);
            ck_assert_double_eq_tol(found->a[i], 0, 1e-10);
        }
        dyn_excitation_free(found);
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(rates_are_the_derivatives_of_the_positions) {
    random_source random = random_seed("rates of exciting motions", 20261402);
    dyn_model *model = random_robot(&random, 3);
    dyn_excitation_options options = quick();
    options.rate = 1000;
    dyn_excitation *found = excite(model, &options);
    size_t nv = found->nv;
    for (size_t s = 1; s + 1 < found->n; s++) {
        double h = found->time[s + 1] - found->time[s];
        for (size_t k = 0; k < nv; k++) {
            const double *q = found->q + s * nv + k, *v = found->v + s * nv + k;
            ck_assert_double_eq_tol(*v, (q[nv] - *(q - nv)) / (2 * h), 1e-3);
            ck_assert_double_eq_tol(found->a[s * nv + k], (v[nv] - *(v - nv)) / (2 * h), 1e-2);
        }
    }
    dyn_excitation_free(found);
    dyn_model_free(model);
}
END_TEST

START_TEST(an_identification_of_the_motion_states_its_condition) {
    random_source base = random_seed("conditions of exciting motions", 20261403);
    for (int k = 0; k < 6; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = random_robot(&random, 2 + k % 4);
        dyn_excitation_options options = quick();
        dyn_excitation *found = excite(model, &options);
        dyn_recorded_motion motion = {
            .n = found->n, .time = found->time, .q = found->q, .v = found->v, .a = found->a, .tau = found->tau};
        dyn_identification *identified = NULL;
        dyn_error error;
        require(dyn_identify(model, &motion, NULL, &identified, &error), &error);
        ck_assert_uint_eq(found->rank, identified->rank);
        ck_assert_uint_eq(found->estimate_count, identified->estimate_count);
        ck_assert_double_eq_tol(found->condition / identified->condition, 1, 1e-6);
        dyn_identification_free(identified);
        dyn_excitation_free(found);
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(more_trials_find_better_motions) {
    random_source base = random_seed("search of exciting motions", 20261404);
    int better = 0;
    for (int k = 0; k < 6; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = random_robot(&random, 4);
        dyn_excitation_options options = quick();
        options.trials = 600;
        dyn_excitation *found = excite(model, &options), *again = excite(model, &options);
        ck_assert_uint_eq(found->trials, 600);
        ck_assert_mem_eq(found->q, again->q, found->n * found->nq * sizeof(double));
        better += log(found->condition) < found->first_value - 0.3;
        dyn_excitation_free(found);
        dyn_excitation_free(again);
        dyn_model_free(model);
    }
    ck_assert_msg(better >= 5, "%d of 6 searches found a condition below 0.74 of the best random one", better);
}
END_TEST

/* Builds a pendulum of 2 kg and 0.5 m, whose torque at rest is up to 9.81. */
static dyn_model *pendulum(double effort) {
    dyn_builder *builder = NULL;
    dyn_model *model = NULL;
    dyn_error error;
    require(dyn_builder_create("pendulum", &builder, &error), &error);
    for (int i = 0; i < 2; i++) {
        dyn_link_description link = {
            .name = i ? "rod" : "base",
            .inertia = {.mass = 2, .center_of_mass = {0.5, 0, 0}, .rotational = {.01, 0, 0, .02, 0, .02}}};
        require(dyn_builder_add_link(builder, &link, &error), &error);
    }
    dyn_joint_description joint = {.name = "hinge",
                                   .type = DYN_JOINT_TYPE_REVOLUTE,
                                   .parent_link = "base",
                                   .child_link = "rod",
                                   .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                   .axis = {0, 1, 0},
                                   .has_limits = true,
                                   .limits = {.lower = -1, .upper = 1, .velocity = 3, .effort = effort}};
    require(dyn_builder_add_joint(builder, &joint, &error), &error);
    require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

START_TEST(torques_keep_the_effort_limit) {
    dyn_excitation_options options = quick();
    dyn_excitation *found = NULL;
    dyn_error error;
    dyn_model *strong = pendulum(13), *weak = pendulum(2);
    found = excite(strong, &options);
    ck_assert_double_lt(found->uses[0].effort, 0.95);
    ck_assert_double_gt(found->uses[0].effort, 0.5);
    for (size_t s = 0; s < found->n; s++) {
        ck_assert_double_le(fabs(found->tau[s]), 13 * 0.95);
    }
    dyn_excitation_free(found);
    ck_assert_int_eq(dyn_excite(weak, &options, &found, &error), DYN_FAILED_PRECONDITION);
    ck_assert_msg(strstr(error.message, "joint hinge needs") != NULL, "%s", error.message);
    ck_assert_ptr_null(found);
    dyn_model_free(strong);
    dyn_model_free(weak);
}
END_TEST

static void must_refuse(const dyn_model *model, const dyn_excitation_options *options, const char *place) {
    dyn_excitation *found = NULL;
    dyn_error error;
    ck_assert_int_eq(dyn_excite(model, options, &found, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, place);
    ck_assert_ptr_null(found);
}

static bool refuse(void *context, double fraction) {
    ck_assert(fraction > 0 && fraction <= 1);
    return ++*(int *)context < 4;
}

START_TEST(bad_options_are_refused_and_a_caller_can_cancel) {
    dyn_model *model = pendulum(20);
    dyn_excitation *found = NULL;
    dyn_error error;
    dyn_excitation_options bad = quick();
    bad.harmonics = 1;
    must_refuse(model, &bad, "harmonics");
    bad.harmonics = 51;
    must_refuse(model, &bad, "harmonics");
    bad = quick(), bad.period = -1;
    must_refuse(model, &bad, "period");
    bad.period = NAN;
    must_refuse(model, &bad, "period");
    bad = quick(), bad.rate = 5;
    must_refuse(model, &bad, "rate");
    bad = quick(), bad.margin = 1;
    must_refuse(model, &bad, "margin");
    bad = quick(), bad.trials = 2000000;
    must_refuse(model, &bad, "trials");
    int calls = 0;
    dyn_identification_options sought = DYN_IDENTIFICATION_OPTIONS_INIT();
    dyn_excitation_options options = quick();
    sought.proceed = refuse, sought.context = &calls;
    options.identification = &sought;
    ck_assert_int_eq(dyn_excite(model, &options, &found, &error), DYN_CANCELLED);
    ck_assert_int_eq(calls, 4);
    dyn_model_free(model);
    random_source random = random_seed("exciting motions of a floating base", 20261405);
    random_tree_options floating = {.joints = 2, .base = DYN_BASE_FLOATING};
    model = random_tree(&random, &floating);
    bad = quick();
    must_refuse(model, &bad, "model");
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("excitation");
    tcase_set_timeout(all, 120);
    tcase_add_test(all, motions_keep_the_limits_and_begin_at_rest);
    tcase_add_test(all, rates_are_the_derivatives_of_the_positions);
    tcase_add_test(all, an_identification_of_the_motion_states_its_condition);
    tcase_add_test(all, more_trials_find_better_motions);
    tcase_add_test(all, torques_keep_the_effort_limit);
    tcase_add_test(all, bad_options_are_refused_and_a_caller_can_cancel);
    return run_properties("excitation", all);
}
