/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the builder: refusals of single links and joints, and the report on a whole robot.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "robots.h"

START_TEST(robot_needs_a_name) {
    dyn_builder *builder;
    dyn_error error;
    expect_error(dyn_builder_create("", &builder, &error), &error, DYN_INVALID_ARGUMENT, "name", "no name");
    ck_assert_ptr_null(builder);
    expect_error(dyn_builder_create(NULL, &builder, &error), &error, DYN_INVALID_ARGUMENT, "name", "no name");
}
END_TEST

START_TEST(gravity_is_kept_and_must_be_finite) {
    dyn_builder *builder = new_builder();
    dyn_error error;
    const double moon[3] = {0, 0, -1.62}, bad[3] = {0, NAN, 0};
    expect_error(dyn_builder_set_gravity(builder, bad, &error), &error, DYN_INVALID_ARGUMENT, "gravity", "nan");
    ck_assert_int_eq(dyn_builder_set_gravity(builder, moon, &error), DYN_OK);
    add_link(builder, "a");
    dyn_model *model = build_model(builder, NULL, NULL);
    double gravity[3];
    dyn_model_gravity(model, gravity);
    ck_assert(gravity[0] == 0 && gravity[1] == 0 && gravity[2] == -1.62);
    dyn_model_free(model);
}
END_TEST

static const struct {
    dyn_inertia inertia;
    const char *fragment;
} bad_inertias[] = {
    {{.mass = -1}, "mass is -1 kg"},
    {{.mass = NAN}, "mass is nan"},
    {{.mass = INFINITY}, "mass is inf"},
    {{.mass = 1, .center_of_mass = {0, INFINITY, 0}}, "centre of mass is (0, inf, 0)"},
    {{.mass = 1, .rotational = {1, NAN, 0, 1, 0, 1}}, "not finite"},
};

START_TEST(bad_inertia_is_refused) {
    dyn_builder *builder = new_builder();
    dyn_link_description link = {.name = "wrist", .inertia = bad_inertias[_i].inertia};
    dyn_error error;
    expect_error(dyn_builder_add_link(builder, &link, &error), &error, DYN_INVALID_ARGUMENT, "link wrist",
                 bad_inertias[_i].fragment);
    dyn_builder_free(builder);
}
END_TEST

START_TEST(repeated_and_bad_names_are_refused) {
    dyn_builder *builder = new_builder();
    add_link(builder, "a");
    add_link(builder, "b");
    connect_links(builder, "j", DYN_JOINT_TYPE_FIXED, "a", "b");
    dyn_error error;
    dyn_link_description link = {.name = "a"};
    expect_error(dyn_builder_add_link(builder, &link, &error), &error, DYN_INVALID_ARGUMENT, "link a",
                 "two links of this name");
    link.name = "line\nfeed";
    expect_error(dyn_builder_add_link(builder, &link, &error), &error, DYN_INVALID_ARGUMENT, "link",
                 "\"line\\x0afeed\", is not printable at byte 4");
    dyn_joint_description joint = joint_between("j", DYN_JOINT_TYPE_FIXED, "b", "c");
    expect_error(dyn_builder_add_joint(builder, &joint, &error), &error, DYN_INVALID_ARGUMENT, "joint j",
                 "two joints of this name");
    joint.name = "";
    expect_error(dyn_builder_add_joint(builder, &joint, &error), &error, DYN_INVALID_ARGUMENT, "joint", "no name");
    dyn_builder_free(builder);
}
END_TEST

/* Adds the joint "elbow" and expects that it is refused with a message that contains the fragment. */
static void expect_bad_joint(const dyn_joint_description *joint, const char *fragment) {
    dyn_builder *builder = new_builder();
    dyn_error error;
    expect_error(dyn_builder_add_joint(builder, joint, &error), &error, DYN_INVALID_ARGUMENT, "joint elbow", fragment);
    dyn_builder_free(builder);
}

