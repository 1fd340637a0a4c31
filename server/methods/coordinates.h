/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and units of coordinates.
 */
#ifndef SERVER_METHODS_COORDINATES_H
#define SERVER_METHODS_COORDINATES_H

#include <dynamics/model.h>

#include "methods/batch.h"

/* Units of the coordinates, velocities and forces of a joint, in the order of dynamics/joint_type.h. */
typedef struct joint_units {
    const char *q[DYN_MAX_JOINT_NQ], *v[DYN_MAX_JOINT_NV], *tau[DYN_MAX_JOINT_NV];
} joint_units;

joint_units joint_units_of(dyn_joint_type type);

/* Names of the nq coordinates, or of the nv velocities, of a model: the spelling of DescribeModelReply. In the call's
 * memory; NULL, and the call ended, when out of memory. */
char **coordinates_spell(call *c, const dyn_model *model, bool velocities);

/* The joint of each velocity in the caller's order, and the unit of the force that belongs to it: nv texts each, which
 * live as long as the model and are only to be read. False, and the call ended, when out of memory. */
bool coordinates_name(batch *b, char ***joints, char ***force_units);

#endif
