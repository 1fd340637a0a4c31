/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Derivatives of the twist V = J v of a frame and of its rate A = J a + dJ/dt v, and its Jacobian J.
 *
 * In the frame and with the columns of columns.h, without gravity. (v, a) is the motion of the body that carries the
 * frame. An increment of coordinate j moves the frame together with the subtree of joint j. Relative to this subtree,
 * only the motion of the joint's parent changes, by Psi_dot and a_p x S. So in the frame's own axes, for every j whose
 * subtree contains the frame,
 *
 *     dV/dq_j = Psi_dot_j        dA/dq_j = Psi_ddot_j - v x Psi_dot_j        dA/dv_j = rate_j - v x S_j       J_j = S_j
 *
 * World: S_j x v is added to dV/dq_j, and S_j x a to dA/dq_j. World axes at the frame's origin p: with the linear parts
 * of motions at p, V = (w; dp/dt) and A = (dw/dt; d2p/dt2), where d2p/dt2 is the linear part of the spatial
 * acceleration plus w x dp/dt. The axes do not rotate with the frame, so that w_j x V is added to dV/dq_j and w_j x A
 * to dA/dq_j, part by part.
 *
 * The Hessian dJ_j/dq_k: local, S_j x S_k if k is in the subtree of j, else zero. World, S_k x S_j if k is j or an
 * ancestor of j, else zero. In world axes at p, with J at p, w_k x J_j part by part if k is j or an ancestor of j, else
 * (0; w_j x J_k.v).
 *
 * Source: Carpentier and Mansard 2018, section II; Singh, Russell and Wensing 2022, section III.
 */
#include "columns.h"
#include "stages.h"

/* Bodies from the carrier of the frame to the root, and the frame. */
typedef struct chain {
    int count;
    int *bodies;
    tree_body *motion;
    tree_column *columns;
    placement root, F; /* of the root in the world; of the frame in the frame of columns.h */
} chain;

/* Derivatives along one coordinate. */
typedef struct frame_column {
    motion dV_dq, dA_dq, dA_dv, J;
} frame_column;

size_t KERNEL(frame_derivatives_memory)(const dyn_model *model) {
    size_t bodies = (size_t)model->body_count;
    return KERNEL(placements_memory)(model) + bodies * (sizeof(tree_body) + sizeof(int)) +
           column_count(model) * sizeof(tree_column) + (size_t)model->nv * sizeof(real);
}

/* Returns the motion with its linear part at p. */
static inline motion motion_at(motion m, vec3 p) {
    return motion_set(m.w, vec3_add(m.v, vec3_cross(m.w, p)));
}

/* Rotates both parts of a motion. */
static inline motion motion_rotate(mat3 R, motion m) {
    return motion_set(mat3_apply(R, m.w), mat3_apply(R, m.v));
}

/* Returns (w x m.w; w x m.v). */
static inline motion motion_turn(vec3 w, motion m) {
    return motion_set(vec3_cross(w, m.w), vec3_cross(w, m.v));
}

static inline motion motion_sub(motion a, motion b) {
    return motion_set(vec3_sub(a.w, b.w), vec3_sub(a.v, b.v));
}

/* Returns the derivatives of V and A that an observer in the frame's own axes sees, in the frame of columns.h. */
static inline frame_column own_column(const tree_body *k, const tree_column *c) {
    frame_column y;
    y.dV_dq = c->Psi_dot;
    y.dA_dq = motion_sub(c->Psi_ddot, motion_cross(k->v, c->Psi_dot));
    y.dA_dv = motion_sub(c->rate, motion_cross(k->v, c->S));
    y.J = c->S;
    return y;
}

static inline frame_column local_column(const tree_body *k, const tree_column *c, placement F) {
    frame_column y = own_column(k, c);
    y.dV_dq = motion_to_child(F, y.dV_dq);
    y.dA_dq = motion_to_child(F, y.dA_dq);
    y.dA_dv = motion_to_child(F, y.dA_dv);
    y.J = motion_to_child(F, y.J);
    return y;
}

