/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Losses of gears in terms of coordinates: of a gear at a joint, which carries the force of one coordinate, and of a
 * gear on a shaft, which carries its share of the forces of all coordinates that turn it. The loss l of a gear at the
 * rate u = sum rates[k] v[coordinates[k]] adds the forces rates[k] l to these coordinates.
 */
#ifndef DYNAMICS_ACTUATION_GEAR_LAW_H
#define DYNAMICS_ACTUATION_GEAR_LAW_H

#include "shaft_load.h"

/* Losses of a gear: parts of the load at its output, in the direction of the power. */
typedef struct gear_law {
    shaft_load load;              /* of a joint: its coordinate alone, with the rate and the share one */
    int shaft;                    /* machine element of the shaft; -1: the gear of a joint */
    double driving, back_driving; /* 1 / eta - 1, and 1 - eta_b; of a self-locking gear, more than one */
} gear_law;

/* Finds the losses of a gear. Returns false for an element of another kind, for a gear without losses, and for one
 * whose joint or shaft does not move. The shares of a shaft whose torque does not follow are zero (dyn_check_gears). */
bool dyn_element_gear(const dyn_model *model, int element, gear_law *gear);

/* Returns the number of gears with losses. */
int dyn_lossy_gears(const dyn_model *model);

/* Checks that no coordinate has two gears with losses, other than those of the shafts that it turns, and that the
 * torques of these follow. Errors: DYN_FAILED_PRECONDITION at `place`. */
dyn_status dyn_check_gears(const dyn_model *model, const char *place, dyn_error *error);

/* Returns the force along a coordinate of the wrenches that its joints transmit: joints x 6 (joint_wrench.h). */
double dyn_transmitted_force(const dyn_model *model, int v_index, const double *wrenches);

/* Returns the torque that accelerates the rotor of a shaft, or those of a joint: the share of the inverse dynamics of
 * its coordinates, nv, less the forces that their joints transmit. */
double dyn_rotor_torque(const dyn_model *model, const shaft_load *load, const double *inverse, const double *wrenches);

/* Returns the friction at the rates v on the side of the motor: that of the rotor of a joint, or of the shaft. */
double dyn_motor_side_friction(const dyn_model *model, const gear_law *gear, const dyn_passive_parts *parts,
                               const double *v);

#endif
