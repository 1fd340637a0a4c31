/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Models stored on the disk: one file for each, in the subdirectory "models" of the state directory.
 */
#ifndef SERVER_METHODS_PERSISTENT_MODELS_H
#define SERVER_METHODS_PERSISTENT_MODELS_H

#include "methods/call.h"
#include "methods/live.h"

/* Writes a model and waits until it is on the disk; it replaces one of that name. `request` loads the model again;
 * NULL: a description of the model does. On failure fills `why`, changes nothing and returns false. */
bool persistent_models_write(live *l, const model_entry *entry, const Dynamics__V1__LoadModelRequest *request,
                             refusal *why);

/* Removes the model of that name durably. A missing model is not an error. On failure fills `why` and returns false. */
bool persistent_models_remove(live *l, const char *name, refusal *why);

/* Loads all stored models into the store. Models that cannot be loaded stay on the disk; `left_out` receives the name
 * or path of each, and the reason. Returns the number of loaded models. Must be called before the first request. */
size_t persistent_models_load(live *l, void (*left_out)(void *context, const char *name, const char *reason),
                              void *context);

#endif
