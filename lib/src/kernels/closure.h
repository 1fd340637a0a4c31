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
 *     ball, wheel   three forces x_P, y_P, z_P at the point of contact r_S - radius u
 *
 * u is the normal z_P of the plane for a ball, and the unit vector along z_P - (z_P . z_S) z_S for a wheel with the
 * axis z_S. tiny keeps it finite where a wheel lies in the plane.
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

/* Returns the body of one side of a closure; -1: the world. */
static inline int body_of_side(const dyn_model *model, const closure *c, int side) {
    int link = c->links[side];
    return link < 0 ? -1 : model->frames[link].body;
}

/* Returns side 0, the predecessor, or side 1, the successor. */
static inline closure_side side_of_closure(const dyn_model *model, const closure *c, int side) {
    closure_side s;
    const dyn_pose *pose = &c->poses[side];
    int link = c->links[side];
    s.body = body_of_side(model, c, side);
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

/* Returns dp/dx of the polynomial of a closure. */
static inline real polynomial_slope(const closure *c, real x) {
    real sum = real_set(0);
    for (int k = c->degree; k > 0; k--) {
        sum = real_fma(sum, x, real_set(k * c->polynomial[k]));
    }
    return sum;
}

/* Returns d2p/dx2 of the polynomial of a closure. */
static inline real polynomial_curvature(const closure *c, real x) {
    real sum = real_set(0);
    for (int k = c->degree; k > 1; k--) {
        sum = real_fma(sum, x, real_set(k * (k - 1) * c->polynomial[k]));
    }
    return sum;
}

/* Point at which a body rolls on a plane: from its centre, `radius` times -u, and the rate of u. */
typedef struct rolling_contact {
    vec3 u, rate;
} rolling_contact;

/* Returns the contact of a ball or a wheel. w_P and w_S are the angular velocities of P and S. */
static inline rolling_contact find_contact(const closure *c, placement P, placement S, vec3 w_P, vec3 w_S) {
    const double tiny = 1e-24;
    vec3 z_P = mat3_column_z(P.R), z_S = mat3_column_z(S.R), dz_P = vec3_cross(w_P, z_P), dz_S = vec3_cross(w_S, z_S);
    if (c->kind == CLOSURE_BALL) {
        rolling_contact below = {z_P, dz_P};
        return below;
    }
    real along = vec3_dot(z_P, z_S), rate = vec3_dot(dz_P, z_S) + vec3_dot(z_P, dz_S);
    vec3 n = vec3_fma(-along, z_S, z_P), dn = vec3_fma(-rate, z_S, vec3_fma(-along, dz_S, dz_P));
    real inverse = real_set(1) / real_sqrt(vec3_dot_add(n, n, real_set(tiny)));
    vec3 u = vec3_scale(inverse, n);
    rolling_contact lowest = {u, vec3_scale(inverse, vec3_fma(-vec3_dot(u, dn), u, dn))};
    return lowest;
}

/* Computes the wrenches of the rows of a ball or a wheel. */
static inline void rolling_wrenches(const closure *c, placement P, placement S, force *W) {
    rolling_contact at = find_contact(c, P, S, vec3_zero(), vec3_zero());
    vec3 r = vec3_fma(real_set(-c->distance), at.u, S.r);
    W[0] = force_at(r, mat3_column_x(P.R));
    W[1] = force_at(r, mat3_column_y(P.R));
    W[2] = force_at(r, mat3_column_z(P.R));
}

/* Computes the wrenches of all rows. P and S are the placements of the frames in the world. */
static inline void closure_wrenches(const closure *c, placement P, placement S, force *W) {
    if (c->kind == CLOSURE_DISTANCE) {
        W[0] = force_at(S.r, vec3_scale(real_set(1 / c->distance), vec3_sub(S.r, P.r)));
    } else if (c->kind == CLOSURE_PLANE) {
        W[0] = force_at(S.r, mat3_column_z(P.R));
    } else if (c->kind == CLOSURE_BALL || c->kind == CLOSURE_WHEEL) {
        rolling_wrenches(c, P, S, W);
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

/* Computes the rates of the wrenches of a ball or a wheel: the point of contact moves on the body and on the plane. */
static inline void rolling_wrench_rates(const closure *c, placement P, placement S, motion V_P, motion V_S,
                                        const force *W, force *rate) {
    rolling_contact at = find_contact(c, P, S, V_P.w, V_S.w);
    vec3 r = vec3_fma(real_set(-c->distance), at.u, S.r);
    vec3 dr = vec3_fma(real_set(-c->distance), at.rate, velocity_at(V_S, S.r));
    for (int i = 0; i < 3; i++) {
        vec3 df = vec3_cross(V_P.w, W[i].f);
        rate[i] = force_set(vec3_add(vec3_cross(dr, W[i].f), vec3_cross(r, df)), df);
    }
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
    if (c->kind == CLOSURE_BALL || c->kind == CLOSURE_WHEEL) {
        rolling_wrench_rates(c, P, S, V_P, V_S, W, rate);
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

/* Returns the wrench in the axes of a body of a wrench W in the world. X is the body's placement in the world. */
static inline force wrench_in_body(placement X, force W) {
    W.n = vec3_sub(W.n, vec3_cross(X.r, W.f));
    return force_set(mat3_apply_transposed(X.R, W.n), mat3_apply_transposed(X.R, W.f));
}

/* Frame of one side of a closure: its body, -1: the world, with the placements of the body and the frame in the world,
 * and the velocity there. */
typedef struct moving_side {
    int body;
    placement of_body, of_frame;
    motion V;
} moving_side;

/* Computes the wrenches of all rows, and the accelerations k_r = sum of w_i' a_i over the bodies that they require if
 * the bodies accelerate upwards instead of falling. `gain` (2 k of the stabilization) times A v is subtracted. */
static inline void closure_rows(const closure *c, moving_side P, moving_side S, const double gravity[3], double gain,
                                force *W, real *k) {
    closure_wrenches(c, P.of_frame, S.of_frame, W);
    for (int r = 0; r < c->count; r++) {
        k[r] = real_set(0);
    }
    if (P.body >= 0 || c->kind != CLOSURE_JOINT || gain != 0) {
        motion relative = motion_fma(real_set(-1), P.V, S.V);
        force rates[6];
        closure_wrench_rates(c, P.of_frame, S.of_frame, P.V, S.V, W, rates);
        for (int r = 0; r < c->count; r++) {
            force weighted = force_fma(real_set(gain), W[r], rates[r]);
            k[r] = real_set(0) - spatial_dot(relative, weighted);
        }
    }
    if ((S.body < 0) != (P.body < 0)) {
        vec3 g = vec3_scale(real_set(S.body < 0 ? 1 : -1), vec3_constant(gravity));
        for (int r = 0; r < c->count; r++) {
            k[r] = vec3_dot_add(W[r].f, g, k[r]);
        }
    }
}

#endif
