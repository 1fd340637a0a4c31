/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks inverse dynamics of robots that stand on several contacts, through the daemon: a quadruped on four points and
 * a biped on two soles. The forces of the contacts carry the weight, the equations of motion hold, and weights share
 * the load as the least squares do that the test solves from the Jacobians of the feet. A motion that no motor and no
 * contact can produce is an error with the joint, the coordinate and the force.
 */
#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/command_line.h"
#include "system/runner.h"

enum { FEET = 4, ROWS = 12, BASE = 6, NV = 18, NQ = 19, MOST_EQUATIONS = ROWS + BASE, MOST_TEXT = 8192 };

static const double g = 9.81;

/* Robot that stands. Constraints hold its feet in the world where they are: their points, or their soles. */
typedef struct stance {
    const char *model;
    size_t nq, nv, feet, rows_of_foot; /* 3: a point, 6: a sole */
    const char *names[FEET];
    double q[NQ];
    double A[ROWS * NV]; /* rows of the constraints, from the Jacobians of the feet */
    double weight;       /* N */
    char constraints[MOST_TEXT];
} stance;

/* Appends formatted text to one in an array of MOST_TEXT bytes. */
__attribute__((format(printf, 2, 3))) static void append(char *text, const char *format, ...) {
    va_list values;
    const size_t used = strlen(text), room = MOST_TEXT - used;
    va_start(values, format);
    int length = vsnprintf(text + used, room, format, values);
    va_end(values);
    ck_assert(length >= 0 && (size_t)length < room);
}

/* Appends a member with numbers: ", \"key\": [1, 2]". */
static void append_member(char *text, const char *key, size_t count, const double *values) {
    append(text, ", \"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        append(text, i ? ", %.17g" : "%.17g", values[i]);
    }
    append(text, "]");
}

/* Calls a method with a query, which lacks its closing brace, and the members that follow it. The caller releases the
 * reply. */
static json_t *call_with(const char *method, const char *query, const char *members) {
    char line[512];
    FILE *out = fopen(scratch("request.json"), "w");
    ck_assert(out && fprintf(out, "{\"query\": {%s}%s}", query, members) > 0 && fclose(out) == 0);
    snprintf(line, sizeof line, "$ctl call %s - < %s", method, scratch("request.json"));
    return run_json(line);
}

/* Copies block `block` of result `result` of an evaluation. */
static void copy_block(const json_t *reply, size_t result, size_t block, size_t count, double *to) {
    const json_t *blocks = json_object_get(json_array_get(json_object_get(reply, "results"), result), "blocks");
    const json_t *values = json_object_get(json_array_get(blocks, block), "values");
    ck_assert_uint_eq(json_array_size(values), count);
    for (size_t i = 0; i < count; i++) {
        to[i] = number_of(values, i);
    }
}

/* ---- robots ------------------------------------------------------------------------------------------------------ */

/* Appends the constraint that holds foot k at a position. A sole is parallel to the ground. */
static void hold_foot(stance *s, size_t k, const double p[3]) {
    append(s->constraints,
           "%s{\"name\": \"%s\", \"loop_joint\": {\"type\": \"JOINT_TYPE_%s\", \"predecessor\": {\"pose\": "
           "{\"position\": {\"x\": %.17g, \"y\": %.17g, \"z\": %.17g}}}, \"successor\": {\"link\": \"%s\"}}}",
           k ? ", " : "", s->names[k], s->rows_of_foot == 3 ? "SPHERICAL" : "FIXED", p[0], p[1], p[2], s->names[k]);
}

