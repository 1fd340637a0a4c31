/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks models with constraints in the daemon: they are loaded, described, exported, derived and stored with their
 * constraints, a wrong constraint is refused with the path of its member, and a method that would ignore constraints
 * names one.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/command_line.h"
#include "system/runner.h"

#define DESCRIPTIONS DYNAMICS_TEST_DATA "/constraints/"

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    ck_assert_msg(text != NULL, "there is no text %s", key);
    return text;
}

/* Loads a description from the tests' data, whose model has the name of its file. */
static void load(const char *model) {
    char line[512];
    snprintf(line, sizeof line, "$ctl load --replace --description " DESCRIPTIONS "%.64s.json", model);
    must_say(line, ": ");
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

/* Checks a constraint of the description: its name, its first row, and the directions of its rows, which `directions`
 * lists, separated by commas. */
static void check_constraint(const json_t *constraint, const char *name, size_t first_row, const char *directions) {
    char found[256] = "", row[64];
    const json_t *list = json_object_get(constraint, "directions"), *names = json_object_get(constraint, "row_names");
    for (size_t k = 0; k < json_array_size(list); k++) {
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%s", k ? "," : "", json_string_value(json_array_get(list, k)));
        snprintf(row, sizeof row, json_array_size(list) > 1 ? "%s[%zu]" : "%s", name, k);
        ck_assert_str_eq(json_string_value(json_array_get(names, k)), row);
    }
    ck_assert_str_eq(text_of(constraint, "name"), name);
    ck_assert_str_eq(found, directions);
    ck_assert_uint_eq((size_t)json_integer_value(json_object_get(constraint, "first_row")), first_row);
}

START_TEST(describe_shows_constraints_of_every_kind_with_their_rows) {
    load("every_kind");
    json_t *robot = run_json("$ctl describe every_kind --json"), *list = json_object_get(robot, "constraints");
    ck_assert_uint_eq(json_array_size(list), 9);
    ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(robot, "model"), "constraint_rows")), 22);
    check_constraint(json_array_get(list, 0), "cross", 0, "linear x,linear y,linear z,angular");
    check_constraint(json_array_get(list, 1), "screw", 4, "angular x,angular y,linear x,linear y,linear z");
    check_constraint(json_array_get(list, 2), "rod", 9, "distance");
    check_constraint(json_array_get(list, 3), "floor", 10, "normal");
    check_constraint(json_array_get(list, 4), "rack", 11, "coupling");
    check_constraint(json_array_get(list, 5), "tyre", 12, "rolling x,rolling y,normal");
    check_constraint(json_array_get(list, 6), "crank", 15, "drive");
    check_constraint(json_array_get(list, 7), "cam", 16, "polynomial");
    check_constraint(json_array_get(list, 8), "hinge", 17, "angular x,angular y,linear x,linear y,linear z");
    ck_assert_double_eq(json_number_value(json_object_get(json_array_get(list, 5), "radius")), 0.2);
    ck_assert_double_eq(json_number_value(json_object_get(json_array_get(list, 6), "frequency")), 2);
    ck_assert_double_eq(number_of(json_object_get(json_array_get(list, 7), "coefficients"), 2), 0.25);
    ck_assert_double_eq(json_number_value(json_object_get(json_array_get(list, 8), "effort")), -2);
    const json_t *units = json_object_get(json_array_get(list, 0), "multiplier_units");
    ck_assert_str_eq(json_string_value(json_array_get(units, 0)), "N");
    ck_assert_str_eq(json_string_value(json_array_get(units, 3)), "N m");
    const json_t *second = json_object_get(json_array_get(list, 0), "second_axis");
    ck_assert_double_eq(number_of(second, 2), 1);
    json_decref(robot);
    must_say("$ctl describe every_kind | grep '^cross'", "loop joint, universal    0..3  lower");
    must_say("$ctl describe every_kind | grep '^rod'", "(world)");
    must_say("$ctl describe every_kind | grep '^rack'", "-0.1 shoulder");
    must_say("$ctl describe every_kind screw", "row 8         screw[4], linear z, N\n");
    must_say("$ctl describe every_kind | grep '^tyre'", "radius 0.2 m");
    must_say("$ctl describe every_kind crank", "amplitude");
}
END_TEST

START_TEST(an_exported_model_loads_with_the_same_constraints) {
    static const char *const models[] = {"every_kind", "four_bar"};
    for (size_t i = 0; i < 2; i++) {
        char line[512];
        load(models[i]);
        snprintf(line, sizeof line,
                 "$ctl call export_model '{\"model\": \"%s\", \"format\": \"MODEL_FORMAT_DESCRIPTION\"}' > %s",
                 models[i], scratch("exported.json"));
        must_say(line, "");
        json_t *reply = json_load_file(scratch("exported.json"), 0, NULL);
        ck_assert(reply && json_dump_file(json_object_get(reply, "description"), scratch("again.json"), 0) == 0);
        json_decref(reply);
        snprintf(line, sizeof line, "$ctl load --replace --name again --description %s", scratch("again.json"));
        must_say(line, "again: ");
        char *digest = digest_of(models[i]), *again = digest_of("again");
        ck_assert_str_eq(digest, again);
        free(digest), free(again);
    }
}
END_TEST

/* Checks that constraints are part of a model's digest. */
START_TEST(a_urdf_with_a_loop_is_the_robot_of_the_description) {
    load("four_bar");
    must_say("$ctl load --name from_urdf " DESCRIPTIONS "four_bar.urdf", "from_urdf: ");
    char *described = digest_of("four_bar"), *read = digest_of("from_urdf");
    ck_assert_str_eq(read, described);
    free(described), free(read);
}
END_TEST

START_TEST(loops_beside_a_urdf_are_added_to_it) {
    FILE *out = fopen(scratch("loops.yaml"), "w");
    ck_assert(out && fputs("closed_loop: [[coupler, rocker]]\ntype: ['3d']\n", out) >= 0 && fclose(out) == 0);
    char line[512];
    snprintf(line, sizeof line, "$ctl load --name both " DESCRIPTIONS "four_bar.urdf --loops %s",
             scratch("loops.yaml"));
    must_say(line, "both: ");
    must_say("$ctl describe both | grep '^closed_loop_1'", "loop joint, spherical  5..7");
    out = fopen(scratch("loops.yaml"), "w");
    ck_assert(out && fputs("closed_loop: [[coupler, stone]]\ntype: ['3d']\n", out) >= 0 && fclose(out) == 0);
    must_fail(line, 1, "--loops:1: there is no link and no joint stone");
}
END_TEST

START_TEST(a_link_with_two_parents_is_a_loop_where_that_is_asked_for) {
    must_fail("$ctl load " DYNAMICS_TEST_DATA "/urdf/two_parents.urdf --name two", 1,
              "already carried by joint \"first\"");
    must_say("$ctl load " DYNAMICS_TEST_DATA "/urdf/two_parents.urdf --name two --cut-loops", "two: ");
    must_say("$ctl describe two | grep '^second'", "loop joint, continuous  0..4");
    must_say("$ctl describe two --json", "another joint carries its child link tool");
}
END_TEST

/* Writes a URDF file with so many constraints. */
static void write_balls(const char *file, int count) {
    FILE *out = fopen(scratch(file), "w");
    ck_assert(out);
    fputs("<robot name=\"balls\"><link name=\"root\"/><link name=\"base\"><inertial><mass value=\"1\"/><inertia "
          "ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link><joint name=\"turn\" "
          "type=\"continuous\"><parent link=\"root\"/><child link=\"base\"/><axis xyz=\"0 0 1\"/></joint>",
          out);
    for (int i = 0; i < count; i++) {
        fputs("<drake:ball_constraint><drake:ball_constraint_body_A name=\"world\"/><drake:ball_constraint_body_B "
              "name=\"base\"/></drake:ball_constraint>\n",
              out);
    }
    fputs("</robot>", out);
    fclose(out);
}

START_TEST(too_many_constraints_of_a_urdf_are_refused_with_the_limit) {
    char line[512];
    write_balls("balls.urdf", 65);
    snprintf(line, sizeof line, "$ctl load %s", scratch("balls.urdf"));
    must_fail(line, 1, "the model has 65 constraints; the limit is 64 (limits.constraints)");
    write_balls("balls.urdf", 64);
    must_say(line, "balls: ");
}
END_TEST

START_TEST(constraints_change_the_digest) {
    char line[512];
    load("four_bar");
    json_t *description = json_load_file(DESCRIPTIONS "four_bar.json", 0, NULL);
    ck_assert(description && json_object_del(description, "constraints") == 0);
    ck_assert_int_eq(json_dump_file(description, scratch("tree.json"), 0), 0);
    json_decref(description);
    snprintf(line, sizeof line, "$ctl load --replace --name tree --description %s", scratch("tree.json"));
    must_say(line, "tree: ");
    char *closed = digest_of("four_bar"), *open = digest_of("tree");
    ck_assert_str_ne(closed, open);
    free(closed), free(open);
}
END_TEST

START_TEST(derived_models_carry_constraints_or_name_the_one_that_is_lost) {
    load("four_bar");
    must_say("$ctl derive four_bar attach:coupler,box,2 --name loaded --replace", "loaded: ");
    must_say("$ctl describe loaded loop", "rocker");
    must_fail("$ctl derive four_bar detach:rocker --name open", 1, "constraint loop");
    must_say("$ctl derive two_link merge:four_bar,tip,my_ --name both --replace", "both: ");
    must_say("$ctl describe both my_loop", "my_rocker");
    load("every_kind");
    must_say("$ctl derive two_link merge:every_kind,tip,my_ --name both --replace", "both: ");
    must_say("$ctl describe both my_rod", "predecessor   my_base\n");
    must_say("$ctl derive every_kind base:base,floating --name free --replace", "free: ");
    must_fail("$ctl derive two_link merge:free,tip,my_ --name both --replace", 1, "constraint rod");
}
END_TEST

START_TEST(kept_models_have_their_constraints_after_a_restart) {
    load("four_bar");
    must_say("$ctl load --replace --keep --name stays --description " DESCRIPTIONS "every_kind.json", "stays: ");
    must_say("$ctl derive four_bar attach:coupler,box,2 --name heavy --replace --keep", "heavy: ");
    char *stays = digest_of("stays"), *heavy = digest_of("heavy");
    daemon_restart(&served);
    char *again = digest_of("stays"), *also = digest_of("heavy");
    ck_assert_str_eq(stays, again);
    ck_assert_str_eq(heavy, also);
    must_say("$ctl describe heavy loop", "rocker");
    free(stays), free(heavy), free(again), free(also);
}
END_TEST

/* ---- constraints of a request ------------------------------------------------------------------------------------ */

/* Loads the four-bar, and as "tree" its links and joints without its constraint. Returns the list of its constraints,
 * which the caller releases. */
static json_t *load_open(void) {
    char line[512];
    load("four_bar");
    json_t *description = json_load_file(DESCRIPTIONS "four_bar.json", 0, NULL);
    json_t *constraints = json_incref(json_object_get(description, "constraints"));
    ck_assert(constraints && json_object_del(description, "constraints") == 0);
    ck_assert_int_eq(json_dump_file(description, scratch("tree.json"), 0), 0);
    json_decref(description);
    snprintf(line, sizeof line, "$ctl load --replace --name tree --description %s", scratch("tree.json"));
    must_say(line, "tree: ");
    return constraints;
}

/* Calls a method about a model with constraints of the request (NULL: none). `rest` are further members of the request.
 * The caller releases the reply. */
static json_t *ask_with(const char *method, const char *model, const json_t *constraints, const char *rest) {
    char *list = constraints ? json_dumps(constraints, 0) : strdup("[]"), line[2048];
    snprintf(line, sizeof line, "$ctl call %s '{\"query\": {\"model\": \"%s\", \"constraints\": %s}, %s}'", method,
             model, list, rest);
    free(list);
    return run_json(line);
}

START_TEST(a_constraint_of_a_request_is_that_of_a_model) {
    static const struct {
        const char *method, *rest;
    } cases[] = {
        {"forward_dynamics", "\"q\": [0, 0, 0], \"v\": [2, -2, 1], \"tau\": [1, 0, 0]"},
        {"inverse_dynamics", "\"q\": [0, 0, 0], \"a\": [2, -2, 1]"},
        {"evaluate", "\"q\": [0, 0, 0], \"quantities\": [{\"quantity\": \"QUANTITY_CONSTRAINT_JACOBIAN\"}, "
                     "{\"quantity\": \"QUANTITY_FORWARD_DYNAMICS\"}]"},
        {"assemble", "\"q\": [0.3, 0, 0], \"held_joints\": [\"motor\"]"},
        {"rollout", "\"q\": [0, 0, 0], \"v\": [2, -2, 1], \"steps\": 100, \"stride\": 10"},
        {"forward_dynamics_trajectory", "\"q\": [0, 0, 0], \"v\": [2, -2, 1], \"tau\": [1, 0, 0, 1, 0, 0, 1, 0, 0]"},
    };
    json_t *constraints = load_open();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *own = ask_with(cases[i].method, "four_bar", NULL, cases[i].rest);
        json_t *added = ask_with(cases[i].method, "tree", constraints, cases[i].rest);
        char *expected = json_dumps(own, JSON_SORT_KEYS), *found = json_dumps(added, JSON_SORT_KEYS);
        ck_assert_str_eq(found, expected);
        free(expected), free(found);
        json_decref(own), json_decref(added);
    }
    json_decref(constraints);
    must_say("$ctl fd tree --json", "\"a\"");
}
END_TEST

#define WRONG(constraint) "\"query\": {\"model\": \"tree\", \"constraints\": [" constraint "]}"
#define ROD "{\"name\": \"rod\", \"distance\": {\"distance\": 1, \"successor\": {\"link\": \"rocker\"}}}"

