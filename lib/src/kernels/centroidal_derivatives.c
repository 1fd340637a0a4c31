/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Derivatives of the centroidal momentum h_G = (k; l) and of its rate, and the centroidal momentum matrix A_G.
 *
 * In the frame and with the terms of subtrees.h, without gravity: p is the momentum of the subtree of joint j, and f
 * its rate. Column j is
 *
 *     A_G:       I S_j
 *     dh/dq:     I Psi_dot_j + S_j x* p
 *     dh'/dq:    2 B Psi_dot_j + I Psi_ddot_j + S_j x* f
 *     dh'/dv:    2 B S_j + I rate_j
 *
 * rotated into world axes and shifted to the centre of mass c, n - c x f. The increment also moves c by the linear part
 * of A_G over the mass, dc, so that dc x l and dc x dl/dt are subtracted from dh/dq and dh'/dq.
 *
 * Source: Carpentier and Mansard 2018, section III; the columns are those of rnea_derivatives.c that a floating base
 * would feel.
 */
#include "subtrees.h"
#include "stages.h"

static const double no_gravity[3] = {0, 0, 0};

/* Sums over the whole robot, in the world. */
typedef struct whole_robot {
    real inverse_mass;
    vec3 c;
    vec3 momentum, force; /* linear parts of h and its rate */
} whole_robot;

size_t KERNEL(centroidal_derivatives_memory)(const dyn_model *model) {
    return subtrees_memory(model);
}

/* Accumulates the subtrees and returns the sums over the whole robot. */
static whole_robot sum_whole(const tree *t) {
    whole_robot y;
    real m = real_set(0);
    vec3 h = vec3_zero();
    y.momentum = y.force = vec3_zero();
    for (int i = t->model->body_count - 1; i >= 0; i--) {
        const subtree *s = &t->subtrees[i];
        int parent = t->model->bodies[i].parent;
        if (parent >= 0) {
            subtree_add(&t->subtrees[parent], s);
            continue;
        }
        mat3 R = t->X[i].R;
        m = m + s->I.m;
        h = vec3_add(h, vec3_fma(s->I.m, t->X[i].r, mat3_apply(R, s->I.h)));
        y.momentum = vec3_add(y.momentum, mat3_apply(R, s->p.p));
        y.force = vec3_add(y.force, mat3_apply(R, s->f.f));
    }
    y.inverse_mass = real_set(1) / m;
    y.c = vec3_scale(y.inverse_mass, h);
    return y;
}

/* Adds the force a, shifted to the point c, to a column of a 6 x nv matrix. */
static void add_column(int nv, force a, vec3 c, real *column) {
    vec3 n = vec3_sub(a.n, vec3_cross(c, a.f));
    const real entries[6] = {n.x, n.y, n.z, a.f.x, a.f.y, a.f.z};
    for (int row = 0; row < 6; row++) {
        column[row * nv] += entries[row];
    }
}

/* Adds the columns of coordinate k of body i to the matrices `out`. `root`: the placement of the tree's root. */
static void add_columns(const tree *t, const whole_robot *robot, int i, int k, placement root, real *const out[4]) {
    const subtree *s = &t->subtrees[i];
    const tree_column *c = &t->columns[t->bodies[i].first_column + k];
    int nv = t->model->nv, column = t->model->bodies[i].v_index + k;
    coriolis_map B = coriolis_map_of(s->p);
    force A = rigid_inertia_apply(s->I, c->S);
    force h = force_add(rigid_inertia_apply(s->I, c->Psi_dot), force_cross(c->S, momentum_field_sum(s->p)));
    force q = force_add(rigid_inertia_apply(s->I, c->Psi_ddot), force_cross(c->S, s->f));
    q = coriolis_apply_add(B, c->Psi_dot.w, q);
    force v = coriolis_apply_add(B, c->S.w, rigid_inertia_apply(s->I, c->rate));
    A = force_to_parent(root, A), h = force_to_parent(root, h);
    q = force_to_parent(root, q), v = force_to_parent(root, v);
    vec3 dc = vec3_scale(robot->inverse_mass, A.f);
    h.n = vec3_sub(h.n, vec3_cross(dc, robot->momentum));
    q.n = vec3_sub(q.n, vec3_cross(dc, robot->force));
    add_column(nv, h, robot->c, out[0] + column);
    add_column(nv, q, robot->c, out[1] + column);
    add_column(nv, v, robot->c, out[2] + column);
    add_column(nv, A, robot->c, out[3] + column);
}

void KERNEL(centroidal_derivatives)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a,
                                    const spatial_derivatives *results) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_centroidal_derivatives)(model, memory, q, v, a, results);
        return;
    }
    tree t = find_tree(model, memory, no_gravity, (const real *)q, (const real *)v, (const real *)a);
    whole_robot robot = sum_whole(&t);
    real *const out[4] = {(real *)results->dq, (real *)results->rate_dq, (real *)results->rate_dv,
                          (real *)results->matrix};
    for (int i = 0; i < 6 * model->nv; i++) {
        out[0][i] = out[1][i] = out[2][i] = out[3][i] = real_set(0);
    }
    for (int i = 0; i < model->body_count; i++) {
        int root = i;
        while (model->bodies[root].parent >= 0) {
            root = model->bodies[root].parent;
        }
        for (int k = 0; k < model->bodies[i].nv; k++) {
            add_columns(&t, &robot, i, k, t.X[root], out);
        }
    }
}
