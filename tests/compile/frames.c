/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks compiled algorithms of frames at the ends of branches, on random trees of every joint type: poses, Jacobians
 * and motions equal those of the library's kernels to rounding in every reference frame, and a sample has the same bits
 * alone and in a batch.
 */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "compile/workshop.h"
#include "support/assertions.h"
#include "support/random_tree.h"

enum { STATES = 21, TREES = 2, RESULTS = 6 };

static const random_tree_options trees[TREES] = {
    {.joints = 5, .with_mimic = true, .with_fixed = true},
    {.joints = 3, .with_mimic = true, .base = DYN_BASE_FLOATING},
};

static const dyn_reference_frame reference_frames[] = {DYN_REFERENCE_FRAME_WORLD, DYN_REFERENCE_FRAME_LOCAL,
                                                       DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED};

/* Robot with its compiled algorithms, states, a workspace that uses these algorithms (fast) and one that does not
 * (plain). */
typedef struct fixture {
    dyn_model *model;
    dyn_compiled *compiled;
    dyn_workspace *fast, *plain;
    size_t nq, nv;
    double *q, *v, *a;
} fixture;

static bool has_mimic_joint(const dyn_model *model) {
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        if (dyn_model_joint(model, j)->master >= 0) {
            return true;
        }
    }
    return false;
}

/* Returns the first random tree that has a mimic joint; the caller frees it. */
static dyn_model *tree_with_mimic_joint(random_source *random, const random_tree_options *options) {
    dyn_model *model = random_tree(random, options);
    while (!has_mimic_joint(model)) {
        dyn_model_free(model);
        model = random_tree(random, options);
    }
    return model;
}

static fixture create(int tree) {
    random_source random = random_seed("compiled frames", 20261122 + (uint64_t)tree);
    fixture f = {.model = tree_with_mimic_joint(&random, &trees[tree])};
    char name[16];
    dyn_error error;
    snprintf(name, sizeof name, "tree_%d", tree);
    f.compiled = load_compiled(f.model, name);
    require(dyn_workspace_create(f.model, &f.fast, &error), &error);
    require(dyn_workspace_create(f.model, &f.plain, &error), &error);
    require(dyn_workspace_use_compiled(f.fast, f.compiled, &error), &error);
    f.nq = (size_t)dyn_model_nq(f.model), f.nv = (size_t)dyn_model_nv(f.model);
    f.q = numbers(STATES * f.nq), f.v = numbers(STATES * f.nv), f.a = numbers(STATES * f.nv);
    for (size_t s = 0; s < STATES; s++) {
        random_configuration(&random, f.model, 3, f.q + s * f.nq);
    }
    random_vector(&random, (int)(STATES * f.nv), 2, f.v);
    random_vector(&random, (int)(STATES * f.nv), 5, f.a);
    return f;
}

static void destroy(fixture *f) {
    free(f->q), free(f->v), free(f->a);
    dyn_workspace_free(f->fast), dyn_workspace_free(f->plain);
    dyn_compiled_free(f->compiled);
    dyn_model_free(f->model);
}

/* Returns the number of doubles in one result of a sample. The results are position, rotation, Jacobian, twist, rate of
 * the twist and rate of the Jacobian. */
static size_t width_of(const fixture *f, size_t result) {
    const size_t widths[RESULTS] = {3, 9, 6 * f->nv, 6, 6, 6 * f->nv};
    return widths[result];
}

/* Computes all results of samples first .. first + n - 1; free_results frees them. */
static void compute(const fixture *f, dyn_workspace *w, int frame, dyn_reference_frame reference_frame, size_t first,
                    size_t n, double *out[RESULTS]) {
    const double *q = f->q + first * f->nq, *v = f->v + first * f->nv, *a = f->a + first * f->nv;
    dyn_error error;
    for (size_t r = 0; r < RESULTS; r++) {
        out[r] = numbers(n * width_of(f, r));
    }
    require(dyn_frame_pose(f->model, w, n, q, frame, out[0], out[1], &error), &error);
    require(dyn_frame_jacobian(f->model, w, n, q, frame, reference_frame, out[2], &error), &error);
    require(dyn_frame_motion(f->model, w, n, q, v, a, frame, reference_frame, out[3], out[4], out[5], &error), &error);
}

static void free_results(double *out[RESULTS]) {
    for (size_t r = 0; r < RESULTS; r++) {
        free(out[r]);
    }
}

/* Returns whether any bit of two sets of results differs, as it does where other code computed them. */
static bool is_other_code(const fixture *f, double *const x[RESULTS], double *const y[RESULTS]) {
    for (size_t r = 0; r < RESULTS; r++) {
        if (memcmp(x[r], y[r], STATES * width_of(f, r) * sizeof **x) != 0) {
            return true;
        }
    }
    return false;
}

