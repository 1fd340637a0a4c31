/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of CSV on standard output, as RFC 4180 has them.
 */
#ifndef CLI_CSV_WRITER_H
#define CLI_CSV_WRITER_H

#include <stdbool.h>
#include <stddef.h>

/* Zero-initialize it: the beginning of a line. */
typedef struct csv_writer {
    bool has_cells; /* of the current line */
} csv_writer;

/* Writes the next cell of the line, formatted as printf does, in quotes where it needs them. A text that does not fit
 * into the memory is left empty. */
void csv_text(csv_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes numbers with 17 significant digits, or "nan". */
void csv_numbers(csv_writer *writer, size_t count, const double *numbers);

void csv_end_line(csv_writer *writer);

#endif
