/* SPDX-License-Identifier: BSD-2-Clause */
#include "lane_factors.h"

#include <math.h>
#include <string.h>

#include "../dynamics/carve.h"

/* Least pivot of a regular lane, as a share of its own diagonal entry, and of the largest one. Rows of rounding errors
 * are small beside the others. */
static const double regular_share = 1e-6, largest_share = 1e-10;

size_t lane_factors_lay_out(int m, size_t lanes, uintptr_t base, lane_factors *s) {
    uintptr_t cursor = base;
    s->L = dyn_carve(&cursor, (size_t)m * (size_t)m * lanes * sizeof *s->L);
    s->least = dyn_carve(&cursor, lanes * sizeof *s->least);
    s->regular = dyn_carve(&cursor, lanes);
    return cursor - base;
}

/* Computes x -= a b in all lanes. */
static inline void subtract_product(size_t lanes, const double *restrict a, const double *restrict b,
                                    double *restrict x) {
    for (size_t l = 0; l < lanes; l++) {
        x[l] -= a[l] * b[l];
    }
}

/* Replaces the pivots of row i by the reciprocals of their roots. Returns whether a lane is still regular. */
static bool take_pivots(size_t lanes, const double *own, lane_factors *s, double *pivots) {
    bool any = false;
    for (size_t l = 0; l < lanes; l++) {
        bool is_regular = s->regular[l] && pivots[l] > regular_share * own[l] && pivots[l] > s->least[l];
        s->regular[l] = is_regular;
        pivots[l] = is_regular ? 1 / sqrt(pivots[l]) : 1;
        any = any || is_regular;
    }
    return any;
}

void lane_factors_find(int m, size_t lanes, const double *R, lane_factors *s) {
    memset(s->regular, 1, lanes);
    for (size_t l = 0; l < lanes; l++) {
        s->least[l] = 0;
        for (int i = 0; i < m; i++) {
            s->least[l] = fmax(s->least[l], largest_share * R[(size_t)(i * m + i) * lanes + l]);
        }
    }
    for (int i = 0; i < m; i++) {
        double *row = s->L + (size_t)(i * m) * lanes;
        memcpy(row, R + (size_t)(i * m) * lanes, (size_t)(i + 1) * lanes * sizeof *row);
        for (int j = 0; j <= i; j++) {
            const double *other = s->L + (size_t)(j * m) * lanes;
            double *entry = row + (size_t)j * lanes;
            for (int k = 0; k < j; k++) {
                subtract_product(lanes, row + (size_t)k * lanes,
                                 j < i ? other + (size_t)k * lanes : row + (size_t)k * lanes, entry);
            }
            for (size_t l = 0; l < lanes && j < i; l++) {
                entry[l] *= other[(size_t)j * lanes + l];
            }
        }
        if (!take_pivots(lanes, R + (size_t)(i * m + i) * lanes, s, row + (size_t)i * lanes)) {
            return;
        }
    }
}

void lane_factors_solve(int m, size_t lanes, const lane_factors *s, size_t lane, const double *b, double *x) {
    for (int i = 0; i < m; i++) {
        const double *row = s->L + (size_t)(i * m) * lanes + lane;
        double sum = b[i];
        for (int j = 0; j < i; j++) {
            sum -= row[(size_t)j * lanes] * x[j];
        }
        x[i] = sum * row[(size_t)i * lanes];
    }
    for (int i = m - 1; i >= 0; i--) {
        double sum = x[i];
        for (int j = i + 1; j < m; j++) {
            sum -= s->L[(size_t)(j * m + i) * lanes + lane] * x[j];
        }
        x[i] = sum * s->L[(size_t)(i * m + i) * lanes + lane];
    }
}
