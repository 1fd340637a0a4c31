/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounds on requests and on the objects that they create. The configuration sets them, also while the daemon runs.
 */
#ifndef SERVER_METHODS_LIMITS_H
#define SERVER_METHODS_LIMITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct service_limits {
    _Atomic uint64_t message_bytes;
    _Atomic uint64_t reply_bytes;
    _Atomic uint64_t samples;
    _Atomic uint32_t models;
    _Atomic uint32_t links;
    _Atomic uint32_t constraints;
    _Atomic uint32_t machine_elements;
    _Atomic uint32_t contact_surfaces;
    _Atomic uint32_t estimates;
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
    _Atomic uint32_t jobs;
    _Atomic uint64_t job_bytes;
    _Atomic double job_time, job_result_time; /* s */
    _Atomic bool persist_models;              /* store all models on the disk, also without a request for it */
} service_limits;

#endif
