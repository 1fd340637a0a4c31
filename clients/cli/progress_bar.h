/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws the progress of a long request on a terminal.
 */
#ifndef CLI_PROGRESS_BAR_H
#define CLI_PROGRESS_BAR_H

#include <stdbool.h>

/* A bar on standard error, drawn with the first progress. */
typedef struct progress_bar {
    bool is_drawn;
} progress_bar;

/* Returns true if standard error is a terminal. */
bool progress_bar_has_reader(void);

/* Draws the completed fraction; a dyn_client_progress callback whose `context` is the bar. Returns false after Ctrl-C,
 * which cancels the request. */
bool progress_bar_draw(void *context, double fraction);

/* Makes Ctrl-C cancel the request instead of ending the program at once. */
void progress_bar_catch_interrupts(void);

/* Removes the bar. */
void progress_bar_close(progress_bar *closed);

#endif
