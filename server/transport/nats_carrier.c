/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The NATS carrier: a queue subscription for requests to any replica, those for requests to this replica and to all,
 * one for points that are pushed to its streams, and one that learns of events without a subscriber.
 *
 * libnats delivers the messages of a subscription in a thread of its own. The queue group has several subscriptions of
 * this daemon, so that several requests are decoded at once. A thread takes a free call for its message, and waits
 * while there is none.
 */
#include "transport/nats_carrier.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nats/nats.h>

#include "observe/clock.h"
#include "transport/reply_bytes.h"

/* Subscriptions for requests: those for the queue group, the one for this replica, and the one for all. */
enum { QUEUE_SUBSCRIPTIONS = 2, SUBSCRIPTIONS = QUEUE_SUBSCRIPTIONS + 2 };

/* Most messages that wait for a free call, and the bytes that the headers of a reply need. */
enum { WAITING_MESSAGES = 65536, HEADER_BYTES = 256 };

/* Pause between two attempts to connect, time without an answer to a ping, and time to connect, ms. */
enum { RECONNECT_WAIT = 100, PING_INTERVAL = 5000, CONNECT_TIMEOUT = 2000 };

/* Longest pause before another attempt after a refusal, s. The first is 1 s; each later one is twice as long. */
enum { LONGEST_PAUSE = 60 };

static const char queue_group[] = "dynamics";

/* Message and the call that it became. */
typedef struct nats_call {
    transport_call call;
    nats_carrier *carrier;
    struct nats_call *next; /* of the free calls */
    natsMsg *message;
    size_t request_bytes; /* bytes of the budget that the request holds */
    size_t reply_bytes;   /* bytes of the budget that the reply holds */
    size_t reply_size;
    uint8_t *reply;
} nats_call;

struct nats_carrier {
    transport_options options;
    natsOptions *nats_options;
    pthread_rwlock_t links;                /* guards the members up to unread, which a refused daemon replaces */
    natsConnection *connection, *previous; /* the previous one may still be in the hands of another thread */
    natsSubscription *subscriptions[SUBSCRIPTIONS], *ingest, *unread;
    natsInbox *inbox; /* subject that begins those of the answers to events */
    nats_receiver receiver;
    bool is_receiving, is_draining;    /* guarded by links */
    atomic_bool is_refused;            /* by the server: the connection is closed */
    atomic_uint refusals;              /* since the last connection */
    atomic_uint_fast64_t next_attempt; /* ns, CLOCK_MONOTONIC; after a refusal */
    nats_call *calls;
    pthread_mutex_t mutex; /* guards `free` */
    pthread_cond_t freed;
    nats_call *free;
    atomic_uint pending, connections;
    atomic_bool is_closing;
    log_episode lost, slow;
};

/* ---- replies ----------------------------------------------------------------------------------------------------- */

static void free_reply(nats_call *call) {
    memory_budget_release(call->carrier->options.budget, call->reply_bytes);
    free(call->reply);
    call->reply = NULL;
    call->reply_bytes = 0;
}

static uint8_t *nats_reply_buffer(transport_call *base, size_t size) {
    nats_call *call = (nats_call *)base;
    free_reply(call);
    if (!reply_bytes_charge(call->carrier->options.budget, base, size, &call->reply_bytes)) {
        return NULL;
    }
    call->reply = malloc(size > 0 ? size : 1);
    call->reply_size = size;
    return call->reply;
}

