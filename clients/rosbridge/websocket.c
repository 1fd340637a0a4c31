/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs WebSockets with libwebsockets in the event loop of libuv, and passes their messages to peers.
 */
#include "websocket.h"

#include <libwebsockets.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admission.h"
#include "dialled.h"
#include "peer.h"
#include "protocol.h"

_Static_assert(BUFFER_HEADROOM >= LWS_PRE, "room for the header of libwebsockets");

/* CHUNK: bytes read at a time. CLOSE_TIME: seconds that a closing connection has to read its last messages. KEPT_BYTES:
 * size above which the buffer of arriving messages is freed after use. */
enum { CHUNK = 65536, CLOSE_TIME = 2, KEPT_BYTES = 65536 };

/* Value of lws_write for a close frame, which its header reserves for lws_close_reason. With libwebsockets 4.1
 * lws_close_reason sends nothing if the write callback calls it. */
static const enum lws_write_protocol WRITE_CLOSE = (enum lws_write_protocol)4;

/* Disables the pings of libwebsockets, which disconnects silent peers without a close frame. Peers decide when a ping
 * is due and when the connection ends. */
static const lws_retry_bo_t no_pings = {0};

static const unsigned char PING_PAYLOAD[] = {'p', 'i', 'n', 'g'};

/* State of one connection. */
typedef struct socket_state {
    peer *peer;             /* NULL: refused */
    const char *refusal;    /* the reason */
    close_status status;    /* close status for the refusal */
    bool is_closed;         /* a close frame was sent; nothing may follow it */
    unsigned char *message; /* message that is arriving */
    size_t size, capacity;
} socket_state;

struct websocket {
    bridge *bridge;
    struct lws_context *context;
    struct lws_vhost *server, *client;
    struct lws *dialled; /* NULL: none */
    double dial_time;    /* time of the last attempt */
};

/* ---- one connection ---------------------------------------------------------------------------------------------- */

static void wake(peer *self) {
    struct lws *wsi = self->socket;
    if (self->is_cut) {
        lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, CLOSE_TIME);
    }
    lws_callback_on_writable(wsi);
}

static int on_open(websocket *self, struct lws *wsi, socket_state *state, bool is_dialled) {
    char name[64] = "";
    lws_get_peer_simple(wsi, name, sizeof name);
    *state = (socket_state){.peer = peer_add(self->bridge, name)};
    if (!state->peer) {
        return -1;
    }
    state->peer->socket = wsi;
    state->peer->wake = wake;
    if (is_dialled) {
        dialled_open(state->peer);
    }
    return 0;
}

static void on_close(socket_state *state) {
    if (!state->peer) {
        return;
    }
    if (state->peer->is_cut) {
        bridge_log(state->peer->bridge, "%s is cut: %s (%d)", state->peer->name, state->peer->cut_reason,
                   (int)state->peer->cut_status);
    }
    peer_remove(state->peer);
    free(state->message);
    *state = (socket_state){0};
}

/* Appends a part of a message. Returns false if the message is too large or memory ran out; the peer is then
 * disconnected. */
static bool store_part(peer *from, socket_state *state, const void *bytes, size_t size) {
    size_t limit = from->bridge->config->message_bytes, needed = state->size + size;
    if (needed > limit) {
        peer_status(from, STATUS_ERROR, NULL, "a message is larger than %zu bytes (limits.message_bytes)", limit);
        peer_cut(from, CLOSE_TOO_LARGE, "a message larger than %zu bytes (limits.message_bytes)", limit);
        return false;
    }
    if (needed > state->capacity) {
        size_t capacity = needed > limit / 2 ? limit : 2 * needed;
        unsigned char *message = realloc(state->message, capacity);
        if (!message) {
            peer_cut(from, CLOSE_INTERNAL, "out of memory for a message");
            return false;
        }
        state->message = message;
        state->capacity = capacity;
    }
    memcpy(state->message + state->size, bytes, size);
    state->size = needed;
    return true;
}

static void on_receive(struct lws *wsi, socket_state *state, const void *bytes, size_t size) {
    peer *from = state->peer;
    if (!from || from->is_cut) {
        return;
    }
    peer_hear(from);
    bool is_last = lws_is_final_fragment(wsi) && lws_remaining_packet_payload(wsi) == 0;
    if (state->size == 0 && is_last && size <= from->bridge->config->message_bytes) {
        protocol_handle(from, bytes, size, lws_frame_is_binary(wsi));
        return;
    }
    if (!store_part(from, state, bytes, size)) {
        return;
    }
    if (!is_last) {
        return;
    }
    protocol_handle(from, state->message, state->size, lws_frame_is_binary(wsi));
    state->size = 0;
    if (state->capacity > KEPT_BYTES) {
        free(state->message);
        state->message = NULL;
        state->capacity = 0;
    }
}

