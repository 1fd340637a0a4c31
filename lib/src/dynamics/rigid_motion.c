/* SPDX-License-Identifier: BSD-2-Clause */
#include "../model/vector3.h"
#include "rigid_motion.h"

#include <math.h>
#include <string.h>

/* Angle below which C and D come from their series, whose next terms are then below 1e-17. */
static const double small_angle = 0.02;

static double norm3(const double x[3]) {
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

void dyn_quaternion_exp(const double w[3], double q[4]) {
    double t = norm3(w);
    double s = t > 1e-150 ? sin(t / 2) / t : 0.5;
    for (int i = 0; i < 3; i++) {
        q[i] = s * w[i];
    }
    q[3] = cos(t / 2);
}

void dyn_quaternion_log(const double q[4], double w[3]) {
    double s = norm3(q), sign = q[3] < 0 ? -1 : 1;
    double scale = s > 1e-150 ? 2 * atan2(s, sign * q[3]) / s : 2;
    for (int i = 0; i < 3; i++) {
        w[i] = sign * scale * q[i];
    }
}

void dyn_quaternion_multiply(const double a[4], const double b[4], double out[4]) {
    const double c[4] = {
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
        a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    };
    memcpy(out, c, sizeof c);
}

void dyn_quaternion_rotate(const double q[4], const double x[3], double out[3]) {
    double u[3], v[3];
    vector3_cross(q, x, u);
    vector3_cross(q, u, v);
    for (int i = 0; i < 3; i++) {
        out[i] = x[i] + 2 * (q[3] * u[i] + v[i]);
    }
}

void dyn_quaternion_rotate_back(const double q[4], const double x[3], double out[3]) {
    const double back[4] = {-q[0], -q[1], -q[2], q[3]};
    dyn_quaternion_rotate(back, x, out);
}

/* Computes x + a w x x + b w x (w x x); out may be x. */
static void apply_polynomial(const double w[3], double a, double b, const double x[3], double out[3]) {
    double u[3], v[3];
    vector3_cross(w, x, u);
    vector3_cross(w, u, v);
    for (int i = 0; i < 3; i++) {
        out[i] = x[i] + a * u[i] + b * v[i];
    }
}

void dyn_left_jacobian_apply(const double w[3], const double x[3], double out[3]) {
    double t = norm3(w), t2 = t * t, half = sin(t / 2);
    double B = t > small_angle ? 2 * half * half / t2 : 0.5 - t2 / 24 + t2 * t2 / 720;
    double C = t > small_angle ? (t - sin(t)) / (t2 * t) : 1.0 / 6 - t2 / 120 + t2 * t2 / 5040;
    apply_polynomial(w, B, C, x, out);
}

void dyn_left_jacobian_solve(const double w[3], const double x[3], double out[3]) {
    double t = norm3(w), t2 = t * t;
    double D = t > small_angle ? (1 - t / 2 / tan(t / 2)) / t2 : 1.0 / 12 + t2 / 720 + t2 * t2 / 30240;
    apply_polynomial(w, -0.5, D, x, out);
}
