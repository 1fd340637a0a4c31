/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages without a reply over NATS: subjects of topics, or the subject for points of the client's daemon.
 */
#ifndef CLIENT_NATS_ONE_WAY_H
#define CLIENT_NATS_ONE_WAY_H

#include "carrier.h"

/* Opens a connection of the NATS connection `via`: subscribes to the topics of its daemon, and waits at most `timeout`
 * seconds until the server knows the subscriptions. Without topics it sends points. The topic of a request's progress
 * is that of all daemons, since any of them may compute the request. */
dyn_client_status nats_one_way_open(connection *via, size_t topic_count, char *const *topics, double timeout,
                                    one_way **opened, dyn_client_error *error);

/* Makes a message from one of NATS: topic, zero byte, event. Where the topic of the subscription stands for several, as
 * "progress/" and an asterisk do, the topic is that of the subject. Returns one without bytes when out of memory. */
incoming nats_one_way_message(const char *topic, const char *subject, const void *event, size_t size);

#endif
