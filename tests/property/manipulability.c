/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks ellipsoids and manipulability: the axes and lengths of ellipsoids compose their matrices again, on random
 * trees, and published values.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

enum { CASES = 150 };

static const double PI = 3.14159265358979323846;

/* Computes the n x n matrix A, the sum of factors[k] u u', where u is row k of the axes. */
static void compose(size_t n, const double *factors, const double *axes, double *A) {
    for (size_t i = 0; i < n * n; i++) {
        A[i] = 0;
        for (size_t k = 0; k < n; k++) {
            A[i] += factors[k] * axes[k * n + i / n] * axes[k * n + i % n];
        }
    }
}

static void assert_axes(int k, size_t n, const double *lengths, const double *axes) {
    double *product = numbers(n * n), *one = numbers(n * n);
    for (size_t i = 0; i < n * n; i++) {
        one[i] = i / n == i % n;
        for (size_t c = 0; c < n; c++) {
            product[i] += axes[i / n * n + c] * axes[i % n * n + c];
        }
    }
    assert_close("axes are orthonormal", k, product, one, n * n, 1e-13 * (double)n);
    for (size_t i = 0; i < n; i++) {
        double largest = 0;
        for (size_t c = 0; c < n; c++) {
            largest = fabs(axes[i * n + c]) > fabs(largest) ? axes[i * n + c] : largest;
        }
        ck_assert(largest > 0 && (i == 0 || lengths[i - 1] >= lengths[i]));
    }
    free(product), free(one);
}

/* Computes the 3 x 3 block of J W J' for the rows from `first` on. W is nv x nv; NULL stands for the identity. */
static void find_block(size_t nv, const double *J, const double *W, size_t first, double A[9]) {
    for (size_t i = 0; i < 9; i++) {
        const double *x = J + (first + i / 3) * nv, *y = J + (first + i % 3) * nv;
        A[i] = 0;
        for (size_t a = 0; a < nv; a++) {
            for (size_t b = 0; b < nv; b++) {
                A[i] += W ? x[a] * W[a * nv + b] * y[b] : a == b ? x[a] * y[b] : 0;
            }
        }
    }
}

static double determinant(const double A[9]) {
    return A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) + A[2] * (A[3] * A[7] - A[4] * A[6]);
}

static void check_velocity(int k, const double A[9], const double lengths[3], const double axes[9],
                           const double measure[2]) {
    double squares[3], composed[9];
    for (int i = 0; i < 3; i++) {
        squares[i] = lengths[i] * lengths[i];
    }
    compose(3, squares, axes, composed);
    assert_axes(k, 3, lengths, axes);
    assert_close("J J' of its ellipsoid", k, composed, A, 9, 1e-12);
    double scale = 1 + lengths[0] * lengths[0] * lengths[0];
    ck_assert_double_eq_tol(measure[0] * measure[0], determinant(A), 1e-9 * scale * scale);
    ck_assert_double_eq_tol(measure[1] * lengths[0], lengths[2], 1e-9 * scale);
}

/* Checks that the axes and the reciprocals of the masses (lengths), which may be infinite, compose A = J M^-1 J'. */
static void check_mass(int k, const double A[9], const double lengths[3], const double axes[9]) {
    double reciprocals[3], composed[9];
    for (int i = 0; i < 3; i++) {
        ck_assert(lengths[i] > 0);
        reciprocals[i] = 1 / lengths[i];
    }
    compose(3, reciprocals, axes, composed);
    assert_axes(k, 3, lengths, axes);
    assert_close("J M^-1 J' of its ellipsoid", k, composed, A, 9, 1e-9);
}

/* Checks that the acceleration ellipsoids compose J M^-1 (J M^-1)'. */
static void check_acceleration(int k, dyn_model *model, dyn_workspace *w, const double *q, int frame,
                               dyn_reference_frame reference, const double *J, const double *inverse) {
    dyn_error error;
    size_t nv = (size_t)dyn_model_nv(model);
    double lengths[2][3], axes[2][9], squares[3], composed[9], A[9], *square = numbers(nv * nv);
    for (size_t i = 0; i < nv * nv; i++) {
        for (size_t c = 0; c < nv; c++) {
            square[i] += inverse[i / nv * nv + c] * inverse[c * nv + i % nv];
        }
    }
    require(
        dyn_acceleration_ellipsoids(model, w, 1, q, frame, reference, lengths[0], axes[0], lengths[1], axes[1], &error),
        &error);
    for (size_t of = 0; of < 2; of++) {
        find_block(nv, J, square, of == 0 ? 3 : 0, A);
        for (int i = 0; i < 3; i++) {
            squares[i] = lengths[of][i] * lengths[of][i];
        }
        compose(3, squares, axes[of], composed);
        assert_axes(k, 3, lengths[of], axes[of]);
        assert_close("J M^-1 M^-1 J' of its ellipsoid", k, composed, A, 9, 1e-9);
    }
    free(square);
}

