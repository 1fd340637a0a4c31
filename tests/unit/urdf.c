/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the reader of URDF: the meaning of each element, and the report on elements that it ignores.
 */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "robots.h"
#include "lib/src/model/number.h"

/* File with every element and attribute, in which joints precede links and children precede parents. */
static const char everything[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                                 /* 1 */
    "<robot name=\"all\" version=\"1.0\" xmlns:xacro=\"http://ros.org/wiki/xacro\">\n"             /* 2 */
    "  <joint name=\"slide\" type=\"prismatic\">\n"                                                /* 3 */
    "    <origin xyz=\"1 2 3\" rpy=\"0.1 0.2 0.3\"/>\n"                                            /* 4 */
    "    <parent link=\"arm\"/><child link=\"tool\"/>\n"                                           /* 5 */
    "    <axis xyz=\"0 -2 0\"/>\n"                                                                 /* 6 */
    "    <limit lower=\"-0.5\" upper=\"0.25\" effort=\"7\" velocity=\"8\"/>\n"                     /* 7 */
    "    <dynamics damping=\"0.7\" friction=\"0.3\"/>\n"                                           /* 8 */
    "    <mimic joint=\"turn\" multiplier=\"-3\" offset=\"0.125\"/>\n"                             /* 9 */
    "    <safety_controller k_velocity=\"1\"/>\n"                                                  /* 10 */
    "  </joint>\n"                                                                                 /* 11 */
    "  <joint name=\"turn\" type=\"continuous\">\n"                                                /* 12 */
    "    <parent link=\"base\"/><child link=\"arm\"/>\n"                                           /* 13 */
    "  </joint>\n"                                                                                 /* 14 */
    "  <link name=\"tool\"/>\n"                                                                    /* 15 */
    "  <link name=\"arm\">\n"                                                                      /* 16 */
    "    <visual><geometry><mesh filename=\"package://none.stl\"/></geometry></visual>\n"          /* 17 */
    "    <visual/><collision/>\n"                                                                  /* 18 */
    "    <inertial><origin xyz=\"0.1 0.2 0.3\" rpy=\"0 0 1.5707963267948966\"/>\n"                 /* 19 */
    "      <mass value=\"2.5\"/>\n"                                                                /* 20 */
    "      <inertia ixx=\"1\" ixy=\"0.25\" ixz=\"0.5\" iyy=\"2\" iyz=\"0.125\" izz=\"2.5\"/>\n"    /* 21 */
    "    </inertial>\n"                                                                            /* 22 */
    "  </link>\n"                                                                                  /* 23 */
    "  <link name=\"base\"/>\n"                                                                    /* 24 */
    "  <gazebo reference=\"arm\"><joint name=\"x\"/></gazebo><gazebo/>\n"                          /* 25 */
    "  <transmission name=\"t\"/>\n"                                                               /* 26 */
    "  <joynt name=\"typo\"/>\n"                                                                   /* 27 */
    "  <link name=\"pad\" color=\"red\"/>\n"                                                       /* 28 */
    "  <joint name=\"weld\" type=\"fixed\"><parent link=\"tool\"/><child link=\"pad\"/></joint>\n" /* 29 */
    "</robot>\n";

START_TEST(every_element_is_read) {
    dyn_model *model = load_urdf(everything, NULL, NULL);
    ck_assert_str_eq(dyn_model_name(model), "all");
    ck_assert_int_eq(dyn_model_nq(model), 1);
    ck_assert_int_eq(dyn_model_link_count(model), 4);
    const dyn_joint *turn = dyn_model_joint(model, 0), *slide = dyn_model_joint(model, 1);
    ck_assert_str_eq(turn->name, "turn");
    ck_assert_int_eq(turn->type, DYN_JOINT_TYPE_CONTINUOUS);
    ck_assert(turn->axis[0] == 1 && turn->axis[1] == 0 && turn->axis[2] == 0);
    ck_assert(!turn->has_limits);
    ck_assert_int_eq(slide->type, DYN_JOINT_TYPE_PRISMATIC);
    ck_assert(slide->axis[0] == 0 && slide->axis[1] == -1 && slide->axis[2] == 0);
    ck_assert(slide->origin.position[0] == 1 && slide->origin.position[1] == 2 && slide->origin.position[2] == 3);
    ck_assert(slide->has_limits && slide->limits.lower == -0.5 && slide->limits.upper == 0.25);
    ck_assert(slide->limits.effort == 7 && slide->limits.velocity == 8);
    ck_assert(slide->damping == 0.7 && slide->friction == 0.3);
    ck_assert(slide->master == 0 && slide->multiplier == -3 && slide->offset == 0.125);
    dyn_model_free(model);
}
END_TEST

START_TEST(angles_are_turns_about_fixed_x_then_y_then_z) {
    dyn_model *model = load_urdf(everything, NULL, NULL);
    const double *R = dyn_model_joint(model, 1)->origin.rotation;
    double r = 0.1, p = 0.2, y = 0.3;
    /* Columns are the images of x, y and z under Rz(y) Ry(p) Rx(r), computed one rotation after the other. */
    const double x[3][3] = {{1, 0, 0}, {0, cos(r), sin(r)}, {0, -sin(r), cos(r)}};
    for (int k = 0; k < 3; k++) {
        double a[3] = {cos(p) * x[k][0] + sin(p) * x[k][2], x[k][1], -sin(p) * x[k][0] + cos(p) * x[k][2]};
        double b[3] = {cos(y) * a[0] - sin(y) * a[1], sin(y) * a[0] + cos(y) * a[1], a[2]};
        for (int i = 0; i < 3; i++) {
            ck_assert_double_eq_tol(R[3 * i + k], b[i], 1e-15);
        }
    }
    dyn_model_free(model);
}
END_TEST

START_TEST(inertia_is_turned_into_the_links_axes) {
    dyn_model *model = load_urdf(everything, NULL, NULL);
    const dyn_inertia *inertia = &dyn_model_link(model, 1)->inertia;
    ck_assert(inertia->mass == 2.5);
    ck_assert(inertia->center_of_mass[0] == 0.1 && inertia->center_of_mass[2] == 0.3);
    /* The inertia of the file is rotated by a quarter turn about z, from x to y and from y to -x. */
    const double expected[6] = {2, -0.25, -0.125, 1, 0.5, 2.5};
    for (int i = 0; i < 6; i++) {
        ck_assert_double_eq_tol(inertia->rotational[i], expected[i], 1e-15);
    }
    dyn_model_free(model);
}
END_TEST

START_TEST(report_names_all_that_is_ignored_with_its_line) {
    dyn_report *report = new_report();
    dyn_model_free(load_urdf(everything, NULL, report));
    expect_entry(report, DYN_SEVERITY_NOTE, 17, "link arm", "<visual> in <link> is ignored, 2 times");
    expect_entry(report, DYN_SEVERITY_NOTE, 18, "link arm", "<collision> in <link> is ignored: ");
    expect_entry(report, DYN_SEVERITY_NOTE, 25, "robot", "<gazebo> in <robot> is ignored, 2 times");
    expect_entry(report, DYN_SEVERITY_NOTE, 26, "robot", "<transmission> in <robot> is ignored");
    expect_entry(report, DYN_SEVERITY_NOTE, 10, "joint slide", "<safety_controller> in <joint> is ignored");
    expect_entry(report, DYN_SEVERITY_WARNING, 27, "robot",
                 "<joynt> in <robot> is ignored: URDF has no such element there");
    expect_entry(report, DYN_SEVERITY_WARNING, 28, "link pad", "the attribute color of <link> is ignored");
    expect_entry(report, DYN_SEVERITY_NOTE, 6, "joint slide", "length 2");
    expect_entry(report, DYN_SEVERITY_NOTE, 14, "joint turn", "no <axis>");
    expect_entry(report, DYN_SEVERITY_NOTE, 29, "joint weld", "link \"pad\" moves with joint slide");
    expect_entry(report, DYN_SEVERITY_NOTE, 3, "joint slide", "-3 times that of joint \"turn\" plus 0.125");
    expect_entry(report, DYN_SEVERITY_NOTE, 15, "link tool", "massless");
    dyn_report_free(report);
}
END_TEST

/* Returns the URDF of a robot of two links whose joint, on line 3, has this type and content. The caller frees it. */
static char *with_joint(const char *type, const char *content) {
    char *text;
    ck_assert_int_ge(asprintf(&text,
                              "<robot name='r'><link name='a'/><link name='b'>\n"
                              "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
                              "</inertial></link>\n"
                              "<joint name='j' type='%s'><parent link='a'/><child link='b'/>%s</joint></robot>",
                              type, content),
                     0);
    return text;
}

static const struct {
    const char *type, *content;
    dyn_severity severity;
    const char *fragment;
} joint_remarks[] = {
    {"revolute", "", DYN_SEVERITY_WARNING, "it has no <limit>"},
    {"prismatic", "<limit effort='1' velocity='1'/>", DYN_SEVERITY_WARNING, "neither lower nor upper"},
    {"revolute", "<limit lower='-1' upper='1'/>", DYN_SEVERITY_NOTE, "states no velocity and no effort"},
    {"revolute", "<limit lower='-1' upper='1' effort='1'/>", DYN_SEVERITY_NOTE, "states no velocity"},
    {"revolute", "<limit lower='-1' upper='1' velocity='1'/>", DYN_SEVERITY_NOTE, "states no effort"},
    {"continuous", "<limit lower='-1' upper='1' effort='1' velocity='1'/>", DYN_SEVERITY_NOTE,
     "the range in <limit> is ignored"},
    {"revolute", "<limit lower='1' upper='-1'/>", DYN_SEVERITY_WARNING, "above its upper limit"},
    {"planar", "", DYN_SEVERITY_NOTE, "no <axis>"},
    {"fixed", "<axis xyz='1 0 0'/><axis xyz='0 1 0'/>", DYN_SEVERITY_WARNING,
     "<axis> occurs twice; the last one counts"},
    {"fixed", "stray", DYN_SEVERITY_WARNING, "text in <joint> is ignored"},
    {"fixed", "<ns:thing/>", DYN_SEVERITY_NOTE, "<ns:thing> in <joint> is ignored: it is an extension"},
    {"fixed", "<limits/>", DYN_SEVERITY_WARNING, "<limits> in <joint> is ignored: URDF has no such element there"},
    {"fixed", "<axis xyz='1 0 0'><deep/></axis>", DYN_SEVERITY_WARNING, "<deep> in <axis> is ignored"},
};

START_TEST(odd_joints_are_reported) {
    char *text = with_joint(joint_remarks[_i].type, joint_remarks[_i].content);
    dyn_report *report = new_report();
    dyn_model_free(load_urdf(text, NULL, report));
    expect_entry(report, joint_remarks[_i].severity, 3, "joint j", joint_remarks[_i].fragment);
    dyn_report_free(report);
    free(text);
}
END_TEST

START_TEST(every_joint_type_of_urdf_is_known) {
    static const struct {
        const char *type;
        int nq, nv;
    } types[] = {{"fixed", 0, 0},     {"revolute", 1, 1}, {"continuous", 1, 1},
                 {"prismatic", 1, 1}, {"planar", 3, 3},   {"floating", 7, 6}};
    for (int i = 0; i < COUNT(types); i++) {
        char *text = with_joint(types[i].type, "");
        dyn_model *model = load_urdf(text, NULL, NULL);
        ck_assert_int_eq(dyn_model_nq(model), types[i].nq);
        ck_assert_int_eq(dyn_model_nv(model), types[i].nv);
        dyn_model_free(model);
        free(text);
    }
}
END_TEST

START_TEST(incomplete_inertials_are_reported) {
    static const struct {
        const char *inertial, *fragment;
    } cases[] = {{"<mass value='1'/>", "has no <inertia>"},
                 {"", "has no <mass>"},
                 {"<mass value='1'/><mass value='2'/>", "<mass> occurs twice"}};
    for (int i = 0; i < COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text, "<robot name='r'><link name='a'>\n<inertial>%s</inertial></link></robot>",
                 cases[i].inertial);
        dyn_report *report = new_report();
        dyn_model_free(load_urdf(text, NULL, report));
        expect_entry(report, DYN_SEVERITY_WARNING, 2, "link a", cases[i].fragment);
        dyn_report_free(report);
    }
}
END_TEST

