/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests URDF that is refused: the place and the message of each error. Cases that other tests also send to the daemon
 * are files in tests/data/urdf.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "robots.h"

/* Loads a text with a fixed base and expects this error. */
static void expect_refusal(const char *text, size_t length, dyn_status status, const char *place,
                           const char *fragment) {
    dyn_model *model = NULL;
    dyn_error error;
    expect_error(dyn_urdf_load(text, length, NULL, NULL, &model, &error), &error, status, place, fragment);
    ck_assert_ptr_null(model);
}

static const struct {
    const char *file;
    const char *place, *fragment;
} files[] = {
    {"cycle.urdf", "urdf:8", "joint ab: the links form a cycle: \"a\" on \"c\" on \"b\" on \"a\""},
    {"two_roots.urdf", "urdf:3", "link stray: there are two roots, \"base\" and \"stray\""},
    {"two_parents.urdf", "urdf:11", "joint second: its child link \"tool\" is already carried by joint \"first\""},
    {"duplicate_link.urdf", "urdf:4", "link arm: there are two links of this name"},
    {"duplicate_joint.urdf", "urdf:10", "joint elbow: there are two joints of this name"},
    {"missing_parent.urdf", "urdf:4", "joint elbow: its parent link \"shoulder\" does not exist"},
    {"no_link.urdf", "urdf:2", "it has no link"},
    {"negative_mass.urdf", "urdf:4", "link arm: the mass is -2 kg"},
    {"no_inertia.urdf", "urdf:4", "link arm: this is no inertia: its principal moments are -0.5, 1.5 and 2"},
    {"not_a_number.urdf", "urdf:5", "link arm: <mass> has value=\"nan\"; write 1 finite decimal number"},
    {"short_vector.urdf", "urdf:5", "joint elbow: <origin> has xyz=\"1 2\"; write 3 finite decimal numbers"},
    {"zero_axis.urdf", "urdf:4", "joint elbow: the axis is (0, 0, 0)"},
    {"unknown_type.urdf", "urdf:4", "joint elbow: the type \"hinge\" is unknown; use fixed, revolute"},
    {"mimic_cycle.urdf", "urdf:6", "joint ab: it mimics joint \"bc\", which follows it in turn"},
    {"entity_bomb.urdf", "urdf:2", "DOCTYPE, which is refused"},
    {"xacro.urdf", "urdf:3", "<xacro:property> is a xacro macro; run xacro on the file first"},
    {"xacro_value.urdf", "urdf:4",
     "link arm: <mass> has value=\"${mass}\"; write 1 finite decimal number; this is a xacro"},
    {"sdf.urdf", "urdf:2", "<sdf>, which is SDF and not URDF"},
    {"truncated.urdf", "urdf:4", "not well-formed XML: "},
};

START_TEST(bad_file_is_refused_with_its_line) {
    char path[512];
    size_t length;
    snprintf(path, sizeof path, "%s/urdf/%s", DYNAMICS_TEST_DATA, files[_i].file);
    char *text = read_whole_file(path, &length);
    ck_assert_msg(text != NULL, "%s is missing", path);
    expect_refusal(text, length, DYN_INVALID_ARGUMENT, files[_i].place, files[_i].fragment);
    free(text);
}
END_TEST

static const struct {
    const char *text, *place, *fragment;
} texts[] = {
    {"", "urdf", "the document is empty"},
    {" ", "urdf:1", "no element found"},
    {"{\"json\": 1}", "urdf:1", "not well-formed XML"},
    {"<mujoco/>", "urdf:1", "MJCF and not URDF"},
    {"<html/>", "urdf:1", "the document is a <html>; URDF begins with <robot>"},
    {"<robot name='r'></robot><robot/>", "urdf:1", "not well-formed XML"},
    {"<robot name='r'>&unknown;</robot>", "urdf:1", "not well-formed XML: undefined entity"},
    {"<robot name='r'>\n<link/></robot>", "urdf:2", "<link> has no attribute name"},
    {"<robot name='r'>\n<link name=''/></robot>", "urdf:2", "<link> has no attribute name"},
    {"<robot name='r'>\n<link name='a&#10;b'/></robot>", "urdf:2", "\"a\\x0ab\", is not printable at byte 1"},
    {"<robot name='r&#9;x'/>", "urdf:1", "\"r\\x09x\", is not printable at byte 1"},
    {"<robot name='r'>\n<joint type='fixed'/></robot>", "urdf:2", "<joint> has no attribute name"},
    {"<robot name='r'>\n<joint name='j'/></robot>", "urdf:2", "joint j: <joint> has no attribute type"},
    {"<robot name='r'>\n<joint name='j' type='fixed'/></robot>", "urdf:2", "joint j: it has no parent link"},
    {"<robot name='r'>\n<joint name='j' type='fixed'><parent/></joint></robot>", "urdf:2",
     "joint j: <parent> has no attribute link"},
    {"<robot name='r'>\n<joint name='j' type='fixed'><mimic/></joint></robot>", "urdf:2",
     "joint j: <mimic> has no attribute joint"},
    {"<robot name='r'>\n<joint name='j' type='revolute'><limit lower='0x1p3'/></joint></robot>", "urdf:2",
     "joint j: <limit> has lower=\"0x1p3\"; write 1 finite decimal number"},
    {"<robot name='r'><link name='a'><inertial>\n<mass/></inertial></link></robot>", "urdf:2",
     "link a: <mass> has no attribute value"},
    {"<robot name='r'><link name='a'><inertial>\n<inertia ixx='1'/></inertial></link></robot>", "urdf:2",
     "link a: <inertia> has no attribute iyy"},
    {"<robot name='r'><link name='a'/>\n\n<xacro:macro/></robot>", "urdf:3", "run xacro on the file first"},
    {"<robot name='r'>\n<link name='a' name='b'/></robot>", "urdf:2", "duplicate attribute"},
    {"<!DOCTYPE robot SYSTEM 'http://example.org/robot.dtd'><robot name='r'/>", "urdf:1", "DOCTYPE"},
    {"<?xml version='1.0' encoding='GB2312'?>\n<robot name='r'><!-- \xBB\xFA --></robot>", "urdf:2",
     "declares the encoding GB2312 and has the byte 0xbb; convert it to UTF-8 (iconv -f GB2312 -t UTF-8)"},
    {"<?xml version='1.0' encoding='GB2312'?>\n<robot name='r'>\n<typo></robot>", "urdf:3", "not well-formed XML"},
    {"hello\n\n<?xml version='1.0'?>\n<robot name='r'>\n<typo></robot>", "urdf:5", "not well-formed XML"},
    {"<robot name='r'><?xml version='1.0'?></robot>", "urdf:1", "not well-formed XML"},
    {"no XML at all", "urdf:1", "not well-formed XML"},
};

