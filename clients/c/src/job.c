/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs calls as jobs of the daemon, and lists and cancels jobs.
 */
#include "job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "requests.h"
#include "error.h"
#include "monotonic.h"
#include "wire.h"

/* Pauses between two requests for the state of a job, s: the first one, the longest one, and the growth from one to the
 * next. */
static const double FIRST_PAUSE = 1e-3, LONGEST_PAUSE = 0.1, PAUSE_GROWTH = 1.5;

/* LEAST_WAIT: shortest timeout of a request about a job, s, at the end of the call's time. DISPOSAL: timeout of the
 * request that removes a job, s; the call may take that much longer. */
static const double LEAST_WAIT = 0.05, DISPOSAL = 1;

/* Field number of the first method in Request, and of the first result in Reply. */
enum { FIRST_METHOD = 16 };

/* Call that waits for its job. */
typedef struct waiting {
    dyn_client *client;
    const call_terms *terms;
    dyn_client_job_ticket *ticket;
    double end; /* s, CLOCK_MONOTONIC */
    under_way_request *listed;
} waiting;

static void pause_for(double seconds) {
    const struct timespec pause = {.tv_nsec = (long)(seconds * 1e9)};
    nanosleep(&pause, NULL);
}

static double time_left(const waiting *w) {
    return w->end - monotonic_now();
}

/* Returns the terms of a request about the job. The request ends with the call, but has at least LEAST_WAIT seconds. */
static call_terms until_end(const waiting *w) {
    return within(fmax(time_left(w), LEAST_WAIT));
}

bool job_can_run(const Dynamics__V1__Request *request) {
    return (unsigned)request->method_case >= FIRST_METHOD &&
           protobuf_c_message_descriptor_get_field(&dynamics__v1__start_job_request__descriptor,
                                                   request->method_case) != NULL;
}

/* ---- calls that run as jobs -------------------------------------------------------------------------------------- */

