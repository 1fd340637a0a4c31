/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs dynamicsctl in a shell, against a daemon that all tests of a program share.
 */
#ifndef TESTS_SYSTEM_COMMAND_LINE_H
#define TESTS_SYSTEM_COMMAND_LINE_H

#include <jansson.h>

#include "system/daemon_fixture.h"

/* Daemon that runs between command_line_start and command_line_stop, the fixture of a test case. */
extern daemon_fixture served;

void command_line_start(void);
void command_line_stop(void);

/* Result of a shell command; outcome_free frees its texts. */
typedef struct outcome {
    int code;
    char *output; /* standard output */
    char *error;  /* standard error */
} outcome;

/* Runs a shell command line in which $ctl is the program with the daemon's address. "shown COMMAND TEXT" waits until
 * the output of a command of $ctl contains a text, "lines FILE COUNT" until a file has more than COUNT lines. */
outcome shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
void outcome_free(outcome *of);

/* Runs a command that must succeed, and parses the one JSON value that it writes. The caller releases the value. */
json_t *run_json(const char *line);

/* Returns number i of an array; 0 if there is none. */
double number_of(const json_t *array, size_t i);

/* Checks that a command exits with a code and prints a text on standard error. */
void must_fail(const char *line, int code, const char *said);

/* Checks that a command succeeds and prints a text on standard output. */
void must_say(const char *line, const char *said);

/* Returns the path of a file in the daemon's directory, which is removed at the end. */
const char *scratch(const char *name);

void write_file(const char *path, const char *text);

/* Returns the contents of a file, which the caller frees; an empty text if it cannot be read. */
char *read_whole(const char *path);

#endif
