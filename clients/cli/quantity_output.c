/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints results of the command evaluate as tables, JSON or CSV.
 */
#include "quantity_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_writer.h"
#include "page.h"
#include "table.h"

/* Returns true if all entries of a block have one unit. Combinations of axes may also have equal units for some
 * robots. */
static bool has_one_unit(const dyn_client_block *block) {
    for (size_t i = 1; i < block->width && block->unit_count > 1; i++) {
        if (strcmp(dyn_client_block_unit(block, i), dyn_client_block_unit(block, 0)) != 0) {
            return false;
        }
    }
    return true;
}

/* Returns true if an entry before `entry` has its unit. */
static bool was_listed(const dyn_client_block *block, size_t entry) {
    for (size_t i = 0; i < entry; i++) {
        if (dyn_client_block_unit(block, i) == dyn_client_block_unit(block, entry)) {
            return true;
        }
    }
    return false;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Writes the units of a block to a stream: ", in m/s", or each unit once. Writes nothing for the unit 1, or for a list
 * whose units differ, since these follow its numbers. */
static void write_units(FILE *to, const dyn_client_block *block) {
    if (has_one_unit(block)) {
        if (block->width > 0 && strcmp(dyn_client_block_unit(block, 0), "1") != 0) {
            fprintf(to, ", in %s", dyn_client_block_unit(block, 0));
        }
        return;
    }
    for (size_t i = 0, listed = 0; block->rank > 1 && i < block->width && listed < block->unit_count; i++) {
        if (!was_listed(block, i)) {
            fprintf(to, "%s %s", listed++ == 0 ? ", in" : ",", dyn_client_block_unit(block, i));
        }
    }
}

/* Prints a heading such as "frame_twist of tool0, linear, in m/s (axes of the world, origin of the frame)". Returns
 * false when out of memory. */
static bool print_heading(const dyn_client_quantity_result *result, const dyn_client_block *block) {
    const char *name = dyn_client_quantity_name(result->quantity);
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) {
        return false;
    }
    fputs(name ? name : "?", to);
    if (result->frame[0] != '\0') {
        fprintf(to, " of %s", result->frame);
    }
    if (strcmp(block->name, "value") != 0) {
        fprintf(to, ", %s", block->name);
    }
    write_units(to, block);
    if (result->expressed_in[0] != '\0') {
        fprintf(to, " (%s)", result->expressed_in);
    }
    if (result->of_tree) {
        fputs(", of the tree without its constraints", to);
    }
    bool is_written = fclose(to) == 0;
    if (is_written) {
        page_print(text, 0, 2, page_columns());
    }
    free(text);
    return is_written;
}

/* Adds a row for each number of a list with its name, and with its unit if the units differ. */
static void fill_list(table *lines, const dyn_client_block *block, const double *values) {
    bool with_units = !has_one_unit(block);
    table_add_column(lines, "", TABLE_NAME);
    table_add_column(lines, "", TABLE_RIGHT);
    if (with_units) {
        table_add_column(lines, "", TABLE_UNIT);
    }
    for (size_t i = 0; i < block->width; i++) {
        table_add_cell(lines, "%s", block->rank > 0 ? block->axes[0]->labels[i] : "");
        table_add_number(lines, values[i]);
        if (with_units) {
            table_add_cell(lines, "%s", dyn_client_block_unit(block, i));
        }
    }
}

/* Adds the columns and rows of a matrix over axis number `rank` and the next axis of the block. */
static void fill_matrix(table *lines, const dyn_client_block *block, size_t rank, const double *values) {
    size_t row_count = block->axes[rank]->size, column_count = block->axes[rank + 1]->size;
    table_add_column(lines, "", TABLE_NAME);
    for (size_t k = 0; k < column_count; k++) {
        table_add_column(lines, block->axes[rank + 1]->labels[k], TABLE_RIGHT);
    }
    for (size_t i = 0; i < row_count; i++) {
        table_add_cell(lines, "%s", block->axes[rank]->labels[i]);
        for (size_t k = 0; k < column_count; k++) {
            table_add_number(lines, values[i * column_count + k]);
        }
    }
}

static bool print_values(const dyn_client_block *block, size_t rank, const double *values) {
    table *lines = table_create();
    if (block->rank < 2) {
        fill_list(lines, block, values);
    } else {
        fill_matrix(lines, block, rank, values);
    }
    bool printed = table_print(lines, 2);
    table_free(lines);
    return printed;
}

static bool print_block(const dyn_client_block *block, const double *values) {
    if (block->rank < 3) {
        return print_values(block, 0, values);
    }
    bool printed = true;
    size_t slice = block->axes[1]->size * block->axes[2]->size;
    for (size_t i = 0; i < block->axes[0]->size && printed; i++) {
        printf("  %s\n", block->axes[0]->labels[i]);
        printed = print_values(block, 1, values + i * slice);
    }
    return printed;
}

