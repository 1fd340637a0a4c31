/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changes of protobuf messages that bytes describe. A changed message can always be packed: its framing is valid, and
 * what is wrong lies inside.
 */
#ifndef DYNAMICS_TESTS_MESSAGE_CHANGES_H
#define DYNAMICS_TESTS_MESSAGE_CHANGES_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that decide. After the last one come zeros. */
typedef struct decisions {
    const uint8_t *bytes;
    size_t left;
} decisions;

/* A number from 0 to count - 1; 0 where count is 0. */
size_t decide(decisions *d, size_t count);

/* Changes one field of a message, or of one inside it: a value becomes another one, often a special one; an array
 * becomes shorter or longer; a message inside is removed or repeated. All memory is malloc's. */
void change_message(decisions *d, ProtobufCMessage *message);

#endif
