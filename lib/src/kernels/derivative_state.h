/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defines the state of the derivatives of inverse dynamics (rnea_derivatives.c), and declares the passes over it that
 * are in other files.
 */
#ifndef DYNAMICS_KERNELS_DERIVATIVE_STATE_H
#define DYNAMICS_KERNELS_DERIVATIVE_STATE_H

#include "derivative_terms.h"

/* Tree in motion, and the data that the passes propagate from body to body. */
typedef struct derivative_state {
    derivative_tree tree;
    const double *gravity;
    const real *q, *v;
    joint_turns turns;
    bool needs_frames;       /* the frames of all bodies are needed after the outward pass */
    bool of_symbols;         /* rates are 2 S_dot instead of Psi_dot + S_dot: d tau / dv becomes 2 C (coriolis.c) */
    inertial_terms *pending; /* sums over the subtrees of children so far, of bodies that fork */
    void *placements;        /* memory of the placements of all bodies */
} derivative_state;

static inline bool has_wrenches(const wrench_set *forces) {
    return forces && forces->count > 0;
}

/* Returns the velocity m of a joint or of a root as the rates of its columns need it: twice if they are 2 S_dot, since
 * S_dot = Psi_dot + vJ x S. */
static inline motion turning_of(const derivative_state *s, motion m) {
    return s->of_symbols ? motion_add(m, m) : m;
}

/* Adds vJ x S to the rates of the columns of body i's joint, where vJ is turning_of the joint's velocity. The rates
 * must be 2 Psi_dot before. Joints of one column do not need this term. */
static inline void add_rates_of_joint(const derivative_tree *t, int i, motion vJ) {
    for (int y = t->first_column[i]; y < t->first_column[i + 1]; y++) {
        column_terms *c = columns_at(t, y);
        motion S = load_motion(&c->S, term_lane(y)), rate = load_motion(&c->rate, term_lane(y));
        store_motion(motion_add(rate, motion_cross(vJ, S)), &c->rate, term_lane(y));
    }
}

/* Computes the derivatives where columns are stored in the lanes. `a` is the acceleration for POSITION_PART. Returns
 * true if the matrices are stored as unpack does and are finite. */
int KERNEL(derivatives_by_columns)(const derivative_state *s, derivative_parts parts, const real *a,
                                   const wrench_set *forces, const derivative_matrices *to);

/* Propagates placements from column to column where columns are stored in the lanes (derivative_motion.c). */
void KERNEL(place_columns)(const derivative_state *s);
/* Computes the columns of joints other than hinges, and propagates velocities. */
void KERNEL(carry_velocities)(const derivative_state *s);
/* Adds the terms besides 2 Psi_dot to the rates of joints with several columns. */
void KERNEL(add_joint_rates)(const derivative_state *s);
/* Places g of the rotors of each joint, and stores their rates. */
void KERNEL(place_rotors)(const derivative_state *s);
/* Stores the accelerations of rotors. */
void KERNEL(accelerate_rotors)(const derivative_state *s, const real *a);
/* Propagates accelerations. */
void KERNEL(carry_accelerations)(const derivative_state *s, const real *a);
/* Accumulates the sums over subtrees (derivative_sums.c). */
void KERNEL(add_up_columns)(const derivative_state *s, derivative_parts parts);

/* Subtracts the external wrenches that are constant in local axes from f (derivative_wrenches.c). */
void KERNEL(subtract_local_wrenches)(const derivative_state *s, const wrench_set *forces);
/* Adds the part of d tau / dq that wrenches in world axes cause. */
void KERNEL(add_world_wrenches)(const derivative_state *s, const wrench_set *forces, real *dq);
/* Subtracts J' F from x for every external wrench F. */
void KERNEL(subtract_wrench_forces)(const derivative_state *s, const wrench_set *forces, real *x);

#endif
