/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Topic /rosout: log of the gateway in the type that a ROS of the configured version has. Foxglove determines the
 * version of ROS by it.
 */
#ifndef ROSBRIDGE_ROSOUT_H
#define ROSBRIDGE_ROSOUT_H

#include "bridge.h"

typedef enum rosout_level { ROSOUT_INFO, ROSOUT_WARN, ROSOUT_ERROR } rosout_level;

/* Opens the topic. Returns false when out of memory. */
bool rosout_open(bridge *in);

/* Publishes a line. */
void rosout_publish(bridge *in, rosout_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
