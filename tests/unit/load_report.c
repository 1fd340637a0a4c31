/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the report on a load, a list of notes and warnings.
 */
#include "lib/src/model/load_report.h"

#include <string.h>

#include "robots.h"

START_TEST(entries_keep_their_order_and_text) {
    dyn_report *report = new_report();
    ck_assert_uint_eq(dyn_report_count(report), 0);
    report_add(report, DYN_SEVERITY_NOTE, 3, "robot", "value %d", 7);
    const named_element wrist = {{.kind = DYN_ELEMENT_KIND_LINK, .index = 2, .line = 4}, "wrist"};
    report_add_element(report, DYN_SEVERITY_WARNING, wrist, "value %s", "x");
    ck_assert_uint_eq(dyn_report_count(report), 2);
    dyn_report_entry first = dyn_report_at(report, 0), second = dyn_report_at(report, 1);
    ck_assert_int_eq(first.severity, DYN_SEVERITY_NOTE);
    ck_assert_int_eq(first.line, 3);
    ck_assert_str_eq(first.place, "robot");
    ck_assert_str_eq(first.message, "value 7");
    ck_assert_int_eq(second.severity, DYN_SEVERITY_WARNING);
    ck_assert_str_eq(second.place, "link wrist");
    ck_assert_int_eq(second.line, 4);
    ck_assert_int_eq(first.element.kind, DYN_ELEMENT_KIND_NONE);
    ck_assert_int_eq(second.element.kind, DYN_ELEMENT_KIND_LINK);
    ck_assert_int_eq(second.element.index, 2);
    ck_assert_str_eq(second.message, "value x");
    ck_assert_uint_eq(dyn_report_count_severity(report, DYN_SEVERITY_WARNING), 1);
    ck_assert(!report_is_incomplete(report));
    dyn_report_free(report);
}
END_TEST

START_TEST(report_is_bounded_and_counts_omitted_entries) {
    dyn_report *report = new_report();
    for (int i = 0; i < REPORT_MAX_ENTRIES + 5; i++) {
        report_add(report, DYN_SEVERITY_NOTE, i, "robot", "note");
    }
    report_add(report, DYN_SEVERITY_WARNING, 9999, "robot", "a warning is kept all the same");
    ck_assert_uint_eq(dyn_report_count(report), REPORT_MAX_ENTRIES + 2);
    expect_entry(report, DYN_SEVERITY_WARNING, 9999, "robot", "kept all the same");
    dyn_report_entry last = dyn_report_at(report, REPORT_MAX_ENTRIES + 1);
    ck_assert_int_eq(last.severity, DYN_SEVERITY_NOTE);
    ck_assert_str_eq(last.message, "... and 0 more warnings and 5 more notes");
    dyn_report_free(report);
}
END_TEST

START_TEST(no_report_is_allowed) {
    report_add(NULL, DYN_SEVERITY_NOTE, 1, "robot", "note");
    report_add_element(NULL, DYN_SEVERITY_NOTE, (named_element){.name = "wrist"}, "note");
    ck_assert(!report_is_incomplete(NULL));
    dyn_report_free(NULL);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("load_report");
    tcase_add_test(tests, entries_keep_their_order_and_text);
    tcase_add_test(tests, report_is_bounded_and_counts_omitted_entries);
    tcase_add_test(tests, no_report_is_allowed);
    return run_tests(tests);
}
