/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the program dynamicsctl against a real daemon: exit codes, states in every form, results in their order,
 * errors with their place.
 */
#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "system/command_line.h"
#include "system/silent_peer.h"
#include "system/runner.h"

static double number_at(const json_t *list, size_t index) {
    ck_assert(json_is_number(json_array_get(list, index)));
    return json_number_value(json_array_get(list, index));
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static const char *const COMMANDS[] = {"ping",
                                       "info",
                                       "load",
                                       "models",
                                       "describe",
                                       "unload",
                                       "id",
                                       "fd",
                                       "mass",
                                       "gravity",
                                       "bias",
                                       "fk",
                                       "jacobian",
                                       "evaluate",
                                       "explain",
                                       "compare",
                                       "latency",
                                       "call",
                                       "derive",
                                       "export",
                                       "inertia",
                                       "base-parameters",
                                       "configuration",
                                       "rollout",
                                       "trajectory",
                                       "simulate",
                                       "simulations",
                                       "watch",
                                       "stream",
                                       "streams",
                                       "record",
                                       "replay",
                                       "jobs",
                                       "recordings",
                                       "assemble",
                                       "formulate",
                                       "identify",
                                       "motor",
                                       "excite",
                                       "stat",
                                       "top",
                                       "log-level",
                                       "config",
                                       "clients",
                                       "slowlog",
                                       "disconnect",
                                       "help"};

static void expect_lines_of_a_page(const char *text) {
    for (; *text != '\0'; text += strcspn(text, "\n"), text += *text == '\n') {
        ck_assert_msg(strcspn(text, "\n") <= 80, "%.*s", (int)strcspn(text, "\n"), text);
    }
}

START_TEST(every_command_has_help_with_an_example) {
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        outcome run = shell("%s %s --help", DYNAMICSCTL_PROGRAM, COMMANDS[i]);
        ck_assert_int_eq(run.code, 0);
        ck_assert_ptr_nonnull(strstr(run.output, "\nExample\n  dynamicsctl "));
        ck_assert_ptr_nonnull(strstr(run.output, "Exit codes"));
        expect_lines_of_a_page(run.output);
        outcome_free(&run);
    }
}
END_TEST

START_TEST(help_accepts_the_name_of_a_command) {
    outcome requested = shell("$ctl help rollout"), option = shell("$ctl rollout --help");
    ck_assert_int_eq(requested.code, 0);
    ck_assert_str_eq(requested.output, option.output);
    outcome_free(&requested);
    outcome_free(&option);
    must_say("$ctl help", "dynamicsctl: command line of dynamicsd");
    must_fail("$ctl help rollot", 2, "unknown command \"rollot\": did you mean rollout?");
    must_fail("$ctl help zzz", 2, "unknown command \"zzz\" (see dynamicsctl help)");
}
END_TEST

START_TEST(help_lists_each_command_with_all_operands) {
    outcome list = shell("%s --help", DYNAMICSCTL_PROGRAM);
    ck_assert_int_eq(list.code, 0);
    expect_lines_of_a_page(list.output);
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        outcome run =
            shell("%s %s --help | sed -n 's/^Usage: dynamicsctl \\(.*\\)\\[OPTIONS\\]$/  \\1/p' | tr -d '\\n'",
                  DYNAMICSCTL_PROGRAM, COMMANDS[i]);
        ck_assert_ptr_nonnull(strstr(run.output, COMMANDS[i]));
        run.output[strlen(run.output) - 1] = '\0';
        ck_assert_msg(strstr(list.output, run.output) != NULL, "%s", run.output);
        outcome_free(&run);
    }
    outcome_free(&list);
}
END_TEST

START_TEST(exit_codes_distinguish_refused_unreachable_and_timeout) {
    silent_peer peer;
    char line[512];
    must_fail("$ctl id no_such_model", 1, "refused: there is no model \"no_such_model\"");
    must_fail("$ctl id", 2, "id needs NAME");
    must_fail("$ctl", 2, "name a command");
    must_fail("$ctl dance", 2, "unknown command \"dance\" (see");
    must_fail("$ctl simulations2", 2, "unknown command \"simulations2\": did you mean simulations?");
    must_fail("$ctl desc ur5", 2, "did you mean describe?");
    must_fail("$ctl id ur5 --speed 3", 2, "unknown option --speed: did you mean --seed?");
    must_fail("$ctl id ur5 -q 1", 2, "unknown option -q: did you mean --q?");
    must_fail("$ctl id ur5 -s 1", 2, "unknown option -s: did you mean --s?");
    must_fail("$ctl id ur5 -x 1", 2, "unknown option -x (see dynamicsctl --help)");
    must_fail("$ctl id ur5 --statez=x", 2, "unknown option --statez=x: did you mean --states?");
    must_fail("$ctl ping --states x", 2, "ping does not take --states");
    must_fail("$ctl id ur5 --q", 2, "--q needs a value");
    must_fail("$ctl id ur5 --q 1,2", 2, "2 values, but 6 are needed");
    must_fail("$ctl id ur5 --q 1,2,3,4,5,inf", 2, "\"inf\", is not a finite number");
    must_fail("$ctl ping --timeout 0", 2, "--timeout 0");
    snprintf(line, sizeof line, "%s ping --endpoint ipc:///nonexistent/socket", DYNAMICSCTL_PROGRAM);
    must_fail(line, 3, "is dynamicsd running?");
    silent_peer_start(&peer);
    snprintf(line, sizeof line, "%s ping --endpoint %s --timeout 0.2", DYNAMICSCTL_PROGRAM, peer.address);
    must_fail(line, 4, "wait longer with --timeout SECONDS (TIMEOUT, request ");
    silent_peer_stop(&peer);
}
END_TEST

/* Checks that errors of the daemon name the arguments that the user typed, and errors of a JSON request its fields. */
START_TEST(errors_name_the_typed_arguments) {
    must_fail("$ctl load " DYNAMICS_ROBOTS_DIR "/two_link.urdf --name ur5", 1, "refused: ");
    must_fail("$ctl load " DYNAMICS_ROBOTS_DIR "/two_link.urdf --name ur5", 1,
              "two_link.urdf: --name: another model is named \"ur5\"");
    must_fail("$ctl load " DYNAMICS_ROBOTS_DIR "/two_link.urdf --name ur5", 1,
              "choose another name, or add --replace (");
    must_fail("$ctl load " DYNAMICS_ROBOTS_DIR "/two_link.urdf --name new --expected-digest sha256:0", 1,
              "--expected-digest: a digest is expected, but --replace is not given; add it");
    must_fail("$ctl fk ur5 --frame tool9", 1, "refused: --frame[0]: ");
    must_fail("echo '{\"q\": [1, 2]}' | $ctl id two_link --states - --force tip9:1,2,3", 1, "--force[0].link: ");
    must_fail("$ctl fk ur5 --frame nose", 1, "refused: --frame[0]: ");
    must_fail("$ctl fk ur5 --frame nose", 1, "dynamicsctl describe lists them");
    must_fail("$ctl call DescribeModel '{\"model\": \"ur6\"}'", 1, "refused: describe_model.model: there is no model");
}
END_TEST

/* Checks --q, --v and --to with values by joint names: the configuration differs from the base one in these joints
 * only. */
