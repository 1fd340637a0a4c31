/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command motor: evaluates the load that a motion places on the motors of a model.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "csv_writer.h"
#include "exchange.h"
#include "json_writer.h"
#include "motion_file.h"
#include "motor_choices.h"
#include "numbers.h"
#include "robot_query.h"
#include "table.h"

static const double ROOM_TEMPERATURE = 25;

/* One run of the command, and what it owns. */
typedef struct motor_run {
    const arguments *args;
    robot_query asked;
    motion_file motion;
    dyn_client_trajectory *rates; /* NULL where the file has them */
    dyn_client_motors_request request;
    double *ratios;
} motor_run;

/* ---- request ----------------------------------------------------------------------------------------------------- */

/* Derives the rates of a file that lacks them. Reports errors. */
static exit_code derive_rates(motor_run *run, dyn_client *client) {
    dyn_client_error error;
    dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = run->asked.query.model, .samples = run->asked.query.samples,
                              .nq = run->asked.query.nq, .nv = run->asked.query.nv,
                              .joint_count = run->asked.query.joint_count, .joint_names = run->asked.query.joint_names);
    if (dyn_client_derive_rates(client, &query, run->motion.time, run->motion.q, DYN_CLIENT_RATES_QUINTIC_SPLINE,
                                &run->rates, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, run->args->positional[1]);
    }
    run->request.v = run->rates->v;
    run->request.a = run->rates->a;
    return EXIT_OK;
}

static exit_code read_temperature(motor_run *run) {
    const char *text = run->args->value[OPTION_AMBIENT];
    double temperature = ROOM_TEMPERATURE;
    if (text && !parse_number(text, &temperature)) {
        return complain(EXIT_USAGE, "--ambient %s: pass a temperature in degrees Celsius", text);
    }
    run->request.ambient_temperature = run->request.start_temperature = temperature;
    return EXIT_OK;
}

/* Reads --ratios: numbers separated by commas. Reports errors. */
static exit_code read_ratios(motor_run *run) {
    const char *text = run->args->value[OPTION_RATIOS];
    char message[256];
    size_t count = text ? 1 : 0;
    for (const char *at = text; at && *at != '\0'; at++) {
        count += *at == ',';
    }
    run->ratios = calloc(count + 1, sizeof *run->ratios);
    if (!run->ratios) {
        return complain_memory();
    }
    if (text && !parse_numbers(text, count, run->ratios, message, sizeof message)) {
        return complain(EXIT_USAGE, "--ratios %s: %s", text, message);
    }
    run->request.ratio_count = count;
    run->request.ratios = run->ratios;
    return EXIT_OK;
}

