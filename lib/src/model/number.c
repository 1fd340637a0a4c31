/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decimal numbers in text.
 */
#include "number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const white_space = " \t\r\n";

int numbers_read(const char *text, locale_t plain, int capacity, double *values) {
    int count = 0;
    for (text += strspn(text, white_space); *text != '\0'; text += strspn(text, white_space)) {
        size_t length = strcspn(text, white_space);
        /* Refuses names such as inf and hexadecimal numbers, which strtod would read. */
        if (count == capacity || strspn(text, "+-.0123456789eE") < length) {
            return -1;
        }
        char *end;
        values[count] = strtod_l(text, &end, plain);
        if (end != text + length || !isfinite(values[count])) {
            return -1;
        }
        count++;
        text = end;
    }
    return count;
}