START_TEST(bad_joints_are_refused) {
    const dyn_joint_description good = joint_between("elbow", DYN_JOINT_TYPE_REVOLUTE, "a", "b");
    dyn_joint_description joint = good;
    joint.type = (dyn_joint_type)42;
    expect_bad_joint(&joint, "42 is no joint type");
    joint = good, joint.parent_link = NULL;
    expect_bad_joint(&joint, "no parent link");
    joint = good, joint.child_link = "";
    expect_bad_joint(&joint, "no child link");
    joint = good, joint.axis[2] = 0;
    expect_bad_joint(&joint, "axis is (0, 0, 0)");
    joint = good, joint.axis[0] = NAN;
    expect_bad_joint(&joint, "axis is (nan, 0, 1)");
    joint = good, joint.position[1] = INFINITY;
    expect_bad_joint(&joint, "position y is inf");
    joint = good, joint.rotation[0] = -1;
    expect_bad_joint(&joint, "rotation is none");
    joint = good, joint.rotation[4] = 1.001;
    expect_bad_joint(&joint, "rotation is none");
    joint = good, joint.damping = NAN;
    expect_bad_joint(&joint, "damping is nan");
    joint = good, joint.limits.effort = INFINITY;
    expect_bad_joint(&joint, "effort limit is inf");
    joint = good, joint.mimic_joint = "";
    expect_bad_joint(&joint, "the mimic joint has no name");
}
END_TEST

START_TEST(universal_joints_need_two_directions) {
    dyn_joint_description joint = joint_between("elbow", DYN_JOINT_TYPE_UNIVERSAL, "a", "b");
    memset(joint.second_axis, 0, sizeof joint.second_axis);
    expect_bad_joint(&joint, "second axis is (0, 0, 0)");
    joint.second_axis[2] = -3;
    expect_bad_joint(&joint, "parallel");
}
END_TEST

START_TEST(axes_are_normalized_exactly) {
    dyn_builder *builder = new_builder();
    add_link(builder, "a");
    add_link(builder, "b");
    dyn_joint_description joint = joint_between("j", DYN_JOINT_TYPE_REVOLUTE, "a", "b");
    joint.axis[2] = -0.3;
    add_joint(builder, &joint);
    dyn_model *model = build_model(builder, NULL, NULL);
    const double *axis = dyn_model_joint(model, 0)->axis;
    ck_assert(axis[0] == 0 && axis[1] == 0 && axis[2] == -1);
    dyn_model_free(model);
}
END_TEST

/* Returns the builder of the links "base" and "arm", which has this inertia, and of a joint "j" of this type. */
static dyn_builder *pair(dyn_joint_type type, const dyn_inertia *inertia) {
    dyn_builder *builder = new_builder();
    add_link(builder, "base");
    add_link_with(builder, "arm", inertia);
    connect_links(builder, "j", type, "base", "arm");
    return builder;
}

/* Builds two links with this joint and inertia (see `pair`), and expects an entry in the report. */
static void expect_remark(dyn_joint_type type, dyn_inertia inertia, dyn_severity severity, const char *place,
                          const char *fragment) {
    dyn_report *report = new_report();
    dyn_model *model = build_model(pair(type, &inertia), NULL, report);
    expect_entry(report, severity, 0, place, fragment);
    dyn_model_free(model);
    dyn_report_free(report);
}

START_TEST(odd_inertias_are_reported) {
    expect_remark(DYN_JOINT_TYPE_PRISMATIC, (dyn_inertia){.mass = 2}, DYN_SEVERITY_NOTE, "link arm", "point mass");
    expect_remark(DYN_JOINT_TYPE_PRISMATIC, (dyn_inertia){0}, DYN_SEVERITY_NOTE, "link arm", "massless");
    expect_remark(DYN_JOINT_TYPE_REVOLUTE, (dyn_inertia){.mass = 1, .rotational = {1, 0, 0, 1, 0, 3}},
                  DYN_SEVERITY_WARNING, "link arm", "triangle inequality");
    expect_remark(DYN_JOINT_TYPE_REVOLUTE, (dyn_inertia){.rotational = {1, 0, 0, 1, 0, 1}}, DYN_SEVERITY_WARNING,
                  "link arm", "inertia but no mass");
    expect_remark(DYN_JOINT_TYPE_FIXED, (dyn_inertia){.rotational = {1, 0, 0, 1, 0, 1}}, DYN_SEVERITY_WARNING,
                  "link arm", "inertia but no mass; no body is so; without effect, since it is fixed to the world");
    expect_remark(DYN_JOINT_TYPE_REVOLUTE, (dyn_inertia){.mass = 1, .rotational = {1, 2, 0, 1, 0, 1}},
                  DYN_SEVERITY_WARNING, "link arm", "-1, 1 and 3 kg m^2; no body has a negative one");
    expect_remark(DYN_JOINT_TYPE_FIXED, (dyn_inertia){.mass = 1}, DYN_SEVERITY_NOTE, "joint j",
                  "it is fixed and merged");
    expect_remark(DYN_JOINT_TYPE_FIXED, (dyn_inertia){.mass = 1}, DYN_SEVERITY_NOTE, "link base",
                  "2 links has no effect");
    expect_remark(DYN_JOINT_TYPE_FIXED, (dyn_inertia){.mass = 1}, DYN_SEVERITY_WARNING, "robot test", "no joint moves");
}
END_TEST

