/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks motors through the daemon: a run-up against its exponential, powers and energies of a motion, the limits that
 * a motion exceeds, and refusals with their fields.
 */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/command_line.h"
#include "system/runner.h"

#define DESCRIPTIONS DYNAMICS_TEST_DATA "/machine_elements/"

static double member_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_number(value), "there is no number %s", key);
    return json_number_value(value);
}

/* Returns the reply of a method to a request, which is released. The caller releases the reply. */
static json_t *ask(const char *method, json_t *request) {
    char line[512];
    ck_assert_ptr_nonnull(request);
    ck_assert_int_eq(json_dump_file(request, scratch("request.json"), 0), 0);
    json_decref(request);
    snprintf(line, sizeof line, "$ctl call %s \"$(cat %s)\"", method, scratch("request.json"));
    return run_json(line);
}

static void load_description(const char *name, const char *path) {
    char line[512];
    snprintf(line, sizeof line, "$ctl load --replace --name %s --description %s", name, path);
    must_say(line, ": ");
}

static void load_arm(void) {
    load_description("driven_arm", DESCRIPTIONS "driven_arm.json");
}

/* Writes a motion of both joints: `swing` times the sines of 2 t and 3 t. Returns the path of the file. */
static const char *write_motion(double swing) {
    FILE *to = fopen(scratch("motion.csv"), "w");
    ck_assert_ptr_nonnull(to);
    fputs("time,q.shoulder,q.elbow,v.shoulder,v.elbow,a.shoulder,a.elbow\n", to);
    for (int i = 0; i <= 400; i++) {
        double t = 0.005 * i, s = swing;
        fprintf(to, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", t, s * sin(2 * t), s * sin(3 * t),
                2 * s * cos(2 * t), 3 * s * cos(3 * t), -4 * s * sin(2 * t), -9 * s * sin(3 * t));
    }
    ck_assert_int_eq(fclose(to), 0);
    return scratch("motion.csv");
}

/* ---- Run-up ------------------------------------------------------------------------------------------------------ */

/* A motor under the voltage V without inductance is the torque k_t V / R and the friction k_t^2 / R of its rotor: the
 * daemon simulates this run-up, which is an exponential. EvaluateMotors finds the voltage V in its motion, and the heat
 * of the current. */
