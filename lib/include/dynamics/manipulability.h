/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Manipulability: the directions in which a robot moves easily, and the ellipsoids of velocity, force and mass.
 *
 * An ellipsoid is three lengths of its semi-axes, the longest first (n x 3), and their directions (n x 9: one unit
 * vector in each row, the largest component positive, in the axes of the reference frame). The directions of axes of
 * equal length are not unique. A length below 1e-7 (in single precision 2e-3) of the longest counts as zero.
 *
 * The functions allocate nothing and are thread-safe as long as each thread has its own workspace.
 * Errors as in kinematics.h.
 * Sources: Yoshikawa 1985, "Manipulability of robotic mechanisms"; Modern Robotics (Lynch and Park 2017), sections 5.4
 * and 8.1.3.
 */
#ifndef DYNAMICS_MANIPULABILITY_H
#define DYNAMICS_MANIPULABILITY_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the distance of a frame from a singular configuration, for the linear rows J_v of its Jacobian, the angular
 * rows J_w and all six, J, in DYN_REFERENCE_FRAME_LOCAL (or DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED: the numbers are
 * the same):
 *
 *     linear    n x 2   sqrt(det(J_v J_v')) (Yoshikawa's measure: the volume of the velocity ellipsoid divided by
 *                       4 pi / 3), and the shortest semi-axis divided by the longest: 1 isotropic, 0 singular
 *     angular   n x 2   these two numbers for J_w
 *     spatial   n       sqrt(det(J J')); 0 with nv < 6
 *
 * Any output may be NULL. q is n x nq. Cost O(nv) per sample. */
DYN_API dyn_status dyn_manipulability(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                      int frame, double *linear, double *angular, double *spatial, dyn_error *error);

/* Computes the ellipsoids of the velocities of a frame under joint velocities with |v| = 1: axes and square roots of
 * the eigenvalues of J_v J_v' for its origin, and of J_w J_w' for its angular velocity. The forces that joint forces
 * with |tau| = 1 balance have the same axes and the reciprocal lengths. Any output may be NULL. q is n x nq. Cost O(nv)
 * per sample. */
DYN_API dyn_status dyn_velocity_ellipsoids(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                           int frame, dyn_reference_frame reference_frame, double *linear,
                                           double *linear_axes, double *angular, double *angular_axes,
                                           dyn_error *error);

/* Computes eigenvalues and axes of the apparent mass (J_v M^-1 J_v')^-1, kg, of a frame's origin with its rotation
 * free, and of the apparent inertia (J_w M^-1 J_w')^-1, kg m^2. Directions that cannot be moved have INFINITY and come
 * first. Any output may be NULL. q is n x nq. Cost O(bodies) per sample, O(nv^3) with coupled mimic joints. Returns
 * DYN_FAILED_PRECONDITION where M is singular. */
DYN_API dyn_status dyn_mass_ellipsoids(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                       int frame, dyn_reference_frame reference_frame, double *mass, double *mass_axes,
                                       double *inertia, double *inertia_axes, dyn_error *error);

/* Computes the ellipsoids of the accelerations J M^-1 tau of a frame under joint forces with |tau| = 1, at rest and
 * without gravity: axes and square roots of the eigenvalues of J_v M^-1 (J_v M^-1)' for its origin, and of J_w M^-1
 * (J_w M^-1)' for its angular acceleration. Any output may be NULL. q is n x nq. Cost O(bodies) per sample, O(nv^3)
 * with coupled mimic joints. Returns DYN_FAILED_PRECONDITION where M is singular.
 * Sources: Yoshikawa 1985, "Dynamic manipulability of robot manipulators"; Chiacchio, Chiaverini, Sciavicco and
 * Siciliano 1991, "Influence of gravity on the manipulability ellipsoid for robot arms". */
DYN_API dyn_status dyn_acceleration_ellipsoids(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                               const double *q, int frame, dyn_reference_frame reference_frame,
                                               double *linear, double *linear_axes, double *angular,
                                               double *angular_axes, dyn_error *error);

/* Computes the principal moments, kg m^2, and principal axes of the body that carries `frame`, about its centre of
 * mass: n x 3, the largest first, and their directions, n x 9, unit vectors along the axes of the reference frame, one
 * in each row. They are right-handed, and defined for all bodies; differences count from 1e-9 on, of the largest moment
 * or of the unit vector:
 *     three moments differ  the first of the largest components of axes 0 and 1 is positive; axis 2 is their product
 *     two are equal         the axis of the third has that sign; the first axis of the equal ones is the coordinate
 *                           axis nearest to their plane (x before y before z), projected onto it
 *     all are equal         the axes are those of the reference frame
 * dyn_body_inertia defines the body and its errors. Neither output may be NULL. q is n x nq. Cost O(depth of the frame)
 * per sample. */
DYN_API dyn_status dyn_principal_moments(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                         int frame, dyn_reference_frame reference_frame, double *moments, double *axes,
                                         dyn_error *error);

/* Computes the torque ellipsoid (mass ellipsoid) of the joints, the joint forces M a for joint accelerations with |a| =
 * 1: eigenvalues of M, n x nv, the largest first, and its unit eigenvectors, n x nv x nv, one in each row. It mixes the
 * units of the joints. Neither output may be NULL. q is n x nq. Cost O(nv^3) per sample. */
DYN_API dyn_status dyn_torque_ellipsoid(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                        double *lengths, double *axes, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
