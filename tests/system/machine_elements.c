/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks models with machine elements in the daemon: they are loaded, described, exported, derived and stored with
 * their rotors, friction laws and springs; methods compute with them and state their part; and a wrong element is
 * refused with the path of its member.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/command_line.h"
#include "system/runner.h"

#define DESCRIPTIONS DYNAMICS_TEST_DATA "/machine_elements/"

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    ck_assert_msg(text != NULL, "there is no text %s", key);
    return text;
}

static double member_of(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

/* Reads a description from the tests' data. The caller releases it. */
static json_t *read_description(const char *model) {
    char path[512];
    snprintf(path, sizeof path, DESCRIPTIONS "%.64s.json", model);
    json_t *description = json_load_file(path, 0, NULL);
    ck_assert_msg(description != NULL, "%s", path);
    return description;
}

/* Loads a description under a name. */
static void load_as(const json_t *description, const char *name) {
    char line[512];
    ck_assert_int_eq(json_dump_file(description, scratch("model.json"), 0), 0);
    snprintf(line, sizeof line, "$ctl load --replace --name %s --description %s", name, scratch("model.json"));
    must_say(line, ": ");
}

/* Loads a description from the tests' data, whose model has the name of its file. */
static void load(const char *model) {
    json_t *description = read_description(model);
    load_as(description, model);
    json_decref(description);
}

/* Returns the digest of a model; the caller frees it. */
static char *digest_of(const char *model) {
    char line[256];
    snprintf(line, sizeof line, "$ctl describe %s --json", model);
    json_t *robot = run_json(line);
    char *digest = strdup(text_of(json_object_get(robot, "model"), "digest"));
    json_decref(robot);
    return digest;
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

START_TEST(describe_shows_elements_of_every_kind) {
    load("every_kind");
    json_t *robot = run_json("$ctl describe every_kind --json"), *list = json_object_get(robot, "machine_elements");
    ck_assert_uint_eq(json_array_size(list), 5);
    ck_assert_double_eq(member_of(json_object_get(robot, "model"), "machine_elements"), 5);
    const json_t *motor = json_array_get(list, 0), *bearing = json_array_get(list, 2), *coil = json_array_get(list, 4);
    ck_assert_str_eq(text_of(motor, "kind"), "rotor");
    ck_assert_str_eq(text_of(motor, "joint"), "shoulder");
    ck_assert_double_eq(member_of(motor, "ratio"), -50);
    ck_assert_double_eq(member_of(motor, "transverse_inertia"), 2e-4);
    ck_assert_double_eq(number_of(json_object_get(motor, "axis"), 1), 1);
    ck_assert_str_eq(text_of(json_array_get(list, 1), "coupling"), "diagonal");
    ck_assert_str_eq(text_of(bearing, "side"), "rotor");
    ck_assert_double_eq(number_of(json_object_get(bearing, "viscous"), 1), 2e-4);
    ck_assert_double_eq(number_of(json_object_get(bearing, "coulomb"), 1), 0.002);
    ck_assert_double_eq(number_of(json_object_get(bearing, "breakaway"), 1), 0.003);
    ck_assert_double_eq(member_of(coil, "stiffness"), 40);
    ck_assert_double_eq(member_of(coil, "rest"), 0.1);
    json_decref(robot);
    must_say("$ctl describe every_kind | grep '^second motor'", "adds 0.18 to M, diagonal");
    must_say("$ctl describe every_kind coil", "stiffness        40\n");
    must_say("$ctl describe every_kind guide --json", "\"machine_element\"");
}
END_TEST

/* Asserts that a model has the same digest after an export as a description. */
static void expect_same_export(const char *model) {
    load(model);
    char line[512];
    snprintf(line, sizeof line,
             "$ctl call export_model '{\"model\": \"%s\", \"format\": \"MODEL_FORMAT_DESCRIPTION\"}' > %s", model,
             scratch("exported.json"));
    must_say(line, "");
    json_t *reply = json_load_file(scratch("exported.json"), 0, NULL);
    ck_assert_ptr_nonnull(reply);
    load_as(json_object_get(reply, "description"), "again");
    json_decref(reply);
    char *digest = digest_of(model), *again = digest_of("again");
    ck_assert_str_eq(digest, again);
    free(digest), free(again);
}

START_TEST(an_exported_model_loads_with_the_same_elements) {
    expect_same_export("every_kind");
    expect_same_export("wrist");
    must_say("$ctl explain again --a 1,0", "rotor");
    must_fail("$ctl call export_model '{\"model\": \"again\", \"format\": \"MODEL_FORMAT_URDF\"}'", 1, "left");
}
END_TEST

START_TEST(elements_change_the_digest) {
    load("every_kind");
    json_t *description = read_description("every_kind");
    json_object_set_new(json_object_get(json_array_get(json_object_get(description, "machine_elements"), 4), "spring"),
                        "rest", json_real(0.2));
    load_as(description, "stretched");
    json_decref(description);
    char *digest = digest_of("every_kind"), *stretched = digest_of("stretched");
    ck_assert_str_ne(digest, stretched);
    free(digest), free(stretched);
}
END_TEST

START_TEST(urdf_export_names_the_element_that_it_cannot_state) {
    load("every_kind");
    must_fail("$ctl call export_model '{\"model\": \"every_kind\", \"format\": \"MODEL_FORMAT_URDF\"}'", 1,
              "the machine element \"motor\"");
}
END_TEST

START_TEST(derived_models_carry_the_elements_of_their_joints) {
    load("every_kind");
    must_say("$ctl derive every_kind detach:slide --name arm --replace", "arm: ");
    must_say("$ctl describe arm motor", "-50");
    must_fail("$ctl describe arm coil", 2, "no element");
    must_say("$ctl derive two_link merge:every_kind,tip,my_ --name both --replace", "both: ");
    must_say("$ctl describe both my_coil", "my_rail");
}
END_TEST

START_TEST(kept_models_have_their_elements_after_a_restart) {
    json_t *description = read_description("every_kind");
    ck_assert_int_eq(json_dump_file(description, scratch("model.json"), 0), 0);
    json_decref(description);
    char line[512];
    snprintf(line, sizeof line, "$ctl load --replace --keep --name stays --description %s", scratch("model.json"));
    must_say(line, "stays: ");
    char *before = digest_of("stays");
    daemon_restart(&served);
    char *after = digest_of("stays");
    ck_assert_str_eq(before, after);
    must_say("$ctl describe stays coil", "rail");
    free(before), free(after);
}
END_TEST

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Loads the geared arm with another ratio and coupling of its rotors. */
static void load_geared_arm(double ratio, const char *coupling) {
    json_t *description = read_description("geared_arm"), *list = json_object_get(description, "machine_elements");
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *rotor = json_object_get(json_array_get(list, i), "rotor");
        json_object_set_new(rotor, "ratio", json_real(ratio));
        json_object_set_new(rotor, "coupling", json_string(coupling));
    }
    load_as(description, "geared_arm");
    json_decref(description);
}

/* Requires M11 = first + 2 c, M12 = second + c and M22 = third for c = cos(0.6), the cosine of the elbow's angle. */
static void require_mass_matrix(double first, double second, double third) {
    json_t *reply = run_json("$ctl call mass_matrix '{\"query\": {\"model\": \"geared_arm\"}, \"q\": [0.2, 0.6]}'");
    const json_t *M = json_object_get(reply, "mass_matrix");
    double c = cos(0.6);
    ck_assert_double_eq_tol(number_of(M, 0), first + 2 * c, 1e-13);
    ck_assert_double_eq_tol(number_of(M, 1), second + c, 1e-13);
    ck_assert_double_eq_tol(number_of(M, 2), second + c, 1e-13);
    ck_assert_double_eq_tol(number_of(M, 3), third, 1e-13);
    json_decref(reply);
}

/* Values of Modern Robotics (Lynch and Park 2017), section 8.9.2. */
START_TEST(a_geared_arm_has_the_published_mass_matrix) {
    load_geared_arm(10, "ROTOR_COUPLING_EXACT");
    require_mass_matrix(4.13125, 1.0125, 1.125);
    load_geared_arm(100, "ROTOR_COUPLING_EXACT");
    require_mass_matrix(16.50625, 1.125, 13.5);
    load_geared_arm(10, "ROTOR_COUPLING_DIAGONAL");
    require_mass_matrix(4.13125, 1, 1.125);
    load_geared_arm(100, "ROTOR_COUPLING_DIAGONAL");
    require_mass_matrix(16.50625, 1, 13.5);
}
END_TEST

START_TEST(forward_dynamics_inverts_inverse_dynamics_with_rotors) {
    load("every_kind");
    json_t *inverse = run_json("$ctl call inverse_dynamics '{\"query\": {\"model\": \"every_kind\"}, "
                               "\"q\": [0.3, -0.8, 0.2], \"v\": [1, -2, 0.5], \"a\": [2, 3, -1]}'");
    const json_t *tau = json_object_get(inverse, "tau");
    char line[512];
    snprintf(line, sizeof line,
             "$ctl call forward_dynamics '{\"query\": {\"model\": \"every_kind\"}, \"q\": [0.3, -0.8, 0.2], "
             "\"v\": [1, -2, 0.5], \"tau\": [%.17g, %.17g, %.17g]}'",
             number_of(tau, 0), number_of(tau, 1), number_of(tau, 2));
    json_t *forward = run_json(line);
    const double expected[] = {2, 3, -1};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(number_of(json_object_get(forward, "a"), i), expected[i], 1e-11);
    }
    json_decref(inverse), json_decref(forward);
}
END_TEST

#define EVERY_FORCE "\"passive_forces\": {\"damping\": true, \"friction\": true, \"springs\": true}"
#define MOTION "\"q\": [0.3, -0.8, 0.2], \"v\": [1, -2, 0.5], \"a\": [2, 3, -1]"

/* Asserts that two arrays have equal numbers, of which there are `count`. */
static void expect_numbers(const json_t *own, const json_t *expected, size_t count) {
    ck_assert_uint_eq(json_array_size(own), count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_eq_tol(number_of(own, i), number_of(expected, i), 1e-12 * (1 + fabs(number_of(expected, i))));
    }
}

/* Returns the values of a block of a result of Evaluate. */
static const json_t *values_of(const json_t *reply, size_t result, size_t block) {
    const json_t *blocks = json_object_get(json_array_get(json_object_get(reply, "results"), result), "blocks");
    return json_object_get(json_array_get(blocks, block), "values");
}

