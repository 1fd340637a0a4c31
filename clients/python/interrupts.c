/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ends calls of Python programs on SIGINT.
 */
#include "interrupts.h"

#include <signal.h>
#include <stddef.h>

/* Handler of SIGINT that the program has installed, and the number of signals since it was replaced. */
static struct sigaction previous;
static volatile sig_atomic_t interrupts;

static void on_interrupt(int number, siginfo_t *info, void *context) {
    interrupts = 1;
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, info, context);
    } else {
        previous.sa_handler(number);
    }
}

bool dynamicsd_watch_report(void *watch, double fraction) {
    dynamicsd_watch *self = watch;
    if (__atomic_load_n(&self->is_cancelled, __ATOMIC_SEQ_CST) || (self->is_catching && interrupts)) {
        return false;
    }
    return !self->progress || self->progress(self->context, fraction);
}

void dynamicsd_watch_begin(dynamicsd_watch *watch) {
    if (sigaction(SIGINT, NULL, &previous) != 0 || previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
        return;
    }
    struct sigaction catching = previous;
    catching.sa_sigaction = on_interrupt;
    catching.sa_flags |= SA_SIGINFO;
    interrupts = 0;
    watch->is_catching = sigaction(SIGINT, &catching, NULL) == 0;
}

void dynamicsd_watch_end(dynamicsd_watch *watch) {
    if (watch->is_catching) {
        sigaction(SIGINT, &previous, NULL);
        watch->is_catching = false;
    }
}

void dynamicsd_watch_cancel(dynamicsd_watch *watch) {
    __atomic_store_n(&watch->is_cancelled, 1, __ATOMIC_SEQ_CST);
}
