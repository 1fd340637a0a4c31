/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output of a motion while it runs.
 */
#include "trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "json_writer.h"
#include "terminal.h"

/* SAMPLE_INTERVAL: seconds between two samples of a drawing. DRAW_INTERVAL: seconds between two drawings. */
static const double SAMPLE_INTERVAL = 0.02, DRAW_INTERVAL = 0.1;

enum { BARS = 8 };

double trace_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

exit_code trace_open(const arguments *given, const layout *robot, bool has_state, trace *opened) {
    bool csv = given->value[OPTION_CSV] != NULL, json = given->value[OPTION_JSON] != NULL,
         plot = given->value[OPTION_PLOT] != NULL;
    *opened = (trace){.robot = robot, .has_state = has_state, .has_tau = true};
    if (csv + json + plot > 1)
        return complain(EXIT_USAGE, "give one of --csv, --json and --plot");
    opened->form = csv ? TRACE_CSV : json ? TRACE_JSON : plot ? TRACE_PLOT : TRACE_QUIET;
    opened->is_terminal = isatty(STDOUT_FILENO) == 1;
    opened->line_count = has_state ? robot->nq : robot->nv;
    opened->lines = calloc(opened->line_count + 1, sizeof *opened->lines);
    return opened->lines != NULL ? EXIT_OK : complain_memory();
}

/* ---- CSV and JSON ------------------------------------------------------------------------------------------------ */

/* Prints the headings of one array, as --states reads them. */
static void print_headings(const char *array, size_t count, const coordinate *coordinates) {
    for (size_t i = 0; i < count; i++)
        printf(",%s.%s", array, coordinates[i].name);
}

static void print_values(size_t count, const double *values) {
    for (size_t i = 0; i < count; i++)
        printf(",%.17g", values[i]);
}

static void print_csv(const trace *to, uint64_t step, double time, const double *q, const double *v,
                      const double *tau) {
    const layout *robot = to->robot;
    if (to->rows == 0) {
        printf("step,time");
        if (to->has_state) {
            print_headings("q", robot->nq, robot->q);
            print_headings("v", robot->nv, robot->v);
        }
        if (to->has_tau)
            print_headings("tau", robot->nv, robot->v);
        printf("\n");
    }
    printf("%llu,%.17g", (unsigned long long)step, time);
    if (to->has_state) {
        print_values(robot->nq, q);
        print_values(robot->nv, v);
    }
    if (to->has_tau)
        print_values(robot->nv, tau);
    printf("\n");
}

static void print_json(const trace *to, uint64_t step, double time, const double *q, const double *v,
                       const double *tau) {
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "step");
    emit_unsigned(&writer, step);
    emit_key(&writer, "time");
    emit_double(&writer, time);
    if (to->has_state) {
        emit_key(&writer, "q");
        emit_doubles(&writer, to->robot->nq, q);
        emit_key(&writer, "v");
        emit_doubles(&writer, to->robot->nv, v);
    }
    if (to->has_tau) {
        emit_key(&writer, "tau");
        emit_doubles(&writer, to->robot->nv, tau);
    }
    emit_end_object(&writer);
    emit_finish(&writer);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

/* Draws one coordinate: its name, last value, range, and the last values as bars within the range. */
static void draw_line(const trace *from, size_t i) {
    static const char *const bars[BARS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const coordinate *c = from->has_state ? &from->robot->q[i] : &from->robot->v[i];
    const trace_line *line = &from->lines[i];
    double range = line->high - line->low;
    size_t count = from->samples < TRACE_SAMPLES ? from->samples : TRACE_SAMPLES;
    printf("%-24.24s %12.6f  [%12.6f %12.6f] ", c->name, line->last, line->low, line->high);
    for (size_t k = from->samples - count; k < from->samples; k++) {
        double height = range > 0 ? (line->values[k % TRACE_SAMPLES] - line->low) / range : 0.5;
        size_t bar = (size_t)(height * BARS);
        fputs(bars[bar < BARS ? bar : BARS - 1], stdout);
    }
    printf("\n");
}

static void draw(trace *from, double time) {
    if (from->drawn_lines > 0)
        terminal_control(stdout, "\033[%zuA\033[J", from->drawn_lines);
    printf("%s at %.3f s\n", from->has_state ? "q" : "tau", time);
    for (size_t i = 0; i < from->line_count; i++)
        draw_line(from, i);
    from->drawn_lines = from->line_count + 1;
    fflush(stdout);
}

static void sample(trace *to, double time, const double *values) {
    double now = trace_now();
    for (size_t i = 0; i < to->line_count; i++) {
        trace_line *line = &to->lines[i];
        line->low = to->rows == 0 ? values[i] : fmin(line->low, values[i]);
        line->high = to->rows == 0 ? values[i] : fmax(line->high, values[i]);
        line->last = values[i];
    }
    if (now >= to->next_sample) {
        to->next_sample = now + SAMPLE_INTERVAL;
        for (size_t i = 0; i < to->line_count; i++)
            to->lines[i].values[to->samples % TRACE_SAMPLES] = values[i];
        to->samples++;
    }
    if (to->is_terminal && now >= to->next_draw) {
        to->next_draw = now + DRAW_INTERVAL;
        draw(to, time);
    }
}

void trace_row(trace *to, uint64_t step, double time, const double *q, const double *v, const double *tau) {
    if (to->form == TRACE_CSV)
        print_csv(to, step, time, q, v, tau);
    else if (to->form == TRACE_JSON)
        print_json(to, step, time, q, v, tau);
    else if (to->form == TRACE_PLOT)
        sample(to, time, to->has_state ? q : tau);
    to->rows++;
}

void trace_close(trace *closed) {
    /* Draw the last picture once if the output is no terminal. */
    for (size_t i = 0; closed->form == TRACE_PLOT && !closed->is_terminal && closed->rows > 0 && i < closed->line_count;
         i++)
        draw_line(closed, i);
    fflush(stdout);
    free(closed->lines);
    *closed = (trace){0};
}
