/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks calls that run as jobs against a peer that answers each request of a job as the test says: with refusals that
 * pass or last, with replies without a job, or not at all.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <check.h>
#include <dynamics/v1/envelope.pb-c.h>
#include <dynamics_client.h>

#include "system/lying_peer.h"
#include "system/runner.h"

enum { NV = 2 };

/* Times of the tests about a silent peer, s: timeout of the call, silence of the peer, and bound of the call, which has
 * one second more to remove the job. */
static const double TIMEOUT = 0.5, SILENCE = 6, BOUND = 4;

/* Answers to one method: the first `refusals` requests get `refusal`, later ones the method's own reply. */
typedef struct answers {
    int refusals;
    Dynamics__V1__Code refusal;
    double retry_after;
    bool is_without_job;
    double silence; /* s before the reply */
    int requests;   /* requests so far */
} answers;

static answers start_answers, get_answers, result_answers, cancel_answers;
static Dynamics__V1__JobState state;
static lying_peer peer;
static dyn_client *client;
static dyn_client_error error;
static double elapsed; /* by the last call, s */

static const dyn_client_query QUERY = DYN_CLIENT_QUERY_INIT(.model = "robot", .nq = NV, .nv = NV, .samples = 1);

/* Waits for the silence of `script` and counts a request. Returns false if the script refuses the request; then `reply`
 * has the refusal as its status. */
static bool accepts(answers *script, Dynamics__V1__Reply *reply, Dynamics__V1__Status *status) {
    nanosleep(&(struct timespec){.tv_sec = (time_t)script->silence}, NULL);
    if (script->requests++ >= script->refusals) {
        return true;
    }
    status->code = script->refusal;
    status->message = "refused by the test";
    status->retry_after = script->retry_after;
    reply->status = status;
    return false;
}

static answers *answers_to(Dynamics__V1__Request__MethodCase method) {
    return method == DYNAMICS__V1__REQUEST__METHOD_START_JOB        ? &start_answers
           : method == DYNAMICS__V1__REQUEST__METHOD_GET_JOB        ? &get_answers
           : method == DYNAMICS__V1__REQUEST__METHOD_GET_JOB_RESULT ? &result_answers
                                                                    : &cancel_answers;
}

static void compose(lying_peer *of, const uint8_t *bytes, size_t size) {
    static double g[NV] = {1, 2};
    Dynamics__V1__Request *request = dynamics__v1__request__unpack(NULL, size, bytes);
    Dynamics__V1__Reply reply = DYNAMICS__V1__REPLY__INIT;
    Dynamics__V1__Status status = DYNAMICS__V1__STATUS__INIT;
    Dynamics__V1__JobSummary job = DYNAMICS__V1__JOB_SUMMARY__INIT;
    Dynamics__V1__StartJobReply start = DYNAMICS__V1__START_JOB_REPLY__INIT;
    Dynamics__V1__GetJobReply get = DYNAMICS__V1__GET_JOB_REPLY__INIT;
    Dynamics__V1__GravityReply gravity = DYNAMICS__V1__GRAVITY_REPLY__INIT;
    Dynamics__V1__GetJobResultReply result = DYNAMICS__V1__GET_JOB_RESULT_REPLY__INIT;
    Dynamics__V1__CancelJobReply cancel = DYNAMICS__V1__CANCEL_JOB_REPLY__INIT;
    answers *script = answers_to(request->method_case);
    job.name = "work";
    job.state = state;
    job.finished_ns = state > DYNAMICS__V1__JOB_STATE__JOB_STATE_RUNNING;
    start.job = get.job = script->is_without_job ? NULL : &job;
    start.token = 5;
    gravity.samples = 1;
    gravity.n_g = NV;
    gravity.g = g;
    result.result_case = DYNAMICS__V1__GET_JOB_RESULT_REPLY__RESULT_GRAVITY;
    result.gravity = &gravity;
    if (accepts(script, &reply, &status)) {
        reply.result_case = (Dynamics__V1__Reply__ResultCase)request->method_case;
        reply.start_job = script == &start_answers ? &start : reply.start_job;
        reply.get_job = script == &get_answers ? &get : reply.get_job;
        reply.get_job_result = script == &result_answers ? &result : reply.get_job_result;
        reply.cancel_job = script == &cancel_answers ? &cancel : reply.cancel_job;
    }
    of->reply_size = dynamics__v1__reply__pack(&reply, of->reply);
    dynamics__v1__request__free_unpacked(request, NULL);
}

static void start(void) {
    const dyn_client_options options = DYN_CLIENT_OPTIONS_INIT(.timeout = 60, .use_jobs = true);
    start_answers = get_answers = result_answers = cancel_answers = (answers){0};
    state = DYNAMICS__V1__JOB_STATE__JOB_STATE_DONE;
    memset(&peer, 0, sizeof peer);
    peer.compose = compose;
    lying_peer_start(&peer);
    ck_assert_int_eq(dyn_client_connect(peer.address, &options, &client, &error), DYN_CLIENT_OK);
}

static void stop(void) {
    dyn_client_close(client);
    lying_peer_stop(&peer);
}

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* Requests gravity forces as the job of a ticket, or, if it is NULL, as a job that the library names. Stores the
 * duration in `elapsed`. */
