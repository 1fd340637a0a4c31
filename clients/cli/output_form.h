/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Form of a command's results: a table for people, --json or --csv.
 */
#ifndef CLI_OUTPUT_FORM_H
#define CLI_OUTPUT_FORM_H

#include "arguments.h"

typedef enum output_form { OUTPUT_TABLE, OUTPUT_JSON, OUTPUT_CSV } output_form;

/* Determines the form that the arguments name. Refuses two of them. */
exit_code output_form_read(const arguments *args, output_form *form);

#endif
