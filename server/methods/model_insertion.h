/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Insertion of a built model into the daemon's store, and its storage on the disk.
 */
#ifndef SERVER_METHODS_MODEL_INSERTION_H
#define SERVER_METHODS_MODEL_INSERTION_H

#include "methods/call.h"

typedef struct insertion_options {
    const char *replaced;                          /* model of that name that may be replaced, as for the store */
    bool on_disk;                                  /* store it on the disk, over restarts of the daemon */
    const Dynamics__V1__LoadModelRequest *request; /* request that loads it again; NULL: its description does */
} insertion_options;

/* Returns the model that a request may replace, for insertion_options. */
const char *insertion_replaced(bool replace, const char *expected_digest);

/* Checks the members of a request about the model to be replaced. Returns false when the call has ended. */
bool insertion_check(call *c, bool replace, const char *expected_digest);

/* Ends the call with an error of models/entry.h about the name of the model. */
void insertion_fail_name(call *c, const dyn_error *error);

/* Inserts the model that the call has built. Returns a reference to the one in the store under its name: the built one,
 * or an equal one that was there before. Returns NULL, and the call has ended, if the name belongs to another model
 * that may not be replaced, the store is full, or the model cannot be written to the disk. Called with the mutex of
 * changes held, so that only the model directory changes the store meanwhile. */
model_entry *insert_built_model(call *c, const insertion_options *options, bool *was_present);

/* Removes the model, of which the call has a reference, from the store and the disk. Returns false when the call has
 * ended. */
bool remove_model(call *c, const model_entry *entry);

#endif
