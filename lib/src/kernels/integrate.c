/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Step on the manifold of configurations: q_next = q (+) dt u for a tangent increment u.
 *
 * With w and v its angular and linear parts, t = |w| and the quaternion p of a spherical or floating joint
 *     p_next = p exp(w~)        exp(w~) = (sin(t/2) / t w, cos(t/2))
 *     r_next = r + R(p) V(w) v  V(w) = 1 + B w~ + C w~ w~    B = 2 sin^2(t/2) / t^2    C = (t - sin t) / t^3
 * A planar joint uses the same equations in its plane. All other joints add dt u. A tiny number that is added to t^2
 * keeps the quotients finite at t = 0 and t^3 in the range of single precision, and changes no result by more than
 * itself. C has a large rounding error there, but its factor w~ w~ v vanishes.
 *
 * The rate of an increment u of a body that moves with the velocity V is, to the order that Runge-Kutta 4 needs,
 *     du/dt = V + (1/2) u x V + (1/12) u x (u x V)
 *
 * Source: Murray, Li and Sastry 1994, section 2.3; Munthe-Kaas 1999; Hairer, Lubich and Wanner 2006, section IV.8.
 */
#include "instance.h"

static const double tiny_square = 1e-24;

/* Returns true if the coordinates of a joint are not simply added. */
static inline int is_curved(const body *b) {
    return b->motion == MOTION_PLANAR || b->motion == MOTION_SPHERICAL || b->motion == MOTION_FLOATING;
}

/* Returns true if the body has coordinates of its own. */
static inline int has_coordinates(const dyn_model *model, const body *b) {
    return model->joints[b->joint].nq > 0 && !b->follows;
}

/* Returns the bytes of scratch memory: for each body the angle |w| / 2 and that of a planar joint, with their sines and
 * cosines. */
size_t KERNEL(integrate_memory)(const dyn_model *model) {
    return (size_t)model->body_count * 6 * sizeof(real);
}

/* Returns x + B w x x + C w x (w x x), given |w| and the sine and cosine of its half. */
static inline vec3 left_jacobian_apply(vec3 w, real t, real s, real c, vec3 x) {
    real t2 = t * t, s2 = real_set(2) * s;
    vec3 u = vec3_cross(w, x);
    return vec3_fma(s2 * s / t2, u, vec3_fma((t - s2 * c) / (t2 * t), vec3_cross(w, u), x));
}

/* Computes p_next of the quaternion p, from the sine and cosine of |w| / 2. */
static inline void turn(const real *p, vec3 w, real t, real s, real c, real *next) {
    vec3 a = vec3_set(p[0], p[1], p[2]), e = vec3_scale(s / t, w);
    vec3 b = vec3_cross_add(a, e, vec3_fma(c, a, vec3_scale(p[3], e)));
    real d = p[3] * c - vec3_dot(a, e);
    real inverse = real_set(1) / real_sqrt(vec3_dot_add(b, b, d * d));
    next[0] = b.x * inverse, next[1] = b.y * inverse, next[2] = b.z * inverse, next[3] = d * inverse;
}

/* Returns R(p) x for a quaternion of any length. */
static inline vec3 rotate(const real *p, vec3 x) {
    vec3 e = vec3_set(p[0], p[1], p[2]), u = vec3_cross(e, x);
    real scale = real_set(2) / (vec3_dot_add(e, e, p[3] * p[3]));
    return vec3_fma(scale, vec3_cross_add(e, u, vec3_scale(p[3], u)), x);
}

/* Returns the angular part of the increment, times dt. */
static inline vec3 turning(const body *b, real dt, const real *u) {
    return vec3_scale(dt, joint_motion(b, b->motion, u).w);
}

static void integrate_curved(const body *b, const real *q, real dt, const real *u, const real *angle, const real *sine,
                             const real *cosine, real *next) {
    vec3 w = turning(b, dt, u), x = vec3_scale(dt, joint_motion(b, b->motion, u).v);
    real t = real_set(2) * angle[0], s = sine[0], c = cosine[0];
    x = left_jacobian_apply(w, t, s, c, x);
    if (b->motion == MOTION_SPHERICAL) {
        turn(q, w, t, s, c, next);
    } else if (b->motion == MOTION_FLOATING) {
        x = rotate(q + 3, x);
        next[0] = q[0] + x.x, next[1] = q[1] + x.y, next[2] = q[2] + x.z;
        turn(q + 3, w, t, s, c, next + 3);
    } else {
        next[0] = q[0] + real_fma(cosine[1], x.x, -(sine[1] * x.y));
        next[1] = q[1] + real_fma(sine[1], x.x, cosine[1] * x.y);
        next[2] = q[2] + w.z;
    }
}

void KERNEL(integrate)(const dyn_model *model, void *memory, const void *q, const void *u, double dt, void *q_next) {
    const real *from = (const real *)q, *rate = (const real *)u;
    real step = real_set(dt), *to = (real *)q_next;
    real *angle = (real *)memory, *sine = angle + 2 * model->body_count, *cosine = sine + 2 * model->body_count;
    int count = 0;
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        if (is_curved(b)) {
            vec3 w = turning(b, step, rate + b->v_index);
            angle[count] = real_set(0.5) * real_sqrt(vec3_dot_add(w, w, real_set(tiny_square)));
            angle[count + 1] = b->motion == MOTION_PLANAR ? from[b->q_index + 2] : real_set(0);
            count += 2;
        } else if (has_coordinates(model, b)) {
            for (int k = 0; k < b->nq; k++) {
                to[b->q_index + k] = real_fma(step, rate[b->v_index + k], from[b->q_index + k]);
            }
        }
    }
    KERNEL(sines)(angle, count, sine, cosine);
    count = 0;
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        if (is_curved(b)) {
            integrate_curved(b, from + b->q_index, step, rate + b->v_index, angle + count, sine + count, cosine + count,
                             to + b->q_index);
            count += 2;
        }
    }
}

void KERNEL(increment_rate)(const dyn_model *model, const real *u, const real *v, real *rate) {
    for (int j = 0; j < model->nv; j++) {
        rate[j] = v[j];
    }
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        if (!is_curved(b)) {
            continue;
        }
        motion U = joint_motion(b, b->motion, u + b->v_index), V = joint_motion(b, b->motion, v + b->v_index);
        motion W = motion_cross(U, V);
        V = motion_fma(real_set(1.0 / 12), motion_cross(U, W), motion_fma(real_set(0.5), W, V));
        for (int k = 0; k < b->nv; k++) {
            rate[b->v_index + k] = motion_along(V, motion_axes(b->motion)[k]);
        }
    }
}
