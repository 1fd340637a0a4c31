/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks jobs through the daemon: results beyond the time limit of a request, clients that leave, limits, and the end
 * of the daemon.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <check.h>
#include <dynamics_client.h>

#include "system/daemon_fixture.h"
#include "system/runner.h"

/* Numbers of steps: of a rollout that takes minutes; of one that takes longer than REQUEST_TIME with LONG_SAMPLES; and
 * of one that takes longer than the time for which leave() waits. */
enum { NV = 6, ENDLESS_STEPS = 2000000000, LONG_STEPS = 20000, LONG_SAMPLES = 64, EVENTFUL_STEPS = 50000 };

/* Time limit of a request in seconds, in the tests about longer ones. */
#define REQUEST_TIME "0.1"
static const double PATIENCE = 400;

static daemon_fixture served;
static dyn_client *client;
static dyn_client_error error;
static double q[LONG_SAMPLES][NV];

static const dyn_client_query UR5 = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = NV, .nv = NV, .samples = 1);

static dyn_client *connect_to(bool use_jobs) {
    dyn_client *connected;
    const dyn_client_options options = DYN_CLIENT_OPTIONS_INIT(.timeout = PATIENCE, .use_jobs = use_jobs);
    ck_assert_msg(dyn_client_connect(served.request_ipc, &options, &connected, &error) == DYN_CLIENT_OK, "%s",
                  error.message);
    return connected;
}

static void start_with(const char *configuration) {
    daemon_start(&(daemon_options){.configuration = configuration}, &served);
    client = connect_to(false);
    for (size_t i = 0; i < LONG_SAMPLES * NV; i++) {
        q[i / NV][i % NV] = (double)(i % 17) / 10 - 0.8;
    }
}

static void stop(void) {
    dyn_client_close(client);
    daemon_stop(&served);
}

static void require(dyn_client_status status) {
    ck_assert_msg(status == DYN_CLIENT_OK, "%s: %s (%d)", error.field, error.message, (int)status);
}

static void refused(dyn_client_status status, dyn_client_status expected, const char *reason) {
    ck_assert_msg(status == expected, "%d instead of %d: %s: %s", (int)status, (int)expected, error.field,
                  error.message);
    ck_assert_str_eq(error.reason, reason);
}

static void pause_briefly(void) {
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static dyn_client_job_state state_of(const char *name) {
    dyn_client_job_list *jobs;
    require(dyn_client_get_jobs(client, name, 0, &jobs, &error));
    ck_assert_uint_eq(jobs->count, 1);
    ck_assert_str_eq(jobs->jobs[0].name, name);
    dyn_client_job_state state = jobs->jobs[0].state;
    dyn_client_job_list_free(jobs);
    return state;
}

static void wait_for_state(const char *name, dyn_client_job_state state) {
    time_t end = time(NULL) + (time_t)PATIENCE;
    while (state_of(name) != state) {
        ck_assert_msg(time(NULL) < end, "job %s is %s", name, dyn_client_job_state_name(state_of(name)));
        pause_briefly();
    }
}

static size_t count_jobs(void) {
    dyn_client_job_list *jobs;
    require(dyn_client_get_jobs(client, NULL, 0, &jobs, &error));
    size_t count = jobs->count;
    dyn_client_job_list_free(jobs);
    return count;
}

/* Starts a rollout as the job of the ticket, and leaves the job to the daemon after 1 ms. Returns the status of the
 * call. */
static dyn_client_status leave(dyn_client_job_ticket *ticket, uint64_t steps) {
    dyn_client_query query = UR5;
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q[0], .steps = steps, .only_last = true);
    dyn_client_rollout *result = NULL;
    query.job = ticket;
    query.timeout = 1e-3;
    dyn_client_status status = dyn_client_rollout_run(client, &query, &request, &result, &error);
    dyn_client_rollout_free(result);
    return status;
}

/* Starts a job that takes minutes and leaves it to the daemon. */
static void start_endless(dyn_client_job_ticket *ticket) {
    ck_assert_int_eq(leave(ticket, ENDLESS_STEPS), DYN_CLIENT_DEADLINE_EXCEEDED);
    ck_assert_uint_ne(ticket->token, 0);
}

