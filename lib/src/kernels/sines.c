/*
 * Sines and cosines of many angles at once, with an error below 1 unit in the last place.
 *
 * An angle is k pi/2 + r with |r| <= pi/4: pi/2 is taken off in three parts, the first two of which have 33 bits, so that
 * k times them is exact (Cody and Waite 1980). What r loses to rounding is kept beside it as `rest`. Polynomials give sin r and cos r (FreeBSD's msun, k_sin.c and k_cos.c),
 * and k says which is which, and their signs. Angles for which k would be too large are left to libm.
 *
 * Each angle has the same bits in every lane, so that a sample's result does not depend on its place in a batch.
 */
#include "instance.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined __AVX512F__
enum { PACK = 8 };
#elif defined __AVX2__
enum { PACK = 4 };
#else
enum { PACK = 2 };
#endif

#if defined __x86_64__
#include <immintrin.h>
#endif

typedef double pack __attribute__((vector_size(8 * PACK)));
typedef int64_t pack_bits __attribute__((vector_size(8 * PACK)));

/* Largest angle: k has 19 bits. */
static const double largest_angle = 8e5;

static inline pack pack_set(double x) {
    const pack zero = {0};
    return x - zero;
}

/* a b + c, as real_fma. */
static inline pack pack_fma(pack a, pack b, pack c) {
#if defined __AVX512F__
    return _mm512_fmadd_pd(a, b, c);
#elif defined __AVX2__ && defined __FMA__
    return _mm256_fmadd_pd(a, b, c);
#else
    return a * b + c;
#endif
}

/* Whether the size of any angle is beyond the largest. */
static inline int any_is_large(pack x) {
    pack_bits beyond = (x > pack_set(largest_angle)) | (x < pack_set(-largest_angle));
#if defined __AVX512F__
    return _mm512_movepi64_mask((__m512i)beyond) != 0;
#elif defined __AVX2__
    return _mm256_movemask_pd((__m256d)beyond) != 0;
#else
    return (beyond[0] | beyond[1]) != 0;
#endif
}

/* a where the mask is all ones, b where it is zero. */
static inline pack choose(pack_bits mask, pack a, pack b) {
    return (pack)((mask & (pack_bits)a) | (~mask & (pack_bits)b));
}

/* sin(r + rest), with z = r^2 */
static inline pack sine_polynomial(pack r, pack rest, pack z) {
    pack p = pack_set(1.58969099521155010221e-10);
    p = pack_fma(p, z, pack_set(-2.50507602534068634195e-08));
    p = pack_fma(p, z, pack_set(2.75573137070700676789e-06));
    p = pack_fma(p, z, pack_set(-1.98412698298579493134e-04));
    p = pack_fma(p, z, pack_set(8.33333333332248946124e-03));
    p = pack_fma(p, z, pack_set(-1.66666666666666324348e-01));
    return r + pack_fma(z * r, p, rest);
}

/* cos(r + rest); what 1 - z/2 loses to rounding is added again. */
static inline pack cosine_polynomial(pack r, pack rest, pack z) {
    pack p = pack_set(-1.13596475577881948265e-11);
    p = pack_fma(p, z, pack_set(2.08757232129817482790e-09));
    p = pack_fma(p, z, pack_set(-2.75573143513906633035e-07));
    p = pack_fma(p, z, pack_set(2.48015872894767294178e-05));
    p = pack_fma(p, z, pack_set(-1.38888888888741095749e-03));
    p = pack_fma(p, z, pack_set(4.16666666666666019037e-02));
    pack one = pack_set(1), half = pack_set(0.5) * z, w = one - half;
    return w + pack_fma(z * z, p, pack_fma(-r, rest, (one - w) - half));
}

/* Angles of a pack; none is large. */
static inline void sincos_pack(pack x, pack *sine, pack *cosine) {
    /* Adding 1.5 * 2^52 rounds to an integer, and leaves it in the low bits. */
    const pack shift = pack_set(0x1.8p52);
    pack shifted = pack_fma(x, pack_set(0.63661977236758134308), shift), k = -(shifted - shift);
    pack_bits quadrant = (pack_bits)shifted;
    pack x_1 = pack_fma(k, pack_set(1.57079632673412561417), x);
    pack x_2 = pack_fma(k, pack_set(6.07710050630396597660e-11), x_1), k_3 = k * pack_set(2.02226624879595063154e-21);
    pack r = x_2 + k_3, rest = ((x_1 - x_2) + k * pack_set(6.07710050630396597660e-11)) + ((x_2 - r) + k_3);
    pack z = r * r, s = sine_polynomial(r, rest, z), c = cosine_polynomial(r, rest, z);
    pack_bits is_odd = -(quadrant & 1);
    *sine = (pack)((pack_bits)choose(is_odd, c, s) ^ ((quadrant & 2) << 62));
    *cosine = (pack)((pack_bits)choose(is_odd, s, c) ^ (((quadrant + 1) & 2) << 62));
}

/* One pack of angles, some of them large. */
static __attribute__((noinline)) void sincos_large(const double *angle, double *sine, double *cosine) {
    for (int l = 0; l < PACK; l++) {
        if (fabs(angle[l]) > largest_angle) {
            sincos(angle[l], &sine[l], &cosine[l]);
        }
    }
}

static inline void sincos_at(const double *angle, double *sine, double *cosine) {
    pack x, s, c;
    memcpy(&x, angle, sizeof x);
    sincos_pack(x, &s, &c);
    memcpy(sine, &s, sizeof s);
    memcpy(cosine, &c, sizeof c);
    if (any_is_large(x)) {
        sincos_large(angle, sine, cosine);
    }
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

void KERNEL(sines)(const real *angle, int count, real *sine, real *cosine) {
    sincos_all((const double *)angle, (size_t)count * DYN_LANES, (double *)sine, (double *)cosine);
}
