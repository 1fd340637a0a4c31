/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Losses of gears in inverse and forward dynamics of random trees with rotors, constraints, rows of the caller, a base
 * that moves, and differentials, whose gears are on shafts.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

enum { JOINTS = 6, SAMPLES = 3, CASES = 64, ROTORS = 3, MOST_ROWS = 4 };

static const double WIDTH = 0.05, upright[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* Parts of one case. */
typedef struct parts {
    bool has_rotors, has_constraints, has_rows, moves, has_shafts;
} parts;

static parts parts_of(int k) {
    return (parts){k % 2 > 0, k / 2 % 2 > 0, k / 4 % 2 > 0, k / 8 % 2 > 0, k / 16 % 2 > 0};
}

/* Robot with its samples. */
typedef struct robot {
    dyn_model *model;
    dyn_workspace *w;
    size_t nq, nv;
    double *q, *v, *tau, *r, *f, *a, *losses, *memory, *A, *c;
    double base_rows[SAMPLES * 12];
    dyn_given_rows given;
    dyn_base_motion base;
    dyn_constraint_options options;
    dyn_geared_states states;
} robot;

/* Finds the first two joints with one coordinate. Returns the joint after them; -1 where there are fewer. */
static int find_pair(const dyn_model *tree, const char *pair[2]) {
    int count = 0, j = 0;
    for (; j < dyn_model_joint_count(tree) && count < 2; j++) {
        if (dyn_model_joint(tree, j)->nv == 1) {
            pair[count++] = dyn_model_joint(tree, j)->name;
        }
    }
    return count == 2 ? j : -1;
}

/* Adds a differential: two shafts, which the first two joints with one coordinate turn together and against each other,
 * with a gear and friction on each. One is on the world and one on the last link. Returns the joint after them. */
static int add_differential(random_source *random, const dyn_model *tree, bool has_rotors, dyn_builder *builder) {
    dyn_machine_element_description shaft = {.kind = DYN_MACHINE_ELEMENT_KIND_SHAFT,
                                             .motor = {.resistance = 1, .torque_constant = 0.1},
                                             .shaft = {.joint_count = 2, .ratios = {7, 9}, .has_motor = true}};
    dyn_error error;
    int next = find_pair(tree, shaft.shaft.joints);
    for (int k = 0; k < 2 && next >= 0; k++) {
        shaft.name = k == 0 ? "left" : "right";
        shaft.link = k == 0 ? NULL : dyn_model_link(tree, dyn_model_link_count(tree) - 1)->name;
        shaft.shaft.ratios[1] = k == 0 ? 9 : -5;
        shaft.rotor.axial_inertia = has_rotors ? random_uniform(random, 1e-3, 4e-3) : 0;
        shaft.rotor.coupling = (dyn_rotor_coupling)(random_bits(random) % ROTORS);
        require(dyn_builder_add_machine_element(builder, &shaft, &error), &error);
        const dyn_machine_element_description oil = {.name = k == 0 ? "oil" : "more oil",
                                                     .kind = DYN_MACHINE_ELEMENT_KIND_FRICTION,
                                                     .joint = shaft.name,
                                                     .friction = {.viscous = {0.01, 0.02}, .coulomb = {0.1, 0.2}}};
        require(dyn_builder_add_machine_element(builder, &oil, &error), &error);
        dyn_machine_element_description gear = {
            .name = k == 0 ? "left gear" : "right gear", .kind = DYN_MACHINE_ELEMENT_KIND_GEAR, .joint = shaft.name};
        gear.gear = (dyn_gear){.efficiency = random_uniform(random, 0.5, 1),
                               .back_driving_efficiency = random_uniform(random, 0.3, 1)};
        require(dyn_builder_add_machine_element(builder, &gear, &error), &error);
    }
    return next >= 0 ? next : 0;
}

/* Adds gears to the joints with one coordinate from joint `first` on, and a rotor to every other one of them. */
static void add_gears(random_source *random, const dyn_model *tree, int first, bool has_rotors, dyn_builder *builder) {
    dyn_error error;
    int rotors = 0;
    for (int j = first; j < dyn_model_joint_count(tree); j++) {
        const dyn_joint *joint = dyn_model_joint(tree, j);
        char name[80], rotor_name[80];
        snprintf(name, sizeof name, "gear of %.60s", joint->name);
        snprintf(rotor_name, sizeof rotor_name, "rotor of %.60s", joint->name);
        dyn_machine_element_description e = {
            .name = rotor_name,
            .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR,
            .joint = joint->name,
            .rotor = {.ratio = rotors % 2 ? -9 : 14,
                      .axial_inertia = random_uniform(random, 1e-3, 4e-3),
                      .coupling = rotors % ROTORS == 2 ? DYN_ROTOR_COUPLING_REFLECTED : DYN_ROTOR_COUPLING_EXACT}};
        if (joint->nv != 1) {
            continue;
        }
        if (has_rotors && rotors++ % 4 < 3) {
            require(dyn_builder_add_machine_element(builder, &e, &error), &error);
        }
        e.name = name, e.kind = DYN_MACHINE_ELEMENT_KIND_GEAR;
        e.gear = (dyn_gear){.efficiency = random_uniform(random, 0.5, 1),
                            .back_driving_efficiency = random_uniform(random, 0.3, 1)};
        require(dyn_builder_add_machine_element(builder, &e, &error), &error);
    }
}

/* Adds a distance of the last link from a point of the world, and a coupling of two joints. */
static void add_constraints(const dyn_model *tree, dyn_builder *builder) {
    dyn_error error;
    dyn_constraint_description rod = {
        .name = "rod",
        .kind = DYN_CONSTRAINT_KIND_DISTANCE,
        .distance = 1,
        .predecessor = {NULL, {.position = {0.4, 0.9, 2}}},
        .successor = {dyn_model_link(tree, dyn_model_link_count(tree) - 1)->name, {.position = {0.1, 0.2, 0.1}}}};
    dyn_constraint_description belt = {.name = "belt", .kind = DYN_CONSTRAINT_KIND_COUPLING};
    memcpy(rod.predecessor.pose.rotation, upright, sizeof upright);
    memcpy(rod.successor.pose.rotation, upright, sizeof upright);
    for (int j = 0, k = 0; j < dyn_model_joint_count(tree) && k < 2; j++) {
        const dyn_joint *joint = dyn_model_joint(tree, j);
        if (joint->nv == 1) {
            belt.coupled[k] = (dyn_coupled_coordinate){joint->name, k ? -1.7 : 1};
            k++;
        }
    }
    require(dyn_builder_add_constraint(builder, &rod, &error), &error);
    require(dyn_builder_add_constraint(builder, &belt, &error), &error);
}

/* Returns a random tree all of whose joints may have motors. */
static dyn_model *random_driven_tree(random_source *random) {
    const random_tree_options options = {.joints = JOINTS};
    for (;;) {
        dyn_model *tree = random_tree(random, &options);
        bool floats = false;
        for (int j = 0; j < dyn_model_joint_count(tree); j++) {
            floats = floats || dyn_model_joint(tree, j)->type == DYN_JOINT_TYPE_FLOATING;
        }
        if (!floats) {
            return tree;
        }
        dyn_model_free(tree);
    }
}

/* Builds the model of a case. */
static dyn_model *build(random_source *random, const parts *p) {
    dyn_model *tree = random_driven_tree(random), *made;
    const dyn_build_options build_options = DYN_BUILD_OPTIONS_INIT();
    dyn_builder *builder;
    dyn_error error;
    require(dyn_model_describe(tree, &builder, &error), &error);
    int first = p->has_shafts ? add_differential(random, tree, p->has_rotors, builder) : 0;
    add_gears(random, tree, first, p->has_rotors, builder);
    if (p->has_constraints) {
        add_constraints(tree, builder);
    }
    require(dyn_builder_build(builder, &build_options, NULL, &made, &error), &error);
    dyn_builder_free(builder);
    dyn_model_free(tree);
    return made;
}

static robot open_robot(random_source *random, const parts *p) {
    dyn_error error;
    robot r = {.model = build(random, p)};
    r.nq = (size_t)dyn_model_nq(r.model), r.nv = (size_t)dyn_model_nv(r.model);
    require(dyn_workspace_create(r.model, &r.w, &error), &error);
    double **by_coordinate[] = {&r.v, &r.tau, &r.r, &r.f, &r.a, &r.losses};
    for (size_t i = 0; i < sizeof by_coordinate / sizeof *by_coordinate; i++) {
        *by_coordinate[i] = numbers(SAMPLES * r.nv);
    }
    r.q = numbers(SAMPLES * r.nq), r.A = numbers(SAMPLES * r.nv), r.c = numbers(SAMPLES);
    r.memory = numbers(dyn_geared_memory(r.model, SAMPLES));
    for (size_t s = 0; s < SAMPLES; s++) {
        random_configuration(random, r.model, 1, r.q + s * r.nq);
    }
    random_vector(random, (int)(SAMPLES * r.nv), 1, r.v);
    random_vector(random, (int)(SAMPLES * r.nv), 20, r.tau);
    random_vector(random, (int)(SAMPLES * r.nv), 1, r.A);
    random_vector(random, SAMPLES, 1, r.c);
    random_vector(random, SAMPLES * 12, 1, r.base_rows);
    return r;
}

/* Points the states of a robot at its arrays, which do not move any more. */
static void connect(const parts *p, robot *r) {
    r->given = (dyn_given_rows){1, true, r->A, r->c};
    r->base = (dyn_base_motion){r->base_rows, r->base_rows + 6, 12};
    r->options = (dyn_constraint_options)DYN_CONSTRAINT_OPTIONS_INIT(.given = p->has_rows ? &r->given : NULL);
    r->options.method = p->has_rows ? DYN_CONSTRAINT_METHOD_FULL_SYSTEM : DYN_CONSTRAINT_METHOD_AUTO;
    r->states = (dyn_geared_states){
        .n = SAMPLES,
        .q = r->q,
        .v = r->v,
        .parts = {.damping = true, .friction = true, .friction_velocity = WIDTH, .gear_losses = true},
        .base = p->moves ? &r->base : NULL,
        .constraints = &r->options,
        .memory = r->memory};
}

static void close_robot(robot *r) {
    double *arrays[] = {r->q, r->v, r->tau, r->r, r->f, r->a, r->losses, r->memory, r->A, r->c};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        free(arrays[i]);
    }
    dyn_workspace_free(r->w);
    dyn_model_free(r->model);
}

