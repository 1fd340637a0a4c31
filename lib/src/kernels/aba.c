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
 * Where nothing resists a revolute joint, whose S is e_z, I_a S = 0 and the moment of p_a about z is tau.
 *
 * Sources: Featherstone 2008, table 7.1; the use of these zeros: McMillan and Orin 1995.
 */
#include "hinge.h"
#include "joint_placement.h"

/* What the last pass needs of one coordinate. */
typedef struct aba_axis {
    force U;
    real inverse_D, u;
} aba_axis;

/* Scratch memory. The inertia and the acceleration are passed on from body to body; those of bodies that fork stay. */
typedef struct aba_tree {
    joint_turns turns;
    placement *X; /* of bodies that are not taken as hinges */
    motion *v;
    force *p;
    aba_axis *axes;
    articulated_inertia *I;
    motion *a;
    int is_resisted; /* no body is taken as a hinge */
} aba_tree;

size_t KERNEL(aba_memory)(const dyn_model *model) {
    size_t of_body = 3 * sizeof(real) + 2 * sizeof(motion) + sizeof(force) + sizeof(articulated_inertia);
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * of_body +
           (size_t)model->nv * sizeof(aba_axis);
}

static inline int is_hinge(const body *b, const aba_tree *t) {
    return b->hinge && !t->is_resisted;
}

/* Velocities, and the wrenches that they take. */
static void velocity_pass(const dyn_model *model, const real *q, const real *v, const aba_tree *t) {
    motion k = motion_zero(); /* of body i - 1, then of body i */
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        const real *rates = v + b->v_index;
        if (b->parent >= 0 && b->parent != i - 1) {
            k = t->v[b->parent];
        }
        if (is_hinge(b, t)) {
            k = b->parent < 0 ? motion_zero() : hinge_motion_to_child(hinge_at(b, t->turns, i), k);
            k.w.z = k.w.z + rates[0];
        } else {
            placement X = b->hinge ? hinge_placement(hinge_at(b, t->turns, i))
                                   : joint_placement(b, q + b->q_index, t->turns.sine[i], t->turns.cosine[i]);
            motion vJ = joint_motion(b, b->motion, rates);
            k = b->parent < 0 ? vJ : motion_add(motion_to_child(X, k), vJ);
            t->X[i] = X;
        }
        rigid_inertia I = body_inertia(b);
        t->v[i] = k;
        t->p[i] = force_cross(k, rigid_inertia_apply(I, k));
        if (b->forks) {
            t->I[i] = articulated_from_rigid(I);
        }
    }
}

/* c = v x S v_i */
static inline motion velocity_product(const body *b, motion v, const real *rates) {
    return motion_cross(v, joint_motion(b, b->motion, rates));
}

/* c of a revolute joint. */
static inline motion turn_product(motion v, real rate) {
    real zero = real_set(0);
    return motion_set(vec3_set(v.w.y * rate, -(v.w.x * rate), zero), vec3_set(v.v.y * rate, -(v.v.x * rate), zero));
}

/* Eliminates coordinate k of body b: I_A becomes I_a, and p becomes p + U D^-1 u. `diagonal` may be NULL. Returns D. */
KERNEL_STEP real eliminate_axis(const body *b, motion_type type, int k, real tau, const real *diagonal,
                                articulated_inertia *I, force *p, aba_axis *axis) {
    axis->U = articulated_apply(*I, joint_column(b, type, k));
    real D = joint_force(b, type, k, axis->U);
    if (diagonal) {
        D = D + diagonal[k];
    }
    axis->inverse_D = real_set(1) / D;
    axis->u = tau - joint_force(b, type, k, *p);
    *I = articulated_downdate(*I, axis->inverse_D, axis->U);
    *p = force_fma(axis->inverse_D * axis->u, axis->U, *p);
    return D;
}

