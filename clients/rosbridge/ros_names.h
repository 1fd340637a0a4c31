/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of ROS: "pkg/Type" of ROS 1 and "pkg/msg/Type" of ROS 2 mean the same; names of services and topics are taken
 * with and without the leading slash.
 */
#ifndef ROSBRIDGE_ROS_NAMES_H
#define ROSBRIDGE_ROS_NAMES_H

#include <stdbool.h>

enum { ROS_NAME_SIZE = 256 };

/* Copies a name of a topic, service or action with a leading slash. False: it is no name (empty, too long, or has
 * characters other than letters, digits, '_', '/', '~' and '-'). */
bool ros_name_normalize(const char *name, char normalized[ROS_NAME_SIZE]);

/* Writes a type in the spelling of ROS 2; `kind` is "msg", "srv" or "action". What is no type is copied as it is. */
void ros_type_normalize(const char *type, const char *kind, char normalized[ROS_NAME_SIZE]);

/* Writes a type of the spelling of ROS 2 in that of a version of ROS. */
void ros_type_spelling(const char *type, unsigned long version, char spelled[ROS_NAME_SIZE]);

/* Letters, digits, '_' and '/' alone, and not too many of them? An empty one, which is not told, is sound. */
bool ros_type_is_sound(const char *type);

/* Has a type the spelling of ROS 2? */
bool ros_type_is_ros2(const char *type);

#endif
