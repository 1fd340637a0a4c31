/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests that the headers and the library have equal versions.
 */
#include <stdio.h>

#include "robots.h"

START_TEST(headers_and_library_have_one_version) {
    char numbers[64];
    snprintf(numbers, sizeof numbers, "%d.%d.%d", DYN_VERSION_MAJOR, DYN_VERSION_MINOR, DYN_VERSION_PATCH);
    ck_assert_str_eq(DYN_VERSION, numbers);
    ck_assert_str_eq(dyn_version(), DYN_VERSION);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("version");
    tcase_add_test(tests, headers_and_library_have_one_version);
    return run_tests(tests);
}
