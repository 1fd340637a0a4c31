/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounds on requests and on the objects that they create. The configuration sets them, also while the daemon runs.
 *
 * LIMITS is the list of those that GetServerInfo reports. From it follow the keys of the configuration, their defaults
 * and ranges, the values that methods read, the names in errors, and the page /metrics.
 */
#ifndef SERVER_METHODS_LIMITS_H
#define SERVER_METHODS_LIMITS_H

#include <dynamics/builder.h>
#include <dynamics/contact.h>
#include <dynamics/identification.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Largest number of a configuration key's bytes. */
#define LIMIT_MOST_BYTES ((uint64_t)1 << 46)

/*
 * X(identifier, name, type, kind, default, least, most, is_fixed): `name` is the key in the section [limits] of the
 * configuration and the field of the message Limits; `kind` is the type of the key, COUNT, BYTES or SECONDS;
 * `is_fixed`: it is read at the start only. The limits of one user begin with "user_"; their default 0 stands for the
 * share in USER_SHARES.
 */
#define LIMITS(X)                                                                                                      \
    X(MESSAGE_BYTES, message_bytes, uint64_t, BYTES, 64 << 20, 4096, 1 << 30, true)                                    \
    X(REPLY_BYTES, reply_bytes, uint64_t, BYTES, 256 << 20, 65536, 1 << 30, false)                                     \
    X(MEMORY_BYTES, memory_bytes, uint64_t, BYTES, 0, 0, LIMIT_MOST_BYTES, false)                                      \
    X(SAMPLES, samples, uint64_t, COUNT, 1000000, 1, 1e9, false)                                                       \
    X(SAMPLES_UNDER_WAY, samples_under_way, uint64_t, COUNT, 64000000, 1, 1e12, false)                                 \
    X(MODELS, models, uint32_t, COUNT, 256, 1, 100000, false)                                                          \
    X(LINKS, links, uint32_t, COUNT, DYN_MAX_LINKS, 1, DYN_MAX_LINKS, false)                                           \
    X(CONSTRAINTS, constraints, uint32_t, COUNT, 64, 0, DYN_MAX_CONSTRAINTS, false)                                    \
    X(CONTACT_SURFACES, contact_surfaces, uint32_t, COUNT, DYN_MAX_CONTACT_SURFACES, 0, DYN_MAX_CONTACT_SURFACES,      \
      false)                                                                                                           \
    X(MACHINE_ELEMENTS, machine_elements, uint32_t, COUNT, 1000, 0, DYN_MAX_MACHINE_ELEMENTS, false)                   \
    X(ESTIMATES, estimates, uint32_t, COUNT, DYN_IDENTIFICATION_ESTIMATES, 1, 10000, false)                            \
    X(CONNECTIONS, connections, uint32_t, COUNT, 1024, 1, 100000, false)                                               \
    X(PEER_CONNECTIONS, peer_connections, uint32_t, COUNT, 0, 0, 100000, false)                                        \
    X(REQUEST_TIME, request_time, double, SECONDS, 30, 1e-3, 86400, false)                                             \
    X(REQUEST_CPU_TIME, request_cpu_time, double, SECONDS, 0, 0, 86400, false)                                         \
    X(IDLE_TIME, idle_time, double, SECONDS, 600, 0.1, 1e7, false)                                                     \
    X(MESSAGE_TIME, message_time, double, SECONDS, 30, 0.1, 3600, false)                                               \
    X(SIMULATIONS, simulations, uint32_t, COUNT, 1024, 0, 100000, false)                                               \
    X(STREAMS, streams, uint32_t, COUNT, 64, 0, 10000, false)                                                          \
    X(TOPICS, topics, uint32_t, COUNT, 128, 0, 10000, false)                                                           \
    X(STREAM_POINTS, stream_points, uint64_t, COUNT, 100000, 1, 10000000, false)                                       \
    X(RECORDING_BYTES, recording_bytes, uint64_t, BYTES, 1UL << 30, 4096, 1UL << 44, false)                            \
    X(RECORDINGS_BYTES, recordings_bytes, uint64_t, BYTES, 4UL << 30, 4096, 1UL << 50, false)                          \
    X(RECORDINGS, recordings, uint32_t, COUNT, 4096, 0, 1000000, false)                                                \
    X(DISK_RESERVE_BYTES, disk_reserve_bytes, uint64_t, BYTES, 64 << 20, 0, 1UL << 50, false)                          \
    X(JOBS, jobs, uint32_t, COUNT, 64, 0, 1024, false)                                                                 \
    X(JOB_TIME, job_time, double, SECONDS, 3600, 1e-3, 1e7, false)                                                     \
    X(JOB_BYTES, job_bytes, uint64_t, BYTES, 0, 0, LIMIT_MOST_BYTES, false)                                            \
    X(JOB_RESULT_TIME, job_result_time, double, SECONDS, 600, 0.1, 1e7, false)                                         \
    X(USER_REQUESTS, user_requests, uint32_t, COUNT, 0, 0, 4096, false)                                                \
    X(USER_SAMPLES, user_samples, uint64_t, COUNT, 16000000, 1, 1e12, false)                                           \
    X(USER_MEMORY_BYTES, user_memory_bytes, uint64_t, BYTES, 0, 0, LIMIT_MOST_BYTES, false)                            \
    X(USER_MODELS, user_models, uint32_t, COUNT, 0, 0, 100000, false)                                                  \
    X(USER_SIMULATIONS, user_simulations, uint32_t, COUNT, 0, 0, 100000, false)                                        \
    X(USER_STREAMS, user_streams, uint32_t, COUNT, 0, 0, 10000, false)                                                 \
    X(USER_RECORDINGS, user_recordings, uint32_t, COUNT, 0, 0, 1000000, false)                                         \
    X(USER_RECORDINGS_BYTES, user_recordings_bytes, uint64_t, BYTES, 0, 0, 1UL << 50, false)                           \
    X(USER_JOBS, user_jobs, uint32_t, COUNT, 0, 0, 1024, false)                                                        \
    X(USER_JOB_BYTES, user_job_bytes, uint64_t, BYTES, 0, 0, LIMIT_MOST_BYTES, false)

