/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service of the daemon without a network, for fuzz targets.
 */
#ifndef DYNAMICS_TESTS_SERVICE_BENCH_H
#define DYNAMICS_TESTS_SERVICE_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "dynamics/v1/envelope.pb-c.h"
#include "methods/live.h"
#include "methods/service.h"

/* Service without a network. */
typedef struct bench {
    service_limits limits;
    counters counters;
    memory_budget budget;
    health health;
    logger log;
    model_store *store;
    live *live; /* without a transport: nothing is published */
    service *service;
} bench;

/* Call that stores its reply. */
typedef struct stored_call {
    transport_call call;
    uint8_t *reply;
    size_t size;
    unsigned answers;
} stored_call;

/* Ends the program where a property does not hold. */
void require(bool holds, const char *property);

/* Starts the service with two robots, "arm" and "walker". It allows streams; `state_directory` may be "". */
void bench_start(bench *b, const char *state_directory);
void bench_stop(bench *b);

/* Passes a request to the service. The caller frees call->reply. */
void bench_handle(bench *b, const uint8_t *request, size_t size, stored_call *call);

/* Decodes the reply of a call and checks the properties that hold for every reply. `request` NULL: the bytes were no
 * request. The caller frees the reply. */
Dynamics__V1__Reply *bench_reply(const stored_call *call, const Dynamics__V1__Request *request);

/* Returns the reply to a request, whatever it is, after the checks of bench_reply. */
Dynamics__V1__Reply *bench_try(bench *b, const Dynamics__V1__Request *request);

/* Returns the reply to a request that must succeed. */
Dynamics__V1__Reply *bench_call(bench *b, const Dynamics__V1__Request *request);

#endif
