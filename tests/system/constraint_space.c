/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the quantities of the space of constraints through the daemon: the two-link arm of Modern Robotics (section
 * 8.7) with m_1 = m_2 = L_1 = L_2 = 1 and g = 9.81, whose tip is held at its height, by numbers on paper; and a UR5
 * that opens a door or holds a pen to a table, by identities.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/command_line.h"
#include "system/runner.h"

#define QUARTER "1.5707963267948966"
#define DESCRIPTION DYNAMICS_TEST_DATA "/constraints/held_tip.json"
#define ARM "\"query\": {\"model\": \"held_tip\", \"gravity\": {\"y\": -9.81}}, \"q\": [0, " QUARTER "]"
#define SHAPE "\"query\": {\"model\": \"held_tip\"}, \"q\": [0, " QUARTER "]"
#define TREE "\"query\": {\"model\": \"free_tip\"%s}, \"q\": [0, %.17g]%s"

static const double g = 9.81;

/* Loads the arm with its constraint, and without it as free_tip. */
static void load_arms(void) {
    char line[512];
    must_say("$ctl load --replace --description " DESCRIPTION, "held_tip: ");
    json_t *description = json_load_file(DESCRIPTION, 0, NULL);
    ck_assert(description && json_object_del(description, "constraints") == 0);
    ck_assert_int_eq(json_dump_file(description, scratch("free.json"), 0), 0);
    json_decref(description);
    snprintf(line, sizeof line, "$ctl load --replace --name free_tip --description %s", scratch("free.json"));
    must_say(line, "free_tip: ");
}

/* Evaluates one quantity. `parts` are the members of the request but `quantities`, `task` is the rest of the
 * QuantityRequest. Returns its blocks, which the caller releases. */
static json_t *blocks_of(const char *parts, const char *quantity, const char *task) {
    char line[1024];
    snprintf(line, sizeof line, "$ctl call evaluate '{%s, \"quantities\": [{\"quantity\": \"QUANTITY_%s\"%s}]}'", parts,
             quantity, task);
    json_t *reply = run_json(line), *result = json_array_get(json_object_get(reply, "results"), 0);
    json_t *blocks = json_incref(json_object_get(result, "blocks"));
    json_decref(reply);
    return blocks;
}

/* Checks the numbers of a block. */
static void check_block(const json_t *blocks, size_t block, size_t count, const double *expected) {
    const json_t *values = json_object_get(json_array_get(blocks, block), "values");
    ck_assert_uint_eq(json_array_size(values), count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_eq_tol(json_number_value(json_array_get(values, i)), expected[i],
                                1e-12 * (1 + fabs(expected[i])));
    }
}

/* Checks the first block of a quantity of the held arm. */
static void check_arm(const char *parts, const char *quantity, size_t count, const double *expected) {
    json_t *blocks = blocks_of(parts, quantity, "");
    check_block(blocks, 0, count, expected);
    json_decref(blocks);
}

#define CHECK(parts, quantity, ...)                                                                                    \
    check_arm(parts, quantity, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (const double[]){__VA_ARGS__})

START_TEST(the_held_tip_has_the_projectors_of_the_book) {
    load_arms();
    CHECK(SHAPE, "CONSTRAINT_JACOBIAN", 1, 0);
    CHECK(SHAPE, "CONSTRAINT_ERROR", 0);
    CHECK(SHAPE, "CONSTRAINT_INVERSE_INERTIA", 0.5);
    CHECK(SHAPE, "CONSTRAINT_INERTIA", 2);
    CHECK(SHAPE, "CONSTRAINT_FORCE_PROJECTOR", 0, 1, 0, 1);
    CHECK(SHAPE, "CONSTRAINT_ACCELERATION_PROJECTOR", 0, 0, 1, 1);
    json_t *condition = blocks_of(SHAPE, "CONSTRAINT_CONDITION", "");
    check_block(condition, 0, 1, (const double[]){1});
    check_block(condition, 1, 1, (const double[]){1});
    json_decref(condition);
}
END_TEST

/* Checks the accelerations of the held arm, its multiplier, which is `lambda` in the book's sign, and the part of the
 * accelerations that equation 8.100 states. */