START_TEST(singular_mass_matrix_is_foreseen) {
    const dyn_inertia none = {0}, on_axis = {.mass = 1, .center_of_mass = {0, 0, 1}};
    const char *fragment = "the mass matrix is singular";
    expect_remark(DYN_JOINT_TYPE_REVOLUTE, on_axis, DYN_SEVERITY_WARNING, "joint j", fragment);
    expect_remark(DYN_JOINT_TYPE_PRISMATIC, none, DYN_SEVERITY_WARNING, "joint j", fragment);
    expect_remark(DYN_JOINT_TYPE_HELICAL, none, DYN_SEVERITY_WARNING, "joint j", fragment);
    expect_remark(DYN_JOINT_TYPE_CYLINDRICAL, on_axis, DYN_SEVERITY_WARNING, "joint j", fragment);
    expect_remark(DYN_JOINT_TYPE_SPHERICAL, on_axis, DYN_SEVERITY_WARNING, "joint j", fragment);
    expect_remark(DYN_JOINT_TYPE_FLOATING, on_axis, DYN_SEVERITY_WARNING, "joint j", fragment);
    expect_remark(DYN_JOINT_TYPE_PLANAR, on_axis, DYN_SEVERITY_WARNING, "joint j", fragment);
    expect_remark(DYN_JOINT_TYPE_UNIVERSAL, none, DYN_SEVERITY_WARNING, "joint j", fragment);
}
END_TEST

START_TEST(point_masses_off_the_axis_are_no_warning) {
    const dyn_inertia off_axis = {.mass = 1, .center_of_mass = {1, 0, 0}};
    static const dyn_joint_type types[] = {DYN_JOINT_TYPE_REVOLUTE, DYN_JOINT_TYPE_PRISMATIC, DYN_JOINT_TYPE_HELICAL,
                                           DYN_JOINT_TYPE_CYLINDRICAL};
    for (int i = 0; i < COUNT(types); i++) {
        dyn_report *report = new_report();
        dyn_model *model = build_model(pair(types[i], &off_axis), NULL, report);
        ck_assert_uint_eq(dyn_report_count_severity(report, DYN_SEVERITY_WARNING), 0);
        dyn_model_free(model);
        dyn_report_free(report);
    }
}
END_TEST

START_TEST(limits_are_kept_and_checked) {
    dyn_builder *builder = new_builder();
    add_link(builder, "a");
    add_link(builder, "b");
    dyn_joint_description joint = joint_between("j", DYN_JOINT_TYPE_REVOLUTE, "a", "b");
    joint.has_limits = true;
    joint.limits = (dyn_joint_limits){.lower = 1, .upper = -1, .velocity = -2, .effort = 3};
    add_joint(builder, &joint);
    dyn_report *report = new_report();
    dyn_model *model = build_model(builder, NULL, report);
    ck_assert(dyn_model_joint(model, 0)->limits.effort == 3);
    expect_entry(report, DYN_SEVERITY_WARNING, 0, "joint j", "lower limit 1 is above its upper limit -1");
    expect_entry(report, DYN_SEVERITY_WARNING, 0, "joint j", "velocity -2");
    dyn_report_free(report);
    dyn_model_free(model);
}
END_TEST

