/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Daemons of the queue group that have answered a client, with the client's requests under way at each of them.
 *
 * A NATS server distributes the requests of a queue group at random, so that one daemon waits while several requests
 * wait at another. A client with several requests under way therefore addresses the daemon that has the fewest of them.
 * One of PROBE requests still goes to the group, which finds daemons that are new. So do all requests until the group
 * has answered often enough without a new name.
 */
#ifndef CLIENT_NATS_REPLICAS_H
#define CLIENT_NATS_REPLICAS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes of a name with its zero byte; daemons that are known at most: further ones are reached through the group. */
enum { NATS_REPLICA_SIZE = 96, NATS_REPLICAS = 64 };

typedef struct nats_known_replica {
    char name[NATS_REPLICA_SIZE];
    unsigned under_way; /* requests that were addressed to it */
} nats_known_replica;

typedef struct nats_replicas {
    pthread_mutex_t mutex; /* guards all members */
    size_t count;
    nats_known_replica known[NATS_REPLICAS];
    unsigned under_way; /* requests of all kinds */
    unsigned asked;     /* requests so far */
    unsigned familiar;  /* replies in a row from daemons that were known */
} nats_replicas;

void nats_replicas_init(nats_replicas *replicas);
void nats_replicas_destroy(nats_replicas *replicas);

/* Counts a request, and chooses the daemon to ask first. Returns false where the queue group is to choose. Each call is
 * followed by one of nats_replicas_end. Any thread. */
bool nats_replicas_begin(nats_replicas *replicas, char chosen[NATS_REPLICA_SIZE]);

/* Ends a request. `chosen` is the daemon that was asked first; "": the group chose. `answered` is the one that has
 * answered; NULL: none has. A chosen daemon that has not answered is forgotten until it answers a request of the group.
 * Any thread. */
void nats_replicas_end(nats_replicas *replicas, const char *chosen, const char *answered);

#endif
