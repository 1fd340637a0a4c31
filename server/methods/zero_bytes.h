/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zero bytes in strings. A decoded string is C text, which such a byte would end: what follows it would be lost, and
 * two different names would be one.
 */
#ifndef SERVER_METHODS_ZERO_BYTES_H
#define SERVER_METHODS_ZERO_BYTES_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Looks for a string with a zero byte in a serialized message of that type, and writes its field's path, such as
 * "inverse_dynamics.joint_names[2]". False where there is none. Bytes that are no message are left to the decoder. */
bool zero_bytes_find(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t size, char *path,
                     size_t path_size);

#endif
