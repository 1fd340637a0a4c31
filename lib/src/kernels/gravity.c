/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gravity forces g(q). At rest a joint transmits the wrench of the accelerated mass of its subtree, which depends on
 * its mass m and its first moment h only. The outward pass propagates the acceleration, a_0 = -g, and the inward pass
 * accumulates m and h:
 *     a = R' a_p                       m_p += m            h_p += R h + m r
 *     f = m a                          n = h x a           tau = S' (n; f)
 * This is the recursive Newton-Euler algorithm at rest, with the moments of a subtree summed before they are multiplied
 * by the acceleration.
 *
 * As in rnea.c, the inertial parameters are the grouped ones (model/group_inertias.h), of which a serial body has
 * m = h_z = 0, and hinges transform vectors by two plane rotations.
 *
 * The bodies of rotors have no mass.
 *
 * Source: Luh, Walker and Paul 1980; Featherstone 2008, table 5.1, at rest.
 */
#include <stdint.h>

#include "hinge.h"
#include "../model/joint_placement.h"
#include "stages.h"

/* Scratch memory: the acceleration of each body, and the first moment and mass of its subtree. */
typedef struct gravity_tree {
    joint_turns turns;
    placement *X; /* of bodies without a hinge */
    vec3 *a, *h;
    double *m;
} gravity_tree;

size_t KERNEL(gravity_memory)(const dyn_model *model) {
    size_t bodies = (size_t)model->body_count;
    return KERNEL(placements_memory)(model) + bodies * 2 * sizeof(vec3) + (bodies + 1) * sizeof(double);
}

/* Returns the first address from `memory` on that is aligned for doubles. Masses are doubles in every precision. */
static double *masses_at(void *memory) {
    size_t beyond = (uintptr_t)memory % sizeof(double);
    return (double *)((char *)memory + (beyond > 0 ? sizeof(double) - beyond : 0));
}

/* Computes the acceleration of each body in its own axes, and loads its own mass and first moment. */
static void outward_pass(const dyn_model *model, const double gravity[3], const real *q, gravity_tree t) {
    vec3 a_0 = vec3_sub(vec3_zero(), vec3_constant(gravity)), a = a_0;
    for (int i = 0; i < model->link_bodies; i++) {
        const body *b = &model->bodies[i];
        if (!b->serial) {
            a = b->parent < 0 ? a_0 : t.a[b->parent];
        }
        if (b->hinge) {
            a = hinge_to_child(hinge_at(b, t.turns, i), a);
        } else {
            t.X[i] = joint_placement(b, q + b->q_index, t.turns.sine[i], t.turns.cosine[i]);
            a = mat3_apply_transposed(t.X[i].R, a);
        }
        t.a[i] = a;
        t.h[i] = vec3_rounded(constants_of(b)->grouped.first_moment);
        t.m[i] = b->grouped.mass;
    }
}

/* Returns the first moment of the subtree of body i about its parent's origin, plus another one. */
KERNEL_STEP vec3 moment_to_parent(const body *b, gravity_tree t, int i, vec3 h, vec3 other) {
    real m = real_set(t.m[i]);
    if (!b->hinge) {
        return vec3_add(mat3_apply(t.X[i].R, h), vec3_fma(m, t.X[i].r, other));
    }
    hinge turn = hinge_at(b, t.turns, i);
    return hinge_to_parent_add(turn, h, t.m[i] == 0 ? other : vec3_fma(m, turn.r, other));
}

/* Computes tau. Coupled mimic joints add to their master's force. */
static void inward_pass(const dyn_model *model, gravity_tree t, real *tau) {
    for (int i = 0; i < model->nv; i++) {
        tau[i] = real_set(0);
    }
    vec3 h = vec3_zero();
    for (int i = model->link_bodies - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        bool is_before = i + 1 < model->link_bodies && model->bodies[i + 1].parent == i;
        h = is_before ? h : t.h[i];
        if (b->hinge) {
            tau[b->v_index] += real_fma(h.x, t.a[i].y, -(h.y * t.a[i].x));
        } else {
            force f = force_set(vec3_cross(h, t.a[i]), vec3_scale(real_set(t.m[i]), t.a[i]));
            for (int k = 0; k < b->nv; k++) {
                tau[b->v_index + k] += real_set(b->ratio) * joint_force(b, b->motion, k, f);
            }
        }
        if (b->parent >= 0) {
            h = t.h[b->parent] = moment_to_parent(b, t, i, h, t.h[b->parent]);
            t.m[b->parent] += t.m[i];
        }
    }
}

void KERNEL(gravity)(const dyn_model *model, void *memory, const double gravity[3], const void *q, void *g) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_gravity)(model, memory, gravity, q, g);
        return;
    }
    gravity_tree t;
    t.a = (vec3 *)memory;
    t.h = t.a + model->body_count;
    memory = t.h + model->body_count;
    t.turns = KERNEL(joint_turns)(model, (const real *)q, &memory);
    t.X = (placement *)memory;
    t.m = masses_at(t.X + model->body_count);
    outward_pass(model, gravity, (const real *)q, t);
    inward_pass(model, t, (real *)g);
}
