/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes pose and Jacobian of a frame.
 *
 * With (R_j, r_j) the placement of body j in the world and r_F the frame's origin there, a coordinate of an ancestor j
 * with the column (s_w; s_v) in the body's axes gives the twist, in world axes and at the frame's origin,
 *     w = R_j s_w        v = R_j s_v + w x (r_F - r_j)
 * At the world's origin v = R_j s_v + r_j x w. In the frame's own axes both are rotated by R_F'. Other coordinates have
 * zero columns.
 *
 * If the Jacobian of a body about the world's origin is known, that of its frames follows: v + w x r_F.
 *
 * Source: Featherstone 2008, section 2.8; Murray, Li and Sastry 1994, equations 3.51 and 3.53.
 */
#include "instance.h"
#include "stages.h"

/* Returns the bytes of scratch memory for the bodies between the frame and the root: placements, angles and indices. */
size_t KERNEL(frame_memory)(const dyn_model *model) {
    return KERNEL(placements_memory)(model) + (size_t)model->body_count * sizeof(int);
}

/* Bodies from the carrier of a frame to the root, with their placements in the world. */
typedef struct frame_path {
    int count;
    const int *bodies;
    const placement *W;
} frame_path;

static frame_path find_path(const dyn_model *model, void *memory, const real *q, int frame) {
    placement *W = (placement *)memory;
    real *angles = (real *)(W + model->body_count);
    int *bodies = (int *)(angles + 3 * model->body_count), count = 0;
    for (int i = model->frames[frame].body; i >= 0; i = model->bodies[i].parent) {
        bodies[count++] = i;
    }
    KERNEL(path_placements)(model, q, bodies, count, angles, W);
    for (int k = count - 2; k >= 0; k--) {
        W[k] = placement_compose(W[k + 1], W[k]);
    }
    frame_path path;
    path.count = count;
    path.bodies = bodies;
    path.W = W;
    return path;
}

/* Returns the placement of the frame in the world. */
static placement frame_placement(const dyn_model *model, frame_path path, int frame) {
    const dyn_pose *pose = &model->frames[frame].pose;
    placement in_body = placement_constant(pose->rotation, pose->position);
    return path.count > 0 ? placement_compose(path.W[0], in_body) : in_body;
}

static void store_mat3(mat3 R, real *out) {
    out[0] = R.xx, out[1] = R.xy, out[2] = R.xz;
    out[3] = R.yx, out[4] = R.yy, out[5] = R.yz;
    out[6] = R.zx, out[7] = R.zy, out[8] = R.zz;
}

void KERNEL(frame_pose)(const dyn_model *model, void *memory, const void *q, int frame, void *position,
                        void *rotation) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_frame_pose)(model, memory, q, frame, position, rotation);
        return;
    }
    placement F = frame_placement(model, find_path(model, memory, (const real *)q, frame), frame);
    real *r = (real *)position;
    r[0] = F.r.x, r[1] = F.r.y, r[2] = F.r.z;
    store_mat3(F.R, (real *)rotation);
}

void KERNEL(place_frame)(const dyn_model *model, int frame, void *position, void *rotation) {
    const dyn_pose *pose = &model->frames[frame].pose;
    placement carrier = placement_load((const real *)rotation, (const real *)position);
    placement F = placement_compose(carrier, placement_constant(pose->rotation, pose->position));
    real *r = (real *)position;
    r[0] = F.r.x, r[1] = F.r.y, r[2] = F.r.z;
    store_mat3(F.R, (real *)rotation);
}

void KERNEL(refer_jacobian)(const dyn_model *model, const void *position, const void *rotation,
                            dyn_reference_frame reference_frame, void *J) {
    placement F = placement_load((const real *)rotation, (const real *)position);
    int nv = model->nv;
    for (int i = 0; i < nv && reference_frame != DYN_REFERENCE_FRAME_WORLD; i++) {
        real *x = (real *)J + i;
        vec3 w = vec3_set(x[0], x[nv], x[2 * nv]), v = vec3_set(x[3 * nv], x[4 * nv], x[5 * nv]);
        v = vec3_add(v, vec3_cross(w, F.r));
        if (reference_frame == DYN_REFERENCE_FRAME_LOCAL) {
            w = mat3_apply_transposed(F.R, w);
            v = mat3_apply_transposed(F.R, v);
        }
        x[0] = w.x, x[nv] = w.y, x[2 * nv] = w.z;
        x[3 * nv] = v.x, x[4 * nv] = v.y, x[5 * nv] = v.z;
    }
}

/* Adds the columns of body j, times the ratio of its joint, to J. W is the placement of the body, F that of the frame,
 * in the world. */
static void add_columns(const dyn_model *model, int j, placement W, placement F, dyn_reference_frame reference_frame,
                        real *J) {
    const body *b = &model->bodies[j];
    for (int k = 0; k < b->nv; k++) {
        motion S = joint_column(b, b->motion, k);
        vec3 w = vec3_scale(real_set(b->ratio), mat3_apply(W.R, S.w));
        vec3 v = vec3_scale(real_set(b->ratio), mat3_apply(W.R, S.v));
        v = reference_frame == DYN_REFERENCE_FRAME_WORLD ? vec3_add(v, vec3_cross(W.r, w))
                                                         : vec3_add(v, vec3_cross(w, vec3_sub(F.r, W.r)));
        if (reference_frame == DYN_REFERENCE_FRAME_LOCAL) {
            w = mat3_apply_transposed(F.R, w);
            v = mat3_apply_transposed(F.R, v);
        }
        real *column = J + b->v_index + k;
        const real entries[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
        for (int row = 0; row < 6; row++) {
            column[row * model->nv] += entries[row];
        }
    }
}

void KERNEL(frame_jacobian)(const dyn_model *model, void *memory, const void *q, int frame,
                            dyn_reference_frame reference_frame, void *jacobian) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_frame_jacobian)(model, memory, q, frame, reference_frame, jacobian);
        return;
    }
    real *J = (real *)jacobian;
    for (int i = 0; i < 6 * model->nv; i++) {
        J[i] = real_set(0);
    }
    frame_path path = find_path(model, memory, (const real *)q, frame);
    placement F = frame_placement(model, path, frame);
    for (int k = 0; k < path.count; k++) {
        add_columns(model, path.bodies[k], path.W[k], F, reference_frame, J);
    }
}
