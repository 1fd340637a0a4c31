/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interface of a carrier of requests. Of the client's files only nng_connection.c and nng_one_way.c include nng, and
 * only those with the prefix nats_ include NATS.
 */
#ifndef CLIENT_CARRIER_H
#define CLIENT_CARRIER_H

#include "dynamics_client.h"

typedef struct connection connection;
typedef struct one_way one_way;

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

/* Releases a message. */
static inline void incoming_free(incoming *message) {
    if (message->owner) {
        message->release(message->owner);
    }
    *message = (incoming){0};
}

/* Operations of a carrier of messages without a reply, as in one_way.h. A connection begins with the member of struct
 * one_way. */
typedef struct one_way_carrier {
    dyn_client_status (*receive)(one_way *used, double timeout, incoming *message, dyn_client_error *error);
    void (*end)(one_way *ended);
    void (*unsubscribe)(one_way *used, const char *topic);
    dyn_client_status (*send)(one_way *used, const outgoing *message, double timeout, dyn_client_error *error);
    void (*close)(one_way *closed);
} one_way_carrier;

struct one_way {
    const one_way_carrier *carrier;
};

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
    /* Opens a connection for messages without a reply (one_way.h). NULL: the daemon has addresses of its own for it. */
    dyn_client_status (*open_one_way)(connection *used, size_t topic_count, char *const *topics, double timeout,
                                      one_way **opened, dyn_client_error *error);
} connection_carrier;

struct connection {
    const connection_carrier *carrier;
    char *url;
    double timeout; /* for connecting, s */
};

#endif
