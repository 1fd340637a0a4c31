/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints tables of text. Each column is as wide as its widest cell if the table then fits page_columns. Otherwise
 * names are shortened in their middle, down to a width at which they still differ; a wide column of text is wrapped;
 * and the other columns are written in blocks below each other, each of which repeats the first columns.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct table table;

/* Kind of a column: text, names, numbers, whose headings are shortened as names are, and units. A unit follows the
 * number to its left closely; units that are equal in all rows are written once, into the heading of that number. */
typedef enum table_align { TABLE_LEFT, TABLE_NAME, TABLE_RIGHT, TABLE_UNIT } table_align;

/* Creates a table. Returns NULL when out of memory; all functions below then do nothing, and table_print reports it. */
table *table_create(void);
void table_free(table *freed);

/* Adds a column. All columns come before the first row. An empty heading is allowed. */
void table_add_column(table *to, const char *heading, table_align align);

/* Adds the next cell of the current row, formatted as printf does. */
void table_add_cell(table *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a cell with a number of readable length. Rounding noise below 1e-12 becomes zero. */
void table_add_number(table *to, double number);

/* Fills the rest of the row with empty cells. */
void table_end_row(table *to);

/* Writes the table to standard output, with `indent` blanks before each line. Shortens and wraps the cells themselves
 * to fit the page. Returns false when out of memory. */
bool table_print(table *printed, int indent);

#endif
