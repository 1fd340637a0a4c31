/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks inertias of bodies and operations of the configuration space through a daemon.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/client_fixture.h"
#include "system/wire_tree.h"
#include "system/runner.h"

enum { TREES = 12, SAMPLES = 7 };

static dyn_client_error error;

static dyn_client_body body_of(size_t count, const dyn_client_inertia_part *parts) {
    dyn_client_body body = DYN_CLIENT_BODY_INIT();
    wire_require(dyn_client_compute_inertia(client, count, parts, NULL, NULL, &body, &error), &error);
    return body;
}

static void assert_numbers(const double *found, const double *expected, size_t count, double tolerance) {
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(fabs(found[i] - expected[i]) <= tolerance, "[%zu] is %.17g, not %.17g", i, found[i], expected[i]);
    }
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* Compares shapes with Modern Robotics, figure 8.5; then checks the capsule's volume and its limit cases. */
START_TEST(shapes_have_the_printed_moments) {
    const double m = 3, r = 0.4, l = 1.5, s[3] = {0.3, 0.5, 0.7};
    const struct {
        dyn_client_inertia_part part;
        double volume, moments[3]; /* Ixx, Iyy, Izz */
    } cases[] = {
        {{.kind = DYN_CLIENT_INERTIA_KIND_BOX, .size = {0.3, 0.5, 0.7}},
         0.3 * 0.5 * 0.7,
         {m * (s[1] * s[1] + s[2] * s[2]) / 12, m * (s[0] * s[0] + s[2] * s[2]) / 12,
          m * (s[0] * s[0] + s[1] * s[1]) / 12}},
        {{.kind = DYN_CLIENT_INERTIA_KIND_ELLIPSOID, .size = {0.3, 0.5, 0.7}},
         4 * M_PI / 3 * 0.3 * 0.5 * 0.7,
         {m * (s[1] * s[1] + s[2] * s[2]) / 5, m * (s[0] * s[0] + s[2] * s[2]) / 5,
          m * (s[0] * s[0] + s[1] * s[1]) / 5}},
        {{.kind = DYN_CLIENT_INERTIA_KIND_SPHERE, .radius = 0.4},
         4 * M_PI / 3 * 0.4 * 0.4 * 0.4,
         {0.4 * m * r * r, 0.4 * m * r * r, 0.4 * m * r * r}},
        {{.kind = DYN_CLIENT_INERTIA_KIND_CYLINDER, .radius = 0.4, .length = 1.5},
         M_PI * 0.16 * 1.5,
         {m * (3 * r * r + l * l) / 12, m * (3 * r * r + l * l) / 12, m * r * r / 2}},
        {{.kind = DYN_CLIENT_INERTIA_KIND_CAPSULE, .radius = 0.4, .length = 0},
         4 * M_PI / 3 * 0.4 * 0.4 * 0.4,
         {0.4 * m * r * r, 0.4 * m * r * r, 0.4 * m * r * r}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dyn_client_inertia_part part = cases[i].part;
        part.mass = m;
        dyn_client_body body = body_of(1, &part);
        const double diagonal[3] = {body.inertia.rotational[0], body.inertia.rotational[3], body.inertia.rotational[5]};
        ck_assert_double_eq_tol(body.volume, cases[i].volume, 1e-14);
        assert_numbers(diagonal, cases[i].moments, 3, 1e-14);
        ck_assert(body.is_realizable && body.has_log_cholesky);
        part.mass = 0;
        part.density = 1000;
        ck_assert_double_eq_tol(body_of(1, &part).inertia.mass, 1000 * cases[i].volume, 1e-10);
    }
}
END_TEST

/* Checks that two halves of a box, moved into place, are the box, that rotation exchanges its moments, and Steiner's
 * theorem. */
START_TEST(parts_are_moved_turned_and_added) {
    const dyn_client_inertia_part whole = {
        .kind = DYN_CLIENT_INERTIA_KIND_BOX, .size = {0.2, 0.4, 0.6}, .density = 500};
    dyn_client_inertia_part halves[2] = {whole, whole};
    for (int i = 0; i < 2; i++) {
        halves[i].size[2] = 0.3;
        halves[i].pose.position[2] = i ? 0.15 : -0.15;
    }
    dyn_client_body box = body_of(1, &whole), sum = body_of(2, halves);
    ck_assert_double_eq_tol(sum.inertia.mass, box.inertia.mass, 1e-12);
    assert_numbers(sum.inertia.center_of_mass, box.inertia.center_of_mass, 3, 1e-15);
    assert_numbers(sum.inertia.rotational, box.inertia.rotational, 6, 1e-14);
    assert_numbers(sum.log_cholesky, box.log_cholesky, 10, 1e-13);
    dyn_client_inertia_part turned = whole;
    turned.pose.rotation = (const double[9]){0, -1, 0, 1, 0, 0, 0, 0, 1};
    dyn_client_body body = body_of(1, &turned);
    ck_assert_double_eq_tol(body.inertia.rotational[0], box.inertia.rotational[3], 1e-14);
    ck_assert_double_eq_tol(body.inertia.rotational[3], box.inertia.rotational[0], 1e-14);
    const double point[3] = {1, 0, 0};
    wire_require(dyn_client_compute_inertia(client, 1, &whole, point, NULL, &body, &error), &error);
    ck_assert_double_eq_tol(body.rotational_about[0], box.inertia.rotational[0], 1e-14);
    ck_assert_double_eq_tol(body.rotational_about[3], box.inertia.rotational[3] + box.inertia.mass, 1e-12);
}
END_TEST

/* Checks that I = R' diag(moments) R, that the axes are right-handed, also of bodies with equal moments, and that the
 * spatial inertia is that of a point's momentum: m (v + w x d) and I w + d x m v. */
START_TEST(axes_and_spatial_inertias_are_those_of_the_inertia) {
    static const int entry[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    const dyn_client_inertia_part parts[] = {
        {.kind = DYN_CLIENT_INERTIA_KIND_INERTIA,
         .inertia = {.mass = 2.5,
                     .center_of_mass = {0.1, -0.2, 0.3},
                     .rotational = {0.2, 0.01, -0.02, 0.3, 0.03, 0.25}}},
        {.kind = DYN_CLIENT_INERTIA_KIND_INERTIA, .inertia = {.mass = 1, .rotational = {-1, 2, 0.5, 0.3, 0.1, 2}}},
        {.kind = DYN_CLIENT_INERTIA_KIND_SPHERE, .radius = 0.4, .mass = 2},
        {.kind = DYN_CLIENT_INERTIA_KIND_CYLINDER, .radius = 0.4, .length = 3, .mass = 2},
        {.kind = DYN_CLIENT_INERTIA_KIND_CYLINDER, .radius = 0.4, .length = 0.1, .mass = 2}};
    const double point[3] = {0.3, 0.1, -0.4}, v[3] = {0.5, -1, 2}, w[3] = {-0.3, 0.8, 0.4};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        dyn_client_body body = DYN_CLIENT_BODY_INIT();
        wire_require(dyn_client_compute_inertia(client, 1, &parts[i], point, NULL, &body, &error), &error);
        const double *R = body.principal_axes, *moments = body.principal_moments;
        for (int k = 0; k < 9; k++) {
            int r = k / 3, c = k % 3;
            double I = R[r] * moments[0] * R[c] + R[3 + r] * moments[1] * R[3 + c] + R[6 + r] * moments[2] * R[6 + c];
            ck_assert_double_eq_tol(I, body.inertia.rotational[entry[k]], 1e-12);
            double product = R[(r + 1) % 3 * 3 + (c + 1) % 3] * R[(r + 2) % 3 * 3 + (c + 2) % 3] -
                             R[(r + 1) % 3 * 3 + (c + 2) % 3] * R[(r + 2) % 3 * 3 + (c + 1) % 3];
            ck_assert_double_eq_tol(R[k], product, 1e-12);
        }
        double d[3], expected[6], momentum[6] = {0}, m = body.inertia.mass;
        for (int k = 0; k < 3; k++) {
            d[k] = body.inertia.center_of_mass[k] - point[k];
        }
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            expected[k] = m * (v[k] + w[a] * d[b] - w[b] * d[a]);
            expected[3 + k] = m * (d[a] * v[b] - d[b] * v[a]);
            for (int j = 0; j < 3; j++) {
                expected[3 + k] += body.rotational_about[entry[3 * k + j]] * w[j];
            }
        }
        for (int k = 0; k < 36; k++) {
            momentum[k / 6] += body.spatial_inertia[k] * (k % 6 < 3 ? v[k % 6] : w[k % 6 - 3]);
        }
        assert_numbers(momentum, expected, 6, 1e-12);
    }
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    assert_numbers(body_of(1, &parts[2]).principal_axes, identity, 9, 0);
}
END_TEST