static void check_frame(int k, dyn_model *model, dyn_workspace *w, const double *q, int frame) {
    dyn_error error;
    size_t nv = (size_t)dyn_model_nv(model);
    dyn_reference_frame reference = (dyn_reference_frame)(k % 3);
    double *J = numbers(6 * nv), *inverse = numbers(nv * nv), lengths[4][3], axes[4][9], measures[2][2], A[9], spatial;
    require(dyn_minverse(model, w, 1, q, inverse, &error), &error);
    require(dyn_frame_jacobian(model, w, 1, q, frame, reference, J, &error), &error);
    require(dyn_velocity_ellipsoids(model, w, 1, q, frame, reference, lengths[0], axes[0], lengths[1], axes[1], &error),
            &error);
    require(dyn_mass_ellipsoids(model, w, 1, q, frame, reference, lengths[2], axes[2], lengths[3], axes[3], &error),
            &error);
    require(dyn_manipulability(model, w, 1, q, frame, measures[0], measures[1], &spatial, &error), &error);
    ck_assert(nv >= 6 || spatial == 0);
    for (size_t of = 0; of < 2; of++) {
        size_t first = of == 0 ? 3 : 0;
        find_block(nv, J, NULL, first, A);
        if (reference != DYN_REFERENCE_FRAME_WORLD || of == 1) {
            check_velocity(k, A, lengths[of], axes[of], measures[of]);
        }
        find_block(nv, J, inverse, first, A);
        check_mass(k, A, lengths[2 + of], axes[2 + of]);
    }
    check_acceleration(k, model, w, q, frame, reference, J, inverse);
    free(J), free(inverse);
}

START_TEST(ellipsoids_are_those_of_the_jacobian_and_the_mass_matrix) {
    random_source base = random_seed("ellipsoids", 20261231);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_tree_options options = {.joints = 1 + k % 40,
                                       .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                       .with_mimic = k % 3 == 0,
                                       .with_fixed = true};
        dyn_model *model = random_tree(&random, &options);
        dyn_workspace *w = NULL;
        require(dyn_workspace_create(model, &w, &error), &error);
        size_t nv = (size_t)dyn_model_nv(model);
        double *q = numbers((size_t)dyn_model_nq(model)), *M = numbers(nv * nv), *composed = numbers(nv * nv);
        double *lengths = numbers(nv), *axes = numbers(nv * nv);
        random_configuration(&random, model, 2, q);
        check_frame(k, model, w, q, random_index(&random, dyn_model_link_count(model)));
        require(dyn_crba(model, w, 1, q, M, &error), &error);
        require(dyn_torque_ellipsoid(model, w, 1, q, lengths, axes, &error), &error);
        compose(nv, lengths, axes, composed);
        assert_axes(k, nv, lengths, axes);
        assert_close("M of its ellipsoid", k, composed, M, nv * nv, 1e-12);
        free(q), free(M), free(composed), free(lengths), free(axes);
        dyn_workspace_free(w);
        dyn_model_free(model);
    }
}
END_TEST

