/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Losses of gears in inverse and forward dynamics. A gear whose efficiency is eta, eta_b where the load drives it,
 * (machine_element.h) adds the force l to its coordinate:
 *
 *     (M + R) a + h = tau + r + l,    l = -mu |F| s,    s = v / sqrt(v^2 + w^2)
 *     F = tau + r_m - tau_R(q, v, a) + l
 *
 * F is the load at the output of the gear, r_m the friction on the side of the rotor, tau_R the force that accelerates
 * the rotors of the coordinate (motor.h), and w the friction velocity. mu is 1 / eta - 1 where the motor drives the
 * load, F v > 0, and 1 - eta_b where the load drives the motor. Simulations have the same law (simulation.h), with the
 * rate at the end of a semi-implicit step.
 *
 * A gear on a shaft has the rate w = g' v in the place of v, and the torque T of the shaft, tau = G' T, in the place of
 * tau (motor.h). Its loss acts on the coordinates as g l.
 *
 * Inverse dynamics knows a, and so F. In forward dynamics F follows from the losses of all gears, because they change a
 * and so tau_R:
 *
 *     F = F_0 + D l,    l = -Phi(F) F,    (1 + D Phi(F)) F = F_0
 *
 * where F_0 is the load without losses, column i of D the load of a force of one on the coordinate of gear i, and Phi
 * the diagonal matrix of mu s sign(F). D is the identity without rotors. Newton's method finds the signs of F.
 *
 * Constraints add A' lambda to the forces, and A a = c to the equations of a, and a base that moves adds -f_base. Both
 * change a and tau_R, and leave the equation of F as it is. Inverse dynamics of a model with constraints minimizes the
 * forces tau + l at the outputs of the gears, so that lambda is that without losses.
 *
 * Sources: Modern Robotics (Lynch and Park 2017), section 8.9.1; Giberti, Cinquemani and Legnani 2010, "Effects of
 * transmission mechanical characteristics on the choice of a motor-reducer".
 */
#ifndef DYNAMICS_GEARED_DYNAMICS_H
#define DYNAMICS_GEARED_DYNAMICS_H

#include <stddef.h>

#include <dynamics/base_motion.h>
#include <dynamics/constrained_dynamics.h>
#include <dynamics/constrained_inverse_dynamics.h>
#include <dynamics/export.h>
#include <dynamics/external_force.h>
#include <dynamics/passive_force.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* States of gears: n samples. */
typedef struct dyn_geared_states {
    size_t n;
    const double *gravity;             /* as in dyn_rnea */
    const double *q, *v;               /* n x nq, n x nv; v NULL: zero */
    const dyn_external_forces *forces; /* as in dyn_rnea */
    dyn_passive_parts parts;           /* passive forces that count; their friction velocity is w, positive */
    const dyn_base_motion *base;       /* of n samples; NULL: the base rests */
    /* As in dyn_constrained_forward_dynamics, where the model or `given` has rows; NULL: defaults. Losses of a motion
     * depend on `given` alone. */
    const dyn_constraint_options *constraints;
    /* Weights and tolerance of dyn_constrained_inverse_dynamics, for losses of a motion; NULL: defaults. Other members
     * are not read. */
    const dyn_constrained_inverse_options *motion;
    double *memory; /* dyn_geared_memory(model, n) numbers of scratch memory, which overlap no other array */
} dyn_geared_states;

/* Returns the number of doubles in dyn_geared_states.memory for n samples: 0 where no gear has losses. Cost O(machine
 * elements). Thread-safe. */
DYN_API size_t dyn_geared_memory(const dyn_model *model, size_t n);

/* Computes the losses l in the motion a, as forces of the coordinates: n x nv. Inverse dynamics is tau = rnea + f_base
 * - r - l, and with constraints dyn_constrained_inverse_dynamics less l. a (NULL: zero) is n x nv. `losses` must not
 * overlap an input. Cost of that inverse dynamics, and of dyn_rnea, dyn_joint_wrenches and dyn_base_forces for a model
 * with rotors. Allocates nothing, but for rows given by the caller. Thread-safe as long as each thread has its own
 * workspace and memory.
 * Errors as in these functions; DYN_FAILED_PRECONDITION, with the place "gear_losses", where two gears with losses move
 * one coordinate, where the torque of a shaft with such a gear does not follow, and, with constraints, where a passive
 * joint has a rotor and a gear with losses, or turns a shaft with one;
 * DYN_INVALID_ARGUMENT for a friction velocity that is not positive. */
DYN_API dyn_status dyn_gear_losses_of_motion(const dyn_model *model, dyn_workspace *workspace,
                                             const dyn_geared_states *states, const double *a, double *losses,
                                             dyn_error *error);

/* Computes the losses l under the forces tau of the joints, n x nv (NULL: zero), to which the passive forces of
 * states->parts and -f_base add. Forward dynamics is that of tau + r - f_base + l. `losses` must not overlap an input.
 * Cost O(machine elements) per sample; for a model with rotors, of g + 2 times dyn_constrained_forward_dynamics,
 * dyn_rnea and dyn_joint_wrenches, and O(g^3), with g gears that have losses. Allocation, threads and errors otherwise
 * as in dyn_gear_losses_of_motion. DYN_FAILED_PRECONDITION too where a self-locking gear jams under its load. */
DYN_API dyn_status dyn_gear_losses_under_forces(const dyn_model *model, dyn_workspace *workspace,
                                                const dyn_geared_states *states, const double *tau, double *losses,
                                                dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
