/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The step across one joint that the O(n) methods of forward dynamics share. The subtree of the joint obeys
 * f = I^A a + p^A (Featherstone and Orin 2000, eq. 11). With a = a_parent + c + h ddq and h' f = tau, the acceleration
 * ddq leaves the equation:
 *     U = I^A h      D = h' U      G = U D^-1
 *     ddq = D^-1 (tau - h' p*) - G' a_parent                      eq. 14     p* = p^A + I^A c
 *     f   = (I^A - G U') a_parent + p* + G (tau - h' p*)          eqs. 12 and 13
 */
#ifndef DYNAMICS_CLASSICAL_ARTICULATED_JOINT_H
#define DYNAMICS_CLASSICAL_ARTICULATED_JOINT_H

#include "../spatial/inertia.h"

/* Quantities of one joint. */
typedef struct articulated_joint {
    int nv;
    force U[6], G[6];        /* nv columns each */
    real D[36], inverse[36]; /* D and D^-1, nv x nv */
} articulated_joint;

/* Computes U, D, its inverse and G of a joint with nv columns h. */
void KERNEL(articulate_joint)(int nv, const motion *h, articulated_inertia I, articulated_joint *j);

/* Returns I^A - G U', the inertia that the parent feels. */
articulated_inertia KERNEL(inertia_across)(const articulated_joint *j, articulated_inertia I);

/* Returns f + G x for nv numbers x. */
force KERNEL(add_gain)(const articulated_joint *j, const real *x, force f);

/* Computes y = D^-1 x - G' a. */
void KERNEL(joint_acceleration)(const articulated_joint *j, const real *x, motion a, real *y);

#endif
