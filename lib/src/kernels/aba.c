/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Articulated-body algorithm: a for the forces tau at the state (q, v).
 *
 * Outward:   v = X v_p + S v_i        c = v x S v_i        p = v x* I v - external wrench
 * Inward:    U = I_A S                D = S' U             W = U D^-1             u = D^-1 (tau - S' p)
 *            I_a = I_A - U W'         p_a = p + I_a c + U u
 *            I_A,p += X* I_a X        p_p += X* p_a
 * Outward:   a' = X a_p + c           a_i = u - W' a'      a = a' + S a_i
 * Gravity is an acceleration of the world, a_0 = -g.
 *
 * The axes of a joint are constant in its body's frame. A joint with several axes is therefore equivalent to as many
 * joints of one axis with massless bodies between them. The inward step eliminates one axis after the other, the last
 * one first, and D is always a number. An optional diagonal e adds to D, as inertias of the rotors would, so that the
 * result solves (M + diag e) a = tau - h.
 *
 * Rotors (model/rotor.h) are eliminated together with the link that their joint moves: they share its coordinate and
 * its parent. The inertia I of the body that carries them includes their axial inertias. With g = sum of G I_a u, a
 * moment in the parent, and d = sum of G^2 I_a over the rotors of the joint,
 *
 *     U = I_A S + X g        D = S' I_A S + d        u = D^-1 (tau - S' p + (X g)' c)        p_p += v_p x* g v_i
 *     I_a = I_A - U U' D^-1
 *
 * and all else is as above.
 *
 * Most joints of a robot are hinges, for which aba_revolute.h has shorter steps that differ in rounding only.
 *
 * The data of long chains exceed the first-level cache, so that the passes exchange as little as possible: W is stored
 * in the place of p, and u in that of a_i.
 *
 * Sources: Featherstone 2008, table 7.1; Jain and Rodriguez 1990 for geared motors.
 */
#include "aba_revolute.h"
#include "../model/joint_placement.h"

/* Scratch memory of the three passes. */
typedef struct aba_tree {
    joint_turns turns;
    placement *X;           /* of bodies whose joint is not computed as a hinge */
    motion *c;              /* of hinges, only the components along x and y */
    force *p;               /* later W of the first coordinate of each joint */
    force *W;               /* W of the other coordinates */
    articulated_inertia *I; /* of bodies that fork */
    motion *forked;         /* v, later a, of bodies that fork */
    int is_resisted;        /* a diagonal is added to M, and no joint is computed as a hinge */
    int has_rotors;         /* bodies of rotors follow those of the links; a constant in each copy of the passes */
} aba_tree;

size_t KERNEL(aba_memory)(const dyn_model *model) {
    size_t of_body = 3 * sizeof(real) + 2 * sizeof(motion) + sizeof(force) + sizeof(articulated_inertia);
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * of_body + (size_t)model->nv * sizeof(force);
}

/* Returns the address of W of coordinate k of body i, whose first coordinate is j. */
static inline force *W_at(const aba_tree *t, int i, int j, int k) {
    return k == 0 ? &t->p[i] : &t->W[j + k];
}

/* Returns true if no diagonal and no rotor adds to D of a joint. */
static inline int is_plain(const body *b, const aba_tree *t) {
    return !t->is_resisted && !(t->has_rotors && b->is_driven);
}

static inline int is_hinge(const body *b, const aba_tree *t) {
    return b->hinge && is_plain(b, t);
}

/* Returns the inertia of a body without its subtree, but with the axial inertias of the rotors that it carries. */
static inline rigid_inertia carried_inertia(const body *b, const aba_tree *t) {
    rigid_inertia I = body_inertia(b);
    if (t->has_rotors) {
        I.I = sym3_rounded(constants_of(b)->carried_inertia);
    }
    return I;
}

