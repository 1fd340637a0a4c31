/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motion of a robot as vectors of six numbers and dense matrices in the axes and about the origin of the world, angular
 * first, from the kernels of frames and bodies: the reference for the inner quantities of formulations. Each joint of
 * the robot moves one link.
 */
#ifndef DYNAMICS_TESTS_LINK_REFERENCE_H
#define DYNAMICS_TESTS_LINK_REFERENCE_H

#include <dynamics/dynamics.h>

#include "formulation_blocks.h"

enum { MOST_LINKS = 8 };

/* Reference of one motion. Link i is the child of joint i; `links` is their number. */
typedef struct link_reference {
    motion_of_model motion;
    int links, nv;
    int parent[MOST_LINKS]; /* -1: the base */
    double gravity[3];
    double pose[MOST_LINKS][16]; /* transform of the frame of the joint, in which formulations describe the link */
    double J[MOST_LINKS][6 * 3 * MOST_LINKS]; /* 6 x nv */
    double V[MOST_LINKS][6];                  /* velocity */
    double A[MOST_LINKS][6];                  /* acceleration without gravity */
    double A_0[MOST_LINKS][6];                /* A for joints that do not accelerate */
    double I[MOST_LINKS][36];                 /* inertia */
    double f[MOST_LINKS][6];                  /* wrench that joint i transmits, with gravity */
    double tau[3 * MOST_LINKS], tau_gravity[3 * MOST_LINKS], tau_velocity[3 * MOST_LINKS];
    double M[9 * MOST_LINKS * MOST_LINKS];
} link_reference;

/* Computes the reference of a motion. */
void link_reference_compute(const motion_of_model *motion, link_reference *r);

/* Returns whether link j is link i or carries it. */
bool link_reference_carries(const link_reference *r, int j, int i);

/* Computes the 6 x 6 matrix X of the motions of a frame with this pose: X m is in its axes, about its origin. */
void link_reference_transform(const double pose[16], double X[36]);

/* Computes the 6 x 6 matrix that undoes link_reference_transform. */
void link_reference_inverse_transform(const double pose[16], double X[36]);

/* Computes the cross product of motions V x m, and of a motion with a wrench V x* f. */
void link_reference_cross(const double V[6], const double m[6], double out[6]);
void link_reference_cross_wrench(const double V[6], const double f[6], double out[6]);

#endif
