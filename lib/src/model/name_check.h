/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules for names.
 */
#ifndef DYNAMICS_MODEL_NAME_CHECK_H
#define DYNAMICS_MODEL_NAME_CHECK_H

#include <stddef.h>

#include <dynamics/status.h>

/* Checks that a name has 1 to DYN_MAX_NAME bytes of printable UTF-8 (text.h). `kind` is the kind of element, such as
 * "link". Errors with that place: DYN_INVALID_ARGUMENT, DYN_RESOURCE_EXHAUSTED for one too long. */
dyn_status name_check(const char *name, dyn_error *error, const char *place, const char *kind);

#endif
