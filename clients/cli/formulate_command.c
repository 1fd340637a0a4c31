/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command formulate: prints the inner quantities of a formulation of the equation of motion, block by block.
 */
#include <stdio.h>

#include "command.h"
#include "diagnostics.h"
#include "flexible_options.h"
#include "json_writer.h"
#include "result_tables.h"

/* Data of the command: the links that bend, and the reply. */
typedef struct plan {
    flexible_options flexible;
    dyn_client_formulation *answer;
} plan;

/* Largest block that tables show, by rows and columns. */
enum { MOST_ROWS = 100, MOST_COLUMNS = 12, NAME_SIZE = 128 };

static exit_code prepare(const evaluation_context *context) {
    const plan *settings = context->own;
    if (context->args->value[OPTION_TAU] && settings->flexible.chain.link_count == 0) {
        return complain(EXIT_USAGE, "--tau needs --flexible; fd --formulation NAME computes with rigid links");
    }
    return context->args->value[OPTION_FORMULATION]
               ? EXIT_OK
               : complain(EXIT_USAGE, "formulate needs --formulation NAME; dynamicsctl compare lists the names");
}

/* Returns whether the command line or the file of states may have forces. */
static bool has_forces(const arguments *args) {
    return args->value[OPTION_TAU] || args->value[OPTION_MODE_TAU] || args->value[OPTION_STATES];
}

static void widths(const evaluation_context *context, size_t width[2]) {
    (void)context;
    width[0] = width[1] = 0;
}

static dyn_client_status compute(const evaluation_context *context, const state_batch *batch, dyn_client_error *error,
                                 double *unused, double *also_unused) {
    (void)unused, (void)also_unused;
    plan *settings = context->own;
    dyn_client_formulation_free(settings->answer);
    settings->answer = NULL;
    if (settings->flexible.chain.link_count > 0) {
        settings->flexible.chain.tau = has_forces(context->args) ? batch->values[STATE_TAU] : NULL;
        return dyn_client_formulate_flexible(context->client, &context->query, &settings->flexible.chain,
                                             batch->values[STATE_Q], batch->values[STATE_V], batch->values[STATE_A],
                                             &settings->answer, error);
    }
    return dyn_client_formulate(context->client, &context->query, batch->values[STATE_Q], batch->values[STATE_V],
                                batch->values[STATE_A], &settings->answer, error);
}

static const dyn_client_formulation *answer_of(const evaluation_context *context) {
    return ((const plan *)context->own)->answer;
}

static size_t count_values(const dyn_client_formulation_block *block) {
    size_t count = 1;
    for (size_t i = 0; i < block->dimensions; i++) {
        count *= block->extents[i];
    }
    return count;
}

/* Writes the indices of value `number` in the first `dimensions` dimensions of a block, such as "[2][0]". */
static void write_indices(const dyn_client_formulation_block *block, size_t dimensions, size_t number,
                          char text[NAME_SIZE]) {
    size_t inner = count_values(block), used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < dimensions; i++) {
        inner /= block->extents[i];
        used += (size_t)snprintf(text + used, NAME_SIZE - used, "[%zu]", number / inner % block->extents[i]);
    }
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Prints name, shape and meaning of a block, then its axes, frame and unit, and its equation. */
static void print_heading(const dyn_client_formulation_block *block) {
    printf("%s", block->name);
    for (size_t i = 0; i < block->dimensions; i++) {
        printf("%s%zu", i == 0 ? "  " : " x ", block->extents[i]);
    }
    printf("  %s\n", block->meaning);
    for (size_t i = 0; i < block->dimensions; i++) {
        printf("%s%s", i == 0 ? "  " : " x ", block->axes[i]);
    }
    printf("%s%s; unit %s\n", block->frame[0] ? "; " : "", block->frame, block->unit);
    if (block->equation[0]) {
        printf("  %s\n", block->equation);
    }
}

/* Prints a block: a row for each index of the dimensions before the last one. */
static bool print_block(const dyn_client_formulation_block *block) {
    size_t count = count_values(block), columns = block->extents[block->dimensions - 1];
    char index[NAME_SIZE];
    print_heading(block);
    if (count == 0 || columns > MOST_COLUMNS || count / columns > MOST_ROWS) {
        puts(count == 0 ? "  no numbers" : "  too large for a table; --json and --csv write it");
        return true;
    }
    table *lines = table_create();
    table_add_column(lines, "", TABLE_LEFT);
    for (size_t i = 0; i < columns; i++) {
        snprintf(index, sizeof index, "[%zu]", i);
        table_add_column(lines, index, TABLE_RIGHT);
    }
    for (size_t i = 0; i < count; i++) {
        if (i % columns == 0) {
            write_indices(block, block->dimensions - 1, i, index);
            table_add_cell(lines, "%s", index);
        }
        table_add_number(lines, block->values[i]);
    }
    bool printed = table_print(lines, 2);
    table_free(lines);
    return printed;
}

