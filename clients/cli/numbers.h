/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses numbers of the command line and of files.
 */
#ifndef CLI_NUMBERS_H
#define CLI_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads one finite decimal number that fills `text`, except for blanks at both ends. Returns false for other text. */
bool parse_number(const char *text, double *number);

/* Reads `count` numbers separated by commas. On failure returns false and writes a sentence to `message`. */
bool parse_numbers(const char *text, size_t count, double *numbers, char *message, size_t message_size);

/* Reads an integer from `min` to `max`. Returns false for other text. */
bool parse_integer(const char *text, long min, long max, long *number);

/* Reads a whole number of 64 bits in decimal digits, without a sign. Blanks may follow it. Returns false for other
 * text. */
bool parse_digits(const char *text, uint64_t *number);

#endif
