/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Grouping of inertial parameters.
 *
 * A body turns about the z axis of its frame where its joint is revolute. The joint does not move mass on that axis,
 * and that mass causes no moment about it: fixing it to the parent has the same effect. These parameters of a body are
 * the mass m, the moment m c_z and the second moment J_zz, those of a rod along the axis. They move to the parent, body
 * by body from the tips:
 *     m_p += m      h_p += m r + h_z u      J_p += m r r' + h_z (r u' + u r') + J_zz u u'
 * with the child's origin r and its z axis u. Parameters that reach the world are dropped. Joint forces, and all that
 * follows from them, are the same in exact arithmetic; the wrenches that joints transmit are not. Nothing is
 * subtracted.
 *
 * The bodies of links are grouped once more with the axial inertias of the rotors that spin on them (rotor.h), for
 * algorithms that compute rotors with the joints that they drive.
 *
 * Source: Gautier and Khalil 1990, "Direct calculation of minimum set of inertial parameters of serial robots".
 */
#ifndef DYNAMICS_MODEL_GROUP_INERTIAS_H
#define DYNAMICS_MODEL_GROUP_INERTIAS_H

#include "normal_form.h"

/* Computes the grouped parameters of the bodies of a model, or of a copy of them with other inertias. Where they
 * overflow, each body keeps its own parameters, and no body is serial. */
void group_inertias(const dyn_model *model, body *bodies);

#endif
