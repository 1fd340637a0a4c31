/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Newton-Euler factorization of the mass matrix, and the sparse system that it belongs to, of which the CRBA and
 * the ABA are two orders of elimination.
 *
 *     P a = H ddq + dH/dt dq                    eq. 29     P_ii = 1, P_i,parent(i) = -1
 *     M = H' P^-T I P^-1 H                                 the Newton-Euler factorization
 *     tau = H' P^-T (I P^-1 (H ddq + dH/dt dq) + v x I v)  inverse dynamics: P^-1 is the outward recursion of the
 *                                                          RNEA, P^-T its inward one
 *
 * With f, the wrenches of the joints, the equation of motion is a symmetric sparse system. It is eq. 27 with both the
 * active and the constraint forces of the joints in f, so that no bases of the constraints are needed:
 *
 *     [  I  -P'  0 ] [  a  ]   [  - v x I v  ]
 *     [ -P   0   H ] [  f  ] = [ - dH/dt dq  ]
 *     [  0   H'  0 ] [ ddq ]   [     tau     ]
 *
 * The pivots are, for every link i, the pair (a_i, f_i) with the block [A -1; -1 0], whose inverse is [0 -1; -1 -A],
 * and ddq_i. Elimination of a pair adds A to the block of the parent, and yields the pivot h' A h of ddq_i.
 *     CRBA order  all pairs from the tips to the base, then all ddq. A is the inertia I^C of the composite rigid body;
 *                 what remains for ddq is M ddq = tau - h.
 *     ABA order   each pair, from the tips to the base, and then its ddq_i at once. That subtracts
 *                 A h (h' A h)^-1 h' A from A on its way to the parent: A is I^A. No fill occurs, so the cost is O(n).
 * Vectors are in the axes of the world, about its origin. Gravity is the acceleration -g of the base.
 *
 * Source: Featherstone and Orin 2000, section 3.5; Ascher, Pai and Cloutier 1997.
 */
#include "formulation.h"
#include "linear.h"
#include "matrix.h"
#include "world_links.h"

/* Pivot: variables first .. first + size - 1 of the system. A pair has 12, the accelerations of a joint nv. */
typedef struct pivot {
    int first, size, is_pair;
    int place; /* number of the pivot in the order of elimination */
} pivot;

/* Orders of elimination, as above. */
typedef enum elimination_order { CRBA_ORDER, ABA_ORDER } elimination_order;

/* The system K x = b. Pivot 2 i is the pair of link i, pivot 2 i + 1 its joint. */
typedef struct sparse_system {
    int count; /* of pivots */
    pivot *pivots;
    int *order;           /* pivots in the order of elimination */
    unsigned char *fills; /* count x count: whether a block of K may be other than zero */
    matrix K, b;
    matrix inverse, step; /* inverse of one pivot, and its product with one block, 12 x 12 each */
} sparse_system;

/* Arrays of one call: the sparse system, and the operators and results as dense matrices. */
typedef struct arrays {
    sparse_system system;
    matrix P, H, I, P_inverse; /* 6 N x 6 N, 6 N x nv, 6 N x 6 N, 6 N x 6 N */
    matrix S, IS, M;           /* P^-1 H, I P^-1 H, M */
    motion *a;
    force *f;
    real *IA;          /* 6 x 6 numbers for each link: I^C or I^A */
    real *tau, *order; /* of the blocks: the forces of the motion, and the pivots in both orders of elimination */
    const world_link *links;
} arrays;

static sparse_system take_system(const mechanism *m, scratch *s) {
    sparse_system x;
    int size = 12 * m->count + m->nv;
    x.count = 2 * m->count;
    x.pivots = (pivot *)scratch_take(s, (size_t)x.count, sizeof(pivot));
    x.order = (int *)scratch_take(s, (size_t)x.count, sizeof(int));
    x.fills = (unsigned char *)scratch_take(s, (size_t)x.count * (size_t)x.count, 1);
    x.K = matrix_take(s, size, size);
    x.b = matrix_take(s, size, 1);
    x.inverse = matrix_take(s, 12, 12);
    x.step = matrix_take(s, 12, 12);
    return x;
}

static arrays take(const mechanism *m, const real *v, scratch *s) {
    arrays x;
    int rows = 6 * m->count;
    x.system = take_system(m, s);
    x.P = matrix_take(s, rows, rows);
    x.H = matrix_take(s, rows, m->nv);
    x.I = matrix_take(s, rows, rows);
    x.P_inverse = matrix_take(s, rows, rows);
    x.S = matrix_take(s, rows, m->nv);
    x.IS = matrix_take(s, rows, m->nv);
    x.M = matrix_take(s, m->nv, m->nv);
    x.a = (motion *)scratch_take(s, (size_t)m->count, sizeof(motion));
    x.f = (force *)scratch_take(s, (size_t)m->count, sizeof(force));
    x.IA = scratch_reals(s, 72 * (size_t)m->count);
    x.tau = scratch_reals(s, (size_t)m->nv);
    x.order = scratch_reals(s, 4 * (size_t)m->count);
    x.links = KERNEL(world_links)(m, v, s);
    return x;
}

static void reserve(const mechanism *m, scratch *s) {
    take(m, NULL, s);
}

/* ---- Inverse dynamics: the operators as recursions --------------------------------------------------------------- */

/* Computes a = P^-1 a, outward, from the acceleration of the base. */
static void accumulate_outward(const arrays *x, int count, motion base, motion *a) {
    for (int i = 0; i < count; i++) {
        int parent = x->links[i].parent;
        a[i] = motion_add(parent < 0 ? base : a[parent], a[i]);
    }
}

/* Computes f = P^-T f, inward. */
static void accumulate_inward(const arrays *x, int count, force *f) {
    for (int i = count - 1; i >= 0; i--) {
        int parent = x->links[i].parent;
        if (parent >= 0) {
            f[parent] = force_add(f[parent], f[i]);
        }
    }
}

/* Adds the forces of the motion with the accelerations a to tau. */
static void add_forces(const mechanism *m, const arrays *x, const real *a, real *tau) {
    for (int i = 0; i < m->count; i++) {
        x->a[i] = motion_add(x->links[i].c, KERNEL(world_rate)(&x->links[i], a + x->links[i].v_index));
    }
    accumulate_outward(x, m->count, KERNEL(base_acceleration)(m), x->a);
    for (int i = 0; i < m->count; i++) {
        x->f[i] = force_add(rigid_inertia_apply(x->links[i].I, x->a[i]), x->links[i].p);
    }
    accumulate_inward(x, m->count, x->f);
    for (int i = 0; i < m->count; i++) {
        KERNEL(add_joint_force)(&x->links[i], x->f[i], tau);
    }
}

static void inverse(const mechanism *m, scratch *s, const real *v, const real *a, real *tau) {
    arrays x = take(m, v, s);
    add_forces(m, &x, a, tau);
}

/* ---- The sparse system ------------------------------------------------------------------------------------------- */

/* Returns the block of K whose rows are those of pivot i and whose columns are those of pivot j. */
static matrix block_at(const sparse_system *x, int i, int j) {
    const pivot *rows = &x->pivots[i], *columns = &x->pivots[j];
    return matrix_block(x->K, rows->first, columns->first, rows->size, columns->size);
}

/* Returns the rows of b that belong to pivot i. */
static matrix part_at(const sparse_system *x, int i) {
    return matrix_block(x->b, x->pivots[i].first, 0, x->pivots[i].size, 1);
}

/* Records that the blocks of pivots i and j may be other than zero. */
static void couple(sparse_system *x, int i, int j) {
    x->fills[i * x->count + j] = x->fills[j * x->count + i] = 1;
}

static void set_order(const mechanism *m, sparse_system *x, elimination_order order) {
    int place = 0;
    for (int i = m->count - 1; i >= 0; i--) {
        x->order[place++] = 2 * i;
        if (order == ABA_ORDER) {
            x->order[place++] = 2 * i + 1;
        }
    }
    for (int i = m->count - 1; i >= 0 && order == CRBA_ORDER; i--) {
        x->order[place++] = 2 * i + 1;
    }
    for (int k = 0; k < place; k++) {
        x->pivots[x->order[k]].place = k;
    }
}

/* Stores the rows and columns of link i: [I -1; -1 0] for its pair, h beside f_i, and 1 between f_i and the
 * acceleration of its parent. */
static void store_link(sparse_system *x, const world_link *l, int i) {
    matrix pair = block_at(x, 2 * i, 2 * i);
    KERNEL(matrix_set_inertia)(matrix_block(pair, 0, 0, 6, 6), articulated_from_rigid(l->I));
    for (int k = 0; k < 6; k++) {
        *matrix_at(pair, k, 6 + k) = *matrix_at(pair, 6 + k, k) = real_set(-1);
    }
    matrix H = block_at(x, 2 * i, 2 * i + 1), transposed = matrix_transposed(block_at(x, 2 * i + 1, 2 * i));
    for (int k = 0; k < l->nv; k++) {
        KERNEL(matrix_set_motion)(matrix_block(H, 6, k, 6, 1), l->h[k]);
        KERNEL(matrix_set_motion)(matrix_block(transposed, 6, k, 6, 1), l->h[k]);
    }
    couple(x, 2 * i, 2 * i + 1);
    if (l->parent >= 0) {
        KERNEL(matrix_identity)(matrix_block(block_at(x, 2 * i, 2 * l->parent), 6, 0, 6, 6));
        KERNEL(matrix_identity)(matrix_block(block_at(x, 2 * l->parent, 2 * i), 0, 6, 6, 6));
        couple(x, 2 * i, 2 * l->parent);
    }
}

/* Stores the system for the forces tau. */
static void store_system(const mechanism *m, arrays *x, const real *tau, elimination_order order) {
    sparse_system *system = &x->system;
    for (int i = 0; i < m->count; i++) {
        pivot *pair = &system->pivots[2 * i];
        pair[0].first = 12 * i, pair[0].size = 12, pair[0].is_pair = 1;
        pair[1].first = 12 * m->count + x->links[i].v_index, pair[1].size = x->links[i].nv, pair[1].is_pair = 0;
    }
    for (int k = 0; k < system->count * system->count; k++) {
        system->fills[k] = 0;
    }
    set_order(m, system, order);
    KERNEL(matrix_clear)(system->K);
    KERNEL(matrix_clear)(system->b);
    for (int i = 0; i < m->count; i++) {
        const world_link *l = &x->links[i];
        matrix b = part_at(system, 2 * i);
        motion known = l->parent < 0 ? motion_add(l->c, KERNEL(base_acceleration)(m)) : l->c;
        store_link(system, l, i);
        KERNEL(matrix_set_force)(matrix_block(b, 0, 0, 6, 1), force_scale(real_set(-1), l->p));
        KERNEL(matrix_set_motion)(matrix_block(b, 6, 0, 6, 1), motion_fma(real_set(-1), known, motion_zero()));
        for (int k = 0; k < l->nv; k++) {
            *matrix_at(part_at(system, 2 * i + 1), k, 0) = tau[l->v_index + k];
        }
    }
}

/* Inverts pivot e: [A -1; -1 0]^-1 = [0 -1; -1 -A] for a pair. */
static matrix invert_pivot(const sparse_system *x, int e) {
    matrix block = block_at(x, e, e), result = matrix_of(x->inverse.x, block.rows, block.rows);
    real factors[36];
    if (x->pivots[e].is_pair) {
        KERNEL(matrix_clear)(result);
        for (int i = 0; i < 6; i++) {
            *matrix_at(result, i, 6 + i) = *matrix_at(result, 6 + i, i) = real_set(-1);
            for (int j = 0; j < 6; j++) {
                *matrix_at(result, 6 + i, 6 + j) = -*matrix_at(block, i, j);
            }
        }
        return result;
    }
    for (int k = 0; k < block.rows * block.rows; k++) {
        factors[k] = *matrix_at(block, k / block.rows, k % block.rows);
    }
    KERNEL(factorize_symmetric)(block.rows, factors);
    KERNEL(invert_symmetric)(block.rows, factors, result.x);
    return result;
}

/* Returns whether pivot i is coupled with pivot e and is eliminated later. */
static int remains(const sparse_system *x, int e, int i) {
    return x->pivots[i].place > x->pivots[e].place && x->fills[e * x->count + i];
}

/* Eliminates pivot e from all equations that remain: K_ij -= K_ie K_ee^-1 K_ej, b_i -= K_ie K_ee^-1 b_e. */
static void eliminate(sparse_system *x, int e) {
    matrix inverse = invert_pivot(x, e);
    for (int i = 0; i < x->count; i++) {
        if (!remains(x, e, i)) {
            continue;
        }
        matrix step = matrix_of(x->step.x, x->pivots[i].size, inverse.columns);
        KERNEL(matrix_product)(block_at(x, i, e), inverse, step);
        for (int j = 0; j < x->count; j++) {
            if (remains(x, e, j)) {
                KERNEL(matrix_subtract_product)(step, block_at(x, e, j), block_at(x, i, j));
                couple(x, i, j);
            }
        }
        KERNEL(matrix_subtract_product)(step, part_at(x, e), part_at(x, i));
    }
}

static void eliminate_all(sparse_system *x) {
    for (int k = 0; k < x->count; k++) {
        eliminate(x, x->order[k]);
    }
}

/* Solves for all unknowns, which replace b, in the reverse order. */
static void substitute_back(sparse_system *x) {
    for (int k = x->count - 1; k >= 0; k--) {
        int e = x->order[k];
        matrix inverse = invert_pivot(x, e), b = part_at(x, e), solved = matrix_of(x->step.x, b.rows, 1);
        for (int i = 0; i < x->count; i++) {
            if (remains(x, e, i)) {
                KERNEL(matrix_subtract_product)(block_at(x, e, i), part_at(x, i), b);
            }
        }
        KERNEL(matrix_product)(inverse, b, solved);
        for (int i = 0; i < b.rows; i++) {
            *matrix_at(b, i, 0) = *matrix_at(solved, i, 0);
        }
    }
}

static void forward(const mechanism *m, scratch *s, const real *v, const real *tau, real *a) {
    arrays x = take(m, v, s);
    store_system(m, &x, tau, ABA_ORDER);
    eliminate_all(&x.system);
    substitute_back(&x.system);
    for (int k = 0; k < m->nv; k++) {
        a[k] = *matrix_at(x.system.b, 12 * m->count + k, 0);
    }
}

/* Eliminates all pairs: the block of the accelerations is M then. */
static void mass_matrix(const mechanism *m, scratch *s, real *M) {
    arrays x = take(m, NULL, s);
    real_clear(M, m->nv);
    store_system(m, &x, M, CRBA_ORDER);
    for (int k = 0; k < m->count; k++) {
        eliminate(&x.system, x.system.order[k]);
    }
    for (int k = 0; k < m->nv * m->nv; k++) {
        M[k] = *matrix_at(x.system.K, 12 * m->count + k / m->nv, 12 * m->count + k % m->nv);
    }
}

/* ---- Inner quantities -------------------------------------------------------------------------------------------- */

/* Computes P, H, I, P^-1 and the factorization of M. */
static void factorize(const mechanism *m, const arrays *x) {
    KERNEL(matrix_identity)(x->P);
    KERNEL(matrix_clear)(x->P_inverse);
    KERNEL(matrix_clear)(x->H);
    KERNEL(matrix_clear)(x->I);
    for (int i = 0; i < m->count; i++) {
        const world_link *l = &x->links[i];
        for (int k = 0; k < l->nv; k++) {
            KERNEL(matrix_set_motion)(matrix_block(x->H, 6 * i, l->v_index + k, 6, 1), l->h[k]);
        }
        KERNEL(matrix_set_inertia)(matrix_block(x->I, 6 * i, 6 * i, 6, 6), articulated_from_rigid(l->I));
        for (int k = 0; k < 6 && l->parent >= 0; k++) {
            *matrix_at(x->P, 6 * i + k, 6 * l->parent + k) = real_set(-1);
        }
        for (int j = i; j >= 0; j = x->links[j].parent) {
            KERNEL(matrix_identity)(matrix_block(x->P_inverse, 6 * i, 6 * j, 6, 6));
        }
    }
    KERNEL(matrix_product)(x->P_inverse, x->H, x->S);
    KERNEL(matrix_product)(x->I, x->S, x->IS);
    KERNEL(matrix_product)(matrix_transposed(x->S), x->IS, x->M);
}

/* Stores the block A of every pair after all eliminations, I^C or I^A, and the pivots in the order of elimination. */
static void store_pair_inertias(const mechanism *m, arrays *x, elimination_order order, real *inertias, real *pivots) {
    store_system(m, x, x->M.x, order);
    eliminate_all(&x->system);
    for (int i = 0; i < m->count; i++) {
        for (int k = 0; k < 36; k++) {
            inertias[36 * i + k] = *matrix_at(x->system.K, 12 * i + k / 6, 12 * i + k % 6);
        }
    }
    for (int k = 0; k < x->system.count; k++) {
        pivots[k] = real_set(x->system.order[k]);
    }
}

static void coefficients(const mechanism *m, scratch *s, const real *v, const real *a, block_list *blocks) {
    arrays x = take(m, v, s);
    int n = m->count, nv = m->nv, rows = 6 * n, size = 12 * n + nv;
    factorize(m, &x);
    store_pair_inertias(m, &x, CRBA_ORDER, x.IA, x.order);
    store_pair_inertias(m, &x, ABA_ORDER, x.IA + 36 * n, x.order + 2 * n);
    real_clear(x.tau, nv);
    add_forces(m, &x, a, x.tau);
    store_system(m, &x, x.tau, ABA_ORDER);
    KERNEL(add_block)(blocks, "K", block_of(size, size, 0, 0), x.system.K.x);
    KERNEL(add_block)(blocks, "b", block_of(size, 0, 0, 0), x.system.b.x);
    KERNEL(add_block)(blocks, "order_CRBA", block_of(2 * n, 0, 0, 0), x.order);
    KERNEL(add_block)(blocks, "order_ABA", block_of(2 * n, 0, 0, 0), x.order + 2 * n);
    KERNEL(add_block)
    (blocks, "P", block_of(rows, rows, 0, 0), x.P.x);
    KERNEL(add_block)
    (blocks, "P_inverse", block_of(rows, rows, 0, 0), x.P_inverse.x);
    KERNEL(add_block)
    (blocks, "H", block_of(rows, nv, 0, 0), x.H.x);
    KERNEL(add_block)(blocks, "I", block_of(rows, rows, 0, 0), x.I.x);
    KERNEL(add_block)(blocks, "S", block_of(rows, nv, 0, 0), x.S.x);
    KERNEL(add_block)(blocks, "M", block_of(nv, nv, 0, 0), x.M.x);
    KERNEL(add_block)
    (blocks, "I_C", block_of(n, 6, 6, 0), x.IA);
    KERNEL(add_block)
    (blocks, "I_A", block_of(n, 6, 6, 0), x.IA + 36 * n);
}

const formulation KERNEL(newton_euler_factorization) = {
    {"newton_euler_factorization", "Featherstone and Orin 2000, equations 27 and 29; Ascher, Pai and Cloutier 1997",
     DYN_FORMULATION_NEED_INDEPENDENT, 100, true, true, true, true},
    reserve,
    inverse,
    forward,
    mass_matrix,
    coefficients,
};
