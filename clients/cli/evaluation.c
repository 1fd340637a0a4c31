/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes a quantity for all states of a source in batches, and writes the results.
 */
#include "evaluation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query_options.h"

/* MAX_BATCH: states in one request. AIMED_BYTES: intended size of a request or reply. */
static const size_t MAX_BATCH = 4096, AIMED_BYTES = (size_t)1 << 20;

/* State of a command while it runs, with all that it owns. */
typedef struct evaluation_run {
    const evaluation *evaluated;
    evaluation_context context;
    dyn_client_description *description;
    layout robot;
    state_source source;
    state_batch batch;
    size_t widths[2];
    double *results[2]; /* the rows of a full batch */
    output_form form;
    char *frame_text; /* owns the names of the frames */
    const char **frames;
    query_options options; /* its list of forces is followed by those of the batch's states */
    size_t done;           /* number of states written */
} evaluation_run;

/* ---- preparation ------------------------------------------------------------------------------------------------- */

/* Reads the names of --frame. The default is the last link. */
static exit_code read_frames(evaluation_run *run) {
    const dyn_client_description *robot = run->description;
    const char *text = run->context.args->value[OPTION_FRAME];
    size_t most = 1, count = 0;
    if (!text) {
        text = robot->link_count > 0 ? robot->links[robot->link_count - 1].name : "world";
    }
    for (const char *c = text; *c != '\0'; c++) {
        most += *c == ',';
    }
    run->frame_text = strdup(text);
    run->frames = calloc(most, sizeof *run->frames);
    if (!run->frame_text || !run->frames) {
        return complain_memory();
    }
    char *rest = run->frame_text;
    for (char *name; (name = strsep(&rest, ","));) {
        run->frames[count++] = name;
    }
    run->context.frame = text;
    run->context.frame_count = count;
    run->context.frames = run->frames;
    return EXIT_OK;
}

static exit_code read_reference(evaluation_run *run) {
    size_t reference;
    exit_code code =
        arguments_choice(run->context.args, OPTION_REFERENCE_FRAME, REFERENCE_FRAMES, REFERENCE_FRAME_NAMES,
                         DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED - DYN_CLIENT_REFERENCE_FRAME_LOCAL, &reference);
    run->context.reference = (dyn_client_reference_frame)(reference + DYN_CLIENT_REFERENCE_FRAME_LOCAL);
    return code;
}

/* Requests the description of the model, and prepares its layout and the query that all requests share. Reports
 * errors. */
