/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks models with contact surfaces in the daemon: they are loaded, described, exported, derived and stored with
 * their surfaces; rollouts and simulations apply their forces; a quadruped stands on them; and a wrong surface is
 * refused with the path of its member.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/command_line.h"
#include "system/runner.h"

#define EVERY_SHAPE DYNAMICS_TEST_DATA "/contacts/every_shape.json"

static const char *const feet[] = {"FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"};

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    ck_assert_msg(text != NULL, "there is no text %s", key);
    return text;
}

static double member_of(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

/* Loads a description under a name. */
static void load_as(const json_t *description, const char *name) {
    char line[512];
    ck_assert_int_eq(json_dump_file(description, scratch("model.json"), 0), 0);
    snprintf(line, sizeof line, "$ctl load --replace --name %s --description %s", name, scratch("model.json"));
    must_say(line, ": ");
}

static json_t *read_every_shape(void) {
    json_t *description = json_load_file(EVERY_SHAPE, 0, NULL);
    ck_assert_ptr_nonnull(description);
    return description;
}

static void load_every_shape(void) {
    json_t *description = read_every_shape();
    load_as(description, "every_shape");
    json_decref(description);
}

/* Returns the description of a model in the daemon, exported. The caller releases it. */
static json_t *export_model(const char *model) {
    char line[512];
    snprintf(line, sizeof line,
             "$ctl call export_model '{\"model\": \"%s\", \"format\": \"MODEL_FORMAT_DESCRIPTION\"}'", model);
    json_t *reply = run_json(line), *description = json_incref(json_object_get(reply, "description"));
    json_decref(reply);
    return description;
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

START_TEST(describe_shows_surfaces_of_every_shape) {
    load_every_shape();
    json_t *robot = run_json("$ctl describe every_shape --json"), *list = json_object_get(robot, "contact_surfaces");
    ck_assert_uint_eq(json_array_size(list), 7);
    const json_t *floor = json_array_get(list, 0), *hull = json_array_get(list, 3), *bumper = json_array_get(list, 4);
    ck_assert_str_eq(text_of(floor, "shape"), "plane");
    ck_assert_str_eq(text_of(floor, "link"), "");
    ck_assert_double_eq(number_of(json_object_get(hull, "size"), 2), 0.2);
    ck_assert_str_eq(text_of(bumper, "link"), "trunk");
    ck_assert_double_eq(member_of(bumper, "stiffness"), 20000);
    ck_assert_double_eq(member_of(bumper, "dissipation"), 0.3);
    json_decref(robot);
    must_say("$ctl describe every_shape | grep '^drum'", "cylinder");
}
END_TEST

START_TEST(an_exported_model_loads_with_the_same_surfaces) {
    load_every_shape();
    json_t *description = export_model("every_shape");
    load_as(description, "again");
    char *digest = digest_of("every_shape"), *again = digest_of("again");
    ck_assert_str_eq(digest, again);
    json_object_set_new(json_array_get(json_object_get(description, "contact_surfaces"), 0), "friction",
                        json_real(0.7));
    load_as(description, "smoother");
    char *smoother = digest_of("smoother");
    ck_assert_str_ne(digest, smoother);
    free(digest), free(again), free(smoother);
    json_decref(description);
    must_fail("$ctl call export_model '{\"model\": \"every_shape\", \"format\": \"MODEL_FORMAT_URDF\"}'", 1,
              "the contact surface \"floor\"");
}
END_TEST

START_TEST(a_soft_surface_is_loaded_with_the_defaults_of_mujoco) {
    json_t *description = read_every_shape();
    json_t *ball = json_array_get(json_object_get(description, "contact_surfaces"), 2);
    json_object_del(ball, "restitution");
    load_as(description, "rigid");
    json_object_set_new(ball, "soft", json_pack("{sf}", "impedance", 0.97));
    load_as(description, "soft");
    json_decref(description);
    description = export_model("soft");
    load_as(description, "soft_again");
    char *rigid = digest_of("rigid"), *soft = digest_of("soft"), *again = digest_of("soft_again");
    ck_assert_str_ne(rigid, soft);
    ck_assert_str_eq(soft, again);
    free(rigid), free(soft), free(again);
    json_decref(description);
    static const char *const members[] = {"time_constant", "damping_ratio", "least_impedance", "impedance", "width",
                                          "midpoint",      "power"};
    static const double values[] = {0.02, 1, 0.9, 0.97, 0.001, 0.5, 2};
    json_t *robot = run_json("$ctl describe soft --json"), *list = json_object_get(robot, "contact_surfaces");
    for (size_t i = 0; i < 7; i++) {
        ck_assert_double_eq(member_of(json_object_get(json_array_get(list, 2), "soft"), members[i]), values[i]);
    }
    ck_assert_ptr_null(json_object_get(json_array_get(list, 0), "soft"));
    json_decref(robot);
    must_say("$ctl describe soft | grep '^ball'", "0.02");
}
END_TEST

START_TEST(a_height_field_is_kept_in_exports_and_carries_a_ball) {
    json_t *description =
        json_pack("{ss ss s[{ss s{si s[iiiiii]}}] s[{ss ss s{sf sf} si s[ffffff]} {ss ss ss sf}]}", "name", "hill",
                  "base_type", "BASE_FLOATING", "links", "name", "body", "inertia", "mass", 2, "rotational", 1, 0, 0, 1,
                  0, 1, "contact_surfaces", "name", "terrain", "shape", "CONTACT_SHAPE_HEIGHT_FIELD", "size", "x", 4.0,
                  "y", 2.0, "columns", 3, "heights", 0.5, 0.25, 0.5, 0.5, 0.25, 0.5, "name", "ball", "link", "body",
                  "shape", "CONTACT_SHAPE_SPHERE", "radius", 0.1);
    ck_assert_ptr_nonnull(description);
    load_as(description, "hill");
    json_t *exported = export_model("hill");
    load_as(exported, "hill_again");
    char *digest = digest_of("hill"), *again = digest_of("hill_again");
    ck_assert_str_eq(digest, again);
    free(digest), free(again);
    json_decref(exported);
    must_say("$ctl describe hill --json", "height_field");
    /* A side of slope 1/8 carries a ball without friction by m g cos^2 = 19.62 N 64 / 65. */
    must_say("$ctl rollout hill --q 1,0,0.476,0,0,0,1 --duration 0.2 | grep '^ball'", "19.318");
    json_array_remove(json_object_get(json_array_get(json_object_get(description, "contact_surfaces"), 0), "heights"),
                      0);
    ck_assert_int_eq(json_dump_file(description, scratch("wrong.json"), 0), 0);
    char line[512];
    snprintf(line, sizeof line, "$ctl load --replace --name wrong --description %s", scratch("wrong.json"));
    must_fail(line, 1, "5 heights do not fill rows of 3");
    must_fail(line, 1, "contact_surfaces[0].heights");
    json_decref(description);
}
END_TEST

START_TEST(derived_models_carry_the_surfaces_of_their_links) {
    load_every_shape();
    must_say("$ctl derive every_shape detach:arm --name trunk --replace", "trunk: ");
    json_t *trunk = export_model("trunk"), *list = json_object_get(trunk, "contact_surfaces");
    ck_assert_uint_eq(json_array_size(list), 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_str_ne(text_of(json_array_get(list, i), "name"), "tip");
    }
    json_decref(trunk);
    must_fail("$ctl derive two_link merge:every_shape,tip,my_ --name both --replace", 1, "on the world");
}
END_TEST

START_TEST(kept_models_have_their_surfaces_after_a_restart) {
    json_t *description = read_every_shape();
    ck_assert_int_eq(json_dump_file(description, scratch("model.json"), 0), 0);
    json_decref(description);
    char line[512];
    snprintf(line, sizeof line, "$ctl load --replace --name kept --keep --description %s", scratch("model.json"));
    must_say(line, ": ");
    daemon_restart(&served);
    must_say("$ctl describe kept | grep '^bumper'", "20000");
}
END_TEST

/* Loads a body of 2 kg that touches a floor with its centre of mass, so that friction does not turn it. */
static void load_puck(void) {
    json_t *description =
        json_pack("{ss ss s[{ss s{si s[iiiiii]}}] s[{ss ss sf} {ss ss ss sf}]}", "name", "puck", "base_type",
                  "BASE_FLOATING", "links", "name", "body", "inertia", "mass", 2, "rotational", 1, 0, 0, 1, 0, 1,
                  "contact_surfaces", "name", "floor", "shape", "CONTACT_SHAPE_PLANE", "friction", 0.4, "name", "tip",
                  "link", "body", "shape", "CONTACT_SHAPE_POINT", "friction", 0.4);
    ck_assert_ptr_nonnull(description);
    load_as(description, "puck");
    json_decref(description);
}

/* ---- a quadruped ------------------------------------------------------------------------------------------------- */

enum { QUADRUPED_NQ = 19 };

/* Loads the quadruped with spherical feet of 17.5 mm, on a floor. */
static void load_walker(void) {
    must_say("$ctl load --replace --name quadruped --base floating " DYNAMICS_ROBOTS_DIR "/quadruped.urdf", ": ");
    json_t *description = export_model("quadruped"), *surfaces = json_array();
    json_array_append_new(surfaces,
                          json_pack("{ss ss sf}", "name", "floor", "shape", "CONTACT_SHAPE_PLANE", "friction", 0.8));
    for (size_t i = 0; i < 4; i++) {
        json_array_append_new(surfaces, json_pack("{ss ss ss sf sf}", "name", feet[i], "link", feet[i], "shape",
                                                  "CONTACT_SHAPE_SPHERE", "radius", 0.0175, "friction", 0.8));
    }
    json_object_set_new(description, "contact_surfaces", surfaces);
    load_as(description, "walker");
    json_decref(description);
}

/* Returns the pose of samples that stand, `height` apart in height. The caller releases it. */
static json_t *standing(size_t samples, double height) {
    json_t *q = json_array();
    for (size_t s = 0; s < samples; s++) {
        const double base[] = {0, 0, 0.32 * cos(0.8) + 0.0175 + height * (double)s, 0, 0, 0, 1};
        for (size_t i = 0; i < QUADRUPED_NQ; i++) {
            double bend = (i - 7) % 3 == 0 ? 0 : (i - 7) % 3 == 1 ? 0.8 : -1.6;
            json_array_append_new(q, json_real(i < 7 ? base[i] : i < 13 ? bend : -bend));
        }
    }
    return q;
}

/* Requests a rollout of samples that hold the standing pose. The caller releases the reply. */
static json_t *stand(size_t samples, double height, int steps) {
    json_t *request = json_pack("{s{ss} so so si ss sb s[sss] s{sf s{ss s[f] s[f]}}}", "query", "model", "walker", "q",
                                standing(samples, height), "q_ref", standing(1, 0), "steps", steps, "reference_layout",
                                "LAYOUT_SHARED", "only_last", 1, "results", "ROLLOUT_RESULT_Q", "ROLLOUT_RESULT_V",
                                "ROLLOUT_RESULT_CONTACTS", "stepping", "step_length", 0.001, "controller", "law",
                                "CONTROL_LAW_PD", "kp", 20.0, "kd", 0.5);
    ck_assert_ptr_nonnull(request);
    json_t *pose = json_object_get(request, "q_ref"), *all = json_array();
    for (int k = 0; k < steps; k++) {
        json_array_extend(all, pose);
    }
    json_object_set_new(request, "q_ref", all);
    ck_assert_int_eq(json_dump_file(request, scratch("rollout.json"), 0), 0);
    json_decref(request);
    char line[512];
    snprintf(line, sizeof line, "$ctl --timeout 200 call rollout - < %s", scratch("rollout.json"));
    return run_json(line);
}

/* Asserts that a sample of a reply stands on forces that sum to its weight. */
static void assert_stands(const json_t *reply, size_t sample, double weight) {
    const json_t *f = json_object_get(reply, "contact_forces"), *q = json_object_get(reply, "q");
    const json_t *slips = json_object_get(reply, "contact_slips"), *gaps = json_object_get(reply, "contact_gaps");
    double sum[3] = {0};
    for (size_t i = 1; i < 5; i++) {
        for (size_t k = 0; k < 3; k++) {
            sum[k] += number_of(f, 15 * sample + 3 * i + k);
        }
        ck_assert_double_gt(number_of(f, 15 * sample + 3 * i + 2), 0.1 * weight);
        ck_assert_double_le(fabs(number_of(gaps, 5 * sample + i)), 1e-4);
        ck_assert_double_le(number_of(slips, 5 * sample + i), 1e-3);
    }
    ck_assert_double_eq_tol(sum[0], 0, 1e-3 * weight);
    ck_assert_double_eq_tol(sum[1], 0, 1e-3 * weight);
    ck_assert_double_eq_tol(sum[2], weight, 1e-3 * weight);
    ck_assert_double_eq_tol(number_of(f, 15 * sample + 2), -sum[2], 1e-9 * weight);
    ck_assert_double_ge(number_of(q, QUADRUPED_NQ * sample + 2), 0.2);
}

static double weight_of_walker(void) {
    json_t *robot = run_json("$ctl describe walker --json");
    double mass = member_of(json_object_get(robot, "model"), "mass");
    json_decref(robot);
    return 9.81 * mass;
}

START_TEST(a_quadruped_stands_for_ten_seconds_on_its_weight) {
    load_walker();
    json_t *reply = stand(1, 0, 10000);
    assert_stands(reply, 0, weight_of_walker());
    const json_t *end = json_array_get(json_object_get(reply, "outcomes"), 0);
    ck_assert_double_le(member_of(end, "contact_residual"), 1e-3);
    json_decref(reply);
}
END_TEST

START_TEST(a_quadruped_with_a_rod_between_its_feet_stands_on_its_weight) {
    load_walker();
    json_t *description = export_model("walker");
    json_object_set_new(description, "constraints",
                        json_pack("[{ss s{s{ss} s{ss} sf}} {ss s{s[{ss sf} {ss sf}]}}]", "name", "rod", "distance",
                                  "predecessor", "link", "FL_FOOT", "successor", "link", "FR_FOOT", "distance", 0.2939,
                                  "name", "tie", "coupling", "coordinates", "joint", "HL_HAA", "coefficient", 1.0,
                                  "joint", "HR_HAA", "coefficient", 1.0));
    load_as(description, "walker");
    json_decref(description);
    json_t *reply = stand(1, 0, 2000), *end = json_array_get(json_object_get(reply, "outcomes"), 0);
    assert_stands(reply, 0, weight_of_walker());
    ck_assert_double_le(member_of(end, "closure_error"), 1e-8);
    ck_assert_double_eq(member_of(end, "constraint_rank"), 2);
    json_decref(reply);
}
END_TEST

START_TEST(dry_friction_of_a_joint_holds_with_solve_joints) {
    json_t *description =
        json_pack("{ss s[{ss} {ss s{sf}}] s[{ss ss ss ss s{sf} sf}]}", "name", "slide", "links", "name", "base", "name",
                  "block", "inertia", "mass", 2.0, "joints", "name", "rail", "type", "JOINT_TYPE_PRISMATIC",
                  "parent_link", "base", "child_link", "block", "axis", "z", 1.0, "friction", 20.0);
    ck_assert_ptr_nonnull(description);
    load_as(description, "slide");
    json_decref(description);
    static const char *const line = "$ctl call rollout '{\"query\": {\"model\": \"slide\"}, \"q\": [0], \"steps\": "
                                    "1000, \"only_last\": true, \"stepping\": {\"solve_joints\": %s%s}}'";
    double fallen[2];
    for (int i = 0; i < 2; i++) {
        char call[512];
        snprintf(call, sizeof call, line, i == 0 ? "false" : "true", "");
        json_t *reply = run_json(call);
        fallen[i] = number_of(json_object_get(reply, "q"), 0);
        json_decref(reply);
    }
    ck_assert_double_le(fallen[0], -1e-3);
    ck_assert_double_eq_tol(fallen[1], 0, 1e-15);
    char call[512];
    snprintf(call, sizeof call, line, "true", ", \"integrator\": \"INTEGRATOR_RK4\"");
    must_fail(call, 1, "stepping.integrator");
}
END_TEST

/* The thread sanitizer slows the daemon so much that a thousand would take minutes. */
#if defined __SANITIZE_THREAD__
enum { SAMPLES = 50 };
#else
enum { SAMPLES = 1000 };
#endif

START_TEST(a_thousand_quadrupeds_fall_and_stand_in_one_request) {
    load_walker();
    double weight = weight_of_walker();
    json_t *reply = stand(SAMPLES, 1e-6, 400);
    for (size_t s = 0; s < SAMPLES; s++) {
        assert_stands(reply, s, weight);
    }
    json_decref(reply);
}
END_TEST

START_TEST(the_command_line_prints_the_contacts_of_the_end) {
    load_puck();
    must_say("$ctl rollout puck --duration 0.1 | grep '^tip'", "19.62");
    must_say("$ctl rollout puck --duration 0.1", "contacts: at most");
    must_say("$ctl rollout puck --q 0,0,9,0,0,0,1 --duration 0.1 | grep '^floor'", "8.95");
    must_say("$ctl simulate puck --duration 0.1 | grep '^floor'", "-19.62");
    must_say("$ctl rollout puck --duration 0.1 --solve-joints", "ran");
}
END_TEST

START_TEST(blocks_slide_beyond_the_angle_of_friction) {
    load_puck();
    /* Gravity that turns about y is a slope, below and above atan 0.4. */
    const double g = 9.81, mu = 0.4;
    for (int degree = -2; degree <= 2; degree++) {
        double slope = atan(mu) + degree * acos(-1) / 180, a = fmax(0, g * (sin(slope) - mu * cos(slope)));
        char line[512];
        snprintf(line, sizeof line,
                 "$ctl call rollout '{\"query\": {\"model\": \"puck\", \"gravity\": {\"x\": %.17g, \"z\": %.17g}}, "
                 "\"q\": [0, 0, 0, 0, 0, 0, 1,  3, 0, 0, 0, 0, 0, 1], \"steps\": 500, \"only_last\": true}'",
                 g * sin(slope), -g * cos(slope));
        json_t *reply = run_json(line);
        double expected = a * (0.25 + 0.5 * 0.001) / 2;
        for (size_t s = 0; s < 2 && degree != 0; s++) {
            double moved = number_of(json_object_get(reply, "q"), 7 * s) - 3 * (double)s;
            ck_assert_double_eq_tol(moved, expected, 1e-6);
        }
        json_decref(reply);
    }
}
END_TEST

/* Loads the puck under another name, with a restitution. */
static void load_bouncing_puck(const char *name, double restitution) {
    load_puck();
    json_t *description = export_model("puck"), *surfaces = json_object_get(description, "contact_surfaces");
    json_object_set_new(json_array_get(surfaces, 0), "restitution", json_real(restitution));
    load_as(description, name);
    json_decref(description);
}

START_TEST(a_ball_rebounds_to_the_square_of_its_restitution) {
    load_bouncing_puck("ball", 0.8);
    json_t *reply = run_json("$ctl call rollout '{\"query\": {\"model\": \"ball\"}, \"q\": [0, 0, 1, 0, 0, 0, 1], "
                             "\"steps\": 12000, \"stepping\": {\"step_length\": 0.0001}, \"stride\": 10}'");
    const json_t *q = json_object_get(reply, "q");
    double top = 0, fall = sqrt(2 / 9.81);
    for (size_t row = (size_t)(fall * 1000) + 2; row < json_array_size(q) / 7; row++) {
        top = fmax(top, number_of(q, 7 * row + 2));
    }
    ck_assert_double_eq_tol(top, 0.64, 2e-3);
    json_decref(reply);
}
END_TEST

START_TEST(a_rollout_and_a_simulation_choose_the_law_of_contacts) {
    load_puck();
    /* A soft surface sinks in, a rigid one does not; both carry the weight at rest. */
    static const char *const laws[] = {"rigid", "soft"};
    for (int i = 0; i < 4; i++) {
        char line[256];
        snprintf(line, sizeof line, "$ctl %s puck --duration 2 --contact-law %s --json | tail -1",
                 i < 2 ? "rollout" : "simulate", laws[i % 2]);
        json_t *row = run_json(line);
        const json_t *tip = json_object_get(json_object_get(row, "contacts"), "tip");
        double gap = member_of(tip, "gap");
        ck_assert_double_eq_tol(number_of(json_object_get(tip, "force"), 2), 2 * 9.81, 1e-6);
        ck_assert(i % 2 == 0 ? fabs(gap) < 1e-9 : gap < -1e-4 && gap > -1e-2);
        json_decref(row);
    }
    must_fail("$ctl call rollout '{\"query\": {\"model\": \"puck\"}, \"q\": [0, 0, 0, 0, 0, 0, 1], \"steps\": 1, "
              "\"stepping\": {\"contact_law\": 7}}'",
              2, "stepping.contact_law");
}
END_TEST

START_TEST(rows_of_a_rollout_and_a_simulation_have_their_contacts) {
    load_puck();
    static const char *const commands[] = {"rollout puck", "simulate puck"};
    for (int i = 0; i < 2; i++) {
        char line[512];
        snprintf(line, sizeof line, "$ctl %s --duration 0.1 --csv | head -1", commands[i]);
        must_say(line, ",contact_force.floor.x,contact_force.floor.y,contact_force.floor.z,contact_gap.floor,"
                       "contact_slip.floor,contact_force.tip.x,contact_force.tip.y,contact_force.tip.z,contact_gap.tip,"
                       "contact_slip.tip");
        snprintf(line, sizeof line, "$ctl %s --duration 0.1 --csv | tail -1 | awk -F, '{printf \"%%.6f\", $29}'",
                 commands[i]);
        must_say(line, "19.620000");
        snprintf(line, sizeof line, "$ctl %s --duration 0.1 --json | tail -1", commands[i]);
        json_t *row = run_json(line), *contacts = json_object_get(row, "contacts");
        const json_t *tip = json_object_get(contacts, "tip");
        ck_assert_double_eq_tol(number_of(json_object_get(tip, "force"), 2), 2 * 9.81, 1e-9);
        ck_assert_double_eq_tol(member_of(tip, "gap"), 0, 1e-9);
        ck_assert_double_eq_tol(number_of(json_object_get(json_object_get(contacts, "floor"), "force"), 2), -2 * 9.81,
                                1e-9);
        json_decref(row);
    }
    must_say(
        "$ctl rollout puck --duration 0.1 --csv > contacts.csv && $ctl gravity puck --states contacts.csv --json | "
        "tail -1",
        "g");
}
END_TEST

START_TEST(a_live_simulation_comes_to_rest_on_the_floor) {
    load_walker();
    load_every_shape();
    must_fail("$ctl call create_simulation '{\"query\": {\"model\": \"walker\"}, \"name\": \"rk\", \"stepping\": "
              "{\"integrator\": \"INTEGRATOR_RK4\"}}'",
              1, "stepping.integrator");
    json_t *created =
        run_json("$ctl call create_simulation '{\"query\": {\"model\": \"every_shape\"}, \"name\": \"falls\", \"q\": "
                 "[0, 0, 0.5, 0, 0, 0, 1, 0], \"pace\": \"PACE_LOCKSTEP\"}'");
    char line[256], *token = json_dumps(json_object_get(created, "token"), JSON_ENCODE_ANY);
    snprintf(line, sizeof line,
             "$ctl call step_simulation '{\"simulation\": \"falls\", \"token\": %s, \"steps\": 2000}'", token);
    json_t *reply = run_json(line);
    free(token);
    json_decref(created);
    const json_t *q = json_object_get(json_object_get(reply, "state"), "q");
    ck_assert_double_ge(number_of(q, 2), 0.09);
    ck_assert_double_le(number_of(q, 2), 0.3);
    /* The floor is surface 0: it carries the weight of the rest, and the compliant bumper sinks in. */
    const json_t *state = json_object_get(reply, "state"), *forces = json_object_get(state, "contact_forces");
    double sum[3] = {0};
    ck_assert_uint_eq(json_array_size(forces), 3 * 7);
    ck_assert_uint_eq(json_array_size(json_object_get(state, "contact_slips")), 7);
    for (size_t i = 0; i < 3 * 7; i++) {
        sum[i % 3] += number_of(forces, i);
    }
    ck_assert_double_le(number_of(forces, 2), -1);
    for (size_t k = 0; k < 3; k++) {
        ck_assert_double_eq_tol(sum[k], 0, 1e-6);
    }
    ck_assert_double_eq_tol(number_of(json_object_get(state, "contact_gaps"), 0), -0.01, 0.01);
    ck_assert_double_le(member_of(state, "contact_residual"), 1e-6);
    json_decref(reply);
}
END_TEST

/* ---- forward dynamics ------------------------------------------------------------------------------------------- */

START_TEST(forward_dynamics_counts_contacts_over_a_time_step) {
    load_puck();
    /* One state slides on the floor at 1 m/s, one is above it, one rests and is pushed below the force of friction. */
    json_t *reply = run_json("$ctl call forward_dynamics '{\"query\": {\"model\": \"puck\"}, \"contact_step\": 0.001, "
                             "\"q\": [0, 0, 0, 0, 0, 0, 1,  0, 0, 1, 0, 0, 0, 1,  0, 0, 0, 0, 0, 0, 1], "
                             "\"v\": [1, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0], "
                             "\"tau\": [0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0,  0, 7, 0, 0, 0, 0]}'");
    const double expected[3][3] = {{-0.4 * 9.81, 0, 0}, {0, 0, -9.81}, {0, 0, 0}};
    const double forces[3][3] = {{-0.8 * 9.81, 0, 2 * 9.81}, {0, 0, 0}, {0, -7, 2 * 9.81}};
    const json_t *solution = json_object_get(reply, "contacts");
    for (size_t s = 0; s < 3; s++) {
        for (size_t k = 0; k < 3; k++) {
            ck_assert_double_eq_tol(number_of(json_object_get(reply, "a"), 6 * s + k), expected[s][k], 1e-9);
            ck_assert_double_eq_tol(number_of(json_object_get(solution, "forces"), 6 * s + 3 + k), forces[s][k], 1e-9);
        }
    }
    ck_assert_double_eq_tol(number_of(json_object_get(solution, "gaps"), 3), 1, 1e-15);
    json_decref(reply);
    /* A payload of 1 kg at the centre of mass adds its weight to the force. */
    reply =
        run_json("$ctl call forward_dynamics '{\"query\": {\"model\": \"puck\", \"payloads\": [{\"link\": \"body\", "
                 "\"inertia\": {\"mass\": 1}}]}, \"contact_step\": 0.001, \"q\": [0, 0, 0, 0, 0, 0, 1]}'");
    ck_assert_double_eq_tol(number_of(json_object_get(json_object_get(reply, "contacts"), "forces"), 5), 3 * 9.81,
                            1e-9);
    json_decref(reply);
    must_fail(
        "$ctl call forward_dynamics '{\"query\": {\"model\": \"two_link\"}, \"q\": [0, 0], \"contact_step\": 0.001}'",
        1, "no contact surfaces");
    must_fail("$ctl call forward_dynamics '{\"query\": {\"model\": \"puck\"}, \"q\": [0, 0, 0, 0, 0, 0, 1], "
              "\"contact_step\": -1}'",
              1, "contact_step is -1");
}
END_TEST

/* Returns the values of a block of a result of Evaluate. */
static const json_t *block_of(const json_t *reply, size_t result, size_t block) {
    const json_t *blocks = json_object_get(json_array_get(json_object_get(reply, "results"), result), "blocks");
    return json_object_get(json_array_get(blocks, block), "values");
}

/* Asserts that an array begins with these numbers. */
static void assert_numbers(const json_t *array, size_t count, const double *expected, double tolerance) {
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_eq_tol(number_of(array, i), expected[i], tolerance);
    }
}

/* Puck on the floor of a lift: the floor, which is part of the base, carries its weight in the lift. */
START_TEST(contacts_of_a_state_count_the_motion_of_the_base) {
    static const struct {
        const char *acceleration; /* of the base */
        double a, force[3];       /* of the puck along z in the lift, of the floor on it */
    } cases[] = {{"0, 0, 2", 0, {0, 0, 2 * (9.81 + 2)}},
                 {"0, 0, -9.81", 0, {0, 0, 0}},
                 {"0, 0, -11", 11 - 9.81, {0, 0, 0}},
                 {"1, 0, 0", 0, {2, 0, 2 * 9.81}}};
    load_puck();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[1024];
        const double a[] = {0, 0, cases[i].a};
        snprintf(line, sizeof line,
                 "$ctl call evaluate '{\"query\": {\"model\": \"puck\", \"base_motion\": {\"linear_acceleration\": "
                 "[%s]}}, \"contact_step\": 0.001, \"q\": [0, 0, 0, 0, 0, 0, 1], \"quantities\": [{\"quantity\": "
                 "\"QUANTITY_CONTACT_FORCES\"}, {\"quantity\": \"QUANTITY_CONTACT_ACCELERATION\"}]}'",
                 cases[i].acceleration);
        json_t *reply = run_json(line);
        const json_t *forces = block_of(reply, 0, 0);
        for (size_t k = 0; k < 3; k++) {
            ck_assert_double_eq_tol(number_of(forces, 3 + k), cases[i].force[k], 1e-9);
        }
        assert_numbers(block_of(reply, 1, 0), 3, a, 1e-9);
        json_decref(reply);
    }
    json_t *reply =
        run_json("$ctl call forward_dynamics '{\"query\": {\"model\": \"puck\", \"base_motion\": "
                 "{\"linear_acceleration\": [0, 0, 2]}}, \"contact_step\": 0.001, \"q\": [0, 0, 0, 0, 0, 0, 1]}'");
    ck_assert_double_eq_tol(number_of(json_object_get(json_object_get(reply, "contacts"), "forces"), 5), 2 * 11.81,
                            1e-9);
    json_decref(reply);
}
END_TEST

