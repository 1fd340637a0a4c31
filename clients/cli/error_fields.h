/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields of the protocol in the words of the command line.
 */
#ifndef CLI_ERROR_FIELDS_H
#define CLI_ERROR_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the words of the command line for a field of a request: "--q[2]" for "inverse_dynamics.q[2]", "" for the
 * model, which is an operand, ":3" for line 3 of a description, and the path without the method where no option sets
 * the field. With `from_file`, states come from a file and so have no option: "q[2]". */
void write_typed_field(const char *field, bool from_file, char *text, size_t size);

/* Replaces advice to set a field or to call a method by that to give an option or a command: "set replace" becomes "add
 * --replace", and "DescribeModel" becomes "dynamicsctl describe". */
void write_typed_advice(const char *message, char *text, size_t size);

#endif
