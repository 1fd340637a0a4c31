/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that commands read as a whole.
 */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "diagnostics.h"

/* Reads a file, or standard input for "-", and puts a zero byte behind it; tells why it cannot be read. `bytes` is
 * freed by the caller, also after an error. */
exit_code read_file(const char *path, char **bytes, size_t *size);

/* Reads a file as text. A zero byte is an error. */
exit_code read_text(const char *path, char **text, size_t *size);

/* Returns whether an argument is JSON itself, and no path: it begins with { or [. */
bool is_json_text(const char *argument);

/* JSON from a file, or from the argument itself. NULL: what is wrong was told. */
json_t *read_json(const char *argument);

#endif
