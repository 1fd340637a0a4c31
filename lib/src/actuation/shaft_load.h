/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Torques of shafts for the forces of the coordinates that turn them. Shafts with motors that share coordinates,
 * directly or by others of them, have the matrix G: rates w = G v, forces tau = G' T. The torques T = G'^-1 tau follow
 * where the shafts are as many as the coordinates and G is not singular.
 */
#ifndef DYNAMICS_ACTUATION_SHAFT_LOAD_H
#define DYNAMICS_ACTUATION_SHAFT_LOAD_H

#include "joint_properties.h"

/* Shaft among those that share its coordinates. */
typedef struct shaft_load {
    shaft_rates at;                      /* row of G: all these coordinates, some with the rate zero */
    double shares[DYN_MAX_SHAFT_JOINTS]; /* row of G'^-1: T = sum shares[k] tau[coordinates[k]] */
} shaft_load;

/* Finds the torque of the shaft of a machine element, which has a motor and turns. Cost O(machine elements). Errors:
 * DYN_FAILED_PRECONDITION, with the place "machine element NAME" of the shaft, where its torque does not follow. */
dyn_status dyn_shaft_load(const dyn_model *model, int element, shaft_load *load, dyn_error *error);

/* Returns the sum of the shares of the forces tau of the coordinates. */
double dyn_shaft_torque(const shaft_load *load, const double *tau);

#endif
