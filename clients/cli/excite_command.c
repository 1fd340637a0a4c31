/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command excite: searches a motion from which parameters can be identified well.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "csv_writer.h"
#include "exchange.h"
#include "json_writer.h"
#include "numbers.h"
#include "parameter_options.h"
#include "robot_query.h"
#include "table.h"

/* One run of the command, and what it owns. */
typedef struct excite_run {
    const arguments *args;
    robot_query asked;
    parameter_options sought;
    dyn_client_excite_request request;
} excite_run;

/* ---- request ----------------------------------------------------------------------------------------------------- */

/* Reads a count; absent: 0. Reports errors. */
static exit_code read_count(const arguments *args, option wanted, uint64_t *count) {
    const char *text = args->value[wanted];
    double value = 0;
    if (text && !(parse_number(text, &value) && value >= 0 && value <= 9e15 && value == (double)(uint64_t)value)) {
        return complain(EXIT_USAGE, "--%s %s: pass an integer that is not negative", OPTION_TEXTS[wanted].name, text);
    }
    *count = (uint64_t)value;
    return EXIT_OK;
}

static exit_code read_options(excite_run *run) {
    static const char *const criteria[] = {"condition", "determinant"};
    const arguments *args = run->args;
    dyn_client_excite_request *r = &run->request;
    size_t criterion = 0;
    uint64_t harmonics = 0, trials = 0;
    exit_code code = arguments_choice(args, OPTION_CRITERION, 2, criteria, 0, &criterion);
    if (code == EXIT_OK) {
        code = read_count(args, OPTION_HARMONICS, &harmonics);
    }
    if (code == EXIT_OK) {
        code = read_count(args, OPTION_TRIALS, &trials);
    }
    if (code == EXIT_OK) {
        code = read_count(args, OPTION_SEED, &r->seed);
    }
    if (code == EXIT_OK) {
        code = number_option_read(args, OPTION_PERIOD, 0, &r->period);
    }
    if (code == EXIT_OK) {
        code = number_option_read(args, OPTION_RATE, 0, &r->rate);
    }
    if (code == EXIT_OK) {
        code = number_option_read(args, OPTION_MARGIN, r->margin, &r->margin);
    }
    r->criterion = (dyn_client_excitation_criterion)criterion;
    r->harmonics = (size_t)harmonics, r->trials = (size_t)trials;
    return code;
}

/* Describes the model and fills the query and the request. Reports errors. */
static exit_code prepare(excite_run *run, dyn_client *client) {
    const arguments *args = run->args;
    exit_code code = robot_query_open(args, client, &run->asked);
    if (code == EXIT_OK) {
        code = parameter_options_read(args, &run->sought);
    }
    if (code == EXIT_OK) {
        code = read_options(run);
    }
    if (code != EXIT_OK) {
        return code;
    }
    dyn_client_excite_request *r = &run->request;
    r->drive_term_count = run->sought.term_count, r->drive_terms = run->sought.terms;
    r->ignore_drives = run->sought.ignore_drives, r->drives_only = run->sought.drives_only;
    r->link_count = run->sought.link_count, r->links = run->sought.links;
    r->payload_link = run->sought.payload_link;
    r->stribeck_velocity = run->sought.stribeck_velocity;
    return robot_query_prepare_long(&run->asked);
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static bool print_summary(const excite_run *run, const dyn_client_excitation *found) {
    table *lines = table_create();
    table_add_column(lines, "joint", TABLE_NAME);
    table_add_column(lines, "position", TABLE_RIGHT);
    table_add_column(lines, "velocity", TABLE_RIGHT);
    table_add_column(lines, "effort", TABLE_RIGHT);
    printf("Motion of %s with %zu rows: %zu of %zu directions excited, condition %.3g, the best of %zu\n\n",
           run->args->positional[0], found->rows, found->rank, found->estimates, found->condition, found->trials);
    for (size_t i = 0; i < found->nv; i++) {
        const dyn_client_limit_use *use = &found->uses[i];
        table_add_cell(lines, "%s", use->joint);
        table_add_cell(lines, "%.0f %%", 100 * use->position);
        table_add_cell(lines, "%.0f %%", 100 * use->velocity);
        table_add_cell(lines, "%.0f %%", 100 * use->effort);
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    printf("\nShares are those of the limits. Check the motion for collisions; --csv writes it.\n");
    return printed;
}

static void write_csv(const excite_run *run, const dyn_client_excitation *found) {
    static const char *const names[] = {"q", "v", "a", "tau"};
    const double *const arrays[] = {found->q, found->v, found->a, found->tau};
    csv_writer writer = {0};
    csv_text(&writer, "time");
    for (size_t array = 0; array < 4; array++) {
        for (size_t i = 0; i < (array == 0 ? found->nq : found->nv); i++) {
            csv_text(&writer, "%s.%s", names[array], (array == 0 ? run->asked.robot.q : run->asked.robot.v)[i].name);
        }
    }
    csv_end_line(&writer);
    for (size_t row = 0; row < found->rows; row++) {
        csv_numbers(&writer, 1, &found->time[row]);
        for (size_t array = 0; array < 4; array++) {
            size_t width = array == 0 ? found->nq : found->nv;
            csv_numbers(&writer, width, arrays[array] + row * width);
        }
        csv_end_line(&writer);
    }
}

static void write_json(const dyn_client_excitation *found) {
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "rank");
    emit_unsigned(&writer, found->rank);
    emit_key(&writer, "estimates");
    emit_unsigned(&writer, found->estimates);
    emit_key(&writer, "condition");
    emit_double(&writer, found->condition);
    emit_key(&writer, "log_determinant");
    emit_double(&writer, found->log_determinant);
    emit_key(&writer, "time");
    emit_doubles(&writer, found->rows, found->time);
    emit_key(&writer, "q");
    emit_matrix(&writer, found->rows, found->nq, found->q);
    emit_key(&writer, "v");
    emit_matrix(&writer, found->rows, found->nv, found->v);
    emit_key(&writer, "a");
    emit_matrix(&writer, found->rows, found->nv, found->a);
    emit_key(&writer, "tau");
    emit_matrix(&writer, found->rows, found->nv, found->tau);
    emit_end_object(&writer);
    emit_finish(&writer);
}

exit_code run_excite(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    excite_run run = {.args = args, .request = DYN_CLIENT_EXCITE_REQUEST_INIT()};
    dyn_client_excitation *found = NULL;
    dyn_client_error error;
    exit_code code = prepare(&run, client);
    if (code == EXIT_OK) {
        dyn_client_status status = dyn_client_excite(client, &run.asked.query, &run.request, &found, &error);
        progress_bar_close(&run.asked.bar);
        code = status == DYN_CLIENT_OK ? EXIT_OK : complain_call(&error, NULL);
    }
    if (found && args->value[OPTION_JSON]) {
        write_json(found);
    } else if (found && args->value[OPTION_CSV]) {
        write_csv(&run, found);
    } else if (found && !print_summary(&run, found)) {
        code = complain_memory();
    }
    dyn_client_excitation_free(found);
    parameter_options_free(&run.sought);
    robot_query_close(&run.asked);
    return code;
}
