/* SPDX-License-Identifier: BSD-2-Clause */
#include "motor_table.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "numbers.h"

/* Owners of a number. */
typedef enum row_part { PART_MOTOR, PART_GEAR, PART_ROTOR } row_part;

/* Number of a row. */
typedef struct row_number {
    const char *name;
    row_part part;
    size_t offset; /* in motor_row */
} row_number;

#define MOTOR(member)                                                                                                  \
    { #member, PART_MOTOR, offsetof(motor_row, motor.member) }
#define GEAR(name, member)                                                                                             \
    { name, PART_GEAR, offsetof(motor_row, gear.member) }

/* The limits of the gear have the names of `excesses` in the output of the command. */
static const row_number numbers[] = {
    MOTOR(resistance),
    MOTOR(inductance),
    MOTOR(torque_constant),
    MOTOR(nominal_voltage),
    MOTOR(no_load_speed),
    MOTOR(no_load_current),
    MOTOR(stall_current),
    MOTOR(maximum_voltage),
    MOTOR(maximum_current),
    MOTOR(continuous_current),
    MOTOR(maximum_speed),
    MOTOR(winding_resistance),
    MOTOR(winding_time_constant),
    MOTOR(housing_resistance),
    MOTOR(housing_time_constant),
    MOTOR(temperature_coefficient),
    MOTOR(maximum_temperature),
    GEAR("ratio", ratio),
    GEAR("efficiency", efficiency),
    GEAR("back_driving_efficiency", back_driving_efficiency),
    GEAR("gear_torque", maximum_torque),
    GEAR("gear_continuous_torque", continuous_torque),
    GEAR("gear_speed", maximum_speed),
    {"rotor_inertia", PART_ROTOR, offsetof(motor_row, rotor_inertia)},
};

enum { NUMBERS = sizeof numbers / sizeof *numbers, NAME = NUMBERS, JOINT, COLUMNS };

static exit_code complain_at(const motor_table *t, size_t line, const char *message, const char *text) {
    return complain(EXIT_USAGE, "%s:%zu: %s%.200s", t->path, line, message, text);
}

/* Returns the column of a name, or COLUMNS for one that is not known. */
static int find_column(const char *name) {
    for (int i = 0; i < NUMBERS; i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            return i;
        }
    }
    return strcmp(name, "name") == 0 ? NAME : strcmp(name, "joint") == 0 ? JOINT : COLUMNS;
}

/* Appends a row. Returns NULL when out of memory. */
static motor_row *append_row(motor_table *t, size_t line) {
    motor_row *grown = reallocarray(t->rows, t->count + 1, sizeof *grown);
    if (!grown) {
        return NULL;
    }
    t->rows = grown;
    grown[t->count] = (motor_row){.line = line};
    return &grown[t->count++];
}

static void set_number(motor_row *row, int column, double value) {
    memcpy((char *)row + numbers[column].offset, &value, sizeof value);
    row->has_motor = row->has_motor || numbers[column].part == PART_MOTOR;
    row->has_gear = row->has_gear || numbers[column].part == PART_GEAR;
    row->has_back_driving_efficiency =
        row->has_back_driving_efficiency || numbers[column].offset == offsetof(motor_row, gear.back_driving_efficiency);
}

