/* SPDX-License-Identifier: BSD-2-Clause */
#include "composite_bodies.h"

void KERNEL(composite_inertias)(const mechanism *m, rigid_inertia *IC) {
    for (int i = 0; i < m->count; i++) {
        IC[i] = m->links[i].I;
    }
    for (int i = m->count - 1; i >= 0; i--) {
        const mechanism_link *l = &m->links[i];
        if (l->parent >= 0) {
            IC[l->parent] = rigid_inertia_add(IC[l->parent], rigid_inertia_to_parent(l->X, IC[i]));
        }
    }
}

void KERNEL(add_mass_entry)(const mechanism *m, real *M, int row, int column, int mirror, real entry) {
    M[row * m->nv + column] = M[row * m->nv + column] + entry;
    if (mirror) {
        M[column * m->nv + row] = M[column * m->nv + row] + entry;
    }
}

void KERNEL(composite_mass_matrix)(const mechanism *m, const rigid_inertia *IC, real *M) {
    real_clear(M, m->nv * m->nv);
    for (int j = 0; j < m->count; j++) {
        for (int k = 0; k < m->links[j].nv; k++) {
            force f = rigid_inertia_apply(IC[j], mechanism_column(m, j, k));
            for (int i = j; i >= 0; i = m->links[i].parent) {
                for (int r = 0; r < m->links[i].nv; r++) {
                    real entry = mechanism_force(m, i, r, f);
                    KERNEL(add_mass_entry)(m, M, m->links[i].v_index + r, m->links[j].v_index + k, i != j, entry);
                }
                f = force_to_parent(m->links[i].X, f);
            }
        }
    }
}
