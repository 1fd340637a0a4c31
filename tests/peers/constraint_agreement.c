/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares accelerations of models with constraints with those of another library: random trees with welds, ball
 * joints, rods, points on planes, gears, polynomial couplings and tendons over many joints, as far as the library has
 * them, in states that keep their constraints.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "peer.h"
#include "support/algorithms.h"
#include "support/assertions.h"
#include "support/random_tree.h"

enum { TREES = 280, JOINTS = 16, KINDS = 7 };

/* Kinds of constraints that a library has, and the relative difference between its accelerations and ours. */
typedef struct compared_library {
    const char *key;
    bool has[KINDS];
    double tolerance;
} compared_library;

static const compared_library libraries[] = {
    {"simbody", {true, true, true, true, true, false, true}, 1e-7},
    {"mujoco", {true, true, false, false, true, true, false}, 1e-6},
};

static const compared_library *library_of_test(void) {
    size_t i = 0;
    while (i + 1 < sizeof libraries / sizeof *libraries && strcmp(libraries[i].key, PEER) != 0) {
        i++;
    }
    return &libraries[i];
}

/* Returns a constraint of one of the kinds between the last link and the world, which is closed at q. */
static dyn_constraint_description close_loop(const dyn_model *tree, dyn_workspace *w, const double *q, int kind) {
    const dyn_pose identity = {{0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    int link = dyn_model_joint(tree, JOINTS - 1)->child_link;
    dyn_error error;
    dyn_constraint_description c = {.name = "loop", .axis = {0, 0, 1}, .successor.pose = identity};
    c.successor.link = dyn_model_link(tree, link)->name;
    require(dyn_frame_pose(tree, w, 1, q, link, c.predecessor.pose.position, c.predecessor.pose.rotation, &error),
            &error);
    c.kind = kind < 2    ? DYN_CONSTRAINT_KIND_LOOP_JOINT
             : kind == 2 ? DYN_CONSTRAINT_KIND_DISTANCE
             : kind == 3 ? DYN_CONSTRAINT_KIND_POINT_ON_PLANE
             : kind == 5 ? DYN_CONSTRAINT_KIND_POLYNOMIAL
                         : DYN_CONSTRAINT_KIND_COUPLING;
    c.type = kind == 0 ? DYN_JOINT_TYPE_FIXED : DYN_JOINT_TYPE_SPHERICAL;
    if (kind == 2) {
        c.distance = 0.7;
        c.predecessor.pose.position[1] += 0.7;
    }
    const dyn_joint *first = dyn_model_joint(tree, 1), *second = dyn_model_joint(tree, JOINTS - 1);
    if (kind == 4) {
        c.coupled[0] = (dyn_coupled_coordinate){first->name, 2};
        c.coupled[1] = (dyn_coupled_coordinate){second->name, -3};
        c.offset = 2 * q[first->q_index] - 3 * q[second->q_index];
    }
    for (int k = 0; kind == 6 && k < DYN_MAX_COUPLED_COORDINATES; k++) {
        const dyn_joint *joint = dyn_model_joint(tree, 2 * k);
        c.coupled[k] = (dyn_coupled_coordinate){joint->name, k % 2 ? 1.5 : -0.5 - 0.25 * k};
        c.offset += c.coupled[k].coefficient * q[joint->q_index];
    }
    if (kind == 5) {
        const double p[] = {0, -0.7, 0.4, 0.2, -0.3}, x = q[second->q_index];
        c.coupled[0].joint = first->name;
        c.coupled[1].joint = second->name;
        c.term_count = 5;
        memcpy(c.polynomial, p, sizeof p);
        c.polynomial[0] = q[first->q_index] - x * (p[1] + x * (p[2] + x * (p[3] + x * p[4])));
    }
    return c;
}

/* Returns whether the rows of the constraint are independent, and leave the joints that they act on a way to move:
 * other libraries return NaN or a compromise otherwise. */
static bool is_independent(const dyn_model *model, dyn_workspace *w, const double *q) {
    size_t m = (size_t)dyn_model_constraint_rows(model), nv = (size_t)dyn_model_nv(model), moved = 0;
    double rank, condition, *A = numbers(m * nv);
    dyn_error error;
    const dyn_constraint_space space = {.rank = &rank, .condition = &condition};
    require(dyn_constraint_rows(model, w, 1, q, NULL, A, NULL, NULL, &error), &error);
    for (size_t i = 0; i < nv; i++) {
        double size = 0;
        for (size_t r = 0; r < m; r++) {
            size += fabs(A[r * nv + i]);
        }
        moved += size > 1e-6;
    }
    free(A);
    require(dyn_constraint_space_quantities(model, w, 1, q, &space, &error), &error);
    return (size_t)rank == m && moved > m && condition < 1e5;
}

/* Compares the accelerations of a model in one state, whose velocity is brought to the constraints. */
static void compare(const dyn_model *model, dyn_workspace *w, random_source *random, const double *q, int kind) {
    char reason[PEER_REASON_SIZE];
    const peer_library *library = peer_find(PEER);
    size_t nv = (size_t)dyn_model_nv(model);
    double *v = numbers(nv), *tau = numbers(nv), *theirs = numbers(nv), *ours = numbers(nv);
    dyn_error error;
    peer *robot = library->create(model, false, reason);
    ck_assert_msg(robot != NULL, "%s", reason);
    random_vector(random, (int)nv, 1, v);
    random_vector(random, (int)nv, 10, tau);
    require(dyn_constraint_project(model, w, 1, q, NULL, NULL, v, NULL, v, &error), &error);
    const algorithm_input in = {.model = model, .workspace = w, .n = 1, .q = q, .v = v, .tau = tau};
    ck_assert(peer_algorithm_of(library, ALGORITHM_ABA)(robot, &in, theirs));
    for (int method = 0; method <= DYN_CONSTRAINT_METHOD_EMBEDDING; method++) {
        const dyn_constraint_options chosen = DYN_CONSTRAINT_OPTIONS_INIT(.method = (dyn_constraint_method)method);
        require(dyn_constrained_forward_dynamics(model, w, 1, NULL, q, v, tau, NULL, &chosen, ours, NULL, NULL, &error),
                &error);
        assert_norm_close("accelerations of " PEER, KINDS * method + kind, ours, theirs, nv,
                          library_of_test()->tolerance);
    }
    library->destroy(robot);
    free(v), free(tau), free(theirs), free(ours);
}

START_TEST(accelerations_with_constraints_are_those_of_the_library) {
    random_source base = random_seed("constraints of " PEER, 181);
    const compared_library *library = library_of_test();
    int compared[KINDS] = {0};
    dyn_error error;
    for (int tree = 0; tree < TREES; tree++) {
        if (!library->has[tree % KINDS]) {
            continue;
        }
        random_source random = random_case(base, (uint64_t)tree);
        const random_tree_options options = {.joints = JOINTS, .revolute_only = true};
        dyn_model *free_tree = random_tree(&random, &options), *model;
        double *q = numbers((size_t)dyn_model_nq(free_tree));
        dyn_workspace *w;
        dyn_builder *builder;
        const dyn_build_options build = DYN_BUILD_OPTIONS_INIT();
        random_configuration(&random, free_tree, 1, q);
        require(dyn_workspace_create(free_tree, &w, &error), &error);
        require(dyn_model_describe(free_tree, &builder, &error), &error);
        const dyn_constraint_description loop = close_loop(free_tree, w, q, tree % KINDS);
        require(dyn_builder_add_constraint(builder, &loop, &error), &error);
        require(dyn_builder_build(builder, &build, NULL, &model, &error), &error);
        dyn_workspace_free(w);
        require(dyn_workspace_create(model, &w, &error), &error);
        if (is_independent(model, w, q)) {
            compare(model, w, &random, q, tree % KINDS);
            compared[tree % KINDS]++;
        }
        dyn_builder_free(builder);
        dyn_workspace_free(w);
        dyn_model_free(model), dyn_model_free(free_tree);
        free(q);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        ck_assert_msg(compared[kind] > 0 || !library->has[kind], "no constraint of kind %d was compared", kind);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("constraints");
    Suite *suite = suite_create("constraint_agreement");
    tcase_add_test(tests, accelerations_with_constraints_are_those_of_the_library);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
