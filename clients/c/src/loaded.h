/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends requests that load models, and converts replies about loaded or derived models to the public form.
 */
#ifndef CLIENT_LOADED_H
#define CLIENT_LOADED_H

#include <dynamics/v1/model.pb-c.h>

#include "dynamics_client.h"
#include "pool.h"

/* Converts a reply to the public result, which owns the reply. `from` is the part of the reply about the model; if it
 * is NULL, the function returns BAD_REPLY. Frees the reply on failure. */
dyn_client_status loaded_unpack(ProtobufCMessage *reply, const Dynamics__V1__LoadedModel *from,
                                dyn_client_loaded_model **loaded, dyn_client_error *error);

/* Sends `load`, whose source is set, and converts the reply. Sets all other members of `load` from `request`; `memory`
 * holds the messages of these members. */
dyn_client_status load_source(dyn_client *client, const dyn_client_load_request *request,
                              Dynamics__V1__LoadModelRequest *load, pool *memory, dyn_client_loaded_model **loaded,
                              dyn_client_error *error);

#endif
