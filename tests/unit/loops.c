/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests closed loops that a file states in other ways than by constraints: links with two parents, and lists of loops
 * in YAML. Each result is compared with the robot that a builder describes by hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "robots.h"

static const dyn_pose identity = {{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};

static char *canonical(const dyn_model *model) {
    char *text;
    size_t length;
    dyn_error error;
    ck_assert_msg(dyn_model_canonical(model, &text, &length, &error) == DYN_OK, "%s", error.message);
    return text;
}

/* Builds the models of two builders, which it frees, and asserts that they are equal. */
static void expect_equal(dyn_builder *actual, dyn_builder *expected) {
    dyn_model *a = build_model(actual, NULL, NULL), *b = build_model(expected, NULL, NULL);
    char *text = canonical(a), *expected_text = canonical(b);
    ck_assert_str_eq(text, expected_text);
    dyn_text_free(text), dyn_text_free(expected_text);
    dyn_model_free(a), dyn_model_free(b);
}

static void add_constraint(dyn_builder *builder, const dyn_constraint_description *constraint) {
    dyn_error error;
    ck_assert_msg(dyn_builder_add_constraint(builder, constraint, &error) == DYN_OK, "%s", error.message);
}

/* ---- Links with several parents ---------------------------------------------------------------------------------- */

/* Returns base -> left -> tool and base -> right, without a joint between right and tool. */
static dyn_builder *open_chain(void) {
    dyn_builder *builder = new_builder();
    static const char *const links[] = {"base", "left", "right", "tool"};
    for (int i = 0; i < COUNT(links); i++) {
        add_link(builder, links[i]);
    }
    connect_links(builder, "l", DYN_JOINT_TYPE_REVOLUTE, "base", "left");
    connect_links(builder, "r", DYN_JOINT_TYPE_REVOLUTE, "base", "right");
    connect_links(builder, "first", DYN_JOINT_TYPE_REVOLUTE, "left", "tool");
    return builder;
}

static dyn_joint_description second_joint(void) {
    dyn_joint_description joint = joint_between("second", DYN_JOINT_TYPE_REVOLUTE, "right", "tool");
    joint.position[0] = 0.5;
    return joint;
}

static dyn_constraint_description second_loop(void) {
    dyn_constraint_description loop = {.name = "second",
                                       .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
                                       .type = DYN_JOINT_TYPE_REVOLUTE,
                                       .predecessor = {"right", identity},
                                       .successor = {"tool", identity},
                                       .axis = {0, 0, 1}};
    loop.predecessor.pose.position[0] = 0.5;
    return loop;
}

START_TEST(a_second_parent_becomes_a_loop_joint) {
    dyn_error error;
    dyn_report *report = new_report();
    dyn_builder *cut = open_chain(), *expected = open_chain();
    const dyn_joint_description joint = second_joint();
    const dyn_constraint_description loop = second_loop();
    add_joint(cut, &joint);
    add_constraint(expected, &loop);
    ck_assert_int_eq(dyn_builder_cut_loops(cut, report, &error), DYN_OK);
    ck_assert_int_eq(dyn_builder_joint_count(cut), 3);
    expect_entry(report, DYN_SEVERITY_NOTE, 0, "joint second",
                 "another joint carries its child link tool: it is cut from the tree and closes a loop");
    expect_equal(cut, expected);
    dyn_report_free(report);
}
END_TEST

/* The joint that is added first has the longer path from the base. */
START_TEST(the_shortest_path_from_the_root_stays) {
    dyn_error error;
    dyn_builder *builder = new_builder();
    static const char *const links[] = {"tool", "middle", "base"};
    for (int i = 0; i < COUNT(links); i++) {
        add_link(builder, links[i]);
    }
    connect_links(builder, "long", DYN_JOINT_TYPE_REVOLUTE, "middle", "tool");
    connect_links(builder, "to_middle", DYN_JOINT_TYPE_REVOLUTE, "base", "middle");
    connect_links(builder, "short", DYN_JOINT_TYPE_REVOLUTE, "base", "tool");
    ck_assert_int_eq(dyn_builder_cut_loops(builder, NULL, &error), DYN_OK);
    dyn_model *model = build_model(builder, NULL, NULL);
    ck_assert_int_eq(dyn_model_constraint_count(model), 1);
    ck_assert_str_eq(dyn_model_constraint(model, 0)->name, "long");
    dyn_model_free(model);
}
END_TEST

START_TEST(lost_damping_is_a_warning) {
    dyn_error error;
    dyn_report *report = new_report();
    dyn_builder *builder = open_chain();
    dyn_joint_description joint = second_joint();
    joint.damping = 0.1;
    add_joint(builder, &joint);
    ck_assert_int_eq(dyn_builder_cut_loops(builder, report, &error), DYN_OK);
    expect_entry(report, DYN_SEVERITY_WARNING, 0, "joint second", "its damping and friction are ignored");
    dyn_builder_free(builder);
    dyn_report_free(report);
}
END_TEST

START_TEST(a_tree_is_not_cut) {
    dyn_error error;
    dyn_builder *builder = open_chain();
    ck_assert_int_eq(dyn_builder_cut_loops(builder, NULL, &error), DYN_OK);
    expect_equal(builder, open_chain());
}
END_TEST

/* A ring of links has no root, and stays what it is: building refuses it. */
START_TEST(a_ring_without_root_is_refused_when_it_is_built) {
    dyn_error error;
    dyn_model *model;
    dyn_builder *builder = new_builder();
    add_link(builder, "a");
    add_link(builder, "b");
    connect_links(builder, "ab", DYN_JOINT_TYPE_REVOLUTE, "a", "b");
    connect_links(builder, "ba", DYN_JOINT_TYPE_REVOLUTE, "b", "a");
    ck_assert_int_eq(dyn_builder_cut_loops(builder, NULL, &error), DYN_OK);
    ck_assert_int_eq(dyn_builder_build(builder, NULL, NULL, &model, &error), DYN_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "cycle"));
    dyn_builder_free(builder);
}
END_TEST

