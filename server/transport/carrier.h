/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The nng carrier from inside: what its files share. nng_carrier.c has the requests and the life of the whole,
 * admission.c who may connect, ingest.c what is pushed, topics.c endpoints of single topics.
 */
#ifndef SERVER_TRANSPORT_CARRIER_H
#define SERVER_TRANSPORT_CARRIER_H

#include <nng/nng.h>
#include <stdatomic.h>

#include "transport/listener.h"
#include "transport/pipes.h"
#include "transport/transit.h"
#include "transport/transport.h"

/* A message larger than the limit by up to this much is read, so that it can be answered. */
enum { OVERSIZE_MARGIN = 1 << 20 };

/* Bytes that a subscriber may send: none but the protocol's own. */
enum { SUBSCRIBER_BYTES = 4096 };

/* An endpoint with what other threads need of it. */
typedef struct endpoint {
    transport *transport;
    listener listener;
    atomic_int listener_id; /* of nng's current listener */
    atomic_uint_fast64_t admitted;
    atomic_uint probe_port; /* local tcp port of the self-probe, 0: none */
} endpoint;

struct transport {
    transport_options options;
    nng_socket requests, events, ingest; /* id 0: not open */
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
    atomic_uint topic_number; /* of the last topic endpoint that was opened */
    atomic_bool is_refusing;
    log_episode deaf, rejected, idle, silent, unaccounted, half, greedy;
};

/* A connection was taken up: enters it, or closes it where it is one too many. Whether it was entered. */
bool admission_connect(transport *t, nng_pipe pipe, transport_kind kind);

/* A connection ended. Whether it had been entered. */
bool admission_disconnect(transport *t, nng_pipe pipe);

/* Opens the socket for pushed messages; they are received from ingest_receive on. Returns nng's code. */
int ingest_open(transport *t);
void ingest_receive(transport *t);

/* Ends the operation and waits for its completion. */
void ingest_stop(transport *t);

/* Frees what is left after the socket is closed. */
void ingest_free(transport *t);

/* Counts and logs why a connection is closed. */
void carrier_tell_sentence(transport *t, const transit_sentence *sentence, const char *peer);

/* Hands topic, zero byte and body to a PUB socket. Whether it took them. Never blocks. */
bool publish(nng_socket socket, const char *topic, const uint8_t *body, size_t size);

#endif
