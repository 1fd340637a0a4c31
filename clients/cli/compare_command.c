/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command compare: computes one state by every formulation of the equation of motion and prints their costs.
 */
#include <math.h>
#include <stdio.h>

#include "command.h"
#include "json_writer.h"
#include "result_tables.h"

/* Data of the command: the reply. */
typedef struct plan {
    dyn_client_comparison *answer;
} plan;

/* Number of results of a formulation. Tables list them in the order of result_names. */
enum { RESULTS = 3 };

static const char *const result_names[RESULTS] = {"inverse_dynamics", "forward_dynamics", "mass_matrix"};
static const char *const result_titles[RESULTS] = {"Inverse dynamics", "Forward dynamics", "Mass matrix"};

static const dyn_client_formulation_cost *cost_of(const dyn_client_compared_formulation *from, int result) {
    const dyn_client_formulation_cost *const costs[RESULTS] = {&from->inverse_dynamics, &from->forward_dynamics,
                                                               &from->mass_matrix};
    return costs[result];
}

static void widths(const evaluation_context *context, size_t width[2]) {
    (void)context;
    width[0] = width[1] = 0;
}

static dyn_client_status compute(const evaluation_context *context, const state_batch *batch, dyn_client_error *error,
                                 double *unused, double *also_unused) {
    (void)unused, (void)also_unused;
    plan *settings = context->own;
    dyn_client_comparison_free(settings->answer);
    return dyn_client_compare(context->client, &context->query, batch->values[STATE_Q], batch->values[STATE_V],
                              batch->values[STATE_A], &settings->answer, error);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void add_columns(table *lines) {
    static const char *const headings[] = {"difference", "time [us]", "mult.", "add.", "div.", "sines"};
    table_add_column(lines, "formulation", TABLE_LEFT);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        table_add_column(lines, headings[i], TABLE_RIGHT);
    }
}

/* Adds a number of operations, or "-": those of the daemon's own kernels are not counted. */
static void add_count(table *lines, const dyn_client_formulation_cost *cost, uint64_t count) {
    bool is_counted = cost->multiplications > 0 || cost->additions > 0;
    if (is_counted) {
        table_add_cell(lines, "%llu", (unsigned long long)count);
    } else {
        table_add_cell(lines, "-");
    }
}

/* Adds the costs of a result that is there. */
static void add_cost(table *lines, const char *name, const dyn_client_formulation_cost *cost) {
    table_add_cell(lines, "%s%s", name, cost->is_stated ? "" : " *");
    table_add_cell(lines, "%.1e", cost->difference);
    table_add_cell(lines, "%.1f", 1e6 * cost->time);
    add_count(lines, cost, cost->multiplications);
    add_count(lines, cost, cost->additions);
    add_count(lines, cost, cost->divisions);
    add_count(lines, cost, cost->sines);
}

/* Prints the formulations that apply and cannot compute the result in this state, each with its reason. */
static void print_refused(const dyn_client_comparison *from, int result) {
    for (size_t i = 0; i < from->formulation_count; i++) {
        const dyn_client_compared_formulation *row = &from->formulations[i];
        if (!row->refusal && cost_of(row, result)->refusal) {
            printf("%s: %s\n", row->name, cost_of(row, result)->refusal);
        }
    }
}

/* Prints the costs of one result, a line for each formulation that has it, and why others have it not. */
static bool print_result(const dyn_client_comparison *from, int result) {
    table *lines = table_create();
    add_columns(lines);
    for (size_t i = 0; i < from->formulation_count; i++) {
        const dyn_client_compared_formulation *row = &from->formulations[i];
        if (!row->refusal && !cost_of(row, result)->refusal) {
            add_cost(lines, row->name, cost_of(row, result));
        }
    }
    printf("%s\n\n", result_titles[result]);
    bool printed = table_print(lines, 0);
    table_free(lines);
    print_refused(from, result);
    fputc('\n', stdout);
    return printed;
}

static bool print_answer(const dyn_client_comparison *from) {
    for (int k = 0; k < RESULTS; k++) {
        if (!print_result(from, k)) {
            return false;
        }
    }
    puts("difference: from the kernels, relative to their largest number; *: derived, the\n"
         "literature states another result; kernels: the daemon's own RNEA, ABA and CRBA");
    bool is_first = true;
    for (size_t i = 0; i < from->formulation_count; i++) {
        if (from->formulations[i].refusal) {
            printf("%s%s\n", is_first ? "\n" : "", from->formulations[i].refusal);
            is_first = false;
        }
    }
    return true;
}

static bool print_one(const evaluation_context *context, const state_batch *batch, const double *unused,
                      const double *also_unused) {
    (void)batch, (void)unused, (void)also_unused;
    print_title(context);
    return print_answer(((const plan *)context->own)->answer);
}

