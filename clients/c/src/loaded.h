/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reply about a model that was loaded or derived.
 */
#ifndef CLIENT_LOADED_H
#define CLIENT_LOADED_H

#include <dynamics/v1/model.pb-c.h>

#include "dynamics_client.h"
#include "pool.h"

/* Converts a reply to the public result. `from` is the part of the reply about the model; NULL: the reply lacks it.
 * Frees the reply on failure. */
dyn_client_status loaded_unpack(ProtobufCMessage *reply, const Dynamics__V1__LoadedModel *from,
                                dyn_client_loaded_model **loaded, dyn_client_error *error);

/* Loads the description that is set in `load`. The request has all the rest; `memory` holds its parts. */
dyn_client_status load_source(dyn_client *client, const dyn_client_load_request *request,
                              Dynamics__V1__LoadModelRequest *load, pool *memory, dyn_client_loaded_model **loaded,
                              dyn_client_error *error);

#endif
