/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message on its way to the subscribers of its topic.
 */
#ifndef ROSBRIDGE_PUBLICATION_H
#define ROSBRIDGE_PUBLICATION_H

#include "topics.h"

/* Sends a message to one subscription now, whatever its throttle. */
void publication_send_one(const topic *of, subscription *to, json_t *message);

#endif
