/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mass matrix by composite rigid bodies, in link coordinates: method 3 of Walker and Orin 1982, the spatial
 * composite rigid body method of Lilly and Orin 1991, and the CRBA of Featherstone and Orin 2000, section 3.2.
 */
#ifndef DYNAMICS_CLASSICAL_COMPOSITE_BODIES_H
#define DYNAMICS_CLASSICAL_COMPOSITE_BODIES_H

#include "mechanism.h"

/* Computes I^C of every link, the inertia of the rigid body that it forms with its subtree:
 *     I^C_i = I_i + sum of I^C_j over its children, in the axes of link i */
void KERNEL(composite_inertias)(const mechanism *m, rigid_inertia *IC);

/* Computes M_ij = S_i' I^C_j S_j for every link i that carries link j. The wrench I^C_j S_j passes all joints before
 * link j. */
void KERNEL(composite_mass_matrix)(const mechanism *m, const rigid_inertia *IC, real *M);

/* Adds an entry to M, and to its mirror image if `mirror`. Joints that share a coordinate contribute to the same
 * entry. */
void KERNEL(add_mass_entry)(const mechanism *m, real *M, int row, int column, int mirror, real entry);

#endif
