/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rotors, friction and springs: published numbers, refusals, and models derived from one with machine elements.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "branched_tree.h"
#include "lib/src/model/description.h"
#include "lib/src/model/normal_form.h"
#include "lib/src/model/placement.h"
#include "robots.h"
#include "support/algorithms.h"
#include "support/assertions.h"
#include "support/random.h"

/* Adds a rotor of the axial inertia of Modern Robotics, section 8.9.2. */
static void add_rotor(dyn_builder *builder, const char *name, const char *joint, double ratio,
                      dyn_rotor_coupling coupling) {
    const dyn_machine_element_description rotor = {
        .name = name,
        .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR,
        .joint = joint,
        .rotor = {.ratio = ratio, .coupling = coupling, .axial_inertia = 0.00125}};
    dyn_error error;
    dyn_status status = dyn_builder_add_machine_element(builder, &rotor, &error);
    ck_assert_msg(status == DYN_OK, "%s: %s", error.place, error.message);
}

/* Builds the arm of Modern Robotics, figure 8.1: links of length 1 with a mass of 1 at the end. The motor of the second
 * joint is at the elbow, with a mass of 1 and a stator of inertia 0.005. */
static dyn_builder *geared_arm(double ratio, dyn_rotor_coupling coupling) {
    dyn_builder *builder = new_builder();
    /* The point mass and the motor are at the end of the first link. */
    const dyn_inertia upper = {.mass = 2, .center_of_mass = {1, 0, 0}, .rotational = {0, 0, 0, 0, 0, 0.005}};
    const dyn_inertia lower = {.mass = 1, .center_of_mass = {1, 0, 0}};
    add_link_with(builder, "base", &(dyn_inertia){.mass = 1});
    add_link_with(builder, "upper", &upper);
    add_link_with(builder, "lower", &lower);
    connect_links(builder, "shoulder", DYN_JOINT_TYPE_CONTINUOUS, "base", "upper");
    dyn_joint_description elbow = joint_between("elbow", DYN_JOINT_TYPE_CONTINUOUS, "upper", "lower");
    elbow.position[0] = 1;
    add_joint(builder, &elbow);
    add_rotor(builder, "first", "shoulder", ratio, coupling);
    add_rotor(builder, "second", "elbow", ratio, coupling);
    return builder;
}

static void mass_matrix(const dyn_model *model, const double *q, double *M) {
    dyn_workspace *workspace;
    dyn_error error;
    ck_assert_int_eq(dyn_workspace_create(model, &workspace, &error), DYN_OK);
    dyn_status status = dyn_crba(model, workspace, 1, q, M, &error);
    ck_assert_msg(status == DYN_OK, "%s: %s", error.place, error.message);
    dyn_workspace_free(workspace);
}

/* Asserts M at two angles of the elbow: M11 and M12 less 2 cos and cos of the angle, and M22. */
static void expect_mass_matrix(double ratio, dyn_rotor_coupling coupling, double M11, double M12, double M22) {
    dyn_model *model = build_model(geared_arm(ratio, coupling), NULL, NULL);
    for (int i = 0; i < 2; i++) {
        double q[2] = {0.4, i == 0 ? 0 : 1.3}, M[4], c = cos(q[1]);
        mass_matrix(model, q, M);
        ck_assert_double_eq_tol(M[0], M11 + 2 * c, 1e-14 * M11);
        ck_assert_double_eq_tol(M[1], M12 + c, 1e-15 * M22);
        ck_assert_double_eq_tol(M[3], M22, 1e-15 * M22);
        ck_assert(M[2] == M[1]);
    }
    dyn_model_free(model);
}

START_TEST(geared_arm_has_the_published_mass_matrices) {
    expect_mass_matrix(10, DYN_ROTOR_COUPLING_EXACT, 4.13125, 1.0125, 1.125);
    expect_mass_matrix(100, DYN_ROTOR_COUPLING_EXACT, 16.50625, 1.125, 13.5);
}
END_TEST

START_TEST(reflected_inertia_is_on_the_diagonal_alone) {
    expect_mass_matrix(10, DYN_ROTOR_COUPLING_REFLECTED, 4.13, 1, 1.125);
    expect_mass_matrix(100, DYN_ROTOR_COUPLING_REFLECTED, 16.505, 1, 13.5);
}
END_TEST

START_TEST(diagonal_approximation_omits_the_coupling) {
    expect_mass_matrix(10, DYN_ROTOR_COUPLING_DIAGONAL, 4.13125, 1, 1.125);
    expect_mass_matrix(100, DYN_ROTOR_COUPLING_DIAGONAL, 16.50625, 1, 13.5);
}
END_TEST

/* ---- Rotors as links --------------------------------------------------------------------------------------------- */

/* Ways to describe the rotors of a robot. */
typedef enum rotor_form { ROTORS, ROTORS_DIAGONAL, ROTORS_REFLECTED, ROTOR_LINKS, NO_ROTORS } rotor_form;

static const dyn_rotor rotors[JOINTS] = {
    {.ratio = 20, .axial_inertia = 2e-3, .transverse_inertia = 3e-3, .mass = 0.7},
    {.ratio = -7, .axial_inertia = 0.05, .transverse_inertia = 0.03, .mass = 0.4, .position = {0.1, -0.2, 0.3}},
    {.ratio = 3, .axial_inertia = 0.2, .transverse_inertia = 0.1, .mass = 0.9, .axis = {1, 2, -2}},
    {.ratio = 40, .axial_inertia = 1e-3},
    {.ratio = -11, .axial_inertia = 0.02, .transverse_inertia = 0.05, .mass = 0.3, .axis = {0, 1, 0}},
    {.ratio = 1, .axial_inertia = 0.3, .transverse_inertia = 0.2, .mass = 0.5, .position = {0, 0.2, 0}},
    {.ratio = 30, .axial_inertia = 1e-3, .transverse_inertia = 2e-3, .mass = 0.6, .axis = {-1, 0, 3}},
    {.ratio = -5, .axial_inertia = 0.04, .axis = {0.6, 0.8, 0}},
};

/* Adds a rotor as a link with a mimic joint. */
static void add_rotor_link(dyn_builder *builder, const dyn_joint_description *driven, const dyn_rotor *rotor) {
    const double It = rotor->transverse_inertia;
    /* Without a mass the description of a rotor states its axial inertia only, which the link has about its axis. */
    const dyn_inertia inertia = {.mass = rotor->mass, .rotational = {It, 0, 0, It, 0, rotor->axial_inertia}};
    double axis[3], alignment[9];
    bool is_coaxial = rotor->axis[0] == 0 && rotor->axis[1] == 0 && rotor->axis[2] == 0;
    const double *from = is_coaxial ? driven->axis : rotor->axis;
    double length = norm(from, 3);
    for (int k = 0; k < 3; k++) {
        axis[k] = from[k] / length;
    }
    rotation_from_z(axis, alignment);
    char link[32], name[32];
    snprintf(link, sizeof link, "rotor of %s", driven->name);
    snprintf(name, sizeof name, "spin of %s", driven->name);
    add_link_with(builder, link, &inertia);
    dyn_joint_description spin = joint_between(name, DYN_JOINT_TYPE_CONTINUOUS, driven->parent_link, link);
    rotation_multiply(driven->rotation, alignment, spin.rotation);
    rotation_apply(driven->rotation, rotor->position, spin.position);
    for (int k = 0; k < 3; k++) {
        spin.position[k] += driven->position[k];
    }
    spin.mimic_joint = driven->name;
    spin.mimic_multiplier = rotor->ratio;
    add_joint(builder, &spin);
}

