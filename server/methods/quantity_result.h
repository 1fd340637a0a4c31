/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reply of Evaluate: the results, their blocks, and the axes that the blocks have in common.
 */
#ifndef SERVER_METHODS_QUANTITY_RESULT_H
#define SERVER_METHODS_QUANTITY_RESULT_H

#include "methods/evaluation.h"

/* A reply that is being made. */
typedef struct result_list {
    Dynamics__V1__EvaluateReply *reply;
    const task_rows **tasks; /* of each of the reply's axes; NULL where it is of none */
} result_list;

/* Creates a reply for that many results and tasks. False, and the call ended, when out of memory. */
bool result_list_create(batch *b, size_t most_results, size_t most_tasks, result_list *list);

/* Adds a result, which answers the quantity number `request` of the request. `frame` is NULL for a quantity that is of
 * none. The message refers to the values and to the names. False, and the call ended, when out of memory. */
bool result_list_add(batch *b, const result_list *list, const evaluation_result *from, size_t request, char *frame);

#endif
