/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fills errors of the client: a status, a field and a sentence, stored in the caller's error.
 */
#ifndef CLIENT_ERROR_H
#define CLIENT_ERROR_H

#include "dynamics_client.h"

/* Fills `error` (may be NULL) and returns `status`. `field` may be NULL; `format` is printf's. */
dyn_client_status fail(dyn_client_error *error, dyn_client_status status, const char *field, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Fills an error (may be NULL) about a failed allocation in the client, and returns OUT_OF_MEMORY. */
dyn_client_status fail_memory(dyn_client_error *error);

#endif
