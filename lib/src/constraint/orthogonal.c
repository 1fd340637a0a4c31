/* SPDX-License-Identifier: BSD-2-Clause */
#include "orthogonal.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double rank_tolerance = 1e-9;

double orthogonal_product(int length, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < length; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static void subtract(int length, double factor, const double *direction, double *vector) {
    for (int i = 0; i < length; i++) {
        vector[i] -= factor * direction[i];
    }
}

void orthogonal_remove(int length, int rank, const double *basis, double *vector) {
    for (int k = 0; k < rank; k++) {
        const double *direction = basis + k * length;
        subtract(length, orthogonal_product(length, direction, vector), direction, vector);
    }
}

/* Returns the vector with the largest remainder, and marks those that depend on the basis; -1 for none. */
static int choose(orthogonal *o, double largest) {
    int best = -1;
    double most = 0;
    for (int i = 0; i < o->count; i++) {
        const double *v = o->vectors + i * o->length;
        double size = o->done[i] ? 0 : sqrt(orthogonal_product(o->length, v, v));
        o->done[i] = o->done[i] || !(size > rank_tolerance * o->norms[i]) || !(size > rank_tolerance * largest);
        if (!o->done[i] && size > most) {
            best = i, most = size;
        }
    }
    return best;
}

int orthogonal_find(orthogonal *o) {
    int rank = 0, length = o->length;
    double largest = 0;
    for (int i = 0; i < o->count; i++) {
        o->done[i] = false;
        largest = fmax(largest, o->norms[i]);
    }
    for (int pivot; rank < length && (pivot = choose(o, largest)) >= 0; rank++) {
        double *direction = o->basis + rank * length, *c = o->coefficients + rank * o->count;
        memcpy(direction, o->vectors + pivot * length, (size_t)length * sizeof *direction);
        orthogonal_remove(length, rank, o->basis, direction);
        double size = sqrt(orthogonal_product(length, direction, direction));
        for (int i = 0; i < length; i++) {
            direction[i] /= size;
        }
        for (int i = 0; i < o->count; i++) {
            double *v = o->vectors + i * length;
            c[i] = i == pivot ? size : o->done[i] ? 0 : orthogonal_product(length, direction, v);
            subtract(length, i == pivot ? 0 : c[i], direction, v);
        }
        o->pivots[rank] = pivot;
        o->done[pivot] = true;
    }
    return rank;
}
