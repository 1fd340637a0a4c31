/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entries of the derivatives of inverse dynamics, row by row, in instances whose lanes hold columns
 * (derivative_terms.h), for models in which no joints share a coordinate. There columns are coordinates, and the
 * columns of a subtree follow those of its joint.
 *
 * The row of a column y contains entries `below` with the columns at its joint or nearer to the root, and after them
 * entries `above` with the columns of its subtree.
 */
#include <string.h>

#include "derivative_entries.h"
#include "finished_numbers.h"

#if defined DYN_COLUMN_LANES

/* Consecutive entries of a row of each matrix. */
typedef struct row_entries {
    real dq, dv, da;
} row_entries;

/* Returns the vector of one lane in all lanes. */
KERNEL_STEP vec3 shared_by_lanes(const vec3 *of_lanes, int lane) {
    const number *x = (const number *)of_lanes + lane;
    return vec3_set(real_set((double)x[0]), real_set((double)x[TERM_LANES]), real_set((double)x[2 * TERM_LANES]));
}

/* Computes the entries of row y with columns at its joint or above. */
KERNEL_STEP row_entries entries_below(const derivative_tree *t, derivative_parts parts, int y, const column_terms *c) {
    const column_products *products = &columns_at(t, y)->products;
    const int lane = term_lane(y);
    column_entries all = no_entries();
    row_entries e;
    force IS = force_set(shared_by_lanes(&products->IS.n, lane), shared_by_lanes(&products->IS.f, lane));
    multiply_below(IS, shared_by_lanes(&products->BS, lane), parts, c, &all);
    e.dq = all.dq_below, e.dv = all.dv_below, e.da = all.da;
    return e;
}

/* Computes the entries of row y with columns of its joint's subtree. */
KERNEL_STEP row_entries entries_above(const derivative_tree *t, derivative_parts parts, int y,
                                      const column_products *c) {
    const motion *of_lanes = &columns_at(t, y)->S;
    const int lane = term_lane(y);
    column_entries all = no_entries();
    row_entries e;
    motion S = motion_set(shared_by_lanes(&of_lanes->w, lane), shared_by_lanes(&of_lanes->v, lane));
    multiply_above(c, parts, S, &all);
    e.dq = all.dq_above, e.dv = all.dv_above;
    e.da = parts & VELOCITY_PART ? spatial_dot(S, c->IS) : all.da;
    return e;
}

static inline row_entries no_row_entries(void) {
    row_entries e;
    e.dq = e.dv = e.da = real_set(0);
    return e;
}

/* Returns x in lanes where c < bound, else y. */
KERNEL_STEP row_entries entries_where_before(real c, int bound, row_entries x, row_entries y) {
    real before = real_set(bound) - c;
    row_entries e;
    e.dq = real_where_positive(before, x.dq, y.dq);
    e.dv = real_where_positive(before, x.dv, y.dv);
    e.da = real_where_positive(before, x.da, y.da);
    return e;
}

/* TERM_LANES consecutive columns: the first, the one after the last, and their numbers. If there are branches, also the
 * ends of their subtrees with a minus sign, and the last end. */
typedef struct column_chunk {
    int first, end, last_end;
    real numbers, minus_ends;
} column_chunk;

KERNEL_STEP column_chunk chunk_of(const derivative_tree *t, bool branches, int k) {
    column_chunk c;
    c.first = k * TERM_LANES, c.end = c.first + TERM_LANES, c.last_end = 0;
    c.minus_ends = real_set(0);
    for (int l = 0; l < TERM_LANES; l++) {
        ((number *)&c.numbers)[l] = (number)l;
        if (branches) {
            int end = t->column_ends[c.first + l];
            ((number *)&c.minus_ends)[l] = -(number)end;
            c.last_end = end > c.last_end ? end : c.last_end;
        }
    }
    c.numbers += real_set(c.first);
    return c;
}

