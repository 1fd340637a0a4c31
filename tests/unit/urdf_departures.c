/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests files that depart from URDF in ways that public robots do: the reader accepts them with a warning, and refuses
 * them with the option `strict`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "robots.h"

#define DECLARATION "<?xml version=\"1.0\"?>\n"
#define ENCODED(encoding) "<?xml version=\"1.0\" encoding=\"" encoding "\"?>\n"
#define LINK "<link name=\"base\"/>\n"
#define ROBOT "<robot name=\"r\">\n" LINK "</robot>\n"
#define ARM(inertial, type, joint)                                                                                     \
    "<robot name=\"r\">\n<link name=\"base\"/><link name=\"arm\"><inertial>\n<mass value=\"2\"/>" inertial             \
    "</inertial></link>\n<joint name=\"elbow\" type=\"" type "\"><parent link=\"base\"/>"                              \
    "<child link=\"arm\"/>" joint "<limit lower=\"-1\" upper=\"1\" effort=\"9\" velocity=\"9\"/></joint>\n</robot>\n"
#define INERTIA "<inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/>"

static const struct {
    const char *text;
    int line; /* of the warning */
    const char *place, *fragment;
} departures[] = {
    {ARM("<inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/>", "revolute", ""), 3, "link arm",
     "<inertia> does not state ixy ixz iyz: 0 is taken"},
    {ARM("<inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0.1\"/>", "revolute", ""), 3, "link arm",
     "<inertia> does not state iyz: 0 is taken"},
    {ARM(INERTIA, "revolute", "<axis/>"), 4, "joint elbow", "<axis> has no attribute xyz: the axis is 1 0 0"},
    {ARM(INERTIA, "fixed", "<axis/>"), 4, "joint elbow", "<axis> has no attribute xyz"},
    {ARM(INERTIA, "spherical", ""), 4, "joint elbow", "URDF has no joint of the type spherical"},
    {ARM(INERTIA, "ball", ""), 4, "joint elbow", "URDF has no joint of the type ball"},
    {"<robot name=\"r\">\n" LINK "<joint name=\"weld\" type=\"fixed\">\n<parent link=\"world\"/><child link=\"base\"/>"
     "</joint></robot>",
     3, "joint weld", "its parent link \"world\" is not declared: it is taken for a massless root"},
    {"\n\n" DECLARATION ROBOT, 1, "document", "the text before the XML, 2 bytes, is ignored"},
    {"<!-- made by hand <?xml version=\"1.0\"?> -->\n" DECLARATION ROBOT, 1, "document", "the text before the XML"},
    {"\xEF\xBB\xBF \n" DECLARATION ROBOT, 1, "document", "the text before the XML, 5 bytes, is ignored"},
    {"started core service [/rosout]\n" DECLARATION ROBOT, 1, "document", "the text before the XML, 31 bytes"},
    {"xacro: in-order processing became default\n" ROBOT, 1, "document", "the text before the XML, 42 bytes"},
    {"\xEF\xBB\xBFmodel:\n" ROBOT, 1, "document", "the text before the XML, 10 bytes"},
    {ENCODED("gb2312") ROBOT, 1, "document", "it declares the encoding gb2312; its bytes are read as UTF-8"},
    {ENCODED("windows-1252") ROBOT "<!-- 90\xB0 -->", 1, "document",
     "it declares the encoding windows-1252; its bytes are read as ISO-8859-1"},
    {ENCODED("Latin1") "<robot name=\"Gr\xF6\xDF"
                       "e\">" LINK "</robot>",
     1, "document", "read as ISO-8859-1"},
    {ENCODED("utf-16") ROBOT, 1, "document", "it declares the encoding utf-16; its bytes are read as UTF-8"},
    {ENCODED("Shift_JIS") ROBOT "<!-- 90\xC2\xB0 -->", 1, "document", "its bytes are read as UTF-8"},
    {DECLARATION ROBOT "<!-- 90\xB0 -->", 5, "document", "the byte 0xb0 is no UTF-8"},
    {ENCODED("UTF-8") ROBOT "<!-- 90\xB0 -->", 5, "document", "the byte 0xb0 is no UTF-8"},
};

/* Valid documents, which cause no warning about a departure. */
static const char *const sound[] = {
    "\xEF\xBB\xBF" DECLARATION ROBOT,
    "\xEF\xBB\xBF" ROBOT,
    "<!-- comment -->\n" ROBOT,
    "\n \n" ROBOT,
    ENCODED("ISO-8859-1") "<robot name=\"\xE9\">" LINK "</robot>",
    ENCODED("us-ascii") ROBOT,
    ENCODED("utf-8") ROBOT,
    "<robot name=\"90\xC2\xB0\">" LINK "</robot>",
};

