/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts sensor_msgs/JointState in arguments to the state of a robot.
 *
 * A request that has the fields query and q accepts, in place of query.joint_names, q, v and tau, the argument
 * "joint_state": one JointState or an array of them, one a sample. The arguments may also be one JointState themselves.
 *
 *   name      query.joint_names: every moving joint once, in any order, which is that of the reply too. Later states of
 *             an array may have another order; their values are brought into the order of the first state.
 *   position  q, a number for each name.
 *   velocity  v, a number for each name; empty or missing: zeros.
 *   effort    tau where the request has that field; empty or missing: zeros. Else it is not used.
 *   header    not used.
 *
 * With the argument "ignore_extra_joints": true, names that are none of the model's are left out with their values,
 * such as those of a gripper in the states of a whole robot. Otherwise they are refused.
 *
 * If joints of the model have several coordinates, the names are those of coordinates.h, such as "root_joint[0]". Rows
 * and the reply are then in the model's own order.
 */
#ifndef ROSBRIDGE_JOINT_STATE_H
#define ROSBRIDGE_JOINT_STATE_H

#include <stdbool.h>

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "coordinates.h"
#include "method_error.h"

/* Returns true if a request of this type accepts JointState. */
bool joint_state_is_accepted(const ProtobufCMessageDescriptor *type);

enum { JOINT_STATE_PATH_SIZE = 64 };

/* Writes the path of the names in the arguments, such as "args.joint_state.name", or "" if they hold no JointState. */
void joint_state_path(const ProtobufCMessageDescriptor *type, const json_t *arguments,
                      char path[JOINT_STATE_PATH_SIZE]);

/* Replaces the path of query.joint_names at the beginning of an error by `path`, unless that is "". */
void joint_state_rename(const char *path, char error[METHOD_ERROR_SIZE]);

/* Returns true if the conversion needs the joints of the model: a name in the arguments ends in a number, such as
 * "root_joint[0]", or extra joints are ignored. */
bool joint_state_needs_joints(const ProtobufCMessageDescriptor *type, const json_t *arguments);

/* Returns the query of a request as an object: `query` itself, or its only element if it is an array, as in messages of
 * ROS. */
const json_t *joint_state_query(const json_t *query);

/* Replaces JointState in named arguments by the request's own fields. `joints` are those of the model, or NULL. Returns
 * false on failure; `error`, of METHOD_ERROR_SIZE, then begins with the path "args...". */
bool joint_state_convert(const ProtobufCMessageDescriptor *type, json_t *arguments, const coordinates *joints,
                         char *error);

#endif
