/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joint forces of the rotors of a model (machine_element.h): what they add to the inverse dynamics, and what their
 * diagonal approximation leaves out.
 */
#ifndef DYNAMICS_ROTOR_FORCE_H
#define DYNAMICS_ROTOR_FORCE_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the part of the inverse dynamics that the rotors cause: dyn_rnea of the model less that of its links alone,
 * n x nv. It includes the masses of rotors, and is zero for a model without any. Payloads do not change it. q is n x
 * nq; v and a (NULL: zero) are n x nv. `gravity`, aliasing, threads and errors as in dyn_rnea. Cost that of dyn_rnea.
 * Allocates nothing. */
DYN_API dyn_status dyn_rotor_forces(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                                    const double *q, const double *v, const double *a, double *tau, dyn_error *error);

/* Computes the inverse dynamics of a model less that of the same model with all rotors in the diagonal approximation,
 * n x nv: the forces of the coupling between the spin of each exact rotor and the motion of the link that carries it.
 * With the angular velocity w and acceleration w' of that link and the axis u of the rotor these are G I_a u'w' at the
 * joint of the rotor, and the moment G I_a (a u + v w x u) on the link. tau must not overlap a; all else is as in
 * dyn_rotor_forces.
 * Source: Modern Robotics (Lynch and Park 2017), section 8.9. */
DYN_API dyn_status dyn_rotor_coupling_forces(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                             const double *q, const double *v, const double *a, double *tau,
                                             dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
