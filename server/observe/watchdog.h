/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notifications to systemd (sd_notify). Without systemd the functions do nothing. Only the loop's thread calls them.
 */
#ifndef SERVER_OBSERVE_WATCHDOG_H
#define SERVER_OBSERVE_WATCHDOG_H

#include <stdint.h>

/* Returns the interval of heartbeats, ns: half of the unit's watchdog time; 0 without a watchdog. */
uint64_t watchdog_interval(void);

/* Sends a heartbeat: the daemon runs and its listeners answer. */
void watchdog_feed(void);

/* Notify that the daemon answers requests, reloads its configuration (followed by ready), stops, or has a new
 * status. */
void watchdog_ready(const char *status);
void watchdog_reloading(void);
void watchdog_stopping(const char *status);
void watchdog_status(const char *status);

#endif