START_TEST(negative_damping_and_friction_are_refused) {
    dyn_builder *builder = new_builder();
    dyn_error error;
    for (int k = 0; k < 2; k++) {
        dyn_joint_description joint = joint_between("j", DYN_JOINT_TYPE_REVOLUTE, "a", "b");
        *(k == 0 ? &joint.damping : &joint.friction) = -0.5;
        expect_error(dyn_builder_add_joint(builder, &joint, &error), &error, DYN_INVALID_ARGUMENT, "joint j", "-0.5");
        ck_assert_str_eq(error.site.part, k == 0 ? "damping" : "friction");
    }
    dyn_builder_free(builder);
}
END_TEST

START_TEST(strict_building_refuses_warnings) {
    const dyn_inertia flat = {.mass = 1, .rotational = {1, 0, 0, 1, 0, 3}};
    dyn_builder *builder = pair(DYN_JOINT_TYPE_REVOLUTE, &flat);
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.strict = true);
    dyn_model *model;
    dyn_error error;
    for (int with_report = 0; with_report < 2; with_report++) {
        dyn_report *report = with_report ? new_report() : NULL;
        expect_error(dyn_builder_build(builder, &options, report, &model, &error), &error, DYN_INVALID_ARGUMENT,
                     "link arm", "triangle inequality");
        ck_assert_ptr_null(model);
        dyn_report_free(report);
    }
    dyn_builder_free(builder);
    builder = new_builder();
    add_link(builder, "a");
    add_link(builder, "b");
    connect_links(builder, "j", DYN_JOINT_TYPE_REVOLUTE, "a", "b");
    dyn_model_free(build_model(builder, &options, NULL)); /* Notes do not refuse the robot. */
}
END_TEST

START_TEST(options_are_checked) {
    dyn_builder *builder = new_builder();
    add_link(builder, "a");
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = (dyn_base)7);
    dyn_model *model;
    dyn_error error;
    expect_error(dyn_builder_build(builder, &options, NULL, &model, &error), &error, DYN_INVALID_ARGUMENT, "base",
                 "7 is no base");
    options = (dyn_build_options)DYN_BUILD_OPTIONS_INIT(.mimic = (dyn_mimic_policy)7);
    expect_error(dyn_builder_build(builder, &options, NULL, &model, &error), &error, DYN_INVALID_ARGUMENT, "mimic",
                 "7 is no mimic policy");
    dyn_builder_free(builder);
}
END_TEST

START_TEST(floating_base_carries_the_root) {
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_builder *builder = new_builder();
    add_link(builder, "a");
    add_link(builder, "b");
    connect_links(builder, "j", DYN_JOINT_TYPE_REVOLUTE, "a", "b");
    dyn_model *model = build_model(builder, &options, NULL);
    const dyn_joint *root = dyn_model_joint(model, 0);
    ck_assert(dyn_model_is_floating(model));
    ck_assert_str_eq(root->name, "root_joint");
    ck_assert_int_eq(root->type, DYN_JOINT_TYPE_FLOATING);
    ck_assert_int_eq(root->parent_link, -1);
    ck_assert_int_eq(root->child_link, 0);
    ck_assert_str_eq(dyn_model_link(model, 0)->parent_joint, "root_joint");
    ck_assert_int_eq(dyn_model_link(model, 0)->moving_joint, 0);
    ck_assert_int_eq(dyn_model_nq(model), 8);
    ck_assert_int_eq(dyn_model_nv(model), 7);
    ck_assert_double_eq(dyn_model_mass(model), 2);
    dyn_model_free(model);
}
END_TEST

START_TEST(name_of_the_floating_joint_is_reserved) {
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_builder *builder = new_builder();
    add_link(builder, "world");
    add_link(builder, "b");
    connect_links(builder, "root_joint", DYN_JOINT_TYPE_REVOLUTE, "world", "b");
    dyn_model *model;
    dyn_error error;
    expect_error(dyn_builder_build(builder, &options, NULL, &model, &error), &error, DYN_INVALID_ARGUMENT,
                 "joint root_joint", "rename the joint");
    dyn_model_free(build_model(builder, NULL, NULL)); /* A fixed base does not reserve the name. */
}
END_TEST

