/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State that all parts of the gateway share. Only the thread of the event loop uses it.
 */
#ifndef ROSBRIDGE_BRIDGE_H
#define ROSBRIDGE_BRIDGE_H

#include <uv.h>

#include "config.h"
#include "metrics.h"

struct peer;
struct topic;
struct offer;
struct relay;
struct call_pool;
struct goal;

/* Size of the reason why the daemon does not serve. */
enum { DAEMON_PROBLEM_SIZE = 512 };

/* Last answer of the daemon to the question for its health (daemon_watch.h). */
typedef struct daemon_answer {
    bool is_asked, is_well, was_reached;
    double next_question; /* monotonic */
    char problem[DAEMON_PROBLEM_SIZE];
} daemon_answer;

typedef struct bridge {
    const config *config;
    uv_loop_t *loop;
    metrics metrics;
    daemon_answer daemon;
    struct call_pool *calls;
    struct peer *peers;
    struct topic *topics;
    struct offer *offers; /* services and actions that peers offer */
    struct relay *relays; /* calls of these offers in progress */
    struct goal *goals;   /* goals of the daemon's own actions */
    uint64_t last_number; /* last number of a peer or a relay */
    uv_timer_t flush;     /* delayed messages of topics */
    uv_timer_cb on_flush; /* sends the messages that are due */
    /* Ends the subscriptions, offers and goals of a peer whose socket is closed. */
    void (*forget_peer)(struct bridge *of, struct peer *gone);
    bool stops; /* a signal arrived: nothing new is started */
} bridge;

/* Returns the time of the monotonic clock, in s. */
static inline double monotonic_time(void) {
    return 1e-9 * (double)uv_hrtime();
}

/* Starts the flush timer so that it expires at this time at the latest. A time more than a day ahead is ignored. */
void bridge_flush_at(bridge *of, double time);

/* Writes a printable line (printable.h) to standard error if the gateway is verbose. */
void bridge_log(const bridge *of, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a printable line to standard error in any case. */
void bridge_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
