/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closure errors of constraints. The frame S of the successor has the position d and the rotation R in the frame P of
 * the predecessor:
 *
 *     linear directions      d
 *     angular, all three     the rotation vector of R
 *     angular, x and y       the rotation vector of the shortest turn from z_P to z_S, along z_P x z_S = (-R_yz, R_xz)
 *     helical, along z       d_z - pitch * angle, of the turn that is nearest to d_z
 *     distance               (d'd / distance - distance) / 2
 *     point on plane         d_z
 *     universal              z_P . z_S at zero less z_P . z_S
 *     coupling               sum of coefficient_k q_k, less the offset
 *     polynomial             q_0 - p(q_1)
 *     prescribed             q_0 - r(t)
 *     ball, wheel            0, 0, and the height of the point of contact, d_z - radius |z_P - (z_P . z_S) z_S|
 *
 * Rotation vectors count turns of up to half a revolution: a weld that is turned by 180 degrees is open by pi. Half the
 * sum of the squares of angular errors e has the gradient A' e at any turn: the left Jacobian of a rotation vector maps
 * the vector to itself.
 *
 * Source: Murray, Li and Sastry 1994, section 2.2 (rotation vectors).
 */
#include "closure_error.h"

#include <math.h>

#include <dynamics/kinematics.h>

#include "../dynamics/rigid_motion.h"

/* Returns the angle about z, on the turn that brings pitch * angle nearest to d_z. */
static double helical_angle(const double *R, double pitch, double d_z) {
    double angle = atan2(R[3], R[0]);
    return angle + 2 * M_PI * round((d_z / pitch - angle) / (2 * M_PI));
}

/* Computes the rotation vector of R, or of the shortest turn from z_P to z_S where the turn about z is free. */
static void angular_errors(const double *R, bool holds_z, double turn[3]) {
    double quaternion[4];
    if (holds_z) {
        dyn_rotation_to_quaternion(R, quaternion);
        dyn_quaternion_log(quaternion, turn);
        return;
    }
    const double sine = hypot(R[5], R[2]), angle = atan2(sine, R[8]);
    const bool has_direction = sine > 1e-150;
    turn[0] = has_direction ? -R[5] / sine * angle : angle;
    turn[1] = has_direction ? R[2] / sine * angle : 0;
    turn[2] = 0;
}

/* Computes the errors of the directions that a loop joint constrains. Returns their number. */
static int joint_errors(const closure *c, const double *d, const double *R, double *e) {
    double turn[3];
    int count = 0;
    angular_errors(R, c->axes & 4, turn);
    for (int axis = 0; axis < 6; axis++) {
        if (!(c->axes >> axis & 1)) {
            continue;
        }
        e[count++] = axis < 3 ? turn[axis] : d[axis - 3];
    }
    if (c->pitch != 0) {
        e[count - 1] -= c->pitch * helical_angle(R, c->pitch, d[2]);
    }
    return count;
}

double closure_polynomial(const closure *c, double x) {
    double sum = 0;
    for (int k = c->degree; k >= 0; k--) {
        sum = sum * x + c->polynomial[k];
    }
    return sum;
}

prescribed_motion closure_motion(const closure *c, double time) {
    prescribed_motion m = {0};
    if (c->kind != CLOSURE_PRESCRIBED) {
        return m;
    }
    const double w = c->law.frequency, angle = w * time + c->law.phase, amplitude = c->law.amplitude;
    m.r = closure_polynomial(c, time) + amplitude * sin(angle);
    for (int k = c->degree; k > 0; k--) {
        m.rate = m.rate * time + k * c->polynomial[k];
    }
    for (int k = c->degree; k > 1; k--) {
        m.acceleration = m.acceleration * time + k * (k - 1) * c->polynomial[k];
    }
    m.rate += amplitude * w * cos(angle);
    m.acceleration -= amplitude * w * w * sin(angle);
    return m;
}

void closure_error(const closure *c, const dyn_pose *pose, const double *q, double time, double *e) {
    const double *d = pose->position, *R = pose->rotation;
    switch (c->kind) {
    case CLOSURE_JOINT:
        joint_errors(c, d, R, e);
        return;
    case CLOSURE_UNIVERSAL:
        e[joint_errors(c, d, R, e)] = c->distance - R[8];
        return;
    case CLOSURE_DISTANCE:
        *e = ((d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / c->distance - c->distance) / 2;
        return;
    case CLOSURE_PLANE:
        *e = d[2];
        return;
    case CLOSURE_COUPLING:
        *e = -c->distance;
        for (int k = 0; k < c->coordinate_count; k++) {
            *e += c->coefficients[k] * q[c->q_index[k]];
        }
        return;
    case CLOSURE_POLYNOMIAL:
        *e = q[c->q_index[0]] - closure_polynomial(c, q[c->q_index[1]]);
        return;
    case CLOSURE_PRESCRIBED:
        *e = q[c->q_index[0]] - closure_motion(c, time).r;
        return;
    case CLOSURE_BALL:
        e[0] = e[1] = 0, e[2] = d[2] - c->distance;
        return;
    case CLOSURE_WHEEL:
        e[0] = e[1] = 0, e[2] = d[2] - c->distance * sqrt(R[2] * R[2] + R[5] * R[5]);
        return;
    }
}