/* Finds the rows of the constraints in the world's axes, angular before linear as those of a loop joint. */
static void find_rows(stance *s) {
    char query[256], members[MOST_TEXT] = "";
    snprintf(query, sizeof query, "\"model\": \"%s\"", s->model);
    append_member(members, "q", s->nq, s->q);
    strcat(members, ", \"quantities\": [");
    for (size_t k = 0; k < s->feet; k++) {
        append(members,
               "%s{\"quantity\": \"QUANTITY_FRAME_POSE\", \"frames\": [\"%s\"]}, {\"quantity\": "
               "\"QUANTITY_FRAME_JACOBIAN\", \"frames\": [\"%s\"], \"reference_frame\": "
               "\"REFERENCE_FRAME_LOCAL_WORLD_ALIGNED\"}",
               k ? ", " : "", s->names[k], s->names[k]);
    }
    strcat(members, "]");
    json_t *reply = call_with("evaluate", query, members);
    for (size_t k = 0; k < s->feet; k++) {
        double p[3], *rows = s->A + k * s->rows_of_foot * s->nv;
        copy_block(reply, 2 * k, 0, 3, p);
        hold_foot(s, k, p);
        if (s->rows_of_foot == 6) {
            copy_block(reply, 2 * k + 1, 1, 3 * s->nv, rows);
        }
        copy_block(reply, 2 * k + 1, 0, 3 * s->nv, rows + (s->rows_of_foot - 3) * s->nv);
    }
    json_decref(reply);
    char line[256];
    snprintf(line, sizeof line, "$ctl describe %s --json", s->model);
    json_t *robot = run_json(line);
    s->weight = g * json_number_value(json_object_get(json_object_get(robot, "model"), "mass"));
    json_decref(robot);
}

static size_t rows_of(const stance *s) {
    return s->feet * s->rows_of_foot;
}

/* Loads the quadruped, whose knees are bent towards each other, so that its centre of mass is amid its feet. */
static stance quadruped(void) {
    stance s = {.model = "walker",
                .nq = 19,
                .nv = 18,
                .feet = 4,
                .rows_of_foot = 3,
                .names = {"FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"},
                .q = {0, 0, 0.3, 0, 0, 0, 1, 0, 0.8, -1.6, 0, 0.8, -1.6, 0, -0.8, 1.6, 0, -0.8, 1.6}};
    must_say("$ctl load --replace --name walker --base floating " DYNAMICS_ROBOTS_DIR "/quadruped.urdf", "walker: ");
    find_rows(&s);
    return s;
}

/* Loads the biped with bent knees and level soles. */
static stance biped(void) {
    stance s = {.model = "biped",
                .nq = 17,
                .nv = 16,
                .feet = 2,
                .rows_of_foot = 6,
                .names = {"left_foot", "right_foot"},
                .q = {0, 0, 0.8, 0, 0, 0, 1, 0, -0.4, 0.8, -0.4, 0, 0, -0.4, 0.8, -0.4, 0}};
    must_say("$ctl load --replace --name biped --base floating --description " DYNAMICS_TEST_DATA
             "/constraints/biped.json",
             "biped: ");
    find_rows(&s);
    return s;
}

/* ---- inverse dynamics -------------------------------------------------------------------------------------------- */

/* Motion of a stance, and the forces that inverse dynamics distributes. */
typedef struct distribution {
    double w[NV], u[ROWS]; /* weights of joint forces and of multipliers */
    double a[NV], f[NV];   /* M a + h */
    double tau[NV], lambda[ROWS];
} distribution;

/* Writes the query of a stance with the constraints of its feet, and with the weights of `d` unless that is NULL. */
static void write_query(const stance *s, const distribution *d, char *query) {
    query[0] = '\0';
    append(query, "\"model\": \"%s\", \"constraints\": [%s]", s->model, s->constraints);
    if (d) {
        char options[MOST_TEXT] = "\"nearest\": false";
        append_member(options, "force_weights", s->nv, d->w);
        append_member(options, "multiplier_weights", rows_of(s), d->u);
        append(query, ", \"motion_options\": {%s}", options);
    }
}

/* Finds an acceleration that the contacts allow: that of some torques. */
static void find_motion(const stance *s, distribution *d) {
    char query[MOST_TEXT], members[MOST_TEXT] = "";
    double tau[NV] = {0};
    for (size_t i = BASE; i < s->nv; i++) {
        tau[i] = 3 * sin(12.9898 * (double)i);
    }
    write_query(s, NULL, query);
    append_member(members, "q", s->nq, s->q);
    append_member(members, "tau", s->nv, tau);
    json_t *reply = call_with("forward_dynamics", query, members);
    for (size_t i = 0; i < s->nv; i++) {
        d->a[i] = number_of(json_object_get(reply, "a"), i);
    }
    json_decref(reply);
}