/* Publishes the reply with the name of this replica. A failure is logged: the client times out or asks again. */
static void publish_reply(nats_call *call) {
    nats_carrier *carrier = call->carrier;
    natsMsg *reply = NULL;
    natsStatus status =
        natsMsg_Create(&reply, natsMsg_GetReply(call->message), NULL, (const char *)call->reply, (int)call->reply_size);
    if (status == NATS_OK) {
        status = natsMsgHeader_Set(reply, "Dynamics-Replica", carrier->options.nats.replica);
    }
    if (status == NATS_OK) {
        pthread_rwlock_rdlock(&carrier->links);
        status = natsConnection_PublishMsg(carrier->connection, reply);
        pthread_rwlock_unlock(&carrier->links);
    }
    natsMsg_Destroy(reply);
    if (status != NATS_OK) {
        log_repeated(carrier->options.log, &carrier->lost, "a reply over NATS is lost: %s", natsStatus_GetText(status));
    }
}

static void release_call(nats_call *call) {
    nats_carrier *carrier = call->carrier;
    pthread_mutex_lock(&carrier->mutex);
    call->next = carrier->free;
    carrier->free = call;
    pthread_cond_signal(&carrier->freed);
    pthread_mutex_unlock(&carrier->mutex);
    atomic_fetch_sub(&carrier->pending, 1);
}

static void nats_send_reply(transport_call *base) {
    nats_call *call = (nats_call *)base;
    memory_budget *budget = call->carrier->options.budget;
    if (call->reply) {
        publish_reply(call);
    }
    free_reply(call);
    memory_budget_release(budget, call->call.set_aside);
    memory_budget_release(budget, call->request_bytes);
    call->call.set_aside = 0;
    call->request_bytes = 0;
    natsMsg_Destroy(call->message);
    call->message = NULL;
    release_call(call);
}

/* Ignores the role of a token: each request over NATS stands for itself. */
static void nats_vouch(transport_call *base, access_role role) {
    (void)base;
    (void)role;
}

static const transport_carrier operations = {
    .reply_buffer = nats_reply_buffer, .send = nats_send_reply, .vouch = nats_vouch};

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static nats_call *acquire_call(nats_carrier *carrier) {
    pthread_mutex_lock(&carrier->mutex);
    while (!carrier->free) {
        pthread_cond_wait(&carrier->freed, &carrier->mutex);
    }
    nats_call *call = carrier->free;
    carrier->free = call->next;
    pthread_mutex_unlock(&carrier->mutex);
    return call;
}

/* Passes a message to the handler. A message without a subject for the reply is discarded. */
static void on_message(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *context) {
    (void)subscription;
    nats_carrier *carrier = context;
    if (!natsMsg_GetReply(message)) {
        natsMsg_Destroy(message);
        return;
    }
    atomic_fetch_add(&carrier->pending, 1);
    nats_call *call = acquire_call(carrier);
    size_t size = (size_t)natsMsg_GetDataLength(message);
    int64_t most = natsConnection_GetMaxPayload(connection);
    access_guard *access = carrier->options.access;
    const access_peer peer = {.is_nats = true};
    call->message = message;
    call->request_bytes = size >= TRANSIT_LARGE && memory_budget_reserve(carrier->options.budget, size) ? size : 0;
    call->call = (transport_call){
        .carrier = &operations,
        .request = (const uint8_t *)natsMsg_GetData(message),
        .request_size = size,
        .arrival = clock_now(),
        .reply_limit = most > HEADER_BYTES ? (size_t)most - HEADER_BYTES : 0,
        .identity = {TRANSPORT_ORIGIN_NATS, 0},
        .peer = "nats",
        .caller = {.role = access ? access_find_role(access, &peer) : ACCESS_ADMINISTRATOR, .name = ACCESS_NATS_NAME},
    };
    carrier->options.handler(carrier->options.handler_context, &call->call);
}

/* ---- pushed messages and events ---------------------------------------------------------------------------------- */

/* Receives a pushed message. The empty answer tells the sender that it is read. */
static void on_pushed(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *context) {
    (void)subscription;
    const nats_carrier *carrier = context;
    const nats_receiver *receiver = &carrier->receiver;
    receiver->deliver(receiver->context, (const uint8_t *)natsMsg_GetData(message),
                      (size_t)natsMsg_GetDataLength(message), clock_now(), "nats");
    if (natsMsg_GetReply(message)) {
        natsConnection_Publish(connection, natsMsg_GetReply(message), NULL, 0);
    }
    natsMsg_Destroy(message);
}

