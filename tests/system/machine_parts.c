/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks gears on shafts in the daemon, and requests that leave out rotors: results are those of the equations and of
 * models without rotors, and replies state what counted.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/command_line.h"
#include "system/runner.h"

#define DESCRIPTIONS DYNAMICS_TEST_DATA "/machine_elements/"
#define SMOOTH "{\"ignore_friction\": true, \"ignore_damping\": true}"

/* Reads a description from the tests' data. The caller releases it. */
static json_t *read_description(const char *model) {
    char path[512];
    snprintf(path, sizeof path, DESCRIPTIONS "%.64s.json", model);
    json_t *description = json_load_file(path, 0, NULL);
    ck_assert_msg(description != NULL, "%s", path);
    return description;
}

/* Loads a description, which is released, under a name. */
static void load_as(json_t *description, const char *name) {
    char line[512];
    ck_assert_int_eq(json_dump_file(description, scratch("model.json"), 0), 0);
    snprintf(line, sizeof line, "$ctl load --replace --name %s --description %s", name, scratch("model.json"));
    must_say(line, ": ");
    json_decref(description);
}

/* Calls a method with a query and more members of its request. The caller releases the reply. */
static json_t *ask(const char *method, const char *query, const char *members) {
    char line[1024];
    snprintf(line, sizeof line, "$ctl call %s '{\"query\": {%s}%s}'", method, query, members);
    return run_json(line);
}

/* Asserts that two arrays have equal numbers, within a share of the largest one. */
static void expect_numbers(const json_t *own, const json_t *expected, double tolerance) {
    double most = 1;
    ck_assert_uint_eq(json_array_size(own), json_array_size(expected));
    ck_assert_uint_gt(json_array_size(own), 0);
    for (size_t i = 0; i < json_array_size(own); i++) {
        most = fmax(most, fabs(number_of(expected, i)));
    }
    for (size_t i = 0; i < json_array_size(own); i++) {
        ck_assert_double_eq_tol(number_of(own, i), number_of(expected, i), tolerance * most);
    }
}

/* ---- gears on shafts --------------------------------------------------------------------------------------------- */

#define GEARED                                                                                                         \
    "\"model\": \"geared_wrist\", \"passive_forces\": {\"damping\": true, \"friction\": true, \"gear_losses\": true, " \
    "\"friction_velocity\": 1e-6}"
#define WRIST_STATE ", \"q\": [0.2, 0.6], \"v\": [1, -0.4]"

/* tau = G' T: the forces of the joints are those of the motors, whose gears lose a part of what they transmit. */
START_TEST(forces_with_losses_are_those_of_the_motors_of_shafts) {
    load_as(read_description("geared_wrist"), "geared_wrist");
    json_t *inverse = ask("inverse_dynamics", GEARED, WRIST_STATE ", \"a\": [2, 3]");
    json_t *motors = ask("evaluate_motors", GEARED, WRIST_STATE ", \"a\": [2, 3]");
    const json_t *tau = json_object_get(inverse, "tau"), *T = json_object_get(motors, "torque");
    const json_t *load = json_object_get(motors, "load"), *loss = json_object_get(motors, "gear_loss");
    ck_assert_double_eq_tol(number_of(tau, 0), 30 * number_of(T, 0) - 20 * number_of(T, 1), 1e-9);
    ck_assert_double_eq_tol(number_of(tau, 1), 30 * number_of(T, 0) + 20 * number_of(T, 1), 1e-9);
    /* The left motor drives its load or is driven by it; so does the right one. */
    const double w[2] = {30 * 0.6, -20 * 1.4}, back[2] = {0.6, 0.7}, forward[2] = {0.8, 0.7};
    for (size_t i = 0; i < 2; i++) {
        double power = number_of(load, i) * w[i];
        double expected = power > 0 ? power * (1 / forward[i] - 1) : -power * (1 - back[i]);
        ck_assert_double_gt(expected, 0.01);
        ck_assert_double_eq_tol(number_of(loss, i), expected, 1e-12);
    }
    char members[256];
    snprintf(members, sizeof members, WRIST_STATE ", \"tau\": [%.17g, %.17g]", number_of(tau, 0), number_of(tau, 1));
    json_t *forward_dynamics = ask("forward_dynamics", GEARED, members);
    ck_assert_double_eq_tol(number_of(json_object_get(forward_dynamics, "a"), 0), 2, 1e-8);
    ck_assert_double_eq_tol(number_of(json_object_get(forward_dynamics, "a"), 1), 3, 1e-8);
    json_decref(inverse), json_decref(motors), json_decref(forward_dynamics);
    must_say("$ctl explain geared_wrist --v 1,-0.4 --passive gears", "gear_loss");
    must_say("$ctl describe geared_wrist | grep '^left gear'", "left");
    must_say("$ctl call evaluate_motors '{\"query\": {" GEARED "}" WRIST_STATE ", \"a\": [400, 300]}'",
             "MOTOR_LIMIT_GEAR_TORQUE");
}
END_TEST