START_TEST(a_simulated_run_up_is_an_exponential_with_a_constant_voltage) {
    enum { STEPS = 400 };
    const double V = 24, R = 0.5, k_t = 0.05, G = 20, inertia = 0.1, I_r = 1e-4;
    const double total = inertia + G * G * I_r, b = G * G * k_t * k_t / R, T = total / b, final = V / k_t / G;
    static const char wheel[] =
        "{\"name\": \"wheel\", \"links\": [{\"name\": \"a\"}, {\"name\": \"b\", \"inertia\": {\"mass\": 1,"
        " \"rotational\": [0.1, 0, 0, 0.1, 0, 0.1]}}], \"joints\": [{\"name\": \"j\", \"type\":"
        " \"JOINT_TYPE_CONTINUOUS\", \"parent_link\": \"a\", \"child_link\": \"b\", \"axis\": {\"z\": 1}}],"
        " \"machine_elements\": [{\"name\": \"r\", \"joint\": \"j\", \"rotor\": {\"ratio\": 20, \"axial_inertia\": "
        "1e-4}},"
        " {\"name\": \"back\", \"joint\": \"j\", \"friction\": {\"side\": \"GEAR_SIDE_ROTOR\", \"viscous\": [0.005]}},"
        " {\"name\": \"m\", \"joint\": \"j\", \"motor\": {\"resistance\": 0.5, \"torque_constant\": 0.05,"
        " \"maximum_voltage\": 24}}]}";
    json_t *description = json_loads(wheel, 0, NULL);
    ck_assert_int_eq(json_dump_file(description, scratch("wheel.json"), 0), 0);
    json_decref(description);
    load_description("wheel", scratch("wheel.json"));
    json_t *tau = json_array();
    for (int i = 0; i < STEPS; i++) {
        json_array_append_new(tau, json_real(G * k_t * V / R));
    }
    json_t *run = ask("rollout", json_pack("{s:{s:s}, s:[f], s:[f], s:o, s:i, s:{s:s, s:f}}", "query", "model", "wheel",
                                           "q", 0.0, "v", 0.0, "tau", tau, "steps", STEPS, "stepping", "integrator",
                                           "INTEGRATOR_RK4", "step_length", T / 100));
    const json_t *v = json_object_get(run, "v"), *q = json_object_get(run, "q");
    size_t rows = json_array_size(v);
    ck_assert_uint_ge(rows, STEPS);
    json_t *a = json_array(), *times = json_array();
    for (size_t i = 0; i < rows; i++) {
        double t = T / 100 * (double)(i + STEPS + 1 - rows), decay = exp(-t / T);
        ck_assert_double_eq_tol(number_of(v, i), final * (1 - decay), 1e-8 * final);
        json_array_append_new(a, json_real((G * k_t * V / R - b * number_of(v, i)) / total));
        json_array_append_new(times, json_real(t));
    }
    json_t *found = ask("evaluate_motors", json_pack("{s:{s:s}, s:O, s:O, s:o, s:o}", "query", "model", "wheel", "q", q,
                                                     "v", v, "a", a, "time", times));
    const json_t *motor = json_array_get(json_object_get(found, "motors"), 0);
    double heat = 0;
    for (size_t i = 0; i < rows; i++) {
        double current = number_of(json_object_get(found, "current"), i);
        ck_assert_double_eq_tol(number_of(json_object_get(found, "voltage"), i), V, 1e-9 * V);
        ck_assert_double_eq_tol(number_of(json_object_get(found, "heat"), i), R * current * current, 1e-9 * V);
        ck_assert_double_eq_tol(number_of(json_object_get(found, "torque_margin"), i), 0, 1e-9);
    }
    /* The integral of R i^2 of the exponential. */
    double first = T / 100 * (double)(STEPS + 1 - rows);
    heat = V * V / R * T / 2 * (exp(-2 * first / T) - exp(-2 * STEPS / 100.0));
    ck_assert_double_eq_tol(member_of(motor, "heat_energy"), heat, 1e-3 * heat);
    ck_assert(json_is_true(json_object_get(found, "is_feasible")));
    ck_assert_double_eq_tol(member_of(motor, "load_inertia"), inertia, 1e-12);
    ck_assert_double_eq_tol(member_of(motor, "matched_ratio"), sqrt(inertia / I_r), 1e-9);
    json_decref(run), json_decref(found);
}
END_TEST

/* ---- Motions ----------------------------------------------------------------------------------------------------- */

START_TEST(describe_shows_resistance_and_torque_constant_of_a_data_sheet) {
    load_arm();
    must_say("$ctl describe driven_arm 'elbow motor'", "0.3 ohm");
    must_say("$ctl describe driven_arm 'elbow motor'", "0.029925 N m/A");
    must_say("$ctl describe driven_arm | grep '^shoulder gear'", "efficiency 0.8, driven back 0.7");
    must_say("$ctl describe driven_arm | grep '^elbow gear'", "ratio 50, efficiency 0.9, driven back 0.9");
    must_say("$ctl describe driven_arm --json", "\"temperature_coefficient\": 0.0039");
}
END_TEST

START_TEST(an_exported_model_loads_with_the_same_motors) {
    load_arm();
    json_t *reply =
        ask("export_model", json_pack("{s:s, s:s}", "model", "driven_arm", "format", "MODEL_FORMAT_DESCRIPTION"));
    ck_assert_int_eq(json_dump_file(json_object_get(reply, "description"), scratch("again.json"), 0), 0);
    json_decref(reply);
    load_description("again", scratch("again.json"));
    json_t *first = run_json("$ctl describe driven_arm --json"), *second = run_json("$ctl describe again --json");
    ck_assert(json_equal(json_object_get(first, "machine_elements"), json_object_get(second, "machine_elements")));
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(first, "model"), "digest")),
                     json_string_value(json_object_get(json_object_get(second, "model"), "digest")));
    json_decref(first), json_decref(second);
}
END_TEST

