/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Load report: a growing list of entries, bounded for each severity.
 */
#include "load_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/text.h>

struct dyn_report {
    dyn_report_entry *entries;
    size_t count, capacity;
    size_t stored[2], dropped[2]; /* by severity */
    char rest[128];               /* message of the last entry, which represents those that were dropped */
    bool incomplete;
};

dyn_status dyn_report_create(dyn_report **report) {
    *report = calloc(1, sizeof **report);
    return *report ? DYN_OK : DYN_RESOURCE_EXHAUSTED;
}

void dyn_report_free(dyn_report *report) {
    if (!report) {
        return;
    }
    for (size_t i = 0; i < report->count; i++) {
        free((char *)report->entries[i].place);
        free((char *)report->entries[i].message);
    }
    free(report->entries);
    free(report);
}

static size_t dropped_entries(const dyn_report *report) {
    return report->dropped[DYN_SEVERITY_NOTE] + report->dropped[DYN_SEVERITY_WARNING];
}

size_t dyn_report_count(const dyn_report *report) {
    return report->count + (dropped_entries(report) > 0 ? 1 : 0);
}

dyn_report_entry dyn_report_at(const dyn_report *report, size_t i) {
    if (i < report->count) {
        return report->entries[i];
    }
    return (dyn_report_entry){
        .severity = report->dropped[DYN_SEVERITY_WARNING] > 0 ? DYN_SEVERITY_WARNING : DYN_SEVERITY_NOTE,
        .place = "report",
        .message = report->rest,
    };
}

size_t dyn_report_count_severity(const dyn_report *report, dyn_severity severity) {
    size_t count = 0;
    for (size_t i = 0; i < dyn_report_count(report); i++) {
        count += dyn_report_at(report, i).severity == severity;
    }
    return count;
}

bool report_is_incomplete(const dyn_report *report) {
    return report && report->incomplete;
}

/* Makes room for one more entry. Returns false when out of memory. */
static bool grow(dyn_report *report) {
    if (report->count < report->capacity) {
        return true;
    }
    size_t capacity = report->capacity > 0 ? 2 * report->capacity : 16;
    dyn_report_entry *entries = realloc(report->entries, capacity * sizeof *entries);
    if (!entries) {
        return false;
    }
    report->entries = entries;
    report->capacity = capacity;
    return true;
}

/* Counts an entry that exceeds the bound, and updates the message about such entries. */
static void drop(dyn_report *report, dyn_severity severity) {
    report->dropped[severity]++;
    snprintf(report->rest, sizeof report->rest, "... and %zu more warnings and %zu more notes",
             report->dropped[DYN_SEVERITY_WARNING], report->dropped[DYN_SEVERITY_NOTE]);
}

/* Returns the text made printable in new memory, or NULL; frees the text. */
static char *print(char *text) {
    /* Size of the longest result: the escape of one byte has four bytes, that of a character at most five times its
     * bytes. */
    size_t size = text ? 5 * strlen(text) + 1 : 0;
    char *printed = size > 0 ? malloc(size) : NULL;
    if (printed) {
        dyn_text_print(text, printed, size);
    }
    free(text);
    return printed;
}

/* Adds an entry about the element `at`, and frees the strings. A NULL string, and memory that runs out, mark the report
 * as incomplete. */
static void add(dyn_report *report, dyn_severity severity, const dyn_element *at, char *raw_place, char *raw_message) {
    char *place = print(raw_place), *message = print(raw_message);
    if (!place || !message || !grow(report)) {
        report->incomplete = true;
        free(place);
        free(message);
        return;
    }
    report->entries[report->count++] = (dyn_report_entry){severity, at->line, *at, place, message};
    report->stored[severity]++;
}

/* Returns the printf-style text in new memory, or NULL. */
__attribute__((format(printf, 1, 0))) static char *format_text(const char *format, va_list list) {
    char *text;
    return vasprintf(&text, format, list) >= 0 ? text : NULL;
}

/* Returns whether the report has room for another entry of that severity. Counts the entry if not. */
static bool has_room(dyn_report *report, dyn_severity severity) {
    if (!report || report->incomplete) {
        return false;
    }
    if (report->stored[severity] >= REPORT_MAX_ENTRIES) {
        drop(report, severity);
        return false;
    }
    return true;
}

void report_add_list(dyn_report *report, dyn_severity severity, int line, const char *place, const char *format,
                     va_list list) {
    if (has_room(report, severity)) {
        const dyn_element none = {.index = -1, .line = line};
        add(report, severity, &none, strdup(place), format_text(format, list));
    }
}

void report_add(dyn_report *report, dyn_severity severity, int line, const char *place, const char *format, ...) {
    va_list list;
    va_start(list, format);
    report_add_list(report, severity, line, place, format, list);
    va_end(list);
}

void report_add_element(dyn_report *report, dyn_severity severity, named_element at, const char *format, ...) {
    if (!has_room(report, severity)) {
        return;
    }
    char *place;
    if (asprintf(&place, "%s %s", element_kind_name(at.element.kind), at.name) < 0) {
        place = NULL;
    }
    va_list list;
    va_start(list, format);
    add(report, severity, &at.element, place, format_text(format, list));
    va_end(list);
}
