/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The links of a mechanism in absolute coordinates: all vectors in the axes of the world, about its origin, as in the
 * equations of Featherstone and Orin 2000, section 3.
 */
#ifndef DYNAMICS_CLASSICAL_WORLD_LINKS_H
#define DYNAMICS_CLASSICAL_WORLD_LINKS_H

#include "matrix.h"
#include "mechanism.h"

/* Link in absolute coordinates. */
typedef struct world_link {
    int parent, v_index, nv; /* as in the mechanism */
    placement X;             /* of the link in the world */
    motion h[6];             /* columns of the motion subspace */
    rigid_inertia I;
    motion v; /* velocity */
    motion c; /* dh/dt dq = v x (h dq), eq. 4; plus dS/dt dq of a custom joint */
    force p;  /* v x I v, eq. 5, less the external wrench */
} world_link;

/* Allocates the links from the scratch, and computes them at the velocities v; NULL stands for zeros. Returns NULL
 * where the scratch only measures. */
world_link *KERNEL(world_links)(const mechanism *m, const real *v, scratch *s);

/* Returns the external wrench on link i, in the world, of a mechanism with external forces. */
force KERNEL(world_external)(const mechanism *m, const world_link *l, int i);

/* Returns h x, the motion of a link relative to its parent for the nv rates, or accelerations, x of its joint. */
motion KERNEL(world_rate)(const world_link *l, const real *x);

/* Computes S, 6 count x nv: the Jacobians of all links, one below the other. The rows of a link are those of its
 * parent, plus h in the columns of its joint. Featherstone and Orin write S = P^-1 H. */
void KERNEL(world_jacobians)(const mechanism *m, const world_link *links, matrix S);

/* Returns the acceleration of the base, less gravity. */
motion KERNEL(base_acceleration)(const mechanism *m);

/* Computes the acceleration A (less gravity) of every link and the wrench f of every joint for the motion a, and adds
 * the forces of the joints to tau: the RNEA in absolute coordinates, eqs. 4, 7 and 8. */
void KERNEL(world_newton_euler)(const mechanism *m, const world_link *links, const real *a, motion *A, force *f,
                                real *tau);

/* Adds h' f, the forces of a joint that transmits the wrench f, to tau. */
void KERNEL(add_joint_force)(const world_link *l, force f, real *tau);

#endif
