/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of values in a JSON text.
 */
#ifndef JSON_LINE_H
#define JSON_LINE_H

#include <stddef.h>

/* Returns the line, from 1 on, of the value that a path such as "machine_elements[3].rotor.ratio" names in a valid JSON
 * text, or that of the innermost value around it that the text has. */
size_t json_line_of(const char *text, const char *path);

#endif