START_TEST(unnamed_robot_is_called_robot) {
    dyn_report *report = new_report();
    dyn_model *model = load_urdf("<robot><link name='a'/></robot>", NULL, report);
    ck_assert_str_eq(dyn_model_name(model), "robot");
    expect_entry(report, DYN_SEVERITY_WARNING, 1, "robot", "no name");
    dyn_report_free(report);
    dyn_model_free(model);
}
END_TEST

START_TEST(strict_loading_sees_the_readers_warnings) {
    static const char text[] = "<robot name='r'>\n<typo/><link name='a'/>\n</robot>";
    const dyn_build_options strict = DYN_BUILD_OPTIONS_INIT(.strict = true);
    dyn_model *model;
    dyn_error error;
    expect_error(dyn_urdf_load(text, strlen(text), &strict, NULL, &model, &error), &error, DYN_INVALID_ARGUMENT,
                 "urdf:2", "<typo>");
}
END_TEST

START_TEST(kinds_of_ignored_things_are_bounded) {
    enum { KINDS = 3000 };
    char *text = calloc(KINDS, 32);
    ck_assert_ptr_nonnull(text);
    char *end = stpcpy(text, "<robot name='r'><link name='a'/>");
    for (int i = 0; i < KINDS; i++) {
        end += sprintf(end, "<x%d/>", i);
    }
    strcpy(end, "</robot>");
    dyn_report *report = new_report();
    dyn_model_free(load_urdf(text, NULL, report));
    ck_assert_uint_lt(dyn_report_count(report), 600);
    expect_entry(report, DYN_SEVERITY_WARNING, 1, "robot", "something else is ignored, 2500 times");
    dyn_report_free(report);
    free(text);
}
END_TEST

