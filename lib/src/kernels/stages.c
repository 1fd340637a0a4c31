/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the tree of a model with custom joints (stages.h): the functions of the stages with three derivatives, and
 * the coordinates, velocities and accelerations of the tree.
 */
#include "stages.h"

#include <string.h>

#include "../model/stage_function.h"
#include "scratch.h"

/* Returns the bytes, in whole reals and lines of the cache, of the bodies of the tree. */
static size_t bodies_size(const dyn_model *model) {
    size_t size = (size_t)model->body_count * sizeof(body);
    return (size + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
}

/* Changes a copy of the model to the tree, without its bodies. */
static void make_tree(dyn_model *tree) {
    tree->nq += tree->stage_count;
    tree->nv += tree->stage_count;
    tree->stage_count = 0;
}

/* Behind the tree there is room for four square matrices of the tree, the largest matrices of a frame or the regressor,
 * and some vectors. */
size_t KERNEL(stage_memory)(const dyn_model *model, size_t (*plain)(const dyn_model *model)) {
    dyn_model tree = *model;
    make_tree(&tree);
    size_t n = (size_t)tree.nv, joints = (size_t)model->joint_count, of_model = plain(model), of_tree = plain(&tree);
    size_t numbers = (size_t)tree.nq + 12 * n + 8 * (size_t)model->stage_count + 10 * n * n + 10 * n * joints + 32 * n;
    return of_model + of_tree + bodies_size(model) + numbers * sizeof(real) + 8 * SCRATCH_ALIGNMENT;
}

/* Copies the bodies of the model, and gives those of stages their own coordinates. */
static void copy_bodies(const dyn_model *model, body *bodies) {
    memcpy((void *)bodies, model->bodies, (size_t)model->body_count * sizeof *bodies);
    for (int k = 0; k < model->stage_count; k++) {
        body *b = &bodies[model->stages[k].body];
        b->q_index = model->nq + k;
        b->v_index = model->nv + k;
    }
}

static void copy_numbers(int count, const void *from, real *to) {
    for (int i = 0; i < count; i++) {
        to[i] = from ? ((const real *)from)[i] : real_set(0);
    }
}

void KERNEL(find_stage_tree)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a,
                             stage_tree *t) {
    int nq = model->nq, nv = model->nv, count = model->stage_count, n = nv + count;
    body *bodies = (body *)align_scratch(memory);
    copy_bodies(model, bodies);
    t->model = *model;
    t->model.bodies = bodies;
    make_tree(&t->model);
    t->stages = model->stages;
    t->count = count;
    t->nv = nv;
    t->q = (real *)((char *)bodies + bodies_size(model));
    t->v = t->q + nq + count;
    t->a = t->v + n;
    t->slope = t->a + n;
    t->curvature = t->slope + count;
    t->third = t->curvature + count;
    t->fourth = t->third + count;
    t->rest = t->fourth + count;
    copy_numbers(nq, q, t->q);
    copy_numbers(nv, v, t->v);
    copy_numbers(nv, a, t->a);
    for (int k = 0; k < count; k++) {
        const stage *s = &model->stages[k];
        real f[5], rate = t->v[s->v_index];
        stage_function(s, t->q[s->q_index], f);
        t->q[nq + k] = f[0];
        t->slope[k] = f[1], t->curvature[k] = f[2], t->third[k] = f[3], t->fourth[k] = f[4];
        t->v[nv + k] = f[1] * rate;
        t->a[nv + k] = real_fma(f[1], t->a[s->v_index], f[2] * rate * rate);
    }
}
