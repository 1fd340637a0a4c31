/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Topics: of the daemon, and of peers among themselves.
 *
 * Each subscriber receives messages at its own pace and in its own encoding. Each encoding is made once.
 */
#ifndef ROSBRIDGE_TOPICS_H
#define ROSBRIDGE_TOPICS_H

#include "publication.h"

topic *topic_find(bridge *in, const char *name);

/* Opens an own topic: one that peers read, or write where `read` is not NULL. NULL when out of memory. */
topic *topic_open(bridge *in, const char *name, const char *type, bool is_latching, topic_reader read, void *user);
void topic_close(bridge *in, topic *closed);

/* advertise, unadvertise: NULL, or a sentence about why not. */
const char *topic_advertise(peer *by, const char *name, const char *type, bool is_latching);
const char *topic_unadvertise(peer *by, const char *name);

/* publish: checks the message against its type. False: `error`. */
bool topic_take(peer *by, const char *name, json_t *message, char error[TOPIC_ERROR_SIZE]);

/* subscribe; takes `request`. unsubscribe: of one id, or of all (NULL). NULL, or a sentence. */
const char *topic_subscribe(peer *by, const char *name, const char *type, subscribe_request *request);
const char *topic_unsubscribe(peer *by, const char *name, const json_t *id);

void topics_forget_peer(bridge *in, peer *gone);

/* Offers all own topics to a server that was dialled. */
void topics_offer(peer *dialled);

void topics_close(bridge *in);

#endif
