/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defines `real` as long double, with 64 bits of mantissa on x86. The build compiles the kernels over it as a reference
 * for the tests (oracle.h).
 */
#include <math.h>

typedef long double real;

static inline real real_set(double x) {
    return x;
}

static inline real real_fma(real a, real b, real c) {
    return a * b + c;
}

static inline void real_sincos(real x, real *sine, real *cosine) {
    sincosl(x, sine, cosine);
}

static inline real real_sqrt(real x) {
    return sqrtl(x);
}

static inline real real_where_positive(real x, real a, real b) {
    return x > 0 ? a : b;
}
