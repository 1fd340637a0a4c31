/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts operations of the algorithms as written: a double as `real` that counts its operations.
 *
 * A negation does not count, as in the published counts, since it only changes the sign of a later sum. real_fma is one
 * multiplication and one addition.
 */
#include <cmath>

#include "counts.h"

struct counted_real {
    double x;
    counted_real() = default;
    counted_real(double value) : x(value) {}
    explicit operator double() const {
        return x;
    }
};

typedef counted_real real;

static inline real real_set(double x) {
    return x;
}

static inline real operator+(real a, real b) {
    dyn_counts.additions++;
    return a.x + b.x;
}

static inline real operator-(real a, real b) {
    dyn_counts.additions++;
    return a.x - b.x;
}

static inline real operator*(real a, real b) {
    dyn_counts.multiplications++;
    return a.x * b.x;
}

static inline real operator/(real a, real b) {
    dyn_counts.divisions++;
    return a.x / b.x;
}

static inline real operator-(real a) {
    return -a.x;
}

static inline real &operator+=(real &a, real b) {
    return a = a + b;
}

static inline real &operator-=(real &a, real b) {
    return a = a - b;
}

static inline real &operator*=(real &a, real b) {
    return a = a * b;
}

static inline real real_fma(real a, real b, real c) {
    return a * b + c;
}

static inline real real_sqrt(real x) {
    dyn_counts.roots++;
    return std::sqrt(x.x);
}

static inline real real_where_positive(real x, real a, real b) {
    return x.x > 0 ? a : b;
}

static inline void real_sincos(real x, real *sine, real *cosine) {
    dyn_counts.sines++;
    *sine = std::sin(x.x);
    *cosine = std::cos(x.x);
}
