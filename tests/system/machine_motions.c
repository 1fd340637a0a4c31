/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks motions of machine elements in rollouts of the daemon against published ones: a block that sticks and slips on
 * a belt, the resonance frequencies of a series-elastic joint, those of a cantilever, and friction that takes energy.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/command_line.h"
#include "system/runner.h"

static const double PI = 3.14159265358979323846;

/* Loads a description from its text. */
static void load_text(const char *name, const char *text) {
    char line[512];
    write_file(scratch("model.json"), text);
    snprintf(line, sizeof line, "$ctl load --replace --name %s --description %s", name, scratch("model.json"));
    must_say(line, ": ");
}

/* ---- A block on a belt ------------------------------------------------------------------------------------------- */

/* Parameters of table 1 of Canudas de Wit, Olsson, Astrom and Lischinsky 1995, and the mass, spring and rate of its
 * figure 3: the belt, which is heavy, moves at 0.1 m/s, and a spring of 2 N/m holds the block of 1 kg. */
#define BELT                                                                                                           \
    "{\"name\": \"belt\", \"gravity\": {\"z\": 0}, \"links\": [{\"name\": \"ground\"}, {\"name\": \"belt\", "          \
    "\"inertia\": {\"mass\": 1e7}}, {\"name\": \"block\", \"inertia\": {\"mass\": 1}}], \"joints\": ["                 \
    "{\"name\": \"drive\", \"type\": \"JOINT_TYPE_PRISMATIC\", \"parent_link\": \"ground\", \"child_link\": "          \
    "\"belt\", "                                                                                                       \
    "\"axis\": {\"x\": 1}}, {\"name\": \"slip\", \"type\": \"JOINT_TYPE_PRISMATIC\", \"parent_link\": \"belt\", "      \
    "\"child_link\": \"block\", \"axis\": {\"x\": 1}}], \"machine_elements\": [{\"name\": \"contact\", \"joint\": "    \
    "\"slip\", \"friction\": {\"coulomb\": [1], \"breakaway\": [1.5], \"stribeck_velocity\": 0.001, \"viscous\": "     \
    "[0.4], \"bristle_stiffness\": 1e5, \"bristle_damping\": 316.22776601683796}}, {\"name\": \"spring\", \"strut\": " \
    "{\"link\": \"block\", \"other_position\": {\"x\": -10}, \"rest\": 10, \"stiffness\": 2}}]}"

enum { BELT_STEPS = 32000 };

/* Slips of the block. The force of the spring is 2 N/m times its position. */
typedef struct stick_slip {
    int slips;
    double starts[8], peaks[8], ends[8]; /* time and force at the start of each slip, and force at its end */
    double fastest, steepest;            /* rate relative to the belt; deviation of the force's rate while it sticks */
} stick_slip;

static stick_slip watch_block(const json_t *q, const json_t *v) {
    stick_slip found = {0};
    bool sticks = true;
    for (size_t i = 1; i < BELT_STEPS; i++) {
        double force = 2 * (number_of(q, 2 * i) + number_of(q, 2 * i + 1)), rate = number_of(v, 2 * i + 1);
        found.fastest = fmax(found.fastest, rate);
        if (sticks && rate < -0.02) {
            ck_assert_int_lt(found.slips, 8);
            found.starts[found.slips] = 1e-3 * (double)i;
            found.peaks[found.slips] = force;
            sticks = false;
        } else if (!sticks && fabs(rate) < 1e-4) {
            found.ends[found.slips++] = force;
            sticks = true;
        }
    }
    return found;
}

/* Returns the time of a slip from the breakaway force on, and the force at its end. Friction is 1 N and 0.4 N s/m away
 * from the narrow Stribeck range, so that x'' = 1 - 0.4 (x' - 0.1) - 2 x until x' is 0.1 again. */
static double slip_in_closed_form(double *end) {
    const double rest = 1.04 / 2, decay = 0.2, omega = sqrt(2 - decay * decay), A = 0.75 - rest;
    const double B = (0.1 + decay * A) / omega;
    double t = 1, rate = 0;
    while (rate < 0.1) {
        t += 1e-4;
        rate = exp(-decay * t) * ((B * omega - decay * A) * cos(omega * t) - (A * omega + decay * B) * sin(omega * t));
    }
    *end = 2 * (rest + exp(-decay * t) * (A * cos(omega * t) + B * sin(omega * t)));
    return t;
}

