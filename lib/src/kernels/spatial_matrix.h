/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defines matrices that map a motion to a force. They are stored by columns, B e_k for the six coordinate motions e_k.
 */
#ifndef DYNAMICS_KERNELS_SPATIAL_MATRIX_H
#define DYNAMICS_KERNELS_SPATIAL_MATRIX_H

#include "../model/joint.h"

enum { SPATIAL_COLUMNS = 6 };

typedef struct spatial_matrix {
    force column[SPATIAL_COLUMNS];
} spatial_matrix;

static inline void spatial_matrix_add(spatial_matrix *A, const spatial_matrix *B) {
    for (int k = 0; k < SPATIAL_COLUMNS; k++) {
        A->column[k] = force_add(A->column[k], B->column[k]);
    }
}

/* Returns B m. */
static inline force spatial_matrix_apply(const spatial_matrix *B, motion m) {
    const real x[SPATIAL_COLUMNS] = {m.w.x, m.w.y, m.w.z, m.v.x, m.v.y, m.v.z};
    force f = force_zero();
    for (int k = 0; k < SPATIAL_COLUMNS; k++) {
        f = force_fma(x[k], B->column[k], f);
    }
    return f;
}

/* Returns B' m. */
static inline force spatial_matrix_apply_transposed(const spatial_matrix *B, motion m) {
    real x[SPATIAL_COLUMNS];
    for (int k = 0; k < SPATIAL_COLUMNS; k++) {
        x[k] = spatial_dot(m, B->column[k]);
    }
    return force_set(vec3_set(x[0], x[1], x[2]), vec3_set(x[3], x[4], x[5]));
}

#endif
