/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the names of statuses and the texts of errors.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/src/model/error.h"
#include "robots.h"

START_TEST(every_status_has_its_own_name) {
    static const dyn_status statuses[] = {DYN_OK,        DYN_CANCELLED,          DYN_INVALID_ARGUMENT,
                                          DYN_NOT_FOUND, DYN_RESOURCE_EXHAUSTED, DYN_FAILED_PRECONDITION};
    for (size_t a = 0; a < sizeof statuses / sizeof statuses[0]; a++) {
        ck_assert_str_ne(dyn_status_name(statuses[a]), "unknown status");
        for (size_t b = 0; b < a; b++) {
            ck_assert_str_ne(dyn_status_name(statuses[a]), dyn_status_name(statuses[b]));
        }
    }
    ck_assert_str_eq(dyn_status_name(DYN_INVALID_ARGUMENT), "invalid argument");
    ck_assert_str_eq(dyn_status_name((dyn_status)99), "unknown status");
}
END_TEST

START_TEST(error_may_be_null) {
    ck_assert_int_eq(dyn_error_set(NULL, DYN_NOT_FOUND, "place", "%d", 1), DYN_NOT_FOUND);
}
END_TEST

START_TEST(long_text_is_cut_at_a_character) {
    char text[DYN_MESSAGE_SIZE * 2];
    for (int shift = 0; shift < 4; shift++) {
        memset(text, 'x', (size_t)shift);
        for (size_t i = (size_t)shift; i + 2 < sizeof text; i += 2) {
            memcpy(text + i, "\xC3\xA9", 3);
        }
        dyn_error error;
        dyn_error_set(&error, DYN_NOT_FOUND, text, "%s", text);
        const char *const cut[] = {error.place, error.message};
        const size_t size[] = {DYN_PLACE_SIZE, DYN_MESSAGE_SIZE};
        for (int k = 0; k < 2; k++) {
            size_t length = strlen(cut[k]);
            ck_assert_uint_ge(length, size[k] - 3);
            ck_assert_uint_lt(length, size[k]);
            ck_assert_str_eq(cut[k] + length - 3, "...");
            ck_assert_uint_eq((length - 3 - (size_t)shift) % 2, 0);
        }
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("status");
    tcase_add_test(tests, every_status_has_its_own_name);
    tcase_add_test(tests, error_may_be_null);
    tcase_add_test(tests, long_text_is_cut_at_a_character);
    return run_tests(tests);
}
