/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses numbers of the command line and of files.
 */
#include "numbers.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a finite decimal number at `text`. Returns the position after the number and the blanks that follow, or NULL.
 * Hexadecimal numbers, "nan" and "inf", which strtod accepts, are refused. */
static const char *read_number(const char *text, double *number) {
    while (isspace((unsigned char)*text)) {
        text++;
    }
    size_t length = strspn(text, "+-.0123456789eE");
    char *end;
    *number = strtod(text, &end);
    if (end == text || end > text + length || !isfinite(*number)) {
        return NULL;
    }
    while (isspace((unsigned char)*end)) {
        end++;
    }
    return end;
}

bool parse_number(const char *text, double *number) {
    const char *end = read_number(text, number);
    return end && *end == '\0';
}

bool parse_numbers(const char *text, size_t count, double *numbers, char *message, size_t message_size) {
    size_t found = 1;
    for (const char *c = text; *c != '\0'; c++) {
        found += *c == ',';
    }
    if (found != count) {
        snprintf(message, message_size, "%zu values, but %zu are needed", found, count);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const char *end = read_number(text, &numbers[i]);
        if (!end || *end != (i + 1 < count ? ',' : '\0')) {
            snprintf(message, message_size, "value %zu, \"%.*s\", is not a finite number", i, (int)strcspn(text, ","),
                     text);
            return false;
        }
        text = end + 1;
    }
    return true;
}

bool parse_integer(const char *text, long min, long max, long *number) {
    char *end;
    errno = 0;
    *number = strtol(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && *number >= min && *number <= max;
}

bool parse_digits(const char *text, uint64_t *number) {
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    bool is_number = isdigit((unsigned char)text[0]) && errno == 0;
    while (isspace((unsigned char)*end)) {
        end++;
    }
    return is_number && *end == '\0';
}
