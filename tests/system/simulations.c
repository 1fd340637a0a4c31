/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks simulations in the daemon: their pace, the right to control them, their events, and their state after a
 * restart.
 */
#include <check.h>
#include <glob.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dynamics_client.h"
#include "system/daemon_fixture.h"
#include "system/quantity_question.h"
#include "system/runner.h"

enum { NQ = 6, DIGEST_PREFIX = sizeof "sha256:01234567" };

static daemon_fixture fixture;
static dyn_client *client;
static dyn_client_error error;

static dyn_client *connect_to(const char *url) {
    dyn_client *connected;
    dyn_client_error reported;
    ck_assert_msg(dyn_client_connect(url, NULL, &connected, &reported) == DYN_CLIENT_OK, "%s", reported.message);
    return connected;
}

static void start_with(const char *configuration) {
    daemon_options options = {.configuration = configuration};
    daemon_start(&options, &fixture);
    client = connect_to(fixture.request_ipc);
}

static void start(void) {
    start_with(NULL);
}

static void stop(void) {
    dyn_client_close(client);
    daemon_stop(&fixture);
}

static void ok(dyn_client_status status) {
    ck_assert_msg(status == DYN_CLIENT_OK, "%s %s: %s", dyn_client_status_name(status), error.field, error.message);
}

static void refused(dyn_client_status status, dyn_client_status wanted, const char *field, const char *word) {
    ck_assert_msg(status == wanted, "%s, not %s: %s: %s", dyn_client_status_name(status),
                  dyn_client_status_name(wanted), error.field, error.message);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, word) != NULL, "\"%s\" does not contain \"%s\"", error.message, word);
}

static double seconds(int64_t nanoseconds) {
    return 1e-9 * (double)nanoseconds;
}

static void pause_for(double duration) {
    struct timespec time = {.tv_sec = (time_t)duration, .tv_nsec = (long)(fmod(duration, 1) * 1e9)};
    nanosleep(&time, NULL);
}

/* Creates a simulation; returns its token. */
static uint64_t create(const dyn_client_simulation_options *options) {
    dyn_client_simulation *created;
    uint64_t token;
    ok(dyn_client_create_simulation(client, options, &token, &created, &error));
    dyn_client_simulation_free(created);
    return token;
}

static dyn_client_simulation *look(const char *name) {
    dyn_client_simulation *simulation;
    ok(dyn_client_get_simulation(client, name, 0, 0, &simulation, &error));
    return simulation;
}

static void step(const char *name, uint64_t token, uint64_t steps, dyn_client_simulation **state) {
    ok(dyn_client_step_simulation(client, name, token, steps, NULL, 0, state, &error));
}

static void check_same_bits(const dyn_client_simulation *a, const dyn_client_simulation *b) {
    ck_assert_uint_eq(a->step, b->step);
    ck_assert_mem_eq(a->q, b->q, NQ * sizeof(double));
    ck_assert_mem_eq(a->v, b->v, NQ * sizeof(double));
    ck_assert_mem_eq(a->tau, b->tau, NQ * sizeof(double));
}

static const dyn_client_simulation_options lockstep =
    DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "arm",
                                       .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"));

/* ---- time -------------------------------------------------------------------------------------------------------- */

START_TEST(two_links_fall_as_their_energy_requires) {
    /* Without friction, semi-implicit Euler keeps the energy of a falling arm: T + V at the end is V at the start. */
    dyn_client_simulation_options options = DYN_CLIENT_SIMULATION_OPTIONS_INIT(
            .name = "fall", .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "two_link"),
            .stepping = &(dyn_client_stepping)DYN_CLIENT_STEPPING_INIT(.step_length = 1e-4, .ignore_damping = true,
                                                                       .ignore_friction = true,
                                                                       .stop = DYN_CLIENT_JOINT_STOP_NONE));
    uint64_t token = create(&options);
    dyn_client_simulation *state;
    double energy[2][2];
    const dyn_client_quantity quantities[] = {DYN_CLIENT_QUANTITY_KINETIC_ENERGY, DYN_CLIENT_QUANTITY_POTENTIAL_ENERGY};
    for (int i = 0; i < 2; i++) {
        step("fall", token, i == 0 ? 1 : 9999, &state);
        dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = 1);
        quantity_question request = {.quantity_count = 2, .quantities = quantities, .q = state->q, .v = state->v};
        dyn_client_evaluation *evaluation;
        ok(evaluate_quantities(client, &query, &request, &error, &evaluation));
        energy[i][0] = evaluation->results[0].blocks[0].values[0];
        energy[i][1] = evaluation->results[1].blocks[0].values[0];
        dyn_client_evaluation_free(evaluation);
        dyn_client_simulation_free(state);
    }
    ck_assert_double_gt(energy[1][0], 1);
    ck_assert_double_eq_tol(energy[0][0] + energy[0][1], energy[1][0] + energy[1][1], 0.02);
}
END_TEST

/* ---- external forces --------------------------------------------------------------------------------------------- */

/* Loads the model "brick": a floating body of 2 kg, with its centre of mass at its origin, without gravity. */
static void load_brick(void) {
    static const double none[3] = {0};
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(
            .urdf = "<robot name='brick'><link name='brick'><inertial><mass value='2'/>"
                    "<inertia ixx='0.1' ixy='0' ixz='0' iyy='0.2' iyz='0' izz='0.4'/></inertial></link></robot>",
            .base = DYN_CLIENT_BASE_FLOATING, .gravity = none);
    dyn_client_loaded_model *loaded;
    ok(dyn_client_load_model(client, &request, &loaded, &error));
    ck_assert_uint_eq(loaded->model.nv, 6);
    dyn_client_loaded_model_free(loaded);
}

START_TEST(floating_body_under_a_constant_wrench_accelerates_by_newton_and_euler) {
    /* The motion follows f = m a, and n = I dw/dt about a principal axis. Semi-implicit Euler yields v = k h a and p =
     * k (k + 1) / 2 h^2 a. */
    const double force[3] = {3, -4, 5}, torque[3] = {0, 0, 0.8}, h = 1e-3, mass = 2, inertia = 0.4;
    dyn_client_external_force wrench = {
        .link = "brick", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, .force = force, .rows = 1};
    const dyn_client_simulation_input push =
        DYN_CLIENT_SIMULATION_INPUT_INIT(.external_force_count = 1, .external_forces = &wrench);
    const dyn_client_simulation_input release = DYN_CLIENT_SIMULATION_INPUT_INIT(.clear_external_forces = true);
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "arm",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "brick"),
                                           .stepping =
                                               &(dyn_client_stepping)DYN_CLIENT_STEPPING_INIT(.step_length = h));
    dyn_client_simulation *state;
    load_brick();
    uint64_t token = create(&options), steps = 1000;
    ok(dyn_client_step_simulation(client, "arm", token, steps, &push, 0, &state, &error));
    double k = (double)steps, half = k * (k + 1) / 2;
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(state->v[i], k * h * force[i] / mass, 1e-12);
        ck_assert_double_eq_tol(state->v[i + 3], 0, 1e-12);
        ck_assert_double_eq_tol(state->q[i], half * h * h * force[i] / mass, 1e-12);
    }
    dyn_client_simulation_free(state);
    /* Without the force the body does not change its velocity. Later a torque turns it. */
    ok(dyn_client_step_simulation(client, "arm", token, steps, &release, 0, &state, &error));
    ck_assert_double_eq_tol(state->q[0], (half + k * k) * h * h * force[0] / mass, 1e-12);
    dyn_client_simulation_free(state);
    ok(dyn_client_reset_simulation(client, "arm", token, 0, NULL, &error));
    wrench.force = NULL;
    wrench.torque = torque;
    ok(dyn_client_step_simulation(client, "arm", token, steps, &push, 0, &state, &error));
    double angle = 2 * atan2(state->q[5], state->q[6]);
    ck_assert_double_eq_tol(angle, half * h * h * torque[2] / inertia, 1e-9);
    dyn_client_simulation_free(state);
}
END_TEST

static const double ur5_q[NQ] = {0.3, -1.1, 0.9, 0.4, -0.7, 0.2};
static const double push_values[] = {10, -20, 5, 1, 2, -3, -7, 3, 11};
static const dyn_client_external_force pushes[] = {
    {.link = "wrist_3_link",
     .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL,
     .force = push_values,
     .torque = push_values + 3,
     .rows = 1},
    {.link = "forearm_link", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_WORLD, .force = push_values + 6, .rows = 1},
    {.link = "forearm_link",
     .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED,
     .torque = push_values + 1,
     .rows = 1},
};
static const dyn_client_simulation_input pushing =
    DYN_CLIENT_SIMULATION_INPUT_INIT(.external_force_count = 3, .external_forces = pushes);

