/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the canonical description: it is equal for equal models and different for different ones.
 */
#include <stdlib.h>
#include <string.h>

#include "robots.h"

static const char plain[] =
    "<robot name='r'>"
    "<link name='a'/><link name='b'><inertial><mass value='1'/>"
    "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>"
    "<link name='c'><inertial><mass value='0.5'/>"
    "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>"
    "<joint name='j' type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/>"
    "<limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
    "<joint name='k' type='continuous'><parent link='b'/><child link='c'/><mimic joint='j' multiplier='2'/></joint>"
    "</robot>";

/* URDF of the robot of `plain` with another name, order of links, number format and layout, and a <visual>. */
static const char respelled[] =
    "<?xml version='1.0'?>\n<robot name='other' xmlns:x='y'>\n<!-- comment -->\n"
    "<link name='c'><visual/><inertial><inertia izz='1e0' ixx='10.e-1' ixy='-0' ixz='0' iyy='+1' iyz='0'/>"
    "<mass value='5e-1'/><origin rpy='0 0 0'/></inertial></link>\n"
    "<link name='b'><inertial><mass value='1.000'/>"
    "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>\n"
    "<joint name='j' type='revolute'><child link='b'/><origin xyz='0 -0 0'/><parent link='a'/><axis xyz='0 0 3'/>"
    "<limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
    "<joint name='k' type='continuous'><axis xyz='1 0 0'/><mimic offset='0' multiplier='2' joint='j'/>"
    "<parent link='b'/><child link='c'/></joint>\n<link name='a'/></robot>";

/* Returns the canonical description of a URDF's model. The caller frees it. */
static char *canonical(const char *urdf, const dyn_build_options *options) {
    dyn_model *model = load_urdf(urdf, options, NULL);
    char *text;
    size_t length;
    dyn_error error;
    ck_assert_int_eq(dyn_model_canonical(model, &text, &length, &error), DYN_OK);
    ck_assert_uint_eq(strlen(text), length);
    dyn_model_free(model);
    return text;
}

START_TEST(spelling_and_name_do_not_matter) {
    char *a = canonical(plain, NULL), *b = canonical(respelled, NULL);
    ck_assert_str_eq(a, b);
    dyn_text_free(a), dyn_text_free(b);
}
END_TEST

/* Returns a copy of `text` in which `to` replaces the first `from`. The caller frees it. */
static char *replaced(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    ck_assert_ptr_nonnull(at);
    char *changed = calloc(strlen(text) + strlen(to) + 1, 1);
    ck_assert_ptr_nonnull(changed);
    memcpy(changed, text, (size_t)(at - text));
    strcat(strcat(changed, to), at + strlen(from));
    return changed;
}

static const struct {
    const char *from, *to;
} changes[] = {
    {"mass value='1'", "mass value='1.0000000000000002'"},
    {"ixy='0'", "ixy='1e-300'"},
    {"link name='a'/>", "link name='a'><inertial><mass value='1'/></inertial></link>"},
    {"xyz='0 0 1'", "xyz='0 1 0'"},
    {"'revolute'", "'prismatic'"},
    {"lower='-1'", "lower='-2'"},
    {"effort='1'", "effort='2'"},
    {"multiplier='2'", "multiplier='3'"},
    {"<mimic joint='j' multiplier='2'/>", ""},
    {"<axis", "<dynamics damping='1'/><axis"},
    {"<axis", "<dynamics friction='1'/><axis"},
    {"<axis", "<origin xyz='1 0 0'/><axis"},
    {"<axis", "<origin rpy='0 0 1e-9'/><axis"},
    {"joint name='k'", "joint name='l'"},
};

START_TEST(every_difference_shows) {
    char *before = canonical(plain, NULL);
    char *changed = replaced(plain, changes[_i].from, changes[_i].to);
    char *after = canonical(changed, NULL);
    ck_assert_str_ne(before, after);
    dyn_text_free(before), free(changed), dyn_text_free(after);
}
END_TEST

START_TEST(options_show) {
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING),
                            independent = DYN_BUILD_OPTIONS_INIT(.mimic = DYN_MIMIC_POLICY_INDEPENDENT);
    char *texts[] = {canonical(plain, NULL), canonical(plain, &floating), canonical(plain, &independent)};
    ck_assert_str_ne(texts[0], texts[1]);
    ck_assert_str_ne(texts[0], texts[2]);
    ck_assert_str_ne(texts[1], texts[2]);
    for (int i = 0; i < 3; i++) {
        dyn_text_free(texts[i]);
    }
}
END_TEST

START_TEST(names_cannot_imitate_structure) {
    /* Without the escaped quotes, the name would read as a link with a parent. */
    char *a = canonical("<robot name='r'><link name='a\" parent \"b'/></robot>", NULL);
    ck_assert_ptr_nonnull(strstr(a, "link \"a\\\" parent \\\"b\""));
    dyn_text_free(a);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("canonical");
    tcase_add_test(tests, spelling_and_name_do_not_matter);
    tcase_add_loop_test(tests, every_difference_shows, 0, COUNT(changes));
    tcase_add_test(tests, options_show);
    tcase_add_test(tests, names_cannot_imitate_structure);
    return run_tests(tests);
}
