/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds the reply of Evaluate: the results, their blocks, and the axes that the blocks share.
 */
#ifndef SERVER_METHODS_QUANTITY_RESULT_H
#define SERVER_METHODS_QUANTITY_RESULT_H

#include "methods/evaluation.h"

/* Reply of Evaluate under construction. */
typedef struct result_list {
    Dynamics__V1__EvaluateReply *reply;
    const task_rows **tasks; /* task of each of the reply's axes; NULL: none */
} result_list;

/* Creates a reply for at most that many results and tasks. Returns false, and the call has ended, when out of
 * memory. */
bool result_list_create(batch *b, size_t most_results, size_t most_tasks, result_list *list);

/* Adds a result for the quantity with the index `request` in the request. `frame` is NULL for a quantity without
 * frames. The message refers to the values and to the names, which it does not copy. Returns false, and the call has
 * ended, when out of memory. */
bool result_list_add(batch *b, const result_list *list, const evaluation_result *from, size_t request, char *frame);

#endif
