/*
 * What the symbolic instance of the kernels has of its own: numbers into expressions and back, and sines.
 */
#include <cmath>

#include "kernels/instance.h"

void KERNEL(pack)(const double *rows, size_t, size_t width, size_t, void *packed) {
    for (size_t i = 0; i < width; i++) {
        ((real *)packed)[i] = real_set(rows[i]);
    }
}

/* An expression that is no constant has no value: NaN. */
void KERNEL(unpack)(const void *packed, size_t width, size_t, double *rows) {
    const expression_graph &graph = current_graph::get();
    for (size_t i = 0; i < width; i++) {
        expression x = ((const real *)packed)[i].value;
        rows[i] = graph.is_constant(x) ? graph.value(x) : NAN;
    }
}

int KERNEL(all_finite)(const double *x, size_t count) {
    size_t i = 0;
    while (i < count && std::isfinite(x[i])) {
        i++;
    }
    return i == count;
}

void KERNEL(sines)(const real *angle, int count, real *sine, real *cosine) {
    expression_graph &graph = current_graph::get();
    for (int i = 0; i < count; i++) {
        sine[i] = real(graph.sine(angle[i].value));
        cosine[i] = real(graph.cosine(angle[i].value));
    }
}
