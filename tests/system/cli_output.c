/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the output of dynamicsctl against a real daemon: JSON and CSV of every command that prints rows, and plots on
 * a terminal.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "system/command_line.h"
#include "system/runner.h"

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Appends the numbers of a JSON value to a text in their order, each after a comma. */
static void append_numbers(const json_t *value, char *text, size_t size) {
    size_t used = strlen(text), index;
    const char *key;
    const json_t *item;
    if (json_is_number(value)) {
        snprintf(text + used, size - used, ",%.17g", json_number_value(value));
    }
    json_array_foreach(value, index, item) {
        append_numbers(item, text, size);
    }
    json_object_foreach((json_t *)value, key, item) {
        append_numbers(item, text, size);
    }
}

static size_t cells_in(const char *line) {
    size_t count = 1;
    for (; *line != '\0' && *line != '\n'; line++) {
        count += *line == ',';
    }
    return count;
}

/* Checks that CSV has a header, and a line for each state with the state's number and the numbers of JSON. */
START_TEST(csv_has_a_named_column_for_each_number_of_json) {
    const char *const commands[] = {
        "id ur5",
        "fd ur5",
        "mass ur5",
        "gravity ur5",
        "bias ur5",
        "fk ur5",
        "jacobian ur5",
        "configuration ur5 normalize",
        "evaluate ur5 --quantity coriolis_matrix,kinetic_energy,frame_twist,centroidal_momentum",
        "mass quadruped",
        "evaluate quadruped --quantity mass_matrix,frame_jacobian,center_of_mass"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        outcome csv = shell("$ctl %s --csv", commands[i]), json = shell("$ctl %s --json", commands[i]);
        ck_assert_msg(csv.code == 0 && json.code == 0, "%s: %s%s", commands[i], csv.error, json.error);
        char *line = strchr(csv.output, '\n') + 1, *expected = calloc(1, 65536);
        json_t *value = json_loads(json.output, 0, NULL);
        strcpy(expected, "1");
        append_numbers(value, expected, 65535);
        strcat(expected, "\n");
        ck_assert_msg(strncmp(csv.output, "state,", 6) == 0, "%.40s", csv.output);
        ck_assert_uint_eq(cells_in(csv.output), cells_in(line));
        ck_assert_msg(strcmp(line, expected) == 0, "%s: %.500s, not %.500s", commands[i], line, expected);
        json_decref(value);
        free(expected);
        outcome_free(&csv);
        outcome_free(&json);
    }
    must_fail("$ctl id ur5 --csv --json", 2, "pass one of --csv and --json");
}
END_TEST

START_TEST(csv_of_robots_bodies_and_times_has_the_numbers_of_json) {
    outcome csv = shell("$ctl base-parameters two_link --csv");
    static const char exact[] = "column,base_parameter,value,unit,factor,parameter\n"
                                "1,link1.mx,2,kg m,1,link1.mx\n1,link1.mx,2,kg m,1,link2.m\n"
                                "3,link1.mz,0,kg m,1,link1.mz\n"
                                "6,link1.Iyy,2,kg m^2,1,link1.Iyy\n6,link1.Iyy,2,kg m^2,1,link2.m\n"
                                "11,link2.mx,1,kg m,1,link2.mx\n13,link2.mz,0,kg m,1,link2.mz\n";
    double inertia = 0;
    char rest[64] = "";
    ck_assert_msg(strncmp(csv.output, exact, sizeof exact - 1) == 0, "%s", csv.output);
    /* The last digit of this number depends on the compiler. */
    ck_assert_int_eq(sscanf(csv.output + sizeof exact - 1, "16,link2.Iyy,%lf%63[^\n]", &inertia, rest), 2);
    ck_assert_double_eq_tol(inertia, 1, 1e-14);
    ck_assert_str_eq(rest, ",kg m^2,1,link2.Iyy");
    outcome_free(&csv);
    must_say("$ctl inertia box 1,2,3 --mass 12 --about 1,0,0 --csv",
             "quantity,value,unit\nmass,12,kg\nvolume,6,m^3\ncenter_of_mass.x,0,m\ncenter_of_mass.y,0,m\n"
             "center_of_mass.z,0,m\nrotational.xx,13,kg m^2\n");
    must_say("$ctl inertia box 1,2,3 --mass 12 --about 1,0,0 --csv", "\nrotational_about.yy,22,kg m^2\n");
    must_say("$ctl inertia box 1,2,3 --mass 12 --csv", "\nprincipal_moments.3,13,kg m^2\n");
    must_say("$ctl latency two_link --count 20 --csv",
             "question,count,min,p50,p90,p99,p99.9,max\ninverse dynamics of two_link,20,");
}
END_TEST

