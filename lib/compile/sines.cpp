/*
 * Sines and cosines of expressions.
 */
#include "kernels/instance.h"

void KERNEL(sines)(const real *angle, int count, real *sine, real *cosine) {
    expression_graph &graph = current_graph::get();
    for (int i = 0; i < count; i++) {
        sine[i] = real(graph.sine(angle[i].value));
        cosine[i] = real(graph.cosine(angle[i].value));
    }
}
