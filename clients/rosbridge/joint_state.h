/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sensor_msgs/JointState as the state of a robot in arguments.
 *
 * A request that has the fields query and q takes, in place of query.joint_names, q, v and tau, the argument
 * "joint_state": one JointState or an array of them, one a sample; or the arguments are themselves one JointState.
 *
 *   name      query.joint_names: every moving joint once, in any order. It is the order of the reply too. Later states
 *             of an array may have another order; they are brought into that of the first.
 *   position  q, a number for each name.
 *   velocity  v, a number for each name; empty or missing: zeros.
 *   effort    tau where the request has that field; empty or missing: zeros. Else it is not used.
 *   header    not used.
 *
 * Where joints of the model have several coordinates, the names are those of coordinates.h, "root_joint[0]" and on;
 * rows and the reply are in the model's own order then.
 */
#ifndef ROSBRIDGE_JOINT_STATE_H
#define ROSBRIDGE_JOINT_STATE_H

#include <stdbool.h>

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "coordinates.h"

/* Does a request of this type take JointState? */
bool joint_state_is_taken(const ProtobufCMessageDescriptor *type);

/* Returns whether a name in it ends in a number, as "root_joint[0]", so that the joints of the model must be known. */
bool joint_state_has_parts(const ProtobufCMessageDescriptor *type, const json_t *arguments);

/* The query of a request as an object, of which a ROS message has a sequence. */
const json_t *joint_state_query(const json_t *given);

/* Replaces JointState in named arguments by the request's own fields. `joints`: of the model, or NULL. False: `error`,
 * of METHOD_ERROR_SIZE, begins with the path "args...". */
bool joint_state_take(const ProtobufCMessageDescriptor *type, json_t *arguments, const coordinates *joints,
                      char *error);

#endif
