/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forces of the rotors of a model (machine_element.h): what they add to the inverse dynamics, what their diagonal
 * approximation leaves out, and the wrenches with which they act on the links that carry them.
 */
#ifndef DYNAMICS_ROTOR_FORCE_H
#define DYNAMICS_ROTOR_FORCE_H

#include <stddef.h>

#include <dynamics/base_motion.h>
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

/* Returns the name of the machine element of a rotor, or NULL for an index that is out of range. Rotors
 * (dyn_model_rotor_count, motor.h) have the order of their machine elements. The name lives as long as the model. Cost
 * O(machine elements). Thread-safe. */
DYN_API const char *dyn_model_rotor_name(const dyn_model *model, int rotor);

/* States of a model: n samples of q (n x nq), and of v and a (n x nv; NULL: zero). */
typedef struct dyn_rotor_states {
    size_t n;
    const double *gravity; /* 3, in the world; NULL: that of the model */
    const double *q, *v, *a;
    const dyn_base_motion *base; /* NULL: the base rests */
} dyn_rotor_states;

/* Computes the wrench (torque N m, then force N) that each rotor exerts in the motion (q, v, a) on the link that
 * carries the housing of its motor, through bearings, stator and gear together: the opposite of the wrench that moves
 * the rotor. wrenches is n x rotors x 6. It is in the axes and about the origin of the frame in which the element
 * states its position and axis: the joint frame, which is fixed in the parent link, or the frame of the link that
 * carries a shaft.
 *
 * With the velocity w of that link, the acceleration a_c of the rotor's centre c, gravity g, the axis u, the inertia I
 * of the rotor about c, and its spin s = G v relative to the link:
 *
 *     force  = -m (a_c - g)
 *     torque = -(I dw/dt + w x I w + I_a (ds/dt u + s w x u)) + c x force
 *
 * A motor torque tau / G and the force tau_g along the joint's coordinate that the gear transmits (joint_wrench.h)
 * satisfy tau / G = tau_g / G - torque_u, where torque_u is the part of the torque about u that accelerates the rotor.
 * The spin of a rotor in the diagonal approximation does not act on the link; nor does the axial inertia of a reflected
 * one, which the link includes.
 *
 * wrenches must not overlap inputs. Cost that of one dyn_frame_motion and one dyn_frame_pose for each rotor. Allocates
 * nothing. Thread-safe as long as each thread has its own workspace. Errors as in dyn_rnea and base_motion.h.
 * Source: Modern Robotics (Lynch and Park 2017), equations 8.103 to 8.111. */
DYN_API dyn_status dyn_housing_wrenches(const dyn_model *model, dyn_workspace *workspace,
                                        const dyn_rotor_states *states, double *wrenches, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
