/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens connections to the daemon's endpoints "events" and "ingest", whose messages have no reply.
 */
#ifndef CLIENT_ENDPOINT_H
#define CLIENT_ENDPOINT_H

#include "one_way.h"

/* Requests the daemon's endpoints of a kind ("events" or "ingest") within `timeout` seconds (0: the client's own
 * timeout), and dials their addresses until one accepts the connection. Each dial ends after this timeout or the
 * client's connect timeout, whichever is shorter. If `topic_count` > 0, the connection subscribes to the topics;
 * otherwise it is for sending. */
dyn_client_status endpoint_open(dyn_client *client, const char *kind, size_t topic_count, char *const *topics,
                                double timeout, one_way **opened, dyn_client_error *error);

#endif