START_TEST(work_beyond_the_time_of_a_request_has_the_same_bits_as_its_parts) {
    start_with("[limits]\nrequest_time = " REQUEST_TIME "\n[server]\nworkers = 1\n");
    dyn_client *patient = connect_to(true);
    dyn_client_query query = UR5;
    query.samples = LONG_SAMPLES;
    dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q[0], .steps = LONG_STEPS, .stride = LONG_STEPS / 100);
    dyn_client_rollout *whole;
    refused(dyn_client_rollout_run(client, &query, &request, &whole, &error), DYN_CLIENT_DEADLINE_EXCEEDED, "DEADLINE");
    ck_assert_msg(strstr(error.message, "limits.request_time") && strstr(error.message, "StartJob"), "%s",
                  error.message);
    require(dyn_client_rollout_run(patient, &query, &request, &whole, &error));
    ck_assert_uint_eq(count_jobs(), 0);
    ck_assert_uint_eq(whole->rows, 101);
    /* A hundredth of the steps is short enough for a request. */
    query = UR5;
    request.steps = LONG_STEPS / 100;
    for (size_t i = 0; i < LONG_SAMPLES; i += 9) {
        dyn_client_rollout *part;
        request.q = q[i];
        require(dyn_client_rollout_run(client, &query, &request, &part, &error));
        ck_assert_uint_eq(part->rows, 2);
        ck_assert(memcmp(part->q, whole->q + i * 101 * NV, 2 * NV * sizeof(double)) == 0);
        ck_assert(memcmp(part->v, whole->v + i * 101 * NV, 2 * NV * sizeof(double)) == 0);
        dyn_client_rollout_free(part);
    }
    dyn_client_rollout_free(whole);
    dyn_client_close(patient);
    stop();
}
END_TEST

START_TEST(calls_of_every_kind_give_equal_results_as_jobs) {
    enum { SAMPLES = 40 };
    static double as_request[SAMPLES * NV * NV], as_job[SAMPLES * NV * NV];
    const double times[] = {0, 0.1, 0.2, 0.3, 0.4};
    start_with("");
    dyn_client *patient = connect_to(true);
    dyn_client *const clients[] = {client, patient};
    double *const results[] = {as_request, as_job};
    dyn_client_query query = UR5;
    query.samples = SAMPLES;
    for (int i = 0; i < 2; i++) {
        require(dyn_client_inverse_dynamics(clients[i], &query, q[0], q[1], q[2], results[i], &error));
    }
    ck_assert(memcmp(as_request, as_job, SAMPLES * NV * sizeof(double)) == 0);
    for (int i = 0; i < 2; i++) {
        require(dyn_client_mass_matrix(clients[i], &query, q[0], results[i], &error));
    }
    ck_assert(memcmp(as_request, as_job, sizeof as_job) == 0);
    for (int i = 0; i < 2; i++) {
        dyn_client_evaluation *evaluation;
        const dyn_client_quantity_request wanted = {.quantity = DYN_CLIENT_QUANTITY_KINETIC_ENERGY};
        const dyn_client_evaluate_request requested =
            DYN_CLIENT_EVALUATE_REQUEST_INIT(.q = q[0], .v = q[1], .quantity_count = 1, .quantities = &wanted);
        require(dyn_client_evaluate(clients[i], &query, &requested, &evaluation, &error));
        ck_assert_uint_eq(evaluation->result_count, 1);
        memcpy(results[i], evaluation->results[0].blocks[0].values, SAMPLES * sizeof(double));
        dyn_client_evaluation_free(evaluation);
    }
    ck_assert(memcmp(as_request, as_job, SAMPLES * sizeof(double)) == 0);
    query.samples = 5;
    for (int i = 0; i < 2; i++) {
        dyn_client_trajectory *trajectory;
        require(dyn_client_inverse_dynamics_trajectory(clients[i], &query, times, q[0], NULL, NULL,
                                                       DYN_CLIENT_RATES_SPLINE, NULL, &trajectory, &error));
        memcpy(results[i], trajectory->tau, 5 * NV * sizeof(double));
        dyn_client_trajectory_free(trajectory);
    }
    ck_assert(memcmp(as_request, as_job, 5 * NV * sizeof(double)) == 0);
    ck_assert_uint_eq(count_jobs(), 0);
    dyn_client_close(patient);
    stop();
}
END_TEST

START_TEST(a_client_leaves_and_another_one_fetches) {
    start_with("");
    dyn_client_job_ticket ticket = {.name = "left"};
    ck_assert_int_eq(leave(&ticket, EVENTFUL_STEPS), DYN_CLIENT_DEADLINE_EXCEEDED);
    dyn_client_close(client);
    client = connect_to(false);
    wait_for_state("left", DYN_CLIENT_JOB_STATE_DONE);
    /* The ticket names the job, so the inputs of this call do not matter. */
    dyn_client_query query = UR5;
    dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q[5], .steps = EVENTFUL_STEPS, .only_last = true);
    dyn_client_rollout *fetched, *expected;
    query.job = &ticket;
    require(dyn_client_rollout_run(client, &query, &request, &fetched, &error));
    ck_assert(ticket.token == 0 && ticket.name[0] == '\0');
    request.q = q[0];
    require(dyn_client_rollout_run(client, &UR5, &request, &expected, &error));
    ck_assert(memcmp(fetched->q, expected->q, NV * sizeof(double)) == 0);
    dyn_client_rollout_free(fetched);
    dyn_client_rollout_free(expected);
    ck_assert_uint_eq(count_jobs(), 0);
    stop();
}
END_TEST

