/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses states from the header and the rows of a CSV file.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "state_parsers.h"

/* Returns the text of a cell without the blanks and the quotes around it. Changes the cell. */
static char *trim(char *cell) {
    while (isspace((unsigned char)*cell)) {
        cell++;
    }
    size_t length = strlen(cell);
    while (length > 0 && isspace((unsigned char)cell[length - 1])) {
        cell[--length] = '\0';
    }
    if (length >= 2 && cell[0] == '"' && cell[length - 1] == '"') {
        cell[length - 1] = '\0';
        cell++;
    }
    return cell;
}

static size_t count_cells(const char *text, char separator) {
    size_t count = 1;
    for (; *text != '\0'; text++) {
        count += *text == separator;
    }
    return count;
}

/* ---- header ------------------------------------------------------------------------------------------------------ */

/* Reads an index such as "3" or "[3]" that is less than `count`. Returns false for other text. */
static bool read_index(const char *text, size_t count, size_t *index) {
    char digits[24];
    size_t length = strlen(text);
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    }
    long value;
    if (length == 0 || length >= sizeof digits || count == 0) {
        return false;
    }
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (!isdigit((unsigned char)digits[0]) || !parse_integer(digits, 0, (long)count - 1, &value)) {
        return false;
    }
    *index = (size_t)value;
    return true;
}

/* Finds the coordinate of a name, such as "elbow" or "root_joint[2]", among `count`. Returns false if there is none. */
static bool find_coordinate(const coordinate *coordinates, size_t count, const char *name, size_t *index) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(coordinates[i].name, name) == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

/* Returns true for a column such as "time" that results have in addition to the arrays of a state. Columns of this kind
 * are ignored. */
static bool is_beside_states(const char *name) {
    return strcmp(name, "state") == 0 || strcmp(name, "step") == 0 || strcmp(name, "time") == 0 ||
           strncmp(name, "contact_", 8) == 0;
}

static bool read_column(const layout *robot, const char *name, struct csv_column *column) {
    if (is_beside_states(name)) {
        column->array = STATE_ARRAYS;
        return true;
    }
    for (int i = STATE_ARRAYS - 1; i >= 0; i--) {
        size_t length = strlen(STATE_ARRAY_NAMES[i]);
        if (strncmp(name, STATE_ARRAY_NAMES[i], length) != 0) {
            continue;
        }
        const char *rest = name + length;
        const coordinate *coordinates = i == STATE_Q ? robot->q : robot->v;
        size_t count = i == STATE_Q ? robot->nq : robot->nv;
        column->array = (state_array)i;
        return *rest == '.' ? find_coordinate(coordinates, count, rest + 1, &column->index)
                            : read_index(rest, count, &column->index);
    }
    return false;
}

/* Returns false and writes a message if a column occurs twice, if an array lacks some of its columns, or if q is
 * missing. */
static bool check_columns(const layout *robot, const csv_header *header, char message[PARSE_MESSAGE_SIZE]) {
    for (int array = 0; array < STATE_ARRAYS; array++) {
        size_t width = array == STATE_Q ? robot->nq : robot->nv, present = 0;
        unsigned *seen = calloc(width + 1, sizeof *seen);
        if (!seen) {
            return refuse(message, "out of memory");
        }
        for (size_t i = 0; i < header->count; i++) {
            if ((int)header->columns[i].array == array) {
                seen[header->columns[i].index]++;
                present++;
            }
        }
        bool needed = array == STATE_Q || present > 0;
        bool complete = true;
        for (size_t i = 0; i < width && needed && complete; i++) {
            const coordinate *at = array == STATE_Q ? &robot->q[i] : &robot->v[i];
            complete =
                seen[i] == 1 || refuse(message, "column %s%zu (%s.%s) is %s", STATE_ARRAY_NAMES[array], i,
                                       STATE_ARRAY_NAMES[array], at->name, seen[i] == 0 ? "missing" : "there twice");
        }
        free(seen);
        if (!complete) {
            return false;
        }
    }
    return true;
}

bool parse_csv_header(const layout *robot, char *text, csv_header *header, char message[PARSE_MESSAGE_SIZE]) {
    size_t first = strcspn(text, ",;\t");
    header->separator = text[first] != '\0' ? text[first] : ',';
    header->columns = calloc(count_cells(text, header->separator), sizeof *header->columns);
    if (!header->columns) {
        return refuse(message, "out of memory");
    }
    const char separator[] = {header->separator, '\0'};
    for (char *cell; (cell = strsep(&text, separator));) {
        cell = trim(cell);
        if (!read_column(robot, cell, &header->columns[header->count++])) {
            return refuse(
                message,
                "unknown column \"%.64s\": name columns q.JOINT (q.JOINT[0], q.JOINT[1], .. where it has several "
                "coordinates) or q0, q1, ..; likewise v, a, tau "
                "(or pass one JSON object a line)",
                cell);
        }
    }
    return check_columns(robot, header, message);
}

void csv_header_free(csv_header *header) {
    free(header->columns);
    *header = (csv_header){0};
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

bool parse_csv_state(const csv_header *header, state_batch *batch, char *text, char message[PARSE_MESSAGE_SIZE]) {
    size_t cells = count_cells(text, header->separator);
    if (cells != header->count) {
        return refuse(message, "%zu values, but the header has %zu columns", cells, header->count);
    }
    const char separator[] = {header->separator, '\0'};
    for (size_t i = 0; i < header->count; i++) {
        const struct csv_column *column = &header->columns[i];
        char *cell = trim(strsep(&text, separator));
        if (column->array == STATE_ARRAYS) {
            continue;
        }
        if (!parse_number(cell, state_batch_row(batch, column->array) + column->index)) {
            return refuse(message, "%s[%zu]: \"%.64s\" is not a finite number", STATE_ARRAY_NAMES[column->array],
                          column->index, cell);
        }
    }
    return true;
}
