/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times in messages: {sec, nanosec} in ROS 2, {secs, nsecs} in ROS 1. Inside they have the spelling of ROS 2.
 */
#ifndef ROSBRIDGE_ROS_TIME_H
#define ROSBRIDGE_ROS_TIME_H

#include <stdbool.h>

#include <jansson.h>

/* The present time; `is_ros1` chooses the spelling. */
json_t *ros_time_now(bool is_ros1);

/* Seconds since 1970 as a time. */
json_t *ros_time(double seconds);

/* A copy of a message with the times of ROS 1. */
json_t *ros_time_to_ros1(const json_t *message);

#endif