bool print_quantities(const dyn_client_evaluation *from, size_t state) {
    bool printed = true;
    for (size_t i = 0; i < from->result_count && printed; i++) {
        const dyn_client_quantity_result *result = &from->results[i];
        for (size_t k = 0; k < result->block_count && printed; k++) {
            const dyn_client_block *block = &result->blocks[k];
            if (i > 0 || k > 0) {
                fputc('\n', stdout);
            }
            printed = print_heading(result, block) && print_block(block, block->values + state * block->width);
        }
    }
    return printed;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* Writes a number, or arrays nested to the rank, at most 3. */
static void write_values(json_writer *writer, size_t rank, const size_t *shape, const double *values) {
    if (rank == 0) {
        emit_double(writer, *values);
    } else if (rank == 1) {
        emit_doubles(writer, shape[0], values);
    } else if (rank == 2) {
        emit_matrix(writer, shape[0], shape[1], values);
    } else if (rank == 3) {
        emit_begin_array(writer);
        for (size_t i = 0; i < shape[0]; i++) {
            emit_matrix(writer, shape[1], shape[2], values + i * shape[1] * shape[2]);
        }
        emit_end_array(writer);
    } else {
        emit_string(writer, "");
    }
}

/* Writes the only value of a quantity, or an object with its blocks by name. */
static void write_blocks(json_writer *writer, const dyn_client_quantity_result *result, size_t state) {
    const dyn_client_block *blocks = result->blocks;
    bool single = result->block_count == 1 && strcmp(blocks[0].name, "value") == 0;
    if (!single) {
        emit_begin_object(writer);
    }
    for (size_t k = 0; k < result->block_count; k++) {
        if (!single) {
            emit_key(writer, blocks[k].name);
        }
        write_values(writer, blocks[k].rank, blocks[k].shape, blocks[k].values + state * blocks[k].width);
    }
    if (!single) {
        emit_end_object(writer);
    }
}

void write_quantities(const dyn_client_evaluation *from, size_t state) {
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    for (size_t i = 0; i < from->result_count; i++) {
        const dyn_client_quantity_result *result = &from->results[i];
        bool of_frame = result->frame[0] != '\0';
        bool begins = i == 0 || from->results[i - 1].quantity != result->quantity;
        bool ends = i + 1 == from->result_count || from->results[i + 1].quantity != result->quantity;
        if (begins) {
            emit_key(&writer, dyn_client_quantity_name(result->quantity));
        }
        if (of_frame && begins) {
            emit_begin_object(&writer);
        }
        if (of_frame) {
            emit_key(&writer, result->frame);
        }
        write_blocks(&writer, result, state);
        if (of_frame && ends) {
            emit_end_object(&writer);
        }
    }
    emit_end_object(&writer);
    emit_finish(&writer);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

enum { NAME_SIZE = 512 };

/* Writes the names of the values of a block, each of which begins with `prefix`: "mass_matrix.joint1.joint2". */
static void write_block_headings(csv_writer *to, const char *prefix, const dyn_client_block *block) {
    for (size_t i = 0; i < block->width; i++) {
        char name[NAME_SIZE];
        size_t used = 0, rest = i, below = block->width;
        name[0] = '\0';
        for (size_t rank = 0; rank < block->rank && used < sizeof name; rank++) {
            below /= block->axes[rank]->size;
            used += (size_t)snprintf(name + used, sizeof name - used, ".%s", block->axes[rank]->labels[rest / below]);
            rest %= below;
        }
        csv_text(to, "%s%s", prefix, name);
    }
}

void write_quantity_headings(const dyn_client_evaluation *from, csv_writer *to) {
    for (size_t i = 0; i < from->result_count; i++) {
        const dyn_client_quantity_result *result = &from->results[i];
        const char *name = dyn_client_quantity_name(result->quantity);
        for (size_t k = 0; k < result->block_count; k++) {
            const dyn_client_block *block = &result->blocks[k];
            bool is_only = strcmp(block->name, "value") == 0, of_frame = result->frame[0] != '\0';
            char prefix[NAME_SIZE];
            snprintf(prefix, sizeof prefix, "%s%s%s%s%s", name ? name : "?", of_frame ? "." : "", result->frame,
                     is_only ? "" : ".", is_only ? "" : block->name);
            write_block_headings(to, prefix, block);
        }
    }
}

void write_quantity_cells(const dyn_client_evaluation *from, csv_writer *to, size_t state) {
    for (size_t i = 0; i < from->result_count; i++) {
        for (size_t k = 0; k < from->results[i].block_count; k++) {
            const dyn_client_block *block = &from->results[i].blocks[k];
            csv_numbers(to, block->width, block->values + state * block->width);
        }
    }
}
