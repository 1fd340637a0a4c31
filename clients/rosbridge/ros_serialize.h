/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages in the binary forms of ROS, for the compression cbor-raw.
 */
#ifndef ROSBRIDGE_ROS_SERIALIZE_H
#define ROSBRIDGE_ROS_SERIALIZE_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* ROS 1: little-endian, packed. ROS 2: CDR, little-endian, each number aligned to its size after a head of 4 bytes. */
typedef enum ros_serialization { ROS_SERIALIZE_ROS1, ROS_SERIALIZE_CDR } ros_serialization;

/* The value of an integer or a bool; a real is cut, to a 64-bit integer at most. 0 for anything else. */
json_int_t ros_whole(const json_t *value);

/* The bytes, to be freed, of a complete message of a known type; NULL when out of memory. */
uint8_t *ros_serialize(const char *type, const json_t *message, ros_serialization how, size_t *size);

#endif
