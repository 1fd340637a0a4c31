/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Terms of the derivatives of inverse dynamics in instances whose lanes hold columns (derivative_terms.h). Each loop
 * computes TERM_LANES columns at once, independently of the others.
 */
#include <string.h>

#include "derivative_entries.h"
#include "lane_squares.h"

#if defined DYN_COLUMN_LANES

/* Returns the address of lane `lane` of x. */
static inline number *lane_of(real *x, int lane) {
    return (number *)x + lane;
}

/* Loads the grouped parameters of the bodies of vector k of columns, from body *i on, and advances *i. A body belongs
 * to the last column of its joint; the other columns get zeros. In a mass_grouping J follows h, so that eight numbers
 * are loaded together. */
static inline mass_moments moments_beside(const derivative_tree *t, int k, int *i) {
    static const mass_grouping none;
    real m = real_set(0), J_zz = m, x[8];
    const double *rows[TERM_LANES];
    for (int l = 0; l < TERM_LANES; l++) {
        rows[l] = none.first_moment;
        if (*i < t->count && k * TERM_LANES + l == t->first_column[*i + 1] - 1) {
            const body *b = &t->model->bodies[(*i)++];
            const mass_grouping *g = t->has_driven ? &b->carried : &b->grouped;
            rows[l] = g->first_moment;
            if (!b->serial) {
                *lane_of(&m, l) = (number)g->mass;
                *lane_of(&J_zz, l) = (number)g->moments[5];
            }
        }
    }
    for (int c = 0; c < 8; c += SIDE) {
        for (int l = 0; l < TERM_LANES; l++) {
            row_doubles row;
            memcpy(&row, rows[l] + c, sizeof row);
            row_numbers numbers = __builtin_convertvector(row, row_numbers);
            memcpy((number *)&x[c + l % SIDE] + l / SIDE * SIDE, &numbers, sizeof numbers);
        }
        transpose(&x[c]);
    }
    mass_moments y;
    y.m = m;
    y.h = vec3_set(x[0], x[1], x[2]);
    y.J = sym3_set(x[3], x[4], x[5], x[6], x[7], J_zz);
    return y;
}

/* Loads the placements of the bodies of vector k of columns, and transposes them. Lanes after the last column repeat
 * it. */
KERNEL_STEP void placements_in_lanes(const derivative_tree *t, int k, real *x) {
    enum { NUMBERS = 16 };
    const int last = t->first_column[t->count] - 1;
    const number *placed[TERM_LANES];
    for (int l = 0, y = k * TERM_LANES; l < TERM_LANES; l++, y++) {
        placed[l] = (const number *)t->placed + (y < last ? y : last) * NUMBERS;
    }
    for (int c = 0; c < NUMBERS; c += SIDE) {
        for (int l = 0; l < TERM_LANES; l++) {
            memcpy((number *)&x[c + l % SIDE] + l / SIDE * SIDE, placed[l] + c, SIDE * sizeof(number));
        }
        transpose(&x[c]);
    }
}

void KERNEL(find_columns)(const derivative_tree *t) {
    body_terms *bodies = (body_terms *)t->bodies;
    column_terms *columns = (column_terms *)t->columns;
    for (int k = 0; k * TERM_LANES < t->first_column[t->count]; k++) {
        real x[16];
        placements_in_lanes(t, k, x);
        vec3 z = vec3_set(x[8], x[9], x[10]), r = vec3_set(x[12], x[13], x[14]);
        bodies[k].W.R = mat3_from_columns(vec3_set(x[0], x[1], x[2]), vec3_set(x[4], x[5], x[6]), z);
        bodies[k].W.r = r;
        columns[k].S = motion_set(z, vec3_cross(r, z));
    }
}

void KERNEL(find_rates)(const derivative_tree *t) {
    const joint_terms *joints = (const joint_terms *)t->joints;
    body_terms *bodies = (body_terms *)t->bodies;
    column_terms *columns = (column_terms *)t->columns;
    for (int k = 0, i = 0; k * TERM_LANES < t->first_column[t->count]; k++) {
        motion Psi_dot = motion_cross(joints[k].v, columns[k].S);
        columns[k].Psi_dot = Psi_dot;
        columns[k].rate = motion_add(Psi_dot, Psi_dot);
        find_own_inertia(place_moments(bodies[k].W, moments_beside(t, k, &i)), bodies[k].v, &bodies[k].own);
    }
}

void KERNEL(find_forces)(const derivative_tree *t) {
    body_terms *bodies = (body_terms *)t->bodies;
    for (int k = 0; k * TERM_LANES < t->first_column[t->count]; k++) {
        find_own_force(bodies[k].v, bodies[k].a, &bodies[k].own);
    }
}

