/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shafts that several joints turn: against rotors as links with joints of their own, against coupled joints, against
 * closed forms of a differential, and refusals.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/motor.h>
#include <dynamics/simulation.h>

#include "branched_tree.h"
#include "lib/src/model/placement.h"
#include "robots.h"
#include "support/assertions.h"
#include "support/random.h"

enum { SHAFTS = 4, WIDEST = NV + SHAFTS };

/* Ways to describe the shafts of a robot. FREE_LINKS are rotors with a coordinate of their own. */
typedef enum shaft_form { EXACT, DIAGONAL, REFLECTED, COUPLED_LINKS, FREE_LINKS, NO_SHAFTS } shaft_form;

/* A differential on a link between its joints, a belt on the base, a motor on the last link, and a remote motor. */
static const dyn_machine_element_description shafts[SHAFTS] = {
    {.name = "s0",
     .kind = DYN_MACHINE_ELEMENT_KIND_SHAFT,
     .link = "l0",
     .shaft = {2, {"j1", "j4"}, {20, -7}, false},
     .rotor = {.axial_inertia = 2e-3, .transverse_inertia = 3e-3, .mass = 0.7, .position = {0.1, -0.2, 0.3}}},
    {.name = "s1",
     .kind = DYN_MACHINE_ELEMENT_KIND_SHAFT,
     .link = "base",
     .shaft = {3, {"j2", "j3", "j5"}, {3, 11, 1}, false},
     .rotor = {.axial_inertia = 0.05, .transverse_inertia = 0.03, .mass = 0.4, .axis = {1, 2, -2}}},
    {.name = "s2",
     .kind = DYN_MACHINE_ELEMENT_KIND_SHAFT,
     .link = "l5",
     .shaft = {2, {"j5", "j0"}, {-9, 4}, false},
     .rotor = {.axial_inertia = 1e-2}},
    {.name = "s3",
     .kind = DYN_MACHINE_ELEMENT_KIND_SHAFT,
     .link = "base",
     .shaft = {1, {"j4"}, {6}, false},
     .rotor = {.axial_inertia = 0.02, .transverse_inertia = 0.05, .mass = 0.3, .axis = {0, 1, 0}}},
};

/* Adds a shaft as links with joints about its axis: a chain of coupled joints, or one with its own coordinate. */
static void add_shaft_links(dyn_builder *builder, const dyn_machine_element_description *e, bool is_free) {
    const dyn_rotor *rotor = &e->rotor;
    const double It = rotor->transverse_inertia, *u = rotor->axis, z[3] = {0, 0, 1}, length = norm(u, 3);
    const dyn_inertia spinning = {.mass = rotor->mass, .rotational = {It, 0, 0, It, 0, rotor->axial_inertia}};
    double axis[3];
    char parent[16], link[16], name[24];
    snprintf(parent, sizeof parent, "%s", e->link);
    for (int k = 0; k < 3; k++) {
        axis[k] = length > 0 ? u[k] / length : z[k];
    }
    int count = is_free ? 1 : e->shaft.joint_count;
    for (int i = 0; i < count; i++) {
        snprintf(link, sizeof link, "%s_%d", e->name, i);
        snprintf(name, sizeof name, "turn %s_%d", e->name, i);
        add_link_with(builder, link, i + 1 == count ? &spinning : &(dyn_inertia){0});
        dyn_joint_description turn = joint_between(name, DYN_JOINT_TYPE_CONTINUOUS, parent, link);
        if (i == 0) {
            rotation_from_z(axis, turn.rotation);
            memcpy(turn.position, rotor->position, sizeof turn.position);
        }
        turn.mimic_joint = is_free ? NULL : e->shaft.joints[i];
        turn.mimic_multiplier = is_free ? 0 : e->shaft.ratios[i];
        add_joint(builder, &turn);
        snprintf(parent, sizeof parent, "%s", link);
    }
}

static void add_shaft(dyn_builder *builder, dyn_machine_element_description shaft) {
    dyn_error error;
    require(dyn_builder_add_machine_element(builder, &shaft, &error), &error);
}

/* Builds a tree of joints of all types with one coordinate, with the shafts. */
static dyn_builder *tree_with_shafts(shaft_form form) {
    dyn_builder *builder = branched_tree();
    for (int k = 0; k < SHAFTS; k++) {
        dyn_machine_element_description shaft = shafts[k];
        if (form == COUPLED_LINKS || form == FREE_LINKS) {
            add_shaft_links(builder, &shaft, form == FREE_LINKS);
        } else if (form != NO_SHAFTS) {
            shaft.rotor.coupling = (dyn_rotor_coupling)form; /* both lists have the same order */
            add_shaft(builder, shaft);
        }
    }
    return builder;
}

/* ---- Rotors with coordinates of their own ------------------------------------------------------------------------ */

/* Sets T, whose rows express the coordinates of the robot with free rotors by those of the robot with shafts. */
static void expand(const dyn_model *model, const dyn_model *wide, double T[WIDEST * NV]) {
    memset(T, 0, WIDEST * NV * sizeof *T);
    for (int j = 0; j < dyn_model_joint_count(wide); j++) {
        const dyn_joint *joint = dyn_model_joint(wide, j);
        const dyn_joint *same = dyn_model_joint(model, dyn_model_find_joint(model, joint->name));
        for (int k = 0; same && k < joint->nv; k++) {
            T[(joint->v_index + k) * NV + same->v_index + k] = 1;
        }
        int s = 0;
        while (s < SHAFTS && !strstr(joint->name, shafts[s].name)) {
            s++;
        }
        for (int k = 0; s < SHAFTS && k < shafts[s].shaft.joint_count; k++) {
            int driver = dyn_model_find_joint(model, shafts[s].shaft.joints[k]);
            T[joint->v_index * NV + dyn_model_joint(model, driver)->v_index] = shafts[s].shaft.ratios[k];
        }
    }
}

