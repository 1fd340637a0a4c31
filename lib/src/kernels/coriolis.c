/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Coriolis matrix C(q, v) of the Christoffel symbols: C v = h - g, and dM/dt = C + C'.
 *
 *     B(I, v) = (v x* I - I v x + (I v) x~*) / 2        where (f x~*) m = m x* f
 * With composites I_c and B_c, and columns S_j with their rates dS_j/dt = v_j x S_j, for j and every i above it:
 *     F_1 = I_c dS_j/dt + B_c S_j        F_2 = I_c S_j        F_3 = B_c' S_j
 *     C_ij = S_i' F_1                    C_ji = dS_i/dt' F_2 + S_i' F_3
 *
 * The rotors that drive joint j with the rate v (driven_joint.h) add to B of its parent, and to F of joint j in it. The
 * parent has the angular velocity w:
 *     B m += (m_w x g v / 2; 0)        F_1 += (w x g / 2; 0)        F_2 += (g; 0)        F_3 += (w x g / 2; 0)
 *
 * Source: Echeandia and Wensing 2021, algorithm 1.
 */
#include "spatial_matrix.h"
#include "world_tree.h"
#include "stages.h"

typedef struct coriolis_body {
    rigid_inertia I;
    spatial_matrix B;
} coriolis_body;

size_t KERNEL(coriolis_memory)(const dyn_model *model) {
    return world_tree_memory(model) + (size_t)model->body_count * sizeof(coriolis_body);
}

static inline force force_halve(force a) {
    return force_set(vec3_scale(real_set(0.5), a.n), vec3_scale(real_set(0.5), a.f));
}

/* Computes B(I, v) column by column. */
static void body_coriolis(rigid_inertia I, motion v, spatial_matrix *B) {
    force p = rigid_inertia_apply(I, v);
    for (int k = 0; k < SPATIAL_COLUMNS; k++) {
        motion e = axis_motion((spatial_axis)k);
        force rate = force_sub(force_cross(v, rigid_inertia_apply(I, e)), rigid_inertia_apply(I, motion_cross(v, e)));
        B->column[k] = force_halve(force_add(rate, force_cross(e, p)));
    }
}

/* Adds the angular momentum g v of the rotors of a driven joint, which turns with its parent, to B of the parent. */
static void add_rotor_momentum(const world_tree *tree, const body *b, real v, spatial_matrix *B) {
    vec3 momentum = vec3_scale(real_set(0.5) * v, world_couple(tree, b));
    for (int k = AXIS_WX; k <= AXIS_WZ; k++) {
        B->column[k].n = vec3_add(B->column[k].n, vec3_cross(axis_motion((spatial_axis)k).w, momentum));
    }
}

/* Forces of a column. */
typedef struct column_forces {
    force F_1, F_2, F_3;
} column_forces;

/* Adds the moments of the rotors that drive the joint of a body. */
static void add_rotor_moments(const world_tree *tree, const body *b, column_forces *x) {
    vec3 g = world_couple(tree, b), turning = vec3_scale(real_set(0.5), vec3_cross(tree->bodies[b->parent].v.w, g));
    x->F_1.n = vec3_add(x->F_1.n, turning);
    x->F_2.n = vec3_add(x->F_2.n, g);
    x->F_3.n = vec3_add(x->F_3.n, turning);
}

/* Computes the row and the column of C for coordinate k of body j. */
static void carry_coordinate(const dyn_model *model, const world_tree *tree, const coriolis_body *composite, int j,
                             int k, real *C) {
    int nv = model->nv, here = model->bodies[j].v_index + k;
    const tree_column *column = &tree->columns[tree->bodies[j].first_column + k];
    column_forces x;
    x.F_1 = force_add(rigid_inertia_apply(composite->I, column_rate(column)),
                      spatial_matrix_apply(&composite->B, column->S));
    x.F_2 = rigid_inertia_apply(composite->I, column->S);
    x.F_3 = spatial_matrix_apply_transposed(&composite->B, column->S);
    for (int i = j; i >= 0; i = model->bodies[i].parent) {
        const body *b = &model->bodies[i];
        for (int l = 0; l < b->nv; l++) {
            const tree_column *above = &tree->columns[tree->bodies[i].first_column + l];
            int there = b->v_index + l;
            C[there * nv + here] = C[there * nv + here] + spatial_dot(above->S, x.F_1);
            if (i != j) {
                C[here * nv + there] =
                    C[here * nv + there] + spatial_dot(column_rate(above), x.F_2) + spatial_dot(above->S, x.F_3);
            }
        }
        if (i == j && b->parent >= 0 && has_driven_joints(model) && b->is_driven) {
            add_rotor_moments(tree, b, &x);
        }
    }
}

/* Computes I and B of each body, with those of its rotors. */
static void find_bodies(const dyn_model *model, const world_tree *tree, const real *v, coriolis_body *composites) {
    for (int i = 0; i < count_computed(model); i++) {
        const body *b = &model->bodies[i];
        composites[i].I = computed_world_inertia(model, tree, i);
        body_coriolis(composites[i].I, tree->bodies[i].v, &composites[i].B);
        if (b->parent >= 0 && has_driven_joints(model) && b->is_driven) {
            add_rotor_momentum(tree, b, v[b->v_index], &composites[b->parent].B);
        }
    }
}

void KERNEL(coriolis)(const dyn_model *model, void *memory, const void *q, const void *v, const void *zero_a,
                      void *coriolis_matrix) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_coriolis)(model, memory, q, v, coriolis_matrix);
        return;
    }
    int count = count_computed(model);
    world_tree tree = find_world_tree(model, count, &memory, (const real *)q, (const real *)v, (const real *)zero_a);
    coriolis_body *composites = (coriolis_body *)memory;
    real *C = (real *)coriolis_matrix;
    for (int i = 0; i < model->nv * model->nv; i++) {
        C[i] = real_set(0);
    }
    find_bodies(model, &tree, (const real *)v, composites);
    for (int j = count - 1; j >= 0; j--) {
        int parent = model->bodies[j].parent;
        for (int k = 0; k < model->bodies[j].nv; k++) {
            carry_coordinate(model, &tree, &composites[j], j, k, C);
        }
        if (parent >= 0) {
            composites[parent].I = rigid_inertia_add(composites[parent].I, composites[j].I);
            spatial_matrix_add(&composites[parent].B, &composites[j].B);
        }
    }
}