/* A request about the open arm, and words of its refusal. */
typedef struct bad_request {
    const char *request, *said;
} bad_request;

static void check_refusals(const bad_request *cases, size_t count) {
    json_decref(load_open());
    for (size_t i = 0; i < count; i++) {
        char line[512];
        snprintf(line, sizeof line, "$ctl call %s", cases[i].request);
        must_fail(line, 1, cases[i].said);
    }
}

START_TEST(a_wrong_constraint_of_a_request_is_refused_at_its_member) {
    static const bad_request cases[] = {
        {"forward_dynamics '{" WRONG("{\"name\": \"x\", \"distance\": {}}") ", \"q\": [0, 0, 0]}'",
         "forward_dynamics.query.constraints[0].distance.distance"},
        {"forward_dynamics '{" WRONG(ROD
                                     ", {\"name\": \"x\", \"distance\": {\"distance\": 1, \"successor\": {\"link\": "
                                     "\"hand\"}}}") ", \"q\": [0, 0, 0]}'",
         "forward_dynamics.query.constraints[1].distance.successor.link"},
        {"forward_dynamics '{" WRONG(ROD ", " ROD) ", \"q\": [0, 0, 0]}'", "query.constraints[1]"},
        {"mass_matrix '{" WRONG(ROD) ", \"q\": [0, 0, 0]}'",
         "mass_matrix.query.constraints: mass_matrix does not support constraints of a request"},
        {"create_simulation '{" WRONG("{\"name\": \"x\", \"distance\": {}}") ", \"q\": [0, 0, 0]}'",
         "create_simulation.query.constraints[0].distance.distance"},
    };
    check_refusals(cases, sizeof cases / sizeof *cases);
}
END_TEST

/* Writes the constraints of a request to a file in the form of a description, which the caller releases. */
static void write_constraints(json_t *constraints, const char *file) {
    json_t *description = json_pack("{s:O}", "constraints", constraints);
    ck_assert_int_eq(json_dump_file(description, scratch(file), 0), 0);
    json_decref(description);
}

/* Runs a command about the tree with a file of constraints, and about the four-bar, and requires the same output. */
static void must_agree(const char *command, const char *options) {
    outcome own = shell("$ctl %s four_bar %s --csv", command, options);
    outcome added = shell("$ctl %s tree %s --constraints %s --csv", command, options, scratch("loop.json"));
    ck_assert_msg(own.code == 0 && added.code == 0, "%s: %s%s", command, own.error, added.error);
    ck_assert_msg(strcmp(own.output, added.output) == 0, "%s: %.500s", command, added.output);
    outcome_free(&own);
    outcome_free(&added);
}

START_TEST(the_command_line_takes_a_file_of_constraints) {
    json_t *constraints = load_open();
    write_constraints(constraints, "loop.json");
    json_decref(constraints);
    must_agree("fd", "--v 2,-2,1 --tau 1,0,0");
    must_agree("id", "--a 2,-2,1");
    must_agree("evaluate", "--quantity constraint_jacobian");
    must_agree("assemble", "--q motor=0.3 --hold motor");
    must_agree("rollout", "--v 2,-2,1 --duration 0.1");
    must_agree("simulate", "--v 2,-2,1 --duration 0.05");
    char line[512];
    snprintf(line, sizeof line, "$ctl fd tree --constraints %s", scratch("loop.json"));
    must_say(line, "loop[4]");
    must_fail("$ctl fd tree --constraints '{\"links\": []}'", 2, "no member constraints");
}
END_TEST

/* Returns the state of a simulation as text without its stamp; the caller frees it. */
static char *state_of(const char *simulation) {
    char line[256];
    snprintf(line, sizeof line, "$ctl call get_simulation_state '{\"simulation\": \"%s\"}'", simulation);
    json_t *reply = run_json(line), *state = json_object_get(reply, "state");
    json_object_del(state, "stamp_ns");
    char *text = json_dumps(state, JSON_SORT_KEYS);
    json_decref(reply);
    return text;
}

/* Creates a simulation that lives without its owner, and computes steps. */
static void simulate(const char *name, const char *model, const json_t *constraints) {
    char rest[512], line[512];
    snprintf(rest, sizeof rest, "\"name\": \"%s\", \"q\": [0, 0, 0], \"v\": [2, -2, 1], \"keep\": true, \"lease\": 600",
             name);
    json_t *created = ask_with("create_simulation", model, constraints, rest);
    snprintf(line, sizeof line, "$ctl call step_simulation '{\"simulation\": \"%s\", \"token\": %lld, \"steps\": 200}'",
             name, json_integer_value(json_object_get(created, "token")));
    json_decref(run_json(line));
    json_decref(created);
}

START_TEST(a_simulation_keeps_the_constraints_of_its_request_over_a_restart) {
    json_t *constraints = load_open();
    simulate("own", "four_bar", NULL);
    simulate("added", "tree", constraints);
    json_decref(constraints);
    char *own = state_of("own"), *added = state_of("added");
    ck_assert_str_eq(added, own);
    daemon_restart(&served);
    char *again = state_of("added");
    ck_assert_str_eq(again, own);
    free(own), free(added), free(again);
}
END_TEST

START_TEST(a_recorded_simulation_with_constraints_of_its_request_replays_bit_by_bit) {
    char line[512];
    json_t *constraints = load_open();
    write_constraints(constraints, "loop.json");
    json_decref(constraints);
    snprintf(line, sizeof line, "$ctl simulate tree --constraints %s --v 2,-2,1 --duration 0.1 --record held --replace",
             scratch("loop.json"));
    must_say(line, "of constraint loop");
    json_t *replay = run_json("$ctl call replay_simulation '{\"recording\": \"held\"}'");
    ck_assert_int_eq(json_integer_value(json_object_get(replay, "steps")), 100);
    ck_assert_int_eq(json_integer_value(json_object_get(replay, "equal_steps")), 100);
    json_decref(replay);
}
END_TEST

START_TEST(streams_and_trajectories_compute_the_forces_of_constrained_motions) {
    char line[1024];
    json_t *constraints = load_open();
    write_constraints(constraints, "loop.json");
    json_decref(constraints);
    json_t *motion = run_json("$ctl fd four_bar --v 2,-2,1 --tau 5,0,0 --json"), *a = json_object_get(motion, "a");
    char *rows = NULL;
    ck_assert_int_gt(asprintf(&rows,
                              "q.motor,q.elbow,q.pivot,v.motor,v.elbow,v.pivot,a.motor,a.elbow,a.pivot\n"
                              "0,0,0,2,-2,1,%.17g,%.17g,%.17g\n",
                              number_of(a, 0), number_of(a, 1), number_of(a, 2)),
                     0);
    write_file(scratch("motion.csv"), rows);
    snprintf(line, sizeof line, "$ctl id four_bar --states %s --json", scratch("motion.csv"));
    json_t *one = run_json(line), *tau = json_object_get(one, "tau");
    ck_assert_double_gt(fabs(number_of(tau, 0)), 1);
    snprintf(line, sizeof line,
             "$ctl call inverse_dynamics_trajectory '{\"query\": {\"model\": \"four_bar\"}, \"q\": [0, 0, 0], "
             "\"v\": [2, -2, 1], \"a\": [%.17g, %.17g, %.17g]}'",
             number_of(a, 0), number_of(a, 1), number_of(a, 2));
    json_t *trajectory = run_json(line);
    ck_assert(json_equal(tau, json_object_get(trajectory, "tau")));
    snprintf(line, sizeof line, "$ctl stream tree --states %s --constraints %s --csv", scratch("motion.csv"),
             scratch("loop.json"));
    char torque[64];
    snprintf(torque, sizeof torque, "1,0,%.17g", number_of(tau, 0));
    must_say(line, torque);
    free(rows);
    json_decref(motion), json_decref(one), json_decref(trajectory);
}
END_TEST

/* Two hands that grasp a thing in motion: the loop closes by an impact. */
START_TEST(an_impact_closes_a_loop_and_takes_energy) {
    char line[1024];
    json_t *constraints = load_open();
    write_constraints(constraints, "loop.json");
    json_decref(constraints);
    double energy[2] = {0};
    json_t *before = run_json("$ctl evaluate tree --v 2,1,1 --quantity kinetic_energy --json");
    energy[0] = json_number_value(json_object_get(before, "kinetic_energy"));
    for (int k = 0; k < 2; k++) {
        snprintf(line, sizeof line,
                 "$ctl evaluate tree --constraints %s --v 2,1,1 --restitution %d --quantity "
                 "impact_velocity,impact_impulses --json",
                 scratch("loop.json"), k);
        json_t *found = run_json(line), *v = json_object_get(found, "impact_velocity");
        ck_assert_uint_eq(json_array_size(json_object_get(found, "impact_impulses")), 5);
        snprintf(line, sizeof line, "$ctl evaluate tree --v %.17g,%.17g,%.17g --quantity kinetic_energy --json",
                 number_of(v, 0), number_of(v, 1), number_of(v, 2));
        json_t *after = run_json(line);
        energy[1] = json_number_value(json_object_get(after, "kinetic_energy"));
        ck_assert_double_eq_tol(energy[1], k == 0 ? fmin(energy[1], 0.95 * energy[0]) : energy[0], 1e-12);
        snprintf(line, sizeof line,
                 "$ctl evaluate four_bar --v %.17g,%.17g,%.17g --quantity impact_velocity,impact_impulses --json",
                 number_of(v, 0), number_of(v, 1), number_of(v, 2));
        json_t *again = run_json(line);
        for (size_t i = 0; k == 0 && i < 3; i++) {
            ck_assert_double_eq_tol(number_of(json_object_get(again, "impact_velocity"), i), number_of(v, i), 1e-12);
        }
        json_decref(found), json_decref(after), json_decref(again);
    }
    json_decref(before);
    must_fail("$ctl evaluate four_bar --quantity impact_velocity --restitution 2", 1,
              "--quantity[0].restitution: the restitution is 2; pass a number from 0 to 1");
    must_fail("$ctl evaluate two_link --quantity impact_velocity", 1, "has no constraints");
}
END_TEST

/* Compares the derivative of the accelerations by q with differences, for a robot with three joints that moves. */
static void check_derivatives(const char *robot) {
    const double h = 1e-4;
    char line[512];
    snprintf(line, sizeof line, "$ctl evaluate %s --v 2,-2,1 --quantity forward_dynamics_by_q --json", robot);
    json_t *found = run_json(line), *by_q = json_object_get(found, "forward_dynamics_by_q");
    for (size_t k = 0; k < 3; k++) {
        json_t *moved[2];
        for (int side = 0; side < 2; side++) {
            double q[3] = {0};
            q[k] = side ? h : -h;
            snprintf(line, sizeof line, "$ctl evaluate %s --q=%g,%g,%g --v 2,-2,1 --quantity forward_dynamics --json",
                     robot, q[0], q[1], q[2]);
            moved[side] = run_json(line);
        }
        for (size_t i = 0; i < 3; i++) {
            double rate = (number_of(json_object_get(moved[1], "forward_dynamics"), i) -
                           number_of(json_object_get(moved[0], "forward_dynamics"), i)) /
                          (2 * h);
            ck_assert_double_eq_tol(number_of(json_array_get(by_q, i), k), rate, 1e-4 * (1 + fabs(rate)));
        }
        json_decref(moved[0]), json_decref(moved[1]);
    }
    json_decref(found);
}

/* A spring-loaded hinge that closes a loop: its effort needs the opposite torque of the motor. */
START_TEST(an_effort_in_a_loop_joint_turns_the_mechanism) {
    char line[512];
    json_t *description = json_load_file(DESCRIPTIONS "four_bar.json", 0, NULL);
    json_t *loop = json_object_get(json_array_get(json_object_get(description, "constraints"), 0), "loop_joint");
    json_object_set_new(loop, "effort", json_real(2));
    json_object_set_new(loop, "damping", json_real(0.5));
    json_object_set_new(description, "name", json_string("loaded_bar"));
    ck_assert_int_eq(json_dump_file(description, scratch("loaded.json"), 0), 0);
    json_decref(description);
    snprintf(line, sizeof line, "$ctl load --replace --description %s", scratch("loaded.json"));
    must_say(line, "loaded_bar: ");
    load("four_bar");
    json_t *without = run_json("$ctl fd four_bar --v 2,-2,1 --json"),
           *with = run_json("$ctl fd loaded_bar --v 2,-2,1 --json");
    json_t *damped = run_json("$ctl fd loaded_bar --v 2,-2,1 --passive damping --json");
    double plain = number_of(json_object_get(without, "a"), 0), driven = number_of(json_object_get(with, "a"), 0);
    ck_assert_double_gt(fabs(driven - plain), 0.1);
    ck_assert_double_gt(fabs(number_of(json_object_get(damped, "a"), 0) - driven), 1e-3);
    const json_t *a = json_object_get(with, "a");
    snprintf(line, sizeof line, "$ctl id loaded_bar --v 2,-2,1 --a %.17g,%.17g,%.17g --json", number_of(a, 0),
             number_of(a, 1), number_of(a, 2));
    json_t *forces = run_json(line);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(number_of(json_object_get(forces, "tau"), i), 0, 1e-9);
    }
    json_decref(without), json_decref(with), json_decref(damped), json_decref(forces);
    check_derivatives("loaded_bar");
}
END_TEST

