/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * External wrenches in the derivatives of inverse dynamics. They are constant in their reference frames. A wrench in
 * local axes moves with its body, so that it is subtracted from the inertial wrench. A wrench in world axes does not
 * move with the columns.
 */
#include "derivative_state.h"

static inline placement placement_of_body(const derivative_tree *t, int i) {
    const int k = body_term(t, i);
    return load_placement(&bodies_at(t, k)->W, term_lane(k));
}

static inline motion column_of(const derivative_tree *t, int y) {
    return load_motion(&columns_at(t, y)->S, term_lane(y));
}

/* Returns wrench number j in the frame of the tree. */
static inline force wrench_in_tree(const derivative_state *s, const placement *X, const wrench_set *forces, size_t j) {
    const dyn_model *model = s->tree.model;
    int i = model->frames[forces->frames[j].frame].body;
    force F = KERNEL(body_wrench)(model, X, forces->frames[j], (const real *)forces->wrenches + 6 * j);
    return force_to_parent(placement_of_body(&s->tree, i), F);
}

static const placement *find_placements(const derivative_state *s) {
    void *memory = s->placements;
    return KERNEL(placements)(s->tree.model, s->q, &memory);
}

void KERNEL(subtract_local_wrenches)(const derivative_state *s, const wrench_set *forces) {
    const placement *X = find_placements(s);
    for (size_t j = 0; j < forces->count; j++) {
        if (forces->frames[j].reference_frame == DYN_REFERENCE_FRAME_LOCAL) {
            const int k = body_term(&s->tree, s->tree.model->frames[forces->frames[j].frame].body);
            subtract_wrench(wrench_in_tree(s, X, forces, j), &bodies_at(&s->tree, k)->own, term_lane(k));
        }
    }
}

/* Adds the derivative of the joint forces of a wrench F on body `carrier`, whose direction is constant in the world, to
 * dq. `point` is NULL if F acts at a fixed place. tau_x = -S_x' F changes with q_y by
 *     -(S_y x S_x)' F         if joint x belongs to the subtree of joint y, and
 *     -S_x' (dr x F.f; 0)     with dr = S_y.v + S_y.w x r, if F acts at a point r of the body, which moves. */
static void add_world_wrench(const derivative_tree *t, int carrier, force F, const vec3 *point, real *dq) {
    const body *bodies = t->model->bodies;
    for (int i = carrier; i >= 0; i = bodies[i].parent) {
        for (int k = 0; k < bodies[i].nv; k++) {
            motion S_x = column_of(t, t->first_column[i] + k);
            force turned = force_cross(S_x, F);
            vec3 moment = point ? vec3_cross(F.f, S_x.w) : vec3_zero();
            real *row = dq + (bodies[i].v_index + k) * t->model->nv;
            for (int j = carrier; j >= 0; j = bodies[j].parent) {
                for (int l = 0; l < bodies[j].nv; l++) {
                    motion S = column_of(t, t->first_column[j] + l);
                    vec3 dr = point ? vec3_cross_add(S.w, *point, S.v) : vec3_zero();
                    real turn = j <= i ? spatial_dot(S, turned) : real_set(0);
                    row[bodies[j].v_index + l] -= vec3_dot_add(dr, moment, turn);
                }
            }
        }
    }
}

void KERNEL(add_world_wrenches)(const derivative_state *s, const wrench_set *forces, real *dq) {
    const placement *X = find_placements(s);
    for (size_t j = 0; j < forces->count; j++) {
        wrench_frame at = forces->frames[j];
        if (at.reference_frame != DYN_REFERENCE_FRAME_LOCAL) {
            const body_frame *frame = &s->tree.model->frames[at.frame];
            placement in_body = placement_constant(frame->pose.rotation, frame->pose.position);
            vec3 point = placement_compose(placement_of_body(&s->tree, frame->body), in_body).r;
            add_world_wrench(&s->tree, frame->body, wrench_in_tree(s, X, forces, j),
                             at.reference_frame == DYN_REFERENCE_FRAME_WORLD ? NULL : &point, dq);
        }
    }
}

void KERNEL(subtract_wrench_forces)(const derivative_state *s, const wrench_set *forces, real *x) {
    const derivative_tree *t = &s->tree;
    const body *bodies = t->model->bodies;
    const placement *X = find_placements(s);
    for (size_t j = 0; j < forces->count; j++) {
        force F = wrench_in_tree(s, X, forces, j);
        for (int i = t->model->frames[forces->frames[j].frame].body; i >= 0; i = bodies[i].parent) {
            for (int k = 0; k < bodies[i].nv; k++) {
                motion S = column_of(t, t->first_column[i] + k);
                x[bodies[i].v_index + k] -= spatial_dot(S, F);
            }
        }
    }
}
