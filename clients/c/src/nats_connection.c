/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends requests over NATS and receives the replies.
 *
 * Each exchange in flight has an inbox of its own; idle inboxes are reused. The last part of the reply's subject is the
 * number of the exchange, so that a late reply to an earlier one is recognized. Inboxes live as long as the connection,
 * since no subscription may end while messages arrive: the reading thread of libnats 3.4 uses it without a reference.
 *
 * A daemon may disappear with the request. A request that changes nothing is therefore published again when a third of
 * its time has passed without a reply, and the first reply counts. The first time it may go to a daemon that
 * nats_replicas.h chooses, later always to the queue group.
 */
#include "nats_connection.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <nats/nats.h>

#include <dynamics/v1/envelope.pb-c.h>

#include "cancellation.h"
#include "error.h"
#include "method_properties.h"
#include "monotonic.h"
#include "nats_address.h"
#include "nats_link.h"
#include "nats_one_way.h"
#include "nats_replicas.h"

/* Number of times that a request is published at most. */
enum { ATTEMPTS = 3 };

/* Number of connections that the NATS server may refuse before the client gives up, where the client signs a nonce of
 * the server: libnats 3.4 signs about one nonce of 400 in a way that nats-server 2.9 refuses. */
enum { SIGNATURES = 4 };

/* Bytes of a subject. */
enum { SUBJECT_SIZE = 256 };

/* Pause between two requests while no daemon is subscribed, s. */
static const double RETRY_PAUSE = 0.05;

/* Time that a daemon has to come back after a restart of the NATS server before it counts as gone, s. */
static const double RETURN_TIME = 0.5;

/* Longest time in which a waiting exchange notices that it is given up, s. */
static const double ATTENTION = 0.02;

/* Subscription of one exchange. */
typedef struct inbox {
    struct inbox *next;
    natsInbox *name;
    natsSubscription *subscription;
    uint64_t number;         /* of the exchange */
    const void *content;     /* of its request */
    atomic_bool is_given_up; /* by connection_give_up */
} inbox;

typedef struct nats_connection {
    nats_link link;
    size_t max_reply_bytes;
    atomic_bool is_aborted;
    nats_replicas replicas;
    pthread_mutex_t mutex; /* guards the lists */
    inbox *idle, *busy;
} nats_connection;

/* ---- methods ----------------------------------------------------------------------------------------------------- */

/* Writes the subject of a request: dynamics.v1.METHOD for any daemon, dynamics.v1.at.REPLICA.METHOD for one,
 * dynamics.v1.all.METHOD for all of them. */
static void write_subject(const char *replica, unsigned method, char subject[SUBJECT_SIZE]) {
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(&dynamics__v1__request__descriptor, method);
    const char *name = "Unknown";
    if (field && field->descriptor) {
        name = ((const ProtobufCMessageDescriptor *)field->descriptor)->short_name;
    }
    size_t length = strlen(name), suffix = strlen("Request");
    bool has_suffix = length > suffix && strcmp(name + length - suffix, "Request") == 0;
    const char *scope = replica ? "at." : cancellation_is(method) ? "all." : "";
    snprintf(subject, SUBJECT_SIZE, "dynamics.v1.%s%s%s%.*s", scope, replica ? replica : "", replica ? "." : "",
             (int)(has_suffix ? length - suffix : length), name);
}

/* ---- inboxes ----------------------------------------------------------------------------------------------------- */

static void free_inbox(inbox *freed) {
    natsSubscription_Destroy(freed->subscription);
    natsInbox_Destroy(freed->name);
    free(freed);
}

static inbox *make_inbox(nats_connection *self) {
    char subject[SUBJECT_SIZE];
    inbox *made = calloc(1, sizeof *made);
    if (!made) {
        return NULL;
    }
    bool is_made = natsInbox_Create(&made->name) == NATS_OK;
    snprintf(subject, sizeof subject, "%s.*", is_made ? made->name : "");
    if (!is_made || natsConnection_SubscribeSync(&made->subscription, self->link.connection, subject) != NATS_OK) {
        free_inbox(made);
        return NULL;
    }
    return made;
}

/* Moves an idle inbox, or a new one, to the busy inboxes and returns it. Returns NULL on failure. */
static inbox *acquire_inbox(nats_connection *self, const void *content) {
    pthread_mutex_lock(&self->mutex);
    inbox *entered = self->idle;
    self->idle = entered ? entered->next : NULL;
    pthread_mutex_unlock(&self->mutex);
    entered = entered ? entered : make_inbox(self);
    if (entered) {
        pthread_mutex_lock(&self->mutex);
        entered->content = content;
        atomic_store(&entered->is_given_up, false);
        entered->next = self->busy;
        self->busy = entered;
        pthread_mutex_unlock(&self->mutex);
    }
    return entered;
}

