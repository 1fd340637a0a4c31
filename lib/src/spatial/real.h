/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Number type of the algorithms.
 *
 * `real` holds DYN_LANES samples, one number in each lane: a number, or a vector of them. Numbers are doubles, or
 * floats where DYN_FLOAT is defined. Arithmetic uses operators; real_set converts a constant. This header declares all
 * other operations on numbers, so that one source serves every instruction set and every precision. An algorithm
 * branches on the model and never on a real. It stays in the common subset of C and C++, where `real` may be a class:
 * one that counts operations, or one that generates code.
 *
 * DYN_INSTANCE names the instance that is being compiled; KERNEL(rnea) is the name of rnea in it. DYN_REAL_HEADER names
 * a header that defines `real` and its functions for another type of number, such as complex ones.
 */
#ifndef DYNAMICS_SPATIAL_REAL_H
#define DYNAMICS_SPATIAL_REAL_H

#define KERNEL_PASTE(name, instance) dyn_##name##_##instance
#define KERNEL_EXPAND(name, instance) KERNEL_PASTE(name, instance)
#define KERNEL(name) KERNEL_EXPAND(name, DYN_INSTANCE)

#if defined DYN_REAL_HEADER

#include DYN_REAL_HEADER

#else

#if defined DYN_FLOAT
typedef float number;
#define NUMBER_SIZE 4
#else
typedef double number;
#define NUMBER_SIZE 8
#endif

#if DYN_LANES == 1

typedef number real;

/* Returns x in every lane. */
static inline real real_set(double x) {
    return (number)x;
}

#else

typedef number real __attribute__((vector_size(NUMBER_SIZE * DYN_LANES)));

static inline real real_set(double x) {
    const real zero = {0};
    return (number)x - zero;
}

#endif

#endif

#if !defined REAL_IS_SYMBOLIC

/* Returns whether x is known to be the constant c in every state of this robot. Only the symbolic numbers of the model
 * compiler can know this. */
static inline int real_is(real x, double c) {
    (void)x, (void)c;
    return 0;
}

#endif

/* Constant that is already rounded to the precision of the instance, and equal in every lane. */
#if defined DYN_FLOAT
typedef float rounded;
#else
typedef double rounded;
#endif

static inline real rounded_set(rounded x) {
    return real_set((double)x);
}

/* Function that has a motion type as an argument: inlined with a constant, only its case remains. */
#define KERNEL_STEP static inline __attribute__((always_inline))

#if !defined DYN_REAL_HEADER

/* VECTOR(sqrt) names the instruction for a whole `real`, where the instruction set has vectors of this size. */
#if defined __x86_64__ && DYN_LANES > 1
#include <immintrin.h>
#define VECTOR_PASTE(prefix, operation, suffix) prefix##_##operation##_##suffix
#define VECTOR_EXPAND(prefix, operation, suffix) VECTOR_PASTE(prefix, operation, suffix)
#define VECTOR(operation) VECTOR_EXPAND(VECTOR_PREFIX, operation, VECTOR_SUFFIX)
#if NUMBER_SIZE * DYN_LANES == 16
#define VECTOR_PREFIX _mm
#elif NUMBER_SIZE * DYN_LANES == 32 && defined __AVX__
#define VECTOR_PREFIX _mm256
#elif NUMBER_SIZE * DYN_LANES == 64 && defined __AVX512F__
#define VECTOR_PREFIX _mm512
#endif
#if defined DYN_FLOAT
#define VECTOR_SUFFIX ps
#else
#define VECTOR_SUFFIX pd
#endif
#endif

/* Names of NEON intrinsics: NEON_VECTOR(sqrt). */
#if defined __aarch64__ && NUMBER_SIZE * DYN_LANES == 16
#include <arm_neon.h>
#if defined DYN_FLOAT
#define NEON_VECTOR(operation) v##operation##q_f32
#else
#define NEON_VECTOR(operation) v##operation##q_f64
#endif
#endif

#if defined __FMA__ || defined __ARM_FEATURE_FMA
#define HAS_FUSED_INSTRUCTION
#endif

/* Returns a b + c, rounded once where the instruction set has a fused instruction. The compiler fuses nothing by
 * itself, so that a sample has the same bits in every instance of an instruction set. */
KERNEL_STEP real real_fma(real a, real b, real c) {
#if defined HAS_FUSED_INSTRUCTION && DYN_LANES == 1 && defined DYN_FLOAT
    return __builtin_fmaf(a, b, c);
#elif defined HAS_FUSED_INSTRUCTION && DYN_LANES == 1
    return __builtin_fma(a, b, c);
#elif defined __FMA__ && defined VECTOR_PREFIX
    return VECTOR(fmadd)(a, b, c);
#elif defined NEON_VECTOR
    return NEON_VECTOR(fma)(c, a, b);
#else
    return a * b + c;
#endif
}

static inline number number_sqrt(number x) {
#if defined DYN_FLOAT
    return __builtin_sqrtf(x);
#else
    return __builtin_sqrt(x);
#endif
}

KERNEL_STEP real real_sqrt(real x) {
#if DYN_LANES == 1
    return number_sqrt(x);
#elif defined VECTOR_PREFIX
    return VECTOR(sqrt)(x);
#elif defined NEON_VECTOR
    return NEON_VECTOR(sqrt)(x);
#else
    real y = x;
    for (int l = 0; l < DYN_LANES; l++) {
        y[l] = number_sqrt(x[l]);
    }
    return y;
#endif
}

/* Returns a where x > 0, else b. */
KERNEL_STEP real real_where_positive(real x, real a, real b) {
#if DYN_LANES == 1
    return x > 0 ? a : b;
#else
    typedef __typeof__(x > x) lanes_mask;
    lanes_mask mask = x > real_set(0);
    return (real)((mask & (lanes_mask)a) | (~mask & (lanes_mask)b));
#endif
}

#endif

#endif
