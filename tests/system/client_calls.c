/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks rules that hold for every call of the C client: structs of other versions of the header, progress and
 * cancellation; and versions, queries from descriptions, and the events of models.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <check.h>
#include <dynamics_client.h>

#include "system/client_fixture.h"
#include "system/runner.h"

enum { NV = 6, UNKNOWN_BYTES = 16 };

static const double home[NV] = {0};
static const double moon[3] = {0, 0, -1.62};
static dyn_client_error error;

/* Copies the first `size` bytes of a struct, with `size` as its size member, into a block of just as many bytes, so
 * that sanitizers find reads beyond. The caller frees it. */
static void *cut(const void *whole, size_t size) {
    unsigned char *block = calloc(1, size);
    ck_assert_ptr_nonnull(block);
    memcpy(block, whole, size);
    memcpy(block, &size, sizeof size);
    return block;
}

/* Copies a struct into a block that is UNKNOWN_BYTES longer, as that of a newer header is, with the byte `last` at its
 * end. The caller frees it. */
static void *grow(const void *whole, size_t size, unsigned char last) {
    size_t grown = size + UNKNOWN_BYTES;
    unsigned char *block = calloc(1, grown);
    ck_assert_ptr_nonnull(block);
    memcpy(block, whole, size);
    memcpy(block, &grown, sizeof grown);
    block[grown - 1] = last;
    return block;
}

static void compute_gravity(const dyn_client_query *query, double *g) {
    ck_assert_msg(dyn_client_gravity(client, query, home, g, &error) == DYN_CLIENT_OK, "%s", error.message);
}

/* ---- structs of other versions ----------------------------------------------------------------------------------- */

START_TEST(older_structs_have_defaults_for_the_members_that_they_lack) {
    const dyn_client_query on_earth = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = 1);
    dyn_client_query on_moon = on_earth;
    on_moon.gravity = moon;
    double expected[NV], light[NV], found[NV];
    compute_gravity(&on_earth, expected);
    compute_gravity(&on_moon, light);
    ck_assert(memcmp(expected, light, sizeof expected) != 0);
    dyn_client_query *older = cut(&on_moon, offsetof(dyn_client_query, gravity));
    compute_gravity(older, found);
    ck_assert_mem_eq(found, expected, sizeof found);
    free(older);
}
END_TEST

START_TEST(newer_structs_are_read_while_their_new_members_are_zero) {
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = 1, .gravity = moon);
    double expected[NV], found[NV];
    compute_gravity(&query, expected);
    dyn_client_query *newer = grow(&query, sizeof query, 0);
    compute_gravity(newer, found);
    ck_assert_mem_eq(found, expected, sizeof found);
    free(newer);
}
END_TEST

START_TEST(newer_structs_are_refused_when_an_unknown_member_is_set) {
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = 1);
    double g[NV];
    dyn_client_query *newer = grow(&query, sizeof query, 1);
    ck_assert_int_eq(dyn_client_gravity(client, newer, home, g, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "query.struct_size");
    ck_assert_msg(strstr(error.message, "does not know") != NULL, "%s", error.message);
    free(newer);
}
END_TEST