START_TEST(evaluate_states_the_contacts_of_a_state) {
    load_puck();
    /* One state slides on the floor at 1 m/s, one is 1 m above it, beside the origin. */
    json_t *reply =
        run_json("$ctl call evaluate '{\"query\": {\"model\": \"puck\"}, \"contact_step\": 0.002, "
                 "\"q\": [0, 0, 0, 0, 0, 0, 1,  0.5, 0, 1, 0, 0, 0, 1], "
                 "\"v\": [1, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0], \"quantities\": ["
                 "{\"quantity\": \"QUANTITY_CONTACT_FORCES\"}, {\"quantity\": \"QUANTITY_CONTACT_GAPS\"}, "
                 "{\"quantity\": \"QUANTITY_CONTACT_SLIPS\"}, {\"quantity\": \"QUANTITY_CONTACT_NORMALS\"}, "
                 "{\"quantity\": \"QUANTITY_CONTACT_POINTS\"}, "
                 "{\"quantity\": \"QUANTITY_CONTACT_ACCELERATION\"}, "
                 "{\"quantity\": \"QUANTITY_CONTACT_SOLUTION\"}]}'");
    const double w = 2 * 9.81, forces[] = {0.4 * w, 0, -w, -0.4 * w, 0, w, 0, 0, 0, 0, 0, 0}, gaps[] = {0, 0, 1, 1};
    const double slip = 1 - 0.4 * 9.81 * 0.002, slips[] = {slip, slip, 0, 0};
    const double normals[] = {0, 0, -1, 0, 0, 1, 0, 0, -1, 0, 0, 1},
                 points[] = {0, 0, 0, 0, 0, 0, 0.5, 0, 1, 0.5, 0, 1};
    const double a[] = {-0.4 * 9.81, 0, 0, 0, 0, 0, 0, 0, -9.81, 0, 0, 0};
    assert_numbers(block_of(reply, 0, 0), 12, forces, 1e-9);
    assert_numbers(block_of(reply, 1, 0), 4, gaps, 1e-15);
    assert_numbers(block_of(reply, 2, 0), 4, slips, 1e-9);
    assert_numbers(block_of(reply, 3, 0), 12, normals, 1e-15);
    assert_numbers(block_of(reply, 4, 0), 12, points, 1e-15);
    assert_numbers(block_of(reply, 5, 0), 12, a, 1e-9);
    ck_assert_double_le(number_of(block_of(reply, 6, 0), 0), 1e-9);
    ck_assert_double_ge(number_of(block_of(reply, 6, 1), 0), 1);
    ck_assert_double_eq(number_of(block_of(reply, 6, 1), 1), 0);
    const json_t *axis = json_array_get(json_object_get(reply, "axes"), 0);
    ck_assert_str_eq(text_of(axis, "kind"), "AXIS_KIND_CONTACT_SURFACES");
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(axis, "labels"), 1)), "tip");
    json_decref(reply);
    must_say("$ctl evaluate puck --quantity contact_forces,contact_gaps --contact-step 0.01", "19.62");
    /* Payloads count. */
    must_say("$ctl evaluate puck --quantity contact_forces --payload body:1", "29.43");
    must_fail("$ctl evaluate two_link --quantity contact_forces", 1, "has no contact surfaces");
    must_fail("$ctl evaluate puck --quantity contact_forces --contact-step 2", 1, "contact_step is 2");
    must_fail("$ctl evaluate puck --quantity mass_matrix --contact-step 0.001", 1, "leave contact_step out");
    must_fail("$ctl evaluate puck --quantity contact_gaps --precision single", 1, "double precision");
}
END_TEST

