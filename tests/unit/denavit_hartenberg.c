/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests robots from Denavit-Hartenberg parameters: compares them with the product of the textbooks' transforms, with
 * published torques, and with a URDF.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "robots.h"
#include "support/assertions.h"
#include "support/random.h"

static dyn_model *model_of(dyn_dh_convention convention, int count, const dyn_dh_row *rows) {
    dyn_builder *builder;
    dyn_error error;
    require(dyn_dh_describe("dh", convention, count, rows, &builder, &error), &error);
    return build_model(builder, NULL, NULL);
}

/* Computes T = A B for 4 x 4 matrices. */
static void multiply(const double A[16], const double B[16], double T[16]) {
    double out[16] = {0};
    for (int i = 0; i < 16; i++) {
        for (int m = 0; m < 4; m++) {
            out[i] += A[i / 4 * 4 + m] * B[4 * m + i % 4];
        }
    }
    memcpy(T, out, sizeof out);
}

/* Computes the 4 x 4 transform of one row at q, as textbooks print it for the standard or the modified convention. */
static void textbook_row(dyn_dh_convention convention, const dyn_dh_row *row, double q, double T[16]) {
    bool slides = row->type == DYN_JOINT_TYPE_PRISMATIC;
    double theta = row->theta + (slides ? 0 : q), d = row->d + (slides ? q : 0), a = row->a;
    double ct = cos(theta), st = sin(theta), ca = cos(row->alpha), sa = sin(row->alpha);
    const double standard[16] = {ct, -st * ca, st * sa,  a * ct, /**/
                                 st, ct * ca,  -ct * sa, a * st, /**/
                                 0,  sa,       ca,       d,      /**/
                                 0,  0,        0,        1};
    const double modified[16] = {ct,      -st,     0,   a,       /**/
                                 st * ca, ct * ca, -sa, -sa * d, /**/
                                 st * sa, ct * sa, ca,  ca * d,  /**/
                                 0,       0,       0,   1};
    memcpy(T, convention == DYN_DH_CONVENTION_STANDARD ? standard : modified, sizeof standard);
}

static void link_pose(const dyn_model *model, const double *q, const char *name, double position[3],
                      double rotation[9]) {
    dyn_workspace *workspace;
    dyn_error error;
    int frame;
    require(dyn_model_find_frame(model, name, &frame, &error), &error);
    require(dyn_workspace_create(model, &workspace, &error), &error);
    require(dyn_frame_pose(model, workspace, 1, q, frame, position, rotation, &error), &error);
    dyn_workspace_free(workspace);
}