START_TEST(values_may_name_their_joints) {
    static const char *const same[][2] = {
        {"id two_link --q joint2=0.5 --state zero", "id two_link --q 0,0.5"},
        {"id two_link --q joint2=0.5,joint1=-1 --v joint2=3", "id two_link --q -1,0.5 --v 0,3"},
        {"id ur5 --q elbow_joint=1 --joints elbow_joint,shoulder_pan_joint,shoulder_lift_joint,wrist_1_joint,"
         "wrist_2_joint,wrist_3_joint --state zero",
         "id ur5 --q 1,0,0,0,0,0 --joints elbow_joint,shoulder_pan_joint,shoulder_lift_joint,wrist_1_joint,"
         "wrist_2_joint,wrist_3_joint"},
        {"configuration two_link distance --q 1,2 --to joint2=3", "configuration two_link distance --q 1,2 --to 0,3"},
        {"rollout two_link --q 1,2 --control pd --kp 9 --to joint2=3 --duration 0.1",
         "rollout two_link --q 1,2 --control pd --kp 9 --to 1,3 --duration 0.1"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        outcome named = shell("$ctl %s --json", same[i][0]), plain = shell("$ctl %s --json", same[i][1]);
        ck_assert_msg(named.code == 0, "%s: %s", same[i][0], named.error);
        ck_assert_msg(strcmp(named.output, plain.output) == 0, "%s: %s, but %s", same[i][0], named.output,
                      plain.output);
        outcome_free(&named);
        outcome_free(&plain);
    }
    outcome home = shell("$ctl id two_link --q joint2=0.5");
    ck_assert_ptr_nonnull(strstr(home.output, "home configuration, q of some joints given"));
    outcome_free(&home);
    must_fail("$ctl id ur5 --q elbow=1", 2, "--q: ur5 has no moving joint \"elbow\"; did you mean \"elbow_joint\"?");
    must_fail("$ctl id ur5 --q elbow_joint=1,2", 2, "\"2\" has no name: pass NAME=X for each, or 6 values");
    must_fail("$ctl id ur5 --q elbow_joint=1,elbow_joint=2", 2, "--q: \"elbow_joint\" is there twice");
    must_fail("$ctl id ur5 --q elbow_joint=x", 2, "--q: elbow_joint: \"x\" is not a finite number");
    must_fail("$ctl id ur5 --q 1,2,3,4,5,6 --state zero", 2, "unless --q names the joints that differ");
    must_fail("$ctl evaluate ur5 --quantity mass_matri", 2,
              "there is no \"mass_matri\"; did you mean \"mass_matrix\"?");
}
END_TEST

START_TEST(endpoint_comes_from_options_environment_and_configuration) {
    char line[1024];
    snprintf(line, sizeof line, "%s ping --config %s", DYNAMICSCTL_PROGRAM, served.configuration_file);
    outcome run = shell("%s", line);
    ck_assert_msg(run.code == 0, "%s", run.error);
    ck_assert_ptr_nonnull(strstr(run.output, "dynamicsd is serving"));
    outcome_free(&run);
    run = shell("DYNAMICSD_ENDPOINT=%s %s ping", served.request_tcp, DYNAMICSCTL_PROGRAM);
    ck_assert_int_eq(run.code, 0);
    outcome_free(&run);
    run = shell("DYNAMICSD_ENDPOINT=ipc:///nonexistent $ctl ping");
    ck_assert_int_eq(run.code, 0);
    outcome_free(&run);
    write_file(scratch("empty.conf"), "[endpoints]\nrequest: ipc:///nonexistent/a   tcp://127.0.0.1:1\n");
    snprintf(line, sizeof line, "%s ping --config %s", DYNAMICSCTL_PROGRAM, scratch("empty.conf"));
    must_fail(line, 3, "ipc:///nonexistent/a ");
    write_file(scratch("bad.conf"), "[endpoints]\nwhat is this\n");
    snprintf(line, sizeof line, "%s ping --config %s", DYNAMICSCTL_PROGRAM, scratch("bad.conf"));
    must_fail(line, 2, "bad.conf:2: ");
}
END_TEST

START_TEST(models_are_loaded_listed_described_and_unloaded) {
    char line[1024];
    snprintf(line, sizeof line, "$ctl load %s/quadruped.urdf --name walker --base floating --json",
             DYNAMICS_ROBOTS_DIR);
    json_t *loaded = run_json(line);
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(loaded, "model"), "base")), "floating");
    json_decref(loaded);
    json_t *robot = run_json("$ctl describe walker --json");
    const json_t *joints = json_object_get(robot, "joints"), *root = json_array_get(joints, 0);
    ck_assert_str_eq(json_string_value(json_object_get(root, "name")), "root_joint");
    ck_assert_str_eq(json_string_value(json_object_get(root, "type")), "floating");
    ck_assert_int_eq(json_integer_value(json_object_get(root, "nq")), 7);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "nv")), 6);
    const json_t *first = json_array_get(joints, 1);
    ck_assert_str_eq(json_string_value(json_object_get(first, "type")), "revolute");
    ck_assert_int_eq(json_integer_value(json_object_get(first, "q_index")), 7);
    ck_assert_int_eq(json_integer_value(json_object_get(first, "v_index")), 6);
    json_decref(robot);
    outcome run = shell("$ctl models && $ctl describe walker && $ctl id walker && $ctl mass walker && "
                        "$ctl jacobian walker && $ctl fk walker && $ctl unload walker");
    ck_assert_msg(run.code == 0, "%s", run.error);
    ck_assert_ptr_nonnull(strstr(run.output, "walker: unloaded"));
    outcome_free(&run);
    must_fail("$ctl unload walker", 1, "NOT_FOUND");
    write_file(scratch("broken.urdf"), "<robot name='r'>\n<link name='a'>\n</robot>");
    snprintf(line, sizeof line, "$ctl load %s", scratch("broken.urdf"));
    must_fail(line, 1, "broken.urdf:3: ");
    must_fail("$ctl load /nonexistent.urdf", 2, "/nonexistent.urdf cannot be read");
}
END_TEST

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Checks that evaluate writes the numbers that the single commands write, and that it accepts several states. */
START_TEST(evaluate_writes_the_numbers_of_the_single_commands) {
    json_t *all =
        run_json("$ctl evaluate ur5 --q 1,-1,2,0,1,0 --v 1,2,3,4,5,6 --a 6,5,4,3,2,1 --frame tool0,forearm_link "
                 "--quantity inverse_dynamics,mass_matrix,frame_pose,kinetic_energy --json");
    json_t *tau = run_json("$ctl id ur5 --q 1,-1,2,0,1,0 --v 1,2,3,4,5,6 --a 6,5,4,3,2,1 --json");
    json_t *mass = run_json("$ctl mass ur5 --q 1,-1,2,0,1,0 --json");
    json_t *pose = run_json("$ctl fk ur5 --q 1,-1,2,0,1,0 --frame forearm_link --json");
    ck_assert(json_equal(json_object_get(all, "inverse_dynamics"), json_object_get(tau, "tau")));
    ck_assert(json_equal(json_object_get(all, "mass_matrix"), json_object_get(mass, "mass_matrix")));
    json_t *short_name = run_json("$ctl evaluate ur5 --q 1,-1,2,0,1,0 --quantity M --json");
    ck_assert(json_equal(json_object_get(all, "mass_matrix"), json_object_get(short_name, "mass_matrix")));
    json_decref(short_name);
    ck_assert(json_equal(json_object_get(json_object_get(all, "frame_pose"), "forearm_link"), pose));
    ck_assert(json_is_real(json_object_get(all, "kinetic_energy")));
    json_decref(all);
    json_decref(tau);
    json_decref(mass);
    json_decref(pose);
    outcome run = shell("printf 'q0,q1,v0,v1\\n0,0,1,0\\n1,1,2,3\\n' | $ctl evaluate two_link --states - --quantity "
                        "coriolis_matrix,christoffel_symbols,torque_regressor,centroidal_momentum,power");
    ck_assert_msg(run.code == 0, "%s", run.error);
    ck_assert_ptr_nonnull(strstr(run.output, "state 2\ncoriolis_matrix, in kg m^2/s\n"));
    ck_assert_ptr_nonnull(strstr(run.output, "(axes of the world, origin at the centre of mass)"));
    outcome_free(&run);
    json_t *change = run_json("$ctl evaluate two_link --q 1,2 --dq 0,1 --dv 0,0 --da 1,0 --quantity "
                              "inverse_dynamics_along,mass_matrix,gravity_forces_by_q --json");
    for (size_t i = 0; i < 2; i++) {
        const json_t *M = json_array_get(json_object_get(change, "mass_matrix"), i);
        const json_t *dg = json_array_get(json_object_get(change, "gravity_forces_by_q"), i);
        double expected = json_real_value(json_array_get(M, 0)) + json_real_value(json_array_get(dg, 1));
        const json_t *along = json_array_get(json_object_get(change, "inverse_dynamics_along"), i);
        ck_assert_double_eq_tol(json_number_value(along), expected, 1e-12);
    }
    json_decref(change);
    must_fail("$ctl evaluate two_link --quantity inverse_dynamics_along --dv 1", 2, "--dv: ");
    run = shell("$ctl evaluate two_link --q 0,1.5707963267948966 --quantity operational_space_inertia,torque_ellipsoid "
                "--frame tip --task-axes linear_x,linear_z");
    ck_assert_msg(run.code == 0, "%s", run.error);
    ck_assert_ptr_nonnull(strstr(run.output, "tip linear x  tip linear z\n  tip linear x      1.000000"));
    ck_assert_ptr_nonnull(strstr(run.output, "\n  1  3.414214\n  2  0.585786\n"));
    outcome_free(&run);
    must_fail("$ctl evaluate two_link --quantity operational_space_inertia --frame tip", 1, "depends on those behind");
    must_fail("$ctl evaluate ur5 --quantity operational_space_inertia --task-axes linear,linear_x", 1, "named twice");
    must_fail("$ctl evaluate ur5 --quantity operational_space_inertia --task-axes up", 2, "no further axis");
    must_fail("$ctl evaluate ur5", 2, "evaluate needs --quantity");
    must_fail("$ctl evaluate ur5 --quantity mass", 2, "there is no \"mass\"");
    must_fail("$ctl evaluate ur5 --quantity power,power", 1, "refused: --quantity[1]: ");
    must_fail("$ctl evaluate ur5 --quantity frame_twist --frame nose", 1, "refused: --frame[0]: ");
}
END_TEST

/* Checks that the tool of the robot does not fall with a constraint, and that the wrench of the constraint is shown. */
START_TEST(a_constrained_tip_holds_its_height) {
    char call[512];
    json_t *moved = run_json("$ctl fd ur5 --formulation vereshchagin --tip tool0:0,0,1=0 "
                             "--q 0.3,-1.2,1.4,-0.8,-1.5,0.4 --json");
    size_t used = (size_t)snprintf(call, sizeof call,
                                   "$ctl evaluate ur5 --quantity frame_acceleration --frame tool0 "
                                   "--q 0.3,-1.2,1.4,-0.8,-1.5,0.4 --json --a=");
    for (size_t i = 0; i < 6; i++) {
        double a = number_at(json_object_get(moved, "a"), i);
        used += (size_t)snprintf(call + used, sizeof call - used, "%s%.17g", i ? "," : "", a);
    }
    outcome fallen = shell("%s", call),
            blocks = shell("$ctl formulate ur5 --formulation vereshchagin --tip tool0:0,0,1=0 "
                           "--q 0.3,-1.2,1.4,-0.8,-1.5,0.4");
    const char *linear = strstr(fallen.output, "linear");
    double x[3];
    ck_assert_ptr_nonnull(linear);
    ck_assert_int_eq(sscanf(strchr(linear, '['), "[%lf,%lf,%lf", &x[0], &x[1], &x[2]), 3);
    ck_assert_double_eq_tol(x[2], 0, 1e-9);
    ck_assert_double_ge(fabs(x[0]) + fabs(x[1]), 0.1);
    ck_assert_ptr_nonnull(strstr(blocks.output, "\nnu  2 x 3  "));
    must_fail("$ctl fd ur5 --formulation vereshchagin --tip tool0:0,0,1", 2, "FRAME:LX,LY,LZ=X");
    must_fail("$ctl fd ur5 --formulation vereshchagin --tip hand:0,0,1=0", 1, "refused: --tip[0].frame");
    outcome_free(&fallen), outcome_free(&blocks);
    json_decref(moved);
}
END_TEST

START_TEST(formulate_takes_links_that_bend) {
    static const char call[] = "$ctl formulate two_link --formulation book_flexible --q 0.3,-0.5";
    outcome table = shell("%s --flexible link1:0,0,0,1,0,0,1,0,0,1,50,2 --mode-q 0.001,0", call);
    ck_assert_ptr_nonnull(strstr(table.output, "\nM  4 x 4  "));
    ck_assert_ptr_nonnull(strstr(table.output, "\na_free  4  "));
    outcome_free(&table);
    must_say("$ctl formulate two_link --formulation book_flexible --flexible link1:0,0,0,1,0,0,1,0,0,1,50,2 "
             "--tau 30,10 --mode-tau 1,2",
             "\na  4  ");
    must_fail("$ctl formulate two_link --formulation kane --tau 30,10", 2, "--tau needs --flexible");
    must_fail("$ctl formulate two_link --formulation book_flexible --flexible link1:1,2", 2, "12 or 13 numbers");
    must_fail("$ctl formulate two_link --formulation book_flexible --flexible link1:0,0,0,1,0,0,1,0,0,1,50,2 "
              "--mode-q 1",
              2, "one number for each of 2 modes");
    must_fail("$ctl formulate two_link --formulation book_flexible --flexible link1:0,0,0,1,0,0,1,0,0,1,-5,2", 1,
              "refused: --flexible[0].rigidity");
}
END_TEST

