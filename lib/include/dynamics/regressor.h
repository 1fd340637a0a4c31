/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regressors of the equation of motion, which is linear in the inertial parameters: tau = Y(q, v, a) p.
 *
 * p holds ten parameters of each moving joint's child link, in the order of the joints: mass, first moment and
 * rotational inertia about the origin of the link's frame, in its axes,
 *     (m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz)        (dyn_inertia_to_parameters)
 * They include all links that fixed joints connect to the link. Links that are fixed to the world have none.
 *
 * The rotors of a model (machine_element.h) are known and no part of p: then tau = Y p + tau_r with the forces tau_r of
 * rotor_force.h, and the energies T and V are those of the links alone.
 */
#ifndef DYNAMICS_REGRESSOR_H
#define DYNAMICS_REGRESSOR_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the number of inertial parameters, which is ten times the number of joints. */
DYN_API int dyn_model_parameter_count(const dyn_model *model);

/* Stores the model's own parameters p in kg, kg m and kg m^2. Thread-safe. */
DYN_API void dyn_model_parameters(const dyn_model *model, double *p);

/* Computes the joint-torque regressor Y, n x nv x parameter count, row-major. q is n x nq; v and a (NULL: zero) are n x
 * nv; `gravity` as in inverse_dynamics.h. Cost O(joints * depth) per sample. Allocates nothing. Thread-safe as long as
 * each thread has its own workspace.
 * Errors as in inverse_dynamics.h.
 * Source: Atkeson, An and Hollerbach 1986. */
DYN_API dyn_status dyn_torque_regressor(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                        const double *gravity, const double *q, const double *v, const double *a,
                                        double *Y, dyn_error *error);

/* Computes the regressors of the kinetic energy T = y_T' p and of the potential energy V = y_V' p (dyn_energy), n x
 * parameter count each; either may be NULL. q is n x nq, v (NULL: zero) is n x nv. Cost O(joints) per sample.
 * `gravity`, threads and errors as in dyn_torque_regressor.
 * Source: Gautier and Khalil 1988. */
DYN_API dyn_status dyn_energy_regressor(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                        const double *gravity, const double *q, const double *v, double *y_T,
                                        double *y_V, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
