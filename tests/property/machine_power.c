/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that the power that goes in is the rate of kinetic, potential and spring energy and the losses, along motions
 * of random trees of every joint type with every combination of machine elements, half of which have a shaft with
 * friction and a brake, half of them a constraint, and half of them a beam.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

/* Choices of each part. Laws of friction are those of Modern Robotics, figure 8.13, and LuGre's. */
enum { NO_ROTOR, EXACT, DIAGONAL, REFLECTED, ROTORS };
enum { NO_LAW, LAW_A, LAW_B, LAW_C, LAW_D, LAW_E, LAW_F, LUGRE, LAWS };
enum { NO_LINK, STRUT, BUSHING, FLUID, LINKS };
enum {
    EXTRAS = 3,
    JOINTS = 7,
    STEPS = 40,
    COMBINATIONS = ROTORS * 2 * LAWS * 2 * LINKS * 2,
    TYPES = DYN_JOINT_TYPE_FLOATING + 1
};

static const double STEP = 5e-4, WIDTH = 0.2;

/* One combination of parts. The last three are drawn at random for each. */
typedef struct parts {
    int rotor, law, link;
    bool has_gear, has_spring, has_brake;
    bool has_shaft, has_constraint, has_beam;
} parts;

static parts parts_of(random_source *random, int combination) {
    parts p = {.has_shaft = random_uniform(random, 0, 1) < 0.5,
               .has_constraint = random_uniform(random, 0, 1) < 0.5,
               .has_beam = random_uniform(random, 0, 1) < 0.5};
    p.rotor = combination % ROTORS, combination /= ROTORS;
    p.has_gear = combination % 2, combination /= 2;
    p.law = combination % LAWS, combination /= LAWS;
    p.has_spring = combination % 2, combination /= 2;
    p.link = combination % LINKS, combination /= LINKS;
    p.has_brake = combination % 2;
    return p;
}

/* ---- Machines ---------------------------------------------------------------------------------------------------- */

/* Adds an element of a kind to a joint, with a name that the kind and the joint determine. */
static void add(dyn_builder *builder, dyn_machine_element_description *element, dyn_machine_element_kind kind,
                const char *joint) {
    char name[80];
    dyn_error error;
    snprintf(name, sizeof name, "element %d of %.40s", (int)kind, joint);
    element->name = name, element->kind = kind, element->joint = joint;
    require(dyn_builder_add_machine_element(builder, element, &error), &error);
}

static dyn_friction law_of(random_source *random, const parts *p) {
    bool has_viscous = p->law != LAW_B && p->law != LAW_D, has_dry = p->law != LAW_A;
    bool of_rotor = p->rotor != NO_ROTOR && (random_uniform(random, 0, 1) < 0.5 || (p->law == LUGRE && p->has_gear));
    dyn_friction law = {.side = of_rotor ? DYN_GEAR_SIDE_ROTOR : DYN_GEAR_SIDE_JOINT};
    for (int i = 0; i < 2; i++) {
        double size = law.side == DYN_GEAR_SIDE_ROTOR ? 0.05 : 1;
        law.viscous[i] = has_viscous ? size * random_uniform(random, 0.1, 0.5) : 0;
        law.coulomb[i] = has_dry ? size * random_uniform(random, 0.2, 0.5) : 0;
        law.breakaway[i] = p->law >= LAW_D ? law.coulomb[i] * 1.5 : 0;
    }
    law.stribeck_velocity = p->law >= LAW_D ? 0.3 : 0;
    law.temperature_factor = p->law == LAW_F ? 1.7 : 0;
    if (p->law == LUGRE) {
        law.bristle_stiffness = 300 * law.coulomb[0];
        law.bristle_damping = law.coulomb[0];
    }
    return law;
}