/* Returns the numbers of a quantity of the four-bar, as JSON text that the caller frees. `options` state v. */
static char *numbers_of(const char *quantity, const char *options) {
    char line[256];
    snprintf(line, sizeof line, "$ctl evaluate four_bar %s --quantity %s --json", options, quantity);
    json_t *found = run_json(line), *flat = json_array();
    size_t i, k;
    json_t *row, *value;
    json_array_foreach(json_object_get(found, quantity), i, row) {
        if (json_is_number(row)) {
            json_array_append_new(flat, json_real(json_number_value(row)));
        }
        json_array_foreach(row, k, value) {
            json_array_append(flat, value);
        }
    }
    char *text = json_dumps(flat, JSON_REAL_PRECISION(17));
    json_decref(found), json_decref(flat);
    return text;
}

/* Requires that two lists of numbers are equal up to rounding. */
static void must_be_close(const json_t *found, const json_t *expected) {
    ck_assert_uint_gt(json_array_size(expected), 0);
    ck_assert_uint_eq(json_array_size(found), json_array_size(expected));
    for (size_t i = 0; i < json_array_size(expected); i++) {
        ck_assert_double_eq_tol(number_of(found, i), number_of(expected, i), 1e-9);
    }
}

/* The loop of the four-bar, stated by its rows, has the accelerations, forces and torques of the constraint. */
START_TEST(rows_of_a_request_act_as_the_constraint_with_these_rows) {
    char line[2048];
    json_decref(load_open());
    char *A = numbers_of("constraint_jacobian", ""), *bias = numbers_of("constraint_bias", "--v 2,-2,1");
    json_t *list = json_loads(bias, 0, NULL);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_array_set_new(list, i, json_real(-number_of(list, i)));
    }
    char *c = json_dumps(list, JSON_REAL_PRECISION(17));
    snprintf(
        line, sizeof line,
        "$ctl call forward_dynamics '{\"query\": {\"model\": \"tree\", \"rows\": {\"count\": 5, \"matrix\": %s, "
        "\"acceleration\": %s}}, \"q\": [0, 0, 0, 0, 0, 0], \"v\": [2, -2, 1, 2, -2, 1], \"tau\": [5, 0, 0, 5, 0, 0]}'",
        A, c);
    json_t *found = run_json(line), *a = json_object_get(found, "a");
    json_t *own =
        run_json("$ctl call forward_dynamics '{\"query\": {\"model\": \"four_bar\"}, \"q\": [0, 0, 0, 0, 0, 0], "
                 "\"v\": [2, -2, 1, 2, -2, 1], \"tau\": [5, 0, 0, 5, 0, 0]}'");
    must_be_close(a, json_object_get(own, "a"));
    must_be_close(json_object_get(json_object_get(found, "constraints"), "multipliers"),
                  json_object_get(json_object_get(own, "constraints"), "multipliers"));
    must_be_close(json_object_get(json_object_get(found, "constraints"), "ranks"),
                  json_object_get(json_object_get(own, "constraints"), "ranks"));
    char *accelerations = json_dumps(a, JSON_REAL_PRECISION(17));
    snprintf(line, sizeof line,
             "$ctl call inverse_dynamics '{\"query\": {\"model\": \"tree\", \"rows\": {\"count\": 5, \"matrix\": %s, "
             "\"acceleration\": %s}}, \"q\": [0, 0, 0, 0, 0, 0], \"v\": [2, -2, 1, 2, -2, 1], \"a\": %s}'",
             A, c, accelerations);
    json_t *forces = run_json(line);
    snprintf(line, sizeof line,
             "$ctl call inverse_dynamics '{\"query\": {\"model\": \"four_bar\"}, \"q\": [0, 0, 0, 0, 0, 0], \"v\": "
             "[2, -2, 1, 2, -2, 1], \"a\": %s}'",
             accelerations);
    json_t *expected = run_json(line);
    must_be_close(json_object_get(forces, "tau"), json_object_get(expected, "tau"));
    free(A), free(bias), free(c), free(accelerations);
    json_decref(list), json_decref(found), json_decref(own), json_decref(forces), json_decref(expected);
}
END_TEST

/* Calls evaluate at the states of the four-bar, with the quantities of constraints; `query` is the rest of the query.
 * The caller frees the reply. */
static json_t *evaluate_loop(const char *query) {
    static const char *const quantities[] = {"FORWARD_DYNAMICS",
                                             "INVERSE_DYNAMICS",
                                             "CONSTRAINT_JACOBIAN",
                                             "CONSTRAINT_BIAS",
                                             "CONSTRAINT_INVERSE_INERTIA",
                                             "CONSTRAINT_INERTIA",
                                             "CONSTRAINT_FORCE_PROJECTOR",
                                             "CONSTRAINT_ACCELERATION_PROJECTOR",
                                             "CONSTRAINT_CONDITION",
                                             "CONSTRAINT_MULTIPLIERS",
                                             "CONSTRAINT_MULTIPLIERS_OF_MOTION",
                                             "PROJECTED_INVERSE_DYNAMICS",
                                             "PROJECTED_FORWARD_DYNAMICS",
                                             "CONSTRAINT_MULTIPLIERS_BY_TAU",
                                             "CONSTRAINED_ACCELERATION_BY_TAU",
                                             "HYBRID_FORCES",
                                             "HYBRID_ACCELERATION",
                                             "HYBRID_MULTIPLIERS",
                                             "IMPACT_VELOCITY",
                                             "IMPACT_IMPULSES"};
    char line[8192], *end = line;
    end += sprintf(end,
                   "$ctl call evaluate '{\"query\": {%s, \"motion_options\": {\"nearest\": true}}, "
                   "\"q\": [0, 0, 0, 0, 0, 0], \"v\": [2, -2, 1, 1, -1, 2], "
                   "\"a\": [1, -1, 1, 2, -2, 2], \"tau\": [5, 0, 0, 5, 0, 1], \"quantities\": [",
                   query);
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        bool is_impact = strncmp(quantities[i], "IMPACT", 6) == 0;
        end += sprintf(end, "%s{\"quantity\": \"QUANTITY_%s\"%s}", i ? ", " : "", quantities[i],
                       is_impact ? ", \"restitution\": 0.5" : "");
    }
    sprintf(end, "]}'");
    return run_json(line);
}

/* The rows of the loop beside a model without it have all quantities of the constraint: rows for both states alike, and
 * for each state. */
START_TEST(quantities_of_rows_are_those_of_the_constraint_with_these_rows) {
    json_decref(load_open());
    char *A = numbers_of("constraint_jacobian", ""), *bias = numbers_of("constraint_bias", "--v 2,-2,1");
    char *other = numbers_of("constraint_bias", "--v 1,-1,2"), query[4096];
    json_t *lists[] = {json_loads(A, 0, NULL), json_loads(bias, 0, NULL), json_loads(other, 0, NULL)};
    json_t *matrix = json_array(), *accelerations = json_array();
    for (int copy = 0; copy < 2; copy++) {
        json_array_extend(matrix, lists[0]);
        for (size_t i = 0; i < json_array_size(lists[1]); i++) {
            json_array_append_new(accelerations, json_real(-number_of(lists[1 + copy], i)));
        }
    }
    char *both = json_dumps(matrix, JSON_REAL_PRECISION(17)), *c = json_dumps(accelerations, JSON_REAL_PRECISION(17));
    snprintf(query, sizeof query, "\"model\": \"tree\", \"rows\": {\"count\": 5, \"matrix\": %s, \"acceleration\": %s}",
             both, c);
    json_t *found = evaluate_loop(query), *expected = evaluate_loop("\"model\": \"four_bar\"");
    json_t *results = json_object_get(found, "results");
    ck_assert_uint_eq(json_array_size(results), 20);
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *own = json_array_get(results, i), *of = json_array_get(json_object_get(expected, "results"), i);
        const json_t *blocks = json_object_get(own, "blocks"), *same = json_object_get(of, "blocks");
        for (size_t k = 0; k < json_array_size(blocks); k++) {
            must_be_close(json_object_get(json_array_get(blocks, k), "values"),
                          json_object_get(json_array_get(same, k), "values"));
        }
    }
    free(A), free(bias), free(other), free(both), free(c);
    json_decref(lists[0]), json_decref(lists[1]), json_decref(lists[2]), json_decref(matrix);
    json_decref(accelerations), json_decref(found), json_decref(expected);
}
END_TEST

/* A row beside the constraint of the model follows it, and holds at the accelerations. A base that moves changes the
 * forces, not the row. */
START_TEST(a_row_beside_the_constraints_holds_as_they_do) {
    json_decref(load_open());
    static const char *const bases[] = {"", "--base-velocity 0,0,0,0,0,3 --base-acceleration 1,2,3,0,0,1"};
    for (int i = 0; i < 2; i++) {
        char line[1024];
        snprintf(line, sizeof line, "$ctl fd tree --q 0.1,0.2,0.3 --v 1,2,3 --tau 5,1,1 --row 1,1,0=0.5 %s --json",
                 bases[i]);
        json_t *found = run_json(line), *a = json_object_get(found, "a");
        ck_assert_double_eq_tol(number_of(a, 0) + number_of(a, 1), 0.5, 1e-10);
        snprintf(line, sizeof line,
                 "$ctl id tree --q 0.1,0.2,0.3 --v 1,2,3 --a %.17g,%.17g,%.17g --row 1,1,0=0.5 %s --json",
                 number_of(a, 0), number_of(a, 1), number_of(a, 2), bases[i]);
        json_t *forces = run_json(line), *tau = json_object_get(forces, "tau");
        /* The row exerts the same force on both joints: tau differs from 5, 1, 1 by a multiple of it, and its squares
         * are least. */
        ck_assert_double_eq_tol(number_of(tau, 0) - number_of(tau, 1), 4, 1e-9);
        ck_assert_double_eq_tol(number_of(tau, 0) + number_of(tau, 1), 0, 1e-9);
        ck_assert_double_eq_tol(number_of(tau, 2), 1, 1e-9);
        json_decref(found), json_decref(forces);
    }
    must_say("$ctl evaluate four_bar --row 1,0,0 --quantity constraint_multipliers --csv", "rows[0]");
    must_fail("$ctl fd tree --row 1,0", 2, "--row 1,0: 2 values, but 3 are needed");
    must_fail("$ctl fd tree --row 1,0,0,0", 2, "--row 1,0,0,0: 4 values, but 3 are needed");
    must_fail("$ctl fd tree --row 1,half,0", 2, "--row 1,half,0: value 1, \"half\", is not a finite number");
    must_fail("$ctl fd tree --row 1,0,inf", 2, "--row 1,0,inf: value 2, \"inf\", is not a finite number");
    must_fail("$ctl fd tree --row 1,0,0=", 2, "--row 1,0,0=: \"\" after = is not a finite number");
    must_fail("$ctl fd tree --row 1,0,0=nan", 2, "--row 1,0,0=nan: \"nan\" after = is not a finite number");
    must_fail("$ctl fd tree --row 1,0,0=1,2", 2, "--row 1,0,0=1,2: \"1,2\" after = is not a finite number");
    must_fail("$ctl fd tree $(yes -- --row 1,0,0 | head -n 601)", 1, "--row: count: there are 601 rows; pass 1 to 600");
    must_fail("$ctl fd tree --base-velocity 1,2", 2, "--base-velocity 1,2: 2 values: pass X,Y,Z");
    must_fail("$ctl fd tree --base-velocity 1,2,z", 2, "--base-velocity 1,2,z: value 2, \"z\", is not a finite number");
    must_fail("$ctl id four_bar --force-weights 1,,3", 2, "--force-weights 1,,3: value 1, \"\", is not a finite");
    must_fail("$ctl fd tree --time soon", 2, "--time soon: pass a number of s");
    must_fail("$ctl rollout tree --row 1,0,0 --duration 1", 2, "rollout does not take --row");
}
END_TEST

#define WITH_ROWS(rows) "{\"query\": {\"model\": \"tree\", \"rows\": {" rows "}}, \"q\": [0, 0, 0]}"

START_TEST(wrong_rows_are_refused_at_their_member) {
    static const bad_request cases[] = {
        {"forward_dynamics '" WITH_ROWS("\"matrix\": [1, 0, 0]") "'", "forward_dynamics.query.rows.count: there are 0"},
        {"forward_dynamics '" WITH_ROWS("\"count\": 1, \"matrix\": [1, 0]") "'",
         "query.rows.matrix: matrix has 2 values"},
        {"inverse_dynamics '" WITH_ROWS("\"count\": 1, \"matrix\": [1, 0, 0], \"acceleration\": [1, 2]") "'",
         "inverse_dynamics.query.rows.acceleration: acceleration has 2 values"},
        {"mass_matrix '" WITH_ROWS("\"count\": 1, \"matrix\": [1, 0, 0]") "'",
         "mass_matrix.query.rows: mass_matrix does not support rows of a request"},
        {"evaluate '{\"query\": {\"model\": \"tree\", \"rows\": {\"count\": 1, \"matrix\": [1, 0, 0]}}, \"q\": [0, 0, "
         "0], \"quantities\": [{\"quantity\": \"QUANTITY_FORWARD_DYNAMICS_BY_Q\"}]}'",
         "needs the derivatives of the rows, which the request states at its states alone"},
        {"rollout '{\"query\": {\"model\": \"tree\", \"rows\": {\"count\": 1, \"matrix\": [1, 0, 0]}}, \"q\": [0, 0, "
         "0], \"steps\": 1}'",
         "rollout.query.rows: rollout does not support rows of a request; leave it out, or state a constraint"},
    };
    check_refusals(cases, sizeof cases / sizeof *cases);
}
END_TEST

START_TEST(rows_that_are_not_finite_are_refused_at_their_number) {
    json_decref(load_open());
    must_fail("$ctl call forward_dynamics '" WITH_ROWS("\"count\": 1, \"matrix\": [1, \"NaN\", 0]") "'", 2,
              "forward_dynamics.query.rows.matrix[1]: \"NaN\" is not a number");
}
END_TEST

