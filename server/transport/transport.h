/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transport of requests and replies, independent of the carrier.
 *
 * A carrier (nng today) receives serialized requests and passes each to the handler as a transport_call. The handler
 * answers it exactly once, before it returns or later from any thread:
 *
 *     uint8_t *reply = transport_reply_buffer(call, size);
 *     ... write size bytes ...
 *     transport_send(call);
 *
 * The reply's buffer is the message that the carrier sends: nothing is copied. After transport_send the call and its
 * bytes belong to the carrier again. A carrier embeds transport_call and sets its operations.
 */
#ifndef SERVER_TRANSPORT_TRANSPORT_H
#define SERVER_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "access/access.h"
#include "observe/counters.h"
#include "observe/log.h"
#include "observe/memory_budget.h"

enum { TRANSPORT_PEER_SIZE = 64, TRANSPORT_ADDRESS_SIZE = 256, TRANSPORT_ERROR_SIZE = 384, TRANSPORT_TOPIC_SIZE = 96 };

/* Largest number of bytes in the path of a unix socket. The system allows 107; the number of a listener that is created
 * again is appended to the path. */
enum { TRANSPORT_PATH_LENGTH = 96 };

typedef struct transport transport;
typedef struct transport_call transport_call;

/* Operations of a carrier on a call. */
typedef struct transport_carrier {
    /* Returns the buffer of the reply, or NULL if memory or the budget is exhausted; it may be called again. Memory set
     * aside for the reply is used first. */
    uint8_t *(*reply_buffer)(transport_call *call, size_t size);
    void (*send)(transport_call *call); /* without a buffer the call stays unanswered */
    /* Records the role that a token gave to a request: its peer may subscribe to events while the connection lasts. */
    void (*vouch)(transport_call *call, access_role role);
} transport_carrier;

typedef enum transport_origin {
    TRANSPORT_ORIGIN_UNKNOWN, /* the connection is gone */
    TRANSPORT_ORIGIN_USER,
    TRANSPORT_ORIGIN_IPV4,
    TRANSPORT_ORIGIN_IPV6,
    TRANSPORT_ORIGIN_NATS /* all clients over NATS */
} transport_origin;

/*
 * Identity of a peer: the user number of a unix socket's peer, the IPv4 address, or the 64 bits of the network in an
 * IPv6 address. A remote client cannot choose it freely for its own connections, and a peer keeps it when it
 * reconnects.
 */
typedef struct transport_identity {
    uint64_t origin; /* a transport_origin; 64 bits wide, so that the struct has no padding and can be hashed */
    uint64_t value;
} transport_identity;

static inline bool transport_identity_equal(const transport_identity *a, const transport_identity *b) {
    return a->origin == b->origin && a->value == b->value;
}

/* Returns the identity that shares of a resource count for. Every process of the machine may connect from any address
 * of 127.0.0.0/8, so these addresses count as one. */
static inline transport_identity transport_identity_group(const transport_identity *peer) {
    bool is_loopback = peer->origin == TRANSPORT_ORIGIN_IPV4 && peer->value >> 24 == 127;
    return is_loopback ? (transport_identity){TRANSPORT_ORIGIN_IPV4, UINT64_C(0x7f000001)} : *peer;
}

/* Request that waits for its reply. */
struct transport_call {
    const transport_carrier *carrier;
    const uint8_t *request;
    size_t request_size;
    uint64_t arrival;   /* ns, CLOCK_MONOTONIC */
    size_t reply_limit; /* bytes that the carrier can send, or 0 */
    size_t set_aside;   /* bytes of the memory budget that the handler holds for the reply's buffer */
    bool is_own;        /* request of the daemon's self-probe */
    bool is_crowded;    /* the connection already has its share of requests under way */
    transport_identity identity;
    access_caller caller;           /* by what the system states about the connection */
    access_role vouched;            /* highest role that a token has given to a request of the connection */
    char peer[TRANSPORT_PEER_SIZE]; /* "uid 1000 pid 4711", "127.0.0.1:40112" */
};

static inline uint8_t *transport_reply_buffer(transport_call *call, size_t size) {
    return call->carrier->reply_buffer(call, size);
}

static inline void transport_send(transport_call *call) {
    call->carrier->send(call);
}

static inline void transport_vouch(transport_call *call, access_role role) {
    if (role > call->vouched) {
        call->carrier->vouch(call, role);
    }
}