START_TEST(explain_states_rotors_and_passive_forces_as_terms) {
    static const char *const names[] = {"inertial", "coriolis", "gravity",  "external",
                                        "rotor",    "damping",  "friction", "springs"};
    load("every_kind");
    json_t *reply =
        run_json("$ctl call explain '{\"query\": {\"model\": \"every_kind\", " EVERY_FORCE "}, " MOTION "}'");
    json_t *whole =
        run_json("$ctl call inverse_dynamics '{\"query\": {\"model\": \"every_kind\", " EVERY_FORCE "}, " MOTION "}'");
    json_t *parts = run_json("$ctl call evaluate '{\"query\": {\"model\": \"every_kind\"}, " MOTION
                             ", \"quantities\": [{\"quantity\": \"QUANTITY_ROTOR_FORCES\"}]}'");
    const json_t *terms = json_object_get(reply, "terms");
    ck_assert_uint_eq(json_array_size(terms), sizeof names / sizeof *names);
    for (size_t t = 0; t < json_array_size(terms); t++) {
        ck_assert_str_eq(text_of(json_array_get(terms, t), "name"), names[t]);
    }
    expect_numbers(json_object_get(reply, "tau"), json_object_get(whole, "tau"), 3);
    expect_numbers(json_object_get(json_array_get(terms, 4), "tau"), values_of(parts, 0, 0), 3);
    ck_assert_double_lt(member_of(reply, "residual"), 1e-12);
    ck_assert(json_is_true(json_object_get(json_object_get(reply, "passive_forces"), "springs")));
    must_say("$ctl explain every_kind --q 0,0,0.3 --v 0,0,0.5 --passive springs", "springs");
    json_decref(reply), json_decref(whole), json_decref(parts);
}
END_TEST

START_TEST(regressors_and_rotors_add_up_to_the_inverse_dynamics) {
    load("every_kind");
    json_t *reply = run_json("$ctl call evaluate '{\"query\": {\"model\": \"every_kind\"}, " MOTION
                             ", \"quantities\": [{\"quantity\": \"QUANTITY_TORQUE_REGRESSOR\"}, "
                             "{\"quantity\": \"QUANTITY_ROTOR_FORCES\"}, "
                             "{\"quantity\": \"QUANTITY_INVERSE_DYNAMICS\"}]}'");
    json_t *found = run_json("$ctl call find_base_parameters '{\"query\": {\"model\": \"every_kind\"}}'");
    const json_t *p = json_object_get(found, "values"), *Y = values_of(reply, 0, 0);
    ck_assert_uint_eq(json_array_size(p), 30);
    for (size_t i = 0; i < 3; i++) {
        double tau = number_of(values_of(reply, 1, 0), i), expected = number_of(values_of(reply, 2, 0), i);
        for (size_t k = 0; k < 30; k++) {
            tau += number_of(Y, 30 * i + k) * number_of(p, k);
        }
        ck_assert_double_eq_tol(tau, expected, 1e-12 * (1 + fabs(expected)));
    }
    json_decref(reply), json_decref(found);
}
END_TEST

/* The coupling of Modern Robotics, section 8.9.2: M12 is 1.125 + cos with rotors of ratio 100, and 1 + cos in the
 * diagonal approximation. */
START_TEST(evaluate_states_the_error_of_the_diagonal_approximation) {
    static const char *const couplings[] = {"ROTOR_COUPLING_EXACT", "ROTOR_COUPLING_DIAGONAL"};
    for (size_t k = 0; k < 2; k++) {
        load_geared_arm(100, couplings[k]);
        json_t *reply = run_json("$ctl call evaluate '{\"query\": {\"model\": \"geared_arm\"}, \"q\": [0.4, 1.3, 0.4, "
                                 "1.3], \"a\": [1, 0, 0, 1], \"quantities\": [{\"quantity\": "
                                 "\"QUANTITY_ROTOR_COUPLING_FORCES\"}]}'");
        const json_t *tau = values_of(reply, 0, 0);
        const double expected[] = {0, 0.125, 0.125, 0};
        for (size_t i = 0; i < 4; i++) {
            ck_assert_double_eq_tol(number_of(tau, i), k == 0 ? expected[i] : 0, 1e-14);
        }
        json_decref(reply);
    }
}
END_TEST

/* The arm of section 8.9.2 outstretched, with the accelerations 1 and 2 from rest. The links alone exert the torque
 * 2.005 + 8 on the shoulder and 4 on the elbow. The rotor at the elbow turns the upper link with 0.00125 (1 + 2 G), and
 * that of the shoulder turns the base with 0.00125 G. */
START_TEST(rotors_exert_wrenches_on_their_housings) {
    static const double ratios[] = {10, 100};
    for (size_t k = 0; k < 2; k++) {
        const double G = ratios[k], on_base = -0.00125 * G, on_upper = -0.00125 * (1 + 2 * G);
        load_geared_arm(G, "ROTOR_COUPLING_EXACT");
        json_t *reply =
            run_json("$ctl call evaluate '{\"query\": {\"model\": \"geared_arm\", \"gravity\": {\"x\": 0}}, "
                     "\"q\": [0, 0], \"a\": [1, 2], \"quantities\": [{\"quantity\": "
                     "\"QUANTITY_HOUSING_WRENCHES\"}, {\"quantity\": \"QUANTITY_JOINT_WRENCHES\"}, "
                     "{\"quantity\": \"QUANTITY_INVERSE_DYNAMICS\"}]}'");
        const json_t *force = values_of(reply, 0, 0), *torque = values_of(reply, 0, 1),
                     *joints = values_of(reply, 1, 1);
        const double expected[] = {0, 0, on_base, 0, 0, on_upper};
        ck_assert_uint_eq(json_array_size(torque), 6);
        for (size_t i = 0; i < 6; i++) {
            ck_assert_double_eq(number_of(force, i), 0);
            ck_assert_double_eq_tol(number_of(torque, i), expected[i], 1e-14);
        }
        ck_assert_double_eq_tol(number_of(joints, 2) + on_upper, 2.005 + 8, 1e-13);
        for (size_t i = 0; i < 2; i++) {
            /* The motor drives the gear and the rotor: tau / G = tau_gear / G - torque on the housing, of which that
             * of the elbow turns with the upper link. */
            double motor = number_of(values_of(reply, 2, 0), i) / G, gear = number_of(joints, 3 * i + 2) / G;
            ck_assert_double_eq_tol(motor, gear - expected[3 * i + 2], 1e-13);
        }
        json_decref(reply);
    }
    must_say("$ctl evaluate geared_arm --a 1,2 --quantity housing_wrenches", "elbow rotor");
    load_geared_arm(100, "ROTOR_COUPLING_DIAGONAL");
    json_t *reply =
        run_json("$ctl call evaluate '{\"query\": {\"model\": \"geared_arm\"}, \"q\": [0, 0], \"a\": [1, 2], "
                 "\"quantities\": [{\"quantity\": \"QUANTITY_HOUSING_WRENCHES\"}]}'");
    ck_assert_double_eq_tol(number_of(values_of(reply, 0, 1), 5), -0.00125, 1e-15);
    json_decref(reply);
}
END_TEST

START_TEST(evaluate_states_passive_forces_by_kind_and_their_power) {
    load("every_kind");
    json_t *reply = run_json("$ctl call evaluate '{\"query\": {\"model\": \"every_kind\", \"passive_forces\": "
                             "{\"springs\": true, \"friction_velocity\": 0.5}}, \"q\": [0, 0, 0.3], "
                             "\"v\": [0, 0, 0.5], \"quantities\": [{\"quantity\": \"QUANTITY_PASSIVE_FORCES\"}, "
                             "{\"quantity\": \"QUANTITY_SPRING_ENERGY\"}, "
                             "{\"quantity\": \"QUANTITY_DISSIPATED_POWER\"}, "
                             "{\"quantity\": \"QUANTITY_INVERSE_DYNAMICS\"}]}'");
    double dry = sqrt(0.5);
    const double forces[] = {-1, -dry, -8};
    for (size_t kind = 0; kind < 3; kind++) {
        ck_assert_double_eq_tol(number_of(values_of(reply, 0, kind), 2), forces[kind], 1e-14);
        ck_assert_double_eq(number_of(values_of(reply, 0, kind), 1), 0);
    }
    ck_assert_double_eq_tol(number_of(values_of(reply, 1, 0), 0), 0.8, 1e-14);
    ck_assert_double_eq_tol(number_of(values_of(reply, 2, 0), 0), 0.5 + 0.5 * dry, 1e-14);
    ck_assert_double_eq_tol(number_of(values_of(reply, 3, 0), 2), 8, 1e-12);
    const json_t *counted = json_object_get(reply, "passive_forces");
    ck_assert(json_is_true(json_object_get(counted, "springs")));
    ck_assert(!json_is_true(json_object_get(counted, "damping")));
    must_say("$ctl evaluate every_kind --quantity inverse_dynamics --q 0,0,0.3 --v 0,0,0.5 --passive damping,springs "
             "--json",
             "9]");
    json_decref(reply);
}
END_TEST

/* Returns the position of the rail after a second, from a rollout with these members of `stepping`. */
static double position_of_rail(const char *stepping, double q, double v) {
    char line[512];
    snprintf(line, sizeof line,
             "$ctl call rollout '{\"query\": {\"model\": \"every_kind\"}, \"q\": [0, 0, %g], \"v\": [0, 0, %g], "
             "\"stepping\": {\"integrator\": \"INTEGRATOR_RK4\"%s}, \"steps\": 1000, \"only_last\": true}'",
             q, v, stepping);
    json_t *reply = run_json(line);
    double position = number_of(json_object_get(reply, "q"), 2);
    json_decref(reply);
    return position;
}

/* The slide has a mass of 1 and a spring of 40 N/m, and viscous friction of 2 N s/m. */
START_TEST(rollouts_apply_springs_and_friction) {
    load("every_kind");
    double rate = sqrt(40), damped = sqrt(39), decay = exp(-1);
    const char *no_friction = ", \"ignore_damping\": true, \"ignore_friction\": true";
    ck_assert_double_eq_tol(position_of_rail(no_friction, 0.3, 0), 0.1 + 0.2 * cos(rate), 1e-9);
    ck_assert_double_eq_tol(position_of_rail(", \"ignore_friction\": true", 0.3, 0),
                            0.1 + 0.2 * decay * (cos(damped) + sin(damped) / damped), 1e-9);
    const char *ideal = ", \"ignore_damping\": true, \"ignore_friction\": true, \"ignore_springs\": true";
    ck_assert_double_eq_tol(position_of_rail(ideal, 0.3, 0.5), 0.8, 1e-9);
    /* Without spring, viscous and Coulomb friction stop the slide at v0 / 2 - (1 / 4) ln(1 + 2 v0). */
    double stop = 1.0 / 2 - log(3) / 4;
    ck_assert_double_eq_tol(position_of_rail(", \"ignore_springs\": true, \"friction_velocity\": 1e-4", 0, 1), stop,
                            2e-4);
}
END_TEST

START_TEST(springs_count_in_the_energy_of_rollouts) {
    load("every_kind");
    json_t *reply = run_json("$ctl call rollout '{\"query\": {\"model\": \"every_kind\"}, \"q\": [0.3, 0.2, 0.3], "
                             "\"stepping\": {\"integrator\": \"INTEGRATOR_RK4\", \"ignore_damping\": true, "
                             "\"ignore_friction\": true}, \"steps\": 2000, "
                             "\"results\": [\"ROLLOUT_RESULT_Q\", \"ROLLOUT_RESULT_ENERGY\"]}'");
    const json_t *first = json_array_get(json_object_get(reply, "outcomes"), 0);
    ck_assert_ptr_nonnull(first);
    ck_assert_double_lt(member_of(first, "energy_drift"), 1e-6);
    json_decref(reply);
}
END_TEST

