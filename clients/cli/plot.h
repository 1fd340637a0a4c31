/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws rows of numbers over simulated time in the terminal: a line for each entry, with its name, last value, range
 * and course.
 */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct plot plot;

/* Creates a plot of `count` entries with these names, which must outlive the plot. `title` names the quantity of the
 * entries. Returns NULL when out of memory. */
plot *plot_create(const char *title, size_t count, const char *const *names);

/* Adds a row at a simulated time, s. A terminal shows the row within 0.1 s, fitted to the present size of the terminal.
 * A time before that of the last row restarts the plot. */
void plot_add(plot *to, double time, const double *values);

/* Draws the whole plot for the last time, if it has a row. */
void plot_finish(plot *drawn);

/* Frees the plot. NULL is ignored. */
void plot_free(plot *freed);

#endif
