/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Struts, cables, bushings and fluids: forces are the slopes of energies and take the power that they state, on trees
 * of every joint type; closed forms of motions; descriptions and refusals.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "robots.h"
#include "support/algorithms.h"
#include "support/assertions.h"
#include "support/random.h"
#include "support/random_tree.h"

enum { MOST_NUMBERS = 80, TREES = 12 };

static const dyn_passive_parts springs_only = {.springs = true, .friction_velocity = 1};
static const dyn_passive_parts damping_only = {.damping = true, .friction_velocity = 1};

static const dyn_strut a_strut = {.position = {0.3, -0.2, 0.1},
                                  .other_position = {-0.4, 0.5, 0.2},
                                  .stiffness = 30,
                                  .rest = 0.4,
                                  .damping = 3,
                                  .push = 7};
static const dyn_bushing a_bushing = {.position = {0.1, 0.2, -0.3},
                                      .other_position = {0.2, 0, 0.1},
                                      .stiffness = {10, 20, 30},
                                      .rotational_stiffness = {4, 5, 6},
                                      .damping = {1, 2, 3},
                                      .rotational_damping = {0.4, 0.5, 0.6}};
static const dyn_fluid a_fluid = {.density = 1000,
                                  .volume = 0.002,
                                  .center = {0.1, 0.05, 0.2},
                                  .drag = {1, 2, 3},
                                  .quadratic_drag = {4, 0, 5},
                                  .rotational_drag = {0.1, 0.2, 0.3},
                                  .quadratic_rotational_drag = {0.4, 0.5, 0}};

/* Returns the model with one more machine element, and frees the model. */
static dyn_model *with_element(dyn_model *model, const dyn_build_options *options,
                               const dyn_machine_element_description *element) {
    dyn_builder *builder;
    dyn_error error;
    require(dyn_model_describe(model, &builder, &error), &error);
    require(dyn_builder_add_machine_element(builder, element, &error), &error);
    dyn_model_free(model);
    return build_model(builder, options, NULL);
}

/* Returns a random tree with an element between two of its links, or a link and the world. */
static dyn_model *random_model(random_source *random, int i, dyn_machine_element_description *element) {
    const random_tree_options tree = {.joints = 9,
                                      .base = i % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                      .mimic = DYN_MIMIC_POLICY_COUPLED,
                                      .with_mimic = true,
                                      .with_fixed = true};
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = tree.base, .mimic = tree.mimic);
    dyn_model *model = random_tree(random, &tree);
    int links = dyn_model_link_count(model);
    element->link = dyn_model_link(model, links - 1)->name;
    element->other_link = i % 3 ? dyn_model_link(model, links / 2)->name : NULL;
    element->other_link = element->kind == DYN_MACHINE_ELEMENT_KIND_FLUID ? NULL : element->other_link;
    return with_element(model, &options, element);
}

static double energy(const dyn_model *model, const double *q) {
    double V;
    dyn_spring_energy(model, 1, q, &V);
    return V;
}

static void forces(const dyn_model *model, const dyn_passive_parts *parts, const double *q, const double *v,
                   double *r) {
    dyn_error error;
    memset(r, 0, (size_t)dyn_model_nv(model) * sizeof *r);
    require(dyn_add_passive_forces(model, 1, parts, 1, q, v, r, &error), &error);
}

/* Asserts r = -dV/dq along every coordinate. */
static void expect_slopes(const dyn_model *model, random_source *random) {
    double q[MOST_NUMBERS], v[MOST_NUMBERS] = {0}, r[MOST_NUMBERS], moved[MOST_NUMBERS], h = 1e-5;
    int nv = dyn_model_nv(model);
    ck_assert_int_lt(dyn_model_nq(model), MOST_NUMBERS);
    random_configuration(random, model, 1.5, q);
    forces(model, &springs_only, q, NULL, r);
    for (int k = 0; k < nv; k++) {
        v[k] = 1;
        integrate_configuration(model, q, v, h, moved);
        double after = energy(model, moved);
        integrate_configuration(model, q, v, -h, moved);
        double slope = (after - energy(model, moved)) / (2 * h);
        ck_assert_double_eq_tol(r[k], -slope, 1e-6 * (1 + fabs(slope)));
        v[k] = 0;
    }
}

