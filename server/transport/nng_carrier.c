/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The nng carrier: a REP socket with parallel contexts for requests, a PUB socket for events, a PULL socket for points.
 *
 * A context receives, or its call is with the handler, or it sends a reply; the completion of one operation starts the
 * next. Replies are sent only by asynchronous operations on the context: every other way loses some.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nng/nng.h>
#include <nng/protocol/pubsub0/pub.h>
#include <nng/protocol/reqrep0/rep.h>

#include "observe/clock.h"
#include "transport/carrier.h"
#include "transport/nng_repairs.h"
#include "transport/reply_bytes.h"
#include "transport/silent.h"
#include "transport/tls.h"

/* Largest number of connections that one sweep closes. */
enum { DISCONNECTIONS = 64 };

/* Connections allowed during the handshake in addition to the limit, and descriptors reserved for everything else. */
enum { SILENT_CONNECTIONS = 512, DESCRIPTOR_RESERVE = 32 };

/* Largest number of descriptors whose messages are accounted for: more than the configuration allows connections. */
enum { MOST_DESCRIPTORS = 1 << 17 };

typedef enum call_state { CALL_RECEIVING, CALL_HANDLED, CALL_SENDING, CALL_CLOSED } call_state;

/* Context of nng and the call that it carries. */
typedef struct nng_call {
    transport_call call;
    transport *transport;
    nng_ctx context;
    nng_aio *operation;
    call_state state;
    uint32_t pipe;
    int descriptor;       /* descriptor of the connection, or -1 */
    size_t request_bytes; /* bytes of the budget that the request holds */
    size_t reply_bytes;   /* bytes of the budget that the reply holds */
    nng_msg *request;
    nng_msg *reply;
} nng_call;

static void receive(nng_call *call) {
    call->state = CALL_RECEIVING;
    nng_aio_set_timeout(call->operation, NNG_DURATION_INFINITE);
    nng_ctx_recv(call->context, call->operation);
}

void carrier_close_pipe(uint32_t id) {
    nng_pipe pipe = {.id = id};
    nng_pipe_close(pipe);
}

static void report_deaf_client(transport *t, const char *peer) {
    atomic_fetch_add(&t->options.counters->deaf_clients, 1);
    log_repeated(t->options.log, &t->deaf,
                 "closed the connection of %s: it sends requests and does not read the replies", peer);
}

static void cut_off_deaf_client(transport *t, uint32_t id, const char *peer) {
    report_deaf_client(t, peer);
    carrier_close_pipe(id);
}

void carrier_report_disconnection(transport *t, const transit_disconnection *disconnection, const char *peer) {
    counters *k = t->options.counters;
    switch (disconnection->reason) {
    case TRANSIT_UNREAD:
        report_deaf_client(t, peer);
        break;
    case TRANSIT_HALF:
        atomic_fetch_add(&k->half_messages, 1);
        log_repeated(t->options.log, &t->half,
                     "closed the connection of %s: a message did not arrive whole in time (limits.message_time)", peer);
        break;
    case TRANSIT_GREEDY:
        atomic_fetch_add(&k->greedy_connections, 1);
        log_repeated(t->options.log, &t->greedy,
                     "closed the connection of %s: memory is short (limits.memory_bytes), and it held %zu bytes", peer,
                     disconnection->held);
        break;
    }
}

static void release_reply_bytes(nng_call *call) {
    memory_budget_release(call->transport->options.budget, call->reply_bytes);
    call->reply_bytes = 0;
}

/* Allocates every message that the daemon sends. nng loses some of them (nng_repairs.h), and the leak checker's
 * suppression in tests/system/closed_by_peer.supp names this function: nothing else may be allocated here. */
static nng_msg *new_nng_message(size_t size) {
    nng_msg *message;
    return nng_msg_alloc(&message, size) == 0 ? message : NULL;
}

