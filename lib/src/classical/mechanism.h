/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A model as the literature sees it: links 0 .. count - 1, parents before children, each connected to its parent by one
 * joint. The formulations read the model through this header alone.
 *
 * The frame of a link is that of the normal form (normal_form.h). Its origin is on the joint's axis, and the axis of a
 * joint with one coordinate is z. The columns S_k of a joint's motion subspace are constant in the axes of its link:
 *     motion of the link relative to its parent   S v = sum over k of S_k v_k       mechanism_rate
 *     force of coordinate k                       tau_k = S_k . (n; f)              mechanism_add_force
 * A coordinate may serve several joints, whose forces add (coupled mimic joints), so tau starts at zero.
 *
 * A custom joint is one link too, that of its last body, with the column S(q) = sum over k of f_k' s_k. Its rate is no
 * longer zero, so that the acceleration of the link relative to its parent has a further term:
 *     S a + dS/dt v       dS/dt v = dS/dq v^2                                       mechanism_add_bias
 *
 * Source of the latter: Featherstone 2008, section 3.5, equation 3.42.
 */
#ifndef DYNAMICS_CLASSICAL_MECHANISM_H
#define DYNAMICS_CLASSICAL_MECHANISM_H

#include <dynamics/formulation.h>

#include "../model/joint.h"
#include "scratch.h"

/* Link at one configuration, and the joint that connects it to its parent. */
typedef struct mechanism_link {
    const body *b;
    int parent;      /* index of the parent, less than its own, or -1 for the base */
    int v_index, nv; /* first coordinate of the joint in v, a and tau, and their number */
    placement X;     /* of the link's frame in its parent's at q, or in the world */
    real mass;
    vec3 center;     /* of mass, in the link's axes, from its origin; zero without mass */
    sym3 central;    /* rotational inertia about the centre of mass, in the link's axes */
    rigid_inertia I; /* about the link's origin */
    int is_custom;
    motion S, dS; /* of a custom joint: its column, and the derivative of that along q, in the link's axes */
} mechanism_link;

/* A model at one configuration. */
typedef struct mechanism {
    const dyn_model *model;
    int count, nv;
    int link_count;           /* links without those of rotors, which come last */
    vec3 gravity;             /* acceleration of gravity in the world */
    int base_moves;           /* the base, which carries the links without a parent, moves as follows */
    motion base_velocity;     /* about the origin of the world, whose axes are those of the base at this instant */
    motion base_acceleration; /* rate of base_velocity, without gravity */
    mechanism_link *links;
    const force *external; /* wrench of the environment on each link, its axes and origin; NULL: none */
    int tip_count;         /* constraints of the last link, in its forward dynamics */
    const dyn_tip_constraint *tip;
    const struct constraint_lanes *lanes; /* of constraint_force; NULL: those of the instance */
    const dyn_spread *spread;             /* threads of the caller; NULL: none */
} mechanism;

/* Allocates the links of a model from the scratch and places them at q. m.links is NULL where the scratch only
 * measures. */
mechanism KERNEL(mechanism_at)(const dyn_model *model, const double gravity[3], const real *q, scratch *s);

/* Returns the index of the link of a body, or -1 for the world: each custom joint has one link, and a body for each of
 * its motions. */
static inline int mechanism_link_of(const dyn_model *model, int body_index) {
    int merged = 0;
    for (int k = 0; k + 1 < model->stage_count && model->stages[k].body < body_index; k++) {
        merged += model->bodies[model->stages[k].body].joint == model->bodies[model->stages[k + 1].body].joint;
    }
    return body_index - merged;
}

/* Returns S x of link i, in its axes, for all nv rates or accelerations x of the mechanism. */
static inline motion mechanism_rate(const mechanism *m, int i, const real *x) {
    const mechanism_link *l = &m->links[i];
    return l->is_custom ? motion_fma(x[l->v_index], l->S, motion_zero())
                        : joint_motion(l->b, l->b->motion, x + l->v_index);
}

/* Returns x + dS/dt v of link i, in its axes, for all nv velocities v of the mechanism. */
static inline motion mechanism_add_bias(const mechanism *m, int i, const real *v, motion x) {
    const mechanism_link *l = &m->links[i];
    return l->is_custom ? motion_fma(v[l->v_index] * v[l->v_index], l->dS, x) : x;
}

/* Returns S a + dS/dt v of link i, in its axes. */
static inline motion mechanism_change(const mechanism *m, int i, const real *v, const real *a) {
    return mechanism_add_bias(m, i, v, mechanism_rate(m, i, a));
}

/* Returns S_k, column k < nv of link i, in its axes. */
static inline motion mechanism_column(const mechanism *m, int i, int k) {
    const mechanism_link *l = &m->links[i];
    if (l->is_custom) {
        return l->S;
    }
    motion column = joint_column(l->b, l->b->motion, k);
    if (l->b->ratio != 1) {
        column = motion_fma(real_set(l->b->ratio), column, motion_zero());
    }
    return column;
}

/* Returns S_k . f for column k of link i and a wrench f in its axes, about its origin. */
static inline real mechanism_force(const mechanism *m, int i, int k, force f) {
    const mechanism_link *l = &m->links[i];
    if (l->is_custom) {
        return spatial_dot(l->S, f);
    }
    real along = joint_force(l->b, l->b->motion, k, f);
    return l->b->ratio != 1 ? real_set(l->b->ratio) * along : along;
}

/* Stores the forces of joint i that transmits the wrench f, or adds them to those of its master. */
static inline void mechanism_add_force(const mechanism *m, int i, force f, real *tau) {
    const mechanism_link *l = &m->links[i];
    for (int k = 0; k < l->nv; k++) {
        real along = mechanism_force(m, i, k, f), *to = &tau[l->v_index + k];
        *to = m->model->has_coupling ? *to + along : along;
    }
}

/* Returns the wrench f, in the axes and about the origin of link i, less the external wrench on the link. */
static inline force mechanism_subtract_external(const mechanism *m, int i, force f) {
    return m->external ? force_sub(f, m->external[i]) : f;
}

/* Returns whether link i is link j or carries it. */
static inline int mechanism_carries(const mechanism *m, int i, int j) {
    while (j > i) {
        j = m->links[j].parent;
    }
    return i == j;
}

/* Splits the wrenches of all links to moments n and forces f. */
static inline void mechanism_split(const mechanism *m, const force *wrenches, vec3 *n, vec3 *f) {
    for (int i = 0; i < m->count; i++) {
        n[i] = wrenches[i].n;
        f[i] = wrenches[i].f;
    }
}

/* Computes the viscous forces b v of the coordinates at the velocity v, nv numbers each. A coupled mimic joint with the
 * ratio r adds r^2 b to the damping of its master's coordinate. */
void KERNEL(mechanism_viscous)(const mechanism *m, const real *v, real *viscous);

/* Sets `count` numbers to zero. */
static inline void real_clear(real *x, int count) {
    for (int i = 0; i < count; i++) {
        x[i] = real_set(0);
    }
}

#endif
