/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the log of the gateway and starts its flush timer.
 */
#include "bridge.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "printable.h"

/* Writes one printable line to standard error. */
__attribute__((format(printf, 1, 0))) static void log_line(const char *format, va_list arguments) {
    char *text = printable_format(format, arguments);
    fprintf(stderr, "dynamics-rosbridge: %s\n", text ? text : "out of memory");
    free(text);
}

void bridge_log(const bridge *of, const char *format, ...) {
    if (!of->config->is_verbose) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    log_line(format, arguments);
    va_end(arguments);
}

void bridge_report(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_line(format, arguments);
    va_end(arguments);
}

void bridge_flush_at(bridge *of, double time) {
    double wait = time - monotonic_time();
    if (wait > 86400) {
        return;
    }
    uint64_t milliseconds = wait > 0 ? (uint64_t)(1e3 * wait) + 1 : 0;
    if (!uv_is_active((uv_handle_t *)&of->flush) || uv_timer_get_due_in(&of->flush) > milliseconds) {
        uv_timer_start(&of->flush, of->on_flush, milliseconds, 0);
    }
}
