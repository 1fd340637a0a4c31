/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the help of the program and of its commands.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "command.h"

/* Prints the list of commands, the options that all commands accept, and first steps. */
void print_program_help(size_t count, const command *commands);

/* Prints what a command does, its options and an example. */
void print_command_help(const command *known);

#endif