START_TEST(wrenches_on_links_act_as_their_joint_torques_do) {
    /* One robot is pushed by wrenches; another one gets the joint torques sum J' f as its input. One step is equal for
     * both. */
    const dyn_client_quantity wanted = DYN_CLIENT_QUANTITY_EXTERNAL_FORCES;
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NQ, .nv = NQ, .samples = 1,
                              .external_force_count = pushing.external_force_count, .external_forces = pushes);
    const quantity_question request = {.q = ur5_q, .quantity_count = 1, .quantities = &wanted};
    dyn_client_evaluation *evaluation;
    dyn_client_simulation *pushed, *driven, *free_one;
    ok(evaluate_quantities(client, &query, &request, &error, &evaluation));
    const dyn_client_simulation_input torques =
        DYN_CLIENT_SIMULATION_INPUT_INIT(.nv = NQ, .tau = evaluation->results[0].blocks[0].values);
    const dyn_client_integrator integrators[] = {DYN_CLIENT_INTEGRATOR_SEMI_IMPLICIT_EULER,
                                                 DYN_CLIENT_INTEGRATOR_EXPLICIT_EULER};
    for (int i = 0; i < 2; i++) {
        dyn_client_simulation_options options = DYN_CLIENT_SIMULATION_OPTIONS_INIT(
                .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"), .nq = NQ, .q = ur5_q,
                .stepping = &(dyn_client_stepping)DYN_CLIENT_STEPPING_INIT(.integrator = integrators[i],
                                                                           .ignore_effort_limits = true));
        options.name = i == 0 ? "pushed" : "pushed2";
        uint64_t first = create(&options);
        ok(dyn_client_step_simulation(client, options.name, first, 1, &pushing, 0, &pushed, &error));
        options.name = i == 0 ? "driven" : "driven2";
        uint64_t second = create(&options);
        ok(dyn_client_step_simulation(client, options.name, second, 1, &torques, 0, &driven, &error));
        options.name = i == 0 ? "free" : "free2";
        uint64_t third = create(&options);
        ok(dyn_client_step_simulation(client, options.name, third, 1, NULL, 0, &free_one, &error));
        for (int j = 0; j < NQ; j++) {
            ck_assert_double_eq_tol(pushed->v[j], driven->v[j], 1e-11 * (1 + fabs(driven->v[j])));
            /* External forces are not part of the joint forces tau. */
            ck_assert_double_eq(pushed->tau[j], 0);
        }
        ck_assert_double_gt(fabs(pushed->v[1] - free_one->v[1]), 1e-3);
        dyn_client_simulation_free(pushed);
        dyn_client_simulation_free(driven);
        dyn_client_simulation_free(free_one);
    }
    dyn_client_evaluation_free(evaluation);
}
END_TEST

/* Checks that the daemon reports exactly these external forces as acting on a simulation. */
static void check_forces(const char *name, size_t count, const dyn_client_external_force *forces) {
    static const double zero[3] = {0};
    dyn_client_simulation *reported = look(name);
    ck_assert_uint_eq(reported->external_force_count, count);
    for (size_t i = 0; i < count; i++) {
        const dyn_client_external_force *is = &reported->external_forces[i];
        ck_assert_str_eq(is->link, forces[i].link);
        ck_assert_int_eq(is->reference_frame, forces[i].reference_frame);
        ck_assert_mem_eq(is->force, forces[i].force ? forces[i].force : zero, sizeof zero);
        ck_assert_mem_eq(is->torque, forces[i].torque ? forces[i].torque : zero, sizeof zero);
    }
    dyn_client_simulation_free(reported);
}

START_TEST(external_forces_act_until_replaced_cleared_or_reset) {
    const double tau[NQ] = {1};
    const dyn_client_simulation_input torque = DYN_CLIENT_SIMULATION_INPUT_INIT(.nv = NQ, .tau = tau),
                                      clear = DYN_CLIENT_SIMULATION_INPUT_INIT(.clear_external_forces = true);
    const dyn_client_simulation_input one =
        DYN_CLIENT_SIMULATION_INPUT_INIT(.external_force_count = 1, .external_forces = pushes + 1);
    uint64_t token = create(&lockstep);
    check_forces("arm", 0, NULL);
    ok(dyn_client_set_simulation_input(client, "arm", token, &pushing, 0, NULL, &error));
    check_forces("arm", 3, pushes);
    ok(dyn_client_set_simulation_input(client, "arm", token, &torque, 0, NULL, &error));
    ok(dyn_client_step_simulation(client, "arm", token, 10, NULL, 0, NULL, &error));
    check_forces("arm", 3, pushes);
    ok(dyn_client_set_simulation_input(client, "arm", token, &one, 0, NULL, &error));
    check_forces("arm", 1, pushes + 1);
    ok(dyn_client_set_simulation_input(client, "arm", token, &clear, 0, NULL, &error));
    check_forces("arm", 0, NULL);
    ok(dyn_client_set_simulation_input(client, "arm", token, &pushing, 0, NULL, &error));
    ok(dyn_client_reset_simulation(client, "arm", token, 0, NULL, &error));
    check_forces("arm", 0, NULL);
}
END_TEST

START_TEST(pushed_run_is_replayed_bit_for_bit_and_outlives_a_restart) {
    const dyn_client_simulation_input clear = DYN_CLIENT_SIMULATION_INPUT_INIT(.clear_external_forces = true);
    dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "arm",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                           .disturbance = 0.2, .seed = 5);
    dyn_client_simulation *whole, *after;
    dyn_client_replay *replay;
    size_t count;
    uint64_t token = create(&options);
    options.name = "twin";
    uint64_t twin = create(&options);
    /* The recording begins under forces, and contains their end, their return and a reset. */
    ok(dyn_client_step_simulation(client, "arm", token, 50, &pushing, 0, NULL, &error));
    ok(dyn_client_record_simulation(client, "arm", token, "pushed", 0, &error));
    ok(dyn_client_step_simulation(client, "arm", token, 50, NULL, 0, NULL, &error));
    ok(dyn_client_step_simulation(client, "arm", token, 50, &clear, 0, NULL, &error));
    ok(dyn_client_step_simulation(client, "arm", token, 50, &pushing, 0, NULL, &error));
    ok(dyn_client_reset_simulation(client, "arm", token, 0, NULL, &error));
    ok(dyn_client_step_simulation(client, "arm", token, 50, NULL, 0, NULL, &error));
    ok(dyn_client_stop_recording(client, "arm", token, 0, NULL, NULL, &error));
    ok(dyn_client_replay_simulation(client, "pushed", NULL, NULL, &replay, &error));
    ck_assert_uint_eq(replay->steps, 200);
    ck_assert_uint_eq(replay->equal_steps, 200);
    dyn_client_replay_free(replay);
    /* A run with a restart in the middle equals a run without one. */
    ok(dyn_client_reset_simulation(client, "arm", token, 0, NULL, &error));
    ok(dyn_client_step_simulation(client, "arm", token, 100, &pushing, 0, NULL, &error));
    ok(dyn_client_step_simulation(client, "twin", twin, 200, &pushing, 0, &whole, &error));
    ok(dyn_client_save_simulations(client, 0, &count, &error));
    dyn_client_close(client);
    daemon_restart(&fixture);
    client = connect_to(fixture.request_ipc);
    check_forces("arm", 3, pushes);
    step("arm", token, 100, &after);
    check_same_bits(whole, after);
    dyn_client_simulation_free(whole);
    dyn_client_simulation_free(after);
}
END_TEST

START_TEST(results_are_null_after_an_error) {
    static dyn_client_simulation leftover;
    const double q[6] = {0};
    const char *const names[] = {"nobody", NULL};
    for (size_t i = 0; i < 2; i++) {
        const dyn_client_status expected = names[i] ? DYN_CLIENT_NOT_FOUND : DYN_CLIENT_INVALID_ARGUMENT;
        dyn_client_simulation *of[6];
        for (size_t k = 0; k < 6; k++) {
            of[k] = &leftover;
        }
        const dyn_client_status found[] = {
            dyn_client_step_simulation(client, names[i], 1, 1, NULL, 0, &of[0], &error),
            dyn_client_get_simulation(client, names[i], 1, 0, &of[1], &error),
            dyn_client_set_simulation_state(client, names[i], 1, 6, 6, q, NULL, 0, &of[2], &error),
            dyn_client_pause_simulation(client, names[i], 1, 0, &of[3], &error),
            dyn_client_resume_simulation(client, names[i], 1, 0, &of[4], &error),
            dyn_client_reset_simulation(client, names[i], 1, 0, &of[5], &error),
        };
        for (size_t k = 0; k < 6; k++) {
            ck_assert_int_eq(found[k], expected);
            ck_assert_ptr_null(of[k]);
        }
        ck_assert_int_eq(dyn_client_pause_simulation(client, names[i], 1, 0, NULL, &error), expected);
    }
}
END_TEST

