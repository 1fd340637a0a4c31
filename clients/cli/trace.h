/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a motion while it runs, row by row: as CSV for any plotting program, as JSON lines, or drawn in the
 * terminal.
 */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include <stdint.h>

#include "arguments.h"
#include "layout.h"

/* Array that --plot draws. */
typedef enum trace_array { TRACE_Q, TRACE_V, TRACE_TAU, TRACE_A, TRACE_ARRAYS } trace_array;

typedef struct trace {
    enum { TRACE_QUIET, TRACE_CSV, TRACE_JSON, TRACE_PLOT } form;
    const layout *robot;
    bool has_state;     /* rows have q and v, not only tau */
    bool has_tau;       /* rows have tau */
    bool has_contacts;  /* rows have contacts; the first one decides */
    trace_array chosen; /* what to plot; TRACE_ARRAYS: the first that rows have */
    trace_array drawn;
    size_t rows;
    struct plot *plot; /* from the first row on */
    const char **names;
} trace;

/* Contact surfaces of the model in a row: forces, 3 each, N; gaps, m; and slips, m/s. */
typedef struct trace_contacts {
    const double *forces, *gaps, *slips; /* NULL: the row has none */
} trace_contacts;

/* One row of a motion, in the order of the layout. */
typedef struct trace_values {
    const char *simulation; /* JSON only; NULL: rows are those of one robot */
    uint64_t step;
    double time;               /* s */
    const double *q, *v, *tau; /* q and v may be NULL where has_state is false, and tau where has_tau is */
    const double *a;           /* NULL: not known; plots only */
    trace_contacts contacts;   /* CSV and JSON only */
} trace_values;

/* Chooses the form by the arguments --csv, --json and --plot; without them the trace writes nothing. Reports errors. */
exit_code trace_open(const arguments *args, const layout *robot, bool has_state, trace *opened);

/* Writes one row. Reports an error if --plot selects an array that the rows lack. */
exit_code trace_row(trace *to, const trace_values *row);

/* Draws the plot for the last time and frees the trace. */
void trace_close(trace *closed);

/* Returns the time of CLOCK_MONOTONIC in s. */
double trace_now(void);

#endif