static uint8_t *nng_reply_buffer(transport_call *base, size_t size) {
    nng_call *call = (nng_call *)base;
    if (call->reply) {
        nng_msg_free(call->reply);
        call->reply = NULL;
        release_reply_bytes(call);
    }
    if (!reply_bytes_charge(call->transport->options.budget, base, size, &call->reply_bytes)) {
        return NULL;
    }
    call->reply = new_nng_message(size);
    return call->reply ? nng_msg_body(call->reply) : NULL;
}

static void release_request(nng_call *call) {
    nng_msg_free(call->request);
    memory_budget_release(call->transport->options.budget, call->request_bytes);
    call->request_bytes = 0;
    call->request = NULL;
    call->call.request = NULL;
}

/* Passes the reply to nng. Afterwards the completion may run on another thread at any time. */
static void nng_send_reply(transport_call *base) {
    nng_call *call = (nng_call *)base;
    transport *t = call->transport;
    release_request(call);
    pipe_table_reply(&t->pipes, call->pipe, clock_now());
    memory_budget_release(t->options.budget, call->call.set_aside);
    call->call.set_aside = 0;
    if (!call->reply) {
        release_reply_bytes(call);
        pipe_table_done(&t->pipes, call->pipe, clock_now());
        atomic_fetch_sub(&t->pending, 1);
        receive(call);
        return;
    }
    nng_msg *reply = call->reply;
    call->reply = NULL;
    call->state = CALL_SENDING;
    if (call->reply_bytes == 0 || transit_send(call->descriptor, call->pipe, nng_msg_body(reply), call->reply_bytes)) {
        call->reply_bytes = 0;
    }
    nng_aio_set_msg(call->operation, reply);
    nng_aio_set_timeout(call->operation, (nng_duration)(atomic_load(&t->reply_time) / 1000000));
    nng_ctx_send(call->context, call->operation);
}

static void nng_vouch(transport_call *base, access_role role) {
    const nng_call *call = (const nng_call *)base;
    pipe_table_vouch(&call->transport->pipes, call->pipe, role);
}

static const transport_carrier nng_carrier = {
    .reply_buffer = nng_reply_buffer, .send = nng_send_reply, .vouch = nng_vouch};

/* Completes a reply that the connection accepted, or did not accept in time. */
static void on_sent(nng_call *call) {
    transport *t = call->transport;
    int code = nng_aio_result(call->operation);
    if (code != 0) {
        nng_msg *reply = nng_aio_get_msg(call->operation);
        transit_drop(call->descriptor, call->pipe, nng_msg_body(reply));
        nng_msg_free(reply);
        nng_aio_set_msg(call->operation, NULL);
    }
    release_reply_bytes(call);
    char peer[TRANSPORT_PEER_SIZE];
    if (code == NNG_ETIMEDOUT && pipe_table_condemn(&t->pipes, call->pipe, peer)) {
        cut_off_deaf_client(t, call->pipe, peer);
    }
    pipe_table_done(&t->pipes, call->pipe, clock_now());
    atomic_fetch_sub(&t->pending, 1);
    receive(call);
}

static void on_received(nng_call *call) {
    transport *t = call->transport;
    int code = nng_aio_result(call->operation);
    if (code == NNG_ECLOSED || code == NNG_ECANCELED) {
        call->state = CALL_CLOSED;
        return;
    }
    if (code != 0) {
        receive(call);
        return;
    }
    call->state = CALL_HANDLED;
    call->request = nng_aio_get_msg(call->operation);
    nng_aio_set_msg(call->operation, NULL);
    call->pipe = (uint32_t)nng_pipe_id(nng_msg_get_pipe(call->request));
    call->call.request = nng_msg_body(call->request);
    call->call.request_size = nng_msg_len(call->request);
    call->call.arrival = clock_now();
    atomic_fetch_add(&t->pending, 1);
    unsigned share = transport_connection_share((unsigned)t->call_count);
    call->descriptor = pipe_table_request(&t->pipes, call->pipe, share, &call->call);
    call->request_bytes = transit_receive(call->descriptor, call->pipe, call->call.request_size);
    t->options.handler(t->options.handler_context, &call->call);
}

