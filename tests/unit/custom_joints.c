/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests custom joints: their functions, refusals, closed forms, and models that are derived from them. The identities
 * of dynamics on random trees with custom joints are property tests.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/src/model/normal_form.h"
#include "robots.h"
#include "support/assertions.h"
#include "support/knee.h"

/* ---- Functions --------------------------------------------------------------------------------------------------- */

START_TEST(polynomial_has_the_derivatives_of_its_terms) {
    const dyn_joint_function f = {DYN_FUNCTION_KIND_POLYNOMIAL, 5, .coefficients = {1, -2, 3, 0.5, -0.25}};
    const double x = 1.5,
                 expected[4] = {1 - 3 + 6.75 + 1.6875 - 1.265625, -2 + 9 + 3.375 - 3.375, 6 + 4.5 - 6.75, 3 - 9};
    double actual[4];
    dyn_joint_function_at(&f, x, actual);
    assert_close("polynomial", 0, actual, expected, 4, 1e-14);
}
END_TEST

/* Returns a spline through samples of sin at `count` knots of [-2, 2]. */
static dyn_joint_function sine_spline(dyn_function_kind kind, int count) {
    dyn_joint_function f = {.kind = kind, .count = count};
    for (int i = 0; i < count; i++) {
        double x = -2 + 4.0 * i / (count - 1);
        f.knots[i] = x, f.values[i] = sin(x), f.slopes[i] = cos(x), f.curvatures[i] = -sin(x);
    }
    return f;
}

/* Compares f, f' and f'' at the knots, from both sides, and requires that they are continuous there. */
START_TEST(splines_reach_their_knots_and_are_twice_differentiable) {
    for (int kind = DYN_FUNCTION_KIND_CUBIC_SPLINE; kind <= DYN_FUNCTION_KIND_QUINTIC_SPLINE; kind++) {
        const dyn_joint_function f = sine_spline((dyn_function_kind)kind, 9);
        for (int i = 0; i < f.count; i++) {
            double before[4], after[4];
            dyn_joint_function_at(&f, f.knots[i], before);
            dyn_joint_function_at(&f, nextafter(f.knots[i], INFINITY), after);
            ck_assert_double_eq_tol(before[0], f.values[i], 1e-14);
            assert_close("both sides of a knot", i, after, before, 3, 1e-12);
            if (kind == DYN_FUNCTION_KIND_QUINTIC_SPLINE) {
                const double stated[3] = {f.values[i], f.slopes[i], f.curvatures[i]};
                assert_close("value, slope and curvature", i, before, stated, 3, 1e-12);
            }
        }
    }
}
END_TEST

/* The natural spline through three points is known in closed form: with h = 1, values 0, 1, 0, m_1 = -3. */
START_TEST(natural_spline_has_the_curvature_of_its_equations) {
    const dyn_joint_function f = {DYN_FUNCTION_KIND_CUBIC_SPLINE, 3, .knots = {0, 1, 2}, .values = {0, 1, 0}};
    double middle[4], quarter[4], end[4];
    dyn_joint_function_at(&f, 1, middle);
    dyn_joint_function_at(&f, 0.5, quarter);
    dyn_joint_function_at(&f, 3, end);
    ck_assert_double_eq_tol(middle[2], -3, 1e-14);
    ck_assert_double_eq_tol(middle[1], 0, 1e-14);
    ck_assert_double_eq_tol(quarter[0], 0.6875, 1e-14); /* 1.5 x - x^3 / 2 */
    ck_assert_double_eq_tol(end[0], -1.5, 1e-14);       /* straight beyond the last knot */
    ck_assert_double_eq_tol(end[2], 0, 1e-14);
}
END_TEST

START_TEST(derivatives_are_those_of_differences) {
    for (int kind = DYN_FUNCTION_KIND_CUBIC_SPLINE; kind <= DYN_FUNCTION_KIND_QUINTIC_SPLINE; kind++) {
        const dyn_joint_function f = sine_spline((dyn_function_kind)kind, 12);
        for (int i = 0; i <= 60; i++) {
            double x = -3.01 + 0.1 * i, at[4], left[4], right[4], slopes[3];
            dyn_joint_function_at(&f, x, at);
            dyn_joint_function_at(&f, x - 1e-5, left);
            dyn_joint_function_at(&f, x + 1e-5, right);
            for (int k = 0; k < 3; k++) {
                slopes[k] = (right[k] - left[k]) / 2e-5;
            }
            assert_close("differences", i, at + 1, slopes, 3, 1e-7);
        }
    }
}
END_TEST

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

