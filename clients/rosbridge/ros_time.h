/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times in messages: {sec, nanosec} in ROS 2, {secs, nsecs} in ROS 1. The gateway uses the spelling of ROS 2
 * internally.
 */
#ifndef ROSBRIDGE_ROS_TIME_H
#define ROSBRIDGE_ROS_TIME_H

#include <stdbool.h>

#include <jansson.h>

/* Returns the present time, in the spelling of ROS 1 or ROS 2. */
json_t *ros_time_now(bool is_ros1);

/* Returns seconds since 1970 as a time; zero for a number that is not finite or beyond 2^53. */
json_t *ros_time(double seconds);

/* Returns a copy of a message with the times of ROS 1. */
json_t *ros_time_to_ros1(const json_t *message);

#endif
