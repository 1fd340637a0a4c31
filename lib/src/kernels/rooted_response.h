/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Response of the rows of closures that tie one body of a floating robot to the world (rooted_response.c).
 */
#ifndef DYNAMICS_KERNELS_ROOTED_RESPONSE_H
#define DYNAMICS_KERNELS_ROOTED_RESPONSE_H

#include "closure.h"

/* Returns the body that all closures tie to the world, if its tree floats; -1: there is none. */
static inline int lone_held_body(const dyn_model *model) {
    int held = -1, root;
    for (int i = 0; i < model->constraint_count; i++) {
        const closure *c = &model->closures[i];
        int P = body_of_side(model, c, 0), S = body_of_side(model, c, 1), own = S < 0 ? P : S;
        if (c->coordinate_count > 0 || own < 0 || (P >= 0 && S >= 0) || (held >= 0 && own != held)) {
            return -1;
        }
        held = own;
    }
    for (root = held; root >= 0 && model->bodies[root].parent >= 0;) {
        root = model->bodies[root].parent;
    }
    return root >= 0 && model->bodies[root].motion == MOTION_FLOATING ? held : -1;
}

/* Returns the larger of two numbers. */
static inline real real_larger(real a, real b) {
    return real_where_positive(a - b, a, b);
}

/* Returns |x|. */
static inline real real_size(real x) {
    return real_larger(x, real_set(0) - x);
}

size_t KERNEL(rooted_response_memory)(const dyn_model *model);

/* Computes what constrained_response does, without a diagonal, for the body of lone_held_body. */
void KERNEL(rooted_response)(const dyn_model *model, void *memory, const packed_inputs *in,
                             const row_requirements *required, int held, void *pivots, void *u,
                             const row_multipliers *out);

/* Computes what constrained_acceleration does, from the memory that rooted_response has left. */
void KERNEL(rooted_acceleration)(const dyn_model *model, void *memory, const double gravity[3], int m,
                                 const row_multipliers *multipliers, void *residual, void *u);

/* Computes the largest of |R lambda - missing|. */
void KERNEL(response_residual)(const row_multipliers *multipliers, int m, void *residual);

#endif