/* Receives the NATS server's answer to an event without a subscriber. */
static void on_unread(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *context) {
    (void)connection;
    (void)subscription;
    const nats_carrier *carrier = context;
    const char *dot = strrchr(natsMsg_GetSubject(message), '.');
    if (dot && natsMsg_IsNoResponders(message)) {
        carrier->receiver.note_unread(carrier->receiver.context, (unsigned)strtoul(dot + 1, NULL, 10));
    }
    natsMsg_Destroy(message);
}

/* Subscribes to what is no request. */
static natsStatus receive_others(nats_carrier *carrier) {
    char subject[TRANSPORT_ADDRESS_SIZE];
    snprintf(subject, sizeof subject, "dynamics.v1.ingest.%s", carrier->options.nats.replica);
    natsStatus status = natsConnection_Subscribe(&carrier->ingest, carrier->connection, subject, on_pushed, carrier);
    if (status == NATS_OK) {
        status = natsSubscription_SetPendingLimits(carrier->ingest, WAITING_MESSAGES, NATS_WAITING_BYTES);
    }
    if (status == NATS_OK) {
        snprintf(subject, sizeof subject, "%s.*", carrier->inbox);
        status = natsConnection_Subscribe(&carrier->unread, carrier->connection, subject, on_unread, carrier);
    }
    return status;
}

/* ---- connection -------------------------------------------------------------------------------------------------- */

static void on_disconnected(natsConnection *connection, void *context) {
    (void)connection;
    nats_carrier *carrier = context;
    if (atomic_load(&carrier->is_closing)) {
        return;
    }
    log_warning(carrier->options.log, "the connection to the NATS server is lost; trying to connect again");
}

/* Reports the end of the connection: libnats gives up when the server refuses the user twice. */
static void on_closed(natsConnection *connection, void *context) {
    nats_carrier *carrier = context;
    const char *reason = NULL;
    if (!atomic_load(&carrier->is_closing)) {
        natsConnection_GetLastError(connection, &reason);
        unsigned count = atomic_fetch_add(&carrier->refusals, 1);
        unsigned pause = count < 6 && 1u << count < LONGEST_PAUSE ? 1u << count : LONGEST_PAUSE;
        log_error(carrier->options.log,
                  "the NATS server refuses this daemon (%s), which tries again in %u s; set the user and the "
                  "certificates in [nats]",
                  reason && reason[0] ? reason : "the connection is closed", pause);
        atomic_store(&carrier->next_attempt, clock_now() + clock_duration(pause));
        atomic_store(&carrier->is_refused, true);
    }
}

static void on_connected(natsConnection *connection, void *context) {
    nats_carrier *carrier = context;
    char url[TRANSPORT_ADDRESS_SIZE] = "";
    atomic_fetch_add(&carrier->connections, 1);
    atomic_store(&carrier->refusals, 0);
    natsConnection_GetConnectedUrl(connection, url, sizeof url);
    log_info(carrier->options.log, "connected to the NATS server %s as replica %s", url, carrier->options.nats.replica);
}

static void on_error(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *context) {
    (void)connection;
    (void)subscription;
    nats_carrier *carrier = context;
    log_repeated(carrier->options.log, &carrier->slow,
                 status == NATS_SLOW_CONSUMER ? "requests over NATS arrive faster than they are answered: some are lost"
                                              : "NATS reports: %s",
                 natsStatus_GetText(status));
}

