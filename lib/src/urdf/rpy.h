/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Roll, pitch and yaw, as URDF states rotations.
 */
#ifndef DYNAMICS_URDF_RPY_H
#define DYNAMICS_URDF_RPY_H

/* R = Rz(yaw) Ry(pitch) Rx(roll): turns about the fixed axes x, y and z, in this order. */
void rotation_from_rpy(const double rpy[3], double R[9]);

/* Computes the angles of a rotation. Searches for angles that rotation_from_rpy maps to exactly these nine numbers,
 * with few digits if possible. It finds them if R was computed from angles with a pitch within a right angle, or from a
 * pitch beyond it with few digits. Else the angles are correct to rounding. Formats numbers in the locale of the
 * calling thread. */
void rpy_from_rotation(const double R[9], double rpy[3]);

#endif
