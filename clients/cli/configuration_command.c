/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command configuration: the operations integrate, difference, interpolate, distance, normalize, neutral and random.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "coordinate_values.h"
#include "json_writer.h"
#include "result_tables.h"

/* Kind of an operation's result. */
typedef enum yield { YIELDS_Q, YIELDS_V, YIELDS_DISTANCE } yield;

/* Operations of the command, with the inputs and the kind of result of each. */
static const struct operation {
    const char *name, *title;
    bool has_q, has_v, has_to;
    yield yields;
} OPERATIONS[] = {
    {"integrate", "integrated configuration", true, true, false, YIELDS_Q},
    {"difference", "difference", true, false, true, YIELDS_V},
    {"interpolate", "interpolated configuration", true, false, true, YIELDS_Q},
    {"distance", "distance", true, false, true, YIELDS_DISTANCE},
    {"normalize", "normalized configuration", true, false, false, YIELDS_Q},
    {"neutral", "neutral configuration", false, false, false, YIELDS_Q},
    {"random", "random configuration", false, false, false, YIELDS_Q},
};

enum { OPERATION_COUNT = sizeof OPERATIONS / sizeof *OPERATIONS, MAX_COUNT = 1000000 };

/* Parsed arguments of the command. */
typedef struct plan {
    const struct operation *operation;
    double *to; /* the configuration --to, nq numbers; NULL: none */
    double step_length, s;
    long seed, count; /* of the operation random */
} plan;

/* ---- request ----------------------------------------------------------------------------------------------------- */

static exit_code find_operation(const arguments *args, plan *settings) {
    const char *name = args->positional[1];
    for (size_t i = 0; i < OPERATION_COUNT; i++) {
        if (strcmp(OPERATIONS[i].name, name) == 0) {
            settings->operation = &OPERATIONS[i];
            return EXIT_OK;
        }
    }
    return complain(EXIT_USAGE,
                    "there is no operation \"%s\": pass integrate, difference, interpolate, distance, normalize, "
                    "neutral or random",
                    name);
}

static exit_code read_number(const arguments *args, option from, const char *name, double standard, double *number) {
    const char *text = args->value[from];
    *number = standard;
    return !text || parse_number(text, number) ? EXIT_OK : complain(EXIT_USAGE, "--%s %s: pass a number", name, text);
}

/* Reads the configuration --to, if the operation has one. Coordinates without a name have their value at home. */
static exit_code read_to(const evaluation_context *context, plan *settings) {
    const char *text = context->args->value[OPTION_TO];
    char message[256];
    size_t nq = context->robot->nq;
    if (!settings->operation->has_to) {
        return EXIT_OK;
    }
    if (!text) {
        return complain(EXIT_USAGE, "%s needs --to X,X,.., the other configuration", settings->operation->name);
    }
    settings->to = calloc(nq + 1, sizeof *settings->to);
    if (!settings->to) {
        return complain_memory();
    }
    layout_arrange_q(context->robot, context->robot->robot->home_q, settings->to);
    if (!coordinate_values_read(context->robot, true, text, settings->to, message, sizeof message)) {
        return complain(EXIT_USAGE, "--to: %s", message);
    }
    return EXIT_OK;
}

/* Reads --count and --seed, the number of random configurations and their seed. */
static exit_code read_random(const arguments *args, plan *settings) {
    const char *seed = args->value[OPTION_SEED], *count = args->value[OPTION_COUNT];
    settings->count = 1;
    if (seed && !parse_integer(seed, 0, 2147483647, &settings->seed)) {
        return complain(EXIT_USAGE, "--seed %s: pass a whole number from 0 to 2147483647", seed);
    }
    if (count && strcmp(settings->operation->name, "random") != 0) {
        return complain(EXIT_USAGE, "%s does not take --count; random does", settings->operation->name);
    }
    if (count && !parse_integer(count, 1, MAX_COUNT, &settings->count)) {
        return complain(EXIT_USAGE, "--count %s: pass a whole number from 1 to %d", count, MAX_COUNT);
    }
    return EXIT_OK;
}

