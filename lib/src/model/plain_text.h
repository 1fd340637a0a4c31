/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text for programs: numbers exact and independent of the locale, names in quotes.
 */
#ifndef DYNAMICS_MODEL_PLAIN_TEXT_H
#define DYNAMICS_MODEL_PLAIN_TEXT_H

#include <dynamics/model.h>
#include <dynamics/status.h>
#include <stddef.h>
#include <stdio.h>

/* Prints a name in quotes with escapes, unambiguous for any content (names have no control characters); NULL: an empty
 * one. */
void print_name(FILE *out, const char *name);

/* Prints a word and numbers, with a space before each. 17 digits distinguish any two doubles; both zeros are 0. */
void print_numbers(FILE *out, const char *word, const double *values, int count);

/* Prints the limits of a joint as numbers; prints nothing for NULL. */
void print_limits(FILE *out, const dyn_joint_limits *limits);

/* Names of the kinds of motions of a custom joint, and of their functions, in the order of the enumerations. */
enum { MOTION_KIND_COUNT = 2, FUNCTION_KIND_COUNT = 3 };
extern const char *const motion_kinds[MOTION_KIND_COUNT], *const function_kinds[FUNCTION_KIND_COUNT];

/* Prints a motion of a custom joint. */
void print_motion(FILE *out, const dyn_joint_motion *motion);

/* Returns the output of `print`, in the C locale, as text that the caller frees. Errors: DYN_RESOURCE_EXHAUSTED. */
dyn_status plain_text_write(void (*print)(FILE *out, const void *what), const void *what, dyn_error *error, char **text,
                            size_t *length);

#endif