/* Returns the derivatives in world axes and about the world's origin. `root` is the placement of the root body. */
static inline frame_column world_column(const tree_body *k, const tree_column *c, placement root) {
    frame_column y = own_column(k, c);
    y.dV_dq = motion_to_parent(root, motion_add(y.dV_dq, motion_cross(c->S, k->v)));
    y.dA_dq = motion_to_parent(root, motion_add(y.dA_dq, motion_cross(c->S, k->a)));
    y.dA_dv = motion_to_parent(root, y.dA_dv);
    y.J = motion_to_parent(root, y.J);
    return y;
}

/* Adds the derivative of w x dp/dt to the linear part of dA, given V = (w; dp/dt) and its derivative dV. */
static inline motion add_turn(motion dA, motion V, motion dV) {
    return motion_set(dA.w, vec3_add(dA.v, vec3_add(vec3_cross(dV.w, V.v), vec3_cross(V.w, dV.v))));
}

/* Returns the derivatives in world axes and at the frame's origin p. R is the orientation of the root body. */
static inline frame_column aligned_column(const tree_body *k, const tree_column *c, vec3 p, mat3 R) {
    frame_column y = own_column(k, c);
    motion V = motion_at(k->v, p), A = motion_at(k->a, p);
    A.v = vec3_add(A.v, vec3_cross(V.w, V.v));
    y.J = motion_at(y.J, p);
    y.dV_dq = motion_at(y.dV_dq, p);
    y.dA_dq = motion_add(add_turn(motion_at(y.dA_dq, p), V, y.dV_dq), motion_turn(c->S.w, A));
    y.dV_dq = motion_add(y.dV_dq, motion_turn(c->S.w, V));
    y.dA_dv = add_turn(motion_at(y.dA_dv, p), V, y.J);
    y.dV_dq = motion_rotate(R, y.dV_dq);
    y.dA_dq = motion_rotate(R, y.dA_dq);
    y.dA_dv = motion_rotate(R, y.dA_dv);
    y.J = motion_rotate(R, y.J);
    return y;
}

/* Adds the motion m to a column of a matrix with rows of `stride` numbers. */
static void add_column(int stride, motion m, real *column) {
    const real entries[6] = {m.w.x, m.w.y, m.w.z, m.v.x, m.v.y, m.v.z};
    for (int row = 0; row < 6; row++) {
        column[row * stride] += entries[row];
    }
}

/* Computes the motion of the bodies of the chain, from the root on. X[k] is the placement of bodies[k]. */
static void carry_chain(const dyn_model *model, const placement *X, const real *v, const real *a, chain *path) {
    static const double none[3] = {0, 0, 0};
    int first = 0;
    for (int k = path->count - 1; k >= 0; k--) {
        const body *b = &model->bodies[path->bodies[k]];
        tree_body *x = &path->motion[k], world = tree_world(X[k], none);
        const tree_body *parent = k + 1 < path->count ? &path->motion[k + 1] : &world;
        x->W = k + 1 < path->count ? placement_compose(parent->W, X[k]) : placement_identity();
        x->first_column = first;
        carry_columns(b, parent, v + b->v_index, a + b->v_index, x, path->columns + first);
        first += b->nv;
    }
}

/* Computes the chain of a frame. It has no bodies if the frame is fixed to the world. */
static chain find_chain(const dyn_model *model, void *memory, const real *q, const real *v, const real *a, int frame) {
    int bodies = model->body_count;
    placement *X = (placement *)memory;
    real *angles = (real *)(X + bodies);
    chain path;
    path.columns = (tree_column *)(angles + 3 * bodies);
    path.motion = (tree_body *)(path.columns + column_count(model));
    path.bodies = (int *)(path.motion + bodies);
    path.count = 0;
    for (int i = model->frames[frame].body; i >= 0; i = model->bodies[i].parent) {
        path.bodies[path.count++] = i;
    }
    path.root = path.F = placement_identity();
    if (path.count > 0) {
        const dyn_pose *pose = &model->frames[frame].pose;
        KERNEL(path_placements)(model, q, path.bodies, path.count, angles, X);
        carry_chain(model, X, v, a, &path);
        path.root = X[path.count - 1];
        path.F = placement_compose(path.motion[0].W, placement_constant(pose->rotation, pose->position));
    }
    return path;
}