/* Makes call number i, in which one struct lacks its size. */
static dyn_client_status call_without_size(int i) {
    static const double tau[NV] = {0};
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = 1);
    const dyn_client_stepping stepping = {.step_length = 0.1};
    const dyn_client_tip tip = {.link = "tool0"};
    const dyn_client_model_description form = {.name = "none"};
    const dyn_client_dh_table table = {.name = "none"};
    const dyn_client_screw_chain chain = {.name = "none"};
    double values[NV];
    void *none;
    uint64_t token;
    switch (i) {
    case 0:
        return dyn_client_gravity(client, &(dyn_client_query){.model = "ur5"}, home, values, &error);
    case 1:
        return dyn_client_connect("ipc:///none", &(dyn_client_options){.timeout = 1}, (dyn_client **)&none, &error);
    case 2:
        return dyn_client_load_model(client, &(dyn_client_load_request){.urdf = ""}, (dyn_client_loaded_model **)&none,
                                     &error);
    case 3:
        return dyn_client_load_model(client,
                                     &(dyn_client_load_request)DYN_CLIENT_LOAD_REQUEST_INIT(.description = &form),
                                     (dyn_client_loaded_model **)&none, &error);
    case 4:
        return dyn_client_load_model(
            client, &(dyn_client_load_request)DYN_CLIENT_LOAD_REQUEST_INIT(.denavit_hartenberg = &table),
            (dyn_client_loaded_model **)&none, &error);
    case 5:
        return dyn_client_load_model(client, &(dyn_client_load_request)DYN_CLIENT_LOAD_REQUEST_INIT(.screws = &chain),
                                     (dyn_client_loaded_model **)&none, &error);
    case 6:
        return dyn_client_derive_model(client, &(dyn_client_derive_request){.model = "ur5"},
                                       (dyn_client_loaded_model **)&none, &error);
    case 7:
        return dyn_client_evaluate(client, &query, &(dyn_client_evaluate_request){.q = home},
                                   (dyn_client_evaluation **)&none, &error);
    case 8:
        return dyn_client_rollout_run(client, &query, &(dyn_client_rollout_request){.q = home},
                                      (dyn_client_rollout **)&none, &error);
    case 9:
        return dyn_client_forward_dynamics_trajectory(client, &query, home, NULL, 1, tau, NULL, &stepping,
                                                      (dyn_client_trajectory **)&none, &error);
    case 10:
        return dyn_client_forward_dynamics_trajectory(client, &query, home, NULL, 1, tau, &tip, NULL,
                                                      (dyn_client_trajectory **)&none, &error);
    case 11:
        return dyn_client_create_simulation(client, &(dyn_client_simulation_options){.query = &query}, &token,
                                            (dyn_client_simulation **)&none, &error);
    case 12:
        return dyn_client_set_simulation_input(client, "none", 1, &(dyn_client_simulation_input){.nv = NV}, 0, NULL,
                                               &error);
    case 13:
        return dyn_client_open_stream(client, &(dyn_client_stream_options){.query = &query},
                                      (dyn_client_stream **)&none, &error);
    case 14:
        return dyn_client_compute_inertia(client, 0, NULL, NULL, NULL, &(dyn_client_body){.volume = 0}, &error);
    default:
        return dyn_client_replay_simulation(client, "none", NULL, &(dyn_client_terms){.timeout = 1},
                                            (dyn_client_replay **)&none, &error);
    }
}

START_TEST(structs_without_a_size_are_refused) {
    static const char *const fields[] = {"query",
                                         "options",
                                         "request",
                                         "request.description",
                                         "request.denavit_hartenberg",
                                         "request.screws",
                                         "request",
                                         "request",
                                         "request",
                                         "stepping",
                                         "tip",
                                         "options",
                                         "set_simulation_input.input",
                                         "options",
                                         "body",
                                         "terms"};
    char field[DYN_CLIENT_FIELD_SIZE];
    snprintf(field, sizeof field, "%s.struct_size", fields[_i]);
    ck_assert_int_eq(call_without_size(_i), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, "struct_size is 0: initialize") != NULL, "%s", error.message);
}
END_TEST

START_TEST(structs_with_a_random_size_are_refused) {
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = 1);
    double g[NV];
    query.struct_size = (size_t)0xbebebebebebebebe;
    ck_assert_int_eq(dyn_client_gravity(client, &query, home, g, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "query.struct_size");
}
END_TEST

