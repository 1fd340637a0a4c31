/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sine and cosine of a pack of angles in single precision, by the method of sincos_pack.h: with an error below 1 unit
 * in the last place, and the same bits in every lane. PACK is the number of floats in a pack, 4, 8 or 16. It is not
 * defined for processors without fused multiplication and addition. Single samples use 4.
 *
 * Of the three parts of pi/2, P_2 has 15 bits. Below the bound k P_2 is exact, and so is the difference after it if
 * that is small. The polynomials are those of Cephes (Moshier, sinf.c).
 */
#ifndef DYNAMICS_KERNELS_SINCOS_PACK_FLOAT_H
#define DYNAMICS_KERNELS_SINCOS_PACK_FLOAT_H

#if defined __AVX512F__ && DYN_LANES > 1
#define PACK 16
#elif defined __AVX2__ && defined __FMA__ && DYN_LANES > 1
#define PACK 8
#elif defined __AVX2__ && defined __FMA__
#define PACK 4
#endif

#if defined PACK

#include <immintrin.h>

typedef float pack __attribute__((vector_size(4 * PACK)));
typedef int pack_bits __attribute__((vector_size(4 * PACK)));

/* Largest angle that this code reduces exactly. */
#define SINCOS_PACK_BOUND 800.0f

static inline pack pack_set(float x) {
    const pack zero = {0};
    return x - zero;
}

/* Returns a b + c, rounded once. */
static inline pack pack_fma(pack a, pack b, pack c) {
#if PACK == 16
    return _mm512_fmadd_ps(a, b, c);
#elif PACK == 8
    return _mm256_fmadd_ps(a, b, c);
#else
    return _mm_fmadd_ps(a, b, c);
#endif
}

/* Returns a where k is odd, else b. */
static inline pack pack_where_odd(pack_bits k, pack a, pack b) {
#if PACK == 16
    return _mm512_mask_blend_ps(_mm512_test_epi32_mask((__m512i)k, _mm512_set1_epi32(1)), b, a);
#elif PACK == 8
    return _mm256_blendv_ps(b, a, (pack)(k << 31));
#else
    return _mm_blendv_ps(b, a, (pack)(k << 31));
#endif
}

/* Returns -a where k is odd, else b. */
static inline pack pack_minus_where_odd(pack_bits k, pack a, pack b) {
    const pack minus = pack_set(-0.0f);
#if PACK == 16
    return (pack)_mm512_mask_xor_epi32((__m512i)b, _mm512_test_epi32_mask((__m512i)k, _mm512_set1_epi32(1)), (__m512i)a,
                                       (__m512i)minus);
#else
    return pack_where_odd(k, (pack)((pack_bits)a ^ (pack_bits)minus), b);
#endif
}

/* Returns x, or -x where bit 1 of k is set. */
static inline pack pack_turn_sign(pack_bits k, pack x) {
    const pack minus = pack_set(-0.0f);
#if PACK == 16
    return (pack)_mm512_ternarylogic_epi32((__m512i)x, (__m512i)(k << 30), (__m512i)minus, 0x78); /* x ^ (k' & minus) */
#else
    return (pack)((k << 30 & (pack_bits)minus) ^ (pack_bits)x);
#endif
}

/* Returns all ones in lanes whose angle exceeds the bound. */
static inline pack_bits pack_beyond(pack x) {
    return (x > pack_set(SINCOS_PACK_BOUND)) | (x < pack_set(-SINCOS_PACK_BOUND));
}

/* Returns true if any lane of a mask is set. */
static inline int pack_any(pack_bits mask) {
#if PACK == 16
    return _mm512_cmplt_epi32_mask((__m512i)mask, _mm512_setzero_si512()) != 0;
#elif PACK == 8
    return _mm256_movemask_ps((pack)mask) != 0;
#else
    return _mm_movemask_ps((pack)mask) != 0;
#endif
}

static inline void sincos_pack(pack x, pack *sine, pack *cosine) {
    /* Adding 1.5 * 2^23 rounds to an integer, and leaves it in the low bits. */
    const pack shift = pack_set(0x1.8p23f), P_2 = pack_set(0x1.777cp-25f), P_3 = pack_set(-0x1.a308d4p-41f);
    pack shifted = pack_fma(x, pack_set(0x1.45f306p-1f), shift), k = shifted - shift;
    pack r_1 = pack_fma(k, pack_set(-0x1.921fb6p0f), x), r = pack_fma(k, P_2, r_1);
    pack rest = pack_fma(k, P_3, pack_fma(k, P_2, r_1 - r)), z = r * r;

    /* sin r = r + z r (s_0 + z s_1 + z^2 s_2) */
    pack s = pack_fma(z, pack_set(-1.9515295891e-4f), pack_set(8.3321608736e-3f));
    s = pack_fma(z, s, pack_set(-1.6666654611e-1f));
    pack sine_r = r + pack_fma(z * r, s, rest);

    /* cos r = 1 + r (r (-1/2 + z (c_0 + z c_1 + z^2 c_2)) - rest) */
    pack c = pack_fma(z, pack_set(2.443315711809948e-5f), pack_set(-1.388731625493765e-3f));
    c = pack_fma(z, c, pack_set(4.166664568298827e-2f));
    c = pack_fma(z, c, pack_set(-0.5f));
    pack cosine_r = pack_fma(r, pack_fma(r, c, -rest), pack_set(1));

    pack_bits quadrant = (pack_bits)shifted;
    *sine = pack_turn_sign(quadrant, pack_where_odd(quadrant, cosine_r, sine_r));
    *cosine = pack_turn_sign(quadrant, pack_minus_where_odd(quadrant, sine_r, cosine_r));
}

#endif

#endif
