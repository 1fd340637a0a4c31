/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the commands excite and identify: an exciting motion, with torques to which the test adds friction, is
 * identified from its file.
 */
#include <check.h>
#include <string.h>
#include <unistd.h>

#include "system/command_line.h"
#include "system/runner.h"

/* Friction of joint1 and joint2 that the test adds: N m s/rad, and N m. */
static const double viscous[2] = {0.5, 0.25}, offset[2] = {0.1, -0.2};

/* Starts the daemon, and writes an exciting motion with its torques to own.csv, and with friction to rubbing.csv, in
 * the daemon's directory. */
static void start(void) {
    command_line_start();
    ck_assert_int_eq(chdir(scratch(".")), 0);
    must_say("$ctl excite two_link --period 5 --trials 50 --csv >own.csv && "
             "awk -F, -v OFS=, -v CONVFMT=%.17g 'NR > 1 {$8 += 0.5 * $4 + 0.1; $9 += 0.25 * $5 - 0.2} 1' own.csv "
             ">rubbing.csv && wc -l <rubbing.csv",
             "501");
}

/* Checks the estimate of a term of a drive. */
static void expect_term(const json_t *found, const char *joint, const char *term, double expected) {
    size_t i;
    const json_t *each;
    json_array_foreach(json_object_get(found, "estimates"), i, each) {
        if (strcmp(json_string_value(json_object_get(each, "of")), joint) == 0 &&
            strcmp(json_string_value(json_object_get(each, "estimate")), term) == 0) {
            ck_assert_double_eq_tol(json_number_value(json_object_get(each, "value")), expected, 1e-5);
            ck_assert(json_is_true(json_object_get(each, "is_excited")));
            return;
        }
    }
    ck_abort_msg("no estimate of %s of %s", term, joint);
}

static void expect_friction(const json_t *found) {
    const char *const joints[2] = {"joint1", "joint2"};
    for (size_t i = 0; i < 2; i++) {
        expect_term(found, joints[i], "viscous", viscous[i]);
        expect_term(found, joints[i], "offset", offset[i]);
        expect_term(found, joints[i], "coulomb", 0);
    }
}

START_TEST(an_exciting_motion_determines_bodies_and_friction) {
    json_t *found = run_json("$ctl identify two_link rubbing.csv --json");
    expect_friction(found);
    ck_assert_uint_eq(json_array_size(json_object_get(found, "estimates")), 12);
    ck_assert_int_eq(json_integer_value(json_object_get(found, "rank")), 12);
    json_decref(found);
    must_say("$ctl identify two_link rubbing.csv --csv | head -1",
             "of,estimate,value,unit,deviation,model,is_excited,relative_deviation,reason");
}
END_TEST

START_TEST(friction_alone_is_estimated_beside_the_bodies_of_the_model) {
    json_t *found = run_json("$ctl identify two_link rubbing.csv --drives-only --json");
    expect_friction(found);
    ck_assert_uint_eq(json_array_size(json_object_get(found, "estimates")), 6);
    json_decref(found);
    json_t *motion = run_json("$ctl excite two_link --period 5 --trials 20 --drives-only --json");
    ck_assert_int_eq(json_integer_value(json_object_get(motion, "estimates")), 6);
    ck_assert_uint_eq(json_array_size(json_object_get(motion, "time")), 500);
    ck_assert_uint_eq(json_array_size(json_object_get(motion, "q")), 500);
    json_decref(motion);
    must_fail("$ctl identify two_link own.csv --drives-only --links link1", 1, "pass only one of links");
    must_fail("$ctl identify two_link own.csv --drives-only --drives none", 1, "both wanted and ignored");
}
END_TEST

START_TEST(the_identified_model_states_its_origin_in_urdf) {
    must_say("$ctl identify two_link rubbing.csv --name rubbing && $ctl export rubbing --format urdf && "
             "$ctl unload rubbing",
             "it was identified from 500 rows by ordinary least squares");
}
END_TEST

START_TEST(a_record_that_cannot_be_used_is_refused_with_the_place) {
    must_fail("sed '5s/^[^,]*,/nan,/' own.csv >bad.csv; $ctl identify two_link bad.csv", 2,
              ":5: not a finite number: nan");
    must_fail("awk -F, -v OFS=, 'NR > 100 {$1 += 3} 1' own.csv >bad.csv; $ctl identify two_link bad.csv", 1,
              "time[99]: the time is 3.01 s after that before it");
    must_fail("head -5 own.csv >bad.csv; $ctl identify two_link bad.csv", 1, "the record has 4 samples");
    must_fail("cut -d, -f1-7 own.csv >bad.csv; $ctl identify two_link bad.csv", 2, "tau.joint1");
    must_say("awk -F, -v OFS=, 'NR > 1 {for (i = 2; i < 8; i++) $i = 0} 1' own.csv >bad.csv; "
             "$ctl identify two_link bad.csv",
             "not excited: no row depends on it");
    must_say("$ctl identify two_link bad.csv --csv | grep -c '^joint1,viscous,.*,0,0,no row depends on it'", "1");
}
END_TEST

int main(void) {
    TCase *all = tcase_create("cli_identification");
    tcase_add_unchecked_fixture(all, start, command_line_stop);
    tcase_add_test(all, an_exciting_motion_determines_bodies_and_friction);
    tcase_add_test(all, friction_alone_is_estimated_beside_the_bodies_of_the_model);
    tcase_add_test(all, the_identified_model_states_its_origin_in_urdf);
    tcase_add_test(all, a_record_that_cannot_be_used_is_refused_with_the_place);
    return run_unforked("cli_identification", all);
}
