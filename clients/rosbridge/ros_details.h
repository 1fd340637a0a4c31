/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Definitions of types for others: as rosapi tells them, and as text.
 */
#ifndef ROSBRIDGE_ROS_DETAILS_H
#define ROSBRIDGE_ROS_DETAILS_H

#include <jansson.h>

/* Types may come in the spelling of either version of ROS. What is told is of the version given: ROS 1 has the
 * primitives time and duration, and a number at the head of std_msgs/Header. */

/* rosapi's typedefs: an array of {type, fieldnames, fieldtypes, fieldarraylen, examples, constnames, constvalues} for
 * the type and each type in it. Empty: the type is not known. */
json_t *ros_type_details(const char *type, unsigned long version);

/* The text of a type and of each type in it, in the form of a .msg file, as a string. */
json_t *ros_definition_text(const char *type, unsigned long version);

#endif