/* The same for a revolute joint that nothing resists, with p_a in place of p. */
KERNEL_STEP real eliminate_revolute(motion c, real tau, articulated_inertia *I, force *p, aba_axis *axis) {
    force U = force_set(vec3_set(I->A.xz, I->A.yz, I->A.zz), vec3_set(I->B.zx, I->B.zy, I->B.zz));
    real D = U.n.z, zero = real_set(0);
    axis->U = U;
    axis->inverse_D = real_set(1) / D;
    axis->u = tau - p->n.z;
    articulated_inertia J = articulated_downdate(*I, axis->inverse_D, U);
    J.A.xz = J.A.yz = J.A.zz = J.B.zx = J.B.zy = J.B.zz = zero;
    force p_a = force_fma(axis->inverse_D * axis->u, U, *p);
    real cx = c.w.x, cy = c.w.y;
    p->n.x = real_fma(J.A.xx, cx, real_fma(J.A.xy, cy, real_fma(J.B.xx, c.v.x, real_fma(J.B.xy, c.v.y, p_a.n.x))));
    p->n.y = real_fma(J.A.xy, cx, real_fma(J.A.yy, cy, real_fma(J.B.yx, c.v.x, real_fma(J.B.yy, c.v.y, p_a.n.y))));
    p->n.z = tau;
    p->f.x = real_fma(J.B.xx, cx, real_fma(J.B.yx, cy, real_fma(J.C.xx, c.v.x, real_fma(J.C.xy, c.v.y, p_a.f.x))));
    p->f.y = real_fma(J.B.xy, cx, real_fma(J.B.yy, cy, real_fma(J.C.xy, c.v.x, real_fma(J.C.yy, c.v.y, p_a.f.y))));
    p->f.z = real_fma(J.B.xz, cx, real_fma(J.B.yz, cy, real_fma(J.C.xz, c.v.x, real_fma(J.C.yz, c.v.y, p_a.f.z))));
    *I = J;
    return D;
}

/* What the parent feels of a hinge's body: I in its frame; p is added to its own. */
KERNEL_STEP articulated_inertia carry_through_hinge(hinge h, articulated_inertia I, force p, force *onto) {
    *onto = hinge_force_to_parent(h, p, *onto);
    articulated_inertia turned;
    turned.A = hinge_turn_symmetric(h, I.A);
    turned.B = hinge_turn_matrix(h, I.B);
    turned.C = hinge_turn_symmetric(h, I.C);
    return articulated_shift(h.r, turned);
}

/* Whether no other body hangs on body i. */
static inline int is_leaf(const dyn_model *model, int i) {
    return !model->bodies[i].forks && (i + 1 == model->body_count || model->bodies[i + 1].parent != i);
}

KERNEL_STEP void inertia_pass(const dyn_model *model, const real *v, const real *tau, const real *diagonal,
                              const aba_tree *t, real *pivots) {
    articulated_inertia I = articulated_from_rigid(body_inertia(&model->bodies[0]));
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        int j = b->v_index;
        force p = t->p[i];
        if (b->forks) {
            I = t->I[i];
        } else if (is_leaf(model, i)) {
            I = articulated_from_rigid(body_inertia(b));
        }
        if (!diagonal && b->motion == MOTION_REVOLUTE) {
            pivots[j] = eliminate_revolute(turn_product(t->v[i], v[j]), tau[j], &I, &p, &t->axes[j]);
        } else {
            for (int k = b->nv - 1; k >= 0; k--) {
                pivots[j + k] = eliminate_axis(b, b->motion, k, tau[j + k], diagonal ? diagonal + j : NULL, &I, &p,
                                               &t->axes[j + k]);
            }
            p = force_add(p, articulated_apply(I, velocity_product(b, t->v[i], v + j)));
        }
        if (b->parent < 0) {
            continue;
        }
        if (!diagonal && b->hinge) {
            I = carry_through_hinge(hinge_at(b, t->turns, i), I, p, &t->p[b->parent]);
        } else {
            t->p[b->parent] = force_add(t->p[b->parent], force_to_parent(t->X[i], p));
            I = articulated_to_parent(t->X[i], I);
        }
        const body *parent = &model->bodies[b->parent];
        if (parent->forks) {
            t->I[b->parent] = articulated_add(t->I[b->parent], I);
        } else {
            I = articulated_add(I, articulated_from_rigid(body_inertia(parent)));
        }
    }
}