START_TEST(numbers_are_read_strictly) {
    static const struct {
        const char *text;
        int count;
        double first;
    } cases[] = {
        {"1", 1, 1},
        {" -2.5e-3\n", 1, -2.5e-3},
        {"+.5", 1, 0.5},
        {"3.", 1, 3},
        {"1 2\t3", 3, 1},
        {"", 0, 0},
        {"  ", 0, 0},
        {"1e-400", 1, 0},
        {"nan", -1, 0},
        {"inf", -1, 0},
        {"-Infinity", -1, 0},
        {"0x10", -1, 0},
        {"1e999", -1, 0},
        {"1,5", -1, 0},
        {"1.5m", -1, 0},
        {"--1", -1, 0},
        {"1 2 3 4", -1, 0},
        {"e5", -1, 0},
        {".", -1, 0},
        {"1e", -1, 0},
        {"1.2.3", -1, 0},
        {"${pi}", -1, 0},
        {"\xC2\xA0"
         "1",
         -1, 0},
        {"1-2", -1, 0},
    };
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    for (int i = 0; i < COUNT(cases); i++) {
        double values[3] = {0};
        ck_assert_msg(numbers_read(cases[i].text, plain, 3, values) == cases[i].count, "\"%s\"", cases[i].text);
        ck_assert(cases[i].count < 1 || values[0] == cases[i].first);
    }
    freelocale(plain);
}
END_TEST

