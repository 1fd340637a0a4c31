/*
 * Sines and cosines of many angles at once, with an error below 1 unit in the last place: by straight-line code where
 * the processor has fused multiplication, and by the vector functions of SLEEF for large angles and elsewhere. Both give
 * an angle the same bits in every lane, so that a sample's result does not depend on its place in a batch.
 */
#include "instance.h"

#include <math.h>
#include <string.h>

#if defined __x86_64__ && defined DYN_VECTOR_SINES

#include <sleef.h>

#include "sincos_pack.h"

#if !defined PACK
#define PACK 2
typedef __m128d pack;
#endif

#if PACK == 8
typedef Sleef___m512d_2 pack_pair;
#define PACK_SINCOS Sleef_finz_sincosd8_u10avx512f
#elif PACK == 4
typedef Sleef___m256d_2 pack_pair;
#define PACK_SINCOS Sleef_finz_sincosd4_u10avx2
#else
typedef Sleef___m128d_2 pack_pair;
#define PACK_SINCOS Sleef_cinz_sincosd2_u10sse2
#endif

#if PACK > 2

/* Some of the angles are large. */
static __attribute__((noinline)) void sincos_large(pack x, pack_bits beyond, pack *sine, pack *cosine) {
    pack_pair y = PACK_SINCOS(x);
    *sine = (pack)((beyond & (pack_bits)y.x) | (~beyond & (pack_bits)*sine));
    *cosine = (pack)((beyond & (pack_bits)y.y) | (~beyond & (pack_bits)*cosine));
}

#endif

static inline void sincos_at(const double *angle, double *sine, double *cosine) {
    pack x, s, c;
    memcpy(&x, angle, sizeof x);
#if PACK > 2
    sincos_pack(x, &s, &c);
    pack_bits beyond = pack_beyond(x);
    if (pack_any(beyond)) {
        sincos_large(x, beyond, &s, &c);
    }
#else
    pack_pair y = PACK_SINCOS(x);
    s = y.x, c = y.y;
#endif
    memcpy(sine, &s, sizeof s);
    memcpy(cosine, &c, sizeof c);
}

/* Fewer angles than a pack has; what is missing is taken as zero. */
static void sincos_few(const double *angle, size_t count, double *sine, double *cosine) {
    double x[PACK] = {0}, s[PACK], c[PACK];
    memcpy(x, angle, count * sizeof *x);
    sincos_at(x, s, c);
    memcpy(sine, s, count * sizeof *s);
    memcpy(cosine, c, count * sizeof *c);
}

/* The last pack overlaps the one before. */
static inline void sincos_all(const double *angle, size_t count, double *sine, double *cosine) {
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

static void sincos_all(const double *angle, size_t count, double *sine, double *cosine) {
    for (size_t i = 0; i < count; i++) {
        sincos(angle[i], &sine[i], &cosine[i]);
    }
}

#endif

void KERNEL(sines)(const real *angle, int count, real *sine, real *cosine) {
    sincos_all((const double *)angle, (size_t)count * DYN_LANES, (double *)sine, (double *)cosine);
}
