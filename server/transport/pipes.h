/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Table of the connections of a transport: their peers, their requests under way, and the times of their last activity.
 * Every function may be called from any thread.
 */
#ifndef SERVER_TRANSPORT_PIPES_H
#define SERVER_TRANSPORT_PIPES_H

#include <pthread.h>

#include "transport/peers.h"
#include "transport/transport.h"

enum { PIPE_BUCKETS = 1024 };

/* Record of one connection. */
typedef struct pipe_record {
    struct pipe_record *next;
    uint32_t id;
    int listener; /* nng's number of the listener that accepted it */
    transport_kind kind;
    int descriptor;         /* -1: unknown */
    peer_account *owner;    /* account of its peer; NULL: the self-probe's */
    bool is_closing;        /* is being closed */
    unsigned under_way;     /* requests without a reply so far */
    unsigned waiting;       /* replies that the client has not read yet */
    uint64_t opened;        /* ns */
    uint64_t last_request;  /* ns; of the last request or message, at first of the connection */
    uint64_t requests;      /* and messages, so far */
    uint64_t last_progress; /* ns; when a reply was read, or the first one began to wait */
    transport_identity identity;
    access_peer facts;           /* its groups belong to the record */
    char name[ACCESS_NAME_SIZE]; /* of the caller: "uid:1000", "address:192.0.2.1" */
    access_role vouched;         /* highest role that a token has given to one of its requests */
    char peer[TRANSPORT_PEER_SIZE];
} pipe_record;

typedef struct pipe_table {
    pthread_mutex_t mutex;
    pipe_record *buckets[PIPE_BUCKETS];
    access_guard *access; /* NULL: each connection is an administrator's */
} pipe_table;

/* Decision about a connection: keep it, or close it because it is idle or does not read its replies. */
typedef enum pipe_action { PIPE_KEEP, PIPE_IDLE, PIPE_DEAF } pipe_action;

/* Bounds on the idleness of a connection. */
typedef struct pipe_bounds {
    uint64_t idle_time;  /* ns without a request */
    uint64_t reply_time; /* ns for which replies may wait without any being read */
    unsigned share;      /* from this many waiting replies on, they may wait only a fifth of reply_time */
} pipe_bounds;

void pipe_table_init(pipe_table *table, access_guard *access);
void pipe_table_free(pipe_table *table);

/* Adds a copy of a connection's record, which then owns the groups of its facts. Returns false, and owns nothing, when
 * out of memory. */
bool pipe_table_add(pipe_table *table, const pipe_record *values);

/* Removes a connection and copies its record, without the groups. Returns false when it is unknown. */
bool pipe_table_remove(pipe_table *table, uint32_t id, pipe_record *removed);

/* Copies at most `capacity` connections of clients, and returns the number of all of them. */
size_t pipe_table_list(pipe_table *table, transport_connection *connections, size_t capacity);

/* Returns the number of open connections that a listener accepted. */
size_t pipe_table_count(pipe_table *table, int listener);

/* Counts a request: fills the call's peer, identity, caller, is_own and is_crowded (`share` requests are under way
 * already). Returns the connection's descriptor, or -1. */
int pipe_table_request(pipe_table *table, uint32_t id, unsigned share, transport_call *call);

/* Returns the role that the policy assigns to a peer. */
access_role pipe_table_find_role(const pipe_table *table, const access_peer *facts);

/* Records the role that a token gave to a request of a connection. */
void pipe_table_vouch(pipe_table *table, uint32_t id, access_role role);

/* Returns the highest role that tokens have given to open connections of the same peer and the same user. */
access_role pipe_table_vouched(pipe_table *table, const pipe_record *like);

/* Records a message that needs no reply: the connection is active. `peer` receives the connection's peer, or "" if it
 * is unknown. Returns the connection's descriptor, or -1. */
int pipe_table_touch(pipe_table *table, uint32_t id, uint64_t now, char peer[TRANSPORT_PEER_SIZE]);

/* Records that the reply of a request is being sent. */
void pipe_table_reply(pipe_table *table, uint32_t id, uint64_t now);

/* Records that a reply was sent or abandoned. */
void pipe_table_done(pipe_table *table, uint32_t id, uint64_t now);

/* Marks a connection as closing and copies its peer. Returns false when it is unknown or marked already. */
bool pipe_table_condemn(pipe_table *table, uint32_t id, char peer[TRANSPORT_PEER_SIZE]);

/* Connection that breaks a bound. */
typedef struct pipe_disconnection {
    uint32_t id;
    pipe_action action;
    char peer[TRANSPORT_PEER_SIZE];
} pipe_disconnection;

/* Finds connections that break a bound, marks them as closing and stores at most `capacity` of them. Returns their
 * number. */
size_t pipe_table_check(pipe_table *table, const pipe_bounds *bounds, uint64_t now, pipe_disconnection *disconnections,
                        size_t capacity);

#endif
