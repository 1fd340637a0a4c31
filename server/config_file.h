/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the daemon's configuration from an INI file. Every key has a default.
 */
#ifndef SERVER_CONFIG_FILE_H
#define SERVER_CONFIG_FILE_H

#include "config.h"

/* Sets every key to its default, then reads the file. On failure writes "FILE:LINE: sentence", or "FILE: sentence" if
 * the file cannot be opened, and returns false; `c` then owns nothing. */
bool config_read(const char *path, config *c, char error[CONFIG_ERROR_SIZE]);

/* Parses the name of a log level. Returns false, with an error that lists the names, for any other text. */
bool config_parse_level(const char *text, log_level *level, char error[CONFIG_ERROR_SIZE]);

/* Parses the name of a log format. Returns false, with an error that lists the names, for any other text. */
bool config_parse_format(const char *text, log_format *format, char error[CONFIG_ERROR_SIZE]);

#endif
