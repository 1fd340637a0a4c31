/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts constraints from the public form to the protocol's and back. A pool holds the results; strings are
 * borrowed.
 */
#ifndef CLIENT_CONSTRAINTS_H
#define CLIENT_CONSTRAINTS_H

#include <dynamics/v1/constraint.pb-c.h>

#include "dynamics_client.h"
#include "pool.h"

Dynamics__V1__Constraint *from_constraint(pool *memory, const dyn_client_constraint *from);

/* Converts `count` constraints of a reply to the public form. Returns NULL when out of memory, which the pool
 * records. */
const dyn_client_constraint *to_constraints(pool *memory, size_t count, Dynamics__V1__Constraint *const *from);

#endif