/* Returns the force of the rail in a motion of 0.5 m/s at 0.3 m, where the query has these passive forces. */
static double force_of_rail(const char *passive) {
    char line[512];
    snprintf(line, sizeof line,
             "$ctl call inverse_dynamics '{\"query\": {\"model\": \"every_kind\"%s}, \"q\": [0, 0, 0.3], "
             "\"v\": [0, 0, 0.5]}'",
             passive);
    json_t *reply = run_json(line);
    double tau = number_of(json_object_get(reply, "tau"), 2);
    const json_t *counted = json_object_get(reply, "passive_forces");
    ck_assert_int_eq(counted != NULL, passive[0] != '\0');
    ck_assert(!counted || member_of(counted, "friction_velocity") == 0.01);
    json_decref(reply);
    return tau;
}

START_TEST(inverse_dynamics_counts_the_passive_forces_that_are_asked_for) {
    load("every_kind");
    double dry = 0.5 / sqrt(0.25 + 1e-4);
    ck_assert_double_eq_tol(force_of_rail(""), 0, 1e-12);
    ck_assert_double_eq_tol(force_of_rail(", \"passive_forces\": {\"springs\": true}"), 8, 1e-12);
    ck_assert_double_eq_tol(force_of_rail(", \"passive_forces\": {\"damping\": true}"), 1, 1e-12);
    ck_assert_double_eq_tol(force_of_rail(", \"passive_forces\": {\"friction\": true}"), dry, 1e-12);
    ck_assert_double_eq_tol(
        force_of_rail(", \"passive_forces\": {\"damping\": true}, \"formulation\": \"newton_euler\""), 1, 1e-12);
    must_say("$ctl id every_kind --q 0,0,0.3 --v 0,0,0.5 --passive damping,springs", "9.0");
    must_say("$ctl id every_kind --q 0,0,0.3 --v 0,0,0.5 --passive damping,springs --formulation kane", "9.0");
    json_t *reply = run_json("$ctl formulate every_kind --q 0,0,0.3 --v 0,0,0.5 --passive damping,springs "
                             "--formulation newton_euler --json");
    ck_assert_double_eq_tol(number_of(json_object_get(reply, "tau"), 2), 9, 1e-12);
    json_decref(reply);
    must_fail("$ctl id every_kind --passive drag", 2, "--passive drag");
}
END_TEST

/* Checks that forward dynamics returns the accelerations of inverse dynamics. `formulation` is a member of the query.
 */
static void invert_inverse_dynamics(const char *formulation) {
    char query[512], line[1024];
    snprintf(query, sizeof query,
             "{\"model\": \"every_kind\"%s, \"passive_forces\": {\"damping\": true, \"friction\": true, "
             "\"springs\": true, \"friction_velocity\": 0.2}}",
             formulation);
    snprintf(line, sizeof line,
             "$ctl call inverse_dynamics '{\"query\": %s, \"q\": [0.3, -0.8, 0.2], \"v\": [1, -2, 0.5], "
             "\"a\": [2, 3, -1]}'",
             query);
    json_t *inverse = run_json(line);
    const json_t *tau = json_object_get(inverse, "tau");
    snprintf(line, sizeof line,
             "$ctl call forward_dynamics '{\"query\": %s, \"q\": [0.3, -0.8, 0.2], \"v\": [1, -2, 0.5], "
             "\"tau\": [%.17g, %.17g, %.17g]}'",
             query, number_of(tau, 0), number_of(tau, 1), number_of(tau, 2));
    json_t *forward = run_json(line);
    const double expected[] = {2, 3, -1};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(number_of(json_object_get(forward, "a"), i), expected[i], 1e-11);
    }
    ck_assert_double_eq(member_of(json_object_get(forward, "passive_forces"), "friction_velocity"), 0.2);
    json_decref(inverse), json_decref(forward);
}

START_TEST(forward_dynamics_inverts_inverse_dynamics_with_passive_forces) {
    load("every_kind");
    invert_inverse_dynamics("");
    invert_inverse_dynamics(", \"formulation\": \"newton_euler\"");
}
END_TEST

START_TEST(passive_forces_are_refused_where_they_do_not_count) {
    load("every_kind");
    must_fail("$ctl call mass_matrix '{\"query\": {\"model\": \"every_kind\", \"passive_forces\": {}}, "
              "\"q\": [0, 0, 0]}'",
              1, "does not support passive forces");
    must_fail("$ctl call inverse_dynamics '{\"query\": {\"model\": \"every_kind\", \"passive_forces\": "
              "{\"friction_velocity\": -1}}, \"q\": [0, 0, 0]}'",
              1, "query.passive_forces.friction_velocity");
    must_fail(
        "$ctl call forward_dynamics '{\"query\": {\"model\": \"every_kind\", \"passive_forces\": "
        "{\"gear_losses\": true}, \"formulation\": \"vereshchagin\", \"tip_constraints\": [{\"linear\": {\"x\": 1}}]}, "
        "\"q\": [0, 0, 0]}'",
        1, "losses of gears do not count with constraints of the tip");
}
END_TEST

/* Loads the model "bristled", whose guide has bristles. */
static void load_bristled(void) {
    json_t *description = read_description("every_kind");
    json_t *guide = json_object_get(json_array_get(json_object_get(description, "machine_elements"), 3), "friction");
    json_object_set_new(guide, "bristle_stiffness", json_real(1e4));
    json_object_set_new(guide, "bristle_damping", json_real(50));
    load_as(description, "bristled");
    json_decref(description);
}

/* The spring of the slide pulls by 0.8 N, which the bristles of its guide carry with a small deflection. */
START_TEST(rollouts_move_bristles) {
    load_bristled();
    json_t *reply = run_json("$ctl call rollout '{\"query\": {\"model\": \"bristled\"}, \"q\": [0, 0, 0.12], "
                             "\"steps\": 2000, \"only_last\": true}'");
    double moved = 0.12 - number_of(json_object_get(reply, "q"), 2);
    ck_assert_double_gt(moved, 0.7 / 1e4);
    ck_assert_double_lt(moved, 5e-4);
    ck_assert_double_eq_tol(number_of(json_object_get(reply, "v"), 2), 0, 1e-8);
    json_decref(reply);
    must_say("$ctl describe bristled guide", "bristle stiffness");
}
END_TEST

/* Creates a simulation of "bristled" in motion. Returns its token. */
static long long simulate_bristled(const char *name) {
    char line[256];
    snprintf(line, sizeof line,
             "$ctl call create_simulation '{\"query\": {\"model\": \"bristled\"}, \"name\": \"%s\", "
             "\"q\": [0, 0, 0.12], \"v\": [0.3, 0, 0.1]}'",
             name);
    json_t *created = run_json(line);
    long long token = json_integer_value(json_object_get(created, "token"));
    json_decref(created);
    return token;
}

/* Calls a method about a simulation, with more members of its request. The caller releases the reply. */
static json_t *ask_simulation(const char *method, const char *name, long long token, const char *members) {
    char line[256];
    snprintf(line, sizeof line, "$ctl call %s '{\"simulation\": \"%s\", \"token\": %lld%s}'", method, name, token,
             members);
    return run_json(line);
}

START_TEST(bristles_go_on_after_a_restart) {
    load_bristled();
    long long lasting = simulate_bristled("lasting"), twin = simulate_bristled("twin");
    json_decref(ask_simulation("step_simulation", "lasting", lasting, ", \"steps\": 40"));
    daemon_restart(&served);
    json_t *parts = ask_simulation("step_simulation", "lasting", lasting, ", \"steps\": 40");
    json_t *whole = ask_simulation("step_simulation", "twin", twin, ", \"steps\": 80");
    const json_t *found = json_object_get(json_object_get(parts, "state"), "q");
    const json_t *wanted = json_object_get(json_object_get(whole, "state"), "q");
    ck_assert_uint_eq(json_array_size(wanted), 3);
    ck_assert(json_equal(found, wanted));
    json_decref(parts), json_decref(whole);
}
END_TEST

START_TEST(recordings_that_begin_with_deflected_bristles_are_replayed) {
    load_bristled();
    long long token = simulate_bristled("deflected");
    json_decref(ask_simulation("step_simulation", "deflected", token, ", \"steps\": 40"));
    json_decref(ask_simulation("record_simulation", "deflected", token, ", \"recording\": \"deflected\""));
    json_decref(ask_simulation("step_simulation", "deflected", token, ", \"steps\": 40"));
    json_decref(ask_simulation("stop_recording", "deflected", token, ""));
    json_t *replay = run_json("$ctl call replay_simulation '{\"recording\": \"deflected\"}'");
    ck_assert_int_eq(json_integer_value(json_object_get(replay, "equal_steps")), 40);
    json_decref(replay);
}
END_TEST

/* Returns the angle of the elbow after 0.2 s from rest at 0.8, the upper arm hanging, with these members of `stepping`.
 */
static double fallen_elbow(const char *stepping) {
    char line[512];
    snprintf(line, sizeof line,
             "$ctl call rollout '{\"query\": {\"model\": \"driven_arm\"}, \"q\": [1.5707963, 0.8], "
             "\"stepping\": {\"friction_velocity\": 1e-4%s}, \"steps\": 200, \"only_last\": true}'",
             stepping);
    json_t *reply = run_json(line);
    double angle = number_of(json_object_get(reply, "q"), 1);
    json_decref(reply);
    return angle;
}

/* The brake holds 1.5 N m at the elbow, where the weight of the forearm is 1.41 N m. */
START_TEST(rollouts_engage_brakes_and_count_the_losses_of_gears) {
    load("driven_arm");
    double lossy = fallen_elbow(""), ideal = fallen_elbow(", \"ignore_gear_losses\": true");
    ck_assert_double_eq_tol(fallen_elbow(", \"brakes\": [\"elbow brake\"]"), 0.8, 1e-3);
    ck_assert_double_lt(fabs(lossy - 0.8), fabs(ideal - 0.8));
    ck_assert_double_gt(fabs(lossy - 0.8), 0.05);
    must_say("$ctl rollout driven_arm --q 1.5707963,0.8 --duration 0.2 --brakes 'elbow brake' --csv --stride 200",
             ",0.8000");
    must_fail("$ctl rollout driven_arm --q 1.5707963,0.8 --duration 0.2 --brakes 'elbow brake,knee'", 1, "--brakes");
    must_fail("$ctl simulate driven_arm --duration 0.01 --brakes 'knee'", 1, "knee");
    must_fail("$ctl call rollout '{\"query\": {\"model\": \"driven_arm\"}, \"q\": [0, 0], \"steps\": 1, "
              "\"stepping\": {\"brakes\": [\"elbow brake\", \"elbow gear\"]}}'",
              1, "rollout.stepping.brakes[1]");
}
END_TEST

