/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passive forces r(q, v) of joints and machine elements (machine_element.h): damping, friction and springs, as
 * simulations apply them (simulation.h):
 *
 *     M(q) a + h(q, v) = tau + r(q, v)
 */
#ifndef DYNAMICS_PASSIVE_FORCE_H
#define DYNAMICS_PASSIVE_FORCE_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/model.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Passive forces to compute. */
typedef struct dyn_passive_parts {
    bool damping;             /* damping of joints, and viscous friction of machine elements and shafts */
    bool friction;            /* Coulomb friction of joints, and all other friction of machine elements */
    bool springs;             /* springs of machine elements */
    double friction_velocity; /* v_f, rad/s or m/s: transition velocity of joints, and of laws without their own; > 0 */
    bool gear_losses;         /* losses of gears (geared_dynamics.h), which dyn_add_passive_forces does not add */
} dyn_passive_parts;

/* Adds factor * r(q, v) to tau, n x nv. q is n x nq, v (NULL: zero) is n x nv. Forward dynamics with passive forces has
 * tau + r, and inverse dynamics tau - r. Cost O(joints + machine elements) per sample. Allocates nothing. Thread-safe.
 * Errors: DYN_INVALID_ARGUMENT for a friction velocity that is not positive, and for a result that overflows. */
DYN_API dyn_status dyn_add_passive_forces(const dyn_model *model, size_t n, const dyn_passive_parts *parts,
                                          double factor, const double *q, const double *v, double *tau,
                                          dyn_error *error);

/* Adds factor times the derivatives of r(q, v), n x nv x nv each: entry (i, k) is that of r_i along increment k of q,
 * or along v_k. Increments are those of derivatives.h. q is n x nq, v (NULL: zero) n x nv. The laws of joints, shafts
 * and springs are differentiated on paper; at a rate of zero, a law that differs by direction has the slope of negative
 * rates. Elements that act on links have differences, whose relative error is near 1e-10. Losses of gears do not count.
 * Cost O(joints + machine elements) per sample, and O(nv depth) for each element that acts on links. Allocates O(nq)
 * numbers. Thread-safe.
 * Errors: DYN_INVALID_ARGUMENT for a friction velocity that is not positive. */
DYN_API dyn_status dyn_add_passive_force_derivatives(const dyn_model *model, size_t n, const dyn_passive_parts *parts,
                                                     double factor, const double *q, const double *v, double *dr_dq,
                                                     double *dr_dv, dyn_error *error);

/* Computes the potential energy of the springs of machine elements, J, n numbers. q is n x nq. Cost O(machine elements)
 * per sample. Allocates nothing. Thread-safe. */
DYN_API void dyn_spring_energy(const dyn_model *model, size_t n, const double *q, double *energy);

#ifdef __cplusplus
}
#endif

#endif
