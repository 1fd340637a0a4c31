/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the limits of one user: each refusal names the limit, its value and when to try again; other users and
 * administrators go on. Checks that long requests of users take turns at one worker, the limits of all users'
 * states and of processor time, and that a request does not run whose deadline has passed.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <dynamics_client.h>

#include "system/daemon_fixture.h"
#include "system/runner.h"
#include "system/sp_request.h"
#include "system/token_file.h"

#define PLANNER "plan-77c1"
#define RIVAL "riva-5b08"
#define CHIEF "chief-90ee"

/* Numbers of steps of a rollout that takes minutes, and of one that is just too long for the thread that receives it;
 * states of the latter; coordinates of the model. */
enum { ENDLESS_STEPS = 2000000000, LONG_STEPS = 1000, STATES = 64, NV = 6, FLOOD = 2 };

/* Time in which the daemon must act, and the timeout of the calls of `roll`, s. */
static const double PATIENCE = 60;
static double patience;

static daemon_fixture served;
static dyn_client *planner, *rival, *chief;
static dyn_client_error error;
static char tokens[32];
static double q[STATES][NV];

static dyn_client *connect_as(const char *token) {
    dyn_client *connected;
    const dyn_client_options options = DYN_CLIENT_OPTIONS_INIT(.timeout = PATIENCE, .token = token);
    ck_assert_msg(dyn_client_connect(served.request_ipc, &options, &connected, &error) == DYN_CLIENT_OK, "%s",
                  error.message);
    return connected;
}

/* Starts a daemon with these limits. */
static void start_with(const char *limits) {
    static const token_line all[] = {
        {"planner", "user", PLANNER}, {"rival", "user", RIVAL}, {"chief", "administrator", CHIEF}};
    char sections[512];
    snprintf(tokens, sizeof tokens, "/tmp/dynamicsd-tokens-XXXXXX");
    int file = mkstemp(tokens);
    ck_assert_int_ge(file, 0);
    close(file);
    token_file_write(tokens, all, sizeof all / sizeof *all);
    snprintf(sections, sizeof sections, "[access]\ntokens = %s\n[server]\nworkers = 1\ndrain_time = 0\n[limits]\n%s",
             tokens, limits);
    daemon_start(&(daemon_options){.configuration = sections}, &served);
    patience = PATIENCE;
    planner = connect_as(PLANNER);
    rival = connect_as(RIVAL);
    chief = connect_as(CHIEF);
}

static void stop(void) {
    dyn_client_close(planner);
    dyn_client_close(rival);
    dyn_client_close(chief);
    daemon_stop(&served);
    unlink(tokens);
}

static void require(dyn_client_status status) {
    ck_assert_msg(status == DYN_CLIENT_OK, "%s: %s (%d)", error.field, error.message, (int)status);
}

/* Checks that a call was refused for the limit, with this value. */
static void expect_limit(dyn_client_status status, const char *reason, const char *name, uint64_t limit) {
    ck_assert_msg(status == DYN_CLIENT_RESOURCE_EXHAUSTED, "%d: %s", (int)status, error.message);
    ck_assert_str_eq(error.reason, reason);
    ck_assert_str_eq(error.limit_name, name);
    ck_assert_uint_eq(error.limit, limit);
    ck_assert_msg(strstr(error.message, name) != NULL, "%s", error.message);
}

/* Computes a rollout of so many states and steps; rows of the reply have `stride` steps between them. */
static dyn_client_status roll(dyn_client *client, size_t states, uint64_t steps, uint64_t stride) {
    dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = states, .timeout = patience);
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q[0], .steps = steps, .stride = stride, .only_last = stride == 0);
    dyn_client_rollout *result = NULL;
    dyn_client_status status = dyn_client_rollout_run(client, &query, &request, &result, &error);
    dyn_client_rollout_free(result);
    return status;
}

/* ---- requests under way ------------------------------------------------------------------------------------------ */

/* Sends a rollout that takes minutes over a connection of its own, until the daemon stops. */
static void *flood(void *argument) {
    dyn_client *client = argument;
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = 1, .timeout = PATIENCE);
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q[0], .steps = ENDLESS_STEPS, .only_last = true);
    dyn_client_rollout *result = NULL;
    dyn_client_error ignored;
    dyn_client_status status = DYN_CLIENT_RESOURCE_EXHAUSTED;
    while (status == DYN_CLIENT_RESOURCE_EXHAUSTED) { /* while a request of the test has the last place */
        status = dyn_client_rollout_run(client, &query, &request, &result, &ignored);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    dyn_client_rollout_free(result);
    return NULL;
}

