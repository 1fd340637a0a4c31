/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that add entries to a load report.
 */
#ifndef DYNAMICS_MODEL_LOAD_REPORT_H
#define DYNAMICS_MODEL_LOAD_REPORT_H

#include <stdarg.h>
#include <stdbool.h>

#include <dynamics/report.h>

#include "element.h"

/* Largest number of entries of one severity in a report. One more entry states how many others were dropped. */
enum { REPORT_MAX_ENTRIES = 1000 };

/* Adds an entry with a printf-style message. A report of NULL is allowed and does nothing. Marks the report as
 * incomplete when memory runs out. */
void report_add(dyn_report *report, dyn_severity severity, int line, const char *place, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds an entry as report_add does, with a list of arguments. */
void report_add_list(dyn_report *report, dyn_severity severity, int line, const char *place, const char *format,
                     va_list list) __attribute__((format(printf, 5, 0)));

/* Adds an entry about an element as report_add does. Its place is the element, such as "link wrist". */
void report_add_element(dyn_report *report, dyn_severity severity, named_element at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns whether memory ran out while an entry was added; false for NULL. */
bool report_is_incomplete(const dyn_report *report);

#endif