START_TEST(bad_external_forces_are_refused_by_the_path_of_their_field) {
    enum { MOST = 64 };
    const double bad[3] = {0, 0, NAN}, good[3] = {1, 2, 3};
    const struct {
        dyn_client_external_force force;
        dyn_client_status status;
        const char *field, *word;
    } cases[] = {
        {{.link = "forearm_lnk", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL, .force = good},
         DYN_CLIENT_NOT_FOUND,
         "link",
         "did you mean"},
        {{.link = "", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL, .force = good},
         DYN_CLIENT_NOT_FOUND,
         "link",
         "no link"},
        {{.link = "forearm_link", .force = good}, DYN_CLIENT_INVALID_ARGUMENT, "reference_frame", "pass LOCAL (1)"},
        {{.link = "forearm_link", .reference_frame = 7}, DYN_CLIENT_INVALID_ARGUMENT, "reference_frame", "7"},
        {{.link = "forearm_link", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL, .force = bad},
         DYN_CLIENT_INVALID_ARGUMENT,
         "force[2]",
         "nan"},
        {{.link = "forearm_link", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL, .torque = bad},
         DYN_CLIENT_INVALID_ARGUMENT,
         "torque[2]",
         "nan"},
    };
    uint64_t token = create(&lockstep);
    dyn_client_external_force many[MOST + 1];
    ok(dyn_client_set_simulation_input(client, "arm", token, &pushing, 0, NULL, &error));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char field[128];
        dyn_client_external_force forces[2] = {pushes[0], cases[i].force};
        dyn_client_simulation_input input =
            DYN_CLIENT_SIMULATION_INPUT_INIT(.external_force_count = 2, .external_forces = forces);
        forces[1].rows = 1;
        snprintf(field, sizeof field, "set_simulation_input.input.external_forces[1].%s", cases[i].field);
        refused(dyn_client_set_simulation_input(client, "arm", token, &input, 0, NULL, &error), cases[i].status, field,
                cases[i].word);
    }
    for (int i = 0; i <= MOST; i++) {
        many[i] = pushes[0];
    }
    dyn_client_simulation_input input =
        DYN_CLIENT_SIMULATION_INPUT_INIT(.external_force_count = MOST + 1, .external_forces = many);
    refused(dyn_client_step_simulation(client, "arm", token, 1, &input, 0, NULL, &error), DYN_CLIENT_RESOURCE_EXHAUSTED,
            "step_simulation.input.external_forces", "at most 64");
    /* A refused request changed nothing; an accepted one moves the robot. */
    check_forces("arm", 3, pushes);
    dyn_client_simulation *state;
    input.external_force_count = MOST;
    ok(dyn_client_step_simulation(client, "arm", token, 1, &input, 0, &state, &error));
    ck_assert_int_ne(state->condition, DYN_CLIENT_CONDITION_DIVERGED);
    ck_assert_uint_eq(state->step, 1);
    dyn_client_simulation_free(state);
    check_forces("arm", MOST, many);
}
END_TEST

/* ---- the query of a simulation ----------------------------------------------------------------------------------- */

/* Simulation of the two-link arm on the moon, with a ball at its tip, which a force pushes. */
static const double moon[3] = {0, 0, -1.62}, tip_push[3] = {3, 0, 5}, loaded_q[2] = {0.4, -0.9};
static const dyn_client_payload ball = {.link = "tip", .inertia = {.mass = 1.5, .center_of_mass = {0.1, 0, 0.2}}};
static const dyn_client_external_force tip_force = {
    .link = "tip", .reference_frame = DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, .force = tip_push, .rows = 1};
static const dyn_client_simulation_options loaded_arm = DYN_CLIENT_SIMULATION_OPTIONS_INIT(
        .name = "loaded",
        .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "two_link", .gravity = moon, .payload_count = 1,
                                                          .payloads = &ball, .external_force_count = 1,
                                                          .external_forces = &tip_force),
        .nq = 2, .q = loaded_q,
        .stepping = &(dyn_client_stepping)DYN_CLIENT_STEPPING_INIT(.ignore_damping = true, .ignore_friction = true,
                                                                   .ignore_effort_limits = true));

/* Computes the accelerations of the arm under this gravity, with the ball and the force if their counts are 1. */
static void accelerate(const double *gravity, size_t payload_count, size_t force_count, double a[2]) {
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = 1, .gravity = gravity,
                              .payload_count = payload_count, .payloads = &ball, .external_force_count = force_count,
                              .external_forces = &tip_force);
    ok(dyn_client_forward_dynamics(client, &query, loaded_q, NULL, NULL, a, &error));
}

START_TEST(gravity_payloads_and_forces_of_a_query_move_the_simulation) {
    double expected[2], others[3][2];
    uint64_t token = create(&loaded_arm);
    accelerate(moon, 1, 1, expected);
    accelerate(NULL, 1, 1, others[0]);
    accelerate(moon, 0, 1, others[1]);
    accelerate(moon, 1, 0, others[2]);
    /* The second round begins with a reset, after other forces have acted. */
    for (int round = 0; round < 2; round++) {
        dyn_client_simulation *state;
        step("loaded", token, 1, &state);
        for (int i = 0; i < 2; i++) {
            ck_assert_double_eq_tol(state->v[i], 0.001 * expected[i], 1e-12);
            for (int k = 0; k < 3; k++) {
                ck_assert_double_gt(fabs(state->v[i] - 0.001 * others[k][i]), 1e-6);
            }
        }
        dyn_client_simulation_free(state);
        const dyn_client_simulation_input clear = DYN_CLIENT_SIMULATION_INPUT_INIT(.clear_external_forces = true);
        ok(dyn_client_step_simulation(client, "loaded", token, 3, &clear, 0, NULL, &error));
        ok(dyn_client_reset_simulation(client, "loaded", token, 0, NULL, &error));
    }
}
END_TEST

static void check_same_arm(const dyn_client_simulation *a, const dyn_client_simulation *b) {
    ck_assert_uint_eq(a->step, b->step);
    ck_assert_mem_eq(a->q, b->q, 2 * sizeof(double));
    ck_assert_mem_eq(a->v, b->v, 2 * sizeof(double));
}

START_TEST(loaded_run_outlives_restarts_and_is_replayed_bit_for_bit) {
    dyn_client_simulation_options options = loaded_arm;
    dyn_client_simulation *whole, *after;
    dyn_client_replay *replay;
    uint64_t token = create(&options);
    options.name = "twin";
    uint64_t twin = create(&options);
    step("twin", twin, 100, &whole);
    ok(dyn_client_record_simulation(client, "loaded", token, "loaded", 0, &error));
    ok(dyn_client_step_simulation(client, "loaded", token, 50, NULL, 0, NULL, &error));
    ok(dyn_client_stop_recording(client, "loaded", token, 0, NULL, NULL, &error));
    dyn_client_close(client);
    daemon_restart(&fixture);
    client = connect_to(fixture.request_ipc);
    step("loaded", token, 50, &after);
    check_same_arm(whole, after);
    dyn_client_simulation_free(after);
    /* The state that a reset restores has outlived the restart too. */
    ok(dyn_client_reset_simulation(client, "loaded", token, 0, NULL, &error));
    step("loaded", token, 100, &after);
    check_same_arm(whole, after);
    ok(dyn_client_replay_simulation(client, "loaded", NULL, NULL, &replay, &error));
    ck_assert_uint_eq(replay->steps, 50);
    ck_assert_uint_eq(replay->equal_steps, 50);
    dyn_client_replay_free(replay);
    dyn_client_simulation_free(whole);
    dyn_client_simulation_free(after);
}
END_TEST

START_TEST(bad_queries_of_simulations_are_refused_by_the_path_of_their_part) {
    const double nowhere[3] = {0, NAN, 0};
    dyn_client_payload bad = ball;
    dyn_client_simulation *created;
    uint64_t token;
    dyn_client_query query = *loaded_arm.query;
    dyn_client_simulation_options options = loaded_arm;
    options.query = &query;
    query.gravity = nowhere;
    refused(dyn_client_create_simulation(client, &options, &token, &created, &error), DYN_CLIENT_INVALID_ARGUMENT,
            "create_simulation.query.gravity", "nan");
    query.gravity = moon;
    query.payloads = &bad;
    bad.inertia.mass = -1;
    refused(dyn_client_create_simulation(client, &options, &token, &created, &error), DYN_CLIENT_INVALID_ARGUMENT,
            "create_simulation.query.payloads[0].inertia", "mass");
    bad.link = "tpi";
    refused(dyn_client_create_simulation(client, &options, &token, &created, &error), DYN_CLIENT_NOT_FOUND,
            "create_simulation.query.payloads[0].link", "did you mean \"tip\"");
    dyn_client_external_force away = tip_force;
    away.link = "nowhere";
    query = *loaded_arm.query;
    query.external_forces = &away;
    refused(dyn_client_create_simulation(client, &options, &token, &created, &error), DYN_CLIENT_NOT_FOUND,
            "create_simulation.query.external_forces[0].link", "nowhere");
}
END_TEST

START_TEST(all_options_of_stepping_reach_a_simulation) {
    dyn_client_simulation_options options = loaded_arm;
    dyn_client_simulation *state;
    dyn_client_stepping stepping = *loaded_arm.stepping;
    options.stepping = &stepping;
    stepping.velocity_bound = 1e-3;
    uint64_t token = create(&options);
    step("loaded", token, 10, &state);
    ck_assert_int_eq(state->condition, DYN_CLIENT_CONDITION_DIVERGED);
    dyn_client_simulation_free(state);
    const struct {
        const char *field;
        dyn_client_stepping stepping;
    } bad[] = {{"create_simulation.stepping.friction_velocity", DYN_CLIENT_STEPPING_INIT(.friction_velocity = -1)},
               {"create_simulation.stepping.velocity_bound", DYN_CLIENT_STEPPING_INIT(.velocity_bound = -1)},
               {"create_simulation.stepping.spring_stop.stiffness",
                DYN_CLIENT_STEPPING_INIT(.stop = DYN_CLIENT_JOINT_STOP_SPRING,
                                         .spring_stop = &(dyn_client_spring_stop){-1, 0})},
               {"create_simulation.stepping.spring_stop.damping",
                DYN_CLIENT_STEPPING_INIT(.stop = DYN_CLIENT_JOINT_STOP_SPRING,
                                         .spring_stop = &(dyn_client_spring_stop){0, -1})}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        options.stepping = &bad[i].stepping;
        refused(dyn_client_create_simulation(client, &options, &token, &state, &error), DYN_CLIENT_INVALID_ARGUMENT,
                bad[i].field, "-1");
    }
}
END_TEST