START_TEST(a_user_has_a_share_of_the_long_requests_and_others_take_turns_beside_them) {
    start_with("user_requests = 2\nrequest_time = 60\n");
    pthread_t threads[FLOOD];
    dyn_client *flooding[FLOOD];
    for (int i = 0; i < FLOOD; i++) {
        flooding[i] = connect_as(PLANNER);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, flood, flooding[i]), 0);
    }
    dyn_client_status status = DYN_CLIENT_OK;
    time_t end = time(NULL) + (time_t)PATIENCE;
    patience = 0.2; /* beside one request without end, another one of its user waits */
    while (status != DYN_CLIENT_RESOURCE_EXHAUSTED && time(NULL) < end) {
        status = roll(planner, STATES, LONG_STEPS, 0);
    }
    patience = PATIENCE;
    expect_limit(status, "QUOTA", "user_requests", 2);
    ck_assert(error.retry_after > 0);
    ck_assert_msg(strstr(error.message, "token:planner has 2") != NULL, "%s", error.message);
    /* Two requests without end wait at the one worker; those of others are done nevertheless. */
    require(roll(rival, STATES, LONG_STEPS, 0));
    require(roll(chief, STATES, LONG_STEPS, 0));
    for (int i = 0; i < FLOOD; i++) {
        dyn_client_abort(flooding[i]);
        pthread_join(threads[i], NULL);
        dyn_client_close(flooding[i]);
    }
    stop();
}
END_TEST

START_TEST(a_user_has_a_share_of_the_states_and_bytes_of_long_requests) {
    start_with("user_samples = 32\nuser_memory_bytes = 1048576\nmessage_bytes = 65536\nreply_bytes = 16777216\n");
    expect_limit(roll(planner, STATES, LONG_STEPS, 0), "TOO_MANY_SAMPLES", "user_samples", 32);
    ck_assert_uint_eq(error.requested, STATES);
    ck_assert(error.retry_after == 0);
    require(roll(chief, STATES, LONG_STEPS, 0));
    require(roll(planner, 32, LONG_STEPS, 0));
    /* 32 states of 1001 rows of 12 numbers have 3 MB. */
    expect_limit(roll(planner, 32, LONG_STEPS, 1), "REQUEST_TOO_LARGE", "user_memory_bytes", 1048576);
    ck_assert_uint_gt(error.requested, 1048576);
    ck_assert(error.retry_after == 0);
    require(roll(chief, 32, LONG_STEPS, 1));
    require(roll(planner, 8, LONG_STEPS, 1000));
    stop();
}
END_TEST

/* Waits until a request is under way beside that for the list of connections. */
static void wait_for_flood(void) {
    size_t busy = 0;
    for (time_t end = time(NULL) + (time_t)PATIENCE; busy < 2 && time(NULL) < end;) {
        dyn_client_connections *list;
        require(dyn_client_list_connections(chief, 0, &list, &error));
        busy = 0;
        for (size_t i = 0; i < list->count; i++) {
            busy += list->connections[i].under_way > 0;
        }
        dyn_client_connections_free(list);
    }
    ck_assert_uint_ge(busy, 2);
}

START_TEST(all_users_together_have_a_limit_of_states_under_way) {
    start_with("samples_under_way = 64\nrequest_time = 3\n");
    pthread_t thread;
    dyn_client *flooding = connect_as(PLANNER);
    require(roll(chief, STATES, LONG_STEPS, 0));
    ck_assert_int_eq(pthread_create(&thread, NULL, flood, flooding), 0);
    wait_for_flood();
    expect_limit(roll(rival, STATES, LONG_STEPS, 0), "QUOTA", "samples_under_way", 64);
    ck_assert_uint_eq(error.requested, STATES + 1);
    ck_assert(error.retry_after > 0);
    expect_limit(roll(chief, STATES, LONG_STEPS, 0), "QUOTA", "samples_under_way", 64);
    require(roll(rival, STATES - 1, LONG_STEPS, 0));
    pthread_join(thread, NULL);
    require(roll(rival, STATES, LONG_STEPS, 0)); /* the states of requests that have ended count no longer */
    dyn_client_close(flooding);
    stop();
    start_with("samples_under_way = 32\n");
    expect_limit(roll(chief, STATES, LONG_STEPS, 0), "TOO_MANY_SAMPLES", "samples_under_way", 32);
    ck_assert(error.retry_after == 0);
    stop();
}
END_TEST

/* Sends a request for a model with this timeout over a connection of its own, whose reply may come later. Returns its
 * code. */
static Dynamics__V1__Code load_within(double timeout) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__LoadModelRequest loading = DYNAMICS__V1__LOAD_MODEL_REQUEST__INIT;
    loading.name = (char *)"queued";
    loading.source_case = DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_URDF;
    loading.urdf = (char *)"<robot name='r'><link name='base'/></robot>";
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_LOAD_MODEL;
    request.load_model = &loading;
    request.timeout = timeout;
    request.token = (char *)PLANNER;
    sp_peer peer = sp_open(served.request_ipc, SP_REQ);
    Dynamics__V1__Reply *reply = sp_call(&peer, &request);
    Dynamics__V1__Code code = reply->status->code;
    sp_free_reply(reply);
    sp_close(&peer);
    return code;
}

