/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least-squares problem is solved by rotations of its rows into a triangular band, which needs half the digits that
 * its normal equations need.
 */
#include "smoothing.h"

#include <math.h>
#include <string.h>

/* Samples of a divided difference of third order, which is the width of the band. */
enum { WIDTH = 4 };

/* One row of the band and its right-hand side. */
typedef struct band_row {
    double entry[WIDTH], value;
} band_row;

/* Rotates `row`, whose first entry is in column `first`, into the band. */
static void insert_row(size_t n, band_row *band, size_t first, band_row row) {
    for (size_t c = first; c < n && c < first + WIDTH; c++) {
        band_row *to = &band[c];
        double length = hypot(to->entry[0], row.entry[0]);
        if (length > 0) {
            double cosine = to->entry[0] / length, sine = row.entry[0] / length;
            for (int k = 0; k < WIDTH; k++) {
                double a = to->entry[k], b = row.entry[k];
                to->entry[k] = cosine * a + sine * b;
                row.entry[k] = cosine * b - sine * a;
            }
            double a = to->value, b = row.value;
            to->value = cosine * a + sine * b;
            row.value = cosine * b - sine * a;
        }
        memmove(row.entry, row.entry + 1, (WIDTH - 1) * sizeof(double));
        row.entry[WIDTH - 1] = 0;
    }
}

/* Returns the row of the third derivative over the samples from `first` on. The fourth sample after `first` exists. */
static band_row derivative_row(const double *time, size_t first, double cutoff) {
    const double *t = time + first;
    double rate = 2 * acos(-1) * cutoff, scale = 6 * sqrt((t[3] - t[0]) / 3) / (rate * rate * rate);
    band_row row = {.value = 0};
    for (int k = 0; k < WIDTH; k++) {
        row.entry[k] = scale;
        for (int m = 0; m < WIDTH; m++) {
            row.entry[k] /= m == k ? 1 : t[k] - t[m];
        }
    }
    return row;
}

void smooth(size_t n, const double *time, double cutoff, size_t stride, double *x, double *scratch) {
    band_row *band = (band_row *)scratch;
    memset(band, 0, n * sizeof *band);
    for (size_t i = 0; i < n; i++) {
        double before = i > 0 ? time[i] - time[i - 1] : 0, after = i + 1 < n ? time[i + 1] - time[i] : 0;
        double weight = sqrt((before + after) / 2);
        insert_row(n, band, i, (band_row){.entry = {weight}, .value = weight * x[i * stride]});
        if (i + 1 >= WIDTH) {
            insert_row(n, band, i + 1 - WIDTH, derivative_row(time, i + 1 - WIDTH, cutoff));
        }
    }
    for (size_t i = n; i-- > 0;) {
        double rest = band[i].value;
        for (size_t k = 1; k < WIDTH && i + k < n; k++) {
            rest -= band[i].entry[k] * x[(i + k) * stride];
        }
        x[i * stride] = rest / band[i].entry[0];
    }
}
