/* SPDX-License-Identifier: BSD-2-Clause */
#include "motor_choices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv_writer.h"
#include "exchange.h"
#include "json_writer.h"
#include "motor_table.h"
#include "table.h"

/* Largest number of choices of a request. */
enum { MOST_CHOICES = 100 };

/* Kinds of limits. */
typedef enum limit_kind { LIMITS_TORQUE, LIMITS_SPEED, LIMITS_VOLTAGE, LIMITS_HEAT, LIMIT_KINDS } limit_kind;

static const char *const kind_names[LIMIT_KINDS] = {"torque", "speed", "voltage", "thermal"};

/* Name and kind of a limit. */
static const struct {
    const char *name;
    limit_kind kind;
} limits[] = {
    [0] = {"unspecified", LIMIT_KINDS},
    [DYN_CLIENT_MOTOR_LIMIT_VOLTAGE] = {"voltage", LIMITS_VOLTAGE},
    [DYN_CLIENT_MOTOR_LIMIT_CURRENT] = {"current", LIMITS_TORQUE},
    [DYN_CLIENT_MOTOR_LIMIT_CONTINUOUS_CURRENT] = {"continuous_current", LIMITS_HEAT},
    [DYN_CLIENT_MOTOR_LIMIT_SPEED] = {"speed", LIMITS_SPEED},
    [DYN_CLIENT_MOTOR_LIMIT_TEMPERATURE] = {"temperature", LIMITS_HEAT},
    [DYN_CLIENT_MOTOR_LIMIT_GEAR_TORQUE] = {"gear_torque", LIMITS_TORQUE},
    [DYN_CLIENT_MOTOR_LIMIT_GEAR_CONTINUOUS_TORQUE] = {"gear_continuous_torque", LIMITS_TORQUE},
    [DYN_CLIENT_MOTOR_LIMIT_GEAR_SPEED] = {"gear_speed", LIMITS_SPEED},
    [DYN_CLIENT_MOTOR_LIMIT_BRAKE] = {"brake", LIMIT_KINDS},
};

enum { LIMITS = sizeof limits / sizeof *limits };

const char *motor_limit_name(dyn_client_motor_limit limit) {
    return (size_t)limit < LIMITS ? limits[limit].name : "unknown";
}

/* Motor of the table in place of one of the model. */
typedef struct candidate {
    const dyn_client_motor_summary *found;
    size_t motor;                /* index of the motor of the model */
    size_t row;                  /* of the table */
    double margins[LIMIT_KINDS]; /* least of each kind; infinite without a limit */
    double least;                /* least of all */
    double losses;               /* heat of the winding and loss of the gear, J */
} candidate;

/* All candidates, and the replies that own them. */
typedef struct comparison {
    motor_table table;
    size_t reply_count, count;
    dyn_client_motors **replies;
    candidate *candidates;
} comparison;

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* Reports why a request failed, with the line of the motor that the error is about. `first` is the row of choice 0. */
static exit_code complain_choice(const motor_table *from, size_t first, dyn_client_error *error) {
    char place[4096];
    size_t row;
    int length = 0;
    if (sscanf(error->field, "evaluate_motors.choices[%zu].%n", &row, &length) != 1 || length == 0 ||
        first + row >= from->count) {
        return complain_call(error, NULL);
    }
    snprintf(place, sizeof place, "%s:%zu", from->path, from->rows[first + row].line);
    memmove(error->field + strlen("evaluate_motors."), error->field + length, strlen(error->field + length) + 1);
    return complain_call(error, place);
}

/* Asks for at most MOST_CHOICES rows of the table. */
static exit_code ask(comparison *c, size_t first, dyn_client *client, const dyn_client_query *query,
                     dyn_client_motors_request request) {
    dyn_client_motor_choice choices[MOST_CHOICES];
    dyn_client_error error;
    size_t count = c->table.count - first < MOST_CHOICES ? c->table.count - first : MOST_CHOICES;
    for (size_t i = 0; i < count; i++) {
        const motor_row *row = &c->table.rows[first + i];
        choices[i] = (dyn_client_motor_choice){.name = row->name,
                                               .joint = row->joint,
                                               .motor = row->has_motor ? &row->motor : NULL,
                                               .gear = row->has_gear ? &row->gear : NULL,
                                               .rotor_inertia = row->rotor_inertia};
    }
    request.choice_count = count, request.choices = choices;
    if (dyn_client_evaluate_motors(client, query, &request, &c->replies[c->reply_count], &error) != DYN_CLIENT_OK) {
        return complain_choice(&c->table, first, &error);
    }
    c->count += c->replies[c->reply_count++]->choice_count;
    return EXIT_OK;
}

