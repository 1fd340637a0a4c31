/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bare WebSocket client for measurements: text messages to a server on this machine, without TLS.
 */
#ifndef DYNAMICS_BENCH_WEB_CLIENT_H
#define DYNAMICS_BENCH_WEB_CLIENT_H

#include <stddef.h>

typedef struct web_client web_client;

/* Connects to a server at the port of this machine. Ends the benchmark where that fails. */
web_client *web_client_connect(unsigned port);
void web_client_close(web_client *closed);

void web_client_send(web_client *to, const char *text, size_t size);

/* Waits for the next text or binary message, and answers pings meanwhile. The bytes of the message are valid until the
 * next call. */
const char *web_client_receive(web_client *from, size_t *size);

#endif