/* Checks that a model that waits behind a rollout of its user until its deadline has passed is not loaded. */
START_TEST(a_request_whose_deadline_passes_in_the_queue_does_not_run) {
    start_with("request_time = 2\n");
    pthread_t thread;
    dyn_client *flooding = connect_as(PLANNER);
    ck_assert_int_eq(pthread_create(&thread, NULL, flood, flooding), 0);
    wait_for_flood();
    ck_assert_int_eq(load_within(0.2), DYNAMICS__V1__CODE__CODE_DEADLINE_EXCEEDED);
    pthread_join(thread, NULL);
    ck_assert_int_eq(dyn_client_unload_model(planner, "queued", 0, &error), DYN_CLIENT_NOT_FOUND);
    ck_assert_int_eq(load_within(0), DYNAMICS__V1__CODE__CODE_OK);
    require(dyn_client_unload_model(planner, "queued", 0, &error));
    dyn_client_close(flooding);
    stop();
}
END_TEST

START_TEST(processor_time_of_a_request_is_limited) {
    start_with("request_cpu_time = 1\nrequest_time = 60\n");
    dyn_client_status status = roll(planner, STATES, ENDLESS_STEPS, 0);
    expect_limit(status, "CPU_TIME", "request_cpu_time", 1);
    ck_assert_msg(strstr(error.message, "1 s (limits.request_cpu_time)") != NULL, "%s", error.message);
    ck_assert(error.request > 0);
    require(roll(planner, 1, LONG_STEPS, 0));
    uint64_t token;
    dyn_client_simulation *state;
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5");
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = "slow", .query = &query, .is_paused = true);
    require(dyn_client_create_simulation(planner, &options, &token, &state, &error));
    dyn_client_simulation_free(state);
    status = dyn_client_step_simulation(planner, "slow", token, ENDLESS_STEPS, NULL, 0, &state, &error);
    expect_limit(status, "CPU_TIME", "request_cpu_time", 1);
    stop();
}
END_TEST

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static dyn_client_status load(dyn_client *client, const char *name, int mass) {
    char text[512];
    dyn_client_loaded_model *loaded = NULL;
    snprintf(text, sizeof text,
             "<robot name='r'><link name='base'/><link name='arm'><inertial><mass value='%d'/><inertia ixx='1' iyy='1' "
             "izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='j' type='continuous'><parent "
             "link='base'/><child link='arm'/><axis xyz='0 0 1'/></joint></robot>",
             mass);
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.name = name, .urdf = text, .replace = true);
    dyn_client_status status = dyn_client_load_model(client, &request, &loaded, &error);
    dyn_client_loaded_model_free(loaded);
    return status;
}

START_TEST(a_user_has_a_share_of_the_models) {
    start_with("user_models = 1\n");
    require(load(planner, "mine", 1));
    expect_limit(load(planner, "more", 1), "TOO_MANY_MODELS", "user_models", 1);
    require(load(planner, "mine", 2)); /* replaces its own */
    require(load(planner, "mine", 2));
    require(load(rival, "more", 1));
    require(load(chief, "chiefs", 1));
    require(load(chief, "chiefs_too", 1));
    require(dyn_client_unload_model(planner, "mine", 0, &error));
    require(load(planner, "other", 1));
    stop();
}
END_TEST

static dyn_client_status create(dyn_client *client, const char *name, uint64_t *token) {
    dyn_client_simulation *state = NULL;
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link");
    const dyn_client_simulation_options options =
        DYN_CLIENT_SIMULATION_OPTIONS_INIT(.name = name, .query = &query, .pace = DYN_CLIENT_PACE_CLOCK);
    dyn_client_status status = dyn_client_create_simulation(client, &options, token, &state, &error);
    dyn_client_simulation_free(state);
    return status;
}

