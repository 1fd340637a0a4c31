/* SPDX-License-Identifier: BSD-2-Clause */
#include "mechanism.h"

#include "../model/joint_placement.h"
#include "../model/stage_function.h"

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

/* Returns the placement of a body in its parent at the coordinates q of its joint. */
static placement place_body(const body *b, const real *q) {
    real sine = real_set(0), cosine = real_set(1);
    if (b->motion != MOTION_PRISMATIC && b->motion != MOTION_SPHERICAL && b->motion != MOTION_FLOATING) {
        real_sincos(joint_angle(b, q), &sine, &cosine);
    }
    return joint_placement(b, q, sine, cosine);
}

/* Places the link of a custom joint, whose first stage is `first`, by one motion after the other. Column and derivative
 * of the motions so far, which the next one carries with its own rate f' s, gain
 *     dS/dq = X dS/dq + (X S) x (f' s) + f'' s        S = X S + f' s
 * Returns the number of its stages. */
static int place_custom_link(const dyn_model *model, int first, const real *q, mechanism_link *l) {
    int k = first, joint = model->bodies[model->stages[first].body].joint;
    l->X = placement_identity();
    l->S = l->dS = motion_zero();
    for (; k < model->stage_count && model->bodies[model->stages[k].body].joint == joint; k++) {
        const stage *of = &model->stages[k];
        const body *b = &model->bodies[of->body];
        real f[5];
        stage_function(of, q[of->q_index], f);
        placement X = place_body(b, f);
        motion s = axis_motion(motion_axes(b->motion)[0]), S = motion_to_child(X, l->S);
        motion rate = motion_fma(f[1], s, motion_zero());
        l->dS = motion_add(motion_to_child(X, l->dS), motion_fma(f[2], s, motion_cross(S, rate)));
        l->S = motion_add(S, rate);
        l->X = k == first ? X : placement_compose(l->X, X);
    }
    return k - first;
}

/* Places the link of body i and of the bodies after it that belong to the same custom joint. `*first` is
 * the first stage that belongs to no earlier body. Returns the number of bodies. */
static int place_link(const dyn_model *model, int i, const real *q, int *first, mechanism_link *l) {
    int bodies = 1;
    l->is_custom = *first < model->stage_count && model->stages[*first].body == i;
    l->parent = mechanism_link_of(model, model->bodies[i].parent);
    if (l->is_custom) {
        bodies = place_custom_link(model, *first, q, l);
        *first += bodies;
    } else {
        l->X = place_body(&model->bodies[i], q + model->bodies[i].q_index);
    }
    l->b = &model->bodies[i + bodies - 1];
    l->v_index = l->b->v_index, l->nv = l->b->nv;
    return bodies;
}

mechanism KERNEL(mechanism_at)(const dyn_model *model, const double gravity[3], const real *q, scratch *s) {
    mechanism m;
    int first_stage = 0;
    m.model = model;
    m.count = mechanism_link_of(model, model->body_count);
    m.link_count = mechanism_link_of(model, model->link_bodies);
    m.nv = model->nv;
    m.gravity = vec3_constant(gravity);
    m.base_moves = 0;
    m.base_velocity = m.base_acceleration = motion_zero();
    m.external = NULL;
    m.tip_count = 0, m.tip = NULL;
    m.lanes = NULL, m.spread = NULL;
    m.links = (mechanism_link *)scratch_take(s, (size_t)m.count, sizeof(mechanism_link));
    for (int i = 0, at = 0; m.links && i < m.count; i++) {
        at += place_link(model, at, q, &first_stage, &m.links[i]);
        set_inertia(m.links[i].b, &m.links[i]);
    }
    return m;
}

void KERNEL(mechanism_viscous)(const mechanism *m, const real *v, real *viscous) {
    real_clear(viscous, m->nv);
    for (int j = 0; j < m->model->joint_count; j++) {
        const dyn_joint *joint = &m->model->joints[j];
        double ratio = joint->master >= 0 ? joint->multiplier : 1;
        int nv = joint->master >= 0 ? m->model->joints[joint->master].nv : joint->nv;
        for (int k = joint->v_index; k < joint->v_index + nv; k++) {
            viscous[k] = viscous[k] + real_set(ratio * ratio * joint->damping) * v[k];
        }
    }
}
