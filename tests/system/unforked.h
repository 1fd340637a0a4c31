/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the tests of a program that uses nng in its own process, because nng cannot be used on both sides of a fork.
 */
#ifndef DYNAMICS_TESTS_UNFORKED_H
#define DYNAMICS_TESTS_UNFORKED_H

#include <check.h>

/* Runs the tests of one case without forks and returns the program's exit code. */
int run_unforked(const char *name, TCase *tests);

#endif
