/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers in text.
 */
#ifndef CLI_NUMBERS_H
#define CLI_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

/* Reads one finite decimal number that takes up all of `text`, blanks at both ends aside. False otherwise. */
bool parse_number(const char *text, double *number);

/* Reads numbers separated by commas: exactly `count` of them. On failure writes a sentence about what is wrong. */
bool parse_numbers(const char *text, size_t count, double *numbers, char *message, size_t message_size);

/* Reads an integer from `min` to `max`. */
bool parse_integer(const char *text, long min, long max, long *number);

#endif