/* Sets what the configuration says about the user. */
static natsStatus set_user(natsOptions *options, const transport_nats *nats) {
    natsStatus status = NATS_OK;
    if (nats->credentials_file[0] != '\0') {
        status = natsOptions_SetUserCredentialsFromFiles(options, nats->credentials_file, NULL);
    }
    if (status == NATS_OK && nats->nkey[0] != '\0') {
        status = natsOptions_SetNKeyFromSeed(options, nats->nkey, nats->nkey_seed_file);
    }
    if (status == NATS_OK && nats->user[0] != '\0') {
        status = natsOptions_SetUserInfo(options, nats->user, nats->password);
    }
    if (status == NATS_OK && nats->token[0] != '\0') {
        status = natsOptions_SetToken(options, nats->token);
    }
    return status;
}

/* Sets the certificates. */
static natsStatus set_certificates(natsOptions *options, const transport_nats *nats) {
    natsStatus status = NATS_OK;
    if (nats->ca_file[0] != '\0') {
        status = natsOptions_SetSecure(options, true);
        if (status == NATS_OK) {
            status = natsOptions_LoadCATrustedCertificates(options, nats->ca_file);
        }
    }
    if (status == NATS_OK && nats->certificate_file[0] != '\0') {
        status = natsOptions_LoadCertificatesChain(options, nats->certificate_file, nats->key_file);
    }
    return status;
}

static natsStatus set_callbacks(nats_carrier *carrier) {
    natsOptions *options = carrier->nats_options;
    natsStatus status = natsOptions_SetRetryOnFailedConnect(options, true, on_connected, carrier);
    if (status == NATS_OK) {
        status = natsOptions_SetDisconnectedCB(options, on_disconnected, carrier);
    }
    if (status == NATS_OK) {
        status = natsOptions_SetReconnectedCB(options, on_connected, carrier);
    }
    if (status == NATS_OK) {
        status = natsOptions_SetClosedCB(options, on_closed, carrier);
    }
    return status == NATS_OK ? natsOptions_SetErrorHandler(options, on_error, carrier) : status;
}

static natsStatus set_options(nats_carrier *carrier) {
    const transport_nats *nats = &carrier->options.nats;
    natsStatus status = natsOptions_Create(&carrier->nats_options);
    natsOptions *options = carrier->nats_options;
    if (status == NATS_OK) {
        const char *servers[TRANSPORT_NATS_SERVERS];
        memcpy(servers, nats->servers, sizeof servers);
        status = natsOptions_SetServers(options, servers, (int)nats->server_count);
    }
    if (status == NATS_OK) {
        status = set_callbacks(carrier);
    }
    if (status == NATS_OK) {
        natsOptions_SetName(options, "dynamicsd");
        natsOptions_SetSendAsap(options, true);
        natsOptions_SetTimeout(options, CONNECT_TIMEOUT);
        natsOptions_SetPingInterval(options, PING_INTERVAL);
        natsOptions_SetMaxReconnect(options, -1);
        natsOptions_SetReconnectWait(options, RECONNECT_WAIT);
        status = set_user(options, nats);
    }
    return status == NATS_OK ? set_certificates(options, nats) : status;
}

/* Creates the calls, all of them free. */
static bool create_calls(nats_carrier *carrier) {
    carrier->calls = calloc(carrier->options.contexts, sizeof *carrier->calls);
    for (size_t i = 0; carrier->calls && i < carrier->options.contexts; i++) {
        carrier->calls[i].carrier = carrier;
        carrier->calls[i].next = carrier->free;
        carrier->free = &carrier->calls[i];
    }
    return carrier->calls != NULL;
}