START_TEST(joints_that_cannot_close_a_loop_are_refused_by_name) {
    dyn_error error;
    for (int i = 0; i < 3; i++) {
        static const char *const said[] = {"is floating", "mimics joint l", "two constraints of this name"};
        dyn_builder *builder = open_chain();
        dyn_joint_description joint = second_joint();
        const dyn_constraint_description loop = second_loop();
        if (i == 0) {
            joint.type = DYN_JOINT_TYPE_FLOATING;
        } else if (i == 1) {
            joint.mimic_joint = "l";
            joint.mimic_multiplier = 2;
        } else {
            add_constraint(builder, &loop);
        }
        add_joint(builder, &joint);
        dyn_status status = dyn_builder_cut_loops(builder, NULL, &error);
        expect_error(status, &error, DYN_INVALID_ARGUMENT, i == 2 ? "constraint second" : "joint second", said[i]);
        dyn_builder_free(builder);
    }
}
END_TEST

/* ---- YAML -------------------------------------------------------------------------------------------------------- */

static dyn_constraint_description listed_loop(const char *name, const char *a, const char *b, dyn_joint_type type) {
    return (dyn_constraint_description){.name = name,
                                        .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
                                        .type = type,
                                        .predecessor = {a, identity},
                                        .successor = {b, identity}};
}

/* The list of two loops, in the ways in which YAML writes it. */
static const char *const texts[] = {
    "closed_loop: [['right', 'tool'], ['left', 'right']]\ntype: ['6d', '3d']\nname_mot: ['l', r, first]\n",
    "# Two loops.\n---\ntype: [6d, 3D] # of each\n\nclosed_loop: [\n  [r, \"first\"],  # first\n  [left,right]]\n",
    "closed_loop:\n- - right\n  - tool\n- - left\n  - right\ntype:\n- 6d\n- 3d\nname_mot:\n- l\n- first\n- r\n",
    "closed_loop:\r\n  - [right, tool]\r\n  - [left, right]\r\ntype:\r\n  - '6d'\r\n  - '3d'",
};

START_TEST(a_list_of_loops_has_its_meaning_in_each_spelling) {
    dyn_error error;
    dyn_builder *read = open_chain(), *expected = open_chain();
    const dyn_constraint_description first = listed_loop("closed_loop_1", "right", "tool", DYN_JOINT_TYPE_FIXED);
    const dyn_constraint_description second = listed_loop("closed_loop_2", "left", "right", DYN_JOINT_TYPE_SPHERICAL);
    add_constraint(expected, &first);
    add_constraint(expected, &second);
    dyn_status status = dyn_builder_read_loops(read, texts[_i], strlen(texts[_i]), NULL, &error);
    ck_assert_msg(status == DYN_OK, "%s: %s", error.place, error.message);
    expect_equal(read, expected);
}
END_TEST

START_TEST(a_list_of_loops_changes_types_of_joints) {
    static const char text[] = "closed_loop: [[right, tool]]\ntype: 6d\njoint_name: ['first', 'l']\n"
                               "joint_type: ['FIXED', 'SPHERICAL']\n";
    dyn_error error;
    dyn_builder *builder = open_chain();
    ck_assert_int_eq(dyn_builder_read_loops(builder, text, strlen(text), NULL, &error), DYN_OK);
    dyn_model *model = build_model(builder, NULL, NULL);
    ck_assert_int_eq(dyn_model_constraint_rows(model), 6);
    ck_assert_int_eq(dyn_model_find_joint(model, "first"), -1);
    ck_assert_int_eq(dyn_model_joint(model, dyn_model_find_joint(model, "l"))->type, DYN_JOINT_TYPE_SPHERICAL);
    dyn_model_free(model);
}
END_TEST

START_TEST(joints_without_a_listed_motor_are_passive) {
    static const char text[] = "name_mot: [r]\n";
    dyn_error error;
    dyn_builder *builder = open_chain();
    ck_assert_int_eq(dyn_builder_read_loops(builder, text, strlen(text), NULL, &error), DYN_OK);
    dyn_model *model = build_model(builder, NULL, NULL);
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        ck_assert_int_eq(dyn_model_joint_is_passive(model, j), strcmp(joint->name, "r") != 0);
    }
    char *text_of_passive = canonical(model);
    ck_assert_ptr_nonnull(strstr(text_of_passive, "passive 0"));
    dyn_text_free(text_of_passive);
    dyn_model_free(model);
}
END_TEST

