/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses the command line into options and operands.
 */
#ifndef CLI_COMMAND_LINE_H
#define CLI_COMMAND_LINE_H

#include "command.h"
#include "suggestion.h"

/* Function that returns the command of a name, or NULL. It offers the names of all commands to `meant`. */
typedef const command *find_command(const char *name, suggestion *meant);

/* Returns the option that the first `length` characters of `text` name, or OPTIONS if there is none. */
option option_of(const char *text, size_t length);

/* Splits the command line and checks it against the command's options and number of operands. Reports errors on
 * standard error. arguments_free frees the arrays of `parsed`, also after an error. */
exit_code arguments_parse(int argc, char **argv, find_command *find, arguments *parsed);
void arguments_free(arguments *parsed);

#endif