/* Handler of a request. Several threads call it at once; it must not block for long. */
typedef void (*transport_handler)(void *context, transport_call *call);

/* Handler of messages that are pushed to an ingest endpoint. It is called for one message at a time, in the order of
 * each connection. While it runs, senders wait. The bytes are valid until it returns. */
typedef void (*transport_sink)(void *context, const uint8_t *bytes, size_t size, uint64_t arrival, const char *peer);

typedef enum transport_kind { TRANSPORT_REQUEST, TRANSPORT_EVENTS, TRANSPORT_INGEST } transport_kind;

/* Address to listen on: "ipc:///run/x.sock", "tcp://host:port" or "tls+tcp://host:port". */
typedef struct transport_endpoint {
    char address[TRANSPORT_ADDRESS_SIZE];
    transport_kind kind;
} transport_endpoint;

/* Limits that may change while the transport runs. */
typedef struct transport_limits {
    unsigned connections;      /* open connections over all endpoints */
    unsigned peer_connections; /* connections of one user over ipc or of one address over tcp */
    double idle_time;          /* s, after which a connection without a request is closed */
    double reply_time;         /* s, after which a client that does not read a reply is disconnected */
    double message_time; /* s, after which an incomplete message, or a reply of which nothing was read, is abandoned */
} transport_limits;

/* Returns whether an address is that of a NATS server. */
static inline bool transport_is_nats(const char *address) {
    return strncmp(address, "nats://", strlen("nats://")) == 0 || strncmp(address, "tls://", strlen("tls://")) == 0;
}

enum { TRANSPORT_NATS_SERVERS = 8 };

/* NATS cluster that requests may come from. A text that is not set is empty. */
typedef struct transport_nats {
    size_t server_count; /* 0: no NATS */
    const char *servers[TRANSPORT_NATS_SERVERS];
    const char *replica; /* name of this daemon */
    const char *user, *password, *token;
    const char *nkey, *nkey_seed_file, *credentials_file;
    const char *ca_file, *certificate_file, *key_file;
} transport_nats;

/* Files in PEM for endpoints of TLS. */
typedef struct transport_tls {
    const char *certificate_file; /* of the daemon, with those of the authorities between; "": no TLS */
    const char *key_file;
    const char *ca_file;       /* authorities of the clients' certificates; "": clients are asked for none */
    bool requires_certificate; /* with ca_file: clients without a valid certificate are refused */
} transport_tls;

typedef struct transport_options {
    const transport_endpoint *endpoints;
    size_t endpoint_count;
    transport_nats nats;
    transport_tls tls;
    unsigned ipc_mode;    /* permissions of ipc sockets */
    size_t message_bytes; /* requests larger by up to 1 MiB still reach the handler; beyond, the connection is closed */
    unsigned contexts;    /* requests under way at once */
    transport_limits limits;
    memory_budget *budget; /* budget of messages in transit; NULL: unbounded */
    access_guard *access;  /* finds the roles of connections; NULL: each is an administrator's */
    transport_handler handler;
    void *handler_context;
    transport_sink sink; /* handler of messages at endpoints of kind TRANSPORT_INGEST */
    void *sink_context;
    logger *log;
    counters *counters;
} transport_options;

/* Returns the share of one connection in `contexts` requests under way: beyond it, the long requests of the connection
 * are refused. */
static inline unsigned transport_connection_share(unsigned contexts) {
    return contexts / 4;
}

/* Opens all endpoints. Clients can connect; their requests wait for transport_receive. `options` is copied, but not the
 * objects that it points to. On failure writes a sentence to `error` and returns false. */
bool transport_open(const transport_options *options, char error[TRANSPORT_ERROR_SIZE], transport **result);

/* Starts to receive requests: from now on the handler is called. On failure writes a sentence to `error` and returns
 * false. */
bool transport_receive(transport *t, char error[TRANSPORT_ERROR_SIZE]);

/* Returns the address of endpoint i, with the port that the system chose for port 0. */
const char *transport_address(const transport *t, size_t endpoint);

/* Applies new limits. Any thread. The number of connections bounds the descriptors: a few hundred more connections may
 * wait for their handshake, any others are closed at once. */
void transport_set_limits(transport *t, const transport_limits *limits);

/* Reads the files for TLS again, for connections from now on; open ones stay. nng has one connection of each endpoint
 * prepared with the files before. On failure writes a sentence to `error`, changes nothing and returns false. One
 * thread. */
