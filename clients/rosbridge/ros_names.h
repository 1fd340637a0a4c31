/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of ROS. "pkg/Type" of ROS 1 and "pkg/msg/Type" of ROS 2 are the same type. Names of services and topics are
 * accepted with and without the leading slash.
 */
#ifndef ROSBRIDGE_ROS_NAMES_H
#define ROSBRIDGE_ROS_NAMES_H

#include <stdbool.h>

enum { ROS_NAME_SIZE = 256 };

/* Copies a name of a topic, service or action with a leading slash. Returns false for an invalid name (empty, too long,
 * or with characters other than letters, digits, '_', '/', '~' and '-'). */
bool ros_name_normalize(const char *name, char normalized[ROS_NAME_SIZE]);

/* Writes a type in the spelling of ROS 2; `kind` is "msg", "srv" or "action". Text that is no type is copied unchanged.
 */
void ros_type_normalize(const char *type, const char *kind, char normalized[ROS_NAME_SIZE]);

/* Converts a type from the spelling of ROS 2 to that of a version of ROS. */
void ros_type_spelling(const char *type, unsigned long version, char spelled[ROS_NAME_SIZE]);

/* Returns true for a type that has only letters, digits, '_' and '/', and fits ROS_NAME_SIZE in every spelling. An
 * empty type means that none is stated, and is valid. */
bool ros_type_is_sound(const char *type);

/* Returns true for a type in the spelling of ROS 2. */
bool ros_type_is_ros2(const char *type);

#endif
