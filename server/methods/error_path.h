/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths of the values that errors of the library are about, in the form of a request's fields.
 */
#ifndef SERVER_METHODS_ERROR_PATH_H
#define SERVER_METHODS_ERROR_PATH_H

#include <dynamics/status.h>

/* Size of a path, in bytes. */
enum { ERROR_PATH_SIZE = 160 };

/* Writes the path of the value at an error's site, such as "rows[2].theta" or "force[4]". `name` is the name of the
 * library's argument in the request. Returns `path`. */
const char *error_path(const dyn_error_site *site, const char *name, char path[ERROR_PATH_SIZE]);

#endif
