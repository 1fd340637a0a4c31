/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Models of recordings and snapshots: describes a model for a file, and builds it from the file again. A file contains
 * the description of its model, so that it can be read without loading the model first.
 */
#ifndef SERVER_METHODS_RECORDED_MODEL_H
#define SERVER_METHODS_RECORDED_MODEL_H

#include "methods/call.h"
#include "methods/live_options.h"

/* Description of a model for a file, and its memory. */
typedef struct recorded_model {
    service_options service;
    call call;
    Dynamics__V1__ModelDescription *description; /* NULL: too long for a file, or out of memory */
} recorded_model;

/* Prepares `m->call`, a call without a request, for methods that need one. The caller must call recorded_model_free. */
void recorded_model_begin(recorded_model *m, const live_options *o);

/* Describes a model for a file. `m->description` is NULL if it would have more than `most` bytes or more than
 * MOST_DESCRIPTION_BYTES, or when out of memory. The caller must call recorded_model_free in all cases. */
void recorded_model_describe(recorded_model *m, const live_options *o, const dyn_model *model, uint64_t most);

/* Frees the memory of the call and of the description. */
void recorded_model_free(recorded_model *m);

/* Builds the described model, which must have that digest, under the name `name`; "": that of its description. The
 * caller owns the reference to the result, which is in no store. On failure fills `why` and returns NULL. */
model_entry *recorded_model_build(const live_options *o, const char *name, const char *digest,
                                  const Dynamics__V1__ModelDescription *from, refusal *why);

/* Returns a reference to the model of that digest: the one in the store, or else one built from `description` (NULL:
 * there is none), which is in no store. The built one has the name `name`, or that of its description if `name` is
 * empty. On failure fills `why` and returns NULL. */
model_entry *recorded_model_find(const live_options *o, const char *name, const char *digest,
                                 const Dynamics__V1__ModelDescription *description, refusal *why);

#endif
