/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints tables of results: values with joint names and units.
 */
#include "result_tables.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"

void print_title(const evaluation_context *context) {
    const char *title = context->evaluated->title, *model = context->robot->robot->model.name;
    bool has_frame = context->evaluated->has_frame, has_state = context->evaluated->has_input[STATE_Q];
    size_t size =
        strlen(title) + strlen(model) + strlen(context->frame) + strlen(context->state) + sizeof " of , frame , ";
    char *whole = malloc(size);
    if (whole) {
        snprintf(whole, size, "%c%s of %s%s%s%s%s", toupper((unsigned char)title[0]), title + 1, model,
                 has_frame ? ", frame " : "", has_frame ? context->frame : "", has_state ? ", " : "",
                 has_state ? context->state : "");
        page_print(whole, 0, 2, page_columns());
        fputc('\n', stdout);
    }
    free(whole);
}

/* Returns the unit of a coordinate in an array: that of q, v or a, and for all other arrays that of tau. `unit` may
 * hold the text. */
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

/* Adds a number of a joint's row and its unit, or two empty cells if the array has no such coordinate of the joint. */
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

/* An array of a table that has a line for each coordinate. */
typedef struct joint_column {
    const char *name;
    state_array kind;
    const double *values;
} joint_column;

static bool print_joints(const layout *robot, size_t count, const joint_column *arrays) {
    table *lines = table_create();
    table_add_column(lines, "joint", TABLE_NAME);
    for (size_t i = 0; i < count; i++) {
        add_value_column(lines, arrays[i].name);
    }
    size_t q_at = 0, v_at = 0;
    for (size_t i = 0; i < robot->joint_count; i++) {
        const dyn_client_joint *joint = robot->joints[i];
        coordinate at = {.joint = joint};
        for (; at.index < joint->nq || at.index < joint->nv; at.index++) {
            table_add_cell(lines, "%s", at.index == 0 ? joint->name : "");
            for (size_t k = 0; k < count; k++) {
                add_value(lines, &at, arrays[k].kind, arrays[k].values + (arrays[k].kind == STATE_Q ? q_at : v_at));
            }
        }
        q_at += joint->nq;
        v_at += joint->nv;
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

bool print_joint_table(const evaluation_context *context, const state_batch *batch, const char *result_name,
                       state_array result_kind, const double *result) {
    joint_column arrays[STATE_ARRAYS + 1];
    size_t count = 0;
    for (int i = 0; i < STATE_ARRAYS; i++) {
        if (context->evaluated->has_input[i]) {
            arrays[count++] = (joint_column){STATE_ARRAY_NAMES[i], (state_array)i, batch->values[i]};
        }
    }
    arrays[count++] = (joint_column){result_name, result_kind, result};
    print_title(context);
    return print_joints(context->robot, count, arrays);
}

bool print_motion_table(const layout *robot, const double *q, const double *v, const double *tau) {
    const joint_column arrays[] = {{"q", STATE_Q, q}, {"v", STATE_V, v}, {"tau", STATE_TAU, tau}};
    return print_joints(robot, sizeof arrays / sizeof *arrays, arrays);
}

bool print_closure_error(const char *constraint, double closure_error) {
    return *constraint == '\0' ||
           page_printf(2, "largest closure error: %.3g m or rad, of constraint %s", closure_error, constraint);
}

bool print_contact_table(const dyn_client_description *robot, size_t surfaces, const double *forces, const double *gaps,
                         const double *slips) {
    static const char *const headings[] = {"fx [N]", "fy [N]", "fz [N]", "gap [m]", "slip [m/s]"};
    if (surfaces == 0 || surfaces != robot->contact_surface_count) {
        return true;
    }
    table *lines = table_create();
    table_add_column(lines, "contact surface", TABLE_NAME);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        table_add_column(lines, headings[i], TABLE_RIGHT);
    }
    for (size_t i = 0; i < surfaces; i++) {
        table_add_cell(lines, "%s", robot->contact_surfaces[i].name);
        for (size_t k = 0; k < 3; k++) {
            table_add_number(lines, forces[3 * i + k]);
        }
        if (isfinite(gaps[i])) {
            table_add_number(lines, gaps[i]);
        } else {
            table_add_cell(lines, "-");
        }
        table_add_number(lines, slips[i]);
    }
    printf("\n");
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
    table_add_column(lines, "", TABLE_NAME);
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
