/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests how the builder orders links and joints to a tree, and which graphs it refuses: several roots, two parents,
 * cycles.
 */
#include "lib/src/model/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "robots.h"

/* Builds a model with a fixed base, expects this error, and frees the builder. */
static void expect_refusal(dyn_builder *builder, dyn_status status, const char *place, const char *fragment) {
    dyn_model *model = NULL;
    dyn_error error;
    dyn_status actual = dyn_builder_build(builder, NULL, NULL, &model, &error);
    expect_error(actual, &error, status, place, fragment);
    ck_assert_ptr_null(model);
    dyn_builder_free(builder);
}

static void add_links(dyn_builder *builder, const char *names) {
    for (; *names != '\0'; names++) {
        const char name[2] = {*names, '\0'};
        add_link(builder, name);
    }
}

START_TEST(joints_are_numbered_depth_first_in_the_order_given) {
    dyn_builder *builder = new_builder();
    connect_links(builder, "cd", DYN_JOINT_TYPE_REVOLUTE, "c", "d");
    connect_links(builder, "ae", DYN_JOINT_TYPE_FIXED, "a", "e");
    connect_links(builder, "ef", DYN_JOINT_TYPE_PRISMATIC, "e", "f");
    connect_links(builder, "ab", DYN_JOINT_TYPE_SPHERICAL, "a", "b");
    connect_links(builder, "bc", DYN_JOINT_TYPE_REVOLUTE, "b", "c");
    connect_links(builder, "bg", DYN_JOINT_TYPE_UNIVERSAL, "b", "g");
    add_links(builder, "gfedcba");
    dyn_model *model = build_model(builder, NULL, NULL);

    static const char *const links[] = {"a", "e", "f", "b", "c", "d", "g"};
    ck_assert_int_eq(dyn_model_link_count(model), COUNT(links));
    for (int i = 0; i < COUNT(links); i++) {
        ck_assert_str_eq(dyn_model_link(model, i)->name, links[i]);
    }
    static const struct {
        const char *name;
        int q_index, v_index, nq, nv;
    } joints[] = {{"ef", 0, 0, 1, 1}, {"ab", 1, 1, 4, 3}, {"bc", 5, 4, 1, 1}, {"cd", 6, 5, 1, 1}, {"bg", 7, 6, 2, 2}};
    ck_assert_int_eq(dyn_model_joint_count(model), COUNT(joints));
    for (int j = 0; j < COUNT(joints); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        ck_assert_str_eq(joint->name, joints[j].name);
        ck_assert_int_eq(joint->q_index, joints[j].q_index);
        ck_assert_int_eq(joint->v_index, joints[j].v_index);
        ck_assert_int_eq(joint->nq, joints[j].nq);
        ck_assert_int_eq(joint->nv, joints[j].nv);
        ck_assert_int_eq(dyn_model_find_joint(model, joint->name), j);
    }
    ck_assert_int_eq(dyn_model_nq(model), 9);
    ck_assert_int_eq(dyn_model_nv(model), 8);
    dyn_model_free(model);
}
END_TEST

START_TEST(robot_without_link_is_refused) {
    expect_refusal(new_builder(), DYN_INVALID_ARGUMENT, "robot test", "no link");
}
END_TEST

START_TEST(missing_links_are_named) {
    dyn_builder *builder = new_builder();
    add_links(builder, "ab");
    connect_links(builder, "j", DYN_JOINT_TYPE_FIXED, "nowhere", "b");
    expect_refusal(builder, DYN_INVALID_ARGUMENT, "joint j", "parent link \"nowhere\" does not exist");
    builder = new_builder();
    add_links(builder, "ab");
    connect_links(builder, "j", DYN_JOINT_TYPE_FIXED, "a", "nowhere");
    expect_refusal(builder, DYN_INVALID_ARGUMENT, "joint j", "child link \"nowhere\" does not exist");
}
END_TEST

START_TEST(two_roots_are_named) {
    dyn_builder *builder = new_builder();
    add_links(builder, "abc");
    connect_links(builder, "j", DYN_JOINT_TYPE_FIXED, "a", "b");
    expect_refusal(builder, DYN_INVALID_ARGUMENT, "link c", "two roots, \"a\" and \"c\"");
}
END_TEST

START_TEST(link_with_two_parents_is_refused) {
    dyn_builder *builder = new_builder();
    add_links(builder, "abc");
    connect_links(builder, "j", DYN_JOINT_TYPE_FIXED, "a", "c");
    connect_links(builder, "k", DYN_JOINT_TYPE_FIXED, "b", "c");
    expect_refusal(builder, DYN_INVALID_ARGUMENT, "joint k", "already carried by joint \"j\"");
}
END_TEST

