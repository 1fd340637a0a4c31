/*
 * Columns of motions, one array for each component, so that the products of a force with many of them are loops from
 * which the compiler makes vectors where a real is a single number.
 */
#ifndef DYNAMICS_KERNELS_MOTION_COLUMNS_H
#define DYNAMICS_KERNELS_MOTION_COLUMNS_H

#include "joint.h"

/* w_x[k] is the component x of w of column k, and so on. */
typedef struct motion_columns {
    real *w_x, *w_y, *w_z, *v_x, *v_y, *v_z;
} motion_columns;

/* Columns from a multiple of this on are aligned as vectors want it. */
enum { COLUMNS_ALIGNED = 4 };

/* Room for `count` columns, in reals. */
static inline size_t motion_columns_room(size_t count) {
    return 6 * ((count + COLUMNS_ALIGNED - 1) / COLUMNS_ALIGNED * COLUMNS_ALIGNED);
}

/* The columns at the start of *memory, which moves behind them. */
static inline motion_columns motion_columns_at(size_t count, void **memory) {
    real *x = (real *)*memory;
    size_t room = motion_columns_room(count), each = room / 6;
    motion_columns S;
    S.w_x = x, S.w_y = x + each, S.w_z = x + 2 * each;
    S.v_x = x + 3 * each, S.v_y = x + 4 * each, S.v_z = x + 5 * each;
    *memory = x + room;
    return S;
}

static inline void motion_columns_set(motion_columns S, int k, motion m) {
    S.w_x[k] = m.w.x, S.w_y[k] = m.w.y, S.w_z[k] = m.w.z;
    S.v_x[k] = m.v.x, S.v_y[k] = m.v.y, S.v_z[k] = m.v.z;
}

static inline motion motion_columns_get(motion_columns S, int k) {
    return motion_set(vec3_set(S.w_x[k], S.w_y[k], S.w_z[k]), vec3_set(S.v_x[k], S.v_y[k], S.v_z[k]));
}

/* row_k = S_k' F */
KERNEL_STEP void motion_column_dot(motion_columns S, force F, int k, real *__restrict row) {
    row[k] = spatial_dot(motion_columns_get(S, k), F);
}

/* The same for columns `from` to `to` - 1. */
static inline void motion_columns_dot(motion_columns S, force F, int from, int to, real *__restrict row) {
    int k = from;
    for (; k < to && k % COLUMNS_ALIGNED; k++) {
        motion_column_dot(S, F, k, row);
    }
    for (; k < to; k++) {
        motion_column_dot(S, F, k, row);
    }
}

#endif