/* Checks a row, and sets what follows from its numbers. */
static exit_code finish_row(const motor_table *t, motor_row *row) {
    if (!row->name || row->name[0] == '\0') {
        return complain_at(t, row->line, "the row lacks a name", "");
    }
    if (!row->has_motor && !row->has_gear) {
        return complain_at(t, row->line, "the row states neither a motor nor a gear: ", row->name);
    }
    if (row->has_gear && !row->has_back_driving_efficiency) {
        row->gear.back_driving_efficiency = row->gear.efficiency != 0 ? row->gear.efficiency : 1;
    }
    return EXIT_OK;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

/* Columns of a CSV file. */
typedef struct csv_header {
    int columns[COLUMNS];
    int count;
} csv_header;

/* Returns a cell without blanks and quotes at both ends. */
static char *trim(char *cell) {
    cell += strspn(cell, " \t\"");
    size_t length = strlen(cell);
    while (length > 0 && strchr(" \t\r\"", cell[length - 1])) {
        length--;
    }
    cell[length] = '\0';
    return cell;
}

static exit_code read_header(const motor_table *t, size_t line, char *text, csv_header *header) {
    bool seen[COLUMNS] = {false};
    for (char *cell = strsep(&text, ","); cell; cell = strsep(&text, ",")) {
        cell = trim(cell);
        int column = find_column(cell);
        if (column == COLUMNS) {
            return complain_at(t, line, "no number of a motor or a gear has the name of the column ", cell);
        }
        if (seen[column]) {
            return complain_at(t, line, "the header has a column twice: ", cell);
        }
        seen[column] = true;
        header->columns[header->count++] = column;
    }
    return seen[NAME] ? EXIT_OK : complain_at(t, line, "the header lacks the column name", "");
}

static exit_code read_cell(const motor_table *t, motor_row *row, int column, const char *cell) {
    double value;
    if (cell[0] == '\0') {
        return EXIT_OK;
    }
    if (column == NAME || column == JOINT) {
        *(column == NAME ? &row->name : &row->joint) = cell;
        return EXIT_OK;
    }
    if (!parse_number(cell, &value)) {
        return complain(EXIT_USAGE, "%s:%zu: %s is not a finite number: %.200s", t->path, row->line,
                        numbers[column].name, cell);
    }
    set_number(row, column, value);
    return EXIT_OK;
}

static exit_code read_csv_row(motor_table *t, size_t line, char *text, const csv_header *header) {
    motor_row *row = append_row(t, line);
    exit_code code = row ? EXIT_OK : complain_memory();
    int column = 0;
    for (char *cell = strsep(&text, ","); cell && code == EXIT_OK; cell = strsep(&text, ",")) {
        code = column == header->count ? complain_at(t, line, "the row has more cells than the header", "")
                                       : read_cell(t, row, header->columns[column++], trim(cell));
    }
    if (code == EXIT_OK && column < header->count) {
        code = complain_at(t, line, "the row has fewer cells than the header", "");
    }
    return code == EXIT_OK ? finish_row(t, row) : code;
}

static exit_code read_csv(motor_table *t) {
    csv_header header = {0};
    exit_code code = EXIT_OK;
    char *rest = t->text;
    size_t line = 0;
    for (char *text = NULL; code == EXIT_OK && (text = strsep(&rest, "\n")) != NULL;) {
        line++;
        if (text[strspn(text, " \t\r")] != '\0') {
            code = header.count > 0 ? read_csv_row(t, line, text, &header) : read_header(t, line, text, &header);
        }
    }
    return code;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static exit_code read_json_row(motor_table *t, size_t line, json_t *object) {
    motor_row *row = append_row(t, line);
    exit_code code = row ? EXIT_OK : complain_memory();
    const char *key;
    json_t *value;
    if (!json_is_object(object)) {
        return complain_at(t, line, "each motor is an object", "");
    }
    json_object_foreach(object, key, value) {
        int column = find_column(key);
        bool is_text = column == NAME || column == JOINT;
        if (code != EXIT_OK) {
            break;
        }
        if (column == COLUMNS) {
            code = complain_at(t, line, "no number of a motor or a gear has the name ", key);
        } else if (is_text ? !json_is_string(value) : !json_is_number(value)) {
            code = complain_at(t, line, is_text ? "not a string: " : "not a number: ", key);
        } else if (is_text) {
            *(column == NAME ? &row->name : &row->joint) = json_string_value(value);
        } else {
            set_number(row, column, json_number_value(value));
        }
    }
    return code == EXIT_OK ? finish_row(t, row) : code;
}

/* Skips blanks, and counts their lines. */
static const char *skip_blanks(const char *at, size_t *line) {
    for (; isspace((unsigned char)*at); at++) {
        *line += *at == '\n';
    }
    return at;
}

/* Reads one object, so that errors name its line. Advances to its end. */
static exit_code read_json_object(motor_table *t, const char **at, size_t *line) {
    json_error_t error;
    json_t *object = json_loads(*at, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY, &error);
    if (!object) {
        return complain_at(t, *line + (size_t)error.line - 1, "not JSON: ", error.text);
    }
    bool is_kept = json_array_append_new(t->values, object) == 0;
    exit_code code = is_kept ? read_json_row(t, *line, object) : complain_memory();
    for (int i = 0; i < error.position; i++, (*at)++) {
        *line += **at == '\n';
    }
    return code;
}

static exit_code read_json_table(motor_table *t) {
    size_t line = 1;
    const char *at = skip_blanks(t->text, &line) + 1;
    exit_code code = EXIT_OK;
    bool has_next = *(at = skip_blanks(at, &line)) != ']';
    t->values = json_array();
    while (has_next && code == EXIT_OK) {
        code = read_json_object(t, &at, &line);
        at = skip_blanks(at, &line);
        has_next = *at == ',';
        at = has_next ? skip_blanks(at + 1, &line) : at;
    }
    if (code == EXIT_OK && (*at != ']' || *skip_blanks(at + 1, &line) != '\0')) {
        code = complain_at(t, line, "not JSON: the array of motors does not end here", "");
    }
    return code;
}

exit_code motor_table_read(const char *path, motor_table *table) {
    size_t size, line = 1;
    *table = (motor_table){.path = path};
    exit_code code = read_text(path, &table->text, &size);
    if (code == EXIT_OK) {
        code = *skip_blanks(table->text, &line) == '[' ? read_json_table(table) : read_csv(table);
    }
    if (code == EXIT_OK && table->count == 0) {
        code = complain(EXIT_USAGE, "%s: the table has no motors", path);
    }
    return code;
}

void motor_table_free(motor_table *freed) {
    json_decref(freed->values);
    free(freed->text);
    free(freed->rows);
}
