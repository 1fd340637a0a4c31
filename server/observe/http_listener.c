/* SPDX-License-Identifier: BSD-2-Clause */
/* Serves pages by HTTP: reads one request of each connection, writes the answer and closes the connection. */
#include "observe/http_listener.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "observe/clock.h"

enum { CONNECTIONS = 16, BACKLOG = 16, REQUEST_SIZE = 8192, HEAD_SIZE = 256, HOST_SIZE = 64, ADDRESS_SIZE = 96 };

/* Interval of the checks for late connections in ms, and the time after which one is late in ns. */
enum { CHECK_MILLISECONDS = 500 };
#define CONNECTION_TIME (5 * NANOSECONDS)

typedef enum connection_state {
    CONNECTION_FREE,
    CONNECTION_READING,
    CONNECTION_ANSWERING,
    CONNECTION_CLOSING,
} connection_state;

/* Connection of a client. */
typedef struct connection {
    uv_tcp_t stream; /* its data: the connection */
    uv_write_t write;
    http_listener *owner;
    connection_state state;
    uint64_t since; /* ns */
    size_t length;
    char request[REQUEST_SIZE + 1];
    char head[HEAD_SIZE];
    char *body;
} connection;

struct http_listener {
    uv_loop_t *loop;
    uv_tcp_t socket;
    uv_timer_t check;
    http_pages pages;
    void *context;
    bool is_waiting; /* a client waits until a connection is free */
    char address[ADDRESS_SIZE];
    connection connections[CONNECTIONS];
};

/* ---- addresses --------------------------------------------------------------------------------------------------- */

/* Parses "tcp://host:port". Returns false if it is no numeric address. */
static bool parse_address(const char *address, struct sockaddr_storage *result) {
    static const char scheme[] = "tcp://";
    char host[HOST_SIZE], *end;
    const char *start = address + strlen(scheme), *colon = strrchr(address, ':');
    bool has_scheme = strncmp(address, scheme, strlen(scheme)) == 0;
    if (!has_scheme || !colon || colon < start || (size_t)(colon - start) >= sizeof host) {
        return false;
    }
    unsigned long port = strtoul(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end != '\0' || port > 65535) {
        return false;
    }
    snprintf(host, sizeof host, "%.*s", (int)(colon - start), start);
    size_t length = strlen(host);
    memset(result, 0, sizeof *result);
    if (length > 2 && host[0] == '[' && host[length - 1] == ']') {
        host[length - 1] = '\0';
        return uv_ip6_addr(host + 1, (int)port, (struct sockaddr_in6 *)result) == 0;
    }
    const char *number = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    return uv_ip4_addr(number, (int)port, (struct sockaddr_in *)result) == 0;
}

bool http_listener_check(const char *address, char error[HTTP_ERROR_SIZE]) {
    struct sockaddr_storage parsed;
    bool is_good = parse_address(address, &parsed);
    if (!is_good) {
        snprintf(error, HTTP_ERROR_SIZE,
                 "\"%.200s\" is no address for HTTP; set tcp://127.0.0.1:PORT or tcp://[::1]:PORT", address);
    }
    return is_good;
}

/* Writes the address of the socket, with the port that the system chose. */
static void describe_address(http_listener *l) {
    struct sockaddr_storage bound = {0};
    char host[INET6_ADDRSTRLEN] = "";
    int size = sizeof bound;
    uv_tcp_getsockname(&l->socket, (struct sockaddr *)&bound, &size);
    if (bound.ss_family == AF_INET6) {
        const struct sockaddr_in6 *ip6 = (const struct sockaddr_in6 *)&bound;
        uv_ip6_name(ip6, host, sizeof host);
        snprintf(l->address, sizeof l->address, "http://[%s]:%u", host, ntohs(ip6->sin6_port));
    } else {
        const struct sockaddr_in *ip4 = (const struct sockaddr_in *)&bound;
        uv_ip4_name(ip4, host, sizeof host);
        snprintf(l->address, sizeof l->address, "http://%s:%u", host, ntohs(ip4->sin_port));
    }
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

static void accept_next(http_listener *l);

static void on_closed(uv_handle_t *handle) {
    connection *c = handle->data;
    http_listener *l = c->owner;
    free(c->body);
    c->body = NULL;
    c->state = CONNECTION_FREE;
    if (l->is_waiting && !uv_is_closing((uv_handle_t *)&l->socket)) {
        accept_next(l);
    }
}

static void close_connection(connection *c) {
    if (c->state != CONNECTION_FREE && c->state != CONNECTION_CLOSING) {
        c->state = CONNECTION_CLOSING;
        uv_close((uv_handle_t *)&c->stream, on_closed);
    }
}

static void on_written(uv_write_t *write, int status) {
    (void)status;
    close_connection(write->data);
}

static const char *status_text(unsigned status) {
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 431:
        return "Request Header Fields Too Large";
    default:
        return "Service Unavailable";
    }
}

/* Sends a head and the body, which the connection owns from now on; HEAD receives no body. */
static void send_answer(connection *c, unsigned status, char *body, size_t size, bool has_body) {
    int length = snprintf(c->head, sizeof c->head,
                          "HTTP/1.1 %u %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
                          "Content-Length: %zu\r\nConnection: close\r\n%s\r\n",
                          status, status_text(status), size, status == 405 ? "Allow: GET, HEAD\r\n" : "");
    uv_buf_t parts[2] = {uv_buf_init(c->head, (unsigned)length), uv_buf_init(body, (unsigned)size)};
    c->body = body;
    c->state = CONNECTION_ANSWERING;
    c->write.data = c;
    uv_read_stop((uv_stream_t *)&c->stream);
    if (uv_write(&c->write, (uv_stream_t *)&c->stream, parts, has_body && size > 0 ? 2 : 1, on_written) != 0) {
        close_connection(c);
    }
}