/* ---- pace -------------------------------------------------------------------------------------------------------- */

START_TEST(clock_neither_drifts_nor_leaves_out_steps) {
    dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "paced",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                           .pace = DYN_CLIENT_PACE_CLOCK);
    create(&options);
    dyn_client_simulation *first = look("paced");
    pause_for(1);
    dyn_client_simulation *second = look("paced");
    /* Each state's stamp is the time at which it was reached; a busy machine may delay a tick. */
    double simulated = second->time - first->time, elapsed = seconds(second->stamp_ns - first->stamp_ns);
    ck_assert_double_eq_tol(simulated, elapsed, 0.05 + second->slipped);
    ck_assert_double_eq_tol(second->time, (double)second->step * 1e-3, 1e-9);
    ck_assert_uint_ge(second->ticks, second->step - first->step);
    dyn_client_simulation_free(first);
    dyn_client_simulation_free(second);
}
END_TEST

START_TEST(overload_is_counted_and_others_keep_their_pace) {
    dyn_client_simulation_options heavy = DYN_CLIENT_SIMULATION_OPTIONS_INIT(
            .name = "heavy", .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
            .pace = DYN_CLIENT_PACE_CLOCK, .rate = 1000,
            .stepping = &(dyn_client_stepping)DYN_CLIENT_STEPPING_INIT(.step_length = 1e-4,
                                                                       .integrator = DYN_CLIENT_INTEGRATOR_RK4));
    dyn_client_simulation_options light =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "light",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "two_link"),
                                           .pace = DYN_CLIENT_PACE_CLOCK);
    create(&heavy);
    create(&light);
    dyn_client_simulation *before = look("light");
    dyn_client_simulation *slow = NULL;
    /* A busy machine may need seconds for the first tick. */
    for (int i = 0; i < 30 && !(slow && slow->overruns > 0 && slow->slipped > 0.1); i++) {
        dyn_client_simulation_free(slow);
        pause_for(1);
        slow = look("heavy");
    }
    ck_assert_uint_gt(slow->overruns, 0);
    ck_assert_double_gt(slow->slipped, 0.1);
    dyn_client_simulation *after = look("light");
    ck_assert_double_eq_tol(after->time - before->time, seconds(after->stamp_ns - before->stamp_ns),
                            0.05 + after->slipped);
    dyn_client_simulation_free(before);
    dyn_client_simulation_free(slow);
    dyn_client_simulation_free(after);
}
END_TEST

START_TEST(pause_resume_and_reset_change_the_state) {
    dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "arm",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                           .pace = DYN_CLIENT_PACE_CLOCK, .disturbance = 0.1);
    uint64_t token = create(&options);
    dyn_client_simulation *state, *later;
    pause_for(0.05);
    ok(dyn_client_pause_simulation(client, "arm", token, 0, &state, &error));
    pause_for(0.05);
    later = look("arm");
    ck_assert_int_eq(later->condition, DYN_CLIENT_CONDITION_PAUSED);
    check_same_bits(state, later);
    ck_assert_uint_gt(state->step, 10);
    uint64_t steps = state->step;
    dyn_client_simulation *reset, *again;
    ok(dyn_client_reset_simulation(client, "arm", token, 0, &reset, &error));
    ck_assert_uint_eq(reset->step, 0);
    /* A reset restores the seed too: the second run is equal, bit for bit. */
    step("arm", token, steps, &again);
    check_same_bits(state, again);
    ok(dyn_client_resume_simulation(client, "arm", token, 0, NULL, &error));
    pause_for(0.05);
    dyn_client_simulation_free(later);
    later = look("arm");
    ck_assert_uint_gt(later->step, steps);
    dyn_client_simulation_free(state);
    dyn_client_simulation_free(later);
    dyn_client_simulation_free(reset);
    dyn_client_simulation_free(again);
}
END_TEST

START_TEST(divergence_stops_in_the_last_good_state) {
    const double v[NQ] = {0, 1e7};
    dyn_client_simulation *state;
    uint64_t token = create(&lockstep);
    ok(dyn_client_set_simulation_state(client, "arm", token, NQ, NQ, (double[NQ]){0}, v, 0, NULL, &error));
    step("arm", token, 10, &state);
    ck_assert_int_eq(state->condition, DYN_CLIENT_CONDITION_DIVERGED);
    ck_assert_uint_eq(state->step, 0);
    ck_assert_mem_eq(state->v, v, sizeof v);
    refused(dyn_client_step_simulation(client, "arm", token, 1, NULL, 0, NULL, &error), DYN_CLIENT_FAILED_PRECONDITION,
            "step_simulation.simulation", "diverged");
    ok(dyn_client_reset_simulation(client, "arm", token, 0, NULL, &error));
    dyn_client_simulation_free(state);
    step("arm", token, 10, &state);
    ck_assert_uint_eq(state->step, 10);
    dyn_client_simulation_free(state);
}
END_TEST

/* ---- command ----------------------------------------------------------------------------------------------------- */

START_TEST(second_commander_is_refused_with_the_name_of_the_first) {
    const char *commander = fixture.has_server ? "commanded by nats" : "commanded by uid";
    uint64_t token = create(&lockstep);
    dyn_client *other = connect_to(fixture.request_tcp);
    dyn_client_simulation *state;
    refused(dyn_client_step_simulation(other, "arm", 0, 1, NULL, 0, &state, &error), DYN_CLIENT_PERMISSION_DENIED,
            "step_simulation.token", commander);
    refused(dyn_client_delete_simulation(other, "arm", token + 1, 0, NULL, &error), DYN_CLIENT_PERMISSION_DENIED,
            "delete_simulation.token", "the request has another one");
    double tau[NQ] = {1};
    dyn_client_simulation_input input = DYN_CLIENT_SIMULATION_INPUT_INIT(.nq = NQ, .nv = NQ, .tau = tau);
    refused(dyn_client_set_simulation_input(other, "arm", 1, &input, 0, NULL, &error), DYN_CLIENT_PERMISSION_DENIED,
            "set_simulation_input.token", commander);
    refused(dyn_client_claim_simulation(other, "arm", 0, 0, &token, NULL, &error), DYN_CLIENT_FAILED_PRECONDITION,
            "claim_simulation.simulation", "lease has run out");
    dyn_client_close(other);
    state = look("arm");
    ck_assert_uint_eq(state->step, 0);
    dyn_client_simulation_free(state);
}
END_TEST

START_TEST(lease_ends_a_simulation_whose_client_died) {
    pid_t child = fork();
    if (child == 0) {
        /* Another client, which dies without a message. */
        execl(DYNAMICSCTL_PROGRAM, "dynamicsctl", "--endpoint", fixture.request_ipc, "call", "CreateSimulation",
              "{\"name\": \"orphan\", \"query\": {\"model\": \"ur5\"}, \"lease\": 0.2, \"pace\": \"PACE_CLOCK\"}",
              (char *)NULL);
        _exit(127);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    dyn_client_simulation_options kept =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "kept",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                           .lease = 0.2, .keep = true);
    uint64_t token = create(&kept), claimed;
    pause_for(0.6);
    refused(dyn_client_get_simulation(client, "orphan", 0, 0, &(dyn_client_simulation *){NULL}, &error),
            DYN_CLIENT_NOT_FOUND, "get_simulation_state.simulation", "no simulation");
    refused(dyn_client_step_simulation(client, "kept", token, 1, NULL, 0, NULL, &error), DYN_CLIENT_FAILED_PRECONDITION,
            "step_simulation.token", "claim it");
    ok(dyn_client_claim_simulation(client, "kept", 5, 0, &claimed, NULL, &error));
    ck_assert_uint_ne(claimed, token);
    ok(dyn_client_step_simulation(client, "kept", claimed, 1, NULL, 0, NULL, &error));
}
END_TEST

