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

/* Load report: a list of entries. */
typedef struct dyn_report dyn_report;

/* Severity of an entry. */
typedef enum dyn_severity {
    DYN_SEVERITY_NOTE,    /* a fixed joint merged, a visual ignored */
    DYN_SEVERITY_WARNING, /* suspicious: likely not what the author of the description meant */
} dyn_severity;

/* Entry of a report. Its place and message are printable (text.h). */
typedef struct dyn_report_entry {
    dyn_severity severity;
    int line;            /* line in the file of the description; 0 where there is no single line */
    dyn_element element; /* element that the entry is about; DYN_ELEMENT_KIND_NONE: no single one */
    const char *place;   /* "link wrist", "joint elbow", "robot" */
    const char *message; /* a sentence */
} dyn_report_entry;

/* Creates an empty report. Errors: DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_report_create(dyn_report **report);

/* Frees a report and its entries; NULL is allowed. */
DYN_API void dyn_report_free(dyn_report *report);

/* Returns the number of entries of a report, which are in the order in which they were added. */
DYN_API size_t dyn_report_count(const dyn_report *report);

/* Returns entry i < dyn_report_count(report). Its strings live as long as the report. */
DYN_API dyn_report_entry dyn_report_at(const dyn_report *report, size_t i);

/* Returns the number of entries of one severity. */
DYN_API size_t dyn_report_count_severity(const dyn_report *report, dyn_severity severity);

#ifdef __cplusplus
}
#endif

#endif