START_TEST(link_frames_are_the_product_of_the_rows) {
    random_source random = random_seed("T(q) = A1 .. An", 20261212);
    dyn_dh_convention convention = _i ? DYN_DH_CONVENTION_MODIFIED : DYN_DH_CONVENTION_STANDARD;
    static const dyn_joint_type types[] = {DYN_JOINT_TYPE_REVOLUTE, DYN_JOINT_TYPE_CONTINUOUS,
                                           DYN_JOINT_TYPE_PRISMATIC};
    for (int k = 0; k < 100; k++) {
        dyn_dh_row rows[8] = {0};
        double q[8], T[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
        int count = 1 + random_index(&random, 8);
        for (int i = 0; i < count; i++) {
            rows[i].type = types[random_index(&random, 3)];
            rows[i].theta = random_uniform(&random, -3, 3);
            rows[i].alpha = random_index(&random, 3) ? random_uniform(&random, -3, 3) : 0;
            rows[i].d = random_index(&random, 3) ? random_uniform(&random, -1, 1) : 0;
            rows[i].a = random_index(&random, 3) ? random_uniform(&random, -1, 1) : 0;
            rows[i].inertia = (dyn_inertia){.mass = 1, .rotational = {0.1, 0, 0, 0.1, 0, 0.1}};
            q[i] = random_uniform(&random, -2, 2);
        }
        dyn_model *model = model_of(convention, count, rows);
        ck_assert_int_eq(dyn_model_nq(model), count);
        for (int i = 0; i < count; i++) {
            double A[16], position[3], rotation[9];
            char name[16];
            textbook_row(convention, &rows[i], q[i], A);
            multiply(T, A, T);
            snprintf(name, sizeof name, "link%d", i + 1);
            link_pose(model, q, name, position, rotation);
            for (int r = 0; r < 3; r++) {
                ck_assert_double_eq_tol(position[r], T[4 * r + 3], 1e-12);
                for (int c = 0; c < 3; c++) {
                    ck_assert_double_eq_tol(rotation[3 * r + c], T[4 * r + c], 1e-12);
                }
            }
        }
        dyn_model_free(model);
    }
}
END_TEST

/* Parameters of the Puma 560, measured by Armstrong, Khatib and Burdick 1986, as in Corke's table. */
static const dyn_dh_row puma[6] = {
    {.alpha = M_PI_2},
    {.a = 0.4318, .inertia = {17.4, {-0.3638, 0.006, 0.2275}, {0.13, 0, 0, 0.524, 0, 0.539}}},
    {.d = 0.15005,
     .a = 0.0203,
     .alpha = -M_PI_2,
     .inertia = {4.8, {-0.0203, -0.0141, 0.07}, {0.066, 0, 0, 0.086, 0, 0.0125}}},
    {.d = 0.4318, .alpha = M_PI_2, .inertia = {0.82, {0, 0.019, 0}, {0.0018, 0, 0, 0.0013, 0, 0.0018}}},
    {.alpha = -M_PI_2, .inertia = {0.34, {0, 0, 0}, {0.0003, 0, 0, 0.0004, 0, 0.0003}}},
    {.inertia = {0.09, {0, 0, 0.032}, {0.00015, 0, 0, 0.00015, 0, 0.00004}}},
};

/* Compares the gravity load at the nominal pose with Corke, Robotics, Vision and Control, 2011, section 9.1, to the
 * four decimals that are printed. */
START_TEST(puma_560_has_its_published_gravity_load) {
    static const double q[6] = {0, M_PI / 4, M_PI, 0, M_PI / 4, 0};
    static const double published[6] = {0, 31.6399, 6.0351, 0, 0.0283, 0};
    dyn_dh_row rows[6];
    for (int i = 0; i < 6; i++) {
        rows[i] = puma[i];
        rows[i].type = DYN_JOINT_TYPE_REVOLUTE;
    }
    dyn_model *model = model_of(DYN_DH_CONVENTION_STANDARD, 6, rows);
    dyn_workspace *workspace;
    dyn_error error;
    double g[6];
    require(dyn_workspace_create(model, &workspace, &error), &error);
    require(dyn_gravity(model, workspace, 1, NULL, q, g, &error), &error);
    for (int i = 0; i < 6; i++) {
        ck_assert_double_eq_tol(g[i], published[i], 0.5e-4);
    }
    dyn_workspace_free(workspace);
    dyn_model_free(model);
}
END_TEST

/* Compares the manufacturer's parameters of the UR5 with its URDF, whose base is rotated by half a turn about z. Passes
 * if the URDF is missing. */
START_TEST(ur5_has_the_kinematics_of_its_urdf) {
    static const dyn_dh_row rows[6] = {
        {.type = DYN_JOINT_TYPE_REVOLUTE, .d = 0.089159, .alpha = M_PI_2},
        {.type = DYN_JOINT_TYPE_REVOLUTE, .a = -0.425},
        {.type = DYN_JOINT_TYPE_REVOLUTE, .a = -0.39225},
        {.type = DYN_JOINT_TYPE_REVOLUTE, .d = 0.10915, .alpha = M_PI_2},
        {.type = DYN_JOINT_TYPE_REVOLUTE, .d = 0.09465, .alpha = -M_PI_2},
        {.type = DYN_JOINT_TYPE_REVOLUTE, .d = 0.0823},
    };
    size_t length;
    char *text = read_whole_file(DYNAMICS_REFERENCE_DIR "/robots/ur5.urdf", &length);
    ck_assert_msg(text != NULL, "there is no ur5.urdf in " DYNAMICS_REFERENCE_DIR "/robots");
    dyn_model *urdf = load_urdf(text, NULL, NULL), *dh = model_of(DYN_DH_CONVENTION_STANDARD, 6, rows);
    random_source random = random_seed("UR5 by table and by URDF", 20261213);
    for (int k = 0; k < 50; k++) {
        double q[6], r[3], R[9], s[3], S[9];
        for (int i = 0; i < 6; i++) {
            q[i] = random_uniform(&random, -3, 3);
        }
        link_pose(dh, q, "link6", r, R);
        link_pose(urdf, q, "tool0", s, S);
        for (int i = 0; i < 3; i++) {
            double sign = i < 2 ? -1 : 1;
            ck_assert_double_eq_tol(s[i], sign * r[i], 1e-9);
            for (int j = 0; j < 3; j++) {
                ck_assert_double_eq_tol(S[3 * i + j], sign * R[3 * i + j], 1e-9);
            }
        }
    }
    free(text);
    dyn_model_free(urdf), dyn_model_free(dh);
}
END_TEST

START_TEST(bad_rows_are_named) {
    dyn_dh_row rows[2] = {{.type = DYN_JOINT_TYPE_REVOLUTE}, {.type = DYN_JOINT_TYPE_REVOLUTE}};
    dyn_builder *builder;
    dyn_error error;
    rows[1].a = NAN;
    expect_error(dyn_dh_describe("r", DYN_DH_CONVENTION_STANDARD, 2, rows, &builder, &error), &error,
                 DYN_INVALID_ARGUMENT, "rows[1].a", "nan");
    ck_assert_ptr_null(builder);
    rows[1].a = 0;
    rows[0].type = DYN_JOINT_TYPE_SPHERICAL;
    expect_error(dyn_dh_describe("r", DYN_DH_CONVENTION_MODIFIED, 2, rows, &builder, &error), &error,
                 DYN_INVALID_ARGUMENT, "rows[0].type", "revolute");
    rows[0].type = DYN_JOINT_TYPE_PRISMATIC;
    rows[0].inertia.mass = -1;
    expect_error(dyn_dh_describe("r", DYN_DH_CONVENTION_MODIFIED, 2, rows, &builder, &error), &error,
                 DYN_INVALID_ARGUMENT, "link link1", "mass is -1");
    expect_error(dyn_dh_describe("r", (dyn_dh_convention)7, 2, rows, &builder, &error), &error, DYN_INVALID_ARGUMENT,
                 "convention", "7");
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("denavit_hartenberg");
    tcase_add_loop_test(tests, link_frames_are_the_product_of_the_rows, 0, 2);
    tcase_add_test(tests, puma_560_has_its_published_gravity_load);
    tcase_add_test(tests, ur5_has_the_kinematics_of_its_urdf);
    tcase_add_test(tests, bad_rows_are_named);
    return run_tests(tests);
}
