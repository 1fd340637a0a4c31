/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests inertias that no body has: the builder accepts them with a warning if the mass matrix remains positive
 * definite, and refuses them otherwise. Forward dynamics is refused if no inertia resists a joint.
 */
#include <math.h>
#include <stdlib.h>

#include "robots.h"

static const dyn_inertia sphere = {.mass = 1, .rotational = {0.1, 0, 0, 0.1, 0, 0.1}};

/* Returns the builder of a chain of the links "base", "upper" and "lower". The joint "a" turns "upper" about z, and the
 * joint "b" turns "lower" about `axis`. */
static dyn_builder *chain(const dyn_inertia *upper, const dyn_inertia *lower, const double axis[3]) {
    dyn_builder *builder = new_builder();
    dyn_joint_description b = joint_between("b", DYN_JOINT_TYPE_REVOLUTE, "upper", "lower");
    add_link(builder, "base");
    add_link_with(builder, "upper", upper);
    add_link_with(builder, "lower", lower);
    connect_links(builder, "a", DYN_JOINT_TYPE_CONTINUOUS, "base", "upper");
    for (int i = 0; i < 3; i++) {
        b.axis[i] = axis[i];
    }
    add_joint(builder, &b);
    return builder;
}

static const double x_axis[3] = {1, 0, 0}, z_axis[3] = {0, 0, 1};

/* Computes forward dynamics at two states. If it succeeds, checks that inverse dynamics returns the torques. Returns
 * the status of forward dynamics. */
static dyn_status go_around(const dyn_model *model, dyn_error *error) {
    const double q[4] = {0, 0, 0.3, 1.2}, v[4] = {0, 0, -1, 2}, tau[4] = {1, 0, 2, -3};
    double a[4], back[4];
    dyn_workspace *w;
    ck_assert_int_eq(dyn_workspace_create(model, &w, error), DYN_OK);
    dyn_status status = dyn_aba(model, w, 2, NULL, q, v, tau, NULL, a, error);
    if (status == DYN_OK) {
        ck_assert_int_eq(dyn_rnea(model, w, 2, NULL, q, v, a, NULL, back, error), DYN_OK);
        for (int i = 0; i < 4; i++) {
            ck_assert_double_eq_tol(back[i], tau[i], 1e-9);
        }
    }
    dyn_workspace_free(w);
    return status;
}

static const struct {
    dyn_inertia lower;
    const char *fragment;
} odd[] = {
    /* A point mass with rounding errors as moments, as in iCub. */
    {{.mass = 1.3, .center_of_mass = {0.02, -0.11, 0}, .rotational = {0, 0, 2.40741e-35, 0, 0, 0}},
     "its principal moments are -2.40741e-35, 0 and 2.40741e-35 kg m^2; no body has a negative one"},
    /* A negative moment that is small beside the mass times its squared distance from the axis, as in TIAGo. */
    {{.mass = 0.01, .center_of_mass = {0, 0.1, 0.1}, .rotational = {-3.53486e-8, 0, 0, 3.5e-8, 0, 9e-8}},
     "its principal moments are -3.53486e-08"},
    /* A negative moment only about an axis across those of the joints, as in Allegro hands. */
    {{.mass = 0.13, .center_of_mass = {0.039, 0, 0}, .rotational = {7e-5, -9.6e-5, 5.9e-5, 4e-5, -3.6e-5, 6.6e-5}},
     "no body has a negative one"},
    /* A foot or a flange without mass, as in Bolt and Panda. */
    {{.rotational = {1e-3, 0, 0, 1e-3, 0, 1e-3}}, "it has inertia but no mass; no body is so"},
};

START_TEST(inertia_that_leaves_the_mass_matrix_positive_definite_is_a_warning) {
    const dyn_build_options strict = DYN_BUILD_OPTIONS_INIT(.strict = true);
    dyn_builder *builder = chain(&sphere, &odd[_i].lower, x_axis);
    dyn_report *report = new_report();
    dyn_model *model;
    dyn_error error;
    expect_error(dyn_builder_build(builder, &strict, NULL, &model, &error), &error, DYN_INVALID_ARGUMENT, "link lower",
                 odd[_i].fragment);
    model = build_model(builder, NULL, report);
    expect_entry(report, DYN_SEVERITY_WARNING, 0, "link lower", odd[_i].fragment);
    ck_assert_int_eq(go_around(model, &error), DYN_OK);
    dyn_report_free(report);
    dyn_model_free(model);
}
END_TEST

/* Expects that the builder is refused because of the link "lower", and frees it. */
static void expect_indefinite(dyn_builder *builder, const char *fragment) {
    dyn_model *model;
    dyn_error error;
    expect_error(dyn_builder_build(builder, NULL, NULL, &model, &error), &error, DYN_INVALID_ARGUMENT, "link lower",
                 fragment);
    ck_assert_ptr_null(model);
    dyn_builder_free(builder);
}