/* Law of friction of the rail, in JSON and in closed form: values for positive and for negative rates. */
typedef struct friction_case {
    const char *figure, *json;
    double viscous[2], coulomb[2], breakaway[2], stribeck, width, ratio;
} friction_case;

static const friction_case friction_cases[] = {
    {"a", "{\"viscous\": [2, 3]}", {2, 3}, {0, 0}, {0, 0}, 1, 0.01, 1},
    {"b", "{\"coulomb\": [4]}", {0, 0}, {4, 4}, {4, 4}, 1, 0.01, 1},
    {"c", "{\"viscous\": [2], \"coulomb\": [4, 5]}", {2, 2}, {4, 5}, {4, 5}, 1, 0.01, 1},
    {"d",
     "{\"coulomb\": [4], \"breakaway\": [6, 9], \"stribeck_velocity\": 0.2, \"transition_velocity\": 0.05}",
     {0, 0},
     {4, 4},
     {6, 9},
     0.2,
     0.05,
     1},
    {"e",
     "{\"viscous\": [2], \"coulomb\": [4], \"breakaway\": [6], \"stribeck_velocity\": 1e-3}",
     {2, 2},
     {4, 4},
     {6, 6},
     1e-3,
     0.01,
     1},
    {"f",
     "{\"viscous\": [2], \"coulomb\": [4, 3], \"breakaway\": [6], \"stribeck_velocity\": 0.2, \"temperature_factor\": "
     "1.5}",
     {3, 3},
     {4, 3},
     {6, 6},
     0.2,
     0.01,
     1},
    {"f of the rotor",
     "{\"side\": \"GEAR_SIDE_ROTOR\", \"viscous\": [0.02], \"coulomb\": [0.4, 0.3], \"breakaway\": [0.6, 0.5], "
     "\"stribeck_velocity\": 2, \"transition_velocity\": 0.3}",
     {0.02, 0.02},
     {0.4, 0.3},
     {0.6, 0.5},
     2,
     0.3,
     -8},
    {"LuGre at a constant rate",
     "{\"viscous\": [2], \"coulomb\": [4], \"breakaway\": [6], \"stribeck_velocity\": 0.2, \"bristle_stiffness\": 1e4}",
     {2, 2},
     {4, 4},
     {6, 6},
     0.2,
     0.01,
     1},
};

/* Returns the force r of a law at the rate v of the rail. */
static double closed_form(const friction_case *f, double v) {
    double w = f->ratio * v, x = w / f->stribeck;
    int side = w > 0 ? 0 : 1;
    double dry = f->coulomb[side] + (f->breakaway[side] - f->coulomb[side]) / (1 + x * x);
    return -f->ratio * (f->viscous[side] * w + dry * w / sqrt(w * w + f->width * f->width));
}

START_TEST(friction_laws_are_those_of_their_figures) {
    static const double rates[] = {-1, -0.2, -0.004, 0.004, 0.2, 1};
    for (size_t i = 0; i < sizeof friction_cases / sizeof *friction_cases; i++) {
        const friction_case *f = &friction_cases[i];
        json_t *description = read_description("every_kind"), *law = json_loads(f->json, 0, NULL);
        ck_assert_msg(law != NULL, "%s", f->json);
        json_object_set_new(description, "machine_elements",
                            json_pack("[{s:s,s:s,s:{s:f,s:f}},{s:s,s:s,s:o}]", "name", "motor", "joint", "rail",
                                      "rotor", "ratio", f->ratio, "axial_inertia", 1e-3, "name", "law", "joint", "rail",
                                      "friction", law));
        load_as(description, "rubbing");
        json_decref(description);
        json_t *reply = run_json("$ctl call inverse_dynamics '{\"query\": {\"model\": \"rubbing\", \"passive_forces\": "
                                 "{\"damping\": true, \"friction\": true}}, \"q\": [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, "
                                 "0,0,0], \"v\": [0,0,-1, 0,0,-0.2, 0,0,-0.004, 0,0,0.004, 0,0,0.2, 0,0,1]}'");
        for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
            double tau = number_of(json_object_get(reply, "tau"), 3 * k + 2), expected = -closed_form(f, rates[k]);
            ck_assert_msg(fabs(tau - expected) < 1e-12 * (1 + fabs(expected)), "%s at %g: %.17g, not %.17g", f->figure,
                          rates[k], tau, expected);
            ck_assert_double_ge(tau * rates[k], 0);
        }
        json_decref(reply);
    }
}
END_TEST

/* Coulomb friction of mu times the load is that of a gear with these efficiencies. The weight of the forearm loads the
 * elbow, whose rate is far above the friction velocity. */
START_TEST(gears_have_friction_in_proportion_to_their_load) {
    const double mu = 0.2;
    json_t *description = read_description("every_kind");
    json_object_set_new(description, "machine_elements",
                        json_pack("[{s:s,s:s,s:{s:f,s:f,s:f}}]", "name", "gear", "joint", "elbow", "gear", "ratio",
                                  30.0, "efficiency", 1 / (1 + mu), "back_driving_efficiency", 1 - mu));
    load_as(description, "loaded");
    json_decref(description);
    for (int k = 0; k < 2; k++) {
        char line[512];
        double v = k == 0 ? 100 : -100, load = 0;
        for (int is_lossy = 0; is_lossy < 2; is_lossy++) {
            snprintf(line, sizeof line,
                     "$ctl call inverse_dynamics '{\"query\": {\"model\": \"loaded\", \"passive_forces\": "
                     "{\"gear_losses\": %s}}, \"q\": [0.3, 0.4, 0], \"v\": [0, %g, 0]}'",
                     is_lossy ? "true" : "false", v);
            json_t *reply = run_json(line);
            double tau = number_of(json_object_get(reply, "tau"), 1);
            ck_assert(!is_lossy || fabs(tau - load - copysign(mu * fabs(load), v)) < 1e-7);
            load = tau;
            json_decref(reply);
        }
        ck_assert_double_gt(fabs(load), 0.5);
    }
}
END_TEST

#define GEARED                                                                                                         \
    "\"model\": \"driven_arm\", \"passive_forces\": {\"damping\": true, \"friction\": true, \"gear_losses\": true}"

/* The losses of the gears are a term of Explain, and forward dynamics inverts the inverse dynamics with them. */
START_TEST(inverse_and_forward_dynamics_count_the_losses_of_gears) {
    static const double a[] = {2, -3};
    char line[512];
    load("driven_arm");
    json_t *lossless = run_json("$ctl call inverse_dynamics '{\"query\": {\"model\": \"driven_arm\", "
                                "\"passive_forces\": {\"damping\": true, \"friction\": true}}, \"q\": [0.3, 0.8], "
                                "\"v\": [1, -2], \"a\": [2, -3]}'");
    json_t *inverse = run_json("$ctl call inverse_dynamics '{\"query\": {" GEARED "}, \"q\": [0.3, 0.8], "
                               "\"v\": [1, -2], \"a\": [2, -3]}'");
    json_t *terms = run_json("$ctl call explain '{\"query\": {" GEARED "}, \"q\": [0.3, 0.8], \"v\": [1, -2], "
                             "\"a\": [2, -3]}'");
    const json_t *tau = json_object_get(inverse, "tau");
    snprintf(line, sizeof line,
             "$ctl call forward_dynamics '{\"query\": {" GEARED "}, \"q\": [0.3, 0.8], \"v\": [1, -2], "
             "\"tau\": [%.17g, %.17g]}'",
             number_of(tau, 0), number_of(tau, 1));
    json_t *forward = run_json(line);
    const json_t *loss = NULL, *list = json_object_get(terms, "terms");
    for (size_t i = 0; i < json_array_size(list); i++) {
        bool is_loss = strcmp(text_of(json_array_get(list, i), "name"), "gear_loss") == 0;
        loss = is_loss ? json_object_get(json_array_get(list, i), "tau") : loss;
    }
    for (size_t i = 0; i < 2; i++) {
        double added = number_of(tau, i) - number_of(json_object_get(lossless, "tau"), i);
        ck_assert_double_eq_tol(number_of(json_object_get(forward, "a"), i), a[i], 1e-10);
        ck_assert_double_gt(fabs(added), 0.01);
        ck_assert_double_eq_tol(number_of(loss, i), added, 1e-12);
    }
    ck_assert_double_lt(member_of(terms, "residual"), 1e-12);
    ck_assert(json_is_true(json_object_get(json_object_get(forward, "passive_forces"), "gear_losses")));
    json_decref(lossless), json_decref(inverse), json_decref(terms), json_decref(forward);
    must_say("$ctl explain driven_arm --q 0.3,0.8 --v 1,-2 --passive gears", "gear_loss");
}
END_TEST

/* Computes the inverse (from a) or forward dynamics (from tau) of "driven_arm" with members of the query added. */
static void dynamics_of(bool is_inverse, const char *added, const double in[2], double out[2]) {
    char line[1024];
    snprintf(line, sizeof line,
             "$ctl call %s_dynamics '{\"query\": {\"model\": \"driven_arm\", \"passive_forces\": {\"friction\": true, "
             "\"damping\": true%s}, \"q\": [0.3, 0.8], \"v\": [1, 0.5], \"%s\": [%.17g, %.17g]}'",
             is_inverse ? "inverse" : "forward", added, is_inverse ? "a" : "tau", in[0], in[1]);
    json_t *reply = run_json(line);
    for (size_t i = 0; i < 2; i++) {
        out[i] = number_of(json_object_get(reply, is_inverse ? "tau" : "a"), i);
    }
    json_decref(reply);
}

/* Forces that produce an acceleration produce it again, with losses of gears that change it. */
START_TEST(losses_of_gears_count_with_constraints_rows_and_a_moving_base) {
    static const char *const added[] = {
        "}, \"base_motion\": {\"angular_velocity\": [0.2, 1, 0.4], \"angular_acceleration\": [1, 40, -2]}",
        "}, \"rows\": {\"count\": 1, \"matrix\": [1, -2], \"acceleration\": [3]}",
        ("}, \"constraints\": [{\"name\": \"belt\", \"coupling\": {\"coordinates\": [{\"joint\": \"shoulder\", "
         "\"coefficient\": 1}, {\"joint\": \"elbow\", \"coefficient\": -2}]}}]")};
    static const double tau[2] = {30, -20};
    load("driven_arm");
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        double a[2], lossless[2], found[2], again[2];
        char with_losses[512];
        snprintf(with_losses, sizeof with_losses, ", \"gear_losses\": true%s", added[i]);
        dynamics_of(false, added[i], tau, lossless);
        dynamics_of(false, with_losses, tau, a);
        dynamics_of(true, with_losses, a, found);
        dynamics_of(false, with_losses, found, again);
        ck_assert_double_gt(fabs(a[0] - lossless[0]), 0.1);
        for (size_t k = 0; k < 2; k++) {
            ck_assert_double_eq_tol(again[k], a[k], 1e-9 * (1 + fabs(a[k])));
            ck_assert(i > 0 || fabs(found[k] - tau[k]) < 1e-9);
        }
        ck_assert_double_eq_tol(i > 0 ? a[0] - 2 * a[1] : 0, i == 1 ? 3 : 0, 1e-8);
    }
    must_say("$ctl id driven_arm --q 0.3,0.8 --passive gears --base-velocity 1,0,0,0,0,0", "shoulder");
}
END_TEST

