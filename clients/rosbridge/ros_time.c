/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Creates the times in messages and converts their spelling.
 */
#include "ros_time.h"

#include <math.h>
#include <time.h>

/* Largest number of seconds that a double states exactly. */
static const double MOST_SECONDS = 9007199254740992;

json_t *ros_time_now(bool is_ros1) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return json_pack("{sI sI}", is_ros1 ? "secs" : "sec", (json_int_t)now.tv_sec, is_ros1 ? "nsecs" : "nanosec",
                     (json_int_t)now.tv_nsec);
}

json_t *ros_time(double seconds) {
    seconds = fabs(seconds) < MOST_SECONDS ? seconds : 0;
    double whole = floor(seconds);
    json_int_t nanoseconds = llround(1e9 * (seconds - whole)), carry = nanoseconds / 1000000000;
    return json_pack("{sI sI}", "sec", (json_int_t)whole + carry, "nanosec", nanoseconds - carry * 1000000000);
}

json_t *ros_time_to_ros1(const json_t *message) {
    json_t *sec = json_object_get(message, "sec"), *nanosec = json_object_get(message, "nanosec");
    if (sec && nanosec && json_object_size(message) == 2) {
        return json_pack("{sO sO}", "secs", sec, "nsecs", nanosec);
    }
    if (json_is_object(message)) {
        json_t *copy = json_object();
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)message, key, value) {
            json_object_set_new(copy, key, ros_time_to_ros1(value));
        }
        return copy;
    }
    if (!json_is_array(message) ||
        !(json_is_object(json_array_get(message, 0)) || json_is_array(json_array_get(message, 0)))) {
        return json_incref((json_t *)message);
    }
    json_t *copy = json_array();
    for (size_t i = 0; i < json_array_size(message); i++) {
        json_array_append_new(copy, ros_time_to_ros1(json_array_get(message, i)));
    }
    return copy;
}
