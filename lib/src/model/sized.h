/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access to structs that grow with the library (dynamics/sized.h). A new member goes to the end of its struct, and not
 * into the padding at the end of an earlier version.
 */
#ifndef MODEL_SIZED_H
#define MODEL_SIZED_H

#include <stddef.h>

#include <dynamics/status.h>

/* Reads the caller's struct `from` into `to`, the struct of `size` bytes that this library knows, which holds the
 * defaults. Members that an older caller lacks keep them, and all do where `from` is NULL. `name` is the place of the
 * struct in errors. Errors: DYN_INVALID_ARGUMENT. */
dyn_status dyn_sized_read(const char *name, const void *from, size_t size, void *to, dyn_error *error);

/* Writes the struct `from` of `size` bytes into the caller's struct `to` as far as that goes. Members that this library
 * does not know become zero. Errors: DYN_INVALID_ARGUMENT for a `to` that is not initialized. */
dyn_status dyn_sized_write(const char *name, const void *from, size_t size, void *to, dyn_error *error);

#endif
