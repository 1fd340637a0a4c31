/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Delivers a message to the subscribers of its topic.
 */
#ifndef ROSBRIDGE_PUBLICATION_H
#define ROSBRIDGE_PUBLICATION_H

#include "topic.h"

/* Sends a message to one subscription now, whatever its throttle. */
void publication_send_one(const topic *of, subscription *to, json_t *message);

/* Sends a message to all subscribers. Times are in the spelling of ROS 2; `message` is only read;
 * NULL, out of memory: sends nothing. */
void topic_publish(bridge *in, topic *to, json_t *message);

/* Sends the delayed messages that are due. Returns the time of the next one, or infinity. */
double topics_flush(bridge *in, double now);

#endif
