/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the wrenches of the closures of loops, and their rates.
 *
 * Row r of a closure between the predecessor P and the successor S has a wrench W_r, in world axes and about the
 * world's origin. A unit multiplier exerts W_r on S and -W_r on P. The row of A and its bias are
 *
 *     A_r v = W_r' (V_S - V_P)        dA_r/dt v = W_r' (dV_S/dt - dV_P/dt) + dW_r/dt' (V_S - V_P)
 *
 * with spatial velocities in the world. The wrenches are:
 *
 *     joint         the constrained direction T_r, constant in the frame of P       dW/dt = V_P x* W
 *     universal     three forces at the origin of P, and the couple z_P x z_S
 *     distance      the force u = (r_S - r_P) / distance at r_S
 *     plane         the force z_P at r_S
 *
 * Source: Featherstone 2008, section 8.2 (T, equation 8.4; its rate, 8.13); Featherstone and Orin 2000, section 3.4.
 */
#ifndef DYNAMICS_KERNELS_CLOSURE_H
#define DYNAMICS_KERNELS_CLOSURE_H

#include "frame_wrench.h"

/* One side of a closure: its body, and the frame's placement there; the placement is in the world without a body. */
typedef struct closure_side {
    int body;
    placement in_body;
} closure_side;

/* Returns side 0, the predecessor, or side 1, the successor. */
static inline closure_side side_of_closure(const dyn_model *model, const closure *c, int side) {
    closure_side s;
    const dyn_pose *pose = &c->poses[side];
    int link = c->links[side];
    s.body = link < 0 ? -1 : model->frames[link].body;
    s.in_body = placement_constant(pose->rotation, pose->position);
    if (link >= 0) {
        const dyn_pose *carrier = &model->frames[link].pose;
        s.in_body = placement_compose(placement_constant(carrier->rotation, carrier->position), s.in_body);
    }
    return s;
}

/* Returns the wrench of a force f at the point r. */
static inline force force_at(vec3 r, vec3 f) {
    return force_set(vec3_cross(r, f), f);
}

/* Returns the wrench in the world of a unit couple (axis 0 to 2) or force (axis 3 to 5) along an axis of the frame P. A
 * force along z includes the couple -pitch of a helical joint. */
static inline force joint_direction(placement P, int axis, double pitch) {
    real e[6];
    for (int i = 0; i < 6; i++) {
        e[i] = real_set(i == axis ? 1 : axis == 5 && i == 2 ? -pitch : 0);
    }
    return force_to_parent(P, force_set(vec3_set(e[0], e[1], e[2]), vec3_set(e[3], e[4], e[5])));
}

/* Computes the wrenches of all rows. P and S are the placements of the frames in the world. */
static inline void closure_wrenches(const closure *c, placement P, placement S, force *W) {
    if (c->kind == CLOSURE_DISTANCE) {
        W[0] = force_at(S.r, vec3_scale(real_set(1 / c->distance), vec3_sub(S.r, P.r)));
    } else if (c->kind == CLOSURE_PLANE) {
        W[0] = force_at(S.r, mat3_column_z(P.R));
    } else {
        for (int axis = 0; axis < 6; axis++) {
            if (c->axes >> axis & 1) {
                *W++ = joint_direction(P, axis, c->pitch);
            }
        }
        if (c->kind == CLOSURE_UNIVERSAL) {
            *W = force_set(vec3_cross(mat3_column_z(P.R), mat3_column_z(S.R)), vec3_zero());
        }
    }
}

/* Returns the velocity of the point r of a body with the spatial velocity V. */
static inline vec3 velocity_at(motion V, vec3 r) {
    return vec3_add(V.v, vec3_cross(V.w, r));
}

/* Computes the rates of the wrenches W. V_P and V_S are the spatial velocities of the frames P and S in the world. */
static inline void closure_wrench_rates(const closure *c, placement P, placement S, motion V_P, motion V_S,
                                        const force *W, force *rate) {
    vec3 dr = velocity_at(V_S, S.r);
    if (c->kind == CLOSURE_DISTANCE) {
        vec3 du = vec3_scale(real_set(1 / c->distance), vec3_sub(dr, velocity_at(V_P, P.r)));
        rate[0] = force_set(vec3_add(vec3_cross(dr, W[0].f), vec3_cross(S.r, du)), du);
        return;
    }
    if (c->kind == CLOSURE_PLANE) {
        vec3 dz = vec3_cross(V_P.w, W[0].f);
        rate[0] = force_set(vec3_add(vec3_cross(dr, W[0].f), vec3_cross(S.r, dz)), dz);
        return;
    }
    for (int r = 0; r < c->count; r++) {
        rate[r] = force_cross(V_P, W[r]);
    }
    if (c->kind == CLOSURE_UNIVERSAL) {
        vec3 z_P = mat3_column_z(P.R), z_S = mat3_column_z(S.R);
        vec3 n = vec3_add(vec3_cross(vec3_cross(V_P.w, z_P), z_S), vec3_cross(z_P, vec3_cross(V_S.w, z_S)));
        rate[c->count - 1] = force_set(n, vec3_zero());
    }
}

#endif
