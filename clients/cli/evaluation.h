/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computing something for all states of a source, and writing the results: what id, fd, mass, gravity, bias, fk,
 * jacobian, evaluate and explain have in common.
 */
#ifndef CLI_EVALUATION_H
#define CLI_EVALUATION_H

#include "arguments.h"
#include "state_source.h"

/* State of a command while it runs. */
typedef struct evaluation_context {
    const struct evaluation *evaluated;
    const char *state; /* "home configuration": which state it is, where there is one */
    dyn_client *client;
    const arguments *given;
    const layout *robot;
    dyn_client_query query; /* samples and external forces are those of the batch */
    const char *frame;      /* of fk and jacobian */
    dyn_client_reference_frame reference;
    void *own; /* the command's, as given to run_evaluation */
} evaluation_context;

/* Computation of a command. Its result for a state is one or two rows of numbers, or something of its own. */
typedef struct evaluation {
    const char *title; /* "inverse dynamics" */
    bool takes[STATE_ARRAYS];
    bool takes_frame;

    /* May be NULL: called once, when the model is known; tells what is wrong. */
    exit_code (*prepare)(const evaluation_context *context);

    /* Numbers in each of the two rows of a state; the second may be 0. */
    void (*widths)(const evaluation_context *context, size_t widths[2]);

    /* Asks the daemon for all states of the batch. */
    dyn_client_status (*compute)(const evaluation_context *context, const state_batch *batch, dyn_client_error *error,
                                 double *first, double *second);

    /* Writes the result of state `index` of the batch as a JSON object on one line; the rows are that state's. */
    void (*write_json)(const evaluation_context *context, size_t index, const double *first, const double *second);

    /* Writes the result of the one state of a batch, or of several states, for people; `number` is that of the batch's
     * first state, from 1. False when out of memory. */
    bool (*print_one)(const evaluation_context *context, const state_batch *batch, const double *first,
                      const double *second);
    bool (*print_many)(const evaluation_context *context, const state_batch *batch, size_t number, const double *first,
                       const double *second);
} evaluation;

exit_code run_evaluation(const evaluation *evaluated, void *own, const arguments *given, dyn_client *client);

#endif
