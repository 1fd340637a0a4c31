/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Elements of a description in errors and reports.
 */
#ifndef DYNAMICS_MODEL_ELEMENT_H
#define DYNAMICS_MODEL_ELEMENT_H

#include <dynamics/status.h>

/* Element and its name. The name may be NULL for the robot itself. */
typedef struct named_element {
    dyn_element element;
    const char *name;
} named_element;

/* Returns the kind of an element as a word: "robot", "link", "joint", "constraint", "machine element", or "description"
 * for DYN_ELEMENT_KIND_NONE. */
const char *element_kind_name(dyn_element_kind kind);

#endif