/* Describes the model, reads the options and the file, and fills the query and the request. Reports errors. */
static exit_code prepare(motor_run *run, dyn_client *client) {
    const arguments *args = run->args;
    exit_code code = robot_query_open(args, client, &run->asked);
    if (code == EXIT_OK) {
        code = read_temperature(run);
    }
    if (code == EXIT_OK) {
        code = read_ratios(run);
    }
    if (code == EXIT_OK) {
        code = motion_file_read(args->positional[1], &run->asked.robot, false, &run->motion);
    }
    if (code != EXIT_OK) {
        return code;
    }
    const motion_file *m = &run->motion;
    dyn_client_motors_request *r = &run->request;
    r->time = m->time, r->q = m->q, r->v = m->v, r->a = m->a, r->tau = m->tau;
    r->brake_count = run->asked.options.brake_count, r->brakes = run->asked.options.brakes;
    run->asked.query.samples = m->count;
    return r->v ? EXIT_OK : derive_rates(run, client);
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static const char *limit_unit(dyn_client_motor_limit limit) {
    static const char *const units[] = {"",         "V",        "A",     "A",  "rad/s", "degrees Celsius",
                                        "N m or N", "N m or N", "rad/s", "N m"};
    return (size_t)limit < sizeof units / sizeof *units ? units[limit] : "";
}

/* Adds the cells of numbers. Those from `first_optional` on are zero, or not a number, where the model does not
 * determine them. */
static void add_numbers(table *lines, size_t count, const double *values, size_t first_optional) {
    for (size_t k = 0; k < count; k++) {
        if (k >= first_optional && (values[k] == 0 || isnan(values[k]))) {
            table_add_cell(lines, "-");
        } else {
            table_add_cell(lines, "%.4g", values[k]);
        }
    }
}

static bool print_loads(const dyn_client_motors *found) {
    static const char *const headings[] = {"ratio",  "peak N m", "rms N m", "peak A", "rms A",
                                           "peak V", "rad/s",    "peak W",  "deg C"};
    table *lines = table_create();
    table_add_column(lines, "motor", TABLE_NAME);
    table_add_column(lines, "joint", TABLE_NAME);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        table_add_column(lines, headings[i], TABLE_RIGHT);
    }
    for (size_t i = 0; i < found->motor_count; i++) {
        const dyn_client_motor_summary *m = &found->motors[i];
        const double values[] = {m->ratio,        m->peak_torque, m->rms_torque, m->peak_current,    m->rms_current,
                                 m->peak_voltage, m->peak_speed,  m->peak_power, m->peak_temperature};
        table_add_cell(lines, "%s", m->name);
        table_add_cell(lines, "%s", m->joint);
        add_numbers(lines, sizeof values / sizeof *values, values, sizeof values / sizeof *values);
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

/* Prints what the motors take with other ratios, to choose a gear. */
static bool print_alternatives(const dyn_client_motors *found) {
    static const char *const headings[] = {"ratio",  "peak N m", "rms N m", "peak A",      "rms A",
                                           "peak V", "rad/s",    "heat J",  "rotor / load"};
    table *lines = table_create();
    table_add_column(lines, "motor", TABLE_NAME);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        table_add_column(lines, headings[i], TABLE_RIGHT);
    }
    table_add_column(lines, "", TABLE_LEFT);
    for (size_t i = 0; i < found->alternative_count; i++) {
        const dyn_client_motor_summary *m = &found->alternatives[i];
        const double values[] = {m->ratio,        m->peak_torque, m->rms_torque,
                                 m->peak_current, m->rms_current, m->peak_voltage,
                                 m->peak_speed,   m->heat_energy, m->reflected_inertia / m->load_inertia};
        table_add_cell(lines, "%s", m->name);
        add_numbers(lines, sizeof values / sizeof *values, values, 8);
        table_add_cell(lines, "%s%s", m->excess_count > 0 ? "exceeds its " : "",
                       m->excess_count > 0 ? motor_limit_name(m->excesses[0].limit) : "");
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

static bool print_energies(const dyn_client_motors *found) {
    static const char *const headings[] = {"supply J",  "heat J",       "gear loss J",   "no-load rad/s",
                                           "stall N m", "load inertia", "rotor inertia", "matched ratio"};
    table *lines = table_create();
    table_add_column(lines, "motor", TABLE_NAME);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        table_add_column(lines, headings[i], TABLE_RIGHT);
    }
    for (size_t i = 0; i < found->motor_count; i++) {
        const dyn_client_motor_summary *m = &found->motors[i];
        const double values[] = {m->electrical_energy, m->heat_energy,  m->gear_loss_energy,  m->no_load_speed,
                                 m->stall_torque,      m->load_inertia, m->reflected_inertia, m->matched_ratio};
        table_add_cell(lines, "%s", m->name);
        add_numbers(lines, sizeof values / sizeof *values, values, 3);
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

/* Prints the limits that the motion exceeds: which motor, by how much, and when. */
static void print_excesses(const motor_run *run, const dyn_client_motors *found) {
    for (size_t i = 0; i < found->motor_count; i++) {
        const dyn_client_motor_summary *m = &found->motors[i];
        for (size_t k = 0; k < m->excess_count; k++) {
            const dyn_client_motor_excess *e = &m->excesses[k];
            printf("%s at joint %s exceeds its %s: %.4g of %.4g %s, first at %.4g s, most at %.4g s, in %zu samples\n",
                   m->name, m->joint, motor_limit_name(e->limit), e->worst, e->bound, limit_unit(e->limit),
                   run->motion.time[e->first_sample], run->motion.time[e->worst_sample], e->samples);
        }
    }
    printf(found->is_feasible ? "The motors can do this motion.\n" : "The motors cannot do this motion.\n");
}

static bool print_tables(const motor_run *run, const dyn_client_motors *found) {
    printf("Motors of %s in a motion of %zu samples, %.6g s\n\n", run->asked.query.model, found->samples,
           run->motion.time[found->samples - 1] - run->motion.time[0]);
    bool printed = print_loads(found);
    printf("\n");
    printed = printed && print_energies(found);
    printf("\n");
    if (found->alternative_count > 0) {
        printed = printed && print_alternatives(found);
        printf("\n");
    }
    print_excesses(run, found);
    return printed;
}

/* Arrays of the result, with their names. */
typedef struct motor_array {
    const char *name;
    const double *values;
} motor_array;

enum { MOTOR_ARRAYS = 12 };

static void list_arrays(const dyn_client_motors *found, motor_array arrays[MOTOR_ARRAYS]) {
    const motor_array all[MOTOR_ARRAYS] = {{"load", found->load},
                                           {"speed", found->speed},
                                           {"torque", found->torque},
                                           {"current", found->current},
                                           {"voltage", found->voltage},
                                           {"electrical_power", found->electrical_power},
                                           {"mechanical_power", found->mechanical_power},
                                           {"heat", found->heat},
                                           {"gear_loss", found->gear_loss},
                                           {"torque_margin", found->torque_margin},
                                           {"speed_margin", found->speed_margin},
                                           {"temperature", found->temperature}};
    memcpy(arrays, all, sizeof all);
}

static void write_csv(const motor_run *run, const dyn_client_motors *found) {
    csv_writer writer = {0};
    motor_array arrays[MOTOR_ARRAYS];
    list_arrays(found, arrays);
    csv_text(&writer, "time");
    for (size_t k = 0; k <= MOTOR_ARRAYS; k++) {
        for (size_t i = 0; i < found->motor_count; i++) {
            csv_text(&writer, "%s.%s", k < MOTOR_ARRAYS ? arrays[k].name : "quadrant", found->motors[i].name);
        }
    }
    csv_end_line(&writer);
    for (size_t s = 0; s < found->samples; s++) {
        csv_numbers(&writer, 1, &run->motion.time[s]);
        for (size_t k = 0; k < MOTOR_ARRAYS; k++) {
            csv_numbers(&writer, found->motor_count, arrays[k].values + s * found->motor_count);
        }
        for (size_t i = 0; i < found->motor_count; i++) {
            csv_text(&writer, "%" PRIu64, found->quadrant[s * found->motor_count + i]);
        }
        csv_end_line(&writer);
    }
}

static void emit_number(json_writer *writer, const char *key, double value) {
    emit_key(writer, key);
    emit_double(writer, value);
}

static void emit_excess(json_writer *writer, const dyn_client_motor_excess *e) {
    emit_begin_object(writer);
    emit_key(writer, "limit");
    emit_string(writer, motor_limit_name(e->limit));
    emit_number(writer, "bound", e->bound);
    emit_number(writer, "worst", e->worst);
    emit_key(writer, "first_sample");
    emit_unsigned(writer, e->first_sample);
    emit_key(writer, "worst_sample");
    emit_unsigned(writer, e->worst_sample);
    emit_key(writer, "samples");
    emit_unsigned(writer, e->samples);
    emit_end_object(writer);
}

static void emit_summary(json_writer *writer, const dyn_client_motor_summary *m) {
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"ratio", m->ratio},
                   {"no_load_speed", m->no_load_speed},
                   {"stall_torque", m->stall_torque},
                   {"peak_load", m->peak_load},
                   {"rms_load", m->rms_load},
                   {"peak_torque", m->peak_torque},
                   {"rms_torque", m->rms_torque},
                   {"peak_current", m->peak_current},
                   {"rms_current", m->rms_current},
                   {"peak_voltage", m->peak_voltage},
                   {"peak_speed", m->peak_speed},
                   {"peak_power", m->peak_power},
                   {"peak_temperature", m->peak_temperature},
                   {"electrical_energy", m->electrical_energy},
                   {"heat_energy", m->heat_energy},
                   {"gear_loss_energy", m->gear_loss_energy},
                   {"load_inertia", m->load_inertia},
                   {"reflected_inertia", m->reflected_inertia},
                   {"matched_ratio", m->matched_ratio}};
    emit_begin_object(writer);
    emit_key(writer, "name");
    emit_string(writer, m->name);
    emit_key(writer, "joint");
    emit_string(writer, m->joint);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        emit_number(writer, numbers[i].name, numbers[i].value);
    }
    emit_key(writer, "excesses");
    emit_begin_array(writer);
    for (size_t i = 0; i < m->excess_count; i++) {
        emit_excess(writer, &m->excesses[i]);
    }
    emit_end_array(writer);
    emit_end_object(writer);
}

static void write_json(const dyn_client_motors *found) {
    json_writer writer = {.stream = stdout};
    motor_array arrays[MOTOR_ARRAYS];
    list_arrays(found, arrays);
    emit_begin_object(&writer);
    emit_key(&writer, "motors");
    emit_begin_array(&writer);
    for (size_t i = 0; i < found->motor_count; i++) {
        emit_summary(&writer, &found->motors[i]);
    }
    emit_end_array(&writer);
    emit_key(&writer, "alternatives");
    emit_begin_array(&writer);
    for (size_t i = 0; i < found->alternative_count; i++) {
        emit_summary(&writer, &found->alternatives[i]);
    }
    emit_end_array(&writer);
    emit_key(&writer, "is_feasible");
    emit_bool(&writer, found->is_feasible);
    for (size_t k = 0; k < MOTOR_ARRAYS; k++) {
        emit_key(&writer, arrays[k].name);
        emit_matrix(&writer, found->samples, found->motor_count, arrays[k].values);
    }
    if (found->brake_torque) {
        emit_key(&writer, "brake_torque");
        emit_matrix(&writer, found->samples, found->motor_count, found->brake_torque);
    }
    emit_end_object(&writer);
    emit_finish(&writer);
}

exit_code run_motor(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    motor_run run = {.args = args, .request = DYN_CLIENT_MOTORS_REQUEST_INIT()};
    dyn_client_motors *found = NULL;
    dyn_client_error error;
    exit_code code = prepare(&run, client);
    const char *choices = args->value[OPTION_CHOOSE];
    if (code == EXIT_OK && choices) {
        code = choose_motors(args, client, &run.asked.query, &run.request, choices);
    } else if (code == EXIT_OK &&
               dyn_client_evaluate_motors(client, &run.asked.query, &run.request, &found, &error) != DYN_CLIENT_OK) {
        code = complain_call(&error, args->positional[1]);
    }
    if (found && args->value[OPTION_JSON]) {
        write_json(found);
    } else if (found && args->value[OPTION_CSV]) {
        write_csv(&run, found);
    } else if (found && !print_tables(&run, found)) {
        code = complain_memory();
    }
    dyn_client_motors_free(found);
    dyn_client_trajectory_free(run.rates);
    free(run.ratios);
    motion_file_free(&run.motion);
    robot_query_close(&run.asked);
    return code;
}
