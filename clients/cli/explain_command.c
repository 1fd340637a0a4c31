/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command explain: prints the contributions to each joint's force.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json_writer.h"
#include "page.h"
#include "result_tables.h"

enum { LISTED_LINKS = 3 };

/* Data of the command: the reply. */
typedef struct plan {
    dyn_client_explanation *answer;
} plan;

static void widths(const evaluation_context *context, size_t width[2]) {
    (void)context;
    width[0] = width[1] = 0;
}

static dyn_client_status compute(const evaluation_context *context, const state_batch *batch, dyn_client_error *error,
                                 double *unused, double *also_unused) {
    (void)unused, (void)also_unused;
    plan *settings = context->own;
    dyn_client_explanation_free(settings->answer);
    return dyn_client_explain(context->client, &context->query, batch->values[STATE_Q], batch->values[STATE_V],
                              batch->values[STATE_A], &settings->answer, error);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Prints a line for each coordinate and a column for each term. */
static bool print_terms(const layout *robot, const dyn_client_explanation *from) {
    table *lines = table_create();
    table_add_column(lines, "joint", TABLE_NAME);
    for (size_t t = 0; t < from->term_count; t++) {
        table_add_column(lines, from->terms[t].name, TABLE_RIGHT);
    }
    table_add_column(lines, "tau", TABLE_RIGHT);
    table_add_column(lines, "", TABLE_UNIT);
    for (size_t i = 0; i < from->nv; i++) {
        table_add_cell(lines, "%s", robot->v[i].name);
        for (size_t t = 0; t < from->term_count; t++) {
            table_add_number(lines, from->terms[t].tau[i]);
        }
        table_add_number(lines, from->tau[i]);
        table_add_cell(lines, "%s", from->units[i]);
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

/* Returns contribution number k of all links and payloads, the links first. */
static const dyn_client_contribution *part_of(const dyn_client_explanation *from, size_t k) {
    return k < from->link_count ? &from->links[k] : &from->payloads[k - from->link_count];
}

static bool is_payload(const dyn_client_explanation *from, const dyn_client_contribution *part) {
    return from->payload_count > 0 && part >= from->payloads && part < from->payloads + from->payload_count;
}

static double sum_of(const dyn_client_contribution *part, size_t i) {
    return part->inertial[i] + part->coriolis[i] + part->gravity[i];
}

/* Finds the links and payloads that contribute most to coordinate i, at most LISTED_LINKS, the largest first. Returns
 * their number. */
static size_t find_largest(const dyn_client_explanation *from, size_t i,
                           const dyn_client_contribution *largest[LISTED_LINKS]) {
    size_t count = 0;
    for (size_t l = 0; l < from->link_count + from->payload_count; l++) {
        double size = fabs(sum_of(part_of(from, l), i));
        size_t at = count;
        while (at > 0 && fabs(sum_of(largest[at - 1], i)) < size) {
            at--;
        }
        if (size < 1e-12 || at == LISTED_LINKS) {
            continue;
        }
        count += count < LISTED_LINKS;
        memmove(largest + at + 1, largest + at, (count - at - 1) * sizeof *largest);
        largest[at] = part_of(from, l);
    }
    return count;
}

/* Prints, for each coordinate, the links and payloads that contribute most. */
static bool print_links(const layout *robot, const dyn_client_explanation *from) {
    static const char *const headings[] = {"inertial", "coriolis", "gravity", "sum"};
    table *lines = table_create();
    table_add_column(lines, "joint", TABLE_NAME);
    table_add_column(lines, "link", TABLE_NAME);
    for (size_t k = 0; k < sizeof headings / sizeof *headings; k++) {
        table_add_column(lines, headings[k], TABLE_RIGHT);
    }
    table_add_column(lines, "", TABLE_UNIT);
    for (size_t i = 0; i < from->nv; i++) {
        const dyn_client_contribution *largest[LISTED_LINKS];
        size_t count = find_largest(from, i, largest);
        for (size_t rank = 0; rank < count; rank++) {
            const dyn_client_contribution *part = largest[rank];
            table_add_cell(lines, "%s", rank == 0 ? robot->v[i].name : "");
            table_add_cell(lines, "%s%s", is_payload(from, part) ? "payload on " : "", part->link);
            table_add_number(lines, part->inertial[i]);
            table_add_number(lines, part->coriolis[i]);
            table_add_number(lines, part->gravity[i]);
            table_add_number(lines, sum_of(part, i));
            table_add_cell(lines, "%s", from->units[i]);
        }
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

/* Prints how far the constraints forbid the motion, where the nearest motion is asked for. */
static bool print_agreement(const evaluation_context *context, const dyn_client_explanation *from) {
    const bool is_nearest = context->query.motion_options && context->query.motion_options->nearest;
    return !is_nearest || !from->agreement ||
           (fputc('\n', stdout) != EOF &&
            page_printf(2, "the constraints forbid the motion by %.3g rad/s^2 or m/s^2 at most",
                        from->agreement->residual));
}

static bool print_answer(const evaluation_context *context) {
    const plan *settings = context->own;
    if (!print_terms(context->robot, settings->answer)) {
        return false;
    }
    printf("\nLinks%s that contribute most, at most %d for each joint\n\n",
           settings->answer->payload_count > 0 ? " and payloads" : "", LISTED_LINKS);
    return print_links(context->robot, settings->answer) && print_agreement(context, settings->answer);
}

static bool print_one(const evaluation_context *context, const state_batch *batch, const double *unused,
                      const double *also_unused) {
    (void)batch, (void)unused, (void)also_unused;
    print_title(context);
    return print_answer(context);
}

static bool print_many(const evaluation_context *context, const state_batch *batch, size_t number, const double *unused,
                       const double *also_unused) {
    (void)batch, (void)unused, (void)also_unused;
    if (number == 1) {
        print_title(context);
    }
    printf("state %zu\n", number);
    bool printed = print_answer(context);
    fputc('\n', stdout);
    return printed;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static void write_headings(const evaluation_context *context, csv_writer *to) {
    const dyn_client_explanation *from = ((const plan *)context->own)->answer;
    const layout *robot = context->robot;
    for (size_t i = 0; i < from->nv; i++) {
        csv_text(to, "tau.%s", robot->v[i].name);
    }
    for (size_t t = 0; t < from->term_count; t++) {
        for (size_t i = 0; i < from->nv; i++) {
            csv_text(to, "%s.%s", from->terms[t].name, robot->v[i].name);
        }
    }
}

static void write_csv(const evaluation_context *context, csv_writer *to, size_t index, const double *unused,
                      const double *also_unused) {
    (void)index, (void)unused, (void)also_unused;
    const dyn_client_explanation *from = ((const plan *)context->own)->answer;
    csv_numbers(to, from->nv, from->tau);
    for (size_t t = 0; t < from->term_count; t++) {
        csv_numbers(to, from->nv, from->terms[t].tau);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void write_row(json_writer *writer, const char *key, size_t count, const double *values) {
    emit_key(writer, key);
    emit_doubles(writer, count, values);
}

static void write_link(json_writer *writer, size_t nv, const dyn_client_contribution *part) {
    emit_begin_object(writer);
    emit_key(writer, "link");
    emit_string(writer, part->link);
    emit_key(writer, "moving_joint");
    emit_string(writer, part->moving_joint);
    emit_key(writer, "mass");
    emit_double(writer, part->mass);
    write_row(writer, "inertial", nv, part->inertial);
    write_row(writer, "coriolis", nv, part->coriolis);
    write_row(writer, "gravity", nv, part->gravity);
    emit_end_object(writer);
}

static void write_texts(json_writer *writer, const char *key, size_t count, const char *const *texts) {
    emit_key(writer, key);
    emit_begin_array(writer);
    for (size_t i = 0; i < count; i++) {
        emit_string(writer, texts[i]);
    }
    emit_end_array(writer);
}

static void write_agreement(json_writer *writer, const dyn_client_motion_agreement *from) {
    emit_key(writer, "agreement");
    emit_begin_object(writer);
    emit_key(writer, "rank");
    emit_double(writer, (double)from->rank);
    emit_key(writer, "freedom");
    emit_double(writer, (double)from->freedom);
    emit_key(writer, "residual");
    emit_double(writer, from->residual);
    emit_end_object(writer);
}

static void write_json(const evaluation_context *context, size_t index, const double *unused,
                       const double *also_unused) {
    (void)index, (void)unused, (void)also_unused;
    const dyn_client_explanation *from = ((const plan *)context->own)->answer;
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    write_texts(&writer, "joints", from->nv, from->joints);
    write_texts(&writer, "units", from->nv, from->units);
    write_row(&writer, "tau", from->nv, from->tau);
    emit_key(&writer, "terms");
    emit_begin_object(&writer);
    for (size_t t = 0; t < from->term_count; t++) {
        write_row(&writer, from->terms[t].name, from->nv, from->terms[t].tau);
    }
    emit_end_object(&writer);
    emit_key(&writer, "links");
    emit_begin_array(&writer);
    for (size_t l = 0; l < from->link_count; l++) {
        write_link(&writer, from->nv, &from->links[l]);
    }
    emit_end_array(&writer);
    if (from->payload_count > 0) {
        emit_key(&writer, "payloads");
        emit_begin_array(&writer);
        for (size_t k = 0; k < from->payload_count; k++) {
            write_link(&writer, from->nv, &from->payloads[k]);
        }
        emit_end_array(&writer);
    }
    emit_key(&writer, "residual");
    emit_double(&writer, from->residual);
    if (from->agreement) {
        write_agreement(&writer, from->agreement);
    }
    emit_end_object(&writer);
    emit_finish(&writer);
}

exit_code run_explain(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    static const evaluation explanation = {
        .title = "joint forces",
        .has_input = {[STATE_Q] = true, [STATE_V] = true, [STATE_A] = true},
        .widths = widths,
        .compute = compute,
        .has_one_state = true,
        .write_json = write_json,
        .write_headings = write_headings,
        .write_csv = write_csv,
        .print_one = print_one,
        .print_many = print_many,
    };
    plan settings = {0};
    exit_code code = run_evaluation(&explanation, &settings, args, client);
    dyn_client_explanation_free(settings.answer);
    return code;
}
