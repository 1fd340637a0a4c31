/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the levels of the constraint force algorithm on random chains of all lengths up to several blocks of lanes:
 * the accelerations are those of the ABA. The tests run with every instruction set, so with every number of lanes.
 */
#include <stdlib.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_chain.h"
#include "support/random_tree.h"

enum { LONGEST = 70 };

/* Checks the accelerations of a random chain in random motion. */
static void check_chain(random_source base, const random_chain_options *options) {
    random_source random = random_case(base, (uint64_t)options->joints);
    dyn_model *model = random_chain(&random, options);
    size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
    double *q = numbers(nq), *v = numbers(nv), *tau = numbers(nv), *a = numbers(nv), *expected = numbers(nv);
    dyn_workspace *w;
    dyn_formulation *f;
    dyn_error error;
    random_configuration(&random, model, 3, q);
    random_vector(&random, (int)nv, 1, v);
    random_vector(&random, (int)nv, 10, tau);
    require(dyn_workspace_create(model, &w, &error), &error);
    require(dyn_formulation_create(model, "constraint_force", &f, &error), &error);
    require(dyn_aba(model, w, 1, NULL, q, v, tau, NULL, expected, &error), &error);
    require(dyn_formulation_forward_dynamics(f, 1, NULL, q, v, tau, a, &error), &error);
    assert_norm_close("a", options->joints, a, expected, nv, 1e-9);
    dyn_formulation_free(f);
    dyn_workspace_free(w);
    dyn_model_free(model);
    free(q), free(v), free(tau), free(a), free(expected);
}

START_TEST(chains_of_hinges_accelerate_as_by_the_aba) {
    static const dyn_joint_type types[] = {DYN_JOINT_TYPE_REVOLUTE};
    random_source base = random_seed("chains of hinges", 1830);
    for (int joints = 1; joints <= LONGEST; joints++) {
        const random_chain_options options = {.joints = joints, .types = types, .type_count = 1};
        check_chain(base, &options);
    }
}
END_TEST

START_TEST(chains_of_all_joints_accelerate_as_by_the_aba) {
    static const dyn_joint_type types[] = {
        DYN_JOINT_TYPE_REVOLUTE,    DYN_JOINT_TYPE_PRISMATIC, DYN_JOINT_TYPE_HELICAL,
        DYN_JOINT_TYPE_CYLINDRICAL, DYN_JOINT_TYPE_PLANAR,    DYN_JOINT_TYPE_SPHERICAL,
    };
    random_source base = random_seed("chains of all joints", 1831);
    for (int joints = 1; joints <= LONGEST; joints++) {
        const random_chain_options options = {.joints = joints,
                                              .types = types,
                                              .type_count = sizeof types / sizeof *types,
                                              .base = joints % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED};
        check_chain(base, &options);
    }
}
END_TEST

START_TEST(joints_without_constraints_accelerate_as_by_the_aba) {
    static const dyn_joint_type types[] = {DYN_JOINT_TYPE_FLOATING};
    random_source base = random_seed("joints without constraints", 1832);
    for (int joints = 1; joints <= 9; joints++) {
        const random_chain_options options = {.joints = joints, .types = types, .type_count = 1};
        check_chain(base, &options);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("constraint levels");
    tcase_add_test(tests, chains_of_hinges_accelerate_as_by_the_aba);
    tcase_add_test(tests, chains_of_all_joints_accelerate_as_by_the_aba);
    tcase_add_test(tests, joints_without_constraints_accelerate_as_by_the_aba);
    tcase_set_timeout(tests, 60);
    return run_properties("constraint levels", tests);
}
