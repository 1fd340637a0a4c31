/* SPDX-License-Identifier: BSD-2-Clause */
#include "elimination.h"

#include <math.h>

/* Relative difference below which two entries count as equal in size: rounding decides which one is larger. */
static const double tie = 1e-9;

/* Returns the largest absolute value of a column from row `from` on, and stores its row. */
static double largest_of(size_t rows, size_t columns, size_t from, size_t column, const double *A, size_t *row) {
    double largest = -1;
    for (size_t i = from; i < rows; i++) {
        double entry = fabs(A[i * columns + column]);
        if (entry > largest) {
            largest = entry, *row = i;
        }
    }
    return largest;
}

/* Returns the absolute value of the pivot, the largest entry from row and position `from` on, and stores its row and
 * position. Of columns that have an entry of that size, it is in the one with the lowest number. Returns -1 without
 * columns. */
static double find_pivot(size_t rows, size_t columns, size_t from, const double *A, const size_t *order, size_t *row,
                         size_t *position) {
    double largest = -1;
    for (size_t j = from; j < columns; j++) {
        largest = fmax(largest, largest_of(rows, columns, from, order[j], A, row));
    }
    size_t first = columns;
    for (size_t j = from; j < columns; j++) {
        if (order[j] < first && largest_of(rows, columns, from, order[j], A, row) >= largest * (1 - tie)) {
            first = order[j], *position = j;
        }
    }
    return first == columns ? -1 : largest_of(rows, columns, from, first, A, row);
}

static void swap_rows(size_t columns, double *x, double *y) {
    for (size_t j = 0; j < columns; j++) {
        double entry = x[j];
        x[j] = y[j];
        y[j] = entry;
    }
}

/* Turns the pivot's column into that of the identity by row operations. */
static void clear_column(size_t rows, size_t columns, size_t row, size_t column, double *A) {
    double pivot = A[row * columns + column];
    for (size_t j = 0; j < columns; j++) {
        A[row * columns + j] /= pivot;
    }
    for (size_t i = 0; i < rows; i++) {
        double factor = A[i * columns + column];
        for (size_t j = 0; j < columns && i != row; j++) {
            A[i * columns + j] -= factor * A[row * columns + j];
        }
    }
}

size_t eliminate(size_t rows, size_t columns, double noise, double *A, size_t *order) {
    size_t rank = 0, row = 0, position = 0;
    for (size_t j = 0; j < columns; j++) {
        order[j] = j;
    }
    while (rank < rows && rank < columns && find_pivot(rows, columns, rank, A, order, &row, &position) > noise) {
        size_t column = order[position];
        order[position] = order[rank];
        order[rank] = column;
        swap_rows(columns, A + row * columns, A + rank * columns);
        clear_column(rows, columns, rank, column, A);
        rank++;
    }
    return rank;
}
