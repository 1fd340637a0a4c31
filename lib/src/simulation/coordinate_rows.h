/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of one coordinate of a motion over time.
 */
#ifndef DYNAMICS_SIMULATION_COORDINATE_ROWS_H
#define DYNAMICS_SIMULATION_COORDINATE_ROWS_H

#include <stddef.h>

/* Positions at n times, and the addresses of their rates. Rows of q are q_stride values apart, those of v and a
 * v_stride. */
typedef struct coordinate_rows {
    size_t n, q_stride, v_stride;
    const double *t, *q;
    double *v, *a;
} coordinate_rows;

/* t_(i+1) - t_i. */
static inline double row_interval(const coordinate_rows *x, size_t i) {
    return x->t[i + 1] - x->t[i];
}

/* (x_(i+1) - x_i) / (t_(i+1) - t_i). */
static inline double row_slope(const coordinate_rows *x, size_t i) {
    return (x->q[(i + 1) * x->q_stride] - x->q[i * x->q_stride]) / row_interval(x, i);
}

#endif
