/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Models that outlive the daemon: one file for each in the directory "models" of the state directory.
 */
#ifndef SERVER_METHODS_KEPT_MODELS_H
#define SERVER_METHODS_KEPT_MODELS_H

#include "methods/call.h"
#include "methods/live.h"

/* Writes a model and waits until it is on the disk; it replaces one of the same name. `request` loads the model again;
 * NULL stands for a description of the model. On failure nothing has changed. */
bool kept_models_write(live *l, const model_entry *entry, const Dynamics__V1__LoadModelRequest *request, refusal *why);

/* Removes a model of that name, durably. One that is not there is removed already. */
bool kept_models_remove(live *l, const char *name, refusal *why);

/* Loads all models that are kept into the store. Those that cannot be loaded stay on the disk, and are told with the
 * reason. Returns the number of models. Before the first request. */
size_t kept_models_load(live *l, void (*left_out)(void *context, const char *name, const char *reason), void *context);

#endif