/* Returns a custom joint "knee" from "thigh" to "shank". */
static dyn_joint_description custom_joint(int count, const dyn_joint_motion *motions) {
    dyn_joint_description joint = joint_between("knee", DYN_JOINT_TYPE_CUSTOM, "thigh", "shank");
    joint.motions = motions;
    joint.motion_count = count;
    return joint;
}

static void expect_refusal(int count, const dyn_joint_motion *motions, const char *part, const char *fragment) {
    dyn_builder *builder = new_builder();
    dyn_joint_description joint = custom_joint(count, motions);
    dyn_error error;
    dyn_status status = dyn_builder_add_joint(builder, &joint, &error);
    expect_error(status, &error, DYN_INVALID_ARGUMENT, "joint knee", fragment);
    ck_assert_str_eq(error.site.part, part);
    dyn_builder_free(builder);
}

START_TEST(bad_motions_are_refused_with_their_place) {
    dyn_joint_motion m[KNEE_MOTIONS];
    expect_refusal(0, NULL, "motions", "has 0 motions; state 1 to 12");
    memcpy(m, knee_motions, sizeof m);
    m[1].axis[1] = 0;
    expect_refusal(KNEE_MOTIONS, m, "motions[1].axis", "the axis is (0, 0, 0)");
    memcpy(m, knee_motions, sizeof m);
    m[2].axis[0] = NAN;
    expect_refusal(KNEE_MOTIONS, m, "motions[2].axis", "finite vector that is not zero");
    memcpy(m, knee_motions, sizeof m);
    m[0].kind = (dyn_joint_motion_kind)7;
    expect_refusal(KNEE_MOTIONS, m, "motions[0].axis", "7 is no kind of motion");
    memcpy(m, knee_motions, sizeof m);
    m[2].function.coefficients[1] = 0;
    expect_refusal(1, m + 2, "motions", "are constant");
    m[2].function.coefficients[1] = INFINITY;
    expect_refusal(KNEE_MOTIONS, m, "motions[2].function", "motion 2: coefficients[1] is inf");
    m[2].function.count = 0;
    expect_refusal(KNEE_MOTIONS, m, "motions[2].function", "has 0 coefficients; state 1 to 8");
    memcpy(m, knee_motions, sizeof m);
    m[1].function.knots[3] = m[1].function.knots[2];
    expect_refusal(KNEE_MOTIONS, m, "motions[1].function", "knots[3] is -0.523599 and does not exceed");
    m[1].function.knots[3] = -0.3;
    m[1].function.values[6] = NAN;
    expect_refusal(KNEE_MOTIONS, m, "motions[1].function", "values[6] is nan");
    m[1].function.count = 1;
    expect_refusal(KNEE_MOTIONS, m, "motions[1].function", "has 1 knots; state 2 to 64");
    m[1].function.kind = (dyn_function_kind)9;
    expect_refusal(KNEE_MOTIONS, m, "motions[1].function", "9 is no kind of function");
}
END_TEST

START_TEST(knots_too_near_overflow_and_are_refused) {
    dyn_joint_motion m = knee_motions[0];
    m.function.count = 2;
    m.function.knots[0] = 0, m.function.knots[1] = 5e-324;
    m.function.values[0] = 0, m.function.values[1] = 1;
    expect_refusal(1, &m, "motions[0].function", "derivatives overflow beside knots[0]");
}
END_TEST

/* ---- Models ------------------------------------------------------------------------------------------------------ */