/* Adds the elements of a joint; the friction only if `with_friction`. */
static void add_joint_elements(random_source *random, const parts *p, const char *joint, bool with_friction,
                               dyn_builder *builder) {
    dyn_machine_element_description e = {0};
    if (p->rotor != NO_ROTOR) {
        e.rotor = (dyn_rotor){.ratio = random_uniform(random, -1, 1) < 0 ? -8 : 12,
                              .axial_inertia = random_uniform(random, 1e-3, 5e-3),
                              .coupling = (dyn_rotor_coupling)(p->rotor - EXACT)};
        add(builder, &e, DYN_MACHINE_ELEMENT_KIND_ROTOR, joint);
    }
    if (p->has_gear) {
        e.gear = (dyn_gear){.ratio = p->rotor == NO_ROTOR ? 5 : 0, .efficiency = 0.8, .back_driving_efficiency = 0.6};
        add(builder, &e, DYN_MACHINE_ELEMENT_KIND_GEAR, joint);
    }
    e.friction = law_of(random, p);
    if (p->law != NO_LAW && with_friction) {
        add(builder, &e, DYN_MACHINE_ELEMENT_KIND_FRICTION, joint);
    }
    if (p->has_spring) {
        e.spring = (dyn_spring){.stiffness = random_uniform(random, 5, 50), .rest = 0.2};
        add(builder, &e, DYN_MACHINE_ELEMENT_KIND_SPRING, joint);
    }
    if (p->has_brake) {
        e.motor = (dyn_motor){.resistance = 1, .torque_constant = 0.05};
        add(builder, &e, DYN_MACHINE_ELEMENT_KIND_MOTOR, joint);
        e.brake = (dyn_brake){.torque = 0.05};
        add(builder, &e, DYN_MACHINE_ELEMENT_KIND_BRAKE, joint);
    }
}

/* Adds the element that acts on the links of the tree's last joint and of its first. */
static void add_link_element(const parts *p, const dyn_model *tree, dyn_builder *builder) {
    static const dyn_machine_element_kind kinds[LINKS] = {
        [STRUT] = DYN_MACHINE_ELEMENT_KIND_STRUT,
        [BUSHING] = DYN_MACHINE_ELEMENT_KIND_BUSHING,
        [FLUID] = DYN_MACHINE_ELEMENT_KIND_FLUID,
    };
    dyn_machine_element_description e = {
        .link = dyn_model_link(tree, dyn_model_link_count(tree) - 1)->name,
        .strut = {.other_position = {0.5, 1, 4}, .stiffness = 20, .rest = 1, .damping = 3, .push = 5},
        .bushing = {.stiffness = {5, 9, 7},
                    .rotational_stiffness = {1, 2, 3},
                    .damping = {1, 2, 0.5},
                    .rotational_damping = {0.1, 0.2, 0.3}},
        .fluid = {.density = 1000,
                  .volume = 1e-3,
                  .drag = {1, 2, 3},
                  .quadratic_drag = {2, 1, 3},
                  .quadratic_rotational_drag = {0.1, 0.1, 0.2}},
    };
    if (p->link != NO_LINK) {
        e.other_link = p->link == FLUID ? NULL : dyn_model_link(tree, 0)->name;
        e.fluid.center[0] = 0.1;
        add(builder, &e, kinds[p->link], "");
    }
}

/* Replaces the first fixed joint by a beam whose first frequency is 10 rad/s. */
static void add_beam(dyn_builder *builder) {
    dyn_error error;
    for (int j = 0; j < dyn_builder_joint_count(builder); j++) {
        const dyn_joint_description *joint = dyn_builder_joint(builder, j);
        double length = norm(joint->position, 3), rate = 10 / 3.516 * length * length;
        if (joint->type == DYN_JOINT_TYPE_FIXED && length > 0.1) {
            const dyn_flexible_beam beam = {.name = "beam",
                                            .joint = joint->name,
                                            .direction = {joint->position[1] + 1, -joint->position[0], 0.3},
                                            .mass_per_length = 5,
                                            .rigidity = {5 * rate * rate, 0},
                                            .modes = 1,
                                            .damping_ratio = 0.02};
            require(dyn_builder_add_flexible_beam(builder, &beam, &error), &error);
            return;
        }
    }
}

/* Adds a shaft with friction, which has bristles where those of joints have, and a brake. Joint `first` and the next
 * ones with one coordinate turn it; one joint alone turns a shaft with a gear. The friction is left out where bristles
 * carry it, unless `with_friction`. */
