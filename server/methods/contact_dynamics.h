/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the forward dynamics of a model whose contact surfaces act over a time step, for the samples of a batch.
 */
#ifndef SERVER_METHODS_CONTACT_DYNAMICS_H
#define SERVER_METHODS_CONTACT_DYNAMICS_H

#include "methods/batch.h"

/* Computes the accelerations of the batch over a step of the request's contact_step, and the contact forces. Fills the
 * reply. Returns false when the call has ended or is deferred. */
bool contact_forward_dynamics(batch *b, const Dynamics__V1__ForwardDynamicsRequest *r);

#endif