/* Builds a leg: a hip, a knee, and a foot on a revolute joint. */
static dyn_model *leg(const dyn_joint_motion *motions, int count) {
    const dyn_inertia thigh = {9.3, {0, -0.17, 0}, {0.1339, 0, 0, 0.0351, 0, 0.1412}};
    const dyn_inertia shank = {3.7, {0, -0.187, 0.01}, {0.0504, 0.001, 0, 0.0051, 0, 0.0511}};
    const dyn_inertia foot = {1.2, {0.1, -0.03, 0}, {0.0014, 0, 0, 0.0039, 0, 0.0041}};
    dyn_builder *builder = new_builder();
    add_link(builder, "pelvis");
    add_link_with(builder, "thigh", &thigh);
    add_link_with(builder, "shank", &shank);
    add_link_with(builder, "foot", &foot);
    dyn_joint_description knee = custom_joint(count, motions);
    dyn_joint_description ankle = joint_between("ankle", DYN_JOINT_TYPE_REVOLUTE, "shank", "foot");
    ankle.position[1] = -0.43;
    connect_links(builder, "hip", DYN_JOINT_TYPE_REVOLUTE, "pelvis", "thigh");
    add_joint(builder, &knee);
    add_joint(builder, &ankle);
    return build_model(builder, NULL, NULL);
}

/* Builds the leg with a helical knee. */
static dyn_model *leg_with_helix(double pitch) {
    dyn_model *model = leg(knee_motions, KNEE_MOTIONS), *built;
    dyn_builder *builder;
    dyn_error error;
    require(dyn_model_describe(model, &builder, &error), &error);
    dyn_builder *other = new_builder();
    for (int i = 0; i < dyn_builder_link_count(builder); i++) {
        require(dyn_builder_add_link(other, dyn_builder_link(builder, i), &error), &error);
    }
    for (int j = 0; j < dyn_builder_joint_count(builder); j++) {
        dyn_joint_description joint = *dyn_builder_joint(builder, j);
        if (joint.type == DYN_JOINT_TYPE_CUSTOM) {
            joint.type = DYN_JOINT_TYPE_HELICAL;
            joint.pitch = pitch;
            joint.axis[2] = 1;
        }
        add_joint(other, &joint);
    }
    built = build_model(other, NULL, NULL);
    dyn_builder_free(builder);
    dyn_model_free(model);
    return built;
}

static dyn_workspace *workspace_of(const dyn_model *model) {
    dyn_workspace *w;
    dyn_error error;
    require(dyn_workspace_create(model, &w, &error), &error);
    return w;
}

enum { NV = 3 };

static const double q_leg[NV] = {0.3, -0.9, 0.2}, v_leg[NV] = {1.1, -2.3, 0.7}, a_leg[NV] = {-3, 5, 2};

/* A screw is a rotation and a translation by multiples of the same coordinate. */
START_TEST(screw_of_two_motions_is_a_helical_joint) {
    const double pitch = 0.07;
    const dyn_joint_motion screw[2] = {
        {DYN_JOINT_MOTION_KIND_TRANSLATION, {0, 0, 2}, {DYN_FUNCTION_KIND_POLYNOMIAL, 2, .coefficients = {0, pitch}}},
        {DYN_JOINT_MOTION_KIND_ROTATION, {0, 0, 1}, {DYN_FUNCTION_KIND_POLYNOMIAL, 2, .coefficients = {0, 1}}}};
    dyn_model *models[2] = {leg(screw, 2), leg_with_helix(pitch)};
    double tau[2][NV], a[2][NV], M[2][NV * NV], C[2][NV * NV], J[2][6 * NV], dq[2][NV * NV], dv[2][NV * NV],
        da[NV * NV];
    double position[2][3], rotation[2][9];
    dyn_error error;
    for (int i = 0; i < 2; i++) {
        dyn_workspace *w = workspace_of(models[i]);
        require(dyn_rnea(models[i], w, 1, NULL, q_leg, v_leg, a_leg, NULL, tau[i], &error), &error);
        require(dyn_aba(models[i], w, 1, NULL, q_leg, v_leg, a_leg, NULL, a[i], &error), &error);
        require(dyn_crba(models[i], w, 1, q_leg, M[i], &error), &error);
        require(dyn_coriolis_matrix(models[i], w, 1, q_leg, v_leg, C[i], &error), &error);
        require(dyn_frame_jacobian(models[i], w, 1, q_leg, 3, DYN_REFERENCE_FRAME_LOCAL, J[i], &error), &error);
        require(dyn_frame_pose(models[i], w, 1, q_leg, 3, position[i], rotation[i], &error), &error);
        require(dyn_rnea_derivatives(models[i], w, 1, NULL, q_leg, v_leg, a_leg, NULL, dq[i], dv[i], da, &error),
                &error);
        dyn_workspace_free(w);
        dyn_model_free(models[i]);
    }
    assert_close("tau", 0, tau[0], tau[1], NV, 1e-12);
    assert_close("a", 0, a[0], a[1], NV, 1e-11);
    assert_close("M", 0, M[0], M[1], (size_t)NV * NV, 1e-12);
    assert_close("C", 0, C[0], C[1], (size_t)NV * NV, 1e-12);
    assert_close("J", 0, J[0], J[1], (size_t)6 * NV, 1e-12);
    assert_close("position", 0, position[0], position[1], 3, 1e-12);
    assert_close("rotation", 0, rotation[0], rotation[1], 9, 1e-12);
    assert_close("d tau / dq", 0, dq[0], dq[1], (size_t)NV * NV, 1e-12);
    assert_close("d tau / dv", 0, dv[0], dv[1], (size_t)NV * NV, 1e-12);
}
END_TEST

