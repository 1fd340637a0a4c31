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
 * always a number.
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

static void velocity_pass(const dyn_model *model, const placement *X, const real *v, aba_body *bodies) {
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        aba_body *k = &bodies[i];
        motion vJ = joint_motion(b, b->motion, v + b->v_index);
        k->v = b->parent < 0 ? vJ : motion_add(motion_to_child(X[i], bodies[b->parent].v), vJ);
        k->c = motion_cross(k->v, vJ);
        rigid_inertia I = body_inertia(b);
        k->I = articulated_from_rigid(I);
        k->p = force_cross(k->v, rigid_inertia_apply(I, k->v));
    }
}

/* Eliminates coordinate k of body b: I_A becomes I_a, and p becomes p + U D^-1 u. Returns D. */
static inline real eliminate_axis(const body *b, motion_type type, int k, real tau, aba_body *x, aba_axis *axis) {
    axis->U = articulated_apply(x->I, joint_column(b, type, k));
    real D = joint_force(b, type, k, axis->U);
    axis->inverse_D = 1.0 / D;
    axis->u = tau - joint_force(b, type, k, x->p);
    x->I = articulated_downdate(x->I, axis->inverse_D, axis->U);
    x->p = force_fma(axis->inverse_D * axis->u, axis->U, x->p);
    return D;
}

static void inertia_pass(const dyn_model *model, const placement *X, const real *tau, aba_body *bodies, aba_axis *axes,
                         real *pivots) {
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        aba_body *x = &bodies[i];
        for (int k = b->nv - 1; k >= 0; k--) {
            int j = b->v_index + k;
            pivots[j] = b->motion == MOTION_REVOLUTE ? eliminate_axis(b, MOTION_REVOLUTE, k, tau[j], x, &axes[j])
                                                     : eliminate_axis(b, b->motion, k, tau[j], x, &axes[j]);
        }
        if (b->parent >= 0) {
            aba_body *parent = &bodies[b->parent];
            force p = force_add(x->p, articulated_apply(x->I, x->c));
            parent->I = articulated_add(parent->I, articulated_to_parent(X[i], x->I));
            parent->p = force_add(parent->p, force_to_parent(X[i], p));
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
                 const void *tau, const wrench_set *forces, void *pivots, void *a) {
    placement *X = KERNEL(placements)(model, (const real *)q, &memory);
    aba_body *bodies = (aba_body *)memory;
    aba_axis *axes = (aba_axis *)(bodies + model->body_count);
    velocity_pass(model, X, (const real *)v, bodies);
    for (size_t j = 0; forces && j < forces->count; j++) {
        force f = KERNEL(body_wrench)(model, X, forces->frames[j], (const real *)forces->wrenches + 6 * j);
        aba_body *k = &bodies[model->frames[forces->frames[j].frame].body];
        k->p = force_sub(k->p, f);
    }
    inertia_pass(model, X, (const real *)tau, bodies, axes, (real *)pivots);
    acceleration_pass(model, X, gravity, axes, bodies, (real *)a);
}
