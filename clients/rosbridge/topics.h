/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Manages topics of the daemon, and topics between peers.
 *
 * Each subscriber receives messages at its own rate and in its own encoding. A message is encoded once for all
 * subscribers with the same encoding.
 */
#ifndef ROSBRIDGE_TOPICS_H
#define ROSBRIDGE_TOPICS_H

#include "publication.h"

/* Returns the topic of a name with a slash, or NULL. */
topic *topic_find(bridge *in, const char *name);

/* Opens a topic of the daemon. Peers subscribe to it, or publish to it if `read` is not NULL. Returns NULL when out of
 * memory. */
topic *topic_open(bridge *in, const char *name, const char *type, bool is_latching, topic_reader read, void *user);

/* Closes a topic of the daemon. It stays as a topic of peers while one of them publishes or subscribes to it. */
void topic_close(bridge *in, topic *closed);

/* Handles advertise. Returns NULL, or the reason for a refusal. */
const char *topic_advertise(peer *by, const char *name, const char *type, bool is_latching);

/* Handles unadvertise. Returns NULL, or the reason for a refusal. */
const char *topic_unadvertise(peer *by, const char *name);

/* Handles publish: checks the message against its type, passes it to the topic's reader, and sends it to the
 * subscribers. Returns false and writes `error` on failure. */
bool topic_receive(peer *by, const char *name, json_t *message, char error[TOPIC_ERROR_SIZE]);

/* Handles subscribe and takes ownership of `request`. Returns NULL, or the reason for a refusal. */
const char *topic_subscribe(peer *by, const char *name, const char *type, subscribe_request *request);

/* Handles unsubscribe, of one id or of all (NULL). Returns NULL, or the reason for a refusal. */
const char *topic_unsubscribe(peer *by, const char *name, const json_t *id);

/* Removes a peer from the publishers and subscribers of all topics. */
void topics_forget_peer(bridge *in, peer *gone);

/* Offers all topics of the daemon to the dialled server. */
void topics_offer(peer *dialled);

/* Closes the topics of the daemon when the gateway stops. */
void topics_close(bridge *in);

#endif