static void on_pong(socket_state *state) {
    if (state->peer) {
        peer_hear(state->peer);
    }
}

/* Writes a message. A client masks the bytes in place, so the dialled connection sends a copy. Returns -1 if the
 * connection is to be closed. */
static int write_message(struct lws *wsi, peer *to, buffer *message) {
    buffer *sent =
        to->is_dialled ? buffer_copy(buffer_bytes(message), message->size, message->is_binary) : buffer_share(message);
    int written = -1;
    if (sent) {
        written = lws_write(wsi, buffer_bytes(sent), sent->size, sent->is_binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT);
    }
    to->bridge->metrics.counters[COUNTER_MESSAGES_OUT]++;
    to->bridge->metrics.counters[COUNTER_BYTES_OUT] += message->size;
    buffer_release(sent);
    return written < 0 ? -1 : 0;
}

/* Sends a ping with a payload: libwebsockets 4.1 does not report a pong without one. Returns -1 if the connection is to
 * be closed. */
static int send_ping(struct lws *wsi, peer *to) {
    unsigned char frame[LWS_PRE + sizeof PING_PAYLOAD];
    memcpy(frame + LWS_PRE, PING_PAYLOAD, sizeof PING_PAYLOAD);
    to->is_ping_due = false;
    if (lws_write(wsi, frame + LWS_PRE, sizeof PING_PAYLOAD, LWS_WRITE_PING) < 0) {
        return -1;
    }
    lws_callback_on_writable(wsi);
    return 0;
}

/* Sends a close frame. Later input is discarded until the client closes the connection, or CLOSE_TIME is over: closing
 * a socket with unread bytes resets the connection, and the frame may be lost. Returns -1 if the frame cannot be
 * written. */
static int send_close(struct lws *wsi, socket_state *state, close_status status, const char *reason) {
    unsigned char frame[LWS_PRE + 2 + CLOSE_REASON_SIZE], *payload = frame + LWS_PRE;
    size_t length = strnlen(reason, CLOSE_REASON_SIZE - 1);
    payload[0] = (unsigned char)(status >> 8);
    payload[1] = (unsigned char)(status & 255);
    memcpy(payload + 2, reason, length);
    state->is_closed = true;
    return lws_write(wsi, payload, 2 + length, WRITE_CLOSE) < 0 ? -1 : 0;
}

static int on_writable(struct lws *wsi, socket_state *state) {
    peer *to = state->peer;
    if (state->is_closed) {
        return 0;
    }
    if (!to) {
        return state->refusal ? send_close(wsi, state, state->status, state->refusal) : -1;
    }
    if (to->is_ping_due) {
        return send_ping(wsi, to);
    }
    buffer *message = peer_next(to);
    if (!message) {
        return to->is_cut ? send_close(wsi, state, to->cut_status, to->cut_reason) : 0;
    }
    int result = write_message(wsi, to, message);
    buffer_release(message);
    if (result == 0) {
        lws_callback_on_writable(wsi);
    }
    return result;
}

/* ---- requests of HTTP -------------------------------------------------------------------------------------------- */

/* Copies a header. One that is too long becomes empty. */
static void header(struct lws *wsi, enum lws_token_indexes token, char *value, size_t size) {
    int length = lws_hdr_copy(wsi, value, (int)size, token);
    if (length < 0 || lws_hdr_total_length(wsi, token) >= (int)size) {
        value[0] = '\0';
    }
}

/* Returns true if the request has the header Origin, which browsers send. libwebsockets reports length 0 for an empty
 * header as for a missing one; a copy of its first fragment fails only for the missing one. */
static bool is_page(struct lws *wsi) {
    char value[CONFIG_WORD];
    return lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) > 0 ||
           lws_hdr_copy_fragment(wsi, value, sizeof value, WSI_TOKEN_ORIGIN, 0) >= 0;
}

/* Returns 0 if this request may become a WebSocket, otherwise the HTTP status and the reason. */
static int admit(const websocket *self, struct lws *wsi, const char **reason) {
    char origin[CONFIG_WORD] = "", authorization[CONFIG_WORD + 16] = "", token[CONFIG_WORD] = "";
    header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin);
    header(wsi, WSI_TOKEN_HTTP_AUTHORIZATION, authorization, sizeof authorization);
    const char *argument = lws_get_urlarg_by_name(wsi, "token=", token, sizeof token);
    admission_request requested = {
        .origin = is_page(wsi) ? origin : NULL, .authorization = authorization, .token = argument ? argument : ""};
    return admission_check(self->bridge, &requested, reason);
}

