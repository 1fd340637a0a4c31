/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sines and cosines of a pack of angles, with an error below 1 unit in the last place. Processors with fused
 * multiplication use code without branches (sincos_pack.h). Large angles and other processors use the vector functions
 * of SLEEF. Both compute the same bits for an angle in every lane, so that the result of a sample does not depend on
 * its place in a batch. Only instances with DYN_VECTOR_SINES have packs.
 */
#ifndef DYNAMICS_KERNELS_SINES_H
#define DYNAMICS_KERNELS_SINES_H

#include "instance.h"

#if defined DYN_VECTOR_SINES

#include <string.h>

#include <sleef.h>

#if defined __aarch64__ && defined DYN_FLOAT
#define PACK 4
typedef float32x4_t pack;
typedef Sleef_float32x4_t_2 pack_pair;
#define PACK_SINCOS Sleef_finz_sincosf4_u10advsimd
#elif defined __aarch64__
#define PACK 2
typedef float64x2_t pack;
typedef Sleef_float64x2_t_2 pack_pair;
#define PACK_SINCOS Sleef_finz_sincosd2_u10advsimd
#else

#if defined DYN_FLOAT
#include "sincos_pack_float.h"
#else
#include "sincos_pack.h"
#endif

/* PACK is defined if the processor has fused multiplication. */
#if defined PACK
#define PACK_IS_STRAIGHT
#elif defined DYN_FLOAT
#define PACK 4
typedef __m128 pack;
#else
#define PACK 2
typedef __m128d pack;
#endif

#if defined DYN_FLOAT && PACK == 16
typedef Sleef___m512_2 pack_pair;
#define PACK_SINCOS Sleef_finz_sincosf16_u10avx512f
#elif defined DYN_FLOAT && PACK == 8
typedef Sleef___m256_2 pack_pair;
#define PACK_SINCOS Sleef_finz_sincosf8_u10avx2
#elif defined DYN_FLOAT && defined PACK_IS_STRAIGHT
typedef Sleef___m128_2 pack_pair;
#define PACK_SINCOS Sleef_finz_sincosf4_u10avx2128
#elif defined DYN_FLOAT
typedef Sleef___m128_2 pack_pair;
#define PACK_SINCOS Sleef_cinz_sincosf4_u10sse2
#elif PACK == 8
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

#if defined PACK_IS_STRAIGHT

/* Returns sine and cosine of a pack of angles: SLEEF's for the large angles that `beyond` marks, and the given ones for
 * the others. */
static __attribute__((noinline)) pack_pair sincos_large(pack x, pack_bits beyond, pack sine, pack cosine) {
    pack_pair y = PACK_SINCOS(x);
    y.x = (pack)((beyond & (pack_bits)y.x) | (~beyond & (pack_bits)sine));
    y.y = (pack)((beyond & (pack_bits)y.y) | (~beyond & (pack_bits)cosine));
    return y;
}

#endif

/* Computes sines and cosines of the angles of one pack. */
static inline void sincos_at(const number *angle, number *sine, number *cosine) {
    pack x, s, c;
    memcpy(&x, angle, sizeof x);
#if defined PACK_IS_STRAIGHT
    sincos_pack(x, &s, &c);
    pack_bits beyond = pack_beyond(x);
    if (pack_any(beyond)) {
        pack_pair y = sincos_large(x, beyond, s, c);
        s = y.x, c = y.y;
    }
#else
    pack_pair y = PACK_SINCOS(x);
    s = y.x, c = y.y;
#endif
    memcpy(sine, &s, sizeof s);
    memcpy(cosine, &c, sizeof c);
}

/* Number of reals in a pack. */
enum { REALS_OF_PACK = PACK / DYN_LANES };

#endif

#endif
