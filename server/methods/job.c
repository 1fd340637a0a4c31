/* SPDX-License-Identifier: BSD-2-Clause */
/* Methods of jobs: start, query, fetch, cancel and list them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "methods/job_table.h"
#include "methods/live.h"
#include "methods/methods.h"
#include "methods/text.h"
#include "observe/clock.h"

/* Time to copy a request or to decode a result, ns for each byte. */
static const double COPY_COST = 0.5;

/* ---- finding ----------------------------------------------------------------------------------------------------- */

/* Returns a reference to the job of that name. Returns NULL, and the call has ended, if there is none. */
static job *find(call *c, const char *name) {
    job_table *table = service_jobs(c->owner);
    job *j = job_table_find(table, name);
    char quoted[TEXT_QUOTE_SIZE];
    job **all;
    size_t count;
    if (j) {
        return j;
    }
    call_blame(c, "job");
    if (!job_table_list(table, &all, &count)) {
        call_fail_memory(c);
        return NULL;
    }
    text_guess guess = text_guess_start(name);
    for (size_t i = 0; i < count; i++) {
        text_guess_consider(&guess, job_name(all[i]));
    }
    if (name[0] == '\0') {
        call_fail(c, REASON_MISSING_VALUE, "the request names no job; ListJobs tells which there are");
    } else if (guess.closest) {
        call_fail(c, REASON_JOB_NOT_FOUND, "there is no job %s; did you mean \"%s\"?", text_quote(name, quoted),
                  guess.closest);
    } else {
        call_fail(
            c, REASON_JOB_NOT_FOUND,
            "there is no job %s; finished jobs are removed after %g s (limits.job_result_time) or when their place "
            "is needed, and all jobs end with the daemon, which has run for %.0f s: start it again",
            text_quote(name, quoted), atomic_load(&c->service->limits->job_result_time),
            (double)(clock_now() - c->service->counters->start) / 1e9);
    }
    for (size_t i = 0; i < count; i++) {
        job_release(all[i]);
    }
    free(all);
    return NULL;
}

/* Returns a reference to a job that the caller may command with the token. Otherwise returns NULL, and the call has
 * ended. */
static job *command(call *c, const char *name, uint64_t token) {
    job *j = find(c, name);
    if (j && token != job_token(j) && !(token == 0 && call_may_command(c, job_belongs_to(j)))) {
        call_blame(c, "token");
        call_fail(c, REASON_WRONG_TOKEN,
                  "job \"%s\" was started by %s; pass its token (the request has %s), or none as %s or as an "
                  "administrator",
                  job_name(j), job_owner(j), token ? "another one" : "none", job_belongs_to(j));
        job_release(j);
        return NULL;
    }
    return j;
}

/* ---- summary ----------------------------------------------------------------------------------------------------- */

/* Decodes a stored reply to the call's memory. Returns NULL, and the call has ended, when out of memory. */
static Dynamics__V1__Reply *decode_reply(call *c, const job_view *view) {
    Dynamics__V1__Reply *reply =
        view->reply ? dynamics__v1__reply__unpack(&c->memory.allocator, view->reply_size, view->reply) : NULL;
    if (!reply) {
        call_fail_memory(c);
    }
    return reply;
}

