/* SPDX-License-Identifier: BSD-2-Clause */
#include "motion_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "numbers.h"

/* Arrays of a row, in the order in which a row stores them. */
enum { TIME, Q, V, A, TAU, LOAD, ARRAYS };

static const char *const names[ARRAYS] = {"time", "q", "v", "a", "tau", "load"};

/* Returns whether an array has one number in each row, without the name of a joint. */
static bool is_scalar(int array) {
    return array == TIME || array == LOAD;
}

/* Reader of one file. */
typedef struct motion_reader {
    const char *path;
    const layout *robot;
    size_t offset[ARRAYS + 1]; /* of each array in a row; the last one is the width of a row */
    size_t columns;
    size_t *place; /* of each column in a row; the width of a row for a column that is ignored */
    double *rows;
    size_t count, capacity, line;
    bool needs_tau;
} motion_reader;

static exit_code complain_at(const motion_reader *r, const char *message, const char *text) {
    return complain(EXIT_USAGE, "%s:%zu: %s%s", r->path, r->line, message, text);
}

/* Returns the place of a column in a row, or the width of a row for one that is not known. */
static size_t find_place(const motion_reader *r, const char *name) {
    for (int array = TIME; array < ARRAYS; array++) {
        if (is_scalar(array) && strcmp(name, names[array]) == 0) {
            return r->offset[array];
        }
    }
    for (int array = Q; array <= TAU; array++) {
        size_t length = strlen(names[array]), width = r->offset[array + 1] - r->offset[array];
        const coordinate *coordinates = array == Q ? r->robot->q : r->robot->v;
        if (strncmp(name, names[array], length) != 0 || name[length] != '.') {
            continue;
        }
        for (size_t i = 0; i < width; i++) {
            if (strcmp(name + length + 1, coordinates[i].name) == 0) {
                return r->offset[array] + i;
            }
        }
    }
    return r->offset[ARRAYS];
}

/* Writes the name of a place in a row. */
static void name_place(const motion_reader *r, size_t place, size_t size, char *name) {
    int array = TIME;
    while (place >= r->offset[array + 1]) {
        array++;
    }
    size_t i = place - r->offset[array];
    const coordinate *coordinates = array == Q ? r->robot->q : r->robot->v;
    bool has_joint = !is_scalar(array);
    snprintf(name, size, "%s%s%s", names[array], has_joint ? "." : "", has_joint ? coordinates[i].name : "");
}

/* Checks that the header has the columns that are needed. Stores which arrays are complete. */
static exit_code check_header(motion_reader *r, bool present[ARRAYS]) {
    bool *seen = calloc(r->offset[ARRAYS] + 1, sizeof *seen);
    exit_code code = seen ? EXIT_OK : complain_memory();
    for (size_t c = 0; c < r->columns && code == EXIT_OK; c++) {
        seen[r->place[c]] = true;
    }
    for (int array = TIME; array < ARRAYS && code == EXIT_OK; array++) {
        bool is_needed = array == TIME || array == Q || (array == TAU && r->needs_tau);
        present[array] = true;
        for (size_t p = r->offset[array]; p < r->offset[array + 1] && code == EXIT_OK; p++) {
            char name[320];
            present[array] = present[array] && seen[p];
            if (is_needed && !seen[p]) {
                name_place(r, p, sizeof name, name);
                code = complain_at(r, "the header lacks the column ", name);
            }
        }
    }
    free(seen);
    return code;
}

/* Reads the header. Columns that it does not know are refused, so that a misspelt name does not lose its values. */
static exit_code read_header(motion_reader *r, char *line) {
    size_t most = 1;
    for (const char *at = line; *at != '\0'; at++) {
        most += *at == ',';
    }
    r->place = calloc(most, sizeof *r->place);
    if (!r->place) {
        return complain_memory();
    }
    char *rest = line;
    for (char *cell = strsep(&rest, ","); cell; cell = strsep(&rest, ",")) {
        cell += strspn(cell, " \t\"");
        cell[strcspn(cell, "\"\r")] = '\0';
        size_t place = find_place(r, cell);
        bool is_number = strcmp(cell, "step") == 0 || strcmp(cell, "state") == 0;
        if (place == r->offset[ARRAYS] && !is_number) {
            return complain_at(r, "the model has no coordinate of the column ", cell);
        }
        r->place[r->columns++] = place;
    }
    return EXIT_OK;
}

