/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directional derivatives of inverse and forward dynamics: the changes of tau and a with increments of their arguments.
 *
 * Inverse: for each quantity of the recursive Newton-Euler algorithm, its change D in body coordinates is computed too,
 * for increments dq along the joint's motion (S dq), dv and da. With primes for quantities of the parent transformed to
 * the child, v_J = S v and so on,
 *
 *     v   = v' + v_J                       D v = D v' + v' x (S dq) + S dv
 *     a   = a' + S a_i + v x v_J           D a = D a' + a' x (S dq) + S da + D v x v_J + v x (S dv)
 *     f   = I a + v x* I v                 D f = I D a + D v x* I v + v x* I D v
 *     tau = S' f                           dtau = S' D f
 *     f_p += X* f                          D f_p += X* (D f + (S dq) x* f)
 *
 * The rotors that drive a joint (driven_joint.h) add D n = g da + D w x g v + w x g dv to D f of the parent, whose
 * angular velocity is w, and g . D alpha + d da to dtau.
 *
 * A wrench F that is constant in world axes changes by D F = -xi x* F, where xi is the displacement of the body, and by
 * (dr x F.f; 0) if it moves with a point.
 *
 * Forward: M da = dtau - D tau, where D tau is the change of inverse dynamics at a with dq and dv. Forward dynamics at
 * rest and without gravity solves this equation.
 *
 * Source: Featherstone 2008, table 5.1, differentiated; Carpentier and Mansard 2018 for the forward direction.
 */
#include "driven_joint.h"
#include "stages.h"

/* Motion and wrench of a body, and their changes. */
typedef struct moved_body {
    motion v, a, Dv, Da, shift; /* shift: S dq */
    motion displacement;
    force f, Df;
    real driving; /* change of the rotors' force along a driven joint */
} moved_body;

/* Velocities, accelerations and increments of the coordinates. */
typedef struct increments {
    const real *v, *a, *dq, *dv, *da;
} increments;

size_t KERNEL(rnea_directional_memory)(const dyn_model *model) {
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * sizeof(moved_body);
}

size_t KERNEL(aba_directional_memory)(const dyn_model *model) {
    size_t forward = KERNEL(forward_dynamics_memory)(model), inverse = KERNEL(rnea_directional_memory)(model);
    return (forward > inverse ? forward : inverse) + 3 * (size_t)model->nv * sizeof(real);
}

/* Computes the motion of a body, its inertial wrench and their changes from those of the parent. */
static inline void carry(const body *b, rigid_inertia I, placement X, const moved_body *parent, const increments *x,
                         moved_body *k) {
    int j = b->v_index;
    motion vJ = joint_motion(b, b->motion, x->v + j), dvJ = joint_motion(b, b->motion, x->dv + j);
    motion v = motion_to_child(X, parent->v), a = motion_to_child(X, parent->a);
    k->shift = joint_motion(b, b->motion, x->dq + j);
    k->displacement = motion_add(motion_to_child(X, parent->displacement), k->shift);
    k->v = motion_add(v, vJ);
    k->a = motion_add(motion_add(a, joint_motion(b, b->motion, x->a + j)), motion_cross(k->v, vJ));
    k->Dv = motion_add(motion_add(motion_to_child(X, parent->Dv), motion_cross(v, k->shift)), dvJ);
    k->Da = motion_add(motion_to_child(X, parent->Da), motion_cross(a, k->shift));
    k->Da = motion_add(k->Da, joint_motion(b, b->motion, x->da + j));
    k->Da = motion_add(k->Da, motion_add(motion_cross(k->Dv, vJ), motion_cross(k->v, dvJ)));
    force momentum = rigid_inertia_apply(I, k->v);
    k->f = force_add(rigid_inertia_apply(I, k->a), force_cross(k->v, momentum));
    k->Df = force_add(rigid_inertia_apply(I, k->Da), force_cross(k->Dv, momentum));
    k->Df = force_add(k->Df, force_cross(k->v, rigid_inertia_apply(I, k->Dv)));
}

/* Adds the moments of the rotors of a driven joint, and their changes, to those of the parent, which is NULL for the
 * world. Returns the change of the joint's force. */
static real add_rotor_moments(const body *b, const increments *x, moved_body *parent) {
    vec3 g = rotor_couple(b);
    int j = b->v_index;
    real change = reflected_inertia(b) * x->da[j];
    if (parent) {
        vec3 turning = vec3_cross(parent->v.w, g), turning_change = vec3_cross(parent->Dv.w, g);
        parent->f.n = vec3_fma(x->a[j], g, vec3_fma(x->v[j], turning, parent->f.n));
        parent->Df.n = vec3_fma(x->v[j], turning_change, vec3_fma(x->dv[j], turning, parent->Df.n));
        parent->Df.n = vec3_fma(x->da[j], g, parent->Df.n);
        change = change + vec3_dot(g, parent->Da.w);
    }
    return change;
}

