/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Determines the form of a command's results: a table for people, --json or --csv.
 */
#ifndef CLI_OUTPUT_FORM_H
#define CLI_OUTPUT_FORM_H

#include "arguments.h"

typedef enum output_form { OUTPUT_TABLE, OUTPUT_JSON, OUTPUT_CSV } output_form;

/* Determines the form from the options --json and --csv; a table without them. Reports an error if both are present. */
exit_code output_form_read(const arguments *args, output_form *form);

#endif
