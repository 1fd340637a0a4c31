/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts machine elements from the public form to the protocol's and back. A pool holds the results; strings are
 * borrowed.
 */
#ifndef CLIENT_MACHINE_ELEMENTS_H
#define CLIENT_MACHINE_ELEMENTS_H

#include <dynamics/v1/actuation.pb-c.h>

#include "dynamics_client.h"
#include "pool.h"

/* Converts a machine element of a request. Returns NULL when out of memory, which the pool records. */
Dynamics__V1__MachineElement *from_machine_element(pool *memory, const dyn_client_machine_element *from);

/* Convert a motor and a gear of a request. Return NULL for NULL, and when out of memory, which the pool records. */
Dynamics__V1__Motor *from_motor(pool *memory, const dyn_client_motor *from);
Dynamics__V1__Gear *from_gear(pool *memory, const dyn_client_gear *from);

/* Converts machine elements of a reply. Returns NULL when out of memory, which the pool records. */
const dyn_client_machine_element *to_machine_elements(pool *memory, size_t count,
                                                      Dynamics__V1__MachineElement *const *from);

#endif
