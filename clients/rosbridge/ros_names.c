/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks names and types of ROS, and converts between their spellings.
 */
#include "ros_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool ros_name_normalize(const char *name, char normalized[ROS_NAME_SIZE]) {
    size_t length = strlen(name);
    if (length == 0 || length > ROS_NAME_SIZE - 2) {
        return false;
    }
    for (const char *c = name; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c) && !strchr("_/~-", *c)) {
            return false;
        }
    }
    snprintf(normalized, ROS_NAME_SIZE, "%s%s", name[0] == '/' ? "" : "/", name);
    return true;
}

bool ros_type_is_sound(const char *type) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/";
    size_t length = strspn(type, allowed);
    return type[length] == '\0' && length < ROS_NAME_SIZE - sizeof "/action/";
}

bool ros_type_is_ros2(const char *type) {
    const char *slash = strchr(type, '/');
    return slash && strchr(slash + 1, '/') != NULL;
}

void ros_type_normalize(const char *type, const char *kind, char normalized[ROS_NAME_SIZE]) {
    const char *slash = strchr(type, '/');
    if (!slash || ros_type_is_ros2(type)) {
        snprintf(normalized, ROS_NAME_SIZE, "%s", type);
    } else {
        snprintf(normalized, ROS_NAME_SIZE, "%.*s/%s%s", (int)(slash - type), type, kind, slash);
    }
}

void ros_type_spelling(const char *type, unsigned long version, char spelled[ROS_NAME_SIZE]) {
    const char *slash = strchr(type, '/');
    if (version == 2 || !slash || !ros_type_is_ros2(type)) {
        snprintf(spelled, ROS_NAME_SIZE, "%s", type);
    } else {
        snprintf(spelled, ROS_NAME_SIZE, "%.*s%s", (int)(slash - type), type, strrchr(type, '/'));
    }
}