/* The motors' power is the rate of energy and the losses, and the energies are the integrals of the powers. */
START_TEST(energies_of_a_motion_are_balanced) {
    char line[512];
    load_arm();
    snprintf(line, sizeof line, "$ctl motor driven_arm %s --passive damping,friction --json", write_motion(0.5));
    json_t *found = run_json(line);
    const json_t *motors = json_object_get(found, "motors");
    ck_assert_uint_eq(json_array_size(motors), 2);
    for (size_t k = 0; k < 2; k++) {
        const json_t *motor = json_array_get(motors, k);
        double heat = 0, supply = 0, gear = 0, square = 0;
        for (size_t i = 0; i <= 400; i++) {
            double weight = i == 0 || i == 400 ? 0.0025 : 0.005;
            double P = number_of(json_array_get(json_object_get(found, "electrical_power"), i), k);
            double M = number_of(json_array_get(json_object_get(found, "mechanical_power"), i), k);
            double H = number_of(json_array_get(json_object_get(found, "heat"), i), k);
            double current = number_of(json_array_get(json_object_get(found, "current"), i), k);
            /* The rest is the energy of the inductance. */
            ck_assert_double_eq_tol(P, M + H, 0.02 * (fabs(P) + H));
            heat += weight * H, supply += weight * P, square += weight * current * current / 2;
            gear += weight * number_of(json_array_get(json_object_get(found, "gear_loss"), i), k);
        }
        ck_assert_double_eq_tol(member_of(motor, "heat_energy"), heat, 1e-9 * heat);
        ck_assert_double_eq_tol(member_of(motor, "electrical_energy"), supply, 1e-9 * fabs(supply));
        ck_assert_double_eq_tol(member_of(motor, "gear_loss_energy"), gear, 1e-9 * gear);
        ck_assert_double_eq_tol(member_of(motor, "rms_current"), sqrt(square), 1e-9 * sqrt(square));
    }
    json_decref(found);
}
END_TEST

START_TEST(limits_that_a_motion_exceeds_are_named_with_their_samples) {
    char line[512];
    load_arm();
    snprintf(line, sizeof line, "$ctl motor driven_arm %s --json", write_motion(0.5));
    json_t *slow = run_json(line);
    ck_assert(json_is_true(json_object_get(slow, "is_feasible")));
    json_decref(slow);
    /* The shoulder turns at 100 * 2 * 4 rad/s at the start, and the no-load speed is 480 rad/s. */
    snprintf(line, sizeof line, "$ctl motor driven_arm %s --json", write_motion(4));
    json_t *fast = run_json(line);
    ck_assert(json_is_false(json_object_get(fast, "is_feasible")));
    const json_t *motor = json_array_get(json_object_get(fast, "motors"), 0), *excesses, *each;
    excesses = json_object_get(motor, "excesses");
    bool is_found = false;
    for (size_t i = 0; i < json_array_size(excesses); i++) {
        each = json_array_get(excesses, i);
        if (strcmp(json_string_value(json_object_get(each, "limit")), "voltage") == 0) {
            is_found = true;
            ck_assert_double_eq(member_of(each, "bound"), 24);
            ck_assert_double_eq(member_of(each, "worst"), member_of(motor, "peak_voltage"));
            ck_assert_double_eq(member_of(each, "first_sample"), 0);
        }
    }
    ck_assert(is_found);
    ck_assert_double_lt(number_of(json_array_get(json_object_get(fast, "speed_margin"), 0), 0), 0);
    json_decref(fast);
    snprintf(line, sizeof line, "$ctl motor driven_arm %s", scratch("motion.csv"));
    must_say(line, "shoulder motor at joint shoulder exceeds its voltage");
    must_say(line, "elbow motor at joint elbow exceeds its gear_speed: 600 of 500 rad/s");
}
END_TEST

