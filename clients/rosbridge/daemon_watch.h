/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks the daemon for its health once a second, so that /healthz and the metrics tell whether it can be reached.
 */
#ifndef ROSBRIDGE_DAEMON_WATCH_H
#define ROSBRIDGE_DAEMON_WATCH_H

#include "bridge.h"

/* Asks if a question is due, and sets of->daemon when it is answered. Must be called periodically; `now` is
 * monotonic_time. */
void daemon_watch_check(bridge *of, double now);

#endif