START_TEST(keys_without_meaning_are_reported) {
    static const char text[] = "rotor:\n  inertia: [1, 2]\nclosed_loop: []\n";
    dyn_error error;
    dyn_report *report = new_report();
    dyn_builder *builder = open_chain();
    ck_assert_int_eq(dyn_builder_read_loops(builder, text, strlen(text), report, &error), DYN_OK);
    expect_entry(report, DYN_SEVERITY_WARNING, 1, "loops", "the key rotor is ignored");
    dyn_builder_free(builder);
    dyn_report_free(report);
}
END_TEST

static const struct {
    const char *text, *place, *fragment;
} bad[] = {
    {"closed_loop: [[right, tool]]\n", "loops:1", "closed_loop has 1 entries and type has 0"},
    {"type: [6d]\nclosed_loop: [[right, nobody]]\n", "loops:2", "there is no link and no joint nobody"},
    {"closed_loop: [[right, tool]]\ntype: [4d]\n", "loops:2", "the type 4d of a loop is unknown; use 6d or 3d"},
    {"closed_loop: [[right]]\ntype: [6d]\n", "loops:1", "an entry has 1 names; write 2"},
    {"closed_loop: [[right, tool, left]]\n", "loops:1", "more than two names; write pairs"},
    {"closed_loop: [[right, right]]\ntype: [6d]\ntype: [3d]\n", "loops:3", "the key type is in line 2 already"},
    {"closed_loop: [[right, tool]\ntype: [6d]\n", "loops:2", "no closing bracket"},
    {"closed_loop: [[right, 'tool]]\n", "loops:1", "no closing '"},
    {"closed_loop: [[right, , tool]]\n", "loops:1", "a name is missing"},
    {"closed_loop: [] type: []\n", "loops:1", "there is text after a list"},
    {"right, tool\n", "loops:1", "the line \"right, tool\" has no key"},
    {"joint_name: [nobody]\njoint_type: [FIXED]\n", "loops:1", "there is no joint nobody"},
    {"joint_name: [l]\njoint_type: [hinge]\n", "loops:2", "the type hinge of joint l is unknown"},
    {"joint_name: [l, r]\njoint_type: [FIXED]\n", "loops:2", "joint_name has 2 entries and joint_type has 1"},
    {"name_mot: [l, nobody]\n", "loops:1", "there is no joint nobody"},
    {"closed_loop:\n- - right\n  - tool\n  - left\n", "loops:4", "more than two names"},
};

START_TEST(a_bad_list_of_loops_is_refused_with_its_line) {
    dyn_error error;
    dyn_builder *builder = open_chain();
    dyn_status status = dyn_builder_read_loops(builder, bad[_i].text, strlen(bad[_i].text), NULL, &error);
    expect_error(status, &error, DYN_INVALID_ARGUMENT, bad[_i].place, bad[_i].fragment);
    dyn_builder_free(builder);
}
END_TEST

/* Every prefix of the texts is either read or refused. The sanitizers check its bounds. */
START_TEST(every_truncation_of_a_list_is_read_or_refused) {
    dyn_error error;
    for (int i = 0; i < COUNT(texts); i++) {
        for (size_t length = 0; length <= strlen(texts[i]); length++) {
            char *text = malloc(length + !length); /* exact size, so that a sanitizer finds a read beyond it */
            memcpy(text, texts[i], length);
            dyn_builder *builder = open_chain();
            dyn_status status = dyn_builder_read_loops(builder, text, length, NULL, &error);
            ck_assert(status == DYN_OK || status == DYN_INVALID_ARGUMENT);
            dyn_builder_free(builder);
            free(text);
        }
    }
}
END_TEST

int main(void) {
    TCase *all = tcase_create("loops");
    tcase_add_test(all, a_second_parent_becomes_a_loop_joint);
    tcase_add_test(all, the_shortest_path_from_the_root_stays);
    tcase_add_test(all, lost_damping_is_a_warning);
    tcase_add_test(all, a_tree_is_not_cut);
    tcase_add_test(all, a_ring_without_root_is_refused_when_it_is_built);
    tcase_add_test(all, joints_that_cannot_close_a_loop_are_refused_by_name);
    tcase_add_loop_test(all, a_list_of_loops_has_its_meaning_in_each_spelling, 0, COUNT(texts));
    tcase_add_test(all, a_list_of_loops_changes_types_of_joints);
    tcase_add_test(all, joints_without_a_listed_motor_are_passive);
    tcase_add_test(all, keys_without_meaning_are_reported);
    tcase_add_loop_test(all, a_bad_list_of_loops_is_refused_with_its_line, 0, COUNT(bad));
    tcase_add_test(all, every_truncation_of_a_list_is_read_or_refused);
    return run_tests(all);
}