#define FOOT_ON_PLATE                                                                                                  \
    "[{\"name\": \"plate\", \"loop_joint\": {\"type\": \"JOINT_TYPE_FIXED\", \"successor\": {\"link\": \"%s\"}}}]"

/* Numbers of a robot on a floating base with twelve joints. */
#define STANDING_Q "[0, 0, 0, 0, 0, 0, 1, 0.1, 0.4, -0.8, 0.2, 0.5, -0.9, 0.1, 0.6, -0.7, 0.2, 0.4, -0.8]"
#define STANDING_TAU "[0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6]"

/* Checks inverse dynamics with measured forces: the wrench that a plate measures under a foot, and the motion, yield
 * the torques of the joints by the tree alone, and nothing is left over at the base that no motor drives. */
START_TEST(motion_and_the_force_of_a_plate_yield_the_torques) {
    static const char foot[] = "FL_FOOT";
    char line[4096];
    snprintf(line, sizeof line, "$ctl load %s/quadruped.urdf --replace --name walker --base floating",
             DYNAMICS_ROBOTS_DIR);
    must_say(line, "walker: ");
    snprintf(line, sizeof line,
             "$ctl call evaluate '{\"query\": {\"model\": \"walker\", \"constraints\": " FOOT_ON_PLATE
             "}, \"q\": " STANDING_Q ", \"tau\": " STANDING_TAU
             ", \"quantities\": [{\"quantity\": \"QUANTITY_FORWARD_DYNAMICS\"}, {\"quantity\": "
             "\"QUANTITY_CONSTRAINT_WRENCHES\"}]}'",
             foot);
    json_t *found = run_json(line), *results = json_object_get(found, "results"), *texts[3];
    const json_t *blocks = json_object_get(json_array_get(results, 1), "blocks");
    texts[0] = json_object_get(json_array_get(json_object_get(json_array_get(results, 0), "blocks"), 0), "values");
    texts[1] = json_object_get(json_array_get(blocks, 0), "values");
    texts[2] = json_object_get(json_array_get(blocks, 1), "values");
    ck_assert_str_eq(text_of(json_array_get(blocks, 0), "name"), "force");
    ck_assert_double_gt(fabs(number_of(texts[1], 2)), 1);
    char *a = json_dumps(texts[0], JSON_REAL_PRECISION(17)), *force = json_dumps(texts[1], JSON_REAL_PRECISION(17)),
         *torque = json_dumps(texts[2], JSON_REAL_PRECISION(17));
    snprintf(
        line, sizeof line,
        "$ctl call inverse_dynamics '{\"query\": {\"model\": \"walker\", \"external_forces\": [{\"link\": "
        "\"%s\", \"reference_frame\": \"REFERENCE_FRAME_WORLD\", \"force\": %s, \"torque\": %s}]}, \"q\": " STANDING_Q
        ", \"a\": %s}'",
        foot, force, torque, a);
    json_t *reply = run_json(line), *expected = json_loads(STANDING_TAU, 0, NULL);
    must_be_close(json_object_get(reply, "tau"), expected);
    free(a), free(force), free(torque);
    json_decref(found), json_decref(reply), json_decref(expected);
}
END_TEST

#define DRIVE                                                                                                          \
    "[{\"name\": \"drive\", \"prescribed\": {\"joint\": \"motor\", \"coefficients\": [0, 2, 1.5], \"amplitude\": "     \
    "0.5, "                                                                                                            \
    "\"frequency\": 3}}]"

/* Checks the force of a drive against inverse dynamics of the resulting motion, at two instants. */
START_TEST(a_drive_of_a_request_exerts_the_force_of_inverse_dynamics) {
    json_decref(load_open());
    json_t *drive = json_loads(DRIVE, 0, NULL);
    for (int i = 0; i < 2; i++) {
        double t = 0.25 * i;
        char line[1024];
        snprintf(line, sizeof line,
                 "$ctl call forward_dynamics '{\"query\": {\"model\": \"tree\", \"time\": %g, \"constraints\": " DRIVE
                 "}, \"q\": [0.1, 0.2, 0.3], \"v\": [1, 2, 3]}'",
                 t);
        json_t *reply = run_json(line), *a = json_object_get(reply, "a");
        ck_assert_double_eq_tol(number_of(a, 0), 3 - 4.5 * sin(3 * t), 1e-11);
        snprintf(
            line, sizeof line,
            "$ctl call inverse_dynamics '{\"query\": {\"model\": \"tree\"}, \"q\": [0.1, 0.2, 0.3], \"v\": [1, 2, 3], "
            "\"a\": [%.17g, %.17g, %.17g]}'",
            number_of(a, 0), number_of(a, 1), number_of(a, 2));
        json_t *forces = run_json(line), *tau = json_object_get(forces, "tau");
        const json_t *solution = json_object_get(reply, "constraints");
        ck_assert_double_eq_tol(number_of(json_object_get(solution, "multipliers"), 0), number_of(tau, 0), 1e-10);
        ck_assert_double_eq_tol(number_of(tau, 1), 0, 1e-10);
        ck_assert_double_eq_tol(number_of(tau, 2), 0, 1e-10);
        json_decref(reply), json_decref(forces);
    }
    json_decref(drive);
    must_fail("$ctl call mass_matrix '{\"query\": {\"model\": \"tree\", \"time\": 1}, \"q\": [0, 0, 0]}'", 1,
              "mass_matrix.query.time: mass_matrix does not support a time");
}
END_TEST

START_TEST(simulations_and_rollouts_follow_a_prescribed_motion) {
    json_decref(load_open());
    json_t *drive = json_loads(DRIVE, 0, NULL);
    const double position = 2 + 1.5 + 0.5 * sin(3), speed = 2 + 3 + 1.5 * cos(3);
    json_t *rolled =
        ask_with("rollout", "tree", drive, "\"q\": [0, 0, 0], \"v\": [3.5, 0, 0], \"steps\": 1000, \"stride\": 1000");
    ck_assert_double_eq_tol(number_of(json_object_get(rolled, "q"), 3), position, 1e-10);
    ck_assert_double_eq_tol(number_of(json_object_get(rolled, "v"), 3), speed, 1e-10);
    json_t *created = ask_with("create_simulation", "tree", drive, "\"q\": [0, 0, 0], \"v\": [3.5, 0, 0]");
    char line[512];
    snprintf(
        line, sizeof line, "$ctl call step_simulation '{\"simulation\": \"%s\", \"token\": %lld, \"steps\": 1000}'",
        text_of(json_object_get(created, "simulation"), "name"), json_integer_value(json_object_get(created, "token")));
    json_t *stepped = run_json(line), *state = json_object_get(stepped, "state");
    ck_assert_double_eq_tol(number_of(json_object_get(state, "q"), 0), position, 1e-10);
    ck_assert_double_eq_tol(number_of(json_object_get(state, "v"), 0), speed, 1e-10);
    ck_assert_double_le(json_number_value(json_object_get(state, "closure_error")), 1e-10);
    json_decref(rolled), json_decref(created), json_decref(stepped), json_decref(drive);
}
END_TEST

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Wrong constraint, which replaces the one of the four-bar, and its refusal: the end of the error's field, and a part
 * of the message. */
typedef struct wrong_constraint {
    const char *constraint, *member, *said;
} wrong_constraint;

#define SIDES "\"predecessor\": {\"link\": \"coupler\"}, \"successor\": {\"link\": \"rocker\"}"

static const wrong_constraint wrong_constraints[] = {
    {"{\"name\": \"x\"}", "", "no kind"},
    {"{\"name\": \"\", \"distance\": {\"distance\": 1, " SIDES "}}", "", "name"},
    {"{\"name\": \"x\", \"rows\": {}, \"distance\": {\"distance\": 1, " SIDES "}}", ".rows", "leave it out"},
    {"{\"name\": \"x\", \"distance\": {" SIDES "}}", ".distance.distance", "positive"},
    {"{\"name\": \"x\", \"point_on_plane\": {" SIDES "}}", ".point_on_plane.normal", "0 0 1"},
    {"{\"name\": \"x\", \"point_on_plane\": {\"normal\": {}, " SIDES "}}", ".point_on_plane.normal", "not zero"},
    {"{\"name\": \"x\", \"loop_joint\": {" SIDES "}}", ".loop_joint.type", "type"},
    {"{\"name\": \"x\", \"loop_joint\": {\"type\": \"JOINT_TYPE_FLOATING\", " SIDES "}}", ".loop_joint.type",
     "cannot close"},
    {"{\"name\": \"x\", \"loop_joint\": {\"type\": \"JOINT_TYPE_REVOLUTE\", " SIDES "}}", ".loop_joint.axis", "0 0 1"},
    {"{\"name\": \"x\", \"loop_joint\": {\"type\": \"JOINT_TYPE_UNIVERSAL\", \"axis\": {\"x\": 1}, " SIDES "}}",
     ".loop_joint.second_axis", "0 0 1"},
    {"{\"name\": \"x\", \"loop_joint\": {\"type\": \"JOINT_TYPE_FIXED\", \"predecessor\": {\"link\": \"hand\"}}}",
     ".loop_joint.predecessor.link", "hand"},
    {"{\"name\": \"x\", \"loop_joint\": {\"type\": \"JOINT_TYPE_FIXED\", \"successor\": {\"link\": \"crank\", "
     "\"pose\": {\"rotation\": {\"values\": [1, 2]}}}}}",
     ".loop_joint.successor.pose.rotation.values", "pass 9"},
    {"{\"name\": \"x\", \"loop_joint\": {\"type\": \"JOINT_TYPE_FIXED\"}}", "", "same link"},
    {"{\"name\": \"x\", \"loop_joint\": {\"type\": \"JOINT_TYPE_FIXED\", \"successor\": {\"link\": \"ground\"}}}", "",
     "both of its sides are fixed to the world"},
    {"{\"name\": \"x\", \"coupling\": {}}", ".coupling.coordinates", "there are 0 coordinates; pass 1 to 8"},
    {"{\"name\": \"x\", \"coupling\": {\"coordinates\": [{\"joint\": \"motor\", \"coefficient\": 1}, "
     "{\"joint\": \"pivot\"}]}}",
     ".coupling.coordinates[1].coefficient", "not zero"},
    {"{\"name\": \"x\", \"coupling\": {\"coordinates\": [{\"joint\": \"hip\", \"coefficient\": 1}]}}",
     ".coupling.coordinates[0].joint", "hip"},
    {"{\"name\": \"x\", \"rolling\": {\"normal\": {\"z\": 1}, " SIDES "}}", ".rolling.radius", "positive"},
    {"{\"name\": \"x\", \"rolling\": {\"radius\": 1, " SIDES "}}", ".rolling.normal", "0 0 1"},
    {"{\"name\": \"x\", \"rolling\": {\"radius\": 1, \"normal\": {\"z\": 1}}}", "", "same link"},
    {"{\"name\": \"x\", \"prescribed\": {}}", ".prescribed.joint", "no name"},
    {"{\"name\": \"x\", \"prescribed\": {\"joint\": \"hip\"}}", ".prescribed.joint", "hip"},
    {"{\"name\": \"x\", \"prescribed\": {\"joint\": \"motor\", \"coefficients\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}}",
     ".prescribed.coefficients", "up to 8"},
    {"{\"name\": \"x\", \"polynomial\": {\"joint\": \"motor\", \"of\": \"motor\"}}", ".polynomial.of", "once"},
    {"{\"name\": \"x\", \"polynomial\": {\"joint\": \"motor\"}}", ".polynomial.of", "no name"},
    {"{\"name\": \"x\", \"loop_joint\": {\"type\": \"JOINT_TYPE_REVOLUTE\", \"axis\": {\"y\": 1}, \"friction\": "
     "-1, " SIDES "}}",
     ".loop_joint.friction", "not negative"},
    {"{\"name\": \"x\", \"loop_joint\": {\"type\": \"JOINT_TYPE_FIXED\", \"damping\": 1, " SIDES "}}",
     ".loop_joint.damping", "no axis"},
};

START_TEST(a_wrong_constraint_is_refused_at_its_member) {
    json_t *description = json_load_file(DESCRIPTIONS "four_bar.json", 0, NULL);
    for (size_t i = 0; i < sizeof wrong_constraints / sizeof *wrong_constraints; i++) {
        const wrong_constraint *w = &wrong_constraints[i];
        char line[512], field[160];
        json_t *constraint = json_loads(w->constraint, 0, NULL);
        ck_assert_msg(constraint != NULL, "%s", w->constraint);
        json_object_set_new(description, "constraints", json_pack("[o]", constraint));
        ck_assert_int_eq(json_dump_file(description, scratch("wrong.json"), 0), 0);
        snprintf(line, sizeof line, "$ctl load --name wrong --description %s", scratch("wrong.json"));
        snprintf(field, sizeof field, "constraints[0]%s: ", w->member);
        must_fail(line, 1, field);
        must_fail(line, 1, w->said);
    }
    json_decref(description);
}
END_TEST

/* Loads the four-bar with another loop that closes 0.1 m beside the first one, as "over_closed". */
static void load_over_closed(void) {
    json_t *description = json_load_file(DESCRIPTIONS "four_bar.json", 0, NULL);
    json_t *other = json_loads("{\"name\": \"other\", \"loop_joint\": {\"type\": \"JOINT_TYPE_SPHERICAL\", "
                               "\"predecessor\": {\"link\": \"rocker\", \"pose\": {\"position\": {\"z\": 0.5}}}, "
                               "\"successor\": {\"link\": \"coupler\", \"pose\": {\"position\": {\"x\": 0.5}}}}}",
                               0, NULL);
    ck_assert(description && other);
    json_array_append_new(json_object_get(description, "constraints"), other);
    ck_assert_int_eq(json_dump_file(description, scratch("over.json"), 0), 0);
    json_decref(description);
    char line[256];
    snprintf(line, sizeof line, "$ctl load --replace --name over_closed --description %s", scratch("over.json"));
    must_say(line, "over_closed: ");
}

