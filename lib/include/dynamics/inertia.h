/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inertias of rigid bodies: computed from shapes, moved and added, checked, and converted to other coordinates.
 *
 * A dyn_inertia states mass m, centre of mass c and the rotational inertia I_c about c in the axes of one frame. All
 * functions are thread-safe. None allocates, except for the locale by which dyn_inertia_stl reads ASCII STL. Outputs
 * may be inputs of the same type.
 */
#ifndef DYNAMICS_INERTIA_H
#define DYNAMICS_INERTIA_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/model.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Homogeneous shapes, centred in the frame -------------------------------------------------------------------- */

/* Mass is in kg and lengths are in m, all at least 0. Errors: DYN_INVALID_ARGUMENT with the name of the argument.
 * Source: Modern Robotics (Lynch and Park 2017), figure 8.5; the capsule by composition. */

/* Computes the inertia of a box with edges size[0..2] along x, y, z. */
DYN_API dyn_status dyn_inertia_box(double mass, const double size[3], dyn_inertia *inertia, dyn_error *error);

/* Computes the inertia of a cylinder along z. */
DYN_API dyn_status dyn_inertia_cylinder(double mass, double radius, double length, dyn_inertia *inertia,
                                        dyn_error *error);

/* Computes the inertia of a solid sphere. */
DYN_API dyn_status dyn_inertia_sphere(double mass, double radius, dyn_inertia *inertia, dyn_error *error);

/* Computes the inertia of an ellipsoid with semi-axes semi_axes[0..2] along x, y, z. */
DYN_API dyn_status dyn_inertia_ellipsoid(double mass, const double semi_axes[3], dyn_inertia *inertia,
                                         dyn_error *error);

/* Computes the inertia of a cylinder of `length` along z with half spheres at both ends. */
DYN_API dyn_status dyn_inertia_capsule(double mass, double radius, double length, dyn_inertia *inertia,
                                       dyn_error *error);

/* Computes the inertia of the homogeneous body inside a closed mesh, by the divergence theorem. `stl` is binary or
 * ASCII STL of `length` bytes, whose coordinates times `scale` are metres. `mass` is in kg; 0 stands for a density of
 * 1000 kg/m^3. `volume` (m^3) may be NULL. Cost O(length).
 * Errors: DYN_INVALID_ARGUMENT with place "stl:LINE" or "stl[triangle k]" for text that is not STL, an invalid number,
 * or a mesh that encloses no positive volume, such as an open one or one whose faces are turned inwards, or for a scale
 * that is not positive; DYN_RESOURCE_EXHAUSTED.
 * Source: Mirtich 1996, in the form of Eberly 2002. */
DYN_API dyn_status dyn_inertia_stl(const char *stl, size_t length, double scale, double mass, double *volume,
                                   dyn_inertia *inertia, dyn_error *error);

/* ---- Transformation and addition --------------------------------------------------------------------------------- */

/* Transforms an inertia to the frame A. `pose` is the pose of the inertia's frame in A. */
DYN_API void dyn_inertia_transform(const dyn_inertia *inertia, const dyn_pose *pose, dyn_inertia *moved);

/* Adds the inertias of two bodies, stated in the same frame. */
DYN_API void dyn_inertia_add(const dyn_inertia *a, const dyn_inertia *b, dyn_inertia *sum);

/* Computes the rotational inertia about a point, in the same axes: I_c + m (|d|^2 1 - d d'), d = c - point (Steiner),
 * in the order xx xy xz yy yz zz. */
DYN_API void dyn_inertia_about(const dyn_inertia *inertia, const double point[3], double rotational[6]);

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

/* Computes the principal moments about the centre of mass, in ascending order. */
DYN_API void dyn_inertia_principal_moments(const dyn_inertia *inertia, double moments[3]);

/* Computes the principal axes about the centre of mass: unit vectors, one in each row, in the order of the principal
 * moments. They are right-handed and defined for all inertias, by the rules of dyn_principal_moments (manipulability.h)
 * with the smallest moment first; differences count from 1e-9 of the norm of the rotational inertia on. */
DYN_API void dyn_inertia_principal_axes(const dyn_inertia *inertia, double axes[9]);

/* Checks that a body can have this inertia: m > 0, I_c positive semidefinite, and the largest principal moment not
 * above the sum of the others. The last condition means that the pseudo-inertia is positive semidefinite: some density
 * of mass realizes it.
 * Errors: DYN_INVALID_ARGUMENT with the violated condition.
 * Source: Wensing, Kim and Slotine 2018. */
DYN_API dyn_status dyn_inertia_check(const dyn_inertia *inertia, dyn_error *error);

/* ---- Other coordinates ------------------------------------------------------------------------------------------- */

/* Computes the ten parameters in which the equation of motion is linear: m, m c, and I about the frame's origin:
 *     p = (m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) */
DYN_API void dyn_inertia_to_parameters(const dyn_inertia *inertia, double p[10]);

/* Computes the spatial inertia about a point, 6 x 6, row-major, angular part first: with d = c - point,
 *     G = [I_c + m (|d|^2 1 - d d')  m [d]; -m [d]  m 1]
 * Source: Featherstone 2008, equation 2.63; Modern Robotics (Lynch and Park 2017), equation 8.30, for d = 0. */
DYN_API void dyn_inertia_to_spatial(const dyn_inertia *inertia, const double point[3], double spatial[36]);

/* Computes the inertia from the ten parameters. Errors: DYN_INVALID_ARGUMENT where m is not positive. */
DYN_API dyn_status dyn_inertia_from_parameters(const double p[10], dyn_inertia *inertia, dyn_error *error);

/* Computes the pseudo-inertia, 4 x 4, row-major: [Sigma h; h' m] with Sigma = integral of r r' dm = tr(I)/2 1 - I. */
DYN_API void dyn_inertia_to_pseudo(const dyn_inertia *inertia, double pseudo[16]);

/* Computes the inertia from a symmetric pseudo-inertia, of which it reads the upper triangle. Errors:
 * DYN_INVALID_ARGUMENT where m is not positive. */
DYN_API dyn_status dyn_inertia_from_pseudo(const double pseudo[16], dyn_inertia *inertia, dyn_error *error);

/* Computes the inertia from log-Cholesky coordinates (alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3):
 *     pseudo = U U',  U = e^alpha [e^d1 s12 s13 t1; 0 e^d2 s23 t2; 0 0 e^d3 t3; 0 0 0 1]
 * Any ten numbers yield a realizable inertia. If the mass overflows or vanishes, the result is NaN.
 * Source: Rucker and Wensing 2022. */
DYN_API void dyn_inertia_from_log_cholesky(const double coordinates[10], dyn_inertia *inertia);

/* Computes the log-Cholesky coordinates. Errors: DYN_FAILED_PRECONDITION where the pseudo-inertia is not positive
 * definite: a point or a flat body. */
DYN_API dyn_status dyn_inertia_to_log_cholesky(const dyn_inertia *inertia, double coordinates[10], dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
