/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes a quantity for all states of a source and writes the results: the common part of the commands id, fd,
 * mass, gravity, bias, fk, jacobian, evaluate, explain and others.
 */
#ifndef CLI_EVALUATION_H
#define CLI_EVALUATION_H

#include "csv_writer.h"
#include "output_form.h"
#include "state_source.h"

/* State of a running command, for the functions of its evaluation. */
typedef struct evaluation_context {
    const struct evaluation *evaluated;
    const char *state; /* name of the only state, such as "home configuration" */
    dyn_client *client;
    const arguments *args;
    const layout *robot;
    dyn_client_query query; /* with the samples and external forces of the batch */
    const char *frame;      /* names of the frames, as the user typed them */
    size_t frame_count;
    const char *const *frames;
    dyn_client_reference_frame reference;
    void *own; /* the command's own data, as passed to run_evaluation */
} evaluation_context;

/* Functions and properties by which a command computes and writes its results. The result for a state is one or two
 * rows of numbers, or data of the command's own. */
typedef struct evaluation {
    const char *title; /* "inverse dynamics" */
    bool has_input[STATE_ARRAYS];
    bool has_frame;
    bool has_one_state; /* a request computes one state only */

    /* Called once, after the model is known; reports errors. May be NULL. */
    exit_code (*prepare)(const evaluation_context *context);

    /* Sets the number of values in each of the two rows of a state; the second number may be 0. */
    void (*widths)(const evaluation_context *context, size_t widths[2]);

    /* Requests the results for all states of the batch. */
    dyn_client_status (*compute)(const evaluation_context *context, const state_batch *batch, dyn_client_error *error,
                                 double *first, double *second);

    /* Writes the result of state `index` of the batch as a JSON object on one line; the rows are that state's. */
    void (*write_json)(const evaluation_context *context, size_t index, const double *first, const double *second);

    /* Writes the names of the columns of --csv that follow the number of the state, such as "tau.elbow". Called after
     * the first batch is computed. */
    void (*write_headings)(const evaluation_context *context, csv_writer *to);

    /* Writes the values of state `index` of the batch for the columns of write_headings. If NULL, these values are both
     * rows. */
    void (*write_csv)(const evaluation_context *context, csv_writer *to, size_t index, const double *first,
                      const double *second);

    /* Prints the result of the only state of a batch as tables. Returns false when out of memory. */
    bool (*print_one)(const evaluation_context *context, const state_batch *batch, const double *first,
                      const double *second);
    /* Prints the results of several states as tables. `number` is the number of the batch's first state, from 1.
     * Returns false when out of memory. */
    bool (*print_many)(const evaluation_context *context, const state_batch *batch, size_t number, const double *first,
                       const double *second);
} evaluation;

/* Runs a command: reads its states in batches, computes and writes their results, and reports errors. `own` is the
 * command's own data in the context. */
exit_code run_evaluation(const evaluation *evaluated, void *own, const arguments *args, dyn_client *client);

#endif