/* Checks that every output form of a body's parameters is accepted as input and is the same body. */
START_TEST(coordinates_come_back) {
    dyn_client_inertia_part part = {.kind = DYN_CLIENT_INERTIA_KIND_INERTIA,
                                    .inertia = {.mass = 2.5,
                                                .center_of_mass = {0.1, -0.2, 0.3},
                                                .rotational = {0.2, 0.01, -0.02, 0.3, 0.03, 0.25}}};
    dyn_client_body body = body_of(1, &part);
    dyn_client_inertia_part forms[3] = {{.kind = DYN_CLIENT_INERTIA_KIND_PARAMETERS},
                                        {.kind = DYN_CLIENT_INERTIA_KIND_PSEUDO_INERTIA},
                                        {.kind = DYN_CLIENT_INERTIA_KIND_LOG_CHOLESKY}};
    memcpy(forms[0].values, body.parameters, sizeof body.parameters);
    memcpy(forms[1].values, body.pseudo_inertia, sizeof body.pseudo_inertia);
    memcpy(forms[2].values, body.log_cholesky, sizeof body.log_cholesky);
    for (int i = 0; i < 3; i++) {
        dyn_client_body again = body_of(1, &forms[i]);
        ck_assert_double_eq_tol(again.inertia.mass, 2.5, 1e-13);
        assert_numbers(again.inertia.center_of_mass, part.inertia.center_of_mass, 3, 1e-14);
        assert_numbers(again.inertia.rotational, part.inertia.rotational, 6, 1e-13);
    }
}
END_TEST