/* Builds a tree of geared joints of all types with one coordinate. */
static dyn_builder *geared_tree(rotor_form form) {
    dyn_builder *builder = branched_tree();
    for (int j = 0; j < JOINTS && form != NO_ROTORS; j++) {
        const dyn_joint_description joint = *dyn_builder_joint(builder, j);
        if (form == ROTOR_LINKS) {
            add_rotor_link(builder, &joint, &rotors[j]);
            continue;
        }
        dyn_machine_element_description rotor = {
            .name = joint.name, .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR, .joint = joint.name, .rotor = rotors[j]};
        rotor.rotor.coupling = (dyn_rotor_coupling)form; /* both lists have the same order */
        dyn_error error;
        require(dyn_builder_add_machine_element(builder, &rotor, &error), &error);
    }
    return builder;
}

/* Quantities of a model at one state. */
typedef struct quantities {
    double M[NV * NV], h[NV], a[NV], kinetic, potential, momentum[6];
} quantities;

static quantities evaluate(const dyn_model *model, const double *q, const double *v, const double *tau) {
    quantities x = {0};
    dyn_workspace *w;
    dyn_error error;
    require(dyn_workspace_create(model, &w, &error), &error);
    require(dyn_crba(model, w, 1, q, x.M, &error), &error);
    require(dyn_bias(model, w, 1, NULL, q, v, x.h, &error), &error);
    require(dyn_aba(model, w, 1, NULL, q, v, tau, NULL, x.a, &error), &error);
    require(dyn_energy(model, w, 1, NULL, q, v, &x.kinetic, &x.potential, &error), &error);
    require(dyn_centroidal_momentum(model, w, 1, q, v, x.momentum, &error), &error);
    dyn_workspace_free(w);
    return x;
}

static void random_state(random_source *random, double *q, double *v, double *tau) {
    for (int k = 0; k < NQ; k++) {
        q[k] = random_uniform(random, -1, 1);
    }
    random_unit(random, 4, q + 3);
    for (int k = 0; k < NV; k++) {
        v[k] = random_uniform(random, -2, 2);
        tau[k] = random_uniform(random, -5, 5);
    }
}

START_TEST(rotors_are_links_with_coupled_joints) {
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_model *model = build_model(geared_tree(ROTORS), &floating, NULL);
    dyn_model *twin = build_model(geared_tree(ROTOR_LINKS), &floating, NULL);
    random_source random = random_seed("rotors are links with coupled joints", 5);
    ck_assert_int_eq(dyn_model_nv(model), NV);
    ck_assert_double_eq_tol(dyn_model_mass(model), dyn_model_mass(twin), 1e-14 * dyn_model_mass(twin));
    for (int i = 0; i < 50; i++) {
        double q[NQ], v[NV], tau[NV];
        random_state(&random, q, v, tau);
        quantities x = evaluate(model, q, v, tau), y = evaluate(twin, q, v, tau);
        assert_norm_close("M", i, x.M, y.M, NV * NV, 1e-13);
        assert_norm_close("h", i, x.h, y.h, NV, 1e-13);
        assert_norm_close("a", i, x.a, y.a, NV, 1e-11);
        assert_norm_close("energy", i, &x.kinetic, &y.kinetic, 2, 1e-13);
        assert_norm_close("momentum", i, x.momentum, y.momentum, 6, 1e-13);
    }
    dyn_model_free(model);
    dyn_model_free(twin);
}
END_TEST

/* Without a floating base, the first joint has its rotor on the world. */
START_TEST(rotors_on_the_world_are_links_with_coupled_joints) {
    dyn_model *model = build_model(geared_tree(ROTORS), NULL, NULL);
    dyn_model *twin = build_model(geared_tree(ROTOR_LINKS), NULL, NULL);
    random_source random = random_seed("rotors on the world are links with coupled joints", 12);
    ck_assert_int_eq(dyn_model_nv(model), JOINTS);
    for (int i = 0; i < 50; i++) {
        double q[NQ], v[NV], tau[NV];
        random_state(&random, q, v, tau);
        quantities x = evaluate(model, q, v, tau), y = evaluate(twin, q, v, tau);
        assert_norm_close("M", i, x.M, y.M, JOINTS * JOINTS, 1e-13);
        assert_norm_close("h", i, x.h, y.h, JOINTS, 1e-13);
        assert_norm_close("a", i, x.a, y.a, JOINTS, 1e-11);
    }
    /* The mass of a rotor on the world counts in the twin only. */
    const algorithm_id compared[] = {ALGORITHM_GRAVITY,          ALGORITHM_CORIOLIS_MATRIX,
                                     ALGORITHM_KINETIC_ENERGY,   ALGORITHM_GRAVITY_DERIVATIVES,
                                     ALGORITHM_RNEA_DIRECTIONAL, ALGORITHM_ABA_DIRECTIONAL,
                                     ALGORITHM_RNEA_DERIVATIVES, ALGORITHM_FRAME_ACCELERATION};
    states x;
    draw_states("rotors on the world are links with coupled joints", &x);
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
        compare_algorithm(model, twin, compared[i], &x);
    }
    dyn_model_free(model);
    dyn_model_free(twin);
}
END_TEST

START_TEST(algorithms_compute_rotors_as_links) {
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_model *model = build_model(geared_tree(ROTORS), &floating, NULL);
    dyn_model *twin = build_model(geared_tree(ROTOR_LINKS), &floating, NULL);
    states x;
    draw_states("algorithms compute rotors as links", &x);
    compare_with_twin(model, twin, &x);
    dyn_model_free(model);
    dyn_model_free(twin);
}
END_TEST

/* Results replace an input of one row per state: v, then a or tau. */
START_TEST(results_replace_inputs) {
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_model *model = build_model(geared_tree(ROTORS), &floating, NULL);
    states x;
    draw_states("results replace inputs", &x);
    for (size_t n = 1; n <= STATES; n += STATES - 1) {
        double *tau = compute(model, ALGORITHM_RNEA, n, &x), *a = compute(model, ALGORITHM_ABA, n, &x);
        dyn_workspace *w = workspace_of(model);
        dyn_error error;
        for (int i = 0; i < 2; i++) {
            states y = x;
            double *to = i == 0 ? y.v : y.a, *accelerations = i == 0 ? y.v : y.tau;
            require(dyn_rnea(model, w, n, NULL, y.q, y.v, y.a, NULL, to, &error), &error);
            ck_assert_mem_eq(to, tau, n * NV * sizeof *to);
            y = x;
            require(dyn_aba(model, w, n, NULL, y.q, y.v, y.tau, NULL, accelerations, &error), &error);
            ck_assert_mem_eq(accelerations, a, n * NV * sizeof *a);
        }
        dyn_workspace_free(w);
        free(tau), free(a);
    }
    dyn_model_free(model);
}
END_TEST

START_TEST(joints_transmit_the_wrenches_of_their_links) {
    dyn_model *model = build_model(geared_tree(ROTORS), NULL, NULL);
    dyn_model *twin = build_model(geared_tree(ROTOR_LINKS), NULL, NULL);
    states x;
    draw_states("joints transmit the wrenches of their links", &x);
    double *own = compute(model, ALGORITHM_JOINT_WRENCHES, 1, &x);
    double *expected = compute(twin, ALGORITHM_JOINT_WRENCHES, 1, &x);
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        int k = dyn_model_find_joint(twin, dyn_model_joint(model, j)->name);
        assert_norm_close("wrench", j, own + 6 * j, expected + 6 * k, 6, 1e-12);
    }
    free(own), free(expected);
    dyn_model_free(model);
    dyn_model_free(twin);
}
END_TEST