/* Sends a sentence as the answer to a request that names no page. */
static void refuse(connection *c, unsigned status, const char *sentence) {
    char *body = strdup(sentence);
    send_answer(c, status, body, body ? strlen(body) : 0, true);
}

/* Answers the request of a connection: its first line is "METHOD PATH HTTP/1.x". */
static void answer(connection *c) {
    char *method = c->request, *path = strchr(method, ' '), *version = path ? strchr(path + 1, ' ') : NULL;
    if (!version || strncmp(version, " HTTP/1.", 8) != 0 || path[1] != '/') {
        refuse(c, 400, "This is no request of HTTP/1.1.\n");
        return;
    }
    *path++ = '\0';
    *version = '\0';
    path[strcspn(path, "?")] = '\0';
    bool is_head = strcmp(method, "HEAD") == 0;
    if (!is_head && strcmp(method, "GET") != 0) {
        refuse(c, 405, "The pages are read only; use GET.\n");
        return;
    }
    char *body = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&body, &size);
    if (!text) {
        close_connection(c);
        return;
    }
    unsigned status = c->owner->pages(c->owner->context, path, text);
    if (fclose(text) != 0) {
        free(body);
        close_connection(c);
        return;
    }
    send_answer(c, status, body, size, !is_head);
}

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    connection *c = handle->data;
    (void)suggested;
    *buffer = uv_buf_init(c->request + c->length, (unsigned)(REQUEST_SIZE - c->length));
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    connection *c = stream->data;
    (void)buffer;
    if (count < 0) {
        close_connection(c);
        return;
    }
    c->length += (size_t)count;
    c->request[c->length] = '\0';
    if (strstr(c->request, "\r\n\r\n") || strstr(c->request, "\n\n")) {
        answer(c);
    } else if (c->length == REQUEST_SIZE) {
        refuse(c, 431, "The request is too long.\n");
    }
}

/* Returns a free connection. If there is none, closes the one that has read longest, and returns NULL. */
static connection *find_free(http_listener *l) {
    connection *oldest = NULL;
    for (size_t i = 0; i < CONNECTIONS; i++) {
        connection *c = &l->connections[i];
        if (c->state == CONNECTION_FREE) {
            return c;
        }
        if (c->state == CONNECTION_READING && (!oldest || c->since < oldest->since)) {
            oldest = c;
        }
    }
    if (oldest) {
        close_connection(oldest);
    }
    return NULL;
}

/* Accepts the waiting client, or lets it wait until a connection is closed. */
static void accept_next(http_listener *l) {
    connection *c = find_free(l);
    l->is_waiting = !c;
    if (!c) {
        return;
    }
    c->owner = l;
    c->state = CONNECTION_READING;
    c->since = clock_now();
    c->length = 0;
    uv_tcp_init(l->loop, &c->stream);
    c->stream.data = c;
    if (uv_accept((uv_stream_t *)&l->socket, (uv_stream_t *)&c->stream) != 0 ||
        uv_read_start((uv_stream_t *)&c->stream, on_allocate, on_read) != 0) {
        close_connection(c);
    }
}

static void on_connection(uv_stream_t *socket, int status) {
    if (status == 0) {
        accept_next(socket->data);
    }
}

static void on_check(uv_timer_t *timer) {
    http_listener *l = timer->data;
    uint64_t now = clock_now();
    for (size_t i = 0; i < CONNECTIONS; i++) {
        if (now > l->connections[i].since + CONNECTION_TIME) {
            close_connection(&l->connections[i]);
        }
    }
}

/* ---- listener ---------------------------------------------------------------------------------------------------- */

static void free_after_closing(uv_handle_t *handle) {
    free(handle->data);
}

http_listener *http_listener_create(uv_loop_t *loop, const char *address, http_pages pages, void *context,
                                    char error[HTTP_ERROR_SIZE]) {
    struct sockaddr_storage wanted;
    if (!http_listener_check(address, error)) {
        return NULL;
    }
    parse_address(address, &wanted);
    http_listener *l = calloc(1, sizeof *l);
    if (!l) {
        snprintf(error, HTTP_ERROR_SIZE, "out of memory");
        return NULL;
    }
    l->loop = loop;
    l->pages = pages;
    l->context = context;
    uv_tcp_init(loop, &l->socket);
    l->socket.data = l;
    int code = uv_tcp_bind(&l->socket, (struct sockaddr *)&wanted, 0);
    code = code == 0 ? uv_listen((uv_stream_t *)&l->socket, BACKLOG, on_connection) : code;
    if (code != 0) {
        snprintf(error, HTTP_ERROR_SIZE, "cannot listen at %.200s (observe.listen): %s", address, uv_strerror(code));
        uv_close((uv_handle_t *)&l->socket, free_after_closing);
        return NULL;
    }
    describe_address(l);
    uv_timer_init(loop, &l->check);
    l->check.data = l;
    uv_timer_start(&l->check, on_check, CHECK_MILLISECONDS, CHECK_MILLISECONDS);
    return l;
}

const char *http_listener_address(const http_listener *l) {
    return l->address;
}

void http_listener_stop(http_listener *l) {
    if (!l || uv_is_closing((uv_handle_t *)&l->socket)) {
        return;
    }
    uv_close((uv_handle_t *)&l->socket, NULL);
    uv_close((uv_handle_t *)&l->check, NULL);
    for (size_t i = 0; i < CONNECTIONS; i++) {
        close_connection(&l->connections[i]);
    }
}

void http_listener_free(http_listener *l) {
    free(l);
}
