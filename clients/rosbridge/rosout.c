/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens the topic /rosout and publishes lines on it.
 */
#include "rosout.h"

#include <stdarg.h>
#include <stdio.h>

#include "json_text.h"
#include "ros_time.h"
#include "topics.h"

static const char name[] = "/rosout";

bool rosout_open(bridge *in) {
    const char *type = in->config->ros_version == 1 ? "rosgraph_msgs/msg/Log" : "rcl_interfaces/msg/Log";
    return topic_open(in, name, type, true, NULL, NULL) != NULL;
}

void rosout_publish(bridge *in, rosout_level level, const char *format, ...) {
    static const int levels[2][3] = {{2, 4, 8}, {20, 30, 40}}; /* by version: INFO, WARN, ERROR */
    bool is_ros1 = in->config->ros_version == 1;
    topic *to = topic_find(in, name);
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_t *message = json_pack("{si ss so ss ss si}", "level", levels[!is_ros1][level], "name", "dynamics_rosbridge",
                                "msg", json_text(text), "file", "", "function", "", "line", 0);
    if (is_ros1) {
        json_object_set_new(message, "header", json_pack("{so ss}", "stamp", ros_time_now(false), "frame_id", ""));
        json_object_set_new(message, "topics", json_array());
    } else {
        json_object_set_new(message, "stamp", ros_time_now(false));
    }
    if (to && message) {
        topic_publish(in, to, message);
    }
    json_decref(message);
}
