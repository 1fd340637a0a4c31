/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection to a NATS server that requests and messages without a reply share.
 */
#ifndef CLIENT_NATS_LINK_H
#define CLIENT_NATS_LINK_H

#include <stdatomic.h>

#include <nats/nats.h>

#include "carrier.h"
#include "nats_replicas.h"

typedef struct nats_link {
    connection base;
    atomic_uint references;
    natsOptions *options;
    natsConnection *connection;
    char replica[NATS_REPLICA_SIZE]; /* daemon that answers the requests about its own objects */
} nats_link;

/* Keeps the link after the client has closed it: then no message arrives or leaves any more. */
void nats_link_retain(nats_link *link);

/* Releases the link; frees it with the last reference. */
void nats_link_release(nats_link *link);

/* Returns the bytes that the NATS server carries in a message. */
size_t nats_link_most_bytes(const nats_link *link);

/* Checks that the NATS server carries a message of that size. Errors: RESOURCE_EXHAUSTED. */
dyn_client_status nats_link_check_size(const nats_link *link, size_t size, dyn_client_error *error);

/* Fills the error about the daemon that is gone, and returns UNREACHABLE. */
dyn_client_status nats_link_fail_gone(const nats_link *link, dyn_client_error *error);

#endif
