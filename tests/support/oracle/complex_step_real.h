/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defines `real` as a complex double. The build compiles the kernels over it as a reference of derivatives for the
 * tests (oracle.h): the imaginary part of an analytic function at x + i h is h times its derivative at x.
 */
#include <complex.h>
#undef I /* I is the inertia of the algorithms */

typedef double _Complex real;

static inline real real_set(double x) {
    return x;
}

static inline real real_fma(real a, real b, real c) {
    return a * b + c;
}

static inline void real_sincos(real x, real *sine, real *cosine) {
    *sine = csin(x);
    *cosine = ccos(x);
}

static inline real real_sqrt(real x) {
    return csqrt(x);
}

static inline real real_where_positive(real x, real a, real b) {
    return creal(x) > 0 ? a : b;
}
