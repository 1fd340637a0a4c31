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

/* The service without a network. */
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

/* A call that keeps its reply. */
typedef struct kept_call {
    transport_call call;
    uint8_t *reply;
    size_t size;
    unsigned answers;
} kept_call;

/* Ends the program where a property does not hold. */
void require(bool holds, const char *property);

/* Starts the service with two robots, "arm" and "walker". Streams may be opened; `state_directory` may be "". */
void bench_start(bench *b, const char *state_directory);
void bench_stop(bench *b);

/* Hands a request to the service; call->reply is to be freed. */
void bench_handle(bench *b, const uint8_t *request, size_t size, kept_call *call);

/* The reply of a call, after what holds of every reply was checked; `request` NULL: what was asked is no request. To be
 * freed. */
Dynamics__V1__Reply *bench_reply(const kept_call *call, const Dynamics__V1__Request *request);

/* The reply to a request, whatever it is, checked likewise. */
Dynamics__V1__Reply *bench_try(bench *b, const Dynamics__V1__Request *request);

/* The reply to a request that must succeed. */
Dynamics__V1__Reply *bench_ask(bench *b, const Dynamics__V1__Request *request);

#endif
