/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Methods of the daemon as services. Each method of the wire contract is found in its descriptors: for example
 * /dynamics/inverse_dynamics of the type dynamics_msgs/srv/InverseDynamics.
 */
#ifndef ROSBRIDGE_METHODS_H
#define ROSBRIDGE_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "coordinates.h"
#include "method_error.h"

#define METHOD_PREFIX "/dynamics/"
#define MESSAGE_PACKAGE "dynamics_msgs"

enum { METHOD_NAME_SIZE = 96 };

/* Method of the daemon: its field in the envelope of requests. */
typedef const ProtobufCFieldDescriptor *method;

/* Returns the number of methods. Fields of the envelope without a service name are not counted. */
size_t method_count(void);

/* Returns the method of an index, or NULL for an index from method_count() on. */
method method_get(size_t index);

/* Returns the method of a service such as "/dynamics/inverse_dynamics", or NULL. */
method method_find(const char *service);

/* Writes the service of a method, such as "/dynamics/inverse_dynamics". */
void method_service(method of, char service[METHOD_NAME_SIZE]);

/* Writes the type of a method, such as "InverseDynamics": the name of its request's message without "Request". */
void method_type(method of, char type[METHOD_NAME_SIZE]);
const ProtobufCMessageDescriptor *method_request(method of);
const ProtobufCMessageDescriptor *method_reply(method of);

/* Serializes a request. `arguments` is an object with the fields of the request, or an array of their values in order;
 * sensor_msgs/JointState is accepted as in joint_state.h, with `joints` where that requires them, or NULL. `progress`
 * is the number under which the daemon publishes the request's progress, or 0. May change `arguments`. The caller frees
 * the block. On failure returns NULL, and `error` is a sentence that begins with the path "args...". */
uint8_t *method_pack(method of, json_t *arguments, const coordinates *joints, uint64_t progress, size_t *size,
                     char error[METHOD_ERROR_SIZE]);

/* Returns the result in a serialized reply, freed with protobuf_c_message_free_unpacked. On failure returns NULL, and
 * `error` holds the daemon's refusal with its fields as "args...". */
ProtobufCMessage *method_unpack(method of, const uint8_t *bytes, size_t size, char error[METHOD_ERROR_SIZE]);

#endif
