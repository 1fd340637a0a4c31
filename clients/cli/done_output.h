/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the result of a command that only reports success.
 */
#ifndef CLI_DONE_OUTPUT_H
#define CLI_DONE_OUTPUT_H

#include "arguments.h"

/* Writes "NAME: VERB", or with --json the object {"VERB": "NAME"}. `verb` is a past participle such as "deleted". */
void print_done(const arguments *args, const char *name, const char *verb);

#endif