START_TEST(cycles_are_named_link_by_link) {
    dyn_builder *builder = new_builder();
    add_links(builder, "a");
    connect_links(builder, "self", DYN_JOINT_TYPE_FIXED, "a", "a");
    expect_refusal(builder, DYN_INVALID_ARGUMENT, "joint self", "cycle: \"a\" on \"a\"");

    builder = new_builder();
    add_links(builder, "ab");
    connect_links(builder, "j", DYN_JOINT_TYPE_FIXED, "a", "b");
    connect_links(builder, "k", DYN_JOINT_TYPE_FIXED, "b", "a");
    expect_refusal(builder, DYN_INVALID_ARGUMENT, "joint k", "cycle: \"a\" on \"b\" on \"a\"");
}
END_TEST

START_TEST(cycle_beside_a_tree_is_found) {
    dyn_builder *builder = new_builder();
    add_links(builder, "rtabcd");
    connect_links(builder, "rt", DYN_JOINT_TYPE_FIXED, "r", "t");
    connect_links(builder, "ab", DYN_JOINT_TYPE_REVOLUTE, "a", "b");
    connect_links(builder, "bc", DYN_JOINT_TYPE_REVOLUTE, "b", "c");
    connect_links(builder, "ca", DYN_JOINT_TYPE_REVOLUTE, "c", "a");
    connect_links(builder, "cd", DYN_JOINT_TYPE_REVOLUTE, "c", "d"); /* attached to the cycle, and not part of it */
    dyn_model *model;
    dyn_error error;
    ck_assert_int_eq(dyn_builder_build(builder, NULL, NULL, &model, &error), DYN_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "cycle"));
    for (const char *name = "abc"; *name != '\0'; name++) {
        const char quoted[] = {'"', *name, '"', '\0'};
        ck_assert_msg(strstr(error.message, quoted) != NULL, "%s", error.message);
    }
    ck_assert_ptr_null(strstr(error.message, "\"d\""));
    dyn_builder_free(builder);
}
END_TEST

/* Returns the builder of a chain of `count` links, added from the tip to the root, with a joint of this type between
 * neighbours. */
static dyn_builder *chain(int count, dyn_joint_type type) {
    dyn_builder *builder = new_builder();
    char link[16], parent[16], joint[16];
    for (int i = count - 1; i >= 0; i--) {
        snprintf(link, sizeof link, "l%d", i);
        add_link(builder, link);
        if (i > 0) {
            snprintf(parent, sizeof parent, "l%d", i - 1);
            snprintf(joint, sizeof joint, "j%d", i);
            connect_links(builder, joint, type, parent, link);
        }
    }
    return builder;
}

START_TEST(longest_chain_is_built) {
    dyn_model *model = build_model(chain(DYN_MAX_LINKS, DYN_JOINT_TYPE_REVOLUTE), NULL, NULL);
    ck_assert_int_eq(dyn_model_nv(model), DYN_MAX_LINKS - 1);
    ck_assert_str_eq(dyn_model_link(model, DYN_MAX_LINKS - 1)->name, "l9999");
    dyn_model_free(model);
    model = build_model(chain(DYN_MAX_LINKS, DYN_JOINT_TYPE_FIXED), NULL, NULL);
    ck_assert_int_eq(dyn_model_nv(model), 0);
    dyn_model_free(model);
}
END_TEST

START_TEST(longest_cycle_is_refused) {
    dyn_builder *builder = chain(DYN_MAX_LINKS, DYN_JOINT_TYPE_REVOLUTE);
    connect_links(builder, "close", DYN_JOINT_TYPE_REVOLUTE, "l9999", "l0");
    dyn_model *model;
    dyn_error error;
    ck_assert_int_eq(dyn_builder_build(builder, NULL, NULL, &model, &error), DYN_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, " ..."));
    dyn_builder_free(builder);
}
END_TEST

START_TEST(one_link_too_many_is_refused) {
    dyn_builder *builder = chain(DYN_MAX_LINKS, DYN_JOINT_TYPE_REVOLUTE);
    dyn_link_description link = {.name = "extra"};
    dyn_error error;
    expect_error(dyn_builder_add_link(builder, &link, &error), &error, DYN_RESOURCE_EXHAUSTED, "link extra",
                 "at most 10000 links");
    dyn_builder_free(builder);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("tree");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, joints_are_numbered_depth_first_in_the_order_given);
    tcase_add_test(tests, robot_without_link_is_refused);
    tcase_add_test(tests, missing_links_are_named);
    tcase_add_test(tests, two_roots_are_named);
    tcase_add_test(tests, link_with_two_parents_is_refused);
    tcase_add_test(tests, cycles_are_named_link_by_link);
    tcase_add_test(tests, cycle_beside_a_tree_is_found);
    tcase_add_test(tests, longest_chain_is_built);
    tcase_add_test(tests, longest_cycle_is_refused);
    tcase_add_test(tests, one_link_too_many_is_refused);
    return run_tests(tests);
}