/* Asserts two arrays of the numbers of both joints of the arm. */
static void expect_pair(const char *what, const json_t *own, const json_t *expected, double tolerance) {
    ck_assert_uint_eq(json_array_size(own), 2);
    for (size_t i = 0; i < 2; i++) {
        double x = number_of(own, i), y = number_of(expected, i);
        ck_assert_msg(fabs(x - y) <= tolerance * (1 + fabs(y)), "%s: %.17g, not %.17g", what, x, y);
    }
}

/* Calls a method for "driven_arm" with losses of gears, at a state with the accelerations or forces `third`. */
static json_t *call_geared(const char *method, const char *added, const char *third) {
    char line[1024];
    snprintf(line, sizeof line,
             "$ctl call %s '{\"query\": {" GEARED "%s}, \"q\": [0.3, 0.8], \"v\": [1, -2], \"%s\": [12, -9]}'", method,
             added, third);
    return run_json(line);
}

/* Loads "driven_arm" with all, or without its rotors and what is on their side. Many formulations refuse rotors. */
static void load_driven_arm(bool has_rotors) {
    json_t *description = read_description("driven_arm"), *list = json_object_get(description, "machine_elements");
    for (size_t i = json_array_size(list); !has_rotors && i-- > 0;) {
        json_t *gear = json_object_get(json_array_get(list, i), "gear");
        if (gear) {
            json_object_set_new(gear, "ratio", json_real(50));
        } else {
            json_array_remove(list, i);
        }
    }
    load_as(description, "driven_arm");
    json_decref(description);
}

/* Compares formulations with the methods without one, for the arm with losses of gears. */
static void compare_formulations(size_t count, const char *const *names) {
    json_t *inverse = call_geared("inverse_dynamics", "", "a"), *forward = call_geared("forward_dynamics", "", "tau");
    const json_t *tau = json_object_get(inverse, "tau"), *a = json_object_get(forward, "a");
    for (size_t i = 0; i < count; i++) {
        char by[96];
        snprintf(by, sizeof by, ", \"formulation\": \"%s\"", names[i]);
        json_t *own = call_geared("inverse_dynamics", by, "a"), *moved = call_geared("forward_dynamics", by, "tau");
        json_t *inner = call_geared("formulate", by, "a");
        expect_pair(names[i], json_object_get(own, "tau"), tau, 1e-10);
        expect_pair(names[i], json_object_get(moved, "a"), a, 1e-10);
        expect_pair(names[i], json_object_get(inner, "tau"), tau, 1e-10);
        json_decref(own), json_decref(moved), json_decref(inner);
    }
    json_t *found =
        run_json("$ctl evaluate driven_arm --formulation newton_euler --passive damping,friction,gears --q 0.3,0.8 "
                 "--v 1,-2 --a 12,-9 --quantity inverse_dynamics --json");
    expect_pair("evaluate", json_object_get(found, "inverse_dynamics"), tau, 1e-10);
    json_decref(inverse), json_decref(forward), json_decref(found);
}

START_TEST(formulations_count_the_losses_of_gears) {
    static const char *const names[] = {"newton_euler", "lagrange_euler", "kane", "spatial_operator_algebra"};
    load_driven_arm(true);
    compare_formulations(1, names);
    load_driven_arm(false);
    compare_formulations(sizeof names / sizeof *names, names);
}
END_TEST

#define BELT                                                                                                           \
    ", \"constraints\": [{\"name\": \"belt\", \"coupling\": {\"coordinates\": [{\"joint\": \"shoulder\", "             \
    "\"coefficient\": 1}, {\"joint\": \"elbow\", \"coefficient\": 0.5}]}}], \"motion_options\": {\"nearest\": true}"

/* The terms of Explain add up to the inverse dynamics with constraints, and that of the constraints is - A' lambda. */
START_TEST(explain_states_constraints_and_losses_of_gears_as_terms) {
    load("driven_arm");
    json_t *terms = call_geared("explain", BELT, "a"), *whole = call_geared("inverse_dynamics", BELT, "a");
    json_t *rows =
        run_json("$ctl call evaluate '{\"query\": {\"model\": \"driven_arm\", \"passive_forces\": {\"damping\": "
                 "true, \"friction\": true}" BELT "}, \"q\": [0.3, 0.8], \"v\": [1, -2], \"a\": [12, -9], "
                 "\"quantities\": [{\"quantity\": \"QUANTITY_CONSTRAINT_JACOBIAN\"}, {\"quantity\": "
                 "\"QUANTITY_CONSTRAINT_MULTIPLIERS_OF_MOTION\"}]}'");
    const json_t *A = values_of(rows, 0, 0), *list = json_object_get(terms, "terms");
    double lambda = number_of(values_of(rows, 1, 0), 0), sum[2] = {0, 0};
    bool is_there = false;
    for (size_t t = 0; t < json_array_size(list); t++) {
        const json_t *term = json_array_get(list, t), *tau = json_object_get(term, "tau");
        bool is_constraint = strcmp(text_of(term, "name"), "constraint") == 0;
        is_there = is_there || is_constraint;
        for (size_t i = 0; i < 2; i++) {
            sum[i] += number_of(tau, i);
            ck_assert(!is_constraint || fabs(number_of(tau, i) + number_of(A, i) * lambda) < 1e-9);
        }
    }
    ck_assert(is_there && fabs(lambda) > 0.1);
    expect_pair("explain", json_object_get(terms, "tau"), json_object_get(whole, "tau"), 1e-10);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_double_eq_tol(sum[i], number_of(json_object_get(whole, "tau"), i), 1e-9);
    }
    ck_assert_double_lt(member_of(terms, "residual"), 1e-10);
    json_decref(terms), json_decref(whole), json_decref(rows);
}
END_TEST

/* Loads the model "linked": the arm of all kinds with a cable, a bushing and a fluid. */
static void load_linked(void) {
    static const char *const added[] = {
        "{\"name\": \"ceiling\", \"strut\": {\"link\": \"lower\", \"position\": {\"x\": 0.4}, \"other_position\": "
        "{\"x\": 0.9, \"z\": 2}, \"stiffness\": 50, \"rest\": 1, \"is_cable\": true}}",
        "{\"name\": \"prop\", \"strut\": {\"link\": \"slide\", \"other_link\": \"upper\", \"other_position\": "
        "{\"x\": 0.2, \"z\": 0.5}, \"push\": 8, \"damping\": 2}}",
        "{\"name\": \"bed\", \"bushing\": {\"link\": \"lower\", \"other_link\": \"upper\", "
        "\"rotational_stiffness\": {\"y\": 3}, \"rotational_damping\": {\"y\": 0.5}}}",
        "{\"name\": \"water\", \"fluid\": {\"link\": \"upper\", \"density\": 1000, \"volume\": 1e-4, "
        "\"quadratic_drag\": {\"z\": 3}}}"};
    json_t *description = read_description("every_kind");
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        json_t *element = json_loads(added[i], 0, NULL);
        ck_assert_msg(element != NULL, "%s", added[i]);
        json_array_append_new(json_object_get(description, "machine_elements"), element);
    }
    load_as(description, "linked");
    json_decref(description);
}

/* Inverse dynamics without passive forces is that with them plus the forces, and a simulation starts with them. */
START_TEST(forces_on_links_count_in_all_methods) {
    load_linked();
    must_say("$ctl describe linked ceiling", "cable");
    must_say("$ctl describe linked bed --json", "\"rotational_stiffness_y\": 3");
    json_t *reply = run_json(
        "$ctl call evaluate '{\"query\": {\"model\": \"linked\", \"passive_forces\": "
        "{\"damping\": true, \"friction\": true, \"springs\": true}}, \"q\": [0.2, 0.4, 0.3], \"v\": [1, -1, 0.5], "
        "\"quantities\": [{\"quantity\": \"QUANTITY_PASSIVE_FORCES\"}, "
        "{\"quantity\": \"QUANTITY_INVERSE_DYNAMICS\"}]}'");
    json_t *bare = run_json("$ctl call evaluate '{\"query\": {\"model\": \"linked\"}, \"q\": [0.2, 0.4, 0.3], "
                            "\"v\": [1, -1, 0.5], \"quantities\": [{\"quantity\": \"QUANTITY_INVERSE_DYNAMICS\"}]}'");
    const json_t *blocks = json_object_get(json_array_get(json_object_get(reply, "results"), 0), "blocks");
    double size = 0;
    for (size_t k = 0; k < 3; k++) {
        double r = 0;
        for (size_t kind = 0; kind < json_array_size(blocks); kind++) {
            r += number_of(values_of(reply, 0, kind), k);
        }
        double wanted = number_of(values_of(bare, 0, 0), k) - number_of(values_of(reply, 1, 0), k);
        ck_assert_double_eq_tol(r, wanted, 1e-9);
        size += fabs(r);
    }
    ck_assert_double_gt(size, 1);
    json_decref(reply), json_decref(bare);
    must_say("$ctl rollout linked --q 0.2,0.4,0.3 --duration 0.05 --json | tail -n 1", "]");
}
END_TEST

/* ---- shafts ------------------------------------------------------------------------------------------------------ */

