/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests elements of URDF documents that are constraints: each is the constraint that a builder adds by hand, and a bad
 * one is refused with its line. Published robots are skipped where their files are missing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "robots.h"

#define LINK(name)                                                                                                     \
    "<link name=\"" name "\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" "           \
    "iyz=\"0\" izz=\"1\"/></inertial></link>"
#define JOINT(name, type, parent, child)                                                                               \
    "<joint name=\"" name "\" type=\"" type "\"><parent link=\"" parent "\"/><child link=\"" child "\"/>"              \
    "<axis xyz=\"0 0 1\"/></joint>"
/* Two arms on a base; the left one has two links, and the hand is fixed to the second. */
#define ARMS                                                                                                           \
    "<link name=\"base\"/>" LINK("upper") LINK("lower") LINK("right") LINK("hand")                                     \
        JOINT("shoulder", "continuous", "base", "upper") JOINT("elbow", "continuous", "upper", "lower")                \
            JOINT("other", "continuous", "base", "right") JOINT("weld", "fixed", "lower", "hand")
#define ROBOT(constraint) "<robot name=\"r\">" ARMS "\n" constraint "</robot>"

/* Poses that the elements below state. */
static const dyn_pose identity = {{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
static const dyn_pose shifted = {{1, 2, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
static const dyn_pose point = {{4, 5, 6}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};

static char *canonical(const dyn_model *model) {
    char *text;
    size_t length;
    dyn_error error;
    ck_assert_msg(dyn_model_canonical(model, &text, &length, &error) == DYN_OK, "%s", error.message);
    return text;
}

/* Asserts that a document is the robot of ROBOT with one constraint. */
static void expect_constraint(const char *document, const dyn_constraint_description *constraint) {
    dyn_builder *builder;
    dyn_error error;
    const char tree[] = ROBOT("");
    ck_assert_int_eq(dyn_urdf_read(tree, strlen(tree), NULL, &builder, &error), DYN_OK);
    ck_assert_msg(dyn_builder_add_constraint(builder, constraint, &error) == DYN_OK, "%s", error.message);
    dyn_model *expected = build_model(builder, NULL, NULL), *read = load_urdf(document, NULL, NULL);
    char *expected_text = canonical(expected), *text = canonical(read);
    ck_assert_str_eq(text, expected_text);
    dyn_text_free(text), dyn_text_free(expected_text);
    dyn_model_free(read), dyn_model_free(expected);
}

START_TEST(a_loop_is_a_loop_joint) {
    const dyn_constraint_description revolute = {.name = "loop",
                                                 .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
                                                 .type = DYN_JOINT_TYPE_REVOLUTE,
                                                 .predecessor = {"lower", shifted},
                                                 .successor = {"right", point},
                                                 .axis = {0, 1, 0}};
    expect_constraint(ROBOT("<loop name=\"loop\" type=\"revolute\"><predecessor link=\"lower\"><origin xyz=\"1 2 3\"/>"
                            "</predecessor><successor link=\"right\"><origin xyz=\"4 5 6\" rpy=\"0 0 0\"/></successor>"
                            "<axis xyz=\"0 1 0\"/></loop>"),
                      &revolute);
    static const char *const prefixes[] = {"", "drake:"};
    for (int i = 0; i < COUNT(prefixes); i++) {
        char document[4096];
        snprintf(document, sizeof document,
                 ROBOT("<%sloop_joint name=\"loop\" type=\"revolute\"><link1 link=\"lower\" xyz=\"1 2 3\"/>"
                       "<link2 link=\"right\" xyz=\"4 5 6\"/><axis xyz=\"0 1 0\"/></%sloop_joint>"),
                 prefixes[i], prefixes[i]);
        expect_constraint(document, &revolute);
    }
    const dyn_constraint_description weld = {.name = "loop",
                                             .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
                                             .type = DYN_JOINT_TYPE_FIXED,
                                             .predecessor = {NULL, identity},
                                             .successor = {"hand", identity}};
    expect_constraint(ROBOT("<loop name=\"loop\" type=\"fixed\"><successor link=\"hand\"/><predecessor link=\"world\"/>"
                            "</loop>"),
                      &weld);
}
END_TEST

START_TEST(constraints_of_drake_have_names_of_their_own_or_numbers) {
    const dyn_constraint_description ball = {.name = "ball_constraint_1",
                                             .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
                                             .type = DYN_JOINT_TYPE_SPHERICAL,
                                             .predecessor = {"lower", shifted},
                                             .successor = {"right", point}};
    expect_constraint(
        ROBOT("<drake:ball_constraint><drake:ball_constraint_body_A name=\"lower\"/><drake:ball_constraint_body_B "
              "name=\"right\"/><drake:ball_constraint_p_AP value=\"1 2 3\"/><drake:ball_constraint_p_BQ value=\"4 5 "
              "6\"/></drake:ball_constraint>"),
        &ball);
    const dyn_constraint_description rod = {.name = "rod",
                                            .kind = DYN_CONSTRAINT_KIND_DISTANCE,
                                            .predecessor = {"lower", shifted},
                                            .successor = {"right", identity},
                                            .distance = 0.5};
    expect_constraint(ROBOT("<drake:distance_constraint name=\"rod\"><drake:distance_constraint_body_A name=\"lower\"/>"
                            "<drake:distance_constraint_body_B name=\"right\"/><drake:distance_constraint_p_AP "
                            "value=\"1 2 3\"/><drake:distance_constraint_distance value=\"0.5\"/>"
                            "</drake:distance_constraint>"),
                      &rod);
}
END_TEST

/* The joints of a coupling are those below the last link that carries both sides; fixed joints do not count. */
START_TEST(a_coupling_has_the_joints_that_move_its_links) {
    const dyn_constraint_description gear = {
        .name = "gear", .kind = DYN_CONSTRAINT_KIND_COUPLING, .coupled = {{"shoulder", 6}, {"other", -1}}};
    expect_constraint(ROBOT("<coupling name=\"gear\" type=\"rolling\"><predecessor link=\"upper\"/>"
                            "<successor link=\"right\"/><ratio value=\"6\"/></coupling>"),
                      &gear);
    static const char before[] =
        "<robot name=\"r\">\n<coupling name=\"gear\"><predecessor link=\"hand\"/><successor link=\"rotor\"/>"
        "<ratio value=\"-3\"/></coupling>" ARMS LINK("rotor") JOINT("spin", "continuous", "upper", "rotor") "</robot>";
    dyn_model *model = load_urdf(before, NULL, NULL);
    char *text = canonical(model);
    ck_assert_ptr_nonnull(strstr(text, "gear"));
    ck_assert_int_eq(dyn_model_constraint_rows(model), 1);
    dyn_workspace *workspace;
    dyn_error error;
    ck_assert_int_eq(dyn_workspace_create(model, &workspace, &error), DYN_OK);
    const int elbow = dyn_model_joint(model, dyn_model_find_joint(model, "elbow"))->v_index;
    const int spin = dyn_model_joint(model, dyn_model_find_joint(model, "spin"))->v_index;
    double q[4] = {0}, A[4], e;
    q[elbow] = 0.5, q[spin] = -1.5;
    ck_assert_int_eq(dyn_constraint_rows(model, workspace, 1, q, NULL, A, NULL, &e, &error), DYN_OK);
    ck_assert_double_eq(A[elbow], -3);
    ck_assert_double_eq(A[spin], -1);
    ck_assert_double_eq_tol(e, 0, 1e-15);
    dyn_workspace_free(workspace);
    dyn_text_free(text);
    dyn_model_free(model);
}
END_TEST

static const struct {
    const char *constraint, *fragment;
} bad[] = {
    {"<loop type=\"revolute\"/>", "<constraint> has no attribute name; add it"},
    {"<loop name=\"x\" type=\"hinge\"/>", "constraint x: the type \"hinge\" is unknown; use fixed, revolute"},
    {"<loop name=\"x\" type=\"floating\"><predecessor link=\"upper\"/><successor link=\"right\"/></loop>",
     "constraint x: a floating joint cannot close a loop"},
    {"<loop name=\"x\" type=\"fixed\"><predecessor link=\"upper\"/></loop>", "constraint x: it has no <successor>"},
    {"<loop name=\"x\" type=\"fixed\"><predecessor/></loop>", "<predecessor> has no attribute link"},
    {"<loop name=\"x\" type=\"fixed\"><predecessor link=\"nobody\"/><successor link=\"right\"/></loop>",
     "constraint x: there is no link nobody"},
    {"<loop name=\"x\" type=\"fixed\"><predecessor link=\"right\"/><successor link=\"right\"/></loop>",
     "constraint x: both of its sides are on the same link"},
    {"<loop name=\"x\" type=\"revolute\"><predecessor link=\"upper\"/><successor link=\"right\"/><axis xyz=\"0 0 0\"/>"
     "</loop>",
     "constraint x: the axis is (0, 0, 0)"},
    {"<loop name=\"x\" type=\"revolute\"><predecessor link=\"upper\"><origin xyz=\"nan 0 0\"/></predecessor></loop>",
     "constraint x: <origin> has xyz=\"nan 0 0\"; write 3 finite"},
    {"<loop_joint name=\"x\" type=\"spherical\"><link1 link=\"upper\"/></loop_joint>",
     "constraint x: it has no <link2>; add it"},
    {"<drake:ball_constraint><drake:ball_constraint_body_B name=\"upper\"/></drake:ball_constraint>",
     "constraint ball_constraint_1: it has no <drake:ball_constraint_body_A>"},
    {"<drake:distance_constraint/>", "it has no <drake:distance_constraint_distance>"},
    {"<drake:distance_constraint><drake:distance_constraint_body_A name=\"upper\"/><drake:distance_constraint_body_B "
     "name=\"right\"/><drake:distance_constraint_distance value=\"-1\"/></drake:distance_constraint>",
     "constraint distance_constraint_1: the distance is -1 m"},
    {"<coupling name=\"x\"><predecessor link=\"upper\"/><successor link=\"right\"/></coupling>",
     "constraint x: it has no <ratio>"},
    {"<coupling name=\"x\"><ratio value=\"0\"/></coupling>", "constraint x: <ratio> has value=\"0\""},
    {"<coupling name=\"x\" type=\"belt\"/>", "constraint x: the type \"belt\" is unknown"},
    {"<coupling name=\"x\"><predecessor link=\"no\"/><successor link=\"right\"/><ratio value=\"1\"/></coupling>",
     "constraint x: there is no link no; correct the name"},
    {"<coupling name=\"x\"><predecessor link=\"lower\"/><successor link=\"right\"/><ratio value=\"1\"/></coupling>",
     "constraint x: 2 moving joints are between the link lower"},
    {"<coupling name=\"x\"><predecessor link=\"upper\"/><successor link=\"lower\"/><ratio value=\"1\"/></coupling>",
     "constraint x: 0 moving joints are between the link upper"},
};

START_TEST(a_bad_constraint_is_refused_with_its_line) {
    char document[4096];
    dyn_model *model = NULL;
    dyn_error error;
    snprintf(document, sizeof document, "<robot name=\"r\">" ARMS "\n%s</robot>", bad[_i].constraint);
    dyn_status status = dyn_urdf_load(document, strlen(document), NULL, NULL, &model, &error);
    expect_error(status, &error, DYN_INVALID_ARGUMENT, "urdf:2", bad[_i].fragment);
}
END_TEST

START_TEST(values_without_effect_are_reported) {
    dyn_report *report = new_report();
    static const char document[] =
        "<robot name=\"r\">" ARMS "\n<drake:distance_constraint name=\"rod\"><drake:distance_constraint_body_A "
        "name=\"lower\"/><drake:distance_constraint_body_B name=\"right\"/><drake:distance_constraint_distance "
        "value=\"1\"/>\n<drake:distance_constraint_stiffness value=\"9\"/></drake:distance_constraint>\n"
        "<loop name=\"loop\" type=\"revolute\"><predecessor link=\"lower\"/><successor link=\"right\"/></loop>\n" LINK(
            "tip") "<joint name=\"wrist\" type=\"fixed\" independent=\"false\"><parent link=\"hand\"/><child "
                   "link=\"tip\"/></joint></robot>";
    dyn_model_free(load_urdf(document, NULL, report));
    expect_entry(report, DYN_SEVERITY_WARNING, 3, "constraint rod", "the distance is rigid");
    expect_entry(report, DYN_SEVERITY_NOTE, 4, "constraint loop", "it has no <axis>: the axis is 1 0 0");
    expect_entry(report, DYN_SEVERITY_NOTE, 5, "joint wrist", "the attribute independent of <joint> is ignored");
    dyn_report_free(report);
}
END_TEST

/* Published robots in URDF+, and the number of rows of their constraints. */
static const struct {
    const char *name;
    int rows;
} published[] = {
    {"four_bar", 5}, {"six_bar", 5}, {"planar_leg_linkage", 5}, {"mini_cheetah", 12}, {"revolute_rotor_chain", 3}};

START_TEST(published_robots_have_their_constraints) {
    char path[512];
    size_t length;
    snprintf(path, sizeof path, "%s/closed_loops/%s.urdf", DYNAMICS_REFERENCE_DIR, published[_i].name);
    char *text = read_whole_file(path, &length);
    if (text) {
        dyn_model *model = load_urdf(text, NULL, NULL);
        ck_assert_int_eq(dyn_model_constraint_rows(model), published[_i].rows);
        dyn_model_free(model);
        free(text);
    }
}
END_TEST

int main(void) {
    TCase *all = tcase_create("urdf_constraints");
    tcase_add_test(all, a_loop_is_a_loop_joint);
    tcase_add_test(all, constraints_of_drake_have_names_of_their_own_or_numbers);
    tcase_add_test(all, a_coupling_has_the_joints_that_move_its_links);
    tcase_add_loop_test(all, a_bad_constraint_is_refused_with_its_line, 0, COUNT(bad));
    tcase_add_test(all, values_without_effect_are_reported);
    tcase_add_loop_test(all, published_robots_have_their_constraints, 0, COUNT(published));
    return run_tests(all);
}
