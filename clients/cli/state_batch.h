/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batch of states that one request computes.
 */
#ifndef CLI_STATE_BATCH_H
#define CLI_STATE_BATCH_H

#include "layout.h"

/* Arrays of a state. */
typedef enum state_array {
    STATE_Q,
    STATE_V,
    STATE_A,
    STATE_TAU,
    STATE_DQ, /* DQ to DTAU: increments along a direction */
    STATE_DV,
    STATE_DA,
    STATE_DTAU,
    STATE_ARRAYS
} state_array;

extern const char *const STATE_ARRAY_NAMES[STATE_ARRAYS];

/* External force and torque on a link for each state of the batch, zero in states that do not have them. */
typedef struct batch_force {
    char *link;
    dyn_client_reference_frame frame;
    double *force, *torque; /* capacity x 3 */
} batch_force;

typedef struct state_batch {
    const layout *robot;
    size_t count, capacity;
    size_t width[STATE_ARRAYS];
    double *values[STATE_ARRAYS]; /* capacity rows; zeros where the input has no value */
    size_t *line;                 /* line of the input with the state, from 1; 0: not from a file */
    size_t force_count;
    batch_force *forces;
} state_batch;

/* Creates an empty batch. Returns false when out of memory. The caller frees the batch with state_batch_free in both
 * cases. */
bool state_batch_create(const layout *robot, size_t capacity, state_batch *created);
void state_batch_free(state_batch *freed);

/* Removes the states. */
void state_batch_clear(state_batch *cleared);

/* Returns the row of the state being added, which is row `count`. */
double *state_batch_row(const state_batch *batch, state_array array);

/* Adds a wrench to the state being added. Returns false when out of memory. */
bool state_batch_add_force(state_batch *batch, const char *link, dyn_client_reference_frame frame,
                           const double force[3], const double torque[3]);

#endif
