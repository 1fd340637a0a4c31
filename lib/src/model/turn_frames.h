/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Choice of the frames of bodies: turns them about their axes so that the first joint on each is a hinge if possible.
 */
#ifndef DYNAMICS_MODEL_TURN_FRAMES_H
#define DYNAMICS_MODEL_TURN_FRAMES_H

#include "normal_form.h"

/* Turns the frame of every body that may be turned about its z axis so that the axis of the first joint on it is normal
 * to its x axis, and finds the hinges, the forks, the chains, the trunk and the serial bodies. The bodies have no
 * inertia yet.
 * Errors: DYN_RESOURCE_EXHAUSTED. */
dyn_status turn_frames(dyn_model *model, dyn_error *error);

#endif
