/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts the public stepping options to the protocol's message.
 */
#ifndef CLIENT_STEPPING_H
#define CLIENT_STEPPING_H

#include <dynamics/v1/simulation.pb-c.h>

#include "dynamics_client.h"

/* The protocol's message of stepping options, and the messages that it points to. */
typedef struct stepping_message {
    Dynamics__V1__Stepping stepping;
    Dynamics__V1__Controller controller;
    Dynamics__V1__SpringStop spring_stop;
    Dynamics__V1__LoopClosure loop_closure;
} stepping_message;

/* Fills the message, which must not move, and points `filled` to it, or to NULL if `from` is NULL. */
dyn_client_status stepping_fill(const dyn_client_stepping *from, stepping_message *message,
                                Dynamics__V1__Stepping **filled, dyn_client_error *error);

#endif
