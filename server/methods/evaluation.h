/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The computation of quantities for the samples of a batch: the one path of Evaluate and of the methods that compute
 * one quantity each.
 *
 *     if (batch_open(c, &b, query, evaluation_parts(uses), n_q, q) && evaluation_open(&b, &e, 1) &&
 *         evaluation_add(&b, &e, quantity, &place) && evaluation_run(&b, &e, arrays)) {
 *         ... e.results[0].values[0] ...
 *     }
 *
 * Functions that fail end the call with an error.
 */
#ifndef SERVER_METHODS_EVALUATION_H
#define SERVER_METHODS_EVALUATION_H

#include "methods/quantities.h"

/* Arrays of a request beside q, n x nv or none (zeros) each. */
typedef enum state_array {
    STATE_V,
    STATE_A,
    STATE_TAU,
    STATE_DQ,
    STATE_DV,
    STATE_DA,
    STATE_DTAU,
    STATE_ARRAYS /* how many there are; the flag quantity_input of an array is 1 << state_array */
} state_array;

/* The arrays' names on the wire. */
extern const char *const state_array_names[STATE_ARRAYS];

/* An array as the request has it. It lives as long as the request. */
typedef struct sent_array {
    size_t count;
    const double *values;
} sent_array;

/* A quantity at one place, and its values: an array for each block, in the caller's order. */
typedef struct evaluation_result {
    Dynamics__V1__Quantity number;
    const quantity_row *of;
    quantity_place at;
    double *values[QUANTITY_BLOCKS];
} evaluation_result;

typedef struct evaluation_task evaluation_task;

typedef struct evaluation {
    size_t result_count;
    evaluation_result *results;
    size_t task_count;
    evaluation_task *tasks;             /* what is to be computed; one task may fill several results */
    size_t slot_count;                  /* a power of two, above the number of tasks */
    uint32_t *slots;                    /* hash table over the tasks: index + 1, or 0 */
    double cost;                        /* of one sample, ns */
    const double *arrays[STATE_ARRAYS]; /* in the model's order; NULL: zero */
    size_t scratch_values;              /* of one sample, that the largest task needs */
} evaluation;

/* Returns the parts of a Query that quantities with these flags quantity_input have use for. */
query_parts evaluation_parts(unsigned inputs);

/* Makes room for at most that many results. */
bool evaluation_open(batch *b, evaluation *e, size_t most_results);

/* Adds a result, and announces its size. False, and the call goes on, when this quantity of this place is there. */
bool evaluation_add(batch *b, evaluation *e, Dynamics__V1__Quantity number, const quantity_place *at);

/* Computes all results; arrays that are left out are zeros. Returns false also when the call is to be run again on a
 * worker. */
bool evaluation_run(batch *b, evaluation *e, const sent_array arrays[STATE_ARRAYS]);

#endif