static void on_completion(void *argument) {
    nng_call *call = argument;
    if (call->state == CALL_SENDING) {
        on_sent(call);
    } else {
        on_received(call);
    }
}

static void on_request_pipe(nng_pipe pipe, nng_pipe_ev event, void *argument) {
    if (event == NNG_PIPE_EV_ADD_PRE) {
        admission_connect(argument, pipe, TRANSPORT_REQUEST);
    } else {
        admission_disconnect(argument, pipe);
    }
}

static void on_event_pipe(nng_pipe pipe, nng_pipe_ev event, void *argument) {
    if (event == NNG_PIPE_EV_ADD_PRE) {
        admission_connect(argument, pipe, TRANSPORT_EVENTS);
    } else {
        admission_disconnect(argument, pipe);
    }
}

/* Opens a socket with its limits and its connection callbacks. */
static bool open_socket(transport *t, transport_kind kind, nng_socket *socket, char error[TRANSPORT_ERROR_SIZE]) {
    bool is_request = kind == TRANSPORT_REQUEST;
    int code = is_request ? nng_rep0_open(socket) : nng_pub0_open(socket);
    if (code == 0) {
        /* The limit includes the four bytes of the request's number in the protocol. */
        size_t bytes = is_request ? t->options.message_bytes + OVERSIZE_MARGIN + 4 : SUBSCRIBER_BYTES;
        nng_pipe_cb callback = is_request ? on_request_pipe : on_event_pipe;
        nng_socket_set_size(*socket, NNG_OPT_RECVMAXSZ, bytes);
        nng_pipe_notify(*socket, NNG_PIPE_EV_ADD_PRE, callback, t);
        nng_pipe_notify(*socket, NNG_PIPE_EV_REM_POST, callback, t);
        return true;
    }
    snprintf(error, TRANSPORT_ERROR_SIZE, "cannot open a socket: %s", nng_strerror(code));
    return false;
}

/* Opens the contexts without receiving on them. */
static bool open_contexts(transport *t, char error[TRANSPORT_ERROR_SIZE]) {
    t->call_count = t->options.contexts;
    for (size_t i = 0; i < t->options.contexts; i++) {
        nng_call *call = &t->calls[i];
        call->call.carrier = &nng_carrier;
        call->transport = t;
        int code = nng_aio_alloc(&call->operation, on_completion, call);
        if (code == 0) {
            code = nng_ctx_open(&call->context, t->requests);
        }
        if (code != 0) {
            snprintf(error, TRANSPORT_ERROR_SIZE, "cannot open a context: %s", nng_strerror(code));
            return false;
        }
    }
    return true;
}

static nng_socket socket_of(const transport *t, transport_kind kind) {
    return kind == TRANSPORT_REQUEST ? t->requests : kind == TRANSPORT_EVENTS ? t->events : t->ingest;
}

/* Fills the descriptions of all endpoints first, because connections to the first endpoints arrive while the last are
 * being opened. */
static void describe_endpoints(transport *t) {
    for (size_t i = 0; i < t->options.endpoint_count; i++) {
        endpoint *e = &t->endpoints[i];
        const transport_endpoint *wanted = &t->options.endpoints[i];
        e->transport = t;
        e->listener.kind = wanted->kind;
        e->listener.mode = t->options.ipc_mode;
        e->listener.socket = socket_of(t, wanted->kind);
        e->listener.tls = t->tls;
        snprintf(e->listener.address, sizeof e->listener.address, "%s", wanted->address);
    }
    t->endpoint_count = t->options.endpoint_count;
}

static bool open_endpoints(transport *t, char error[TRANSPORT_ERROR_SIZE]) {
    describe_endpoints(t);
    for (size_t i = 0; i < t->endpoint_count; i++) {
        endpoint *e = &t->endpoints[i];
        if (!listener_open(&e->listener, error)) {
            return false;
        }
        atomic_store(&e->listener_id, nng_listener_id(e->listener.handle));
    }
    return true;
}

