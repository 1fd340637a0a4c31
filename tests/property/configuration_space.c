/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that integration, difference and interpolation of configurations invert each other on every joint type.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

enum { CASES = 300, SAMPLES = 3 };

typedef struct setting {
    dyn_model *model;
    size_t nq, nv;
    double *q, *r, *s, *v, *w;
} setting;

/* Creates a random tree with configurations q and r, and velocities v. In one unit of time v rotates each joint by less
 * than pi. */
static setting setting_create(random_source *random, int k) {
    random_tree_options options = {.joints = 1 + k % 40,
                                   .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                   .with_mimic = true,
                                   .with_custom = k % 4 == 1,
                                   .with_fixed = true};
    setting s = {.model = random_tree(random, &options)};
    s.nq = (size_t)dyn_model_nq(s.model), s.nv = (size_t)dyn_model_nv(s.model);
    s.q = numbers(SAMPLES * s.nq), s.r = numbers(SAMPLES * s.nq), s.s = numbers(SAMPLES * s.nq);
    s.v = numbers(SAMPLES * s.nv), s.w = numbers(SAMPLES * s.nv);
    uint64_t state = random_bits(random);
    for (size_t i = 0; i < SAMPLES; i++) {
        dyn_random_configuration(s.model, &state, s.q + i * s.nq);
        dyn_random_configuration(s.model, &state, s.r + i * s.nq);
    }
    random_vector(random, (int)(SAMPLES * s.nv), k % 3 ? 1.5 : 1e-5, s.v);
    return s;
}

static void setting_free(setting *s) {
    free(s->q), free(s->r), free(s->s), free(s->v), free(s->w);
    dyn_model_free(s->model);
}

/* Checks that the distance of two configurations is at most `tolerance`. The quaternions p and -p are one rotation. */
static void assert_same_configuration(const char *what, int k, const setting *s, const double *x, const double *y,
                                      double tolerance) {
    double distance[SAMPLES];
    dyn_error error;
    require(dyn_distance(s->model, SAMPLES, x, y, distance, &error), &error);
    for (int i = 0; i < SAMPLES; i++) {
        ck_assert_msg(distance[i] <= tolerance, "%s, case %d: %g apart", what, k, distance[i]);
    }
}

START_TEST(difference_undoes_integration) {
    random_source base = random_seed("(q (+) v) (-) q = v", 301);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k);
        require(dyn_integrate(s.model, SAMPLES, s.q, s.v, 1, s.s, &error), &error);
        require(dyn_difference(s.model, SAMPLES, s.q, s.s, s.w, &error), &error);
        assert_close("(q (+) v) (-) q = v", k, s.w, s.v, SAMPLES * s.nv, 1e-12);
        setting_free(&s);
    }
}
END_TEST

START_TEST(integration_undoes_difference) {
    random_source base = random_seed("q (+) (r (-) q) = r", 302);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k);
        require(dyn_difference(s.model, SAMPLES, s.q, s.r, s.w, &error), &error);
        require(dyn_integrate(s.model, SAMPLES, s.q, s.w, 1, s.s, &error), &error);
        assert_same_configuration("q (+) (r (-) q) = r", k, &s, s.s, s.r, 1e-10);
        setting_free(&s);
    }
}
END_TEST

START_TEST(two_half_steps_are_one_step) {
    random_source base = random_seed("q (+) v/2 (+) v/2 = q (+) v", 303);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k);
        require(dyn_integrate(s.model, SAMPLES, s.q, s.v, 1, s.s, &error), &error);
        require(dyn_integrate(s.model, SAMPLES, s.q, s.v, 0.5, s.r, &error), &error);
        require(dyn_integrate(s.model, SAMPLES, s.r, s.v, 0.5, s.r, &error), &error);
        assert_same_configuration("two half steps", k, &s, s.r, s.s, 1e-12);
        setting_free(&s);
    }
}
END_TEST

START_TEST(interpolation_begins_and_ends_at_its_ends) {
    random_source base = random_seed("interpolate at 0, 1/2, 1", 304);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k);
        double whole[SAMPLES], half[SAMPLES];
        require(dyn_interpolate(s.model, SAMPLES, s.q, s.r, 0, s.s, &error), &error);
        assert_same_configuration("at 0", k, &s, s.s, s.q, 1e-12);
        require(dyn_interpolate(s.model, SAMPLES, s.q, s.r, 1, s.s, &error), &error);
        assert_same_configuration("at 1", k, &s, s.s, s.r, 1e-10);
        require(dyn_interpolate(s.model, SAMPLES, s.q, s.r, 0.5, s.s, &error), &error);
        require(dyn_distance(s.model, SAMPLES, s.q, s.r, whole, &error), &error);
        require(dyn_distance(s.model, SAMPLES, s.q, s.s, half, &error), &error);
        for (int i = 0; i < SAMPLES; i++) {
            ck_assert_double_eq_tol(2 * half[i], whole[i], 1e-10 * (1 + whole[i]));
        }
        setting_free(&s);
    }
}
END_TEST

