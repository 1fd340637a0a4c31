/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Velocities and accelerations from positions and times.
 *
 * A cubic spline through (t_i, x_i) has the second derivatives M_i with, for h_i = t_(i+1) - t_i and d_i = (x_(i+1) -
 * x_i) / h_i,
 *     h_(i-1) M_(i-1) + 2 (h_(i-1) + h_i) M_i + h_i M_(i+1) = 6 (d_i - d_(i-1))
 *     v_i = d_i - h_i (2 M_i + M_(i+1)) / 6
 * and two conditions for the ends: not-a-knot, M_0 = M_1 + h_0 (M_1 - M_2) / h_1 and its mirror image, or v = 0.
 * Elimination solves the tridiagonal system and stores its quotients in the memory of v. Quintic splines have a file of
 * their own (quintic_spline.c); where they do not end at rest, their ends have the rates of the quintic through the
 * nearest six rows.
 *
 * Source: de Boor 1978, chapter IV; Fornberg 1988.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/configuration_space.h>
#include <dynamics/trajectory.h>

#include "../dynamics/arguments.h"
#include "../dynamics/joint_difference.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "coordinate_rows.h"
#include "quintic_spline.h"

enum { MOST_POINTS = 7, MOST_JOINT_NV = 6 };

static dyn_status check_times(size_t n, const double *t, dyn_error *error) {
    for (size_t i = 0; i < n; i++) {
        const dyn_error_site site = {.cause = isfinite(t[i]) ? DYN_CAUSE_OTHER : DYN_CAUSE_NOT_FINITE,
                                     .argument = "time",
                                     .has_index = true,
                                     .index = i};
        if (!isfinite(t[i])) {
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "the time is %g; pass a finite number", t[i]);
        }
        if (i > 0 && !(t[i] > t[i - 1])) {
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                                "the time is %.17g, not after that before it, %.17g", t[i], t[i - 1]);
        }
    }
    return DYN_OK;
}

/* ---- Cubic splines of one coordinate ----------------------------------------------------------------------------- */

/* Eliminates one row of the tridiagonal system, lower M_(i-1) + diagonal M_i + upper M_(i+1) = right. */
static void eliminate(const coordinate_rows *x, size_t i, bool is_first, double lower, double diagonal, double upper,
                      double right) {
    double *quotient = &x->v[i * x->v_stride], *M = &x->a[i * x->v_stride];
    if (!is_first) {
        diagonal -= lower * x->v[(i - 1) * x->v_stride];
        right -= lower * x->a[(i - 1) * x->v_stride];
    }
    *quotient = upper / diagonal;
    *M = right / diagonal;
}

/* Computes the second derivatives of rows first .. last from the eliminated system. */
static void substitute(const coordinate_rows *x, size_t first, size_t last) {
    for (size_t i = last; i-- > first;) {
        x->a[i * x->v_stride] -= x->v[i * x->v_stride] * x->a[(i + 1) * x->v_stride];
    }
}

/* Returns the right side of an inner row of the system. */
static double inner_right(const coordinate_rows *x, size_t i) {
    return 6 * (row_slope(x, i) - row_slope(x, i - 1));
}

static void solve_not_a_knot(const coordinate_rows *x) {
    size_t n = x->n, s = x->v_stride;
    for (size_t i = 1; i + 1 < n; i++) {
        double h = row_interval(x, i - 1), k = row_interval(x, i);
        double lower = h, diagonal = 2 * (h + k), upper = k;
        if (i == 1) {
            diagonal += h * (1 + h / k), upper -= h * h / k;
        }
        if (i + 2 == n) {
            diagonal += k * (1 + k / h), lower -= k * k / h;
        }
        eliminate(x, i, i == 1, lower, diagonal, upper, inner_right(x, i));
    }
    substitute(x, 1, n - 2);
    double h = row_interval(x, 0) / row_interval(x, 1), k = row_interval(x, n - 2) / row_interval(x, n - 3);
    x->a[0] = x->a[s] + h * (x->a[s] - x->a[2 * s]);
    x->a[(n - 1) * s] = x->a[(n - 2) * s] + k * (x->a[(n - 2) * s] - x->a[(n - 3) * s]);
}

static void solve_at_rest(const coordinate_rows *x) {
    size_t n = x->n;
    for (size_t i = 0; i < n; i++) {
        double h = i > 0 ? row_interval(x, i - 1) : 0, k = i + 1 < n ? row_interval(x, i) : 0;
        double before = i > 0 ? row_slope(x, i - 1) : 0, after = i + 1 < n ? row_slope(x, i) : 0;
        eliminate(x, i, i == 0, h, 2 * (h + k), k, 6 * (after - before));
    }
    substitute(x, 0, n - 1);
}