static bool open_ingest(transport *t, char error[TRANSPORT_ERROR_SIZE]) {
    int code = ingest_open(t);
    if (code != 0) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "cannot open a socket: %s", nng_strerror(code));
    }
    return code == 0;
}

static bool has_kind(const transport_options *options, transport_kind kind) {
    for (size_t i = 0; i < options->endpoint_count; i++) {
        if (options->endpoints[i].kind == kind) {
            return true;
        }
    }
    return false;
}

/* Bounds the descriptors of connections, those without handshake included, so that others are left below the system's
 * limit. */
static void bound_descriptors(transport *t, unsigned connections) {
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t wanted = (rlim_t)connections + SILENT_CONNECTIONS + DESCRIPTOR_RESERVE;
    rlim_t bound = (wanted < limit.rlim_cur ? wanted : limit.rlim_cur) - DESCRIPTOR_RESERVE;
    atomic_store(&t->descriptor_bound, (int)bound);
    nng_repairs_bound_descriptors((int)bound);
}

void transport_set_limits(transport *t, const transport_limits *limits) {
    atomic_store(&t->idle_time, clock_duration(limits->idle_time));
    atomic_store(&t->reply_time, clock_duration(limits->reply_time));
    atomic_store(&t->message_time, clock_duration(limits->message_time));
    atomic_store(&t->connection_limit, limits->connections);
    atomic_store(&t->peer_limit, limits->peer_connections);
    bound_descriptors(t, limits->connections);
}

/* Returns the number of descriptors that connections can ever have: the system's limit is not raised later. */
static int count_descriptors(void) {
    struct rlimit limit = {.rlim_cur = 0};
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur < MOST_DESCRIPTORS ? (int)limit.rlim_cur : MOST_DESCRIPTORS;
}

/* Loads the certificates if a file is set. */
static bool open_tls(transport *t, char error[TRANSPORT_ERROR_SIZE]) {
    bool has_files = t->options.tls.certificate_file && t->options.tls.certificate_file[0] != '\0';
    t->tls = has_files ? tls_load(&t->options.tls, error) : NULL;
    return !has_files || t->tls;
}

bool transport_check_tls(const transport_tls *tls, char error[TRANSPORT_ERROR_SIZE]) {
    nng_tls_config *loaded = tls_load(tls, error);
    tls_free(loaded);
    return loaded != NULL;
}

bool transport_set_tls(transport *t, const transport_tls *tls, char error[TRANSPORT_ERROR_SIZE]) {
    nng_tls_config *loaded = tls_load(tls, error);
    if (!loaded) {
        return false;
    }
    pthread_mutex_lock(&t->topics_mutex);
    nng_tls_config *old = t->tls;
    t->tls = loaded;
    for (size_t i = 0; i < t->endpoint_count; i++) {
        listener_set_tls(&t->endpoints[i].listener, loaded);
    }
    topics_set_tls(t);
    pthread_mutex_unlock(&t->topics_mutex);
    tls_free(old);
    return true;
}

bool transport_open(const transport_options *options, char error[TRANSPORT_ERROR_SIZE], transport **result) {
    transport *t = calloc(1, sizeof *t);
    if (!t) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "out of memory");
        return false;
    }
    t->options = *options;
    pipe_table_init(&t->pipes, options->access);
    peer_table_init(&t->peers);
    pthread_mutex_init(&t->topics_mutex, NULL);
    pthread_mutex_init(&t->sink_mutex, NULL);
    const nats_receiver receiver = {.context = t, .deliver = ingest_deliver, .note_unread = topics_note_unread};
    transport_set_limits(t, &options->limits);
    bool has_transit = transit_open(count_descriptors(), options->budget);
    t->endpoints = calloc(options->endpoint_count, sizeof *t->endpoints);
    t->calls = calloc(options->contexts, sizeof *t->calls);
    if (!t->endpoints || !t->calls || !has_transit) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "out of memory");
        transport_stop(t);
        return false;
    }
    bool is_open = open_tls(t, error) && open_socket(t, TRANSPORT_REQUEST, &t->requests, error) &&
                   open_contexts(t, error) &&
                   (!has_kind(options, TRANSPORT_EVENTS) || open_socket(t, TRANSPORT_EVENTS, &t->events, error)) &&
                   (!has_kind(options, TRANSPORT_INGEST) || open_ingest(t, error)) && open_endpoints(t, error) &&
                   (options->nats.server_count == 0 || nats_carrier_open(options, &receiver, error, &t->nats));
    if (!is_open) {
        transport_stop(t);
        return false;
    }
    *result = t;
    return true;
}

