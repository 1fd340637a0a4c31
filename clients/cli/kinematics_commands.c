/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands fk and jacobian: compute poses and Jacobians of frames.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json_writer.h"
#include "page.h"
#include "result_tables.h"

enum { NAME_SIZE = 512 };

/* Reorders rows from an order by frame, then by state, to an order by state, then by frame. `width` is the number of
 * values of a row. Returns false when out of memory. */
static bool order_by_state(const evaluation_context *context, size_t states, size_t width, double *rows) {
    size_t frames = context->frame_count;
    if (frames == 1 || states == 1) {
        return true;
    }
    double *ordered = malloc(frames * states * width * sizeof *ordered);
    if (!ordered) {
        return false;
    }
    for (size_t f = 0; f < frames; f++) {
        for (size_t i = 0; i < states; i++) {
            memcpy(ordered + (i * frames + f) * width, rows + (f * states + i) * width, width * sizeof *rows);
        }
    }
    memcpy(rows, ordered, frames * states * width * sizeof *rows);
    free(ordered);
    return true;
}

/* Reorders the rows of both blocks of a result by state, then by frame. Fills `error` when out of memory. */
static dyn_client_status order_blocks(const evaluation_context *context, size_t states, const size_t widths[2],
                                      double *first, double *second, dyn_client_error *error) {
    if (order_by_state(context, states, widths[0], first) && order_by_state(context, states, widths[1], second)) {
        return DYN_CLIENT_OK;
    }
    *error = (dyn_client_error){.status = DYN_CLIENT_OUT_OF_MEMORY, .message = "out of memory"};
    return DYN_CLIENT_OUT_OF_MEMORY;
}

/* Begins the JSON object of the only frame, or the member of frame number f within the object of all frames. */
static void begin_frame(const evaluation_context *context, json_writer *writer, size_t f) {
    if (f == 0) {
        emit_begin_object(writer);
    }
    if (context->frame_count > 1) {
        emit_key(writer, context->frames[f]);
        emit_begin_object(writer);
    }
}

static void end_frame(const evaluation_context *context, json_writer *writer, size_t f) {
    if (context->frame_count > 1) {
        emit_end_object(writer);
    }
    if (f + 1 == context->frame_count) {
        emit_end_object(writer);
        emit_finish(writer);
    }
}

/* Writes the prefix of the names of a frame's columns, "tool0." if there are several frames, otherwise "", and returns
 * it. */
static const char *frame_prefix(const evaluation_context *context, size_t f, size_t size, char *prefix) {
    bool is_only = context->frame_count == 1;
    snprintf(prefix, size, "%s%s", is_only ? "" : context->frames[f], is_only ? "" : ".");
    return prefix;
}

/* ---- pose -------------------------------------------------------------------------------------------------------- */

static void pose_widths(const evaluation_context *context, size_t widths[2]) {
    widths[0] = 3 * context->frame_count;
    widths[1] = 4 * context->frame_count;
}

static dyn_client_status compute_pose(const evaluation_context *context, const state_batch *batch,
                                      dyn_client_error *error, double *position, double *quaternion) {
    dyn_client_status status = dyn_client_poses(context->client, &context->query, batch->values[STATE_Q],
                                                context->frame_count, context->frames, position, quaternion, error);
    return status == DYN_CLIENT_OK
               ? order_blocks(context, batch->count, (const size_t[]){3, 4}, position, quaternion, error)
               : status;
}

static void write_pose(const evaluation_context *context, size_t index, const double *position,
                       const double *quaternion) {
    (void)index;
    json_writer writer = {.stream = stdout};
    for (size_t f = 0; f < context->frame_count; f++) {
        begin_frame(context, &writer, f);
        emit_key(&writer, "position");
        emit_doubles(&writer, 3, position + 3 * f);
        emit_key(&writer, "quaternion");
        emit_doubles(&writer, 4, quaternion + 4 * f);
        end_frame(context, &writer, f);
    }
}

static void write_pose_headings(const evaluation_context *context, csv_writer *to) {
    char prefix[NAME_SIZE];
    for (size_t f = 0; f < context->frame_count; f++) {
        for (size_t k = 0; k < 3; k++) {
            csv_text(to, "%sposition.%c", frame_prefix(context, f, sizeof prefix, prefix), "xyz"[k]);
        }
    }
    for (size_t f = 0; f < context->frame_count; f++) {
        for (size_t k = 0; k < 4; k++) {
            csv_text(to, "%squaternion.%c", frame_prefix(context, f, sizeof prefix, prefix), "xyzw"[k]);
        }
    }
}

/* Prints a line for each frame of each state. If `has_number`, the line begins with the number of the state; `number`
 * is that of the first state. */