START_TEST(results_fill_as_much_as_the_callers_struct_has) {
    const dyn_client_inertia_part ball = {.kind = DYN_CLIENT_INERTIA_KIND_SPHERE, .radius = 0.1, .mass = 2};
    dyn_client_body whole = DYN_CLIENT_BODY_INIT();
    ck_assert_int_eq(dyn_client_compute_inertia(client, 1, &ball, NULL, NULL, &whole, &error), DYN_CLIENT_OK);
    size_t size = offsetof(dyn_client_body, principal_moments);
    dyn_client_body *older = cut(&(dyn_client_body)DYN_CLIENT_BODY_INIT(), size);
    ck_assert_int_eq(dyn_client_compute_inertia(client, 1, &ball, NULL, NULL, older, &error), DYN_CLIENT_OK);
    ck_assert_mem_eq((char *)older + sizeof size, (char *)&whole + sizeof size, size - sizeof size);
    unsigned char *newer = grow(&(dyn_client_body)DYN_CLIENT_BODY_INIT(), sizeof whole, 1);
    ck_assert_int_eq(dyn_client_compute_inertia(client, 1, &ball, NULL, NULL, (dyn_client_body *)newer, &error),
                     DYN_CLIENT_OK);
    ck_assert_mem_eq(newer + sizeof size, (char *)&whole + sizeof size, sizeof whole - sizeof size);
    ck_assert_int_eq(newer[sizeof whole + UNKNOWN_BYTES - 1], 0);
    free(older);
    free(newer);
}
END_TEST

/* ---- progress ---------------------------------------------------------------------------------------------------- */

/* Record of the calls of a progress callback. */
typedef struct witness {
    int count, enough; /* calls so far; cancels at the last of them */
    double last;
    bool is_monotone;
} witness;

static bool note(void *context, double fraction) {
    witness *w = context;
    w->is_monotone = w->is_monotone && fraction >= w->last && fraction <= 1;
    w->last = fraction;
    return ++w->count < w->enough;
}

static dyn_client_query watched_query(witness *w) {
    return (dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = 1, .timeout = 20,
                                                   .progress = note, .progress_context = w);
}

/* Makes call number i of those that can take long. The call is cancelled, so its result must be NULL. */
static dyn_client_status call_watched(int i, witness *w) {
    static const char *const frames[] = {"tool0"};
    static const double tau[NV] = {0};
    const dyn_client_query query = watched_query(w);
    const dyn_client_quantity_request mass = {.quantity = DYN_CLIENT_QUANTITY_MASS_MATRIX};
    const dyn_client_operation lock = {.kind = DYN_CLIENT_OPERATION_KIND_LOCK_JOINTS};
    const dyn_client_terms terms = DYN_CLIENT_TERMS_INIT(.progress = note, .progress_context = w);
    const dyn_client_inertia_part ball = {.kind = DYN_CLIENT_INERTIA_KIND_SPHERE, .radius = 0.1, .mass = 2};
    dyn_client_body body = DYN_CLIENT_BODY_INIT();
    double values[NV * NV], others[NV];
    void *result = NULL;
    dyn_client_status status;
    switch (i) {
    case 0:
        return dyn_client_inverse_dynamics(client, &query, home, NULL, NULL, values, &error);
    case 1:
        return dyn_client_poses(client, &query, home, 1, frames, values, others, &error);
    case 2:
        return dyn_client_random(client, &query, 1, values, &error);
    case 3:
        status = dyn_client_evaluate(
            client, &query,
            &(dyn_client_evaluate_request)DYN_CLIENT_EVALUATE_REQUEST_INIT(.q = home, .quantity_count = 1,
                                                                           .quantities = &mass),
            (dyn_client_evaluation **)&result, &error);
        break;
    case 4:
        status = dyn_client_explain(client, &query, home, NULL, NULL, (dyn_client_explanation **)&result, &error);
        break;
    case 5:
        status = dyn_client_find_base_parameters(client, &query, (dyn_client_base_parameters **)&result, &error);
        break;
    case 6:
        status = dyn_client_rollout_run(
            client, &query, &(dyn_client_rollout_request)DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = home, .steps = 1),
            (dyn_client_rollout **)&result, &error);
        break;
    case 7:
        status = dyn_client_inverse_dynamics_trajectory(client, &query, NULL, home, NULL, NULL, DYN_CLIENT_RATES_GIVEN,
                                                        NULL, (dyn_client_trajectory **)&result, &error);
        break;
    case 8:
        status = dyn_client_forward_dynamics_trajectory(client, &query, home, NULL, 1, tau, NULL, NULL,
                                                        (dyn_client_trajectory **)&result, &error);
        break;
    case 9:
        status = dyn_client_load_model(client,
                                       &(dyn_client_load_request)DYN_CLIENT_LOAD_REQUEST_INIT(
                                               .urdf = "<robot name='unwanted'><link name='base'/></robot>",
                                               .progress = note, .progress_context = w),
                                       (dyn_client_loaded_model **)&result, &error);
        break;
    case 10:
        status = dyn_client_replay_simulation(client, "none", NULL, &terms, (dyn_client_replay **)&result, &error);
        break;
    case 11:
        return dyn_client_compute_inertia(client, 1, &ball, NULL, &terms, &body, &error);
    default:
        status = dyn_client_derive_model(
            client,
            &(dyn_client_derive_request)DYN_CLIENT_DERIVE_REQUEST_INIT(.model = "ur5", .name = "unwanted",
                                                                       .operation_count = 1, .operations = &lock,
                                                                       .progress = note, .progress_context = w),
            (dyn_client_loaded_model **)&result, &error);
    }
    ck_assert_ptr_null(result);
    return status;
}

