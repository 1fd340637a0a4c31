/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the tests of one case, and loads models of the sample robots. */
#include "unit/server/support.h"

#include <stdio.h>
#include <stdlib.h>

int run_tests(TCase *tests) {
    Suite *suite = suite_create("server");
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

model_entry *load_robot(const char *robot, const char *name) {
    static const model_options options = {.base = DYN_BASE_FIXED};
    char text[1 << 16];
    char path[512];
    dyn_error error = {0};
    model_entry *entry = NULL;
    snprintf(path, sizeof path, "%s/%s.urdf", DYNAMICS_ROBOTS, robot);
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    dyn_status status = model_entry_create(text, length, name, path, &options, 1000, &error, &entry);
    ck_assert_msg(status == DYN_OK, "%s: %s", error.place, error.message);
    return entry;
}
