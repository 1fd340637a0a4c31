/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a table of motors and gears to choose from, as CSV with a header, or as a JSON array of objects with the same
 * names. `name` is required; `joint` restricts a row to one joint. An empty cell is a number that is not stated.
 */
#ifndef CLI_MOTOR_TABLE_H
#define CLI_MOTOR_TABLE_H

#include <dynamics_client.h>

#include "diagnostics.h"

/* Row of a table. */
typedef struct motor_row {
    const char *name, *joint; /* joint: NULL, any */
    size_t line;
    dyn_client_motor motor;
    dyn_client_gear gear;
    double rotor_inertia;
    bool has_motor, has_gear, has_back_driving_efficiency;
} motor_row;

typedef struct motor_table {
    const char *path;
    size_t count;
    motor_row *rows;
    char *text;   /* owns the names of a CSV file */
    void *values; /* owns those of a JSON file */
} motor_table;

/* Reads a file, or standard input for "-". Reports errors with file and line. The caller frees the table, also after an
 * error. */
exit_code motor_table_read(const char *path, motor_table *table);
void motor_table_free(motor_table *freed);

#endif
