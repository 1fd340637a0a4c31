/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of robots: converts the protocol's forms to a builder and back.
 *
 * A read function that fails ends the call with an error, whose field names the wrong element, and returns false. The
 * caller frees the builder. A write function returns NULL when the call has ended.
 */
#ifndef SERVER_METHODS_DESCRIPTION_H
#define SERVER_METHODS_DESCRIPTION_H

#include <dynamics/dynamics.h>

#include "methods/call.h"
#include "methods/description_parts.h"

/* Creates a builder from a description of links, joints, frames, constraints and machine
 * elements. */
bool description_read(call *c, const Dynamics__V1__ModelDescription *from, dyn_builder **builder);

/* Creates a builder from a Denavit-Hartenberg table. */
bool description_read_table(call *c, const Dynamics__V1__DenavitHartenbergTable *from, dyn_builder **builder);

/* Creates a builder from a serial chain in screw coordinates. */
bool description_read_screws(call *c, const Dynamics__V1__ScrewChain *from, dyn_builder **builder);

/* Ends the call with an error of the builder. Converts its element to a field, such as "description.links[4]". */
void description_fail(call *c, const Dynamics__V1__ModelDescription *from, const dyn_error *error);

/* Ends the call with an error of a builder from a table. Converts its element to a field, such as
 * "denavit_hartenberg.rows[2]". */
void description_fail_table(call *c, const dyn_error *error);

/* Ends the call with an error of a builder from screws. Converts its element to a field, such as "screws.slist[2]". */
void description_fail_screws(call *c, const dyn_error *error);

/* Reads the base of a request. An unspecified one leaves `base` unchanged. `path` is the field of an error. */
bool description_read_base(call *c, const char *path, Dynamics__V1__Base wire, dyn_base *base);

/* Reads the policy for mimic joints of a request. An unspecified one leaves `mimic` unchanged. `path` is the field of
 * an error. */
bool description_read_mimic(call *c, const char *path, Dynamics__V1__MimicPolicy wire, dyn_mimic_policy *mimic);

/* Converts a type of base to the protocol's. */
Dynamics__V1__Base description_write_base(dyn_base base);

/* Converts a policy for mimic joints to the protocol's. */
Dynamics__V1__MimicPolicy description_write_mimic(dyn_mimic_policy mimic);

/* Reads the limits of a joint, without checks. `from` NULL sets `has_limits` to false and the limits to zero. */
void description_read_limits(const Dynamics__V1__JointLimits *from, bool *has_limits, dyn_joint_limits *limits);

/* Writes the limits of a joint. Returns NULL, and the call has ended, when out of memory. */
Dynamics__V1__JointLimits *description_write_limits(call *c, const dyn_joint_limits *from);

/* Writes the coupling of a mimic joint to the joint `master`. Returns NULL, and the call has ended, when out of
 * memory. */
Dynamics__V1__Mimic *description_write_coupling(call *c, const char *master, double multiplier, double offset);

/* Writes the description that a model was built from. Returns NULL, and the call has ended, when out of memory. */
Dynamics__V1__ModelDescription *description_write(call *c, const dyn_model *model);

/* Writes the screws of a model whose end effector is the frame `tip`. If the model is not a chain, ends the call with
 * an error and returns NULL. */
Dynamics__V1__ScrewChain *description_write_screws(call *c, const dyn_model *model, int tip);

#endif
