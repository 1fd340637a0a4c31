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

/* Up to one pack of angles; what is missing is taken as zero. */
static inline void sincos_pack(const double *angle, size_t count, double *sine, double *cosine) {
    pack x = {0};
    memcpy(&x, angle, count * sizeof(double));
    pack_pair y = PACK_SINCOS(x);
    memcpy(sine, &y.x, count * sizeof(double));
    memcpy(cosine, &y.y, count * sizeof(double));
}

static void sincos_all(const double *angle, size_t count, double *sine, double *cosine) {
    const size_t width = sizeof(pack) / sizeof(double);
    size_t i = 0;
    for (; i + width <= count; i += width) {
        sincos_pack(angle + i, width, sine + i, cosine + i);
    }
    if (i < count) {
        sincos_pack(angle + i, count - i, sine + i, cosine + i);
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