static void add_shaft(const dyn_model *tree, int first, const parts *p, bool with_friction, dyn_builder *builder) {
    dyn_machine_element_description e = {.rotor = {.axial_inertia = 2e-3},
                                         .motor = {.resistance = 1, .torque_constant = 0.05},
                                         .shaft = {.has_motor = true}};
    bool has_gear = p->has_gear && p->has_spring;
    for (int j = first; j < dyn_model_joint_count(tree) && e.shaft.joint_count < (has_gear ? 1 : 3); j++) {
        if (dyn_model_joint(tree, j)->nv == 1) {
            e.shaft.ratios[e.shaft.joint_count] = e.shaft.joint_count == 1 ? -7 : 4;
            e.shaft.joints[e.shaft.joint_count++] = dyn_model_joint(tree, j)->name;
        }
    }
    if (e.shaft.joint_count > 0) {
        add(builder, &e, DYN_MACHINE_ELEMENT_KIND_SHAFT, "");
        e.friction = (dyn_friction){.viscous = {0.02, 0.05}, .coulomb = {0.1, 0.05}};
        if (p->law == LUGRE) {
            e.friction = (dyn_friction){.viscous = {0.02, 0.05},
                                        .coulomb = {0.1, 0.05},
                                        .breakaway = {0.15, 0.05},
                                        .stribeck_velocity = 0.3,
                                        .bristle_stiffness = 1,
                                        .bristle_damping = 0.01};
        }
        if (p->law != LUGRE || with_friction) {
            add(builder, &e, DYN_MACHINE_ELEMENT_KIND_FRICTION, "element 11 of ");
        }
        e.brake.torque = 0.1;
        add(builder, &e, DYN_MACHINE_ELEMENT_KIND_BRAKE, "element 11 of ");
        e.gear = (dyn_gear){.efficiency = 0.8, .back_driving_efficiency = 0.6};
        if (has_gear) {
            add(builder, &e, DYN_MACHINE_ELEMENT_KIND_GEAR, "element 11 of ");
        }
    }
}

static const double RATIO = -1.7; /* of the coordinates that a constraint couples */

/* Finds the first two joints with one coordinate. Returns whether there are two. */
static bool find_coupled(const dyn_model *tree, const dyn_joint *joints[2]) {
    int count = 0;
    for (int j = 0; j < dyn_model_joint_count(tree) && count < 2; j++) {
        if (dyn_model_joint(tree, j)->nv == 1) {
            joints[count++] = dyn_model_joint(tree, j);
        }
    }
    return count == 2;
}

/* Couples the first two joints with one coordinate. */
static void add_constraint(const dyn_model *tree, dyn_builder *builder) {
    const dyn_joint *joints[2];
    dyn_error error;
    if (find_coupled(tree, joints)) {
        const dyn_constraint_description belt = {.name = "belt",
                                                 .kind = DYN_CONSTRAINT_KIND_COUPLING,
                                                 .coupled = {{joints[0]->name, 1}, {joints[1]->name, RATIO}}};
        require(dyn_builder_add_constraint(builder, &belt, &error), &error);
    }
}

/* Moves the state to one that the constraint allows. */
static void satisfy_constraint(const dyn_model *model, const dyn_model *tree, double *q, double *v) {
    const dyn_joint *joints[2];
    if (find_coupled(tree, joints)) {
        const dyn_joint *first = dyn_model_joint(model, dyn_model_find_joint(model, joints[0]->name));
        const dyn_joint *second = dyn_model_joint(model, dyn_model_find_joint(model, joints[1]->name));
        q[first->q_index] = -RATIO * q[second->q_index];
        v[first->v_index] = -RATIO * v[second->v_index];
    }
}

/* Builds a tree with these parts at its joints with one coordinate. */
static dyn_model *machine(uint64_t seed, const parts *p, const dyn_model *tree, bool with_friction) {
    random_source random = {seed};
    dyn_builder *builder;
    dyn_model *made;
    dyn_error error;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    require(dyn_model_describe(tree, &builder, &error), &error);
    require(dyn_model_build_options(tree, &options, &error), &error);
    int j = 0;
    for (int count = 0; j < dyn_model_joint_count(tree) && count < (p->has_shaft ? 2 : 3); j++) {
        const dyn_joint *joint = dyn_model_joint(tree, j);
        if (joint->nv == 1) {
            add_joint_elements(&random, p, joint->name, with_friction, builder);
            count++;
        }
    }
    add_link_element(p, tree, builder);
    if (p->has_shaft) {
        add_shaft(tree, j, p, with_friction, builder);
    }
    if (p->has_constraint) {
        add_constraint(tree, builder);
    }
    if (p->has_beam) {
        add_beam(builder);
    }
    require(dyn_builder_build(builder, &options, NULL, &made, &error), &error);
    dyn_builder_free(builder);
    return made;
}

