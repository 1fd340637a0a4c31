/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passes of the articulated-body algorithm (aba.c): velocities, inertias, accelerations.
 */
#ifndef DYNAMICS_KERNELS_ABA_PASSES_H
#define DYNAMICS_KERNELS_ABA_PASSES_H

#include "aba_driven.h"
#include "../model/joint_placement.h"

/* Scratch memory of the three passes. */
typedef struct aba_tree {
    joint_turns turns;
    placement *X;                 /* of bodies whose joint is not computed as a hinge */
    motion *c;                    /* of hinges, only the components along x and y */
    force *p;                     /* later W of the first coordinate of each joint */
    force *W;                     /* W of the other coordinates */
    articulated_inertia *I;       /* of bodies that fork into links */
    motion *forked;               /* v, later a, of bodies that fork into links */
    motion *velocities;           /* of all bodies; NULL: they are not stored */
    const unsigned char *is_kept; /* of each body: its joint is not eliminated here; NULL: none, as for has_rotors */
    int is_resisted;              /* a diagonal is added to M, and no joint is computed as a hinge */
    int has_rotors; /* bodies of rotors follow those of the links; a constant in each copy of the passes */
} aba_tree;

/* Returns the address of W of coordinate k of body i, whose first coordinate is j. */
static inline force *W_at(const aba_tree *t, int i, int j, int k) {
    return k == 0 ? &t->p[i] : &t->W[j + k];
}

/* Returns true if a joint is computed as a hinge. */
static inline int is_hinge(const body *b, const aba_tree *t) {
    return b->hinge && !t->is_resisted;
}

/* Returns true if the joint of body i is not eliminated by inertia_pass: I and p of its subtree remain in memory, and
 * acceleration_pass reads its acceleration from t->forked. All bodies that support it are kept, too. */
static inline int is_kept(const aba_tree *t, int i) {
    return t->is_kept && t->is_kept[i];
}

/* Returns true if I of body i goes through memory. */
static inline int stores_inertia(const body *b, const aba_tree *t, int i) {
    return b->forks_links || is_kept(t, i);
}

/* Returns true if rotors drive a joint. */
static inline int is_driven(const body *b, const aba_tree *t) {
    return t->has_rotors && b->is_driven;
}

/* Returns the inertia of a body without its subtree, but with its rotors at rest. */
static inline rigid_inertia inertia_of(const body *b, const aba_tree *t) {
    return t->has_rotors ? carried_inertia(b) : body_inertia(b);
}

/* Computes velocities, velocity products c and bias wrenches p. */
KERNEL_STEP void velocity_pass(const dyn_model *model, const real *q, const real *v, const aba_tree *t) {
    motion k = motion_zero(); /* velocity of body i - 1, then of body i */
    for (int i = 0; i < model->link_bodies; i++) {
        const body *b = &model->bodies[i];
        const real *rates = v + b->v_index;
        if (b->parent >= 0 && b->parent != i - 1) {
            k = t->forked[b->parent];
        }
        if (is_driven(b, t) && b->parent >= 0) {
            vec3 g = rotor_couple(b);
            force *p = &t->p[b->parent];
            p->n = vec3_fma(rates[0], vec3_cross(k.w, g), p->n);
        }
        if (is_hinge(b, t)) {
            k = b->parent < 0 ? motion_zero() : hinge_motion_to_child(hinge_at(b, t->turns, i), k);
            k.w.z = k.w.z + rates[0];
            set_turn_product(k, rates[0], &t->c[i]);
        } else {
            placement X = b->hinge ? hinge_placement(hinge_at(b, t->turns, i))
                                   : joint_placement(b, q + b->q_index, t->turns.sine[i], t->turns.cosine[i]);
            motion vJ = joint_motion(b, b->motion, rates);
            k = b->parent < 0 ? vJ : motion_add(motion_to_child(X, k), vJ);
            t->X[i] = X;
            t->c[i] = motion_cross(k, vJ);
        }
        if (t->velocities) {
            t->velocities[i] = k;
        }
        rigid_inertia I = inertia_of(b, t);
        t->p[i] = force_cross(k, rigid_inertia_apply(I, k));
        if (stores_inertia(b, t, i)) {
            t->I[i] = articulated_from_rigid(I);
            t->forked[i] = k;
        }
    }
}

/* Eliminates coordinate k of body b: I_A becomes I_a, and p becomes p + U u. `diagonal` may be NULL. Returns D. */
KERNEL_STEP real eliminate_axis(const body *b, int k, real tau, const real *diagonal, articulated_inertia *I, force *p,
                                force *W, real *u) {
    const motion_type type = b->motion;
    force U = articulated_apply(*I, joint_column(b, type, k));
    real D = joint_force(b, type, k, U);
    if (diagonal) {
        D = D + diagonal[k];
    }
    real inverse_D = real_set(1) / D;
    *W = force_scale(inverse_D, U);
    *u = inverse_D * (tau - joint_force(b, type, k, *p));
    *I = articulated_downdate(*I, U, *W);
    *p = force_fma(*u, U, *p);
    return D;
}

/* Numbers of each coordinate of a joint. */
typedef struct joint_elimination {
    const real *tau, *diagonal; /* `diagonal` may be NULL */
    real *pivots, *u;           /* results */
} joint_elimination;