/* The block sticks while the force rises by 2 N/m 0.1 m/s up to the breakaway force of 1.5 N, slips until the force is
 * below that of Coulomb, and sticks again: a cycle that repeats itself, as in figure 3 of the paper. */
START_TEST(a_block_on_a_belt_sticks_and_slips) {
    load_text("belt", BELT);
    char line[512];
    snprintf(line, sizeof line,
             "$ctl call rollout '{\"query\": {\"model\": \"belt\"}, \"q\": [0, 0], \"v\": [0.1, 0], \"steps\": %d, "
             "\"stepping\": {\"substeps\": 10}, \"results\": [\"ROLLOUT_RESULT_Q\", \"ROLLOUT_RESULT_V\"]}'",
             BELT_STEPS);
    json_t *reply = run_json(line);
    stick_slip found = watch_block(json_object_get(reply, "q"), json_object_get(reply, "v"));
    double end, slip_time = slip_in_closed_form(&end);
    ck_assert_int_ge(found.slips, 3);
    ck_assert_double_eq_tol(found.starts[0], 7.5, 0.2);
    ck_assert_double_lt(found.fastest, 1e-3);
    for (int i = 0; i < found.slips; i++) {
        ck_assert_double_eq_tol(found.peaks[i], 1.5, 0.03);
        ck_assert_double_eq_tol(found.ends[i], end, 0.03);
    }
    for (int i = 2; i < found.slips; i++) {
        double period = found.starts[i] - found.starts[i - 1], before = found.starts[i - 1] - found.starts[i - 2];
        ck_assert_double_eq_tol(period, before, 0.02 * before);
        /* The force rises from the end of a slip to the peak by 0.2 N/s. */
        double sticking = (found.peaks[i] - found.ends[i - 1]) / 0.2;
        ck_assert_double_eq_tol(period - sticking, slip_time, 0.03 * slip_time);
    }
    json_decref(reply);
}
END_TEST

/* ---- Resonance --------------------------------------------------------------------------------------------------- */

/* Rotor of 1e-4 kg m^2 behind a gear of 50, held by 120 N m/rad, a spring of 300 N m/rad, and a link of 0.4 kg m^2. */
#define ELASTIC                                                                                                        \
    "{\"name\": \"elastic\", \"links\": [{\"name\": \"base\"}, {\"name\": \"output\"}, {\"name\": \"link\", "          \
    "\"inertia\": {\"mass\": 1, \"rotational\": [0.4, 0, 0, 0.4, 0, 0.4]}}], \"joints\": [{\"name\": \"motor\", "      \
    "\"type\": \"JOINT_TYPE_CONTINUOUS\", \"parent_link\": \"base\", \"child_link\": \"output\", \"axis\": "           \
    "{\"z\": 1}}, {\"name\": \"spring\", \"type\": \"JOINT_TYPE_CONTINUOUS\", \"parent_link\": \"output\", "           \
    "\"child_link\": \"link\", \"axis\": {\"z\": 1}}], \"machine_elements\": [{\"name\": \"rotor\", \"joint\": "       \
    "\"motor\", \"rotor\": {\"ratio\": 50, \"axial_inertia\": 1e-4}}, {\"name\": \"control\", \"joint\": \"motor\", "  \
    "\"spring\": {\"stiffness\": 120}}, {\"name\": \"coil\", \"joint\": \"spring\", \"spring\": {\"stiffness\": "      \
    "300}}]}"

/* Computes the squares x of the frequencies of det(K - x M) = 0 for K = diag(k), the smaller one first. */
static void frequencies(const double M[4], const double k[2], double x[2]) {
    double a = M[0] * M[3] - M[1] * M[2], b = -(k[0] * M[3] + k[1] * M[0]), c = k[0] * k[1];
    double root = sqrt(b * b - 4 * a * c);
    x[0] = (-b - root) / (2 * a), x[1] = (-b + root) / (2 * a);
}