/* Writes a cube of edge 2 as text STL; returns its length. */
static size_t write_cube(char *text, size_t size) {
    /* Corners of each face, counterclockwise seen from outside. */
    static const int faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    size_t used = (size_t)snprintf(text, size, "solid cube\n");
    for (int f = 0; f < 6; f++) {
        for (int half = 0; half < 2; half++) {
            const int corners[3] = {faces[f][0], faces[f][1 + half], faces[f][2 + half]};
            used += (size_t)snprintf(text + used, size - used, "facet normal 0 0 0\nouter loop\n");
            for (int i = 0; i < 3; i++) {
                used += (size_t)snprintf(text + used, size - used, "vertex %d %d %d\n", 2 * (corners[i] & 1),
                                         2 * (corners[i] >> 1 & 1), 2 * (corners[i] >> 2));
            }
            used += (size_t)snprintf(text + used, size - used, "endloop\nendfacet\n");
        }
    }
    return used + (size_t)snprintf(text + used, size - used, "endsolid cube\n");
}

static void must_refuse(dyn_client_inertia_part part, const char *field) {
    const dyn_client_inertia_part two[2] = {{.kind = DYN_CLIENT_INERTIA_KIND_SPHERE, .radius = 1, .mass = 1}, part};
    dyn_client_body body = DYN_CLIENT_BODY_INIT();
    char path[128];
    snprintf(path, sizeof path, "compute_inertia.parts[1]%s%s", field[0] ? "." : "", field);
    ck_assert_int_eq(dyn_client_compute_inertia(client, 2, two, NULL, NULL, &body, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, path);
    ck_assert_str_ne(error.message, "");
}

START_TEST(meshes_are_filled) {
    static const double millimetres = 0.001;
    char text[8192];
    size_t size = write_cube(text, sizeof text);
    dyn_client_inertia_part part = {
        .kind = DYN_CLIENT_INERTIA_KIND_MESH, .stl = text, .stl_size = size, .scale = &millimetres, .density = 7800};
    dyn_client_body body = body_of(1, &part);
    double mass = 7800 * 8e-9;
    ck_assert_double_eq_tol(body.volume, 8e-9, 1e-20);
    ck_assert_double_eq_tol(body.inertia.mass, mass, 1e-16);
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(body.inertia.center_of_mass[i], 0.001, 1e-15);
    }
    ck_assert_double_eq_tol(body.inertia.rotational[0], mass * 8e-6 / 12, 1e-20);
    part.density = 0;
    part.mass = 3;
    part.scale = NULL;
    body = body_of(1, &part);
    ck_assert_double_eq_tol(body.inertia.rotational[5], 3 * 8.0 / 12, 1e-13);
    ck_assert_double_eq_tol(body.volume, 8, 1e-13);
}
END_TEST

