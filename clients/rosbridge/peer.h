/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer: one WebSocket, of a client, or of the rosbridge server that was dialled.
 */
#ifndef ROSBRIDGE_PEER_H
#define ROSBRIDGE_PEER_H

#include <jansson.h>

#include "bridge.h"
#include "encode.h"
#include "fragments.h"
#include "outbox.h"

/* Levels of status, from what is always sent. */
typedef enum status_level { STATUS_NONE, STATUS_ERROR, STATUS_WARNING, STATUS_INFO } status_level;

/* Why a connection ends: the status of its close frame (RFC 6455, section 7.4.1). */
typedef enum close_status {
    CLOSE_NORMAL = 1000,     /* it was idle */
    CLOSE_GOING_AWAY = 1001, /* the gateway stops */
    CLOSE_POLICY = 1008,     /* without the token; answers that are not read */
    CLOSE_TOO_LARGE = 1009,  /* a message beyond limits.message_bytes */
    CLOSE_INTERNAL = 1011,   /* memory ran out; a ping is not answered */
    CLOSE_TRY_LATER = 1013,  /* too many connections */
} close_status;

/* Bytes of the reason in a close frame, which has 125 with the status. */
enum { CLOSE_REASON_SIZE = 124 };

typedef struct peer {
    struct peer *next;
    bridge *bridge;
    uint64_t number;
    char name[64]; /* where it comes from */
    bool is_dialled;
    status_level level; /* status beyond it is not sent */
    outbox outbox;
    fragments fragments;
    size_t calls, subscriptions, advertisements;
    double last_message; /* monotonic */
    double last_heard;   /* bytes of a message, or the answer to a ping */
    double ping_time;    /* of the ping that is not answered; 0: none */
    bool is_ping_due;    /* it is to be sent */
    bool is_gone;        /* its socket is closed; it lives on while it has references */
    bool is_cut;         /* its socket is to be closed */
    close_status cut_status;
    char cut_reason[CLOSE_REASON_SIZE];
    unsigned references;
    void *socket;
    void (*wake)(struct peer *self); /* there is something to send, or the socket is to be closed */
} peer;

/* Adds a peer to the bridge; NULL when out of memory. */
peer *peer_add(bridge *to, const char *name);

/* The socket is closed: forgets what the peer offered and asked for. */
void peer_remove(peer *removed);

peer *peer_share(peer *shared);
void peer_release(peer *released);

/* Sends a control message; takes the reference to `message`. */
void peer_send(peer *to, json_t *message);

/* Same, in the peer's encoding. */
void peer_send_as(peer *to, json_t *message, const encoding *how);

/* Same, encoded already; takes what the list holds. An empty one is a message that memory did not suffice for: it ends
 * the connection, which would wait for it in vain. */
void peer_send_encoded(peer *to, buffer_list *messages);

/* Sends a status, if the peer wants its level. `id` may be NULL. */
void peer_status(peer *to, status_level level, const json_t *id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Ends the connection with a close frame, after what waits is sent. */
void peer_cut(peer *cut, close_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The next message to send, or NULL; tells about losses that are over. */
buffer *peer_next(peer *of);

/* Something came from it, so it lives. */
void peer_hear(peer *heard);

/* To be called now and then: forgets fragments that do not come, has who is silent pinged, cuts who does not answer,
 * and who is idle. */
void peer_check(peer *checked, double now);

#endif
