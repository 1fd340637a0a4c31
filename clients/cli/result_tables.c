/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of results.
 */
#include "result_tables.h"

#include <ctype.h>
#include <stdio.h>

void print_title(const evaluation_context *context) {
    const char *title = context->evaluated->title;
    printf("%c%s of %s", toupper((unsigned char)title[0]), title + 1, context->robot->robot->model.name);
    if (context->evaluated->takes_frame) {
        printf(", frame %s", context->frame);
    }
    if (context->evaluated->takes[STATE_Q]) {
        printf(", %s", context->state);
    }
    printf("\n\n");
}

/* Returns the unit of an entry of q, v, a or tau. */
static const char *unit_of(const coordinate *at, state_array array, size_t size, char *unit) {
    switch (array) {
    case STATE_Q:
        return at->joint->q_units[at->index];
    case STATE_V:
        return at->joint->v_units[at->index];
    case STATE_A:
        return acceleration_unit(at->joint->v_units[at->index], size, unit);
    default:
        return at->joint->tau_units[at->index];
    }
}

/* Adds a number and its unit, or two empty cells if the joint has no such coordinate. */
static void add_value(table *to, const coordinate *at, state_array array, const double *joint_row) {
    char unit[32];
    if (at->index < (array == STATE_Q ? at->joint->nq : at->joint->nv)) {
        table_add_number(to, joint_row[at->index]);
        table_add_cell(to, "%s", unit_of(at, array, sizeof unit, unit));
    } else {
        table_add_cell(to, "%s", "");
        table_add_cell(to, "%s", "");
    }
}

static void add_value_column(table *to, const char *name) {
    table_add_column(to, name, TABLE_RIGHT);
    table_add_column(to, "", TABLE_UNIT);
}

bool print_joint_table(const evaluation_context *context, const state_batch *batch, const char *result_name,
                       state_array result_kind, const double *result) {
    const layout *robot = context->robot;
    const bool *takes = context->evaluated->takes;
    table *lines = table_create();
    table_add_column(lines, "joint", TABLE_LEFT);
    for (int i = 0; i < STATE_ARRAYS; i++) {
        if (takes[i]) {
            add_value_column(lines, STATE_ARRAY_NAMES[i]);
        }
    }
    add_value_column(lines, result_name);
    size_t q_at = 0, v_at = 0;
    for (size_t i = 0; i < robot->joint_count; i++) {
        const dyn_client_joint *joint = robot->joints[i];
        coordinate at = {.joint = joint};
        for (; at.index < joint->nq || at.index < joint->nv; at.index++) {
            table_add_cell(lines, "%s", at.index == 0 ? joint->name : "");
            for (int array = 0; array < STATE_ARRAYS; array++) {
                if (takes[array]) {
                    add_value(lines, &at, (state_array)array, batch->values[array] + (array == STATE_Q ? q_at : v_at));
                }
            }
            add_value(lines, &at, result_kind, result + v_at);
        }
        q_at += joint->nq;
        v_at += joint->nv;
    }
    print_title(context);
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

bool print_state_table(const evaluation_context *context, size_t count, size_t number, state_array result_kind,
                       const double *results) {
    const layout *robot = context->robot;
    table *lines = table_create();
    table_add_column(lines, "state", TABLE_RIGHT);
    for (size_t k = 0; k < robot->nv; k++) {
        table_add_column(lines, robot->v[k].name, TABLE_RIGHT);
    }
    table_add_cell(lines, "%s", "");
    for (size_t k = 0; k < robot->nv; k++) {
        char unit[32];
        table_add_cell(lines, "[%s]", unit_of(&robot->v[k], result_kind, sizeof unit, unit));
    }
    for (size_t i = 0; i < count; i++) {
        table_add_cell(lines, "%zu", number + i);
        for (size_t k = 0; k < robot->nv; k++) {
            table_add_number(lines, results[i * robot->nv + k]);
        }
    }
    if (number == 1) {
        print_title(context);
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

bool print_matrix(const layout *robot, size_t row_count, const char *const *rows, const double *matrix) {
    table *lines = table_create();
    table_add_column(lines, "", TABLE_LEFT);
    for (size_t k = 0; k < robot->nv; k++) {
        table_add_column(lines, robot->v[k].name, TABLE_RIGHT);
    }
    for (size_t i = 0; i < row_count; i++) {
        table_add_cell(lines, "%s", rows ? rows[i] : robot->v[i].name);
        for (size_t k = 0; k < robot->nv; k++) {
            table_add_number(lines, matrix[i * robot->nv + k]);
        }
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}