/* Transforms a wrench to the axes and the origin of the world, from those of a frame with a pose in a link. */
static void carry_wrench(const dyn_model *model, dyn_workspace *w, const double *q, const char *link,
                         const dyn_pose *place, double wrench[6]) {
    dyn_pose pose, at;
    dyn_error error;
    int frame;
    double turned[6];
    require(dyn_model_find_frame(model, link, &frame, &error), &error);
    require(dyn_frame_pose(model, w, 1, q, frame, pose.position, pose.rotation, &error), &error);
    pose_compose(&pose, place, &at);
    rotation_apply(at.rotation, wrench, turned);
    rotation_apply(at.rotation, wrench + 3, turned + 3);
    const double *p = at.position, *f = turned + 3;
    const double moment[3] = {p[1] * f[2] - p[2] * f[1], p[2] * f[0] - p[0] * f[2], p[0] * f[1] - p[1] * f[0]};
    for (int i = 0; i < 3; i++) {
        wrench[i] = turned[i] + moment[i];
        wrench[3 + i] = f[i];
    }
}

/* Computes the wrenches of the rotors on their housings, and those that the joints of the same rotors as links
 * transmit, both in the world. */
static void compare_housings(const dyn_model *model, const dyn_model *twin, const states *x) {
    double own[STATES * JOINTS * 6], one[JOINTS * 6], expected[6 * (2 * JOINTS + 1)];
    const dyn_rotor_states at = {.n = STATES, .q = x->q, .v = x->v, .a = x->a};
    dyn_workspace *w[2];
    dyn_error error;
    require(dyn_workspace_create(model, &w[0], &error), &error);
    require(dyn_workspace_create(twin, &w[1], &error), &error);
    ck_assert_int_eq(dyn_model_rotor_count(model), JOINTS);
    require(dyn_housing_wrenches(model, w[0], &at, own, &error), &error);
    for (int i = 0; i < STATES; i++) {
        const double *q = x->q + i * NQ, *v = x->v + i * NV, *a = x->a + i * NV;
        const dyn_rotor_states alone = {.n = 1, .q = q, .v = v, .a = a};
        require(dyn_housing_wrenches(model, w[0], &alone, one, &error), &error);
        ck_assert_mem_eq(one, own + i * JOINTS * 6, sizeof one);
        require(dyn_joint_wrenches(twin, w[1], 1, NULL, q, v, a, NULL, expected, &error), &error);
        for (int j = 0; j < JOINTS; j++) {
            char link[32], name[32];
            const dyn_joint *joint =
                dyn_model_joint(model, dyn_model_find_joint(model, dyn_model_rotor_name(model, j)));
            snprintf(link, sizeof link, "rotor of j%d", j);
            snprintf(name, sizeof name, "spin of j%d", j);
            double *rotor = expected + 6 * dyn_model_find_joint(twin, name), sum[6];
            carry_wrench(model, w[0], q, tree_links[tree_parents[j]], &joint->origin, one + 6 * j);
            carry_wrench(twin, w[1], q, link, &identity_pose, rotor);
            for (int k = 0; k < 6; k++) {
                sum[k] = -rotor[k];
            }
            assert_norm_close("wrench on the housing", j, one + 6 * j, sum, 6, 1e-11);
        }
    }
    ck_assert_ptr_null(dyn_model_rotor_name(model, JOINTS));
    dyn_workspace_free(w[0]);
    dyn_workspace_free(w[1]);
}

START_TEST(housings_feel_the_wrenches_of_rotors_as_links) {
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_model *model = build_model(geared_tree(ROTORS), &floating, NULL);
    dyn_model *twin = build_model(geared_tree(ROTOR_LINKS), &floating, NULL);
    states x;
    draw_states("housings feel the wrenches of rotors as links", &x);
    compare_housings(model, twin, &x);
    dyn_model_free(model);
    dyn_model_free(twin);
}
END_TEST

/* Asserts that an algorithm computes `expected`, for all states at once and for the first one alone. */
static void expect_forces(const dyn_model *model, algorithm_id id, const states *x, const double *expected) {
    double *all = compute(model, id, STATES, x), *one = compute(model, id, 1, x);
    assert_norm_close(algorithm_get(id)->name, STATES, all, expected, STATES * NV, 1e-12);
    assert_norm_close(algorithm_get(id)->name, 1, one, expected, NV, 1e-12);
    free(all), free(one);
}

START_TEST(rotor_forces_are_those_that_links_alone_lack) {
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_model *bare = build_model(geared_tree(NO_ROTORS), &floating, NULL);
    dyn_model *diagonal = build_model(geared_tree(ROTORS_DIAGONAL), &floating, NULL);
    const double none[STATES * NV] = {0};
    states x;
    draw_states("rotor forces are those that links alone lack", &x);
    for (rotor_form form = ROTORS; form <= ROTORS_REFLECTED; form++) {
        dyn_model *model = build_model(geared_tree(form), &floating, NULL);
        double *rotor_part = difference(model, bare, &x), *coupling = difference(model, diagonal, &x);
        expect_forces(model, ALGORITHM_ROTOR_FORCES, &x, rotor_part);
        expect_forces(model, ALGORITHM_ROTOR_COUPLING_FORCES, &x, form == ROTORS ? coupling : none);
        free(rotor_part), free(coupling);
        dyn_model_free(model);
    }
    expect_forces(bare, ALGORITHM_ROTOR_FORCES, &x, none);
    dyn_model_free(diagonal);
    dyn_model_free(bare);
}
END_TEST

/* Asserts that a model has the parameters of its links alone, and the same base parameters. */
static void expect_parameters(const dyn_model *model, const dyn_model *bare) {
    size_t count = (size_t)dyn_model_parameter_count(bare);
    double *own = numbers(count), *expected = numbers(count);
    dyn_base_parameters *first, *second;
    dyn_error error;
    dyn_model_parameters(model, own);
    dyn_model_parameters(bare, expected);
    assert_norm_close("parameters", 0, own, expected, count, 1e-13);
    require(dyn_base_parameters_create(model, NULL, &first, &error), &error);
    require(dyn_base_parameters_create(bare, NULL, &second, &error), &error);
    int rank = dyn_base_parameters_count(second);
    ck_assert_int_eq(dyn_base_parameters_count(first), rank);
    for (int c = 0; c < rank; c++) {
        ck_assert_int_eq(dyn_base_parameters_columns(first)[c], dyn_base_parameters_columns(second)[c]);
    }
    dyn_base_parameters_free(first), dyn_base_parameters_free(second);
    free(own), free(expected);
}

START_TEST(regressors_are_those_of_links_alone) {
    dyn_model *bare = build_model(geared_tree(NO_ROTORS), NULL, NULL);
    states x;
    draw_states("regressors are those of links alone", &x);
    for (rotor_form form = ROTORS; form <= ROTORS_REFLECTED; form++) {
        dyn_model *model = build_model(geared_tree(form), NULL, NULL);
        expect_parameters(model, bare);
        for (algorithm_id id = ALGORITHM_REGRESSOR; id <= ALGORITHM_ENERGY_REGRESSOR; id++) {
            double *own = compute(model, id, 1, &x), *expected = compute(bare, id, 1, &x);
            assert_norm_close(algorithm_get(id)->name, (int)form, own, expected, algorithm_width(id, bare), 1e-14);
            free(own), free(expected);
        }
        dyn_model_free(model);
    }
    dyn_model_free(bare);
}
END_TEST

START_TEST(formulations_compute_rotors_or_refuse_them) {
    dyn_model *model = build_model(geared_tree(ROTORS_DIAGONAL), NULL, NULL);
    states x;
    draw_states("formulations compute rotors or refuse them", &x);
    compare_formulations(model, &x);
    dyn_model_free(model);
}
END_TEST