START_TEST(inertia_that_makes_the_mass_matrix_indefinite_is_refused) {
    const dyn_inertia about_x = {.mass = 1, .rotational = {-1e-3, 0, 0, 0.1, 0, 0.1}};
    expect_indefinite(
        chain(&sphere, &about_x, x_axis),
        "its principal moments are -0.001, 0.1 and 0.1 kg m^2, so that joint \"b\" moves with less than no "
        "inertia");
    /* The moment is negative about y, and so about the axis of "a" once "b" has turned y there. */
    const dyn_inertia about_y = {.mass = 1, .rotational = {1, 0, 0, -0.5, 0, 1}};
    expect_indefinite(chain(&sphere, &about_y, x_axis), "so that joint \"a\" moves with less than no inertia");
}
END_TEST

START_TEST(configurations_beyond_the_limits_do_not_count) {
    const dyn_inertia about_y = {.mass = 1, .rotational = {1, 0, 0, -0.5, 0, 1}};
    dyn_builder *builder = new_builder();
    dyn_joint_description b = joint_between("b", DYN_JOINT_TYPE_REVOLUTE, "upper", "lower");
    add_link(builder, "base");
    add_link(builder, "upper");
    add_link_with(builder, "lower", &about_y);
    connect_links(builder, "a", DYN_JOINT_TYPE_CONTINUOUS, "base", "upper");
    b.axis[0] = 1, b.axis[2] = 0;
    b.has_limits = true;
    b.limits = (dyn_joint_limits){.lower = -0.2, .upper = 0.2};
    add_joint(builder, &b);
    dyn_model *model = build_model(builder, NULL, NULL);
    dyn_workspace *w;
    dyn_error error;
    const double within[2] = {0, 0.2}, beyond[2] = {0, 1.5}, none[2] = {0};
    double a[2];
    ck_assert_int_eq(dyn_workspace_create(model, &w, &error), DYN_OK);
    ck_assert_int_eq(dyn_aba(model, w, 1, NULL, within, none, none, NULL, a, &error), DYN_OK);
    expect_error(dyn_aba(model, w, 1, NULL, beyond, none, none, NULL, a, &error), &error, DYN_FAILED_PRECONDITION,
                 "model", "joint a: the mass matrix is indefinite, the inertia that resists the joint is negative");
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

START_TEST(massless_links_that_carry_a_body_are_no_warning) {
    const dyn_inertia none = {0};
    dyn_report *report = new_report();
    dyn_error error;
    dyn_model *model = build_model(chain(&none, &sphere, x_axis), NULL, report);
    ck_assert_uint_eq(dyn_report_count_severity(report, DYN_SEVERITY_WARNING), 0);
    ck_assert_int_eq(go_around(model, &error), DYN_OK);
    dyn_model_free(model);
    dyn_report_free(report);
}
END_TEST

/* Checks two joints about one axis with a massless link between them: M is singular but for rounding errors. */
START_TEST(an_unresisted_joint_has_no_forward_dynamics_whatever_rounding_leaves) {
    const dyn_inertia none = {0};
    const double tilted[3] = {0.48, 0.6, 0.64}, q[2] = {0.1, 0.2}, tau[2] = {1, 1};
    const char *fragment = "joint a: the mass matrix is singular, no inertia resists the joint";
    dyn_builder *builder = new_builder();
    dyn_joint_description a = joint_between("a", DYN_JOINT_TYPE_CONTINUOUS, "base", "upper");
    dyn_joint_description b = joint_between("b", DYN_JOINT_TYPE_CONTINUOUS, "upper", "lower");
    for (int i = 0; i < 3; i++) {
        a.axis[i] = b.axis[i] = tilted[i];
    }
    const dyn_inertia rod = {.mass = 1, .center_of_mass = {0.3, 0.1, 0.7}, .rotational = {0.2, 0.01, 0, 0.3, 0, 0.25}};
    add_link(builder, "base");
    add_link_with(builder, "upper", &none);
    add_link_with(builder, "lower", &rod);
    add_joint(builder, &a);
    add_joint(builder, &b);
    dyn_report *report = new_report();
    dyn_model *model = build_model(builder, NULL, report);
    expect_entry(report, DYN_SEVERITY_WARNING, 0, "joint a", "the mass matrix is singular");
    dyn_workspace *w;
    dyn_error error;
    double result[4];
    ck_assert_int_eq(dyn_workspace_create(model, &w, &error), DYN_OK);
    expect_error(dyn_aba(model, w, 1, NULL, q, q, tau, NULL, result, &error), &error, DYN_FAILED_PRECONDITION, "model",
                 fragment);
    expect_error(dyn_minverse(model, w, 1, q, result, &error), &error, DYN_FAILED_PRECONDITION, "model", fragment);
    expect_error(dyn_mass_factors(model, w, 1, q, result, &error), &error, DYN_FAILED_PRECONDITION, "model", fragment);
    ck_assert_int_eq(dyn_rnea(model, w, 1, NULL, q, q, tau, NULL, result, &error), DYN_OK);
    ck_assert(isfinite(result[0]) && isfinite(result[1]));
    ck_assert_int_eq(dyn_crba(model, w, 1, q, result, &error), DYN_OK);
    /* A payload on the massless link resists its joint. */
    const dyn_model *loaded;
    const dyn_payload payload = {.link = 1, .inertia = sphere};
    ck_assert_int_eq(dyn_workspace_load(w, 1, &payload, &loaded, &error), DYN_OK);
    ck_assert_int_eq(dyn_aba(loaded, w, 1, NULL, q, q, tau, NULL, result, &error), DYN_OK);
    ck_assert_int_eq(dyn_workspace_load(w, 0, NULL, &loaded, &error), DYN_OK);
    ck_assert_int_eq(dyn_aba(loaded, w, 1, NULL, q, q, tau, NULL, result, &error), DYN_FAILED_PRECONDITION);
    dyn_workspace_free(w);
    dyn_model_free(model);
    dyn_report_free(report);
}
END_TEST

START_TEST(a_sample_of_a_singular_robot_stops_for_the_joint_that_nothing_resists) {
    const dyn_inertia none = {0};
    const double tau[2] = {1, 0};
    double q[2] = {0}, v[2] = {0};
    dyn_model *model = build_model(chain(&sphere, &none, x_axis), NULL, NULL);
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *simulator;
    dyn_error error;
    dyn_sample_result result = {0};
    ck_assert_int_eq(dyn_simulator_create(model, &options, &simulator, &error), DYN_OK);
    const dyn_step_input input = DYN_STEP_INPUT_INIT(.tau = tau);
    ck_assert_int_eq(dyn_simulator_step(simulator, 1, &input, q, v, NULL, &result, &error), DYN_OK);
    ck_assert_int_eq(result.status, DYN_SAMPLE_STATUS_SINGULAR);
    ck_assert_int_eq(result.joint, dyn_model_find_joint(model, "b"));
    ck_assert(q[0] == 0 && q[1] == 0 && v[0] == 0 && v[1] == 0);
    dyn_simulator_free(simulator);
    dyn_model_free(model);
}
END_TEST

START_TEST(unresisted_joints_are_found_beside_mimic_joints) {
    const dyn_inertia none = {0}, *fingers[2][2] = {{&none, &none}, {&none, &sphere}};
    for (int k = 0; k < 2; k++) {
        dyn_builder *builder = chain(fingers[k][0], fingers[k][1], z_axis);
        dyn_joint_description left = joint_between("left", DYN_JOINT_TYPE_PRISMATIC, "base", "finger");
        dyn_joint_description right = joint_between("right", DYN_JOINT_TYPE_PRISMATIC, "base", "thumb");
        right.mimic_joint = "left";
        right.mimic_multiplier = -1;
        add_link_with(builder, "finger", fingers[k][0]);
        add_link_with(builder, "thumb", fingers[k][1]);
        add_joint(builder, &left);
        add_joint(builder, &right);
        dyn_report *report = new_report();
        dyn_model *model = build_model(builder, NULL, report);
        ck_assert_uint_eq(dyn_report_count_severity(report, DYN_SEVERITY_WARNING), k == 0 ? 4 : 0);
        if (k == 0) {
            expect_entry(report, DYN_SEVERITY_WARNING, 0, "joint left", "the mass matrix is singular");
            expect_entry(report, DYN_SEVERITY_WARNING, 0, "joint b", "the mass matrix is singular");
        }
        dyn_model_free(model);
        dyn_report_free(report);
    }
}
END_TEST

START_TEST(such_a_model_is_read_again_from_its_text) {
    for (int i = 0; i < COUNT(odd); i++) {
        dyn_model *model = build_model(chain(&sphere, &odd[i].lower, x_axis), NULL, NULL), *again;
        char *text;
        size_t length;
        dyn_error error;
        dyn_builder *builder;
        dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
        ck_assert_int_eq(dyn_description_write(model, &text, &length, &error), DYN_OK);
        ck_assert_int_eq(dyn_description_read(text, length, &builder, &options, &error), DYN_OK);
        ck_assert_int_eq(dyn_builder_build(builder, &options, NULL, &again, &error), DYN_OK);
        dyn_builder_free(builder);
        dyn_model_free(model);
        dyn_model_free(again);
        dyn_text_free(text);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("definiteness");
    tcase_add_loop_test(tests, inertia_that_leaves_the_mass_matrix_positive_definite_is_a_warning, 0, COUNT(odd));
    tcase_add_test(tests, inertia_that_makes_the_mass_matrix_indefinite_is_refused);
    tcase_add_test(tests, configurations_beyond_the_limits_do_not_count);
    tcase_add_test(tests, massless_links_that_carry_a_body_are_no_warning);
    tcase_add_test(tests, an_unresisted_joint_has_no_forward_dynamics_whatever_rounding_leaves);
    tcase_add_test(tests, a_sample_of_a_singular_robot_stops_for_the_joint_that_nothing_resists);
    tcase_add_test(tests, unresisted_joints_are_found_beside_mimic_joints);
    tcase_add_test(tests, such_a_model_is_read_again_from_its_text);
    return run_tests(tests);
}