bool transport_receive(transport *t, char error[TRANSPORT_ERROR_SIZE]) {
    for (size_t i = 0; i < t->call_count; i++) {
        receive(&t->calls[i]);
    }
    if (t->ingest_operation) {
        ingest_receive(t);
    }
    return !t->nats || nats_carrier_receive(t->nats, error);
}

const char *transport_address(const transport *t, size_t i) {
    return t->endpoints[i].listener.address;
}

bool publish(nng_socket socket, const char *topic, const uint8_t *body, size_t size) {
    size_t topic_size = strlen(topic) + 1;
    nng_msg *message = new_nng_message(topic_size + size);
    if (!message) {
        return false;
    }
    char *start = nng_msg_body(message);
    memcpy(start, topic, topic_size);
    memcpy(start + topic_size, body, size);
    bool is_sent = nng_sendmsg(socket, message, NNG_FLAG_NONBLOCK) == 0;
    if (!is_sent) {
        nng_msg_free(message);
    }
    return is_sent;
}

void transport_publish(transport *t, const char *topic, const uint8_t *body, size_t size) {
    if (t->events.id != 0 && publish(t->events, topic, body, size)) {
        atomic_fetch_add(&t->options.counters->events, 1);
    }
    if (t->nats) {
        nats_carrier_publish(t->nats, topic, body, size);
    }
}

/* Returns the number of active connections of a listener. */
static size_t count_connections(void *context, int id) {
    transport *t = context;
    return pipe_table_count(&t->pipes, id);
}

static bool is_ours(void *context, const struct sockaddr_storage *local) {
    const transport *t = context;
    for (size_t i = 0; i < t->endpoint_count; i++) {
        if (listener_owns(&t->endpoints[i].listener, local)) {
            return true;
        }
    }
    return false;
}

/* Shuts down connections without handshake while descriptors are short. */
static void sweep_silent_connections(transport *t) {
    int bound = atomic_load(&t->descriptor_bound);
    size_t count = descriptors_are_short(bound) ? silent_shut_down(bound, is_ours, t) : 0;
    if (count > 0) {
        log_repeated(t->options.log, &t->silent, "descriptors are short: closed %zu connections that did not greet",
                     count);
    }
}

/* Closes connections whose messages take too much time or memory. */
static void sweep_transit(transport *t, uint64_t now) {
    transit_disconnection disconnections[DISCONNECTIONS];
    size_t count = transit_cut_slow(now, atomic_load(&t->message_time), disconnections, DISCONNECTIONS);
    for (size_t i = 0; i < count; i++) {
        char peer[TRANSPORT_PEER_SIZE];
        if (pipe_table_condemn(&t->pipes, disconnections[i].pipe, peer)) {
            carrier_report_disconnection(t, &disconnections[i], peer);
            carrier_close_pipe(disconnections[i].pipe);
        }
    }
}

