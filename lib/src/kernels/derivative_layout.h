/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lays out the state of the derivatives of inverse dynamics (derivative_state.h) in scratch memory.
 */
#ifndef DYNAMICS_KERNELS_DERIVATIVE_LAYOUT_H
#define DYNAMICS_KERNELS_DERIVATIVE_LAYOUT_H

#include <string.h>

#include "derivative_state.h"

enum { ALIGNMENT = 64 };

static inline size_t aligned(size_t size) {
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Returns the bytes of `count` terms, of which elements of `size` bytes hold TERM_LANES each. */
static inline size_t terms_size(size_t count, size_t size) {
    return aligned((count + TERM_LANES - 1) / TERM_LANES * size);
}

/* Returns the number of joint terms and of placements. They exist only if lanes hold columns. */
static inline size_t joint_terms_count(size_t columns) {
    return TERM_LANES > 1 ? columns : 0;
}

/* Returns the number of body terms: one for each column if lanes hold columns, else one for each body. */
static inline size_t body_terms_count(const dyn_model *model, size_t columns) {
    return TERM_LANES > 1 ? columns : (size_t)model->body_count;
}

/* Returns the number of columns of the bodies to compute. */
static inline size_t computed_columns(const dyn_model *model) {
    size_t count = 0;
    for (int i = 0; i < count_computed(model); i++) {
        count += (size_t)model->bodies[i].nv;
    }
    return count;
}

/* Returns the bytes of the terms of rotors. */
static inline size_t rotor_terms_size(const dyn_model *model, size_t columns) {
    return has_driven_joints(model) ? terms_size(columns, sizeof(rotor_terms)) : 0;
}

/* Returns the number of entries of column_ends, padded to whole vectors. It is 0 unless lanes hold columns. */
static inline size_t ends_count(size_t columns) {
    return TERM_LANES > 1 ? (columns + TERM_LANES - 1) / TERM_LANES * TERM_LANES : 0;
}

/* Returns the bytes of scratch memory of the state. */
static inline size_t derivative_layout_size(const dyn_model *model) {
    size_t bodies = (size_t)model->body_count, columns = computed_columns(model);
    size_t terms = rotor_terms_size(model, columns) + terms_size(body_terms_count(model, columns), sizeof(body_terms)) +
                   terms_size(joint_terms_count(columns), sizeof(joint_terms)) +
                   aligned(joint_terms_count(columns) * sizeof(placement_columns)) +
                   terms_size(columns, sizeof(column_terms));
    size_t carried = bodies * (sizeof(inertial_terms) + sizeof(root_motion) + 3 * sizeof(real));
    size_t numbers = bodies + 1 + 2 * columns + ends_count(columns);
    return aligned(terms + carried + KERNEL(placements_memory)(model) + numbers * sizeof(int));
}

/* Clears the motion in the lanes beside the last terms. They are computed as well: v and a, which are read before they
 * are written, must be zeros. */
static inline void clear_last(const derivative_tree *t, size_t columns) {
    for (int i = (int)columns; i % TERM_LANES > 0; i++) {
        body_terms *of_body = bodies_at(t, i);
        joint_terms *of_joint = joints_at(t, i);
        store_motion(motion_zero(), &of_body->v, term_lane(i)), store_motion(motion_zero(), &of_body->a, term_lane(i));
        store_motion(motion_zero(), &of_joint->v, term_lane(i)),
            store_motion(motion_zero(), &of_joint->a, term_lane(i));
    }
}

/* Returns the start of `size` bytes of memory, and advances *memory. */
static inline void *allocate(void **memory, size_t size) {
    void *allocated = *memory;
    *memory = (char *)allocated + size;
    return allocated;
}

/* Computes the coordinate of each column and the column before it on the way to the root. */
static inline void number_coordinates(derivative_tree *t, int *coordinates) {
    const body *bodies = t->model->bodies;
    const int *first = t->first_column;
    int *above = coordinates + first[t->count];
    for (int i = 0; i < t->count; i++) {
        for (int k = 0, column = first[i]; k < bodies[i].nv; k++, column++) {
            coordinates[column] = bodies[i].v_index + k;
            above[column] = k > 0 ? column - 1 : bodies[i].parent < 0 ? -1 : first[bodies[i].parent + 1] - 1;
        }
    }
    t->coordinates = coordinates, t->column_above = above;
}

/* Computes, for each column, the end of the columns of its subtree. */
static inline void number_ends(derivative_tree *t, int *ends) {
    const int *first = t->first_column, columns = first[t->count];
    for (int i = 0; i < t->count; i++) {
        for (int y = first[i]; y < first[i + 1]; y++) {
            ends[y] = first[i + 1] + t->model->bodies[i].columns_behind;
        }
    }
    for (int y = columns; y < (int)ends_count((size_t)columns); y++) {
        ends[y] = 0;
    }
    t->column_ends = ends;
}

/* Computes the arrays of column numbers that this instance needs. `first` is the start of their memory. */
static inline void number_columns(derivative_tree *t, int *first) {
    const body *bodies = t->model->bodies;
    const int count = t->count;
    int column = 0;
    t->branches = false;
    for (int i = 0; i < count; i++) {
        first[i] = column;
        t->branches |= bodies[i].parent != i - 1;
        column += bodies[i].nv;
    }
    first[count] = column;
    t->first_column = first, t->coordinates = t->column_above = t->column_ends = NULL;
    if (TERM_LANES == 1 || t->shares) {
        number_coordinates(t, first + count + 1);
    } else if (t->branches) {
        number_ends(t, first + count + 1);
    }
}

/* Lays out the state in scratch memory, and computes the sines of the joints and the numbers of the columns. */
static inline derivative_state lay_out(const dyn_model *model, void *memory, const packed_inputs *in) {
    const real *q = (const real *)in->q;
    size_t bodies = (size_t)model->body_count, columns = computed_columns(model), joints = joint_terms_count(columns);
    derivative_state s;
    s.gravity = in->gravity, s.q = q, s.v = (const real *)in->v;
    s.needs_frames = has_wrenches(in->forces), s.of_symbols = false;
    s.tree.model = model, s.tree.count = count_computed(model);
    s.tree.shares = shares_coordinates(model), s.tree.has_driven = has_driven_joints(model);
    s.tree.bodies = allocate(&memory, terms_size(body_terms_count(model, columns), sizeof(body_terms)));
    s.tree.joints = allocate(&memory, terms_size(joints, sizeof(joint_terms)));
    s.tree.columns = allocate(&memory, terms_size(columns, sizeof(column_terms)));
    s.tree.rotors = s.tree.has_driven ? allocate(&memory, rotor_terms_size(model, columns)) : NULL;
    s.tree.placed = allocate(&memory, aligned(joints * sizeof(placement_columns)));
    s.pending = (inertial_terms *)allocate(&memory, bodies * sizeof(inertial_terms));
    s.tree.roots = allocate(&memory, bodies * sizeof(root_motion));
    s.turns = KERNEL(joint_turns)(model, q, &memory);
    s.placements = allocate(&memory, KERNEL(placements_memory)(model));
    number_columns(&s.tree, (int *)memory);
    clear_last(&s.tree, columns);
    if (TERM_LANES > 1 && s.tree.has_driven) {
        memset(s.tree.rotors, 0, rotor_terms_size(model, columns));
    }
    return s;
}

#endif
