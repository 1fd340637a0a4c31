/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands ping, info and latency, which examine the daemon itself.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "command.h"
#include "csv_writer.h"
#include "json_writer.h"
#include "numbers.h"
#include "table.h"

static double monotonic_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- ping -------------------------------------------------------------------------------------------------------- */

static const char *health_name(dyn_client_health_state state) {
    static const char *const names[] = {"unknown", "serving", "degraded", "not serving"};
    return (size_t)state < sizeof names / sizeof *names ? names[state] : names[0];
}

static void write_health(const dyn_client_health *health, double seconds) {
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "state");
    emit_string(&writer, health_name(health->state));
    emit_key(&writer, "round_trip");
    emit_double(&writer, seconds);
    emit_key(&writer, "components");
    emit_begin_array(&writer);
    for (size_t i = 0; i < health->component_count; i++) {
        emit_begin_object(&writer);
        emit_key(&writer, "name");
        emit_string(&writer, health->components[i].name);
        emit_key(&writer, "state");
        emit_string(&writer, health_name(health->components[i].state));
        emit_key(&writer, "message");
        emit_string(&writer, health->components[i].message);
        emit_end_object(&writer);
    }
    emit_end_array(&writer);
    emit_end_object(&writer);
    emit_finish(&writer);
}

static void print_health(const dyn_client_health *health, double seconds) {
    printf("dynamicsd is %s (%.0f us)\n", health_name(health->state), 1e6 * seconds);
    for (size_t i = 0; i < health->component_count; i++) {
        if (health->components[i].state != DYN_CLIENT_HEALTH_STATE_SERVING) {
            printf("  %s: %s: %s\n", health->components[i].name, health_name(health->components[i].state),
                   health->components[i].message);
        }
    }
}