/* A bead of 1 kg on the parabola y = x^2 / 2, without rotation: M = 1 + q^2, h = q v^2 + 9.81 q. */
START_TEST(bead_on_a_parabola_has_its_closed_form) {
    const dyn_inertia bead = {.mass = 1};
    const dyn_joint_motion wire[2] = {
        {DYN_JOINT_MOTION_KIND_TRANSLATION, {1, 0, 0}, {DYN_FUNCTION_KIND_POLYNOMIAL, 2, .coefficients = {0, 1}}},
        {DYN_JOINT_MOTION_KIND_TRANSLATION, {0, 0, 1}, {DYN_FUNCTION_KIND_POLYNOMIAL, 3, .coefficients = {0, 0, 0.5}}}};
    dyn_builder *builder = new_builder();
    dyn_joint_description joint = custom_joint(2, wire);
    add_link(builder, "thigh");
    add_link_with(builder, "shank", &bead);
    add_joint(builder, &joint);
    dyn_model *model = build_model(builder, NULL, NULL);
    dyn_workspace *w = workspace_of(model);
    const double q = 0.7, v = -1.3, a = 2.1, g = 9.81;
    double tau, M, dq, dv, da, g_q, energies[2];
    dyn_error error;
    require(dyn_rnea(model, w, 1, NULL, &q, &v, &a, NULL, &tau, &error), &error);
    require(dyn_crba(model, w, 1, &q, &M, &error), &error);
    require(dyn_rnea_derivatives(model, w, 1, NULL, &q, &v, &a, NULL, &dq, &dv, &da, &error), &error);
    require(dyn_gravity_derivatives(model, w, 1, NULL, &q, &g_q, &error), &error);
    require(dyn_energy(model, w, 1, NULL, &q, &v, &energies[0], &energies[1], &error), &error);
    ck_assert_double_eq_tol(M, 1 + q * q, 1e-13);
    ck_assert_double_eq_tol(tau, (1 + q * q) * a + q * v * v + g * q, 1e-12);
    ck_assert_double_eq_tol(dq, 2 * q * a + v * v + g, 1e-12);
    ck_assert_double_eq_tol(dv, 2 * q * v, 1e-12);
    ck_assert_double_eq_tol(g_q, g, 1e-12);
    ck_assert_double_eq_tol(energies[0], (1 + q * q) * v * v / 2, 1e-13);
    ck_assert_double_eq_tol(energies[1], g * q * q / 2, 1e-13);
    double dqdq, dvdv, dqdv, dM;
    require(dyn_rnea_second_derivatives(model, w, 1, NULL, &q, &v, &a, &dqdq, &dvdv, &dqdv, &dM, &error), &error);
    ck_assert_double_eq_tol(dqdq, 2 * a, 1e-12);
    ck_assert_double_eq_tol(dvdv, 2 * q, 1e-12);
    ck_assert_double_eq_tol(dqdv, 2 * v, 1e-12);
    ck_assert_double_eq_tol(dM, 2 * q, 1e-12);
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* The custom joint follows the hip, or the ankle follows the custom joint: M = G' M_free G. */
START_TEST(custom_joints_mimic_and_are_mimicked) {
    dyn_model *model = leg(knee_motions, KNEE_MOTIONS);
    dyn_builder *builder, *coupled = new_builder();
    dyn_error error;
    require(dyn_model_describe(model, &builder, &error), &error);
    for (int i = 0; i < dyn_builder_link_count(builder); i++) {
        require(dyn_builder_add_link(coupled, dyn_builder_link(builder, i), &error), &error);
    }
    for (int j = 0; j < dyn_builder_joint_count(builder); j++) {
        dyn_joint_description joint = *dyn_builder_joint(builder, j);
        if (strcmp(joint.name, "hip") != 0) {
            joint.mimic_joint = strcmp(joint.name, "knee") == 0 ? "hip" : "knee";
            joint.mimic_multiplier = strcmp(joint.name, "knee") == 0 ? -1.5 : 0.5;
            joint.mimic_offset = 0.1;
        }
        add_joint(coupled, &joint);
    }
    dyn_builder_free(builder);
    dyn_model *follower = build_model(coupled, NULL, NULL);
    ck_assert_int_eq(dyn_model_nv(follower), 1);
    dyn_workspace *w = workspace_of(model), *w_follower = workspace_of(follower);
    const double q = 0.3, v = 1.2, a = -0.7, ratio[NV] = {1, -1.5, -0.75};
    const double q_free[NV] = {q, -1.5 * q + 0.1, 0.5 * (-1.5 * q + 0.1) + 0.1};
    double v_free[NV], a_free[NV], tau_free[NV], tau, expected = 0;
    for (int i = 0; i < NV; i++) {
        v_free[i] = ratio[i] * v, a_free[i] = ratio[i] * a;
    }
    require(dyn_rnea(model, w, 1, NULL, q_free, v_free, a_free, NULL, tau_free, &error), &error);
    require(dyn_rnea(follower, w_follower, 1, NULL, &q, &v, &a, NULL, &tau, &error), &error);
    for (int i = 0; i < NV; i++) {
        expected += ratio[i] * tau_free[i];
    }
    ck_assert_double_eq_tol(tau, expected, 1e-11);
    dyn_workspace_free(w), dyn_workspace_free(w_follower);
    dyn_model_free(model), dyn_model_free(follower);
}
END_TEST

START_TEST(energy_of_a_swinging_leg_is_conserved) {
    dyn_model *model = leg(knee_motions, KNEE_MOTIONS);
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    options.integrator = DYN_INTEGRATOR_RUNGE_KUTTA_4;
    options.step_length = 2e-4;
    const double gravity[3] = {0, -9.81, 0};
    options.has_gravity = true;
    memcpy(options.gravity, gravity, sizeof gravity);
    dyn_simulator *simulator;
    dyn_error error;
    require(dyn_simulator_create(model, &options, &simulator, &error), &error);
    double kinetic[101], potential[101], q[101 * NV];
    dyn_rollout_result result;
    dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 5000, .stride = 50, .q = q_leg, .v = v_leg);
    dyn_rollout_output output =
        DYN_ROLLOUT_OUTPUT_INIT(.q = q, .kinetic = kinetic, .potential = potential, .results = &result);
    require(dyn_rollout_run(simulator, 1, &rollout, &output, &error), &error);
    ck_assert_double_lt(result.energy_drift, 1e-6 * kinetic[0]);
    ck_assert_double_gt(fabs(q[100 * NV + 1] - q[1]), 0.05);
    dyn_simulator_free(simulator);
    dyn_model_free(model);
}
END_TEST

