/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes lines of CSV.
 */
#include "csv_writer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"

static void separate(csv_writer *writer) {
    if (writer->has_cells) {
        fputc(',', stdout);
    }
    writer->has_cells = true;
}

static void write_quoted(const char *text) {
    fputc('"', stdout);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            fputc('"', stdout);
        }
        fputc(*text, stdout);
    }
    fputc('"', stdout);
}

void csv_text(csv_writer *writer, const char *format, ...) {
    va_list values;
    va_start(values, format);
    char *text = printable_format(format, values); /* a line break within a cell would forge rows */
    va_end(values);
    separate(writer);
    if (text && strpbrk(text, ",\"")) {
        write_quoted(text);
    } else if (text) {
        fputs(text, stdout);
    }
    free(text);
}

void csv_numbers(csv_writer *writer, size_t count, const double *numbers) {
    for (size_t i = 0; i < count; i++) {
        separate(writer);
        if (isnan(numbers[i])) {
            fputs("nan", stdout);
        } else {
            printf("%.17g", numbers[i]);
        }
    }
}

void csv_end_line(csv_writer *writer) {
    fputc('\n', stdout);
    writer->has_cells = false;
}
