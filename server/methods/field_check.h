/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Check for fields of a serialized message that decoding would lose. An unknown field is part of a request that this
 * daemon cannot answer: a client that is newer than the daemon must not mistake the reply to another request for its
 * own. A string with a zero byte ends there in C: two different names would become equal.
 */
#ifndef SERVER_METHODS_FIELD_CHECK_H
#define SERVER_METHODS_FIELD_CHECK_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum field_problem { FIELD_FITS, FIELD_IS_UNKNOWN, FIELD_HAS_ZERO_BYTE } field_problem;

/* Finds the first such field in a serialized message of that type. Writes the path of the string, such as
 * "inverse_dynamics.query.joint_names[2]", or of the message with the unknown field, which is empty for the outer one,
 * and the unknown field's number. Skips the numbers of packed fields, so that the cost depends on the count of messages
 * and strings. Leaves bytes that are no message to the decoder. `path_size` is at least 1. */
field_problem field_check_find(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t size, char *path,
                               size_t path_size, uint32_t *number);

/* Room for the description of an unknown field. */
enum { UNKNOWN_FIELD_SIZE = 320 };

/* Checks a message of a file for unknown fields. Returns true if there is one, and describes it with its path
 * and number. */
bool field_check_later(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t size,
                       char text[UNKNOWN_FIELD_SIZE]);

#endif