/* Computes M a + h of the robot alone, and its forces on its contacts. */
static void distribute(const stance *s, bool is_weighted, distribution *d) {
    char query[MOST_TEXT], members[MOST_TEXT] = "";
    snprintf(query, sizeof query, "\"model\": \"%s\"", s->model);
    append_member(members, "q", s->nq, s->q);
    append_member(members, "a", s->nv, d->a);
    json_t *reply = call_with("inverse_dynamics", query, members);
    for (size_t i = 0; i < s->nv; i++) {
        d->f[i] = number_of(json_object_get(reply, "tau"), i);
    }
    json_decref(reply);
    write_query(s, is_weighted ? d : NULL, query);
    strcat(members, ", \"quantities\": [{\"quantity\": \"QUANTITY_INVERSE_DYNAMICS\"}, {\"quantity\": "
                    "\"QUANTITY_CONSTRAINT_MULTIPLIERS_OF_MOTION\"}]");
    reply = call_with("evaluate", query, members);
    copy_block(reply, 0, 0, s->nv, d->tau);
    copy_block(reply, 1, 0, rows_of(s), d->lambda);
    json_decref(reply);
}

/* Checks M a + h = tau + A' lambda, with no force of a motor at the base. */
static void check_equations(const stance *s, const distribution *d) {
    for (size_t i = 0; i < s->nv; i++) {
        double rest = d->f[i] - d->tau[i];
        for (size_t r = 0; r < rows_of(s); r++) {
            rest -= s->A[r * s->nv + i] * d->lambda[r];
        }
        ck_assert_msg(fabs(rest) <= 1e-9 * s->weight, "equation %zu of %s is off by %g", i, s->model, rest);
        ck_assert(i >= BASE || d->tau[i] == 0);
    }
}

/* Returns the multiplier of the force on a foot along an axis. */
static double force_on(const stance *s, const distribution *d, size_t foot, size_t axis) {
    return d->lambda[foot * s->rows_of_foot + s->rows_of_foot - 3 + axis];
}

/* Checks that the contacts of a robot at rest carry its weight and nothing else. */
static void check_weight(const stance *s, const distribution *d) {
    for (size_t axis = 0; axis < 3; axis++) {
        double sum = 0;
        for (size_t k = 0; k < s->feet; k++) {
            sum += force_on(s, d, k, axis);
        }
        ck_assert_double_eq_tol(sum, axis == 2 ? s->weight : 0, 1e-9 * s->weight);
    }
}

/* Solves n linear equations by elimination; the right side is column n of each row. x receives the solution. */
static void eliminate(size_t n, double rows[][MOST_EQUATIONS + 1], double *x) {
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++) {
            best = fabs(rows[i][k]) > fabs(rows[best][k]) ? i : best;
        }
        for (size_t j = k; j <= n; j++) {
            double swapped = rows[k][j];
            rows[k][j] = rows[best][j], rows[best][j] = swapped;
        }
        for (size_t i = k + 1; i < n; i++) {
            double factor = rows[i][k] / rows[k][k];
            for (size_t j = k; j <= n; j++) {
                rows[i][j] -= factor * rows[k][j];
            }
        }
    }
    for (size_t k = n; k-- > 0;) {
        x[k] = rows[k][n];
        for (size_t j = k + 1; j < n; j++) {
            x[k] -= rows[k][j] * x[j];
        }
        x[k] /= rows[k][k];
    }
}

/* Checks the multipliers against the stationary point of sum w_i (f_i - a_i' lambda)^2 + sum u_r lambda_r^2 over the
 * joints i and the rows r, where a_i' lambda = f_i at the base, whose multipliers are mu:
 *     sum w_i a_i (a_i' lambda - f_i) + U lambda + A_b mu = 0        A_b' lambda = f_b
 */
static void check_least_squares(const stance *s, const distribution *d) {
    const size_t m = rows_of(s), n = m + BASE;
    double rows[MOST_EQUATIONS][MOST_EQUATIONS + 1] = {{0}}, x[MOST_EQUATIONS];
    for (size_t r = 0; r < m; r++) {
        rows[r][r] = d->u[r];
        for (size_t i = 0; i < s->nv; i++) {
            const double A = s->A[r * s->nv + i];
            for (size_t c = 0; c < m && i >= BASE; c++) {
                rows[r][c] += d->w[i] * A * s->A[c * s->nv + i];
            }
            rows[r][n] += i >= BASE ? d->w[i] * A * d->f[i] : 0;
        }
        for (size_t b = 0; b < BASE; b++) {
            rows[r][m + b] = rows[m + b][r] = s->A[r * s->nv + b];
        }
    }
    for (size_t b = 0; b < BASE; b++) {
        rows[m + b][n] = d->f[b];
    }
    eliminate(n, rows, x);
    for (size_t r = 0; r < m; r++) {
        ck_assert_msg(fabs(d->lambda[r] - x[r]) <= 1e-7 * s->weight, "multiplier %zu of %s is %.10g instead of %.10g",
                      r, s->model, d->lambda[r], x[r]);
    }
}