void KERNEL(frame_derivatives)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a,
                               int frame, dyn_reference_frame reference_frame, const spatial_derivatives *results) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_frame_derivatives)(model, memory, q, v, a, frame, reference_frame, results);
        return;
    }
    int nv = model->nv;
    real *out[4] = {(real *)results->dq, (real *)results->rate_dq, (real *)results->rate_dv, (real *)results->matrix};
    chain path = find_chain(model, memory, (const real *)q, (const real *)v, (const real *)a, frame);
    for (int i = 0; i < 6 * nv; i++) {
        out[0][i] = out[1][i] = out[2][i] = out[3][i] = real_set(0);
    }
    for (int k = 0; k < path.count; k++) {
        const body *b = &model->bodies[path.bodies[k]];
        for (int l = 0; l < b->nv; l++) {
            const tree_column *c = &path.columns[path.motion[k].first_column + l];
            frame_column y = reference_frame == DYN_REFERENCE_FRAME_LOCAL ? local_column(path.motion, c, path.F)
                             : reference_frame == DYN_REFERENCE_FRAME_WORLD
                                 ? world_column(path.motion, c, path.root)
                                 : aligned_column(path.motion, c, path.F.r, path.root.R);
            add_column(nv, y.dV_dq, out[0] + b->v_index + l);
            add_column(nv, y.dA_dq, out[1] + b->v_index + l);
            add_column(nv, y.dA_dv, out[2] + b->v_index + l);
            add_column(nv, y.J, out[3] + b->v_index + l);
        }
    }
}

/* Returns dJ_j/dq_k for columns S_j and S_k. `is_descendant`: joint k is in the subtree of joint j. */
static inline motion hessian_column(const chain *path, dyn_reference_frame reference_frame, motion S_j, motion S_k,
                                    bool is_descendant) {
    if (reference_frame == DYN_REFERENCE_FRAME_LOCAL) {
        return is_descendant ? motion_to_child(path->F, motion_cross(S_j, S_k)) : motion_zero();
    }
    if (reference_frame == DYN_REFERENCE_FRAME_WORLD) {
        return is_descendant ? motion_zero() : motion_to_parent(path->root, motion_cross(S_k, S_j));
    }
    motion turned = is_descendant ? motion_set(vec3_zero(), vec3_cross(S_j.w, motion_at(S_k, path->F.r).v))
                                  : motion_turn(S_k.w, motion_at(S_j, path->F.r));
    return motion_rotate(path->root.R, turned);
}

void KERNEL(frame_hessian)(const dyn_model *model, void *memory, const void *q, int frame,
                           dyn_reference_frame reference_frame, void *hessian) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_frame_hessian)(model, memory, q, frame, reference_frame, hessian);
        return;
    }
    int nv = model->nv;
    real *zero = (real *)memory, *H = (real *)hessian;
    for (int i = 0; i < nv; i++) {
        zero[i] = real_set(0);
    }
    for (int i = 0; i < 6 * nv * nv; i++) {
        H[i] = real_set(0);
    }
    chain path = find_chain(model, zero + nv, (const real *)q, zero, zero, frame);
    for (int j = 0; j < path.count; j++) {
        for (int k = 0; k < path.count; k++) {
            const body *b_j = &model->bodies[path.bodies[j]], *b_k = &model->bodies[path.bodies[k]];
            for (int l = 0; l < b_j->nv * b_k->nv; l++) {
                int of = l / b_k->nv, along = l % b_k->nv;
                motion S_j = path.columns[path.motion[j].first_column + of].S;
                motion S_k = path.columns[path.motion[k].first_column + along].S;
                add_column(nv * nv, hessian_column(&path, reference_frame, S_j, S_k, k < j),
                           H + (b_j->v_index + of) * nv + b_k->v_index + along);
            }
        }
    }
}