/* ---- Power ------------------------------------------------------------------------------------------------------- */

/* A machine, and the same one without bristles, which states the other losses. */
typedef struct machine_pair {
    dyn_model *model, *plain;
    dyn_workspace *w;
    size_t nq, nv;
    double *q, *v, *z, *tau, *r, *input, *losses, *gear_memory;
} machine_pair;

static machine_pair open_machine(random_source *random, const parts *p, int combination, int types[TYPES]) {
    random_tree_options options = {
        .joints = JOINTS, .with_fixed = true, .base = combination % 5 == 0 ? DYN_BASE_FLOATING : DYN_BASE_FIXED};
    dyn_model *tree = random_tree(random, &options);
    uint64_t seed = random_bits(random);
    dyn_error error;
    machine_pair m = {.model = machine(seed, p, tree, true), .plain = machine(seed, p, tree, p->law != LUGRE)};
    for (int j = 0; j < dyn_model_joint_count(tree); j++) {
        types[dyn_model_joint(tree, j)->type]++;
    }
    m.nq = (size_t)dyn_model_nq(m.model), m.nv = (size_t)dyn_model_nv(m.model);
    require(dyn_workspace_create(m.plain, &m.w, &error), &error);
    double **arrays[] = {&m.v, &m.tau, &m.r, &m.input, &m.losses};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = numbers(m.nv);
    }
    m.q = numbers(m.nq), m.z = numbers((size_t)dyn_model_bristle_count(m.model) + 1);
    m.gear_memory = numbers(dyn_geared_memory(m.plain, 1) + 1);
    random_configuration(random, m.model, 1, m.q);
    random_vector(random, (int)m.nv, 1, m.v);
    random_vector(random, (int)m.nv, 10, m.tau);
    if (p->has_constraint) {
        satisfy_constraint(m.model, tree, m.q, m.v);
    }
    dyn_model_free(tree);
    return m;
}

static void close_machine(machine_pair *m) {
    double *arrays[] = {m->q, m->v, m->z, m->tau, m->r, m->input, m->losses, m->gear_memory};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        free(arrays[i]);
    }
    dyn_workspace_free(m->w);
    dyn_model_free(m->model);
    dyn_model_free(m->plain);
}

/* Returns the ratio of the gear of a joint. */
static double ratio_of(const dyn_builder *builder, const char *joint) {
    double ratio = 1;
    for (int i = 0; i < dyn_builder_machine_element_count(builder); i++) {
        const dyn_machine_element_description *e = dyn_builder_machine_element(builder, i);
        bool is_here = strcmp(e->joint ? e->joint : "", joint) == 0;
        ratio = is_here && e->kind == DYN_MACHINE_ELEMENT_KIND_ROTOR                        ? e->rotor.ratio
                : is_here && e->kind == DYN_MACHINE_ELEMENT_KIND_GEAR && e->gear.ratio != 0 ? e->gear.ratio
                                                                                            : ratio;
    }
    return ratio;
}

/* Returns the force of bristles with the deflection z at the rate v of the coordinate. */
static double bristle_force(const dyn_friction *law, double G, double v, double z) {
    double w = G * v, deflection = G * z;
    int side = w > 0 ? 0 : 1;
    double x = w / law->stribeck_velocity;
    double g = law->coulomb[side] + (law->breakaway[side] - law->coulomb[side]) / (1 + x * x);
    double rate = w - law->bristle_stiffness * fabs(w) * deflection / g;
    return -G * (law->bristle_stiffness * deflection + law->bristle_damping * rate + law->viscous[side] * w);
}

/* Adds the torque of the brake of a shaft, or of its bristles with the deflection *z, to the input, and returns its
 * power. */
static double add_shaft_torque(machine_pair *m, const dyn_machine_element_description *shaft,
                               const dyn_machine_element_description *e, const double *z) {
    double w = 0;
    for (int k = 0; k < shaft->shaft.joint_count; k++) {
        const dyn_joint *joint = dyn_model_joint(m->model, dyn_model_find_joint(m->model, shaft->shaft.joints[k]));
        w += shaft->shaft.ratios[k] * m->v[joint->v_index];
    }
    double force = z ? bristle_force(&e->friction, 1, w, *z) : -e->brake.torque * w / hypot(w, WIDTH);
    for (int k = 0; k < shaft->shaft.joint_count; k++) {
        const dyn_joint *joint = dyn_model_joint(m->model, dyn_model_find_joint(m->model, shaft->shaft.joints[k]));
        m->input[joint->v_index] += shaft->shaft.ratios[k] * force;
    }
    return force * w;
}

