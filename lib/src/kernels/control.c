/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joint-space controllers that follow a reference (q_ref, v_ref, a_ref): with e = q_ref (-) q and its rate v_ref - v,
 *
 *     PD                tau += K_p e + K_d (v_ref - v)
 *     PD with gravity   tau += K_p e + K_d (v_ref - v) + g(q)
 *     computed torque   tau += RNEA(q, v, a_ref + K_p e + K_d (v_ref - v))
 *
 * The error of a rotation is 2 sign(d) times the vector part of the quaternion of R' R_r, whose scalar part is d. It
 * equals the rotation vector to second order, along the shorter way. A floating joint has no motor, so that its
 * coordinates get no force.
 *
 * Source: Murray, Li and Sastry 1994, section 4.5; Modern Robotics (Lynch and Park 2017), section 11.4; Yuan 1988 for
 * rotations.
 */
#include "instance.h"

size_t KERNEL(control_memory)(const dyn_model *model) {
    size_t rnea = KERNEL(rnea_memory)(model), gravity = KERNEL(gravity_memory)(model);
    return (size_t)(2 * model->nv) * sizeof(real) + (rnea > gravity ? rnea : gravity);
}

/* Returns 2 sign(d) times the vector part of conj(p) p_r, whose scalar part is d. */
static inline vec3 turn_between(const real *p, const real *p_r) {
    vec3 a = vec3_set(p[0], p[1], p[2]), b = vec3_set(p_r[0], p_r[1], p_r[2]);
    real d = real_fma(p[3], p_r[3], vec3_dot(a, b));
    vec3 e = vec3_fma(p[3], b, vec3_cross_add(b, a, vec3_scale(-p_r[3], a)));
    return vec3_scale(real_where_positive(d, real_set(2), real_set(-2)), e);
}

/* Computes e = q_ref (-) q. It is zero for floating joints. */
static void configuration_error(const dyn_model *model, const real *q, const real *q_ref, real *e) {
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        if (b->follows) {
            continue;
        }
        const real *x = q + b->q_index, *x_r = q_ref + b->q_index;
        real *y = e + b->v_index;
        if (b->motion == MOTION_SPHERICAL) {
            vec3 w = turn_between(x, x_r);
            y[0] = w.x, y[1] = w.y, y[2] = w.z;
        } else if (b->motion == MOTION_PLANAR) {
            /* Rotates the error into the axes of the moved link, in which velocities are expressed. */
            real sine, cosine, dx = x_r[0] - x[0], dy = x_r[1] - x[1];
            KERNEL(sines)(x + 2, 1, &sine, &cosine);
            y[0] = real_fma(cosine, dx, sine * dy);
            y[1] = real_fma(cosine, dy, -(sine * dx));
            y[2] = x_r[2] - x[2];
        } else {
            for (int k = 0; k < b->nv; k++) {
                y[k] = b->motion == MOTION_FLOATING ? real_set(0) : x_r[k] - x[k];
            }
        }
    }
}

/* Computes tau(q, v, a), by the compiled model if there is one. */
static void inverse_dynamics(const dyn_model *model, void *memory, const control_parameters *c, const void *q,
                             const void *v, const void *a, void *tau) {
    if (c->compiled.rnea) {
        const void *in[] = {q, v, a};
        c->compiled.rnea(in, c->compiled.sines, &tau);
    } else {
        const packed_inputs in = {c->gravity, q, v, a, NULL};
        KERNEL(rnea)(model, memory, &in, tau);
    }
}

/* Computes g(q), by the compiled model if there is one. */
static void gravity_forces(const dyn_model *model, void *memory, const control_parameters *c, const void *q, void *g) {
    if (c->compiled.gravity) {
        c->compiled.gravity(&q, c->compiled.sines, &g);
    } else {
        KERNEL(gravity)(model, memory, c->gravity, q, g);
    }
}

void KERNEL(control)(const dyn_model *model, void *memory, const control_parameters *c, const void *q, const void *v,
                     const packed_reference *reference, void *tau) {
    const real *v_ref = (const real *)reference->v, *a_ref = (const real *)reference->a;
    int nv = model->nv;
    real *e = (real *)memory, *model_force = e + nv, *out = (real *)tau;
    void *rest = model_force + nv;
    configuration_error(model, (const real *)q, (const real *)reference->q, e);
    for (int j = 0; j < nv; j++) {
        real rate = v_ref[j] - ((const real *)v)[j];
        e[j] = real_fma(real_set(c->stiffness[j]), e[j], real_set(c->damping[j]) * rate);
    }
    if (c->law == CONTROL_COMPUTED_TORQUE) {
        for (int j = 0; j < nv; j++) {
            e[j] = e[j] + a_ref[j];
        }
        inverse_dynamics(model, rest, c, q, v, e, model_force);
    } else if (c->law == CONTROL_PD_GRAVITY) {
        gravity_forces(model, rest, c, q, model_force);
    }
    const real *sum = c->law == CONTROL_COMPUTED_TORQUE ? model_force : e;
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        int count = b->follows || b->motion == MOTION_FLOATING ? 0 : b->nv;
        for (int j = b->v_index; j < b->v_index + count; j++) {
            out[j] = out[j] + (c->law == CONTROL_PD_GRAVITY ? e[j] + model_force[j] : sum[j]);
        }
    }
}
