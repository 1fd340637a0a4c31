/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of text.
 */
#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"

typedef struct cells {
    char **text;
    size_t count, capacity;
} cells;

struct table {
    cells headings;
    table_align *align;
    cells body;
    bool failed;
};

table *table_create(void) {
    return calloc(1, sizeof(table));
}

static void cells_free(cells *freed) {
    for (size_t i = 0; i < freed->count; i++) {
        free(freed->text[i]);
    }
    free(freed->text);
}

void table_free(table *freed) {
    if (!freed) {
        return;
    }
    cells_free(&freed->headings);
    cells_free(&freed->body);
    free(freed->align);
    free(freed);
}

/* Appends an allocated text, which the cells then own. NULL marks the cells as failed. */
static bool append(cells *to, char *text) {
    if (!text) {
        return false;
    }
    if (to->count == to->capacity) {
        size_t capacity = to->capacity > 0 ? 2 * to->capacity : 64;
        char **grown = realloc(to->text, capacity * sizeof *grown);
        if (!grown) {
            free(text);
            return false;
        }
        to->text = grown;
        to->capacity = capacity;
    }
    to->text[to->count++] = text;
    return true;
}

void table_add_column(table *to, const char *heading, table_align align) {
    if (!to || to->failed) {
        return;
    }
    table_align *grown = realloc(to->align, (to->headings.count + 1) * sizeof *grown);
    if (!grown) {
        to->failed = true;
        return;
    }
    to->align = grown;
    to->align[to->headings.count] = align;
    to->failed = !append(&to->headings, printable_copy(heading));
}

void table_add_cell(table *to, const char *format, ...) {
    if (!to || to->failed) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    char *text = printable_format(format, arguments); /* a line break within a cell would forge rows */
    va_end(arguments);
    to->failed = !append(&to->body, text);
}

void table_add_number(table *to, double number) {
    double size = fabs(number);
    if (size < 1e-12) {
        table_add_cell(to, "%.6f", 0.0);
    } else if (size >= 1e-4 && size < 1e6) {
        table_add_cell(to, "%.6f", number);
    } else {
        table_add_cell(to, "%.6e", number);
    }
}

void table_end_row(table *to) {
    while (to && !to->failed && to->body.count % to->headings.count != 0) {
        table_add_cell(to, "%s", "");
    }
}

/* Returns the number of code points of a UTF-8 text, which approximates its width on a terminal. */
static size_t width_of(const char *text) {
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

static void print_row(const table *printed, char *const *row, const size_t *widths, int indent) {
    /* Write blanks before the next cell only, so that no line ends with them. */
    size_t blanks = (size_t)indent;
    for (size_t i = 0; i < printed->headings.count; i++) {
        size_t padding = widths[i] - width_of(row[i]);
        if (i > 0) {
            blanks += printed->align[i] == TABLE_UNIT ? 1 : 2;
        }
        if (printed->align[i] == TABLE_RIGHT) {
            blanks += padding;
        }
        if (row[i][0] != '\0') {
            printf("%*s%s", (int)blanks, "", row[i]);
            blanks = 0;
        }
        if (printed->align[i] != TABLE_RIGHT) {
            blanks += padding;
        }
    }
    fputc('\n', stdout);
}

bool table_print(const table *printed, int indent) {
    if (!printed || printed->failed) {
        return false;
    }
    size_t columns = printed->headings.count;
    size_t *widths = calloc(columns + 1, sizeof *widths);
    if (!widths) {
        return false;
    }
    bool headed = false;
    for (size_t i = 0; i < columns; i++) {
        widths[i] = width_of(printed->headings.text[i]);
        headed |= widths[i] > 0;
    }
    for (size_t i = 0; i < printed->body.count; i++) {
        size_t width = width_of(printed->body.text[i]);
        if (width > widths[i % columns]) {
            widths[i % columns] = width;
        }
    }
    if (headed) {
        print_row(printed, printed->headings.text, widths, indent);
    }
    for (size_t row = 0; row + columns <= printed->body.count; row += columns) {
        print_row(printed, printed->body.text + row, widths, indent);
    }
    free(widths);
    return true;
}
