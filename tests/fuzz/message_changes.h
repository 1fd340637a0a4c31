/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changes fields of protobuf messages as bytes of a fuzzer choose. A changed message can always be packed; only its
 * values may be invalid.
 */
#ifndef DYNAMICS_TESTS_MESSAGE_CHANGES_H
#define DYNAMICS_TESTS_MESSAGE_CHANGES_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that choose the changes, and their number. Reads beyond the last byte return zeros. */
typedef struct decisions {
    const uint8_t *bytes;
    size_t left;
} decisions;

/* Consumes bytes and returns a number from 0 to count - 1, or 0 if count is 0. Consumes none if count is 0 or 1. */
size_t decide(decisions *d, size_t count);

/* Changes one field of a message, or of a nested message: replaces a number or a text by a special one, inverts a bool,
 * shortens or lengthens an array, or removes a nested message that is not in a oneof. A message without values remains
 * the same. The message and its contents must come from malloc, as protobuf_c_message_unpack allocates them. */
void change_message(decisions *d, ProtobufCMessage *message);

#endif
