/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits on requests: the constants, which no configuration changes, and the names of all limits that an error reports.
 */
#ifndef SERVER_METHODS_BOUNDS_H
#define SERVER_METHODS_BOUNDS_H

#include <dynamics/builder.h>
#include <stdint.h>

#include "methods/limits.h"

/* Largest numbers that no configuration changes. */
enum {
    MOST_PAYLOADS = 1000,   /* payloads of one request */
    MOST_QUANTITIES = 1000, /* quantities of one Evaluate */
    MOST_OPERATIONS = 64,   /* operations of one DeriveModel */
    MOST_SUBSTEPS = 10000,  /* substeps of one step */
    /* Joints of a Denavit-Hartenberg table or a screw chain: each may have two links, and there are a base and an end
     * effector. */
    MOST_CHAIN_JOINTS = (DYN_MAX_LINKS - 2) / 2,
    MOST_BASE_PARAMETER_JOINTS = 200, /* moving joints of a model, for base parameters */
    MOST_SPARE_FORCES = 64,           /* external forces of one request, beside one for each link */
    MOST_SAMPLE_ERRORS = 1000,        /* errors of samples listed in one reply */
    MOST_DESCRIPTION_BYTES = 4 << 20, /* bytes of a model's description in a file of the daemon */
    DECODED_FACTOR = 8,               /* memory of a decoded request: at most this multiple of its serialized size, */
    DECODED_MARGIN = 1 << 20,         /* plus this many bytes */
};

/* Largest number of steps of a rollout, summed over its samples. Small enough that its product with the bytes of a row
 * fits into a size_t. */
static const uint64_t MOST_SAMPLE_STEPS = (uint64_t)1 << 40;

/* Limits that no configuration changes and an error can report: the identifier, and the field of the message Limits. */
#define FIXED_BOUNDS(X)                                                                                                \
    X(PAYLOADS, payloads)                                                                                              \
    X(SIMULATION_FORCES, simulation_forces)                                                                            \
    X(TASK_FRAMES, task_frames)                                                                                        \
    X(OPERATIONS, operations)                                                                                          \
    X(SUBSTEPS, substeps)                                                                                              \
    X(BASE_PARAMETER_JOINTS, base_parameter_joints)                                                                    \
    X(COUPLED_BASE_PARAMETER_JOINTS, coupled_base_parameter_joints)                                                    \
    X(URDF_DEPTH, urdf_depth)                                                                                          \
    X(ELEMENT_NAME_BYTES, element_name_bytes)                                                                          \
    X(URDF_BYTES, urdf_bytes)                                                                                          \
    X(MODEL_NAME_BYTES, model_name_bytes)                                                                              \
    X(OBJECT_NAME_BYTES, object_name_bytes)                                                                            \
    X(EXTERNAL_FORCES, external_forces)                                                                                \
    X(QUANTITIES, quantities)                                                                                          \
    X(CHAIN_JOINTS, chain_joints)                                                                                      \
    X(DESCRIPTION_BYTES, description_bytes)                                                                            \
    X(SAMPLE_STEPS, sample_steps)                                                                                      \
    X(DECODED_FACTOR, decoded_factor)                                                                                  \
    X(CONNECTION_REQUESTS, connection_requests)                                                                        \
    X(WAITING_REQUESTS, waiting_requests)

/* Limit that an error reports; BOUND_NONE: none. */
typedef enum bound {
    BOUND_NONE,
#define BOUND_MEMBER(identifier, ...) BOUND_##identifier,
    LIMITS(BOUND_MEMBER) FIXED_BOUNDS(BOUND_MEMBER)
#undef BOUND_MEMBER
        BOUND_COUNT
} bound;

/* Limit that a request exceeds, its value, and the requested amount in the unit of the limit; 0: not known. */
typedef struct excess {
    bound bound;
    uint64_t limit, requested;
} excess;

/* Returns the name of a limit's field in the message Limits, empty for BOUND_NONE. The string is read-only; its type is
 * not const because protobuf-c requires that. */
char *bound_name(bound b);

#endif