/* Creates a temporary file from the template `path` (mkstemp) and writes the bytes to it. */
static void write_file(char path[], const char *bytes, size_t size) {
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    FILE *file = fdopen(descriptor, "wb");
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(a_file_loads_as_its_text_does) {
    char path[] = "/tmp/dynamics-urdf-XXXXXX";
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_report *report = new_report();
    dyn_model *model;
    dyn_error error;
    write_file(path, everything, strlen(everything));
    ck_assert_int_eq(dyn_model_load_file(path, &floating, report, &model, &error), DYN_OK);
    ck_assert_str_eq(dyn_model_name(model), "all");
    ck_assert_int_eq(dyn_model_nq(model), 8);
    ck_assert_uint_gt(dyn_report_count(report), 0);
    dyn_model_free(model);
    dyn_report_free(report);
    remove(path);
}
END_TEST

START_TEST(files_that_cannot_be_read_are_errors_that_name_them) {
    char empty[] = "/tmp/dynamics-urdf-XXXXXX", broken[] = "/tmp/dynamics-urdf-XXXXXX";
    const struct {
        const char *path;
        dyn_status status;
        const char *place, *fragment;
    } cases[] = {
        {NULL, DYN_INVALID_ARGUMENT, "path", "NULL"},
        {"/tmp/dynamics-no-such-file", DYN_NOT_FOUND, "path",
         "/tmp/dynamics-no-such-file cannot be read: No such file"},
        {"/dev/null/robot.urdf", DYN_NOT_FOUND, "path", "Not a directory"},
        {"/tmp", DYN_FAILED_PRECONDITION, "path", "Is a directory"},
        {"/dev/zero", DYN_RESOURCE_EXHAUSTED, "path", "/dev/zero has more than 16777216 bytes"},
        {empty, DYN_INVALID_ARGUMENT, "urdf", "empty"},
        {broken, DYN_INVALID_ARGUMENT, "urdf:1", "not well-formed"},
    };
    write_file(empty, "", 0);
    write_file(broken, "<robot", 6);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dyn_model *model;
        dyn_error error;
        dyn_status status = dyn_model_load_file(cases[i].path, NULL, NULL, &model, &error);
        expect_error(status, &error, cases[i].status, cases[i].place, cases[i].fragment);
        ck_assert_ptr_null(model);
    }
    remove(empty);
    remove(broken);
}
END_TEST

