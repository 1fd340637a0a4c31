/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives the messages that are pushed to the daemon, over a PULL socket with one operation.
 *
 * The sink handles one message at a time. Meanwhile nng reads at most one message of each connection ahead and leaves
 * the rest in the connections' buffers: senders that are too fast wait, and nothing is lost.
 */
#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>

#include "observe/clock.h"
#include "transport/carrier.h"

static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void *argument) {
    if (event == NNG_PIPE_EV_ADD_PRE) {
        admission_connect(argument, pipe, TRANSPORT_INGEST);
    } else {
        admission_disconnect(argument, pipe);
    }
}

void ingest_receive(transport *t) {
    nng_recv_aio(t->ingest, t->ingest_operation);
}

void ingest_deliver(void *context, const uint8_t *bytes, size_t size, uint64_t arrival, const char *peer) {
    transport *t = context;
    pthread_mutex_lock(&t->sink_mutex);
    if (!t->is_ingest_stopped) {
        t->options.sink(t->options.sink_context, bytes, size, arrival, peer);
    }
    pthread_mutex_unlock(&t->sink_mutex);
}

static void on_received(void *argument) {
    transport *t = argument;
    int code = nng_aio_result(t->ingest_operation);
    if (code == NNG_ECLOSED || code == NNG_ECANCELED) {
        return;
    }
    if (code == 0) {
        nng_msg *message = nng_aio_get_msg(t->ingest_operation);
        char peer[TRANSPORT_PEER_SIZE];
        uint64_t now = clock_now();
        uint32_t pipe = (uint32_t)nng_pipe_id(nng_msg_get_pipe(message));
        int descriptor = pipe_table_touch(&t->pipes, pipe, now, peer);
        size_t held = transit_receive(descriptor, pipe, nng_msg_len(message));
        ingest_deliver(t, nng_msg_body(message), nng_msg_len(message), now, peer);
        nng_msg_free(message);
        memory_budget_release(t->options.budget, held);
    }
    ingest_receive(t);
}

int ingest_open(transport *t) {
    int code = nng_pull0_open(&t->ingest);
    if (code == 0) {
        code = nng_aio_alloc(&t->ingest_operation, on_received, t);
    }
    if (code == 0) {
        nng_aio_set_timeout(t->ingest_operation, NNG_DURATION_INFINITE);
        nng_socket_set_size(t->ingest, NNG_OPT_RECVMAXSZ, t->options.message_bytes + OVERSIZE_MARGIN);
        nng_pipe_notify(t->ingest, NNG_PIPE_EV_ADD_PRE, on_pipe, t);
        nng_pipe_notify(t->ingest, NNG_PIPE_EV_REM_POST, on_pipe, t);
    }
    return code;
}

void ingest_stop(transport *t) {
    if (t->ingest_operation) {
        nng_aio_stop(t->ingest_operation);
    }
}

void ingest_free(transport *t) {
    if (t->ingest_operation) {
        nng_aio_free(t->ingest_operation);
    }
}