/* Answers a request that may not become a WebSocket. A page of an allowed origin is connected first, since browsers do
 * not show it the HTTP status; on_accept then sends the reason in a close frame. */
static int filter(websocket *self, struct lws *wsi) {
    const char *reason;
    int status = admit(self, wsi, &reason);
    if (status == 0 || (is_page(wsi) && status != ADMISSION_ORIGIN)) {
        return 0;
    }
    bridge_log(self->bridge, "a connection is refused: %s", reason);
    self->bridge->metrics.counters[COUNTER_CONNECTIONS_REFUSED]++;
    lws_return_http_status(wsi, (unsigned)status, reason);
    return -1;
}

static int on_accept(websocket *self, struct lws *wsi, socket_state *state) {
    const char *reason;
    int status = admit(self, wsi, &reason);
    if (status == 0) {
        return on_open(self, wsi, state, false);
    }
    bridge_log(self->bridge, "a page is refused: %s", reason);
    self->bridge->metrics.counters[COUNTER_CONNECTIONS_REFUSED]++;
    *state = (socket_state){.refusal = reason, .status = status == ADMISSION_TOKEN ? CLOSE_POLICY : CLOSE_TRY_LATER};
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, CLOSE_TIME);
    lws_callback_on_writable(wsi);
    return 0;
}

/* Serves /, /metrics and /healthz. Each connection is closed after its answer. */
static int serve(websocket *self, struct lws *wsi, const char *path) {
    char *body = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&body, &size);
    if (!text) {
        return -1;
    }
    unsigned status = admission_serve(self->bridge, path, text);
    fclose(text);
    unsigned char head[LWS_PRE + 512], *at = head + LWS_PRE, *end = head + sizeof head;
    int result = -1;
    if (lws_add_http_common_headers(wsi, status, "text/plain; charset=utf-8", size, &at, end) == 0 &&
        lws_finalize_write_http_header(wsi, head + LWS_PRE, &at, end) == 0) {
        unsigned char *copy = malloc(LWS_PRE + size + 1);
        if (copy) {
            memcpy(copy + LWS_PRE, body, size);
            lws_write(wsi, copy + LWS_PRE, size, LWS_WRITE_HTTP_FINAL);
            result = lws_http_transaction_completed(wsi) != 0 ? -1 : 0;
        }
        free(copy);
    }
    free(body);
    return result;
}

/* ---- callbacks of libwebsockets ---------------------------------------------------------------------------------- */

static int on_server(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length) {
    websocket *self = lws_context_user(lws_get_context(wsi));
    switch (reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return filter(self, wsi);
    case LWS_CALLBACK_HTTP:
        return serve(self, wsi, in);
    case LWS_CALLBACK_ESTABLISHED:
        return on_accept(self, wsi, user);
    case LWS_CALLBACK_RECEIVE:
        on_receive(wsi, user, in, length);
        return 0;
    case LWS_CALLBACK_RECEIVE_PONG:
        on_pong(user);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return on_writable(wsi, user);
    case LWS_CALLBACK_CLOSED:
        on_close(user);
        return 0;
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, length);
    }
}

static int on_client(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length) {
    websocket *self = lws_context_user(lws_get_context(wsi));
    switch (reason) {
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        bridge_log(self->bridge, "connected to %s", self->bridge->config->dial);
        return on_open(self, wsi, user, true);
    case LWS_CALLBACK_CLIENT_RECEIVE:
        on_receive(wsi, user, in, length);
        return 0;
    case LWS_CALLBACK_CLIENT_RECEIVE_PONG:
        on_pong(user);
        return 0;
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        return on_writable(wsi, user);
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        bridge_log(self->bridge, "%s cannot be reached: %s", self->bridge->config->dial,
                   in ? (const char *)in : "no answer");
        self->dialled = NULL;
        return 0;
    case LWS_CALLBACK_CLIENT_CLOSED:
        bridge_log(self->bridge, "the connection to %s is lost", self->bridge->config->dial);
        self->dialled = NULL;
        on_close(user);
        return 0;
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, length);
    }
}

static const struct lws_protocols server_protocols[] = {
    {.name = "rosbridge_v2",
     .callback = on_server,
     .per_session_data_size = sizeof(socket_state),
     .rx_buffer_size = CHUNK},
    {0},
};

static const struct lws_protocols client_protocols[] = {
    {.name = "rosbridge_v2",
     .callback = on_client,
     .per_session_data_size = sizeof(socket_state),
     .rx_buffer_size = CHUNK},
    {0},
};

/* ---- start and end ----------------------------------------------------------------------------------------------- */

/* Returns true if this machine has a numeric address. libwebsockets 4.3 would try forever to listen at an address that
 * the machine lacks, and report nothing. */