#define TWO_DRIVES                                                                                                     \
    "\"query\": {\"model\": \"four_bar\", \"constraints\": [{\"name\": \"slow\", \"prescribed\": {\"joint\": "         \
    "\"motor\", \"coefficients\": [0, 0, 1]}}, {\"name\": \"fast\", \"prescribed\": {\"joint\": \"motor\", "           \
    "\"coefficients\": [0, 0, 2]}}]}, \"q\": [0, 0, 0]"

/* Checks that constraints which contradict each other are an error with the name of one, and that rows which merely
 * depend on each other are none: four_bar has five rows of rank two. */
START_TEST(constraints_that_contradict_each_other_are_refused_by_name) {
    load("four_bar");
    must_say("$ctl fd four_bar", "rank 2 of 5 rows");
    load_over_closed();
    must_fail("$ctl assemble over_closed", 1, "stays open by");
    must_fail("$ctl call forward_dynamics '{" TWO_DRIVES "}'", 1,
              "contradicts other constraints: its acceleration along \"drive\" is off by 1 rad/s^2");
    must_fail("$ctl call forward_dynamics '{" TWO_DRIVES "}'", 1, "forward_dynamics.q: constraint ");
    must_fail("$ctl call forward_dynamics '{" TWO_DRIVES ", \"constraint_tolerance\": 2}'", 1,
              "forward_dynamics.constraint_tolerance: the tolerance is 2; pass a number from 0 to 1");
    json_t *reply = run_json("$ctl call forward_dynamics '{" TWO_DRIVES ", \"constraint_tolerance\": 1}'");
    const json_t *solution = json_object_get(reply, "constraints");
    ck_assert_double_eq_tol(number_of(json_object_get(solution, "residuals"), 0), 1, 1e-9);
    json_decref(reply);
    must_fail("$ctl call forward_dynamics '{\"query\": {\"model\": \"two_link\"}, \"q\": [0, 0], "
              "\"constraint_tolerance\": 1}'",
              1, "forward_dynamics.constraint_tolerance: model \"two_link\" has no constraints");
    must_fail("$ctl call forward_dynamics '{\"query\": {\"model\": \"two_link\", \"rows\": {\"count\": 2, \"matrix\": "
              "[1, 0, 2, 0], \"acceleration\": [1, 1]}}, \"q\": [0, 0]}'",
              1, "of the request contradicts other rows");
}
END_TEST

START_TEST(too_many_constraints_are_refused_with_the_limit) {
    char line[512], name[16];
    json_t *description = json_load_file(DESCRIPTIONS "four_bar.json", 0, NULL);
    json_t *list = json_object_get(description, "constraints"), *first = json_array_get(list, 0);
    for (int i = 1; i <= 64; i++) {
        snprintf(name, sizeof name, "loop %d", i);
        json_t *copy = json_copy(first);
        json_object_set_new(copy, "name", json_string(name));
        json_array_append_new(list, copy);
    }
    ck_assert_int_eq(json_dump_file(description, scratch("many.json"), 0), 0);
    snprintf(line, sizeof line, "$ctl load --name many --description %s", scratch("many.json"));
    must_fail(line, 1, "constraints: the model has 65 constraints; the limit is 64");
    json_array_remove(list, 64);
    ck_assert_int_eq(json_dump_file(description, scratch("many.json"), 0), 0);
    must_say(line, "many: ");
    json_decref(description);
    load("four_bar");
    must_fail("$ctl derive many merge:four_bar,rocker,my_ --name more", 1,
              "the model has 65 constraints; the limit is 64");
    must_fail("$ctl call forward_dynamics '{\"query\": {\"model\": \"many\", \"constraints\": [" ROD
              "]}, \"q\": [0, 0, 0]}'",
              1, "forward_dynamics.query.constraints: the model has 65 constraints; the limit is 64");
}
END_TEST

/* Requests of methods that do not consider constraints. */
static const char *const tree_requests[] = {
    "inverse_dynamics '{\"query\": {\"model\": \"four_bar\", \"formulation\": \"lagrange_euler\"}, \"q\": [0, 0, 0]}'",
    "forward_dynamics '{\"query\": {\"model\": \"four_bar\", \"formulation\": \"lagrange_euler\"}, \"q\": [0, 0, 0]}'",
    "find_base_parameters '{\"query\": {\"model\": \"four_bar\"}}'",
};

START_TEST(methods_that_would_ignore_constraints_name_one_instead) {
    load("four_bar");
    for (size_t i = 0; i < sizeof tree_requests / sizeof *tree_requests; i++) {
        char line[512];
        snprintf(line, sizeof line, "$ctl call %s", tree_requests[i]);
        must_fail(line, 1, "model \"four_bar\" has the constraint \"loop\"");
        must_fail(line, 1, "FAILED_PRECONDITION");
        must_fail(line, 1, strstr(line, "formulation") ? "a formulation of chains and trees" : "does not consider");
    }
}
END_TEST

/* Quantities that the loop would change are those of the open tree, and say so. */
START_TEST(quantities_of_the_tree_are_marked_where_constraints_hold) {
    load("four_bar");
    json_decref(load_open());
    static const char *const quantities[] = {
        "inverse_mass_matrix", "inverse_dynamics_by_q",   "inverse_dynamics_by_v",    "inverse_dynamics_by_q_q",
        "mass_matrix_by_q",    "forward_dynamics_by_v_v", "inverse_mass_matrix_by_q", "inverse_dynamics_along",
        "torque_regressor",    "joint_wrenches",          "joint_inertias",           "torque_ellipsoid"};
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        char line[512];
        snprintf(line, sizeof line, "$ctl evaluate four_bar --quantity %s", quantities[i]);
        must_say(line, "of the tree without its constraints");
        snprintf(line, sizeof line, "$ctl evaluate four_bar --quantity %s --json", quantities[i]);
        json_t *closed = run_json(line);
        snprintf(line, sizeof line, "$ctl evaluate tree --quantity %s --json", quantities[i]);
        json_t *open = run_json(line);
        ck_assert_msg(json_equal(closed, open), "%s", quantities[i]);
        json_decref(closed), json_decref(open);
    }
    must_say("$ctl evaluate four_bar --quantity frame_manipulability,frame_ellipsoids,frame_articulated_inertia "
             "--frame rocker",
             "of the tree without its constraints");
}
END_TEST

/* Forces for the rotation of the rocker, which the loop couples to the crank, accelerate it as desired. */
START_TEST(forces_of_a_task_accelerate_a_closed_loop_as_desired) {
    char line[512];
    load("four_bar");
    json_t *reply =
        run_json("$ctl call evaluate '{\"query\": {\"model\": \"four_bar\"}, \"q\": [0, 0, 0], \"v\": [2, -2, 1], "
                 "\"quantities\": [{\"quantity\": \"QUANTITY_OPERATIONAL_SPACE_TORQUES\", \"reference_frame\": "
                 "\"REFERENCE_FRAME_WORLD\", \"task\": [{\"frame\": \"rocker\", "
                 "\"axes\": [\"TASK_AXIS_ANGULAR_Y\"], \"acceleration\": [3]}]}]}'");
    const json_t *blocks = json_object_get(json_array_get(json_object_get(reply, "results"), 0), "blocks");
    const json_t *tau = json_object_get(json_array_get(blocks, 0), "values");
    snprintf(line, sizeof line, "$ctl fd four_bar --v 2,-2,1 --tau %.17g,%.17g,%.17g --json", number_of(tau, 0),
             number_of(tau, 1), number_of(tau, 2));
    json_t *motion = run_json(line), *a = json_object_get(motion, "a");
    ck_assert_double_eq_tol(number_of(a, 2), 3, 1e-9);
    json_decref(reply), json_decref(motion);
}
END_TEST

/* Returns the values of the block of this name of a reply of Formulate. */
static const json_t *block_values(const json_t *reply, const char *name) {
    size_t i;
    json_t *block;
    json_array_foreach(json_object_get(reply, "blocks"), i, block) {
        if (strcmp(text_of(block, "name"), name) == 0) {
            return json_object_get(block, "values");
        }
    }
    ck_abort_msg("no block %s", name);
}

/* Checks the blocks of the constraints, and those of the formulation after them: under the forces of a motion at rest
 * that satisfies the constraints, the accelerations are those of the motion, and the multipliers are zero. */
START_TEST(formulate_shows_the_inner_quantities_of_constraints) {
    load("four_bar");
    json_t *reply = run_json("$ctl call formulate '{\"query\": {\"model\": \"four_bar\", \"formulation\": "
                             "\"christoffel\"}, \"q\": [0, 0, 0], \"v\": [0, 0, 0], \"a\": [0, 0, 0]}'");
    const json_t *A = block_values(reply, "constraint_A"), *M = block_values(reply, "constraint_M"),
                 *P = block_values(reply, "constraint_P");
    ck_assert_uint_eq(json_array_size(A), 15);
    ck_assert_uint_eq(json_array_size(block_values(reply, "constraint_Lambda")), 25);
    ck_assert_double_eq(number_of(block_values(reply, "constraint_rank"), 0), 2);
    for (size_t i = 0; i < 9; i++) {
        ck_assert_double_eq_tol(number_of(block_values(reply, "M"), i), number_of(M, i), 1e-12);
    }
    for (size_t row = 0; row < 5; row++) {
        ck_assert_double_eq_tol(number_of(block_values(reply, "constraint_lambda"), row), 0, 1e-9);
        for (size_t i = 0; i < 3; i++) {
            double held = 0; /* P A' */
            for (size_t k = 0; k < 3; k++) {
                held += number_of(P, 3 * i + k) * number_of(A, 3 * row + k);
            }
            ck_assert_double_eq_tol(held, 0, 1e-9);
        }
    }
    json_decref(reply);
    must_say("$ctl formulate four_bar --formulation christoffel --q 0,0,0", "constraint_Lambda");
    must_fail("$ctl call formulate '{\"query\": {\"model\": \"four_bar\", \"formulation\": \"book_flexible\"}, "
              "\"q\": [0, 0, 0], \"flexible_links\": [{\"link\": \"rocker\"}]}'",
              1, "has the constraint \"loop\"");
}
END_TEST

/* Checks that quantities of the equation of motion which constraints do not change are computed. */
START_TEST(terms_of_the_equation_of_motion_are_those_of_the_tree) {
    load("four_bar");
    must_say("$ctl call gravity '{\"query\": {\"model\": \"four_bar\"}, \"q\": [0, 0, 0]}'", "\"g\"");
    must_say("$ctl call mass_matrix '{\"query\": {\"model\": \"four_bar\"}, \"q\": [0, 0, 0]}'", "\"mass_matrix\"");
    must_say("$ctl compare four_bar --q 0,0,0", "spatial_operator_algebra *");
    must_say("$ctl call kinematics '{\"query\": {\"model\": \"four_bar\"}, \"q\": [0, 0, 0], \"frames\": [\"rocker\"], "
             "\"reference_frame\": \"REFERENCE_FRAME_LOCAL\"}'",
             "rocker");
}
END_TEST

/* Checks the four-bar at its closed zero configuration: 5 rows, of which 2 are independent. */
START_TEST(forward_dynamics_shows_the_forces_of_the_constraints) {
    load("four_bar");
    json_t *motion = run_json("$ctl fd four_bar --json"), *a = json_object_get(motion, "a");
    json_t *forces = json_object_get(motion, "multipliers");
    ck_assert_uint_eq(json_array_size(forces), 5);
    json_t *whole = run_json("$ctl call forward_dynamics '{\"query\": {\"model\": \"four_bar\"}, \"q\": [0, 0, 0]}'");
    json_t *solution = json_object_get(whole, "constraints");
    ck_assert_double_eq(number_of(json_object_get(solution, "ranks"), 0), 2);
    ck_assert_double_le(number_of(json_object_get(solution, "residuals"), 0), 1e-9);
    json_t *evaluated = run_json("$ctl evaluate four_bar --quantity forward_dynamics --json");
    char *text = json_dumps(evaluated, 0), *numbers = json_dumps(a, 0);
    ck_assert_msg(strstr(text, numbers) != NULL, "%s has no %s", text, numbers);
    must_say("$ctl fd four_bar | grep '^loop.3'", "linear y");
    must_say("$ctl fd four_bar --csv | head -n 1", "a.pivot,multipliers.loop[0],");
    free(text), free(numbers);
    json_decref(motion), json_decref(whole), json_decref(evaluated);
}
END_TEST

/* Returns a quantity of the four-bar at its closed zero configuration and the velocity of the motor. The caller
 * releases it. */
static json_t *quantity_at(const char *quantity, double motor) {
    char line[512];
    snprintf(line, sizeof line,
             "$ctl call evaluate '{\"query\": {\"model\": \"four_bar\"}, \"q\": [0, 0, 0], \"v\": [%g, -2, 1], "
             "\"quantities\": [{\"quantity\": \"QUANTITY_FORWARD_DYNAMICS%s\"}]}'",
             motor, quantity);
    json_t *reply = run_json(line), *result = json_array_get(json_object_get(reply, "results"), 0);
    json_t *values = json_object_get(json_array_get(json_object_get(result, "blocks"), 0), "values");
    ck_assert_msg(json_array_size(values) > 0, "%s has no values", line);
    json_incref(values);
    json_decref(reply);
    return values;
}

