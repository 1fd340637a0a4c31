/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command identify: estimates inertial parameters and friction from a recorded motion.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "csv_writer.h"
#include "exchange.h"
#include "json_writer.h"
#include "motion_file.h"
#include "numbers.h"
#include "parameter_options.h"
#include "robot_query.h"
#include "table.h"

/* One run of the command, and what it owns. */
typedef struct identify_run {
    const arguments *args;
    robot_query asked;
    motion_file motion;
    double *gains;
    parameter_options sought;
    dyn_client_identify_request request;
} identify_run;

/* ---- request ----------------------------------------------------------------------------------------------------- */

static exit_code read_gains(identify_run *run) {
    const char *text = run->args->value[OPTION_GAINS];
    char message[256];
    if (!text) {
        return EXIT_OK;
    }
    run->gains = calloc(run->asked.robot.nv + 1, sizeof *run->gains);
    if (!run->gains) {
        return complain_memory();
    }
    run->request.gains = run->gains;
    return parse_numbers(text, run->asked.robot.nv, run->gains, message, sizeof message)
               ? EXIT_OK
               : complain(EXIT_USAGE, "--gains %s: %s", text, message);
}

static exit_code read_options(identify_run *run) {
    static const char *const estimators[] = {"ordinary", "weighted", "huber", "total"};
    const arguments *args = run->args;
    dyn_client_identify_request *r = &run->request;
    size_t estimator = 0;
    double folds = 5;
    exit_code code = arguments_choice(args, OPTION_ESTIMATOR, 4, estimators, 0, &estimator);
    if (code == EXIT_OK) {
        code = number_option_read(args, OPTION_CUTOFF, 0, &r->cutoff);
    }
    if (code == EXIT_OK) {
        code = number_option_read(args, OPTION_TORQUE_CUTOFF, 0, &r->torque_cutoff);
    }
    if (code == EXIT_OK) {
        code = number_option_read(args, OPTION_PRIOR, 0, &r->prior);
    }
    if (code == EXIT_OK) {
        code = number_option_read(args, OPTION_FOLDS, folds, &folds);
    }
    if (code == EXIT_OK) {
        code = parameter_options_read(args, &run->sought);
    }
    r->drive_term_count = run->sought.term_count, r->drive_terms = run->sought.terms;
    r->ignore_drives = run->sought.ignore_drives, r->drives_only = run->sought.drives_only;
    r->link_count = run->sought.link_count, r->links = run->sought.links;
    r->payload_link = run->sought.payload_link;
    r->stribeck_velocity = run->sought.stribeck_velocity;
    r->estimate_gains = args->value[OPTION_ESTIMATE_GAINS] != NULL;
    r->estimator = (dyn_client_estimator)estimator;
    r->folds = folds <= 1000 ? (size_t)folds : 1000;
    r->name = args->value[OPTION_NAME];
    r->replace = args->value[OPTION_REPLACE] != NULL;
    return code == EXIT_OK ? read_gains(run) : code;
}

