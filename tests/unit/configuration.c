/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the zero configuration and the home configuration of a model.
 */
#include "robots.h"

/* Adds a link and a joint of this name, with limits, between "root" and the link. */
static void add_ranged(dyn_builder *builder, const char *name, dyn_joint_type type, double lower, double upper) {
    add_link(builder, name);
    dyn_joint_description joint = joint_between(name, type, "root", name);
    joint.has_limits = true;
    joint.limits.lower = lower;
    joint.limits.upper = upper;
    add_joint(builder, &joint);
}

START_TEST(home_is_zero_where_zero_is_allowed_and_else_the_middle) {
    dyn_builder *builder = new_builder();
    add_link(builder, "root");
    add_ranged(builder, "around", DYN_JOINT_TYPE_REVOLUTE, -1, 2);
    add_ranged(builder, "above", DYN_JOINT_TYPE_PRISMATIC, 1, 2);
    add_ranged(builder, "below", DYN_JOINT_TYPE_REVOLUTE, -3, -1);
    add_ranged(builder, "crossed", DYN_JOINT_TYPE_REVOLUTE, 2, 1);
    add_link(builder, "ball");
    connect_links(builder, "ball", DYN_JOINT_TYPE_SPHERICAL, "root", "ball");
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_model *model = build_model(builder, &options, NULL);
    static const double zero[15] = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1};
    static const double home[15] = {0, 0, 0, 0, 0, 0, 1, 0, 1.5, -2, 0, 0, 0, 0, 1};
    double q[15];
    ck_assert_int_eq(dyn_model_nq(model), 15);
    dyn_zero_configuration(model, q);
    for (int i = 0; i < 15; i++) {
        ck_assert(q[i] == zero[i]);
    }
    dyn_home_configuration(model, q);
    for (int i = 0; i < 15; i++) {
        ck_assert(q[i] == home[i]);
    }
    dyn_model_free(model);
}
END_TEST

START_TEST(coupled_joints_leave_their_masters_home_alone) {
    dyn_builder *builder = new_builder();
    add_link(builder, "root");
    add_link(builder, "a");
    connect_links(builder, "a", DYN_JOINT_TYPE_REVOLUTE, "root", "a");
    add_link(builder, "b");
    dyn_joint_description joint = joint_between("b", DYN_JOINT_TYPE_REVOLUTE, "root", "b");
    joint.has_limits = true;
    joint.limits = (dyn_joint_limits){.lower = 1, .upper = 2};
    joint.mimic_joint = "a";
    joint.mimic_multiplier = 1;
    add_joint(builder, &joint);
    dyn_model *model = build_model(builder, NULL, NULL);
    double q[1];
    dyn_home_configuration(model, q);
    ck_assert(q[0] == 0);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("configuration");
    tcase_add_test(tests, home_is_zero_where_zero_is_allowed_and_else_the_middle);
    tcase_add_test(tests, coupled_joints_leave_their_masters_home_alone);
    return run_tests(tests);
}
