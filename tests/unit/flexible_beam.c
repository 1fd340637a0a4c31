/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flexible beams as bodies of the tree: frequencies and deflections of a cantilever, the equations of Book (1984) for
 * serial chains, the balance of energy, and refusals.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dynamics/flexible_beam.h>

#include "robots.h"
#include "support/assertions.h"
#include "support/random.h"

enum { ARM_NQ = 4 };

static const double upright[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
static const double weightless[3];

/* Steel strip: length m, kg/m, N m^2. */
static const double length = 0.8, density = 0.6, rigidity = 3.2;

/* Returns a builder with a base, and a tip that a fixed joint "weld" carries at (length, 0, 0) of the base. */
static dyn_builder *welded(const char *base) {
    const dyn_link_description links[] = {{.name = base, .inertia = {.mass = 1, .rotational = {1, 0, 0, 1, 0, 1}}},
                                          {.name = "tip"}};
    dyn_joint_description weld = {.name = "weld",
                                  .type = DYN_JOINT_TYPE_FIXED,
                                  .parent_link = base,
                                  .child_link = "tip",
                                  .position = {length, 0, 0}};
    dyn_builder *builder;
    dyn_error error;
    memcpy(weld.rotation, upright, sizeof upright);
    require(dyn_builder_create("cantilever", &builder, &error), &error);
    require(dyn_builder_add_link(builder, &links[0], &error), &error);
    require(dyn_builder_add_link(builder, &links[1], &error), &error);
    require(dyn_builder_add_joint(builder, &weld, &error), &error);
    return builder;
}

/* Returns a cantilever of so many modes in one plane or in two. */
static dyn_model *cantilever(int modes, bool both) {
    const dyn_flexible_beam beam = {.name = "strip",
                                    .joint = "weld",
                                    .direction = {0, 1, 0},
                                    .mass_per_length = density,
                                    .rigidity = {rigidity, both ? 4 * rigidity : 0},
                                    .modes = modes};
    dyn_builder *builder = welded("base");
    dyn_error error;
    require(dyn_builder_add_flexible_beam(builder, &beam, &error), &error);
    return build_model(builder, NULL, NULL);
}

static int frame_of(const dyn_model *model, const char *link) {
    dyn_error error;
    int frame;
    require(dyn_model_find_frame(model, link, &frame, &error), &error);
    return frame;
}

/* Stores the matrix of the springs' forces, row-major, from unit displacements. */
static void stiffness_of(const dyn_model *model, double *K) {
    const dyn_passive_parts springs = {.springs = true, .friction_velocity = 1};
    size_t nv = (size_t)dyn_model_nv(model);
    dyn_error error;
    memset(K, 0, nv * nv * sizeof *K);
    for (size_t k = 0; k < nv; k++) {
        double q[2 * DYN_FLEXIBLE_BEAM_MODES] = {0};
        q[k] = 1;
        require(dyn_add_passive_forces(model, 1, &springs, -1, q, NULL, K + k * nv, &error), &error);
    }
}

/* ---- the clamped beam -------------------------------------------------------------------------------------------- */

/* Returns w L^2 sqrt(rho A / E I) of the coordinate k, whose row of M and K must be diagonal. */
static double frequency(const double *M, const double *K, size_t nv, size_t k, double EI) {
    for (size_t j = 0; j < nv; j++) {
        ck_assert_msg(j == k || fabs(M[k * nv + j]) <= 1e-5 * M[k * nv + k], "M_%zu%zu is %g beside %g", k, j,
                      M[k * nv + j], M[k * nv + k]);
        ck_assert_msg(j == k || K[k * nv + j] == 0, "K_%zu%zu is %g", k, j, K[k * nv + j]);
    }
    return sqrt(K[k * nv + k] / M[k * nv + k]) * length * length * sqrt(density / EI);
}

START_TEST(a_cantilever_has_its_frequencies) {
    static const double squares[] = {3.5160152685, 22.0344915640, 61.6972144135, 120.9019160523};
    static const double tolerances[] = {0, 1e-4, 1e-6, 1e-6, 1e-6};
    for (int modes = 1; modes <= 4; modes++) {
        dyn_model *model = cantilever(modes, true);
        double M[64], K[64], q[8] = {0};
        dyn_workspace *w;
        dyn_error error;
        size_t nv = (size_t)dyn_model_nv(model);
        ck_assert_uint_eq(nv, 2 * (size_t)modes);
        require(dyn_workspace_create(model, &w, &error), &error);
        require(dyn_crba(model, w, 1, q, M, &error), &error);
        stiffness_of(model, K);
        for (size_t k = 0; k < nv; k++) {
            double EI = k < (size_t)modes ? rigidity : 4 * rigidity, want = squares[k % (size_t)modes];
            double have = frequency(M, K, nv, k, EI);
            ck_assert_msg(fabs(have / want - 1) <= tolerances[modes], "%d modes, mode %zu: %.9g, not %.9g", modes, k,
                          have, want);
        }
        dyn_workspace_free(w);
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(a_force_at_the_end_bends_it_as_statics_says) {
    static const double parts[] = {0, 0.970686, 0.995402, 0.998554};
    const double F = 0.5, statics = F * length * length * length / (3 * rigidity);
    const double wrench[] = {0, 0, 0, 0, F, 0};
    for (int modes = 1; modes <= 3; modes++) {
        dyn_model *model = cantilever(modes, false);
        dyn_workspace *w;
        dyn_error error;
        double q[3] = {0}, zero[3] = {0}, tau[3], K[9], position[3], rotation[9];
        int tip = frame_of(model, "tip");
        const dyn_external_force force = {tip, DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, wrench, 0};
        require(dyn_workspace_create(model, &w, &error), &error);
        require(dyn_rnea(model, w, 1, weightless, q, zero, zero, &(dyn_external_forces){1, &force}, tau, &error),
                &error);
        stiffness_of(model, K);
        for (int k = 0; k < modes; k++) {
            q[k] = -tau[k] / K[k * modes + k];
        }
        require(dyn_frame_pose(model, w, 1, q, tip, position, rotation, &error), &error);
        ck_assert_double_eq_tol(position[0], length, 1e-15);
        ck_assert_double_eq_tol(position[1] / statics, parts[modes], 1e-5);
        ck_assert_double_eq_tol(position[2], 0, 1e-15);
        /* The slope F L^2 / (2 E I) has the sign of the displacement; its sum over the modes converges as 1 / k^3. */
        double slope = F * length * length / (2 * rigidity), turned = atan2(rotation[3], rotation[0]);
        ck_assert_double_eq_tol(turned / slope, 1, modes == 1 ? 0.15 : 0.05);
        dyn_workspace_free(w);
        dyn_model_free(model);
    }
}
END_TEST

/* ---- against Book's recursion ------------------------------------------------------------------------------------ */

/* Arm whose first link is a beam, as bodies of the tree, and as a chain of Book with the rigid links of `rigid`. Order
 * of the coordinates: shoulder, modes, elbow in the tree; shoulder, elbow, modes in the chain. */
typedef struct arm_pair {
    dyn_model *tree, *rigid;
    const dyn_model *loaded; /* tree with the payload */
    dyn_flexible_chain *chain;
    dyn_workspace *workspace, *of_rigid;
} arm_pair;

/* Parts of an arm at the end of its first link: the wrist, a payload on it, the place of the elbow, and the forearm. */
typedef struct arm_parts {
    dyn_inertia wrist, payload, forearm;
    double elbow[3];
} arm_parts;

/* Returns a builder of an arm: shoulder, upper arm, weld, wrist, elbow, forearm. */
static dyn_builder *arm_links(const dyn_inertia *upper, const arm_parts *parts) {
    static const double elbow_axis[3] = {0, 0.6, 0.8};
    const dyn_link_description links[] = {{.name = "base"},
                                          {.name = "upper", .inertia = *upper},
                                          {.name = "wrist", .inertia = parts->wrist},
                                          {.name = "forearm", .inertia = parts->forearm}};
    dyn_joint_description joints[] = {
        {.name = "shoulder", .type = DYN_JOINT_TYPE_CONTINUOUS, .axis = {0, 0, 1}, .position = {0, 0, 0.4}},
        {.name = "weld", .type = DYN_JOINT_TYPE_FIXED, .position = {length, 0, 0}},
        {.name = "elbow", .type = DYN_JOINT_TYPE_CONTINUOUS}};
    dyn_builder *builder;
    dyn_error error;
    memcpy(joints[2].axis, elbow_axis, sizeof elbow_axis);
    memcpy(joints[2].position, parts->elbow, sizeof parts->elbow);
    require(dyn_builder_create("arm", &builder, &error), &error);
    for (int i = 0; i < 4; i++) {
        require(dyn_builder_add_link(builder, &links[i], &error), &error);
    }
    for (int i = 0; i < 3; i++) {
        memcpy(joints[i].rotation, upright, sizeof upright);
        joints[i].parent_link = links[i].name, joints[i].child_link = links[i + 1].name;
        require(dyn_builder_add_joint(builder, &joints[i], &error), &error);
    }
    return builder;
}

static const arm_parts plain_parts = {
    .forearm = {.mass = 0.4, .center_of_mass = {0.2, 0.03, 0}, .rotational = {2e-3, 0, 0, 5e-3, 0, 5e-3}}};

/* Heavy parts with levers about the end of the beam. */
static const arm_parts loaded_parts = {
    .wrist = {.mass = 0.7, .center_of_mass = {0.1, -0.05, 0.04}, .rotational = {4e-3, 1e-3, 0, 5e-3, 0, 6e-3}},
    .payload = {.mass = 1.3, .center_of_mass = {-0.1, 0.2, 0.1}, .rotational = {2e-2, 0, 1e-3, 3e-2, 0, 4e-2}},
    .forearm = {.mass = 0.4, .center_of_mass = {0.2, 0.03, 0}, .rotational = {2e-3, 0, 0, 5e-3, 0, 5e-3}},
    .elbow = {0.15, 0.1, -0.05}};

/* Loads the model of a workspace with a payload on the wrist. */
static const dyn_model *load(dyn_workspace *workspace, const dyn_model *model, const dyn_inertia *payload) {
    const dyn_payload mounted = {.link = frame_of(model, "wrist"), .inertia = *payload};
    const dyn_model *loaded;
    dyn_error error;
    require(dyn_workspace_load(workspace, 1, &mounted, &loaded, &error), &error);
    return loaded;
}

static arm_pair arms(const arm_parts *parts) {
    double mass = density * length;
    const dyn_flexible_beam beam = {.name = "strip",
                                    .joint = "weld",
                                    .direction = {0.3, 1, 0},
                                    .mass_per_length = density,
                                    .rigidity = {rigidity, 0}};
    const dyn_inertia rod = {.mass = mass,
                             .center_of_mass = {length / 2, 0, 0},
                             .rotational = {0, 0, 0, mass * length * length / 12, 0, mass * length * length / 12}};
    const dyn_beam strip = {.end = {length, 0, 0}, .mass = mass, .direction = {0, 1, 0}, .rigidity = {rigidity, 0}};
    const dyn_inertia none = {0};
    dyn_flexible_mode modes[2];
    double products[36], stiffness[4];
    dyn_error error;
    arm_pair pair;
    dyn_builder *builder = arm_links(&none, parts);
    require(dyn_builder_add_flexible_beam(builder, &beam, &error), &error);
    pair.tree = build_model(builder, NULL, NULL);
    pair.rigid = build_model(arm_links(&rod, parts), NULL, NULL);
    require(dyn_beam_modes(&strip, 2, modes, products, stiffness, &error), &error);
    const dyn_payload payload = {.link = frame_of(pair.rigid, "wrist"), .inertia = parts->payload};
    const dyn_beam_load carried = {pair.rigid, frame_of(pair.rigid, "upper"), 1, &payload};
    require(dyn_beam_carry(&strip, 2, &carried, modes, products, &error), &error);
    require(dyn_workspace_create(pair.tree, &pair.workspace, &error), &error);
    require(dyn_workspace_create(pair.rigid, &pair.of_rigid, &error), &error);
    pair.loaded = load(pair.workspace, pair.tree, &parts->payload);
    const dyn_model *straight = load(pair.of_rigid, pair.rigid, &parts->payload);
    const dyn_flexible_link link = {frame_of(pair.rigid, "upper"), 2, modes, products, stiffness};
    require(dyn_flexible_chain_create(straight, 1, &link, &pair.chain, &error), &error);
    ck_assert_int_eq(dyn_model_nv(pair.tree), ARM_NQ);
    ck_assert_int_eq(dyn_flexible_chain_size(pair.chain), ARM_NQ);
    return pair;
}

static void free_arms(arm_pair *pair) {
    dyn_workspace_free(pair->workspace), dyn_workspace_free(pair->of_rigid);
    dyn_flexible_chain_free(pair->chain);
    dyn_model_free(pair->tree);
    dyn_model_free(pair->rigid);
}

/* Converts coordinates of the tree, whose modes displace the end by 1, to those of the chain, whose modes displace it
 * by 2 and -2. */
static void to_chain(const double tree[ARM_NQ], double chain[ARM_NQ]) {
    chain[0] = tree[0], chain[1] = tree[3];
    chain[2] = tree[1] / 2, chain[3] = -tree[2] / 2;
}

/* Returns the largest difference of the accelerations of tree and chain, relative to their norm, in a motion whose
 * modes have displacements and rates of about `amplitude`. */
static double difference(const arm_pair *pair, random_source *random, double amplitude) {
    const dyn_passive_parts springs = {.springs = true, .friction_velocity = 1};
    double q[ARM_NQ], v[ARM_NQ], tau[ARM_NQ] = {0}, a[ARM_NQ], x[ARM_NQ], rates[ARM_NQ], forces[ARM_NQ], b[ARM_NQ];
    dyn_error error;
    for (int k = 0; k < ARM_NQ; k++) {
        double size = k == 1 || k == 2 ? amplitude : 1;
        q[k] = random_uniform(random, -size, size);
        v[k] = random_uniform(random, -size, size);
    }
    tau[0] = random_uniform(random, -1, 1), tau[3] = random_uniform(random, -1, 1);
    to_chain(q, x), to_chain(v, rates), to_chain(tau, forces);
    require(dyn_add_passive_forces(pair->tree, 1, &springs, 1, q, v, tau, &error), &error);
    require(dyn_aba(pair->loaded, pair->workspace, 1, NULL, q, v, tau, NULL, a, &error), &error);
    require(dyn_flexible_forward_dynamics(pair->chain, NULL, x, rates, forces, b, &error), &error);
    double same[ARM_NQ], off = 0;
    to_chain(a, same);
    for (int k = 0; k < ARM_NQ; k++) {
        off = fmax(off, fabs(same[k] - b[k]));
    }
    return off / norm(b, ARM_NQ);
}

/* The end of Book's link turns by 1 + theta x, and this one by a rotation, so that the forces of a link with a lever at
 * the end differ by its weight and centrifugal force times theta. Those of a ball at the end do not. */
START_TEST(an_arm_moves_as_the_recursion_of_book_says) {
    const dyn_inertia ball = {.mass = 0.4, .rotational = {1e-5, 0, 0, 1e-5, 0, 1e-5}};
    random_source random = random_seed("flexible beam", 1984);
    const arm_parts ball_alone = {.forearm = ball};
    arm_pair pair = arms(&plain_parts), with_ball = arms(&ball_alone);
    for (int i = 0; i < 20; i++) {
        ck_assert_double_le(difference(&pair, &random, 0), 1e-6);
        ck_assert_double_le(difference(&pair, &random, 1e-5), 1e-3);
        ck_assert_double_le(difference(&with_ball, &random, 1e-3), 1e-4);
    }
    free_arms(&pair);
    free_arms(&with_ball);
}
END_TEST

/* The wrist, a payload on it and the elbow beside the end of the beam move with the end. */
START_TEST(what_a_beam_carries_moves_as_the_bodies_of_the_tree) {
    random_source random = random_seed("loaded beam", 1986);
    arm_pair pair = arms(&loaded_parts), without = arms(&plain_parts);
    for (int i = 0; i < 20; i++) {
        ck_assert_double_le(difference(&pair, &random, 0), 1e-6);
        ck_assert_double_le(difference(&pair, &random, 1e-5), 2e-3);
    }
    double M[2][ARM_NQ * ARM_NQ], tree[ARM_NQ * ARM_NQ], zero[ARM_NQ] = {0}, unit[ARM_NQ], row[ARM_NQ];
    dyn_error error;
    require(dyn_flexible_inertia_matrix(pair.chain, zero, M[0], &error), &error);
    require(dyn_flexible_inertia_matrix(without.chain, zero, M[1], &error), &error);
    require(dyn_crba(pair.loaded, pair.workspace, 1, zero, tree, &error), &error);
    for (int i = 0; i < ARM_NQ; i++) {
        memset(unit, 0, sizeof unit), unit[i] = 1;
        to_chain(unit, row);
        double sum = 0;
        for (int k = 0; k < ARM_NQ * ARM_NQ; k++) {
            sum += row[k / ARM_NQ] * M[0][k] * row[k % ARM_NQ];
        }
        ck_assert_double_eq_tol(sum, tree[i * ARM_NQ + i], 1e-6 * tree[i * ARM_NQ + i]);
    }
    ck_assert_msg(M[0][2 * ARM_NQ + 2] > 2 * M[1][2 * ARM_NQ + 2], "the load does not count");
    free_arms(&pair), free_arms(&without);
}
END_TEST

START_TEST(other_algorithms_agree_on_an_arm_that_bends) {
    random_source random = random_seed("flexible algorithms", 1985);
    arm_pair pair = arms(&plain_parts);
    for (int i = 0; i < 10; i++) {
        double q[ARM_NQ], v[ARM_NQ], a[ARM_NQ], tau[ARM_NQ], back[ARM_NQ], M[ARM_NQ * ARM_NQ], kinetic, potential;
        double half = 0;
        dyn_error error;
        for (int k = 0; k < ARM_NQ; k++) {
            q[k] = random_uniform(&random, -0.2, 0.2), v[k] = random_uniform(&random, -1, 1);
            a[k] = random_uniform(&random, -3, 3);
        }
        require(dyn_rnea(pair.tree, pair.workspace, 1, NULL, q, v, a, NULL, tau, &error), &error);
        require(dyn_aba(pair.tree, pair.workspace, 1, NULL, q, v, tau, NULL, back, &error), &error);
        assert_norm_close("a", i, back, a, ARM_NQ, 1e-9);
        require(dyn_crba(pair.tree, pair.workspace, 1, q, M, &error), &error);
        require(dyn_energy(pair.tree, pair.workspace, 1, NULL, q, v, &kinetic, &potential, &error), &error);
        for (int k = 0; k < ARM_NQ * ARM_NQ; k++) {
            half += v[k / ARM_NQ] * M[k] * v[k % ARM_NQ] / 2;
        }
        ck_assert_double_eq_tol(kinetic, half, 1e-12 * half);
    }
    free_arms(&pair);
}
END_TEST

/* ---- motions ----------------------------------------------------------------------------------------------------- */

/* Returns the energy of a state, springs included. */
static double energy_of(const arm_pair *pair, const double *q, const double *v) {
    double kinetic, potential, spring;
    dyn_error error;
    require(dyn_energy(pair->tree, pair->workspace, 1, NULL, q, v, &kinetic, &potential, &error), &error);
    dyn_spring_energy(pair->tree, 1, q, &spring);
    return kinetic + potential + spring;
}

START_TEST(a_rollout_keeps_the_energy_of_an_arm_that_bends) {
    arm_pair pair = arms(&plain_parts);
    const double q[ARM_NQ] = {0.3, 0.02, -0.001, 0.7}, v[ARM_NQ] = {1.5, 0.3, 0, -2};
    double end[ARM_NQ], rates[ARM_NQ];
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *simulator;
    dyn_error error;
    o.step_length = 2e-4;
    o.integrator = DYN_INTEGRATOR_RUNGE_KUTTA_4;
    require(dyn_simulator_create(pair.tree, &o, &simulator, &error), &error);
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 2000, .q = q, .v = v);
    require(dyn_rollout_run(simulator, 1, &rollout, &(dyn_rollout_output)DYN_ROLLOUT_OUTPUT_INIT(.q = end, .v = rates),
                            &error),
            &error);
    double before = energy_of(&pair, q, v), after = energy_of(&pair, end, rates);
    ck_assert_msg(fabs(end[1] - q[1]) > 1e-3, "the beam rests");
    ck_assert_double_eq_tol(after, before, 1e-6 * (1 + fabs(before)));
    dyn_simulator_free(simulator);
    free_arms(&pair);
}
END_TEST

START_TEST(damping_lets_the_first_mode_decay) {
    /* x = exp(-zeta w t) (cos w_d t + zeta / sqrt(1 - zeta^2) sin w_d t), after one period of w_d. */
    const double zeta = 0.02, w = 3.5160152685 / (length * length) * sqrt(rigidity / density);
    const double period = 2 * acos(-1) / (w * sqrt(1 - zeta * zeta));
    const dyn_flexible_beam beam = {.name = "strip",
                                    .joint = "weld",
                                    .direction = {0, 1, 0},
                                    .mass_per_length = density,
                                    .rigidity = {rigidity, 0},
                                    .modes = 1,
                                    .damping_ratio = zeta};
    dyn_builder *builder = welded("base");
    dyn_error error;
    require(dyn_builder_add_flexible_beam(builder, &beam, &error), &error);
    dyn_model *model = build_model(builder, NULL, NULL);
    double q = 0.01, end;
    dyn_simulation_options o = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *simulator;
    o.step_length = period / 1000;
    o.has_gravity = true;
    o.integrator = DYN_INTEGRATOR_RUNGE_KUTTA_4;
    require(dyn_simulator_create(model, &o, &simulator, &error), &error);
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 1000, .q = &q);
    require(dyn_rollout_run(simulator, 1, &rollout, &(dyn_rollout_output)DYN_ROLLOUT_OUTPUT_INIT(.q = &end), &error),
            &error);
    ck_assert_double_eq_tol(end / q, exp(-zeta * w * period), 1e-5);
    dyn_simulator_free(simulator);
    dyn_model_free(model);
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void refuse(const dyn_flexible_beam *beam, const char *part, const char *words) {
    dyn_builder *builder = welded("base");
    dyn_error error;
    dyn_status status = dyn_builder_add_flexible_beam(builder, beam, &error);
    ck_assert_msg(status == DYN_INVALID_ARGUMENT && strstr(error.message, words), "%d: %s", status, error.message);
    ck_assert_str_eq(error.place, "machine element strip");
    ck_assert_str_eq(error.site.part, part);
    dyn_builder_free(builder);
}

START_TEST(wrong_beams_are_refused_by_name) {
    const dyn_flexible_beam right = {
        .name = "strip", .joint = "weld", .direction = {0, 1, 0}, .mass_per_length = 1, .rigidity = {1, 0}};
    dyn_flexible_beam beam = right;
    beam.joint = "wild";
    refuse(&beam, "joint", "no joint \"wild\"");
    beam = right, beam.start[0] = length;
    refuse(&beam, "flexible_beam.start", "length");
    beam = right, beam.direction[1] = 0;
    refuse(&beam, "flexible_beam.direction", "(0, 0, 0)");
    beam.direction[0] = 2;
    refuse(&beam, "flexible_beam.direction", "(2, 0, 0)");
    beam = right, beam.mass_per_length = 0;
    refuse(&beam, "flexible_beam.mass_per_length", "is 0");
    beam = right, beam.rigidity[0] = NAN;
    refuse(&beam, "flexible_beam.rigidity", "nan");
    beam = right, beam.rigidity[1] = -2;
    refuse(&beam, "flexible_beam.normal_rigidity", "-2");
    beam = right, beam.damping_ratio = -0.1;
    refuse(&beam, "flexible_beam.damping_ratio", "-0.1");
    beam = right, beam.modes = 7;
    refuse(&beam, "flexible_beam.modes", "7 modes");
}
END_TEST

START_TEST(a_moving_joint_is_no_place_for_a_beam) {
    const dyn_inertia none = {0};
    const arm_parts bare = {0};
    const dyn_flexible_beam beam = {
        .name = "strip", .joint = "elbow", .direction = {0, 1, 0}, .mass_per_length = 1, .rigidity = {1, 0}};
    dyn_builder *builder = arm_links(&none, &bare);
    dyn_error error;
    ck_assert_int_eq(dyn_builder_add_flexible_beam(builder, &beam, &error), DYN_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.message, "continuous") != NULL, "%s", error.message);
    dyn_builder_free(builder);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("flexible beams");
    tcase_add_test(all, a_cantilever_has_its_frequencies);
    tcase_add_test(all, a_force_at_the_end_bends_it_as_statics_says);
    tcase_add_test(all, an_arm_moves_as_the_recursion_of_book_says);
    tcase_add_test(all, what_a_beam_carries_moves_as_the_bodies_of_the_tree);
    tcase_add_test(all, other_algorithms_agree_on_an_arm_that_bends);
    tcase_add_test(all, a_rollout_keeps_the_energy_of_an_arm_that_bends);
    tcase_add_test(all, damping_lets_the_first_mode_decay);
    tcase_add_test(all, wrong_beams_are_refused_by_name);
    tcase_add_test(all, a_moving_joint_is_no_place_for_a_beam);
    return run_tests(all);
}
