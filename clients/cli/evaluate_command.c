/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command evaluate: computes any set of quantities for the same states.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "numbers.h"
#include "quantity_output.h"
#include "result_tables.h"
#include "suggestion.h"

enum { TASK_AXES = 6 };

/* Parsed arguments and the reply. */
typedef struct plan {
    size_t quantity_count;
    dyn_client_quantity_request *quantities;
    dyn_client_task_frame *task; /* the task's frames */
    size_t task_axis_count;
    dyn_client_task_axis task_axes[TASK_AXES];
    uint64_t inputs;               /* flags of the inputs on which the quantities depend */
    double contact_step;           /* s; 0: the default */
    dyn_client_evaluation *form;   /* result for one state: shapes and names of all results */
    dyn_client_evaluation *answer; /* result of the last batch */
} plan;

/* ---- request ----------------------------------------------------------------------------------------------------- */

static size_t count_names(const char *text) {
    size_t count = 1;
    for (; *text != '\0'; text++) {
        count += *text == ',';
    }
    return count;
}

/* Reports an unknown quantity, and suggests the closest known one. */
static exit_code complain_quantity(const char *name) {
    suggestion meant = {.wanted = name, .length = strlen(name)};
    for (int i = 1; i < DYN_CLIENT_QUANTITY_NUMBERS; i++) {
        const char *known = dyn_client_quantity_name((dyn_client_quantity)i);
        if (known) {
            suggestion_consider(&meant, known);
        }
    }
    return complain(EXIT_USAGE, "--quantity: there is no \"%s\"%s%s%s (dynamicsctl evaluate --help lists them)", name,
                    meant.closest ? "; did you mean \"" : "", meant.closest ? meant.closest : "",
                    meant.closest ? "\"?" : "");
}

/* Reads the names of --quantity. Reports errors. */
static exit_code read_quantities(const arguments *args, plan *settings) {
    const char *text = args->value[OPTION_QUANTITY];
    if (!text) {
        return complain(EXIT_USAGE, "evaluate needs --quantity NAME,NAME,.. (see dynamicsctl evaluate --help)");
    }
    settings->quantities = calloc(count_names(text), sizeof *settings->quantities);
    char *names = strdup(text), *rest = names;
    if (!settings->quantities || !names) {
        free(names);
        return complain_memory();
    }
    exit_code code = EXIT_OK;
    for (char *name; code == EXIT_OK && (name = strsep(&rest, ","));) {
        if (!dyn_client_find_quantity(name, &settings->quantities[settings->quantity_count++].quantity)) {
            code = complain_quantity(name);
        }
    }
    free(names);
    return code;
}

/* Adds the axes of a name of --task-axes, one or three. Returns false for an unknown name, or if there would be more
 * than six axes. */
static bool add_task_axes(const char *name, plan *settings) {
    static const char *const names[] = {"linear_x", "linear_y", "linear_z", "angular_x", "angular_y", "angular_z"};
    bool found = false;
    for (size_t i = 0; i < TASK_AXES; i++) {
        bool whole = strcmp(name, names[i]) == 0, part = strncmp(name, names[i], strlen(names[i]) - 2) == 0;
        if (!whole && !(part && strlen(name) == strlen(names[i]) - 2)) {
            continue;
        }
        if (settings->task_axis_count == TASK_AXES) {
            return false;
        }
        settings->task_axes[settings->task_axis_count++] = (dyn_client_task_axis)(DYN_CLIENT_TASK_AXIS_LINEAR_X + i);
        found = true;
    }
    return found;
}

/* Reads the names of --task-axes. Reports errors. */
static exit_code read_task_axes(const char *text, plan *settings) {
    char *names = strdup(text), *rest = names;
    if (!names) {
        return complain_memory();
    }
    exit_code code = EXIT_OK;
    for (char *name; code == EXIT_OK && (name = strsep(&rest, ","));) {
        if (!add_task_axes(name, settings)) {
            code =
                complain(EXIT_USAGE,
                         "--task-axes: \"%s\" is no further axis; there are linear_x, linear_y, linear_z, angular_x, "
                         "angular_y, angular_z, linear and angular",
                         name);
        }
    }
    free(names);
    return code;
}

/* Returns whether a quantity is of an impact, which has a restitution. */
static bool is_impact(dyn_client_quantity quantity) {
    return quantity == DYN_CLIENT_QUANTITY_IMPACT_VELOCITY || quantity == DYN_CLIENT_QUANTITY_IMPACT_IMPULSES ||
           (quantity >= DYN_CLIENT_QUANTITY_CONTACT_IMPACT_VELOCITY &&
            quantity <= DYN_CLIENT_QUANTITY_STOP_IMPACT_IMPULSES);
}

