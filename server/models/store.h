/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Store of the loaded models, which are found by name or by digest. All functions may be called from any thread, except
 * those that say otherwise.
 */
#ifndef SERVER_MODELS_STORE_H
#define SERVER_MODELS_STORE_H

#include <stddef.h>

#include "models/entry.h"

typedef struct model_store model_store;

typedef enum model_change { MODEL_LOADED, MODEL_UNLOADED, MODEL_REPLACED } model_change;

/* Callback after each change, in the thread that made it and in the order of the changes. */
typedef void (*model_listener)(void *context, model_change change, const model_entry *entry);

typedef enum model_insertion {
    MODEL_INSERTED,
    MODEL_PRESENT,      /* an equal model has this name already */
    MODEL_NAME_TAKEN,   /* another model has the name and may not be replaced */
    MODEL_NOT_EXPECTED, /* the name has no model, or not the one that may be replaced */
    MODEL_STORE_FULL,
    MODEL_NO_MEMORY,
} model_insertion;

/* Creates an empty store for at most `capacity` models; NULL when out of memory. */
model_store *model_store_create(size_t capacity);

/* Releases all models and frees the store. NULL is ignored. No thread may use the store any more. */
void model_store_free(model_store *store);

/* Changes the capacity; models beyond it stay. */
void model_store_set_capacity(model_store *store, size_t capacity);

/* Sets the listener of changes. Must be called before the store is shared. */
void model_store_listen(model_store *store, model_listener listener, void *context);

/* Digest that stands for any model, for model_store_insert. */
#define MODEL_ANY ""

/* Inserts a model under its name. The store takes a reference of its own. `replaced` is the digest of the model of that
 * name that may be replaced; MODEL_ANY: any one, or none; NULL: no model is replaced. `present` (may be NULL) receives
 * a reference to the model that the store now holds under that name (NULL if there is none). */
model_insertion model_store_insert(model_store *store, model_entry *entry, const char *replaced, model_entry **present);

/* Returns a reference to the model of that name or digest, or NULL if there is none. */
model_entry *model_store_find(model_store *store, const char *name);

/* Removes the model of that name or digest and returns the store's reference to it, or NULL if there is none. Of
 * several models with one digest, removes the first by name. */
model_entry *model_store_remove(model_store *store, const char *name);

/* Removes the model of that name or digest if it came from the file `source` and is not stored on the disk. Returns the
 * store's reference to it, or NULL if nothing was removed. */
model_entry *model_store_remove_source(model_store *store, const char *name, const char *source);

/* Stores references to all models, sorted by name, in an array that the caller frees with model_store_release_list.
 * Returns false when out of memory. */
bool model_store_list(model_store *store, model_entry ***entries, size_t *count);
void model_store_release_list(model_entry **entries, size_t count);

/* Function that returns a reference to the model of that name or digest, which it may load; NULL if there is none. */
typedef model_entry *(*model_source)(void *context, const char *name);

/* Sets the source of models that the store lacks. Must be called before the store is shared. */
void model_store_set_source(model_store *store, model_source source, void *context);

/* Returns a reference to the model of that name or digest by the store's source, which may know a later version than
 * the store; NULL if there is none. May wait for another machine. */
model_entry *model_store_fetch(model_store *store, const char *name);

/* Adds a model that is found by its digest only, in place of the oldest of MODEL_REMEMBERED: an earlier version of a
 * name, which is not listed and causes no notification. The store takes a reference of its own. */
enum { MODEL_REMEMBERED = 16 };
void model_store_remember(model_store *store, model_entry *entry);

/* Releases the models of model_store_remember. */
void model_store_forget(model_store *store);

size_t model_store_count(model_store *store);

/* Returns the number of models that belong to a caller. */
size_t model_store_count_of(model_store *store, const char *belongs_to);

#endif
