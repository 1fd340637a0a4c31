/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constants of bodies in single precision. Where lanes hold 16 samples, converting a constant and broadcasting it takes
 * longer than multiplying by it.
 */
#ifndef DYNAMICS_MODEL_ROUND_CONSTANTS_H
#define DYNAMICS_MODEL_ROUND_CONSTANTS_H

#include "normal_form.h"

/* Rounds the constants of `count` bodies, which are otherwise complete. Constants too large for single precision become
 * infinite. */
void round_constants(body *bodies, int count);

#endif
