/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scaled joints: joints of one coordinate that turn, or advance, by a constant multiple of it, so that their motion
 * subspace is a screw that is not normalized (dynamics/screws.h). The normal form has two bodies for such a joint: a
 * massless one that the coordinate moves, and one that follows it about the same screw, as a coupled mimic joint.
 */
#ifndef DYNAMICS_MODEL_SCALED_JOINT_H
#define DYNAMICS_MODEL_SCALED_JOINT_H

#include "normal_form.h"

/* Computes the unit screw S = (w; v) of a body about the z axis of a frame with that pose. */
void body_screw(const body *b, const double rotation[9], const double position[3], double S[6]);

/* Returns whether bodies i - 1 and i are those of one scaled joint. Returns false for an i without a body. */
bool continues_screw(const dyn_model *model, int i);

/* Copies the normal form of a model, with one body for each scaled joint, whose ratio is the multiple. Stores NULL
 * where the model has no scaled joints. The copy owns its bodies, frames and stages; all else is that of the model,
 * which must outlive it. Frames of massless bodies inside a joint have the body -1 in the copy. The copy is for the
 * room classical: constants of other algorithms are not complete. The caller frees the copy by free.
 * Joints whose massless body carries another joint or a rotor, and joints whose multiple is zero, keep their bodies.
 * Errors: DYN_RESOURCE_EXHAUSTED. */
dyn_status join_scaled_joints(const dyn_model *model, dyn_model **joined, dyn_error *error);

#endif
