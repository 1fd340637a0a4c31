/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * WebSockets: the only file that includes libwebsockets is websocket.c.
 */
#ifndef ROSBRIDGE_WEBSOCKET_H
#define ROSBRIDGE_WEBSOCKET_H

#include "bridge.h"

typedef struct websocket websocket;

/* Listens, and dials, as the configuration says. NULL: `error`, of CONFIG_ERROR_SIZE, says why. */
websocket *websocket_start(bridge *of, char *error);

/* The port that is listened on; 0: none. */
unsigned websocket_port(const websocket *of);

/* Dials again if the connection that was dialled is lost. */
void websocket_check(websocket *checked, double now);

/* Closes all connections; then, when the event loop has run to its end, frees. */
void websocket_stop(websocket *stopped);
void websocket_free(websocket *freed);

#endif
