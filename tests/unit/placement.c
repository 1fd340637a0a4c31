/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests rotations, mass properties in other frames, and the eigenvalues of symmetric 3 x 3 matrices.
 */
#include "lib/src/model/placement.h"

#include <math.h>
#include <string.h>

#include "robots.h"
#include "support/random.h"

enum { DRAWS = 1000 };

static void expect_near(const double *a, const double *b, int count, double tolerance) {
    for (int i = 0; i < count; i++) {
        ck_assert_double_eq_tol(a[i], b[i], tolerance);
    }
}

START_TEST(coordinate_axes_are_turned_exactly) {
    static const double axes[][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    static const double turns[][9] = {
        {1, 0, 0, 0, 1, 0, 0, 0, 1},  {0, 0, 1, 0, 1, 0, -1, 0, 0}, {1, 0, 0, 0, 0, 1, 0, -1, 0},
        {0, 0, -1, 0, 1, 0, 1, 0, 0}, {1, 0, 0, 0, 0, -1, 0, 1, 0}, {1, 0, 0, 0, -1, 0, 0, 0, -1},
    };
    double R[9];
    rotation_from_z(axes[_i], R);
    for (int i = 0; i < 9; i++) {
        ck_assert(R[i] == turns[_i][i]);
        ck_assert(R[i] != 0 || !signbit(R[i]));
    }
}
END_TEST

START_TEST(shortest_rotation_takes_z_to_any_axis) {
    random_source random = random_seed("rotation_from_z takes z to the axis by the shortest way", 11);
    for (int k = 0; k < DRAWS; k++) {
        double axis[3], R[9];
        random_unit(&random, 3, axis);
        if (k % 2 == 0) { /* close to -z, where the direction of the rotation is ill-defined */
            double scale = pow(10, -random_uniform(&random, 1, 16));
            axis[0] *= scale, axis[1] *= scale;
            axis[2] = -sqrt(1 - axis[0] * axis[0] - axis[1] * axis[1]);
        }
        rotation_from_z(axis, R);
        ck_assert(is_rotation(R));
        const double z[3] = {R[2], R[5], R[8]};
        expect_near(z, axis, 3, 1e-15);
        /* The rotation turns by the angle between z and the axis, and no more: its cosine is axis[2]. */
        ck_assert_double_eq_tol((R[0] + R[4] + R[8] - 1) / 2, axis[2], 1e-14);
    }
}
END_TEST

START_TEST(rotations_are_distinguished_from_other_matrices) {
    double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    ck_assert(is_rotation(R));
    R[8] = -1;
    ck_assert(!is_rotation(R));
    R[8] = 1 + 1e-6;
    ck_assert(!is_rotation(R));
    R[8] = NAN;
    ck_assert(!is_rotation(R));
}
END_TEST

/* Returns a pose with a random rotation and a position of up to 2 in each coordinate. */
static dyn_pose random_pose(random_source *random) {
    double axis[3], A[9], angle = random_uniform(random, -3, 3);
    dyn_pose pose;
    random_unit(random, 3, axis);
    rotation_from_z(axis, A);
    const double turn[9] = {cos(angle), -sin(angle), 0, sin(angle), cos(angle), 0, 0, 0, 1};
    rotation_multiply(A, turn, pose.rotation);
    for (int i = 0; i < 3; i++) {
        pose.position[i] = random_uniform(random, -2, 2);
    }
    return pose;
}

/* Returns the sum of the mass properties of point masses by definition. A point is x, y, z and its mass. */
static mass_properties of_points(int count, double points[][4]) {
    mass_properties sum = {0};
    for (int k = 0; k < count; k++) {
        double m = points[k][3], *p = points[k];
        double square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
        sum.mass += m;
        for (int i = 0, n = 0; i < 3; i++) {
            sum.first_moment[i] += m * p[i];
            for (int j = i; j < 3; j++, n++) {
                sum.inertia[n] += m * ((i == j ? square : 0) - p[i] * p[j]);
            }
        }
    }
    return sum;
}

START_TEST(moved_mass_properties_are_those_of_moved_points) {
    random_source random = random_seed("mass properties move with their points", 12);
    for (int k = 0; k < DRAWS; k++) {
        double here[5][4], there[5][4];
        dyn_pose pose = random_pose(&random);
        for (int i = 0; i < 5; i++) {
            for (int n = 0; n < 4; n++) {
                here[i][n] = random_uniform(&random, n < 3 ? -1 : 0, 1);
            }
            rotation_apply(pose.rotation, here[i], there[i]);
            for (int n = 0; n < 3; n++) {
                there[i][n] += pose.position[n];
            }
            there[i][3] = here[i][3];
        }
        mass_properties before = of_points(5, here), expected = of_points(5, there);
        mass_properties moved = mass_properties_move(&pose, &before);
        ck_assert_double_eq_tol(moved.mass, expected.mass, 1e-13);
        expect_near(moved.first_moment, expected.first_moment, 3, 1e-13);
        expect_near(moved.inertia, expected.inertia, 6, 1e-12);
    }
}
END_TEST

START_TEST(eigenvalues_have_the_invariants_of_the_matrix) {
    random_source random = random_seed("eigenvalues have the matrix's trace and determinant, in order", 13);
    for (int k = 0; k < DRAWS; k++) {
        double A[6], e[3], scale = pow(10, random_uniform(&random, -150, 90));
        for (int i = 0; i < 6; i++) {
            A[i] = random_uniform(&random, -1, 1) * (random_index(&random, 4) > 0);
        }
        double trace = A[0] + A[3] + A[5];
        double determinant = A[0] * (A[3] * A[5] - A[4] * A[4]) - A[1] * (A[1] * A[5] - A[4] * A[2]) +
                             A[2] * (A[1] * A[4] - A[3] * A[2]);
        for (int i = 0; i < 6; i++) {
            A[i] *= scale;
        }
        symmetric_eigenvalues(A, e);
        ck_assert_double_le(e[0], e[1]);
        ck_assert_double_le(e[1], e[2]);
        ck_assert_double_eq_tol((e[0] + e[1] + e[2]) / scale, trace, 1e-14);
        ck_assert_double_eq_tol(e[0] / scale * (e[1] / scale) * (e[2] / scale), determinant, 1e-14);
    }
}
END_TEST

START_TEST(eigenvalues_of_singular_matrices_are_zero) {
    static const double ones[6] = {1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6}, none[6] = {0};
    double e[3];
    symmetric_eigenvalues(ones, e);
    ck_assert_double_eq_tol(e[0], 0, 1e-20);
    ck_assert_double_eq_tol(e[1], 0, 1e-20);
    ck_assert_double_eq_tol(e[2], 3e-6, 1e-20);
    symmetric_eigenvalues(none, e);
    ck_assert(e[0] == 0 && e[1] == 0 && e[2] == 0);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("placement");
    tcase_add_loop_test(tests, coordinate_axes_are_turned_exactly, 0, 6);
    tcase_add_test(tests, shortest_rotation_takes_z_to_any_axis);
    tcase_add_test(tests, rotations_are_distinguished_from_other_matrices);
    tcase_add_test(tests, moved_mass_properties_are_those_of_moved_points);
    tcase_add_test(tests, eigenvalues_have_the_invariants_of_the_matrix);
    tcase_add_test(tests, eigenvalues_of_singular_matrices_are_zero);
    return run_tests(tests);
}
