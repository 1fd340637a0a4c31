/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inputs of the equation of motion beside q: velocities, accelerations, forces, gravity, external forces.
 */
#ifndef SERVER_METHODS_MOTION_H
#define SERVER_METHODS_MOTION_H

#include "methods/batch.h"

/* Inputs of a batch, in the model's order. */
typedef struct motion {
    const double *v, *a, *tau; /* NULL: zero */
    const double *gravity;     /* NULL: the model's own */
    double gravity_values[3];
    dyn_external_force *forces; /* on the first sample */
    size_t force_count;
} motion;

/* Takes the gravity of a request; NULL stands for the model's own. The motion must stay where it is. */
void motion_take_gravity(motion *m, const Dynamics__V1__Vector3 *gravity);

/* Checks the external forces of a request and converts them. False, and the call ended, when one is wrong. */
bool motion_take_forces(batch *b, motion *m, size_t count, Dynamics__V1__ExternalForce *const *forces);

/* The forces on the block that starts at sample `first`: `forces`, or NULL when there are none. They are listed in
 * `scratch`, which has motion_forces_size bytes. */
const dyn_external_forces *motion_block_forces(const motion *m, size_t first, void *scratch,
                                               dyn_external_forces *forces);
size_t motion_forces_size(const motion *m);

/* n rows from `first` on; an array that is NULL stays so. */
const double *motion_rows(const double *values, size_t width, size_t first);

#endif
