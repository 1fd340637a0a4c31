/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Expressions as `real`: an algorithm that runs over them records its computations in the current graph.
 */
#include "graph.h"

/*
 * Symbolic number. It is trivial because the algorithms do not construct objects in their memory. It has a name of its
 * own because a program may contain other instances of the kernels, whose real is another type: the linker would merge
 * inline functions of one name.
 */
struct symbolic_real {
    expression value;
    symbolic_real() = default;
    symbolic_real(double x) : value(current_graph::get().constant(x)) {}
    explicit symbolic_real(expression x) : value(x) {}
};

typedef symbolic_real real;

static inline real real_set(double x) {
    return real(x);
}

static inline real operator+(real a, real b) {
    return real(current_graph::get().add(a.value, b.value));
}

static inline real operator-(real a) {
    return real(-a.value);
}

static inline real operator-(real a, real b) {
    return a + -b;
}

static inline real operator*(real a, real b) {
    return real(current_graph::get().multiply(a.value, b.value));
}

static inline real operator/(real a, real b) {
    return real(current_graph::get().divide(a.value, b.value));
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

#define REAL_IS_SYMBOLIC

static inline int real_is(real x, double c) {
    const expression_graph &graph = current_graph::get();
    return graph.is_constant(x.value) && graph.value(x.value) == c;
}
