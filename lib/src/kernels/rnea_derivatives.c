/*
 * First derivatives of the recursive Newton-Euler algorithm, tau(q, v, a), and the mass matrix.
 *
 * In the frame and with the columns of columns.h. Over all that joint i moves, body i and what hangs on it, let I be
 * the inertia, f the force that the motion takes, and 2 B the matrix of coriolis_map.h.
 *
 * For j at or above i                                      For j above i
 *
 *     d tau_i / d q_j = S_i' (2 B Psi_dot_j + I Psi_ddot_j)    d tau_j / d q_i = S_j' (2 B Psi_dot_i + I Psi_ddot_i
 *                                                                                      + S_i x* f)
 *     d tau_i / d v_j = S_i' (2 B S_j + I rate_j)              d tau_j / d v_i = S_j' (2 B S_i + I rate_i)
 *     M_ij            = S_i' I S_j                             M_ji            = M_ij
 *
 * The columns of the root are axes of the frame, so that products with them are picked. Entries of joints on different
 * branches are zero. A coupled mimic joint adds its rows and columns to its master's. External wrenches are constant in
 * their reference frames: one in local axes is a part of f; one in world axes does not move with the columns
 * (add_world_wrench).
 *
 * Source: Singh, Russell and Wensing 2022, "Efficient analytical derivatives of rigid-body dynamics using spatial
 * vector algebra", algorithm 1; with B reduced to twelve numbers.
 */
#include "subtrees.h"

/* What the columns above are multiplied with, for one column. */
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
    return subtrees_memory(model);
}

/* I S and 2 B' S, */
static inline column_products multiply_column(const subtree *x, coriolis_map B, motion S) {
    column_products y;
    y.IS = rigid_inertia_apply(x->I, S);
    y.BS = coriolis_apply_transposed(B, S);
    y.dq = y.dv = force_zero();
    return y;
}

/* and the forces that the joints above feel. */
static inline void multiply_rates(const subtree *x, coriolis_map B, const tree_column *c, column_products *y) {
    force dq = force_add(rigid_inertia_apply(x->I, c->Psi_ddot), force_cross(c->S, x->f));
    y->dq = coriolis_apply_add(B, c->Psi_dot.w, dq);
    y->dv = coriolis_apply_add(B, c->S.w, rigid_inertia_apply(x->I, c->rate));
}

/* An entry of a model whose joints share coordinates is a sum. */
KERNEL_STEP void put(bool shared, real *entry, real x) {
    *entry = shared ? *entry + x : x;
}

/* The entries at (row, column) that a column at or above i gives, i's products being y. */
KERNEL_STEP void put_below(const derivatives *d, bool shared, int row, int column, const column_products *y,
                           const tree_column *c) {
    int at = row * d->nv + column;
    put(shared, &d->dq[at], vec3_dot_add(y->BS, c->Psi_dot.w, spatial_dot(c->Psi_ddot, y->IS)));
    put(shared, &d->dv[at], vec3_dot_add(y->BS, c->S.w, spatial_dot(c->rate, y->IS)));
    put(shared, &d->da[at], spatial_dot(c->S, y->IS));
}

/* Those at (column, row), for a column above. */
KERNEL_STEP void put_above(const derivatives *d, bool shared, int row, int column, const column_products *y,
                           const tree_column *c) {
    int at = column * d->nv + row;
    put(shared, &d->dq[at], spatial_dot(c->S, y->dq));
    put(shared, &d->dv[at], spatial_dot(c->S, y->dv));
    put(shared, &d->da[at], spatial_dot(c->S, y->IS));
}

/* Both for a column of the root, where Psi_dot = 0, Psi_ddot = a_0 x S and rate = v x S; own: i is the root. */
KERNEL_STEP void put_root(const body *root, motion_type type, vec3 a_0, motion v, bool own, int row,
                          const column_products *y, const derivatives *d, bool shared) {
    force dq = force_set(vec3_cross(y->IS.f, a_0), vec3_zero());
    force dv = force_sub(force_set(y->BS, vec3_zero()), force_cross(v, y->IS));
    int count = type == MOTION_FLOATING ? 6 : root->nv;
    for (int l = 0; l < count; l++) {
        int column = root->v_index + l, below = row * d->nv + column, above = column * d->nv + row;
        put(shared, &d->dq[below], real_set(root->ratio) * joint_force(root, type, l, dq));
        put(shared, &d->dv[below], real_set(root->ratio) * joint_force(root, type, l, dv));
        put(shared, &d->da[below], real_set(root->ratio) * joint_force(root, type, l, y->IS));
        if (!own) {
            put(shared, &d->dq[above], real_set(root->ratio) * joint_force(root, type, l, y->dq));
            put(shared, &d->dv[above], real_set(root->ratio) * joint_force(root, type, l, y->dv));
            put(shared, &d->da[above], real_set(root->ratio) * joint_force(root, type, l, y->IS));
        }
    }
}

/* Joints that lie on different branches: columns `from` to `to` - 1. */
static void put_zeros(const derivatives *d, int row, int from, int to) {
    for (int column = from; column < to; column++) {
        int below = row * d->nv + column, above = column * d->nv + row;
        d->dq[below] = d->dv[below] = d->da[below] = real_set(0);
        d->dq[above] = d->dv[above] = d->da[above] = real_set(0);
    }
}

