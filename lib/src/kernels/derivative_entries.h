/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the products of the columns (derivative_terms.h), and from them the entries of the derivatives of inverse
 * dynamics. Each function computes all lanes.
 */
#ifndef DYNAMICS_KERNELS_DERIVATIVE_ENTRIES_H
#define DYNAMICS_KERNELS_DERIVATIVE_ENTRIES_H

#include <stdint.h>

#include "derivative_terms.h"

/* Entry of a matrix: a number of one sample if lanes hold columns, else of all samples. */
#if TERM_LANES == 1
typedef real entry;
#else
typedef number entry;
#endif

/* Returns the root of the tree of body i. */
static inline int root_of(const body *bodies, int i) {
    while (bodies[i].parent >= 0) {
        i = bodies[i].parent;
    }
    return i;
}

/* Returns the entry of one column in x, which holds those of TERM_LANES columns. */
static inline entry entry_of(const real *x, size_t column) {
    return ((const entry *)x)[column % TERM_LANES];
}

/* Returns number c of an array that is not in lanes. */
static inline real shared_number(const void *x, int c) {
#if TERM_LANES == 1
    return ((const real *)x)[c];
#else
    return real_set((double)((const number *)x)[c]);
#endif
}

static inline vec3 shared_vec3(const void *x, int c) {
    return vec3_set(shared_number(x, c), shared_number(x, c + 1), shared_number(x, c + 2));
}

/* Computes the products of a column. `root`: it belongs to a root, above which there are no joints. */
KERNEL_STEP void multiply_column(const inertial_terms *sum, derivative_parts parts, bool root, const column_terms *c,
                                 column_products *y) {
    if (parts & VELOCITY_PART) {
        y->IS = rigid_inertia_apply(sum->I, c->S);
        y->BS = coriolis_apply_transposed(sum->B, c->S);
        if (!root) {
            y->dv = coriolis_apply_add(sum->B, c->S.w, rigid_inertia_apply(sum->I, c->rate));
        }
    }
    if ((parts & POSITION_PART) && !root) {
        force dq = force_add(rigid_inertia_apply(sum->I, c->Psi_ddot), force_cross(c->S, sum->f));
        y->dq = coriolis_apply_add(sum->B, c->Psi_dot.w, dq);
    }
}

/* Adds the moments of a joint's rotors to the products of its column with those above: they move with its parent. */
KERNEL_STEP void add_rotor_products(const rotor_terms *r, derivative_parts parts, column_products *y) {
    y->IS.n = vec3_add(y->IS.n, r->g);
    y->BS = vec3_add(y->BS, r->turning);
    if (parts & VELOCITY_PART) {
        y->dv.n = vec3_add(y->dv.n, r->turning);
    }
}

/* Returns the products of one column, in all lanes. */
KERNEL_STEP column_products products_of(const column_terms *columns, int column) {
#if TERM_LANES == 1
    return columns[column].products;
#else
    const number *numbers = (const number *)&columns[column / TERM_LANES].products + column % TERM_LANES;
    column_products y;
    for (size_t c = 0; c < sizeof y / sizeof(real); c++) {
        ((real *)&y)[c] = real_set((double)numbers[c * TERM_LANES]);
    }
    return y;
#endif
}

/* Entries of a column y with a column c at its joint or above: (y, c) below the diagonal, (c, y) above it. */
typedef struct column_entries {
    real dq_below, dv_below, da, dq_above, dv_above;
} column_entries;

static inline column_entries no_entries(void) {
    column_entries e;
    e.dq_below = e.dv_below = e.da = e.dq_above = e.dv_above = real_set(0);
    return e;
}

/* Computes the entries of a column with a column below it. */
KERNEL_STEP void multiply_below(force IS, vec3 BS, derivative_parts parts, const column_terms *c, column_entries *e) {
    if (parts & VELOCITY_PART) {
        e->dv_below = vec3_dot_add(BS, c->S.w, spatial_dot(c->rate, IS));
        e->da = spatial_dot(c->S, IS);
    }
    if (parts & POSITION_PART) {
        e->dq_below = vec3_dot_add(BS, c->Psi_dot.w, spatial_dot(c->Psi_ddot, IS));
    }
}

/* Computes the entries of a column with a column above it, except da. */
KERNEL_STEP void multiply_above(const column_products *y, derivative_parts parts, motion S, column_entries *e) {
    if (parts & VELOCITY_PART) {
        e->dv_above = spatial_dot(S, y->dv);
    }
    if (parts & POSITION_PART) {
        e->dq_above = spatial_dot(S, y->dq);
    }
}