/* Describes a job in the call's memory. Returns NULL, and the call has ended, when out of memory. */
static Dynamics__V1__JobSummary *summarize(call *c, job *j) {
    const job_view view = job_look(j);
    Dynamics__V1__JobSummary *summary = call_allocate(c, 1, sizeof *summary);
    if (!summary) {
        return NULL;
    }
    bool is_done = view.state == DYNAMICS__V1__JOB_STATE__JOB_STATE_DONE;
    dynamics__v1__job_summary__init(summary);
    summary->name = call_string(c, job_name(j));
    summary->method = call_string(c, job_method(j));
    summary->owner = call_string(c, job_owner(j));
    summary->state = view.state;
    summary->fraction = view.fraction;
    summary->created_ns = view.created_ns;
    summary->started_ns = view.started_ns;
    summary->finished_ns = view.finished_ns;
    summary->expires_in = view.expires_in;
    summary->result_bytes = is_done ? view.reply_size : 0;
    if (!is_done && view.reply) {
        const Dynamics__V1__Reply *reply = decode_reply(c, &view);
        summary->error = reply ? reply->status : NULL;
    }
    return call_has_ended(c) ? NULL : summary;
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

/* Starts the job of the request under that name, and describes it in the reply. */
static void start(call *c, const Dynamics__V1__StartJobRequest *r, const char *name) {
    const transport_call *t = c->transport;
    refusal why = {0};
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    request.timeout = r->timeout;
    request.progress = c->request->progress;
    /* The methods have equal numbers in both messages. All members of each oneof are pointers in one place. */
    request.method_case = (Dynamics__V1__Request__MethodCase)r->method_case;
    request.rollout = r->rollout;
    const job_order order = {
        .name = name,
        .method = methods[r->method_case].name,
        .owner = t->peer,
        .caller = &c->caller,
        .share = call_share(c, atomic_load(&c->service->limits->user_jobs)),
        .share_bytes = call_share(c, atomic_load(&c->service->limits->user_job_bytes)),
        .token = live_token(),
        .started_by = {.peer = t->identity, .client = c->request->client, .id = c->request->id},
        .request = &request,
    };
    Dynamics__V1__StartJobReply *reply = create_start_job_reply(c);
    job *j = reply ? job_table_start(service_jobs(c->owner), &order, &why) : NULL;
    if (reply && !j) {
        call_refuse(c, &why);
    }
    if (!j) {
        return;
    }
    reply->job = summarize(c, j);
    reply->token = job_token(j);
    if (!reply->job) {
        job_table_cancel(service_jobs(c->owner), j);
    }
    job_release(j);
}

void method_start_job(call *c) {
    const Dynamics__V1__StartJobRequest *r = c->request->start_job;
    char name[SIMULATION_NAME_SIZE];
    refusal why = {0};
    if (r->method_case == DYNAMICS__V1__START_JOB_REQUEST__METHOD__NOT_SET) {
        call_blame(c, "method");
        call_fail(c, REASON_NO_METHOD, "the job names no method; set one of those of StartJobRequest.method");
    } else if (!(isfinite(r->timeout) && r->timeout >= 0)) {
        call_blame(c, "timeout");
        call_fail(c, REASON_INVALID_VALUE, "timeout is %g; pass seconds, or 0 for the daemon's own limit", r->timeout);
    } else if (!call_defer(c, COPY_COST * (double)c->transport->request_size)) {
        if (live_name(c->service->live, "job", r->job, "job", name, &why)) {
            start(c, r, name);
        } else {
            call_refuse(c, &why);
        }
    }
}

void method_get_job(call *c) {
    Dynamics__V1__GetJobReply *reply = create_get_job_reply(c);
    job *j = reply ? find(c, c->request->get_job->job) : NULL;
    if (!j) {
        return;
    }
    reply->job = summarize(c, j);
    job_release(j);
}

/* Ends the call with the error with which a job ended. */
static void fail_as_job(call *c, const Dynamics__V1__Status *status) {
    c->status = *status;
    snprintf(c->field, sizeof c->field, "%s", status->field);
    snprintf(c->message, sizeof c->message, "%s", status->message);
}

/* Replies with the stored result or error of a job that has finished. */
static void reply_stored(call *c, const job_view *view) {
    Dynamics__V1__GetJobResultReply *reply = create_get_job_result_reply(c);
    const Dynamics__V1__Reply *stored = reply ? decode_reply(c, view) : NULL;
    if (!stored) {
        return;
    }
    if (stored->status->code != DYNAMICS__V1__CODE__CODE_OK) {
        fail_as_job(c, stored->status);
        return;
    }
    reply->elapsed = stored->elapsed;
    c->reply.model_key = stored->model_key;
    c->reply.without_rotors = stored->without_rotors;
    c->reply.n_sample_errors = stored->n_sample_errors;
    c->reply.sample_errors = stored->sample_errors;
    c->reply.sample_error_count = stored->sample_error_count;
    /* The methods have equal numbers in both messages. All members of each oneof are pointers in one place. */
    reply->result_case = (Dynamics__V1__GetJobResultReply__ResultCase)stored->result_case;
    reply->rollout = stored->rollout;
}

void method_get_job_result(call *c) {
    const Dynamics__V1__GetJobResultRequest *r = c->request->get_job_result;
    job *j = command(c, r->job, r->token);
    if (!j) {
        return;
    }
    const job_view view = job_look(j);
    if (view.finished_ns == 0) {
        call_blame(c, "job");
        call_fail(c, REASON_JOB_NOT_FINISHED, "job \"%s\" %s; ask again, or ask how far it is (GetJob)", job_name(j),
                  view.started_ns == 0 ? "waits for a thread" : "is being computed");
    } else if (!call_defer(c, COPY_COST * (double)view.reply_size)) {
        reply_stored(c, &view);
    }
    job_release(j);
}

void method_cancel_job(call *c) {
    const Dynamics__V1__CancelJobRequest *r = c->request->cancel_job;
    Dynamics__V1__CancelJobReply *reply = create_cancel_job_reply(c);
    job *j = reply ? command(c, r->job, r->token) : NULL;
    if (!j) {
        return;
    }
    reply->job = summarize(c, j);
    if (reply->job) {
        job_table_cancel(service_jobs(c->owner), j);
    }
    job_release(j);
}

void method_list_jobs(call *c) {
    Dynamics__V1__ListJobsReply *reply = create_list_jobs_reply(c);
    job **all = NULL;
    size_t count = 0;
    if (!reply || !job_table_list(service_jobs(c->owner), &all, &count)) {
        call_fail_memory(c);
        return;
    }
    reply->jobs = call_allocate(c, count, sizeof *reply->jobs);
    for (size_t i = 0; i < count; i++) {
        Dynamics__V1__JobSummary *summary = reply->jobs ? summarize(c, all[i]) : NULL;
        if (summary) {
            reply->jobs[reply->n_jobs++] = summary;
        }
        job_release(all[i]);
    }
    free(all);
}
