/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the options --flexible, --mode-q, --mode-v, --mode-a and --mode-tau: links that bend, and the state and the
 * forces of their modes.
 */
#ifndef CLI_FLEXIBLE_OPTIONS_H
#define CLI_FLEXIBLE_OPTIONS_H

#include "arguments.h"
#include "dynamics_client.h"

typedef struct flexible_options {
    dyn_client_flexible_chain chain; /* link_count 0: the options are absent */
    dyn_client_flexible_link *links;
    char *names;
    double *modes[4]; /* q, v, a, tau; NULL: absent */
} flexible_options;

/* Reads all options. Reports errors. The caller frees them with flexible_options_free, also after an error. The result
 * must not move until then. */
exit_code flexible_options_read(const arguments *args, flexible_options *result);
void flexible_options_free(flexible_options *freed);

#endif