/* Computes T x. */
static void multiply(const double *T, const double *x, double y[WIDEST]) {
    for (int i = 0; i < WIDEST; i++) {
        y[i] = 0;
        for (int k = 0; k < NV; k++) {
            y[i] += T[i * NV + k] * x[k];
        }
    }
}

/* Copies the configuration of the joints that both robots have. Balanced rotors may have any angle. */
static void expand_q(const dyn_model *model, const dyn_model *wide, const double *q, double *to) {
    for (int j = 0; j < dyn_model_joint_count(wide); j++) {
        const dyn_joint *joint = dyn_model_joint(wide, j);
        const dyn_joint *same = dyn_model_joint(model, dyn_model_find_joint(model, joint->name));
        for (int k = 0; k < joint->nq; k++) {
            to[joint->q_index + k] = same ? q[same->q_index + k] : 0.3;
        }
    }
}

/* tau = T' ID(T a), M = T' M T, and forward dynamics inverts inverse dynamics. */
START_TEST(shafts_are_rotors_that_gears_bind) {
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_model *model = build_model(tree_with_shafts(EXACT), &floating, NULL);
    dyn_model *wide = build_model(tree_with_shafts(FREE_LINKS), &floating, NULL);
    dyn_workspace *w = workspace_of(model), *of_wide = workspace_of(wide);
    double T[WIDEST * NV], M[NV * NV], tau[NV], a[NV];
    dyn_error error;
    states x;
    draw_states("shafts are rotors that gears bind", &x);
    ck_assert_int_eq(dyn_model_nv(wide), WIDEST);
    ck_assert_double_eq_tol(dyn_model_mass(model), dyn_model_mass(wide), 1e-13 * dyn_model_mass(wide));
    expand(model, wide, T);
    for (int i = 0; i < STATES; i++) {
        const double *q = x.q + i * NQ, *v = x.v + i * NV;
        double wide_q[NQ + SHAFTS], wide_v[WIDEST], wide_a[WIDEST], wide_tau[WIDEST];
        double expected[NV] = {0}, wide_M[WIDEST * WIDEST], expected_M[NV * NV] = {0};
        expand_q(model, wide, q, wide_q);
        multiply(T, v, wide_v);
        multiply(T, x.a + i * NV, wide_a);
        require(dyn_rnea(wide, of_wide, 1, NULL, wide_q, wide_v, wide_a, NULL, wide_tau, &error), &error);
        require(dyn_crba(wide, of_wide, 1, wide_q, wide_M, &error), &error);
        for (int r = 0; r < WIDEST; r++) {
            for (int k = 0; k < NV; k++) {
                expected[k] += T[r * NV + k] * wide_tau[r];
                for (int l = 0; l < NV * WIDEST; l++) {
                    expected_M[k * NV + l % NV] += T[r * NV + k] * wide_M[r * WIDEST + l / NV] * T[l];
                }
            }
        }
        require(dyn_rnea(model, w, 1, NULL, q, v, x.a + i * NV, NULL, tau, &error), &error);
        assert_norm_close("tau", i, tau, expected, NV, 1e-12);
        require(dyn_crba(model, w, 1, q, M, &error), &error);
        assert_norm_close("M", i, M, expected_M, NV * NV, 1e-12);
        require(dyn_aba(model, w, 1, NULL, q, v, tau, NULL, a, &error), &error);
        assert_norm_close("a", i, a, x.a + i * NV, NV, 1e-10);
    }
    dyn_workspace_free(w), dyn_workspace_free(of_wide);
    dyn_model_free(model), dyn_model_free(wide);
}
END_TEST

/* ---- All algorithms ---------------------------------------------------------------------------------------------- */

START_TEST(algorithms_compute_shafts_as_coupled_links) {
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_model *model = build_model(tree_with_shafts(EXACT), &floating, NULL);
    dyn_model *twin = build_model(tree_with_shafts(COUPLED_LINKS), &floating, NULL);
    states x;
    draw_states("algorithms compute shafts as coupled links", &x);
    ck_assert(!dyn_model_has_coupling(model) && dyn_model_has_coupling(twin));
    compare_with_twin(model, twin, &x);
    dyn_model_free(model), dyn_model_free(twin);
}
END_TEST

START_TEST(forces_of_shafts_are_those_that_links_alone_lack) {
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_model *bare = build_model(tree_with_shafts(NO_SHAFTS), &floating, NULL);
    dyn_model *diagonal = build_model(tree_with_shafts(DIAGONAL), &floating, NULL);
    states x;
    draw_states("forces of shafts are those that links alone lack", &x);
    for (shaft_form form = EXACT; form <= REFLECTED; form++) {
        dyn_model *model = build_model(tree_with_shafts(form), &floating, NULL);
        double *of_shafts = difference(model, bare, &x), *coupling = difference(model, diagonal, &x);
        double *own = compute(model, ALGORITHM_ROTOR_FORCES, STATES, &x);
        assert_norm_close("rotor forces", (int)form, own, of_shafts, STATES * NV, 1e-11);
        free(own);
        own = compute(model, ALGORITHM_ROTOR_COUPLING_FORCES, STATES, &x);
        if (form != EXACT) {
            memset(coupling, 0, STATES * NV * sizeof *coupling);
        }
        assert_norm_close("coupling forces", (int)form, own, coupling, STATES * NV, 1e-11);
        free(own), free(of_shafts), free(coupling);
        dyn_model_free(model);
    }
    dyn_model_free(diagonal), dyn_model_free(bare);
}
END_TEST

