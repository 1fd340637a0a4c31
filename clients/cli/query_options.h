/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the options that set the query of a request: --gravity, --force, --payload, --without-rotors, --precision,
 * --formulation, --tip, --constraints, --row, --nearest, --force-weights, --multiplier-weights, --time,
 * --base-velocity, --base-acceleration and --on-error; and options of steps that several commands have: --ideal,
 * --stabilization and --no-projection.
 */
#ifndef CLI_QUERY_OPTIONS_H
#define CLI_QUERY_OPTIONS_H

#include "arguments.h"
#include "force_options.h"

typedef struct query_options {
    const double *gravity; /* NULL: the model's own */
    force_options forces;
    size_t payload_count;
    dyn_client_payload *payloads;
    bool without_rotors;
    dyn_client_precision precision;
    dyn_client_on_error on_error;
    const char *formulation;
    size_t tip_count;
    dyn_client_tip_constraint *tips;
    const dyn_client_passive_forces *passive_forces; /* NULL: none */
    dyn_client_passive_forces passive;
    dyn_client_constraint_list *constraints; /* NULL: none */
    size_t row_count;
    double *rows, *row_accelerations; /* of --row: row_count rows of nv, and a number for each */
    double time;
    const dyn_client_motion_options *motion_options; /* NULL: defaults */
    dyn_client_motion_options motion;
    double *force_weights, *multiplier_weights;
    const dyn_client_base_motion *base_motion; /* NULL: the base rests */
    dyn_client_base_motion base;
    double gravity_values[3], base_velocity[6], base_acceleration[6];
    char *payload_links, *tip_frames;
    size_t brake_count;
    const char **brakes; /* names of --brakes, in brake_text */
    char *brake_text;
} query_options;

/* Reads the options; absent ones have their defaults. Reports errors. The caller frees the result with
 * query_options_free, also after an error. The result must not move until then. */
exit_code query_options_read(const arguments *args, query_options *result);
void query_options_free(query_options *freed);

/* Reads --row for a robot with nv joint velocities, after query_options_read. Reports errors. */
exit_code row_options_read(const arguments *args, size_t nv, query_options *result);

/* Sets the members of a query. The query refers to the arrays of `options`. */
void query_options_apply(const query_options *options, dyn_client_query *query);

/* Sets the steps to those of ideal rigid bodies if --ideal is present: without damping, friction, stops and effort
 * limits. */
void ideal_option_apply(const arguments *args, dyn_client_stepping *stepping);

/* Reads --contact-law. Reports errors. */
exit_code contact_law_option_read(const arguments *args, dyn_client_contact_law *law);

/* Reads --stabilization and --no-projection into `closure`, to which the steps then refer; they do not if both are
 * absent. Reports errors. */
exit_code loop_closure_options_read(const arguments *args, dyn_client_loop_closure *closure,
                                    dyn_client_stepping *stepping);

/* Reads --gravity into `values` and points `gravity` to them, or to NULL if the option is absent. Reports errors. */
exit_code gravity_option_read(const arguments *args, double values[3], const double **gravity);

#endif
