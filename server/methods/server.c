/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports the health of the daemon's components, its limits, methods, counters and metrics, and sets the level of its
 * log. */
#include <dynamics/builder.h>
#include <dynamics/task.h>
#include <dynamics/urdf.h>
#include <dynamics/workspace.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "methods/bounds.h"
#include "methods/job_table.h"
#include "methods/live.h"
#include "methods/methods.h"
#include "methods/reply_cache.h"
#include "methods/text.h"
#include "observe/clock.h"

static Dynamics__V1__HealthState wire_state(health_state state) {
    switch (state) {
    case HEALTH_SERVING:
        return DYNAMICS__V1__HEALTH_STATE__HEALTH_STATE_SERVING;
    case HEALTH_DEGRADED:
        return DYNAMICS__V1__HEALTH_STATE__HEALTH_STATE_DEGRADED;
    case HEALTH_NOT_SERVING:
        return DYNAMICS__V1__HEALTH_STATE__HEALTH_STATE_NOT_SERVING;
    case HEALTH_UNKNOWN:
        break;
    }
    return DYNAMICS__V1__HEALTH_STATE__HEALTH_STATE_UNKNOWN;
}

/* Adds one component to the reply, whose state becomes that of the worst component. */
static void add_component(call *c, Dynamics__V1__GetHealthReply *reply, const health_component *component) {
    Dynamics__V1__ComponentHealth *entry = call_allocate(c, 1, sizeof *entry);
    if (!entry) {
        return;
    }
    dynamics__v1__component_health__init(entry);
    entry->name = call_string(c, component->name);
    entry->state = wire_state(component->state);
    entry->message = call_string(c, component->message);
    reply->components[reply->n_components++] = entry;
    if (entry->state > reply->state) {
        reply->state = entry->state;
    }
}

void method_get_health(call *c) {
    const char *wanted = c->request->get_health->component;
    health *h = c->service->health;
    Dynamics__V1__GetHealthReply *reply = create_get_health_reply(c);
    Dynamics__V1__ComponentHealth **components = call_allocate(c, h->count, sizeof *components);
    health_component component;
    if (!reply || !components) {
        return;
    }
    reply->components = components;
    text_guess guess = text_guess_start(wanted);
    for (size_t i = 0; i < h->count; i++) {
        health_read(h, i, &component);
        if (wanted[0] == '\0' || strcmp(wanted, component.name) == 0) {
            add_component(c, reply, &component);
        }
        text_guess_consider(&guess, h->components[i].name);
    }
    call_may_proceed(c, 1); /* publishes progress for a client that checks whether its subscription works */
    if (reply->n_components == 0) {
        char quoted[TEXT_QUOTE_SIZE], hint[TEXT_HINT_SIZE];
        call_blame(c, "component");
        call_fail(c, REASON_COMPONENT_NOT_FOUND, "there is no component %s; %s", text_quote(wanted, quoted),
                  text_guess_hint(&guess, "an empty name asks for all", hint));
        return;
    }
}

/* Writes the limits that no configuration changes. */
static void copy_fixed_limits(Dynamics__V1__Limits *to) {
    to->payloads = MOST_PAYLOADS;
    to->simulation_forces = STEPPER_FORCES;
    to->task_frames = DYN_TASK_FRAMES;
    to->operations = MOST_OPERATIONS;
    to->substeps = MOST_SUBSTEPS;
    to->base_parameter_joints = MOST_BASE_PARAMETER_JOINTS;
    to->coupled_base_parameter_joints = DYN_BASE_PARAMETER_COUPLED_JOINTS;
    to->urdf_bytes = DYN_URDF_MAX_BYTES;
    to->urdf_depth = DYN_URDF_MAX_DEPTH;
    to->model_name_bytes = MODEL_NAME_SIZE - 1;
    to->object_name_bytes = SIMULATION_NAME_SIZE - 1;
    to->element_name_bytes = DYN_MAX_NAME;
    to->sample_errors = MOST_SAMPLE_ERRORS;
    to->stored_replies = REPLY_CACHE_ENTRIES;
    to->stored_reply_bytes = REPLY_CACHE_BYTES;
    to->largest_stored_reply_bytes = REPLY_CACHE_LARGEST;
    to->external_forces = MOST_SPARE_FORCES;
    to->quantities = MOST_QUANTITIES;
    to->chain_joints = MOST_CHAIN_JOINTS;
    to->description_bytes = MOST_DESCRIPTION_BYTES;
    to->sample_steps = MOST_SAMPLE_STEPS;
    to->decoded_factor = DECODED_FACTOR;
    to->decoded_margin_bytes = DECODED_MARGIN;
}

