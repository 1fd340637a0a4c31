/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests Euler angles of all orders, also where the first and the third turn have the same axis.
 */
#include <dynamics/kinematics.h>

#include <math.h>
#include <string.h>

#include "robots.h"
#include "support/random.h"

enum { ORDERS = 24, DRAWS = 200 };

static const char orders[ORDERS][4] = {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx",
                                       "yxy", "yzy", "zxz", "zyz", "XYZ", "XZY", "YXZ", "YZX",
                                       "ZXY", "ZYX", "XYX", "XZX", "YXY", "YZY", "ZXZ", "ZYZ"};

/* Computes C = A B. */
static void multiply(const double A[9], const double B[9], double C[9]) {
    for (int i = 0; i < 9; i++) {
        C[i] = 0;
        for (int k = 0; k < 3; k++) {
            C[i] += A[i / 3 * 3 + k] * B[3 * k + i % 3];
        }
    }
}

/* Computes the turn by an angle about x, y or z from its textbook matrix. */
static void turn(char axis, double angle, double R[9]) {
    const double c = cos(angle), s = sin(angle);
    const double about[3][9] = {
        {1, 0, 0, 0, c, -s, 0, s, c}, {c, 0, s, 0, 1, 0, -s, 0, c}, {c, -s, 0, s, c, 0, 0, 0, 1}};
    memcpy(R, about[axis - 'x'], 9 * sizeof *R);
}

/* Composes the rotation of three turns: a turn about a fixed axis is multiplied from the left, and one about a moved
 * axis from the right. */
static void compose(const char *axes, const double angles[3], double R[9]) {
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(R, identity, sizeof identity);
    for (int i = 0; i < 3; i++) {
        bool is_fixed = axes[i] >= 'x';
        double step[9], product[9];
        turn(is_fixed ? axes[i] : (char)(axes[i] - 'X' + 'x'), angles[i], step);
        multiply(is_fixed ? step : R, is_fixed ? R : step, product);
        memcpy(R, product, sizeof product);
    }
}

static void expect_round_trip(const char *axes, const double angles[3]) {
    double expected[9], R[9], found[3], again[9];
    dyn_error error;
    compose(axes, angles, expected);
    ck_assert_int_eq(dyn_euler_to_rotation(axes, angles, R, &error), DYN_OK);
    ck_assert_int_eq(dyn_rotation_to_euler(axes, R, found, &error), DYN_OK);
    compose(axes, found, again);
    for (int i = 0; i < 9; i++) {
        ck_assert_double_eq_tol(R[i], expected[i], 1e-14);
        ck_assert_msg(fabs(again[i] - R[i]) < 1e-13, "%s of %g %g %g", axes, angles[0], angles[1], angles[2]);
    }
    bool has_two = axes[0] == axes[2];
    ck_assert(found[1] >= (has_two ? 0 : -M_PI_2) && found[1] <= (has_two ? M_PI : M_PI_2));
}

START_TEST(angles_of_every_order_come_back) {
    random_source random = random_seed("Euler angles", 20261301);
    for (int k = 0; k < DRAWS; k++) {
        const double angles[3] = {random_uniform(&random, -7, 7), random_uniform(&random, -7, 7),
                                  random_uniform(&random, -7, 7)};
        expect_round_trip(orders[_i], angles);
    }
}
END_TEST

START_TEST(turns_about_one_axis_come_back) {
    static const double second[] = {0, M_PI_2, -M_PI_2, M_PI, 1e-9, M_PI_2 + 1e-9, M_PI_2 - 1e-12, 1e-300};
    for (size_t k = 0; k < COUNT(second); k++) {
        expect_round_trip(orders[_i], (const double[3]){0.3, second[k], -1.1});
        expect_round_trip(orders[_i], (const double[3]){0, second[k], 0});
    }
}
END_TEST

/* Checks the order that URDF states for rpy: roll about x, then pitch about y, then yaw about z, all fixed. */
START_TEST(roll_pitch_and_yaw_are_those_of_urdf) {
    const double a = 0.1, b = 0.2, c = 0.3;
    double R[9];
    dyn_error error;
    ck_assert_int_eq(dyn_euler_to_rotation("xyz", (const double[3]){a, b, c}, R, &error), DYN_OK);
    ck_assert_double_eq_tol(R[6], -sin(b), 1e-15);
    ck_assert_double_eq_tol(R[3], sin(c) * cos(b), 1e-15);
    ck_assert_double_eq_tol(R[7], cos(b) * sin(a), 1e-15);
}
END_TEST

START_TEST(wrong_axes_and_angles_are_refused) {
    static const char *const wrong[] = {"", "xy", "xyzx", "xxy", "xYz", "abc", NULL};
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double angles[3] = {0}, R[9];
    dyn_error error;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        ck_assert_int_eq(dyn_euler_to_rotation(wrong[i], angles, R, &error), DYN_INVALID_ARGUMENT);
        ck_assert_str_eq(error.place, "axes");
        ck_assert_int_eq(dyn_rotation_to_euler(wrong[i], identity, angles, &error), DYN_INVALID_ARGUMENT);
    }
    angles[1] = NAN;
    ck_assert_int_eq(dyn_euler_to_rotation("xyz", angles, R, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "angles");
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("Euler angles");
    tcase_add_loop_test(tests, angles_of_every_order_come_back, 0, ORDERS);
    tcase_add_loop_test(tests, turns_about_one_axis_come_back, 0, ORDERS);
    tcase_add_test(tests, roll_pitch_and_yaw_are_those_of_urdf);
    tcase_add_test(tests, wrong_axes_and_angles_are_refused);
    return run_tests(tests);
}
