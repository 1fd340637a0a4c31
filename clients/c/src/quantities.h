/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encodes the quantities of an evaluation as protocol messages.
 */
#ifndef CLIENT_QUANTITIES_H
#define CLIENT_QUANTITIES_H

#include <dynamics/v1/evaluate.pb-c.h>

#include "dynamics_client.h"
#include "pool.h"
#include "spread.h"

/* Encodes the quantities of a request for some of its samples into `body`, in memory of the pool. Names are borrowed.
 * Errors: INVALID_ARGUMENT where there are none, or a name is NULL. */
dyn_client_status quantities_encode(const dyn_client_evaluate_request *request, sample_range range, pool *memory,
                                    Dynamics__V1__EvaluateRequest *body, dyn_client_error *error);

#endif
