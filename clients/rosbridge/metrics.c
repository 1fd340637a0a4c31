/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names the counters and gauges, and writes them as text for Prometheus.
 */
#include "metrics.h"

#include <inttypes.h>

typedef struct metric {
    const char *name, *help;
} metric;

static const metric counters[COUNTERS] = {
    [COUNTER_CONNECTIONS] = {"connections_total", "WebSocket connections accepted."},
    [COUNTER_CONNECTIONS_REFUSED] = {"connections_refused_total",
                                     "Connections refused: origin, token or their number."},
    [COUNTER_CONNECTIONS_CUT] = {"connections_cut_total", "Connections ended for what the peer did or did not do."},
    [COUNTER_MESSAGES_IN] = {"messages_in_total", "Messages received."},
    [COUNTER_BYTES_IN] = {"bytes_in_total", "Bytes of messages received."},
    [COUNTER_MESSAGES_OUT] = {"messages_out_total", "Messages sent."},
    [COUNTER_BYTES_OUT] = {"bytes_out_total", "Bytes of messages sent."},
    [COUNTER_MESSAGES_REFUSED] = {"messages_refused_total", "Messages answered with a status of the level error."},
    [COUNTER_MESSAGES_LOST] = {"messages_lost_total", "Messages of topics that slow readers lost."},
    [COUNTER_CALLS] = {"calls_total", "Calls of services and goals of actions."},
    [COUNTER_CALLS_FAILED] = {"calls_failed_total", "Calls and goals that failed."},
    [COUNTER_EVENTS] = {"events_total", "Events of the daemon."},
    [COUNTER_EVENTS_LOST] = {"events_lost_total", "Events of the daemon that did not arrive."},
};

static const metric gauges[GAUGES] = {
    [GAUGE_CONNECTIONS] = {"connections", "WebSocket connections."},
    [GAUGE_CALLS_UNDER_WAY] = {"calls_under_way", "Calls to the daemon, waiting or in work."},
    [GAUGE_TOPICS] = {"topics", "Topics."},
    [GAUGE_SUBSCRIPTIONS] = {"subscriptions", "Subscriptions."},
    [GAUGE_DAEMON_REACHED] = {"daemon_reached", "1 while the daemon answers and serves, else 0."},
};

static void write(FILE *to, const metric *of, const char *type, uint64_t value) {
    fprintf(to, "# HELP dynamics_rosbridge_%s %s\n# TYPE dynamics_rosbridge_%s %s\ndynamics_rosbridge_%s %" PRIu64 "\n",
            of->name, of->help, of->name, type, of->name, value);
}

void metrics_write(const metrics *written, FILE *to) {
    for (int i = 0; i < COUNTERS; i++) {
        write(to, &counters[i], "counter", written->counters[i]);
    }
    for (int i = 0; i < GAUGES; i++) {
        write(to, &gauges[i], "gauge", written->gauges[i]);
    }
}
