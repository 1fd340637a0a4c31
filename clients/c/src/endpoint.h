/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections to the daemon's endpoints of one kind, for messages that are not answered.
 */
#ifndef CLIENT_ENDPOINT_H
#define CLIENT_ENDPOINT_H

#include "one_way.h"

/* Requests the daemon's endpoints of a kind ("events" or "ingest") within `timeout` seconds, and dials the first one
 * that accepts a connection. With topics (`topic_count` of them) it subscribes to these, otherwise it pushes. */
dyn_client_status endpoint_open(dyn_client *client, const char *kind, size_t topic_count, char *const *topics,
                                double timeout, one_way **opened, dyn_client_error *error);

#endif
