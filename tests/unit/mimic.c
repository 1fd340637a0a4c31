/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests mimic joints: chains of them, refusals, and the policy that makes them independent.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/src/model/normal_form.h"
#include "robots.h"

/* Adds a joint between "base" and `child` that mimics the joint `master`. */
static void add_mimic(dyn_builder *builder, const char *name, dyn_joint_type type, const char *child,
                      const char *master, double multiplier, double offset) {
    dyn_joint_description joint = joint_between(name, type, "base", child);
    joint.mimic_joint = master;
    joint.mimic_multiplier = multiplier;
    joint.mimic_offset = offset;
    add_joint(builder, &joint);
}

/* Returns a builder with the links "base", "a", "b" and "c" and without joints. */
static dyn_builder *hand(void) {
    dyn_builder *builder = new_builder();
    add_link(builder, "base");
    add_link(builder, "a");
    add_link(builder, "b");
    add_link(builder, "c");
    return builder;
}

static void expect_refusal(dyn_builder *builder, const char *place, const char *fragment) {
    dyn_model *model;
    dyn_error error;
    dyn_status status = dyn_builder_build(builder, NULL, NULL, &model, &error);
    expect_error(status, &error, DYN_INVALID_ARGUMENT, place, fragment);
    dyn_builder_free(builder);
}

START_TEST(chains_are_composed_to_the_last_master) {
    dyn_builder *builder = hand();
    add_mimic(builder, "jc", DYN_JOINT_TYPE_PRISMATIC, "c", "jb", 3, 0.5);
    add_mimic(builder, "jb", DYN_JOINT_TYPE_REVOLUTE, "b", "ja", -2, 0.25);
    connect_links(builder, "ja", DYN_JOINT_TYPE_CONTINUOUS, "base", "a");
    dyn_report *report = new_report();
    dyn_model *model = build_model(builder, NULL, report);
    ck_assert_int_eq(dyn_model_nq(model), 1);
    ck_assert_int_eq(dyn_model_nv(model), 1);
    ck_assert_int_eq(dyn_model_joint_count(model), 3);
    ck_assert(dyn_model_has_coupling(model));
    const dyn_joint *b = dyn_model_joint(model, dyn_model_find_joint(model, "jb"));
    const dyn_joint *c = dyn_model_joint(model, dyn_model_find_joint(model, "jc"));
    int a = dyn_model_find_joint(model, "ja");
    ck_assert_int_eq(b->master, a);
    ck_assert_int_eq(c->master, a);
    ck_assert_int_eq(c->nq + c->nv + b->nq + b->nv, 0);
    ck_assert_int_eq(c->q_index, dyn_model_joint(model, a)->q_index);
    ck_assert(b->multiplier == -2 && b->offset == 0.25);
    ck_assert(c->multiplier == -6 && c->offset == 1.25);
    const body *follower = &model->bodies[0];
    ck_assert(follower->ratio == -6 && follower->offset == 1.25);
    ck_assert_int_eq(follower->motion, MOTION_PRISMATIC);
    ck_assert_int_eq(follower->nv, 1);
    expect_entry(report, DYN_SEVERITY_NOTE, 0, "joint jc", "-6 times that of joint \"ja\" plus 1.25");
    dyn_report_free(report);
    dyn_model_free(model);
}
END_TEST

START_TEST(independent_mimic_joints_are_joints_like_any_other) {
    dyn_builder *builder = hand();
    connect_links(builder, "ja", DYN_JOINT_TYPE_REVOLUTE, "base", "a");
    add_mimic(builder, "jb", DYN_JOINT_TYPE_REVOLUTE, "b", "ja", 2, 1);
    add_mimic(builder, "jc", DYN_JOINT_TYPE_REVOLUTE, "c", "nowhere", 2, 1);
    dyn_report *report = new_report();
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.mimic = DYN_MIMIC_POLICY_INDEPENDENT);
    dyn_model *model = build_model(builder, &options, report);
    ck_assert_int_eq(dyn_model_nv(model), 3);
    ck_assert(!dyn_model_has_coupling(model));
    ck_assert_int_eq(dyn_model_joint(model, 1)->master, -1);
    ck_assert(dyn_model_joint(model, 1)->multiplier == 1 && dyn_model_joint(model, 1)->offset == 0);
    expect_entry(report, DYN_SEVERITY_NOTE, 0, "joint jb", "moves independently");
    dyn_report_free(report);
    dyn_model_free(model);
}
END_TEST