/* Writes all limits as they are now. Returns NULL when out of memory. */
static Dynamics__V1__Limits *limits(call *c) {
    const service_limits *from = c->service->limits;
    Dynamics__V1__Limits *to = call_allocate(c, 1, sizeof *to);
    if (!to) {
        return NULL;
    }
    dynamics__v1__limits__init(to);
#define COPY_LIMIT(identifier, name, ...) to->name = atomic_load(&from->name);
    LIMITS(COPY_LIMIT)
#undef COPY_LIMIT
    to->lease_time = atomic_load(&from->lease_time);
    to->fast_channels = atomic_load(&from->fast_channels);
    to->fast_peer_channels = atomic_load(&from->fast_peer_channels);
    to->fast_channel_bytes = atomic_load(&from->fast_channel_bytes);
    to->waiting_requests = c->service->waiting_requests;
    to->connection_requests = c->service->connection_requests;
    copy_fixed_limits(to);
    return to;
}

static void add_endpoints(call *c, Dynamics__V1__GetServerInfoReply *reply) {
    reply->endpoints = call_allocate(c, c->endpoint_count, sizeof *reply->endpoints);
    for (size_t i = 0; reply->endpoints && i < c->endpoint_count; i++) {
        Dynamics__V1__Endpoint *endpoint = call_allocate(c, 1, sizeof *endpoint);
        if (!endpoint) {
            return;
        }
        dynamics__v1__endpoint__init(endpoint);
        endpoint->address = call_string(c, c->endpoints[i].address);
        endpoint->kind = call_string(c, c->endpoints[i].kind);
        reply->endpoints[reply->n_endpoints++] = endpoint;
    }
}

/* Lists the methods. Their names are constants, which the reply refers to. */
static void add_methods(call *c, Dynamics__V1__GetServerInfoReply *reply) {
    Dynamics__V1__MethodInfo *entries = call_allocate(c, METHOD_NUMBERS, sizeof *entries);
    reply->methods = call_allocate(c, METHOD_NUMBERS, sizeof *reply->methods);
    for (size_t i = 0; entries && reply->methods && i < METHOD_NUMBERS; i++) {
        const method *m = &methods[i];
        if (m->run) {
            dynamics__v1__method_info__init(&entries[i]);
            entries[i].name = (char *)m->name;
            entries[i].role = call_wire_role(m->role);
            entries[i].changes_state = m->changes_state;
            entries[i].is_slow = m->is_slow;
            entries[i].can_be_job = m->can_be_job;
            reply->methods[reply->n_methods++] = &entries[i];
        }
    }
}

