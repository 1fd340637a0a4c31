/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes sines and cosines of many angles, one pack at a time.
 */
#include "sines.h"

#include <math.h>

#if defined DYN_VECTOR_SINES

/* Computes sines and cosines of fewer angles than fill a pack. The angles of the other lanes are zero. */
static void sincos_few(const number *angle, size_t count, number *sine, number *cosine) {
    number x[PACK] = {0}, s[PACK], c[PACK];
    memcpy(x, angle, count * sizeof *x);
    sincos_at(x, s, c);
    memcpy(sine, s, count * sizeof *s);
    memcpy(cosine, c, count * sizeof *c);
}

/* Computes all angles. The last pack overlaps the one before. */
static inline void sincos_all(const number *angle, size_t count, number *sine, number *cosine) {
    size_t i = 0;
    for (; i + PACK <= count; i += PACK) {
        sincos_at(angle + i, sine + i, cosine + i);
    }
    if (i < count && count >= PACK) {
        i = count - PACK;
        sincos_at(angle + i, sine + i, cosine + i);
    } else if (i < count) {
        sincos_few(angle, count, sine, cosine);
    }
}

#else

static void sincos_all(const number *angle, size_t count, number *sine, number *cosine) {
    for (size_t i = 0; i < count; i++) {
#if defined DYN_FLOAT
        sincosf(angle[i], &sine[i], &cosine[i]);
#else
        sincos(angle[i], &sine[i], &cosine[i]);
#endif
    }
}

#endif

void KERNEL(sines)(const void *angle, int count, void *sine, void *cosine) {
    sincos_all((const number *)angle, (size_t)count * DYN_LANES, (number *)sine, (number *)cosine);
}
