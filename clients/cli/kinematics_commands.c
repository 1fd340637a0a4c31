/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands fk and jacobian: pose and motion of a frame.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json_writer.h"
#include "result_tables.h"

/* ---- pose -------------------------------------------------------------------------------------------------------- */

static void pose_widths(const evaluation_context *context, size_t widths[2]) {
    (void)context;
    widths[0] = 3;
    widths[1] = 4;
}

static dyn_client_status compute_pose(const evaluation_context *context, const state_batch *batch,
                                      dyn_client_error *error, double *position, double *quaternion) {
    return dyn_client_poses(context->client, &context->query, batch->values[STATE_Q], 1, &context->frame, position,
                            quaternion, error);
}

static void write_pose(const evaluation_context *context, size_t index, const double *position,
                       const double *quaternion) {
    (void)context, (void)index;
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "position");
    emit_doubles(&writer, 3, position);
    emit_key(&writer, "quaternion");
    emit_doubles(&writer, 4, quaternion);
    emit_end_object(&writer);
    emit_finish(&writer);
}

static bool print_poses(const evaluation_context *context, const state_batch *batch, size_t number,
                        const double *position, const double *quaternion) {
    static const char *const headings[] = {"x [m]", "y [m]", "z [m]", "qx", "qy", "qz", "qw"};
    table *lines = table_create();
    table_add_column(lines, "state", TABLE_RIGHT);
    for (size_t k = 0; k < 7; k++) {
        table_add_column(lines, headings[k], TABLE_RIGHT);
    }
    for (size_t i = 0; i < batch->count; i++) {
        table_add_cell(lines, "%zu", number + i);
        for (size_t k = 0; k < 3; k++) {
            table_add_number(lines, position[3 * i + k]);
        }
        for (size_t k = 0; k < 4; k++) {
            table_add_number(lines, quaternion[4 * i + k]);
        }
    }
    if (number == 1) {
        print_title(context);
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

static bool print_one_pose(const evaluation_context *context, const state_batch *batch, const double *position,
                           const double *quaternion) {
    (void)batch;
    table *lines = table_create();
    table_add_column(lines, "", TABLE_LEFT);
    for (size_t k = 0; k < 4; k++) {
        table_add_column(lines, (const char *const[]){"x", "y", "z", "w"}[k], TABLE_RIGHT);
    }
    table_add_column(lines, "", TABLE_LEFT);
    table_add_cell(lines, "position");
    for (size_t k = 0; k < 3; k++) {
        table_add_number(lines, position[k]);
    }
    table_add_cell(lines, "%s", "");
    table_add_cell(lines, "m, in the world");
    table_add_cell(lines, "quaternion");
    for (size_t k = 0; k < 4; k++) {
        table_add_number(lines, quaternion[k]);
    }
    table_end_row(lines);
    print_title(context);
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

exit_code run_forward_kinematics(const command *self, const arguments *given, dyn_client *client) {
    (void)self;
    static const evaluation forward_kinematics = {
        .title = "forward kinematics",
        .takes = {[STATE_Q] = true},
        .takes_frame = true,
        .widths = pose_widths,
        .compute = compute_pose,
        .write_json = write_pose,
        .print_one = print_one_pose,
        .print_many = print_poses,
    };
    return run_evaluation(&forward_kinematics, NULL, given, client);
}

/* ---- Jacobian ---------------------------------------------------------------------------------------------------- */

static void jacobian_widths(const evaluation_context *context, size_t widths[2]) {
    widths[0] = widths[1] = 3 * context->robot->nv;
}

static dyn_client_status compute_jacobian(const evaluation_context *context, const state_batch *batch,
                                          dyn_client_error *error, double *linear, double *angular) {
    return dyn_client_jacobians(context->client, &context->query, batch->values[STATE_Q], 1, &context->frame,
                                context->reference, linear, angular, error);
}

static void write_jacobian(const evaluation_context *context, size_t index, const double *linear,
                           const double *angular) {
    (void)index;
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "linear");
    emit_matrix(&writer, 3, context->robot->nv, linear);
    emit_key(&writer, "angular");
    emit_matrix(&writer, 3, context->robot->nv, angular);
    emit_end_object(&writer);
    emit_finish(&writer);
}

/* Prints both blocks of a state under one heading. */
static bool print_blocks(const layout *robot, const double *linear, const double *angular) {
    static const char *const rows[] = {"linear x", "linear y", "linear z", "angular x", "angular y", "angular z"};
    size_t block = 3 * robot->nv;
    double *both = malloc((2 * block + 1) * sizeof *both);
    if (!both) {
        return false;
    }
    memcpy(both, linear, block * sizeof *both);
    memcpy(both + block, angular, block * sizeof *both);
    bool printed = print_matrix(robot, 6, rows, both);
    free(both);
    return printed;
}

static bool print_jacobians(const evaluation_context *context, const state_batch *batch, size_t number,
                            const double *linear, const double *angular) {
    bool printed = true;
    if (number == 1) {
        print_title(context);
    }
    for (size_t i = 0; i < batch->count && printed; i++) {
        printf("state %zu\n", number + i);
        printed =
            print_blocks(context->robot, linear + i * 3 * context->robot->nv, angular + i * 3 * context->robot->nv);
    }
    return printed;
}

static bool print_one_jacobian(const evaluation_context *context, const state_batch *batch, const double *linear,
                               const double *angular) {
    (void)batch;
    print_title(context);
    bool printed = print_blocks(context->robot, linear, angular);
    printf("\nExpressed in %s. Linear rows in m (per rad) or 1 (per m), angular rows in 1 (per rad).\n",
           REFERENCE_FRAME_NAMES[context->reference - DYN_CLIENT_REFERENCE_FRAME_LOCAL]);
    return printed;
}

exit_code run_jacobian(const command *self, const arguments *given, dyn_client *client) {
    (void)self;
    static const evaluation jacobian = {
        .title = "Jacobian",
        .takes = {[STATE_Q] = true},
        .takes_frame = true,
        .widths = jacobian_widths,
        .compute = compute_jacobian,
        .write_json = write_jacobian,
        .print_one = print_one_jacobian,
        .print_many = print_jacobians,
    };
    return run_evaluation(&jacobian, NULL, given, client);
}