START_TEST(evaluate_states_impacts_of_contacts_and_stops) {
    load_bouncing_puck("bouncy", 0.5);
    json_t *found = run_json("$ctl evaluate bouncy --v 2,0,-2,0,0,0 --json --quantity "
                             "contact_impact_velocity,contact_impact_impulses,stop_impact_impulses");
    const double after[] = {2 - 0.4 * 3, 0, 1, 0, 0, 0}, impulses[] = {-2 * 0.4 * 3, 0, 2 * 3};
    assert_numbers(json_object_get(found, "contact_impact_velocity"), 6, after, 1e-9);
    assert_numbers(json_array_get(json_object_get(found, "contact_impact_impulses"), 1), 3, impulses, 1e-9);
    json_decref(found);
    /* A gap that the velocity does not close in the step has no impulse. */
    found = run_json("$ctl evaluate bouncy --q 0,0,0.01,0,0,0,1 --v 0,0,-2,0,0,0 --json --quantity "
                     "contact_impact_velocity");
    ck_assert_double_eq(number_of(json_object_get(found, "contact_impact_velocity"), 2), -2);
    json_decref(found);
    found = run_json("$ctl evaluate bouncy --q 0,0,0.01,0,0,0,1 --v 0,0,-2,0,0,0 --contact-step 0.01 --json --quantity "
                     "contact_impact_velocity");
    ck_assert_double_eq_tol(number_of(json_object_get(found, "contact_impact_velocity"), 2), 1, 1e-9);
    json_decref(found);
    /* The arm of every_shape, far above the floor, strikes the limit of its shoulder. */
    load_every_shape();
    found = run_json("$ctl evaluate every_shape --q 0,0,9,0,0,0,1,2 --v 0,0,0,0,0,0,3 --restitution 0.25 --json "
                     "--quantity contact_impact_velocity,stop_impact_impulses,mass_matrix");
    const json_t *v = json_object_get(found, "contact_impact_velocity"), *M = json_object_get(found, "mass_matrix");
    ck_assert_double_eq_tol(number_of(v, 6), -0.25 * 3, 1e-9);
    for (size_t i = 0; i < 7; i++) {
        double change = 0;
        for (size_t k = 0; k < 7; k++) {
            change += number_of(json_array_get(M, i), k) * (number_of(v, k) - (k == 6 ? 3 : 0));
        }
        ck_assert_double_eq_tol(change, number_of(json_object_get(found, "stop_impact_impulses"), i), 1e-9);
    }
    json_decref(found);
}
END_TEST