/* Describes the model, reads the options and the file, and fills the query and the request. Reports errors. */
static exit_code prepare(identify_run *run, dyn_client *client) {
    const arguments *args = run->args;
    exit_code code = robot_query_open(args, client, &run->asked);
    if (code == EXIT_OK) {
        code = read_options(run);
    }
    if (code == EXIT_OK) {
        code = motion_file_read(args->positional[1], &run->asked.robot, true, &run->motion);
    }
    if (code != EXIT_OK) {
        return code;
    }
    const motion_file *m = &run->motion;
    dyn_client_identify_request *r = &run->request;
    r->time = m->time, r->q = m->q, r->v = m->v, r->a = m->a, r->tau = m->tau, r->load = m->load;
    run->asked.query.samples = m->count;
    return robot_query_prepare_long(&run->asked);
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static bool print_fits(const dyn_client_identification *found) {
    static const char *const headings[] = {"range",     "model error",   "residual",
                                           "predicted", "possible body", "accounted"};
    table *lines = table_create();
    table_add_column(lines, "joint", TABLE_NAME);
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++) {
        table_add_column(lines, headings[i], TABLE_RIGHT);
    }
    for (size_t i = 0; i < found->fit_count; i++) {
        const dyn_client_joint_fit *fit = &found->fits[i];
        const double values[] = {fit->highest - fit->lowest, fit->model_error, fit->residual, fit->prediction,
                                 fit->consistent_prediction, fit->accounted};
        table_add_cell(lines, "%s", fit->joint);
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            table_add_cell(lines, "%.4g", values[k]);
        }
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

static bool print_estimates(const dyn_client_identification *found) {
    table *lines = table_create();
    table_add_column(lines, "of", TABLE_NAME);
    table_add_column(lines, "estimate", TABLE_NAME);
    table_add_column(lines, "value", TABLE_RIGHT);
    table_add_column(lines, "", TABLE_UNIT);
    table_add_column(lines, "deviation", TABLE_RIGHT);
    table_add_column(lines, "%", TABLE_RIGHT);
    table_add_column(lines, "model", TABLE_RIGHT);
    table_add_column(lines, "", TABLE_LEFT);
    for (size_t i = 0; i < found->estimate_count; i++) {
        const dyn_client_linear_estimate *each = &found->estimates[i];
        table_add_cell(lines, "%s", each->element);
        table_add_cell(lines, "%s", each->parameter);
        table_add_cell(lines, "%.6g", each->value);
        table_add_cell(lines, "%s", each->unit);
        table_add_cell(lines, "%.2g", each->deviation);
        table_add_cell(lines, "%.2g", 100 * each->relative_deviation);
        table_add_cell(lines, "%.6g", each->prior);
        table_add_cell(lines, "%s%s", each->is_excited ? "" : "not excited: ", each->reason);
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

/* Prints remarks about the estimates: torques left out, priors replaced, a method that did not converge. */
static void print_remarks(const dyn_client_identification *found) {
    for (size_t i = 0; i < found->fit_count; i++) {
        const dyn_client_joint_fit *fit = &found->fits[i];
        if (fit->saturated > 0) {
            printf("\n%s: %zu rows with saturated torques (at the effort limit, or where the drive cuts off) are left "
                   "out.",
                   fit->joint, fit->saturated);
        }
    }
    for (size_t i = 0; i < found->replaced_count; i++) {
        printf("\n%s: the model's inertia is of no body, so that a small ball takes its place as the prior.",
               found->replaced_priors[i]);
    }
    if (!found->is_converged) {
        printf("\nThe consistent estimate is a possible body, but not yet the best one after %zu iterations.",
               found->iterations);
    }
    printf("\n");
}

/* Prints the gains that were sought. */
static bool print_gains(const dyn_client_identification *found) {
    table *lines = table_create();
    table_add_column(lines, "joint", TABLE_NAME);
    table_add_column(lines, "gain", TABLE_RIGHT);
    table_add_column(lines, "deviation", TABLE_RIGHT);
    for (size_t i = 0; i < found->fit_count; i++) {
        table_add_cell(lines, "%s", found->fits[i].joint);
        table_add_cell(lines, "%.6g", found->fits[i].gain);
        table_add_cell(lines, "%.2g", found->fits[i].gain_deviation);
    }
    printf("\n");
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

static void print_payload(const identify_run *run, const dyn_client_inertia *payload) {
    const double *c = payload->center_of_mass, *I = payload->rotational;
    printf("\nPayload, a possible body: --payload %s:%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g\n",
           run->request.payload_link, payload->mass, c[0], c[1], c[2], I[0], I[1], I[2], I[3], I[4], I[5]);
}

static bool print_tables(const identify_run *run, const dyn_client_identification *found) {
    printf("Identification of %s from %zu rows: %zu of %zu directions excited, condition %.3g\n\n",
           run->asked.query.model, run->motion.count, found->rank, found->estimate_count, found->condition);
    bool printed = print_fits(found);
    printf("\nErrors are root mean squares, N m or N: of the model as it is, of the linear estimates, and of parts of "
           "the\nrecord predicted from the others, by the linear estimates and by those of a possible body.\n\n");
    printed = printed && print_estimates(found);
    if (run->request.estimate_gains) {
        printed = printed && print_gains(found);
    }
    if (found->has_payload) {
        print_payload(run, &found->payload);
    }
    print_remarks(found);
    if (run->request.name) {
        printf("Model %s has the estimates of possible bodies and their friction.\n", run->request.name);
    }
    return printed;
}

static void write_csv(const dyn_client_identification *found) {
    static const char *const headings[] = {"of",         "estimate",           "value", "unit", "deviation", "model",
                                           "is_excited", "relative_deviation", "reason"};
    csv_writer writer = {0};
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        csv_text(&writer, "%s", headings[i]);
    }
    csv_end_line(&writer);
    for (size_t i = 0; i < found->estimate_count; i++) {
        const dyn_client_linear_estimate *each = &found->estimates[i];
        csv_text(&writer, "%s", each->element);
        csv_text(&writer, "%s", each->parameter);
        csv_numbers(&writer, 1, &each->value);
        csv_text(&writer, "%s", each->unit);
        csv_numbers(&writer, 1, &each->deviation);
        csv_numbers(&writer, 1, &each->prior);
        csv_text(&writer, "%d", each->is_excited);
        csv_numbers(&writer, 1, &each->relative_deviation);
        csv_text(&writer, "%s", each->reason);
        csv_end_line(&writer);
    }
}

static void emit_number(json_writer *writer, const char *key, double value) {
    emit_key(writer, key);
    emit_double(writer, value);
}

static void emit_estimate(json_writer *writer, const dyn_client_linear_estimate *each) {
    emit_begin_object(writer);
    emit_key(writer, "of");
    emit_string(writer, each->element);
    emit_key(writer, "estimate");
    emit_string(writer, each->parameter);
    emit_number(writer, "value", each->value);
    emit_key(writer, "unit");
    emit_string(writer, each->unit);
    emit_number(writer, "deviation", each->deviation);
    emit_number(writer, "model", each->prior);
    emit_key(writer, "is_excited");
    emit_bool(writer, each->is_excited);
    emit_number(writer, "relative_deviation", each->relative_deviation);
    emit_key(writer, "reason");
    emit_string(writer, each->reason);
    emit_end_object(writer);
}

static void emit_fit(json_writer *writer, const dyn_client_joint_fit *fit) {
    emit_begin_object(writer);
    emit_key(writer, "joint");
    emit_string(writer, fit->joint);
    emit_number(writer, "lowest", fit->lowest);
    emit_number(writer, "highest", fit->highest);
    emit_number(writer, "model_error", fit->model_error);
    emit_number(writer, "residual", fit->residual);
    emit_number(writer, "consistent_residual", fit->consistent_residual);
    emit_number(writer, "prediction", fit->prediction);
    emit_number(writer, "consistent_prediction", fit->consistent_prediction);
    emit_number(writer, "accounted", fit->accounted);
    emit_key(writer, "saturated");
    emit_unsigned(writer, fit->saturated);
    emit_number(writer, "viscous", fit->viscous);
    emit_number(writer, "coulomb", fit->coulomb);
    emit_number(writer, "offset", fit->offset);
    emit_number(writer, "inertia", fit->inertia);
    emit_number(writer, "stribeck", fit->stribeck);
    emit_number(writer, "load", fit->load);
    emit_number(writer, "gain", fit->gain);
    emit_number(writer, "gain_deviation", fit->gain_deviation);
    emit_end_object(writer);
}

static void write_json(const dyn_client_identification *found) {
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "estimates");
    emit_begin_array(&writer);
    for (size_t i = 0; i < found->estimate_count; i++) {
        emit_estimate(&writer, &found->estimates[i]);
    }
    emit_end_array(&writer);
    emit_key(&writer, "rank");
    emit_unsigned(&writer, found->rank);
    emit_number(&writer, "condition", found->condition);
    emit_key(&writer, "fits");
    emit_begin_array(&writer);
    for (size_t i = 0; i < found->fit_count; i++) {
        emit_fit(&writer, &found->fits[i]);
    }
    emit_end_array(&writer);
    emit_key(&writer, "bodies");
    emit_begin_array(&writer);
    for (size_t i = 0; i < found->body_count; i++) {
        emit_string(&writer, found->bodies[i]);
    }
    emit_end_array(&writer);
    emit_key(&writer, "parameters");
    emit_matrix(&writer, found->body_count, DYN_CLIENT_LINK_PARAMETERS, found->parameters);
    emit_key(&writer, "is_converged");
    emit_bool(&writer, found->is_converged);
    if (found->has_payload) {
        emit_key(&writer, "payload");
        emit_begin_object(&writer);
        emit_number(&writer, "mass", found->payload.mass);
        emit_key(&writer, "center_of_mass");
        emit_matrix(&writer, 1, 3, found->payload.center_of_mass);
        emit_key(&writer, "rotational");
        emit_matrix(&writer, 1, 6, found->payload.rotational);
        emit_end_object(&writer);
    }
    emit_end_object(&writer);
    emit_finish(&writer);
}

exit_code run_identify(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    identify_run run = {.args = args, .request = DYN_CLIENT_IDENTIFY_REQUEST_INIT()};
    dyn_client_identification *found = NULL;
    dyn_client_error error;
    exit_code code = prepare(&run, client);
    if (code == EXIT_OK) {
        dyn_client_status status = dyn_client_identify(client, &run.asked.query, &run.request, &found, &error);
        progress_bar_close(&run.asked.bar);
        code = status == DYN_CLIENT_OK ? EXIT_OK : complain_call(&error, args->positional[1]);
    }
    if (found && args->value[OPTION_JSON]) {
        write_json(found);
    } else if (found && args->value[OPTION_CSV]) {
        write_csv(found);
    } else if (found && !print_tables(&run, found)) {
        code = complain_memory();
    }
    dyn_client_identification_free(found);
    motion_file_free(&run.motion);
    free(run.gains);
    parameter_options_free(&run.sought);
    robot_query_close(&run.asked);
    return code;
}