/* The differential adds G' diag(I) G: 1.8 + 2 on the diagonal and 1.8 - 2 beside it. */
START_TEST(shafts_add_their_full_matrix) {
    static const double added[4] = {3.8, -0.2, -0.2, 3.8};
    json_t *description = read_description("wrist");
    json_object_del(description, "machine_elements");
    load_as(description, "bare");
    json_decref(description);
    load("wrist");
    json_t *own = run_json("$ctl call evaluate '{\"query\": {\"model\": \"wrist\"}, \"q\": [0.2, 0.6], \"quantities\": "
                           "[{\"quantity\": \"QUANTITY_MASS_MATRIX\"}]}'");
    json_t *bare = run_json("$ctl call evaluate '{\"query\": {\"model\": \"bare\"}, \"q\": [0.2, 0.6], \"quantities\": "
                            "[{\"quantity\": \"QUANTITY_MASS_MATRIX\"}]}'");
    for (size_t i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(number_of(values_of(own, 0, 0), i) - number_of(values_of(bare, 0, 0), i), added[i],
                                1e-13);
    }
    json_decref(own), json_decref(bare);
    json_t *forces =
        run_json("$ctl call evaluate '{\"query\": {\"model\": \"wrist\"}, \"q\": [0.2, 0.6], \"v\": [1, -2], \"a\": "
                 "[3, 4], \"quantities\": [{\"quantity\": \"QUANTITY_ROTOR_FORCES\"}]}'");
    ck_assert_double_eq_tol(number_of(values_of(forces, 0, 0), 0), 3.8 * 3 - 0.2 * 4, 1e-12);
    ck_assert_double_eq_tol(number_of(values_of(forces, 0, 0), 1), -0.2 * 3 + 3.8 * 4, 1e-12);
    json_decref(forces);
    json_t *robot = run_json("$ctl describe wrist --json");
    const json_t *left = json_array_get(json_object_get(robot, "machine_elements"), 0);
    ck_assert_str_eq(text_of(left, "kind"), "shaft");
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(left, "joints"), 1)), "roll");
    ck_assert_double_eq(number_of(json_object_get(left, "ratios"), 1), 30);
    ck_assert_double_eq(member_of(json_object_get(left, "rotor"), "axial_inertia"), 0.002);
    json_decref(robot);
    must_say("$ctl describe wrist | grep '^right'", "turns at -20 pitch + 20 roll, 0.005 kg m^2, exact");
    must_say("$ctl describe wrist left", "(world)");
    json_t *inertias =
        run_json("$ctl call evaluate '{\"query\": {\"model\": \"wrist\"}, \"q\": [0, 0], \"quantities\": "
                 "[{\"quantity\": \"QUANTITY_FRAME_ARTICULATED_INERTIA\", \"frames\": [\"hand\"], \"reference_frame\": "
                 "\"REFERENCE_FRAME_LOCAL\"}, {\"quantity\": \"QUANTITY_FRAME_BODY_INERTIA\", \"frames\": [\"hand\"], "
                 "\"reference_frame\": \"REFERENCE_FRAME_LOCAL\"}]}'");
    for (size_t k = 0; k < 36; k++) {
        ck_assert_double_eq_tol(number_of(values_of(inertias, 0, 0), k), number_of(values_of(inertias, 1, 0), k),
                                1e-13);
    }
    json_decref(inertias);
}
END_TEST

/* The forces 6 and -2 take (6 - 2) / 60 of the left motor and (-6 - 2) / 40 of the right one. */
START_TEST(evaluate_motors_solves_the_coupling_matrix) {
    load("wrist");
    json_t *reply = run_json("$ctl call evaluate_motors '{\"query\": {\"model\": \"wrist\"}, \"q\": [0.2, 0.6], "
                             "\"v\": [1, -2], \"tau\": [6, -2]}'");
    const json_t *torque = json_object_get(reply, "torque"), *speed = json_object_get(reply, "speed");
    const json_t *motors = json_object_get(reply, "motors");
    ck_assert_double_eq_tol(number_of(torque, 0), 4. / 60, 1e-14);
    ck_assert_double_eq_tol(number_of(torque, 1), -8. / 40, 1e-14);
    ck_assert_double_eq(number_of(speed, 0), 30 * (1 - 2));
    ck_assert_double_eq(number_of(speed, 1), -20 * 1 + 20 * -2);
    ck_assert_double_eq_tol(number_of(json_object_get(reply, "current"), 0), 4. / 60 / 0.05, 1e-12);
    ck_assert_str_eq(text_of(json_array_get(motors, 1), "name"), "right");
    ck_assert_str_eq(text_of(json_array_get(motors, 1), "joint"), "pitch");
    json_decref(reply);
    must_say("$ctl describe wrist left --json", "\"torque_constant\": 0.05");
    must_say("$ctl describe wrist right", "resistance");
    json_t *description = read_description("wrist");
    json_object_del(json_object_get(json_array_get(json_object_get(description, "machine_elements"), 1), "shaft"),
                    "motor");
    load_as(description, "underactuated");
    json_decref(description);
    must_fail("$ctl call evaluate_motors '{\"query\": {\"model\": \"underactuated\"}, \"q\": [0, 0]}'", 1,
              "1 motors drive the 2 coordinates");
}
END_TEST

/* A motion without friction keeps the energy of the links and of all rotors. */
START_TEST(rollouts_move_shafts) {
    load("wrist");
    json_t *reply =
        run_json("$ctl call rollout '{\"query\": {\"model\": \"wrist\"}, \"q\": [0.2, 0.6], \"v\": [1, -2], "
                 "\"steps\": 1000, \"stepping\": {\"integrator\": \"INTEGRATOR_RK4\"}, "
                 "\"results\": [\"ROLLOUT_RESULT_Q\", \"ROLLOUT_RESULT_ENERGY\"]}'");
    const json_t *first = json_array_get(json_object_get(reply, "outcomes"), 0);
    ck_assert_ptr_nonnull(first);
    ck_assert_double_lt(fabs(member_of(first, "energy_drift")), 1e-6);
    ck_assert_double_gt(fabs(number_of(json_object_get(reply, "q"), 2001) - 0.6), 0.1);
    json_decref(reply);
}
END_TEST

/* Loads the wrist with friction on its left shaft and a brake on its right one, as "held_wrist". */
static void load_held_wrist(void) {
    static const char *const added[] = {
        "{\"name\": \"seal\", \"joint\": \"left\", \"friction\": {\"viscous\": [0.001], \"coulomb\": [0.02]}}",
        "{\"name\": \"hold\", \"joint\": \"right\", \"brake\": {\"torque\": 0.5}}"};
    json_t *description = read_description("wrist");
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        json_array_append_new(json_object_get(description, "machine_elements"), json_loads(added[i], 0, NULL));
    }
    load_as(description, "held_wrist");
    json_decref(description);
}

/* At the rate w = 30 (1 - 0.5) of the left shaft, its friction -(0.001 w + 0.02) acts 30 times on both joints. */
START_TEST(friction_and_brakes_act_on_shafts) {
    static const char *const query[2] = {"", ", \"passive_forces\": {\"damping\": true, \"friction\": true, "
                                             "\"friction_velocity\": 1e-6}"};
    const double r = -30 * (0.001 * 15 + 0.02);
    double tau[2][2], T[2][2];
    char line[512];
    load_held_wrist();
    for (int k = 0; k < 2; k++) {
        snprintf(line, sizeof line,
                 "$ctl call inverse_dynamics '{\"query\": {\"model\": \"held_wrist\"%s}, \"q\": [0.2, 0.6], "
                 "\"v\": [1, -0.5], \"a\": [2, 3]}'",
                 query[k]);
        json_t *inverse = run_json(line);
        snprintf(line, sizeof line,
                 "$ctl call evaluate_motors '{\"query\": {\"model\": \"held_wrist\"%s}, \"q\": [0.2, 0.6], "
                 "\"v\": [1, -0.5], \"a\": [2, 3], \"brakes\": [%s]}'",
                 query[k], k ? "\"hold\"" : "");
        json_t *motors = run_json(line);
        for (size_t i = 0; i < 2; i++) {
            tau[k][i] = number_of(json_object_get(inverse, "tau"), i);
            T[k][i] = number_of(json_object_get(motors, "torque"), i);
        }
        json_decref(inverse), json_decref(motors);
    }
    for (int i = 0; i < 2; i++) {
        ck_assert_double_eq_tol(tau[1][i], tau[0][i] - r, 1e-9);
    }
    ck_assert_double_eq_tol(T[1][0], T[0][0] - r / 30, 1e-9);
    ck_assert_double_eq_tol(T[1][1], T[0][1] - 0.5, 1e-9); /* the shaft turns backward, against the brake */
    must_say("$ctl explain held_wrist --v 1,-0.5 --passive friction", "friction");
    must_say("$ctl describe held_wrist | grep '^seal'", "left");
    /* The brake holds what turns the right shaft: pitch and roll remain equal. */
    for (int k = 0; k < 2; k++) {
        snprintf(line, sizeof line,
                 "$ctl call rollout '{\"query\": {\"model\": \"held_wrist\"}, \"q\": [1.2, 0.6], \"steps\": 300, "
                 "\"stepping\": {\"brakes\": [%s]}, \"results\": [\"ROLLOUT_RESULT_Q\"]}'",
                 k ? "\"hold\"" : "");
        json_t *reply = run_json(line);
        double slip = number_of(json_object_get(reply, "q"), 600) - number_of(json_object_get(reply, "q"), 601) - 0.6;
        ck_assert_msg(k ? fabs(slip) < 1e-3 : fabs(slip) > 0.02, "%d: %g", k, slip);
        json_decref(reply);
    }
}
END_TEST

/* Bristles on the right shaft carry less than the breakaway torque. It stays but for their deflection, as with the
 * brake above, while both joints fall together. */
START_TEST(bristles_hold_a_shaft) {
    json_t *description = read_description("wrist");
    json_array_append_new(json_object_get(description, "machine_elements"),
                          json_loads("{\"name\": \"seal\", \"joint\": \"right\", \"friction\": {\"coulomb\": [0.5], "
                                     "\"bristle_stiffness\": 50, \"bristle_damping\": 0.5}}",
                                     0, NULL));
    load_as(description, "bristled_wrist");
    json_decref(description);
    for (int k = 0; k < 2; k++) {
        char line[512];
        snprintf(line, sizeof line,
                 "$ctl call rollout '{\"query\": {\"model\": \"bristled_wrist\"}, \"q\": [1.2, 0.6], \"steps\": 300, "
                 "\"stepping\": {\"ignore_friction\": %s}, \"results\": [\"ROLLOUT_RESULT_Q\"]}'",
                 k ? "false" : "true");
        json_t *reply = run_json(line);
        const json_t *q = json_object_get(reply, "q");
        double slip = number_of(q, 600) - number_of(q, 601) - 0.6;
        ck_assert_msg(k ? fabs(slip) < 1e-3 && fabs(slip) > 1e-6 : fabs(slip) > 0.02, "%d: %g", k, slip);
        ck_assert_double_gt(fabs(number_of(q, 600) - 1.2), 0.005);
        json_decref(reply);
    }
}
END_TEST

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* A machine element in place of those of the arm, and the refusal: the member that the field ends with, and a text. */
typedef struct wrong_element {
    const char *element, *member, *said;
} wrong_element;

