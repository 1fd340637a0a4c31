/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serializes messages in the binary forms of ROS, for the compression cbor-raw.
 */
#ifndef ROSBRIDGE_ROS_SERIALIZE_H
#define ROSBRIDGE_ROS_SERIALIZE_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* Forms: ROS 1 is little-endian and packed. ROS 2 is CDR, little-endian, each number aligned to its size after a header
 * of 4 bytes. */
typedef enum ros_serialization { ROS_SERIALIZE_ROS1, ROS_SERIALIZE_CDR } ros_serialization;

/* Returns the value of an integer or a bool. A real is truncated and clamped to 64 bits. Text is an unsigned number
 * from 2^63 on (message_to_tree); the result has the bits of that number. Anything else is 0. */
json_int_t ros_whole(const json_t *value);

/* Returns the bytes of a complete message of a known type, which the caller frees, or NULL when out of memory. */
uint8_t *ros_serialize(const char *type, const json_t *message, ros_serialization how, size_t *size);

#endif
