/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entering a model that was built into the daemon's store, and onto its disk.
 */
#ifndef SERVER_METHODS_KEEP_H
#define SERVER_METHODS_KEEP_H

#include "methods/call.h"

typedef struct keep_options {
    const char *replaced;                          /* which model of that name may be replaced, as of the store */
    bool keep;                                     /* over restarts of the daemon */
    const Dynamics__V1__LoadModelRequest *request; /* that loads it again; NULL: its description does */
} keep_options;

/* The model that a request wants to replace, for keep_options. */
const char *keep_replaced(bool replace, const char *expected_digest);

/* Checks what a request states of the model that is to be replaced. False: the call has ended. */
bool keep_check(call *c, bool replace, const char *expected_digest);

/* Enters the model that the call has built and returns a reference to the one that is in the store now under its name:
 * the same, or an equal one that was there before. NULL, and the call ended, where the name is taken by another model
 * that may not be replaced, the store is full, or the model is to be kept and cannot be written. With the mutex of
 * changes: nothing but the model directory changes the store meanwhile. */
model_entry *keep_model(call *c, const keep_options *options, bool *was_present);

/* Removes the model, which the call holds, from the store and the disk. False: the call has ended. */
bool keep_remove(call *c, const model_entry *entry);

#endif
