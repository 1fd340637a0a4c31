/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer to what puts a model into the daemon.
 */
#ifndef CLIENT_LOADED_H
#define CLIENT_LOADED_H

#include <dynamics/v1/model.pb-c.h>

#include "dynamics_client.h"

/* Turns a reply, whose parts are given and which is freed on failure, into the public result. */
dyn_client_status loaded_take(ProtobufCMessage *reply, const Dynamics__V1__ModelSummary *model, size_t report_count,
                              Dynamics__V1__ReportEntry *const *report, bool already_loaded, dyn_client_error *error,
                              dyn_client_loaded_model **loaded);

#endif