/* Checks that the torques cause the motion. */
static void check_motion(const stance *s, const distribution *d) {
    char query[MOST_TEXT], members[MOST_TEXT] = "";
    write_query(s, NULL, query);
    append_member(members, "q", s->nq, s->q);
    append_member(members, "tau", s->nv, d->tau);
    json_t *reply = call_with("forward_dynamics", query, members);
    for (size_t i = 0; i < s->nv; i++) {
        ck_assert_double_eq_tol(number_of(json_object_get(reply, "a"), i), d->a[i], 1e-7 * (1 + fabs(d->a[i])));
    }
    json_decref(reply);
}

/* Sets all weights. */
static void weigh(distribution *d, double w, double u) {
    for (size_t i = 0; i < NV; i++) {
        d->w[i] = w;
    }
    for (size_t r = 0; r < ROWS; r++) {
        d->u[r] = u;
    }
}

/* Checks distributions of a robot at rest, and of one that moves: without weights, and with those of `least`. */
static void check_stance(const stance *s) {
    for (int is_moving = 0; is_moving < 2; is_moving++) {
        distribution d = {.a = {0}};
        if (is_moving) {
            find_motion(s, &d);
        }
        for (int weights = 0; weights < 3; weights++) {
            weigh(&d, 1, 0);
            for (size_t i = 0; weights == 2 && i < NV; i++) {
                d.w[i] = 1 + 0.5 * sin((double)i);
            }
            for (size_t r = 0; weights > 0 && r < ROWS; r++) {
                d.u[r] = weights == 1 ? 1 : 0.5 + 0.1 * (double)r;
            }
            distribute(s, weights > 0, &d);
            check_equations(s, &d);
            check_motion(s, &d);
            if (!is_moving) {
                check_weight(s, &d);
            }
            /* Two soles on legs of five joints have a row that depends on the others: least forces alone leave it
             * free. */
            if (weights > 0 || s->rows_of_foot == 3) {
                check_least_squares(s, &d);
            }
        }
    }
}

START_TEST(a_quadruped_distributes_its_weight_over_four_feet) {
    const stance s = quadruped();
    check_stance(&s);
}
END_TEST

/* Where the forces of motors cost nothing, the vertical forces W/4 + k x (1, -1, -1, 1) have the least sum of u f^2
 * with k = -W/4 (u_1 - u_2) / (u_1 + u_2), where u_1 belongs to two feet across and u_2 to the others. */
START_TEST(weights_shift_the_load_of_a_quadruped_to_two_feet_across) {
    const stance s = quadruped();
    static const double across[4] = {1, -1, -1, 1}, u[2][2] = {{1, 1}, {3, 1}};
    for (int i = 0; i < 2; i++) {
        distribution d = {.a = {0}};
        weigh(&d, 1e-9, 1);
        for (size_t k = 0; k < 4; k++) {
            d.u[3 * k + 2] = u[i][across[k] < 0];
        }
        distribute(&s, true, &d);
        check_weight(&s, &d);
        for (size_t k = 0; k < 4; k++) {
            double share = 1 - across[k] * (u[i][0] - u[i][1]) / (u[i][0] + u[i][1]);
            ck_assert_double_eq_tol(force_on(&s, &d, k, 2), s.weight / 4 * share, 1e-6 * s.weight);
        }
    }
}
END_TEST

START_TEST(a_biped_distributes_its_weight_over_two_soles) {
    const stance s = biped();
    check_stance(&s);
}
END_TEST

/* Where couples and the forces of motors cost next to nothing, two vertical forces with the sum W have the least sum of
 * u f^2 with f_1 = W u_2 / (u_1 + u_2). */
