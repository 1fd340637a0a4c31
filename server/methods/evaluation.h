/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computation of quantities for the samples of a batch, for Evaluate and for the methods that compute one quantity
 * each.
 *
 *     if (batch_open(c, &b, query, evaluation_parts(uses), n_q, q) && evaluation_check(&b, quantity) &&
 *         evaluation_open(&b, &e, 1) && evaluation_add(&b, &e, quantity, &place) && evaluation_run(&b, &e, arrays)) {
 *         ... e.results[0].values[0] ...
 *     }
 *
 * Functions that fail end the call with an error.
 */
#ifndef SERVER_METHODS_EVALUATION_H
#define SERVER_METHODS_EVALUATION_H

#include "methods/contact_stepper.h"
#include "methods/quantities.h"

/* Arrays of a request in addition to q. Each has n rows of nv values, or none (zeros). */
typedef enum state_array {
    STATE_V,
    STATE_A,
    STATE_TAU,
    STATE_DQ,
    STATE_DV,
    STATE_DA,
    STATE_DTAU,
    STATE_ARRAYS /* number of arrays; the flag of an array in quantity_input is 1 << state_array */
} state_array;

/* Names of the arrays in the protocol. */
extern const char *const state_array_names[STATE_ARRAYS];

/* Array of the request, in the caller's order. It lives as long as the request. */
typedef struct sent_array {
    size_t count;
    const double *values;
} sent_array;

/* Quantity at one place, and its values: an array for each block, in the caller's order. */
typedef struct evaluation_result {
    Dynamics__V1__Quantity number;
    const quantity_row *of;
    quantity_place at;
    double *values[QUANTITY_BLOCKS];
} evaluation_result;

typedef struct evaluation_task evaluation_task;

/* Results to compute for a batch, and the computations that fill them. */
typedef struct evaluation {
    size_t result_count;
    evaluation_result *results;
    size_t task_count;
    evaluation_task *tasks;                                 /* computations; one task may fill several results */
    size_t slot_count;                                      /* a power of two, above the number of tasks */
    uint32_t *slots;                                        /* hash table over the tasks: index + 1, or 0 */
    double cost;                                            /* of one sample, ns */
    dyn_constrained_inverse_result *agreement;              /* of each sample with constraints; NULL: of none */
    const double *arrays[STATE_ARRAYS];                     /* in the model's order; NULL: zero */
    dyn_simulation_options contact_steps[BATCH_SIMULATORS]; /* of quantities of contacts, and of impacts of contacts */
    size_t scratch_values;                                  /* scratch values of one sample for the largest task */
} evaluation;

/* Returns the parts of a Query that quantities use which depend on `inputs`, flags of quantity_input. */
query_parts evaluation_parts(unsigned inputs);

/* Prepares an evaluation of at most `most_results` results. Returns false, and the call has ended, when out of
 * memory. */
bool evaluation_open(batch *b, evaluation *e, size_t most_results);

/* Sets the length of the step of the quantities of contacts, s, after all are added. Returns false when the call has
 * ended. */
bool evaluation_set_contact_step(batch *b, evaluation *e, double length);

/* Refuses a quantity of constraints or of contact surfaces where there are none, and one that does not count the motion
 * of the base or the rows of the query. Returns false when the call has ended. */
bool evaluation_check(batch *b, Dynamics__V1__Quantity number);

/* Adds a result, and announces its size. Returns false without ending the call if this quantity of this place was added
 * before. */
bool evaluation_add(batch *b, evaluation *e, Dynamics__V1__Quantity number, const quantity_place *at);

/* Computes all results; missing arrays are zeros. Returns false when the call has ended, or is deferred to a worker. */
bool evaluation_run(batch *b, evaluation *e, const sent_array arrays[STATE_ARRAYS]);

#endif
