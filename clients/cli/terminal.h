/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Standard output and standard error, which may be a terminal that acts on control characters.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdio.h>

/* Makes stdout and stderr streams that escape all but printable characters, line breaks and tabs (printable.h),
 * whatever text of the daemon they print. Called once, before the first output. */
void terminal_open(void);

/* Writes a control sequence of the program's own to stdout or stderr, unescaped, after all earlier output. */
void terminal_control(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