/* Checks that integration moves a frame with the velocity J v, by central differences. */
START_TEST(integration_agrees_with_the_jacobian) {
    random_source base = random_seed("d(q (+) t v)/dt = J v", 305);
    dyn_error error;
    const double h = 1e-6;
    for (int k = 0; k < CASES / 3; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, 3 * k + 1);
        dyn_workspace *workspace = NULL;
        int frame = random_index(&random, dyn_model_link_count(s.model));
        double before[3], after[3], *J = numbers(6 * s.nv);
        require(dyn_workspace_create(s.model, &workspace, &error), &error);
        require(dyn_integrate(s.model, 1, s.q, s.v, -h, s.s, &error), &error);
        require(dyn_frame_pose(s.model, workspace, 1, s.s, frame, before, NULL, &error), &error);
        require(dyn_integrate(s.model, 1, s.q, s.v, h, s.s, &error), &error);
        require(dyn_frame_pose(s.model, workspace, 1, s.s, frame, after, NULL, &error), &error);
        require(
            dyn_frame_jacobian(s.model, workspace, 1, s.q, frame, DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, J, &error),
            &error);
        for (size_t row = 0; row < 3; row++) {
            double expected = 0, scale = 1;
            for (size_t i = 0; i < s.nv; i++) {
                expected += J[(3 + row) * s.nv + i] * s.v[i];
                scale += fabs(J[(3 + row) * s.nv + i] * s.v[i]);
            }
            ck_assert_double_eq_tol((after[row] - before[row]) / (2 * h), expected, 1e-7 * scale);
        }
        free(J);
        dyn_workspace_free(workspace);
        setting_free(&s);
    }
}
END_TEST

START_TEST(normalization_keeps_the_rotation) {
    random_source base = random_seed("normalize", 306);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        setting s = setting_create(&random, k);
        memcpy(s.s, s.q, SAMPLES * s.nq * sizeof(double));
        for (int j = 0; j < dyn_model_joint_count(s.model); j++) {
            const dyn_joint *joint = dyn_model_joint(s.model, j);
            if (joint->type == DYN_JOINT_TYPE_SPHERICAL || joint->type == DYN_JOINT_TYPE_FLOATING) {
                for (int i = 0; i < SAMPLES * 4; i++) {
                    s.s[(size_t)(i / 4) * s.nq + (size_t)(joint->q_index + joint->nq - 4 + i % 4)] *= -7;
                }
            }
        }
        require(dyn_normalize(s.model, SAMPLES, s.s, s.s, &error), &error);
        assert_same_configuration("normalized", k, &s, s.s, s.q, 1e-12);
        setting_free(&s);
    }
}
END_TEST

START_TEST(bad_values_are_named) {
    random_source random = {9};
    random_tree_options options = {.joints = 1, .base = DYN_BASE_FLOATING, .revolute_only = true};
    dyn_model *model = random_tree(&random, &options);
    double q[8], r[8], v[7] = {0};
    dyn_error error;
    dyn_zero_configuration(model, q);
    memcpy(r, q, sizeof r);
    v[3] = NAN;
    ck_assert_int_eq(dyn_integrate(model, 1, q, v, 1, r, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "v[3]");
    v[3] = 0;
    ck_assert_int_eq(dyn_integrate(model, 1, q, v, INFINITY, r, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "step_length");
    ck_assert_int_eq(dyn_integrate(model, 1, NULL, v, 1, r, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "q");
    r[6] = 0.5;
    ck_assert_int_eq(dyn_difference(model, 1, q, r, v, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "q_1[3]");
    r[6] = 0;
    ck_assert_int_eq(dyn_normalize(model, 1, r, r, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "q[3]");
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *group = tcase_create("group");
    tcase_set_timeout(group, 120);
    tcase_add_test(group, difference_undoes_integration);
    tcase_add_test(group, integration_undoes_difference);
    tcase_add_test(group, two_half_steps_are_one_step);
    tcase_add_test(group, interpolation_begins_and_ends_at_its_ends);
    tcase_add_test(group, integration_agrees_with_the_jacobian);
    tcase_add_test(group, normalization_keeps_the_rotation);
    tcase_add_test(group, bad_values_are_named);
    return run_properties("configuration space", group);
}