START_TEST(a_job_is_cancelled_by_its_token_only) {
    start_with("");
    dyn_client_job_ticket ticket = {0};
    start_endless(&ticket);
    wait_for_state(ticket.name, DYN_CLIENT_JOB_STATE_RUNNING);
    refused(dyn_client_cancel_job(client, ticket.name, ticket.token + 1, 0, &error), DYN_CLIENT_PERMISSION_DENIED,
            "WRONG_TOKEN");
    ck_assert_str_eq(error.field, "cancel_job.token");
    dyn_client *stranger;
    require(dyn_client_connect(served.request_tcp, NULL, &stranger, &error));
    refused(dyn_client_cancel_job(stranger, ticket.name, ticket.token + 1, 0, &error), DYN_CLIENT_PERMISSION_DENIED,
            "WRONG_TOKEN");
    require(dyn_client_cancel_job(stranger, ticket.name, ticket.token, 0, &error));
    dyn_client_close(stranger);
    wait_for_state(ticket.name, DYN_CLIENT_JOB_STATE_CANCELLED);
    /* The call of the ticket has the error of the job, and clears the ticket. */
    char name[DYN_CLIENT_JOB_NAME_SIZE];
    memcpy(name, ticket.name, sizeof name);
    refused(leave(&ticket, 1), DYN_CLIENT_CANCELLED, "CANCELLED");
    ck_assert_uint_eq(ticket.token, 0);
    dyn_client_job_list *jobs;
    refused(dyn_client_get_jobs(client, name, 0, &jobs, &error), DYN_CLIENT_NOT_FOUND, "JOB_NOT_FOUND");
    stop();
}
END_TEST

static bool stop_at_once(void *context, double fraction) {
    int *calls = context;
    return fraction >= 0 && ++*calls < 3;
}

START_TEST(a_user_commands_the_own_jobs_without_a_token) {
    start_with("");
    dyn_client_job_ticket ticket = {0};
    start_endless(&ticket);
    require(dyn_client_cancel_job(client, ticket.name, 0, 0, &error));
    wait_for_state(ticket.name, DYN_CLIENT_JOB_STATE_CANCELLED);
    stop();
}
END_TEST

START_TEST(the_progress_callback_cancels_the_job_of_its_call) {
    start_with("");
    int calls = 0;
    dyn_client *patient = connect_to(true);
    dyn_client_query query = UR5;
    query.progress = stop_at_once;
    query.progress_context = &calls;
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q[0], .steps = ENDLESS_STEPS, .only_last = true);
    dyn_client_rollout *result;
    ck_assert_int_eq(dyn_client_rollout_run(patient, &query, &request, &result, &error), DYN_CLIENT_CANCELLED);
    ck_assert_int_eq(calls, 3);
    dyn_client_job_list *jobs;
    require(dyn_client_get_jobs(client, NULL, 0, &jobs, &error));
    ck_assert_uint_eq(jobs->count, 1);
    wait_for_state(jobs->jobs[0].name, DYN_CLIENT_JOB_STATE_CANCELLED);
    dyn_client_job_list_free(jobs);
    dyn_client_close(patient);
    stop();
}
END_TEST

