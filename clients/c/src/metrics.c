/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests the numbers of the daemon's requests by method, and sets the level of its log.
 */
#include "requests.h"

#include <stdlib.h>

#include "error.h"
#include "wire.h"

/* Public result, with the reply that owns its strings and arrays. */
typedef struct metrics_result {
    dyn_client_metrics metrics;
    Dynamics__V1__GetMetricsReply *reply;
    dyn_client_counter *counters;
    dyn_client_method_metrics methods[];
} metrics_result;

static void free_result(metrics_result *result) {
    free(result->counters);
    dynamics__v1__get_metrics_reply__free_unpacked(result->reply, NULL);
    free(result);
}

/* Returns true if each method has a number for each range of the time. */
static bool has_all_ranges(const Dynamics__V1__GetMetricsReply *reply) {
    for (size_t i = 0; i < reply->n_methods; i++) {
        if (reply->methods[i]->n_times != reply->n_time_bounds + 1) {
            return false;
        }
    }
    return true;
}

static void copy_metrics(metrics_result *result) {
    const Dynamics__V1__GetMetricsReply *from = result->reply;
    result->metrics = (dyn_client_metrics){
        .instance = from->instance,
        .uptime = from->uptime,
        .bound_count = from->n_time_bounds,
        .time_bounds = from->time_bounds,
        .method_count = from->n_methods,
        .methods = result->methods,
        .counter_count = from->n_counters,
        .counters = result->counters,
    };
    for (size_t i = 0; i < from->n_methods; i++) {
        const Dynamics__V1__MethodMetrics *method = from->methods[i];
        result->methods[i] = (dyn_client_method_metrics){
            .method = method->method,
            .code_count = method->n_codes,
            .codes = method->codes,
            .times = method->times,
            .time = method->time,
            .samples = method->samples,
            .request_bytes = method->request_bytes,
            .reply_bytes = method->reply_bytes,
        };
    }
    for (size_t i = 0; i < from->n_counters; i++) {
        result->counters[i] = (dyn_client_counter){.name = from->counters[i]->name, .value = from->counters[i]->value};
    }
}

dyn_client_status dyn_client_get_metrics(dyn_client *client, double timeout, dyn_client_metrics **metrics,
                                         dyn_client_error *error) {
    *metrics = NULL;
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    Dynamics__V1__GetMetricsRequest question = DYNAMICS__V1__GET_METRICS_REQUEST__INIT;
    Dynamics__V1__GetMetricsReply *answer;
    dyn_client_status status = request_get_metrics(client, &question, within(timeout), &answer, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (!has_all_ranges(answer)) {
        dynamics__v1__get_metrics_reply__free_unpacked(answer, NULL);
        return fail_bad_reply(error, "the times of a method do not fit their bounds");
    }
    metrics_result *result = calloc(1, sizeof *result + answer->n_methods * sizeof *result->methods);
    if (!result) {
        dynamics__v1__get_metrics_reply__free_unpacked(answer, NULL);
        return fail_memory(error);
    }
    result->reply = answer;
    result->counters = calloc(answer->n_counters + 1, sizeof *result->counters);
    if (!result->counters) {
        free_result(result);
        return fail_memory(error);
    }
    copy_metrics(result);
    *metrics = &result->metrics;
    return DYN_CLIENT_OK;
}

void dyn_client_metrics_free(dyn_client_metrics *metrics) {
    if (metrics) {
        free_result((metrics_result *)metrics);
    }
}

dyn_client_status dyn_client_set_log_level(dyn_client *client, dyn_client_log_level level, double timeout,
                                           dyn_client_log_level *now, dyn_client_log_level *previous,
                                           dyn_client_error *error) {
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    Dynamics__V1__SetLogLevelRequest question = DYNAMICS__V1__SET_LOG_LEVEL_REQUEST__INIT;
    Dynamics__V1__SetLogLevelReply *answer;
    question.level = (Dynamics__V1__LogLevel)level;
    dyn_client_status status = request_set_log_level(client, &question, within(timeout), &answer, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    if (now) {
        *now = (dyn_client_log_level)answer->level;
    }
    if (previous) {
        *previous = (dyn_client_log_level)answer->previous;
    }
    dynamics__v1__set_log_level_reply__free_unpacked(answer, NULL);
    return DYN_CLIENT_OK;
}