START_TEST(payloads_leave_rotors_in_place) {
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    double *results[2];
    states x;
    draw_states("payloads leave rotors in place", &x);
    for (int form = 0; form < 2; form++) {
        dyn_model *model = build_model(geared_tree(form == 0 ? ROTORS : ROTOR_LINKS), &floating, NULL);
        const dyn_model *loaded;
        dyn_workspace *w;
        dyn_error error;
        dyn_payload payload = {.inertia = {.mass = 3, .center_of_mass = {0.1, 0.2, 0}}};
        require(dyn_model_find_frame(model, "l2", &payload.link, &error), &error);
        require(dyn_workspace_create(model, &w, &error), &error);
        require(dyn_workspace_load(w, 1, &payload, &loaded, &error), &error);
        results[form] = numbers(NV);
        require(dyn_aba(loaded, w, 1, NULL, x.q, x.v, x.tau, NULL, results[form], &error), &error);
        dyn_workspace_free(w);
        dyn_model_free(model);
    }
    assert_norm_close("a", 0, results[0], results[1], NV, 1e-11);
    free(results[0]), free(results[1]);
}
END_TEST

START_TEST(forward_dynamics_of_approximations_inverts_inverse_dynamics) {
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_model *model = build_model(geared_tree(_i == 0 ? ROTORS_DIAGONAL : ROTORS_REFLECTED), &floating, NULL);
    dyn_model *exact = build_model(geared_tree(ROTORS), &floating, NULL);
    random_source random = random_seed("forward dynamics of the diagonal approximation", 6);
    for (int i = 0; i < 50; i++) {
        double q[NQ], v[NV], tau[NV], left[NV];
        random_state(&random, q, v, tau);
        quantities x = evaluate(model, q, v, tau), y = evaluate(exact, q, v, tau);
        for (int k = 0; k < NV; k++) {
            left[k] = x.h[k];
            for (int l = 0; l < NV; l++) {
                left[k] += x.M[k * NV + l] * x.a[l];
            }
            if (_i == 0) {
                ck_assert_double_eq_tol(x.M[k * NV + k], y.M[k * NV + k], 1e-13 * y.M[k * NV + k]);
            }
        }
        assert_norm_close("tau", i, left, tau, NV, 1e-11);
    }
    dyn_model_free(model);
    dyn_model_free(exact);
}
END_TEST

/* Ties two links of a tree by a rod. */
static dyn_builder *close_loop(dyn_builder *builder) {
    dyn_constraint_description rod = {.name = "rod", .kind = DYN_CONSTRAINT_KIND_DISTANCE, .distance = 1.5};
    rod.predecessor = (dyn_constraint_frame){.link = "l3", .pose = identity_pose};
    rod.successor = (dyn_constraint_frame){.link = "l5", .pose = identity_pose};
    dyn_error error;
    require(dyn_builder_add_constraint(builder, &rod, &error), &error);
    return builder;
}

START_TEST(constraints_act_on_rotors_as_on_links) {
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    double *results[2];
    states x;
    draw_states("constraints act on rotors as on links", &x);
    for (int i = 0; i < 2; i++) {
        dyn_model *model = build_model(close_loop(geared_tree(i == 0 ? ROTORS : ROTOR_LINKS)), &floating, NULL);
        dyn_workspace *w;
        dyn_error error;
        results[i] = numbers(STATES * (NV + 1));
        require(dyn_workspace_create(model, &w, &error), &error);
        require(dyn_constrained_forward_dynamics(model, w, STATES, NULL, x.q, x.v, x.tau, NULL, NULL, results[i],
                                                 results[i] + STATES * NV, NULL, &error),
                &error);
        dyn_workspace_free(w);
        dyn_model_free(model);
    }
    assert_norm_close("a, lambda", 0, results[0], results[1], STATES * (NV + 1), 1e-9);
    free(results[0]), free(results[1]);
}
END_TEST

/* ---- Descriptions ------------------------------------------------------------------------------------------------ */

/* Returns a robot with rotors, friction and a spring. */
static dyn_builder *machine(void) {
    dyn_builder *builder = geared_tree(ROTORS);
    const dyn_machine_element_description elements[] = {
        {.name = "drag",
         .kind = DYN_MACHINE_ELEMENT_KIND_FRICTION,
         .joint = "j1",
         .friction = {.side = DYN_GEAR_SIDE_ROTOR,
                      .viscous = {0.1, 0.2},
                      .coulomb = {0.3, 0.4},
                      .breakaway = {0.5, 0},
                      .stribeck_velocity = 0.7,
                      .transition_velocity = 0.01}},
        {.name = "return", .kind = DYN_MACHINE_ELEMENT_KIND_SPRING, .joint = "j3", .spring = {40, 0.125}}};
    for (int i = 0; i < COUNT(elements); i++) {
        dyn_error error;
        require(dyn_builder_add_machine_element(builder, &elements[i], &error), &error);
    }
    return builder;
}

static char *canonical(const dyn_model *model) {
    char *text;
    size_t length;
    dyn_error error;
    require(dyn_model_canonical(model, &text, &length, &error), &error);
    return text;
}

START_TEST(descriptions_are_read_as_they_were_written) {
    dyn_model *model = build_model(machine(), NULL, NULL), *again;
    dyn_builder *builder;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    dyn_error error;
    char *text, *twice;
    size_t length;
    require(dyn_description_write(model, &text, &length, &error), &error);
    require(dyn_description_read(text, length, &builder, &options, &error), &error);
    ck_assert_int_eq(dyn_builder_machine_element_count(builder), JOINTS + 2);
    again = build_model(builder, &options, NULL);
    require(dyn_description_write(again, &twice, &length, &error), &error);
    ck_assert_str_eq(text, twice);
    char *first = canonical(model), *second = canonical(again);
    ck_assert_str_eq(first, second);
    ck_assert_ptr_nonnull(strstr(first, "element \"drag\" kind 2"));
    dyn_text_free(text), dyn_text_free(twice), dyn_text_free(first), dyn_text_free(second);
    dyn_model_free(model);
    dyn_model_free(again);
}
END_TEST

static void refuse_element(const dyn_machine_element_description *element, const char *part, const char *fragment) {
    dyn_builder *builder = geared_tree(ROTORS);
    dyn_error error;
    dyn_status status = dyn_builder_add_machine_element(builder, element, &error);
    expect_error(status, &error, DYN_INVALID_ARGUMENT, "machine element x", fragment);
    ck_assert_str_eq(error.site.part, part);
    dyn_builder_free(builder);
}

START_TEST(wrong_values_are_refused_by_name) {
    dyn_machine_element_description e = {
        .name = "x", .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR, .joint = "j0", .rotor = {.ratio = 0, .axial_inertia = 1}};
    refuse_element(&e, "rotor.ratio", "gear ratio is 0");
    e.rotor = (dyn_rotor){.ratio = 2, .axial_inertia = -1};
    refuse_element(&e, "rotor.axial_inertia", "-1; state a positive number");
    e.rotor = (dyn_rotor){.ratio = 2, .axial_inertia = 1, .transverse_inertia = 1};
    refuse_element(&e, "rotor.transverse_inertia", "mass is zero");
    e.rotor = (dyn_rotor){.ratio = 2, .axial_inertia = 1, .transverse_inertia = 0.4, .mass = 1};
    refuse_element(&e, "rotor.axial_inertia", "twice");
    e.kind = DYN_MACHINE_ELEMENT_KIND_FRICTION;
    e.friction = (dyn_friction){.viscous = {0, -0.5}};
    refuse_element(&e, "friction.viscous[1]", "-0.5");
    e.friction = (dyn_friction){.coulomb = {2, 2}, .breakaway = {1, 2}};
    refuse_element(&e, "friction.breakaway[0]", "less than the Coulomb friction of 2");
    e.friction = (dyn_friction){.coulomb = {2, 2}, .breakaway = {0, 3}};
    refuse_element(&e, "friction.stribeck_velocity", "Stribeck velocity is zero");
    e.kind = DYN_MACHINE_ELEMENT_KIND_SPRING;
    e.spring = (dyn_spring){.stiffness = 1, .rest = NAN};
    refuse_element(&e, "spring.rest", "nan");
}
END_TEST

