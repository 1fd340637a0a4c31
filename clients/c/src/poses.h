/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion of vectors and poses from the public form to the protocol's and back. A pool holds the results. NULL means
 * an absent part, or that the pool is out of memory, which the pool records.
 */
#ifndef CLIENT_POSES_H
#define CLIENT_POSES_H

#include <dynamics/v1/geometry.pb-c.h>

#include "dynamics_client.h"
#include "pool.h"

/* Returns whether all numbers are zero. */
bool are_zero(const double *numbers, size_t count);

/* Convert a vector; the second function converts zero to NULL. */
Dynamics__V1__Vector3 *from_vector3(pool *memory, const double vector[3]);
Dynamics__V1__Vector3 *from_nonzero(pool *memory, const double vector[3]);

/* Converts a pose. The identity becomes NULL. */
Dynamics__V1__Placement *from_pose(pool *memory, const dyn_client_pose *from);

/* Converts a placement of a reply, which the result refers to. NULL becomes the identity. */
dyn_client_pose to_pose(const Dynamics__V1__Placement *from);

#endif