START_TEST(samples_of_a_batch_are_those_of_single_calls) {
    enum { SAMPLES = 21 };
    dyn_model *model = leg(knee_motions, KNEE_MOTIONS);
    dyn_workspace *w = workspace_of(model);
    double q[SAMPLES * NV], tau[SAMPLES * NV], single[NV], a[SAMPLES * NV];
    dyn_error error;
    for (int i = 0; i < SAMPLES * NV; i++) {
        q[i] = sin(0.37 * i) * 2.5;
    }
    require(dyn_rnea(model, w, SAMPLES, NULL, q, q, q, NULL, tau, &error), &error);
    require(dyn_aba(model, w, SAMPLES, NULL, q, q, tau, NULL, a, &error), &error);
    assert_close("ABA(RNEA(a))", 0, a, q, (size_t)SAMPLES * NV, 1e-9);
    for (int s = 0; s < SAMPLES; s++) {
        const double *x = q + s * NV;
        require(dyn_rnea(model, w, 1, NULL, x, x, x, NULL, single, &error), &error);
        ck_assert_mem_eq(single, tau + s * NV, sizeof single);
    }
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* ---- Derived models ---------------------------------------------------------------------------------------------- */

START_TEST(description_as_text_builds_the_same_model) {
    dyn_joint_motion motions[KNEE_MOTIONS + 1];
    memcpy(motions, knee_motions, sizeof knee_motions);
    motions[KNEE_MOTIONS] = (dyn_joint_motion){
        DYN_JOINT_MOTION_KIND_ROTATION, {0, 0.6, 0.8}, sine_spline(DYN_FUNCTION_KIND_QUINTIC_SPLINE, 5)};
    dyn_model *model = leg(motions, KNEE_MOTIONS + 1), *again, *other = leg(knee_motions, KNEE_MOTIONS);
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    dyn_builder *builder;
    char *text, *canonical[3];
    size_t length, canonical_length[3];
    dyn_error error;
    require(dyn_description_write(model, &text, &length, &error), &error);
    require(dyn_description_read(text, length, &builder, &options, &error), &error);
    again = build_model(builder, &options, NULL);
    require(dyn_model_canonical(model, &canonical[0], &canonical_length[0], &error), &error);
    require(dyn_model_canonical(again, &canonical[1], &canonical_length[1], &error), &error);
    require(dyn_model_canonical(other, &canonical[2], &canonical_length[2], &error), &error);
    ck_assert_str_eq(canonical[0], canonical[1]);
    ck_assert_str_ne(canonical[0], canonical[2]);
    ck_assert_int_eq(dyn_model_joint(again, 1)->motion_count, KNEE_MOTIONS + 1);
    for (int i = 0; i < 3; i++) {
        dyn_text_free(canonical[i]);
    }
    dyn_text_free(text);
    dyn_model_free(model), dyn_model_free(again), dyn_model_free(other);
}
END_TEST

/* Compares the pose of the foot relative to the pelvis in two models at their configurations. */
static void compare_poses(const char *what, const dyn_model *models[2], const double *const q[2]) {
    double position[2][3], rotation[2][9];
    for (int i = 0; i < 2; i++) {
        dyn_workspace *w = workspace_of(models[i]);
        int pelvis, foot;
        double r[2][3], R[2][9];
        dyn_error error;
        require(dyn_model_find_frame(models[i], "pelvis", &pelvis, &error), &error);
        require(dyn_model_find_frame(models[i], "foot", &foot, &error), &error);
        require(dyn_frame_pose(models[i], w, 1, q[i], pelvis, r[0], R[0], &error), &error);
        require(dyn_frame_pose(models[i], w, 1, q[i], foot, r[1], R[1], &error), &error);
        for (int a = 0; a < 3; a++) {
            position[i][a] = 0;
            for (int k = 0; k < 3; k++) {
                position[i][a] += R[0][3 * k + a] * (r[1][k] - r[0][k]);
            }
            for (int b = 0; b < 3; b++) {
                rotation[i][3 * a + b] = 0;
                for (int k = 0; k < 3; k++) {
                    rotation[i][3 * a + b] += R[0][3 * k + a] * R[1][3 * k + b];
                }
            }
        }
        dyn_workspace_free(w);
    }
    assert_close(what, 0, position[0], position[1], 3, 1e-12);
    assert_close(what, 1, rotation[0], rotation[1], 9, 1e-12);
}

START_TEST(locked_knee_stays_where_it_is) {
    static const char *const names[] = {"knee"};
    dyn_model *model = leg(knee_motions, KNEE_MOTIONS), *locked;
    dyn_error error;
    require(dyn_model_lock(model, 1, names, q_leg, &locked, &error), &error);
    ck_assert_int_eq(dyn_model_nv(locked), 2);
    const double q[2] = {q_leg[0], q_leg[2]};
    compare_poses("locked", (const dyn_model *[]){model, locked}, (const double *const[]){q_leg, q});
    dyn_model_free(model), dyn_model_free(locked);
}
END_TEST

START_TEST(leg_on_its_foot_has_the_same_poses) {
    dyn_model *model = leg(knee_motions, KNEE_MOTIONS), *reversed;
    dyn_error error;
    require(dyn_model_change_base(model, "foot", DYN_BASE_FIXED, &reversed, &error), &error);
    ck_assert_int_eq(dyn_model_nv(reversed), NV);
    const double q[NV] = {q_leg[2], q_leg[1], q_leg[0]};
    compare_poses("reversed", (const dyn_model *[]){model, reversed}, (const double *const[]){q_leg, q});
    dyn_model_free(model), dyn_model_free(reversed);
}
END_TEST

/* ---- Refusals of other parts of the library ---------------------------------------------------------------------- */

START_TEST(formulations_of_other_joints_name_the_joint) {
    dyn_model *model = leg(knee_motions, KNEE_MOTIONS);
    dyn_error error;
    for (int i = 0; i < dyn_formulation_count(); i++) {
        const dyn_formulation_traits *traits = dyn_formulation_traits_at(i);
        unsigned others =
            DYN_FORMULATION_NEED_REVOLUTE | DYN_FORMULATION_NEED_SPHERICAL | DYN_FORMULATION_NEED_NO_CUSTOM;
        dyn_status status = dyn_formulation_applies(model, traits->name, &error);
        ck_assert_int_eq(status, traits->needs & others ? DYN_FAILED_PRECONDITION : DYN_OK);
    }
    dyn_model_free(model);
}
END_TEST

START_TEST(custom_joint_has_no_rotor) {
    dyn_builder *builder = new_builder();
    dyn_joint_description joint = custom_joint(KNEE_MOTIONS, knee_motions);
    dyn_machine_element_description rotor = {.name = "rotor", .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR, .joint = "knee"};
    rotor.rotor.ratio = 10;
    rotor.rotor.axial_inertia = 1e-4;
    dyn_model *model;
    dyn_error error;
    add_link(builder, "thigh");
    add_link(builder, "shank");
    add_joint(builder, &joint);
    require(dyn_builder_add_machine_element(builder, &rotor, &error), &error);
    dyn_status status = dyn_builder_build(builder, NULL, NULL, &model, &error);
    ck_assert_int_eq(status, DYN_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "\"knee\" is custom"));
    dyn_builder_free(builder);
}
END_TEST