/* Moves an inbox to the idle ones. */
static void release_inbox(nats_connection *self, inbox *used) {
    pthread_mutex_lock(&self->mutex);
    inbox **link = &self->busy;
    while (*link != used) {
        link = &(*link)->next;
    }
    *link = used->next;
    used->next = self->idle;
    self->idle = used;
    pthread_mutex_unlock(&self->mutex);
}

static void give_up_nats(connection *base, const void *content) {
    nats_connection *self = (nats_connection *)base;
    pthread_mutex_lock(&self->mutex);
    for (inbox *each = self->busy; each; each = each->next) {
        if (each->content == content) {
            atomic_store(&each->is_given_up, true);
        }
    }
    pthread_mutex_unlock(&self->mutex);
}

/* ---- exchanging -------------------------------------------------------------------------------------------------- */

static void release_message(void *message) {
    natsMsg_Destroy(message);
}

/* Returns whether a message belongs to the present exchange of the inbox. */
static bool is_present(const inbox *used, const natsMsg *message) {
    const char *dot = strrchr(natsMsg_GetSubject(message), '.');
    return dot && strtoull(dot + 1, NULL, 10) == used->number;
}

static natsStatus publish(nats_connection *self, const inbox *used, const char *subject, const uint8_t *bytes,
                          size_t size) {
    char reply[SUBJECT_SIZE];
    snprintf(reply, sizeof reply, "%s.%llu", used->name, (unsigned long long)used->number);
    return natsConnection_PublishRequest(self->link.connection, subject, reply, bytes, (int)size);
}

/* Waits for the reply until `deadline`, or until the exchange is given up. Returns NATS_NO_RESPONDERS if no daemon is
 * subscribed. */
static natsStatus receive(const inbox *used, double deadline, natsMsg **message) {
    for (bool is_received = false; !is_received;) {
        double remaining = deadline - monotonic_now();
        if (remaining <= 0 || atomic_load(&used->is_given_up)) {
            return NATS_TIMEOUT;
        }
        int64_t wait = (int64_t)ceil(fmin(remaining, ATTENTION) * 1e3);
        natsStatus status = natsSubscription_NextMsg(message, used->subscription, wait);
        if (status != NATS_OK && status != NATS_TIMEOUT) {
            return status;
        }
        is_received = status == NATS_OK && is_present(used, *message);
        if (status == NATS_OK && !is_received) {
            natsMsg_Destroy(*message);
        }
    }
    if (natsMsg_IsNoResponders(*message)) {
        natsMsg_Destroy(*message);
        return NATS_NO_RESPONDERS;
    }
    return NATS_OK;
}

/* A request with its deadlines, s. */
typedef struct sending {
    const char *first, *subject; /* subjects of the first attempt (NULL: as the others) and of the others */
    const uint8_t *bytes;
    size_t size;
    unsigned attempts;
    double deadline, subscribed; /* until when a reply counts, and until when a daemon may subscribe */
} sending;

/* Publishes a request until a reply comes. Returns NATS_NO_RESPONDERS if no daemon was subscribed at last. */
static natsStatus ask(nats_connection *self, inbox *used, const sending *s, natsMsg **message) {
    double start = monotonic_now(), share = (s->deadline - start) / s->attempts;
    natsStatus status = NATS_TIMEOUT;
    bool is_alone = false, is_first = s->first;
    for (unsigned attempt = 1; attempt <= s->attempts && status == NATS_TIMEOUT && !atomic_load(&used->is_given_up);
         attempt++) {
        used->number += attempt == 1;
        status = publish(self, used, is_first ? s->first : s->subject, s->bytes, s->size);
        while (status == NATS_OK) {
            status = receive(used, fmin(s->deadline, start + attempt * share), message);
            if (status == NATS_OK) {
                return NATS_OK;
            }
            is_alone = (status == NATS_NO_RESPONDERS && !is_first) || (is_alone && status == NATS_TIMEOUT);
            bool is_over = atomic_load(&self->is_aborted) || atomic_load(&used->is_given_up);
            if (status != NATS_NO_RESPONDERS || monotonic_now() > s->subscribed || is_over) {
                break;
            }
            if (!is_first) {
                nanosleep(&(struct timespec){.tv_nsec = (long)(RETRY_PAUSE * 1e9)}, NULL);
            }
            is_first = false;
            status = publish(self, used, s->subject, s->bytes, s->size);
        }
        is_first = false;
    }
    return is_alone ? NATS_NO_RESPONDERS : status;
}

