/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Articulated inertia and bias of one body of a mechanism whose joints share coordinates: coupled mimic joints, and
 * shafts that several joints turn.
 *
 * The bodies whose joints share a coordinate form a cluster (Jain 2012), across which the step of the articulated-body
 * algorithm does not go joint by joint. The joint that carries the body is cut. All other joints then move the bodies
 * with the coordinates x, and the body itself has the acceleration A:
 *
 *     I A + U x + p = f            U' A + M x + h = tau
 *
 * I is the composite inertia of the body's subtree, and x leaves the equations:
 *
 *     I_A = I - U M^-1 U'          p_A = p + U M^-1 (tau - h)
 *
 * Where no joint of the subtree shares its coordinate with one outside, x of the subtree is independent of the others,
 * and the result is that of the step from joint to joint. Where one does, bodies outside move with the subtree.
 *
 * Sources: Jain, Multibody graph transformations and analysis, part II: closed-chain constraint embedding, 2012 (the
 * clusters); Featherstone 2008, table 6.2 (M and U by composite bodies) and equation 7.22 (the elimination).
 */
#ifndef DYNAMICS_CLASSICAL_ARTICULATED_CLUSTER_H
#define DYNAMICS_CLASSICAL_ARTICULATED_CLUSTER_H

#include "world_links.h"

/* Computes I_A and p_A of body `root`, in the axes and about the origin of the world, under the joint forces tau.
 * Only reserves memory where `links` is NULL. */
void KERNEL(articulate_cluster)(const mechanism *m, const world_link *links, int root, const real *tau, scratch *s,
                                articulated_inertia *inertia, force *bias);

#endif
