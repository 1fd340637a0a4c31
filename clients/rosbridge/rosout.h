/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishes the log of the gateway on the topic /rosout, in the type that a ROS of the configured version has. Foxglove
 * determines the version of ROS by that type.
 */
#ifndef ROSBRIDGE_ROSOUT_H
#define ROSBRIDGE_ROSOUT_H

#include "bridge.h"

typedef enum rosout_level { ROSOUT_INFO, ROSOUT_WARN, ROSOUT_ERROR } rosout_level;

/* Opens the topic. Returns false when out of memory. */
bool rosout_open(bridge *in);

/* Publishes one line, printf-style. */
void rosout_publish(bridge *in, rosout_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
