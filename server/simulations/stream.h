/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stream of points that a planner pushes. The points are checked and counted; then torques are computed from them, or
 * they drive a simulation, or they are written to a file. All values are in the model's order.
 */
#ifndef SERVER_SIMULATIONS_STREAM_H
#define SERVER_SIMULATIONS_STREAM_H

#include <pthread.h>
#include <stdatomic.h>

#include <dynamics/constrained_inverse_dynamics.h>

#include "models/entry.h"
#include "simulations/input_queue.h"
#include "simulations/point_order.h"
#include "simulations/simulation.h"

typedef struct stream stream;

typedef enum stream_kind { STREAM_FEEDFORWARD, STREAM_SIMULATION_INPUT, STREAM_RECORD } stream_kind;
typedef enum stream_empty { STREAM_EMPTY_HOLD, STREAM_EMPTY_ZERO, STREAM_EMPTY_PAUSE } stream_empty;

/* Events, numbered as in the protocol. */
typedef enum stream_event {
    STREAM_CREDIT = 1,
    STREAM_LOST,
    STREAM_LATE,
    STREAM_REFUSED,
    STREAM_BEYOND_CREDIT,
    STREAM_EMPTY,
    STREAM_CLOSED,
    STREAM_EXPIRED,
    STREAM_DUPLICATE,
    STREAM_REORDERED,
    STREAM_RECORDING_ENDED,
} stream_event;

typedef struct stream_options {
    stream_kind kind;
    bool is_linear, drops_late;
    stream_empty empty;
    double late_after; /* s; 0: points of feedforward are never late */
    size_t capacity;
    double idle_time; /* s */
    /* Options of the inverse dynamics. The arrays live as long as the stream's attachment. */
    const double *gravity; /* m/s^2, world axes; NULL: the model's own */
    size_t payload_count;
    const dyn_payload *payloads; /* expressed in the frames of their links */
    dyn_precision precision;
    stepper_forces forces;
    dyn_constrained_inverse_options motion; /* of a model with constraints; weights live as the arrays above */
} stream_options;

typedef struct stream_counters {
    uint64_t accepted, late, duplicates, reordered, refused, beyond_credit, chunks, consumed, empty;
} stream_counters;

/* Chunk of n points; arrays that are NULL are absent. */
typedef struct stream_chunk {
    uint64_t sequence;
    size_t n;
    const double *t, *q, *v, *a, *tau;
    int64_t sent;     /* ns since 1970, from the planner's clock */
    uint64_t arrival; /* ns */
} stream_chunk;

/* Accepted points of a chunk. */
typedef struct stream_points {
    size_t n;
    const uint64_t *sequence;
    const double *t, *q, *v, *a, *tau; /* tau: for feedforward, the result */
    const double *residuals;           /* of feedforward with constraints; NULL: there are none */
    int64_t sent;                      /* ns since 1970 */
} stream_points;

/* Callbacks of a stream. They run with the stream's mutex held and must not block. */
typedef struct stream_hooks {
    void (*on_torques)(stream *s, const stream_points *points);
    void (*on_event)(stream *s, stream_event event, const char *message);
    /* Returns whether a chunk can be recorded now. Returns true also if the recording has ended, since on_record
     * reports that. */
    bool (*has_room)(const stream *s, const stream_chunk *chunk);
    /* Writes points to the file. Returns false, with the problem, if the recording has ended. */
    bool (*on_record)(stream *s, const stream_points *points, const char **problem);
} stream_hooks;

struct stream {
    pthread_mutex_t mutex; /* guards the members after the constants; locked after a simulation's */
    atomic_uint references;
    char name[SIMULATION_NAME_SIZE];
    char owner[SIMULATION_OWNER_SIZE];
    char belongs_to[SIMULATION_OWNER_SIZE]; /* caller that opened it */
    uint64_t key;
    model_entry *entry;
    simulation *target;       /* for SIMULATION_INPUT; a reference */
    simulation_source source; /* input of the target */
    stream_options options;
    const stream_hooks *hooks;
    void *owner_context;
    void *attachment;
    void (*free_attachment)(void *attachment);
    size_t nq, nv;
    dyn_workspace *workspace;
    const dyn_model *model; /* model with the payloads, for the workspace */

    point_order order;
    stream_counters counters;
    double lag, greatest_lag;
    bool has_lag, has_first;
    double first_t;
    uint64_t first_arrival, last_arrival; /* ns; last_arrival: at first the time of opening */
    input_queue queue;
    bool was_empty, is_closed;
    /* Results of feedforward. Number n is at index n % capacity. */
    uint64_t *held_sequence;
    double *held_t, *held_tau;
    /* Scratch memory for the points of the current chunk. */
    size_t scratch_rows;
    uint64_t *scratch_sequence;
    double *scratch; /* rows of t, then of q, v, a, tau */
    void *recording;
};

/* Creates a stream with one reference that the caller owns. Takes references to entry and target (which may be NULL).
 * Errors are those of dyn_workspace_create_in and dyn_workspace_load, and DYN_RESOURCE_EXHAUSTED. */
dyn_status stream_create(model_entry *entry, simulation *target, const char *name, const stream_options *options,
                         const stream_hooks *hooks, void *context, dyn_error *error, stream **result);
stream *stream_retain(stream *s);
void stream_release(stream *s);

/* Processes a chunk: counts every point and uses the good ones. A closed stream ignores it. */
void stream_push(stream *s, const stream_chunk *chunk);

/* Counts a chunk that could not be decoded, or does not fit, as one refused point, and publishes the message. */
void stream_refuse(stream *s, uint64_t arrival, const char *message);

/* Returns the highest sequence number of a point that may be sent. Called with the mutex held. */
uint64_t stream_credit(const stream *s);

/* Returns the number of waiting points. Called with the mutex held. */
size_t stream_waiting(const stream *s);

#endif