START_TEST(operations_without_a_configuration_refuse_states) {
    must_fail("printf 'q0,q1\\n0,0\\n1,1\\n' | $ctl configuration two_link random --states - --count 2", 2,
              "random takes no states; leave out --states");
    must_fail("printf 'q0,q1\\n0,0\\n' | $ctl configuration two_link neutral --states -", 2, "neutral takes no states");
}
END_TEST

START_TEST(locked_joints_have_their_positions_by_name) {
    must_say("$ctl derive ur5 lock:elbow_joint --q elbow_joint=0.5 --name ur5_named >/dev/null && "
             "$ctl derive ur5 lock:elbow_joint --q 0,0,0.5,0,0,0 --name ur5_all >/dev/null && "
             "test \"$($ctl gravity ur5_named --csv)\" = \"$($ctl gravity ur5_all --csv)\" && "
             "test \"$($ctl gravity ur5_named --csv)\" != \"$($ctl gravity ur5 --csv)\" && echo agree",
             "agree\n");
    must_fail("$ctl derive ur5 lock:elbow_joint --q elbw_joint=0.5 --name other", 2,
              "--q: ur5 has no moving joint \"elbw_joint\"; did you mean \"elbow_joint\"?");
    must_fail("$ctl derive ur5 lock:elbow_joint --q 1 --name other", 2, "--q: 1 values, but 6 are needed");
}
END_TEST

START_TEST(csv_of_configurations_is_read_as_states) {
    must_say("$ctl configuration quadruped random --count 3 --csv | $ctl gravity quadruped --states - --csv | "
             "cut -d, -f1 | tr '\\n' ' '",
             "state 1 2 3 ");
}
END_TEST

START_TEST(explain_splits_each_state_of_a_file) {
    must_say("printf 'q0,q1\\n0,0\\n0,1.5707963267948966\\n' | $ctl explain two_link --states - --csv | cut -d, -f1-3",
             "state,tau.joint1,tau.joint2\n1,29.43");
    must_say("printf 'q0,q1\\n0,0\\n0,1\\n' | $ctl explain two_link --states - --json | wc -l", "2\n");
    must_say("printf 'q0,q1\\n0,0\\n0,1\\n' | $ctl explain two_link --states -", "\nstate 2\njoint ");
}
END_TEST

START_TEST(several_frames_come_by_name) {
    json_t *poses = run_json("$ctl fk two_link --frame link1,tip --json");
    const json_t *tip = json_object_get(json_object_get(poses, "tip"), "position");
    ck_assert_double_eq_tol(json_number_value(json_array_get(tip, 0)), 2, 1e-12);
    json_decref(poses);
    /* The reply has all states of one frame before those of the next frame, but CSV has a line for each state. */
    must_say("printf 'q0,q1\\n0,0\\n0,1.5707963267948966\\n' | $ctl fk two_link --frame link2,tip --states - --csv | "
             "cut -d, -f1,2,5",
             "state,link2.position.x,tip.position.x\n1,1,2\n2,1,1");
    must_say("$ctl jacobian two_link --frame link1,tip", "\ntip\n");
    must_fail("$ctl fk two_link --frame tip,nose", 1, "has no frame \"nose\"");
}
END_TEST