START_TEST(bad_input_is_refused_by_the_path_of_its_field) {
    dyn_client_simulation *created = NULL;
    uint64_t token;
    double nan_q[NQ] = {0, 0, NAN}, gain[] = {-1};
    const struct {
        dyn_client_simulation_options options;
        dyn_client_status status;
        const char *field, *word;
    } cases[] = {
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur6")),
         DYN_CLIENT_NOT_FOUND, "create_simulation.query.model", "ur5"},
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                            .name = "a b"),
         DYN_CLIENT_INVALID_ARGUMENT, "create_simulation.name", "letters"},
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                            .name = "../x"),
         DYN_CLIENT_INVALID_ARGUMENT, "create_simulation.name", "letters"},
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                            .stepping =
                                                &(dyn_client_stepping)DYN_CLIENT_STEPPING_INIT(.step_length = -1)),
         DYN_CLIENT_INVALID_ARGUMENT, "create_simulation.stepping.step_length", "-1"},
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                            .stepping =
                                                &(dyn_client_stepping)DYN_CLIENT_STEPPING_INIT(.step_length = NAN)),
         DYN_CLIENT_INVALID_ARGUMENT, "create_simulation.stepping.step_length", "nan"},
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                            .rate = 1e9),
         DYN_CLIENT_INVALID_ARGUMENT, "create_simulation.rate", "1e+09"},
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                            .lease = 0.01),
         DYN_CLIENT_INVALID_ARGUMENT, "create_simulation.lease", "0.01"},
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                            .publish_rate = -3),
         DYN_CLIENT_INVALID_ARGUMENT, "create_simulation.publish_rate", "-3"},
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                            .stepping =
                                                &(dyn_client_stepping)DYN_CLIENT_STEPPING_INIT(.substeps = 20000)),
         DYN_CLIENT_RESOURCE_EXHAUSTED, "create_simulation.stepping.substeps", "20000"},
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                            .stepping =
                                                &(dyn_client_stepping)DYN_CLIENT_STEPPING_INIT(.restitution = 2)),
         DYN_CLIENT_INVALID_ARGUMENT, "create_simulation.stepping.restitution", "2"},
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                            .stepping =
                                                &(dyn_client_stepping)DYN_CLIENT_STEPPING_INIT(.integrator = 9)),
         DYN_CLIENT_INVALID_ARGUMENT, "create_simulation.stepping.integrator", "9"},
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                            .disturbance = -1),
         DYN_CLIENT_INVALID_ARGUMENT, "create_simulation.disturbance[0]", "-1"},
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"), .nq = 3,
                                            .q = nan_q),
         DYN_CLIENT_INVALID_ARGUMENT, "create_simulation.q", "3 values"},
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"), .nq = NQ,
                                            .q = nan_q),
         DYN_CLIENT_INVALID_ARGUMENT, "create_simulation.q[2]", "elbow_joint"},
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                            .stepping = &(dyn_client_stepping)DYN_CLIENT_STEPPING_INIT(
                                                    .law = DYN_CLIENT_CONTROL_LAW_PD, .gain_count = 1, .kp = gain)),
         DYN_CLIENT_INVALID_ARGUMENT, "create_simulation.stepping.controller.kp[0]", "negative"},
        {DYN_CLIENT_SIMULATION_OPTIONS_INIT(
                 .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5", .joint_count = 1,
                                                                   .joint_names = (const char *const[]){"elbow"})),
         DYN_CLIENT_NOT_FOUND, "create_simulation.query.joint_names[0]", "elbow"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        refused(dyn_client_create_simulation(client, &cases[i].options, &token, &created, &error), cases[i].status,
                cases[i].field, cases[i].word);
    }
    token = create(&lockstep);
    refused(dyn_client_create_simulation(client, &lockstep, &token, &created, &error), DYN_CLIENT_ALREADY_EXISTS,
            "create_simulation.name", "arm");
}
END_TEST

START_TEST(bad_commands_are_refused_by_the_path_of_their_field) {
    double bad[NQ] = {0, INFINITY};
    uint64_t token = create(&lockstep);
    dyn_client_simulation_input input = DYN_CLIENT_SIMULATION_INPUT_INIT(.nq = NQ, .nv = NQ, .tau = bad);
    refused(dyn_client_set_simulation_input(client, "arm", token, &input, 0, NULL, &error), DYN_CLIENT_INVALID_ARGUMENT,
            "set_simulation_input.input.tau[1]", "shoulder_lift_joint");
    input = (dyn_client_simulation_input)DYN_CLIENT_SIMULATION_INPUT_INIT(.nq = 2, .nv = NQ, .q_ref = bad);
    refused(dyn_client_step_simulation(client, "arm", token, 1, &input, 0, NULL, &error), DYN_CLIENT_INVALID_ARGUMENT,
            "step_simulation.input.q_ref", "2 values");
    refused(dyn_client_set_simulation_state(client, "arm", token, NQ, NQ, bad, NULL, 0, NULL, &error),
            DYN_CLIENT_INVALID_ARGUMENT, "set_simulation_state.q[1]", "inf");
    refused(dyn_client_pause_simulation(client, "arm", token, 0, NULL, &error), DYN_CLIENT_FAILED_PRECONDITION,
            "pause_simulation.simulation", "lockstep");
    refused(dyn_client_resume_simulation(client, "arm", token, 0, NULL, &error), DYN_CLIENT_FAILED_PRECONDITION,
            "resume_simulation.simulation", "lockstep");
    refused(dyn_client_reset_simulation(client, "arn", token, 0, NULL, &error), DYN_CLIENT_NOT_FOUND,
            "reset_simulation.simulation", "did you mean \"arm\"");
    refused(dyn_client_claim_simulation(client, "arm", -1, 0, &token, NULL, &error), DYN_CLIENT_INVALID_ARGUMENT,
            "claim_simulation.lease", "-1");
    refused(dyn_client_record_simulation(client, "arm", token, "a/b", 0, &error), DYN_CLIENT_INVALID_ARGUMENT,
            "record_simulation.recording", "letters");
    refused(dyn_client_stop_recording(client, "arm", token, 0, NULL, NULL, &error), DYN_CLIENT_FAILED_PRECONDITION,
            "stop_recording.simulation", "no recording");
    refused(dyn_client_record_simulation(client, "arm", token, "run.1", 0, &error), DYN_CLIENT_INVALID_ARGUMENT,
            "record_simulation.recording", "'_' and '-'");
    const dyn_client_simulation_options dotted =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "arm.2",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"));
    refused(dyn_client_create_simulation(client, &dotted, &token, &(dyn_client_simulation *){NULL}, &error),
            DYN_CLIENT_INVALID_ARGUMENT, "create_simulation.name", "\"arm.2\" is no name");
    /* An empty name is an error and ends nothing. */
    refused(dyn_client_record_simulation(client, "arm", token, "", 0, &error), DYN_CLIENT_INVALID_ARGUMENT,
            "record_simulation.recording", "letters");
    dyn_client_replay *replay;
    refused(dyn_client_replay_simulation(client, "none", NULL, NULL, &replay, &error), DYN_CLIENT_NOT_FOUND,
            "replay_simulation.recording", "none.recording: No such file or directory; ListRecordings tells which");
    dyn_client_watch *watch;
    refused(dyn_client_watch_simulation(client, "x", 0, &watch, &error), DYN_CLIENT_NOT_FOUND,
            "watch_simulation.simulation", "no simulation");
}
END_TEST

START_TEST(limits_are_kept) {
    start_with("[limits]\nsimulations = 2\ntopics = 1\nrequest_time = 0.2\n");
    dyn_client_simulation *created;
    dyn_client_watch *first, *second;
    uint64_t token, unused;
    dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "two_link"));
    dyn_client_simulation_list *list;
    create(&options);
    ok(dyn_client_create_simulation(client, &options, &token, &created, &error));
    refused(dyn_client_create_simulation(client, &options, &unused, &(dyn_client_simulation *){NULL}, &error),
            DYN_CLIENT_RESOURCE_EXHAUSTED, "", "limits.simulations");
    ok(dyn_client_list_simulations(client, 0, &list, &error));
    ck_assert_uint_eq(list->count, 2);
    ok(dyn_client_watch_simulation(client, list->simulations[0].name, 0, &first, &error));
    refused(dyn_client_watch_simulation(client, list->simulations[1].name, 0, &second, &error),
            DYN_CLIENT_RESOURCE_EXHAUSTED, "", "limits.topics");
    dyn_client_watch_close(first);
    dyn_client_simulation_list_free(list);
    dyn_client_simulation_free(created);
    stop();
}
END_TEST

/* Checks that the reply to a step request states the number of steps done, and the reason for their end. */
static void expect_end(const dyn_client_simulation *state, dyn_client_steps_end end, uint64_t done) {
    ck_assert_str_eq(dyn_client_steps_end_name(state->ended_by), dyn_client_steps_end_name(end));
    ck_assert_uint_eq(state->steps_done, done);
}

START_TEST(steps_past_the_deadline_are_counted_and_answered) {
    start_with("[limits]\nrequest_time = 0.2\n");
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "arm",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "two_link"));
    dyn_client_simulation *state;
    uint64_t token = create(&options);
    ok(dyn_client_step_simulation(client, "arm", token, 7, NULL, 0, &state, &error));
    expect_end(state, DYN_CLIENT_STEPS_END_STEPS, 7);
    dyn_client_simulation_free(state);
    ok(dyn_client_step_simulation(client, "arm", token, 0, NULL, 0, &state, &error));
    expect_end(state, DYN_CLIENT_STEPS_END_STEPS, 1);
    dyn_client_simulation_free(state);
    ok(dyn_client_step_simulation(client, "arm", token, UINT64_MAX, NULL, 0, &state, &error));
    ck_assert_uint_gt(state->steps_done, 0);
    expect_end(state, DYN_CLIENT_STEPS_END_DEADLINE, state->step - 8);
    dyn_client_simulation_free(state);
    stop();
}
END_TEST

/* Checks the deadline of steps of which each takes several milliseconds, and all together seconds. */
START_TEST(steps_of_many_evaluations_end_at_the_deadline) {
    enum { STEPS = 60 };
    start_with("[limits]\nrequest_time = 0.2\n");
    const dyn_client_stepping stepping =
        DYN_CLIENT_STEPPING_INIT(.integrator = DYN_CLIENT_INTEGRATOR_RK4, .substeps = 10000);
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "arm",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "panda"),
                                           .stepping = &stepping);
    dyn_client_simulation *state;
    uint64_t token = create(&options);
    ok(dyn_client_step_simulation(client, "arm", token, STEPS, NULL, 0, &state, &error));
    ck_assert_uint_lt(state->steps_done, STEPS);
    expect_end(state, DYN_CLIENT_STEPS_END_DEADLINE, state->step);
    dyn_client_simulation_free(state);
    stop();
}
END_TEST