START_TEST(transmissions_of_a_urdf_file_are_read_where_they_are_asked_for) {
    static const char load[] = "$ctl load --replace " DYNAMICS_TEST_DATA "/urdf/transmissions.urdf --name geared";
    char line[512];
    must_say(load, "geared: ");
    json_t *plain = run_json("$ctl describe geared --json");
    ck_assert_uint_eq(json_array_size(json_object_get(plain, "machine_elements")), 0);
    json_decref(plain);
    snprintf(line, sizeof line, "%s --transmissions", load);
    must_say(line, "its transmissions are read on request");
    json_t *read = run_json("$ctl describe geared --json"), *list = json_object_get(read, "machine_elements");
    ck_assert_uint_eq(json_array_size(list), 3);
    ck_assert_double_eq(member_of(json_array_get(list, 0), "ratio"), 50);
    ck_assert_double_eq(member_of(json_array_get(list, 1), "ratio"), -20);
    ck_assert_double_eq(member_of(json_array_get(list, 2), "axial_inertia"), 1e-4);
    json_decref(read);
    must_say("$ctl load --replace --transmissions " DYNAMICS_TEST_DATA "/urdf/differential.urdf --name wrist",
             "wrist: ");
    must_say("$ctl describe wrist | grep '^gears/left'", "turns at 30 pitch + 60 roll, 0.002 kg m^2, reflected");
    must_say("$ctl describe wrist | grep '^gears/right'", "turns at -20 pitch + 40 roll");
    must_say("$ctl describe wrist | grep '^linkage/first'", "turns at 10 shoulder, 0.001 kg m^2, reflected");
    must_say("$ctl describe wrist | grep '^linkage/second'", "turns at 5 shoulder + 15 elbow, 0.003 kg m^2, reflected");
    must_fail("$ctl load --replace --transmissions --description " DESCRIPTIONS "driven_arm.json", 1,
              "--transmissions: only a URDF text has transmissions");
}
END_TEST

START_TEST(other_ratios_are_compared_with_the_matched_one) {
    char line[512];
    load_arm();
    snprintf(line, sizeof line, "$ctl motor driven_arm %s --ratios 50,100 --json", write_motion(0.5));
    json_t *found = run_json(line);
    const json_t *motors = json_object_get(found, "motors"), *others = json_object_get(found, "alternatives");
    ck_assert_uint_eq(json_array_size(others), 4);
    const json_t *own = json_array_get(motors, 0), *half = json_array_get(others, 0), *same = json_array_get(others, 1);
    ck_assert_double_eq_tol(member_of(same, "peak_torque"), member_of(own, "peak_torque"), 1e-12);
    ck_assert_double_eq_tol(member_of(same, "heat_energy"), member_of(own, "heat_energy"), 1e-9);
    ck_assert_double_eq(member_of(half, "ratio"), 50);
    ck_assert_double_eq_tol(member_of(half, "peak_speed"), member_of(own, "peak_speed") / 2, 1e-9);
    ck_assert_double_eq_tol(member_of(half, "reflected_inertia"), member_of(own, "reflected_inertia") / 4, 1e-12);
    ck_assert_double_eq_tol(member_of(half, "matched_ratio"), member_of(own, "matched_ratio"), 1e-9);
    json_decref(found);
    snprintf(line, sizeof line, "$ctl motor driven_arm %s --ratios 50,0", scratch("motion.csv"));
    must_fail(line, 1, "--ratios[1]: the ratio is 0");
}
END_TEST

/* Motors and gears for the elbow, of which the first has too little voltage, the second is the one of the model, and
 * the third has a lighter gear. */
static const char table[] =
    "name,joint,resistance,torque_constant,maximum_voltage,continuous_current,maximum_temperature,"
    "ratio,efficiency,gear_speed,rotor_inertia\n"
    "weak,elbow,0.3,0.029925,2,,,50,0.9,500,\n"
    "\n"
    "own,elbow,0.3,0.029925,24,20,155,50,0.9,500,1e-5\n"
    "gear alone,elbow,,,,,,100,0.95,,\n"
    "hot,,0.5,0.05,48,0.001,,,,,\n";

static const char *write_table(const char *text) {
    FILE *to = fopen(scratch("table.csv"), "w");
    ck_assert_ptr_nonnull(to);
    fputs(text, to);
    ck_assert_int_eq(fclose(to), 0);
    return scratch("table.csv");
}

/* Returns the entry of a choice for a joint. */
static const json_t *find_choice(const json_t *found, const char *joint, const char *name) {
    const json_t *choices = json_object_get(found, "choices");
    for (size_t i = 0; i < json_array_size(choices); i++) {
        const json_t *each = json_array_get(choices, i);
        if (strcmp(json_string_value(json_object_get(each, "joint")), joint) == 0 &&
            strcmp(json_string_value(json_object_get(each, "choice")), name) == 0) {
            return each;
        }
    }
    ck_abort_msg("there is no choice %s for joint %s", name, joint);
    return NULL;
}

