/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service: takes serialized requests from the transport and answers each of them.
 *
 * A request is decoded, sent to its method and answered in the thread that brought it, unless it takes long: then it is
 * handed to the worker pool and its method runs there. All functions may be called from any thread, but for create and
 * free.
 */
#ifndef SERVER_METHODS_SERVICE_H
#define SERVER_METHODS_SERVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "models/store.h"
#include "observe/counters.h"
#include "observe/health.h"
#include "observe/log.h"
#include "observe/memory_budget.h"
#include "transport/transport.h"

typedef struct service service;
typedef struct live live;

/* Revision of dynamics.v1 that the daemon speaks: it grows by one whenever something is added to the contract. */
enum { SERVICE_REVISION = 1 };

/* Runs a task on another thread; false when too many wait already. */
typedef bool (*service_submit)(void *pool, void (*run)(void *task), void *task);

/* Bounds on requests. */
typedef struct service_limits {
    _Atomic uint64_t message_bytes;
    _Atomic uint64_t reply_bytes;
    _Atomic uint64_t samples;
    _Atomic uint32_t models;
    _Atomic uint32_t links;
    _Atomic uint32_t connections;
    _Atomic uint32_t peer_connections;
    _Atomic double request_time; /* s */
    _Atomic double idle_time;    /* s */
    _Atomic double message_time; /* s */
    _Atomic uint32_t simulations;
    _Atomic uint32_t streams;
    _Atomic uint32_t topics;
    _Atomic uint64_t stream_points;
    _Atomic uint64_t recording_bytes, recordings_bytes, disk_reserve_bytes;
    _Atomic uint32_t recordings;
    _Atomic double lease_time; /* s */
    _Atomic bool keep_models;  /* also those whose requests do not ask for it */
} service_limits;

typedef struct service_endpoint {
    const char *address;
    const char *kind;
} service_endpoint;

typedef struct service_options {
    model_store *store;
    live *live;
    service_limits *limits;
    counters *counters;
    memory_budget *budget; /* of requests and replies */
    health *health;
    struct events *events; /* NULL: nobody is told of progress */
    logger *log;
    service_submit submit;
    void *pool;
    uint32_t workers;
    uint64_t instance; /* drawn when the daemon starts; not 0 */
} service_options;

/* Creates a service; what the options point to must outlive it. NULL when out of memory. */
service *service_create(const service_options *options);
void service_free(service *s);

/* Tells the addresses that GetServerInfo names; they must outlive the service. Before the first request. */
void service_set_endpoints(service *s, const service_endpoint *endpoints, size_t count);

/* The transport's handler; `context` is the service. */
void service_handle(void *context, transport_call *call);

/* Ends the long requests with these numbers of that peer that wait or run. False when there is none. */
bool service_cancel(service *s, const transport_identity *peer, uint64_t client, uint64_t id);

/* From now on requests other than Health are answered CODE_UNAVAILABLE. */
void service_drain(service *s);

#endif
