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

/* Closes all connections. */
void websocket_stop(websocket *stopped);

#endif
