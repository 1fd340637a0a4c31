/* SPDX-License-Identifier: BSD-2-Clause */
#include "beam_shape.h"

#include <math.h>

/* Solves cos x = -1 / cosh x near (k + 1/2) pi by Newton's method. */
beam_shape beam_shape_of(int k, double length) {
    double x = (k + 0.5) * acos(-1);
    for (int i = 0; i < 20; i++) {
        double reciprocal = 1 / cosh(x);
        x += (cos(x) + reciprocal) / (sin(x) + reciprocal * tanh(x));
    }
    return (beam_shape){x / length, (cosh(x) + cos(x)) / (sinh(x) + sin(x)), k % 2 ? -1 : 1};
}

double beam_shape_at(const beam_shape *shape, double s) {
    double x = shape->b * s;
    return cosh(x) - cos(x) - shape->c * (sinh(x) - sin(x));
}
