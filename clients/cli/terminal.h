/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Protects a terminal from control characters on standard output and standard error.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdio.h>

/* Makes stdout and stderr streams that escape all but printable characters, line breaks and tabs (printable.h),
 * whatever text of the daemon they print. Called once, before the first output. */
void terminal_open(void);

/* Registers a function that is called each time before text goes to stderr, so that a drawing which terminal_control
 * moves over does not overwrite messages on the same terminal. NULL: none. The function must not write to stderr. */
void terminal_before_messages(void (*called)(void *context), void *context);

/* Writes a control sequence of the program's own to stdout or stderr, unescaped, after all earlier output. */
void terminal_control(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
