/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Coordinates: names and units of the coordinates, velocities and forces of a model.
 */
#ifndef SERVER_METHODS_COORDINATES_H
#define SERVER_METHODS_COORDINATES_H

#include <dynamics/model.h>

#include "methods/batch.h"

/* Units of the coordinates, velocities and forces of a joint, in the order of dynamics/joint_type.h. */
typedef struct joint_units {
    const char *q[DYN_MAX_JOINT_NQ], *v[DYN_MAX_JOINT_NV], *tau[DYN_MAX_JOINT_NV];
} joint_units;

/* Returns the units of a joint of that type. Units beyond its nq and nv are NULL. */
joint_units joint_units_of(dyn_joint_type type);

/* Returns the names of a model's nq coordinates, or of its nv velocities, as in DescribeModelReply, in the call's
 * memory. Returns NULL, and the call has ended, when out of memory. */
char **coordinates_spell(call *c, const dyn_model *model, bool velocities);

/* Writes the name of the joint of each velocity, and the unit of its force, in the caller's order. The nv texts of each
 * array are read-only and live as long as the model. Returns false, and the call has ended, when out of memory. */
bool coordinates_name(batch *b, char ***joints, char ***force_units);

#endif