/* Adds the forces of brakes and bristles to the input of the gears, and returns their power. Bristles on the side of
 * the joint are no part of the input. */
static double add_closed_forms(machine_pair *m) {
    dyn_builder *builder;
    dyn_error error;
    double power = 0;
    int bristle = 0;
    const dyn_machine_element_description *shaft = NULL;
    require(dyn_model_describe(m->model, &builder, &error), &error);
    for (int i = 0; i < dyn_builder_machine_element_count(builder); i++) {
        const dyn_machine_element_description *e = dyn_builder_machine_element(builder, i);
        int j = e->joint && e->joint[0] ? dyn_model_find_joint(m->model, e->joint) : -1;
        double G = j >= 0 ? ratio_of(builder, e->joint) : 0, force = 0;
        size_t k = j >= 0 ? (size_t)dyn_model_joint(m->model, j)->v_index : 0;
        bool is_input = true;
        shaft = e->kind == DYN_MACHINE_ELEMENT_KIND_SHAFT ? e : shaft;
        if (j < 0 && e->kind == DYN_MACHINE_ELEMENT_KIND_BRAKE) {
            power += add_shaft_torque(m, shaft, e, NULL);
        } else if (j < 0 && e->kind == DYN_MACHINE_ELEMENT_KIND_FRICTION && e->friction.bristle_stiffness > 0) {
            power += add_shaft_torque(m, shaft, e, &m->z[bristle++]);
        } else if (e->kind == DYN_MACHINE_ELEMENT_KIND_BRAKE) {
            force = -fabs(G) * e->brake.torque * m->v[k] / hypot(m->v[k], WIDTH);
        } else if (e->kind == DYN_MACHINE_ELEMENT_KIND_FRICTION && e->friction.bristle_stiffness > 0) {
            is_input = e->friction.side == DYN_GEAR_SIDE_ROTOR;
            force = bristle_force(&e->friction, is_input ? G : 1, m->v[k], m->z[bristle++]);
        }
        power += force * m->v[k];
        m->input[k] += is_input ? force : 0;
    }
    dyn_builder_free(builder);
    return power;
}

/* Returns the power of tau and of all losses, and adds the magnitudes of their parts to *size. */
static double power_of(machine_pair *m, double *size) {
    dyn_geared_states at = {.n = 1, .q = m->q, .v = m->v, .memory = m->gear_memory};
    dyn_error error;
    at.parts = (dyn_passive_parts){.damping = true, .friction = true, .friction_velocity = WIDTH};
    memcpy(m->input, m->tau, m->nv * sizeof *m->input);
    memset(m->r, 0, m->nv * sizeof *m->r);
    require(dyn_add_passive_forces(m->plain, 1, &at.parts, 1, m->q, m->v, m->r, &error), &error);
    double power = add_closed_forms(m);
    at.parts.springs = true;
    require(dyn_gear_losses_under_forces(m->plain, m->w, &at, m->input, m->losses, &error), &error);
    for (size_t k = 0; k < m->nv; k++) {
        ck_assert_double_le(m->losses[k] * m->v[k], 0); /* a gear on a shaft has one coordinate too */
        power += (m->tau[k] + m->r[k] + m->losses[k]) * m->v[k];
        *size += (fabs(m->tau[k]) + fabs(m->r[k]) + fabs(m->losses[k])) * fabs(m->v[k]);
    }
    return power;
}

static double energy_of(const machine_pair *m) {
    double kinetic, potential, springs;
    dyn_error error;
    require(dyn_energy(m->plain, m->w, 1, NULL, m->q, m->v, &kinetic, &potential, &error), &error);
    dyn_spring_energy(m->plain, 1, m->q, &springs);
    return kinetic + potential + springs;
}

