/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of robots: conversion of the protocol's forms to a builder, and back. A read function that fails ends
 * the call with an error, whose field names the wrong element, and returns false. The caller owns the builder.
 */
#ifndef SERVER_METHODS_DESCRIPTION_H
#define SERVER_METHODS_DESCRIPTION_H

#include <dynamics/dynamics.h>

#include "methods/call.h"
#include "methods/description_parts.h"

bool description_read(call *c, const Dynamics__V1__ModelDescription *from, dyn_builder **builder);
bool description_read_table(call *c, const Dynamics__V1__DenavitHartenbergTable *from, dyn_builder **builder);
bool description_read_screws(call *c, const Dynamics__V1__ScrewChain *from, dyn_builder **builder);

/* Ends the call with an error of the builder. Converts its element to a field, such as "description.links[4]". */
void description_fail(call *c, const Dynamics__V1__ModelDescription *from, const dyn_error *error);
void description_fail_table(call *c, const dyn_error *error);
void description_fail_screws(call *c, const dyn_error *error);

/* Read optional choices of a request. An absent choice leaves the result unchanged. */
bool description_read_base(call *c, const char *path, Dynamics__V1__Base wire, dyn_base *base);
bool description_read_mimic(call *c, const char *path, Dynamics__V1__MimicPolicy wire, dyn_mimic_policy *mimic);

Dynamics__V1__Base description_write_base(dyn_base base);
Dynamics__V1__MimicPolicy description_write_mimic(dyn_mimic_policy mimic);

void description_read_limits(const Dynamics__V1__JointLimits *from, bool *has_limits, dyn_joint_limits *limits);
Dynamics__V1__JointLimits *description_write_limits(call *c, const dyn_joint_limits *from);

/* Writes the coupling of a mimic joint to the joint `master`. */
Dynamics__V1__Mimic *description_write_coupling(call *c, const char *master, double multiplier, double offset);

/* Writes the description that a model was built from. Returns NULL when out of memory. */
Dynamics__V1__ModelDescription *description_write(call *c, const dyn_model *model);

/* Writes the screws of a model whose end effector is the frame `tip`. If the model is not a chain, ends the call with
 * an error and returns NULL. */
Dynamics__V1__ScrewChain *description_write_screws(call *c, const dyn_model *model, int tip);

#endif
