/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The models that the daemon knows, by name and by digest.
 *
 * All functions may be called from any thread.
 */
#ifndef SERVER_MODELS_STORE_H
#define SERVER_MODELS_STORE_H

#include <stddef.h>

#include "models/entry.h"

typedef struct model_store model_store;

typedef enum model_change { MODEL_LOADED, MODEL_UNLOADED, MODEL_REPLACED } model_change;

/* Told of each change after it was made, in the thread that made it and in the order in which they were made. */
typedef void (*model_listener)(void *context, model_change change, const model_entry *entry);

typedef enum model_insertion {
    MODEL_INSERTED,
    MODEL_PRESENT,      /* the very model was there already under its name */
    MODEL_NAME_TAKEN,   /* by another model, and none may be replaced */
    MODEL_NOT_EXPECTED, /* the name holds another model than the one that may be replaced, or none */
    MODEL_STORE_FULL,
} model_insertion;

/* Creates an empty store for at most `capacity` models; NULL when out of memory. */
model_store *model_store_create(size_t capacity);

/* Releases all models. */
void model_store_free(model_store *store);

/* Changes the capacity; models beyond it stay. */
void model_store_set_capacity(model_store *store, size_t capacity);

/* Sets who is told of changes. Before the store is shared. */
void model_store_listen(model_store *store, model_listener listener, void *context);

/* Any model, for model_store_insert. */
#define MODEL_ANY ""

/* Puts a model in under its name. The store takes a reference of its own. `replaced` is the digest of the model of that
 * name that may be replaced; MODEL_ANY: any one, or none; NULL: no model is replaced. With `present` not NULL it
 * receives a reference to the model that is in the store now under that name (NULL when there is none). */
model_insertion model_store_insert(model_store *store, model_entry *entry, const char *replaced, model_entry **present);

/* A reference to the model of that name or digest; NULL when there is none. */
model_entry *model_store_find(model_store *store, const char *name);

/* Takes the model of that name or digest out and returns the store's reference to it; NULL when there is none. Of
 * several models with one digest, the first in the order of names. */
model_entry *model_store_remove(model_store *store, const char *name);

/* Removes a model, but only if it came from that file and is not kept. */
model_entry *model_store_remove_source(model_store *store, const char *name, const char *source);

/* References to all models in the order of their names, in an array that the caller frees with
 * model_store_release_list. False when out of memory. */
bool model_store_list(model_store *store, model_entry ***entries, size_t *count);
void model_store_release_list(model_entry **entries, size_t count);

size_t model_store_count(model_store *store);

#endif