/* Computes all entries of a column with another one. */
KERNEL_STEP column_entries multiply_with(const column_products *y, derivative_parts parts, const column_terms *c) {
    column_entries e = no_entries();
    multiply_below(y->IS, y->BS, parts, c, &e);
    multiply_above(y, parts, c->S, &e);
    return e;
}

/* Destination of the entries. */
typedef struct matrices {
    size_t nv;
    entry *dq, *dv, *da;
    bool shared; /* joints share coordinates, so that entries are sums */
} matrices;

KERNEL_STEP matrices matrices_of(const derivative_tree *t, bool shared, const derivative_matrices *to) {
    matrices d;
    d.nv = (size_t)t->model->nv, d.shared = shared;
    d.dq = (entry *)to->dq, d.dv = (entry *)to->dv, d.da = (entry *)to->da;
    return d;
}

/* Stores x, or adds it to an entry that several joints share. */
KERNEL_STEP void store_entry(bool shared, entry *to, entry x) {
    *to = shared ? *to + x : x;
}

/* Stores the entries e of column x and another one. `own`: both belong to one joint. */
KERNEL_STEP void store_entries(const matrices *d, derivative_parts parts, const column_entries *e, size_t x, bool own,
                               size_t row, size_t column) {
    size_t below = row * d->nv + column, above = column * d->nv + row;
    if (parts & VELOCITY_PART) {
        store_entry(d->shared, &d->dv[below], entry_of(&e->dv_below, x));
        store_entry(d->shared, &d->da[below], entry_of(&e->da, x));
    }
    if (parts & POSITION_PART) {
        store_entry(d->shared, &d->dq[below], entry_of(&e->dq_below, x));
    }
    if ((parts & VELOCITY_PART) && !own) {
        store_entry(d->shared, &d->dv[above], entry_of(&e->dv_above, x));
        store_entry(d->shared, &d->da[above], entry_of(&e->da, x));
    }
    if ((parts & POSITION_PART) && !own) {
        store_entry(d->shared, &d->dq[above], entry_of(&e->dq_above, x));
    }
}

/* Stores zeros for a row and the columns `from` to `to` - 1 of other branches. */
KERNEL_STEP void store_zeros(const matrices *d, derivative_parts parts, int row, int from, int to) {
    column_entries none = no_entries();
    for (int column = from; column < to && !d->shared; column++) {
        store_entries(d, parts, &none, 0, false, (size_t)row, (size_t)column);
    }
}

/* Returns the entries with column x. `e` holds those of vector *found of columns, and is computed again only for
 * another vector. */
KERNEL_STEP column_entries entries_with(const column_terms *columns, derivative_parts parts,
                                        const column_products *products, size_t x, size_t *found, column_entries e) {
    if (x / TERM_LANES == *found) {
        return e;
    }
    *found = x / TERM_LANES;
    return multiply_with(products, parts, &columns[*found]);
}

/* Stores the entries of column y with the columns `first` to `last` of its own joint. */
KERNEL_STEP void store_own_columns(const derivative_tree *t, derivative_parts parts, int y, int first, int last,
                                   const column_products *products, const matrices *d) {
    column_entries e = no_entries();
    size_t row = (size_t)t->coordinates[y], found = SIZE_MAX;
    for (int x = last; x >= first; x--) {
        e = entries_with((const column_terms *)t->columns, parts, products, (size_t)x, &found, e);
        store_entries(d, parts, &e, (size_t)x, true, row, (size_t)t->coordinates[x]);
    }
}

/* Stores the entries of column y with all columns above its joint, whose first column is `first`, except for those of
 * the root, which are before `tree`. */
KERNEL_STEP void store_columns_above(const derivative_tree *t, derivative_parts parts, int tree, int y, int first,
                                     const column_products *products, const matrices *d) {
    column_entries e = no_entries();
    size_t row = (size_t)t->coordinates[y], found = SIZE_MAX;
    for (int x = t->column_above[first]; x >= tree; x = t->column_above[x]) {
        e = entries_with((const column_terms *)t->columns, parts, products, (size_t)x, &found, e);
        store_entries(d, parts, &e, (size_t)x, false, row, (size_t)t->coordinates[x]);
    }
}

/* Stores zeros for column y with the earlier columns of other branches and of other trees. Columns are coordinates
 * here. */