static void spline_velocities(const coordinate_rows *x) {
    size_t n = x->n, s = x->v_stride;
    for (size_t i = 0; i < n; i++) {
        bool is_last = i + 1 == n;
        size_t j = is_last ? i - 1 : i;
        double h = row_interval(x, j), M = x->a[j * s], next = x->a[(j + 1) * s];
        x->v[i * s] = row_slope(x, j) + (is_last ? h * (M + 2 * next) : -h * (2 * M + next)) / 6;
    }
}

static void cubic_spline(const coordinate_rows *x, bool is_at_rest) {
    if (is_at_rest) {
        solve_at_rest(x);
    } else if (x->n > 3) {
        solve_not_a_knot(x);
    } else {
        double M = x->n == 3 ? inner_right(x, 1) / (3 * (row_interval(x, 0) + row_interval(x, 1))) : 0;
        for (size_t i = 0; i < x->n; i++) {
            x->a[i * x->v_stride] = M;
        }
    }
    spline_velocities(x);
}

/* ---- Polynomials through a few rows ------------------------------------------------------------------------------ */

/* Computes the weights of the first and second derivative at t_0 of the polynomial through `count` points. */
static void derivative_weights(size_t count, const double *t, double t_0, double first[MOST_POINTS],
                               double second[MOST_POINTS]) {
    double w[MOST_POINTS][3] = {{1, 0, 0}};
    double c = 1, distance = t[0] - t_0;
    for (size_t i = 1; i < count; i++) {
        double product = 1, previous = distance;
        distance = t[i] - t_0;
        for (size_t j = 0; j < i; j++) {
            double gap = t[i] - t[j];
            product *= gap;
            if (j + 1 == i) {
                for (int k = 2; k >= 0; k--) {
                    w[i][k] = c * ((k ? k * w[j][k - 1] : 0) - previous * w[j][k]) / product;
                }
            }
            for (int k = 2; k >= 0; k--) {
                w[j][k] = (distance * w[j][k] - (k ? k * w[j][k - 1] : 0)) / gap;
            }
        }
        c = product;
    }
    for (size_t i = 0; i < count; i++) {
        first[i] = w[i][1], second[i] = w[i][2];
    }
}

/* Finds the rows that the polynomial for row i passes through: as many as `points`, if there are so many, with i in the
 * middle where possible. Stores the first; returns their number. */
static size_t stencil(size_t n, size_t i, size_t points, size_t *first) {
    size_t count = points < n ? points : n, half = count / 2;
    *first = i < half ? 0 : i - half;
    *first = *first + count > n ? n - count : *first;
    return count;
}

/* ---- Quintic splines of one coordinate --------------------------------------------------------------------------- */

/* Computes the rates of row i by the polynomial through the rows around it. */
static void polynomial_rates(const coordinate_rows *x, size_t points, size_t i) {
    size_t first, count = stencil(x->n, i, points, &first);
    double by_v[MOST_POINTS], by_a[MOST_POINTS], v = 0, a = 0, here = x->q[i * x->q_stride];
    derivative_weights(count, x->t + first, x->t[i], by_v, by_a);
    for (size_t p = 0; p < count; p++) {
        double increment = x->q[(first + p) * x->q_stride] - here;
        v += by_v[p] * increment;
        a += by_a[p] * increment;
    }
    x->v[i * x->v_stride] = v;
    x->a[i * x->v_stride] = a;
}

static void whole_quintic_spline(const coordinate_rows *x, bool is_at_rest, double *scratch) {
    for (size_t k = 0; k < 2; k++) {
        size_t i = k ? x->n - 1 : 0;
        if (is_at_rest) {
            x->v[i * x->v_stride] = x->a[i * x->v_stride] = 0;
        } else {
            polynomial_rates(x, 6, i);
        }
    }
    quintic_spline(x, scratch);
}

/* ---- All coordinates --------------------------------------------------------------------------------------------- */

static bool is_curved(const dyn_joint *joint) {
    return !dyn_joint_type_traits(joint->type)->is_flat;
}

/* Rows of positions at the times t, and their rates. */
typedef struct motion_rows {
    const dyn_model *model;
    size_t n;
    const double *t, *q;
    double *v, *a;
} motion_rows;

