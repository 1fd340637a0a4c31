/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How requests arrive and replies leave, whatever carries them.
 *
 * A carrier (nng today) receives serialized requests and hands each to the handler as a transport_call. The handler
 * answers it exactly once, there or later from any thread:
 *
 *     uint8_t *reply = transport_reply_buffer(call, size);
 *     ... write size bytes ...
 *     transport_send(call);
 *
 * The reply's buffer is the message that the carrier sends: nothing is copied. After transport_send the call and its
 * bytes belong to the carrier again. A carrier joins by embedding transport_call and giving it its operations.
 */
#ifndef SERVER_TRANSPORT_TRANSPORT_H
#define SERVER_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/counters.h"
#include "observe/log.h"
#include "observe/memory_budget.h"

enum { TRANSPORT_PEER_SIZE = 64, TRANSPORT_ADDRESS_SIZE = 256, TRANSPORT_ERROR_SIZE = 384 };

typedef struct transport transport;
typedef struct transport_call transport_call;

/* Operations of a carrier on a call. */
typedef struct transport_carrier {
    /* NULL: out of memory, or out of budget; may be asked again. What was set aside for it is used first. */
    uint8_t *(*reply_buffer)(transport_call *call, size_t size);
    void (*send)(transport_call *call); /* without a buffer: the call stays unanswered */
} transport_carrier;

typedef enum transport_origin {
    TRANSPORT_ORIGIN_UNKNOWN, /* the connection is gone */
    TRANSPORT_ORIGIN_USER,
    TRANSPORT_ORIGIN_IPV4,
    TRANSPORT_ORIGIN_IPV6
} transport_origin;

/*
 * Identity of a peer: the user number of a unix socket's peer, the IPv4 address, or the 64 bits of the network in an
 * IPv6 address. It is what a stranger elsewhere cannot choose for its own connections, and what a peer keeps when it
 * connects again.
 */
typedef struct transport_identity {
    uint64_t origin; /* a transport_origin; 64 bits wide, so that the struct has no padding and can be digested */
    uint64_t value;
} transport_identity;

static inline bool transport_identity_equal(const transport_identity *a, const transport_identity *b) {
    return a->origin == b->origin && a->value == b->value;
}

/* Identity that shares of a resource are counted for. Every process of the machine may connect from any address of
 * 127.0.0.0/8, so these count together. */
static inline transport_identity transport_identity_group(const transport_identity *peer) {
    bool is_loopback = peer->origin == TRANSPORT_ORIGIN_IPV4 && peer->value >> 24 == 127;
    return is_loopback ? (transport_identity){TRANSPORT_ORIGIN_IPV4, UINT64_C(0x7f000001)} : *peer;
}

/* One request that waits for its answer. */
struct transport_call {
    const transport_carrier *carrier;
    const uint8_t *request;
    size_t request_size;
    uint64_t arrival; /* ns, CLOCK_MONOTONIC */
    size_t set_aside; /* bytes of the memory budget that the handler holds for the reply's buffer */
    bool is_own;      /* the daemon's self-probe asks */
    bool is_crowded;  /* the connection has its share of requests under way already */
    transport_identity identity;
    char peer[TRANSPORT_PEER_SIZE]; /* "uid 1000 pid 4711", "127.0.0.1:40112" */
};

static inline uint8_t *transport_reply_buffer(transport_call *call, size_t size) {
    return call->carrier->reply_buffer(call, size);
}

static inline void transport_send(transport_call *call) {
    call->carrier->send(call);
}

/* Called for each request, from several threads at once; must not block for long. */
typedef void (*transport_handler)(void *context, transport_call *call);

/* Called for each message that is pushed to an ingest endpoint, one at a time, in the order of each connection. While
 * it works, senders wait. The bytes are valid until it returns. */
typedef void (*transport_sink)(void *context, const uint8_t *bytes, size_t size, uint64_t arrival, const char *peer);

typedef enum transport_kind { TRANSPORT_REQUEST, TRANSPORT_EVENTS, TRANSPORT_INGEST } transport_kind;

/* An address to listen on: "ipc:///run/x.sock" or "tcp://host:port". */
typedef struct transport_endpoint {
    char address[TRANSPORT_ADDRESS_SIZE];
    transport_kind kind;
} transport_endpoint;