static bool print_many(const evaluation_context *context, const state_batch *batch, size_t number, const double *unused,
                       const double *also_unused) {
    (void)batch, (void)unused, (void)also_unused;
    if (number == 1) {
        print_title(context);
    }
    printf("state %zu\n", number);
    bool printed = print_answer(((const plan *)context->own)->answer);
    fputc('\n', stdout);
    return printed;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

/* Columns of the cost of a result. */
static const char *const cost_names[] = {"difference", "time", "multiplications", "additions", "divisions",
                                         "roots",      "sines"};

/* Writes the names of the columns of a vector of the coordinates, or of a matrix. */
static void write_names(csv_writer *to, const layout *robot, const char *formulation, const char *result, int indices) {
    size_t nv = robot->nv;
    for (size_t i = 0; i < nv; i++) {
        for (size_t k = 0; k < (indices > 1 ? nv : 1); k++) {
            csv_text(to, "%s.%s.%s%s%s", formulation, result, robot->v[i].name, indices > 1 ? "." : "",
                     indices > 1 ? robot->v[k].name : "");
        }
    }
}

static void write_headings(const evaluation_context *context, csv_writer *to) {
    const dyn_client_comparison *from = ((const plan *)context->own)->answer;
    for (size_t i = 0; i < from->formulation_count; i++) {
        const char *name = from->formulations[i].name;
        if (from->formulations[i].refusal) {
            continue;
        }
        for (int k = 0; k < RESULTS; k++) {
            for (size_t c = 0; c < sizeof cost_names / sizeof *cost_names; c++) {
                csv_text(to, "%s.%s.%s", name, result_names[k], cost_names[c]);
            }
        }
        write_names(to, context->robot, name, "tau", 1);
        write_names(to, context->robot, name, "a", 1);
        write_names(to, context->robot, name, "M", 2);
    }
}

/* Writes the cells of a cost, "nan" for the difference and the time of a result that is refused. */
static void write_cells(csv_writer *to, const dyn_client_formulation_cost *cost) {
    const double values[] = {cost->refusal ? NAN : cost->difference,
                             cost->refusal ? NAN : cost->time,
                             (double)cost->multiplications,
                             (double)cost->additions,
                             (double)cost->divisions,
                             (double)cost->roots,
                             (double)cost->sines};
    csv_numbers(to, sizeof values / sizeof *values, values);
}

/* Writes the numbers of a result, "nan" where they are NULL. */
static void write_numbers(csv_writer *to, size_t count, const double *values) {
    static const double none = NAN;
    for (size_t i = 0; i < count; i++) {
        csv_numbers(to, 1, values ? &values[i] : &none);
    }
}

static void write_csv(const evaluation_context *context, csv_writer *to, size_t index, const double *unused,
                      const double *also_unused) {
    (void)index, (void)unused, (void)also_unused;
    const dyn_client_comparison *from = ((const plan *)context->own)->answer;
    for (size_t i = 0; i < from->formulation_count; i++) {
        const dyn_client_compared_formulation *row = &from->formulations[i];
        if (row->refusal) {
            continue;
        }
        for (int k = 0; k < RESULTS; k++) {
            write_cells(to, cost_of(row, k));
        }
        write_numbers(to, from->nv, row->tau);
        write_numbers(to, from->nv, row->a);
        write_numbers(to, from->nv * from->nv, row->M);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void write_number(json_writer *writer, const char *key, double value) {
    emit_key(writer, key);
    emit_double(writer, value);
}

static void write_cost(json_writer *writer, const char *key, const dyn_client_formulation_cost *cost) {
    emit_key(writer, key);
    emit_begin_object(writer);
    emit_key(writer, "is_stated");
    emit_bool(writer, cost->is_stated);
    write_number(writer, "difference", cost->difference);
    write_number(writer, "time", cost->time);
    write_number(writer, "multiplications", (double)cost->multiplications);
    write_number(writer, "additions", (double)cost->additions);
    write_number(writer, "divisions", (double)cost->divisions);
    write_number(writer, "roots", (double)cost->roots);
    write_number(writer, "sines", (double)cost->sines);
    if (cost->refusal) {
        emit_key(writer, "refusal");
        emit_string(writer, cost->refusal);
    }
    emit_end_object(writer);
}

/* Writes a vector, unless it is NULL. */
static void write_vector(json_writer *writer, const char *key, size_t nv, const double *values) {
    if (values) {
        emit_key(writer, key);
        emit_doubles(writer, nv, values);
    }
}

/* Writes the rows of a matrix, unless it is NULL. */
static void write_matrix(json_writer *writer, const char *key, size_t nv, const double *values) {
    if (!values) {
        return;
    }
    emit_key(writer, key);
    emit_begin_array(writer);
    for (size_t i = 0; i < nv; i++) {
        emit_doubles(writer, nv, values + i * nv);
    }
    emit_end_array(writer);
}

static void write_formulation(json_writer *writer, size_t nv, const dyn_client_compared_formulation *from) {
    emit_begin_object(writer);
    emit_key(writer, "name");
    emit_string(writer, from->name);
    emit_key(writer, "source");
    emit_string(writer, from->source);
    if (from->refusal) {
        emit_key(writer, "refusal");
        emit_string(writer, from->refusal);
    } else {
        write_vector(writer, "tau", nv, from->tau);
        write_vector(writer, "a", nv, from->a);
        write_matrix(writer, "M", nv, from->M);
        for (int k = 0; k < RESULTS; k++) {
            write_cost(writer, result_names[k], cost_of(from, k));
        }
    }
    emit_end_object(writer);
}

static void write_json(const evaluation_context *context, size_t index, const double *unused,
                       const double *also_unused) {
    (void)index, (void)unused, (void)also_unused;
    const dyn_client_comparison *from = ((const plan *)context->own)->answer;
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "formulations");
    emit_begin_array(&writer);
    for (size_t i = 0; i < from->formulation_count; i++) {
        write_formulation(&writer, from->nv, &from->formulations[i]);
    }
    emit_end_array(&writer);
    emit_end_object(&writer);
    emit_finish(&writer);
}

exit_code run_compare(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    static const evaluation comparison = {
        .title = "formulations",
        .has_input = {[STATE_Q] = true, [STATE_V] = true, [STATE_A] = true},
        .widths = widths,
        .compute = compute,
        .has_one_state = true,
        .write_json = write_json,
        .write_headings = write_headings,
        .write_csv = write_csv,
        .print_one = print_one,
        .print_many = print_many,
    };
    plan settings = {0};
    exit_code code = run_evaluation(&comparison, &settings, args, client);
    dyn_client_comparison_free(settings.answer);
    return code;
}