#if defined __AVX512F__ && NUMBER_SIZE * DYN_LANES == 64
#if DYN_LANES == 8
typedef __mmask8 lane_mask;
#else
typedef __mmask16 lane_mask;
#endif
#endif

/* Stores part of a row of a matrix with `left` numbers after `to`. The next row overwrites what is stored beyond the
 * end of this one. The end of the matrix is not exceeded. */
KERNEL_STEP void store_numbers_of_row(real x, number *to, size_t left) {
    if (left >= TERM_LANES) {
        memcpy(to, &x, sizeof x);
        return;
    }
#if defined __AVX512F__ && NUMBER_SIZE * DYN_LANES == 64
    VECTOR(mask_storeu)(to, (lane_mask)((1u << left) - 1), x);
#else
    for (size_t l = 0; l < left; l++) {
        to[l] = ((const number *)&x)[l];
    }
#endif
}

/* Returns entries as they are stored. If all parts are requested, the caller gets them and they are stored as unpack
 * does. Otherwise forward dynamics reads them. */
KERNEL_STEP row_entries finish_row(derivative_parts parts, row_entries e, row_entries *zeros) {
    if (parts == BOTH_PARTS) {
        e.dq = finish_number(e.dq, &zeros->dq), e.dv = finish_number(e.dv, &zeros->dv),
        e.da = finish_number(e.da, &zeros->da);
    }
    return e;
}

/* Stores part of a row of each requested matrix. */
KERNEL_STEP void store_part_of_row(const matrices *d, derivative_parts parts, int y, int first, row_entries e,
                                   row_entries *zeros) {
    size_t at = (size_t)y * d->nv + (size_t)first, left = d->nv * d->nv - at;
    e = finish_row(parts, e, zeros);
    if (parts & VELOCITY_PART) {
        store_numbers_of_row(e.dv, d->dv + at, left);
        store_numbers_of_row(e.da, d->da + at, left);
    }
    if (parts & POSITION_PART) {
        store_numbers_of_row(e.dq, d->dq + at, left);
    }
}

/* Returns the end of the columns of the subtree of body i. */
static inline int carried_end(const derivative_tree *t, int i) {
    return t->first_column[i + 1] + t->model->bodies[i].columns_behind;
}

/* Returns the entries of row y with the columns of a chunk in its subtree, and zeros after `end`. */
KERNEL_STEP row_entries row_above(const derivative_tree *t, derivative_parts parts, bool branches,
                                  const column_chunk *c, int y, int end, const column_products *products) {
    row_entries e = no_row_entries();
    if (end > c->first) {
        e = entries_above(t, parts, y, products);
        e = branches ? entries_where_before(c->numbers, end, e, no_row_entries()) : e;
    }
    return e;
}

/* Returns the entries of row y with the columns of a chunk that are nearer to the root, and zeros for other
 * branches. */
KERNEL_STEP row_entries row_below(const derivative_tree *t, derivative_parts parts, bool branches,
                                  const column_chunk *c, int y, const column_terms *terms) {
    row_entries e = no_row_entries();
    if (!branches || c->last_end > y) {
        e = entries_below(t, parts, y, terms);
        e = branches ? entries_where_before(c->minus_ends, -y, e, no_row_entries()) : e;
    }
    return e;
}

/* Stores the rows of bodies from i on that precede a chunk. Returns the next body. */
KERNEL_STEP int store_above(const derivative_tree *t, derivative_parts parts, bool branches, const column_chunk *c,
                            int i, const matrices *d, row_entries *zeros) {
    const column_products products = ((const column_terms *)t->columns)[c->first / TERM_LANES].products;
    const int *first = t->first_column;
    for (int y = first[i]; first[i + 1] <= c->first; i++) {
        for (const int end = carried_end(t, i); y < first[i + 1]; y++) {
            row_entries e = row_above(t, parts, branches, c, y, end, &products);
            store_part_of_row(d, parts, y, c->first, e, zeros);
        }
    }
    return i;
}

