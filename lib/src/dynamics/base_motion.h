/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Check of the motion of a base.
 */
#ifndef DYNAMICS_DYNAMICS_BASE_MOTION_H
#define DYNAMICS_DYNAMICS_BASE_MOTION_H

#include <dynamics/base_motion.h>

/* Checks that the motion has a twist and an acceleration, and that their numbers for n samples are finite. */
dyn_status dyn_check_base_motion(size_t n, const dyn_base_motion *base, dyn_error *error);

#endif
