/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declares helpers that the daemon's unit tests share: a runner of one test case, and models of the sample robots.
 */
#ifndef DYNAMICS_TESTS_UNIT_SERVER_SUPPORT_H
#define DYNAMICS_TESTS_UNIT_SERVER_SUPPORT_H

#include <check.h>

#include "models/entry.h"
#include "support/random.h"

/* Runs the tests of one case. Returns the exit status of main. */
int run_tests(TCase *tests);

/* Loads the sample robot `robot`, such as "ur5", with a fixed base as a model of the name `name`. The caller releases
 * the entry. */
model_entry *load_robot(const char *robot, const char *name);

#endif
