/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads and stores of the terms of derivative_terms.h, one body or column at a time.
 */
#ifndef DYNAMICS_KERNELS_TERM_LANES_H
#define DYNAMICS_KERNELS_TERM_LANES_H

#include "derivative_terms.h"

/* Returns the address of the first component of terms number i. The next ones follow at a distance of TERM_LANES
 * numbers. */
static inline real *terms_at(void *terms, int i, size_t size) {
    const size_t at = (size_t)i;
    return (real *)terms + at / TERM_LANES * (TERM_LANES * size / sizeof(real)) + at % TERM_LANES;
}

/* Returns the terms of body i. If lanes hold columns, they have the index of the last column of its joint. */
static inline real *body_at(const derivative_tree *t, int i) {
    return terms_at(t->bodies, TERM_LANES > 1 ? t->first_column[i + 1] - 1 : i, sizeof(body_terms));
}

static inline real *column_at(const derivative_tree *t, int column) {
    return terms_at(t->columns, column, sizeof(column_terms));
}

/* Returns the body terms with the index of a column. Used only if lanes hold columns. */
static inline real *body_beside(const derivative_tree *t, int column) {
    return terms_at(t->bodies, column, sizeof(body_terms));
}

/* Returns the joint terms with the index of a column. Used only if lanes hold columns. */
static inline real *column_joint(const derivative_tree *t, int column) {
    return terms_at(t->joints, column, sizeof(joint_terms));
}

/* Stores `count` numbers as the components of terms from `offset` bytes on. */
KERNEL_STEP void store_numbers(real *terms, size_t offset, const real *x, size_t count) {
    for (size_t c = 0; c < count; c++) {
        terms[(offset / sizeof(real) + c) * TERM_LANES] = x[c];
    }
}

/* Loads `count` numbers from the components of terms from `offset` bytes on. */
KERNEL_STEP void load_numbers(const real *terms, size_t offset, real *x, size_t count) {
    for (size_t c = 0; c < count; c++) {
        x[c] = terms[(offset / sizeof(real) + c) * TERM_LANES];
    }
}

KERNEL_STEP void store_motion(real *terms, size_t offset, motion m) {
    store_numbers(terms, offset, (const real *)&m, sizeof m / sizeof(real));
}

KERNEL_STEP motion load_motion(const real *terms, size_t offset) {
    motion m;
    load_numbers(terms, offset, (real *)&m, sizeof m / sizeof(real));
    return m;
}

KERNEL_STEP placement load_placement(const real *terms, size_t offset) {
    placement W;
    load_numbers(terms, offset, (real *)&W, sizeof W / sizeof(real));
    return W;
}

/* Returns the range of the numbers of inertial_terms that the parts of the derivatives need: all except f, or f, or
 * all. */
KERNEL_STEP size_t part_offset(derivative_parts parts) {
    return parts & VELOCITY_PART ? 0 : offsetof(inertial_terms, f);
}

KERNEL_STEP size_t part_count(derivative_parts parts) {
    size_t end = parts & POSITION_PART ? sizeof(inertial_terms) : offsetof(inertial_terms, f);
    return (end - part_offset(parts)) / sizeof(real);
}

/* Completes the rates of a joint with several columns: rate = 2 Psi_dot + vJ x S, where vJ is the motion of all of
 * them. */
static inline void add_rates_of_joint(const derivative_tree *t, int i, motion vJ) {
    for (int l = 0; l < t->model->bodies[i].nv; l++) {
        real *column = column_at(t, t->first_column[i] + l);
        motion S = load_motion(column, offsetof(column_terms, S));
        motion rate = load_motion(column, offsetof(column_terms, rate));
        store_motion(column, offsetof(column_terms, rate), motion_add(rate, motion_cross(vJ, S)));
    }
}

#endif