START_TEST(forces_are_the_slopes_of_the_energies) {
    random_source random = random_seed("forces are the slopes of the energies", 31);
    for (int i = 0; i < TREES; i++) {
        dyn_machine_element_description elements[] = {
            {.name = "x", .kind = DYN_MACHINE_ELEMENT_KIND_STRUT, .strut = a_strut},
            {.name = "x", .kind = DYN_MACHINE_ELEMENT_KIND_CABLE, .strut = {.stiffness = 20, .rest = 0.5}},
            {.name = "x", .kind = DYN_MACHINE_ELEMENT_KIND_BUSHING, .bushing = a_bushing},
            {.name = "x", .kind = DYN_MACHINE_ELEMENT_KIND_FLUID, .fluid = a_fluid}};
        for (int k = 0; k < COUNT(elements); k++) {
            dyn_model *model = random_model(&random, i, &elements[k]);
            expect_slopes(model, &random);
            dyn_model_free(model);
        }
    }
}
END_TEST

/* Returns the rate of a length or a distance, whose half square is the energy of a model, along v. */
static double rate_of(const dyn_model *model, const double *q, const double *v) {
    double moved[MOST_NUMBERS], h = 1e-5;
    integrate_configuration(model, q, v, h, moved);
    double after = sqrt(2 * energy(model, moved));
    integrate_configuration(model, q, v, -h, moved);
    return (after - sqrt(2 * energy(model, moved))) / (2 * h);
}