static exit_code prepare(const evaluation_context *context) {
    plan *settings = context->own;
    const arguments *args = context->args;
    exit_code code = read_number(args, OPTION_STEP_LENGTH, "step-length", 1, &settings->step_length);
    if (code == EXIT_OK) {
        code = read_number(args, OPTION_S, "s", 0.5, &settings->s);
    }
    if (code == EXIT_OK) {
        code = read_random(args, settings);
    }
    return code == EXIT_OK ? read_to(context, settings) : code;
}

/* Returns the number of values of one result. */
static size_t result_width(const evaluation_context *context) {
    const plan *settings = context->own;
    return settings->operation->yields == YIELDS_Q   ? context->robot->nq
           : settings->operation->yields == YIELDS_V ? context->robot->nv
                                                     : 1;
}

/* Sets the widths of results. A request computes all random configurations, since they follow from one seed, so that
 * their width is that of all. */
static void widths(const evaluation_context *context, size_t width[2]) {
    const plan *settings = context->own;
    width[0] = result_width(context) * (size_t)settings->count;
    width[1] = 0;
}

/* Returns the configuration --to repeated for each state of the batch, zeros without the option, in memory that the
 * caller frees. Returns NULL when out of memory. */
static double *repeat_to(const evaluation_context *context, const state_batch *batch, const plan *settings) {
    size_t nq = context->robot->nq;
    double *rows = calloc(batch->count * nq + 1, sizeof *rows);
    for (size_t i = 0; rows && settings->to && i < batch->count; i++) {
        memcpy(rows + i * nq, settings->to, nq * sizeof *rows);
    }
    return rows;
}

static dyn_client_status draw(const evaluation_context *context, const plan *settings, dyn_client_error *error,
                              double *out) {
    dyn_client_query query = context->query;
    query.samples = (size_t)settings->count;
    return dyn_client_random(context->client, &query, (uint64_t)settings->seed, out, error);
}

