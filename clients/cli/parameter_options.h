/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the options --drives, --drives-only, --stribeck-velocity, --links and --payload-link: the parameters that are
 * to be identified.
 */
#ifndef CLI_PARAMETER_OPTIONS_H
#define CLI_PARAMETER_OPTIONS_H

#include "arguments.h"
#include "diagnostics.h"
#include "dynamics_client.h"

enum { DRIVE_TERMS = 6 };

typedef struct parameter_options {
    size_t term_count;
    dyn_client_drive_term terms[DRIVE_TERMS];
    bool ignore_drives, drives_only;
    size_t link_count;
    const char **links;
    char *link_names; /* owns the names */
    const char *payload_link;
    double stribeck_velocity;
} parameter_options;

/* Reads the options. Reports errors. The caller frees them with parameter_options_free, also after an error. The
 * options must not move until then. */
exit_code parameter_options_read(const arguments *args, parameter_options *result);
void parameter_options_free(parameter_options *freed);

/* Reads a number that is not negative, or `standard` if the option is absent. Reports errors. */
exit_code number_option_read(const arguments *args, option wanted, double standard, double *value);

#endif
