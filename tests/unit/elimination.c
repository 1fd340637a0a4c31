/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests `eliminate`, which finds the columns of a matrix that depend on others.
 */
#include "lib/src/identification/elimination.h"

#include <float.h>
#include <math.h>

#include <check.h>

#include "robots.h"

enum { ROWS = 3, COLUMNS = 4 };

/* Fills A, of rank 2. Column 1 is scale_1 x, column 2 is -scale_2 x and column 3 is 0.1 x; column 0 is independent. */
static void fill(double scale_1, double scale_2, double A[ROWS * COLUMNS]) {
    static const double x[ROWS] = {0.1, 0.9, -0.3}, y[ROWS] = {0.2, -0.1, 0.4};
    for (size_t i = 0; i < ROWS; i++) {
        A[i * COLUMNS] = y[i];
        A[i * COLUMNS + 1] = x[i] * scale_1;
        A[i * COLUMNS + 2] = -x[i] * scale_2;
        A[i * COLUMNS + 3] = 0.1 * x[i];
    }
}

START_TEST(rounding_does_not_choose_among_columns_of_one_size) {
    const double larger = 1 + 4 * DBL_EPSILON;
    const double scales[3][2] = {{1, 1}, {larger, 1}, {1, larger}};
    for (size_t k = 0; k < 3; k++) {
        double A[ROWS * COLUMNS];
        size_t order[COLUMNS];
        fill(scales[k][0], scales[k][1], A);
        ck_assert_uint_eq(eliminate(ROWS, COLUMNS, 1e-10, A, order), 2);
        ck_assert_uint_eq(order[0], 1);
        ck_assert_uint_eq(order[1], 0);
    }
}
END_TEST

START_TEST(larger_columns_come_first) {
    double A[ROWS * COLUMNS];
    size_t order[COLUMNS];
    fill(1, 1.1, A);
    ck_assert_uint_eq(eliminate(ROWS, COLUMNS, 1e-10, A, order), 2);
    ck_assert_uint_eq(order[0], 2);
}
END_TEST

START_TEST(dependent_columns_are_sums_of_independent_ones) {
    double A[ROWS * COLUMNS], original[ROWS * COLUMNS];
    size_t order[COLUMNS];
    fill(1, 1, A);
    fill(1, 1, original);
    size_t rank = eliminate(ROWS, COLUMNS, 1e-10, A, order);
    for (size_t k = rank; k < COLUMNS; k++) {
        for (size_t row = 0; row < ROWS; row++) {
            double sum = 0;
            for (size_t i = 0; i < rank; i++) {
                sum += A[i * COLUMNS + order[k]] * original[row * COLUMNS + order[i]];
            }
            ck_assert_double_eq_tol(sum, original[row * COLUMNS + order[k]], 1e-15);
        }
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("elimination");
    tcase_add_test(tests, rounding_does_not_choose_among_columns_of_one_size);
    tcase_add_test(tests, larger_columns_come_first);
    tcase_add_test(tests, dependent_columns_are_sums_of_independent_ones);
    return run_tests(tests);
}
