/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Second derivatives of the recursive Newton-Euler algorithm, tau(q, v, a), and the derivative of the mass matrix.
 *
 * In the frame and with the terms of subtrees.h. Let c be the deepest coordinate of an entry, x and y coordinates at or
 * above c, and r one above c's joint. I, f and 2 B belong to the subtree of c's joint, 2 B[m] is the map of
 * coriolis_map.h if that subtree moves with m, F = d f / d q_c and E = d f / d v_c. An increment of q_x moves the
 * subtree of joint x as a rigid body. Relative to it,
 *
 *     D Psi_dot_y  = Psi_dot_x x S_y                                    D 2 B = 2 B[Psi_dot_x]      D S_y = 0
 *     D Psi_ddot_y = Psi_ddot_x x S_y + 2 Psi_dot_x x Psi_dot_y         D f   = 2 B Psi_dot_x + I Psi_ddot_x
 *
 * for y at joint x or in its subtree. All quantities u nearer to the root change by D u = -S_x x u. So
 *
 *     d2 tau_c / dq_y dq_x = S_c' (2 B[Psi_dot_x] Psi_dot_y + 2 B D Psi_dot_y + I D Psi_ddot_y)     x at or above y
 *     d2 tau_r / dq_c dq_x = S_r' (2 B[Psi_dot_x] Psi_dot_c + 2 B D Psi_dot_c + I D Psi_ddot_c + S_c x* D f
 *                                  + S_x x* F where r is above x)
 *     d2 tau_c / dv_y dv_x = S_c' (2 B[S_x] S_y + s I (S_x x S_y))          s = 2 for x above y, 1 for one joint
 *     d2 tau_r / dv_c dv_x = S_r' (2 B[S_x] S_c + s I (S_x x S_c))
 *     d2 tau_c / dq_y dv_x = S_c' (2 B[S_x] Psi_dot_y + T_y)
 *     d2 tau_r / dq_c dv_x = S_r' (2 B[S_x] Psi_dot_c + T_c + S_c x* (2 B S_x + I rate_x))
 *     d2 tau_r / dq_x dv_c = S_r' (2 B[S_c] Psi_dot_x + S_x x* E where r is above x)                x above c
 *                            T_y = 2 B (S_x x S_y) + I (rate_x x S_y + 2 S_x x Psi_dot_y) for x above y, else zero
 *     d M_cy / dq_x        = S_y' (S_x x* I S_c)                            y above x
 *     d M_rx / dq_c        = S_r' (S_c x* I S_x - I (S_c x S_x))            x above c
 *
 * and derivatives along different joints commute. All other entries are zero.
 *
 * The entries of the tree of a model with custom joints are added to those of the model by the chain rule (stages.h):
 * with the increments g of q, r of v and alpha of a along q_j, and 2 r of a along v_j,
 *
 *     d2 tau / dq_j dq_k   has   qq g_j g_k + qv (g_j r_k + g_k r_j) + vv r_j r_k + Mq (alpha_j g_k + alpha_k g_j)
 *     d2 tau / dv_j dv_k   has   vv g_j g_k
 *     d2 tau / dq_j dv_k   has   qv g_j g_k + vv r_j g_k + Mq g_j 2 r_k
 *
 * Source: Singh, Russell and Wensing 2023, "On second-order derivatives of rigid-body dynamics: theory and
 * implementation", expressed here by maps of twelve numbers.
 */
#include "stages.h"
#include "subtrees.h"

/* Results: entry (i, j, k) of each array has the index (i nv + j) nv + k. */
typedef struct cube_entries {
    int nv;
    real *qq, *vv, *qv, *Mq;
    const stage_shares *shares; /* of the coordinates of a tree with stages in those of the results; NULL: the same */
} cube_entries;

/* Column c, the deepest. */
typedef struct deepest_column {
    const tree_column *c;
    int body, index; /* index: of its coordinate */
    rigid_inertia I;
    coriolis_map B, B_S; /* B_S = B[S_c] */
    force IS, F, E;
    vec3 BS; /* 2 B' S_c */
} deepest_column;

/* Column x at or above c, and the maps of the subtree of c that depend on x. */
typedef struct pair_of_columns {
    const tree_column *x;
    int body, index;
    coriolis_map B_S, B_Psi; /* B[S_x], B[Psi_dot_x] */
} pair_of_columns;

size_t KERNEL(rnea_second_derivatives_memory)(const dyn_model *model) {
    return subtrees_memory(model);
}

static inline deepest_column find_deepest(const tree *t, int i, int k) {
    const subtree *s = &t->subtrees[i];
    deepest_column y;
    y.c = &t->columns[t->bodies[i].first_column + k];
    y.body = i;
    y.index = t->model->bodies[i].v_index + k;
    y.I = s->I;
    y.B = coriolis_map_of(s->p);
    y.B_S = coriolis_map_of(momentum_field_of(y.I, y.c->S));
    y.IS = rigid_inertia_apply(y.I, y.c->S);
    y.BS = coriolis_apply_transposed(y.B, y.c->S);
    force turned = force_add(rigid_inertia_apply(y.I, y.c->Psi_ddot), force_cross(y.c->S, s->f));
    y.F = coriolis_apply_add(y.B, y.c->Psi_dot.w, turned);
    y.E = coriolis_apply_add(y.B, y.c->S.w, rigid_inertia_apply(y.I, y.c->rate));
    return y;
}

