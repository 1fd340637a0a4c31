/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes lines of CSV (RFC 4180) to standard output.
 */
#ifndef CLI_CSV_WRITER_H
#define CLI_CSV_WRITER_H

#include <stdbool.h>
#include <stddef.h>

/* State of the current line. All zeros: the beginning of a line. */
typedef struct csv_writer {
    bool has_cells; /* the current line has a cell already */
} csv_writer;

/* Writes the next cell of the line, formatted as printf does, in quotes where CSV needs them. Unprintable characters
 * are escaped (printable.h). When out of memory the cell is empty. */
void csv_text(csv_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a cell for each number, with 17 significant digits, or "nan". */
void csv_numbers(csv_writer *writer, size_t count, const double *numbers);

void csv_end_line(csv_writer *writer);

#endif