/* Computes the losses and the accelerations under tau, and the passive forces and those of the base. */
static void accelerate(robot *r, const double *tau, double *a) {
    dyn_error error;
    size_t entries = SAMPLES * r->nv;
    memset(r->r, 0, entries * sizeof *r->r);
    memset(r->f, 0, entries * sizeof *r->f);
    require(dyn_add_passive_forces(r->model, SAMPLES, &r->states.parts, 1, r->q, r->v, r->r, &error), &error);
    if (r->states.base) {
        require(dyn_base_forces(r->model, r->w, SAMPLES, r->q, r->v, &r->base, r->f, NULL, &error), &error);
    }
    require(dyn_gear_losses_under_forces(r->model, r->w, &r->states, tau, r->losses, &error), &error);
    for (size_t k = 0; k < entries; k++) {
        a[k] = tau[k] + r->r[k] + r->losses[k] - r->f[k];
    }
    require(dyn_constrained_forward_dynamics(r->model, r->w, SAMPLES, NULL, r->q, r->v, a, NULL, &r->options, a, NULL,
                                             NULL, &error),
            &error);
}

/* Checks that gears never drive: the power of the losses of each sample is not positive. */
static void expect_no_power_from(const robot *r, const double *losses) {
    for (size_t s = 0; s < SAMPLES; s++) {
        double power = 0;
        for (size_t k = s * r->nv; k < (s + 1) * r->nv; k++) {
            power += losses[k] * r->v[k];
        }
        ck_assert_double_le(power, 0);
    }
}