static const wrong_element wrong_elements[] = {
    {"{\"name\": \"x\", \"joint\": \"elbow\"}", "", "no kind"},
    {"{\"joint\": \"elbow\", \"spring\": {}}", "", "name"},
    {"{\"name\": \"x\", \"joint\": \"wrist\", \"spring\": {}}", ".joint", "there is no joint \"wrist\""},
    {"{\"name\": \"x\", \"spring\": {}}", ".joint", "name"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"rotor\": {\"axial_inertia\": 1}}", ".rotor.ratio", "ratio is 0"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"rotor\": {\"ratio\": 2}}", ".rotor.axial_inertia", "positive"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"rotor\": {\"ratio\": 2, \"axial_inertia\": -1}}",
     ".rotor.axial_inertia", "-1; state a positive number"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"rotor\": {\"ratio\": 2, \"axial_inertia\": 1, \"mass\": -3}}",
     ".rotor.mass", "-3"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"rotor\": {\"ratio\": 2, \"axial_inertia\": 1, "
     "\"transverse_inertia\": 1}}",
     ".rotor.transverse_inertia", "mass is zero"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"friction\": {\"viscous\": [1, -2]}}", ".friction.viscous[1]", "-2"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"friction\": {\"coulomb\": [-1]}}", ".friction.coulomb[0]", "-1"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"friction\": {\"viscous\": [1, 2, 3]}}", ".friction.viscous",
     "3 numbers"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"friction\": {\"coulomb\": [2], \"breakaway\": [1]}}",
     ".friction.breakaway[0]", "less than the Coulomb friction"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"friction\": {\"coulomb\": [2], \"bristle_damping\": 1}}",
     ".friction.bristle_damping", "without a stiffness"},
    {"{\"name\": \"x\", \"strut\": {\"link\": \"none\"}}", ".strut.link", "no link"},
    {"{\"name\": \"x\", \"fluid\": {\"link\": \"upper\", \"drag\": {\"y\": -1}}}", ".fluid.drag", "-1"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"bushing\": {\"link\": \"upper\"}}", ".joint", "leave it out"},
    {"{\"name\": \"x\", \"joint\": \"left\", \"brake\": {\"torque\": 1}}", ".joint", "there is no joint \"left\""},
    {"{\"name\": \"x\", \"shaft\": {\"joints\": [\"elbow\"], \"ratios\": [1, 2]}}", ".shaft.ratios",
     "1 joints and 2 ratios"},
    {"{\"name\": \"x\", \"shaft\": {\"joints\": [\"elbow\"], \"ratios\": [1], \"motor\": {\"resistance\": 1}}}",
     ".shaft.motor.torque_constant", "positive"},
    {"{\"name\": \"x\", \"shaft\": {\"joints\": [\"elbow\"], \"ratios\": [0]}}", ".shaft.ratios", "is 0"},
    {"{\"name\": \"x\", \"shaft\": {\"joints\": [\"wrist\"], \"ratios\": [1]}}", ".shaft.joints",
     "there is no joint \"wrist\""},
    {"{\"name\": \"x\", \"shaft\": {\"joints\": [\"elbow\"], \"ratios\": [1], \"link\": \"foot\"}}", ".shaft.link",
     "there is no link"},
    {"{\"name\": \"x\", \"shaft\": {\"joints\": [\"elbow\"], \"ratios\": [1], \"rotor\": {\"axial_inertia\": "
     "-2}}}",
     ".shaft.rotor.axial_inertia", "-2"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"friction\": {\"bristle_stiffness\": 1}}", ".friction.coulomb[0]",
     "state a positive number"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"friction\": {\"breakaway\": [1]}}", ".friction.stribeck_velocity",
     "Stribeck"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"friction\": {\"side\": \"GEAR_SIDE_ROTOR\"}}", ".friction.side",
     "0 rotors"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"spring\": {\"stiffness\": -1}}", ".spring.stiffness", "-1"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"motor\": {\"torque_constant\": 1}}", ".motor.resistance", "positive"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"motor\": {\"nominal\": {\"voltage\": 24}}}",
     ".motor.nominal.no_load_speed", "speed without load is 0"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"gear\": {\"efficiency\": 1.5}}", ".gear.efficiency", "at most one"},
    {"{\"name\": \"x\", \"joint\": \"elbow\", \"gear\": {\"back_driving_efficiency\": -1}}",
     ".gear.back_driving_efficiency", "zero to one"},
};

START_TEST(a_wrong_element_is_refused_at_its_member) {
    json_t *description = read_description("geared_arm");
    for (size_t i = 0; i < sizeof wrong_elements / sizeof *wrong_elements; i++) {
        const wrong_element *w = &wrong_elements[i];
        char line[512], field[160];
        json_t *element = json_loads(w->element, 0, NULL);
        ck_assert_msg(element != NULL, "%s", w->element);
        json_object_set_new(description, "machine_elements", json_pack("[o]", element));
        ck_assert_int_eq(json_dump_file(description, scratch("wrong.json"), 0), 0);
        snprintf(line, sizeof line, "$ctl load --name wrong --description %s", scratch("wrong.json"));
        snprintf(field, sizeof field, "machine_elements[0]%s: ", w->member);
        must_fail(line, 1, field);
        must_fail(line, 1, w->said);
    }
    json_decref(description);
}
END_TEST

/* An element on the lines 8 to 10 of a description, and the line at fault. */
START_TEST(a_wrong_element_is_refused_with_its_line) {
    static const struct {
        const char *member, *value, *path;
        int line;
    } wrong[] = {
        {"rotor", "\"axial_inertia\": 1,\n\"ratio\": 0", "machine_elements[1].rotor.ratio", 10},
        {"rotor", "\"ratio\": 2,\n\"axial_inertia\": -1", "machine_elements[1].rotor.axial_inertia", 10},
        {"friction", "\"side\": 1,\n\"coulomb\": [1,\n-2]", "machine_elements[1].friction.coulomb[1]", 11},
        {"gear", "\"efficiency\": 1.5", "machine_elements[1].gear.efficiency", 9},
        {"gear", "\"ratio\": 2,\n\"back_driving_efficiency\": 1.5", "machine_elements[1].gear.back_driving_efficiency",
         10},
        {"friction", "\"viscous\":\n[-1]", "machine_elements[1].friction.viscous[0]", 10},
        {"shaft", "\"joints\": [\"j\"],\n\"ratios\": [1, 2]", "machine_elements[1].shaft.ratios", 10},
        {"shaft", "\"joints\": [\"j\"],\n\"ratios\": [0]", "machine_elements[1].shaft.ratios", 10},
        {"motor", "\"inductance\": 1", "machine_elements[1].motor.resistance", 9},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[512], said[512];
        FILE *file = fopen(scratch("wrong.json"), "w");
        ck_assert_ptr_nonnull(file);
        fprintf(
            file,
            "{\"name\": \"x\",\n\"links\": [{\"name\": \"a\"}, {\"name\": \"b\"}],\n\"joints\": [\n{\"name\": \"j\", "
            "\"type\": \"JOINT_TYPE_CONTINUOUS\",\n\"parent_link\": \"a\", \"child_link\": \"b\", \"axis\": {\"z\": "
            "1}}],\n"
            "\"machine_elements\": [\n{\"name\": \"s \\\"[{,\", \"joint\": \"j\", \"spring\": {}},\n{\"name\": \"x\", "
            "\"joint\": \"%s\", \"%s\":\n{%s}}]}\n",
            strcmp(wrong[i].member, "shaft") == 0 ? "" : "j", wrong[i].member, wrong[i].value);
        ck_assert_int_eq(fclose(file), 0);
        snprintf(line, sizeof line, "$ctl load --name wrong --description %s", scratch("wrong.json"));
        snprintf(said, sizeof said, "wrong.json:%d: ", wrong[i].line);
        must_fail(line, 1, said);
        must_fail(line, 1, wrong[i].path);
        snprintf(line, sizeof line, "$ctl load --name wrong %s", scratch("wrong.json"));
        must_fail(line, 1, said);
    }
}
END_TEST

/* Joint, transmissions and couplings of a URDF document, which begin in line 8, and the refusal. */
typedef struct wrong_document {
    const char *joint, *elements;
    int line;
    const char *said;
} wrong_document;

#define SIMPLE(joint, actuator)                                                                                        \
    "<transmission name=\"t\"><type>transmission_interface/SimpleTransmission</type>\n"                                \
    "<joint name=\"" joint "\"/>\n"                                                                                    \
    "<actuator name=\"m\">" actuator "</actuator></transmission>\n"
#define ROS2_CONTROL(joints)                                                                                           \
    "<ros2_control name=\"c\" type=\"system\"><transmission name=\"t\">\n"                                             \
    "<plugin>transmission_interface/SimpleTransmission</plugin>\n"                                                     \
    "<actuator name=\"m\" role=\"actuator1\"/>\n" joints "</transmission></ros2_control>\n"
#define COUPLING(predecessor, ratio)                                                                                   \
    "<coupling name=\"t\">\n<predecessor link=\"" predecessor "\"/><successor link=\"hand\"/>\n" ratio "</coupling>\n"

static const wrong_document wrong_documents[] = {
    /* Ratios of zero. */
    {"", SIMPLE("elbow", "<mechanicalReduction>0</mechanicalReduction>"), 10, "transmission t: the reduction is"},
    {"", SIMPLE("elbow", "<drake:gear_ratio value=\"0\"/>"), 10, "transmission t: the gear ratio is 0"},
    {"", ROS2_CONTROL("<joint name=\"elbow\"><mechanical_reduction>0</mechanical_reduction></joint>\n"), 11,
     "transmission t: the reduction is"},
    {"", COUPLING("arm", "<ratio value=\"0\"/>"), 10, "constraint t: <ratio> has value=\"0\""},
    /* Negative friction. */
    {"<dynamics damping=\"-0.5\"/>", "", 7, "joint elbow: <dynamics> has damping=\"-0.5\""},
    {"<dynamics damping=\"1\" friction=\"-2\"/>", "", 7, "joint elbow: <dynamics> has friction=\"-2\""},
    /* Negative inertias. */
    {"", SIMPLE("elbow", "<drake:rotor_inertia value=\"-1\"/>"), 10, "transmission t: the inertia of the rotor is -1"},
    /* Joints and links that are missing. */
    {"", SIMPLE("ankle", ""), 8, "t: there is no joint \"ankle\""},
    {"", ROS2_CONTROL("<joint name=\"ankle\"/>\n"), 8, "t: there is no joint \"ankle\""},
    {"", COUPLING("foot", "<ratio value=\"2\"/>"), 8, "constraint t: there is no link foot"},
    /* Couplings of a wrong size. */
    {"",
     "<transmission name=\"t\"><type>transmission_interface/DifferentialTransmission</type>\n"
     "<joint name=\"elbow\"/><actuator name=\"a\"/><actuator name=\"b\"/></transmission>\n",
     9, "transmission t: it has 1 joints and 2 actuators; a DifferentialTransmission has 2 of each"},
    {"", ROS2_CONTROL("<joint name=\"elbow\"/><joint name=\"wrist\"/>\n"), 12, "2 joints and 1 actuators"},
    {"", COUPLING("base", "<ratio value=\"2\"/>"), 8, "constraint t: 0 moving joints are between the link base"},
};