START_TEST(formulate_writes_the_blocks_of_a_formulation) {
    static const char call[] = "$ctl formulate two_link --formulation lagrange_euler --q 0.3,-0.5 --v 1,2 --a 3,4";
    json_t *found =
               run_json("$ctl formulate two_link --formulation lagrange_euler --q 0.3,-0.5 --v 1,2 --a 3,4 --json"),
           *tau = run_json("$ctl id two_link --q 0.3,-0.5 --v 1,2 --a 3,4 --json");
    json_t *block = json_array_get(json_object_get(found, "blocks"), 0);
    for (size_t i = 0; i < 2; i++) {
        double expected = number_at(json_object_get(tau, "tau"), i);
        ck_assert_double_eq_tol(number_at(json_object_get(found, "tau"), i), expected, 1e-12);
    }
    ck_assert_str_eq(json_string_value(json_object_get(block, "name")), "A");
    ck_assert_double_eq(number_at(json_object_get(block, "extents"), 1), 4);
    ck_assert_uint_eq(json_array_size(json_object_get(block, "values")), 32);
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(block, "axes"), 0)), "link");
    ck_assert_str_eq(json_string_value(json_object_get(block, "unit")), "1, m");
    outcome table = shell("%s", call), csv = shell("%s --csv", call);
    ck_assert_ptr_nonnull(strstr(table.output, "\nh_ikm  2 x 2 x 2  "));
    ck_assert_ptr_nonnull(strstr(table.output, "\n  coordinate x coordinate; unit kg m^2, kg m, kg\n  2.11: D_ik"));
    ck_assert_ptr_nonnull(strstr(table.output, "\n  [1][0]"));
    ck_assert_ptr_nonnull(strstr(csv.output, "h_ikm[1][0][1]"));
    outcome refused = shell("$ctl formulate two_link 2>&1");
    ck_assert_int_eq(refused.code, 2);
    ck_assert_ptr_nonnull(strstr(refused.output, "--formulation NAME"));
    outcome_free(&table), outcome_free(&csv), outcome_free(&refused);
    json_decref(found), json_decref(tau);
}
END_TEST

START_TEST(refusals_of_compare_follow_each_other) {
    outcome run = shell("$ctl compare quadruped");
    const char *first = strstr(run.output, " does not apply");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(strstr(first + 1, " does not apply"));
    ck_assert_ptr_null(strstr(first, "\n\n"));
    outcome_free(&run);
}
END_TEST

/* Checks that a comparison counts passive forces as id does, and that it writes the mass matrix of mass. */
START_TEST(compare_counts_passive_forces) {
    json_t *all = run_json("$ctl compare ur5 --state zero --v 1,2,3,4,5,6 --passive damping --json");
    json_t *id = run_json("$ctl id ur5 --state zero --v 1,2,3,4,5,6 --passive damping --json");
    json_t *mass = run_json("$ctl mass ur5 --state zero --json");
    const json_t *kernels = json_array_get(json_object_get(all, "formulations"), 0);
    ck_assert(json_equal(json_object_get(kernels, "tau"), json_object_get(id, "tau")));
    ck_assert(json_equal(json_object_get(kernels, "M"), json_object_get(mass, "mass_matrix")));
    json_decref(all), json_decref(id), json_decref(mass);
}
END_TEST

/* Returns the number in a column of the first row of CSV. */
static double csv_number(const char *csv, const char *column) {
    const char *at = csv, *row = strchr(csv, '\n');
    size_t length = strlen(column);
    ck_assert_ptr_nonnull(row);
    for (row++; strncmp(at, column, length) != 0 || (at[length] != ',' && at[length] != '\n'); at++, row++) {
        at += strcspn(at, ",\n"), row += strcspn(row, ",\n");
        ck_assert_msg(*at == ',' && *row == ',', "there is no column %s", column);
    }
    return strtod(row, NULL);
}

START_TEST(compare_writes_counts_and_results_as_csv) {
    static const char call[] = "$ctl compare two_link --q 0,1 --v 1,2 --a 3,4";
    outcome csv = shell("%s --csv", call);
    json_t *all = run_json("$ctl compare two_link --q 0,1 --v 1,2 --a 3,4 --json");
    const json_t *list = json_object_get(all, "formulations"), *row;
    size_t i;
    json_array_foreach(list, i, row) {
        const char *name = json_string_value(json_object_get(row, "name"));
        char column[128];
        if (json_object_get(row, "refusal")) {
            ck_assert_ptr_null(strstr(csv.output, name));
            continue;
        }
        const json_t *cost = json_object_get(row, "forward_dynamics");
        snprintf(column, sizeof column, "%s.forward_dynamics.multiplications", name);
        ck_assert_double_eq(csv_number(csv.output, column),
                            json_number_value(json_object_get(cost, "multiplications")));
        snprintf(column, sizeof column, "%s.a.joint2", name);
        ck_assert_double_eq(csv_number(csv.output, column), number_at(json_object_get(row, "a"), 1));
        snprintf(column, sizeof column, "%s.M.joint1.joint2", name);
        ck_assert_double_eq_tol(csv_number(csv.output, column), 1.5403023058681398, 1e-9);
    }
    json_decref(all), outcome_free(&csv);
}
END_TEST

START_TEST(explain_splits_the_torques_of_id) {
    json_t *all =
        run_json("$ctl explain ur5 --q 1,-1,2,0,1,0 --v 1,2,3,4,5,6 --a 6,5,4,3,2,1 --force tool0:1,2,3 --json");
    json_t *id = run_json("$ctl id ur5 --q 1,-1,2,0,1,0 --v 1,2,3,4,5,6 --a 6,5,4,3,2,1 --force tool0:1,2,3 --json");
    ck_assert(json_equal(json_object_get(all, "tau"), json_object_get(id, "tau")));
    const json_t *terms = json_object_get(all, "terms");
    for (size_t i = 0; i < 6; i++) {
        double sum = number_at(json_object_get(terms, "inertial"), i) +
                     number_at(json_object_get(terms, "coriolis"), i) +
                     number_at(json_object_get(terms, "gravity"), i) + number_at(json_object_get(terms, "external"), i);
        ck_assert_double_eq_tol(sum, number_at(json_object_get(id, "tau"), i), 1e-10);
    }
    json_decref(all);
    json_decref(id);
    outcome run = shell("$ctl explain ur5 --a 0,5,0,0,0,0");
    ck_assert_msg(run.code == 0, "%s", run.error);
    ck_assert_ptr_nonnull(strstr(run.output, "coriolis     gravity  external   tau [N m]\nshoulder_pan_joint "));
    ck_assert_ptr_nonnull(strstr(run.output, "Links that contribute most"));
    outcome_free(&run);
}
END_TEST

/* Checks the mass matrix of Modern Robotics, section 8.1: M = [3 1; 1 1] at theta2 = 90 degrees. */
START_TEST(published_mass_matrix_comes_out) {
    json_t *mass = run_json("$ctl mass two_link --q 0.4,1.5707963267948966 --json");
    const json_t *rows = json_object_get(mass, "mass_matrix");
    static const double expected[2][2] = {{3, 1}, {1, 1}};
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < 2; k++) {
            ck_assert_double_eq_tol(number_at(json_array_get(rows, i), k), expected[i][k], 1e-12);
        }
    }
    json_decref(mass);
}
END_TEST

START_TEST(every_quantity_has_its_key) {
    static const struct {
        const char *command, *key;
    } quantities[] = {{"id", "tau"},          {"fd", "a"},        {"mass", "mass_matrix"}, {"gravity", "g"},
                      {"bias", "h"},          {"fk", "position"}, {"fk", "quaternion"},    {"jacobian", "linear"},
                      {"jacobian", "angular"}};
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        char line[256];
        snprintf(line, sizeof line, "$ctl %s ur5 --state zero --json", quantities[i].command);
        json_t *result = run_json(line);
        ck_assert_msg(json_is_array(json_object_get(result, quantities[i].key)), "%s", line);
        json_decref(result);
        snprintf(line, sizeof line, "$ctl %s ur5", quantities[i].command);
        outcome run = shell("%s", line);
        ck_assert_int_eq(run.code, 0);
        ck_assert_ptr_nonnull(strstr(run.output, "home configuration"));
        outcome_free(&run);
    }
}
END_TEST

START_TEST(numbers_survive_the_round_trip) {
    json_t *forces = run_json("$ctl id ur5 --q 0.1,0.2,0.3,0.4,0.5,0.6 --v 1,2,3,4,5,6 --a 6,5,4,3,2,1 --json");
    const json_t *tau = json_object_get(forces, "tau");
    char line[1024];
    snprintf(line, sizeof line,
             "$ctl fd ur5 --q 0.1,0.2,0.3,0.4,0.5,0.6 --v 1,2,3,4,5,6 --tau %.17g,%.17g,%.17g,%.17g,%.17g,%.17g --json",
             number_at(tau, 0), number_at(tau, 1), number_at(tau, 2), number_at(tau, 3), number_at(tau, 4),
             number_at(tau, 5));
    json_decref(forces);
    json_t *motion = run_json(line);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_double_eq_tol(number_at(json_object_get(motion, "a"), i), 6.0 - (double)i, 1e-9);
    }
    json_decref(motion);
}
END_TEST

START_TEST(joints_have_the_requested_order) {
    json_t *usual = run_json("$ctl gravity two_link --q 0.3,0.5 --json");
    json_t *names = run_json("$ctl describe two_link --json");
    const json_t *joints = json_object_get(names, "joints");
    char line[512];
    snprintf(line, sizeof line, "$ctl gravity two_link --joints %s,%s --q 0.5,0.3 --json",
             json_string_value(json_object_get(json_array_get(joints, 1), "name")),
             json_string_value(json_object_get(json_array_get(joints, 0), "name")));
    json_t *swapped = run_json(line);
    const json_t *g = json_object_get(usual, "g"), *reversed = json_object_get(swapped, "g");
    ck_assert_double_eq(number_at(g, 0), number_at(reversed, 1));
    ck_assert_double_eq(number_at(g, 1), number_at(reversed, 0));
    json_decref(usual);
    json_decref(names);
    json_decref(swapped);
    must_fail("$ctl gravity two_link --joints nobody,noone", 2, "no moving joint \"nobody\"");
}
END_TEST

