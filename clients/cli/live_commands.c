/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands simulate, watch, stream, record and replay, which run, show and record simulations and streams of the
 * daemon.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"
#include "files.h"
#include "gains.h"
#include "query_options.h"
#include "live_lists.h"
#include "numbers.h"
#include "page.h"
#include "progress_bar.h"
#include "result_tables.h"
#include "state_source.h"
#include "token.h"
#include "trace.h"

/* REPORT_INTERVAL: time between two reports of statistics, s. LONGEST_WAIT: longest wait for a message between them,
 * s. */
static const double REPORT_INTERVAL = 1, LONGEST_WAIT = 0.2;

enum { REPLAY_STATES = 4096, CHUNK_POINTS = 16 };

/* ---- options ----------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
}

/* Makes SIGINT (Ctrl-C) and SIGTERM set `interrupted`, at which a command ends and deletes its objects in the
 * daemon. */
static void catch_interrupts(void) {
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* Reads the positive number of an option, or `standard` if the option is absent. Reports errors. */
static exit_code read_number(const arguments *args, option wanted, const char *name, double standard, double *value) {
    const char *text = args->value[wanted];
    *value = standard;
    if (text && !(parse_number(text, value) && *value > 0)) {
        return complain(EXIT_USAGE, "--%s %s: pass a number that is more than 0", name, text);
    }
    return EXIT_OK;
}

/* Description of a command's robot, and its layout. */
typedef struct live_robot {
    dyn_client_description *description;
    layout layout;
} live_robot;

static exit_code open_robot(dyn_client *client, const char *model, const char *joints, live_robot *opened) {
    dyn_client_error error;
    *opened = (live_robot){0};
    if (dyn_client_describe_model(client, model, 0, &opened->description, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    return layout_create(opened->description, joints, &opened->layout);
}

/* Requests the description of the robot of a simulation or stream, and lays the robot out in the order of joints that
 * the daemon reports. */
static exit_code open_robot_in_order(dyn_client *client, const char *model, size_t count, const char *const *names,
                                     live_robot *opened) {
    dyn_client_error error;
    *opened = (live_robot){0};
    if (dyn_client_describe_model(client, model, 0, &opened->description, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    return layout_create_in_order(opened->description, count, names, &opened->layout);
}

static void close_robot(live_robot *closed) {
    layout_free(&closed->layout);
    dyn_client_description_free(closed->description);
}

/* ---- watching ---------------------------------------------------------------------------------------------------- */

/* Statistics of received messages since the last report. */
typedef struct observation {
    uint64_t messages, rows, lost, all_lost;
    double age; /* s, sum */
    double since;
    uint64_t instance; /* instance of the daemon; 0: no message yet */
} observation;

/* Writes the statistics to standard error, at most once in REPORT_INTERVAL. Writes nothing while a plot is drawn, which
 * leaves no room for them. */
static void report(observation *seen, const char *name, const trace *rows) {
    double now = trace_now(), seconds = now - seen->since;
    if (seconds < REPORT_INTERVAL || rows->form == TRACE_PLOT) {
        return;
    }
    fprintf(stderr, "%s: %.1f Hz, %.1f messages/s, age %.3f ms, lost %llu messages (%llu in all)\n", name,
            (double)seen->rows / seconds, (double)seen->messages / seconds,
            seen->messages > 0 ? 1e3 * seen->age / (double)seen->messages : 0.0, (unsigned long long)seen->lost,
            (unsigned long long)seen->all_lost);
    fflush(stderr);
    *seen = (observation){.since = now, .all_lost = seen->all_lost, .instance = seen->instance};
}

/* Returns the time in ns since 1970-01-01 UTC. */
static int64_t wall_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Writes the rows of an update to the trace until it has `most` rows. Ignores rows of another length than the
 * layout's. */
static exit_code show_rows(const dyn_client_update *update, size_t most, trace *rows) {
    bool fits = update->nv == rows->robot->nv && (!rows->has_state || update->nq == rows->robot->nq);
    exit_code code = EXIT_OK;
    for (size_t i = 0; fits && code == EXIT_OK && i < update->count && rows->rows < most; i++) {
        code = trace_row(rows, &(trace_values){.simulation = rows->robot->robot ? NULL : update->simulation,
                                               .step = update->step[i],
                                               .time = update->time[i],
                                               .q = rows->has_state ? update->q + i * update->nq : NULL,
                                               .v = rows->has_state ? update->v + i * update->nv : NULL,
                                               .tau = update->tau + i * update->nv});
    }
    return code;
}

/* Writes the rows of an update of one of several simulations to the trace, each with the name of the simulation. */
static exit_code show_rows_of_group(const dyn_client_update *update, size_t most, trace *rows) {
    const layout sizes = {.nq = update->nq, .nv = update->nv};
    rows->robot = &sizes;
    exit_code code = show_rows(update, most, rows);
    rows->robot = NULL;
    return code;
}

/* Counts an update, with the last one of its message also the message, and writes its rows to the trace, up to `most`
 * rows of all messages. Writes an event to standard error. Sets *ended after an event that ends the topic. */
static exit_code show(const dyn_client_update *update, size_t most, observation *seen, trace *rows, bool *ended) {
    const bool is_group = !rows->robot;
    seen->messages += update->remaining == 0;
    seen->lost += update->lost;
    seen->all_lost += update->lost;
    seen->age += update->remaining == 0 ? 1e-9 * (double)(wall_now() - update->stamp_ns) : 0;
    if (seen->instance != 0 && seen->instance != update->instance) {
        fprintf(stderr, "the daemon was restarted, as instance %llu\n", (unsigned long long)update->instance);
    }
    seen->instance = update->instance;
    if (update->kind == DYN_CLIENT_UPDATE_KIND_STATES || update->kind == DYN_CLIENT_UPDATE_KIND_TORQUES) {
        seen->rows += update->count;
        return is_group ? show_rows_of_group(update, most, rows) : show_rows(update, most, rows);
    }
    fprintf(stderr, "%s%s%s: %s\n", is_group ? update->simulation : "", is_group ? ": " : "", update->text,
            update->message);
    *ended = !is_group && (strcmp(update->text, "deleted") == 0 || strcmp(update->text, "closed") == 0 ||
                           strcmp(update->text, "expired") == 0);
    return EXIT_OK;
}

/* A watch and its limits: a duration and a number of rows. `renew` (may be NULL) is called periodically. */
typedef struct watching {
    dyn_client_watch *watch;
    const char *name;
    double duration; /* s; INFINITY: unlimited */
    size_t count;    /* rows; SIZE_MAX: unlimited */
    dyn_client_status (*renew)(void *context, dyn_client_error *error);
    void *context;
} watching;

static exit_code watch_topic(const watching *w, trace *rows) {
    dyn_client_error error;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    observation seen = {.since = trace_now()};
    double end = trace_now() + w->duration, next_life = trace_now() + REPORT_INTERVAL;
    bool ended = false;
    exit_code code = EXIT_OK;
    while (code == EXIT_OK && !ended && !interrupted && trace_now() < end && rows->rows < w->count) {
        dyn_client_status status =
            dyn_client_watch_next(w->watch, fmin(LONGEST_WAIT, fmax(end - trace_now(), 1e-3)), &update, &error);
        if (status == DYN_CLIENT_OK) {
            code = show(&update, w->count, &seen, rows, &ended);
        } else if (status != DYN_CLIENT_TIMEOUT) {
            return complain_call(&error, NULL);
        }
        report(&seen, w->name, rows);
        if (w->renew && trace_now() > next_life) {
            next_life = trace_now() + REPORT_INTERVAL;
            if (w->renew(w->context, &error) != DYN_CLIENT_OK) {
                return complain_call(&error, NULL);
            }
        }
    }
    return code;
}

/* Returns whether a name stands for several simulations. */
static bool is_name_of_group(const char *name) {
    const size_t length = strlen(name);
    return length > 0 && name[length - 1] == '*';
}

/* Opens a watch of simulations whose names begin alike. */
static exit_code open_group_watch(const arguments *args, dyn_client *client, const char *name,
                                  dyn_client_watch **watch) {
    dyn_client_error error;
    if (args->value[OPTION_CSV] || args->value[OPTION_PLOT]) {
        return complain(EXIT_USAGE, "%s: several simulations have no columns in common; pass --json", name);
    }
    return dyn_client_watch_simulation(client, name, 0, watch, &error) == DYN_CLIENT_OK ? EXIT_OK
                                                                                        : complain_call(&error, NULL);
}

/* Opens a watch of the simulation of that name, or of the stream if no simulation has the name, and the robot of its
 * model. */
static exit_code open_watch(dyn_client *client, const char *name, bool *is_simulation, live_robot *robot,
                            dyn_client_watch **watch) {
    dyn_client_error error;
    dyn_client_simulation *simulation;
    dyn_client_stream_list *streams;
    dyn_client_status status = dyn_client_get_simulation(client, name, 0, 0, &simulation, &error);
    *is_simulation = status == DYN_CLIENT_OK;
    if (status == DYN_CLIENT_OK) {
        exit_code code =
            open_robot_in_order(client, simulation->model, simulation->joint_count, simulation->joint_names, robot);
        dyn_client_simulation_free(simulation);
        if (code == EXIT_OK && dyn_client_watch_simulation(client, name, 0, watch, &error) != DYN_CLIENT_OK) {
            code = complain_call(&error, NULL);
        }
        return code;
    }
    dyn_client_error stream_error;
    if (status != DYN_CLIENT_NOT_FOUND ||
        dyn_client_get_stream(client, name, 0, &streams, &stream_error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    const dyn_client_stream_info *stream = &streams->streams[0];
    exit_code code = open_robot_in_order(client, stream->model, stream->joint_count, stream->joint_names, robot);
    dyn_client_stream_list_free(streams);
    if (code == EXIT_OK && dyn_client_watch_stream(client, name, 0, watch, &error) != DYN_CLIENT_OK) {
        code = complain_call(&error, NULL);
    }
    return code;
}

exit_code run_watch(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    watching w = {.name = args->positional[0], .count = SIZE_MAX};
    const char *count = args->value[OPTION_COUNT];
    live_robot robot = {0};
    trace rows = {0};
    bool is_simulation = false;
    long most = 0;
    if (count && !parse_integer(count, 1, 1000000000, &most)) {
        return complain(EXIT_USAGE, "--count %s: pass a whole number of rows", count);
    }
    if (count) {
        w.count = (size_t)most;
    }
    exit_code code = read_number(args, OPTION_DURATION, "duration", INFINITY, &w.duration);
    const bool is_group = is_name_of_group(w.name);
    if (code == EXIT_OK) {
        code = is_group ? open_group_watch(args, client, w.name, &w.watch)
                        : open_watch(client, w.name, &is_simulation, &robot, &w.watch);
    }
    if (code == EXIT_OK) {
        code = trace_open(args, is_group ? NULL : &robot.layout, is_group || is_simulation, &rows);
    }
    catch_interrupts();
    if (code == EXIT_OK) {
        code = watch_topic(&w, &rows);
    }
    trace_close(&rows);
    dyn_client_watch_close(w.watch);
    close_robot(&robot);
    return code;
}

/* ---- simulate ---------------------------------------------------------------------------------------------------- */

/* A simulation that this process creates and deletes, and the values of its options. */
typedef struct own_simulation {
    dyn_client *client;
    char name[80];
    uint64_t token;
    double duration, frequency;
    live_robot robot;
    state_source source;
    state_batch start;
    query_options settings;
    gains gains;
    dyn_client_query query;
    dyn_client_stepping stepping;
    dyn_client_loop_closure closure;
    dyn_client_simulation_options options; /* refers to the query and the stepping */
} own_simulation;

static dyn_client_status renew_lease(void *context, dyn_client_error *error) {
    own_simulation *own = context;
    dyn_client_simulation *seen;
    dyn_client_status status = dyn_client_get_simulation(own->client, own->name, own->token, 0, &seen, error);
    if (status == DYN_CLIENT_OK) {
        dyn_client_simulation_free(seen);
    }
    return status;
}

/* Reads the options of a simulation. Reports errors. */
static exit_code read_simulation(const arguments *args, own_simulation *own) {
    static const char *const integrators[] = {"semi_implicit_euler", "explicit_euler", "rk4"};
    static const char *const laws[] = {"none", "pd", "pd_gravity", "computed_torque"};
    static const char *const compiled_steps[] = {"where_ready", "never", "always"};
    dyn_client_simulation_options *o = &own->options;
    size_t integrator = 0, law = 0, compiled = 0;
    long seed = 0;
    exit_code code = read_number(args, OPTION_STEP_LENGTH, "step-length", 1e-3, &own->stepping.step_length);
    if (code == EXIT_OK) {
        code = read_number(args, OPTION_DURATION, "duration", 1, &own->duration);
    }
    if (code == EXIT_OK) {
        code = read_number(args, OPTION_FREQUENCY, "frequency", 100, &own->frequency);
    }
    if (code == EXIT_OK) {
        code = read_number(args, OPTION_RATE, "rate", 0, &o->rate);
    }
    if (code == EXIT_OK) {
        code = read_number(args, OPTION_DISTURBANCE, "disturbance", 0, &o->disturbance);
    }
    if (code == EXIT_OK) {
        code = arguments_choice(args, OPTION_INTEGRATOR, 3, integrators, 0, &integrator);
    }
    if (code == EXIT_OK) {
        code = arguments_choice(args, OPTION_CONTROL, 4, laws, 0, &law);
    }
    if (code == EXIT_OK) {
        code = arguments_choice(args, OPTION_COMPILED, 3, compiled_steps, 0, &compiled);
    }
    if (code == EXIT_OK) {
        code = loop_closure_options_read(args, &own->closure, &own->stepping);
    }
    if (code == EXIT_OK && args->value[OPTION_SEED] && !parse_integer(args->value[OPTION_SEED], 0, 1000000000, &seed)) {
        code = complain(EXIT_USAGE, "--seed %s: pass a whole number", args->value[OPTION_SEED]);
    }
    o->name = args->value[OPTION_NAME];
    own->query.model = args->positional[0];
    own->stepping.integrator = (dyn_client_integrator)integrator;
    own->stepping.law = (dyn_client_control_law)law;
    own->stepping.compiled = (dyn_client_compiled_steps)compiled;
    ideal_option_apply(args, &own->stepping);
    o->seed = (uint64_t)seed;
    o->pace = args->value[OPTION_RATE] ? DYN_CLIENT_PACE_CLOCK : DYN_CLIENT_PACE_LOCKSTEP;
    o->is_paused = true;
    o->publish_rate = own->frequency;
    o->lease = 10;
    return code;
}

/* Reports a request that did fewer steps than requested. Returns OK if the caller can request the remaining steps: the
 * deadline ended the request after at least one step. */
static exit_code check_steps(dyn_client_steps_end end, uint64_t done, uint64_t steps, uint64_t step) {
    if (end == DYN_CLIENT_STEPS_END_STEPS) {
        return EXIT_OK;
    }
    if (end == DYN_CLIENT_STEPS_END_DIVERGED) {
        return complain(EXIT_REFUSED, "the simulation diverged after step %llu", (unsigned long long)step);
    }
    if (end == DYN_CLIENT_STEPS_END_DEADLINE && done > 0) {
        fprintf(stderr, "%llu of %llu steps were done before the deadline; going on after step %llu\n",
                (unsigned long long)done, (unsigned long long)steps, (unsigned long long)step);
        return EXIT_OK;
    }
    return complain(EXIT_REFUSED, "%llu of %llu steps were done (ended by: %s); the simulation stands after step %llu",
                    (unsigned long long)done, (unsigned long long)steps, dyn_client_steps_end_name(end),
                    (unsigned long long)step);
}

/* Returns the contact surfaces of a state. */
static trace_contacts contacts_of(const dyn_client_simulation *state) {
    return state->surfaces == 0 ? (trace_contacts){0}
                                : (trace_contacts){state->contact_forces, state->contact_gaps, state->contact_slips};
}

/* Steps a simulation that does not follow the clock through its duration, and writes its states to the trace. */
static exit_code step_through(own_simulation *own, trace *rows) {
    dyn_client_error error;
    dyn_client_simulation *state;
    uint64_t total = (uint64_t)llround(own->duration / own->stepping.step_length);
    uint64_t stride = (uint64_t)fmax(1, round(1 / (own->frequency * own->stepping.step_length)));
    for (uint64_t done = 0; done < total && !interrupted;) {
        uint64_t steps = stride < total - done ? stride : total - done;
        if (dyn_client_step_simulation(own->client, own->name, own->token, steps, NULL, 0, &state, &error) !=
            DYN_CLIENT_OK) {
            return complain_call(&error, NULL);
        }
        uint64_t steps_done = state->steps_done, step = state->step;
        dyn_client_steps_end end = state->ended_by;
        exit_code code = EXIT_OK;
        done += steps_done;
        if (end == DYN_CLIENT_STEPS_END_STEPS || end == DYN_CLIENT_STEPS_END_DIVERGED) {
            code = trace_row(rows, &(trace_values){.step = step,
                                                   .time = state->time,
                                                   .q = state->q,
                                                   .v = state->v,
                                                   .tau = state->tau,
                                                   .contacts = contacts_of(state)});
        }
        dyn_client_simulation_free(state);
        code = code == EXIT_OK ? check_steps(end, steps_done, steps, step) : code;
        if (code != EXIT_OK) {
            return code;
        }
    }
    return EXIT_OK;
}

static exit_code follow_clock(own_simulation *own, trace *rows) {
    dyn_client_error error;
    watching w = {.name = own->name,
                  .duration = own->duration / own->options.rate,
                  .count = SIZE_MAX,
                  .renew = renew_lease,
                  .context = own};
    if (dyn_client_watch_simulation(own->client, own->name, 0, &w.watch, &error) != DYN_CLIENT_OK ||
        dyn_client_resume_simulation(own->client, own->name, own->token, 0, NULL, &error) != DYN_CLIENT_OK) {
        dyn_client_watch_close(w.watch);
        return complain_call(&error, NULL);
    }
    exit_code code = watch_topic(&w, rows);
    dyn_client_watch_close(w.watch);
    return code;
}

static void print_end(const dyn_client_simulation *end, const layout *robot) {
    char clock[128] = "";
    if (end->pace == DYN_CLIENT_PACE_CLOCK) {
        snprintf(clock, sizeof clock, ", %llu overruns in %llu ticks, latest tick %.3f ms late",
                 (unsigned long long)end->overruns, (unsigned long long)end->ticks, 1e3 * end->longest_lateness);
    }
    page_printf(2, "%s: %llu steps of %g s, %s%s", end->name, (unsigned long long)end->step, end->step_length,
                dyn_client_condition_name(end->condition), clock);
    printf("\n");
    print_motion_table(robot, end->q, end->v, end->tau);
    if (*end->constraint != '\0') {
        printf("\n");
    }
    print_closure_error(end->constraint, end->closure_error);
    print_contact_table(robot->robot, end->surfaces, end->contact_forces, end->contact_gaps, end->contact_slips);
}

/* Deletes the recording of this name if --replace is present, so that a new one can have the name. */
static exit_code make_place(const arguments *args, dyn_client *client, const char *recording) {
    dyn_client_error error;
    if (!args->value[OPTION_REPLACE]) {
        return EXIT_OK;
    }
    if (!recording) {
        return complain(EXIT_USAGE, "--replace replaces a recording; add --record NAME");
    }
    dyn_client_status status = dyn_client_delete_recording(client, recording, 0, &error);
    return status == DYN_CLIENT_OK || status == DYN_CLIENT_NOT_FOUND ? EXIT_OK : complain_call(&error, NULL);
}

/* Runs the simulation, records it if wanted, and writes its states or its end state. */
static exit_code run_own(own_simulation *own, const arguments *args) {
    dyn_client_error error;
    dyn_client_simulation *end;
    trace rows;
    const char *recording = args->value[OPTION_RECORD];
    exit_code code = trace_open(args, &own->robot.layout, true, &rows);
    if (code == EXIT_OK) {
        code = make_place(args, own->client, recording);
    }
    if (code == EXIT_OK && recording &&
        dyn_client_record_simulation(own->client, own->name, own->token, recording, 0, &error) != DYN_CLIENT_OK) {
        code = complain_call(&error, NULL);
    }
    if (code == EXIT_OK) {
        code = own->options.pace == DYN_CLIENT_PACE_CLOCK ? follow_clock(own, &rows) : step_through(own, &rows);
    }
    /* Report a recording that failed before its end. */
    if (code == EXIT_OK && recording &&
        dyn_client_stop_recording(own->client, own->name, own->token, 0, NULL, NULL, &error) != DYN_CLIENT_OK) {
        code = complain_call(&error, NULL);
    }
    if (code == EXIT_OK && rows.form == TRACE_QUIET) {
        if (dyn_client_get_simulation(own->client, own->name, 0, 0, &end, &error) == DYN_CLIENT_OK) {
            print_end(end, &own->robot.layout);
            dyn_client_simulation_free(end);
        } else {
            code = complain_call(&error, NULL);
        }
    }
    trace_close(&rows);
    return code;
}

/* Reads the options and the initial state of a simulation, and opens its robot. Reports errors. */
static exit_code prepare_simulation(const arguments *args, own_simulation *own) {
    exit_code code = read_simulation(args, own);
    if (code == EXIT_OK) {
        code = query_options_read(args, &own->settings);
        own->stepping.brake_count = own->settings.brake_count, own->stepping.brakes = own->settings.brakes;
        own->stepping.solve_joints = args->value[OPTION_SOLVE_JOINTS] != NULL;
    }
    if (code == EXIT_OK) {
        code = contact_law_option_read(args, &own->stepping.contact_law);
    }
    if (code == EXIT_OK) {
        code = open_robot(own->client, args->positional[0], args->value[OPTION_JOINTS], &own->robot);
    }
    if (code == EXIT_OK) {
        code = gains_read(args, &own->robot.layout, &own->gains);
    }
    if (code == EXIT_OK) {
        code = state_source_open(args, &own->robot.layout, true, &own->source);
    }
    if (code == EXIT_OK && !state_batch_create(&own->robot.layout, 1, &own->start)) {
        code = complain_memory();
    }
    if (code == EXIT_OK) {
        state_source_fill(&own->source, &own->start);
        code = state_source_finish(&own->source);
    }
    return code;
}

static exit_code create_simulation(own_simulation *own) {
    dyn_client_simulation *created;
    dyn_client_error error;
    const layout *robot = &own->robot.layout;
    own->options.nq = robot->nq;
    own->options.nv = robot->nv;
    own->options.q = own->start.values[STATE_Q];
    own->options.v = own->start.values[STATE_V];
    own->query.joint_count = robot->name_count;
    own->query.joint_names = robot->names;
    query_options_apply(&own->settings, &own->query);
    own->stepping.gain_count = own->gains.count;
    own->stepping.kp = own->gains.kp;
    own->stepping.kd = own->gains.kd;
    if (dyn_client_create_simulation(own->client, &own->options, &own->token, &created, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    snprintf(own->name, sizeof own->name, "%s", created->name);
    dyn_client_simulation_free(created);
    if (own->options.pace == DYN_CLIENT_PACE_CLOCK) {
        fprintf(stderr, "%s: token %llu, for record and stream\n", own->name, (unsigned long long)own->token);
    }
    return EXIT_OK;
}

/* Deletes the simulation; it is no error if the simulation does not exist any more. Returns `code` if it is an error,
 * and otherwise reports a failure to delete. */
static exit_code delete_simulation(own_simulation *own, exit_code code) {
    dyn_client_error error;
    dyn_client_status status = dyn_client_delete_simulation(own->client, own->name, own->token, 0, NULL, &error);
    bool is_deleted = status == DYN_CLIENT_OK || status == DYN_CLIENT_NOT_FOUND;
    return is_deleted || code != EXIT_OK ? code : complain_call(&error, NULL);
}

exit_code run_simulate(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    own_simulation own = {.client = client,
                          .query = DYN_CLIENT_QUERY_INIT(),
                          .stepping = DYN_CLIENT_STEPPING_INIT(),
                          .options =
                              DYN_CLIENT_SIMULATION_OPTIONS_INIT(.query = &own.query, .stepping = &own.stepping)};
    exit_code code = prepare_simulation(args, &own);
    if (code == EXIT_OK) {
        code = create_simulation(&own);
    }
    if (code == EXIT_OK) {
        catch_interrupts();
        code = delete_simulation(&own, run_own(&own, args));
    }
    state_source_close(&own.source);
    state_batch_free(&own.start);
    query_options_free(&own.settings);
    gains_free(&own.gains);
    close_robot(&own.robot);
    return code;
}

/* ---- stream ------------------------------------------------------------------------------------------------------ */

/* A stream that this process opens and closes, and the values of its options. */
typedef struct own_stream {
    dyn_client *client;
    live_robot robot;
    state_source source;
    state_batch batch;
    trace rows;
    query_options settings;
    dyn_client_query query;
    dyn_client_stream_options options; /* refers to the query */
    dyn_client_stream *stream;
    dyn_client_watch *watch; /* NULL unless the kind is feedforward, which alone publishes torques */
    double frequency;        /* Hz; INFINITY: unlimited */
    double origin;           /* s, time of the first point */
    size_t sent;
    observation seen;
} own_stream;

/* Time, s, by which points are ahead of the simulation that they drive. */
static const double input_lead = 0.05;

/* Receives the published torques for `wait` seconds, or until those of all points have arrived. */
static exit_code receive_torques(own_stream *own, double wait) {
    dyn_client_error error;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT();
    double end = trace_now() + wait;
    if (!own->watch) {
        return EXIT_OK;
    }
    exit_code code = EXIT_OK;
    bool ended = false;
    do {
        dyn_client_status status = dyn_client_watch_next(own->watch, fmax(end - trace_now(), 1e-3), &update, &error);
        if (status == DYN_CLIENT_OK) {
            code = show(&update, SIZE_MAX, &own->seen, &own->rows, &ended);
        } else if (status != DYN_CLIENT_TIMEOUT) {
            return complain_call(&error, NULL);
        }
    } while (code == EXIT_OK && trace_now() < end && own->rows.rows < own->sent);
    return code;
}

/* Pushes the states of the batch at their times, a few in each message, and receives torques meanwhile. `start` is the
 * time of the first point on the monotonic clock, s. */
static exit_code push_batch(own_stream *own, double start) {
    const state_batch *batch = &own->batch;
    dyn_client_error error;
    double t[CHUNK_POINTS];
    bool is_paced = isfinite(own->frequency);
    double rate = is_paced ? own->frequency : 1000;
    size_t chunk = is_paced && own->frequency < 1000 ? 1 : CHUNK_POINTS;
    for (size_t first = 0; first < batch->count && !interrupted; first += chunk) {
        size_t count = batch->count - first < chunk ? batch->count - first : chunk;
        for (size_t i = 0; i < count; i++) {
            t[i] = own->origin + (double)(own->sent + i) / rate;
        }
        const double *q = batch->values[STATE_Q] + first * batch->robot->nq;
        const double *v = batch->values[STATE_V] + first * batch->robot->nv;
        const double *a = batch->values[STATE_A] + first * batch->robot->nv;
        const double *tau = batch->values[STATE_TAU] + first * batch->robot->nv;
        if (own->options.kind == DYN_CLIENT_STREAM_KIND_FEEDFORWARD) {
            tau = NULL;
        }
        if (dyn_client_push_points(own->stream, count, t, q, v, a, tau, 0, &error) != DYN_CLIENT_OK) {
            return complain_call(&error, NULL);
        }
        own->sent += count;
        double due = is_paced ? start + (double)own->sent / rate - trace_now() : 0;
        exit_code code = receive_torques(own, fmax(due, 0));
        if (code != EXIT_OK) {
            return code;
        }
        if (is_paced && (due = start + (double)own->sent / rate - trace_now()) > 0) {
            nanosleep(&(struct timespec){.tv_sec = (time_t)due, .tv_nsec = (long)(fmod(due, 1) * 1e9)}, NULL);
        }
    }
    return EXIT_OK;
}

static exit_code push_all(own_stream *own) {
    double start = trace_now();
    exit_code code = EXIT_OK;
    while (!own->source.ended && !interrupted && code == EXIT_OK) {
        state_source_fill(&own->source, &own->batch);
        code = push_batch(own, start);
    }
    if (code == EXIT_OK) {
        code = state_source_finish(&own->source);
    }
    for (double end = trace_now() + 2;
         code == EXIT_OK && own->watch && own->rows.rows < own->sent && trace_now() < end;) {
        code = receive_torques(own, LONGEST_WAIT);
    }
    if (own->options.kind == DYN_CLIENT_STREAM_KIND_SIMULATION_INPUT) {
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * input_lead)}, NULL);
    }
    return code;
}

/* Chooses the target of the points: a simulation (--token), a recording (--record), or torques. Opens the robot. */
static exit_code read_stream(const arguments *args, own_stream *own) {
    dyn_client_stream_options *options = &own->options;
    dyn_client_error error;
    dyn_client_simulation *target;
    const char *name = args->positional[0], *joints = args->value[OPTION_JOINTS];
    options->name = args->value[OPTION_NAME];
    options->recording = args->value[OPTION_RECORD];
    if (args->value[OPTION_TOKEN]) {
        exit_code code = read_token(args, "simulate --rate prints (what CreateSimulation returned)", &options->token);
        if (code != EXIT_OK) {
            return code;
        }
        if (options->recording || args->value[OPTION_REPLACE]) {
            return complain(EXIT_USAGE, "--token and --%s: pass one of them",
                            options->recording ? "record" : "replace");
        }
        if (dyn_client_get_simulation(own->client, name, 0, 0, &target, &error) != DYN_CLIENT_OK) {
            return complain_call(&error, NULL);
        }
        code = open_robot(own->client, target->model, joints, &own->robot);
        if (code == EXIT_OK && target->pace != DYN_CLIENT_PACE_CLOCK) {
            code = complain(EXIT_REFUSED, "simulation %s does not follow the clock; create it with a rate", name);
        }
        own->origin = target->time + input_lead;
        own->frequency = fmin(own->frequency, 1000);
        dyn_client_simulation_free(target);
        options->kind = DYN_CLIENT_STREAM_KIND_SIMULATION_INPUT;
        options->simulation = name;
        return code;
    }
    options->kind = options->recording ? DYN_CLIENT_STREAM_KIND_RECORD : DYN_CLIENT_STREAM_KIND_FEEDFORWARD;
    own->query.model = name;
    exit_code code = open_robot(own->client, name, joints, &own->robot);
    return code == EXIT_OK ? make_place(args, own->client, options->recording) : code;
}

/* Reads the options of a stream and opens the source of its states. Reports errors. */
static exit_code prepare_stream(const arguments *args, own_stream *own) {
    exit_code code = read_number(args, OPTION_FREQUENCY, "frequency", INFINITY, &own->frequency);
    if (code == EXIT_OK) {
        code = query_options_read(args, &own->settings);
    }
    if (code == EXIT_OK) {
        code = read_stream(args, own);
    }
    if (code == EXIT_OK) {
        code = state_source_open(args, &own->robot.layout, true, &own->source);
    }
    if (code == EXIT_OK && !state_batch_create(&own->robot.layout, 256, &own->batch)) {
        code = complain_memory();
    }
    if (code == EXIT_OK) {
        code = trace_open(args, &own->robot.layout, false, &own->rows);
    }
    return code;
}

static exit_code open_stream(own_stream *own) {
    dyn_client_error error;
    own->query.joint_count = own->robot.layout.name_count;
    own->query.joint_names = own->robot.layout.names;
    query_options_apply(&own->settings, &own->query);
    dyn_client_status status = dyn_client_open_stream(own->client, &own->options, &own->stream, &error);
    if (status == DYN_CLIENT_OK && own->options.kind == DYN_CLIENT_STREAM_KIND_FEEDFORWARD) {
        status = dyn_client_watch_stream(own->client, dyn_client_stream_name(own->stream), 0, &own->watch, &error);
    }
    return status == DYN_CLIENT_OK ? EXIT_OK : complain_call(&error, NULL);
}

/* Closes the stream. Reports a failed recording, and the final counters if the command shows no rows. `code` is the
 * result of the command so far. */
static exit_code close_stream(own_stream *own, const arguments *args, exit_code code) {
    dyn_client_error error;
    dyn_client_stream_list *end = NULL;
    if (dyn_client_close_stream(own->client, own->stream, 0, &end, &error) != DYN_CLIENT_OK || code != EXIT_OK) {
        dyn_client_stream_list_free(end);
        return code;
    }
    if (end->count > 0 && end->streams[0].recording_error[0] != '\0') {
        code = complain(EXIT_REFUSED, "%s", end->streams[0].recording_error);
    }
    if (own->rows.form != TRACE_QUIET) {
        dyn_client_stream_list_free(end);
        return code;
    }
    exit_code printed = print_streams(args, end);
    return code == EXIT_OK ? printed : code;
}

exit_code run_stream(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    own_stream own = {.client = client,
                      .query = DYN_CLIENT_QUERY_INIT(),
                      .options = DYN_CLIENT_STREAM_OPTIONS_INIT(.query = &own.query)};
    exit_code code = prepare_stream(args, &own);
    if (code == EXIT_OK) {
        code = open_stream(&own);
    }
    catch_interrupts();
    if (code == EXIT_OK) {
        code = push_all(&own);
    }
    if (own.stream) {
        code = close_stream(&own, args, code);
    }
    trace_close(&own.rows);
    dyn_client_watch_close(own.watch);
    state_batch_free(&own.batch);
    state_source_close(&own.source);
    query_options_free(&own.settings);
    close_robot(&own.robot);
    return code;
}

/* ---- recordings -------------------------------------------------------------------------------------------------- */

exit_code run_record(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    const char *name = args->positional[0], *recording = args->positional[1];
    dyn_client_error error;
    double duration;
    uint64_t token;
    exit_code code = read_token(args, "simulate --rate prints (what CreateSimulation returned)", &token);
    if (code == EXIT_OK) {
        code = read_number(args, OPTION_DURATION, "duration", INFINITY, &duration);
    }
    if (code == EXIT_OK) {
        code = make_place(args, client, recording);
    }
    if (code != EXIT_OK) {
        return code;
    }
    if (dyn_client_record_simulation(client, name, token, recording, 0, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    catch_interrupts();
    for (double until = trace_now() + duration; trace_now() < until && !interrupted;) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    if (dyn_client_stop_recording(client, name, token, 0, NULL, NULL, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    return EXIT_OK;
}

/* Requests the comparison of a whole recording with its replay, and shows the progress on a terminal. */
static dyn_client_status compare(dyn_client *client, const char *recording, dyn_client_replay **replay,
                                 dyn_client_error *error) {
    progress_bar bar = {0};
    dyn_client_terms terms = DYN_CLIENT_TERMS_INIT();
    if (progress_bar_has_reader()) {
        progress_bar_catch_interrupts();
        terms.progress = progress_bar_draw;
        terms.progress_context = &bar;
    }
    dyn_client_status status = dyn_client_replay_simulation(client, recording, NULL, &terms, replay, error);
    progress_bar_close(&bar);
    return status;
}

/* Writes every `stride`-th state of a replayed recording to the trace, REPLAY_STATES in each request. */
static exit_code show_replay(dyn_client *client, const char *recording, long stride, const dyn_client_replay *whole,
                             trace *rows) {
    dyn_client_error error;
    dyn_client_replay *part;
    for (uint64_t first = 0; first <= whole->steps && !interrupted;) {
        const dyn_client_rows states = {first, (uint64_t)stride, REPLAY_STATES};
        if (dyn_client_replay_simulation(client, recording, &states, NULL, &part, &error) != DYN_CLIENT_OK) {
            return complain_call(&error, NULL);
        }
        exit_code code = EXIT_OK;
        for (size_t i = 0; code == EXIT_OK && i < part->count; i++) {
            code = trace_row(rows, &(trace_values){.step = part->step[i],
                                                   .time = (double)part->step[i] * part->step_length,
                                                   .q = part->q + i * part->nq,
                                                   .v = part->v + i * part->nv,
                                                   .tau = part->tau + i * part->nv});
        }
        bool is_last = part->count < REPLAY_STATES;
        first = part->count > 0 ? part->step[part->count - 1] + (uint64_t)stride : first;
        dyn_client_replay_free(part);
        if (code != EXIT_OK || is_last) {
            return code;
        }
    }
    return EXIT_OK;
}

/* Reports the first step at which a replay differs from its recording. Other code than the recording's, if it computes
 * the replay, rounds differently; the error then names both. */
static exit_code complain_difference(const dyn_client_replay *replay) {
    unsigned long long step = replay->first_difference;
    if (replay->recorded_with[0] == '\0' || strcmp(replay->recorded_with, replay->computed_with) == 0) {
        return complain(EXIT_REFUSED, "step %llu is the first that differs", step);
    }
    return complain(EXIT_REFUSED,
                    "step %llu is the first that differs: it was recorded with %s, which is not there, and computed "
                    "with %s",
                    step, replay->recorded_with, replay->computed_with);
}

exit_code run_replay(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    const char *recording = args->positional[0], *text = args->value[OPTION_STRIDE];
    dyn_client_error error;
    dyn_client_replay *replay;
    live_robot robot = {0};
    trace rows = {0};
    long stride = 1;
    if (text && !parse_integer(text, 1, 1000000000, &stride)) {
        return complain(EXIT_USAGE, "--stride %s: pass a whole number of steps", text);
    }
    if (compare(client, recording, &replay, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    /* Request the names of joints only to show states: a comparison needs no loaded model. */
    bool is_shown = args->value[OPTION_CSV] || args->value[OPTION_JSON] || args->value[OPTION_PLOT] != NULL;
    exit_code code = is_shown
                         ? open_robot_in_order(client, replay->digest, replay->joint_count, replay->joint_names, &robot)
                         : EXIT_OK;
    if (code == EXIT_OK) {
        code = trace_open(args, &robot.layout, true, &rows);
    }
    catch_interrupts();
    if (code == EXIT_OK && rows.form != TRACE_QUIET) {
        code = show_replay(client, recording, stride, replay, &rows);
    }
    if (code == EXIT_OK && rows.form == TRACE_QUIET) {
        printf("%s: %s, %llu steps of %g s, %llu came out with the same bits%s\n", recording, replay->model,
               (unsigned long long)replay->steps, replay->step_length, (unsigned long long)replay->equal_steps,
               replay->is_truncated ? "; the recording lacks its end" : "");
    }
    if (code == EXIT_OK && replay->first_difference > 0) {
        code = complain_difference(replay);
    }
    trace_close(&rows);
    close_robot(&robot);
    dyn_client_replay_free(replay);
    return code;
}
