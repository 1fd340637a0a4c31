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

/* Notifies systemd that the daemon answers requests, after its start or a reload. */
void watchdog_ready(const char *status);

/* Notifies systemd that the daemon reloads its configuration; watchdog_ready ends the reload. */
void watchdog_reloading(void);

/* Notifies systemd that the daemon stops. */
void watchdog_stopping(const char *status);

/* Sends systemd a new status line. */
void watchdog_status(const char *status);

#endif