START_TEST(every_long_call_can_be_cancelled_before_it_begins) {
    witness w = {.enough = 1, .is_monotone = true};
    dyn_client_description *unwanted;
    ck_assert_int_eq(call_watched(_i, &w), DYN_CLIENT_CANCELLED);
    ck_assert_int_eq(w.count, 1);
    ck_assert_msg(strstr(error.message, "before it began") != NULL, "%s", error.message);
    ck_assert_int_eq(dyn_client_describe_model(client, "unwanted", 0, &unwanted, &error), DYN_CLIENT_NOT_FOUND);
}
END_TEST

START_TEST(rollouts_and_trajectories_report_and_are_cancelled_under_way) {
    enum { ROWS = 2000 };
    static double tau[ROWS * NV];
    witness w = {.enough = 4, .is_monotone = true};
    const dyn_client_query query = watched_query(&w);
    dyn_client_status status;
    if (_i == 0) {
        dyn_client_rollout *rollout;
        status = dyn_client_rollout_run(
            client, &query,
            &(dyn_client_rollout_request)DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = home, .steps = 1000000000000,
                                                                         .only_last = true),
            &rollout, &error);
    } else {
        const dyn_client_stepping fine = DYN_CLIENT_STEPPING_INIT(.substeps = 10000);
        dyn_client_trajectory *trajectory;
        status = dyn_client_forward_dynamics_trajectory(client, &query, home, NULL, ROWS, tau, NULL, &fine, &trajectory,
                                                        &error);
    }
    ck_assert_msg(status == DYN_CLIENT_CANCELLED, "%s: %s", dyn_client_status_name(status), error.message);
    ck_assert_msg(strstr(error.message, "the request was cancelled") != NULL, "%s", error.message);
    ck_assert_int_eq(w.count, 4);
    ck_assert(w.is_monotone);
    ck_assert_int_eq(dyn_client_ping(client, 5, &error), DYN_CLIENT_OK);
}
END_TEST

