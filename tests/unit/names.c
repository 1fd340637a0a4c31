/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests names: which ones are allowed, how refused ones are printed, and the index that finds a number by name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

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
    {"next line \xC2\x85", DYN_INVALID_ARGUMENT},
    {"soft hyphen \xC2\xAD", DYN_INVALID_ARGUMENT},
    {"zero width \xE2\x80\x8B", DYN_INVALID_ARGUMENT},
    {"line separator \xE2\x80\xA8", DYN_INVALID_ARGUMENT},
    {"right to left \xE2\x80\xAE", DYN_INVALID_ARGUMENT},
    {"isolate \xE2\x81\xA6", DYN_INVALID_ARGUMENT},
    {"Arabic letter mark \xD8\x9C", DYN_INVALID_ARGUMENT},
    {"byte order mark \xEF\xBB\xBF", DYN_INVALID_ARGUMENT},
    {"tag \xF3\xA0\x80\x81", DYN_INVALID_ARGUMENT},
};

START_TEST(names_are_printable_utf8) {
    dyn_error error;
    ck_assert_msg(name_check(cases[_i].name, &error, "here", "link") == cases[_i].status, "case %d", _i);
    if (cases[_i].status != DYN_OK) {
        ck_assert_str_eq(error.place, "here");
        ck_assert(dyn_text_is_printable(error.message));
    }
}
END_TEST

START_TEST(a_refused_name_is_shown_with_escapes) {
    dyn_error error;
    name_check("a\x1b[2J\xE2\x80\xAE\x85", &error, "link a\x1b", "link");
    ck_assert_str_eq(error.place, "link a\\x1b");
    ck_assert_ptr_nonnull(strstr(error.message, "\"a\\x1b[2J\\u202e\\x85\", is not printable at byte 1;"));
}
END_TEST

/* Checks that the reader refuses unprintable names anywhere in a description, with printable errors. */
START_TEST(descriptions_with_unprintable_names_are_refused) {
    static const char *const texts[] = {
        "<robot name='r'><link name='a\xE2\x80\xAE'/></robot>",
        "<robot name='r\xC2\x9B'><link name='a'/></robot>",
        "<robot name='r'><link name='a'/><link name='b'/><joint name='j\xE2\x80\xA8' type='fixed'><parent link='a'/>"
        "<child link='b'/></joint></robot>",
        "<robot name='r'><link name='a'/><joint name='j' type='fixed'><parent link='a'/>"
        "<child link='b\xE2\x81\xA9'/></joint></robot>",
        "<robot name='r'><link name='a'/><link name='b'/><joint name='j\xE2\x80\xA8' type='x\xC2\x9B'/></robot>",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        dyn_error error;
        dyn_model *model = NULL;
        ck_assert_int_eq(dyn_urdf_load(texts[i], strlen(texts[i]), NULL, NULL, &model, &error), DYN_INVALID_ARGUMENT);
        ck_assert(dyn_text_is_printable(error.place));
        ck_assert(dyn_text_is_printable(error.message));
    }
}
END_TEST

START_TEST(ignored_elements_are_reported_with_escapes) {
    static const char text[] = "<robot name='r'><link name='a'><strange\xC2\xB7 odd='1\xE2\x80\xAE'/></link>"
                               "<gazebo reference='\xC2\x9B'><x\xC2\xB7/></gazebo></robot>";
    dyn_error error;
    dyn_model *model = NULL;
    dyn_report *report;
    ck_assert_int_eq(dyn_report_create(&report), DYN_OK);
    ck_assert_int_eq(dyn_urdf_load(text, strlen(text), NULL, report, &model, &error), DYN_OK);
    ck_assert_uint_gt(dyn_report_count(report), 0);
    for (size_t i = 0; i < dyn_report_count(report); i++) {
        ck_assert(dyn_text_is_printable(dyn_report_at(report, i).place));
        ck_assert(dyn_text_is_printable(dyn_report_at(report, i).message));
    }
    dyn_report_free(report);
    dyn_model_free(model);
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

START_TEST(index_finds_added_names_and_no_others) {
    name_index index = {0};
    char name[16];
    ck_assert_int_eq(name_index_find(&index, "n0"), -1);
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "n%d", i);
        const char *stored = name_index_add(&index, name, i);
        ck_assert_str_eq(stored, name);
        ck_assert_ptr_ne(stored, name);
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
    tcase_add_test(tests, a_refused_name_is_shown_with_escapes);
    tcase_add_test(tests, descriptions_with_unprintable_names_are_refused);
    tcase_add_test(tests, ignored_elements_are_reported_with_escapes);
    tcase_add_test(tests, names_are_bounded);
    tcase_add_test(tests, index_finds_added_names_and_no_others);
    return run_tests(tests);
}