static void check_motion(const char *parts, const double a[2], double lambda, const double projected[2]) {
    json_t *blocks = blocks_of(parts, "CONSTRAINT_MULTIPLIERS", "");
    const double opposite = -lambda;
    check_block(blocks, 0, 1, &opposite);
    check_block(blocks, 1, 1, &lambda);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(blocks, 1), "name")), "modern_robotics");
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(json_array_get(blocks, 1), "units"), 1)), "N");
    json_decref(blocks);
    check_arm(parts, "FORWARD_DYNAMICS", 2, a);
    check_arm(parts, "PROJECTED_FORWARD_DYNAMICS", 2, projected);
}

START_TEST(the_held_tip_moves_by_the_numbers_on_paper) {
    load_arms();
    check_motion(ARM, (const double[]){0, 0}, -2 * g, (const double[]){0, 0});
    check_motion(ARM ", \"tau\": [0, 1]", (const double[]){0, 1}, -2 * g - 1, (const double[]){0, 1});
    /* The tip turns about the elbow: dA/dt v is 1 at v = (0, 1), and the projected part is P_qdd a = (0, 0). */
    check_motion(ARM ", \"v\": [0, 1]", (const double[]){1, -1}, -2 * g - 1, (const double[]){0, 0});
    CHECK(SHAPE ", \"v\": [0, 1]", "CONSTRAINT_BIAS", -1);
}
END_TEST

START_TEST(projected_inverse_dynamics_are_the_projected_torques) {
    load_arms();
    /* tau = (0, 1) makes a = (0, 1): P tau = (1, 1). */
    CHECK(ARM ", \"a\": [0, 1]", "PROJECTED_INVERSE_DYNAMICS", 1, 1);
    json_t *blocks = blocks_of(ARM ", \"a\": [0, 1]", "CONSTRAINT_MULTIPLIERS_OF_MOTION", "");
    /* The least forces tau with P tau = (1, 1) are (0, 1). */
    check_block(blocks, 1, 1, (const double[]){-2 * g - 1});
    json_decref(blocks);
}
END_TEST

/* Checks force and torque of the constraint "height", whose force in the world is (0, f, 0) at the tip. P is 1 m to the
 * left of it. */
static void check_wrench(const char *parts, const char *quantity, double f) {
    json_t *blocks = blocks_of(parts, quantity, "");
    check_block(blocks, 0, 3, (const double[]){0, f, 0});
    check_block(blocks, 1, 3, (const double[]){0, 0, f});
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(blocks, 0), "name")), "force");
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(blocks, 1), "name")), "torque");
    json_decref(blocks);
}

START_TEST(the_table_carries_the_held_tip) {
    load_arms();
    check_wrench(ARM, "CONSTRAINT_WRENCHES", 2 * g);
    check_wrench(ARM ", \"tau\": [0, 1]", "CONSTRAINT_WRENCHES", 2 * g + 1);
    check_wrench(ARM ", \"a\": [0, 1]", "CONSTRAINT_WRENCHES_OF_MOTION", 2 * g + 1);
    must_say("$ctl evaluate held_tip --q 0,1.5707963267948966 --gravity 0,-9.81,0 --quantity constraint_wrenches",
             "height");
}
END_TEST

/* Checks Lambda, and mu, p and eta of the tip of the free arm in the plane. */
START_TEST(the_free_tip_has_the_operational_space_of_the_book) {
    static const char task[] = ", \"reference_frame\": \"REFERENCE_FRAME_LOCAL_WORLD_ALIGNED\", \"task\": [{\"frame\": "
                               "\"tip\", \"axes\": [\"TASK_AXIS_LINEAR_X\", \"TASK_AXIS_LINEAR_Y\"]}]";
    static const char down[] = ", \"gravity\": {\"y\": -9.81}", moving[] = ", \"v\": [1, 1]";
    static const struct {
        const char *quantity, *query, *rest;
        double elbow; /* degrees */
        size_t count;
        double expected[4];
    } cases[] = {{"INERTIA", "", "", 90, 4, {1, 0, 0, 2}},
                 {"INERTIA", "", "", 150, 4, {4, -1.7320508075688772, -1.7320508075688772, 2}},
                 {"BIAS", "", moving, 90, 2, {0, 4}},
                 {"GRAVITY", down, "", 90, 2, {0, 19.62}},
                 {"ETA", down, moving, 90, 2, {0, 23.62}}};
    load_arms();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char parts[256], quantity[64];
        snprintf(parts, sizeof parts, TREE, cases[i].query, cases[i].elbow * 3.14159265358979323846 / 180,
                 cases[i].rest);
        snprintf(quantity, sizeof quantity, "OPERATIONAL_SPACE_%s", cases[i].quantity);
        json_t *blocks = blocks_of(parts, quantity, task);
        check_block(blocks, 0, cases[i].count, cases[i].expected);
        json_decref(blocks);
    }
}
END_TEST

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

