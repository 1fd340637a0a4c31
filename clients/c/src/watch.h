/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watch over a connection that is open already.
 */
#ifndef CLIENT_WATCH_H
#define CLIENT_WATCH_H

#include "one_way.h"

/* Returns a watch that receives the messages of two topics from `socket` (NULL: set later) and closes it at its end, or
 * NULL when out of memory. */
dyn_client_watch *watch_of(one_way *socket, const char *data_topic, const char *event_topic);

#endif
