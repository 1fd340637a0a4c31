/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The models of recordings and snapshots: the file describes them, so that it can be read where nobody loaded them.
 */
#ifndef SERVER_METHODS_RECORDED_MODEL_H
#define SERVER_METHODS_RECORDED_MODEL_H

#include "methods/call.h"
#include "methods/live.h"

/* A description for a file, and its memory. */
typedef struct recorded_model {
    service_options service;
    call call;
    Dynamics__V1__ModelDescription *description; /* NULL: too long for a file, or memory is short */
} recorded_model;

/* Begins a call without a request; recorded_model_free gives its memory back. */
void recorded_model_begin(recorded_model *m, live *l);

/* Describes a model, if that takes at most `most` bytes of the file; recorded_model_free gives the memory back. */
void recorded_model_describe(recorded_model *m, live *l, const dyn_model *model, uint64_t most);
void recorded_model_free(recorded_model *m);

/* The model of that digest: that of the store, or one built from its description (NULL: there is none), named `name`
 * (empty: as it names itself), which is in no store. A reference; NULL, and `why` filled. */
model_entry *recorded_model_find(live *l, const char *name, const char *digest,
                                 const Dynamics__V1__ModelDescription *description, refusal *why);

#endif
