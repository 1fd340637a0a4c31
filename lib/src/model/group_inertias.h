/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Grouping of inertial parameters.
 *
 * A body turns about the z axis of its frame where its joint is revolute. What lies on that axis is not moved by the
 * joint and gives no moment about it: it is as well fixed to the parent. Of the parameters of a body these are the mass
 * m, the moment m c_z and the second moment J_zz, those of a rod along the axis; they move to the parent, body after
 * body from the tips:
 *     m_p += m      h_p += m r + h_z u      J_p += m r r' + h_z (r u' + u r') + J_zz u u'
 * with the child's origin r and its z axis u. What reaches the world is gone. Joint forces, and all that follows from
 * them, are the same in exact arithmetic; the wrenches that joints carry are not. No number is subtracted.
 *
 * Source: Gautier and Khalil 1990, "Direct calculation of minimum set of inertial parameters of serial robots".
 */
#ifndef DYNAMICS_MODEL_GROUP_INERTIAS_H
#define DYNAMICS_MODEL_GROUP_INERTIAS_H

#include "normal_form.h"

/* Finds the grouped parameters of `count` bodies. Where they overflow, each body keeps its own, and none is serial. */
void group_inertias(body *bodies, int count);

#endif
