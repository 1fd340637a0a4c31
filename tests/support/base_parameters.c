/* SPDX-License-Identifier: BSD-2-Clause */
#include "base_parameters.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <dynamics/dynamics.h>

#include "assertions.h"
#include "random_tree.h"

enum { LINK = 10, STATES = 3 };

/* Returns the torque regressors Y at n random states, one below the other. The caller frees the array. */
static double *stack_regressors(random_source *random, const dyn_model *model, const double *gravity, size_t n) {
    dyn_error error;
    dyn_workspace *w = NULL;
    size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
    size_t width = (size_t)dyn_model_parameter_count(model);
    double *q = numbers(n * nq), *v = numbers(n * nv), *a = numbers(n * nv), *Y = numbers(n * nv * width);
    for (size_t s = 0; s < n; s++) {
        random_configuration(random, model, 2, q + s * nq);
    }
    random_vector(random, (int)(n * nv), 1, v);
    random_vector(random, (int)(n * nv), 1, a);
    require(dyn_workspace_create(model, &w, &error), &error);
    require(dyn_torque_regressor(model, w, n, gravity, q, v, a, Y, &error), &error);
    dyn_workspace_free(w);
    free(q), free(v), free(a);
    return Y;
}

static int kind_of(size_t column) {
    return column % LINK == 0 ? 0 : column % LINK <= 3 ? 1 : 2;
}

/* Scales the columns of each kind of parameter so that their largest entry is one, but never scales small ones up:
 * velocities, accelerations and displacements are of the order of one, so a kind whose entries are all rounding errors
 * stays small. */
static void scale_columns(size_t rows, size_t columns, double *A) {
    double largest[3] = {1, 1, 1};
    for (size_t i = 0; i < rows * columns; i++) {
        int kind = kind_of(i % columns);
        largest[kind] = fmax(largest[kind], fabs(A[i]));
    }
    for (size_t i = 0; i < rows * columns; i++) {
        A[i] /= largest[kind_of(i % columns)];
    }
}

/* Returns the length of the longest column of A, and stores the column's index in `longest`. */
static double find_longest(size_t rows, size_t columns, const double *A, size_t *longest) {
    double best = -1;
    for (size_t c = 0; c < columns; c++) {
        double square = 0;
        for (size_t i = 0; i < rows; i++) {
            square += A[i * columns + c] * A[i * columns + c];
        }
        if (square > best) {
            best = square, *longest = c;
        }
    }
    return sqrt(best);
}

/* Makes all other columns of A perpendicular to column `from`, whose length is `length`, and sets column `from` to
 * zero. Two passes reduce the rounding error. `along` is scratch memory of `columns` numbers. */
static void remove_direction(size_t rows, size_t columns, size_t from, double length, double *A, double *along) {
    for (size_t i = 0; i < rows; i++) {
        A[i * columns + from] /= length;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (size_t c = 0; c < columns; c++) {
            along[c] = 0;
        }
        for (size_t i = 0; i < rows; i++) {
            for (size_t c = 0; c < columns; c++) {
                along[c] += A[i * columns + from] * A[i * columns + c];
            }
        }
        along[from] = 0;
        for (size_t i = 0; i < rows; i++) {
            for (size_t c = 0; c < columns; c++) {
                A[i * columns + c] -= along[c] * A[i * columns + from];
            }
        }
    }
    for (size_t i = 0; i < rows; i++) {
        A[i * columns + from] = 0;
    }
}

/* Returns the numerical rank of A by Gram-Schmidt with column pivoting, which overwrites A. Fails the test if the
 * remaining columns are not a hundred times shorter than the last one that counts. */
static int rank_of(const char *name, size_t rows, size_t columns, double *A) {
    double *along = numbers(columns), shortest = 1, length = 0;
    size_t longest = 0;
    int rank = 0;
    scale_columns(rows, columns, A);
    while ((size_t)rank < columns && (length = find_longest(rows, columns, A, &longest)) > 1e-10) {
        remove_direction(rows, columns, longest, length, A, along);
        shortest = length;
        rank++;
    }
    ck_assert_msg((size_t)rank == columns || shortest > 100 * length,
                  "%s: the rank is not certain: column %d has length %g, the next one %g", name, rank, shortest,
                  length);
    free(along);
    return rank;
}

/* Returns true if the model has a joint without a velocity of its own. The parameters of a link beyond such a joint may
 * change one torque alone, so that a state adds only one useful row to the regressor. */
static bool has_coupling(const dyn_model *model) {
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        if (dyn_model_joint(model, j)->nv == 0) {
            return true;
        }
    }
    return false;
}

void check_base_count(random_source *random, const char *name, const dyn_model *model, const double *gravity,
                      const dyn_base_parameters *grouping) {
    size_t width = (size_t)dyn_model_parameter_count(model), nv = (size_t)dyn_model_nv(model);
    size_t n = has_coupling(model) ? width + 8 : 2 * width / (nv > 0 ? nv : 1) + 8;
    double *Y = stack_regressors(random, model, gravity, n);
    int rank = rank_of(name, n * nv, width, Y), count = dyn_base_parameters_count(grouping);
    ck_assert_msg(count == rank, "%s: %d base parameters, rank %d", name, count, rank);
    free(Y);
}

/* Checks that the columns of the base parameters ascend, that B has ones there, and that b = B p. */
static void check_matrix(const dyn_base_parameters *grouping, size_t width, const double *p, const double *b) {
    dyn_error error;
    size_t count = (size_t)dyn_base_parameters_count(grouping);
    const int *columns = dyn_base_parameters_columns(grouping);
    double *B = numbers(count * width), *b_again = numbers(count);
    require(dyn_base_parameters_matrix(grouping, B, &error), &error);
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_eq(B[i * width + (size_t)columns[i]], 1);
        ck_assert(i == 0 || columns[i] > columns[i - 1]);
        for (size_t c = 0; c < width; c++) {
            b_again[i] += B[i * width + c] * p[c];
        }
    }
    assert_close("B p", 0, b, b_again, count, 1e-10);
    free(B), free(b_again);
}

void check_base_torques(random_source *random, const char *name, const dyn_model *model, const double *gravity,
                        const dyn_base_parameters *grouping) {
    dyn_error error;
    size_t width = (size_t)dyn_model_parameter_count(model), count = (size_t)dyn_base_parameters_count(grouping);
    size_t rows = STATES * (size_t)dyn_model_nv(model);
    const int *columns = dyn_base_parameters_columns(grouping);
    double *Y = stack_regressors(random, model, gravity, STATES), *p = numbers(width), *b = numbers(count);
    double *tau = numbers(rows), *reduced = numbers(rows);
    random_vector(random, (int)width, 1, p);
    require(dyn_base_parameters_reduce(grouping, p, b, &error), &error);
    check_matrix(grouping, width, p, b);
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < width; c++) {
            tau[i] += Y[i * width + c] * p[c];
        }
        for (size_t c = 0; c < count; c++) {
            reduced[i] += Y[i * width + (size_t)columns[c]] * b[c];
        }
    }
    assert_norm_close(name, 0, reduced, tau, rows, 1e-10);
    free(Y), free(p), free(b), free(tau), free(reduced);
}
