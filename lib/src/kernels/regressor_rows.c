/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entries of the torque regressor (regressor.c): components of the wrenches of a link along the columns at or above it.
 *
 * In instances of one sample that have vectors, the lanes hold columns. The ten entries of each column are consecutive
 * in the rows of Y, so that they are transposed before they are stored.
 */
#include "regressor_rows.h"

#include "entry_lanes.h"

#if defined DYN_COLUMN_LANES
#include "lane_squares.h"
#endif

/* Returns the placement and motion of a link in all lanes. */
KERNEL_STEP regressor_link spread_link(const entry *numbers) {
    regressor_link k;
    for (size_t c = 0; c < sizeof k / sizeof(real); c++) {
        ((real *)&k)[c] = spread_entry(numbers[c]);
    }
    return k;
}

/* Returns a column in the axes and about the origin of a link. */
KERNEL_STEP motion column_at_link(placement W, motion S) {
    return motion_set(mat3_apply_transposed(W.R, S.w), mat3_apply_transposed(W.R, vec3_cross_add(S.w, W.r, S.v)));
}

/* Computes the entries of a column S = (s; u), in the order of the parameters. */
KERNEL_STEP void multiply_parameters(motion S, const body_motion *k, real y[PARAMETERS]) {
    vec3 s = S.w, t = vec3_cross(s, k->w), w = k->w, alpha = k->alpha;
    vec3 h = vec3_cross_add(k->a, s, mat3_apply_transposed(k->U, S.v));
    y[0] = vec3_dot(S.v, k->a);
    y[1] = h.x, y[2] = h.y, y[3] = h.z;
    y[4] = real_fma(s.x, alpha.x, t.x * w.x);
    y[5] = real_fma(s.x, alpha.y, real_fma(s.y, alpha.x, real_fma(t.x, w.y, t.y * w.x)));
    y[6] = real_fma(s.y, alpha.y, t.y * w.y);
    y[7] = real_fma(s.x, alpha.z, real_fma(s.z, alpha.x, real_fma(t.x, w.z, t.z * w.x)));
    y[8] = real_fma(s.y, alpha.z, real_fma(s.z, alpha.y, real_fma(t.y, w.z, t.z * w.y)));
    y[9] = real_fma(s.z, alpha.z, t.z * w.z);
}

#if defined DYN_COLUMN_LANES

/* Entries of ENTRIES columns, column by column. */
typedef struct entry_rows {
    entry row[ENTRIES][PARAMETERS];
} entry_rows;

KERNEL_STEP void transpose_entries(real y[PARAMETERS], entry_rows *to) {
    int c = 0;
    for (; c + SIDE <= PARAMETERS; c += SIDE) {
        transpose(&y[c]);
        for (int l = 0; l < ENTRIES; l++) {
            memcpy(&to->row[l][c], (const entry *)&y[c + l % SIDE] + l / SIDE * SIDE, SIDE * sizeof(entry));
        }
    }
    for (; c < PARAMETERS; c++) {
        for (int l = 0; l < ENTRIES; l++) {
            to->row[l][c] = ((const entry *)&y[c])[l];
        }
    }
}

#else

typedef struct entry_rows {
    entry row[1][PARAMETERS];
} entry_rows;

KERNEL_STEP void transpose_entries(real y[PARAMETERS], entry_rows *to) {
    for (int c = 0; c < PARAMETERS; c++) {
        to->row[0][c] = y[c];
    }
}

#endif

KERNEL_STEP void store_parameters(const entry *row, bool shared, entry *Y) {
    for (int c = 0; c < PARAMETERS; c++) {
        Y[c] = shared ? Y[c] + row[c] : row[c];
    }
}

KERNEL_STEP void store_rows(const regressor_path *path, bool shared, const entry *link, size_t width, entry *Y) {
    const regressor_link k = spread_link(link);
    const entry *columns = (const entry *)path->columns;
    for (int i = 0; i < path->count; i += ENTRIES) {
        const int rows = path->count - i < ENTRIES ? path->count - i : ENTRIES;
        real y[PARAMETERS];
        entry_rows x;
        multiply_parameters(column_at_link(k.W, load_columns(columns + i, path->each, ENTRIES)), &k.motion, y);
        transpose_entries(y, &x);
        for (int l = 0; l < rows; l++) {
            store_parameters(x.row[l], shared, Y + (size_t)path->coordinates[i + l] * width);
        }
    }
}

void KERNEL(regressor_rows)(const regressor_path *path, const void *link, size_t width, void *Y) {
    if (path->shared) {
        store_rows(path, true, (const entry *)link, width, (entry *)Y);
    } else {
        store_rows(path, false, (const entry *)link, width, (entry *)Y);
    }
}
