/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends requests over one connection, an nng REQ socket, and receives the replies.
 *
 * Each exchange in flight has a context of its own; idle contexts are reused. REQ's own re-sending is switched off,
 * so a lost connection ends the exchange at once with NNG_ECONNRESET. This file decides how often a request is sent
 * again.
 */
#include "nng_connection.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>

#include "error.h"
#include "monotonic.h"
#include "nng_dialer.h"

/* ATTEMPTS: attempts to get a reply if each attempt loses the connection. RECONNECT_MIN, RECONNECT_MAX: pauses before
 * reconnecting, in ms. */
enum { ATTEMPTS = 3, RECONNECT_MIN = 20, RECONNECT_MAX = 1000 };

/* Pause in ms that prevents reconnecting until the kind of the peer is known. nng draws the pause from zero to this
 * bound. */
enum { RECONNECT_UNKNOWN = 3600000 };

/* Wait before closing a peer that is not a REP socket. nng leaks a connection of 4 kB if its socket is closed while
 * one of its threads closes or reconnects it: 1.5.2 one in 30 of such peers, 1.10.1 one in 400. */
static const struct timespec PARTING_PAUSE = {.tv_nsec = 100000000};

/* Most repetitions of the first dial after the peer has closed the connection before the handshake. */
enum { REDIALS = 3 };

/* Pause before a repetition of the first dial. */
static const struct timespec REDIAL_PAUSE = {.tv_nsec = 50000000};

/* Context of one exchange and its asynchronous operation. */
typedef struct slot {
    struct slot *next;
    nng_ctx context;
    nng_aio *aio;
    const void *content;     /* of the request of the exchange */
    atomic_bool is_given_up; /* by connection_give_up */
} slot;

typedef struct nng_connection {
    connection base;
    char *shown; /* the address for messages, without files */
    nng_socket socket;
    nng_dialer dialer;
    size_t max_reply_bytes;
    atomic_bool is_aborted;

    pthread_mutex_t mutex; /* guards the fields below */
    pthread_cond_t changed;
    slot *idle, *busy;
    bool connected, was_connected;
    int pipe;
    bool dialed; /* the first dial has ended with dial_result */
    int dial_result;
} nng_connection;

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Callback of nng for connections (pipes) that begin or end. `connected` is true while the newest pipe exists. */
static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void *argument) {
    nng_connection *self = argument;
    pthread_mutex_lock(&self->mutex);
    if (event == NNG_PIPE_EV_ADD_POST) {
        self->pipe = nng_pipe_id(pipe);
        self->connected = self->was_connected = true;
    } else if (nng_pipe_id(pipe) == self->pipe) {
        self->connected = false;
    }
    pthread_mutex_unlock(&self->mutex);
}

/* Thread function that dials and stores the result in dial_result. It has a thread of its own, since the first dial
 * may take minutes. Dials again if the daemon, while it re-creates an endpoint, closes the connection before the
 * handshake. */
static void *dial(void *argument) {
    nng_connection *self = argument;
    int result = nng_dialer_start(self->dialer, 0);
    for (int i = 0; i < REDIALS && (result == NNG_ECONNSHUT || result == NNG_ECONNRESET); i++) {
        nanosleep(&REDIAL_PAUSE, NULL);
        result = nng_dialer_start(self->dialer, 0);
    }
    pthread_mutex_lock(&self->mutex);
    self->dialed = true;
    self->dial_result = result;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

/* Dials for at most the connect timeout. Returns 0 or nng's error. On a timeout closes the dialer and returns
 * NNG_ETIMEDOUT. */
static int dial_bounded(nng_connection *self) {
    const struct timespec deadline = monotonic_timespec(monotonic_now() + self->base.timeout);
    pthread_t thread;
    if (pthread_create(&thread, NULL, dial, self) != 0) {
        return NNG_ENOMEM;
    }
    pthread_mutex_lock(&self->mutex);
    int waited = 0;
    while (!self->dialed && waited != ETIMEDOUT) {
        waited = pthread_cond_timedwait(&self->changed, &self->mutex, &deadline);
    }
    bool dialed = self->dialed;
    pthread_mutex_unlock(&self->mutex);
    if (!dialed) {
        nng_dialer_close(self->dialer);
    }
    pthread_join(thread, NULL);
    return dialed ? self->dial_result : NNG_ETIMEDOUT;
}

/* Returns whether a code may come from a failed handshake of TLS. */
static bool is_of_tls(int code) {
    return code == NNG_ECRYPTO || code == NNG_EPEERAUTH || code == NNG_ECONNSHUT || code == NNG_ECONNRESET ||
           code == NNG_ECLOSED;
}

/* Translates the code of a failed dial into an error for the user. */
static dyn_client_status dial_error(const nng_connection *self, int code, const char *reason, dyn_client_error *error) {
    if (reason[0] != '\0') {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "url", "%s", reason);
    }
    if (nng_dialer_is_secure(self->base.url) && is_of_tls(code)) {
        return fail(error, DYN_CLIENT_UNREACHABLE, NULL,
                    "%s and this client found no common trust (%s): the authority of the daemon's certificate must be "
                    "in the file ?ca=FILE of the address, and its name must be the host or name=NAME; where the daemon "
                    "asks for it, certificate=FILE&key=FILE must be valid",
                    self->shown, nng_strerror(code));
    }
    switch (code) {
    case NNG_ENOMEM:
        return fail_memory(error);
    case NNG_EADDRINVAL:
    case NNG_EINVAL:
    case NNG_ENOTSUP:
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "url",
                    "\"%s\" is not an address: pass ipc:///path/to/socket, tcp://host:port or tls+tcp://host:port",
                    self->shown);
    case NNG_EPERM:
        return fail(error, DYN_CLIENT_UNREACHABLE, NULL,
                    "%s: permission denied: your user may not open this socket; join the group that owns it",
                    self->shown);
    case NNG_ETIMEDOUT:
        return fail(error, DYN_CLIENT_UNREACHABLE, NULL, "%s does not answer within %g s: is dynamicsd running there?",
                    self->shown, self->base.timeout);
    case NNG_EPROTO:
        return fail(error, DYN_CLIENT_UNREACHABLE, NULL, "what listens at %s is not dynamicsd's request endpoint",
                    self->shown);
    default:
        return fail(error, DYN_CLIENT_UNREACHABLE, NULL, "nothing listens at %s (%s): is dynamicsd running?",
                    self->shown, nng_strerror(code));
    }
}