static inline pair_of_columns find_pair(const tree *t, const deepest_column *c, int j, int l) {
    pair_of_columns y;
    y.x = &t->columns[t->bodies[j].first_column + l];
    y.body = j;
    y.index = t->model->bodies[j].v_index + l;
    y.B_S = coriolis_map_of(momentum_field_of(c->I, y.x->S));
    y.B_Psi = coriolis_map_of(momentum_field_of(c->I, y.x->Psi_dot));
    return y;
}

static inline real *entry(const cube_entries *d, real *result, int i, int j, int k) {
    return &result[((size_t)i * (size_t)d->nv + (size_t)j) * (size_t)d->nv + (size_t)k];
}

/* Adds x, entry (i, j, k) of one result of a tree with stages, to all results of the model that have a share of it. */
static void share_entry(const cube_entries *d, real *result, int i, int j, int k, real x) {
    const stage_shares *s = d->shares;
    int row = s->owner[i], first = s->owner[j], second = s->owner[k];
    x = s->slope[i] * x;
    *entry(d, result, row, first, second) += s->slope[j] * s->slope[k] * x;
    if (result == d->vv) {
        *entry(d, d->qq, row, first, second) += s->rate[j] * s->rate[k] * x;
        *entry(d, d->qv, row, first, second) += s->rate[j] * s->slope[k] * x;
    } else if (result != d->qq) {
        real along = result == d->qv ? s->slope[j] * s->rate[k] * x : s->acceleration[j] * s->slope[k] * x;
        *entry(d, d->qq, row, first, second) += along;
        *entry(d, d->qq, row, second, first) += along;
    }
    if (result == d->Mq) {
        *entry(d, d->qv, row, second, first) += real_set(2) * s->rate[j] * s->slope[k] * x;
    }
}

static inline void add_entry(const cube_entries *d, real *result, int i, int j, int k, real value) {
    if (SERVES_STAGES && d->shares) {
        share_entry(d, result, i, j, k, value);
    } else {
        *entry(d, result, i, j, k) += value;
    }
}

/* Adds to (i, j, k), and also to (i, k, j) if `both` is true because the derivatives commute. */
static inline void add_pair(const cube_entries *d, real *result, int i, int j, int k, bool both, real value) {
    add_entry(d, result, i, j, k, value);
    if (both) {
        add_entry(d, result, i, k, j, value);
    }
}

static inline force turning_force(vec3 n) {
    return force_set(n, vec3_zero());
}

static inline motion motion_twice(motion m) {
    return motion_add(m, m);
}

/* Adds row c: S_c' (...) for every y at or above c. Products with S_c are computed once and transposed to y. */
static void add_own_rows(const tree *t, const deepest_column *c, const pair_of_columns *p, const cube_entries *d) {
    const tree_column *x = p->x;
    force turned = force_cross(x->S, c->IS), on_S = turning_force(coriolis_apply_transposed(p->B_S, c->c->S));
    force twice = force_fma(real_set(-2), turned, on_S), once = force_sub(on_S, turned);
    force q_S = force_sub(turning_force(vec3_cross(c->BS, x->Psi_dot.w)), force_cross(x->Psi_ddot, c->IS));
    force q_Psi = force_fma(real_set(-2), force_cross(x->Psi_dot, c->IS),
                            turning_force(coriolis_apply_transposed(p->B_Psi, c->c->S)));
    force v_S = force_sub(turning_force(vec3_cross(c->BS, x->S.w)), force_cross(x->rate, c->IS));
    for (int j = c->body; j >= 0; j = t->model->bodies[j].parent) {
        bool is_descendant = j > p->body, same = j == p->body;
        for (int l = 0; l < t->model->bodies[j].nv; l++) {
            const tree_column *y = &t->columns[t->bodies[j].first_column + l];
            int at = t->model->bodies[j].v_index + l;
            if (is_descendant || same) {
                add_pair(d, d->qq, c->index, at, p->index, is_descendant,
                         spatial_dot(y->S, q_S) + spatial_dot(y->Psi_dot, q_Psi));
                add_pair(d, d->vv, c->index, at, p->index, is_descendant,
                         spatial_dot(y->S, is_descendant ? twice : once));
            } else {
                real m = spatial_dot(y->S, turned);
                add_entry(d, d->Mq, c->index, at, p->index, m);
                add_entry(d, d->Mq, at, c->index, p->index, m);
            }
            add_entry(d, d->qv, c->index, at, p->index,
                      is_descendant ? spatial_dot(y->S, v_S) + spatial_dot(y->Psi_dot, twice)
                                    : vec3_dot(y->Psi_dot.w, on_S.n));
        }
    }
}

