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
#include "instance.h"

size_t KERNEL(crba_memory)(const dyn_model *model) {
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * sizeof(rigid_inertia);
}

/* Row v_index + k of M for coordinate k of body i, and the column that mirrors it. */
static void carry_column(const dyn_model *model, const placement *X, int i, int k, force F, real *M) {
    const body *b = &model->bodies[i];
    int nv = model->nv, row = b->v_index + k;
    for (int l = 0; l < b->nv; l++) {
        M[row * nv + b->v_index + l] += (b->ratio * b->ratio) * joint_force(b, b->motion, l, F);
    }
    for (int j = i; model->bodies[j].parent >= 0;) {
        F = force_to_parent(X[j], F);
        j = model->bodies[j].parent;
        const body *p = &model->bodies[j];
        for (int l = 0; l < p->nv; l++) {
            real m = (b->ratio * p->ratio) * joint_force(p, p->motion, l, F);
            int column = p->v_index + l;
            M[row * nv + column] += m;
            M[column * nv + row] += m;
        }
    }
}

void KERNEL(crba)(const dyn_model *model, void *memory, const void *q, void *mass_matrix) {
    placement *X = KERNEL(placements)(model, (const real *)q, &memory);
    rigid_inertia *composite = (rigid_inertia *)memory;
    real *M = (real *)mass_matrix;
    for (int i = 0; i < model->nv * model->nv; i++) {
        M[i] = real_set(0);
    }
    for (int i = 0; i < model->body_count; i++) {
        composite[i] = body_inertia(&model->bodies[i]);
    }
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        for (int k = 0; k < b->nv; k++) {
            carry_column(model, X, i, k, rigid_inertia_apply(composite[i], joint_column(b, b->motion, k)), M);
        }
        if (b->parent >= 0) {
            composite[b->parent] = rigid_inertia_add(composite[b->parent], rigid_inertia_to_parent(X[i], composite[i]));
        }
    }
}
