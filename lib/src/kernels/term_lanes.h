/*
 * Numbers into the terms of derivative_terms.h and back, one body or column at a time.
 */
#ifndef DYNAMICS_KERNELS_TERM_LANES_H
#define DYNAMICS_KERNELS_TERM_LANES_H

#include "derivative_terms.h"

/* Where the components of terms number i are, one every TERM_LANES numbers. */
static inline real *terms_at(void *terms, int i, size_t size) {
    return (real *)terms + (size_t)(i / TERM_LANES) * TERM_LANES * (size / sizeof(real)) + i % TERM_LANES;
}

static inline real *body_at(const derivative_tree *t, int i) {
    return terms_at(t->bodies, i, sizeof(body_terms));
}

static inline real *column_at(const derivative_tree *t, int column) {
    return terms_at(t->columns, column, sizeof(column_terms));
}

static inline real *joint_at(const derivative_tree *t, int i, int k) {
    return terms_at(t->joints, t->first_column[i] + k, sizeof(joint_terms));
}

/* `count` numbers to the components of terms from `offset` bytes on, and back. */
KERNEL_STEP void put_numbers(real *terms, size_t offset, const real *x, size_t count) {
    for (size_t c = 0; c < count; c++) {
        terms[(offset / sizeof(real) + c) * TERM_LANES] = x[c];
    }
}

KERNEL_STEP void get_numbers(const real *terms, size_t offset, real *x, size_t count) {
    for (size_t c = 0; c < count; c++) {
        x[c] = terms[(offset / sizeof(real) + c) * TERM_LANES];
    }
}

KERNEL_STEP void put_motion(real *terms, size_t offset, motion m) {
    put_numbers(terms, offset, (const real *)&m, sizeof m / sizeof(real));
}

KERNEL_STEP motion get_motion(const real *terms, size_t offset) {
    motion m;
    get_numbers(terms, offset, (real *)&m, sizeof m / sizeof(real));
    return m;
}

KERNEL_STEP placement get_placement(const real *terms, size_t offset) {
    placement W;
    get_numbers(terms, offset, (real *)&W, sizeof W / sizeof(real));
    return W;
}

#endif
