/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared helpers of the daemon's unit tests.
 */
#ifndef DYNAMICS_TESTS_UNIT_SERVER_SUPPORT_H
#define DYNAMICS_TESTS_UNIT_SERVER_SUPPORT_H

#include <check.h>

#include "models/entry.h"
#include "support/random.h"

/* Runs the tests of one case and returns the exit code. */
int run_tests(TCase *tests);

/* Loads a model of the sample robots, such as "ur5", under another name; the caller owns a reference. */
model_entry *load_robot(const char *robot, const char *name);

#endif