void KERNEL(find_rotor_rates)(const derivative_tree *t) {
    const joint_terms *joints = (const joint_terms *)t->joints;
    rotor_terms *rotors = (rotor_terms *)t->rotors;
    for (int k = 0; k * TERM_LANES < t->first_column[t->count]; k++) {
        rotors[k].turning = vec3_cross(joints[k].v.w, rotors[k].g);
        rotors[k].moments.B = coriolis_map_of_rotors(vec3_scale(rotors[k].v, rotors[k].g));
    }
}

void KERNEL(find_rotor_moments)(const derivative_tree *t) {
    rotor_terms *rotors = (rotor_terms *)t->rotors;
    for (int k = 0; k * TERM_LANES < t->first_column[t->count]; k++) {
        rotor_terms *r = &rotors[k];
        r->moments.n = moment_of_rotors(r->g, r->turning, r->v, r->a);
    }
}

/* Computes the entries of driven joints on the diagonal, to which g does not contribute, and the products with columns
 * above. The products of the velocity part are stored for the position part. */
KERNEL_STEP void multiply_rotors(derivative_parts parts, const column_terms *c, rotor_terms *r, column_products *y) {
    column_entries own = no_entries();
    if (parts & VELOCITY_PART) {
        r->IS = y->IS.n, r->BS = y->BS;
    }
    multiply_below(force_set(r->IS, y->IS.f), r->BS, parts, c, &own);
    if (parts & VELOCITY_PART) {
        r->dv = own.dv_below, r->da = own.da + r->d;
        add_rotor_products(r, parts, y);
    }
    if (parts & POSITION_PART) {
        r->dq = own.dq_below;
    }
}

KERNEL_STEP void multiply_columns(const derivative_tree *t, derivative_parts parts) {
    const joint_terms *joints = (const joint_terms *)t->joints;
    column_terms *columns = (column_terms *)t->columns;
    for (int k = 0; k * TERM_LANES < t->first_column[t->count]; k++) {
        const joint_terms *j = &joints[k];
        column_terms *c = &columns[k];
        if (parts & POSITION_PART) {
            c->Psi_ddot = column_acceleration(j->v, j->a, c->S, c->Psi_dot);
        }
        multiply_column(&j->sum, parts, false, c, &c->products);
        if (t->has_driven) {
            multiply_rotors(parts, c, &((rotor_terms *)t->rotors)[k], &c->products);
        }
    }
}

void KERNEL(find_column_products)(const derivative_tree *t, derivative_parts parts) {
    if (parts == BOTH_PARTS) {
        multiply_columns(t, BOTH_PARTS);
    } else if (parts == VELOCITY_PART) {
        multiply_columns(t, VELOCITY_PART);
    } else {
        multiply_columns(t, POSITION_PART);
    }
}

/* Stores the entries of bodies `begin` to `end` - 1 of the tree with root r where joints share coordinates. Sums have
 * the order of the other instances: from the tips, column by column. */
KERNEL_STEP void store_bodies(const derivative_tree *t, derivative_parts parts, int r, int begin, int end,
                              const matrices *d) {
    const column_terms *columns = (const column_terms *)t->columns;
    const int *first = t->first_column;
    for (int i = end - 1; i >= begin; i--) {
        for (int y = first[i]; y < first[i + 1]; y++) {
            if (i > r) {
                column_products products = products_of(columns, y);
                store_own_columns(t, parts, y, first[i], first[i + 1] - 1, &products, d);
                store_columns_above(t, parts, first[r + 1], y, first[i], &products, d);
            }
            store_root(t, parts, r, y, i == r, &columns[y / TERM_LANES].products, d);
        }
    }
}

/* Stores the entries of all trees where joints share coordinates. The links of a tree follow its root, but rotors
 * follow all links. */
static void store_trees(const derivative_tree *t, derivative_parts parts, const derivative_matrices *to) {
    const body *bodies = t->model->bodies;
    matrices d = matrices_of(t, true, to);
    for (int i = t->model->body_count - 1; i >= t->model->link_bodies; i--) {
        store_bodies(t, parts, root_of(bodies, i), i, i + 1, &d);
    }
    for (int end = t->model->link_bodies, r; end > 0; end = r) {
        r = root_of(bodies, end - 1);
        store_bodies(t, parts, r, r, end, &d);
    }
}

int KERNEL(store_derivatives)(const derivative_tree *t, derivative_parts parts, const derivative_matrices *d) {
    if (t->shares) {
        store_trees(t, parts, d);
        return 0;
    }
    return KERNEL(store_rows)(t, parts, d);
}

#endif