/* Records a simulation of `steps` steps with `substeps` each. */
static void record_run(const char *recording, uint64_t steps, size_t substeps) {
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = 1);
    const dyn_client_stepping fine = DYN_CLIENT_STEPPING_INIT(.substeps = substeps);
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "long", .query = &query, .stepping = &fine,
                                           .pace = DYN_CLIENT_PACE_LOCKSTEP);
    dyn_client_simulation *created;
    uint64_t token;
    ck_assert_int_eq(dyn_client_create_simulation(client, &options, &token, &created, &error), DYN_CLIENT_OK);
    dyn_client_simulation_free(created);
    ck_assert_int_eq(dyn_client_record_simulation(client, "long", token, recording, 0, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_step_simulation(client, "long", token, steps, NULL, 600, NULL, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_delete_simulation(client, "long", token, 0, NULL, &error), DYN_CLIENT_OK);
}

START_TEST(a_replay_reports_and_is_cancelled_under_way) {
    enum { STEPS = 150 }; /* each of many milliseconds */
    witness w = {.enough = 4, .is_monotone = true};
    dyn_client_terms terms = DYN_CLIENT_TERMS_INIT(.timeout = 600, .progress = note, .progress_context = &w);
    dyn_client_replay *replay;
    record_run("long", STEPS, 10000);
    dyn_client_status status = dyn_client_replay_simulation(client, "long", NULL, &terms, &replay, &error);
    ck_assert_msg(status == DYN_CLIENT_CANCELLED, "%s: %s", dyn_client_status_name(status), error.message);
    ck_assert_ptr_null(replay);
    ck_assert_int_eq(w.count, 4);
    ck_assert_msg(w.is_monotone && w.last > 0 && w.last < 1, "%g", w.last);
    w = (witness){.enough = 1000000, .is_monotone = true};
    ck_assert_int_eq(dyn_client_replay_simulation(client, "long", NULL, &terms, &replay, &error), DYN_CLIENT_OK);
    ck_assert_uint_eq(replay->equal_steps, STEPS);
    ck_assert_msg(w.is_monotone && w.count > 3, "%d", w.count);
    dyn_client_replay_free(replay);
}
END_TEST

START_TEST(the_terms_of_a_call_run_it_as_a_job) {
    dyn_client_job_ticket ticket = {.name = "again"};
    dyn_client_terms terms = DYN_CLIENT_TERMS_INIT(.job = &ticket);
    const dyn_client_inertia_part ball = {.kind = DYN_CLIENT_INERTIA_KIND_SPHERE, .radius = 0.1, .mass = 2};
    dyn_client_body body = DYN_CLIENT_BODY_INIT();
    dyn_client_replay *replay;
    record_run("for_a_job", 10, 1);
    ck_assert_int_eq(dyn_client_replay_simulation(client, "for_a_job", NULL, &terms, &replay, &error), DYN_CLIENT_OK);
    ck_assert_uint_eq(replay->equal_steps, 10);
    dyn_client_replay_free(replay);
    ck_assert_int_eq(dyn_client_compute_inertia(client, 1, &ball, NULL, &terms, &body, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "terms.job");
}
END_TEST

START_TEST(call_with_progress_has_the_result_of_one_without) {
    witness w = {.enough = 1000000, .is_monotone = true};
    dyn_client_query query = watched_query(&w);
    double watched[NV], unwatched[NV];
    compute_gravity(&query, watched);
    ck_assert_int_ge(w.count, 1);
    query.progress = NULL;
    compute_gravity(&query, unwatched);
    ck_assert_mem_eq(watched, unwatched, sizeof watched);
}
END_TEST

static uint64_t count_requests(void) {
    dyn_client_server_info *info;
    ck_assert_int_eq(dyn_client_get_server_info(client, 0, &info, &error), DYN_CLIENT_OK);
    uint64_t requests = dyn_client_server_counter(info, "requests");
    dyn_client_server_info_free(info);
    return requests;
}

START_TEST(a_short_call_with_progress_is_one_request) {
    enum { CALLS = 20 };
    witness w = {.enough = 1000000, .is_monotone = true};
    const dyn_client_query query = watched_query(&w);
    double g[NV];
    uint64_t before = count_requests();
    for (int i = 0; i < CALLS; i++) {
        compute_gravity(&query, g);
    }
    /* A call that takes longer than 0.1 s asks where the daemon publishes its progress. */
    ck_assert_uint_lt(count_requests() - before, CALLS + CALLS / 2);
}
END_TEST

/* ---- versions, queries, models ----------------------------------------------------------------------------------- */

START_TEST(version_of_the_header_is_that_of_the_library) {
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", DYN_CLIENT_VERSION_MAJOR, DYN_CLIENT_VERSION_MINOR,
             DYN_CLIENT_VERSION_PATCH);
    ck_assert_str_eq(DYN_CLIENT_VERSION, version);
    ck_assert_str_eq(dyn_client_version(), version);
}
END_TEST

START_TEST(query_for_a_description_has_its_model_and_sizes) {
    dyn_client_description *robot;
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.gravity = moon);
    double g[NV], expected[NV];
    const dyn_client_query written =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = 1, .gravity = moon);
    ck_assert_int_eq(dyn_client_describe_model(client, "ur5", 0, &robot, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_query_for(robot, &query, &error), DYN_CLIENT_OK);
    ck_assert_uint_eq(query.nq, NV);
    ck_assert_uint_eq(query.nv, NV);
    ck_assert_uint_eq(query.samples, 1);
    ck_assert_ptr_eq(query.gravity, moon);
    compute_gravity(&query, g);
    compute_gravity(&written, expected);
    ck_assert_mem_eq(g, expected, sizeof g);
    query.samples = 3;
    ck_assert_int_eq(dyn_client_query_for(robot, &query, &error), DYN_CLIENT_OK);
    ck_assert_uint_eq(query.samples, 3);
    ck_assert_int_eq(dyn_client_query_for(robot, &(dyn_client_query){.samples = 1}, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "query.struct_size");
    dyn_client_description_free(robot);
}
END_TEST

static void load_rod(const char *urdf) {
    dyn_client_loaded_model *loaded;
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = urdf, .replace = true);
    ck_assert_msg(dyn_client_load_model(client, &request, &loaded, &error) == DYN_CLIENT_OK, "%s", error.message);
    dyn_client_loaded_model_free(loaded);
}

