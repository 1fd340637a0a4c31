/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests the health of the daemon and information about it.
 */
#include "requests.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"

/* ---- health ------------------------------------------------------------------------------------------------------ */

/* Public result, with the reply that owns its strings, and its components. */
typedef struct health_result {
    dyn_client_health health;
    Dynamics__V1__GetHealthReply *reply;
    dyn_client_component components[];
} health_result;

static dyn_client_status request_health(dyn_client *client, const char *component, double timeout,
                                        Dynamics__V1__GetHealthReply **answer, dyn_client_error *error) {
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    Dynamics__V1__GetHealthRequest question = DYNAMICS__V1__GET_HEALTH_REQUEST__INIT;
    if (component) {
        question.component = (char *)component;
    }
    return request_get_health(client, &question, within(timeout), answer, error);
}

dyn_client_status dyn_client_ping(dyn_client *client, double timeout, dyn_client_error *error) {
    Dynamics__V1__GetHealthReply *answer;
    dyn_client_status status = request_health(client, NULL, timeout, &answer, error);
    if (status == DYN_CLIENT_OK) {
        dynamics__v1__get_health_reply__free_unpacked(answer, NULL);
    }
    return status;
}

dyn_client_status dyn_client_get_health(dyn_client *client, const char *component, double timeout,
                                        dyn_client_health **health, dyn_client_error *error) {
    *health = NULL;
    Dynamics__V1__GetHealthReply *answer;
    dyn_client_status status = request_health(client, component, timeout, &answer, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    health_result *result = calloc(1, sizeof *result + answer->n_components * sizeof *result->components);
    if (!result) {
        dynamics__v1__get_health_reply__free_unpacked(answer, NULL);
        return fail_memory(error);
    }
    result->reply = answer;
    result->health = (dyn_client_health){.state = (dyn_client_health_state)answer->state,
                                         .component_count = answer->n_components,
                                         .components = result->components};
    for (size_t i = 0; i < answer->n_components; i++) {
        result->components[i] = (dyn_client_component){.name = answer->components[i]->name,
                                                       .state = (dyn_client_health_state)answer->components[i]->state,
                                                       .message = answer->components[i]->message};
    }
    *health = &result->health;
    return DYN_CLIENT_OK;
}

void dyn_client_health_free(dyn_client_health *health) {
    if (!health) {
        return;
    }
    health_result *result = (health_result *)health;
    dynamics__v1__get_health_reply__free_unpacked(result->reply, NULL);
    free(result);
}

/* ---- server information ------------------------------------------------------------------------------------------ */

typedef struct info_result {
    dyn_client_server_info info;
    Dynamics__V1__GetServerInfoReply *reply;
    dyn_client_method_info *methods;
    dyn_client_counter *counters;
    dyn_client_endpoint endpoints[];
} info_result;

static void free_info(info_result *result) {
    free(result->methods);
    free(result->counters);
    dynamics__v1__get_server_info_reply__free_unpacked(result->reply, NULL);
    free(result);
}

static void copy_fixed_limits(const Dynamics__V1__Limits *from, dyn_client_server_info *info) {
    info->limits.payloads = from->payloads;
    info->limits.operations = from->operations;
    info->limits.simulation_forces = from->simulation_forces;
    info->limits.task_frames = from->task_frames;
    info->limits.substeps = from->substeps;
    info->limits.base_parameter_joints = from->base_parameter_joints;
    info->limits.coupled_base_parameter_joints = from->coupled_base_parameter_joints;
    info->limits.urdf_bytes = from->urdf_bytes;
    info->limits.urdf_depth = from->urdf_depth;
    info->limits.model_name_bytes = from->model_name_bytes;
    info->limits.object_name_bytes = from->object_name_bytes;
    info->limits.element_name_bytes = from->element_name_bytes;
    info->limits.sample_errors = from->sample_errors;
    info->limits.stored_replies = from->stored_replies;
    info->limits.stored_reply_bytes = from->stored_reply_bytes;
    info->limits.largest_stored_reply_bytes = from->largest_stored_reply_bytes;
    info->limits.external_forces = from->external_forces;
    info->limits.quantities = from->quantities;
    info->limits.chain_joints = from->chain_joints;
    info->limits.description_bytes = from->description_bytes;
    info->limits.sample_steps = from->sample_steps;
    info->limits.decoded_factor = from->decoded_factor;
    info->limits.decoded_margin_bytes = from->decoded_margin_bytes;
    info->limits.connection_requests = from->connection_requests;
    info->limits.waiting_requests = from->waiting_requests;
}

static void copy_limits(const Dynamics__V1__Limits *from, dyn_client_server_info *info) {
    info->limits.message_bytes = from->message_bytes;
    info->limits.reply_bytes = from->reply_bytes;
    info->limits.samples = from->samples;
    info->limits.models = from->models;
    info->limits.links = from->links;
    info->limits.constraints = from->constraints;
    info->limits.machine_elements = from->machine_elements;
    info->limits.contact_surfaces = from->contact_surfaces;
    info->limits.estimates = from->estimates;
    info->limits.connections = from->connections;
    info->limits.request_time = from->request_time;
    info->limits.jobs = from->jobs;
    info->limits.job_time = from->job_time;
    info->limits.job_bytes = from->job_bytes;
    info->limits.job_result_time = from->job_result_time;
    info->limits.idle_time = from->idle_time;
    info->limits.simulations = from->simulations;
    info->limits.streams = from->streams;
    info->limits.topics = from->topics;
    info->limits.stream_points = from->stream_points;
    info->limits.recording_bytes = from->recording_bytes;
    info->limits.recordings_bytes = from->recordings_bytes;
    info->limits.recordings = from->recordings;
    info->limits.disk_reserve_bytes = from->disk_reserve_bytes;
    info->limits.lease_time = from->lease_time;
    info->limits.memory_bytes = from->memory_bytes;
    info->limits.peer_connections = from->peer_connections;
    info->limits.message_time = from->message_time;
    info->limits.request_cpu_time = from->request_cpu_time;
    info->limits.user_memory_bytes = from->user_memory_bytes;
    info->limits.user_requests = from->user_requests;
    info->limits.user_samples = from->user_samples;
    info->limits.samples_under_way = from->samples_under_way;
    info->limits.user_models = from->user_models;
    info->limits.user_simulations = from->user_simulations;
    info->limits.user_streams = from->user_streams;
    info->limits.user_recordings = from->user_recordings;
    info->limits.user_recordings_bytes = from->user_recordings_bytes;
    info->limits.user_jobs = from->user_jobs;
    info->limits.user_job_bytes = from->user_job_bytes;
    info->limits.fast_channels = from->fast_channels;
    info->limits.fast_peer_channels = from->fast_peer_channels;
    info->limits.fast_channel_bytes = from->fast_channel_bytes;
    copy_fixed_limits(from, info);
}

static void copy_info(info_result *result) {
    const Dynamics__V1__GetServerInfoReply *from = result->reply;
    result->info = (dyn_client_server_info){
        .version = from->version,
        .revision = from->revision,
        .protocol_count = from->n_protocols,
        .protocols = (const char *const *)from->protocols,
        .instruction_set = from->instruction_set,
        .endpoint_count = from->n_endpoints,
        .endpoints = result->endpoints,
        .method_count = from->n_methods,
        .methods = result->methods,
        .counter_count = from->n_counters,
        .counters = result->counters,
        .uptime = from->uptime,
        .workers = from->workers,
        .process_id = from->process_id,
        .instance = from->instance,
        .caller = from->caller,
        .caller_role = (dyn_client_method_role)from->caller_role,
    };
    if (from->limits) {
        copy_limits(from->limits, &result->info);
    }
    for (size_t i = 0; i < from->n_endpoints; i++) {
        result->endpoints[i] =
            (dyn_client_endpoint){.address = from->endpoints[i]->address, .kind = from->endpoints[i]->kind};
    }
    for (size_t i = 0; i < from->n_lanes; i++) {
        if ((unsigned)from->lanes[i]->precision < 2) {
            result->info.lanes[from->lanes[i]->precision] = from->lanes[i]->lanes;
        }
    }
    for (size_t i = 0; i < from->n_counters; i++) {
        result->counters[i] = (dyn_client_counter){.name = from->counters[i]->name, .value = from->counters[i]->value};
    }
    for (size_t i = 0; i < from->n_methods; i++) {
        result->methods[i] = (dyn_client_method_info){.name = from->methods[i]->name,
                                                      .role = (dyn_client_method_role)from->methods[i]->role,
                                                      .changes_state = from->methods[i]->changes_state,
                                                      .is_slow = from->methods[i]->is_slow,
                                                      .can_be_job = from->methods[i]->can_be_job};
    }
}

dyn_client_status dyn_client_get_server_info(dyn_client *client, double timeout, dyn_client_server_info **info,
                                             dyn_client_error *error) {
    *info = NULL;
    if (!client) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "client", "client is NULL");
    }
    Dynamics__V1__GetServerInfoRequest question = DYNAMICS__V1__GET_SERVER_INFO_REQUEST__INIT;
    Dynamics__V1__GetServerInfoReply *answer;
    dyn_client_status status = request_get_server_info(client, &question, within(timeout), &answer, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    info_result *result = calloc(1, sizeof *result + answer->n_endpoints * sizeof *result->endpoints);
    if (!result) {
        dynamics__v1__get_server_info_reply__free_unpacked(answer, NULL);
        return fail_memory(error);
    }
    result->reply = answer;
    result->methods = calloc(answer->n_methods + 1, sizeof *result->methods);
    result->counters = calloc(answer->n_counters + 1, sizeof *result->counters);
    if (!result->methods || !result->counters) {
        free_info(result);
        return fail_memory(error);
    }
    copy_info(result);
    *info = &result->info;
    return DYN_CLIENT_OK;
}

void dyn_client_server_info_free(dyn_client_server_info *info) {
    if (!info) {
        return;
    }
    free_info((info_result *)info);
}

uint64_t dyn_client_server_counter(const dyn_client_server_info *info, const char *name) {
    for (size_t i = 0; i < info->counter_count; i++) {
        if (strcmp(info->counters[i].name, name) == 0) {
            return info->counters[i].value;
        }
    }
    return 0;
}
