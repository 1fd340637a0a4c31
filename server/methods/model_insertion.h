/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inserts built models into the daemon's store and removes models, in memory and on the disk.
 */
#ifndef SERVER_METHODS_MODEL_INSERTION_H
#define SERVER_METHODS_MODEL_INSERTION_H

#include "methods/call.h"

/* Options of the insertion of a model. */
typedef struct insertion_options {
    const char *replaced; /* digest of the model of that name that may be replaced; MODEL_ANY: any; NULL: none */
    bool on_disk;         /* store the model on the disk, over restarts of the daemon */
    /* Request that loads the model again from the disk; NULL: a description of the model does. */
    const Dynamics__V1__LoadModelRequest *request;
} insertion_options;

/* Returns insertion_options.replaced for the members of a request: `expected_digest`, or MODEL_ANY if it is empty; NULL
 * without `replace`. */
const char *insertion_replaced(bool replace, const char *expected_digest);

/* Checks a request's expected digest of the model to replace: refuses one that is no digest, or that comes without
 * `replace`. Returns false when the call has ended. */
bool insertion_check(call *c, bool replace, const char *expected_digest);

/* Ends the call with an error of model_entry_build (models/entry.h) about the name of the model. */
void insertion_fail_name(call *c, const dyn_error *error);

/* Inserts the model that the call has built. Returns a reference to the model in the store under its name: the built
 * one, or an equal one that was there before, with `was_present` set. Returns NULL, and the call has ended, if the name
 * belongs to another model that may not be replaced, the store is full, or the model cannot be written to the disk.
 * Called with the mutex of changes held, so that only the model directory changes the store meanwhile. */
model_entry *insert_built_model(call *c, const insertion_options *options, bool *was_present);

/* Removes the model from the store and the disk. The call has a reference to it. Returns false when the call has
 * ended. */
bool remove_model(call *c, const model_entry *entry);

#endif