/* A damper takes b (dL/dt)^2. The length follows from the energy of the same strut as a spring of 1 N/m. */
START_TEST(dampers_take_the_power_of_their_rates) {
    random_source random = random_seed("dampers take the power of their rates", 32);
    for (int i = 0; i < TREES; i++) {
        dyn_machine_element_description element = {
            .name = "x", .kind = DYN_MACHINE_ELEMENT_KIND_STRUT, .strut = {.stiffness = 1, .damping = 3}};
        dyn_model *model = random_model(&random, i, &element);
        double q[MOST_NUMBERS], v[MOST_NUMBERS], r[MOST_NUMBERS], power = 0;
        random_configuration(&random, model, 1.5, q);
        random_vector(&random, dyn_model_nv(model), 1, v);
        forces(model, &damping_only, q, v, r);
        for (int k = 0; k < dyn_model_nv(model); k++) {
            power -= r[k] * v[k];
        }
        double rate = rate_of(model, q, v);
        ck_assert_double_eq_tol(power, 3 * rate * rate, 1e-6 * (1 + power));
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(bushings_and_drag_lose_power) {
    random_source random = random_seed("bushings and drag lose power", 33);
    for (int i = 0; i < 2 * TREES; i++) {
        dyn_machine_element_description element = {.name = "x",
                                                   .kind = i % 2 ? DYN_MACHINE_ELEMENT_KIND_BUSHING
                                                                 : DYN_MACHINE_ELEMENT_KIND_FLUID,
                                                   .bushing = a_bushing,
                                                   .fluid = a_fluid};
        dyn_model *model = random_model(&random, i / 2, &element);
        double q[MOST_NUMBERS], v[MOST_NUMBERS], r[MOST_NUMBERS], power = 0;
        random_configuration(&random, model, 1.5, q);
        random_vector(&random, dyn_model_nv(model), 1, v);
        forces(model, &damping_only, q, v, r);
        for (int k = 0; k < dyn_model_nv(model); k++) {
            power += r[k] * v[k];
        }
        ck_assert_double_lt(power, 0);
        dyn_model_free(model);
    }
}
END_TEST

/* ---- Motions ----------------------------------------------------------------------------------------------------- */

/* Builds a ball of 2 kg on a vertical rail, or free in space, with an element. */
static dyn_model *ball(dyn_joint_type type, const dyn_machine_element_description *element) {
    dyn_builder *builder = new_builder();
    dyn_error error;
    add_link_with(builder, "base", &(dyn_inertia){.mass = 1});
    add_link_with(builder, "ball", &(dyn_inertia){.mass = 2, .rotational = {0.1, 0, 0, 0.2, 0, 0.3}});
    dyn_joint_description joint = joint_between("rail", type, "base", "ball");
    joint.axis[0] = 0, joint.axis[2] = 1;
    add_joint(builder, &joint);
    require(dyn_builder_add_machine_element(builder, element, &error), &error);
    return build_model(builder, NULL, NULL);
}

/* Simulates a model for a number of milliseconds. */
static void simulate(const dyn_model *model, int steps, double *q, double *v) {
    dyn_simulator *simulator;
    dyn_error error;
    require(dyn_simulator_create(model, NULL, &simulator, &error), &error);
    for (int i = 0; i < steps; i++) {
        require(dyn_simulator_step(simulator, 1, NULL, q, v, NULL, NULL, &error), &error);
    }
    dyn_simulator_free(simulator);
}

/* The ball falls freely by 0.2 m, and then hangs on the cable as on a spring of 800 N/m. */
START_TEST(a_cable_catches_a_falling_ball) {
    dyn_model *model = ball(DYN_JOINT_TYPE_PRISMATIC,
                            &(dyn_machine_element_description){
                                .name = "cable",
                                .kind = DYN_MACHINE_ELEMENT_KIND_CABLE,
                                .link = "ball",
                                .strut = {.other_position = {0, 0, 1}, .stiffness = 800, .rest = 1.2, .damping = 40}});
    double q = 0, v = 0;
    simulate(model, 150, &q, &v);
    ck_assert_double_eq_tol(v, -9.81 * 0.15, 1e-9);
    simulate(model, 3000, &q, &v);
    ck_assert_double_eq_tol(q, -0.2 - 2 * 9.81 / 800, 1e-6);
    dyn_model_free(model);
}
END_TEST

START_TEST(a_gas_spring_carries_a_ball) {
    dyn_model *model = ball(
        DYN_JOINT_TYPE_PRISMATIC,
        &(dyn_machine_element_description){
            .name = "gas spring",
            .kind = DYN_MACHINE_ELEMENT_KIND_STRUT,
            .link = "ball",
            .other_link = "base",
            .strut = {.position = {0, 0, 0.5}, .stiffness = 100, .rest = 0.5, .damping = 20, .push = 2 * 9.81 - 10}});
    double q = 0, v = 0;
    simulate(model, 5000, &q, &v);
    ck_assert_double_eq_tol(q, -0.1, 1e-6);
    dyn_model_free(model);
}
END_TEST

/* Terminal velocity: c v + c_2 v^2 = m g - density volume g. */
START_TEST(a_ball_sinks_at_its_terminal_velocity) {
    dyn_model *model =
        ball(DYN_JOINT_TYPE_FLOATING, &(dyn_machine_element_description){.name = "water",
                                                                         .kind = DYN_MACHINE_ELEMENT_KIND_FLUID,
                                                                         .link = "ball",
                                                                         .fluid = {.density = 1000,
                                                                                   .volume = 0.001,
                                                                                   .drag = {4, 4, 4},
                                                                                   .quadratic_drag = {30, 30, 30},
                                                                                   .rotational_drag = {1, 1, 1},
                                                                                   .current = {0.3, 0, 0}}});
    double q[7] = {0, 0, 0, 0, 0, 0, 1}, v[6] = {0};
    simulate(model, 8000, q, v);
    double sink = (-4 + sqrt(16 + 4 * 30 * 9.81)) / 60;
    ck_assert_double_eq_tol(v[2], -sink, 1e-8);
    ck_assert_double_eq_tol(v[0], 0.3, 1e-5);
    dyn_model_free(model);
}
END_TEST

/* The six frequencies of a body on a bushing are sqrt(k / m) and sqrt(k_r / I): displaced along one coordinate, it
 * returns after a period. */
START_TEST(a_bearing_is_compliant_in_six_directions) {
    const dyn_bushing bearing = {.stiffness = {200, 300, 400}, .rotational_stiffness = {20, 30, 50}};
    const double inertia[6] = {2, 2, 2, 0.1, 0.2, 0.3}, k[6] = {200, 300, 400, 20, 30, 50};
    dyn_model *model =
        ball(DYN_JOINT_TYPE_FLOATING,
             &(dyn_machine_element_description){
                 .name = "bearing", .kind = DYN_MACHINE_ELEMENT_KIND_BUSHING, .link = "ball", .bushing = bearing});
    for (int i = 0; i < 6; i++) {
        double v[6] = {0}, q[7] = {0, 0, 0, 0, 0, 0, 1}, r[6];
        v[i] = 0.01;
        integrate_configuration(model, q, v, 1, q);
        forces(model, &springs_only, q, NULL, r);
        ck_assert_double_eq_tol(r[i], -k[i] * 0.01, 1e-9);
        /* Gravity deflects the bearing along z alone. */
        double period = 2 * 3.14159265358979323846 * sqrt(inertia[i] / k[i]);
        memset(v, 0, sizeof v);
        q[2] -= 2 * 9.81 / 400;
        double start = q[i];
        simulate(model, (int)lround(period * 1000), q, v);
        ck_assert_double_eq_tol(q[i], start, 3e-4);
    }
    dyn_model_free(model);
}
END_TEST

/* A pendulum of many joints on a strut keeps its energy. */
START_TEST(rollouts_keep_the_energy_of_struts) {
    random_source random = random_seed("rollouts keep the energy of struts", 34);
    dyn_machine_element_description element = {
        .name = "x", .kind = DYN_MACHINE_ELEMENT_KIND_STRUT, .strut = {.stiffness = 30, .rest = 0.4, .push = 2}};
    dyn_model *model = random_model(&random, 0, &element);
    double q[MOST_NUMBERS], v[MOST_NUMBERS] = {0}, kinetic[2], potential[2];
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    dyn_simulator *simulator;
    dyn_error error;
    options.step_length = 1e-5;
    options.ignore_damping = options.ignore_friction = true;
    options.stop = DYN_JOINT_STOP_NONE;
    random_configuration(&random, model, 1, q);
    require(dyn_simulator_create(model, &options, &simulator, &error), &error);
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 4000, .stride = 4000, .q = q, .v = v);
    const dyn_rollout_output out = DYN_ROLLOUT_OUTPUT_INIT(.kinetic = kinetic, .potential = potential);
    require(dyn_rollout_run(simulator, 1, &rollout, &out, &error), &error);
    ck_assert_double_gt(kinetic[1], 0.01);
    ck_assert_double_eq_tol(kinetic[1] + potential[1], potential[0], 2e-3 * kinetic[1]);
    dyn_simulator_free(simulator);
    dyn_model_free(model);
}
END_TEST

/* ---- Descriptions ------------------------------------------------------------------------------------------------ */

START_TEST(descriptions_are_read_as_they_were_written) {
    dyn_model *model =
        ball(DYN_JOINT_TYPE_FLOATING, &(dyn_machine_element_description){.name = "a",
                                                                         .kind = DYN_MACHINE_ELEMENT_KIND_STRUT,
                                                                         .link = "ball",
                                                                         .other_link = "base",
                                                                         .strut = a_strut});
    const dyn_machine_element_description more[] = {
        {.name = "b", .kind = DYN_MACHINE_ELEMENT_KIND_CABLE, .link = "ball", .strut = {.stiffness = 3}},
        {.name = "c", .kind = DYN_MACHINE_ELEMENT_KIND_BUSHING, .link = "ball", .bushing = a_bushing},
        {.name = "d", .kind = DYN_MACHINE_ELEMENT_KIND_FLUID, .link = "ball", .fluid = a_fluid}};
    for (int i = 0; i < COUNT(more); i++) {
        model = with_element(model, NULL, &more[i]);
    }
    dyn_builder *builder;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    dyn_error error;
    char *text, *again;
    size_t length;
    require(dyn_description_write(model, &text, &length, &error), &error);
    require(dyn_description_read(text, length, &builder, &options, &error), &error);
    ck_assert_int_eq(dyn_builder_machine_element_count(builder), 4);
    dyn_model *twice = build_model(builder, &options, NULL), *merged;
    require(dyn_description_write(twice, &again, &length, &error), &error);
    ck_assert_str_eq(text, again);
    require(dyn_model_merge(model, "base", NULL, twice, "b/", &merged, &error), &error);
    ck_assert_int_eq(dyn_model_machine_element_count(merged), 8);
    dyn_text_free(text), dyn_text_free(again);
    dyn_model_free(model), dyn_model_free(twice), dyn_model_free(merged);
}
END_TEST

/* Asserts that a ball with the element is refused, when it is added or when the model is built. */
static void refuse(const dyn_machine_element_description *element, const char *part, const char *fragment) {
    dyn_builder *builder = new_builder();
    dyn_model *model;
    dyn_error error;
    add_link(builder, "base");
    add_link(builder, "ball");
    connect_links(builder, "rail", DYN_JOINT_TYPE_PRISMATIC, "base", "ball");
    dyn_status status = dyn_builder_add_machine_element(builder, element, &error);
    status = status == DYN_OK ? dyn_builder_build(builder, NULL, NULL, &model, &error) : status;
    expect_error(status, &error, DYN_INVALID_ARGUMENT, "machine element x", fragment);
    ck_assert_str_eq(error.site.part, part);
    dyn_builder_free(builder);
}

START_TEST(wrong_elements_are_refused_by_name) {
    dyn_machine_element_description e = {.name = "x", .kind = DYN_MACHINE_ELEMENT_KIND_STRUT, .link = "none"};
    refuse(&e, "strut.link", "no link \"none\"");
    e.link = NULL;
    refuse(&e, "strut.link", "link");
    e.link = e.other_link = "ball";
    refuse(&e, "strut.other_link", "itself");
    e.other_link = "wall";
    refuse(&e, "strut.other_link", "no link \"wall\"");
    e.other_link = NULL, e.joint = "rail";
    refuse(&e, "joint", "leave it out");
    e.joint = NULL, e.strut.stiffness = -1;
    refuse(&e, "strut.stiffness", "-1");
    e.strut = (dyn_strut){.push = 3};
    e.kind = DYN_MACHINE_ELEMENT_KIND_CABLE;
    refuse(&e, "strut.push", "never pushes");
    e.kind = DYN_MACHINE_ELEMENT_KIND_FLUID;
    e.fluid.quadratic_drag[1] = -2;
    refuse(&e, "fluid.quadratic_drag", "quadratic drag y is -2");
}
END_TEST

int main(void) {
    TCase *all = tcase_create("link forces");
    tcase_add_test(all, forces_are_the_slopes_of_the_energies);
    tcase_add_test(all, dampers_take_the_power_of_their_rates);
    tcase_add_test(all, bushings_and_drag_lose_power);
    tcase_add_test(all, a_cable_catches_a_falling_ball);
    tcase_add_test(all, a_gas_spring_carries_a_ball);
    tcase_add_test(all, a_ball_sinks_at_its_terminal_velocity);
    tcase_add_test(all, a_bearing_is_compliant_in_six_directions);
    tcase_add_test(all, rollouts_keep_the_energy_of_struts);
    tcase_add_test(all, descriptions_are_read_as_they_were_written);
    tcase_add_test(all, wrong_elements_are_refused_by_name);
    return run_tests(all);
}