START_TEST(regressors_are_those_of_links_alone) {
    dyn_model *bare = build_model(tree_with_shafts(NO_SHAFTS), NULL, NULL);
    size_t count = (size_t)dyn_model_parameter_count(bare);
    double *own = numbers(count), *expected = numbers(count);
    states x;
    draw_states("regressors are those of links alone", &x);
    dyn_model_parameters(bare, expected);
    for (shaft_form form = EXACT; form <= REFLECTED; form++) {
        dyn_model *model = build_model(tree_with_shafts(form), NULL, NULL);
        dyn_model_parameters(model, own);
        assert_norm_close("parameters", (int)form, own, expected, count, 1e-13);
        double *Y = compute(model, ALGORITHM_REGRESSOR, 1, &x), *of_links = compute(bare, ALGORITHM_REGRESSOR, 1, &x);
        assert_norm_close("Y", (int)form, Y, of_links, algorithm_width(ALGORITHM_REGRESSOR, bare), 1e-14);
        free(Y), free(of_links);
        dyn_model_free(model);
    }
    free(own), free(expected);
    dyn_model_free(bare);
}
END_TEST

START_TEST(formulations_compute_shafts_or_refuse_them) {
    dyn_model *model = build_model(tree_with_shafts(EXACT), NULL, NULL);
    states x;
    draw_states("formulations compute shafts or refuse them", &x);
    compare_formulations(model, &x);
    dyn_model_free(model);
}
END_TEST

START_TEST(links_of_models_with_shafts_have_the_articulated_inertias_of_coupled_links) {
    const dyn_build_options floating = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    dyn_model *models[2] = {build_model(tree_with_shafts(EXACT), &floating, NULL),
                            build_model(tree_with_shafts(COUPLED_LINKS), &floating, NULL)};
    dyn_workspace *w[2] = {workspace_of(models[0]), workspace_of(models[1])};
    double found[2][42];
    dyn_error error;
    states x;
    draw_states("articulated inertias of shafts", &x);
    for (int link = 0; link < dyn_model_link_count(models[0]); link++) {
        for (int k = 0; k < 2; k++) {
            int frame;
            require(dyn_model_find_frame(models[k], dyn_model_link(models[0], link)->name, &frame, &error), &error);
            require(dyn_articulated_inertia(models[k], w[k], 1, NULL, x.q, x.v, x.tau, NULL, frame,
                                            DYN_REFERENCE_FRAME_LOCAL, found[k], found[k] + 36, &error),
                    &error);
        }
        assert_norm_close("articulated inertia and bias", link, found[0], found[1], 42, 1e-10);
    }
    for (int k = 0; k < 2; k++) {
        dyn_workspace_free(w[k]);
        dyn_model_free(models[k]);
    }
}
END_TEST

/* ---- A differential ---------------------------------------------------------------------------------------------- */

enum { WRIST = 2 };

static const dyn_motor a_motor = {.resistance = 0.5, .torque_constant = 0.05};

static void add_wrist_links(dyn_builder *builder) {
    add_link_with(builder, "base", &(dyn_inertia){.mass = 1});
    add_link(builder, "forearm");
    add_link(builder, "hand");
    connect_links(builder, "roll", DYN_JOINT_TYPE_CONTINUOUS, "base", "forearm");
    dyn_joint_description pitch = joint_between("pitch", DYN_JOINT_TYPE_CONTINUOUS, "forearm", "hand");
    pitch.axis[0] = 1, pitch.axis[2] = 0;
    add_joint(builder, &pitch);
}

/* Adds shafts on `link` that turn at a (roll + pitch) and b (roll - pitch). */
static void add_wrist_shafts(dyn_builder *builder, const char *link, dyn_rotor_coupling coupling,
                             const double ratios[2], bool has_motors) {
    const double a = ratios[0], b = ratios[1];
    const dyn_machine_element_description left = {.name = "left",
                                                  .kind = DYN_MACHINE_ELEMENT_KIND_SHAFT,
                                                  .link = link,
                                                  .shaft = {2, {"roll", "pitch"}, {a, a}, has_motors},
                                                  .rotor = {.axial_inertia = 2e-3, .coupling = coupling},
                                                  .motor = a_motor};
    dyn_machine_element_description right = left;
    right.name = "right";
    right.shaft.ratios[0] = b, right.shaft.ratios[1] = -b;
    right.rotor.axial_inertia = 5e-3;
    add_shaft(builder, left);
    add_shaft(builder, right);
}

/* Builds a wrist of roll and pitch, whose motors on `link` turn at a (roll + pitch) and b (roll - pitch). */
static dyn_builder *wrist(const char *link, dyn_rotor_coupling coupling, double a, double b) {
    dyn_builder *builder = new_builder();
    add_wrist_links(builder);
    add_wrist_shafts(builder, link, coupling, (const double[2]){a, b}, false);
    return builder;
}

