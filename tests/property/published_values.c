/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks published numbers and formulas of Lynch and Park 2017: the two-link arm of section 8.1, with point masses at
 * the ends of its links, and the geared link of exercise 8.9.
 */
#include <math.h>
#include <stdlib.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random.h"

typedef struct arm {
    double m1, m2, L1, L2;
} arm;

/* Builds the arm in the x-z plane; both angles are positive upwards, which is about -y. */
static dyn_model *build_arm(const arm *p) {
    dyn_builder *builder = NULL;
    dyn_model *model = NULL;
    dyn_error error;
    require(dyn_builder_create("two_link", &builder, &error), &error);
    const dyn_link_description links[3] = {
        {.name = "base"},
        {.name = "upper", .inertia = {.mass = p->m1, .center_of_mass = {p->L1, 0, 0}}},
        {.name = "lower", .inertia = {.mass = p->m2, .center_of_mass = {p->L2, 0, 0}}},
    };
    const dyn_joint_description joints[2] = {
        {.name = "shoulder",
         .type = DYN_JOINT_TYPE_REVOLUTE,
         .parent_link = "base",
         .child_link = "upper",
         .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
         .axis = {0, -1, 0}},
        {.name = "elbow",
         .type = DYN_JOINT_TYPE_REVOLUTE,
         .parent_link = "upper",
         .child_link = "lower",
         .position = {p->L1, 0, 0},
         .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
         .axis = {0, -1, 0}},
    };
    for (int i = 0; i < 3; i++) {
        require(dyn_builder_add_link(builder, &links[i], &error), &error);
    }
    for (int i = 0; i < 2; i++) {
        require(dyn_builder_add_joint(builder, &joints[i], &error), &error);
    }
    require(dyn_builder_build(builder, &(dyn_build_options)DYN_BUILD_OPTIONS_INIT(), NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Compares M and its inverse with figure 8.3, to the two decimals that it prints. */
START_TEST(two_link_arm_has_the_printed_mass_matrices) {
    dyn_model *model = build_arm(&(arm){1, 1, 1, 1});
    dyn_workspace *workspace = NULL;
    dyn_error error;
    require(dyn_workspace_create(model, &workspace, &error), &error);
    const double degree = 3.14159265358979323846 / 180;
    const double q[2][2] = {{0, 90 * degree}, {0, 150 * degree}};
    const double printed[2][4] = {{3, 1, 1, 1}, {1.27, 0.13, 0.13, 1}};
    const double printed_inverse[2][4] = {{0.5, -0.5, -0.5, 1.5}, {0.8, -0.11, -0.11, 1.01}};
    double M[2][4], inverse[2][4];
    require(dyn_crba(model, workspace, 2, q[0], M[0], &error), &error);
    require(dyn_minverse(model, workspace, 2, q[0], inverse[0], &error), &error);
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < 4; i++) {
            ck_assert_double_eq_tol(M[s][i], printed[s][i], 0.005);
            ck_assert_double_eq_tol(inverse[s][i], printed_inverse[s][i], 0.005);
        }
    }
    dyn_workspace_free(workspace);
    dyn_model_free(model);
}
END_TEST

/* Computes the torques of the two-link arm by equations 8.9 and 8.10 of Lynch and Park 2017. */
static void closed_form(const arm *p, const double q[2], const double v[2], const double a[2], double tau[2]) {
    double g = 9.81, m1 = p->m1, m2 = p->m2, L1 = p->L1, L2 = p->L2;
    double c2 = cos(q[1]), s2 = sin(q[1]), c1 = cos(q[0]), c12 = cos(q[0] + q[1]);
    double M11 = m1 * L1 * L1 + m2 * (L1 * L1 + 2 * L1 * L2 * c2 + L2 * L2);
    double M12 = m2 * (L1 * L2 * c2 + L2 * L2), M22 = m2 * L2 * L2;
    double c_1 = -m2 * L1 * L2 * s2 * (2 * v[0] * v[1] + v[1] * v[1]), c_2 = m2 * L1 * L2 * v[0] * v[0] * s2;
    double g_1 = (m1 + m2) * L1 * g * c1 + m2 * g * L2 * c12, g_2 = m2 * g * L2 * c12;
    tau[0] = M11 * a[0] + M12 * a[1] + c_1 + g_1;
    tau[1] = M12 * a[0] + M22 * a[1] + c_2 + g_2;
}

START_TEST(two_link_arm_follows_the_closed_form) {
    random_source random = random_seed("equations 8.9 and 8.10", 8910);
    dyn_error error;
    for (int k = 0; k < 1000; k++) {
        arm p = {random_uniform(&random, 0.1, 5), random_uniform(&random, 0.1, 5), random_uniform(&random, 0.1, 2),
                 random_uniform(&random, 0.1, 2)};
        dyn_model *model = build_arm(&p);
        dyn_workspace *workspace = NULL;
        double q[2], v[2], a[2], tau[2], expected[2], back[2];
        for (int i = 0; i < 2; i++) {
            q[i] = random_uniform(&random, -3, 3);
            v[i] = random_uniform(&random, -5, 5);
            a[i] = random_uniform(&random, -20, 20);
        }
        closed_form(&p, q, v, a, expected);
        require(dyn_workspace_create(model, &workspace, &error), &error);
        require(dyn_rnea(model, workspace, 1, NULL, q, v, a, NULL, tau, &error), &error);
        require(dyn_aba(model, workspace, 1, NULL, q, v, tau, NULL, back, &error), &error);
        for (int i = 0; i < 2; i++) {
            double scale = 1 + hypot(expected[0], expected[1]);
            ck_assert_double_eq_tol(tau[i], expected[i], 1e-12 * scale);
            ck_assert_double_eq_tol(back[i], a[i], 1e-9 * scale);
        }
        dyn_workspace_free(workspace);
        dyn_model_free(model);
    }
}
END_TEST

/* Builds one link with the inertia 1 kg m^2. A motor, whose rotor has 0.00125 kg m^2, drives it through a gear. A ratio
 * of zero stands for no motor. */
static dyn_model *build_geared_link(double ratio) {
    dyn_builder *builder = NULL;
    dyn_model *model = NULL;
    dyn_error error;
    const dyn_link_description links[2] = {{.name = "base"},
                                           {.name = "link", .inertia = {.mass = 1, .rotational = {1, 0, 0, 1, 0, 1}}}};
    const dyn_joint_description joint = {.name = "joint",
                                         .type = DYN_JOINT_TYPE_REVOLUTE,
                                         .parent_link = "base",
                                         .child_link = "link",
                                         .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                         .axis = {0, 0, 1}};
    const dyn_machine_element_description rotor = {.name = "motor",
                                                   .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR,
                                                   .joint = "joint",
                                                   .rotor = {.ratio = ratio, .axial_inertia = 0.00125}};
    require(dyn_builder_create("geared_link", &builder, &error), &error);
    for (int i = 0; i < 2; i++) {
        require(dyn_builder_add_link(builder, &links[i], &error), &error);
    }
    require(dyn_builder_add_joint(builder, &joint, &error), &error);
    if (ratio != 0) {
        require(dyn_builder_add_machine_element(builder, &rotor, &error), &error);
    }
    require(dyn_builder_build(builder, &(dyn_build_options)DYN_BUILD_OPTIONS_INIT(), NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Returns the acceleration that a motor torque of 1 N m causes through a gear. */
static double geared_acceleration(double ratio) {
    dyn_model *model = build_geared_link(ratio);
    dyn_workspace *workspace;
    dyn_error error;
    const double q = 0, tau = ratio;
    double a;
    require(dyn_workspace_create(model, &workspace, &error), &error);
    require(dyn_aba(model, workspace, 1, NULL, &q, NULL, &tau, NULL, &a, &error), &error);
    dyn_workspace_free(workspace);
    dyn_model_free(model);
    return a;
}

/* Checks exercise 8.9: the gear ratio that accelerates a link most is sqrt(load / rotor) = 28.2843. */
START_TEST(best_gear_ratio_is_that_of_exercise_8_9) {
    dyn_model *model = build_geared_link(0);
    dyn_workspace *workspace;
    dyn_error error;
    const double q = 0;
    double held, free_inertia;
    require(dyn_workspace_create(model, &workspace, &error), &error);
    require(dyn_joint_inertias(model, workspace, 1, &q, &held, &free_inertia, &error), &error);
    double best = sqrt(held / 0.00125), most = geared_acceleration(best);
    ck_assert_double_eq_tol(best, 28.2843, 5e-5);
    ck_assert_double_eq_tol(free_inertia, held, 1e-12);
    ck_assert_double_eq_tol(most, best / 2, 1e-12);
    for (int i = 1; i < 100; i++) {
        ck_assert_double_lt(geared_acceleration(best * (1 + 0.02 * i)), most);
        ck_assert_double_lt(geared_acceleration(best / (1 + 0.02 * i)), most);
    }
    dyn_workspace_free(workspace);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *arms = tcase_create("two-link arm");
    tcase_add_test(arms, two_link_arm_has_the_printed_mass_matrices);
    tcase_add_test(arms, two_link_arm_follows_the_closed_form);
    tcase_add_test(arms, best_gear_ratio_is_that_of_exercise_8_9);
    return run_properties("published values", arms);
}