static void refuse_model(const dyn_machine_element_description *element, const char *fragment) {
    dyn_builder *builder = geared_tree(ROTOR_LINKS);
    dyn_model *model;
    dyn_error error;
    require(dyn_builder_add_machine_element(builder, element, &error), &error);
    dyn_status status = dyn_builder_build(builder, NULL, NULL, &model, &error);
    expect_error(status, &error, DYN_INVALID_ARGUMENT, "machine element x", fragment);
    dyn_builder_free(builder);
}

START_TEST(joints_that_do_not_fit_are_refused_by_name) {
    dyn_machine_element_description e = {
        .name = "x", .kind = DYN_MACHINE_ELEMENT_KIND_SPRING, .joint = "nowhere", .spring = {1, 0}};
    refuse_model(&e, "no joint \"nowhere\"");
    e.kind = DYN_MACHINE_ELEMENT_KIND_FRICTION;
    e.joint = "j0";
    e.friction = (dyn_friction){.side = DYN_GEAR_SIDE_ROTOR};
    refuse_model(&e, "has 0 rotors");
}
END_TEST

/* ---- Operations -------------------------------------------------------------------------------------------------- */

static double kinetic_energy(const dyn_model *model, const double *q, const double *v) {
    dyn_workspace *w;
    dyn_error error;
    double kinetic, potential;
    require(dyn_workspace_create(model, &w, &error), &error);
    require(dyn_energy(model, w, 1, NULL, q, v, &kinetic, &potential, &error), &error);
    dyn_workspace_free(w);
    return kinetic;
}

START_TEST(locked_joints_hold_their_rotors_in_place) {
    dyn_model *model = build_model(geared_tree(ROTORS), NULL, NULL), *locked;
    const char *const names[] = {"j1", "j2"};
    double q[JOINTS] = {0.3, 1.1, -0.8, 0.2, 0.5, -1.3}, v[JOINTS] = {1, 0, 0, -0.5, 0.7, 0.4};
    const double q_left[] = {q[0], q[3], q[4], q[5], q[6], q[7]}, v_left[] = {v[0], v[3], v[4], v[5], v[6], v[7]};
    dyn_error error;
    require(dyn_model_lock(model, 2, names, q, &locked, &error), &error);
    double before = kinetic_energy(model, q, v), after = kinetic_energy(locked, q_left, v_left);
    ck_assert_double_eq_tol(before, after, 1e-13 * before);
    ck_assert_int_eq(dyn_model_machine_element_count(locked), JOINTS);
    dyn_model_free(model);
    dyn_model_free(locked);
}
END_TEST

START_TEST(reversed_joints_keep_the_kinetic_energy) {
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_model *model = build_model(geared_tree(ROTORS), &floating, NULL), *moved;
    dyn_error error;
    double q[NQ] = {0, 0, 0, 0, 0, 0, 1}, v[NV] = {0};
    v[6] = 1.5, v[7] = 0.25; /* j0, and j1, which follows it */
    require(dyn_model_change_base(model, "l0", DYN_BASE_FLOATING, &moved, &error), &error);
    /* The old root is at rest in the world; the new one turns with the velocity of j0. */
    int j = dyn_model_find_joint(moved, "j0"), k = dyn_model_find_joint(moved, "j1");
    const dyn_joint *joint = dyn_model_joint(model, dyn_model_find_joint(model, "j0"));
    double p[NQ] = {0, 0, 0, 0, 0, 0, 1}, u[NV] = {0};
    for (int i = 0; i < 3; i++) {
        u[3 + i] = 1.5 * joint->axis[i];
    }
    u[dyn_model_joint(moved, j)->v_index] = 1.5;
    u[dyn_model_joint(moved, k)->v_index] = 0.25;
    double before = kinetic_energy(model, q, v), after = kinetic_energy(moved, p, u);
    ck_assert_double_eq_tol(before, after, 1e-13 * before);
    dyn_model_free(moved);
    dyn_status status = dyn_model_change_base(model, "l1", DYN_BASE_FLOATING, &moved, &error);
    expect_error(status, &error, DYN_FAILED_PRECONDITION, "machine element j1", "reversed");
    dyn_model_free(model);
}
END_TEST

START_TEST(removed_joints_take_their_elements_along) {
    dyn_model *model = build_model(machine(), NULL, NULL), *left, *both;
    dyn_error error;
    require(dyn_model_detach(model, "l3", &left, &error), &error);
    ck_assert_int_eq(dyn_model_machine_element_count(left), JOINTS); /* without rotor and spring of j3 */
    require(dyn_model_merge(left, "l2", NULL, model, "b/", &both, &error), &error);
    ck_assert_int_eq(dyn_model_machine_element_count(both), 2 * JOINTS + 2);
    dyn_model_free(model);
    dyn_model_free(left);
    dyn_model_free(both);
}
END_TEST

/* ---- Friction and springs ---------------------------------------------------------------------------------------- */

/* Builds a wheel with the inertia 2 about its vertical axis, and one machine element. */
static dyn_model *wheel(const dyn_machine_element_description *element, double ratio) {
    dyn_builder *builder = new_builder();
    add_link_with(builder, "base", &(dyn_inertia){.mass = 1});
    add_link_with(builder, "rim", &(dyn_inertia){.mass = 1, .rotational = {1, 0, 0, 1, 0, 2}});
    connect_links(builder, "j", DYN_JOINT_TYPE_CONTINUOUS, "base", "rim");
    if (ratio != 0) {
        add_rotor(builder, "rotor", "j", ratio, DYN_ROTOR_COUPLING_EXACT);
    }
    dyn_error error;
    require(dyn_builder_add_machine_element(builder, element, &error), &error);
    return build_model(builder, NULL, NULL);
}

/* Simulates `steps` steps of a wheel, in place. */
static void spin(const dyn_model *model, dyn_integrator integrator, double dt, int steps, double *q, double *v) {
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    options.integrator = integrator;
    options.step_length = dt;
    dyn_simulator *simulator;
    dyn_error error;
    require(dyn_simulator_create(model, &options, &simulator, &error), &error);
    for (int i = 0; i < steps; i++) {
        require(dyn_simulator_step(simulator, 1, NULL, q, v, NULL, NULL, &error), &error);
    }
    dyn_simulator_free(simulator);
}

/* Returns the friction of a wheel at the rate v, from its deceleration in a short step. */
static double friction_at(const dyn_friction *friction, double ratio, double v) {
    const dyn_machine_element_description e = {
        .name = "drag", .kind = DYN_MACHINE_ELEMENT_KIND_FRICTION, .joint = "j", .friction = *friction};
    dyn_model *model = wheel(&e, ratio);
    double q = 0, after = v, dt = 0x1p-10, inertia = 2 + ratio * ratio * 0.00125;
    spin(model, DYN_INTEGRATOR_EXPLICIT_EULER, dt, 1, &q, &after);
    dyn_model_free(model);
    return inertia * (v - after) / dt;
}

