/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collects the results of a run: tables, printed on standard output as they are completed, and written to one JSON file
 * at the end.
 */
#ifndef DYNAMICS_BENCH_REPORT_H
#define DYNAMICS_BENCH_REPORT_H

#include <stdbool.h>

#include "table.h"

typedef struct report report;

/* Creates an empty report and prints a description of the machine. */
report *report_create(void);
void report_free(report *r);

/* Prints a complete table and adds it to the report, which owns it from then on. */
void report_add(report *r, table *t);

/* Writes the report as JSON; returns false with errno where that fails. */
bool report_write(const report *r, const char *path);

#endif
