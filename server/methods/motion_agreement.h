/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motions of models with constraints in inverse dynamics: writes how far they agree with the constraints.
 */
#ifndef SERVER_METHODS_MOTION_AGREEMENT_H
#define SERVER_METHODS_MOTION_AGREEMENT_H

#include <dynamics/constrained_inverse_dynamics.h>

#include "methods/batch.h"

/* Numbers of a sample in the message: rank, freedom and residual. */
enum { AGREEMENT_NUMBERS = 3 };

/* Writes the results of the samples of a batch. Returns NULL for `results` NULL, and when the call has ended. */
Dynamics__V1__MotionAgreement *motion_agreement_write(const batch *b, const dyn_constrained_inverse_result *results);

#endif
