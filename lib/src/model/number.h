/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decimal numbers in text, read strictly and whatever the locale is.
 */
#ifndef DYNAMICS_MODEL_NUMBER_H
#define DYNAMICS_MODEL_NUMBER_H

#include <locale.h>
#include <stdbool.h>

/* Reads up to `capacity` finite decimal numbers separated by white space. Returns how many the text holds, or -1 if
 * something in it is no such number (nan, inf and hexadecimal are none) or if there are more. `plain` is a "C" locale.
 */
int numbers_read(const char *text, locale_t plain, int capacity, double *values);

#endif
