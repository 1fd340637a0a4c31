/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of attributes, and errors about them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../model/error.h"
#include "../model/number.h"
#include "reader.h"
#include "rpy.h"

/* expat 2.9 deprecates the functions whose results have the size of a long. */
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
#define CURRENT_LINE XML_GetCurrentLineNumber64
#define CURRENT_COLUMN XML_GetCurrentColumnNumber64
#else
#define CURRENT_LINE XML_GetCurrentLineNumber
#define CURRENT_COLUMN XML_GetCurrentColumnNumber
#endif

int reader_line(const reader *r) {
    return r->skipped_lines + (int)CURRENT_LINE(r->parser);
}

int reader_column(const reader *r) {
    return (int)CURRENT_COLUMN(r->parser) + 1;
}

void reader_fail(reader *r, dyn_status status, const char *format, ...) {
    if (r->status != DYN_OK) {
        return;
    }
    r->status = status;
    char place[64];
    snprintf(place, sizeof place, "urdf:%d", reader_line(r));
    dyn_error detail;
    va_list list;
    va_start(list, format);
    dyn_error_set_list(&detail, status, place, format, list);
    va_end(list);
    if (r->subject[0] != '\0') {
        dyn_error_set(r->error, status, place, "%s: %s", r->subject, detail.message);
    } else {
        dyn_error_set(r->error, status, place, "%s", detail.message);
    }
    const dyn_element at = {.index = -1, .line = reader_line(r)};
    dyn_error_of_element(r->error, status, &at);
    XML_StopParser(r->parser, XML_FALSE);
}

void reader_name_bound(const reader *r, const char *bound) {
    if (r->error) {
        r->error->site.cause = DYN_CAUSE_TOO_MANY;
        r->error->site.argument = bound;
    }
}

void reader_report(reader *r, dyn_severity severity, const char *format, ...) {
    va_list list;
    va_start(list, format);
    report_add_list(r->report, severity, reader_line(r), r->subject, format, list);
    va_end(list);
}

const char *attribute_text(const char **attributes, const char *name) {
    for (; attributes[0]; attributes += 2) {
        if (strcmp(attributes[0], name) == 0) {
            return attributes[1];
        }
    }
    return NULL;
}

/* Beginning of a value, for messages. */
typedef struct excerpt {
    char text[64];
} excerpt;

static excerpt excerpt_of(const char *text) {
    excerpt start;
    size_t length = strnlen(text, sizeof start.text - 4);
    bool cut = text[length] != '\0';
    while (cut && length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80) {
        length--;
    }
    memcpy(start.text, text, length);
    strcpy(start.text + length, cut ? "..." : "");
    return start;
}

bool attribute_numbers(reader *r, const char *tag, const char **attributes, const char *name, int count,
                       double *values) {
    const char *text = attribute_text(attributes, name);
    double read[6];
    if (!text || r->status != DYN_OK) {
        return false;
    }
    if (numbers_read(text, r->plain, count, read) == count) {
        memcpy(values, read, (size_t)count * sizeof *values);
        return true;
    }
    const char *hint =
        strstr(text, "${") || strstr(text, "$(") ? "; this is a xacro expression, run xacro on the file first" : "";
    reader_fail(r, DYN_INVALID_ARGUMENT, "<%s> has %s=\"%s\"; write %d finite decimal number%s%s", tag, name,
                excerpt_of(text).text, count, count > 1 ? "s" : "", hint);
    return false;
}

void attribute_required(reader *r, const char *tag, const char **attributes, const char *name, int count,
                        double *values) {
    if (!attribute_numbers(r, tag, attributes, name, count, values)) {
        reader_fail(r, DYN_INVALID_ARGUMENT, "<%s> has no attribute %s; add it", tag, name);
    }
}

void attribute_name(reader *r, const char *tag, const char **attributes, const char *name,
                    char copy[DYN_MAX_NAME + 1]) {
    const char *text = attribute_text(attributes, name);
    copy[0] = '\0';
    if (!text || text[0] == '\0') {
        reader_fail(r, DYN_INVALID_ARGUMENT, "<%s> has no attribute %s; add it", tag, name);
    } else if (strlen(text) > DYN_MAX_NAME) {
        reader_fail(r, DYN_RESOURCE_EXHAUSTED, "<%s> has %s=\"%s\" of %zu bytes; a name has at most %d", tag, name,
                    excerpt_of(text).text, strlen(text), DYN_MAX_NAME);
        reader_name_bound(r, "name");
    } else {
        strcpy(copy, text);
    }
}

void attribute_origin(reader *r, const char **attributes, double position[3], double rotation[9]) {
    double rpy[3] = {0};
    position[0] = position[1] = position[2] = 0;
    attribute_numbers(r, "origin", attributes, "xyz", 3, position);
    attribute_numbers(r, "origin", attributes, "rpy", 3, rpy);
    rotation_from_rpy(rpy, rotation);
}
