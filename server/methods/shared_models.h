/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Models that all daemons at a NATS server share.
 *
 * A model that a client loads at one daemon is described in a bucket (transport/bucket.h): its description under its
 * digest, and the digest under its name (recording.proto, SharedModel). A thread of each daemon watches the names, and
 * loads, replaces and unloads models as they change. A request that names a model before that thread has loaded it
 * fetches it. Descriptions of earlier versions of a name stay, so that a request can name their digest, until the name
 * is removed. Models of the model directory are not shared, unless a client loads them.
 *
 * Without a NATS server nothing is shared and the functions have no effect. All functions may be called by any thread,
 * except those that say otherwise.
 */
#ifndef SERVER_METHODS_SHARED_MODELS_H
#define SERVER_METHODS_SHARED_MODELS_H

#include "methods/live.h"

typedef struct shared_models shared_models;

/* Creates the object, which shares nothing yet, and becomes the source of models that the store of `l` lacks. Returns
 * NULL when out of memory. `l` must outlive it. */
shared_models *shared_models_create(live *l);

/* Starts the thread, and waits a moment for the models that are shared already. Must be called before the first
 * request. Returns false when there are no threads. */
bool shared_models_start(shared_models *m, transport *t);

/* Ends the thread and closes the bucket, before the transport stops. No request may be under way. */
void shared_models_stop(shared_models *m);

/* Frees the object, after shared_models_stop. NULL is ignored. */
void shared_models_free(shared_models *m);

/* Begins a change of the model of that name: waits for other changes, and brings the name up to date. No other
 * function but the next three may be called until shared_models_end_change. */
void shared_models_begin_change(shared_models *m, const char *name);

/* Shares a model under its name. Without the bucket, shares nothing and logs a warning; a request that came over NATS
 * is refused, since it would change one daemon only. On failure fills `why` and returns false. */
bool shared_models_put(shared_models *m, const model_entry *entry, bool is_over_nats, refusal *why);

/* Removes the name and the descriptions that no other name has. Errors are those of shared_models_put. */
bool shared_models_remove(shared_models *m, const char *name, bool is_over_nats, refusal *why);

void shared_models_end_change(shared_models *m);

#endif