bool nats_carrier_open(const transport_options *options, const nats_receiver *receiver,
                       char error[TRANSPORT_ERROR_SIZE], nats_carrier **result) {
    nats_carrier *carrier = calloc(1, sizeof *carrier);
    if (!carrier) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "out of memory");
        return false;
    }
    carrier->options = *options;
    carrier->receiver = *receiver;
    pthread_mutex_init(&carrier->mutex, NULL);
    pthread_cond_init(&carrier->freed, NULL);
    pthread_rwlock_init(&carrier->links, NULL);
    natsStatus status = create_calls(carrier) ? set_options(carrier) : NATS_NO_MEMORY;
    if (status == NATS_OK) {
        status = natsInbox_Create(&carrier->inbox);
    }
    if (status == NATS_OK) {
        status = natsConnection_Connect(&carrier->connection, carrier->nats_options);
    }
    if (status != NATS_OK && status != NATS_NOT_YET_CONNECTED) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "%s: cannot use NATS: %s", options->nats.servers[0],
                 natsStatus_GetText(status));
        nats_carrier_stop(carrier);
        return false;
    }
    if (status == NATS_NOT_YET_CONNECTED) {
        log_warning(options->log, "%s: no NATS server answers yet; trying again", options->nats.servers[0]);
    } else {
        on_connected(carrier->connection, carrier);
    }
    *result = carrier;
    return true;
}

/* Subscribes to requests and pushed messages. Called with the links locked. */
static natsStatus subscribe(nats_carrier *carrier) {
    char own[TRANSPORT_ADDRESS_SIZE];
    snprintf(own, sizeof own, "dynamics.v1.at.%s.*", carrier->options.nats.replica);
    natsStatus status = NATS_OK;
    for (int i = 0; i < SUBSCRIPTIONS && status == NATS_OK; i++) {
        natsSubscription **subscription = &carrier->subscriptions[i];
        status =
            i < QUEUE_SUBSCRIPTIONS
                ? natsConnection_QueueSubscribe(subscription, carrier->connection, "dynamics.v1.*", queue_group,
                                                on_message, carrier)
                : natsConnection_Subscribe(subscription, carrier->connection,
                                           i == QUEUE_SUBSCRIPTIONS ? own : "dynamics.v1.all.*", on_message, carrier);
        if (status == NATS_OK) {
            status = natsSubscription_SetPendingLimits(*subscription, WAITING_MESSAGES, NATS_WAITING_BYTES);
        }
    }
    return status == NATS_OK ? receive_others(carrier) : status;
}

bool nats_carrier_receive(nats_carrier *carrier, char error[TRANSPORT_ERROR_SIZE]) {
    pthread_rwlock_wrlock(&carrier->links);
    natsStatus status = subscribe(carrier);
    carrier->is_receiving = true;
    pthread_rwlock_unlock(&carrier->links);
    bool is_good = status == NATS_OK || status == NATS_CONNECTION_CLOSED; /* on_closed reports it */
    if (!is_good) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "cannot receive from NATS: %s", natsStatus_GetText(status));
    }
    return is_good;
}

static void destroy_subscriptions(nats_carrier *carrier) {
    for (int i = 0; i < SUBSCRIPTIONS; i++) {
        natsSubscription_Destroy(carrier->subscriptions[i]);
        carrier->subscriptions[i] = NULL;
    }
    natsSubscription_Destroy(carrier->ingest);
    natsSubscription_Destroy(carrier->unread);
    carrier->ingest = carrier->unread = NULL;
}

void nats_carrier_sweep(nats_carrier *carrier, uint64_t now) {
    if (!atomic_load(&carrier->is_refused) || now < atomic_load(&carrier->next_attempt)) {
        return;
    }
    natsConnection *fresh = NULL;
    atomic_store(&carrier->is_refused, false);
    natsStatus status = natsConnection_Connect(&fresh, carrier->nats_options);
    if (status != NATS_OK && status != NATS_NOT_YET_CONNECTED) {
        on_closed(carrier->connection, carrier);
        return;
    }
    pthread_rwlock_wrlock(&carrier->links);
    natsConnection *unused = carrier->previous;
    carrier->previous = carrier->connection;
    destroy_subscriptions(carrier);
    carrier->connection = fresh;
    if (carrier->is_receiving && !carrier->is_draining) {
        subscribe(carrier); /* where the server refuses again, on_closed reports it */
    }
    pthread_rwlock_unlock(&carrier->links);
    natsConnection_Destroy(unused);
    if (status == NATS_OK) {
        on_connected(fresh, carrier);
    }
}

