/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls methods whose result is an array of numbers.
 */
#ifndef CLIENT_VALUES_H
#define CLIENT_VALUES_H

#include "call.h"

/* Calls a method with its message and reads `count` values of the result's field `number` into the caller's array. */
dyn_client_status call_values(dyn_client *client, Dynamics__V1__Request__MethodCase method, ProtobufCMessage *body,
                              call_terms terms, uint32_t number, size_t count, double *values, dyn_client_error *error);

#endif
