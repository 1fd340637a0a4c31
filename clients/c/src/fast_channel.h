/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fast channels of a client: calls by memory that the client and the daemon share (dynamics/v1/fast_channel.h).
 *
 * A request goes over a channel where one is open for its model and can compute it; else over the connection. A
 * channel that the daemon has closed is opened again by later calls, at most once a second.
 */
#ifndef CLIENT_FAST_CHANNEL_H
#define CLIENT_FAST_CHANNEL_H

#include <dynamics/v1/envelope.pb-c.h>
#include <pthread.h>
#include <stdatomic.h>

#include "call.h"
#include "dynamics_client.h"

typedef struct fast_link fast_link;
typedef struct fast_list fast_list;

/* Channels of a client. Links are only added until the client is closed. */
struct fast_list {
    fast_link *_Atomic first;
    pthread_mutex_t mutex; /* guards additions */
    atomic_bool is_aborted;
    double spin; /* s, that a call spins for its reply before it sleeps */
};

/* Array that receives the next `count` doubles of a result. */
typedef struct fast_target {
    double *values;
    size_t count;
} fast_target;

void fast_list_init(fast_list *list, double spin);

/* Ends the calls under way with CANCELLED, and sends no further ones over channels. */
void fast_list_abort(fast_list *list);

/* Closes all channels. */
void fast_list_free(fast_list *list);

/* Computes a request over a channel of the client, and writes its result to the targets. Returns false where no open
 * channel computes such a request: the caller sends it over the connection. Otherwise `status` receives the outcome. */
bool fast_channel_compute(dyn_client *client, const Dynamics__V1__Request *request, const call_terms *terms,
                          const fast_target *targets, size_t target_count, dyn_client_status *status,
                          dyn_client_error *error);

/* Computes Evaluate of the quantities that the client named when it opened the channel, as fast_channel_compute does.
 * On success the caller frees the reply. */
bool fast_channel_evaluate(dyn_client *client, Dynamics__V1__EvaluateRequest *body, const call_terms *terms,
                           Dynamics__V1__EvaluateReply **reply, dyn_client_status *status, dyn_client_error *error);

#endif
