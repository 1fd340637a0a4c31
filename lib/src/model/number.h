/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decimal numbers in text, read strictly and independently of the locale.
 */
#ifndef DYNAMICS_MODEL_NUMBER_H
#define DYNAMICS_MODEL_NUMBER_H

#include <locale.h>
#include <stdbool.h>

/* Reads up to `capacity` finite decimal numbers separated by white space. Returns their number, or -1 if the text
 * contains anything else (nan, inf and hexadecimal numbers are refused) or more numbers. `plain` is a "C" locale. */
int numbers_read(const char *text, locale_t plain, int capacity, double *values);

#endif
