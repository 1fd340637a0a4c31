/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the daemon's service without a network, for fuzz targets: starts it with two models, passes requests to it, and
 * checks the properties that every reply has.
 */
#ifndef DYNAMICS_TESTS_SERVICE_BENCH_H
#define DYNAMICS_TESTS_SERVICE_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "dynamics/v1/envelope.pb-c.h"
#include "methods/live.h"
#include "methods/service.h"

/* The service and the objects that it uses, which the bench owns. */
typedef struct bench {
    service_limits limits;
    counters counters;
    memory_budget budget;
    health health;
    logger log;
    model_store *store;
    live *live; /* simulations and streams; without a transport, so nothing is published */
    service *service;
} bench;

/* Call whose carrier stores the reply, which the caller frees, and counts the answers. */
typedef struct stored_call {
    transport_call call;
    uint8_t *reply;
    size_t size;
    unsigned answers;
} stored_call;

/* Prints the property and aborts the program if `holds` is false. */
void require(bool holds, const char *property);

/* Starts the service with two models of one robot: "arm" has a fixed base, "walker" a floating one. Recordings are in
 * the directory "recordings" of `state_directory`; "": there are none. */
void bench_start(bench *b, const char *state_directory);

/* Frees the service and what belongs to it, and sets the bench to zeros. */
void bench_stop(bench *b);

/* Passes the bytes of a request to the service, which stores its reply in `call`. The caller frees call->reply. */
void bench_handle(bench *b, const uint8_t *request, size_t size, stored_call *call);

/* Decodes the reply of a call and checks the properties that hold for every reply. `request` is the decoded request, or
 * NULL if the bytes were no request. The caller frees the result with dynamics__v1__reply__free_unpacked. */
Dynamics__V1__Reply *bench_reply(const stored_call *call, const Dynamics__V1__Request *request);

/* Passes a request of at most 1024 bytes to the service. Returns the reply, which may be an error, after the checks of
 * bench_reply. The caller frees it. */
Dynamics__V1__Reply *bench_try(bench *b, const Dynamics__V1__Request *request);

/* Returns the reply to a request of at most 1024 bytes, and aborts if it is an error. The caller frees it. */
Dynamics__V1__Reply *bench_call(bench *b, const Dynamics__V1__Request *request);

#endif