/* Computes the rates of a joint in row i, from as many rows as `points`. */
static void joint_rates(const motion_rows *x, const dyn_joint *joint, size_t points, size_t i) {
    const double *t = x->t, *q = x->q;
    double *v = x->v, *a = x->a;
    size_t nq = (size_t)x->model->nq, nv = (size_t)x->model->nv, first;
    size_t count = stencil(x->n, i, points, &first);
    double by_v[MOST_POINTS], by_a[MOST_POINTS], *rate = v + i * nv + joint->v_index,
                                                 *second = a + i * nv + joint->v_index;
    derivative_weights(count, t + first, t[i], by_v, by_a);
    for (int k = 0; k < joint->nv; k++) {
        rate[k] = second[k] = 0;
    }
    for (size_t p = 0; p < count; p++) {
        double increment[MOST_JOINT_NV];
        dyn_joint_difference(joint, q + i * nq + joint->q_index, q + (first + p) * nq + joint->q_index, increment);
        for (int k = 0; k < joint->nv; k++) {
            rate[k] += by_v[p] * increment[k];
            second[k] += by_a[p] * increment[k];
        }
    }
}

/* Computes the rates of one coordinate of a joint without curvature by a spline. */
static void spline_rates(const coordinate_rows *x, dyn_rates method, double *scratch) {
    switch (method) {
    case DYN_RATES_SPLINE:
    case DYN_RATES_SPLINE_AT_REST:
        cubic_spline(x, method == DYN_RATES_SPLINE_AT_REST);
        break;
    default:
        whole_quintic_spline(x, method == DYN_RATES_QUINTIC_AT_REST, scratch);
        break;
    }
}

static void all_rates(const dyn_model *model, size_t n, const double *t, const double *q, dyn_rates method,
                      double *scratch, double *v, double *a) {
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    bool is_quintic = method == DYN_RATES_QUINTIC || method == DYN_RATES_QUINTIC_AT_REST;
    bool is_spline = is_quintic || method == DYN_RATES_SPLINE || method == DYN_RATES_SPLINE_AT_REST;
    const motion_rows rows = {model, n, t, q, v, a};
    size_t points = is_quintic ? 7 : method == DYN_RATES_CENTRAL ? 3 : 5;
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        if (is_spline && !is_curved(joint)) {
            for (int k = 0; k < joint->nv; k++) {
                size_t at = (size_t)(joint->v_index + k);
                const coordinate_rows x = {n, nq, nv, t, q + joint->q_index + k, v + at, a + at};
                spline_rates(&x, method, scratch);
            }
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            joint_rates(&rows, joint, points, i);
        }
    }
}

/* Returns the index of the time that ends the shortest interval. */
static size_t end_of_shortest(size_t n, const double *t) {
    size_t end = 1;
    for (size_t i = 2; i < n; i++) {
        end = t[i] - t[i - 1] < t[end] - t[end - 1] ? i : end;
    }
    return end;
}

/* Checks that all rates are finite. Accelerations grow as x / h^2, so that short intervals make them overflow. */
static dyn_status check_rates(size_t n, size_t nv, const double *t, const double *v, const double *a,
                              dyn_error *error) {
    for (size_t k = 0; k < n * nv; k++) {
        if (!isfinite(v[k]) || !isfinite(a[k])) {
            size_t end = end_of_shortest(n, t);
            const dyn_error_site site = {.cause = DYN_CAUSE_OVERFLOW,
                                         .argument = "time",
                                         .has_index = true,
                                         .index = end,
                                         .has_sample = true,
                                         .sample = k / nv};
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                                "the rates are beyond the range of double precision; pass longer intervals than the "
                                "%g s before this time, or smaller changes of q",
                                t[end] - t[end - 1]);
        }
    }
    return DYN_OK;
}

dyn_status dyn_derive_rates(const dyn_model *model, size_t n, const double *time, const double *q, dyn_rates method,
                            double *v, double *a, dyn_error *error) {
    size_t nv = (size_t)model->nv;
    dyn_status status = dyn_check_configuration(model, "q", n, q, error);
    if (status == DYN_OK) {
        status = check_times(n, time, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    if (n < 2) {
        memset(v, 0, n * nv * sizeof *v);
        memset(a, 0, n * nv * sizeof *a);
        return DYN_OK;
    }
    double *scratch = NULL;
    if (method == DYN_RATES_QUINTIC || method == DYN_RATES_QUINTIC_AT_REST) {
        scratch = calloc(n, QUINTIC_SCRATCH * sizeof *scratch);
        if (!scratch) {
            return dyn_error_memory(error);
        }
    }
    all_rates(model, n, time, q, method, scratch, v, a);
    free(scratch);
    return check_rates(n, nv, time, v, a, error);
}