/* A motion without forces loses energy to the gears of its shafts, and none without their losses. */
START_TEST(rollouts_count_the_losses_of_gears_on_shafts) {
    json_t *description = read_description("geared_wrist");
    json_array_remove(json_object_get(description, "machine_elements"), 4); /* the seal */
    load_as(description, "smooth_wrist");
    double drift[2];
    for (int k = 0; k < 2; k++) {
        char members[256];
        snprintf(members, sizeof members,
                 ", \"q\": [0.2, 0.6], \"v\": [1, -2], \"steps\": 500, \"stepping\": {\"integrator\": "
                 "\"INTEGRATOR_RK4\", \"ignore_gear_losses\": %s}, \"results\": [\"ROLLOUT_RESULT_ENERGY\"]",
                 k ? "true" : "false");
        json_t *reply = ask("rollout", "\"model\": \"smooth_wrist\"", members);
        const json_t *first = json_array_get(json_object_get(reply, "outcomes"), 0);
        drift[k] = json_number_value(json_object_get(first, "energy_drift"));
        json_decref(reply);
    }
    ck_assert_double_gt(drift[0], 0.1);
    ck_assert_double_lt(fabs(drift[1]), 1e-6);
}
END_TEST

START_TEST(gears_that_do_not_fit_a_shaft_are_refused_at_their_member) {
    static const struct {
        const char *element, *fragment;
    } cases[] = {
        {"{\"name\": \"x\", \"joint\": \"left\", \"gear\": {\"ratio\": 3, \"efficiency\": 0.9}}", "gear.ratio"},
        {"{\"name\": \"x\", \"joint\": \"left\", \"gear\": {\"efficiency\": 1.5}}", "efficiency"},
        {"{\"name\": \"x\", \"joint\": \"middle\", \"gear\": {}}", "there is no joint"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *description = read_description("wrist");
        char line[512];
        json_array_append_new(json_object_get(description, "machine_elements"), json_loads(cases[i].element, 0, NULL));
        ck_assert_int_eq(json_dump_file(description, scratch("model.json"), 0), 0);
        snprintf(line, sizeof line, "$ctl load --name bad --description %s", scratch("model.json"));
        must_fail(line, 1, cases[i].fragment);
        json_decref(description);
    }
}
END_TEST

/* ---- requests without rotors ------------------------------------------------------------------------------------- */

/* Loads a description and the same one without its rotors, as "whole" and "bare". */
static void load_whole_and_bare(void) {
    json_t *description = read_description("every_kind"), *list = json_object_get(description, "machine_elements");
    load_as(json_deep_copy(description), "whole");
    for (size_t i = json_array_size(list); i-- > 0;) {
        json_t *e = json_array_get(list, i), *friction = json_object_get(e, "friction");
        bool is_of_rotor = friction && json_object_get(friction, "side");
        if (json_object_get(e, "rotor") || is_of_rotor) {
            json_array_remove(list, i);
        }
    }
    load_as(description, "bare");
}

/* Every method computes the robot without its rotors as it does the model that has none, to the last bit. Its rotors
 * rest on axes that keep their directions, so that they add to neither g nor h. */
START_TEST(requests_without_rotors_are_those_of_the_model_that_has_none) {
    static const struct {
        const char *method, *members, *result;
        bool feels_rotors;
    } cases[] = {
        {"inverse_dynamics", ", \"q\": [0.3, -0.8, 0.2], \"v\": [1, -2, 0.5], \"a\": [2, 3, -1]", "tau", true},
        {"forward_dynamics", ", \"q\": [0.3, -0.8, 0.2], \"v\": [1, -2, 0.5], \"tau\": [2, 3, -1]", "a", true},
        {"mass_matrix", ", \"q\": [0.3, -0.8, 0.2]", "mass_matrix", true},
        {"gravity", ", \"q\": [0.3, -0.8, 0.2]", "g", false},
        {"bias_forces", ", \"q\": [0.3, -0.8, 0.2], \"v\": [1, -2, 0.5]", "h", false},
        {"rollout",
         ", \"q\": [0.3, -0.8, 0.2], \"steps\": 20, \"stepping\": " SMOOTH ", \"results\": [\"ROLLOUT_RESULT_Q\"]", "q",
         true},
        {"inverse_dynamics_trajectory",
         ", \"time\": [0, 0.1, 0.2], \"q\": [0.3, -0.8, 0.2, 0.4, -0.7, 0.1, 0.5, -0.7, 0.1], \"rates\": "
         "\"RATES_SPLINE\"",
         "tau", true},
    };
    load_whole_and_bare();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *without = ask(cases[i].method, "\"model\": \"whole\", \"without_rotors\": true", cases[i].members);
        json_t *bare = ask(cases[i].method, "\"model\": \"bare\"", cases[i].members);
        json_t *whole = ask(cases[i].method, "\"model\": \"whole\"", cases[i].members);
        const json_t *own = json_object_get(without, cases[i].result);
        ck_assert_uint_gt(json_array_size(own), 0);
        ck_assert_msg(json_equal(own, json_object_get(bare, cases[i].result)), "%s", cases[i].method);
        bool is_equal = json_equal(own, json_object_get(whole, cases[i].result));
        ck_assert_msg(is_equal == !cases[i].feels_rotors, "%s", cases[i].method);
        json_decref(without), json_decref(bare), json_decref(whole);
    }
}
END_TEST

