/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the forward dynamics of a model with constraints, for the samples of a batch.
 */
#ifndef SERVER_METHODS_CONSTRAINED_H
#define SERVER_METHODS_CONSTRAINED_H

#include "methods/batch.h"

/* Computes the accelerations and multipliers of the batch, whose model has constraints. Fills the reply. Returns false
 * when the call has ended or is deferred. */
bool constrained_forward_dynamics(batch *b, const Dynamics__V1__ForwardDynamicsRequest *r);

/* Returns the field of an option of constrained dynamics that the request has, or NULL. */
const char *constrained_option_of(const Dynamics__V1__ForwardDynamicsRequest *r);

/* Refuses the options of constrained dynamics, for a model without constraints. Returns false, and the call has ended,
 * if the request has one. */
bool constrained_check_absent(batch *b, const Dynamics__V1__ForwardDynamicsRequest *r);

#endif