/* Sets the frames, the task or the subtree of each quantity that has them. */
static exit_code place_quantities(const evaluation_context *context, plan *settings) {
    const char *restitution = context->args->value[OPTION_RESTITUTION];
    double value = 0;
    if (restitution && !parse_number(restitution, &value)) {
        return complain(EXIT_USAGE, "--restitution %s: pass a number from 0 to 1", restitution);
    }
    settings->task = calloc(context->frame_count, sizeof *settings->task);
    if (!settings->task) {
        return complain_memory();
    }
    for (size_t i = 0; i < context->frame_count; i++) {
        settings->task[i] = (dyn_client_task_frame){
            .frame = context->frames[i], .axis_count = settings->task_axis_count, .axes = settings->task_axes};
    }
    for (size_t i = 0; i < settings->quantity_count; i++) {
        dyn_client_quantity_request *request = &settings->quantities[i];
        request->restitution = is_impact(request->quantity) ? value : 0;
        dyn_client_quantity_subject subject = dyn_client_quantity_subject_of(request->quantity);
        if (subject == DYN_CLIENT_QUANTITY_SUBJECT_FRAMES || subject == DYN_CLIENT_QUANTITY_SUBJECT_TASK) {
            request->reference_frame = context->reference;
        }
        if (subject == DYN_CLIENT_QUANTITY_SUBJECT_FRAMES) {
            request->frame_count = context->frame_count;
            request->frames = context->frames;
        } else if (subject == DYN_CLIENT_QUANTITY_SUBJECT_TASK) {
            request->task_frame_count = context->frame_count;
            request->task_frames = settings->task;
        } else if (subject == DYN_CLIENT_QUANTITY_SUBJECT_SUBTREE) {
            request->subtree = context->args->value[OPTION_SUBTREE];
        }
    }
    return EXIT_OK;
}

/* Returns an array of the states if a quantity depends on it or if its option is present, otherwise NULL. */
static const double *used(const evaluation_context *context, const double *const rows[STATE_ARRAYS], state_array array,
                          option named, dyn_client_quantity_input input) {
    const plan *settings = context->own;
    return (settings->inputs & input) != 0 || context->args->value[named] ? rows[array] : NULL;
}

static dyn_client_status evaluate(const evaluation_context *context, const dyn_client_query *query,
                                  const double *const rows[STATE_ARRAYS], dyn_client_error *error,
                                  dyn_client_evaluation **answer) {
    const plan *settings = context->own;
    dyn_client_evaluate_request request = DYN_CLIENT_EVALUATE_REQUEST_INIT(
            .q = rows[STATE_Q], .v = used(context, rows, STATE_V, OPTION_V, DYN_CLIENT_QUANTITY_INPUT_V),
            .a = used(context, rows, STATE_A, OPTION_A, DYN_CLIENT_QUANTITY_INPUT_A),
            .tau = used(context, rows, STATE_TAU, OPTION_TAU, DYN_CLIENT_QUANTITY_INPUT_TAU),
            .dq = used(context, rows, STATE_DQ, OPTION_DQ, DYN_CLIENT_QUANTITY_INPUT_DQ),
            .dv = used(context, rows, STATE_DV, OPTION_DV, DYN_CLIENT_QUANTITY_INPUT_DV),
            .da = used(context, rows, STATE_DA, OPTION_DA, DYN_CLIENT_QUANTITY_INPUT_DA),
            .dtau = used(context, rows, STATE_DTAU, OPTION_DTAU, DYN_CLIENT_QUANTITY_INPUT_DTAU),
            .quantity_count = settings->quantity_count, .quantities = settings->quantities,
            .contact_step = settings->contact_step);
    return dyn_client_evaluate(context->client, query, &request, answer, error);
}

/* Evaluates one configuration to determine the size and the inputs of the results. The configuration is near home,
 * since home itself is often singular. */