/* Adds the rows r above the joint of c. */
static void add_rows_above(const tree *t, const deepest_column *c, const pair_of_columns *p, const cube_entries *d) {
    const tree_column *x = p->x, *own = c->c;
    bool above = p->body != c->body;
    motion SS = motion_cross(x->S, own->S), PS = motion_cross(x->Psi_dot, own->S);
    motion D_Psi_ddot =
        motion_add(motion_cross(x->Psi_ddot, own->S), motion_twice(motion_cross(x->Psi_dot, own->Psi_dot)));
    force Df = coriolis_apply_add(c->B, x->Psi_dot.w, rigid_inertia_apply(c->I, x->Psi_ddot));
    force qq = force_add(rigid_inertia_apply(c->I, D_Psi_ddot), force_cross(own->S, Df));
    qq = coriolis_apply_add(c->B, PS.w, coriolis_apply_add(p->B_Psi, own->Psi_dot.w, qq));
    force qq_above = force_add(qq, force_cross(x->S, c->F));
    force vv = coriolis_apply_add(p->B_S, own->S.w, rigid_inertia_apply(c->I, above ? motion_twice(SS) : SS));
    force Ev = coriolis_apply_add(c->B, x->S.w, rigid_inertia_apply(c->I, x->rate));
    force qv = coriolis_apply_add(p->B_S, own->Psi_dot.w, force_cross(own->S, Ev));
    if (above) {
        motion T = motion_add(motion_cross(x->rate, own->S), motion_twice(motion_cross(x->S, own->Psi_dot)));
        qv = force_add(qv, coriolis_apply_add(c->B, SS.w, rigid_inertia_apply(c->I, T)));
    }
    force vq = coriolis_apply(c->B_S, x->Psi_dot.w), vq_above = force_add(vq, force_cross(x->S, c->E));
    force Mq = force_add(force_cross(own->S, rigid_inertia_apply(c->I, x->S)), rigid_inertia_apply(c->I, SS));
    for (int j = t->model->bodies[c->body].parent; j >= 0; j = t->model->bodies[j].parent) {
        for (int l = 0; l < t->model->bodies[j].nv; l++) {
            motion S = t->columns[t->bodies[j].first_column + l].S;
            int r = t->model->bodies[j].v_index + l;
            add_pair(d, d->qq, r, c->index, p->index, above, spatial_dot(S, j < p->body ? qq_above : qq));
            add_pair(d, d->vv, r, c->index, p->index, above, spatial_dot(S, vv));
            add_entry(d, d->qv, r, c->index, p->index, spatial_dot(S, qv));
            if (above) {
                add_entry(d, d->qv, r, p->index, c->index, spatial_dot(S, j < p->body ? vq_above : vq));
                add_entry(d, d->Mq, r, p->index, c->index, spatial_dot(S, Mq));
            }
        }
    }
}

void KERNEL(add_second_derivatives)(const dyn_model *tree_model, void *memory, const packed_inputs *in,
                                    const stage_shares *shares, int nv, const derivative_cubes *out) {
    const body *bodies = tree_model->bodies;
    tree t =
        find_tree(tree_model, memory, in->gravity, (const real *)in->q, (const real *)in->v, (const real *)in->third);
    cube_entries d;
    d.nv = nv, d.shares = shares;
    d.qq = (real *)out->dqdq, d.vv = (real *)out->dvdv, d.qv = (real *)out->dqdv, d.Mq = (real *)out->dMdq;
    for (int i = tree_model->body_count - 1; i >= 0; i--) {
        for (int k = 0; k < bodies[i].nv; k++) {
            deepest_column c = find_deepest(&t, i, k);
            for (int j = i; j >= 0; j = bodies[j].parent) {
                for (int l = 0; l < bodies[j].nv; l++) {
                    pair_of_columns p = find_pair(&t, &c, j, l);
                    add_own_rows(&t, &c, &p, &d);
                    add_rows_above(&t, &c, &p, &d);
                }
            }
        }
        if (bodies[i].parent >= 0) {
            subtree_add(&t.subtrees[bodies[i].parent], &t.subtrees[i]);
        }
    }
}

void KERNEL(rnea_second_derivatives)(const dyn_model *model, void *memory, const packed_inputs *in,
                                     const derivative_cubes *out) {
    real *results[4] = {(real *)out->dqdq, (real *)out->dvdv, (real *)out->dqdv, (real *)out->dMdq};
    for (size_t i = 0, count = (size_t)model->nv * (size_t)model->nv * (size_t)model->nv; i < count; i++) {
        results[0][i] = results[1][i] = results[2][i] = results[3][i] = real_set(0);
    }
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_rnea_second_derivatives)(model, memory, in, out);
        return;
    }
    KERNEL(add_second_derivatives)(model, memory, in, NULL, model->nv, out);
}
