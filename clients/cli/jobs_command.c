/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command jobs: lists, shows and cancels the jobs of the daemon, and fetches their results.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "done_output.h"
#include "exchange.h"
#include "listing.h"
#include "message_json.h"
#include "token.h"

/* Arguments of an action on jobs. */
typedef struct jobs_question {
    dyn_client *client;
    const arguments *args;
    const char *job; /* NULL: all */
    double timeout;  /* s */
} jobs_question;

static const listing_column JOBS[] = {{"name", "job", TABLE_NAME},        {"method", "method", TABLE_LEFT},
                                      {"state", "state", TABLE_LEFT},     {"fraction", "done", TABLE_RIGHT},
                                      {"created_ns", NULL, TABLE_RIGHT},  {"started_ns", NULL, TABLE_RIGHT},
                                      {"finished_ns", NULL, TABLE_RIGHT}, {"result_bytes", "result bytes", TABLE_RIGHT},
                                      {"expires_in", NULL, TABLE_RIGHT},  {"owner", "owner", TABLE_LEFT},
                                      {"message", "message", TABLE_LEFT}};

static void add_job(listing *to, const dyn_client_job *job) {
    listing_text(to, job->name, NULL);
    listing_text(to, job->method, NULL);
    listing_text(to, dyn_client_job_state_name(job->state), NULL);
    listing_number(to, job->fraction, "%.0f %%", 100 * job->fraction);
    listing_signed(to, job->created_ns);
    listing_signed(to, job->started_ns);
    listing_signed(to, job->finished_ns);
    listing_count(to, job->result_bytes);
    listing_number(to, job->expires_in, "%g", job->expires_in);
    listing_text(to, job->owner, NULL);
    listing_text(to, job->message, NULL);
}

static exit_code show_jobs(const jobs_question *question) {
    dyn_client_error error;
    dyn_client_job_list *jobs;
    if (dyn_client_get_jobs(question->client, question->job, question->timeout, &jobs, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    listing rows;
    exit_code code = listing_open(question->args, sizeof JOBS / sizeof *JOBS, JOBS, &rows);
    for (size_t i = 0; code == EXIT_OK && i < jobs->count; i++) {
        add_job(&rows, &jobs->jobs[i]);
    }
    dyn_client_job_list_free(jobs);
    return listing_close(&rows, "no jobs (start one: add --job to a command that computes)", code);
}

/* Reads --token. The user who started the job may leave it out; the token is then 0. */
static exit_code read_job_token(const jobs_question *question, uint64_t *token) {
    *token = 0;
    return question->args->value[OPTION_TOKEN] ? read_token(question->args, "start_job returned", token) : EXIT_OK;
}

static exit_code cancel_job(const jobs_question *question) {
    dyn_client_error error;
    uint64_t token;
    exit_code code = read_job_token(question, &token);
    if (code != EXIT_OK) {
        return code;
    }
    if (dyn_client_cancel_job(question->client, question->job, token, question->timeout, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    print_done(question->args, question->job, "cancelled");
    return EXIT_OK;
}

/* Writes the result as JSON, in the protocol's own form. */
static exit_code fetch_result(const jobs_question *question) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__GetJobResultRequest body = DYNAMICS__V1__GET_JOB_RESULT_REQUEST__INIT;
    Dynamics__V1__Reply *reply;
    exit_code code = read_job_token(question, &body.token);
    if (code != EXIT_OK) {
        return code;
    }
    body.job = (char *)question->job;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_GET_JOB_RESULT;
    request.get_job_result = &body;
    code = exchange(question->client, &request, question->timeout, NULL, &reply);
    if (code != EXIT_OK) {
        return code;
    }
    json_writer writer = {.stream = stdout, .pretty = true};
    message_to_json(&writer, MESSAGE_PLAIN, &reply->get_job_result->base);
    emit_finish(&writer);
    dynamics__v1__reply__free_unpacked(reply, NULL);
    return EXIT_OK;
}

exit_code run_jobs(const command *self, const arguments *args, dyn_client *client) {
    static const struct {
        const char *name;
        bool needs_job, has_token;
        exit_code (*run)(const jobs_question *question);
    } ACTIONS[] = {{"list", false, false, show_jobs},
                   {"show", true, false, show_jobs},
                   {"cancel", true, true, cancel_job},
                   {"result", true, true, fetch_result}};
    (void)self;
    const char *wanted = args->positional_count > 0 ? args->positional[0] : "list";
    jobs_question question = {.client = client, .args = args, .job = args->positional[1]};
    exit_code code = arguments_timeout(args, &question.timeout);
    if (code != EXIT_OK) {
        return code;
    }
    for (size_t i = 0; i < sizeof ACTIONS / sizeof *ACTIONS; i++) {
        if (strcmp(wanted, ACTIONS[i].name) == 0) {
            if (ACTIONS[i].needs_job != (question.job != NULL)) {
                return complain(EXIT_USAGE, "jobs %s %s", wanted,
                                ACTIONS[i].needs_job ? "needs the name of a job" : "takes no name: did you mean show?");
            }
            if (args->value[OPTION_TOKEN] && !ACTIONS[i].has_token) {
                return complain(EXIT_USAGE, "jobs %s takes no --token: every client may list and show jobs", wanted);
            }
            if (args->value[OPTION_CSV] && ACTIONS[i].run != show_jobs) {
                return complain(EXIT_USAGE, "jobs %s takes no --csv", wanted);
            }
            return ACTIONS[i].run(&question);
        }
    }
    return complain(EXIT_USAGE, "jobs %s: there are list, show, cancel and result", wanted);
}