START_TEST(steps_of_a_diverging_simulation_are_counted) {
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "fast",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "two_link"));
    const double tau[] = {1e9, 0};
    const dyn_client_simulation_input input = DYN_CLIENT_SIMULATION_INPUT_INIT(.nv = 2, .tau = tau);
    dyn_client_simulation *state;
    uint64_t token = create(&options);
    ok(dyn_client_step_simulation(client, "fast", token, 100000, &input, 0, &state, &error));
    ck_assert_int_eq(state->condition, DYN_CLIENT_CONDITION_DIVERGED);
    ck_assert_uint_lt(state->steps_done, 100000);
    expect_end(state, DYN_CLIENT_STEPS_END_DIVERGED, state->step);
    dyn_client_simulation_free(state);
    ok(dyn_client_delete_simulation(client, "fast", token, 0, NULL, &error));
}
END_TEST

/* ---- watchers ---------------------------------------------------------------------------------------------------- */

/* Returns wall time, ns since 1970-01-01 UTC. */
static int64_t wall_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

START_TEST(wall_times_of_states_and_events_are_nanoseconds) {
    dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "clocked",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "two_link"),
                                           .pace = DYN_CLIENT_PACE_CLOCK);
    dyn_client_watch *watch;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    int64_t before = wall_now();
    uint64_t token = create(&options);
    ok(dyn_client_watch_simulation(client, "clocked", 0, &watch, &error));
    ok(dyn_client_watch_next(watch, 5, &update, &error));
    dyn_client_simulation *state = look("clocked");
    int64_t after = wall_now();
    ck_assert_int_ge(update.stamp_ns, before);
    ck_assert_int_le(update.stamp_ns, after);
    ck_assert_int_ge(state->stamp_ns, before);
    ck_assert_int_le(state->stamp_ns, after);
    dyn_client_simulation_free(state);
    dyn_client_watch_close(watch);
    ok(dyn_client_delete_simulation(client, "clocked", token, 0, NULL, &error));
}
END_TEST

/* Returns the number of the daemon's instance, after checking that events of a new simulation contain it. */
static uint64_t check_instance(const char *name) {
    dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = name,
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "two_link"),
                                           .pace = DYN_CLIENT_PACE_CLOCK);
    dyn_client_server_info *info;
    dyn_client_watch *watch;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    ok(dyn_client_get_server_info(client, 0, &info, &error));
    uint64_t instance = info->instance;
    dyn_client_server_info_free(info);
    create(&options);
    ok(dyn_client_watch_simulation(client, name, 0, &watch, &error));
    ok(dyn_client_watch_next(watch, 5, &update, &error));
    ck_assert_uint_eq(update.instance, instance);
    dyn_client_watch_close(watch);
    return instance;
}

START_TEST(restart_shows_in_the_instance) {
    uint64_t first = check_instance("one");
    ck_assert_uint_ne(first, 0);
    ck_assert_uint_eq(check_instance("two"), first);
    daemon_restart(&fixture);
    uint64_t second = check_instance("three");
    ck_assert_uint_ne(second, 0);
    ck_assert_uint_ne(second, first);
}
END_TEST

START_TEST(watcher_gets_its_simulation_and_nothing_else) {
    dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "seen",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                           .pace = DYN_CLIENT_PACE_CLOCK, .publish_rate = 1000);
    dyn_client_simulation_options other =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "other",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                           .pace = DYN_CLIENT_PACE_CLOCK, .publish_rate = 1000);
    dyn_client_server_info *before, *after;
    dyn_client_watch *watch;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    create(&options);
    create(&other);
    ok(dyn_client_get_server_info(client, 0, &before, &error));
    pause_for(0.1);
    ok(dyn_client_get_server_info(client, 0, &after, &error));
    ck_assert_uint_eq(dyn_client_server_counter(before, "events"), dyn_client_server_counter(after, "events"));
    dyn_client_server_info_free(before);
    dyn_client_server_info_free(after);

    ok(dyn_client_watch_simulation(client, "seen", 0, &watch, &error));
    uint64_t last = 0, states = 0;
    while (states < 200) {
        ok(dyn_client_watch_next(watch, 5, &update, &error));
        if (update.kind != DYN_CLIENT_UPDATE_KIND_STATES) {
            continue; /* an overrun, on a busy machine */
        }
        ck_assert_uint_eq(update.nq, NQ);
        for (size_t i = 0; i < update.count; i++) {
            /* The update reports lost states where steps are missing. */
            ck_assert(last == 0 || update.step[i] == last + 1 || update.lost > 0);
            ck_assert_double_eq_tol(update.time[i], (double)update.step[i] * 1e-3, 1e-9);
            last = update.step[i];
        }
        states += update.count;
    }
    dyn_client_simulation *simulation = look("other");
    ck_assert_uint_eq(simulation->watchers, 0);
    dyn_client_simulation_free(simulation);
    dyn_client_watch_close(watch);
}
END_TEST

START_TEST(slow_and_vanished_watchers_do_not_slow_a_simulation) {
    dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "arm",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                           .pace = DYN_CLIENT_PACE_CLOCK, .publish_rate = 1000);
    dyn_client_watch *slow, *quick;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    create(&options);
    ok(dyn_client_watch_simulation(client, "arm", 0, &slow, &error));
    /* Another process watches, and is killed. */
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        execl(DYNAMICSCTL_PROGRAM, "dynamicsctl", "--endpoint", fixture.request_ipc, "watch", "arm", (char *)NULL);
        _exit(127);
    }
    pause_for(0.2);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ok(dyn_client_watch_simulation(client, "arm", 0, &quick, &error));
    dyn_client_simulation *before = look("arm");
    for (int i = 0; i < 1000; i++) {
        ok(dyn_client_watch_next(quick, 5, &update, &error));
    }
    /* The slow watcher receives the contents of its queue, with the number of lost updates. */
    dyn_client_simulation *after = look("arm");
    ck_assert_double_eq_tol(after->time - before->time, seconds(after->stamp_ns - before->stamp_ns),
                            0.05 + after->slipped);
    ok(dyn_client_watch_next(slow, 5, &update, &error));
    dyn_client_simulation_free(before);
    dyn_client_simulation_free(after);
    dyn_client_watch_close(slow);
    dyn_client_watch_close(quick);
}
END_TEST

START_TEST(events_report_limits_resets_and_divergence) {
    dyn_client_watch *watch;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    uint64_t token = create(&lockstep);
    double tau[NQ] = {0, 0, 0, 0, 0, 0};
    ok(dyn_client_watch_simulation(client, "arm", 0, &watch, &error));
    /* The input drives the elbow into its limit. */
    tau[2] = 150;
    dyn_client_simulation_input input = DYN_CLIENT_SIMULATION_INPUT_INIT(.nv = NQ, .tau = tau);
    ok(dyn_client_step_simulation(client, "arm", token, 3000, &input, 0, NULL, &error));
    ok(dyn_client_reset_simulation(client, "arm", token, 0, NULL, &error));
    const double v[NQ] = {1e9};
    ok(dyn_client_set_simulation_state(client, "arm", token, NQ, NQ, (double[NQ]){0}, v, 0, NULL, &error));
    ok(dyn_client_step_simulation(client, "arm", token, 1, NULL, 0, NULL, &error));
    bool has_limit = false, has_reset = false, has_divergence = false;
    while (!has_divergence) {
        ok(dyn_client_watch_next(watch, 5, &update, &error));
        if (update.kind == DYN_CLIENT_UPDATE_KIND_SIMULATION_EVENT) {
            has_limit = has_limit || (strcmp(update.text, "limit") == 0 && strcmp(update.joint, "elbow_joint") == 0);
            has_reset = has_reset || strcmp(update.text, "reset") == 0;
            has_divergence = strcmp(update.text, "diverged") == 0;
        }
    }
    ck_assert(has_limit);
    ck_assert(has_reset);
    dyn_client_watch_close(watch);
}
END_TEST

/* ---- files ------------------------------------------------------------------------------------------------------- */

