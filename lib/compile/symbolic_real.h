/*
 * Expressions as `real`: an algorithm that runs over them writes down what it computes.
 */
#include "graph.h"

/* Trivial, since the algorithms take their memory as it comes. */
struct real {
    expression value;
    real() = default;
    real(double x) : value(current_graph::get().constant(x)) {}
    explicit real(expression x) : value(x) {}
};

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
