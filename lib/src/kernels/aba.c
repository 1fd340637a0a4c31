/*
 * The articulated-body algorithm: a for the forces tau at the state (q, v).
 *
 * Outward:   v = X v_p + S v_i        c = v x S v_i        p = v x* I v - external wrench
 * Inward:    U = I_A S                D = S' U             u = tau - S' p
 *            I_a = I_A - U D^-1 U'    p_a = p + I_a c + U D^-1 u
 *            I_A,p += X* I_a X        p_p += X* p_a
 * Outward:   a' = X a_p + c           a_i = D^-1 (u - U' a')                a = a' + S a_i
 * Gravity is an acceleration of the world, a_0 = -g.
 *
 * The axes of a joint are constant in its body's frame, so a joint with several of them is taken as so many joints with
 * one axis each and massless bodies between: the inward step eliminates one axis after the other, last first, and D is
 * always a number. A number e_k that resists coordinate k as an inertia of its own would (the diagonal, where there is
 * one) adds to D, so that the result solves (M + diag e) a = tau - h.
 *
 * Source: Featherstone 2008, table 7.1.
 */
#include "instance.h"

typedef struct aba_body {
    motion v, c, a;
    articulated_inertia I;
    force p;
} aba_body;

/* What the last pass needs of one coordinate. */
typedef struct aba_axis {
    force U;
    real inverse_D, u;
} aba_axis;

size_t KERNEL(aba_memory)(const dyn_model *model) {
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * sizeof(aba_body) +
           (size_t)model->nv * sizeof(aba_axis);
}

KERNEL_STEP void carry_velocity(const body *b, motion_type type, placement X, const motion *parent, const real *v,
                                aba_body *k) {
    motion vJ = joint_motion(b, type, v);
    rigid_inertia I = body_inertia(b);
    k->v = parent ? motion_add(motion_to_child(X, *parent), vJ) : vJ;
    k->c = motion_cross(k->v, vJ);
    k->I = articulated_from_rigid(I);
    k->p = force_cross(k->v, rigid_inertia_apply(I, k->v));
}

static void velocity_pass(const dyn_model *model, const placement *X, const real *v, aba_body *bodies) {
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        const motion *parent = b->parent < 0 ? NULL : &bodies[b->parent].v;
        if (b->motion == MOTION_REVOLUTE) {
            carry_velocity(b, MOTION_REVOLUTE, X[i], parent, v + b->v_index, &bodies[i]);
        } else {
            carry_velocity(b, b->motion, X[i], parent, v + b->v_index, &bodies[i]);
        }
    }
}

/* Eliminates coordinate k of body b: I_A becomes I_a, and p becomes p + U D^-1 u. `diagonal` may be NULL. Returns D. */
KERNEL_STEP real eliminate_axis(const body *b, motion_type type, int k, real tau, const real *diagonal, aba_body *x,
                                aba_axis *axis) {
    axis->U = articulated_apply(x->I, joint_column(b, type, k));
    real D = joint_force(b, type, k, axis->U);
    if (diagonal) {
        D = D + diagonal[k];
    }
    axis->inverse_D = 1.0 / D;
    axis->u = tau - joint_force(b, type, k, x->p);
    x->I = articulated_downdate(x->I, axis->inverse_D, axis->U);
    x->p = force_fma(axis->inverse_D * axis->u, axis->U, x->p);
    return D;
}

/* All coordinates of body b, last first, and then what its parent feels of it. */
KERNEL_STEP void carry_inertia(const body *b, motion_type type, placement X, const real *tau, const real *diagonal,
                               aba_body *x, aba_body *parent, aba_axis *axes, real *pivots) {
    int count = type == MOTION_REVOLUTE ? 1 : b->nv;
    for (int k = count - 1; k >= 0; k--) {
        pivots[k] = eliminate_axis(b, type, k, tau[k], diagonal, x, &axes[k]);
    }
    if (!parent) {
        return;
    }
    articulated_inertia I = x->I;
    if (type == MOTION_REVOLUTE && !diagonal) {
        /* I_a S = 0 */
        I.A.xz = I.A.yz = I.A.zz = I.B.zx = I.B.zy = I.B.zz = real_set(0);
    }
    force p = force_add(x->p, articulated_apply(I, x->c));
    parent->I = articulated_add(parent->I, articulated_to_parent(X, I));
    parent->p = force_add(parent->p, force_to_parent(X, p));
}

KERNEL_STEP void inertia_pass(const dyn_model *model, const placement *X, const real *tau, const real *diagonal,
                              aba_body *bodies, aba_axis *axes, real *pivots) {
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        aba_body *parent = b->parent < 0 ? NULL : &bodies[b->parent];
        int j = b->v_index;
        const real *e = diagonal ? diagonal + j : NULL;
        if (b->motion == MOTION_REVOLUTE) {
            carry_inertia(b, MOTION_REVOLUTE, X[i], tau + j, e, &bodies[i], parent, axes + j, pivots + j);
        } else {
            carry_inertia(b, b->motion, X[i], tau + j, e, &bodies[i], parent, axes + j, pivots + j);
        }
    }
}

static void acceleration_pass(const dyn_model *model, const placement *X, const double gravity[3], const aba_axis *axes,
                              aba_body *bodies, real *a) {
    motion a_0 = motion_set(vec3_zero(), vec3_sub(vec3_zero(), vec3_constant(gravity)));
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        motion x = motion_add(motion_to_child(X[i], b->parent < 0 ? a_0 : bodies[b->parent].a), bodies[i].c);
        for (int k = 0; k < b->nv; k++) {
            const aba_axis *axis = &axes[b->v_index + k];
            real rate = axis->inverse_D * (axis->u - spatial_dot(x, axis->U));
            x = motion_fma(rate, joint_column(b, b->motion, k), x);
            a[b->v_index + k] = rate;
        }
        bodies[i].a = x;
    }
}

void KERNEL(aba)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                 const void *tau, const void *diagonal, const wrench_set *forces, void *pivots, void *a) {
    placement *X = KERNEL(placements)(model, (const real *)q, &memory);
    aba_body *bodies = (aba_body *)memory;
    aba_axis *axes = (aba_axis *)(bodies + model->body_count);
    velocity_pass(model, X, (const real *)v, bodies);
    for (size_t j = 0; forces && j < forces->count; j++) {
        force f = KERNEL(body_wrench)(model, X, forces->frames[j], (const real *)forces->wrenches + 6 * j);
        aba_body *k = &bodies[model->frames[forces->frames[j].frame].body];
        k->p = force_sub(k->p, f);
    }
    if (diagonal) {
        inertia_pass(model, X, (const real *)tau, (const real *)diagonal, bodies, axes, (real *)pivots);
    } else {
        inertia_pass(model, X, (const real *)tau, NULL, bodies, axes, (real *)pivots);
    }
    acceleration_pass(model, X, gravity, axes, bodies, (real *)a);
}
