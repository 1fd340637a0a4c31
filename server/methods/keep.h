/*
 * Keeping a model that was built in the daemon's store.
 */
#ifndef SERVER_METHODS_KEEP_H
#define SERVER_METHODS_KEEP_H

#include "methods/call.h"

/* Puts the model that the call has built into the store and returns a reference to the one that is there now under its
 * name: the same, or an equal one that was there before. NULL, and the call ended, where the name is taken by another
 * model and `replace` is false, or the store is full. */
model_entry *keep_model(call *c, bool replace, bool *was_present);

#endif
