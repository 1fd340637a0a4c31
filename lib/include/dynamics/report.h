/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The load report: all that was ignored, merged or found suspicious while a model was read and built.
 */
#ifndef DYNAMICS_REPORT_H
#define DYNAMICS_REPORT_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dyn_report dyn_report;

typedef enum dyn_severity {
    DYN_SEVERITY_NOTE,    /* a fixed joint merged, a visual ignored */
    DYN_SEVERITY_WARNING, /* suspicious: likely not what the author of the description meant */
} dyn_severity;

typedef struct dyn_report_entry {
    dyn_severity severity;
    int line;            /* line of the description; 0 where there is no single line */
    dyn_element element; /* of the description; DYN_ELEMENT_KIND_NONE: the entry is not about a single one */
    const char *place;   /* "link wrist", "joint elbow", "robot" */
    const char *message; /* a sentence; both are printable (text.h) */
} dyn_report_entry;

/* Creates an empty report. Errors: DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_report_create(dyn_report **report);

/* Frees a report and its entries; NULL is allowed. */
DYN_API void dyn_report_free(dyn_report *report);

/* Returns the number of entries. They are in the order in which they were found. */
DYN_API size_t dyn_report_count(const dyn_report *report);

/* Returns entry i < dyn_report_count(report). Its strings live as long as the report. */
DYN_API dyn_report_entry dyn_report_at(const dyn_report *report, size_t i);

/* Returns the number of entries of that severity. */
DYN_API size_t dyn_report_count_severity(const dyn_report *report, dyn_severity severity);

#ifdef __cplusplus
}
#endif

#endif