START_TEST(forces_on_a_link_enter_with_their_sign) {
    /* 1 N upwards on the tool, 0.81725 m away from the first axis along -x, in world axes. */
    json_t *without = run_json("$ctl id ur5 --state zero --json");
    json_t *with =
        run_json("$ctl id ur5 --state zero --force tool0:0,1,0 --force-reference-frame local_world_aligned --json");
    double arm = number_at(json_object_get(with, "tau"), 0) - number_at(json_object_get(without, "tau"), 0);
    json_t *pose = run_json("$ctl fk ur5 --frame tool0 --state zero --json");
    ck_assert_double_eq_tol(arm, -number_at(json_object_get(pose, "position"), 0), 1e-12);
    json_decref(without);
    json_decref(with);
    json_decref(pose);
    must_fail("$ctl id ur5 --force tool0:1,2", 2, "pass LINK:FX,FY,FZ");
    must_fail("$ctl id ur5 --force nothing:1,2,3", 1, "NOT_FOUND");
}
END_TEST

START_TEST(call_accepts_methods_in_both_spellings) {
    json_t *one = run_json("$ctl call InverseDynamics '{\"query\": {\"model\": \"two_link\"}, \"q\": [0, 0]}'");
    json_t *other = run_json("echo '"
                             "{\"query\": {\"model\": \"two_link\"}, \"q\": [0, 0]}' | $ctl call inverse_dynamics -");
    ck_assert(json_equal(one, other));
    ck_assert_int_eq(json_integer_value(json_object_get(one, "samples")), 1);
    json_decref(one);
    json_decref(other);
    json_t *poses = run_json("$ctl call Kinematics '{\"query\": {\"model\": \"two_link\"}, \"q\": [0, 0], "
                             "\"frames\": [\"world\"], \"reference_frame\": \"REFERENCE_FRAME_WORLD\"}'");
    ck_assert_str_eq(json_string_value(json_object_get(poses, "reference_frame")), "REFERENCE_FRAME_WORLD");
    json_decref(poses);
    must_fail("$ctl call Dance", 2, "there is no method \"Dance\"");
    must_fail("$ctl call Gravity '{\"speed\": 1}'", 2, "has no field \"speed\"");
    must_fail("$ctl call Gravity '{\"q\": [1, \"x\"]}'", 2, "q[1]: \"x\" is not a number");
    must_fail("$ctl call Kinematics '{\"reference_frame\": \"TOOL\"}'", 2, "\"LOCAL\"");
    must_fail("$ctl call Gravity '{\"query\": {\"model\": \"two_link\"}, \"q\": [1]}'", 1, "refused: gravity.q: ");
    must_fail("$ctl call Gravity '{'", 2, "not JSON: line 1");
}
END_TEST

/* ---- models from other forms ------------------------------------------------------------------------------------- */

/* Checks that exported models load again in every form, and that load refuses wrong tables, screws and options. */
START_TEST(exported_models_load_again) {
    char line[512];
    const char *path = scratch("exported.json");
    snprintf(line, sizeof line, "$ctl export ur5 >%s && $ctl load --description %s", path, path);
    must_say(line, "ur5: was loaded already, 8 links");
    snprintf(line, sizeof line, "$ctl export ur5 --format urdf >%s && $ctl load %s", path, path);
    must_say(line, "ur5: was loaded already, 8 links");
    snprintf(line, sizeof line, "$ctl export ur5 --format screws >%s && $ctl load --screws %s --name screwed", path,
             path);
    must_say(line, "screwed: loaded, 14 links, 6 moving joints");
    must_say(
        "$ctl load --dh '{\"name\": \"reacher\", \"convention\": \"modified\", \"rows\": [{\"type\": \"revolute\"}, "
        "{\"type\": \"PRISMATIC\", \"a\": 1, \"inertia\": {\"mass\": 3}}]}'",
        "reacher: loaded, 3 links, 2 moving joints, nq = 2, nv = 2, 3 kg");
    must_say("$ctl export ur5 --format screws | $ctl load - --name screwed_too", "screwed_too: loaded");
    must_say(
        "echo '{\"name\": \"long\", \"mlist\": [1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1,1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1], "
        "\"glist\": [1,0,0,0,0,0, 0,1,0,0,0,0, 0,0,1,0,0,0, 0,0,0,1,0,0, 0,0,0,0,1,0, 0,0,0,0,0,1], "
        "\"slist\": [0,0,3,0,0,0]}' | $ctl load - && $ctl export long --format urdf | $ctl load - --name longer && "
        "$ctl mass longer --q 0 --csv",
        "1,9\n");
    must_say("$ctl export longer --format screws", "\"slist\": [0, 0, 3, 0, 0, 0]");
    must_fail("echo '{\"name\": \"r\"}' | $ctl load -", 2, "- has none of the members links, rows and slist");
    must_fail("echo '{\"rows\": [{\"alpha\": 1}]}' | $ctl load -", 1, "refused: -:1: convention: ");
    must_fail("$ctl load", 2, "load needs one of");
    must_fail("$ctl load robot.urdf --dh table.json", 2, "load needs one of");
    must_fail("$ctl load --screws /nonexistent", 2, "/nonexistent cannot be read");
    must_fail("$ctl load --dh '{\"rows\": [{\"alpha\": \"x\"}]}'", 2, "denavit_hartenberg.rows[0].alpha: ");
    must_fail("$ctl load --dh '{\"name\": \"r\", \"convention\": \"standard\", \"rows\": [{\"type\": \"planar\"}]}'", 1,
              "refused: --dh: rows[0].type: ");
    must_fail("$ctl export nothing", 1, "refused: there is no model \"nothing\"");
    must_fail("$ctl export ur5 --format yaml", 2, "--format yaml: pass description|urdf|screws");
}
END_TEST

START_TEST(models_are_derived) {
    must_say("$ctl derive ur5 attach:tool0,gripper,1.25,0,0,0.06 --name ur5_gripper", "ur5_gripper: derived, 9 links");
    must_say("$ctl derive ur5_gripper detach:gripper lock:elbow_joint --q 0,0,1,0,0,0 --name short", "nv = 5");
    must_say("$ctl derive two_link merge:two_link,tip,second_ --name four_link", "4 moving joints");
    must_say("$ctl derive four_link chain:tip,base base:base,floating --name turned", "floating base");
    must_say("$ctl derive ur5 --operations '[{\"subtree\": {\"link\": \"forearm_link\"}}]' --name forearm",
             "moving joints");
    must_fail("$ctl derive ur5 attach:tool0,gripper --name x", 2, "pass attach:LINK,NAME,MASS");
    must_fail("$ctl derive ur5 jump:tool0 --name x", 2, "there is no operation \"jump\"");
    must_fail("$ctl derive ur5 detach --name x", 2, "\"detach\" is no operation");
    must_fail("$ctl derive ur5 detach:tool0", 2, "derive needs --name");
    must_fail("$ctl derive ur5 --name x", 2, "derive needs an operation");
    must_fail("$ctl derive ur5 lock:elbow_joint --q 0,0,x,0,0,0 --name x", 2,
              "--q: value 2, \"x\", is not a finite number");
    must_fail("$ctl derive ur5 detach:nowhere --name x", 1, "refused: operations[0].detach.link: ");
    must_fail("$ctl derive ur5 --operations '[{\"detach\": {\"link\": 3}}]' --name x", 2,
              "operations[0].detach.link: ");
}
END_TEST

START_TEST(a_job_prints_the_output_of_a_request) {
    const char *const commands[] = {"id ur5 --state zero", "evaluate two_link --q 0,1 --quantity mass_matrix --json",
                                    "jacobian ur5 --json", "rollout two_link --q 0,1 --duration 0.5 --json",
                                    "configuration two_link random --count 2"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        outcome request = shell("$ctl %s", commands[i]), job = shell("$ctl %s --job", commands[i]);
        ck_assert_msg(job.code == 0, "%s --job: %s", commands[i], job.error);
        ck_assert_str_eq(job.output, request.output);
        ck_assert_uint_gt(strlen(job.output), 0);
        outcome_free(&request);
        outcome_free(&job);
    }
    must_fail("$ctl describe ur5 --job", 2, "describe does not take --job");
    must_fail("$ctl id nobody --job", 1, "there is no model \"nobody\"");
    must_say("$ctl jobs", "no jobs");
}
END_TEST

START_TEST(jobs_are_listed_shown_fetched_and_cancelled) {
    json_t *started =
        run_json("$ctl call start_job '{\"job\": \"g\", \"gravity\": {\"query\": {\"model\": \"two_link\"}, "
                 "\"q\": [0, 0]}}'");
    long long token = json_integer_value(json_object_get(started, "token"));
    json_decref(started);
    must_say("shown 'jobs show g' done && $ctl jobs", "gravity");
    must_say("$ctl jobs list --json", "\"result_bytes\"");
    char line[128];
    snprintf(line, sizeof line, "$ctl jobs result g --token %lld", token);
    json_t *result = run_json(line);
    const json_t *forces = json_object_get(json_object_get(result, "gravity"), "g");
    ck_assert_double_eq_tol(number_at(forces, 0), 29.43, 1e-12);
    json_decref(result);
    must_fail("$ctl jobs cancel g --token 1", 1, "WRONG_TOKEN");
    must_fail("$ctl jobs result g --token x", 2, "--token");
    must_say("$ctl jobs result g", "\"gravity\"");
    must_fail("$ctl jobs show", 2, "needs the name of a job");
    must_fail("$ctl jobs stop g", 2, "list, show, cancel and result");
    snprintf(line, sizeof line, "$ctl jobs cancel g --token %lld", token);
    must_say(line, "g: cancelled");
    must_fail("$ctl jobs show g", 1, "JOB_NOT_FOUND");
}
END_TEST

