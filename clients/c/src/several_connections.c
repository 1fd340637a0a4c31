/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spreads requests over several daemons, each behind a connection of its own.
 */
#include "several_connections.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cancellation.h"
#include "error.h"
#include "method_properties.h"
#include "monotonic.h"
#include "nng_connection.h"

/* Daemons at most; bytes of a message up to which the samples of a batch stay together. */
enum { MEMBERS = 64, PIECE_BYTES = 4 << 20 };

/* Time for which a daemon that is lost is left alone, s; and time for dialing it while a request waits, s. */
static const double PAUSE = 1, DIAL_TIME = 0.2;

/* Time that a request waits for a connection that was lost to come back, s. */
static const double RETURN_TIME = 0.3;

/* A daemon of the list. The mutex of the connection guards `retry`; `open` changes once, from NULL. */
typedef struct member {
    char *url;
    _Atomic(connection *) open; /* NULL: not reached yet */
    double retry;               /* time at which a lost daemon is asked again */
} member;

typedef struct several_connection {
    connection base;
    size_t max_reply_bytes;
    atomic_bool is_aborted;
    pthread_mutex_t mutex;
    _Atomic size_t next;
    size_t count, home; /* members; the one that answers requests about its own objects */
    member members[MEMBERS];
} several_connection;

static dyn_client_status open_member(several_connection *self, member *m, double connect_timeout,
                                     dyn_client_error *error) {
    connection *opened = NULL;
    dyn_client_status status = nng_connections.open(m->url, connect_timeout, self->max_reply_bytes, &opened, error);
    connection *none = NULL;
    if (status == DYN_CLIENT_OK) {
        opened->timeout = fmin(opened->timeout, RETURN_TIME);
    }
    if (status == DYN_CLIENT_OK && !atomic_compare_exchange_strong(&m->open, &none, opened)) {
        nng_connections.close(opened);
    }
    return status;
}

/* Returns whether a member may be asked now. One that was not reached yet may be dialed by one request at a time. */
static bool may_ask(several_connection *self, member *m) {
    double now = monotonic_now();
    connection *open = atomic_load(&m->open);
    if (open && !nng_connection_is_up(open)) {
        return false;
    }
    pthread_mutex_lock(&self->mutex);
    bool may = now >= m->retry;
    if (may && m->retry > 0) {
        m->retry = now + PAUSE;
    }
    pthread_mutex_unlock(&self->mutex);
    return may;
}

/* Notes that a member is lost, or that it has answered. */
static void note(several_connection *self, member *m, bool is_lost) {
    pthread_mutex_lock(&self->mutex);
    m->retry = is_lost ? monotonic_now() + PAUSE : 0;
    pthread_mutex_unlock(&self->mutex);
}

/* Asks one member. */
static dyn_client_status ask(several_connection *self, member *m, const outgoing *request, double timeout,
                             incoming *reply, dyn_client_error *error) {
    dyn_client_status status = DYN_CLIENT_OK;
    if (!atomic_load(&m->open)) {
        status = open_member(self, m, fmin(DIAL_TIME, timeout), error);
    }
    if (status == DYN_CLIENT_OK && atomic_load(&self->is_aborted)) {
        return fail(error, DYN_CLIENT_CANCELLED, NULL, "the client was aborted");
    }
    if (status == DYN_CLIENT_OK) {
        status = nng_connections.exchange(atomic_load(&m->open), request, timeout, reply, error);
    }
    note(self, m, status == DYN_CLIENT_UNREACHABLE || status == DYN_CLIENT_TIMEOUT);
    return status;
}

/* Asks members in turn until one answers. Each has half of the time that is left. */
static dyn_client_status ask_any(several_connection *self, const outgoing *request, double timeout, incoming *reply,
                                 dyn_client_error *error) {
    double deadline = monotonic_now() + timeout;
    size_t first = atomic_fetch_add(&self->next, 1);
    dyn_client_status status =
        fail(error, DYN_CLIENT_TIMEOUT, NULL, "no daemon of the list has answered within %g s", timeout);
    bool is_asked = false;
    for (size_t i = 0; i < 2 * self->count && !atomic_load(&self->is_aborted); i++) {
        member *m = &self->members[(first + i) % self->count];
        double left = deadline - monotonic_now();
        bool is_second_round = i >= self->count;
        if (left <= 0 || (is_second_round && is_asked && status != DYN_CLIENT_TIMEOUT)) {
            break;
        }
        if (!may_ask(self, m) && !is_second_round) {
            continue;
        }
        is_asked = true;
        status = ask(self, m, request, is_second_round ? left : left / 2, reply, error);
        if (status != DYN_CLIENT_UNREACHABLE && status != DYN_CLIENT_TIMEOUT) {
            return status;
        }
    }
    return atomic_load(&self->is_aborted) ? fail(error, DYN_CLIENT_CANCELLED, NULL, "the client was aborted") : status;
}

/* Asks all members that are connected, until one has found the request to be cancelled. Returns the last answer, or the
 * last error if nobody answers. */