/* The rotors are what a request leaves out: Evaluate states their forces, and Explain their term. */
START_TEST(forces_of_rotors_are_what_a_request_without_them_leaves_out) {
    static const char motion[] = ", \"q\": [0.3, -0.8, 0.2], \"v\": [1, -2, 0.5], \"a\": [2, 3, -1]";
    load_whole_and_bare();
    json_t *whole = ask("inverse_dynamics", "\"model\": \"whole\"", motion);
    json_t *without = ask("inverse_dynamics", "\"model\": \"whole\", \"without_rotors\": true", motion);
    json_t *terms = ask("explain", "\"model\": \"whole\"", motion);
    json_t *fewer = ask("explain", "\"model\": \"whole\", \"without_rotors\": true", motion);
    const json_t *rotor = NULL, *list = json_object_get(terms, "terms");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *term = json_array_get(list, i);
        bool is_rotor = strcmp(json_string_value(json_object_get(term, "name")), "rotor") == 0;
        rotor = is_rotor ? json_object_get(term, "tau") : rotor;
    }
    for (size_t k = 0; k < 3; k++) {
        double left_out = number_of(json_object_get(whole, "tau"), k) - number_of(json_object_get(without, "tau"), k);
        ck_assert_double_eq_tol(left_out, number_of(rotor, k), 1e-11);
    }
    ck_assert_uint_eq(json_array_size(json_object_get(fewer, "terms")), json_array_size(list) - 1);
    expect_numbers(json_object_get(fewer, "tau"), json_object_get(without, "tau"), 1e-12);
    json_decref(whole), json_decref(without), json_decref(terms), json_decref(fewer);
}
END_TEST