/* Stores the rows of bodies from i on that have columns in the chunk. Returns the next body. */
KERNEL_STEP int store_mixed(const derivative_tree *t, derivative_parts parts, bool branches, const column_chunk *c,
                            int i, const matrices *d, row_entries *zeros) {
    const column_terms *terms = (const column_terms *)t->columns + c->first / TERM_LANES;
    const int *first = t->first_column, bodies = t->count;
    for (int y = first[i]; i < bodies && y < c->end; i++) {
        for (const int end = carried_end(t, i); y < first[i + 1]; y++) {
            row_entries below = row_below(t, parts, branches, c, y, terms);
            row_entries above = no_row_entries();
            if (end > first[i + 1]) {
                above = row_above(t, parts, branches, c, y, end, &terms->products);
            }
            row_entries e = entries_where_before(c->numbers, first[i + 1], below, above);
            store_part_of_row(d, parts, y, c->first, e, zeros);
        }
    }
    return i;
}

/* Stores the rows of bodies from i on, all of which follow the chunk. */
KERNEL_STEP void store_below(const derivative_tree *t, derivative_parts parts, bool branches, const column_chunk *c,
                             int i, const matrices *d, row_entries *zeros) {
    const column_terms terms = ((const column_terms *)t->columns)[c->first / TERM_LANES];
    for (int y = t->first_column[i]; y < (int)d->nv; y++) {
        row_entries e = row_below(t, parts, branches, c, y, &terms);
        store_part_of_row(d, parts, y, c->first, e, zeros);
    }
}

/* Stores the entries of driven joints on the diagonal, in place of those that contain products with g. */
KERNEL_STEP void store_driven(const derivative_tree *t, derivative_parts parts, const matrices *d, row_entries *zeros) {
    for (int i = 0; i < t->count && t->has_driven; i++) {
        const int y = t->first_column[i];
        if (t->model->bodies[i].is_driven) {
            const rotor_terms *r = rotors_at(t, y);
            const row_entries e = finish_row(parts, (row_entries){r->dq, r->dv, r->da}, zeros);
            const size_t at = (size_t)y * (d->nv + 1);
            if (parts & VELOCITY_PART) {
                d->dv[at] = entry_of(&e.dv, (size_t)y), d->da[at] = entry_of(&e.da, (size_t)y);
            }
            if (parts & POSITION_PART) {
                d->dq[at] = entry_of(&e.dq, (size_t)y);
            }
        }
    }
}

/* Stores the last columns first, because each part of a row may overwrite the start of the next row. */
KERNEL_STEP int store_chunks(const derivative_tree *t, derivative_parts parts, bool branches,
                             const derivative_matrices *to) {
    const matrices d = matrices_of(t, false, to);
    row_entries zeros = no_row_entries();
    for (int k = (t->model->nv + TERM_LANES - 1) / TERM_LANES - 1; k >= 0; k--) {
        const column_chunk c = chunk_of(t, branches, k);
        int i = store_above(t, parts, branches, &c, 0, &d, &zeros);
        i = store_mixed(t, parts, branches, &c, i, &d, &zeros);
        store_below(t, parts, branches, &c, i, &d, &zeros);
    }
    store_driven(t, parts, &d, &zeros);
    return NUMBER_SIZE == sizeof(double) && parts == BOTH_PARTS && are_zero(zeros.dq + zeros.dv + zeros.da);
}

KERNEL_STEP int store_rows_of(const derivative_tree *t, derivative_parts parts, const derivative_matrices *to) {
    return t->branches ? store_chunks(t, parts, true, to) : store_chunks(t, parts, false, to);
}

int KERNEL(store_rows)(const derivative_tree *t, derivative_parts parts, const derivative_matrices *d) {
    if (parts == BOTH_PARTS) {
        return store_rows_of(t, BOTH_PARTS, d);
    }
    return parts == VELOCITY_PART ? store_rows_of(t, VELOCITY_PART, d) : store_rows_of(t, POSITION_PART, d);
}

#endif
