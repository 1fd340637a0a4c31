/*
 * The number type that the algorithms are written over.
 *
 * `real` holds DYN_LANES samples, one in each lane: a double, or a vector of doubles. Arithmetic is by operators; mixed
 * operations with a double broadcast it. All else that an algorithm needs of a number is named here, so that the same
 * source serves every instruction set and every precision. An algorithm branches on the model and never on a real, and
 * stays in the common subset of C and C++, where `real` may be a class: one that counts, or one that writes code.
 *
 * DYN_INSTANCE names the instance that is being compiled; KERNEL(rnea) is the name of rnea in it. DYN_REAL_HEADER names
 * a header that defines `real` and its functions for another type of number, such as complex ones.
 */
#ifndef DYNAMICS_SPATIAL_REAL_H
#define DYNAMICS_SPATIAL_REAL_H

#define KERNEL_PASTE(name, instance) dyn_##name##_##instance
#define KERNEL_EXPAND(name, instance) KERNEL_PASTE(name, instance)
#define KERNEL(name) KERNEL_EXPAND(name, DYN_INSTANCE)

#if defined __x86_64__ && DYN_LANES > 1
#include <immintrin.h>
#endif

#if defined DYN_REAL_HEADER

#include DYN_REAL_HEADER

#elif DYN_LANES == 1

typedef double real;

/* x in every lane. */
static inline real real_set(double x) {
    return x;
}

#else

typedef double real __attribute__((vector_size(8 * DYN_LANES)));

static inline real real_set(double x) {
    const real zero = {0};
    return x - zero;
}

#endif

#if !defined REAL_IS_SYMBOLIC

/* Whether x is the constant c in every state of this robot. Only the expressions of the model compiler know. */
static inline int real_is(real x, double c) {
    (void)x, (void)c;
    return 0;
}

#endif

/* A step of an algorithm that takes its motion type as an argument: inlined with a constant, only its case remains. */
#define KERNEL_STEP static inline __attribute__((always_inline))

#if !defined DYN_REAL_HEADER

/* a b + c, rounded once where the instruction set has a fused instruction. The compiler fuses nothing of its own
 * accord, so that a sample has the same bits in every instance of an instruction set. */
KERNEL_STEP real real_fma(real a, real b, real c) {
#if defined __FMA__ && DYN_LANES == 1
    return __builtin_fma(a, b, c);
#elif defined __FMA__ && DYN_LANES == 4
    return _mm256_fmadd_pd(a, b, c);
#elif defined __AVX512F__ && DYN_LANES == 8
    return _mm512_fmadd_pd(a, b, c);
#else
    return a * b + c;
#endif
}

KERNEL_STEP real real_sqrt(real x) {
#if DYN_LANES == 1
    return __builtin_sqrt(x);
#elif defined __x86_64__ && DYN_LANES == 2
    return _mm_sqrt_pd(x);
#elif defined __AVX__ && DYN_LANES == 4
    return _mm256_sqrt_pd(x);
#elif defined __AVX512F__ && DYN_LANES == 8
    return _mm512_sqrt_pd(x);
#else
    real y = x;
    for (int l = 0; l < DYN_LANES; l++) {
        y[l] = __builtin_sqrt(x[l]);
    }
    return y;
#endif
}

/* a where x > 0, else b. */
KERNEL_STEP real real_where_positive(real x, real a, real b) {
#if DYN_LANES == 1
    return x > 0 ? a : b;
#else
    typedef long long lanes_mask __attribute__((vector_size(8 * DYN_LANES)));
    lanes_mask mask = (lanes_mask)(x > real_set(0));
    return (real)((mask & (lanes_mask)a) | (~mask & (lanes_mask)b));
#endif
}

#endif

#endif
