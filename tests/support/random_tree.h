/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds random robots, which are trees of every joint type, and computes random states for them.
 */
#ifndef DYNAMICS_TESTS_RANDOM_TREE_H
#define DYNAMICS_TESTS_RANDOM_TREE_H

#include <dynamics/builder.h>

#include "random.h"

typedef struct random_tree_options {
    int joints; /* without the floating base */
    dyn_base base;
    dyn_mimic_policy mimic;
    bool with_mimic;  /* a fifth of the joints with one coordinate mimic another one */
    bool with_custom; /* a fourth of the joints are custom */
    bool with_fixed;  /* some joints are fixed, and half of their child links are massless */
    bool revolute_only;
    bool is_upright; /* the frame of the first joint has the axes of the root, and its axis is z */
    double limit;    /* of revolute and prismatic joints, which range from -limit to limit; 0: no limits */
} random_tree_options;

/* Builds a random tree; every moving link has a positive definite inertia. The caller frees it. */
dyn_model *random_tree(random_source *random, const random_tree_options *options);

enum { RANDOM_MOTIONS = 4 };

/* Fills the motions of a custom joint, RANDOM_MOTIONS of them: a rotation whose rate is not zero for |q| < 4, a
 * translation by a cubic spline and one by a quintic spline, and another rotation. */
void random_motions(random_source *random, dyn_joint_motion motions[RANDOM_MOTIONS]);

/* Adds rotors to the description of a tree: to its first two revolute joints, one with the exact coupling and one with
 * the diagonal approximation. */
void add_random_rotors(random_source *random, const dyn_model *tree, dyn_builder *builder);

/* Adds rotors of all couplings to the description of a tree: up to two to each joint with one coordinate, half of them
 * about the axis of the joint and the others about any axis. */
void add_rotors_everywhere(random_source *random, const dyn_model *tree, dyn_builder *builder);

/* Computes a random configuration: unit quaternions, angles and displacements in [-range, range]. */
void random_configuration(random_source *random, const dyn_model *model, double range, double *q);

/* Computes a random vector of `count` numbers in [-range, range]. */
void random_vector(random_source *random, int count, double range, double *x);

/* Moves q for a time dt at constant velocity v, quaternions by the exponential map. `out` may be q. */
void integrate_configuration(const dyn_model *model, const double *q, const double *v, double dt, double *out);

#endif