/* Writes a topic as part of a subject: a slash separates parts, and other characters that NATS does not allow become an
 * underscore. */
static void write_subject(const nats_carrier *carrier, const char *topic, char subject[TRANSPORT_ADDRESS_SIZE]) {
    int length =
        snprintf(subject, TRANSPORT_ADDRESS_SIZE, "dynamics.v1.events.%s.%s", carrier->options.nats.replica, topic);
    for (int i = (int)(strlen(subject) - strnlen(topic, TRANSPORT_ADDRESS_SIZE)); length > 0 && subject[i]; i++) {
        unsigned char c = (unsigned char)subject[i];
        subject[i] = c == '/' ? '.' : c <= ' ' || c == '*' || c == '>' || c == '.' ? '_' : (char)c;
    }
}

bool nats_carrier_publish(nats_carrier *carrier, const char *topic, const uint8_t *body, size_t size) {
    char subject[TRANSPORT_ADDRESS_SIZE];
    write_subject(carrier, topic, subject);
    pthread_rwlock_rdlock(&carrier->links);
    natsStatus status = natsConnection_Publish(carrier->connection, subject, body, (int)size);
    pthread_rwlock_unlock(&carrier->links);
    return status == NATS_OK;
}

bool nats_carrier_publish_to_watchers(nats_carrier *carrier, const char *topic, const uint8_t *body, size_t size,
                                      unsigned number) {
    char subject[TRANSPORT_ADDRESS_SIZE], answer[TRANSPORT_ADDRESS_SIZE];
    write_subject(carrier, topic, subject);
    snprintf(answer, sizeof answer, "%s.%u", carrier->inbox, number);
    pthread_rwlock_rdlock(&carrier->links);
    natsStatus status = natsConnection_PublishRequest(carrier->connection, subject, answer, body, (int)size);
    pthread_rwlock_unlock(&carrier->links);
    return status == NATS_OK;
}

void nats_carrier_drain(nats_carrier *carrier) {
    pthread_rwlock_wrlock(&carrier->links);
    carrier->is_draining = true;
    for (int i = 0; i < SUBSCRIPTIONS; i++) {
        if (carrier->subscriptions[i]) {
            natsSubscription_Drain(carrier->subscriptions[i]);
        }
    }
    pthread_rwlock_unlock(&carrier->links);
}

unsigned nats_carrier_pending(const nats_carrier *carrier) {
    return atomic_load(&carrier->pending);
}

bool nats_carrier_is_connected(nats_carrier *carrier) {
    pthread_rwlock_rdlock(&carrier->links);
    bool is_connected = natsConnection_Status(carrier->connection) == NATS_CONN_STATUS_CONNECTED;
    pthread_rwlock_unlock(&carrier->links);
    return is_connected;
}

unsigned nats_carrier_connections(const nats_carrier *carrier) {
    return atomic_load(&carrier->connections);
}

natsConnection *nats_carrier_connection(const nats_carrier *carrier) {
    return carrier->connection;
}

void nats_carrier_stop(nats_carrier *carrier) {
    if (!carrier) {
        return;
    }
    atomic_store(&carrier->is_closing, true);
    if (carrier->connection) {
        natsConnection_FlushTimeout(carrier->connection, CONNECT_TIMEOUT);
        natsConnection_Close(carrier->connection);
    }
    destroy_subscriptions(carrier);
    natsInbox_Destroy(carrier->inbox);
    natsConnection_Destroy(carrier->previous);
    natsConnection_Destroy(carrier->connection);
    natsOptions_Destroy(carrier->nats_options);
    nats_CloseAndWait(0);
    pthread_cond_destroy(&carrier->freed);
    pthread_rwlock_destroy(&carrier->links);
    pthread_mutex_destroy(&carrier->mutex);
    free(carrier->calls);
    free(carrier);
}
