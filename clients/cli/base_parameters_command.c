/*
 * base-parameters: what motion and torques tell of a robot's inertial parameters.
 */
#include <stdio.h>

#include "command.h"
#include "exchange.h"
#include "message_json.h"
#include "numbers.h"
#include "table.h"

enum { TERMS_SIZE = 256, NAME_SIZE = 64 };

/* "Izz(forearm_link)", as far as it fits. */
static int name_parameter(const Dynamics__V1__BaseParametersReply *reply, uint32_t column, size_t size, char *name) {
    size_t body = column / reply->n_parameters, parameter = column % reply->n_parameters;
    return snprintf(name, size, "%s(%s)", reply->parameters[parameter], reply->bodies[body]);
}

/* "+ 0.5 m(b) - Iyy(c)": all but the parameter itself; ".." where there is no room for more. */
static void write_terms(const Dynamics__V1__BaseParametersReply *reply, const Dynamics__V1__BaseParameter *row,
                        char text[TERMS_SIZE]) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < row->n_columns; i++) {
        char term[NAME_SIZE * 2], name[NAME_SIZE], factor[32] = "";
        double size = row->factors[i] < 0 ? -row->factors[i] : row->factors[i];
        if (row->columns[i] == row->column)
            continue;
        if (size < 1 - 1e-9 || size > 1 + 1e-9)
            snprintf(factor, sizeof factor, "%.6g ", size);
        name_parameter(reply, row->columns[i], sizeof name, name);
        int length = snprintf(term, sizeof term, "%s%s %s%s", used > 0 ? " " : "", row->factors[i] < 0 ? "-" : "+",
                              factor, name);
        if (used + (size_t)length + sizeof " .." > TERMS_SIZE) {
            snprintf(text + used, TERMS_SIZE - used, " ..");
            return;
        }
        used += (size_t)snprintf(text + used, TERMS_SIZE - used, "%s", term);
    }
}

static bool print_parameters(const char *model, const Dynamics__V1__BaseParametersReply *reply) {
    table *lines = table_create();
    table_add_column(lines, "parameter", TABLE_LEFT);
    table_add_column(lines, "value", TABLE_RIGHT);
    table_add_column(lines, "", TABLE_UNIT);
    table_add_column(lines, "with", TABLE_LEFT);
    for (size_t i = 0; i < reply->n_base_parameters; i++) {
        const Dynamics__V1__BaseParameter *row = reply->base_parameters[i];
        char name[NAME_SIZE], terms[TERMS_SIZE];
        name_parameter(reply, row->column, sizeof name, name);
        write_terms(reply, row, terms);
        table_add_cell(lines, "%s", name);
        table_add_number(lines, row->value);
        table_add_cell(lines, "%s", row->unit);
        table_add_cell(lines, "%s", terms);
    }
    printf("%zu base parameters of %s, of %zu inertial parameters\n\n", reply->n_base_parameters, model,
           reply->n_values);
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

/* The daemon's answer has all columns that it names, or it is none. */
static bool is_complete(const Dynamics__V1__BaseParametersReply *reply) {
    bool fits = reply->n_parameters > 0 && reply->n_values == reply->n_bodies * reply->n_parameters;
    for (size_t i = 0; fits && i < reply->n_base_parameters; i++) {
        const Dynamics__V1__BaseParameter *row = reply->base_parameters[i];
        fits = row->column < reply->n_values && row->n_columns == row->n_factors;
        for (size_t k = 0; fits && k < row->n_columns; k++)
            fits = row->columns[k] < reply->n_values;
    }
    return fits;
}

static exit_code read_gravity(const arguments *given, Dynamics__V1__Vector3 *gravity,
                              Dynamics__V1__BaseParametersRequest *asked) {
    const char *text = given->value[OPTION_GRAVITY];
    double values[3];
    char message[256];
    if (text == NULL)
        return EXIT_OK;
    if (!parse_numbers(text, 3, values, message, sizeof message))
        return complain(EXIT_USAGE, "--gravity %s: %s: give X,Y,Z in m/s^2", text, message);
    *gravity = (Dynamics__V1__Vector3)DYNAMICS__V1__VECTOR3__INIT;
    gravity->x = values[0];
    gravity->y = values[1];
    gravity->z = values[2];
    asked->gravity = gravity;
    return EXIT_OK;
}

exit_code run_base_parameters(const command *self, const arguments *given, dyn_client *client) {
    (void)self;
    Dynamics__V1__BaseParametersRequest asked = DYNAMICS__V1__BASE_PARAMETERS_REQUEST__INIT;
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__Vector3 gravity;
    Dynamics__V1__Reply *reply;
    double timeout;
    exit_code code = arguments_timeout(given, &timeout);
    if (code == EXIT_OK)
        code = read_gravity(given, &gravity, &asked);
    if (code != EXIT_OK)
        return code;
    asked.model = (char *)given->positional[0];
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_BASE_PARAMETERS;
    request.base_parameters = &asked;
    code = exchange(client, &request, timeout, NULL, &reply);
    if (code != EXIT_OK)
        return code;
    if (given->value[OPTION_JSON] != NULL) {
        json_writer writer = {.stream = stdout, .pretty = true};
        message_to_json(&writer, MESSAGE_PLAIN, &reply->base_parameters->base);
        emit_finish(&writer);
    } else if (!is_complete(reply->base_parameters)) {
        code = complain(EXIT_FAILED, "the reply lacks numbers");
    } else if (!print_parameters(given->positional[0], reply->base_parameters)) {
        code = complain_memory();
    }
    dynamics__v1__reply__free_unpacked(reply, NULL);
    return code;
}
