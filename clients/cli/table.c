/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints tables of text that fit the page.
 */
#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
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

/* Appends an allocated text, which the cells then own. Returns false if the text is NULL, or when out of memory after
 * freeing the text. */
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

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Returns the number of bytes of the first `count` characters of a UTF-8 text. */
static size_t bytes_of(const char *text, size_t count) {
    size_t at = 0, seen = 0;
    while (text[at] != '\0' && (((unsigned char)text[at] & 0xc0) == 0x80 || seen++ < count)) {
        at++;
    }
    return at;
}

/* Returns the text in new memory. A text that is wider than `width` loses characters in its middle. Returns NULL when
 * out of memory. */
static char *shorten(const char *text, size_t width) {
    size_t length = page_width_of(text);
    if (length <= width) {
        return strdup(text);
    }
    size_t tail = (width - 2) / 2, head = bytes_of(text, width - 2 - tail);
    const char *end = text + bytes_of(text, length - tail);
    size_t size = head + 2 + strlen(end) + 1;
    char *shortened = malloc(size);
    if (shortened) {
        snprintf(shortened, size, "%.*s..%s", (int)head, text, end);
    }
    return shortened;
}

typedef struct short_name {
    char *text;
    const char *whole;
} short_name;

static int compare_names(const void *left, const void *right) {
    return strcmp(((const short_name *)left)->text, ((const short_name *)right)->text);
}

/* Returns true if different names remain different when they are shortened to `width`. A name may occur several times.
 * Returns false when out of memory. */
static bool remain_distinct(size_t count, char *const *names, size_t width) {
    short_name *sorted = calloc(count + 1, sizeof *sorted);
    bool distinct = sorted != NULL;
    for (size_t i = 0; distinct && i < count; i++) {
        sorted[i] = (short_name){shorten(names[i], width), names[i]};
        distinct = sorted[i].text != NULL;
    }
    if (distinct) {
        qsort(sorted, count, sizeof *sorted, compare_names);
    }
    for (size_t i = 1; distinct && i < count; i++) {
        distinct = strcmp(sorted[i - 1].text, sorted[i].text) != 0 || strcmp(sorted[i - 1].whole, sorted[i].whole) == 0;
    }
    for (size_t i = 0; sorted && i < count; i++) {
        free(sorted[i].text);
    }
    free(sorted);
    return distinct;
}

/* Shortens names to the smallest width, at least `narrowest`, at which they remain distinct. Returns false when out of
 * memory. */
