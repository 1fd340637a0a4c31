/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completes command lines for shells: dynamicsctl complete WORD...
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "command.h"

/* Line that stands for names of files, which the shell knows. It is no valid name of an object. */
#define COMPLETION_FILES "<file>"

/* Prints the candidates for the last of the words that follow the program's name on a command line, one a line: the
 * whole word, and after a tab a description if there is one. Asks the daemon that the words name for the names of its
 * objects, for a second at most. `word_count` may be 0. */
exit_code complete_line(size_t word_count, char **words, size_t command_count, const command *commands);

#endif
