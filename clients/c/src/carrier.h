/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interface of a carrier of requests. Of the client's files only nng_connection.c and one_way.c include nng, and only
 * nats_connection.c includes NATS.
 */
#ifndef CLIENT_CARRIER_H
#define CLIENT_CARRIER_H

#include "dynamics_client.h"

typedef struct connection connection;

/* A request to send: `write` copies its `size` bytes into the body of a message, once per attempt. */
typedef struct outgoing {
    unsigned method; /* number of the method's field in Request, or 0: unknown */
    size_t size;
    void (*write)(const struct outgoing *request, uint8_t *body);
    const void *content;
} outgoing;

/* A received message. Its bytes are valid until incoming_free. */
typedef struct incoming {
    const uint8_t *bytes;
    size_t size;
    void *owner;
    void (*release)(void *owner);
} incoming;

/* Operations of a carrier. A connection begins with the members below. */
typedef struct connection_carrier {
    /* Returns the bytes that a message may have. NULL: one daemon answers all requests. */
    size_t (*most_bytes)(const connection *used);
    dyn_client_status (*open)(const char *url, double connect_timeout, size_t max_reply_bytes, connection **opened,
                              dyn_client_error *error);
    void (*abort)(connection *aborted);
    /* Ends the exchange under way whose request has this content, if there is one. */
    void (*give_up)(connection *used, const void *content);
    void (*close)(connection *closed);
    dyn_client_status (*exchange)(connection *used, const outgoing *request, double timeout, incoming *reply,
                                  dyn_client_error *error);
} connection_carrier;

struct connection {
    const connection_carrier *carrier;
    char *url;
    double timeout; /* for connecting, s */
};

#endif