START_TEST(a_constraint_holds_while_contacts_act_over_a_step) {
    load_puck();
    json_t *description = export_model("puck");
    json_object_set_new(description, "constraints",
                        json_pack("[{ss s{s{ss} s{sf}}}]", "name", "wall", "point_on_plane", "successor", "link",
                                  "body", "normal", "x", 1.0));
    load_as(description, "guided");
    json_decref(description);
    /* The wall holds the push along x, and friction brakes the motion along y. */
    json_t *reply =
        run_json("$ctl call forward_dynamics '{\"query\": {\"model\": \"guided\"}, \"contact_step\": 0.001, "
                 "\"q\": [0, 0, 0, 0, 0, 0, 1], \"v\": [0, 1, 0, 0, 0, 0], \"tau\": [9, 0, 0, 0, 0, 0]}'");
    const double a[] = {0, -0.4 * 9.81, 0, 0, 0, 0}, forces[] = {0, 0.8 * 9.81, -2 * 9.81, 0, -0.8 * 9.81, 2 * 9.81};
    assert_numbers(json_object_get(reply, "a"), 6, a, 1e-9);
    assert_numbers(json_object_get(json_object_get(reply, "contacts"), "forces"), 6, forces, 1e-9);
    json_decref(reply);
    must_fail("$ctl call forward_dynamics '{\"query\": {\"model\": \"guided\"}, \"contact_step\": 0.001, "
              "\"q\": [0, 0, 0, 0, 0, 0, 1], \"constraint_tolerance\": 0.5}'",
              1, "constraint_tolerance");
}
END_TEST

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* A contact surface, and the refusal: the member that the field ends with, and a text. */
typedef struct wrong_surface {
    const char *surface, *member, *said;
} wrong_surface;

