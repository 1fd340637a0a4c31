/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests inertias: those of shapes and meshes, sums, poses, other parameters, and the check of what a body can have.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "robots.h"
#include "support/assertions.h"
#include "support/random.h"

static void assert_inertia(const dyn_inertia *actual, const dyn_inertia *expected, double tolerance) {
    ck_assert_double_eq_tol(actual->mass, expected->mass, tolerance * expected->mass);
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(actual->center_of_mass[i], expected->center_of_mass[i], tolerance);
    }
    for (int k = 0; k < 6; k++) {
        ck_assert_double_eq_tol(actual->rotational[k], expected->rotational[k], tolerance * expected->mass);
    }
}

/* Returns the inertia of a random box with a random pose. */
static dyn_inertia random_body(random_source *random) {
    dyn_inertia inertia;
    dyn_error error;
    dyn_pose pose;
    double q[4], size[3];
    for (int i = 0; i < 3; i++) {
        size[i] = random_uniform(random, 0.05, 1);
        pose.position[i] = random_uniform(random, -1, 1);
    }
    random_unit(random, 4, q);
    dyn_quaternion_to_rotation(q, pose.rotation);
    require(dyn_inertia_box(random_uniform(random, 0.1, 9), size, &inertia, &error), &error);
    dyn_inertia_transform(&inertia, &pose, &inertia);
    return inertia;
}

/* Compares with Modern Robotics, figure 8.5. A sphere is the ellipsoid of the figure with equal axes. */
START_TEST(shapes_have_the_printed_moments) {
    dyn_inertia inertia;
    dyn_error error;
    const double size[3] = {1, 2, 3}, axes[3] = {1, 2, 3};
    require(dyn_inertia_box(12, size, &inertia, &error), &error);
    assert_inertia(&inertia, &(dyn_inertia){12, {0}, {13, 0, 0, 10, 0, 5}}, 1e-15);
    require(dyn_inertia_cylinder(12, 1, 2, &inertia, &error), &error);
    assert_inertia(&inertia, &(dyn_inertia){12, {0}, {7, 0, 0, 7, 0, 6}}, 1e-15);
    require(dyn_inertia_ellipsoid(5, axes, &inertia, &error), &error);
    assert_inertia(&inertia, &(dyn_inertia){5, {0}, {13, 0, 0, 10, 0, 5}}, 1e-15);
    require(dyn_inertia_sphere(5, 2, &inertia, &error), &error);
    assert_inertia(&inertia, &(dyn_inertia){5, {0}, {8, 0, 0, 8, 0, 8}}, 1e-15);
}
END_TEST

START_TEST(capsule_lies_between_sphere_and_cylinder) {
    dyn_inertia capsule, other;
    dyn_error error;
    require(dyn_inertia_capsule(3, 0.5, 0, &capsule, &error), &error);
    require(dyn_inertia_sphere(3, 0.5, &other, &error), &error);
    assert_inertia(&capsule, &other, 1e-14);
    require(dyn_inertia_capsule(3, 1e-9, 2, &capsule, &error), &error);
    require(dyn_inertia_cylinder(3, 1e-9, 2, &other, &error), &error);
    assert_inertia(&capsule, &other, 1e-8);
}
END_TEST

