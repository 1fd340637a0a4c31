/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Source of a command's states: a file, standard input, or the command line.
 */
#ifndef CLI_STATE_SOURCE_H
#define CLI_STATE_SOURCE_H

#include "arguments.h"
#include "line_reader.h"
#include "state_parsers.h"

typedef struct state_source {
    const layout *robot;
    const arguments *given;
    const char *path; /* NULL: one state, from the command line */
    line_reader reader;
    enum { FORMAT_UNKNOWN, FORMAT_JSON_LINES, FORMAT_CSV } format;
    csv_header header;
    size_t line; /* read last, from 1 */
    bool ended;
    exit_code failure; /* EXIT_OK: none */
    char message[PARSE_MESSAGE_SIZE + 256];
    char description[128]; /* of the one state: "home configuration, v = 0, a = 0" */
} state_source;

/* Opens what the arguments name; tells what is wrong. `takes_q`: the command has use for a configuration. Closed by
 * state_source_close either way. */
exit_code state_source_open(const arguments *given, const layout *robot, bool takes_q, state_source *opened);
void state_source_close(state_source *closed);

/* Clears the batch and fills it with the next states: as many as it holds, or fewer when the input pauses, so that a
 * program that writes one state and waits gets its answer. At the end, and at a line that is wrong, `ended` becomes
 * true; the states before that are in the batch. */
void state_source_fill(state_source *source, state_batch *batch);

/* Reports the line that was wrong. Must be called after the last batch. */
exit_code state_source_finish(const state_source *source);

/* "states.csv:12", where the batch's state came from; NULL for the command line. */
const char *state_source_place(const state_source *source, size_t line, size_t size, char *place);

#endif