static const wrong_surface wrong_surfaces[] = {
    {"{\"name\": \"x\"}", ".shape", "its shape is 0"},
    {"{\"shape\": \"CONTACT_SHAPE_POINT\"}", ".name", "name"},
    {"{\"name\": \"floor\", \"shape\": \"CONTACT_SHAPE_POINT\"}", ".name", "two contact surfaces"},
    {"{\"name\": \"x\", \"shape\": \"CONTACT_SHAPE_POINT\", \"link\": \"leg\"}", ".link", "no link \"leg\""},
    {"{\"name\": \"x\", \"shape\": \"CONTACT_SHAPE_POINT\", \"friction\": -1}", ".friction", "-1"},
    {"{\"name\": \"x\", \"shape\": \"CONTACT_SHAPE_POINT\", \"stiffness\": -5}", ".stiffness", "-5"},
    {"{\"name\": \"x\", \"shape\": \"CONTACT_SHAPE_POINT\", \"restitution\": 2}", ".restitution", "0 to 1"},
    {"{\"name\": \"x\", \"shape\": \"CONTACT_SHAPE_POINT\", \"dissipation\": 1}", ".dissipation", "stiffness"},
    {"{\"name\": \"x\", \"shape\": \"CONTACT_SHAPE_POINT\", \"soft\": {\"time_constant\": -1}}", ".soft.time_constant",
     "-1"},
    {"{\"name\": \"x\", \"shape\": \"CONTACT_SHAPE_POINT\", \"soft\": {\"impedance\": 1}}", ".soft.impedance",
     "0.9999"},
    {"{\"name\": \"x\", \"shape\": \"CONTACT_SHAPE_POINT\", \"soft\": {\"power\": 0.5}}", ".soft.power", "1 or more"},
    {"{\"name\": \"x\", \"shape\": \"CONTACT_SHAPE_POINT\", \"soft\": {}, \"stiffness\": 5}", ".stiffness", "is soft"},
    {"{\"name\": \"x\", \"shape\": \"CONTACT_SHAPE_SPHERE\"}", ".radius", "0"},
    {"{\"name\": \"x\", \"shape\": \"CONTACT_SHAPE_BOX\", \"size\": {\"x\": 1}}", ".size", "positive"},
};