/* Lists the daemon's counters. Their names are constants, to which the list refers. Returns the number of counters. */
static size_t list_counters(call *c, Dynamics__V1__Counter ***list) {
    const memory_budget *budget = c->service->budget;
    const counters *k = c->service->counters;
    live *l = c->service->live;
    size_t jobs, job_bytes;
    job_table_measure(service_jobs(c->owner), &jobs, &job_bytes);
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"requests", atomic_load(&k->requests)},
        {"refused", atomic_load(&k->refused)},
        {"connections", atomic_load(&k->connections)},
        {"models", model_store_count(c->service->store)},
        {"simulations", name_table_count(&l->simulations)},
        {"streams", name_table_count(&l->streams)},
        {"topics", atomic_load(&l->topics)},
        {"jobs", jobs},
        {"job_bytes", job_bytes},
        {"events", atomic_load(&k->events)},
        {"stray_chunks", atomic_load(&l->stray_chunks)},
        {"listener_restarts", atomic_load(&k->listener_restarts)},
        {"deaf_clients", atomic_load(&k->deaf_clients)},
        {"half_messages", atomic_load(&k->half_messages)},
        {"greedy_connections", atomic_load(&k->greedy_connections)},
        {"rejected_connections", atomic_load(&k->rejected_connections)},
        {"fast_channels", atomic_load(&k->fast_channels)},
        {"fast_calls", atomic_load(&k->fast_calls)},
        {"fast_refused", atomic_load(&k->fast_refused)},
        {"fast_damaged", atomic_load(&k->fast_damaged)},
        {"memory_held", atomic_load(&budget->held)},
        {"memory_peak", atomic_load(&budget->peak)},
        {"memory_shortages", atomic_load(&k->memory_shortages)},
    };
    enum { COUNTERS = sizeof rows / sizeof *rows };
    Dynamics__V1__Counter *entries = call_allocate(c, COUNTERS, sizeof *entries);
    *list = call_allocate(c, COUNTERS, sizeof **list);
    if (!entries || !*list) {
        return 0;
    }
    for (size_t i = 0; i < COUNTERS; i++) {
        dynamics__v1__counter__init(&entries[i]);
        entries[i].name = (char *)(uintptr_t)rows[i].name;
        entries[i].value = rows[i].value;
        (*list)[i] = &entries[i];
    }
    return COUNTERS;
}

/* Lists the number of states that are computed at once, in each precision. */
static void add_lanes(call *c, Dynamics__V1__GetServerInfoReply *reply) {
    static const dyn_precision precisions[] = {
        [DYNAMICS__V1__PRECISION__PRECISION_DOUBLE] = DYN_PRECISION_DOUBLE,
        [DYNAMICS__V1__PRECISION__PRECISION_SINGLE] = DYN_PRECISION_SINGLE,
    };
    enum { PRECISIONS = sizeof precisions / sizeof *precisions };
    Dynamics__V1__PrecisionLanes *entries = call_allocate(c, PRECISIONS, sizeof *entries);
    reply->lanes = call_allocate(c, PRECISIONS, sizeof *reply->lanes);
    for (size_t i = 0; entries && reply->lanes && i < PRECISIONS; i++) {
        dynamics__v1__precision_lanes__init(&entries[i]);
        entries[i].precision = (Dynamics__V1__Precision)i;
        entries[i].lanes = (uint32_t)dyn_lanes(precisions[i]);
        reply->lanes[reply->n_lanes++] = &entries[i];
    }
}

