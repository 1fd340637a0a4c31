/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the states of a command from a file, standard input, or the command line.
 */
#ifndef CLI_STATE_SOURCE_H
#define CLI_STATE_SOURCE_H

#include "arguments.h"
#include "line_reader.h"
#include "state_parsers.h"

typedef struct state_source {
    const layout *robot;
    const arguments *args;
    const char *path; /* NULL: one state, from the command line */
    line_reader reader;
    enum { FORMAT_UNKNOWN, FORMAT_JSON_LINES, FORMAT_CSV } format;
    csv_header header;
    size_t line; /* number of the last line, from 1 */
    bool ended;
    exit_code failure; /* EXIT_OK: none */
    char message[PARSE_MESSAGE_SIZE + 256];
    char description[128]; /* of the only state: "home configuration, v = 0, a = 0" */
} state_source;

/* Opens the source that the arguments name and reports errors. `has_q`: the command uses a configuration. The caller
 * closes the source with state_source_close, also after an error. */
exit_code state_source_open(const arguments *args, const layout *robot, bool has_q, state_source *opened);
void state_source_close(state_source *closed);

/* Clears the batch and fills it with the next states. A pause of the input ends a batch early, so that a program that
 * writes one state and waits receives its result. At the end, and at an invalid line, `ended` becomes true; the states
 * before that line are in the batch. */
void state_source_fill(state_source *source, state_batch *batch);

/* Reports the invalid line, if there was one. Must be called after the last batch. */
exit_code state_source_finish(const state_source *source);

/* Writes the place of a state, such as "states.csv:12". Returns NULL for the command line. */
const char *state_source_place(const state_source *source, size_t line, size_t size, char *place);

#endif
