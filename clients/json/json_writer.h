/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes JSON to a stream, with commas, line breaks and escapes.
 */
#ifndef JSON_JSON_WRITER_H
#define JSON_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json_writer {
    FILE *stream;
    bool pretty; /* a line for each member, indented; else all on one line */
    unsigned depth;
    bool follows; /* something precedes the next value at this depth */
    bool has_key; /* the next value follows its key */
} json_writer;

void emit_begin_object(json_writer *writer);
void emit_end_object(json_writer *writer);
void emit_begin_array(json_writer *writer);
void emit_end_array(json_writer *writer);

/* Writes the key of the next value. */
void emit_key(json_writer *writer, const char *key);

/* Writes a string; NULL becomes "". Characters that a terminal would act on or not show are escaped (printable.h), and
 * bytes that are not UTF-8 become U+FFFD. */
void emit_string(json_writer *writer, const char *text);

/* Writes a number with 17 significant digits. NaN and infinity, which JSON lacks, become null. */
void emit_double(json_writer *writer, double number);
void emit_unsigned(json_writer *writer, uint64_t number);
void emit_signed(json_writer *writer, int64_t number);
void emit_bool(json_writer *writer, bool truth);

/* Writes an array of numbers on one line. */
void emit_doubles(json_writer *writer, size_t count, const double *numbers);

/* Writes an array of `rows` arrays of `columns` numbers. If `pretty`, each row is on a line of its own. */
void emit_matrix(json_writer *writer, size_t rows, size_t columns, const double *numbers);

/* Ends the line after the outermost value. The next value is a text of its own. */
void emit_finish(json_writer *writer);

#endif
