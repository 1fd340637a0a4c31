/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Poses and mass properties of rigid bodies, in plain doubles, for compiling a model.
 */
#ifndef DYNAMICS_MODEL_PLACEMENT_H
#define DYNAMICS_MODEL_PLACEMENT_H

#include <stdbool.h>

#include <dynamics/model.h>

/* Mass, first moment m c and inertia about the origin (xx xy xz yy yz zz) of a frame, in its axes. */
typedef struct mass_properties {
    double mass;
    double first_moment[3];
    double inertia[6];
} mass_properties;

/* Pose of a frame in itself. */
extern const dyn_pose identity_pose;

/* C = A B; C is neither A nor B. */
void rotation_multiply(const double A[9], const double B[9], double C[9]);

/* T = A'; T is not A. */
void rotation_transpose(const double A[9], double T[9]);

/* u = A v; u is not v. */
void rotation_apply(const double A[9], const double v[3], double u[3]);

/* B = R A R' for a symmetric A (xx xy xz yy yz zz); B may be A. */
void rotate_symmetric(const double R[9], const double A[6], double B[6]);

/* Returns whether R'R = 1 and det R = 1 to 1e-9. */
bool is_rotation(const double R[9]);

/* Computes the shortest rotation that turns z into the unit vector `axis`; half a turn about x for -z. Its entries are
 * exactly 0 and +-1 where the axis is a coordinate axis. */
void rotation_from_z(const double axis[3], double R[9]);

/* Computes the pose ab in A of a frame with pose b in B, where B has the pose a in A; ab is neither a nor b. */
void pose_compose(const dyn_pose *a, const dyn_pose *b, dyn_pose *ab);

/* Returns the mass properties of a link, about the origin of the frame in which the link's frame has the pose
 * `place`. */
mass_properties link_mass_properties(const dyn_inertia *link, const dyn_pose *place);

/* Transforms mass properties to the frame in which the body's own frame has the pose `place`. */
mass_properties mass_properties_move(const dyn_pose *place, const mass_properties *body);

/* a += b, both about the same frame. */
void mass_properties_add(mass_properties *a, const mass_properties *b);

/* Computes the eigenvalues of a symmetric matrix xx xy xz yy yz zz, smallest first (cyclic Jacobi). */
void symmetric_eigenvalues(const double A[6], double eigenvalues[3]);

#endif