/* Checks that JSON lists have an object on each line, and CSV lists columns of the same names. */
START_TEST(lists_have_the_same_names_in_json_and_csv) {
    outcome run =
        shell("$ctl simulate ur5 --rate 1 --duration 60 --name listed --record listed >/dev/null & maker=$!\n"
              "$ctl call start_job '{\"job\": \"j\", \"gravity\": {\"query\": {\"model\": \"two_link\"}, "
              "\"q\": [0, 0]}}' >/dev/null\n"
              "$ctl call open_stream '{\"query\": {\"model\": \"ur5\"}, \"feedforward\": {}}' "
              ">/dev/null\n"
              "shown simulations 'listed .* running'; for list in models simulations streams jobs recordings; do "
              "$ctl $list --csv | head -n 1; $ctl $list --json | head -n 1; done; kill -INT $maker; wait $maker; "
              "$ctl jobs cancel j >/dev/null");
    ck_assert_msg(run.code == 0, "%s", run.error);
    size_t lists = 0;
    for (char *line = run.output; *line != '\0'; lists++) {
        char keys[1024] = "", *end = strchr(line, '\n');
        const char *key;
        json_t *value, *row = json_loadb(end + 1, strcspn(end + 1, "\n"), 0, NULL);
        ck_assert_msg(row != NULL, "%s", end + 1);
        json_object_foreach(row, key, value) {
            snprintf(keys + strlen(keys), sizeof keys - strlen(keys), "%s%s", keys[0] == '\0' ? "" : ",", key);
        }
        *end = '\0';
        ck_assert_str_eq(line, keys);
        line = end + 1 + strcspn(end + 1, "\n") + 1;
        json_decref(row);
    }
    ck_assert_uint_eq(lists, 5);
    outcome_free(&run);
}
END_TEST

/* ---- width ------------------------------------------------------------------------------------------------------- */

/* Loads a chain of links and joints with long names. The joints' names differ at their ends or within. */
static void load_long_names(void) {
    enum { LINKS = 8 };
    FILE *file = fopen(scratch("longwinded.urdf"), "w");
    ck_assert_ptr_nonnull(file);
    fputs("<robot name='longwinded'>\n<link name='a_link_that_is_carried_by_joint_0'/>\n", file);
    for (int i = 1; i <= LINKS; i++) {
        fprintf(file,
                "<link name='a_link_that_is_carried_by_joint_%d'><inertial><mass value='1'/>"
                "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>\n"
                "<joint name='the_%s_joint_of_pair_%d' type='continuous'><origin xyz='1 0 0'/><axis xyz='0 1 0'/>"
                "<parent link='a_link_that_is_carried_by_joint_%d'/>"
                "<child link='a_link_that_is_carried_by_joint_%d'/></joint>\n",
                i, i % 2 == 0 ? "left" : "right", i / 2, i - 1, i);
    }
    fputs("</robot>\n", file);
    ck_assert_int_eq(fclose(file), 0);
    outcome run = shell("$ctl load --replace %s", scratch("longwinded.urdf"));
    ck_assert_msg(run.code == 0, "%s", run.error);
    outcome_free(&run);
}

static size_t widest_line(const char *text) {
    size_t widest = 0;
    for (; *text != '\0'; text += strcspn(text, "\n"), text += *text == '\n') {
        size_t width = strcspn(text, "\n");
        widest = width > widest ? width : widest;
    }
    return widest;
}

