/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the contents of a recording: a description, or its rows as CSV.
 */
#include "recording_output.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "csv_writer.h"
#include "listing.h"
#include "recording_file.h"

/* Summary of a recording: the numbers of its entries by kind, and the times of the first and last one. */
typedef struct contents {
    uint64_t states, inputs, jumps, points;
    double first, last; /* s */
    bool has_time, is_complete;
} contents;

/* ---- description ------------------------------------------------------------------------------------------------- */

static void extend(contents *c, double time) {
    c->first = c->has_time ? c->first : time;
    c->last = time;
    c->has_time = true;
}

static void count_entry(const Dynamics__V1__RecordingEntry *entry, contents *c) {
    switch (entry->entry_case) {
    case DYNAMICS__V1__RECORDING_ENTRY__ENTRY_STATE:
        c->states++;
        extend(c, entry->state->time);
        break;
    case DYNAMICS__V1__RECORDING_ENTRY__ENTRY_INPUT:
        c->inputs++;
        break;
    case DYNAMICS__V1__RECORDING_ENTRY__ENTRY_JUMP:
        c->jumps++;
        break;
    case DYNAMICS__V1__RECORDING_ENTRY__ENTRY_POINTS:
        c->points += entry->points->n_point_number;
        for (size_t i = 0; i < entry->points->n_time; i++) {
            extend(c, entry->points->time[i]);
        }
        break;
    case DYNAMICS__V1__RECORDING_ENTRY__ENTRY_END:
        c->is_complete = true;
        break;
    default:
        break;
    }
}

static exit_code count_entries(recording_file *file, contents *c) {
    Dynamics__V1__RecordingEntry *entry = NULL;
    exit_code code = EXIT_OK;
    const Dynamics__V1__SimulationSnapshot *start = file->header->start;
    if (start && start->state) {
        extend(c, start->state->time);
    }
    do {
        code = recording_file_next(file, &entry);
        if (entry) {
            count_entry(entry, c);
            dynamics__v1__recording_entry__free_unpacked(entry, NULL);
        }
    } while (code == EXIT_OK && entry);
    return code;
}

static const listing_column CONTENTS[] = {
    {"name", "recording", TABLE_NAME},       {"kind", "of a", TABLE_LEFT},
    {"model", "model", TABLE_NAME},          {"digest", NULL, TABLE_LEFT},
    {"simulation", NULL, TABLE_LEFT},        {"begun", "begun", TABLE_LEFT},
    {"states", "states", TABLE_RIGHT},       {"inputs", "inputs", TABLE_RIGHT},
    {"jumps", "jumps", TABLE_RIGHT},         {"points", "points", TABLE_RIGHT},
    {"first_time", "from [s]", TABLE_RIGHT}, {"last_time", "to [s]", TABLE_RIGHT},
    {"is_complete", "complete", TABLE_LEFT},
};

static void add_contents(listing *to, const recording_file *file, const contents *c) {
    const Dynamics__V1__RecordingHeader *header = file->header;
    const Dynamics__V1__CreateSimulationRequest *options = header->start ? header->start->options : NULL;
    time_t begun = (time_t)(header->stamp_ns / 1000000000);
    char stamp[32] = "-";
    struct tm parts;
    if (localtime_r(&begun, &parts)) {
        strftime(stamp, sizeof stamp, "%F %T", &parts);
    }
    listing_text(to, file->name, NULL);
    listing_text(to, header->start ? "simulation" : "stream", NULL);
    listing_text(to, options && options->query ? options->query->model : header->model, NULL);
    listing_text(to, header->start ? header->start->digest : header->digest, NULL);
    listing_text(to, options ? options->name : "", NULL);
    listing_text(to, stamp, NULL);
    listing_count(to, c->states);
    listing_count(to, c->inputs);
    listing_count(to, c->jumps);
    listing_count(to, c->points);
    listing_number(to, c->first, "%g", c->first);
    listing_number(to, c->last, "%g", c->last);
    listing_flag(to, c->is_complete);
}

