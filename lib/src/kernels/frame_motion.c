/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motion of a frame: its twist, its acceleration, and the rate of its Jacobian.
 *
 * In the world, about its origin, the frame's body has the twist (w; V) and the spatial acceleration (alpha; A), and a
 * joint above it the column S with the rate dS/dt = v_j x S. In the reference frames
 *     world            J = S                  dJ/dt = dS/dt
 *     local            J = X S                dJ/dt = X (dS/dt - V x S)                 X: world to frame
 *     world aligned    J = (s_w; s_p)         dJ/dt = (ds_w; ds_v + ds_w x p + s_w x dp/dt)
 * with s_p = s_v + s_w x p at the frame's origin p. The rate of the twist is J a + dJ/dt v: the spatial acceleration in
 * the first two, the classical one, d2p/dt2, in the last.
 *
 * Source: Featherstone 2008, section 2.11.
 */
#include "world_tree.h"
#include "stages.h"

size_t KERNEL(frame_motion_memory)(const dyn_model *model) {
    return world_tree_memory(model);
}

/* Returns a motion about the point p instead of the origin, in world axes. */
static inline motion at_point(motion m, vec3 p) {
    return motion_set(m.w, vec3_add(m.v, vec3_cross(m.w, p)));
}

/* Transforms a motion from the world's frame to the reference frame. The caller adds the rate of aligned axes. */
static motion in_reference_frame(placement F, dyn_reference_frame reference_frame, motion m) {
    if (reference_frame == DYN_REFERENCE_FRAME_WORLD) {
        return m;
    }
    motion moved = at_point(m, F.r);
    return reference_frame == DYN_REFERENCE_FRAME_LOCAL
               ? motion_set(mat3_apply_transposed(F.R, moved.w), mat3_apply_transposed(F.R, moved.v))
               : moved;
}

/* Loads a motion whose numbers are `stride` apart. */
static motion load_motion(const real *x, int stride) {
    return motion_set(vec3_set(x[0], x[stride], x[2 * stride]), vec3_set(x[3 * stride], x[4 * stride], x[5 * stride]));
}

static void store_motion(motion m, int stride, real *out) {
    const real entries[6] = {m.w.x, m.w.y, m.w.z, m.v.x, m.v.y, m.v.z};
    for (int row = 0; row < 6; row++) {
        out[row * stride] = entries[row];
    }
}

/* Returns the rate of one column of J, from the column S and its rate about the world's origin. */
static motion jacobian_rate(motion S, motion rate, motion V, placement F, dyn_reference_frame reference_frame) {
    if (reference_frame == DYN_REFERENCE_FRAME_LOCAL) {
        motion turn = motion_cross(V, S);
        rate = motion_set(vec3_sub(rate.w, turn.w), vec3_sub(rate.v, turn.v));
    }
    rate = in_reference_frame(F, reference_frame, rate);
    if (reference_frame == DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED) {
        rate.v = vec3_add(rate.v, vec3_cross(S.w, at_point(V, F.r).v));
    }
    return rate;
}

/* Stores twist and rate of a frame whose body moves with V and A. */
static void store_frame_motion(motion V, motion A, placement F, dyn_reference_frame reference_frame, void *twist,
                               void *rate_of_twist) {
    V = in_reference_frame(F, reference_frame, V);
    A = in_reference_frame(F, reference_frame, A);
    if (reference_frame == DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED) {
        A.v = vec3_add(A.v, vec3_cross(V.w, V.v));
    }
    store_motion(V, 1, (real *)twist);
    store_motion(A, 1, (real *)rate_of_twist);
}

void KERNEL(frame_motion)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a, int frame,
                          dyn_reference_frame reference_frame, const frame_rates *out) {
    if (SERVES_STAGES && model->stage_count > 0) {
        KERNEL(staged_frame_motion)(model, memory, q, v, a, frame, reference_frame, out);
        return;
    }
    const body_frame *f = &model->frames[frame];
    real *twist = (real *)out->twist, *rate_of_twist = (real *)out->rate, *dJ = (real *)out->dJ;
    for (int i = 0; i < 6; i++) {
        twist[i] = rate_of_twist[i] = real_set(0);
    }
    for (int i = 0; i < 6 * model->nv; i++) {
        dJ[i] = real_set(0);
    }
    if (f->body < 0) {
        return;
    }
    world_tree tree =
        find_world_tree(model, model->link_bodies, &memory, (const real *)q, (const real *)v, (const real *)a);
    const tree_body *carrier = &tree.bodies[f->body];
    placement F = placement_compose(carrier->W, placement_constant(f->pose.rotation, f->pose.position));
    store_frame_motion(carrier->v, carrier->a, F, reference_frame, twist, rate_of_twist);
    for (int i = f->body; i >= 0; i = model->bodies[i].parent) {
        for (int k = 0; k < model->bodies[i].nv; k++) {
            const tree_column *c = &tree.columns[tree.bodies[i].first_column + k];
            motion rate = jacobian_rate(c->S, column_rate(c), carrier->v, F, reference_frame);
            real *at = dJ + model->bodies[i].v_index + k;
            motion sum = load_motion(at, model->nv);
            store_motion(motion_add(sum, rate), model->nv, at);
        }
    }
}

void KERNEL(refer_motion)(const dyn_model *model, const void *position, const void *rotation,
                          dyn_reference_frame reference_frame, const void *J, void *twist, void *rate, void *dJ) {
    placement F = placement_load((const real *)rotation, (const real *)position);
    motion V = load_motion((const real *)twist, 1), A = load_motion((const real *)rate, 1);
    int nv = model->nv;
    for (int i = 0; i < nv && reference_frame != DYN_REFERENCE_FRAME_WORLD; i++) {
        real *at = (real *)dJ + i;
        motion S = load_motion((const real *)J + i, nv);
        store_motion(jacobian_rate(S, load_motion(at, nv), V, F, reference_frame), nv, at);
    }
    store_frame_motion(V, A, F, reference_frame, twist, rate);
}
