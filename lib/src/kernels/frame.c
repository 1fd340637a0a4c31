/*
 * Pose and Jacobian of a frame.
 *
 * With (R_j, r_j) the placement of body j in the world and r_F the frame's origin there, a coordinate of an ancestor j
 * with the column (s_w; s_v) in the body's axes gives the twist, in world axes and at the frame's origin, w = R_j s_w
 * v = R_j s_v + w x (r_F - r_j) At the world's origin v = R_j s_v + r_j x w; in the frame's own axes both are turned by
 * R_F'. Other coordinates have zero columns.
 *
 * Source: Featherstone 2008, section 2.8; Murray, Li and Sastry 1994, equations 3.51 and 3.53.
 */
#include "instance.h"

/* Memory: the placements in the world of the bodies on the way from the root to the frame, and their indices, the
 * frame's carrier first. */
size_t KERNEL(frame_memory)(const dyn_model *model) {
    return (size_t)model->body_count * (sizeof(placement) + sizeof(int));
}

/* Placement of a frame in the world. */
static placement frame_placement(const dyn_model *model, const real *q, int frame) {
    const body_frame *F = &model->frames[frame];
    placement W = placement_constant(F->pose.rotation, F->pose.position);
    for (int i = F->body; i >= 0; i = model->bodies[i].parent) {
        W = placement_compose(KERNEL(joint_placement)(&model->bodies[i], q), W);
    }
    return W;
}

static void store_mat3(mat3 R, real *out) {
    out[0] = R.xx, out[1] = R.xy, out[2] = R.xz;
    out[3] = R.yx, out[4] = R.yy, out[5] = R.yz;
    out[6] = R.zx, out[7] = R.zy, out[8] = R.zz;
}

void KERNEL(frame_pose)(const dyn_model *model, void *memory, const void *q, int frame, void *position,
                        void *rotation) {
    (void)memory;
    placement F = frame_placement(model, (const real *)q, frame);
    real *r = (real *)position;
    r[0] = F.r.x, r[1] = F.r.y, r[2] = F.r.z;
    store_mat3(F.R, (real *)rotation);
}

/* Adds the columns of body j, times its ratio. */
static void add_columns(const dyn_model *model, int j, placement W, placement F, dyn_reference_frame reference_frame,
                        real *J) {
    const body *b = &model->bodies[j];
    for (int k = 0; k < b->nv; k++) {
        motion S = joint_column(b, b->motion, k);
        vec3 w = vec3_scale(real_set(b->ratio), mat3_apply(W.R, S.w));
        vec3 v = vec3_scale(real_set(b->ratio), mat3_apply(W.R, S.v));
        v = reference_frame == DYN_WORLD ? vec3_add(v, vec3_cross(W.r, w))
                                         : vec3_add(v, vec3_cross(w, vec3_sub(F.r, W.r)));
        if (reference_frame == DYN_LOCAL) {
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

/* Placements in the world of `carrier` and its ancestors; returns their number. */
static int path_placements(const dyn_model *model, const real *q, int carrier, placement *W, int *path) {
    int count = 0;
    for (int i = carrier; i >= 0; i = model->bodies[i].parent) {
        path[count++] = i;
    }
    for (int k = count - 1; k >= 0; k--) {
        placement X = KERNEL(joint_placement)(&model->bodies[path[k]], q);
        W[k] = k == count - 1 ? X : placement_compose(W[k + 1], X);
    }
    return count;
}

void KERNEL(frame_jacobian)(const dyn_model *model, void *memory, const void *q, int frame,
                            dyn_reference_frame reference_frame, void *jacobian) {
    const body_frame *f = &model->frames[frame];
    placement *W = (placement *)memory;
    int *path = (int *)(W + model->body_count);
    real *J = (real *)jacobian;
    for (int i = 0; i < 6 * model->nv; i++) {
        J[i] = real_set(0);
    }
    int count = path_placements(model, (const real *)q, f->body, W, path);
    placement F = placement_constant(f->pose.rotation, f->pose.position);
    F = count > 0 ? placement_compose(W[0], F) : F;
    for (int k = 0; k < count; k++) {
        add_columns(model, path[k], W[k], F, reference_frame, J);
    }
}