/* Eliminates the coordinates of body i: I and p become those of the rigid body that moves with the parent. */
KERNEL_STEP void eliminate_joint(const body *b, const aba_tree *t, int i, joint_elimination x, articulated_inertia *I,
                                 force *p) {
    if (is_driven(b, t) && is_hinge(b, t)) {
        vec3 g = hinge_to_child(hinge_at(b, t->turns, i), rotor_couple(b));
        x.pivots[0] = eliminate_driven_hinge(b, g, &t->c[i], x.tau[0], I, p, &t->p[i], x.u);
        return;
    }
    if (!x.diagonal && b->motion == MOTION_REVOLUTE && !is_driven(b, t)) {
        x.pivots[0] = eliminate_revolute(&t->c[i], x.tau[0], I, p, &t->p[i], x.u);
        return;
    }
    if (is_driven(b, t)) {
        vec3 g = mat3_apply_transposed(t->X[i].R, rotor_couple(b));
        x.pivots[0] = eliminate_driven(b, g, x.tau[0] + vec3_dot(g, t->c[i].w), x.diagonal, I, p, &t->p[i], x.u);
    } else {
        for (int k = b->nv - 1; k >= 0; k--) {
            x.pivots[k] = eliminate_axis(b, k, x.tau[k], x.diagonal, I, p, W_at(t, i, b->v_index, k), &x.u[k]);
        }
    }
    *p = force_add(*p, articulated_apply(*I, t->c[i]));
}

/* Returns true if body i has no children. */
static inline int is_leaf(const dyn_model *model, int i) {
    return !model->bodies[i].forks_links && (i + 1 == model->link_bodies || model->bodies[i + 1].parent != i);
}

/* Eliminates all coordinates from the tips to the root. I and p stay in registers along a chain, and go through memory
 * at bodies that fork. */
KERNEL_STEP void inertia_pass(const dyn_model *model, const real *tau, const real *diagonal, const aba_tree *t,
                              real *pivots, real *u) {
    articulated_inertia I = articulated_from_rigid(inertia_of(&model->bodies[0], t));
    force p = force_zero();
    for (int i = model->link_bodies - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        int j = b->v_index;
        if (is_kept(t, i)) {
            continue;
        }
        if (b->forks_links) {
            I = t->I[i], p = t->p[i];
        } else if (is_leaf(model, i)) {
            I = articulated_from_rigid(inertia_of(b, t)), p = t->p[i];
        }
        const joint_elimination x = {&tau[j], diagonal ? diagonal + j : NULL, &pivots[j], &u[j]};
        eliminate_joint(b, t, i, x, &I, &p);
        if (b->parent < 0) {
            continue;
        }
        const body *parent = &model->bodies[b->parent];
        force onto = t->p[b->parent];
        if (is_hinge(b, t)) {
            I = carry_through_hinge(hinge_at(b, t->turns, i), I, p, &onto);
        } else {
            onto = force_add(onto, force_to_parent(t->X[i], p));
            I = articulated_to_parent(t->X[i], I);
        }
        p = onto;
        if (stores_inertia(parent, t, b->parent)) {
            t->p[b->parent] = p;
            t->I[b->parent] = articulated_add(t->I[b->parent], I);
        } else {
            I = articulated_add(I, articulated_from_rigid(inertia_of(parent, t)));
        }
    }
}

/* Carries an acceleration of the parent through the joint of body i. */
KERNEL_STEP motion carry_acceleration(const body *b, const aba_tree *t, int i, motion x) {
    if (!is_hinge(b, t)) {
        return motion_to_child(t->X[i], x);
    }
    hinge h = hinge_at(b, t->turns, i);
    return b->parent < 0 ? motion_set(vec3_zero(), hinge_to_child(h, x.v)) : hinge_motion_to_child(h, x);
}

KERNEL_STEP void acceleration_pass(const dyn_model *model, const double gravity[3], const aba_tree *t, real *a) {
    motion a_0 = motion_set(vec3_zero(), vec3_sub(vec3_zero(), vec3_constant(gravity))), x = a_0;
    for (int i = 0; i < model->link_bodies; i++) {
        const body *b = &model->bodies[i];
        int j = b->v_index;
        if (is_kept(t, i)) {
            x = t->forked[i];
            continue;
        }
        if (b->parent != i - 1 || i == 0) {
            x = b->parent < 0 ? a_0 : t->forked[b->parent];
        }
        x = carry_acceleration(b, t, i, x);
        if (is_hinge(b, t) && is_driven(b, t)) {
            x = accelerate_driven_hinge(&t->c[i], &t->p[i], x, &a[j]);
        } else if (b->motion == MOTION_REVOLUTE && !t->is_resisted && !is_driven(b, t)) {
            x = accelerate_revolute(&t->c[i], &t->p[i], x, &a[j]);
        } else {
            x = motion_add(x, t->c[i]);
            for (int k = 0; k < b->nv; k++) {
                a[j + k] = a[j + k] - spatial_dot(x, *W_at(t, i, j, k));
                x = motion_fma(a[j + k], joint_column(b, b->motion, k), x);
            }
        }
        if (b->forks_links) {
            t->forked[i] = x;
        }
    }
}

/* Lays out the memory of the passes at the start of *memory, and computes the sines of the joints at q. */
KERNEL_STEP aba_tree lay_out_passes(const dyn_model *model, const real *q, void **memory) {
    int count = model->body_count;
    aba_tree t;
    t.c = (motion *)*memory;
    t.p = (force *)(t.c + count);
    t.W = t.p + count;
    t.forked = (motion *)(t.W + model->nv);
    t.I = (articulated_inertia *)(t.forked + count);
    *memory = t.I + count;
    t.turns = KERNEL(joint_turns)(model, q, memory);
    t.X = (placement *)*memory;
    t.velocities = NULL;
    t.is_kept = NULL;
    t.is_resisted = 0;
    t.has_rotors = 0;
    return t;
}

#endif