START_TEST(bad_text_is_refused_with_its_line) {
    expect_refusal(texts[_i].text, strlen(texts[_i].text), DYN_INVALID_ARGUMENT, texts[_i].place, texts[_i].fragment);
}
END_TEST

START_TEST(no_text_is_refused) {
    expect_refusal(NULL, 0, DYN_INVALID_ARGUMENT, "urdf", "empty");
}
END_TEST

START_TEST(text_too_long_is_refused_unread) {
    expect_refusal("<robot", (size_t)DYN_URDF_MAX_BYTES + 1, DYN_RESOURCE_EXHAUSTED, "urdf", "16777217 bytes");
}
END_TEST

START_TEST(deep_nesting_is_refused) {
    enum { DEPTH = 10000 };
    char *text = calloc(DEPTH, 4);
    ck_assert_ptr_nonnull(text);
    char *end = stpcpy(text, "<robot name='r'>\n");
    for (int i = 0; i < DEPTH; i++) {
        end = stpcpy(end, "<x>");
    }
    expect_refusal(text, strlen(text), DYN_RESOURCE_EXHAUSTED, "urdf:2", "nested more than 64 deep");
    free(text);
}
END_TEST

START_TEST(one_link_too_many_is_refused) {
    char *text = calloc(DYN_MAX_LINKS + 2, 32);
    ck_assert_ptr_nonnull(text);
    char *end = stpcpy(text, "<robot name='r'>");
    for (int i = 0; i <= DYN_MAX_LINKS; i++) {
        end += sprintf(end, "<link name='l%d'/>\n", i);
    }
    expect_refusal(text, strlen(text), DYN_RESOURCE_EXHAUSTED, "urdf:10001", "link l10000: a robot has at most 10000");
    free(text);
}
END_TEST

START_TEST(name_too_long_is_refused) {
    char text[1000];
    char name[DYN_MAX_NAME + 2] = {0};
    memset(name, 'n', sizeof name - 1);
    snprintf(text, sizeof text, "<robot name='r'>\n<link name='%s'/></robot>", name);
    expect_refusal(text, strlen(text), DYN_RESOURCE_EXHAUSTED, "urdf:2", "a name has at most 255");
}
END_TEST

START_TEST(every_truncation_of_a_robot_is_refused) {
    char path[512];
    size_t length;
    snprintf(path, sizeof path, "%s/urdf/arm.urdf", DYNAMICS_TEST_DATA);
    char *text = read_whole_file(path, &length);
    ck_assert_ptr_nonnull(text);
    dyn_model_free(load_urdf(text, NULL, NULL));
    size_t last = (size_t)(strstr(text, "</robot>") - text);
    for (size_t cut = 0; cut < last + strlen("</robot>"); cut++) {
        dyn_model *model = NULL;
        dyn_error error;
        ck_assert_int_eq(dyn_urdf_load(text, cut, NULL, NULL, &model, &error), DYN_INVALID_ARGUMENT);
        ck_assert_ptr_null(model);
    }
    free(text);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("urdf_errors");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, bad_file_is_refused_with_its_line, 0, COUNT(files));
    tcase_add_loop_test(tests, bad_text_is_refused_with_its_line, 0, COUNT(texts));
    tcase_add_test(tests, no_text_is_refused);
    tcase_add_test(tests, text_too_long_is_refused_unread);
    tcase_add_test(tests, deep_nesting_is_refused);
    tcase_add_test(tests, one_link_too_many_is_refused);
    tcase_add_test(tests, name_too_long_is_refused);
    tcase_add_test(tests, every_truncation_of_a_robot_is_refused);
    return run_tests(tests);
}
