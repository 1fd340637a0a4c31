/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Models with custom joints: the tree in which each stage (model/normal_form.h) has a coordinate of its own.
 *
 * The tree has the coordinates q_t = (q; f_1 .. f_s), with those of the model first. Its velocities follow from those
 * of the model by the matrix G, whose first rows are the identity, and whose row of stage k is f_k' at the column of
 * its joint:
 *
 *     v_t = G v        a_t = G a + gamma        gamma_k = f_k'' v^2        tau = G' tau_t        M = G' M_t G
 *
 * The bodies of stages move with the coordinates of the stages. The coordinate of a custom joint itself moves no body
 * of the tree unless a mimic joint follows it, so that it has zeros in M_t. The algorithms compute the tree by
 * themselves, and their results are contracted with G. For a result x(q, v, a) of the tree with derivatives along its
 * arguments,
 *
 *     dx/dq = dx/dq_t G + dx/dv_t diag(f'' v) + dx/da_t diag(f'' a + f''' v^2)
 *     dx/dv = dx/dv_t G + dx/da_t diag(2 f'' v)        dx/da = dx/da_t G
 *
 * where a diagonal entry stands in the row of its stage and the column of its joint.
 *
 * Source: Seth, Sherman, Eastman and Delp 2010, "Minimal formulation of joint motion for biomechanisms"; the reduction
 * by dependent coordinates: Featherstone 2008, section 3.2.
 */
#ifndef DYNAMICS_KERNELS_STAGES_H
#define DYNAMICS_KERNELS_STAGES_H

#include "instance.h"

/* Switch of the algorithms of models with stages, which the model compiler lacks because it refuses such models. */
#if defined DYN_WITHOUT_STAGES
enum { SERVES_STAGES = 0 };
#else
enum { SERVES_STAGES = 1 };
#endif

/* The tree at a state, and the functions of its stages. */
typedef struct stage_tree {
    dyn_model model; /* of the tree; its bodies are in the scratch memory */
    const stage *stages;
    int count, nv; /* stages, and velocities of the model; the tree has their sum */
    real *q, *v, *a;
    real *slope, *curvature, *third, *fourth; /* derivatives of f with respect to the coordinate of the joint */
    void *rest;                               /* scratch memory behind the tree */
} stage_tree;

/* Weights of the columns of a stage, one for each stage; NULL stands for zeros. */
typedef struct stage_term {
    const real *matrix; /* columns of the tree */
    const real *weight;
} stage_term;

/* Share of each coordinate of the tree in those of the model: the coordinate of the model that it follows, and its
 * derivatives along that one. They are 1, 0 and 0 for the first nv coordinates. */
typedef struct stage_shares {
    const int *owner;
    const real *slope;        /* of its position along q, its velocity along v, its acceleration along a: f' */
    const real *rate;         /* of its velocity along q: f'' v */
    const real *acceleration; /* of its acceleration along q: f'' a + f''' v^2; along v it is 2 f'' v */
} stage_shares;

/* Returns the bytes of scratch memory of a model with stages, for the tree and for all algorithms. `plain` are those
 * that the algorithms need for a model without stages. */
size_t KERNEL(stage_memory)(const dyn_model *model, size_t (*plain)(const dyn_model *model));

/* Computes the tree at the start of `memory`. v and a may be NULL, which stands for zeros. */
void KERNEL(find_stage_tree)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a,
                             stage_tree *t);

/* Algorithms of a model with stages, with the arguments of those of the same name. */
void KERNEL(staged_rnea)(const dyn_model *model, void *memory, const packed_inputs *in, void *tau);
void KERNEL(staged_joint_wrenches)(const dyn_model *model, void *memory, const packed_inputs *in, void *wrenches);
void KERNEL(staged_gravity)(const dyn_model *model, void *memory, const double gravity[3], const void *q, void *g);
void KERNEL(staged_crba)(const dyn_model *model, void *memory, const void *q, void *M);
void KERNEL(staged_coriolis)(const dyn_model *model, void *memory, const void *q, const void *v, void *C);
void KERNEL(staged_regressor)(const dyn_model *model, void *memory, const packed_inputs *in, void *Y);
void KERNEL(staged_energy)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                           void *energies);
void KERNEL(staged_energy_regressor)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                                     const void *v, void *kinetic, void *potential);
void KERNEL(staged_frame_pose)(const dyn_model *model, void *memory, const void *q, int frame, void *position,
                               void *rotation);