static bool shorten_names(size_t count, char **names, size_t narrowest) {
    size_t width = narrowest, widest = 0;
    for (size_t i = 0; i < count; i++) {
        size_t own = page_width_of(names[i]);
        widest = own > widest ? own : widest;
    }
    while (width < widest && !remain_distinct(count, names, width)) {
        width++;
    }
    for (size_t i = 0; i < count; i++) {
        char *shortened = shorten(names[i], width);
        if (!shortened) {
            return false;
        }
        free(names[i]);
        names[i] = shortened;
    }
    return true;
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

/* Returns the unit that all cells of a column have, or NULL if units differ or all cells are empty. Ignores empty
 * cells. */
static const char *common_unit(const table *of, size_t column) {
    const char *unit = NULL;
    for (size_t i = column; i < of->body.count; i += of->headings.count) {
        const char *own = of->body.text[i];
        if (own[0] != '\0' && unit && strcmp(own, unit) != 0) {
            return NULL;
        }
        unit = own[0] != '\0' ? own : unit;
    }
    return unit;
}

/* Moves units that are equal in all rows into the heading of the column to their left, if it has a heading. Returns
 * false when out of memory. */
static bool move_units(table *in) {
    for (size_t i = 1; i < in->headings.count; i++) {
        char **heading = &in->headings.text[i - 1];
        const char *unit = in->align[i] == TABLE_UNIT ? common_unit(in, i) : NULL;
        if (!unit || (*heading)[0] == '\0') {
            continue;
        }
        size_t size = strlen(*heading) + strlen(unit) + sizeof " []";
        char *joined = malloc(size);
        if (!joined) {
            return false;
        }
        snprintf(joined, size, "%s [%s]", *heading, unit);
        free(*heading);
        *heading = joined;
        for (size_t k = i; k < in->body.count; k += in->headings.count) {
            in->body.text[k][0] = '\0';
        }
    }
    return true;
}

/* ---- fitting ----------------------------------------------------------------------------------------------------- */

/* NARROW_NAME, NARROW_HEADING: smallest widths of shortened names and headings. NARROW_TEXT: smallest width of wrapped
 * text. */
enum { NARROW_NAME = 16, NARROW_HEADING = 12, NARROW_TEXT = 24 };

/* A table that is being written, and the widths of its columns. */
typedef struct fitting {
    const table *of;
    size_t indent, limit, keys; /* keys: first columns, which each block repeats */
    size_t *widths;
} fitting;

static void measure(const fitting *at) {
    size_t columns = at->of->headings.count;
    for (size_t i = 0; i < columns; i++) {
        at->widths[i] = page_width_of(at->of->headings.text[i]);
    }
    for (size_t i = 0; i < at->of->body.count; i++) {
        size_t width = page_width_of(at->of->body.text[i]);
        if (width > at->widths[i % columns]) {
            at->widths[i % columns] = width;
        }
    }
}

/* Returns the number of blanks before a column: none before a column of units that have all moved into the heading. */
static size_t gap_before(const fitting *at, size_t column) {
    if (column == 0) {
        return at->indent;
    }
    return at->of->align[column] == TABLE_UNIT ? at->widths[column] > 0 : 2;
}

/* Returns the width of the columns from `first` to before `end`, with the blanks before them. */
static size_t width_between(const fitting *at, size_t first, size_t end) {
    size_t width = 0;
    for (size_t i = first; i < end; i++) {
        width += gap_before(at, i) + at->widths[i];
    }
    return width;
}

/* Shortens the cells of a column of names. Returns false when out of memory. */
static bool shorten_column(table *of, size_t column) {
    size_t columns = of->headings.count, rows = of->body.count / columns;
    char **names = calloc(rows + 1, sizeof *names);
    for (size_t i = 0; names && i < rows; i++) {
        names[i] = of->body.text[i * columns + column];
    }
    bool done = names && shorten_names(rows, names, NARROW_NAME);
    for (size_t i = 0; names && i < rows; i++) {
        of->body.text[i * columns + column] = names[i];
    }
    free(names);
    return done;
}

/* Returns true if the heading of a column of numbers is a name, such as that of a joint. A heading with a unit is not a
 * name. */
static bool is_named(const table *of, size_t column) {
    return of->align[column] == TABLE_RIGHT && !strstr(of->headings.text[column], " [");
}

/* Shortens the headings of numbers that are names. Returns false when out of memory. */
static bool shorten_headings(table *of) {
    size_t count = 0;
    char **names = calloc(of->headings.count + 1, sizeof *names);
    size_t *columns = calloc(of->headings.count + 1, sizeof *columns);
    bool done = names && columns;
    for (size_t i = 0; done && i < of->headings.count; i++) {
        if (is_named(of, i)) {
            columns[count] = i;
            names[count++] = of->headings.text[i];
        }
    }
    done = done && shorten_names(count, names, NARROW_HEADING);
    for (size_t i = 0; i < count; i++) {
        of->headings.text[columns[i]] = names[i];
    }
    free(names);
    free(columns);
    return done;
}

/* Shortens all names: the cells of columns of names, and the headings of numbers. Returns false when out of memory. */
static bool shorten_all(table *of) {
    bool done = true;
    for (size_t i = 0; done && i < of->headings.count; i++) {
        done = of->align[i] != TABLE_NAME || shorten_column(of, i);
    }
    return done && shorten_headings(of);
}

/* Narrows the widest column of text, apart from key columns, as far as the table must shrink, but not below
 * NARROW_TEXT. */
static void narrow_text(const fitting *at) {
    size_t columns = at->of->headings.count, widest = columns, excess = width_between(at, 0, columns) - at->limit;
    for (size_t i = at->keys; i < columns; i++) {
        if (at->of->align[i] == TABLE_LEFT && (widest == columns || at->widths[i] > at->widths[widest])) {
            widest = i;
        }
    }
    if (widest < columns && at->widths[widest] > NARROW_TEXT) {
        size_t spare = at->widths[widest] - NARROW_TEXT;
        at->widths[widest] -= spare < excess ? spare : excess;
    }
}

static bool fit(table *of, fitting *at) {
    size_t columns = of->headings.count;
    while (at->keys < columns && (at->keys == 0 || of->align[at->keys] == TABLE_NAME)) {
        at->keys++;
    }
    measure(at);
    if (width_between(at, 0, columns) > at->limit) {
        if (!shorten_all(of)) {
            return false;
        }
        measure(at);
    }
    if (width_between(at, 0, columns) > at->limit) {
        narrow_text(at);
    }
    return true;
}

/* Returns the end of a block that begins with column `first`: the column after its last one. A unit remains with its
 * number. */
static size_t block_end(const fitting *at, size_t first) {
    size_t columns = at->of->headings.count, end = first, used = width_between(at, 0, at->keys);
    while (end < columns) {
        size_t next = end + 1;
        while (next < columns && at->of->align[next] == TABLE_UNIT) {
            next++;
        }
        used += width_between(at, end, next);
        if (end > first && used > at->limit) {
            break;
        }
        end = next;
    }
    return end;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

/* One line of a cell's text. */
typedef struct cell_line {
    const char *text;
    size_t length, width; /* bytes and columns */
} cell_line;

/* Returns the next line of a cell and moves *rest behind the line. A cell that is wider than its column has several
 * lines. */
static cell_line next_line(const fitting *at, size_t column, const char **rest) {
    cell_line line = {*rest, strlen(*rest), page_width_of(*rest)};
    size_t next = line.length;
    if (line.width > at->widths[column]) {
        line.length = page_line(*rest, at->widths[column], &next);
        line.width = 0;
        for (size_t i = 0; i < line.length; i++) {
            line.width += ((unsigned char)line.text[i] & 0xc0) != 0x80;
        }
    }
    *rest += next;
    return line;
}

/* Writes the key columns of a row and its columns from `first` to before `end`, on as many lines as they need. Blanks
 * are written before the next cell only, so that no line ends with blanks. */
static void print_row(const fitting *at, char *const *row, const char **rest, size_t first, size_t end) {
    bool has_more = true;
    memcpy(rest, row, at->of->headings.count * sizeof *rest);
    while (has_more) {
        size_t blanks = 0;
        has_more = false;
        for (size_t i = 0; i < end; i = i + 1 == at->keys && first > i ? first : i + 1) {
            cell_line line = next_line(at, i, &rest[i]);
            size_t padding = at->widths[i] - line.width;
            blanks += gap_before(at, i) + (at->of->align[i] == TABLE_RIGHT ? padding : 0);
            if (line.length > 0) {
                printf("%*s%.*s", (int)blanks, "", (int)line.length, line.text);
                blanks = 0;
            }
            blanks += at->of->align[i] == TABLE_RIGHT ? 0 : padding;
            has_more |= rest[i][0] != '\0';
        }
        fputc('\n', stdout);
    }
}

static bool has_headings(const table *of) {
    for (size_t i = 0; i < of->headings.count; i++) {
        if (of->headings.text[i][0] != '\0') {
            return true;
        }
    }
    return false;
}

static void print_blocks(const fitting *at, const char **rest) {
    const table *of = at->of;
    size_t columns = of->headings.count, first = at->keys;
    bool headed = has_headings(of);
    do {
        size_t end = block_end(at, first);
        if (headed) {
            print_row(at, of->headings.text, rest, first, end);
        }
        for (size_t row = 0; row + columns <= of->body.count; row += columns) {
            print_row(at, of->body.text + row, rest, first, end);
        }
        first = end;
        if (first < columns) {
            fputc('\n', stdout);
        }
    } while (first < columns);
}

bool table_print(table *printed, int indent) {
    if (!printed || printed->failed) {
        return false;
    }
    fitting at = {.of = printed, .indent = (size_t)indent, .limit = page_columns()};
    const char **rest = calloc(printed->headings.count + 1, sizeof *rest);
    at.widths = calloc(printed->headings.count + 1, sizeof *at.widths);
    bool done = rest && at.widths && move_units(printed) && fit(printed, &at);
    if (done && printed->headings.count > 0) {
        print_blocks(&at, rest);
    }
    free(rest);
    free(at.widths);
    return done;
}