START_TEST(custom_joint_turns_no_shaft) {
    dyn_builder *builder = new_builder();
    dyn_joint_description joint = custom_joint(KNEE_MOTIONS, knee_motions);
    dyn_machine_element_description shaft = {.name = "shaft", .kind = DYN_MACHINE_ELEMENT_KIND_SHAFT};
    shaft.shaft.joint_count = 1;
    shaft.shaft.joints[0] = "knee";
    shaft.shaft.ratios[0] = 10;
    dyn_model *model;
    dyn_error error;
    add_link(builder, "thigh");
    add_link(builder, "shank");
    add_joint(builder, &joint);
    require(dyn_builder_add_machine_element(builder, &shaft, &error), &error);
    ck_assert_int_eq(dyn_builder_build(builder, NULL, NULL, &model, &error), DYN_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "a custom joint turns no shaft"));
    dyn_builder_free(builder);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("custom joints");
    tcase_add_test(tests, polynomial_has_the_derivatives_of_its_terms);
    tcase_add_test(tests, splines_reach_their_knots_and_are_twice_differentiable);
    tcase_add_test(tests, natural_spline_has_the_curvature_of_its_equations);
    tcase_add_test(tests, derivatives_are_those_of_differences);
    tcase_add_test(tests, bad_motions_are_refused_with_their_place);
    tcase_add_test(tests, knots_too_near_overflow_and_are_refused);
    tcase_add_test(tests, screw_of_two_motions_is_a_helical_joint);
    tcase_add_test(tests, bead_on_a_parabola_has_its_closed_form);
    tcase_add_test(tests, custom_joints_mimic_and_are_mimicked);
    tcase_add_test(tests, energy_of_a_swinging_leg_is_conserved);
    tcase_add_test(tests, samples_of_a_batch_are_those_of_single_calls);
    tcase_add_test(tests, description_as_text_builds_the_same_model);
    tcase_add_test(tests, locked_knee_stays_where_it_is);
    tcase_add_test(tests, leg_on_its_foot_has_the_same_poses);
    tcase_add_test(tests, formulations_of_other_joints_name_the_joint);
    tcase_add_test(tests, custom_joint_has_no_rotor);
    tcase_add_test(tests, custom_joint_turns_no_shaft);
    return run_tests(tests);
}
