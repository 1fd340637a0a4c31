/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the states of a command from a file, standard input, or the command line.
 */
#include "state_source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinate_values.h"

bool refuse(char message[PARSE_MESSAGE_SIZE], const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(message, PARSE_MESSAGE_SIZE, format, values);
    va_end(values);
    return false;
}

/* ---- command line ------------------------------------------------------------------------------------------------ */

static const option ARRAY_OPTIONS[STATE_ARRAYS] = {OPTION_Q,  OPTION_V,  OPTION_A,  OPTION_TAU,
                                                   OPTION_DQ, OPTION_DV, OPTION_DA, OPTION_DTAU};

/* Reads the configuration of --state, by default home, into the row that is being added. */
static exit_code read_named_q(const state_source *source, const state_batch *batch) {
    static const char *const names[] = {"zero", "home"};
    size_t index;
    exit_code code = arguments_choice(source->args, OPTION_STATE, 2, names, 1, &index);
    if (code == EXIT_OK) {
        layout_arrange_q(source->robot, index == 0 ? source->robot->robot->zero_q : source->robot->robot->home_q,
                         state_batch_row(batch, STATE_Q));
    }
    return code;
}

/* Returns true if --q sets the whole configuration, and false if it names single coordinates or is absent. */
static bool has_whole_q(const arguments *args) {
    return args->value[OPTION_Q] && !coordinate_values_are_named(args->value[OPTION_Q]);
}

/* Reads the option of an array, such as --q or --v, into the row that is being added. Reports errors. */
static exit_code read_values(const state_source *source, const state_batch *batch, state_array array) {
    char message[PARSE_MESSAGE_SIZE];
    const char *text = source->args->value[ARRAY_OPTIONS[array]];
    if (!coordinate_values_read(source->robot, array == STATE_Q, text, state_batch_row(batch, array), message,
                                sizeof message)) {
        return complain(EXIT_USAGE, "--%s: %s", STATE_ARRAY_NAMES[array], message);
    }
    return EXIT_OK;
}

/* Describes the state of the command line in source->description, for the titles of tables. */
static void describe_state(state_source *source) {
    const arguments *args = source->args;
    const char *named = args->value[OPTION_STATE] ? args->value[OPTION_STATE] : "home";
    int written = snprintf(source->description, sizeof source->description, "%s configuration%s",
                           has_whole_q(args) ? "given" : named,
                           args->value[OPTION_Q] && !has_whole_q(args) ? ", q of some joints given" : "");
    for (int i = STATE_V; i < STATE_ARRAYS; i++) {
        if (args->value[ARRAY_OPTIONS[i]]) {
            written += snprintf(source->description + written, sizeof source->description - (size_t)written,
                                ", %s given", STATE_ARRAY_NAMES[i]);
        }
    }
}

