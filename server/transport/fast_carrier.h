/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Carrier of fast channels: a unix socket beside each ipc endpoint for requests, and the channels that clients have
 * opened. One thread accepts connections, and ends the channel of each process that ends or closes its connection.
 */
#ifndef SERVER_TRANSPORT_FAST_CARRIER_H
#define SERVER_TRANSPORT_FAST_CARRIER_H

#include "transport/fast_channel.h"

typedef struct fast_carrier fast_carrier;

/* Limits that may change while the carrier runs. */
typedef struct fast_limits {
    unsigned channels;      /* open channels; 0: every client is refused */
    unsigned peer_channels; /* those of one user */
    double spin;            /* s, longest spin for a request; 0: none */
} fast_limits;

typedef struct fast_options {
    const transport_endpoint *endpoints; /* those that are not ipc endpoints for requests have no channels */
    size_t endpoint_count;
    unsigned ipc_mode; /* permissions of the sockets */
    fast_limits limits;
    fast_handler handler;
    logger *log;
    counters *counters;
} fast_options;

/* Opens the sockets and accepts clients. Objects that the options point to, but not the endpoints, must outlive the
 * carrier. On failure writes a sentence to `error` and returns false. */
bool fast_carrier_open(const fast_options *options, char error[TRANSPORT_ERROR_SIZE], fast_carrier **result);

/* Applies new limits to channels that are opened from now on, and the spin to all. */
void fast_carrier_set_limits(fast_carrier *f, const fast_limits *limits);

/* Ends all channels, waits for their calls, and frees the carrier. NULL is ignored. */
void fast_carrier_close(fast_carrier *f);

#endif
