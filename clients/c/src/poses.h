/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts vectors and poses from the public form to the protocol's and back. A pool holds the results of
 * conversions to the protocol. Such a result is NULL when the pool is out of memory, which the pool records.
 */
#ifndef CLIENT_POSES_H
#define CLIENT_POSES_H

#include <dynamics/v1/geometry.pb-c.h>

#include "dynamics_client.h"
#include "pool.h"

/* Returns true if all numbers are zero. */
bool are_zero(const double *numbers, size_t count);

/* Converts a vector. */
Dynamics__V1__Vector3 *from_vector3(pool *memory, const double vector[3]);

/* Converts a vector. Returns NULL if it is zero, or when out of memory. */
Dynamics__V1__Vector3 *from_nonzero(pool *memory, const double vector[3]);

/* Converts a pose. Returns NULL if it is the identity, or when out of memory. */
Dynamics__V1__Placement *from_pose(pool *memory, const dyn_client_pose *from);

/* Converts a placement of a reply, which the result refers to. NULL becomes the identity. */
dyn_client_pose to_pose(const Dynamics__V1__Placement *from);

#endif
