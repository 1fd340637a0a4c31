/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a run has measured: its tables, on standard output as they come, and all in one JSON file at the end.
 */
#ifndef DYNAMICS_BENCH_REPORT_H
#define DYNAMICS_BENCH_REPORT_H

#include <stdbool.h>

#include "table.h"

typedef struct report report;

/* An empty report; prints what the machine is. */
report *report_create(void);
void report_free(report *r);

/* Prints a table that is complete, and keeps it in the report. */
void report_add(report *r, table *t);

/* Writes the report as JSON; false with errno where the file cannot be written. */
bool report_write(const report *r, const char *path);

#endif
