/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion of inertias, poses and descriptions of robots from the public form to the protocol's and back. A pool
 * holds the results; strings and arrays of numbers are borrowed. NULL means an absent part, or that the pool is out of
 * memory, which the pool records. An array that is NULL is empty, whatever its count.
 */
#ifndef CLIENT_DESCRIPTIONS_H
#define CLIENT_DESCRIPTIONS_H

#include <dynamics/v1/envelope.pb-c.h>

#include "dynamics_client.h"
#include "pool.h"
#include "poses.h"

Dynamics__V1__Inertia *from_inertia(pool *memory, const dyn_client_inertia *from);
dyn_client_inertia to_inertia(const Dynamics__V1__Inertia *from);

/* Converts the members of a joint that requests and replies share. */
dyn_client_joint to_joint(const Dynamics__V1__Joint *from);

Dynamics__V1__ModelDescription *from_description(pool *memory, const dyn_client_model_description *from);
Dynamics__V1__DenavitHartenbergTable *from_dh_table(pool *memory, const dyn_client_dh_table *from);
Dynamics__V1__ScrewChain *from_screws(pool *memory, const dyn_client_screw_chain *from);

const dyn_client_model_description *to_description(pool *memory, const Dynamics__V1__ModelDescription *from);

/* Converts a chain of screws. Returns NULL if the number of its values is wrong. */
const dyn_client_screw_chain *to_screws(pool *memory, const Dynamics__V1__ScrewChain *from);

#endif
