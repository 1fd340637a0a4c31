/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates fields and advice of the daemon's errors from the protocol's names to the options and commands of
 * dynamicsctl.
 */
#ifndef CLI_ERROR_FIELDS_H
#define CLI_ERROR_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the name that a field of a request has on the command line: "--q[2]" for "inverse_dynamics.q[2]", "" for the
 * model, which is an operand, ":3" for line 3 of a description, and the path without the method for a field that no
 * option sets. With `from_file`, states come from a file, and their fields have no option: "q[2]". */
void write_typed_field(const char *field, bool from_file, char *text, size_t size);

/* Copies a message and replaces its advice to set a field or to call a method by an option or a command: "set replace"
 * becomes "add --replace", and "DescribeModel" becomes "dynamicsctl describe". */
void write_typed_advice(const char *message, char *text, size_t size);

#endif
