/*
 * Samples into lanes and back, and the search for NaN and infinity.
 */
#include "instance.h"

#include <stdint.h>
#include <string.h>

void KERNEL(pack)(const double *rows, size_t stride, size_t width, size_t count, void *packed) {
    const double *row[DYN_LANES];
    real *out = (real *)packed;
    for (size_t l = 0; l < DYN_LANES; l++) {
        row[l] = rows + (l < count ? l : count - 1) * stride;
    }
    for (size_t i = 0; i < width; i++) {
        double lanes[DYN_LANES];
        for (size_t l = 0; l < DYN_LANES; l++) {
            lanes[l] = row[l][i];
        }
        memcpy(&out[i], lanes, sizeof lanes);
    }
}

void KERNEL(unpack)(const void *packed, size_t width, size_t count, double *rows) {
    const double *in = (const double *)packed;
    for (size_t l = 0; l < count; l++) {
        for (size_t i = 0; i < width; i++) {
            rows[l * width + i] = in[i * DYN_LANES + l];
        }
    }
}

/* The exponent of NaN and infinity is all ones: one more and it runs over into the sign. */
int KERNEL(all_finite)(const double *x, size_t count) {
    uint64_t overflow = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        overflow |= (bits & 0x7ff0000000000000u) + 0x0010000000000000u;
    }
    return !(overflow >> 63);
}