/* Creates a simulator with all brakes engaged. */
static dyn_simulator *open_steps(const machine_pair *m) {
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *steps;
    dyn_builder *builder;
    dyn_error error;
    const char *brakes[4];
    require(dyn_model_describe(m->model, &builder, &error), &error);
    for (int i = 0; i < dyn_builder_machine_element_count(builder); i++) {
        const dyn_machine_element_description *e = dyn_builder_machine_element(builder, i);
        if (e->kind == DYN_MACHINE_ELEMENT_KIND_BRAKE) {
            brakes[options.brake_count++] = e->name;
        }
    }
    options.brakes = brakes;
    options.integrator = DYN_INTEGRATOR_RUNGE_KUTTA_4;
    options.step_length = STEP;
    options.friction_velocity = WIDTH;
    options.stop = DYN_JOINT_STOP_NONE;
    options.ignore_effort_limits = true;
    require(dyn_simulator_create(m->model, &options, &steps, &error), &error);
    dyn_builder_free(builder);
    return steps;
}

/* Returns the error of the balance along a motion, over the energy that all forces exchange. */
static double imbalance(machine_pair *m) {
    dyn_simulator *steps = open_steps(m);
    const dyn_step_input input = DYN_STEP_INPUT_INIT(.tau = m->tau, .bristles = m->z);
    dyn_error error;
    double start = energy_of(m), size = 0, work = 0;
    for (int i = 0; i <= STEPS; i++) {
        double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2; /* Simpson's rule */
        work += weight * power_of(m, &size) * STEP / 3;
        if (i < STEPS) {
            require(dyn_simulator_step(steps, 1, &input, m->q, m->v, NULL, NULL, &error), &error);
        }
    }
    dyn_simulator_free(steps);
    return fabs(energy_of(m) - start - work) / (size * STEP);
}

/* Counts the models with a shaft, with a constraint and with a beam. */
static void count_extras(const dyn_model *model, int extras[EXTRAS]) {
    dyn_builder *builder;
    dyn_error error;
    bool has_shaft = false;
    require(dyn_model_describe(model, &builder, &error), &error);
    for (int i = 0; i < dyn_builder_machine_element_count(builder); i++) {
        has_shaft = has_shaft || dyn_builder_machine_element(builder, i)->kind == DYN_MACHINE_ELEMENT_KIND_SHAFT;
    }
    dyn_builder_free(builder);
    extras[0] += has_shaft;
    extras[1] += dyn_model_constraint_rows(model) > 0;
    extras[2] += dyn_model_find_joint(model, "beam:mode1") >= 0;
}

/* The torque of a bushing jumps where its rotation passes pi. Bristles move once in a step, so that the balance with
 * them is of the first order in the step. The other parts are balanced to the order of Simpson's rule, as far as forces
 * are smooth. */
START_TEST(power_in_is_the_rate_of_energies_and_the_losses_with_every_combination) {
    random_source base = random_seed("power in is the rate of energies and the losses", 20261123);
    int types[TYPES] = {0}, extras[EXTRAS] = {0};
    double worst[2] = {0};
    for (int k = 0; k < COMBINATIONS; k++) {
        random_source random = random_case(base, (uint64_t)k);
        const parts p = parts_of(&random, k);
        machine_pair m = open_machine(&random, &p, k, types);
        double error = imbalance(&m);
        count_extras(m.model, extras);
        bool is_explicit = p.law == LUGRE || p.link == BUSHING;
        worst[is_explicit] = fmax(worst[is_explicit], error);
        ck_assert_msg(
            error < (is_explicit ? 1e-2 : 1e-4),
            "combination %d: rotor %d, gear %d, law %d, spring %d, link %d, brake %d, shaft %d, constraint %d, "
            "beam %d: %g",
            k, p.rotor, p.has_gear, p.law, p.has_spring, p.link, p.has_brake, p.has_shaft, p.has_constraint, p.has_beam,
            error);
        close_machine(&m);
    }
    for (int t = DYN_JOINT_TYPE_REVOLUTE; t < TYPES; t++) {
        ck_assert_msg(types[t] > 0, "no joint has type %d", t);
    }
    for (int k = 0; k < EXTRAS; k++) {
        ck_assert_int_gt(extras[k], COMBINATIONS / 8);
    }
    printf("%d models with shafts, %d with constraints, %d with beams\n", extras[0], extras[1], extras[2]);
    printf("largest error over the energy exchanged: %.1e; with bristles or bushings: %.1e\n", worst[0], worst[1]);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("tests");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, power_in_is_the_rate_of_energies_and_the_losses_with_every_combination);
    return run_properties("machine_power", tests);
}
