/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Check of the names of robots, links, joints and constraints.
 */
#ifndef DYNAMICS_MODEL_NAME_CHECK_H
#define DYNAMICS_MODEL_NAME_CHECK_H

#include <stddef.h>

#include <dynamics/status.h>

/* Checks that a name has 1 to DYN_MAX_NAME bytes of printable UTF-8 (text.h). `kind` is the kind of element in
 * messages, such as "link".
 * Errors, with `place`: DYN_INVALID_ARGUMENT for no name, an empty one or one that is not printable;
 * DYN_RESOURCE_EXHAUSTED for one that is too long. */
dyn_status name_check(const char *name, dyn_error *error, const char *place, const char *kind);

#endif
