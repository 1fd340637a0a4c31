/*
 * Sines and cosines of many angles at once, by the vector functions of SLEEF (error below 1 unit in the last place).
 * These give an angle the same bits in every lane, so that a sample's result does not depend on its place in a batch.
 */
#include "instance.h"

#include <math.h>
#include <string.h>

#if defined __x86_64__ && defined DYN_VECTOR_SINES

#include <sleef.h>

#if defined __AVX512F__
typedef __m512d pack;
typedef Sleef___m512d_2 pack_pair;
#define PACK_SINCOS Sleef_finz_sincosd8_u10avx512f
#elif defined __AVX2__
typedef __m256d pack;
typedef Sleef___m256d_2 pack_pair;
#define PACK_SINCOS Sleef_finz_sincosd4_u10avx2
#else
typedef __m128d pack;
typedef Sleef___m128d_2 pack_pair;
#define PACK_SINCOS Sleef_cinz_sincosd2_u10sse2
#endif

enum { PACK = sizeof(pack) / sizeof(double) };

static inline void sincos_pack(const double *angle, double *sine, double *cosine) {
    pack x;
    memcpy(&x, angle, sizeof x);
    pack_pair y = PACK_SINCOS(x);
    memcpy(sine, &y.x, sizeof y.x);
    memcpy(cosine, &y.y, sizeof y.y);
}

/* Fewer angles than a pack has; what is missing is taken as zero. */
static void sincos_few(const double *angle, size_t count, double *sine, double *cosine) {
    double x[PACK] = {0}, s[PACK], c[PACK];
    memcpy(x, angle, count * sizeof *x);
    sincos_pack(x, s, c);
    memcpy(sine, s, count * sizeof *s);
    memcpy(cosine, c, count * sizeof *c);
}

/* The last pack overlaps the one before. */
static inline void sincos_all(const double *angle, size_t count, double *sine, double *cosine) {
    size_t i = 0;
    for (; i + PACK <= count; i += PACK) {
        sincos_pack(angle + i, sine + i, cosine + i);
    }
    if (i < count && count >= PACK) {
        i = count - PACK;
        sincos_pack(angle + i, sine + i, cosine + i);
    } else if (i < count) {
        sincos_few(angle, count, sine, cosine);
    }
}

#else

static void sincos_all(const double *angle, size_t count, double *sine, double *cosine) {
    for (size_t i = 0; i < count; i++) {
        sincos(angle[i], &sine[i], &cosine[i]);
    }
}

#endif

void KERNEL(sines)(const real *angle, int count, real *sine, real *cosine) {
    sincos_all((const double *)angle, (size_t)count * DYN_LANES, (double *)sine, (double *)cosine);
}