/* Computes the motion, the wrenches and their changes of all bodies. */
static void outward_pass(const dyn_model *model, const double gravity[3], const placement *X, const increments *x,
                         moved_body *bodies) {
    moved_body world;
    world.v = world.Dv = world.Da = world.displacement = motion_zero();
    world.a = motion_set(vec3_zero(), vec3_sub(vec3_zero(), vec3_constant(gravity)));
    for (int i = 0; i < count_computed(model); i++) {
        const body *b = &model->bodies[i];
        moved_body *parent = b->parent < 0 ? NULL : &bodies[b->parent];
        carry(b, computed_inertia(model, b), X[i], parent ? parent : &world, x, &bodies[i]);
        if (has_driven_joints(model) && b->is_driven) {
            bodies[i].driving = add_rotor_moments(b, x, parent);
        }
    }
}

/* Subtracts an external wrench from f of the body that carries its frame, and the wrench's change from D f. */
static void subtract_wrench(const dyn_model *model, const placement *X, wrench_frame at, const real *wrench,
                            moved_body *bodies) {
    const body_frame *frame = &model->frames[at.frame];
    moved_body *k = &bodies[frame->body];
    force F = KERNEL(body_wrench)(model, X, at, wrench);
    k->f = force_sub(k->f, F);
    if (at.reference_frame != DYN_REFERENCE_FRAME_LOCAL) {
        k->Df = force_add(k->Df, force_cross(k->displacement, F));
    }
    if (at.reference_frame == DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED) {
        vec3 r = vec3_constant(frame->pose.position);
        vec3 dr = vec3_cross_add(k->displacement.w, r, k->displacement.v);
        k->Df.n = vec3_sub(k->Df.n, vec3_cross(dr, F.f));
    }
}

void KERNEL(rnea_directional)(const dyn_model *model, void *memory, const packed_inputs *in,
                              const packed_increments *along, void *dtau) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_rnea_directional)(model, memory, in, along, dtau);
        return;
    }
    placement *X = KERNEL(placements)(model, (const real *)in->q, &memory);
    moved_body *bodies = (moved_body *)memory;
    const wrench_set *forces = in->forces;
    increments x;
    x.v = (const real *)in->v, x.a = (const real *)in->third;
    x.dq = (const real *)along->dq, x.dv = (const real *)along->dv, x.da = (const real *)along->dthird;
    real *out = (real *)dtau;
    outward_pass(model, in->gravity, X, &x, bodies);
    for (size_t j = 0; forces && j < forces->count; j++) {
        subtract_wrench(model, X, forces->frames[j], (const real *)forces->wrenches + 6 * j, bodies);
    }
    for (int i = 0; i < model->nv; i++) {
        out[i] = real_set(0);
    }
    for (int i = count_computed(model) - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        moved_body *k = &bodies[i];
        for (int l = 0; l < b->nv; l++) {
            out[b->v_index + l] += real_set(b->ratio) * joint_force(b, b->motion, l, k->Df);
        }
        if (has_driven_joints(model) && b->is_driven) {
            out[b->v_index] += k->driving;
        }
        if (b->parent >= 0) {
            moved_body *p = &bodies[b->parent];
            p->f = force_add(p->f, force_to_parent(X[i], k->f));
            p->Df = force_add(p->Df, force_to_parent(X[i], force_add(k->Df, force_cross(k->shift, k->f))));
        }
    }
}

void KERNEL(aba_directional)(const dyn_model *model, void *memory, const packed_inputs *in,
                             const packed_increments *along, void *pivots, void *da) {
    static const double none[3] = {0, 0, 0};
    const real *dtau = (const real *)along->dthird;
    int nv = model->nv;
    real *a = (real *)memory, *change = a + nv, *zero = change + nv;
    void *rest = zero + nv;
    for (int i = 0; i < nv; i++) {
        zero[i] = real_set(0);
    }
    const packed_inputs moved = {in->gravity, in->q, in->v, a, in->forces};
    const packed_increments without_a = {along->dq, along->dv, zero};
    const packed_inputs at_rest = {none, in->q, zero, change, NULL};
    KERNEL(forward_dynamics)(model, rest, in, pivots, a);
    KERNEL(rnea_directional)(model, rest, &moved, &without_a, change);
    for (int i = 0; i < nv; i++) {
        change[i] = dtau[i] - change[i];
    }
    KERNEL(forward_dynamics)(model, rest, &at_rest, pivots, da);
}