START_TEST(tables_fit_the_columns_of_the_environment) {
    load_long_names();
    const char *const commands[] = {
        "mass longwinded",
        "id longwinded",
        "explain longwinded --a 1,1,1,1,1,1,1,1",
        "jacobian longwinded",
        "fk longwinded --frame a_link_that_is_carried_by_joint_0,a_link_that_is_carried_by_joint_7",
        "evaluate longwinded --quantity mass_matrix,frame_acceleration,torque_regressor",
        "base-parameters longwinded",
        "configuration longwinded random --count 3",
        "rollout longwinded --duration 0.01",
        "simulate longwinded --duration 0.01 --name fitted",
        "describe longwinded",
        "describe longwinded the_left_joint_of_pair_1",
        "models"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        outcome whole = shell("$ctl %s", commands[i]), wide = shell("COLUMNS=80 $ctl %s --wide", commands[i]);
        ck_assert_msg(whole.code == 0, "%s: %s", commands[i], whole.error);
        ck_assert_str_eq(whole.output, wide.output);
        outcome_free(&wide);
        for (unsigned columns = 72; columns <= 100; columns += 14) {
            outcome run = shell("COLUMNS=%u $ctl %s", columns, commands[i]);
            ck_assert_msg(widest_line(run.output) <= columns, "%s is %zu wide in %u columns:\n%.800s", commands[i],
                          widest_line(run.output), columns, run.output);
            outcome_free(&run);
        }
        outcome_free(&whole);
    }
}
END_TEST

START_TEST(info_fits_the_columns_of_the_environment) {
    for (unsigned columns = 60; columns <= 80; columns += 20) {
        outcome run = shell("COLUMNS=%u $ctl info", columns);
        ck_assert_msg(run.code == 0 && widest_line(run.output) <= columns, "%u columns:\n%s", columns, run.output);
        outcome_free(&run);
    }
    must_say("$ctl info", "\n  channels      16 fast ones, 8 of one user, each of 4194304 bytes\n");
    must_say("$ctl info --json", "\"fast_channels\": 16, \"fast_peer_channels\": 8, \"fast_channel_bytes\": 4194304, ");
    must_say("$ctl info",
             "\n  names         128 bytes of models, 64 of simulations and streams, 255 of links and joints\n");
}
END_TEST

/* Checks that the blocks of a narrow matrix contain the numbers of the wide one, below distinct names. */
START_TEST(narrow_matrices_have_all_numbers_and_distinct_names) {
    load_long_names();
    outcome wide = shell("$ctl mass longwinded --q 1,2,3,4,5,6,7,8 | tail -n +4 | head -n 8 | tr -s ' ' '\\n' | "
                         "grep -E '^-?[0-9]' | sort"),
            narrow = shell("COLUMNS=80 $ctl mass longwinded --q 1,2,3,4,5,6,7,8 | tr -s ' ' '\\n' | grep -E "
                           "'^-?[0-9]+[.]' | sort"),
            names = shell("COLUMNS=80 $ctl mass longwinded | grep -o '^the[^ ]*' | sort -u | wc -l; "
                          "COLUMNS=80 $ctl mass longwinded | grep '^  ' | tr -s ' ' '\\n' | grep . | sort -u | wc -l");
    ck_assert_msg(narrow.code == 0, "%s", narrow.error);
    ck_assert_str_eq(narrow.output, wide.output);
    ck_assert_str_eq(names.output, "8\n8\n");
    ck_assert_uint_gt(strlen(wide.output), 8 * 8 * 8);
    outcome_free(&wide);
    outcome_free(&narrow);
    outcome_free(&names);
}
END_TEST

/* Checks that simulate shows the end of a robot whose q and v have different lengths. */
START_TEST(simulate_shows_the_end_of_a_floating_robot) {
    must_say(
        "$ctl derive quadruped base:base_link,floating --name floats >/dev/null && $ctl simulate floats --duration "
        "0.01 | grep -c -E '^(root_joint| ) .*[0-9]'",
        "7\n");
}
END_TEST

START_TEST(units_that_all_rows_share_are_in_the_heading) {
    must_say("$ctl id ur5", "joint                 q [rad]  v [rad/s]  a [rad/s^2]   tau [N m]\n");
    must_say("$ctl derive quadruped base:base_link,floating --name walker >/dev/null && $ctl id walker", " N\n");
    outcome run = shell("$ctl id walker | head -n 3 | tail -n 1");
    ck_assert_ptr_null(strchr(run.output, '['));
    outcome_free(&run);
}
END_TEST

