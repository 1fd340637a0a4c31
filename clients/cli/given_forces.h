/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wrenches of --force.
 */
#ifndef CLI_GIVEN_FORCES_H
#define CLI_GIVEN_FORCES_H

#include "arguments.h"
#include "dynamics_client.h"

typedef struct given_forces {
    size_t count;
    dyn_client_external_force *list; /* one row each */
    double *values;                  /* force and torque of each */
    char *links;
} given_forces;

/* Reads all --force options, in the frame of --force-reference-frame. The caller frees them with given_forces_free,
 * also after an error. */
exit_code given_forces_read(const arguments *given, given_forces *forces);
void given_forces_free(given_forces *forces);

#endif
