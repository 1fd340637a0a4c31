/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that fill a caller's dyn_error.
 */
#ifndef DYNAMICS_MODEL_ERROR_H
#define DYNAMICS_MODEL_ERROR_H

#include <stdarg.h>

#include <dynamics/status.h>

/* Writes status, place and a printf-style message to `error`, which may be NULL, and returns `status`. Text that is too
 * long is cut at a character and ends in "...". */
dyn_status dyn_error_set(dyn_error *error, dyn_status status, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Writes an error as dyn_error_set does, with a list of arguments. */
dyn_status dyn_error_set_list(dyn_error *error, dyn_status status, const char *place, const char *format, va_list list)
    __attribute__((format(printf, 4, 0)));

/* Writes an error about values. Composes `place` from the site: "q[13]" or "external_forces[2].force[4]". */
dyn_status dyn_error_at(dyn_error *error, dyn_status status, const dyn_error_site *site, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Writes an error with a cause; otherwise like dyn_error_set. */
dyn_status dyn_error_because(dyn_error *error, dyn_status status, dyn_cause cause, const char *place,
                             const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Names the argument that an error is about, unless the error names one; `error` may be NULL. Returns `status`. */
dyn_status dyn_error_of_argument(dyn_error *error, dyn_status status, const char *argument);

/* Names the element of a description that an error is about; `error` may be NULL. Returns `status`. */
dyn_status dyn_error_of_element(dyn_error *error, dyn_status status, const dyn_element *element);

/* Sets "out of memory" and returns DYN_RESOURCE_EXHAUSTED. */
dyn_status dyn_error_memory(dyn_error *error);

#endif