static bool print_answer(const evaluation_context *context) {
    const dyn_client_formulation *from = answer_of(context);
    printf("%s: %s\n", context->args->value[OPTION_FORMULATION], from->source);
    for (size_t i = 0; i < from->block_count; i++) {
        fputc('\n', stdout);
        if (!print_block(&from->blocks[i])) {
            return false;
        }
    }
    return true;
}

static bool print_one(const evaluation_context *context, const state_batch *batch, const double *unused,
                      const double *also_unused) {
    (void)batch, (void)unused, (void)also_unused;
    print_title(context);
    return print_answer(context);
}

static bool print_many(const evaluation_context *context, const state_batch *batch, size_t number, const double *unused,
                       const double *also_unused) {
    (void)batch, (void)unused, (void)also_unused;
    if (number == 1) {
        print_title(context);
    }
    printf("state %zu\n", number);
    bool printed = print_answer(context);
    fputc('\n', stdout);
    return printed;
}

/* ---- CSV and JSON ------------------------------------------------------------------------------------------------ */

static void write_headings(const evaluation_context *context, csv_writer *to) {
    const dyn_client_formulation *from = answer_of(context);
    char index[NAME_SIZE];
    for (size_t i = 0; i < from->block_count; i++) {
        const dyn_client_formulation_block *block = &from->blocks[i];
        for (size_t k = 0; k < count_values(block); k++) {
            write_indices(block, block->dimensions, k, index);
            csv_text(to, "%s%s", block->name, index);
        }
    }
}

static void write_csv(const evaluation_context *context, csv_writer *to, size_t index, const double *unused,
                      const double *also_unused) {
    (void)index, (void)unused, (void)also_unused;
    const dyn_client_formulation *from = answer_of(context);
    for (size_t i = 0; i < from->block_count; i++) {
        csv_numbers(to, count_values(&from->blocks[i]), from->blocks[i].values);
    }
}

static void write_block(json_writer *writer, const dyn_client_formulation_block *block) {
    emit_begin_object(writer);
    emit_key(writer, "name");
    emit_string(writer, block->name);
    emit_key(writer, "meaning");
    emit_string(writer, block->meaning);
    emit_key(writer, "frame");
    emit_string(writer, block->frame);
    emit_key(writer, "unit");
    emit_string(writer, block->unit);
    emit_key(writer, "equation");
    emit_string(writer, block->equation);
    emit_key(writer, "extents");
    emit_begin_array(writer);
    for (size_t i = 0; i < block->dimensions; i++) {
        emit_double(writer, (double)block->extents[i]);
    }
    emit_end_array(writer);
    emit_key(writer, "axes");
    emit_begin_array(writer);
    for (size_t i = 0; i < block->dimensions; i++) {
        emit_string(writer, block->axes[i]);
    }
    emit_end_array(writer);
    emit_key(writer, "values");
    emit_doubles(writer, count_values(block), block->values);
    emit_end_object(writer);
}

static void write_json(const evaluation_context *context, size_t index, const double *unused,
                       const double *also_unused) {
    (void)index, (void)unused, (void)also_unused;
    const dyn_client_formulation *from = answer_of(context);
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "formulation");
    emit_string(&writer, context->args->value[OPTION_FORMULATION]);
    emit_key(&writer, "source");
    emit_string(&writer, from->source);
    emit_key(&writer, "tau");
    emit_doubles(&writer, from->nv, from->tau);
    emit_key(&writer, "blocks");
    emit_begin_array(&writer);
    for (size_t i = 0; i < from->block_count; i++) {
        write_block(&writer, &from->blocks[i]);
    }
    emit_end_array(&writer);
    emit_end_object(&writer);
    emit_finish(&writer);
}

exit_code run_formulate(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    static const evaluation formulation = {
        .title = "inner quantities",
        .has_input = {[STATE_Q] = true, [STATE_V] = true, [STATE_A] = true, [STATE_TAU] = true},
        .has_one_state = true,
        .prepare = prepare,
        .widths = widths,
        .compute = compute,
        .write_json = write_json,
        .write_headings = write_headings,
        .write_csv = write_csv,
        .print_one = print_one,
        .print_many = print_many,
    };
    plan settings = {0};
    exit_code code = flexible_options_read(args, &settings.flexible);
    if (code == EXIT_OK) {
        code = run_evaluation(&formulation, &settings, args, client);
    }
    dyn_client_formulation_free(settings.answer);
    flexible_options_free(&settings.flexible);
    return code;
}
