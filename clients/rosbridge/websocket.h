/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * WebSockets. Only websocket.c includes libwebsockets.
 */
#ifndef ROSBRIDGE_WEBSOCKET_H
#define ROSBRIDGE_WEBSOCKET_H

#include "bridge.h"

typedef struct websocket websocket;

/* Listens and dials as configured. On failure returns NULL, and `error`, of CONFIG_ERROR_SIZE, names the cause. */
websocket *websocket_start(bridge *of, char *error);

/* Returns the listening port, or 0 if there is none. */
unsigned websocket_port(const websocket *of);

/* Dials again if the dialled connection is lost. */
void websocket_check(websocket *checked, double now);

/* Closes all connections. websocket_free frees them after the event loop has ended. */
void websocket_stop(websocket *stopped);
void websocket_free(websocket *freed);

#endif
