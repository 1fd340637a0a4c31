/* What systemd is told. */
#include "observe/watchdog.h"

#include <systemd/sd-daemon.h>

#include "observe/clock.h"

uint64_t watchdog_interval(void) {
    uint64_t microseconds = 0;
    return sd_watchdog_enabled(0, &microseconds) > 0 ? microseconds * 1000 / 2 : 0;
}

void watchdog_feed(void) {
    sd_notify(0, "WATCHDOG=1");
}

void watchdog_ready(const char *status) {
    sd_notifyf(0, "READY=1\nSTATUS=%s", status);
}

void watchdog_reloading(void) {
    sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu\nSTATUS=Reading the configuration",
               (unsigned long long)(clock_now() / 1000));
}

void watchdog_stopping(const char *status) {
    sd_notifyf(0, "STOPPING=1\nSTATUS=%s", status);
}

void watchdog_status(const char *status) {
    sd_notifyf(0, "STATUS=%s", status);
}