void transport_sweep(transport *t) {
    pipe_disconnection disconnections[DISCONNECTIONS];
    pipe_bounds bounds = {
        .idle_time = atomic_load(&t->idle_time),
        .reply_time = atomic_load(&t->reply_time),
        .share = transport_connection_share((unsigned)t->call_count),
    };
    uint64_t now = clock_now();
    size_t count = pipe_table_check(&t->pipes, &bounds, now, disconnections, DISCONNECTIONS);
    for (size_t i = 0; i < count; i++) {
        if (disconnections[i].action == PIPE_DEAF) {
            cut_off_deaf_client(t, disconnections[i].id, disconnections[i].peer);
        } else {
            atomic_fetch_add(&t->options.counters->idle_connections, 1);
            log_repeated(t->options.log, &t->idle, "closed the idle connection of %s", disconnections[i].peer);
            carrier_close_pipe(disconnections[i].id);
        }
    }
    sweep_transit(t, now);
    sweep_silent_connections(t);
    topics_probe(t, now);
    if (t->nats) {
        nats_carrier_sweep(t->nats, now);
    }
    for (size_t i = 0; i < t->endpoint_count; i++) {
        listener_sweep(&t->endpoints[i].listener, now, count_connections, t);
    }
}

uint64_t transport_admitted(const transport *t, size_t i) {
    return atomic_load(&t->endpoints[i].admitted);
}

void transport_expect_probe(transport *t, size_t i, uint16_t port) {
    atomic_store(&t->endpoints[i].probe_port, port);
}

bool transport_restart_listener(transport *t, size_t i, char error[TRANSPORT_ERROR_SIZE]) {
    endpoint *e = &t->endpoints[i];
    bool is_open = listener_replace(&e->listener, error);
    atomic_store(&e->listener_id, e->listener.handle.id == 0 ? 0 : nng_listener_id(e->listener.handle));
    if (is_open) {
        atomic_fetch_add(&t->options.counters->listener_restarts, 1);
    }
    return is_open;
}

void transport_refuse_connections(transport *t) {
    atomic_store(&t->is_refusing, true);
    if (t->nats) {
        nats_carrier_drain(t->nats);
    }
}

bool transport_has_nats(const transport *t) {
    return !t->nats || nats_carrier_is_connected(t->nats);
}

unsigned transport_pending(const transport *t) {
    return atomic_load(&t->pending) + (t->nats ? nats_carrier_pending(t->nats) : 0);
}

/* Ends all operations and waits for their completions; none can begin any more. Sockets are closed afterwards: nng
 * 1.5.2 frees a socket while a thread that is about to leave nng_ctx_recv or nng_ctx_send still uses it. */
static void stop_operations(transport *t) {
    for (size_t i = 0; t->calls && i < t->options.contexts; i++) {
        nng_aio_stop(t->calls[i].operation);
    }
    ingest_stop(t);
}

/* Frees an operation that has ended, with its unsent reply: nng begins no send after stop_operations. */
static void free_operation(nng_aio *operation) {
    nng_msg *reply = operation ? nng_aio_get_msg(operation) : NULL;
    if (reply) {
        nng_msg_free(reply);
    }
    nng_aio_free(operation);
}

void transport_stop_ingest(transport *t) {
    ingest_stop(t);
    pthread_mutex_lock(&t->sink_mutex);
    t->is_ingest_stopped = true;
    pthread_mutex_unlock(&t->sink_mutex);
}

void transport_stop(transport *t) {
    for (size_t i = 0; i < t->endpoint_count; i++) {
        listener_unlink(&t->endpoints[i].listener);
    }
    nats_carrier_stop(t->nats);
    stop_operations(t);
    if (t->requests.id != 0) {
        nng_close(t->requests);
    }
    if (t->events.id != 0) {
        nng_close(t->events);
    }
    if (t->ingest.id != 0) {
        nng_close(t->ingest);
    }
    for (size_t i = 0; t->calls && i < t->options.contexts; i++) {
        free_operation(t->calls[i].operation);
    }
    ingest_free(t);
    transit_close();
    pipe_table_free(&t->pipes);
    peer_table_free(&t->peers);
    pthread_mutex_destroy(&t->topics_mutex);
    pthread_mutex_destroy(&t->sink_mutex);
    tls_free(t->tls);
    free(t->calls);
    free(t->endpoints);
    free(t);
}