/* Accelerations are quadratic in v, so that a central difference is exact. */
START_TEST(derivatives_of_constrained_accelerations_are_those_of_the_motion) {
    load("four_bar");
    json_t *by_v = quantity_at("_BY_V", 2), *by_q = quantity_at("_BY_Q", 2), *before = quantity_at("", 1.5),
           *after = quantity_at("", 2.5);
    ck_assert_uint_eq(json_array_size(by_v), 9);
    ck_assert_uint_eq(json_array_size(by_q), 9);
    for (size_t i = 0; i < 3; i++) {
        double rate = number_of(after, i) - number_of(before, i);
        ck_assert_double_gt(fabs(rate), 1e-3);
        ck_assert_double_eq_tol(number_of(by_v, 3 * i), rate, 1e-9 * fabs(rate));
    }
    json_decref(by_v), json_decref(by_q), json_decref(before), json_decref(after);
}
END_TEST

/* Adds damping and friction to the loop joint of a four-bar, and a machine element of every law with a slope. */
static void load_rubbing(void) {
    static const char *const elements[] = {
        "{\"name\": \"bearing\", \"joint\": \"elbow\", \"friction\": {\"viscous\": [0.3, 0.2], \"coulomb\": [0.5, "
        "0.4], "
        "\"breakaway\": [0.9, 0.8], \"stribeck_velocity\": 0.6, \"transition_velocity\": 0.3}}",
        "{\"name\": \"drive\", \"shaft\": {\"joints\": [\"motor\", \"pivot\"], \"ratios\": [4, -7], \"rotor\": "
        "{\"axial_inertia\": 2e-3}, \"motor\": {\"resistance\": 1, \"torque_constant\": 0.05}}}",
        "{\"name\": \"seal\", \"joint\": \"drive\", \"friction\": {\"viscous\": [0.02, 0.05], \"coulomb\": [0.1]}}",
        "{\"name\": \"coil\", \"joint\": \"pivot\", \"spring\": {\"stiffness\": 30, \"rest\": 0.2}}",
        "{\"name\": \"prop\", \"strut\": {\"link\": \"coupler\", \"other_position\": {\"x\": 0.3, \"z\": 2}, "
        "\"stiffness\": 50, \"rest\": 1, \"damping\": 2}}"};
    char line[512];
    json_t *description = json_load_file(DESCRIPTIONS "four_bar.json", 0, NULL), *list = json_array();
    json_t *loop = json_object_get(json_array_get(json_object_get(description, "constraints"), 0), "loop_joint");
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        json_array_append_new(list, json_loads(elements[i], 0, NULL));
    }
    json_object_set_new(description, "machine_elements", list);
    json_object_set_new(loop, "damping", json_real(0.4));
    json_object_set_new(loop, "friction", json_real(0.7));
    ck_assert_int_eq(json_dump_file(description, scratch("rubbing.json"), 0), 0);
    snprintf(line, sizeof line, "$ctl load --replace --name rubbing --description %s", scratch("rubbing.json"));
    must_say(line, ": ");
    json_decref(description);
}

enum { BAR_JOINTS = 3, BAR_ROWS = 5 };

/* Fills the values of a quantity of the rubbing four-bar, its first block. Requests state no input that their
 * quantity does not depend on. */
static void evaluate_rubbing(const char *quantity, const double q[3], const double v[3], size_t count, double *values) {
    static const char tau[] = ", \"tau\": [2, 0, -1]", direction[] = ", \"dq\": [1, 0, 0], \"dv\": [0, 1, 0]";
    const bool is_along = strstr(quantity, "_ALONG"), has_tau = !strstr(quantity, "_BY_V");
    char line[768];
    snprintf(line, sizeof line,
             "$ctl call evaluate '{\"query\": {\"model\": \"rubbing\", \"passive_forces\": {\"damping\": true, "
             "\"friction\": true, \"springs\": true, \"friction_velocity\": 0.5}}, \"q\": [%.17g, %.17g, %.17g], "
             "\"v\": [%.17g, %.17g, %.17g]%s%s, \"quantities\": [{\"quantity\": \"QUANTITY_%s\"}]}'",
             q[0], q[1], q[2], v[0], v[1], v[2], has_tau ? tau : "", is_along ? direction : "", quantity);
    json_t *reply = run_json(line), *result = json_array_get(json_object_get(reply, "results"), 0);
    const json_t *found = json_object_get(json_array_get(json_object_get(result, "blocks"), 0), "values");
    ck_assert_uint_ge(json_array_size(found), count);
    for (size_t i = 0; i < count; i++) {
        values[i] = number_of(found, i);
    }
    json_decref(reply);
}

/* Checks that the derivatives of a quantity with `rows` numbers by coordinate k are its differences of order four. */
static void check_differences(const char *quantity, size_t rows, bool by_v, const double at[2][3]) {
    static const double offsets[] = {-2, -1, 1, 2}, weights[] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12}, h = 1e-3;
    double derivatives[BAR_ROWS * BAR_JOINTS], values[BAR_ROWS];
    char name[64];
    snprintf(name, sizeof name, "%s_BY_%c", quantity, by_v ? 'V' : 'Q');
    evaluate_rubbing(name, at[0], at[1], rows * BAR_JOINTS, derivatives);
    for (size_t k = 0; k < BAR_JOINTS; k++) {
        double differences[BAR_ROWS] = {0};
        for (size_t p = 0; p < sizeof offsets / sizeof *offsets; p++) {
            double moved[2][3];
            memcpy(moved, at, sizeof moved);
            moved[by_v][k] += offsets[p] * h;
            evaluate_rubbing(quantity, moved[0], moved[1], rows, values);
            for (size_t i = 0; i < rows; i++) {
                differences[i] += weights[p] / h * values[i];
            }
        }
        for (size_t i = 0; i < rows; i++) {
            double found = derivatives[i * BAR_JOINTS + k];
            ck_assert_msg(fabs(found - differences[i]) <= 1e-7 * (1 + fabs(found)),
                          "%s(%zu,%zu): %.12g instead of %.12g", name, i, k, found, differences[i]);
        }
    }
}

/* The third state moves slowly, where friction is steep. */
START_TEST(derivatives_of_constrained_accelerations_count_passive_forces) {
    static const double states[][2][3] = {
        {{0, 0, 0}, {2, -2, 1}}, {{0, 0, 0}, {-0.8, 0.3, -1.2}}, {{0, 0, 0}, {0.1, -0.1, 0.05}}};
    load_rubbing();
    for (size_t s = 0; s < sizeof states / sizeof *states; s++) {
        check_differences("FORWARD_DYNAMICS", BAR_JOINTS, false, states[s]);
        check_differences("FORWARD_DYNAMICS", BAR_JOINTS, true, states[s]);
        check_differences("CONSTRAINT_MULTIPLIERS", BAR_ROWS, true, states[s]);
    }
}
END_TEST

START_TEST(a_change_along_a_direction_counts_passive_forces) {
    static const double q[3] = {0}, v[3] = {2, -2, 1};
    double by_q[9], by_v[9], along[3];
    load_rubbing();
    evaluate_rubbing("FORWARD_DYNAMICS_BY_Q", q, v, 9, by_q);
    evaluate_rubbing("FORWARD_DYNAMICS_BY_V", q, v, 9, by_v);
    evaluate_rubbing("FORWARD_DYNAMICS_ALONG", q, v, 3, along);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(along[i], by_q[3 * i] + by_v[3 * i + 1], 1e-9 * (1 + fabs(along[i])));
    }
}
END_TEST

/* Loads the four-bar with these joints passive. */
static void load_with_passive(const char *name, json_t *joints) {
    char line[512];
    json_t *description = json_load_file(DESCRIPTIONS "four_bar.json", 0, NULL);
    json_object_set_new(description, "passive_joints", joints);
    ck_assert_int_eq(json_dump_file(description, scratch("passive.json"), 0), 0);
    snprintf(line, sizeof line, "$ctl load --name %s --description %s", name, scratch("passive.json"));
    must_say(line, ": ");
    json_decref(description);
}

START_TEST(inverse_dynamics_finds_the_torque_of_the_only_motor) {
    char line[512];
    load_with_passive("driven", json_pack("[s, s]", "elbow", "pivot"));
    json_t *motion = run_json("$ctl fd driven --tau 5,0,0 --json"), *a = json_object_get(motion, "a");
    snprintf(line, sizeof line, "$ctl id driven --a %.17g,%.17g,%.17g --json", number_of(a, 0), number_of(a, 1),
             number_of(a, 2));
    json_t *forces = run_json(line), *tau = json_object_get(forces, "tau");
    ck_assert_double_eq_tol(number_of(tau, 0), 5, 1e-9);
    ck_assert_double_eq(number_of(tau, 1), 0);
    ck_assert_double_eq(number_of(tau, 2), 0);
    json_decref(motion), json_decref(forces);
    must_say("$ctl export driven", "passive_joints");
    must_fail("$ctl export driven --format screws", 1, "constraint loop: screws cannot state the constraint \"loop\"");
    load_with_passive("undriven", json_pack("[s, s, s]", "motor", "elbow", "pivot"));
    must_fail("$ctl id undriven --a 2,-2,1", 1, "it is passive, and the motion needs a force of");
}
END_TEST

/* A motion that the loop of the four-bar forbids, through each method that computes the forces of one. */
START_TEST(a_motion_that_a_loop_forbids_is_refused_by_every_method) {
#define FORBIDDEN "\"q\": [0, 0, 0], \"v\": [0, 0, 0], \"a\": [1, 0, 0]}'"
#define OF_FOUR_BAR "'{\"query\": {\"model\": \"four_bar\"}, "
    static const struct {
        const char *method, *more, *field;
    } cases[] = {
        {"inverse_dynamics", "", "inverse_dynamics.a: "},
        {"inverse_dynamics_trajectory", "", "inverse_dynamics_trajectory.a: "},
        {"explain", "", "explain.a: "},
        {"evaluate", "\"quantities\": [{\"quantity\": \"QUANTITY_INVERSE_DYNAMICS\"}], ", "evaluate.a: "},
        {"evaluate", "\"quantities\": [{\"quantity\": \"QUANTITY_CONSTRAINT_MULTIPLIERS_OF_MOTION\"}], ",
         "evaluate.a: "},
        {"evaluate", "\"quantities\": [{\"quantity\": \"QUANTITY_CONSTRAINT_WRENCHES_OF_MOTION\"}], ", "evaluate.a: "},
    };
    char line[1024];
    json_decref(load_open());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(line, sizeof line, "$ctl call %s " OF_FOUR_BAR "%s" FORBIDDEN, cases[i].method, cases[i].more);
        must_fail(line, 1, cases[i].field);
        must_fail(line, 1, "constraint loop forbids this motion: its acceleration along \"linear");
        snprintf(line, sizeof line,
                 "$ctl call %s '{\"query\": {\"model\": \"four_bar\", \"motion_options\": {\"nearest\": true}}, "
                 "%s" FORBIDDEN,
                 cases[i].method, cases[i].more);
        json_t *answer = run_json(line);
        const json_t *agreement = json_object_get(answer, "agreement");
        ck_assert_double_gt(number_of(json_object_get(agreement, "residuals"), 0), 0.1);
        json_decref(answer);
    }
    must_fail("$ctl id four_bar --a 1,0,0", 1, "or ask for the nearest motion by --nearest");
    must_say("$ctl id four_bar --a 1,0,0 --nearest", "the constraints forbid the motion by");
    must_fail("$ctl id four_bar --v 1,0,0", 1, "its velocity along");
    must_say("$ctl id tree --a 1,0,0 --json", "tau");
    must_say("$ctl explain four_bar --a 1,0,0 --nearest", "the constraints forbid the motion by");
    json_t *terms = run_json("$ctl explain four_bar --a 1,0,0 --nearest --json"),
           *forces = run_json("$ctl id four_bar --a 1,0,0 --nearest --json"),
           *agreement = json_object_get(terms, "agreement");
    double residual = json_number_value(json_object_get(forces, "residual"));
    ck_assert_double_gt(residual, 0.1);
    ck_assert_double_eq(json_number_value(json_object_get(agreement, "residual")), residual);
    ck_assert_double_eq(json_number_value(json_object_get(agreement, "rank")), 2);
    json_decref(terms), json_decref(forces);
    must_fail("$ctl id tree --nearest", 1, "has no constraints");
    must_fail(
        "$ctl call mass_matrix '{\"query\": {\"model\": \"four_bar\", \"motion_options\": {}}, \"q\": [0, 0, 0]}'", 1,
        "mass_matrix.query.motion_options: mass_matrix does not support options of constrained motions");
    must_fail(
        "$ctl call inverse_dynamics '{\"query\": {\"model\": \"four_bar\", \"motion_options\": {\"tolerance\": 2}}, "
        "\"q\": [0, 0, 0]}'",
        1, "inverse_dynamics.query.motion_options.tolerance: the tolerance is 2");
    must_fail(
        "$ctl call inverse_dynamics '{\"query\": {\"model\": \"four_bar\", \"motion_options\": {\"nearest\": true, "
        "\"tolerance\": 0.5}}, \"q\": [0, 0, 0]}'",
        1, "leave out tolerance or nearest");
}
END_TEST

