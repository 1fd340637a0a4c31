/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads files as a whole.
 */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "diagnostics.h"

/* Reads a file, or standard input for "-", and appends a zero byte. Reports failures. The caller frees `bytes`, also
 * after an error. */
exit_code read_file(const char *path, char **bytes, size_t *size);

/* Reads a file, or standard input for "-", as text. A zero byte is an error. The caller frees `text`, also after an
 * error. */
exit_code read_text(const char *path, char **text, size_t *size);

/* Returns true if an argument is JSON instead of a path: it begins with { or [. */
bool is_json_text(const char *argument);

/* Reads JSON from a text. `path` is the file that it comes from, or NULL for an argument. Returns NULL after it has
 * reported an error. */
json_t *parse_json(const char *path, const char *text, size_t size);

/* Reads JSON from a file, or from the argument itself. Returns NULL after it has reported an error. */
json_t *read_json(const char *argument);

#endif
