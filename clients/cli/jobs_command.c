/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs: lists, shows and cancels the jobs of the daemon, and fetches their results.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "exchange.h"
#include "json_writer.h"
#include "message_json.h"
#include "table.h"
#include "token.h"

/* Arguments of an action on jobs. */
typedef struct jobs_question {
    dyn_client *client;
    const arguments *given;
    const char *job; /* NULL: all */
    double timeout;  /* s */
} jobs_question;

static void write_job(json_writer *writer, const dyn_client_job *job) {
    emit_begin_object(writer);
    emit_key(writer, "name");
    emit_string(writer, job->name);
    emit_key(writer, "method");
    emit_string(writer, job->method);
    emit_key(writer, "state");
    emit_string(writer, dyn_client_job_state_name(job->state));
    emit_key(writer, "fraction");
    emit_double(writer, job->fraction);
    emit_key(writer, "created_ns");
    emit_signed(writer, job->created_ns);
    emit_key(writer, "started_ns");
    emit_signed(writer, job->started_ns);
    emit_key(writer, "finished_ns");
    emit_signed(writer, job->finished_ns);
    emit_key(writer, "result_bytes");
    emit_unsigned(writer, job->result_bytes);
    emit_key(writer, "expires_in");
    emit_double(writer, job->expires_in);
    emit_key(writer, "owner");
    emit_string(writer, job->owner);
    emit_key(writer, "message");
    emit_string(writer, job->message);
    emit_end_object(writer);
}

/* Writes one object, or an array where all jobs were asked for. */
static void write_jobs(const dyn_client_job_list *jobs, bool is_list) {
    json_writer writer = {.stream = stdout, .pretty = true};
    if (is_list) {
        emit_begin_array(&writer);
    }
    for (size_t i = 0; i < jobs->count; i++) {
        write_job(&writer, &jobs->jobs[i]);
    }
    if (is_list) {
        emit_end_array(&writer);
    }
    emit_finish(&writer);
}

static bool print_jobs(const dyn_client_job_list *jobs) {
    if (jobs->count == 0) {
        puts("no jobs (start one: add --job to a command that computes)");
        return true;
    }
    table *lines = table_create();
    table_add_column(lines, "job", TABLE_LEFT);
    table_add_column(lines, "method", TABLE_LEFT);
    table_add_column(lines, "state", TABLE_LEFT);
    table_add_column(lines, "done", TABLE_RIGHT);
    table_add_column(lines, "result bytes", TABLE_RIGHT);
    table_add_column(lines, "owner", TABLE_LEFT);
    table_add_column(lines, "", TABLE_LEFT);
    for (size_t i = 0; i < jobs->count; i++) {
        const dyn_client_job *job = &jobs->jobs[i];
        table_add_cell(lines, "%s", job->name);
        table_add_cell(lines, "%s", job->method);
        table_add_cell(lines, "%s", dyn_client_job_state_name(job->state));
        table_add_cell(lines, "%.0f %%", 100 * job->fraction);
        table_add_cell(lines, "%llu", (unsigned long long)job->result_bytes);
        table_add_cell(lines, "%s", job->owner);
        table_add_cell(lines, "%s", job->message);
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

static exit_code show_jobs(const jobs_question *question) {
    dyn_client_error error;
    dyn_client_job_list *jobs;
    bool complete = true;
    if (dyn_client_get_jobs(question->client, question->job, question->timeout, &jobs, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    if (question->given->value[OPTION_JSON]) {
        write_jobs(jobs, !question->job);
    } else {
        complete = print_jobs(jobs);
    }
    dyn_client_job_list_free(jobs);
    return complete ? EXIT_OK : complain_memory();
}

/* Reads the token, which the user who started the job may leave out. */
static exit_code read_job_token(const jobs_question *question, uint64_t *token) {
    *token = 0;
    return question->given->value[OPTION_TOKEN] ? read_token(question->given, "start_job returned", token) : EXIT_OK;
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
    if (!question->given->value[OPTION_JSON]) {
        printf("%s: cancelled\n", question->job);
    }
    return EXIT_OK;
}

/* Writes the result as JSON, in the protocol's own form. */
static exit_code fetch_result(const jobs_question *question) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__GetJobResultRequest asked = DYNAMICS__V1__GET_JOB_RESULT_REQUEST__INIT;
    Dynamics__V1__Reply *reply;
    exit_code code = read_job_token(question, &asked.token);
    if (code != EXIT_OK) {
        return code;
    }
    asked.job = (char *)question->job;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_GET_JOB_RESULT;
    request.get_job_result = &asked;
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

exit_code run_jobs(const command *self, const arguments *given, dyn_client *client) {
    static const struct {
        const char *name;
        bool needs_job;
        exit_code (*run)(const jobs_question *question);
    } ACTIONS[] = {{"list", false, show_jobs},
                   {"show", true, show_jobs},
                   {"cancel", true, cancel_job},
                   {"result", true, fetch_result}};
    (void)self;
    const char *wanted = given->positional_count > 0 ? given->positional[0] : "list";
    jobs_question question = {.client = client, .given = given, .job = given->positional[1]};
    exit_code code = arguments_timeout(given, &question.timeout);
    if (code != EXIT_OK) {
        return code;
    }
    for (size_t i = 0; i < sizeof ACTIONS / sizeof *ACTIONS; i++) {
        if (strcmp(wanted, ACTIONS[i].name) == 0) {
            if (ACTIONS[i].needs_job != (question.job != NULL)) {
                return complain(EXIT_USAGE, "jobs %s %s", wanted,
                                ACTIONS[i].needs_job ? "needs the name of a job" : "takes no name: did you mean show?");
            }
            return ACTIONS[i].run(&question);
        }
    }
    return complain(EXIT_USAGE, "jobs %s: there are list, show, cancel and result", wanted);
}
