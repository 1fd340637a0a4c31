/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands rollout and trajectory, which compute motions over time in one request.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "coordinate_values.h"
#include "exchange.h"
#include "gains.h"
#include "query_options.h"
#include "numbers.h"
#include "page.h"
#include "progress_bar.h"
#include "result_tables.h"
#include "state_source.h"
#include "table.h"
#include "trace.h"

/* Most states of one request of rollout, and most rows of a trajectory. */
enum { MOST_SAMPLES = 4096, MOST_ROWS = 1000000 };

static const char *const INTEGRATORS[] = {"semi_implicit_euler", "explicit_euler", "rk4"};
static const char *const COMPILED_STEPS[] = {"where_ready", "never", "always"};
static const char *const CONTROLS[] = {"none", "pd", "pd_gravity", "computed_torque"};
static const char *const RATES[] = {"given",      "spline",  "spline_at_rest", "central",
                                    "five_point", "quintic", "quintic_at_rest"};

/* ---- both commands ----------------------------------------------------------------------------------------------- */

/* State of a running command: its robot, states, query and options. */
typedef struct motion_run {
    const arguments *args;
    dyn_client *client;
    dyn_client_description *description;
    layout robot;
    state_source source;
    state_batch batch;
    dyn_client_query query;
    query_options settings;
    dyn_client_stepping stepping;
    dyn_client_loop_closure closure;
    gains gains;
    trace rows;
} motion_run;

/* Reads the number of an option, or `standard` if the option is absent. The number must be positive, or zero if
 * `zero_is_allowed`. Reports errors. */
static exit_code read_number(const arguments *args, option wanted, const char *name, bool zero_is_allowed,
                             double standard, double *value) {
    const char *text = args->value[wanted];
    *value = standard;
    if (text && !(parse_number(text, value) && (*value > 0 || (zero_is_allowed && *value == 0)))) {
        return complain(EXIT_USAGE, "--%s %s: pass a number that is %s 0", name, text,
                        zero_is_allowed ? "not less than" : "more than");
    }
    return EXIT_OK;
}

/* Reads the whole number of an option from 1 to `most`, or `standard` if the option is absent. Reports errors. */
static exit_code read_count(const arguments *args, option wanted, const char *name, double standard, double most,
                            size_t *count) {
    double value;
    exit_code code = read_number(args, wanted, name, false, standard, &value);
    if (code == EXIT_OK && !(value >= 1 && value <= most && value == floor(value))) {
        return complain(EXIT_USAGE, "--%s %s: pass a whole number from 1 to %g", name, args->value[wanted], most);
    }
    if (code == EXIT_OK) {
        *count = (size_t)value;
    }
    return code;
}

/* Reads the stepping options. If `is_ideal`, the defaults are those of ideal rigid bodies and the explicit Euler
 * method. Reports errors. */
static exit_code read_stepping(motion_run *run, bool is_ideal) {
    const arguments *args = run->args;
    dyn_client_stepping *s = &run->stepping;
    size_t integrator = 0, law = 0, substeps = 1, compiled = 0;
    exit_code code = read_number(args, OPTION_STEP_LENGTH, "step-length", false, 1e-3, &s->step_length);
    if (code == EXIT_OK) {
        code = arguments_choice(args, OPTION_INTEGRATOR, 3, INTEGRATORS, is_ideal ? 1 : 0, &integrator);
    }
    if (code == EXIT_OK) {
        code = arguments_choice(args, OPTION_CONTROL, 4, CONTROLS, 0, &law);
    }
    if (code == EXIT_OK) {
        code = arguments_choice(args, OPTION_COMPILED, 3, COMPILED_STEPS, 0, &compiled);
    }
    if (code == EXIT_OK) {
        code = gains_read(args, &run->robot, &run->gains);
    }
    if (code == EXIT_OK) {
        code = read_count(args, OPTION_SUBSTEPS, "substeps", 1, 10000, &substeps);
    }
    if (code == EXIT_OK) {
        code = loop_closure_options_read(args, &run->closure, s);
    }
    if (code == EXIT_OK) {
        code = contact_law_option_read(args, &s->contact_law);
    }
    s->integrator = (dyn_client_integrator)integrator;
    s->law = (dyn_client_control_law)law;
    s->compiled = (dyn_client_compiled_steps)compiled;
    s->substeps = substeps;
    s->gain_count = run->gains.count, s->kp = run->gains.kp, s->kd = run->gains.kd;
    s->ignore_damping = s->ignore_friction = s->ignore_springs = s->ignore_effort_limits = is_ideal;
    s->ignore_gear_losses = is_ideal;
    s->solve_joints = args->value[OPTION_SOLVE_JOINTS] != NULL;
    s->stop = is_ideal ? DYN_CLIENT_JOINT_STOP_NONE : DYN_CLIENT_JOINT_STOP_RIGID;
    s->brake_count = run->settings.brake_count, s->brakes = run->settings.brakes;
    ideal_option_apply(args, s);
    return code;
}

