/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motion of a frame: its twist, its acceleration, and the rate of its Jacobian.
 */
#ifndef DYNAMICS_FRAME_MOTION_H
#define DYNAMICS_FRAME_MOTION_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the twist V = J v (n x 6), its rate dV/dt = J a + dJ/dt v (n x 6) and dJ/dt (n x 6 x nv), angular rows
 * first, in the reference frame; gravity is not included. Any output may be NULL.
 *
 *     DYN_REFERENCE_FRAME_LOCAL                dV/dt is the spatial acceleration in the frame's axes, at its origin
 *     DYN_REFERENCE_FRAME_WORLD                the spatial acceleration in the world's axes, at the world's origin
 *     DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED  the classical acceleration: angular, and d2p/dt2 of the frame's origin p
 *
 * q is n x nq; v and a (NULL: zero) are n x nv. Cost O(bodies) per sample. Allocates nothing. Thread-safe as long as
 * each thread has its own workspace.
 * Errors as in kinematics.h.
 * Source: Featherstone 2008, section 2.11. */
DYN_API dyn_status dyn_frame_motion(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                    const double *v, const double *a, int frame, dyn_reference_frame reference_frame,
                                    double *twist, double *rate, double *dJ, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