START_TEST(parts_of_a_box_add_up_to_it) {
    dyn_inertia half, other, whole;
    dyn_error error;
    require(dyn_inertia_box(2, (const double[]){0.5, 1, 1.5}, &half, &error), &error);
    require(dyn_inertia_box(4, (const double[]){1, 1, 1.5}, &whole, &error), &error);
    const dyn_pose left = {{-0.25, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const dyn_pose right = {{0.25, 0, 0}, {1, 0, 0, 0, -1, 0, 0, 0, -1}};
    dyn_inertia_transform(&half, &left, &other);
    dyn_inertia_transform(&half, &right, &half);
    dyn_inertia_add(&half, &other, &half);
    assert_inertia(&half, &whole, 1e-15);
}
END_TEST

START_TEST(parameters_and_log_cholesky_round_trip) {
    random_source random = random_seed("inertia coordinates", 41);
    dyn_error error;
    for (int k = 0; k < 1000; k++) {
        dyn_inertia body = random_body(&random), back;
        double p[10], x[10];
        require(dyn_inertia_check(&body, &error), &error);
        dyn_inertia_to_parameters(&body, p);
        require(dyn_inertia_from_parameters(p, &back, &error), &error);
        assert_inertia(&back, &body, 1e-12);
        require(dyn_inertia_to_log_cholesky(&body, x, &error), &error);
        dyn_inertia_from_log_cholesky(x, &back);
        assert_inertia(&back, &body, 1e-11);
        double pseudo[16];
        dyn_inertia_to_pseudo(&body, pseudo);
        require(dyn_inertia_from_pseudo(pseudo, &back, &error), &error);
        assert_inertia(&back, &body, 1e-12);
    }
}
END_TEST

START_TEST(every_log_cholesky_point_is_realizable) {
    random_source random = random_seed("log-Cholesky", 42);
    dyn_error error;
    for (int k = 0; k < 1000; k++) {
        double x[10];
        dyn_inertia inertia;
        for (int i = 0; i < 10; i++) {
            x[i] = random_uniform(&random, -1.5, 1.5);
        }
        dyn_inertia_from_log_cholesky(x, &inertia);
        require(dyn_inertia_check(&inertia, &error), &error);
    }
}
END_TEST

START_TEST(impossible_inertias_are_named) {
    dyn_error error;
    dyn_inertia inertia = {0, {0}, {1, 0, 0, 1, 0, 1}};
    const double weightless[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, overflowing[10] = {1000};
    double x[10];
    ck_assert_int_eq(dyn_inertia_from_pseudo(weightless, &inertia, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "pseudo[15]");
    dyn_inertia_from_log_cholesky(overflowing, &inertia);
    ck_assert_double_nan(inertia.mass);
    inertia = (dyn_inertia){0, {0}, {1, 0, 0, 1, 0, 1}};
    ck_assert_int_eq(dyn_inertia_check(&inertia, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "mass");
    inertia = (dyn_inertia){1, {0}, {1, 0, 0, 1, 0, 2.5}};
    ck_assert_int_eq(dyn_inertia_check(&inertia, &error), DYN_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "2.5"));
    inertia = (dyn_inertia){1, {0}, {1, 2, 0, 1, 0, 1}};
    ck_assert_int_eq(dyn_inertia_check(&inertia, &error), DYN_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "negative"));
    inertia = (dyn_inertia){1, {NAN, 0, 0}, {1, 0, 0, 1, 0, 1}};
    ck_assert_int_eq(dyn_inertia_check(&inertia, &error), DYN_INVALID_ARGUMENT);
    inertia = (dyn_inertia){1, {1, 0, 0}, {0}};
    ck_assert_int_eq(dyn_inertia_to_log_cholesky(&inertia, x, &error), DYN_FAILED_PRECONDITION);
    ck_assert_int_eq(dyn_inertia_box(-1, (const double[]){1, 1, 1}, &inertia, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "mass");
    ck_assert_int_eq(dyn_inertia_cylinder(1, NAN, 1, &inertia, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "radius");
}
END_TEST

/* ---- meshes ---------------------------------------------------------------------------------------------------- */

enum { MESH_BYTES = 8192, BOX_TRIANGLES = 12 };

/* Corners of the triangles of a box, whose normals point outwards. Bit i of a corner's number selects the upper side of
 * axis i. */
static const int box_faces[BOX_TRIANGLES][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                                {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};

/* Writes ASCII STL of the first `count` triangles of a box of 1 x 2 x 3 whose lower corner is at (2, 0, -1). Normals
 * point inwards if `inwards`. Returns the length of the text. */
static size_t box_text(int count, bool inwards, char *text) {
    int length = sprintf(text, "solid box\n");
    for (int t = 0; t < count; t++) {
        length += sprintf(text + length, " facet normal 0 0 0\n  outer loop\n");
        for (int i = 0; i < 3; i++) {
            int corner = box_faces[t][inwards ? 2 - i : i];
            length += sprintf(text + length, "   vertex %g %g %g\n", 2.0 + (corner & 1), corner & 2 ? 2.0 : 0.0,
                              corner & 4 ? 2.0 : -1.0);
        }
        length += sprintf(text + length, "  endloop\n endfacet\n");
    }
    length += sprintf(text + length, "endsolid box\n");
    return (size_t)length;
}

static void store_float(float value, char *at) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; i++) {
        at[i] = (char)(bits >> (8 * i) & 0xff);
    }
}

static size_t box_binary(char *bytes) {
    memset(bytes, 0, MESH_BYTES);
    bytes[80] = BOX_TRIANGLES;
    for (int t = 0; t < BOX_TRIANGLES; t++) {
        for (int i = 0; i < 3; i++) {
            int corner = box_faces[t][i];
            char *at = bytes + 84 + 50 * t + 12 + 12 * i;
            store_float(corner & 1 ? 3.0F : 2.0F, at);
            store_float(corner & 2 ? 2.0F : 0.0F, at + 4);
            store_float(corner & 4 ? 2.0F : -1.0F, at + 8);
        }
    }
    return 84 + 50 * BOX_TRIANGLES;
}

START_TEST(mesh_of_a_box_is_the_box) {
    char mesh[MESH_BYTES];
    dyn_error error;
    dyn_inertia expected, inertia;
    double volume;
    const dyn_pose place = {{2.5, 1, 0.5}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    require(dyn_inertia_box(12, (const double[]){1, 2, 3}, &expected, &error), &error);
    dyn_inertia_transform(&expected, &place, &expected);
    require(dyn_inertia_stl(mesh, box_text(BOX_TRIANGLES, false, mesh), 1, 12, &volume, &inertia, &error), &error);
    assert_inertia(&inertia, &expected, 1e-14);
    ck_assert_double_eq_tol(volume, 6, 1e-14);
    require(dyn_inertia_stl(mesh, box_binary(mesh), 1, 12, NULL, &inertia, &error), &error);
    assert_inertia(&inertia, &expected, 1e-14);
    require(dyn_inertia_stl(mesh, box_binary(mesh), 1e-3, 0, &volume, &inertia, &error), &error);
    ck_assert_double_eq_tol(volume, 6e-9, 1e-21);
    ck_assert_double_eq_tol(inertia.mass, 6e-6, 1e-18);
}
END_TEST

START_TEST(bad_meshes_are_refused) {
    char mesh[MESH_BYTES];
    dyn_error error;
    dyn_inertia inertia;
    ck_assert_int_eq(dyn_inertia_stl(mesh, box_text(BOX_TRIANGLES - 1, false, mesh), 1, 1, NULL, &inertia, &error),
                     DYN_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "open"));
    ck_assert_int_eq(dyn_inertia_stl(mesh, box_text(BOX_TRIANGLES, true, mesh), 1, 1, NULL, &inertia, &error),
                     DYN_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "outwards"));
    ck_assert_int_eq(dyn_inertia_stl(mesh, box_text(0, false, mesh), 1, 1, NULL, &inertia, &error),
                     DYN_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "no triangle"));
    ck_assert_int_eq(dyn_inertia_stl("nothing", 7, 1, 1, NULL, &inertia, &error), DYN_INVALID_ARGUMENT);
    const char *text = "solid x\nvertex 1 2\n";
    ck_assert_int_eq(dyn_inertia_stl(text, strlen(text), 1, 1, NULL, &inertia, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "stl:2");
    size_t length = box_binary(mesh);
    store_float(NAN, mesh + 84 + 50 + 12);
    ck_assert_int_eq(dyn_inertia_stl(mesh, length, 1, 1, NULL, &inertia, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "stl[triangle 1]");
}
END_TEST

/* Computes the principal moments and axes of a body, in the axes of its link. */
static void find_principal(const dyn_inertia *inertia, double moments[3], double axes[9]) {
    static const dyn_joint_description hinge = {.name = "hinge",
                                                .type = DYN_JOINT_TYPE_CONTINUOUS,
                                                .parent_link = "base",
                                                .child_link = "body",
                                                .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                                .axis = {1, 0, 0}};
    const dyn_link_description base = {.name = "base"}, body = {.name = "body", .inertia = *inertia};
    const double q = 0;
    dyn_builder *builder;
    dyn_model *model;
    dyn_workspace *w;
    dyn_error error;
    int frame;
    require(dyn_builder_create("body", &builder, &error), &error);
    require(dyn_builder_add_link(builder, &base, &error), &error);
    require(dyn_builder_add_link(builder, &body, &error), &error);
    require(dyn_builder_add_joint(builder, &hinge, &error), &error);
    require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    require(dyn_workspace_create(model, &w, &error), &error);
    require(dyn_model_find_frame(model, "body", &frame, &error), &error);
    require(dyn_principal_moments(model, w, 1, &q, frame, DYN_REFERENCE_FRAME_LOCAL, moments, axes, &error), &error);
    dyn_workspace_free(w);
    dyn_model_free(model);
    dyn_builder_free(builder);
}

/* Checks the axes of bodies with two or three equal moments, with disturbances of the size of rounding errors, and of a
 * body whose axis has two components of equal size. */
START_TEST(principal_axes_of_symmetric_bodies_are_defined) {
    static const struct {
        double rotational[6], axes[9]; /* inertia xx xy xz yy yz zz */
    } bodies[] = {
        {{2, 0, 0, 2, 0, 2}, {1, 0, 0, 0, 1, 0, 0, 0, 1}},                                    /* sphere */
        {{3, 0, 0, 2, 0, 2}, {1, 0, 0, 0, 1, 0, 0, 0, 1}},                                    /* disc about x */
        {{2, 0, 0, 3, 0, 2}, {0, 1, 0, 1, 0, 0, 0, 0, -1}},                                   /* disc about y */
        {{2, 0, 0, 2, 0, 3}, {0, 0, 1, 1, 0, 0, 0, 1, 0}},                                    /* disc about z */
        {{2, 0, 0, 2, 0, 1e-3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}},                                 /* rod along z */
        {{1e-3, 0, 0, 2, 0, 2}, {0, 1, 0, 0, 0, 1, 1, 0, 0}},                                 /* rod along x */
        {{1, 0, 0, 2, 0, 2.5}, {0, 0, 1, 0, 1, 0, -1, 0, 0}},                                 /* brick */
        {{2, 1, 0, 2, 0, 2.5}, {M_SQRT1_2, M_SQRT1_2, 0, 0, 0, 1, M_SQRT1_2, -M_SQRT1_2, 0}}, /* turned brick */
        {{2, -1, 0, 2, 0, 2.5}, {M_SQRT1_2, -M_SQRT1_2, 0, 0, 0, 1, -M_SQRT1_2, -M_SQRT1_2, 0}},
    };
    random_source random = random_seed("principal axes of symmetric bodies", 52);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        for (int round = 0; round < 20; round++) {
            dyn_inertia inertia = {.mass = 1};
            double moments[3], axes[9];
            for (int k = 0; k < 6; k++) {
                inertia.rotational[k] =
                    bodies[i].rotational[k] + (round > 0 ? random_uniform(&random, -1, 1) : 0) * 1e-15;
            }
            find_principal(&inertia, moments, axes);
            for (int k = 0; k < 9; k++) {
                ck_assert_msg(fabs(axes[k] - bodies[i].axes[k]) < 1e-9, "body %zu: entry %d is %g", i, k, axes[k]);
            }
            ck_assert(moments[0] >= moments[1] && moments[1] >= moments[2]);
        }
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("inertia");
    tcase_add_test(tests, shapes_have_the_printed_moments);
    tcase_add_test(tests, capsule_lies_between_sphere_and_cylinder);
    tcase_add_test(tests, parts_of_a_box_add_up_to_it);
    tcase_add_test(tests, parameters_and_log_cholesky_round_trip);
    tcase_add_test(tests, every_log_cholesky_point_is_realizable);
    tcase_add_test(tests, impossible_inertias_are_named);
    tcase_add_test(tests, mesh_of_a_box_is_the_box);
    tcase_add_test(tests, bad_meshes_are_refused);
    tcase_add_test(tests, principal_axes_of_symmetric_bodies_are_defined);
    return run_tests(tests);
}
