/*
 * Sines and cosines of many angles at once, with an error below 1 unit in the last place: of doubles by straight-line
 * code where the processor has fused multiplication, and by the vector functions of SLEEF for large angles and
 * elsewhere. Both give an angle the same bits in every lane, so that a sample's result does not depend on its place in
 * a batch.
 */
#include "instance.h"

#include <math.h>
#include <string.h>

#if defined DYN_VECTOR_SINES

#include <sleef.h>

#if defined DYN_FLOAT && defined __AVX512F__
#define PACK 16
typedef __m512 pack;
typedef Sleef___m512_2 pack_pair;
#define PACK_SINCOS Sleef_finz_sincosf16_u10avx512f
#elif defined DYN_FLOAT && defined __AVX2__
#define PACK 8
typedef __m256 pack;
typedef Sleef___m256_2 pack_pair;
#define PACK_SINCOS Sleef_finz_sincosf8_u10avx2
#elif defined DYN_FLOAT && defined __aarch64__
#define PACK 4
typedef float32x4_t pack;
typedef Sleef_float32x4_t_2 pack_pair;
#define PACK_SINCOS Sleef_finz_sincosf4_u10advsimd
#elif defined __aarch64__
#define PACK 2
typedef float64x2_t pack;
typedef Sleef_float64x2_t_2 pack_pair;
#define PACK_SINCOS Sleef_finz_sincosd2_u10advsimd
#elif defined DYN_FLOAT
#define PACK 4
typedef __m128 pack;
typedef Sleef___m128_2 pack_pair;
#define PACK_SINCOS Sleef_cinz_sincosf4_u10sse2
#else

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

#endif

#if defined DYNAMICS_KERNELS_SINCOS_PACK_H && PACK > 2

/* Some of the angles are large. */
static __attribute__((noinline)) void sincos_large(pack x, pack_bits beyond, pack *sine, pack *cosine) {
    pack_pair y = PACK_SINCOS(x);
    *sine = (pack)((beyond & (pack_bits)y.x) | (~beyond & (pack_bits)*sine));
    *cosine = (pack)((beyond & (pack_bits)y.y) | (~beyond & (pack_bits)*cosine));
}

#endif

static inline void sincos_at(const number *angle, number *sine, number *cosine) {
    pack x, s, c;
    memcpy(&x, angle, sizeof x);
#if defined DYNAMICS_KERNELS_SINCOS_PACK_H && PACK > 2
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
static void sincos_few(const number *angle, size_t count, number *sine, number *cosine) {
    number x[PACK] = {0}, s[PACK], c[PACK];
    memcpy(x, angle, count * sizeof *x);
    sincos_at(x, s, c);
    memcpy(sine, s, count * sizeof *s);
    memcpy(cosine, c, count * sizeof *c);
}

/* The last pack overlaps the one before. */
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

void KERNEL(sines)(const real *angle, int count, real *sine, real *cosine) {
    sincos_all((const number *)angle, (size_t)count * DYN_LANES, (number *)sine, (number *)cosine);
}