/* Waits until `deadline` for the reply of a daemon that has found the request to be cancelled. `message` has the first
 * reply, and receives the last one. */
static void await_found(const inbox *used, double deadline, natsMsg **message) {
    natsMsg *next = NULL;
    while (
        !cancellation_is_found((const uint8_t *)natsMsg_GetData(*message), (size_t)natsMsg_GetDataLength(*message)) &&
        receive(used, deadline, &next) == NATS_OK) {
        natsMsg_Destroy(*message);
        *message = next;
    }
}

static dyn_client_status fail_given_up(const nats_connection *self, dyn_client_error *error) {
    return fail(error, DYN_CLIENT_CANCELLED, NULL, "the call was cancelled; no daemon at %s has ended its request",
                self->link.base.url);
}

/* Translates the status of a failed exchange into an error for the user. */
static dyn_client_status exchange_error(nats_connection *self, natsStatus status, bool is_for_one, double timeout,
                                        dyn_client_error *error) {
    bool is_connected = natsConnection_Status(self->link.connection) == NATS_CONN_STATUS_CONNECTED;
    if (status == NATS_NO_MEMORY) {
        return fail_memory(error);
    }
    if (atomic_load(&self->is_aborted)) {
        return fail(error, DYN_CLIENT_CANCELLED, NULL, "the client was aborted");
    }
    if (status == NATS_NO_RESPONDERS && is_for_one) {
        return nats_link_fail_gone(&self->link, error);
    }
    if (status == NATS_NO_RESPONDERS) {
        return fail(error, DYN_CLIENT_UNREACHABLE, NULL, "no dynamicsd answers at %s: is one running?",
                    self->link.base.url);
    }
    if (status == NATS_TIMEOUT && is_connected) {
        return fail(error, DYN_CLIENT_TIMEOUT, NULL, "no answer from %s within %g s", self->link.base.url, timeout);
    }
    return fail(error, DYN_CLIENT_UNREACHABLE, NULL, "the connection to %s is lost (%s): is the NATS server running?",
                self->link.base.url, natsStatus_GetText(status));
}

static size_t most_bytes_of_nats(const connection *base) {
    return nats_link_most_bytes((const nats_link *)base);
}

/* Daemon of a request: the only one that can answer it (NULL: any can), and the one to ask first (NULL: any). */
typedef struct route {
    const char *replica, *first;
} route;

