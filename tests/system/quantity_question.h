/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Evaluates many quantities in tests with one set of frames, arrays and other inputs. Each quantity is requested with
 * those inputs that it depends on.
 */
#ifndef DYNAMICS_TESTS_QUANTITY_QUESTION_H
#define DYNAMICS_TESTS_QUANTITY_QUESTION_H

#include <dynamics_client.h>

typedef struct quantity_question {
    const double *q, *v, *a, *tau, *dq, *dv, *da, *dtau;
    size_t quantity_count;
    const dyn_client_quantity *quantities;
    size_t frame_count; /* of quantities of frames, and of tasks with the same axes of each */
    const char *const *frames;
    dyn_client_reference_frame reference_frame; /* unspecified: local */
    const char *subtree;
    size_t task_axis_count;
    const dyn_client_task_axis *task_axes;
} quantity_question;

/* Evaluates the quantities; the caller frees the answer. Leaves out arrays and parts of the query that none of the
 * quantities depends on, as a first request to the daemon tells. */
dyn_client_status evaluate_quantities(dyn_client *client, const dyn_client_query *query,
                                      const quantity_question *question, dyn_client_error *error,
                                      dyn_client_evaluation **answer);

#endif