/* Runs a model from its shape at rest for a period, and asserts that it is there again. */
static void expect_period(const char *model, const double shape[2], double period) {
    enum { STEPS = 1000 };
    char line[512];
    snprintf(line, sizeof line,
             "$ctl call rollout '{\"query\": {\"model\": \"%s\", \"gravity\": {\"z\": 0}}, \"q\": [%.17g, %.17g], "
             "\"steps\": %d, "
             "\"only_last\": true, \"stepping\": {\"integrator\": \"INTEGRATOR_RK4\", \"step_length\": %.17g}}'",
             model, shape[0], shape[1], STEPS, period / STEPS);
    json_t *reply = run_json(line);
    for (size_t k = 0; k < 2; k++) {
        double at = number_of(json_object_get(reply, "q"), k);
        ck_assert_msg(fabs(at - shape[k]) < 1e-6 * (fabs(shape[0]) + fabs(shape[1])), "%s: %.9g, not %.9g", model, at,
                      shape[k]);
    }
    json_decref(reply);
}

START_TEST(a_series_elastic_joint_has_two_resonance_frequencies) {
    const double M[4] = {0.25 + 0.4, 0.4, 0.4, 0.4}, k[2] = {120, 300};
    double x[2];
    load_text("elastic", ELASTIC);
    frequencies(M, k, x);
    ck_assert_double_gt(x[1], 4 * x[0]);
    for (int i = 0; i < 2; i++) {
        const double shape[2] = {0.01, 0.01 * x[i] * 0.4 / (300 - x[i] * 0.4)};
        expect_period("elastic", shape, 2 * PI / sqrt(x[i]));
    }
}
END_TEST

/* A beam of 0.8 m, 0.6 kg/m and 3.2 N m^2 without anything at its end. */
#define CANTILEVER                                                                                                     \
    "{\"name\": \"cantilever\", \"links\": [{\"name\": \"base\"}, {\"name\": \"end\"}], \"joints\": [{\"name\": "      \
    "\"weld\", \"type\": \"JOINT_TYPE_FIXED\", \"parent_link\": \"base\", \"child_link\": \"end\", \"origin\": "       \
    "{\"position\": {\"x\": 0.8}}}], \"machine_elements\": [{\"name\": \"strip\", \"joint\": \"weld\", "               \
    "\"flexible_beam\": {\"direction\": {\"z\": 1}, \"mass_per_length\": 0.6, \"rigidity\": 3.2}}]}"

/* The frequencies are those of 1.875^2 and 4.694^2 times sqrt(E I / (rho L^4)), and the beam swings with them. */
START_TEST(a_cantilever_has_its_first_two_frequencies) {
    static const double squares[2] = {1.875104 * 1.875104, 4.694091 * 4.694091};
    load_text("cantilever", CANTILEVER);
    json_t *robot = run_json("$ctl describe cantilever --json"), *list = json_object_get(robot, "machine_elements");
    json_t *reply = run_json("$ctl call mass_matrix '{\"query\": {\"model\": \"cantilever\"}, \"q\": [0, 0]}'");
    double M[4], k[2], x[2];
    ck_assert_uint_eq(json_array_size(list), 2);
    for (size_t i = 0; i < 4; i++) {
        M[i] = number_of(json_object_get(reply, "mass_matrix"), i);
        k[i / 2] = json_number_value(json_object_get(json_array_get(list, i / 2), "stiffness"));
    }
    frequencies(M, k, x);
    for (int i = 0; i < 2; i++) {
        const double expected = squares[i] * sqrt(3.2 / (0.6 * 0.8 * 0.8 * 0.8 * 0.8));
        const double other = x[i] * M[1] / (k[1 - i] - x[i] * M[3 * (1 - i)]);
        const double shape[2] = {i == 0 ? 1e-3 : 1e-3 * other, i == 0 ? 1e-3 * other : 1e-3};
        ck_assert_double_eq_tol(sqrt(x[i]), expected, 1e-2 * expected);
        expect_period("cantilever", shape, 2 * PI / sqrt(x[i]));
    }
    json_decref(robot), json_decref(reply);
}
END_TEST

/* ---- Energy ------------------------------------------------------------------------------------------------------ */