START_TEST(motors_of_a_table_are_compared_the_best_first) {
    char motion[256], line[1024];
    load_arm();
    snprintf(motion, sizeof motion, "%s", write_motion(0.5));
    snprintf(line, sizeof line, "$ctl motor driven_arm %s --choose %s --json", motion, write_table(table));
    json_t *found = run_json(line), *choices = json_object_get(found, "choices");
    ck_assert_uint_eq(json_array_size(choices), 5);
    double losses = 0;
    bool was_feasible = true;
    for (size_t i = 0; i < json_array_size(choices); i++) {
        const json_t *each = json_array_get(choices, i), *value;
        const char *limit;
        bool is_feasible = json_is_true(json_object_get(each, "is_feasible")), fits = true;
        bool is_new =
            i == 0 || strcmp(json_string_value(json_object_get(each, "joint")),
                             json_string_value(json_object_get(json_array_get(choices, i - 1), "joint"))) != 0;
        json_object_foreach(json_object_get(each, "margins"), limit, value) {
            fits = fits && json_number_value(value) >= -1e-9;
        }
        ck_assert(fits == is_feasible);
        ck_assert(is_new || was_feasible || !is_feasible);
        ck_assert(is_new || !is_feasible || member_of(each, "losses") >= losses);
        losses = member_of(each, "losses"), was_feasible = is_feasible;
    }
    ck_assert(json_is_false(json_object_get(find_choice(found, "elbow", "weak"), "is_feasible")));
    ck_assert(json_is_false(json_object_get(find_choice(found, "shoulder", "hot"), "is_feasible")));
    ck_assert_double_eq(member_of(find_choice(found, "elbow", "gear alone"), "ratio"), 100);
    const json_t *own = find_choice(found, "elbow", "own");
    ck_assert(json_is_true(json_object_get(own, "is_feasible")));
    /* The elbow turns at 50 * 3 * 0.5 rad/s at most, of 500. */
    ck_assert_double_eq_tol(member_of(json_object_get(own, "margins"), "gear_speed"), 1 - 75.0 / 500, 1e-12);
    ck_assert_double_eq_tol(member_of(own, "inertia_ratio") * pow(member_of(own, "matched_ratio") / 50, 2), 1, 1e-9);
    json_decref(found);
    snprintf(line, sizeof line, "$ctl motor driven_arm %s --choose %s", motion, scratch("table.csv"));
    must_say(line, "shoulder cannot do this motion with any of its choices.");
    must_say(line, "elbow can do this motion with gear alone, its best choice.");
    must_say(line, "exceeds its continuous_current");
    snprintf(line, sizeof line, "$ctl motor driven_arm %s --choose %s --csv", motion, scratch("table.csv"));
    must_say(line, "joint,choice,is_feasible,torque_margin,speed_margin,voltage_margin,thermal_margin,ratio");
}
END_TEST

/* With the numbers of the model a choice has the margins and losses of its own motor. */
START_TEST(a_choice_with_the_numbers_of_the_model_is_its_own_motor) {
    char motion[256], line[1024];
    load_arm();
    snprintf(motion, sizeof motion, "%s", write_motion(0.5));
    snprintf(line, sizeof line, "$ctl motor driven_arm %s --json --passive damping,friction", motion);
    json_t *model = run_json(line);
    snprintf(line, sizeof line, "$ctl motor driven_arm %s --json --passive damping,friction --choose %s", motion,
             write_table(" [{\"name\": \"same\", \"joint\": \"shoulder\", \"ratio\": 100, \"efficiency\": 0.8,\n"
                         "\"back_driving_efficiency\": 0.7, \"gear_torque\": 60, \"rotor_inertia\": 1e-4},\n"
                         "{\"name\": \"motor\", \"joint\": \"shoulder\", \"resistance\": 0.5,\n\"inductance\": 1e-4, "
                         "\"torque_constant\": 0.05, \"maximum_voltage\": 24}]\n"));
    json_t *found = run_json(line);
    const json_t *own = json_array_get(json_object_get(model, "motors"), 0);
    const json_t *same = find_choice(found, "shoulder", "same"), *motor = find_choice(found, "shoulder", "motor");
    double losses = member_of(own, "heat_energy") + member_of(own, "gear_loss_energy");
    ck_assert_double_eq_tol(member_of(same, "losses"), losses, 1e-9 * losses);
    ck_assert_double_eq_tol(member_of(same, "peak_temperature"), member_of(own, "peak_temperature"), 1e-9);
    ck_assert_double_eq_tol(member_of(motor, "rms_current"), member_of(own, "rms_current"), 1e-9);
    double voltage = member_of(json_object_get(motor, "margins"), "voltage");
    ck_assert_double_eq_tol(member_of(json_object_get(same, "margins"), "gear_torque"),
                            1 - member_of(own, "peak_load") / 60, 1e-9);
    ck_assert(voltage > 0 && voltage < 1);
    json_decref(model), json_decref(found);
}
END_TEST