START_TEST(a_user_has_a_share_of_the_simulations_and_recordings) {
    start_with("user_simulations = 2\nuser_recordings = 1\nuser_recordings_bytes = 1073741824\n");
    uint64_t first, second, other;
    require(create(planner, "first", &first));
    require(create(planner, "second", &second));
    expect_limit(create(planner, "third", &other), "TOO_MANY_SIMULATIONS", "user_simulations", 2);
    require(create(rival, "others", &other));
    require(dyn_client_record_simulation(planner, "first", first, "film", 0, &error));
    dyn_client_status status = dyn_client_record_simulation(planner, "second", second, "more", 0, &error);
    expect_limit(status, "TOO_MANY_RECORDINGS", "user_recordings", 1);
    require(dyn_client_record_simulation(rival, "others", other, "others", 0, &error));
    require(dyn_client_stop_recording(planner, "first", first, 0, NULL, NULL, &error));
    /* The owners of files are known after a restart, too. */
    daemon_restart(&served);
    status = dyn_client_record_simulation(planner, "second", second, "more", 0, &error);
    expect_limit(status, "TOO_MANY_RECORDINGS", "user_recordings", 1);
    require(dyn_client_delete_recording(planner, "film", 0, &error));
    require(dyn_client_record_simulation(planner, "second", second, "more", 0, &error));
    stop();
}
END_TEST

START_TEST(the_recordings_of_a_user_end_at_their_share_of_bytes) {
    start_with("user_recordings_bytes = 20000\n");
    uint64_t mine, others, entries, bytes = 0;
    require(create(planner, "mine", &mine));
    require(create(rival, "others", &others));
    require(dyn_client_record_simulation(planner, "mine", mine, "mine", 0, &error));
    require(dyn_client_record_simulation(rival, "others", others, "others", 0, &error));
    dyn_client_status status = DYN_CLIENT_OK;
    time_t end = time(NULL) + (time_t)PATIENCE;
    dyn_client_recording_list *list;
    for (bool has_ended = false; !has_ended && time(NULL) < end;) {
        require(dyn_client_list_recordings(planner, 0, &list, &error));
        for (size_t i = 0; i < list->count; i++) {
            has_ended =
                has_ended || (strcmp(list->recordings[i].name, "mine") == 0 && !list->recordings[i].is_under_way);
        }
        dyn_client_recording_list_free(list);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    status = dyn_client_stop_recording(planner, "mine", mine, 0, &entries, &bytes, &error);
    ck_assert_int_ne(status, DYN_CLIENT_OK);
    ck_assert_msg(strstr(error.message, "limits.user_recordings_bytes") != NULL, "%s", error.message);
    require(dyn_client_delete_recording(planner, "mine", 0, &error));
    require(dyn_client_record_simulation(planner, "mine", mine, "again", 0, &error));
    stop();
}
END_TEST

START_TEST(a_user_has_a_share_of_the_streams_and_jobs) {
    start_with("user_streams = 1\nuser_jobs = 1\n");
    dyn_client_stream *first = NULL, *second = NULL;
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5");
    dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "first", .kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD, .query = &query);
    require(dyn_client_open_stream(planner, &options, &first, &error));
    options.name = "second";
    expect_limit(dyn_client_open_stream(planner, &options, &second, &error), "TOO_MANY_STREAMS", "user_streams", 1);
    require(dyn_client_open_stream(rival, &options, &second, &error));
    dyn_client_leave_stream(first);
    dyn_client_leave_stream(second);
    dyn_client_job_ticket mine = {0}, more = {0}, others = {0};
    dyn_client_query endless =
        DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = 1, .timeout = 0.2, .job = &mine);
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q[0], .steps = ENDLESS_STEPS, .only_last = true);
    dyn_client_rollout *result = NULL;
    dyn_client_status status = dyn_client_rollout_run(planner, &endless, &request, &result, &error);
    ck_assert_msg(status != DYN_CLIENT_RESOURCE_EXHAUSTED, "%s", error.message);
    endless.job = &more;
    endless.timeout = PATIENCE; /* the refusal comes at once */
    expect_limit(dyn_client_rollout_run(planner, &endless, &request, &result, &error), "TOO_MANY_JOBS", "user_jobs", 1);
    endless.job = &others;
    endless.timeout = 0.2;
    status = dyn_client_rollout_run(rival, &endless, &request, &result, &error);
    ck_assert_msg(status != DYN_CLIENT_RESOURCE_EXHAUSTED, "%s", error.message);
    stop();
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("user_limits");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_user_has_a_share_of_the_long_requests_and_others_take_turns_beside_them);
    tcase_add_test(tests, a_user_has_a_share_of_the_states_and_bytes_of_long_requests);
    tcase_add_test(tests, all_users_together_have_a_limit_of_states_under_way);
    tcase_add_test(tests, a_request_whose_deadline_passes_in_the_queue_does_not_run);
    tcase_add_test(tests, processor_time_of_a_request_is_limited);
    tcase_add_test(tests, a_user_has_a_share_of_the_models);
    tcase_add_test(tests, a_user_has_a_share_of_the_simulations_and_recordings);
    tcase_add_test(tests, the_recordings_of_a_user_end_at_their_share_of_bytes);
    tcase_add_test(tests, a_user_has_a_share_of_the_streams_and_jobs);
    return run_unforked("user_limits", tests);
}