static exit_code read_form(const evaluation_context *context, plan *settings) {
    dyn_client_error error;
    dyn_client_query query = context->query;
    double *home = calloc(context->robot->nq + 1, sizeof *home);
    if (!home) {
        return complain_memory();
    }
    const double *const rows[STATE_ARRAYS] = {[STATE_Q] = home};
    query.samples = 1;
    layout_arrange_q(context->robot, context->robot->robot->home_q, home);
    for (size_t i = 0; i < context->robot->nq; i++) {
        if (context->robot->q[i].joint->nq == 1) {
            home[i] += 0.3 + 0.1 * (double)(i % 7);
        }
    }
    dyn_client_status status = evaluate(context, &query, rows, &error, &settings->form);
    free(home);
    for (size_t i = 0; status == DYN_CLIENT_OK && i < settings->form->result_count; i++) {
        settings->inputs |= settings->form->results[i].inputs;
    }
    return status == DYN_CLIENT_OK ? EXIT_OK : complain_call(&error, NULL);
}

static exit_code prepare(const evaluation_context *context) {
    plan *settings = context->own;
    const char *step = context->args->value[OPTION_CONTACT_STEP];
    if (step && !parse_number(step, &settings->contact_step)) {
        return complain(EXIT_USAGE, "--contact-step %s: pass a number of seconds", step);
    }
    exit_code code = read_quantities(context->args, settings);
    if (code == EXIT_OK && context->args->value[OPTION_TASK_AXES]) {
        code = read_task_axes(context->args->value[OPTION_TASK_AXES], settings);
    }
    if (code == EXIT_OK) {
        code = place_quantities(context, settings);
    }
    return code == EXIT_OK ? read_form(context, settings) : code;
}

/* Sets the width of a result to the sum of the widths of its blocks, which limits the size of a batch. The numbers
 * themselves stay in the reply. */
static void widths(const evaluation_context *context, size_t width[2]) {
    const plan *settings = context->own;
    width[0] = width[1] = 0;
    for (size_t i = 0; i < settings->form->result_count; i++) {
        for (size_t k = 0; k < settings->form->results[i].block_count; k++) {
            width[0] += settings->form->results[i].blocks[k].width;
        }
    }
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static dyn_client_status compute(const evaluation_context *context, const state_batch *batch, dyn_client_error *error,
                                 double *unused, double *also_unused) {
    (void)unused, (void)also_unused;
    plan *settings = context->own;
    dyn_client_evaluation_free(settings->answer);
    return evaluate(context, &context->query, (const double *const *)batch->values, error, &settings->answer);
}

static void write_state(const evaluation_context *context, size_t index, const double *unused,
                        const double *also_unused) {
    (void)unused, (void)also_unused;
    const plan *settings = context->own;
    write_quantities(settings->answer, index);
}

static void write_headings(const evaluation_context *context, csv_writer *to) {
    write_quantity_headings(((const plan *)context->own)->answer, to);
}

static void write_csv(const evaluation_context *context, csv_writer *to, size_t index, const double *unused,
                      const double *also_unused) {
    (void)unused, (void)also_unused;
    write_quantity_cells(((const plan *)context->own)->answer, to, index);
}

static bool print_one(const evaluation_context *context, const state_batch *batch, const double *unused,
                      const double *also_unused) {
    (void)batch, (void)unused, (void)also_unused;
    const plan *settings = context->own;
    print_title(context);
    return print_quantities(settings->answer, 0);
}

static bool print_many(const evaluation_context *context, const state_batch *batch, size_t number, const double *unused,
                       const double *also_unused) {
    (void)unused, (void)also_unused;
    const plan *settings = context->own;
    bool printed = true;
    if (number == 1) {
        print_title(context);
    }
    for (size_t i = 0; i < batch->count && printed; i++) {
        printf("state %zu\n", number + i);
        printed = print_quantities(settings->answer, i);
        fputc('\n', stdout);
    }
    return printed;
}

exit_code run_evaluate(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    static const evaluation quantities = {
        .title = "quantities",
        .has_input = {[STATE_Q] = true,
                      [STATE_V] = true,
                      [STATE_A] = true,
                      [STATE_TAU] = true,
                      [STATE_DQ] = true,
                      [STATE_DV] = true,
                      [STATE_DA] = true,
                      [STATE_DTAU] = true},
        .prepare = prepare,
        .widths = widths,
        .compute = compute,
        .write_json = write_state,
        .write_headings = write_headings,
        .write_csv = write_csv,
        .print_one = print_one,
        .print_many = print_many,
    };
    plan settings = {0};
    exit_code code = run_evaluation(&quantities, &settings, args, client);
    dyn_client_evaluation_free(settings.form);
    dyn_client_evaluation_free(settings.answer);
    free(settings.quantities);
    free(settings.task);
    return code;
}
