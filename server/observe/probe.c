/* SPDX-License-Identifier: BSD-2-Clause */
/* Probes the daemon's endpoints over sockets of its own, reports their health, and restarts dead listeners. */
#include "observe/probe.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/clock.h"

/* Interval of probes of tcp listeners. They have no known failure, so they are probed less often. */
#define TCP_INTERVAL NANOSECONDS

/* Largest step of the probe's own time in one tick. Time beyond it is the loop's delay, not that of the listeners. */
#define LONGEST_TICK (NANOSECONDS / 8)

/* Longest wait for a late reply. */
#define PATIENCE (2 * NANOSECONDS)

/* Time without a new connection after which a listener is dead, while the loop runs. On a busy machine a working
 * listener can need a quarter of a second. */
#define DEAD_TIME (2 * NANOSECONDS)

enum { ATTEMPTS = 4, GREETING = 8, FRAME_HEAD = 13, BUFFER_SIZE = 256 };

typedef enum attempt_state {
    ATTEMPT_IDLE,
    ATTEMPT_CONNECTING,
    ATTEMPT_GREETED_BY_US, /* connected; must not be closed before the other side has sent its greeting */
    ATTEMPT_WAITING,       /* greetings exchanged; waits for the reply, or for admission */
    ATTEMPT_CLOSING,
} attempt_state;

struct target;

/* Connection of one probe. */
typedef struct attempt {
    struct target *target;
    attempt_state state;
    bool is_reported; /* late; stays open until it may be closed */
    uint64_t start;   /* ns, in the probe's own time like all times of attempts */
    uint64_t greeted; /* time of the other side's greeting, or 0 */
    uint64_t admitted_before;
    size_t received;
    uint8_t buffer[BUFFER_SIZE];
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tcp_t tcp;
    } socket;
    uv_connect_t connect;
    uv_write_t write;
} attempt;

/* State of one endpoint. */
typedef struct target {
    struct probe *probe;
    size_t index, component;
    const char *path; /* path of an ipc endpoint, else NULL */
    struct sockaddr_storage address;
    bool is_request, is_ingest, is_tls;
    bool is_resolved;
    uint64_t last_start, last_restart; /* ns, the probe's own time */
    uint64_t last_success;             /* ns, clock_now */
    attempt attempts[ATTEMPTS];
    log_episode restarts;
} target;

struct probe {
    probe_options options;
    uint64_t interval, timeout; /* ns */
    uint64_t last_tick;         /* ns, clock_now */
    uint64_t time;              /* ns, the probe's own: it stops while the loop does not run */
    bool is_stopped;
    uint8_t *message; /* greeting, frame and request of a REQ socket */
    size_t message_size, ipc_message_size;
    uint8_t *ipc_message;
    size_t target_count;
    target targets[];
};

static const uint8_t req_greeting[GREETING] = {0, 'S', 'P', 0, 0, 0x30, 0, 0};
static const uint8_t sub_greeting[GREETING] = {0, 'S', 'P', 0, 0, 0x21, 0, 0};
static const uint8_t push_greeting[GREETING] = {0, 'S', 'P', 0, 0, 0x50, 0, 0};

/* Greeting of a client of TLS 1.2 with one cipher suite (TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256), without a session and
 * extensions, with zeros for random bytes. A server answers it with a greeting or an alert. The probe has no
 * certificate and goes no further. */
static const uint8_t tls_greeting[50] = {0x16, 3, 1, 0, 45, 1, 0, 0, 41, 3, 3, [45] = 2, 0xc0, 0x2f, 1, 0};

/* Bytes of the head of a record of TLS. */
enum { TLS_HEAD = 5 };

/* Writes the greeting, frame head and request; ipc frames start with a byte 1. Returns the size. */
static size_t build_message(const probe_options *o, bool is_ipc, uint8_t *message) {
    static const uint8_t request_id[4] = {0x80, 0, 0, 1};
    uint8_t *to = message;
    uint64_t length = o->request_size + sizeof request_id;
    memcpy(to, req_greeting, GREETING);
    to += GREETING;
    if (is_ipc) {
        *to++ = 1;
    }
    for (int shift = 56; shift >= 0; shift -= 8) {
        *to++ = (uint8_t)(length >> shift);
    }
    memcpy(to, request_id, sizeof request_id);
    to += sizeof request_id;
    memcpy(to, o->request, o->request_size);
    return (size_t)(to - message) + o->request_size;
}

