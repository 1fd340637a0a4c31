/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer to what puts a model into the daemon.
 */
#ifndef CLIENT_LOADED_H
#define CLIENT_LOADED_H

#include <dynamics/v1/model.pb-c.h>

#include "dynamics_client.h"

/* Turns a reply, of which `from` is a part (NULL: it lacks it), into the public result. Frees the reply on failure. */
dyn_client_status loaded_take(ProtobufCMessage *reply, const Dynamics__V1__LoadedModel *from,
                              dyn_client_loaded_model **loaded, dyn_client_error *error);

#endif
