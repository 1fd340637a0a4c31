/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The joint-space inertia matrix M(q).
 */
#ifndef DYNAMICS_MASS_MATRIX_H
#define DYNAMICS_MASS_MATRIX_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes M(q), with kinetic energy = v' M v / 2, by the composite-rigid-body algorithm.
 *
 * q is n x nq; M is n x nv x nv, row-major, both triangles filled, and must not overlap q. Cost O(bodies * depth) per
 * sample. Allocates nothing. Thread-safe as long as each thread has its own workspace.
 * Errors as in inverse_dynamics.h.
 * Source: Walker and Orin 1982, method 3; Featherstone 2008, table 6.2. */
DYN_API dyn_status dyn_crba(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q, double *M,
                            dyn_error *error);

/* Computes the inverse M(q)^-1, n x nv x nv, both triangles, from the factors M = L' D L along the branches of the
 * tree. q is n x nq.
 * Cost O(nv * depth^2 + nv^2 * depth) per sample. Threads and errors as in dyn_crba, and DYN_FAILED_PRECONDITION where
 * M is singular, with the joint that no inertia resists and the sample.
 * Source: Featherstone 2005. */
DYN_API dyn_status dyn_minverse(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                double *inverse, dyn_error *error);

/* Computes the factors of M = L' D L along the branches of the tree: n x nv x nv with D on the diagonal, L (of unit
 * diagonal) below it and zeros above. L has an entry (i, j) only where coordinate j is above i in the tree. q is n x
 * nq.
 * Cost O(bodies * depth + nv * depth^2) per sample. Threads and errors as in dyn_minverse.
 * Source: Featherstone 2005. */
DYN_API dyn_status dyn_mass_factors(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                    double *factors, dyn_error *error);

/* Solves M x = b for x, n x nv each, with the factors of dyn_mass_factors, which serve any number of b; x may be the
 * same array as b. b holds forces, x accelerations. Computes in double precision, whatever the precision of the
 * workspace.
 * Cost O(nv * depth) per sample. Allocates nothing. Threads as in dyn_crba.
 * Errors: DYN_INVALID_ARGUMENT for a b that is missing or not finite. The factors are not checked.
 * Source: Featherstone 2008, section 6.5. */
DYN_API dyn_status dyn_mass_solve(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *factors,
                                  const double *b, double *x, dyn_error *error);

/* Computes the inertia that the force of each coordinate alone accelerates: `held` while the other coordinates do not
 * accelerate, M_jj, and `free` while no force acts on them, 1 / (M^-1)_jj, which is not larger. n x nv each, kg m^2 for
 * rotations and kg for translations; neither may be NULL. Rotors of the model are included. q is n x nq.
 *
 * A motor with the rotor inertia I_a accelerates such a load most by the gear ratio sqrt(load / I_a): then the apparent
 * inertia of the rotor equals the load (inertia matching; Modern Robotics, exercise 8.9).
 *
 * Cost O(nv * bodies) per sample, more with coupled mimic joints. Threads and errors as in dyn_minverse. */
DYN_API dyn_status dyn_joint_inertias(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                      double *held, double *free, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