/* Limits that may change while the transport works. */
typedef struct transport_limits {
    unsigned connections;      /* open connections over all endpoints */
    unsigned peer_connections; /* of them, those of one user over ipc or of one address over tcp */
    double idle_time;          /* s, a connection without a request for this long is closed */
    double reply_time;         /* s, a client that does not take a reply for this long is cut off */
    double message_time;       /* s, a message that has not arrived whole after this long is given up, and so is a reply
                                  of which nothing was taken */
} transport_limits;

typedef struct transport_options {
    const transport_endpoint *endpoints;
    size_t endpoint_count;
    unsigned ipc_mode;    /* permissions of ipc sockets */
    size_t message_bytes; /* larger requests still reach the handler up to 1 MiB more; beyond, the pipe is closed */
    unsigned contexts;    /* requests under way at once */
    transport_limits limits;
    memory_budget *budget; /* of messages on their way; NULL: unbounded */
    transport_handler handler;
    void *handler_context;
    transport_sink sink; /* of what arrives at endpoints of kind TRANSPORT_INGEST */
    void *sink_context;
    logger *log;
    counters *counters;
} transport_options;

/* Opens all endpoints. Clients can connect; their requests wait for transport_receive. `options` is copied but for what
 * it points to. On failure writes a sentence to `error` and returns false. */
bool transport_open(const transport_options *options, char error[TRANSPORT_ERROR_SIZE], transport **result);

/* Starts to receive: from now on the handler is called. */
void transport_receive(transport *t);

/* Address of endpoint i, with the port that the system chose where port 0 was asked for. */
const char *transport_address(const transport *t, size_t endpoint);

/* Takes over new limits. Any thread. Descriptors are bounded by the connections: a few hundred more may wait for their
 * greeting, one more is closed at once. */
void transport_set_limits(transport *t, const transport_limits *limits);

/* Sends a message to all subscribers: topic, zero byte, body. Never blocks. Any thread. */
void transport_publish(transport *t, const char *topic, const uint8_t *body, size_t size);

/*
 * An endpoint of one topic or a few that belong together. A subscriber gets all that its endpoint sends, so busy topics
 * have one of their own. It listens beside each endpoint for events: ipc at that path with "-" and a number, tcp at a
 * port that the system chooses. Opening and closing wait for the system; all functions may be called by any thread.
 */
typedef struct transport_topic transport_topic;

/* On failure writes a sentence to `error` and returns false. */
bool transport_topic_open(transport *t, char error[TRANSPORT_ERROR_SIZE], transport_topic **result);

/* Where it can be dialled. */
size_t transport_topic_address_count(const transport_topic *topic);
const char *transport_topic_address(const transport_topic *topic, size_t i);

/* Connections of subscribers. */
unsigned transport_topic_subscribers(const transport_topic *topic);

/* Sends a message to its subscribers: name of the topic, zero byte, body. Never blocks. */
void transport_topic_publish(transport_topic *topic, const char *name, const uint8_t *body, size_t size);

/* Closes the endpoint; nobody may publish any more. Before the transport is stopped. NULL: nothing happens. */
void transport_topic_close(transport_topic *topic);

/* Closes idle connections, those whose client does not read or does not end its message, when memory is short the
 * greediest ones, and what replaced listeners have left. To be called about
 * twenty times a second by the thread that restarts listeners. */
void transport_sweep(transport *t);

/* Connections that endpoint i has taken up so far, refused ones included. Any thread. */
uint64_t transport_admitted(const transport *t, size_t endpoint);

/* Names the local tcp port that the self-probe of endpoint i connects from next, so that it is not taken for a client.
 * Any thread. */
void transport_expect_probe(transport *t, size_t endpoint, uint16_t port);

/* Puts a new listener in the place of endpoint i's, at the same address. Connections that are at work stay; those that
 * the old listener has accepted and forgotten are closed, so that their clients connect anew. On failure writes a
 * sentence to `error` and returns false; then the next call tries again. One thread. */
bool transport_restart_listener(transport *t, size_t endpoint, char error[TRANSPORT_ERROR_SIZE]);

/* Refuses new connections from now on. */
void transport_refuse_connections(transport *t);

/* Requests that are being handled or whose reply is under way. Any thread. */
unsigned transport_pending(const transport *t);

/* Closes all connections and frees everything. No call may be with a handler. */
void transport_stop(transport *t);

#endif
