/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes rows of named values, such as the simulations of the daemon: as a table, as JSON with an object a line, or
 * as CSV. A command describes its columns once and adds the values of each row in the order of the columns.
 */
#ifndef CLI_LISTING_H
#define CLI_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "csv_writer.h"
#include "json_writer.h"
#include "output_form.h"
#include "table.h"

typedef struct listing_column {
    const char *key;     /* in JSON and CSV */
    const char *heading; /* in the table; NULL: not shown there */
    table_align align;
} listing_column;

typedef struct listing {
    output_form form;
    size_t count;
    const listing_column *columns;
    size_t next; /* column of the next value */
    bool has_rows;
    table *lines;
    csv_writer csv;
    json_writer json;
} listing;

/* Opens a list in the form that the arguments name. `columns` must outlive it. The caller closes it with listing_close,
 * also after an error. */
exit_code listing_open(const arguments *args, size_t count, const listing_column *columns, listing *opened);

/* Adds a text as the next value of the row. `shown` is its form in tables; NULL: the text itself. */
void listing_text(listing *to, const char *text, const char *shown);

/* Adds an unsigned integer as the next value of the row. */
void listing_count(listing *to, uint64_t count);

/* Adds a signed integer as the next value of the row. */
void listing_signed(listing *to, int64_t number);

/* Adds a truth value as the next value of the row: true or false, in tables yes or no. */
void listing_flag(listing *to, bool flag);

/* Adds a number as the next value of the row. Tables show it in this format of printf. */
void listing_number(listing *to, double number, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Writes the table, or the sentence `none` if there are no rows, and frees the list. If `code` is an error, only frees
 * the list. Returns `code`, or an error that the function has reported. */
exit_code listing_close(listing *closed, const char *none, exit_code code);

#endif
