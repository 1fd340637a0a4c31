/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks serialized messages for fields that decoding would lose. An unknown field is part of a request that this
 * daemon cannot answer: a client that is newer than the daemon must not mistake the reply to another request for its
 * own. A string with a zero byte ends there in C: two different names would become equal.
 */
#ifndef SERVER_METHODS_FIELD_CHECK_H
#define SERVER_METHODS_FIELD_CHECK_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Result of a check: no problem, a field that the message type does not have, or a string with a zero byte. */
typedef enum field_problem { FIELD_FITS, FIELD_IS_UNKNOWN, FIELD_HAS_ZERO_BYTE } field_problem;

/* Finds the first unknown field, or string with a zero byte, in a serialized message of that type. Writes the path of
 * the string, such as "inverse_dynamics.query.joint_names[2]", or of the message with the unknown field, which is empty
 * for the outer one; sets `number` to the number of the unknown field. Returns FIELD_FITS if there is none, and for
 * bytes that are no message, which the decoder refuses. Skips the numbers of packed fields, so that the cost depends on
 * the count of messages and strings. `path_size` is at least 1. */
field_problem field_check_find(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t size, char *path,
                               size_t path_size, uint32_t *number);

/* Size of the text that describes an unknown field, in bytes. */
enum { UNKNOWN_FIELD_SIZE = 320 };

/* Checks a message of a file for fields that only a later release knows. Returns true if there is an unknown field, and
 * describes it in `text` with its path and number. Ignores strings with a zero byte. */
bool field_check_later(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t size,
                       char text[UNKNOWN_FIELD_SIZE]);

#endif
