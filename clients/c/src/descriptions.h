/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts inertias, joints and descriptions of robots from the public form to the protocol's and back. A pool holds
 * the results; strings and arrays of numbers are borrowed. A result is NULL when the pool is out of memory, which
 * the pool records. A source array that is NULL is empty, whatever its count.
 */
#ifndef CLIENT_DESCRIPTIONS_H
#define CLIENT_DESCRIPTIONS_H

#include <dynamics/v1/envelope.pb-c.h>

#include "dynamics_client.h"
#include "pool.h"
#include "poses.h"

/* Converts an inertia. Returns NULL if it is zero, or when out of memory. */
Dynamics__V1__Inertia *from_inertia(pool *memory, const dyn_client_inertia *from);

/* Converts an inertia of a reply. NULL becomes zero. */
dyn_client_inertia to_inertia(const Dynamics__V1__Inertia *from);

/* Converts a joint except for its coordinates (indices, dimensions and units), which only DescribeModelReply has. */
dyn_client_joint to_joint(pool *memory, const Dynamics__V1__Joint *from);

Dynamics__V1__ModelDescription *from_description(pool *memory, const dyn_client_model_description *from);
Dynamics__V1__DenavitHartenbergTable *from_dh_table(pool *memory, const dyn_client_dh_table *from);
Dynamics__V1__ScrewChain *from_screws(pool *memory, const dyn_client_screw_chain *from);

const dyn_client_model_description *to_description(pool *memory, const Dynamics__V1__ModelDescription *from);

/* Converts a chain of screws. Returns NULL if its arrays do not have the lengths of one number of joints, or when out
 * of memory. */
const dyn_client_screw_chain *to_screws(pool *memory, const Dynamics__V1__ScrewChain *from);

#endif
