/* SPDX-License-Identifier: BSD-2-Clause */
#include "beam_shape.h"

#include <math.h>
#include <string.h>

#include "vector3.h"

bool beam_axes_between(const double start[3], const double end[3], beam_axes *axes) {
    double *along = axes->along;
    for (int i = 0; i < 3; i++) {
        along[i] = end[i] - start[i];
    }
    axes->length = sqrt(vector3_dot(along, along));
    bool is_set = axes->length > 0 && isfinite(axes->length);
    for (int i = 0; is_set && i < 3; i++) {
        along[i] /= axes->length;
    }
    return is_set;
}

void beam_axes_bend(const double direction[3], beam_axes *axes) {
    memmove(axes->across[0], direction, sizeof axes->across[0]);
    vector3_cross(axes->along, axes->across[0], axes->across[1]);
}

/* Solves cos x = -1 / cosh x near (k + 1/2) pi by Newton's method. */
beam_shape beam_shape_of(int k, double length) {
    double x = (k + 0.5) * acos(-1);
    for (int i = 0; i < 20; i++) {
        double reciprocal = 1 / cosh(x);
        x += (cos(x) + reciprocal) / (sin(x) + reciprocal * tanh(x));
    }
    double sum = sinh(x) + sin(x);
    return (beam_shape){x / length, (cosh(x) + cos(x)) / sum, (sin(x) - cos(x) - exp(-x)) / sum, k % 2 ? -1 : 1};
}

double beam_shape_at(const beam_shape *shape, double s, double *slope) {
    double x = shape->b * s, falling = (1 - shape->d / 2) * exp(-x), rising = shape->d / 2 * exp(x);
    *slope = shape->b * (rising - falling + sin(x) + shape->c * cos(x));
    return falling + rising - cos(x) + shape->c * sin(x);
}