static void mass_matrix(dyn_builder *builder, const double *q, double *M) {
    dyn_error error;
    dyn_model *model = build_model(builder, NULL, NULL);
    dyn_workspace *w = workspace_of(model);
    require(dyn_crba(model, w, 1, q, M, &error), &error);
    dyn_workspace_free(w);
    dyn_model_free(model);
}

/* R = G' diag(I) G = [a^2 I_1 + b^2 I_2, a^2 I_1 - b^2 I_2; ., a^2 I_1 + b^2 I_2]. Links are balls at the axes. */
START_TEST(differential_reflects_the_full_matrix) {
    const double a = 30, b = -20, q[WRIST] = {0.3, -0.8}, left = a * a * 2e-3, right = b * b * 5e-3;
    const double expected[WRIST * WRIST] = {0.2 + left + right, left - right, left - right, 0.1 + left + right};
    double M[WRIST * WRIST];
    mass_matrix(wrist(NULL, DYN_ROTOR_COUPLING_EXACT, a, b), q, M);
    assert_norm_close("M", 0, M, expected, WRIST * WRIST, 1e-14);
    mass_matrix(wrist("base", DYN_ROTOR_COUPLING_EXACT, a, b), q, M);
    assert_norm_close("M", 1, M, expected, WRIST * WRIST, 1e-14);
    mass_matrix(wrist("forearm", DYN_ROTOR_COUPLING_REFLECTED, a, b), q, M);
    assert_norm_close("M", 2, M, expected, WRIST * WRIST, 1e-14);
}
END_TEST

/* On the forearm the rotors turn with the roll at rates of 1 + a, a and of 1 + b, -b, about its axis. */
START_TEST(motors_on_a_moving_link_turn_with_it) {
    const double a = 30, b = -20, q[WRIST] = {0.3, -0.8}, I[2] = {2e-3, 5e-3};
    const double rates[2][WRIST] = {{1 + a, a}, {1 + b, -b}};
    double M[WRIST * WRIST], expected[WRIST * WRIST] = {0.2, 0, 0, 0.1};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < WRIST * WRIST; i++) {
            expected[i] += I[k] * rates[k][i / WRIST] * rates[k][i % WRIST];
        }
    }
    mass_matrix(wrist("forearm", DYN_ROTOR_COUPLING_EXACT, a, b), q, M);
    assert_norm_close("M", 0, M, expected, WRIST * WRIST, 1e-14);
}
END_TEST

/* ---- Motors ------------------------------------------------------------------------------------------------------ */

/* Builds a tree whose shafts with the bits of `motors` have motors. */
static dyn_model *driven_tree(unsigned motors) {
    dyn_builder *builder = tree_with_shafts(NO_SHAFTS);
    for (unsigned k = 0; k < SHAFTS; k++) {
        dyn_machine_element_description shaft = shafts[k];
        shaft.shaft.has_motor = motors >> k & 1;
        shaft.motor = a_motor;
        add_shaft(builder, shaft);
    }
    return build_model(builder, NULL, NULL);
}

