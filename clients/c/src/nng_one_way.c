/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends or receives messages in one direction over an nng PUSH or SUB socket.
 */
#include "nng_one_way.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <nng/nng.h>
#include <nng/protocol/pipeline0/push.h>
#include <nng/protocol/pubsub0/sub.h>

#include "error.h"
#include "monotonic.h"
#include "nng_connection.h"
#include "nng_dialer.h"

/* WAITING_MESSAGES: number of received messages that wait for the reader; if more arrive, the oldest are lost.
 * MAX_MESSAGE: bytes of the longest message. */
enum { WAITING_MESSAGES = 1024, MAX_MESSAGE = 256 << 20 };

typedef struct nng_one_way {
    one_way base;
    nng_socket socket;
    bool is_open;
    nng_aio *aio;
    pthread_mutex_t mutex; /* guards connected */
    pthread_cond_t changed;
    bool connected;
} nng_one_way;

static nng_duration to_duration(double seconds) {
    double milliseconds = ceil(seconds * 1e3);
    return milliseconds < 1 ? 1 : milliseconds > INT_MAX ? INT_MAX : (nng_duration)milliseconds;
}

static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void *argument) {
    nng_one_way *self = argument;
    (void)pipe;
    pthread_mutex_lock(&self->mutex);
    self->connected = event == NNG_PIPE_EV_ADD_POST;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

/* Returns the bytes of a topic with which the topic of a message must begin: its zero byte is one of them, unless it
 * stands for several topics. */
static size_t prefix_size(const char *topic) {
    size_t length = strlen(topic);
    return length > 1 && strcmp(topic + length - 2, "/*") == 0 ? length - 1 : length + 1;
}

static int subscribe(nng_one_way *self, size_t count, char *const *topics) {
    int code = nng_sub0_open(&self->socket);
    self->is_open = code == 0;
    if (code == 0) {
        code = nng_socket_set_int(self->socket, NNG_OPT_RECVBUF, WAITING_MESSAGES);
    }
    for (size_t i = 0; code == 0 && i < count; i++) {
        code = nng_socket_set(self->socket, NNG_OPT_SUB_SUBSCRIBE, topics[i], prefix_size(topics[i]));
    }
    return code;
}

static int open_socket(nng_one_way *self, size_t topic_count, char *const *topics) {
    int code = topic_count > 0 ? subscribe(self, topic_count, topics) : nng_push0_open(&self->socket);
    self->is_open = self->is_open || code == 0;
    if (code == 0) {
        code = nng_socket_set_size(self->socket, NNG_OPT_RECVMAXSZ, MAX_MESSAGE);
    }
    if (code == 0) {
        code = nng_pipe_notify(self->socket, NNG_PIPE_EV_ADD_POST, on_pipe, self);
    }
    if (code == 0) {
        code = nng_pipe_notify(self->socket, NNG_PIPE_EV_REM_POST, on_pipe, self);
    }
    if (code == 0) {
        code = nng_aio_alloc(&self->aio, NULL, NULL);
    }
    return code;
}

/* Dials one address, for TLS with the settings of `url`, and waits for the connection, at most `timeout` seconds.
 * Returns false if there is no connection. */
static bool dial(nng_one_way *self, const char *address, const char *url, double timeout) {
    nng_dialer dialer;
    char reason[NNG_DIALER_REASON];
    if (nng_dialer_make(self->socket, address, url, &dialer, reason) != 0) {
        return false;
    }
    if (nng_dialer_start(dialer, NNG_FLAG_NONBLOCK) != 0) {
        nng_dialer_close(dialer);
        return false;
    }
    const struct timespec until = monotonic_timespec(monotonic_now() + timeout);
    pthread_mutex_lock(&self->mutex);
    int waited = 0;
    while (!self->connected && waited == 0) {
        waited = pthread_cond_timedwait(&self->changed, &self->mutex, &until);
    }
    bool connected = self->connected;
    pthread_mutex_unlock(&self->mutex);
    if (!connected) {
        nng_dialer_close(dialer);
    }
    return connected;
}

static bool has_scheme_of(const char *address, const char *url) {
    size_t length = strcspn(url, ":");
    return strncmp(address, url, length) == 0 && address[length] == ':';
}

static void close_nng(one_way *base) {
    nng_one_way *closed = (nng_one_way *)base;
    /* nng's timer may still hold an operation whose message arrived as its time ran out. Freeing the aio waits for the
       timer, which locks the socket. */
    if (closed->aio) {
        nng_aio_free(closed->aio);
    }
    if (closed->is_open) {
        nng_close(closed->socket);
    }
    pthread_cond_destroy(&closed->changed);
    pthread_mutex_destroy(&closed->mutex);
    free(closed);
}

static void release_message(void *message) {
    nng_msg_free(message);
}

static dyn_client_status receive_nng(one_way *base, double timeout, incoming *message, dyn_client_error *error) {
    nng_one_way *used = (nng_one_way *)base;
    nng_aio_set_timeout(used->aio, to_duration(timeout));
    nng_recv_aio(used->socket, used->aio);
    nng_aio_wait(used->aio);
    int code = nng_aio_result(used->aio);
    if (code == NNG_ETIMEDOUT) {
        return fail(error, DYN_CLIENT_TIMEOUT, NULL, "nothing was published within %g s", timeout);
    }
    if (code != 0) {
        return fail(error, DYN_CLIENT_UNREACHABLE, NULL, "%s", nng_strerror(code));
    }
    nng_msg *received = nng_aio_get_msg(used->aio);
    nng_aio_set_msg(used->aio, NULL);
    *message = (incoming){
        .bytes = nng_msg_body(received), .size = nng_msg_len(received), .owner = received, .release = release_message};
    return DYN_CLIENT_OK;
}

static void end_nng(one_way *ended) {
    nng_aio_stop(((nng_one_way *)ended)->aio);
}

static void unsubscribe_nng(one_way *used, const char *topic) {
    nng_socket_set(((nng_one_way *)used)->socket, NNG_OPT_SUB_UNSUBSCRIBE, topic, prefix_size(topic));
}

static dyn_client_status send_nng(one_way *base, const outgoing *message, double timeout, dyn_client_error *error) {
    nng_one_way *used = (nng_one_way *)base;
    nng_msg *sent = outgoing_message(message);
    if (!sent) {
        return fail_memory(error);
    }
    nng_aio_set_msg(used->aio, sent);
    nng_aio_set_timeout(used->aio, to_duration(timeout));
    nng_send_aio(used->socket, used->aio);
    nng_aio_wait(used->aio);
    int code = nng_aio_result(used->aio);
    if (code == 0) {
        return DYN_CLIENT_OK;
    }
    nng_msg_free(nng_aio_get_msg(used->aio));
    nng_aio_set_msg(used->aio, NULL);
    if (code == NNG_ETIMEDOUT) {
        return fail(error, DYN_CLIENT_TIMEOUT, NULL, "the daemon took no points for %g s", timeout);
    }
    return fail(error, DYN_CLIENT_UNREACHABLE, NULL, "%s", nng_strerror(code));
}

static const one_way_carrier operations = {
    .receive = receive_nng, .end = end_nng, .unsubscribe = unsubscribe_nng, .send = send_nng, .close = close_nng};

dyn_client_status nng_one_way_open(size_t address_count, char *const *addresses, const char *url, size_t topic_count,
                                   char *const *topics, double timeout, one_way **opened, dyn_client_error *error) {
    *opened = NULL;
    nng_one_way *self = calloc(1, sizeof *self);
    if (!self) {
        return fail_memory(error);
    }
    if (!monotonic_condition_init(&self->changed)) {
        free(self);
        return fail_memory(error);
    }
    self->base.carrier = &operations;
    pthread_mutex_init(&self->mutex, NULL);
    bool connected = false;
    if (open_socket(self, topic_count, topics) != 0) {
        close_nng(&self->base);
        return fail_memory(error);
    }
    for (int round = 0; round < 2 && !connected; round++) {
        for (size_t i = 0; i < address_count && !connected; i++) {
            if (has_scheme_of(addresses[i], url) == (round == 0)) {
                connected = dial(self, addresses[i], url, timeout);
            }
        }
    }
    if (!connected) {
        close_nng(&self->base);
        return fail(error, DYN_CLIENT_UNREACHABLE, NULL, "the daemon is not reached at %s%s",
                    address_count > 0 ? addresses[0] : "any address",
                    address_count > 1 ? " or its other addresses" : "");
    }
    *opened = &self->base;
    return DYN_CLIENT_OK;
}