/* Checks that a scale factor of zero is refused. */
START_TEST(a_scale_of_zero_is_refused) {
    static const double zero = 0;
    char text[8192];
    size_t size = write_cube(text, sizeof text);
    must_refuse(
        (dyn_client_inertia_part){
            .kind = DYN_CLIENT_INERTIA_KIND_MESH, .stl = text, .stl_size = size, .scale = &zero, .mass = 1},
        "mesh.scale");
}
END_TEST

START_TEST(impossible_inertias_have_a_reason) {
    dyn_client_inertia_part part = {.kind = DYN_CLIENT_INERTIA_KIND_INERTIA,
                                    .inertia = {.mass = 1, .rotational = {1, 0, 0, 1, 0, 5}}};
    dyn_client_body body = body_of(1, &part);
    ck_assert(!body.is_realizable);
    ck_assert_ptr_nonnull(strstr(body.reason, "above the sum of the others"));
    ck_assert(!body.has_log_cholesky);
    part.inertia.mass = 0;
    body = body_of(1, &part);
    ck_assert_ptr_nonnull(strstr(body.reason, "the mass is 0 kg"));
    part.inertia = (dyn_client_inertia){0};
    body = body_of(1, &part);
    ck_assert_ptr_nonnull(strstr(body.reason, "the mass is 0 kg"));
    part.inertia = (dyn_client_inertia){.mass = 1};
    body = body_of(1, &part);
    ck_assert(body.is_realizable && !body.has_log_cholesky);
    ck_assert_str_eq(body.reason, "");
}
END_TEST

