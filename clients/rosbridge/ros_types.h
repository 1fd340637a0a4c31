/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Definitions of message types: those of ROS that the gateway speaks, and dynamics_msgs, whose types come from the
 * descriptors of the wire contract.
 *
 * Types are named in the spelling of ROS 2: "sensor_msgs/msg/JointState", and the two halves of a service
 * "dynamics_msgs/srv/InverseDynamics_Request" and "..._Response".
 *
 * A message of the contract becomes one of dynamics_msgs with the same fields. ROS has no absent fields, so what may be
 * absent in a request (messages, also in messages that only requests have), and members of a oneof, are sequences of at
 * most one. Enums are strings. Vector3, Quaternion and Pose are those of geometry_msgs. A message with the name of a
 * service has "Data" appended: ROS 1 has one name, and one header of C++, for both. A request that takes JointState
 * has the field joint_state.
 */
#ifndef ROSBRIDGE_ROS_TYPES_H
#define ROSBRIDGE_ROS_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "ros_names.h"

enum { ROS_SEQUENCE = -1, ROS_AT_MOST_ONE = -2 };

typedef struct ros_field {
    char name[96];
    char type[ROS_NAME_SIZE]; /* "float64", or the type of a message */
    int length;               /* 0: one value; ROS_SEQUENCE; or ROS_AT_MOST_ONE: a sequence of at most one */
    const ProtobufCEnumDescriptor *words; /* allowed strings; NULL: any */
} ros_field;

/* Reads field `index` of a type. Returns false past the last field, or if the type is not known. */
bool ros_type_field(const char *type, size_t index, ros_field *field);
bool ros_type_is_known(const char *type);

/* Returns the constants of a type as lines of a .msg file, or "" if it has none. */
const char *ros_type_constants(const char *type);

/* Returns true for a primitive type, such as float64, uint8 or string. */
bool ros_type_is_primitive(const char *type);

/* Writes the type of a message of the contract. */
void ros_message_type(const ProtobufCMessageDescriptor *message, char type[ROS_NAME_SIZE]);

/* Reads field `index` of a message of the contract. In a request (`is_request`), messages may be absent. Returns false
 * past the last field. */
bool ros_message_field(const ProtobufCMessageDescriptor *message, bool is_request, size_t index, ros_field *field);

/* Checks a message against its type and completes it: missing fields get defaults, and a missing stamp gets the present
 * time. Times may be in either spelling or "now"; arrays may be objects with index keys. Messages of unknown types are
 * accepted unchanged. Returns false on failure; `error`, of TOPIC_ERROR_SIZE, then begins with the path below `root`.
 */
bool ros_complete(const char *type, json_t *message, const char *root, char *error);

#endif
