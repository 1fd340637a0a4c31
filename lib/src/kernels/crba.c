/*
 * The composite-rigid-body algorithm: M(q).
 *
 *     I_c = I + sum over children of X* I_c X
 *     F = I_c S_i                      M_ii = S_i' F
 *     F = X* F, towards the root       M_ij = M_ji = S_j' F
 *
 * A coupled mimic joint adds its columns, times its ratio, to its master's.
 *
 * Sources: Walker and Orin 1982, method 3; Featherstone 2008, table 6.2.
 */
#include "hinge.h"
#include "joint_placement.h"

typedef struct crba_tree {
    joint_turns turns;
    placement *X; /* of bodies that no hinge carries */
    rigid_inertia *composite;
} crba_tree;

size_t KERNEL(crba_memory)(const dyn_model *model) {
    return (size_t)model->body_count * (3 * sizeof(real) + sizeof(placement) + sizeof(rigid_inertia));
}

/* Row v_index + k of M for coordinate k of body i, and the column that mirrors it. */
static void carry_column(const dyn_model *model, const crba_tree *t, int i, int k, force F, real *M) {
    const body *b = &model->bodies[i];
    int nv = model->nv, row = b->v_index + k;
    for (int l = 0; l < b->nv; l++) {
        M[row * nv + b->v_index + l] += real_set(b->ratio * b->ratio) * joint_force(b, b->motion, l, F);
    }
    for (int j = i; model->bodies[j].parent >= 0;) {
        const body *c = &model->bodies[j];
        F = c->hinge ? hinge_force_to_parent(hinge_at(c, t->turns, j), F, force_zero()) : force_to_parent(t->X[j], F);
        j = c->parent;
        const body *p = &model->bodies[j];
        for (int l = 0; l < p->nv; l++) {
            real m = real_set(b->ratio * p->ratio) * joint_force(p, p->motion, l, F);
            int column = p->v_index + l;
            M[row * nv + column] += m;
            M[column * nv + row] += m;
        }
    }
}

/* The same for a body on hinges all the way from the world. */
static void carry_hinge_column(const dyn_model *model, const crba_tree *t, int i, real *M) {
    const body *b = &model->bodies[i];
    int nv = model->nv, row = b->v_index;
    rigid_inertia I = t->composite[i];
    force F = force_set(vec3_set(I.I.xz, I.I.yz, I.I.zz), vec3_set(-I.h.y, I.h.x, real_set(0)));
    M[row * nv + row] = F.n.z;
    for (int j = i; model->bodies[j].parent >= 0;) {
        F = hinge_force_to_parent(hinge_at(&model->bodies[j], t->turns, j), F, force_zero());
        j = model->bodies[j].parent;
        int column = model->bodies[j].v_index;
        M[row * nv + column] = M[column * nv + row] = F.n.z;
    }
}

void KERNEL(crba)(const dyn_model *model, void *memory, const void *q, void *mass_matrix) {
    const real *coordinates = (const real *)q;
    crba_tree t;
    t.turns = KERNEL(joint_turns)(model, coordinates, &memory);
    t.X = (placement *)memory;
    t.composite = (rigid_inertia *)(t.X + model->body_count);
    real *M = (real *)mass_matrix;
    for (int i = 0; i < model->nv * model->nv; i++) {
        M[i] = real_set(0);
    }
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        t.composite[i] = body_inertia(b);
        if (!b->hinge) {
            t.X[i] = joint_placement(b, coordinates + b->q_index, t.turns.sine[i], t.turns.cosine[i]);
        }
    }
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        if (b->on_hinges) {
            carry_hinge_column(model, &t, i, M);
        } else {
            for (int k = 0; k < b->nv; k++) {
                force F = rigid_inertia_apply(t.composite[i], joint_column(b, b->motion, k));
                carry_column(model, &t, i, k, F, M);
            }
        }
        if (b->parent >= 0) {
            rigid_inertia I = b->hinge ? hinge_inertia_to_parent(hinge_at(b, t.turns, i), t.composite[i])
                                       : rigid_inertia_to_parent(t.X[i], t.composite[i]);
            t.composite[b->parent] = rigid_inertia_add(t.composite[b->parent], I);
        }
    }
}