/* Returns the friction of a law for one direction. */
static double law(double b, double f_c, double f_s, double v_s, double w, double v) {
    return b * v + (f_c + (f_s - f_c) / (1 + v * v / (v_s * v_s))) * v / sqrt(v * v + w * w);
}

START_TEST(friction_laws_are_those_of_their_figures) {
    const double w = 1e-3;
    const struct {
        double b, f_c, f_s;
    } laws[] = {{0.5, 0, 0}, {0, 0.3, 0.3}, {0.5, 0.3, 0.3}, {0, 0.3, 0.9}, {0.5, 0.3, 0.9}};
    for (int i = 0; i < COUNT(laws); i++) {
        const double b = laws[i].b, f_c = laws[i].f_c, f_s = laws[i].f_s;
        const dyn_friction f = {.viscous = {b, 2 * b},
                                .coulomb = {f_c, 3 * f_c},
                                .breakaway = {f_s, 4 * f_s},
                                .stribeck_velocity = 0.2,
                                .transition_velocity = w};
        for (double v = -1; v <= 1; v += 0.0625) {
            double expected = v > 0 ? law(b, f_c, f_s, 0.2, w, v) : law(2 * b, 3 * f_c, 4 * f_s, 0.2, w, v);
            ck_assert_double_eq_tol(friction_at(&f, 0, v), expected, 1e-11);
        }
    }
}
END_TEST

START_TEST(friction_on_the_side_of_the_rotor_is_reflected) {
    const dyn_friction f = {.side = DYN_GEAR_SIDE_ROTOR,
                            .viscous = {0.01, 0.02},
                            .coulomb = {0.3, 0.1},
                            .breakaway = {0.5, 0.2},
                            .stribeck_velocity = 3,
                            .transition_velocity = 0.05};
    const double G = -8;
    for (double v = -1; v <= 1; v += 0.125) {
        double rate = G * v;
        double of_rotor = rate > 0 ? law(0.01, 0.3, 0.5, 3, 0.05, rate) : law(0.02, 0.1, 0.2, 3, 0.05, rate);
        ck_assert_double_eq_tol(friction_at(&f, G, v), G * of_rotor, 1e-10);
    }
}
END_TEST

START_TEST(stiff_friction_stops_a_wheel_and_never_drives_it) {
    const dyn_machine_element_description e = {
        .name = "brake",
        .kind = DYN_MACHINE_ELEMENT_KIND_FRICTION,
        .joint = "j",
        .friction = {.coulomb = {1e4, 1e4}, .breakaway = {3e4, 3e4}, .stribeck_velocity = 0.01}};
    dyn_model *model = wheel(&e, 0);
    double q = 0, v = 5;
    for (int i = 0; i < 100; i++) {
        double before = v;
        spin(model, DYN_INTEGRATOR_SEMI_IMPLICIT_EULER, 0.01, 1, &q, &v);
        ck_assert(v >= 0 && v <= before);
    }
    ck_assert_double_lt(v, 1e-6);
    dyn_model_free(model);
}
END_TEST

START_TEST(spring_swings_about_its_rest_position) {
    const dyn_machine_element_description e = {.name = "spring",
                                               .kind = DYN_MACHINE_ELEMENT_KIND_SPRING,
                                               .joint = "j",
                                               .spring = {.stiffness = 50, .rest = 0.4}};
    dyn_model *model = wheel(&e, 0);
    double q = 0.7, v = 0, rate = 5; /* sqrt(50 / 2) */
    spin(model, DYN_INTEGRATOR_RUNGE_KUTTA_4, 1e-3, 1000, &q, &v);
    ck_assert_double_eq_tol(q, 0.4 + 0.3 * cos(rate), 1e-10);
    ck_assert_double_eq_tol(v, -0.3 * rate * sin(rate), 1e-10);
    dyn_model_free(model);
}
END_TEST

/* ---- Passive forces ---------------------------------------------------------------------------------------------- */

/* Builds the machine of the tests with damping and friction in two of its joints. */
static dyn_model *lossy_machine(void) {
    dyn_builder *builder = machine();
    builder->joints[0].damping = 0.4;
    builder->joints[0].friction = 0.6;
    builder->joints[4].friction = 0.3;
    return build_model(builder, NULL, NULL);
}