START_TEST(payloads_are_read_from_the_command_line) {
    json_t *bare = run_json("$ctl gravity two_link --q 0,0 --json"), *g = json_object_get(bare, "g");
    json_t *loaded = run_json("$ctl gravity two_link --q 0,0 --payload tip:2 --payload link1:1,0.5,0,0 --json");
    json_t *of_loaded = json_object_get(loaded, "g");
    ck_assert_double_eq_tol(number_at(of_loaded, 0) - number_at(g, 0), 9.81 * (2 * 2 + 0.5), 1e-12);
    ck_assert_double_eq_tol(number_at(of_loaded, 1) - number_at(g, 1), 9.81 * 2, 1e-12);
    json_decref(bare);
    json_decref(loaded);
    must_say("$ctl explain two_link --q 0,0.3 --payload tip:2", "payload on tip");
    must_fail("$ctl id two_link --payload tip", 2, "pass LINK:MASS in kg");
    must_fail("$ctl id two_link --payload nowhere:2", 1, "refused: --payload[0].link: ");
    must_fail("$ctl fk two_link --payload tip:2", 2, "fk does not take --payload");
}
END_TEST

START_TEST(precision_is_read_from_the_command_line) {
    json_t *in_double = run_json("$ctl gravity ur5 --q 0.1,-1.2,1.4,0.3,0.2,0 --json");
    json_t *in_single = run_json("$ctl gravity ur5 --q 0.1,-1.2,1.4,0.3,0.2,0 --precision single --json");
    double x = number_at(json_object_get(in_double, "g"), 1), y = number_at(json_object_get(in_single, "g"), 1);
    ck_assert_double_ne(x, y);
    ck_assert_double_eq_tol(x, y, 1e-4);
    json_decref(in_double);
    json_decref(in_single);
    must_fail("$ctl gravity two_link --precision half", 2, "--precision half");
    must_fail("$ctl rollout two_link --precision single", 2, "rollout does not take --precision");
    must_fail("$ctl gravity two_link --q 1e39,0 --precision single", 1, "beyond single precision");
}
END_TEST

START_TEST(inertias_are_computed) {
    json_t *box = run_json("$ctl inertia box 0.1,0.2,0.3 --mass 12 --about 1,0,0 --json");
    ck_assert_double_eq_tol(number_at(json_object_get(box, "principal_moments"), 0), 0.05, 1e-15);
    ck_assert_double_eq_tol(number_at(json_object_get(box, "rotational_about"), 5), 12.05, 1e-13);
    json_decref(box);
    must_say("$ctl inertia sphere 0.1 --density 1000", "mass            4.1887902");
    must_say("$ctl inertia parts '[{\"inertia\": {\"mass\": 1, \"rotational\": [1, 0, 0, 1, 0, 5]}}]'",
             "No body has this inertia: the principal moment 5 kg m^2");
    must_fail("$ctl inertia box 1,2 --mass 1", 2, "box: 2 values, but 3 are needed");
    must_fail("$ctl inertia cone 1,2 --mass 1", 2, "there is no shape \"cone\"");
    must_fail("$ctl inertia sphere 1", 1, "refused: parts[0].amount: ");
    must_fail("$ctl inertia mesh /nonexistent --mass 1", 2, "/nonexistent cannot be read");
    must_fail("$ctl inertia mesh /dev/null --mass 1", 1, "refused: parts[0].mesh.stl: ");
}
END_TEST

START_TEST(base_parameters_are_named) {
    json_t *found = run_json("$ctl base-parameters two_link --json");
    ck_assert_uint_eq(json_array_size(json_object_get(found, "bodies")), 2);
    ck_assert_uint_eq(json_array_size(json_object_get(found, "values")), 20);
    json_decref(found);
    must_say("$ctl base-parameters ur5", "36 base parameters of ur5, of 60 inertial parameters");
    must_say("$ctl base-parameters two_link", "     6  link1.Iyy  2.000000 kg m^2  + link2.m\n");
    /* A linear combination that spans several lines is complete. */
    must_say("$ctl base-parameters ur5 | sed -n 4,6p | tail -n 1", " + 0.346399 wrist_3_link.m\n");
    must_fail("$ctl base-parameters ur5 --gravity 1", 2, "pass X,Y,Z in m/s^2");
    must_fail("$ctl base-parameters nothing", 1, "refused: there is no model \"nothing\"");
}
END_TEST

START_TEST(configurations_are_computed) {
    json_t *middle = run_json("$ctl configuration two_link interpolate --q 0,1 --to 1,2 --s 0.25 --json");
    ck_assert_double_eq_tol(number_at(json_object_get(middle, "q"), 0), 0.25, 1e-15);
    ck_assert_double_eq_tol(number_at(json_object_get(middle, "q"), 1), 1.25, 1e-15);
    json_decref(middle);
    json_t *moved = run_json("$ctl configuration two_link integrate --q 0,1 --v 1,2 --step-length 0.5 --json");
    ck_assert_double_eq_tol(number_at(json_object_get(moved, "q"), 1), 2, 1e-15);
    json_decref(moved);
    json_t *distance = run_json("$ctl configuration two_link distance --q 0,1 --to 3,5 --json");
    ck_assert_double_eq_tol(json_number_value(json_object_get(distance, "distance")), 5, 1e-14);
    json_decref(distance);
    json_t *one = run_json("$ctl configuration ur5 random --seed 3 --json");
    json_t *same = run_json("$ctl configuration ur5 random --seed 3 --json");
    ck_assert(json_equal(one, same));
    json_decref(one);
    json_decref(same);
    must_say("$ctl configuration ur5 random", "Random configuration of ur5\n");
    must_fail("$ctl configuration ur5 dance", 2, "there is no operation \"dance\"");
    must_fail("$ctl configuration ur5 distance", 2, "distance needs --to");
    must_fail("$ctl configuration ur5 distance --to 1", 2, "--to: 1 values, but 6 are needed");
    must_fail("$ctl configuration ur5 random --seed x", 2, "--seed x");
    must_fail("$ctl configuration ur5 random --count 0", 2, "--count 0: pass a whole number from 1");
    must_fail("$ctl configuration ur5 neutral --count 2", 2, "neutral does not take --count");
    must_say("$ctl configuration ur5 random --count 3 --json | wc -l", "3");
    must_say("[ \"$($ctl configuration ur5 random --count 9 --seed 3 --json | head -n 1)\" = "
             "\"$($ctl configuration ur5 random --seed 3 --json)\" ] && echo same",
             "same");
}
END_TEST

/* Reads at most `most` numbers from the last line of a CSV text; returns their number. */
static size_t last_row(const char *csv, size_t most, double *values) {
    const char *at = csv, *end = strrchr(csv, '\n');
    size_t count = 0;
    ck_assert_ptr_nonnull(end);
    for (const char *c = csv; c < end; c++) {
        at = *c == '\n' ? c + 1 : at;
    }
    for (char *next; count < most && at < end; at = *next == ',' ? next + 1 : end) {
        values[count++] = strtod(at, &next);
    }
    return count;
}

