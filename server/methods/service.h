/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Service that answers serialized requests from the transport.
 *
 * The thread that received a request decodes it, dispatches it to its method and answers it. A long request goes to the
 * worker pool, and its method runs there. All functions may be called from any thread, except create and free.
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

/* Revision of dynamics.v1 that the daemon speaks. It grows by one with each addition to the contract. */
enum { SERVICE_REVISION = 1 };

/* Runs a task on another thread. Returns false when the queue is full. */
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
    _Atomic bool keep_models;  /* store all models on the disk, also without a request for it */
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
    struct events *events; /* NULL: progress is not published */
    logger *log;
    service_submit submit;
    void *pool;
    uint32_t workers;
    uint64_t instance; /* random number of the daemon's start; not 0 */
} service_options;

/* Creates a service. Objects that the options point to must outlive it. Returns NULL when out of memory. */
service *service_create(const service_options *options);
void service_free(service *s);

/* Sets the addresses that GetServerInfo reports; they must outlive the service. Must be called before the first
 * request. */
void service_set_endpoints(service *s, const service_endpoint *endpoints, size_t count);

/* Handles a request. It is the transport's handler; `context` is the service. */
void service_handle(void *context, transport_call *call);

/* Cancels the long requests of that peer with these numbers that wait or run. Returns false if there are none. */
bool service_cancel(service *s, const transport_identity *peer, uint64_t client, uint64_t id);

/* Starts to answer requests other than Health with CODE_UNAVAILABLE. */
void service_drain(service *s);

#endif
