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
    bool is_gone;        /* its socket is closed; it lives on while it has references */
    bool is_cut;         /* its socket is to be closed */
    char cut_reason[96];
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

/* Same, encoded already; takes what the list holds. */
void peer_send_encoded(peer *to, buffer_list *messages);

/* Sends a status, if the peer wants its level. `id` may be NULL. */
void peer_status(peer *to, status_level level, const json_t *id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Ends the connection after what waits is sent. */
void peer_cut(peer *cut, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The next message to send, or NULL; tells about losses that are over. */
buffer *peer_next(peer *of);

/* To be called now and then: forgets fragments that do not come, cuts who is idle. */
void peer_check(peer *checked, double now);

#endif
