/*
 * Sines and cosines of expressions.
 */
#include "kernels/instance.h"

void KERNEL(sines)(const real *angle, int count, real *sine, real *cosine) {
    expression_graph &graph = current_graph::get();
    for (int i = 0; i < count; i++) {
        expression x = angle[i].value; /* sine may be angle */
        sine[i] = real(graph.sine(x));
        cosine[i] = real(graph.cosine(x));
    }
}