/* Returns X g, the moment of the rotors of a joint, in the axes of its body. */
static inline vec3 rotor_couple(const body *b, placement X) {
    return mat3_apply_transposed(X.R, vec3_rounded(constants_of(b)->rotor_couple));
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
        if (t->has_rotors && b->is_driven && b->parent >= 0) {
            vec3 g = vec3_rounded(constants_of(b)->rotor_couple);
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
        rigid_inertia I = carried_inertia(b, t);
        t->p[i] = force_cross(k, rigid_inertia_apply(I, k));
        if (b->forks) {
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

/* Eliminates the coordinate of body i, which is b, together with the rotors that drive it, as eliminate_axis does. */
KERNEL_STEP real eliminate_driven(const body *b, const aba_tree *t, int i, real tau, const real *diagonal,
                                  articulated_inertia *I, force *p, real *u) {
    const motion_type type = b->motion;
    force U = articulated_apply(*I, joint_column(b, type, 0));
    vec3 g = rotor_couple(b, t->X[i]);
    real D = joint_force(b, type, 0, U) + rounded_set(constants_of(b)->reflected_inertia);
    if (diagonal) {
        D = D + diagonal[0];
    }
    real inverse_D = real_set(1) / D;
    U.n = vec3_add(U.n, g);
    t->p[i] = force_scale(inverse_D, U);
    *u = inverse_D * (tau - joint_force(b, type, 0, *p) + vec3_dot(g, t->c[i].w));
    *I = articulated_downdate(*I, U, t->p[i]);
    *p = force_fma(*u, U, *p);
    return D;
}

/* Returns true if body i has no children. */
static inline int is_leaf(const dyn_model *model, int i) {
    return !model->bodies[i].forks && (i + 1 == model->link_bodies || model->bodies[i + 1].parent != i);
}

/* Eliminates all coordinates from the tips to the root. I and p stay in registers along a chain, and go through memory
 * at bodies that fork. */
KERNEL_STEP void inertia_pass(const dyn_model *model, const real *tau, const real *diagonal, const aba_tree *t,
                              real *pivots, real *u) {
    articulated_inertia I = articulated_from_rigid(carried_inertia(&model->bodies[0], t));
    force p = force_zero();
    for (int i = model->link_bodies - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        int j = b->v_index;
        if (b->forks) {
            I = t->I[i], p = t->p[i];
        } else if (is_leaf(model, i)) {
            I = articulated_from_rigid(carried_inertia(b, t)), p = t->p[i];
        }
        if (t->has_rotors && b->is_driven) {
            pivots[j] = eliminate_driven(b, t, i, tau[j], diagonal ? diagonal + j : NULL, &I, &p, &u[j]);
            p = force_add(p, articulated_apply(I, t->c[i]));
        } else if (!diagonal && b->motion == MOTION_REVOLUTE) {
            pivots[j] = eliminate_revolute(&t->c[i], tau[j], &I, &p, &t->p[i], &u[j]);
        } else {
            for (int k = b->nv - 1; k >= 0; k--) {
                pivots[j + k] = eliminate_axis(b, k, tau[j + k], diagonal ? diagonal + j : NULL, &I, &p,
                                               W_at(t, i, j, k), &u[j + k]);
            }
            p = force_add(p, articulated_apply(I, t->c[i]));
        }
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
        if (parent->forks) {
            t->p[b->parent] = p;
            t->I[b->parent] = articulated_add(t->I[b->parent], I);
        } else {
            I = articulated_add(I, articulated_from_rigid(carried_inertia(parent, t)));
        }
    }
}

KERNEL_STEP void acceleration_pass(const dyn_model *model, const double gravity[3], const aba_tree *t, real *a) {
    motion a_0 = motion_set(vec3_zero(), vec3_sub(vec3_zero(), vec3_constant(gravity))), x = a_0;
    for (int i = 0; i < model->link_bodies; i++) {
        const body *b = &model->bodies[i];
        int j = b->v_index;
        if (b->parent != i - 1 || i == 0) {
            x = b->parent < 0 ? a_0 : t->forked[b->parent];
        }
        if (is_hinge(b, t)) {
            hinge h = hinge_at(b, t->turns, i);
            x = b->parent < 0 ? motion_set(vec3_zero(), hinge_to_child(h, x.v)) : hinge_motion_to_child(h, x);
        } else {
            x = motion_to_child(t->X[i], x);
        }
        if (b->motion == MOTION_REVOLUTE && is_plain(b, t)) {
            x = accelerate_revolute(&t->c[i], &t->p[i], x, &a[j]);
        } else {
            x = motion_add(x, t->c[i]);
            for (int k = 0; k < b->nv; k++) {
                a[j + k] = a[j + k] - spatial_dot(x, *W_at(t, i, j, k));
                x = motion_fma(a[j + k], joint_column(b, b->motion, k), x);
            }
        }
        if (b->forks) {
            t->forked[i] = x;
        }
    }
}

static aba_tree lay_out(const dyn_model *model, const real *q, void **memory) {
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
    t.is_resisted = 0;
    t.has_rotors = 0;
    return t;
}

/* Runs the three passes over the tree. Inlined for each value of t->has_rotors, so that rotors cost other models
 * nothing. */
KERNEL_STEP void run_passes(const dyn_model *model, void *memory, const packed_inputs *in, const real *diagonal,
                            const aba_tree *t, real *pivots, real *a) {
    const real *q = (const real *)in->q, *tau = (const real *)in->third;
    velocity_pass(model, q, (const real *)in->v, t);
    if (in->forces && in->forces->count > 0) {
        KERNEL(subtract_wrenches)(model, memory, q, in->forces, t->p);
    }
    if (diagonal) {
        inertia_pass(model, tau, diagonal, t, pivots, a);
    } else {
        inertia_pass(model, tau, NULL, t, pivots, a);
    }
    acceleration_pass(model, in->gravity, t, a);
}

void KERNEL(aba)(const dyn_model *model, void *memory, const packed_inputs *in, const void *diagonal, void *pivots,
                 void *a) {
    aba_tree t = lay_out(model, (const real *)in->q, &memory);
    t.is_resisted = diagonal != NULL;
    if (model->body_count == 0) {
        return;
    }
    if (model->link_bodies < model->body_count) {
        t.has_rotors = 1;
        run_passes(model, memory, in, (const real *)diagonal, &t, (real *)pivots, (real *)a);
    } else {
        t.has_rotors = 0;
        run_passes(model, memory, in, (const real *)diagonal, &t, (real *)pivots, (real *)a);
    }
}
