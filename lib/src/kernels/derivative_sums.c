/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums over subtrees of the terms of bodies, in instances whose lanes hold columns (derivative_terms.h).
 */
#include "derivative_state.h"

#if TERM_LANES > 1

/* Returns the first of the numbers of inertial_terms that the parts of the derivatives need: all but those of f, or
 * those of f, or all. */
static inline int first_inertial_number(derivative_parts parts) {
    return parts & VELOCITY_PART ? 0 : MASS_NUMBERS;
}

/* Returns how many numbers of inertial_terms the parts of the derivatives need. */
static inline int inertial_number_count(derivative_parts parts) {
    return (parts & POSITION_PART ? INERTIAL_NUMBERS : MASS_NUMBERS) - first_inertial_number(parts);
}

/* Returns the numbers that the rotors of columns from y on add to number c of their parents' sums, or NULL. */
KERNEL_STEP const real *rotor_numbers(const derivative_tree *t, bool driven, int y, int c) {
    bool adds = driven && c >= ROTOR_NUMBER && c < ROTOR_NUMBER + ROTOR_NUMBERS;
    return adds ? &rotors_at(t, y)->moments.x[c - ROTOR_NUMBER][term_lane(y)] : NULL;
}

/* Accumulates the sums of bodies first .. last, a chain. Columns that fill a vector are added component by component,
 * which are contiguous; others column by column. Columns that are not the last ones of their joints, and lanes after
 * the last column, add zeros. `driven`: rotors add to the sums of parents. */
KERNEL_STEP void add_up_chain(const derivative_state *s, derivative_parts parts, bool driven, int first, int last) {
    const derivative_tree *t = &s->tree;
    const body *bodies = t->model->bodies;
    const int top = t->first_column[first], parent = bodies[first].parent;
    const int from = first_inertial_number(parts), count = inertial_number_count(parts);
    inertial_terms sums = forks_at(t, last) ? s->pending[last] : no_terms();
    real *sum = (real *)&sums + from;
    int y = t->first_column[last + 1];
    if (last + 1 == t->count) {
        y = (y + TERM_LANES - 1) / TERM_LANES * TERM_LANES;
    }
    while (y > top) {
        const int lanes = y % TERM_LANES == 0 && y - TERM_LANES >= top ? TERM_LANES : 1;
        y -= lanes;
        const real *own = &bodies_at(t, y)->own.x[from][term_lane(y)];
        real *to = &joints_at(t, y)->sum.x[from][term_lane(y)];
        for (int c = 0; c < count && lanes == 1; c++, own += TERM_LANES, to += TERM_LANES) {
            const real *added = rotor_numbers(t, driven, y, from + c);
            sum[c] = *own + sum[c];
            *to = sum[c];
            sum[c] = added ? sum[c] + *added : sum[c];
        }
        for (int c = 0; c < count && lanes > 1; c++, own += TERM_LANES, to += TERM_LANES) {
            const real *added = rotor_numbers(t, driven, y, from + c);
            real x = sum[c];
            for (int l = TERM_LANES - 1; l >= 0 && !added; l--) {
                x = own[l] + x;
                to[l] = x;
            }
            for (int l = TERM_LANES - 1; l >= 0 && added; l--) {
                x = own[l] + x;
                to[l] = x;
                x = x + added[l];
            }
            sum[c] = x;
        }
    }
    if (parent >= 0) {
        real *pending = (real *)&s->pending[parent] + from;
        for (int c = 0; c < count; c++) {
            pending[c] = pending[c] + sum[c];
        }
    }
}

/* Accumulates chain by chain. The parent of the first body of a chain is the world or a body that forks. */
KERNEL_STEP void add_up_chains(const derivative_state *s, derivative_parts parts, bool driven) {
    const body *bodies = s->tree.model->bodies;
    for (int i = 0; i < s->tree.count; i++) {
        if (forks_at(&s->tree, i)) {
            s->pending[i] = no_terms();
        }
    }
    for (int last = s->tree.count - 1, first; last >= 0; last = first - 1) {
        first = last;
        while (bodies[first].parent >= 0 && !forks_at(&s->tree, bodies[first].parent)) {
            first--;
        }
        if (parts == BOTH_PARTS) {
            add_up_chain(s, BOTH_PARTS, driven, first, last);
        } else if (parts == VELOCITY_PART) {
            add_up_chain(s, VELOCITY_PART, driven, first, last);
        } else {
            add_up_chain(s, POSITION_PART, driven, first, last);
        }
    }
}

void KERNEL(add_up_columns)(const derivative_state *s, derivative_parts parts) {
    if (s->tree.has_driven) {
        add_up_chains(s, parts, true);
    } else {
        add_up_chains(s, parts, false);
    }
}

#endif