/* ---- circumstances of motions ------------------------------------------------------------------------------------ */

/* Checks that two commands succeed and write the same text. */
static void must_agree(const char *left, const char *right) {
    outcome one = shell("%s", left), other = shell("%s", right);
    ck_assert_msg(one.code == 0 && other.code == 0, "%s%s", one.error, other.error);
    ck_assert_uint_gt(strlen(one.output), 100);
    ck_assert_str_eq(one.output, other.output);
    outcome_free(&one);
    outcome_free(&other);
}

START_TEST(motions_accept_payloads_forces_and_ideal_bodies) {
    const char *last = "| tail -n 1 | cut -d, -f3-6";
    char left[512], right[512];
    must_say("$ctl derive two_link attach:tip,box,2 --name two_link_with_box", "two_link_with_box: ");
    must_agree("$ctl rollout two_link --duration 0.1 --payload tip:2 --json",
               "$ctl rollout two_link_with_box --duration 0.1 --json");
    must_agree(
        "printf 'q0,q1\\n0,0\\n0,1\\n1,1\\n' | $ctl trajectory two_link inverse --states - --payload tip:2 --csv",
        "printf 'q0,q1\\n0,0\\n0,1\\n1,1\\n' | $ctl trajectory two_link_with_box inverse --states - --csv");
    snprintf(left, sizeof left, "$ctl rollout two_link --duration 0.5 --force tip:0,0,30 --csv --stride 10");
    snprintf(right, sizeof right, "$ctl rollout two_link --duration 0.5 --csv --stride 10");
    outcome pushed = shell("%s %s", left, last), free_fall = shell("%s %s", right, last);
    ck_assert_str_ne(pushed.output, free_fall.output);
    outcome simulated = shell("$ctl simulate two_link --duration 0.5 --force tip:0,0,30 --csv %s", last);
    ck_assert_str_eq(pushed.output, simulated.output);
    outcome_free(&pushed);
    outcome_free(&free_fall);
    outcome_free(&simulated);
    outcome ideal = shell("$ctl simulate panda --q 0,0,0,0,0,0,0 --duration 0.5 --ideal --csv %s", last);
    outcome rolled = shell("$ctl rollout panda --q 0,0,0,0,0,0,0 --duration 0.5 --ideal --stride 10 --csv %s", last);
    outcome real = shell("$ctl simulate panda --q 0,0,0,0,0,0,0 --duration 0.5 --csv %s", last);
    ck_assert_str_eq(ideal.output, rolled.output);
    ck_assert_str_ne(ideal.output, real.output);
    outcome_free(&ideal);
    outcome_free(&rolled);
    outcome_free(&real);
    must_fail("echo '{\"q\": [0, 0], \"external_forces\": [{\"link\": \"tip\", \"force\": [0, 0, 1]}]}' | "
              "$ctl rollout two_link --states -",
              2, "external_forces: a motion has the same forces in all states: pass --force");
}
END_TEST

/* ---- describe ---------------------------------------------------------------------------------------------------- */

static void load_gripper(void) {
    write_file(scratch("gripper.urdf"),
               "<robot name='gripper'><link name='palm'/>"
               "<link name='left'><inertial><mass value='0.3'/><origin xyz='0.01 0.02 0.03'/>"
               "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
               "<link name='right'><inertial><mass value='0.3'/>"
               "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
               "<joint name='slide' type='prismatic'><parent link='palm'/><child link='left'/><axis xyz='0 1 0'/>"
               "<limit lower='-0.01' upper='0.04' velocity='0.25' effort='12'/><dynamics damping='7' friction='0.5'/>"
               "</joint>"
               "<joint name='follow' type='prismatic'><parent link='palm'/><child link='right'/><axis xyz='0 1 0'/>"
               "<limit lower='-0.01' upper='0.04' velocity='1' effort='1'/>"
               "<mimic joint='slide' multiplier='-1' offset='0.02'/></joint></robot>");
    outcome run = shell("$ctl load --replace %s", scratch("gripper.urdf"));
    ck_assert_msg(run.code == 0, "%s", run.error);
    outcome_free(&run);
}

