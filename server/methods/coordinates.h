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

/* Returns the names of the nq coordinates, or of the nv velocities, of a model, as in DescribeModelReply. They are in
 * the call's memory. Returns NULL, and the call has ended, when out of memory. */
char **coordinates_spell(call *c, const dyn_model *model, bool velocities);

/* Returns the joint of each velocity in the caller's order, and the unit of its force: nv texts each, read-only, which
 * live as long as the model. Returns false, and the call has ended, when out of memory. */
bool coordinates_name(batch *b, char ***joints, char ***force_units);

#endif
