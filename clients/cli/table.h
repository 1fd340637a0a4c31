/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables for people: columns as wide as their widest cell.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct table table;

/* Alignment of a column. A unit follows the number to its left closely. */
typedef enum table_align { TABLE_LEFT, TABLE_RIGHT, TABLE_UNIT } table_align;

/* Creates a table. Returns NULL when out of memory; all functions below then do nothing, and table_print reports it. */
table *table_create(void);
void table_free(table *freed);

/* Adds a column; before any row. An empty heading is one. */
void table_add_column(table *to, const char *heading, table_align align);

/* Adds cells, row by row, printf's way. */
void table_add_cell(table *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a cell with a number of readable length; rounding noise below 1e-12 is zero. */
void table_add_number(table *to, double number);

/* Fills the row with empty cells up to its end. */
void table_end_row(table *to);

/* Writes the table to standard output, `indent` blanks before each line. False when memory ran out on the way. */
bool table_print(const table *printed, int indent);

#endif