exit_code run_ping(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    double timeout;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    dyn_client_error error;
    dyn_client_health *health;
    double start = monotonic_now();
    if (dyn_client_get_health(client, NULL, timeout, &health, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    double seconds = monotonic_now() - start;
    if (args->value[OPTION_JSON]) {
        write_health(health, seconds);
    } else {
        print_health(health, seconds);
    }
    bool works = health->state == DYN_CLIENT_HEALTH_STATE_SERVING || health->state == DYN_CLIENT_HEALTH_STATE_DEGRADED;
    dyn_client_health_free(health);
    return works ? EXIT_OK : complain(EXIT_REFUSED, "the daemon is not able to work");
}

/* ---- info -------------------------------------------------------------------------------------------------------- */

/* Name and value of a limit. */
typedef struct limit_row {
    const char *name;
    uint64_t value;
} limit_row;

static void write_rows(json_writer *writer, const limit_row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        emit_key(writer, rows[i].name);
        emit_unsigned(writer, rows[i].value);
    }
}

/* Writes the limits of one user. */
static void write_user_limits(json_writer *writer, const dyn_client_server_info *info) {
    const limit_row rows[] = {
        {"user_requests", info->limits.user_requests},
        {"user_samples", info->limits.user_samples},
        {"user_memory_bytes", info->limits.user_memory_bytes},
        {"user_models", info->limits.user_models},
        {"user_simulations", info->limits.user_simulations},
        {"user_streams", info->limits.user_streams},
        {"user_recordings", info->limits.user_recordings},
        {"user_recordings_bytes", info->limits.user_recordings_bytes},
        {"user_jobs", info->limits.user_jobs},
        {"user_job_bytes", info->limits.user_job_bytes},
    };
    write_rows(writer, rows, sizeof rows / sizeof *rows);
}

/* Writes the limits that no configuration changes. */
static void write_fixed_limits(json_writer *writer, const dyn_client_server_info *info) {
    const limit_row rows[] = {
        {"payloads", info->limits.payloads},
        {"operations", info->limits.operations},
        {"simulation_forces", info->limits.simulation_forces},
        {"task_frames", info->limits.task_frames},
        {"substeps", info->limits.substeps},
        {"base_parameter_joints", info->limits.base_parameter_joints},
        {"coupled_base_parameter_joints", info->limits.coupled_base_parameter_joints},
        {"urdf_bytes", info->limits.urdf_bytes},
        {"urdf_depth", info->limits.urdf_depth},
        {"model_name_bytes", info->limits.model_name_bytes},
        {"object_name_bytes", info->limits.object_name_bytes},
        {"element_name_bytes", info->limits.element_name_bytes},
        {"sample_errors", info->limits.sample_errors},
        {"stored_replies", info->limits.stored_replies},
        {"stored_reply_bytes", info->limits.stored_reply_bytes},
        {"largest_stored_reply_bytes", info->limits.largest_stored_reply_bytes},
        {"external_forces", info->limits.external_forces},
        {"quantities", info->limits.quantities},
        {"chain_joints", info->limits.chain_joints},
        {"description_bytes", info->limits.description_bytes},
        {"sample_steps", info->limits.sample_steps},
        {"decoded_factor", info->limits.decoded_factor},
        {"decoded_margin_bytes", info->limits.decoded_margin_bytes},
        {"connection_requests", info->limits.connection_requests},
        {"waiting_requests", info->limits.waiting_requests},
    };
    write_rows(writer, rows, sizeof rows / sizeof *rows);
}

/* Writes the limits on fast channels. */
static void write_channel_limits(json_writer *writer, const dyn_client_server_info *info) {
    const limit_row rows[] = {
        {"fast_channels", info->limits.fast_channels},
        {"fast_peer_channels", info->limits.fast_peer_channels},
        {"fast_channel_bytes", info->limits.fast_channel_bytes},
    };
    write_rows(writer, rows, sizeof rows / sizeof *rows);
}

/* Writes the limits on simulations, streams, recordings and connections. */
static void write_live_limits(json_writer *writer, const dyn_client_server_info *info) {
    emit_key(writer, "simulations");
    emit_unsigned(writer, info->limits.simulations);
    emit_key(writer, "streams");
    emit_unsigned(writer, info->limits.streams);
    emit_key(writer, "topics");
    emit_unsigned(writer, info->limits.topics);
    emit_key(writer, "stream_points");
    emit_unsigned(writer, info->limits.stream_points);
    emit_key(writer, "recording_bytes");
    emit_unsigned(writer, info->limits.recording_bytes);
    emit_key(writer, "recordings_bytes");
    emit_unsigned(writer, info->limits.recordings_bytes);
    emit_key(writer, "recordings");
    emit_unsigned(writer, info->limits.recordings);
    emit_key(writer, "disk_reserve_bytes");
    emit_unsigned(writer, info->limits.disk_reserve_bytes);
    emit_key(writer, "lease_time");
    emit_double(writer, info->limits.lease_time);
    emit_key(writer, "memory_bytes");
    emit_unsigned(writer, info->limits.memory_bytes);
    emit_key(writer, "peer_connections");
    emit_unsigned(writer, info->limits.peer_connections);
    emit_key(writer, "message_time");
    emit_double(writer, info->limits.message_time);
}

static void write_limits(json_writer *writer, const dyn_client_server_info *info) {
    emit_key(writer, "limits");
    emit_begin_object(writer);
    emit_key(writer, "message_bytes");
    emit_unsigned(writer, info->limits.message_bytes);
    emit_key(writer, "reply_bytes");
    emit_unsigned(writer, info->limits.reply_bytes);
    emit_key(writer, "samples");
    emit_unsigned(writer, info->limits.samples);
    emit_key(writer, "samples_under_way");
    emit_unsigned(writer, info->limits.samples_under_way);
    emit_key(writer, "models");
    emit_unsigned(writer, info->limits.models);
    emit_key(writer, "links");
    emit_unsigned(writer, info->limits.links);
    emit_key(writer, "constraints");
    emit_unsigned(writer, info->limits.constraints);
    emit_key(writer, "machine_elements");
    emit_unsigned(writer, info->limits.machine_elements);
    emit_key(writer, "contact_surfaces");
    emit_unsigned(writer, info->limits.contact_surfaces);
    emit_key(writer, "estimates");
    emit_unsigned(writer, info->limits.estimates);
    emit_key(writer, "connections");
    emit_unsigned(writer, info->limits.connections);
    emit_key(writer, "request_time");
    emit_double(writer, info->limits.request_time);
    emit_key(writer, "request_cpu_time");
    emit_double(writer, info->limits.request_cpu_time);
    emit_key(writer, "jobs");
    emit_unsigned(writer, info->limits.jobs);
    emit_key(writer, "job_time");
    emit_double(writer, info->limits.job_time);
    emit_key(writer, "job_bytes");
    emit_unsigned(writer, info->limits.job_bytes);
    emit_key(writer, "job_result_time");
    emit_double(writer, info->limits.job_result_time);
    emit_key(writer, "idle_time");
    emit_double(writer, info->limits.idle_time);
    write_live_limits(writer, info);
    write_channel_limits(writer, info);
    write_user_limits(writer, info);
    write_fixed_limits(writer, info);
    emit_end_object(writer);
}

static void write_endpoints(json_writer *writer, const dyn_client_server_info *info) {
    emit_key(writer, "endpoints");
    emit_begin_array(writer);
    for (size_t i = 0; i < info->endpoint_count; i++) {
        emit_begin_object(writer);
        emit_key(writer, "address");
        emit_string(writer, info->endpoints[i].address);
        emit_key(writer, "kind");
        emit_string(writer, info->endpoints[i].kind);
        emit_end_object(writer);
    }
    emit_end_array(writer);
}

static const char *role_name(dyn_client_method_role role) {
    static const char *const names[] = {"none",   "monitor", "compute", "control",
                                        "manage", "reader",  "user",    "administrator"};
    return (size_t)role < sizeof names / sizeof names[0] ? names[role] : "unknown";
}

static void write_methods(json_writer *writer, const dyn_client_server_info *info) {
    emit_key(writer, "methods");
    emit_begin_array(writer);
    for (size_t i = 0; i < info->method_count; i++) {
        emit_begin_object(writer);
        emit_key(writer, "name");
        emit_string(writer, info->methods[i].name);
        emit_key(writer, "role");
        emit_string(writer, role_name(info->methods[i].role));
        emit_key(writer, "changes_state");
        emit_bool(writer, info->methods[i].changes_state);
        emit_key(writer, "is_slow");
        emit_bool(writer, info->methods[i].is_slow);
        emit_key(writer, "can_be_job");
        emit_bool(writer, info->methods[i].can_be_job);
        emit_end_object(writer);
    }
    emit_end_array(writer);
}

static void write_counters(json_writer *writer, const dyn_client_server_info *info) {
    emit_key(writer, "counters");
    emit_begin_object(writer);
    for (size_t i = 0; i < info->counter_count; i++) {
        emit_key(writer, info->counters[i].name);
        emit_unsigned(writer, info->counters[i].value);
    }
    emit_end_object(writer);
}

/* Writes the daemon's instance, process id, uptime in s and number of workers, and who asks. */
static void write_process(json_writer *writer, const dyn_client_server_info *info) {
    emit_key(writer, "instance");
    emit_unsigned(writer, info->instance);
    emit_key(writer, "process_id");
    emit_unsigned(writer, info->process_id);
    emit_key(writer, "uptime");
    emit_double(writer, info->uptime);
    emit_key(writer, "workers");
    emit_unsigned(writer, info->workers);
    emit_key(writer, "caller");
    emit_string(writer, info->caller);
    emit_key(writer, "caller_role");
    emit_string(writer, role_name(info->caller_role));
}

static void write_info(const dyn_client_server_info *info) {
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "version");
    emit_string(&writer, info->version);
    emit_key(&writer, "revision");
    emit_unsigned(&writer, info->revision);
    emit_key(&writer, "protocols");
    emit_begin_array(&writer);
    for (size_t i = 0; i < info->protocol_count; i++) {
        emit_string(&writer, info->protocols[i]);
    }
    emit_end_array(&writer);
    emit_key(&writer, "instruction_set");
    emit_string(&writer, info->instruction_set);
    emit_key(&writer, "lanes");
    emit_begin_object(&writer);
    emit_key(&writer, "double");
    emit_unsigned(&writer, info->lanes[DYN_CLIENT_PRECISION_DOUBLE]);
    emit_key(&writer, "single");
    emit_unsigned(&writer, info->lanes[DYN_CLIENT_PRECISION_SINGLE]);
    emit_end_object(&writer);
    write_process(&writer, info);
    write_limits(&writer, info);
    write_endpoints(&writer, info);
    write_methods(&writer, info);
    write_counters(&writer, info);
    emit_end_object(&writer);
    emit_finish(&writer);
}