/* Creates the mutex and the condition variable. Returns false on failure. */
static bool init_locks(nng_connection *self) {
    bool set = monotonic_condition_init(&self->changed);
    if (set && pthread_mutex_init(&self->mutex, NULL) != 0) {
        pthread_cond_destroy(&self->changed);
        set = false;
    }
    return set;
}

static int configure(nng_connection *self) {
    int code = nng_socket_set_size(self->socket, NNG_OPT_RECVMAXSZ, self->max_reply_bytes + sizeof(uint32_t));
    if (code == 0) {
        code = nng_socket_set_ms(self->socket, NNG_OPT_RECONNMINT, RECONNECT_UNKNOWN);
    }
    if (code == 0) {
        code = nng_socket_set_ms(self->socket, NNG_OPT_RECONNMAXT, RECONNECT_UNKNOWN);
    }
    if (code == 0) {
        code = nng_pipe_notify(self->socket, NNG_PIPE_EV_ADD_POST, on_pipe, self);
    }
    if (code == 0) {
        code = nng_pipe_notify(self->socket, NNG_PIPE_EV_REM_POST, on_pipe, self);
    }
    return code;
}

/* Reads a flag under the mutex that guards it. */
static bool read_guarded(nng_connection *self, const bool *guarded) {
    pthread_mutex_lock(&self->mutex);
    bool value = *guarded;
    pthread_mutex_unlock(&self->mutex);
    return value;
}

static bool is_connected(nng_connection *self) {
    return read_guarded(self, &self->connected);
}

/* Lets nng reconnect quickly from now on. Returns 0 or nng's error: NNG_EPROTO if the peer is not a request endpoint,
 * NNG_ECONNRESET if the connection is already lost. */
static int enable_reconnect(nng_connection *self) {
    if (!read_guarded(self, &self->was_connected)) {
        return NNG_EPROTO;
    }
    int code = nng_dialer_set_ms(self->dialer, NNG_OPT_RECONNMAXT, RECONNECT_MAX);
    if (code == 0) {
        code = nng_dialer_set_ms(self->dialer, NNG_OPT_RECONNMINT, RECONNECT_MIN);
    }
    return code == 0 && !is_connected(self) ? NNG_ECONNRESET : code;
}

/* Returns true in a child of the process that opened the first connection. nng ends a process that uses it on both
 * sides of a fork, so children are refused. */
static bool is_forked(void) {
    static _Atomic pid_t first;
    pid_t expected = 0;
    return !atomic_compare_exchange_strong(&first, &expected, getpid()) && expected != getpid();
}

static void close_nng(connection *base);