START_TEST(recorded_run_is_replayed_bit_for_bit) {
    const double gains[] = {50, 5};
    dyn_client_simulation_options options = DYN_CLIENT_SIMULATION_OPTIONS_INIT(
            .name = "arm", .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
            .pace = DYN_CLIENT_PACE_CLOCK,
            .stepping = &(dyn_client_stepping)DYN_CLIENT_STEPPING_INIT(.law = DYN_CLIENT_CONTROL_LAW_COMPUTED_TORQUE,
                                                                       .gain_count = 1, .kp = gains, .kd = gains + 1),
            .disturbance = 0.5, .seed = 11);
    uint64_t token = create(&options);
    double q[NQ] = {0.3, -0.4, 0.5, 0.2, 0.1, -0.2}, tau[NQ] = {1, 2, 3};
    dyn_client_simulation_input input = DYN_CLIENT_SIMULATION_INPUT_INIT(.nq = NQ, .nv = NQ, .q_ref = q);
    pause_for(0.05);
    ok(dyn_client_record_simulation(client, "arm", token, "run", 0, &error));
    refused(dyn_client_record_simulation(client, "arm", token, "run2", 0, &error), DYN_CLIENT_FAILED_PRECONDITION,
            "record_simulation.recording", "under way");
    pause_for(0.1);
    ok(dyn_client_set_simulation_input(client, "arm", token, &input, 0, NULL, &error));
    pause_for(0.1);
    input = (dyn_client_simulation_input)DYN_CLIENT_SIMULATION_INPUT_INIT(.nv = NQ, .tau = tau);
    ok(dyn_client_set_simulation_input(client, "arm", token, &input, 0, NULL, &error));
    pause_for(0.1);
    ok(dyn_client_reset_simulation(client, "arm", token, 0, NULL, &error));
    pause_for(0.1);
    ok(dyn_client_stop_recording(client, "arm", token, 0, NULL, NULL, &error));
    refused(dyn_client_record_simulation(client, "arm", token, "run", 0, &error), DYN_CLIENT_ALREADY_EXISTS,
            "record_simulation.recording", "already");
    dyn_client_replay *replay;
    ok(dyn_client_replay_simulation(client, "run", &(dyn_client_rows){0, 1, 10}, NULL, &replay, &error));
    ck_assert_uint_gt(replay->steps, 300);
    ck_assert_uint_eq(replay->equal_steps, replay->steps);
    ck_assert_uint_eq(replay->first_difference, 0);
    ck_assert(!replay->is_truncated);
    ck_assert_uint_eq(replay->count, 10);
    ck_assert_uint_eq(replay->nq, NQ);
    uint64_t steps = replay->steps;
    dyn_client_replay_free(replay);
    /* Zeros select all rows from the beginning; without a selection there are none. */
    ok(dyn_client_replay_simulation(client, "run", &(dyn_client_rows){0}, NULL, &replay, &error));
    ck_assert_uint_eq(replay->count, steps);
    uint64_t first = replay->step[0], third = replay->step[2];
    dyn_client_replay_free(replay);
    ok(dyn_client_replay_simulation(client, "run", &(dyn_client_rows){.first = first, .stride = third - first}, NULL,
                                    &replay, &error));
    ck_assert_uint_eq(replay->step[0], first);
    ck_assert_uint_eq(replay->step[1], third);
    dyn_client_replay_free(replay);
    ok(dyn_client_replay_simulation(client, "run", NULL, NULL, &replay, &error));
    ck_assert_uint_eq(replay->count, 0);
    dyn_client_replay_free(replay);
}
END_TEST

/* Loads a pendulum by a request, so that no model directory contains it. `digest` receives the beginning of the model's
 * digest. */
static void load_pendulum_as(const char *name, double length, char digest[DIGEST_PREFIX]) {
    char urdf[512];
    snprintf(
        urdf, sizeof urdf,
        "<robot name='pendulum'><link name='base'/><link name='rod'><inertial><origin xyz='0 0 -%g'/><mass value='1'/>"
        "<inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='pivot' "
        "type='continuous'><parent link='base'/><child link='rod'/><axis xyz='1 0 0'/></joint></robot>",
        length);
    dyn_client_loaded_model *loaded;
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.name = name, .urdf = urdf, .replace = true);
    ok(dyn_client_load_model(client, &request, &loaded, &error));
    snprintf(digest, DIGEST_PREFIX, "%s", loaded->model.digest);
    dyn_client_loaded_model_free(loaded);
}

static void load_pendulum(double length) {
    char digest[DIGEST_PREFIX];
    load_pendulum_as("pendulum", length, digest);
}

START_TEST(recording_is_replayed_without_its_model) {
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "swing",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "pendulum"),
                                           .disturbance = 1, .seed = 3);
    load_pendulum(0.5);
    uint64_t token = create(&options);
    ok(dyn_client_record_simulation(client, "swing", token, "swing", 0, &error));
    ok(dyn_client_step_simulation(client, "swing", token, 100, NULL, 0, NULL, &error));
    uint64_t entries, bytes;
    ok(dyn_client_stop_recording(client, "swing", token, 0, &entries, &bytes, &error));
    ck_assert_uint_gt(entries, 0);
    ck_assert_uint_gt(bytes, entries);
    ok(dyn_client_delete_simulation(client, "swing", token, 0, NULL, &error));
    /* The replay works without a model of the recorded name, and while that name belongs to another model. */
    for (int k = 0; k < 2; k++) {
        dyn_client_replay *replay;
        ok(dyn_client_unload_model(client, "pendulum", 0, &error));
        if (k == 1) {
            load_pendulum(0.7);
        }
        ok(dyn_client_replay_simulation(client, "swing", NULL, NULL, &replay, &error));
        ck_assert_uint_eq(replay->steps, 100);
        ck_assert_uint_eq(replay->equal_steps, 100);
        dyn_client_replay_free(replay);
        load_pendulum(0.7);
    }
}
END_TEST

START_TEST(simulations_of_models_that_were_loaded_by_request_outlive_a_restart) {
    const char *const names[] = {"first", "second", "third"};
    uint64_t tokens[3];
    dyn_client_simulation *before[3], *after;
    size_t count;
    load_pendulum(0.5);
    for (int k = 0; k < 3; k++) {
        /* The third simulation is of another model, which has replaced the first one under its name. */
        if (k == 2) {
            load_pendulum(0.7);
        }
        const dyn_client_simulation_options options =
            DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = names[k],
                                               .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "pendulum"),
                                               .disturbance = 1);
        tokens[k] = create(&options);
        step(names[k], tokens[k], 50, &before[k]);
        dyn_client_simulation_free(before[k]);
    }
    ok(dyn_client_save_simulations(client, 0, &count, &error));
    for (int k = 0; k < 3; k++) {
        step(names[k], tokens[k], 50, &before[k]);
    }
    dyn_client_close(client);
    /* The daemon saves once more at its end; that snapshot is read after the restart. */
    daemon_restart(&fixture);
    client = connect_to(fixture.request_ipc);
    for (int k = 0; k < 3; k++) {
        after = look(names[k]);
        ck_assert_uint_eq(after->step, 100);
        ck_assert_mem_eq(after->q, before[k]->q, sizeof(double));
        ck_assert_mem_eq(after->v, before[k]->v, sizeof(double));
        dyn_client_simulation_free(before[k]);
        dyn_client_simulation_free(after);
        step(names[k], tokens[k], 1, NULL);
    }
}
END_TEST

/* Finds the only snapshot file of the state directory. */
static void find_snapshot(char path[160]) {
    char pattern[160];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/state/simulations.*.snapshot", fixture.directory);
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    ck_assert_uint_eq(found.gl_pathc, 1);
    snprintf(path, 160, "%s", found.gl_pathv[0]);
    globfree(&found);
}

static uint32_t read_word(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Recomputes the checksums of all records of a file (record_file.h). */
static void seal_records(uint8_t *bytes, size_t size) {
    for (size_t at = 0; at + 8 <= size; at += 8 + read_word(bytes + at)) {
        uint32_t crc = UINT32_MAX;
        for (size_t i = 0; i < 4 + read_word(bytes + at); i++) {
            crc ^= bytes[at + i + (i < 4 ? 0 : 4)];
            for (int bit = 0; bit < 8; bit++) {
                crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
            }
        }
        for (int i = 0; i < 4; i++) {
            bytes[at + 4 + (size_t)i] = (uint8_t)(~crc >> 8 * i);
        }
    }
}

/* Replaces every number in the snapshot that equals `q` by NaN, and corrects the checksums. */
static void spoil_snapshot(double q) {
    const double nan = NAN;
    char path[160];
    uint8_t bytes[65536];
    int spoilt = 0;
    find_snapshot(path);
    FILE *file = fopen(path, "r+");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    for (size_t i = 0; i + sizeof q <= size; i++) {
        if (memcmp(bytes + i, &q, sizeof q) == 0) {
            memcpy(bytes + i, &nan, sizeof nan);
            spoilt++;
        }
    }
    seal_records(bytes, size);
    rewind(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_gt(spoilt, 0);
}

/* Checks that one bad simulation in a snapshot does not prevent the restoration of another one of its model. Only the
 * first, bad one describes the model in the file. */
START_TEST(bad_simulation_in_a_snapshot_costs_no_other_of_its_model) {
    const char *const names[] = {"first", "second"};
    uint64_t tokens[2];
    dyn_client_simulation *before[2], *after;
    size_t count;
    load_pendulum(0.5);
    for (int k = 0; k < 2; k++) {
        const dyn_client_simulation_options options =
            DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = names[k],
                                               .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "pendulum"),
                                               .disturbance = 1, .seed = (uint64_t)k + 1);
        tokens[k] = create(&options);
        step(names[k], tokens[k], 50, &before[k]);
    }
    ok(dyn_client_save_simulations(client, 0, &count, &error));
    for (int k = 0; k < 2; k++) {
        ok(dyn_client_delete_simulation(client, names[k], tokens[k], 0, NULL, &error));
    }
    ok(dyn_client_unload_model(client, "pendulum", 0, &error));
    spoil_snapshot(before[0]->q[0]);
    ok(dyn_client_restore_simulations(client, 0, &count, &error));
    ck_assert_uint_eq(count, 1);
    after = look("second");
    ck_assert_uint_eq(after->step, 50);
    ck_assert_mem_eq(after->q, before[1]->q, sizeof(double));
    for (int k = 0; k < 2; k++) {
        dyn_client_simulation_free(before[k]);
    }
    dyn_client_simulation_free(after);
}
END_TEST

/* Checks that a simulation whose model was replaced is restored with its own model, which needs no name: here both its
 * own name and the one with its digest belong to models of other simulations. */
