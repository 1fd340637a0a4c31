/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transmissions of URDF documents: those of ROS, ros2_control and Drake, and refusals with their line.
 */
#include <stdio.h>
#include <string.h>

#include "robots.h"
#include "support/assertions.h"

/* Reads a robot with these transmissions, which begin in line 7. */
static dyn_status read_robot(const char *transmissions, dyn_builder **builder, dyn_error *error) {
    char text[2048];
    int length = snprintf(text, sizeof text,
                          "<robot name=\"geared\" xmlns:drake=\"http://drake.mit.edu\">\n"
                          "<link name=\"base\"/>\n"
                          "<link name=\"arm\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" "
                          "iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link>\n"
                          "<joint name=\"elbow\" type=\"continuous\"><parent link=\"base\"/>\n"
                          "<child link=\"arm\"/>\n"
                          "<axis xyz=\"0 0 1\"/></joint>\n"
                          "%s</robot>\n",
                          transmissions);
    ck_assert_int_lt(length, (int)sizeof text);
    require(dyn_urdf_read(text, (size_t)length, NULL, builder, error), error);
    ck_assert_int_eq(dyn_builder_machine_element_count(*builder), 0);
    return dyn_builder_read_transmissions(*builder, text, (size_t)length, error);
}

/* Transmission of the elbow with these elements in its actuator, which is in its third line. */
#define ELBOW(elements)                                                                                                \
    "<transmission name=\"t\"><type> transmission_interface/SimpleTransmission </type>\n"                              \
    "<joint name=\"elbow\"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>\n"                      \
    "<actuator name=\"motor\">" elements "</actuator></transmission>\n"

/* Returns the only element of a robot with these transmissions. The caller frees the builder. */
static const dyn_machine_element_description *element_of(const char *transmissions, dyn_builder **builder) {
    dyn_error error;
    require(read_robot(transmissions, builder, &error), &error);
    ck_assert_int_eq(dyn_builder_machine_element_count(*builder), 1);
    const dyn_machine_element_description *e = dyn_builder_machine_element(*builder, 0);
    ck_assert_str_eq(e->joint, "elbow");
    return e;
}

START_TEST(simple_transmissions_are_gears) {
    static const char *const texts[] = {
        ELBOW("<mechanicalReduction>-50</mechanicalReduction>"),
        "<ros2_control name=\"c\"><transmission name=\"t\"><plugin>transmission_interface/SimpleTransmission</plugin>"
        "<actuator name=\"m\"><mechanical_reduction>10</mechanical_reduction></actuator><joint name=\"elbow\">"
        "<mechanical_reduction>-5</mechanical_reduction></joint></transmission></ros2_control>"};
    for (int i = 0; i < 2; i++) {
        dyn_builder *builder;
        const dyn_machine_element_description *e = element_of(texts[i], &builder);
        ck_assert_str_eq(e->name, "t");
        ck_assert_int_eq(e->kind, DYN_MACHINE_ELEMENT_KIND_GEAR);
        ck_assert_double_eq(e->gear.ratio, -50);
        ck_assert_double_eq(e->gear.efficiency, 1);
        ck_assert_double_eq(e->gear.back_driving_efficiency, 1);
        dyn_model_free(build_model(builder, NULL, NULL));
    }
}
END_TEST

START_TEST(transmissions_of_drake_are_rotors) {
    dyn_builder *builder;
    const dyn_machine_element_description *e =
        element_of(ELBOW("<drake:rotor_inertia value=\"1e-3\"/><drake:gear_ratio value=\"-50\"/>"
                         "<mechanicalReduction>3</mechanicalReduction>"),
                   &builder);
    ck_assert_int_eq(e->kind, DYN_MACHINE_ELEMENT_KIND_ROTOR);
    ck_assert_double_eq(e->rotor.ratio, -50);
    ck_assert_double_eq(e->rotor.axial_inertia, 1e-3);
    ck_assert_int_eq(e->rotor.coupling, DYN_ROTOR_COUPLING_REFLECTED);
    dyn_model *model = build_model(builder, NULL, NULL);
    dyn_workspace *w;
    dyn_error error;
    const double q = 0;
    double M;
    require(dyn_workspace_create(model, &w, &error), &error);
    require(dyn_crba(model, w, 1, &q, &M, &error), &error);
    ck_assert_double_eq_tol(M, 1 + 2500 * 1e-3, 1e-12);
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

static void refuse(const char *transmissions, const char *place, const char *fragment) {
    dyn_builder *builder;
    dyn_error error;
    dyn_status status = read_robot(transmissions, &builder, &error);
    if (status == DYN_OK) {
        dyn_model *model;
        status = dyn_builder_build(builder, NULL, NULL, &model, &error);
    }
    expect_error(status, &error, DYN_INVALID_ARGUMENT, place, fragment);
    dyn_builder_free(builder);
}

START_TEST(wrong_transmissions_are_refused_with_their_line) {
    refuse(ELBOW("<mechanicalReduction>0</mechanicalReduction>"), "urdf:9",
           "transmission t: the reduction is \"0\"; state a number that is not zero");
    refuse(ELBOW("<mechanicalReduction>fifty</mechanicalReduction>"), "urdf:9", "the reduction is \"fifty\"");
    refuse(ELBOW("<drake:rotor_inertia value=\"-1\"/>"), "urdf:7", "the inertia about the axis is -1");
    refuse(ELBOW("<drake:rotor_inertia/>"), "urdf:9", "drake:rotor_inertia");
    refuse("<transmission name=\"d\"><type>transmission_interface/DifferentialTransmission</type></transmission>",
           "urdf:7", "transmission d: the type \"transmission_interface/DifferentialTransmission\" is not read");
    refuse("<transmission name=\"d\"><joint name=\"elbow\"/></transmission>", "urdf:7", "1 joints and 0 actuators");
    refuse("<transmission name=\"d\"><joint name=\"wrist\"/><actuator name=\"m\"/></transmission>", "urdf:7",
           "there is no joint \"wrist\"");
    refuse(ELBOW("") ELBOW(""), "urdf:10", "two machine elements of this name");
}
END_TEST

START_TEST(elements_that_are_no_transmissions_of_the_robot_are_passed_over) {
    char text[2048] = "<robot name=\"r\">";
    dyn_builder *builder = new_builder();
    dyn_error error;
    for (int i = 0; i < 70; i++) { /* deeper than DYN_URDF_MAX_DEPTH */
        strcat(text, "<gazebo>");
    }
    strcat(text, "<transmission name=\"x\"><type>Unknown</type></transmission>");
    for (int i = 0; i < 70; i++) {
        strcat(text, "</gazebo>");
    }
    strcat(text, ELBOW("") "</robot>");
    require(dyn_builder_read_transmissions(builder, text, strlen(text), &error), &error);
    ck_assert_int_eq(dyn_builder_machine_element_count(builder), 1);
    dyn_builder_free(builder);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("transmissions");
    tcase_add_test(all, simple_transmissions_are_gears);
    tcase_add_test(all, transmissions_of_drake_are_rotors);
    tcase_add_test(all, wrong_transmissions_are_refused_with_their_line);
    tcase_add_test(all, elements_that_are_no_transmissions_of_the_robot_are_passed_over);
    return run_tests(all);
}
