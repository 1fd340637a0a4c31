/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads --token, the token that a command to a simulation or a job needs.
 */
#ifndef CLI_TOKEN_H
#define CLI_TOKEN_H

#include <stdint.h>

#include "arguments.h"

/* Reads the required number of --token from the argument or from the file that it names. Every user of the machine can
 * read arguments; permissions protect a file. `source` names the origin of the number in an error. */
exit_code read_token(const arguments *args, const char *source, uint64_t *token);

#endif