static bool has_address(const char *address) {
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    struct addrinfo *numeric;
    if (getaddrinfo(address, "0", &hints, &numeric) != 0) {
        return true;
    }
    int descriptor = socket(numeric->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool has = descriptor >= 0 && bind(descriptor, numeric->ai_addr, numeric->ai_addrlen) == 0;
    if (descriptor >= 0) {
        close(descriptor);
    }
    freeaddrinfo(numeric);
    return has;
}

static bool listen_there(websocket *self, char *error) {
    const config *c = self->bridge->config;
    struct lws_context_creation_info info = {
        .port = (int)c->port,
        .iface = c->address,
        .protocols = server_protocols,
        .vhost_name = "server",
        .timeout_secs = 5,
        .keepalive_timeout = 5,
        .retry_and_idle_policy = &no_pings,
    };
    if (c->certificate[0] != '\0') {
        info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
        info.ssl_cert_filepath = c->certificate;
        info.ssl_private_key_filepath = c->key;
    }
    if (!strchr(c->address, ':')) {
        info.options |= LWS_SERVER_OPTION_DISABLE_IPV6;
    }
    self->server = has_address(c->address) ? lws_create_vhost(self->context, &info) : NULL;
    if (self->server && lws_get_vhost_listen_port(self->server) > 0) {
        return true;
    }
    snprintf(error, CONFIG_ERROR_SIZE, "cannot listen at %s, port %lu: is the port taken, or the certificate wrong?",
             c->address, c->port);
    return false;
}

/* Creates the context of libwebsockets in the event loop of the bridge. */
static bool create_context(websocket *self, char *error) {
    void *loops[] = {self->bridge->loop};
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
        .foreign_loops = loops,
        .user = self,
        .pt_serv_buf_size = CHUNK,
    };
    self->context = lws_create_context(&info);
    if (!self->context) {
        snprintf(error, CONFIG_ERROR_SIZE, "libwebsockets cannot be started: is libwebsockets-evlib-uv installed?");
    }
    return self->context != NULL;
}

/* Prepares the connections that websocket_check dials. */
static bool prepare_dialling(websocket *self, char *error) {
    struct lws_context_creation_info info = {.port = CONTEXT_PORT_NO_LISTEN,
                                             .protocols = client_protocols,
                                             .vhost_name = "client",
                                             .retry_and_idle_policy = &no_pings};
    self->client = lws_create_vhost(self->context, &info);
    if (!self->client) {
        snprintf(error, CONFIG_ERROR_SIZE, "out of memory for the connection to %.256s", self->bridge->config->dial);
    }
    return self->client != NULL;
}

bool websocket_start(bridge *of, websocket **started, char *error) {
    websocket *self = calloc(1, sizeof *self);
    *started = self;
    if (!self) {
        snprintf(error, CONFIG_ERROR_SIZE, "out of memory");
        return false;
    }
    self->bridge = of;
    lws_set_log_level(of->config->is_verbose ? LLL_ERR | LLL_WARN : 0, NULL);
    return create_context(self, error) && (of->config->address[0] == '\0' || listen_there(self, error)) &&
           (of->config->dial[0] == '\0' || prepare_dialling(self, error));
}

unsigned websocket_port(const websocket *of) {
    return of->server ? (unsigned)lws_get_vhost_listen_port(of->server) : 0;
}

void websocket_check(websocket *checked, double now) {
    const config *c = checked->bridge->config;
    if (!checked->client || checked->dialled || now - checked->dial_time < c->dial_interval) {
        return;
    }
    char url[CONFIG_WORD], path[CONFIG_WORD + 1];
    const char *scheme, *host, *rest;
    int port;
    checked->dial_time = now;
    snprintf(url, sizeof url, "%s", c->dial);
    if (lws_parse_uri(url, &scheme, &host, &port, &rest) != 0) {
        return;
    }
    snprintf(path, sizeof path, "/%s", rest);
    struct lws_client_connect_info info = {
        .context = checked->context,
        .vhost = checked->client,
        .address = host,
        .host = host,
        .port = port,
        .path = path,
        .ssl_connection = strcmp(scheme, "wss") == 0 ? LCCSCF_USE_SSL : 0,
        .local_protocol_name = "rosbridge_v2",
        .pwsi = &checked->dialled,
        .retry_and_idle_policy = &no_pings,
    };
    lws_client_connect_via_info(&info);
}

void websocket_stop(websocket *stopped) {
    if (stopped && stopped->context) {
        lws_context_destroy(stopped->context);
    }
}

/* Frees the WebSockets. The second call of lws_context_destroy frees what the first could not while the loop's handles
 * were open. */
void websocket_free(websocket *freed) {
    if (freed && freed->context) {
        lws_context_destroy(freed->context);
    }
    free(freed);
}
