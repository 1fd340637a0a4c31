/* SPDX-License-Identifier: BSD-2-Clause */
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_SIZE = 64 };

struct table {
    const char *title, *key, *note;
    const table_column *columns;
    int column_count, row_count;
    table_cell *cells; /* row_count x column_count */
};

/* Returns `memory`. Ends the program where it is NULL. */
static void *require(void *memory) {
    if (!memory) {
        fputs("dynamics-bench: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    return memory;
}

table *table_create(const char *title, const char *key, const char *note, const table_column *columns, int count) {
    table *t = require(calloc(1, sizeof *t));
    *t = (table){.title = title, .key = key, .note = note, .columns = columns, .column_count = count};
    return t;
}

void table_free(table *t) {
    for (int i = 0; i < t->row_count * t->column_count; i++) {
        free((char *)t->cells[i].text);
    }
    free(t->cells);
    free(t);
}

void table_add(table *t, const table_cell *cells) {
    size_t columns = (size_t)t->column_count, rows = (size_t)t->row_count;
    t->cells = require(realloc(t->cells, (rows + 1) * columns * sizeof *t->cells));
    for (size_t i = 0; i < columns; i++) {
        table_cell *cell = &t->cells[rows * columns + i];
        *cell = cells[i];
        cell->text = cells[i].text ? require(strdup(cells[i].text)) : NULL;
    }
    t->row_count++;
}

const char *table_key(const table *t) {
    return t->key;
}

static void format_cell(const table_column *column, const table_cell *cell, char text[CELL_SIZE]) {
    if (column->digits == TABLE_TEXT) {
        snprintf(text, CELL_SIZE, "%s", cell->text ? cell->text : "-");
    } else if (isnan(cell->number)) {
        snprintf(text, CELL_SIZE, "-");
    } else {
        snprintf(text, CELL_SIZE, "%.*f", column->digits, cell->number);
    }
}

/* Returns the width of a column, which is that of its longest text, title included. */
static int column_width(const table *t, int i) {
    size_t width = strlen(t->columns[i].title);
    for (int row = 0; row < t->row_count; row++) {
        char text[CELL_SIZE];
        format_cell(&t->columns[i], &t->cells[row * t->column_count + i], text);
        width = strlen(text) > width ? strlen(text) : width;
    }
    return (int)width;
}

/* Prints texts left-aligned and numbers right-aligned. */
static void print_cell(FILE *out, const table_column *column, int width, const char *text) {
    fprintf(out, column->digits == TABLE_TEXT ? "%-*s  " : "%*s  ", width, text);
}

void table_print(const table *t, FILE *out) {
    int *width = require(calloc((size_t)t->column_count, sizeof *width));
    fprintf(out, "\n%s\n\n  ", t->title);
    for (int i = 0; i < t->column_count; i++) {
        width[i] = column_width(t, i);
        print_cell(out, &t->columns[i], width[i], t->columns[i].title);
    }
    for (int row = 0; row < t->row_count; row++) {
        fputs("\n  ", out);
        for (int i = 0; i < t->column_count; i++) {
            char text[CELL_SIZE];
            format_cell(&t->columns[i], &t->cells[row * t->column_count + i], text);
            print_cell(out, &t->columns[i], width[i], text);
        }
    }
    free(width);
    fprintf(out, "\n%s%s", t->note ? "\n" : "", t->note ? t->note : "");
    fflush(out);
}

static json_t *cell_to_json(const table_column *column, const table_cell *cell) {
    if (column->digits == TABLE_TEXT) {
        return cell->text ? json_string(cell->text) : json_null();
    }
    return isfinite(cell->number) ? json_real(cell->number) : json_null();
}

json_t *table_to_json(const table *t) {
    json_t *rows = require(json_array());
    for (int row = 0; row < t->row_count; row++) {
        json_t *object = require(json_object());
        for (int i = 0; i < t->column_count; i++) {
            json_object_set_new(object, t->columns[i].key,
                                cell_to_json(&t->columns[i], &t->cells[row * t->column_count + i]));
        }
        json_array_append_new(rows, object);
    }
    return rows;
}