static dyn_client_status open_nng(const char *url, double connect_timeout, size_t max_reply_bytes, connection **opened,
                                  dyn_client_error *error) {
    if (is_forked()) {
        return fail(error, DYN_CLIENT_UNAVAILABLE, NULL,
                    "this process was forked from one that had a client: use clients in one of the two, or call exec");
    }
    nng_connection *self = calloc(1, sizeof *self);
    if (!self) {
        return fail_memory(error);
    }
    if (!init_locks(self)) {
        free(self);
        return fail_memory(error);
    }
    self->base.timeout = connect_timeout;
    self->max_reply_bytes = max_reply_bytes;
    self->base.url = strdup(url);
    self->shown = strndup(url, strcspn(url, "?"));
    if (!self->base.url || !self->shown || nng_req0_open(&self->socket) != 0) {
        close_nng(&self->base);
        return fail_memory(error);
    }
    char reason[NNG_DIALER_REASON] = "";
    int code = configure(self);
    if (code == 0) {
        code = nng_dialer_make(self->socket, url, url, &self->dialer, reason);
    }
    if (code == 0) {
        code = dial_bounded(self);
    }
    if (code == 0) {
        code = enable_reconnect(self);
    }
    if (code != 0) {
        dyn_client_status status = dial_error(self, code, reason, error);
        if (code == NNG_EPROTO) {
            nanosleep(&PARTING_PAUSE, NULL);
        }
        close_nng(&self->base);
        return status;
    }
    self->base.carrier = &nng_connections;
    *opened = &self->base;
    return DYN_CLIENT_OK;
}

static void close_nng(connection *base) {
    nng_connection *closed = (nng_connection *)base;
    for (slot *idle = closed->idle; idle;) {
        slot *next = idle->next;
        nng_aio_free(idle->aio); /* waits for nng's timer, which may still use the context */
        nng_ctx_close(idle->context);
        free(idle);
        idle = next;
    }
    if (nng_socket_id(closed->socket) > 0) {
        nng_close(closed->socket);
    }
    pthread_cond_destroy(&closed->changed);
    pthread_mutex_destroy(&closed->mutex);
    free(closed->base.url);
    free(closed->shown);
    free(closed);
}

/* ---- exchanging -------------------------------------------------------------------------------------------------- */

/* Creates a slot with an open context. Returns NULL on failure. */
static slot *make_slot(const nng_connection *self) {
    slot *made = calloc(1, sizeof *made);
    if (!made) {
        return NULL;
    }
    if (nng_ctx_open(&made->context, self->socket) != 0) {
        free(made);
        return NULL;
    }
    if (nng_ctx_set_ms(made->context, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE) != 0 ||
        nng_aio_alloc(&made->aio, NULL, NULL) != 0) {
        nng_ctx_close(made->context);
        free(made);
        return NULL;
    }
    return made;
}

/* Moves an idle slot, or a new one, to the busy slots and returns it. Returns NULL when out of memory. */
static slot *acquire_slot(nng_connection *self, const void *content) {
    pthread_mutex_lock(&self->mutex);
    slot *entered = self->idle;
    if (entered) {
        self->idle = entered->next;
    } else {
        pthread_mutex_unlock(&self->mutex);
        entered = make_slot(self);
        if (!entered) {
            return NULL;
        }
        pthread_mutex_lock(&self->mutex);
    }
    entered->content = content;
    atomic_store(&entered->is_given_up, false);
    entered->next = self->busy;
    self->busy = entered;
    pthread_mutex_unlock(&self->mutex);
    return entered;
}

static void release_slot(nng_connection *self, slot *used) {
    pthread_mutex_lock(&self->mutex);
    slot **link = &self->busy;
    while (*link != used) {
        link = &(*link)->next;
    }
    *link = used->next;
    used->next = self->idle;
    self->idle = used;
    pthread_mutex_unlock(&self->mutex);
}

/* Cancels the operations of busy slots. Returns false if there are none. */
static bool cancel_busy(nng_connection *self) {
    pthread_mutex_lock(&self->mutex);
    bool is_busy = self->busy != NULL;
    for (slot *each = self->busy; each; each = each->next) {
        nng_aio_cancel(each->aio);
    }
    pthread_mutex_unlock(&self->mutex);
    return is_busy;
}

static void give_up_nng(connection *base, const void *content) {
    nng_connection *self = (nng_connection *)base;
    pthread_mutex_lock(&self->mutex);
    for (slot *each = self->busy; each; each = each->next) {
        if (each->content == content) {
            atomic_store(&each->is_given_up, true);
            nng_aio_cancel(each->aio);
        }
    }
    pthread_mutex_unlock(&self->mutex);
}

/* Cancels exchanges until all have ended. One attempt is not enough: an exchange between two operations has nothing to
 * cancel. */