/* Where the four-bar is driven at all three joints, weights decide which of them work. */
START_TEST(weights_distribute_the_forces_of_motors) {
    char line[512];
    json_decref(load_open());
    json_t *motion = run_json("$ctl fd four_bar --tau 5,1,-2 --json"), *a = json_object_get(motion, "a");
    snprintf(line, sizeof line, "$ctl id four_bar --a %.17g,%.17g,%.17g --json --force-weights", number_of(a, 0),
             number_of(a, 1), number_of(a, 2));
    double tau[3][3];
    static const char *const weights[] = {"1", "1,1e10,1e10", "1e10,1,1"};
    for (int i = 0; i < 3; i++) {
        char command[640];
        snprintf(command, sizeof command, "%s %s", line, weights[i]);
        json_t *found = run_json(command);
        for (size_t k = 0; k < 3; k++) {
            tau[i][k] = number_of(json_object_get(found, "tau"), k);
        }
        snprintf(command, sizeof command, "$ctl fd four_bar --tau %.17g,%.17g,%.17g --json", tau[i][0], tau[i][1],
                 tau[i][2]);
        json_t *again = run_json(command);
        for (size_t k = 0; k < 3; k++) {
            ck_assert_double_eq_tol(number_of(json_object_get(again, "a"), k), number_of(a, k), 1e-7);
        }
        json_decref(found), json_decref(again);
    }
    ck_assert_double_le(fabs(tau[1][1]) + fabs(tau[1][2]), 1e-6);
    ck_assert_double_le(fabs(tau[2][0]), 1e-6);
    ck_assert_double_gt(fabs(tau[0][0]), 1e-3);
    ck_assert_double_lt(fabs(tau[0][0]), fabs(tau[1][0]));
    must_fail("$ctl id four_bar --force-weights 1,2", 1, "--force-weights: force_weights has 2 values; pass 3");
    must_fail("$ctl id four_bar --force-weights 1,0,1", 1,
              "force_weights[1] is 0; pass a finite number that is positive");
    must_fail("$ctl id four_bar --multiplier-weights=-1", 1, "multiplier_weights[0] is -1");
    json_decref(motion);
}
END_TEST

#define WELDED "\"query\": {\"model\": \"welded\", \"gravity\": {\"x\": 3, \"z\": -9.81}}, \"q\": [0, 0, 0, 0]"

/* Checks a planar four-bar that a weld closes: six rows, of which three depend on the others. Virtual work: the links
 * move by 0.2, 0.4 and 0.2 m a radian of the motor along x, so that it stands on -3 (0.2 + 2 0.4 + 1.5 0.2) N m. */
START_TEST(a_four_bar_that_a_weld_closes_stands_on_the_torque_of_its_motor) {
    json_t *description = json_load_file(DESCRIPTIONS "welded_four_bar.json", 0, NULL);
    ck_assert(description);
    json_object_set_new(description, "passive_joints", json_pack("[s, s, s]", "elbow", "knee", "pivot"));
    ck_assert_int_eq(json_dump_file(description, scratch("welded.json"), 0), 0);
    json_decref(description);
    char line[256];
    snprintf(line, sizeof line, "$ctl load --replace --name welded --description %s", scratch("welded.json"));
    must_say(line, "welded: ");
    json_t *forces = run_json("$ctl call inverse_dynamics '{" WELDED "}'");
    ck_assert_double_eq_tol(number_of(json_object_get(forces, "tau"), 0), -3.9, 1e-12);
    json_decref(forces);
    json_t *motion = run_json("$ctl call forward_dynamics '{" WELDED ", \"tau\": [-3.9, 0, 0, 0]}'");
    const json_t *solution = json_object_get(motion, "constraints");
    for (size_t i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(number_of(json_object_get(motion, "a"), i), 0, 1e-12);
    }
    ck_assert_double_eq(number_of(json_object_get(solution, "ranks"), 0), 3);
    ck_assert_double_le(number_of(json_object_get(solution, "residuals"), 0), 1e-12);
    json_decref(motion);
    char torques[2048] = "";
    for (size_t i = 0; i < 100; i++) {
        strcat(torques, i ? ", -3.9, 0, 0, 0" : "-3.9, 0, 0, 0");
    }
    char request[4096];
    snprintf(request, sizeof request,
             "$ctl call rollout '{" WELDED ", \"tau\": [%s], \"steps\": 100, \"stride\": 100}'", torques);
    json_t *rollout = run_json(request);
    const json_t *end = json_array_get(json_object_get(rollout, "outcomes"), 0);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(number_of(json_object_get(rollout, "q"), 4 + i), 0, 1e-9);
    }
    ck_assert_double_le(json_number_value(json_object_get(end, "closure_error")), 1e-11);
    ck_assert_int_eq(json_integer_value(json_object_get(end, "constraint_rank")), 3);
    json_decref(rollout);
}
END_TEST

START_TEST(a_coupling_of_a_joint_with_itself_is_refused_with_the_names) {
    char line[512];
    json_t *description = json_load_file(DESCRIPTIONS "four_bar.json", 0, NULL);
    json_t *coupling =
        json_pack("{s: s, s: {s: [{s: s, s: f}, {s: s, s: f}]}}", "name", "tie", "coupling", "coordinates", "joint",
                  "elbow", "coefficient", 1.0, "joint", "elbow", "coefficient", -2.0);
    ck_assert(description && coupling);
    json_array_append_new(json_object_get(description, "constraints"), coupling);
    ck_assert_int_eq(json_dump_file(description, scratch("tied.json"), 0), 0);
    snprintf(line, sizeof line, "$ctl load --name tied --description %s", scratch("tied.json"));
    must_fail(line, 1, "constraint tie: two of its coordinates are that of joint elbow");
    json_decref(description);
}
END_TEST

/* Writes a description of `count` rotors on the base, joint k of which has the inertia 1 + k and the coefficient
 * (-1)^k (1 + k/2) in one coupling, as joints of a finger under one tendon or the wheels of a differential. */
static void write_tendon(const char *name, size_t count) {
    json_t *links = json_pack("[{ss}]", "name", "base"), *joints = json_array(), *coordinates = json_array();
    for (size_t k = 0; k < count; k++) {
        char joint[16], link[16];
        snprintf(joint, sizeof joint, "j%zu", k);
        snprintf(link, sizeof link, "l%zu", k);
        const double inertia = 1 + (double)k;
        json_array_append_new(links, json_pack("{ss s{sf s[ffffff]}}", "name", link, "inertia", "mass", 1.0,
                                               "rotational", 9.0, 0.0, 0.0, 9.0, 0.0, inertia));
        json_array_append_new(joints, json_pack("{ss ss ss ss s{sf}}", "name", joint, "type", "JOINT_TYPE_CONTINUOUS",
                                                "parent_link", "base", "child_link", link, "axis", "z", 1.0));
        json_array_append_new(
            coordinates, json_pack("{ss sf}", "joint", joint, "coefficient", (k % 2 ? -1 : 1) * (1 + 0.5 * (double)k)));
    }
    json_t *description =
        json_pack("{ss so so s[{ss s{so sf}}]}", "name", name, "links", links, "joints", joints, "constraints", "name",
                  "tendon", "coupling", "coordinates", coordinates, "offset", 0.25);
    ck_assert(description && json_dump_file(description, scratch("tendon.json"), 0) == 0);
    json_decref(description);
}

/* Checks the accelerations of a coupling of `count` rotors under the torques 1, 2 .., by each method: with the inertias
 * I_k, lambda = -sum c_k tau_k / I_k / sum c_k^2 / I_k and a_k = (tau_k + c_k lambda) / I_k. */
static void check_tendon(const char *name, size_t count) {
    static const char *const methods[] = {"UNSPECIFIED", "FULL_SYSTEM",        "MULTIPLIERS",
                                          "ELIMINATION", "ARTICULATED_BODIES", "EMBEDDING"};
    char line[512], q[128] = "", tau[128] = "";
    double rate = 0, response = 0;
    for (size_t k = 0; k < count; k++) {
        const double c = (k % 2 ? -1 : 1) * (1 + 0.5 * (double)k), inertia = 1 + (double)k, torque = 1 + (double)k;
        strcat(q, k ? ", 0" : "0");
        size_t used = strlen(tau);
        snprintf(tau + used, sizeof tau - used, k ? ", %g" : "%g", torque);
        rate += c * torque / inertia;
        response += c * c / inertia;
    }
    for (size_t method = 0; method < sizeof methods / sizeof *methods; method++) {
        snprintf(line, sizeof line,
                 "$ctl call forward_dynamics '{\"query\": {\"model\": \"%s\"}, \"q\": [%s], \"tau\": [%s], "
                 "\"constraint_method\": \"CONSTRAINT_METHOD_%s\"}'",
                 name, q, tau, methods[method]);
        json_t *motion = run_json(line);
        for (size_t k = 0; k < count; k++) {
            const double c = (k % 2 ? -1 : 1) * (1 + 0.5 * (double)k), lambda = -rate / response;
            ck_assert_double_eq_tol(number_of(json_object_get(motion, "a"), k), 1 + c * lambda / (1 + (double)k),
                                    1e-10);
        }
        json_decref(motion);
    }
}

START_TEST(a_coupling_ties_up_to_eight_coordinates) {
    char line[512];
    for (size_t count = 1; count <= 8; count++) {
        write_tendon("tendon", count);
        snprintf(line, sizeof line, "$ctl load --replace --description %s", scratch("tendon.json"));
        must_say(line, "tendon: ");
        check_tendon("tendon", count);
    }
    must_say("$ctl describe tendon | grep '^tendon'", "-1.5 j1 + 2 j2 + -2.5 j3 + 3 j4 + -3.5 j5 + 4 j6 + -4.5 j7");
    must_say("$ctl describe tendon tendon", "j7");
    snprintf(line, sizeof line, "$ctl export tendon > %s && $ctl load --name exported --description %s",
             scratch("exported.json"), scratch("exported.json"));
    must_say(line, "exported: ");
    char *digest = digest_of("tendon"), *again = digest_of("exported");
    ck_assert_str_eq(digest, again);
    free(again);
    must_say("$ctl derive four_bar merge:tendon,rocker,my_ --name both", "both: ");
    must_say("$ctl export both", "my_j7");
    write_tendon("tendon", 7);
    snprintf(line, sizeof line, "$ctl load --name shorter --description %s", scratch("tendon.json"));
    must_say(line, "shorter: ");
    again = digest_of("shorter");
    ck_assert_str_ne(digest, again);
    free(digest), free(again);
    write_tendon("tendon", 9);
    snprintf(line, sizeof line, "$ctl load --name longer --description %s", scratch("tendon.json"));
    must_fail(line, 1, "coupling.coordinates: there are 9 coordinates; pass 1 to 8");
}
END_TEST

/* Rolls out the rotors from the configuration that the coupling allows, and assembles it from one that it does not. */
START_TEST(motions_of_eight_coupled_coordinates_keep_the_coupling) {
    char line[512];
    write_tendon("tendon", 8);
    snprintf(line, sizeof line, "$ctl load --replace --description %s", scratch("tendon.json"));
    must_say(line, "tendon: ");
    json_t *reply = run_json("$ctl call rollout '{\"query\": {\"model\": \"tendon\"}, \"q\": [0.25, 0, 0, 0, 0, 0, 0, "
                             "0], \"v\": [1.5, 1, 0, 0, 0, 0, 0, 0], \"steps\": 200, \"only_last\": true}'");
    const json_t *q = json_object_get(reply, "q");
    double sum = 0;
    for (size_t k = 0; k < 8; k++) {
        sum += (k % 2 ? -1 : 1) * (1 + 0.5 * (double)k) * number_of(q, k);
    }
    ck_assert_double_eq_tol(sum, 0.25, 1e-10);
    ck_assert_double_gt(number_of(q, 0), 0.26);
    json_decref(reply);
    reply = run_json("$ctl assemble tendon --q 1,1,1,1,1,1,1,1 --json");
    q = json_object_get(reply, "q");
    sum = 0;
    for (size_t k = 0; k < 8; k++) {
        sum += (k % 2 ? -1 : 1) * (1 + 0.5 * (double)k) * number_of(q, k);
    }
    ck_assert_double_eq_tol(sum, 0.25, 1e-9);
    json_decref(reply);
}
END_TEST

START_TEST(a_passive_joint_that_is_missing_is_refused_at_its_name) {
    char line[512];
    json_t *description = json_load_file(DESCRIPTIONS "four_bar.json", 0, NULL);
    json_object_set_new(description, "passive_joints", json_pack("[s, s]", "motor", "hip"));
    ck_assert_int_eq(json_dump_file(description, scratch("passive.json"), 0), 0);
    snprintf(line, sizeof line, "$ctl load --name x --description %s", scratch("passive.json"));
    must_fail(line, 1, "passive_joints[1]: there is no joint hip");
    json_decref(description);
}
END_TEST

/* Returns the distance by which the loop of the four-bar is open at q, from its geometry. */
static double gap_of_four_bar(const json_t *q) {
    double motor = number_of(q, 0), coupler = motor + number_of(q, 1), rocker = number_of(q, 2);
    double x = 0.4 * sin(motor) + cos(coupler) + 0.4 * sin(coupler), z = 0.4 * cos(motor) - sin(coupler);
    z += 0.4 * cos(coupler);
    return hypot(x - 1 - 0.8 * sin(rocker), z - 0.8 * cos(rocker));
}

/* A second of the four-bar from its closed configuration, in which the crank turns at 2 rad/s. */
#define SECOND "\"query\": {\"model\": \"four_bar\"}, \"q\": [0, 0, 0], \"v\": [2, -2, 1]"

#define ROW "1, 0, 0"
#define NINE_ROWS ROW ", " ROW ", " ROW ", " ROW ", " ROW ", " ROW ", " ROW ", " ROW ", " ROW

/* Checks that a result names the loop of the four-bar and reports it closed. */
static void check_closure(const json_t *result, double most) {
    double error = json_number_value(json_object_get(result, "closure_error"));
    ck_assert_str_eq(text_of(result, "constraint"), "loop");
    ck_assert_msg(error < most, "the closure error is %g", error);
}