START_TEST(bad_parts_are_named) {
    dyn_client_inertia_part box = {.kind = DYN_CLIENT_INERTIA_KIND_BOX, .size = {1, 1, 1}, .mass = 1}, bad = box;
    bad.size[1] = -1;
    must_refuse(bad, "box.size");
    bad = box, bad.mass = -2;
    must_refuse(bad, "mass");
    bad = box, bad.mass = 0;
    must_refuse(bad, "amount");
    bad.density = -1;
    must_refuse(bad, "density");
    bad = box, bad.density = 3;
    must_refuse(bad, "density");
    bad = box, bad.mass = NAN;
    must_refuse(bad, "mass");
    bad = box, bad.pose.position[0] = INFINITY;
    must_refuse(bad, "pose.position");
    bad = box, bad.pose.rotation = (const double[9]){[4] = 1};
    must_refuse(bad, "pose.rotation.values");
    must_refuse((dyn_client_inertia_part){.kind = DYN_CLIENT_INERTIA_KIND_SPHERE, .radius = NAN, .mass = 1},
                "sphere.radius");
    must_refuse((dyn_client_inertia_part){.kind = DYN_CLIENT_INERTIA_KIND_CAPSULE, .length = -1, .mass = 1},
                "capsule.length");
    must_refuse((dyn_client_inertia_part){.kind = 0}, "body");
    must_refuse((dyn_client_inertia_part){.kind = 99}, "body");
    must_refuse(
        (dyn_client_inertia_part){.kind = DYN_CLIENT_INERTIA_KIND_MESH, .stl = "junk", .stl_size = 4, .mass = 1},
        "mesh.stl");
    must_refuse((dyn_client_inertia_part){.kind = DYN_CLIENT_INERTIA_KIND_PARAMETERS}, "parameters.values");
    must_refuse((dyn_client_inertia_part){.kind = DYN_CLIENT_INERTIA_KIND_PSEUDO_INERTIA, .values = {1, 2}},
                "pseudo_inertia.values");
    must_refuse((dyn_client_inertia_part){.kind = DYN_CLIENT_INERTIA_KIND_LOG_CHOLESKY, .values = {1000}},
                "log_cholesky");
    must_refuse((dyn_client_inertia_part){.kind = DYN_CLIENT_INERTIA_KIND_LOG_CHOLESKY, .values = {0, NAN}},
                "log_cholesky.values[1]");
    must_refuse((dyn_client_inertia_part){.kind = DYN_CLIENT_INERTIA_KIND_INERTIA, .inertia = {.mass = 1}, .mass = 2},
                "mass");
    dyn_client_body body = DYN_CLIENT_BODY_INIT();
    ck_assert_int_eq(dyn_client_compute_inertia(client, 0, NULL, NULL, NULL, &body, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "compute_inertia.parts");
}
END_TEST

/* ---- the configuration space ------------------------------------------------------------------------------------- */

/* Random tree with samples of its configurations and velocities, and memory for results. */
typedef struct states {
    wire_tree tree;
    double *q, *q_1, *v, *out, *back;
} states;

static void states_open(random_source *random, int k, states *opened) {
    const random_tree_options options = {
        .joints = 1 + random_index(random, 8), .base = k % 2 ? DYN_BASE_FIXED : DYN_BASE_FLOATING, .with_mimic = true};
    wire_tree_open(client, random, &options, "tree", &opened->tree);
    size_t nq = opened->tree.query.nq, nv = opened->tree.query.nv;
    opened->tree.query.samples = SAMPLES;
    opened->q = calloc(SAMPLES * nq, sizeof(double));
    opened->q_1 = calloc(SAMPLES * nq, sizeof(double));
    opened->out = calloc(SAMPLES * nq, sizeof(double));
    opened->back = calloc(SAMPLES * nq, sizeof(double));
    opened->v = calloc(SAMPLES * nv, sizeof(double));
    wire_require(dyn_client_random(client, &opened->tree.query, (uint64_t)k + 1, opened->q, &error), &error);
    wire_require(dyn_client_random(client, &opened->tree.query, (uint64_t)k + 77, opened->q_1, &error), &error);
    random_vector(random, (int)(SAMPLES * nv), 0.7, opened->v);
}

static void states_close(states *closed) {
    free(closed->q), free(closed->q_1), free(closed->out), free(closed->back), free(closed->v);
    wire_tree_close(&closed->tree);
}

/* Checks that the daemon's results equal those of the library. */
START_TEST(configurations_are_those_of_the_library) {
    random_source base = random_seed("configuration space through the wire", 20261125);
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        states x;
        dyn_error failure;
        double distance[SAMPLES], expected_distance[SAMPLES];
        states_open(&random, k, &x);
        const dyn_client_query *query = &x.tree.query;
        const dyn_model *model = x.tree.model;
        size_t nq = query->nq, nv = query->nv;
        uint64_t state = (uint64_t)k + 1;
        for (size_t s = 0; s < SAMPLES; s++) {
            dyn_random_configuration(model, &state, x.back + s * nq);
        }
        assert_numbers(x.q, x.back, SAMPLES * nq, 0);
        wire_require(dyn_client_integrate(client, query, x.q, x.v, 0.5, x.out, &error), &error);
        ck_assert_int_eq(dyn_integrate(model, SAMPLES, x.q, x.v, 0.5, x.back, &failure), DYN_OK);
        assert_numbers(x.out, x.back, SAMPLES * nq, 1e-15);
        wire_require(dyn_client_difference(client, query, x.q, x.q_1, x.out, &error), &error);
        ck_assert_int_eq(dyn_difference(model, SAMPLES, x.q, x.q_1, x.back, &failure), DYN_OK);
        assert_numbers(x.out, x.back, SAMPLES * nv, 0);
        wire_require(dyn_client_distance(client, query, x.q, x.q_1, distance, &error), &error);
        ck_assert_int_eq(dyn_distance(model, SAMPLES, x.q, x.q_1, expected_distance, &failure), DYN_OK);
        assert_numbers(distance, expected_distance, SAMPLES, 0);
        const double s = 0.3;
        wire_require(dyn_client_interpolate(client, query, x.q, x.q_1, 1, &s, x.out, &error), &error);
        ck_assert_int_eq(dyn_interpolate(model, SAMPLES, x.q, x.q_1, s, x.back, &failure), DYN_OK);
        assert_numbers(x.out, x.back, SAMPLES * nq, 1e-14);
        states_close(&x);
    }
}
END_TEST

