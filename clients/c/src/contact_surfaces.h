/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts contact surfaces from the public form to the protocol's and back. A pool holds the results; strings are
 * borrowed.
 */
#ifndef CLIENT_CONTACT_SURFACES_H
#define CLIENT_CONTACT_SURFACES_H

#include <dynamics/v1/contact.pb-c.h>

#include "dynamics_client.h"
#include "pool.h"

/* Converts a contact surface of a request. Returns NULL when out of memory, which the pool records. */
Dynamics__V1__ContactSurface *from_contact_surface(pool *memory, const dyn_client_contact_surface *from);

/* Converts contact surfaces of a reply. Returns NULL when out of memory, which the pool records. */
const dyn_client_contact_surface *to_contact_surfaces(pool *memory, size_t count,
                                                      Dynamics__V1__ContactSurface *const *from);

#endif