/* Returns the number of warnings other than "no joint moves". */
static int count_warnings(const dyn_report *report) {
    int count = 0;
    for (size_t i = 0; i < dyn_report_count(report); i++) {
        dyn_report_entry entry = dyn_report_at(report, i);
        count += entry.severity == DYN_SEVERITY_WARNING && strcmp(entry.message, "no joint moves") != 0;
    }
    return count;
}

START_TEST(a_departure_is_read_with_a_warning) {
    dyn_report *report = new_report();
    dyn_model_free(load_urdf(departures[_i].text, NULL, report));
    expect_entry(report, DYN_SEVERITY_WARNING, departures[_i].line, departures[_i].place, departures[_i].fragment);
    ck_assert_int_eq(count_warnings(report), 1);
    dyn_report_free(report);
}
END_TEST

START_TEST(a_departure_is_refused_where_reading_is_strict) {
    const char *text = departures[_i].text;
    const dyn_build_options strict = DYN_BUILD_OPTIONS_INIT(.strict = true);
    dyn_model *model;
    dyn_error error;
    char place[32];
    snprintf(place, sizeof place, "urdf:%d", departures[_i].line);
    expect_error(dyn_urdf_load(text, strlen(text), &strict, NULL, &model, &error), &error, DYN_INVALID_ARGUMENT, place,
                 departures[_i].fragment);
    ck_assert_ptr_null(model);
}
END_TEST

START_TEST(no_warning_without_a_departure) {
    dyn_report *report = new_report();
    dyn_model_free(load_urdf(sound[_i], NULL, report));
    ck_assert_int_eq(count_warnings(report), 0);
    dyn_report_free(report);
}
END_TEST

START_TEST(departures_have_their_stated_meaning) {
    dyn_model *model =
        load_urdf(ARM("<inertia ixx=\"1\" iyy=\"2\" izz=\"3\" ixz=\"0.1\"/>", "revolute", "<axis/>"), NULL, NULL);
    const double expected[] = {1, 0, 0.1, 2, 0, 3};
    ck_assert_mem_eq(dyn_model_link(model, 1)->inertia.rotational, expected, sizeof expected);
    ck_assert_double_eq(dyn_model_joint(model, 0)->axis[0], 1);
    dyn_model_free(model);
    model = load_urdf(ARM(INERTIA, "ball", ""), NULL, NULL);
    ck_assert_int_eq(dyn_model_nq(model), 4);
    dyn_model_free(model);
    model = load_urdf(ENCODED("latin1") "<robot name=\"Gr\xF6\xDF"
                                        "e\">" LINK "</robot>",
                      NULL, NULL);
    ck_assert_str_eq(dyn_model_name(model), "Gr\xC3\xB6\xC3\x9F"
                                            "e");
    dyn_model_free(model);
    model = load_urdf(
        "<robot name=\"r\"><joint name=\"j\" type=\"prismatic\"><parent link=\"world\"/><child link=\"base\"/>"
        "</joint>" LINK "</robot>",
        NULL, NULL);
    ck_assert_str_eq(dyn_model_link(model, 0)->name, "world");
    ck_assert_int_eq(dyn_model_nv(model), 1);
    dyn_model_free(model);
}
END_TEST

START_TEST(zero_bytes_of_a_c_string_are_no_part_of_the_document) {
    static const char text[] = ROBOT "\0\0";
    const dyn_build_options strict = DYN_BUILD_OPTIONS_INIT(.strict = true);
    dyn_report *report = new_report();
    dyn_model *model;
    dyn_error error;
    ck_assert_int_eq(dyn_urdf_load(text, sizeof text, NULL, report, &model, &error), DYN_OK);
    expect_entry(report, DYN_SEVERITY_WARNING, 4, "document", "the zero bytes at its end, 3, are ignored");
    dyn_model_free(model);
    dyn_report_free(report);
    expect_error(dyn_urdf_load(text, sizeof text, &strict, NULL, &model, &error), &error, DYN_INVALID_ARGUMENT,
                 "urdf:4", "zero bytes");
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("urdf_departures");
    tcase_add_loop_test(tests, a_departure_is_read_with_a_warning, 0, COUNT(departures));
    tcase_add_loop_test(tests, a_departure_is_refused_where_reading_is_strict, 0, COUNT(departures));
    tcase_add_loop_test(tests, no_warning_without_a_departure, 0, COUNT(sound));
    tcase_add_test(tests, departures_have_their_stated_meaning);
    tcase_add_test(tests, zero_bytes_of_a_c_string_are_no_part_of_the_document);
    return run_tests(tests);
}