START_TEST(replaced_model_is_restored_without_a_name) {
    char digest[DIGEST_PREFIX], other[DIGEST_PREFIX], name[64];
    const char *const names[] = {"a", "b", "c"};
    load_pendulum_as("pendulum", 0.5, digest);
    snprintf(name, sizeof name, "pendulum-%s", digest + strlen("sha256:"));
    const dyn_client_simulation_options last =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = names[2],
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "pendulum"));
    create(&last);
    load_pendulum_as("pendulum", 0.7, other);
    load_pendulum_as(name, 0.9, other);
    for (int k = 0; k < 2; k++) {
        const dyn_client_simulation_options options =
            DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = names[k],
                                               .query =
                                                   &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = k == 0 ? "pendulum"
                                                                                                            : name));
        create(&options);
    }
    dyn_client_close(client);
    daemon_restart(&fixture);
    client = connect_to(fixture.request_ipc);
    dyn_client_simulation_free(look("a"));
    dyn_client_simulation_free(look("b"));
    dyn_client_simulation *restored = look("c");
    ck_assert_str_eq(restored->model, "pendulum");
    ck_assert_int_eq(strncmp(restored->digest, digest, strlen(digest)), 0);
    dyn_client_simulation_free(restored);
}
END_TEST

START_TEST(changed_recording_is_found_out) {
    uint64_t token = create(&lockstep);
    char path[160];
    ok(dyn_client_record_simulation(client, "arm", token, "run", 0, &error));
    ok(dyn_client_step_simulation(client, "arm", token, 100, NULL, 0, NULL, &error));
    ok(dyn_client_stop_recording(client, "arm", token, 0, NULL, NULL, &error));
    snprintf(path, sizeof path, "%s/state/recordings/run.recording", fixture.directory);
    FILE *file = fopen(path, "r+");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    /* Changes one bit of a late state; then cuts off the end. */
    ck_assert_int_eq(fseek(file, size - 40, SEEK_SET), 0);
    int byte = fgetc(file);
    ck_assert_int_eq(fseek(file, size - 40, SEEK_SET), 0);
    fputc(byte ^ 1, file);
    fclose(file);
    dyn_client_replay *replay;
    ok(dyn_client_replay_simulation(client, "run", NULL, NULL, &replay, &error));
    ck_assert_uint_eq(replay->equal_steps, replay->steps - 1);
    ck_assert_uint_eq(replay->first_difference, 100);
    dyn_client_replay_free(replay);
    ck_assert_int_eq(truncate(path, size / 2), 0);
    ok(dyn_client_replay_simulation(client, "run", NULL, NULL, &replay, &error));
    ck_assert(replay->is_truncated);
    ck_assert_uint_eq(replay->equal_steps, replay->steps);
    dyn_client_replay_free(replay);
}
END_TEST

START_TEST(missing_state_directory_is_named) {
    uint64_t token = create(&lockstep);
    char path[160], aside[160];
    snprintf(path, sizeof path, "%s/state", fixture.directory);
    snprintf(aside, sizeof aside, "%s/aside", fixture.directory);
    ck_assert_int_eq(rename(path, aside), 0);
    refused(dyn_client_record_simulation(client, "arm", token, "run", 0, &error), DYN_CLIENT_FAILED_PRECONDITION, "",
            "simulations.state_directory");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ok(dyn_client_record_simulation(client, "arm", token, "run", 0, &error));
    ok(dyn_client_stop_recording(client, "arm", token, 0, NULL, NULL, &error));
}
END_TEST

START_TEST(simulations_outlive_a_restart) {
    dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "arm",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                           .disturbance = 1, .seed = 3);
    dyn_client_simulation_options twin =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "twin",
                                           .query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5"),
                                           .disturbance = 1, .seed = 3);
    uint64_t token = create(&options), twin_token = create(&twin);
    dyn_client_simulation *before, *after, *whole;
    size_t count;
    step("arm", token, 500, &before);
    step("twin", twin_token, 1000, &whole);
    ok(dyn_client_save_simulations(client, 0, &count, &error));
    ck_assert_uint_eq(count, 2);
    dyn_client_close(client);
    daemon_restart(&fixture);
    client = connect_to(fixture.request_ipc);
    after = look("arm");
    check_same_bits(before, after);
    dyn_client_simulation_free(after);
    /* A run with a restart in the middle equals the whole one, disturbance included. */
    step("arm", token, 500, &after);
    check_same_bits(whole, after);
    ok(dyn_client_restore_simulations(client, 0, &count, &error));
    ck_assert_uint_eq(count, 0);
    dyn_client_simulation_free(before);
    dyn_client_simulation_free(after);
    dyn_client_simulation_free(whole);
}
END_TEST

/* ---- many -------------------------------------------------------------------------------------------------------- */

START_TEST(thousand_simulations_come_and_go_without_a_trace) {
    dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &(dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "two_link"),
                                           .pace = DYN_CLIENT_PACE_CLOCK);
    size_t resident[3] = {0}, descriptors[3] = {0};
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 340; i++) {
            dyn_client_simulation *created;
            uint64_t token;
            ok(dyn_client_create_simulation(client, &options, &token, &created, &error));
            if (i % 20 == 0) {
                dyn_client_watch *watch;
                ok(dyn_client_watch_simulation(client, created->name, 0, &watch, &error));
                dyn_client_watch_close(watch);
            }
            ok(dyn_client_delete_simulation(client, created->name, token, 0, NULL, &error));
            dyn_client_simulation_free(created);
        }
        pause_for(0.5);
        resident[round] = daemon_resident_bytes(&fixture);
        descriptors[round] = daemon_open_descriptors(&fixture);
    }
    /* Connections of closed watches may end later. */
    for (int i = 0; i < 100 && descriptors[2] > descriptors[1] + 4; i++) {
        pause_for(0.1);
        descriptors[2] = daemon_open_descriptors(&fixture);
    }
    ck_assert_uint_le(resident[2], resident[1] + DAEMON_MEMORY_SLACK(4));
    ck_assert_uint_le(descriptors[2], descriptors[1] + 4);
    dyn_client_server_info *info;
    ok(dyn_client_get_server_info(client, 0, &info, &error));
    ck_assert_uint_eq(dyn_client_server_counter(info, "simulations"), 0);
    ck_assert_uint_eq(dyn_client_server_counter(info, "topics"), 0);
    dyn_client_server_info_free(info);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("simulations");
    TCase *tests = tcase_create("simulations"), *alone = tcase_create("own configuration");
    tcase_add_checked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 120);
    tcase_set_timeout(alone, 120);
    tcase_add_test(tests, two_links_fall_as_their_energy_requires);
    tcase_add_test(tests, floating_body_under_a_constant_wrench_accelerates_by_newton_and_euler);
    tcase_add_test(tests, wrenches_on_links_act_as_their_joint_torques_do);
    tcase_add_test(tests, external_forces_act_until_replaced_cleared_or_reset);
    tcase_add_test(tests, pushed_run_is_replayed_bit_for_bit_and_outlives_a_restart);
    tcase_add_test(tests, results_are_null_after_an_error);
    tcase_add_test(tests, bad_external_forces_are_refused_by_the_path_of_their_field);
    tcase_add_test(tests, gravity_payloads_and_forces_of_a_query_move_the_simulation);
    tcase_add_test(tests, loaded_run_outlives_restarts_and_is_replayed_bit_for_bit);
    tcase_add_test(tests, bad_queries_of_simulations_are_refused_by_the_path_of_their_part);
    tcase_add_test(tests, all_options_of_stepping_reach_a_simulation);
    tcase_add_test(tests, clock_neither_drifts_nor_leaves_out_steps);
    tcase_add_test(tests, overload_is_counted_and_others_keep_their_pace);
    tcase_add_test(tests, pause_resume_and_reset_change_the_state);
    tcase_add_test(tests, divergence_stops_in_the_last_good_state);
    tcase_add_test(tests, steps_of_a_diverging_simulation_are_counted);
    tcase_add_test(tests, second_commander_is_refused_with_the_name_of_the_first);
    tcase_add_test(tests, lease_ends_a_simulation_whose_client_died);
    tcase_add_test(tests, bad_input_is_refused_by_the_path_of_its_field);
    tcase_add_test(tests, bad_commands_are_refused_by_the_path_of_their_field);
    tcase_add_test(alone, limits_are_kept);
    tcase_add_test(alone, steps_past_the_deadline_are_counted_and_answered);
    tcase_add_test(alone, steps_of_many_evaluations_end_at_the_deadline);
    tcase_add_test(tests, watcher_gets_its_simulation_and_nothing_else);
    tcase_add_test(tests, slow_and_vanished_watchers_do_not_slow_a_simulation);
    tcase_add_test(tests, wall_times_of_states_and_events_are_nanoseconds);
    tcase_add_test(tests, restart_shows_in_the_instance);
    tcase_add_test(tests, events_report_limits_resets_and_divergence);
    tcase_add_test(tests, recorded_run_is_replayed_bit_for_bit);
    tcase_add_test(tests, recording_is_replayed_without_its_model);
    tcase_add_test(tests, simulations_of_models_that_were_loaded_by_request_outlive_a_restart);
    tcase_add_test(tests, bad_simulation_in_a_snapshot_costs_no_other_of_its_model);
    tcase_add_test(tests, replaced_model_is_restored_without_a_name);
    tcase_add_test(tests, changed_recording_is_found_out);
    tcase_add_test(tests, missing_state_directory_is_named);
    tcase_add_test(tests, simulations_outlive_a_restart);
    tcase_add_test(tests, thousand_simulations_come_and_go_without_a_trace);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, alone);
    return run_suite(suite);
}
