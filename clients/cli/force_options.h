/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the option --force: external forces on links.
 */
#ifndef CLI_FORCE_OPTIONS_H
#define CLI_FORCE_OPTIONS_H

#include "arguments.h"
#include "dynamics_client.h"

typedef struct force_options {
    size_t count;
    dyn_client_external_force *list; /* one row each */
    double *values;                  /* force and torque of each */
    char *links;
} force_options;

/* Reads all --force options, in the frame of --force-reference-frame. The caller frees them with force_options_free,
 * also after an error. */
exit_code force_options_read(const arguments *args, force_options *forces);
void force_options_free(force_options *forces);

#endif
