/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results of evaluate.
 */
#include "quantity_output.h"

#include <stdio.h>
#include <string.h>

#include "json_writer.h"
#include "table.h"

enum { LABEL_SIZE = 256 };

/* Names of the entries of an axis. */
typedef struct axis {
    const char *text; /* "joints", "bodies", "task", "semi-axes", or the entries' names */
    const layout *robot;
    const dyn_client_evaluation *from;
} axis;

/* Copies the index'th word of a text; empty when there are fewer. */
static void copy_word(const char *text, size_t index, char label[LABEL_SIZE]) {
    for (; index > 0 && *text != '\0'; index--) {
        text += strcspn(text, " ");
        text += *text == ' ';
    }
    snprintf(label, LABEL_SIZE, "%.*s", (int)strcspn(text, " "), text);
}

static const char *entry_name(const axis *of, size_t index, char label[LABEL_SIZE]) {
    if (strcmp(of->text, "joints") == 0)
        return index < of->robot->nv ? of->robot->v[index].name : "";
    if (strcmp(of->text, "bodies") == 0)
        return index < of->from->body_count ? of->from->bodies[index] : "";
    if (strcmp(of->text, "task") == 0)
        return index < of->from->task_row_count ? of->from->task_rows[index] : "";
    if (strcmp(of->text, "semi-axes") == 0)
        snprintf(label, LABEL_SIZE, "%zu", index + 1);
    else
        copy_word(of->text, index, label);
    return label;
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

/* "frame_twist of tool0, linear, in m/s (axes of the world, origin of the frame)" */
static void print_heading(const dyn_client_quantity_result *result, const dyn_client_block *block) {
    const char *name = dyn_client_quantity_name(result->quantity);
    printf("%s", name != NULL ? name : "?");
    if (result->frame[0] != '\0')
        printf(" of %s", result->frame);
    if (strcmp(block->name, "value") != 0)
        printf(", %s", block->name);
    if (strcmp(block->unit, "1") != 0)
        printf(", in %s", block->unit);
    if (result->expressed_in[0] != '\0')
        printf(" (%s)", result->expressed_in);
    fputc('\n', stdout);
}

/* Numbers below each other, each behind its name. */
static void fill_list(table *lines, const axis *names, size_t count, const double *values) {
    char label[LABEL_SIZE];
    table_add_column(lines, "", TABLE_LEFT);
    table_add_column(lines, "", TABLE_RIGHT);
    for (size_t i = 0; i < count; i++) {
        table_add_cell(lines, "%s", names != NULL ? entry_name(names, i, label) : "");
        table_add_number(lines, values[i]);
    }
}

static void fill_matrix(table *lines, const axis *rows, const axis *columns, size_t row_count, size_t column_count,
                        const double *values) {
    char label[LABEL_SIZE];
    table_add_column(lines, "", TABLE_LEFT);
    for (size_t k = 0; k < column_count; k++)
        table_add_column(lines, entry_name(columns, k, label), TABLE_RIGHT);
    for (size_t i = 0; i < row_count; i++) {
        table_add_cell(lines, "%s", entry_name(rows, i, label));
        for (size_t k = 0; k < column_count; k++)
            table_add_number(lines, values[i * column_count + k]);
    }
}

static bool print_values(const axis *axes, size_t rank, const uint32_t *shape, const double *values) {
    table *lines = table_create();
    if (rank < 2)
        fill_list(lines, rank == 1 ? axes : NULL, rank == 1 ? shape[0] : 1, values);
    else
        fill_matrix(lines, &axes[0], &axes[1], shape[0], shape[1], values);
    bool printed = table_print(lines, 2);
    table_free(lines);
    return printed;
}

static bool print_block(const layout *robot, const dyn_client_evaluation *from, const dyn_client_block *block,
                        const double *values) {
    axis axes[3];
    char label[LABEL_SIZE];
    if (block->rank > 3)
        return true;
    for (size_t i = 0; i < block->rank; i++)
        axes[i] = (axis){.text = block->axes[i], .robot = robot, .from = from};
    if (block->rank < 3)
        return print_values(axes, block->rank, block->shape, values);
    bool printed = true;
    size_t slice = (size_t)block->shape[1] * block->shape[2];
    for (size_t i = 0; i < block->shape[0] && printed; i++) {
        printf("  %s\n", entry_name(&axes[0], i, label));
        printed = print_values(axes + 1, 2, block->shape + 1, values + i * slice);
    }
    return printed;
}

bool print_quantities(const layout *robot, const dyn_client_evaluation *from, size_t state) {
    bool printed = true;
    for (size_t i = 0; i < from->result_count && printed; i++) {
        const dyn_client_quantity_result *result = &from->results[i];
        for (size_t k = 0; k < result->block_count && printed; k++) {
            const dyn_client_block *block = &result->blocks[k];
            if (i > 0 || k > 0)
                fputc('\n', stdout);
            print_heading(result, block);
            printed = print_block(robot, from, block, block->values + state * block->width);
        }
    }
    return printed;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* A number, or arrays in arrays. */
static void write_values(json_writer *writer, size_t rank, const uint32_t *shape, const double *values) {
    if (rank == 0) {
        emit_double(writer, *values);
    } else if (rank == 1) {
        emit_doubles(writer, shape[0], values);
    } else if (rank == 2) {
        emit_matrix(writer, shape[0], shape[1], values);
    } else if (rank == 3) {
        emit_begin_array(writer);
        for (size_t i = 0; i < shape[0]; i++)
            emit_matrix(writer, shape[1], shape[2], values + i * shape[1] * shape[2]);
        emit_end_array(writer);
    } else {
        emit_string(writer, "");
    }
}

/* The one value of a quantity, or its blocks by name. */
static void write_blocks(json_writer *writer, const dyn_client_quantity_result *result, size_t state) {
    const dyn_client_block *blocks = result->blocks;
    bool single = result->block_count == 1 && strcmp(blocks[0].name, "value") == 0;
    if (!single)
        emit_begin_object(writer);
    for (size_t k = 0; k < result->block_count; k++) {
        if (!single)
            emit_key(writer, blocks[k].name);
        write_values(writer, blocks[k].rank, blocks[k].shape, blocks[k].values + state * blocks[k].width);
    }
    if (!single)
        emit_end_object(writer);
}

void write_quantities(const dyn_client_evaluation *from, size_t state) {
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    for (size_t i = 0; i < from->result_count; i++) {
        const dyn_client_quantity_result *result = &from->results[i];
        bool of_frame = result->frame[0] != '\0';
        bool begins = i == 0 || from->results[i - 1].quantity != result->quantity;
        bool ends = i + 1 == from->result_count || from->results[i + 1].quantity != result->quantity;
        if (begins)
            emit_key(&writer, dyn_client_quantity_name(result->quantity));
        if (of_frame && begins)
            emit_begin_object(&writer);
        if (of_frame)
            emit_key(&writer, result->frame);
        write_blocks(&writer, result, state);
        if (of_frame && ends)
            emit_end_object(&writer);
    }
    emit_end_object(&writer);
    emit_finish(&writer);
}
