/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks inner quantities of the formulations: published numbers (Modern Robotics, chapter 8), and identities between
 * the quantities of different formulations.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/formulation_blocks.h"
#include "support/random_tree.h"

static const double pi = 3.14159265358979323846;

/* Link of a chain: its joint and the point mass, or body, at its end. */
typedef struct chain_link {
    double axis[3], origin[3];
    dyn_inertia inertia;
} chain_link;

static dyn_model *build_chain(const chain_link *links, int count) {
    static const char *const link_names[] = {"base", "link1", "link2"}, *const joint_names[] = {"", "joint1", "joint2"};
    dyn_builder *builder;
    dyn_model *model;
    dyn_error error;
    require(dyn_builder_create("chain", &builder, &error), &error);
    for (int i = 0; i <= count; i++) {
        dyn_link_description link = {.name = link_names[i]};
        if (i > 0) {
            link.inertia = links[i - 1].inertia;
            dyn_joint_description joint = {.name = joint_names[i],
                                           .type = DYN_JOINT_TYPE_CONTINUOUS,
                                           .parent_link = link_names[i - 1],
                                           .child_link = link_names[i],
                                           .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
            memcpy(joint.axis, links[i - 1].axis, sizeof joint.axis);
            memcpy(joint.position, links[i - 1].origin, sizeof joint.position);
            require(dyn_builder_add_joint(builder, &joint, &error), &error);
        }
        require(dyn_builder_add_link(builder, &link, &error), &error);
    }
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FIXED);
    require(dyn_builder_build(builder, &options, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Builds the 2R chain of figure 8.1 with unit lengths and point masses of 1 kg at the ends of the links. */
static dyn_model *planar_arm(void) {
    const dyn_inertia tip = {.mass = 1, .center_of_mass = {1, 0, 0}};
    const chain_link links[2] = {{{0, 0, 1}, {0, 0, 0}, tip}, {{0, 0, 1}, {1, 0, 0}, tip}};
    return build_chain(links, 2);
}

static const double no_gravity[3] = {0, 0, 0};

/* Returns whether formulation number i applies to revolute chains with point masses. */
static bool takes_point_masses(int i) {
    unsigned unmet = DYN_FORMULATION_NEED_SPHERICAL | DYN_FORMULATION_NEED_REGULAR_INERTIAS;
    return !(dyn_formulation_traits_at(i)->needs & unmet);
}

START_TEST(mass_matrix_of_figure_8_3) {
    if (!takes_point_masses(_i)) {
        return;
    }
    const char *name = dyn_formulation_traits_at(_i)->name;
    const double q[2] = {0.4, 150 * pi / 180}, expected[4] = {1.27, 0.13, 0.13, 1};
    dyn_model *model = planar_arm();
    dyn_formulation *f;
    dyn_error error;
    double M[4];
    require(dyn_formulation_create(model, name, &f, &error), &error);
    require(dyn_formulation_mass_matrix(f, 1, q, M, &error), &error);
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(M[i], expected[i], 0.005);
    }
    dyn_formulation_free(f);
    dyn_model_free(model);
}
END_TEST

/* Checks the acceleration of the second mass at q = (0, 90 deg), without acceleration of the joints, in base axes. */
START_TEST(accelerations_of_figure_8_2) {
    static const double velocities[2][2] = {{1, 1}, {1, 2}}, expected[2][3] = {{-1, -4, 0}, {-1, -9, 0}};
    const double q[2] = {0, pi / 2};
    dyn_model *model = planar_arm();
    for (int k = 0; k < 2; k++) {
        const motion_of_model x = {model, no_gravity, q, velocities[k], NULL};
        double terms[24], sum[3];
        evaluate_block("generalized_dalembert", &x, "a_terms", 24, terms);
        for (int i = 0; i < 3; i++) {
            sum[i] = terms[12 + i] + terms[15 + i] + terms[18 + i] + terms[21 + i];
        }
        assert_norm_close("acceleration of figure 8.2", k, sum, expected[k], 3, 1e-12);
    }
    dyn_model_free(model);
}
END_TEST

START_TEST(christoffel_symbols_of_figure_8_2) {
    const double q[2] = {0, pi / 2}, expected[8] = {0, -1, -1, -1, 1, 0, 0, 0};
    dyn_model *model = planar_arm();
    const motion_of_model x = {model, no_gravity, q, NULL, NULL};
    double symbols[8];
    evaluate_block("christoffel", &x, "Gamma", 8, symbols);
    assert_norm_close("Gamma_ijk", 0, symbols, expected, 8, 1e-12);
    evaluate_block("lagrange_euler", &x, "h_ikm", 8, symbols);
    assert_norm_close("h_ikm", 0, symbols, expected, 8, 1e-12);
    dyn_model_free(model);
}
END_TEST

/* Checks two spheres joined by a cylinder; overlap is ignored. A floating base has M = diag(m, m, m, I). */
START_TEST(dumbbell_of_exercise_8_2) {
    const double density = 7500, r = 0.1, c = 0.02, h = 0.2, distance = 0.2;
    const double sphere = density * 4 / 3 * pi * r * r * r, cylinder = density * pi * c * c * h;
    const double turn = 2 * sphere * r * r / 5, side = cylinder * (3 * c * c + h * h) / 12;
    dyn_builder *builder;
    dyn_model *model;
    dyn_formulation *f;
    dyn_error error;
    require(dyn_builder_create("dumbbell", &builder, &error), &error);
    const dyn_link_description links[3] = {
        {.name = "bar", .inertia = {cylinder, {0}, {side, 0, 0, side, 0, cylinder * c * c / 2}}},
        {.name = "up", .inertia = {sphere, {0}, {turn, 0, 0, turn, 0, turn}}},
        {.name = "down", .inertia = {sphere, {0}, {turn, 0, 0, turn, 0, turn}}},
    };
    for (int i = 0; i < 3; i++) {
        require(dyn_builder_add_link(builder, &links[i], &error), &error);
        if (i > 0) {
            dyn_joint_description joint = {.name = links[i].name,
                                           .type = DYN_JOINT_TYPE_FIXED,
                                           .parent_link = "bar",
                                           .child_link = links[i].name,
                                           .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                           .position = {0, 0, i == 1 ? distance : -distance}};
            require(dyn_builder_add_joint(builder, &joint, &error), &error);
        }
    }
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    require(dyn_builder_build(builder, &options, NULL, &model, &error), &error);
    const double q[7] = {0, 0, 0, 0, 0, 0, 1},
                 expected[6] = {64.71681, 64.71681, 64.71681, 2.771073, 2.771073, 0.251704};
    double M[36];
    require(dyn_formulation_create(model, "lie_group", &f, &error), &error);
    require(dyn_formulation_mass_matrix(f, 1, q, M, &error), &error);
    for (int i = 0; i < 36; i++) {
        ck_assert_double_eq_tol(M[i], i % 7 ? 0 : expected[i / 7], 1e-5);
    }
    dyn_formulation_free(f);
    dyn_model_free(model);
    dyn_builder_free(builder);
}
END_TEST

/* Checks M and the gravity forces of the rotational inverted pendulum by the formulation `name`. Its second link hangs
 * (side = -1) or stands (side = 1) at q = 0. */
static void expect_pendulum(const char *name, double side) {
    const chain_link links[2] = {
        {{0, 0, 1}, {0, 0, 0}, {.mass = 2, .center_of_mass = {1, 0, 0}, .rotational = {0, 0, 0, 4, 0, 4}}},
        {{1, 0, 0}, {1, 0, 0}, {.mass = 2, .center_of_mass = {0, 0, side}, .rotational = {4, 0, 0, 4, 0, 0}}},
    };
    const double q[2] = {pi / 4, pi / 4}, gravity[3] = {0, 0, -10};
    const double coupling = -side * sqrt(2), expected[4] = {11, coupling, coupling, 6};
    const double forces[2] = {0, -side * 14.142136};
    dyn_model *model = build_chain(links, 2);
    dyn_formulation *f;
    dyn_error error;
    double M[4], tau[2];
    require(dyn_formulation_create(model, name, &f, &error), &error);
    require(dyn_formulation_mass_matrix(f, 1, q, M, &error), &error);
    require(dyn_formulation_inverse_dynamics(f, 1, gravity, q, NULL, NULL, tau, &error), &error);
    assert_norm_close("M of exercise 8.4", 0, M, expected, 4, 1e-12);
    assert_norm_close("tau of exercise 8.4", 0, tau, forces, 2, 1e-7);
    dyn_formulation_free(f);
    dyn_model_free(model);
}

START_TEST(pendulum_of_exercise_8_4) {
    if (takes_point_masses(_i)) {
        expect_pendulum(dyn_formulation_traits_at(_i)->name, 1);
        expect_pendulum(dyn_formulation_traits_at(_i)->name, -1);
    }
}
END_TEST

/* Chain of six revolute joints in a random state, with memory for n^3 numbers (x, y). */
typedef struct chain_state {
    dyn_model *model;
    double q[6], v[6], a[6], x[216], y[216];
    motion_of_model motion;
} chain_state;

static void draw_chain(random_source *random, chain_state *c) {
    random_tree_options options = {.joints = 6, .base = DYN_BASE_FIXED, .revolute_only = true};
    for (bool serial = false; !serial;) {
        c->model = random_tree(random, &options);
        serial = dyn_formulation_applies(c->model, "generalized_dalembert", NULL) == DYN_OK;
        if (!serial) {
            dyn_model_free(c->model);
        }
    }
    random_vector(random, 6, 2, c->q), random_vector(random, 6, 2, c->v), random_vector(random, 6, 2, c->a);
    c->motion = (motion_of_model){c->model, NULL, c->q, c->v, c->a};
}

START_TEST(coefficients_of_lagrange_are_christoffel_symbols) {
    random_source base = random_seed("h_ikm", 1805);
    for (int k = 0; k < 20; k++) {
        chain_state c;
        random_source random = random_case(base, (uint64_t)k);
        draw_chain(&random, &c);
        evaluate_block("lagrange_euler", &c.motion, "h_ikm", 216, c.x);
        evaluate_block("christoffel", &c.motion, "Gamma", 216, c.y);
        assert_norm_close("h_ikm = Gamma_ikm", k, c.x, c.y, 216, 1e-11);
        for (int i = 0; i < 216; i++) {
            int row = i / 36, left = i / 6 % 6, right = i % 6;
            ck_assert_double_eq(c.x[i], c.x[row * 36 + right * 6 + left]);
        }
        for (int i = 0; i < 6; i++) {
            ck_assert_double_le(fabs(c.x[i * 43]), 1e-12);
        }
        dyn_model_free(c.model);
    }
}
END_TEST

START_TEST(velocity_forces_of_all_formulations_agree) {
    random_source base = random_seed("C v", 1806);
    for (int k = 0; k < 20; k++) {
        chain_state c;
        random_source random = random_case(base, (uint64_t)k);
        draw_chain(&random, &c);
        double h_rot[6], terms[24];
        evaluate_block("generalized_dalembert", &c.motion, "h_tran", 6, c.x);
        evaluate_block("generalized_dalembert", &c.motion, "h_rot", 6, h_rot);
        evaluate_block("generalized_dalembert", &c.motion, "h_tran_terms", 24, terms);
        evaluate_block("lagrange_euler", &c.motion, "h", 6, c.y);
        for (int i = 0; i < 6; i++) {
            double sum = terms[4 * i] + terms[4 * i + 1] + terms[4 * i + 2] + terms[4 * i + 3];
            ck_assert_double_eq_tol(sum, c.x[i], 1e-10);
            c.x[i] += h_rot[i];
        }
        assert_norm_close("h_tran + h_rot = h", k, c.x, c.y, 6, 1e-11);
        evaluate_block("lie_group", &c.motion, "c", 6, c.x);
        assert_norm_close("c of 8.79 = h", k, c.x, c.y, 6, 1e-11);
        evaluate_block("lie_group", &c.motion, "g", 6, c.x);
        evaluate_block("lagrange_euler", &c.motion, "c", 6, c.y);
        assert_norm_close("g of 8.80 = c", k, c.x, c.y, 6, 1e-11);
        evaluate_block("christoffel", &c.motion, "dP_dq", 6, c.x);
        assert_norm_close("dP/dq = c", k, c.x, c.y, 6, 1e-11);
        dyn_model_free(c.model);
    }
}
END_TEST

START_TEST(rate_of_the_mass_matrix_is_the_sum_of_coriolis_matrices) {
    random_source base = random_seed("dM/dt", 1807);
    for (int k = 0; k < 20; k++) {
        chain_state c;
        random_source random = random_case(base, (uint64_t)k);
        draw_chain(&random, &c);
        double C[36];
        evaluate_block("christoffel", &c.motion, "C", 36, C);
        for (int i = 0; i < 36; i++) {
            c.y[i] = C[i] + C[i % 6 * 6 + i / 6];
        }
        evaluate_block("christoffel", &c.motion, "dM_dt", 36, c.x);
        assert_norm_close("dM/dt = C + C'", k, c.x, c.y, 36, 1e-11);
        evaluate_block("lie_group", &c.motion, "dM_dt", 36, c.x);
        assert_norm_close("exercise 8.7", k, c.x, c.y, 36, 1e-11);
        dyn_model_free(c.model);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("formulation_values");
    int count = dyn_formulation_count();
    tcase_add_loop_test(tests, mass_matrix_of_figure_8_3, 0, count);
    tcase_add_test(tests, accelerations_of_figure_8_2);
    tcase_add_test(tests, christoffel_symbols_of_figure_8_2);
    tcase_add_test(tests, dumbbell_of_exercise_8_2);
    tcase_add_loop_test(tests, pendulum_of_exercise_8_4, 0, count);
    tcase_add_test(tests, coefficients_of_lagrange_are_christoffel_symbols);
    tcase_add_test(tests, velocity_forces_of_all_formulations_agree);
    tcase_add_test(tests, rate_of_the_mass_matrix_is_the_sum_of_coriolis_matrices);
    return run_properties("formulation_values", tests);
}
