/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command base-parameters: prints the inertial parameters that motion and torques determine.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "csv_writer.h"
#include "exchange.h"
#include "query_options.h"
#include "message_json.h"
#include "table.h"

enum { NAME_SIZE = 320, LINE_WIDTH = 72 };

/* Terms of one base parameter, in lines of limited length. */
typedef struct combination {
    const Dynamics__V1__FindBaseParametersReply *reply;
    table *lines;
    size_t cells;  /* empty cells at the left of a further line */
    bool is_first; /* true for the first line of the row */
    char text[LINE_WIDTH + NAME_SIZE];
} combination;

/* Writes the name of a parameter, such as "forearm_link.Izz". */
static void name_parameter(const Dynamics__V1__FindBaseParametersReply *reply, uint32_t column, char name[NAME_SIZE]) {
    size_t body = column / reply->n_parameters, parameter = column % reply->n_parameters;
    snprintf(name, NAME_SIZE, "%.240s.%.24s", reply->bodies[body], reply->parameters[parameter]);
}

/* Appends the current line to the table. Lines after the first have empty cells at their left. */
static void end_line(combination *c) {
    for (size_t i = 0; !c->is_first && i < c->cells; i++) {
        table_add_cell(c->lines, "%s", "");
    }
    table_add_cell(c->lines, "%s", c->text);
    c->is_first = false;
    c->text[0] = '\0';
}

/* Appends a term such as "+ 0.5 forearm_link.m" to the current line, or to a new one if the line is too long. */
static void add_term(combination *c, uint32_t column, double factor) {
    char term[NAME_SIZE + 48], name[NAME_SIZE], number[32] = "";
    double size = fabs(factor);
    if (size < 1 - 1e-9 || size > 1 + 1e-9) {
        snprintf(number, sizeof number, "%.6g ", size);
    }
    name_parameter(c->reply, column, name);
    snprintf(term, sizeof term, "%s %s%s", factor < 0 ? "-" : "+", number, name);
    if (c->text[0] != '\0' && strlen(c->text) + 1 + strlen(term) > LINE_WIDTH) {
        end_line(c);
    }
    size_t used = strlen(c->text);
    snprintf(c->text + used, sizeof c->text - used, "%s%s", used > 0 ? " " : "", term);
}

/* Adds the row of one base parameter: its column of the regressor, its name, value and unit, and the terms that are
 * regrouped to it. */
static void add_row(table *lines, const Dynamics__V1__FindBaseParametersReply *reply,
                    const Dynamics__V1__BaseParameter *row) {
    combination c = {.reply = reply, .lines = lines, .cells = 4, .is_first = true};
    char name[NAME_SIZE];
    name_parameter(reply, row->column, name);
    table_add_cell(lines, "%u", row->column);
    table_add_cell(lines, "%s", name);
    table_add_number(lines, row->value);
    table_add_cell(lines, "%s", row->unit);
    for (size_t i = 0; i < row->n_columns; i++) {
        if (row->columns[i] != row->column) {
            add_term(&c, row->columns[i], row->factors[i]);
        }
    }
    end_line(&c);
}

static bool print_parameters(const char *model, const Dynamics__V1__FindBaseParametersReply *reply) {
    table *lines = table_create();
    table_add_column(lines, "column", TABLE_RIGHT);
    table_add_column(lines, "parameter", TABLE_NAME);
    table_add_column(lines, "value", TABLE_RIGHT);
    table_add_column(lines, "", TABLE_UNIT);
    table_add_column(lines, "with", TABLE_LEFT);
    for (size_t i = 0; i < reply->n_base_parameters; i++) {
        add_row(lines, reply, reply->base_parameters[i]);
    }
    printf("%zu base parameters of %s, of %zu inertial parameters\n\n", reply->n_base_parameters, model,
           reply->n_values);
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

/* Writes a line of CSV for each term of each base parameter. A base parameter is the sum of factor times parameter. */
static void write_csv(const Dynamics__V1__FindBaseParametersReply *reply) {
    static const char *const headings[] = {"column", "base_parameter", "value", "unit", "factor", "parameter"};
    csv_writer writer = {0};
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        csv_text(&writer, "%s", headings[i]);
    }
    csv_end_line(&writer);
    for (size_t i = 0; i < reply->n_base_parameters; i++) {
        const Dynamics__V1__BaseParameter *row = reply->base_parameters[i];
        char base[NAME_SIZE], name[NAME_SIZE];
        name_parameter(reply, row->column, base);
        for (size_t k = 0; k < row->n_columns; k++) {
            name_parameter(reply, row->columns[k], name);
            csv_text(&writer, "%u", row->column);
            csv_text(&writer, "%s", base);
            csv_numbers(&writer, 1, &row->value);
            csv_text(&writer, "%s", row->unit);
            csv_numbers(&writer, 1, &row->factors[k]);
            csv_text(&writer, "%s", name);
            csv_end_line(&writer);
        }
    }
}

/* Returns true if the lengths of the reply's arrays agree and each column is the index of a parameter. */
static bool is_complete(const Dynamics__V1__FindBaseParametersReply *reply) {
    bool fits = reply->n_parameters > 0 && reply->n_values == reply->n_bodies * reply->n_parameters;
    for (size_t i = 0; fits && i < reply->n_base_parameters; i++) {
        const Dynamics__V1__BaseParameter *row = reply->base_parameters[i];
        fits = row->column < reply->n_values && row->n_columns == row->n_factors;
        for (size_t k = 0; fits && k < row->n_columns; k++) {
            fits = row->columns[k] < reply->n_values;
        }
    }
    return fits;
}

static exit_code read_gravity(const arguments *args, Dynamics__V1__Vector3 *gravity, Dynamics__V1__Query *query) {
    const double *wanted;
    double values[3];
    exit_code code = gravity_option_read(args, values, &wanted);
    if (code != EXIT_OK || !wanted) {
        return code;
    }
    *gravity = (Dynamics__V1__Vector3)DYNAMICS__V1__VECTOR3__INIT;
    gravity->x = values[0];
    gravity->y = values[1];
    gravity->z = values[2];
    query->gravity = gravity;
    return EXIT_OK;
}

exit_code run_base_parameters(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    Dynamics__V1__FindBaseParametersRequest body = DYNAMICS__V1__FIND_BASE_PARAMETERS_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__Vector3 gravity;
    Dynamics__V1__Reply *reply;
    double timeout;
    exit_code code = long_timeout(args, client, &timeout);
    if (code == EXIT_OK) {
        code = read_gravity(args, &gravity, &query);
    }
    if (code != EXIT_OK) {
        return code;
    }
    query.model = (char *)args->positional[0];
    body.query = &query;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_FIND_BASE_PARAMETERS;
    request.find_base_parameters = &body;
    code = exchange(client, &request, timeout, NULL, &reply);
    if (code != EXIT_OK) {
        return code;
    }
    if (args->value[OPTION_JSON]) {
        json_writer writer = {.stream = stdout};
        message_to_json(&writer, MESSAGE_PLAIN, &reply->find_base_parameters->base);
        emit_finish(&writer);
    } else if (!is_complete(reply->find_base_parameters)) {
        code = complain(EXIT_FAILED, "the reply lacks numbers");
    } else if (args->value[OPTION_CSV]) {
        write_csv(reply->find_base_parameters);
    } else if (!print_parameters(args->positional[0], reply->find_base_parameters)) {
        code = complain_memory();
    }
    dynamics__v1__reply__free_unpacked(reply, NULL);
    return code;
}