/* Friction of the joints of an arm under gravity, as in figure 8.13 of Modern Robotics, two-sided and with bristles. */
static const char *const laws[] = {
    "\"viscous\": [0.5]",
    "\"coulomb\": [0.4]",
    "\"viscous\": [0.5, 0.2], \"coulomb\": [0.4, 0.8]",
    "\"coulomb\": [0.4], \"breakaway\": [0.9], \"stribeck_velocity\": 0.1",
    "\"viscous\": [0.5], \"coulomb\": [0.4], \"breakaway\": [0.9], \"stribeck_velocity\": 0.1",
    "\"viscous\": [0.5], \"coulomb\": [0.4], \"breakaway\": [0.9], \"stribeck_velocity\": 1, \"temperature_factor\": 3",
    ("\"viscous\": [0.1], \"coulomb\": [0.4], \"breakaway\": [0.5], \"stribeck_velocity\": 0.5, "
     "\"bristle_stiffness\": 500, \"bristle_damping\": 2"),
};

/* Returns the largest growth of the energy in a step of a rollout of "rubbed", and the energy lost in all. */
static double largest_growth(double *lost) {
    json_t *reply =
        run_json("$ctl call rollout '{\"query\": {\"model\": \"rubbed\"}, \"q\": [0.3, 0.8], \"v\": [3, -4], "
                 "\"steps\": 3000, \"stepping\": {\"integrator\": \"INTEGRATOR_RK4\"}, "
                 "\"results\": [\"ROLLOUT_RESULT_ENERGY\"]}'");
    const json_t *kinetic = json_object_get(reply, "kinetic_energy"),
                 *potential = json_object_get(reply, "potential_energy");
    double first = number_of(kinetic, 0) + number_of(potential, 0), last = first, growth = 0;
    ck_assert_uint_ge(json_array_size(kinetic), 3000);
    for (size_t i = 1; i < json_array_size(kinetic); i++) {
        double next = number_of(kinetic, i) + number_of(potential, i);
        growth = fmax(growth, next - last);
        last = next;
    }
    *lost = first - last;
    json_decref(reply);
    return growth;
}

START_TEST(friction_never_adds_energy) {
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        char text[2048];
        double lost;
        snprintf(
            text, sizeof text,
            "{\"name\": \"rubbed\", \"links\": [{\"name\": \"base\"}, {\"name\": \"upper\", \"inertia\": {\"mass\": "
            "2, \"center_of_mass\": {\"x\": 0.5}, \"rotational\": [0.1, 0, 0, 0.1, 0, 0.1]}}, {\"name\": \"lower\", "
            "\"inertia\": {\"mass\": 1, \"center_of_mass\": {\"x\": 0.3}, \"rotational\": [0.05, 0, 0, 0.05, 0, "
            "0.05]}}], \"joints\": [{\"name\": \"shoulder\", \"type\": \"JOINT_TYPE_CONTINUOUS\", \"parent_link\": "
            "\"base\", \"child_link\": \"upper\", \"axis\": {\"y\": 1}}, {\"name\": \"elbow\", \"type\": "
            "\"JOINT_TYPE_CONTINUOUS\", \"parent_link\": \"upper\", \"child_link\": \"lower\", \"origin\": "
            "{\"position\": {\"x\": 1}}, \"axis\": {\"y\": 1}}], \"machine_elements\": [{\"name\": \"first\", "
            "\"joint\": \"shoulder\", \"friction\": {%s}}, {\"name\": \"second\", \"joint\": \"elbow\", "
            "\"friction\": {%s}}]}",
            laws[i], laws[i]);
        load_text("rubbed", text);
        /* The energy in bristles, at most f_s^2 / (2 s_0) of each joint, is no part of the sum. */
        double stored = strstr(laws[i], "bristle") ? 0.5 * 0.5 / 500 : 0;
        double growth = largest_growth(&lost);
        ck_assert_msg(growth <= stored + 1e-6, "law %zu adds %g J in a step", i, growth);
        ck_assert_msg(lost > 1, "law %zu takes %g J", i, lost);
    }
}
END_TEST

int main(void) {
    TCase *all = tcase_create("machine motions");
    tcase_add_unchecked_fixture(all, command_line_start, command_line_stop);
    tcase_add_test(all, a_block_on_a_belt_sticks_and_slips);
    tcase_add_test(all, a_series_elastic_joint_has_two_resonance_frequencies);
    tcase_add_test(all, a_cantilever_has_its_first_two_frequencies);
    tcase_add_test(all, friction_never_adds_energy);
    return run_unforked("machine_motions", all);
}