/* Wrong tables, and what is said about them with the line. */
static const char *const wrong_tables[][2] = {
    {"name,resistance\nm,0.5\n", "table.csv:2: motor.torque_constant"},
    {"name,resistance,torque_constant\nm,0.5,0.1\n\nn,-1,0.1\n", "table.csv:4: motor.resistance"},
    {"name,resistance,torque_constant,efficiency\nm,0.5,0.1,1.5\n", "table.csv:2: gear.efficiency"},
    {"name,joint,resistance,torque_constant\nm,base,0.5,0.1\n", "table.csv:2: joint: no motor moves joint"},
    {"name,ratio,rotor_inertia\nm,10,-1\n", "table.csv:2: rotor_inertia"},
    {"name,resistence\nm,1\n", "table.csv:1: no number of a motor or a gear has the name of the column resistence"},
    {"name,ratio,ratio\nm,1,1\n", "table.csv:1: the header has a column twice: ratio"},
    {"ratio\n1\n", "table.csv:1: the header lacks the column name"},
    {"name,ratio\nm,x\n", "table.csv:2: ratio is not a finite number: x"},
    {"name,ratio\nm,1,2\n", "table.csv:2: the row has more cells than the header"},
    {"name,ratio\nm\n", "table.csv:2: the row has fewer cells than the header"},
    {"name,ratio\n,2\n", "table.csv:2: the row lacks a name"},
    {"name,rotor_inertia\nm,2\n", "table.csv:2: the row states neither a motor nor a gear: m"},
    {"name,ratio\n", "table.csv: the table has no motors"},
    {"[\n]", "table.csv: the table has no motors"},
    {"[{\"name\": \"m\",\n \"ratio\": 2},\n {\"name\": \"n\", \"ratio\": true}]", "table.csv:3: not a number: ratio"},
    {"[{\"name\": \"m\", \"ratio\": 2},\n{\"name\": 3}]", "table.csv:2: not a string: name"},
    {"[{\"name\": \"m\", \"teeth\": 2}]", "table.csv:1: no number of a motor or a gear has the name teeth"},
    {"[\n\n3]", "table.csv:3: each motor is an object"},
    {"[{\"name\": \"m\", \"ratio\": 2}\n", "table.csv:2: not JSON: the array of motors does not end here"},
    {"[\n{\"name\":\n m}]", "table.csv:3: not JSON"},
};

START_TEST(a_wrong_table_is_refused_with_its_line) {
    char motion[256], line[1024];
    load_arm();
    snprintf(motion, sizeof motion, "%s", write_motion(0.5));
    for (size_t i = 0; i < sizeof wrong_tables / sizeof *wrong_tables; i++) {
        int status = strstr(wrong_tables[i][1], "motor.") || strstr(wrong_tables[i][1], "gear.") ||
                             strstr(wrong_tables[i][1], ": rotor_inertia") || strstr(wrong_tables[i][1], ": joint: ")
                         ? 1
                         : 2;
        snprintf(line, sizeof line, "$ctl motor driven_arm %s --choose %s", motion, write_table(wrong_tables[i][0]));
        must_fail(line, status, wrong_tables[i][1]);
    }
    must_fail("$ctl call evaluate_motors '{\"query\": {\"model\": \"driven_arm\"}, \"q\": [0, 0], \"choices\": [{}]}'",
              1, "evaluate_motors.choices[0].name: it has 0 bytes");
}
END_TEST

