/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Merges the inertias of links into the body that carries them.
 */
#ifndef DYNAMICS_MODEL_MERGE_H
#define DYNAMICS_MODEL_MERGE_H

#include "normal_form.h"

/* Sets the inertia of a body to zero. */
void body_clear_inertia(body *b);

/* Adds the inertia of a link, whose frame has the pose `place` in the body's frame, to the body. */
void body_merge(body *b, const dyn_inertia *link, const dyn_pose *place);

#endif