static exit_code open_run(const arguments *args, dyn_client *client, size_t capacity, motion_run *run) {
    dyn_client_error error;
    *run = (motion_run){.args = args, .client = client, .stepping = DYN_CLIENT_STEPPING_INIT()};
    if (dyn_client_describe_model(client, args->positional[0], 0, &run->description, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    exit_code code = layout_create(run->description, args->value[OPTION_JOINTS], &run->robot);
    if (code == EXIT_OK) {
        code = state_source_open(args, &run->robot, true, &run->source);
    }
    if (code == EXIT_OK && !state_batch_create(&run->robot, capacity, &run->batch)) {
        code = complain_memory();
    }
    if (code == EXIT_OK) {
        code = trace_open(args, &run->robot, true, &run->rows);
    }
    if (code == EXIT_OK) {
        code = query_options_read(args, &run->settings);
    }
    run->query =
        (dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = args->positional[0], .nq = run->robot.nq, .nv = run->robot.nv,
                                                .joint_count = run->robot.name_count, .joint_names = run->robot.names);
    query_options_apply(&run->settings, &run->query);
    return code == EXIT_OK ? long_timeout(args, client, &run->query.timeout) : code;
}

static void close_run(motion_run *run) {
    trace_close(&run->rows);
    state_source_close(&run->source);
    state_batch_free(&run->batch);
    gains_free(&run->gains);
    query_options_free(&run->settings);
    layout_free(&run->robot);
    dyn_client_description_free(run->description);
}

/* Fills the batch with the next states. Reports forces of single states, since a motion has the same forces in all
 * states. */
static exit_code fill_batch(motion_run *run) {
    state_source_fill(&run->source, &run->batch);
    return run->batch.force_count == 0
               ? EXIT_OK
               : complain(EXIT_USAGE, "%s: external_forces: a motion has the same forces in all states: pass --force",
                          run->source.path);
}

/* ---- rollout ----------------------------------------------------------------------------------------------------- */

/* Returns the contact surfaces in a row of a rollout. */
static trace_contacts contacts_of(const dyn_client_rollout *result, size_t row) {
    size_t surfaces = result->contact_surface_count;
    return surfaces == 0
               ? (trace_contacts){0}
               : (trace_contacts){result->contact_forces + 3 * surfaces * row, result->contact_gaps + surfaces * row,
                                  result->contact_slips + surfaces * row};
}

static exit_code print_states(motion_run *run, const dyn_client_rollout *result) {
    size_t nq = run->robot.nq, nv = run->robot.nv;
    exit_code code = EXIT_OK;
    for (size_t row = 0; code == EXIT_OK && row < result->samples * result->rows; row++) {
        double time = result->time[row % result->rows];
        code = trace_row(&run->rows, &(trace_values){.step = (uint64_t)llround(time / run->stepping.step_length),
                                                     .time = time,
                                                     .q = result->q + row * nq,
                                                     .v = result->v + row * nv,
                                                     .tau = result->tau ? result->tau + row * nv : NULL,
                                                     .contacts = contacts_of(result, row)});
    }
    return code;
}

/* Prints how the constraints were computed. Returns false when out of memory. */
static bool print_constraints(const dyn_client_rollout *result, const dyn_client_outcome *outcome) {
    return page_printf(2, "constraints: method %s; rank %zu and condition %.3g at the end; largest residual %.3g",
                       dyn_client_constraint_method_name(result->constraint_method), outcome->constraint_rank,
                       outcome->constraint_condition, outcome->constraint_residual);
}

/* Prints the end state and the outcome of the only sample. Returns false when out of memory. */
static bool print_end(const motion_run *run, const dyn_client_rollout *result) {
    const layout *robot = &run->robot;
    const dyn_client_outcome *outcome = &result->outcomes[0];
    table *lines = table_create();
    table_add_column(lines, "joint", TABLE_NAME);
    table_add_column(lines, "v", TABLE_RIGHT);
    table_add_column(lines, "", TABLE_UNIT);
    for (size_t k = 0; k < robot->nv; k++) {
        const coordinate *c = &robot->v[k];
        table_add_cell(lines, "%s", c->name);
        table_add_number(lines, result->v[k]);
        table_add_cell(lines, "%s", c->joint->v_units[c->index]);
    }
    table *positions = table_create();
    table_add_column(positions, "joint", TABLE_NAME);
    table_add_column(positions, "q", TABLE_RIGHT);
    table_add_column(positions, "", TABLE_UNIT);
    for (size_t k = 0; k < robot->nq; k++) {
        const coordinate *c = &robot->q[k];
        table_add_cell(positions, "%s", c->name);
        table_add_number(positions, result->q[k]);
        table_add_cell(positions, "%s", c->joint->q_units[c->index]);
    }
    printf("Rollout of %s after %g s\n\n", run->query.model, result->time[0]);
    bool printed = table_print(positions, 0);
    printf("\n");
    printed = table_print(lines, 0) && printed;
    printf("\n");
    printed = page_printf(2, "%s%s%s; %llu steps, %llu stops; the energy went %.3g J away from that at the start",
                          dyn_client_sample_status_name(outcome->status), *outcome->joint != '\0' ? ": joint " : "",
                          outcome->joint, (unsigned long long)outcome->steps, (unsigned long long)outcome->stops,
                          outcome->energy_drift) &&
              printed;
    printed = print_closure_error(outcome->constraint, outcome->closure_error) && printed;
    printed = (outcome->constraint_rank == 0 || print_constraints(result, outcome)) && printed;
    if (result->contact_surface_count > 0) {
        printed = page_printf(2, "contacts: at most %zu sweeps in a step; largest residual %.3g m/s",
                              outcome->contact_sweeps, outcome->contact_residual) &&
                  print_contact_table(run->description, result->contact_surface_count, result->contact_forces,
                                      result->contact_gaps, result->contact_slips) &&
                  printed;
    }
    table_free(lines);
    table_free(positions);
    return printed;
}

/* Prints a line with the outcome of each sample; `first` is the number of the first state. Returns false when out of
 * memory. */
static bool print_outcomes(size_t first, const dyn_client_rollout *result) {
    table *lines = table_create();
    static const char *const headings[] = {"state", "status",           "joint",        "steps",
                                           "stops", "energy drift [J]", "closure error"};
    bool has_loops = result->samples > 0 && *result->outcomes[0].constraint != '\0';
    for (size_t i = 0; i < sizeof headings / sizeof *headings - !has_loops; i++) {
        table_add_column(lines, headings[i], i == 1 ? TABLE_LEFT : i == 2 ? TABLE_NAME : TABLE_RIGHT);
    }
    for (size_t s = 0; s < result->samples; s++) {
        const dyn_client_outcome *o = &result->outcomes[s];
        table_add_cell(lines, "%zu", first + s);
        table_add_cell(lines, "%s", dyn_client_sample_status_name(o->status));
        table_add_cell(lines, "%s", o->joint);
        table_add_cell(lines, "%llu", (unsigned long long)o->steps);
        table_add_cell(lines, "%llu", (unsigned long long)o->stops);
        table_add_number(lines, o->energy_drift);
        if (has_loops) {
            table_add_cell(lines, "%.3g", o->closure_error);
        }
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

static exit_code print_rollout(motion_run *run, size_t first, const dyn_client_rollout *result) {
    if (run->rows.form != TRACE_QUIET) {
        exit_code code = print_states(run, result);
        for (size_t s = 0; s < result->samples; s++) {
            if (result->outcomes[s].status != DYN_CLIENT_SAMPLE_STATUS_RAN) {
                fprintf(stderr, "dynamicsctl: state %zu stopped after %llu steps: %s%s%s\n", first + s,
                        (unsigned long long)result->outcomes[s].steps,
                        dyn_client_sample_status_name(result->outcomes[s].status),
                        *result->outcomes[s].joint != '\0' ? ", joint " : "", result->outcomes[s].joint);
            }
        }
        return code;
    }
    bool printed = result->samples == 1 ? print_end(run, result) : print_outcomes(first, result);
    return printed ? EXIT_OK : complain_memory();
}

/* Sets the reference of the controller: the configuration --to, or the start of each state. The caller frees `to`.
 * Reports errors. */
static exit_code read_reference(motion_run *run, double **to, dyn_client_rollout_request *request) {
    const char *text = run->args->value[OPTION_TO];
    char message[PARSE_MESSAGE_SIZE];
    if (run->stepping.law == DYN_CLIENT_CONTROL_LAW_NONE) {
        return !text ? EXIT_OK : complain(EXIT_USAGE, "--to needs a controller that goes there: pass --control");
    }
    request->q_ref = run->batch.values[STATE_Q];
    request->reference_layout = DYN_CLIENT_LAYOUT_CONSTANT;
    if (!text) {
        return EXIT_OK;
    }
    size_t nq = run->robot.nq;
    *to = calloc(run->batch.count * nq + 1, sizeof **to);
    if (!*to) {
        return complain_memory();
    }
    /* The reference of a joint that --to does not name is its start. */
    memcpy(*to, run->batch.values[STATE_Q], run->batch.count * nq * sizeof **to);
    for (size_t s = 0; s < run->batch.count; s++) {
        if (!coordinate_values_read(&run->robot, true, text, *to + s * nq, message, sizeof message)) {
            return complain(EXIT_USAGE, "--to %s: %s", text, message);
        }
    }
    request->q_ref = *to;
    return EXIT_OK;
}

/* Requests the rollout of the batch and prints its result. `first` is the number of the batch's first state. */
static exit_code roll_out(motion_run *run, size_t first, size_t steps, size_t stride) {
    dyn_client_error error;
    dyn_client_rollout *result;
    progress_bar bar = {0};
    double *to = NULL;
    bool is_traced = run->rows.form != TRACE_QUIET, is_accurate = run->args->value[OPTION_ACCURATE] != NULL;
    dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = run->batch.values[STATE_Q], .v = run->batch.values[STATE_V],
                                        .tau = run->batch.values[STATE_TAU], .tau_layout = DYN_CLIENT_LAYOUT_CONSTANT,
                                        .stepping = &run->stepping, .steps = steps, .stride = is_traced ? stride : 0,
                                        .only_last = !is_traced, .with_tau = is_traced && !is_accurate,
                                        .with_energy = true, .is_accurate = is_accurate);
    request.with_contacts = run->description->contact_surface_count > 0 && !is_accurate;
    exit_code code = read_reference(run, &to, &request);
    if (code == EXIT_OK) {
        run->query.samples = run->batch.count;
        run->query.progress = progress_bar_has_reader() ? progress_bar_draw : NULL;
        run->query.progress_context = &bar;
        dyn_client_status status = dyn_client_rollout_run(run->client, &run->query, &request, &result, &error);
        progress_bar_close(&bar);
        if (status != DYN_CLIENT_OK) {
            code = complain_call(&error, NULL);
        } else {
            code = print_rollout(run, first, result);
            dyn_client_rollout_free(result);
        }
    }
    free(to);
    return code;
}

exit_code run_rollout(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    motion_run run;
    double duration;
    size_t stride = 1, first = 1;
    exit_code code = open_run(args, client, MOST_SAMPLES, &run);
    if (code == EXIT_OK) {
        code = read_stepping(&run, false);
    }
    if (code == EXIT_OK) {
        code = read_number(args, OPTION_DURATION, "duration", false, 1, &duration);
    }
    if (code == EXIT_OK) {
        code = read_count(args, OPTION_STRIDE, "stride", 1, 1e9, &stride);
    }
    if (code == EXIT_OK && args->value[OPTION_ACCURATE] && run.rows.form != TRACE_QUIET) {
        run.rows.has_tau = false;
    }
    double steps = code == EXIT_OK ? round(duration / run.stepping.step_length) : 1;
    if (code == EXIT_OK && !(steps >= 1 && steps < 1e15)) {
        code = complain(EXIT_USAGE, "--duration %g with --step-length %g are %g steps; take at least 1", duration,
                        run.stepping.step_length, steps);
    }
    if (code == EXIT_OK && progress_bar_has_reader()) {
        progress_bar_catch_interrupts();
    }
    while (code == EXIT_OK && !run.source.ended) {
        code = fill_batch(&run);
        if (code == EXIT_OK && run.batch.count > 0) {
            code = roll_out(&run, first, (size_t)steps, stride);
        }
        first += run.batch.count;
    }
    if (code == EXIT_OK) {
        code = state_source_finish(&run.source);
    }
    close_run(&run);
    return code == EXIT_OK ? check_output() : code;
}

/* ---- trajectory -------------------------------------------------------------------------------------------------- */

/* Arrays with all rows of a motion. */
typedef struct motion_rows {
    size_t count, capacity;
    double *q, *v, *a, *tau, *time;
} motion_rows;

static bool grow(double **values, size_t count) {
    double *grown = realloc(*values, (count + 1) * sizeof **values);
    *values = grown ? grown : *values;
    return grown != NULL;
}

static exit_code append(motion_run *run, double step, motion_rows *rows) {
    size_t nq = run->robot.nq, nv = run->robot.nv, count = run->batch.count;
    if (rows->count + count > MOST_ROWS) {
        return complain(EXIT_USAGE, "the motion has more than %d rows; split it", MOST_ROWS);
    }
    if (rows->count + count > rows->capacity) {
        rows->capacity = 2 * (rows->count + count);
        if (!grow(&rows->q, rows->capacity * nq) || !grow(&rows->v, rows->capacity * nv) ||
            !grow(&rows->a, rows->capacity * nv) || !grow(&rows->tau, rows->capacity * nv) ||
            !grow(&rows->time, rows->capacity)) {
            return complain_memory();
        }
    }
    memcpy(rows->q + rows->count * nq, run->batch.values[STATE_Q], count * nq * sizeof(double));
    memcpy(rows->v + rows->count * nv, run->batch.values[STATE_V], count * nv * sizeof(double));
    memcpy(rows->a + rows->count * nv, run->batch.values[STATE_A], count * nv * sizeof(double));
    memcpy(rows->tau + rows->count * nv, run->batch.values[STATE_TAU], count * nv * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        rows->time[rows->count + i] = (double)(rows->count + i) * step;
    }
    rows->count += count;
    return EXIT_OK;
}

static void free_rows(motion_rows *rows) {
    free(rows->q);
    free(rows->v);
    free(rows->a);
    free(rows->tau);
    free(rows->time);
}

/* Prints the limits that the motion exceeds: on standard error if standard output has the rows, otherwise as a table.
 * Returns false when out of memory. */
static bool print_excesses(const motion_run *run, const dyn_client_trajectory *t) {
    if (run->rows.form != TRACE_QUIET) {
        for (size_t i = 0; i < t->excess_count; i++) {
            const dyn_client_excess *e = &t->excesses[i];
            fprintf(stderr,
                    "dynamicsctl: joint %s: %s limit %g, %g at %g s; beyond it in %llu rows from %g s to %g s\n",
                    e->joint, dyn_client_limit_kind_name(e->kind), e->limit, e->value, e->worst_time,
                    (unsigned long long)e->rows, e->first_time, e->last_time);
        }
        return true;
    }
    if (t->excess_count == 0) {
        printf("No limit of the description is exceeded.\n");
        return true;
    }
    table *lines = table_create();
    static const char *const headings[] = {"joint", "limit", "stated", "worst", "at [s]", "rows", "from [s]", "to [s]"};
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        table_add_column(lines, headings[i], i == 0 ? TABLE_NAME : i == 1 ? TABLE_LEFT : TABLE_RIGHT);
    }
    for (size_t i = 0; i < t->excess_count; i++) {
        const dyn_client_excess *e = &t->excesses[i];
        table_add_cell(lines, "%s", e->joint);
        table_add_cell(lines, "%s", dyn_client_limit_kind_name(e->kind));
        table_add_number(lines, e->limit);
        table_add_number(lines, e->value);
        table_add_number(lines, e->worst_time);
        table_add_cell(lines, "%llu", (unsigned long long)e->rows);
        table_add_number(lines, e->first_time);
        table_add_number(lines, e->last_time);
    }
    printf("Limits that are exceeded\n\n");
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

/* Writes the rows of a motion to the trace and prints the limits that it exceeds. `first` points to the first row of
 * each array. Reports errors. */
static exit_code print_trajectory(motion_run *run, const motion_rows *rows, const trace_values *first,
                                  const dyn_client_trajectory *t) {
    size_t nq = run->robot.nq, nv = run->robot.nv;
    for (size_t i = 0; i < rows->count; i++) {
        exit_code code = trace_row(&run->rows, &(trace_values){.step = i,
                                                               .time = rows->time[i],
                                                               .q = first->q + i * nq,
                                                               .v = first->v + i * nv,
                                                               .tau = first->tau + i * nv,
                                                               .a = first->a ? first->a + i * nv : NULL});
        if (code != EXIT_OK) {
            return code;
        }
    }
    if (t->diverged_row > 0) {
        fprintf(stderr, "dynamicsctl: the robot diverged at row %llu: joint %s\n", (unsigned long long)t->diverged_row,
                t->diverged_joint);
    }
    if (run->rows.form == TRACE_QUIET) {
        printf("Trajectory of %s, %zu rows in %g s\n\n", run->query.model, rows->count, rows->time[rows->count - 1]);
        print_closure_error(t->constraint, t->closure_error);
    }
    return print_excesses(run, t) ? EXIT_OK : complain_memory();
}

static exit_code compute_forces(motion_run *run, const motion_rows *rows) {
    dyn_client_error error;
    dyn_client_trajectory *t;
    size_t rates;
    exit_code code = arguments_choice(run->args, OPTION_RATES, sizeof RATES / sizeof RATES[0], RATES,
                                      DYN_CLIENT_RATES_SPLINE, &rates);
    if (code != EXIT_OK) {
        return code;
    }
    bool has_rates = rates == DYN_CLIENT_RATES_GIVEN;
    run->query.samples = rows->count;
    if (dyn_client_inverse_dynamics_trajectory(run->client, &run->query, rows->time, rows->q,
                                               has_rates ? rows->v : NULL, has_rates ? rows->a : NULL,
                                               (dyn_client_rates)rates, NULL, &t, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, run->source.path);
    }
    run->rows.chosen = run->rows.chosen < TRACE_ARRAYS ? run->rows.chosen : TRACE_TAU;
    const trace_values first = {
        .q = rows->q, .v = has_rates ? rows->v : t->v, .a = has_rates ? rows->a : t->a, .tau = t->tau};
    code = print_trajectory(run, rows, &first, t);
    dyn_client_trajectory_free(t);
    return code;
}

static exit_code compute_accelerations(motion_run *run, const motion_rows *rows) {
    dyn_client_error error;
    dyn_client_trajectory *t;
    run->query.samples = 1;
    if (dyn_client_forward_dynamics_trajectory(run->client, &run->query, rows->q, rows->v, rows->count, rows->tau, NULL,
                                               &run->stepping, &t, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, run->source.path);
    }
    exit_code code = print_trajectory(run, rows, &(trace_values){.q = t->q, .v = t->v, .tau = rows->tau}, t);
    dyn_client_trajectory_free(t);
    return code;
}

exit_code run_trajectory(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    motion_run run;
    motion_rows rows = {0};
    const char *direction = args->positional[1];
    bool is_forward = strcmp(direction, "forward") == 0;
    if (!is_forward && strcmp(direction, "inverse") != 0) {
        return complain(EXIT_USAGE, "trajectory %s: pass inverse or forward", direction);
    }
    exit_code code = open_run(args, client, MOST_SAMPLES, &run);
    if (code == EXIT_OK) {
        code = read_stepping(&run, true);
    }
    while (code == EXIT_OK && !run.source.ended) {
        code = fill_batch(&run);
        if (code == EXIT_OK) {
            code = append(&run, run.stepping.step_length, &rows);
        }
    }
    if (code == EXIT_OK) {
        code = state_source_finish(&run.source);
    }
    if (code == EXIT_OK) {
        code = is_forward ? compute_accelerations(&run, &rows) : compute_forces(&run, &rows);
    }
    free_rows(&rows);
    close_run(&run);
    return code == EXIT_OK ? check_output() : code;
}