/* Computes the inverse dynamics with losses. */
static void inverse(robot *r, double *tau) {
    dyn_error error;
    double *losses = numbers(SAMPLES * r->nv);
    const dyn_constrained_inverse_options options =
        DYN_CONSTRAINED_INVERSE_OPTIONS_INIT(.passive = &r->states.parts, .added = r->f, .given = r->options.given);
    require(dyn_constrained_inverse_dynamics(r->model, r->w, SAMPLES, NULL, r->q, r->v, r->a, NULL, &options, tau, NULL,
                                             NULL, &error),
            &error);
    require(dyn_gear_losses_of_motion(r->model, r->w, &r->states, r->a, losses, &error), &error);
    for (size_t k = 0; k < SAMPLES * r->nv; k++) {
        tau[k] -= losses[k];
    }
    expect_no_power_from(r, losses);
    free(losses);
}

START_TEST(inverse_dynamics_with_losses_inverts_forward_dynamics_with_them) {
    random_source base = random_seed("losses of gears with constraints and a moving base", 171);
    double most = 0;
    for (int k = 0; k < CASES; k++) {
        const parts p = parts_of(k);
        random_source random = random_case(base, (uint64_t)k);
        robot r = open_robot(&random, &p);
        connect(&p, &r);
        double *found = numbers(SAMPLES * r.nv), *again = numbers(SAMPLES * r.nv);
        accelerate(&r, r.tau, r.a);
        expect_no_power_from(&r, r.losses);
        for (size_t i = 0; i < SAMPLES * r.nv; i++) {
            most = fmax(most, fabs(r.losses[i]));
        }
        inverse(&r, found);
        if (!p.has_constraints && !p.has_rows) {
            assert_norm_close("tau", k, found, r.tau, SAMPLES * r.nv, 1e-8);
        }
        accelerate(&r, found, again);
        assert_norm_close("a", k, again, r.a, SAMPLES * r.nv, 1e-7);
        free(found), free(again);
        close_robot(&r);
    }
    ck_assert_double_gt(most, 1);
}
END_TEST

