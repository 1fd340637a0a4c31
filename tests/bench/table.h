/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of results, written as text for readers and as JSON for programs.
 */
#ifndef DYNAMICS_BENCH_TABLE_H
#define DYNAMICS_BENCH_TABLE_H

#include <stdio.h>

#include <jansson.h>

/* Column of a table: its title, its key in JSON, and the number of decimals, or TABLE_TEXT for a column of text. */
typedef struct table_column {
    const char *title;
    const char *key;
    int digits;
} table_column;

enum { TABLE_TEXT = -1 };

/* Value in a table: text in a column of text, otherwise a number, which is NaN where the value is missing. */
typedef struct table_cell {
    const char *text;
    double number;
} table_cell;

typedef struct table table;

/* Creates an empty table with `count` columns. The strings and the columns must outlive it. `key` is the table's name
 * in JSON; `note` (or NULL) is printed below the table. */
table *table_create(const char *title, const char *key, const char *note, const table_column *columns, int count);
void table_free(table *t);

/* Adds a row with a value for each column; copies the texts. */
void table_add(table *t, const table_cell *cells);

void table_print(const table *t, FILE *out);

const char *table_key(const table *t);

/* Returns a JSON array with an object for each row. */
json_t *table_to_json(const table *t);

#endif
