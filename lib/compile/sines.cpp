/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sines and cosines of expressions.
 */
#include "kernels/instance.h"

void KERNEL(sines)(const void *angle, int count, void *sine, void *cosine) {
    const real *x = (const real *)angle;
    real *s = (real *)sine, *c = (real *)cosine;
    expression_graph &graph = current_graph::get();
    for (int i = 0; i < count; i++) {
        s[i] = real(graph.sine(x[i].value));
        c[i] = real(graph.cosine(x[i].value));
    }
}
