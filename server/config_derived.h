/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Derives values of the configuration that are not set.
 */
#ifndef SERVER_CONFIG_DERIVED_H
#define SERVER_CONFIG_DERIVED_H

#include "config.h"

/* Derives the endpoints for streams from those for requests, unless they are set: ipc at PATH.ingest, tcp at a port
 * that the system chooses. Returns false, with an error, if a path becomes too long for a socket. */
bool config_derive_ingest(config *c, char error[CONFIG_ERROR_SIZE]);

/* Derives limits.memory_bytes if it is not set: half of the `available` bytes. If that is too little for the largest
 * request and its reply, lowers their limits and returns true. */
bool config_fit_memory(config *c, size_t available);

/* Derives the limits of one user that are 0: half of the limit of all. Half of the memory is at least that of the
 * largest request and its reply. */
void config_derive_shares(config *c);

/* Returns the least limits.memory_bytes for one request and its reply. */
unsigned long config_memory_needed(const config *c);

/* Numbers of copies of one request and of one reply in memory. A request may be held as received, decoded, and twice
 * more by its method, and the next one must fit too. A reply is held as results and encoded. */
enum { CONFIG_REQUEST_COPIES = 5, CONFIG_REPLY_COPIES = 2 };

#endif
