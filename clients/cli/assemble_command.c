/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command assemble: configurations that close the loops of a model.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json_writer.h"
#include "result_tables.h"

enum { NAME_SIZE = 256, MOST_HELD = 10000 };

/* Parsed arguments, and the first state whose loops did not close. */
typedef struct plan {
    char *names; /* text of --hold, cut into names */
    size_t held_count;
    const char **held;
    size_t computed, open_count, first_open; /* states; first_open counts from 1 */
    char constraint[NAME_SIZE];
    double error;
} plan;

/* ---- request ----------------------------------------------------------------------------------------------------- */

/* Reads the names of --hold, separated by commas. Leaves the list empty without the option. */
static exit_code prepare(const evaluation_context *context) {
    plan *settings = context->own;
    const char *text = context->args->value[OPTION_HOLD];
    if (!text) {
        return EXIT_OK;
    }
    settings->names = strdup(text);
    settings->held = calloc(strlen(text) / 2 + 1, sizeof *settings->held);
    if (!settings->names || !settings->held) {
        return complain_memory();
    }
    char *rest = settings->names;
    for (char *name = strsep(&rest, ","); name; name = strsep(&rest, ",")) {
        if (name[0] == '\0') {
            return complain(EXIT_USAGE, "--hold %s: a name is empty; pass JOINT,JOINT,..", text);
        }
        settings->held[settings->held_count++] = name;
    }
    return EXIT_OK;
}

static void widths(const evaluation_context *context, size_t count[2]) {
    count[0] = context->robot->nq;
    count[1] = 0;
}

/* Counts the states whose loops are open, and stores the number, the constraint and the error of the first one. */
static void note_outcomes(plan *settings, const dyn_client_assembly *assembly) {
    for (size_t i = 0; i < assembly->samples; i++) {
        const dyn_client_assembly_outcome *outcome = &assembly->outcomes[i];
        settings->computed++;
        if (!outcome->is_closed && settings->open_count++ == 0) {
            settings->first_open = settings->computed;
            settings->error = outcome->error;
            snprintf(settings->constraint, sizeof settings->constraint, "%s", outcome->constraint);
        }
    }
}

static dyn_client_status compute(const evaluation_context *context, const state_batch *batch, dyn_client_error *error,
                                 double *q, double *unused) {
    (void)unused;
    plan *settings = context->own;
    dyn_client_assembly *assembly;
    const dyn_client_assembly_options options =
        DYN_CLIENT_ASSEMBLY_OPTIONS_INIT(.held_count = settings->held_count, .held_joints = settings->held);
    dyn_client_status status =
        dyn_client_assemble(context->client, &context->query, batch->values[STATE_Q], &options, &assembly, error);
    if (status == DYN_CLIENT_OK) {
        memcpy(q, assembly->q, batch->count * context->robot->nq * sizeof *q);
        note_outcomes(settings, assembly);
        dyn_client_assembly_free(assembly);
    }
    return status;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static void write_json(const evaluation_context *context, size_t index, const double *q, const double *unused) {
    (void)index, (void)unused;
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "q");
    emit_doubles(&writer, context->robot->nq, q);
    emit_end_object(&writer);
    emit_finish(&writer);
}

/* Writes headings q0, q1, .. of CSV, which the option --states can read. */
static void write_headings(const evaluation_context *context, csv_writer *to) {
    for (size_t i = 0; i < context->robot->nq; i++) {
        csv_text(to, "q%zu", i);
    }
}

static bool print_many(const evaluation_context *context, const state_batch *batch, size_t number, const double *q,
                       const double *unused) {
    (void)unused;
    const layout *robot = context->robot;
    table *lines = table_create();
    table_add_column(lines, "state", TABLE_RIGHT);
    for (size_t i = 0; i < robot->nq; i++) {
        table_add_column(lines, robot->q[i].name, TABLE_RIGHT);
        table_add_column(lines, "", TABLE_UNIT);
    }
    for (size_t s = 0; s < batch->count; s++) {
        table_add_cell(lines, "%zu", number + s);
        for (size_t i = 0; i < robot->nq; i++) {
            table_add_number(lines, q[s * robot->nq + i]);
            table_add_cell(lines, "%s", robot->q[i].joint->q_units[robot->q[i].index]);
        }
    }
    if (number == 1) {
        print_title(context);
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

static bool print_one(const evaluation_context *context, const state_batch *batch, const double *q,
                      const double *unused) {
    (void)unused;
    const layout *robot = context->robot;
    table *lines = table_create();
    table_add_column(lines, "joint", TABLE_NAME);
    table_add_column(lines, "guess", TABLE_RIGHT);
    table_add_column(lines, "closed", TABLE_RIGHT);
    table_add_column(lines, "", TABLE_UNIT);
    for (size_t i = 0; i < robot->nq; i++) {
        table_add_cell(lines, "%s", robot->q[i].name);
        table_add_number(lines, batch->values[STATE_Q][i]);
        table_add_number(lines, q[i]);
        table_add_cell(lines, "%s", robot->q[i].joint->q_units[robot->q[i].index]);
    }
    print_title(context);
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

exit_code run_assemble(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    static const evaluation assembled = {
        .title = "assembled configuration",
        .has_input = {[STATE_Q] = true},
        .prepare = prepare,
        .widths = widths,
        .compute = compute,
        .write_json = write_json,
        .write_headings = write_headings,
        .print_one = print_one,
        .print_many = print_many,
    };
    plan settings = {0};
    exit_code code = run_evaluation(&assembled, &settings, args, client);
    if (code == EXIT_OK && settings.open_count > 0) {
        code = complain(EXIT_REFUSED,
                        "the loops do not close from state %zu: constraint %s stays open by %g (rad or m); start "
                        "nearer, or hold fewer joints (%zu of %zu states closed)",
                        settings.first_open, settings.constraint, settings.error,
                        settings.computed - settings.open_count, settings.computed);
    }
    free(settings.names);
    free(settings.held);
    return code;
}
