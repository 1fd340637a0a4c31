/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the WebSockets of the gateway: the listening server and the dialled connection. Only websocket.c includes
 * libwebsockets.
 */
#ifndef ROSBRIDGE_WEBSOCKET_H
#define ROSBRIDGE_WEBSOCKET_H

#include "bridge.h"

typedef struct websocket websocket;

/* Listens and dials as configured. On failure returns false, and `error`, of CONFIG_ERROR_SIZE, names the cause. The
 * caller stops and frees *started, which may be NULL, in either case. */
bool websocket_start(bridge *of, websocket **started, char *error);

/* Returns the listening port, or 0 if there is none. */
unsigned websocket_port(const websocket *of);

/* Dials the configured server if there is no connection to it and dial.interval has passed since the last attempt. */
void websocket_check(websocket *checked, double now);

/* Closes all connections. Their memory is freed by websocket_free. `stopped` may be NULL. */
void websocket_stop(websocket *stopped);

/* Frees the WebSockets after the event loop has ended. `freed` may be NULL. */
void websocket_free(websocket *freed);

#endif
