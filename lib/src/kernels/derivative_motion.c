/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Propagates placements and motion from the root to the tips for the derivatives of inverse dynamics, in instances
 * whose lanes hold columns (derivative_terms.h).
 */
#include "derivative_frames.h"

#if TERM_LANES > 1

/* ---- placements -------------------------------------------------------------------------------------------------- */

static inline placement placement_of(const placement_columns *k) {
    placement W;
    W.R = mat3_from_columns(vec3_set(k->x[0], k->x[1], k->x[2]), vec3_set(k->y[0], k->y[1], k->y[2]),
                            vec3_set(k->z[0], k->z[1], k->z[2]));
    W.r = vec3_set(k->r[0], k->r[1], k->r[2]);
    return W;
}

static inline placement_columns columns_of(placement W) {
    const real rows[4][4] = {
        {W.R.xx, W.R.xy, W.R.xz, W.r.x}, {W.R.yx, W.R.yy, W.R.yz, W.r.y}, {W.R.zx, W.R.zy, W.R.zz, W.r.z}};
    placement_columns k;
    for (int c = 0; c < 4; c++) {
        k.x[c] = rows[c][0], k.y[c] = rows[c][1], k.z[c] = rows[c][2], k.r[c] = rows[c][3];
    }
    return k;
}

/* Computes all rows of the placement of a body that the hinge h connects to a body with the placement W. */
static inline placement_columns columns_on_hinge(hinge h, const placement_columns *W) {
    placement_columns k;
    for (int c = 0; c < 4; c++) {
        const placement_row row = {W->x[c], W->y[c], W->z[c], W->r[c]};
        placement_row turned = row_on_hinge(h, row);
        k.x[c] = turned.x, k.y[c] = turned.y, k.z[c] = turned.z, k.r[c] = turned.r;
    }
    return k;
}

void KERNEL(place_columns)(const derivative_state *s) {
    const derivative_tree *t = &s->tree;
    root_motion *roots = (root_motion *)t->roots;
    placement_columns *placed = (placement_columns *)t->placed, k = columns_of(placement_identity());
    for (int i = 0; i < t->count; i++) {
        const body *b = &t->model->bodies[i];
        if (b->parent >= 0 && b->parent != i - 1) {
            k = placed[t->first_column[b->parent + 1] - 1];
        }
        if (b->parent < 0) {
            k = columns_of(placement_identity());
            roots[i].a_0 = root_gravity(s, i);
        } else if (b->hinge) {
            k = columns_on_hinge(hinge_at(b, s->turns, i), &k);
        } else {
            k = columns_of(placement_compose(placement_of(&k), placement_at_joint(s, b, i)));
        }
        for (int y = t->first_column[i]; y < t->first_column[i + 1]; y++) {
            placed[y] = k;
        }
    }
}

/* ---- motion ------------------------------------------------------------------------------------------------------ */

/* Stores the columns of a joint that is not a hinge. A function of its own keeps velocities in registers. */
static __attribute__((noinline)) void store_joint_columns(const derivative_tree *t, int i) {
    const placement_columns *placed = (const placement_columns *)t->placed;
    for (int l = 0, y = t->first_column[i]; y < t->first_column[i + 1]; l++, y++) {
        motion S = placed_column(&t->model->bodies[i], placement_of(&placed[y]), l);
        store_motion(S, &columns_at(t, y)->S, term_lane(y));
    }
}

static inline motion velocity_of(const derivative_tree *t, int i) {
    const int y = body_term(t, i);
    return load_motion(&bodies_at(t, y)->v, term_lane(y));
}

static inline motion acceleration_of(const derivative_tree *t, int i) {
    const int y = body_term(t, i);
    return load_motion(&bodies_at(t, y)->a, term_lane(y));
}

void KERNEL(carry_velocities)(const derivative_state *s) {
    const derivative_tree *t = &s->tree;
    root_motion *roots = (root_motion *)t->roots;
    motion v = motion_zero();
    for (int i = 0; i < t->count; i++) {
        const body *b = &t->model->bodies[i];
        if (b->parent != i - 1) {
            v = b->parent < 0 ? motion_zero() : velocity_of(t, b->parent);
        }
        if (!b->hinge) {
            store_joint_columns(t, i);
        }
        const motion v_p = v;
        for (int l = 0; l < b->nv; l++) {
            const int y = t->first_column[i] + l, lane = term_lane(y);
            v = motion_fma(s->v[b->v_index + l], load_motion(&columns_at(t, y)->S, lane), v);
            store_motion(v_p, &joints_at(t, y)->v, lane);
            store_motion(v, &bodies_at(t, y)->v, lane);
        }
        if (b->parent < 0) {
            roots[i].v = turning_of(s, v);
        }
    }
}

void KERNEL(add_joint_rates)(const derivative_state *s) {
    const derivative_tree *t = &s->tree;
    for (int i = 0; i < t->count; i++) {
        const body *b = &t->model->bodies[i];
        motion vJ = motion_zero();
        for (int l = 0; l < b->nv && b->nv > 1; l++) {
            const int y = t->first_column[i] + l;
            vJ = motion_fma(s->v[b->v_index + l], load_motion(&columns_at(t, y)->S, term_lane(y)), vJ);
        }
        if (b->nv > 1) {
            add_rates_of_joint(t, i, turning_of(s, vJ));
        }
    }
}

void KERNEL(place_rotors)(const derivative_state *s) {
    const derivative_tree *t = &s->tree;
    const placement_columns *placed = (const placement_columns *)t->placed;
    for (int i = 0; i < t->count; i++) {
        const body *b = &t->model->bodies[i];
        const int y = t->first_column[i], lane = term_lane(y);
        rotor_terms *r = rotors_at(t, y);
        if (b->is_driven) {
            r->d.x[lane] = reflected_inertia(b), r->v.x[lane] = s->v[b->v_index];
        }
        if (b->is_driven && b->parent >= 0) {
            store_vec3(mat3_apply(placement_of(&placed[t->first_column[b->parent + 1] - 1]).R, rotor_couple(b)), &r->g,
                       lane);
        }
    }
}

void KERNEL(accelerate_rotors)(const derivative_state *s, const real *a) {
    const derivative_tree *t = &s->tree;
    for (int i = 0; i < t->count; i++) {
        const int y = t->first_column[i];
        if (t->model->bodies[i].is_driven) {
            rotors_at(t, y)->a.x[term_lane(y)] = a[t->model->bodies[i].v_index];
        }
    }
}

void KERNEL(carry_accelerations)(const derivative_state *s, const real *a) {
    const derivative_tree *t = &s->tree;
    const root_motion *roots = (const root_motion *)t->roots;
    motion k = motion_zero();
    for (int i = 0; i < t->count; i++) {
        const body *b = &t->model->bodies[i];
        if (b->parent < 0) {
            k = motion_set(vec3_zero(), roots[i].a_0);
        } else if (b->parent != i - 1) {
            k = acceleration_of(t, b->parent);
        }
        const motion a_p = k;
        for (int l = 0; l < b->nv; l++) {
            const int y = t->first_column[i] + l, lane = term_lane(y), c = b->v_index + l;
            motion S = load_motion(&columns_at(t, y)->S, lane);
            motion Psi_dot = load_motion(&columns_at(t, y)->Psi_dot, lane);
            k = motion_fma(a[c], S, motion_fma(s->v[c], Psi_dot, k));
            store_motion(a_p, &joints_at(t, y)->a, lane);
            store_motion(k, &bodies_at(t, y)->a, lane);
        }
    }
}

#endif
