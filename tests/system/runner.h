/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the tests of a program: in its own process where they use nng, which cannot be used on both sides of a fork, or
 * each in a process of its own.
 */
#ifndef DYNAMICS_TESTS_RUNNER_H
#define DYNAMICS_TESTS_RUNNER_H

#include <check.h>

/* Runs the tests of one case, or of a suite, without forks. Frees them and returns the program's exit code. */
int run_unforked(const char *name, TCase *tests);
int run_suite_unforked(Suite *suite);

/* Runs the cases of a suite, with a process for each test unless the environment states CK_FORK=no. Frees the suite and
 * returns the program's exit code. */
int run_suite(Suite *suite);

#endif
