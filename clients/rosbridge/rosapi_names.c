/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists the names and types of the services of rosapi.
 */
#include "rosapi_names.h"

#include <stdio.h>

#define ROSAPI_SERVICE(name, argument, type, function) {#name, #type},
static const struct {
    const char *name, *type;
} services[] = {
#include "rosapi_services.inc"
};
#undef ROSAPI_SERVICE

const char *rosapi_name(size_t index, char type[ROSAPI_TYPE_SIZE]) {
    if (index >= sizeof services / sizeof services[0]) {
        return NULL;
    }
    snprintf(type, ROSAPI_TYPE_SIZE, "rosapi_msgs/srv/%s", services[index].type);
    return services[index].name;
}