START_TEST(largest_robot_is_read_in_linear_time) {
    char *text = calloc(DYN_MAX_LINKS, 200);
    ck_assert_ptr_nonnull(text);
    char *end = stpcpy(text, "<robot name='r'><link name='l0'/>\n");
    for (int i = 1; i < DYN_MAX_LINKS; i++) {
        end += sprintf(end,
                       "<link name='l%d'/><joint name='j%d' type='continuous'><parent link='l%d'/>"
                       "<child link='l%d'/><origin xyz='0 0 1'/></joint>\n",
                       i, i, i - 1, i);
    }
    strcpy(end, "</robot>");
    dyn_model *model = load_urdf(text, NULL, NULL);
    ck_assert_int_eq(dyn_model_nv(model), DYN_MAX_LINKS - 1);
    dyn_model_free(model);
    free(text);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("urdf");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_element_is_read);
    tcase_add_test(tests, angles_are_turns_about_fixed_x_then_y_then_z);
    tcase_add_test(tests, inertia_is_turned_into_the_links_axes);
    tcase_add_test(tests, report_names_all_that_is_ignored_with_its_line);
    tcase_add_loop_test(tests, odd_joints_are_reported, 0, COUNT(joint_remarks));
    tcase_add_test(tests, every_joint_type_of_urdf_is_known);
    tcase_add_test(tests, incomplete_inertials_are_reported);
    tcase_add_test(tests, unnamed_robot_is_called_robot);
    tcase_add_test(tests, strict_loading_sees_the_readers_warnings);
    tcase_add_test(tests, kinds_of_ignored_things_are_bounded);
    tcase_add_test(tests, numbers_are_read_strictly);
    tcase_add_test(tests, a_file_loads_as_its_text_does);
    tcase_add_test(tests, files_that_cannot_be_read_are_errors_that_name_them);
    tcase_add_test(tests, largest_robot_is_read_in_linear_time);
    return run_tests(tests);
}
