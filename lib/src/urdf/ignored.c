/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ignored elements, counted by kind, so that the report of a large file stays readable.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../model/error.h"
#include "reader.h"

void ignored_clear(ignored_list *list) {
    for (int i = 0; i < list->count; i++) {
        free(list->kinds[i].place);
        free(list->kinds[i].what);
    }
    free(list->kinds);
    name_index_clear(&list->names);
    memset(list, 0, sizeof *list);
}

/* Appends a kind that occurs for the first time, with copies of its strings. Returns false when out of memory. */
static bool append_kind(ignored_list *list, const ignored_kind *first) {
    if (list->count == list->capacity) {
        int capacity = list->capacity > 0 ? 2 * list->capacity : 16;
        ignored_kind *kinds = realloc(list->kinds, (size_t)capacity * sizeof *kinds);
        if (!kinds) {
            return false;
        }
        list->kinds = kinds;
        list->capacity = capacity;
    }
    ignored_kind added = *first;
    added.place = strdup(first->place);
    added.what = strdup(first->what);
    if (!added.place || !added.what || !name_index_add(&list->names, added.what, list->count)) {
        free(added.place);
        free(added.what);
        return false;
    }
    list->kinds[list->count++] = added;
    return true;
}

void ignore(reader *r, dyn_severity severity, const char *why, const char *format, ...) {
    ignored_list *list = &r->ignored;
    dyn_error text; /* truncates a long text at a character */
    va_list arguments;
    va_start(arguments, format);
    dyn_error_set_list(&text, DYN_OK, "", format, arguments);
    va_end(arguments);
    const char *what = list->count < MAX_IGNORED_KINDS ? text.message : "something else";
    int known = name_index_find(&list->names, what);
    if (known >= 0) {
        list->kinds[known].count++;
        return;
    }
    ignored_kind first = {severity, reader_line(r), 1, r->subject, (char *)what, why};
    if (list->count > MAX_IGNORED_KINDS || !append_kind(list, &first)) {
        reader_fail(r, DYN_RESOURCE_EXHAUSTED, "out of memory");
    }
}

void ignored_report(reader *r) {
    for (int i = 0; i < r->ignored.count; i++) {
        const ignored_kind *kind = &r->ignored.kinds[i];
        if (kind->count == 1) {
            report_add(r->report, kind->severity, kind->line, kind->place, "%s is ignored: %s", kind->what, kind->why);
        } else {
            report_add(r->report, kind->severity, kind->line, kind->place, "%s is ignored, %d times: %s", kind->what,
                       kind->count, kind->why);
        }
    }
}
