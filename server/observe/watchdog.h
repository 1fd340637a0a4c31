/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notifications to systemd (sd_notify). Without systemd nothing happens. Only the loop's thread calls them.
 */
#ifndef SERVER_OBSERVE_WATCHDOG_H
#define SERVER_OBSERVE_WATCHDOG_H

#include <stdint.h>

/* ns between two signs of life: half of what the unit allows; 0 when it has no watchdog. */
uint64_t watchdog_interval(void);

/* The daemon lives and its listeners answer. */
void watchdog_feed(void);

/* The daemon answers requests, reads its configuration again (followed by ready), stops, or is in that state. */
void watchdog_ready(const char *status);
void watchdog_reloading(void);
void watchdog_stopping(const char *status);
void watchdog_status(const char *status);

#endif
