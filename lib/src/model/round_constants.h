/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The constants of bodies in single precision. Where lanes hold 16 samples, to convert a constant and to spread it
 * takes longer than to multiply with it.
 */
#ifndef DYNAMICS_MODEL_ROUND_CONSTANTS_H
#define DYNAMICS_MODEL_ROUND_CONSTANTS_H

#include "normal_form.h"

/* Rounds the constants of `count` bodies, which are otherwise complete; those too large for single precision become
 * infinite. */
void round_constants(body *bodies, int count);

#endif
