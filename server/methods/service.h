/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Service that answers serialized requests from the transport.
 *
 * The thread that received a request decodes it, dispatches it to its method and answers it. A long request goes to the
 * worker pool, and its method runs there. All functions may be called from any thread, except service_create,
 * service_set_endpoints and service_free.
 */
#ifndef SERVER_METHODS_SERVICE_H
#define SERVER_METHODS_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "methods/bounds.h"
#include "methods/limits.h"
#include "models/generator.h"
#include "models/store.h"
#include "observe/counters.h"
#include "observe/health.h"
#include "observe/log.h"
#include "observe/memory_budget.h"
#include "observe/request_metrics.h"
#include "observe/slow_log.h"
#include "transport/transport.h"

typedef struct service service;
typedef struct live live;

/* Revision of dynamics.v1 that the daemon speaks. It grows by one with each addition to the contract. */
enum { SERVICE_REVISION = 1 };

/* Submits a task to a pool, one of whose threads runs it. Returns false when the queue is full. */
typedef bool (*service_submit)(void *pool, void (*run)(void *task), void *task);

/* Address that GetServerInfo reports, and its kind. */
typedef struct service_endpoint {
    const char *address;
    const char *kind;
} service_endpoint;

/* Parts of the daemon that the service and its methods use, and their configuration. */
typedef struct service_options {
    model_store *store;
    live *live;
    service_limits *limits;
    counters *counters;
    memory_budget *budget;         /* budget of the memory of requests and replies */
    access_guard *access;          /* knows the tokens of callers; NULL: there are none */
    struct setting_list *settings; /* NULL: GetSettings states none */
    slow_log *slow;                /* NULL: slow requests are not held */
    health *health;
    struct events *events; /* NULL: progress is not published */
    logger *log;
    service_submit submit;
    /* Submits the work of a user; users take turns. */
    bool (*submit_for)(void *pool, uint64_t user, void (*run)(void *task), void *task);
    void *pool;
    /* Lets other users' work run on this thread of the pool; leaves its slot before it waits for other tasks, and waits
     * for a slot afterwards (worker_pool.h). NULL: the pool takes no turns. */
    void (*yield)(void *pool);
    void (*pause)(void *pool);
    void (*resume)(void *pool);
    uint32_t workers;
    void *job_pool; /* pool of the threads for jobs */
    uint32_t job_threads;
    uint32_t waiting_requests;          /* capacity of the pool's queue */
    uint32_t connection_requests;       /* limit of requests under way of one connection */
    const generator_options *generator; /* NULL: no text of models is generated */
    struct shared_models *shared;       /* models of other daemons; NULL: none */
    uint64_t instance;                  /* random number that identifies this start of the daemon; not 0 */
} service_options;

/* Creates a service. Objects that the options point to must outlive it. Returns NULL when out of memory. */
service *service_create(const service_options *options);

/* Frees a service, which may be NULL, and its jobs. No request may be under way. */
void service_free(service *s);

/* Sets the addresses that GetServerInfo reports; they must outlive the service. Must be called before the first
 * request. */
void service_set_endpoints(service *s, const service_endpoint *endpoints, size_t count);

/* Handles a request: answers it, or submits it to a worker that does. It is the transport's handler; `context` is the
 * service. */
void service_handle(void *context, transport_call *call);

/*
 * Session: a call that computes one decoded request after another on the thread of its caller, as a fast channel does.
 * It does not allocate where its results fit into the memory that was reserved.
 */
typedef struct call call;
typedef struct Dynamics__V1__Request Dynamics__V1__Request;

/* Opens a session of the peer of `t`, which must outlive it. Returns NULL when out of memory. */
call *service_open_session(service *s, transport_call *t);

/* Reserves memory for the results of a request. Returns false when out of memory. */
bool service_reserve_session(call *c, size_t bytes);

/* Computes a request, whose method must not change state. The reply is that of the call, and lives until the next
 * request. */
void service_run_session(call *c, const Dynamics__V1__Request *request);

/* Adds the last request to the numbers of its method. */
void service_count_session(call *c, size_t bytes_in, size_t bytes_out);

/* Closes a session and frees its memory. */
void service_close_session(call *c);

/* Cancels the long requests of that peer with this client number and id that wait or run. Returns false if there are
 * none. */
bool service_cancel(service *s, const transport_identity *peer, uint64_t client, uint64_t id);

/* Returns the numbers of each method: at the index of its number in Request, and at 0 those of requests that name no
 * method or cannot be decoded. The array has METHOD_NUMBERS entries (methods/methods.h). */
const request_metrics *service_metrics(const service *s);

/* Returns the number of requests that a limit has refused so far. */
uint64_t service_refusals(const service *s, bound limit);

/* Returns whether service_drain was called. */
bool service_is_draining(const service *s);

/* Returns the table of the service's jobs. */
struct job_table *service_jobs(service *s);

/* Removes jobs that have expired, and ends old episodes of the audit. Must be called about once a second. */
void service_sweep(service *s);

/* Cancels the long requests that wait or run, after the drain. */
void service_cancel_all(service *s);

/* Cancels all jobs, and starts to answer requests with CODE_UNAVAILABLE, except those that work in drain. */
void service_drain(service *s);

#endif
