/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Topics of the daemon, and topics between peers.
 *
 * Each subscriber receives messages at its own rate and in its own encoding. Each encoding is made once.
 */
#ifndef ROSBRIDGE_TOPICS_H
#define ROSBRIDGE_TOPICS_H

#include "publication.h"

topic *topic_find(bridge *in, const char *name);

/* Opens a topic of the daemon. Peers read it, or write it if `read` is not NULL. Returns NULL when out of memory. */
topic *topic_open(bridge *in, const char *name, const char *type, bool is_latching, topic_reader read, void *user);
void topic_close(bridge *in, topic *closed);

/* Handles advertise and unadvertise. Returns NULL, or the reason for a refusal. */
const char *topic_advertise(peer *by, const char *name, const char *type, bool is_latching);
const char *topic_unadvertise(peer *by, const char *name);

/* Handles publish: checks the message against its type. Returns false and `error` on failure. */
bool topic_receive(peer *by, const char *name, json_t *message, char error[TOPIC_ERROR_SIZE]);

/* Handles subscribe, which takes ownership of `request`, and unsubscribe, of one id or of all (NULL). Returns NULL, or
 * the reason for a refusal. */
const char *topic_subscribe(peer *by, const char *name, const char *type, subscribe_request *request);
const char *topic_unsubscribe(peer *by, const char *name, const json_t *id);

void topics_forget_peer(bridge *in, peer *gone);

/* Offers all topics of the daemon to the dialled server. */
void topics_offer(peer *dialled);

void topics_close(bridge *in);

#endif
