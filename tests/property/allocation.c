/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that no algorithm allocates memory once its workspace exists. This program replaces the allocator by one that
 * counts its calls.
 */
#include <check.h>
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <dynamics/dynamics.h>

#include "support/algorithms.h"
#include "support/assertions.h"
#include "support/random_tree.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define ALLOCATOR_IS_TAKEN 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ALLOCATOR_IS_TAKEN 1
#endif
#endif

static atomic_long allocations;

#ifndef ALLOCATOR_IS_TAKEN

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_memalign(alignment, size);
}

#endif

/* Number of samples, and largest nv of robots whose results that grow with nv^3 are computed. */
enum { SAMPLES = 5, CUBE_BOUND = 12 };

/* Calls every algorithm once; returns the number of calls that failed. */
static int call_all(const algorithm_input *in, double *out) {
    dyn_error error;
    int failed = 0;
    for (algorithm_id id = 0; id < ALGORITHM_COUNT; id++) {
        if (dyn_model_nv(in->model) <= CUBE_BOUND || !algorithm_is_cubic(id)) {
            failed += algorithm_compute(id, in, &error, out) != DYN_OK;
        }
    }
    return failed;
}

/* Returns the number of doubles of the largest result of all samples. */
static size_t result_size(const dyn_model *model) {
    size_t largest = 0;
    for (algorithm_id id = 0; id < ALGORITHM_COUNT; id++) {
        size_t width = algorithm_width(id, model);
        largest = width > largest ? width : largest;
    }
    return SAMPLES * largest;
}

/* Returns the number of allocations while all algorithms compute once for a model. */
static long count_allocations(random_source *random, const dyn_model *model, dyn_workspace *workspace) {
    static const double wrench[6 * SAMPLES] = {1, 2, 3, 4, 5, 6};
    const dyn_external_force force = {dyn_model_link_count(model) - 1, DYN_REFERENCE_FRAME_WORLD, wrench, 0};
    const dyn_external_forces forces = {1, &force};
    size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
    double *q = numbers(SAMPLES * nq), *v = numbers(SAMPLES * nv), *out = numbers(result_size(model));
    for (size_t s = 0; s < SAMPLES; s++) {
        random_configuration(random, model, 2, q + s * nq);
        random_vector(random, (int)nv, 2, v + s * nv);
    }
    const algorithm_input in = {.model = model,
                                .workspace = workspace,
                                .n = SAMPLES,
                                .q = q,
                                .v = v,
                                .a = v,
                                .tau = v,
                                .wrench = wrench,
                                .frame = force.frame,
                                .forces = &forces};
    long before = atomic_load(&allocations);
    int failed = call_all(&in, out);
    long after = atomic_load(&allocations);
    ck_assert_int_eq(failed, 0);
    free(q), free(v), free(out);
    return after - before;
}

START_TEST(algorithms_do_not_allocate) {
    random_source base = random_seed("no allocation", 64);
    for (int k = 0; k < 20; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_tree_options options = {.joints = 1 + 3 * k,
                                       .with_mimic = k % 2,
                                       .with_custom = k % 3 == 1,
                                       .with_fixed = true,
                                       .base = k % 3 ? DYN_BASE_FIXED : DYN_BASE_FLOATING};
        dyn_model *model = random_tree(&random, &options);
        dyn_workspace *workspace = NULL;
        dyn_error error;
        ck_assert_int_eq(dyn_workspace_create_in(model, (dyn_precision)_i, &workspace, &error), DYN_OK);
        ck_assert_int_eq(count_allocations(&random, model, workspace), 0);
        dyn_workspace_free(workspace);
        dyn_model_free(model);
    }
}
END_TEST