/* Resolves "tcp://host:port" to the address to connect to; for a wildcard that is the loopback address. Returns false
 * if it cannot be resolved. */
static bool resolve(const char *address, struct sockaddr_storage *result) {
    char host[256], *port;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    const char *name = strstr(address, "://");
    snprintf(host, sizeof host, "%s", name ? name + 3 : "");
    port = strrchr(host, ':');
    if (!port) {
        return false;
    }
    *port++ = '\0';
    name = host;
    if (host[0] == '[') {
        name = host + 1;
        host[strcspn(host, "]")] = '\0';
    }
    if (name[0] == '\0' || strcmp(name, "*") == 0 || strcmp(name, "0.0.0.0") == 0) {
        name = "127.0.0.1";
    } else if (strcmp(name, "::") == 0) {
        name = "::1";
    }
    if (getaddrinfo(name, port, &hints, &found) != 0) {
        return false;
    }
    memcpy(result, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return true;
}

void probe_set_times(probe *p, double interval, double timeout) {
    p->interval = clock_duration(interval);
    p->timeout = clock_duration(timeout);
}

static void init_target(probe *p, size_t i) {
    target *t = &p->targets[i];
    const probe_target *from = &p->options.targets[i];
    t->probe = p;
    t->index = i;
    t->is_request = from->is_request;
    t->is_ingest = from->is_ingest;
    t->component = health_enter(p->options.health, "listener %s", from->address);
    t->is_tls = strncmp(from->address, "tls+", 4) == 0;
    t->path = strncmp(from->address, "ipc://", 6) == 0 ? from->address + 6 : NULL;
    t->is_resolved = t->path || resolve(from->address, &t->address);
    t->last_success = clock_now();
    for (size_t k = 0; k < ATTEMPTS; k++) {
        t->attempts[k].target = t;
    }
}

probe *probe_create(const probe_options *options) {
    probe *p = calloc(1, sizeof *p + options->target_count * sizeof(target));
    size_t size = GREETING + FRAME_HEAD + options->request_size;
    uint8_t *messages = calloc(2, size);
    if (!p || !messages) {
        free(p);
        free(messages);
        return NULL;
    }
    p->options = *options;
    p->message = messages;
    p->ipc_message = messages + size;
    p->message_size = build_message(options, false, p->message);
    p->ipc_message_size = build_message(options, true, p->ipc_message);
    p->target_count = options->target_count;
    p->last_tick = clock_now();
    p->time = p->last_tick;
    probe_set_times(p, options->interval, options->timeout);
    for (size_t i = 0; i < p->target_count; i++) {
        init_target(p, i);
    }
    return p;
}

static void on_closed(uv_handle_t *handle) {
    attempt *a = handle->data;
    a->state = ATTEMPT_IDLE;
}

/* Closes the connection. A tcp connection after the greetings is reset, so that no port stays busy for a minute. */
static void close_attempt(attempt *a) {
    if (a->state == ATTEMPT_IDLE || a->state == ATTEMPT_CLOSING) {
        return;
    }
    bool may_reset = !a->target->path && a->state == ATTEMPT_WAITING;
    a->state = ATTEMPT_CLOSING;
    if (!may_reset || uv_tcp_close_reset(&a->socket.tcp, on_closed) != 0) {
        uv_close(&a->socket.handle, on_closed);
    }
}

static void succeed(attempt *a) {
    target *t = a->target;
    t->last_success = clock_now();
    if (!a->is_reported) {
        health_set(t->probe->options.health, t->component, HEALTH_SERVING, "%s", "");
    }
    close_attempt(a);
}

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    attempt *a = handle->data;
    (void)suggested;
    /* Keeps only the start of a long reply; the rest overwrites the end of the buffer repeatedly. */
    size_t used = a->received < BUFFER_SIZE / 2 ? a->received : BUFFER_SIZE / 2;
    *buffer = uv_buf_init((char *)a->buffer + used, (unsigned)(BUFFER_SIZE - used));
}

