/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handler of the calls of fast channels, which the carrier knows without the methods, and the methods without the
 * carrier.
 */
#ifndef SERVER_TRANSPORT_FAST_HANDLER_H
#define SERVER_TRANSPORT_FAST_HANDLER_H

#include <dynamics/v1/fast_channel.h>

#include "transport/transport.h"

/* Client that asks for a channel. */
typedef struct fast_peer {
    access_peer facts;              /* that the system states; the user is known */
    const char *exceeded;           /* key of the configuration that has no room for the channel; NULL: it has */
    unsigned open;                  /* channels that count for that key */
    char name[TRANSPORT_PEER_SIZE]; /* "uid 1000 pid 4711" */
} fast_peer;

/* One call. The arrays are a copy that the client cannot change; NULL: zeros. */
typedef struct fast_input {
    fast_call call;
    size_t samples;
    const double *arrays[FAST_ARRAYS];
    const char *frame;
    uint32_t reference_frame;
} fast_input;

/* Piece of a result. */
typedef struct fast_part {
    const double *numbers;
    size_t count;
} fast_part;

/* Result of a call: its parts, one after another; or a code other than 0 (CODE_OK) and a serialized Status. It lives
 * until the next call of the session. */
typedef struct fast_output {
    uint32_t code;
    size_t part_count;
    const fast_part *parts;
    const uint8_t *status;
    size_t status_size;
    bool must_close; /* the channel ends with this call, which the client sends another way */
} fast_output;

/* Answer to the request for a channel. */
typedef struct fast_offer {
    size_t nq, nv, samples; /* samples: largest number of states of a call */
    size_t input_numbers, output_numbers;
    uint8_t *reply; /* bytes for the client, which the carrier frees with free() */
    size_t reply_size;
} fast_offer;

/* Handler of channels. The thread of each channel calls it for its own session. */
typedef struct fast_handler {
    /* Opens a session for the serialized request of a client, whose `peer` outlives it. Returns NULL if it is refused;
     * the offer then holds the reply, or no reply when out of memory. */
    void *(*open)(void *context, const fast_peer *peer, const uint8_t *bytes, size_t size, fast_offer *offer);
    void (*compute)(void *session, const fast_input *input, fast_output *output);
    void (*close)(void *session);
    void *context;
} fast_handler;

#endif