#define TORQUES(member)                                                                                                \
    ", \"reference_frame\": \"REFERENCE_FRAME_LOCAL_WORLD_ALIGNED\", \"task\": [{\"frame\": \"tip\", "                 \
    "\"axes\": [\"TASK_AXIS_LINEAR_X\", \"TASK_AXIS_LINEAR_Y\"]" member "}]"
#define MOVING                                                                                                         \
    "\"query\": {\"model\": \"free_tip\", \"gravity\": {\"y\": -9.81}}, \"q\": [0, " QUARTER "], \"v\": [1, 1]"

/* Checks that tau for x_ddot = (1, 2) is J' F with F = Lambda x_ddot + eta = (1, 4 + 23.62) and J = [-1 -1; 1 0]. */
START_TEST(torques_of_a_task_are_those_of_the_operational_space) {
    load_arms();
    json_t *blocks = blocks_of(MOVING, "OPERATIONAL_SPACE_TORQUES", TORQUES(", \"acceleration\": [1, 2]"));
    check_block(blocks, 0, 2, (const double[]){-1 + 4 + 23.62, -1});
    json_decref(blocks);
    must_fail("$ctl call evaluate '{" MOVING
              ", \"quantities\": [{\"quantity\": \"QUANTITY_OPERATIONAL_SPACE_TORQUES\"" TORQUES(
                  ", \"acceleration\": [1, 2, 3]") "}]}'",
              1, "evaluate.quantities[0].task[0].acceleration: there are 3 values");
    must_fail(
        "$ctl call evaluate '{" MOVING
        ", \"quantities\": [{\"quantity\": \"QUANTITY_OPERATIONAL_SPACE_ETA\"" TORQUES(", \"priority\": 1") "}]}'",
        1, "evaluate.quantities[0].task[0].priority");
}
END_TEST

#define UR5_TASK(tool, orientation)                                                                                    \
    "\"query\": {\"model\": \"two_names\"}, \"q\": [0.1, -0.9, 0.02, 0.3, 0.7, -0.2]", "OPERATIONAL_SPACE_TORQUES",    \
        ", \"damping\": 0.1, \"reference_frame\": \"REFERENCE_FRAME_WORLD\", \"task\": [{\"frame\": \"" tool           \
        "\", \"acceleration\": [1, -2, 3], \"axes\": "                                                                 \
        "[\"TASK_AXIS_LINEAR_X\", \"TASK_AXIS_LINEAR_Y\", \"TASK_AXIS_LINEAR_Z\"]}, {\"frame\": \"" orientation        \
        "\", \"acceleration\": [4, 5, -6], \"priority\": 1, \"axes\": "                                                \
        "[\"TASK_AXIS_ANGULAR_X\", \"TASK_AXIS_ANGULAR_Y\", \"TASK_AXIS_ANGULAR_Z\"]}]"

/* Checks that one frame has its position first and its orientation second, with the torques of two coincident frames,
 * and that a row of a frame is refused twice. */
START_TEST(a_frame_has_its_position_first_and_its_orientation_second) {
    double expected[6];
    must_say("$ctl derive ur5 attach:tool0,alias,0 --name two_names", "two_names: derived");
    json_t *of_two = blocks_of(UR5_TASK("tool0", "alias")), *of_one = blocks_of(UR5_TASK("tool0", "tool0"));
    const json_t *torques = json_object_get(json_array_get(of_two, 0), "values");
    ck_assert_uint_eq(json_array_size(torques), 6);
    for (size_t i = 0; i < 6; i++) {
        expected[i] = json_number_value(json_array_get(torques, i));
    }
    ck_assert_double_gt(fabs(expected[1]), 1);
    check_block(of_one, 0, 6, expected);
    json_decref(of_one), json_decref(of_two);
    must_fail("$ctl call evaluate '{\"query\": {\"model\": \"ur5\"}, \"q\": [0, 0, 0, 0, 0, 0], \"quantities\": "
              "[{\"quantity\": \"QUANTITY_OPERATIONAL_SPACE_TORQUES\", \"reference_frame\": \"REFERENCE_FRAME_WORLD\", "
              "\"task\": [{\"frame\": \"tool0\", \"axes\": "
              "[\"TASK_AXIS_LINEAR_Y\"]}, {\"frame\": \"tool0\", \"priority\": 1}]}]}'",
              1,
              "evaluate.quantities[0].task[1].frame: the axis linear y of frame \"tool0\" is named twice in the task");
}
END_TEST

