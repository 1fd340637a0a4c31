/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections to the daemon's endpoints of one kind, for messages that are not answered.
 */
#ifndef CLIENT_ENDPOINT_H
#define CLIENT_ENDPOINT_H

#include "one_way.h"

/* Requests the daemon's endpoints of a kind ("events" or "ingest") within `timeout` seconds (0: the client's own), and
 * dials the first one that accepts a connection. Each dial ends after the timeout or the client's connect timeout,
 * whichever is shorter. With topics (`topic_count` of them) it subscribes to these, otherwise it pushes. */
dyn_client_status endpoint_open(dyn_client *client, const char *kind, size_t topic_count, char *const *topics,
                                double timeout, one_way **opened, dyn_client_error *error);

#endif