START_TEST(zero_multiplier_keeps_the_joint_at_its_offset) {
    dyn_builder *builder = hand();
    connect_links(builder, "ja", DYN_JOINT_TYPE_REVOLUTE, "base", "a");
    connect_links(builder, "jc", DYN_JOINT_TYPE_FIXED, "base", "c");
    add_mimic(builder, "jb", DYN_JOINT_TYPE_REVOLUTE, "b", "ja", 0, 0.5);
    dyn_report *report = new_report();
    dyn_model *model = build_model(builder, NULL, report);
    ck_assert(model->bodies[1].ratio == 0 && model->bodies[1].offset == 0.5);
    expect_entry(report, DYN_SEVERITY_NOTE, 0, "joint jb", "stays at 0.5");
    dyn_report_free(report);
    dyn_model_free(model);
}
END_TEST

/* The angle of the coupled joint overflows, so that its link has neither a position nor a rotation. */
START_TEST(pose_beyond_the_range_is_refused_in_each_result) {
    dyn_builder *builder = hand();
    connect_links(builder, "ja", DYN_JOINT_TYPE_REVOLUTE, "base", "a");
    add_mimic(builder, "jb", DYN_JOINT_TYPE_REVOLUTE, "b", "ja", 1e10, 0);
    add_mimic(builder, "jc", DYN_JOINT_TYPE_PRISMATIC, "c", "ja", 1e10, 0);
    dyn_model *model = build_model(builder, NULL, NULL);
    dyn_workspace *workspace;
    dyn_error error;
    const double q[2] = {1, 1e300};
    double position[6], rotation[18];
    int turned, moved;
    ck_assert_int_eq(dyn_model_find_frame(model, "b", &turned, &error), DYN_OK);
    ck_assert_int_eq(dyn_model_find_frame(model, "c", &moved, &error), DYN_OK);
    ck_assert_int_eq(dyn_workspace_create(model, &workspace, &error), DYN_OK);
    expect_error(dyn_frame_pose(model, workspace, 2, q, turned, NULL, rotation, &error), &error, DYN_INVALID_ARGUMENT,
                 "rotation", "beyond the range of double precision");
    ck_assert_uint_eq(error.site.sample, 1);
    expect_error(dyn_frame_pose(model, workspace, 2, q, moved, position, NULL, &error), &error, DYN_INVALID_ARGUMENT,
                 "position", "beyond the range of double precision");
    ck_assert_uint_eq(error.site.sample, 1);
    ck_assert_int_eq(dyn_frame_pose(model, workspace, 1, q, turned, position, rotation, &error), DYN_OK);
    dyn_workspace_free(workspace);
    dyn_model_free(model);
}
END_TEST

START_TEST(coupling_of_a_fixed_joint_is_ignored) {
    dyn_builder *builder = hand();
    connect_links(builder, "ja", DYN_JOINT_TYPE_REVOLUTE, "base", "a");
    connect_links(builder, "jc", DYN_JOINT_TYPE_REVOLUTE, "base", "c");
    add_mimic(builder, "jb", DYN_JOINT_TYPE_FIXED, "b", "ja", 1, 0);
    dyn_report *report = new_report();
    dyn_model *model = build_model(builder, NULL, report);
    ck_assert(!dyn_model_has_coupling(model));
    expect_entry(report, DYN_SEVERITY_NOTE, 0, "joint jb", "it is fixed");
    dyn_report_free(report);
    dyn_model_free(model);
}
END_TEST

START_TEST(unknown_master_is_named) {
    dyn_builder *builder = hand();
    add_mimic(builder, "ja", DYN_JOINT_TYPE_REVOLUTE, "a", "nowhere", 1, 0);
    connect_links(builder, "jb", DYN_JOINT_TYPE_REVOLUTE, "base", "b");
    connect_links(builder, "jc", DYN_JOINT_TYPE_REVOLUTE, "base", "c");
    expect_refusal(builder, "joint ja", "mimics joint \"nowhere\", which does not exist");
}
END_TEST

