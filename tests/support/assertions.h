/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the property tests assert over and over.
 */
#ifndef DYNAMICS_TESTS_ASSERTIONS_H
#define DYNAMICS_TESTS_ASSERTIONS_H

#include <check.h>
#include <stddef.h>

#include <dynamics/status.h>

/* The call went well; else the test fails with what the error says. */
void require(dyn_status status, const dyn_error *error);

/* `count` zeros, at least one; the caller frees them. */
double *numbers(size_t count);

/* The Euclidean norm. */
double norm(const double *x, size_t count);

/* The larger of two errors, or NaN where one is that: fmax would pass it over. */
double larger(double x, double y);

/* |x - y| is at most `tolerance` times |y| (or times 1 where that is larger). `what` and `k` say which case it is. */
void assert_close(const char *what, int k, const double *x, const double *y, size_t count, double tolerance);

/* Runs the tests of one file and prints what they find; returns the exit status of main. */
int run_properties(const char *name, TCase *tests);

#endif
