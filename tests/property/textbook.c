/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the functions of Modern Robotics, section 8.11, by the published example, a chain with three joints whose
 * first screw is not normalized. Compares them with the tuned algorithms for the UR5, whose screws are normalized.
 */
#include <math.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random.h"
#include "support/random_tree.h"
#include "support/ur5_screws.h"

/* Matrices, screws and state of the published example: three links of the UR5 with rounded inertias. */
static const double M3[4 * 16] = {
    1, 0, 0, 0,    0, 1, 0, 0,       0,  0, 1, 0.089159, 0, 0, 0, 1, /**/
    0, 0, 1, 0.28, 0, 1, 0, 0.13585, -1, 0, 0, 0,        0, 0, 0, 1, /**/
    1, 0, 0, 0,    0, 1, 0, -0.1197, 0,  0, 1, 0.395,    0, 0, 0, 1, /**/
    1, 0, 0, 0,    0, 1, 0, 0,       0,  0, 1, 0.14225,  0, 0, 0, 1,
};
static const double S3[6 * 3] = {1, 0, 0, 0, 1, 1, 1, 0, 0, 0, -0.089, -0.089, 1, 0, 0, 0, 0, 0.425};
static const double THETA[3] = {0.1, 0.1, 0.1}, DTHETA[3] = {0.1, 0.2, 0.3}, DDTHETA[3] = {2, 1.5, 1};
static const double TIP[6] = {1, 1, 1, 1, 1, 1}, DOWN[3] = {0, 0, -9.8};

static double G3[3 * 36];

static dyn_textbook_chain example(void) {
    static const double inertias[3][6] = {{0.010267, 0.010267, 0.00666, 3.7, 3.7, 3.7},
                                          {0.22689, 0.22689, 0.0151074, 8.393, 8.393, 8.393},
                                          {0.0494433, 0.0494433, 0.004095, 2.275, 2.275, 2.275}};
    for (int i = 0; i < 3; i++) {
        inertia_matrix(inertias[i], G3 + 36 * i);
    }
    return (dyn_textbook_chain){3, DOWN, TIP, M3, G3, S3};
}

START_TEST(published_example) {
    static const double tau[3] = {74.69616155, -33.06766016, -3.23057314},
                        M[9] = {22.5433380,  -0.307146754,   -0.00718426391, -0.307146754, 1.96850717,
                                0.432157368, -0.00718426391, 0.432157368,    0.191630858},
                        c[3] = {0.26453118, -0.05505157, -0.00689132}, g[3] = {28.40331262, -37.64094817, -5.4415892},
                        tip[3] = {1.40954608, 1.85771497, 1.392409}, pushed[3] = {0.5, 0.6, 0.7},
                        ddtheta[3] = {-0.97392907, 25.58466784, -32.91499212};
    const dyn_textbook_chain chain = example();
    dyn_error error;
    double x[9];
    require(dyn_textbook_inverse_dynamics(&chain, THETA, DTHETA, DDTHETA, x, &error), &error);
    assert_norm_close("InverseDynamics", 0, x, tau, 3, 1e-9);
    require(dyn_textbook_mass_matrix(&chain, THETA, x, &error), &error);
    assert_norm_close("MassMatrix", 0, x, M, 9, 1e-8);
    require(dyn_textbook_velocity_forces(&chain, THETA, DTHETA, x, &error), &error);
    assert_norm_close("VelQuadraticForces", 0, x, c, 3, 1e-8);
    require(dyn_textbook_gravity_forces(&chain, THETA, x, &error), &error);
    assert_norm_close("GravityForces", 0, x, g, 3, 1e-9);
    require(dyn_textbook_tip_forces(&chain, THETA, x, &error), &error);
    assert_norm_close("EndEffectorForces", 0, x, tip, 3, 1e-8);
    require(dyn_textbook_forward_dynamics(&chain, THETA, DTHETA, pushed, x, &error), &error);
    assert_norm_close("ForwardDynamics", 0, x, ddtheta, 3, 1e-9);
}
END_TEST