/* Checks that each sample has its own s, and that the interpolation begins and ends at the given configurations. */
START_TEST(interpolation_accepts_one_s_for_each_sample) {
    random_source random = random_seed("interpolation through the wire", 20261126);
    states x;
    double s[SAMPLES], one;
    states_open(&random, 3, &x);
    const dyn_client_query *query = &x.tree.query;
    size_t nq = query->nq;
    for (int i = 0; i < SAMPLES; i++) {
        s[i] = i / (SAMPLES - 1.0);
    }
    wire_require(dyn_client_interpolate(client, query, x.q, x.q_1, SAMPLES, s, x.out, &error), &error);
    assert_numbers(x.out, x.q, nq, 1e-15);
    dyn_client_query single = *query;
    single.samples = 1;
    one = s[2];
    wire_require(dyn_client_interpolate(client, &single, x.q + 2 * nq, x.q_1 + 2 * nq, 1, &one, x.back, &error),
                 &error);
    assert_numbers(x.out + 2 * nq, x.back, nq, 0);
    wire_require(dyn_client_distance(client, query, x.out, x.q_1, s, &error), &error);
    ck_assert_double_eq_tol(s[SAMPLES - 1], 0, 1e-7);
    states_close(&x);
}
END_TEST

START_TEST(neutral_and_normal_configurations) {
    random_source random = random_seed("normal configurations", 20261127);
    states x;
    states_open(&random, 0, &x);
    size_t nq = x.tree.query.nq;
    double *zero = calloc(nq, sizeof *zero);
    dyn_zero_configuration(x.tree.model, zero);
    wire_require(dyn_client_neutral(client, &x.tree.query, x.out, &error), &error);
    for (size_t s = 0; s < SAMPLES; s++) {
        assert_numbers(x.out + s * nq, zero, nq, 0);
    }
    /* The floating base comes first: position, then quaternion. */
    for (int i = 3; i < 7; i++) {
        x.q[i] *= -3;
    }
    wire_require(dyn_client_normalize(client, &x.tree.query, x.q, x.out, &error), &error);
    double norm = 0;
    for (int i = 3; i < 7; i++) {
        norm += x.out[i] * x.out[i];
    }
    ck_assert_double_eq_tol(norm, 1, 1e-15);
    ck_assert_double_ge(x.out[6], 0);
    free(zero);
    states_close(&x);
}
END_TEST

