/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Describes message types for clients: as rosapi does, and as text.
 *
 * Functions accept types in the spelling of either version of ROS. `version` is that of the result: ROS 1 has the
 * primitives time and duration, and a sequence number in std_msgs/Header.
 */
#ifndef ROSBRIDGE_ROS_DETAILS_H
#define ROSBRIDGE_ROS_DETAILS_H

#include <jansson.h>

/* Returns the typedefs of rosapi: an array of {type, fieldnames, fieldtypes, fieldarraylen, examples, constnames,
 * constvalues} for the type and each type in it. The array is empty if the type is not known. */
json_t *ros_type_details(const char *type, unsigned long version);

/* Returns the text of a type and of each type in it, in the form of a .msg file, as a string. */
json_t *ros_definition_text(const char *type, unsigned long version);

#endif