/* Returns the tree with a loop joint that welds its last link to the world; the caller frees it. */
static dyn_model *weld(const dyn_model *tree) {
    dyn_error error;
    dyn_builder *builder;
    dyn_model *model;
    const dyn_pose identity = {{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const dyn_constraint_description loop = {
        .name = "weld",
        .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
        .type = DYN_JOINT_TYPE_FIXED,
        .predecessor = {NULL, identity},
        .successor = {dyn_model_link(tree, dyn_model_link_count(tree) - 1)->name, identity}};
    require(dyn_model_describe(tree, &builder, &error), &error);
    require(dyn_builder_add_constraint(builder, &loop, &error), &error);
    require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

START_TEST(dynamics_with_constraints_do_not_allocate) {
    random_source random = random_seed("no allocation with constraints", 66);
    random_tree_options options = {.joints = 9};
    dyn_model *tree = random_tree(&random, &options), *model = weld(tree);
    size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
    double *q = numbers(SAMPLES * nq), *v = numbers(SAMPLES * nv), *a = numbers(SAMPLES * nv);
    dyn_workspace *workspace;
    dyn_error error;
    for (size_t s = 0; s < SAMPLES; s++) {
        random_configuration(&random, model, 1, q + s * nq);
    }
    require(dyn_workspace_create(model, &workspace, &error), &error);
    for (int method = 0; method < 5; method++) {
        dyn_constraint_options chosen =
            DYN_CONSTRAINT_OPTIONS_INIT(.method = (dyn_constraint_method)method, .stabilization = 1);
        long before = atomic_load(&allocations);
        dyn_status status = dyn_constrained_forward_dynamics(model, workspace, SAMPLES, NULL, q, v, v, NULL, &chosen, a,
                                                             NULL, NULL, &error);
        ck_assert_int_eq(atomic_load(&allocations) - before, 0);
        require(status, &error);
    }
    double *tau = numbers(SAMPLES * nv);
    require(dyn_constrained_forward_dynamics(model, workspace, SAMPLES, NULL, q, v, NULL, NULL, NULL, a, NULL, NULL,
                                             &error),
            &error);
    long before = atomic_load(&allocations);
    dyn_status status =
        dyn_constrained_inverse_dynamics(model, workspace, SAMPLES, NULL, q, v, a, NULL, NULL, tau, NULL, NULL, &error);
    ck_assert_int_eq(atomic_load(&allocations) - before, 0);
    require(status, &error);
    double *P = numbers(SAMPLES * nv * nv);
    const dyn_constraint_space space = {.force_projector = P};
    before = atomic_load(&allocations);
    status = dyn_constraint_space_quantities(model, workspace, SAMPLES, q, &space, &error);
    ck_assert_int_eq(atomic_load(&allocations) - before, 0);
    require(status, &error);
    before = atomic_load(&allocations);
    status = dyn_constraint_project(model, workspace, SAMPLES, q, NULL, tau, a, tau, a, &error);
    ck_assert_int_eq(atomic_load(&allocations) - before, 0);
    require(status, &error);
    before = atomic_load(&allocations);
    status = dyn_impact(model, workspace, SAMPLES, q, v, NULL, 0.5, v, NULL, &error);
    ck_assert_int_eq(atomic_load(&allocations) - before, 0);
    require(status, &error);
    double *held = numbers(SAMPLES * nv), *motion = numbers(SAMPLES * nv);
    before = atomic_load(&allocations);
    status = dyn_hybrid_forces(model, workspace, SAMPLES, NULL, q, v, NULL, a, v, NULL, held, motion, NULL, &error);
    ck_assert_int_eq(atomic_load(&allocations) - before, 0);
    require(status, &error);
    double *wrenches = numbers(SAMPLES * 6 * (size_t)dyn_model_constraint_count(model));
    double *lambda = numbers(SAMPLES * (size_t)dyn_model_constraint_rows(model));
    before = atomic_load(&allocations);
    status = dyn_constraint_wrenches(model, workspace, SAMPLES, q, v, lambda, NULL, wrenches, &error);
    ck_assert_int_eq(atomic_load(&allocations) - before, 0);
    require(status, &error);
    free(held), free(motion), free(wrenches), free(lambda);
    free(tau), free(P);
    dyn_workspace_free(workspace);
    dyn_model_free(model), dyn_model_free(tree);
    free(q), free(v), free(a);
}
END_TEST

START_TEST(steps_and_rollouts_do_not_allocate) {
    random_source base = random_seed("no allocation in a step", 65);
    for (int k = 0; k < 12; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_tree_options options_of_tree = {
            .joints = 2 + k % 6, .with_mimic = k % 2, .with_custom = k % 3 == 1, .base = (dyn_base)(k % 3 == 0)};
        dyn_model *tree = random_tree(&random, &options_of_tree), *model = k < 6 ? tree : weld(tree);
        size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
        double *q = numbers(SAMPLES * nq), *v = numbers(SAMPLES * nv), *out = numbers(SAMPLES * nq);
        for (size_t s = 0; s < SAMPLES; s++) {
            random_configuration(&random, model, 1, q + s * nq);
        }
        dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
        dyn_simulator *simulator = NULL;
        dyn_error error;
        options.integrator = (dyn_integrator)(k % 3);
        ck_assert_int_eq(dyn_simulator_create(model, &options, &simulator, &error), DYN_OK);
        const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 10, .q = q);
        long before = atomic_load(&allocations);
        int failed = dyn_simulator_step(simulator, SAMPLES, NULL, q, v, NULL, NULL, &error) != DYN_OK;
        failed += dyn_rollout_run(simulator, SAMPLES, &rollout, &(dyn_rollout_output)DYN_ROLLOUT_OUTPUT_INIT(.q = out),
                                  &error) != DYN_OK;
        long after = atomic_load(&allocations);
        ck_assert_int_eq(failed, 0);
        ck_assert_int_eq(after - before, 0);
        dyn_simulator_free(simulator);
        if (model != tree) {
            dyn_model_free(model);
        }
        dyn_model_free(tree);
        free(q), free(v), free(out);
    }
}
END_TEST

/* Returns the tree with a sphere on each link and a plane in the world, all of which have friction; the caller frees
 * it. */
static dyn_model *touch(const dyn_model *tree) {
    dyn_contact_surface surface = {.name = "floor",
                                   .shape = DYN_CONTACT_SHAPE_PLANE,
                                   .pose = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}},
                                   .friction = 0.5};
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    dyn_builder *builder;
    dyn_model *model;
    dyn_error error;
    require(dyn_model_describe(tree, &builder, &error), &error);
    require(dyn_model_build_options(tree, &options, &error), &error);
    require(dyn_builder_add_contact_surface(builder, &surface, &error), &error);
    surface.shape = DYN_CONTACT_SHAPE_SPHERE, surface.radius = 0.1;
    for (int i = 0; i < dyn_builder_link_count(builder); i++) {
        surface.name = surface.link = dyn_builder_link(builder, i)->name;
        surface.stiffness = i % 2 ? 1e4 : 0;
        require(dyn_builder_add_contact_surface(builder, &surface, &error), &error);
    }
    require(dyn_builder_build(builder, &options, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

START_TEST(steps_with_contacts_do_not_allocate) {
    random_source base = random_seed("no allocation in a step with contacts", 67);
    for (int k = 0; k < 8; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_tree_options options_of_tree = {
            .joints = 2 + k % 6, .with_mimic = k % 2, .with_custom = k % 3 == 1, .base = (dyn_base)(k % 3 == 0)};
        dyn_model *tree = random_tree(&random, &options_of_tree), *model = touch(tree);
        size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
        double *q = numbers(SAMPLES * nq), *v = numbers(SAMPLES * nv), *after = numbers(SAMPLES * nv);
        for (size_t s = 0; s < SAMPLES; s++) {
            random_configuration(&random, model, 1, q + s * nq);
        }
        const dyn_contact_impact impact = {.v = after};
        dyn_simulator *simulator = NULL;
        dyn_error error;
        dyn_sample_result results[SAMPLES] = {0};
        require(dyn_simulator_create(model, NULL, &simulator, &error), &error);
        long before = atomic_load(&allocations);
        dyn_status status = DYN_OK;
        for (int step = 0; step < 20 && status == DYN_OK; step++) {
            status = dyn_simulator_step(simulator, SAMPLES, NULL, q, v, NULL, results, &error);
            status = status == DYN_OK ? dyn_simulator_impact(simulator, SAMPLES, q, v, 0.5, &impact, &error) : status;
        }
        ck_assert_int_eq(atomic_load(&allocations) - before, 0);
        require(status, &error);
        for (size_t i = 0; i < SAMPLES * nv; i++) {
            ck_assert(isfinite(v[i]) && isfinite(after[i]));
        }
        dyn_simulator_free(simulator);
        dyn_model_free(model), dyn_model_free(tree);
        free(q), free(v), free(after);
    }
}
END_TEST

int main(void) {
#ifdef ALLOCATOR_IS_TAKEN
    puts("skipped: the sanitizer has its own allocator");
    return 77;
#endif
    void *probe = malloc(1);
    if (!probe || atomic_load(&allocations) == 0) {
        puts("the counting allocator is not in use");
        return EXIT_FAILURE;
    }
    free(probe);
    Suite *suite = suite_create("allocation");
    TCase *hot_path = tcase_create("hot path");
    tcase_add_loop_test(hot_path, algorithms_do_not_allocate, DYN_PRECISION_DOUBLE, DYN_PRECISION_SINGLE + 1);
    tcase_add_test(hot_path, dynamics_with_constraints_do_not_allocate);
    tcase_add_test(hot_path, steps_and_rollouts_do_not_allocate);
    tcase_add_test(hot_path, steps_with_contacts_do_not_allocate);
    suite_add_tcase(suite, hot_path);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