/* Takes the head of a record of TLS, of any kind, as the answer. */
static void read_tls(attempt *a) {
    if (a->state == ATTEMPT_GREETED_BY_US && a->received >= TLS_HEAD) {
        a->state = ATTEMPT_WAITING;
        succeed(a);
    }
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    attempt *a = stream->data;
    (void)buffer;
    if (count < 0) {
        close_attempt(a);
        return;
    }
    a->received += (size_t)count;
    if (a->target->is_tls) {
        read_tls(a);
        return;
    }
    if (a->state == ATTEMPT_GREETED_BY_US && a->received >= GREETING) {
        a->state = ATTEMPT_WAITING;
        a->greeted = a->target->probe->time;
    }
    size_t head = GREETING + FRAME_HEAD - (a->target->path ? 0 : 1);
    if (a->state == ATTEMPT_WAITING && a->target->is_request && a->received > head) {
        succeed(a);
    } else if (a->is_reported && a->state == ATTEMPT_WAITING) {
        close_attempt(a);
    }
}

static void on_written(uv_write_t *request, int status) {
    attempt *a = request->data;
    if (status < 0) {
        close_attempt(a);
    }
}

/* Recreates the listener, unless the attempt began before the last restart. */
static void restart(target *t, const attempt *a, const char *reason) {
    const probe_options *o = &t->probe->options;
    const char *address = o->targets[t->index].address;
    if (a->start <= t->last_restart) {
        return;
    }
    health_set(o->health, t->component, HEALTH_NOT_SERVING, "%s; it is being created again", reason);
    t->last_restart = t->probe->time;
    if (o->hooks.restart(o->hooks.context, t->index)) {
        log_repeated(o->log, &t->restarts, "%s %s and was created again", address, reason);
    }
}

/* Handles a failed connection: recreates the listener if there is none at the endpoint, else reports the error. */
static void fail_to_connect(attempt *a, int status) {
    target *t = a->target;
    close_attempt(a);
    if (status == UV_ENOENT || status == UV_ECONNREFUSED) {
        restart(t, a, "cannot be reached");
    } else {
        health_set(t->probe->options.health, t->component, HEALTH_NOT_SERVING, "cannot be connected to: %s",
                   uv_strerror(status));
    }
}

static void on_connected(uv_connect_t *request, int status) {
    attempt *a = request->data;
    const target *t = a->target;
    const probe *p = t->probe;
    if (a->state != ATTEMPT_CONNECTING) {
        return;
    }
    if (status < 0) {
        fail_to_connect(a, status);
        return;
    }
    const uint8_t *greeting = t->is_ingest ? push_greeting : sub_greeting;
    const uint8_t *bytes = t->is_tls ? tls_greeting : !t->is_request ? greeting : t->path ? p->ipc_message : p->message;
    size_t size = t->is_tls        ? sizeof tls_greeting
                  : !t->is_request ? GREETING
                  : t->path        ? p->ipc_message_size
                                   : p->message_size;
    uv_buf_t buffer = uv_buf_init((char *)(uintptr_t)bytes, (unsigned)size);
    a->state = ATTEMPT_GREETED_BY_US;
    a->write.data = a;
    if (uv_read_start(&a->socket.stream, on_allocate, on_read) != 0 ||
        uv_write(&a->write, &a->socket.stream, &buffer, 1, on_written) != 0) {
        close_attempt(a);
    }
}

/* Connects from a local port that is announced to the transport in advance. Returns libuv's code. */
static int connect_tcp(attempt *a) {
    target *t = a->target;
    struct sockaddr_storage local = {.ss_family = t->address.ss_family};
    int size = sizeof local;
    int code = uv_tcp_init(t->probe->options.loop, &a->socket.tcp);
    if (code != 0) {
        return code;
    }
    a->state = ATTEMPT_CONNECTING;
    a->socket.handle.data = a;
    code = uv_tcp_bind(&a->socket.tcp, (struct sockaddr *)&local, 0);
    if (code == 0) {
        code = uv_tcp_getsockname(&a->socket.tcp, (struct sockaddr *)&local, &size);
    }
    if (code == 0) {
        const struct sockaddr_in *in =
            (const struct sockaddr_in *)&local; /* sin_port has the same offset in sockaddr_in6 */
        t->probe->options.hooks.expect(t->probe->options.hooks.context, t->index, ntohs(in->sin_port));
        code = uv_tcp_connect(&a->connect, &a->socket.tcp, (struct sockaddr *)&t->address, on_connected);
    }
    return code;
}

