/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the frames of closures in the world between the passes of the articulated-body algorithm.
 */
#ifndef DYNAMICS_KERNELS_CLOSURE_SIDES_H
#define DYNAMICS_KERNELS_CLOSURE_SIDES_H

#include "aba_passes.h"
#include "closure.h"

/* Returns the placement of a body in the world. */
static inline placement body_in_world(const dyn_model *model, const aba_tree *t, int i) {
    placement X = is_hinge(&model->bodies[i], t) ? hinge_placement(hinge_at(&model->bodies[i], t->turns, i)) : t->X[i];
    for (i = model->bodies[i].parent; i >= 0; i = model->bodies[i].parent) {
        if (is_hinge(&model->bodies[i], t)) {
            hinge h = hinge_at(&model->bodies[i], t->turns, i);
            X.R = mat3_from_columns(hinge_to_parent(h, mat3_column_x(X.R)), hinge_to_parent(h, mat3_column_y(X.R)),
                                    hinge_to_parent(h, mat3_column_z(X.R)));
            X.r = hinge_to_parent_add(h, X.r, h.r);
        } else {
            X = placement_compose(t->X[i], X);
        }
    }
    return X;
}

/* Returns the frame of one side of a closure. Its velocity needs t->velocities. */
static inline moving_side find_side(const dyn_model *model, const aba_tree *t, const closure *c, int side) {
    closure_side s = side_of_closure(model, c, side);
    moving_side found;
    found.body = s.body;
    found.of_body = s.body < 0 ? placement_identity() : body_in_world(model, t, s.body);
    found.of_frame = s.body < 0 ? s.in_body : placement_compose(found.of_body, s.in_body);
    found.V = s.body < 0 ? motion_zero() : motion_to_parent(found.of_body, t->velocities[s.body]);
    return found;
}

#endif
