/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of robots: from the wire's forms to a builder, and back.
 *
 * Reading returns false when the call has ended with an error, whose field is the element to blame. A builder that was
 * read is the caller's.
 */
#ifndef SERVER_METHODS_DESCRIPTION_H
#define SERVER_METHODS_DESCRIPTION_H

#include <dynamics/dynamics.h>

#include "methods/call.h"

bool description_read(call *c, const Dynamics__V1__ModelDescription *from, dyn_builder **builder);
bool description_read_table(call *c, const Dynamics__V1__DenavitHartenbergTable *from, dyn_builder **builder);
bool description_read_screws(call *c, const Dynamics__V1__ScrewChain *from, dyn_builder **builder);

/* Ends the call with an error of building what was read: "link wrist" becomes "description.links[4]". */
void description_fail(call *c, const Dynamics__V1__ModelDescription *from, const dyn_error *error);
void description_fail_table(call *c, const dyn_error *error);
void description_fail_screws(call *c, const dyn_error *error);

/* Ends the call with an error of the library's about the element that the call blames already; false. */
bool description_fail_element(call *c, const dyn_error *error);

/* Returns whether a place of the library's, which may be cut, is that of an element: "link wrist". */
bool description_is_place(const char *place, const char *kind, const char *name);

/* Choices of a request. One that is not made leaves the result as it is. */
bool description_read_base(call *c, const char *path, Dynamics__V1__Base wire, dyn_base *base);
bool description_read_mimic(call *c, const char *path, Dynamics__V1__MimicPolicy wire, dyn_mimic_policy *mimic);

/* The number of a joint type; one that the library does not have where the wire has none. */
dyn_joint_type description_joint_type(Dynamics__V1__JointType wire);

Dynamics__V1__Base description_write_base(dyn_base base);
Dynamics__V1__MimicPolicy description_write_mimic(dyn_mimic_policy mimic);
Dynamics__V1__JointType description_write_joint_type(dyn_joint_type type);

void description_read_limits(const Dynamics__V1__JointLimits *from, bool *has_limits, dyn_joint_limits *limits);
Dynamics__V1__JointLimits *description_write_limits(call *c, const dyn_joint_limits *from);

/* The coupling to the joint of that name. */
Dynamics__V1__Mimic *description_write_coupling(call *c, const char *master, double multiplier, double offset);

/* All that a model was built from; NULL when out of memory. */
Dynamics__V1__ModelDescription *description_write(call *c, const dyn_model *model);

/* The screws of a model whose end effector is the frame `tip`; NULL, and the call ended, where it is no chain. */
Dynamics__V1__ScrewChain *description_write_screws(call *c, const dyn_model *model, int tip);

#endif