exit_code describe_recording(const arguments *args, dyn_client *client, const char *name, double timeout) {
    recording_file file;
    contents c = {0};
    listing rows;
    exit_code code = recording_file_open(client, name, timeout, &file);
    if (code == EXIT_OK) {
        code = count_entries(&file, &c);
    }
    if (code == EXIT_OK) {
        code = listing_open(args, sizeof CONTENTS / sizeof *CONTENTS, CONTENTS, &rows);
        if (code == EXIT_OK) {
            add_contents(&rows, &file, &c);
        }
        code = listing_close(&rows, "", code);
    }
    recording_file_close(&file);
    return code;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

enum { ARRAYS = 4 };

/* Rows of one entry: `count` steps, times and rows of each array. */
typedef struct rows {
    size_t count;
    const uint64_t *steps;
    const double *times;
    const double *values[ARRAYS]; /* q, v, a, tau */
    size_t lengths[ARRAYS];       /* number of values in all rows; 0: the entry lacks the array */
} rows;

/* Columns of the CSV, which the first entry with rows determines. */
typedef struct columns {
    bool is_known;
    size_t widths[ARRAYS];
    size_t q_count, v_count; /* 0: no names are known */
    const char *const *q_names, *const *v_names;
    dyn_client_description *robot; /* owns the names; NULL: the recording owns them */
} columns;

/* Finds the names of the columns: the joints in the order that the recording states, otherwise the coordinates of its
 * model, if the model is loaded and has not changed. Without names the counts are 0. */
static void find_names(const recording_file *file, columns *c) {
    const Dynamics__V1__RecordingHeader *header = file->header;
    const Dynamics__V1__SimulationSnapshot *start = header->start;
    const Dynamics__V1__Query *query = start && start->options ? start->options->query : NULL;
    dyn_client_error error;
    c->q_count = c->v_count = query ? query->n_joint_names : header->n_joint_names;
    c->q_names = c->v_names = (const char *const *)(query ? query->joint_names : header->joint_names);
    if (c->q_count > 0 || dyn_client_describe_model(file->client, query ? query->model : header->model, file->timeout,
                                                    &c->robot, &error) != DYN_CLIENT_OK) {
        return;
    }
    if (strcmp(c->robot->model.digest, start ? start->digest : header->digest) == 0) {
        c->q_count = c->robot->model.nq;
        c->v_count = c->robot->model.nv;
        c->q_names = (const char *const *)c->robot->q_names;
        c->v_names = (const char *const *)c->robot->v_names;
    }
}

static void write_heading(const rows *first, columns *c) {
    static const char *const arrays[ARRAYS] = {"q", "v", "a", "tau"};
    csv_writer line = {0};
    c->is_known = true;
    csv_text(&line, "step");
    csv_text(&line, "time");
    for (size_t k = 0; k < ARRAYS; k++) {
        size_t known = k == 0 ? c->q_count : c->v_count;
        c->widths[k] = first->lengths[k] / first->count;
        for (size_t i = 0; i < c->widths[k]; i++) {
            if (c->widths[k] == known) {
                csv_text(&line, "%s.%s", arrays[k], k == 0 ? c->q_names[i] : c->v_names[i]);
            } else {
                csv_text(&line, "%s%zu", arrays[k], i);
            }
        }
    }
    csv_end_line(&line);
}

/* Writes the rows of an entry, and before the first ones the heading. Returns false if the arrays do not have the
 * widths of the columns. */
static bool write_rows(const rows *written, columns *c) {
    if (written->count == 0) {
        return true;
    }
    if (!c->is_known) {
        write_heading(written, c);
    }
    for (size_t k = 0; k < ARRAYS; k++) {
        if (written->lengths[k] != c->widths[k] * written->count) {
            return false;
        }
    }
    for (size_t i = 0; i < written->count; i++) {
        csv_writer line = {0};
        csv_text(&line, "%llu", (unsigned long long)written->steps[i]);
        csv_numbers(&line, 1, &written->times[i]);
        for (size_t k = 0; k < ARRAYS; k++) {
            csv_numbers(&line, c->widths[k], written->values[k] + i * c->widths[k]);
        }
        csv_end_line(&line);
    }
    return true;
}

static bool write_state(const Dynamics__V1__SimulationState *state, columns *c) {
    const rows one = {.count = 1,
                      .steps = &state->step,
                      .times = &state->time,
                      .values = {state->q, state->v, NULL, state->tau},
                      .lengths = {state->n_q, state->n_v, 0, state->n_tau}};
    return write_rows(&one, c);
}

static bool write_points(const Dynamics__V1__RecordedPoints *points, columns *c) {
    const rows many = {.count = points->n_point_number,
                       .steps = points->point_number,
                       .times = points->time,
                       .values = {points->q, points->v, points->a, points->tau},
                       .lengths = {points->n_q, points->n_v, points->n_a, points->n_tau}};
    return points->n_time == points->n_point_number && write_rows(&many, c);
}

static bool write_entry(const Dynamics__V1__RecordingEntry *entry, columns *c) {
    switch (entry->entry_case) {
    case DYNAMICS__V1__RECORDING_ENTRY__ENTRY_STATE:
        return write_state(entry->state, c);
    case DYNAMICS__V1__RECORDING_ENTRY__ENTRY_JUMP:
        return !entry->jump->state || write_state(entry->jump->state, c);
    case DYNAMICS__V1__RECORDING_ENTRY__ENTRY_POINTS:
        return write_points(entry->points, c);
    default:
        return true;
    }
}

exit_code export_recording(dyn_client *client, const char *name, double timeout) {
    recording_file file;
    columns c = {0};
    exit_code code = recording_file_open(client, name, timeout, &file);
    bool is_regular = true;
    if (code == EXIT_OK) {
        const Dynamics__V1__SimulationSnapshot *start = file.header->start;
        find_names(&file, &c);
        is_regular = !start || !start->state || write_state(start->state, &c);
    }
    for (Dynamics__V1__RecordingEntry *entry = NULL; code == EXIT_OK && is_regular;) {
        code = recording_file_next(&file, &entry);
        if (!entry) {
            break;
        }
        is_regular = write_entry(entry, &c);
        dynamics__v1__recording_entry__free_unpacked(entry, NULL);
    }
    dyn_client_description_free(c.robot);
    recording_file_close(&file);
    return is_regular ? code : complain(EXIT_FAILED, "recording %s holds rows of different sizes", name);
}
