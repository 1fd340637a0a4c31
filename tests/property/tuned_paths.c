/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the tuned paths of the kernels with their plain recursions.
 *
 * Flags of the bodies (model/normal_form.h) select the tuned paths: hinges, serial chains, grouped inertias and trunks.
 * A model without these flags takes the plain recursion for every joint. Rotors that are computed with their joints are
 * bodies of their own in models with mimic joints, whose flag the plain model has. Single calls and batches also
 * compare the two arrangements of the lanes: columns of one state, and one state in each lane.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "model/normal_form.h"
#include "support/algorithms.h"
#include "support/assertions.h"
#include "support/random_tree.h"

enum { CASES = 24, SAMPLES = 17 };

/* Algorithm with the largest difference allowed. Algorithms that solve with the mass matrix multiply rounding by its
 * condition. */
typedef struct comparison {
    algorithm_id id;
    double tolerance;
} comparison;

static const comparison comparisons[] = {
    {ALGORITHM_RNEA, 1e-12},
    {ALGORITHM_BIAS, 1e-12},
    {ALGORITHM_GRAVITY, 1e-12},
    {ALGORITHM_CRBA, 1e-12},
    {ALGORITHM_MINVERSE, 1e-8},
    {ALGORITHM_ABA, 1e-8},
    {ALGORITHM_JOINT_WRENCHES, 1e-12},
    {ALGORITHM_RNEA_DERIVATIVES, 1e-11},
    {ALGORITHM_ABA_DERIVATIVES, 1e-8},
    {ALGORITHM_GRAVITY_DERIVATIVES, 1e-12},
    {ALGORITHM_CORIOLIS_MATRIX, 1e-11},
};

enum { COMPARISONS = sizeof comparisons / sizeof *comparisons };

/* Numbers of bodies on each tuned path. */
typedef struct path_counts {
    int hinge, on_hinges, serial, trunk, is_trunk_child, driven;
} path_counts;

static void count_paths(const dyn_model *model, path_counts *counts) {
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        counts->hinge += b->hinge;
        counts->on_hinges += b->on_hinges;
        counts->serial += b->serial;
        counts->trunk += b->trunk;
        counts->is_trunk_child += b->is_trunk_child;
        counts->driven += b->is_driven && !model->has_mimic;
    }
}

/* Returns the model without the flags that select tuned paths. `bodies` is memory for its bodies; all else it shares
 * with `model`, which must outlive it. */
static dyn_model plain_model(const dyn_model *model, body *bodies) {
    dyn_model plain = *model;
    memcpy(bodies, model->bodies, (size_t)model->body_count * sizeof *bodies);
    for (int i = 0; i < model->body_count; i++) {
        body *b = &bodies[i];
        b->hinge = b->on_hinges = b->serial = b->trunk = b->is_trunk_child = false;
        b->forks = b->has_other_children = true;
        b->grouped.mass = b->mass;
        memcpy(b->grouped.first_moment, b->first_moment, sizeof b->first_moment);
        memcpy(b->grouped.moments, b->moments, sizeof b->moments);
    }
    plain.bodies = bodies;
    plain.has_mimic = plain.has_mimic || plain.link_bodies < plain.body_count;
    return plain;
}

/* Computes an algorithm for n states; its outputs lie in `out` one after the other. */
static void compute(algorithm_id id, algorithm_input states, size_t n, double *out) {
    dyn_error error;
    states.n = n;
    require(algorithm_compute(id, &states, &error, out), &error);
}

/* Compares an algorithm for the first n states of the tuned model with the plain model, one state at a time. Both
 * inputs have the same states. */
