/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Roll, pitch and yaw, as URDF states rotations.
 */
#ifndef DYNAMICS_URDF_RPY_H
#define DYNAMICS_URDF_RPY_H

/* R = Rz(yaw) Ry(pitch) Rx(roll): turns about the fixed axes x, y and z, in this order. */
void rotation_from_rpy(const double rpy[3], double R[9]);

/* The angles of a rotation. Angles that rotation_from_rpy turns into just these nine numbers are searched for, with few
 * digits if possible; they are found if R was made from angles with a pitch within a right angle, or from beyond
 * with few digits. Else the angles are right to rounding. Numbers are written in the locale of the calling thread. */
void rpy_from_rotation(const double R[9], double rpy[3]);

#endif
