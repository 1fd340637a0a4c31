/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joint-torque regressor: tau = Y(q, v, a) p, for the parameters p = (m, h, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of every
 * moving link with the links that are fixed to it, about the origin and in the axes of the link's frame.
 *
 * A link with the angular velocity w, the acceleration a of its origin and U = alpha~ + w~ w~ has the inertial wrench
 *     f = m a + U h                    n = h x a + I alpha + w x I w
 * which is linear in its parameters. The entries of a joint at or above the link are its components along the joint's
 * column S = (s; u), in the axes and about the origin of the link:
 *     m: u . a        h: a x s + U' u        I: s . I alpha + t . I w        with t = s x w
 *
 * Source: Atkeson, An and Hollerbach 1986, "Estimation of inertial parameters of manipulator loads and links".
 */
#include "regressor_rows.h"

#include "columns.h"
#include "motion_columns.h"
#include "stages.h"

/* Placement of a body in the frame of its root (columns.h), and its motion in its own axes. `first_column` is the place
 * of its columns behind those of its parent. */
typedef struct regressor_body {
    placement W;
    body_motion motion;
    int first_column;
} regressor_body;

size_t KERNEL(regressor_memory)(const dyn_model *model) {
    size_t columns = column_count(model);
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * sizeof(regressor_body) +
           motion_columns_room(columns) * sizeof(real) + columns * sizeof(int);
}

/* Computes the placement and motion of body i, and its columns. Bodies are in depth-first order, so that the columns of
 * its ancestors precede its own. Those of other branches are overwritten. */
static void carry_regressor_body(const dyn_model *model, const placement *X, const packed_inputs *in, int i,
                                 regressor_body *bodies, motion_columns S, int *coordinates) {
    const body *b = &model->bodies[i];
    const real *v = (const real *)in->v + b->v_index, *a = (const real *)in->third + b->v_index;
    const body_motion world = world_motion(in->gravity);
    regressor_body *k = &bodies[i];
    if (b->parent < 0) {
        k->W = placement_identity(), k->first_column = 0;
        carry_motion(b, b->motion, X[i], &world, v, a, &k->motion);
    } else {
        const regressor_body *parent = &bodies[b->parent];
        k->W = placement_compose(parent->W, X[i]);
        k->first_column = parent->first_column + model->bodies[b->parent].nv;
        carry_motion(b, b->motion, X[i], &parent->motion, v, a, &k->motion);
    }
    for (int l = 0; l < b->nv; l++) {
        motion_columns_set(S, k->first_column + l, placed_column(b, k->W, l));
        coordinates[k->first_column + l] = b->v_index + l;
    }
}

/* Returns the link of a body: its frame has the axes R in those of the body, and the same origin. */
static regressor_link link_of(const regressor_body *k, mat3 R) {
    regressor_link link;
    link.W.R = mat3_multiply(k->W.R, R);
    link.W.r = k->W.r;
    link.motion.w = mat3_apply_transposed(R, k->motion.w);
    link.motion.alpha = mat3_apply_transposed(R, k->motion.alpha);
    link.motion.a = mat3_apply_transposed(R, k->motion.a);
    link.motion.U = acceleration_tensor(link.motion.w, link.motion.alpha);
    return link;
}

void KERNEL(regressor)(const dyn_model *model, void *memory, const packed_inputs *in, void *regressor) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_regressor)(model, memory, in, regressor);
        return;
    }
    const placement *X = KERNEL(placements)(model, (const real *)in->q, &memory);
    regressor_body *bodies = (regressor_body *)memory;
    memory = bodies + model->body_count;
    motion_columns S = motion_columns_at(column_count(model), &memory);
    int *coordinates = (int *)memory;
    real *Y = (real *)regressor;
    size_t width = PARAMETERS * (size_t)model->joint_count;
    for (size_t i = 0; i < (size_t)model->nv * width; i++) {
        Y[i] = real_set(0);
    }
    for (int i = 0; i < model->link_bodies; i++) {
        const body *b = &model->bodies[i];
        const body_frame *frame = &model->frames[model->joints[b->joint].child_link];
        carry_regressor_body(model, X, in, i, bodies, S, coordinates);
        /* A joint may have several bodies, of which the last one carries its link. */
        if (frame->body == i) {
            const regressor_link link = link_of(&bodies[i], mat3_constant(frame->pose.rotation));
            const int count = bodies[i].first_column + b->nv;
            const regressor_path path = {S.reals, S.each, count, coordinates, model->has_coupling};
            KERNEL(regressor_rows)(&path, &link, width, Y + PARAMETERS * b->joint);
        }
    }
}
