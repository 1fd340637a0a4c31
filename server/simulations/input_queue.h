/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue of points, ordered by time: the input of a simulation. Not thread-safe.
 */
#ifndef SERVER_SIMULATIONS_INPUT_QUEUE_H
#define SERVER_SIMULATIONS_INPUT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulations/stepper.h"

/* Flags of the parts that a point has. */
enum { POINT_TAU = 1, POINT_Q = 2, POINT_V = 4, POINT_A = 8 };

/* Point that waits: time, and row of its values. */
typedef struct queued_point {
    double t;
    uint64_t number; /* number of its insertion: points of one time are consumed in this order */
    size_t row;
} queued_point;

/* The points are a binary heap, so that an insertion moves O(log n) entries, in whatever order the times come. */
typedef struct input_queue {
    size_t nq, nv, width; /* width: number of values of a point (t, tau, q, v, a) */
    size_t capacity, count;
    uint64_t inserted;  /* points so far */
    queued_point *heap; /* `count` points, the earliest first; then the entries of the unused rows */
    double *rows;       /* capacity x width */
    double *now;        /* width: the current point */
    bool has_now;
    double period;  /* s between the last two points that were consumed; 0: unknown */
    unsigned parts; /* parts that every point has: those of the first one */
} input_queue;

/* Creates a queue for `capacity` points. Returns false when out of memory. */
bool input_queue_create(input_queue *q, size_t nq, size_t nv, size_t capacity);
void input_queue_free(input_queue *q);

/* Inserts a point at time t, after all that are not later. Returns the point's row, or NULL when the queue is full. The
 * row begins with t; the caller fills tau, q, v and a after it. */
double *input_queue_insert(input_queue *q, double t);

/* Computes the input at time t and consumes all points that are not later. With `is_linear` it interpolates linearly
 * towards the next point. `model` serves to interpolate configurations. Returns false when there is no point yet.
 * `used` receives the number of consumed points. */
bool input_queue_at(input_queue *q, const dyn_model *model, double t, bool is_linear, stepper_input *input,
                    size_t *used);

/* Returns whether no point waits and, at time t, the last consumed point is older than 1.5 times the time between the
 * last two. */
bool input_queue_is_empty(const input_queue *q, double t);

#endif