static void start_attempt(target *t, attempt *a) {
    uint64_t now = t->probe->time;
    const probe_hooks *hooks = &t->probe->options.hooks;
    a->is_reported = false;
    a->received = 0;
    a->start = now;
    a->greeted = 0;
    a->admitted_before = hooks->admitted(hooks->context, t->index);
    a->connect.data = a;
    t->last_start = now;
    if (t->path) {
        if (uv_pipe_init(t->probe->options.loop, &a->socket.pipe, 0) == 0) {
            a->state = ATTEMPT_CONNECTING;
            a->socket.handle.data = a;
            uv_pipe_connect(&a->connect, &a->socket.pipe, t->path, on_connected);
        }
    } else if (connect_tcp(a) != 0) {
        close_attempt(a);
    }
}

/* Reports what a late attempt waits for. */
static void report_late(target *t, attempt *a, bool is_admitted) {
    const probe *p = t->probe;
    double timeout = (double)p->timeout / 1e9;
    a->is_reported = true;
    if (a->state != ATTEMPT_WAITING) {
        health_set(p->options.health, t->component, HEALTH_NOT_SERVING,
                   "does not accept connections; are there descriptors left?");
    } else {
        health_set(p->options.health, t->component, HEALTH_DEGRADED, "%s slowly: not within %.3f s",
                   is_admitted ? "answers" : "takes up connections", timeout);
    }
}

/* Closes an attempt that has succeeded, restarts the listener of one that was never admitted, and reports one that
 * takes longer than the timeout. */
static void check_attempt(target *t, attempt *a) {
    const probe *p = t->probe;
    uint64_t now = p->time;
    if (a->state == ATTEMPT_IDLE || a->state == ATTEMPT_CLOSING) {
        return;
    }
    bool is_admitted = p->options.hooks.admitted(p->options.hooks.context, t->index) > a->admitted_before;
    if (a->state == ATTEMPT_WAITING && is_admitted && !t->is_request) {
        succeed(a);
    } else if (t->is_tls && a->state == ATTEMPT_GREETED_BY_US && now >= a->start + DEAD_TIME) {
        a->state = ATTEMPT_WAITING;
        close_attempt(a);
        restart(t, a, "did not answer any more");
    } else if (a->state == ATTEMPT_WAITING && !is_admitted && now >= a->greeted + DEAD_TIME) {
        close_attempt(a);
        restart(t, a, "took up no connection any more");
    } else if (a->is_reported && a->state == ATTEMPT_WAITING && is_admitted && now > a->greeted + PATIENCE) {
        close_attempt(a);
    } else if (!a->is_reported && now >= (a->greeted ? a->greeted : a->start) + p->timeout) {
        report_late(t, a, is_admitted);
    }
}

void probe_hurry(probe *p) {
    for (size_t i = 0; i < p->target_count; i++) {
        p->targets[i].last_start = 0;
    }
}

void probe_tick(probe *p) {
    uint64_t now = clock_now();
    p->time += now - p->last_tick < LONGEST_TICK ? now - p->last_tick : LONGEST_TICK;
    p->last_tick = now;
    for (size_t i = 0; i < p->target_count && !p->is_stopped; i++) {
        target *t = &p->targets[i];
        attempt *idle = NULL;
        for (size_t k = 0; k < ATTEMPTS; k++) {
            check_attempt(t, &t->attempts[k]);
            if (t->attempts[k].state == ATTEMPT_IDLE) {
                idle = &t->attempts[k];
            }
        }
        uint64_t interval = !t->path && p->interval < TCP_INTERVAL ? TCP_INTERVAL : p->interval;
        if (idle && t->is_resolved && p->time >= t->last_start + interval) {
            start_attempt(t, idle);
        }
    }
}

bool probe_is_well(const probe *p, uint64_t age) {
    uint64_t now = clock_now();
    for (size_t i = 0; i < p->target_count; i++) {
        if (p->targets[i].is_resolved && now > p->targets[i].last_success + age) {
            return false;
        }
    }
    return true;
}

void probe_stop(probe *p) {
    p->is_stopped = true;
    for (size_t i = 0; i < p->target_count; i++) {
        for (size_t k = 0; k < ATTEMPTS; k++) {
            close_attempt(&p->targets[i].attempts[k]);
        }
    }
}

void probe_free(probe *p) {
    if (p) {
        free(p->message);
        free(p);
    }
}