/* Friction on the side of the rotor keeps the ratio of its gear, and motors keep theirs. Shafts have no inertia. */
START_TEST(gears_keep_their_ratios_without_rotors) {
    static const char passive[] = "\"passive_forces\": {\"damping\": true, \"friction\": true}";
    static const char motion[] = ", \"q\": [0.3, -0.8, 0.2], \"v\": [1, -2, 0.5], \"a\": [2, 3, -1]";
    char query[256];
    double r[2][3];
    load_whole_and_bare();
    for (int k = 0; k < 2; k++) {
        const char *flag = k ? ", \"without_rotors\": true" : "";
        snprintf(query, sizeof query, "\"model\": \"whole\", %s%s", passive, flag);
        json_t *with = ask("inverse_dynamics", query, motion);
        snprintf(query, sizeof query, "\"model\": \"whole\"%s", flag);
        json_t *alone = ask("inverse_dynamics", query, motion);
        for (size_t i = 0; i < 3; i++) {
            r[k][i] = number_of(json_object_get(with, "tau"), i) - number_of(json_object_get(alone, "tau"), i);
        }
        json_decref(with), json_decref(alone);
    }
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(r[1][i], r[0][i], 1e-9);
    }
    load_as(read_description("geared_wrist"), "geared_wrist");
    json_t *motors =
        ask("evaluate_motors", "\"model\": \"geared_wrist\", \"without_rotors\": true", WRIST_STATE ", \"a\": [2, 3]");
    json_t *load = ask("evaluate_motors", "\"model\": \"geared_wrist\"", WRIST_STATE ", \"a\": [2, 3]");
    expect_numbers(json_object_get(motors, "load"), json_object_get(load, "load"), 1e-12);
    ck_assert(json_equal(json_object_get(motors, "speed"), json_object_get(load, "speed")));
    ck_assert(!json_equal(json_object_get(motors, "torque"), json_object_get(load, "torque")));
    json_decref(motors), json_decref(load);
}
END_TEST

START_TEST(replies_and_commands_state_that_rotors_were_left_out) {
    load_whole_and_bare();
    must_say("$ctl call mass_matrix '{\"query\": {\"model\": \"whole\", \"without_rotors\": true}, \"q\": [0, 0, 0]}' "
             "2>&1 >/dev/null",
             "without the rotors of the model");
    must_say("$ctl call mass_matrix '{\"query\": {\"model\": \"whole\"}, \"q\": [0, 0, 0]}' 2>&1 >/dev/null", "");
    must_say("test \"$($ctl id whole --a 1,2,3 --without-rotors --json)\" = \"$($ctl id bare --a 1,2,3 --json)\" && "
             "echo same",
             "same");
    must_say("$ctl rollout whole --without-rotors --duration 0.01 --json | tail -n 1", "]");
    must_fail("$ctl call kinematics '{\"query\": {\"model\": \"whole\", \"without_rotors\": true}, \"q\": [0, 0, 0], "
              "\"frames\": [\"base\"]}'",
              1, "kinematics.query.without_rotors");
}
END_TEST

/* A simulation without rotors goes on without them after a restart of the daemon. */
START_TEST(simulations_stay_without_rotors) {
    char line[512];
    json_t *states[2];
    for (int k = 0; k < 2; k++) {
        load_whole_and_bare();
        snprintf(line, sizeof line, ", \"name\": \"%s\", \"q\": [0.3, -0.8, 0.2], \"stepping\": " SMOOTH,
                 k ? "left" : "own");
        json_t *created = ask("create_simulation",
                              k ? "\"model\": \"whole\", \"without_rotors\": true" : "\"model\": \"bare\"", line);
        long long token = json_integer_value(json_object_get(created, "token"));
        json_decref(created);
        daemon_restart(&served);
        snprintf(line, sizeof line,
                 "$ctl call step_simulation '{\"simulation\": \"%s\", \"token\": %lld, \"steps\": 50}'",
                 k ? "left" : "own", token);
        states[k] = run_json(line);
    }
    ck_assert(json_equal(json_object_get(json_object_get(states[0], "state"), "q"),
                         json_object_get(json_object_get(states[1], "state"), "q")));
    json_decref(states[0]), json_decref(states[1]);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("machine parts");
    tcase_add_unchecked_fixture(all, command_line_start, command_line_stop);
    tcase_add_test(all, forces_with_losses_are_those_of_the_motors_of_shafts);
    tcase_add_test(all, rollouts_count_the_losses_of_gears_on_shafts);
    tcase_add_test(all, gears_that_do_not_fit_a_shaft_are_refused_at_their_member);
    tcase_add_test(all, requests_without_rotors_are_those_of_the_model_that_has_none);
    tcase_add_test(all, forces_of_rotors_are_what_a_request_without_them_leaves_out);
    tcase_add_test(all, gears_keep_their_ratios_without_rotors);
    tcase_add_test(all, replies_and_commands_state_that_rotors_were_left_out);
    tcase_add_test(all, simulations_stay_without_rotors);
    return run_unforked("machine_parts", all);
}
