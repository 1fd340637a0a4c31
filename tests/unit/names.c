/*
 * Names: what they may be, and looking numbers up by them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/src/model/name_check.h"
#include "lib/src/model/name_index.h"
#include "robots.h"

static const struct {
    const char *name;
    dyn_status status;
} cases[] = {
    {"wrist", DYN_OK},
    {"left wrist/2", DYN_OK},
    {"poignet_\xC3\xA9", DYN_OK},
    {"\xE6\x89\x8B\xE9\xA6\x96", DYN_OK},
    {"\xF0\x9F\xA4\x96", DYN_OK},
    {NULL, DYN_INVALID_ARGUMENT},
    {"", DYN_INVALID_ARGUMENT},
    {"two\nlines", DYN_INVALID_ARGUMENT},
    {"bell\a", DYN_INVALID_ARGUMENT},
    {"delete\x7F", DYN_INVALID_ARGUMENT},
    {"alone \x80", DYN_INVALID_ARGUMENT},
    {"truncated \xC3", DYN_INVALID_ARGUMENT},
    {"overlong \xC0\xAF", DYN_INVALID_ARGUMENT},
    {"overlong \xE0\x80\xAF", DYN_INVALID_ARGUMENT},
    {"surrogate \xED\xA0\x80", DYN_INVALID_ARGUMENT},
    {"beyond \xF4\x90\x80\x80", DYN_INVALID_ARGUMENT},
    {"byte \xFF", DYN_INVALID_ARGUMENT},
};

START_TEST(names_are_printable_utf8) {
    dyn_error error;
    ck_assert_msg(name_check(cases[_i].name, &error, "here", "link") == cases[_i].status, "case %d", _i);
    if (cases[_i].status != DYN_OK) {
        ck_assert_str_eq(error.place, "here");
    }
}
END_TEST

START_TEST(names_are_bounded) {
    char name[DYN_MAX_NAME + 2] = {0};
    memset(name, 'n', DYN_MAX_NAME);
    dyn_error error;
    ck_assert_int_eq(name_check(name, &error, "here", "link"), DYN_OK);
    name[DYN_MAX_NAME] = 'n';
    expect_error(name_check(name, &error, "here", "link"), &error, DYN_RESOURCE_EXHAUSTED, "here", "256 bytes");
}
END_TEST

START_TEST(index_finds_what_was_added_and_nothing_else) {
    name_index index = {0};
    char name[16];
    ck_assert_int_eq(name_index_find(&index, "n0"), -1);
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "n%d", i);
        const char *kept = name_index_add(&index, name, i);
        ck_assert_str_eq(kept, name);
        ck_assert_ptr_ne(kept, name);
    }
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "n%d", i);
        ck_assert_int_eq(name_index_find(&index, name), i < 1000 ? i : -1);
    }
    name_index_clear(&index);
    ck_assert_int_eq(name_index_find(&index, "n0"), -1);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("names");
    tcase_add_loop_test(tests, names_are_printable_utf8, 0, COUNT(cases));
    tcase_add_test(tests, names_are_bounded);
    tcase_add_test(tests, index_finds_what_was_added_and_nothing_else);
    return run_tests(tests);
}