START_TEST(a_job_fails_with_the_error_of_its_request) {
    start_with("");
    dyn_client *patient = connect_to(true);
    double wrong[2][NV] = {{0}}, tau[2][NV];
    dyn_client_query query = UR5;
    query.samples = 2;
    wrong[1][2] = 1 / 0.0;
    refused(dyn_client_inverse_dynamics(patient, &query, wrong[0], NULL, NULL, tau[0], &error),
            DYN_CLIENT_INVALID_ARGUMENT, "NOT_FINITE");
    ck_assert_str_eq(error.field, "inverse_dynamics.q[8]");
    query.on_error = DYN_CLIENT_ON_ERROR_MARK;
    require(dyn_client_inverse_dynamics(patient, &query, wrong[0], NULL, NULL, tau[0], &error));
    ck_assert_uint_eq(error.marked, 1);
    ck_assert_uint_eq(error.sample, 1);
    query.model = "nobody";
    refused(dyn_client_inverse_dynamics(patient, &query, wrong[0], NULL, NULL, tau[0], &error), DYN_CLIENT_NOT_FOUND,
            "MODEL_NOT_FOUND");
    ck_assert_uint_eq(count_jobs(), 0);
    dyn_client_job_ticket ticket = {0};
    dyn_client_explanation *explanation;
    query.job = &ticket;
    query.samples = 1;
    ck_assert_int_eq(dyn_client_explain(client, &query, q[0], NULL, NULL, &explanation, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "query.job");
    dyn_client_close(patient);
    stop();
}
END_TEST

START_TEST(jobs_are_limited_and_their_time_is) {
    start_with("[limits]\njobs = 2\njob_time = 0.2\nrequest_time = 0.1\n[server]\nworkers = 1\n");
    dyn_client_job_ticket tickets[3] = {{.token = 0}};
    start_endless(&tickets[0]);
    start_endless(&tickets[1]);
    refused(leave(&tickets[2], 1), DYN_CLIENT_RESOURCE_EXHAUSTED, "TOO_MANY_JOBS");
    ck_assert_uint_eq(error.limit, 2);
    wait_for_state(tickets[1].name, DYN_CLIENT_JOB_STATE_FAILED);
    /* A new job evicts the first one that has finished. */
    ck_assert_int_eq(leave(&tickets[2], ENDLESS_STEPS), DYN_CLIENT_DEADLINE_EXCEEDED);
    refused(leave(&tickets[0], 1), DYN_CLIENT_NOT_FOUND, "JOB_NOT_FOUND");
    ck_assert_uint_eq(tickets[0].token, 0);
    refused(leave(&tickets[1], 1), DYN_CLIENT_DEADLINE_EXCEEDED, "DEADLINE");
    ck_assert_msg(strstr(error.message, "limits.job_time") != NULL, "%s", error.message);
    dyn_client_server_info *info;
    require(dyn_client_get_server_info(client, 0, &info, &error));
    ck_assert_uint_eq(info->limits.jobs, 2);
    ck_assert_double_eq(info->limits.job_time, 0.2);
    ck_assert_uint_eq(dyn_client_server_counter(info, "jobs"), count_jobs());
    dyn_client_server_info_free(info);
    stop();
}
END_TEST

START_TEST(a_result_expires) {
    start_with("[limits]\njob_result_time = 0.3\n");
    dyn_client_job_ticket ticket = {0};
    ck_assert_int_eq(leave(&ticket, EVENTFUL_STEPS), DYN_CLIENT_DEADLINE_EXCEEDED);
    time_t end = time(NULL) + (time_t)PATIENCE;
    while (count_jobs() > 0 && time(NULL) < end) {
        pause_briefly();
    }
    refused(leave(&ticket, 1), DYN_CLIENT_NOT_FOUND, "JOB_NOT_FOUND");
    ck_assert_msg(strstr(error.message, "limits.job_result_time") != NULL, "%s", error.message);
    ck_assert_uint_eq(ticket.token, 0);
    stop();
}
END_TEST

START_TEST(jobs_hold_no_worker) {
    start_with("[server]\nworkers = 1\n");
    dyn_client_job_ticket tickets[2] = {{.token = 0}};
    start_endless(&tickets[0]);
    start_endless(&tickets[1]);
    wait_for_state(tickets[0].name, DYN_CLIENT_JOB_STATE_RUNNING);
    ck_assert_int_eq(state_of(tickets[1].name), DYN_CLIENT_JOB_STATE_QUEUED);
    dyn_client_base_parameters *parameters; /* a method that always runs on a worker */
    require(dyn_client_find_base_parameters(client, &UR5, &parameters, &error));
    dyn_client_base_parameters_free(parameters);
    ck_assert_int_eq(state_of(tickets[0].name), DYN_CLIENT_JOB_STATE_RUNNING);
    stop();
}
END_TEST

START_TEST(a_daemon_that_stops_ends_its_jobs_and_forgets_them) {
    start_with("");
    dyn_client_job_ticket ticket = {0};
    start_endless(&ticket);
    daemon_restart(&served);
    dyn_client_close(client);
    client = connect_to(false);
    refused(leave(&ticket, 1), DYN_CLIENT_NOT_FOUND, "JOB_NOT_FOUND");
    ck_assert_msg(strstr(error.message, "all jobs end with the daemon") != NULL, "%s", error.message);
    ck_assert_uint_eq(count_jobs(), 0);
    stop();
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("jobs");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, work_beyond_the_time_of_a_request_has_the_same_bits_as_its_parts);
    tcase_add_test(tests, calls_of_every_kind_give_equal_results_as_jobs);
    tcase_add_test(tests, a_client_leaves_and_another_one_fetches);
    tcase_add_test(tests, a_job_is_cancelled_by_its_token_only);
    tcase_add_test(tests, a_user_commands_the_own_jobs_without_a_token);
    tcase_add_test(tests, the_progress_callback_cancels_the_job_of_its_call);
    tcase_add_test(tests, a_job_fails_with_the_error_of_its_request);
    tcase_add_test(tests, jobs_are_limited_and_their_time_is);
    tcase_add_test(tests, a_result_expires);
    tcase_add_test(tests, jobs_hold_no_worker);
    tcase_add_test(tests, a_daemon_that_stops_ends_its_jobs_and_forgets_them);
    return run_unforked("jobs", tests);
}
