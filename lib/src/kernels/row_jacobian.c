/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows A of constraints and tasks, and their bias dA/dt v.
 *
 * A group of rows is the sum of its terms. A term selects rows of a frame's Jacobian, or one coordinate, and scales
 * them. A frame that is fixed to the world and a coordinate have no bias.
 */
#include "instance.h"

/* Motion of one frame: twist, rate, and a 6 x nv matrix. */
static size_t motion_numbers(const dyn_model *model) {
    return 12 + 7 * (size_t)model->nv;
}

size_t KERNEL(row_jacobian_memory)(const dyn_model *model) {
    size_t of_jacobian = KERNEL(frame_memory)(model), of_motion = KERNEL(frame_motion_memory)(model);
    return motion_numbers(model) * sizeof(real) + (of_jacobian > of_motion ? of_jacobian : of_motion);
}

/* Adds the selected rows out of six, with the given number of columns, times the term's factor. */
static void add_rows(const row_term *t, int columns, const real *six, real *out) {
    real factor = real_set(t->factor);
    for (int row = 0; row < 6; row++) {
        if (t->rows >> row & 1) {
            for (int i = 0; i < columns; i++, out++) {
                *out = real_fma(factor, six[row * columns + i], *out);
            }
        }
    }
}

/* Adds the rows of one frame to A, and dA/dt v to the bias unless v is NULL. */
static void add_frame(const dyn_model *model, void *memory, const void *q, const void *v, const row_term *t, real *A,
                      real *bias) {
    int nv = model->nv;
    real *V = (real *)memory, *rate = V + 6, *zero = V + 12, *six = zero + nv;
    void *rest = six + 6 * nv;
    if (t->index < 0 || model->frames[t->index].body < 0) {
        return;
    }
    for (int i = 0; i < 7 * nv; i++) {
        zero[i] = real_set(0);
    }
    KERNEL(frame_jacobian)(model, rest, q, t->index, t->reference_frame, six);
    add_rows(t, nv, six, A);
    if (v) {
        KERNEL(frame_motion)(model, rest, q, v, zero, t->index, t->reference_frame, V, rate, six);
        add_rows(t, 1, rate, bias);
    }
}

void KERNEL(row_jacobian)(const dyn_model *model, void *memory, const void *q, const void *v, const row_set *rows,
                          void *A, void *bias) {
    real *row = (real *)A, *drift = (real *)bias;
    for (int i = 0; i < rows->m * model->nv; i++) {
        row[i] = real_set(0);
    }
    for (int i = 0; i < rows->m && v; i++) {
        drift[i] = real_set(0);
    }
    for (size_t g = 0; g < rows->group_count; g++) {
        const row_group *group = &rows->groups[g];
        for (int k = 0; k < group->term_count; k++) {
            const row_term *t = &group->terms[k];
            if (t->source == ROWS_OF_FRAME) {
                add_frame(model, memory, q, v, t, row, drift);
            } else {
                row[t->index] = row[t->index] + real_set(t->factor);
            }
        }
        row += group->count * model->nv;
        drift += v ? group->count : 0;
    }
}
