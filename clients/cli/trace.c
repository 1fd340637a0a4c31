/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a motion while it runs, as CSV, as JSON lines, or drawn in the terminal.
 */
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "csv_writer.h"
#include "json_writer.h"
#include "plot.h"

static const char *const ARRAYS[TRACE_ARRAYS] = {
    [TRACE_Q] = "q", [TRACE_V] = "v", [TRACE_TAU] = "tau", [TRACE_A] = "a"};

double trace_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

exit_code trace_open(const arguments *args, const layout *robot, bool has_state, trace *opened) {
    const char *csv = args->value[OPTION_CSV], *json = args->value[OPTION_JSON], *drawn = args->value[OPTION_PLOT];
    *opened = (trace){.robot = robot, .has_state = has_state, .has_tau = true, .chosen = TRACE_ARRAYS};
    if (!!csv + !!json + !!drawn > 1) {
        return complain(EXIT_USAGE, "pass one of --csv, --json and --plot");
    }
    opened->form = csv ? TRACE_CSV : json ? TRACE_JSON : drawn ? TRACE_PLOT : TRACE_QUIET;
    size_t chosen = TRACE_ARRAYS;
    exit_code code = EXIT_OK;
    if (drawn && drawn[0] != '\0') {
        code = arguments_choice(args, OPTION_PLOT, TRACE_ARRAYS, ARRAYS, TRACE_ARRAYS, &chosen);
    }
    opened->chosen = (trace_array)chosen;
    return code;
}

/* ---- CSV and JSON ------------------------------------------------------------------------------------------------ */

/* Prints the headings of one array, such as "q.elbow", which the option --states can read. */
static void print_headings(csv_writer *line, const char *array, size_t count, const coordinate *coordinates) {
    for (size_t i = 0; i < count; i++) {
        csv_text(line, "%s.%s", array, coordinates[i].name);
    }
}

/* Returns the number of contact surfaces in each row. */
static size_t surface_count(const trace *to) {
    return to->has_contacts ? to->robot->robot->contact_surface_count : 0;
}

/* Prints the headings of the contact surfaces, such as "contact_force.foot.x", which the option --states ignores. */
static void print_contact_headings(const trace *to, csv_writer *line) {
    static const char *const axes[] = {"x", "y", "z"};
    for (size_t i = 0; i < surface_count(to); i++) {
        const char *name = to->robot->robot->contact_surfaces[i].name;
        for (size_t k = 0; k < 3; k++) {
            csv_text(line, "contact_force.%s.%s", name, axes[k]);
        }
        csv_text(line, "contact_gap.%s", name);
        csv_text(line, "contact_slip.%s", name);
    }
}

static void print_header(const trace *to) {
    const layout *robot = to->robot;
    csv_writer line = {0};
    csv_text(&line, "step");
    csv_text(&line, "time");
    if (to->has_state) {
        print_headings(&line, "q", robot->nq, robot->q);
        print_headings(&line, "v", robot->nv, robot->v);
    }
    if (to->has_tau) {
        print_headings(&line, "tau", robot->nv, robot->v);
    }
    print_contact_headings(to, &line);
    csv_end_line(&line);
}

static void print_csv(const trace *to, const trace_values *row) {
    const layout *robot = to->robot;
    csv_writer line = {0};
    if (to->rows == 0) {
        print_header(to);
    }
    csv_text(&line, "%llu", (unsigned long long)row->step);
    csv_numbers(&line, 1, &row->time);
    if (to->has_state) {
        csv_numbers(&line, robot->nq, row->q);
        csv_numbers(&line, robot->nv, row->v);
    }
    if (to->has_tau) {
        csv_numbers(&line, robot->nv, row->tau);
    }
    for (size_t i = 0; i < surface_count(to); i++) {
        csv_numbers(&line, 3, row->contacts.forces + 3 * i);
        csv_numbers(&line, 1, row->contacts.gaps + i);
        csv_numbers(&line, 1, row->contacts.slips + i);
    }
    csv_end_line(&line);
}