/* Waits for an event of the model "rod", and checks its text. */
static void expect_event(dyn_client_watch *watch, const char *text) {
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    ck_assert_msg(dyn_client_watch_next(watch, 10, &update, &error) == DYN_CLIENT_OK, "%s: %s", text, error.message);
    ck_assert_int_eq(update.kind, DYN_CLIENT_UPDATE_KIND_MODEL_EVENT);
    ck_assert_str_eq(update.text, text);
    ck_assert_ptr_nonnull(update.model);
    ck_assert_str_eq(update.model->name, "rod");
    ck_assert_uint_eq(update.lost, 0);
}

START_TEST(watchers_of_models_see_each_load_replacement_and_unload) {
    dyn_client_watch *watch;
    ck_assert_int_eq(dyn_client_watch_models(client, 5, &watch, &error), DYN_CLIENT_OK);
    load_rod("<robot name='rod'><link name='base'/></robot>");
    expect_event(watch, "loaded");
    load_rod("<robot name='rod'><link name='root'/></robot>");
    expect_event(watch, "replaced");
    ck_assert_int_eq(dyn_client_unload_model(client, "rod", 0, &error), DYN_CLIENT_OK);
    expect_event(watch, "unloaded");
    dyn_client_watch_close(watch);
}
END_TEST

START_TEST(a_watch_of_models_sees_the_first_event_after_it_returns) {
    enum { ROUNDS = 100 };
    load_rod("<robot name='rod'><link name='base'/></robot>");
    for (int i = 0; i < ROUNDS; i++) {
        dyn_client_watch *watch;
        ck_assert_int_eq(dyn_client_watch_models(client, 5, &watch, &error), DYN_CLIENT_OK);
        load_rod(i % 2 ? "<robot name='rod'><link name='base'/></robot>"
                       : "<robot name='rod'><link name='root'/></robot>");
        expect_event(watch, "replaced");
        dyn_client_watch_close(watch);
    }
    ck_assert_int_eq(dyn_client_unload_model(client, "rod", 0, &error), DYN_CLIENT_OK);
}
END_TEST

/* Receives messages for at most 0.2 s each until none comes, or one of the topic. */
static bool receives(dyn_client_subscription *subscription, const char *topic) {
    const char *found = "";
    const void *event;
    size_t size = 0;
    dyn_client_status status = DYN_CLIENT_OK;
    while (status == DYN_CLIENT_OK && strncmp(found, topic, strlen(topic)) != 0) {
        status = dyn_client_subscription_next(subscription, 0.2, &found, &event, &size, &error);
        ck_assert(status == DYN_CLIENT_OK ? size > 0 : status == DYN_CLIENT_TIMEOUT);
    }
    return status == DYN_CLIENT_OK;
}