static dyn_client_status compute(const evaluation_context *context, const state_batch *batch, dyn_client_error *error,
                                 double *out, double *unused) {
    (void)unused;
    const plan *settings = context->own;
    const dyn_client_query *query = &context->query;
    const double *q = batch->values[STATE_Q];
    double *to = repeat_to(context, batch, settings);
    dyn_client_status status = DYN_CLIENT_OUT_OF_MEMORY;
    if (!to) {
        *error = (dyn_client_error){.status = status, .message = "out of memory"};
    } else if (strcmp(settings->operation->name, "integrate") == 0) {
        status =
            dyn_client_integrate(context->client, query, q, batch->values[STATE_V], settings->step_length, out, error);
    } else if (strcmp(settings->operation->name, "difference") == 0) {
        status = dyn_client_difference(context->client, query, q, to, out, error);
    } else if (strcmp(settings->operation->name, "interpolate") == 0) {
        status = dyn_client_interpolate(context->client, query, q, to, 1, &settings->s, out, error);
    } else if (strcmp(settings->operation->name, "distance") == 0) {
        status = dyn_client_distance(context->client, query, q, to, out, error);
    } else if (strcmp(settings->operation->name, "normalize") == 0) {
        status = dyn_client_normalize(context->client, query, q, out, error);
    } else if (strcmp(settings->operation->name, "neutral") == 0) {
        status = dyn_client_neutral(context->client, query, out, error);
    } else {
        status = draw(context, settings, error, out);
    }
    free(to);
    return status;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static void write_row(const evaluation_context *context, const double *row) {
    const plan *settings = context->own;
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    if (settings->operation->yields == YIELDS_DISTANCE) {
        emit_key(&writer, "distance");
        emit_double(&writer, row[0]);
    } else {
        emit_key(&writer, settings->operation->yields == YIELDS_Q ? "q" : "v");
        emit_doubles(&writer, result_width(context), row);
    }
    emit_end_object(&writer);
    emit_finish(&writer);
}

static void write_json(const evaluation_context *context, size_t index, const double *rows, const double *unused) {
    (void)index, (void)unused;
    const plan *settings = context->own;
    for (long i = 0; i < settings->count; i++) {
        write_row(context, rows + (size_t)i * result_width(context));
    }
}

/* Returns the coordinates of the result's columns: those of q or of v. */
static const coordinate *columns_of(const evaluation_context *context) {
    const plan *settings = context->own;
    return settings->operation->yields == YIELDS_Q ? context->robot->q : context->robot->v;
}

static void write_headings(const evaluation_context *context, csv_writer *to) {
    const plan *settings = context->own;
    if (settings->operation->yields == YIELDS_DISTANCE) {
        csv_text(to, "distance");
        return;
    }
    for (size_t k = 0; k < result_width(context); k++) {
        csv_text(to, "%s.%s", settings->operation->yields == YIELDS_Q ? "q" : "v", columns_of(context)[k].name);
    }
}

/* Writes the values of a state. For several random configurations writes a line for each, which begins with its
 * number. */
static void write_csv(const evaluation_context *context, csv_writer *to, size_t index, const double *rows,
                      const double *unused) {
    (void)index, (void)unused;
    const plan *settings = context->own;
    for (long i = 0; i < settings->count; i++) {
        if (i > 0) {
            csv_end_line(to);
            csv_text(to, "%ld", i + 1);
        }
        csv_numbers(to, result_width(context), rows + (size_t)i * result_width(context));
    }
}

/* Prints a table with a column for each coordinate of the result and a line for each state. Prints the title before the
 * line of state 1. */
static bool print_rows(const evaluation_context *context, size_t count, size_t number, const double *rows) {
    const plan *settings = context->own;
    const coordinate *at = columns_of(context);
    size_t width = result_width(context);
    table *lines = table_create();
    table_add_column(lines, "state", TABLE_RIGHT);
    for (size_t k = 0; k < width; k++) {
        table_add_column(lines, settings->operation->yields == YIELDS_DISTANCE ? "distance" : at[k].name, TABLE_RIGHT);
    }
    for (size_t i = 0; i < count; i++) {
        table_add_cell(lines, "%zu", number + i);
        for (size_t k = 0; k < width; k++) {
            table_add_number(lines, rows[i * width + k]);
        }
    }
    if (number == 1) {
        print_title(context);
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

static bool print_one(const evaluation_context *context, const state_batch *batch, const double *row,
                      const double *unused) {
    (void)batch, (void)unused;
    const plan *settings = context->own;
    return print_rows(context, (size_t)settings->count, 1, row);
}

static bool print_many(const evaluation_context *context, const state_batch *batch, size_t number, const double *rows,
                       const double *unused) {
    (void)unused;
    return print_rows(context, batch->count, number, rows);
}

exit_code run_configuration(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    plan settings = {0};
    exit_code code = find_operation(args, &settings);
    if (code != EXIT_OK) {
        return code;
    }
    if (!settings.operation->has_q && args->value[OPTION_STATES]) {
        return complain(EXIT_USAGE, "%s takes no states; leave out --states%s", settings.operation->name,
                        strcmp(settings.operation->name, "random") == 0 ? ", or pass --count N" : "");
    }
    const evaluation configuration = {
        .title = settings.operation->title,
        .has_input = {[STATE_Q] = settings.operation->has_q, [STATE_V] = settings.operation->has_v},
        .prepare = prepare,
        .widths = widths,
        .compute = compute,
        .write_json = write_json,
        .write_headings = write_headings,
        .write_csv = write_csv,
        .print_one = print_one,
        .print_many = print_many,
    };
    code = run_evaluation(&configuration, &settings, args, client);
    free(settings.to);
    return code;
}