START_TEST(wrong_surfaces_are_refused_with_the_path_of_their_member) {
    const wrong_surface *wrong = &wrong_surfaces[_i];
    json_t *description = read_every_shape(), *surface = json_loads(wrong->surface, 0, NULL);
    char line[512], field[128];
    ck_assert_ptr_nonnull(surface);
    json_array_append_new(json_object_get(description, "contact_surfaces"), surface);
    ck_assert_int_eq(json_dump_file(description, scratch("wrong.json"), 0), 0);
    json_decref(description);
    snprintf(line, sizeof line, "$ctl load --replace --name wrong --description %s", scratch("wrong.json"));
    must_fail(line, 1, wrong->said);
    snprintf(field, sizeof field, "contact_surfaces[7]%s", wrong->member);
    must_fail(line, 1, field);
}
END_TEST

START_TEST(accurate_rollouts_refuse_contacts) {
    load_every_shape();
    must_fail(
        "$ctl call rollout '{\"query\": {\"model\": \"every_shape\"}, \"q\": [0, 0, 1, 0, 0, 0, 1, 0], \"steps\": "
        "10, \"accuracy\": {}}'",
        1, "contacts act in steps");
}
END_TEST

/* Starts a daemon that has time for a thousand rollouts under a sanitizer. */
static void start_patient(void) {
    const daemon_options options = {.configuration = "[limits]\nrequest_time = 180\n"};
    daemon_start(&options, &served);
}