START_TEST(rollouts_and_trajectories_fit_each_other) {
    /* The arm moves from 0 to 1 rad in rows 0.01 s apart. The forces of this motion, as the input of forward dynamics,
     * move the arm along it. */
    FILE *file = fopen(scratch("motion.csv"), "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "q.joint1,q.joint2\n");
    for (int i = 0; i <= 100; i++) {
        double t = i / 100.0, s = t * t * t * (10 + t * (-15 + 6 * t));
        fprintf(file, "%.17g,%.17g\n", s, -s);
    }
    fclose(file);
    outcome run =
        shell("$ctl trajectory two_link inverse --states %s --step-length 0.01 --rates quintic_at_rest --csv >%s",
              scratch("motion.csv"), scratch("torques.csv"));
    ck_assert_msg(run.code == 0, "%s", run.error);
    outcome_free(&run);
    run = shell("$ctl trajectory two_link forward --states %s --step-length 0.01 --substeps 50 --csv",
                scratch("torques.csv"));
    ck_assert_msg(run.code == 0, "%s", run.error);
    double values[8];
    ck_assert_uint_eq(last_row(run.output, 8, values), 8);
    ck_assert_double_eq_tol(values[2], 1, 0.1);
    ck_assert_double_eq_tol(values[3], -1, 0.1);
    outcome_free(&run);
    /* JSON has a row for each state and stride; a table has the same end. */
    write_file(scratch("starts.csv"), "q0,q1\n0,1\n1,2\n");
    run = shell("$ctl rollout two_link --states %s --duration 0.1 --stride 50 --csv", scratch("starts.csv"));
    ck_assert_msg(run.code == 0, "%s", run.error);
    size_t lines = 0;
    for (const char *c = run.output; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    ck_assert_uint_eq(lines, 1 + 2 * 3);
    outcome_free(&run);
    run = shell("$ctl rollout ur5 --accurate --ideal --duration 0.5");
    ck_assert_msg(run.code == 0 && strstr(run.output, "wrist_3_joint") != NULL, "%s", run.error);
    outcome_free(&run);
    must_fail("$ctl rollout ur5 --duration 0", 2, "--duration 0");
    /* One gain for all joints, a gain for each, and gains by name are equal here; other gains yield another motion. */
    static const char *const gains[] = {
        "--kp 50 --kd 10,elbow_joint=4", "--kp 50,50,50,50,50,50 --kd 10,10,4,10,10,10",
        ("--kp 50 --kd 4,10,10,10,10,10 --joints elbow_joint,shoulder_pan_joint,shoulder_lift_joint,wrist_1_joint,"
         "wrist_2_joint,wrist_3_joint"),
        "--kp 50 --kd 10"};
    double ends[4][14];
    for (int k = 0; k < 4; k++) {
        run = shell("$ctl rollout ur5 --state zero --control pd %s --duration 0.2 --stride 200 --csv", gains[k]);
        ck_assert_msg(run.code == 0, "%s", run.error);
        ck_assert_uint_ge(last_row(run.output, 14, ends[k]), 8);
        outcome_free(&run);
    }
    ck_assert_double_eq(ends[0][2], ends[1][2]);
    ck_assert_double_eq(ends[0][4], ends[1][4]);
    ck_assert_double_eq(ends[0][4], ends[2][2]);
    ck_assert_double_ne(ends[0][4], ends[3][4]);
    must_fail("$ctl rollout ur5 --control pd --kp 1,2", 2, "2 gains; pass one for all joints, nv = 6 of them");
    must_fail("$ctl rollout ur5 --control pd --kd knee=2", 2, "--kd: ur5 has no moving joint \"knee\"");
    must_fail("$ctl rollout ur5 --control pd --kp elbow_joint=-2", 2, "\"-2\" is not a number that is not less than 0");
    must_fail("$ctl simulate ur5 --control pd --kp 1,x", 2, "\"x\" is not a number");
    must_fail("$ctl rollout ur5 --to 0,0,0,0,0,0", 2, "--control");
    must_fail("$ctl rollout ur5 --accurate --control pd", 1, "refused: --accurate: ");
    must_fail("$ctl rollout ur5 --duration 1e6 --timeout 2", 4, "set a longer timeout, or request less");
    must_fail("$ctl trajectory ur5 sideways", 2, "inverse or forward");
}
END_TEST

/* Checks the description and the rows of recordings: of run1, 500 steps of a UR5, and of a stream. */
static void check_described_and_exported(void) {
    must_say("$ctl recordings --describe run1 --json", "\"kind\": \"simulation\", \"model\": \"ur5\"");
    must_say("$ctl recordings --describe run1 --json", "\"states\": 500, \"inputs\": 0, \"jumps\": 0, \"points\": 0");
    must_say("$ctl recordings --describe run1 --json", "\"last_time\": 0.5, \"is_complete\": true");
    /* The export has the rows of a replay, and before them the state of the start. */
    must_say("own=$(mktemp); $ctl recordings --fetch run1 --csv | sed 2d >$own; $ctl replay run1 --csv | cmp - $own && "
             "echo same; rm $own",
             "same");
    must_say("$ctl recordings --fetch run1 --csv | sed -n 2p", "0,0,");
    must_say("$ctl recordings --fetch run1 --csv | $ctl id ur5 --states - --json | wc -l", "501");
    must_fail("$ctl recordings --describe none", 1, "dynamicsctl recordings tells which");
    must_fail("$ctl recordings --fetch run1 --json", 2, "leave --json out");
    must_say("printf 'q0,q1\n0,0.5\n0,1\n' | $ctl stream two_link --states - --record dots --csv >/dev/null;"
             "$ctl recordings --fetch dots --csv",
             "step,time,q.joint1,q.joint2,");
    must_say("$ctl recordings --describe dots --json", "\"kind\": \"stream\"");
    must_say("$ctl recordings --describe dots --json", "\"points\": 2,");
    must_say("$ctl recordings --delete dots", "dots: deleted");
}

/* Checks that a recording is replaced only when the user asks for it. */
START_TEST(a_recording_is_replaced_on_request) {
    must_say("$ctl simulate two_link --duration 0.01 --record again", "10 steps");
    must_fail("$ctl simulate two_link --duration 0.02 --record again", 1,
              "there is a recording \"again\" already; choose another name, or add --replace (ALREADY_EXISTS");
    must_say("$ctl recordings --describe again --json", "\"states\": 10,");
    must_say("$ctl simulate two_link --duration 0.02 --record again --replace", "20 steps");
    must_say("$ctl recordings --describe again --json", "\"states\": 20,");
    must_say("$ctl simulate two_link --duration 0.01 --record fresh --replace", "10 steps");
    must_fail("$ctl simulate two_link --duration 0.01 --replace", 2, "add --record NAME");
    must_say("$ctl recordings --delete again && $ctl recordings --delete fresh", "fresh: deleted");
}
END_TEST

START_TEST(simulated_motions_are_replayed_and_streamed_back) {
    outcome run = shell("$ctl simulate ur5 --duration 0.5 --frequency 100 --disturbance 0.1 --seed 3 --record run1 "
                        "--csv >%s; $ctl replay run1; $ctl replay run1 --stride 10 --csv | cmp - %s",
                        scratch("motion.csv"), scratch("motion.csv"));
    ck_assert_msg(run.code == 0, "%s", run.error);
    ck_assert_str_eq(run.output, "run1: ur5, 500 steps of 0.001 s, 500 came out with the same bits\n");
    outcome_free(&run);
    /* The output of a motion is accepted as input: as states, and as a stream. Both compute equal torques. */
    run = shell("$ctl id ur5 --states %s --json | tail -n 1; $ctl stream ur5 --states %s --json | tail -n 1",
                scratch("motion.csv"), scratch("motion.csv"));
    ck_assert_int_eq(run.code, 0);
    char *first = strstr(run.output, "[");
    char *second = first ? strstr(first + 1, "[") : NULL;
    ck_assert_ptr_nonnull(second);
    ck_assert_mem_eq(first, second, strcspn(first, "]"));
    outcome_free(&run);
    must_fail("$ctl replay run2", 1, "refused: /");
    must_say("$ctl recordings", "run1");
    must_say("$ctl recordings --json", "\"name\": \"run1\"");
    must_say("$ctl recordings --fetch run1", "dynamics.v1.simulation");
    must_fail("$ctl recordings --fetch run1 --delete run1", 2, "pass one of them");
    check_described_and_exported();
    must_say("$ctl recordings --delete run1", "run1: deleted");
    must_fail("$ctl recordings --delete run1", 1, "dynamicsctl recordings tells which recordings there are");
    must_say("$ctl recordings", "no recordings");
    /* A recording is compared without its model, but its states are shown only while the model exists. */
    must_say("$ctl derive two_link inertia:link2,0.5,0.2,0,0,0.01,0,0,0.01,0,0.01 --name passing", "nv = 2");
    must_say("$ctl simulate passing --duration 0.1 --record passing", "100 steps of 0.001 s");
    must_say("$ctl unload passing", "unloaded");
    must_say("$ctl replay passing", "100 steps of 0.001 s, 100 came out with the same bits");
    must_fail("$ctl replay passing --csv", 1, "there is no model");
    must_fail("$ctl simulate ur5 --step-length -1", 2, "--step-length -1");
    must_fail("$ctl simulate ur5 --force tool0:1,2", 2, "pass LINK:FX,FY,FZ");
    must_fail("$ctl simulate ur5 --force tool:1,2,3", 1, "refused: --force[0].link: ");
    must_fail("$ctl simulate ur5 --integrator euler", 2, "semi_implicit_euler|explicit_euler|rk4");
    must_fail("$ctl simulate ur5 --csv --plot", 2, "one of");
    must_fail("$ctl record arm run3", 2, "--token");
    must_fail("$ctl watch nobody", 1, "no simulation \"nobody\"");
    /* A push on a link changes the robot's motion, and the recorded run replays to the same end. */
    run = shell("$ctl simulate two_link --duration 0.1 --force link2:0,0,5 --force-reference-frame local_world_aligned "
                "--record pushed "
                "--json | tail -n 1; $ctl simulate two_link --duration 0.1 --json | tail -n 1; $ctl replay pushed");
    ck_assert_msg(run.code == 0, "%s", run.error);
    first = strstr(run.output, "\n");
    ck_assert_ptr_nonnull(first);
    ck_assert_msg(strncmp(run.output, first + 1, (size_t)(first - run.output)) != 0, "the force has no effect");
    ck_assert_msg(strstr(first, "100 steps of 0.001 s, 100 came out with the same bits") != NULL, "%s", run.output);
    outcome_free(&run);
}
END_TEST

/* Checks that the token that simulate prints is accepted by record and stream, and that the streamed forces act. */
START_TEST(token_records_and_drives_a_simulation) {
    outcome run = shell(
        "run=%s; $ctl simulate two_link --name driven --rate 1 --duration 60 --csv >$run.csv 2>$run.log & maker=$!\n"
        "shown simulations 'driven .* running'; token=$(sed -n 's/.*token \\([0-9]*\\),.*/\\1/p' $run.log)\n"
        "for i in $(seq 500); do echo '{\"q\": [0, 0], \"tau\": [12, 3]}'; done >$run.in\n"
        "$ctl record driven run4 --token $token --duration 0.3 && echo $token >$run.token && $ctl stream driven "
        "--token @$run.token --states $run.in\n"
        "$ctl stream two_link --states $run.in --record points\n"
        "for try in $(seq 1000); do grep -q ',12,3$' $run.csv && break; sleep 0.02; done\n"
        "kill -INT $maker; wait $maker; $ctl replay run4",
        scratch("driven"));
    ck_assert_msg(run.code == 0, "%s", run.error);
    ck_assert_ptr_nonnull(strstr(run.output, "simulation input  driven"));
    ck_assert_msg(strstr(run.output, "record  two_link       500 ") != NULL, "%s", run.output);
    ck_assert_ptr_nonnull(strstr(run.output, "came out with the same bits"));
    outcome_free(&run);
    char *motion = read_whole(scratch("driven.csv"));
    ck_assert_msg(strstr(motion, ",12,3\n") != NULL, "the streamed forces do not act");
    free(motion);
    must_fail("$ctl stream nobody --token 1 --q 0,0", 1, "no simulation \"nobody\"");
    must_fail("$ctl stream two_link --token x --q 0,0", 2, "--token");
    must_fail("$ctl stream two_link --token -5 --q 0,0", 2, "--token");
    must_fail("$ctl stream two_link --token 18446744073709551616 --q 0,0", 2, "--token");
    must_fail("$ctl rollout two_link --q 0,0 --stride -5", 2, "--stride");
    must_fail("$ctl stream two_link --token @/dev/null --q 0,0", 2, "--token");
    must_fail("$ctl stream two_link --token @/nowhere --q 0,0", 2, "/nowhere");
}
END_TEST

/* Checks that no line of a plot, without its control sequences, has more than `columns` bytes. */
static void require_width(const char *text, size_t columns) {
    size_t width = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\033') {
            at += strcspn(at, "AJHKm");
        } else if (*at == '\n' || *at == '\r') {
            width = 0;
        } else {
            ck_assert_msg(++width <= columns, "more than %zu columns: %s", columns, text);
        }
    }
}

