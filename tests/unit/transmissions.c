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
    char text[4096];
    int length = snprintf(text, sizeof text,
                          "<robot name=\"geared\" xmlns:drake=\"http://drake.mit.edu\">\n"
                          "<link name=\"base\"/>\n"
                          "<link name=\"arm\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" "
                          "iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link>\n"
                          "<joint name=\"elbow\" type=\"continuous\"><parent link=\"base\"/>\n"
                          "<child link=\"arm\"/>\n"
                          "<axis xyz=\"0 0 1\"/></joint>\n"
                          "%s<link name=\"hand\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" "
                          "iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link>\n"
                          "<joint name=\"wrist\" type=\"continuous\"><parent link=\"arm\"/><child link=\"hand\"/>\n"
                          "<axis xyz=\"1 0 0\"/></joint></robot>\n",
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
    const double q[2] = {0};
    double M[4];
    require(dyn_workspace_create(model, &w, &error), &error);
    require(dyn_crba(model, w, 1, q, M, &error), &error);
    ck_assert_double_eq_tol(M[0], 2 + 2500 * 1e-3, 1e-12);
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* ---- Two joints -------------------------------------------------------------------------------------------------- */

/* Transmission of a type with the reductions -3 and 5 of elbow and wrist, and 20 and 40 of its actuators, in any order,
 * with rotors of 1e-3 and 4e-3. */
#define TWO_JOINTS(type, wrist_attributes, wrist_elements, elbow_elements, second_elements, first_elements)            \
    "<transmission name=\"t\"><type>transmission_interface/" type "</type>\n"                                          \
    "<joint name=\"wrist\"" wrist_attributes ">" wrist_elements                                                        \
    "<mechanicalReduction>5</mechanicalReduction></joint>\n"                                                           \
    "<joint name=\"elbow\">" elbow_elements "<mechanicalReduction>-3</mechanicalReduction></joint>\n"                  \
    "<actuator name=\"right\">" second_elements "<mechanicalReduction>40</mechanicalReduction>"                        \
    "<drake:rotor_inertia value=\"4e-3\"/></actuator>\n"                                                               \
    "<actuator name=\"left\">" first_elements "<mechanicalReduction>20</mechanicalReduction>"                          \
    "<drake:rotor_inertia value=\"1e-3\"/></actuator></transmission>\n"
#define ROLES(type)                                                                                                    \
    TWO_JOINTS(type, "", "<role>joint2</role>", "<role> joint1 </role>", "<role>actuator2</role>",                     \
               "<role>actuator1</role>")

/* Asserts that the elbow and the wrist turn the shafts of the actuators at these ratios, and M that follows. */
static void expect_shafts(const char *transmissions, const double left[2], const double right[2]) {
    static const char *const joints[] = {"elbow", "wrist"};
    const double *const rows[] = {left, right}, inertias[] = {1e-3, 4e-3}, q[2] = {0.4, 0.7};
    double M[4], expected[4] = {2, 0, 0, 1};
    dyn_builder *builder;
    dyn_error error;
    require(read_robot(transmissions, &builder, &error), &error);
    ck_assert_int_eq(dyn_builder_machine_element_count(builder), 2);
    for (int i = 0; i < 2; i++) {
        const dyn_machine_element_description *e = dyn_builder_machine_element(builder, i);
        ck_assert_str_eq(e->name, i == 0 ? "t/left" : "t/right");
        ck_assert_int_eq(e->kind, DYN_MACHINE_ELEMENT_KIND_SHAFT);
        ck_assert_int_eq(e->shaft.joint_count, rows[i][1] != 0 ? 2 : 1);
        for (int k = 0; k < e->shaft.joint_count; k++) {
            ck_assert_str_eq(e->shaft.joints[k], joints[k]);
            ck_assert_double_eq(e->shaft.ratios[k], rows[i][k]);
        }
        for (int k = 0; k < 4; k++) {
            expected[k] += inertias[i] * rows[i][k / 2] * rows[i][k % 2];
        }
    }
    dyn_model *model = build_model(builder, NULL, NULL);
    dyn_workspace *w;
    require(dyn_workspace_create(model, &w, &error), &error);
    require(dyn_crba(model, w, 1, q, M, &error), &error);
    assert_norm_close("M", 0, M, expected, 4, 1e-14);
    dyn_workspace_free(w);
    dyn_model_free(model);
}

/* ROS maps rates of a differential to n_a1 (n_j1 v_1 + n_j2 v_2) and n_a2 (n_j1 v_1 - n_j2 v_2). */
START_TEST(differential_transmissions_are_two_shafts) {
    expect_shafts(ROLES("DifferentialTransmission"), (const double[2]){-60, 100}, (const double[2]){-120, -200});
}
END_TEST

/* ROS maps rates of a four-bar linkage to n_a1 n_j1 v_1 and n_a2 (v_1 + n_j2 v_2). */
START_TEST(four_bar_transmissions_are_two_shafts) {
    expect_shafts(ROLES("FourBarLinkageTransmission"), (const double[2]){-60, 0}, (const double[2]){40, 200});
}
END_TEST

START_TEST(transmissions_of_ros2_control_state_roles_as_attributes_or_by_order) {
    static const char *const texts[] = {
        "<ros2_control name=\"c\"><transmission name=\"t\"><plugin>transmission_interface/DifferentialTransmission"
        "</plugin><actuator name=\"right\" role=\"actuator2\"><mechanical_reduction>40</mechanical_reduction>"
        "<drake:rotor_inertia value=\"4e-3\"/></actuator><actuator name=\"left\" role=\"actuator1\">"
        "<mechanical_reduction>20</mechanical_reduction><drake:rotor_inertia value=\"1e-3\"/></actuator>"
        "<joint name=\"elbow\" role=\"joint1\"><offset>0.3</offset></joint><joint name=\"wrist\" role=\"joint2\"/>"
        "</transmission></ros2_control>\n",
        "<ros2_control name=\"c\"><transmission name=\"t\"><plugin>transmission_interface/DifferentialTransmission"
        "</plugin><actuator name=\"left\"><mechanical_reduction>20</mechanical_reduction>"
        "<drake:rotor_inertia value=\"1e-3\"/></actuator><actuator name=\"right\"><drake:gear_ratio value=\"40\"/>"
        "<drake:rotor_inertia value=\"4e-3\"/></actuator><joint name=\"elbow\"/><joint name=\"wrist\"/>"
        "</transmission></ros2_control>\n"};
    for (int i = 0; i < 2; i++) {
        expect_shafts(texts[i], (const double[2]){20, 20}, (const double[2]){40, -40});
    }
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
    refuse(ELBOW("<drake:rotor_inertia value=\"-1\"/>"), "urdf:9", "transmission t: the inertia of the rotor is -1");
    refuse(ELBOW("<drake:gear_ratio value=\"0\"/>"), "urdf:9", "transmission t: the gear ratio is 0");
    refuse(ELBOW("<drake:rotor_inertia/>"), "urdf:9", "drake:rotor_inertia");
    refuse("<transmission name=\"d\"><type>transmission_interface/DifferentialTransmission</type></transmission>",
           "urdf:7", "transmission d: it has 0 joints and 0 actuators; a DifferentialTransmission has 2 of each");
    refuse("<transmission name=\"d\"><type>transmission_interface/WormTransmission</type></transmission>", "urdf:7",
           "transmission d: the type \"transmission_interface/WormTransmission\" is not read");
    refuse(TWO_JOINTS("FourBarLinkageTransmission", "", "<role>joint1</role>", "<role>joint1</role>", "", ""),
           "urdf:11", "the roles are \"joint1\" and \"joint1\"; state \"joint1\" and \"joint2\"");
    refuse(TWO_JOINTS("DifferentialTransmission", " role=\"joint3\"", "", "", "", ""), "urdf:11", "\"joint3\"");
    refuse("<transmission name=\"d\"><type>DifferentialTransmission</type><joint name=\"elbow\"/>"
           "<joint name=\"ankle\"/><actuator name=\"a\"/><actuator name=\"b\"/></transmission>",
           "urdf:7", "there is no joint \"ankle\"");
    refuse("<transmission name=\"d\"><type>DifferentialTransmission</type><joint name=\"elbow\"/>"
           "<joint name=\"wrist\"><mechanicalReduction>0</mechanicalReduction></joint></transmission>",
           "urdf:7", "the reduction is \"0\"");
    refuse("<transmission name=\"d\"><joint name=\"elbow\"/></transmission>", "urdf:7", "1 joints and 0 actuators");
    refuse("<transmission name=\"d\"><joint name=\"ankle\"/><actuator name=\"m\"/></transmission>", "urdf:7",
           "there is no joint \"ankle\"");
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
    tcase_add_test(all, differential_transmissions_are_two_shafts);
    tcase_add_test(all, four_bar_transmissions_are_two_shafts);
    tcase_add_test(all, transmissions_of_ros2_control_state_roles_as_attributes_or_by_order);
    tcase_add_test(all, wrong_transmissions_are_refused_with_their_line);
    tcase_add_test(all, elements_that_are_no_transmissions_of_the_robot_are_passed_over);
    return run_tests(all);
}
