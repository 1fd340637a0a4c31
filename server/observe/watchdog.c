/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends notifications to systemd. */
#include "observe/watchdog.h"

#include <dynamics/text.h>
#include <systemd/sd-daemon.h>

#include "observe/clock.h"

enum { STATUS_SIZE = 1024 };

uint64_t watchdog_interval(void) {
    uint64_t microseconds = 0;
    return sd_watchdog_enabled(0, &microseconds) > 0 ? microseconds * 1000 / 2 : 0;
}

void watchdog_feed(void) {
    sd_notify(0, "WATCHDOG=1");
}

/* Sends assignments and the printable status: a line break in the status would begin another assignment. */
static void notify(const char *assignments, const char *status) {
    char printed[STATUS_SIZE];
    dyn_text_print(status, printed, sizeof printed);
    sd_notifyf(0, "%sSTATUS=%s", assignments, printed);
}

void watchdog_ready(const char *status) {
    notify("READY=1\n", status);
}

void watchdog_reloading(void) {
    sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu\nSTATUS=Reading the configuration",
               (unsigned long long)(clock_now() / 1000));
}

void watchdog_stopping(const char *status) {
    notify("STOPPING=1\n", status);
}

void watchdog_status(const char *status) {
    notify("", status);
}
