/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishes events about changes of the loaded models.
 */
#ifndef SERVER_METHODS_MODEL_EVENTS_H
#define SERVER_METHODS_MODEL_EVENTS_H

#include "models/store.h"

/* Publishes a change of the models on the topic "models", once the transport is open. It is the store's listener;
 * `context` is the daemon's events. The store serializes the calls. */
void model_events_on_change(void *context, model_change change, const model_entry *entry);

#endif
