/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs that grow with the library. Their first member is the size that they have in the caller's header. A new
 * member goes to the end of its struct, and not into the padding at the end of an earlier version.
 */
#ifndef CLIENT_SIZED_H
#define CLIENT_SIZED_H

#include "dynamics_client.h"

/* Copies the caller's struct `from` into `to`, the struct of `size` bytes that this library knows. Members that an
 * older caller lacks become zero, which selects their defaults. A newer caller must leave zero what this library does
 * not know. `name` is the path of the struct in errors. Errors: INVALID_ARGUMENT. */
dyn_client_status sized_read(const char *name, const void *from, size_t size, void *to, dyn_client_error *error);

/* Checks that the caller's struct is not NULL and that it has a size. Errors: INVALID_ARGUMENT. */
dyn_client_status sized_check(const char *name, const void *sized, dyn_client_error *error);

/* Copies the result `from` of `size` bytes into the caller's struct `to`, which sized_check has accepted, as far as the
 * caller's size allows. Keeps struct_size. Members that this library does not know become zero. */
void sized_write(const void *from, size_t size, void *to);

#endif