START_TEST(passive_forces_are_those_of_simulations) {
    dyn_model *model = lossy_machine();
    const dyn_passive_parts parts = {.damping = true, .friction = true, .springs = true, .friction_velocity = 0.02};
    random_source random = random_seed("passive forces are those of simulations", 8);
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    options.integrator = DYN_INTEGRATOR_EXPLICIT_EULER;
    options.step_length = 0x1p-10;
    options.friction_velocity = parts.friction_velocity;
    dyn_simulator *simulator;
    dyn_workspace *w;
    dyn_error error;
    require(dyn_simulator_create(model, &options, &simulator, &error), &error);
    require(dyn_workspace_create(model, &w, &error), &error);
    for (int i = 0; i < 20; i++) {
        double q[JOINTS], v[JOINTS], next_q[JOINTS], next_v[JOINTS], r[JOINTS] = {0}, a[JOINTS], found[JOINTS];
        for (int k = 0; k < JOINTS; k++) {
            next_q[k] = q[k] = random_uniform(&random, -1, 1);
            next_v[k] = v[k] = random_uniform(&random, -1, 1) * (i % 2 ? 0.02 : 2);
        }
        require(dyn_add_passive_forces(model, 1, &parts, 1, q, v, r, &error), &error);
        require(dyn_aba(model, w, 1, NULL, q, v, r, NULL, a, &error), &error);
        require(dyn_simulator_step(simulator, 1, NULL, next_q, next_v, NULL, NULL, &error), &error);
        for (int k = 0; k < JOINTS; k++) {
            found[k] = (next_v[k] - v[k]) / options.step_length;
        }
        assert_norm_close("a", i, found, a, JOINTS, 1e-10);
    }
    dyn_simulator_free(simulator);
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

START_TEST(friction_never_adds_energy) {
    dyn_model *model = lossy_machine();
    const dyn_passive_parts parts = {.damping = true, .friction = true, .friction_velocity = 1e-3};
    random_source random = random_seed("friction never adds energy", 9);
    dyn_error error;
    for (int i = 0; i < 1000; i++) {
        double v[JOINTS], q[JOINTS] = {0}, r[JOINTS] = {0}, power = 0;
        for (int k = 0; k < JOINTS; k++) {
            v[k] = random_uniform(&random, -1, 1) * pow(10, random_uniform(&random, -6, 3));
        }
        require(dyn_add_passive_forces(model, 1, &parts, 1, q, v, r, &error), &error);
        for (int k = 0; k < JOINTS; k++) {
            ck_assert(r[k] * v[k] <= 0);
            power += r[k] * v[k];
        }
        ck_assert(power < 0);
    }
    dyn_model_free(model);
}
END_TEST

/* Returns kinetic, potential and spring energy. */
static double total_energy(const dyn_model *model, dyn_workspace *w, const double *q, const double *v) {
    double kinetic, potential, spring;
    dyn_error error;
    require(dyn_energy(model, w, 1, NULL, q, v, &kinetic, &potential, &error), &error);
    dyn_spring_energy(model, 1, q, &spring);
    return kinetic + potential + spring;
}

/* Returns the power of the joint forces tau and of friction. */
static double power_into(const dyn_model *model, const double *q, const double *v, const double *tau) {
    const dyn_passive_parts losses = {.damping = true, .friction = true, .friction_velocity = 0.1};
    double sum[JOINTS], power = 0;
    dyn_error error;
    memcpy(sum, tau, sizeof sum);
    require(dyn_add_passive_forces(model, 1, &losses, 1, q, v, sum, &error), &error);
    for (int k = 0; k < JOINTS; k++) {
        power += sum[k] * v[k];
    }
    return power;
}

/* The rate of kinetic, potential and spring energy is the power of the motors less the losses. */
START_TEST(power_balances_along_motions) {
    dyn_model *model = lossy_machine();
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    options.integrator = DYN_INTEGRATOR_RUNGE_KUTTA_4;
    options.step_length = 1e-4;
    options.friction_velocity = 0.1;
    const double tau[JOINTS] = {3, -2, 1, 4, -1, 0.5};
    double q[JOINTS] = {0.2, -0.4, 0.3, 0.1, 0.7, -0.2}, v[JOINTS] = {0}, work = 0, exchanged = 0;
    dyn_step_input input = DYN_STEP_INPUT_INIT();
    input.tau = tau;
    dyn_simulator *simulator;
    dyn_workspace *w;
    dyn_error error;
    require(dyn_simulator_create(model, &options, &simulator, &error), &error);
    require(dyn_workspace_create(model, &w, &error), &error);
    double start = total_energy(model, w, q, v), power = power_into(model, q, v, tau);
    for (int i = 0; i < 10000; i++) {
        require(dyn_simulator_step(simulator, 1, &input, q, v, NULL, NULL, &error), &error);
        double next = power_into(model, q, v, tau);
        work += (power + next) / 2 * options.step_length;
        exchanged += fabs(power) * options.step_length;
        power = next;
    }
    ck_assert_double_gt(exchanged, 1);
    ck_assert_double_eq_tol(total_energy(model, w, q, v) - start, work, 1e-6 * exchanged);
    dyn_simulator_free(simulator);
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* ---- Bristles ---------------------------------------------------------------------------------------------------- */

/* Parameters of Canudas de Wit and others 1995, table 1: s_0, s_1, f_c, f_s, v_s and b of a mass of 1 kg. */
static const dyn_friction lugre = {.viscous = {0.4, 0.4},
                                   .coulomb = {1, 1},
                                   .breakaway = {1.5, 1.5},
                                   .stribeck_velocity = 0.001,
                                   .bristle_stiffness = 1e5,
                                   .bristle_damping = 316.22776601683796};

/* Mass on a rail with that friction, and its state. */
typedef struct sliding_mass {
    dyn_model *model;
    dyn_simulator *simulator;
    double q, v, z;
} sliding_mass;

static sliding_mass create_mass(void) {
    dyn_builder *builder = new_builder();
    sliding_mass made = {0};
    const dyn_machine_element_description friction = {
        .name = "guide", .kind = DYN_MACHINE_ELEMENT_KIND_FRICTION, .joint = "rail", .friction = lugre};
    dyn_error error;
    add_link_with(builder, "base", &(dyn_inertia){.mass = 1});
    add_link_with(builder, "block", &(dyn_inertia){.mass = 1});
    connect_links(builder, "rail", DYN_JOINT_TYPE_PRISMATIC, "base", "block");
    require(dyn_builder_add_machine_element(builder, &friction, &error), &error);
    made.model = build_model(builder, NULL, NULL);
    ck_assert_int_eq(dyn_model_bristle_count(made.model), 1);
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    options.has_gravity = true, options.gravity[2] = 0;
    require(dyn_simulator_create(made.model, &options, &made.simulator, &error), &error);
    return made;
}

static void free_mass(sliding_mass *mass) {
    dyn_simulator_free(mass->simulator);
    dyn_model_free(mass->model);
}

/* Moves a mass by a millisecond under a force. */
static void push_mass(sliding_mass *mass, double force) {
    const dyn_step_input input = DYN_STEP_INPUT_INIT(.tau = &force, .bristles = &mass->z);
    dyn_error error;
    require(dyn_simulator_step(mass->simulator, 1, &input, &mass->q, &mass->v, NULL, NULL, &error), &error);
}

START_TEST(bristles_hold_a_mass_like_a_spring_below_breakaway) {
    sliding_mass mass = create_mass();
    for (int i = 0; i < 5000; i++) {
        push_mass(&mass, 0.9);
    }
    ck_assert_double_lt(fabs(mass.v), 1e-9);
    ck_assert_double_eq_tol(mass.z, 0.9 / 1e5, 1e-11);
    ck_assert_double_lt(mass.q, 5 * 0.9 / 1e5);
    for (int i = 0; i < 5000; i++) {
        push_mass(&mass, 0);
    }
    ck_assert_double_lt(fabs(mass.z), 1e-11);
    free_mass(&mass);
}
END_TEST

/* Sliding at a constant rate takes f_c + (f_s - f_c) / (1 + (v / v_s)^2) + b v. */
START_TEST(bristles_slide_with_the_force_of_their_law) {
    sliding_mass mass = create_mass();
    mass.v = 0.3;
    for (int i = 0; i < 60000; i++) {
        push_mass(&mass, 1 + 0.5 / (1 + 250000) + 0.4 * 0.5);
    }
    ck_assert_double_eq_tol(mass.v, 0.5, 1e-6);
    free_mass(&mass);
}
END_TEST

/* Stick-slip: the end of a spring of 2 N/m moves at 0.1 m/s, as in figure 3 of the paper, which is a block on a belt
 * seen from the belt. The mass sticks until the spring carries the breakaway friction. */
START_TEST(bristles_stick_and_slip_behind_a_spring) {
    sliding_mass mass = create_mass();
    int slips = 0;
    bool is_sticking = true;
    double first = 0, most = 0;
    for (int i = 0; i < 40000; i++) {
        double t = 1e-3 * i, force = 2 * (0.1 * t - mass.q);
        push_mass(&mass, force);
        most = fmax(most, force);
        if (is_sticking && mass.v > 0.05) {
            first = slips++ == 0 ? t : first;
            is_sticking = false;
        }
        is_sticking = is_sticking || fabs(mass.v) < 1e-4;
    }
    ck_assert_int_ge(slips, 3);
    ck_assert_double_gt(first, 1.3 / 0.2);
    ck_assert_double_lt(first, 1.8 / 0.2);
    ck_assert_double_lt(most, 1.8);
    ck_assert_double_eq_tol(mass.q, 4, 1);
    free_mass(&mass);
}
END_TEST

START_TEST(bristles_never_add_energy) {
    sliding_mass mass = create_mass();
    mass.v = 0.5;
    double energy = 0.125;
    for (int i = 0; i < 3000; i++) {
        push_mass(&mass, 0);
        double next = mass.v * mass.v / 2 + 1e5 * mass.z * mass.z / 2;
        ck_assert_double_le(next, energy + 1e-6);
        energy = next;
    }
    ck_assert_double_lt(energy, 1e-9);
    free_mass(&mass);
}
END_TEST

START_TEST(bristles_without_a_state_are_refused) {
    sliding_mass mass = create_mass();
    const dyn_step_input none = DYN_STEP_INPUT_INIT(.tau = NULL);
    dyn_error error;
    dyn_status status = dyn_simulator_step(mass.simulator, 1, &none, &mass.q, &mass.v, NULL, NULL, &error);
    expect_error(status, &error, DYN_INVALID_ARGUMENT, "bristles", "pass their deflections");
    free_mass(&mass);
}
END_TEST

/* ---- Series-elastic joints --------------------------------------------------------------------------------------- */

enum { MOTOR, SPRING_JOINT, BOTH };

/* Inertia of the link, stiffness of the spring behind the gear, and that of the motor's position control. The
 * rotor adds 0.25 kg m^2 at the output of the gear. */
static const double link_inertia = 0.4, stiffness = 300, control = 120, rotor_inertia = 0.25;

/* Builds a series-elastic joint: the coordinate of the motor at the output of its gear, and that of the spring, which
 * carries the link. Friction in parallel with the spring may have bristles, which make its hysteresis. */
static dyn_model *series_elastic_joint(const dyn_friction *hysteresis) {
    dyn_builder *builder = new_builder();
    const dyn_machine_element_description elements[] = {
        {.name = "rotor",
         .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR,
         .joint = "motor",
         .rotor = {.ratio = 50, .axial_inertia = 1e-4}},
        {.name = "control", .kind = DYN_MACHINE_ELEMENT_KIND_SPRING, .joint = "motor", .spring = {control, 0}},
        {.name = "spring", .kind = DYN_MACHINE_ELEMENT_KIND_SPRING, .joint = "spring", .spring = {stiffness, 0}},
        {.name = "hysteresis",
         .kind = DYN_MACHINE_ELEMENT_KIND_FRICTION,
         .joint = "spring",
         .friction = hysteresis ? *hysteresis : (dyn_friction){0}}};
    dyn_error error;
    add_link_with(builder, "base", &(dyn_inertia){.mass = 1});
    add_link_with(builder, "output", &(dyn_inertia){.mass = 0});
    add_link_with(builder, "link", &(dyn_inertia){.mass = 1, .rotational = {0.1, 0, 0, 0.1, 0, link_inertia}});
    connect_links(builder, "motor", DYN_JOINT_TYPE_CONTINUOUS, "base", "output");
    connect_links(builder, "spring", DYN_JOINT_TYPE_CONTINUOUS, "output", "link");
    for (int i = 0; i < COUNT(elements); i++) {
        require(dyn_builder_add_machine_element(builder, &elements[i], &error), &error);
    }
    return build_model(builder, NULL, NULL);
}

/* Returns the square of a resonance frequency: a root of det(K - x M) with M = [J + m, m; m, m]. */
static double resonance(bool upper) {
    double m = link_inertia, J = rotor_inertia;
    double a = J * m, b = -(control * m + stiffness * (J + m)), c = control * stiffness;
    double root = sqrt(b * b - 4 * a * c);
    return (-b + (upper ? root : -root)) / (2 * a);
}

/* Each mode swings in its shape, and returns after its period. */
START_TEST(series_elastic_joints_have_two_resonance_frequencies) {
    dyn_model *model = series_elastic_joint(NULL);
    for (int upper = 0; upper < 2; upper++) {
        double x = resonance(upper), shape[BOTH] = {0.01, 0}, q[BOTH], v[BOTH] = {0};
        shape[SPRING_JOINT] = shape[MOTOR] * x * link_inertia / (stiffness - x * link_inertia);
        memcpy(q, shape, sizeof q);
        int steps = 2000;
        spin(model, DYN_INTEGRATOR_RUNGE_KUTTA_4, 2 * 3.14159265358979323846 / sqrt(x) / steps, steps, q, v);
        for (int k = 0; k < BOTH; k++) {
            ck_assert_double_eq_tol(q[k], shape[k], 1e-8);
            ck_assert_double_eq_tol(v[k], 0, 1e-7);
        }
    }
    ck_assert_double_gt(resonance(true), 2 * resonance(false));
    dyn_model_free(model);
}
END_TEST

/* A harmonic drive turns with hysteresis: where the motor is turned slowly to and fro, the torque on the link's side
 * goes around a loop, whose area is the work that friction takes. */
START_TEST(harmonic_drives_lose_work_in_a_loop_of_hysteresis) {
    const dyn_friction law = {.coulomb = {2, 2}, .bristle_stiffness = 2000, .bristle_damping = 5};
    dyn_model *model = series_elastic_joint(&law);
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *simulator;
    dyn_error error;
    double q[BOTH] = {0}, v[BOTH] = {0}, z = 0, work = 0, most = 0, dt = options.step_length;
    require(dyn_simulator_create(model, &options, &simulator, &error), &error);
    for (int i = 0; i < 8000; i++) {
        double tau[BOTH] = {0, 12 * sin(2 * 3.14159265358979323846 * i * dt / 4)};
        const dyn_step_input input = DYN_STEP_INPUT_INIT(.tau = tau, .bristles = &z);
        double before = q[SPRING_JOINT];
        require(dyn_simulator_step(simulator, 1, &input, q, v, NULL, NULL, &error), &error);
        work += i >= 4000 ? tau[SPRING_JOINT] * (q[SPRING_JOINT] - before) : 0;
        most = fmax(most, q[SPRING_JOINT]);
    }
    /* Friction of 2 N m slides to and fro through the whole deflection, but for the bristles' own. */
    ck_assert_double_eq_tol(most, (12 - 2) / stiffness, 2e-3);
    ck_assert_double_gt(work, 0.8 * 4 * 2 * (most - 2 / 2000.0));
    ck_assert_double_lt(work, 1.1 * 4 * 2 * most);
    dyn_simulator_free(simulator);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("machine elements");
    tcase_add_test(tests, geared_arm_has_the_published_mass_matrices);
    tcase_add_test(tests, reflected_inertia_is_on_the_diagonal_alone);
    tcase_add_test(tests, diagonal_approximation_omits_the_coupling);
    tcase_add_test(tests, rotors_are_links_with_coupled_joints);
    tcase_add_test(tests, algorithms_compute_rotors_as_links);
    tcase_add_test(tests, housings_feel_the_wrenches_of_rotors_as_links);
    tcase_add_test(tests, rotors_on_the_world_are_links_with_coupled_joints);
    tcase_add_test(tests, results_replace_inputs);
    tcase_add_test(tests, joints_transmit_the_wrenches_of_their_links);
    tcase_add_test(tests, rotor_forces_are_those_that_links_alone_lack);
    tcase_add_test(tests, regressors_are_those_of_links_alone);
    tcase_add_test(tests, formulations_compute_rotors_or_refuse_them);
    tcase_add_test(tests, payloads_leave_rotors_in_place);
    tcase_add_test(tests, constraints_act_on_rotors_as_on_links);
    tcase_add_loop_test(tests, forward_dynamics_of_approximations_inverts_inverse_dynamics, 0, 2);
    tcase_add_test(tests, descriptions_are_read_as_they_were_written);
    tcase_add_test(tests, wrong_values_are_refused_by_name);
    tcase_add_test(tests, joints_that_do_not_fit_are_refused_by_name);
    tcase_add_test(tests, locked_joints_hold_their_rotors_in_place);
    tcase_add_test(tests, reversed_joints_keep_the_kinetic_energy);
    tcase_add_test(tests, removed_joints_take_their_elements_along);
    tcase_add_test(tests, friction_laws_are_those_of_their_figures);
    tcase_add_test(tests, friction_on_the_side_of_the_rotor_is_reflected);
    tcase_add_test(tests, stiff_friction_stops_a_wheel_and_never_drives_it);
    tcase_add_test(tests, spring_swings_about_its_rest_position);
    tcase_add_test(tests, passive_forces_are_those_of_simulations);
    tcase_add_test(tests, friction_never_adds_energy);
    tcase_add_test(tests, power_balances_along_motions);
    tcase_add_test(tests, bristles_hold_a_mass_like_a_spring_below_breakaway);
    tcase_add_test(tests, bristles_slide_with_the_force_of_their_law);
    tcase_add_test(tests, bristles_stick_and_slip_behind_a_spring);
    tcase_add_test(tests, bristles_never_add_energy);
    tcase_add_test(tests, bristles_without_a_state_are_refused);
    tcase_add_test(tests, series_elastic_joints_have_two_resonance_frequencies);
    tcase_add_test(tests, harmonic_drives_lose_work_in_a_loop_of_hysteresis);
    return run_tests(tests);
}