void KERNEL(staged_frame_jacobian)(const dyn_model *model, void *memory, const void *q, int frame,
                                   dyn_reference_frame reference_frame, void *J);
void KERNEL(staged_frame_motion)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a,
                                 int frame, dyn_reference_frame reference_frame, const frame_rates *out);
void KERNEL(staged_center_of_mass)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a,
                                   int root, void *motion, void *jacobian);
void KERNEL(staged_centroidal)(const dyn_model *model, void *memory, const void *q, const void *v, void *inertia,
                               void *A_G, void *dA_G);
void KERNEL(staged_centroidal_momentum)(const dyn_model *model, void *memory, const void *q, const void *v,
                                        void *momentum);
int KERNEL(staged_rnea_derivatives)(const dyn_model *model, void *memory, const packed_inputs *in,
                                    const derivative_matrices *dtau);
void KERNEL(staged_aba_derivatives)(const dyn_model *model, void *memory, const packed_inputs *in, void *pivots,
                                    const derivative_matrices *da);
void KERNEL(staged_rnea_second_derivatives)(const dyn_model *model, void *memory, const packed_inputs *in,
                                            const derivative_cubes *out);
void KERNEL(staged_gravity_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                                        void *dg_dq);
void KERNEL(staged_frame_derivatives)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a,
                                      int frame, dyn_reference_frame reference_frame, const spatial_derivatives *out);
void KERNEL(staged_frame_hessian)(const dyn_model *model, void *memory, const void *q, int frame,
                                  dyn_reference_frame reference_frame, void *H);
void KERNEL(staged_centroidal_derivatives)(const dyn_model *model, void *memory, const void *q, const void *v,
                                           const void *a, const spatial_derivatives *out);
void KERNEL(staged_rnea_directional)(const dyn_model *model, void *memory, const packed_inputs *in,
                                     const packed_increments *along, void *dtau);

/* Adds the second derivatives of the inverse dynamics of a tree, without those of the functions of its stages, to those
 * of a model with nv velocities. `shares` NULL: the tree is the model. */
void KERNEL(add_second_derivatives)(const dyn_model *tree_model, void *memory, const packed_inputs *in,
                                    const stage_shares *shares, int nv, const derivative_cubes *out);

/* ---- contraction with G ------------------------------------------------------------------------------------------ */

/* Computes out = X G + sum of the other terms, for `rows` rows: X is the matrix of `main`, with a column for each
 * coordinate of the tree. */
static inline void contract_columns(const stage_tree *t, int rows, stage_term main, stage_term second, stage_term third,
                                    real *out) {
    const stage_term terms[3] = {main, second, third};
    int n = t->nv + t->count;
    for (int r = 0; r < rows; r++) {
        for (int i = 0; i < t->nv; i++) {
            out[r * t->nv + i] = main.matrix[r * n + i];
        }
        for (int k = 0; k < t->count; k++) {
            real *to = &out[r * t->nv + t->stages[k].v_index];
            for (int e = 0; e < 3; e++) {
                if (terms[e].weight) {
                    *to = real_fma(terms[e].matrix[r * n + t->nv + k], terms[e].weight[k], *to);
                }
            }
        }
    }
}

/* Computes out = G' X for a matrix of `columns` columns, with a row for each coordinate of the tree. */
static inline void contract_rows(const stage_tree *t, size_t columns, const real *X, real *out) {
    for (size_t i = 0; i < (size_t)t->nv * columns; i++) {
        out[i] = X[i];
    }
    for (int k = 0; k < t->count; k++) {
        const real *from = X + (size_t)(t->nv + k) * columns;
        real *to = out + (size_t)t->stages[k].v_index * columns;
        for (size_t c = 0; c < columns; c++) {
            to[c] = real_fma(t->slope[k], from[c], to[c]);
        }
    }
}

/* Returns weights of no stage. */
static inline stage_term no_term(void) {
    stage_term term;
    term.matrix = NULL;
    term.weight = NULL;
    return term;
}

static inline stage_term stage_term_of(const real *matrix, const real *weight) {
    stage_term term;
    term.matrix = matrix;
    term.weight = weight;
    return term;
}

#endif