/* Checks the stretched arm: no force accelerates the tip along the arm, which the independence states, and damping
 * bounds the forces next to that configuration. */
START_TEST(a_singular_task_is_reported_and_damping_bounds_its_forces) {
    static const char stretched[] = "\"query\": {\"model\": \"free_tip\"}, \"q\": [0, 0]",
                      nearly[] = "\"query\": {\"model\": \"free_tip\", \"gravity\": {\"x\": 0}}, \"q\": [0, 0.001]";
    load_arms();
    json_t *blocks = blocks_of(stretched, "OPERATIONAL_SPACE_INDEPENDENCE", TORQUES(", \"acceleration\": [1, 0]"));
    check_block(blocks, 0, 2, (const double[]){1, 0});
    json_decref(blocks);
    blocks = blocks_of(stretched, "OPERATIONAL_SPACE_ACCELERATION", TORQUES(", \"acceleration\": [1, 2]"));
    check_block(blocks, 0, 2, (const double[]){0, 2});
    json_decref(blocks);
    double sizes[2];
    for (int i = 0; i < 2; i++) {
        blocks = blocks_of(nearly, "OPERATIONAL_SPACE_TORQUES",
                           i == 0 ? TORQUES(", \"acceleration\": [1, 0]")
                                  : TORQUES(", \"acceleration\": [1, 0]") ", \"damping\": 0.01");
        const json_t *tau = json_object_get(json_array_get(blocks, 0), "values");
        sizes[i] = fabs(json_number_value(json_array_get(tau, 0)));
        json_decref(blocks);
    }
    ck_assert_msg(sizes[0] > 100 && sizes[1] < 10, "%g without and %g with damping", sizes[0], sizes[1]);
}
END_TEST

/* The constraint holds the height of the tip, for which rounding errors are all that is left of the response. */
START_TEST(a_task_that_a_constraint_holds_is_not_independent) {
    static const char held[] = "\"query\": {\"model\": \"held_tip\"}, \"q\": [0.3, 1.1]",
                      height[] = ", \"reference_frame\": \"REFERENCE_FRAME_LOCAL_WORLD_ALIGNED\", \"task\": "
                                 "[{\"frame\": \"tip\", \"axes\": [\"TASK_AXIS_LINEAR_Y\"], \"acceleration\": [1]}]";
    load_arms();
    json_t *blocks = blocks_of(held, "OPERATIONAL_SPACE_INDEPENDENCE", height);
    check_block(blocks, 0, 1, (const double[]){0});
    json_decref(blocks);
    blocks = blocks_of(held, "OPERATIONAL_SPACE_ACCELERATION", height);
    check_block(blocks, 0, 1, (const double[]){0});
    json_decref(blocks);
}
END_TEST

/* ---- door and pen ------------------------------------------------------------------------------------------------ */

#define STATE "\"query\": {\"model\": \"%s\"}, \"q\": [0.1, -1.2, 1.3, 0.4, -0.5, 0.6], "
#define TAU "1, -2, 3, 0.5, -0.2, 0.1"

/* Loads a UR5 whose tool has a constraint with the world at the place where it is. Takes the JSON of the constraint
 * without its frames. */
static void load_held(const char *name, const char *kind, json_t *constraint) {
    char line[512];
    json_t *blocks = blocks_of("\"query\": {\"model\": \"ur5\"}, \"q\": [0.1, -1.2, 1.3, 0.4, -0.5, 0.6]", "FRAME_POSE",
                               ", \"frames\": [\"tool0\"]");
    const json_t *p = json_object_get(json_array_get(blocks, 0), "values");
    const json_t *e = json_object_get(json_array_get(blocks, 1), "values");
    json_t *pose =
        json_pack("{s: {s: O, s: O, s: O}, s: {s: O, s: O, s: O, s: O}}", "position", "x", json_array_get(p, 0), "y",
                  json_array_get(p, 1), "z", json_array_get(p, 2), "orientation", "x", json_array_get(e, 0), "y",
                  json_array_get(e, 1), "z", json_array_get(e, 2), "w", json_array_get(e, 3));
    json_object_set_new(constraint, "predecessor", json_pack("{s: o}", "pose", pose));
    json_object_set_new(constraint, "successor", json_pack("{s: s}", "link", "tool0"));
    json_t *reply = run_json("$ctl call export_model '{\"model\": \"ur5\", \"format\": \"MODEL_FORMAT_DESCRIPTION\"}'");
    json_t *description = json_object_get(reply, "description");
    json_object_set_new(description, "constraints", json_pack("[{s: s, s: o}]", "name", name, kind, constraint));
    ck_assert_int_eq(json_dump_file(description, scratch("held.json"), 0), 0);
    json_decref(blocks), json_decref(reply);
    snprintf(line, sizeof line, "$ctl load --replace --name %s --description %s", name, scratch("held.json"));
    must_say(line, ": ");
}

