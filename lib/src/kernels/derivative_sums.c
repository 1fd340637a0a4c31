/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums over subtrees of the terms of bodies, in instances whose lanes hold columns (derivative_terms.h).
 */
#include "derivative_state.h"
#include "term_lanes.h"

#if TERM_LANES > 1

/* Accumulates the sums of bodies first .. last, a chain. Columns that fill a vector are added component by component,
 * which are contiguous; others column by column. Columns that are not the last ones of their joints, and lanes after
 * the last column, add zeros. */
KERNEL_STEP void add_up_chain(const derivative_state *s, derivative_parts parts, int first, int last) {
    const derivative_tree *t = &s->tree;
    const body *bodies = t->model->bodies;
    const int top = t->first_column[first], parent = bodies[first].parent;
    const size_t from = part_offset(parts) / sizeof(real), count = part_count(parts);
    inertial_terms sums = bodies[last].forks ? s->pending[last] : no_terms();
    real *sum = (real *)&sums + from;
    int y = t->first_column[last + 1];
    if (last + 1 == t->model->body_count) {
        y = (y + TERM_LANES - 1) / TERM_LANES * TERM_LANES;
    }
    while (y > top) {
        const int lanes = y % TERM_LANES == 0 && y - TERM_LANES >= top ? TERM_LANES : 1;
        y -= lanes;
        const real *own = body_beside(t, y) + (offsetof(body_terms, own) / sizeof(real) + from) * TERM_LANES;
        real *to = column_joint(t, y) + (offsetof(joint_terms, sum) / sizeof(real) + from) * TERM_LANES;
        for (size_t c = 0; c < count && lanes == 1; c++, own += TERM_LANES, to += TERM_LANES) {
            sum[c] = *own + sum[c];
            *to = sum[c];
        }
        for (size_t c = 0; c < count && lanes > 1; c++, own += TERM_LANES, to += TERM_LANES) {
            real x = sum[c];
            for (int l = TERM_LANES - 1; l >= 0; l--) {
                x = own[l] + x;
                to[l] = x;
            }
            sum[c] = x;
        }
    }
    if (parent >= 0) {
        real *pending = (real *)&s->pending[parent] + from;
        for (size_t c = 0; c < count; c++) {
            pending[c] = pending[c] + sum[c];
        }
    }
}

/* Accumulates chain by chain. The parent of the first body of a chain is the world or a body that forks. */
void KERNEL(add_up_columns)(const derivative_state *s, derivative_parts parts) {
    const body *bodies = s->tree.model->bodies;
    for (int i = 0; i < s->tree.model->body_count; i++) {
        if (bodies[i].forks) {
            s->pending[i] = no_terms();
        }
    }
    for (int last = s->tree.model->body_count - 1, first; last >= 0; last = first - 1) {
        first = last;
        while (bodies[first].parent >= 0 && !bodies[bodies[first].parent].forks) {
            first--;
        }
        if (parts == BOTH_PARTS) {
            add_up_chain(s, BOTH_PARTS, first, last);
        } else if (parts == VELOCITY_PART) {
            add_up_chain(s, VELOCITY_PART, first, last);
        } else {
            add_up_chain(s, POSITION_PART, first, last);
        }
    }
}

#endif