void method_get_server_info(call *c) {
    static char protocol[] = "dynamics.v1", version[] = DYNAMICSD_VERSION;
    static char *protocols[] = {protocol};
    Dynamics__V1__GetServerInfoReply *reply = create_get_server_info_reply(c);
    if (!reply) {
        return;
    }
    reply->version = version;
    reply->revision = SERVICE_REVISION;
    reply->n_protocols = 1;
    reply->protocols = protocols;
    reply->instruction_set = call_string(c, dyn_instruction_set());
    reply->uptime = (double)(clock_now() - c->service->counters->start) / 1e9;
    add_lanes(c, reply);
    reply->limits = limits(c);
    add_endpoints(c, reply);
    add_methods(c, reply);
    reply->caller = call_string(c, c->caller.name);
    reply->caller_role = call_wire_role(c->caller.role);
    reply->n_counters = list_counters(c, &reply->counters);
    reply->workers = c->service->workers;
    reply->process_id = (uint32_t)getpid();
    reply->instance = c->service->instance;
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

/* Returns copies of relaxed counters, or NULL when out of memory. */
static uint64_t *copy_counts(call *c, const atomic_uint_fast64_t *from, size_t count) {
    uint64_t *copies = call_allocate(c, count, sizeof *copies);
    for (size_t i = 0; copies && i < count; i++) {
        copies[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
    }
    return copies;
}

/* Adds the numbers of one method to the reply. */
static void add_method_metrics(call *c, const char *name, const request_metrics *from,
                               Dynamics__V1__GetMetricsReply *reply) {
    Dynamics__V1__MethodMetrics *entry = call_allocate(c, 1, sizeof *entry);
    if (!entry) {
        return;
    }
    dynamics__v1__method_metrics__init(entry);
    entry->method = (char *)(uintptr_t)name;
    entry->codes = copy_counts(c, from->codes, REQUEST_METRICS_CODES);
    entry->times = copy_counts(c, from->ranges, REQUEST_METRICS_RANGES);
    entry->n_codes = entry->codes ? REQUEST_METRICS_CODES : 0;
    entry->n_times = entry->times ? REQUEST_METRICS_RANGES : 0;
    entry->time = (double)atomic_load_explicit(&from->time, memory_order_relaxed) / 1e9;
    entry->samples = atomic_load_explicit(&from->samples, memory_order_relaxed);
    entry->request_bytes = atomic_load_explicit(&from->bytes_in, memory_order_relaxed);
    entry->reply_bytes = atomic_load_explicit(&from->bytes_out, memory_order_relaxed);
    reply->methods[reply->n_methods++] = entry;
}

static void add_time_bounds(call *c, Dynamics__V1__GetMetricsReply *reply) {
    enum { BOUNDS = REQUEST_METRICS_RANGES - 1 };
    reply->time_bounds = call_allocate(c, BOUNDS, sizeof *reply->time_bounds);
    for (size_t i = 0; reply->time_bounds && i < BOUNDS; i++) {
        reply->time_bounds[reply->n_time_bounds++] = (double)request_metrics_bounds[i] / 1e9;
    }
}

void method_get_metrics(call *c) {
    const request_metrics *all = service_metrics(c->owner);
    Dynamics__V1__GetMetricsReply *reply = create_get_metrics_reply(c);
    if (!reply) {
        return;
    }
    reply->instance = c->service->instance;
    reply->uptime = (double)(clock_now() - c->service->counters->start) / 1e9;
    add_time_bounds(c, reply);
    reply->methods = call_allocate(c, METHOD_NUMBERS, sizeof *reply->methods);
    for (size_t i = 0; reply->methods && i < METHOD_NUMBERS; i++) {
        if (request_metrics_total(&all[i]) > 0) {
            add_method_metrics(c, i == 0 ? "none" : methods[i].name, &all[i], reply);
        }
    }
    reply->n_counters = list_counters(c, &reply->counters);
}

/* ---- log --------------------------------------------------------------------------------------------------------- */

void method_set_log_level(call *c) {
    Dynamics__V1__LogLevel wanted = c->request->set_log_level->level;
    Dynamics__V1__SetLogLevelReply *reply = create_set_log_level_reply(c);
    if (!reply) {
        return;
    }
    if ((unsigned)wanted > DYNAMICS__V1__LOG_LEVEL__LOG_LEVEL_DEBUG) {
        call_blame(c, "level");
        call_fail(c, REASON_INVALID_VALUE, "there is no level %d; pass 1 (error) to 4 (debug), or 0 to leave it",
                  (int)wanted);
        return;
    }
    /* The levels of the log count from 0, in the same order. */
    log_level level = wanted > 0 ? (log_level)(wanted - 1) : atomic_load(&c->service->log->level);
    log_level previous = wanted > 0 ? atomic_exchange(&c->service->log->level, level) : level;
    reply->level = (Dynamics__V1__LogLevel)(level + 1);
    reply->previous = (Dynamics__V1__LogLevel)(previous + 1);
}
