/*
 * Terms of the derivatives of inverse dynamics where columns of a tree lie in the lanes (derivative_terms.h).
 */
#if defined DYN_COLUMN_LANES
#undef DYN_LANES
#define DYN_LANES DYN_COLUMN_LANES
#endif

#include "derivative_entries.h"

#if defined DYN_COLUMN_LANES

/* Number `lane` of x. */
static inline number *lane_of(real *x, int lane) {
    return (number *)x + lane;
}

/* The parameters of as many bodies as there are lanes; the last one again where there are fewer. */
static inline mass_moments moments_of_bodies(const dyn_model *model, int first) {
    mass_moments x;
    for (int l = 0; l < TERM_LANES; l++) {
        int i = first + l < model->body_count ? first + l : model->body_count - 1;
        const mass_grouping *g = &model->bodies[i].grouped;
        const double numbers[] = {g->mass,       g->first_moment[0], g->first_moment[1], g->first_moment[2],
                                  g->moments[0], g->moments[1],      g->moments[2],      g->moments[3],
                                  g->moments[4], g->moments[5]};
        for (size_t c = 0; c < sizeof numbers / sizeof numbers[0]; c++) {
            *lane_of((real *)&x + c, l) = (number)numbers[c];
        }
    }
    return x;
}

void KERNEL(find_body_terms)(const derivative_tree *t, derivative_parts parts) {
    body_terms *bodies = (body_terms *)t->bodies;
    for (int i = 0; i < t->model->body_count; i += TERM_LANES) {
        body_terms *k = &bodies[i / TERM_LANES];
        if (parts & VELOCITY_PART) {
            find_own_inertia(place_moments(k->W, moments_of_bodies(t->model, i)), k->v, &k->own);
        }
        if (parts & POSITION_PART) {
            find_own_force(k->v, k->a, &k->own);
        }
    }
}

KERNEL_STEP void multiply_columns(const derivative_tree *t, derivative_parts parts) {
    const joint_terms *joints = (const joint_terms *)t->joints;
    column_terms *columns = (column_terms *)t->columns;
    for (int k = 0; k * TERM_LANES < t->first_column[t->model->body_count]; k++) {
        const joint_terms *j = &joints[k];
        column_terms *c = &columns[k];
        if (parts & POSITION_PART) {
            c->Psi_ddot = column_acceleration(j->v, j->a, c->S, c->Psi_dot);
        }
        multiply_column(&j->sum, parts, false, c, &c->products);
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

/* Column y against those of the root. */
KERNEL_STEP void put_root_of(const derivative_tree *t, derivative_parts parts, int r, int y, bool own,
                             const matrices *d) {
    const column_terms *columns = (const column_terms *)t->columns;
    put_root(t, parts, r, y, y + 1, own, &columns[y / TERM_LANES].products, d);
}

/* Entries of joints that share coordinates: the root r, and all that hangs on it: the bodies up to `end` - 1. Sums are added up in the order of other instances:
 * from the tips, and column by column. */
KERNEL_STEP void put_tree(const derivative_tree *t, derivative_parts parts, int r, int end, const matrices *d) {
    const int *first = t->first_column;
    for (int i = end - 1; i >= r; i--) {
        for (int y = first[i]; y < first[i + 1]; y++) {
            if (i > r) {
                column_products products = products_of((const column_terms *)t->columns, y);
                put_column(t, parts, first[r + 1], y, first[i], first[i + 1] - 1, &products, d);
            }
            put_root_of(t, parts, r, y, i == r, d);
        }
    }
}

static void put_trees(const derivative_tree *t, derivative_parts parts, const derivatives *to) {
    const body *bodies = t->model->bodies;
    matrices d = matrices_of(t, true, to);
    for (int end = t->model->body_count, r; end > 0; end = r) {
        r = end - 1;
        while (bodies[r].parent >= 0) {
            r--;
        }
        put_tree(t, parts, r, end, &d);
    }
}

void KERNEL(put_derivatives)(const derivative_tree *t, derivative_parts parts, const derivatives *d) {
    if (t->model->has_coupling) {
        put_trees(t, parts, d);
    } else {
        KERNEL(put_rows)(t, parts, d);
    }
}

#endif