START_TEST(plot_shows_the_whole_run_in_simulated_time) {
    const struct {
        const char *command, *title;
    } cases[] = {
        {"rollout ur5 --state zero --duration 2 --plot", "q, 0.000 s to 2.000 s"},
        {"rollout ur5 --state zero --duration 2 --plot tau", "tau, 0.000 s to 2.000 s"},
        {"simulate ur5 --duration 1 --plot=v", "v, 0.010 s to 1.000 s"},
        {"trajectory two_link inverse --q 0,0 --plot", "tau, 0.000 s to 0.000 s"},
        {"trajectory two_link inverse --q 0,0 --rates given --plot a", "a, 0.000 s to 0.000 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        outcome run = shell("LC_ALL=C $ctl %s", cases[i].command);
        ck_assert_msg(run.code == 0, "%s: %s", cases[i].command, run.error);
        ck_assert_msg(strncmp(run.output, cases[i].title, strlen(cases[i].title)) == 0, "%s", run.output);
        require_width(run.output, 80);
        outcome_free(&run);
    }
    must_fail("$ctl rollout ur5 --plot a", 2, "no a in these rows");
    must_fail("$ctl rollout ur5 --plot=x", 2, "--plot x");
}
END_TEST

START_TEST(plot_fits_a_small_terminal) {
    outcome run =
        shell("LC_ALL=C script -qec \"stty cols 60 rows 6; $ctl rollout ur5 --state zero --duration 2 --plot\" "
              "/dev/null </dev/null");
    ck_assert_msg(run.code == 0, "%s", run.error);
    require_width(run.output, 60);
    ck_assert_msg(strstr(run.output, "(3 more)") != NULL, "%s", run.output);
    ck_assert_msg(strstr(run.output, "q, 0.000 s to 2.000 s") != NULL, "%s", run.output);
    outcome_free(&run);
}
END_TEST

START_TEST(watch_reports_frequency_age_and_loss) {
    outcome run = shell("$ctl simulate ur5 --rate 1 --duration 60 --name seen --plot >%s & maker=$!\n"
                        "shown simulations 'seen .* running'; $ctl simulations; $ctl watch seen --duration 1.3 --csv | "
                        "wc -l; kill -INT $maker; wait $maker",
                        scratch("plot"));
    ck_assert_msg(run.code == 0, "%s", run.error);
    ck_assert_ptr_nonnull(strstr(run.output, "seen        ur5    running"));
    ck_assert_ptr_nonnull(strstr(run.error, " Hz, "));
    ck_assert_ptr_nonnull(strstr(run.error, " messages/s, age "));
    ck_assert_ptr_nonnull(strstr(run.error, "lost "));
    outcome_free(&run);
    char *plot = read_whole(scratch("plot"));
    ck_assert_ptr_nonnull(strstr(plot, "shoulder_pan_joint"));
    free(plot);
}
END_TEST

START_TEST(watch_shows_several_simulations) {
    outcome run = shell("$ctl simulate ur5 --rate 1 --duration 60 --name arm-1 >/dev/null & one=$!\n"
                        "$ctl simulate two_link --rate 1 --duration 60 --name arm-2 >/dev/null & two=$!\n"
                        "shown simulations 'arm-1 .* running'; shown simulations 'arm-2 .* running'\n"
                        "$ctl watch 'arm-*' --json --duration 1.3 | sed 's/,.*//' | sort | uniq; "
                        "kill -INT $one $two; wait $one $two");
    ck_assert_msg(run.code == 0, "%s", run.error);
    ck_assert_str_eq(run.output, "{\"simulation\": \"arm-1\"\n{\"simulation\": \"arm-2\"\n");
    ck_assert_ptr_nonnull(strstr(run.error, "arm-*: "));
    outcome_free(&run);
    must_fail("$ctl watch 'arm-*' --csv", 2, "pass --json");
}
END_TEST

/* Checks that the help announces one JSON value for each state where a command has a result for each state, and not
 * where it writes rows of a motion. */
START_TEST(help_announces_the_json_that_follows) {
    outcome run = shell("for c in id evaluate configuration rollout trajectory stream simulate; do "
                        "$ctl $c --help | grep -A1 'a line of its own:' | sed -n \"2s/^  {.*/$c/p\"; done");
    ck_assert_str_eq(run.output, "id\nevaluate\nconfiguration\n");
    outcome_free(&run);
}
END_TEST

/* Checks that the gains in the help of rollout hold the arm, its light wrist included. */
START_TEST(proposed_gains_hold_the_arm) {
    /* Long examples in the help continue after a backslash. */
    outcome run = shell("proposed=$($ctl rollout --help | sed -e ':more' -e '/[\\]$/{N;s/[\\]\\n *//;b more' -e '}' | "
                        "grep -e '--to 0,-1,1,0,0,0' | sed 's/^ *dynamicsctl/$ctl/')\n"
                        "eval \"$proposed --csv\" | tail -n 1");
    ck_assert_msg(run.code == 0, "%s", run.error);
    static const double reached[6] = {0, -1, 1, 0, 0, 0};
    char *next = run.output;
    for (int skipped = 0; skipped < 2 && next; skipped++) { /* step, time */
        next = strchr(next, ',') ? strchr(next, ',') + 1 : NULL;
    }
    for (int i = 0; i < 6; i++) {
        ck_assert_ptr_nonnull(next);
        ck_assert_double_eq_tol(strtod(next, &next), reached[i], 1e-4);
        next++;
    }
    outcome_free(&run);
}
END_TEST

/* Checks that columns of states may have the daemon's names of coordinates, in any order. */
START_TEST(columns_are_spelled_as_the_daemon_spells_coordinates) {
    must_say("$ctl load " DYNAMICS_ROBOTS_DIR "/quadruped.urdf --name walker --base floating", "floating base");
    json_t *robot = run_json("$ctl describe walker --json"), *names = json_object_get(robot, "q_names");
    size_t count = json_array_size(names);
    const char *path = scratch("spelled.csv");
    FILE *file = fopen(path, "w");
    char line[256];
    ck_assert_ptr_nonnull(file);
    ck_assert_str_eq(json_string_value(json_array_get(names, 6)), "root_joint[6]");
    for (size_t i = count; i-- > 0;) {
        fprintf(file, "q.%s%s", json_string_value(json_array_get(names, i)), i > 0 ? "," : "\n");
    }
    for (size_t i = count; i-- > 0;) {
        fprintf(file, "%.17g%s", json_number_value(json_array_get(json_object_get(robot, "home_q"), i)),
                i > 0 ? "," : "\n");
    }
    ck_assert_int_eq(fclose(file), 0);
    snprintf(line, sizeof line, "$ctl gravity walker --states %s --json", path);
    json_t *spelled = run_json(line), *usual = run_json("$ctl gravity walker --state home --json");
    ck_assert_uint_eq(json_array_size(json_object_get(usual, "g")), json_array_size(json_object_get(robot, "v_names")));
    ck_assert(json_equal(json_object_get(spelled, "g"), json_object_get(usual, "g")));
    json_decref(spelled);
    json_decref(usual);
    json_decref(robot);
}
END_TEST

/* Checks that a simulation or stream with another order of joints is shown in that order, to other clients too. */
START_TEST(columns_have_the_names_of_their_joints) {
    outcome run =
        shell("own=%s again=%s; "
              "$ctl simulate two_link --joints joint2,joint1 --q 0.1,0.2 --rate 1 --duration 60 --name turned "
              "--record turned --csv >$own & maker=$!; shown simulations 'turned .* running'; "
              "$ctl watch turned --csv --count 3 | head -n 1; lines $own 60; kill -INT $maker; wait $maker && "
              "head -n 1 $own && $ctl replay turned --csv >$again && head -n 1 $again && "
              "[ $(sed 1d $own | head -n 50 | grep -cxF -f - $again) = 50 ]",
              scratch("own.csv"), scratch("again.csv"));
    ck_assert_msg(run.code == 0, "%s", run.error);
    static const char heading[] = "step,time,q.joint2,q.joint1,v.joint2,v.joint1,tau.joint2,tau.joint1\n";
    for (int i = 0; i < 3; i++) {
        const char *line = run.output + (size_t)i * (sizeof heading - 1);
        ck_assert_msg(strncmp(line, heading, sizeof heading - 1) == 0, "line %d: %s", i, run.output);
    }
    outcome_free(&run);
    run = shell("for i in $(seq 3000); do echo '{\"q\": [0, 0.1]}'; done | "
                "$ctl stream two_link --joints joint2,joint1 --name turned --states - --frequency 50 >%s & maker=$!; "
                "shown streams turned; $ctl watch turned --csv --count 3 | head -n 1; kill -INT $maker; wait $maker",
                scratch("turned"));
    ck_assert_msg(run.code == 0, "%s", run.error);
    ck_assert_str_eq(run.output, "step,time,tau.joint2,tau.joint1\n");
    outcome_free(&run);
}
END_TEST

START_TEST(latency_is_reported_in_ascending_percentiles) {
    json_t *times = run_json("$ctl latency ur5 --count 200 --json");
    static const char *const keys[] = {"min", "p50", "p90", "p99", "p99.9", "max"};
    double last = 0;
    for (size_t i = 0; i < 6; i++) {
        double time = json_number_value(json_object_get(times, keys[i]));
        ck_assert_double_ge(time, last);
        last = time;
    }
    ck_assert_double_gt(last, 0);
    json_decref(times);
    must_fail("$ctl latency --count 0", 2, "--count 0");
}
END_TEST

START_TEST(latency_of_a_fast_channel_is_reported) {
    json_t *times = run_json("$ctl latency ur5 --fast --count 200 --json");
    ck_assert_str_eq(json_string_value(json_object_get(times, "question")),
                     "inverse dynamics of ur5 over a fast channel");
    ck_assert_double_gt(json_number_value(json_object_get(times, "p50")), 0);
    json_decref(times);
    must_fail("$ctl latency --fast", 2, "--fast: name a model");
}
END_TEST

/* ---- states ------------------------------------------------------------------------------------------------------ */

enum { MANY = 9000 };

/* Writes MANY states of the two-link arm as JSON lines and as CSV. */
static void write_states(const char *lines, const char *table) {
    FILE *json = fopen(lines, "w"), *csv = fopen(table, "w");
    ck_assert(json && csv);
    fprintf(csv, "v1;q0;q[1];v0\n");
    for (int i = 0; i < MANY; i++) {
        double q0 = 0.001 * i, q1 = sin(i), v0 = cos(i), v1 = 0.5;
        fprintf(json, "{\"q\": [%.17g, %.17g], \"v\": [%.17g, %.17g]}\n", q0, q1, v0, v1);
        fprintf(csv, "%.17g;%.17g; %.17g;%.17g\r\n", v1, q0, q1, v0);
    }
    fclose(json);
    fclose(csv);
}

START_TEST(many_states_come_back_in_their_order_from_both_formats) {
    write_states(scratch("many.jsonl"), scratch("many.csv"));
    outcome json = shell("$ctl bias two_link --states %s --json", scratch("many.jsonl"));
    outcome csv = shell("$ctl bias two_link --states - --json < %s", scratch("many.csv"));
    ck_assert_msg(json.code == 0 && csv.code == 0, "%s%s", json.error, csv.error);
    ck_assert_str_eq(json.output, csv.output);
    const char *line = json.output;
    for (int i = 0; i < MANY; i++) {
        double q0 = 0.001 * i, q1 = sin(i), v0 = cos(i), v1 = 0.5;
        double h1 = sin(q1) * v0 * v0 + 9.81 * cos(q0 + q1);
        double h0 = -sin(q1) * (2 * v0 * v1 + v1 * v1) + 9.81 * (2 * cos(q0) + cos(q0 + q1));
        double own[2];
        ck_assert_int_eq(sscanf(line, "{\"h\": [%lf, %lf]}", &own[0], &own[1]), 2);
        ck_assert_double_eq_tol(own[0], h0, 1e-9);
        ck_assert_double_eq_tol(own[1], h1, 1e-9);
        line = strchr(line, '\n') + 1;
    }
    ck_assert_str_eq(line, "");
    outcome_free(&json);
    outcome_free(&csv);
}
END_TEST

START_TEST(bad_states_name_their_line_and_field) {
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"{\"q\": [0, 0]}\n\n{\"q\": [0]}\n", ":3: q: 1 values, but two_link has 2"},
        {"{\"q\": [0, \"x\"]}\n", ":1: q[1]: a string"},
        {"{\"q\": [0, null]}\n", ":1: q[1]: null"},
        {"{\"q\": [0, NaN]}\n", ":1: not JSON: invalid token near 'NaN'"},
        {"{\"q\": [0, 1e999]}\n", ":1: not JSON: real number overflow"},
        {"{\"q\": [0, 0], \"speed\": [1, 1]}\n", ":1: unknown key \"speed\""},
        {"{\"q\": [0, 0], \"q\": [1, 1]}\n", ":1: not JSON: duplicate object key"},
        {"{\"v\": [0, 0]}\n", ":1: q: missing"},
        {"{\"q\": [0, 0], \"external_forces\": [{\"force\": [1, 2, 3]}]}\n", ":1: external_forces[0].link"},
        {"[0, 0]\n", ":1: an array, but an object"},
        {"{\"q\": [0, 0]} {}\n", ":1: not JSON: end of file expected"},
        {"q0,speed\n0,0\n", ":1: unknown column \"speed\""},
        {"q0\n0\n", ":1: column q1 "},
        {"q0,q1,q1\n0,0,0\n", "is there twice"},
        {"q0,q1\n0,0\n0\n", ":3: 1 values, but the header has 2 columns"},
        {"q0,q1\n0,nan\n", ":2: q[1]: \"nan\" is not a finite number"},
        {"q0,q1\n0,\n", ":2: q[1]: \"\" is not a finite number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        write_file(scratch("states"), cases[i].text);
        snprintf(line, sizeof line, "$ctl id two_link --json --states %s", scratch("states"));
        must_fail(line, 2, cases[i].said);
    }
}
END_TEST

