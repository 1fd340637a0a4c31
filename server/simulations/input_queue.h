/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Points that wait for their time, in the order of their times: the input of a simulation.
 *
 * Not for two threads at once.
 */
#ifndef SERVER_SIMULATIONS_INPUT_QUEUE_H
#define SERVER_SIMULATIONS_INPUT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "simulations/stepper.h"

/* The parts that a point has. */
enum { POINT_TAU = 1, POINT_Q = 2, POINT_V = 4, POINT_A = 8 };

typedef struct input_queue {
    size_t nq, nv, width; /* width: values of a point: t, tau, q, v, a */
    size_t capacity, first, count;
    double *rows; /* capacity x width, a ring */
    double *now;  /* width: the point that holds */
    bool has_now;
    double period;  /* s between the last two points that were used up; 0: not known */
    unsigned parts; /* of all points, as the first one had them */
} input_queue;

/* Room for `capacity` points. False when out of memory. */
bool input_queue_create(input_queue *q, size_t nq, size_t nv, size_t capacity);
void input_queue_free(input_queue *q);

/* A place for a point at time t, behind all that are not later; NULL when full. The caller fills tau, q, v and a, from
 * place[1] on. */
double *input_queue_insert(input_queue *q, double t);

/* The input at time t: uses up all points that are not later. With `is_linear` in a line to the next point. `model`
 * serves to interpolate configurations. False when there is no point yet. `used` receives how many points were used up.
 * */
bool input_queue_at(input_queue *q, const dyn_model *model, double t, bool is_linear, stepper_input *input,
                    size_t *used);

/* Returns whether the last point has held for half as long again as the distance of points, and there is no other. */
bool input_queue_is_empty(const input_queue *q, double t);

#endif
