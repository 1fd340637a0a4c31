/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of descriptions of robots that joints and constraints share: errors of elements, and types of joints.
 */
#ifndef SERVER_METHODS_DESCRIPTION_PARTS_H
#define SERVER_METHODS_DESCRIPTION_PARTS_H

#include <dynamics/dynamics.h>

#include "methods/call.h"

/* Ends the call with an error of the library about an element, whose field the caller has set (call_blame). Returns
 * false. */
bool description_fail_element(call *c, const dyn_error *error);

/* Refuses a member of the element at `path` that the daemon derives from the others and sets in replies only. Returns
 * false if it is set. */
bool description_refuse_derived(call *c, const char *path, const char *member, bool is_set);

/* Converts a type of joint to the library's. A type unknown to the protocol becomes one unknown to the library. */
dyn_joint_type description_joint_type(Dynamics__V1__JointType wire);

/* Converts a type of joint of the library to the protocol's. */
Dynamics__V1__JointType description_write_joint_type(dyn_joint_type type);

/* Limit on the parts of one kind that a model has. */
typedef struct part_limit {
    const char *parts; /* "contact surfaces" */
    const char *key;   /* "limits.contact_surfaces" */
    bound bound;
    uint32_t most;
} part_limit;

/* Checks the number of parts of a model. Beyond the limit ends the call with an error at `field`, and returns false. */
bool description_check_count(call *c, const char *field, size_t count, const part_limit *limit);

#endif
