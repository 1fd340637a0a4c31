/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands simulations and streams, and the counters that the command stream prints at its end.
 */
#include "live_lists.h"

#include <math.h>

#include "command.h"
#include "listing.h"

static const listing_column SIMULATIONS[] = {
    {"name", "simulation", TABLE_NAME},
    {"model", "model", TABLE_LEFT},
    {"condition", "condition", TABLE_LEFT},
    {"pace", "pace", TABLE_LEFT},
    {"rate", "rate", TABLE_RIGHT},
    {"step_length", NULL, TABLE_RIGHT},
    {"step", NULL, TABLE_RIGHT},
    {"time", "time [s]", TABLE_RIGHT},
    {"ticks", NULL, TABLE_RIGHT},
    {"overruns", "overruns", TABLE_RIGHT},
    {"longest_lateness", "late [ms]", TABLE_RIGHT},
    {"watchers", "watchers", TABLE_RIGHT},
    {"owner", "owner", TABLE_LEFT},
    {"lease_remaining", "lease [s]", TABLE_RIGHT},
    {"recording", NULL, TABLE_LEFT},
};

static void add_simulation(listing *to, const dyn_client_simulation *s) {
    bool has_clock = s->pace == DYN_CLIENT_PACE_CLOCK;
    listing_text(to, s->name, NULL);
    listing_text(to, s->model, NULL);
    listing_text(to, dyn_client_condition_name(s->condition), NULL);
    listing_text(to, has_clock ? "clock" : "lockstep", NULL);
    if (has_clock) {
        listing_number(to, s->rate, "%g", s->rate);
    } else {
        listing_number(to, 0, "-");
    }
    listing_number(to, s->step_length, "%g", s->step_length);
    listing_count(to, s->step);
    listing_number(to, s->time, "%.3f", s->time);
    listing_count(to, s->ticks);
    listing_count(to, s->overruns);
    listing_number(to, s->longest_lateness, "%.3f", 1e3 * s->longest_lateness);
    listing_count(to, s->watchers);
    listing_text(to, s->owner, NULL);
    listing_number(to, s->lease_remaining, "%.1f", s->lease_remaining);
    listing_text(to, s->recording, NULL);
}

exit_code run_simulations(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    dyn_client_error error;
    dyn_client_simulation_list *list;
    listing rows;
    double timeout;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    if (dyn_client_list_simulations(client, timeout, &list, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    code = listing_open(args, sizeof SIMULATIONS / sizeof *SIMULATIONS, SIMULATIONS, &rows);
    for (size_t i = 0; code == EXIT_OK && i < list->count; i++) {
        add_simulation(&rows, &list->simulations[i]);
    }
    dyn_client_simulation_list_free(list);
    return listing_close(&rows, "no simulations (start one: dynamicsctl simulate MODEL --rate 1)", code);
}

static const listing_column STREAMS[] = {
    {"name", "stream", TABLE_NAME},
    {"kind", "kind", TABLE_LEFT},
    {"model", NULL, TABLE_LEFT},
    {"simulation", "of", TABLE_LEFT},
    {"accepted", "accepted", TABLE_RIGHT},
    {"lost", "lost", TABLE_RIGHT},
    {"late", "late", TABLE_RIGHT},
    {"duplicates", "duplicate", TABLE_RIGHT},
    {"reordered", "reordered", TABLE_RIGHT},
    {"refused", "refused", TABLE_RIGHT},
    {"beyond_credit", "beyond credit", TABLE_RIGHT},
    {"waiting", "waiting", TABLE_RIGHT},
    {"lag", "last point", TABLE_RIGHT},
    {"idle", "idle [s]", TABLE_RIGHT},
    {"owner", NULL, TABLE_LEFT},
};

static void add_stream(listing *to, const dyn_client_stream_info *s) {
    static const char *const kinds[] = {"unspecified", "feedforward", "simulation input", "record"};
    const uint64_t counts[] = {s->accepted,  s->lost,    s->late,          s->duplicates,
                               s->reordered, s->refused, s->beyond_credit, s->waiting};
    listing_text(to, s->name, NULL);
    listing_text(to, (size_t)s->kind < sizeof kinds / sizeof *kinds ? kinds[s->kind] : "unknown", NULL);
    listing_text(to, s->model, NULL);
    listing_text(to, s->simulation, s->simulation[0] != '\0' ? s->simulation : s->model);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        listing_count(to, counts[k]);
    }
    if (s->last_point_number > 0) {
        listing_number(to, s->lag, "%.3f ms %s", 1e3 * fabs(s->lag), s->lag > 0 ? "late" : "early");
    } else {
        listing_number(to, s->lag, "-");
    }
    listing_number(to, s->idle, "%.1f", s->idle);
    listing_text(to, s->owner, NULL);
}

exit_code print_streams(const arguments *args, dyn_client_stream_list *list) {
    listing rows;
    exit_code code = listing_open(args, sizeof STREAMS / sizeof *STREAMS, STREAMS, &rows);
    for (size_t i = 0; code == EXIT_OK && i < list->count; i++) {
        add_stream(&rows, &list->streams[i]);
    }
    dyn_client_stream_list_free(list);
    return listing_close(&rows, "no streams (open one: dynamicsctl stream MODEL --states FILE)", code);
}

exit_code run_streams(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    dyn_client_error error;
    dyn_client_stream_list *list;
    double timeout;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    if (dyn_client_list_streams(client, timeout, &list, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    return print_streams(args, list);
}
