/*
 * Keeping a model that was built in the daemon's store.
 */
#ifndef SERVER_METHODS_KEEP_H
#define SERVER_METHODS_KEEP_H

#include "methods/call.h"

/* Puts a model into the store, gives the caller's reference to it back, and returns a reference to the one that is
 * there now under its name: the same, or an equal one that was there before. NULL, and the call ended, where the name
 * is taken by another model and `replace` is false, or the store is full. */
model_entry *keep_model(call *c, model_entry *entry, bool replace, bool *was_present);

#endif
