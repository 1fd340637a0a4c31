/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results of Evaluate: the blocks of a quantity in the reply.
 */
#ifndef SERVER_METHODS_QUANTITY_RESULT_H
#define SERVER_METHODS_QUANTITY_RESULT_H

#include "methods/evaluation.h"

/* Creates the message of a result, with its form stated. Values and `frame`, which is NULL for a quantity that is of
 * none, are referred to. Returns NULL, and the call has ended, when out of memory. */
Dynamics__V1__QuantityResult *quantity_result_create(batch *b, const evaluation_result *from, char *frame,
                                                     Dynamics__V1__ReferenceFrame reference_frame);

#endif
