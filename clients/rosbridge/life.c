/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts the parts of the gateway, checks them periodically, and stops them at a signal.
 */
#include "life.h"

#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>

#include "actions.h"
#include "calls.h"
#include "daemon_topics.h"
#include "daemon_watch.h"
#include "offers.h"
#include "printable.h"
#include "topics.h"
#include "websocket.h"

/* Milliseconds between two periodic checks. */
enum { CHECK_INTERVAL = 100, STOPPING_INTERVAL = 10 };

/* Seconds that connections have to read their last answers when the gateway stops. */
static const double STOP_TIME = 1;

/* The bridge and the handles of its life cycle. */
typedef struct life {
    bridge bridge;
    uv_loop_t loop;
    uv_timer_t check;
    uv_signal_t terminate, interrupt;
    websocket *socket;
    daemon_topics *topics; /* NULL: closed */
    double stop_time;      /* monotonic: end of the wait for connections */
} life;

/* Sends the delayed messages of topics that are due. */
static void on_flush(uv_timer_t *timer) {
    bridge *of = timer->data;
    double now = monotonic_time(), next = topics_flush(of, now);
    bridge_flush_at(of, next);
}

static void forget_peer(bridge *of, peer *gone) {
    topics_forget_peer(of, gone);
    offers_forget_peer(of, gone);
    actions_forget_peer(of, gone);
}

static void on_check(uv_timer_t *timer) {
    life *self = timer->data;
    double now = monotonic_time();
    if (self->bridge.stops) {
        if (!self->bridge.peers || now > self->stop_time) {
            uv_stop(timer->loop);
        }
        return;
    }
    for (peer *each = self->bridge.peers, *next; each; each = next) {
        next = each->next;
        peer_check(each, now);
    }
    offers_check(&self->bridge, now);
    actions_check(&self->bridge);
    websocket_check(self->socket, now);
    daemon_topics_check(self->topics, now);
    daemon_watch_check(&self->bridge, now);
    sd_notify(0, "WATCHDOG=1");
}

/* Ends running calls with an answer and connections with a close frame. on_check then ends the loop. Further signals
 * are ignored. */
static void on_signal(uv_signal_t *signal, int number) {
    life *self = signal->data;
    bridge *of = &self->bridge;
    (void)number;
    if (of->stops) {
        return;
    }
    of->stops = true;
    self->stop_time = monotonic_time() + STOP_TIME;
    sd_notify(0, "STOPPING=1");
    call_pool_stop(of);
    daemon_topics_stop(self->topics);
    self->topics = NULL;
    for (peer *each = of->peers; each; each = each->next) {
        peer_cut(each, CLOSE_GOING_AWAY, "the gateway stops");
    }
    uv_timer_start(&self->check, on_check, 0, STOPPING_INTERVAL);
}

/* Closes the handles of the periodic check and of the signals. libwebsockets closes its own. */
static void stop_clock(life *self) {
    uv_close((uv_handle_t *)&self->check, NULL);
    uv_close((uv_handle_t *)&self->terminate, NULL);
    uv_close((uv_handle_t *)&self->interrupt, NULL);
}

/* Reports the listening address and port, or else the dialled address, to standard error and to systemd, and writes the
 * port to the port file. */
static void announce(const life *self) {
    const config *c = self->bridge.config;
    unsigned port = websocket_port(self->socket);
    FILE *file = c->port_file[0] != '\0' ? fopen(c->port_file, "w") : NULL;
    if (file) {
        fprintf(file, "%u\n", port);
        fclose(file);
    } else if (c->port_file[0] != '\0') {
        bridge_report("port_file: %s cannot be written", c->port_file);
    }
    char where[2 * CONFIG_WORD];
    if (c->address[0] != '\0') {
        snprintf(where, sizeof where, "listens at %s, port %u", c->address, port);
    } else {
        snprintf(where, sizeof where, "dials %s", c->dial);
    }
    char printed[2 * CONFIG_WORD];
    printable_text(where, printed, sizeof printed);
    bridge_report("%s", printed);
    sd_notifyf(0, "READY=1\nSTATUS=%s", printed);
}

static void start_clock(life *self) {
    bridge *of = &self->bridge;
    uv_timer_init(of->loop, &self->check);
    self->check.data = self;
    uv_timer_start(&self->check, on_check, 0, CHECK_INTERVAL);
    self->terminate.data = self->interrupt.data = self;
    uv_signal_init(of->loop, &self->terminate);
    uv_signal_start(&self->terminate, on_signal, SIGTERM);
    uv_signal_init(of->loop, &self->interrupt);
    uv_signal_start(&self->interrupt, on_signal, SIGINT);
}

/* Starts the threads of the calls, the topics of the daemon and the WebSockets. On failure writes the error; the caller
 * stops what was started. */
static bool start(life *self, char error[CONFIG_ERROR_SIZE]) {
    if (!call_pool_start(&self->bridge)) {
        snprintf(error, CONFIG_ERROR_SIZE, "no thread can be started");
        return false;
    }
    self->topics = daemon_topics_start(&self->bridge, error);
    return self->topics && websocket_start(&self->bridge, &self->socket, error);
}

bool bridge_run(const config *c, char error[CONFIG_ERROR_SIZE]) {
    life *self = calloc(1, sizeof *self);
    if (!self || uv_loop_init(&self->loop) != 0) {
        snprintf(error, CONFIG_ERROR_SIZE, "out of memory");
        free(self);
        return false;
    }
    bridge *of = &self->bridge;
    of->config = c;
    of->loop = &self->loop;
    uv_timer_init(of->loop, &of->flush);
    of->flush.data = of;
    of->on_flush = on_flush;
    of->forget_peer = forget_peer;
    snprintf(of->daemon.problem, sizeof of->daemon.problem, "it has not answered yet");
    bool has_run = start(self, error);
    if (has_run) {
        start_clock(self);
        announce(self);
        uv_run(of->loop, UV_RUN_DEFAULT);
        stop_clock(self);
    }
    websocket_stop(self->socket);
    call_pool_stop(of);
    if (self->topics) {
        daemon_topics_stop(self->topics);
    }
    uv_close((uv_handle_t *)&of->flush, NULL);
    topics_close(of);
    uv_run(of->loop, UV_RUN_DEFAULT);
    websocket_free(self->socket);
    uv_loop_close(of->loop);
    free(self);
    return has_run;
}
