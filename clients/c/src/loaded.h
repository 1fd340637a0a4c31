/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reply about a model that was loaded or derived.
 */
#ifndef CLIENT_LOADED_H
#define CLIENT_LOADED_H

#include <dynamics/v1/model.pb-c.h>

#include "dynamics_client.h"

/* Converts a reply to the public result. `from` is the part of the reply about the model; NULL: the reply lacks it.
 * Frees the reply on failure. */
dyn_client_status loaded_unpack(ProtobufCMessage *reply, const Dynamics__V1__LoadedModel *from,
                                dyn_client_loaded_model **loaded, dyn_client_error *error);

#endif
