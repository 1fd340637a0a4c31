/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defines `real` as __float128, with 113 bits of mantissa. The build compiles the kernels over it as a reference for
 * the tests (oracle.h).
 */
typedef __float128 real;

/* Functions of the C library, whose header declares them to gcc alone. */
__float128 sinf128(__float128 x);
__float128 cosf128(__float128 x);
__float128 sqrtf128(__float128 x);

static inline real real_set(double x) {
    return x;
}

static inline real real_fma(real a, real b, real c) {
    return a * b + c;
}

static inline void real_sincos(real x, real *sine, real *cosine) {
    *sine = sinf128(x);
    *cosine = cosf128(x);
}

static inline real real_sqrt(real x) {
    return sqrtf128(x);
}

static inline real real_where_positive(real x, real a, real b) {
    return x > 0 ? a : b;
}