/* Adds a row to a list of names and values. `format` and the arguments after it form the value, as in printf. */
static void add_line(table *to, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void add_line(table *to, const char *name, const char *format, ...) {
    char text[512];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    table_add_cell(to, "%s", name);
    table_add_cell(to, "%s", text);
}

static table *create_list(void) {
    table *list = table_create();
    table_add_column(list, "", TABLE_LEFT);
    table_add_column(list, "", TABLE_LEFT);
    return list;
}

static bool print_list(table *list) {
    bool is_printed = table_print(list, 2);
    table_free(list);
    return is_printed;
}

static bool print_process(const dyn_client_server_info *info) {
    table *list = create_list();
    printf("dynamicsd %s, process %u, up for %.0f s\n", info->version, info->process_id, info->uptime);
    add_line(list, "instance", "%llu", (unsigned long long)info->instance);
    for (size_t i = 0; i < info->protocol_count; i++) {
        add_line(list, "protocol", "%s, revision %u", info->protocols[i], info->revision);
    }
    add_line(list, "instructions", "%s, %zu state%s at once, %zu in single precision", info->instruction_set,
             info->lanes[DYN_CLIENT_PRECISION_DOUBLE], info->lanes[DYN_CLIENT_PRECISION_DOUBLE] == 1 ? "" : "s",
             info->lanes[DYN_CLIENT_PRECISION_SINGLE]);
    add_line(list, "workers", "%zu", info->workers);
    for (size_t i = 0; i < info->endpoint_count; i++) {
        add_line(list, info->endpoints[i].kind, "%s", info->endpoints[i].address);
    }
    return print_list(list);
}

static bool print_counters(const dyn_client_server_info *info) {
    table *list = create_list();
    printf("Counters\n");
    for (size_t i = 0; i < info->counter_count; i++) {
        add_line(list, info->counters[i].name, "%llu", (unsigned long long)info->counters[i].value);
    }
    return print_list(list);
}

/* Adds the limits of one user to those of all. An earlier daemon has none. */
static void add_user_limits(table *list, const dyn_client_server_info *info) {
    if (info->limits.user_requests == 0) {
        return;
    }
    add_line(list, "one user", "%zu long requests, of %llu states and %llu bytes together", info->limits.user_requests,
             (unsigned long long)info->limits.user_samples, (unsigned long long)info->limits.user_memory_bytes);
    add_line(list, "", "%zu models, %zu simulations, %zu streams", info->limits.user_models,
             info->limits.user_simulations, info->limits.user_streams);
    add_line(list, "", "%zu recordings of %llu bytes, %zu jobs of %llu bytes", info->limits.user_recordings,
             (unsigned long long)info->limits.user_recordings_bytes, info->limits.user_jobs,
             (unsigned long long)info->limits.user_job_bytes);
}

static bool print_limits(const dyn_client_server_info *info) {
    table *list = create_list();
    printf("Limits\n");
    add_line(list, "request", "%llu bytes, %llu states, %g s", (unsigned long long)info->limits.message_bytes,
             (unsigned long long)info->limits.samples, info->limits.request_time);
    add_line(list, "reply", "%llu bytes", (unsigned long long)info->limits.reply_bytes);
    add_line(list, "memory", "%llu bytes for all requests and replies; %g s for a message to arrive",
             (unsigned long long)info->limits.memory_bytes, info->limits.message_time);
    add_line(list, "jobs", "%zu, %g s, %llu bytes; removed %g s after their end", info->limits.jobs,
             info->limits.job_time, (unsigned long long)info->limits.job_bytes, info->limits.job_result_time);
    add_line(list, "models", "%zu, of %zu links", info->limits.models, info->limits.links);
    add_line(list, "simulations", "%zu, a lease of %g s unless they name one", info->limits.simulations,
             info->limits.lease_time);
    add_line(list, "streams", "%zu, of %llu points; %zu endpoints for those who watch", info->limits.streams,
             (unsigned long long)info->limits.stream_points, info->limits.topics);
    add_line(list, "recordings", "%zu, each of %llu bytes, all of %llu; they leave %llu bytes of the disk free",
             info->limits.recordings, (unsigned long long)info->limits.recording_bytes,
             (unsigned long long)info->limits.recordings_bytes, (unsigned long long)info->limits.disk_reserve_bytes);
    add_line(list, "connections", "%zu, %zu of one user or address, each idle for %g s at most",
             info->limits.connections, info->limits.peer_connections, info->limits.idle_time);
    add_line(list, "channels", "%zu fast ones, %zu of one user, each of %llu bytes", info->limits.fast_channels,
             info->limits.fast_peer_channels, (unsigned long long)info->limits.fast_channel_bytes);
    add_user_limits(list, info);
    add_line(list, "in a request",
             "%zu payloads, %zu operations, %zu substeps, %zu frames of a task, errors of %zu states",
             info->limits.payloads, info->limits.operations, info->limits.substeps, info->limits.task_frames,
             info->limits.sample_errors);
    add_line(list, "names", "%zu bytes of models, %zu of simulations and streams, %zu of links and joints",
             info->limits.model_name_bytes, info->limits.object_name_bytes, info->limits.element_name_bytes);
    return print_list(list);
}

exit_code run_info(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    double timeout;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    dyn_client_error error;
    dyn_client_server_info *info;
    if (dyn_client_get_server_info(client, timeout, &info, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    if (args->value[OPTION_JSON]) {
        write_info(info);
    } else if (!print_process(info) || !print_counters(info) || !print_limits(info)) {
        code = complain_memory();
    }
    dyn_client_server_info_free(info);
    return code;
}

/* ---- latency ----------------------------------------------------------------------------------------------------- */

enum { DEFAULT_COUNT = 1000, MAX_COUNT = 1000000, WARM_UP = 10 };

/* Request of each round trip: inverse dynamics of a model's zero state, or a ping if `robot` is NULL. */
typedef struct latency_question {
    dyn_client *client;
    dyn_client_description *robot;
    dyn_client_query query;
    double *tau;
} latency_question;

static dyn_client_status make_round_trip(const latency_question *question, dyn_client_error *error) {
    if (!question->robot) {
        return dyn_client_ping(question->client, question->query.timeout, error);
    }
    return dyn_client_inverse_dynamics(question->client, &question->query, question->robot->zero_q, NULL, NULL,
                                       question->tau, error);
}

static exit_code measure(const latency_question *question, size_t count, double *seconds) {
    dyn_client_error error;
    for (size_t i = 0; i < WARM_UP + count; i++) {
        double start = monotonic_now();
        if (make_round_trip(question, &error) != DYN_CLIENT_OK) {
            return complain_call(&error, NULL);
        }
        if (i >= WARM_UP) {
            seconds[i - WARM_UP] = monotonic_now() - start;
        }
    }
    return EXIT_OK;
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

enum { PERCENTILES = 6 };

static const struct {
    const char *name;
    double rank;
} PERCENTILE[PERCENTILES] = {{"min", 0}, {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};

static void write_latency_json(const char *what, size_t count, const double *seconds) {
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "question");
    emit_string(&writer, what);
    emit_key(&writer, "count");
    emit_unsigned(&writer, count);
    for (size_t i = 0; i < PERCENTILES; i++) {
        emit_key(&writer, PERCENTILE[i].name);
        emit_double(&writer, seconds[i]);
    }
    emit_end_object(&writer);
    emit_finish(&writer);
}

static void write_latency_csv(const char *what, size_t count, const double *seconds) {
    csv_writer writer = {0};
    csv_text(&writer, "question");
    csv_text(&writer, "count");
    for (size_t i = 0; i < PERCENTILES; i++) {
        csv_text(&writer, "%s", PERCENTILE[i].name);
    }
    csv_end_line(&writer);
    csv_text(&writer, "%s", what);
    csv_text(&writer, "%zu", count);
    csv_numbers(&writer, PERCENTILES, seconds);
    csv_end_line(&writer);
}

/* Writes the percentiles of `count` sorted times by nearest rank. `what` names the request. */
static void report_latency(const arguments *args, const char *what, size_t count, const double *sorted) {
    double seconds[PERCENTILES];
    for (size_t i = 0; i < PERCENTILES; i++) {
        size_t at = (size_t)(PERCENTILE[i].rank * (double)count + 0.999999);
        seconds[i] = sorted[at > 0 ? at - 1 : 0];
    }
    if (args->value[OPTION_JSON]) {
        write_latency_json(what, count, seconds);
    } else if (args->value[OPTION_CSV]) {
        write_latency_csv(what, count, seconds);
    } else {
        printf("%zu round trips of %s\n", count, what);
        for (size_t i = 0; i < PERCENTILES; i++) {
            printf("  %-6s %9.1f us\n", PERCENTILE[i].name, 1e6 * seconds[i]);
        }
    }
}

/* Prepares the request about the model of the first operand, or a ping without operand. Reports errors. */
static exit_code prepare_question(const arguments *args, latency_question *question) {
    exit_code code = arguments_timeout(args, &question->query.timeout);
    if (code != EXIT_OK || args->positional_count == 0) {
        return code;
    }
    dyn_client_error error;
    if (dyn_client_describe_model(question->client, args->positional[0], question->query.timeout, &question->robot,
                                  &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    question->query.model = args->positional[0];
    question->query.nq = question->robot->model.nq;
    question->query.nv = question->robot->model.nv;
    question->query.samples = 1;
    question->tau = calloc(question->query.nv + 1, sizeof *question->tau);
    return question->tau ? EXIT_OK : complain_memory();
}

/* Opens a fast channel for the model if the command line asks for one. Reports errors. */
static exit_code prepare_channel(const arguments *args, const latency_question *question) {
    dyn_client_error error;
    if (!args->value[OPTION_FAST]) {
        return EXIT_OK;
    }
    if (!question->robot) {
        return complain(EXIT_USAGE, "--fast: name a model; a fast channel is for one");
    }
    return dyn_client_open_fast_channel(question->client, question->query.model, 0, NULL, question->query.timeout,
                                        &error) == DYN_CLIENT_OK
               ? EXIT_OK
               : complain_call(&error, NULL);
}

exit_code run_latency(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    long count = DEFAULT_COUNT;
    const char *text = args->value[OPTION_COUNT];
    if (text && !parse_integer(text, 1, MAX_COUNT, &count)) {
        return complain(EXIT_USAGE, "--count %s: pass a whole number from 1 to %d", text, MAX_COUNT);
    }
    latency_question question = {.client = client, .query = DYN_CLIENT_QUERY_INIT()};
    double *seconds = calloc((size_t)count, sizeof *seconds);
    exit_code code = seconds ? prepare_question(args, &question) : complain_memory();
    if (code == EXIT_OK) {
        code = prepare_channel(args, &question);
    }
    if (code == EXIT_OK) {
        code = measure(&question, (size_t)count, seconds);
    }
    if (code == EXIT_OK) {
        char what[256] = "ping";
        if (question.robot) {
            snprintf(what, sizeof what, "inverse dynamics of %s%s", question.robot->model.name,
                     args->value[OPTION_FAST] ? " over a fast channel" : "");
        }
        qsort(seconds, (size_t)count, sizeof *seconds, compare);
        report_latency(args, what, (size_t)count, seconds);
    }
    free(question.tau);
    dyn_client_description_free(question.robot);
    free(seconds);
    return code;
}