/* The elbow holds its link of 1 kg at 0.2 m with 1.962 N m, which are 0.03924 N m at the motor of the gear of 50. */
START_TEST(an_engaged_brake_takes_what_it_can_hold) {
    static const char call[] = "$ctl call evaluate_motors '{\"query\": {\"model\": \"driven_arm\"}, \"q\": [0, 0],"
                               " \"brakes\": [\"elbow brake\"]}'";
    load_arm();
    json_t *found = run_json(call);
    const json_t *elbow = json_array_get(json_object_get(found, "motors"), 1);
    double held = number_of(json_object_get(found, "brake_torque"), 1);
    ck_assert_double_eq_tol(held, -0.03, 1e-12);
    ck_assert_double_eq_tol(number_of(json_object_get(found, "torque"), 1), -0.2 * 9.81 / 50 + 0.03, 1e-9);
    ck_assert_double_eq(number_of(json_object_get(found, "brake_torque"), 0), 0);
    const json_t *excess = json_array_get(json_object_get(elbow, "excesses"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(excess, "limit")), "MOTOR_LIMIT_BRAKE");
    ck_assert_double_eq_tol(member_of(excess, "worst"), 0.2 * 9.81 / 50, 1e-9);
    json_decref(found);
    must_fail(
        "$ctl call evaluate_motors '{\"query\": {\"model\": \"driven_arm\"}, \"q\": [0, 0], \"brakes\": [\"x\"]}'", 1,
        "evaluate_motors.brakes[0]: no motor has a brake \"x\"");
    char line[512];
    snprintf(line, sizeof line, "$ctl motor driven_arm %s --brakes 'elbow brake' --json", write_motion(0.5));
    must_say(line, "\"brake_torque\"");
}
END_TEST

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

START_TEST(wrong_requests_are_refused_with_their_field) {
    static const char *const wrong[][2] = {
        {"{\"query\": {\"model\": \"two_link\"}, \"q\": [0, 0]}", "evaluate_motors.query.model: no motor of model"},
        {"{\"query\": {\"model\": \"driven_arm\"}, \"q\": [0, 0, 0, 0], \"time\": [0, 0]}",
         "evaluate_motors.time[1]: time[1] is 0 s"},
        {"{\"query\": {\"model\": \"driven_arm\"}, \"q\": [0, 0], \"time\": [0, 1]}",
         "evaluate_motors.time: time has 2"},
        {"{\"query\": {\"model\": \"driven_arm\"}, \"q\": [0, 0], \"v\": [1]}", "evaluate_motors.v: v has 1"},
        {"{\"query\": {\"model\": \"driven_arm\"}, \"q\": [0, 0], \"ambient_temperature\": -300}",
         "evaluate_motors.ambient_temperature: it is -300"},
        {"{\"query\": {\"model\": \"driven_arm\", \"precision\": \"PRECISION_SINGLE\"}, \"q\": [0, 0]}",
         "evaluate_motors.query.precision"},
    };
    load_arm();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[512];
        snprintf(line, sizeof line, "$ctl call evaluate_motors '%s'", wrong[i][0]);
        must_fail(line, 1, wrong[i][1]);
    }
}
END_TEST

int main(void) {
    TCase *all = tcase_create("motors");
    tcase_set_timeout(all, 120);
    tcase_add_unchecked_fixture(all, command_line_start, command_line_stop);
    tcase_add_test(all, a_simulated_run_up_is_an_exponential_with_a_constant_voltage);
    tcase_add_test(all, describe_shows_resistance_and_torque_constant_of_a_data_sheet);
    tcase_add_test(all, an_exported_model_loads_with_the_same_motors);
    tcase_add_test(all, energies_of_a_motion_are_balanced);
    tcase_add_test(all, limits_that_a_motion_exceeds_are_named_with_their_samples);
    tcase_add_test(all, transmissions_of_a_urdf_file_are_read_where_they_are_asked_for);
    tcase_add_test(all, other_ratios_are_compared_with_the_matched_one);
    tcase_add_test(all, motors_of_a_table_are_compared_the_best_first);
    tcase_add_test(all, a_choice_with_the_numbers_of_the_model_is_its_own_motor);
    tcase_add_test(all, a_wrong_table_is_refused_with_its_line);
    tcase_add_test(all, an_engaged_brake_takes_what_it_can_hold);
    tcase_add_test(all, wrong_requests_are_refused_with_their_field);
    return run_unforked("motors", all);
}