/* Column k of body i against those of its own joint and of all above. */
KERNEL_STEP void put_entries(const tree *t, int i, int k, const column_products *y, const derivatives *d, bool shared) {
    const dyn_model *model = t->model;
    const body *b = &model->bodies[i];
    int row = b->v_index + k, left = b->v_index, root = i;
    if (b->parent >= 0) {
        for (int l = 0; l < b->nv; l++) {
            put_below(d, shared, row, b->v_index + l, y, &t->columns[t->bodies[i].first_column + l]);
        }
        root = b->parent;
    }
    for (; model->bodies[root].parent >= 0; root = model->bodies[root].parent) {
        const body *p = &model->bodies[root];
        for (int l = 0; l < p->nv; l++) {
            const tree_column *c = &t->columns[t->bodies[root].first_column + l];
            put_below(d, shared, row, p->v_index + l, y, c);
            put_above(d, shared, row, p->v_index + l, y, c);
        }
        if (!shared) {
            put_zeros(d, row, p->v_index + p->nv, left);
        }
        left = p->v_index;
    }
    const body *r = &model->bodies[root];
    vec3 a_0 = tree_world(t->X[root], t->gravity).a.v;
    if (r->motion == MOTION_FLOATING) {
        put_root(r, MOTION_FLOATING, a_0, t->bodies[root].v, i == root, row, y, d, shared);
    } else {
        put_root(r, r->motion, a_0, t->bodies[root].v, i == root, row, y, d, shared);
    }
    if (!shared) {
        put_zeros(d, row, r->v_index + r->nv, left);
        put_zeros(d, row, 0, r->v_index);
    }
}

/* Inward: the sums over subtrees, and with them the entries. */
KERNEL_STEP void inward_pass(const tree *t, const derivatives *d, bool shared) {
    for (int i = t->model->body_count - 1; i >= 0; i--) {
        const body *b = &t->model->bodies[i];
        const tree_column *columns = &t->columns[t->bodies[i].first_column];
        coriolis_map B = coriolis_map_of(t->subtrees[i].p);
        for (int k = 0; k < b->nv; k++) {
            column_products y = multiply_column(&t->subtrees[i], B, columns[k].S);
            if (b->parent >= 0) {
                multiply_rates(&t->subtrees[i], B, &columns[k], &y);
            }
            put_entries(t, i, k, &y, d, shared);
        }
        if (b->parent >= 0) {
            subtree_add(&t->subtrees[b->parent], &t->subtrees[i]);
        }
    }
}

/* A wrench F on body i that keeps its direction: tau_x = -S_x' F changes with q_y by
 *     -(S_y x S_x)' F         where joint y carries joint x, and, where F acts at a point r of the body,
 *     -S_x' (dr x F.f; 0)     with dr = S_y.v + S_y.w x r, since the point moves. */
static void add_world_wrench(const tree *t, int carrier, force F, const vec3 *point, const derivatives *d) {
    const body *bodies = t->model->bodies;
    for (int i = carrier; i >= 0; i = bodies[i].parent) {
        for (int k = 0; k < bodies[i].nv; k++) {
            motion S_x = t->columns[t->bodies[i].first_column + k].S;
            force turned = force_cross(S_x, F);
            vec3 moment = point ? vec3_cross(F.f, S_x.w) : vec3_zero();
            real *row = d->dq + (bodies[i].v_index + k) * d->nv;
            for (int j = carrier; j >= 0; j = bodies[j].parent) {
                for (int l = 0; l < bodies[j].nv; l++) {
                    motion S = t->columns[t->bodies[j].first_column + l].S;
                    vec3 dr = point ? vec3_cross_add(S.w, *point, S.v) : vec3_zero();
                    real turn = j <= i ? spatial_dot(S, turned) : real_set(0);
                    row[bodies[j].v_index + l] -= vec3_dot_add(dr, moment, turn);
                }
            }
        }
    }
}

/* Every wrench in world axes. */
static void add_world_wrenches(const tree *t, const wrench_set *forces, const derivatives *d) {
    for (size_t j = 0; forces && j < forces->count; j++) {
        wrench_frame at = forces->frames[j];
        if (at.reference_frame != DYN_LOCAL) {
            const body_frame *frame = &t->model->frames[at.frame];
            placement in_body = placement_constant(frame->pose.rotation, frame->pose.position);
            placement W = t->bodies[frame->body].W;
            vec3 point = placement_compose(W, in_body).r;
            force F = KERNEL(body_wrench)(t->model, t->X, at, (const real *)forces->wrenches + 6 * j);
            add_world_wrench(t, frame->body, force_to_parent(W, F), at.reference_frame == DYN_WORLD ? NULL : &point, d);
        }
    }
}

void KERNEL(rnea_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                              const void *v, const void *a, const wrench_set *forces, void *dtau_dq, void *dtau_dv,
                              void *dtau_da) {
    tree t = find_tree(model, memory, gravity, (const real *)q, (const real *)v, (const real *)a);
    derivatives d;
    d.nv = model->nv, d.dq = (real *)dtau_dq, d.dv = (real *)dtau_dv, d.da = (real *)dtau_da;
    subtract_local_wrenches(&t, forces);
    if (model->has_coupling) {
        for (int i = 0; i < d.nv * d.nv; i++) {
            d.dq[i] = d.dv[i] = d.da[i] = real_set(0);
        }
        inward_pass(&t, &d, true);
    } else {
        inward_pass(&t, &d, false);
    }
    add_world_wrenches(&t, forces, &d);
}
