/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Running the tests of a program that uses nng: in its own process, for nng cannot be used on both sides of a fork.
 */
#ifndef DYNAMICS_TESTS_UNFORKED_H
#define DYNAMICS_TESTS_UNFORKED_H

#include <check.h>

/* Runs the tests of one case and returns the exit code. */
int run_unforked(const char *name, TCase *tests);

#endif
