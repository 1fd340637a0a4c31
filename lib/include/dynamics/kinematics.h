/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Poses and Jacobians of frames.
 *
 * A frame is the index of a link, 0 .. dyn_model_link_count - 1, or DYN_WORLD_FRAME (-1): see dyn_model_find_frame. The
 * Jacobian of the world, and of a link that is fixed to it, is zero.
 *
 * The functions allocate nothing. A workspace serves one thread.
 * Errors as in inverse_dynamics.h, and DYN_NOT_FOUND for a frame index that is out of range.
 */
#ifndef DYNAMICS_KINEMATICS_H
#define DYNAMICS_KINEMATICS_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the pose of `frame` in the world: position is n x 3 (m), rotation is n x 9, row-major, frame to world
 * coordinates. q is n x nq. Either output may be NULL. Cost O(depth of the frame) per sample.
 * Source: Murray, Li and Sastry 1994, section 3.2. */
DYN_API dyn_status dyn_frame_pose(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                  int frame, double *position, double *rotation, dyn_error *error);

/* Computes the Jacobian of `frame`, n x 6 x nv, angular rows first, with twist (w; v) = J v expressed in
 * `reference_frame`. The linear part is the velocity of the point of the frame's body at the reference frame's origin.
 * q is n x nq. Cost O(nv) per sample.
 * Source: Murray, Li and Sastry 1994, section 3.4. */
DYN_API dyn_status dyn_frame_jacobian(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                      int frame, dyn_reference_frame reference_frame, double *J, dyn_error *error);

/* Computes the unit quaternion x, y, z, w with w >= 0 of a row-major rotation matrix, by the largest component
 * (Shepperd 1978). Thread-safe. */
DYN_API void dyn_rotation_to_quaternion(const double rotation[9], double quaternion[4]);

/* Computes the row-major rotation matrix of a quaternion x, y, z, w of any length but zero. Thread-safe. */
DYN_API void dyn_quaternion_to_rotation(const double quaternion[4], double rotation[9]);

/* Euler angles of a rotation, rad. `axes` names three axes, of which no two neighbours are equal: "xyz" are turns about
 * the fixed axes x, then y, then z, the roll, pitch and yaw of URDF; "ZYX" are turns about the moved axes z, then y,
 * then x. All 12 orders of both kinds are known.
 *
 * The first function computes the row-major rotation matrix. The second computes angles in [-pi, pi], the second of
 * them in [-pi/2, pi/2] for three different axes and in [0, pi] otherwise; where the first and the third turn have the
 * same axis in space, an angle is zero or rounding and the other one is the whole turn. Thread-safe.
 * Errors: DYN_INVALID_ARGUMENT for other axes and for angles that are not finite.
 * Source: Shoemake 1994, "Euler angle conversion". */
DYN_API dyn_status dyn_euler_to_rotation(const char *axes, const double angles[3], double rotation[9],
                                         dyn_error *error);
DYN_API dyn_status dyn_rotation_to_euler(const char *axes, const double rotation[9], double angles[3],
                                         dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
