/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Composite-rigid-body algorithm: M(q).
 *
 *     I_c = I + sum over children of X* I_c X
 *     F = I_c S_i                      M_ii = S_i' F
 *     F = X* F, towards the root       M_ij = M_ji = S_j' F
 *
 * A coupled mimic joint adds its columns, times its ratio, to those of its master.
 *
 * Rotors add to the entries of the joint that they drive (driven_joint.h), with their axial inertias in I_c of the body
 * that carries them:
 *     M_ii += d                        F += g, in the parent of body i
 *
 * crba_trunk.c computes large trees, in whose trunk (model/normal_form.h) all quantities are expressed in the axes of
 * the root.
 *
 * Sources: Walker and Orin 1982, method 3; Featherstone 2008, table 6.2.
 */
#include "crba_tree.h"
#include "driven_joint.h"
#include "../model/joint_placement.h"
#include "stages.h"

size_t KERNEL(crba_memory)(const dyn_model *model) {
    return (size_t)model->body_count * (3 * sizeof(real) + sizeof(placement) + sizeof(rigid_inertia)) +
           2 * motion_columns_room((size_t)model->nv) * sizeof(real);
}

/* Computes placements and the inertia of each body. Returns true if the tree has a trunk. */
static bool place_bodies(const dyn_model *model, const crba_tree *t, const real *q) {
    bool has_trunk = false;
    for (int i = 0; i < count_computed(model); i++) {
        const body *b = &model->bodies[i];
        t->composite[i] = computed_inertia(model, b);
        has_trunk = has_trunk || b->trunk;
        if (!b->hinge) {
            t->X[i] = joint_placement(b, q + b->q_index, t->turns.sine[i], t->turns.cosine[i]);
        }
    }
    return has_trunk;
}

/* Stores x, or adds it to an entry that several joints share. */
KERNEL_STEP void store_entry(bool shared, real *to, real x) {
    *to = shared ? *to + x : x;
}

/* Adds the moment g of the rotors of a joint to the force of its column in the parent. */
KERNEL_STEP force add_rotor_couple(const body *b, force F) {
    F.n = vec3_add(F.n, rotor_couple(b));
    return F;
}

/* Stores row v_index + k of M for coordinate k of body i, and the column that mirrors it. `shared`: joints share a
 * coordinate, so that entries are sums. `driven`: rotors drive joints. */
KERNEL_STEP void store_column(const dyn_model *model, const crba_tree *t, bool shared, bool driven, int i, int k,
                              real *M) {
    const body *b = &model->bodies[i];
    force F = column_force(b, t->composite[i], k);
    int nv = model->nv, row = b->v_index + k;
    for (int l = 0; l < b->nv; l++) {
        real m = rounded_set(constants_of(b)->ratio) * joint_force(b, b->motion, l, F);
        store_entry(shared, &M[row * nv + b->v_index + l], driven ? m + reflected_inertia(b) : m);
    }
    for (int j = i; model->bodies[j].parent >= 0;) {
        F = column_force_to_parent(&model->bodies[j], t, j, F);
        F = driven && j == i ? add_rotor_couple(b, F) : F;
        j = model->bodies[j].parent;
        const body *p = &model->bodies[j];
        for (int l = 0; l < (p->hinge ? 1 : p->nv); l++) {
            real m = p->hinge ? F.n.z : rounded_set(constants_of(p)->ratio) * joint_force(p, p->motion, l, F);
            int column = p->v_index + l;
            store_entry(shared, &M[row * nv + column], m);
            store_entry(shared, &M[column * nv + row], m);
        }
    }
}

/* Stores the row of body i, and the column that mirrors it, where all joints between the body and the world are hinges.
 */
KERNEL_STEP void store_hinge_column(const dyn_model *model, const crba_tree *t, bool driven, int i, real *M) {
    const body *bodies = model->bodies;
    int nv = model->nv, row = bodies[i].v_index;
    force F = hinge_column_force(t->composite[i]);
    M[row * nv + row] = driven ? F.n.z + reflected_inertia(&bodies[i]) : F.n.z;
    for (int j = i; bodies[j].parent >= 0;) {
        F = hinge_force_to_parent(hinge_at(&bodies[j], t->turns, j), F, force_zero());
        F = driven && j == i ? add_rotor_couple(&bodies[i], F) : F;
        j = bodies[j].parent;
        int column = bodies[j].v_index;
        M[row * nv + column] = M[column * nv + row] = F.n.z;
    }
}

/* Returns true if all of M is cleared before entries are stored: in models whose entries are sums, and in instances of
 * one lane, whose M is small. */
static inline bool clears_all(const dyn_model *model) {
    return DYN_LANES == 1 || model->has_coupling;
}

/* Clears the entries of body i with the bodies of later branches. */
static void clear_branches(const dyn_model *model, int i, real *M) {
    const body *b = &model->bodies[i];
    int nv = model->nv;
    for (int row = b->v_index; row < b->v_index + b->nv; row++) {
        for (int column = end_of_subtree(b); column < nv; column++) {
            M[row * nv + column] = M[column * nv + row] = real_set(0);
        }
    }
}

/* Stores all rows of body i. */
static void store_columns(const dyn_model *model, const crba_tree *t, int i, real *M) {
    const body *b = &model->bodies[i];
    if (!clears_all(model)) {
        clear_branches(model, i, M);
    }
    bool driven = has_driven_joints(model) && b->is_driven;
    if (b->on_hinges) {
        store_hinge_column(model, t, driven, i, M);
        return;
    }
    for (int k = 0; k < b->nv; k++) {
        if (model->has_coupling) {
            store_column(model, t, true, driven, i, k, M);
        } else {
            store_column(model, t, false, false, i, k, M);
        }
    }
}

/* Computes M. If `in_row` is true, finishes it in the rows of the caller and returns true if all entries are finite. */
static int compute(const dyn_model *model, void *memory, const real *q, bool in_row, real *M) {
    crba_tree t;
    size_t entries = (size_t)model->nv * (size_t)model->nv;
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_crba)(model, memory, q, M);
        return in_row ? finish_entries(M, entries) : 1;
    }
    t.S = motion_columns_at((size_t)model->nv, &memory);
    t.F = motion_columns_at((size_t)model->nv, &memory);
    t.turns = KERNEL(joint_turns)(model, q, &memory);
    t.X = (placement *)memory;
    t.composite = (rigid_inertia *)(t.X + model->body_count);
    if (place_bodies(model, &t, q)) {
        const crba_tree with_trunk = t;
        return KERNEL(crba_trunk)(model, &with_trunk, in_row, M);
    }
    for (size_t k = 0; clears_all(model) && k < entries; k++) {
        M[k] = real_set(0);
    }
    for (int i = count_computed(model) - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        store_columns(model, &t, i, M);
        if (b->parent >= 0) {
            t.composite[b->parent] = rigid_inertia_add(t.composite[b->parent], composite_to_parent(b, &t, i));
        }
    }
    return in_row ? finish_entries(M, entries) : 1;
}

void KERNEL(crba)(const dyn_model *model, void *memory, const void *q, void *M) {
    compute(model, memory, (const real *)q, false, (real *)M);
}

int KERNEL(crba_in_row)(const dyn_model *model, void *memory, const void *q, void *M) {
    return compute(model, memory, (const real *)q, true, (real *)M);
}