START_TEST(wrong_elements_of_urdf_documents_are_refused_with_their_line) {
    for (size_t i = 0; i < sizeof wrong_documents / sizeof *wrong_documents; i++) {
        const wrong_document *w = &wrong_documents[i];
        char line[512], place[64];
        FILE *file = fopen(scratch("wrong.urdf"), "w");
        ck_assert_ptr_nonnull(file);
        fprintf(file,
                "<robot name=\"geared\" xmlns:drake=\"http://drake.mit.edu\">\n<link name=\"base\"/>\n"
                "<link name=\"arm\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" "
                "iyz=\"0\" izz=\"1\"/></inertial></link>\n"
                "<link name=\"hand\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" "
                "iyz=\"0\" izz=\"1\"/></inertial></link>\n"
                "<joint name=\"wrist\" type=\"continuous\"><parent link=\"arm\"/><child link=\"hand\"/></joint>\n"
                "<joint name=\"elbow\" type=\"continuous\"><parent link=\"base\"/><child link=\"arm\"/>\n"
                "%s</joint>\n%s</robot>\n",
                w->joint, w->elements);
        ck_assert_int_eq(fclose(file), 0);
        snprintf(line, sizeof line, "$ctl load --name wrong --transmissions %s", scratch("wrong.urdf"));
        snprintf(place, sizeof place, "wrong.urdf:%d: ", w->line);
        must_fail(line, 1, place);
        must_fail(line, 1, w->said);
    }
}
END_TEST

START_TEST(negative_friction_of_a_joint_is_refused_at_its_member) {
    static const char *const members[] = {"damping", "friction"};
    for (size_t i = 0; i < 2; i++) {
        char line[512], field[64];
        json_t *description = read_description("geared_arm");
        json_object_set_new(json_array_get(json_object_get(description, "joints"), 1), members[i], json_real(-0.5));
        ck_assert_int_eq(json_dump_file(description, scratch("wrong.json"), JSON_INDENT(1)), 0);
        snprintf(line, sizeof line, "$ctl load --name wrong --description %s", scratch("wrong.json"));
        snprintf(field, sizeof field, "joints[1].%s: ", members[i]);
        must_fail(line, 1, field);
        must_fail(line, 1, "is -0.5; set a number that is not negative");
        json_decref(description);
    }
}
END_TEST

START_TEST(too_many_elements_are_refused_with_the_limit) {
    char line[512], name[16];
    json_t *description = read_description("geared_arm"), *list = json_array();
    for (int i = 0; i <= 1000; i++) {
        snprintf(name, sizeof name, "spring %d", i);
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:{s:i}}", "name", name, "joint", "elbow", "spring", "stiffness", 1));
    }
    json_object_set_new(description, "machine_elements", list);
    ck_assert_int_eq(json_dump_file(description, scratch("many.json"), 0), 0);
    snprintf(line, sizeof line, "$ctl load --name many --description %s", scratch("many.json"));
    must_fail(line, 1, "machine_elements: the model has 1001 machine elements; the limit is 1000");
    json_array_remove(list, 1000);
    ck_assert_int_eq(json_dump_file(description, scratch("many.json"), 0), 0);
    must_say(line, "many: ");
    json_decref(description);
}
END_TEST

/* ---- flexible beams ---------------------------------------------------------------------------------------------- */

START_TEST(a_flexible_beam_is_described_by_its_joints_and_springs) {
    char line[512];
    load("flexible_arm");
    json_t *robot = run_json("$ctl describe flexible_arm --json"), *list = json_object_get(robot, "machine_elements");
    ck_assert_uint_eq(json_array_size(list), 3);
    ck_assert_str_eq(text_of(json_array_get(list, 0), "name"), "coil");
    ck_assert_str_eq(text_of(json_array_get(list, 1), "name"), "strip:mode1");
    /* (b L)^4 E I / (4 L^3) */
    ck_assert_double_eq_tol(member_of(json_array_get(list, 1), "stiffness"), 12.36236337 * 3.2 / (4 * 0.512), 1e-6);
    json_decref(robot);
    must_say("$ctl describe flexible_arm strip:mode2", "prismatic");
    snprintf(line, sizeof line, "$ctl export flexible_arm --format description > %s", scratch("beam.json"));
    must_say(line, "");
    snprintf(line, sizeof line, "$ctl load --replace --name beam --description %s", scratch("beam.json"));
    must_say(line, "beam: ");
    char *digest = digest_of("flexible_arm"), *again = digest_of("beam");
    ck_assert_str_eq(digest, again);
    free(digest), free(again);
}
END_TEST

/* Returns the deflection of the beam's end under forces of its modes. */
static double deflection(const json_t *tau) {
    return number_of(tau, 1) / (12.36236337 * 3.2 / (4 * 0.512)) +
           number_of(tau, 2) / (485.5188188 * 3.2 / (4 * 0.512));
}

START_TEST(a_flexible_beam_bends_under_the_load_at_its_end) {
    load("flexible_arm");
    json_t *free_end = run_json("$ctl call inverse_dynamics '{\"query\": {\"model\": \"flexible_arm\"}, "
                                "\"q\": [0, 0, 0]}'");
    json_t *loaded = run_json("$ctl call inverse_dynamics '{\"query\": {\"model\": \"flexible_arm\", "
                              "\"external_forces\": [{\"link\": \"tool\", \"reference_frame\": "
                              "\"REFERENCE_FRAME_LOCAL_WORLD_ALIGNED\", \"force\": [0, 0, -1]}]}, \"q\": [0, 0, 0]}'");
    double bent = deflection(json_object_get(loaded, "tau")) - deflection(json_object_get(free_end, "tau"));
    /* F L^3 / (3 E I), less 0.46 % with two modes. */
    ck_assert_double_eq_tol(bent, 0.995402 * 0.512 / (3 * 3.2), 1e-6);
    json_decref(loaded);
    json_decref(free_end);
}
END_TEST

START_TEST(a_flexible_beam_moves_in_rollouts) {
    load("flexible_arm");
    json_t *reply = run_json("$ctl call rollout '{\"query\": {\"model\": \"flexible_arm\"}, \"q\": [0, 0.02, 0], "
                             "\"stepping\": {\"integrator\": \"INTEGRATOR_RK4\", \"step_length\": 0.0005, "
                             "\"ignore_damping\": true}, \"steps\": 1000, \"results\": [\"ROLLOUT_RESULT_Q\", "
                             "\"ROLLOUT_RESULT_ENERGY\"]}'");
    ck_assert_double_lt(member_of(json_array_get(json_object_get(reply, "outcomes"), 0), "energy_drift"), 1e-5);
    json_decref(reply);
}
END_TEST

/* Loads a description that the daemon refuses. */
static void must_refuse(const json_t *description, const char *said) {
    char line[512];
    ck_assert_int_eq(json_dump_file(description, scratch("wrong.json"), 0), 0);
    snprintf(line, sizeof line, "$ctl load --name wrong --description %s", scratch("wrong.json"));
    must_fail(line, 1, said);
}

START_TEST(a_wrong_flexible_beam_is_refused_at_its_member) {
    json_t *description = read_description("flexible_arm");
    json_t *list = json_object_get(description, "machine_elements"), *strip = json_array_get(list, 0);
    json_t *beam = json_object_get(strip, "flexible_beam");
    json_object_set_new(strip, "joint", json_string("shoulder"));
    must_refuse(description, "machine_elements[0].joint: ");
    json_object_set_new(strip, "joint", json_string("weld"));
    json_object_set_new(beam, "rigidity", json_real(-1));
    must_refuse(description, "machine_elements[0].flexible_beam.rigidity: ");
    json_object_set_new(beam, "rigidity", json_real(1));
    json_object_set_new(beam, "modes", json_integer(7));
    must_refuse(description, "machine_elements[0].flexible_beam.modes: ");
    json_object_set_new(beam, "modes", json_integer(1));
    json_object_set_new(json_array_get(list, 1), "joint", json_string("elbow"));
    must_refuse(description, "machine_elements[1].joint: ");
    json_decref(description);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("machine elements");
    tcase_set_timeout(all, 120);
    tcase_add_unchecked_fixture(all, command_line_start, command_line_stop);
    tcase_add_test(all, describe_shows_elements_of_every_kind);
    tcase_add_test(all, an_exported_model_loads_with_the_same_elements);
    tcase_add_test(all, elements_change_the_digest);
    tcase_add_test(all, urdf_export_names_the_element_that_it_cannot_state);
    tcase_add_test(all, derived_models_carry_the_elements_of_their_joints);
    tcase_add_test(all, kept_models_have_their_elements_after_a_restart);
    tcase_add_test(all, a_geared_arm_has_the_published_mass_matrix);
    tcase_add_test(all, forward_dynamics_inverts_inverse_dynamics_with_rotors);
    tcase_add_test(all, explain_states_rotors_and_passive_forces_as_terms);
    tcase_add_test(all, regressors_and_rotors_add_up_to_the_inverse_dynamics);
    tcase_add_test(all, evaluate_states_the_error_of_the_diagonal_approximation);
    tcase_add_test(all, rotors_exert_wrenches_on_their_housings);
    tcase_add_test(all, evaluate_states_passive_forces_by_kind_and_their_power);
    tcase_add_test(all, rollouts_apply_springs_and_friction);
    tcase_add_test(all, springs_count_in_the_energy_of_rollouts);
    tcase_add_test(all, inverse_dynamics_counts_the_passive_forces_that_are_asked_for);
    tcase_add_test(all, forward_dynamics_inverts_inverse_dynamics_with_passive_forces);
    tcase_add_test(all, rollouts_move_bristles);
    tcase_add_test(all, forces_on_links_count_in_all_methods);
    tcase_add_test(all, shafts_add_their_full_matrix);
    tcase_add_test(all, rollouts_move_shafts);
    tcase_add_test(all, friction_and_brakes_act_on_shafts);
    tcase_add_test(all, bristles_hold_a_shaft);
    tcase_add_test(all, evaluate_motors_solves_the_coupling_matrix);
    tcase_add_test(all, bristles_go_on_after_a_restart);
    tcase_add_test(all, recordings_that_begin_with_deflected_bristles_are_replayed);
    tcase_add_test(all, rollouts_engage_brakes_and_count_the_losses_of_gears);
    tcase_add_test(all, inverse_and_forward_dynamics_count_the_losses_of_gears);
    tcase_add_test(all, losses_of_gears_count_with_constraints_rows_and_a_moving_base);
    tcase_add_test(all, formulations_count_the_losses_of_gears);
    tcase_add_test(all, explain_states_constraints_and_losses_of_gears_as_terms);
    tcase_add_test(all, friction_laws_are_those_of_their_figures);
    tcase_add_test(all, gears_have_friction_in_proportion_to_their_load);
    tcase_add_test(all, passive_forces_are_refused_where_they_do_not_count);
    tcase_add_test(all, a_wrong_element_is_refused_at_its_member);
    tcase_add_test(all, a_wrong_element_is_refused_with_its_line);
    tcase_add_test(all, wrong_elements_of_urdf_documents_are_refused_with_their_line);
    tcase_add_test(all, negative_friction_of_a_joint_is_refused_at_its_member);
    tcase_add_test(all, too_many_elements_are_refused_with_the_limit);
    tcase_add_test(all, a_flexible_beam_is_described_by_its_joints_and_springs);
    tcase_add_test(all, a_flexible_beam_bends_under_the_load_at_its_end);
    tcase_add_test(all, a_flexible_beam_moves_in_rollouts);
    tcase_add_test(all, a_wrong_flexible_beam_is_refused_at_its_member);
    return run_unforked("machine_elements", all);
}