static exit_code prepare_query(evaluation_run *run) {
    const arguments *args = run->context.args;
    dyn_client_error error;
    double timeout;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    if (dyn_client_describe_model(run->context.client, args->positional[0], timeout, &run->description, &error) !=
        DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    code = layout_create(run->description, args->value[OPTION_JOINTS], &run->robot);
    if (code != EXIT_OK) {
        return code;
    }
    run->context.robot = &run->robot;
    run->context.query =
        (dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = args->positional[0], .nq = run->robot.nq, .nv = run->robot.nv,
                                                .timeout = timeout, .joint_count = run->robot.name_count,
                                                .joint_names = run->robot.names);
    code = query_options_read(args, &run->options);
    if (code == EXIT_OK) {
        code = row_options_read(args, run->robot.nv, &run->options);
    }
    if (code != EXIT_OK) {
        return code;
    }
    query_options_apply(&run->options, &run->context.query);
    code = read_frames(run);
    return code == EXIT_OK ? read_reference(run) : code;
}

/* Chooses the number of states of a request, so that a message has about AIMED_BYTES and stays within the daemon's
 * limits. */
static exit_code choose_capacity(evaluation_run *run, size_t *capacity) {
    *capacity = 1;
    if (!run->context.args->value[OPTION_STATES] || run->evaluated->has_one_state) {
        return EXIT_OK;
    }
    dyn_client_error error;
    dyn_client_server_info *info;
    if (dyn_client_get_server_info(run->context.client, run->context.query.timeout, &info, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    size_t sent = (run->robot.nq + 3 * run->robot.nv) * sizeof(double);
    size_t answered = (run->widths[0] + run->widths[1]) * sizeof(double);
    size_t row = sent > answered ? sent : answered;
    size_t bytes = AIMED_BYTES;
    if (info->limits.message_bytes / 2 < bytes) {
        bytes = info->limits.message_bytes / 2;
    }
    if (info->limits.reply_bytes / 2 < bytes) {
        bytes = info->limits.reply_bytes / 2;
    }
    *capacity = bytes / (row + 1);
    if (*capacity > info->limits.samples) {
        *capacity = info->limits.samples;
    }
    if (*capacity > MAX_BATCH) {
        *capacity = MAX_BATCH;
    }
    if (*capacity == 0) {
        *capacity = 1;
    }
    dyn_client_server_info_free(info);
    return EXIT_OK;
}

static exit_code prepare_batch(evaluation_run *run) {
    size_t capacity;
    exit_code code = EXIT_OK;
    if (run->evaluated->prepare) {
        code = run->evaluated->prepare(&run->context);
    }
    if (code != EXIT_OK) {
        return code;
    }
    run->evaluated->widths(&run->context, run->widths);
    code = choose_capacity(run, &capacity);
    if (code != EXIT_OK) {
        return code;
    }
    if (!state_batch_create(&run->robot, capacity, &run->batch)) {
        return complain_memory();
    }
    for (int i = 0; i < 2; i++) {
        run->results[i] = calloc(capacity * run->widths[i] + 1, sizeof(double));
        if (!run->results[i]) {
            return complain_memory();
        }
    }
    return EXIT_OK;
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

/* Sets the external forces of the query: those of the options, then those of the batch's states. */
static exit_code gather_forces(evaluation_run *run) {
    size_t constant = run->options.forces.count, count = constant + run->batch.force_count;
    dyn_client_external_force *grown = realloc(run->options.forces.list, (count + 1) * sizeof *grown);
    if (!grown) {
        return complain_memory();
    }
    run->options.forces.list = grown;
    for (size_t i = 0; i < run->batch.force_count; i++) {
        const batch_force *entry = &run->batch.forces[i];
        grown[constant + i] = (dyn_client_external_force){.link = entry->link,
                                                          .reference_frame = entry->frame,
                                                          .force = entry->force,
                                                          .torque = entry->torque,
                                                          .rows = run->batch.count};
    }
    run->context.query.external_force_count = count;
    run->context.query.external_forces = grown;
    return EXIT_OK;
}

/* Writes the results of the batch as lines of CSV. The first batch begins with the header. */
static void write_csv(const evaluation_run *run) {
    const evaluation *evaluated = run->evaluated;
    csv_writer to = {0};
    if (run->done == 0) {
        csv_text(&to, "state");
        evaluated->write_headings(&run->context, &to);
        csv_end_line(&to);
    }
    for (size_t i = 0; i < run->batch.count; i++) {
        const double *first = run->results[0] + i * run->widths[0], *second = run->results[1] + i * run->widths[1];
        csv_text(&to, "%zu", run->done + i + 1);
        if (evaluated->write_csv) {
            evaluated->write_csv(&run->context, &to, i, first, second);
        } else {
            csv_numbers(&to, run->widths[0], first);
            csv_numbers(&to, run->widths[1], second);
        }
        csv_end_line(&to);
    }
}

static exit_code write_results(evaluation_run *run) {
    const evaluation *evaluated = run->evaluated;
    bool only_one = run->source.ended && run->done == 0 && run->batch.count == 1;
    bool complete = true;
    if (run->form == OUTPUT_CSV) {
        write_csv(run);
    } else if (run->form == OUTPUT_JSON) {
        for (size_t i = 0; i < run->batch.count; i++) {
            evaluated->write_json(&run->context, i, run->results[0] + i * run->widths[0],
                                  run->results[1] + i * run->widths[1]);
        }
    } else if (only_one) {
        complete = evaluated->print_one(&run->context, &run->batch, run->results[0], run->results[1]);
    } else {
        complete = evaluated->print_many(&run->context, &run->batch, run->done + 1, run->results[0], run->results[1]);
    }
    run->done += run->batch.count;
    return complete ? check_output() : complain_memory();
}

/* Returns the index of the state that an error's field names, such as "inverse_dynamics.q[13]". Returns the number of
 * states of the batch if the field names none. */
static size_t offending_state(const state_batch *batch, const char *field) {
    const char *dot = strrchr(field, '.');
    const char *name = dot ? dot + 1 : field;
    const char *bracket = strchr(name, '[');
    for (int i = 0; bracket && i < STATE_ARRAYS; i++) {
        bool named = strlen(STATE_ARRAY_NAMES[i]) == (size_t)(bracket - name) &&
                     strncmp(STATE_ARRAY_NAMES[i], name, (size_t)(bracket - name)) == 0;
        if (named && batch->width[i] > 0) {
            return strtoul(bracket + 1, NULL, 10) / batch->width[i];
        }
    }
    return batch->count;
}

static dyn_client_status compute(evaluation_run *run, dyn_client_error *error) {
    run->context.query.samples = run->batch.count;
    for (size_t i = 0; i < run->batch.force_count; i++) {
        run->options.forces.list[run->options.forces.count + i].rows = run->batch.count;
    }
    return run->evaluated->compute(&run->context, &run->batch, error, run->results[0], run->results[1]);
}

/* Writes to standard error the number of states of the batch that failed, and the error of the first one. */
static void report_marked(evaluation_run *run, const dyn_client_error *error) {
    char place[512];
    if (error->marked == 0) {
        return;
    }
    const char *line = error->sample < run->batch.count
                           ? state_source_place(&run->source, run->batch.line[error->sample], sizeof place, place)
                           : NULL;
    fprintf(stderr, "dynamicsctl: %llu of %zu states failed, the first of them%s%s: %s (%s)\n",
            (unsigned long long)error->marked, run->batch.count, line ? " " : "", line ? line : "", error->message,
            error->reason);
}

/* Computes and writes the batch. If the daemon refuses a state, computes and writes the states before it, and then
 * reports the error. */
static exit_code evaluate_batch(evaluation_run *run) {
    dyn_client_error error, ignored;
    exit_code code = gather_forces(run);
    if (code != EXIT_OK) {
        return code;
    }
    if (compute(run, &error) == DYN_CLIENT_OK) {
        report_marked(run, &error);
        return write_results(run);
    }
    size_t state = offending_state(&run->batch, error.field);
    error.sample += run->done;
    if (error.status != DYN_CLIENT_INVALID_ARGUMENT || state >= run->batch.count) {
        return complain_call(&error, NULL);
    }
    char place[512];
    const char *line = state_source_place(&run->source, run->batch.line[state], sizeof place, place);
    run->batch.count = state;
    if (state > 0 && compute(run, &ignored) == DYN_CLIENT_OK) {
        write_results(run);
    }
    return complain_call(&error, line);
}

static exit_code evaluate_all(evaluation_run *run) {
    exit_code code = EXIT_OK;
    while (code == EXIT_OK && !run->source.ended) {
        state_source_fill(&run->source, &run->batch);
        if (run->batch.count > 0) {
            code = evaluate_batch(run);
        }
    }
    return code == EXIT_OK ? state_source_finish(&run->source) : code;
}

exit_code run_evaluation(const evaluation *evaluated, void *own, const arguments *args, dyn_client *client) {
    evaluation_run run = {.evaluated = evaluated,
                          .context = {.evaluated = evaluated, .client = client, .args = args, .own = own},
                          .source = {.reader = {.descriptor = -1}}};
    exit_code code = output_form_read(args, &run.form);
    if (code == EXIT_OK) {
        code = prepare_query(&run);
    }
    if (code == EXIT_OK) {
        code = prepare_batch(&run);
    }
    if (code == EXIT_OK) {
        code = state_source_open(args, &run.robot, evaluated->has_input[STATE_Q], &run.source);
    }
    run.context.state = run.source.path ? run.source.path : run.source.description;
    if (code == EXIT_OK) {
        code = evaluate_all(&run);
    }
    state_source_close(&run.source);
    state_batch_free(&run.batch);
    free(run.results[0]);
    free(run.results[1]);
    query_options_free(&run.options);
    free(run.frame_text);
    free(run.frames);
    layout_free(&run.robot);
    dyn_client_description_free(run.description);
    return code;
}