/* Shafts 0 and 3 share the joints j1 and j4: tau = G' T in both, and T w is their power. */
START_TEST(motors_of_shafts_have_the_torques_that_ratios_transmit) {
    dyn_model *model = driven_tree(9);
    dyn_workspace *w = workspace_of(model);
    dyn_drive drives[2];
    dyn_error error;
    states x;
    draw_states("motors of shafts have the torques that ratios transmit", &x);
    ck_assert_int_eq(dyn_model_drive_count(model), 2);
    require(dyn_model_drives(model, drives, &error), &error);
    int c1 = dyn_model_joint(model, dyn_model_find_joint(model, "j1"))->v_index;
    int c4 = dyn_model_joint(model, dyn_model_find_joint(model, "j4"))->v_index;
    for (int i = 0; i < STATES; i++) {
        const double *q = x.q + i * NQ, *v = x.v + i * NV, *a = x.a + i * NV;
        double forces[JOINTS], loads[2], T[2], same[2];
        require(dyn_rnea(model, w, 1, NULL, q, v, a, NULL, forces, &error), &error);
        dyn_drive_motion motion = {.n = 1, .q = q, .v = v, .a = a, .forces = forces};
        motion.parts.friction_velocity = 0.01;
        require(dyn_drive_torques(model, 2, drives, &motion, loads, T, &error), &error);
        for (int k = 0; k < 2; k++) {
            require(dyn_drive_torques_of_others(model, &drives[k], 1, &drives[k], &motion, &same[k], &error), &error);
        }
        double tau[2] = {20 * T[0], -7 * T[0] + 6 * T[1]}, power = 0;
        assert_norm_close("tau", i, tau, (const double[2]){forces[c1], forces[c4]}, 2, 1e-12);
        assert_norm_close("torques of the same drives", i, same, T, 2, 1e-14);
        ck_assert_double_eq_tol(dyn_drive_speed(&drives[0], v), 20 * v[c1] - 7 * v[c4], 1e-12);
        for (int k = 0; k < 2; k++) {
            power += T[k] * dyn_drive_speed(&drives[k], v);
        }
        ck_assert_double_eq_tol(power, forces[c1] * v[c1] + forces[c4] * v[c4], 1e-10);
    }
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* Builds the wrist with motors on both shafts. */
static dyn_builder *driven_wrist_builder(void) {
    dyn_builder *builder = new_builder();
    add_wrist_links(builder);
    add_wrist_shafts(builder, NULL, DYN_ROTOR_COUPLING_EXACT, (const double[2]){30, -20}, true);
    return builder;
}

static void refuse_drives(dyn_model *model, const char *place, const char *fragment) {
    dyn_drive drives[SHAFTS];
    dyn_error error;
    expect_error(dyn_model_drives(model, drives, &error), &error, DYN_FAILED_PRECONDITION, place, fragment);
    dyn_model_free(model);
}

/* Builds a wrist with motors, whose second shaft has these ratios. */
static dyn_model *driven_wrist(double roll, double pitch) {
    dyn_builder *builder = wrist(NULL, DYN_ROTOR_COUPLING_EXACT, 3, 4);
    dyn_machine_element_description shaft = {.name = "first",
                                             .kind = DYN_MACHINE_ELEMENT_KIND_SHAFT,
                                             .shaft = {2, {"roll", "pitch"}, {1, 2}, .has_motor = true},
                                             .motor = a_motor};
    add_shaft(builder, shaft);
    shaft.name = "second";
    shaft.shaft.ratios[0] = roll, shaft.shaft.ratios[1] = pitch;
    add_shaft(builder, shaft);
    return build_model(builder, NULL, NULL);
}

START_TEST(motors_are_refused_where_their_torques_do_not_follow) {
    dyn_drive drives[2];
    dyn_error error;
    refuse_drives(driven_tree(1), "machine element s0", "1 motors drive the 2 coordinates that share its shaft");
    refuse_drives(driven_wrist(-2, -4), "machine element first",
                  "the ratios of the 2 motors that share its coordinates");
    dyn_model *good = driven_wrist(-2, -4.001);
    require(dyn_model_drives(good, drives, &error), &error);
    dyn_model_free(good);
}
END_TEST

/* ---- Friction and brakes ----------------------------------------------------------------------------------------- */

/* Builds a wrist whose shafts have motors, viscous friction, and the parts of `law` on the left one; and a brake. */
static dyn_model *wrist_with_friction(const dyn_friction *law) {
    dyn_builder *builder = driven_wrist_builder();
    dyn_machine_element_description e = {
        .name = "oil", .kind = DYN_MACHINE_ELEMENT_KIND_FRICTION, .joint = "left", .friction = *law};
    add_shaft(builder, e);
    e = (dyn_machine_element_description){
        .name = "hold", .kind = DYN_MACHINE_ELEMENT_KIND_BRAKE, .joint = "right", .brake = {.torque = 0.2}};
    add_shaft(builder, e);
    return build_model(builder, NULL, NULL);
}

/* Creates a simulator of one kind of steps without gravity, with one brake or none. */
static dyn_simulator *steps_of(const dyn_model *model, dyn_integrator integrator, double dt, const char *brake) {
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *steps;
    dyn_error error;
    options.integrator = integrator;
    options.step_length = dt;
    options.has_gravity = true;
    options.brakes = &brake;
    options.brake_count = brake ? 1 : 0;
    require(dyn_simulator_create(model, &options, &steps, &error), &error);
    return steps;
}

/* A step with viscous friction b at the rate a (roll + pitch) solves (M + dt a^2 b [1 1; 1 1]) v = M v_0, where M is
 * constant: also with a friction that stops the shaft within a thousandth of the step. */
START_TEST(semi_implicit_steps_have_the_friction_of_shafts_at_the_new_rate) {
    const double a = 30, dt = 1e-3;
    for (int k = 0; k < 3; k++) {
        const double b[] = {1e-4, 1e-2, 1e4}, s = dt * a * a * b[k];
        const dyn_friction law = {.viscous = {b[k], b[k]}};
        dyn_model *model = wrist_with_friction(&law);
        dyn_simulator *steps = steps_of(model, DYN_INTEGRATOR_SEMI_IMPLICIT_EULER, dt, NULL);
        double q[WRIST] = {0.3, -0.8}, v[WRIST] = {1, 0.5}, M[4];
        const dyn_step_input input = DYN_STEP_INPUT_INIT();
        dyn_error error;
        dyn_workspace *w = workspace_of(model);
        require(dyn_crba(model, w, 1, q, M, &error), &error);
        double f[2] = {M[0] * v[0] + M[1] * v[1], M[2] * v[0] + M[3] * v[1]};
        double K[4] = {M[0] + s, M[1] + s, M[2] + s, M[3] + s}, det = K[0] * K[3] - K[1] * K[2];
        const double expected[2] = {(K[3] * f[0] - K[1] * f[1]) / det, (K[0] * f[1] - K[2] * f[0]) / det};
        require(dyn_simulator_step(steps, 1, &input, q, v, NULL, NULL, &error), &error);
        assert_norm_close("v", k, v, expected, WRIST, k == 2 ? 1e-6 : 1e-12);
        dyn_workspace_free(w);
        dyn_simulator_free(steps);
        dyn_model_free(model);
    }
}
END_TEST

/* Adds friction to a joint on the side of its rotor, or to a shaft that this joint alone turns at the same rate. */
static dyn_model *one_shaft(bool is_shaft, const dyn_friction *law) {
    dyn_builder *builder = tree_with_shafts(NO_SHAFTS);
    dyn_machine_element_description e = {
        .name = "rotor",
        .kind = is_shaft ? DYN_MACHINE_ELEMENT_KIND_SHAFT : DYN_MACHINE_ELEMENT_KIND_ROTOR,
        .joint = is_shaft ? "" : "j3",
        .link = "base",
        .shaft = {1, {"j3"}, {-6}, false},
        .rotor = {.ratio = is_shaft ? 0 : -6, .axial_inertia = 0.02, .coupling = DYN_ROTOR_COUPLING_REFLECTED}};
    add_shaft(builder, e);
    e = (dyn_machine_element_description){.name = "seal",
                                          .kind = DYN_MACHINE_ELEMENT_KIND_FRICTION,
                                          .joint = is_shaft ? "rotor" : "j3",
                                          .friction = *law};
    e.friction.side = is_shaft ? DYN_GEAR_SIDE_JOINT : DYN_GEAR_SIDE_ROTOR;
    add_shaft(builder, e);
    return build_model(builder, NULL, NULL);
}

/* Friction of a shaft that one joint turns is friction of this joint on the side of its rotor: passive forces, and
 * motions by all methods, which the kernels compute for joints. The second law has bristles. */
START_TEST(friction_of_a_shaft_is_that_of_a_rotor_where_one_joint_turns_it) {
    const dyn_friction law = {.viscous = {0.02, 0.05},
                              .coulomb = {0.3, 0.2},
                              .breakaway = {0.5, 0.2},
                              .stribeck_velocity = 2,
                              .transition_velocity = 0.05,
                              .bristle_stiffness = _i == 0 ? 0 : 3,
                              .bristle_damping = _i == 0 ? 0 : 0.01,
                              .temperature_factor = 1.3};
    dyn_model *models[2] = {one_shaft(false, &law), one_shaft(true, &law)};
    for (int integrator = 0; integrator <= DYN_INTEGRATOR_RUNGE_KUTTA_4; integrator++) {
        double q[2][JOINTS] = {{0.1, 0.2, -0.1, 0.3, 0.2, 0.1}}, v[2][JOINTS] = {{1, -1, 0.5, 0.8, 0.2, -0.4}};
        double r[2][JOINTS] = {{0}}, z[2] = {0, 0};
        const dyn_passive_parts parts = {.damping = true, .friction = true, .friction_velocity = 0.01};
        dyn_error error;
        memcpy(q[1], q[0], sizeof q[0]);
        memcpy(v[1], v[0], sizeof v[0]);
        for (int k = 0; k < 2; k++) {
            dyn_simulator *steps = steps_of(models[k], (dyn_integrator)integrator, 1e-3, NULL);
            const dyn_step_input input = DYN_STEP_INPUT_INIT(.bristles = &z[k]);
            ck_assert_int_eq(dyn_model_bristle_count(models[k]), _i);
            require(dyn_add_passive_forces(models[k], 1, &parts, 1, q[k], v[k], r[k], &error), &error);
            for (int i = 0; i < 300; i++) {
                require(dyn_simulator_step(steps, 1, &input, q[k], v[k], NULL, NULL, &error), &error);
            }
            dyn_simulator_free(steps);
        }
        ck_assert_double_gt(norm(r[0], JOINTS), 1);
        assert_norm_close("passive forces", integrator, r[1], r[0], JOINTS, 1e-13);
        assert_norm_close("q", integrator, q[1], q[0], JOINTS, 1e-9);
        assert_norm_close("v", integrator, v[1], v[0], JOINTS, 1e-9);
        ck_assert_double_eq_tol(z[1], -6 * z[0], 1e-9);
        ck_assert(_i == 0 || fabs(z[1]) > 1e-2);
    }
    dyn_model_free(models[0]), dyn_model_free(models[1]);
}
END_TEST

/* The brake holds the right shaft, which roll and pitch turn against each other, and not the left one. */
START_TEST(a_brake_holds_the_shaft_and_not_the_joints_that_turn_it) {
    const dyn_friction law = {.viscous = {0}};
    dyn_model *model = wrist_with_friction(&law);
    const double tau[WRIST] = {2, -1.5}; /* 0.5 N m along the left shaft, 3.5 N m along the right one, over 20 */
    const dyn_step_input input = DYN_STEP_INPUT_INIT(.tau = tau);
    dyn_error error;
    double slip[2], turn[2];
    for (int k = 0; k < 2; k++) {
        dyn_simulator *steps = steps_of(model, DYN_INTEGRATOR_SEMI_IMPLICIT_EULER, 1e-3, k ? "hold" : NULL);
        double q[WRIST] = {0}, v[WRIST] = {0};
        for (int i = 0; i < 500; i++) {
            require(dyn_simulator_step(steps, 1, &input, q, v, NULL, NULL, &error), &error);
        }
        slip[k] = fabs(q[0] - q[1]), turn[k] = fabs(q[0] + q[1]);
        dyn_simulator_free(steps);
    }
    ck_assert_double_gt(slip[0], 0.05);
    ck_assert_double_lt(slip[1], 0.001);
    ck_assert_double_gt(turn[1], 0.01);
    dyn_model_free(model);
}
END_TEST

/* The torque of a motor includes the friction of its shaft, with which tau = G' tau_motor holds for tau + r. */
START_TEST(motors_of_shafts_overcome_their_friction) {
    const dyn_friction law = {.viscous = {0.03, 0.03}, .coulomb = {0.4, 0.1}};
    dyn_model *model = wrist_with_friction(&law);
    dyn_workspace *w = workspace_of(model);
    dyn_drive drives[2];
    dyn_error error;
    const double q[WRIST] = {0.3, -0.8}, v[WRIST] = {1, -0.4}, a[WRIST] = {2, 3}, wl = 30 * 0.6;
    double forces[WRIST], loads[2], T[2], at[3];
    require(dyn_model_drives(model, drives, &error), &error);
    require(dyn_rnea(model, w, 1, NULL, q, v, a, NULL, forces, &error), &error);
    dyn_drive_motion motion = {.n = 1, .q = q, .v = v, .a = a, .forces = forces};
    motion.parts = (dyn_passive_parts){.damping = true, .friction = true, .friction_velocity = 1e-6};
    require(dyn_drive_torques(model, 2, drives, &motion, loads, T, &error), &error);
    dyn_drive others[3] = {drives[0], dyn_drive_at_ratio(&drives[0], 2), dyn_drive_at_ratio(&drives[0], 2)};
    others[2].inertia *= 4;
    require(dyn_drive_torques_of_others(model, &drives[0], 3, others, &motion, at, &error), &error);
    const double lossless[2] = {(forces[0] + forces[1]) / 60, (forces[0] - forces[1]) / -40};
    ck_assert_double_eq_tol(T[0], lossless[0] + 0.03 * wl + 0.4, 1e-12);
    ck_assert_double_eq_tol(T[1], lossless[1], 1e-12);
    ck_assert_double_eq_tol(at[0], T[0], 1e-12);
    /* At twice the rate: half the torque, the torque for the rotor, and the friction of the faster rotor. */
    ck_assert_double_eq_tol(at[1], lossless[0] / 2 + 2e-3 * 30 * 5 * 1.5 + 0.03 * 2 * wl + 0.4, 1e-9);
    /* A rotor with three times more inertia turns at twice the rate of the shaft. */
    ck_assert_double_eq_tol(at[2], at[1] + 3 * 2e-3 * 30 * 5 * 2, 1e-9);
    ck_assert_str_eq(drives[1].brake_name, "hold");
    ck_assert_double_eq(drives[1].brake, 0.2);
    ck_assert_ptr_null(drives[0].brake_name);
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* ---- Descriptions ------------------------------------------------------------------------------------------------ */

/* Returns the digest of a model and frees it. */
static void digest_of(dyn_model *model, char **text) {
    size_t length;
    dyn_error error;
    require(dyn_model_canonical(model, text, &length, &error), &error);
    dyn_model_free(model);
}

/* Asserts that a description keeps the shaft of a brake, and returns its digest. */
static void expect_brake_on(const char *shaft, char **digest) {
    dyn_builder *builder = driven_wrist_builder(), *again;
    const dyn_machine_element_description brake = {
        .name = "hold", .kind = DYN_MACHINE_ELEMENT_KIND_BRAKE, .joint = shaft, .brake = {.torque = 0.2}};
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    dyn_error error;
    size_t length;
    char *text;
    add_shaft(builder, brake);
    dyn_model *model = build_model(builder, NULL, NULL);
    require(dyn_description_write(model, &text, &length, &error), &error);
    require(dyn_description_read(text, length, &again, &options, &error), &error);
    ck_assert_str_eq(dyn_builder_machine_element(again, 2)->joint, shaft);
    dyn_builder_free(again);
    dyn_text_free(text);
    digest_of(model, digest);
}

START_TEST(descriptions_keep_shafts) {
    dyn_model *model = driven_wrist(-2, 5);
    char *text, *canonical, *again;
    size_t length;
    dyn_error error;
    dyn_builder *builder;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    require(dyn_description_write(model, &text, &length, &error), &error);
    require(dyn_description_read(text, length, &builder, &options, &error), &error);
    digest_of(model, &canonical);
    digest_of(build_model(builder, &options, NULL), &again);
    ck_assert_str_eq(canonical, again);
    dyn_text_free(text), dyn_text_free(again);
    digest_of(driven_wrist(-2, 6), &again);
    ck_assert_str_ne(canonical, again);
    dyn_text_free(canonical), dyn_text_free(again);
    expect_brake_on("right", &canonical);
    expect_brake_on("left", &again);
    ck_assert_str_ne(canonical, again);
    dyn_text_free(canonical), dyn_text_free(again);
}
END_TEST

/* A locked joint no longer turns the shafts, and merged models have the shafts of both. */
START_TEST(derived_models_keep_shafts_of_joints_that_remain) {
    const double a = 30, b = -20, q[WRIST] = {0.3, -0.8};
    const char *const pitch = "pitch";
    double M[WRIST * WRIST];
    dyn_error error;
    dyn_model *model = build_model(wrist(NULL, DYN_ROTOR_COUPLING_EXACT, a, b), NULL, NULL), *derived;
    require(dyn_model_lock(model, 1, &pitch, q, &derived, &error), &error);
    dyn_workspace *w = workspace_of(derived);
    require(dyn_crba(derived, w, 1, q, M, &error), &error);
    ck_assert_double_eq_tol(M[0], 0.2 + a * a * 2e-3 + b * b * 5e-3, 1e-13);
    dyn_workspace_free(w);
    dyn_model_free(derived);
    require(dyn_model_merge(model, "hand", NULL, model, "tool_", &derived, &error), &error);
    ck_assert_int_eq(dyn_model_machine_element_count(derived), 4);
    w = workspace_of(derived);
    double both[16], own[4], state[4] = {0, 0, 0.3, -0.8};
    require(dyn_crba(derived, w, 1, state, both, &error), &error);
    mass_matrix(wrist("base", DYN_ROTOR_COUPLING_EXACT, a, b), q, own);
    ck_assert_double_eq_tol(both[11], own[1], 1e-12);
    dyn_workspace_free(w);
    dyn_model_free(derived);
    dyn_model_free(model);
}
END_TEST

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

/* Asserts that a wrist with this element is refused at the member with a message that holds the fragment. */
static void refuse(dyn_machine_element_description element, const char *member, const char *fragment) {
    dyn_builder *builder = wrist(NULL, DYN_ROTOR_COUPLING_EXACT, 3, 4);
    dyn_model *model = NULL;
    dyn_error error;
    element.name = "bad";
    dyn_status status = dyn_builder_add_machine_element(builder, &element, &error);
    if (status == DYN_OK) {
        status = dyn_builder_build(builder, NULL, NULL, &model, &error);
    }
    expect_error(status, &error, DYN_INVALID_ARGUMENT, "machine element bad", fragment);
    ck_assert_str_eq(error.site.part, member);
    dyn_builder_free(builder);
}

START_TEST(wrong_shafts_are_refused_at_their_member) {
    const dyn_machine_element_description good = {.kind = DYN_MACHINE_ELEMENT_KIND_SHAFT,
                                                  .shaft = {2, {"roll", "pitch"}, {1, 2}, false},
                                                  .rotor = {.axial_inertia = 1}};
    dyn_machine_element_description bad = good;
    bad.shaft.ratios[1] = 0;
    refuse(bad, "shaft.ratios", "the ratio of joint \"pitch\" is 0; state a number that is not zero");
    bad = good, bad.shaft.joints[1] = "elbow";
    refuse(bad, "shaft.joints", "there is no joint \"elbow\"");
    bad = good, bad.shaft.joints[1] = "roll";
    refuse(bad, "shaft.joints", "joint \"roll\" occurs twice");
    bad = good, bad.shaft.joint_count = 0;
    refuse(bad, "shaft.joints", "0 joints turn it; state 1 to 8");
    bad = good, bad.shaft.joint_count = 9;
    refuse(bad, "shaft.joints", "9 joints turn it");
    bad = good, bad.link = "foot";
    refuse(bad, "shaft.link", "there is no link \"foot\"");
    bad = good, bad.joint = "roll";
    refuse(bad, "joint", "leave it out");
    bad = good, bad.rotor.axial_inertia = -1;
    refuse(bad, "shaft.rotor.axial_inertia", "the inertia about the axis is -1");
    bad = good, bad.rotor.ratio = 3;
    refuse(bad, "shaft.rotor.ratio", "the ratio is 3");
    bad = good, bad.rotor.transverse_inertia = 1;
    refuse(bad, "shaft.rotor.transverse_inertia", "the mass is zero");
    bad = good, bad.shaft.has_motor = true;
    refuse(bad, "shaft.motor.resistance", "the resistance is 0; state a positive number");
    bad.motor.nominal.voltage = 24;
    refuse(bad, "shaft.motor.nominal.no_load_speed", "the speed without load is 0");
    bad = (dyn_machine_element_description){
        .kind = DYN_MACHINE_ELEMENT_KIND_MOTOR, .joint = "roll", .motor = {.resistance = 1, .torque_constant = 1}};
    refuse(bad, "joint", "turns shaft \"right\"");
    bad = (dyn_machine_element_description){
        .kind = DYN_MACHINE_ELEMENT_KIND_FRICTION, .joint = "left", .friction = {.viscous = {-1, -1}}};
    refuse(bad, "friction.viscous[0]", "-1");
    bad.friction = (dyn_friction){.coulomb = {1, 1}, .bristle_stiffness = 100};
    bad.joint = "middle";
    refuse(bad, "joint", "there is no joint \"middle\"");
    bad = (dyn_machine_element_description){
        .kind = DYN_MACHINE_ELEMENT_KIND_BRAKE, .joint = "left", .brake = {.torque = 1}};
    refuse(bad, "joint", "shaft \"left\" has no motor");
    bad = (dyn_machine_element_description){
        .kind = DYN_MACHINE_ELEMENT_KIND_SPRING, .joint = "left", .spring = {.stiffness = 1}};
    refuse(bad, "joint", "there is no joint \"left\"");
}
END_TEST

int main(void) {
    TCase *all = tcase_create("shafts");
    tcase_add_test(all, shafts_are_rotors_that_gears_bind);
    tcase_add_test(all, algorithms_compute_shafts_as_coupled_links);
    tcase_add_test(all, forces_of_shafts_are_those_that_links_alone_lack);
    tcase_add_test(all, regressors_are_those_of_links_alone);
    tcase_add_test(all, formulations_compute_shafts_or_refuse_them);
    tcase_add_test(all, links_of_models_with_shafts_have_the_articulated_inertias_of_coupled_links);
    tcase_add_test(all, differential_reflects_the_full_matrix);
    tcase_add_test(all, motors_on_a_moving_link_turn_with_it);
    tcase_add_test(all, motors_of_shafts_have_the_torques_that_ratios_transmit);
    tcase_add_test(all, motors_are_refused_where_their_torques_do_not_follow);
    tcase_add_test(all, semi_implicit_steps_have_the_friction_of_shafts_at_the_new_rate);
    tcase_add_loop_test(all, friction_of_a_shaft_is_that_of_a_rotor_where_one_joint_turns_it, 0, 2);
    tcase_add_test(all, a_brake_holds_the_shaft_and_not_the_joints_that_turn_it);
    tcase_add_test(all, motors_of_shafts_overcome_their_friction);
    tcase_add_test(all, descriptions_keep_shafts);
    tcase_add_test(all, derived_models_keep_shafts_of_joints_that_remain);
    tcase_add_test(all, wrong_shafts_are_refused_at_their_member);
    return run_tests(all);
}
