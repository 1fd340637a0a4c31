/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connections of a transport: who they are, what they have under way, when they last asked or read.
 *
 * Every function may be called from any thread.
 */
#ifndef SERVER_TRANSPORT_PIPES_H
#define SERVER_TRANSPORT_PIPES_H

#include <pthread.h>

#include "transport/peers.h"
#include "transport/transport.h"

enum { PIPE_BUCKETS = 1024 };

/* One connection. */
typedef struct pipe_record {
    struct pipe_record *next;
    uint32_t id;
    int listener; /* nng's number of the listener that took it up */
    transport_kind kind;
    int descriptor;         /* -1: unknown */
    peer_account *owner;    /* whose connection it is; NULL: the self-probe's */
    bool is_closing;        /* was told to close */
    unsigned under_way;     /* requests that are not answered yet */
    unsigned waiting;       /* replies that the client has not taken yet */
    uint64_t last_request;  /* ns; or message; of the connection before the first one */
    uint64_t last_progress; /* ns; a reply was taken, or the first one began to wait */
    transport_identity identity;
    char peer[TRANSPORT_PEER_SIZE];
} pipe_record;

typedef struct pipe_table {
    pthread_mutex_t mutex;
    pipe_record *buckets[PIPE_BUCKETS];
} pipe_table;

/* Why a connection is closed. */
typedef enum pipe_verdict { PIPE_KEEP, PIPE_IDLE, PIPE_DEAF } pipe_verdict;

/* Bounds that a connection must keep. */
typedef struct pipe_bounds {
    uint64_t idle_time;  /* ns without a request */
    uint64_t reply_time; /* ns that replies may wait without any being taken */
    unsigned share;      /* replies that may wait at once; more may only wait a fifth of that time */
} pipe_bounds;

void pipe_table_init(pipe_table *table);
void pipe_table_free(pipe_table *table);

/* Enters a copy of a connection's record. Returns false when out of memory. */
bool pipe_table_add(pipe_table *table, const pipe_record *values);

/* Forgets a connection and copies its record. Returns false when it is not known. */
bool pipe_table_remove(pipe_table *table, uint32_t id, pipe_record *removed);

/* Number of connections that a listener took up and that are still open. */
size_t pipe_table_count(pipe_table *table, int listener);

/* Enters a request: fills the call's peer, identity, is_own and is_crowded (`share` requests are under way already).
 * Returns the connection's descriptor, or -1. */
int pipe_table_request(pipe_table *table, uint32_t id, unsigned share, transport_call *call);

/* A message came that is not answered: the connection is at work. Copies its peer, "" where it is unknown. Returns the
 * connection's descriptor, or -1. */
int pipe_table_touch(pipe_table *table, uint32_t id, uint64_t now, char peer[TRANSPORT_PEER_SIZE]);

/* The request's reply was handed over to be sent. */
void pipe_table_reply(pipe_table *table, uint32_t id, uint64_t now);

/* The reply was taken, or given up. */
void pipe_table_done(pipe_table *table, uint32_t id, uint64_t now);

/* Marks a connection as closing; false when it is unknown or marked already. Copies its peer when true. */
bool pipe_table_condemn(pipe_table *table, uint32_t id, char peer[TRANSPORT_PEER_SIZE]);

/* Finds connections that break a bound, marks them as closing and stores at most `capacity` of them. */
typedef struct pipe_sentence {
    uint32_t id;
    pipe_verdict verdict;
    char peer[TRANSPORT_PEER_SIZE];
} pipe_sentence;

size_t pipe_table_judge(pipe_table *table, const pipe_bounds *bounds, uint64_t now, pipe_sentence *sentences,
                        size_t capacity);

#endif
