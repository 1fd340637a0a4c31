/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses one state from one line of text: a JSON object, or a row of a CSV file.
 */
#ifndef CLI_STATE_PARSERS_H
#define CLI_STATE_PARSERS_H

#include "state_batch.h"

enum { PARSE_MESSAGE_SIZE = 512 };

/* Formats an error message as printf does and returns false. */
bool refuse(char message[PARSE_MESSAGE_SIZE], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Names of the reference frames in the order of dyn_client_reference_frame, from DYN_CLIENT_REFERENCE_FRAME_LOCAL
 * on. */
enum { REFERENCE_FRAMES = 3 };
extern const char *const REFERENCE_FRAME_NAMES[REFERENCE_FRAMES];

/* Reads an object with "q" and optionally other arrays of a state ("v", "a", "tau", ..) and "external_forces", a list
 * of objects with "link", "reference_frame" (default "local"), "force" and "torque". Fills the row of the batch that is
 * being added, and does not count it. On failure returns false, and `message` is a sentence that begins with the field:
 * "q[2]: ...". */
bool parse_json_state(state_batch *batch, const char *text, size_t length, char message[PARSE_MESSAGE_SIZE]);

/* Destination of each column of a CSV file. */
typedef struct csv_header {
    char separator;
    size_t count;
    struct csv_column {
        state_array array;
        size_t index;
    } * columns;
} csv_header;

/* Reads the names of the columns: "q.JOINT", "q.JOINT[2]" for a joint with several coordinates, or "q0", "q[0]";
 * likewise for the other arrays of a state. Columns are separated by commas, semicolons or tabs. Changes the text. On
 * failure writes a message and returns false. The caller frees the header with csv_header_free. */
bool parse_csv_header(const layout *robot, char *text, csv_header *header, char message[PARSE_MESSAGE_SIZE]);
void csv_header_free(csv_header *header);

/* Reads a line into the row of the batch that is being added, and does not count the row. Changes the text. On failure
 * writes a message and returns false. */
bool parse_csv_state(const csv_header *header, state_batch *batch, char *text, char message[PARSE_MESSAGE_SIZE]);

#endif
