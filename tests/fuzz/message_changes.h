/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changes of protobuf messages, described by bytes. A changed message can always be packed: its framing is valid, and
 * errors lie inside.
 */
#ifndef DYNAMICS_TESTS_MESSAGE_CHANGES_H
#define DYNAMICS_TESTS_MESSAGE_CHANGES_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that decide; zeros follow the last one. */
typedef struct decisions {
    const uint8_t *bytes;
    size_t left;
} decisions;

/* Returns a number from 0 to count - 1; 0 where count is 0. */
size_t decide(decisions *d, size_t count);

/* Changes one field of a message, or of a nested one: a value becomes another one, often a special one; an array
 * becomes shorter or longer; a nested message is removed or repeated. malloc owns all memory. */
void change_message(decisions *d, ProtobufCMessage *message);

#endif
