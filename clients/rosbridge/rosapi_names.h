/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists the names and types of the services of rosapi.
 */
#ifndef ROSBRIDGE_ROSAPI_NAMES_H
#define ROSBRIDGE_ROSAPI_NAMES_H

#include <stddef.h>

enum { ROSAPI_TYPE_SIZE = 96 };

/* Returns the name of service `index` without "/rosapi/" and stores its type. Returns NULL past the last service. */
const char *rosapi_name(size_t index, char type[ROSAPI_TYPE_SIZE]);

#endif