KERNEL_STEP void store_column_zeros(const derivative_tree *t, derivative_parts parts, int root, int y, int first,
                                    const matrices *d) {
    for (int x = first; x > root; x = t->column_above[x]) {
        store_zeros(d, parts, y, t->column_above[x] + 1, x);
    }
    store_zeros(d, parts, y, 0, root);
}

/* Returns b x w, whose product with each axis e is that of b with w x e. The order of sums is that of this product. So
 * the entries of a root have the same bits even if the model compiler does not know that its columns are axes. */
static inline vec3 product_with_turned_axes(vec3 w, vec3 b) {
    return vec3_set(real_fma(w.z, b.y, -(w.y * b.z)), real_fma(-w.z, b.x, w.x * b.z), real_fma(w.y, b.x, -(w.x * b.y)));
}

/* Returns b x w + c, with the order of sums of product_with_turned_axes. */
static inline vec3 product_with_turned_axes_add(vec3 w, vec3 b, vec3 c) {
    return vec3_set(real_fma(w.z, b.y, real_fma(-w.y, b.z, c.x)), real_fma(-w.z, b.x, real_fma(w.x, b.z, c.y)),
                    real_fma(w.y, b.x, real_fma(-w.x, b.y, c.z)));
}

/* Products with the columns of the root. Each is an axis, with Psi_dot = 0, Psi_ddot = a_0 x S and rate = v x S. */
typedef struct root_products {
    force dq_below, dv_below, IS, dq_above, dv_above;
} root_products;

KERNEL_STEP root_products multiply_with_root(vec3 a_0, motion v, derivative_parts parts, const column_products *y) {
    root_products x;
    x.dq_below = x.dv_below = x.IS = x.dq_above = x.dv_above = force_zero();
    if (parts & VELOCITY_PART) {
        vec3 n = product_with_turned_axes_add(v.w, y->IS.n, product_with_turned_axes(v.v, y->IS.f));
        x.dv_below = force_set(vec3_add(y->BS, n), product_with_turned_axes(v.w, y->IS.f));
        x.IS = y->IS, x.dv_above = y->dv;
    }
    if (parts & POSITION_PART) {
        x.dq_below = force_set(product_with_turned_axes(a_0, y->IS.f), vec3_zero());
        x.dq_above = y->dq;
    }
    return x;
}

/* Computes the entries of the root's column l. */
KERNEL_STEP column_entries root_entries(const body *root, motion_type type, int l, derivative_parts parts,
                                        const root_products *x) {
    real ratio = real_set(root->ratio);
    column_entries e = no_entries();
    if (parts & VELOCITY_PART) {
        e.dv_below = ratio * joint_force(root, type, l, x->dv_below);
        e.dv_above = ratio * joint_force(root, type, l, x->dv_above);
        e.da = ratio * joint_force(root, type, l, x->IS);
    }
    if (parts & POSITION_PART) {
        e.dq_below = ratio * joint_force(root, type, l, x->dq_below);
        e.dq_above = ratio * joint_force(root, type, l, x->dq_above);
    }
    return e;
}

/* Stores the entries of column `column`, whose products are y, with the columns of the root r. `own`: the column
 * belongs to the root. */
KERNEL_STEP void store_root_columns(const derivative_tree *t, derivative_parts parts, int r, motion_type type,
                                    int column, bool own, const column_products *y, const matrices *d) {
    const body *root = &t->model->bodies[r];
    const entry *at_root = (const entry *)t->roots + 9 * r;
    motion v = motion_set(shared_vec3(at_root, 0), shared_vec3(at_root, 3));
    root_products x = multiply_with_root(shared_vec3(at_root, 6), v, parts, y);
    for (int l = 0; l < (type == MOTION_FLOATING ? 6 : root->nv); l++) {
        column_entries e = root_entries(root, type, l, parts, &x);
        store_entries(d, parts, &e, (size_t)column, own, (size_t)t->coordinates[column], (size_t)(root->v_index + l));
    }
}

/* Stores the entries of a root of any type. */
KERNEL_STEP void store_root(const derivative_tree *t, derivative_parts parts, int r, int column, bool own,
                            const column_products *y, const matrices *d) {
    motion_type type = t->model->bodies[r].motion;
    if (type == MOTION_FLOATING) {
        store_root_columns(t, parts, r, MOTION_FLOATING, column, own, y, d);
    } else {
        store_root_columns(t, parts, r, type, column, own, y, d);
    }
}

#endif