static dyn_model *build(dyn_builder *builder) {
    dyn_error error;
    dyn_model *model = NULL;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FIXED);
    require(dyn_builder_build(builder, &options, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Checks the PUMA 560 at its nominal configuration: 0.111181 in translation and 2.44949 in rotation (Corke 2011,
 * "Robotics, Vision and Control", section 8.1.4). */
START_TEST(puma_560_has_its_published_manipulability) {
    const double alpha[6] = {PI / 2, 0, -PI / 2, PI / 2, -PI / 2, 0}, a[6] = {0, 0.4318, 0.0203};
    const double d[6] = {0, 0, 0.15005, 0.4318}, q[6] = {0, PI / 4, PI, 0, PI / 4, 0};
    dyn_dh_row rows[6];
    dyn_error error;
    dyn_builder *builder = NULL;
    for (int i = 0; i < 6; i++) {
        rows[i] = (dyn_dh_row){.type = DYN_JOINT_TYPE_REVOLUTE, .alpha = alpha[i], .a = a[i], .d = d[i]};
    }
    require(dyn_dh_describe("puma", DYN_DH_CONVENTION_STANDARD, 6, rows, &builder, &error), &error);
    dyn_model *model = build(builder);
    dyn_workspace *w = NULL;
    int frame;
    double linear[2], angular[2], spatial;
    require(dyn_workspace_create(model, &w, &error), &error);
    require(dyn_model_find_frame(model, "link6", &frame, &error), &error);
    require(dyn_manipulability(model, w, 1, q, frame, linear, angular, &spatial, &error), &error);
    ck_assert_double_eq_tol(linear[0], 0.111181, 5e-7);
    ck_assert_double_eq_tol(angular[0], 2.44949, 5e-6);
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* Builds the arm of Modern Robotics, figures 8.1, 8.3 and 8.4: links of 1 m in the plane x y with 1 kg at their
 * ends. */
static dyn_model *two_link(void) {
    dyn_error error;
    dyn_builder *builder = NULL;
    dyn_dh_row rows[2];
    for (int i = 0; i < 2; i++) {
        rows[i] = (dyn_dh_row){.type = DYN_JOINT_TYPE_REVOLUTE, .a = 1, .inertia = {.mass = 1}};
    }
    require(dyn_dh_describe("two_link", DYN_DH_CONVENTION_STANDARD, 2, rows, &builder, &error), &error);
    return build(builder);
}

START_TEST(two_link_arm_has_the_ellipsoids_of_the_textbook) {
    dyn_error error;
    dyn_model *model = two_link();
    dyn_workspace *w = NULL;
    int frame;
    const double q[4] = {0, PI / 2, 0, PI * 150 / 180};
    double lengths[4], axes[8], mass[6], mass_axes[18], measure[4];
    require(dyn_workspace_create(model, &w, &error), &error);
    require(dyn_model_find_frame(model, "link2", &frame, &error), &error);
    require(dyn_torque_ellipsoid(model, w, 2, q, lengths, axes, &error), &error);
    /* Eigenvalues of M = (3 1; 1 1), and of (1.27 0.13; 0.13 1). */
    ck_assert_double_eq_tol(lengths[0], 2 + sqrt(2), 1e-14);
    ck_assert_double_eq_tol(lengths[1], 2 - sqrt(2), 1e-14);
    ck_assert_double_eq_tol(axes[0] / axes[1], 1 + sqrt(2), 1e-14);
    ck_assert_double_eq_tol(lengths[2], (2.27 + sqrt(0.27 * 0.27 + 4 * 0.13 * 0.13)) / 2, 0.01);
    require(dyn_mass_ellipsoids(model, w, 2, q, frame, DYN_REFERENCE_FRAME_WORLD, NULL, NULL, NULL, NULL, &error),
            &error);
    require(dyn_mass_ellipsoids(model, w, 2, q, frame, DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, mass, mass_axes, NULL,
                                NULL, &error),
            &error);
    /* The mass out of the plane is infinite; at 90 degrees the tip feels both masses along y and one along x. */
    ck_assert_double_infinite(mass[0]);
    ck_assert_double_eq_tol(mass[1], 2, 1e-13);
    ck_assert_double_eq_tol(mass[2], 1, 1e-13);
    ck_assert_double_eq_tol(mass_axes[4], 1, 1e-13);
    ck_assert_double_eq_tol(mass_axes[6], 1, 1e-13);
    /* At 150 degrees the inverse is (0.4 0.35; 0.35 0.8). */
    ck_assert_double_eq_tol(1 / mass[5], (1.2 + sqrt(0.4 * 0.4 + 4 * 0.35 * 0.35)) / 2, 0.01);
    /* |det J| = L1 L2 sin q2 is the manipulability in the plane; in space nothing moves along z. */
    require(dyn_manipulability(model, w, 2, q, frame, measure, NULL, NULL, &error), &error);
    ck_assert_double_eq(measure[0], 0);
    require(dyn_velocity_ellipsoids(model, w, 2, q, frame, DYN_REFERENCE_FRAME_LOCAL, mass, NULL, NULL, NULL, &error),
            &error);
    ck_assert_double_eq_tol(mass[3] * mass[4], 0.5, 1e-14);
    ck_assert_double_eq(mass[5], 0);
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("manipulability");
    tcase_set_timeout(all, 120);
    tcase_add_test(all, ellipsoids_are_those_of_the_jacobian_and_the_mass_matrix);
    tcase_add_test(all, puma_560_has_its_published_manipulability);
    tcase_add_test(all, two_link_arm_has_the_ellipsoids_of_the_textbook);
    return run_properties("manipulability", all);
}