/* Checks that another order of joints moves the numbers of a configuration to other places. */
START_TEST(configurations_follow_the_order_of_joints) {
    static const char *const backwards[] = {"wrist_3_joint", "wrist_2_joint",       "wrist_1_joint",
                                            "elbow_joint",   "shoulder_lift_joint", "shoulder_pan_joint"};
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 1);
    double q[6], reversed[6];
    wire_require(dyn_client_random(client, &query, 5, q, &error), &error);
    query.joint_count = 6;
    query.joint_names = backwards;
    wire_require(dyn_client_random(client, &query, 5, reversed, &error), &error);
    for (int i = 0; i < 6; i++) {
        ck_assert_double_eq(reversed[i], q[5 - i]);
    }
}
END_TEST

/* Loads the quadruped with a floating base under the name "walker". */
static void load_walker(void) {
    dyn_client_exported_model *exported;
    dyn_client_loaded_model *loaded;
    wire_require(
        dyn_client_export_model(client, "quadruped", DYN_CLIENT_MODEL_FORMAT_DESCRIPTION, NULL, 0, &exported, &error),
        &error);
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.description = exported->description, .name = "walker",
                                     .base = DYN_CLIENT_BASE_FLOATING);
    wire_require(dyn_client_load_model(client, &request, &loaded, &error), &error);
    dyn_client_loaded_model_free(loaded);
    dyn_client_exported_model_free(exported);
}

START_TEST(bad_configurations_are_named) {
    load_walker();
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "walker", .nq = 19, .nv = 18, .samples = 1);
    double q[19] = {0}, q_1[19] = {0}, out[19], distance, s = NAN;
    q[6] = q_1[6] = 1;
    q_1[4] = 0.5;
    ck_assert_int_eq(dyn_client_distance(client, &query, q, q_1, &distance, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "compute_configurations.distance.q_1[3]");
    q_1[4] = 0;
    q[9] = NAN;
    ck_assert_int_eq(dyn_client_difference(client, &query, q, q_1, out, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "compute_configurations.difference.q[9]");
    ck_assert_ptr_null(strstr(error.message, "q_0"));
    q[9] = 0;
    ck_assert_int_eq(dyn_client_interpolate(client, &query, q, q_1, 1, &s, out, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "compute_configurations.interpolate.s[0]");
    ck_assert_int_eq(dyn_client_integrate(client, &query, q, NULL, INFINITY, out, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "compute_configurations.integrate.step_length[0]");
    q[6] = 0;
    ck_assert_int_eq(dyn_client_normalize(client, &query, q, out, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "compute_configurations.normalize.q[3]");
    ck_assert_int_eq(dyn_client_difference(client, &query, q_1, q, out, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "compute_configurations.difference.q_1[3]");
}
END_TEST

int main(void) {
    TCase *all = tcase_create("bodies");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_test(all, shapes_have_the_printed_moments);
    tcase_add_test(all, parts_are_moved_turned_and_added);
    tcase_add_test(all, coordinates_come_back);
    tcase_add_test(all, axes_and_spatial_inertias_are_those_of_the_inertia);
    tcase_add_test(all, meshes_are_filled);
    tcase_add_test(all, a_scale_of_zero_is_refused);
    tcase_add_test(all, impossible_inertias_have_a_reason);
    tcase_add_test(all, bad_parts_are_named);
    tcase_add_test(all, configurations_are_those_of_the_library);
    tcase_add_test(all, interpolation_accepts_one_s_for_each_sample);
    tcase_add_test(all, neutral_and_normal_configurations);
    tcase_add_test(all, configurations_follow_the_order_of_joints);
    tcase_add_test(all, bad_configurations_are_named);
    return run_unforked("bodies", all);
}
