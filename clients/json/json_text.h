/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts any text to a JSON string.
 */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include <jansson.h>

/* Returns the text as a JSON string. In text that is not UTF-8, such as a name that was cut within a letter, each byte
 * that is not ASCII becomes "?". Returns NULL when out of memory. */
json_t *json_text(const char *text);

#endif