START_TEST(floating_world_has_one_warning) {
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_builder *builder = new_builder();
    add_link(builder, "world");
    dyn_report *report = new_report();
    dyn_model *model = build_model(builder, &options, report);
    expect_entry(report, DYN_SEVERITY_WARNING, 0, "link world", "pass a fixed base unless the world itself moves");
    ck_assert_uint_eq(dyn_report_count_severity(report, DYN_SEVERITY_WARNING), 1);
    dyn_report_free(report);
    dyn_model_free(model);
}
END_TEST

START_TEST(frames_are_found_by_link_then_joint_then_world) {
    dyn_builder *builder = new_builder();
    add_link(builder, "a");
    add_link(builder, "b");
    add_link(builder, "c");
    connect_links(builder, "c", DYN_JOINT_TYPE_REVOLUTE, "a", "b");
    connect_links(builder, "weld", DYN_JOINT_TYPE_FIXED, "b", "c");
    dyn_model *model = build_model(builder, NULL, NULL);
    const struct {
        const char *name;
        int frame;
    } frames[] = {{"a", 0}, {"b", 1}, {"c", 2}, {"weld", 2}, {"world", DYN_WORLD_FRAME}};
    for (int i = 0; i < COUNT(frames); i++) {
        int frame = -7;
        ck_assert_int_eq(dyn_model_find_frame(model, frames[i].name, &frame, NULL), DYN_OK);
        ck_assert_int_eq(frame, frames[i].frame);
    }
    int frame;
    dyn_error error;
    expect_error(dyn_model_find_frame(model, "nowhere", &frame, &error), &error, DYN_NOT_FOUND, "frame", "\"nowhere\"");
    ck_assert_int_eq(dyn_model_find_joint(model, "c"), 0);
    ck_assert_int_eq(dyn_model_find_joint(model, "weld"), -1);
    ck_assert_int_eq(dyn_model_find_joint(model, "a"), -1);
    ck_assert_ptr_null(dyn_model_joint(model, 1));
    ck_assert_ptr_null(dyn_model_link(model, -1));
    dyn_model_free(model);
}
END_TEST

START_TEST(builder_stays_usable) {
    dyn_builder *builder = new_builder();
    add_link(builder, "a");
    dyn_model *first;
    ck_assert_int_eq(dyn_builder_build(builder, NULL, NULL, &first, NULL), DYN_OK);
    add_link(builder, "b");
    connect_links(builder, "j", DYN_JOINT_TYPE_REVOLUTE, "a", "b");
    dyn_model *second = build_model(builder, NULL, NULL);
    ck_assert_int_eq(dyn_model_link_count(first), 1);
    ck_assert_str_eq(dyn_model_link(first, 0)->name, "a");
    ck_assert_int_eq(dyn_model_link_count(second), 2);
    dyn_model_free(first);
    dyn_model_free(second);
}
END_TEST

START_TEST(null_is_freed) {
    dyn_builder_free(NULL);
    dyn_model_free(NULL);
}
END_TEST

/* Checks the report on the base, which URDF does not state. If `words` is not NULL, an entry says that the base is
 * likely wrong; otherwise there is no such entry. */
static void check_base_report(const char *urdf, dyn_base base, dyn_severity severity, const char *place,
                              const char *words) {
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = base);
    dyn_report *report = new_report();
    dyn_model *model = load_urdf(urdf, &options, report);
    bool is_reported = false;
    for (size_t i = 0; i < dyn_report_count(report); i++) {
        is_reported = is_reported || strstr(dyn_report_at(report, i).message, "base if") ||
                      strstr(dyn_report_at(report, i).message, "base unless");
    }
    ck_assert_int_eq(is_reported, words != NULL);
    for (size_t i = 0; words && i < dyn_report_count(report); i++) {
        dyn_report_entry entry = dyn_report_at(report, i);
        if (strstr(entry.message, words)) {
            ck_assert_int_eq(entry.severity, severity);
            ck_assert_str_eq(entry.place, place);
            words = NULL;
        }
    }
    ck_assert_msg(!words, "no entry says \"%s\"", words);
    dyn_model_free(model);
    dyn_report_free(report);
}