START_TEST(describe_shows_limits_damping_friction_and_mimic) {
    load_gripper();
    must_say("$ctl describe gripper | grep '^joint'",
             "range [m]          velocity [m/s]  effort [N]  damping [N s/m]  friction [N]\n");
    must_say("$ctl describe gripper | grep '^slide'", "-0.0100 .. 0.0400            0.25          12");
    must_say("$ctl describe gripper | grep '^slide'", "7           0.5\n");
    must_say("$ctl describe gripper | grep '^follow'", "= -1 slide+0.02");
}
END_TEST

START_TEST(describe_details_one_element) {
    load_gripper();
    must_say("$ctl describe gripper slide", "velocity limit             0.25 m/s\n");
    must_say("$ctl describe gripper slide", "damping                    7 N s/m\n");
    must_say("$ctl describe gripper follow", "mimic                      -1 slide+0.02\n");
    must_say("$ctl describe gripper left", "centre of mass             0.01 0.02 0.03 m\n");
    json_t *found = run_json("$ctl describe gripper left --json"), *link = json_object_get(found, "link");
    ck_assert_double_eq(json_number_value(json_object_get(link, "mass")), 0.3);
    ck_assert_ptr_nonnull(json_object_get(found, "frame"));
    ck_assert_ptr_null(json_object_get(found, "joint"));
    json_decref(found);
    must_fail("$ctl describe gripper slid", 2, "gripper has no element \"slid\"; did you mean \"slide\"?");
}
END_TEST

START_TEST(a_description_in_json_is_one_line) {
    must_say("$ctl describe ur5 --json | wc -l && $ctl info --json | wc -l && $ctl ping --json | wc -l", "1\n1\n1\n");
}
END_TEST

/* ---- actions ----------------------------------------------------------------------------------------------------- */

START_TEST(an_action_with_json_names_its_object) {
    must_say("$ctl call start_job '{\"job\": \"g\", \"gravity\": {\"query\": {\"model\": \"two_link\"}, "
             "\"q\": [0, 0]}}'",
             "token");
    must_say("$ctl jobs cancel g --json", "{\"cancelled\": \"g\"}\n");
    must_say("$ctl simulate two_link --duration 0.1 --record kept && $ctl recordings --delete kept --json",
             "{\"deleted\": \"kept\"}\n");
    must_say("$ctl derive two_link attach:tip,box,1 --name boxed && $ctl unload boxed --json",
             "{\"unloaded\": \"boxed\"}\n");
}
END_TEST

START_TEST(only_actions_that_need_a_token_accept_one) {
    must_fail("$ctl jobs list --token 3", 2, "jobs list takes no --token");
    must_fail("$ctl jobs show g --token 3", 2, "jobs show takes no --token");
    must_fail("$ctl jobs cancel g --csv", 2, "jobs cancel takes no --csv");
}
END_TEST

/* ---- motions that are watched ------------------------------------------------------------------------------------ */

/* Checks that watch ends with the requested row also within a message, which has several rows at 5 kHz. */
START_TEST(watch_ends_with_the_requested_row) {
    outcome run = shell("$ctl simulate ur5 --rate 1 --duration 60 --step-length 0.0002 --frequency 5000 --name fast "
                        ">/dev/null & maker=$!\n"
                        "shown simulations 'fast .* running'; for count in 1 3 7; do $ctl watch fast --csv --count "
                        "$count | wc -l; done; kill -INT $maker; wait $maker");
    ck_assert_msg(run.code == 0, "%s", run.error);
    ck_assert_str_eq(run.output, "2\n4\n8\n");
    outcome_free(&run);
}
END_TEST