START_TEST(accelerations_with_losses_are_those_of_a_short_step_of_a_simulation) {
    random_source base = random_seed("losses of gears in simulations with constraints and a moving base", 172);
    for (int k = 0; k < CASES; k++) {
        const parts p = parts_of(k);
        random_source random = random_case(base, (uint64_t)k);
        dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
        options.integrator = DYN_INTEGRATOR_EXPLICIT_EULER;
        options.step_length = 0x1p-20;
        options.friction_velocity = WIDTH;
        options.constraint_stabilization = 0;
        options.ignore_projection = options.ignore_effort_limits = options.base_may_move = true;
        options.stop = DYN_JOINT_STOP_NONE;
        if (p.has_rows) {
            continue;
        }
        robot r = open_robot(&random, &p);
        connect(&p, &r);
        dyn_simulator *s;
        dyn_error error;
        double *u = numbers(SAMPLES * r.nv), *x = numbers(SAMPLES * r.nq);
        const dyn_step_input input = DYN_STEP_INPUT_INIT(.tau = r.tau, .base = r.states.base);
        accelerate(&r, r.tau, r.a);
        memcpy(u, r.v, SAMPLES * r.nv * sizeof *u);
        memcpy(x, r.q, SAMPLES * r.nq * sizeof *x);
        require(dyn_simulator_create(r.model, &options, &s, &error), &error);
        require(dyn_simulator_step(s, SAMPLES, &input, x, u, NULL, NULL, &error), &error);
        for (size_t i = 0; i < SAMPLES * r.nv; i++) {
            u[i] = (u[i] - r.v[i]) / options.step_length;
        }
        assert_norm_close("a of a step", k, u, r.a, SAMPLES * r.nv, 2e-6);
        dyn_simulator_free(s);
        free(u), free(x);
        close_robot(&r);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("tests");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, inverse_dynamics_with_losses_inverts_forward_dynamics_with_them);
    tcase_add_test(tests, accelerations_with_losses_are_those_of_a_short_step_of_a_simulation);
    return run_properties("geared_dynamics", tests);
}