/* Parts of URDF: the end of a link with mass, a joint with its child link, and robots, arms and legs made of them. */
#define MASS "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
#define PART(type, parent, child)                                                                                      \
    "<joint name='" child "_joint' type='" type "'><parent link='" parent "'/><child link='" child                     \
    "'/></joint><link name='" child "'>" MASS
#define TURN(parent, child) PART("continuous", parent, child)
#define ROBOT(root, parts) "<robot name='r'><link name='" root "'>" MASS parts "</robot>"
#define ARM(root) TURN(root, "a1") TURN("a1", "a2") TURN("a2", "a3")
#define LEG(root, name) TURN(root, name "1") TURN(name "1", name "2")

START_TEST(a_base_that_does_not_fit_the_robot_is_reported) {
    static const char arm[] = ROBOT("base", ARM("base")), arm_on_world[] = ROBOT("world", ARM("world")),
                      walker[] = ROBOT("trunk", PART("fixed", "trunk", "pelvis") LEG("pelvis", "l") LEG("pelvis", "r")
                                                    LEG("trunk", "back")),
                      two_arms[] = ROBOT("trunk", LEG("trunk", "l") LEG("trunk", "r")),
                      free_arm[] = ROBOT("base", PART("floating", "base", "body") ARM("body"));
    check_base_report(arm, DYN_BASE_FLOATING, DYN_SEVERITY_NOTE, "robot r", "looks like an arm on a fixed base");
    check_base_report(arm, DYN_BASE_FIXED, DYN_SEVERITY_NOTE, "", NULL);
    check_base_report(arm_on_world, DYN_BASE_FLOATING, DYN_SEVERITY_WARNING, "link world", "is the world as a rule");
    check_base_report(arm_on_world, DYN_BASE_FIXED, DYN_SEVERITY_NOTE, "", NULL);
    check_base_report(walker, DYN_BASE_FIXED, DYN_SEVERITY_NOTE, "robot r", "3 chains of joints leave its base");
    check_base_report(walker, DYN_BASE_FLOATING, DYN_SEVERITY_NOTE, "", NULL);
    check_base_report(two_arms, DYN_BASE_FIXED, DYN_SEVERITY_NOTE, "", NULL);
    check_base_report(free_arm, DYN_BASE_FLOATING, DYN_SEVERITY_WARNING, "joint body_joint", "the base floats too");
    check_base_report(free_arm, DYN_BASE_FIXED, DYN_SEVERITY_NOTE, "", NULL);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("builder");
    tcase_add_test(tests, a_base_that_does_not_fit_the_robot_is_reported);
    tcase_add_test(tests, robot_needs_a_name);
    tcase_add_test(tests, gravity_is_kept_and_must_be_finite);
    tcase_add_loop_test(tests, bad_inertia_is_refused, 0, COUNT(bad_inertias));
    tcase_add_test(tests, repeated_and_bad_names_are_refused);
    tcase_add_test(tests, bad_joints_are_refused);
    tcase_add_test(tests, universal_joints_need_two_directions);
    tcase_add_test(tests, axes_are_normalized_exactly);
    tcase_add_test(tests, odd_inertias_are_reported);
    tcase_add_test(tests, singular_mass_matrix_is_foreseen);
    tcase_add_test(tests, point_masses_off_the_axis_are_no_warning);
    tcase_add_test(tests, limits_are_kept_and_checked);
    tcase_add_test(tests, negative_damping_and_friction_are_refused);
    tcase_add_test(tests, strict_building_refuses_warnings);
    tcase_add_test(tests, options_are_checked);
    tcase_add_test(tests, floating_base_carries_the_root);
    tcase_add_test(tests, name_of_the_floating_joint_is_reserved);
    tcase_add_test(tests, floating_world_has_one_warning);
    tcase_add_test(tests, frames_are_found_by_link_then_joint_then_world);
    tcase_add_test(tests, builder_stays_usable);
    tcase_add_test(tests, null_is_freed);
    return run_tests(tests);
}