static bool print_pose_lines(const evaluation_context *context, size_t states, size_t number, bool has_number,
                             const double *position, const double *quaternion) {
    static const char *const headings[] = {"x [m]", "y [m]", "z [m]", "qx", "qy", "qz", "qw"};
    bool has_frame = context->frame_count > 1;
    table *lines = table_create();
    if (has_number) {
        table_add_column(lines, "state", TABLE_RIGHT);
    }
    if (has_frame) {
        table_add_column(lines, "frame", TABLE_NAME);
    }
    for (size_t k = 0; k < 7; k++) {
        table_add_column(lines, headings[k], TABLE_RIGHT);
    }
    for (size_t i = 0; i < states * context->frame_count; i++) {
        if (has_number) {
            table_add_cell(lines, "%zu", number + i / context->frame_count);
        }
        if (has_frame) {
            table_add_cell(lines, "%s", context->frames[i % context->frame_count]);
        }
        for (size_t k = 0; k < 7; k++) {
            table_add_number(lines, k < 3 ? position[3 * i + k] : quaternion[4 * i + k - 3]);
        }
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

static bool print_poses(const evaluation_context *context, const state_batch *batch, size_t number,
                        const double *position, const double *quaternion) {
    if (number == 1) {
        print_title(context);
    }
    return print_pose_lines(context, batch->count, number, true, position, quaternion);
}

static bool print_one_pose(const evaluation_context *context, const state_batch *batch, const double *position,
                           const double *quaternion) {
    if (context->frame_count > 1) {
        print_title(context);
        return print_pose_lines(context, batch->count, 1, false, position, quaternion);
    }
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

exit_code run_forward_kinematics(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    static const evaluation forward_kinematics = {
        .title = "forward kinematics",
        .has_input = {[STATE_Q] = true},
        .has_frame = true,
        .widths = pose_widths,
        .compute = compute_pose,
        .write_json = write_pose,
        .write_headings = write_pose_headings,
        .print_one = print_one_pose,
        .print_many = print_poses,
    };
    return run_evaluation(&forward_kinematics, NULL, args, client);
}

/* ---- Jacobian ---------------------------------------------------------------------------------------------------- */

static void jacobian_widths(const evaluation_context *context, size_t widths[2]) {
    widths[0] = widths[1] = 3 * context->robot->nv * context->frame_count;
}

static dyn_client_status compute_jacobian(const evaluation_context *context, const state_batch *batch,
                                          dyn_client_error *error, double *linear, double *angular) {
    const size_t widths[2] = {3 * context->robot->nv, 3 * context->robot->nv};
    dyn_client_status status =
        dyn_client_jacobians(context->client, &context->query, batch->values[STATE_Q], context->frame_count,
                             context->frames, context->reference, linear, angular, error);
    return status == DYN_CLIENT_OK ? order_blocks(context, batch->count, widths, linear, angular, error) : status;
}

static void write_jacobian(const evaluation_context *context, size_t index, const double *linear,
                           const double *angular) {
    (void)index;
    size_t nv = context->robot->nv;
    json_writer writer = {.stream = stdout};
    for (size_t f = 0; f < context->frame_count; f++) {
        begin_frame(context, &writer, f);
        emit_key(&writer, "linear");
        emit_matrix(&writer, 3, nv, linear + 3 * nv * f);
        emit_key(&writer, "angular");
        emit_matrix(&writer, 3, nv, angular + 3 * nv * f);
        end_frame(context, &writer, f);
    }
}

static void write_block_headings(const evaluation_context *context, const char *block, csv_writer *to) {
    char prefix[NAME_SIZE];
    for (size_t f = 0; f < context->frame_count; f++) {
        for (size_t k = 0; k < 3 * context->robot->nv; k++) {
            csv_text(to, "%s%s.%c.%s", frame_prefix(context, f, sizeof prefix, prefix), block,
                     "xyz"[k / context->robot->nv], context -> robot -> v[k % context->robot->nv].name);
        }
    }
}

static void write_jacobian_headings(const evaluation_context *context, csv_writer *to) {
    write_block_headings(context, "linear", to);
    write_block_headings(context, "angular", to);
}

/* Prints the linear and the angular block of a frame's Jacobian as one matrix. Returns false when out of memory. */
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

/* Prints the Jacobians of all frames for one state, each under the name of its frame if there are several. Returns
 * false when out of memory. */
static bool print_frames(const evaluation_context *context, const double *linear, const double *angular) {
    bool printed = true;
    for (size_t f = 0; f < context->frame_count && printed; f++) {
        size_t at = f * 3 * context->robot->nv;
        if (context->frame_count > 1) {
            printf("%s%s\n", f > 0 ? "\n" : "", context->frames[f]);
        }
        printed = print_blocks(context->robot, linear + at, angular + at);
    }
    return printed;
}

static bool print_jacobians(const evaluation_context *context, const state_batch *batch, size_t number,
                            const double *linear, const double *angular) {
    bool printed = true;
    size_t width = 3 * context->robot->nv * context->frame_count;
    if (number == 1) {
        print_title(context);
    }
    for (size_t i = 0; i < batch->count && printed; i++) {
        printf("state %zu\n", number + i);
        printed = print_frames(context, linear + i * width, angular + i * width);
    }
    return printed;
}

static bool print_one_jacobian(const evaluation_context *context, const state_batch *batch, const double *linear,
                               const double *angular) {
    (void)batch;
    print_title(context);
    bool printed = print_frames(context, linear, angular);
    fputc('\n', stdout);
    return page_printf(0, "Expressed in %s. Linear rows in m (per rad) or 1 (per m), angular rows in 1 (per rad).",
                       REFERENCE_FRAME_NAMES[context->reference - DYN_CLIENT_REFERENCE_FRAME_LOCAL]) &&
           printed;
}

exit_code run_jacobian(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    static const evaluation jacobian = {
        .title = "Jacobian",
        .has_input = {[STATE_Q] = true},
        .has_frame = true,
        .widths = jacobian_widths,
        .compute = compute_jacobian,
        .write_json = write_jacobian,
        .write_headings = write_jacobian_headings,
        .print_one = print_one_jacobian,
        .print_many = print_jacobians,
    };
    return run_evaluation(&jacobian, NULL, args, client);
}
