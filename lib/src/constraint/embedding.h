/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forward dynamics with constraints of one sample by constraint embedding.
 *
 * The bodies that a loop runs through form a cluster, and loops that share a body form one cluster together. A cluster
 * is connected to one body outside of it, so that the clusters form a tree. Inside a cluster, the rows of its loops
 * yield the accelerations of all its coordinates from independent ones, a = g + G z. The articulated-body algorithm
 * then runs over the clusters, with z in the place of the accelerations of a joint:
 *
 *     M = sum J_i' I_i J_i, H = sum I_i J_i, p = sum p_i        J_i: of body i relative to the body P outside
 *     D = G' M G, U = H G                                       z = D^-1 (G' (f - J' p - M g) - U' A_P)
 *     I_P += sum I_i - U D^-1 U'                                p_P += p + H g + U D^-1 G' (f - J' p - M g)
 *
 * On chains of 18 to 72 joints whose neighbours gears couple (dynamics-bench --constraints), a sample alone takes
 * from 0.75 to 0.86 times as long as by constrained articulated bodies, and one of a batch from 1.9 to 2.3 times.
 *
 * All vectors are in the axes of the world, about its origin. f holds all forces at rest, those of gravity, velocities
 * and the environment included, so that p is zero at the leaves.
 *
 * Source: Jain 2012, "Multibody graph transformations and analysis, part II: closed-chain constraint embedding";
 * Featherstone 2008, section 8.5 (independent coordinates of a loop).
 */
#ifndef DYNAMICS_CONSTRAINT_EMBEDDING_H
#define DYNAMICS_CONSTRAINT_EMBEDDING_H

#include <stdbool.h>
#include <stdint.h>

#include "../dynamics/workspace.h"
#include "dense.h"

/* Structure of a model, and scratch memory of one sample. */
typedef struct embedding {
    const dyn_model *model;
    /* Of each body: the first body of its cluster, and the next one of that cluster or -1. Of each constraint: the
     * first body of its cluster, or -1 where it acts on no body. */
    int *first, *next, *of_constraint;

    double *subspaces, *placed; /* 6 nv, 10 bodies */
    double *I, *p, *A;          /* of each body: 36, 6, 6 */
    double *H, *u;              /* of each coordinate: 6, 1 */
    double *M, *K, *c;          /* of one cluster: nv x nv, m x nv, m */
    double *D, *U, *T;          /* of one cluster: nv x nv, 6 for each z, nv */
    int *members, *columns;     /* of one cluster: its bodies, and its coordinates in v */
    int *local;                 /* of each coordinate in v: its number in the cluster */

    /* Of each cluster, from the coordinate or the square of coordinates on that the clusters before it have: g, G,
     * D^-1 U' and D^-1 w; of each body, the sums before its cluster, and the number of z. */
    double *g, *G, *X, *y;
    int *start, *square, *count, *free_count;
} embedding;

/* Lays out the memory from `base` on; returns its size (carve.h). */
size_t embedding_lay_out(const dyn_model *model, uintptr_t base, embedding *s);

/* Returns whether the method applies to a model: no bodies share a coordinate. */
bool embedding_applies(const dyn_model *model);

/* Finds the clusters of a model. Cost O(bodies + m depth). */
void embedding_find(const dyn_model *model, embedding *s);

/* Solves M a - A' lambda = f, A a = c at q. Returns false where no inertia resists an independent coordinate. Cost
 * O(bodies + sum of the cubes of the coordinates of the clusters). */
bool embedding_solve(embedding *s, const dyn_workspace *workspace, const double *q, const dense_problem *p,
                     dense_scratch *dense, double *a);

#endif
