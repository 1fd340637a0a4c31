/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ends of calls of Python programs: on Ctrl-C, by a progress callback, or when another thread asks for it.
 * build_client.py passes this header to cffi, which reads no preprocessor directives. It also generates, for each
 * function of the library that calls the daemon, one that guards its call.
 */
#ifndef DYNAMICSD_INTERRUPTS_H
#define DYNAMICSD_INTERRUPTS_H

#include <dynamics_client.h>

/* Makes SIGINT end the calls of the calling thread, the main thread of Python. Later calls have no effect. */
void dynamicsd_guard_thread(void);

/* Guards one call of `client`: until dynamicsd_guard_end, SIGINT cancels it, and calls the handler that was installed
 * before, so that Python raises KeyboardInterrupt when the call has returned. Returns whether the call is guarded, the
 * argument of dynamicsd_guard_end: it is not in other threads, and where SIGINT has no handler. */
bool dynamicsd_guard_begin(dyn_client *client);
void dynamicsd_guard_end(bool is_guarded);

/* Progress of one call. The caller zeroes it and sets the last three members. */
typedef struct dynamicsd_watch {
    int is_cancelled;                                 /* read and written atomically */
    bool is_guarded;                                  /* the call is one of the guarded thread */
    bool (*progress)(void *context, double fraction); /* NULL: none; acquires the interpreter's lock */
    void *context;
} dynamicsd_watch;

/* Reports the fraction to watch->progress. Returns false if the call is to end: SIGINT has arrived, another thread has
 * cancelled it, or the callback says so. It is a dyn_client_progress; `watch` is a dynamicsd_watch. */
bool dynamicsd_watch_report(void *watch, double fraction);

/* Ends the call with CANCELLED. Any thread may call it while the call is under way. */
void dynamicsd_watch_cancel(dynamicsd_watch *watch);

#endif
