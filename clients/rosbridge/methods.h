/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The methods of the daemon as services: /dynamics/inverse_dynamics of the type dynamics_msgs/srv/InverseDynamics, and
 * so on for each method of the wire contract, found in its descriptors.
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

/* A method is its field in the envelope of requests. */
typedef const ProtobufCFieldDescriptor *method;

/* Method `index` of method_count; methods with no service name are none. */
size_t method_count(void);
method method_get(size_t index);

/* The method of a service "/dynamics/inverse_dynamics"; NULL: none. */
method method_find(const char *service);

/* "/dynamics/inverse_dynamics", and "InverseDynamics". */
void method_service(method of, char service[METHOD_NAME_SIZE]);
void method_type(method of, char type[METHOD_NAME_SIZE]);
const ProtobufCMessageDescriptor *method_request(method of);
const ProtobufCMessageDescriptor *method_reply(method of);

/* Serializes a request with these arguments: an object with the fields of the request, or an array of their values in
 * order; sensor_msgs/JointState as in joint_state.h, with `joints` where that asks for them, or NULL. The block is
 * freed by the caller. NULL: `error` is a sentence that begins with the path "args...". `progress` is the number under
 * which the daemon publishes the request's progress, or 0. May change `arguments`. */
uint8_t *method_pack(method of, json_t *arguments, const coordinates *joints, uint64_t progress, size_t *size,
                     char error[METHOD_ERROR_SIZE]);

/* The result in a serialized reply, freed with protobuf_c_message_free_unpacked. NULL: `error` is what the daemon
 * refused, with its fields as "args...". */
ProtobufCMessage *method_unpack(method of, const uint8_t *bytes, size_t size, char error[METHOD_ERROR_SIZE]);

#endif
