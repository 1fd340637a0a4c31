/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The NATS carrier: receives requests as a member of a queue group, and publishes events.
 *
 * A request arrives on one of three subjects. On dynamics.v1.METHOD one member of the queue group "dynamics" receives
 * it. On dynamics.v1.at.REPLICA.METHOD this daemon alone receives it, on dynamics.v1.all.METHOD every daemon does. The
 * message's body is a serialized Request, and the reply's is a serialized Reply. The header "Dynamics-Replica" of the
 * reply names the daemon that answers.
 *
 * Events appear on dynamics.v1.events.REPLICA.TOPIC, so that the NATS server filters them. Points of streams are pushed
 * to dynamics.v1.ingest.REPLICA, and answered by an empty message when they are read.
 *
 * The connection is made again without end when it is lost. When the server refuses the user, the daemon logs an error,
 * transport_has_nats returns false, and nats_carrier_sweep tries again with growing pauses. Requests wait in the memory
 * of libnats while all calls are in use; beyond NATS_WAITING_BYTES libnats discards them, and their clients time out.
 */
#ifndef SERVER_TRANSPORT_NATS_CARRIER_H
#define SERVER_TRANSPORT_NATS_CARRIER_H

#include "transport/transport.h"

enum { NATS_WAITING_BYTES = 64 << 20 };

typedef struct nats_carrier nats_carrier;

/* Receiver of messages that are no requests. Threads of libnats call it. */
typedef struct nats_receiver {
    void *context;
    transport_sink deliver; /* receives a pushed message */
    /* Learns that a message for watchers of this number had no subscriber. */
    void (*note_unread)(void *context, unsigned number);
} nats_receiver;

/* Connects to the servers that `options` names, or begins to try, and subscribes without receiving. On failure writes a
 * sentence to `error` and returns false. */
bool nats_carrier_open(const transport_options *options, const nats_receiver *receiver,
                       char error[TRANSPORT_ERROR_SIZE], nats_carrier **result);

/* Starts to receive requests. */
bool nats_carrier_receive(nats_carrier *carrier, char error[TRANSPORT_ERROR_SIZE]);

/* Connects again when the pause after a refusal has passed. Blocks for two seconds where the server does not answer.
 * One thread. */
void nats_carrier_sweep(nats_carrier *carrier, uint64_t now);

/* Publishes an event. Never blocks for long: libnats stores it while the connection is being made again. Any thread. */
bool nats_carrier_publish(nats_carrier *carrier, const char *topic, const uint8_t *body, size_t size);

/* Publishes an event as nats_carrier_publish. The receiver is told if nobody has subscribed to the topic. */
bool nats_carrier_publish_to_watchers(nats_carrier *carrier, const char *topic, const uint8_t *body, size_t size,
                                      unsigned number);

/* Leaves the queue group: the NATS server sends no more requests. Those that have arrived are still handled. */
void nats_carrier_drain(nats_carrier *carrier);

/* Returns the number of requests that have arrived and are not answered. Any thread. */
unsigned nats_carrier_pending(const nats_carrier *carrier);

/* Returns whether there is a connection to a NATS server. Any thread. */
bool nats_carrier_is_connected(nats_carrier *carrier);

/* Returns the number of times that a connection was made. Any thread. */
unsigned nats_carrier_connections(const nats_carrier *carrier);

/* Returns the connection of libnats, which the carrier owns. It lasts for a second at least. Any thread. */
struct __natsConnection *nats_carrier_connection(const nats_carrier *carrier);

/* Closes the connection and frees everything. No call may be with a handler. NULL is ignored. */
void nats_carrier_stop(nats_carrier *carrier);

#endif
