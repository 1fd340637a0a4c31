/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress callback of libdynamicsclient for Python: cancels a call on Ctrl-C, or when another thread asks for it.
 * build_client.py passes this header to cffi, which reads no preprocessor directives.
 */
#ifndef DYNAMICSD_INTERRUPTS_H
#define DYNAMICSD_INTERRUPTS_H

#include <stdbool.h>

/* State of one call. The caller zeroes it and sets the last two members. */
typedef struct dynamicsd_watch {
    int is_cancelled;                                 /* read and written atomically */
    bool is_catching;                                 /* the handler of SIGINT is installed for this call */
    bool (*progress)(void *context, double fraction); /* NULL: none; acquires the interpreter's lock */
    void *context;
} dynamicsd_watch;

/* Reports the fraction to watch->progress. Returns false if the call is to end: SIGINT has arrived, another thread has
 * cancelled it, or the callback says so. It is a dyn_client_progress; `watch` is a dynamicsd_watch. */
bool dynamicsd_watch_report(void *watch, double fraction);

/* Counts SIGINT until dynamicsd_watch_end, and calls the handler that was installed before, so that Python raises
 * KeyboardInterrupt when the call has returned. Does nothing where SIGINT has no handler. Only the main thread may call
 * it, since only one handler can be replaced at a time. */
void dynamicsd_watch_begin(dynamicsd_watch *watch);
void dynamicsd_watch_end(dynamicsd_watch *watch);

/* Ends the call with CANCELLED. Any thread may call it while the call is under way. */
void dynamicsd_watch_cancel(dynamicsd_watch *watch);

#endif
