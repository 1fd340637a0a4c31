/*
 * First derivatives of the recursive Newton-Euler algorithm, tau(q, v, a), and the mass matrix.
 *
 * In the frame and with the columns of columns.h. Over all that joint i moves, body i and what hangs on it, let I be
 * the inertia, f the force that the motion takes, and, with r' the velocity of the mass at r,
 *
 *     2 B (w; v) = integral of (r x (2 w x r'); 2 w x r') dm = (2 (tr(H) 1 - H) w; 2 w x p)
 *     H = integral of r' r^T dm        p = integral of r' dm
 *
 * For j at or above i                                      For j above i
 *
 *     d tau_i / d q_j = S_i' (2 B Psi_dot_j + I Psi_ddot_j)    d tau_j / d q_i = S_j' (2 B Psi_dot_i + I Psi_ddot_i
 *                                                                                      + S_i x* f)
 *     d tau_i / d v_j = S_i' (2 B S_j + I rate_j)              d tau_j / d v_i = S_j' (2 B S_i + I rate_i)
 *     M_ij            = S_i' I S_j                             M_ji            = M_ij
 *
 * A coupled mimic joint adds its rows and columns to its master's. External wrenches are constant in their reference
 * frames: one in local axes is a part of f; one in world axes does not move with the columns (add_world_wrench).
 *
 * Source: Singh, Russell and Wensing 2022, "Efficient analytical derivatives of rigid-body dynamics using spatial
 * vector algebra", algorithm 1; with B reduced to the twelve numbers of H and p.
 */
#include "columns.h"

/* Sums over body i and what hangs on it. */
typedef struct subtree {
    rigid_inertia I;
    mat3 H;
    vec3 p;
    force f;
} subtree;

/* What one column is multiplied with. */
typedef struct column_products {
    force IS;
    vec3 BS; /* angular part of 2 B' S; the other one is zero */
    force dq, dv;
} column_products;

typedef struct derivatives {
    int nv;
    real *dq, *dv, *da;
} derivatives;

size_t KERNEL(rnea_derivatives_memory)(const dyn_model *model) {
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * (sizeof(tree_body) + sizeof(subtree)) +
           column_count(model) * sizeof(tree_column);
}

/* The body alone: f = I a + v x* I v, and H = w~ J + v h' with J = tr(I)/2 - I. */
static inline subtree body_terms(const body *b, const tree_body *k) {
    subtree x;
    x.I = rigid_inertia_to_parent(k->W, body_inertia(b));
    sym3 I = x.I.I;
    vec3 w = k->v.w, v = k->v.v, h = x.I.h;
    real half = 0.5 * (I.xx + I.yy + I.zz);
    vec3 Jx = vec3_set(half - I.xx, -I.xy, -I.xz), Jy = vec3_set(-I.xy, half - I.yy, -I.yz);
    vec3 Jz = vec3_set(-I.xz, -I.yz, half - I.zz);
    x.H = mat3_from_columns(vec3_fma(h.x, v, vec3_cross(w, Jx)), vec3_fma(h.y, v, vec3_cross(w, Jy)),
                            vec3_fma(h.z, v, vec3_cross(w, Jz)));
    x.p = vec3_fma(x.I.m, v, vec3_cross(w, h));
    force momentum = force_set(vec3_set(x.H.zy - x.H.yz, x.H.xz - x.H.zx, x.H.yx - x.H.xy), x.p);
    x.f = force_add(rigid_inertia_apply(x.I, k->a), force_cross(k->v, momentum));
    return x;
}

static inline void subtree_add(subtree *sum, const subtree *x) {
    sum->I = rigid_inertia_add(sum->I, x->I);
    sum->H = mat3_add(sum->H, x->H);
    sum->p = vec3_add(sum->p, x->p);
    sum->f = force_add(sum->f, x->f);
}