START_TEST(frames_are_those_of_the_kernels) {
    static const char *const names[RESULTS] = {"position", "rotation", "J", "twist", "rate", "dJ"};
    fixture f = create(_i);
    int others = 0;
    for (int frame = 0; frame < dyn_model_link_count(f.model); frame++) {
        for (size_t i = 0; i < sizeof reference_frames / sizeof reference_frames[0]; i++) {
            double *x[RESULTS], *y[RESULTS];
            compute(&f, f.fast, frame, reference_frames[i], 0, STATES, x);
            compute(&f, f.plain, frame, reference_frames[i], 0, STATES, y);
            for (size_t r = 0; r < RESULTS; r++) {
                assert_close(names[r], frame, x[r], y[r], STATES * width_of(&f, r), 1e-12);
            }
            others += is_other_code(&f, x, y);
            free_results(x), free_results(y);
        }
    }
    ck_assert_msg(others >= 3, "%d: nothing was computed by other code", others);
    destroy(&f);
}
END_TEST

START_TEST(a_state_has_the_same_bits_in_every_batch) {
    fixture f = create(_i);
    for (int frame = 0; frame < dyn_model_link_count(f.model); frame++) {
        double *all[RESULTS], *part[RESULTS];
        compute(&f, f.fast, frame, DYN_REFERENCE_FRAME_LOCAL, 0, STATES, all);
        for (size_t n = 1; n < 12; n += 5) {
            for (size_t first = 0; first + n <= STATES; first += 4) {
                compute(&f, f.fast, frame, DYN_REFERENCE_FRAME_LOCAL, first, n, part);
                for (size_t r = 0; r < RESULTS; r++) {
                    size_t width = width_of(&f, r);
                    ck_assert_mem_eq(part[r], all[r] + first * width, n * width * sizeof(double));
                }
                free_results(part);
            }
        }
        free_results(all);
    }
    destroy(&f);
}
END_TEST

/* Checks that Jacobians of a robot with a payload are those of the kernels: payloads are not part of the compiled code,
 * and do not change the kinematics. */
START_TEST(loaded_robots_move_as_ever) {
    fixture f = create(_i);
    int frame = dyn_model_link_count(f.model) - 1;
    const dyn_payload payload = {.link = frame, .inertia = {.mass = 3}};
    const dyn_model *fast, *plain;
    double *x = numbers(STATES * 6 * f.nv), *y = numbers(STATES * 6 * f.nv);
    dyn_error error;
    require(dyn_workspace_load(f.fast, 1, &payload, &fast, &error), &error);
    require(dyn_workspace_load(f.plain, 1, &payload, &plain, &error), &error);
    require(dyn_frame_jacobian(fast, f.fast, STATES, f.q, frame, DYN_REFERENCE_FRAME_LOCAL, x, &error), &error);
    require(dyn_frame_jacobian(plain, f.plain, STATES, f.q, frame, DYN_REFERENCE_FRAME_LOCAL, y, &error), &error);
    ck_assert_mem_eq(x, y, STATES * 6 * f.nv * sizeof *x);
    free(x), free(y);
    destroy(&f);
}
END_TEST

START_TEST(bad_inputs_have_the_errors_of_the_kernels) {
    fixture f = create(_i);
    int frame = dyn_model_link_count(f.model) - 1;
    double *J = numbers(STATES * 6 * f.nv);
    static const double values[] = {NAN, INFINITY};
    for (size_t k = 0; k < 2 * f.nq; k++) {
        double *spoilt = f.q + 9 * f.nq + k / 2, saved = *spoilt;
        dyn_error fast, plain;
        *spoilt = values[k % 2];
        dyn_status status =
            dyn_frame_jacobian(f.model, f.fast, STATES, f.q, frame, DYN_REFERENCE_FRAME_WORLD, J, &fast);
        ck_assert_int_eq(
            status, dyn_frame_jacobian(f.model, f.plain, STATES, f.q, frame, DYN_REFERENCE_FRAME_WORLD, J, &plain));
        ck_assert_int_eq(status, DYN_INVALID_ARGUMENT);
        ck_assert_str_eq(fast.place, plain.place);
        ck_assert_str_eq(fast.message, plain.message);
        *spoilt = saved;
    }
    free(J);
    destroy(&f);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("frames");
    tcase_add_unchecked_fixture(tests, create_directory, remove_directory);
    tcase_add_loop_test(tests, frames_are_those_of_the_kernels, 0, TREES);
    tcase_add_loop_test(tests, a_state_has_the_same_bits_in_every_batch, 0, TREES);
    tcase_add_loop_test(tests, loaded_robots_move_as_ever, 0, TREES);
    tcase_add_loop_test(tests, bad_inputs_have_the_errors_of_the_kernels, 0, TREES);
    tcase_set_timeout(tests, 300);
    return run_properties("frames", tests);
}