/* Checks the rank of the constraint of a UR5, and that the projectors leave 6 - rank ways to move. */
static void check_held(const char *name, double rank) {
    char parts[512];
    snprintf(parts, sizeof parts, STATE "\"v\": [0, 0, 0, 0, 0, 0], \"tau\": [" TAU "]", name);
    json_t *motion = blocks_of(parts, "FORWARD_DYNAMICS", "");
    char *a = json_dumps(json_object_get(json_array_get(motion, 0), "values"), JSON_REAL_PRECISION(17));
    snprintf(parts, sizeof parts, STATE "\"a\": %s", name, a);
    json_t *projected = blocks_of(parts, "PROJECTED_INVERSE_DYNAMICS", "");
    snprintf(parts, sizeof parts, "\"query\": {\"model\": \"%s\"}, \"q\": [0.1, -1.2, 1.3, 0.4, -0.5, 0.6]", name);
    json_t *condition = blocks_of(parts, "CONSTRAINT_CONDITION", "");
    check_block(condition, 0, 1, &rank);
    json_t *blocks = blocks_of(parts, "CONSTRAINT_FORCE_PROJECTOR", "");
    const json_t *P = json_object_get(json_array_get(blocks, 0), "values");
    const double tau[6] = {1, -2, 3, 0.5, -0.2, 0.1};
    double trace = 0, forces[6] = {0};
    for (size_t i = 0; i < 6; i++) {
        trace += json_number_value(json_array_get(P, 7 * i));
        for (size_t k = 0; k < 6; k++) {
            forces[i] += json_number_value(json_array_get(P, 6 * i + k)) * tau[k];
        }
    }
    ck_assert_double_eq_tol(trace, 6 - rank, 1e-9);
    for (size_t i = 0; i < 6; i++) {
        const json_t *values = json_object_get(json_array_get(projected, 0), "values");
        ck_assert_double_eq_tol(json_number_value(json_array_get(values, i)), forces[i], 1e-9);
    }
    free(a);
    json_decref(motion), json_decref(projected), json_decref(condition), json_decref(blocks);
}

/* Returns the numbers of a block of a reply as text. */
static char *block_text(const json_t *blocks, size_t block) {
    return json_dumps(json_object_get(json_array_get(blocks, block), "values"), JSON_REAL_PRECISION(17));
}

/* Requires that two lists of numbers agree. */
static void check_equal(const json_t *one, const json_t *other) {
    ck_assert_uint_eq(json_array_size(one), json_array_size(other));
    for (size_t i = 0; i < json_array_size(one); i++) {
        double x = json_number_value(json_array_get(one, i)), y = json_number_value(json_array_get(other, i));
        ck_assert_msg(fabs(x - y) < 1e-8 * (1 + fabs(y)), "number %zu is %g instead of %g", i, x, y);
    }
}

/* Checks hybrid motion-force control of a held UR5: under its forces the robot has the acceleration P_qdd a where the
 * constraint leaves it free, and presses on the constraint as if the forces tau alone acted at rest. */
static void check_hybrid(const char *name) {
    char parts[1024];
    static const char moving[] = STATE "\"v\": [0.3, 0.1, -0.2, 0.4, 0.2, -0.1], ";
    char state[512];
    snprintf(state, sizeof state, moving, name);
    snprintf(parts, sizeof parts, "%s\"a\": [0.5, 1, -1, 2, 0.1, 3], \"tau\": [" TAU "]", state);
    json_t *tau = blocks_of(parts, "HYBRID_FORCES", "");
    char *forces = block_text(tau, 0);
    snprintf(parts, sizeof parts, "%s\"a\": [0.5, 1, -1, 2, 0.1, 3]", state);
    json_t *acceleration = blocks_of(parts, "HYBRID_ACCELERATION", "");
    snprintf(parts, sizeof parts, STATE "\"tau\": [" TAU "]", name);
    json_t *pressed = blocks_of(parts, "HYBRID_MULTIPLIERS", "");
    snprintf(parts, sizeof parts, "%s\"tau\": %s", state, forces);
    json_t *motion = blocks_of(parts, "FORWARD_DYNAMICS", ""), *held = blocks_of(parts, "CONSTRAINT_MULTIPLIERS", "");
    check_equal(json_object_get(json_array_get(motion, 0), "values"),
                json_object_get(json_array_get(acceleration, 0), "values"));
    for (size_t sign = 0; sign < 2; sign++) {
        check_equal(json_object_get(json_array_get(held, sign), "values"),
                    json_object_get(json_array_get(pressed, sign), "values"));
    }
    free(forces);
    json_decref(tau), json_decref(acceleration), json_decref(pressed), json_decref(motion), json_decref(held);
}

