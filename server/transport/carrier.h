/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internal declarations that the files of the nng carrier share. nng_carrier.c handles requests, start and stop;
 * admission.c admits connections; ingest.c receives pushed messages; topics.c has endpoints of single topics.
 */
#ifndef SERVER_TRANSPORT_CARRIER_H
#define SERVER_TRANSPORT_CARRIER_H

#include <nng/nng.h>
#include <pthread.h>
#include <stdatomic.h>

#include "transport/listener.h"
#include "transport/nats_carrier.h"
#include "transport/pipes.h"
#include "transport/transit.h"
#include "transport/transport.h"

/* Excess over the size limit up to which a message is still read, so that the daemon can answer it. */
enum { OVERSIZE_MARGIN = 1 << 20 };

/* Bytes that a subscriber may send: enough for the protocol's own messages only. */
enum { SUBSCRIBER_BYTES = 4096 };

/* Endpoint with the state that other threads read. */
typedef struct endpoint {
    transport *transport;
    listener listener;
    atomic_int listener_id; /* nng's number of the current listener */
    atomic_uint_fast64_t admitted;
    atomic_uint probe_port; /* local tcp port of the self-probe, 0: none */
} endpoint;

struct transport {
    transport_options options;
    nng_socket requests, events, ingest; /* id 0: not open */
    nats_carrier *nats;                  /* NULL: none */
    nng_tls_config *tls;                 /* NULL: no TLS; topics_mutex guards it */
    endpoint *endpoints;
    size_t endpoint_count;
    struct nng_call *calls;
    size_t call_count;
    nng_aio *ingest_operation;
    pipe_table pipes;
    peer_table peers;
    atomic_uint_fast64_t idle_time, reply_time, message_time; /* ns */
    atomic_uint connection_limit, peer_limit;
    atomic_uint remote; /* connections that are not over ipc */
    atomic_int descriptor_bound;
    atomic_uint pending;
    atomic_uint topic_number;     /* number of the last topic endpoint that was opened */
    pthread_mutex_t topics_mutex; /* guards `topics`, and what its members have about NATS */
    transport_topic *topics;
    pthread_mutex_t sink_mutex; /* locked while the sink runs; guards is_ingest_stopped */
    bool is_ingest_stopped;
    atomic_bool is_refusing;
    log_episode deaf, rejected, denied, idle, silent, unaccounted, half, greedy;
};

/* Admits a new connection, or closes it if a limit is exceeded. Returns whether it was admitted. */
bool admission_connect(transport *t, nng_pipe pipe, transport_kind kind);

/* Closes a connection by nng's number. Does nothing if it is gone. */
void carrier_close_pipe(uint32_t id);

/* Removes a connection that has ended. Returns whether it was admitted before. */
bool admission_disconnect(transport *t, nng_pipe pipe);

/* Opens the socket for pushed messages, without receiving yet. Returns nng's code. */
int ingest_open(transport *t);

/* Begins to receive pushed messages. */
void ingest_receive(transport *t);

/* Ends the receive operation and waits for its completion. */
void ingest_stop(transport *t);

/* Passes a pushed message to the sink, one at a time, unless ingest is stopped. `context` is the transport. */
void ingest_deliver(void *context, const uint8_t *bytes, size_t size, uint64_t arrival, const char *peer);

/* Notes that a message of topic endpoint `number` had no subscriber over NATS. `context` is the transport. */
void topics_note_unread(void *context, unsigned number);

/* Publishes an empty message over NATS to each topic endpoint with subscribers there that was silent for a while. */
void topics_probe(transport *t, uint64_t now);

/* Uses the transport's certificates for the topic endpoints. Called with topics_mutex locked. */
void topics_set_tls(transport *t);

/* Frees the remaining memory after the socket is closed. */
void ingest_free(transport *t);

/* Counts and logs the reason for which a connection is closed. */
void carrier_report_disconnection(transport *t, const transit_disconnection *disconnection, const char *peer);

/* Sends topic, zero byte and body over a PUB socket. Returns false if memory is exhausted or nng does not accept the
 * message. Never blocks. */
bool publish(nng_socket socket, const char *topic, const uint8_t *body, size_t size);

#endif
