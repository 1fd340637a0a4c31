/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gateway with two peers, without a network or a daemon, for fuzz targets. Simulations and a stream exist as if the
 * daemon had reported them; requests of the gateway to the daemon are decoded and then refused.
 */
#ifndef DYNAMICS_TESTS_GATEWAY_BENCH_H
#define DYNAMICS_TESTS_GATEWAY_BENCH_H

#include <jansson.h>

#include "daemon_topics.h"
#include "protocol.h"

/* Numbers of coordinates and velocities of the simulation "s" and the stream "p": "a", "b", "base[0]" .. "base[6]". */
enum { GATEWAY_NQ = 9, GATEWAY_NV = 8 };

/* The gateway and its peers, whose messages remain in their queues. */
typedef struct gateway_bench {
    config config;
    uv_loop_t loop;
    bridge bridge;
    peer *peer, *other;
    event_topics events; /* without a topic for models */
} gateway_bench;

/* Prints the property and aborts the program if `holds` is false. */
void require(bool holds, const char *property);

/* Starts a gateway with two peers, the simulations "s" and "unknown", whose joints cannot be found, and the stream
 * "p". */
void gateway_bench_start(gateway_bench *b);

/* Passes a line of JSON to the gateway as a message of a peer. */
void gateway_bench_send(peer *from, const char *line);

/* Removes the first queued message of a peer, and checks that it is JSON or CBOR with a text "op". Returns it, or NULL
 * if there is none. The caller releases it. */
json_t *gateway_bench_next(peer *to);

/* Removes the peers and what belongs to them, and checks that nothing is left. */
void gateway_bench_stop(gateway_bench *b);

#endif