START_TEST(only_joints_with_one_coordinate_are_coupled) {
    dyn_builder *builder = hand();
    add_mimic(builder, "ja", DYN_JOINT_TYPE_PLANAR, "a", "jb", 1, 0);
    connect_links(builder, "jb", DYN_JOINT_TYPE_REVOLUTE, "base", "b");
    connect_links(builder, "jc", DYN_JOINT_TYPE_REVOLUTE, "base", "c");
    expect_refusal(builder, "joint ja", "it is planar");
    builder = hand();
    add_mimic(builder, "ja", DYN_JOINT_TYPE_REVOLUTE, "a", "jb", 1, 0);
    connect_links(builder, "jb", DYN_JOINT_TYPE_FIXED, "base", "b");
    connect_links(builder, "jc", DYN_JOINT_TYPE_REVOLUTE, "base", "c");
    expect_refusal(builder, "joint ja", "\"jb\", which is fixed");
}
END_TEST

START_TEST(cycles_are_refused) {
    dyn_builder *builder = hand();
    add_mimic(builder, "ja", DYN_JOINT_TYPE_REVOLUTE, "a", "ja", 1, 0);
    connect_links(builder, "jb", DYN_JOINT_TYPE_REVOLUTE, "base", "b");
    connect_links(builder, "jc", DYN_JOINT_TYPE_REVOLUTE, "base", "c");
    expect_refusal(builder, "joint ja", "cycle");
    builder = hand();
    add_mimic(builder, "ja", DYN_JOINT_TYPE_REVOLUTE, "a", "jb", 1, 0);
    add_mimic(builder, "jb", DYN_JOINT_TYPE_REVOLUTE, "b", "jc", 1, 0);
    add_mimic(builder, "jc", DYN_JOINT_TYPE_REVOLUTE, "c", "jb", 1, 0);
    expect_refusal(builder, "joint jb", "cycle");
}
END_TEST

START_TEST(overflowing_chain_is_refused) {
    dyn_builder *builder = hand();
    add_mimic(builder, "ja", DYN_JOINT_TYPE_REVOLUTE, "a", "jb", 1e200, 0);
    add_mimic(builder, "jb", DYN_JOINT_TYPE_REVOLUTE, "b", "jc", 1e200, 0);
    connect_links(builder, "jc", DYN_JOINT_TYPE_REVOLUTE, "base", "c");
    expect_refusal(builder, "joint ja", "must be finite");
}
END_TEST

START_TEST(long_chain_is_resolved) {
    enum { LENGTH = 9000 };
    dyn_builder *builder = new_builder();
    add_link(builder, "base");
    for (int i = 0; i < LENGTH; i++) {
        char link[16], joint[16], master[16];
        snprintf(link, sizeof link, "l%d", i);
        snprintf(joint, sizeof joint, "j%d", i);
        snprintf(master, sizeof master, "j%d", i + 1);
        add_link(builder, link);
        if (i + 1 < LENGTH) {
            add_mimic(builder, joint, DYN_JOINT_TYPE_REVOLUTE, link, master, 1, 1);
        } else {
            connect_links(builder, joint, DYN_JOINT_TYPE_REVOLUTE, "base", link);
        }
    }
    dyn_model *model = build_model(builder, NULL, NULL);
    ck_assert_int_eq(dyn_model_nv(model), 1);
    ck_assert(dyn_model_joint(model, 0)->offset == LENGTH - 1);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("mimic");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, chains_are_composed_to_the_last_master);
    tcase_add_test(tests, independent_mimic_joints_are_joints_like_any_other);
    tcase_add_test(tests, zero_multiplier_keeps_the_joint_at_its_offset);
    tcase_add_test(tests, pose_beyond_the_range_is_refused_in_each_result);
    tcase_add_test(tests, coupling_of_a_fixed_joint_is_ignored);
    tcase_add_test(tests, unknown_master_is_named);
    tcase_add_test(tests, only_joints_with_one_coordinate_are_coupled);
    tcase_add_test(tests, cycles_are_refused);
    tcase_add_test(tests, overflowing_chain_is_refused);
    tcase_add_test(tests, long_chain_is_resolved);
    return run_tests(tests);
}