/* Prints the contact surfaces by name. The gap of a surface that meets no other is null. */
static void print_json_contacts(const trace *to, const trace_contacts *contacts, json_writer *writer) {
    emit_key(writer, "contacts");
    emit_begin_object(writer);
    for (size_t i = 0; i < surface_count(to); i++) {
        emit_key(writer, to->robot->robot->contact_surfaces[i].name);
        emit_begin_object(writer);
        emit_key(writer, "force");
        emit_doubles(writer, 3, contacts->forces + 3 * i);
        emit_key(writer, "gap");
        emit_double(writer, contacts->gaps[i]);
        emit_key(writer, "slip");
        emit_double(writer, contacts->slips[i]);
        emit_end_object(writer);
    }
    emit_end_object(writer);
}

static void print_json(const trace *to, const trace_values *row) {
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    if (row->simulation) {
        emit_key(&writer, "simulation");
        emit_string(&writer, row->simulation);
    }
    emit_key(&writer, "step");
    emit_unsigned(&writer, row->step);
    emit_key(&writer, "time");
    emit_double(&writer, row->time);
    if (to->has_state) {
        emit_key(&writer, "q");
        emit_doubles(&writer, to->robot->nq, row->q);
        emit_key(&writer, "v");
        emit_doubles(&writer, to->robot->nv, row->v);
    }
    if (to->has_tau) {
        emit_key(&writer, "tau");
        emit_doubles(&writer, to->robot->nv, row->tau);
    }
    if (to->has_contacts) {
        print_json_contacts(to, &row->contacts, &writer);
    }
    emit_end_object(&writer);
    emit_finish(&writer);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

/* Creates the plot of the chosen array, or of q or tau if none is chosen. Reports an error if the first row lacks the
 * array. */
static exit_code open_plot(trace *to, const double *const values[TRACE_ARRAYS]) {
    const layout *robot = to->robot;
    to->drawn = to->chosen < TRACE_ARRAYS ? to->chosen : to->has_state ? TRACE_Q : TRACE_TAU;
    if (!values[to->drawn]) {
        return complain(EXIT_USAGE, "--plot %s: there is no %s in these rows", ARRAYS[to->drawn], ARRAYS[to->drawn]);
    }
    size_t count = to->drawn == TRACE_Q ? robot->nq : robot->nv;
    to->names = calloc(count + 1, sizeof *to->names);
    for (size_t i = 0; to->names && i < count; i++) {
        to->names[i] = to->drawn == TRACE_Q ? robot->q[i].name : robot->v[i].name;
    }
    to->plot = to->names ? plot_create(ARRAYS[to->drawn], count, to->names) : NULL;
    return to->plot ? EXIT_OK : complain_memory();
}

static exit_code add_to_plot(trace *to, const trace_values *row) {
    const double *const values[TRACE_ARRAYS] = {
        [TRACE_Q] = row->q, [TRACE_V] = row->v, [TRACE_TAU] = row->tau, [TRACE_A] = row->a};
    exit_code code = to->plot ? EXIT_OK : open_plot(to, values);
    if (code == EXIT_OK) {
        plot_add(to->plot, row->time, values[to->drawn]);
    }
    return code;
}

exit_code trace_row(trace *to, const trace_values *row) {
    exit_code code = EXIT_OK;
    to->has_contacts = to->rows == 0 ? row->contacts.forces != NULL : to->has_contacts;
    if (to->form == TRACE_CSV) {
        print_csv(to, row);
    } else if (to->form == TRACE_JSON) {
        print_json(to, row);
    } else if (to->form == TRACE_PLOT) {
        code = add_to_plot(to, row);
    }
    to->rows++;
    return code;
}

void trace_close(trace *closed) {
    if (closed->plot) {
        plot_finish(closed->plot);
    }
    fflush(stdout);
    plot_free(closed->plot);
    free(closed->names);
    *closed = (trace){0};
}