/* Starts the job of a request and fills the ticket. `timeout` bounds its computation, s; 0: the daemon's own limit. */
static dyn_client_status start(const waiting *w, const Dynamics__V1__Request *request, double timeout,
                               dyn_client_error *error) {
    Dynamics__V1__StartJobRequest body = DYNAMICS__V1__START_JOB_REQUEST__INIT;
    Dynamics__V1__StartJobReply *reply;
    body.job = w->ticket->name;
    body.timeout = timeout;
    /* The methods have equal numbers in both messages. The members of each oneof are pointers that share one place. */
    body.method_case = (Dynamics__V1__StartJobRequest__MethodCase)request->method_case;
    body.rollout = request->rollout;
    dyn_client_status status = request_start_job(w->client, &body, until_end(w), &reply, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (!reply->job) {
        dynamics__v1__start_job_reply__free_unpacked(reply, NULL);
        return fail_bad_reply(error, "it has no job");
    }
    snprintf(w->ticket->name, sizeof w->ticket->name, "%s", reply->job->name);
    w->ticket->token = reply->token;
    dynamics__v1__start_job_reply__free_unpacked(reply, NULL);
    return DYN_CLIENT_OK;
}

/* Cancels the job, or removes it if it has finished, and clears the ticket. Ignores errors. */
static void dispose(const waiting *w) {
    dyn_client_cancel_job(w->client, w->ticket->name, w->ticket->token, DISPOSAL, NULL);
    *w->ticket = (dyn_client_job_ticket){0};
}

/* Returns true if an error is temporary, because the daemon is stopping or busy, so that the same request may succeed
 * soon. */
static bool is_passing(dyn_client_status status, const dyn_client_error *error) {
    return status == DYN_CLIENT_UNAVAILABLE || (status == DYN_CLIENT_RESOURCE_EXHAUSTED && error->retry_after > 0);
}

/* Waits before the next request about the job and lengthens the pause. */
static void wait_before_next(const waiting *w, double *pause) {
    pause_for(fmax(fmin(*pause, time_left(w)), 0));
    *pause = fmin(*pause * PAUSE_GROWTH, LONGEST_PAUSE);
}

/* Requests the state of the job: finished or not, with or without a result, and the completed fraction. */
static dyn_client_status look(const waiting *w, bool *is_finished, bool *has_result, double *fraction,
                              dyn_client_error *error) {
    Dynamics__V1__GetJobRequest body = DYNAMICS__V1__GET_JOB_REQUEST__INIT;
    Dynamics__V1__GetJobReply *reply;
    body.job = w->ticket->name;
    dyn_client_status status = request_get_job(w->client, &body, until_end(w), &reply, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (!reply->job) {
        dynamics__v1__get_job_reply__free_unpacked(reply, NULL);
        return fail_bad_reply(error, "it has no job");
    }
    *is_finished = reply->job->finished_ns != 0;
    *has_result = reply->job->state == DYNAMICS__V1__JOB_STATE__JOB_STATE_DONE;
    *fraction = reply->job->fraction;
    dynamics__v1__get_job_reply__free_unpacked(reply, NULL);
    return DYN_CLIENT_OK;
}

/* Reports the completed fraction to the caller's callback, if there is one. Returns false if the callback, or another
 * thread, cancels the call. */
static bool report(const waiting *w, double fraction) {
    return !call_is_cancelled(w->client, w->listed) &&
           (!w->terms->progress || w->terms->progress(w->terms->context, fraction));
}

static dyn_client_status fail_cancelled(dyn_client_error *error) {
    return fail(error, DYN_CLIENT_CANCELLED, NULL, "the call was cancelled, and its job with it");
}

/* Waits until the job has finished, and reports its progress. Returns DEADLINE_EXCEEDED if the time of the call ends
 * before, and CANCELLED if the callback cancels the call, which also cancels the job. A temporary error ends the wait
 * only at the end of the time. */
static dyn_client_status wait_for_end(const waiting *w, bool *has_result, dyn_client_error *error) {
    double pause = FIRST_PAUSE, fraction = 0;
    bool is_finished = false;
    while (!is_finished) {
        dyn_client_status status = look(w, &is_finished, has_result, &fraction, error);
        bool is_cancelled = call_is_cancelled(w->client, w->listed);
        bool goes_on = status == DYN_CLIENT_OK || (is_passing(status, error) && time_left(w) > 0);
        if (!is_cancelled && !goes_on) {
            return status;
        }
        if (is_cancelled || !report(w, fraction)) {
            dispose(w);
            return fail_cancelled(error);
        }
        if (!is_finished && time_left(w) <= 0) {
            return fail(error, DYN_CLIENT_DEADLINE_EXCEEDED, NULL,
                        "job %s has not finished in time; it has done %.1f %%", w->ticket->name, 100 * fraction);
        }
        if (!is_finished) {
            wait_before_next(w, &pause);
        }
    }
    return DYN_CLIENT_OK;
}

/* Fetches the result of the method, or the error with which the job failed. Returns INVALID_ARGUMENT if the job
 * computes another method. */
static dyn_client_status fetch(const waiting *w, uint32_t method, call_reply *answer, dyn_client_error *error) {
    Dynamics__V1__GetJobResultRequest body = DYNAMICS__V1__GET_JOB_RESULT_REQUEST__INIT;
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    body.job = w->ticket->name;
    body.token = w->ticket->token;
    call_set_method(&request, DYNAMICS__V1__REQUEST__METHOD_GET_JOB_RESULT, &body.base);
    dyn_client_status status = call(w->client, &request, until_end(w), answer, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    wire_reader reader = {.at = answer->result, .end = answer->result + answer->result_size};
    wire_field field;
    while (wire_next(&reader, &field)) {
        if (field.number == method && field.type == WIRE_BYTES) {
            answer->result = field.bytes;
            answer->result_size = field.size;
            return DYN_CLIENT_OK;
        }
    }
    call_reply_free(answer);
    return fail(error, DYN_CLIENT_INVALID_ARGUMENT, w->terms->job_field,
                "job %s computes another method than this call", w->ticket->name);
}

/* Waits for the job of the ticket and fetches its result. Clears the ticket once the result or the job's own error is
 * fetched, which also removes the job, if the callback cancels the call, or if the job does not exist. Otherwise the
 * ticket stays valid for a later call. */
static dyn_client_status finish(const waiting *w, uint32_t method, call_reply *answer, dyn_client_error *error) {
    bool has_result = false;
    dyn_client_status status = wait_for_end(w, &has_result, error);
    if (status == DYN_CLIENT_NOT_FOUND) {
        *w->ticket = (dyn_client_job_ticket){0};
    }
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    double pause = FIRST_PAUSE;
    status = fetch(w, method, answer, error);
    while (has_result && is_passing(status, error) && time_left(w) > 0) {
        wait_before_next(w, &pause);
        status = fetch(w, method, answer, error);
    }
    /* If the job has no result, an error of the daemon is the job's own. Otherwise the result can still be fetched
     * later. */
    bool is_answered = status == DYN_CLIENT_OK || (!has_result && status < DYN_CLIENT_UNREACHABLE);
    if (is_answered) {
        dispose(w);
    } else if (status == DYN_CLIENT_NOT_FOUND) {
        *w->ticket = (dyn_client_job_ticket){0};
    }
    return status;
}

dyn_client_status job_call(dyn_client *client, Dynamics__V1__Request *request, const call_terms *terms, double patience,
                           call_reply *answer, dyn_client_error *error) {
    dyn_client_job_ticket own = {0};
    dyn_client_error unread;
    error = error ? error : &unread; /* status and retry_after decide which requests are repeated */
    under_way_request listed;
    const waiting w = {.client = client,
                       .terms = terms,
                       .ticket = terms->job ? terms->job : &own,
                       .end = monotonic_now() + patience,
                       .listed = &listed};
    call_begin_wait(client, &listed);
    dyn_client_status status = report(&w, 0) ? DYN_CLIENT_OK : fail_cancelled(error);
    if (status == DYN_CLIENT_OK && w.ticket->token == 0) {
        status = start(&w, request, terms->job ? 0 : patience, error);
    }
    if (status == DYN_CLIENT_OK) {
        status = finish(&w, request->method_case, answer, error);
    }
    call_end_wait(client, &listed);
    if (own.token != 0) {
        dispose(&w);
    }
    return status;
}

/* ---- lists of jobs ----------------------------------------------------------------------------------------------- */

typedef struct list_result {
    dyn_client_job_list list;
    Dynamics__V1__ListJobsReply *all; /* NULL if one job was requested */
    Dynamics__V1__GetJobReply *one;
    dyn_client_job jobs[];
} list_result;

static void fill(const Dynamics__V1__JobSummary *from, dyn_client_job *to) {
    const Dynamics__V1__Status *error = from->error;
    *to = (dyn_client_job){.name = from->name,
                           .method = from->method,
                           .state = (dyn_client_job_state)from->state,
                           .fraction = from->fraction,
                           .created_ns = from->created_ns,
                           .started_ns = from->started_ns,
                           .finished_ns = from->finished_ns,
                           .result_bytes = from->result_bytes,
                           .expires_in = from->expires_in,
                           .owner = from->owner,
                           .status = error ? (dyn_client_status)error->code : DYN_CLIENT_OK,
                           .field = error ? error->field : "",
                           .message = error ? error->message : ""};
}

static void free_replies(Dynamics__V1__ListJobsReply *all, Dynamics__V1__GetJobReply *one) {
    if (all) {
        dynamics__v1__list_jobs_reply__free_unpacked(all, NULL);
    }
    if (one) {
        dynamics__v1__get_job_reply__free_unpacked(one, NULL);
    }
}

dyn_client_status dyn_client_get_jobs(dyn_client *client, const char *job, double timeout, dyn_client_job_list **jobs,
                                      dyn_client_error *error) {
    Dynamics__V1__ListJobsRequest every = DYNAMICS__V1__LIST_JOBS_REQUEST__INIT;
    Dynamics__V1__GetJobRequest single = DYNAMICS__V1__GET_JOB_REQUEST__INIT;
    Dynamics__V1__ListJobsReply *all = NULL;
    Dynamics__V1__GetJobReply *one = NULL;
    *jobs = NULL;
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    single.job = (char *)job;
    dyn_client_status status = job ? request_get_job(client, &single, within(timeout), &one, error)
                                   : request_list_jobs(client, &every, within(timeout), &all, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (one && !one->job) {
        free_replies(all, one);
        return fail_bad_reply(error, "it has no job");
    }
    size_t count = one ? 1 : all->n_jobs;
    list_result *result = calloc(1, sizeof *result + count * sizeof *result->jobs);
    if (!result) {
        free_replies(all, one);
        return fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        fill(one ? one->job : all->jobs[i], &result->jobs[i]);
    }
    result->all = all;
    result->one = one;
    result->list = (dyn_client_job_list){.count = count, .jobs = result->jobs};
    *jobs = &result->list;
    return DYN_CLIENT_OK;
}

void dyn_client_job_list_free(dyn_client_job_list *jobs) {
    if (!jobs) {
        return;
    }
    list_result *freed = (list_result *)jobs;
    free_replies(freed->all, freed->one);
    free(freed);
}

dyn_client_status dyn_client_cancel_job(dyn_client *client, const char *job, uint64_t token, double timeout,
                                        dyn_client_error *error) {
    Dynamics__V1__CancelJobRequest body = DYNAMICS__V1__CANCEL_JOB_REQUEST__INIT;
    Dynamics__V1__CancelJobReply *reply;
    if (!client || !job) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "job", "client or job is NULL");
    }
    body.job = (char *)job;
    body.token = token;
    dyn_client_status status = request_cancel_job(client, &body, within(timeout), &reply, error);
    if (status == DYN_CLIENT_OK) {
        dynamics__v1__cancel_job_reply__free_unpacked(reply, NULL);
    }
    return status;
}

const char *dyn_client_job_state_name(dyn_client_job_state state) {
    static const char *const names[] = {"unknown", "queued", "running", "done", "failed", "cancelled"};
    return (unsigned)state < sizeof names / sizeof *names ? names[state] : names[0];
}