static dyn_client_status compute_gravity(dyn_client_job_ticket *ticket, double timeout) {
    const double q[NV] = {0};
    double g[NV] = {0};
    dyn_client_query query = QUERY;
    query.job = ticket;
    query.timeout = timeout;
    lying_peer_publish(&peer);
    double begin = now();
    dyn_client_status status = dyn_client_gravity(client, &query, q, g, &error);
    elapsed = now() - begin;
    lying_peer_publish(&peer);
    if (status == DYN_CLIENT_OK) {
        ck_assert_double_eq(g[1], 2);
    }
    return status;
}

START_TEST(refusals_that_pass_do_not_cost_the_result) {
    static const Dynamics__V1__Code codes[] = {DYNAMICS__V1__CODE__CODE_UNAVAILABLE,
                                               DYNAMICS__V1__CODE__CODE_RESOURCE_EXHAUSTED};
    for (size_t i = 0; i < 2; i++) {
        start_answers = cancel_answers = (answers){0};
        get_answers = result_answers = (answers){.refusals = 3, .refusal = codes[i], .retry_after = 0.01};
        dyn_client_status status = compute_gravity(NULL, 0);
        ck_assert_msg(status == DYN_CLIENT_OK, "%s", error.message);
        ck_assert_int_eq(get_answers.requests, 4);
        ck_assert_int_eq(result_answers.requests, 4);
        ck_assert_int_eq(cancel_answers.requests, 1);
    }
}
END_TEST

START_TEST(refusals_that_last_end_the_call_and_leave_the_result_to_its_ticket) {
    static const Dynamics__V1__Code codes[] = {DYNAMICS__V1__CODE__CODE_RESOURCE_EXHAUSTED,
                                               DYNAMICS__V1__CODE__CODE_INTERNAL};
    for (size_t i = 0; i < 2; i++) {
        dyn_client_job_ticket ticket = {.name = "work", .token = 5};
        cancel_answers = (answers){0};
        result_answers = (answers){.refusals = 1, .refusal = codes[i]};
        ck_assert_int_eq(compute_gravity(&ticket, 0), (dyn_client_status)codes[i]);
        ck_assert_uint_eq(ticket.token, 5);
        ck_assert_int_eq(cancel_answers.requests, 0);
        ck_assert_int_eq(compute_gravity(&ticket, 0), DYN_CLIENT_OK);
        ck_assert_uint_eq(ticket.token, 0);
        ck_assert_int_eq(cancel_answers.requests, 1);
    }
}
END_TEST

START_TEST(the_error_of_a_failed_job_clears_its_ticket) {
    dyn_client_job_ticket ticket = {.name = "work", .token = 5};
    state = DYNAMICS__V1__JOB_STATE__JOB_STATE_FAILED;
    result_answers = (answers){.refusals = 1, .refusal = DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT};
    ck_assert_int_eq(compute_gravity(&ticket, 0), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_uint_eq(ticket.token, 0);
    ck_assert_int_eq(cancel_answers.requests, 1);
}
END_TEST

START_TEST(a_job_that_is_gone_clears_its_ticket) {
    answers *const steps[] = {&get_answers, &result_answers};
    for (size_t i = 0; i < 2; i++) {
        dyn_client_job_ticket ticket = {.name = "work", .token = 5};
        get_answers = result_answers = (answers){0};
        *steps[i] = (answers){.refusals = 1, .refusal = DYNAMICS__V1__CODE__CODE_NOT_FOUND};
        ck_assert_int_eq(compute_gravity(&ticket, 0), DYN_CLIENT_NOT_FOUND);
        ck_assert_uint_eq(ticket.token, 0);
        ck_assert_str_eq(ticket.name, "");
    }
}
END_TEST

START_TEST(replies_without_a_job_are_refused) {
    dyn_client_job_list *jobs;
    start_answers.is_without_job = true;
    ck_assert_int_eq(compute_gravity(NULL, 0), DYN_CLIENT_BAD_REPLY);
    start_answers.is_without_job = false;
    get_answers.is_without_job = true;
    ck_assert_int_eq(compute_gravity(NULL, 0), DYN_CLIENT_BAD_REPLY);
    ck_assert_int_eq(dyn_client_get_jobs(client, "work", 0, &jobs, &error), DYN_CLIENT_BAD_REPLY);
    ck_assert_ptr_null(jobs);
}
END_TEST

START_TEST(a_silent_daemon_does_not_hold_a_call_beyond_its_timeout) {
    get_answers.silence = SILENCE;
    ck_assert_int_ne(compute_gravity(NULL, TIMEOUT), DYN_CLIENT_OK);
    ck_assert_msg(elapsed < BOUND, "the call took %g s", elapsed);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("job_answers");
    tcase_add_checked_fixture(all, start, stop);
    tcase_add_test(all, refusals_that_pass_do_not_cost_the_result);
    tcase_add_test(all, refusals_that_last_end_the_call_and_leave_the_result_to_its_ticket);
    tcase_add_test(all, the_error_of_a_failed_job_clears_its_ticket);
    tcase_add_test(all, a_job_that_is_gone_clears_its_ticket);
    tcase_add_test(all, replies_without_a_job_are_refused);
    tcase_add_test(all, a_silent_daemon_does_not_hold_a_call_beyond_its_timeout);
    return run_unforked("job_answers", all);
}