/* Limits of one user, or of one peer, whose default 0 stands for half of another key: X(name, key). */
#define USER_SHARES(X)                                                                                                 \
    X(peer_connections, connections)                                                                                   \
    X(user_requests, contexts)                                                                                         \
    X(user_memory_bytes, memory_bytes)                                                                                 \
    X(user_models, models)                                                                                             \
    X(user_simulations, simulations)                                                                                   \
    X(user_streams, streams)                                                                                           \
    X(user_recordings, recordings)                                                                                     \
    X(user_recordings_bytes, recordings_bytes)                                                                         \
    X(user_jobs, jobs)                                                                                                 \
    X(user_job_bytes, job_bytes)

/* Number of entries of LIMITS. */
enum {
#define LIMIT_NUMBER(identifier, ...) LIMIT_NUMBER_##identifier,
    LIMITS(LIMIT_NUMBER)
#undef LIMIT_NUMBER
        LIMIT_COUNT
};

typedef struct service_limits {
#define LIMIT_MEMBER(identifier, name, type, ...) _Atomic type name;
    LIMITS(LIMIT_MEMBER)
#undef LIMIT_MEMBER
    _Atomic double lease_time;           /* s */
    _Atomic uint64_t fast_channel_bytes; /* shared memory of a fast channel */
    _Atomic uint32_t fast_channels;      /* 0: the daemon has no sockets for them */
    _Atomic uint32_t fast_peer_channels; /* of one user */
    _Atomic bool persist_models;         /* store all models on the disk, also without a request for it */
} service_limits;

#endif