bool transport_set_tls(transport *t, const transport_tls *tls, char error[TRANSPORT_ERROR_SIZE]);

/* Checks the files for TLS. On failure writes a sentence to `error` and returns false. */
bool transport_check_tls(const transport_tls *tls, char error[TRANSPORT_ERROR_SIZE]);

/* Sends a message to all subscribers: topic, zero byte, body. Never blocks. Any thread. */
void transport_publish(transport *t, const char *topic, const uint8_t *body, size_t size);

/*
 * Endpoint of one topic or of a few related ones. A subscriber receives all messages of its endpoint, so busy topics
 * have an endpoint of their own. It listens in addition to each endpoint for events: ipc at that path with "-" and a
 * number, tcp at a port that the system chooses. Over NATS its messages have a subject for each topic. Opening and
 * closing wait for the system. All functions may be called by any thread.
 */
typedef struct transport_topic transport_topic;

/* Opens an endpoint for topics. On failure writes a sentence to `error` and returns false. */
bool transport_topic_open(transport *t, char error[TRANSPORT_ERROR_SIZE], transport_topic **result);

/* Returns the number of addresses at which subscribers can connect. */
size_t transport_topic_address_count(const transport_topic *topic);

/* Returns address i, with the port that the system chose. */
const char *transport_topic_address(const transport_topic *topic, size_t i);

/* Expects subscribers over NATS: publishes there too, until the NATS server has reported for ten seconds that there are
 * none. `name` is that of one of the topics. */
void transport_topic_expect_nats(transport_topic *topic, const char *name);

/* Returns the number of connected subscribers. All those over NATS count as one. */
unsigned transport_topic_subscribers(const transport_topic *topic);

/* Sends a message to the subscribers of the endpoint: name of the topic, zero byte, body. Never blocks. */
void transport_topic_publish(transport_topic *topic, const char *name, const uint8_t *body, size_t size);

/* Closes the endpoint, before the transport stops. No thread may publish any more. NULL is ignored. */
void transport_topic_close(transport_topic *topic);

/* Closes idle connections, those whose client does not read or does not complete its message, and when memory is short
 * those that hold the most; cleans up after replaced listeners; looks for subscribers over NATS of silent topics. The
 * thread that restarts listeners calls it about twenty times a second. */
void transport_sweep(transport *t);

/* Returns the number of connections that endpoint i has accepted so far, refused ones included. Any thread. */
uint64_t transport_admitted(const transport *t, size_t endpoint);

/* Sets the local tcp port from which the self-probe of endpoint i connects next, so that it does not count as a client.
 * Any thread. */
void transport_expect_probe(transport *t, size_t endpoint, uint16_t port);

/* Replaces the listener of endpoint i by a new one at the same address. Active connections stay. Connections that the
 * old listener has accepted and forgotten are closed, so that their clients reconnect. On failure writes a sentence to
 * `error` and returns false; then the next call tries again. One thread. */
bool transport_restart_listener(transport *t, size_t endpoint, char error[TRANSPORT_ERROR_SIZE]);

/* Connection of a client. */
typedef struct transport_connection {
    uint32_t id;
    transport_kind kind;
    access_caller caller; /* by what the system states about the connection */
    uint64_t opened;      /* ns, CLOCK_MONOTONIC */
    uint64_t last_request;
    uint64_t requests; /* and pushed messages, so far */
    unsigned under_way;
    char peer[TRANSPORT_PEER_SIZE];
} transport_connection;

/* Copies at most `capacity` connections of clients, and returns the number of all of them. Clients over NATS have none.
 * Any thread. */
size_t transport_list_connections(transport *t, transport_connection *connections, size_t capacity);

/* Closes a connection; `peer` receives its peer. Returns false if it does not exist or is being closed. Any thread. */
bool transport_close_connection(transport *t, uint32_t id, char peer[TRANSPORT_PEER_SIZE]);

/* Returns whether there is a connection to a NATS server, or none is wanted. Any thread. */
bool transport_has_nats(const transport *t);

/* Refuses new connections from now on, and receives no more requests over NATS. */
void transport_refuse_connections(transport *t);

/* Returns the number of requests that are being handled or whose reply is being sent. Any thread. */
unsigned transport_pending(const transport *t);

/* Stops receiving pushed messages and waits for the sink, which is not called any more. */
void transport_stop_ingest(transport *t);

/* Closes all connections and frees everything. No call may be with a handler. */
void transport_stop(transport *t);

#endif