START_TEST(rollouts_and_simulations_move_closed_loops_alike) {
    load("four_bar");
    json_t *rollout = run_json("$ctl call rollout '{" SECOND ", \"steps\": 1000, \"stride\": 1000}'");
    const json_t *q = json_object_get(rollout, "q");
    const json_t *end = json_array_get(json_object_get(rollout, "outcomes"), 0);
    check_closure(end, 1e-11);
    ck_assert_str_eq(text_of(rollout, "constraint_method"), "CONSTRAINT_METHOD_MULTIPLIERS");
    ck_assert_int_eq(json_integer_value(json_object_get(end, "constraint_rank")), 2);
    ck_assert_double_gt(json_number_value(json_object_get(end, "constraint_condition")), 1);
    ck_assert_double_lt(json_number_value(json_object_get(end, "constraint_residual")), 1e-9);
    ck_assert_double_gt(fabs(number_of(q, 3)), 1);
    json_t *created = run_json("$ctl call create_simulation '{" SECOND ", \"name\": \"bar\"}'");
    char line[256];
    snprintf(line, sizeof line,
             "$ctl call step_simulation '{\"simulation\": \"bar\", \"token\": %lld, \"steps\": 1000}'",
             json_integer_value(json_object_get(created, "token")));
    json_t *stepped = run_json(line);
    json_t *state = json_object_get(stepped, "state");
    for (size_t i = 0; i < 3; i++) {
        ck_assert_double_eq(number_of(json_object_get(state, "q"), i), number_of(q, 3 + i));
    }
    check_closure(state, 1e-11);
    json_decref(rollout), json_decref(created), json_decref(stepped);
    must_say("$ctl rollout four_bar --duration 0.01", "of constraint loop");
    must_say("$ctl rollout four_bar --duration 0.01", "constraints: method multipliers; rank 2 and condition");
    must_say("$ctl fd four_bar", "method: multipliers; rank 2 of");
    must_say("$ctl simulate four_bar --duration 0.01", "of constraint loop");
}
END_TEST

START_TEST(trajectories_of_closed_loops_report_their_closure_error) {
    load("four_bar");
    json_t *closed = run_json("$ctl call forward_dynamics_trajectory '{" SECOND ", \"tau\": [" NINE_ROWS "]}'"),
           *open = run_json("$ctl call forward_dynamics_trajectory '{" SECOND ", \"tau\": [" NINE_ROWS "], "
                            "\"stepping\": {\"loop_closure\": {}}}'");
    ck_assert_double_gt(fabs(number_of(json_object_get(closed, "v"), 24) - 2), 1e-4);
    check_closure(closed, 1e-11);
    ck_assert_str_eq(text_of(open, "constraint"), "loop");
    double error = json_number_value(json_object_get(open, "closure_error"));
    ck_assert_msg(error > 1e-8, "the closure error without stabilization and projection is %g only", error);
    json_decref(closed), json_decref(open);
    write_file(scratch("rows.csv"),
               "q.motor,q.elbow,q.pivot,tau.motor,tau.elbow,tau.pivot\n0,0,0,1,0,0\n0,0,0,1,0,0\n");
    char line[512];
    snprintf(line, sizeof line, "$ctl trajectory four_bar forward --states %s", scratch("rows.csv"));
    must_say(line, "of constraint loop");
}
END_TEST

START_TEST(a_simulation_reports_how_far_its_state_is_open) {
    char line[256];
    load("four_bar");
    json_t *created = run_json("$ctl call create_simulation '{\"query\": {\"model\": \"four_bar\"}, \"name\": "
                               "\"open\", \"q\": [0.1, 0, 0]}'");
    json_t *state = json_object_get(created, "state");
    double error = json_number_value(json_object_get(state, "closure_error"));
    ck_assert_str_eq(text_of(state, "constraint"), "loop");
    /* The motor turns the point of the coupler about the origin: x moves by 0.8 sin(0.1) + cos(0.1) - 1. */
    ck_assert_msg(error > 0.05 && error < 0.2, "the closure error is %g", error);
    snprintf(line, sizeof line, "$ctl call step_simulation '{\"simulation\": \"open\", \"token\": %lld}'",
             json_integer_value(json_object_get(created, "token")));
    json_t *stepped = run_json(line);
    check_closure(json_object_get(stepped, "state"), 1e-11);
    json_decref(created), json_decref(stepped);
}
END_TEST

START_TEST(recorded_motions_of_closed_loops_replay_bit_by_bit) {
    load("four_bar");
    must_say("$ctl simulate four_bar --q 0,0,0 --v 2,-2,1 --duration 0.3 --control pd_gravity --kp 1 --disturbance 2 "
             "--stabilization 5 --record bar --replace",
             "of constraint loop");
    json_t *replay = run_json("$ctl call replay_simulation '{\"recording\": \"bar\"}'");
    ck_assert_int_eq(json_integer_value(json_object_get(replay, "steps")), 300);
    ck_assert_int_eq(json_integer_value(json_object_get(replay, "equal_steps")), 300);
    json_decref(replay);
}
END_TEST

START_TEST(simulations_of_closed_loops_go_on_after_a_restart) {
    char line[256];
    load("four_bar");
    json_t *created = run_json("$ctl call create_simulation '{" SECOND ", \"name\": \"lasting\", "
                               "\"stepping\": {\"loop_closure\": {\"stabilization\": 3}}}'"),
           *twin = run_json("$ctl call create_simulation '{" SECOND ", \"name\": \"twin\", "
                            "\"stepping\": {\"loop_closure\": {\"stabilization\": 3}}}'");
    snprintf(line, sizeof line,
             "$ctl call step_simulation '{\"simulation\": \"lasting\", \"token\": %lld, "
             "\"steps\": 100}'",
             json_integer_value(json_object_get(created, "token")));
    json_t *first = run_json(line);
    daemon_restart(&served);
    json_t *second = run_json(line);
    snprintf(line, sizeof line,
             "$ctl call step_simulation '{\"simulation\": \"twin\", \"token\": %lld, "
             "\"steps\": 200}'",
             json_integer_value(json_object_get(twin, "token")));
    json_t *whole = run_json(line);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_double_eq(number_of(json_object_get(json_object_get(second, "state"), "q"), i),
                            number_of(json_object_get(json_object_get(whole, "state"), "q"), i));
    }
    json_decref(created), json_decref(twin), json_decref(first), json_decref(second), json_decref(whole);
}
END_TEST

START_TEST(loop_closure_is_refused_where_it_does_not_fit) {
    load("four_bar");
    must_fail("$ctl call rollout '{" SECOND
              ", \"steps\": 1, \"stepping\": {\"loop_closure\": {\"stabilization\": -1}}}'",
              1, "rollout.stepping.loop_closure.stabilization");
    must_fail("$ctl call rollout '{\"query\": {\"model\": \"two_link\"}, \"q\": [0, 0], \"steps\": 1, "
              "\"stepping\": {\"loop_closure\": {}}}'",
              1, "rollout.stepping.loop_closure");
}
END_TEST

START_TEST(assembly_closes_the_loops_and_holds_joints) {
    load("four_bar");
    json_t *found = run_json("$ctl assemble four_bar --q motor=1 --hold motor --json"),
           *q = json_object_get(found, "q");
    ck_assert_double_eq(number_of(q, 0), 1);
    ck_assert_double_le(gap_of_four_bar(q), 1e-9);
    json_decref(found);
    found = run_json("$ctl call assemble '{\"query\": {\"model\": \"four_bar\", \"joint_names\": [\"pivot\", "
                     "\"elbow\", \"motor\"]}, \"q\": [0.3, 0, 0], \"held_joints\": [\"pivot\"]}'");
    q = json_object_get(found, "q");
    json_t *ordered = json_pack("[f, f, f]", number_of(q, 2), number_of(q, 1), number_of(q, 0));
    ck_assert_double_eq(number_of(q, 0), 0.3);
    ck_assert_double_le(gap_of_four_bar(ordered), 1e-9);
    ck_assert(json_is_true(json_object_get(json_array_get(json_object_get(found, "outcomes"), 0), "is_closed")));
    json_decref(ordered), json_decref(found);
    must_say("$ctl assemble four_bar --q motor=1 --hold motor", "motor  1.000000      1.000000\n");
    must_say("$ctl assemble four_bar --q motor=1 --json | $ctl fd four_bar --states - --json", "multipliers");
}
END_TEST

START_TEST(assembly_that_fails_names_the_loop_and_its_error) {
    load("four_bar");
    must_fail("$ctl assemble four_bar --q motor=1 --hold motor,elbow,pivot", 1, "constraint loop stays open by 1.");
    must_fail("$ctl assemble four_bar --hold hip", 1, "--hold");
    must_fail("$ctl assemble two_link", 1, "has no constraints");
    must_fail("$ctl call assemble '{\"query\": {\"model\": \"four_bar\"}, \"q\": [0, 0, 0], \"tolerance\": -1}'", 1,
              "assemble.tolerance: the tolerance is -1");
    must_fail("$ctl call assemble '{\"query\": {\"model\": \"four_bar\"}, \"q\": [0, 0, 0], "
              "\"iteration_limit\": 10001}'",
              1, "assemble.iteration_limit: the limit is 10001");
}
END_TEST

int main(void) {
    TCase *all = tcase_create("constraints");
    tcase_set_timeout(all, 120);
    tcase_add_unchecked_fixture(all, command_line_start, command_line_stop);
    tcase_add_test(all, describe_shows_constraints_of_every_kind_with_their_rows);
    tcase_add_test(all, an_exported_model_loads_with_the_same_constraints);
    tcase_add_test(all, a_urdf_with_a_loop_is_the_robot_of_the_description);
    tcase_add_test(all, loops_beside_a_urdf_are_added_to_it);
    tcase_add_test(all, a_link_with_two_parents_is_a_loop_where_that_is_asked_for);
    tcase_add_test(all, too_many_constraints_of_a_urdf_are_refused_with_the_limit);
    tcase_add_test(all, constraints_change_the_digest);
    tcase_add_test(all, derived_models_carry_constraints_or_name_the_one_that_is_lost);
    tcase_add_test(all, kept_models_have_their_constraints_after_a_restart);
    tcase_add_test(all, a_constraint_of_a_request_is_that_of_a_model);
    tcase_add_test(all, a_wrong_constraint_of_a_request_is_refused_at_its_member);
    tcase_add_test(all, the_command_line_takes_a_file_of_constraints);
    tcase_add_test(all, a_simulation_keeps_the_constraints_of_its_request_over_a_restart);
    tcase_add_test(all, a_recorded_simulation_with_constraints_of_its_request_replays_bit_by_bit);
    tcase_add_test(all, streams_and_trajectories_compute_the_forces_of_constrained_motions);
    tcase_add_test(all, an_impact_closes_a_loop_and_takes_energy);
    tcase_add_test(all, an_effort_in_a_loop_joint_turns_the_mechanism);
    tcase_add_test(all, rows_of_a_request_act_as_the_constraint_with_these_rows);
    tcase_add_test(all, quantities_of_rows_are_those_of_the_constraint_with_these_rows);
    tcase_add_test(all, a_row_beside_the_constraints_holds_as_they_do);
    tcase_add_test(all, wrong_rows_are_refused_at_their_member);
    tcase_add_test(all, rows_that_are_not_finite_are_refused_at_their_number);
    tcase_add_test(all, motion_and_the_force_of_a_plate_yield_the_torques);
    tcase_add_test(all, a_drive_of_a_request_exerts_the_force_of_inverse_dynamics);
    tcase_add_test(all, simulations_and_rollouts_follow_a_prescribed_motion);
    tcase_add_test(all, a_wrong_constraint_is_refused_at_its_member);
    tcase_add_test(all, constraints_that_contradict_each_other_are_refused_by_name);
    tcase_add_test(all, too_many_constraints_are_refused_with_the_limit);
    tcase_add_test(all, methods_that_would_ignore_constraints_name_one_instead);
    tcase_add_test(all, quantities_of_the_tree_are_marked_where_constraints_hold);
    tcase_add_test(all, forces_of_a_task_accelerate_a_closed_loop_as_desired);
    tcase_add_test(all, formulate_shows_the_inner_quantities_of_constraints);
    tcase_add_test(all, terms_of_the_equation_of_motion_are_those_of_the_tree);
    tcase_add_test(all, forward_dynamics_shows_the_forces_of_the_constraints);
    tcase_add_test(all, derivatives_of_constrained_accelerations_are_those_of_the_motion);
    tcase_add_test(all, derivatives_of_constrained_accelerations_count_passive_forces);
    tcase_add_test(all, a_change_along_a_direction_counts_passive_forces);
    tcase_add_test(all, rollouts_and_simulations_move_closed_loops_alike);
    tcase_add_test(all, trajectories_of_closed_loops_report_their_closure_error);
    tcase_add_test(all, a_simulation_reports_how_far_its_state_is_open);
    tcase_add_test(all, recorded_motions_of_closed_loops_replay_bit_by_bit);
    tcase_add_test(all, simulations_of_closed_loops_go_on_after_a_restart);
    tcase_add_test(all, loop_closure_is_refused_where_it_does_not_fit);
    tcase_add_test(all, a_motion_that_a_loop_forbids_is_refused_by_every_method);
    tcase_add_test(all, weights_distribute_the_forces_of_motors);
    tcase_add_test(all, inverse_dynamics_finds_the_torque_of_the_only_motor);
    tcase_add_test(all, a_four_bar_that_a_weld_closes_stands_on_the_torque_of_its_motor);
    tcase_add_test(all, a_coupling_of_a_joint_with_itself_is_refused_with_the_names);
    tcase_add_test(all, a_coupling_ties_up_to_eight_coordinates);
    tcase_add_test(all, motions_of_eight_coupled_coordinates_keep_the_coupling);
    tcase_add_test(all, a_passive_joint_that_is_missing_is_refused_at_its_name);
    tcase_add_test(all, assembly_closes_the_loops_and_holds_joints);
    tcase_add_test(all, assembly_that_fails_names_the_loop_and_its_error);
    return run_unforked("constraints", all);
}