static void compare(const comparison *c, int k, const algorithm_input *tuned_states, size_t n,
                    const algorithm_input *plain_states) {
    const dyn_model *plain = plain_states->model;
    size_t width = algorithm_width(c->id, plain), nq = (size_t)plain->nq, nv = (size_t)plain->nv;
    double *tuned = numbers(n * width), *expected = numbers(width);
    compute(c->id, *tuned_states, n, tuned);
    for (size_t s = 0; s < n; s++) {
        algorithm_input one = *plain_states;
        const double *of_tuned = tuned, *of_plain = expected;
        one.q += s * nq, one.v += s * nv, one.a += s * nv, one.tau += s * nv;
        compute(c->id, one, 1, expected);
        for (int i = 0; i < ALGORITHM_OUTPUTS; i++) {
            size_t count = algorithm_output_width(c->id, plain, i);
            assert_close(algorithm_get(c->id)->name, k, of_tuned + s * count, of_plain, count, c->tolerance);
            of_tuned += n * count, of_plain += count;
        }
    }
    free(tuned), free(expected);
}

/* Returns the model with rotors at its joints. Frees the model. */
static dyn_model *with_rotors(random_source *random, dyn_model *model) {
    dyn_builder *builder;
    dyn_error error;
    dyn_model *geared;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    require(dyn_model_describe(model, &builder, &error), &error);
    require(dyn_model_build_options(model, &options, &error), &error);
    add_rotors_everywhere(random, model, builder);
    require(dyn_builder_build(builder, &options, NULL, &geared, &error), &error);
    dyn_builder_free(builder);
    dyn_model_free(model);
    return geared;
}

static void compare_case(random_source *random, int k, path_counts *counts) {
    random_tree_options options = {.joints = 1 + 3 * k,
                                   .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                   .with_mimic = k % 4 == 3,
                                   .with_fixed = true,
                                   .revolute_only = k % 3 == 2,
                                   .is_upright = k % 3 == 2};
    dyn_model *model = random_tree(random, &options);
    if (k % 4 == 1 || k % 6 == 0) {
        model = with_rotors(random, model);
    }
    body *bodies = calloc((size_t)model->body_count, sizeof *bodies);
    ck_assert_ptr_nonnull(bodies);
    dyn_model plain = plain_model(model, bodies);
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    double *q = numbers(SAMPLES * nq), *v = numbers(SAMPLES * nv), *a = numbers(SAMPLES * nv);
    for (size_t s = 0; s < SAMPLES; s++) {
        random_configuration(random, model, 2, q + s * nq);
    }
    random_vector(random, (int)(SAMPLES * nv), 2, v);
    random_vector(random, (int)(SAMPLES * nv), 9, a);
    algorithm_input tuned_states = {.model = model, .q = q, .v = v, .a = a, .tau = a}, plain_states = tuned_states;
    dyn_error error;
    plain_states.model = &plain;
    require(dyn_workspace_create(model, &tuned_states.workspace, &error), &error);
    require(dyn_workspace_create(&plain, &plain_states.workspace, &error), &error);
    for (int i = 0; i < COMPARISONS; i++) {
        compare(&comparisons[i], k, &tuned_states, 1, &plain_states);
        compare(&comparisons[i], k, &tuned_states, SAMPLES, &plain_states);
    }
    count_paths(model, counts);
    dyn_workspace_free(tuned_states.workspace);
    dyn_workspace_free(plain_states.workspace);
    free(q), free(v), free(a), free(bodies);
    dyn_model_free(model);
}

START_TEST(tuned_paths_agree_with_the_plain_recursion) {
    random_source base = random_seed("tuned paths", 31);
    path_counts counts = {0};
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        compare_case(&random, k, &counts);
    }
    ck_assert_int_gt(counts.hinge, 0);
    ck_assert_int_gt(counts.on_hinges, 0);
    ck_assert_int_gt(counts.serial, 0);
    ck_assert_int_gt(counts.trunk, 0);
    ck_assert_int_gt(counts.is_trunk_child, 0);
    ck_assert_int_gt(counts.driven, 0);
}
END_TEST

int main(void) {
    TCase *paths = tcase_create("paths");
    tcase_set_timeout(paths, 120);
    tcase_add_test(paths, tuned_paths_agree_with_the_plain_recursion);
    return run_properties("tuned paths", paths);
}