/* Reads one row of numbers. */
static exit_code read_row(motion_reader *r, char *line) {
    size_t width = r->offset[ARRAYS], column = 0;
    if (r->count == r->capacity) {
        r->capacity = r->capacity > 0 ? 2 * r->capacity : 1024;
        double *grown = reallocarray(r->rows, r->capacity, (width + 1) * sizeof *grown);
        if (!grown) {
            return complain_memory();
        }
        r->rows = grown;
    }
    double *row = r->rows + r->count * (width + 1);
    char *rest = line;
    for (char *cell = strsep(&rest, ","); cell; cell = strsep(&rest, ",")) {
        if (column == r->columns) {
            return complain_at(r, "the row has more cells than the header", "");
        }
        if (!parse_number(cell, &row[r->place[column++]])) {
            return complain_at(r, "not a finite number: ", cell);
        }
    }
    if (column < r->columns) {
        return complain_at(r, "the row has fewer cells than the header", "");
    }
    r->count++;
    return EXIT_OK;
}

/* Copies the rows into one array for each kind. */
static exit_code split(const motion_reader *r, const bool present[ARRAYS], motion_file *motion) {
    size_t width = r->offset[ARRAYS];
    double *memory = calloc(r->count * width + 1, sizeof *memory), *next = memory;
    double **arrays[ARRAYS] = {&motion->time, &motion->q, &motion->v, &motion->a, &motion->tau, &motion->load};
    if (!memory) {
        return complain_memory();
    }
    *motion = (motion_file){.count = r->count, .memory = memory};
    for (int array = TIME; array < ARRAYS; array++) {
        size_t from = r->offset[array], size = r->offset[array + 1] - from;
        *arrays[array] = next;
        for (size_t s = 0; s < r->count; s++, next += size) {
            memcpy(next, r->rows + s * (width + 1) + from, size * sizeof *next);
        }
    }
    if (!present[V] || !present[A]) {
        motion->v = motion->a = NULL;
    }
    motion->load = present[LOAD] ? motion->load : NULL;
    motion->tau = present[TAU] ? motion->tau : NULL;
    return EXIT_OK;
}

exit_code motion_file_read(const char *path, const layout *robot, bool needs_tau, motion_file *motion) {
    motion_reader r = {.path = path, .robot = robot, .needs_tau = needs_tau};
    const size_t widths[ARRAYS] = {1, robot->nq, robot->nv, robot->nv, robot->nv, 1};
    bool present[ARRAYS] = {false};
    char *text = NULL;
    size_t size;
    *motion = (motion_file){0};
    for (int array = TIME; array < ARRAYS; array++) {
        r.offset[array + 1] = r.offset[array] + widths[array];
    }
    exit_code code = read_text(path, &text, &size);
    char *rest = text;
    for (char *line = NULL; code == EXIT_OK && (line = strsep(&rest, "\n")) != NULL;) {
        r.line++;
        if (line[strspn(line, " \t\r")] == '\0') {
            continue;
        }
        if (r.columns > 0) {
            code = read_row(&r, line);
        } else {
            code = read_header(&r, line);
            code = code == EXIT_OK ? check_header(&r, present) : code;
        }
    }
    if (code == EXIT_OK) {
        code = r.count > 0 ? split(&r, present, motion) : complain(EXIT_USAGE, "%s: the file has no rows", path);
    }
    free(text);
    free(r.place);
    free(r.rows);
    return code;
}

void motion_file_free(motion_file *freed) {
    free(freed->memory);
}