/* Asks the daemons of a route; all of them for a cancellation. */
static dyn_client_status exchange_with(nats_connection *self, route to, const outgoing *request, double timeout,
                                       natsMsg **message, dyn_client_error *error) {
    char subject[SUBJECT_SIZE], first[SUBJECT_SIZE];
    double now = monotonic_now();
    dyn_client_status status = nats_link_check_size(&self->link, request->size, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    uint8_t *bytes = malloc(request->size > 0 ? request->size : 1);
    inbox *used = bytes ? acquire_inbox(self, request->content) : NULL;
    if (!used) {
        bool is_open = bytes && natsConnection_IsClosed(self->link.connection);
        free(bytes);
        return is_open ? exchange_error(self, NATS_CONNECTION_CLOSED, false, timeout, error) : fail_memory(error);
    }
    request->write(request, bytes);
    write_subject(to.replica, request->method, subject);
    write_subject(to.first, request->method, first);
    const sending s = {
        .first = to.first ? first : NULL,
        .subject = subject,
        .bytes = bytes,
        .size = request->size,
        .attempts = to.replica || method_properties_of(request->method).changes_state ? 1 : ATTEMPTS,
        .deadline = now + timeout,
        .subscribed = now + fmin(timeout, to.replica ? RETURN_TIME : self->link.base.timeout),
    };
    natsStatus result = ask(self, used, &s, message);
    if (result == NATS_OK && cancellation_is(request->method)) {
        await_found(used, s.deadline, message);
    }
    bool is_given_up = result != NATS_OK && atomic_load(&used->is_given_up);
    free(bytes);
    release_inbox(self, used);
    if (is_given_up && !atomic_load(&self->is_aborted)) {
        return fail_given_up(self, error);
    }
    return result == NATS_OK ? DYN_CLIENT_OK : exchange_error(self, result, to.replica != NULL, timeout, error);
}

/* Returns the name of the daemon that has sent a message, or NULL. The message owns it. */
static const char *sender_of(natsMsg *message) {
    const char *replica = NULL;
    bool is_named = natsMsgHeader_Get(message, "Dynamics-Replica", &replica) == NATS_OK && replica[0] != '\0';
    return is_named ? replica : NULL;
}

/* Asks a daemon of the queue group: the one that has the fewest requests of this client. */
static dyn_client_status exchange_with_any(nats_connection *self, const outgoing *request, double timeout,
                                           natsMsg **message, dyn_client_error *error) {
    char chosen[NATS_REPLICA_SIZE];
    bool is_chosen = nats_replicas_begin(&self->replicas, chosen);
    const route to = {.first = is_chosen ? chosen : NULL};
    dyn_client_status status = exchange_with(self, to, request, timeout, message, error);
    nats_replicas_end(&self->replicas, chosen, status == DYN_CLIENT_OK ? sender_of(*message) : NULL);
    return status;
}

static dyn_client_status exchange_nats(connection *base, const outgoing *request, double timeout, incoming *reply,
                                       dyn_client_error *error) {
    nats_connection *self = (nats_connection *)base;
    natsMsg *message;
    const method_properties properties = method_properties_of(request->method);
    bool is_cancellation = cancellation_is(request->method);
    const route to = {.replica = properties.is_at_one_daemon && !is_cancellation ? self->link.replica : NULL};
    dyn_client_status status = to.replica || is_cancellation || properties.changes_state
                                   ? exchange_with(self, to, request, timeout, &message, error)
                                   : exchange_with_any(self, request, timeout, &message, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    size_t size = (size_t)natsMsg_GetDataLength(message);
    if (size > self->max_reply_bytes) {
        natsMsg_Destroy(message);
        return fail(error, DYN_CLIENT_RESOURCE_EXHAUSTED, NULL,
                    "the reply has %zu bytes, more than max_reply_bytes (%zu)", size, self->max_reply_bytes);
    }
    *reply = (incoming){
        .bytes = (const uint8_t *)natsMsg_GetData(message), .size = size, .owner = message, .release = release_message};
    return DYN_CLIENT_OK;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static void abort_nats(connection *base) {
    nats_connection *self = (nats_connection *)base;
    atomic_store(&self->is_aborted, true);
    natsConnection_Close(self->link.connection);
}

static void close_nats(connection *base) {
    nats_connection *self = (nats_connection *)base;
    natsConnection_Close(self->link.connection);
    while (self->idle) {
        inbox *next = self->idle->next;
        free_inbox(self->idle);
        self->idle = next;
    }
    pthread_mutex_destroy(&self->mutex);
    nats_replicas_destroy(&self->replicas);
    nats_link_release(&self->link);
}

/* Sets what the address says about the user. libnats reads the user, the password and the token itself. */
static natsStatus set_user(natsOptions *options, const nats_address *address) {
    const char *const *part = address->part;
    natsStatus status = NATS_OK;
    if (part[NATS_CREDENTIALS]) {
        status = natsOptions_SetUserCredentialsFromFiles(options, part[NATS_CREDENTIALS], NULL);
    }
    if (status == NATS_OK && part[NATS_NKEY]) {
        status = natsOptions_SetNKeyFromSeed(options, part[NATS_NKEY], part[NATS_NKEY_SEED]);
    }
    if (status == NATS_OK && part[NATS_CA]) {
        status = natsOptions_SetSecure(options, true);
    }
    if (status == NATS_OK && part[NATS_CA]) {
        status = natsOptions_LoadCATrustedCertificates(options, part[NATS_CA]);
    }
    if (status == NATS_OK && part[NATS_CERTIFICATE]) {
        status = natsOptions_LoadCertificatesChain(options, part[NATS_CERTIFICATE], part[NATS_KEY]);
    }
    return status;
}

static bool is_refused(natsStatus status) {
    return status == NATS_CONNECTION_AUTH_FAILED || status == NATS_NOT_PERMITTED;
}

/* Connects within the client's time to connect. Connects again where the server refuses a signature. */
static natsStatus connect_signed(nats_connection *self, const nats_address *address) {
    int attempts = address->part[NATS_CREDENTIALS] || address->part[NATS_NKEY] ? SIGNATURES : 1;
    double left = self->link.base.timeout, end = monotonic_now() + left;
    natsStatus status = NATS_CONNECTION_AUTH_FAILED;
    for (int i = 0; i < attempts && left > 0 && is_refused(status); i++) {
        natsOptions_SetTimeout(self->link.options, (int64_t)ceil(left * 1e3));
        status = natsConnection_Connect(&self->link.connection, self->link.options);
        left = end - monotonic_now();
    }
    return status;
}

static natsStatus connect_nats(nats_connection *self, const nats_address *address) {
    natsStatus status = natsOptions_Create(&self->link.options);
    if (status == NATS_OK) {
        status = natsOptions_SetURL(self->link.options, address->server);
    }
    if (status == NATS_OK) {
        status = set_user(self->link.options, address);
    }
    if (status == NATS_OK) {
        natsOptions_SetMaxReconnect(self->link.options, -1);
        natsOptions_SetReconnectWait(self->link.options, 100);
        natsOptions_SetName(self->link.options, "libdynamicsclient");
        natsOptions_SetSendAsap(self->link.options, true);
        natsOptions_UseGlobalMessageDelivery(self->link.options, true);
        status = connect_signed(self, address);
    }
    return status;
}

static void write_health_request(const outgoing *request, uint8_t *body) {
    dynamics__v1__request__pack(request->content, body);
}

/* Asks any daemon for its health, and notes its name. */
static dyn_client_status find_replica(nats_connection *self, dyn_client_error *error) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__GetHealthRequest health = DYNAMICS__V1__GET_HEALTH_REQUEST__INIT;
    char component[] = "loop";
    health.component = component;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_GET_HEALTH;
    request.get_health = &health;
    const outgoing question = {
        .method = DYNAMICS__V1__REQUEST__METHOD_GET_HEALTH,
        .size = dynamics__v1__request__get_packed_size(&request),
        .write = write_health_request,
        .content = &request,
    };
    natsMsg *message;
    dyn_client_status status =
        exchange_with(self, (route){.replica = NULL}, &question, self->link.base.timeout, &message, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    const char *replica = sender_of(message);
    bool is_named = replica;
    snprintf(self->link.replica, sizeof self->link.replica, "%s", is_named ? replica : "");
    natsMsg_Destroy(message);
    return is_named
               ? DYN_CLIENT_OK
               : fail(error, DYN_CLIENT_UNREACHABLE, NULL, "what answers at %s is not dynamicsd", self->link.base.url);
}

/* Connects to the NATS server of an address. */
static dyn_client_status connect_to(nats_connection *self, const nats_address *address, dyn_client_error *error) {
    natsStatus connected = connect_nats(self, address);
    const char *url = address->shown;
    switch (connected) {
    case NATS_OK:
        return find_replica(self, error);
    case NATS_NO_MEMORY:
        return fail_memory(error);
    case NATS_INVALID_ARG:
    case NATS_ADDRESS_MISSING:
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "url", "\"%s\" is not an address: pass nats://host:port", url);
    case NATS_NOT_PERMITTED:
    case NATS_CONNECTION_AUTH_FAILED:
        return fail(error, DYN_CLIENT_PERMISSION_DENIED, NULL,
                    "the NATS server %s refuses the user: pass nats://user:password@host:port, a token, or credentials",
                    url);
    case NATS_SSL_ERROR:
        return fail(error, DYN_CLIENT_UNREACHABLE, NULL, "the NATS server %s and this client agree on no TLS (%s)", url,
                    nats_GetLastError(NULL));
    default:
        return fail(error, DYN_CLIENT_UNREACHABLE, NULL, "no NATS server answers at %s (%s)", url,
                    natsStatus_GetText(connected));
    }
}

static dyn_client_status open_nats(const char *url, double connect_timeout, size_t max_reply_bytes, connection **opened,
                                   dyn_client_error *error) {
    nats_address address;
    nats_connection *self = calloc(1, sizeof *self);
    if (!self) {
        return fail_memory(error);
    }
    pthread_mutex_init(&self->mutex, NULL);
    nats_replicas_init(&self->replicas);
    atomic_init(&self->link.references, 1);
    dyn_client_status status = nats_address_read(url, &address, error);
    self->link.base = (connection){.carrier = &nats_connections, .url = address.shown, .timeout = connect_timeout};
    self->max_reply_bytes = max_reply_bytes;
    if (status == DYN_CLIENT_OK) {
        status = connect_to(self, &address, error);
    }
    address.shown = NULL; /* belongs to the connection */
    nats_address_free(&address);
    if (status != DYN_CLIENT_OK) {
        close_nats(&self->link.base);
        return status;
    }
    *opened = &self->link.base;
    return DYN_CLIENT_OK;
}

const connection_carrier nats_connections = {.most_bytes = most_bytes_of_nats,
                                             .open = open_nats,
                                             .abort = abort_nats,
                                             .give_up = give_up_nats,
                                             .close = close_nats,
                                             .exchange = exchange_nats,
                                             .open_one_way = nats_one_way_open};
