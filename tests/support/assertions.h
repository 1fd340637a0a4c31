/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declares the assertions that the property tests share, and helpers for arrays of numbers.
 */
#ifndef DYNAMICS_TESTS_ASSERTIONS_H
#define DYNAMICS_TESTS_ASSERTIONS_H

#include <check.h>
#include <stddef.h>

#include <dynamics/status.h>

/* Fails the test with the error's text unless the status is DYN_OK. */
void require(dyn_status status, const dyn_error *error);

/* Allocates an array of `count` zeros, which the caller frees. Never returns NULL, even if count is 0. */
double *numbers(size_t count);

/* Returns the Euclidean norm. */
double norm(const double *x, size_t count);

/* Returns the larger of two errors, or NaN where one is NaN, which fmax would ignore. */
double larger(double x, double y);

/* Requires of each entry |x_i - y_i| <= tolerance max(|y_i|, 0.03 max(1, |y|)), and the bound of assert_norm_close,
 * which is the tighter one for more than 1,100 entries. `what` and `k` name the case. */
void assert_close(const char *what, int k, const double *x, const double *y, size_t count, double tolerance);

/* Requires |x - y| <= tolerance max(1, |y|): for vectors whose small entries are differences of large numbers. */
void assert_norm_close(const char *what, int k, const double *x, const double *y, size_t count, double tolerance);

/* Runs the tests of one file and prints the failures. Returns the exit status of main. */
int run_properties(const char *name, TCase *tests);

#endif
