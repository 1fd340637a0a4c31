/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream: points that a planner pushes, checked, counted, and turned into torques, into input of a simulation, or
 * handed to a file. Everything is in the model's order.
 */
#ifndef SERVER_SIMULATIONS_STREAM_H
#define SERVER_SIMULATIONS_STREAM_H

#include <pthread.h>
#include <stdatomic.h>

#include "models/entry.h"
#include "simulations/input_queue.h"
#include "simulations/point_order.h"
#include "simulations/simulation.h"

typedef enum stream_kind { STREAM_FEEDFORWARD, STREAM_SIMULATION_INPUT, STREAM_RECORD } stream_kind;
typedef enum stream_empty { STREAM_EMPTY_HOLD, STREAM_EMPTY_ZERO, STREAM_EMPTY_PAUSE } stream_empty;

/* In the order of the wire. */
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
    double late_after; /* s; 0: feedforward is never late */
    size_t capacity;
    double idle_time; /* s */
    /* Of the inverse dynamics; arrays live as long as the stream's attachment. */
    const double *gravity; /* m/s^2, world axes; NULL: the model's own */
    size_t payload_count;
    const dyn_payload *payloads; /* in the frames of their links */
    dyn_precision precision;
    stepper_forces forces;
} stream_options;

typedef struct stream_counters {
    uint64_t accepted, late, duplicates, reordered, refused, beyond_credit, chunks, consumed, empty;
} stream_counters;

/* n points; arrays that are NULL are absent. */
typedef struct stream_chunk {
    uint64_t sequence;
    size_t n;
    const double *t, *q, *v, *a, *tau;
    int64_t sent;     /* ns since 1970; as the planner told */
    uint64_t arrival; /* ns */
} stream_chunk;

/* Points that were used, gathered from a chunk. */
typedef struct stream_points {
    size_t n;
    const uint64_t *sequence;
    const double *t, *q, *v, *a, *tau; /* tau: of feedforward, the result */
    int64_t sent;                      /* ns since 1970 */
} stream_points;

/* Called with the stream's mutex held; must not block. */
typedef struct stream_hooks {
    void (*on_torques)(stream *s, const stream_points *points);
    void (*on_event)(stream *s, stream_event event, const char *message);
    /* Takes points into the file. False when there is no room for them now, or, with a `problem`, will be none. */
    bool (*on_record)(stream *s, const stream_points *points, const char **problem);
} stream_hooks;

struct stream {
    pthread_mutex_t mutex; /* guards what follows the constants; taken after a simulation's */
    atomic_uint references;
    char name[SIMULATION_NAME_SIZE];
    char owner[SIMULATION_OWNER_SIZE];
    uint64_t key;
    model_entry *entry;
    simulation *target; /* of SIMULATION_INPUT; a reference */
    stream_options options;
    const stream_hooks *hooks;
    void *owner_context;
    void *attachment;
    void (*free_attachment)(void *attachment);
    size_t nq, nv;
    dyn_workspace *workspace;
    const dyn_model *model; /* with the payloads; it goes with the workspace */

    point_order order;
    stream_counters counters;
    double lag, greatest_lag;
    bool has_lag, has_first;
    double first_t;
    uint64_t first_arrival, last_arrival; /* ns; last_arrival: or of the opening */
    input_queue queue;
    bool was_empty, is_closed;
    /* Results of feedforward: number n at place n % capacity. */
    uint64_t *held_sequence;
    double *held_t, *held_tau;
    /* Points of the chunk at work. */
    size_t scratch_rows;
    uint64_t *scratch_sequence;
    double *scratch; /* rows of t, then of q, v, a, tau */
    void *recording;
};

/* Creates a stream with one reference. Takes references to entry and target (which may be NULL). */
dyn_status stream_create(model_entry *entry, simulation *target, const char *name, const stream_options *options,
                         const stream_hooks *hooks, void *context, dyn_error *error, stream **result);
stream *stream_retain(stream *s);
void stream_release(stream *s);

/* Takes a chunk: counts every point, uses the good ones. */
void stream_take(stream *s, const stream_chunk *chunk);

/* A chunk that could not be read or does not fit: it is counted as one refused point. */
void stream_refuse(stream *s, uint64_t arrival, const char *message);

/* The highest number that may be sent. With the mutex. */
uint64_t stream_credit(const stream *s);

/* Points that wait. With the mutex. */
size_t stream_waiting(const stream *s);

/* Writes the simulation's input for its next step. False when there is no point for that time. With the simulation's
 * mutex. */
bool stream_drive(stream *s, simulation *target);

#endif