static void acceleration_pass(const dyn_model *model, const double gravity[3], const real *v, const aba_tree *t,
                              real *a) {
    motion a_0 = motion_set(vec3_zero(), vec3_sub(vec3_zero(), vec3_constant(gravity))), x = a_0;
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        int j = b->v_index;
        if (b->parent != i - 1 || i == 0) {
            x = b->parent < 0 ? a_0 : t->a[b->parent];
        }
        if (is_hinge(b, t)) {
            hinge h = hinge_at(b, t->turns, i);
            x = b->parent < 0 ? motion_set(vec3_zero(), hinge_to_child(h, x.v)) : hinge_motion_to_child(h, x);
            x = motion_add(x, turn_product(t->v[i], v[j]));
            a[j] = t->axes[j].inverse_D * (t->axes[j].u - spatial_dot(x, t->axes[j].U));
            x.w.z = x.w.z + a[j];
        } else {
            x = motion_add(motion_to_child(t->X[i], x), velocity_product(b, t->v[i], v + j));
            for (int k = 0; k < b->nv; k++) {
                const aba_axis *axis = &t->axes[j + k];
                real rate = axis->inverse_D * (axis->u - spatial_dot(x, axis->U));
                x = motion_fma(rate, joint_column(b, b->motion, k), x);
                a[j + k] = rate;
            }
        }
        if (b->forks) {
            t->a[i] = x;
        }
    }
}

/* The external wrenches, off those of the bodies. */
static void subtract_forces(const dyn_model *model, void *memory, const real *q, const wrench_set *forces, force *p) {
    const placement *X = KERNEL(placements)(model, q, &memory);
    for (size_t j = 0; j < forces->count; j++) {
        int i = model->frames[forces->frames[j].frame].body;
        force wrench = KERNEL(body_wrench)(model, X, forces->frames[j], (const real *)forces->wrenches + 6 * j);
        p[i] = force_sub(p[i], wrench);
    }
}

static aba_tree lay_out(const dyn_model *model, const real *q, void **memory) {
    int count = model->body_count;
    aba_tree t;
    t.v = (motion *)*memory;
    t.a = t.v + count;
    t.p = (force *)(t.a + count);
    t.I = (articulated_inertia *)(t.p + count);
    t.axes = (aba_axis *)(t.I + count);
    *memory = t.axes + model->nv;
    t.turns = KERNEL(joint_turns)(model, q, memory);
    t.X = (placement *)*memory;
    t.is_resisted = 0;
    return t;
}

void KERNEL(aba)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                 const void *tau, const void *diagonal, const wrench_set *forces, void *pivots, void *a) {
    aba_tree t = lay_out(model, (const real *)q, &memory);
    t.is_resisted = diagonal != NULL;
    if (model->body_count == 0) {
        return;
    }
    velocity_pass(model, (const real *)q, (const real *)v, &t);
    if (forces && forces->count > 0) {
        /* This finds all placements again, and leaves those that are there as they are. */
        subtract_forces(model, memory, (const real *)q, forces, t.p);
    }
    if (diagonal) {
        inertia_pass(model, (const real *)v, (const real *)tau, (const real *)diagonal, &t, (real *)pivots);
    } else {
        inertia_pass(model, (const real *)v, (const real *)tau, NULL, &t, (real *)pivots);
    }
    acceleration_pass(model, gravity, (const real *)v, &t, (real *)a);
}
