/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motions of custom joints: converts the protocol's form to the library's and back.
 */
#ifndef SERVER_METHODS_JOINT_MOTIONS_H
#define SERVER_METHODS_JOINT_MOTIONS_H

#include <dynamics/custom_joint.h>
#include <dynamics/joint_type.h>

#include "methods/call.h"

/* Reads the motions of the joint at `path` into memory of the call. Checks counts; the builder checks the numbers.
 * Returns false when the call has ended. */
bool joint_motions_read(call *c, const char *path, const Dynamics__V1__Joint *from, dyn_joint_type type, int *count,
                        const dyn_joint_motion **motions);

/* Writes the motions of a joint to the message, nothing for none. The call ends when out of memory. */
void joint_motions_write(call *c, int count, const dyn_joint_motion *motions, Dynamics__V1__Joint *to);

#endif
