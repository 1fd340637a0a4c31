/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers the services of rosapi, by which clients discover topics, services and types.
 */
#ifndef ROSBRIDGE_ROSAPI_H
#define ROSBRIDGE_ROSAPI_H

#include "peer.h"

enum { ROSAPI_ERROR_SIZE = 256 };

typedef struct rosapi_service rosapi_service;

/* Returns the service of a name such as "/rosapi/topics", or NULL. */
const rosapi_service *rosapi_find(const char *name);

/* Returns the values of the response, or NULL and writes an error. `arguments` may be NULL, an object or an array. */
json_t *rosapi_call(const rosapi_service *called, bridge *of, const json_t *arguments, char error[ROSAPI_ERROR_SIZE]);

#endif