/* Runs a rollout that is cancelled after three reports of its progress. */
static void run_watched_rollout(void) {
    witness w = {.enough = 3, .is_monotone = true};
    const dyn_client_query query = watched_query(&w);
    dyn_client_rollout *rollout;
    ck_assert_int_eq(dyn_client_rollout_run(
                         client, &query,
                         &(dyn_client_rollout_request)DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = home, .steps = 1000000000000,
                                                                                      .only_last = true),
                         &rollout, &error),
                     DYN_CLIENT_CANCELLED);
}

/* Subscribes and sees the events of models and of any progress, whose numbers it does not know. */
static void check_subscription(size_t address_count, const char *const *addresses) {
    static const char *const topics[] = {"models", "progress/*"};
    dyn_client_subscription *subscription;
    ck_assert_msg(dyn_client_subscribe(client, address_count, addresses, 2, topics, 5, &subscription, &error) ==
                      DYN_CLIENT_OK,
                  "%s", error.message);
    bool is_told = false;
    for (int i = 0; i < 100 && !is_told; i++) {
        load_rod(i % 2 ? "<robot name='rod'><link name='base'/></robot>"
                       : "<robot name='rod'><link name='root'/></robot>");
        is_told = receives(subscription, "models");
    }
    ck_assert(is_told);
    run_watched_rollout();
    ck_assert(receives(subscription, "progress/"));
    dyn_client_subscription_close(subscription);
    ck_assert_int_eq(dyn_client_unload_model(client, "rod", 0, &error), DYN_CLIENT_OK);
}

START_TEST(a_subscription_has_the_bytes_of_events) {
    dyn_client_server_info *info;
    dyn_client_subscription *subscription;
    const char *addresses[16];
    size_t count = 0;
    check_subscription(0, NULL);
    ck_assert_int_eq(dyn_client_get_server_info(client, 0, &info, &error), DYN_CLIENT_OK);
    for (size_t i = 0; i < info->endpoint_count && count < 16; i++) {
        if (strcmp(info->endpoints[i].kind, "events") == 0) {
            addresses[count++] = info->endpoints[i].address;
        }
    }
    ck_assert_uint_gt(count, 0);
    check_subscription(count, addresses);
    dyn_client_server_info_free(info);
    ck_assert_int_eq(dyn_client_subscribe(client, 0, NULL, 0, NULL, 0, &subscription, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "topics");
}
END_TEST

int main(void) {
    TCase *all = tcase_create("calls");
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_set_timeout(all, 60);
    tcase_add_test(all, older_structs_have_defaults_for_the_members_that_they_lack);
    tcase_add_test(all, newer_structs_are_read_while_their_new_members_are_zero);
    tcase_add_test(all, newer_structs_are_refused_when_an_unknown_member_is_set);
    tcase_add_loop_test(all, structs_without_a_size_are_refused, 0, 16);
    tcase_add_test(all, structs_with_a_random_size_are_refused);
    tcase_add_test(all, results_fill_as_much_as_the_callers_struct_has);
    tcase_add_loop_test(all, every_long_call_can_be_cancelled_before_it_begins, 0, 13);
    tcase_add_loop_test(all, rollouts_and_trajectories_report_and_are_cancelled_under_way, 0, 2);
    tcase_add_test(all, call_with_progress_has_the_result_of_one_without);
    tcase_add_test(all, a_short_call_with_progress_is_one_request);
    tcase_add_test(all, a_replay_reports_and_is_cancelled_under_way);
    tcase_add_test(all, the_terms_of_a_call_run_it_as_a_job);
    tcase_add_test(all, version_of_the_header_is_that_of_the_library);
    tcase_add_test(all, query_for_a_description_has_its_model_and_sizes);
    tcase_add_test(all, watchers_of_models_see_each_load_replacement_and_unload);
    tcase_add_test(all, a_subscription_has_the_bytes_of_events);
    tcase_add_test(all, a_watch_of_models_sees_the_first_event_after_it_returns);
    return run_unforked("client_calls", all);
}
