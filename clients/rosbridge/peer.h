/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peer of the gateway: one WebSocket, of a client or of the dialled rosbridge server.
 */
#ifndef ROSBRIDGE_PEER_H
#define ROSBRIDGE_PEER_H

#include <jansson.h>

#include "bridge.h"
#include "encode.h"
#include "fragments.h"
#include "outbox.h"

/* Levels of status, from the most important. */
typedef enum status_level { STATUS_NONE, STATUS_ERROR, STATUS_WARNING, STATUS_INFO } status_level;

/* Status of a close frame (RFC 6455, section 7.4.1): the reason why a connection ends. */
typedef enum close_status {
    CLOSE_NORMAL = 1000,     /* the connection was idle */
    CLOSE_GOING_AWAY = 1001, /* the gateway stops */
    CLOSE_POLICY = 1008,     /* the token is missing, or answers are not read */
    CLOSE_TOO_LARGE = 1009,  /* a message beyond limits.message_bytes */
    CLOSE_INTERNAL = 1011,   /* memory ran out; a ping is not answered */
    CLOSE_TRY_LATER = 1013,  /* too many connections */
} close_status;

/* Size of the reason in a close frame, with its terminating zero. The frame has at most 125 bytes, and the status takes
 * two of them. */
enum { CLOSE_REASON_SIZE = 124 };

typedef struct peer {
    struct peer *next;
    bridge *bridge;
    uint64_t number;
    char name[64]; /* origin of the connection */
    bool is_dialled;
    status_level level; /* status above this level is not sent */
    outbox outbox;
    fragments fragments;
    size_t calls, subscriptions, advertisements;
    double last_message; /* monotonic */
    double last_heard;   /* monotonic: last bytes of a message, or last pong */
    double ping_time;    /* monotonic: time of the unanswered ping; 0: none */
    bool is_ping_due;    /* a ping is to be sent */
    bool is_gone;        /* its socket is closed; the peer is freed with its last reference */
    bool is_cut;         /* its socket is to be closed */
    close_status cut_status;
    char cut_reason[CLOSE_REASON_SIZE];
    unsigned references;
    void *socket;
    void (*wake)(struct peer *self); /* called when there is something to send, or the socket is to be closed */
} peer;

/* Adds a peer to the bridge. Returns NULL when out of memory. */
peer *peer_add(bridge *to, const char *name);

/* Removes a peer whose socket is closed, with its offers and requests. */
void peer_remove(peer *removed);

peer *peer_share(peer *shared);
void peer_release(peer *released);

/* Sends a control message and consumes the reference to `message`. NULL stands for a message for which memory ran out,
 * and ends the connection. */
void peer_send(peer *to, json_t *message);

/* Sends a control message in the given encoding and consumes the reference to `message`. NULL stands for a message for
 * which memory ran out, and ends the connection. */
void peer_send_as(peer *to, json_t *message, const encoding *how);

/* Sends encoded messages and empties the list. An empty list is a message for which memory ran out: it ends the
 * connection, whose peer would otherwise wait in vain. */
void peer_send_encoded(peer *to, buffer_list *messages);

/* Sends a status, if the peer wants its level. `id` may be NULL. */
void peer_status(peer *to, status_level level, const json_t *id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Ends the connection with a close frame after it has sent the waiting messages. Only the first call for a peer takes
 * effect. */
void peer_cut(peer *cut, close_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Returns the next message to send, or NULL. Reports losses that are over. */
buffer *peer_next(peer *of);

/* Notes that bytes or a pong arrived from the peer. */
void peer_hear(peer *heard);

/* Drops overdue fragments, pings silent peers, and disconnects peers that do not answer or are idle. Called
 * periodically. */
void peer_check(peer *checked, double now);

#endif