/* 2 (tr(H) 1 - H) */
static inline mat3 coriolis_block(mat3 H) {
    mat3 B;
    B.xx = 2.0 * (H.yy + H.zz), B.xy = -2.0 * H.xy, B.xz = -2.0 * H.xz;
    B.yx = -2.0 * H.yx, B.yy = 2.0 * (H.xx + H.zz), B.yz = -2.0 * H.yz;
    B.zx = -2.0 * H.zx, B.zy = -2.0 * H.zy, B.zz = 2.0 * (H.xx + H.yy);
    return B;
}

static inline column_products multiply_column(const subtree *x, mat3 B, vec3 twice_p, const tree_column *c) {
    column_products y;
    y.IS = rigid_inertia_apply(x->I, c->S);
    y.BS = vec3_add(mat3_apply_transposed(B, c->S.w), vec3_cross(twice_p, c->S.v));
    y.dq = force_add(rigid_inertia_apply(x->I, c->Psi_ddot), force_cross(c->S, x->f));
    y.dq = force_add(y.dq, force_set(mat3_apply(B, c->Psi_dot.w), vec3_cross(c->Psi_dot.w, twice_p)));
    y.dv = force_add(rigid_inertia_apply(x->I, c->rate), force_set(mat3_apply(B, c->S.w), vec3_cross(c->S.w, twice_p)));
    return y;
}

/* Adds the entries at (row, column) that column j above or beside column i gives; i's products are y. */
static inline void add_row_entry(const derivatives *d, int row, int column, const column_products *y,
                                 const tree_column *j) {
    int at = row * d->nv + column;
    d->dq[at] += vec3_dot(y->BS, j->Psi_dot.w) + spatial_dot(j->Psi_ddot, y->IS);
    d->dv[at] += vec3_dot(y->BS, j->S.w) + spatial_dot(j->rate, y->IS);
}

/* The joint of body i, column k, against itself and all joints above. */
static void add_entries(const dyn_model *model, const tree_body *bodies, const tree_column *columns, int i, int k,
                        const column_products *y, const derivatives *d) {
    const body *b = &model->bodies[i];
    int row = b->v_index + k, nv = d->nv;
    for (int l = 0; l < b->nv; l++) {
        const tree_column *c = &columns[bodies[i].first_column + l];
        add_row_entry(d, row, b->v_index + l, y, c);
        d->da[row * nv + b->v_index + l] += spatial_dot(c->S, y->IS);
    }
    for (int j = b->parent; j >= 0; j = model->bodies[j].parent) {
        const body *p = &model->bodies[j];
        for (int l = 0; l < p->nv; l++) {
            const tree_column *c = &columns[bodies[j].first_column + l];
            int column = p->v_index + l, below = row * nv + column, above = column * nv + row;
            real m = spatial_dot(c->S, y->IS);
            add_row_entry(d, row, column, y, c);
            d->dq[above] += spatial_dot(c->S, y->dq);
            d->dv[above] += spatial_dot(c->S, y->dv);
            d->da[below] += m;
            d->da[above] += m;
        }
    }
}

/* Outward: the motion, and each body's terms. */
static void outward_pass(const dyn_model *model, const placement *X, const double gravity[3], const real *v,
                         const real *a, tree_body *bodies, tree_column *columns, subtree *subtrees) {
    for (int i = 0, first = 0; i < model->body_count; first += model->bodies[i].nv, i++) {
        const body *b = &model->bodies[i];
        tree_body *k = &bodies[i];
        k->first_column = first;
        if (b->parent < 0) {
            tree_body world = tree_world(X[i], gravity);
            k->W = placement_identity();
            carry_columns(b, &world, v + b->v_index, a + b->v_index, k, columns + first);
        } else {
            k->W = placement_compose(bodies[b->parent].W, X[i]);
            carry_columns(b, &bodies[b->parent], v + b->v_index, a + b->v_index, k, columns + first);
        }
        subtrees[i] = body_terms(b, k);
    }
}

