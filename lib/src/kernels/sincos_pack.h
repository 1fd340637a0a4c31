/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sine and cosine of a pack of angles, with an error below 1 unit in the last place. The code has no branches and needs
 * fused multiplication and addition. PACK is the number of doubles in a pack, 4 or 8. It is not defined for other
 * processors. Single samples use 4, because processors execute fewer other instructions while wide ones are in flight.
 *
 * An angle is k pi/2 + r with |r| <= pi/4 (Cody and Waite 1980). pi/2 is subtracted in three parts. x - k P_1 is exact,
 * since it is a difference of close numbers that is rounded once. P_2 has 33 bits, so that the difference after it is
 * exact if it is small. `rest` is the rounding error of r. Polynomials of r^2 (FreeBSD's msun, k_sin.c and k_cos.c)
 * approximate sin r and cos r. k selects which of them is the sine, and the signs.
 *
 * Each angle has the same bits in every lane. The model compiler copies this file into its output, so that it includes
 * no other file of the project.
 */
#ifndef DYNAMICS_KERNELS_SINCOS_PACK_H
#define DYNAMICS_KERNELS_SINCOS_PACK_H

#if defined __AVX512F__ && defined __AVX512DQ__ && DYN_LANES > 1
#define PACK 8
#elif defined __AVX2__ && defined __FMA__
#define PACK 4
#endif

#if defined PACK

#include <immintrin.h>

typedef double pack __attribute__((vector_size(8 * PACK)));
typedef long long pack_bits __attribute__((vector_size(8 * PACK)));

/* Largest angle that this code reduces exactly: k P_2 is exact below it. */
#define SINCOS_PACK_BOUND 5e5

static inline pack pack_set(double x) {
    const pack zero = {0};
    return x - zero;
}

/* Returns a b + c, rounded once. */
static inline pack pack_fma(pack a, pack b, pack c) {
#if PACK == 8
    return _mm512_fmadd_pd(a, b, c);
#else
    return _mm256_fmadd_pd(a, b, c);
#endif
}

/* Returns a where k is odd, else b. */
static inline pack pack_where_odd(pack_bits k, pack a, pack b) {
#if PACK == 8
    return _mm512_mask_blend_pd(_mm512_test_epi64_mask((__m512i)k, _mm512_set1_epi64(1)), b, a);
#else
    return _mm256_blendv_pd(b, a, (pack)(k << 63));
#endif
}

/* Returns -a where k is odd, else b. */
static inline pack pack_minus_where_odd(pack_bits k, pack a, pack b) {
    const pack minus = pack_set(-0.0);
#if PACK == 8
    return _mm512_mask_xor_pd(b, _mm512_test_epi64_mask((__m512i)k, _mm512_set1_epi64(1)), a, minus);
#else
    return pack_where_odd(k, (pack)((pack_bits)a ^ (pack_bits)minus), b);
#endif
}

/* Returns x, or -x where bit 1 of k is set. */
static inline pack pack_turn_sign(pack_bits k, pack x) {
    const pack minus = pack_set(-0.0);
#if PACK == 8
    return (pack)_mm512_ternarylogic_epi64((__m512i)x, (__m512i)(k << 62), (__m512i)minus, 0x78); /* x ^ (k' & minus) */
#else
    return (pack)((k << 62 & (pack_bits)minus) ^ (pack_bits)x);
#endif
}

/* Returns all ones in lanes whose angle exceeds the bound. */
static inline pack_bits pack_beyond(pack x) {
    return (x > pack_set(SINCOS_PACK_BOUND)) | (x < pack_set(-SINCOS_PACK_BOUND));
}

/* Returns true if any lane of a mask is set. */
static inline int pack_any(pack_bits mask) {
#if PACK == 8
    return _mm512_movepi64_mask((__m512i)mask) != 0;
#else
    return _mm256_movemask_pd((pack)mask) != 0;
#endif
}

static inline void sincos_pack(pack x, pack *sine, pack *cosine) {
    /* Adding 1.5 * 2^52 rounds to an integer, and leaves it in the low bits. */
    const pack shift = pack_set(0x1.8p52), P_2 = pack_set(-0x1.1a626331p-54), P_3 = pack_set(-0x1.1701b839a252p-88);
    pack shifted = pack_fma(x, pack_set(0x1.45f306dc9c883p-1), shift), k = shifted - shift;
    pack r_1 = pack_fma(k, pack_set(-0x1.921fb54442d18p0), x), r = pack_fma(k, P_2, r_1);
    pack rest = pack_fma(k, P_3, pack_fma(k, P_2, r_1 - r)), z = r * r;

    /* sin r = r + z r s(z), cos r = 1 + r (r c(z) - rest) */
    pack s = pack_fma(z, pack_set(1.58969099521155010221e-10), pack_set(-2.50507602534068634195e-08));
    pack c = pack_fma(z, pack_set(-1.13596475577881948265e-11), pack_set(2.08757232129817482790e-09));
    s = pack_fma(z, s, pack_set(2.75573137070700676789e-06));
    c = pack_fma(z, c, pack_set(-2.75573143513906633035e-07));
    s = pack_fma(z, s, pack_set(-1.98412698298579493134e-04));
    c = pack_fma(z, c, pack_set(2.48015872894767294178e-05));
    s = pack_fma(z, s, pack_set(8.33333333332248946124e-03));
    c = pack_fma(z, c, pack_set(-1.38888888888741095749e-03));
    s = pack_fma(z, s, pack_set(-1.66666666666666324348e-01));
    c = pack_fma(z, c, pack_set(4.16666666666666019037e-02));
    c = pack_fma(z, c, pack_set(-0.5));
    pack sine_r = r + pack_fma(z * r, s, rest), cosine_r = pack_fma(r, pack_fma(r, c, -rest), pack_set(1));

    pack_bits quadrant = (pack_bits)shifted;
    *sine = pack_turn_sign(quadrant, pack_where_odd(quadrant, cosine_r, sine_r));
    *cosine = pack_turn_sign(quadrant, pack_minus_where_odd(quadrant, sine_r, cosine_r));
}

#endif

#endif