START_TEST(lie_bracket_of_twists) {
    const double V[6] = {1, 2, 3, 4, 5, 6};
    const double expected[36] = {0, -3, 2, 0, 0,  0, 3, 0, -1, 0, 0, 0,  -2, 1, 0, 0,  0, 0,
                                 0, -6, 5, 0, -3, 2, 6, 0, -4, 3, 0, -1, -5, 4, 0, -2, 1, 0};
    double adV[36];
    dyn_textbook_ad(V, adV);
    for (int i = 0; i < 36; i++) {
        ck_assert_double_eq(adV[i], expected[i]);
    }
}
END_TEST

START_TEST(ur5_agrees_with_the_tuned_algorithms) {
    double G[6 * 36], q[6], v[6], a[6], tau[6], expected[6], M[36], expected_M[36];
    random_source random = random_seed("textbook", 1809);
    dyn_model *model = ur5_of_screws();
    dyn_workspace *w;
    dyn_error error;
    ur5_G(G);
    const dyn_textbook_chain chain = {6, DOWN, NULL, ur5_M, G, ur5_S};
    require(dyn_workspace_create(model, &w, &error), &error);
    for (int k = 0; k < 20; k++) {
        random_vector(&random, 6, 3, q), random_vector(&random, 6, 2, v), random_vector(&random, 6, 3, a);
        require(dyn_rnea(model, w, 1, DOWN, q, v, a, NULL, expected, &error), &error);
        require(dyn_textbook_inverse_dynamics(&chain, q, v, a, tau, &error), &error);
        assert_norm_close("InverseDynamics of the UR5", k, tau, expected, 6, 1e-11);
        require(dyn_crba(model, w, 1, q, expected_M, &error), &error);
        require(dyn_textbook_mass_matrix(&chain, q, M, &error), &error);
        assert_norm_close("MassMatrix of the UR5", k, M, expected_M, 36, 1e-11);
        require(dyn_textbook_forward_dynamics(&chain, q, v, tau, expected, &error), &error);
        assert_norm_close("ForwardDynamics of the UR5", k, expected, a, 6, 1e-9);
    }
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* Checks that the inverse dynamics of a trajectory that forward dynamics computed returns the forces that caused it. */
START_TEST(trajectories_are_inverse_to_each_other) {
    enum { ROWS = 20 };
    dyn_textbook_chain chain = example();
    double theta[ROWS * 3] = {0.1, 0.2, 0.3}, dtheta[ROWS * 3] = {0}, ddtheta[ROWS * 3], tau[ROWS * 3], found[ROWS * 3];
    const double dt = 0.01;
    dyn_error error;
    chain.Ftip = NULL;
    for (int i = 0; i < ROWS * 3; i++) {
        tau[i] = sin(i);
    }
    require(dyn_textbook_forward_trajectory(&chain, ROWS, tau, dt, 1, theta, dtheta, &error), &error);
    for (int i = 0; i < (ROWS - 1) * 3; i++) {
        ddtheta[i] = (dtheta[i + 3] - dtheta[i]) / dt;
        ck_assert_double_eq_tol(theta[i + 3], theta[i] + dt * dtheta[i], 1e-14);
    }
    require(dyn_textbook_inverse_trajectory(&chain, ROWS - 1, theta, dtheta, ddtheta, found, &error), &error);
    assert_norm_close("forces of the trajectory", 0, found, tau, (ROWS - 1) * 3, 1e-9);
}
END_TEST

START_TEST(a_step_of_euler_advances_by_the_rates_before_it) {
    double theta[2] = {0.1, -0.2}, dtheta[2] = {3, 4};
    dyn_textbook_euler_step(2, (const double[2]){10, -20}, 0.1, theta, dtheta);
    assert_norm_close("theta", 0, theta, (const double[2]){0.4, 0.2}, 2, 1e-15);
    assert_norm_close("dtheta", 0, dtheta, (const double[2]){4, 2}, 2, 1e-15);
}
END_TEST

/* Checks trajectories whose end effector pushes with another wrench in each row, against the functions of one state:
 * tau has J' Ftip more than without wrenches, and each row advances by three Euler steps with the wrench of the row. */
START_TEST(trajectories_have_the_wrench_of_each_row) {
    enum { ROWS = 6, STEPS = 3 };
    dyn_textbook_chain chain = example(), row = chain;
    double tips[ROWS * 6], tau[ROWS * 3], theta[ROWS * 3] = {0.1, 0.2, 0.3}, dtheta[ROWS * 3] = {0.4, -0.5, 0.6};
    double x[3] = {0.1, 0.2, 0.3}, v[3] = {0.4, -0.5, 0.6}, a[ROWS * 3], found[ROWS * 3], expected[3], pushed[3];
    dyn_error error;
    for (int i = 0; i < ROWS * 6; i++) {
        tips[i] = cos(i), tau[i % (ROWS * 3)] = sin(i), a[i % (ROWS * 3)] = 1 + i % 4;
    }
    chain.Ftip = tips;
    require(dyn_textbook_forward_trajectory(&chain, ROWS, tau, 0.03, STEPS, theta, dtheta, &error), &error);
    for (int i = 0; i < ROWS; i++) {
        row.Ftip = tips + 6 * i;
        assert_norm_close("theta", i, theta + 3 * i, x, 3, 1e-13);
        assert_norm_close("dtheta", i, dtheta + 3 * i, v, 3, 1e-13);
        for (int k = 0; k < STEPS; k++) {
            require(dyn_textbook_forward_dynamics(&row, x, v, tau + 3 * i, expected, &error), &error);
            dyn_textbook_euler_step(3, expected, 0.01, x, v);
        }
    }
    require(dyn_textbook_inverse_trajectory(&chain, ROWS, theta, dtheta, a, found, &error), &error);
    for (int i = 0; i < ROWS; i++) {
        row.Ftip = tips + 6 * i;
        require(dyn_textbook_tip_forces(&row, theta + 3 * i, pushed, &error), &error);
        row.Ftip = NULL;
        require(dyn_textbook_inverse_dynamics(&row, theta + 3 * i, dtheta + 3 * i, a + 3 * i, expected, &error),
                &error);
        for (int k = 0; k < 3; k++) {
            expected[k] += pushed[k];
        }
        assert_norm_close("tau", i, found + 3 * i, expected, 3, 1e-12);
    }
}
END_TEST

START_TEST(wrong_arguments_are_refused) {
    dyn_textbook_chain chain = example();
    dyn_error error;
    double theta[6] = {0, NAN}, dtheta[6] = {0}, tau[6] = {0};
    ck_assert_int_eq(dyn_textbook_gravity_forces(&chain, theta, tau, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "theta[1]");
    theta[1] = 0;
    ck_assert_int_eq(dyn_textbook_forward_trajectory(&chain, 1, tau, 0.1, 0, theta, dtheta, &error),
                     DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "intRes");
    memset(G3, 0, sizeof G3);
    ck_assert_int_eq(dyn_textbook_forward_dynamics(&chain, theta, NULL, tau, dtheta, &error), DYN_FAILED_PRECONDITION);
    chain.Slist = NULL;
    ck_assert_int_eq(dyn_textbook_gravity_forces(&chain, theta, tau, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "Slist");
    chain.n = 0;
    ck_assert_int_eq(dyn_textbook_gravity_forces(&chain, theta, tau, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "n");
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("textbook");
    tcase_add_test(tests, published_example);
    tcase_add_test(tests, lie_bracket_of_twists);
    tcase_add_test(tests, ur5_agrees_with_the_tuned_algorithms);
    tcase_add_test(tests, trajectories_are_inverse_to_each_other);
    tcase_add_test(tests, a_step_of_euler_advances_by_the_rates_before_it);
    tcase_add_test(tests, trajectories_have_the_wrench_of_each_row);
    tcase_add_test(tests, wrong_arguments_are_refused);
    return run_properties("textbook", tests);
}