/* Checks that no text after the message moves the cursor above it, so that a plot does not overwrite the message. */
START_TEST(a_message_on_the_terminal_of_a_plot_remains) {
    outcome run = shell("$ctl simulate ur5 --rate 1 --duration 2 --name drawn >/dev/null & maker=$!\n"
                        "shown simulations 'drawn .* running'; LC_ALL=C script -qec \"$ctl watch drawn --plot\" "
                        "/dev/null </dev/null; wait $maker");
    ck_assert_msg(run.code == 0, "%s", run.error);
    ck_assert_msg(strstr(run.output, "A\033[J") != NULL, "the plot is not drawn again: %s", run.output);
    const char *message = strstr(run.output, "deleted by its owner");
    ck_assert_msg(message != NULL, "%s", run.output);
    ck_assert_msg(!strstr(message, "\033["), "%s", message);
    ck_assert_msg(!strstr(run.output, " messages/s"), "%s", run.output);
    outcome_free(&run);
}
END_TEST

/* ---- main -------------------------------------------------------------------------------------------------------- */

/* Checks that a description in a file has the motions of its custom joint, as text and as JSON. */
START_TEST(describe_shows_the_motions_of_custom_joints) {
    must_say("$ctl load --replace --description " DYNAMICS_TEST_DATA "/custom/leg.json", "leg");
    must_say("$ctl describe leg knee", "translation along 1 0 0 by a cubic spline of 12 knots");
    must_say("$ctl describe leg knee", "rotation about 0 0 1 by a polynomial of 2 terms");
    json_t *robot = run_json("$ctl describe leg --json");
    const json_t *joint = json_array_get(json_object_get(robot, "joints"), 1);
    const json_t *motion = json_array_get(json_object_get(joint, "motions"), 1);
    const json_t *function = json_object_get(motion, "function");
    ck_assert_str_eq(json_string_value(json_object_get(joint, "type")), "custom");
    ck_assert_str_eq(json_string_value(json_object_get(motion, "kind")), "translation");
    ck_assert_uint_eq(json_array_size(json_object_get(function, "knots")), 7);
    ck_assert_double_eq(json_number_value(json_array_get(json_object_get(function, "values"), 6)), -0.396);
    json_decref(robot);
    must_say("$ctl fk leg --q knee=-1 --frame foot", "foot");
}
END_TEST

int main(void) {
    TCase *all = tcase_create("cli_output");
    tcase_add_unchecked_fixture(all, command_line_start, command_line_stop);
    tcase_add_test(all, csv_has_a_named_column_for_each_number_of_json);
    tcase_add_test(all, csv_of_robots_bodies_and_times_has_the_numbers_of_json);
    tcase_add_test(all, operations_without_a_configuration_refuse_states);
    tcase_add_test(all, locked_joints_have_their_positions_by_name);
    tcase_add_test(all, csv_of_configurations_is_read_as_states);
    tcase_add_test(all, explain_splits_each_state_of_a_file);
    tcase_add_test(all, several_frames_come_by_name);
    tcase_add_test(all, lists_have_the_same_names_in_json_and_csv);
    tcase_add_test(all, tables_fit_the_columns_of_the_environment);
    tcase_add_test(all, info_fits_the_columns_of_the_environment);
    tcase_add_test(all, narrow_matrices_have_all_numbers_and_distinct_names);
    tcase_add_test(all, simulate_shows_the_end_of_a_floating_robot);
    tcase_add_test(all, units_that_all_rows_share_are_in_the_heading);
    tcase_add_test(all, motions_accept_payloads_forces_and_ideal_bodies);
    tcase_add_test(all, describe_shows_limits_damping_friction_and_mimic);
    tcase_add_test(all, describe_details_one_element);
    tcase_add_test(all, describe_shows_the_motions_of_custom_joints);
    tcase_add_test(all, a_description_in_json_is_one_line);
    tcase_add_test(all, an_action_with_json_names_its_object);
    tcase_add_test(all, only_actions_that_need_a_token_accept_one);
    tcase_add_test(all, watch_ends_with_the_requested_row);
    tcase_add_test(all, a_message_on_the_terminal_of_a_plot_remains);
    return run_unforked("cli_output", all);
}