static exit_code read_arguments(const state_source *source, state_batch *batch) {
    exit_code code = EXIT_OK;
    if (!has_whole_q(source->args)) {
        code = read_named_q(source, batch);
    }
    for (int i = 0; i < STATE_ARRAYS && code == EXIT_OK; i++) {
        if (source->args->value[ARRAY_OPTIONS[i]]) {
            code = read_values(source, batch, (state_array)i);
        }
    }
    return code;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static exit_code check_exclusive(const arguments *args) {
    if (args->value[OPTION_STATE]) {
        return complain(EXIT_USAGE, "--states and --state exclude each other");
    }
    for (int i = 0; i < STATE_ARRAYS; i++) {
        if (args->value[ARRAY_OPTIONS[i]]) {
            return complain(EXIT_USAGE, "--states and --%s exclude each other", STATE_ARRAY_NAMES[i]);
        }
    }
    return EXIT_OK;
}

exit_code state_source_open(const arguments *args, const layout *robot, bool has_q, state_source *opened) {
    *opened = (state_source){.robot = robot, .args = args, .reader = {.descriptor = -1}};
    opened->path = args->value[OPTION_STATES];
    if (!opened->path) {
        if (has_whole_q(args) && args->value[OPTION_STATE]) {
            return complain(EXIT_USAGE,
                            "--q and --state exclude each other, unless --q names the joints that differ: JOINT=X");
        }
        describe_state(opened);
        if (has_q && args->value[OPTION_JSON] && !args->value[OPTION_Q] && !args->value[OPTION_STATE]) {
            complain(EXIT_OK, "note: no state is given; this is the home configuration");
        }
        return EXIT_OK;
    }
    exit_code code = check_exclusive(args);
    if (code == EXIT_OK && !line_reader_open(&opened->reader, opened->path)) {
        code = complain(EXIT_USAGE, "%s cannot be read: %s", opened->path, strerror(errno));
    }
    if (strcmp(opened->path, "-") == 0) {
        opened->path = "standard input";
    }
    return code;
}

void state_source_close(state_source *closed) {
    if (closed->reader.descriptor >= 0) {
        line_reader_close(&closed->reader);
    }
    csv_header_free(&closed->header);
}

const char *state_source_place(const state_source *source, size_t line, size_t size, char *place) {
    if (!source->path || line == 0) {
        return NULL;
    }
    snprintf(place, size, "%s:%zu", source->path, line);
    return place;
}

/* Records an error in the line that was read last, and ends the source. */
static void fail_at_line(state_source *source, const char *message) {
    source->ended = true;
    source->failure = EXIT_USAGE;
    snprintf(source->message, sizeof source->message, "%s:%zu: %s", source->path, source->line, message);
}

/* Detects the format by the first character of the first line, and reads the heading of a CSV file. On failure writes a
 * message and returns false. */
static bool begin_format(state_source *source, char *line, char message[PARSE_MESSAGE_SIZE]) {
    if (line[strspn(line, " \t")] == '{' || line[strspn(line, " \t")] == '[') {
        source->format = FORMAT_JSON_LINES;
        return true;
    }
    source->format = FORMAT_CSV;
    return parse_csv_header(source->robot, line, &source->header, message);
}

/* Reads a line that is not blank. Adds its state to the batch, except for the heading of a CSV file. */
static void read_line(state_source *source, state_batch *batch, char *line, size_t length) {
    char message[PARSE_MESSAGE_SIZE];
    bool is_heading = false, is_good = true;
    if (source->format == FORMAT_UNKNOWN) {
        is_good = begin_format(source, line, message);
        is_heading = source->format == FORMAT_CSV;
    }
    if (is_good && !is_heading) {
        is_good = source->format == FORMAT_CSV ? parse_csv_state(&source->header, batch, line, message)
                                               : parse_json_state(batch, line, length, message);
    }
    if (!is_good) {
        fail_at_line(source, message);
        return;
    }
    if (!is_heading) {
        batch->line[batch->count++] = source->line;
    }
}

static bool is_blank(const char *line, size_t length) {
    return strspn(line, " \t\r") == length;
}

static void fill_from_file(state_source *source, state_batch *batch) {
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    while (!source->ended && batch->count < batch->capacity) {
        char *line;
        size_t length;
        line_result result = line_reader_next(&source->reader, batch->count == 0, &line, &length);
        if (result == LINE_NONE_YET) {
            return;
        }
        source->line++;
        if (result == LINE_ERROR) {
            fail_at_line(source, source->reader.error == EMSGSIZE ? "the line is longer than 16 MiB"
                                                                  : strerror(source->reader.error));
        } else if (result == LINE_END) {
            source->ended = true;
        } else {
            if (source->line == 1 && strncmp(line, byte_order_mark, 3) == 0) {
                line += 3;
                length -= 3;
            }
            if (!is_blank(line, length)) {
                read_line(source, batch, line, length);
            }
        }
    }
}

void state_source_fill(state_source *source, state_batch *batch) {
    state_batch_clear(batch);
    if (source->path) {
        fill_from_file(source, batch);
        return;
    }
    source->ended = true;
    source->failure = read_arguments(source, batch);
    if (source->failure == EXIT_OK) {
        batch->count = 1;
    }
}

exit_code state_source_finish(const state_source *source) {
    if (source->message[0] != '\0') {
        return complain(source->failure, "%s", source->message);
    }
    return source->failure;
}
