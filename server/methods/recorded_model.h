/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Models of recordings and snapshots. The file contains their description, so that it can be read without loading them
 * first.
 */
#ifndef SERVER_METHODS_RECORDED_MODEL_H
#define SERVER_METHODS_RECORDED_MODEL_H

#include "methods/call.h"
#include "methods/live_options.h"

/* Description for a file, and its memory. */
typedef struct recorded_model {
    service_options service;
    call call;
    Dynamics__V1__ModelDescription *description; /* NULL: too long for a file, or out of memory */
} recorded_model;

/* Begins a call without a request; recorded_model_free frees its memory. */
void recorded_model_begin(recorded_model *m, const live_options *o);

/* Describes a model, if that needs at most `most` bytes of the file; recorded_model_free frees the memory. */
void recorded_model_describe(recorded_model *m, const live_options *o, const dyn_model *model, uint64_t most);
void recorded_model_free(recorded_model *m);

/* Returns a reference to the model of that digest: the one in the store, or one built from its description (NULL: there
 * is none) and named `name` (empty: its own name), which is in no store. Returns NULL, with `why` filled, on
 * failure. */
model_entry *recorded_model_find(const live_options *o, const char *name, const char *digest,
                                 const Dynamics__V1__ModelDescription *description, refusal *why);

#endif
