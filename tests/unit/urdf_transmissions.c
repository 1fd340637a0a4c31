/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transmissions of URDF documents: rotors of Drake, and transmissions that are ignored.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "robots.h"

/* Reads a robot with two joints and these transmissions, which begin in line 9. */
static dyn_status read_robot(const char *transmissions, dyn_report *report, dyn_builder **builder, dyn_error *error) {
    char text[2048];
    int length =
        snprintf(text, sizeof text,
                 "<robot name=\"geared\" xmlns:drake=\"http://drake.mit.edu\">\n"
                 "<link name=\"base\"/>\n"
                 "<link name=\"arm\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" "
                 "iyz=\"0\" izz=\"1\"/></inertial></link>\n"
                 "<link name=\"slide\"><inertial><mass value=\"1\"/></inertial></link>\n"
                 "<joint name=\"elbow\" type=\"continuous\"><parent link=\"base\"/><child link=\"arm\"/>\n"
                 "<axis xyz=\"0 0 1\"/></joint>\n"
                 "<joint name=\"rail\" type=\"prismatic\"><parent link=\"base\"/><child link=\"slide\"/>\n"
                 "<axis xyz=\"1 0 0\"/><limit lower=\"-1\" upper=\"1\" effort=\"1\" velocity=\"1\"/></joint>\n"
                 "%s</robot>\n",
                 transmissions);
    ck_assert_int_lt(length, (int)sizeof text);
    return dyn_urdf_read(text, (size_t)length, report, builder, error);
}

static dyn_builder *robot_with(const char *transmissions, dyn_report *report) {
    dyn_builder *builder;
    dyn_error error;
    dyn_status status = read_robot(transmissions, report, &builder, &error);
    ck_assert_msg(status == DYN_OK, "%s: %s", error.place, error.message);
    return builder;
}

/* Transmission of the elbow with these elements in its actuator. */
#define ELBOW(elements)                                                                                                \
    "<transmission name=\"t\"><type>transmission_interface/SimpleTransmission</type>\n"                                \
    "<joint name=\"elbow\"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>\n"                      \
    "<actuator name=\"motor\">" elements "</actuator></transmission>\n"

START_TEST(transmissions_of_drake_are_rotors) {
    dyn_builder *builder = robot_with(ELBOW("<drake:rotor_inertia value=\"1e-3\"/><drake:gear_ratio value=\"-50\"/>"
                                            "<mechanicalReduction>3</mechanicalReduction>"),
                                      NULL);
    ck_assert_int_eq(dyn_builder_machine_element_count(builder), 1);
    const dyn_machine_element_description *e = dyn_builder_machine_element(builder, 0);
    ck_assert_str_eq(e->name, "motor");
    ck_assert_str_eq(e->joint, "elbow");
    ck_assert_int_eq(e->kind, DYN_MACHINE_ELEMENT_KIND_ROTOR);
    ck_assert_double_eq(e->rotor.ratio, -50);
    ck_assert_double_eq(e->rotor.axial_inertia, 1e-3);
    ck_assert_int_eq(e->rotor.coupling, DYN_ROTOR_COUPLING_REFLECTED);
    dyn_model *model = build_model(builder, NULL, NULL);
    dyn_workspace *w;
    dyn_error error;
    double M[4];
    const double q[2] = {0};
    ck_assert_int_eq(dyn_workspace_create(model, &w, &error), DYN_OK);
    ck_assert_int_eq(dyn_crba(model, w, 1, q, M, &error), DYN_OK);
    ck_assert_double_eq_tol(M[0], 3.5, 1e-14);
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

START_TEST(gear_ratios_have_their_defaults) {
    dyn_builder *builder = robot_with(ELBOW("<drake:rotor_inertia value=\"2\"/><mechanicalReduction> 7 "
                                            "</mechanicalReduction>"),
                                      NULL);
    ck_assert_double_eq(dyn_builder_machine_element(builder, 0)->rotor.ratio, 7);
    dyn_builder_free(builder);
    builder = robot_with(ELBOW("<drake:rotor_inertia value=\"2\"/>"), NULL);
    ck_assert_double_eq(dyn_builder_machine_element(builder, 0)->rotor.ratio, 1);
    dyn_builder_free(builder);
}
END_TEST

START_TEST(transmissions_without_a_rotor_are_ignored) {
    dyn_report *report = new_report();
    dyn_builder *builder = robot_with(
        ELBOW("<mechanicalReduction>RATIO</mechanicalReduction><motorTorqueConstant/>") "<transmission "
                                                                                        "type=\"pr2\"><leftActuator/"
                                                                                        ">text</transmission>\n",
        report);
    ck_assert_int_eq(dyn_builder_machine_element_count(builder), 0);
    expect_entry(report, DYN_SEVERITY_NOTE, 11, "robot", "<transmission> in <robot> is ignored");
    dyn_builder_free(builder);
    dyn_report_free(report);
}
END_TEST

START_TEST(differential_transmissions_are_ignored_with_a_warning) {
    dyn_report *report = new_report();
    dyn_builder *builder = robot_with("<transmission name=\"t\"><joint name=\"elbow\"/><joint name=\"rail\"/>\n"
                                      "<actuator name=\"m\"><drake:rotor_inertia value=\"1\"/></actuator>"
                                      "</transmission>\n",
                                      report);
    ck_assert_int_eq(dyn_builder_machine_element_count(builder), 0);
    expect_entry(report, DYN_SEVERITY_WARNING, 10, "robot", "one joint and one actuator");
    dyn_builder_free(builder);
    dyn_report_free(report);
}
END_TEST

START_TEST(wrong_transmissions_are_refused_with_their_line) {
    dyn_builder *builder;
    dyn_error error;
    dyn_status status = read_robot(ELBOW("<drake:rotor_inertia value=\"-1\"/>"), NULL, &builder, &error);
    expect_error(status, &error, DYN_INVALID_ARGUMENT, "urdf:9", "-1; state a positive number");
    status =
        read_robot(ELBOW("<drake:rotor_inertia value=\"1\"/><drake:gear_ratio value=\"0\"/>"), NULL, &builder, &error);
    expect_error(status, &error, DYN_INVALID_ARGUMENT, "urdf:9", "the gear ratio is 0");
    status = read_robot(ELBOW("<drake:rotor_inertia value=\"heavy\"/>"), NULL, &builder, &error);
    expect_error(status, &error, DYN_INVALID_ARGUMENT, "urdf:11", "heavy");
    dyn_model *model;
    builder = robot_with("<transmission name=\"t\"><joint name=\"wrist\"/>\n"
                         "<actuator name=\"m\"><drake:rotor_inertia value=\"1\"/></actuator></transmission>\n",
                         NULL);
    status = dyn_builder_build(builder, NULL, NULL, &model, &error);
    expect_error(status, &error, DYN_INVALID_ARGUMENT, "urdf:9", "there is no joint \"wrist\"");
    dyn_builder_free(builder);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("transmissions");
    tcase_add_test(tests, transmissions_of_drake_are_rotors);
    tcase_add_test(tests, gear_ratios_have_their_defaults);
    tcase_add_test(tests, transmissions_without_a_rotor_are_ignored);
    tcase_add_test(tests, differential_transmissions_are_ignored_with_a_warning);
    tcase_add_test(tests, wrong_transmissions_are_refused_with_their_line);
    return run_tests(tests);
}
