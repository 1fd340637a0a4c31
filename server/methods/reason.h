/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reasons of errors: the list of the tokens of Status.reason, each with its code. status.proto describes them.
 */
#ifndef SERVER_METHODS_REASON_H
#define SERVER_METHODS_REASON_H

#include <dynamics/status.h>

#include "dynamics/v1/status.pb-c.h"

/* List of reasons: X(token, code, pause). `pause` is the number of seconds after which the same request may succeed, or
 * 0 if a pause does not help. */
#define REASONS(X)                                                                                                     \
    X(MALFORMED_REQUEST, INVALID_ARGUMENT, 0)                                                                          \
    X(NO_METHOD, INVALID_ARGUMENT, 0)                                                                                  \
    X(MISSING_VALUE, INVALID_ARGUMENT, 0)                                                                              \
    X(INVALID_VALUE, INVALID_ARGUMENT, 0)                                                                              \
    X(UNKNOWN_VALUE, INVALID_ARGUMENT, 0)                                                                              \
    X(NOT_FINITE, INVALID_ARGUMENT, 0)                                                                                 \
    X(WRONG_COUNT, INVALID_ARGUMENT, 0)                                                                                \
    X(DUPLICATE, INVALID_ARGUMENT, 0)                                                                                  \
    X(CONFLICTING_FIELDS, INVALID_ARGUMENT, 0)                                                                         \
    X(UNUSED_FIELD, INVALID_ARGUMENT, 0)                                                                               \
    X(INVALID_NAME, INVALID_ARGUMENT, 0)                                                                               \
    X(INVALID_TEXT, INVALID_ARGUMENT, 0)                                                                               \
    X(INVALID_ROTATION, INVALID_ARGUMENT, 0)                                                                           \
    X(INVALID_INERTIA, INVALID_ARGUMENT, 0)                                                                            \
    X(INVALID_DESCRIPTION, INVALID_ARGUMENT, 0)                                                                        \
    X(VALUE_BEYOND_PRECISION, INVALID_ARGUMENT, 0)                                                                     \
    X(RESULT_OVERFLOW, INVALID_ARGUMENT, 0)                                                                            \
    X(UNKNOWN_METHOD, UNIMPLEMENTED, 0)                                                                                \
    X(UNKNOWN_FIELD, UNIMPLEMENTED, 0)                                                                                 \
    X(LATER_REVISION, UNIMPLEMENTED, 0)                                                                                \
    X(MODEL_NOT_FOUND, NOT_FOUND, 0)                                                                                   \
    X(JOINT_NOT_FOUND, NOT_FOUND, 0)                                                                                   \
    X(LINK_NOT_FOUND, NOT_FOUND, 0)                                                                                    \
    X(FRAME_NOT_FOUND, NOT_FOUND, 0)                                                                                   \
    X(SIMULATION_NOT_FOUND, NOT_FOUND, 0)                                                                              \
    X(STREAM_NOT_FOUND, NOT_FOUND, 0)                                                                                  \
    X(RECORDING_NOT_FOUND, NOT_FOUND, 0)                                                                               \
    X(COMPONENT_NOT_FOUND, NOT_FOUND, 0)                                                                               \
    X(CONNECTION_NOT_FOUND, NOT_FOUND, 0)                                                                              \
    X(JOB_NOT_FOUND, NOT_FOUND, 0)                                                                                     \
    X(NAME_TAKEN, ALREADY_EXISTS, 0)                                                                                   \
    X(PROGRESS_NUMBER_TAKEN, ALREADY_EXISTS, 0)                                                                        \
    X(WRONG_TOKEN, PERMISSION_DENIED, 0)                                                                               \
    X(UNKNOWN_TOKEN, PERMISSION_DENIED, 0)                                                                             \
    X(BELONGS_TO_ANOTHER, PERMISSION_DENIED, 0)                                                                        \
    X(ROLE_TOO_LOW, PERMISSION_DENIED, 0)                                                                              \
    X(MESSAGE_TOO_LARGE, RESOURCE_EXHAUSTED, 0)                                                                        \
    X(REQUEST_TOO_LARGE, RESOURCE_EXHAUSTED, 0)                                                                        \
    X(REPLY_TOO_LARGE, RESOURCE_EXHAUSTED, 0)                                                                          \
    X(REQUEST_TOO_COMPLEX, RESOURCE_EXHAUSTED, 0)                                                                      \
    X(TOO_MANY_SAMPLES, RESOURCE_EXHAUSTED, 0)                                                                         \
    X(TOO_MANY_STEPS, RESOURCE_EXHAUSTED, 0)                                                                           \
    X(TOO_MANY_ENTRIES, RESOURCE_EXHAUSTED, 0)                                                                         \
    X(VALUE_TOO_LARGE, RESOURCE_EXHAUSTED, 0)                                                                          \
    X(TEXT_TOO_LONG, RESOURCE_EXHAUSTED, 0)                                                                            \
    X(MODEL_TOO_LARGE, RESOURCE_EXHAUSTED, 0)                                                                          \
    X(TOO_MANY_MODELS, RESOURCE_EXHAUSTED, 0)                                                                          \
    X(TOO_MANY_SIMULATIONS, RESOURCE_EXHAUSTED, 0)                                                                     \
    X(TOO_MANY_STREAMS, RESOURCE_EXHAUSTED, 0)                                                                         \
    X(TOO_MANY_TOPICS, RESOURCE_EXHAUSTED, 0)                                                                          \
    X(TOO_MANY_RECORDINGS, RESOURCE_EXHAUSTED, 0)                                                                      \
    X(TOO_MANY_JOBS, RESOURCE_EXHAUSTED, 0)                                                                            \
    X(RECORDINGS_TOO_LARGE, RESOURCE_EXHAUSTED, 0)                                                                     \
    X(JOBS_TOO_LARGE, RESOURCE_EXHAUSTED, 0)                                                                           \
    X(CPU_TIME, RESOURCE_EXHAUSTED, 0)                                                                                 \
    X(DISK_FULL, RESOURCE_EXHAUSTED, 0)                                                                                \
    X(MEMORY_SHORT, RESOURCE_EXHAUSTED, 0.1)                                                                           \
    X(QUOTA, RESOURCE_EXHAUSTED, 0.1)                                                                                  \
    X(OVERLOADED, UNAVAILABLE, 0.1)                                                                                    \
    X(DRAINING, UNAVAILABLE, 1)                                                                                        \
    X(CONNECTION_CLOSED, UNAVAILABLE, 0.1)                                                                             \
    X(JOB_NOT_FINISHED, UNAVAILABLE, 0.1)                                                                              \
    X(DEADLINE, DEADLINE_EXCEEDED, 0)                                                                                  \
    X(CANCELLED, CANCELLED, 0)                                                                                         \
    X(SINGULAR_MASS_MATRIX, FAILED_PRECONDITION, 0)                                                                    \
    X(SINGULAR_TASK, FAILED_PRECONDITION, 0)                                                                           \
    X(NO_MASS, FAILED_PRECONDITION, 0)                                                                                 \
    X(NO_MOVING_JOINT, FAILED_PRECONDITION, 0)                                                                         \
    X(PRECISION_TOO_LOW, FAILED_PRECONDITION, 0)                                                                       \
    X(MODEL_UNSUITABLE, FAILED_PRECONDITION, 0)                                                                        \
    X(NOT_COMPILED, FAILED_PRECONDITION, 0)                                                                            \
    X(NOT_OWNED, FAILED_PRECONDITION, 0)                                                                               \
    X(OWNED, FAILED_PRECONDITION, 0)                                                                                   \
    X(RUNNING, FAILED_PRECONDITION, 0)                                                                                 \
    X(DIVERGED, FAILED_PRECONDITION, 0)                                                                                \
    X(LOCKSTEP, FAILED_PRECONDITION, 0)                                                                                \
    X(FED_BY_STREAM, FAILED_PRECONDITION, 0)                                                                           \
    X(WRONG_STREAM_KIND, FAILED_PRECONDITION, 0)                                                                       \
    X(RECORDING, FAILED_PRECONDITION, 0)                                                                               \
    X(NOT_RECORDING, FAILED_PRECONDITION, 0)                                                                           \
    X(NOT_CONFIGURED, FAILED_PRECONDITION, 0)                                                                          \
    X(FILE_FAILED, FAILED_PRECONDITION, 0)                                                                             \
    X(ENDPOINT_FAILED, FAILED_PRECONDITION, 0)                                                                         \
    X(DELETED_MEANWHILE, ABORTED, 0)                                                                                   \
    X(MODEL_CHANGED, ABORTED, 0)                                                                                       \
    X(REPLY_NOT_STORED, ABORTED, 0)                                                                                    \
    X(OFFSET_OUT_OF_RANGE, OUT_OF_RANGE, 0)                                                                            \
    X(DAMAGED_FILE, DATA_LOSS, 0)                                                                                      \
    X(DEFECT, INTERNAL, 0)

typedef enum error_reason {
    REASON_NONE,
#define REASON_MEMBER(token, code, retry_after) REASON_##token,
    REASONS(REASON_MEMBER)
#undef REASON_MEMBER
} error_reason;

/* Returns the protocol's code of a reason; CODE_OK for REASON_NONE. */
Dynamics__V1__Code reason_code(error_reason r);

/* Returns the token of a reason, empty for REASON_NONE. The string is read-only; its type is not const because
 * protobuf-c requires that. */
char *reason_token(error_reason r);

/* Returns the number of seconds after which the same request may succeed; 0: a pause does not help. */
double reason_retry_after(error_reason r);

/* Returns the reason of an error of the library. */
error_reason reason_of_error(const dyn_error *error);

/* Returns the reason of an error of the library about the description of a robot, such as
 * REASON_INVALID_DESCRIPTION. */
error_reason reason_of_description(const dyn_error *error);

#endif
