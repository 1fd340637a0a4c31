/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the tests of a program. */
#include "system/runner.h"

#include <stdio.h>

int run_unforked(const char *name, TCase *tests) {
    Suite *suite = suite_create(name);
    suite_add_tcase(suite, tests);
    return run_suite_unforked(suite);
}

int run_suite_unforked(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}

int run_suite(Suite *suite) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