START_TEST(states_before_a_bad_line_are_answered) {
    outcome run =
        shell("printf '{\"q\":[0,0]}\\n{\"q\":[1,0]}\\nnonsense\\n' | $ctl gravity two_link --states - --json");
    ck_assert_int_eq(run.code, 2);
    ck_assert_ptr_nonnull(strstr(run.error, "standard input:3: "));
    size_t lines = 0;
    for (const char *c = run.output; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    ck_assert_uint_eq(lines, 2);
    outcome_free(&run);
}
END_TEST

START_TEST(a_refused_state_is_reported_with_its_line) {
    /* The daemon refuses a quaternion whose norm is not one. */
    outcome run =
        shell("$ctl load %s/two_link.urdf --name loose --base floating >%s", DYNAMICS_ROBOTS_DIR, scratch("ignored"));
    ck_assert_int_eq(run.code, 0);
    outcome_free(&run);
    write_file(scratch("loose"), "{\"q\": [0,0,0, 0,0,0,1, 0,0]}\n{\"q\": [0,0,0, 0,0,0,9, 0,0]}\n");
    run = shell("$ctl gravity loose --json --states %s", scratch("loose"));
    ck_assert_int_eq(run.code, 1);
    ck_assert_msg(strstr(run.error, "loose:2: q[") != NULL, "%s", run.error);
    ck_assert_int_eq(strncmp(run.output, "{\"g\": [", 7), 0);
    outcome_free(&run);
    run = shell("$ctl unload loose");
    ck_assert_int_eq(run.code, 0);
    outcome_free(&run);
}
END_TEST

START_TEST(an_empty_file_has_no_states) {
    outcome run = shell("$ctl id two_link --states /dev/null --json");
    ck_assert_int_eq(run.code, 0);
    ck_assert_str_eq(run.output, "");
    outcome_free(&run);
}
END_TEST

/* Checks that a program that writes a state and waits for the answer before it writes the next one receives it at
 * once. */
START_TEST(states_on_a_pipe_are_answered_one_by_one) {
    int in[2], out[2];
    ck_assert_int_eq(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        execl(DYNAMICSCTL_PROGRAM, "dynamicsctl", "--endpoint", served.request_ipc, "gravity", "two_link", "--states",
              "-", "--json", (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    for (int i = 0; i < 3; i++) {
        static const char state[] = "{\"q\": [0, 0]}\n";
        char answer[256];
        ck_assert_int_eq(write(in[1], state, strlen(state)), (ssize_t)strlen(state));
        struct pollfd readable = {.fd = out[0], .events = POLLIN};
        ck_assert_int_eq(poll(&readable, 1, 10000), 1);
        ssize_t length = read(out[0], answer, sizeof answer - 1);
        ck_assert_int_gt(length, 0);
        ck_assert_int_eq(answer[length - 1], '\n');
    }
    close(in[1]);
    close(out[0]);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(output_that_cannot_be_written_is_an_error) {
    write_states(scratch("many.jsonl"), scratch("many.csv"));
    char line[512];
    snprintf(line, sizeof line, "$ctl id two_link --json --states %s > /dev/full", scratch("many.jsonl"));
    must_fail(line, 5, "standard output cannot be written: No space left on device");
    /* A reader that closes its pipe ends the program without a message. */
    outcome run = shell("$ctl id two_link --json --states %s | head -n 1", scratch("many.jsonl"));
    ck_assert_int_eq(run.code, 0);
    ck_assert_str_eq(run.error, "");
    outcome_free(&run);
    run = shell("(trap '' PIPE; $ctl id two_link --json --states %s; echo \"code $?\" >&2) | head -n 1",
                scratch("many.jsonl"));
    ck_assert_str_eq(run.error, "code 5\n");
    outcome_free(&run);
}
END_TEST

/* ---- main -------------------------------------------------------------------------------------------------------- */

int main(void) {
    TCase *all = tcase_create("cli");
    tcase_add_unchecked_fixture(all, command_line_start, command_line_stop);
    tcase_add_test(all, every_command_has_help_with_an_example);
    tcase_add_test(all, help_accepts_the_name_of_a_command);
    tcase_add_test(all, help_lists_each_command_with_all_operands);
    tcase_add_test(all, exit_codes_distinguish_refused_unreachable_and_timeout);
    tcase_add_test(all, errors_name_the_typed_arguments);
    tcase_add_test(all, values_may_name_their_joints);
    tcase_add_test(all, endpoint_comes_from_options_environment_and_configuration);
    tcase_add_test(all, models_are_loaded_listed_described_and_unloaded);
    tcase_add_test(all, evaluate_writes_the_numbers_of_the_single_commands);
    tcase_add_test(all, formulate_writes_the_blocks_of_a_formulation);
    tcase_add_test(all, a_constrained_tip_holds_its_height);
    tcase_add_test(all, formulate_takes_links_that_bend);
    tcase_add_test(all, refusals_of_compare_follow_each_other);
    tcase_add_test(all, compare_counts_passive_forces);
    tcase_add_test(all, compare_writes_counts_and_results_as_csv);
    tcase_add_test(all, explain_splits_the_torques_of_id);
    tcase_add_test(all, published_mass_matrix_comes_out);
    tcase_add_test(all, every_quantity_has_its_key);
    tcase_add_test(all, numbers_survive_the_round_trip);
    tcase_add_test(all, joints_have_the_requested_order);
    tcase_add_test(all, forces_on_a_link_enter_with_their_sign);
    tcase_add_test(all, call_accepts_methods_in_both_spellings);
    tcase_add_test(all, exported_models_load_again);
    tcase_add_test(all, models_are_derived);
    tcase_add_test(all, a_job_prints_the_output_of_a_request);
    tcase_add_test(all, jobs_are_listed_shown_fetched_and_cancelled);
    tcase_add_test(all, payloads_are_read_from_the_command_line);
    tcase_add_test(all, precision_is_read_from_the_command_line);
    tcase_add_test(all, inertias_are_computed);
    tcase_add_test(all, base_parameters_are_named);
    tcase_add_test(all, configurations_are_computed);
    tcase_add_test(all, rollouts_and_trajectories_fit_each_other);
    tcase_add_test(all, a_recording_is_replaced_on_request);
    tcase_add_test(all, simulated_motions_are_replayed_and_streamed_back);
    tcase_add_test(all, token_records_and_drives_a_simulation);
    tcase_add_test(all, plot_shows_the_whole_run_in_simulated_time);
    tcase_add_test(all, plot_fits_a_small_terminal);
    tcase_add_test(all, watch_reports_frequency_age_and_loss);
    tcase_add_test(all, watch_shows_several_simulations);
    tcase_add_test(all, proposed_gains_hold_the_arm);
    tcase_add_test(all, help_announces_the_json_that_follows);
    tcase_add_test(all, columns_are_spelled_as_the_daemon_spells_coordinates);
    tcase_add_test(all, columns_have_the_names_of_their_joints);
    tcase_add_test(all, latency_is_reported_in_ascending_percentiles);
    tcase_add_test(all, latency_of_a_fast_channel_is_reported);
    tcase_add_test(all, many_states_come_back_in_their_order_from_both_formats);
    tcase_add_test(all, bad_states_name_their_line_and_field);
    tcase_add_test(all, states_before_a_bad_line_are_answered);
    tcase_add_test(all, a_refused_state_is_reported_with_its_line);
    tcase_add_test(all, an_empty_file_has_no_states);
    tcase_add_test(all, states_on_a_pipe_are_answered_one_by_one);
    tcase_add_test(all, output_that_cannot_be_written_is_an_error);
    return run_unforked("cli", all);
}