/* Inward: the sums over subtrees, and with them the entries. */
static void inward_pass(const dyn_model *model, const tree_body *bodies, const tree_column *columns, subtree *subtrees,
                        const derivatives *d) {
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        mat3 B = coriolis_block(subtrees[i].H);
        vec3 twice_p = vec3_add(subtrees[i].p, subtrees[i].p);
        for (int k = 0; k < b->nv; k++) {
            column_products y = multiply_column(&subtrees[i], B, twice_p, &columns[bodies[i].first_column + k]);
            add_entries(model, bodies, columns, i, k, &y, d);
        }
        if (b->parent >= 0) {
            subtree_add(&subtrees[b->parent], &subtrees[i]);
        }
    }
}

/* A wrench F on body i that keeps its direction: tau_x = -S_x' F changes with q_y by
 *     -(S_y x S_x)' F         where joint y carries joint x, and, where F acts at a point r of the body,
 *     -S_x' (dr x F.f; 0)     with dr = S_y.v + S_y.w x r, since the point moves. */
static void add_world_wrench(const dyn_model *model, const tree_body *bodies, const tree_column *columns,
                             int body_index, force F, const vec3 *point, const derivatives *d) {
    for (int i = body_index; i >= 0; i = model->bodies[i].parent) {
        for (int k = 0; k < model->bodies[i].nv; k++) {
            vec3 w = columns[bodies[i].first_column + k].S.w;
            force turned = force_cross(columns[bodies[i].first_column + k].S, F);
            int row = model->bodies[i].v_index + k;
            for (int j = body_index; j >= 0; j = model->bodies[j].parent) {
                for (int l = 0; l < model->bodies[j].nv; l++) {
                    motion S = columns[bodies[j].first_column + l].S;
                    real *entry = &d->dq[row * d->nv + model->bodies[j].v_index + l];
                    if (j <= i) {
                        *entry -= spatial_dot(S, turned);
                    }
                    if (point) {
                        *entry -= vec3_dot(vec3_add(S.v, vec3_cross(S.w, *point)), vec3_cross(F.f, w));
                    }
                }
            }
        }
    }
}

/* The wrenches of either kind, local ones into f. */
static void add_wrenches(const dyn_model *model, const placement *X, const wrench_set *forces, const tree_body *bodies,
                         const tree_column *columns, subtree *subtrees, const derivatives *d) {
    for (size_t j = 0; forces && j < forces->count; j++) {
        wrench_frame at = forces->frames[j];
        const body_frame *frame = &model->frames[at.frame];
        int i = frame->body;
        force F = KERNEL(body_wrench)(model, X, at, (const real *)forces->wrenches + 6 * j);
        F = force_to_parent(bodies[i].W, F);
        if (at.reference_frame == DYN_LOCAL) {
            subtrees[i].f = force_sub(subtrees[i].f, F);
            continue;
        }
        vec3 point = placement_compose(bodies[i].W, placement_constant(frame->pose.rotation, frame->pose.position)).r;
        add_world_wrench(model, bodies, columns, i, F, at.reference_frame == DYN_WORLD ? NULL : &point, d);
    }
}

void KERNEL(rnea_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                              const void *v, const void *a, const wrench_set *forces, void *dtau_dq, void *dtau_dv,
                              void *dtau_da) {
    placement *X = KERNEL(placements)(model, (const real *)q, &memory);
    tree_column *columns = (tree_column *)memory;
    subtree *subtrees = (subtree *)(columns + column_count(model));
    tree_body *bodies = (tree_body *)(subtrees + model->body_count);
    derivatives d;
    d.nv = model->nv, d.dq = (real *)dtau_dq, d.dv = (real *)dtau_dv, d.da = (real *)dtau_da;
    for (int i = 0; i < d.nv * d.nv; i++) {
        d.dq[i] = d.dv[i] = d.da[i] = real_set(0);
    }
    outward_pass(model, X, gravity, (const real *)v, (const real *)a, bodies, columns, subtrees);
    add_wrenches(model, X, forces, bodies, columns, subtrees, &d);
    inward_pass(model, bodies, columns, subtrees, &d);
}