int main(void) {
    TCase *all = tcase_create("contacts");
    tcase_set_timeout(all, 240);
    tcase_add_unchecked_fixture(all, start_patient, command_line_stop);
    tcase_add_test(all, describe_shows_surfaces_of_every_shape);
    tcase_add_test(all, an_exported_model_loads_with_the_same_surfaces);
    tcase_add_test(all, a_soft_surface_is_loaded_with_the_defaults_of_mujoco);
    tcase_add_test(all, a_height_field_is_kept_in_exports_and_carries_a_ball);
    tcase_add_test(all, derived_models_carry_the_surfaces_of_their_links);
    tcase_add_test(all, kept_models_have_their_surfaces_after_a_restart);
    tcase_add_test(all, a_quadruped_stands_for_ten_seconds_on_its_weight);
    tcase_add_test(all, a_quadruped_with_a_rod_between_its_feet_stands_on_its_weight);
    tcase_add_test(all, dry_friction_of_a_joint_holds_with_solve_joints);
    tcase_add_test(all, a_thousand_quadrupeds_fall_and_stand_in_one_request);
    tcase_add_test(all, the_command_line_prints_the_contacts_of_the_end);
    tcase_add_test(all, blocks_slide_beyond_the_angle_of_friction);
    tcase_add_test(all, a_ball_rebounds_to_the_square_of_its_restitution);
    tcase_add_test(all, a_rollout_and_a_simulation_choose_the_law_of_contacts);
    tcase_add_test(all, rows_of_a_rollout_and_a_simulation_have_their_contacts);
    tcase_add_test(all, a_live_simulation_comes_to_rest_on_the_floor);
    tcase_add_test(all, forward_dynamics_counts_contacts_over_a_time_step);
    tcase_add_test(all, evaluate_states_the_contacts_of_a_state);
    tcase_add_test(all, contacts_of_a_state_count_the_motion_of_the_base);
    tcase_add_test(all, evaluate_states_impacts_of_contacts_and_stops);
    tcase_add_test(all, a_constraint_holds_while_contacts_act_over_a_step);
    tcase_add_loop_test(all, wrong_surfaces_are_refused_with_the_path_of_their_member, 0,
                        (int)(sizeof wrong_surfaces / sizeof *wrong_surfaces));
    tcase_add_test(all, accurate_rollouts_refuse_contacts);
    return run_unforked("contacts", all);
}