static void abort_nng(connection *base) {
    nng_connection *aborted = (nng_connection *)base;
    atomic_store(&aborted->is_aborted, true);
    while (cancel_busy(aborted)) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* Converts seconds to nng's whole milliseconds, rounded up, at least one. */
static nng_duration to_duration(double seconds) {
    double milliseconds = ceil(seconds * 1e3);
    return milliseconds < 1 ? 1 : milliseconds > INT_MAX ? INT_MAX : (nng_duration)milliseconds;
}

nng_msg *outgoing_message(const outgoing *request) {
    nng_msg *message;
    if (nng_msg_alloc(&message, request->size) != 0) {
        return NULL;
    }
    request->write(request, nng_msg_body(message));
    return message;
}

/* Sends the request. Waits for a connection at most the connect timeout, and for a busy connection until the deadline.
 * Returns 0 or nng's error; NNG_ECANCELED after connection_abort and connection_give_up. */
static int send_request(nng_connection *self, slot *used, const outgoing *request, double deadline) {
    for (;;) {
        double remaining = deadline - monotonic_now();
        if (atomic_load(&self->is_aborted) || atomic_load(&used->is_given_up)) {
            return NNG_ECANCELED;
        }
        if (remaining <= 0) {
            return NNG_ETIMEDOUT;
        }
        nng_msg *message = outgoing_message(request);
        if (!message) {
            return NNG_ENOMEM;
        }
        nng_aio_set_msg(used->aio, message);
        nng_aio_set_timeout(used->aio, to_duration(fmin(remaining, self->base.timeout)));
        nng_ctx_send(used->context, used->aio);
        nng_aio_wait(used->aio);
        int code = nng_aio_result(used->aio);
        if (code == 0) {
            return 0;
        }
        nng_msg_free(nng_aio_get_msg(used->aio));
        nng_aio_set_msg(used->aio, NULL);
        if (code != NNG_ETIMEDOUT || !is_connected(self)) {
            return code;
        }
    }
}

static void release_message(void *message) {
    nng_msg_free(message);
}

static int receive_reply(slot *used, double deadline, incoming *reply) {
    nng_aio_set_timeout(used->aio, to_duration(deadline - monotonic_now()));
    nng_ctx_recv(used->context, used->aio);
    nng_aio_wait(used->aio);
    int code = nng_aio_result(used->aio);
    if (code != 0) {
        return code;
    }
    nng_msg *message = nng_aio_get_msg(used->aio);
    nng_aio_set_msg(used->aio, NULL);
    *reply = (incoming){
        .bytes = nng_msg_body(message), .size = nng_msg_len(message), .owner = message, .release = release_message};
    return 0;
}

/* Translates the code of a failed exchange into an error for the user. */
static dyn_client_status exchange_error(nng_connection *self, int code, size_t size, double timeout,
                                        dyn_client_error *error) {
    if (code == NNG_ENOMEM) {
        return fail_memory(error);
    }
    if (atomic_load(&self->is_aborted)) {
        return fail(error, DYN_CLIENT_CANCELLED, NULL, "the client was aborted");
    }
    if (code == NNG_ECANCELED) {
        return fail(error, DYN_CLIENT_CANCELLED, NULL, "the call was cancelled; %s has not ended its request",
                    self->shown);
    }
    if (code == NNG_ECONNRESET) {
        return fail(error, DYN_CLIENT_UNREACHABLE, NULL,
                    "%s closed the connection on each of %d attempts: the request (%zu bytes) may exceed the daemon's "
                    "limit, its reply max_reply_bytes (%zu), or the daemon has too many connections",
                    self->shown, ATTEMPTS, size, self->max_reply_bytes);
    }
    if (code == NNG_ETIMEDOUT && is_connected(self)) {
        return fail(error, DYN_CLIENT_TIMEOUT, NULL, "no answer from %s within %g s", self->shown, timeout);
    }
    if (code == NNG_ETIMEDOUT) {
        return fail(error, DYN_CLIENT_UNREACHABLE, NULL,
                    "the connection to %s is lost and could not be made again: is dynamicsd running?", self->shown);
    }
    return fail(error, DYN_CLIENT_UNREACHABLE, NULL, "%s: %s", self->shown, nng_strerror(code));
}

static dyn_client_status exchange_nng(connection *base, const outgoing *request, double timeout, incoming *reply,
                                      dyn_client_error *error) {
    nng_connection *used = (nng_connection *)base;
    slot *own = acquire_slot(used, request->content);
    if (!own) {
        return fail_memory(error);
    }
    double deadline = monotonic_now() + timeout;
    int code = NNG_ECONNRESET;
    for (int attempt = 0; attempt < ATTEMPTS && code == NNG_ECONNRESET; attempt++) {
        code = send_request(used, own, request, deadline);
        if (code == 0) {
            code = receive_reply(own, deadline, reply);
        }
    }
    release_slot(used, own);
    return code == 0 ? DYN_CLIENT_OK : exchange_error(used, code, request->size, timeout, error);
}

bool nng_connection_is_up(connection *used) {
    return is_connected((nng_connection *)used);
}

const connection_carrier nng_connections = {
    .open = open_nng, .abort = abort_nng, .give_up = give_up_nng, .close = close_nng, .exchange = exchange_nng};
