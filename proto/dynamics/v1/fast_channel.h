/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layout of the memory that the client and the daemon of a fast channel share (fast_channel.proto).
 *
 *     fast_memory    words and heads, 64 bytes aligned
 *     inputs         input_numbers doubles: q, then each array of `inputs` in the order of fast_array, n rows each
 *     results        output_numbers doubles: the results, or a serialized Status
 *
 * One call at a time. The client writes the question and the inputs, increments `request`, and wakes the daemon if
 * `daemon_sleeps`. The daemon reads them, writes the answer and the results, sets `reply` to the value of `request`,
 * and wakes the client if `client_sleeps`. Each side sets its word before it sleeps on the word of the other side with
 * futex(2), and looks at that word once more in between. Words are loaded and stored in sequentially consistent order.
 * A side that spins leaves its word at 0, and is not woken.
 *
 * Neither side relies on the other: each copies heads before it checks them.
 */
#ifndef DYNAMICS_V1_FAST_CHANNEL_H
#define DYNAMICS_V1_FAST_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

/* Most states of a call; bytes of the name of a frame, its zero byte included; bytes that a serialized Status may have;
 * alignment of the areas; and what follows the path of an ipc endpoint in the path of the socket. */
enum { FAST_SAMPLES = 64, FAST_FRAME_SIZE = 256, FAST_STATUS_SIZE = 4096, FAST_ALIGNMENT = 64 };
#define FAST_SUFFIX ".fast"

/* Calls: the methods of the same names, the pose and the Jacobian of one frame as by Evaluate, and the quantities that
 * the client named when it opened the channel. A pose is n positions, then n quaternions; a Jacobian n linear, then n
 * angular parts of 3 x nv. */
typedef enum fast_call {
    FAST_INVERSE_DYNAMICS = 1,
    FAST_FORWARD_DYNAMICS = 2,
    FAST_MASS_MATRIX = 3,
    FAST_GRAVITY = 4,
    FAST_BIAS_FORCES = 5,
    FAST_FRAME_POSE = 6,
    FAST_FRAME_JACOBIAN = 7,
    FAST_QUANTITIES = 8
} fast_call;

/* Arrays of a call: q with rows of nq, the others with rows of nv. */
typedef enum fast_array {
    FAST_Q,
    FAST_V,
    FAST_A,
    FAST_TAU,
    FAST_DQ,
    FAST_DV,
    FAST_DA,
    FAST_DTAU,
    FAST_ARRAYS
} fast_array;

/* Head of a request. */
typedef struct fast_question {
    uint32_t call;               /* a fast_call */
    uint32_t samples;            /* n */
    uint32_t inputs;             /* flag 1 << k for each fast_array k that the call has; q is required */
    uint32_t reference_frame;    /* ReferenceFrame of a Jacobian */
    uint64_t sent;               /* ns, CLOCK_MONOTONIC: the daemon learns the client's period from it */
    char frame[FAST_FRAME_SIZE]; /* of a pose or a Jacobian; ends with a zero byte */
} fast_question;

/* Head of a reply. */
typedef struct fast_answer {
    uint32_t code;         /* Code */
    uint32_t status_bytes; /* with another code than CODE_OK: bytes of the Status in the results */
    uint64_t numbers;      /* with CODE_OK: doubles in the results */
    uint64_t elapsed;      /* ns that the daemon spent */
} fast_answer;

typedef struct fast_memory {
    _Alignas(FAST_ALIGNMENT) _Atomic uint32_t request; /* number of the newest request */
    _Atomic uint32_t client_sleeps;                    /* 1: the client sleeps on `reply` */
    _Alignas(FAST_ALIGNMENT) _Atomic uint32_t reply;   /* number of the newest answered request */
    _Atomic uint32_t daemon_sleeps;                    /* 1: the daemon sleeps on `request` */
    _Atomic uint32_t is_closed;                        /* 1: the daemon has ended the channel */
    _Alignas(FAST_ALIGNMENT) fast_question question;
    _Alignas(FAST_ALIGNMENT) fast_answer answer;
} fast_memory;

/* Returns the offset of the results in the shared memory, bytes. */
static inline size_t fast_results_offset(size_t input_numbers) {
    size_t end = sizeof(fast_memory) + input_numbers * sizeof(double);
    return (end + FAST_ALIGNMENT - 1) / FAST_ALIGNMENT * FAST_ALIGNMENT;
}

/* Returns the size of the shared memory, bytes. */
static inline size_t fast_memory_size(size_t input_numbers, size_t output_numbers) {
    return fast_results_offset(input_numbers) + output_numbers * sizeof(double);
}

#endif
