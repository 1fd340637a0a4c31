/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output of a motion while it runs, row by row: as CSV for any plotting program, as JSON lines, or drawn in the
 * terminal.
 */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include "arguments.h"
#include "layout.h"

enum { TRACE_SAMPLES = 64 };

/* Last values of one coordinate. */
typedef struct trace_line {
    double values[TRACE_SAMPLES]; /* a ring */
    double low, high, last;       /* of all so far */
} trace_line;

typedef struct trace {
    enum { TRACE_QUIET, TRACE_CSV, TRACE_JSON, TRACE_PLOT } form;
    const layout *robot;
    bool has_state; /* rows have q and v, not only tau */
    bool has_tau;   /* rows have tau */
    bool is_terminal;
    size_t rows, line_count, drawn_lines;
    double next_sample, next_draw; /* s of the clock */
    size_t samples;
    trace_line *lines;
} trace;

/* Chooses the form by the arguments: --csv, --json, --plot, or nothing. */
exit_code trace_open(const arguments *given, const layout *robot, bool has_state, trace *opened);

/* Writes one row. q and v may be NULL where has_state is false, and tau where has_tau is. */
void trace_row(trace *to, uint64_t step, double time, const double *q, const double *v, const double *tau);

/* Draws the remaining rows. */
void trace_close(trace *closed);

/* Returns the time of CLOCK_MONOTONIC in s. */
double trace_now(void);

#endif