static exit_code ask_all(comparison *c, dyn_client *client, const dyn_client_query *query,
                         const dyn_client_motors_request *request) {
    exit_code code = EXIT_OK;
    c->replies = calloc(c->table.count / MOST_CHOICES + 1, sizeof *c->replies);
    if (!c->replies) {
        return complain_memory();
    }
    for (size_t first = 0; first < c->table.count && code == EXIT_OK; first += MOST_CHOICES) {
        code = ask(c, first, client, query, *request);
    }
    return code;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static void rate(const dyn_client_motor_summary *found, candidate *rated) {
    rated->found = found;
    rated->least = INFINITY;
    rated->losses = found->heat_energy + found->gear_loss_energy;
    for (int k = 0; k < LIMIT_KINDS; k++) {
        rated->margins[k] = INFINITY;
    }
    for (size_t i = 0; i < found->margin_count; i++) {
        const dyn_client_motor_margin *m = &found->margins[i];
        limit_kind kind = (size_t)m->limit < LIMITS ? limits[m->limit].kind : LIMIT_KINDS;
        if (kind != LIMIT_KINDS) {
            rated->margins[kind] = fmin(rated->margins[kind], m->margin);
            rated->least = fmin(rated->least, m->margin);
        }
    }
}

static int order_of(double a, double b) {
    return (a > b) - (a < b);
}

/* Orders candidates by motor. Of those that satisfy all limits the one with the least losses is the best, of the others
 * the one that exceeds a limit least. */
static int compare_candidates(const void *first, const void *second) {
    const candidate *a = first, *b = second;
    bool fits_a = a->found->excess_count == 0, fits_b = b->found->excess_count == 0;
    int order = (a->motor > b->motor) - (a->motor < b->motor);
    if (order == 0) {
        order = (int)fits_b - (int)fits_a;
    }
    if (order == 0) {
        order = fits_a ? order_of(a->losses, b->losses) : order_of(b->least, a->least);
    }
    return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

/* Returns the index of the motor that a summary is in place of. */
static size_t motor_of(const dyn_client_motors *reply, const char *name) {
    size_t i = 0;
    while (i < reply->motor_count && strcmp(reply->motors[i].name, name) != 0) {
        i++;
    }
    return i;
}

static exit_code order_all(comparison *c) {
    size_t count = 0;
    c->candidates = calloc(c->count + 1, sizeof *c->candidates);
    if (!c->candidates) {
        return complain_memory();
    }
    for (size_t r = 0; r < c->reply_count; r++) {
        for (size_t i = 0; i < c->replies[r]->choice_count; i++, count++) {
            const dyn_client_motor_summary *found = &c->replies[r]->choices[i];
            rate(found, &c->candidates[count]);
            c->candidates[count].motor = motor_of(c->replies[r], found->name);
            c->candidates[count].row = count;
        }
    }
    qsort(c->candidates, c->count, sizeof *c->candidates, compare_candidates);
    return EXIT_OK;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

enum { VALUES = 6 };

static const char *const value_names[VALUES] = {"ratio",  "rms_current",   "peak_temperature",
                                                "losses", "inertia_ratio", "matched_ratio"};

/* Writes what decides between the candidates beside their margins. */
static void list_values(const candidate *of, double values[VALUES]) {
    const dyn_client_motor_summary *m = of->found;
    const double all[VALUES] = {m->ratio,
                                m->rms_current,
                                m->peak_temperature,
                                of->losses,
                                m->load_inertia > 0 ? m->reflected_inertia / m->load_inertia : 0,
                                m->matched_ratio};
    memcpy(values, all, sizeof all);
}

static void add_margin(table *lines, double margin) {
    if (isfinite(margin)) {
        table_add_cell(lines, "%.1f %%", 100 * margin);
    } else {
        table_add_cell(lines, "-");
    }
}

static bool print_candidates(const comparison *c) {
    static const char *const headings[VALUES] = {"ratio", "rms A", "deg C", "losses J", "rotor / load", "matched"};
    table *lines = table_create();
    table_add_column(lines, "joint", TABLE_NAME);
    table_add_column(lines, "choice", TABLE_NAME);
    for (int k = 0; k < LIMIT_KINDS; k++) {
        table_add_column(lines, kind_names[k], TABLE_RIGHT);
    }
    for (int k = 0; k < VALUES; k++) {
        table_add_column(lines, headings[k], TABLE_RIGHT);
    }
    table_add_column(lines, "", TABLE_LEFT);
    for (size_t i = 0; i < c->count; i++) {
        const candidate *each = &c->candidates[i];
        double values[VALUES];
        list_values(each, values);
        table_add_cell(lines, "%s", each->found->joint);
        table_add_cell(lines, "%s", each->found->choice);
        for (int k = 0; k < LIMIT_KINDS; k++) {
            add_margin(lines, each->margins[k]);
        }
        for (int k = 0; k < VALUES; k++) {
            table_add_cell(lines, "%.4g", values[k]);
        }
        bool exceeds = each->found->excess_count > 0;
        table_add_cell(lines, "%s%s", exceeds ? "exceeds its " : "",
                       exceeds ? motor_limit_name(each->found->excesses[0].limit) : "");
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

/* Prints the best candidate of each motor. */
static void print_best(const comparison *c) {
    for (size_t i = 0; i < c->count; i++) {
        const candidate *each = &c->candidates[i];
        bool is_first = i == 0 || c->candidates[i - 1].motor != each->motor;
        if (is_first && each->found->excess_count == 0) {
            printf("%s can do this motion with %s, its best choice.\n", each->found->joint, each->found->choice);
        } else if (is_first) {
            printf("%s cannot do this motion with any of its choices.\n", each->found->joint);
        }
    }
}

static void write_csv(const comparison *c) {
    csv_writer writer = {0};
    csv_text(&writer, "joint");
    csv_text(&writer, "choice");
    csv_text(&writer, "is_feasible");
    for (int k = 0; k < LIMIT_KINDS; k++) {
        csv_text(&writer, "%s_margin", kind_names[k]);
    }
    for (int k = 0; k < VALUES; k++) {
        csv_text(&writer, "%s", value_names[k]);
    }
    csv_end_line(&writer);
    for (size_t i = 0; i < c->count; i++) {
        const candidate *each = &c->candidates[i];
        double values[VALUES];
        list_values(each, values);
        csv_text(&writer, "%s", each->found->joint);
        csv_text(&writer, "%s", each->found->choice);
        csv_text(&writer, "%d", each->found->excess_count == 0);
        csv_numbers(&writer, LIMIT_KINDS, each->margins);
        csv_numbers(&writer, VALUES, values);
        csv_end_line(&writer);
    }
}

static void emit_candidate(json_writer *writer, const candidate *each) {
    double values[VALUES];
    list_values(each, values);
    emit_begin_object(writer);
    emit_key(writer, "motor");
    emit_string(writer, each->found->name);
    emit_key(writer, "joint");
    emit_string(writer, each->found->joint);
    emit_key(writer, "choice");
    emit_string(writer, each->found->choice);
    emit_key(writer, "is_feasible");
    emit_bool(writer, each->found->excess_count == 0);
    for (int k = 0; k < VALUES; k++) {
        emit_key(writer, value_names[k]);
        emit_double(writer, values[k]);
    }
    emit_key(writer, "margins");
    emit_begin_object(writer);
    for (size_t i = 0; i < each->found->margin_count; i++) {
        emit_key(writer, motor_limit_name(each->found->margins[i].limit));
        emit_double(writer, each->found->margins[i].margin);
    }
    emit_end_object(writer);
    emit_end_object(writer);
}

static void write_json(const comparison *c) {
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "choices");
    emit_begin_array(&writer);
    for (size_t i = 0; i < c->count; i++) {
        emit_candidate(&writer, &c->candidates[i]);
    }
    emit_end_array(&writer);
    emit_end_object(&writer);
    emit_finish(&writer);
}

static exit_code print(const comparison *c, const arguments *args) {
    if (args->value[OPTION_JSON]) {
        write_json(c);
    } else if (args->value[OPTION_CSV]) {
        write_csv(c);
    } else if (print_candidates(c)) {
        printf("\n");
        print_best(c);
    } else {
        return complain_memory();
    }
    return EXIT_OK;
}

exit_code choose_motors(const arguments *args, dyn_client *client, const dyn_client_query *query,
                        const dyn_client_motors_request *request, const char *path) {
    comparison c = {0};
    exit_code code = motor_table_read(path, &c.table);
    if (code == EXIT_OK) {
        code = ask_all(&c, client, query, request);
    }
    if (code == EXIT_OK) {
        code = order_all(&c);
    }
    if (code == EXIT_OK) {
        code = print(&c, args);
    }
    for (size_t r = 0; r < c.reply_count; r++) {
        dyn_client_motors_free(c.replies[r]);
    }
    free(c.replies);
    free(c.candidates);
    motor_table_free(&c.table);
    return code;
}