START_TEST(weights_shift_the_load_of_a_biped_to_one_foot) {
    const stance s = biped();
    static const double u[3][2] = {{1, 1}, {3, 1}, {1, 4}};
    for (int i = 0; i < 3; i++) {
        distribution d = {.a = {0}};
        weigh(&d, 1e-9, 1e-8);
        d.u[5] = u[i][0], d.u[11] = u[i][1];
        distribute(&s, true, &d);
        check_equations(&s, &d);
        check_weight(&s, &d);
        ck_assert_double_eq_tol(force_on(&s, &d, 0, 2), s.weight * u[i][1] / (u[i][0] + u[i][1]), 1e-5 * s.weight);
    }
}
END_TEST

/* ---- motions that cannot be produced ----------------------------------------------------------------------------- */

#define HELD_TIP "\"query\": {\"model\": \"%s\", \"gravity\": {\"y\": -9.81}}, \"q\": [0, 1.5707963267948966]"

/* Loads the arm whose tip is held at its height with a passive joint, under the name of the joint. */
static void load_arm(const char *passive) {
    char line[256];
    json_t *description = json_load_file(DYNAMICS_TEST_DATA "/constraints/held_tip.json", 0, NULL);
    ck_assert(description && json_object_set_new(description, "passive_joints", json_pack("[s]", passive)) == 0);
    ck_assert_int_eq(json_dump_file(description, scratch("arm.json"), 0), 0);
    json_decref(description);
    snprintf(line, sizeof line, "$ctl load --replace --name %s --description %s", passive, scratch("arm.json"));
    must_say(line, ": ");
}

/* Checks the arm of Modern Robotics (section 8.7) at q = (0, 90 deg), where the constraint provides the force of the
 * shoulder and none of the elbow: the acceleration (0, 1) needs 1 N m there. */
START_TEST(a_passive_joint_that_no_constraint_moves_is_named_with_its_force) {
    char line[512];
    load_arm("shoulder");
    snprintf(line, sizeof line, "$ctl call inverse_dynamics '{" HELD_TIP ", \"a\": [0, 1]}'", "shoulder");
    json_t *reply = run_json(line);
    ck_assert_double_eq(number_of(json_object_get(reply, "tau"), 0), 0);
    ck_assert_double_eq_tol(number_of(json_object_get(reply, "tau"), 1), 1, 1e-12);
    json_decref(reply);
    load_arm("elbow");
    snprintf(line, sizeof line, "$ctl call inverse_dynamics '{" HELD_TIP ", \"a\": [0, 0]}'", "elbow");
    must_say(line, "tau");
    snprintf(line, sizeof line, "$ctl call inverse_dynamics '{" HELD_TIP ", \"a\": [0, 1]}'", "elbow");
    must_fail(line, 1,
              "inverse_dynamics.a: joint elbow: it is passive, and the motion needs a force of 1 N m at its coordinate "
              "0 that no constraint provides");
}
END_TEST

/* A rod between two feet carries nothing: the base, which has no motor, lacks the weight of the robot. */
START_TEST(a_floating_base_that_no_contact_carries_is_named_with_its_weight) {
    const stance s = quadruped();
    char line[MOST_TEXT] = "", said[256], q[MOST_TEXT] = "";
    append_member(q, "q", s.nq, s.q);
    append(line,
           "$ctl call inverse_dynamics '{\"query\": {\"model\": \"walker\", \"constraints\": [{\"name\": \"rod\", "
           "\"distance\": {\"distance\": 0.3, \"predecessor\": {\"link\": \"FL_FOOT\"}, \"successor\": {\"link\": "
           "\"FR_FOOT\"}}}]}%s}'",
           q);
    snprintf(said, sizeof said,
             "joint root_joint: it is passive, and the motion needs a force of %g N at its coordinate 2 that no "
             "constraint provides",
             s.weight);
    must_fail(line, 1, said);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("all");
    tcase_add_unchecked_fixture(all, command_line_start, command_line_stop);
    tcase_add_test(all, a_quadruped_distributes_its_weight_over_four_feet);
    tcase_add_test(all, weights_shift_the_load_of_a_quadruped_to_two_feet_across);
    tcase_add_test(all, a_biped_distributes_its_weight_over_two_soles);
    tcase_add_test(all, weights_shift_the_load_of_a_biped_to_one_foot);
    tcase_add_test(all, a_passive_joint_that_no_constraint_moves_is_named_with_its_force);
    tcase_add_test(all, a_floating_base_that_no_contact_carries_is_named_with_its_weight);
    return run_unforked("standing", all);
}