static dyn_client_status ask_all(several_connection *self, const outgoing *request, double timeout, incoming *reply,
                                 dyn_client_error *error) {
    double deadline = monotonic_now() + timeout;
    dyn_client_status status =
        fail(error, DYN_CLIENT_UNREACHABLE, NULL, "no daemon of the list is connected to cancel a request");
    bool is_answered = false, is_found = false;
    for (size_t i = 0; i < self->count && !is_found; i++) {
        member *m = &self->members[i];
        connection *open = atomic_load(&m->open);
        incoming own = {0};
        double left = (deadline - monotonic_now()) / (double)(self->count - i);
        if (!open || !nng_connection_is_up(open) || left <= 0) {
            continue;
        }
        dyn_client_status asked = ask(self, m, request, left, &own, is_answered ? NULL : error);
        if (asked == DYN_CLIENT_OK) {
            incoming_free(reply);
            *reply = own;
            is_found = cancellation_is_found(own.bytes, own.size);
        }
        status = is_answered ? status : asked;
        is_answered = is_answered || asked == DYN_CLIENT_OK;
    }
    return status;
}

static dyn_client_status exchange_several(connection *base, const outgoing *request, double timeout, incoming *reply,
                                          dyn_client_error *error) {
    several_connection *self = (several_connection *)base;
    method_properties properties = method_properties_of(request->method);
    if (cancellation_is(request->method)) {
        return ask_all(self, request, timeout, reply, error);
    }
    if (properties.is_at_one_daemon || properties.changes_state) {
        return ask(self, &self->members[self->home], request, timeout, reply, error);
    }
    return ask_any(self, request, timeout, reply, error);
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static void abort_several(connection *base) {
    several_connection *self = (several_connection *)base;
    atomic_store(&self->is_aborted, true);
    for (size_t i = 0; i < self->count; i++) {
        connection *open = atomic_load(&self->members[i].open);
        if (open) {
            nng_connections.abort(open);
        }
    }
}

static void give_up_several(connection *base, const void *content) {
    several_connection *self = (several_connection *)base;
    for (size_t i = 0; i < self->count; i++) {
        connection *open = atomic_load(&self->members[i].open);
        if (open) {
            nng_connections.give_up(open, content);
        }
    }
}

static void close_several(connection *base) {
    several_connection *self = (several_connection *)base;
    for (size_t i = 0; i < self->count; i++) {
        connection *open = atomic_load(&self->members[i].open);
        if (open) {
            nng_connections.close(open);
        }
        free(self->members[i].url);
    }
    pthread_mutex_destroy(&self->mutex);
    free(self->base.url);
    free(self);
}

/* Adds the addresses of a list. */
static dyn_client_status add_members(several_connection *self, const char *urls, dyn_client_error *error) {
    for (const char *at = urls; *at != '\0'; at += strspn(at, ", ")) {
        size_t length = strcspn(at, ", ");
        if (self->count == MEMBERS) {
            return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "url", "more than %d addresses", MEMBERS);
        }
        if (strncmp(at, "ipc://", 6) != 0 && strncmp(at, "tcp://", 6) != 0 && strncmp(at, "tls+tcp://", 10) != 0) {
            return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "url",
                        "\"%.*s\" in a list of addresses: pass ipc:///path/to/socket, tcp://host:port or "
                        "tls+tcp://host:port",
                        (int)length, at);
        }
        char *url = strndup(at, length);
        if (!url) {
            return fail_memory(error);
        }
        self->members[self->count++].url = url;
        at += length;
    }
    return DYN_CLIENT_OK;
}

/* Dials all members within the connect timeout, and once one of them is there the others for DIAL_TIME. Succeeds if one
 * is there: the first one becomes the home. */
static dyn_client_status open_members(several_connection *self, dyn_client_error *error) {
    dyn_client_status status = DYN_CLIENT_UNREACHABLE;
    double deadline = monotonic_now() + self->base.timeout;
    bool has_home = false;
    for (size_t i = 0; i < self->count; i++) {
        dyn_client_error own = {0};
        double left = fmax(deadline - monotonic_now(), DIAL_TIME);
        dyn_client_status opened = open_member(self, &self->members[i], has_home ? DIAL_TIME : left, &own);
        if (opened == DYN_CLIENT_OK && !has_home) {
            self->home = i;
            has_home = true;
        }
        if (opened != DYN_CLIENT_OK) {
            note(self, &self->members[i], true);
        }
        if (i == 0 && error) {
            *error = own;
        }
        status = i == 0 ? opened : status;
    }
    return has_home ? DYN_CLIENT_OK : status;
}

static dyn_client_status open_several(const char *urls, double connect_timeout, size_t max_reply_bytes,
                                      connection **opened, dyn_client_error *error) {
    several_connection *self = calloc(1, sizeof *self);
    if (!self) {
        return fail_memory(error);
    }
    pthread_mutex_init(&self->mutex, NULL);
    self->base = (connection){.carrier = &several_connections, .timeout = connect_timeout};
    self->max_reply_bytes = max_reply_bytes;
    dyn_client_status status = add_members(self, urls, error);
    if (status == DYN_CLIENT_OK) {
        status = open_members(self, error);
    }
    if (status == DYN_CLIENT_OK) {
        self->base.url = strdup(self->members[self->home].url);
        status = self->base.url ? DYN_CLIENT_OK : fail_memory(error);
    }
    if (status != DYN_CLIENT_OK) {
        close_several(&self->base);
        return status;
    }
    *opened = &self->base;
    return DYN_CLIENT_OK;
}

/* Returns the bytes of a piece of a batch. Larger messages are possible. */
static size_t most_bytes_of_several(const connection *base) {
    (void)base;
    return PIECE_BYTES;
}

const connection_carrier several_connections = {.most_bytes = most_bytes_of_several,
                                                .open = open_several,
                                                .abort = abort_several,
                                                .give_up = give_up_several,
                                                .close = close_several,
                                                .exchange = exchange_several};