/* Checks the arm of the book, whose tip keeps its height: tau_2 alone moves it, and both forces press on the guide. At
 * rest P M a + (1 - P) f + g = (a_2, a_2) + (f_1 - f_2, 0) + (2 g, g) cos q with P = [0 1; 0 1] at q = (0, 90 deg). */
START_TEST(hybrid_forces_move_and_press_as_desired) {
    load_arms();
    json_t *blocks = blocks_of(ARM ", \"a\": [7, 3], \"tau\": [5, 1]", "HYBRID_FORCES", "");
    /* M = [3 1; 1 1], P M = [1 1; 1 1] and a = P_qdd (7, 3) = (0, 10); g = (2 g, 0). */
    check_block(blocks, 0, 2, (const double[]){10 + 5 - 1 + 2 * g, 10});
    json_decref(blocks);
    CHECK(SHAPE ", \"a\": [7, 3]", "HYBRID_ACCELERATION", 0, 10);
    blocks = blocks_of(SHAPE ", \"tau\": [5, 1]", "HYBRID_MULTIPLIERS", "");
    check_block(blocks, 1, 1, (const double[]){4});
    json_decref(blocks);
    load_held("door", "loop_joint",
              json_pack("{s: s, s: {s: f, s: f}}", "type", "JOINT_TYPE_REVOLUTE", "axis", "x", 0.6, "z", 0.8));
    load_held("pen", "point_on_plane", json_pack("{s: {s: f}}", "normal", "z", 1.0));
    check_hybrid("door");
    check_hybrid("pen");
}
END_TEST

START_TEST(a_door_leaves_one_way_to_move_and_a_pen_five) {
    load_held("door", "loop_joint",
              json_pack("{s: s, s: {s: f, s: f}}", "type", "JOINT_TYPE_REVOLUTE", "axis", "x", 0.6, "z", 0.8));
    load_held("pen", "point_on_plane", json_pack("{s: {s: f}}", "normal", "z", 1.0));
    check_held("door", 5);
    check_held("pen", 1);
}
END_TEST

START_TEST(quantities_of_constraints_need_a_model_that_has_some) {
    must_fail("$ctl evaluate ur5 --quantity constraint_jacobian", 1, "model \"ur5\" has no constraints");
    load_arms();
    must_say("$ctl evaluate held_tip --quantity constraint_jacobian", "height");
    must_fail("$ctl evaluate held_tip --quantity constraint_jacobian --v 0,1", 1, "depends on v");
}
END_TEST

int main(void) {
    TCase *all = tcase_create("constraint space");
    tcase_set_timeout(all, 120);
    tcase_add_unchecked_fixture(all, command_line_start, command_line_stop);
    tcase_add_test(all, the_held_tip_has_the_projectors_of_the_book);
    tcase_add_test(all, the_held_tip_moves_by_the_numbers_on_paper);
    tcase_add_test(all, projected_inverse_dynamics_are_the_projected_torques);
    tcase_add_test(all, the_table_carries_the_held_tip);
    tcase_add_test(all, the_free_tip_has_the_operational_space_of_the_book);
    tcase_add_test(all, torques_of_a_task_are_those_of_the_operational_space);
    tcase_add_test(all, a_frame_has_its_position_first_and_its_orientation_second);
    tcase_add_test(all, a_singular_task_is_reported_and_damping_bounds_its_forces);
    tcase_add_test(all, a_task_that_a_constraint_holds_is_not_independent);
    tcase_add_test(all, hybrid_forces_move_and_press_as_desired);
    tcase_add_test(all, a_door_leaves_one_way_to_move_and_a_pen_five);
    tcase_add_test(all, quantities_of_constraints_need_a_model_that_has_some);
    return run_unforked("constraint space", all);
}
