/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The self-probe: connects to each of the daemon's own endpoints as a client would, by plain sockets with nng's wire
 * protocol, and re-creates a listener that no longer accepts connections.
 *
 * An endpoint for requests receives a real request, and an endpoint of TLS the greeting of a client, which its server
 * answers before any certificate is needed. A listener is dead if the system accepts and greets a connection,
 * but the transport admits none for two seconds in which the loop runs. Delays beyond the timeout are only reported,
 * separately for greeting, admission and answer. All functions are for the thread of the loop.
 */
#ifndef SERVER_OBSERVE_PROBE_H
#define SERVER_OBSERVE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "observe/health.h"
#include "observe/log.h"

typedef struct probe probe;

/* Functions of the transport that the probe calls; `i` is the index of an endpoint. */
typedef struct probe_hooks {
    uint64_t (*admitted)(void *context, size_t i);          /* number of connections admitted so far */
    void (*expect)(void *context, size_t i, uint16_t port); /* announces the local port of the next connection */
    bool (*restart)(void *context, size_t i);               /* recreates the listener */
    void *context;
} probe_hooks;

typedef struct probe_target {
    const char *address;
    bool is_request; /* the endpoint answers requests */
    bool is_ingest;  /* the endpoint receives pushed messages; without either flag it publishes events */
} probe_target;

typedef struct probe_options {
    uv_loop_t *loop;
    const probe_target *targets; /* must outlive the probe */
    size_t target_count;
    double interval, timeout; /* s */
    const uint8_t *request;   /* a serialized request that is always answered; copied */
    size_t request_size;
    probe_hooks hooks;
    health *health;
    logger *log;
} probe_options;

/* Creates a probe and adds a component "listener <address>" for each endpoint. Returns NULL when out of memory. */
probe *probe_create(const probe_options *options);

/* Starts and checks attempts. Must be called at every tick of the loop. */
void probe_tick(probe *p);

/* Lets every endpoint be probed at the next tick. */
void probe_hurry(probe *p);

/* Returns whether every endpoint has answered a request, or admitted a connection if it answers none, within `age`
 * ns. */
bool probe_is_well(const probe *p, uint64_t age);

/* Sets the interval and the timeout, s. */
void probe_set_times(probe *p, double interval, double timeout);

/* Stops probing and closes all connections; the loop must run on until they are closed. */
void probe_stop(probe *p);

/* Frees a probe that was stopped, after the loop has closed its handles. NULL is ignored. */
void probe_free(probe *p);

#endif
