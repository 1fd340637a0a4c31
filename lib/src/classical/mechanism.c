/* SPDX-License-Identifier: BSD-2-Clause */
#include "mechanism.h"

#include "../model/joint_placement.h"

#if !defined DYN_REAL_HEADER
static inline void real_sincos(real x, real *sine, real *cosine) {
    *sine = __builtin_sin(x);
    *cosine = __builtin_cos(x);
}
#endif

/* Sets mass, centre of mass and inertias of a link. The inertia about the centre of mass is I_c = I - m (c.c 1 - c
 * c'). */
static void set_inertia(const body *b, mechanism_link *l) {
    double c[3] = {0, 0, 0}, square = 0;
    for (int i = 0; i < 3; i++) {
        c[i] = b->mass != 0 ? b->first_moment[i] / b->mass : 0;
        square += c[i] * c[i];
    }
    static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
    rounded central[6];
    for (int i = 0; i < 6; i++) {
        double diagonal = row[i] == column[i] ? square : 0;
        central[i] = (rounded)(b->inertia[i] - b->mass * (diagonal - c[row[i]] * c[column[i]]));
    }
    l->mass = real_set(b->mass);
    l->center = vec3_constant(c);
    l->central = sym3_rounded(central);
    l->I = body_inertia(b);
}

mechanism KERNEL(mechanism_at)(const dyn_model *model, const double gravity[3], const real *q, scratch *s) {
    mechanism m;
    m.model = model;
    m.count = model->body_count;
    m.nv = model->nv;
    m.gravity = vec3_constant(gravity);
    m.base_moves = 0;
    m.base_velocity = m.base_acceleration = motion_zero();
    m.external = NULL;
    m.tip_count = 0, m.tip = NULL;
    m.lanes = NULL, m.spread = NULL;
    m.links = (mechanism_link *)scratch_take(s, (size_t)m.count, sizeof(mechanism_link));
    if (!m.links) {
        return m;
    }
    for (int i = 0; i < m.count; i++) {
        const body *b = &model->bodies[i];
        mechanism_link *l = &m.links[i];
        real sine = real_set(0), cosine = real_set(1);
        l->b = b;
        l->parent = b->parent;
        l->v_index = b->v_index, l->nv = b->nv;
        if (b->motion != MOTION_PRISMATIC && b->motion != MOTION_SPHERICAL && b->motion != MOTION_FLOATING) {
            real_sincos(joint_angle(b, q + b->q_index), &sine, &cosine);
        }
        l->X = joint_placement(b, q + b->q_index, sine, cosine);
        set_inertia(b, l);
    }
    return m;
}
